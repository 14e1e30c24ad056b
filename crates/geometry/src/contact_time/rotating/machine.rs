//! A search as a state machine. Its free part is made of rounds of a heading and a certified step,
//! until the motion ends, no heading certifies a further step, or contact is proven just ahead.
//! How that part ends decides what follows: an answer, or the proofs of contact in their order.

use std::cmp::Ordering;

use super::advance::aim::aim;
use super::advance::further::{HeadingWear, step_further};
use super::advance::headings::choose_heading;
use super::advance::nearest::look_around;
use super::advance::step::{Advance, CertifiedStep, swept_along_heading, take_step};
use super::proof::at_time::{bring_forward, contact_at, is_narrow, place_of_probe};
use super::proof::closing::closing;
use super::proof::deeper::contact_after;
use super::proof::fixed_points::fixed_points;
use super::proof::passing::passing;
use super::search::{ContactAt, ContactPairs, TurningSearch};
use crate::claim::{Direction, FirstContact, Outcome, StaticProof};
use crate::distance;
use crate::effort::{Effort, Stopped};
use crate::witness::Witness;

/// A new heading is sought when the gap has fallen below this part of what it was when the heading
/// was found. Measured on random and grazing motions: 0.02 to 0.4 cost the same within 5 %.
const STALE: f64 = 0.1;
/// A heading that still leaves more than this part of the gap when it is stale was a slow one.
const SLOW: f64 = 0.6;
/// Steps after contact was proven in too wide a bracket. Tens bring the end of what is free close
/// to it; where rounding holds the steps up, no number does.
const LATE_STEPS_MAX: u32 = 256;
/// The first of those steps, in which the bracket also may become narrower than it has to be.
const LATE_STEPS_SPARE: u32 = 8;
/// The least number of steps after which bodies are bounded by their vertices: a search that has
/// gone on for as long has many steps to come, some of them longer for a tighter bound.
const SCANNED_AFTER: u32 = 16;
/// How many vertices take about as long to look at as a step.
const VERTICES_A_STEP: u32 = 32;
/// A step shorter than this, in t, is no progress: the gap is at the limit of rounding if several
/// in a row are.
const NO_PROGRESS: f64 = 4.0 * f64::EPSILON;
/// How many such steps in a row end the free part.
const NO_PROGRESS_STEPS: u32 = 3;
/// Steps within the clearance tolerance. Past a graze of corners that slide by each other,
/// directions separate for times as short as the gap, millions of them, and neither the end of what
/// is free nor a proof of contact gets much nearer.
pub(super) const CLOSE_STEPS_MAX: u32 = 1 << 13;
/// Step limit for a motion whose angle leaves the range of our sine enclosures (see
/// [`crate::number::trig`]). Such a motion is rarely decided, and reaching that angle
/// takes millions of steps: the search gives up and says so.
pub(super) const STEPS_BEYOND_SINE_RANGE_MAX: u32 = 1 << 16;

/// How the free part ends, and what the search does then.
pub(super) enum FreeEnd {
    /// All of [0, 1] is proven free. Then there is no contact.
    ToTheEnd,
    /// No heading certifies a further step: the gap is at the limit of rounding, far below the
    /// clearance tolerance, or what has to be kept clear is used up. Then a contact that was proven
    /// late is brought forward, or else the proofs of contact are tried in their order.
    Stuck,
    /// Contact is proven just ahead, in a bracket that is narrow enough. Then that is the answer.
    Contact(ContactAt),
    /// The budget or the search's own limits are used up. Then a contact that was proven late is
    /// brought forward; without one the motion is undecided, for this reason.
    Stopped(Stopped),
}

/// What a round of the free part leads to.
enum Round {
    /// Another round: the search has taken a step, or needs a fresh heading.
    Next,
    /// The end of the free part.
    Ends(FreeEnd),
}

/// What is known about the bodies' distance at the start, at which they are separated.
enum MarginAtStart {
    /// This direction proves that their distance is more than the margin.
    Clear(Direction),
    /// They come within the margin.
    Contact(ContactAt),
}

/// What a run of the free part counts.
#[derive(Default)]
struct Rounds {
    /// Rounds so far: the steps of the budget.
    count: u32,
    /// Rounds since contact was proven in too wide a bracket.
    late: u32,
    /// Steps within the clearance tolerance.
    close: u32,
    /// Steps in a row that were no progress.
    short: u32,
    /// How well the heading in use has served.
    wear: HeadingWear,
    /// The time before which no further probe for contact is worth its cost.
    probed_until: f64,
}

