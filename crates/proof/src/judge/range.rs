//! The judge of a range of contact along a direction: exact, from scratch, sharing nothing with the
//! search.

use std::cmp::Ordering;

use super::direction::{LinkSweep, exact_direction_of_link};
use super::exact::{Exact, exact_differences, gap_along, holds_origin, is_zero, scalar_product};
use super::meeting::holds_origin_in_solid;
use super::nearest::nearest_point;
use super::refusal::Refusal;
use super::rounded::{RoundedBodies, signed_compared, sum};
use crate::claim::{Bodies, Direction, RangeClaim, RangeEnd, RangeProof, Span, Verdict};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

/// Two to this power is more than any t for which `t d` can be in M: coordinates of M are below
/// 2^1026, and those of d are zero or at least 2^-1074.
const BEYOND: i64 = 2_200;

/// Proves the range: that P meets Q within both brackets, and neither before the first nor after
/// the second; or that it never does. Looks at every vertex for each direction of the proof.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::claim::{RangeClaim, Verdict};
/// use clearance_geometry::judge::judge_range;
/// use clearance_geometry::penetration::along;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let along_x = Vec3::new(1.0, 0.0, 0.0);
/// let range = along(&pair, &along_x, &mut witness, &mut effort).unwrap();
/// let claim = RangeClaim {
///     along: along_x,
///     verdict: Verdict::Separated,
///     span: range.span,
///     proof: range.proof.as_ref(),
/// };
/// assert!(judge_range(&pair, &claim, &mut effort).is_ok());
/// ```
pub fn judge_range<'a>(
    pair: impl Into<Bodies<'a>>,
    claim: &RangeClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_within(&pair.into(), Dyadic::zero(), claim, effort)
}

/// Proves the same of polytopes with balls around all their points: they are in contact where they
/// are no farther apart than the exact sum of the radii.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::{Pair, VertexPair}, pose::Pose};
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::claim::{Direction, RangeClaim, RangeEnd, RangeProof, Span, Verdict};
/// use clearance_geometry::judge::{RoundedBodies, judge_rounded_range};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(6.0, 3.0, 0.0));
/// let pairs = [VertexPair { i: 0, j: 0 }];
/// let end = || RangeEnd {
///     direction: Direction::nearest(&pairs).unwrap(),
///     pairs: pairs.into_iter().collect(),
/// };
/// let proof = RangeProof::Meets { enter: Some(end()), exit: end() };
/// let judge = |enter, exit| {
///     let (along, verdict, span) = (Vec3::x(), Verdict::Separated, Some(Span { enter, exit }));
///     let claim = RangeClaim { along, verdict, span, proof: Some(&proof) };
///     let balls = RoundedBodies { cores: (&pair).into(), radii: [1.0, 4.0] };
///     judge_rounded_range(balls, &claim, &mut Effort::unlimited())
/// };
/// assert!(judge([2.0; 2], [10.0; 2]).is_ok());
/// assert!(judge([2.0_f64.next_up(); 2], [10.0; 2]).is_err());
/// assert!(judge([2.0; 2], [10.0_f64.next_down(); 2]).is_err());
/// ```
pub fn judge_rounded_range(
    RoundedBodies { cores, radii }: RoundedBodies<'_>,
    claim: &RangeClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_within(&cores, sum(&radii)?, claim, effort)
}

fn judge_within(
    pair: &Bodies<'_>,
    reach: Dyadic,
    claim: &RangeClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let along: Exact = std::array::from_fn(|k| Dyadic::from(claim.along[k]));
    let in_contact = claim.verdict != Verdict::Separated;
    if is_zero(&along) {
        return judge_rest(in_contact, claim.span);
    }
    let judge = RangeJudge { pair, travel: along.each_ref().map(|c| -c), along, reach };
    match (claim.span, claim.proof) {
        (_, None) => Err(Refusal::BoundFails("a range has a proof")),
        (None, Some(RangeProof::Never { direction })) => {
            let s = judge.direction(direction, &[Dyadic::zero(), beyond()])?;
            let recedes = scalar_product(&s, &judge.along).sign() != Sign::Positive;
            let gap = gap_along(pair, &s, effort)?;
            if recedes && signed_compared(&gap, &s, &judge.reach) == Ordering::Greater {
                Ok(())
            } else {
                Err(Refusal::NotSeparating)
            }
        }
        (Some(span), Some(RangeProof::Meets { enter, exit })) => {
            match enter {
                None if in_contact && span.enter == [0.0, 0.0] => {}
                None => {
                    return Err(Refusal::BoundFails("a range that begins later has a proof of it"));
                }
                Some(_) if in_contact => {
                    return Err(Refusal::BoundFails("in contact the range begins at 0"));
                }
                Some(enter) => judge.end(enter, span.enter, Sign::Positive, effort)?,
            }
            judge.end(exit, span.exit, Sign::Negative, effort)
        }
        (None, Some(RangeProof::Meets { .. })) | (Some(_), Some(RangeProof::Never { .. })) => {
            Err(Refusal::BoundFails("the proof is of another answer"))
        }
    }
}

