//! Crates depend only on those below them, and name nothing that is above; every method has its
//! header, every file its own, every folder its place on the map.

use std::path::{Path, PathBuf};

use crate::source::{CRATES, folders, home_of, read, rust_files, source_of};

/// What the source of a crate may not name; what it may depend on, its manifest says.
const WORDS: &[(&str, &[&[&str]])] = &[
    ("clearance_proof", &[PURE, DETERMINISTIC]),
    ("clearance_geometry", &[PURE, DETERMINISTIC]),
    ("clearance_bodies", &[PURE, DETERMINISTIC]),
    ("clearance_robot", &[PURE, DETERMINISTIC]),
    ("clearance_scene", &[PURE, DETERMINISTIC]),
];

/// Where tables are looked up by key and never walked through.
const LOOKED_UP: &str = "crates/robot/src/mesh";

/// The server: folder, and what it may not name.
const SERVER: &[(&str, &[&str])] = &[
    ("crates/runtime/src", &["tonic", "prost"]),
    ("crates/wire/src", &["tokio", "rayon"]),
    ("crates/transport/src", &["clearance_geometry", "clearance_scene"]),
    ("src/rpc", &[]),
];

/// What only the top floor may use.
const TOP: &[&str] = &[
    "clearance_client",
    "clearance_conformance",
    "clearance_demo",
    "clearance_drawing",
    "clearance_experiments",
    "clearance_recording",
];

/// The only packages that a checker of certificates needs: numbers, errors, short lists.
const PROOF_NEEDS: &[&str] = &["arrayvec", "dashu-int", "nalgebra", "thiserror"];

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

/// What every file has that holds a method: its row of a table.
const METHOD_MARK: &str = "const METHOD: ";

/// Lines that a file may have.
const LINES_MAX: usize = 800;

/// Longer files, each with the reason why it is one room.
const LONGER: &[(&str, &str)] = &[];

#[test]
fn no_crate_depends_on_one_that_comes_after_it() {
    let mut offences = Vec::new();
    for (own, name) in CRATES.iter().enumerate() {
        for needed in dependencies(name) {
            let underscored = needed.replace('-', "_");
            let other = CRATES.iter().position(|known| *known == underscored);
            if needed.starts_with("clearance") && other.is_none_or(|other| other >= own) {
                offences.push(format!("{name}: depends on {needed}"));
            }
        }
    }
    assert!(offences.is_empty(), "a crate depends on one after it:\n{}", offences.join("\n"));
}

#[test]
fn every_crate_of_the_workspace_is_in_the_order() {
    let known: Vec<_> = CRATES.iter().map(|name| home_of(name)).collect();
    let missing: Vec<_> =
        folders(Path::new("crates")).into_iter().filter(|home| !known.contains(home)).collect();
    assert!(missing.is_empty(), "tests/architecture/source.rs lacks: {missing:?}");
}

#[test]
fn proofs_need_numbers_only() {
    let needed = dependencies("clearance_proof");
    assert_eq!(needed, PROOF_NEEDS, "who checks certificates takes all of these");
}

#[test]
fn a_client_needs_neither_the_geometry_nor_the_server() {
    let known = ["clearance-certificates", "clearance-proof", "clearance-proto"];
    for name in ["clearance_certificates", "clearance_client"] {
        let needed = dependencies(name);
        let own = needed.iter().filter(|needed| needed.starts_with("clearance"));
        let other: Vec<_> = own.filter(|needed| !known.contains(&needed.as_str())).collect();
        assert!(other.is_empty(), "{name}: depends on {other:?}");
    }
}

/// The packages that a crate's manifest names under `[dependencies]`.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = read(&home_of(name).join("Cargo.toml"));
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let own = lines.take_while(|line| !line.starts_with('['));
    let names = own.filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()));
    names.map(|name| name.trim_end_matches(".workspace").to_owned()).collect()
}

#[test]
fn no_floor_names_what_is_not_its_business() {
    let mut offences = Vec::new();
    let crates = WORDS.iter().map(|(name, lists)| (source_of(name), lists.concat()));
    let server = SERVER.iter().map(|(folder, words)| (PathBuf::from(folder), words.to_vec()));
    for (folder, words) in crates.chain(server) {
        let files = rust_files(&folder);
        assert!(!files.is_empty(), "{} has no file", folder.display());
        let is_test = |path: &Path| path.iter().any(|part| part == "tests");
        for path in files.iter().filter(|path| !is_test(path)) {
            for (number, line) in (1..).zip(read(path).lines()) {
                let code = line.split("//").next().unwrap_or_default();
                let allowed = |word: &str| word.starts_with("Hash") && path.starts_with(LOOKED_UP);
                let named = words.iter().chain(TOP).filter(|word| code.contains(**word));
                for word in named.filter(|word| !allowed(word)) {
                    offences.push(format!("{}:{number}: `{word}`", path.display()));
                }
            }
        }
    }
    assert!(offences.is_empty(), "a lower floor uses an upper one:\n{}", offences.join("\n"));
}

#[test]
fn every_method_says_its_source_what_it_proves_and_what_it_costs() {
    let (mut offences, mut methods) = (Vec::new(), 0);
    for path in rust_files(&source_of("clearance_geometry")) {
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
    for folder in ["src", "crates", "clients", "tests", "benches"] {
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
    let homes = ["src", "crates", "crates/proof/src", "crates/geometry/src", "crates/bodies/src"];
    for folder in homes.iter().flat_map(|home| folders(Path::new(home))) {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = format!("{}/", name.unwrap_or_default());
        if !map.contains(&name) {
            missing.push(folder.display().to_string());
        }
    }
    assert!(missing.is_empty(), "docs/architecture.md's map lacks: {}", missing.join(", "));
}
