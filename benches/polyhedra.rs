//! What the first contact of two meshes costs: bumpy balls of so many triangles, not convex.
//!
//! ```text
//! cargo bench --bench polyhedra
//! ```
//!
//! Prints for each number of triangles and each way past each other the least CPU time of five
//! runs, the pairs of boxes and of triangles looked at, the pairs of faces that exact arithmetic
//! decided, and the time; beside them what the proof costs to find and to judge, its steps, and why
//! there is none; and what registering such a mesh costs. As a test it takes a hundredth of each.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use std::hint::black_box;

use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, SolidClaim, Solids, Verdict};
use clearance_geometry::contact_time::Travel;
use clearance_geometry::contact_time::polyhedra::proof::{Unproven, prove_motion, prove_verdict};
use clearance_geometry::contact_time::polyhedra::{FirstContact, Moving, first_contact};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::hull::{convex_hull, samples};
use clearance_geometry::judge::{judge_solid_motion, judge_solids};
use clearance_geometry::motion::Motion;
use clearance_geometry::polyhedron::{HulledBody, Polyhedron};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clock::thread_time;

/// Runs of which the fastest counts.
const RUNS: u32 = 5;

/// Triangles of each of the two meshes.
const SIZES: &[u32] = &[1_000, 10_000, 40_000];

/// Where Q starts and how it moves; P is at the origin.
const WAYS: &[(&str, [f64; 3], [f64; 3])] = &[
    ("head on", [3.0, 0.2, -0.1], [-2.0, 0.1, 0.3]),
    ("from far away", [300.0, 0.2, -0.1], [-400.0, 0.1, 0.3]),
    ("a graze", [3.0, 1.75, 0.3], [-6.0, 0.1, 0.3]),
    ("a near miss", [3.0, 2.0, 0.3], [-6.0, 0.1, 0.3]),
    ("boxes that meet all the way", [1.35, 1.35, 1.35], [0.0, 0.0, 0.01]),
    ("overlapping at the start", [0.9, 0.1, 0.2], [1.0, 0.0, 0.0]),
];

/// A sphere's points moved in and out: seen from its middle the surface stays in one layer, so it
/// does not meet itself.
fn bumpy(triangles: u32, seed: u64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let hull = convex_hull(&samples::sphere(triangles / 2 + 2, 1.0)).expect("points").polytope;
    let mut random = Random::new(seed);
    let vertices = hull
        .vertices()
        .iter()
        .map(|v| v * (1.0 + 0.3 * v.x * v.y + 0.2 * v.z * v.z * v.z + random.between(0.0, 0.004)))
        .collect();
    let fan = |row: &[u32]| -> Vec<[u32; 3]> {
        row.windows(2).skip(1).map(|pair| [row[0], pair[0], pair[1]]).collect()
    };
    (vertices, hull.facets().rows().flat_map(fan).collect())
}

/// The least CPU time in milliseconds, and what came of it.
fn least<T>(runs: u32, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = thread_time();
        let made = black_box(run());
        ((thread_time() - start).as_secs_f64() * 1e3, made)
    };
    let first = timed();
    (1..runs).map(|_| timed()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

/// As a server allows by default.
const COVER_STEPS_MAX: u64 = 16_384;

/// Finds a proof and judges it; in words how long that took, and how long the proof is.
fn prove(
    runs: u32,
    bodies: [(&Moving<'_>, &Polytope); 2],
    velocity: Vec3,
    found: &FirstContact,
) -> String {
    let [p, q] = bodies.map(|(moving, hull)| HulledBody {
        body: moving.body,
        pose: moving.pose,
        hull,
        is_hull: false,
    });
    let solids = Solids { p: p.solid(), q: q.solid() };
    let contact = found.contact.as_ref();
    let failed = |time: f64, why: Unproven| format!("{time:9.3} {why:?}");
    if found.initial != Verdict::Separated {
        let faces = contact.map(|contact| &contact.faces);
        let (time, proof) = least(runs, || {
            let effort = &mut Effort::unlimited();
            prove_verdict([&p, &q], found.initial, faces, COVER_STEPS_MAX, effort)
        });
        let proof = match proof {
            Ok(proof) => proof,
            Err(why) => return failed(time, why),
        };
        let (judging, judged) =
            least(1, || judge_solids(&solids, &proof, &mut Effort::unlimited()));
        judged.expect("a proof that holds");
        return format!("{time:9.3} {judging:9.3} {:7}", 0);
    }
    let (time, proof) = least(runs, || {
        let effort = &mut Effort::unlimited();
        let travels = [bodies[0].0.travel, bodies[1].0.travel];
        prove_motion([&p, &q], travels, contact, COVER_STEPS_MAX, effort)
    });
    let proof = match proof {
        Ok(proof) => proof,
        Err(why) => return failed(time, why),
    };
    let claim = SolidClaim {
        outcome: if contact.is_some() { Outcome::Contact } else { Outcome::NoContact },
        t_free: contact.map_or(1.0, |contact| contact.t_free),
        t_contact: contact.map_or(1.0, |contact| contact.t_contact),
        proof: &proof,
    };
    let motions = [&Motion::rest(), &Motion::Linear { velocity }];
    let (judging, judged) =
        least(1, || judge_solid_motion(&solids, motions, &claim, &mut Effort::unlimited()));
    judged.expect("a proof that holds");
    format!("{time:9.3} {judging:9.3} {:7}", proof.free.steps.len())
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let runs = if is_bench { RUNS } else { 1 };
    println!(
        "{:28} {:>9} {:>9} {:>8} {:>9} {:>6} {:>9} {:>9} {:>7}  contact",
        "way",
        "triangles",
        "CPU ms",
        "boxes",
        "triangles",
        "exact",
        "proof ms",
        "judge ms",
        "steps"
    );
    for &size in SIZES {
        let size = if is_bench { size } else { size / 100 };
        let meshes = [1, 2].map(|seed| bumpy(size, seed));
        let build = |k: usize| {
            let (vertices, triangles) = &meshes[k];
            let effort = &mut Effort::unlimited();
            Polyhedron::new(vertices, triangles, effort).expect("a layer around the origin")
        };
        let (registering, p) = least(runs.min(2), || build(0));
        let q = build(1);
        let hulls = [&p, &q].map(|body| convex_hull(body.vertices()).expect("points").polytope);
        println!("{:28} {:9} {registering:9.3}", "registering", p.triangles().len());
        let turned = Pose::from_quaternion(Vec3::zeros(), [0.9, 0.3, -0.2, 0.1]).expect("a turn");
        for &(way, at, velocity) in WAYS {
            let still =
                Moving { body: &p, pose: Pose::identity(), travel: Travel::by(&Vec3::zeros()) };
            let pose = Pose { translation: Vec3::from(at), ..turned };
            let moving = Moving { body: &q, pose, travel: Travel::by(&Vec3::from(velocity)) };
            let (time, (answer, cost)) = least(runs, || {
                let mut effort = Effort::unlimited();
                let answer = first_contact(&still, &moving, &mut effort).expect("unlimited");
                (answer, effort.cost)
            });
            let contact = answer.contact.map_or("never".into(), |c| format!("{}", c.t_contact));
            let bodies = [(&still, &hulls[0]), (&moving, &hulls[1])];
            let proof = prove(runs.min(2), bodies, Vec3::from(velocity), &answer);
            println!(
                "{way:28} {:9} {time:9.3} {:8} {:9} {:6} {proof}  {contact}",
                q.triangles().len(),
                cost.steps,
                cost.visited,
                cost.exact_stages
            );
        }
    }
}
