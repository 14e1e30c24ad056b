//! Families of hard cases, each made anew from a seed: verdicts against an oracle in exact
//! arithmetic over all edges, everything else against the judges.
//!
//! `FAMILIES` is the number of rounds (each asks every family once), `FAMILIES_SEED` the seed:
//!
//! ```sh
//! FAMILIES=2000 FAMILIES_SEED=3 cargo test --test geometry families
//! ```

use std::f64::consts::{PI, TAU};

use clearance_geometry::claim::{FirstContact, Outcome, RangeClaim, TIME_TOLERANCE, Verdict};
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::judge::{
    judge_depth, judge_distance, judge_first_contact, judge_range, judge_static,
};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{self, exhaustive::oracle};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Mat3, Vec3, penetration};

fn given(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// A case: two bodies, their poses, and perhaps their motions and a margin.
struct Case {
    bodies: [Polytope; 2],
    poses: [Pose; 2],
    motions: Option<[Motion; 2]>,
    margin: f64,
}

impl Case {
    fn still(bodies: [Polytope; 2], poses: [Pose; 2]) -> Self {
        Self { bodies, poses, motions: None, margin: 0.0 }
    }

    fn pair(&self) -> Pair<'_> {
        Pair::new(&self.bodies[0], self.poses[0], &self.bodies[1], self.poses[1])
    }
}

fn hull(points: &[Vec3]) -> Polytope {
    convex_hull(points).expect("finite points").polytope
}

fn lattice(random: &mut Random, reach: u64) -> Vec3 {
    let mut one = || random.below(2 * reach + 1) as f64 - reach as f64;
    Vec3::new(one(), one(), one())
}

fn points(random: &mut Random, most: u64) -> Vec<Vec3> {
    (0..=random.below(most)).map(|_| lattice(random, 3)).collect()
}

/// A quarter or half turn about an axis, or none.
fn grid_turn(random: &mut Random) -> Mat3 {
    let axis = random.below(3) as usize;
    let [c, s] = [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, 0.0]][random.below(4) as usize];
    let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut m = Mat3::identity();
    (m[(a, a)], m[(a, b)], m[(b, a)], m[(b, b)]) = (c, -s, s, c);
    m
}

/// Next to a number, by an ulp at most.
fn about(random: &mut Random, x: f64) -> f64 {
    [x, x.next_up(), x.next_down()][random.below(3) as usize]
}

fn moved(pose: Pose, random: &mut Random) -> Pose {
    let translation = pose.translation.map(|x| about(random, x));
    Pose { translation, ..pose }
}

/// Bodies on a lattice that touch, or miss it by an ulp, in a unit of 1e150 or 1e-150 metres.
fn touching_at_scale(random: &mut Random) -> Case {
    let unit = 2f64.powi([500, -500, 0, 900, -900][random.below(5) as usize]);
    let bodies = [0, 1].map(|_| points(random, 8));
    let (p, q) = (&bodies[0], &bodies[1]);
    let meet = p[random.below(p.len() as u64) as usize] - q[random.below(q.len() as u64) as usize];
    let poses = [Pose::identity(), moved(Pose::translation(meet.x, meet.y, meet.z), random)];
    let scaled = |pose: Pose| Pose { translation: pose.translation * unit, ..pose };
    let bodies = bodies.map(|points| hull(&points.iter().map(|v| v * unit).collect::<Vec<_>>()));
    Case::still(bodies, poses.map(scaled))
}

/// Points given twice and more, all of the lattice points of flat faces among them.
fn duplicated(random: &mut Random) -> Case {
    let size = lattice(random, 2).abs();
    let mut filled = Vec::new();
    for x in 0..=size.x as u32 {
        for y in 0..=size.y as u32 {
            for z in 0..=size.z as u32 {
                let at = Vec3::new(f64::from(x), f64::from(y), f64::from(z));
                filled.extend(vec![at; 1 + random.below(3) as usize]);
            }
        }
    }
    let shift = lattice(random, 4);
    let pose = Pose { rotation: grid_turn(random), translation: shift };
    Case::still([hull(&filled), hull(&points(random, 8))], [pose, Pose::identity()])
}

