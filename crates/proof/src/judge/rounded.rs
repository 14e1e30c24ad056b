//! The judge of a verdict on rounded bodies: exact, from scratch, looking at every vertex.

use std::cmp::Ordering;

use super::depth::judge_surface;
use super::direction::exact_direction;
use super::distance::judge_bounds;
use super::exact::{Exact, exact_differences, gap_along, gap_compared, scalar_product};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use crate::claim::{Bodies, RoundedDepthClaim, RoundedProof, Verdict};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::vertex_pair::VertexPair;

/// Proves the verdict on two polytopes with balls of these radii around all their points, metres.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, pair::VertexPair};
/// use clearance_geometry::claim::{RoundedProof, Verdict};
/// use clearance_geometry::judge::judge_rounded;
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let touch = |radii| {
///     let pairs = [VertexPair { i: 0, j: 0 }].into_iter().collect();
///     let proof = RoundedProof { verdict: Verdict::Touching, pairs };
///     judge_rounded(&pair, radii, &proof, &mut Effort::unlimited())
/// };
/// assert!(touch([2.0, 3.0]).is_ok());
/// assert!(touch([2.0, 3.0_f64.next_up()]).is_err());
/// ```
pub fn judge_rounded<'a>(
    pair: impl Into<Bodies<'a>>,
    radii: [f64; 2],
    proof: &RoundedProof,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let (pair, reach) = (&pair.into(), sum(&radii)?);
    if reach.sign() != Sign::Positive {
        return Err(Refusal::BoundFails("neither body is rounded"));
    }
    let RoundedProof { verdict, pairs } = proof;
    if pairs.is_empty() || (*verdict != Verdict::Overlapping && pairs.len() > 3) {
        return Err(Refusal::PairCount("one to three"));
    }
    let nearest = nearest_point(&exact_differences(pair, pairs)?);
    let (length, along) = (nearest.length_compared(&reach), &nearest.along);
    match verdict {
        Verdict::Overlapping if length == Ordering::Less => Ok(()),
        Verdict::Overlapping => Err(Refusal::BoundFails("the pairs are not nearer than the radii")),
        Verdict::Touching if length != Ordering::Equal => {
            Err(Refusal::BoundFails("the pairs are not as far apart as the radii"))
        }
        Verdict::Touching if gap_compared(pair, along, &reach, effort)? == Ordering::Less => {
            Err(Refusal::NotTouching)
        }
        Verdict::Separated if gap_compared(pair, along, &reach, effort)? != Ordering::Greater => {
            Err(Refusal::NotSeparating)
        }
        Verdict::Touching | Verdict::Separated => Ok(()),
    }
}

/// Proves that the distance of bodies that are apart is in `[lower, upper]`: with v the point
/// nearest the origin in the hull of one to three pairs' differences, |v| is at most R and `upper`,
/// and the least of `v·y / |v|` over M at least R and `lower`.
pub fn judge_rounded_distance<'a>(
    pair: impl Into<Bodies<'a>>,
    [of_p, of_q]: [f64; 2],
    [lower, upper]: [f64; 2],
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let bodies = RoundedBodies { cores: pair.into(), radii: [of_p, of_q] };
    judge_bounds([lower, upper])?;
    if judge_rounded_lower(bodies, [lower, upper], pairs, effort)? {
        Ok(())
    } else {
        Err(Refusal::BoundFails("the pairs are farther away than the upper bound"))
    }
}

/// Proves the lower bound alone, and tells whether the pairs show the upper one, too.
pub(super) fn judge_rounded_lower(
    RoundedBodies { cores, radii: [of_p, of_q] }: RoundedBodies<'_>,
    [lower, upper]: [f64; 2],
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<bool, Refusal> {
    if !(1..=3).contains(&pairs.len()) {
        return Err(Refusal::PairCount("one to three"));
    }
    let nearest = nearest_point(&exact_differences(&cores, pairs)?);
    let least = sum(&[of_p, of_q, lower])?;
    if gap_compared(&cores, &nearest.along, &least, effort)? == Ordering::Less {
        return Err(Refusal::BoundFails("the bodies come closer than the lower bound"));
    }
    Ok(nearest.length_compared(&sum(&[of_p, of_q, upper])?) != Ordering::Greater)
}

/// Polytopes with balls of these radii around all their points, metres.
#[derive(Clone, Copy, Debug)]
pub struct RoundedBodies<'a> {
    /// The polytopes.
    pub cores: Bodies<'a>,
    /// Metres; of a polytope that is not rounded 0.
    pub radii: [f64; 2],
}

