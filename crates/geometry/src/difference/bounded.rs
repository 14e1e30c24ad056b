//! A pair as the floating-point searches see it: differences of placed vertices, with the error
//! bounds that make something certain of them.

use super::RoundedCorner;
use super::roundness::Roundness;
use crate::effort::Effort;
use crate::number::binary::power_of_two;
use crate::number::double::{Real, Triple};
use crate::number::rounding::gamma;
use crate::number::tolerance::STRETCH_ROOM;
use crate::pair::{Pair, Placed, VertexPair};
use crate::support::{likely_pair, move_both, nearby};
use crate::{Mat3, Vec3};

/// Outside of these the products of two or three lengths may overflow or underflow, and the exact
/// stage answers alone.
const SIZE_MIN: f64 = power_of_two(-300);
const SIZE_MAX: f64 = power_of_two(300);

/// What was found along one direction is a good start for another up to an angle whose squared sine
/// is this: about 4 degrees. Further, the start table is nearer.
const NEAR_SINE_SQUARED: f64 = 0.005;
/// And not more than two fifths of the distance of neighbouring vertices of a ball: n of them are
/// `√(4π/n)` apart. Of a long body, where they are closer in proportion to its thickness.
const NEAR_SPACING: f64 = 2.0;

/// At most this many times as long is any placed vector as in its body, room for the roundings of a
/// bound included.
pub(crate) const STRETCH: f64 = 1.0 + STRETCH_ROOM;

/// Roundings in one coordinate of a difference: dot products of three (3), difference of the two
/// (1), offset (1) and its addition (1), and 2 for forming `reach`.
const COORDINATE_ROUNDINGS: u32 = 8;

/// Error of a difference as a point, in roundings of the bodies' radii: the three of a placed
/// vertex are relative to `|R| |v|`, at most √3 times as long as v, and the difference and the sum
/// with the offset add one each.
const RADIUS_ROUNDINGS: f64 = 8.0;
/// The error of a difference as a point, in roundings of the offset: its own and the sum's.
const OFFSET_ROUNDINGS: f64 = 3.0;

/// See the module.
#[derive(Debug)]
pub(crate) struct BoundedView<'a> {
    pair: &'a Pair<'a>,
    /// `t_Q - t_P`, rounded.
    offset: Vec3,
    /// At least the distance of every vertex of P, and of Q, from its body's origin.
    radii: [f64; 2],
    /// At least `|m|` for every m of M.
    size: f64,
    /// Error of a difference in units of the relative error of one operation.
    error: f64,
}

