//! Where the search begins: what the bodies' places and sizes tell without a search for nearest
//! points.

use super::along::take;
use super::headings::choose_frame;
use super::step::{Advance, CertifiedStep};
use crate::geometry::Vec3;
use crate::geometry::claim::Frame;
use crate::geometry::contact_time::rotating::bounds::heading::{MeasuredHeading, Need};
use crate::geometry::contact_time::rotating::bounds::swept::{between_spheres, swept_end};
use crate::geometry::contact_time::rotating::search::TurningSearch;
use crate::geometry::effort::Effort;

/// Takes what the bodies' places and sizes tell at once: the first link, where balls around the
/// bodies stay apart, and otherwise a heading. Returns the world direction along which the bodies
/// are separated at t = 0, if that shows one.
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

/// Covers the interval during which balls around the pivots stay apart, with one link along the
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
    take(search, &Advance { known: MeasuredHeading { heading, gap }, step });
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
