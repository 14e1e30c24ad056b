//! The certified step: how far along one heading the bodies are surely free of contact, and what a
//! step adds to the chain. Two bounds certify steps.
//!
//! *By the bend.* The gap along a heading is a minimum of functions of t less a maximum, each with
//! a second derivative of at most `bend` in size. So on [t, t + τ] it lies above its chord less the
//! parabola of that bend: with f0, f1 the gaps at the ends and k = bend τ²/2,
//! `gap(t + λτ) >= (1 - λ) f0 + λ f1 - k λ (1 - λ)`.
//! For f0, f1 > 0 this is positive on all of [0, 1] exactly if `√f0 + √f1 > √k`, because the least
//! of `f0 / λ + f1 / (1 - λ)` is `(√f0 + √f1)²`.
//!
//! *By swept solids.* Each body is replaced by its solid of revolution about its axis, or by a ball
//! around its pivot. If these stay separated, so do the bodies, whatever their angles.

use crate::Vec3;
use crate::claim::{Direction, Frame, Link};
use crate::contact_time::rotating::bounds::body::MovingBody;
use crate::contact_time::rotating::bounds::moving::{MeasuredGap, MeasuredHeading, Moving};
use crate::contact_time::rotating::bounds::pair::{Heading, MovingPair};
use crate::contact_time::rotating::search::TurningSearch;
use crate::effort::Effort;
use crate::number::rounding::{UNIT, unit};
use crate::number::tolerance::GAP_PRODUCT_LEAST;

/// How many lengths of step are tried: the guess, the one that its failure certifies, and then
/// longer ones.
const TRIES: u32 = 8;
/// After a first failure, the time at which the gap would close if its rate changed evenly is
/// tried, times this: features that are about to take over come in earlier.
const PROBABLE: f64 = 0.6;

/// The end of a certified step.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct CertifiedStep {
    pub(in super::super) end: f64,
    /// The gap at the end.
    pub(in super::super) gap: MeasuredGap,
}

/// A step, and the heading that it goes along with its gap at the start of the step.
#[derive(Clone, Debug)]
pub(in super::super) struct Advance {
    pub(in super::super) known: MeasuredHeading,
    pub(in super::super) step: CertifiedStep,
}

/// Certifies a closed interval from t, at which the gap along a heading is known and has a positive
/// surplus, as long as it can be had cheaply.
pub(in super::super) fn certify(
    moving: &mut Moving<'_>,
    known: &MeasuredHeading,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    let heading = &known.heading;
    let (f0, rate) = (known.now.surplus, known.now.gap.rate);
    let bent = heading.bend_limit(f0);
    let closed = if rate < 0.0 { 0.995 * f0 / -rate } else { f64::INFINITY };
    let mut length = (1.0 - t).min(bent).min(closed);
    let mut failed_at = f64::INFINITY;
    let mut failures = 0;
    let mut best: Option<CertifiedStep> = None;
    for _ in 0..TRIES {
        let end = if length >= 1.0 - t { 1.0 } else { t + length };
        // A NaN is no progress.
        let forward = end > best.map_or(t, |b| b.end);
        if !forward {
            break;
        }
        let width = (end - t).next_up();
        let k = sag(heading, t, end);
        let gap = moving.gap(heading, end, effort);
        let f1 = gap.surplus;
        if is_certain(f0, f1, k) {
            best = Some(CertifiedStep { end, gap });
            if failed_at.is_infinite() {
                break;
            }
            // The chord to a far failure said too little: the gap, a minimum, bulges above it.
            let closing = -gap.gap.rate;
            let grown = if closing > 0.0 { width + 0.98 * f1 / closing } else { 2.5 * width };
            length = grown.min(0.5 * (width + failed_at));
            if length < 1.2 * width {
                break;
            }
        } else if best.is_some() {
            break;
        } else {
            failed_at = failed_at.min(width);
            // The first root of the bound, a little less.
            let b = f0 - f1 + k;
            let root = 2.0 * f0 / (b + (b * b - 4.0 * k * f0).max(0.0).sqrt());
            let certified = width * root.min(0.9) * 0.999;
            // What is certain to be free may be far less than what probably is, so the probable
            // length is tried once.
            failures += 1;
            length = if failures == 1 {
                certified.max(PROBABLE * falls_to_zero(f0, rate, f1, width))
            } else {
                certified
            };
        }
    }
    best
}

/// Whether a step from t, at which the gap along a heading is known, is certain to its end.
pub(in super::super) fn is_certain_until(
    known: &MeasuredHeading,
    t: f64,
    step: &CertifiedStep,
) -> bool {
    is_certain(known.now.surplus, step.gap.surplus, sag(&known.heading, t, step.end))
}

/// Roughly how many steps as long as the bend lets through make up this one from t; `before` is the
/// surplus at t.
#[inline]
pub(super) fn pieces(heading: &Heading, t: f64, step: &CertifiedStep, before: f64) -> u32 {
    let sag = sag(heading, t, step.end);
    // This holds for nearly all steps.
    if sag < 16.0 * step.gap.surplus {
        return 1;
    }
    // The quotient is truncated, and 0 for a NaN; the step itself is at least one.
    ((sag / before.max(step.gap.surplus)).sqrt() as u32).max(1)
}

/// How far below its chord the gap may be, times four.
fn sag(heading: &Heading, t: f64, end: f64) -> f64 {
    let width = (end - t).next_up();
    (0.5 * heading.bend) * (width * width)
}

