//! What questions cost whose numbers are exactly degenerate, beside the same where they are not:
//! rays through centres, edges and corners of boxes, boxes face to face in scenes. The library
//! alone, on one thread, no wire.
//!
//! ```text
//! cargo bench --no-default-features --bench aligned
//! ```
//!
//! Levels, shelves and grids are full of such questions. Prints the thread time of each, how many
//! of them needed the exact stage, and the means of both kinds with their quotient. As a test it
//! asks a few.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_geometry::until::Until;
use clearance_scene::query::cast::Cast;
use clearance_scene::query::{BodyFilter, HitSelection, QueryShape, SceneView};
use clearance_scene::{Body, BodyId, Declaration, Frame, Limits, Move, Questions, Scene, Serial};

use clock::thread_time;

/// How large the bench is.
#[derive(Clone, Copy)]
struct Sizes {
    rays: usize,
    /// Boxes in a row, and rays along it.
    row: usize,
    /// Crates along each axis of a stack.
    stack: usize,
    rounds: usize,
}

const WHOLE: Sizes = Sizes { rays: 2_000, row: 2_000, stack: 12, rounds: 5 };
const SMALL: Sizes = Sizes { rays: 40, row: 20, stack: 3, rounds: 1 };

fn cube() -> Arc<Polytope> {
    let corner = |i: usize| Vec3::from([0, 1, 2].map(|axis| (i >> axis & 1) as f64 - 0.5));
    Arc::new(convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).expect("a cube").polytope)
}

/// A pose that turns by nothing that is exact.
fn turned(place: Vec3, random: &mut Random) -> Pose {
    let turn = [1.0, 0.1 * random.unit(), 0.1 * random.unit(), 0.1 * random.unit()];
    Pose::from_quaternion(place, turn).expect("a legal pose")
}

fn scene(poses: &[Pose]) -> Scene {
    let cube = cube();
    let body =
        |(index, pose): (usize, &Pose)| Body::solid(index as u32 + 1, cube.clone()).placed(*pose);
    let bodies = poses.iter().enumerate().map(body).collect();
    let declared = Declaration { bodies, ..Declaration::default() };
    let limits = Limits {
        bodies_max: 1 << 20,
        parts_max: 1 << 20,
        classes_max: 64,
        pairs_max: 1 << 24,
        listed_max: 1 << 20,
    };
    let mut scene = Scene::open(declared, &METHODS[0], limits).expect("a legal scene");
    let answered = scene.answer(&Questions::default(), &Serial, Until::never());
    answered.expect("few enough pairs");
    scene
}

/// A ray: where it starts, and where to.
type Way = [Vec3; 2];

