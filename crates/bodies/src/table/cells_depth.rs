//! How deep a height field and another body overlap: beside a convex body by its triangles that are
//! near, else by rectangles of near cells.

use super::cells::{ReadyCells, answered, kinds};
use super::depth::{DepthQuestion, MeasuredDepth, between, of_none};
use super::row::Wanted;
use super::verdict::VerdictQuestion;
use crate::body::Body;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::deep::{PieceDepth, depth_of};
use clearance_geometry::pair::Pair;
use clearance_geometry::terrain::deep::deeper;

/// Of a height field and another body.
impl ReadyCells {
    /// How deep they overlap.
    pub(super) fn depth(&self, effort: &mut Effort<'_>) -> Result<MeasuredDepth, Stopped> {
        let bodies = self.bodies.clone();
        let question = answered(VerdictQuestion::of(kinds(&bodies), None))?;
        let ready = answered(question.prepare(bodies))?;
        let verdict = ready.answer(Wanted::NO_PROOF, effort).decided?.verdict;
        if verdict != Verdict::Overlapping {
            return Ok(of_none(verdict));
        }
        let [p, q] = &self.bodies;
        let pair = Pair { p: p.hull(), q: q.hull() };
        let hulls = depth_of(&pair, [p.body.radius(), q.body.radius()], effort)?;
        let pieces = match self.beside() {
            Some((k, beside)) => beside.deepest(effort).map(|found| {
                let found = found?;
                let [of_field, of_other] = found.pieces;
                let turned = PieceDepth {
                    pieces: [of_other, of_field],
                    direction: -found.direction,
                    ..found
                };
                Some(if k == 0 { found } else { turned })
            }),
            None => self.deepest_by_tiles(effort),
        };
        Ok(between(pieces, hulls))
    }

    fn deepest_by_tiles(&self, effort: &mut Effort<'_>) -> Result<Option<PieceDepth>, Stopped> {
        let Some((k, field)) = self.field() else { return Err(Stopped::Unresolved) };
        let mut best = None;
        for (_, cells) in self.tiles(&self.around(1 - k, 0.0), effort)? {
            effort.spend_step()?;
            let Some(bodies) = self.with_cells(&cells)? else { continue };
            let question = answered(DepthQuestion::of(kinds(&bodies)))?;
            let tile = bodies[k].body.clone();
            let ready = answered(question.prepare(bodies))?;
            let answer = ready.answer(false, effort)?;
            let Some(mut found) = answer.pieces() else { continue };
            let Body::Surface(tile) = &tile else { continue };
            let corners = tile.surface.triangles()[found.pieces[k] as usize];
            let corners = corners.map(|vertex| tile.surface.vertices()[vertex as usize]);
            found.pieces[k] = field.number_of(&corners).ok_or(Stopped::Unresolved)?;
            best = deeper(best, found);
        }
        Ok(best)
    }
}
