//! The polytopes of two balls are points, whose distance is a length: in most cases its rounding
//! leaves nothing open.

use super::{RoundedPair, beyond, is_narrow};
use crate::Vec3;
use crate::claim::{RoundedProof, StaticProof, Verdict};
use crate::distance::{Distance, towards};
use crate::number::rounding::{UNDERFLOW_FLOOR, gamma, length};
use crate::pair::{Pair, Placed, VertexPair};
use crate::separation::Decision;

/// Two points where they are, rounded, and how far they are from each other.
pub(super) struct Centres {
    places: [Vec3; 2],
    /// Encloses their distance, metres.
    bounds: [f64; 2],
}

/// Their only pair of vertices.
const PAIR: VertexPair = VertexPair { i: 0, j: 0 };

/// A vertex where it is, rounded.
pub(super) fn place(placed: &Placed<'_>, v: u32) -> Vec3 {
    placed.pose.apply_rounded(placed.body.vertex(v))
}

/// More than the rounding of the difference of two placed vertices: within γ₁₆ of the sizes that it
/// is summed from, but for what underflows.
pub(super) fn error_of_differences(cores: &Pair<'_>) -> f64 {
    let size =
        |placed: &Placed<'_>| placed.pose.translation.abs().sum() + placed.body.bounds().span;
    gamma(16) * (size(&cores.p) + size(&cores.q)) + UNDERFLOW_FLOOR
}

impl Centres {
    /// Of polytopes that are points.
    pub(super) fn of(cores: &Pair<'_>) -> Option<Self> {
        let are_points = [&cores.p, &cores.q].iter().all(|placed| placed.body.vertex_count() == 1);
        are_points.then(|| {
            let places = [place(&cores.p, 0), place(&cores.q, 0)];
            let (apart, error) = (length(&(places[1] - places[0])), error_of_differences(cores));
            // The length of what is rounded is known within γ₈.
            let lower = (apart * (1.0 - gamma(16)) - error).next_down();
            let upper = ((apart + error) * (1.0 + gamma(16))).next_up();
            Self { places, bounds: [lower.max(0.0), upper] }
        })
    }

    /// How the balls stand, where that is certain.
    pub(super) fn verdict(&self, pair: &RoundedPair<'_>) -> Option<RoundedProof> {
        let ([lower, upper], [least, most]) = (self.bounds, pair.reach().bounds());
        let verdict = if lower > most {
            Verdict::Separated
        } else if upper < least {
            Verdict::Overlapping
        } else {
            return None;
        };
        Some(RoundedProof { verdict, pairs: [PAIR].into_iter().collect() })
    }

    /// How far apart the points are, where that says what is asked of the balls: narrowly how far
    /// apart or how deep they are.
    pub(super) fn distance(self, [least, most]: [f64; 2]) -> Option<Distance> {
        let ([lower, upper], [closest_p, closest_q]) = (self.bounds, self.places);
        let proof = StaticProof::Separated { direction: towards(&[PAIR]) };
        let is_told = lower > 0.0
            && (is_narrow(beyond(self.bounds, [least, most]))
                || is_narrow(beyond([least, most], self.bounds)));
        is_told.then(|| Distance {
            decision: Decision { proof },
            lower,
            upper,
            pairs: [PAIR].into_iter().collect(),
            closest_p,
            closest_q,
            stopped: None,
        })
    }
}
