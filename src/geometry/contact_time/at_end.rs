//! Translations whose distance compares with a margin exactly, where a search with enclosures
//! leaves them undecided: those that come within it and no nearer, and bodies that rest to each
//! other just beyond it.
//!
//! The distance of convex bodies that translate is a convex function of time. So once they are
//! within the margin at the end they have been since they first were, and halving finds that time:
//! at times with few digits the poses are f64 numbers, and the distance there compares exactly.

use arrayvec::ArrayVec;

use super::rotating::promise;
use super::travel::Travel;
use crate::geometry::Vec3;
use crate::geometry::claim::{FirstContact, Frame, Link, Outcome, Question};
use crate::geometry::distance;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::double::two_sum;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::pose::Pose;
use crate::geometry::witness::Witness;

/// How often the time of contact is halved: from a whole step to a tenth of the least time
/// tolerance that matters.
const HALVINGS_MAX: u32 = 56;
/// The part of the time tolerance to which the time of contact is found, where the end of what is
/// free is farther off than the tolerance.
const TIME_PART: f64 = 0.125;

/// The answer of a search for a pair that translates, decided where the search left it undecided:
/// by the start if the bodies rest to each other, or by the end if they are within the margin
/// there.
pub(super) fn decide(
    question: &Question<'_>,
    travels: &[Travel; 2],
    found: FirstContact,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let gave_up = matches!(found.stopped, None | Some(Stopped::Unresolved));
    if found.outcome != Outcome::Undecided || !gave_up {
        return Ok(found);
    }
    if rest_to_each_other(travels)
        && let Some(whole) = beyond_throughout(question, effort)?
    {
        let (outcome, chain) = (Outcome::NoContact, vec![whole]);
        return Ok(FirstContact { outcome, t_free: 1.0, chain, stopped: None, ..found });
    }
    // Without a chain nothing but the start is proven free, and that not of the margin.
    if found.chain.is_empty() {
        return Ok(found);
    }
    let Some(at_end) = within_at(question, travels, 1.0, effort)? else { return Ok(found) };
    let (t_contact, pairs) = earliest(question, travels, found.t_free, at_end, effort)?;
    let pairs = pairs.into_iter().collect();
    let outcome = Outcome::Contact;
    let decided = FirstContact { outcome, t_contact, pairs, stopped: None, ..found };
    Ok(promise::with_reason(question, decided, effort))
}

/// Three pairs at most that are within the margin at a time.
type NearPairs = ArrayVec<VertexPair, 3>;

/// A time soon after the bodies come within the margin, and the pairs that are within it then.
fn earliest(
    question: &Question<'_>,
    travels: &[Travel; 2],
    t_free: f64,
    at_end: NearPairs,
    effort: &mut Effort<'_>,
) -> Result<(f64, NearPairs), Stopped> {
    let (mut beyond, mut within) = (t_free, (1.0, at_end));
    for _ in 0..HALVINGS_MAX {
        let is_found = within.0 - t_free <= question.time_tolerance
            || within.0 - beyond <= TIME_PART * question.time_tolerance;
        if is_found {
            break;
        }
        effort.spend_step()?;
        let t = roundest_between(beyond, within.0);
        match within_at(question, travels, t, effort)? {
            Some(pairs) => within = (t, pairs),
            None => beyond = t,
        }
    }
    Ok(within)
}

/// A number with few digits, in the middle half of what is between two times.
fn roundest_between(from: f64, to: f64) -> f64 {
    let width = to - from;
    let mut unit = 1.0;
    while unit > 0.5 * width {
        unit *= 0.5;
    }
    ((from + 0.25 * width) / unit).ceil() * unit
}

/// The pairs that show that the bodies are within the margin at time t; none if they are not, or if
/// their poses are no f64 numbers.
fn within_at(
    question: &Question<'_>,
    travels: &[Travel; 2],
    t: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<NearPairs>, Stopped> {
    let Some(pair) = pair_at(question, travels, t) else { return Ok(None) };
    let compared = distance::compare(&pair, question.margin, &mut Witness::default(), effort)?;
    let is_shown = compared.is_within && !compared.pairs.is_empty();
    Ok(is_shown.then_some(compared.pairs))
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

/// The pair at time t, if its poses there are f64 numbers.
fn pair_at<'a>(question: &Question<'a>, travels: &[Travel; 2], t: f64) -> Option<Pair<'a>> {
    let exact = |x: f64| Dyadic::from(x);
    let at = |start: &Pose, travel: &Travel| -> Option<Pose> {
        let place = |k: usize| {
            let length = &exact(travel.to[k]) - &exact(travel.from[k]);
            let place = (&exact(start.translation[k]) + &(&length * &exact(t))).enclosed();
            (place.low() >= place.high()).then(|| place.low())
        };
        let translation = Vec3::new(place(0)?, place(1)?, place(2)?);
        Some(Pose { translation, ..*start })
    };
    let Pair { p, q } = question.pair;
    let (pose_p, pose_q) = (at(&p.pose, &travels[0])?, at(&q.pose, &travels[1])?);
    Some(Pair { p: Placed { pose: pose_p, ..p }, q: Placed { pose: pose_q, ..q } })
}

#[cfg(test)]
mod tests;
