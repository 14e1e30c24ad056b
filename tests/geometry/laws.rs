//! The witness law and determinism, for every question and method: any witness, either order, any
//! history and any unit of length give the same verdict and brackets that meet; from cold, the same
//! bits.

use clearance_geometry::claim::{FirstContact, Outcome, Verdict};
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, polytope_of};
use clearance_geometry::hull::{convex_hull, samples};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Question;
use clearance_geometry::pair::{Pair, VertexPair};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{self, decide};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, penetration};

/// Bodies of every dimension, round, flat, thin and plain.
fn bodies() -> Vec<Polytope> {
    [
        samples::cuboid(1.0, 1.0, 1.0),
        samples::octahedron(0.8),
        samples::sphere(60, 0.7),
        samples::ellipsoid(40, Vec3::new(1.0, 0.5, 0.2), 3),
        samples::needle(3, 2.0, 0.02),
        samples::prism(9, 0.6, 1e-3),
        samples::flat_polygon(5, 0.8),
        samples::segment(1.5),
        samples::point(),
    ]
    .iter()
    .map(|points| polytope_of(points))
    .collect()
}

fn turned(random: &mut Random, place: Vec3) -> Pose {
    let q = [0.3 + random.unit(), random.unit(), random.unit() - 0.5, random.unit() - 0.5];
    Pose::from_quaternion(place, q).expect("far from zero")
}

/// Two bodies, placed: a third of the time in exact contact, or an ulp from it.
fn placing(random: &mut Random, bodies: &[Polytope]) -> (usize, Pose, usize, Pose) {
    let mut index = || random.below(bodies.len() as u64) as usize;
    let (p, q) = (index(), index());
    let place = random.in_ball() * 1.2;
    match random.below(3) {
        0 => {
            // A vertex of the one on a vertex of the other.
            let i = random.below(u64::from(bodies[p].vertex_count())) as u32;
            let j = random.below(u64::from(bodies[q].vertex_count())) as u32;
            let mut place = bodies[p].vertex(i) - bodies[q].vertex(j);
            let x = place.x;
            place.x = [x, x.next_up(), x.next_down()][random.below(3) as usize];
            (p, Pose::identity(), q, Pose::translation(place.x, place.y, place.z))
        }
        1 => (p, Pose::identity(), q, Pose::translation(place.x, place.y, place.z)),
        _ => {
            let pose_p = turned(random, Vec3::zeros());
            (p, pose_p, q, turned(random, place))
        }
    }
}

fn hostile(random: &mut Random) -> Witness {
    let numbers = [f64::NAN, f64::INFINITY, -1e308, 5e-324, 0.0, -1.0, 1e200];
    let mut number = || numbers[random.below(numbers.len() as u64) as usize];
    let direction = Some(Vec3::new(number(), number(), number()));
    let mut witness = Witness { direction, ..Witness::default() };
    for _ in 0..random.below(7) {
        let mut index = || [0, 1, 3, 1000, u32::MAX][random.below(5) as usize];
        witness.pairs.push(VertexPair { i: index(), j: index() });
    }
    witness
}

#[track_caller]
fn meet(a: [f64; 2], b: [f64; 2], what: &str) {
    assert!(a[0] <= b[1] && b[0] <= a[1], "{what}: {a:?} and {b:?}");
}

/// What every answer to a question must have in common.
#[derive(Clone, Copy, Debug)]
struct Common {
    /// A verdict or an outcome.
    which: u8,
    /// Of whatever was measured.
    bracket: [f64; 2],
}

impl Common {
    #[track_caller]
    fn agree(self, other: Self, what: &str) {
        assert_eq!(self.which, other.which, "{what}: {self:?} and {other:?}");
        meet(self.bracket, other.bracket, what);
    }
}

/// A question: whatever it is about, and whether the pair is swapped.
type Ask<'a> = dyn Fn(bool, &mut Witness) -> Common + 'a;

