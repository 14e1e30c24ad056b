//! The kinds of bodies: which there are, and what each is called.

use crate::kinds::{
    KindNames, cloud, curved, height_field, polyhedron, polytope, rounded, surface,
};

/// A kind of body. The order is that of the written ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Points with a ball of one radius around each: the union of them.
    Cloud,
    /// A cylinder, a cone or an ellipsoid, with a ball around each of its points if it has a
    /// radius.
    Curved,
    /// Heights over a grid: the union of the triangles of its cells.
    HeightField,
    /// A closed mesh, convex or not: the region that it bounds.
    Polyhedron,
    /// The hull of points.
    Polytope,
    /// The hull of points with a ball around each of its points.
    Rounded,
    /// Triangles and nothing beside them, whatever they bound: their union.
    Surface,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Cloud,
        Self::Curved,
        Self::HeightField,
        Self::Polyhedron,
        Self::Polytope,
        Self::Rounded,
        Self::Surface,
    ];

    /// What becomes of points that are given without triangles, with balls of this radius around
    /// all points of their hull.
    pub fn of_points(radius: f64) -> Self {
        if radius > 0.0 { Self::Rounded } else { Self::Polytope }
    }

    /// What cylinders, cones and ellipsoids are, with a radius or without.
    pub const fn of_curved() -> Self {
        Self::Curved
    }

    /// What it is called.
    pub const fn names(self) -> &'static KindNames {
        match self {
            Self::Cloud => &cloud::NAMES,
            Self::Curved => &curved::NAMES,
            Self::HeightField => &height_field::NAMES,
            Self::Polyhedron => &polyhedron::NAMES,
            Self::Polytope => &polytope::NAMES,
            Self::Rounded => &rounded::NAMES,
            Self::Surface => &surface::NAMES,
        }
    }

    /// Whether every body of this kind is convex.
    pub const fn is_convex(self) -> bool {
        match self {
            Self::Cloud | Self::HeightField | Self::Polyhedron | Self::Surface => false,
            Self::Curved | Self::Polytope | Self::Rounded => true,
        }
    }

    /// What a body of this kind is in proofs: of a height field its surface.
    pub(crate) const fn as_proven(self) -> Self {
        match self {
            Self::HeightField | Self::Surface => Self::Surface,
            Self::Cloud => Self::Cloud,
            Self::Curved => Self::Curved,
            Self::Polyhedron => Self::Polyhedron,
            Self::Polytope => Self::Polytope,
            Self::Rounded => Self::Rounded,
        }
    }

    /// Whether a body of this kind is its own hull, so that what holds of the hull holds of it.
    pub const fn is_its_hull(self) -> bool {
        match self {
            Self::Cloud
            | Self::Curved
            | Self::HeightField
            | Self::Polyhedron
            | Self::Rounded
            | Self::Surface => false,
            Self::Polytope => true,
        }
    }
}
