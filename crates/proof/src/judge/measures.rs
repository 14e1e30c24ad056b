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
use crate::claim::{Compounds, ConvexProof, DepthClaim, PartBound, RoundedDepthClaim};
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
/// assert!(judge_compounds_distance(&bodies, [2.0, 2.0], &entries, effort).is_ok());
/// assert!(judge_compounds_distance(&bodies, [2.1, 2.2], &entries, effort).is_err());
/// ```
pub fn judge_compounds_distance(
    bodies: &Compounds<'_>,
    bounds: [f64; 2],
    entries: &[PartBound],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_bounds(bounds)?;
    let mut is_upper_shown = false;
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
    bodies.are_covered(entries.iter().map(|entry| &entry.parts), effort)
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
/// `lower`: that of the deepest parts, which `deepest` is about and `others` are not.
pub fn judge_compounds_depth(
    bodies: &Compounds<'_>,
    [lower, upper]: [f64; 2],
    deepest: &DepthClaim<'_>,
    others: &[PartBound],
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
    for (at, entry) in others.iter().enumerate() {
        effort.spend_step()?;
        let named = bodies.judge_parts(&entry.parts);
        let judged = named.and_then(|()| judge_reach(bodies, upper, entry, effort));
        judged.map_err(|why| of_entry(at, why))?;
    }
    bodies.are_covered(others.iter().map(|entry| &entry.parts).chain([parts]), effort)
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
