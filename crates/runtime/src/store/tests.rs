//! Registering, aliases and their keys, deletion and pages.

use super::*;
use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;

fn point(x: f64, alias: &str) -> NewPolytope {
    let polytope = convex_hull(&[Vec3::new(x, 0.0, 0.0)]).unwrap().polytope;
    let alias = Some(alias.to_owned()).filter(|alias| !alias.is_empty());
    let stored = Stored::new(polytope.into(), &Effort::unlimited()).expect("without a deadline");
    NewPolytope { stored, alias, move_alias: false, alias_key: None, made_key: None }
}

fn register(store: &PolytopeStore, new: NewPolytope) -> ContentId {
    store.register(vec![new], &MemoryQuota::of_nobody(), &Limits::default()).unwrap()[0].stored.id
}

#[test]
fn registering_is_idempotent_and_all_or_nothing() {
    let store = PolytopeStore::default();
    let one = register(&store, point(1.0, "one"));
    assert_eq!(register(&store, point(1.0, "")), one);
    assert_eq!((store.count(), store.aliases(&one)), (1, vec!["one".to_owned()]));

    let taken = store.register(
        vec![point(2.0, ""), point(3.0, "one")],
        &MemoryQuota::of_nobody(),
        &Limits::default(),
    );
    let expected = RegisterError::AliasTaken { index: 1, alias: "one".into(), owner: one };
    assert_eq!(taken.unwrap_err(), expected);
    assert_eq!(store.count(), 1);

    let limits = Limits { polytopes_max: 2, ..Limits::default() };
    let full =
        store.register(vec![point(2.0, ""), point(3.0, "")], &MemoryQuota::of_nobody(), &limits);
    assert_eq!(full.unwrap_err(), RegisterError::Full(limits.polytopes_max()));
    let twice = store
        .register(vec![point(2.0, ""), point(2.0, "")], &MemoryQuota::of_nobody(), &limits)
        .unwrap();
    assert_eq!([0, 1].map(|k: usize| twice[k].already_registered), [false, true]);
}

#[test]
fn an_alias_moves_only_when_told_to() {
    let store = PolytopeStore::default();
    let one = register(&store, point(1.0, "it"));
    let two = register(&store, NewPolytope { move_alias: true, ..point(2.0, "it") });
    assert_eq!(store.resolve("it"), Some(two));
    assert_eq!((store.aliases(&one).len(), store.aliases(&two).len()), (0, 1));
    store.delete(&two, &[]).unwrap();
    assert_eq!(store.resolve("it"), None);
}

#[test]
fn a_claimed_alias_is_moved_and_deleted_with_its_key_alone() {
    let store = PolytopeStore::default();
    let [mine, other] = ["mine", "other"].map(KeyDigest::of);
    let name = |x: f64, alias_key: Option<KeyDigest>| {
        let new = NewPolytope { move_alias: true, alias_key, ..point(x, "it") };
        store.register(vec![new], &MemoryQuota::of_nobody(), &Limits::default())
    };
    name(1.0, Some(mine)).unwrap();
    let claimed = RegisterError::AliasClaimed { index: 0, alias: "it".to_owned() };
    for brought in [None, Some(other)] {
        assert_eq!(name(2.0, brought).unwrap_err(), claimed);
    }
    // Naming again what it names changes nothing; another key cannot claim it.
    name(1.0, None).unwrap();
    assert_eq!(name(1.0, Some(other)).unwrap_err(), claimed);
    assert_eq!(name(2.0, None).unwrap_err(), claimed);
    let two = name(2.0, Some(mine)).unwrap()[0].stored.id;
    for keys in [&[][..], &[other]] {
        assert_eq!(store.delete(&two, keys), Err(DeleteError::Claimed));
    }
    assert_eq!(store.delete(&two, &[other, mine]), Ok(()));
    // An alias that is open can be claimed by whoever comes first.
    name(3.0, None).unwrap();
    name(3.0, Some(other)).unwrap();
    assert_eq!(name(4.0, Some(mine)).unwrap_err(), claimed);
}

#[test]
fn within_one_request_a_claim_holds_for_what_follows() {
    let store = PolytopeStore::default();
    let with = |x: f64, key: &str| {
        let alias_key = Some(KeyDigest::of(key));
        NewPolytope { move_alias: true, alias_key, ..point(x, "it") }
    };
    let new = vec![with(1.0, "mine"), with(2.0, "other")];
    let refused = store.register(new, &MemoryQuota::of_nobody(), &Limits::default()).unwrap_err();
    assert_eq!(refused, RegisterError::AliasClaimed { index: 1, alias: "it".to_owned() });
    assert_eq!(store.count(), 0);
}

