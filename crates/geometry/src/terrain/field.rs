//! A height field as it is given: heights over a grid, and what follows from them at once.
//!
//! Vertex (r, c), of row r and column c, is at `x = c * spacing[0]`, `y = r * spacing[1]`, each
//! rounded to the nearest f64, and z the height, in the field's frame, metres. A cell is what four
//! neighbouring vertices bound; a diagonal, of all cells the same, makes two triangles of it. A
//! cell that is a hole has none.

use std::ops::Range;

use super::pyramid::{NO_HEIGHT, Pyramid, joined};
use crate::Vec3;
use crate::hull::{HullError, convex_hull};
use crate::polyhedron::TriangleSurface;
use crate::polyhedron::tree::Extent;
use crate::polytope::Polytope;
use crate::pose::COORDINATE_MAX;

/// Which two corners of a cell its diagonal joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Diagonal {
    /// (r, c) and (r + 1, c + 1).
    #[default]
    Rising,
    /// (r, c + 1) and (r + 1, c).
    Falling,
}

/// How many heights there are, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Rows of vertices, along y; at least 2.
    pub rows: u32,
    /// Columns of vertices, along x; at least 2.
    pub columns: u32,
    /// From column to column and from row to row, metres; positive.
    pub spacing: [f64; 2],
    /// Along which diagonal every cell is cut into its two triangles.
    pub diagonal: Diagonal,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct HeightField {
    lattice: Lattice,
    /// Row by row, metres.
    heights: Vec<f32>,
    /// A bit for each cell, row by row; empty if there is no hole.
    holes: Vec<u64>,
    hole_count: u64,
    pyramid: Pyramid,
}

/// Other heights for a rectangle of vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightPatch {
    /// The first row and the first column.
    pub at: [u32; 2],
    /// How many rows and columns.
    pub size: [u32; 2],
    /// Row by row, metres.
    pub heights: Vec<f32>,
}

impl HeightPatch {
    /// Whether all its vertices are of a field, and each has a height.
    pub fn check(&self, of: &Lattice) -> Result<(), HeightFieldError> {
        let Self { at, size, heights } = self;
        let &Lattice { rows, columns, .. } = of;
        let is_within = |k: usize, most: u32| {
            size[k] > 0 && u64::from(at[k]) + u64::from(size[k]) <= u64::from(most)
        };
        if !(is_within(0, rows) && is_within(1, columns)) {
            return Err(HeightFieldError::Patch { at: *at, size: *size, rows, columns });
        }
        let (found, expected) = (heights.len(), size[0] as usize * size[1] as usize);
        if found != expected {
            return Err(HeightFieldError::Heights { found, expected });
        }
        match heights.iter().position(|height| !height.is_finite()) {
            Some(at) => Err(HeightFieldError::Height { at }),
            None => Ok(()),
        }
    }
}

/// Cells: their rows and their columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRange {
    /// The rows of cells that it spans.
    pub rows: Range<u32>,
    /// The columns of cells that it spans.
    pub columns: Range<u32>,
}

/// Why heights are no field.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum HeightFieldError {
    /// Fewer than two rows.
    #[error("a height field has at least 2 rows, not {0}")]
    Rows(u32),
    /// Fewer than two columns.
    #[error("a height field has at least 2 columns, not {0}")]
    Columns(u32),
    /// Too many cells to number their triangles.
    #[error("{rows} rows of {columns} heights are more than 2^30 cells")]
    Count {
        /// How many rows of vertices were given.
        rows: u32,
        /// How many columns of vertices were given.
        columns: u32,
    },
    /// Not positive and finite, or so large that the field would reach beyond 2^960.
    #[error("a spacing is positive and reaches no farther than 2^960, {0} does not")]
    Spacing(f64),
    /// Not one for each vertex.
    #[error("has {found} heights, not {expected}, one for each row and column")]
    Heights {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// NaN or infinite.
    #[error("height {at} is not finite")]
    Height {
        /// Which, row by row from 0.
        at: usize,
    },
    /// A hole where no cell is.
    #[error("hole {at} names cell {cell} of {cells}")]
    Hole {
        /// Which of the holes, from 0.
        at: usize,
        /// The number that it gives in place of a cell.
        cell: u32,
        /// How many there are.
        cells: u64,
    },
    /// No cell is left.
    #[error("every cell is a hole")]
    Empty,
    /// A patch reaches beyond the field, or is empty.
    #[error("a patch of {size:?} at {at:?} is not within {rows} rows and {columns} columns")]
    Patch {
        /// Its first row and column.
        at: [u32; 2],
        /// Its rows and columns.
        size: [u32; 2],
        /// How many rows of vertices the field has.
        rows: u32,
        /// How many columns of vertices the field has.
        columns: u32,
    },
}

