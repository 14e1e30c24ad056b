//! Brackets and proofs of rounded bodies, against the judge, which is exact, and closed forms.

use std::cmp::Ordering;

use super::*;
use crate::claim::{FirstContact, MotionClaim, Outcome, RoundedDepthClaim, RoundedMotionClaim};
use crate::contact_time;
use crate::distance::METHODS;
use crate::hull::convex_hull;
use crate::judge::{
    RoundedBodies, judge_rounded, judge_rounded_depth, judge_rounded_distance, judge_rounded_motion,
};
use crate::motion::Motion;
use crate::number::dyadic::Dyadic;
use crate::pair::Question;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, cuboid, ellipsoid};

fn hull(points: &[[f64; 3]]) -> Polytope {
    let points: Vec<Vec3> = points.iter().map(|&point| point.into()).collect();
    convex_hull(&points).unwrap().polytope
}

fn distance(pair: &RoundedPair<'_>) -> RoundedDistance {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    let found = measure(pair, &METHODS[0], Stops::default(), witness, effort).unwrap();
    assert_eq!(judge_rounded(&pair.cores, pair.radii, &found.proof, effort), Ok(()), "{pair:?}");
    if found.proof.verdict == Verdict::Separated {
        let bounds = [found.lower, found.upper];
        let judged =
            judge_rounded_distance(&pair.cores, pair.radii, bounds, &found.proof.pairs, effort);
        assert_eq!(judged, Ok(()), "{pair:?} {found:?}");
        assert!(is_narrow(bounds), "{found:?}");
        let apart = found.closest_p - found.closest_q;
        let size = found.closest_p.amax().max(found.closest_q.amax());
        assert!((apart.norm() - found.upper).abs() <= 1e-12 * size.max(found.upper), "{found:?}");
    }
    found
}

fn depth(pair: &RoundedPair<'_>) -> RoundedDepth {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    let found = measure_depth(pair, true, witness, effort).unwrap();
    if found.proof.verdict == Verdict::Overlapping {
        let bounds = [found.lower, found.upper];
        let RoundedDepth { proof, face, surface, .. } = &found;
        let face = face.as_ref().unwrap();
        let bodies = RoundedBodies { cores: (&pair.cores).into(), radii: pair.radii };
        let claim = RoundedDepthClaim { bounds, face, surface: surface.as_ref() };
        let judged = judge_rounded_depth(bodies, proof, &claim, effort);
        assert_eq!(judged, Ok(()), "{pair:?} {found:?}");
        assert!(is_narrow(bounds), "{found:?}");
        assert!((found.direction.norm() - 1.0).abs() < 1e-12, "{found:?}");
    }
    found
}

/// Bodies of every dimension, apart, near and in each other; radii of every size.
#[test]
fn brackets_of_distances_and_depths_pass_the_judge_and_are_narrow() {
    let mut random = Random(19);
    let bodies = [
        hull(&[[0.0; 3]]),
        hull(&[[-0.5, 0.0, 0.0], [0.5, 0.25, 0.0]]),
        hull(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        cuboid(0.4, 0.5, 0.6),
        ellipsoid(60, [0.5, 0.4, 0.3], 7),
    ];
    let mut counts = [0; 3];
    for round in 0..1_500 {
        let (p, q) = (&bodies[round % 5], &bodies[round / 5 % 5]);
        let way = random.unit_vector() * (2e-3 * (round % 700) as f64);
        let cores = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(way));
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let of_cores = crate::distance::measure(&cores, Stops::default(), witness, effort).unwrap();
        let radius = match round % 4 {
            0 => 0.1,
            1 => of_cores.upper.max(1e-3),
            2 => of_cores.lower.max(1e-3).next_down(),
            _ => 1e6,
        };
        let radii = [radius / 4.0, radius - radius / 4.0];
        let pair = RoundedPair { cores, radii };
        let (apart, deep) = (distance(&pair), depth(&pair));
        assert_eq!(apart.proof.verdict, deep.proof.verdict);
        counts[apart.proof.verdict as usize] += 1;
    }
    assert!(counts.iter().filter(|count| **count > 300).count() >= 2, "{counts:?}");
}

