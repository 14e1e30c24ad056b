//! Depths against analytic cases, brute force over all facet normals, and the judge.

use super::*;
use crate::claim::Verdict;
use crate::difference::bounded::BoundedView;
use crate::judge::judge_depth;
use crate::number::dyadic::Dyadic;
use crate::pair::Placed;
use crate::pose::Pose;
use crate::samples::{Random, ball, cuboid, ellipsoid, hull};

fn measured(pair: &Pair<'_>) -> Depth {
    measure(pair, true, &mut Witness::default(), &mut Effort::unlimited()).unwrap()
}

/// The face that the depth is measured to, after the judge has accepted the bracket.
fn proven_face<'a>(pair: &Pair<'_>, found: &'a Depth) -> &'a Direction {
    let (face, surface) = (found.face.as_ref().unwrap(), found.surface.as_ref());
    let Depth { lower, upper, .. } = *found;
    assert!(surface.is_some());
    assert_eq!(judge_depth(pair, [lower, upper], face, surface, &mut Effort::unlimited()), Ok(()));
    face
}

/// Measures, has the answer judged, and holds the bracket to its width.
fn judged(pair: &Pair<'_>) -> Depth {
    let found = measured(pair);
    if found.decision.verdict() == Verdict::Overlapping {
        let face = proven_face(pair, &found);
        assert!(matches!(face, Direction::Normal { .. }));
        assert!(found.lower > 0.0 && found.upper - found.lower <= 1e-12 * found.lower);
        assert!((found.direction.norm() - 1.0).abs() < 1e-12);
    } else {
        assert_eq!([found.lower, found.upper], [0.0, 0.0]);
        assert!(found.face.is_none() && found.surface.is_none());
    }
    found
}

fn check_depth(pair: &Pair<'_>, expected: f64) {
    let found = judged(pair);
    assert!(
        found.lower <= expected && expected <= found.upper,
        "{expected} in [{}, {}]",
        found.lower,
        found.upper
    );
}

#[test]
fn boxes_are_as_deep_as_their_least_overlap() {
    let (unit, plate) = (cuboid(0.5, 0.5, 0.5), cuboid(2.0, 3.0, 0.25));
    let at = Pose::translation;
    let origin = Pose::identity();
    check_depth(&Pair::new(&unit, origin, &unit, at(0.75, 0.5, 0.125)), 0.25);
    check_depth(&Pair::new(&unit, origin, &plate, at(0.0, 0.0, 0.0)), 0.75);
    check_depth(&Pair::new(&unit, origin, &plate, at(0.125, -1.5, 0.625)), 0.125);
    check_depth(&Pair::new(&unit, origin, &unit, origin), 1.0);
    let ulp = f64::EPSILON;
    check_depth(&Pair::new(&unit, origin, &unit, at(1.0 - ulp, 0.25, 0.0)), ulp);
    check_depth(&Pair::new(&unit, at(1e6, 0.0, 0.0), &unit, at(1e6 + 0.75, 0.0, 0.0)), 0.25);
    // Touching and separated.
    check_depth(&Pair::new(&unit, origin, &unit, at(1.0, 0.25, 0.0)), 0.0);
    check_depth(&Pair::new(&unit, origin, &unit, at(1.5, 0.25, 0.0)), 0.0);
}

#[test]
fn moving_by_the_depth_along_the_direction_separates() {
    let (a, b) = (ball(60, 1), ellipsoid(40, [1.5, 0.4, 0.9], 2));
    let mut random = Random(3);
    for _ in 0..10 {
        let (pose_a, pose_b) = (random.pose(Vec3::zeros()), random.pose(Vec3::new(0.4, 0.3, 0.1)));
        let found = judged(&Pair::new(&a, pose_a, &b, pose_b));
        for (factor, verdict) in
            [(1.0 + 1e-9, Verdict::Separated), (1.0 - 1e-9, Verdict::Overlapping)]
        {
            let mut moved = pose_a;
            moved.translation += found.direction * found.upper * factor;
            assert_eq!(measured(&Pair::new(&a, moved, &b, pose_b)).decision.verdict(), verdict);
        }
    }
}

#[test]
fn flat_bodies_crossing_a_solid_or_each_other_are_measured_where_m_is_solid() {
    let square = hull(
        &[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|[x, y]| Vec3::new(x, y, 0.0)),
    );
    let upright = hull(
        &[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|[x, z]| Vec3::new(x, 0.0, z)),
    );
    let point = hull(&[Vec3::zeros()]);
    let at = Pose::translation;
    check_depth(&Pair::new(&square, at(0.0, 0.0, 0.75), &upright, Pose::identity()), 0.25);
    check_depth(
        &Pair::new(&point, at(0.0, 0.25, 0.0), &cuboid(1.0, 1.0, 1.0), Pose::identity()),
        0.75,
    );
    check_depth(&Pair::new(&square, Pose::identity(), &square, at(0.5, 0.5, 0.0)), 0.0);
    check_depth(&Pair::new(&point, Pose::identity(), &square, Pose::identity()), 0.0);
}

