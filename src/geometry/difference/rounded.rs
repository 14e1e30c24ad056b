//! A pair as the floating-point searches see it: rounded differences of M in the world's axes, in a
//! unit in which nothing overflows.

use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::kernel::along;
use crate::geometry::number::scale::power_of_two;
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::support::{self, Climb, Near};
use crate::geometry::witness::Witness;

/// No component of a [`Probe`]'s direction is larger. One that [`View::tame`] returns has
/// components below 2, so a length below `2 √3`, which reflections leave as it is but for
/// roundings.
pub(crate) const COMPONENT_MAX: f64 = 4.0;

/// Whether no component is larger than [`COMPONENT_MAX`]; false when one is not a number.
#[inline(always)]
pub(crate) fn is_within_bounds(s: &Vec3) -> bool {
    let fits = |c: f64| c.abs() <= COMPONENT_MAX;
    fits(s.x) & fits(s.y) & fits(s.z)
}

/// The largest component that [`View::tame`] can bring below 2.
const DIRECTION_MAX: f64 = power_of_two(1000);

/// What the bodies show along a direction: likely supporting vertices, and how far apart they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// s, a world direction whose components are at most [`COMPONENT_MAX`].
    pub(crate) direction: Vec3,
    /// `Rᵀs` as each body sees it, rounded.
    pub(crate) in_p: Vec3,
    pub(crate) in_q: Vec3,
    /// P's vertex farthest along `in_p`; Q's farthest against `in_q`.
    pub(crate) of_p: Climb,
    pub(crate) of_q: Climb,
    /// `s·(q - p)`, rounded: the value along s of the difference that the two name.
    pub(crate) value: f64,
}

impl Probe {
    /// Looks along `s`, climbing from `hint`.
    #[inline]
    pub(crate) fn new(
        pair: &Pair<'_>,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> Self {
        Ends::new(pair, s, hint).climbed(pair, effort)
    }

    /// The vertices, as a pair.
    pub(crate) fn pair(&self) -> VertexPair {
        VertexPair { i: self.of_p.vertex, j: self.of_q.vertex }
    }
}

/// Vertices near the supporting ones along a direction, and how far apart they are: where a
/// [`Probe`] starts, and enough to tell that the direction does not separate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    direction: Vec3,
    in_p: Vec3,
    in_q: Vec3,
    of_p: Near,
    of_q: Near,
    /// `s·(t_Q - t_P)`, rounded.
    of_translations: f64,
}

impl Ends {
    /// The hint, or what the start tables say.
    #[inline(always)]
    pub(crate) fn new(pair: &Pair<'_>, s: &Vec3, hint: Option<VertexPair>) -> Self {
        debug_assert!(is_within_bounds(s));
        let (p, q) = (&pair.p, &pair.q);
        let in_p = p.pose.direction_to_body_rounded(s);
        let in_q = q.pose.direction_to_body_rounded(s);
        Self {
            direction: *s,
            in_p,
            in_q,
            of_p: support::nearby(p.body, &in_p, hint.map(|pair| pair.i)),
            of_q: support::nearby(q.body, &-in_q, hint.map(|pair| pair.j)),
            of_translations: along(s, &(q.pose.translation - p.pose.translation)),
        }
    }

    /// The vertices, as a pair.
    pub(crate) fn pair(&self) -> VertexPair {
        VertexPair { i: self.of_p.vertex, j: self.of_q.vertex }
    }

    /// `s·(q - p)` of the pair, rounded.
    #[inline(always)]
    pub(crate) fn value(&self) -> f64 {
        self.of_translations - (self.of_p.value + self.of_q.value)
    }

    /// Climbs from them to the likely supporting vertices.
    #[inline(always)]
    pub(crate) fn climbed(&self, pair: &Pair<'_>, effort: &mut Effort<'_>) -> Probe {
        let Self { direction, in_p, in_q, .. } = *self;
        let bodies = [pair.p.body, pair.q.body];
        let near = [self.of_p, self.of_q];
        let [of_p, of_q] = support::climb_both(bodies, [&in_p, &-in_q], near, effort);
        let value = self.of_translations - (of_p.value + of_q.value);
        Probe { direction, in_p, in_q, of_p, of_q, value }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pair: &'a Pair<'a>,
    /// From P's origin to Q's.
    offset: Vec3,
    /// The power of two by which differences are multiplied; about one over the size of the scene.
    unit: f64,
}

impl<'a> View<'a> {
    #[inline(always)]
    pub(crate) fn new(pair: &'a Pair<'a>) -> Self {
        let offset = pair.q.pose.translation - pair.p.pose.translation;
        let spans = pair.p.body.bounds().span + pair.q.body.bounds().span;
        let size = (offset.x.abs() + offset.y.abs()) + (offset.z.abs() + spans);
        Self { pair, offset, unit: inverse_power_of_two(size) }
    }

