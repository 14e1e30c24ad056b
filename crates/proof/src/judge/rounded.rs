//! The judge of a verdict on rounded bodies: exact, from scratch, looking at every vertex.

use std::cmp::Ordering;

use super::depth::judge_surface;
use super::direction::exact_direction;
use super::distance::judge_bounds;
use super::exact::{Exact, exact_differences, gap_along, gap_compared, scalar_product};
use super::motion::judge_motion;
use super::nearest::nearest_point;
use super::refusal::Refusal;
use crate::claim::{
    Bodies, Course, Direction, MotionClaim, Outcome, RoundedDepthClaim, RoundedMargin,
    RoundedMotionClaim, RoundedProof, StaticProof, Verdict,
};
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

/// Proves what is said of a margin, of bodies whose verdict is proven so.
pub fn judge_rounded_margin<'a>(
    pair: impl Into<Bodies<'a>>,
    [of_p, of_q]: [f64; 2],
    proof: &RoundedProof,
    claim: &RoundedMargin,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let (pair, reach) = (&pair.into(), sum(&[of_p, of_q, claim.margin])?);
    if proof.verdict != Verdict::Separated {
        let refused = Err(Refusal::BoundFails("the bodies are in contact"));
        return if claim.is_within { Ok(()) } else { refused };
    }
    let pairs: &[VertexPair] = if claim.pairs.is_empty() { &proof.pairs } else { &claim.pairs };
    if !(1..=3).contains(&pairs.len()) {
        return Err(Refusal::PairCount("one to three"));
    }
    let nearest = nearest_point(&exact_differences(pair, pairs)?);
    if claim.is_within {
        let is_shown = nearest.length_compared(&reach) != Ordering::Greater;
        let why = Refusal::BoundFails("the pairs are farther away than the margin");
        return if is_shown { Ok(()) } else { Err(why) };
    }
    let is_shown = gap_compared(pair, &nearest.along, &reach, effort)? == Ordering::Greater;
    let why = Refusal::BoundFails("the bodies may come within the margin");
    if is_shown { Ok(()) } else { Err(why) }
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
    judge_bounds([lower, upper])?;
    if !(1..=3).contains(&pairs.len()) {
        return Err(Refusal::PairCount("one to three"));
    }
    let pair = &pair.into();
    let nearest = nearest_point(&exact_differences(pair, pairs)?);
    if nearest.length_compared(&sum(&[of_p, of_q, upper])?) == Ordering::Greater {
        return Err(Refusal::BoundFails("the pairs are farther away than the upper bound"));
    }
    let least = sum(&[of_p, of_q, lower])?;
    if gap_compared(pair, &nearest.along, &least, effort)? == Ordering::Less {
        return Err(Refusal::BoundFails("the bodies come closer than the lower bound"));
    }
    Ok(())
}

/// Polytopes with balls of these radii around all their points, metres.
#[derive(Clone, Copy, Debug)]
pub struct RoundedBodies<'a> {
    /// The polytopes.
    pub cores: Bodies<'a>,
    /// Metres.
    pub radii: [f64; 2],
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

/// Proves a claim about a course whose reach is the sum of these radii and of a margin: contact at
/// t = 0 by the verdict there, all else by the polytopes' distance.
pub fn judge_rounded_motion(
    course: &Course<'_>,
    radii: [f64; 2],
    claim: &RoundedMotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let RoundedMotionClaim { initial, start, ref motion } = *claim;
    judge_rounded(course.bodies, radii, initial, effort)?;
    if initial.verdict != Verdict::Separated {
        let is_at_start = motion.outcome == Outcome::Contact
            && [motion.t_free, motion.t_contact].iter().all(|t| t.abs() <= 0.0)
            && motion.chain.is_empty();
        let refused = Refusal::BoundFails("bodies in contact at t = 0 meet then");
        return if is_at_start { Ok(()) } else { Err(refused) };
    }
    let pairs = if start.is_empty() { &initial.pairs } else { start };
    if !(1..=3).contains(&pairs.len()) {
        return Err(Refusal::PairCount("one to three"));
    }
    let named = std::array::from_fn(|k| pairs[k.min(pairs.len() - 1)]);
    let direction = Direction::Nearest { pairs: named, negative: false };
    let initial = &StaticProof::Separated { direction };
    judge_motion(course, &MotionClaim { initial: Some(initial), ..*motion }, effort)
}

/// How the gap along a direction, by its length, compares with a length that may be negative, as
/// the gap may. The direction is not zero.
fn signed_gap_compared(
    pair: &Bodies<'_>,
    s: &Exact,
    length: &Dyadic,
    effort: &mut Effort<'_>,
) -> Result<Ordering, Refusal> {
    let gap = gap_along(pair, s, effort)?;
    let squares = (&gap * &gap).cmp(&(&(length * length) * &scalar_product(s, s)));
    Ok(match (gap.sign(), length.sign()) {
        (Sign::Negative, Sign::Negative) => squares.reverse(),
        (Sign::Negative, _) => Ordering::Less,
        (_, Sign::Negative) => Ordering::Greater,
        (Sign::Zero | Sign::Positive, Sign::Zero | Sign::Positive) => squares,
    })
}

/// The exact sum of lengths.
fn sum(lengths: &[f64]) -> Result<Dyadic, Refusal> {
    if !lengths.iter().all(|length| (0.0..f64::INFINITY).contains(length)) {
        return Err(Refusal::BoundFails("radii and margins are finite and not negative"));
    }
    Ok(lengths.iter().fold(Dyadic::zero(), |sum, length| &sum + &Dyadic::from(*length)))
}
