//! Judges of certificates: exact, from scratch, sharing nothing with the searches.

use super::StaticProof;
use crate::geometry::pair::Pair;

/// Why a certificate is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A vertex index is out of range.
    #[error("vertex pair {0} names a vertex that does not exist")]
    NoSuchVertex(usize),
    /// The direction is zero or not finite.
    #[error("the direction is zero or not finite")]
    NoDirection,
    /// The direction does not separate the bodies.
    #[error("the direction does not separate")]
    NotSeparating,
    /// The direction does not support both bodies at a common plane.
    #[error("the direction does not touch")]
    NotTouching,
    /// The differences of the pairs do not hold the origin as they should.
    #[error("the vertex pairs do not hold the origin")]
    OriginNotHeld,
    /// Too few or too many vertex pairs.
    #[error("a certificate of this kind takes {0} vertex pairs")]
    PairCount(&'static str),
    /// Links do not join, or do not cover the interval.
    #[error("the chain does not cover the interval: link {0}")]
    ChainGap(usize),
    /// A link's direction does not separate throughout its interval.
    #[error("link {0} does not separate throughout its interval")]
    LinkFails(usize),
    /// A stated bound is not implied.
    #[error("the stated bound is not implied: {0}")]
    BoundFails(&'static str),
}

/// Proves the statement from scratch, in exact arithmetic, looking at every vertex.
pub fn judge_static(pair: &Pair<'_>, proof: &StaticProof) -> Result<(), Refusal> {
    let _ = (pair, proof);
    todo!("judge")
}
