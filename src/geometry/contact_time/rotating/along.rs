//! What a moving body's vertices have in common along a direction, enclosed: heights are `g·v` plus
//! an offset.

use crate::geometry::motion::Track;
use crate::geometry::number::interval::{Interval, IntervalVec, add, dot};
use crate::geometry::number::trig::Trig;

/// What a body's vertices have in common along s: the rest is `g·v`.
pub(super) struct AlongBody {
    pub(super) g: IntervalVec,
    pub(super) offset: Interval,
}

/// Along s at time t; `s0` is s at t = 0, `own_turn` what it has turned by since, if it turns with
/// this body.
pub(super) fn body_enclosed(
    track: &Track,
    trig: &Trig,
    t: f64,
    s: &IntervalVec,
    s0: &IntervalVec,
    own_turn: Option<IntervalVec>,
) -> AlongBody {
    let drift = dot(s, &track.velocity).scale(t);
    let (k, lead) = match own_turn {
        Some(turn) => (turn.map(|c| -c), *s0),
        None if track.turns() => {
            let k = track.turned_back_less(trig, s);
            (k, add(s, &k))
        }
        None => ([Interval::ZERO; 3], *s),
    };
    let g = track.to_body(&lead);
    let offset = drift + dot(&k, &track.lever);
    if track.has_residue() {
        let bent = track.residue_to_body(s).map(|c| c.scale(t));
        return AlongBody { g: add(&g, &bent), offset };
    }
    AlongBody { g, offset }
}
