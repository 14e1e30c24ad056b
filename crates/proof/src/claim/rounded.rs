//! How two bodies stand one of which at least is rounded, and what proves it.

use arrayvec::ArrayVec;

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
