//! What a moving body's vertices have in common along a direction: heights are `g·v` plus an offset.

use crate::geometry::Vec3;
use crate::geometry::motion::{Plain, Track};
use crate::geometry::number::interval::{Interval, IntervalVec, add, dot};
use crate::geometry::number::trig::{RoundedTrig, Trig};

/// Plain: what a body's vertices have in common along s, and `k = Rot(-t) s - s`. `own` is what s has
/// turned by since t = 0 and s then, if it turns with this body.
#[inline]
pub(super) fn body_along(
    plain: &Plain,
    trig: &RoundedTrig,
    t: f64,
    s: &Vec3,
    own: Option<(&Vec3, &Vec3)>,
) -> (Vec3, Vec3) {
    let (k, lead) = match own {
        Some((turn, s0)) => (-turn, *s0),
        None if plain.turns() => {
            let k = plain.turned_back_less(trig, s);
            (k, s + k)
        }
        None => (Vec3::zeros(), *s),
    };
    (plain.to_body(&lead, s, t), k)
}

/// What a body's vertices have in common along s: the rest is `g·v`.
pub(super) struct AlongBody {
    pub(super) g: IntervalVec,
    pub(super) offset: Interval,
}

/// The same, enclosed.
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
