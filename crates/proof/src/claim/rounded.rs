//! How two bodies stand one of which at least is rounded, and what proves it.

use arrayvec::ArrayVec;

use super::depth::Surface;
use super::direction::Direction;
use super::motion::MotionClaim;
use super::verdict::{StaticProof, Verdict};
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

/// The proof of how two bodies stand each of which may be rounded.
#[derive(Clone, Debug, PartialEq)]
pub enum ConvexProof {
    /// About polytopes. Of rounded ones it is a direction that separates these: along it the gap
    /// between the polytopes, by its length, is more than the exact sum of the radii.
    Polytopes(StaticProof),
    /// About rounded polytopes.
    Rounded(RoundedProof),
}

impl ConvexProof {
    /// Tells which verdict it proves.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Polytopes(proof) => proof.verdict(),
            Self::Rounded(proof) => proof.verdict,
        }
    }

    /// Of bodies that do not overlap: along which Q lies from P. It separates those that are apart,
    /// and is square to the common plane of those that touch.
    pub fn direction(&self) -> Option<Direction> {
        match self {
            Self::Polytopes(
                StaticProof::Separated { direction } | StaticProof::Touching { direction, .. },
            ) => Some(*direction),
            Self::Polytopes(StaticProof::Overlapping { .. }) => None,
            Self::Rounded(proof) => match proof.verdict {
                Verdict::Separated | Verdict::Touching => Direction::nearest(&proof.pairs),
                Verdict::Overlapping => None,
            },
        }
    }
}

impl From<StaticProof> for ConvexProof {
    fn from(proof: StaticProof) -> Self {
        Self::Polytopes(proof)
    }
}

impl From<RoundedProof> for ConvexProof {
    fn from(proof: RoundedProof) -> Self {
        Self::Rounded(proof)
    }
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
    pub initial: &'a ConvexProof,
    /// Where no link says it, what shows that at t = 0 they are farther apart than the margin, as
    /// pairs of a [`super::MarginClaim`] do. None: what proves the verdict does.
    pub start: &'a [VertexPair],
    /// What is claimed of the polytopes, whose verdict it leaves to `initial`.
    pub motion: MotionClaim<'a>,
}