/// The root of a sum of squares, less the radii, when they differ by an ulp: nearly all digits of
/// both are the same.
#[test]
fn balls_an_ulp_from_touching_have_their_distance_to_the_last_digits() {
    let point = hull(&[[0.0; 3]]);
    for scale in [1.0, 1e100, 1e-100] {
        let cores = Pair::new(
            &point,
            Pose::identity(),
            &point,
            Pose::translation(3.0 * scale, 4.0 * scale, 0.0),
        );
        let length = 5.0 * scale;
        for (radii, verdict) in [
            ([length, 0.0], Verdict::Touching),
            ([length.next_down(), 0.0], Verdict::Separated),
            ([length.next_up(), 0.0], Verdict::Overlapping),
        ] {
            let pair = RoundedPair { cores, radii };
            let (apart, deep) = (distance(&pair), depth(&pair));
            if !(0.5..=2.0).contains(&scale) {
                continue;
            }
            assert_eq!(apart.proof.verdict, verdict);
            let ulp = (radii[0] - length).abs();
            let bounds = match verdict {
                Verdict::Overlapping => [deep.lower, deep.upper],
                Verdict::Separated | Verdict::Touching => [apart.lower, apart.upper],
            };
            assert!(bounds[0] <= ulp && ulp <= bounds[1], "{bounds:?} {ulp}");
        }
    }
    // No f64 number is the distance of these, which is √2: the square of the bracket's ends and the
    // radius, summed, lie on both sides of 2.
    let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(1.0, 1.0, 0.0));
    let below = 2f64.sqrt().next_down();
    let found = distance(&RoundedPair { cores, radii: [below, 0.0] });
    let squared = |end: f64| {
        let sum = &Dyadic::from(below) + &Dyadic::from(end);
        (&sum * &sum).cmp(&Dyadic::from(2.0))
    };
    assert_eq!([found.lower, found.upper].map(squared), [Ordering::Less, Ordering::Greater]);
    assert!(found.upper < 4e-16 && is_narrow([found.lower, found.upper]), "{found:?}");
}

/// Two balls are as deep as the sum of the radii less the distance of their middles; a ball in a
/// box gets out by the nearest face.
#[test]
fn depths_and_ways_out_are_those_of_the_closed_forms() {
    let (point, cube) = (hull(&[[0.0; 3]]), cuboid(1.0, 1.0, 1.0));
    let of = |cores, radii| depth(&RoundedPair { cores, radii });
    let at = Pose::translation(1.0, 0.0, 0.0);
    let found = of(Pair::new(&point, Pose::identity(), &point, at), [2.0, 0.25]);
    assert!(found.lower <= 1.25 && 1.25 <= found.upper, "{found:?}");
    assert!((found.direction - Vec3::new(-1.0, 0.0, 0.0)).norm() < 1e-15, "{found:?}");
    // Of one middle every way is as long.
    let same = of(Pair::new(&point, Pose::identity(), &point, Pose::identity()), [2.0, 0.25]);
    assert!(same.lower <= 2.25 && 2.25 <= same.upper, "{same:?}");
    // The cube reaches from -1 to 1; the ball's middle is 0.25 below its upper face.
    let at = Pose::translation(0.0, 0.5, 0.75);
    let found = of(Pair::new(&cube, Pose::identity(), &point, at), [0.0, 0.5]);
    assert!(found.lower <= 0.75 && 0.75 <= found.upper, "{found:?}");
    assert!((found.direction - Vec3::new(0.0, 0.0, -1.0)).norm() < 1e-15, "{found:?}");
    // On the face the polytopes touch.
    let at = Pose::translation(0.0, 0.5, 1.0);
    let found = of(Pair::new(&cube, Pose::identity(), &point, at), [0.0, 0.5]);
    assert_eq!([found.lower.to_bits(), found.upper.to_bits()], [0.5f64.to_bits(); 2]);
}

/// Every way to search the polytopes' distance finds the same.
#[test]
fn every_method_has_the_same_verdict() {
    let mut random = Random(3);
    let (p, q) = (ellipsoid(40, [0.5, 0.4, 0.3], 1), cuboid(0.3, 0.4, 0.5));
    for round in 0..100 {
        let way = random.unit_vector() * (0.02 * f64::from(round));
        let cores = Pair::new(&p, random.pose(Vec3::zeros()), &q, random.pose(way));
        let pair = RoundedPair { cores, radii: [0.1, 0.2] };
        let verdicts = METHODS.iter().map(|method| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            measure(&pair, method, Stops::default(), witness, effort).unwrap().proof.verdict
        });
        let verdicts: Vec<Verdict> = verdicts.collect();
        assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "{verdicts:?}");
    }
}

