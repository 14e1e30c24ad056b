//! How a convex body stands to a height field, exactly; how far both may move before that changes;
//! and whether they are within a margin.
//!
//! Triangles that are not under the body's box are apart. Most others are below it, or above, as
//! their planes show with an error bound. What is left is decided like any two convex bodies.

use std::ops::ControlFlow;

use super::piece::{ConvexPiece, SeenPiece, between};
use super::placed::{PlacedCell, PlacedField};
use crate::Vec3;
use crate::claim::Verdict;
use crate::distance::{Stops, compare};
use crate::effort::{Effort, Stopped};
use crate::faces::distance::Near;
use crate::hull::convex_hull;
use crate::pair::{Pair, Placed};
use crate::polytope::Polytope;
use crate::rounded::{self, RoundedPair};
use crate::separation::{METHODS, decide, room_of};
use crate::witness::{Memory, Witness};

/// How they stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldStanding {
    /// Separated, touching or overlapping, as of a surface.
    pub verdict: Verdict,
    /// The verdict is the same wherever the points of both have moved less than this, in all,
    /// metres; 0 where nothing is known.
    pub room: f64,
    /// The number of a triangle that meets the body, if one does; see
    /// [`HeightField`](super::HeightField).
    pub triangle: Option<u32>,
}

/// A field and a convex body beside it.
#[derive(Clone, Copy, Debug)]
pub struct FieldBeside<'a> {
    /// The field, where it is.
    pub field: PlacedField<'a>,
    /// The body, where it is.
    pub piece: ConvexPiece<'a>,
}

/// A triangle as a convex body in the frame of its field.
pub(super) fn triangle_body(corners: &[Vec3; 3]) -> Result<Polytope, Stopped> {
    convex_hull(corners).map(|hull| hull.polytope).map_err(|_| Stopped::Unresolved)
}