/// Asks from every kind of witness, in both orders. `stale` was left by the same question about
/// these bodies elsewhere, and becomes the one left here.
fn holds(ask: &Ask<'_>, stale: &mut Witness, foreign: &Witness, random: &mut Random, what: &str) {
    let mut warm = Witness::default();
    let cold = ask(false, &mut warm);
    for swapped in [false, true] {
        let kinds =
            [Witness::default(), warm.clone(), stale.clone(), foreign.clone(), hostile(random)];
        for (kind, mut witness) in kinds.into_iter().enumerate() {
            let what = format!("{what}, witness {kind}, swapped {swapped}");
            ask(swapped, &mut witness).agree(cold, &what);
            // And from what that left.
            ask(swapped, &mut witness).agree(cold, &what);
        }
    }
    *stale = warm;
}

fn plain(verdict: Verdict) -> Common {
    Common { which: verdict as u8, bracket: [0.0, 0.0] }
}

fn count() -> u64 {
    if cfg!(debug_assertions) { 45 } else { 1500 }
}

/// Exhaustive methods take a thousand times as long as others.
fn is_spared(name: &str, seed: u64) -> bool {
    ["exhaustive", "mutual_normals"].contains(&name) && !seed.is_multiple_of(16)
}

#[test]
fn no_witness_and_no_order_changes_what_a_static_question_is_told() {
    let bodies = bodies();
    let mut seen = [0; 3];
    let mut kept = vec![Witness::default(); 4];
    for seed in 0..count() {
        let random = &mut Random::new(seed);
        let (p, pose_p, q, pose_q) = placing(random, &bodies);
        let pair = Pair::new(&bodies[p], pose_p, &bodies[q], pose_q);
        let back = Pair::new(&bodies[q], pose_q, &bodies[p], pose_p);
        let of = |swapped| if swapped { &back } else { &pair };
        let (direction, foreign) = (random.direction(), kept[random.below(4) as usize].clone());
        let effort = &mut Effort::unlimited();
        let decision = decide(&pair, &separation::METHODS[0], &mut Witness::default(), effort);
        seen[decision.unwrap().verdict() as usize] += 1;

        for method in separation::METHODS.iter().filter(|row| !is_spared(row.name, seed)) {
            let ask = |swapped, witness: &mut Witness| {
                let effort = &mut Effort::unlimited();
                plain(decide(of(swapped), method, witness, effort).unwrap().verdict())
            };
            let what = format!("seed {seed}: verdict by {}", method.name);
            holds(&ask, &mut kept[0], &foreign, random, &what);
        }
        for method in distance::METHODS.iter().filter(|row| !is_spared(row.name, seed)) {
            let ask = |swapped, witness: &mut Witness| {
                let (stops, effort) = (Stops::default(), &mut Effort::unlimited());
                let found =
                    distance::measure_by(method, of(swapped), stops, witness, effort).unwrap();
                let bracket = [found.lower, found.upper];
                Common { bracket, ..plain(found.decision.verdict()) }
            };
            let what = format!("seed {seed}: distance by {}", method.name);
            holds(&ask, &mut kept[1], &foreign, random, &what);
        }
        let along = |swapped, witness: &mut Witness| {
            let way = if swapped { -direction } else { direction };
            let found = penetration::along(of(swapped), &way, witness, &mut Effort::unlimited());
            let found = found.unwrap();
            let never = [f64::MAX; 2];
            let bracket = found.span.map_or(never, |span| [span.enter[0], span.exit[1]]);
            Common { bracket, ..plain(found.decision.verdict()) }
        };
        holds(&along, &mut kept[2], &foreign, random, &format!("seed {seed}: along"));
        let depth = |swapped, witness: &mut Witness| {
            let effort = &mut Effort::unlimited();
            let found = penetration::measure(of(swapped), false, witness, effort).unwrap();
            let bracket = [found.lower, found.upper];
            Common { bracket, ..plain(found.decision.verdict()) }
        };
        holds(&depth, &mut kept[3], &foreign, random, &format!("seed {seed}: depth"));
    }
    assert!(seen.iter().all(|n| *n > 3), "{seen:?}");
}

fn motion(random: &mut Random, kind: u64, start: &Pose) -> Motion {
    let velocity = random.in_ball() * 4.0;
    match kind {
        0 => Motion::Linear { velocity },
        1 => {
            let angle = random.between(-4.0, 4.0);
            Motion::Screw { pivot: None, velocity, axis: random.direction(), angle }
        }
        _ => {
            let end = turned(random, start.translation + velocity);
            Motion::ToPose { end, pivot: None, turn: None }
        }
    }
}

