//! Distances against analytic cases, brute force over all features, and laws.

use super::*;
use crate::geometry::certificate::Verdict;
use crate::geometry::hull::convex_hull;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::Pose;

/// A small linear congruential generator; only the high bits are used.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn unit(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
    }

    fn pose(&mut self, reach: f64) -> Pose {
        let t = Vec3::new(self.unit(), self.unit(), self.unit()) * reach;
        Pose::from_quaternion(t, [self.unit(), self.unit(), self.unit(), 0.1]).unwrap()
    }

    fn ball(&mut self, points: usize) -> Polytope {
        let points: Vec<Vec3> = (0..points)
            .map(|_| Vec3::new(self.unit(), self.unit(), self.unit()).normalize())
            .collect();
        convex_hull(&points).unwrap().polytope
    }
}

fn hull(points: &[[f64; 3]]) -> Polytope {
    let points: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], p[2])).collect();
    convex_hull(&points).unwrap().polytope
}

fn measured(pair: &Pair<'_>) -> Distance {
    let mut witness = Witness::default();
    measure(pair, Stops::default(), &mut witness, &mut Effort::unlimited()).unwrap()
}

fn check_distance(pair: &Pair<'_>, expected: f64) {
    let found = measured(pair);
    assert_eq!(found.decision.verdict(), Verdict::Separated);
    assert!(
        found.lower <= expected && expected <= found.upper,
        "{expected} in [{}, {}]",
        found.lower,
        found.upper
    );
    assert!(found.upper - found.lower <= WIDTH_MAX * found.lower);
    assert!((1..=3).contains(&found.pairs.len()));
}

#[test]
fn points_and_segments_have_the_distance_of_the_schoolbook() {
    let point = hull(&[[0.0, 0.0, 0.0]]);
    let segment = hull(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    let across = hull(&[[0.0, -1.0, 3.0], [0.0, 1.0, 3.0]]);
    let identity = Pose::identity();
    check_distance(&Pair::new(&point, Pose::translation(0.0, 3.0, 4.0), &segment, identity), 5.0);
    check_distance(&Pair::new(&point, Pose::translation(4.0, 4.0, 0.0), &segment, identity), 5.0);
    check_distance(&Pair::new(&segment, identity, &across, identity), 3.0);
    // Parallel: the nearest points are not unique.
    check_distance(&Pair::new(&segment, identity, &segment, Pose::translation(1.0, 2.0, 0.0)), 2.0);
}

#[test]
fn the_bracket_of_turned_bodies_encloses_the_exact_one() {
    let mut random = Random(7);
    let (mut quick, mut exact_stages) = (0, 0);
    for round in 0..200 {
        let (a, b) = (random.ball(30), random.ball(12));
        let reach = [3.0, 1.6, 1.2][round % 3];
        let (pose_a, pose_b) = (random.pose(reach), random.pose(reach));
        let pair = Pair::new(&a, pose_a, &b, pose_b);
        let mut effort = Effort::unlimited();
        let grid = Grid::new(&pair);
        let Some(nearest) = wolfe::nearest(&grid, &[], &mut effort).unwrap() else { continue };
        let [low, high] = nearest.length(&grid);
        let mut effort = Effort::unlimited();
        let found = measure(&pair, Stops::default(), &mut Witness::default(), &mut effort).unwrap();
        assert!(found.lower <= high && low <= found.upper, "round {round}");
        assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "round {round}");
        let [p, q] = nearest.closest(&grid);
        assert!((found.closest_p - p).norm() < 1e-9 && (found.closest_q - q).norm() < 1e-9);
        if effort.cost.exact_stages == 0 { quick += 1 } else { exact_stages += 1 }
    }
    assert!(quick > 50, "{quick} quick, {exact_stages} exact");
}

#[test]
fn within_a_margin_is_decided_to_the_last_bit() {
    let point = hull(&[[0.0, 0.0, 0.0]]);
    let within = |x, y, z, margin| {
        let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(x, y, z));
        is_within(&pair, margin, &mut Witness::default(), &mut Effort::unlimited()).unwrap()
    };
    assert!(within(3.0, 4.0, 0.0, 5.0));
    assert!(!within(3.0, 4.0, 0.0, 5.0f64.next_down()));
    // The f64 nearest to the square root of two is above it.
    assert!(within(1.0, 1.0, 0.0, std::f64::consts::SQRT_2));
    assert!(!within(1.0, 1.0, 0.0, std::f64::consts::SQRT_2.next_down()));
    assert!(within(0.0, 0.0, 0.0, 0.0));
    assert!(!within(1e-300, 0.0, 0.0, 0.0));
    assert!(!within(2f64.powi(900), 0.0, 0.0, 2f64.powi(900).next_down()));
}

#[test]
fn any_witness_gives_a_bracket_of_the_same_distance() {
    let mut random = Random(5);
    let (a, b) = (random.ball(60), random.ball(60));
    let pair = Pair::new(&a, random.pose(0.1), &b, Pose::translation(2.5, 0.4, 0.2));
    let full = measured(&pair);
    let far = VertexPair { i: u32::MAX, j: 3 };
    let witnesses = [
        (Vec3::new(f64::NAN, 0.0, 0.0), vec![far]),
        (Vec3::new(1e300, 1e300, 0.0), vec![VertexPair { i: 1, j: 1 }; 6]),
        (Vec3::new(-1.0, 0.0, 0.0), vec![VertexPair { i: 7, j: 2 }, far]),
        (Vec3::zeros(), vec![]),
        (full.closest_q - full.closest_p, full.pairs.to_vec()),
    ];
    for (direction, pairs) in witnesses {
        let mut witness = Witness {
            direction: Some(direction),
            pairs: pairs.into_iter().collect(),
            ..Witness::default()
        };
        let found =
            measure(&pair, Stops::default(), &mut witness, &mut Effort::unlimited()).unwrap();
        assert!(found.lower <= full.upper && full.lower <= found.upper);
        assert!(found.upper - found.lower <= WIDTH_MAX * found.lower);
    }
}
