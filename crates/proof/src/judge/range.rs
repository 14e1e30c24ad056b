//! The judge of a range of contact along a direction: exact, from scratch, sharing nothing with the
//! search.

use super::direction::{LinkSweep, exact_direction_of_link};
use super::exact::{Exact, exact_differences, gap_along, holds_origin, is_zero, scalar_product};
use super::meeting::holds_origin_in_solid;
use super::refusal::Refusal;
use crate::claim::{Bodies, RangeClaim, RangeEnd, RangeProof, Span, Verdict};
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
    let pair = &pair.into();
    let along: Exact = std::array::from_fn(|k| Dyadic::from(claim.along[k]));
    let in_contact = claim.verdict != Verdict::Separated;
    if is_zero(&along) {
        return judge_rest(in_contact, claim.span);
    }
    let judge = RangeJudge { pair, travel: along.each_ref().map(|c| -c), along };
    match (claim.span, claim.proof) {
        (_, None) => Err(Refusal::BoundFails("a range has a proof")),
        (None, Some(RangeProof::Never { direction })) => {
            let s =
                exact_direction_of_link(pair, direction, Some(LinkSweep::at_start(&judge.travel)))?;
            let recedes = scalar_product(&s, &judge.along).sign() != Sign::Positive;
            if recedes && gap_along(pair, &s, effort)?.sign() == Sign::Positive {
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
}

impl RangeJudge<'_> {
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
        let s = exact_direction_of_link(
            self.pair,
            &proof.direction,
            Some(LinkSweep::at_start(&self.travel)),
        )?;
        let rate = scalar_product(&s, &self.along);
        if rate.sign() != side {
            return Err(Refusal::NotSeparating);
        }
        let outer = if side == Sign::Positive { lower } else { upper };
        // Nothing is after an upper bound that is infinite.
        if outer < f64::INFINITY {
            let gap = gap_along(self.pair, &s, effort)?;
            if gap < &rate * &Dyadic::from(outer) {
                return Err(Refusal::BoundFails("they meet outside of the bracket"));
            }
        }
        if !(1..=4).contains(&proof.pairs.len()) {
            return Err(Refusal::PairCount("one to four"));
        }
        let differences = exact_differences(self.pair, &proof.pairs)?;
        let upper =
            if upper < f64::INFINITY { Dyadic::from(upper) } else { Dyadic::new(1.into(), BEYOND) };
        // For some t of the bracket the hull of the m - t d holds the origin, exactly if the hull
        // of those at both bounds does: weights of both bounds mix the times.
        let less = |t: Dyadic| {
            let moved = |d: &Exact| std::array::from_fn(|k| &d[k] - &(&self.along[k] * &t));
            differences.iter().map(moved).collect::<Vec<Exact>>()
        };
        let points = [less(Dyadic::from(lower)), less(upper)].concat();
        if holds_origin(&points) || holds_origin_in_solid(&points) {
            Ok(())
        } else {
            Err(Refusal::OriginNotHeld)
        }
    }
}
