//! Distances against analytic cases, brute force over all features, and laws.

use super::*;
use crate::claim::Verdict;
use crate::hull::convex_hull;
use crate::judge::judge_distance;
use crate::number::dyadic::Dyadic;
use crate::number::outward;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{self, Random};

fn integer(random: &mut Random, low: i64, high: i64) -> i64 {
    low + i64::try_from(random.bits() >> 1).unwrap() % (high - low + 1)
}

/// Turned anyhow, at most `reach` from the origin along every axis.
fn pose(random: &mut Random, reach: f64) -> Pose {
    let translation = random.vector() * reach;
    random.pose(translation)
}

fn ball(random: &mut Random, points: usize) -> Polytope {
    let points: Vec<Vec3> = (0..points).map(|_| random.unit_vector()).collect();
    convex_hull(&points).unwrap().polytope
}

fn hull(points: &[[f64; 3]]) -> Polytope {
    let points: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], p[2])).collect();
    convex_hull(&points).unwrap().polytope
}

fn cuboid(low: [f64; 3], high: [f64; 3]) -> Polytope {
    let corner = |mask: usize| [0, 1, 2].map(|k| if mask >> k & 1 == 0 { low[k] } else { high[k] });
    hull(&(0..8).map(corner).collect::<Vec<_>>())
}

fn measured(pair: &Pair<'_>) -> Distance {
    let mut witness = Witness::default();
    measure(pair, Stops::default(), &mut witness, &mut Effort::unlimited()).unwrap()
}

/// Every method's bracket, on random bodies near and far, against that of the default.
#[test]
fn every_method_measures_the_same_distances() {
    let mut random = Random(23);
    let (mut separated, mut in_contact) = (0, 0);
    for round in 0..16 {
        let (a, b) = (ball(&mut random, 5 + round), ball(&mut random, 20 - round));
        let reach = if round % 2 == 0 { 1.3 } else { 4.0 };
        let pair = Pair::new(&a, pose(&mut random, 0.1), &b, pose(&mut random, reach));
        let expected = measured(&pair);
        match expected.decision.verdict() {
            Verdict::Separated => separated += 1,
            Verdict::Touching | Verdict::Overlapping => in_contact += 1,
        }
        for method in METHODS {
            let mut effort = Effort::unlimited();
            let mut witness = Witness::default();
            for warmth in ["cold", "warm"] {
                let found =
                    measure_by(method, &pair, Stops::default(), &mut witness, &mut effort).unwrap();
                let name = format!("{}, {warmth}, round {round}", method.name);
                assert_eq!(found.decision.verdict(), expected.decision.verdict(), "{name}");
                assert!(found.lower <= expected.upper && expected.lower <= found.upper, "{name}");
                assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "{name}");
            }
            let is_separated = expected.decision.verdict() == Verdict::Separated;
            assert!(
                !is_separated || effort.cost.exact_stages == 0,
                "{}, round {round}",
                method.name
            );
        }
    }
    assert!(separated > 3 && in_contact > 3, "{separated} separated, {in_contact} in contact");
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
fn axis_parallel_boxes_are_as_far_apart_as_their_gap() {
    let a = cuboid([0.0; 3], [1.0; 3]);
    let b = cuboid([0.0; 3], [2.0, 0.5, 1.0]);
    let at = |x, y, z| Pose::translation(x, y, z);
    check_distance(&Pair::new(&a, at(0.0, 0.0, 0.0), &b, at(3.0, 0.25, 0.0)), 2.0);
    check_distance(&Pair::new(&a, at(0.0, 0.0, 0.0), &b, at(4.0, 5.0, 0.0)), 5.0);
    check_distance(&Pair::new(&a, at(0.0, 0.0, 0.0), &b, at(3.0, 2.0, -4.0)), 14f64.sqrt());
    let ulp = f64::EPSILON;
    check_distance(&Pair::new(&a, at(0.0, 0.0, 0.0), &b, at(1.0 + ulp, 0.0, 0.0)), ulp);
    check_distance(&Pair::new(&a, at(1e6, 0.0, 7.0), &b, at(1e6 + 3.0, 0.25, 7.0)), 2.0);
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
fn scaling_by_a_power_of_two_scales_the_distance() {
    let points_a = [[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.1, 1.0, 0.3], [0.2, 0.1, 1.0]];
    let points_b = points_a.map(|p| [p[0] + 0.9, p[1] + 1.1, p[2] + 0.7]);
    let exact = |k: i64| {
        let scale = outward::power_of_two(k);
        let scaled = |points: &[[f64; 3]; 4]| hull(&points.map(|p| p.map(|c| c * scale)));
        let (a, b) = (scaled(&points_a), scaled(&points_b));
        let found = measured(&Pair::new(&a, Pose::identity(), &b, Pose::identity()));
        assert_eq!(found.decision.verdict(), Verdict::Separated);
        assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "2^{k}");
        [found.lower / scale, found.upper / scale]
    };
    let [lower, upper] = exact(0);
    for k in [-900, -500, -60, 60, 500, 900] {
        let [low, high] = exact(k);
        assert!(low <= upper && lower <= high, "2^{k}");
    }
}

