//! Separated, touching or overlapping: always decided, exactly.
//!
//! A *method* searches in floating point and proposes; the *filter* accepts a proposal only when a
//! derived error bound proves it; the *exact stage* decides the rest in exact arithmetic. So every
//! method gives the same verdicts, and differs only in cost and in the proof it finds.

mod aligned;
pub(crate) mod exact;
pub(crate) mod filter;
pub(crate) mod line;
pub(crate) mod methods;
mod room;

pub use self::filter::Evidence;
use self::filter::{cores_overlap_along, separates_hulls};
pub use self::methods::cd_dual::{DualPhase, DualWork, dual_way, propose_with_work};
pub use self::methods::linear_program::propose_with_repairs;
pub use self::methods::{CollisionMethod, METHODS, Proposal, exhaustive};
pub use self::room::{Roomy, decide_with_room, room_of};
use super::Vec3;
use super::claim::{StaticProof, Verdict};
use super::difference::layout::Layout;
use super::effort::{Effort, Stopped};
use super::pair::Pair;
use super::witness::Witness;

/// A verdict with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The proof, which says the verdict.
    pub proof: StaticProof,
}

impl Decision {
    /// Separated, touching or overlapping.
    pub fn verdict(&self) -> Verdict {
        self.proof.verdict()
    }
}

/// Decides how the pair stands, searching with `method`.
///
/// What is at hand is looked at first. Then the method proposes, and what it proposes is proven by
/// an error bound or decided in exact arithmetic.
pub fn decide(
    pair: &Pair<'_>,
    method: &CollisionMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    if method.continues {
        return decide_continuing(pair, method, witness, effort);
    }
    decide_by::<false>(pair, method, witness, effort)
}

/// Decides with a method that begins where it ended in the last frame. Out of line, so that the
/// default does not pay for it.
#[inline(never)]
fn decide_continuing(
    pair: &Pair<'_>,
    method: &CollisionMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    decide_by::<true>(pair, method, witness, effort)
}

/// Decides as [`decide`] does, for somebody who asks for the method by its name and has a witness
/// for it alone: counts what answered in the method's place.
pub fn decide_by_name(
    pair: &Pair<'_>,
    method: &CollisionMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    let before = effort.cost;
    let decision = decide(pair, method, witness, effort)?;
    let cost = &mut effort.cost;
    if cost.witness_hits > before.witness_hits {
        // By the text of HS-jump the vector of the last frame is the first candidate of this one.
        let is_first = method.counts_candidates() && decision.verdict() == Verdict::Separated;
        cost.candidates += u64::from(is_first);
    } else if cost.searches == before.searches {
        cost.by_bounds += 1;
    }
    Ok(decision)
}

#[inline(always)]
fn decide_by<const CONTINUES: bool>(
    pair: &Pair<'_>,
    method: &CollisionMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    effort.cost.queries += 1;
    filter::first_look::<CONTINUES>(pair, witness, effort, |between_centres, witness, effort| {
        search(pair, between_centres, method, witness, effort)
    })
}

/// Searches where nothing that is at hand decides. Out of line, so that the other questions do not
/// pay for its registers.
#[inline(never)]
fn search(
    pair: &Pair<'_>,
    between_centres: Vec3,
    method: &CollisionMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    // A method that somebody asked for by its name shows its own work.
    if method.name == METHODS[0].name
        && let Some(decision) = aligned::decide(pair, witness)
    {
        return Ok(decision);
    }
    let layout = Layout::new(pair, between_centres);
    if layout.shape.is_some()
        && !cores_overlap_along(pair, &layout.towards, &between_centres)
        && separates_hulls(pair, &layout.towards, &between_centres)
    {
        // It took longer to find than it takes to try again.
        witness.direction = Some(layout.towards);
        witness.pairs.clear();
        return Ok(filter::separated_by(layout.towards));
    }
    effort.cost.searches += 1;
    // The proposal is looked at where it is: see `filter::separated_by`.
    match &(method.propose)(pair, &layout, witness, effort) {
        Ok(Proposal::Proven(evidence)) if let Some(decision) = filter::accepted(evidence, pair) => {
            Ok(decision)
        }
        Ok(proposal) => decide_proposed(pair, proposal, witness, effort),
        Err(stopped) => Err(*stopped),
    }
}

/// Decides where the search could not prove its proposal by itself.
#[cold]
fn decide_proposed(
    pair: &Pair<'_>,
    proposal: &Proposal,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    effort.cost.handed_over += u64::from(proposal.claim().is_none());
    let proof = match filter::certify(pair, proposal, witness, effort) {
        Some(proof) => proof,
        None => exact::decide_exactly(pair, proposal, witness, effort)?,
    };
    Ok(Decision { proof })
}

#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod tests;
