//! What registering a body costs: the hull (dimension, extreme points, merged facets, adjacency,
//! volume, bounds), what the search for supporting vertices needs, and the Dobkin-Kirkpatrick
//! hierarchy.
//!
//! ```text
//! cargo bench --bench hulls
//! ```
//!
//! Prints for each shape the points given, vertices, facets, and the CPU time of the fastest of
//! five runs by part. Then memory in bytes a vertex: what default methods need, less [`PER_BODY`]
//! for the body; and what is built on first use by methods that are asked for by name, `h_walk` and
//! `prism` (the hierarchy) and `cd_dual` (the surface). At the end a hash of all the hulls, the
//! same on every machine. As a test it builds a hundredth of each.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use std::hint::black_box;
use std::time::Duration;

use clearance_bodies::ContentId;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hierarchy::HierarchyReport;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::hull::{Hull, convex_hull, samples};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::polytope::surface::Surface;
use clock::thread_time;

/// Runs of which the fastest counts.
const RUNS: u32 = 5;

type Shape = (&'static str, fn(u32) -> Vec<Vec3>, u32);

/// Bytes that a body may take however few its vertices: the table of the search starts at most.
const PER_BODY: usize = 48 << 10;

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

/// What registering some points costs.
struct Registration {
    hull: Hull,
    /// Hull, then what the search for supporting vertices needs, then the hierarchy.
    times: [Duration; 3],
    figures: HierarchyReport,
}

impl Registration {
    fn of(points: &[Vec3]) -> Self {
        let start = thread_time();
        let hull = convex_hull(black_box(points)).expect("samples are finite and not empty");
        let hull_time = thread_time() - start;
        black_box(hull.polytope.reach());
        let reach_time = thread_time() - start - hull_time;
        let figures = hull.polytope.hierarchy_report(&Effort::unlimited());
        let figures = figures.expect("without a deadline");
        let times = [hull_time, reach_time, thread_time() - start - hull_time - reach_time];
        Self { hull, times, figures }
    }

    fn time(&self) -> Duration {
        self.times.iter().sum()
    }

    fn print(&self, name: &str) {
        let (report, body) = (self.hull.report(), &self.hull.polytope);
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let [hull, reach, hierarchy] = self.times.map(milliseconds);
        let all = milliseconds(self.time());
        let each = |bytes: usize| bytes as f64 / report.extreme as f64;
        let always = each((size_of::<Polytope>() + body.heap_bytes()).saturating_sub(PER_BODY));
        let edges = (0..body.vertex_count()).map(|i| body.neighbours(i).len()).sum::<usize>() / 2;
        let surface = each(Surface::memory_bytes(edges, report.facets));
        let walk = each(self.figures.bytes);
        println!(
            "{name:30} {:7} {:8} {:7} {hull:9.3} {reach:8.3} {hierarchy:9.3} {all:9.3} \
             {always:7.0} {walk:9.0} {surface:7.0}",
            report.given, report.extreme, report.facets
        );
    }
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let mut hash = blake3::Hasher::new();
    println!(
        "{:30} {:>7} {:>8} {:>7} {:>9} {:>8} {:>9} {:>9} {:>7} {:>9} {:>7}",
        "points",
        "given",
        "vertices",
        "facets",
        "hull",
        "search",
        "hierarchy",
        "all, ms",
        "always",
        "hierarchy",
        "surface"
    );
    for &(name, draw, count) in SHAPES {
        let points = draw(if is_bench { count } else { count / 100 });
        let runs = (0..if is_bench { RUNS } else { 1 }).map(|_| Registration::of(&points));
        let best = runs.min_by_key(Registration::time).expect("at least one run");
        hash.update(ContentId::of_polytope(&best.hull.polytope).digest());
        best.print(name);
    }
    println!("hash {}", hash.finalize());
}
