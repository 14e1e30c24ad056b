//! The source as text: files, what of them is production code, and the paths that they name.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates in their order: each depends only on those before it. `clearance` is the server, in
/// the root of the repository.
pub(crate) const CRATES: &[&str] = &[
    "clearance_proof",
    "clearance_geometry",
    "clearance_bodies",
    "clearance_robot",
    "clearance_samples",
    "clearance_scene",
    "clearance_proto",
    "clearance_certificates",
    "clearance_runtime",
    "clearance_otlp",
    "clearance_config",
    "clearance_wire",
    "clearance_transport",
    "clearance_client",
    "clearance_drawing",
    "clearance_experiments",
    "clearance_conformance",
    "clearance_demo",
    "clearance_recording",
    "clearance",
];

/// Where a crate is.
pub(crate) fn home_of(name: &str) -> PathBuf {
    match name.strip_prefix("clearance_") {
        Some(folder) => Path::new("crates").join(folder),
        None => PathBuf::from("."),
    }
}

/// The folder of a crate's source, as every other path from the root of the repository.
pub(crate) fn source_of(name: &str) -> PathBuf {
    match name.strip_prefix("clearance_") {
        Some(folder) => Path::new("crates").join(folder).join("src"),
        None => PathBuf::from("src"),
    }
}

/// The crate that a file of source belongs to, and its path in it.
pub(crate) fn crate_of(path: &Path) -> (String, PathBuf) {
    for name in CRATES {
        if let Ok(inside) = path.strip_prefix(source_of(name)) {
            return ((*name).to_owned(), inside.to_path_buf());
        }
    }
    (String::new(), path.to_path_buf())
}

/// The source of every crate.
pub(crate) fn sources() -> impl Iterator<Item = PathBuf> {
    CRATES.iter().map(|name| source_of(name))
}

/// The folders in a folder.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    entries(path).into_iter().filter(|entry| entry.is_dir()).collect()
}

/// Every Rust file below a folder, sorted. What a build has written is not source: the companion of
/// `benches/peers` is a package of its own, and so is its `target`.
pub(crate) fn rust_files(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in entries(path) {
        if entry.is_dir() && entry.ends_with("target") {
            continue;
        }
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

/// All of a file.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder that are not for tests alone: neither named `tests` nor declared under
/// `cfg(test)`.
pub(crate) fn production_files(folder: &Path) -> Vec<PathBuf> {
    let files = rust_files(folder);
    let for_tests: Vec<PathBuf> = files.iter().flat_map(|file| test_modules(file)).collect();
    let is_for_tests = |file: &Path| {
        let stem = file.with_extension("");
        file.iter().any(|part| part == "tests")
            || file.ends_with("tests.rs")
            || for_tests.iter().any(|module| stem.starts_with(module))
    };
    files.into_iter().filter(|file| !is_for_tests(file)).collect()
}

/// The paths, without an extension, of the modules that a file declares under `cfg(test)`.
fn test_modules(file: &Path) -> Vec<PathBuf> {
    let text = read(file);
    let lines: Vec<&str> = text.lines().collect();
    let is_root = ["mod.rs", "lib.rs", "main.rs"].iter().any(|root| file.ends_with(root));
    let home =
        if is_root { file.parent().unwrap_or(file).to_path_buf() } else { file.with_extension("") };
    let declared = (0..lines.len()).filter(|&at| is_test_mark(lines[at]));
    let names = declared.filter_map(|at| declaration_after(&lines, at)?.strip_suffix(';'));
    names.map(|name| home.join(name)).collect()
}

fn is_test_mark(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[cfg(") && line.contains("test")
}

/// `name;` or `name {` of the module that the attribute in line `at` belongs to, if it is one's.
fn declaration_after<'a>(lines: &[&'a str], at: usize) -> Option<&'a str> {
    let mut after = lines[at + 1..].iter().map(|line| line.trim());
    let item = after.find(|line| !(line.starts_with('#') || line.starts_with(')')))?;
    let item = item.strip_prefix("pub(crate) ").or(item.strip_prefix("pub ")).unwrap_or(item);
    item.strip_prefix("mod ")
}

/// A file's lines with their numbers, without its modules of tests.
pub(crate) fn production_lines(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let is_module = is_test_mark(lines[at])
            && declaration_after(&lines, at).is_some_and(|name| name.ends_with('{'));
        if is_module {
            let indent = lines[at].len() - lines[at].trim_start().len();
            let end = format!("{}}}", &lines[at][..indent]);
            at += lines[at..].iter().position(|line| *line == end).unwrap_or(lines.len() - at) + 1;
        } else {
            kept.push((at + 1, lines[at]));
            at += 1;
        }
    }
    kept
}

/// A line without its comment and without what is in quotes.
pub(crate) fn code_of(line: &str) -> String {
    let mut code = String::new();
    for (at, part) in line.split('"').enumerate() {
        if at % 2 == 1 {
            code.push_str("\"\"");
            continue;
        }
        match part.split_once("//") {
            Some((before, _)) => {
                code.push_str(before);
                return code;
            }
            None => code.push_str(part),
        }
    }
    code
}