const CELLS_MAX: u64 = 1 << 30;

impl Lattice {
    /// How many vertices; none: too many for a field.
    pub fn vertices(&self) -> Result<usize, HeightFieldError> {
        let &Self { rows, columns, .. } = self;
        if rows < 2 {
            return Err(HeightFieldError::Rows(rows));
        }
        if columns < 2 {
            return Err(HeightFieldError::Columns(columns));
        }
        let count = u64::from(rows) * u64::from(columns);
        let too_many = HeightFieldError::Count { rows, columns };
        if count > CELLS_MAX {
            return Err(too_many);
        }
        usize::try_from(count).map_err(|_| too_many)
    }

    /// Rows and columns of cells.
    pub fn cells(&self) -> [u32; 2] {
        [self.rows - 1, self.columns - 1]
    }

    /// Where the vertices of a column and of a row are, along x and along y, metres.
    #[inline]
    fn place(&self, row: u32, column: u32) -> [f64; 2] {
        [f64::from(column) * self.spacing[0], f64::from(row) * self.spacing[1]]
    }

    fn check(&self) -> Result<usize, HeightFieldError> {
        let count = self.vertices()?;
        for (spacing, far) in self.spacing.into_iter().zip(self.place(self.rows, self.columns)) {
            if !(spacing > 0.0 && far <= COORDINATE_MAX) {
                return Err(HeightFieldError::Spacing(spacing));
            }
        }
        Ok(count)
    }
}

impl HeightField {
    /// Of heights row by row, metres, and the numbers of the cells that are holes, which count row
    /// by row from 0.
    pub fn new(
        lattice: Lattice,
        heights: Vec<f32>,
        holes: &[u32],
    ) -> Result<Self, HeightFieldError> {
        let expected = lattice.check()?;
        if heights.len() != expected {
            return Err(HeightFieldError::Heights { found: heights.len(), expected });
        }
        let heights = all_finite(heights)?;
        let [rows, columns] = lattice.cells();
        let cells = u64::from(rows) * u64::from(columns);
        let mut bits = Vec::new();
        if !holes.is_empty() {
            bits = vec![0_u64; usize::try_from(cells.div_ceil(64)).expect("fewer than vertices")];
        }
        for (at, &cell) in holes.iter().enumerate() {
            if u64::from(cell) >= cells {
                return Err(HeightFieldError::Hole { at, cell, cells });
            }
            bits[cell as usize / 64] |= 1 << (cell % 64);
        }
        let hole_count: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        if hole_count == cells {
            return Err(HeightFieldError::Empty);
        }
        let pyramid = Pyramid::default();
        let mut field = Self { lattice, heights, holes: bits, hole_count, pyramid };
        field.pyramid = Pyramid::new(lattice.cells(), &|row, column| field.range(row, column));
        Ok(field)
    }

    /// Takes other heights for some vertices. Holes stay where they are.
    pub fn patch(&mut self, patch: &HeightPatch) -> Result<(), HeightFieldError> {
        patch.check(&self.lattice)?;
        let HeightPatch { at, size, heights } = patch;
        let columns = self.lattice.columns as usize;
        for (row, given) in (at[0]..).zip(heights.chunks_exact(size[1] as usize)) {
            let start = row as usize * columns + at[1] as usize;
            for (height, given) in self.heights[start..].iter_mut().zip(given) {
                // Adding zero makes -0 and +0 the same.
                *height = given + 0.0;
            }
        }
        let mut pyramid = std::mem::take(&mut self.pyramid);
        let CellRange { rows, columns } = self.cells_around(*at, *size);
        pyramid
            .renew(self.lattice.cells(), [rows, columns], &|row, column| self.range(row, column));
        self.pyramid = pyramid;
        Ok(())
    }

    /// The cells that have a corner among vertices.
    pub fn cells_around(&self, at: [u32; 2], size: [u32; 2]) -> CellRange {
        let of = self.lattice.cells();
        let along = |k: usize| at[k].saturating_sub(1)..(at[k] + size[k]).min(of[k]);
        CellRange { rows: along(0), columns: along(1) }
    }

