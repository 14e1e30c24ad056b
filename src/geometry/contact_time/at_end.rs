//! Translations that come within a margin at their very end, where the distance compares with the
//! margin exactly. A search with enclosures leaves them undecided.

use super::travel::Travel;
use crate::geometry::claim::{FirstContact, Outcome, Question};
use crate::geometry::distance;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::double::two_sum;
use crate::geometry::pair::{Pair, Placed};
use crate::geometry::pose::Pose;
use crate::geometry::witness::Witness;

/// The answer of a search for a pair that translates, decided at the end of the step where the
/// search left it undecided and the pair is within the margin there.
pub(super) fn decide(
    question: &Question<'_>,
    travels: &[Travel; 2],
    found: FirstContact,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let is_open = found.outcome == Outcome::Undecided && found.stopped.is_none();
    // Without a chain nothing but the start is proven free, and that not of the margin.
    if !is_open || found.chain.is_empty() {
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
