//! What is asked about two bodies over a step: where they start, how they move, and how finely to
//! look.

use super::bodies::Bodies;
use crate::motion::Motion;
use crate::number::tolerance;
use crate::pair::Pair;

/// What is asked: the pair at t = 0, how each moves over t in [0, 1], and how finely to look.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The pair at t = 0.
    pub pair: Pair<'a>,
    /// P's motion.
    pub motion_p: Motion,
    /// Q's motion.
    pub motion_q: Motion,
    /// Proofs of freedom hold for every motion of P within this of the stated one, metres.
    pub deviation_p: f64,
    /// Proofs of freedom hold for every motion of Q within this of the stated one, metres.
    pub deviation_q: f64,
    /// Contact means distance at most this, metres.
    pub margin: f64,
    /// Width of the bracket in t, before the clearance tolerance's share.
    pub time_tolerance: f64,
    /// Closer than this, metres, a graze may stay undecided; `None` for 1e-13 x max(size, world).
    /// Where something turns, less than [`CLEARANCE_TOLERANCE_MIN`] x max(size, world) counts as
    /// that: enclosures of turned points are no tighter. Its share of the bracket is what it is
    /// worth at the speed at which the nearest points close in where the bracket begins or, with a
    /// margin, where it ends.
    pub clearance_tolerance: Option<f64>,
}

/// The least clearance tolerance that turning bodies honour, relative to the larger of size and
/// world.
pub const CLEARANCE_TOLERANCE_MIN: f64 = tolerance::CLEARANCE_LEAST;

/// Default of [`Question::time_tolerance`].
pub const TIME_TOLERANCE: f64 = tolerance::BRACKET_WIDTH;

impl<'a> Question<'a> {
    /// With default tolerances, no margin and no deviation.
    pub fn new(pair: Pair<'a>, motion_p: Motion, motion_q: Motion) -> Self {
        Self {
            pair,
            motion_p,
            motion_q,
            deviation_p: 0.0,
            deviation_q: 0.0,
            margin: 0.0,
            time_tolerance: TIME_TOLERANCE,
            clearance_tolerance: None,
        }
    }

    /// Whether contact is meant exactly: no margin and no deviation.
    pub(crate) fn is_without_slack(&self) -> bool {
        [self.margin, self.deviation_p, self.deviation_q].iter().all(|slack| *slack <= 0.0)
    }
}

/// Two bodies as they move, and what counts as free and as contact.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The bodies at t = 0.
    pub bodies: Bodies<'a>,
    /// How P moves.
    pub motion_p: Motion,
    /// How Q moves.
    pub motion_q: Motion,
    /// Contact means distance at most this, metres.
    pub margin: f64,
    /// Freedom holds for every motion of P within this of the stated one, metres.
    pub deviation_p: f64,
    /// Proofs of freedom hold for every motion of Q within this of the stated one, metres.
    pub deviation_q: f64,
}

impl<'a> From<&Question<'a>> for Course<'a> {
    fn from(question: &Question<'a>) -> Self {
        let &Question { ref pair, motion_p, motion_q, margin, deviation_p, deviation_q, .. } =
            question;
        Self { bodies: pair.into(), motion_p, motion_q, margin, deviation_p, deviation_q }
    }
}
