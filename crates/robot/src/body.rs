//! What a part of a robot is, or what stands still: a polytope, or a polyhedron.
//!
//! A body of another kind is a variant here; the compiler then names each place that has to know.

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::polyhedron::Polyhedron;
use clearance_geometry::polytope::Polytope;

/// See the module; cheap to clone.
#[derive(Clone, Debug)]
pub enum PartBody {
    /// A polytope.
    Polytope(Arc<Polytope>),
    /// The closed region that a mesh bounds.
    Polyhedron(HulledPolyhedron),
}

/// A polyhedron and its hull: what is apart from the hull is apart from the polyhedron.
#[derive(Clone, Debug)]
pub struct HulledPolyhedron {
    /// The polyhedron.
    pub polyhedron: Arc<Polyhedron>,
    /// The hull of its vertices.
    pub hull: Arc<Polytope>,
}

impl From<Arc<Polytope>> for PartBody {
    fn from(polytope: Arc<Polytope>) -> Self {
        Self::Polytope(polytope)
    }
}

impl PartBody {
    /// A body with this hull: the polyhedron, or the hull itself.
    pub fn new(hull: Arc<Polytope>, polyhedron: Option<Arc<Polyhedron>>) -> Self {
        match polyhedron {
            Some(polyhedron) => Self::Polyhedron(HulledPolyhedron { polyhedron, hull }),
            None => Self::Polytope(hull),
        }
    }

    /// The body, if it is a polytope.
    pub fn polytope(&self) -> Option<&Arc<Polytope>> {
        match self {
            Self::Polytope(polytope) => Some(polytope),
            Self::Polyhedron(_) => None,
        }
    }

    /// The body, if it is a polyhedron.
    pub fn polyhedron(&self) -> Option<&Arc<Polyhedron>> {
        match self {
            Self::Polytope(_) => None,
            Self::Polyhedron(body) => Some(&body.polyhedron),
        }
    }

    /// A polytope that holds the body: itself, or its hull. What meets the hull need not meet the
    /// body.
    pub fn hull(&self) -> &Arc<Polytope> {
        match self {
            Self::Polytope(polytope) => polytope,
            Self::Polyhedron(body) => &body.hull,
        }
    }

    /// Its vertices, as clients number them.
    pub fn vertices(&self) -> &[Vec3] {
        match self {
            Self::Polytope(polytope) => polytope.vertices(),
            Self::Polyhedron(body) => body.polyhedron.vertices(),
        }
    }
}
