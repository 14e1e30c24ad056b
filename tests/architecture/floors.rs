//! Floors use only those below them; every method has its header, every file its own, every folder
//! its place on the map.

use std::path::Path;

use crate::source::{folders, read, rust_files};

/// From the ground up: folder, and the words that may not appear in it beside the names of what is
/// above.
const FLOORS: &[(&str, &[&[&str]])] = &[
    ("src/geometry", &[PURE, DETERMINISTIC]),
    ("src/mesh", &[PURE]),
    ("src/robot", &[PURE, DETERMINISTIC]),
    ("src/scene", &[PURE, DETERMINISTIC]),
    ("src/runtime", &[&["tonic", "prost"]]),
    ("src/rpc", &[]),
];

/// What only the top floor may use.
const TOP: &[&str] =
    &["crate::conformance", "crate::demo", "crate::drawing", "crate::experiments", "crate::verify"];

/// No runtime, no wire, no world outside.
const PURE: &[&str] = &[
    "tokio",
    "tonic",
    "prost",
    "std::time",
    "std::fs",
    "std::net",
    "std::thread",
    "tracing",
    "rand::",
];

/// Nothing whose order or last bit differs from run to run or from machine to machine.
const DETERMINISTIC: &[&str] = &["HashMap", "HashSet", "mul_add"];

/// The words that a floor may not use.
fn banned(floor: usize) -> Vec<String> {
    let above = FLOORS[floor + 1..].iter().map(|(folder, _)| folder.replace("src/", "crate::"));
    let words = FLOORS[floor].1.iter().copied().chain([TOP]).flatten();
    above.chain(words.map(|word| (*word).to_owned())).collect()
}

/// What every file has that holds a method: its row of a table.
const METHOD_MARK: &str = "const METHOD: ";

/// Lines that a file may have.
const LINES_MAX: usize = 500;

/// Longer files, each with the reason why it is one room.
const LONGER: &[(&str, &str)] = &[];

#[test]
fn no_floor_looks_up() {
    let mut offences = Vec::new();
    for (floor, (folder, _)) in FLOORS.iter().enumerate() {
        let banned = banned(floor);
        for path in rust_files(Path::new(folder)) {
            for (number, line) in (1..).zip(read(&path).lines()) {
                let code = line.split("//").next().unwrap_or_default();
                for word in banned.iter().filter(|word| code.contains(word.as_str())) {
                    offences.push(format!("{}:{number}: `{word}`", path.display()));
                }
            }
        }
    }
    assert!(offences.is_empty(), "a lower floor uses an upper one:\n{}", offences.join("\n"));
}

#[test]
fn the_rule_of_floors_looks_at_files() {
    for (folder, _) in FLOORS {
        assert!(!rust_files(Path::new(folder)).is_empty(), "{folder} has no file");
    }
}

#[test]
fn every_method_says_its_source_what_it_proves_and_what_it_costs() {
    let (mut offences, mut methods) = (Vec::new(), 0);
    for path in rust_files(Path::new("src/geometry")) {
        let text = read(&path);
        if !text.contains(METHOD_MARK) {
            continue;
        }
        methods += 1;
        let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        for word in ["Source:", "Proves:", "Cost:"] {
            if !header.iter().any(|line| line.contains(word)) {
                offences.push(format!("{}: no `{word}`", path.display()));
            }
        }
    }
    assert!(methods >= 2, "found only {methods} methods");
    assert!(offences.is_empty(), "headers of methods:\n{}", offences.join("\n"));
}

#[test]
fn every_file_says_what_it_is_and_fits_on_a_few_screens() {
    let mut offences = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for path in rust_files(Path::new(folder)) {
            let (text, name) = (read(&path), path.display().to_string());
            if !text.starts_with("//!") {
                offences.push(format!("{name}: no `//!` header"));
            }
            let lines = text.lines().count();
            if lines > LINES_MAX && !LONGER.iter().any(|(longer, _)| *longer == name) {
                offences.push(format!("{name}: {lines} lines"));
            }
        }
    }
    assert!(offences.is_empty(), "files:\n{}", offences.join("\n"));
}

#[test]
fn the_map_has_every_folder_of_the_source() {
    let map = read(Path::new("docs/architecture.md"));
    let mut missing = Vec::new();
    for folder in folders(Path::new("src")).into_iter().chain(folders(Path::new("src/geometry"))) {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = format!("{}/", name.unwrap_or_default());
        if !map.contains(&name) {
            missing.push(folder.display().to_string());
        }
    }
    assert!(missing.is_empty(), "docs/architecture.md's map lacks: {}", missing.join(", "));
}
