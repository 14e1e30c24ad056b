//! The filter: what f64 arithmetic proves about a pair, with derived error bounds. Whatever it does
//! not prove (NaN and infinity included) is left to the exact stage.
//!
//! The statements are about the exact placed bodies `R v + t`, which are never rounded as such.
//!
//! What is a function of `const PROVEN: bool` is the same without its error bound when that is
//! false. Nothing but the measurement of what the bound costs makes use of it: see
//! `super::decide_unproven`.

use crate::geometry::claim::Verdict;
use crate::geometry::difference::rounded::{COMPONENT_MAX, Probe, View};
use crate::geometry::difference::{largest, offset, sum_of_sizes};
use crate::geometry::effort::Effort;
use crate::geometry::kernel::along;
use crate::geometry::number::rounding::{UNDERFLOW, UNDERFLOW_FLOOR, UNIT, gamma};
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::pose::STRETCH_MAX;
use crate::geometry::support::{Climb, looks_at_all, supporting_vertex};
use crate::geometry::witness::Witness;
use crate::geometry::{Mat3, Vec3};

/// A proof that this filter vouches for, nothing else can make one: what the witness holds now
/// proves the verdict. A separating direction is `direction`, an overlap is proven by the first
/// four pairs. So that nothing larger is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence(Verdict);

impl Evidence {
    /// What is proven.
    pub fn verdict(&self) -> Verdict {
        self.0
    }
}

/// What is certain about the gap `min over Q of s·y - max over P of s·x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// The direction, scaled by a power of two; the gap is along exactly this.
    pub(crate) direction: Vec3,
    /// At most the gap.
    pub(crate) lower: f64,
    /// Supporting vertices, up to rounding.
    pub(crate) pair: VertexPair,
}

/// A certified lower bound of the gap along a direction; none when the direction or the bound is
/// not finite.
#[inline]
pub(crate) fn certified_gap(
    pair: &Pair<'_>,
    direction: &Vec3,
    hint: Option<VertexPair>,
    effort: &mut Effort<'_>,
) -> Option<Gap> {
    let s = View::tame(direction)?;
    let probe = Probe::new(pair, &s, hint, effort);
    let sizes = Sizes::along(pair, &s);
    if let Some(lower) = sizes.lower_bound(pair, &probe) {
        return Some(Gap { direction: s, lower, pair: probe.pair() });
    }
    // Several vertices within rounding: which of them is the supporting one takes exact arithmetic.
    let (p, q) = (pair.p.body, pair.q.body);
    let i = supporting_vertex(p, &probe.in_p, Some(probe.of_p.vertex), effort);
    let j = supporting_vertex(q, &-probe.in_q, Some(probe.of_q.vertex), effort);
    let values = along(&probe.in_q, q.vertex(j)) - along(&probe.in_p, p.vertex(i));
    let lower = (along(&s, &offset(pair)) + values) - sizes.error();
    // An infinite value with an infinite error is NaN; an infinite value alone proves nothing.
    lower.is_finite().then_some(Gap { direction: s, lower, pair: VertexPair { i, j } })
}

