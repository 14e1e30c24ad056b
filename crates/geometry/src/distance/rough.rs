//! Along which direction two convex bodies are far apart that are no polytopes: told by supporting
//! points alone. GJK as in [`super::methods`], without tables, witnesses and proofs.

use super::simplex::{Growth, Simplex};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::number::tolerance::DISTANCE_PROGRESS;

/// A search for groups that takes longer is along parallel faces, where hardly anything changes.
const ROUNDS_MAX: usize = 24;

/// What a search found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rough {
    /// The direction from P to Q, of any length, along which they are farthest apart.
    pub(crate) along: Vec3,
    /// By about so much.
    pub(crate) gap: f64,
    /// A difference of a point of Q and one of P, up to rounding, that is about the nearest.
    pub(crate) nearest: Vec3,
}

/// Searches from a direction from P to Q, until they are more than `above` apart along one; `least`
/// says which point of M is least along a direction. Of bodies that overlap, it says what it saw.
#[inline(always)]
pub(crate) fn search(
    start: &Vec3,
    above: f64,
    mut least: impl FnMut(&Vec3) -> RoundedCorner,
) -> Rough {
    let first = least(start);
    let mut simplex = Simplex::point(first);
    let mut best = Rough { along: *start, gap: gap_along(start, &first), nearest: first.point };
    for _ in 0..ROUNDS_MAX {
        if best.gap > above {
            break;
        }
        let along = simplex.direction;
        let new = least(&along);
        let gap = gap_along(&along, &new);
        if gap > best.gap {
            (best.gap, best.along) = (gap, along);
        }
        let progress = simplex.squared - simplex.nearest.dot(&new.point);
        // False for NaN.
        let is_progress = progress > DISTANCE_PROGRESS * simplex.squared && !simplex.has(new.pair);
        if !is_progress || simplex.grow(new) != Growth::Nearer {
            break;
        }
    }
    // The weighted sum of the corners: what the search goes by is off where squares underflow.
    let weighted = simplex.corners().iter().zip(simplex.weights());
    best.nearest = weighted.map(|(corner, weight)| corner.point * *weight).sum();
    best
}

/// Nothing where the length is no number.
#[inline(always)]
fn gap_along(along: &Vec3, least: &RoundedCorner) -> f64 {
    let gap = along.dot(&least.point) / along.norm();
    if gap.is_nan() { f64::NEG_INFINITY } else { gap }
}
