//! Two polytopes, each placed in the world: the subject of every question.
//!
//! The Minkowski difference is always `M = {q - p : p in P, q in Q}`; its vertices are named by
//! [`VertexPair`]s.

use super::claim::{Bodies, Course, Points, Reach, TIME_TOLERANCE};
use super::motion::Motion;
use super::polytope::Polytope;
use super::pose::Pose;

pub use clearance_proof::vertex_pair::VertexPair;

/// A polytope and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The body, in its own frame.
    pub body: &'a Polytope,
    /// From its frame to the world.
    pub pose: Pose,
}

/// P and Q.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The first body.
    pub p: Placed<'a>,
    /// The second body.
    pub q: Placed<'a>,
}

impl<'a> Pair<'a> {
    /// Places two bodies in the world.
    pub fn new(p: &'a Polytope, pose_p: Pose, q: &'a Polytope, pose_q: Pose) -> Self {
        debug_assert!(pose_p.stretches_little() && pose_q.stretches_little());
        Self { p: Placed { body: p, pose: pose_p }, q: Placed { body: q, pose: pose_q } }
    }
}

impl<'a> From<&Placed<'a>> for Points<'a> {
    fn from(placed: &Placed<'a>) -> Self {
        Self { points: placed.body.vertices(), pose: placed.pose }
    }
}

impl<'a> From<&Pair<'a>> for Bodies<'a> {
    fn from(pair: &Pair<'a>) -> Self {
        Self { p: (&pair.p).into(), q: (&pair.q).into() }
    }
}

/// What is asked: the pair at t = 0, how each moves over t in [0, 1], and how finely to look.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The pair at t = 0.
    pub pair: Pair<'a>,
    /// How P moves from its pose at t = 0.
    pub motion_p: Motion,
    /// How Q moves from its pose at t = 0.
    pub motion_q: Motion,
    /// Proofs of freedom hold for every motion of P within this of the stated one, metres.
    pub deviation_p: f64,
    /// Proofs of freedom hold for every motion of Q within this of the stated one, metres.
    pub deviation_q: f64,
    /// Contact means distance at most this.
    pub reach: Reach,
    /// Width of the bracket in t, before the clearance tolerance's share.
    pub time_tolerance: f64,
    /// Closer than this, metres, a graze may stay undecided; `None` for 1e-13 x max(size, world).
    /// Where something turns, less than
    /// [`CLEARANCE_TOLERANCE_MIN`](super::claim::CLEARANCE_TOLERANCE_MIN) x max(size, world) counts
    /// as that: enclosures of turned points are no tighter. Its share of the bracket is what it is
    /// worth at the speed at which the nearest points close in where the bracket begins or, with a
    /// margin, where it ends.
    pub clearance_tolerance: Option<f64>,
}

impl<'a> Question<'a> {
    /// The same question about another pair, with its own distance of contact.
    pub fn about<'b>(&self, pair: Pair<'b>, reach: Reach) -> Question<'b> {
        let Self { motion_p, motion_q, deviation_p, deviation_q, .. } = *self;
        let Self { time_tolerance, clearance_tolerance, .. } = *self;
        Question {
            pair,
            motion_p,
            motion_q,
            deviation_p,
            deviation_q,
            reach,
            time_tolerance,
            clearance_tolerance,
        }
    }

    /// With default tolerances, no margin and no deviation.
    pub fn new(pair: Pair<'a>, motion_p: Motion, motion_q: Motion) -> Self {
        Self {
            pair,
            motion_p,
            motion_q,
            deviation_p: 0.0,
            deviation_q: 0.0,
            reach: Reach::ZERO,
            time_tolerance: TIME_TOLERANCE,
            clearance_tolerance: None,
        }
    }

    /// Whether contact is meant exactly: no margin and no deviation.
    pub(crate) fn is_without_slack(&self) -> bool {
        self.reach.is_zero() && self.deviation_p <= 0.0 && self.deviation_q <= 0.0
    }
}

impl<'a> From<&Question<'a>> for Course<'a> {
    fn from(question: &Question<'a>) -> Self {
        let &Question { ref pair, motion_p, motion_q, reach, deviation_p, deviation_q, .. } =
            question;
        Self { bodies: pair.into(), motion_p, motion_q, reach, deviation_p, deviation_q }
    }
}