/// Proves that the probe's direction separates, if its vertices are proven to be the supporting
/// ones by their neighbours and the gap by the error bound. Leaves both in the witness then.
#[inline(always)]
pub(super) fn separates<const PROVEN: bool>(
    pair: &Pair<'_>,
    probe: &Probe,
    witness: &mut Witness,
) -> Option<Evidence> {
    let positive = if PROVEN {
        Sizes::at_most(pair).lower_bound(pair, probe).is_some_and(|lower| lower > 0.0)
    } else {
        probe.value > 0.0
    };
    positive.then(|| {
        witness.direction = Some(probe.direction);
        witness.pairs.clear();
        witness.pairs.push(probe.pair());
        Evidence(Verdict::Separated)
    })
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
            along(&absolute.tr_mul(&s.abs()), &placed.body.bounds().reach)
        };
        Self {
            p: size(&pair.p),
            q: size(&pair.q),
            offset: along(&s.abs(), &offset(pair).abs()),
            underflow: UNDERFLOW_FLOOR * (1.0 + (span(&pair.p) + span(&pair.q))),
        }
    }

    /// Upper bounds of the same for whatever probe and whatever rotations, a few times as large:
    /// `A_k <= STRETCH_MAX |s|₁`, because no entry of R exceeds [`STRETCH_MAX`], and a probe's
    /// direction has components of at most [`COMPONENT_MAX`]. So nothing here waits for R or s, and
    /// hardly anything is computed.
    #[inline]
    fn at_most(pair: &Pair<'_>) -> Self {
        const LENGTH: f64 = 3.0 * COMPONENT_MAX;
        let (span_p, span_q) = (span(&pair.p), span(&pair.q));
        Self {
            p: (LENGTH * STRETCH_MAX) * span_p,
            q: (LENGTH * STRETCH_MAX) * span_q,
            offset: LENGTH * sum_of_sizes(&offset(pair)),
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

/// `Σ reach`
#[inline]
pub(super) fn span(placed: &Placed<'_>) -> f64 {
    placed.body.bounds().span
}

/// Beyond these the products of a few sizes could overflow or underflow, and the exact stage
/// decides.
pub(super) const PLAIN: std::ops::RangeInclusive<f64> = 1e-90..=1e90;

/// At least the size of what a difference `d = (R_Q q - R_P p) + (t_Q - t_P)` is summed from, in
/// each coordinate: `(|R_Q||q| + |R_P||p| + |t_Q - t_P|)_k`, because no entry of R exceeds
/// [`STRETCH_MAX`].
#[inline]
fn size_of_differences(pair: &Pair<'_>) -> f64 {
    STRETCH_MAX * (span(&pair.p) + span(&pair.q)) + sum_of_sizes(&offset(pair))
}

/// Whether the origin is certainly inside the tetrahedron of four pairs' differences: its four
/// faces have it on the same side as their fourth corner.
///
/// A difference is rounded in each coordinate within γ₈ of its size and 8 `UNDERFLOW`: products and
/// sums of two rows (γ₃ each), the translations' difference, two more sums.
pub(crate) fn certainly_encloses(pair: &Pair<'_>, four: &[VertexPair; 4]) -> bool {
    let (p, q) = (&pair.p, &pair.q);
    let named = four.iter().all(|k| k.i < p.body.vertex_count() && k.j < q.body.vertex_count());
    if !named {
        return false;
    }
    let offset = offset(pair);
    let corners = four.each_ref().map(|k| {
        let (x, y) = (p.body.vertex(k.i), q.body.vertex(k.j));
        (q.pose.rotation * y - p.pose.rotation * x) + offset
    });
    let size = size_of_differences(pair);
    let error = gamma(8) * size * (1.0 + gamma(8)) + 8.0 * UNDERFLOW;
    PLAIN.contains(&size) && encloses(&corners, error)
}

/// Proves that the differences of the witness's first four pairs hold the origin, as
/// [`certainly_encloses`] does, for a search that has computed them already, times `view.unit()`.
/// That product is exact but for underflow; it also makes the underflow of the differences' own
/// products that many times larger, six times `η unit` in each coordinate, where `η` is
/// `UNDERFLOW_FLOOR / 2^55`.
#[inline(always)]
pub(super) fn holds<const PROVEN: bool>(view: &View<'_>, corners: &[Vec3; 4]) -> Option<Evidence> {
    let mut error = 0.0;
    if PROVEN {
        let size = size_of_differences(view.pair()) * view.unit();
        let underflow = UNDERFLOW_FLOOR * (1.0 + 4.0 * UNIT * view.unit());
        error = gamma(8) * size * (1.0 + gamma(8)) + underflow;
        if !PLAIN.contains(&size) {
            return None;
        }
    }
    encloses(corners, error).then_some(Evidence(Verdict::Overlapping))
}

/// Whether the witness's first four pairs, those given, still hold the origin.
pub(super) fn still_holds(pair: &Pair<'_>, four: &[VertexPair; 4]) -> Option<Evidence> {
    certainly_encloses(pair, four).then_some(Evidence(Verdict::Overlapping))
}

/// Whether four points, each coordinate known to within `error`, have the origin strictly inside
/// their hull.
///
/// With `B` a vector's largest coordinate plus the error E, a determinant of three has six
/// products, each within `B₁B₂B₃`: evaluating it costs `γ₅ 6 B₁B₂B₃` (two products, three sums),
/// its arguments' errors `6 E (B₁B₂ + B₂B₃ + B₃B₁)`. γ₁₂ and the factor 7 cover the rounding of the
/// bound.
#[inline(always)]
fn encloses(corners: &[Vec3; 4], error: f64) -> bool {
    let [a, b, c, d] = corners;
    let (ab, cd) = (a.cross(b), c.cross(d));
    // Of the faces opposite a, b, c and d, each seen from outside or each from inside.
    let determinants = [cd.dot(b), -cd.dot(a), ab.dot(d), -ab.dot(c)];
    let [x, y, z, w] = corners.each_ref().map(|corner| largest(corner) + error);
    // More than each of the four bounds: sums over all the pairs and triples. When a length is NaN,
    // so is a determinant.
    let (xy, zw) = (x * y, z * w);
    let triples = xy * (z + w) + zw * (x + y);
    let doubles = xy + zw + (x + y) * (z + w);
    let bound = 6.0 * gamma(12) * triples + 7.0 * error * doubles;
    // NaN is on neither side.
    determinants.iter().all(|&side| side > bound) || determinants.iter().all(|&side| -side > bound)
}
