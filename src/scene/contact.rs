//! Whether and when two bodies meet between the last answered frame and this one.

use arrayvec::ArrayVec;

use super::answer::{Asking, PairAnswer};
use super::bounds::Gap;
use super::methods::AskedOf;
use super::pairs::Notes;
use super::question::Between;
use super::report::{PairContact, PartChain, PartPair};
use crate::geometry::claim::{FirstContact, Frame, Link, Outcome, Question, StaticProof, Verdict};
use crate::geometry::contact_time;
use crate::geometry::effort::Stopped;
use crate::geometry::pair::Pair;

/// First contact, which is a distance of at most `margin`, on the way to this frame; none when it
/// was not asked, or when a body was put where it is. `now` says how the pair stands at the end.
pub(super) fn between(
    asking: &Asking<'_>,
    now: &PairAnswer,
    margin: f64,
    notes: &mut Notes<'_>,
) -> Option<PairContact> {
    let between = asking.between?;
    if asking.p.teleported || asking.q.teleported {
        return None;
    }
    // The question that decides events is not the one that is reported, when they differ.
    let keeps_proofs = asking.questions.certificates && margin >= asking.margin;
    let has_moved = asking.p.has_moved() || asking.q.has_moved();
    // The proof of a verdict does not prove a margin.
    if !has_moved && (margin <= 0.0 || !keeps_proofs) {
        return Some(at_rest(now, margin));
    }
    let is_beyond = |gap: &Gap| margin <= 0.0 || gap.lower > margin;
    let way = Way { asking, between, margin };
    let mut first = free();
    if let Some(gap) = asking.p.held().gap(asking.q.held()).filter(is_beyond) {
        if keeps_proofs {
            let alone = asking.p.now.parts.len() == 1 && asking.q.now.parts.len() == 1;
            let mut chain = boxes_prove(None, &gap);
            // A proof about two parts names how they stand at the start; one about more need not.
            let at_start = || StaticProof::Separated { direction: gap.direction() };
            chain.initial = alone.then(at_start);
            first.chains.push(chain);
        }
        return Some(first);
    }
    for parts in asking.part_pairs() {
        if let Err(stopped) = asking.look_at_clock() {
            stop(&mut first, stopped);
            break;
        }
        let held = asking.p.held_part(parts.p as usize);
        if let Some(gap) = held.gap(asking.q.held_part(parts.q as usize)).filter(is_beyond) {
            if keeps_proofs {
                first.chains.push(boxes_prove(Some(parts), &gap));
            }
            continue;
        }
        match way.ask(parts, notes) {
            Ok(found) => merge(&mut first, parts, found, keeps_proofs),
            Err(stopped) => stop(&mut first, stopped),
        }
    }
    if !has_moved && now.within_margin == Some(false) && first.stopped.is_none() {
        // Known exactly. Within the clearance tolerance of the margin the chain may end early.
        first = PairContact { chains: first.chains, ..free() };
    }
    Some(first)
}

/// Nothing more will be known.
fn stop(first: &mut PairContact, why: Stopped) {
    first.t_free = 0.0;
    first.stopped = Some(why);
    if first.outcome == Outcome::NoContact {
        first.outcome = Outcome::Undecided;
    }
}

/// No contact, with nothing said about any part yet.
fn free() -> PairContact {
    PairContact {
        outcome: Outcome::NoContact,
        t_free: 1.0,
        t_contact: 1.0,
        parts: None,
        chains: Vec::new(),
        stopped: None,
    }
}

/// The pair did not move: it is throughout as it is now.
fn at_rest(now: &PairAnswer, margin: f64) -> PairContact {
    let mut contact = free();
    let in_contact = match now.verdict {
        None => None,
        Some(Verdict::Touching | Verdict::Overlapping) => Some(true),
        Some(Verdict::Separated) if margin > 0.0 => now.within_margin,
        Some(Verdict::Separated) => Some(false),
    };
    match in_contact {
        None => {
            contact.outcome = Outcome::Undecided;
            contact.t_free = 0.0;
            contact.stopped = now.stopped;
        }
        Some(true) => {
            contact.outcome = Outcome::Contact;
            (contact.t_free, contact.t_contact) = (0.0, 0.0);
            contact.parts = now.deciding;
        }
        Some(false) => {}
    }
    for entry in now.proofs.iter().flatten() {
        let links = match &entry.proof {
            StaticProof::Separated { direction } => vec![whole_step(*direction)],
            StaticProof::Touching { .. } | StaticProof::Overlapping { .. } => Vec::new(),
        };
        let initial = Some(entry.proof.clone());
        contact.chains.push(PartChain {
            parts: entry.parts,
            links,
            pairs: ArrayVec::new(),
            initial,
        });
    }
    contact
}

/// What two bodies are asked about their way.
struct Way<'a> {
    asking: &'a Asking<'a>,
    between: Between,
    /// Contact means a distance of at most this, metres.
    margin: f64,
}

impl Way<'_> {
    /// First contact of two parts.
    fn ask(&self, parts: PartPair, notes: &mut Notes<'_>) -> Result<FirstContact, Stopped> {
        let (p, q) = (parts.p as usize, parts.q as usize);
        let Self { asking, between, margin } = self;
        let pair = Pair::new(
            &asking.p.body.parts[p].polytope,
            asking.p.at_start().parts[p].pose,
            &asking.q.body.parts[q].polytope,
            asking.q.at_start().parts[q].pose,
        );
        let motion_p = asking.p.motion_of(p);
        let motion_q = asking.q.motion_of(q);
        let question = Question {
            deviation_p: asking.p.deviation,
            deviation_q: asking.q.deviation,
            margin: *margin,
            time_tolerance: between.time_tolerance,
            clearance_tolerance: between.clearance_tolerance,
            ..Question::new(pair, motion_p, motion_q)
        };
        asking.spend(AskedOf::FirstContact, parts, notes, |witness, effort| {
            let method = asking.methods.first_contact.method;
            contact_time::first_contact_by(method, &question, witness, effort)
        })
    }
}

/// The bodies meet when the first of their parts do, and are free as long as all parts are.
fn merge(first: &mut PairContact, parts: PartPair, found: FirstContact, keeps_proofs: bool) {
    first.t_free = first.t_free.min(found.t_free);
    match found.outcome {
        Outcome::NoContact => {}
        Outcome::Undecided => {
            if first.outcome == Outcome::NoContact {
                first.outcome = Outcome::Undecided;
            }
        }
        Outcome::Contact => {
            if first.outcome != Outcome::Contact || found.t_contact < first.t_contact {
                first.t_contact = found.t_contact;
                first.parts = Some(parts);
            }
            first.outcome = Outcome::Contact;
        }
    }
    if found.stopped.is_some() {
        first.stopped = found.stopped;
    }
    if keeps_proofs {
        first.chains.push(PartChain {
            parts: Some(parts),
            links: found.chain,
            pairs: found.pairs,
            initial: Some(found.initial),
        });
    }
}

fn boxes_prove(parts: Option<PartPair>, gap: &Gap) -> PartChain {
    let links = vec![whole_step(gap.direction())];
    PartChain { parts, links, pairs: ArrayVec::new(), initial: None }
}

fn whole_step(direction: crate::geometry::claim::Direction) -> Link {
    Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction }
}
