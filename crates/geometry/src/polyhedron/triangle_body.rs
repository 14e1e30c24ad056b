//! What triangles are, shared: the region that they bound, or their union and nothing beside it.

use std::sync::Arc;

use super::groups::BoundaryKind;
use super::mesh::Polyhedron;
use super::surface::TriangleSurface;
use crate::claim::SolidKind;

/// See the module; cheap to clone.
#[derive(Clone, Debug)]
pub enum TriangleBody {
    /// The closed region that they bound.
    Region(Arc<Polyhedron>),
    /// The union of them.
    Surface(Arc<TriangleSurface>),
}

impl TriangleBody {
    /// The triangles, with their vertices.
    pub fn surface(&self) -> &TriangleSurface {
        match self {
            Self::Region(region) => region.surface(),
            Self::Surface(surface) => surface,
        }
    }

    /// The region, if they bound one that is meant.
    pub fn region(&self) -> Option<&Arc<Polyhedron>> {
        match self {
            Self::Region(region) => Some(region),
            Self::Surface(_) => None,
        }
    }

    /// As searches see it.
    pub fn boundary_kind(&self) -> BoundaryKind<'_> {
        match self {
            Self::Region(region) => BoundaryKind::Region(region),
            Self::Surface(surface) => BoundaryKind::Surface(surface),
        }
    }

    /// As a judge sees it.
    pub fn solid_kind(&self) -> SolidKind<'_> {
        match self {
            Self::Region(region) => SolidKind::Region(region.triangles()),
            Self::Surface(surface) => SolidKind::Surface(surface.triangles()),
        }
    }

    /// Memory that it takes with its lists, and what may be kept of its groups, bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Region(region) => size_of::<Polyhedron>() + region.bytes(),
            Self::Surface(surface) => size_of::<TriangleSurface>() + surface.bytes(),
        }
    }

    /// Where it is in memory: two that share it are the same body.
    pub fn address(&self) -> usize {
        match self {
            Self::Region(region) => Arc::as_ptr(region) as usize,
            Self::Surface(surface) => Arc::as_ptr(surface) as usize,
        }
    }
}