fn of_contact(found: &FirstContact) -> Common {
    let bracket = match found.outcome {
        Outcome::Contact => [found.t_free, found.t_contact],
        Outcome::NoContact => [1.0, 1.0],
        Outcome::Undecided => [found.t_free, 1.0],
    };
    Common { which: 3 * (found.outcome as u8) + found.initial.verdict() as u8, bracket }
}

#[test]
fn no_witness_and_no_order_changes_what_a_question_about_motion_is_told() {
    let bodies = bodies();
    let mut seen = [[0; 2]; 3];
    let mut kept = vec![Witness::default(); 3];
    for seed in 0..count() {
        let random = &mut Random::new(1_000_000 + seed);
        let (p, pose_p, q, mut pose_q) = placing(random, &bodies);
        // Mostly from afar.
        pose_q.translation *= if seed % 4 == 0 { 1.0 } else { 2.5 };
        let kind = seed % 3;
        let motions = [motion(random, kind, &pose_p), motion(random, 0, &pose_q)];
        let margin = if seed % 5 == 0 { 0.25 } else { 0.0 };
        let foreign = kept[random.below(3) as usize].clone();
        let question = |swapped: bool| {
            let ways = if swapped { [motions[1], motions[0]] } else { motions };
            let (pair, back) = (
                Pair::new(&bodies[p], pose_p, &bodies[q], pose_q),
                Pair::new(&bodies[q], pose_q, &bodies[p], pose_p),
            );
            let pair = if swapped { back } else { pair };
            Question { reach: margin.into(), ..Question::new(pair, ways[0], ways[1]) }
        };
        let ask = |swapped, witness: &mut Witness| {
            let effort = &mut Effort::unlimited();
            of_contact(&first_contact(&question(swapped), witness, effort).unwrap())
        };
        let place = kind as usize;
        let cold = ask(false, &mut Witness::default());
        if cold.which < 6 {
            seen[place][usize::from(cold.which) / 3] += 1;
        }
        holds(&ask, &mut kept[place], &foreign, random, &format!("seed {seed}: kind {kind}"));
    }
    assert!(seen.iter().flatten().all(|n| *n > 0), "{seen:?}");
}

/// Everything that can be asked of a pair at rest and in motion, from cold, as text: all its bits.
fn answers(pair: &Pair<'_>, way: Motion) -> Vec<String> {
    let mut answers = Vec::new();
    let cold = || (Witness::default(), Effort::unlimited());
    for method in separation::METHODS {
        let (mut witness, mut effort) = cold();
        let found = decide(pair, method, &mut witness, &mut effort);
        answers.push(format!("{found:?} {:?}", effort.cost));
    }
    for method in distance::METHODS {
        let (mut witness, mut effort) = cold();
        let stops = Stops::default();
        let found = distance::measure_by(method, pair, stops, &mut witness, &mut effort);
        answers.push(format!("{found:?}"));
    }
    let (mut witness, mut effort) = cold();
    let along = penetration::along(pair, &Vec3::new(0.3, -1.0, 0.7), &mut witness, &mut effort);
    let (mut witness, mut effort) = cold();
    let depth = penetration::measure(pair, true, &mut witness, &mut effort);
    let (mut witness, mut effort) = cold();
    let question = Question::new(*pair, way, Motion::rest());
    let contact = first_contact(&question, &mut witness, &mut effort);
    answers.extend([format!("{along:?}"), format!("{depth:?}"), format!("{contact:?}")]);
    answers
}

