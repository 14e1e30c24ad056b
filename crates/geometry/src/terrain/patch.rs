//! The cells of a height field that are near another body, in rectangles of so few that surfaces
//! can be made of them: what is asked of a field beside a body that is not convex, is asked of
//! these.

use std::ops::ControlFlow;

use super::field::CellRange;
use super::piece::between;
use super::placed::PlacedField;
use crate::contact_time::Travel;
use crate::contact_time::polyhedra::Pace;
use crate::effort::{Effort, Stopped};
use crate::polyhedron::placed::{magnitude, placed_box, slack_of};
use crate::polyhedron::tree::Extent;
use crate::pose::Pose;
use crate::{Mat3, Vec3};

/// A side of a rectangle, cells.
pub(super) const TILE: u32 = 16;

/// A box along the axes of the world.
#[derive(Clone, Copy, Debug)]
pub struct WorldBox(Extent);

impl WorldBox {
    /// Around what is in a box in its own frame, placed there.
    pub fn around([low, high]: [Vec3; 2], pose: &Pose) -> Self {
        let slack = slack_of(magnitude(&low.abs().sup(&high.abs()), pose), pose);
        let rotation: Mat3 = pose.rotation.abs();
        Self(placed_box(&Extent { low, high }, pose, &rotation, slack))
    }

    /// A box around everything that there can be.
    pub fn everything() -> Self {
        let far = Vec3::repeat(f64::INFINITY);
        Self(Extent { low: -far, high: far })
    }

    /// At most how far two boxes are apart, metres.
    pub fn distance(&self, other: &Self) -> f64 {
        between(&self.0, &other.0)
    }

    /// At least when it and another box first meet over the step, as they come so far; none: never.
    pub fn entry(&self, other: &Self, [of_self, of_other]: [&Travel; 2]) -> Option<f64> {
        Pace::new(of_self, of_other).entry(&self.0, &other.0, 1.0)
    }

    /// A box around all that is within a distance of it, metres.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        let by = by * crate::number::rounding::OUTWARD;
        let Extent { low, high } = self.0;
        let (low, high) = (low.map(|x| (x - by).next_down()), high.map(|x| (x + by).next_up()));
        Self(Extent { low, high })
    }
}

impl PlacedField<'_> {
    /// The box in the world around some cells.
    pub fn box_of(&self, cells: &CellRange) -> WorldBox {
        let CellRange { rows, columns } = cells;
        let each = rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
        let extents = each.filter_map(|(row, column)| self.field.cell_extent(row, column));
        let whole = extents.reduce(|all, one| all.joined(&one));
        whole.map_or_else(WorldBox::everything, |whole| WorldBox(self.placed(&whole)))
    }

    /// Rectangles of cells that hold all cells whose boxes meet a box, in order of their places;
    /// each only as large as it must be for that.
    pub fn tiles_near(
        &self,
        near: &WorldBox,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<CellRange>, Stopped> {
        let mut tiles = std::collections::BTreeMap::<[u32; 2], CellRange>::new();
        self.each_near(&near.0, effort, |cell, _| {
            let (row, column) = (cell.row, cell.column);
            let one = || CellRange { rows: row..row + 1, columns: column..column + 1 };
            let tile = tiles.entry([row / TILE, column / TILE]).or_insert_with(one);
            tile.rows = tile.rows.start.min(row)..tile.rows.end.max(row + 1);
            tile.columns = tile.columns.start.min(column)..tile.columns.end.max(column + 1);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(tiles.into_values().collect())
    }
}
