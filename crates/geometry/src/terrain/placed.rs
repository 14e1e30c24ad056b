//! A height field where it is: which of its cells may be near a box.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;

use super::field::HeightField;
use super::pyramid::{Block, Pyramid};
use crate::effort::{Effort, Stopped};
use crate::polyhedron::placed::{magnitude, placed_box, slack_of};
use crate::polyhedron::tree::Extent;
use crate::pose::Pose;
use crate::{Mat3, Vec3};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct PlacedField<'a> {
    /// In its own frame.
    pub field: &'a HeightField,
    /// From its frame to the world.
    pub pose: Pose,
    /// The magnitudes of the rotation's entries.
    rotation: Mat3,
    /// Every rounded coordinate of a placed vertex is within this of the exact one.
    slack: f64,
}

/// A cell, and a box in the world that holds it exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedCell {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) extent: Extent,
}

/// Of a pyramid over the cells of 32-bit numbers three quarters of a block on each level wait at a
/// time, and the four of the lowest.
const OPEN_MAX: usize = 3 * 32 + 1;

impl<'a> PlacedField<'a> {
    /// Where its frame is in this pose.
    pub fn new(field: &'a HeightField, pose: Pose) -> Self {
        let [low, high] = field.held();
        let slack = slack_of(magnitude(&low.abs().sup(&high.abs()), &pose), &pose);
        Self { field, pose, rotation: pose.rotation.abs(), slack }
    }

    /// How far a rounded coordinate of a placed vertex may be off, metres.
    pub(super) fn slack(&self) -> f64 {
        self.slack
    }

    /// The box in the world around one in its frame.
    pub(super) fn placed(&self, in_field: &Extent) -> Extent {
        placed_box(in_field, &self.pose, &self.rotation, self.slack)
    }

    /// The corners of a triangle in the world, rounded.
    pub(super) fn corners_rounded(&self, corners: &[Vec3; 3]) -> [Vec3; 3] {
        corners.each_ref().map(|corner| self.pose.apply_rounded(corner))
    }

    /// The box in the world around a block; none of a block without cells.
    pub(super) fn extent(&self, block: Block) -> Option<Extent> {
        let range = self.field.pyramid().range(block);
        let cells = Pyramid::cells(block, self.field.lattice().cells());
        (range[0] <= range[1]).then(|| self.placed(&self.field.extent_of(cells, range)))
    }

    /// The cells of a block of the lowest level, or of any other.
    pub(super) fn cells_of(&self, block: Block) -> impl Iterator<Item = PlacedCell> + '_ {
        let [rows, columns] = Pyramid::cells(block, self.field.lattice().cells());
        let each = rows.flat_map(move |row| columns.clone().map(move |column| (row, column)));
        each.filter_map(|(row, column)| {
            let extent = self.placed(&self.field.cell_extent(row, column)?);
            Some(PlacedCell { row, column, extent })
        })
    }

    /// Hands over the cells whose boxes meet a box in the world, always in the same order, until
    /// that is enough. Each block that is looked at is a step.
    pub(super) fn each_near(
        &self,
        within: &Extent,
        effort: &mut Effort<'_>,
        mut take: impl FnMut(PlacedCell, &mut Effort<'_>) -> Result<ControlFlow<()>, Stopped>,
    ) -> Result<(), Stopped> {
        let mut open = ArrayVec::<Block, OPEN_MAX>::new();
        open.push(self.field.pyramid().root());
        while let Some(block) = open.pop() {
            effort.spend_step()?;
            if !self.extent(block).is_some_and(|extent| extent.meets(within)) {
                continue;
            }
            if let Some(quarters) = Pyramid::quarters(block) {
                open.extend(quarters.into_iter().rev());
                continue;
            }
            for cell in self.cells_of(block) {
                if cell.extent.meets(within) && take(cell, effort)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