fn first_contact_of(question: &Question<'_>, pair: &RoundedPair<'_>) -> RoundedFirstContact {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    let found = first_contact(&contact_time::METHODS[0], question, pair, witness, effort).unwrap();
    let none = FirstContact { t_contact: 0.0, ..contact_time_at_start() };
    let later = found.later.as_ref().unwrap_or(&none);
    let motion = MotionClaim { initial: None, ..later.into() };
    let initial = &found.initial.clone().into();
    let claim = RoundedMotionClaim { initial, start: found.start_pairs(), motion };
    let judged = judge_rounded_motion(&question.into(), pair.radii, &claim, effort);
    assert_eq!(judged, Ok(()), "{question:?} {found:?}");
    found
}

/// What is said of bodies that are in contact at t = 0.
fn contact_time_at_start() -> FirstContact {
    FirstContact {
        outcome: Outcome::Contact,
        t_free: 0.0,
        t_contact: 0.0,
        chain: Vec::new(),
        pairs: ArrayVec::new(),
        initial: StaticProof::Overlapping { pairs: ArrayVec::new() },
        stopped: None,
    }
}

/// Balls that fly past each other graze where their way is as far off as the radii, and not an ulp
/// farther off.
#[test]
fn balls_that_graze_meet_exactly_where_their_radii_say() {
    let point = hull(&[[0.0; 3]]);
    let from = Pose::translation(-4.0, 3.0, 0.0);
    let cores = Pair::new(&point, Pose::identity(), &point, from);
    let by = Motion::Linear { velocity: Vec3::new(8.0, 0.0, 0.0) };
    for (radii, outcome) in [
        ([1.0, 2.0], Outcome::Contact),
        ([1.0, 2f64.next_down()], Outcome::NoContact),
        // This sum is no f64 number.
        ([3.0, f64::MIN_POSITIVE], Outcome::Contact),
        ([3f64.next_down(), f64::MIN_POSITIVE], Outcome::NoContact),
        ([2.0, 3.0], Outcome::Contact),
        ([3.0, 3.0], Outcome::Contact),
    ] {
        let pair = RoundedPair { cores, radii };
        let reach = Reach::of_rounded(radii, 0.0);
        let question = Question { reach, ..Question::new(cores, Motion::rest(), by) };
        let found = first_contact_of(&question, &pair);
        assert_eq!(found.outcome(), outcome, "{radii:?} {found:?}");
        let Some(later) = found.later else {
            assert!(radii[0] + radii[1] >= 5.0);
            continue;
        };
        if outcome == Outcome::Contact {
            let sum: f64 = radii[0] + radii[1];
            let time = (4.0 - (sum * sum - 9.0).sqrt()) / 8.0;
            assert!((later.t_free - time).abs() < 1e-9, "{time} {later:?}");
        }
    }
}

/// Bodies that turn and fly, also with a margin: what is free is farther apart than the radii at
/// every sample, and contact is within them.
#[test]
fn first_contacts_of_turning_bodies_are_proven_and_samples_agree() {
    let mut random = Random(8);
    let bodies = [
        hull(&[[0.0; 3]]),
        hull(&[[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]),
        cuboid(0.4, 0.5, 0.6),
        ellipsoid(40, [0.5, 0.4, 0.3], 7),
    ];
    let mut counts = [0; 3];
    for round in 0..160 {
        let (p, q) = (&bodies[round % 4], &bodies[round / 4 % 4]);
        let (way, angle) = (random.unit_vector() * 2.5, random.bits() as f64 / 2f64.powi(63));
        let cores = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(way));
        let velocity = -way * 1.5 + random.unit_vector() * 2.0;
        let axis = random.unit_vector();
        let motion = Motion::Screw { pivot: None, velocity, axis, angle };
        let radii = [0.3, 0.1 + 1e-17];
        let pair = RoundedPair { cores, radii };
        let reach = Reach::of_rounded(radii, if round % 3 == 0 { 0.05 } else { 0.0 });
        let question = Question { reach, ..Question::new(cores, Motion::rest(), motion) };
        let found = first_contact_of(&question, &pair);
        counts[found.outcome() as usize] += 1;
        let Some(later) = found.later else { continue };
        let at = |t: f64| {
            let pose = motion.pose_rounded(&cores.q.pose, t);
            let cores = Pair::new(p, cores.p.pose, q, pose);
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            crate::distance::measure(&cores, Stops::default(), witness, effort).unwrap()
        };
        for k in 0..=50 {
            let t = later.t_free * f64::from(k) / 50.0;
            assert!(at(t).upper > reach.lower() - 1e-12, "{round}: free at {t}");
        }
        if later.outcome == Outcome::Contact {
            assert!(at(later.t_contact).lower < reach.upper() + 1e-9, "{round}: {later:?}");
        }
    }
    assert!(counts[0] > 40 && counts[1] > 10, "{counts:?}");
}