#[test]
fn subnormal_gaps_are_measured() {
    let least = f64::from_bits(1);
    let a = hull(&[[0.0, 0.0, 0.0]]);
    let b = hull(&[[3.0 * least, 4.0 * least, 0.0]]);
    let found = measured(&Pair::new(&a, Pose::identity(), &b, Pose::identity()));
    assert_eq!([found.lower, found.upper], [5.0 * least; 2]);
    let far = hull(&[[2f64.powi(900), 0.0, 0.0], [2f64.powi(900), 1.0, 0.0]]);
    let found = measured(&Pair::new(&a, Pose::identity(), &far, Pose::identity()));
    assert!(found.lower <= 2f64.powi(900) && 2f64.powi(900) <= found.upper);
}

#[test]
fn contact_is_at_distance_zero_with_a_common_point() {
    let a = cuboid([0.0; 3], [1.0; 3]);
    for (x, verdict) in [(1.0, Verdict::Touching), (0.5, Verdict::Overlapping)] {
        let found = measured(&Pair::new(&a, Pose::identity(), &a, Pose::translation(x, 0.25, 0.0)));
        assert_eq!(found.decision.verdict(), verdict);
        assert_eq!([found.lower, found.upper], [0.0, 0.0]);
        assert!((found.closest_p - found.closest_q).norm() < 1e-12);
        let low = Vec3::new(x, 0.25, 0.0);
        for k in 0..3 {
            assert!((low[k] - 1e-12..=1.0 + 1e-12).contains(&found.closest_p[k]));
        }
    }
}