/// When a gap of f0 that changes at this rate, and is f1 < 0 after `width`, would be zero if its
/// rate changed evenly; NaN if that cannot be.
fn falls_to_zero(f0: f64, rate: f64, f1: f64, width: f64) -> f64 {
    let curve = (f1 - f0 - rate * width) / (width * width);
    2.0 * f0 / ((rate * rate - 4.0 * curve * f0).sqrt() - rate)
}

/// Whether `√f0 + √f1` surely exceeds `√k`: whether `d = k - f0 - f1` is below zero or `d²` below
/// `4 f0 f1`. d rounds by at most `u k + 2u (f0 + f1)` and k, three products, by 4u; its square and
/// the product round by 2u, far above what underflow takes.
#[inline]
pub(in super::super::super) fn is_certain(f0: f64, f1: f64, k: f64) -> bool {
    let sum = f0 + f1;
    let d = (k - sum) + 8.0 * UNIT * (k + sum);
    let product = 4.0 * f0 * f1;
    let is_above = d <= 0.0 || product > GAP_PRODUCT_LEAST && d * d * (1.0 + 8.0 * UNIT) < product;
    f0 > 0.0 && f1 > 0.0 && is_above
}

/// How much of the interval that a linear bound allows is taken, so that rounding cannot have made
/// it too long.
const TAKEN: f64 = 0.999;

/// How far the solids of revolution stay separated along a heading fixed in the world: the end of
/// the interval that begins at t, at most 1.
pub(in super::super) fn swept_end(
    pair: &MovingPair<'_>,
    heading: &Heading,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<f64> {
    let (start, slope) = swept_gap(pair, heading, effort);
    // The bound has room for these roundings.
    let surplus = |t: f64| (start + slope * t) - heading.need;
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

/// Pieces that one link joins at most. Judges prove a link by at most 2^17 pieces, several of which
/// may go to a step.
pub(in super::super) const PIECES_A_LINK_MAX: u32 = 1 << 12;
/// A step over which the swept solids stay separated is taken if it is longer than this, in t, or
/// if it reaches the end of the motion.
const LONG_STEP: f64 = 0.05;

/// The certified step along a heading or, if the heading is new and fixed in the world, the
/// interval over which the swept solids stay separated, if that is long.
pub(in super::super) fn step_along(
    search: &mut TurningSearch<'_>,
    known: &MeasuredHeading,
    is_new: bool,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    let is_clear = known.now.surplus > 0.0;
    if !is_clear {
        return None;
    }
    if is_new && let Some(step) = swept_step(search, &known.heading, effort) {
        return Some(step);
    }
    certify(&mut search.moving, known, search.at.t, effort)
}

/// The interval over which the swept solids stay separated, if it is a long one.
fn swept_step(
    search: &mut TurningSearch<'_>,
    heading: &Heading,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    if heading.frame != Frame::World {
        return None;
    }
    let t = search.at.t;
    let end = swept_end(&search.moving.pair, heading, t, effort)?;
    let is_long = end - t > LONG_STEP || end >= 1.0;
    is_long.then(|| {
        let gap = search.moving.gap(heading, end, effort);
        CertifiedStep { end, gap }
    })
}

/// The interval over which the swept solids stay separated along the heading in use, if it is a
/// long one.
pub(in super::super) fn swept_along_heading(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let known = search.at.heading.clone()?;
    let step = swept_step(search, &known.heading, effort)?;
    Some(Advance { known, step })
}

/// Takes a step: adds it to the chain, and moves the search to its end. Steps along one heading
/// make one link.
///
/// Where bodies spin beside each other for long, the solids that they sweep may stay separated all
/// the while. A judge sees that of a whole link, from its ends; if the link also joins steps that
/// are certain by the bend, the judge has to follow all of it by the bend. So a step by swept
/// solids counts as many pieces as that takes.
pub(in super::super) fn take_step(search: &mut TurningSearch<'_>, advance: &Advance) {
    let Advance { known: MeasuredHeading { heading, now }, step } = advance;
    let (at, proven) = (&mut search.at, &mut search.proven);
    let (frame, direction) = (heading.frame, Direction::Vector(heading.direction));
    let pieces = pieces(heading, at.t, step, now.surplus).min(PIECES_A_LINK_MAX);
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
    at.heading = Some(MeasuredHeading { heading: heading.clone(), now: step.gap });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_root_test_is_the_least_of_the_chord_less_the_parabola() {
        let mut counts = [0, 0];
        for i in 1..60 {
            for j in 1..60 {
                for k in 1..60 {
                    let (f0, f1) = (f64::from(i) * 0.07, f64::from(j) * 0.05);
                    let k = f64::from(k) * 0.2;
                    let least = (0..=1000)
                        .map(|s| {
                            let l = f64::from(s) / 1000.0;
                            (1.0 - l) * f0 + l * f1 - k * l * (1.0 - l)
                        })
                        .fold(f64::INFINITY, f64::min);
                    let certain = is_certain(f0, f1, k);
                    if least.abs() > 1e-4 {
                        assert_eq!(certain, least > 0.0, "{f0} {f1} {k}");
                        counts[usize::from(certain)] += 1;
                    }
                }
            }
        }
        assert!(counts.iter().all(|n| *n > 10_000), "{counts:?}");
    }
}
