//! The judge of a distance: exact, from scratch, sharing nothing with the search.

use super::direction::exact_direction;
use super::exact::{exact_differences, gap_along, is_zero, shows_farther};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use crate::claim::{Bodies, Direction, MarginClaim};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::vertex_pair::VertexPair;

/// Proves that the distance of the pair is in `[lower, upper]`, from one to three vertex pairs.
///
/// With v the point nearest the origin in the hull of their differences: |v| is at most `upper`,
/// and, unless `lower` is 0, the least of `v·y / |v|` over M is at least `lower`. Looks at every
/// vertex.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::distance::{Stops, measure};
/// use clearance_geometry::judge::judge_distance;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let found = measure(&pair, Stops::default(), &mut witness, &mut effort).unwrap();
/// assert!(judge_distance(&pair, found.lower, found.upper, &found.pairs).is_ok());
/// assert!(judge_distance(&pair, 2.5, found.upper, &found.pairs).is_err());
/// ```
pub fn judge_distance<'a>(
    pair: impl Into<Bodies<'a>>,
    lower: f64,
    upper: f64,
    pairs: &[VertexPair],
) -> Result<(), Refusal> {
    judge_distance_with(pair, [lower, upper], pairs, &mut Effort::unlimited())
}

/// [`judge_distance`] as long as the effort lasts.
pub fn judge_distance_with<'a>(
    pair: impl Into<Bodies<'a>>,
    bounds: [f64; 2],
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_bounds(bounds)?;
    if judge_lower(&pair.into(), bounds, pairs, effort)? {
        Ok(())
    } else {
        Err(Refusal::BoundFails("the pairs are farther away than the upper bound"))
    }
}

/// That a bracket can be one of lengths.
pub(super) fn judge_bounds([lower, upper]: [f64; 2]) -> Result<(), Refusal> {
    if 0.0 <= lower && lower <= upper && upper.is_finite() {
        Ok(())
    } else {
        Err(Refusal::BoundFails("bounds are finite, not negative and in order"))
    }
}

/// That a bracket holds 0: of a distance of bodies in contact, or a depth of bodies that do not
/// overlap.
pub fn judge_zero(bounds: [f64; 2]) -> Result<(), Refusal> {
    judge_bounds(bounds)?;
    if bounds[0] <= 0.0 { Ok(()) } else { Err(Refusal::BoundFails("the bracket does not hold 0")) }
}

/// Proves the lower bound alone, and tells whether the pairs show the upper one, too.
pub(super) fn judge_lower(
    pair: &Bodies<'_>,
    [lower, upper]: [f64; 2],
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<bool, Refusal> {
    if !(1..=3).contains(&pairs.len()) {
        return Err(Refusal::PairCount("one to three"));
    }
    let nearest = nearest_point(&exact_differences(pair, pairs)?);
    if lower > 0.0 {
        if is_zero(&nearest.along) {
            return Err(Refusal::BoundFails("the pairs hold the origin"));
        }
        let gap = gap_along(pair, &nearest.along, effort)?;
        if gap.sign() != Sign::Positive || &gap * &gap < nearest.times_squared(lower) {
            return Err(Refusal::BoundFails("the bodies come closer than the lower bound"));
        }
    }
    Ok(nearest.is_within(upper))
}

/// Proves what is said of a margin that is not negative, of a pair that `direction` separates.
///
/// With v the point nearest the origin in the hull of the pairs' differences: within, |v| is at
/// most the margin; beyond, the least of `v·y / |v|` over M is more than it. Without pairs only
/// beyond can be shown, by the gap along the direction. Looks at every vertex.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::claim::{Direction, MarginClaim};
/// use clearance_geometry::distance::compare;
/// use clearance_geometry::judge::judge_margin;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let compared = compare(&pair, 2.0, &mut witness, &mut effort).unwrap();
/// let direction = Direction::Vector(Vec3::new(1.0, 0.0, 0.0));
/// let claim = |margin| MarginClaim {
///     margin, is_within: true, pairs: &compared.pairs, depth: None
/// };
/// assert!(judge_margin(&pair, &direction, &claim(2.0), &mut effort).is_ok());
/// assert!(judge_margin(&pair, &direction, &claim(1.9), &mut effort).is_err());
/// ```
pub fn judge_margin<'a>(
    pair: impl Into<Bodies<'a>>,
    direction: &Direction,
    claim: &MarginClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &MarginClaim { margin, is_within, pairs, .. } = claim;
    if !(0.0..f64::INFINITY).contains(&margin) {
        return Err(Refusal::BoundFails("a margin is finite and not negative"));
    }
    if pairs.len() > 3 || (is_within && pairs.is_empty()) {
        return Err(Refusal::PairCount("one to three"));
    }
    let pair = &pair.into();
    let nearest = match pairs {
        [] => None,
        pairs => Some(nearest_point(&exact_differences(pair, pairs)?)),
    };
    let is_shown = match nearest {
        Some(nearest) if is_within => nearest.is_within(margin),
        // Nothing is farther along no direction.
        Some(nearest) => shows_farther(pair, &nearest.along, &Dyadic::from(margin), effort)?,
        None => {
            shows_farther(pair, &exact_direction(pair, direction)?, &Dyadic::from(margin), effort)?
        }
    };
    let why = if is_within {
        "the pairs are farther away than the margin"
    } else {
        "the bodies may come within the margin"
    };
    if is_shown { Ok(()) } else { Err(Refusal::BoundFails(why)) }
}
