//! What questions about balls, capsules and rounded boxes cost: floor 0 alone, on one thread, from
//! cold.
//!
//! ```text
//! cargo bench --bench rounded
//! ```
//!
//! A thousand pairs of each kind, turned any way, a tenth of a size apart or as deep in each other,
//! or touching up to rounding. Prints nanoseconds of this thread for each question, the median of
//! nine rounds, and a hash of the verdicts, which is the same on every machine. As a test it asks
//! each pair once.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use clearance_geometry::Vec3;
use clearance_geometry::claim::{Reach, Verdict};
use clearance_geometry::contact_time;
use clearance_geometry::distance::{METHODS, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::{Pair, Question};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{RoundedPair, first_contact, measure, verdict};
use clearance_geometry::witness::Witness;

use clock::thread_time;

const PAIRS: usize = 1_000;
const ROUNDS: usize = 9;

/// A body of size about one: what is rounded, and the radius.
struct Shape {
    name: &'static str,
    core: Polytope,
    radius: f64,
}

fn shapes(random: &mut Random) -> Vec<Shape> {
    let hull = |points: &[Vec3]| convex_hull(points).expect("a hull").polytope;
    let corners: Vec<Vec3> = (0..8_u32)
        .map(|i| Vec3::from_fn(|axis, _| if (i >> axis) & 1 == 1 { 0.4 } else { -0.4 }))
        .collect();
    let many: Vec<Vec3> = (0..200).map(|_| random.direction() * 0.5).collect();
    let shape = |name, points: &[Vec3], radius| Shape { name, core: hull(points), radius };
    vec![
        shape("ball", &[Vec3::zeros()], 0.5),
        shape("capsule", &[Vec3::z() * 0.5, Vec3::z() * -0.5], 0.25),
        shape("rounded box", &corners, 0.1),
        shape("hull of 200", &many, 0.0),
    ]
}

/// Two of these, with this gap between them up to rounding.
fn placed<'a>([p, q]: [&'a Shape; 2], gap: f64, random: &mut Random) -> RoundedPair<'a> {
    let turned = |place: Vec3, random: &mut Random| {
        let turn = [random.unit() - 0.5, random.unit(), random.unit(), random.unit()];
        Pose::from_quaternion(place, turn).expect("a legal pose")
    };
    let way = random.direction();
    let at_p = turned(Vec3::zeros(), random);
    let mut at_q = turned(way * 4.0, random);
    let radii = [p.radius, q.radius];
    // Where one of the two goes straight towards the other's middle, the distance falls faster
    // than the step only by rounding: a few steps of the distance itself are enough.
    for _ in 0..200 {
        let pair = RoundedPair { cores: Pair::new(&p.core, at_p, &q.core, at_q), radii };
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let known = measure(&pair, &METHODS[0], Stops::default(), witness, effort);
        let left = known.expect("no limit").lower;
        at_q.translation -= way * left;
        if left < 1e-12 {
            break;
        }
    }
    at_q.translation += way * gap;
    RoundedPair { cores: Pair::new(&p.core, at_p, &q.core, at_q), radii }
}

/// Nanoseconds a pair, the median of the rounds.
fn timed(pairs: &[RoundedPair<'_>], rounds: usize, mut ask: impl FnMut(&RoundedPair<'_>)) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = thread_time();
            pairs.iter().for_each(&mut ask);
            (thread_time() - start).as_secs_f64() * 1e9 / pairs.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[rounds / 2]
}

fn ask(pairs: &[RoundedPair<'_>], rounds: usize, hash: &mut u64) -> [f64; 3] {
    let stands = timed(pairs, rounds, |pair| {
        let found = verdict(pair, &mut Witness::default(), &mut Effort::unlimited());
        let number = match found.expect("no limit").verdict {
            Verdict::Separated => 1,
            Verdict::Touching => 2,
            Verdict::Overlapping => 3,
        };
        *hash = (*hash ^ number).wrapping_mul(0x0100_0000_01b3);
    });
    let far = timed(pairs, rounds, |pair| {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        measure(pair, &METHODS[0], Stops::default(), witness, effort).expect("no limit");
    });
    let first = timed(pairs, rounds, |pair| {
        let motion = Motion::Linear { velocity: -pair.cores.q.pose.translation };
        let question = Question {
            reach: Reach::of_rounded(pair.radii, 0.0),
            ..Question::new(pair.cores, Motion::rest(), motion)
        };
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let method = &contact_time::METHODS[0];
        first_contact(method, &question, pair, witness, effort).expect("no limit");
    });
    [stands, far, first]
}

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let (count, rounds) = if is_test { (20, 1) } else { (PAIRS, ROUNDS) };
    let mut random = Random::new(35);
    let shapes = shapes(&mut random);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    println!("{:<28}{:>10}{:>10}{:>10}{:>16}", "ns", "", "verdict", "distance", "first contact");
    for (at, q) in shapes.iter().enumerate() {
        for p in shapes[..=at].iter().filter(|p| p.radius + q.radius > 0.0) {
            for (how, gap) in [("apart", 0.1), ("touching", 0.0), ("deep", -0.1)] {
                let pairs: Vec<_> = (0..count).map(|_| placed([p, q], gap, &mut random)).collect();
                let [stands, far, first] = ask(&pairs, rounds, &mut hash);
                let names = format!("{}, {}", p.name, q.name);
                println!("{names:<28}{how:>10}{stands:>10.0}{far:>10.0}{first:>16.0}");
            }
        }
    }
    println!("hash {hash:016x}");
}
