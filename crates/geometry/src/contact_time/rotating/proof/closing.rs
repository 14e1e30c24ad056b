//! Contact at the very time at which a gap closes that no rotation changes: a face across the axis
//! that a body turns about, and what comes to lie on it.
//!
//! Such a gap is exactly linear in t, and so the time at which it is zero is exact, too. At the end
//! of the step nothing comes after it that would be deeper, and flat bodies never are deep.

use super::at_time::width_allowed;
use super::in_plane::prove_in_plane;
use crate::Vec3;
use crate::contact_time::rotating::bounds::unturned::{
    SharedPlane, exact_height, normals, rate_along, reach_along, rounded_height,
};
use crate::contact_time::rotating::search::{ContactAt, TurningSearch};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::tolerance::LEVEL;
use crate::pair::Placed;
use crate::pair::Question;

/// The directions from which the search for pairs around the origin begins in the plane: any
/// direction, and a second one for where the origin is straight behind a corner seen from the
/// first.
const WAYS: [Vec3; 2] = [Vec3::new(0.9, 0.3, 0.2), Vec3::new(-0.2, 0.8, -0.7)];

/// A gap along a direction that no rotation changes.
struct ClosingGap {
    /// When it is zero, exactly.
    t: f64,
    /// The plane in which the bodies then touch.
    plane: SharedPlane,
}

/// Contact at the time, after `free`, at which such a gap closes, if an f64 number names that time.
#[cold]
#[inline(never)]
pub(in super::super) fn closing(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Option<ContactAt> {
    if search.told.margin > 0.0 {
        return None;
    }
    let question = search.told.question;
    normals(question).flat_map(|n| [n, -n]).find_map(|n| {
        let ClosingGap { t, plane } = ClosingGap::along(question, &n)?;
        // Deviations, which have to be kept clear, end the free part earlier.
        let is_narrow =
            search.told.clear > 0.0 || t - free <= width_allowed(search, free, t, effort);
        if t < free || !is_narrow {
            return None;
        }
        let pair = &search.moving.pair;
        let prove = |way: &Vec3| prove_in_plane(&plane, pair, t, way);
        WAYS.iter().find_map(prove).map(|pairs| ContactAt { t, pairs })
    })
}

impl ClosingGap {
    /// The gap from P up to Q along `normal`, if it is open at t = 0 and closed by t = 1.
    fn along(question: &Question<'_>, normal: &Vec3) -> Option<Self> {
        let (p, q) = (&question.pair.p, &question.pair.q);
        let of_p = rate_along(p, &question.motion_p, normal)?;
        let rate = &rate_along(q, &question.motion_q, normal)? - &of_p;
        let (top, p) = extreme(p, normal, Sign::Positive)?;
        let (bottom, q) = extreme(q, normal, Sign::Negative)?;
        let gap = &bottom - &top;
        if rate.sign() != Sign::Negative || gap.sign() != Sign::Positive {
            return None;
        }
        let rounded = |x: &Dyadic| x.enclosed().middle();
        let t = rounded(&gap) / -rounded(&rate);
        let is_closed_at = |t: &f64| (&gap + &(&rate * &Dyadic::from(*t))).sign() == Sign::Zero;
        let t =
            [t, t.next_down(), t.next_up()].into_iter().find(|t| *t <= 1.0 && is_closed_at(t))?;
        Some(Self { t, plane: SharedPlane::through(normal, p, q) })
    }
}

/// How high the body reaches along `normal` at t = 0, or how low, exactly; and the vertices there.
fn extreme(placed: &Placed<'_>, normal: &Vec3, side: Sign) -> Option<(Dyadic, Vec<u32>)> {
    let upright = normal / normal.amax();
    let outward = if side == Sign::Positive { upright } else { -upright };
    let all = || 0..placed.body.vertex_count();
    let height = |i: u32| rounded_height(placed, i, &outward);
    let rounded = all().map(height).fold(f64::NEG_INFINITY, f64::max);
    let reach = reach_along(placed, &outward);
    // This finds candidates; which of them are the highest is decided exactly.
    let near = all().filter(|&i| rounded - height(i) <= LEVEL * reach);
    let near: Vec<_> = near.map(|i| (i, exact_height(placed, i, normal))).collect();
    let heights = near.iter().map(|(_, height)| height);
    let highest = if side == Sign::Positive { heights.max() } else { heights.min() };
    let highest = highest?.clone();
    let there = near.iter().filter(|(_, height)| *height == highest).map(|(i, _)| *i).collect();
    Some((highest, there))
}
