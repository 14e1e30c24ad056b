//! How two bodies stand one of which at least is rounded, and what proves it.

use arrayvec::ArrayVec;

use super::depth::Surface;
use super::direction::Direction;
use super::motion::MotionClaim;
use super::verdict::Verdict;
use crate::vertex_pair::VertexPair;

/// The proof of a verdict on `P ⊕ B(r1)` and `Q ⊕ B(r2)`, polytopes with balls around all their
/// points.
///
/// It speaks about the polytopes P and Q, with v the point nearest the origin in the hull of the
/// pairs' differences and R the exact sum of the radii, which is more than 0:
/// - separated: the least of `v·y / |v|` over M is more than R;
/// - touching: |v| is R, and the least of `v·y / |v|` over M is not less than that;
/// - overlapping: |v| is less than R.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedProof {
    /// What is proven.
    pub verdict: Verdict,
    /// One to three; of bodies that overlap one to six.
    pub pairs: ArrayVec<VertexPair, 6>,
}

/// What is said of a margin beside that, metres.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedMargin {
    /// Finite and not negative.
    pub margin: f64,
    /// Whether the distance is at most that, or is more.
    pub is_within: bool,
    /// At most three, which show it of separated bodies as those of a [`super::MarginClaim`] do,
    /// with R more than the margin. None: the pairs of the verdict do.
    pub pairs: ArrayVec<VertexPair, 3>,
}

/// What is said of how deep rounded bodies overlap, metres.
#[derive(Clone, Copy, Debug)]
pub struct RoundedDepthClaim<'a> {
    /// At least and at most so deep.
    pub bounds: [f64; 2],
    /// Along which M reaches from the origin by at most the upper bound less R.
    pub face: &'a Direction,
    /// In M around the origin, no nearer than the lower bound less R.
    pub surface: Option<&'a Surface>,
}

/// What is claimed of a course of polytopes that are rounded.
#[derive(Clone, Copy, Debug)]
pub struct RoundedMotionClaim<'a> {
    /// How the bodies stand at t = 0, with its proof.
    pub initial: &'a RoundedProof,
    /// Where no link says it, what shows that at t = 0 they are farther apart than the margin, as
    /// the pairs of a [`RoundedMargin`] do. None: the pairs of the verdict do.
    pub start: &'a [VertexPair],
    /// What is claimed of the polytopes, whose verdict it leaves to `initial`.
    pub motion: MotionClaim<'a>,
}
