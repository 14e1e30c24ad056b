//! What it costs to keep the past of a scene, and to ask about it: floor 1 alone, on one thread.
//!
//! ```text
//! cargo bench --bench history -- 2000 64
//! ```
//!
//! The arguments are the number of bodies, all of which move in every frame, and of past frames
//! that are kept. Two scenes go on in turn, one without a past. Prints the CPU milliseconds of a
//! frame of each (medians), the bytes a body and frame, and the CPU microseconds of a ray: about
//! now, about past frames whose scenes are there, and what it takes to make one of them. As a test
//! it takes few bodies.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;
mod drift;
mod field;

use std::sync::Arc;
use std::time::Duration;

use clearance_bodies::table::Wanted;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_scene::query::cast::Cast;
use clearance_scene::query::past::Moment;
use clearance_scene::query::{BodyFilter, HitSelection, QueryShape, SceneView};
use clearance_scene::{
    Body, BodyId, Declaration, Frame, HistoryLimits, Limits, Listed, Move, Part, Questions, Scene,
    Serial,
};

use clock::thread_time;
use drift::{Drifter, movers};
use field::{hulls, side};

/// Frames before anything is timed: as many as are kept, and some more.
const WARM: u64 = 10;
const FRAMES: u64 = 60;
const RAYS: u32 = 400;

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (bodies, kept) = match given[..] {
        [bodies, kept, ..] => (bodies, kept),
        _ => (200, 8),
    };
    let mut random = Random::new(7);
    let parts: Vec<Part> = hulls(&mut random).into_iter().map(Part::of).collect();
    let side = side(bodies as u32);
    let mut drifters: Vec<Drifter> =
        (0..bodies).map(|_| Drifter::anywhere(&mut random, side, 1.0)).collect();
    let mut scenes = [opened(&drifters, &parts), opened(&drifters, &parts)];
    scenes[1].keep_history(HistoryLimits { frames_max: kept, bytes_max: 1 << 30 });
    let questions = Questions { listed: Listed::Nothing, ..Questions::default() };
    let mut times: [Vec<Duration>; 2] = Default::default();
    let frames = kept as u64 + WARM + FRAMES;
    for id in 1..=frames {
        let moves = movers(bodies, 1.0, id).map(|index| {
            drifters[index].go_on();
            let quaternion = Some(drifters[index].turn);
            Move { quaternion, ..Move::new(BodyId(index as u32 + 1), pose(&drifters[index])) }
        });
        let frame = Frame { id, moves: moves.collect(), ..Frame::default() };
        for (scene, times) in scenes.iter_mut().zip(&mut times) {
            let start = thread_time();
            scene.step(&frame, &questions, &Serial).expect("a legal frame");
            if id > frames - FRAMES {
                times.push(thread_time() - start);
            }
        }
    }
    let [without, with] = times.map(median);
    let bytes = scenes[1].bytes_of_history() as f64 / bodies as f64 / kept as f64;
    println!(
        "{bodies} bodies, {kept} past frames: {without:.4} ms a frame without, {with:.4} with, \
         {bytes:.1} bytes a body and frame"
    );
    ask(&scenes[1], frames, side);
}

/// Times rays about now and about the past.
fn ask(scene: &Scene, last: u64, side: f64) {
    let (filter, effort) = (BodyFilter::default(), Effort::unlimited());
    let view = SceneView::new(scene, &filter, RAYS as usize).expect("no names");
    let now = rays(&view, side);
    let oldest = scene.oldest_frame();
    let (mut made, mut then) = (Vec::new(), Vec::new());
    for frame in (oldest..last).step_by(4) {
        let start = thread_time();
        let past = scene.past(&Moment { frame, fraction: 0.0 }).expect("it is kept");
        let view = SceneView::of_copy(&past, &filter, &effort).expect("no names");
        made.push(thread_time() - start);
        then.push(rays(&view, side));
    }
    let each = 1e3 / f64::from(RAYS);
    println!(
        "a ray: {:.3} us now, {:.3} us of a past frame; {:.1} us to make one",
        median(vec![now]) * each,
        median(then) * each,
        median(made) * 1e3
    );
}

fn rays(view: &SceneView<'_>, side: f64) -> Duration {
    let point = Arc::new(convex_hull(&[Vec3::zeros()]).expect("a point").polytope);
    let (point, mut random) = (QueryShape::new(point, 0.0), Random::new(3));
    let mut any = || Vec3::from_fn(|_, _| random.between(0.0, side));
    let ways: Vec<[Vec3; 2]> = (0..RAYS).map(|_| [any(), any()]).collect();
    let start = thread_time();
    for [from, to] in ways {
        let start = point.at(Pose::translation(from.x, from.y, from.z));
        let cast = Cast::along(start.wanting(Wanted::NO_PROOF), to - from);
        let hits = view.cast(&cast, HitSelection::First, &mut Effort::unlimited());
        std::hint::black_box(hits.expect("nobody stops it"));
    }
    thread_time() - start
}

fn opened(drifters: &[Drifter], parts: &[Part]) -> Scene {
    let body = |(index, drifter): (usize, &Drifter)| {
        let (id, parts) = (BodyId(index as u32 + 1), vec![parts[index % parts.len()].clone()]);
        Body { id, parts, ..Body::without_parts() }.placed(pose(drifter))
    };
    let bodies = drifters.iter().enumerate().map(body).collect();
    let declared = Declaration { bodies, ..Declaration::default() };
    let limits = Limits {
        bodies_max: 1 << 20,
        parts_max: 1 << 20,
        classes_max: 64,
        pairs_max: 1 << 24,
        listed_max: 1 << 20,
    };
    Scene::open(declared, &METHODS[0], limits).expect("a legal scene")
}

fn pose(drifter: &Drifter) -> Pose {
    Pose::from_quaternion(drifter.place, drifter.turn).expect("a legal pose")
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
