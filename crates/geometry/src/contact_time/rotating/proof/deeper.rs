//! Contact after the free part of the search: proven a moment later, in steps that allow some
//! depth, or at the end of the motion, where the exact verdict tells.

use super::at_time::contact_at;
use crate::claim::StaticProof;
use crate::contact_time::rotating::advance::headings::choose_heading;
use crate::contact_time::rotating::advance::nearest::look_around;
use crate::contact_time::rotating::advance::step::step_along;
use crate::contact_time::rotating::bounds::moving::MeasuredHeading;
use crate::contact_time::rotating::search::{ContactAt, ContactPairs, TurningSearch};
use crate::effort::{Effort, Stopped};
use crate::motion::Motion;
use crate::number::interval::Interval;
use crate::pair::{Pair, Placed};
use crate::pose::Pose;
use crate::separation;
use crate::witness::Witness;

/// The part of the clearance tolerance that is allowed as depth at first; each escalation allows
/// [`ESCALATION`] times more.
const FIRST_DEPTH: f64 = 1.0 / 64.0;
/// How many times more depth each escalation allows.
const ESCALATION: f64 = 4.0;
/// Escalations of the allowed depth: 4^12 / 64 times the tolerance is beyond any rounding error.
const ESCALATIONS_MAX: u32 = 12;
/// Steps with some depth allowed. A graze takes tens. Bodies that slide on each other within the
/// tolerance while they turn fast may take more, and then the rest stays undecided.
const GRAZING_STEPS_MAX: u32 = 20_000;
/// Steps with some depth allowed at each of which a proof of contact is tried. Later it is tried
/// less and less often, after as many steps more as a 64th part of the steps so far: a trial costs
/// as much as tens of steps, and the bracket of what it finds is made narrower.
const TRIALS: u32 = 64;
/// A step with some depth allowed that is shorter than this, in t, is held up: the bodies are that
/// deep along every heading known.
const HELD_UP: f64 = 4.0 * f64::EPSILON;

/// Contact after the free part: proven deeper inside, or decided by the end of the motion; `None`
/// for a graze that is never deeper than the tolerance.
pub(in super::super) fn contact_after(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactAt>, Stopped> {
    let time_tolerance = search.told.time_tolerance();
    if 1.0 - search.at.t <= time_tolerance {
        let found = contact_at_end(search, effort)?;
        return if found.is_some() { Ok(found) } else { deeper(search, effort) };
    }
    // Bodies thinner than the tolerance may have passed through each other before they are that
    // deep.
    let soon = search.at.t + 0.5 * time_tolerance;
    if let Some(pairs) = contact_at(search, soon, effort) {
        return Ok(Some(ContactAt { t: soon, pairs }));
    }
    let free = search.at.t;
    match deeper(search, effort) {
        passed @ (Ok(None) | Err(Stopped::Unresolved)) => {
            let at_end = contact_at_end(search, effort)?;
            let is_unresolved = passed.is_err();
            let found = match at_end {
                None if is_unresolved => contact_ahead(search, free, effort),
                at_end => at_end,
            };
            if found.is_some() { Ok(found) } else { passed }
        }
        known => known,
    }
}

/// The part of the search with some depth allowed: the first time at which contact can be proven.
/// `None` for a graze that is never deeper than the tolerance.
fn deeper(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactAt>, Stopped> {
    let (margin, tolerance) = (search.told.margin, search.told.tolerance);
    let mut depth = tolerance * FIRST_DEPTH;
    let mut escalations = 0;
    let mut next_trial = 1;
    for steps in 1..=GRAZING_STEPS_MAX {
        effort.spend_step()?;
        search.keep_clear(margin - depth);
        let before = search.at.t;
        if !step_deeper(search, effort) {
            break;
        }
        let is_at_end = search.at.t >= 1.0;
        let is_held_up = search.at.t - before < HELD_UP;
        if steps >= next_trial || is_at_end || is_held_up {
            next_trial = steps + 1 + steps / TRIALS;
            let t = search.at.t;
            if let Some(pairs) = contact_at(search, t, effort) {
                return Ok(Some(ContactAt { t, pairs }));
            }
        }
        if is_at_end {
            return if depth <= tolerance { Ok(None) } else { Err(Stopped::Unresolved) };
        }
        if is_held_up {
            depth *= ESCALATION;
            escalations += 1;
            if escalations > ESCALATIONS_MAX {
                break;
            }
        }
    }
    Err(Stopped::Unresolved)
}

/// One step with the depth that is allowed now; whether a heading is known.
fn step_deeper(search: &mut TurningSearch<'_>, effort: &mut Effort<'_>) -> bool {
    let nearest = look_around(search, effort);
    choose_heading(search, &nearest, effort);
    let Some(known) = search.at.heading.clone() else { return false };
    if let Some(step) = step_along(search, &known, true, effort) {
        search.at.t = step.end;
        search.at.heading = Some(MeasuredHeading { now: step.gap, ..known });
    }
    true
}

/// Contact at one of some times after `free`, each of them four times as far ahead as the one
/// before: bodies that come closer than can be followed may still get deep.
fn contact_ahead(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Option<ContactAt> {
    let mut ahead = search.told.time_tolerance().max(HELD_UP);
    while free + ahead < 1.0 {
        let t = free + ahead;
        if let Some(pairs) = contact_at(search, t, effort) {
            return Some(ContactAt { t, pairs });
        }
        ahead *= 4.0;
    }
    None
}

/// Contact at t = 1: where both bodies end exactly at given poses, the verdict there is exact.
fn contact_at_end(
    search: &TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactAt>, Stopped> {
    let question = search.told.question;
    let end = |placed: &Placed<'_>, motion| end_of(&placed.pose, motion);
    let Pair { p, q } = question.pair;
    let (Some(end_p), Some(end_q)) = (end(&p, &question.motion_p), end(&q, &question.motion_q))
    else {
        return Ok(None);
    };
    let pair = Pair { p: Placed { pose: end_p, ..p }, q: Placed { pose: end_q, ..q } };
    let method = &separation::METHODS[0];
    let proof = separation::decide(&pair, method, &mut Witness::default(), effort)?.proof;
    let pairs: Option<ContactPairs> = match proof {
        StaticProof::Touching { pairs, .. } => Some(pairs.iter().copied().collect()),
        StaticProof::Overlapping { pairs } => Some(pairs),
        StaticProof::Separated { .. } => None,
    };
    Ok(pairs.map(|pairs| ContactAt { t: 1.0, pairs }))
}

/// The pose at t = 1, if f64 numbers give it exactly.
fn end_of(start: &Pose, motion: &Motion) -> Option<Pose> {
    let by = match motion {
        Motion::ToPose { end, .. } => return Some(*end),
        Motion::Linear { velocity } => velocity,
        Motion::Screw { velocity, angle, .. } if angle.abs() <= 0.0 => velocity,
        Motion::Screw { .. } => return None,
    };
    let sum = |i: usize| Interval::difference(start.translation[i], -by[i]);
    let is_exact = (0..3).all(|i| sum(i).high() <= sum(i).low());
    is_exact.then(|| Pose { translation: start.translation + by, ..*start })
}
