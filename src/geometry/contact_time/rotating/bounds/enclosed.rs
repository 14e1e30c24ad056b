//! Heights of a moving body's vertices along a heading, as intervals. The height of vertex v is
//! `g·v` plus an offset, and both are the same for all vertices of the body.

use crate::geometry::motion::Track;
use crate::geometry::number::interval::{Interval, IntervalVec, add, dot};
use crate::geometry::number::trig::Trig;

/// The heading as intervals: at t = 0, at the time that is asked about, and what it has turned by
/// in between, unless it is fixed in the world.
pub(super) struct EnclosedHeading {
    pub(super) start: IntervalVec,
    pub(super) now: IntervalVec,
    pub(super) turn: Option<IntervalVec>,
}

/// What makes a height of the vertex v: `g·v + offset`.
pub(super) struct EnclosedHeights {
    pub(super) g: IntervalVec,
    pub(super) offset: Interval,
}

/// The heights of a body's vertices at time t. `turns_along` says whether the heading turns with
/// this body: then the heading's turn cancels the body's without rounding.
pub(super) fn heights(
    track: &Track,
    trig: &Trig,
    t: f64,
    heading: &EnclosedHeading,
    turns_along: bool,
) -> EnclosedHeights {
    let EnclosedHeading { start, now, turn } = heading;
    let drift = dot(now, &track.velocity).scale(t);
    let (k, lead) = match turn.filter(|_| turns_along) {
        // Here k = start - now, and now + k = start.
        Some(turn) => (turn.map(|c| -c), *start),
        None if track.turns() => {
            let k = track.turned_back_less(trig, now);
            (k, add(now, &k))
        }
        None => ([Interval::ZERO; 3], *now),
    };
    let g = track.to_body(&lead);
    let offset = drift + dot(&k, &track.lever);
    if track.has_residue() {
        let bent = track.residue_to_body(now).map(|c| c.scale(t));
        return EnclosedHeights { g: add(&g, &bent), offset };
    }
    EnclosedHeights { g, offset }
}
