//! What building a hull takes at its peak: that it stays within what is estimated before.
//!
//! Each set of points is a process of its own, so that nothing that others have freed is taken
//! again.
//! The same for more points, with the figures:
//!
//! ```sh
//! HULL_MEMORY_POINTS=1000,20000,170000 cargo test --release \
//!     --test geometry hull_memory -- --nocapture
//! ```
#![expect(clippy::print_stdout, reason = "the figures are what it is run by hand for")]

use std::process::Command;

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, sphere};
use clearance_geometry::hull::{building_bytes_max, convex_hull};

/// Numbers of points, with commas between them.
const POINTS: &str = "HULL_MEMORY_POINTS";

/// Without a word about it: what tests without optimisation do in seconds.
const POINTS_DEFAULT: &str = "1000,20000";

/// Tells the process of one set which it is, and of how many points.
const CHOSEN: &str = "HULL_MEMORY_CHOSEN";

/// What the process takes for stacks, lists of free memory and pages that are counted late.
const SLACK: u64 = 2 << 20;

type Points = fn(usize) -> Vec<Vec3>;

const SETS: &[(&str, Points)] = &[
    ("ball", |count| sphere(count as u32, 1.0)),
    ("inside a ball", |count| {
        let mut random = Random::new(1);
        (0..count).map(|_| random.in_ball()).collect()
    }),
    ("disc", |count| ring(count).collect()),
    ("cylinder", |count| {
        let both = ring(count / 2).flat_map(|p| [p, p + Vec3::z()]);
        both.collect()
    }),
    ("cone", |count| ring(count - 1).chain([Vec3::z()]).collect()),
    ("needle", |count| {
        let long = Vec3::new(1e6, 1.0, 1.0);
        sphere(count as u32, 1.0).into_iter().map(|p| p.component_mul(&long)).collect()
    }),
    ("every point ten times", |count| {
        let once = sphere(count as u32 / 10, 1.0);
        (0..10).flat_map(|_| once.clone()).collect()
    }),
    ("grid in a cube", |count| {
        let side = (count as f64).cbrt() as usize;
        let at = |k: usize| [k % side, k / side % side, k / side / side].map(|x| x as f64);
        (0..side * side * side).map(|k| Vec3::from(at(k))).collect()
    }),
    ("grid in a square", |count| {
        let side = (count as f64).sqrt() as usize;
        (0..side * side).map(|k| Vec3::new((k % side) as f64, (k / side) as f64, 0.0)).collect()
    }),
    ("bowl", |count| {
        let half = (count as f64).sqrt() as i32 / 2;
        let at = |x: i32, y: i32| Vec3::new(x.into(), y.into(), (x * x + y * y).into());
        (-half..half).flat_map(|x| (-half..half).map(move |y| at(x, y))).collect()
    }),
    ("moment curve", |count| {
        let at = |k: usize| k as f64 / count as f64;
        (0..count).map(|k| Vec3::new(at(k), at(k) * at(k), at(k) * at(k) * at(k))).collect()
    }),
    ("ball in a ball", |count| {
        let inner = sphere(count as u32 / 2, 0.999).into_iter();
        inner.chain(sphere(count as u32 / 2, 1.0)).collect()
    }),
];

fn ring(count: usize) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |k| {
        let turn = std::f64::consts::TAU * k as f64 / count as f64;
        Vec3::new(turn.cos(), turn.sin(), 0.0)
    })
}

/// A figure of this process in bytes, as Linux tells it.
fn held(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_matches([':', '\t', ' ', 'k', 'B']).parse::<u64>().ok().map(|kib| kib << 10)
}

#[test]
fn the_peak_of_building_a_hull_is_within_what_is_estimated() {
    if held("VmHWM").is_none() {
        return;
    }
    let counts = std::env::var(POINTS).unwrap_or_else(|_| POINTS_DEFAULT.to_owned());
    for (which, (name, points)) in SETS.iter().enumerate() {
        for count in counts.split(',') {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "hull_memory::one_hull_is_built", "--ignored", "--nocapture"]);
            command.env(CHOSEN, format!("{which} {count}"));
            // As the server is started: large lists are mappings of their own.
            command.env("MALLOC_MMAP_THRESHOLD_", "262144");
            let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let taken = output.lines().find_map(|line| line.rsplit_once("took ")?.1.parse().ok());
            let taken: u64 = taken.unwrap_or_else(|| panic!("{name}: {output}"));
            let given = points(count.parse().unwrap()).len();
            let each = taken as f64 / given as f64;
            println!("{name:22} {given:8} points {:7} KiB, {each:6.0} a point", taken >> 10);
            let most = building_bytes_max(given);
            assert!(taken <= most + SLACK, "{name}: {taken} of {most} for {given} points");
        }
    }
}

/// What the process of each set does.
#[test]
#[ignore = "the test above starts it"]
fn one_hull_is_built() {
    let Ok(chosen) = std::env::var(CHOSEN) else { return };
    let (which, count) = chosen.split_once(' ').unwrap();
    let points = SETS[which.parse::<usize>().unwrap()].1(count.parse().unwrap());
    // The code is there already, and what a small body needs.
    build(&sphere(60, 1.0));
    // The highest that was held is what is held now.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = held("VmRSS").unwrap();
    build(&points);
    println!("\ntook {}", held("VmHWM").unwrap() - before);
}

fn build(points: &[Vec3]) {
    let hull = convex_hull(points).expect("a hull");
    hull.polytope.prepare_reach(&Effort::unlimited()).expect("no bound");
    hull.polytope.hierarchy_report(&Effort::unlimited()).expect("no bound");
}
