//! Which heading to take: along the direction of the nearest points.

use super::nearest::{NearestPoint, SearchCare, Sight, directions};
use crate::contact_time::rotating::bounds::moving::MeasuredHeading;
use crate::contact_time::rotating::search::TurningSearch;
use crate::effort::Effort;

/// Takes the heading with the largest gap per length at the present time: the one in use, or one
/// from the nearest points, as far as they are known, in the frame in which gaps bend least.
pub(in super::super) fn choose_heading(
    search: &mut TurningSearch<'_>,
    roughly: &NearestPoint,
    effort: &mut Effort<'_>,
) {
    let t = search.at.t;
    let mut best = search.at.heading.take();
    let known = best.as_ref().map_or(0.0, MeasuredHeading::surplus);
    if let Some(Sight { world, gap }) = roughly.sight(&mut search.moving, t, effort) {
        let other = search.moving.measured_along(&world, gap, t, effort);
        other.replace_if_better(&mut best);
    }
    // A rough direction is good enough if it leaves a gap, and no less than was known before.
    let found = best.as_ref().map_or(0.0, MeasuredHeading::surplus);
    let is_good_enough = found > 0.0 && found >= known;
    if !is_good_enough {
        for sight in directions(search, t, SearchCare::Thorough, best.as_ref(), effort) {
            let other = search.moving.measured_along(&sight.world, sight.gap, t, effort);
            other.replace_if_better(&mut best);
        }
    }
    if let Some(known) = best.as_mut() {
        search.moving.choose_frame(t, known, effort);
    }
    search.at.heading = best;
}
