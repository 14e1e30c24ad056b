//! The judge of a distance: exact, from scratch, sharing nothing with the search.

use super::direction::exact_direction;
use super::exact::{exact_differences, gap_along, is_zero, shows_farther};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use crate::claim::{Bodies, Direction, MarginClaim};
use crate::effort::Effort;
use crate::number::Sign;
use crate::pair::VertexPair;

/// Proves that the distance of the pair is in `[lower, upper]`, from one to three vertex pairs.
///
/// With v the point nearest the origin in the hull of their differences: |v| is at most `upper`,
/// and, unless `lower` is 0, the least of `v·y / |v|` over M is at least `lower`. Looks at every
/// vertex.
///
/// ```
/// # use clearance::geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance::geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance::geometry::distance::{Stops, measure};
/// use clearance::geometry::judge::judge_distance;
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

/// Proves what is said of a margin, of a pair that `direction` separates.
///
/// With v the point nearest the origin in the hull of the pairs' differences: within, |v| is at
/// most the margin; beyond, the least of `v·y / |v|` over M is more than it. Without pairs only
/// beyond can be shown, by the gap along the direction. Looks at every vertex.
///
/// ```
/// # use clearance::geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance::geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance::geometry::claim::{Direction, MarginClaim};
/// use clearance::geometry::distance::compare;
/// use clearance::geometry::judge::judge_margin;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let compared = compare(&pair, 2.0, &mut witness, &mut effort).unwrap();
/// let direction = Direction::Vector(Vec3::new(1.0, 0.0, 0.0));
/// let claim = |margin| MarginClaim { margin, is_within: true, pairs: &compared.pairs };
/// assert!(judge_margin(&pair, &direction, &claim(2.0), &mut effort).is_ok());
/// assert!(judge_margin(&pair, &direction, &claim(1.9), &mut effort).is_err());
/// ```
pub fn judge_margin<'a>(
    pair: impl Into<Bodies<'a>>,
    direction: &Direction,
    claim: &MarginClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &MarginClaim { margin, is_within, pairs } = claim;
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
        Some(nearest) => shows_farther(pair, &nearest.along, margin, effort)?,
        None => shows_farther(pair, &exact_direction(pair, direction)?, margin, effort)?,
    };
    let why = if is_within {
        "the pairs are farther away than the margin"
    } else {
        "the bodies may come within the margin"
    };
    if is_shown { Ok(()) } else { Err(Refusal::BoundFails(why)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::pair::Pair;
    use crate::pose::Pose;
    use crate::samples::hull;

    const FIRST: VertexPair = VertexPair { i: 0, j: 0 };
    const SECOND: VertexPair = VertexPair { i: 0, j: 1 };

    #[test]
    fn a_true_bracket_is_accepted_and_one_ulp_inside_refused() {
        let point = hull(&[Vec3::zeros()]);
        let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
        assert_eq!(judge_distance(&pair, 5.0, 5.0, &[FIRST]), Ok(()));
        assert_eq!(judge_distance(&pair, 0.0, 6.0, &[FIRST]), Ok(()));
        let fails = |lower, upper| judge_distance(&pair, lower, upper, &[FIRST]).is_err();
        assert!(fails(5.0f64.next_up(), 6.0));
        assert!(fails(5.0, 5.0f64.next_down()));
        assert!(fails(f64::NAN, 6.0) && fails(5.0, f64::INFINITY) && fails(-1.0, 6.0));
        assert!(judge_distance(&pair, 5.0, 5.0, &[]).is_err());
        assert!(judge_distance(&pair, 5.0, 5.0, &[VertexPair { i: 1, j: 0 }]).is_err());
    }

    /// The distance is 5, and exactly that is within the margin.
    #[test]
    fn a_margin_is_judged_to_the_last_bit_by_pairs_or_by_the_direction() {
        let segment = hull(&[Vec3::zeros(), Vec3::new(9.0, 12.0, 0.0)]);
        let point = hull(&[Vec3::zeros()]);
        let pair = Pair::new(&point, Pose::identity(), &segment, Pose::translation(3.0, 4.0, 0.0));
        let towards = Direction::Vector(Vec3::new(3.0, 4.0, 0.0));
        let along_x = Direction::Vector(Vec3::x());
        let is_shown = |direction, margin, is_within, pairs| {
            let claim = MarginClaim { margin, is_within, pairs };
            judge_margin(&pair, direction, &claim, &mut Effort::unlimited()).is_ok()
        };
        let (at, below, above) = (5.0f64, 5.0f64.next_down(), 5.0f64.next_up());
        for pairs in [&[FIRST][..], &[SECOND, FIRST]] {
            for (margin, expected) in [(at, true), (above, true), (below, false), (0.0, false)] {
                for is_within in [true, false] {
                    let judged = is_shown(&along_x, margin, is_within, pairs);
                    assert_eq!(judged, is_within == expected, "{margin} {is_within} {pairs:?}");
                }
            }
        }
        // Without pairs the direction tells that something is far, never that it is near.
        assert!(is_shown(&towards, below, false, &[]) && !is_shown(&towards, at, false, &[]));
        assert!(!is_shown(&along_x, below, false, &[]) && is_shown(&along_x, 2.9, false, &[]));
        assert!(!is_shown(&towards, 6.0, true, &[]));
        // Pairs that are not nearest show what they show.
        assert!(
            is_shown(&along_x, 20.0, true, &[SECOND]) && !is_shown(&along_x, at, true, &[SECOND])
        );
        assert!(is_shown(&along_x, below, false, &[SECOND]));
        // What is no margin, no pair, or too many of them.
        for margin in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(!is_shown(&towards, margin, true, &[FIRST]));
            assert!(!is_shown(&towards, margin, false, &[FIRST]));
        }
        assert!(!is_shown(&towards, 6.0, true, &[VertexPair { i: 0, j: 2 }]));
        assert!(!is_shown(&towards, 6.0, true, &[FIRST; 4]));
    }

    #[test]
    fn pairs_that_are_not_nearest_prove_no_more_than_they_show() {
        let segment = hull(&[Vec3::new(-1.0, 2.0, 0.0), Vec3::new(3.0, 2.0, 0.0)]);
        let point = hull(&[Vec3::zeros()]);
        let pair = Pair::new(&point, Pose::identity(), &segment, Pose::identity());
        let both = [FIRST, SECOND];
        assert_eq!(judge_distance(&pair, 2.0, 2.0, &both), Ok(()));
        // One end alone is farther away, and along it the other end lies behind the origin's side.
        assert!(judge_distance(&pair, 2.0, 2.0, &both[..1]).is_err());
        assert!(judge_distance(&pair, 0.0, 2.0, &both[..1]).is_err());
        assert_eq!(judge_distance(&pair, 0.0, 2.24, &both[..1]), Ok(()));
        assert_eq!(judge_distance(&pair, 2.0, 2.0, &[both[0], both[1], both[0]]), Ok(()));
    }

    #[test]
    fn a_triangle_is_judged_by_its_foot_inside_or_on_its_border() {
        let at = |z: f64| {
            hull(&[Vec3::new(-1.0, -1.0, z), Vec3::new(2.0, -1.0, z), Vec3::new(-1.0, 2.0, z)])
        };
        let point = hull(&[Vec3::zeros()]);
        let all = [FIRST, SECOND, VertexPair { i: 0, j: 2 }];
        let above = at(0.5);
        let pair = Pair::new(&point, Pose::identity(), &above, Pose::identity());
        assert_eq!(judge_distance(&pair, 0.5, 0.5, &all), Ok(()));
        assert!(judge_distance(&pair, 0.5f64.next_up(), 1.0, &all).is_err());
        let beside = Pair::new(&point, Pose::identity(), &above, Pose::translation(5.0, 0.0, 0.0));
        assert!(judge_distance(&beside, 4.03, 4.04, &all).is_ok());
        let held = at(0.0);
        let pair = Pair::new(&point, Pose::identity(), &held, Pose::identity());
        assert_eq!(judge_distance(&pair, 0.0, 0.0, &all), Ok(()));
        assert!(judge_distance(&pair, f64::from_bits(1), 1.0, &all).is_err());
    }
}
