//! What questions to a scene that stands still cost: floor 1 alone, on one thread, no wire.
//!
//! ```text
//! cargo bench --bench casts -- 10000
//! ```
//!
//! Each argument is a number of bodies: 20 hulls of 30 to 150 vertices, as dense as in the bench
//! `scenes`. Rays and hulls on a straight way start anywhere in the scene and go five body sizes
//! far, or through the whole scene. Prints questions a second, the share of them that met
//! something, and a hash of what they met, which is the same on every machine. As a test it asks a
//! small scene.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;
mod field;

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Placed;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_scene::query::cast::Cast;
use clearance_scene::query::{BodyFilter, HitSelection, SceneView};
use clearance_scene::{Body, Declaration, Limits, Questions, Scene, Serial};

use clock::thread_time;
use field::{hulls, side};

/// A scene of so many bodies, and the side of the cube that they are in.
fn scene(count: u32, hulls: &[Arc<Polytope>], random: &mut Random) -> (Scene, f64) {
    let side = side(count);
    let bodies = (0..count).map(|index| {
        let place = Vec3::from_fn(|_, _| random.between(0.0, side));
        let turn = [1.0, random.unit(), random.unit(), random.unit()];
        let pose = Pose::from_quaternion(place, turn).expect("a legal pose");
        Body::solid(index + 1, hulls[index as usize % hulls.len()].clone()).placed(pose)
    });
    let declared = Declaration { bodies: bodies.collect(), ..Declaration::default() };
    let limits = Limits {
        bodies_max: 1 << 20,
        parts_max: 1 << 20,
        classes_max: 64,
        pairs_max: 1 << 24,
        listed_max: 1 << 20,
    };
    let mut scene = Scene::open(declared, &METHODS[0], limits).expect("a legal scene");
    let questions = Questions::default();
    scene.answer(&questions, &Serial, &false.into()).expect("few enough pairs");
    (scene, side)
}

fn measure(count: u32, hash: &mut u64) {
    let mut random = Random::new(7);
    let hulls = hulls(&mut random);
    let (scene, side) = scene(count, &hulls, &mut random);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, 60_000).expect("no names");
    let point = convex_hull(&[Vec3::zeros()]).expect("a point").polytope;
    for (what, shape, length) in [
        ("rays, 8.5 m", &point, 8.5),
        ("rays, through all", &point, side),
        ("hulls, 8.5 m", &*hulls[3], 8.5),
    ] {
        let casts: Vec<Cast<'_>> = (0..20_000)
            .map(|_| {
                let place = Vec3::from_fn(|_, _| random.between(0.0, side));
                let velocity = random.direction() * length;
                let pose = Pose::translation(place.x, place.y, place.z);
                let start = Placed { body: shape, pose };
                let motion = Motion::Linear { velocity };
                Cast {
                    start: start.into(),
                    motion,
                    margin: 0.0,
                    time_tolerance: 1e-9,
                    proves: false,
                }
            })
            .collect();
        let (mut met, mut told) = (0, Vec::with_capacity(4 * casts.len()));
        let mut effort = Effort::unlimited();
        let start = thread_time();
        for cast in &casts {
            let hits = view.cast(cast, HitSelection::First, &mut effort).expect("no limit");
            met += i32::from(!hits.is_empty());
            for hit in &hits {
                told.push((hit.body, view.impact(cast, hit, &mut effort).expect("no limit")));
            }
        }
        let seconds = (thread_time() - start).as_secs_f64();
        for (body, impact) in told {
            note(hash, &format!("{body:?} {:?}", impact.point));
        }
        println!(
            "{count:>7} bodies, {what:17}: {:9.0} a second, {:.3} met, {:.3} asked exactly",
            casts.len() as f64 / seconds,
            f64::from(met) / casts.len() as f64,
            effort.cost.exact_stages as f64 / casts.len() as f64,
        );
    }
}

/// FNV-1a.
fn note(hash: &mut u64, text: &str) {
    for byte in text.bytes() {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

fn main() {
    let given = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let counts: Vec<u32> = given.map(|word| word.parse().expect("a number of bodies")).collect();
    let counts = if counts.is_empty() { vec![200] } else { counts };
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for count in counts {
        measure(count, &mut hash);
    }
    println!("hash {hash:016x}");
}
