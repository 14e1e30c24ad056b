//! What building a hull costs: dimension, extreme points, merged facets, adjacency, volume, bounds.
//!
//! ```text
//! cargo bench --bench hulls
//! ```
//!
//! Prints for each shape the points given, vertices, facets, and the least CPU time of five runs;
//! and at the end a hash of all the hulls, the same on every machine. As a test it builds a
//! hundredth of each.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::hint::black_box;
use std::time::Duration;

use clearance::geometry::Vec3;
use clearance::geometry::hull::convex_hull;
use clearance::geometry::ids::PolytopeId;
use clearance::geometry::polytope::samples::{self, Random};

/// Runs of which the fastest counts.
const RUNS: u32 = 5;

type Shape = (&'static str, fn(u32) -> Vec<Vec3>, u32);

/// Each with its number of points, or what stands for it.
const SHAPES: &[Shape] = &[
    ("on a sphere, evenly", |n| samples::sphere(n, 1.0), 2_000),
    ("on a sphere, evenly", |n| samples::sphere(n, 1.0), 20_000),
    ("on a sphere, evenly", |n| samples::sphere(n, 1.0), 100_000),
    ("on a sphere, at random", |n| samples::ellipsoid(n, Vec3::repeat(1.0), 1), 100_000),
    (
        "on an ellipsoid 1 : 0.1 : 0.1",
        |n| samples::ellipsoid(n, Vec3::new(1.0, 0.1, 0.1), 1),
        2_000,
    ),
    ("in a ball", in_ball, 100_000),
    ("in a cube", |n| samples::cloud(n, Vec3::repeat(1.0), 2), 100_000),
    ("on a sphere squeezed by 1e-13", |n| squeezed(&samples::sphere(n, 1.0)), 20_000),
    ("prism", |n| samples::prism(n / 2, 1.0, 1.0), 20_000),
    ("cone", |n| samples::cone(n, 1.0, 1.0), 20_000),
    ("needle", |n| samples::needle(n / 4, 10.0, 0.01), 20_000),
    ("integer grid", |n| grid(f64::from(n).cbrt().round() as u32, 1.0), 8_000),
    ("grid of multiples of 0.1", |n| grid(f64::from(n).cbrt().round() as u32, 0.1), 8_000),
    ("flat polygon", |n| samples::flat_polygon(n, 1.0), 20_000),
];

fn in_ball(count: u32) -> Vec<Vec3> {
    let mut random = Random::new(3);
    (0..count).map(|_| random.in_ball()).collect()
}

fn squeezed(points: &[Vec3]) -> Vec<Vec3> {
    points.iter().map(|p| Vec3::new(p.x, p.y, p.z * 1e-13)).collect()
}

fn grid(side: u32, step: f64) -> Vec<Vec3> {
    let all = 0..side.pow(3);
    let at = |i: u32| f64::from(i % side) * step;
    all.map(|i| Vec3::new(at(i), at(i / side), at(i / side / side))).collect()
}

fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).expect("below a second"))
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let mut hash = blake3::Hasher::new();
    println!("{:32} {:>7} {:>8} {:>7} {:>10}", "points", "given", "vertices", "facets", "CPU ms");
    for &(name, draw, count) in SHAPES {
        let points = draw(if is_bench { count } else { count / 100 });
        let mut best = Duration::MAX;
        let mut hull = None;
        for _ in 0..if is_bench { RUNS } else { 1 } {
            let start = cpu_time();
            let built = black_box(convex_hull(black_box(&points)));
            best = best.min(cpu_time() - start);
            hull = Some(built.expect("samples are finite and not empty"));
        }
        let hull = hull.expect("at least one run");
        hash.update(PolytopeId::of(&hull.polytope).digest());
        let report = hull.report();
        let milliseconds = best.as_secs_f64() * 1e3;
        println!(
            "{name:32} {:7} {:8} {:7} {milliseconds:10.3}",
            report.given, report.extreme, report.facets
        );
    }
    println!("hash {}", hash.finalize());
}
