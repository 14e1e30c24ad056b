//! Where a search begins: what the bodies' places and sizes tell at once, before any nearest point
//! is sought.

use super::step::{Advance, CertifiedStep, between_spheres, swept_end, take_step};
use crate::Vec3;
use crate::claim::Frame;
use crate::contact_time::rotating::bounds::moving::{MeasuredHeading, Moving};
use crate::contact_time::rotating::search::TurningSearch;
use crate::effort::Effort;

/// Takes what the bodies' places and sizes tell at once: the first link, where balls around the
/// bodies stay separated, and otherwise a heading from body to body. For bodies that are separated
/// along that and not yet close it is a good one, and known without a search. Returns the world
/// direction along which the bodies are separated at t = 0, if that shows one.
pub(in super::super) fn begin(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Option<Vec3> {
    if let Some(advance) = between_balls(&mut search.moving, effort) {
        take_step(search, &advance);
        let surplus = advance.step.gap.surplus;
        search.at.surplus_found = if surplus > 0.0 { surplus } else { f64::INFINITY };
        return search.at.heading.as_ref().map(|known| known.heading.direction);
    }
    let towards = search.direction_at_start();
    search.at.towards = towards;
    let mut known = search.moving.measured_along(&towards, None, 0.0, effort);
    let is_separated = known.surplus() > 0.0;
    if !is_separated {
        // The search for another heading begins where this one led.
        search.at.seed.push(known.now.gap.pair);
        return None;
    }
    search.moving.choose_frame(0.0, &mut known, effort);
    search.at.surplus_found = known.surplus();
    // A heading fixed in a body also is given as it is at t = 0.
    let direction = known.heading.direction;
    search.at.heading = Some(known);
    Some(direction)
}

/// The interval during which balls around the pivots stay separated, along the line between them
/// when they meet, or when they are closest.
fn between_balls(moving: &mut Moving<'_>, effort: &mut Effort<'_>) -> Option<Advance> {
    let world = between_spheres(&moving.pair, moving.clear)?;
    let heading = moving.heading(Frame::World, &world, 0.0);
    let end = swept_end(&moving.pair, &heading, 0.0, effort)?;
    let gap = moving.gap(&heading, end, effort);
    let known = MeasuredHeading { heading, now: gap };
    Some(Advance { known, step: CertifiedStep { end, gap } })
}
