//! How a distance compares with a sum of lengths, which need not be an f64 number: exactly. Rounded
//! bodies stand as the polytopes that are rounded do against the sum of their radii.

use std::cmp::Ordering;

use arrayvec::ArrayVec;

use super::bracket::Bracket;
use super::compare::length_compared;
use super::methods::{Ending, METHODS};
use super::wolfe::{self, NearestOrInside};
use super::{Proof, Stops, in_range, remember, search};
use crate::claim::{RoundedProof, StaticProof, Verdict};
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::number::dyadic::Dyadic;
use crate::pair::{Pair, VertexPair};
use crate::processor;
use crate::separation::{self, decide};
use crate::witness::Witness;

/// How a distance compares with a sum of lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedWithSum {
    /// Exactly.
    pub order: Ordering,
    /// With v the point nearest the origin in the hull of their differences. Less: |v| is less than
    /// the sum. Greater: the least of `v·y / |v|` over M is more than that. Equal: |v| is the sum,
    /// and the least of `v·y / |v|` over M as well. One to three; less: one to six.
    pub pairs: ArrayVec<VertexPair, 6>,
}

impl ComparedWithSum {
    /// What it proves of rounded bodies, if the lengths are their radii.
    pub fn proof(&self) -> RoundedProof {
        let verdict = match self.order {
            Ordering::Greater => Verdict::Separated,
            Ordering::Equal => Verdict::Touching,
            Ordering::Less => Verdict::Overlapping,
        };
        RoundedProof { verdict, pairs: self.pairs.clone() }
    }
}

/// A sum of lengths, exactly and between two f64 numbers.
struct Sum {
    lower: f64,
    upper: f64,
    exact: Dyadic,
}

impl Sum {
    fn of(lengths: &[f64]) -> Self {
        let mut sum = Self { lower: 0.0, upper: 0.0, exact: Dyadic::zero() };
        for &length in lengths.iter().filter(|length| **length > 0.0) {
            // Rounding moves a sum to a neighbour at most.
            let is_first = sum.upper <= 0.0;
            let by = |sum: f64, outward: fn(f64) -> f64| {
                if is_first { length } else { outward(sum + length) }
            };
            sum.lower = by(sum.lower, f64::next_down);
            sum.upper = by(sum.upper, f64::next_up);
            sum.exact = &sum.exact + &Dyadic::from(length);
        }
        sum
    }
}

/// Compares the distance with the sum of lengths, exactly, and names what shows it. Each length is
/// finite and not negative, and one is more than 0.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use std::cmp::Ordering;
/// use clearance_geometry::distance::compare_with_sum;
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let compare = |lengths: &[f64]| {
///     let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
///     compare_with_sum(&pair, lengths, witness, effort).unwrap().order
/// };
/// assert_eq!(compare(&[2.0, 3.0]), Ordering::Equal);
/// // No f64 number is between 5 and this sum.
/// assert_eq!(compare(&[5.0, f64::MIN_POSITIVE]), Ordering::Less);
/// ```
pub fn compare_with_sum(
    pair: &Pair<'_>,
    lengths: &[f64],
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<ComparedWithSum, Stopped> {
    let sum = Sum::of(lengths);
    processor::dispatch(
        #[inline(always)]
        || compare_inlined(pair, &sum, witness, effort),
    )
}

#[inline(always)]
fn compare_inlined(
    pair: &Pair<'_>,
    sum: &Sum,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<ComparedWithSum, Stopped> {
    let view = BoundedView::new(pair);
    let stops = Stops { above: Some(sum.upper), below: Some(sum.lower) };
    if view.is_safe() {
        let found = search(&METHODS[0], &view, stops, witness, effort);
        let proof = Proof::of(&view, &found, stops, None, effort);
        remember(&found, &proof, witness);
        let Bracket { lower, upper, .. } = proof.bracket;
        if lower > sum.upper || upper < sum.lower {
            effort.cost.queries += 1;
            let order = if lower > sum.upper { Ordering::Greater } else { Ordering::Less };
            let pairs = found.simplex.corners().iter().map(|corner| corner.pair).collect();
            return Ok(ComparedWithSum { order, pairs });
        }
        if let Some(why) = found.stopped() {
            return Err(why);
        }
        if found.ending == Ending::HoldsOrigin {
            let start = witness.pairs.clone();
            let decision = decide(pair, &separation::METHODS[0], witness, effort)?;
            if let Some(pairs) = pairs_around_origin(&decision.proof) {
                return Ok(ComparedWithSum { order: Ordering::Less, pairs });
            }
            witness.pairs = start;
        }
    }
    effort.cost.exact_stages += 1;
    let start = witness.pairs.clone();
    let m = Difference::new(pair);
    let nearest = match wolfe::search(&m, &in_range(pair, &start), effort)? {
        NearestOrInside::Inside(pairs) => {
            let pairs = pairs.into_iter().collect();
            return Ok(ComparedWithSum { order: Ordering::Less, pairs });
        }
        NearestOrInside::Nearest(nearest) => nearest,
    };
    let pairs = nearest.pairs.iter().copied().collect();
    let order = if nearest.is_origin() {
        Ordering::Less
    } else {
        length_compared(nearest.squared(), m.exponent(), &sum.exact)
    };
    Ok(ComparedWithSum { order, pairs })
}

/// The pairs that prove contact: their differences have the origin in their hull.
fn pairs_around_origin(proof: &StaticProof) -> Option<ArrayVec<VertexPair, 6>> {
    match proof {
        StaticProof::Separated { .. } => None,
        StaticProof::Touching { pairs, .. } => Some(pairs.iter().copied().collect()),
        StaticProof::Overlapping { pairs } => Some(pairs.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Random;

    #[test]
    fn a_sum_is_enclosed_also_where_it_is_no_f64_number() {
        let (mut random, mut rounded) = (Random(5), 0);
        for _ in 0..2_000 {
            let lengths = random.vector().abs();
            let Sum { lower, upper, exact } = Sum::of(&[lengths.x, lengths.y * 1e-8, lengths.z]);
            assert!(Dyadic::from(lower) <= exact && exact <= Dyadic::from(upper));
            rounded += u32::from(Dyadic::from(lengths.x + lengths.y * 1e-8 + lengths.z) != exact);
        }
        assert!(rounded > 1_000, "{rounded}");
        let single = Sum::of(&[0.0, 0.75, 0.0]);
        assert!(
            [single.lower, single.upper].iter().all(|bound| bound.to_bits() == 0.75f64.to_bits())
        );
    }
}
