//! The certified step: how far along one heading the bodies are surely apart.
//!
//! The gap along a heading is a minimum of functions of t less a maximum, each with second
//! derivative at most `bend` in size. So on [t, t + τ] it lies above its chord less the parabola of
//! that bend: with f0, f1 the gaps at the ends and k = bend τ²/2,
//! `gap(t + λτ) >= (1 - λ) f0 + λ f1 - k λ (1 - λ)`.
//! For f0, f1 > 0 this is positive on all of [0, 1] exactly if `√f0 + √f1 > √k`, because the least
//! of `f0 / λ + f1 / (1 - λ)` is `(√f0 + √f1)²`.

use super::course::unit;
use super::moving::{Gap, Heading, Moving, Side};
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::UNIT;

/// Lengths of step that are tried: the guess, what its failure certifies, and then growth.
const TRIES: u32 = 8;
/// The part of such an estimate that is tried: features that are about to take over come in
/// earlier.
const PROBABLE: f64 = 0.6;
/// Of a smaller product of gaps, underflow might be a part that counts.
const PRODUCT_MIN: f64 = 1e-290;

/// What has to be kept clear, and the heading with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// The gap, in units of the direction, must exceed this.
    pub(super) clear: f64,
}

impl Need {
    /// `clear` metres (in the search's units) along this heading; negative to allow some depth.
    pub(super) fn along(heading: &Heading, clear: f64) -> Self {
        let along = clear * heading.length;
        // Rounded up, towards "not clear".
        Self { clear: if along.abs() > 0.0 { along.next_up() } else { 0.0 } }
    }

    /// By how much the gap surely exceeds the need, less once more the width of its enclosure, so
    /// that a judge with looser enclosures still agrees.
    pub(super) fn surplus(self, gap: &Gap) -> f64 {
        let width = gap.value.high() - gap.value.low();
        ((gap.value.low() - width).next_down() - self.clear).next_down()
    }
}

/// The end of a certified step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) end: f64,
    pub(super) gap: Gap,
    pub(super) surplus: f64,
}

/// Certifies a closed interval from t along `heading`, as long as it can be had cheaply. `from` is
/// the gap at t, whose surplus is positive.
pub(super) fn advance(
    moving: &mut Moving<'_>,
    heading: &Heading,
    need: Need,
    t: f64,
    from: &Gap,
    effort: &mut Effort<'_>,
) -> Option<Step> {
    let f0 = need.surplus(from);
    let bent = bend_limit(heading, f0);
    let closed = if from.rate < 0.0 { 0.995 * f0 / -from.rate } else { f64::INFINITY };
    let mut length = (1.0 - t).min(bent).min(closed);
    let mut failed_at = f64::INFINITY;
    let mut failures = 0;
    let mut best: Option<Step> = None;
    for _ in 0..TRIES {
        let end = if length >= 1.0 - t { 1.0 } else { t + length };
        // A NaN is no progress.
        let forward = end > best.map_or(t, |b| b.end);
        if !forward {
            break;
        }
        let gap = moving.gap(heading, need, end, effort);
        let f1 = need.surplus(&gap);
        let width = (end - t).next_up();
        let k = sag(heading, t, end);
        if is_certain(f0, f1, k) {
            best = Some(Step { end, gap, surplus: f1 });
            if failed_at.is_infinite() {
                break;
            }
            // The chord to a far failure said too little: the gap, a minimum, bulges above it.
            let grown = if gap.rate < 0.0 { width + 0.98 * f1 / -gap.rate } else { 2.5 * width };
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
            // What is certain to be free may be far less than what probably is, so that is tried
            // once.
            failures += 1;
            length = if failures == 1 {
                certified.max(PROBABLE * falls_to_zero(f0, from.rate, f1, width))
            } else {
                certified
            };
        }
    }
    best
}

