//! What a reader can take in at once: columns of a line, lines and parameters of a function,
//! meanings of a name; and tolerances only where their reasons are.

use std::collections::BTreeMap;
use std::path::Path;

use crate::source::{code_of, production_files, production_lines, read, rust_files, sources};

/// Columns that a line may have, in characters.
const COLUMNS_MAX: usize = 100;

/// Lines that a function may have, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 60;

/// Parameters that a function may have, with `self`.
const PARAMETERS_MAX: usize = 5;

/// Definitions that a type name may have in the whole source.
const MEANINGS_MAX: usize = 2;

#[test]
fn lines_have_at_most_a_hundred_columns() {
    let mut offences = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "examples"] {
        for path in rust_files(Path::new(folder)) {
            for (number, line) in (1..).zip(read(&path).lines()) {
                let columns = line.chars().count();
                if columns > COLUMNS_MAX {
                    offences.push(format!("{}:{number}: {columns}", path.display()));
                }
            }
        }
    }
    check("columns", &offences);
}

#[test]
fn functions_fit_on_a_screen_and_have_few_parameters() {
    let mut offences = Vec::new();
    for path in sources().flat_map(|source| production_files(&source)) {
        let text = read(&path);
        let lines = production_lines(&text);
        for (at, (number, line)) in lines.iter().enumerate() {
            let Some((indent, name)) = function(line) else { continue };
            let end = format!("{}}}", &line[..indent]);
            let is_whole = line.ends_with(['}', ';']);
            let length = match lines[at..].iter().position(|(_, line)| line.starts_with(&end)) {
                Some(last) if !is_whole => last + 1,
                _ => 1,
            };
            let here = format!("{}:{number}: {name}", path.display());
            if length > FUNCTION_LINES_MAX {
                offences.push(format!("{here}: {length} lines"));
            }
            let rest = lines[at..].iter().take(40).map(|(_, line)| code_of(line) + " ");
            let parameters = parameters(&rest.collect::<String>());
            if parameters.len() > PARAMETERS_MAX {
                offences.push(format!("{here}: {} parameters", parameters.len()));
            }
            for packed in parameters.iter().filter(|parameter| packs_unlike(parameter)) {
                offences.push(format!("{here}: unlike things in one parameter: {packed}"));
            }
        }
    }
    check("functions", &offences);
}

