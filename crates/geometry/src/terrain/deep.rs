//! How deep a convex body is in a height field: in the triangle that it is deepest in.

use std::ops::ControlFlow;

use super::piece::SeenPiece;
use super::standing::{FieldBeside, triangle_body, triangles_of};
use crate::effort::{Effort, Stopped};
use crate::faces::deep::{PieceDepth, depth_of};

impl FieldBeside<'_> {
    /// Finds the triangle that overlaps the body deepest; none: no triangle does. P is the field,
    /// whose triangles have the numbers of [`HeightField`](super::HeightField).
    pub fn deepest(&self, effort: &mut Effort<'_>) -> Result<Option<PieceDepth>, Stopped> {
        effort.one_question(|effort| {
            let (seen, radius) = (SeenPiece::still(&self.piece), self.piece.radius);
            let mut best: Option<PieceDepth> = None;
            self.field.each_near(&seen.within(radius), effort, |cell, effort| {
                for (number, corners) in triangles_of(&self.field, &cell) {
                    if self.gap(&seen, &corners, 2.0 * radius) > radius {
                        continue;
                    }
                    effort.spend_step()?;
                    let body = triangle_body(&corners)?;
                    let found = depth_of(&self.pair(&body), [0.0, radius], effort)?;
                    let found = PieceDepth { pieces: [number, 0], ..found };
                    best = deeper(best, found);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(best)
        })
    }
}

/// The deeper of two, with an upper bound that holds for both.
pub fn deeper(known: Option<PieceDepth>, found: PieceDepth) -> Option<PieceDepth> {
    if found.bounds[1] <= 0.0 {
        return known;
    }
    let Some(known) = known else { return Some(found) };
    let upper = known.bounds[1].max(found.bounds[1]);
    let deeper = if found.bounds[0] > known.bounds[0] { found } else { known };
    Some(PieceDepth { bounds: [deeper.bounds[0], upper], ..deeper })
}
