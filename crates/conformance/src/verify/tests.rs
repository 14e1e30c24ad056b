//! Answers to two cubes: true ones are accepted, tampered ones refused with the reason.

use super::*;

const CASES: &str = concat!(
    r#"{"type":"hull","id":1,"points":[[0,0,0],[1,0,0],[0,1,0],[1,1,0],[0,0,1],[1,0,1],[0,1,1],"#,
    r#"[1,1,1],[0.5,0.5,0.5]]}"#,
    "\n",
    r#"{"type":"case","id":"apart","family":"a","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.25,0,0],"qQ":[1,0,0,0],"verdict":"collide"}"#,
    "\n",
    r#"{"type":"case","id":"along","family":"a","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.25,0,0],"qQ":[1,0,0,0],"verdict":"separated","dir":{"d":[1,0,0]}}"#,
    "\n",
    r#"{"type":"case","id":"never","family":"a","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.25,0,0],"qQ":[1,0,0,0],"verdict":"separated","dir":{"d":[0,1,0]}}"#,
    "\n",
    r#"{"type":"case","id":"deep","family":"b","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[0.75,0,0],"qQ":[1,0,0,0],"verdict":"collide"}"#,
    "\n",
    r#"{"type":"case","id":"near","family":"c","kind":"linear","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.5,0.25,0.125],"qQ":[1,0,0,0],"vP":[1,0,0],"vQ":[0,0,0],"#,
    r#""contact_margin":0.125,"deviation":0.0625,"verdict":"separated"}"#,
    "\n",
    r#"{"type":"case","id":"no-margin","family":"c","kind":"linear","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.5,0.25,0.125],"qQ":[1,0,0,0],"vP":[1,0,0],"vQ":[0,0,0],"#,
    r#""contact_margin":-0.125,"verdict":"separated"}"#,
    "\n",
    r#"{"type":"case","id":"fly","family":"c","kind":"linear","P":1,"Q":1,"tP":[0,0,0],"qP":[1,"#,
    r#"0,0,0],"tQ":[1.5,0.25,0.125],"qQ":[1,0,0,0],"vP":[1,0,0],"vQ":[0,0,0],"#,
    r#""verdict":"separated"}"#,
    "\n",
);
const APART: &str = concat!(
    r#"{"id":"apart","verdict":"SEPARATED","distance_lower":0.25,"distance_upper":0.25,"#,
    r#""enter":0.25,"certificate":{"direction":[1,0,0],"distance_pairs":[[1,0]]}}"#,
);
const ALONG: &str = concat!(
    r#"{"id":"along","verdict":"SEPARATED","enter":0.25,"exit":2.25,"#,
    r#""certificate":{"direction":[1,0,0],"range":{"enter":{"bracket":[0.25,0.25],"#,
    r#""direction":[1,0,0],"pairs":[[1,0]]},"exit":{"bracket":[2.25,2.25],"direction":[-1,0,0],"#,
    r#""pairs":[[0,1]]}}}}"#,
);
const NEVER: &str = concat!(
    r#"{"id":"never","verdict":"SEPARATED","certificate":{"direction":[1,0,0],"#,
    r#""range":{"never":{"direction":[1,0,0]}}}}"#,
);
/// M is the cube from (-0.25, -1, -1) to (1.75, 1, 1); by signs of x, y, z its corners are 0 to 7.
const DEEP: &str = concat!(
    r#"{"id":"deep","verdict":"OVERLAPPING","depth_lower":0.25,"depth_upper":0.25,"#,
    r#""certificate":{"pairs":[[7,0],[5,2],[3,4],[0,7],[2,5],[4,3]],"face":{"direction":[-1,0,"#,
    r#"0]},"surface":{"corners":[[7,0],[3,4],[5,2],[1,6],[6,1],[2,5],[4,3],[0,7]],"#,
    r#""triangles":[[0,1,3],[0,3,2],[4,6,7],[4,7,5],[0,4,5],[0,5,1],[2,3,7],[2,7,6],[0,2,6],[0,"#,
    r#"6,4],[1,5,7],[1,7,3]]}}}"#,
);
const FLY: &str = concat!(
    r#"{"id":"fly","verdict":"CONTACT","t_free":0.5,"t_contact":0.5,"certificate":{"pairs":[[1,"#,
    r#"0],[3,0],[5,0],[7,0]],"chain":[{"t0":0,"t1":0.499,"frame":"world","direction":[1,0,"#,
    r#"0]}]}}"#,
);

#[track_caller]
fn ruled(line: &str) -> Ruling {
    let name = format!("clearance-{}-{:?}.jsonl", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, CASES).unwrap();
    let every = std::num::NonZeroUsize::MIN;
    let options = Options { cases: path.clone(), answers: path, rulings: None, every };
    let (hulls, cases) = read_cases(&options).unwrap();
    std::fs::remove_file(&options.cases).unwrap();
    rule(line, &hulls, &cases)
}

