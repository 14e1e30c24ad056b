//! The image is built from all that the package needs.

use std::path::Path;

use crate::source::{read, rust_files};

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
    needed
        .extend(["Cargo.toml", "Cargo.lock", "proto/", "crates/", "src/lib.rs"].map(str::to_owned));
    if manifest.contains("[[bench]]") {
        needed.push("benches/".to_owned());
    }
    // The demo has its robot's files in itself.
    for path in ["src", "crates/demo/src"].iter().flat_map(|home| rust_files(Path::new(home))) {
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