impl FieldBeside<'_> {
    /// Decides how they stand. The witness holds the triangle that met the body last, and how.
    pub fn stand(
        &self,
        wants_room: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<FieldStanding, Stopped> {
        effort.one_question(|effort| {
            if let Some(known) = self.remembered(wants_room, witness, effort)? {
                return Ok(known);
            }
            *witness = Witness::default();
            let bounds = self.piece.placed.body.bounds();
            let wanted = if wants_room { (bounds.radius + self.piece.radius) / 2.0 } else { 0.0 };
            let seen = SeenPiece::still(&self.piece);
            let apart = FieldStanding { verdict: Verdict::Separated, room: wanted, triangle: None };
            let mut looking =
                Looking { beside: self, seen, wanted, wants_room, found: apart, witness };
            let near = looking.seen.within(self.piece.radius + wanted);
            self.field.each_near(&near, effort, |cell, effort| looking.look(&cell, effort))?;
            Ok(looking.found)
        })
    }

    /// Whether the triangle that met the body last still overlaps it: nothing else can change that.
    fn remembered(
        &self,
        wants_room: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<FieldStanding>, Stopped> {
        let Memory::OfTriangle(triangle) = witness.memory else { return Ok(None) };
        let Some(corners) = self.field.field.triangle(triangle) else { return Ok(None) };
        let body = triangle_body(&corners)?;
        let (verdict, room) = self.decide(&body, wants_room, witness, effort)?;
        let overlaps = verdict == Verdict::Overlapping;
        witness.memory = Memory::OfTriangle(triangle);
        effort.cost.witness_hits += u64::from(overlaps);
        Ok(overlaps.then_some(FieldStanding { verdict, room, triangle: Some(triangle) }))
    }

    pub(super) fn pair<'b>(&'b self, triangle: &'b Polytope) -> Pair<'b> {
        Pair { p: Placed { body: triangle, pose: self.field.pose }, q: self.piece.placed }
    }

    /// How a triangle and the body stand, with the room of that.
    fn decide(
        &self,
        triangle: &Polytope,
        wants_room: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<(Verdict, f64), Stopped> {
        let pair = self.pair(triangle);
        if self.piece.radius > 0.0 {
            let pair = RoundedPair { cores: pair, radii: [0.0, self.piece.radius] };
            let proof = rounded::verdict(&pair, witness, effort)?;
            let room = if wants_room { rounded::room_of(&pair, &proof) } else { 0.0 };
            return Ok((proof.verdict, room));
        }
        let decision = decide(&pair, &METHODS[0], witness, effort)?;
        let room = if wants_room { room_of(&pair, &decision, witness) } else { 0.0 };
        Ok((decision.verdict(), room))
    }

    /// Points of a triangle and of the body that are the same, or nearest, rounded.
    pub fn common_points(
        &self,
        triangle: u32,
        effort: &mut Effort<'_>,
    ) -> Result<Option<[Vec3; 2]>, Stopped> {
        let Some(corners) = self.field.field.triangle(triangle) else { return Ok(None) };
        let body = triangle_body(&corners)?;
        let radii = [0.0, self.piece.radius];
        let near = Near::of(&self.pair(&body), radii, Stops::default(), effort)?;
        Ok(Some(near.closest))
    }

    /// Whether they are within a margin, exactly; of two that are separated.
    pub fn is_within(&self, margin: f64, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        effort.one_question(|effort| {
            let (seen, reach) = (SeenPiece::still(&self.piece), self.piece.radius + margin);
            let near = seen.within(reach.next_up());
            let mut is_within = false;
            self.field.each_near(&near, effort, |cell, effort| {
                for (_, corners) in triangles_of(&self.field, &cell) {
                    if self.gap(&seen, &corners, 2.0 * reach) > reach.next_up() {
                        continue;
                    }
                    effort.spend_step()?;
                    if self.is_triangle_within(&triangle_body(&corners)?, margin, effort)? {
                        is_within = true;
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(is_within)
        })
    }

    fn is_triangle_within(
        &self,
        triangle: &Polytope,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let (pair, witness) = (self.pair(triangle), &mut Witness::default());
        if self.piece.radius > 0.0 {
            let pair = RoundedPair { cores: pair, radii: [0.0, self.piece.radius] };
            return Ok(rounded::compare(&pair, margin, witness, effort)?.is_within);
        }
        Ok(compare(&pair, margin, witness, effort)?.is_within)
    }

    /// At most how far a triangle is from the body, without its balls, metres; see there.
    pub(super) fn gap(&self, seen: &SeenPiece, corners: &[Vec3; 3], enough: f64) -> f64 {
        seen.gap(&self.field.corners_rounded(corners), self.field.slack(), enough)
    }
}

/// The triangles of a cell with their numbers.
pub(super) fn triangles_of(
    field: &PlacedField<'_>,
    cell: &PlacedCell,
) -> impl Iterator<Item = (u32, [Vec3; 3])> {
    let first = 2 * (cell.row * field.field.lattice().cells()[1] + cell.column);
    let corners = field.field.corners(cell.row, cell.column);
    let corners = corners.map(|three| three.map(|[row, column]| field.field.vertex(row, column)));
    (first..).zip(corners)
}

/// The look at all triangles that are near.
struct Looking<'a, 'b> {
    beside: &'b FieldBeside<'a>,
    seen: SeenPiece,
    /// More room than this is not asked for.
    wanted: f64,
    wants_room: bool,
    found: FieldStanding,
    witness: &'b mut Witness,
}

impl Looking<'_, '_> {
    /// Ends where a triangle overlaps.
    fn look(
        &mut self,
        cell: &PlacedCell,
        effort: &mut Effort<'_>,
    ) -> Result<ControlFlow<()>, Stopped> {
        let radius = self.beside.piece.radius;
        // What two boxes show, and what the planes do.
        let of_boxes = between(&cell.extent, &self.seen.extent) - radius;
        for (number, corners) in triangles_of(&self.beside.field, cell) {
            let enough = self.wanted + radius;
            let along = self.beside.gap(&self.seen, &corners, enough) - radius;
            let gap = of_boxes.max(along);
            if gap > 0.0 {
                self.found.room = self.found.room.min(gap);
                continue;
            }
            effort.spend_step()?;
            if self.decide(number, &corners, effort)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn decide(
        &mut self,
        number: u32,
        corners: &[Vec3; 3],
        effort: &mut Effort<'_>,
    ) -> Result<ControlFlow<()>, Stopped> {
        let (body, mut witness) = (triangle_body(corners)?, Witness::default());
        let (verdict, room) = self.beside.decide(&body, self.wants_room, &mut witness, effort)?;
        if verdict > self.found.verdict {
            self.found.verdict = verdict;
            self.found.triangle = Some(number);
        }
        match verdict {
            Verdict::Separated | Verdict::Touching => {
                self.found.room = self.found.room.min(room);
                Ok(ControlFlow::Continue(()))
            }
            Verdict::Overlapping => {
                self.found.room = room;
                witness.memory = Memory::OfTriangle(number);
                *self.witness = witness;
                Ok(ControlFlow::Break(()))
            }
        }
    }
}
