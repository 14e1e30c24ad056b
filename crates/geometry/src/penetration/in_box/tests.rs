//! The pass against the search in exact arithmetic.

use super::*;
use crate::claim::Verdict;
use crate::effort::Effort;
use crate::penetration::measure;
use crate::polytope::Polytope;
use crate::samples::{Random, ball, cuboid, ellipsoid, hull, lattice};
use crate::witness::Witness;

const NONE: f64 = f64::NEG_INFINITY;

/// The pass and the search in exact arithmetic on one pair; whether the pass was certain.
fn agree(pair: &Pair<'_>) -> bool {
    let exact = measure(pair, false, &mut Witness::default(), &mut Effort::unlimited()).unwrap();
    let memory = &mut BoxDepthMemory::default();
    let BoxDepth::Deep { lower, upper, direction } = depth_in_box(pair, NONE, memory) else {
        return false;
    };
    assert_eq!(exact.decision.verdict(), Verdict::Overlapping);
    assert!(lower <= exact.upper && exact.lower <= upper, "[{lower}, {upper}] {exact:?}");
    let size = pair.p.body.bounds().radius.min(pair.q.body.bounds().radius);
    assert!(0.0 < lower && upper - lower <= 1.01e-12 * size, "{lower} {upper}");
    let most = depth_at_most(pair, memory);
    assert!(exact.upper <= most && most.is_finite(), "{most} {exact:?}");
    assert!((direction.norm() - 1.0).abs() < 1e-9);
    // Twice the way has to separate; and half of it does not.
    let moved = |share: f64| {
        let mut moved = *pair;
        moved.p.pose.translation += direction * (upper * share);
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        measure(&moved, false, witness, effort).unwrap().decision.verdict()
    };
    assert_eq!([moved(0.999), moved(1.001)], [Verdict::Overlapping, Verdict::Separated]);
    // What is known already is told from what is deeper.
    assert_eq!(depth_in_box(pair, upper * 1.001, memory), BoxDepth::Shallow);
    assert!(matches!(depth_in_box(pair, lower * 0.999, memory), BoxDepth::Deep { .. }));
    true
}

fn bodies(random: &mut Random) -> Vec<Polytope> {
    let mut all = vec![
        cuboid(0.5, 0.2, 0.1),
        cuboid(1e-3, 0.7, 0.4),
        ball(40, 1),
        ball(200, 2),
        ellipsoid(120, [1.0, 0.3, 0.05], 5),
        hull(&[Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()]),
    ];
    all.extend((0..30).map(|_| lattice(random)).filter(|body| body.dimension() == 3));
    all
}

#[test]
fn depths_in_boxes_are_those_of_exact_arithmetic() {
    let mut random = Random(11);
    let bodies = bodies(&mut random);
    let cuboids = [cuboid(0.3, 0.4, 0.5), cuboid(1.0, 0.05, 0.6), cuboid(0.01, 0.01, 1.5)];
    let (mut deep, mut certain) = (0, 0);
    for round in 0..1200 {
        let body = &bodies[round % bodies.len()];
        let cuboid = &cuboids[round % 3];
        let (at, beside) = (random.vector(), random.vector() * 0.6);
        let [a, b] = [random.pose(at), random.pose(at + beside)];
        let pair = match round % 2 {
            0 => Pair::new(body, a, cuboid, b),
            _ => Pair::new(cuboid, b, body, a),
        };
        let exact =
            measure(&pair, false, &mut Witness::default(), &mut Effort::unlimited()).unwrap();
        let is_certain = agree(&pair);
        if exact.lower > 1e-9 {
            deep += 1;
            certain += usize::from(is_certain);
        }
    }
    assert!(deep > 400 && certain * 100 > deep * 99, "{certain} of {deep}");
}

#[test]
fn parallel_edges_skewed_rotations_and_bodies_without_a_box_are_never_wrong() {
    let (solid, plate) = (cuboid(0.5, 0.3, 0.2), cuboid(0.8, 0.6, 0.25));
    for (x, y) in [(0.75, 0.5), (1.125, 0.0), (0.0, 0.75), (1.0, 0.625)] {
        let pair = Pair::new(&solid, Pose::identity(), &plate, Pose::translation(x, y, 0.125));
        assert!(agree(&pair), "{x} {y}");
    }
    // A matrix in single precision is legal, and too far from a rotation for a narrow bracket.
    let mut skewed = Pose::translation(0.3, 0.1, 0.2);
    skewed.rotation[(0, 1)] = 3e-7;
    agree(&Pair::new(&solid, skewed, &plate, Pose::identity()));
    let memory = &mut BoxDepthMemory::default();
    let far = Pair::new(&solid, Pose::identity(), &plate, Pose::translation(9.0, 0.0, 0.0));
    assert_eq!(depth_in_box(&far, NONE, memory), BoxDepth::Unknown);
    assert_eq!(depth_in_box(&far, 0.0, memory), BoxDepth::Shallow);
    let round = ball(40, 3);
    let both = Pair::new(&round, Pose::identity(), &round, Pose::translation(0.1, 0.0, 0.0));
    assert_eq!(depth_in_box(&both, 0.0, memory), BoxDepth::Unknown);
}

#[test]
fn no_two_solids_are_deeper_than_the_bound_by_their_boxes() {
    let (mut random, mut memory) = (Random(23), BoxDepthMemory::default());
    let bodies = [ellipsoid(40, [0.5, 0.3, 0.2], 1), ball(60, 2), cuboid(0.4, 0.5, 0.6)];
    let (mut deep, mut close) = (0, 0);
    for round in 0..200 {
        let (p, q) = (&bodies[round % 3], &bodies[round / 3 % 3]);
        let way = random.unit_vector() * 0.3;
        let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(way));
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let exact = measure(&pair, false, witness, effort).unwrap();
        let most = depth_at_most(&pair, &mut memory);
        assert!(exact.upper <= most, "round {round}: {most} {exact:?}");
        deep += usize::from(exact.upper > 0.0);
        close += usize::from(most < 1.5 * exact.upper);
    }
    assert!(deep > 100 && close > 50, "{deep} {close}");
}
