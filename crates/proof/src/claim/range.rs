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
/// the verdict is all there is to prove. Of rounded bodies, with R the exact sum of their radii and
/// M the difference of the polytopes: the t for which `t d` is within R of M.
#[derive(Clone, Debug, PartialEq)]
pub enum RangeProof {
    /// There is none: `s·m > R |s|` for all of M, and `s·d <= 0`. A nearest point is that of all
    /// that the differences less `t d` sweep for `t >= 0`.
    Never {
        /// The direction s, along which M is beyond the origin.
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
    /// s, with `s·m >= s·(t d) + R |s|` for all of M, t being the outer bound: `s·d` is positive
    /// where the range begins and negative where it ends. A nearest point is that of the
    /// differences less this `t d`.
    pub direction: Direction,
    /// At most four, whose differences have in their hull a point within R of `t d` for some t of
    /// the bracket.
    pub pairs: ArrayVec<VertexPair, 4>,
}

/// What is said of the `t >= 0` for which P, moved by t times a direction, meets Q.
#[derive(Clone, Copy, Debug)]
pub struct RangeClaim<'a> {
    /// The direction along which P is moved: any finite vector.
    pub along: Vec3,
    /// How the bodies stand at t = 0, which is proven apart.
    pub verdict: Verdict,
    /// Brackets of the first and the last such t; none: never.
    pub span: Option<Span>,
    /// None is needed along zero.
    pub proof: Option<&'a RangeProof>,
}
