//! Files of keys: what they grant, how they are refused, and what another reading changes.

#[cfg(feature = "s3")]
mod address;
mod tokens;

use super::*;

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("clearance-keys-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn line(name: &str, tenant: &str, role: Role) -> (String, String) {
    let (key, line) = new_key_line(name, tenant, role).unwrap();
    (key, line.to_string())
}

#[test]
fn a_key_of_the_file_is_granted_what_its_line_says_and_no_other_is_granted_anything() {
    let (key, ours) = line("planner", "acme", Role::Write);
    let (other, theirs) = line("viewer", "bolt", Role::Query);
    let path = file("grant", &format!("# keys\n\n{ours}\n  {theirs}\n"));
    let access = Access::open().with_keys(&path).unwrap();
    let grant = access.grant(&key).unwrap();
    assert_eq!((&*grant.name, &*grant.tenant, grant.role), ("planner", "acme", Role::Write));
    let theirs = access.grant(&other).unwrap();
    assert_ne!(grant.principal, theirs.principal);
    for wrong in ["", "ck-", &key[..key.len() - 1], &format!("{key}0"), &"a".repeat(1 << 20)] {
        assert!(access.grant(wrong).is_err());
    }
    // The digest is no key.
    let digest = ours.split(':').next_back().unwrap();
    assert!(access.grant(digest).is_err());
    assert!(!format!("{access:?}").contains(&key));
    assert!(Access::open().grant(&key).is_err() && !Access::open().asks_for_keys());
}

#[test]
fn lines_that_say_no_key_are_refused_with_their_number() {
    let (_, good) = line("a", "t", Role::Query);
    let digest = good.rsplit(' ').next().unwrap();
    let (_, second) = line("a", "t", Role::Query);
    for (bad, words) in [
        ("a t query", "has 3 words"),
        (&*format!("a t root {digest}"), "\"root\" is no role"),
        (&*format!("a/b t query {digest}"), "the name \"a/b\""),
        (&*format!("a {} query {digest}", "t".repeat(65)), "the tenant"),
        ("a t query blake3:12", "64 hexadecimal digits"),
        ("a t query sha256:00", "64 hexadecimal digits"),
        (&*second, "is another line's, too"),
        (&*format!("b t query {digest}"), "the key is another line's"),
    ] {
        let path = file("bad", &format!("# a comment\n{good}\n{bad}\n"));
        let error = Access::open().with_keys(&path).unwrap_err().to_string();
        assert!(error.starts_with("line 3 ") && error.contains(words), "{bad}: {error}");
    }
    assert_eq!(Access::open().with_keys(&file("none", "# none\n")).unwrap_err(), KeysError::Empty);
    assert!(Access::open().with_keys(Path::new("/nowhere/keys")).is_err());
}

/// A key that is taken out of the file ends what was opened with it; one that stays goes on.
#[test]
fn keys_that_go_are_revoked_and_a_bad_file_changes_nothing() {
    let (kept, first) = line("kept", "t", Role::Query);
    let (gone, second) = line("gone", "u", Role::Write);
    let (promoted, third) = line("promoted", "u", Role::Query);
    let path = file("reload", &format!("{first}\n{second}\n{third}\n"));
    let access = Access::open().with_keys(&path).unwrap();
    let before = [&kept, &gone, &promoted].map(|key| access.grant(key).unwrap());
    let files = access.files().remove(0);
    assert_eq!(files.read_again(), Ok(Fresh::AsBefore));

    for bad in ["kept t query", ""] {
        file("reload", bad);
        assert!(files.read_again().is_err());
        assert_eq!(files.read_again(), Ok(Fresh::AsBefore), "and it is told once");
        assert!(before.iter().all(|grant| !grant.is_over()));
        assert!(access.grant(&gone).is_ok());
    }

    file("reload", &format!("{first}\n{}\n", third.replace("query", "write")));
    assert_eq!(files.read_again(), Ok(Fresh::Changed));
    let [kept_before, gone_before, promoted_before] = before;
    assert!(!kept_before.is_over() && gone_before.is_over());
    assert!(promoted_before.is_over(), "what it was granted is another thing now");
    assert!(access.grant(&gone).is_err());
    let now = access.grant(&promoted).unwrap();
    assert_eq!((now.role, now.principal), (Role::Write, promoted_before.principal));
    assert_eq!(access.grant(&kept).unwrap().principal, kept_before.principal);
}

#[test]
fn roles_are_nested_and_what_is_not_listed_is_for_admins() {
    assert!(Role::Query < Role::Write && Role::Write < Role::Admin);
    for role in [Role::Query, Role::Write, Role::Admin] {
        assert_eq!(Role::named(role.name()), Some(role));
    }
    assert_eq!(Role::named("root"), None);
    assert_eq!(needed_role("/clearance.v1.QueryService/CheckCollision"), Some(Role::Query));
    assert_eq!(needed_role("/grpc.health.v1.Health/Check"), None);
    for unknown in ["/clearance.v1.QueryService/Nothing", "", "/", "//grpc.health.v1.Health/Check"]
    {
        assert_eq!(needed_role(unknown), Some(Role::Admin), "{unknown}");
    }
}
