//! How wide a bracket may be, and what an answer says whose bracket is wider.
//!
//! Where bodies graze each other within the limits of rounding, they can be proven neither free nor
//! in contact, and the first contact that can be proven may come long after. The answer is right
//! then, but its bracket is wider than the tolerances say: it names the reason.

use super::advance::nearest::{NearestStart, guess, nearest_point};
use super::proof::at_time::width_allowed;
use super::search::{TurningSearch, scale_of};
use crate::claim::{FirstContact, Outcome};
use crate::distance::{self, Stops};
use crate::effort::{Effort, Stopped};
use crate::motion::Motion;
use crate::number::tolerance::NEAREST_TIGHT;
use crate::pair::{Pair, Placed};
use crate::penetration;
use crate::witness::Witness;

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
    if closed_in * share > search.told.tolerance * (1.0 + SPEED_DOUBT) {
        return false;
    }
    // What grazes at the start of the bracket need not be what meets at its end. Along the last
    // heading that shows, or something slides that is no faster towards the other body; how deep
    // the bodies get tells.
    let allowed = search.told.tolerance * (1.0 + SPEED_DOUBT);
    let is_worth = |speed: f64| speed * (width - time_tolerance) > allowed;
    if !search.proven.is_held_up && !is_worth(speed_along_heading(search, to, effort)) {
        return true;
    }
    !is_worth(speed_after(search, answer, effort))
}

/// How fast the gap along the last heading closes at time t, in the units of the search.
fn speed_along_heading(search: &mut TurningSearch<'_>, t: f64, effort: &mut Effort<'_>) -> f64 {
    let Some(known) = search.at.heading.as_ref() else { return f64::INFINITY };
    let heading = known.heading.clone();
    -search.moving.gap(&heading, t, effort).gap.rate / heading.length
}

/// How fast bodies that are in contact get deeper just after it was proven, over as long a time as
/// the bracket is wide; rounded, in the units of the search. None that is known: 0.
fn speed_after(search: &TurningSearch<'_>, answer: &FirstContact, effort: &mut Effort<'_>) -> f64 {
    let question = search.told.question;
    let mut depth = |t: f64| {
        let at = |placed: &Placed<'_>, motion: &Motion| motion.pose_rounded(&placed.pose, t);
        let Pair { p, q } = &question.pair;
        let poses = [at(p, &question.motion_p), at(q, &question.motion_q)];
        let pair = Pair::new(p.body, poses[0], q.body, poses[1]);
        let witness = &mut Witness::default();
        let apart = distance::measure(&pair, Stops::default(), witness, effort).ok()?;
        if apart.upper > 0.0 {
            return Some(-apart.upper);
        }
        penetration::measure(&pair, false, witness, effort).ok().map(|depth| depth.upper)
    };
    let time = answer.t_contact - answer.t_free;
    let deeper = depth(answer.t_contact + time).zip(depth(answer.t_contact));
    // The search's units are larger or smaller by a power of two.
    let unit = scale_of(question).map_or(1.0, |scale| scale.times(1.0));
    deeper.map_or(0.0, |(after, now)| (after - now) * unit / time)
}

/// By which share the speed before the bracket may differ from the one in it.
const SPEED_DOUBT: f64 = 0.0625;

/// How far the bodies are from each other at time t, rounded, in the units of the search.
fn distance_at(search: &mut TurningSearch<'_>, t: f64, effort: &mut Effort<'_>) -> f64 {
    let guess = guess(search, search.at.heading.as_ref(), t);
    let start = NearestStart::new(&guess, &[]);
    nearest_point(&mut search.moving, t, &start, NEAREST_TIGHT, effort).point.norm()
}
