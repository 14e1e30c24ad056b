//! Two polytopes, each placed in the world: the subject of every question.
//!
//! The Minkowski difference is always `M = {q - p : p in P, q in Q}`; its vertices are named by
//! [`VertexPair`]s.

use super::polytope::Polytope;
use super::pose::Pose;

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
    /// Places both.
    pub fn new(p: &'a Polytope, pose_p: Pose, q: &'a Polytope, pose_q: Pose) -> Self {
        debug_assert!(pose_p.stretches_little() && pose_q.stretches_little());
        Self { p: Placed { body: p, pose: pose_p }, q: Placed { body: q, pose: pose_q } }
    }
}

/// The point `q_j - p_i` of the Minkowski difference: `i` indexes P's vertices, `j` Q's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VertexPair {
    /// Index of a vertex of P.
    pub i: u32,
    /// Index of a vertex of Q.
    pub j: u32,
}
