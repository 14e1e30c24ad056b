//! Surfaces: triangles as they are, whatever they bound. They may leave holes, cross each other and
//! come twice; the body is their union.

use std::sync::Arc;

use super::{Figures, KindNames, Outline, count, polyhedron};
use crate::digest::DIGEST_BYTES;
use clearance_geometry::hierarchy::HierarchyReport;
use clearance_geometry::polyhedron::TriangleSurface;
use clearance_geometry::polytope::Polytope;

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "surface", prefix: "s1-", tag: b"clearance surface 1\n" };

/// A surface with its hull. What is separated from the hull is separated from the surface.
#[derive(Clone, Debug)]
pub struct HulledSurface {
    /// The surface.
    pub surface: Arc<TriangleSurface>,
    /// The hull of its vertices.
    pub hull: Arc<Polytope>,
}

/// The digest of its vertices and triangles, as that of a polyhedron.
pub(crate) fn digest(surface: &TriangleSurface) -> [u8; DIGEST_BYTES] {
    polyhedron::digest_of(NAMES.tag, surface)
}

/// A surface has no volume, and the dimension of its triangles: 2, unless all are degenerate.
pub(crate) fn outline(body: &HulledSurface) -> Outline {
    let surface = &body.surface;
    Outline {
        vertex_count: count(surface.vertices().len()),
        face_count: count(surface.triangles().len()),
        dimension: surface.dimension(),
        volume: 0.0,
        bounds: surface.bounds(),
        shell_count: 0,
    }
}

pub(crate) fn figures(surface: &TriangleSurface) -> Figures {
    Figures { edge_count: count(surface.edge_count()), hierarchy: HierarchyReport::default() }
}

/// Memory that it takes with its hull, bytes.
pub(crate) fn bytes(body: &HulledSurface) -> u64 {
    (body.surface.bytes() + body.hull.heap_bytes()) as u64
}
