//! Translations whose distance compares with a margin exactly, where a search with enclosures
//! leaves open when, or whether, the bodies come within it: grazes, those that come within it and
//! no nearer, and bodies that rest to each other just beyond it.

use super::nearing::{Approach, Nearing, first_within};
use super::travel::{Travel, relative};
use crate::claim::{FirstContact, Frame, Link, Outcome, StaticProof};
use crate::distance::sweep::{SweptNearest, Translating};
use crate::effort::{Effort, Stopped};
use crate::number::dyadic::Dyadic;
use crate::pair::Question;

/// The answer of a search for a pair that translates, exact where the search left it open.
pub(super) fn decide(
    question: &Question<'_>,
    travels: [&Travel; 2],
    found: FirstContact,
    effort: &mut Effort<'_>,
) -> FirstContact {
    if !is_open(question, &found) {
        return found;
    }
    let stopped = |why| FirstContact { stopped: Some(why), ..found.clone() };
    let decided = MarginProblem::new(question, travels).decide(&found, effort);
    decided.unwrap_or_else(stopped)
}

/// Whether a search gave up, or found less than it was to.
fn is_open(question: &Question<'_>, found: &FirstContact) -> bool {
    if !matches!(found.stopped, None | Some(Stopped::Unresolved)) {
        return false;
    }
    match found.outcome {
        Outcome::NoContact => false,
        Outcome::Undecided => true,
        Outcome::Contact => {
            // What may deviate has to be kept clear, and what is free ends before the stated motion
            // meets.
            let is_stated = question.deviation_p <= 0.0 && question.deviation_q <= 0.0;
            is_stated && found.t_contact - found.t_free > question.time_tolerance
        }
    }
}

/// The exact problem.
struct MarginProblem<'a> {
    bodies: Translating<'a>,
    /// Contact is a distance of at most this.
    reach: Dyadic,
    /// Free is a distance of more than this: the reach and what the bodies may deviate.
    clear: Dyadic,
}

impl<'a> MarginProblem<'a> {
    fn new(question: &Question<'a>, travels: [&Travel; 2]) -> Self {
        let deviations = &Dyadic::from(question.deviation_p) + &Dyadic::from(question.deviation_q);
        let reach = question.reach.exact();
        let clear = &reach + &deviations;
        let (travel, exponent) = relative(travels);
        Self { bodies: Translating::new(&question.pair, travel, exponent), reach, clear }
    }

    fn decide(
        &self,
        found: &FirstContact,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContact, Stopped> {
        effort.cost.exact_stages += 1;
        let found = FirstContact { stopped: None, ..found.clone() };
        let whole = self.bodies.nearest(1.0, &self.clear, &[], effort)?;
        if !whole.is_within {
            let (outcome, chain) = (Outcome::NoContact, vec![link(1.0, &whole)]);
            return Ok(FirstContact { outcome, t_free: 1.0, t_contact: 1.0, chain, ..found });
        }
        let outcome = Outcome::Contact;
        let start = self.bodies.nearest(0.0, &self.reach, &whole.corners, effort)?;
        if start.is_within {
            let pairs = start.pairs().into_iter().collect();
            let (t_free, t_contact, chain) = (0.0, 0.0, Vec::new());
            return Ok(FirstContact { outcome, t_free, t_contact, chain, pairs, ..found });
        }
        let at_start = StaticProof::Separated { direction: start.direction() };
        let Approach::Within(Nearing { before: (t_free, beyond), by: (t_contact, within) }) =
            first_within(&self.bodies, &self.reach, 1.0, start, effort)?
        else {
            // Another motion within the deviations may make contact.
            return Ok(found);
        };
        let pairs = within.pairs().into_iter().collect();
        let contact = FirstContact { outcome, t_contact, pairs, ..found };
        Ok(if self.clear == self.reach {
            FirstContact { t_free, chain: vec![link(t_free, &beyond)], ..contact }
        } else if contact.chain.is_empty() {
            FirstContact { initial: at_start, ..contact }
        } else {
            contact
        })
    }
}

/// The bodies are as far apart as they are nearest until then.
fn link(t1: f64, nearest: &SweptNearest) -> Link {
    Link { t0: 0.0, t1, frame: Frame::World, direction: nearest.direction() }
}

#[cfg(test)]
mod tests;
