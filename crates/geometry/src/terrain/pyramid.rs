//! The least and greatest heights of blocks of cells, of twice as many cells a side from level to
//! level, up to the whole field. It takes less than an eighth of what the heights take twice.

use std::ops::Range;

/// A side of a block of the lowest level, cells.
pub(super) const BLOCK: u32 = 4;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Pyramid {
    /// From blocks of [`BLOCK`] cells a side to one block.
    levels: Vec<BlockLevel>,
}

#[derive(Clone, Debug)]
struct BlockLevel {
    rows: u32,
    columns: u32,
    /// Least and greatest height of each block; of one without cells, what nothing is within.
    ranges: Vec<[f32; 2]>,
}

/// The range of no height.
pub(super) const NO_HEIGHT: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

/// A block of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    level: u8,
    row: u32,
    column: u32,
}

pub(super) fn joined([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
    [a.min(c), b.max(d)]
}

impl Pyramid {
    /// Over so many rows and columns of cells, whose ranges of heights these are.
    pub(super) fn new(cells: [u32; 2], of_cell: &impl Fn(u32, u32) -> [f32; 2]) -> Self {
        let mut levels = Vec::new();
        let [mut rows, mut columns] = cells.map(|count| count.div_ceil(BLOCK));
        loop {
            let ranges = vec![NO_HEIGHT; rows as usize * columns as usize];
            levels.push(BlockLevel { rows, columns, ranges });
            if rows == 1 && columns == 1 {
                break;
            }
            [rows, columns] = [rows.div_ceil(2), columns.div_ceil(2)];
        }
        let mut pyramid = Self { levels };
        pyramid.renew(cells, [0..cells[0], 0..cells[1]], of_cell);
        pyramid
    }

    /// Looks again at what holds these rows and columns of cells, of so many in all.
    pub(super) fn renew(
        &mut self,
        cells: [u32; 2],
        changed: [Range<u32>; 2],
        of_cell: &impl Fn(u32, u32) -> [f32; 2],
    ) {
        let holding = |range: Range<u32>, by: u32| range.start / by..range.end.div_ceil(by);
        let mut blocks = changed.map(|range| holding(range, BLOCK));
        for level in 0..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(level);
            let here = &mut above[0];
            for row in blocks[0].clone() {
                for column in blocks[1].clone() {
                    let range = match below.last() {
                        None => of_cells(cells, [row, column], of_cell),
                        Some(below) => below.of_four(row, column),
                    };
                    here.ranges[row as usize * here.columns as usize + column as usize] = range;
                }
            }
            blocks = blocks.map(|range| holding(range, 2));
        }
    }

    /// The block of all cells.
    pub(super) fn root(&self) -> Block {
        let level = u8::try_from(self.levels.len() - 1).expect("as many as 32 bits at most");
        Block { level, row: 0, column: 0 }
    }

    /// Its least and greatest height.
    #[inline]
    pub(super) fn range(&self, block: Block) -> [f32; 2] {
        self.levels[usize::from(block.level)].at(block.row, block.column).unwrap_or(NO_HEIGHT)
    }

    /// The four blocks that it is made of, some of which may be beyond the field.
    #[inline]
    pub(super) fn quarters(block: Block) -> Option<[Block; 4]> {
        let level = block.level.checked_sub(1)?;
        let (row, column) = (2 * block.row, 2 * block.column);
        Some([(0, 0), (0, 1), (1, 0), (1, 1)].map(|(r, c)| Block {
            level,
            row: row + r,
            column: column + c,
        }))
    }

    /// The rows and columns of cells that a block holds, of so many in all.
    #[inline]
    pub(super) fn cells(block: Block, of: [u32; 2]) -> [Range<u32>; 2] {
        let side = u64::from(BLOCK) << block.level;
        let clip = |at: u64, most: u32| u32::try_from(at.min(u64::from(most))).unwrap_or(most);
        let along = |at: u32, most: u32| {
            let start = u64::from(at) * side;
            clip(start, most)..clip(start + side, most)
        };
        [along(block.row, of[0]), along(block.column, of[1])]
    }

    /// Memory that it takes, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.levels.iter().map(|level| size_of_val(level) + size_of_val(&level.ranges[..])).sum()
    }
}

impl BlockLevel {
    #[inline]
    fn at(&self, row: u32, column: u32) -> Option<[f32; 2]> {
        let is_inside = row < self.rows && column < self.columns;
        is_inside.then(|| self.ranges[row as usize * self.columns as usize + column as usize])
    }

    fn of_four(&self, row: u32, column: u32) -> [f32; 2] {
        let four = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let found = four.map(|(r, c)| self.at(2 * row + r, 2 * column + c).unwrap_or(NO_HEIGHT));
        found.into_iter().fold(NO_HEIGHT, joined)
    }
}

fn of_cells(
    cells: [u32; 2],
    [row, column]: [u32; 2],
    of_cell: &impl Fn(u32, u32) -> [f32; 2],
) -> [f32; 2] {
    let [rows, columns] = Pyramid::cells(Block { level: 0, row, column }, cells);
    let each = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
    each.map(|(row, column)| of_cell(row, column)).fold(NO_HEIGHT, joined)
}