/// Extends the chain as far as headings separate the bodies.
pub(super) fn advance_freely(search: &mut TurningSearch<'_>, effort: &mut Effort<'_>) -> FreeEnd {
    if search.at.t >= 1.0 {
        return FreeEnd::ToTheEnd;
    }
    let mut rounds = Rounds::default();
    loop {
        match round(search, &mut rounds, effort) {
            Ok(Round::Next) => {}
            Ok(Round::Ends(end)) => return end,
            Err(stopped) => return FreeEnd::Stopped(stopped),
        }
    }
}

/// One round: a heading, a step along it and, near contact, a probe for a proof of it.
fn round(
    search: &mut TurningSearch<'_>,
    rounds: &mut Rounds,
    effort: &mut Effort<'_>,
) -> Result<Round, Stopped> {
    effort.spend_step()?;
    rounds.begin(search)?;
    rounds.tighten_bounds(search);
    let Some(advance) = rounds.choose_step(search, effort) else {
        if rounds.wear.is_stale {
            return Ok(Round::Ends(FreeEnd::Stuck));
        }
        // Before a fresh heading was tried, the old one may be at fault.
        search.at.surplus_found = f64::INFINITY;
        return Ok(Round::Next);
    };
    let before = search.at.t;
    take_step(search, &advance);
    if search.at.t >= 1.0 {
        return Ok(Round::Ends(FreeEnd::ToTheEnd));
    }
    if rounds.are_at_rounding(search, &advance, before) {
        return Ok(Round::Ends(FreeEnd::Stuck));
    }
    Ok(match rounds.probe(search, &advance.step, effort) {
        Some(contact) => Round::Ends(FreeEnd::Contact(contact)),
        None => Round::Next,
    })
}

impl Rounds {
    /// Counts a round; gives up where the search is over its own limits.
    fn begin(&mut self, search: &TurningSearch<'_>) -> Result<(), Stopped> {
        self.count += 1;
        self.late += u32::from(search.proven.late.is_some());
        let is_hopeless =
            self.count == STEPS_BEYOND_SINE_RANGE_MAX && search.moving.pair.leaves_sine_range();
        if self.late > LATE_STEPS_MAX || is_hopeless {
            return Err(Stopped::Unresolved);
        }
        Ok(())
    }

    /// In a long search, bounds bodies by their vertices, which shortens bends.
    fn tighten_bounds(&self, search: &mut TurningSearch<'_>) {
        let vertices_max = self.count.saturating_mul(VERTICES_A_STEP);
        if self.count >= SCANNED_AFTER && search.moving.pair.bound_by_vertices(vertices_max) {
            if let Some(known) = search.at.heading.as_mut() {
                known.heading.bend = search.moving.pair.bend(&known.heading);
            }
            search.at.surplus_found = f64::INFINITY;
        }
    }

