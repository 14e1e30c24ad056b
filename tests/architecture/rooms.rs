//! Inside a floor, too, every room uses only those before it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::{
    code_of, crate_of, production_files, production_lines, read, source_of, sources,
};

/// Rooms of a folder in their order: each uses only itself and those before it. `mod.rs` or
/// `lib.rs` of the folder declares them all and is no room.
const ORDERS: &[(&str, &[&str])] = &[
    ("crates/proof/src", PROOF),
    ("crates/geometry/src", GEOMETRY),
    ("crates/scene/src", SCENE),
    ("crates/scene/src/pairs", PAIRS),
    ("crates/scene/src/frame", FRAME),
    ("crates/wire/src", WIRE),
    ("src/rpc", RPC),
    (
        "src/rpc/services",
        &["certificates", "polytopes", "sessions", "robots", "queries", "info", "health"],
    ),
];

/// Where in a message we are, what may go wrong there, then what makes values of messages.
const WIRE: &[&str] = &["path", "status", "convert"];

/// What services share, then the services, then what serves them.
const RPC: &[&str] =
    &["shared", "services", "pages", "protection", "spans", "routes", "door", "serve"];

/// Numbers, then where bodies are, then what is asserted about two of them and who checks it.
const PROOF: &[&str] =
    &["number", "until", "effort", "pose", "motion", "vertex_pair", "claim", "judge"];

/// What bodies are, then what is asked about two of them, then the searches for answers.
///
/// A hull comes after polytopes because it hands one out.
const GEOMETRY: &[&str] = &[
    "csr",
    "symmetric",
    "processor",
    "shape",
    "kernel",
    "hierarchy",
    "reach",
    "polytope",
    "support",
    "hull",
    "polyhedron",
    "pair",
    "witness",
    "difference",
    "aligned",
    "separation",
    "distance",
    "penetration",
    "meeting",
    "contact_time",
    "rounded",
    "faces",
    "cloud",
    "terrain",
    "seams",
    "rays",
];

/// What a client states, then where bodies are, then which of them are near each other and how
/// these stand, then what of that is remembered, then the frame, and questions to what it leaves.
const SCENE: &[&str] = &[
    "broken",
    "brackets",
    "bounds",
    "unanswered",
    "methods",
    "pair_key",
    "declared",
    "placed",
    "near",
    "pairs",
    "memory",
    "frame",
    "query",
    "planning",
];

/// What is known of a pair, then what finds out each part of it, then what is asked in which order.
const PAIRS: &[&str] = &[
    "meshes",
    "two_parts",
    "report",
    "notes",
    "answer",
    "state",
    "measures",
    "contact",
    "meet",
    "ranges",
    "stand",
    "work",
];

/// A scene and how it changes, then a frame that is applied, then the round that answers it.
const FRAME: &[&str] = &[
    "scene",
    "near",
    "mount",
    "structure",
    "opening",
    "apply",
    "events",
    "step",
    "ranking",
    "least_bytes",
    "writing",
];

/// What a judge of robots may use beside `clearance_proof`, which has no search in its graph: the
/// numbers of the joints, and what is claimed.
const ROBOT_JUDGES_USE: &[&str] = &["claim", "tree", "judge"];

#[test]
fn judges_of_robots_share_no_code_with_the_searches() {
    let (mut offences, mut uses) = (Vec::new(), 0);
    // A type stands beside the rooms; they begin with a small letter.
    let is_room = |room: &String| room.starts_with(char::is_lowercase);
    for path in production_files(&source_of("clearance_robot").join("judge")) {
        for used in modules_used(&production_code(&path), &module_of(&path)) {
            let [root, room, ..] = &used[..] else { continue };
            uses += usize::from(is_room(room));
            let is_known = match root.as_str() {
                "clearance_proof" => true,
                "clearance_robot" => !is_room(room) || ROBOT_JUDGES_USE.contains(&room.as_str()),
                _ => false,
            };
            if !is_known {
                offences.push(format!("{}: uses {}", path.display(), used.join("::")));
            }
        }
    }
    assert!(uses > 10, "found only {uses} uses");
    assert!(offences.is_empty(), "a judge uses what it must not:\n{}", offences.join("\n"));
}

/// A file without its modules of tests.
fn production_code(path: &Path) -> String {
    let text = read(path);
    production_lines(&text).into_iter().flat_map(|(_, line)| [line, "\n"]).collect()
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
        for path in production_files(Path::new(folder)) {
            let module = module_of(&path);
            if module == above {
                continue;
            }
            let Some(own) = place(&module) else {
                offences.push(format!("{}: is in no room of {folder}", path.display()));
                continue;
            };
            for used in modules_used(&production_code(&path), &module) {
                if place(&used).is_some_and(|other| other > own) {
                    offences.push(format!("{}: uses {}", path.display(), used.join("::")));
                }
            }
        }
    }
    assert!(offences.is_empty(), "a room uses one after it:\n{}", offences.join("\n"));
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for folder in sources() {
        let arrows = arrows(&folder);
        circles.extend(arrows.keys().filter_map(|file| circle(file, &arrows)));
    }
    assert!(circles.is_empty(), "files use each other in a circle:\n{}", circles.join("\n"));
}