    /// P and Q.
    pub(crate) fn pair(&self) -> &'a Pair<'a> {
        self.pair
    }

    /// The power of two by which differences are multiplied.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// `q_j - p_i`, rounded, times the unit.
    #[inline(always)]
    pub(crate) fn difference(&self, pair: VertexPair) -> Vec3 {
        let p = self.pair.p.pose.rotation * self.pair.p.body.vertex(pair.i);
        let q = self.pair.q.pose.rotation * self.pair.q.body.vertex(pair.j);
        ((q - p) + self.offset) * self.unit
    }

    /// From P's centre to Q's, as a tame direction; some axis when they coincide.
    #[inline(always)]
    pub(crate) fn tame_between(between_centres: &Vec3) -> Vec3 {
        Self::tame(between_centres).unwrap_or_else(Vec3::x)
    }

    /// The likely vertices of P farthest along `s` and of Q farthest against it.
    #[inline]
    pub(crate) fn supporting_pair(
        &self,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        let (p, q) = (&self.pair.p, &self.pair.q);
        let along_p = p.pose.direction_to_body_rounded(s);
        let against_q = -q.pose.direction_to_body_rounded(s);
        let hints = [hint.map(|pair| pair.i), hint.map(|pair| pair.j)];
        let found = support::likely_pair([p.body, q.body], [&along_p, &against_q], hints, effort);
        let [i, j] = found.map(|climb| climb.vertex);
        VertexPair { i, j }
    }

    /// The latest supporting pair, as a hint for the first candidate.
    pub(crate) fn hint(&self, witness: &Witness) -> Option<VertexPair> {
        witness.direction.and(witness.pairs.first().copied())
    }

    /// Whether the pair names vertices of these bodies.
    pub(crate) fn has(&self, pair: VertexPair) -> bool {
        pair.i < self.pair.p.body.vertex_count() && pair.j < self.pair.q.body.vertex_count()
    }

    /// The same direction with its largest component in [1, 2), so that products with it neither
    /// overflow nor underflow; none if it is zero, not finite or beyond 2^1000, as no direction is
    /// that comes of placed bodies. (One whose components are below 2^-1000 stays below 1.)
    #[inline(always)]
    pub(crate) fn tame(direction: &Vec3) -> Option<Vec3> {
        let (x, y, z) = (direction.x.abs(), direction.y.abs(), direction.z.abs());
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let largest = larger(larger(x, y), z);
        let sum = direction.x + direction.y + direction.z;
        // The sum is not finite when a component is not; subnormal directions are given up.
        let usable = (f64::MIN_POSITIVE..=DIRECTION_MAX).contains(&largest) && sum.is_finite();
        usable.then(|| direction * inverse_power_of_two(largest))
    }
}

/// `2^-e` for `2^e <= x < 2^(e+1)`, with e held to [-1000, 1000].
#[inline(always)]
pub(crate) fn inverse_power_of_two(x: f64) -> f64 {
    let biased = ((x.to_bits() >> 52) & 0x7ff).clamp(23, 2023);
    f64::from_bits((2046 - biased) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tame_direction_is_the_same_direction_of_size_one() {
        for x in [1.0, -3.0, 1e300, -1e-300, 2f64.powi(1000), 2f64.powi(-1000)] {
            let tame = View::tame(&Vec3::new(x, -x / 2.0, 0.0)).unwrap();
            assert!((1.0..2.0).contains(&tame.x.abs()));
            assert_eq!(tame.y.to_bits(), (-tame.x / 2.0).to_bits());
        }
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(View::tame(&Vec3::new(bad, 0.0, 0.0)), None);
            assert_eq!(View::tame(&Vec3::new(0.0, bad, 0.0)), None);
        }
        assert_eq!(View::tame(&Vec3::new(1.0, f64::NAN, 0.0)), None);
    }

    /// A witness may hold any direction. Scaled by 2^-1000 at most, f64::MAX would become 2^23, for
    /// which the error bounds of a probe are too small by as much.
    #[test]
    fn no_tame_direction_is_larger_than_a_probe_allows() {
        for exponent in -1022..=1023 {
            let x = 1.99 * 2f64.powi(exponent);
            let tame = View::tame(&Vec3::new(-x, x / 3.0, x));
            assert!(tame.is_none_or(|tame| tame.amax() < 2.0), "{exponent}");
            assert!(tame.is_some() || exponent >= 1000, "{exponent}");
        }
    }
}