/// Needles and plates a trillion times as long as thick.
fn extreme(random: &mut Random) -> Case {
    let mut body = || {
        let stretch = Vec3::from_fn(|_, _| 10f64.powi(random.below(19) as i32 - 12));
        let of = points(random, 8);
        hull(&of.iter().map(|v| v.component_mul(&stretch)).collect::<Vec<_>>())
    };
    let bodies = [body(), body()];
    let [i, j] = [0, 1].map(|k| random.below(u64::from(bodies[k].vertex_count())) as u32);
    let meet = bodies[0].vertex(i) - bodies[1].vertex(j);
    let pose = moved(Pose::translation(meet.x, meet.y, meet.z), random);
    Case::still(bodies, [Pose::identity(), pose])
}

/// Subnormal coordinates, alone and beside others.
fn subnormal(random: &mut Random) -> Case {
    let mut body = || {
        let unit = [5e-324, 1e-310, 1e-300][random.below(3) as usize];
        hull(&points(random, 7).iter().map(|v| v * unit).collect::<Vec<_>>())
    };
    let bodies = [body(), body()];
    let unit = [5e-324, 1e-310][random.below(2) as usize];
    let poses = [0, 1]
        .map(|_| Pose { rotation: grid_turn(random), translation: lattice(random, 4) * unit });
    Case::still(bodies, poses)
}

/// Bodies of one point, among others.
fn of_a_point(random: &mut Random) -> Case {
    let bodies = [hull(&[lattice(random, 3)]), hull(&points(random, 7))];
    let pose = |random: &mut Random| {
        moved(Pose { rotation: grid_turn(random), translation: lattice(random, 3) }, random)
    };
    let poses = [pose(random), pose(random)];
    let velocity = lattice(random, 4);
    let motions = Some([Motion::rest(), Motion::Linear { velocity }]);
    Case { motions, ..Case::still(bodies, poses) }
}

/// Boxes whose distance is a number: exactly the margin, or an ulp beside it.
fn margins_at_gaps(random: &mut Random) -> Case {
    let gaps = [[3.0, 4.0, 0.0, 5.0], [2.0, 3.0, 6.0, 7.0], [1.0, 4.0, 8.0, 9.0]];
    let [x, y, z, gap] = gaps[random.below(3) as usize];
    let unit = 2f64.powi(random.below(60) as i32 - 30);
    let boxed = |random: &mut Random| lattice(random, 3).abs().add_scalar(1.0);
    let cuboid = |size: &Vec3| {
        let corner = |k: u32| Vec3::from_fn(|i, _| f64::from(k >> i & 1) * size[i] * unit);
        hull(&(0..8).map(corner).collect::<Vec<_>>())
    };
    let (p, q) = (boxed(random), boxed(random));
    let at = (p + Vec3::new(x, y, z)) * unit;
    let pose = Pose::translation(at.x, at.y, at.z);
    let margin = about(random, gap * unit);
    let across = Vec3::new(1.0, 0.0, 0.0) * unit * (random.below(3) as f64 - 1.0);
    let motions = [Motion::rest(), Motion::Linear { velocity: across }];
    let bodies = [cuboid(&p), cuboid(&q)];
    Case { motions: Some(motions), margin, ..Case::still(bodies, [Pose::identity(), pose]) }
}

/// Two bodies on one carrier that turns about a far pivot, one of them moving along the axis or by
/// a little more than the other.
fn common_rotation(random: &mut Random) -> Case {
    let bodies = [hull(&points(random, 7)), hull(&points(random, 7))];
    let far = random.direction() * 10f64.powi(random.below(7) as i32);
    let axis = lattice(random, 2) + Vec3::new(0.0, 0.0, 0.5);
    let angle = random.between(-4.0, 4.0);
    let along = axis * (random.below(5) as f64 - 2.0);
    let other = if random.below(2) == 0 { angle } else { angle * (1.0 + 1e-12) };
    let screw = |velocity, angle| Motion::Screw { pivot: Some(far), velocity, axis, angle };
    let motions = Some([screw(Vec3::zeros(), angle), screw(along, other)]);
    let translation = lattice(random, 6);
    let pose = Pose { rotation: grid_turn(random), translation };
    Case { motions, ..Case::still(bodies, [Pose::identity(), pose]) }
}