/// What so many rays take each, microseconds; the least of some rounds.
fn rays(name: &str, scene: &Scene, ways: &[Way], hits: HitSelection, rounds: usize) -> f64 {
    let filter = BodyFilter::default();
    let view = SceneView::new(scene, &filter, 60_000).expect("no names");
    let point = Arc::new(convex_hull(&[Vec3::zeros()]).expect("a point").polytope);
    let point = QueryShape::new(point, 0.0);
    let (mut best, mut met, mut exact) = (f64::INFINITY, 0, 0);
    for _ in 0..rounds {
        let mut effort = Effort::unlimited();
        met = 0;
        let start = thread_time();
        for [from, by] in ways {
            let pose = Pose::translation(from.x, from.y, from.z);
            let cast = Cast::along(point.at(pose), *by);
            let found = view.cast(&cast, hits, &mut effort).expect("no limit");
            for hit in found.iter().take(64) {
                view.impact(&cast, hit, &mut effort).expect("no limit");
            }
            met += found.len();
        }
        best = best.min((thread_time() - start).as_secs_f64());
        exact = effort.cost.exact_stages;
    }
    let each = best * 1e6 / ways.len() as f64;
    println!("{name:44}: {each:9.2} us a ray, {met} hits, {exact} exact stages");
    each
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// Rays at a grid of boxes, one box each.
fn measure_rays(sizes: Sizes) {
    let place = |i: usize| Vec3::new(2.0 * (i % 20) as f64, 0.0, 2.0 * (i / 20) as f64);
    let straight: Vec<Pose> =
        (0..400).map(place).map(|p| Pose::translation(p.x, p.y, p.z)).collect();
    let mut random = Random::new(3);
    let skew: Vec<Pose> = (0..400).map(|i| turned(place(i), &mut random)).collect();
    let (straight, skew) = (scene(&straight), scene(&skew));
    let down = |dx: f64, dz: f64, by: [f64; 3]| -> Vec<Way> {
        let from = |i: usize| place(i % 400) + Vec3::new(dx, 5.0, dz);
        (0..sizes.rays).map(|i| [from(i), Vec3::from(by)]).collect()
    };
    let first = HitSelection::First;
    let ask =
        |name: &str, scene: &Scene, ways: Vec<Way>| rays(name, scene, &ways, first, sizes.rounds);
    let y = [0.0, -10.0, 0.0];
    let beside = [
        ask("beside the centre", &straight, down(0.1, 0.23, y)),
        ask("aslant, to the centre", &straight, down(0.0, 0.0, [0.3, -10.0, 0.2])),
        ask("turned boxes, beside the centre", &skew, down(0.1, 0.23, y)),
        ask("turned boxes, through the centre", &skew, down(0.0, 0.0, y)),
    ];
    let aligned = [
        ask("through the centre", &straight, down(0.0, 0.0, y)),
        ask("along an edge", &straight, down(0.5, 0.23, y)),
        ask("through the middle of an edge", &straight, down(0.5, 0.0, y)),
        ask("through a corner", &straight, down(0.5, 0.5, y)),
        ask("aslant, to the middle of an edge", &straight, down(0.5, 0.5, [0.0, -10.0, -0.625])),
        ask("aslant, to a corner", &straight, down(1.0, 1.0, [-1.0, -9.0, -1.0])),
    ];
    report("rays", mean(&aligned), mean(&beside));
}

/// Rays along a row of boxes, each with all that it meets.
fn measure_rows(sizes: Sizes) {
    for step in [1.5, 0.9, 1.1] {
        let at = |i: usize| Pose::translation(0.0, 0.0, i as f64 * step);
        let scene = scene(&(0..sizes.row).map(at).collect::<Vec<_>>());
        let ways = |x: f64, y: f64| -> Vec<Way> {
            let far = sizes.row as f64 * 3.0;
            vec![[Vec3::new(x, y, -5.0), Vec3::new(0.0, 0.0, far)]; sizes.row.div_ceil(100)]
        };
        for (name, x, y) in [("beside", 0.1, 0.23), ("through", 0.0, 0.0), ("edges of", 0.5, 0.5)] {
            let name = format!("{name} the centres of {} boxes, {step} apart", sizes.row);
            rays(&name, &scene, &ways(x, y), HitSelection::All, 1);
        }
    }
}

/// Milliseconds of a frame in which a stack of crates moves as one.
fn stack(name: &str, sizes: Sizes, pose: impl Fn(Vec3, usize) -> Pose) -> f64 {
    let n = sizes.stack;
    let place = |i: usize| Vec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
    let poses = |shift: f64| -> Vec<Pose> {
        (0..n * n * n).map(|i| pose(place(i) + Vec3::new(shift, 0.0, 0.0), i)).collect()
    };
    let mut scene = scene(&poses(0.0));
    let (mut best, mut looked) = (f64::INFINITY, 0);
    let mut tally = String::new();
    for id in 1..=2 * sizes.rounds as u64 {
        let shift = if id % 2 == 1 { 4.0 } else { 0.0 };
        let moved = poses(shift);
        let moves = (1..).zip(moved).map(|(id, pose)| Move::new(BodyId(id), pose)).collect();
        let frame = Frame { id, moves, ..Frame::default() };
        let start = thread_time();
        let stepped = scene.step(&frame, &Questions::default(), &Serial).expect("a legal frame");
        best = best.min((thread_time() - start).as_secs_f64());
        let counters = &stepped.report.counters;
        looked = counters.pairs_enabled - counters.pairs_skipped - counters.pairs_remembered;
        tally = format!("{:?}", stepped.report.tally);
    }
    let each = best * 1e9 / looked.max(1) as f64;
    println!("{name:44}: {:8.3} ms, {looked} pairs, {each:6.0} ns a pair; {tally}", best * 1e3);
    each
}

fn measure_stacks(sizes: Sizes) {
    let plain = |scale: f64| {
        move |p: Vec3, _: usize| Pose::translation(scale * p.x, scale * p.y, scale * p.z)
    };
    let skew = |scale: f64| {
        move |p: Vec3, index: usize| turned(p * scale, &mut Random::new(index as u64 + 9))
    };
    let aligned = [
        stack("crates face to face", sizes, plain(1.0)),
        stack("crates edge to edge in a half-step grid", sizes, |p, _| {
            Pose::translation(p.x + 0.5 * (p.y % 2.0), p.y, p.z)
        }),
        stack("crates in each other, axes along", sizes, plain(0.875)),
    ];
    let beside = [
        stack("turned crates in each other", sizes, skew(0.875)),
        stack("turned crates, some meet", sizes, skew(1.1)),
    ];
    report("scenes", mean(&aligned), mean(&beside));
}

fn report(what: &str, aligned: f64, beside: f64) {
    println!("{what}: aligned {aligned:.2}, others {beside:.2}: {:.2} times", aligned / beside);
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let sizes = if is_bench { WHOLE } else { SMALL };
    measure_rays(sizes);
    measure_rows(sizes);
    measure_stacks(sizes);
}
