//! What a part of a robot is, or what stands still: a polytope, or triangles with what they bound,
//! or without it; or of what stands still a cloud of points.
//!
//! A body of another kind is a variant here; the compiler then names each place that has to know.

use std::sync::Arc;

use super::cloud::BoxedCloud;
use clearance_geometry::Vec3;
use clearance_geometry::claim::SolidKind;
use clearance_geometry::polyhedron::{BoundaryKind, TriangleBody};
use clearance_geometry::polytope::Polytope;

/// See the module; cheap to clone.
#[derive(Clone, Debug)]
pub enum PartBody {
    /// A polytope.
    Polytope(Arc<Polytope>),
    /// The closed region that a mesh bounds, or its surface.
    Mesh(HulledMesh),
    /// Balls around points; of what stands still only.
    Cloud(BoxedCloud),
}

/// A mesh and its hull: what is apart from the hull is apart from the body that the mesh is.
#[derive(Clone, Debug)]
pub struct HulledMesh {
    /// The body.
    pub mesh: TriangleBody,
    /// The hull of its vertices.
    pub hull: Arc<Polytope>,
}

impl From<Arc<Polytope>> for PartBody {
    fn from(polytope: Arc<Polytope>) -> Self {
        Self::Polytope(polytope)
    }
}

impl PartBody {
    /// A body with this hull: the mesh, or the hull itself.
    pub fn new(hull: Arc<Polytope>, mesh: Option<TriangleBody>) -> Self {
        match mesh {
            Some(mesh) => Self::Mesh(HulledMesh { mesh, hull }),
            None => Self::Polytope(hull),
        }
    }

    /// The body, if it is a polytope.
    pub fn polytope(&self) -> Option<&Arc<Polytope>> {
        match self {
            Self::Polytope(polytope) => Some(polytope),
            Self::Mesh(_) | Self::Cloud(_) => None,
        }
    }

    /// The body, if it is made of triangles.
    pub fn mesh(&self) -> Option<&TriangleBody> {
        match self {
            Self::Polytope(_) | Self::Cloud(_) => None,
            Self::Mesh(body) => Some(&body.mesh),
        }
    }

    /// The body, if it is a cloud.
    pub fn cloud(&self) -> Option<&BoxedCloud> {
        match self {
            Self::Polytope(_) | Self::Mesh(_) => None,
            Self::Cloud(cloud) => Some(cloud),
        }
    }

    /// Whether it is the region that a mesh bounds.
    pub fn is_region(&self) -> bool {
        self.mesh().is_some_and(|mesh| mesh.region().is_some())
    }

    /// A polytope that holds the body: itself, its hull, or a box around a cloud. What meets it
    /// need not meet the body.
    pub fn hull(&self) -> &Arc<Polytope> {
        match self {
            Self::Polytope(polytope) => polytope,
            Self::Mesh(body) => &body.hull,
            Self::Cloud(cloud) => cloud.around(),
        }
    }

    /// Its vertices, as clients number them.
    pub fn vertices(&self) -> &[Vec3] {
        match self {
            Self::Polytope(polytope) => polytope.vertices(),
            Self::Mesh(body) => body.mesh.surface().vertices(),
            Self::Cloud(cloud) => cloud.cloud().points(),
        }
    }

    /// As searches see it; a cloud's faces nobody asks about.
    pub fn boundary_kind(&self) -> BoundaryKind<'_> {
        match self {
            Self::Polytope(_) | Self::Cloud(_) => BoundaryKind::Hull,
            Self::Mesh(body) => body.mesh.boundary_kind(),
        }
    }

    /// As a judge sees it; no certificate is about a cloud.
    pub fn solid_kind(&self) -> SolidKind<'_> {
        match self {
            Self::Polytope(_) | Self::Cloud(_) => SolidKind::Hull,
            Self::Mesh(body) => body.mesh.solid_kind(),
        }
    }
}
