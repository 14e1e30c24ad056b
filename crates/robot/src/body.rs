//! What a part of a robot is, or what stands still: a polytope, a polyhedron, or of what stands
//! still a cloud of points.
//!
//! A body of another kind is a variant here; the compiler then names each place that has to know.

use std::sync::Arc;

use super::cloud::BoxedCloud;
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
    /// Balls around points; of what stands still only.
    Cloud(BoxedCloud),
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
            Self::Polyhedron(_) | Self::Cloud(_) => None,
        }
    }

    /// The body, if it is a polyhedron.
    pub fn polyhedron(&self) -> Option<&Arc<Polyhedron>> {
        match self {
            Self::Polytope(_) | Self::Cloud(_) => None,
            Self::Polyhedron(body) => Some(&body.polyhedron),
        }
    }

    /// The body, if it is a cloud.
    pub fn cloud(&self) -> Option<&BoxedCloud> {
        match self {
            Self::Polytope(_) | Self::Polyhedron(_) => None,
            Self::Cloud(cloud) => Some(cloud),
        }
    }

    /// A polytope that holds the body: itself, its hull, or a box around a cloud. What meets it
    /// need not meet the body.
    pub fn hull(&self) -> &Arc<Polytope> {
        match self {
            Self::Polytope(polytope) => polytope,
            Self::Polyhedron(body) => &body.hull,
            Self::Cloud(cloud) => cloud.around(),
        }
    }

    /// Its vertices, as clients number them.
    pub fn vertices(&self) -> &[Vec3] {
        match self {
            Self::Polytope(polytope) => polytope.vertices(),
            Self::Polyhedron(body) => body.polyhedron.vertices(),
            Self::Cloud(cloud) => cloud.cloud().points(),
        }
    }
}
