//! What questions about meshes cost that are answered by groups of their faces: a hull of 50
//! vertices, or another mesh, beside bumpy balls of so many triangles.
//!
//! ```text
//! cargo bench --bench surfaces
//! ```
//!
//! Prints for each number of triangles and each gap the median CPU time of a question over many
//! placements, microseconds: how the bodies stand, whether they are within a margin that they are
//! just beyond, how far apart they are, with and without the proof, and when one that turns first
//! meets the other. As a test it takes a hundredth of each.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use std::hint::black_box;

use clearance_bodies::table::distance::{DistanceAsked, DistanceQuestion};
use clearance_bodies::table::first_contact::{FirstContactQuestion, Motions};
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::{Body, PlacedBody, table::Wanted};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::hull::{convex_hull, samples};
use clearance_geometry::motion::Motion;
use clearance_geometry::polyhedron::Polyhedron;
use clearance_geometry::pose::Pose;
use clock::thread_time;

/// Triangles of a mesh.
const SIZES: &[u32] = &[1_024, 10_000, 100_000];

/// How far apart the bodies are about, metres; their size is about 2.
const GAPS: &[f64] = &[1e-3, 0.1, 1.0];

/// Placements of which the median counts.
const PLACES: usize = 60;

/// A sphere's points moved in and out: seen from its middle the surface stays in one layer.
fn bumpy(triangles: u32, seed: u64) -> Body {
    let hull = convex_hull(&samples::sphere(triangles / 2 + 2, 1.0)).expect("points").polytope;
    let mut random = Random::new(seed);
    let bumps = |v: &Vec3| {
        v * (1.0 + 0.1 * (7.0 * v.x).sin() * (5.0 * v.y).cos() + random.between(0.0, 0.004))
    };
    let vertices: Vec<Vec3> = hull.vertices().iter().map(bumps).collect();
    let fan = |row: &[u32]| -> Vec<[u32; 3]> {
        row.windows(2).skip(1).map(|pair| [row[0], pair[0], pair[1]]).collect()
    };
    let triangles: Vec<[u32; 3]> = hull.facets().rows().flat_map(fan).collect();
    let effort = &mut Effort::unlimited();
    let mesh = Polyhedron::new(&vertices, &triangles, effort).expect("a layer around the origin");
    let hull = convex_hull(mesh.vertices()).expect("points").polytope;
    Body::of_polyhedron(mesh, hull)
}

/// The median over the places, microseconds.
fn median(places: &[[PlacedBody; 2]], mut ask: impl FnMut(&[PlacedBody; 2])) -> f64 {
    let mut times: Vec<f64> = Vec::new();
    for place in places {
        let start = thread_time();
        ask(black_box(place));
        times.push((thread_time() - start).as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Places the second body so far from the first one, along some direction.
fn placed(bodies: [&Body; 2], gap: f64, random: &mut Random) -> [PlacedBody; 2] {
    let turn = |random: &mut Random| [0; 4].map(|_| random.between(-1.0, 1.0));
    let pose = |at: Vec3, random: &mut Random| {
        Pose::from_quaternion(at, turn(random)).expect("no quaternion is near 0")
    };
    let way = Vec3::from_fn(|_, _| random.between(-1.0, 1.0)).normalize();
    let [p, q] = [pose(Vec3::zeros(), random), pose(way * 9.0, random)];
    let at = |q: Pose| {
        [
            PlacedBody { body: bodies[0].clone(), pose: p },
            PlacedBody { body: bodies[1].clone(), pose: q },
        ]
    };
    let far = distance(&at(q), false);
    at(Pose { translation: q.translation - way * (far - gap), ..q })
}

fn wanted(certificate: bool) -> Wanted {
    Wanted { certificate, cover_steps_max: 16_384 }
}

fn distance(bodies: &[PlacedBody; 2], certificate: bool) -> f64 {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let question = DistanceQuestion::of(kinds).expect("answered");
    let ready = question.prepare(bodies.clone()).expect("solids");
    let effort = &mut Effort::unlimited();
    let answer = ready.answer(DistanceAsked::default(), wanted(certificate), effort);
    answer.distance.expect("no limit").bounds()[0]
}

fn verdict(bodies: &[PlacedBody; 2], margin: Option<f64>) {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let question = VerdictQuestion::of(kinds, margin).expect("answered");
    let ready = question.prepare(bodies.clone()).expect("solids");
    black_box(ready.answer(wanted(false), &mut Effort::unlimited()));
}

fn turning(bodies: &[PlacedBody; 2], gap: f64) {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let way = bodies[1].pose.translation.normalize();
    let velocity = -way * (gap + 0.2);
    let turns = Motion::Screw { pivot: None, velocity, axis: Vec3::new(0.3, 0.5, 0.8), angle: 1.0 };
    let poses = bodies.each_ref().map(|placed| &placed.pose);
    let motions = Motions::new([Motion::rest(), turns]);
    let question = FirstContactQuestion::of(kinds, poses, motions).expect("answered");
    let ready = question.prepare(bodies.clone()).expect("solids");
    black_box(ready.answer(false, wanted(false), &mut Effort::unlimited()).expect("no limit"));
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let count = if is_bench { PLACES } else { 2 };
    let head = ["verdict", "margin", "distance", "proven", "turning"];
    println!(
        "{:12} {:>9} {:>6} {}",
        "bodies",
        "triangles",
        "gap",
        head.map(|h| format!("{h:>10}")).concat()
    );
    for &size in SIZES {
        let size = if is_bench { size } else { size / 100 + 12 };
        let meshes = [1, 2].map(|seed| bumpy(size, seed));
        let small: Body = convex_hull(&samples::sphere(50, 0.5)).expect("points").polytope.into();
        for (name, bodies) in
            [("hull, mesh", [&small, &meshes[0]]), ("mesh, mesh", [&meshes[1], &meshes[0]])]
        {
            for &gap in GAPS {
                let random = &mut Random::new(7);
                let places: Vec<[PlacedBody; 2]> =
                    (0..count).map(|_| placed(bodies, gap, random)).collect();
                let times = [
                    median(&places, |place| verdict(place, None)),
                    median(&places, |place| verdict(place, Some(0.5 * gap))),
                    median(&places, |place| {
                        black_box(distance(place, false));
                    }),
                    median(&places, |place| {
                        black_box(distance(place, true));
                    }),
                    median(&places[..count / 10 + 1], |place| turning(place, gap)),
                ];
                let cells = times.map(|time| format!("{time:10.1}")).concat();
                println!("{name:12} {size:9} {gap:6} {cells}");
            }
        }
    }
}
