//! The question asked the other way round. What is decided with the bodies in one order is decided
//! with them in the other. Near the limits of rounding, one search may stop a hair before what the
//! other still proves, because each goes by the directions that it happens to find.

use crate::claim::{FirstContact, Outcome};
use crate::claim::{Frame, Link};
use crate::contact_time::rotating::advance::start::begin;
use crate::contact_time::rotating::machine::conduct;
use crate::contact_time::rotating::search::TurningSearch;
use crate::effort::{Effort, Stopped};
use crate::pair::Question;
use crate::pair::{Pair, VertexPair};
use crate::witness::Witness;

/// Decides with Q in the place of P what has stayed undecided, if that can be done; otherwise
/// returns the answer as it is.
#[cold]
#[inline(never)]
pub(in super::super) fn decide_swapped(
    question: &Question<'_>,
    answer: FirstContact,
    effort: &mut Effort<'_>,
) -> FirstContact {
    let swapped = Question {
        pair: Pair { p: question.pair.q, q: question.pair.p },
        motion_p: question.motion_q,
        motion_q: question.motion_p,
        deviation_p: question.deviation_q,
        deviation_q: question.deviation_p,
        ..*question
    };
    let mut search = TurningSearch::new(&swapped);
    let _direction = begin(&mut search, effort);
    let initial = answer.initial.clone();
    let other = match conduct(&mut search, initial, &mut Witness::default(), effort) {
        Ok(other) => other,
        Err(why) => return FirstContact { stopped: budget(Some(why)), ..answer },
    };
    if other.outcome == Outcome::Undecided {
        return FirstContact { stopped: budget(other.stopped), ..answer };
    }
    // Without a link, the start's own proof would have to be turned round, too.
    if other.chain.is_empty() {
        return answer;
    }
    let pairs = other.pairs.iter().map(|pair| VertexPair { i: pair.j, j: pair.i });
    FirstContact {
        pairs: pairs.collect(),
        chain: other.chain.iter().map(turned_round).collect(),
        initial: answer.initial,
        ..other
    }
}

/// The reason why a search stopped, if more budget would help. The answer to improve on names no
/// other.
fn budget(stopped: Option<Stopped>) -> Option<Stopped> {
    stopped.filter(|why| matches!(why, Stopped::Steps | Stopped::Deadline))
}

/// The link with P and Q in each other's place. Its direction is a vector.
fn turned_round(link: &Link) -> Link {
    let frame = match link.frame {
        Frame::World => Frame::World,
        Frame::P => Frame::Q,
        Frame::Q => Frame::P,
    };
    Link { frame, direction: link.direction.reversed(), ..*link }
}