#[test]
fn a_leased_polytope_is_not_deleted_until_the_last_lease_is_gone() {
    let store = PolytopeStore::default();
    let one = register(&store, point(1.0, ""));
    let lease = store.lease(&one).unwrap().unwrap();
    let second = store.lease(&one).unwrap().unwrap();
    assert_eq!(store.delete(&one, &[]), Err(DeleteError::InUse { uses: 2 }));
    drop(lease);
    assert_eq!(store.delete(&one, &[]), Err(DeleteError::InUse { uses: 1 }));
    // A clone is the same use, and holds on to it.
    let clone = second.clone();
    assert_eq!(store.delete(&one, &[]), Err(DeleteError::InUse { uses: 1 }));
    drop(clone);
    assert_eq!(store.delete(&one, &[]), Err(DeleteError::InUse { uses: 1 }));
    drop(second);
    assert_eq!(store.delete(&one, &[]), Ok(()));
    assert_eq!(store.delete(&one, &[]), Err(DeleteError::Unknown));
    assert_eq!((store.count(), store.memory_bytes()), (0, 0));
}

#[test]
fn pages_list_every_polytope_once_by_ascending_id() {
    let store = PolytopeStore::default();
    let mut expected: Vec<_> = (0..25).map(|i| register(&store, point(f64::from(i), ""))).collect();
    expected.sort_unstable();
    // Ten at a time, four since more are too many bytes, or one at least.
    for (bytes_max, each) in [(u64::MAX, 10), (2_200, 4), (0, 1)] {
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let page = store.page(after, 10, bytes_max).unwrap();
            let count = page.stored.len();
            assert!(count == each || page.last.is_none(), "{count}");
            assert!(page.bytes <= bytes_max || each == 1);
            listed.extend(page.stored.iter().map(|stored| stored.id));
            after = listed.last().copied();
            if page.last.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected);
    }
}

#[test]
fn aliases_of_one_address_leave_room_for_those_of_others() {
    use std::net::{IpAddr, Ipv4Addr};

    use crate::memory::MemoryBudget;

    let (store, limits) = (PolytopeStore::default(), Limits::default());
    let memory_budget =
        MemoryBudget::new(Limits { memory_bytes_max: 1 << 30, ..limits }.memory_bytes_max());
    let [greedy, other] =
        [1, 2].map(|last| memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))));
    let limits = Limits::default();
    let name = |alias: &str, quota: &MemoryQuota| {
        store.register(vec![point(1.0, alias)], quota, &limits).map(|registered| registered.len())
    };
    for k in 0..limits.aliases_per_polytope_max {
        assert_eq!(name(&format!("greedy-{k}"), &greedy), Ok(1));
    }
    let limit = limits.aliases_per_polytope_max();
    let refused = RegisterError::TooManyAliases { index: 0, limit };
    assert_eq!(name("one more", &greedy), Err(refused));
    assert_eq!(name("mine", &other), Ok(1));
    assert!(memory_budget.used(MemoryKind::Aliases) > 17 * named::ALIAS_BYTES);
    store.delete(&store.resolve("mine").unwrap(), &[]).unwrap();
    assert_eq!(memory_budget.used(MemoryKind::Aliases), 0);
}

/// Names that others would want were taken by one client, 5,000 of them in a fifth of a second, and
/// there was no end to it.
#[test]
fn names_are_shared_by_address_and_many_addresses_find_some() {
    use std::net::{IpAddr, Ipv4Addr};

    use crate::memory::MemoryBudget;

    let limits = Limits { aliases_max: 100, aliases_per_polytope_max: 1_000, ..Limits::default() };
    let memory_budget = MemoryBudget::new(
        Limits { memory_bytes_max: 1 << 30, ..limits.clone() }.memory_bytes_max(),
    );
    let store = PolytopeStore::default();
    let named = |address: u8| {
        let quota = memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, address)));
        let name = |alias: String| store.register(vec![point(1.0, &alias)], &quota, &limits);
        let mut count = 0;
        while name(format!("{address}-{count}")).is_ok() {
            count += 1;
        }
        // What it has it may name again, and no other.
        assert_eq!(name(format!("{address}-0")).map(|named| named.len()), Ok(1));
        let refused = name("one more".to_owned()).unwrap_err();
        assert_eq!(refused, RegisterError::Full(limits.aliases_max()));
        count
    };
    let counts: Vec<u32> = (0..25).map(named).collect();
    assert_eq!(counts[0], 57, "three quarters of three quarters");
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
