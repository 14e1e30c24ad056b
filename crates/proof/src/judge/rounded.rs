//! The judge of a verdict on rounded bodies: exact, from scratch, looking at every vertex.

use std::cmp::Ordering;

use super::exact::{exact_differences, gap_compared};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use crate::claim::{Bodies, RoundedMargin, RoundedProof, Verdict};
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

/// The exact sum of lengths.
fn sum(lengths: &[f64]) -> Result<Dyadic, Refusal> {
    if !lengths.iter().all(|length| (0.0..f64::INFINITY).contains(length)) {
        return Err(Refusal::BoundFails("radii and margins are finite and not negative"));
    }
    Ok(lengths.iter().fold(Dyadic::zero(), |sum, length| &sum + &Dyadic::from(*length)))
}