/// A module of the crate, and the files' modules that each one uses.
type Arrows = BTreeMap<Vec<String>, Vec<Vec<String>>>;

/// Which files below a folder use which. A file and the `mod.rs` of a folder that it is in make one
/// module, so arrows between them do not count: the folder shows what its files have.
fn arrows(folder: &Path) -> Arrows {
    let files: BTreeMap<Vec<String>, String> = production_files(folder)
        .iter()
        .map(|path| (module_of(path), production_code(path)))
        .collect();
    let mut arrows = Arrows::new();
    for (module, code) in &files {
        let mut uses = Vec::new();
        for used in modules_used(code, module) {
            let known = (1..=used.len()).rev().map(|length| &used[..length]);
            let Some(file) = known.into_iter().find(|path| files.contains_key(*path)) else {
                continue;
            };
            if !(file.starts_with(module) || module.starts_with(file)) {
                uses.push(file.to_vec());
            }
        }
        arrows.insert(module.clone(), uses);
    }
    arrows
}

/// The circle of files that begins and ends with this one, if there is one.
fn circle(start: &[String], arrows: &Arrows) -> Option<String> {
    let mut ways = vec![vec![start.to_vec()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in way.last().and_then(|last| arrows.get(last)).into_iter().flatten() {
            let further = [&way[..], std::slice::from_ref(next)].concat();
            if next == start {
                let names: Vec<String> = further.iter().map(|file| file.join("::")).collect();
                return Some(names.join(" -> "));
            }
            if seen.insert(next.clone()) {
                ways.push(further);
            }
        }
    }
    None
}

/// The path of a file's module, the crate first: `crates/wire/src/convert/mod.rs` is
/// `clearance_wire`, `convert`.
fn module_of(path: &Path) -> Vec<String> {
    let (name, inside) = crate_of(path);
    let inside = inside.with_extension("");
    let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
    let parts = parts.filter(|part| part != "mod" && part != "lib");
    std::iter::once(name).chain(parts).collect()
}

/// Rooms of `clearance_proof` that `clearance_geometry` shows as its own.
fn shown_by_geometry(path: Vec<String>) -> Vec<String> {
    match &path[..] {
        [root, room, rest @ ..]
            if root == "clearance_geometry" && PROOF.contains(&room.as_str()) =>
        {
            [&["clearance_proof".to_owned(), room.clone()], rest].concat()
        }
        _ => path,
    }
}

/// Every path of the workspace that a file names, `super` resolved and lists in braces spelt out.
fn modules_used(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let code: String = text.lines().map(|line| code_of(line) + " ").collect();
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::", "clearance_"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':')) {
                let from = match start {
                    "crate::" => &module[..1],
                    "clearance_" => &[],
                    _ => module,
                };
                add_paths(&code[at..], from, &mut found);
            }
        }
    }
    found.into_iter().map(shown_by_geometry).collect()
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
    let module = ["clearance", "rpc", "convert", "body"].map(str::to_owned);
    let text = "use crate::rpc::{api, status::{Failure, self}};\nuse super::super::shared::Shared;";
    let found: Vec<String> =
        modules_used(text, &module).iter().map(|path| path.join("::")).collect();
    let expected = ["rpc::api", "rpc::status::Failure", "rpc::status", "rpc::shared::Shared"];
    assert_eq!(found, expected.map(|path| format!("clearance::{path}")));
}

#[test]
fn an_arrow_up_is_seen_through_every_form_of_a_path() {
    let module = ["clearance_geometry", "shape", "measure"].map(str::to_owned);
    for text in [
        "use crate::{Vec3, hull::convex_hull};",
        "use super::super::hull::{Hull, convex_hull};",
        "use clearance_geometry::{Vec3, hull::{convex_hull}};",
        "fn f() { crate::hull::convex_hull(&[]); }",
    ] {
        let used = modules_used(text, &module);
        let is_hull = |path: &Vec<String>| {
            path[..].starts_with(&["clearance_geometry".into(), "hull".into()])
        };
        assert!(used.iter().any(is_hull), "{text}: {used:?}");
    }
    let in_tests = "use crate::Vec3;\n#[cfg(test)]\n#[expect(clippy::float_cmp)]\n\
        mod tests {\n    use super::super::hull;\n}\n";
    let kept: Vec<_> = production_lines(in_tests).into_iter().map(|(number, _)| number).collect();
    assert_eq!(kept, [1]);
}