/// Screws with hardly any pitch, or hardly any turn.
fn tiny_pitch(random: &mut Random) -> Case {
    let bodies = [hull(&points(random, 7)), hull(&points(random, 7))];
    let axis = Vec3::ith(random.below(3) as usize, 1.0);
    let small = 10f64.powi(-(random.below(300) as i32));
    let (pitch, angle) = if random.below(2) == 0 { (small, 3.0) } else { (2.0, small) };
    let velocity = (axis + lattice(random, 1)) * pitch;
    let screw = Motion::Screw { pivot: None, velocity, axis, angle };
    let poses =
        [Pose::identity(), Pose { rotation: grid_turn(random), translation: lattice(random, 6) }];
    Case { motions: Some([Motion::rest(), screw]), ..Case::still(bodies, poses) }
}

/// Exactly half a turn from pose to pose, and screws by half a turn and whole ones.
fn half_turns(random: &mut Random) -> Case {
    let bodies = [hull(&points(random, 7)), hull(&points(random, 7))];
    let start = Pose { rotation: grid_turn(random), translation: lattice(random, 6) };
    let axis = random.below(3) as usize;
    let mut half = -Mat3::identity();
    half[(axis, axis)] = 1.0;
    let pivot = (random.below(2) == 0).then(|| lattice(random, 3));
    let end = Pose { rotation: half * start.rotation, translation: lattice(random, 4) };
    let motion = match random.below(3) {
        0 => Motion::ToPose { end, pivot, turn: None },
        n => {
            let angle = if n == 1 { PI } else { TAU };
            let velocity = lattice(random, 2);
            Motion::Screw { pivot, velocity, axis: Vec3::ith(axis, 1.0), angle }
        }
    };
    let margin = [0.0, 0.0, 0.5][random.below(3) as usize];
    let motions = Some([Motion::rest(), motion]);
    Case { motions, margin, ..Case::still(bodies, [Pose::identity(), start]) }
}

/// From pose to pose by half a turn less almost nothing, about any axis.
fn near_half_turns(random: &mut Random) -> Case {
    let bodies = [hull(&points(random, 7)), hull(&points(random, 7))];
    let axis = lattice(random, 2) + Vec3::new(0.0, 0.0, 0.25);
    let less = 10f64.powi(-(random.below(30) as i32)) * (random.below(3) as f64 - 1.0);
    let quaternion = [less, axis.x, axis.y, axis.z];
    let start = Pose { rotation: Mat3::identity(), translation: lattice(random, 6) };
    let end = Pose::from_quaternion(lattice(random, 4), quaternion).expect("a rotation");
    let pivot = (random.below(2) == 0).then(|| lattice(random, 3));
    let motions = Some([Motion::rest(), Motion::ToPose { end, pivot, turn: None }]);
    Case { motions, ..Case::still(bodies, [Pose::identity(), start]) }
}

/// A body and its twin in the same place, or aside by the least there is; it stays there, comes
/// back after a whole turn, or goes by as little.
fn twins(random: &mut Random) -> Case {
    let of = points(random, 8);
    let bodies = [hull(&of), hull(&of)];
    let aside = |random: &mut Random| {
        let least = [0.0, 5e-324, 1e-200, f64::EPSILON][random.below(4) as usize];
        lattice(random, 1) * least
    };
    let pose = Pose { rotation: grid_turn(random), translation: lattice(random, 3) };
    let twin = Pose { translation: pose.translation + aside(random), ..pose };
    let motion = match random.below(3) {
        0 => Motion::ToPose { end: pose, pivot: None, turn: None },
        1 => Motion::Linear { velocity: aside(random) },
        _ => Motion::Screw { pivot: None, velocity: aside(random), axis: Vec3::z(), angle: TAU },
    };
    let motions = Some([Motion::rest(), motion]);
    Case { motions, ..Case::still(bodies, [pose, twin]) }
}

