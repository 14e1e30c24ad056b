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
//!
//! ```text
//! cargo bench --bench casts -- mesh:1024 mesh:10000 mesh:100000 field:1024
//! ```
//!
//! `mesh:` is one bumpy ball of about so many triangles, two metres large, as the region that it
//! bounds, and `field:` one height field of so many rows and columns. Rays start around it and go
//! through a place near its middle; those at the field come down on it aslant.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;
mod field;

use std::sync::Arc;

use clearance_bodies::kinds::height_field::BoxedField;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::motion::Motion;
use clearance_geometry::polyhedron::{Polyhedron, TriangleBody};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};
use clearance_geometry::until::Until;
use clearance_scene::query::cast::Cast;
use clearance_scene::query::{BodyFilter, HitSelection, QueryShape, SceneView};
use clearance_scene::{Body, Declaration, Limits, Part, Questions, Scene, Serial};

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
    scene.answer(&questions, &Serial, Until::never()).expect("few enough pairs");
    (scene, side)
}

fn measure(count: u32, hash: &mut u64) {
    let mut random = Random::new(7);
    let hulls = hulls(&mut random);
    let (scene, side) = scene(count, &hulls, &mut random);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, 60_000).expect("no names");
    let point = convex_hull(&[Vec3::zeros()]).expect("a point").polytope;
    let point = QueryShape::new(Arc::new(point), 0.0);
    let hull = QueryShape::new(hulls[3].clone(), 0.0);
    for (what, shape, length) in [
        ("rays, 8.5 m", &point, 8.5),
        ("rays, through all", &point, side),
        ("hulls, 8.5 m", &hull, 8.5),
    ] {
        let casts: Vec<Cast<'_>> = (0..20_000)
            .map(|_| {
                let place = Vec3::from_fn(|_, _| random.between(0.0, side));
                let velocity = random.direction() * length;
                let pose = Pose::translation(place.x, place.y, place.z);
                let motion = Motion::Linear { velocity };
                Cast { motion, time_tolerance: 1e-9, ..Cast::along(shape.at(pose), Vec3::zeros()) }
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

/// A ball with bumps, of about so many triangles.
fn bumpy(triangles: u32) -> Part {
    let rings = ((f64::from(triangles) / 4.0).sqrt() as u32).max(3);
    let around = 2 * rings;
    let at = |ring: u32, step: u32| {
        let up = std::f64::consts::PI * f64::from(ring) / f64::from(rings);
        let turn = std::f64::consts::TAU * f64::from(step) / f64::from(around);
        let radius = 1.0 + 0.1 * (9.0 * up).sin() * (7.0 * turn).sin();
        Vec3::new(up.sin() * turn.cos(), up.sin() * turn.sin(), up.cos()) * radius
    };
    let mut vertices = vec![Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.0, 0.0, -1.0)];
    for ring in 1..rings {
        vertices.extend((0..around).map(|step| at(ring, step)));
    }
    let name = |ring: u32, step: u32| 2 + (ring - 1) * around + step % around;
    let mut faces = Vec::new();
    for step in 0..around {
        faces.push([0, name(1, step), name(1, step + 1)]);
        faces.push([1, name(rings - 1, step + 1), name(rings - 1, step)]);
        for ring in 1..rings - 1 {
            let [a, b] = [name(ring, step), name(ring, step + 1)];
            let [c, d] = [name(ring + 1, step), name(ring + 1, step + 1)];
            faces.extend([[a, c, b], [b, c, d]]);
        }
    }
    let hull = Arc::new(convex_hull(&vertices).expect("a ball").polytope);
    let region = Polyhedron::new(&vertices, &faces, &mut Effort::unlimited()).expect("closed");
    Part::of_mesh(TriangleBody::Region(Arc::new(region)), hull)
}

/// Hills of a metre on a ground of so many rows and columns of heights.
fn hills(side: u32) -> Part {
    let lattice =
        Lattice { rows: side, columns: side, spacing: [0.5, 0.5], diagonal: Diagonal::Rising };
    let height = |at: u32| {
        let [x, y] = [at % side, at / side].map(f64::from);
        ((x * 0.11).sin() * (y * 0.07).cos() + 0.2 * (x * 1.3).sin()) as f32
    };
    let heights = (0..side * side).map(height).collect();
    let field = HeightField::new(lattice, heights, &[]).expect("a field");
    Part::of_field(BoxedField::new(Arc::new(field)).expect("a box"))
}

/// Rays at one body that is not convex.
fn measure_whole(word: &str, part: Part, hash: &mut u64) {
    let mut random = Random::new(11);
    let bounds = part.polytope.bounds();
    let (middle, size) = ((bounds.low + bounds.high) / 2.0, bounds.high - bounds.low);
    let is_field = part.field.is_some();
    let body = Body { parts: vec![part], ..Body::without_parts() };
    let declared = Declaration { bodies: vec![body], ..Declaration::default() };
    let limits =
        Limits { bodies_max: 1, parts_max: 1, classes_max: 1, pairs_max: 1, listed_max: 1 };
    let scene = Scene::open(declared, &METHODS[0], limits).expect("a legal scene");
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, 60_000).expect("no names");
    let point = convex_hull(&[Vec3::zeros()]).expect("a point").polytope;
    let point = QueryShape::new(Arc::new(point), 0.0);
    let mut ray = |_| {
        let place = |random: &mut Random| {
            middle + Vec3::from_fn(|k, _| random.between(-0.45, 0.45) * size[k])
        };
        let (from, to) = if is_field {
            let (from, to) = (place(&mut random), place(&mut random));
            let near = from + (to - from) * 0.1;
            (Vec3::new(from.x, from.y, 9.0), Vec3::new(near.x, near.y, -9.0))
        } else {
            let from = middle + random.direction() * 3.0;
            (from, from + (place(&mut random) - from) * 2.0)
        };
        let (pose, velocity) = (Pose::translation(from.x, from.y, from.z), to - from);
        let motion = Motion::Linear { velocity };
        Cast { motion, time_tolerance: 1e-9, ..Cast::along(point.at(pose), Vec3::zeros()) }
    };
    let casts: Vec<Cast<'_>> = (0..20_000).map(&mut ray).collect();
    for round in ["first", "again"] {
        let (mut met, mut told) = (0, Vec::with_capacity(casts.len()));
        let mut effort = Effort::unlimited();
        let start = thread_time();
        for cast in &casts {
            let hits = view.cast(cast, HitSelection::First, &mut effort).expect("no limit");
            met += i32::from(!hits.is_empty());
            for hit in &hits {
                told.push((hit.time, view.impact(cast, hit, &mut effort).expect("no limit")));
            }
        }
        let seconds = (thread_time() - start).as_secs_f64();
        for (time, impact) in told {
            note(hash, &format!("{time:?} {:?}", impact.point));
        }
        println!(
            "{word:>12}, rays {round}: {:9.0} a second, {:.3} us each, {:.3} met, {:.1} steps",
            casts.len() as f64 / seconds,
            1e6 * seconds / casts.len() as f64,
            f64::from(met) / casts.len() as f64,
            effort.cost.steps as f64 / casts.len() as f64,
        );
    }
}

fn main() {
    let given = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let given: Vec<String> = given.collect();
    let small = ["200", "mesh:1024", "field:64"].map(str::to_owned);
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for word in if given.is_empty() { &small[..] } else { &given } {
        let number = |text: &str| text.parse().expect("a number");
        match word.split_once(':') {
            Some(("mesh", count)) => measure_whole(word, bumpy(number(count)), &mut hash),
            Some(("field", side)) => measure_whole(word, hills(number(side)), &mut hash),
            _ => measure(number(word), &mut hash),
        }
    }
    println!("hash {hash:016x}");
}
