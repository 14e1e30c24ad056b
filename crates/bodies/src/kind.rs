//! The kinds of bodies: which there are, and what each is called.

use crate::kinds::{KindNames, polyhedron, polytope};

/// A kind of body. The order is that of the written ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A closed mesh, convex or not: the region that it bounds.
    Polyhedron,
    /// The hull of points.
    Polytope,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Polyhedron, Self::Polytope];

    /// What becomes of points that are given without triangles.
    pub const OF_POINTS: Self = Self::Polytope;

    /// What it is called.
    pub const fn names(self) -> &'static KindNames {
        match self {
            Self::Polyhedron => &polyhedron::NAMES,
            Self::Polytope => &polytope::NAMES,
        }
    }

    /// Whether a body of this kind is its own hull, so that what holds of the hull holds of it.
    pub const fn is_its_hull(self) -> bool {
        match self {
            Self::Polyhedron => false,
            Self::Polytope => true,
        }
    }
}
