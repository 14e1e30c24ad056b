//! The judges of how far apart bodies of several convex parts are, and how deep they overlap.
//!
//! The distance is the least of all pairs of parts: each is shown to be no nearer than the lower
//! bound, and one no farther than the upper. The depth is the greatest: each is shown to be no
//! deeper than the upper bound, and one no less deep than the lower. The verdicts are
//! those of [`compounds`](super::compounds).

use super::compounds::of_entry;
use super::depth::judge_depth;
use super::distance::{judge_bounds, judge_lower};
use super::refusal::Refusal;
use super::rounded::{judge_rounded_depth, judge_rounded_lower, signed_compared};
use crate::claim::{
    Compounds, ConvexProof, DepthClaim, DepthEntries, KnownParts, Measured, PartBound,
    RoundedDepthClaim, Verdict,
};
use crate::effort::Effort;
use crate::number::dyadic::Dyadic;
use std::cmp::Ordering;

/// Proves that the distance of two bodies is in `[lower, upper]`.
///
/// ```
/// use clearance_geometry::claim::{Compounds, Direction, PartBound, Parts, Points};
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_compounds_distance;
/// use clearance_geometry::pair::VertexPair;
/// use clearance_geometry::{Vec3, pose::Pose};
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let at = |z| Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) };
/// // P has two parts, Q one, which is above both.
/// let (p, q) = ([at(0.0), at(2.0)], [at(5.0)]);
/// let radii: [&[f64]; 2] = [&[0.0, 0.0], &[0.0]];
/// let bodies = Compounds { p: &p, q: &q, radii };
/// let part = |p| Parts { p: vec![p], q: vec![0] };
/// let up = Direction::Vector(Vec3::new(0.0, 0.0, 1.0));
/// // The tip of the upper part is two metres below Q; the lower part is farther away.
/// let nearest = [VertexPair { i: 3, j: 0 }].into_iter().collect();
/// let entries = [
///     PartBound { parts: part(1), pairs: nearest, direction: None },
///     PartBound { parts: part(0), pairs: Default::default(), direction: Some(up) },
/// ];
/// let effort = &mut Effort::unlimited();
/// assert!(judge_compounds_distance(&bodies, [2.0, 2.0], &entries, &[], effort).is_ok());
/// assert!(judge_compounds_distance(&bodies, [2.1, 2.2], &entries, &[], effort).is_err());
/// ```
///
/// Of `known` parts it was proven apart from this how far they are from each other.
pub fn judge_compounds_distance(
    bodies: &Compounds<'_>,
    bounds: [f64; 2],
    entries: &[PartBound],
    known: &[KnownParts],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_bounds(bounds)?;
    let mut is_upper_shown = false;
    for one in known {
        effort.spend_step()?;
        bodies.judge_parts(&one.parts)?;
        let Measured::Distance([lower, upper]) = one.measured else {
            return Err(Refusal::BoundFails("an entry does not say how far the parts are apart"));
        };
        // Written so that NaN is refused.
        let is_kept = bounds[0] <= lower;
        if !is_kept {
            return Err(Refusal::BoundFails("the parts come closer than the lower bound"));
        }
        is_upper_shown |= upper <= bounds[1];
    }
    for (at, entry) in entries.iter().enumerate() {
        effort.spend_step()?;
        let named = bodies.judge_parts(&entry.parts);
        let judged = named.and_then(|()| judge_gap(bodies, bounds, entry, effort));
        is_upper_shown |= judged.map_err(|why| of_entry(at, why))?;
    }
    if !is_upper_shown {
        return Err(Refusal::BoundFails("no entry shows the upper bound"));
    }
    // A lower bound of 0 says nothing, so nothing has to show it.
    if bounds[0] <= 0.0 {
        return Ok(());
    }
    let of_known = known.iter().map(|one| &one.parts);
    bodies.are_covered(entries.iter().map(|entry| &entry.parts).chain(of_known), effort)
}

/// Checks the lower bound for the parts named; tells whether the upper bound holds, too.
fn judge_gap(
    bodies: &Compounds<'_>,
    bounds: [f64; 2],
    entry: &PartBound,
    effort: &mut Effort<'_>,
) -> Result<bool, Refusal> {
    let [lower, _] = bounds;
    let Some(direction) = &entry.direction else {
        let pair = bodies.only(&entry.parts).ok_or(Refusal::SeveralParts)?;
        if pair.are_rounded() {
            return judge_rounded_lower(pair, bounds, &entry.pairs, effort);
        }
        return judge_lower(&pair.cores, bounds, &entry.pairs, effort);
    };
    if !entry.pairs.is_empty() {
        return Err(Refusal::PairCount("either a direction or"));
    }
    let s = bodies.exact_direction(&entry.parts, direction)?;
    let lower = Dyadic::from(lower);
    for gap in bodies.gaps_along(&entry.parts, &s, effort)? {
        if signed_compared(&gap.of_cores, &s, &(&gap.radii + &lower)) == Ordering::Less {
            return Err(Refusal::BoundFails("the parts come closer than the lower bound"));
        }
    }
    Ok(false)
}

