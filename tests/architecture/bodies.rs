//! What a body is, one crate knows: whoever serves, certifies or asks holds a `Body` and looks in
//! the table of `crates/bodies` who answers about it. A new kind of body is a file and its rows
//! there, and none of these files changes.

use std::path::Path;

use crate::source::{code_of, production_files, production_lines, read, source_of};

/// Names of the kinds and of their own types. Whoever passes a `Kind` on knows none; messages of
/// `api` are called as they are on the wire.
const KINDS: [&str; 7] = [
    "Polytope",
    "Polyhedron",
    "PolyhedronError",
    "HulledMesh",
    "RoundedHull",
    "HulledCloud",
    "CurvedBody",
];

/// Crates that may not know a kind. Those below the table are what kinds are made of. Scenes and
/// robots hold convex parts, which `Place::part` of the table gives them. Tools ask the geometry
/// itself, to compare it with the papers and with the server.
const KNOW_NONE: [&str; 7] = [
    "clearance_certificates",
    "clearance_client",
    "clearance_runtime",
    "clearance_config",
    "clearance_wire",
    "clearance_transport",
    "clearance",
];

/// What knows kinds all the same: whoever reads a registration makes a body of it, and what a
/// robot's file names was registered before.
const READERS: [&str; 2] =
    ["crates/wire/src/convert/polytope.rs", "crates/wire/src/convert/robots/registration.rs"];

/// The names in a line of code that are a kind's.
fn kinds_in(code: &str) -> Vec<String> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(|c| !is_of_name(c))
        .filter(|path| !path.starts_with("api::"))
        .flat_map(|path| path.split(':'))
        .filter(|name| KINDS.contains(name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_file_outside_bodies_knows_a_kind_of_body() {
    let (mut offences, mut readers) = (Vec::new(), Vec::new());
    for source in KNOW_NONE.map(source_of) {
        for path in production_files(&source) {
            let (name, text) = (path.display().to_string(), read(&path));
            let lines = production_lines(&text);
            let found = lines.iter().filter(|(_, line)| !kinds_in(&code_of(line)).is_empty());
            let numbers: Vec<usize> = found.map(|(number, _)| *number).collect();
            match READERS.iter().find(|reader| **reader == name) {
                Some(reader) if !numbers.is_empty() => readers.push(*reader),
                Some(_) => {}
                None => offences.extend(numbers.iter().map(|number| format!("{name}:{number}"))),
            }
        }
    }
    assert!(offences.is_empty(), "kinds of bodies are known there: {offences:?}");
    assert_eq!(readers, READERS, "these no longer read bodies");
}

#[test]
fn names_of_kinds_are_found_and_messages_are_not() {
    assert_eq!(kinds_in("match kind { Kind::Polytope => 1 }"), ["Polytope"]);
    assert_eq!(kinds_in("use clearance_geometry::polyhedron::Polyhedron;"), ["Polyhedron"]);
    assert!(kinds_in("api::MeshTreatment::Polyhedron => {}").is_empty());
    assert!(kinds_in("MemoryKind::Polytopes").is_empty());
    assert!(Path::new(READERS[0]).exists());
}
