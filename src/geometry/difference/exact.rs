//! The Minkowski difference M = {q - p} of a placed pair in exact integers: its vertices, its
//! supporting vertices and a simplex that spans it, each computed when first asked for.

use arrayvec::ArrayVec;
use dashu_int::IBig;

use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::Sign;
use crate::geometry::number::rounding::{UNDERFLOW, gamma};
use crate::geometry::number::scaled::{
    Exponents, Integers, ScaledPoints, cross, difference, dot, is_zero, rounded_direction, sign,
};
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::support::{climb_by, likely_vertex};

/// See the module.
pub(crate) struct Difference<'a> {
    p: Side<'a>,
    q: Side<'a>,
    exponent: i64,
}

/// One body of the pair.
struct Side<'a> {
    placed: &'a Placed<'a>,
    points: ScaledPoints<'a>,
    /// The last supporting vertex: the next one is often near.
    last: Option<u32>,
}

/// A vertex of M: its name and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Corner {
    pub(crate) pair: VertexPair,
    pub(crate) point: Integers,
}

impl<'a> Difference<'a> {
    /// Chooses the exponent; converts no vertex yet.
    pub(crate) fn new(pair: &'a Pair<'a>) -> Self {
        let of = |placed: &Placed<'_>| Exponents::of(placed.body.vertices(), &placed.pose);
        let (of_p, of_q) = (of(&pair.p), of(&pair.q));
        let exponent = of_p.placed.min(of_q.placed);
        let side = |placed: &'a Placed<'a>, exponents| Side {
            placed,
            points: ScaledPoints::new(placed.body.vertices(), &placed.pose, exponents, exponent),
            last: None,
        };
        Self { p: side(&pair.p, of_p), q: side(&pair.q, of_q), exponent }
    }

    /// The points of M are integers times two to this.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The point of M that a vertex pair names.
    pub(crate) fn corner(&mut self, pair: VertexPair) -> Corner {
        let q = self.q.points.point(pair.j);
        Corner { pair, point: difference(q, self.p.points.point(pair.i)) }
    }

    /// A vertex of M farthest along `n`, which is not zero: exact.
    pub(crate) fn farthest(&mut self, n: &Integers, effort: &mut Effort<'_>) -> Corner {
        let opposite = n.each_ref().map(|x| -x);
        let j = self.q.farthest(n, effort);
        let i = self.p.farthest(&opposite, effort);
        self.corner(VertexPair { i, j })
    }

    /// The least of `n·m` over M, with the vertex where it is.
    pub(crate) fn least_along(&mut self, n: &Integers, effort: &mut Effort<'_>) -> (IBig, Corner) {
        let opposite = n.each_ref().map(|x| -x);
        let corner = self.farthest(&opposite, effort);
        (dot(n, &corner.point), corner)
    }

    /// As many affinely independent vertices of M as there are: its dimension and one.
    pub(crate) fn simplex(&mut self) -> ArrayVec<Corner, 4> {
        let p = self.p.placed.body.affine_basis();
        let q = self.q.placed.body.affine_basis();
        let base = self.corner(VertexPair { i: p[0], j: q[0] });
        let along_p = p[1..].iter().map(|&i| VertexPair { i, j: q[0] });
        let along_q = q[1..].iter().map(|&j| VertexPair { i: p[0], j });
        let mut edges: ArrayVec<Integers, 3> = ArrayVec::new();
        let mut corners: ArrayVec<Corner, 4> = ArrayVec::new();
        corners.push(base);
        for pair in along_p.chain(along_q) {
            if corners.is_full() {
                break;
            }
            let corner = self.corner(pair);
            let edge = difference(&corner.point, &corners[0].point);
            let independent = match edges.as_slice() {
                [] => !is_zero(&edge),
                [a] => !is_zero(&cross(a, &edge)),
                [a, b] => !dot(&cross(a, b), &edge).is_zero(),
                _ => false,
            };
            if independent {
                edges.push(edge);
                corners.push(corner);
            }
        }
        corners
    }
}

impl Side<'_> {
    /// The vertex farthest along `n`: found in floating point, then climbed on in exact order.
    fn farthest(&mut self, n: &Integers, effort: &mut Effort<'_>) -> u32 {
        let body = self.placed.body;
        let g = rounded_direction(&self.points.direction_in_body(n));
        let start = likely_vertex(body, &g, self.last, effort);
        let points = &mut self.points;
        let vertex = climb_by(body, start, effort, |a, b| {
            let edge = body.vertex(a) - body.vertex(b);
            match surely(&g, &edge) {
                Some(beats) => beats,
                None => {
                    let from = dot(n, points.point(b));
                    sign(&(dot(n, points.point(a)) - from)) == Sign::Positive
                }
            }
        });
        self.last = Some(vertex);
        vertex
    }
}

/// Whether the exact functional that `g` rounds grows along the exact edge that `edge` rounds; none
/// when rounding leaves it open.
///
/// Each `g_k` is off by `2u` relative and half of `UNDERFLOW`; each `edge_k` by `u` relative (a
/// difference cannot underflow); a product adds `u` and half of `UNDERFLOW`, the two sums `2u`: at
/// most `γ₆` in all, and γ₈ covers the rounding of the bound itself. All of it is far from
/// overflow, since `|g_k| <= 1` and `|edge_k| <= 2^961`.
fn surely(g: &Vec3, edge: &Vec3) -> Option<bool> {
    let terms = g.component_mul(edge);
    let value = terms.x + terms.y + terms.z;
    let sizes = terms.abs();
    let reach = edge.abs();
    let bound = gamma(8) * (sizes.x + sizes.y + sizes.z)
        + UNDERFLOW * (4.0 + (reach.x + reach.y + reach.z));
    // NaN is not larger than anything.
    (value.abs() > bound).then_some(value > 0.0)
}
