//! The certified step: how far along one heading the bodies are surely free of contact.
//!
//! The gap along a heading is a minimum of functions of t less a maximum, each with a second
//! derivative of at most `bend` in size. So on [t, t + τ] it lies above its chord less the parabola
//! of that bend: with f0, f1 the gaps at the ends and k = bend τ²/2,
//! `gap(t + λτ) >= (1 - λ) f0 + λ f1 - k λ (1 - λ)`.
//! For f0, f1 > 0 this is positive on all of [0, 1] exactly if `√f0 + √f1 > √k`, because the least
//! of `f0 / λ + f1 / (1 - λ)` is `(√f0 + √f1)²`.

use crate::geometry::contact_time::rotating::bounds::heading::{
    Heading, MeasuredHeading, MovingGap, Need,
};
use crate::geometry::contact_time::rotating::bounds::moving::Moving;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::UNIT;
use crate::geometry::number::tolerance::GAP_PRODUCT_LEAST;

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
    pub(in super::super) gap: MovingGap,
    /// By how much that gap surely exceeds the need.
    pub(in super::super) surplus: f64,
}

/// A step, and the heading that it goes along with its gap at the start of the step.
#[derive(Clone, Debug)]
pub(in super::super) struct Advance {
    pub(in super::super) known: MeasuredHeading,
    pub(in super::super) step: CertifiedStep,
}

/// Where a step begins: a heading, what it needs, the time, and the gap then.
#[derive(Clone, Copy)]
pub(in super::super) struct StepStart<'h> {
    pub(in super::super) heading: &'h Heading,
    pub(in super::super) need: Need,
    pub(in super::super) t: f64,
    pub(in super::super) gap: &'h MovingGap,
}

/// Certifies a closed interval from the start, as long as it can be had cheaply. The gap at the
/// start has a positive surplus.
pub(in super::super) fn certify(
    moving: &mut Moving<'_>,
    start: &StepStart<'_>,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    let StepStart { heading, need, t, gap: from } = *start;
    let f0 = need.surplus(from);
    let bent = bend_limit(heading, f0);
    let closed = if from.rate < 0.0 { 0.995 * f0 / -from.rate } else { f64::INFINITY };
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
        let gap = moving.gap(heading, need, end, effort);
        let f1 = need.surplus(&gap);
        let width = (end - t).next_up();
        let k = sag(heading, t, end);
        if is_certain(f0, f1, k) {
            best = Some(CertifiedStep { end, gap, surplus: f1 });
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
            // What is certain to be free may be far less than what probably is, so the probable
            // length is tried once.
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

/// The step from the start to a time at which the gap is known, if it is certain in between.
pub(in super::super) fn certify_until(
    start: &StepStart<'_>,
    end: f64,
    gap: MovingGap,
) -> Option<CertifiedStep> {
    let (f0, f1) = (start.need.surplus(start.gap), start.need.surplus(&gap));
    let is_free = is_certain(f0, f1, sag(start.heading, start.t, end));
    is_free.then_some(CertifiedStep { end, gap, surplus: f1 })
}

/// Roughly how many steps as long as the bend lets through make up this one from t; `before` is the
/// surplus at t.
#[inline]
pub(super) fn pieces(
    heading: &Heading,
    t: f64,
    step: &CertifiedStep,
    before: impl Fn() -> f64,
) -> u32 {
    let sag = sag(heading, t, step.end);
    // This holds for nearly all steps.
    if sag < 16.0 * step.surplus {
        return 1;
    }
    // The quotient is truncated, and 0 for a NaN; the step itself is at least one.
    ((sag / before().max(step.surplus)).sqrt() as u32).max(1)
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

/// Slightly less than the longest step that the bend lets through if the surplus stays as it is.
pub(super) fn bend_limit(heading: &Heading, surplus: f64) -> f64 {
    if heading.bend > 0.0 { 1.9 * (2.0 * surplus / heading.bend).sqrt() } else { f64::INFINITY }
}

/// Whether `√f0 + √f1` surely exceeds `√k`: whether `d = k - f0 - f1` is below zero or `d²` below
/// `4 f0 f1`. d rounds by at most `u k + 2u (f0 + f1)` and k, three products, by 4u; its square and
/// the product round by 2u, far above what underflow takes.
#[inline]
fn is_certain(f0: f64, f1: f64, k: f64) -> bool {
    let sum = f0 + f1;
    let d = (k - sum) + 8.0 * UNIT * (k + sum);
    let product = 4.0 * f0 * f1;
    let is_above = d <= 0.0 || product > GAP_PRODUCT_LEAST && d * d * (1.0 + 8.0 * UNIT) < product;
    f0 > 0.0 && f1 > 0.0 && is_above
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