    /// The step of this round: along a new heading if the old one is stale, or aimed at contact.
    fn choose_step(
        &mut self,
        search: &mut TurningSearch<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<Advance> {
        let surplus = search.at.surplus().unwrap_or(f64::NEG_INFINITY);
        let is_fresh = surplus > STALE * search.at.surplus_found;
        self.wear.is_stale = !is_fresh;
        // Bodies that spin beside each other may be separated whatever the angles, so now and then
        // that is tried.
        let is_swept_due = self.count >= SCANNED_AFTER && self.count.is_power_of_two();
        let mut aimed = None;
        if self.wear.is_stale {
            aimed = self.renew_heading(search, !is_swept_due, effort);
        }
        if is_swept_due {
            aimed = swept_along_heading(search, effort);
        }
        aimed.or_else(|| step_further(search, self.wear, effort))
    }

    /// Replaces a stale heading: by a step that is aimed at contact, if it may be and leads there,
    /// and otherwise by the heading with the largest gap.
    fn renew_heading(
        &mut self,
        search: &mut TurningSearch<'_>,
        may_aim: bool,
        effort: &mut Effort<'_>,
    ) -> Option<Advance> {
        let nearest = look_around(search, effort);
        let aimed = if may_aim { aim(search, &nearest, effort) } else { None };
        if aimed.is_none() {
            choose_heading(search, &nearest, effort);
        }
        let found = match &aimed {
            Some(_) => nearest.point.norm() - search.told.clear,
            None => search.at.surplus().unwrap_or(0.0),
        };
        // A slow heading turned out to be worth little, although it was the best one at its time.
        self.wear.is_slow = found > SLOW * search.at.surplus_found;
        self.wear.slow_headings += u32::from(self.wear.is_slow);
        search.at.surplus_found = found;
        aimed
    }

    /// Whether the search is held up by rounding, or has been within the clearance tolerance for
    /// too long.
    fn are_at_rounding(
        &mut self,
        search: &TurningSearch<'_>,
        advance: &Advance,
        before: f64,
    ) -> bool {
        let is_short = advance.step.end - before < NO_PROGRESS;
        self.short = if is_short { self.short + 1 } else { 0 };
        let close = search.told.tolerance * advance.known.heading.length;
        self.close += u32::from(advance.step.gap.surplus <= close);
        self.short >= NO_PROGRESS_STEPS || self.close >= CLOSE_STEPS_MAX
    }

    /// Near contact, probes for a proof of it just ahead; contact in a bracket that is wider than
    /// it may be is kept for later.
    fn probe(
        &mut self,
        search: &mut TurningSearch<'_>,
        step: &CertifiedStep,
        effort: &mut Effort<'_>,
    ) -> Option<ContactAt> {
        let free = search.at.t;
        if free < self.probed_until {
            return None;
        }
        let ahead = place_of_probe(search, step)?;
        self.probed_until = ahead;
        let pairs = contact_at(search, ahead, effort)?;
        let contact = bring_forward(search, free, ContactAt { t: ahead, pairs }, effort);
        let has_spare = self.late < LATE_STEPS_SPARE;
        if is_narrow(search, contact.t, has_spare, effort) {
            return Some(contact);
        }
        search.proven.late = Some(contact);
        self.probed_until = free;
        None
    }
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
    if !chain.is_empty() || search.told.question.reach.is_zero() {
        let answer = FirstContact { t_free, chain, ..unsearched(initial) };
        return Ok(follow(search, end, answer, effort));
    }
    Ok(match margin_at_start(search, witness, effort)? {
        MarginAtStart::Clear(direction) => {
            let initial = StaticProof::Separated { direction };
            follow(search, end, unsearched(initial), effort)
        }
        MarginAtStart::Contact(contact) => in_contact(unsearched(initial), contact),
    })
}

/// Decides whether the bodies, which are separated at the start, are within the margin then. The
/// proof of that verdict alone does not say how far from each other they are.
fn margin_at_start(
    search: &TurningSearch<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<MarginAtStart, Stopped> {
    let question = search.told.question;
    let compared = distance::compare_with_reach(&question.pair, question.reach, witness, effort)?;
    let direction = match compared.order {
        Ordering::Less | Ordering::Equal => None,
        Ordering::Greater => distance::direction_beyond(&question.pair, question.reach, effort)?,
    };
    let pairs = compared.pairs.into_iter().collect();
    let contact = MarginAtStart::Contact(ContactAt { t: 0.0, pairs });
    Ok(direction.map_or(contact, MarginAtStart::Clear))
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
    search.proven.is_held_up = true;
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

/// A proven contact and the time before which the bodies are free of it. That may be earlier than
/// the end of the free part: bodies that pass through each other are known to do so in between.
pub(in super::super) struct ContactBracket {
    pub(in super::super) t_free: f64,
    pub(in super::super) contact: ContactAt,
}

/// Contact after `free`, the end of the free part; `None` for a graze that is never deeper than the
/// clearance tolerance.
pub(in super::super) fn prove_after_free(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactBracket>, Stopped> {
    let bracket = |contact: ContactAt| Ok(Some(ContactBracket { t_free: free, contact }));
    let (late, unproven) = match contact_after(search, effort) {
        Ok(Some(found)) => {
            let contact = bring_forward(search, free, found, effort);
            if contact.t - free <= search.told.time_tolerance() {
                return bracket(contact);
            }
            // After a graze, say. What is proven exactly may come earlier.
            let late = Some(ContactBracket { t_free: free, contact });
            (late, Ok(None))
        }
        Err(why @ (Stopped::Steps | Stopped::Deadline)) => return Err(why),
        Ok(None) => (None, Ok(None)),
        Err(Stopped::Unresolved) => (None, Err(Stopped::Unresolved)),
    };
    let exact = match prove_exactly(search, free, effort) {
        Err(why) if late.is_none() => return Err(why),
        exact => exact.ok().flatten(),
    };
    let is_earlier =
        |exact: &ContactBracket| late.as_ref().is_none_or(|late| exact.contact.t < late.contact.t);
    match exact.filter(is_earlier).or(late) {
        Some(found) => Ok(Some(found)),
        None => unproven,
    }
}

/// Contact that needs no depth: where no rotation matters, or where flat bodies pass.
fn prove_exactly(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactBracket>, Stopped> {
    if let Some(contact) = closing(search, free, effort) {
        return Ok(Some(ContactBracket { t_free: free, contact }));
    }
    if let Some(contact) = fixed_points(search, free, effort)? {
        return Ok(Some(ContactBracket { t_free: free, contact }));
    }
    Ok(passing(search, free, effort)?.map(|passing| {
        let pairs = passing.pairs.into_iter().collect();
        let contact = ContactAt { t: passing.t_contact, pairs };
        ContactBracket { t_free: passing.t_free, contact }
    }))
}
