//! The bracket of `bracket` once more in twice the precision: for bodies that are much closer than
//! they are large, down to about 1e-8 of their size, at a few per cent of the exact stage's cost.
//!
//! One Newton step on the weights brings the nearest point s of the simplex to within the errors of
//! double arithmetic. The farthest vertices along s are found by value: from the vertex that is
//! farthest along the rounded direction, every vertex that is reached over vertices no farther back
//! than the error is looked at. The vertices beyond any height along a direction are connected by
//! edges, so the true farthest one is among them or level with them.

use arrayvec::ArrayVec;

use super::bracket::{Bracket, Edge, NEAREST_ERROR, Precision};
use super::double::{DOUBLE_UNIT, Double, Double3, dot, minus, rounded};
use super::simplex::Simplex;
use super::view::View;
use crate::geometry::Vec3;
use crate::geometry::number::rounding::gamma;
use crate::geometry::pair::Placed;
use crate::geometry::polytope::Polytope;

/// Vertices that may be level with the farthest before the exact stage is the better choice.
const LEVEL_MAX: usize = 24;

/// Error of `g · (v - w)` for a direction g brought into a body's frame, in units of |s| times the
/// error of one difference (8 roundings of the size): three roundings of g and three of the product
/// over a difference of at most twice the reach, so 12 of the size times √3; the rest is room.
const LEVEL_ERROR: f64 = 4.0;

/// The bracket in twice the precision; `None` where even that does not tell.
pub(super) fn bracket(view: &View<'_>, simplex: &Simplex, rough: &Bracket) -> Option<Bracket> {
    let size = view.size();
    let precision = Precision { rounding: DOUBLE_UNIT, unit: 8.0 * DOUBLE_UNIT * size };
    let points: ArrayVec<Double3, 3> =
        simplex.corners.iter().map(|(corner, _)| difference(view, corner.pair)).collect();
    let (base, others) = points.split_first()?;
    let edges: ArrayVec<Double3, 2> = others.iter().map(|point| minus(point, base)).collect();
    let mut weights: ArrayVec<Double, 2> =
        simplex.corners.iter().skip(1).map(|(_, weight)| Double::from(*weight)).collect();
    let mut s = nearest(base, &edges, &weights);
    improve(&edges, &s, &mut weights)?;
    s = nearest(base, &edges, &weights);

    let rough_edges: ArrayVec<Edge, 2> = edges
        .iter()
        .zip(&weights)
        .map(|(edge, weight)| Edge {
            vector: rounded(edge),
            weight: weight.rounded(),
            residual: dot(edge, &s).rounded(),
        })
        .collect();
    let direction = rounded(&s);
    let length = direction.norm();
    let deviation = precision.deviation(&rough_edges, length)?;
    let pair = rough.support;
    let level_error = LEVEL_ERROR * precision.unit * length;
    let [p, q] = view.bodies();
    let rise_p = rise_to_farthest(p.body, &in_body(p, &s), pair.i, level_error)?;
    let rise_q = rise_to_farthest(q.body, &in_body(q, &s.map(|c| -c)), pair.j, level_error)?;
    let value = dot(&s, &difference(view, pair)) - rise_p - rise_q;
    // The pair's point, the product with it, and both rises.
    let gap = value.rounded() - (2.0 * precision.unit * length + 2.0 * level_error);
    Some(Bracket {
        lower: Bracket::lower(gap, deviation, length, size),
        upper: Bracket::upper(length, NEAREST_ERROR * precision.unit),
        ..*rough
    })
}

/// The pair's point of M.
fn difference(view: &View<'_>, pair: crate::geometry::pair::VertexPair) -> Double3 {
    let [p, q] = view.bodies();
    let (x, y) = (p.body.vertex(pair.i), q.body.vertex(pair.j));
    std::array::from_fn(|k| {
        let placed = |of: &Placed<'_>, v: &Vec3| {
            let term = |c: usize| Double::product(of.pose.rotation[(k, c)], v[c]);
            term(0) + term(1) + term(2)
        };
        (placed(q, y) - placed(p, x)) + Double::sum(q.pose.translation[k], -p.pose.translation[k])
    })
}

/// The base plus the weighted edges.
fn nearest(base: &Double3, edges: &[Double3], weights: &[Double]) -> Double3 {
    edges
        .iter()
        .zip(weights)
        .fold(*base, |sum, (edge, weight)| std::array::from_fn(|k| sum[k] + edge[k] * *weight))
}

/// One step towards weights for which s is orthogonal to the edges; `None` when they are dependent.
fn improve(edges: &[Double3], s: &Double3, weights: &mut [Double]) -> Option<()> {
    let residual = |k: usize| dot(&edges[k], s).rounded();
    let change = match edges {
        [] => return Some(()),
        [e] => {
            let e = rounded(e);
            [residual(0) / e.norm_squared(), 0.0]
        }
        [e1, e2, ..] => {
            let (e1, e2) = (rounded(e1), rounded(e2));
            let (g11, g12, g22) = (e1.norm_squared(), e1.dot(&e2), e2.norm_squared());
            let determinant = e1.cross(&e2).norm_squared();
            let (r1, r2) = (residual(0), residual(1));
            [(r1 * g22 - r2 * g12) / determinant, (r2 * g11 - r1 * g12) / determinant]
        }
    };
    for (weight, change) in weights.iter_mut().zip(change) {
        *weight = *weight - Double::from(change);
    }
    change.iter().all(|c| c.is_finite()).then_some(())
}

/// `Rᵀ s`
fn in_body(placed: &Placed<'_>, s: &Double3) -> Double3 {
    let rotation = &placed.pose.rotation;
    std::array::from_fn(|k| {
        let term = |i: usize| Double::from(rotation[(i, k)]) * s[i];
        term(0) + term(1) + term(2)
    })
}

/// How much farther along `g` the body reaches than vertex `from`, up to `error`; `None` when too
/// many vertices are level.
fn rise_to_farthest(body: &Polytope, g: &Double3, from: u32, error: f64) -> Option<Double> {
    let g_rounded = rounded(g);
    let origin = body.vertex(from);
    let mut level: ArrayVec<u32, LEVEL_MAX> = ArrayVec::from_iter([from]);
    let mut best = Double::default();
    let mut at = 0;
    while at < level.len() {
        for &next in body.neighbours(level[at]) {
            let edge = body.vertex(next) - origin;
            let value = g_rounded.dot(&edge);
            let rough_error = gamma(8) * g_rounded.abs().dot(&edge.abs());
            let threshold = best.rounded() - 2.0 * error;
            if value < threshold - rough_error - threshold.abs() * gamma(4) || level.contains(&next)
            {
                continue;
            }
            let edge = std::array::from_fn(|k| Double::sum(body.vertex(next)[k], -origin[k]));
            let value = dot(g, &edge);
            if value.rounded() >= threshold {
                level.try_push(next).ok()?;
                if (value - best).rounded() > 0.0 {
                    best = value;
                }
            }
        }
        at += 1;
    }
    Some(best)
}
