//! What a pair shows along one direction: the supporting vertices, as far as rounding tells, how
//! far the bodies are from each other there, and what is certain of that.

use crate::effort::Effort;
use crate::kernel::along;
use crate::number::binary::power_of_two;
use crate::number::rounding::{BOUND_SLACK, UNDERFLOW_FLOOR, gamma, length};
use crate::pair::{Pair, Placed, VertexPair};
use crate::pose::STRETCH_MAX;
use crate::support::{self, Climb, Near, looks_at_all, supporting_vertex};
use crate::{Mat3, Vec3};

/// No component of a [`Probe`]'s direction is larger. One that [`tame`] returns has
/// components below 2, so a length below `2 √3`, which reflections leave as it is but for
/// roundings.
pub(crate) const COMPONENT_MAX: f64 = 4.0;

/// Whether no component is larger than [`COMPONENT_MAX`]; false when one is not a number.
#[inline(always)]
pub(crate) fn is_within_bounds(s: &Vec3) -> bool {
    let fits = |c: f64| c.abs() <= COMPONENT_MAX;
    fits(s.x) & fits(s.y) & fits(s.z)
}

/// The largest component that [`tame`] can bring below 2.
const DIRECTION_MAX: f64 = power_of_two(1000);

/// The direction scaled so that its largest component is in [1, 2), so that products with it
/// neither overflow nor underflow; none if it is zero, not finite or beyond 2^1000, as no direction
/// is that comes of placed bodies. (One whose components are below 2^-1000 stays below 1.)
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

/// The vector from P's centre to Q's as a tame direction; some axis when the centres coincide.
#[inline(always)]
pub(crate) fn tame_between(between_centres: &Vec3) -> Vec3 {
    tame(between_centres).unwrap_or_else(Vec3::x)
}

/// `2^-e` for `2^e <= x < 2^(e+1)`, with e held to [-1000, 1000].
#[inline(always)]
pub(crate) fn inverse_power_of_two(x: f64) -> f64 {
    let biased = ((x.to_bits() >> 52) & 0x7ff).clamp(23, 2023);
    f64::from_bits((2046 - biased) << 52)
}

/// From the origin of P's frame to that of Q's, rounded.
#[inline(always)]
pub(crate) fn offset(pair: &Pair<'_>) -> Vec3 {
    pair.q.pose.translation - pair.p.pose.translation
}

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
    /// `s·(t_Q - t_P)`, rounded.
    of_translations: f64,
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

    /// Whether the direction separates: proven by the vertices' neighbours, which show that they
    /// are the supporting ones, and by the error bound of their gap.
    #[inline(always)]
    pub(crate) fn separates(&self, pair: &Pair<'_>) -> bool {
        self.certain_gap(pair).is_some_and(|lower| lower > 0.0)
    }

    /// At most the gap along the direction, times its length, if the neighbours show that the
    /// vertices are the supporting ones.
    #[inline(always)]
    pub(crate) fn certain_gap(&self, pair: &Pair<'_>) -> Option<f64> {
        Sizes::at_most(pair).lower_bound(pair, self)
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
        let Self { direction, in_p, in_q, of_translations, .. } = *self;
        let bodies = [pair.p.body, pair.q.body];
        let near = [self.of_p, self.of_q];
        let [of_p, of_q] = support::climb_both(bodies, [&in_p, &-in_q], near, effort);
        let value = of_translations - (of_p.value + of_q.value);
        Probe { direction, in_p, in_q, of_p, of_q, of_translations, value }
    }
}

/// What is certain about the gap `min over Q of s·y - max over P of s·x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CertifiedGap {
    /// The direction, scaled by a power of two; the gap is along exactly this.
    pub(crate) direction: Vec3,
    /// At most the gap.
    pub(crate) lower: f64,
    /// Supporting vertices, up to rounding.
    pub(crate) pair: VertexPair,
}

impl CertifiedGap {
    /// At most the gap per length of the direction: how far apart the bodies are along it, metres.
    #[inline]
    pub(crate) fn per_length(&self) -> f64 {
        self.lower / length(&self.direction) * (1.0 - BOUND_SLACK)
    }
}

/// A certified lower bound of the gap along a direction; none when the direction or the bound is
/// not finite.
#[inline]
pub(crate) fn certified_gap(
    pair: &Pair<'_>,
    direction: &Vec3,
    hint: Option<VertexPair>,
    effort: &mut Effort<'_>,
) -> Option<CertifiedGap> {
    let s = tame(direction)?;
    let probe = Probe::new(pair, &s, hint, effort);
    let sizes = Sizes::along(pair, &s);
    if let Some(lower) = sizes.lower_bound(pair, &probe) {
        return Some(CertifiedGap { direction: s, lower, pair: probe.pair() });
    }
    // Several vertices within rounding: which of them is the supporting one takes exact arithmetic.
    let (p, q) = (pair.p.body, pair.q.body);
    let i = supporting_vertex(p, &probe.in_p, Some(probe.of_p.vertex), effort);
    let j = supporting_vertex(q, &-probe.in_q, Some(probe.of_q.vertex), effort);
    let values = along(&probe.in_q, q.vertex(j)) - along(&probe.in_p, p.vertex(i));
    let lower = (probe.of_translations + values) - sizes.error();
    // An infinite value with an infinite error is NaN; an infinite value alone proves nothing.
    lower.is_finite().then_some(CertifiedGap { direction: s, lower, pair: VertexPair { i, j } })
}

