//! The map of the code, `docs/architecture.md`, names files as a reader finds them: whole, or by
//! the end of their path, where a crate's folder stands for its source.

use std::collections::BTreeSet;
use std::path::Path;

use crate::source::{CRATES, home_of, read, rust_files, source_of};

/// Every file and folder of Rust, as a path whose every end may be named: `crates/wire/src/path.rs`
/// is `wire/path.rs`, too.
fn places() -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    let sources = CRATES.iter().map(|name| (home_of(name), source_of(name)));
    let others = ["tests", "benches", "examples"].map(|name| (name.into(), name.into()));
    for (home, source) in sources.chain(others) {
        for file in rust_files(&source) {
            let short = home.join(file.strip_prefix(&source).unwrap_or(&file));
            let whole_and_short = [file.as_path(), short.as_path()];
            for place in whole_and_short.iter().flat_map(|path| path.ancestors()) {
                places.insert(format!("/{}", place.display()));
            }
        }
    }
    places
}

/// What looks like a path of Rust: in backticks with a slash, or anywhere if it ends like a file.
fn named_paths(text: &str) -> BTreeSet<&str> {
    let is_path = |word: &&str| {
        word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_./".contains(c))
    };
    let quoted = text.split('`').filter(|word| word.contains('/'));
    let ends = |c: char| c.is_whitespace() || "`(),;:".contains(c);
    let files = text.split(ends).filter(|word| word.ends_with(".rs"));
    quoted.chain(files).filter(is_path).map(|path| path.trim_end_matches('/')).collect()
}

fn lost<'a>(text: &'a str, places: &BTreeSet<String>) -> Vec<&'a str> {
    let leads_somewhere = |path: &str| {
        let (end, file) = (format!("/{path}"), format!("/{path}.rs"));
        Path::new(path).exists()
            || places.iter().any(|place| place.ends_with(&end) || place.ends_with(&file))
    };
    named_paths(text).into_iter().filter(|path| !leads_somewhere(path)).collect()
}

#[test]
fn every_path_on_the_map_leads_somewhere() {
    let text = read(Path::new("docs/architecture.md"));
    let (named, places) = (named_paths(&text).len(), places());
    assert!(named > 100, "{named} paths only: they are written in another way now");
    assert_eq!(lost(&text, &places), Vec::<&str>::new());
}

#[test]
fn a_path_that_leads_nowhere_is_found_in_words_and_in_lists() {
    let text = "`wire/path.rs` and `wire/paths.rs`, `src/rpc/` and `near/box_tree`:\n\
                -> services/sessions/streams.rs  what `frame/steps` says of `Option<a/b>`";
    let expected = ["frame/steps", "services/sessions/streams.rs", "wire/paths.rs"];
    assert_eq!(lost(text, &places()), expected);
}