/// Squared distance from the origin to the hull of integer points as a fraction, by looking at
/// every point, segment and triangle; none when the origin is in one of them.
fn brute_force_squared(points: &[[i128; 3]]) -> Option<(i128, i128)> {
    let dot = |a: [i128; 3], b: [i128; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let minus = |a: [i128; 3], b: [i128; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross = |a: [i128; 3], b: [i128; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let mut best: Option<(i128, i128)> = None;
    let mut offer = |numerator: i128, denominator: i128| {
        if best.is_none_or(|(n, d)| numerator * d < n * denominator) {
            best = Some((numerator, denominator));
        }
    };
    for (x, &a) in points.iter().enumerate() {
        offer(dot(a, a), 1);
        for (y, &b) in points.iter().enumerate().skip(x + 1) {
            let e = minus(b, a);
            let along = -dot(a, e);
            if 0 < along && along < dot(e, e) {
                offer(dot(a, a) * dot(e, e) - along * along, dot(e, e));
            }
            for &c in &points[y + 1..] {
                let n = cross(e, minus(c, a));
                let height = dot(n, a);
                let inside = [(a, b), (b, c), (c, a)]
                    .iter()
                    .all(|&(from, to)| dot(n, cross(minus(to, from), minus([0; 3], from))) >= 0);
                if dot(n, n) > 0 && inside {
                    offer(height * height, dot(n, n));
                }
            }
        }
    }
    best.filter(|(numerator, _)| *numerator > 0)
}

#[test]
fn small_integer_bodies_agree_with_brute_force() {
    let mut random = Random(2024);
    let (mut separated, mut contacts) = (0, 0);
    for round in 0..400 {
        let mut body = |count: i64, extent: i64| -> Vec<[i64; 3]> {
            (0..count).map(|_| [0; 3].map(|_: i64| integer(&mut random, -extent, extent))).collect()
        };
        // Few points and a small extent: many are flat, collinear or coincide.
        let (count, extent) = (1 + round % 5, 1 + round % 3);
        let (p, q) = (body(count, extent), body(5, 2));
        let shift = [0; 3].map(|_: i64| integer(&mut random, -4, 4));
        let differences: Vec<[i128; 3]> = q
            .iter()
            .flat_map(|y| p.iter().map(|x| [0, 1, 2].map(|k| i128::from(y[k] + shift[k] - x[k]))))
            .collect();
        let float = |points: &[[i64; 3]]| {
            hull(&points.iter().map(|p| p.map(|c| c as f64)).collect::<Vec<_>>())
        };
        let (body_p, body_q) = (float(&p), float(&q));
        let offset = Pose::translation(shift[0] as f64, shift[1] as f64, shift[2] as f64);
        let pair = Pair::new(&body_p, Pose::identity(), &body_q, offset);
        // M may hold the origin without any triangle of its points doing so.
        let Some((numerator, denominator)) = brute_force_squared(&differences) else {
            contacts += 1;
            assert_ne!(measured(&pair).decision.verdict(), Verdict::Separated, "round {round}");
            continue;
        };
        let found = measured(&pair);
        if found.decision.verdict() != Verdict::Separated {
            contacts += 1;
            continue;
        }
        separated += 1;
        let scaled = |x: f64| {
            let x = Dyadic::from(x);
            &(&x * &x) * &Dyadic::new(denominator.into(), 0)
        };
        let exact = Dyadic::new(numerator.into(), 0);
        assert!(scaled(found.lower) <= exact && exact <= scaled(found.upper), "round {round}");
        assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "round {round}");
    }
    assert!(separated > 100 && contacts > 30, "{separated} separated, {contacts} in contact");
}

#[test]
fn the_bracket_of_turned_bodies_encloses_the_exact_one() {
    let mut random = Random(7);
    let (mut quick, mut exact_stages) = (0, 0);
    for round in 0..200 {
        let (a, b) = (ball(&mut random, 30), ball(&mut random, 12));
        let reach = [3.0, 1.6, 1.2][round % 3];
        let (pose_a, pose_b) = (pose(&mut random, reach), pose(&mut random, reach));
        let pair = Pair::new(&a, pose_a, &b, pose_b);
        let mut effort = Effort::unlimited();
        let m = Difference::new(&pair);
        let Some(nearest) = wolfe::nearest(&m, &[], &mut effort).unwrap() else { continue };
        let [low, high] = nearest.length(&m);
        let mut effort = Effort::unlimited();
        let found = measure(&pair, Stops::default(), &mut Witness::default(), &mut effort).unwrap();
        assert!(found.lower <= high && low <= found.upper, "round {round}");
        assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "round {round}");
        let [p, q] = nearest.closest(&m);
        assert!((found.closest_p - p).norm() < 1e-9 && (found.closest_q - q).norm() < 1e-9);
        if effort.cost.exact_stages == 0 { quick += 1 } else { exact_stages += 1 }
    }
    assert!(quick > 20 * exact_stages, "{quick} quick, {exact_stages} exact");
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
fn a_stop_ends_the_search_with_a_true_bracket() {
    let mut random = Random(11);
    let (a, b) = (ball(&mut random, 200), ball(&mut random, 200));
    let pair = Pair::new(&a, Pose::identity(), &b, Pose::translation(2.05, 0.4, 0.2));
    let full = measured(&pair);
    for stops in [
        Stops { above: Some(full.lower * 0.5), below: None },
        Stops { above: None, below: Some(full.upper * 2.0) },
    ] {
        let mut effort = Effort::unlimited();
        let found = measure(&pair, stops, &mut Witness::default(), &mut effort).unwrap();
        assert!(stops.are_met(found.lower, found.upper));
        assert!(found.lower <= full.upper && full.lower <= found.upper);
        assert_eq!(found.decision.verdict(), Verdict::Separated);
    }
    // A budget of one step either knows nothing or says that it stopped, truly.
    for steps in 0..12 {
        let mut effort = Effort::with_steps(steps);
        match measure(&pair, Stops::default(), &mut Witness::default(), &mut effort) {
            Err(why) => assert_eq!(why, Stopped::Steps),
            Ok(found) => {
                assert!(found.lower <= full.upper && full.lower <= found.upper, "{steps}");
            }
        }
    }
}

#[test]
fn any_witness_gives_a_bracket_of_the_same_distance() {
    let mut random = Random(5);
    let (a, b) = (ball(&mut random, 60), ball(&mut random, 60));
    let pair = Pair::new(&a, pose(&mut random, 0.1), &b, Pose::translation(2.5, 0.4, 0.2));
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

/// Needles along one line that overlap by 2e-10: their common point needs integers.
#[test]
fn the_common_point_of_needles_is_in_both() {
    let a = hull(&[
        [5.0, 10.0, 15.0],
        [7.0, 14.0, 21.0],
        [-1.0, -1.999999999, -3.0],
        [3.0, 6.000000001, 9.0],
    ]);
    let b = hull(&[
        [4.0, 7.999999999, 12.000000001],
        [5.0, 10.000000001, 14.999999999],
        [5.0, 9.999999999, 14.999999999],
        [1.0, 2.000000001, 3.000000001],
        [-4.0, -8.0, -12.000000001],
    ]);
    let found = measured(&Pair::new(&a, Pose::identity(), &b, Pose::identity()));
    assert_eq!(found.decision.verdict(), Verdict::Overlapping);
    assert!((found.closest_p - found.closest_q).norm() < 1e-14);
}

/// Parallel faces, level vertices and flat bodies at gaps from their size down to 1e-9 of it; every
/// bracket is held against the exact one and judged from scratch.
#[test]
fn every_kind_of_body_is_measured_and_judged_at_every_gap() {
    let mut random = Random(17);
    let zoo = samples::zoo();
    let (mut quick, mut exact_stages) = (0, 0);
    for (round, (name, a)) in zoo.iter().enumerate() {
        for (other, b) in zoo.iter().skip(round % 3).step_by(3) {
            let size = a.bounds().radius + b.bounds().radius;
            let plain = size > 1e-100 && size < 1e100 && a.vertex_count() + b.vertex_count() < 700;
            let turned = random.pose(Vec3::zeros());
            let direction = random.unit_vector();
            let pose_a = Pose::identity();
            let mut pose_b = if round % 2 == 0 { turned } else { Pose::identity() };
            // Far apart first, then moved to the gap along the shortest way.
            pose_b.translation = a.bounds().centre - b.bounds().centre + direction * (3.0 * size);
            for gap in [1.0, 1e-2, 1e-5, 1e-9] {
                let far = measured(&Pair::new(a, pose_a, b, pose_b));
                if !plain || far.decision.verdict() != Verdict::Separated {
                    break;
                }
                let way = (far.closest_q - far.closest_p) / far.lower;
                pose_b.translation -= way * (far.lower - gap * size);
                let pair = Pair::new(a, pose_a, b, pose_b);
                let mut effort = Effort::unlimited();
                let found =
                    measure(&pair, Stops::default(), &mut Witness::default(), &mut effort).unwrap();
                if found.decision.verdict() != Verdict::Separated {
                    break;
                }
                if effort.cost.exact_stages == 0 {
                    quick += 1
                } else {
                    exact_stages += 1
                }
                assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "{name} {other}");
                let m = Difference::new(&pair);
                let nearest = wolfe::nearest(&m, &[], &mut effort).unwrap().unwrap();
                let [low, high] = nearest.length(&m);
                assert!(found.lower <= high && low <= found.upper, "{name} {other} {gap}");
                let judged = judge_distance(&pair, found.lower, found.upper, &found.pairs);
                assert_eq!(judged, Ok(()), "{name} {other} {gap}");
            }
        }
    }
    assert!(quick > 100 && exact_stages > 10, "{quick} quick, {exact_stages} exact");
}

#[test]
fn a_distance_whose_features_stay_is_a_witness_hit_and_one_from_cold_is_not() {
    let (a, b) =
        (cuboid([0.0; 3], [1.0; 3]), hull(&[[0.2, 0.3, 3.0], [0.4, 0.5, 2.0], [0.7, 0.1, 3.5]]));
    let mut witness = Witness::default();
    let mut hits = |x: f64, z: f64| {
        let pair = Pair::new(&a, Pose::identity(), &b, Pose::translation(x, 0.0, z));
        let mut effort = Effort::unlimited();
        measure(&pair, Stops::default(), &mut witness, &mut effort).unwrap();
        effort.cost.witness_hits
    };
    assert_eq!(hits(0.0, 0.0), 0);
    assert_eq!(hits(0.0, 0.01), 1);
    // The nearest feature of the cuboid is another one now.
    assert_eq!(hits(3.0, -2.0), 0);
}

#[test]
fn between_balls_that_turned_far_a_witness_costs_what_none_costs() {
    let body = samples::ball(400, 3);
    let mut random = Random(57);
    let mut witness = Witness::default();
    for step in 0..20 {
        // Around the other ball by half a radian, which is five vertices.
        let angle = f64::from(step) * 0.5;
        let place = Vec3::new(angle.cos(), angle.sin(), 0.0) * 2.5;
        let pair = Pair::new(&body, pose(&mut random, 0.0), &body, random.pose(place));
        let cost = |witness: &mut Witness| {
            let mut effort = Effort::unlimited();
            measure(&pair, Stops::default(), witness, &mut effort).unwrap();
            (effort.cost.steps, effort.cost.supports, effort.cost.visited)
        };
        assert_eq!(cost(&mut witness), cost(&mut Witness::default()), "step {step}");
    }
}

/// From neighbour to neighbour alone a search goes along the needle one vertex a step: ten steps in
/// the mean where six or seven do.
#[test]
fn a_walk_along_a_needle_that_takes_long_asks_the_start_table() {
    let mut random = Random(29);
    let (needle, ball) = (samples::ellipsoid(400, [1.0, 0.02, 0.02], 3), ball(&mut random, 400));
    let mut effort = Effort::unlimited();
    for _ in 0..60 {
        let place = random.unit_vector() * 1.02;
        let pair = Pair::new(&needle, random.pose(Vec3::zeros()), &ball, random.pose(place));
        measure(&pair, Stops::default(), &mut Witness::default(), &mut effort).unwrap();
    }
    assert!(effort.cost.steps <= 8 * effort.cost.queries, "{:?}", effort.cost);
}

/// All corners of the base are level, and how far each may rise is in the bracket.
#[test]
fn over_a_face_of_many_corners_the_bracket_is_true_and_needs_no_exact_stage() {
    let mut random = Random(61);
    let cube = cuboid([0.0; 3], [1.0; 3]);
    for sides in [20, 60, 90] {
        let cone = samples::cone(sides);
        for _ in 0..8 {
            let turned = random.pose(Vec3::zeros());
            let below = turned.rotation * Vec3::new(0.1, 0.2, -2.0);
            let pair = Pair::new(&cone, turned, &cube, random.pose(below));
            let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
            let found = measure(&pair, Stops::default(), &mut witness, &mut effort).unwrap();
            let judged = judge_distance(&pair, found.lower, found.upper, &found.pairs);
            assert_eq!((judged, effort.cost.exact_stages), (Ok(()), 0));
            assert!(found.upper - found.lower <= WIDTH_MAX * found.lower);
        }
    }
}

mod far;
mod rounded;
