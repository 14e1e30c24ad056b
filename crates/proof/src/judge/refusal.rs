//! Why a judge refuses a certificate.

use crate::effort::Stopped;

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
    /// Vertices are named that are no face of the body.
    #[error("the vertices named are no face of {0}")]
    NotAFace(&'static str),
    /// Faces that are said to share a point do not.
    #[error("the faces named do not meet as they should")]
    FacesApart,
    /// A point that is said to be strictly inside both bodies is not.
    #[error("the point is not strictly inside {0}")]
    NotInside(&'static str),
    /// A cover lists too little, too much, or what cannot be.
    #[error("the cover is not one of all pairs of faces: step {0}")]
    CoverGap(usize),
    /// A step of a cover does not separate.
    #[error("step {0} of the cover does not separate")]
    CoverFails(usize),
    /// A cover takes longer to judge than anything that the server makes.
    #[error("the cover looks at too many vertices")]
    CoverTooLong,
    /// The surfaces are separated, and one body is or may be within the other.
    #[error("a part of {0} may be inside the other body")]
    Within(&'static str),
    /// The proof says nothing about two of the bodies.
    #[error("nothing shows that the bodies {0} and {1} do not meet")]
    PairOpen(u32, u32),
    /// The proof about two of several bodies is refused.
    #[error("the bodies {0} and {1}: {2}")]
    PairFails(u32, u32, Box<Refusal>),
    /// The list of pairs names what is no pair, or the same twice, or is not in order.
    #[error("the pairs are not listed in order: {0}")]
    PairOrder(usize),
    /// An entry names a part that a body does not have.
    #[error("it names a part that does not exist")]
    NoSuchPart,
    /// An entry names a part of a body more than once.
    #[error("it names a part twice")]
    PartTwice,
    /// An entry about several parts of a body says what can only be said of one.
    #[error("of several parts together a proof is a vector that separates them")]
    SeveralParts,
    /// The proof says nothing about two of the parts.
    #[error("no entry is about part {0} of P and part {1} of Q")]
    PartsOpen(u32, u32),
    /// The proof about some parts is refused.
    #[error("entry {0}: {1}")]
    EntryFails(usize, Box<Refusal>),
    /// A polytope that is said to be in a curved body, or around it, is not.
    #[error("{0}")]
    NotBetween(&'static str),
    /// There was no effort left to look at all of it.
    #[error("stopped before all of the certificate was looked at")]
    Stopped(Stopped),
    /// A stated bound is not implied.
    #[error("the stated bound is not implied: {0}")]
    BoundFails(&'static str),
}

impl From<Stopped> for Refusal {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}
