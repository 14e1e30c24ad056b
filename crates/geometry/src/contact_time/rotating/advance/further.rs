//! Other headings where those from the nearest points are slow.
//!
//! Where faces or edges meet while they turn, the best direction of the moment becomes worse at a
//! rate that does not vanish with the gap, because one end of the feature tilts into the way. The
//! direction of a moment later then lasts longer, as it is tilted the other way at first; and for a
//! face of P or Q the direction that turns with the body does not tilt at all.

use arrayvec::ArrayVec;

use super::aim::ahead_of_tilt;
use super::nearest::{SearchCare, directions};
use super::step::{Advance, CertifiedStep, step_along};
use crate::Vec3;
use crate::claim::Frame;
use crate::contact_time::rotating::bounds::moving::MeasuredHeading;
use crate::contact_time::rotating::bounds::pair::Heading;
use crate::contact_time::rotating::search::{Habit, Look, TurningSearch};
use crate::effort::Effort;

/// A slow heading's step that is shorter than this part of what its bend lets through is cut short
/// by features that tilt into the way.
const TILTED: f64 = 0.3;
/// A step that stops before the next feature takes over must still be at least this fraction of the
/// current one, or the search looks for other directions instead. Its direction serves the next
/// step too; but where its corners hardly last, other headings get further.
const UNTILTED: f64 = 0.5;
/// Slow headings after which the search begins to look for better ones. Most motions have met or
/// passed by then, and a search that goes on is one of hundreds of steps.
const SLOW_HEADINGS: u32 = 6;
/// How far ahead the search looks for directions when headings are slow, in units of the step that
/// the heading in use certifies.
const LOOKS_AHEAD: [f64; 3] = [0.0, 0.75, 2.5];
/// Steps after which all looks are compared again.
const HABIT_STEPS: u32 = 8;

/// How well the heading in use has served.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct HeadingWear {
    /// Whether it had lost most of its gap, so that a new heading was sought for this step.
    pub(in super::super) is_stale: bool,
    /// Whether the heading found last still left most of the gap when it was stale: directions
    /// change faster than gaps do.
    pub(in super::super) is_slow: bool,
    /// How many slow headings there were.
    pub(in super::super) slow_headings: u32,
}

/// The best heading known so far, and the step along it, if one is certain.
struct BestStep {
    known: MeasuredHeading,
    step: Option<CertifiedStep>,
}

/// A moment at which to look for directions: how far ahead it is in units of the step at hand, the
/// time itself, and how well to search there.
#[derive(Clone, Copy)]
struct Moment {
    ahead: f64,
    t: f64,
    care: SearchCare,
}

/// Directions in the world at a moment.
struct MomentDirections {
    t: f64,
    directions: ArrayVec<Vec3, 4>,
}

/// A step along the heading in use or, if that is a stale one that is held up, along another.
pub(in super::super) fn step_further(
    search: &mut TurningSearch<'_>,
    wear: HeadingWear,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let t = search.at.t;
    let known = search.at.heading.clone()?;
    let step = step_along(search, &known, wear.is_stale, effort);
    // A step that ends where the bend says does not suffer from tilting.
    let is_tilted =
        |s: CertifiedStep| s.end - t < TILTED * known.heading.bend_limit(known.now.surplus);
    let is_held_up =
        wear.is_slow && wear.slow_headings >= SLOW_HEADINGS && step.is_none_or(is_tilted);
    if wear.is_stale && is_held_up && search.at.habit.tilts < HABIT_STEPS {
        let quick = step.map_or(0.0, |s| s.end - t);
        let ahead = ahead_of_tilt(search, effort);
        if let Some(better) = ahead.filter(|ahead| ahead.step.end - t > UNTILTED * quick) {
            search.at.habit.tilts += 1;
            return Some(better);
        }
    }
    let mut best = BestStep { known, step };
    if wear.is_stale && (is_held_up || best.step.is_none()) {
        look_further(search, &mut best, effort);
    }
    let BestStep { known, step } = best;
    Some(Advance { known, step: step? })
}

