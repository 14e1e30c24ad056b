//! The range of contact along a direction, and what proves it.

use arrayvec::ArrayVec;

use super::direction::Direction;
use super::verdict::Verdict;
use crate::Vec3;
use crate::vertex_pair::VertexPair;

/// Outward-rounded ends of a range of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Bracket of the first t of contact; both 0 when in contact now.
    pub enter: [f64; 2],
    /// Bracket of the last t of contact.
    pub exit: [f64; 2],
}

/// The proof of a range of contact along a direction d, the `t >= 0` with `t d` in M; along zero
/// the verdict is all there is to prove.
#[derive(Clone, Debug, PartialEq)]
pub enum RangeProof {
    /// There is none: `s·m > 0` for all of M, and `s·d <= 0`.
    Never {
        /// s
        direction: Direction,
    },
    /// There is one.
    Meets {
        /// Where it begins; none: in contact at t = 0.
        enter: Option<RangeEnd>,
        /// Where it ends.
        exit: RangeEnd,
    },
}

/// One end of a range, at a t within a bracket.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeEnd {
    /// s, with `s·m >= s·(t d)` for all of M, t being the outer bound: `s·d` is positive where the
    /// range begins and negative where it ends.
    pub direction: Direction,
    /// At most four, whose differences have `t d` in their hull for some t of the bracket.
    pub pairs: ArrayVec<VertexPair, 4>,
}

/// What is said of the `t >= 0` for which P, moved by t times a direction, meets Q.
#[derive(Clone, Copy, Debug)]
pub struct RangeClaim<'a> {
    /// Finite; P's.
    pub along: Vec3,
    /// How the bodies stand at t = 0, which is proven apart.
    pub verdict: Verdict,
    /// Brackets of the first and the last such t; none: never.
    pub span: Option<Span>,
    /// None is needed along zero.
    pub proof: Option<&'a RangeProof>,
}
