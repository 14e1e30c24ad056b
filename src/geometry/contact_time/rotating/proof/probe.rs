//! Where the search probes for contact, a little ahead of what is free, and how wide the bracket
//! may be. A bracket that came out wider is made narrower.

use super::at_time::{ContactProbe, prove};
use super::in_plane::prove_in_plane;
use crate::geometry::contact_time::rotating::advance::headings::gap_across;
use crate::geometry::contact_time::rotating::advance::nearest::{
    NearestSearch, NearestStart, ROUGH,
};
use crate::geometry::contact_time::rotating::advance::step::CertifiedStep;
use crate::geometry::contact_time::rotating::bounds::body::MovingBody;
use crate::geometry::contact_time::rotating::bounds::pair::MovingPair;
use crate::geometry::contact_time::rotating::search::{
    ClosingSpeed, ContactAt, ContactPairs, TurningSearch,
};
use crate::geometry::effort::Effort;
use crate::geometry::number::tolerance::{NEAREST_LOOSE, NEAREST_TIGHT};

/// The part of the default clearance tolerance's share that a bracket takes where a few steps more
/// spare the rest: reference times of turning bodies are known as well as that.
const SPARING: f64 = 0.1;
/// How often a bracket that is too wide is halved.
const HALVINGS_MAX: u32 = 8;

/// Where to probe for a proof of contact after a step that ends near it: as far beyond contact
/// along its heading as a part of what a bracket may be wide. `None` while contact is not near.
pub(in super::super) fn place_of_probe(
    search: &TurningSearch<'_>,
    step: &CertifiedStep,
) -> Option<f64> {
    let closing = -step.gap.rate;
    let is_near = closing > 0.0 && step.surplus < search.told.probe_gap(closing);
    is_near.then(|| (search.at.t + search.told.probe_lead(step.surplus, closing)).min(1.0))
}

/// Pairs that prove contact at time t, if they can be found. If not, the seed becomes what is
/// nearest then, from where the search goes on.
pub(in super::super) fn contact_at(
    search: &mut TurningSearch<'_>,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<ContactPairs> {
    let world = &search.world_direction(t);
    let resolution = ROUGH * search.resolution(None);
    let TurningSearch { told, moving, at, .. } = search;
    let in_plane =
        |pair: &MovingPair<'_>| Some(prove_in_plane(told.shared_plane()?, pair, t, world));
    let good_enough = resolution.max(NEAREST_TIGHT);
    let (margin, seed) = (told.margin, &mut at.seed);
    prove(moving, ContactProbe { t, margin, good_enough, world, seed }, in_plane, effort)
}

/// Contact proven earlier, if it can be, while the bracket from `free` is wider than what was asked
/// for: a heading may close more slowly than the bodies do, and then a probe as far ahead as it
/// suggests is too far.
pub(in super::super) fn bring_forward(
    search: &mut TurningSearch<'_>,
    free: f64,
    found: ContactAt,
    effort: &mut Effort<'_>,
) -> ContactAt {
    let mut contact = found;
    let width = width_asked_for(search, free, contact.t, effort);
    let mut not_before = free;
    for _ in 0..HALVINGS_MAX {
        if contact.t - free <= width {
            break;
        }
        let half = not_before + 0.5 * (contact.t - not_before);
        match contact_at(search, half, effort) {
            Some(pairs) => contact = ContactAt { t: half, pairs },
            None => not_before = half,
        }
    }
    contact
}

/// How wide a bracket from `free` to t is to be: the time tolerance and, where a clearance
/// tolerance was asked for, what that is worth. Rounded.
fn width_asked_for(
    search: &mut TurningSearch<'_>,
    free: f64,
    t: f64,
    effort: &mut Effort<'_>,
) -> f64 {
    if !search.told.asks_for_clearance() {
        return search.told.time_tolerance();
    }
    width_allowed(search, free, t, effort)
}

/// Whether a bracket from the end of what is free to t is as narrow as the tolerances say. It may
/// be wider although contact was near along a heading: the bodies are then farther apart than the
/// heading tells. A search that has steps to spare uses a part only of the default clearance
/// tolerance.
pub(in super::super) fn is_narrow(
    search: &mut TurningSearch<'_>,
    t: f64,
    has_spare: bool,
    effort: &mut Effort<'_>,
) -> bool {
    let free = search.at.t;
    let part = if has_spare && !search.told.asks_for_clearance() { SPARING } else { 1.0 };
    let (width, least) = (t - free, search.told.time_tolerance());
    width <= least || width - least <= part * (width_allowed(search, free, t, effort) - least)
}

/// The time tolerance, and what the clearance tolerance is worth at the speed of the nearest points
/// at `free` or, with a margin, at t. Rounded.
pub(super) fn width_allowed(
    search: &mut TurningSearch<'_>,
    free: f64,
    t: f64,
    effort: &mut Effort<'_>,
) -> f64 {
    let (time_tolerance, tolerance) = (search.told.time_tolerance(), search.told.tolerance);
    let width = |speed: f64| time_tolerance + tolerance / speed;
    let pair = &search.moving.pair;
    let turning = |body: &MovingBody<'_>| body.plain.angle.abs() * body.extent.radius;
    let fastest = pair.relative_velocity.norm() + turning(&pair.p) + turning(&pair.q);
    // Mostly the fastest speed is enough, and no nearest points have to be found.
    if t - free <= width(fastest) {
        return width(fastest);
    }
    // Without a margin there are no nearest points where the bracket ends.
    let at = if search.told.margin > 0.0 { t } else { free };
    let speed = closing_speed(search, at, effort);
    if speed > 0.0 { width(speed) } else { time_tolerance }
}

/// How fast the nearest points approach each other at time t; 0 where they do not, or where there
/// are none.
fn closing_speed(search: &mut TurningSearch<'_>, t: f64, effort: &mut Effort<'_>) -> f64 {
    // Bringing contact forward asks, and judging the bracket then asks again.
    if let Some(known) = search.at.speed
        && known.t.to_bits() == t.to_bits()
    {
        return known.speed;
    }
    let guess = search.world_direction(t);
    let mut near = NearestSearch::at(&mut search.moving, t);
    let start = NearestStart { guess: &guess, seed: &search.at.seed };
    let nearest = near.nearest(start, NEAREST_LOOSE, effort);
    let gap = gap_across(search, &nearest, t, effort);
    let speed = gap.map_or(0.0, |gap| (-gap.rate).max(0.0));
    search.at.speed = Some(ClosingSpeed { t, speed });
    speed
}
