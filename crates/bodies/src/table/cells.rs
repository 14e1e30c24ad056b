//! A height field and another body. Beside a convex body its triangles are asked one by one, of
//! those that are near. Beside any other one, rectangles of near cells are asked as surfaces, and
//! what is told of the nearest, or of the first that is met, is told of the field.
//!
//! Where a proof is wanted, a field of few triangles is asked as the surface that it is, so that
//! the proof is about all of it. A field of more has none.

use std::sync::Arc;

use super::row::{NotAnswered, Wanted};
use crate::Kind;
use crate::body::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::Pair;
use clearance_geometry::terrain::standing::FieldBeside;
use clearance_geometry::terrain::{CellRange, ConvexPiece, HeightField, PlacedField, WorldBox};

/// Two bodies of which one at least is a height field, ready.
#[derive(Clone, Debug)]
pub(super) struct ReadyCells {
    pub(super) bodies: [PlacedBody; 2],
}

/// What is told of bodies that are not convex is told of surfaces, which are answered.
pub(super) fn answered<T>(found: Result<T, NotAnswered>) -> Result<T, Stopped> {
    found.map_err(|why| {
        debug_assert!(false, "surfaces are answered: {why}");
        Stopped::Unresolved
    })
}

impl ReadyCells {
    pub(super) fn new(bodies: [PlacedBody; 2]) -> Self {
        Self { bodies }
    }

    /// Both as lists of triangles, where a proof is wanted and they have few enough.
    pub(super) fn spelled(&self, wanted: Wanted) -> Option<[PlacedBody; 2]> {
        let [p, q] = &self.bodies;
        let (of_p, of_q) = wanted.certificate.then(|| (p.body.spelled(), q.body.spelled()))?;
        let placed = |body, placed: &PlacedBody| PlacedBody { body, pose: placed.pose };
        Some([placed(of_p?, p), placed(of_q?, q)])
    }

    /// Which of the bodies is the field that is asked by its cells, and the field.
    pub(super) fn field(&self) -> Option<(usize, &Arc<HeightField>)> {
        (0..2).find_map(|k| Some((k, self.bodies[k].body.height_field()?)))
    }

    /// The field beside the other body, if that is convex, and which of the two the field is.
    pub(super) fn beside(&self) -> Option<(usize, FieldBeside<'_>)> {
        let (k, field) = self.field()?;
        let other = &self.bodies[1 - k];
        let piece = ConvexPiece { placed: other.hull(), radius: other.body.radius() };
        let field = PlacedField::new(field, self.bodies[k].pose);
        other.body.kind().is_convex().then_some((k, FieldBeside { field, piece }))
    }

    /// Around the other body, and what is within a distance of it, metres.
    pub(super) fn around(&self, other: usize, reach: f64) -> WorldBox {
        let PlacedBody { body, pose } = &self.bodies[other];
        WorldBox::around(box_of(body), pose).widened(reach + body.radius())
    }

    /// The field's near cells as surfaces, each beside the other body, with at most how far the two
    /// are apart, the nearest first.
    pub(super) fn tiles(
        &self,
        near: &WorldBox,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<(f64, CellRange)>, Stopped> {
        let Some((k, field)) = self.field() else { return Ok(Vec::new()) };
        let placed = PlacedField::new(field, self.bodies[k].pose);
        let other = self.around(1 - k, 0.0);
        let tiles = placed.tiles_near(near, effort)?;
        let bound = |tile: CellRange| (placed.box_of(&tile).distance(&other), tile);
        let mut tiles: Vec<(f64, CellRange)> = tiles.into_iter().map(bound).collect();
        tiles.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(tiles)
    }

    /// Some cells in place of the field; none: all are holes.
    pub(super) fn with_cells(&self, cells: &CellRange) -> Result<Option<[PlacedBody; 2]>, Stopped> {
        let Some((k, field)) = self.field() else { return Ok(None) };
        let Some(surface) = field.surface_of(cells) else { return Ok(None) };
        let hull = convex_hull(surface.vertices()).map_err(|_| Stopped::Unresolved)?.polytope;
        let mut bodies = self.bodies.clone();
        bodies[k].body = Body::of_surface(surface, hull);
        Ok(Some(bodies))
    }
}

/// The corners of the box around a body in its own frame; of what is rounded, around the polytope.
pub(super) fn box_of(body: &Body) -> [Vec3; 2] {
    let bounds = body.hull().bounds();
    [bounds.low, bounds.high]
}

/// The body beside the field, which nobody looks at in the place of this.
pub(super) fn only<'a>(beside: &FieldBeside<'a>) -> Pair<'a> {
    Pair { p: beside.piece.placed, q: beside.piece.placed }
}

pub(super) fn kinds(bodies: &[PlacedBody; 2]) -> [Kind; 2] {
    bodies.each_ref().map(|placed| placed.body.kind())
}
