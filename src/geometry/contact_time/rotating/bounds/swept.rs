//! The solids that bodies sweep as they turn. Each body is replaced by its solid of revolution
//! about its axis, or by a ball around its pivot; if these stay apart, so do the bodies, whatever
//! their angles.

use super::body::MovingBody;
use super::heading::{Heading, Need, unit};
use super::pair::MovingPair;
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::UNIT;

/// How much of the interval that a linear bound allows is taken, so that rounding cannot have made
/// it too long.
const TAKEN: f64 = 0.999;

/// How far the solids of revolution stay apart along a heading fixed in the world: the end of the
/// interval that begins at t, at most 1.
pub(in super::super) fn swept_end(
    pair: &MovingPair<'_>,
    heading: &Heading,
    need: Need,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<f64> {
    let (start, slope) = swept_gap(pair, heading, effort);
    // The bound has room for these roundings.
    let surplus = |t: f64| (start + slope * t) - need.clear;
    let (now, last) = (surplus(t), surplus(1.0));
    let separated_now = now > 0.0;
    if !separated_now {
        return None;
    }
    if last > 0.0 {
        return Some(1.0);
    }
    let end = t + (1.0 - t) * (now / (now - last)) * TAKEN;
    // A linear bound that is positive at both ends is positive in between.
    (surplus(end) > 0.0 && end > t).then_some(end.min(1.0))
}

/// Numbers `(a, b)` such that the gap along a direction fixed in the world is at least `a + b t`
/// for every t in [0, 1], whatever the angles.
fn swept_gap(pair: &MovingPair<'_>, heading: &Heading, effort: &mut Effort<'_>) -> (f64, f64) {
    let s = &heading.direction;
    let top_p = swept_top(&pair.p, s, effort);
    let top_q = swept_top(&pair.q, &-s, effort);
    let lengths = |body: &MovingBody<'_>| {
        body.extent.reach + body.plain.lever_length + body.plain.length_slack() / UNIT
    };
    // Each height errs by a few roundings of the lengths that enter, besides the bodies' own
    // errors; the slack of an axis is at most a few units in the last place.
    let error = 2.0 * pair.error + 64.0 * UNIT * (lengths(&pair.p) + lengths(&pair.q));
    let drag = heading.length * (pair.p.extent.residue + pair.q.extent.residue);
    let start = s.dot(&pair.pivots()) - (top_p + top_q);
    (start - error, s.dot(&pair.relative_velocity) - drag * (1.0 + 8.0 * UNIT) - error)
}

/// The largest `s·y` over a body's solid of revolution, rounded: `s·a` times the range along the
/// axis plus the part of s across the axis times the radius.
fn swept_top(body: &MovingBody<'_>, s: &Vec3, effort: &mut Effort<'_>) -> f64 {
    let plain = &body.plain;
    if !plain.turns() {
        let offset = s.dot(&plain.lever);
        let g = plain.to_body(s);
        return body.farthest_rounded(&g, effort).1 + offset;
    }
    let along = s.dot(&plain.axis);
    let (low, high) = body.extent.along;
    (along * low).max(along * high) + plain.across(s) * body.extent.radius
}

/// The direction from P's pivot to Q's at the time when the balls around them that hold the bodies
/// come as close as `clear`, or else when they are closest; `None` if they are that close from the
/// start. Rounded.
pub(in super::super) fn between_spheres(pair: &MovingPair<'_>, clear: f64) -> Option<Vec3> {
    let (d, w) = (pair.pivots(), pair.relative_velocity);
    let of = |body: &MovingBody<'_>| body.extent.reach + body.extent.residue;
    let radius = of(&pair.p) + of(&pair.q) + clear.max(0.0);
    let (a, b) = (w.norm_squared(), d.dot(&w));
    let c = d.norm_squared() - radius * radius;
    let separated_now = c > 0.0;
    if !separated_now {
        return None;
    }
    let inside = b * b - a * c;
    let meet = c / (inside.max(0.0).sqrt() - b);
    let time = if b >= 0.0 {
        0.0
    } else if inside > 0.0 && meet < 1.0 {
        meet
    } else {
        (-b / a).min(1.0)
    };
    unit(&(d + w * time))
}
