//! How a distance compares with a reach, which need not be an f64 number: exactly. Rounded bodies
//! stand as the polytopes that are rounded do against the sum of their radii.

use std::cmp::Ordering;

use arrayvec::ArrayVec;

use super::bracket::Bracket;
use super::compare::length_compared;
use super::methods::{Ending, METHODS};
use super::wolfe::{self, NearestOrInside};
use super::{Proof, Stops, in_range, remember, search};
use crate::claim::{Reach, RoundedProof, StaticProof, Verdict};
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::processor;
use crate::separation::{self, decide};
use crate::witness::Witness;

/// How a distance compares with a reach.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedWithReach {
    /// How the distance compares with the reach, exactly.
    pub order: Ordering,
    /// With v the point nearest the origin in the hull of their differences. Less: |v| is less than
    /// the reach. Greater: the least of `v·y / |v|` over M is more than that. Equal: |v| is it, and
    /// the least of `v·y / |v|` over M as well. One to three; less: one to six.
    pub pairs: ArrayVec<VertexPair, 6>,
}

impl ComparedWithReach {
    /// What it proves of rounded bodies, if the reach is the sum of their radii.
    pub fn proof(&self) -> RoundedProof {
        let verdict = match self.order {
            Ordering::Greater => Verdict::Separated,
            Ordering::Equal => Verdict::Touching,
            Ordering::Less => Verdict::Overlapping,
        };
        RoundedProof { verdict, pairs: self.pairs.clone() }
    }
}

/// Compares the distance with a reach that is valid and not zero, exactly, and names what shows it.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use std::cmp::Ordering;
/// use clearance_geometry::claim::Reach;
/// use clearance_geometry::distance::compare_with_reach;
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let compare = |radii: [f64; 2]| {
///     let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
///     let reach = Reach::of_rounded(radii, 0.0);
///     compare_with_reach(&pair, reach, witness, effort).unwrap().order
/// };
/// assert_eq!(compare([2.0, 3.0]), Ordering::Equal);
/// // No f64 number is between 5 and this sum.
/// assert_eq!(compare([5.0, f64::MIN_POSITIVE]), Ordering::Less);
/// ```
pub fn compare_with_reach(
    pair: &Pair<'_>,
    reach: Reach,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<ComparedWithReach, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || compare_inlined(pair, reach, witness, effort),
    )
}

#[inline(always)]
fn compare_inlined(
    pair: &Pair<'_>,
    reach: Reach,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<ComparedWithReach, Stopped> {
    let (view, [least, most]) = (BoundedView::new(pair), reach.bounds());
    let stops = Stops { above: Some(most), below: Some(least) };
    if view.is_safe() {
        let found = search(&METHODS[0], &view, stops, witness, effort);
        let proof = Proof::of(&view, &found, stops, None, effort);
        remember(&found, &proof, witness);
        let Bracket { lower, upper, .. } = proof.bracket;
        if lower > most || upper < least {
            effort.cost.queries += 1;
            let order = if lower > most { Ordering::Greater } else { Ordering::Less };
            let pairs = found.simplex.corners().iter().map(|corner| corner.pair).collect();
            return Ok(ComparedWithReach { order, pairs });
        }
        if let Some(why) = found.stopped() {
            return Err(why);
        }
        if found.ending == Ending::HoldsOrigin {
            let start = witness.pairs.clone();
            let decision = decide(pair, &separation::METHODS[0], witness, effort)?;
            if let Some(pairs) = pairs_around_origin(&decision.proof) {
                return Ok(ComparedWithReach { order: Ordering::Less, pairs });
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
            return Ok(ComparedWithReach { order: Ordering::Less, pairs });
        }
        NearestOrInside::Nearest(nearest) => nearest,
    };
    let pairs = nearest.pairs.iter().copied().collect();
    let order = if nearest.is_origin() {
        Ordering::Less
    } else {
        length_compared(nearest.squared(), m.exponent(), &reach.exact())
    };
    Ok(ComparedWithReach { order, pairs })
}

/// The pairs that prove contact: their differences have the origin in their hull.
fn pairs_around_origin(proof: &StaticProof) -> Option<ArrayVec<VertexPair, 6>> {
    match proof {
        StaticProof::Separated { .. } => None,
        StaticProof::Touching { pairs, .. } => Some(pairs.iter().copied().collect()),
        StaticProof::Overlapping { pairs } => Some(pairs.clone()),
    }
}
