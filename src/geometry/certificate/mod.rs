//! The statements that answers carry, and (in `judge`) their judges. The judges share no code with
//! the searches: a mistake in a search costs a refused certificate, never a false one.

pub mod bodies;
pub mod judge;
pub mod judge_collision;
pub mod judge_compound;
mod judge_cover;
pub mod judge_depth;
pub mod judge_distance;
pub mod judge_faces;
mod judge_link;
pub mod judge_measures;
mod judge_meeting;
pub mod judge_motion;
mod judge_passing;
pub mod judge_range;
pub mod judge_solids;
mod judge_still;
pub mod solids;

use arrayvec::ArrayVec;

use super::Vec3;
pub use super::number::orientation::Axis;
use super::pair::VertexPair;

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

/// A world direction, in one of the three forms of which one names a separating direction of any
/// placed pair exactly, or, where something moves and nothing turns, in one of two more.
/// With `d0, d1, d2` the exact differences `q_j - p_i` of the vertex pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// These three numbers.
    Vector(Vec3),
    /// `±(d1 - d0) x (d2 - d0)`.
    Normal {
        /// Three vertex pairs.
        pairs: [VertexPair; 3],
        /// Whether the sign is minus.
        negative: bool,
    },
    /// `±(d1 - d0) x e_axis`.
    EdgeNormal {
        /// Two vertex pairs.
        pairs: [VertexPair; 2],
        /// The coordinate axis.
        axis: Axis,
        /// Whether the sign is minus.
        negative: bool,
    },
    /// `±(d1 - d0) x w`, with w the exact travel of Q relative to P over the step (of a range along
    /// d: -d). M and its copy moved by w span the solid that M sweeps; its facets are M's own and
    /// these.
    SweptNormal {
        /// Two vertex pairs.
        pairs: [VertexPair; 2],
        /// Whether the sign is minus.
        negative: bool,
    },
    /// `±w x e_axis`, where what M sweeps is flat.
    SweptAxis {
        /// The coordinate axis.
        axis: Axis,
        /// Whether the sign is minus.
        negative: bool,
    },
}

impl Direction {
    /// The opposite, in the same form.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Vector(v) => Self::Vector(-v),
            Self::Normal { pairs, negative } => Self::Normal { pairs, negative: !negative },
            Self::EdgeNormal { pairs, axis, negative } => {
                Self::EdgeNormal { pairs, axis, negative: !negative }
            }
            Self::SweptNormal { pairs, negative } => {
                Self::SweptNormal { pairs, negative: !negative }
            }
            Self::SweptAxis { axis, negative } => Self::SweptAxis { axis, negative: !negative },
        }
    }
}

/// The proof of a static verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum StaticProof {
    /// `min over Q of s·y > max over P of s·x`.
    Separated {
        /// s
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

/// The frame in which a direction of a motion chain is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Fixed in the world.
    World,
    /// Turns with P: the direction is the one at t = 0, turned by P's rotation since.
    P,
    /// Turns with Q.
    Q,
}

/// One link of a chain: the direction separates throughout the closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Start, as a fraction of the step.
    pub t0: f64,
    /// End, at least `t0`.
    pub t1: f64,
    /// Where the direction is fixed.
    pub frame: Frame,
    /// World direction at t = 0 (for pairs: differences of the poses at t = 0).
    pub direction: Direction,
}
