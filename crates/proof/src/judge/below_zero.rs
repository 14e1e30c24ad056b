//! The judge of what is said of a margin below 0: whether bodies overlap at least so deep.
//!
//! With R the exact sum of the radii, rounded bodies overlap by `m` and no less if the polytopes
//! that are rounded come within `R - m` of each other; where that is negative, if these overlap by
//! `m - R` and no less.

use std::cmp::Ordering;

use super::depth::judge_surface;
use super::direction::exact_direction;
use super::exact::{exact_differences, shows_farther};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use super::rounded::{RoundedBodies, signed_gap_compared, sum};
use crate::claim::{DepthSide, MarginClaim, Verdict};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::vertex_pair::VertexPair;

/// Proves what is said of a margin below 0, of bodies that stand as `verdict` says, which is proven
/// apart from this.
///
/// Bodies that do not overlap are beyond it. Of those that do, with `left` for the sum of the radii
/// and the margin: `claim.depth` shows that M reaches along a direction by less than `-left`, or
/// that a surface in M around the origin is at least `-left` from it. Without it, the pairs show
/// that the polytopes are within `left` of each other, which is not negative, or farther apart;
/// where the claim has none, `shown` do, which show the verdict.
pub(super) fn judge_below_zero(
    bodies: RoundedBodies<'_>,
    verdict: Verdict,
    shown: &[VertexPair],
    claim: &MarginClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &MarginClaim { margin, is_within, pairs, depth } = claim;
    let RoundedBodies { cores, radii } = bodies;
    if !margin.is_finite() {
        return Err(Refusal::BoundFails("a margin is finite"));
    }
    if verdict != Verdict::Overlapping {
        let refused = Err(Refusal::BoundFails("bodies that do not overlap are not so deep"));
        return if is_within { refused } else { Ok(()) };
    }
    let left = &sum(&radii)? + &Dyadic::from(margin);
    let shallower = Refusal::BoundFails("the bodies may be less deep than the margin");
    let deeper = Refusal::BoundFails("the bodies may be as deep as the margin");
    match (depth, is_within) {
        (Some(DepthSide::Less(direction)), false) => {
            // The gap along the opposite is minus how far M reaches.
            let back = exact_direction(&cores, direction)?.map(|c| -&c);
            let is_less = signed_gap_compared(&cores, &back, &left, effort)? == Ordering::Greater;
            if is_less { Ok(()) } else { Err(deeper) }
        }
        (Some(DepthSide::AtLeast(surface)), true) => {
            let least = if left.sign() == Sign::Negative { -&left } else { Dyadic::zero() };
            judge_surface(&cores, &least, surface, effort)
        }
        (Some(_), _) => Err(Refusal::BoundFails("what is shown of the depth is the opposite")),
        (None, _) if left.sign() == Sign::Negative => {
            Err(Refusal::BoundFails("nothing shows how deep the bodies are"))
        }
        (None, _) => {
            if pairs.len() > 3 {
                return Err(Refusal::PairCount("one to three"));
            }
            let pairs = if pairs.is_empty() { shown } else { pairs };
            if pairs.is_empty() {
                return Err(Refusal::PairCount("one to three"));
            }
            let nearest = nearest_point(&exact_differences(&cores, pairs)?);
            if is_within {
                let is_shown = nearest.length_compared(&left) != Ordering::Greater;
                return if is_shown { Ok(()) } else { Err(shallower) };
            }
            let is_shown = shows_farther(&cores, &nearest.along, &left, effort)?;
            if is_shown { Ok(()) } else { Err(deeper) }
        }
    }
}
