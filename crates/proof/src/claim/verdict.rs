//! How two bodies stand, and what proves it.

use arrayvec::ArrayVec;

use super::direction::Direction;
use crate::vertex_pair::VertexPair;

/// How two closed sets stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// No common point.
    Separated,
    /// Common points, but only of the boundaries: the origin is on the boundary of M.
    Touching,
    /// The origin is interior to M.
    Overlapping,
}

/// The proof of a static verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum StaticProof {
    /// `min over Q of s·y > max over P of s·x`.
    Separated {
        /// The direction s, along which the two are apart.
        direction: Direction,
    },
    /// `min s·y = max s·x`, and the origin is in the hull of the pairs' differences.
    Touching {
        /// s, not zero
        direction: Direction,
        /// One to three.
        pairs: ArrayVec<VertexPair, 3>,
    },
    /// The origin is strictly inside the hull of the pairs' differences.
    Overlapping {
        /// Four in general position, never more than six.
        pairs: ArrayVec<VertexPair, 6>,
    },
}

impl StaticProof {
    /// The verdict that this proves.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Separated { .. } => Verdict::Separated,
            Self::Touching { .. } => Verdict::Touching,
            Self::Overlapping { .. } => Verdict::Overlapping,
        }
    }
}
