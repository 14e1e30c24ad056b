//! Margins below 0 against every facet of M in whole numbers, and against the judges.

use super::*;
use crate::claim::{ConvexProof, MarginClaim, Verdict};
use crate::hull::convex_hull;
use crate::judge::{RoundedBodies, judge_convex_margin};
use crate::penetration::measure;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, cuboid, ellipsoid, lattice};

/// What is said of a margin from cold and from this witness, proven, and not proven of the
/// opposite.
#[track_caller]
fn is_within(pair: &Pair<'_>, margin: f64, warm: &mut Witness) -> bool {
    let effort = &mut Effort::unlimited();
    let found = compare(pair, margin, true, &mut Witness::default(), effort).unwrap();
    let again = compare(pair, margin, false, warm, effort).unwrap();
    let is_within = found.compared.is_within;
    assert_eq!(again.compared.is_within, is_within, "{margin}");
    assert!(found.room >= 0.0 && (!is_within || again.compared.depth.is_none()));
    let method = &separation::METHODS[0];
    let stands = decide(pair, method, &mut Witness::default(), effort).unwrap().proof;
    let bodies = RoundedBodies { cores: pair.into(), radii: [0.0; 2] };
    let stands = ConvexProof::from(stands);
    let judge = |is_within, depth| {
        let claim = MarginClaim { margin, is_within, pairs: &[], depth };
        judge_convex_margin(bodies, &stands, &claim, &mut Effort::unlimited()).is_ok()
    };
    let depth = found.compared.depth.as_deref();
    let overlap = stands.verdict() == Verdict::Overlapping;
    assert!(judge(is_within, depth), "{margin} {found:?}");
    assert!(!judge(!is_within, depth) && !judge(!is_within, None), "{margin} {found:?}");
    assert!(!overlap || !judge(is_within, None));
    is_within
}

/// Points of whole coordinates that have a volume; the corners of a box, if wanted.
fn whole(random: &mut Random, is_box: bool) -> (Vec<[i64; 3]>, Polytope) {
    if is_box {
        let size = [0; 3].map(|_| 1 + i64::from(random.below(3)));
        let side = |corner: i64, k: usize| if (corner >> k) & 1 == 1 { size[k] } else { -size[k] };
        let points = (0..8).map(|corner| std::array::from_fn(|k| side(corner, k))).collect();
        let [x, y, z] = size.map(|half| half as f64);
        return (points, cuboid(x, y, z));
    }
    loop {
        let count = 4 + random.below(2);
        let mut coordinate = || i64::from(random.below(9)) - 4;
        let points: Vec<[i64; 3]> =
            (0..count).map(|_| std::array::from_fn(|_| coordinate())).collect();
        let vectors: Vec<Vec3> = points.iter().map(|p| Vec3::from(p.map(|c| c as f64))).collect();
        if let Ok(found) = convex_hull(&vectors)
            && found.polytope.dimension() == 3
        {
            return (points, found.polytope);
        }
    }
}

/// The squares of the least distance of a facet's plane of M from the origin, numerator and
/// denominator; none: the origin is not strictly inside M.
fn squared_depth(p: &[[i64; 3]], q: &[[i64; 3]]) -> Option<(i128, i128)> {
    let less = |a: &[i64; 3], b: &[i64; 3]| -> [i64; 3] { std::array::from_fn(|k| a[k] - b[k]) };
    let dot = |a: &[i64; 3], b: &[i64; 3]| -> i64 { (0..3).map(|k| a[k] * b[k]).sum() };
    let m: Vec<[i64; 3]> = q.iter().flat_map(|y| p.iter().map(|x| less(y, x))).collect();
    let mut best: Option<(i128, i128)> = None;
    for (i, a) in m.iter().enumerate() {
        for (j, b) in m[..i].iter().enumerate() {
            for c in &m[..j] {
                let (e, f) = (less(b, a), less(c, a));
                let cross = |k: usize| {
                    let (l, m) = ((k + 1) % 3, (k + 2) % 3);
                    e[l] * f[m] - e[m] * f[l]
                };
                let mut normal = std::array::from_fn(cross);
                let sides = |n: &[i64; 3]| m.iter().map(|d| dot(n, d)).max();
                if normal == [0; 3] {
                    continue;
                }
                if sides(&normal) != Some(dot(&normal, a)) {
                    normal = normal.map(|c| -c);
                }
                let level = dot(&normal, a);
                if sides(&normal) != Some(level) {
                    continue;
                }
                if level <= 0 {
                    return None;
                }
                let of = (i128::from(level).pow(2), i128::from(dot(&normal, &normal)));
                if best.is_none_or(|known| of.0 * known.1 < known.0 * of.1) {
                    best = Some(of);
                }
            }
        }
    }
    best
}

