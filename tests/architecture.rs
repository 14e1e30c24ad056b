//! The rules of the house that a test can hold: floors, headers of methods, sizes of files, the
//! map.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up: folder, and the words that may not appear in it beside the names of what is
/// above.
const FLOORS: &[(&str, &[&[&str]])] = &[
    ("src/geometry", &[PURE, DETERMINISTIC]),
    ("src/mesh", &[PURE]),
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
const METHOD_MARK: &str = "METHOD: Method";

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

fn folders(path: &Path) -> Vec<PathBuf> {
    entries(path).into_iter().filter(|entry| entry.is_dir()).collect()
}

/// Every Rust file below a folder, sorted.
fn rust_files(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in entries(path) {
        if entry.is_dir() {
            files.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut entries: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a readable folder").path()).collect();
    entries.sort();
    entries
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The image is built from what the Dockerfile copies and .dockerignore lets through; nobody builds
/// it when the package gets a new folder or a new toolchain.
#[test]
fn the_image_is_built_from_all_that_the_package_needs() {
    let (recipe, ignored) = (read("deploy/Dockerfile".as_ref()), read(".dockerignore".as_ref()));
    let copies = recipe.lines().filter_map(|line| line.strip_prefix("COPY "));
    let copied: Vec<&str> = copies.flat_map(str::split_whitespace).collect();
    let manifest = read("Cargo.toml".as_ref());
    let paths = manifest.lines().filter_map(|line| line.strip_prefix("path = "));
    let mut needed: Vec<String> = paths.map(|path| path.trim_matches('"').to_owned()).collect();
    needed.extend(
        ["Cargo.toml", "Cargo.lock", "build.rs", "proto/", "src/lib.rs"].map(str::to_owned),
    );
    if manifest.contains("[[bench]]") {
        needed.push("benches/".to_owned());
    }
    for path in rust_files(Path::new("src")) {
        let code = read(&path);
        let includes = code.split("include_").skip(1).filter_map(|rest| rest.split_once("(\"../"));
        let named = includes.filter_map(|(_, rest)| rest.trim_start_matches("../").split_once('"'));
        needed.extend(named.map(|(named, _)| named.to_owned()));
    }
    assert!(needed.iter().any(|path| path.starts_with("data/")), "the demo's robot: {needed:?}");
    for path in needed {
        let top = path.split('/').next().unwrap_or_default();
        assert!(copied.contains(&top), "deploy/Dockerfile does not copy {top}, needed for {path}");
        assert!(ignored.lines().any(|line| line == format!("!{top}")), ".dockerignore hides {top}");
    }
    let toolchain = read("rust-toolchain.toml".as_ref());
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = "));
    let channel = channel.expect("a channel").trim_matches('"');
    let image = format!("FROM rust:{channel}-");
    assert!(recipe.contains(&image), "deploy/Dockerfile is to begin with {image}");
}
