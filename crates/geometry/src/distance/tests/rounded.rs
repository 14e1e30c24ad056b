//! Rounded bodies against an exact reference that looks at every feature of M.

use std::cmp::Ordering;

use dashu_int::IBig;

use crate::claim::{Reach, RoundedProof, Verdict};
use crate::distance::compare_with_reach;
use crate::effort::Effort;
use crate::hull::convex_hull;
use crate::judge::{Refusal, judge_rounded};
use crate::pair::{Pair, VertexPair};
use crate::pose::Pose;
use crate::samples::Random;
use crate::witness::Witness;
use crate::{Mat3, Vec3};

type Whole = [i64; 3];

fn minus(a: Whole, b: Whole) -> Whole {
    [0, 1, 2].map(|k| a[k] - b[k])
}

fn cross(a: Whole, b: Whole) -> Whole {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Whole, b: Whole) -> i128 {
    (0..3).map(|k| i128::from(a[k]) * i128::from(b[k])).sum()
}

/// The least squared distance from the origin of the hull of points, as a fraction: over all
/// points, feet on segments and triangles, and tetrahedra with the origin inside.
fn squared_distance(points: &[Whole]) -> (i128, i128) {
    let mut best = (dot(points[0], points[0]), 1);
    let mut offer = |n: i128, d: i128| {
        if n * best.1 < best.0 * d {
            best = (n, d);
        }
    };
    for (i, &a) in points.iter().enumerate() {
        offer(dot(a, a), 1);
        for (j, &b) in points[..i].iter().enumerate() {
            let edge = minus(b, a);
            if dot(a, edge) < 0 && dot(b, edge) > 0 {
                let normal = cross(a, b);
                offer(dot(normal, normal), dot(edge, edge));
            }
            for (k, &c) in points[..j].iter().enumerate() {
                let n = cross(minus(b, a), minus(c, a));
                let sides = [(a, b), (b, c), (c, a)].map(|(x, y)| dot(n, cross(x, y)));
                if n != [0; 3] && sides.iter().all(|side| *side >= 0) {
                    offer(dot(n, a) * dot(n, a), dot(n, n));
                }
                for &d in &points[..k] {
                    let of = |x, y, z| dot(x, cross(y, z)).signum();
                    let signs = [of(b, c, d), -of(a, c, d), of(a, b, d), -of(a, b, c)];
                    if signs == [1; 4] || signs == [-1; 4] {
                        offer(0, 1);
                    }
                }
            }
        }
    }
    best
}

/// A number as a whole number of 2^-1074, the least that there is.
fn exact(x: f64) -> IBig {
    let (bits, exponent) = (x.to_bits(), (x.to_bits() >> 52) & 0x7ff);
    let mantissa = IBig::from(bits & ((1 << 52) - 1));
    match usize::try_from(exponent).unwrap() {
        0 => mantissa,
        exponent => (mantissa + (IBig::ONE << 52)) << (exponent - 1),
    }
}

/// How the distance compares with the sum of the radii.
fn reference((n, d): (i128, i128), radii: [f64; 2]) -> Ordering {
    let sum = exact(radii[0]) + exact(radii[1]);
    (IBig::from(n) << (2 * 1074)).cmp(&(&sum * &sum * IBig::from(d)))
}

fn below(random: &mut Random, count: u64) -> u64 {
    random.bits() % count
}

fn quarter_turn(random: &mut Random) -> [Whole; 3] {
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    ][below(random, 4) as usize]
}

fn whole(random: &mut Random, reach: i64) -> Whole {
    [0, 1, 2].map(|_| below(random, 2 * reach as u64 + 1) as i64 - reach)
}

