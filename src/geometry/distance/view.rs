//! A pair as the floating-point searches see it: differences of placed vertices, with the error
//! bounds that make something certain of them.

use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::{UNDERFLOW, gamma};
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::support::{likely_vertex, supporting_vertex};
use crate::geometry::{Mat3, Vec3};

/// Outside of these the products of two or three lengths may overflow or underflow, and the exact
/// stage answers alone.
const SIZE_MIN: f64 = f64::from_bits((1023 - 300) << 52);
const SIZE_MAX: f64 = f64::from_bits((1023 + 300) << 52);

/// The first support of a search has no hint; a later one has, when the direction turned by less
/// than about 4 degrees (cos² of the angle) since. Further, the start table is nearer.
const HINT_COS_SQUARED: f64 = 0.995;

/// Roundings in a difference of placed vertices: dot products of three (3), difference of the two
/// (1), offset (1) and its addition (1), and 2 for forming `reach`.
const DIFFERENCE_ROUNDINGS: u32 = 8;

/// Roundings in `s · m` for the supporting pair, evaluated in the bodies' frames: direction into
/// the frame (3), its dot product (3), the direction's error seen by every other vertex (3), the
/// three sums (2), the offset (1), and 4 for forming `reach` and the bound.
const GAP_ROUNDINGS: u32 = 16;

/// See the module.
#[derive(Debug)]
pub(in crate::geometry) struct View<'a> {
    pair: &'a Pair<'a>,
    /// `t_Q - t_P`, rounded.
    offset: Vec3,
    /// At least `|m|` for every m of M, per coordinate, and at least the sum of the magnitudes of
    /// all terms it is computed from.
    reach: Vec3,
    /// The length of `reach`.
    size: f64,
}

impl<'a> View<'a> {
    /// Of the pair.
    pub(in crate::geometry) fn new(pair: &'a Pair<'a>) -> Self {
        let (p, q) = (&pair.p, &pair.q);
        let offset = q.pose.translation - p.pose.translation;
        let reach = p.pose.rotation.abs() * p.body.bounds().reach
            + q.pose.rotation.abs() * q.body.bounds().reach
            + offset.abs();
        Self { pair, offset, reach, size: reach.norm() }
    }

    /// P and Q.
    pub(super) fn bodies(&self) -> [&'a Placed<'a>; 2] {
        [&self.pair.p, &self.pair.q]
    }

    /// Whether products of lengths neither overflow nor lose their error bounds to underflow.
    pub(in crate::geometry) fn is_safe(&self) -> bool {
        (SIZE_MIN..=SIZE_MAX).contains(&self.size)
    }

    /// At least |m| for every m of M.
    pub(in crate::geometry) fn size(&self) -> f64 {
        self.size
    }

    /// At least `|m|` for every m of M, per coordinate.
    pub(in crate::geometry) fn reach(&self) -> &Vec3 {
        &self.reach
    }

    /// At least the error of every coordinate of [`Self::difference`].
    pub(in crate::geometry) fn coordinate_error(&self) -> f64 {
        gamma(DIFFERENCE_ROUNDINGS) * self.reach.amax()
    }

    /// At least the distance between [`Self::difference`] and the exact point.
    pub(in crate::geometry) fn difference_error(&self) -> f64 {
        gamma(DIFFERENCE_ROUNDINGS) * self.size
    }

    /// The pair's point of M, rounded.
    #[inline]
    pub(in crate::geometry) fn difference(&self, pair: VertexPair) -> Vec3 {
        let (p, q) = (&self.pair.p, &self.pair.q);
        let placed_q = q.pose.rotation * q.body.vertex(pair.j);
        let placed_p = p.pose.rotation * p.body.vertex(pair.i);
        (placed_q - placed_p) + self.offset
    }

    /// From a point in P to a point in Q, rounded.
    pub(in crate::geometry) fn centre_difference(&self) -> Vec3 {
        let (p, q) = (&self.pair.p, &self.pair.q);
        (q.pose.rotation * q.body.bounds().centre - p.pose.rotation * p.body.bounds().centre)
            + self.offset
    }

    /// The pair that is probably least along `s`; `last` is the last answer and its direction.
    #[inline]
    pub(in crate::geometry) fn likely_least_along(
        &self,
        s: &Vec3,
        last: Option<(VertexPair, Vec3)>,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        let hint = last.and_then(|(pair, direction)| {
            let along = s.dot(&direction);
            let near = along > 0.0
                && along * along > HINT_COS_SQUARED * s.norm_squared() * direction.norm_squared();
            near.then_some(pair)
        });
        self.likely_least_from(s, hint, effort)
    }

    /// The pair that is probably least along `s`, climbing from `hint`.
    #[inline]
    pub(in crate::geometry) fn likely_least_from(
        &self,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        let [in_p, in_q] = self.in_bodies(s);
        VertexPair {
            i: likely_vertex(self.pair.p.body, &in_p, hint.map(|h| h.i), effort),
            j: likely_vertex(self.pair.q.body, &in_q, hint.map(|h| h.j), effort),
        }
    }

    /// The direction along which P's farthest and the one along which Q's farthest is wanted.
    #[inline]
    fn in_bodies(&self, s: &Vec3) -> [Vec3; 2] {
        [
            self.pair.p.pose.direction_to_body_rounded(s),
            -self.pair.q.pose.direction_to_body_rounded(s),
        ]
    }

    /// A supporting pair along `s` and at most the least of `s · m` over M. `hint` is a pair close to where it is.
    pub(in crate::geometry) fn gap(
        &self,
        s: &Vec3,
        hint: VertexPair,
        effort: &mut Effort<'_>,
    ) -> (VertexPair, f64) {
        let (p, q) = (self.pair.p.body, self.pair.q.body);
        let [in_p, in_q] = self.in_bodies(s);
        let i = supporting_vertex(p, &in_p, Some(hint.i), effort);
        let j = supporting_vertex(q, &in_q, Some(hint.j), effort);
        let value = (-in_q.dot(q.vertex(j)) - in_p.dot(p.vertex(i))) + s.dot(&self.offset);
        // What underflows: products with the direction times a length, and products.
        let tiny = 64.0 * UNDERFLOW * (1.0 + self.size);
        let error = gamma(GAP_ROUNDINGS) * s.abs().dot(&self.reach) + tiny;
        (VertexPair { i, j }, value - error)
    }

    /// Both points of the pairs' weighted mean, rounded.
    pub(in crate::geometry) fn mean(&self, weighted: &[(VertexPair, f64)]) -> [Vec3; 2] {
        let (p, q) = (&self.pair.p, &self.pair.q);
        let mean = |point: &dyn Fn(VertexPair) -> Vec3| -> Vec3 {
            weighted.iter().map(|(pair, weight)| point(*pair) * *weight).sum()
        };
        let at = |rotation: &Mat3, local: Vec3, t: &Vec3| rotation * local + t;
        let local_p = mean(&|pair| *p.body.vertex(pair.i));
        let local_q = mean(&|pair| *q.body.vertex(pair.j));
        [
            at(&p.pose.rotation, local_p, &p.pose.translation),
            at(&q.pose.rotation, local_q, &q.pose.translation),
        ]
    }
}