/// The step between two times at which the gap along `heading` is known, if it is certain in
/// between.
pub(super) fn certified(
    heading: &Heading,
    need: Need,
    (t, from): (f64, &Gap),
    (end, gap): (f64, Gap),
) -> Option<Step> {
    let (f0, f1) = (need.surplus(from), need.surplus(&gap));
    is_certain(f0, f1, sag(heading, t, end)).then_some(Step { end, gap, surplus: f1 })
}

/// How many steps as long as the bend lets through make up this one from t, roughly; `before` is
/// the surplus there.
#[inline]
pub(super) fn pieces(heading: &Heading, t: f64, step: &Step, before: impl Fn() -> f64) -> u32 {
    let sag = sag(heading, t, step.end);
    // Nearly always a few.
    if sag < 16.0 * step.surplus {
        return 1;
    }
    // Truncated, and 0 of a NaN; at least this one.
    ((sag / before().max(step.surplus)).sqrt() as u32).max(1)
}

/// How far below its chord the gap may be, times four.
fn sag(heading: &Heading, t: f64, end: f64) -> f64 {
    let width = (end - t).next_up();
    (0.5 * heading.bend) * (width * width)
}

/// When a gap of f0 that closes at this rate, and is f1 < 0 after `width`, would be zero if its
/// rate changed evenly; NaN if that cannot be.
fn falls_to_zero(f0: f64, rate: f64, f1: f64, width: f64) -> f64 {
    let curve = (f1 - f0 - rate * width) / (width * width);
    2.0 * f0 / ((rate * rate - 4.0 * curve * f0).sqrt() - rate)
}

/// The longest step that the bend lets through if the surplus stays as it is, a little less.
pub(super) fn bend_limit(heading: &Heading, surplus: f64) -> f64 {
    if heading.bend > 0.0 { 1.9 * (2.0 * surplus / heading.bend).sqrt() } else { f64::INFINITY }
}

/// Whether `√f0 + √f1` surely exceeds `√k`: whether `d = k - f0 - f1` is below zero or `d²` below
/// `4 f0 f1`. d rounds by at most `u k + 2u (f0 + f1)` and k, three products, by 4u; its square and
/// the product by 2u, far above what underflow takes.
#[inline]
fn is_certain(f0: f64, f1: f64, k: f64) -> bool {
    let sum = f0 + f1;
    let d = (k - sum) + 8.0 * UNIT * (k + sum);
    let product = 4.0 * f0 * f1;
    let is_above = d <= 0.0 || product > PRODUCT_MIN && d * d * (1.0 + 8.0 * UNIT) < product;
    f0 > 0.0 && f1 > 0.0 && is_above
}

/// How far the solids of revolution stay apart along a heading fixed in the world: the end of the
/// interval, at most 1.
pub(super) fn swept_end(
    moving: &mut Moving<'_>,
    heading: &Heading,
    need: Need,
    t: f64,
    effort: &mut Effort<'_>,
) -> Option<f64> {
    let (start, slope) = moving.swept_gap(heading, effort);
    // The bound has room for these roundings.
    let surplus = |t: f64| (start + slope * t) - need.clear;
    let (now, last) = (surplus(t), surplus(1.0));
    let apart_now = now > 0.0;
    if !apart_now {
        return None;
    }
    if last > 0.0 {
        return Some(1.0);
    }
    let end = t + (1.0 - t) * (now / (now - last)) * 0.999;
    // A linear bound that is positive at both ends is so in between.
    (surplus(end) > 0.0 && end > t).then_some(end.min(1.0))
}

/// The direction from P's pivot to Q's at the time when balls around them that hold the bodies come
/// as close as `clear`, or are closest; `None` if they are that close from the start. Rounded.
pub(super) fn between_spheres(moving: &Moving<'_>, clear: f64) -> Option<Vec3> {
    let (d, w) = (moving.pivots(), moving.apart);
    let of = |side: &Side<'_>| side.extent.reach + side.extent.residue;
    let radius = of(&moving.p) + of(&moving.q) + clear.max(0.0);
    let (a, b) = (w.norm_squared(), d.dot(&w));
    let c = d.norm_squared() - radius * radius;
    let apart_now = c > 0.0;
    if !apart_now {
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
