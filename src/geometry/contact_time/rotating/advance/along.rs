//! A step of the search along a heading, and what it adds to the chain.

use super::step::{Advance, CertifiedStep, StepStart, certify, pieces};
use crate::geometry::claim::{Direction, Frame, Link};
use crate::geometry::contact_time::rotating::bounds::heading::{MeasuredHeading, Need};
use crate::geometry::contact_time::rotating::bounds::swept::swept_end;
use crate::geometry::contact_time::rotating::search::TurningSearch;
use crate::geometry::effort::Effort;

/// Pieces that one link joins at most. Judges prove a link by at most 2^17 pieces, several of which
/// may go to a step.
pub(in super::super) const PIECES_A_LINK_MAX: u32 = 1 << 12;
/// A step over which the swept solids stay apart is taken if it is longer than this, in t, or if it
/// reaches the end of the motion.
const LONG_STEP: f64 = 0.05;

/// The certified step along a heading or, if the heading is new and fixed in the world, the
/// interval over which the swept solids stay apart, if that is long.
pub(in super::super) fn step_along(
    search: &mut TurningSearch<'_>,
    known: &MeasuredHeading,
    is_new: bool,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    let MeasuredHeading { heading, gap } = known;
    let need = Need::along(heading, search.at.clear);
    let surplus = need.surplus(gap);
    let is_clear = surplus > 0.0;
    if !is_clear {
        return None;
    }
    if is_new && let Some(step) = swept_step(search, known, need, effort) {
        return Some(step);
    }
    let start = StepStart { heading, need, t: search.at.t, gap };
    certify(&mut search.moving, &start, effort)
}

/// The interval over which the swept solids stay apart, if it is a long one.
fn swept_step(
    search: &mut TurningSearch<'_>,
    known: &MeasuredHeading,
    need: Need,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    let heading = &known.heading;
    if heading.frame != Frame::World {
        return None;
    }
    let t = search.at.t;
    let end = swept_end(&search.moving.pair, heading, need, t, effort)?;
    let is_long = end - t > LONG_STEP || end >= 1.0;
    is_long.then(|| {
        let gap = search.moving.gap(heading, need, end, effort);
        CertifiedStep { end, gap, surplus: need.surplus(&gap) }
    })
}

/// The interval over which the swept solids stay apart along the heading in use, if it is a long
/// one.
pub(in super::super) fn swept_along_heading(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let known = search.at.heading.clone()?;
    let need = Need::along(&known.heading, search.at.clear);
    let step = swept_step(search, &known, need, effort)?;
    Some(Advance { known, step })
}

/// Takes a step: adds it to the chain, and moves the search to its end. Steps along one heading
/// make one link.
///
/// Where bodies spin beside each other for long, the solids that they sweep may be apart all the
/// while. A judge looks for that at a link's end alone. Where such a step is joined to others, the
/// judge has to follow it by the bend, so it counts as many pieces as that takes.
pub(in super::super) fn take(search: &mut TurningSearch<'_>, advance: &Advance) {
    let Advance { known: MeasuredHeading { heading, gap }, step } = advance;
    let (at, proven) = (&mut search.at, &mut search.proven);
    let (frame, direction) = (heading.frame, Direction::Vector(heading.direction));
    let before = || Need::along(heading, search.told.clear).surplus(gap);
    let pieces = pieces(heading, at.t, step, before).min(PIECES_A_LINK_MAX);
    let joins = |link: &&mut Link| link.frame == frame && link.direction == direction;
    let has_room = proven.pieces + pieces <= PIECES_A_LINK_MAX;
    match proven.chain.last_mut().filter(joins).filter(|_| has_room) {
        Some(link) => {
            link.t1 = step.end;
            proven.pieces += pieces;
        }
        None => {
            proven.chain.push(Link { t0: at.t, t1: step.end, frame, direction });
            proven.pieces = pieces;
        }
    }
    at.t = step.end;
    at.heading = Some(MeasuredHeading { heading: heading.clone(), gap: step.gap });
}
