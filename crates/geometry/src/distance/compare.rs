//! How a distance compares with another one, exactly: the bracket tells, nearly always, and the
//! exact stage where it does not.

use std::cmp::Ordering;

use arrayvec::ArrayVec;
use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;

use super::bracket::Bracket;
use super::methods::{Ending, METHODS};
use super::{Proof, Stops, in_range, remember, search, wolfe};
use crate::claim::{DepthSide, Verdict};
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::number::dyadic::Dyadic;
use crate::pair::{Pair, VertexPair};
use crate::processor;
use crate::separation::{self, decide};
use crate::witness::Witness;

/// How a distance compares with a margin.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Whether it is at most the margin, exactly.
    pub is_within: bool,
    /// With v the point nearest the origin in the hull of their differences: |v| is at most the
    /// margin, or the least of `v·y / |v|` over M more than it. None need be named of a pair in
    /// contact.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Of a margin below 0 and bodies that overlap: what shows on which side of it they are, where
    /// that is wanted and pairs do not.
    pub depth: Option<Box<DepthSide>>,
}

/// How a pair stands, and how its distance compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistanceSide {
    /// Separated, and farther apart than that.
    Beyond,
    /// Separated, and not farther apart than that.
    Within,
    /// Touching or overlapping.
    Contact,
}

impl Compared {
    fn in_contact() -> Self {
        Self::bare(true)
    }

    /// Without anything that shows it.
    pub fn bare(is_within: bool) -> Self {
        Self { is_within, pairs: ArrayVec::new(), depth: None }
    }
}

/// Whether the distance is at most `margin`, exactly. `margin` is finite and not negative.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::distance::is_within;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(4.0, 5.0, 0.0));
/// assert!(is_within(&pair, 5.0, &mut witness, &mut effort).unwrap());
/// assert!(!is_within(&pair, 5.0_f64.next_down(), &mut witness, &mut effort).unwrap());
/// ```
pub fn is_within(
    pair: &Pair<'_>,
    margin: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    Ok(compare(pair, margin, witness, effort)?.is_within)
}

/// Compares the distance with a margin, exactly, and names what shows it. `margin` is finite and
/// not negative.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::distance::compare;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(4.0, 5.0, 0.0));
/// let compared = compare(&pair, 5.0, &mut witness, &mut effort).unwrap();
/// assert!(compared.is_within && !compared.pairs.is_empty());
/// ```
pub fn compare(
    pair: &Pair<'_>,
    margin: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || compare_inlined(pair, margin, witness, effort),
    )
}

#[inline(always)]
fn compare_inlined(
    pair: &Pair<'_>,
    margin: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    let view = BoundedView::new(pair);
    let stops = Stops { above: Some(margin), below: Some(margin) };
    if view.is_safe() {
        let found = search(&METHODS[0], &view, stops, witness, effort);
        let proof = Proof::of(&view, &found, stops, None, effort);
        remember(&found, &proof, witness);
        let Bracket { lower, upper, .. } = proof.bracket;
        if lower > margin || upper <= margin {
            effort.cost.queries += 1;
            let pairs = found.simplex.corners().iter().map(|corner| corner.pair).collect();
            return Ok(Compared { is_within: upper <= margin, pairs, depth: None });
        }
        if let Some(why) = found.stopped() {
            return Err(why);
        }
        if found.ending == Ending::HoldsOrigin {
            let start = witness.pairs.clone();
            let decision = decide(pair, &separation::METHODS[0], witness, effort)?;
            if decision.verdict() != Verdict::Separated {
                return Ok(Compared::in_contact());
            }
            witness.pairs = start;
        }
    }
    effort.cost.exact_stages += 1;
    let start = witness.pairs.clone();
    let m = Difference::new(pair);
    let Some(nearest) = wolfe::nearest(&m, &in_range(pair, &start), effort)? else {
        return Ok(Compared::in_contact());
    };
    let is_within =
        nearest.is_origin() || is_at_most(nearest.squared(), m.exponent(), &Dyadic::from(margin));
    Ok(Compared { is_within, pairs: nearest.pairs, depth: None })
}

/// Whether the bodies are farther apart than `above`, exactly, with how they stand; `above` is
/// finite and not negative. What is asked ends the search as soon as it is known, and nothing is
/// measured: along a path most pairs are near for long, and only that is asked.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::distance::{DistanceSide, compare_beyond};
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(4.0, 5.0, 0.0));
/// let mut ask = |above: f64| compare_beyond(&pair, above, &mut witness, &mut effort).unwrap();
/// assert_eq!((ask(4.9), ask(5.0)), (DistanceSide::Beyond, DistanceSide::Within));
/// ```
pub fn compare_beyond(
    pair: &Pair<'_>,
    above: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<DistanceSide, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || beyond_inlined(pair, above, witness, effort),
    )
}