type Whole = [i128; 3];

fn dot(a: Whole, b: Whole) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Whole, b: Whole) -> Whole {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Whole, b: Whole) -> Whole {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Squared depth as a fraction: the least over all cross products of two differences of vertices
/// of one body, which every facet normal of M is among.
fn brute_force_squared(p: &[Whole], q: &[Whole]) -> Option<(i128, i128)> {
    let within = |body: &[Whole]| -> Vec<Whole> {
        body.iter().flat_map(|a| body.iter().map(|b| minus(*a, *b))).collect()
    };
    let edges: Vec<Whole> = within(p).into_iter().chain(within(q)).collect();
    let mut best: Option<(i128, i128)> = None;
    for &a in &edges {
        for &b in &edges {
            let n = cross(a, b);
            let height =
                q.iter().map(|y| dot(n, *y)).max()? - p.iter().map(|x| dot(n, *x)).min()?;
            let length = dot(n, n);
            if length > 0 && best.is_none_or(|(h, l)| height * height * l < h * length) {
                best = Some((height * height, length));
            }
        }
    }
    best
}

#[test]
fn small_integer_bodies_agree_with_brute_force() {
    let mut random = Random(77);
    let mut overlapping = 0;
    for round in 0..300 {
        let mut body = |count: u32, extent: u32| -> Vec<Whole> {
            let mut coordinate = || i128::from(random.below(2 * extent + 1)) - i128::from(extent);
            (0..count).map(|_| [coordinate(), coordinate(), coordinate()]).collect()
        };
        let (p, q) = (body(2 + round % 5, 1 + round % 4), body(5, 3));
        let solid = |points: &[Whole]| {
            hull(&points.iter().map(|p| Vec3::from_fn(|k, _| p[k] as f64)).collect::<Vec<_>>())
        };
        let (body_p, body_q) = (solid(&p), solid(&q));
        let found = judged(&Pair::new(&body_p, Pose::identity(), &body_q, Pose::identity()));
        if found.decision.verdict() != Verdict::Overlapping {
            continue;
        }
        overlapping += 1;
        let (height_squared, length) = brute_force_squared(&p, &q).unwrap();
        let scaled = |x: f64| {
            let x = Dyadic::from(x);
            &(&x * &x) * &Dyadic::new(length.into(), 0)
        };
        let exact = Dyadic::new(height_squared.into(), 0);
        assert!(scaled(found.lower) <= exact && exact <= scaled(found.upper), "round {round}");
    }
    assert!(overlapping > 80, "{overlapping} overlapping");
}

#[test]
fn scaling_by_a_power_of_two_scales_the_depth() {
    let points_a = [[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.1, 1.0, 0.3], [0.2, 0.1, 1.0]];
    let points_b = points_a.map(|p| [p[0] - 0.1, p[1] + 0.12, p[2] + 0.07]);
    let bracket = |k: i32| {
        let scale = 2f64.powi(k / 2) * 2f64.powi(k - k / 2);
        let scaled = |points: &[[f64; 3]; 4]| {
            hull(&points.map(|p| Vec3::new(p[0] * scale, p[1] * scale, p[2] * scale)))
        };
        let (a, b) = (scaled(&points_a), scaled(&points_b));
        let found = judged(&Pair::new(&a, Pose::identity(), &b, Pose::identity()));
        assert_eq!(found.decision.verdict(), Verdict::Overlapping);
        [found.lower / scale, found.upper / scale]
    };
    let [lower, upper] = bracket(0);
    for k in [-900, -500, -60, 60, 500, 900] {
        let [low, high] = bracket(k);
        assert!(low <= upper && lower <= high, "2^{k}");
    }
}

#[test]
fn slivers_are_measured_across_their_thin_side() {
    let thin = 1e-9;
    let (blade, block) = (cuboid(1.0, 1.0, thin), cuboid(0.5, 0.5, 0.5));
    check_depth(&Pair::new(&blade, Pose::identity(), &blade, Pose::identity()), 2.0 * thin);
    let found = judged(&Pair::new(&blade, Pose::identity(), &block, Pose::identity()));
    assert!((found.lower - 0.5).abs() < 1e-8);
    let mut random = Random(9);
    for _ in 0..10 {
        let turned = random.pose(Vec3::new(0.1, 0.2, 0.0));
        judged(&Pair::new(&blade, Pose::identity(), &blade, turned));
    }
}

/// Both bodies are needles blurred by 1e-12 along one line. The normal of a face is smaller than
/// the error of its f64 value, and the upper bound of its distance once came out negative.
#[test]
fn a_face_thinner_than_its_rounding_is_measured_exactly() {
    let needle = |points: &[[f64; 3]]| hull(&points.iter().map(|&p| p.into()).collect::<Vec<_>>());
    let a = needle(&[
        [-4.0, -8.0, -12.0],
        [0.0, 1e-12, 0.0],
        [5.0, 10.0, 15.0],
        [5.0, 10.0, 15.0],
        [-3.0, -5.999999999999, -9.0],
        [-5.0, -10.0, -15.0],
    ]);
    let b = needle(&[
        [3.0, 5.999999999999, 9.0],
        [-5.0, -9.999999999999, -15.000000000001],
        [-2.0, -4.000000000001, -6.0],
        [-6.0, -12.0, -17.999999999999],
    ]);
    check_depth(&Pair::new(&a, Pose::identity(), &b, Pose::identity()), 1.043692328084325e-13);
}

#[test]
fn a_budget_that_runs_out_leaves_a_true_bracket() {
    let (a, b) = (ball(150, 5), ball(150, 6));
    let pair = Pair::new(&a, Pose::identity(), &b, Pose::translation(0.3, 0.2, 0.1));
    let full = judged(&pair);
    let (mut early, mut whole) = (0, 0);
    for steps in 0..60 {
        let mut effort = Effort::with_steps(steps);
        let Ok(found) = measure(&pair, true, &mut Witness::default(), &mut effort) else {
            continue;
        };
        proven_face(&pair, &found);
        assert!(found.lower <= full.upper && full.lower <= found.upper, "{steps} steps");
        if found.stopped.is_some() { early += 1 } else { whole += 1 }
    }
    assert!(early > 3 && whole > 3, "{early} stopped, {whole} not");
}

#[test]
fn large_nested_hulls_are_measured_to_the_last_bits() {
    let (a, b) = (ball(2000, 11), ball(2000, 12));
    let pair = Pair::new(&a, Pose::identity(), &b, Pose::translation(0.01, 0.02, 0.03));
    let found = measure(&pair, false, &mut Witness::default(), &mut Effort::unlimited()).unwrap();
    assert!(found.upper - found.lower <= 1e-12 * found.lower);
    assert!(1.9 < found.lower && found.upper < 2.0);
}

/// The square of a face's normal, of the fourth degree in lengths, underflowed: the lower bound was
/// larger than the body by fourteen orders of magnitude.
#[test]
fn depths_near_the_ends_of_the_safe_range_are_brackets() {
    for exponent in [-301, -299, -280, -270, -250, 250, 255, 270, 290, 298] {
        let unit = 2f64.powi(exponent);
        let corners = [Vec3::x(), Vec3::y(), Vec3::z()];
        let points: Vec<Vec3> = corners.iter().flat_map(|c| [c * unit, -c * unit]).collect();
        let body = crate::samples::hull(&points);
        let pair = Pair::new(&body, Pose::identity(), &body, Pose::identity());
        let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
        let found = measure(&pair, true, &mut witness, &mut effort).unwrap();
        // Twice the distance of a face.
        let depth = 2.0 / 3f64.sqrt();
        let [lower, upper] = [found.lower, found.upper].map(|bound| bound / unit);
        assert!(lower <= depth * (1.0 + 1e-15) && depth <= upper * (1.0 + 1e-15), "{exponent}");
        assert!(upper - lower <= 1e-12 * upper, "{exponent}: {lower} {upper}");
    }
}

/// Along what is said without proof the bodies overlap hardly more than they are deep.
#[test]
fn the_way_out_is_as_short_as_the_depth() {
    let mut random = Random(71);
    let (mut deep, mut quick) = (0, 0);
    for seed in 0..400 {
        let p = match seed % 4 {
            0 => cuboid(1.0, 0.8, 0.6),
            1 => hull(&[Vec3::zeros()]),
            _ => ball(6 + (seed as u32) % 40, seed),
        };
        let q = ellipsoid(5 + (seed as u32) % 30, [1.0, 0.7, 0.1], seed + 1000);
        let place = random.vector() * 0.8;
        let pair = Pair::new(&p, random.pose(place), &q, random.pose(Vec3::zeros()));
        let mut effort = Effort::unlimited();
        let depth = measure(&pair, false, &mut Witness::default(), &mut effort).unwrap();
        let StaticProof::Overlapping { pairs } = &depth.decision.proof else { continue };
        let way = way_out(&pair, pairs, &mut effort).unwrap();
        let reach = |placed: &Placed<'_>, s: &Vec3| {
            let placed =
                placed.body.vertices().iter().map(|v| s.dot(&placed.pose.apply_rounded(v)));
            placed.fold(f64::NEG_INFINITY, f64::max)
        };
        let length = reach(&pair.q, &way) + reach(&pair.p, &-way);
        assert!((length - depth.upper).abs() < 1e-9, "seed {seed}: {length} {}", depth.upper);
        deep += 1;
        let view = BoundedView::new(&pair);
        let found = rounded_shell::nearest_normal(&view, pairs, &mut effort).unwrap();
        quick += usize::from(found == Some(way));
    }
    assert!(deep > 180 && quick * 20 > deep * 19, "{deep} deep, {quick} of them quickly");
}
