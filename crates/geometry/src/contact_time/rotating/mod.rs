//! First contact when something turns (or a margin or a deviation is asked for): a certified
//! bracket, by directional conservative advancement.
//!
//! At a time t the nearest point of the difference body M = Q - P gives a direction. Along a
//! heading, which is a direction that is fixed in the world or turns with one of the bodies, the
//! gap has a bounded second derivative, and that certifies a whole closed interval at once. The
//! intervals join to a chain that covers [0, t_free]. Contact is then proven at a time, by pairs of
//! vertices whose differences surely hold the origin.
//!
//! # The way of a question
//!
//! 1. *Start* ([`advance::start`]). The question becomes a [`search`]: what it is told, where it
//!    is, what it has proven. Balls around the bodies give the first link, or their sizes the first
//!    heading. Where these do not separate the bodies at t = 0, [`separation`] decides that.
//! 2. *Free part* ([`machine`]). Rounds of a heading and a certified step ([`advance`]), by the
//!    motion bounds in [`bounds`]. Close to contact, steps aim at it; just before, the search
//!    probes for a proof of contact a little ahead ([`proof::at_time`]), which usually ends it.
//!    Otherwise it ends with the motion, or where no heading certifies a further step: the gap is
//!    then at the limit of rounding, far below the clearance tolerance.
//! 3. *Proofs after the free part* ([`proof`], in the order of [`machine`]). Steps go on with some
//!    depth allowed, a small part of the clearance tolerance at first, and at their ends contact is
//!    tried ([`proof::deeper`]). A motion that never gets that deep runs through to t = 1 and is a
//!    graze, undecided. A gap that no rotation changes closes at an exact time
//!    ([`proof::closing`]), vertices on the axes meet at one ([`proof::fixed_points`]), and flat
//!    bodies pass through each other ([`proof::passing`]).
//! 4. *Swapped* ([`shortcut::swapped`]). What stays undecided is asked once more with the bodies in
//!    each other's place.
//! 5. *Promise* ([`promise`]). A bracket that is wider than the tolerances say names the reason.
//!
//! The method [`shortcut::inter_frame`] looks at some motions before all this, when it is asked for
//! by name.
//!
//! Source: B. Mirtich, *Impulse-based Dynamic Simulation of Rigid Body Systems*, PhD thesis,
//!         Berkeley 1996, §2.3 (conservative advancement); X. Zhang, M. Lee, Y. Kim,
//!         "Interactive continuous collision detection for non-convex polyhedra", 2006 (directional
//!         motion bounds). The second-order bound and headings that turn are this project's.
//! Proves: each link by outward-rounded enclosures; contact by vertex pairs.
//! Cost:   one nearest-point search for every two to five evaluations of a gap.

mod advance;
mod bounds;
mod machine;
pub(super) mod promise;
mod proof;
mod search;
pub(super) mod shortcut;
#[cfg(test)]
mod tests;

pub(super) use self::advance::step::is_certain;
pub(super) use self::machine::unsearched;

use self::advance::start::begin;
use self::machine::conduct;
use self::proof::at_time::contact_at;
use self::search::{ContactPairs, TurningSearch};
use self::shortcut::swapped;
use crate::claim::{Direction, FirstContact, Outcome, StaticProof};
use crate::effort::{Effort, Stopped};
use crate::pair::Question;
use crate::pair::VertexPair;
use crate::separation;
use crate::witness::Witness;

/// First contact of any two motions, by certified steps.
pub fn first_contact(
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let mut search = TurningSearch::new(question);
    let initial = match begin(&mut search, effort) {
        Some(along) => StaticProof::Separated { direction: Direction::Vector(along) },
        None => {
            let method = &separation::METHODS[0];
            separation::decide(&question.pair, method, witness, effort)?.proof
        }
    };
    let in_contact: Option<ContactPairs> = match &initial {
        StaticProof::Touching { pairs, .. } => Some(pairs.iter().copied().collect()),
        StaticProof::Overlapping { pairs } => Some(pairs.clone()),
        StaticProof::Separated { .. } => None,
    };
    if let Some(pairs) = in_contact {
        let (outcome, t_contact) = (Outcome::Contact, 0.0);
        return Ok(FirstContact { outcome, t_contact, pairs, ..unsearched(initial) });
    }
    let answer = conduct(&mut search, initial, witness, effort)?;
    let is_open = answer.outcome == Outcome::Undecided && answer.stopped.is_none();
    let answer = if is_open { swapped::decide_swapped(question, answer, effort) } else { answer };
    Ok(promise::with_reason_in(&mut search, answer, effort))
}

/// Whether contact can be proven at time t; `pairs` are those that may show it.
pub(super) fn is_in_contact_at(
    question: &Question<'_>,
    t: f64,
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> bool {
    let mut search = TurningSearch::new(question);
    search.at.towards = search.direction_at_start();
    search.at.seed = pairs.iter().take(4).copied().collect();
    contact_at(&mut search, t, effort).is_some()
}