/// Flat bodies that move and turn in their common plane, which they never leave.
fn in_one_plane(random: &mut Random) -> Case {
    let flat = |random: &mut Random| {
        let of = points(random, 7);
        hull(&of.iter().map(|v| Vec3::new(v.x, v.y, 0.0)).collect::<Vec<_>>())
    };
    let bodies = [flat(random), flat(random)];
    let place = |random: &mut Random| lattice(random, 8).component_mul(&Vec3::new(1.0, 1.0, 0.0));
    let velocity = place(random);
    let motion = if random.below(2) == 0 {
        Motion::Linear { velocity }
    } else {
        let pivot = (random.below(2) == 0).then(|| place(random));
        Motion::Screw { pivot, velocity, axis: Vec3::z(), angle: random.between(-4.0, 4.0) }
    };
    let motions = Some([Motion::rest(), motion]);
    let pose = Pose { translation: place(random), ..Pose::identity() };
    Case { motions, ..Case::still(bodies, [Pose::identity(), pose]) }
}

/// Both bodies by translations that nearly cancel, or that are far larger than the bodies.
fn fast(random: &mut Random) -> Case {
    let bodies = [hull(&points(random, 7)), hull(&points(random, 7))];
    let by = lattice(random, 3) * 10f64.powi(random.below(120) as i32);
    let linear = |velocity| Motion::Linear { velocity };
    let own = if random.below(2) == 0 { Vec3::zeros() } else { by + lattice(random, 6) };
    let motions = Some([linear(own), linear(by)]);
    let pose = Pose { rotation: grid_turn(random), translation: lattice(random, 8) };
    Case { motions, ..Case::still(bodies, [Pose::identity(), pose]) }
}