/// Proves that two bodies overlap by a depth of at most `upper` and, given a surface, at least
/// `lower`: that of the deepest parts, which one entry is about and the others are not.
pub fn judge_compounds_depth(
    bodies: &Compounds<'_>,
    bounds: [f64; 2],
    shown: &DepthEntries<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &DepthEntries { ref deepest, others, known } = shown;
    judge_bounds(bounds)?;
    let mut is_lower_shown = false;
    for one in known {
        effort.spend_step()?;
        bodies.judge_parts(&one.parts)?;
        is_lower_shown |= judge_known_depth(one, bounds)?;
    }
    match deepest {
        Some(deepest) => judge_deepest(bodies, bounds, deepest, effort)?,
        None if is_lower_shown => {}
        None => return Err(Refusal::BoundFails("no entry shows the lower bound")),
    }
    for (at, entry) in others.iter().enumerate() {
        effort.spend_step()?;
        let named = bodies.judge_parts(&entry.parts);
        let judged = named.and_then(|()| judge_reach(bodies, bounds[1], entry, effort));
        judged.map_err(|why| of_entry(at, why))?;
    }
    let of_known = known.iter().map(|one| &one.parts);
    let of_deepest = deepest.iter().map(|deepest| deepest.parts);
    let all = others.iter().map(|entry| &entry.parts).chain(of_deepest).chain(of_known);
    bodies.are_covered(all, effort)
}

/// That two parts are known to be no deeper than the upper bound; whether they show the lower one.
fn judge_known_depth(known: &KnownParts, [lower, upper]: [f64; 2]) -> Result<bool, Refusal> {
    let [least, most] = match (known.verdict, known.measured) {
        (Verdict::Separated | Verdict::Touching, _) => [0.0; 2],
        (Verdict::Overlapping, Measured::Depth(bounds)) => bounds,
        (Verdict::Overlapping, _) => {
            return Err(Refusal::BoundFails("an entry does not say how deep the parts overlap"));
        }
    };
    // Written so that NaN is refused.
    if most <= upper {
        Ok(lower <= least)
    } else {
        Err(Refusal::BoundFails("the parts may be deeper than the upper bound"))
    }
}

/// That the parts which are said to be the deepest are as deep as that.
fn judge_deepest(
    bodies: &Compounds<'_>,
    [lower, upper]: [f64; 2],
    deepest: &DepthClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let DepthClaim { parts, proof, face, surface } = *deepest;
    bodies.judge_parts(parts)?;
    let pair = bodies.only(parts).ok_or(Refusal::SeveralParts)?;
    match proof {
        ConvexProof::Polytopes(_) if pair.are_rounded() => {
            return Err(Refusal::BoundFails("rounded parts are as deep as their proof says"));
        }
        ConvexProof::Polytopes(_) => {
            judge_depth(pair.cores, [lower, upper], face, surface, effort)?;
        }
        ConvexProof::Rounded(proof) => {
            let claim = RoundedDepthClaim { bounds: [lower, upper], face, surface };
            judge_rounded_depth(pair, proof, &claim, effort)?;
        }
    }
    Ok(())
}

/// Along the direction M of the parts named, and of the balls around them, reaches no farther than
/// the bound, so a translation of P by that much along it leaves no inner point in common.
fn judge_reach(
    bodies: &Compounds<'_>,
    upper: f64,
    entry: &PartBound,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let direction = entry.direction.as_ref().ok_or(Refusal::NoDirection)?;
    let s = bodies.exact_direction(&entry.parts, direction)?;
    let back = s.each_ref().map(|c| -c);
    let upper = Dyadic::from(upper);
    for gap in bodies.gaps_along(&entry.parts, &back, effort)? {
        // The gap along the opposite is how far M stays away from the origin on that side.
        if signed_compared(&gap.of_cores, &back, &(&gap.radii - &upper)) == Ordering::Less {
            return Err(Refusal::BoundFails("the parts may be deeper than the upper bound"));
        }
    }
    Ok(())
}