impl RoundedBodies<'_> {
    /// Whether one of them is rounded.
    pub(super) fn are_rounded(&self) -> bool {
        self.radii.iter().any(|radius| *radius > 0.0)
    }
}

/// Proves that the depth of bodies that overlap, as `proof` says and is proven apart from this, is
/// at most `upper`, and, where the pairs or a surface show it, at least `lower`.
///
/// Upper: M reaches from the origin along `face` by at most `upper` less R, which is negative where
/// M does not hold the origin. Lower: the pairs are no farther than R less `lower`; where that is
/// negative they hold the origin, and only a surface shows it, as of bodies without radii.
pub fn judge_rounded_depth(
    RoundedBodies { cores, radii }: RoundedBodies<'_>,
    proof: &RoundedProof,
    claim: &RoundedDepthClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let RoundedDepthClaim { bounds: [lower, upper], face, surface } = *claim;
    judge_bounds([lower, upper])?;
    let (reach, exact) = (sum(&radii)?, |x: f64| Dyadic::from(x));
    let outward = exact_direction(&cores, face)?;
    // The gap along the opposite is how far M stays away from the origin on that side.
    let opposite = outward.each_ref().map(|c| -c);
    let beyond = &reach - &exact(upper);
    if signed_gap_compared(&cores, &opposite, &beyond, effort)? == Ordering::Less {
        return Err(Refusal::BoundFails("M reaches beyond the upper bound"));
    }
    let left = &reach - &exact(lower);
    let is_deeper = left.sign() == Sign::Negative;
    if let (true, Some(surface)) = (is_deeper, surface) {
        return judge_surface(&cores, &-&left, surface, effort);
    }
    let nearest = nearest_point(&exact_differences(&cores, &proof.pairs)?);
    let most = if is_deeper { &Dyadic::zero() } else { &left };
    if nearest.length_compared(most) == Ordering::Greater {
        return Err(Refusal::BoundFails("the pairs are farther away than the lower bound leaves"));
    }
    Ok(())
}

/// How the gap along a direction, by its length, compares with a length that may be negative, as
/// the gap may. The direction is not zero.
pub(super) fn signed_gap_compared(
    pair: &Bodies<'_>,
    s: &Exact,
    length: &Dyadic,
    effort: &mut Effort<'_>,
) -> Result<Ordering, Refusal> {
    Ok(signed_compared(&gap_along(pair, s, effort)?, s, length))
}

/// How a gap along a direction, times its length, compares with a length; either may be negative.
pub(super) fn signed_compared(gap: &Dyadic, s: &Exact, length: &Dyadic) -> Ordering {
    let squares = (gap * gap).cmp(&(&(length * length) * &scalar_product(s, s)));
    match (gap.sign(), length.sign()) {
        (Sign::Negative, Sign::Negative) => squares.reverse(),
        (Sign::Negative, _) => Ordering::Less,
        (_, Sign::Negative) => Ordering::Greater,
        (Sign::Zero | Sign::Positive, Sign::Zero | Sign::Positive) => squares,
    }
}

/// The exact sum of lengths.
pub(super) fn sum(lengths: &[f64]) -> Result<Dyadic, Refusal> {
    if !lengths.iter().all(|length| (0.0..f64::INFINITY).contains(length)) {
        return Err(Refusal::BoundFails("radii and margins are finite and not negative"));
    }
    Ok(lengths.iter().fold(Dyadic::zero(), |sum, length| &sum + &Dyadic::from(*length)))
}