type Family = (&'static str, fn(&mut Random) -> Case);

const FAMILIES: &[Family] = &[
    ("touching at scales", touching_at_scale),
    ("duplicated points", duplicated),
    ("needles and plates", extreme),
    ("subnormal coordinates", subnormal),
    ("bodies of one point", of_a_point),
    ("margins at gaps", margins_at_gaps),
    ("common rotations", common_rotation),
    ("tiny pitch", tiny_pitch),
    ("half turns", half_turns),
    ("near half turns", near_half_turns),
    ("twins", twins),
    ("in one plane", in_one_plane),
    ("fast", fast),
];

/// The verdict by every method against the oracle, and the certificate.
fn check_verdict(pair: &Pair<'_>) -> Result<Verdict, String> {
    let exact = oracle(pair);
    for method in separation::METHODS {
        let effort = &mut Effort::unlimited();
        let found = separation::decide(pair, method, &mut Witness::default(), effort);
        let found = found.map_err(|why| format!("{}: {why:?}", method.name))?;
        if found.verdict() != exact {
            return Err(format!("{}: {:?} is {exact:?}", method.name, found.verdict()));
        }
        judge_static(pair, &found.proof).map_err(|why| format!("{}: {why:?}", method.name))?;
    }
    Ok(exact)
}

/// Distance, depth and the range along a direction, by their judges.
fn check_measures(pair: &Pair<'_>, verdict: Verdict, random: &mut Random) -> Result<(), String> {
    let effort = &mut Effort::unlimited();
    for method in distance::METHODS {
        let witness = &mut Witness::default();
        let found = distance::measure_by(method, pair, Stops::default(), witness, effort);
        let found = found.map_err(|why| format!("{}: {why:?}", method.name))?;
        if (found.lower > 0.0 || found.upper > 0.0) && verdict != Verdict::Separated {
            return Err(format!("{}: a distance in contact", method.name));
        }
        let in_range = (1e-300..1e300).contains(&found.upper);
        if in_range && found.upper - found.lower > 1e-12 * found.upper {
            return Err(format!("{}: [{}, {}]", method.name, found.lower, found.upper));
        }
        if verdict == Verdict::Separated {
            judge_distance(pair, found.lower, found.upper, &found.pairs)
                .map_err(|why| format!("{}: {why:?} {found:?}", method.name))?;
        }
    }
    let witness = &mut Witness::default();
    let depth = penetration::measure(pair, true, witness, effort).map_err(|e| format!("{e:?}"))?;
    if let Some(face) = &depth.face {
        let bounds = [depth.lower, depth.upper];
        judge_depth(pair, bounds, face, depth.surface.as_ref(), effort)
            .map_err(|why| format!("depth: {why:?} {bounds:?}"))?;
    }
    let along = lattice(random, 2);
    for method in penetration::METHODS {
        let found = penetration::along_by(pair, &along, method, &mut Witness::default(), effort);
        let found = found.map_err(|why| format!("{}: {why:?}", method.name))?;
        let (span, proof) = (found.span, found.proof.as_ref());
        judge_range(pair, &RangeClaim { along, verdict, span, proof }, effort)
            .map_err(|why| format!("along, {}: {why:?}", method.name))?;
    }
    Ok(())
}

/// A first contact in either order, by its judge; both say the same or that they do not know.
fn check_contact(case: &Case, counts: &mut Counts) -> Result<(), String> {
    let Some([of_p, of_q]) = case.motions else { return Ok(()) };
    let pair = case.pair();
    let swapped = Pair { p: pair.q, q: pair.p };
    let ask = |pair, of_p, of_q| -> Result<FirstContact, String> {
        let margin = case.margin;
        let question = Question { reach: margin.into(), ..Question::new(pair, of_p, of_q) };
        let effort = &mut Effort::with_steps(200_000);
        let found = first_contact(&question, &mut Witness::default(), effort);
        let found = found.map_err(|why| format!("{why:?}"))?;
        judge_first_contact(&question, &found).map_err(|why| format!("{why:?} {found:?}"))?;
        Ok(found)
    };
    let (one, other) = (ask(pair, of_p, of_q)?, ask(swapped, of_q, of_p)?);
    for found in [&one, &other] {
        let is_wide = found.t_contact - found.t_free > 1e-3;
        if found.outcome == Outcome::Contact && is_wide && found.stopped.is_none() {
            return Err(format!("wide without a reason: {found:?}"));
        }
        counts.wide += u64::from(found.outcome == Outcome::Contact && is_wide);
        counts.undecided += u64::from(found.outcome == Outcome::Undecided);
        counts.moved += 1;
        if found.stopped == Some(Stopped::Steps) {
            return Err(format!("too many steps: {found:?}"));
        }
    }
    let known = |found: &FirstContact| found.outcome != Outcome::Undecided;
    if known(&one) && known(&other) {
        let meets = one.t_free <= other.t_contact + TIME_TOLERANCE
            && other.t_free <= one.t_contact + TIME_TOLERANCE;
        if one.outcome != other.outcome || !meets {
            return Err(format!("{one:?} and, swapped, {other:?}"));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    still: u64,
    moved: u64,
    wide: u64,
    undecided: u64,
}

#[test]
fn families_of_hard_cases_are_answered_exactly() {
    let (rounds, seed) = (given("FAMILIES", 40), given("FAMILIES_SEED", 1));
    let mut wrong = Vec::new();
    for (name, family) in FAMILIES {
        let mut counts = Counts::default();
        for round in 0..rounds {
            let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
            let case = family(&mut random);
            let pair = case.pair();
            counts.still += 1;
            let checked = check_verdict(&pair)
                .and_then(|verdict| check_measures(&pair, verdict, &mut random))
                .and_then(|()| check_contact(&case, &mut counts));
            if let Err(why) = checked {
                wrong.push(format!("{name}, round {round}: {why}"));
            }
        }
        let Counts { still, moved, wide, undecided } = counts;
        eprintln!("{name}: {still} pairs, {moved} motions, {wide} wide, {undecided} undecided");
    }
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
