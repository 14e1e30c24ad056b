//! The judge of how two convex bodies stand each of which may be rounded: by what is said of the
//! polytopes, and by the exact sum of the radii.

use super::below_zero::judge_below_zero;
use super::direction::exact_direction;
use super::distance::judge_margin;
use super::exact::{exact_differences, shows_farther};
use super::motion::judge_motion;
use super::nearest::nearest_point;
use super::refusal::Refusal;
use super::rounded::{RoundedBodies, judge_rounded, sum};
use super::verdict::judge_static_with;
use crate::claim::{
    ConvexProof, Course, Direction, MarginClaim, MotionClaim, Outcome, RoundedMotionClaim,
    StaticProof, Verdict,
};
use crate::effort::Effort;
use crate::vertex_pair::VertexPair;
use std::cmp::Ordering;

/// Proves the verdict from scratch, in exact arithmetic, looking at every vertex.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::claim::{ConvexProof, Direction, StaticProof};
/// use clearance_geometry::judge::{RoundedBodies, judge_convex};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let direction = Direction::Vector(Vec3::new(0.6, 0.8, 0.0));
/// let proof = ConvexProof::Polytopes(StaticProof::Separated { direction });
/// let judge = |radii| {
///     let bodies = RoundedBodies { cores: (&pair).into(), radii };
///     judge_convex(bodies, &proof, &mut Effort::unlimited())
/// };
/// assert!(judge([2.0, 2.5]).is_ok());
/// assert!(judge([2.5, 3.0]).is_err());
/// ```
pub fn judge_convex(
    bodies: RoundedBodies<'_>,
    proof: &ConvexProof,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let RoundedBodies { cores, radii } = bodies;
    match proof {
        ConvexProof::Rounded(proof) => judge_rounded(cores, radii, proof, effort),
        ConvexProof::Polytopes(proof) if !bodies.are_rounded() => {
            judge_static_with(cores, proof, effort)
        }
        ConvexProof::Polytopes(StaticProof::Separated { direction }) => {
            let s = exact_direction(&cores, direction)?;
            if shows_farther(&cores, &s, &sum(&radii)?, effort)? {
                Ok(())
            } else {
                Err(Refusal::NotSeparating)
            }
        }
        ConvexProof::Polytopes(StaticProof::Touching { .. } | StaticProof::Overlapping { .. }) => {
            Err(Refusal::BoundFails("that rounded bodies meet takes pairs within the radii"))
        }
    }
}

/// Proves what is said of a margin, of bodies whose verdict is proven so.
///
/// Of separated ones pairs show it as those of [`judge_margin`] do, with the sum of the radii and
/// the margin for the margin. Where a claim has none, those of the verdict do, or its direction.
/// Bodies that overlap are within a margin below 0 if they do so at least so deep: see
/// [`MarginClaim::depth`].
pub fn judge_convex_margin(
    bodies: RoundedBodies<'_>,
    proof: &ConvexProof,
    claim: &MarginClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &MarginClaim { margin, is_within, pairs, depth } = claim;
    if margin < 0.0 {
        let shown: &[VertexPair] = match proof {
            ConvexProof::Rounded(proof) => &proof.pairs,
            ConvexProof::Polytopes(_) => &[],
        };
        return judge_below_zero(bodies, proof.verdict(), shown, claim, effort);
    }
    if depth.is_some() {
        return Err(Refusal::BoundFails("depths are compared with margins below 0"));
    }
    if proof.verdict() != Verdict::Separated {
        let refused = Err(Refusal::BoundFails("the bodies are in contact"));
        return if is_within { Ok(()) } else { refused };
    }
    let RoundedBodies { cores, radii: [of_p, of_q] } = bodies;
    let direction = match proof {
        ConvexProof::Polytopes(StaticProof::Separated { direction }) => Some(direction),
        ConvexProof::Polytopes(_) | ConvexProof::Rounded(_) => None,
    };
    if let Some(direction) = direction.filter(|_| !bodies.are_rounded()) {
        return judge_margin(cores, direction, claim, effort);
    }
    let reach = sum(&[of_p, of_q, margin])?;
    let pairs = match proof {
        ConvexProof::Rounded(proof) if pairs.is_empty() => &proof.pairs,
        ConvexProof::Rounded(_) | ConvexProof::Polytopes(_) => pairs,
    };
    let why = Refusal::BoundFails("the bodies may come within the margin");
    if let (Some(direction), []) = (direction.filter(|_| !is_within), pairs) {
        let s = exact_direction(&cores, direction)?;
        return if shows_farther(&cores, &s, &reach, effort)? { Ok(()) } else { Err(why) };
    }
    let nearest = nearest_point(&exact_differences(&cores, one_to_three(pairs)?)?);
    if is_within {
        let is_shown = nearest.length_compared(&reach) != Ordering::Greater;
        let why = Refusal::BoundFails("the pairs are farther away than the margin");
        return if is_shown { Ok(()) } else { Err(why) };
    }
    if shows_farther(&cores, &nearest.along, &reach, effort)? { Ok(()) } else { Err(why) }
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
    let bodies = RoundedBodies { cores: course.bodies, radii };
    match &judge_start(bodies, initial, start, effort)? {
        Some(initial) => {
            judge_motion(course, &MotionClaim { initial: Some(initial), ..*motion }, effort)
        }
        None => judge_met_at_start(motion),
    }
}

/// Proves the verdict at t = 0, and what that is for the judges of motions of polytopes; none of
/// rounded bodies that are in contact.
pub(super) fn judge_start(
    bodies: RoundedBodies<'_>,
    initial: &ConvexProof,
    start: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Option<StaticProof>, Refusal> {
    judge_convex(bodies, initial, effort)?;
    match initial {
        ConvexProof::Polytopes(proof) => Ok(Some(proof.clone())),
        ConvexProof::Rounded(proof) if proof.verdict != Verdict::Separated => Ok(None),
        ConvexProof::Rounded(proof) => {
            let pairs = if start.is_empty() { &proof.pairs } else { start };
            let direction = Direction::nearest(pairs).ok_or(Refusal::PairCount("one to three"))?;
            Ok(Some(StaticProof::Separated { direction }))
        }
    }
}

/// That a claim about bodies that are in contact at t = 0 says so.
pub(super) fn judge_met_at_start(motion: &MotionClaim<'_>) -> Result<(), Refusal> {
    let is_said = motion.outcome == Outcome::Contact
        && [motion.t_free, motion.t_contact].iter().all(|t| t.abs() <= 0.0)
        && motion.chain.is_empty();
    let refused = Refusal::BoundFails("bodies in contact at t = 0 meet then");
    if is_said { Ok(()) } else { Err(refused) }
}

fn one_to_three(pairs: &[VertexPair]) -> Result<&[VertexPair], Refusal> {
    let is_right = (1..=3).contains(&pairs.len());
    if is_right { Ok(pairs) } else { Err(Refusal::PairCount("one to three")) }
}