impl<'a> BoundedView<'a> {
    /// The view of a pair.
    #[inline]
    pub(crate) fn new(pair: &'a Pair<'a>) -> Self {
        let radius = |placed: &Placed<'_>| {
            let bounds = placed.body.bounds();
            (bounds.centre.norm() + bounds.radius) * STRETCH
        };
        let offset = pair.q.pose.translation - pair.p.pose.translation;
        let radii = [radius(&pair.p), radius(&pair.q)];
        let (both, length) = (radii[0] + radii[1], offset.norm() * STRETCH);
        let error = RADIUS_ROUNDINGS * both + OFFSET_ROUNDINGS * length;
        Self { pair, offset, radii, size: both + length, error }
    }

    /// What it is a view of.
    pub(crate) fn pair(&self) -> &'a Pair<'a> {
        self.pair
    }

    /// P and Q.
    pub(crate) fn bodies(&self) -> [&'a Placed<'a>; 2] {
        [&self.pair.p, &self.pair.q]
    }

    /// Whether products of lengths neither overflow nor lose their error bounds to underflow.
    pub(crate) fn is_safe(&self) -> bool {
        (SIZE_MIN..=SIZE_MAX).contains(&self.size)
    }

    /// At least |m| for every m of M.
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// At least the distance of every vertex of P, and of Q, from its body's origin.
    pub(crate) fn radii(&self) -> [f64; 2] {
        self.radii
    }

    /// At least `|m|` for every m of M, per coordinate, and at least the sum of the magnitudes of
    /// all terms it is computed from.
    pub(crate) fn reach(&self) -> Vec3 {
        let (p, q) = (&self.pair.p, &self.pair.q);
        p.pose.rotation.abs() * p.body.bounds().reach
            + q.pose.rotation.abs() * q.body.bounds().reach
            + self.offset.abs()
    }

    /// At least the error of every coordinate of [`Self::difference`].
    pub(crate) fn coordinate_error(&self) -> f64 {
        gamma(COORDINATE_ROUNDINGS) * self.reach().amax()
    }

    /// At least the distance between [`Self::difference_in`] and the exact point.
    pub(crate) fn difference_error<N: Real>(&self) -> f64 {
        N::UNIT * self.error
    }

    /// The pair's point of M, rounded.
    #[inline(always)]
    pub(crate) fn difference(&self, pair: VertexPair) -> Vec3 {
        Vec3::from(self.difference_in::<f64>(pair))
    }

    /// The pair's point of M.
    #[inline(always)]
    pub(crate) fn difference_in<N: Real>(&self, pair: VertexPair) -> Triple<N> {
        let (p, q) = (&self.pair.p, &self.pair.q);
        let (x, y) = (p.body.vertex(pair.i), q.body.vertex(pair.j));
        let placed = |rotation: &Mat3, v: &Vec3, k: usize| {
            let term = |c: usize| N::product(rotation[(k, c)], v[c]);
            (term(0) + term(1)) + term(2)
        };
        let (to, from) = (&q.pose.translation, &p.pose.translation);
        std::array::from_fn(|k| {
            (placed(&q.pose.rotation, y, k) - placed(&p.pose.rotation, x, k))
                + N::difference(to[k], from[k])
        })
    }

    /// From a point in P to a point in Q, rounded.
    pub(crate) fn centre_difference(&self) -> Vec3 {
        let (p, q) = (&self.pair.p, &self.pair.q);
        (q.pose.rotation * q.body.bounds().centre - p.pose.rotation * p.body.bounds().centre)
            + self.offset
    }

    /// The pair with its point of M.
    #[inline(always)]
    pub(crate) fn corner(&self, pair: VertexPair) -> RoundedCorner {
        RoundedCorner { pair, point: self.difference(pair) }
    }

    /// How round the bodies are.
    #[inline]
    pub(crate) fn roundness(&self) -> Roundness {
        Roundness::of(&self.pair.p, &self.pair.q)
    }

    /// Vertices of the body that has more, and of the other.
    #[inline]
    pub(crate) fn vertex_counts(&self) -> [f64; 2] {
        let of = |placed: &Placed<'_>| f64::from(placed.body.vertex_count());
        let (p, q) = (of(&self.pair.p), of(&self.pair.q));
        [p.max(q), p.min(q)]
    }

    /// How far a direction may turn, as a squared sine, before the old supporting pair is a bad
    /// start for bodies that are so round.
    #[inline]
    pub(crate) fn near_sine_squared(&self, roundness: Roundness) -> f64 {
        let [most, _] = self.vertex_counts();
        NEAR_SINE_SQUARED.min(NEAR_SPACING * roundness.least * roundness.least / most)
    }

    /// A pair that is not behind the `hint`, or the one of the start tables, along `s`: a move to
    /// the farthest neighbours nearer to the one that is least. And whether they are seen to be
    /// that one.
    #[inline(always)]
    pub(crate) fn farther_along(
        &self,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> (VertexPair, bool) {
        let in_p = self.pair.p.pose.direction_to_body_rounded(s);
        let in_q = -self.pair.q.pose.direction_to_body_rounded(s);
        let bodies = [self.pair.p.body, self.pair.q.body];
        let hints = [hint.map(|h| h.i), hint.map(|h| h.j)];
        let ([i, j], is_top) = move_both(bodies, [&in_p, &in_q], hints, effort);
        (VertexPair { i, j }, is_top)
    }

    /// A pair near the one that is least along `s`, as far as the bodies' start tables tell.
    #[inline(always)]
    pub(crate) fn nearby(&self, s: &Vec3, effort: &mut Effort<'_>) -> VertexPair {
        effort.cost.supports += 2;
        let in_p = self.pair.p.pose.direction_to_body_rounded(s);
        let in_q = -self.pair.q.pose.direction_to_body_rounded(s);
        VertexPair {
            i: nearby(self.pair.p.body, &in_p, None).vertex,
            j: nearby(self.pair.q.body, &in_q, None).vertex,
        }
    }

    /// The pair that is probably least along `s`, climbing from `hint`.
    #[inline(always)]
    pub(crate) fn likely_least_from(
        &self,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        let in_p = self.pair.p.pose.direction_to_body_rounded(s);
        let in_q = -self.pair.q.pose.direction_to_body_rounded(s);
        let bodies = [self.pair.p.body, self.pair.q.body];
        let hints = [hint.map(|h| h.i), hint.map(|h| h.j)];
        let [of_p, of_q] = likely_pair(bodies, [&in_p, &in_q], hints, effort);
        VertexPair { i: of_p.vertex, j: of_q.vertex }
    }

    /// Both points of the pairs' weighted mean, rounded.
    #[inline(always)]
    pub(crate) fn mean(&self, weighted: impl Iterator<Item = (VertexPair, f64)>) -> [Vec3; 2] {
        let (p, q) = (&self.pair.p, &self.pair.q);
        let (mut local_p, mut local_q) = (Vec3::zeros(), Vec3::zeros());
        for (pair, weight) in weighted {
            local_p += p.body.vertex(pair.i) * weight;
            local_q += q.body.vertex(pair.j) * weight;
        }
        [p.pose.apply_rounded(&local_p), q.pose.apply_rounded(&local_q)]
    }
}

/// Whether the angle between two directions is acute and its squared sine less than `sine_squared`.
#[inline(always)]
pub(crate) fn turned_less(a: &Vec3, b: &Vec3, sine_squared: f64) -> bool {
    let along = a.dot(b);
    along > 0.0 && along * along > (1.0 - sine_squared) * a.norm_squared() * b.norm_squared()
}
