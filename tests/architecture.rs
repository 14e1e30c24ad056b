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

/// Rooms of a folder in their order: each uses only itself and those before it. `mod.rs` of the
/// folder declares them all and is no room.
const ORDERS: &[(&str, &[&str])] = &[
    ("src/rpc", &["api", "path", "status", "convert", "transport", "shared", "services", "serve"]),
    ("src/rpc/services", &["certificates", "polytopes", "sessions", "queries", "info"]),
];

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

#[test]
fn no_room_uses_one_that_comes_after_it() {
    let mut offences = Vec::new();
    for (folder, order) in ORDERS {
        let above = module_of(&Path::new(folder).join("mod.rs"));
        let place = |module: &[String]| {
            let room = module.strip_prefix(&above[..])?.first()?;
            order.iter().position(|known| known == room)
        };
        for path in rust_files(Path::new(folder)) {
            let module = module_of(&path);
            if module == above {
                continue;
            }
            let Some(own) = place(&module) else {
                offences.push(format!("{}: is in no room of {folder}", path.display()));
                continue;
            };
            for used in modules_used(&read(&path), &module) {
                if place(&used).is_some_and(|other| other > own) {
                    offences.push(format!("{}: uses {}", path.display(), used.join("::")));
                }
            }
        }
    }
    assert!(offences.is_empty(), "a room uses one after it:\n{}", offences.join("\n"));
}

/// The path of a file's module in the crate: `src/rpc/convert/mod.rs` is `rpc`, `convert`.
fn module_of(path: &Path) -> Vec<String> {
    let inside = path.strip_prefix("src").unwrap_or(path).with_extension("");
    let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| part != "mod" && part != "lib").collect()
}

/// Every path of the crate that a file names, `super` resolved and lists in braces spelt out.
fn modules_used(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code: String = lines.flat_map(|line| [line, " "]).collect();
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':')) {
                let from = if start == "crate::" { &[] } else { module };
                add_paths(&code[at..], from, &mut found);
            }
        }
    }
    found
}

/// Adds the paths that `code` begins with, seen from the module `from`; returns the rest.
fn add_paths<'a>(mut code: &'a str, from: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = from.to_vec();
    loop {
        code = code.trim_start();
        if let Some(mut list) = code.strip_prefix('{') {
            while !list.trim_start().starts_with('}') && !list.is_empty() {
                list = add_paths(list, &path, found).trim_start();
                list = list.strip_prefix(',').unwrap_or(list);
            }
            return list.trim_start().strip_prefix('}').unwrap_or_default();
        }
        let end = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
        match &code[..end] {
            "crate" | "self" => {}
            "super" => drop(path.pop()),
            name => path.push(name.to_owned()),
        }
        match code[end..].strip_prefix("::") {
            Some(rest) => code = rest,
            None => {
                found.push(path);
                // What an item is called here, or a star, names nothing more.
                let ends = [',', '}', ';', ')', '(', '<', '>'];
                return &code[end..][code[end..].find(ends).unwrap_or(code.len() - end)..];
            }
        }
    }
}

#[test]
fn paths_are_found_in_lists_and_through_super() {
    let module = ["rpc", "convert", "body"].map(str::to_owned);
    let text = "use crate::rpc::{api, status::{Failure, self}};\nuse super::super::shared::Shared;";
    let found: Vec<String> =
        modules_used(text, &module).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["rpc::api", "rpc::status::Failure", "rpc::status", "rpc::shared::Shared"]);
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
