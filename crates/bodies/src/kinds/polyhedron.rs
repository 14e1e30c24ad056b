//! Polyhedra: regions that closed meshes bound, convex or not, kept as they are.

use std::sync::Arc;

use super::{Figures, KindNames, Outline, count};
use crate::digest::{DIGEST_BYTES, begun};
use clearance_geometry::hierarchy::HierarchyReport;
use clearance_geometry::polyhedron::{Polyhedron, TriangleSurface};
use clearance_geometry::polytope::Polytope;

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "polyhedron", prefix: "m1-", tag: b"clearance polyhedron 1\n" };

/// A polyhedron with its hull. What is separated from the hull is separated from the polyhedron,
/// and the proof of that can be given.
#[derive(Clone, Debug)]
pub struct HulledMesh {
    /// The polyhedron.
    pub polyhedron: Arc<Polyhedron>,
    /// The hull of its vertices.
    pub hull: Arc<Polytope>,
}

/// The digest of its vertices, then of the number of triangles as a u64 and of their vertices as
/// u32, all in their canonical order.
pub(crate) fn digest(polyhedron: &Polyhedron) -> [u8; DIGEST_BYTES] {
    digest_of(NAMES.tag, polyhedron.surface())
}

/// The same of any triangles.
pub(super) fn digest_of(tag: &[u8], surface: &TriangleSurface) -> [u8; DIGEST_BYTES] {
    let mut hasher = begun(tag, surface.vertices());
    hasher.update(&(surface.triangles().len() as u64).to_le_bytes());
    for corner in surface.triangles().as_flattened() {
        hasher.update(&corner.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

pub(crate) fn outline(polyhedron: &Polyhedron) -> Outline {
    Outline {
        vertex_count: count(polyhedron.vertices().len()),
        face_count: count(polyhedron.triangles().len()),
        dimension: 3,
        volume: polyhedron.volume(),
        bounds: polyhedron.bounds(),
        shell_count: count(polyhedron.shell_count()),
    }
}

pub(crate) fn figures(polyhedron: &Polyhedron) -> Figures {
    Figures { edge_count: count(polyhedron.edge_count()), hierarchy: HierarchyReport::default() }
}

/// Memory that it takes with its hull, bytes.
pub(crate) fn bytes(mesh: &HulledMesh) -> u64 {
    (mesh.polyhedron.bytes() + mesh.hull.heap_bytes()) as u64
}
