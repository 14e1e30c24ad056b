//! Height fields: terrain as heights over a grid. The body is the union of the triangles of its
//! cells, as a surface is, and only the heights are kept.

use std::sync::{Arc, OnceLock};

use super::surface::HulledSurface;
use super::{Figures, KindNames, Outline, count};
use crate::digest::DIGEST_BYTES;
use clearance_geometry::hierarchy::HierarchyReport;
use clearance_geometry::hull::{HullError, convex_hull};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::terrain::{Diagonal, HeightField};

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "height field", prefix: "h1-", tag: b"clearance height field 1\n" };

/// A field of more triangles has no list of them: nobody gets its vertices and facets, and what is
/// found of it has no proof.
pub const SPELLED_TRIANGLES_MAX: u64 = 1 << 13;

/// What the lists of a field may take for each triangle, bytes, with what is kept of their groups.
const SPELLED_BYTES: u64 = 768;

/// A height field with a box that holds it. What is separated from the box is separated from the
/// field; but its corners are no vertices of the field, so that no proof names them.
#[derive(Clone, Debug)]
pub struct BoxedField {
    /// The field.
    pub field: Arc<HeightField>,
    /// The box.
    pub held_by: Arc<Polytope>,
    /// The same as lists, made when somebody asks for them.
    spelled: Arc<OnceLock<Option<HulledSurface>>>,
}

impl BoxedField {
    /// The field in its box.
    pub fn new(field: Arc<HeightField>) -> Result<Self, HullError> {
        let held_by = Arc::new(field.held_by()?);
        Ok(Self { field, held_by, spelled: Arc::default() })
    }

    fn is_spelled(&self) -> bool {
        self.field.triangle_count() <= SPELLED_TRIANGLES_MAX
    }

    /// The same triangles as a surface; none of a field that has too many.
    pub(crate) fn spelled(&self) -> Option<&HulledSurface> {
        if !self.is_spelled() {
            return None;
        }
        let make = || {
            let surface = Arc::new(self.field.surface());
            // The vertices of a surface are points that a hull can be built of.
            let hull = convex_hull(surface.vertices()).ok()?.polytope;
            Some(HulledSurface { surface, hull: Arc::new(hull) })
        };
        self.spelled.get_or_init(make).as_ref()
    }
}

/// The digest of rows and columns as u32, both spacings as f64, the diagonal as a byte (0 rising, 1
/// falling), the heights row by row as f32, the number of holes as u64 and the holes ascending as
/// u32, all little-endian.
pub(crate) fn digest(field: &HeightField) -> [u8; DIGEST_BYTES] {
    let lattice = field.lattice();
    let mut hasher = blake3::Hasher::new();
    hasher.update(NAMES.tag);
    hasher.update(&lattice.rows.to_le_bytes());
    hasher.update(&lattice.columns.to_le_bytes());
    for spacing in lattice.spacing {
        hasher.update(&spacing.to_le_bytes());
    }
    hasher.update(&[match lattice.diagonal {
        Diagonal::Rising => 0,
        Diagonal::Falling => 1,
    }]);
    for heights in field.heights().chunks(1 << 12) {
        let bytes: Vec<u8> = heights.iter().flat_map(|height| height.to_le_bytes()).collect();
        hasher.update(&bytes);
    }
    hasher.update(&field.hole_count().to_le_bytes());
    let holes: Vec<u8> = field.holes().flat_map(u32::to_le_bytes).collect();
    hasher.update(&holes);
    *hasher.finalize().as_bytes()
}

pub(crate) fn outline(body: &BoxedField) -> Outline {
    let field = &body.field;
    Outline {
        vertex_count: count(field.vertex_count()),
        face_count: u32::try_from(field.triangle_count()).unwrap_or(u32::MAX),
        dimension: 2,
        volume: 0.0,
        bounds: field.bounds(),
        shell_count: 0,
    }
}

pub(crate) fn figures(field: &HeightField) -> Figures {
    Figures { edge_count: count(field.edge_count()), hierarchy: HierarchyReport::default() }
}

/// Memory that it takes with its box, bytes, and what its lists may take.
pub(crate) fn bytes(body: &BoxedField) -> u64 {
    let lists = if body.is_spelled() { SPELLED_BYTES * body.field.triangle_count() } else { 0 };
    (body.field.bytes() + body.held_by.heap_bytes()) as u64 + lists
}