/// Replaces the best heading and its step by those of a heading that gets further, if there is one.
fn look_further(search: &mut TurningSearch<'_>, best: &mut BestStep, effort: &mut Effort<'_>) {
    let t = search.at.t;
    // The rate at the supporting vertices says little here: others are about to take over.
    let quick = best.step.map_or(search.told.time_tolerance(), |s| s.end - t);
    let care = if best.step.is_some() { SearchCare::Rough } else { SearchCare::Thorough };
    let moment = |ahead: f64| Moment { ahead, t: (t + ahead * quick).min(1.0), care };
    // What was best last time is nearly always best again, as contact comes closer.
    if let Some((look, uses)) = search.at.habit.look.filter(|(_, uses)| *uses < HABIT_STEPS) {
        let before = best.step.map_or(t, |s| s.end);
        let later = directions_at(search, moment(look.ahead), &best.known, effort);
        try_directions(search, look.frame, &later, best, effort);
        let is_better = best.step.is_some_and(|s| s.end > before);
        if is_better && !bends_less_unturned(search, &best.known) {
            search.at.habit.look = Some((look, uses + 1));
            return;
        }
    }
    search.at.habit = Habit::default();
    for ahead in LOOKS_AHEAD {
        let later = directions_at(search, moment(ahead), &best.known, effort);
        for frame in [Frame::World, Frame::P, Frame::Q] {
            if try_directions(search, frame, &later, best, effort) {
                search.at.habit.look = Some((Look { ahead, frame }, 0));
            }
        }
    }
}

/// Whether the heading's direction, which turns with a body, would bend less in the world. The
/// direction of a body's own axis does not bend there at all, and might be kept for good.
fn bends_less_unturned(search: &TurningSearch<'_>, known: &MeasuredHeading) -> bool {
    let heading = &known.heading;
    let turns = heading.frame != Frame::World;
    turns && {
        let pair = &search.moving.pair;
        let direction = pair.world_of(heading, search.at.t);
        let bend = pair.bend(&Heading { frame: Frame::World, direction, ..heading.clone() });
        bend < 0.5 * heading.bend
    }
}

/// Directions at a moment; at the present time, that of the best heading.
fn directions_at(
    search: &mut TurningSearch<'_>,
    moment: Moment,
    known: &MeasuredHeading,
    effort: &mut Effort<'_>,
) -> MomentDirections {
    let Moment { ahead, t, care } = moment;
    let directions = if ahead > 0.0 {
        let sights = directions(search, t, care, Some(known), effort);
        sights.iter().map(|sight| sight.world).collect()
    } else {
        ArrayVec::from_iter([search.moving.pair.world_of(&known.heading, search.at.t)])
    };
    MomentDirections { t, directions }
}

/// Tries the directions of a moment later as headings fixed in this frame; says whether one gets
/// further than the best so far, which it then is.
fn try_directions(
    search: &mut TurningSearch<'_>,
    frame: Frame,
    later: &MomentDirections,
    best: &mut BestStep,
    effort: &mut Effort<'_>,
) -> bool {
    let t = search.at.t;
    let is_at_hand = later.t <= t && frame == best.known.heading.frame;
    if !search.moving.pair.turns_with(frame) || is_at_hand {
        return false;
    }
    let mut better = false;
    for world in &later.directions {
        // In a turning frame, the heading's direction now is the one that turns into the later.
        let heading = search.moving.heading(frame, world, later.t);
        // No direction has a much larger gap, so a bend may say that this one leads nowhere.
        let surplus = 1.5 * best.known.surplus().max(0.0);
        let is_shorter = |s: CertifiedStep| heading.bend_limit(surplus) < 1.5 * (s.end - t);
        if best.step.is_some_and(is_shorter) {
            continue;
        }
        let other = search.moving.measured(heading, t, effort);
        let Some(reached) = step_along(search, &other, false, effort) else { continue };
        if best.step.is_none_or(|s| reached.end - t > 1.5 * (s.end - t)) {
            *best = BestStep { known: other, step: Some(reached) };
            better = true;
        }
    }
    better
}
