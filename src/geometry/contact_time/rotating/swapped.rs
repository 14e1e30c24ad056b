//! The question asked the other way round: whatever is decided with the bodies in one order is
//! decided with them in the other. Near the limits of rounding a search may stop a hair before what
//! another one still proves, as each goes by the directions that it happens to find.

use super::Search;
use crate::geometry::claim::{FirstContact, Frame, Link, Outcome, Question};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::witness::Witness;

/// Decides with Q for P what has stayed undecided, if that can be done.
#[cold]
#[inline(never)]
pub(super) fn decide_swapped(
    question: &Question<'_>,
    answer: &mut FirstContact,
    effort: &mut Effort<'_>,
) {
    let swapped = Question {
        pair: Pair { p: question.pair.q, q: question.pair.p },
        motion_p: question.motion_q,
        motion_q: question.motion_p,
        deviation_p: question.deviation_q,
        deviation_q: question.deviation_p,
        ..*question
    };
    let mut other = super::super::unsearched(answer.initial.clone());
    let mut search = Search::new(&swapped);
    let _apart = search.begin(&mut other.chain, effort);
    match search.run(&mut other, &mut Witness::default(), effort) {
        Ok(None) => {}
        // In contact within a margin from the start, which the other order says as well.
        Ok(Some(_)) => return,
        Err(why) => other.stopped = Some(why),
    }
    if let Some(why @ (Stopped::Steps | Stopped::Deadline)) = other.stopped
        && other.outcome == Outcome::Undecided
    {
        answer.stopped = Some(why);
    }
    // Without a link, the start's own proof would have to be turned round, too.
    if other.outcome == Outcome::Undecided || other.chain.is_empty() {
        return;
    }
    let pairs = other.pairs.iter().map(|pair| VertexPair { i: pair.j, j: pair.i });
    *answer = FirstContact {
        pairs: pairs.collect(),
        chain: other.chain.iter().map(turned_round).collect(),
        initial: answer.initial.clone(),
        ..other
    };
}

/// The link with P and Q in each other's place; its direction is a vector.
fn turned_round(link: &Link) -> Link {
    let frame = match link.frame {
        Frame::World => Frame::World,
        Frame::P => Frame::Q,
        Frame::Q => Frame::P,
    };
    Link { frame, direction: link.direction.reversed(), ..*link }
}
