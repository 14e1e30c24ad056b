//! A field's cells in groups: blocks of the pyramid, and below these two by two cells and single
//! ones.

use arrayvec::ArrayVec;

use super::field::HeightField;
use super::pyramid::{BLOCK, Block, NO_HEIGHT, Pyramid, joined};
use crate::polyhedron::tree::Extent;

/// Neighbouring cells.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldGroup {
    /// Those of a block.
    Block(Block),
    /// As many rows and columns as `side`, from these on, as far as the field has them.
    Cells {
        /// The first row.
        row: u32,
        /// The first column.
        column: u32,
        /// How many of both.
        side: u32,
    },
}

impl FieldGroup {
    /// All cells.
    pub(crate) fn root(field: &HeightField) -> Self {
        Self::Block(field.pyramid().root())
    }

    /// The box around it in the field's frame, exactly; none of holes.
    pub(crate) fn extent(self, field: &HeightField) -> Option<Extent> {
        let [rows, columns] = field.lattice().cells();
        let (cells, range) = match self {
            Self::Block(block) => {
                (Pyramid::cells(block, [rows, columns]), field.pyramid().range(block))
            }
            Self::Cells { row, column, side } => {
                let cells = [row..(row + side).min(rows), column..(column + side).min(columns)];
                let each = cells[0]
                    .clone()
                    .flat_map(|row| cells[1].clone().map(move |column| field.range(row, column)));
                let range = each.fold(NO_HEIGHT, joined);
                (cells, range)
            }
        };
        (range[0] <= range[1]).then(|| field.extent_of(cells, range))
    }

    /// Its quarters; of one cell none.
    pub(crate) fn parts(self, field: &HeightField) -> Option<ArrayVec<Self, 4>> {
        let quarters = |row: u32, column: u32, side: u32| {
            let [rows, columns] = field.lattice().cells();
            let at = [(0, 0), (0, side), (side, 0), (side, side)];
            let each = at.map(|(r, c)| (row + r, column + c)).into_iter();
            let within = each.filter(|(row, column)| *row < rows && *column < columns);
            within.map(|(row, column)| Self::Cells { row, column, side }).collect()
        };
        match self {
            Self::Block(block) => Some(match Pyramid::quarters(block) {
                Some(quarters) => quarters.map(Self::Block).into_iter().collect(),
                None => {
                    let [rows, columns] = Pyramid::cells(block, field.lattice().cells());
                    quarters(rows.start, columns.start, BLOCK / 2)
                }
            }),
            Self::Cells { side: 1, .. } => None,
            Self::Cells { row, column, side } => Some(quarters(row, column, side / 2)),
        }
    }

    /// The numbers of the triangles of one cell.
    pub(crate) fn triangles(self, field: &HeightField) -> [u32; 2] {
        let [row, column] = match self {
            Self::Cells { row, column, .. } => [row, column],
            Self::Block(block) => {
                let [rows, columns] = Pyramid::cells(block, field.lattice().cells());
                [rows.start, columns.start]
            }
        };
        let first = 2 * (row * field.lattice().cells()[1] + column);
        [first, first + 1]
    }
}