    /// How many heights there are, and where.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Row by row, metres.
    pub fn heights(&self) -> &[f32] {
        &self.heights
    }

    /// The numbers of the cells that are holes, ascending.
    pub fn holes(&self) -> impl Iterator<Item = u32> + '_ {
        let in_word = |(at, word): (u32, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        };
        (0..).zip(&self.holes).flat_map(in_word)
    }

    /// How many cells are holes.
    pub fn hole_count(&self) -> u64 {
        self.hole_count
    }

    /// Two for each cell that is no hole.
    pub fn triangle_count(&self) -> u64 {
        let [rows, columns] = self.lattice.cells();
        2 * (u64::from(rows) * u64::from(columns) - self.hole_count)
    }

    /// Vertices that a triangle has as a corner.
    pub fn vertex_count(&self) -> usize {
        if self.hole_count == 0 {
            return self.heights.len();
        }
        let Lattice { rows, columns, .. } = self.lattice;
        let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        all.filter(|(row, column)| self.is_corner(*row, *column)).count()
    }

    /// Different edges of its triangles.
    pub fn edge_count(&self) -> usize {
        let [rows, columns] = self.lattice.cells();
        let is_cell =
            |row: u32, column: u32| row < rows && column < columns && !self.is_hole(row, column);
        let mut edges = usize::try_from(self.triangle_count() / 2).unwrap_or(usize::MAX);
        for row in 0..=rows {
            for column in 0..=columns {
                let (here, left) = (is_cell(row, column), column > 0 && is_cell(row, column - 1));
                let below = row > 0 && is_cell(row - 1, column);
                edges += usize::from(here || left) + usize::from(here || below);
            }
        }
        edges
    }

    /// Memory that it takes, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.heights[..]) + size_of_val(&self.holes[..]) + self.pyramid.bytes()
    }

    /// The lowest and the highest corner of the box around its triangles, in its own frame.
    pub fn bounds(&self) -> [Vec3; 2] {
        if self.hole_count == 0 {
            return self.held();
        }
        let [rows, columns] = self.lattice.cells();
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let extents = cells.filter_map(|(row, column)| self.cell_extent(row, column));
        let whole = extents.reduce(|all, one| all.joined(&one)).expect("a cell is no hole");
        [whole.low, whole.high]
    }

    /// The lowest and the highest corner of a box that holds it, at once: around the holes, too.
    pub fn held(&self) -> [Vec3; 2] {
        let [rows, columns] = self.lattice.cells();
        let range = self.pyramid.range(self.pyramid.root());
        let Extent { low, high } = self.extent_of([0..rows, 0..columns], range);
        [low, high]
    }

    /// That box: the field is inside, and its corners need not be vertices of the field.
    pub fn held_by(&self) -> Result<Polytope, HullError> {
        let ends = self.held();
        let corner = |at: usize| Vec3::from_fn(|axis, _| ends[at >> axis & 1][axis]);
        convex_hull(&std::array::from_fn::<Vec3, 8, _>(corner)).map(|hull| hull.polytope)
    }

    /// The same triangles as a surface: of a field that is small enough, since they take hundreds
    /// of times the memory.
    pub fn surface(&self) -> TriangleSurface {
        let [rows, columns] = self.lattice.cells();
        let all = CellRange { rows: 0..rows, columns: 0..columns };
        self.surface_of(&all).expect("a cell is no hole")
    }

    /// The triangles of some cells as a surface; none: all are holes.
    pub fn surface_of(&self, cells: &CellRange) -> Option<TriangleSurface> {
        let CellRange { rows, columns } = cells;
        let wide = columns.end - columns.start + 1;
        let (mut points, mut triangles) = (Vec::new(), Vec::new());
        for row in rows.start..=rows.end {
            for column in columns.start..=columns.end {
                points.push(self.vertex(row, column));
            }
        }
        for row in rows.clone() {
            for column in columns.clone().filter(|column| !self.is_hole(row, *column)) {
                let at = |[r, c]: [u32; 2]| (r - rows.start) * wide + (c - columns.start);
                triangles.extend(self.corners(row, column).map(|corners| corners.map(at)));
            }
        }
        TriangleSurface::new(&points, &triangles).ok()
    }

    /// Rows and columns of the corners of the two triangles of a cell, each counter-clockwise seen
    /// from above.
    pub(super) fn corners(&self, row: u32, column: u32) -> [[[u32; 2]; 3]; 2] {
        let (a, b) = ([row, column], [row, column + 1]);
        let (d, e) = ([row + 1, column], [row + 1, column + 1]);
        match self.lattice.diagonal {
            Diagonal::Rising => [[a, b, e], [a, e, d]],
            Diagonal::Falling => [[a, b, d], [b, e, d]],
        }
    }

    /// The corners of a triangle; its number is twice that of its cell, or one more.
    pub(crate) fn triangle(&self, number: u32) -> Option<[Vec3; 3]> {
        let [rows, columns] = self.lattice.cells();
        let (row, column) = (number / 2 / columns, number / 2 % columns);
        if row >= rows || self.is_hole(row, column) {
            return None;
        }
        let corners = self.corners(row, column)[number as usize % 2];
        Some(corners.map(|[row, column]| self.vertex(row, column)))
    }

    /// The number of the triangle that has these corners.
    pub fn number_of(&self, corners: &[Vec3; 3]) -> Option<u32> {
        let [x, y] = self.lattice.spacing;
        let least = |k: usize| corners.iter().map(|corner| corner[k]).fold(f64::INFINITY, f64::min);
        let (row, column) = ((least(1) / y).round() as u32, (least(0) / x).round() as u32);
        let first = 2 * (row * self.lattice.cells()[1] + column);
        [first, first + 1].into_iter().find(|number| {
            let has = |found: [Vec3; 3]| corners.iter().all(|corner| found.contains(corner));
            self.triangle(*number).is_some_and(has)
        })
    }

    #[inline]
    pub(super) fn is_hole(&self, row: u32, column: u32) -> bool {
        if self.holes.is_empty() {
            return false;
        }
        let cell = row as usize * self.lattice.cells()[1] as usize + column as usize;
        self.holes[cell / 64] >> (cell % 64) & 1 == 1
    }

    /// Whether a triangle has a vertex as its corner.
    pub(super) fn is_corner(&self, row: u32, column: u32) -> bool {
        if self.holes.is_empty() {
            return true;
        }
        let CellRange { rows, columns } = self.cells_around([row, column], [1, 1]);
        let vertex = [row, column];
        let mut cells = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        cells.any(|(row, column)| {
            !self.is_hole(row, column)
                && self.corners(row, column).iter().flatten().any(|corner| *corner == vertex)
        })
    }

    #[inline]
    pub(super) fn vertex(&self, row: u32, column: u32) -> Vec3 {
        let [x, y] = self.lattice.place(row, column);
        Vec3::new(x, y, f64::from(self.height(row, column)))
    }

    #[inline]
    fn height(&self, row: u32, column: u32) -> f32 {
        self.heights[row as usize * self.lattice.columns as usize + column as usize]
    }

    /// The least and the greatest height of a cell.
    pub(super) fn range(&self, row: u32, column: u32) -> [f32; 2] {
        if self.is_hole(row, column) {
            return NO_HEIGHT;
        }
        let corners = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let heights = corners.map(|(r, c)| self.height(row + r, column + c));
        heights.into_iter().fold(NO_HEIGHT, |range, height| joined(range, [height; 2]))
    }

    pub(super) fn pyramid(&self) -> &Pyramid {
        &self.pyramid
    }

    /// The box around a cell, exactly; none of a hole.
    #[inline]
    pub(super) fn cell_extent(&self, row: u32, column: u32) -> Option<Extent> {
        let range = self.range(row, column);
        (range[0] <= range[1]).then(|| self.extent_of([row..row + 1, column..column + 1], range))
    }

    /// The box around cells whose heights are within this range.
    #[inline]
    pub(super) fn extent_of(
        &self,
        [rows, columns]: [Range<u32>; 2],
        [least, most]: [f32; 2],
    ) -> Extent {
        let [x0, y0] = self.lattice.place(rows.start, columns.start);
        let [x1, y1] = self.lattice.place(rows.end, columns.end);
        let (low, high) = ([x0, y0, f64::from(least)], [x1, y1, f64::from(most)]);
        Extent { low: low.into(), high: high.into() }
    }
}

/// With -0 as +0.
fn all_finite(mut heights: Vec<f32>) -> Result<Vec<f32>, HeightFieldError> {
    for (at, height) in heights.iter_mut().enumerate() {
        if !height.is_finite() {
            return Err(HeightFieldError::Height { at });
        }
        *height += 0.0;
    }
    Ok(heights)
}
