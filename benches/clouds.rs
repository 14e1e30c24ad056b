//! What configurations among a cloud of points cost, and what a change of the cloud costs: floor 1
//! alone, on one thread, no wire.
//!
//! ```text
//! cargo bench --bench clouds
//! ```
//!
//! The Panda of `data/panda` among points on the surfaces of 50 random boxes, with a radius of a
//! centimetre. Prints thread time, and how many configurations are in contact, which is the same on
//! every machine. As a test it asks a few.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;
#[path = "robots/scene.rs"]
mod scene;

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::body::PartBody;
use clearance_robot::cell::{Cell, Instance};
use clearance_robot::check::{CheckMode, CheckQuestion, Checked};
use clearance_robot::cloud::{BoxedCloud, CloudChange};
use clearance_robot::still::StillBody;

use clock::thread_time;
use scene::{boxes, panda};

/// Metres.
const RADIUS: f64 = 0.01;

/// Points on the surfaces of these boxes, of each as many.
fn points_on(boxes: &[StillBody], count: usize, random: &mut Random) -> Vec<Vec3> {
    let mut points = Vec::with_capacity(count);
    for index in 0..count {
        let one = &boxes[index % boxes.len()];
        let bounds = one.body.hull().bounds();
        let mut point = Vec3::from_fn(|k, _| random.between(bounds.low[k], bounds.high[k]));
        let axis = index % 3;
        let side = if random.unit() < 0.5 { &bounds.low } else { &bounds.high };
        point[axis] = side[axis];
        points.push(one.pose.apply_rounded(&point));
    }
    points
}

/// Joint values within the limits, the fingers a little open.
fn configurations(robot: &Robot, count: usize, random: &mut Random) -> Vec<f64> {
    let arm = robot.kinematics.tree().variables.iter().take(7);
    let mut values = Vec::with_capacity(8 * count);
    for _ in 0..count {
        values.extend(arm.clone().map(|v| random.between(v.lower, v.upper)).chain([0.02]));
    }
    values
}

/// The least seconds of thread time of some runs, and what the last one gave.
fn least<T>(runs: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = thread_time();
        let answer = run();
        ((thread_time() - start).as_secs_f64(), answer)
    };
    let (mut best, mut answer) = timed();
    for _ in 1..runs {
        let (took, other) = timed();
        (best, answer) = (best.min(took), other);
    }
    (best, answer)
}

fn in_contact(cell: &Cell, mode: CheckMode, values: &[f64]) -> usize {
    let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
    let answers = cell.check(question, values, &mut Effort::unlimited());
    let is_met = |answer: &&Checked| match answer {
        Checked::Contact(_) => true,
        Checked::Clearance(found) => found.iter().flatten().any(|one| one.upper <= 0.0),
        Checked::Free
        | Checked::Open { .. }
        | Checked::Below(_)
        | Checked::Bad(_)
        | Checked::Stopped(_) => false,
    };
    answers.iter().filter(is_met).count()
}

fn ask(cell: &Cell, values: &[f64]) {
    for (name, mode, share) in [
        ("first pair", CheckMode::FirstPair, 1),
        ("all pairs", CheckMode::AllPairs, 1),
        ("clearance", CheckMode::Clearance, 10),
    ] {
        let values = &values[..values.len() / share];
        let count = values.len() / 8;
        let (took, met) = least(3, || in_contact(cell, mode, values));
        let each = took / count as f64;
        println!(
            "  {name}: {:.0} ns, {:.0} a second; {met} of {count} in contact",
            each * 1e9,
            1.0 / each
        );
    }
}

/// Replaces a tenth of the points at a time, all of them twice.
fn change(cell: &mut Cell, points: &[Vec3]) {
    let count = points.len() / 10;
    let (mut sum, mut longest) = (0.0, 0.0_f64);
    for step in 0..20 {
        let first = step % 10 * count;
        let moved = points[first..first + count].iter().map(|point| point + Vec3::repeat(1e-4));
        let come: Vec<Vec3> = moved.collect();
        let change = CloudChange { first, removed: count, come: &come };
        let start = thread_time();
        let changed = cell.change_cloud(0, &change, &Effort::unlimited());
        changed.expect("a cloud").expect("legal points");
        let took = (thread_time() - start).as_secs_f64();
        (sum, longest) = (sum + took, longest.max(took));
    }
    println!("  {count} replaced: {:.2} ms in the mean, {:.2} at most", sum * 50.0, longest * 1e3);
}

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let (robot, mut random) = (panda(), Random::new(1));
    let boxes = boxes(50, &mut random);
    let sizes: &[usize] = if is_test { &[1_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    let values = configurations(&robot, if is_test { 20 } else { 10_000 }, &mut random);
    for count in sizes {
        let points = points_on(&boxes, *count, &mut random);
        let (took, cloud) = least(if is_test { 1 } else { 3 }, || {
            PointCloud::new(points.clone(), RADIUS, &Effort::unlimited()).expect("legal points")
        });
        let mib = cloud.heap_bytes() as f64 / f64::from(1 << 20);
        println!("{count} points: built in {:.2} ms, {mib:.1} MiB", took * 1e3);
        let body = PartBody::Cloud(BoxedCloud::new(Arc::new(cloud)));
        let still = vec![StillBody { body, pose: Pose::identity() }];
        let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
        let mut cell = Cell::new(&[instance], still);
        ask(&cell, &values);
        change(&mut cell, &points);
        println!("  after that:");
        ask(&cell, &values);
    }
}
