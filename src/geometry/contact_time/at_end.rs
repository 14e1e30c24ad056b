//! Translations whose distance compares with a margin exactly, where a search with enclosures
//! leaves them undecided: those that come within it at their very end, and bodies that rest to each
//! other just beyond it.

use super::travel::Travel;
use crate::geometry::claim::{FirstContact, Frame, Link, Outcome, Question};
use crate::geometry::distance;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::double::two_sum;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::pair::{Pair, Placed};
use crate::geometry::pose::Pose;
use crate::geometry::witness::Witness;

/// The answer of a search for a pair that translates, decided where the search left it undecided:
/// by the start if the bodies rest to each other, or by the end if they are within the margin
/// there.
pub(super) fn decide(
    question: &Question<'_>,
    travels: &[Travel; 2],
    found: FirstContact,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let is_open = found.outcome == Outcome::Undecided && found.stopped.is_none();
    if !is_open {
        return Ok(found);
    }
    if rest_to_each_other(travels)
        && let Some(whole) = beyond_throughout(question, effort)?
    {
        let (outcome, chain) = (Outcome::NoContact, vec![whole]);
        return Ok(FirstContact { outcome, t_free: 1.0, chain, ..found });
    }
    // Without a chain nothing but the start is proven free, and that not of the margin.
    if found.chain.is_empty() {
        return Ok(found);
    }
    let Some(end) = pair_at_end(question, travels) else { return Ok(found) };
    let compared = distance::compare(&end, question.margin, &mut Witness::default(), effort)?;
    if !compared.is_within || compared.pairs.is_empty() {
        return Ok(found);
    }
    let pairs = compared.pairs.into_iter().collect();
    Ok(FirstContact { outcome: Outcome::Contact, t_contact: 1.0, pairs, ..found })
}

/// Whether both bodies travel alike, exactly.
fn rest_to_each_other([of_p, of_q]: &[Travel; 2]) -> bool {
    let length =
        |travel: &Travel, k: usize| &Dyadic::from(travel.to[k]) - &Dyadic::from(travel.from[k]);
    (0..3).all(|k| length(of_p, k) == length(of_q, k))
}

/// A link over the whole step, of bodies that rest to each other: along its direction the gap is
/// wider, exactly, than the margin and what they may deviate.
fn beyond_throughout(
    question: &Question<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<Link>, Stopped> {
    let mut clear = question.margin;
    for deviation in [question.deviation_p, question.deviation_q] {
        let (sum, rest) = two_sum(clear, deviation);
        clear = if rest > 0.0 { sum.next_up() } else { sum };
    }
    let direction = distance::direction_beyond(&question.pair, clear, effort)?;
    Ok(direction.map(|direction| Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction }))
}

/// The pair at t = 1, if its poses there are f64 numbers.
fn pair_at_end<'a>(question: &Question<'a>, travels: &[Travel; 2]) -> Option<Pair<'a>> {
    let end = |start: &Pose, travel: &Travel| -> Option<Pose> {
        let ends = if travel.from == start.translation {
            [0, 1, 2].map(|k| (travel.to[k], 0.0))
        } else {
            // Any other travel is a velocity, which begins at the origin.
            [0, 1, 2].map(|k| two_sum(start.translation[k], travel.to[k]))
        };
        let is_exact = ends.iter().all(|(_, rest)| rest.abs() <= 0.0);
        is_exact.then(|| Pose { translation: ends.map(|(end, _)| end).into(), ..*start })
    };
    let Pair { p, q } = question.pair;
    let (pose_p, pose_q) = (end(&p.pose, &travels[0])?, end(&q.pose, &travels[1])?);
    Some(Pair { p: Placed { pose: pose_p, ..p }, q: Placed { pose: pose_q, ..q } })
}

#[cfg(test)]
mod tests;