#[test]
fn a_cold_answer_is_the_same_bits_whatever_was_asked_of_the_bodies_before() {
    let used = bodies();
    let fresh = || -> Vec<Polytope> {
        used.iter().map(|body| convex_hull(body.vertices()).unwrap().polytope).collect()
    };
    for seed in 0..count() / 3 {
        let random = &mut Random::new(2_000_000 + seed);
        let (p, pose_p, q, pose_q) = placing(random, &used);
        let way = motion(random, seed % 3, &pose_p);
        let first = fresh();
        let expected = answers(&Pair::new(&first[p], pose_p, &first[q], pose_q), way);
        // `used` has answered for every seed before.
        let found = answers(&Pair::new(&used[p], pose_p, &used[q], pose_q), way);
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// The same bodies in another unit, a power of two of the first.
fn in_unit(bodies: &[Polytope], unit: f64) -> Vec<Polytope> {
    let scaled =
        |body: &Polytope| -> Vec<Vec3> { body.vertices().iter().map(|v| v * unit).collect() };
    bodies.iter().map(|body| polytope_of(&scaled(body))).collect()
}

fn motion_in_unit(motion: Motion, unit: f64) -> Motion {
    match motion {
        Motion::Linear { velocity } => Motion::Linear { velocity: velocity * unit },
        Motion::Screw { pivot, velocity, axis, angle } => {
            Motion::Screw { pivot: pivot.map(|c| c * unit), velocity: velocity * unit, axis, angle }
        }
        Motion::ToPose { end, pivot, turn } => Motion::ToPose {
            end: Pose { translation: end.translation * unit, ..end },
            pivot: pivot.map(|c| c * unit),
            turn,
        },
    }
}

/// How far the points of a body may all lie from its origin.
const FAR: f64 = 1e7;

#[test]
fn no_unit_of_length_changes_what_is_told_or_how_long_it_takes() {
    let mut bodies = bodies();
    // Points that all lie far from their body's origin.
    let far = samples::cuboid(1.0, 1.0, 1.0)
        .iter()
        .map(|v| v + Vec3::new(0.0, -FAR, 0.0))
        .collect::<Vec<_>>();
    bodies.push(polytope_of(&far));
    let units = [-900, -560, -60, 60, 560, 900].map(|exponent| 2f64.powi(exponent));
    let scaled = units.map(|unit| in_unit(&bodies, unit));
    for seed in 0..count() {
        let random = &mut Random::new(3_000_000 + seed);
        let (mut p, pose_p, q, pose_q) = placing(random, &bodies);
        p = if seed % 3 == 1 { bodies.len() - 1 } else { p };
        let home = |index: usize, mut pose: Pose| {
            if index + 1 == bodies.len() {
                pose.translation += pose.rotation * Vec3::new(0.0, FAR, 0.0);
            }
            pose
        };
        let (pose_p, pose_q) = (home(p, pose_p), home(q, pose_q));
        // An ulp from zero is a length in one unit only.
        if pose_q.translation.iter().any(|x| x.is_subnormal()) {
            continue;
        }
        let mut ways = [motion(random, seed % 3, &pose_p), motion(random, 0, &pose_q)];
        if let Motion::Screw { angle, .. } = &mut ways[0]
            && p + 1 == bodies.len()
        {
            *angle /= FAR;
        }
        let ask = |bodies: &[Polytope], unit: f64| {
            let place = |pose: Pose| Pose { translation: pose.translation * unit, ..pose };
            let pair = Pair::new(&bodies[p], place(pose_p), &bodies[q], place(pose_q));
            let cold = || (Witness::default(), Effort::with_steps(100_000));
            let (mut witness, mut effort) = cold();
            let stops = Stops::default();
            let apart = distance::measure(&pair, stops, &mut witness, &mut effort).unwrap();
            let (mut witness, mut effort) = cold();
            let depth = penetration::measure(&pair, false, &mut witness, &mut effort).unwrap();
            let (mut witness, mut effort) = cold();
            let [of_p, of_q] = ways.map(|way| motion_in_unit(way, unit));
            let question = Question::new(pair, of_p, of_q);
            let contact = first_contact(&question, &mut witness, &mut effort).unwrap();
            let length = |bracket: [f64; 2]| bracket.map(|x| x / unit);
            let verdict = apart.decision.verdict() as u8;
            let all = [
                Common { which: verdict, bracket: length([apart.lower, apart.upper]) },
                Common { which: verdict, bracket: length([depth.lower, depth.upper]) },
                of_contact(&contact),
            ];
            (all, effort.cost.steps)
        };
        let (expected, steps) = ask(&bodies, 1.0);
        for (unit, bodies) in units.iter().zip(&scaled) {
            let (found, taken) = ask(bodies, *unit);
            for (found, expected) in found.into_iter().zip(expected) {
                found.agree(expected, &format!("seed {seed} times {unit:e}"));
            }
            assert!(
                taken <= 4 * steps + 40,
                "seed {seed} times {unit:e}: {taken} steps, not {steps}"
            );
        }
    }
}