#[test]
fn tolerances_are_named_in_number_with_their_reasons() {
    let mut offences = Vec::new();
    for folder in
        ["crates/proof/src", "crates/geometry/src", "crates/robot/src/mesh", "crates/scene/src"]
    {
        for path in production_files(Path::new(folder)) {
            if path.starts_with("crates/proof/src/number") || path == Path::new(SAMPLES) {
                continue;
            }
            for (number, line) in production_lines(&read(&path)) {
                if has_tolerance(&code_of(line)) {
                    offences.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    check("tolerances", &offences);
}

/// Sizes of sample shapes are no tolerances.
const SAMPLES: &str = "crates/geometry/src/hull/samples.rs";

#[test]
fn a_type_name_has_at_most_two_meanings() {
    let mut meanings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in sources().flat_map(|source| production_files(&source)) {
        for (number, line) in production_lines(&read(&path)) {
            if let Some(name) = type_defined(line) {
                let places = meanings.entry(name.to_owned()).or_default();
                places.push(format!("{}:{number}", path.display()));
            }
        }
    }
    let many = meanings.iter().filter(|(_, places)| places.len() > MEANINGS_MAX);
    let offences: Vec<String> =
        many.map(|(name, places)| format!("type {name}: {}", places.join(", "))).collect();
    check("type names", &offences);
}

/// The one file that may declare a function that no crate declares safe.
const UNSAFE: &str = "crates/runtime/src/memory/tidy.rs";

#[test]
fn unsafe_code_is_one_declaration() {
    let mut places = Vec::new();
    for path in sources().flat_map(|source| production_files(&source)) {
        for (number, line) in production_lines(&read(&path)) {
            let code = line.split("//").next().unwrap_or_default();
            if code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
                places.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(places.len() == 1 && places[0].starts_with(UNSAFE), "unsafe: {}", places.join(", "));
}

/// Fails with what breaks the rule.
fn check(what: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{what}:\n{}", offences.join("\n"));
}

/// An item without its `pub`, `pub(super)` or `pub(in some::room)`.
fn without_visibility(code: &str) -> &str {
    let Some(rest) = code.strip_prefix("pub") else { return code };
    let rest = match rest.strip_prefix('(') {
        Some(place) => place.split_once(") ").map_or(rest, |(_, rest)| rest),
        None => rest,
    };
    rest.trim_start()
}

/// The indentation and the name of the function that begins in a line.
fn function(line: &str) -> Option<(usize, &str)> {
    let code = line.trim_start();
    let mut rest = without_visibility(code);
    loop {
        if let Some(named) = rest.strip_prefix("fn ") {
            let end = named.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            return Some((line.len() - code.len(), &named[..end]));
        }
        let (word, after) = rest.split_once(' ')?;
        if !["const", "async", "unsafe"].contains(&word) {
            return None;
        }
        rest = after;
    }
}

/// The parameters of the function that `code` begins with.
fn parameters(code: &str) -> Vec<String> {
    let named = code.find("fn ").unwrap_or_default();
    // Parameters of types, and bounds of those, come first.
    let (mut depth, mut last) = (0_i32, ' ');
    let mut angles = 0_i32;
    let (mut all, mut parameter) = (Vec::new(), String::new());
    for c in code[named..].chars() {
        let was_inside = depth > 0;
        match c {
            '<' if depth == 0 => angles += 1,
            '>' if depth == 0 && !['-', '='].contains(&last) => angles -= 1,
            '(' | '[' | '{' | '<' if depth > 0 || c == '(' && angles == 0 => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            '>' if depth > 0 && !['-', '='].contains(&last) => depth -= 1,
            _ => {}
        }
        if was_inside && depth == 1 && c == ',' {
            all.push(std::mem::take(&mut parameter));
        } else if was_inside && depth > 0 {
            parameter.push(c);
        }
        if c == ')' && depth == 0 && angles == 0 {
            break;
        }
        last = c;
    }
    all.push(parameter);
    all.into_iter().map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

/// Whether a parameter packs things of unlike types into a tuple, so that it counts as one.
fn packs_unlike(parameter: &str) -> bool {
    let pattern_end = parameter.rfind("): ").map_or(0, |at| at + 1);
    let Some(colon) = parameter[pattern_end..].find(": ") else { return false };
    let named = parameter[pattern_end + colon + 2..].trim();
    let named = named.trim_start_matches('&').trim_start();
    let named = match named.strip_prefix('\'') {
        Some(lifetime) => lifetime.split_once(' ').map_or("", |(_, rest)| rest),
        None => named,
    };
    let named = named.strip_prefix("mut ").unwrap_or(named);
    if !named.starts_with('(') {
        return false;
    }
    // A tuple reads as the parameters of a function do.
    let parts = parameters(&format!("fn f{named} {{"));
    parts.iter().any(|part| *part != parts[0])
}

/// Whether there is a number like `1e-9`.
fn has_tolerance(code: &str) -> bool {
    code.match_indices("e-").any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + 2..]);
        let start = before.rfind(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let number = &before[start.map_or(0, |start| start + 1)..];
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        let is_apart = !before[..before.len() - number.len()].ends_with(char::is_alphabetic);
        is_number && is_apart && after.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The type that a line defines.
fn type_defined(line: &str) -> Option<&str> {
    let (word, rest) = without_visibility(line.trim_start()).split_once(' ')?;
    let is_associated = word == "type" && line.starts_with(' ');
    let defines = ["struct", "enum", "trait", "type", "union"].contains(&word) && !is_associated;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    defines.then(|| &rest[..end])
}

#[test]
fn the_limits_see_what_they_are_about() {
    let count = |code: &str| parameters(code).len();
    assert_eq!(count("pub fn f<A: Fn(u32, u32) -> u32>(a: A, b: [u8; 2], c: (u8, u8)) {"), 3);
    assert_eq!(count("fn f(&self, a: Vec<(u8, u8)>, b: impl Fn(u8, u8) -> u8,) -> u8 {"), 3);
    assert_eq!(count("fn f() -> (u8, u8) {"), 0);
    let packed = ["(a, b): (u8, &[u32; 3])", "a: &'m mut (A<B, C>, D)", "a: (u8, f64)"];
    assert!(packed.iter().all(|parameter| packs_unlike(parameter)));
    let fair = ["(a, b): (u8, u8)", "a: Vec<(u8, f64)>", "a: impl Fn(u8, f64) -> u8", "&self"];
    assert!(!fair.iter().any(|parameter| packs_unlike(parameter)));
    assert_eq!(function("    pub(crate) const fn name<T>("), Some((4, "name")));
    assert!(has_tolerance("x > 1e-9") && has_tolerance("1.5e-12") && has_tolerance("1_0e-3"));
    assert!(!has_tolerance("the e-3") && !has_tolerance("name1e-3") && !has_tolerance("1.0 - 3.0"));
    assert_eq!(code_of(r#"let a = "1e-9"; // 1e-9"#), r#"let a = ""; "#);
    assert_eq!(type_defined("pub(super) struct Name<T> {"), Some("Name"));
    assert_eq!(type_defined("    type Item = u8;"), None);
    assert_eq!(type_defined("pub(in crate::geometry) enum Name {"), Some("Name"));
    assert_eq!(function("pub(in super::super) fn name() {"), Some((0, "name")));
}
