//! The filter: what f64 arithmetic proves about a pair, with derived error bounds. Whatever it does
//! not prove (NaN and infinity included) is left to the exact stage.
//!
//! The statements are about the exact placed bodies `R v + t`, which are never rounded as such.

use super::view::View;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::{UNDERFLOW, gamma};
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::support::supporting_vertex;
use crate::geometry::{Mat3, Vec3};

/// What is certain about the gap `min over Q of s·y - max over P of s·x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// The direction, scaled by a power of two; the gap is along exactly this.
    pub(crate) direction: Vec3,
    /// At most the gap.
    pub(crate) lower: f64,
    /// Supporting vertices for the direction as rounded into each body's frame.
    pub(crate) pair: VertexPair,
}

/// A certified lower bound of the gap along a direction; none when the direction or the bound is not
/// finite.
///
/// In P's frame the functional is `f = Rᵀs`, rounded to g. The supporting vertex v is the exact
/// maximum for g, and no point of the body has coordinates beyond `reach`, so
/// `max f·x <= g·v + Σ |f_k - g_k| reach_k`. With `A = |R|ᵀ|s|` and `S_P = Σ A_k reach_k`:
///
/// - `|f_k - g_k| <= γ₃ A_k + 3η` (three products, two sums), which costs `γ₃ S_P + 3η Σ reach`;
/// - `g·v` is rounded within `γ₃ Σ |g_k v_k| + 3η <= γ₃ (1 + γ₃) S_P + 3η`;
/// - the same for Q; and for the translations `d = t_Q - t_P`, rounded, `s·d` is within
///   `γ₄ Σ |s_k d_k| + 3η` (a sum of f64 numbers does not underflow);
/// - adding the three values is two more roundings of at most the sizes' sum.
///
/// In all at most `γ₈ (S_P + S_Q + Σ |s_k d_k|)` and `9η + 3η Σ reach`; the sizes themselves are
/// computed within γ₆, which γ₁₆ covers. `η` is half of `UNDERFLOW`.
#[inline]
pub(crate) fn certified_gap(
    pair: &Pair<'_>,
    direction: &Vec3,
    hint: Option<VertexPair>,
    effort: &mut Effort<'_>,
) -> Option<Gap> {
    let s = View::tame(direction)?;
    let (p, q) = (&pair.p, &pair.q);
    let in_p = p.pose.direction_to_body_rounded(&s);
    let in_q = q.pose.direction_to_body_rounded(&s);
    let i = supporting_vertex(p.body, &in_p, hint.map(|hint| hint.i), effort);
    let j = supporting_vertex(q.body, &-in_q, hint.map(|hint| hint.j), effort);
    let offset = q.pose.translation - p.pose.translation;
    let value = dot(&s, &offset) + (dot(&in_q, q.body.vertex(j)) - dot(&in_p, p.body.vertex(i)));
    let size = dot(&s.abs(), &offset.abs()) + size_along(p, &s) + size_along(q, &s);
    let (reach_p, reach_q) = (p.body.bounds().reach, q.body.bounds().reach);
    let error = gamma(16) * size + UNDERFLOW * (8.0 + 4.0 * (reach_p.sum() + reach_q.sum()));
    let lower = value - error;
    // An infinite value with an infinite error is NaN; an infinite value alone proves nothing.
    lower.is_finite().then_some(Gap { direction: s, lower, pair: VertexPair { i, j } })
}

/// `Σ (|R|ᵀ|s|)_k reach_k`
#[inline]
fn size_along(placed: &Placed<'_>, s: &Vec3) -> f64 {
    let absolute: Mat3 = placed.pose.rotation.abs();
    dot(&absolute.tr_mul(&s.abs()), &placed.body.bounds().reach)
}

#[inline]
fn dot(a: &Vec3, b: &Vec3) -> f64 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// Beyond these the determinants could overflow or underflow, and the exact stage decides.
const PLAIN: std::ops::RangeInclusive<f64> = 1e-90..=1e90;

/// Whether the origin is certainly inside the tetrahedron of four pairs' differences: its four
/// faces have it on the same side as their fourth corner.
///
/// A difference `d = (R_Q q - R_P p) + (t_Q - t_P)` is rounded in each coordinate within
/// `E = γ₈ (|R_Q||q| + |R_P||p| + |t|) + 8 UNDERFLOW`: products and sums of two rows (γ₃ each), the
/// translations' difference, two more sums. With `B` a vector's largest coordinate plus E, a
/// determinant of three has six products, each within `B₁B₂B₃`: evaluating it costs
/// `γ₅ 6 B₁B₂B₃` (two products, three sums), its arguments' errors
/// `6 E (B₁B₂ + B₂B₃ + B₃B₁)`. γ₁₂ and the factor 7 cover the rounding of the bound.
#[inline]
pub(crate) fn certainly_encloses(pair: &Pair<'_>, four: &[VertexPair; 4]) -> bool {
    let (p, q) = (&pair.p, &pair.q);
    let named = four.iter().all(|k| k.i < p.body.vertex_count() && k.j < q.body.vertex_count());
    if !named {
        return false;
    }
    let offset = q.pose.translation - p.pose.translation;
    let (absolute_p, absolute_q) = (p.pose.rotation.abs(), q.pose.rotation.abs());
    let mut corners = [Vec3::zeros(); 4];
    let mut size: f64 = 0.0;
    for (corner, k) in corners.iter_mut().zip(four) {
        let (x, y) = (p.body.vertex(k.i), q.body.vertex(k.j));
        *corner = (q.pose.rotation * y - p.pose.rotation * x) + offset;
        let sizes = (absolute_q * y.abs() + absolute_p * x.abs()) + offset.abs();
        size = size.max(sizes.amax());
    }
    if !PLAIN.contains(&size) {
        return false;
    }
    let error = gamma(8) * size * (1.0 + gamma(8)) + 8.0 * UNDERFLOW;
    let longest = corners.map(|corner| corner.amax() + error);
    let side = |a: usize, b: usize, c: usize| {
        let determinant = dot(&corners[a], &corners[b].cross(&corners[c]));
        let (x, y, z) = (longest[a], longest[b], longest[c]);
        let bound = 6.0 * gamma(12) * (x * y * z) + 7.0 * error * (x * y + y * z + z * x);
        // NaN is on neither side.
        if determinant > bound {
            1
        } else if -determinant > bound {
            -1
        } else {
            0
        }
    };
    let first = side(1, 2, 3);
    first != 0 && side(0, 3, 2) == first && side(0, 1, 3) == first && side(0, 2, 1) == first
}
