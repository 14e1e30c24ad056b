//! An oracle for small integer bodies that shares nothing with the searches: every possible normal,
//! in i128.

use crate::claim::Verdict;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, hull, lattice};
use crate::{Mat3, Vec3};

pub(crate) type Whole = [i128; 3];

pub(crate) fn whole(v: &Vec3, factor: f64) -> Whole {
    [0, 1, 2].map(|k| {
        let scaled = v[k] * factor;
        assert!(scaled.fract() == 0.0 && scaled.abs() < 1e9);
        scaled as i128
    })
}

fn cross(a: &Whole, b: &Whole) -> Whole {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &Whole, b: &Whole) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn minus(a: &Whole, b: &Whole) -> Whole {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Every facet of M is parallel to an edge of P or Q and to another edge or, when M is flat, to an
/// axis. So M is what the products of all pairs of those, with both signs, bound: `n·m <= h`.
fn half_spaces(p: &[Whole], q: &[Whole]) -> Vec<(Whole, i128)> {
    let mut edges: Vec<Whole> = vec![[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for body in [p, q] {
        for (at, a) in body.iter().enumerate() {
            edges.extend(body[..at].iter().map(|b| minus(a, b)));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let mut found = Vec::new();
    for (at, a) in edges.iter().enumerate() {
        for b in &edges[..at] {
            let n = cross(a, b);
            if n == [0, 0, 0] {
                continue;
            }
            let range = |body: &[Whole]| {
                let values = body.iter().map(|x| dot(&n, x));
                (values.clone().min().unwrap(), values.max().unwrap())
            };
            let ((least_p, greatest_p), (least_q, greatest_q)) = (range(p), range(q));
            found.push((n, greatest_q - least_p));
            found.push((n.map(|x| -x), greatest_p - least_q));
        }
    }
    found
}

/// How the bodies stand.
pub(crate) fn oracle(p: &[Whole], q: &[Whole]) -> Verdict {
    match half_spaces(p, q).iter().map(|(_, h)| *h).min() {
        Some(least) if least < 0 => Verdict::Separated,
        Some(0) => Verdict::Touching,
        Some(_) | None => Verdict::Overlapping,
    }
}

/// A time as numerator and positive denominator.
pub(crate) type Time = (i128, i128);

/// The exact least and greatest t with `t w` in M, if there is one; w is not zero.
pub(crate) fn times(p: &[Whole], q: &[Whole], w: &Whole) -> Option<[Time; 2]> {
    let mut bounds: [Option<Time>; 2] = [None, None];
    for (n, h) in half_spaces(p, q) {
        let rate = dot(&n, w);
        if rate == 0 {
            if h < 0 {
                return None;
            }
            continue;
        }
        let (side, time) = if rate > 0 { (1, (h, rate)) } else { (0, (-h, -rate)) };
        let tighter = bounds[side].is_none_or(|known| {
            let before = time.0 * known.1 < known.0 * time.1;
            if side == 1 { before } else { time.0 * known.1 > known.0 * time.1 }
        });
        if tighter {
            bounds[side] = Some(time);
        }
    }
    let [Some(first), Some(last)] = bounds else { panic!("M is bounded") };
    (first.0 * last.1 <= last.0 * first.1).then_some([first, last])
}

/// One of the 24 rotations of the cube.
fn turn(random: &mut Random) -> Mat3 {
    let axis = |k: u32| Vec3::ith(k as usize, 1.0);
    let first = random.below(3);
    let second = (first + 1 + random.below(2)) % 3;
    let x = axis(first) * if random.below(2) == 0 { 1.0 } else { -1.0 };
    let y = axis(second) * if random.below(2) == 0 { 1.0 } else { -1.0 };
    Mat3::from_columns(&[x, y, x.cross(&y)])
}

pub(crate) fn random_pose(random: &mut Random, reach: u32) -> Pose {
    let coordinate =
        |random: &mut Random| f64::from(random.below(2 * reach + 1)) - f64::from(reach);
    let translation = Vec3::new(coordinate(random), coordinate(random), coordinate(random)) * 0.5;
    Pose { rotation: turn(random), translation }
}

pub(crate) fn placed(body: &Polytope, pose: &Pose) -> Vec<Whole> {
    body.vertices().iter().map(|v| whole(&pose.apply_rounded(v), 2.0)).collect()
}

/// A lattice body, or one squeezed into a point, a line or a plane along the axes.
pub(crate) fn small_body(random: &mut Random) -> Polytope {
    let body = lattice(random);
    match random.below(8) {
        0 => return hull(&[Vec3::zeros()]),
        1..4 => return body,
        _ => {}
    }
    let keep = [random.below(3), random.below(3), random.below(3)].map(|k| f64::from(k.min(1)));
    hull(&body.vertices().iter().map(|v| v.component_mul(&Vec3::from(keep))).collect::<Vec<_>>())
}