#[inline(always)]
fn beyond_inlined(
    pair: &Pair<'_>,
    above: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<DistanceSide, Stopped> {
    let view = BoundedView::new(pair);
    let stops = Stops { above: Some(above), below: Some(above) };
    let mut is_near = false;
    if view.is_safe() {
        let found = search(&METHODS[0], &view, stops, witness, effort);
        let proof = Proof::of(&view, &found, stops, None, effort);
        remember(&found, &proof, witness);
        let Bracket { lower, upper, separates, .. } = proof.bracket;
        is_near = upper <= above;
        if lower > above || (separates && is_near) {
            effort.cost.queries += 1;
            return Ok(if lower > above { DistanceSide::Beyond } else { DistanceSide::Within });
        }
        if let Some(why) = found.stopped() {
            return Err(why);
        }
    }
    let start = witness.pairs.clone();
    if decide(pair, &separation::METHODS[0], witness, effort)?.verdict() != Verdict::Separated {
        return Ok(DistanceSide::Contact);
    }
    witness.pairs = start;
    let is_within = is_near || compare_inlined(pair, above, witness, effort)?.is_within;
    Ok(if is_within { DistanceSide::Within } else { DistanceSide::Beyond })
}

/// Whether |v| <= bound: both squared, at a common denominator and power of two. The square of |v|
/// is in units of two to twice the exponent.
pub(crate) fn is_at_most(squared: (UBig, UBig), exponent: i64, bound: &Dyadic) -> bool {
    length_compared(squared, exponent, bound) != Ordering::Greater
}

/// How |v| compares with a bound, which is not negative, as [`is_at_most`] is given them.
pub(crate) fn length_compared(
    (numerator, denominator): (UBig, UBig),
    exponent: i64,
    bound: &Dyadic,
) -> Ordering {
    let mantissa = bound.mantissa().unsigned_abs();
    let shift = 2 * (exponent - bound.exponent());
    let bound = &mantissa * &mantissa * denominator;
    match usize::try_from(shift) {
        Ok(shift) => (numerator << shift).cmp(&bound),
        Err(_) => numerator.cmp(&(bound << usize::try_from(-shift).expect("the other sign"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::distance::measure;
    use crate::pose::Pose;
    use crate::samples::{Random, cuboid, ellipsoid};

    /// What [`compare_beyond`] says from cold, and after it was asked about something else.
    fn room(pair: &Pair<'_>, above: f64, warm: &mut Witness) -> DistanceSide {
        let effort = &mut Effort::unlimited();
        let cold = compare_beyond(pair, above, &mut Witness::default(), effort).unwrap();
        assert_eq!(compare_beyond(pair, above, warm, effort).unwrap(), cold);
        cold
    }

    #[test]
    fn room_is_what_the_verdict_and_the_exact_comparison_say() {
        let mut random = Random(31);
        let bodies = [cuboid(0.4, 0.5, 0.6), ellipsoid(40, [0.5, 0.4, 0.3], 7)];
        let (mut counts, mut warm) = ([0; 3], Witness::default());
        for round in 0..300 {
            let (p, q) = (&bodies[round % 2], &bodies[round / 2 % 2]);
            let way = random.unit_vector() * (0.3 + 0.004 * round as f64);
            let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(way));
            let effort = &mut Effort::unlimited();
            let measured =
                measure(&pair, Stops::default(), &mut Witness::default(), effort).unwrap();
            let ends = [measured.lower, measured.upper];
            for above in [0.0, 0.1, ends[0].next_down().max(0.0), ends[0], ends[1], 2.0] {
                let wanted = match measured.decision.verdict() {
                    Verdict::Touching | Verdict::Overlapping => DistanceSide::Contact,
                    Verdict::Separated => {
                        match is_within(&pair, above, &mut Witness::default(), effort).unwrap() {
                            true => DistanceSide::Within,
                            false => DistanceSide::Beyond,
                        }
                    }
                };
                assert_eq!(room(&pair, above, &mut warm), wanted, "round {round}, {above}");
                counts[wanted as usize] += 1;
            }
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }

    #[test]
    fn room_is_exact_to_the_last_bit_of_faces_that_face_each_other() {
        let cube = cuboid(0.5, 0.5, 0.5);
        for gap in [1e-13, 1e-6, 0.25] {
            let place = 1.0 + gap;
            let pair =
                Pair::new(&cube, Pose::identity(), &cube, Pose::translation(place, 0.1, 0.0));
            let (exact, warm) = (place - 1.0, &mut Witness::default());
            assert_eq!(room(&pair, exact, warm), DistanceSide::Within);
            assert_eq!(room(&pair, exact.next_down(), warm), DistanceSide::Beyond);
            let touching =
                Pair::new(&cube, Pose::identity(), &cube, Pose::translation(1.0, 0.1, 0.0));
            assert_eq!(room(&touching, 0.0, warm), DistanceSide::Contact);
        }
    }
}
