//! How wide a bracket may be, and what an answer says whose bracket is wider.
//!
//! Where bodies graze each other within the limits of rounding, they can be proven neither free nor
//! in contact, and the first contact that can be proven may come long after. The answer is right
//! then, but its bracket is wider than the tolerances say: it names the reason.

use super::advance::nearest::{NearestStart, guess, nearest_point};
use super::proof::at_time::width_allowed;
use super::search::TurningSearch;
use crate::claim::{FirstContact, Outcome};
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::NEAREST_TIGHT;

/// The answer with [`Stopped::Unresolved`] in it if it names no reason for a bracket that is wider
/// than the tolerances say. The search is the one that has found it.
#[inline]
pub(super) fn with_reason_in(
    search: &mut TurningSearch<'_>,
    answer: FirstContact,
    effort: &mut Effort<'_>,
) -> FirstContact {
    let is_narrow = answer.t_contact - answer.t_free <= search.told.time_tolerance();
    if is_narrow || answer.outcome != Outcome::Contact || answer.stopped.is_some() {
        return answer;
    }
    let stopped =
        (!is_as_narrow_as_promised(search, &answer, effort)).then_some(Stopped::Unresolved);
    FirstContact { stopped, ..answer }
}

/// Whether the bracket is at most as wide as the time tolerance and what the clearance tolerance is
/// worth at the speed at which the nearest points close in.
#[cold]
#[inline(never)]
fn is_as_narrow_as_promised(
    search: &mut TurningSearch<'_>,
    answer: &FirstContact,
    effort: &mut Effort<'_>,
) -> bool {
    // What may deviate has to be kept clear, and what is free ends before the stated motion meets.
    if search.told.clear > search.told.margin {
        return true;
    }
    let (from, to) = (answer.t_free, answer.t_contact);
    let width = to - from;
    if width > width_allowed(search, from, to, effort) {
        return false;
    }
    // At the bottom of a graze nothing closes in, and any width would be allowed by the speed
    // there. So the speed is that over as long a time before the bracket as the bracket is wide.
    let time_tolerance = search.told.time_tolerance();
    let before = (from - (width - time_tolerance)).max(0.0);
    let closed_in = distance_at(search, before, effort) - distance_at(search, from, effort);
    let share = (width - time_tolerance) / (from - before).max(f64::MIN_POSITIVE);
    closed_in * share <= search.told.tolerance * (1.0 + SPEED_DOUBT)
}

/// By how much the speed before the bracket may differ from the one in it.
const SPEED_DOUBT: f64 = 1.0;

/// How far the bodies are from each other at time t, rounded, in the units of the search.
fn distance_at(search: &mut TurningSearch<'_>, t: f64, effort: &mut Effort<'_>) -> f64 {
    let guess = guess(search, search.at.heading.as_ref(), t);
    let start = NearestStart::new(&guess, &[]);
    nearest_point(&mut search.moving, t, &start, NEAREST_TIGHT, effort).point.norm()
}
