//! Which heading to take: at the start the one that the bodies' places and sizes suggest, later the
//! direction of the nearest points, in the frame where gaps bend least.

use arrayvec::ArrayVec;

use super::nearest::{NearestPoint, NearestSearch, NearestStart, ROUGH};
use super::step::{Advance, CertifiedStep, bend_limit, between_spheres, swept_end, take_step};
use crate::geometry::Vec3;
use crate::geometry::claim::Frame;
use crate::geometry::contact_time::rotating::bounds::moving::GapSought;
use crate::geometry::contact_time::rotating::bounds::moving::NearSupport;
use crate::geometry::contact_time::rotating::bounds::pair::{MeasuredHeading, MovingGap, Need};
use crate::geometry::contact_time::rotating::search::TurningSearch;
use crate::geometry::effort::Effort;
use crate::geometry::number::tolerance::{
    DIRECTION_LOST, DRAWN_BACK, NEAREST_LOOSE, NEAREST_TIGHT,
};

/// How well to search for directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchCare {
    /// Well enough for a step.
    Rough,
    /// Better, where rough directions led nowhere.
    Thorough,
}

/// A direction, of length 1 in the world, and the gap along it if the search came by that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) world: Vec3,
    gap: Option<MovingGap>,
}

/// The nearest points at the present time, roughly.
pub(in super::super) fn look_around(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> NearestPoint {
    let heading = search.at.heading.take();
    let nearest = nearest_at(search, search.at.t, SearchCare::Rough, heading.as_ref(), effort);
    search.at.heading = heading;
    nearest
}

/// Takes the heading with the largest gap per length at the present time: the one in use, or one
/// from the nearest points, as far as they are known, in the frame in which gaps bend least.
pub(in super::super) fn choose_heading(
    search: &mut TurningSearch<'_>,
    roughly: &NearestPoint,
    effort: &mut Effort<'_>,
) {
    let (t, clear) = (search.at.t, search.at.clear);
    let mut best = search.at.heading.take();
    let known = best.as_ref().map_or(0.0, |b| b.surplus(clear));
    if let Some(world) = roughly.direction() {
        let gap = gap_across(search, roughly, t, effort);
        prefer(search, Sight { world, gap }, &mut best, effort);
    }
    // A rough direction is good enough if it leaves a gap, and no less than was known before.
    let found = best.as_ref().map_or(0.0, |b| b.surplus(clear));
    let is_good_enough = found > 0.0 && found >= known;
    if !is_good_enough {
        for sight in directions(search, t, SearchCare::Thorough, best.as_ref(), effort) {
            prefer(search, sight, &mut best, effort);
        }
    }
    if let Some(known) = best.as_mut() {
        choose_frame(search, known, effort);
    }
    search.at.heading = best;
}

/// Takes a direction of the present time for the best if it leaves more.
fn prefer(
    search: &mut TurningSearch<'_>,
    sight: Sight,
    best: &mut Option<MeasuredHeading>,
    effort: &mut Effort<'_>,
) {
    let (t, clear) = (search.at.t, search.at.clear);
    let heading = search.moving.pair.heading(Frame::World, &sight.world, t);
    let other = match sight.gap {
        Some(gap) => {
            let need = Need::along(&heading, clear);
            let sought = GapSought { heading: &heading, need, t };
            let gap = search.moving.settled(&sought, gap, effort);
            MeasuredHeading { heading, gap }
        }
        None => search.moving.measured(heading, clear, t, effort),
    };
    // A tie keeps the old heading, and with it the link.
    if best.as_ref().is_none_or(|b| other.surplus(clear) > 1.01 * b.surplus(clear)) {
        *best = Some(other);
    }
}

/// Fixes the heading in a body instead of the world when that certifies more.
pub(super) fn choose_frame(
    search: &mut TurningSearch<'_>,
    known: &mut MeasuredHeading,
    effort: &mut Effort<'_>,
) {
    let (t, clear) = (search.at.t, search.at.clear);
    if known.heading.frame != Frame::World || travels_straight(search, known) {
        return;
    }
    let world = known.heading.direction;
    for (frame, bend) in search.moving.pair.turning_bends() {
        // A shorter bend has to make up for the change of link.
        if bend < 0.5 * known.heading.bend {
            let heading = search.moving.pair.heading(frame, &world, t);
            let turned = search.moving.measured(heading, clear, t, effort);
            if turned.surplus(clear) > 0.9 * known.surplus(clear) {
                *known = turned;
            }
        }
    }
}

/// Whether the gap along a heading fixed in the world closes, or the motion ends, well before the
/// gap bends, and the travel of the pivots closes it more than any turning does. Then no heading
/// that turns is much better, and none has to be looked at.
fn travels_straight(search: &TurningSearch<'_>, known: &MeasuredHeading) -> bool {
    let MeasuredHeading { heading, gap } = known;
    let surplus = Need::along(heading, search.at.clear).surplus(gap);
    let is_closing = gap.rate < 0.0;
    let closed = if is_closing { surplus / -gap.rate } else { f64::INFINITY };
    let by_travel = heading.direction.dot(&search.moving.pair.relative_velocity);
    let by_turning = (gap.rate - by_travel).abs();
    bend_limit(heading, surplus) > 2.0 * closed.min(1.0 - search.at.t)
        && (!is_closing || by_turning < 0.5 * -gap.rate)
}

/// The nearest points at time t, from what was near before. Their corners become the seed of the
/// next search.
fn nearest_at(
    search: &mut TurningSearch<'_>,
    t: f64,
    care: SearchCare,
    known: Option<&MeasuredHeading>,
    effort: &mut Effort<'_>,
) -> NearestPoint {
    let guess = guess(search, known, t);
    let good_enough = match care {
        SearchCare::Rough => ROUGH * search.resolution(known).min(1.0),
        SearchCare::Thorough => NEAREST_LOOSE.min(search.resolution(known)),
    };
    let seed = &mut search.at.seed;
    // The vertices that support along the heading at hand may have come in since.
    if let Some(known) = known
        && !seed.contains(&known.gap.pair)
    {
        let _is_full = seed.try_push(known.gap.pair);
    }
    let mut near = NearestSearch::at(&mut search.moving, t);
    let start = NearestStart { guess: &guess, seed };
    let nearest = near.nearest(start, good_enough.max(NEAREST_TIGHT), effort);
    *seed = nearest.corners.iter().map(|c| c.pair).collect();
    nearest
}

/// The gap along the direction of the nearest point at time t, if the search for the point came by
/// its support.
pub(in super::super) fn gap_across(
    search: &mut TurningSearch<'_>,
    nearest: &NearestPoint,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<MovingGap> {
    let (pair, posed) = search.moving.posed(t);
    let NearestPoint { point: direction, tops, corners, .. } = nearest;
    let support = NearSupport { direction, tops: tops.as_ref()?, corners };
    posed.gap_at(pair, &support, effort)
}

/// Directions worth trying at time t. One is that towards the nearest point. In a thorough search
/// close to contact that direction may be lost in rounding; then M is also drawn back a little, and
/// the directions towards its nearest points there are added.
pub(super) fn directions(
    search: &mut TurningSearch<'_>,
    t: f64,
    care: SearchCare,
    known: Option<&MeasuredHeading>,
    effort: &mut Effort<'_>,
) -> ArrayVec<Sight, 4> {
    let nearest = nearest_at(search, t, care, known, effort);
    let mut directions = ArrayVec::new();
    if let Some(world) = nearest.direction() {
        let gap = gap_across(search, &nearest, t, effort);
        directions.push(Sight { world, gap });
    }
    let size = search.moving.pair.size();
    let is_lost = nearest.held || nearest.point.norm() < DIRECTION_LOST * size;
    if care == SearchCare::Thorough && is_lost {
        let along = directions.first().map_or(guess(search, known, t), |sight| sight.world);
        let mut near = NearestSearch::at(&mut search.moving, t);
        for part in DRAWN_BACK {
            near.shift = along * (part * size);
            let start = NearestStart { guess: &along, seed: &[] };
            let drawn = near.nearest(start, NEAREST_LOOSE, effort);
            directions.extend(drawn.direction().map(|world| Sight { world, gap: None }));
        }
    }
    directions
}

/// A direction along which the bodies are probably separated at time t: that of the heading, or
/// from centre to centre.
fn guess(search: &TurningSearch<'_>, known: Option<&MeasuredHeading>, t: f64) -> Vec3 {
    match known {
        Some(known) => search.moving.pair.world_of(&known.heading, t),
        None => search.world_direction(t),
    }
}

/// Takes what the bodies' places and sizes tell at once: the first link, where balls around the
/// bodies stay separated, and otherwise a heading. Returns the world direction along which the
/// bodies are separated at t = 0, if that shows one.
pub(in super::super) fn begin(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Option<Vec3> {
    search.at.surplus_found = start_with_spheres(search, effort);
    if search.at.heading.is_none() {
        search.at.surplus_found = start_between_centres(search, effort);
    }
    // A heading fixed in a body also is given as it is at t = 0.
    search.at.heading.as_ref().map(|known| known.heading.direction)
}

/// Covers the interval during which balls around the pivots stay separated, with one link along the
/// line between them when they meet, or when they are closest. Returns the surplus that the heading
/// is left with.
fn start_with_spheres(search: &mut TurningSearch<'_>, effort: &mut Effort<'_>) -> f64 {
    let clear = search.at.clear;
    let moving = &mut search.moving;
    let Some(world) = between_spheres(&moving.pair, clear) else { return f64::INFINITY };
    let heading = moving.pair.heading(Frame::World, &world, 0.0);
    let need = Need::along(&heading, clear);
    let Some(end) = swept_end(&moving.pair, &heading, need, 0.0, effort) else {
        return f64::INFINITY;
    };
    let gap = moving.gap(&heading, need, end, effort);
    let surplus = need.surplus(&gap);
    let step = CertifiedStep { end, gap, surplus };
    take_step(search, &Advance { known: MeasuredHeading { heading, gap }, step });
    if surplus > 0.0 { surplus } else { f64::INFINITY }
}

/// Takes the heading that the bodies' places and sizes suggest, if the bodies are separated along
/// it. For bodies that are not yet close it is a good one, and known without a search. Returns its
/// surplus.
fn start_between_centres(search: &mut TurningSearch<'_>, effort: &mut Effort<'_>) -> f64 {
    let (t, clear) = (search.at.t, search.at.clear);
    let world = search.world_direction(t);
    let heading = search.moving.pair.heading(Frame::World, &world, t);
    let mut known = search.moving.measured(heading, clear, t, effort);
    let is_separated = known.surplus(clear) > 0.0;
    if !is_separated {
        // The search for another heading begins where this one led.
        search.at.seed.push(known.gap.pair);
        return f64::INFINITY;
    }
    choose_frame(search, &mut known, effort);
    let surplus = known.surplus(clear);
    search.at.heading = Some(known);
    surplus
}