/// The magnitudes that the errors along a direction s are relative to.
///
/// In P's frame the functional is `f = Rᵀs`, rounded to g. For the supporting vertex v, the exact
/// maximum for g, and no point of the body having coordinates beyond `reach`,
/// `max f·x <= g·v + Σ |f_k - g_k| reach_k`. With `A = |R|ᵀ|s|` and `S_P = Σ A_k reach_k`:
///
/// - `|f_k - g_k| <= γ₃ A_k + 3η` (three products, two sums), which costs `γ₃ S_P + 3η Σ reach`;
/// - `g·v` is rounded within `γ₃ Σ |g_k v_k| + 3η <= γ₃ (1 + γ₃) S_P + 3η (1 + Σ reach)`;
/// - the same for Q; and for the translations `d = t_Q - t_P`, rounded, `s·d` is within
///   `γ₄ S_d + 3η` with `S_d = Σ |s_k d_k|` (a sum of f64 numbers does not underflow);
/// - adding the three values is two more roundings of at most the sizes' sum.
///
/// In all at most `γ₈ (S_P + S_Q + S_d)` and `12η (1 + Σ reach)`; the sizes themselves are computed
/// within γ₆, which γ₁₆ covers. `η` is half of `UNDERFLOW`, and `UNDERFLOW_FLOOR` is far above what
/// the factors of it add up to.
///
/// v is the exact maximum for g when its rounded value exceeds that of each neighbour by more than
/// twice the rounding of one, `γ₃ Σ |g_k| reach_k + 3η <= γ₃ (1 + γ₃) S_P + 3η (1 + Σ reach)`; γ₁₆
/// of `S_P` and the same term for underflow are more than that.
///
/// Of a body of few vertices all have been looked at. Then v has only the largest of the rounded
/// values, and need not be the maximum, as when a box stands square to s and four vertices tie: but
/// `g·v` as rounded is at least that of the maximum, which is all that was used of it.
struct Sizes {
    p: f64,
    q: f64,
    offset: f64,
    /// At least what underflow adds: `UNDERFLOW_FLOOR (1 + Σ reach)` of both bodies.
    underflow: f64,
}

impl Sizes {
    #[inline]
    fn along(pair: &Pair<'_>, s: &Vec3) -> Self {
        let size = |placed: &Placed<'_>| {
            let absolute: Mat3 = placed.pose.rotation.abs();
            absolute.tr_mul(&s.abs()).dot(&placed.body.bounds().reach)
        };
        Self {
            p: size(&pair.p),
            q: size(&pair.q),
            offset: s.abs().dot(&offset(pair).abs()),
            underflow: UNDERFLOW_FLOOR
                * (1.0 + (pair.p.body.bounds().span + pair.q.body.bounds().span)),
        }
    }

    /// Upper bounds of the same for whatever probe and whatever rotations, a few times as large:
    /// `A_k <= STRETCH_MAX |s|₁`, because no entry of R exceeds [`STRETCH_MAX`], and a probe's
    /// direction has components of at most [`COMPONENT_MAX`]. So nothing here waits for R or s, and
    /// hardly anything is computed.
    #[inline]
    fn at_most(pair: &Pair<'_>) -> Self {
        const LENGTH: f64 = 3.0 * COMPONENT_MAX;
        let (span_p, span_q) = (pair.p.body.bounds().span, pair.q.body.bounds().span);
        Self {
            p: (LENGTH * STRETCH_MAX) * span_p,
            q: (LENGTH * STRETCH_MAX) * span_q,
            offset: LENGTH * offset(pair).abs().sum(),
            underflow: UNDERFLOW_FLOOR * (1.0 + (span_p + span_q)),
        }
    }

    /// At least the error of a gap that is computed from the exact maxima for the rounded
    /// directions.
    #[inline]
    fn error(&self) -> f64 {
        gamma(16) * (self.p + self.q + self.offset) + self.underflow
    }

    /// A lower bound of the gap, if the neighbours prove the probe's vertices to be the supporting
    /// ones, or nothing else was to be looked at.
    #[inline]
    fn lower_bound(&self, pair: &Pair<'_>, probe: &Probe) -> Option<f64> {
        // NaN proves nothing.
        let is_top = |placed: &Placed<'_>, found: &Climb, size: f64| {
            looks_at_all(placed.body)
                | (found.value - found.runner_up > gamma(16) * size + self.underflow)
        };
        let proven = is_top(&pair.p, &probe.of_p, self.p) & is_top(&pair.q, &probe.of_q, self.q);
        let lower = probe.value - self.error();
        (proven && lower.is_finite()).then_some(lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tame_direction_is_the_same_direction_of_size_one() {
        for x in [1.0, -3.0, 1e300, -1e-300, 2f64.powi(1000), 2f64.powi(-1000)] {
            let tame = tame(&Vec3::new(x, -x / 2.0, 0.0)).unwrap();
            assert!((1.0..2.0).contains(&tame.x.abs()));
            assert_eq!(tame.y.to_bits(), (-tame.x / 2.0).to_bits());
        }
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(tame(&Vec3::new(bad, 0.0, 0.0)), None);
            assert_eq!(tame(&Vec3::new(0.0, bad, 0.0)), None);
        }
        assert_eq!(tame(&Vec3::new(1.0, f64::NAN, 0.0)), None);
    }

    /// A witness may hold any direction. Scaled by 2^-1000 at most, f64::MAX would become 2^23, for
    /// which the error bounds of a probe are too small by as much.
    #[test]
    fn no_tame_direction_is_larger_than_a_probe_allows() {
        for exponent in -1022..=1023 {
            let x = 1.99 * 2f64.powi(exponent);
            let tame = tame(&Vec3::new(-x, x / 3.0, x));
            assert!(tame.is_none_or(|tame| tame.amax() < 2.0), "{exponent}");
            assert!(tame.is_some() || exponent >= 1000, "{exponent}");
        }
    }
}
