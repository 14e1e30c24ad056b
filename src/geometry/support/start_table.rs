//! A map from directions to vertices near their supporting vertex.
//!
//! The six faces of a cube, each divided into k x k cells; a cell names the supporting vertex of
//! its middle. The direction is scaled by the half extents of the body first: the supporting vertex
//! of a body along g is that of the body divided by its extents along g times the extents, so a
//! needle uses the cells as evenly as a ball does. A climb from the entry takes one or two moves.

use crate::geometry::Vec3;
use crate::geometry::kernel;
use crate::geometry::polytope::Polytope;

/// See the module.
#[derive(Clone, Debug)]
pub struct StartTable {
    /// Half extents, divided by the largest.
    scale: Vec3,
    /// k, cells along a side of a face.
    side: u32,
    cells: Cells,
}

/// Half the memory, and so half the cache, for all but giants.
#[derive(Clone, Debug)]
enum Cells {
    Narrow(Box<[u16]>),
    Wide(Box<[u32]>),
}

/// Cells along a side of a face for a body of so many vertices: a cell then holds less than one
/// vertex on average (6k² cells: 384, 1536, 6144, 24576), and the table stays below half the size
/// of the body's own arrays.
const fn side_for(vertices: u32) -> u32 {
    match vertices {
        0..=64 => 8,
        65..=400 => 16,
        401..=4000 => 32,
        4001.. => 64,
    }
}

impl StartTable {
    pub(in crate::geometry) fn build(body: &Polytope) -> Self {
        let extents = body.bounds().high - body.bounds().low;
        let largest = extents.amax();
        let scale = if largest > 0.0 { extents / largest } else { Vec3::new(1.0, 1.0, 1.0) };
        let side = side_for(body.vertex_count());
        let mut table = Self { scale, side, cells: Cells::Narrow(Box::default()) };
        let mut cells = vec![0u32; (6 * side * side) as usize];
        let mut vertex = 0;
        for face in 0..6 {
            for row in 0..side {
                for step in 0..side {
                    // Forth and back, so that each climb starts next to the last.
                    let column = if row.is_multiple_of(2) { step } else { side - 1 - step };
                    let g = table.middle(face, row, column);
                    let climb =
                        kernel::climb(&g, body.vertices(), &body.neighbours, vertex, u32::MAX);
                    vertex = climb.vertex;
                    cells[((face * side + row) * side + column) as usize] = vertex;
                }
            }
        }
        let narrow: Option<Box<[u16]>> = cells.iter().map(|&v| u16::try_from(v).ok()).collect();
        table.cells = narrow.map_or(Cells::Wide(cells.into()), Cells::Narrow);
        table
    }

    /// Where to start for `g`: always a vertex; near the supporting one for all but extreme
    /// exponents.
    #[inline]
    pub(super) fn start(&self, g: &Vec3) -> u32 {
        let cell = self.cell(g);
        match &self.cells {
            Cells::Narrow(cells) => u32::from(cells[cell]),
            Cells::Wide(cells) => cells[cell],
        }
    }

    #[inline]
    fn cell(&self, g: &Vec3) -> usize {
        let d = g.component_mul(&self.scale);
        let a = d.abs();
        let (axis, u, v) = if a.x >= a.y {
            if a.x >= a.z { (0, d.y, d.z) } else { (2, d.x, d.y) }
        } else if a.y >= a.z {
            (1, d.z, d.x)
        } else {
            (2, d.x, d.y)
        };
        let face = 2 * axis + usize::from(d[axis] < 0.0);
        let side = self.side as usize;
        let half = f64::from(self.side) / 2.0;
        let factor = half / a[axis];
        // A NaN becomes cell 0 and an infinity the last one: any cell is a legal start.
        let index = |w: f64| ((w * factor + half) as usize).min(side - 1);
        (face * side + index(u)) * side + index(v)
    }

    /// The middle of a cell, as a direction of the body.
    fn middle(&self, face: u32, row: u32, column: u32) -> Vec3 {
        let half = f64::from(self.side) / 2.0;
        let offset = |index: u32| (f64::from(index) + 0.5) / half - 1.0;
        let sign = if face.is_multiple_of(2) { 1.0 } else { -1.0 };
        let (u, v) = (offset(row), offset(column));
        let d = match face / 2 {
            0 => Vec3::new(sign, u, v),
            1 => Vec3::new(v, sign, u),
            _ => Vec3::new(u, v, sign),
        };
        // An axis without extent does not tell the vertices apart.
        d.zip_map(&self.scale, |d, scale| if scale > 0.0 { d / scale } else { 0.0 })
    }
}