/// Along zero P stays: it meets Q always or never.
fn judge_rest(in_contact: bool, span: Option<Span>) -> Result<(), Refusal> {
    let always = Span { enter: [0.0, 0.0], exit: [f64::INFINITY, f64::INFINITY] };
    if span == in_contact.then_some(always) {
        Ok(())
    } else {
        Err(Refusal::BoundFails("along zero bodies meet always or never"))
    }
}

/// A range that is judged.
struct RangeJudge<'a> {
    pair: &'a Bodies<'a>,
    along: Exact,
    /// The travel of Q relative to P.
    travel: Exact,
    /// How near counts as contact: the sum of the radii.
    reach: Dyadic,
}

/// A time after which the bodies are not in contact.
fn beyond() -> Dyadic {
    Dyadic::new(1.into(), BEYOND)
}

/// A time, of which an infinite one is beyond all.
fn time(t: f64) -> Dyadic {
    if t < f64::INFINITY { Dyadic::from(t) } else { beyond() }
}

impl RangeJudge<'_> {
    /// Where the differences are at these times. Their hull is what the hull of the differences
    /// sweeps in between: weights of both ends mix the times.
    fn swept(&self, differences: &[Exact], times: &[Dyadic]) -> Vec<Exact> {
        let moved = |t: &Dyadic, d: &Exact| -> Exact {
            std::array::from_fn(|k| &d[k] - &(&self.along[k] * t))
        };
        times.iter().flat_map(|t| differences.iter().map(move |d| moved(t, d))).collect()
    }

    /// The direction of a proof that is used at these times: what is nearest is so in all that is
    /// swept between them.
    fn direction(&self, direction: &Direction, times: &[Dyadic]) -> Result<Exact, Refusal> {
        let Direction::Nearest { pairs, negative } = direction else {
            let sweep = LinkSweep::at_start(&self.travel);
            return exact_direction_of_link(self.pair, direction, Some(sweep));
        };
        let along = nearest_point(&self.swept(&exact_differences(self.pair, pairs)?, times)).along;
        if is_zero(&along) {
            return Err(Refusal::NoDirection);
        }
        Ok(if *negative { along.map(|c| -&c) } else { along })
    }

    /// That the range begins (`side` is positive) or ends at a t of the bracket.
    fn end(
        &self,
        proof: &RangeEnd,
        [lower, upper]: [f64; 2],
        side: Sign,
        effort: &mut Effort<'_>,
    ) -> Result<(), Refusal> {
        let in_order = 0.0 <= lower && lower <= upper && lower < f64::INFINITY;
        if !in_order {
            return Err(Refusal::BoundFails("0 <= lower <= upper"));
        }
        let outer = if side == Sign::Positive { lower } else { upper };
        let s = self.direction(&proof.direction, &[time(outer)])?;
        let rate = scalar_product(&s, &self.along);
        if rate.sign() != side {
            return Err(Refusal::NotSeparating);
        }
        // Nothing is after an upper bound that is infinite.
        if outer < f64::INFINITY {
            let gap = &gap_along(self.pair, &s, effort)? - &(&rate * &Dyadic::from(outer));
            if signed_compared(&gap, &s, &self.reach) == Ordering::Less {
                return Err(Refusal::BoundFails("they meet outside of the bracket"));
            }
        }
        if !(1..=4).contains(&proof.pairs.len()) {
            return Err(Refusal::PairCount("one to four"));
        }
        let differences = exact_differences(self.pair, &proof.pairs)?;
        // For some t of the bracket they are in contact if what is swept in it comes near enough.
        let points = self.swept(&differences, &[Dyadic::from(lower), time(upper)]);
        let is_met = if self.reach.sign() == Sign::Positive {
            nearest_point(&points).length_compared(&self.reach) != Ordering::Greater
        } else {
            holds_origin(&points) || holds_origin_in_solid(&points)
        };
        if is_met { Ok(()) } else { Err(Refusal::OriginNotHeld) }
    }
}
