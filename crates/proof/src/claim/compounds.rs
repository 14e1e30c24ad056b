//! What is stated of bodies of several convex parts: some parts of the one and some of the other at
//! a time.

use super::bodies::Points;
use super::curved::Measured;
use super::depth::Surface;
use super::direction::Direction;
use super::distance::DepthSide;
use super::motion::{MotionClaim, Outcome};
use super::rounded::ConvexProof;
use super::verdict::Verdict;
use crate::vertex_pair::VertexPair;

/// Two bodies of several parts, each placed in the world.
#[derive(Clone, Copy, Debug)]
pub struct Compounds<'a> {
    /// The parts of P, each placed in the world.
    pub p: &'a [Points<'a>],
    /// The parts of Q, each placed in the world.
    pub q: &'a [Points<'a>],
    /// The radius of the balls around all points of each part, metres; of a polytope 0.
    pub radii: [&'a [f64]; 2],
}

/// The parts that an entry is about. With more than one of a body, the proof is a vector that
/// separates all of them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Indices of the parts of P that are meant.
    pub p: Vec<u32>,
    /// Indices of the parts of Q that are meant.
    pub q: Vec<u32>,
}

/// Two parts of which it is proven apart from this how they stand.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownParts {
    /// One of each body.
    pub parts: Parts,
    /// How they stand; of a motion at t = 0.
    pub verdict: Verdict,
    /// What is proven of them beside that.
    pub measured: Measured,
}

/// What is proven of some parts at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct PartStatement {
    /// The parts that it is about.
    pub parts: Parts,
    /// How they stand.
    pub proof: ConvexProof,
    /// For separated parts: what shows how they compare with a margin, as in
    /// [`super::MarginClaim`].
    pub margin_pairs: arrayvec::ArrayVec<VertexPair, 3>,
    /// For parts that overlap: what shows how deep they do beside a margin below 0, as there.
    pub margin_depth: Option<DepthSide>,
}

/// What is proven of some parts in motion.
#[derive(Clone, Copy, Debug)]
pub struct PartMotion<'a> {
    /// The parts that it is about.
    pub parts: &'a Parts,
    /// How they stand at t = 0, if it is said.
    pub initial: Option<&'a ConvexProof>,
    /// Of rounded parts that are apart then: see [`super::RoundedMotionClaim`].
    pub start: &'a [VertexPair],
    /// With the outcome and the times of the bodies; it leaves how the parts stand at t = 0 to
    /// `initial`.
    pub claim: MotionClaim<'a>,
}

/// What is claimed of bodies in motion, and what shows it.
#[derive(Clone, Copy, Debug)]
pub struct MotionEntries<'a> {
    /// Says whether they meet.
    pub outcome: Outcome,
    /// They are free on `[0, t_free]`.
    pub t_free: f64,
    /// They are in contact by then, if the outcome is contact.
    pub t_contact: f64,
    /// Nothing is claimed to be free, not even the start: all that is left to prove is contact.
    pub is_start_open: bool,
    /// The entries to be judged, each with the outcome and the times from here.
    pub entries: &'a [PartMotion<'a>],
    /// Parts of which it is known when they first meet.
    pub known: &'a [KnownParts],
}

/// What is said of some parts at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct PartBound {
    /// The parts that it is about.
    pub parts: Parts,
    /// For a claim about a distance, where each side is one part: with v the point nearest the
    /// origin in the hull of their differences, `v / |v|` is the direction, and |v| may show the
    /// upper bound.
    pub pairs: arrayvec::ArrayVec<VertexPair, 3>,
    /// For a distance without pairs: a direction along which the gap is as wide as the lower bound.
    /// For a depth: one along which M reaches no farther than the upper bound. Where several parts
    /// are meant together it is a vector.
    pub direction: Option<Direction>,
}

/// What shows how deep bodies overlap.
#[derive(Clone, Copy, Debug)]
pub struct DepthEntries<'a> {
    /// The deepest parts, unless it is known of these how deep they overlap.
    pub deepest: Option<DepthClaim<'a>>,
    /// Other parts, each with a direction.
    pub others: &'a [PartBound],
    /// Parts of which it is known how deep they overlap.
    pub known: &'a [KnownParts],
}

/// A claim of the depth of one pair of parts.
#[derive(Clone, Copy, Debug)]
pub struct DepthClaim<'a> {
    /// The parts that it is about, one of each body.
    pub parts: &'a Parts,
    /// How they stand, which is proven apart from this.
    pub proof: &'a ConvexProof,
    /// See [`judge_depth`](crate::judge::judge_depth).
    pub face: &'a Direction,
    /// See [`judge_depth`](crate::judge::judge_depth).
    pub surface: Option<&'a Surface>,
}
