//! A whole search for bodies that are separated at the start: the free part, what has to hold at
//! the start if there is a margin, and the proofs of contact.

use super::free::{FreeEnd, advance_freely};
use super::proof::after_free::{ContactBracket, prove_after_free};
use super::proof::probe::bring_forward;
use super::search::{ContactAt, ContactPairs, TurningSearch};
use crate::geometry::claim::{FirstContact, Outcome, StaticProof};
use crate::geometry::distance;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::witness::Witness;

/// What is known of the start, beyond that the bodies are separated then.
enum Start {
    /// A direction proves that they are farther apart than the margin; or there is no margin.
    Clear(StaticProof),
    /// They come within the margin.
    Contact(ContactAt),
    /// No direction shows that they are farther apart than the margin, though they are, by less
    /// than rounding.
    Unproven,
}

/// Searches from where the search has begun. `initial` proves that the bodies are separated at the
/// start.
pub(super) fn conduct(
    search: &mut TurningSearch<'_>,
    initial: StaticProof,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let end = advance_freely(search, effort);
    let chain = std::mem::take(&mut search.proven.chain);
    let t_free = chain.last().map_or(0.0, |link| link.t1);
    // A link proves more than the margin at its start; without one that is decided exactly.
    if !chain.is_empty() || search.told.question.margin <= 0.0 {
        let answer = FirstContact { t_free, chain, ..unsearched(initial) };
        return Ok(follow(search, end, answer, effort));
    }
    Ok(match start_within_margin(search, &initial, witness, effort)? {
        Start::Clear(initial) => follow(search, end, unsearched(initial), effort),
        Start::Contact(contact) => in_contact(unsearched(initial), contact),
        Start::Unproven => unsearched(initial),
    })
}

/// Decides whether the bodies are within the margin at the start.
fn start_within_margin(
    search: &TurningSearch<'_>,
    initial: &StaticProof,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Start, Stopped> {
    let question = search.told.question;
    let compared = distance::compare(&question.pair, question.margin, witness, effort)?;
    if compared.is_within {
        let pairs = compared.pairs.into_iter().collect();
        return Ok(Start::Contact(ContactAt { t: 0.0, pairs }));
    }
    // Only the start may be free, which the verdict `initial` alone does not prove of a margin.
    debug_assert!(matches!(initial, StaticProof::Separated { .. }));
    let direction = distance::direction_beyond(&question.pair, question.margin, effort)?;
    Ok(match direction {
        Some(direction) => Start::Clear(StaticProof::Separated { direction }),
        None => Start::Unproven,
    })
}

/// The answer after the free part: `answer` has what that part proved.
fn follow(
    search: &mut TurningSearch<'_>,
    end: FreeEnd,
    answer: FirstContact,
    effort: &mut Effort<'_>,
) -> FirstContact {
    let t_free = answer.t_free;
    let stopped = match end {
        FreeEnd::ToTheEnd => {
            return FirstContact { outcome: Outcome::NoContact, ..answer };
        }
        FreeEnd::Contact(contact) => return in_contact(answer, contact),
        FreeEnd::Stuck => None,
        FreeEnd::Stopped(why) => Some(why),
    };
    // Contact may be known already, in a bracket that would have become narrower.
    if let Some(late) = search.proven.late.take() {
        let contact = bring_forward(search, t_free, late, effort);
        return in_contact(FirstContact { stopped, ..answer }, contact);
    }
    if stopped.is_some() {
        return FirstContact { stopped, ..answer };
    }
    match prove_after_free(search, t_free, effort) {
        Ok(Some(ContactBracket { t_free, contact })) => {
            in_contact(FirstContact { t_free, ..answer }, contact)
        }
        Ok(None) => answer,
        Err(why) => FirstContact { stopped: Some(why), ..answer },
    }
}

/// The answer of a search that knows nothing but the start.
pub(in super::super) fn unsearched(initial: StaticProof) -> FirstContact {
    FirstContact {
        outcome: Outcome::Undecided,
        t_free: 0.0,
        t_contact: 1.0,
        chain: Vec::new(),
        pairs: ContactPairs::new(),
        initial,
        stopped: None,
    }
}

fn in_contact(answer: FirstContact, ContactAt { t, pairs }: ContactAt) -> FirstContact {
    FirstContact { outcome: Outcome::Contact, t_contact: t, pairs, ..answer }
}
