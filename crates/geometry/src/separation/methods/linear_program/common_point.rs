//! From weights on two vertex sets to four pairs whose differences hold the origin.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::pair::VertexPair;
use crate::witness::{SET_MAX, WorkingSet};

/// A difference with its weight.
struct WeightedDifference {
    pair: VertexPair,
    at: Vec3,
    weight: f64,
}

/// Four pairs with the origin among their weighted means; none if the set is too flat to say.
///
/// The weights of both bodies are matched in order, which makes fewer than twenty weighted
/// differences with mean zero; then Carathéodory's argument takes them away one by one.
pub(super) fn four_pairs(
    set: &WorkingSet,
    difference: impl Fn(VertexPair) -> Vec3,
) -> Option<[VertexPair; 4]> {
    let mut points: ArrayVec<WeightedDifference, { 2 * SET_MAX }> = matched(set)
        .map(|(pair, weight)| WeightedDifference { pair, at: difference(pair), weight })
        .collect();
    // Five that lie in one plane are passed over, once around.
    let mut flat = 0;
    while points.len() > 4 {
        let five = points.first_chunk::<5>()?;
        let dependence = affine_dependence(&[0, 1, 2, 3, 4].map(|k| five[k].at));
        // The largest multiple of the dependence that leaves no weight negative.
        let ratio = |k: usize| five[k].weight / dependence[k];
        let falling = (0..5).filter(|k| dependence[*k] > 0.0);
        let Some(first) = falling.min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))) else {
            if flat == points.len() {
                return None;
            }
            flat += 1;
            points.rotate_left(1);
            continue;
        };
        let multiple = ratio(first);
        for (point, change) in points.iter_mut().zip(dependence) {
            point.weight = (point.weight - multiple * change).max(0.0);
        }
        points.swap_remove(first);
    }
    let pairs: ArrayVec<VertexPair, 4> = points.iter().map(|point| point.pair).collect();
    pairs.into_inner().ok()
}

/// The north-west corner rule of the transport problem: pairs with weights whose sums by vertex
/// are the weights of the set. P's vertices are taken from the first, Q's from the last: bodies in
/// the same place would be matched vertex by vertex, with nothing but zeros for differences.
fn matched(set: &WorkingSet) -> impl Iterator<Item = (VertexPair, f64)> + '_ {
    let (mut p, mut q) = (set.p.iter().copied(), set.q.iter().rev().copied());
    let (mut of_p, mut of_q) = (p.next(), q.next());
    std::iter::from_fn(move || {
        let ((i, left_p), (j, left_q)) = (of_p?, of_q?);
        let moved = left_p.min(left_q);
        if left_p <= left_q {
            of_p = p.next();
            of_q = Some((j, left_q - left_p));
        } else {
            of_q = q.next();
            of_p = Some((i, left_p - left_q));
        }
        Some((VertexPair { i, j }, moved))
    })
}

/// Coefficients, not all negative, with sum zero and weighted sum zero (by Cramer's rule: signed
/// volumes of the tetrahedra that leave one point out).
fn affine_dependence(points: &[Vec3; 5]) -> [f64; 5] {
    let volume = |[a, b, c, d]: [usize; 4]| {
        let edge = |k: usize| points[k] - points[a];
        edge(b).dot(&edge(c).cross(&edge(d)))
    };
    [
        volume([1, 2, 3, 4]),
        -volume([0, 2, 3, 4]),
        volume([0, 1, 3, 4]),
        -volume([0, 1, 2, 4]),
        volume([0, 1, 2, 3]),
    ]
}