#[test]
fn a_depth_is_compared_as_every_facet_of_m_says_in_whole_numbers() {
    let (mut random, mut warm) = (Random(41), Witness::default());
    let (mut counts, mut exactly) = ([0; 2], 0);
    for round in 0..300 {
        let (a, p) = whole(&mut random, round % 2 == 0);
        let (mut b, q) = whole(&mut random, false);
        let by: [i64; 3] = std::array::from_fn(|_| i64::from(random.below(5)) - 2);
        b.iter_mut().for_each(|point| (0..3).for_each(|k| point[k] += by[k]));
        let [x, y, z] = by.map(|c| c as f64);
        let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(x, y, z));
        let known = squared_depth(&a, &b);
        for eighths in [1, 4, 8, 16, 24, 1 + i128::from(random.below(30))] {
            let expected = known.is_some_and(|(of, by)| of * 64 >= eighths * eighths * by);
            exactly += u32::from(known.is_some_and(|(of, by)| of * 64 == eighths * eighths * by));
            let margin = -(eighths as f64) / 8.0;
            assert_eq!(is_within(&pair, margin, &mut warm), expected, "{a:?} {b:?} {margin}");
            counts[usize::from(expected)] += 1;
        }
    }
    assert!(counts[0] > 200 && counts[1] > 200 && exactly > 10, "{counts:?} {exactly}");
}

#[test]
fn boxes_that_overlap_by_the_margin_are_within_it_to_the_last_bit() {
    let warm = &mut Witness::default();
    for (half, gap) in [
        (0.5, 0.25),
        (0.5, 1e-9),
        (3.0, 1.0),
        (1e-40, 3e-41),
        (1e90, 1e80),
        (1e-120, 3e-121),
        (1e120, 3e119),
    ] {
        let cube = cuboid(half, half, half);
        let x = 2.0 * half - gap;
        let depth = 2.0 * half - x;
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(x, 0.1 * half, 0.0));
        assert!(is_within(&pair, -depth, warm));
        assert!(is_within(&pair, -depth.next_down(), warm));
        assert!(!is_within(&pair, -depth.next_up(), warm));
    }
}

#[test]
fn a_depth_that_is_no_number_is_compared_on_both_sides_of_its_bracket() {
    let (mut random, warm) = (Random(7), &mut Witness::default());
    let bodies = [cuboid(0.4, 0.5, 0.6), ellipsoid(40, [0.5, 0.4, 0.3], 7), lattice(&mut random)];
    let mut overlaps = 0;
    for round in 0..120 {
        let (p, q) = (&bodies[round % 3], &bodies[round / 3 % 3]);
        let away = random.unit_vector() * 0.01 * round as f64;
        let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(away));
        let effort = &mut Effort::unlimited();
        let known = measure(&pair, false, &mut Witness::default(), effort).unwrap();
        if known.decision.verdict() != Verdict::Overlapping {
            assert!(!is_within(&pair, -f64::from_bits(1), warm) && !is_within(&pair, -1.0, warm));
            continue;
        }
        overlaps += 1;
        assert!(is_within(&pair, -known.lower, warm) && is_within(&pair, -1e-12, warm));
        assert!(!is_within(&pair, -known.upper.next_up(), warm));
        assert!(!is_within(&pair, -2.0 * known.upper, warm));
    }
    assert!(overlaps > 60, "{overlaps}");
}

#[test]
fn what_is_deeper_than_any_body_is_never_reached() {
    let (cube, warm) = (cuboid(1.0, 1.0, 1.0), &mut Witness::default());
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::identity());
    for deep in [2.0_f64.next_up(), 1e9, 1e280, f64::MAX] {
        assert!(!is_within(&pair, -deep, warm), "{deep}");
    }
    for deep in [2.0, 1.0, 1e-300, f64::from_bits(1)] {
        assert!(is_within(&pair, -deep, warm), "{deep}");
    }
    let touching = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(2.0, 0.0, 0.0));
    assert!(!is_within(&touching, -f64::from_bits(1), warm));
}

/// What is kept of an answer as its room holds for every shift that is shorter.
#[test]
fn within_its_room_a_comparison_stays() {
    let (mut random, warm) = (Random(11), &mut Witness::default());
    let (cube, round) = (cuboid(0.5, 0.5, 0.5), ellipsoid(60, [0.5; 3], 3));
    let mut rooms = [0; 2];
    for _ in 0..200 {
        let away = random.vector() * 1.2;
        let pair = Pair::new(&cube, random.pose(Vec3::zeros()), &round, random.pose(away));
        let margin = -random.signed().abs();
        let effort = &mut Effort::unlimited();
        let found = compare(&pair, margin, false, &mut Witness::default(), effort).unwrap();
        let (is, room) = (found.compared.is_within, found.room);
        rooms[usize::from(is)] += u32::from(room > 0.001);
        for _ in 0..4 {
            let mut moved = pair;
            moved.q.pose.translation += random.unit_vector() * (room * 0.999);
            assert_eq!(is_within(&moved, margin, warm), is, "{margin} {room}");
        }
    }
    assert!(rooms[0] > 20 && rooms[1] > 20, "{rooms:?}");
}
