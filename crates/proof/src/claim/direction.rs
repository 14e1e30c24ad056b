//! Directions as certificates state them: numbers, or vertex pairs that name one exactly.

use crate::Vec3;
pub use crate::number::orientation::Axis;
use crate::vertex_pair::VertexPair;

/// A direction in the world. One of the first three forms names a separating direction of any
/// placed pair exactly; the others serve distances and translations. `d0, d1, d2` are the exact
/// differences `q_j - p_i` of the vertex pairs.
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
    /// `±v`, with v the point nearest the origin in the hull of d0, d1 and d2. In a link of a
    /// motion that turns nothing, v is the nearest in all that this hull sweeps during the link.
    /// Along it bodies have the gap that is their distance, exactly, or their least distance during
    /// the link.
    Nearest {
        /// Three vertex pairs; of fewer corners one stands in several places.
        pairs: [VertexPair; 3],
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
    /// That of the point nearest the origin in the hull of the differences of one to three pairs.
    pub fn nearest(pairs: &[VertexPair]) -> Option<Self> {
        let is_hull = (1..=3).contains(&pairs.len());
        let corner = |k: usize| pairs[k.min(pairs.len() - 1)];
        let of = || Self::Nearest { pairs: std::array::from_fn(corner), negative: false };
        is_hull.then(of)
    }

    /// The same direction where vertex pairs have other names; none if one of them has none.
    pub fn renamed(&self, name: impl Fn(VertexPair) -> Option<VertexPair>) -> Option<Self> {
        Some(match *self {
            Self::Vector(_) | Self::SweptAxis { .. } => *self,
            Self::Normal { pairs: [a, b, c], negative } => {
                Self::Normal { pairs: [name(a)?, name(b)?, name(c)?], negative }
            }
            Self::EdgeNormal { pairs: [a, b], axis, negative } => {
                Self::EdgeNormal { pairs: [name(a)?, name(b)?], axis, negative }
            }
            Self::Nearest { pairs: [a, b, c], negative } => {
                Self::Nearest { pairs: [name(a)?, name(b)?, name(c)?], negative }
            }
            Self::SweptNormal { pairs: [a, b], negative } => {
                Self::SweptNormal { pairs: [name(a)?, name(b)?], negative }
            }
        })
    }

    /// The opposite, in the same form.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Vector(v) => Self::Vector(-v),
            Self::Normal { pairs, negative } => Self::Normal { pairs, negative: !negative },
            Self::EdgeNormal { pairs, axis, negative } => {
                Self::EdgeNormal { pairs, axis, negative: !negative }
            }
            Self::Nearest { pairs, negative } => Self::Nearest { pairs, negative: !negative },
            Self::SweptNormal { pairs, negative } => {
                Self::SweptNormal { pairs, negative: !negative }
            }
            Self::SweptAxis { axis, negative } => Self::SweptAxis { axis, negative: !negative },
        }
    }
}
