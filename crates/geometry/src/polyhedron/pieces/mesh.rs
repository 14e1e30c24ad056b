//! A mesh that is decomposed: its different triangles, and what it winds around.

use super::super::excess::frame::UnitFrame;
use super::super::excess::sheets;
use super::super::excess::surface::MeshSurface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};

/// See the module.
pub(super) struct DecomposedMesh<'a> {
    vertices: &'a [Vec3],
    triangles: Vec<[u32; 3]>,
    /// Of a closed mesh: its triangles where they are.
    wound: Option<MeshSurface>,
    /// What distances are reckoned in.
    pub(super) frame: UnitFrame,
    /// The triangles in the frame.
    pub(super) surface: MeshSurface,
}

impl<'a> DecomposedMesh<'a> {
    /// Of at least one triangle; none where all points are one. Coordinates have no negative zero.
    pub(super) fn new(
        vertices: &'a [Vec3],
        triangles: &[[u32; 3]],
        effort: &Effort<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let sheets = sheets::of(triangles, effort)?;
        let closed = sheets::are_closed(&sheets, effort)?;
        let named = triangles.as_flattened().iter().map(|&i| &vertices[i as usize]);
        let Some(frame) = UnitFrame::around(named) else { return Ok(None) };
        let wound = if closed { Some(MeshSurface::new(vertices, &sheets, effort)?) } else { None };
        let points: Vec<Vec3> = vertices.iter().map(|p| frame.inward(p)).collect();
        let surface = MeshSurface::new(&points, &sheets, effort)?;
        let triangles = sheets.iter().map(|sheet| sheet.corners).collect();
        Ok(Some(Self { vertices, triangles, wound, frame, surface }))
    }

    /// Number of different triangles.
    pub(super) fn count(&self) -> usize {
        self.triangles.len()
    }

    /// One of them, where it is.
    pub(super) fn triangle(&self, at: u32) -> [Vec3; 3] {
        self.triangles[at as usize].map(|i| self.vertices[i as usize])
    }

    /// Whether what it winds around belongs to it.
    pub(super) fn is_closed(&self) -> bool {
        self.wound.is_some()
    }

    /// Of a closed mesh: its triangles, to ask what they wind around.
    pub(super) fn wound(&self) -> Option<&MeshSurface> {
        self.wound.as_ref()
    }
}