#[track_caller]
fn refused(line: &str, from: &str, to: &str, reason: &str) {
    assert!(line.contains(from), "{from} in {line}");
    let ruling = ruled(&line.replace(from, to));
    assert!(!ruling.accepted, "{to}");
    let said = ruling.reason.unwrap();
    assert!(said.contains(reason), "{to}: {said}");
}

#[test]
fn true_answers_are_accepted_with_what_they_prove_and_what_they_leave_open() {
    let Ruling { found, reason, .. } = ruled(APART);
    assert_eq!(reason, None);
    assert_eq!(found.proven, ["static SEPARATED", "distance"]);
    assert_eq!(found.open, ["range along a direction"]);
    let Ruling { found, reason, .. } = ruled(DEEP);
    assert_eq!(reason, None);
    assert_eq!(found.proven, ["static OVERLAPPING", "depth"]);
    let free = FLY.replace(r#""t_free":0.5"#, r#""t_free":0.499"#);
    assert_eq!(ruled(&free).reason, None);
    assert_eq!(ruled(&free).found.proven, ["linear CONTACT"]);
}

#[test]
fn a_range_along_a_direction_is_proven_at_both_ends_or_never() {
    for line in [ALONG, NEVER] {
        let Ruling { found, reason, .. } = ruled(line);
        assert_eq!(reason, None);
        assert_eq!(found.proven, ["static SEPARATED", "range along a direction"]);
        assert!(found.open.is_empty());
    }
    let not_said = "the range is not that of the answer";
    refused(ALONG, r#""enter":0.25"#, r#""enter":0.5"#, not_said);
    refused(ALONG, r#""exit":2.25,"#, "", not_said);
    refused(ALONG, "[2.25,2.25]", "[2.25,2.5]", not_said);
    refused(ALONG, "[0.25,0.25]", "[0.25,0.125]", "0 <= lower <= upper");
    let both = ALONG.replace("2.25", "2.125");
    refused(&both, "[2.125,", "[2.0,", "they meet outside of the bracket");
    let both = ALONG.replace("0.25", "0.125");
    refused(&both, "[0.125,", "[0.125,", "the vertex pairs do not hold the origin");
    refused(ALONG, r#""direction":[-1,0,0]"#, r#""direction":[1,0,0]"#, "does not separate");
    refused(ALONG, r#""pairs":[[1,0]]"#, r#""pairs":[[1,4]]"#, "do not hold the origin");
    refused(ALONG, r#""pairs":[[1,0]]"#, r#""pairs":[]"#, "one to four");
    refused(ALONG, r#""exit":{"b"#, r#""exit_":{"b"#, "a range ends, or is never");
    refused(
        NEVER,
        r#""never":{"direction":[1,0,0]"#,
        r#""never":{"direction":[0,1,0]"#,
        "does not separate",
    );
    refused(
        NEVER,
        r#""never":{"direction":[1,0,0]"#,
        r#""never":{"direction":[9,1,0]"#,
        "does not separate",
    );
    refused(NEVER, r#""cert"#, r#""enter":0.25,"cert"#, not_said);
    refused(ALONG, r#""id":"along""#, r#""id":"deep""#, "");
}

#[test]
fn a_point_that_is_no_vertex_may_be_named() {
    let inner =
        DEEP.replace("[[7,0],[5,2],", "[[8,0],[7,0],[5,2],").replace(",[4,3]],\"f", "],\"f");
    assert_ne!(inner, DEEP);
    assert_eq!(ruled(&inner).reason, None);
}

#[test]
fn tampered_answers_are_refused_with_the_reason() {
    refused(APART, "[1,0,0]", "[-1,0,0]", "does not separate");
    refused(APART, "[1,0,0]", "[0,0,0]", "zero");
    refused(APART, "\"SEPARATED\"", "\"TOUCHING\"", "one to three");
    refused(APART, "\"SEPARATED\"", "\"CONTACT\"", "no verdict");
    refused(APART, "[[1,0]]", "[[1,9]]", "does not exist");
    refused(APART, "[[1,0]]", "[[1,-1]]", "invalid value");
    refused(APART, "_upper\":0.25", "_upper\":0.2499", "in order");
    let low = APART.replace("_lower\":0.25", "_lower\":0.2");
    refused(&low, "_upper\":0.25", "_upper\":0.2499", "upper bound");
    let high = APART.replace("_upper\":0.25", "_upper\":0.3");
    refused(&high, "_lower\":0.25", "_lower\":0.2501", "lower bound");
    refused(APART, "\"distance_upper\":0.25,", "", "two finite bounds");
    refused(APART, "apart", "absent", "no such case");
    let high = DEEP.replace("_upper\":0.25", "_upper\":0.3");
    refused(&high, "_lower\":0.25", "_lower\":0.2501", "lower bound");
    let low = DEEP.replace("_lower\":0.25", "_lower\":0.2");
    refused(&low, "_upper\":0.25", "_upper\":0.2499", "upper bound");
    refused(DEEP, "[0,1,3],", "", "not closed");
    refused(DEEP, "\"surface\"", "\"other\"", "no surface");
    refused(DEEP, "[[7,0],[5,2],[3,4],", "[", "four to six");
    refused(FLY, "\"t_free\":0.5", "\"t_free\":0.4995", "does not cover");
    refused(FLY, "\"t_contact\":0.5", "\"t_contact\":0.4999", "t_free <= t_contact");
    refused(FLY, "\"world\"", "\"body\"", "no frame");
    refused(FLY, "\"CONTACT\"", "\"NO_CONTACT\"", "until the end");
    let link = r#"[{"t0":0,"t1":0.499,"frame":"world","direction":[1,0,0]}]"#;
    let bare = FLY.replace(r#""t_free":0.5"#, r#""t_free":0"#).replace(link, "[]");
    refused(&bare, "\"CONTACT\"", "\"UNDECIDED\"", "does not cover");
    let started = bare.replace("\"chain\"", "\"direction\":[1,0,0],\"chain\"");
    assert_eq!(ruled(&started).reason, None);
    refused(&started, "[1,0,0]", "[-1,0,0]", "does not separate");
    // What is nearest was overlooked, and said not to cover the start.
    for form in ["direction_pairs", "direction_nearest"] {
        let named = format!(r#""{form}":[[1,0],[3,0],[5,0]],"direction_sign":1,"chain""#);
        let named = bare.replace("\"chain\"", &named);
        assert_eq!(ruled(&named).reason, None);
        refused(&named, "sign\":1", "sign\":-1", "does not separate");
    }
}

/// Within 1/8 at t = 3/8; for every motion within 1/16 of it farther apart than that before 5/16.
const NEAR: &str = concat!(
    r#"{"id":"near","verdict":"CONTACT","t_free":0.3125,"t_contact":0.375,"#,
    r#""certificate":{"pairs":[[1,0],[3,0],[5,0],[7,0]],"chain":[{"t0":0,"t1":0.312,"#,
    r#""frame":"world","direction":[1,0,0]}]}}"#,
);

#[test]
fn a_margin_and_a_deviation_are_the_cases() {
    let near = NEAR.replace(r#""t_free":0.3125"#, r#""t_free":0.312"#);
    assert_eq!(ruled(&near).reason, None);
    refused(&near, "\"t1\":0.312", "\"t1\":0.3125", "does not separate");
    refused(&near, "\"t_contact\":0.375", "\"t_contact\":0.3749", "origin");
    refused(&near, "\"near\"", "\"fly\"", "origin");
    refused(&near, "\"near\"", "\"no-margin\"", "at least 0");
}

#[test]
fn a_claim_without_a_certificate_is_not_called_proven() {
    let bare = DEEP.replace("\"face\"", "\"other\"");
    assert_eq!(ruled(&bare).found.open, ["depth"]);
}

#[test]
fn the_command_fails_on_one_refusal_and_on_an_answer_given_twice() {
    let folder = std::env::temp_dir();
    let path = |name: &str| folder.join(format!("clearance-{name}-{}.jsonl", std::process::id()));
    let options = Options {
        cases: path("verify-cases"),
        answers: path("verify-answers"),
        rulings: Some(path("verify-rulings")),
        every: std::num::NonZeroUsize::MIN,
    };
    std::fs::write(&options.cases, CASES).unwrap();
    let bad = APART.replace("[1,0,0]", "[-1,0,0]");
    for (answers, is_right) in [
        (format!("{APART}\n{DEEP}\n"), true),
        (format!("{DEEP}\n{bad}\n"), false),
        (format!("{DEEP}\n{DEEP}\n"), false),
        (String::new(), false),
    ] {
        std::fs::write(&options.answers, &answers).unwrap();
        assert_eq!(run(&options, &mut Vec::new()).unwrap(), is_right, "{answers}");
        let rulings = std::fs::read_to_string(options.rulings.as_ref().unwrap()).unwrap();
        assert_eq!(rulings.lines().count(), answers.lines().count());
    }
    for file in [&options.cases, &options.answers, options.rulings.as_ref().unwrap()] {
        std::fs::remove_file(file).unwrap();
    }
}
