//! What may run on the threads that speak to clients: only jobs with a `Counted`, a count of all
//! that they might look through. Whoever made one up from a list here and a list there would
//! overlook the next list, so it is made in few places, each of which counts all of something.

use crate::source::{code_of, production_files, production_lines, read, source_of};

/// The crates that the server is made of.
const SERVER: [&str; 4] =
    ["clearance_runtime", "clearance_wire", "clearance_transport", "clearance"];

/// Where counts are made, and what is counted there.
const COUNTED: [(&str, &str); 6] = [
    ("crates/transport/src/intake/mod.rs", "messages, as they were scanned or as they are encoded"),
    ("src/rpc/services/sessions/query.rs", "all that a session declares"),
    ("src/rpc/services/sessions/host.rs", "all that a session declares"),
    ("src/rpc/services/sessions/planning.rs", "all bodies of a scene, as they are copied"),
    ("src/rpc/services/robots/mod.rs", "descriptions of robots, as they were counted when made"),
    ("src/rpc/services/polytopes/mod.rs", "a polytope with all that is kept of it"),
];

#[test]
fn what_runs_where_others_wait_is_counted_as_a_whole_and_nowhere_else() {
    let (mut offences, mut found) = (Vec::new(), Vec::new());
    for path in SERVER.iter().flat_map(|name| production_files(&source_of(name))) {
        let name = path.display().to_string();
        let text = read(&path);
        for (number, line) in production_lines(&text) {
            if code_of(line).contains("Counted::all_of(") {
                match COUNTED.iter().find(|(known, _)| *known == name) {
                    Some((known, _)) => found.push(*known),
                    None => offences.push(format!("{name}:{number}")),
                }
            }
        }
    }
    assert!(offences.is_empty(), "counts are made in other places: {offences:?}");
    let unused: Vec<_> = COUNTED.iter().filter(|(known, _)| !found.contains(known)).collect();
    assert!(unused.is_empty(), "nothing is counted there: {unused:?}");
}