/// Points, segments, triangles and tetrahedra on a grid, turned and moved, with radii that have
/// them apart, together, or as near to touching as f64 numbers get.
#[test]
fn a_walk_over_rounded_bodies_agrees_with_every_feature_of_the_difference() {
    let mut random = Random(77);
    let mut counts = [0; 3];
    for round in 0..4_000 {
        let mut body = |count: u64| {
            // Distances between bodies on a small grid, one beside the other, are often whole.
            let is_beside = round % 32 >= 16;
            let reach = if is_beside { 1 } else { 6 };
            let points: Vec<Whole> = (0..count).map(|_| whole(&mut random, reach)).collect();
            let [x, y, z] = whole(&mut random, 9);
            let (rows, t) =
                (quarter_turn(&mut random), if is_beside { [x, 0, 0] } else { [x, y, z] });
            let placed = points.iter().map(|&point| {
                [0, 1, 2].map(|k| i64::try_from(dot(rows[k], point)).unwrap() + t[k])
            });
            let placed: Vec<Whole> = placed.collect();
            let float = |v: Whole| Vec3::from(v.map(|x| x as f64));
            let floats: Vec<Vec3> = points.iter().map(|&point| float(point)).collect();
            let rotation = Mat3::from_fn(|row, column| rows[row][column] as f64);
            let pose = Pose { rotation, translation: float(t) };
            (placed, convex_hull(&floats).unwrap().polytope, pose)
        };
        let (p, hull_p, pose_p) = body(1 + round % 4);
        let (q, hull_q, pose_q) = body(1 + round / 4 % 4);
        let m: Vec<Whole> = p.iter().flat_map(|&p| q.iter().map(move |&q| minus(q, p))).collect();
        let squared = squared_distance(&m);
        let distance = (squared.0 as f64 / squared.1 as f64).sqrt();
        let sum = match below(&mut random, 6 + 6 * (round % 32 / 16)) {
            0 | 6.. => distance,
            1 => distance.next_up(),
            2 => distance.next_down(),
            3 => distance * 1e6 + 1.0,
            4 => distance * 0.75,
            5 => distance + 0.5,
        };
        let sum = sum.max(f64::MIN_POSITIVE);
        let radii = match below(&mut random, 5) {
            0 => [sum, 0.0],
            1 => [0.0, sum],
            2 => [sum / 4.0, sum - sum / 4.0],
            // These sums are no f64 numbers.
            3 => [sum, f64::MIN_POSITIVE],
            _ => [sum / 3.0, sum * 2.0 / 3.0],
        };
        let wanted = reference(squared, radii);
        let pair = Pair::new(&hull_p, pose_p, &hull_q, pose_q);
        let effort = &mut Effort::unlimited();
        let found = compare_with_reach(
            &pair,
            Reach::of_rounded(radii, 0.0),
            &mut Witness::default(),
            effort,
        )
        .unwrap();
        assert_eq!(found.order, wanted, "round {round}: {squared:?} {radii:?}");
        counts[(wanted as i8 + 1) as usize] += 1;
        let proof = found.proof();
        assert_eq!(judge_rounded(&pair, radii, &proof, effort), Ok(()), "round {round}");
        for verdict in [Verdict::Separated, Verdict::Touching, Verdict::Overlapping] {
            let other = RoundedProof { verdict, ..proof.clone() };
            let is_accepted = judge_rounded(&pair, radii, &other, effort).is_ok();
            assert_eq!(is_accepted, verdict == proof.verdict, "round {round}: {verdict:?}");
        }
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// Where bodies touch by construction, at any scale, an ulp of a radius tells.
#[test]
fn rounded_bodies_touch_where_they_are_made_to_and_an_ulp_either_way_they_do_not() {
    let hull = |points: &[[f64; 3]]| {
        let points: Vec<Vec3> = points.iter().map(|&point| point.into()).collect();
        convex_hull(&points).unwrap().polytope
    };
    for scale in [1.0, 2f64.powi(-500), 2f64.powi(900), 2f64.powi(-40)] {
        let s = |x: f64| x * scale;
        let (point, along_z) = (hull(&[[0.0; 3]]), hull(&[[0., 0., s(-8.)], [0., 0., s(8.)]]));
        let along_x = hull(&[[s(-8.), 0., 0.], [s(8.), 0., 0.]]);
        let corner = |i: u32| [0, 1, 2].map(|k| if i >> k & 1 == 1 { s(8.0) } else { s(-8.0) });
        let cube = hull(&(0..8).map(corner).collect::<Vec<_>>());
        for (name, p, q, at, distance) in [
            ("ball and ball", &point, &point, [3., 4., 0.], 5.0),
            ("ball and ball, in space", &point, &point, [2., 3., 6.], 7.0),
            ("ball and face", &cube, &point, [1., 2., 13.], 5.0),
            ("ball and edge", &cube, &point, [1., 11., 12.], 5.0),
            ("ball and corner", &cube, &point, [10., 11., 14.], 7.0),
            ("parallel capsules", &along_z, &along_z, [3., 4., 1.], 5.0),
            ("capsules end to end", &along_z, &along_z, [0., 0., 21.], 5.0),
            ("skew capsules", &along_z, &along_x, [1., 5., 1.], 5.0),
            ("capsule and edge", &cube, &along_z, [11., 12., 1.], 5.0),
        ] {
            let [x, y, z] = at.map(s);
            let pair = Pair::new(p, Pose::identity(), q, Pose::translation(x, y, z));
            let order = |radii: [f64; 2]| {
                let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
                let found =
                    compare_with_reach(&pair, Reach::of_rounded(radii, 0.0), witness, effort)
                        .unwrap();
                assert_eq!(judge_rounded(&pair, radii, &found.proof(), effort), Ok(()));
                found.order
            };
            let (one, other) = (s(1.25), s(distance - 1.25));
            assert_eq!(order([one, other]), Ordering::Equal, "{name} {scale:e}");
            assert_eq!(order([one, other.next_up()]), Ordering::Less, "{name} {scale:e}");
            assert_eq!(order([one, other.next_down()]), Ordering::Greater, "{name} {scale:e}");
            assert_eq!(order([one.next_up(), other]), Ordering::Less, "{name} {scale:e}");
            assert_eq!(order([s(distance), 0.0]), Ordering::Equal, "{name} {scale:e}");
            assert_eq!(order([s(distance), f64::MIN_POSITIVE]), Ordering::Less, "{name}");
            assert_eq!(order([s(1e6), s(1e6)]), Ordering::Less, "{name} {scale:e}");
        }
        // A ball within a ball, of one middle and of two.
        for x in [0.0, s(1.0)] {
            let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(x, 0., 0.));
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let reach = Reach::of_rounded([s(9.0), s(0.5)], 0.0);
            let found = compare_with_reach(&pair, reach, witness, effort).unwrap();
            assert_eq!(found.order, Ordering::Less);
            assert_eq!(judge_rounded(&pair, [s(9.0), s(0.5)], &found.proof(), effort), Ok(()));
        }
    }
}

/// A pair shows how far apart its points are; only the gap along it shows that no others are
/// nearer.
#[test]
fn a_pair_proves_nothing_beyond_overlap_where_another_one_is_nearer() {
    let hull = |points: &[[f64; 3]]| {
        let points: Vec<Vec3> = points.iter().map(|&point| point.into()).collect();
        convex_hull(&points).unwrap().polytope
    };
    let (segment, point) = (hull(&[[0.0; 3], [1.0, 0.0, 0.0]]), hull(&[[0.0; 3]]));
    let at = Pose::translation(3.0, 4.0, 0.0);
    let pair = Pair::new(&segment, Pose::identity(), &point, at);
    let judge = |verdict, radius| {
        let pairs = [VertexPair { i: 0, j: 0 }].into_iter().collect();
        let proof = RoundedProof { verdict, pairs };
        judge_rounded(&pair, [0.0, radius], &proof, &mut Effort::unlimited())
    };
    assert_eq!(judge(Verdict::Touching, 5.0), Err(Refusal::NotTouching));
    assert_eq!(judge(Verdict::Separated, 4.9), Err(Refusal::NotSeparating));
    assert_eq!(judge(Verdict::Overlapping, 5.0_f64.next_up()), Ok(()));
    assert!(judge(Verdict::Overlapping, 5.0).is_err());
    assert!(judge(Verdict::Overlapping, 0.0).is_err());
}
