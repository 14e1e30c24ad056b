//! A map from directions to vertices near their supporting vertex.
//!
//! The six faces of a cube, each divided into k x k cells; a cell names the supporting vertex of
//! its middle. The direction is scaled by the half extents of the body first: the supporting vertex
//! of a body along g is that of the body divided by its extents along g times the extents, so a
//! needle uses the cells as evenly as a ball does. A climb from the entry takes one or two moves.

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::kernel::{self, Ring};
use crate::number::tolerance;
use crate::shape::Bounds;

/// See the module.
#[derive(Clone, Debug)]
pub struct StartTable {
    /// Half extents, divided by the largest.
    scale: Vec3,
    /// k, cells along a side of a face: a power of two.
    side: u32,
    /// Half of it, less a little, so that the far rim of a face is in its last cells.
    half_side: f64,
    /// `k/2 + TO_FIXED_POINT`: makes a coordinate from -k/2 to k/2 one from 0 to k in fixed point,
    /// of which the integral part is the number of its cell.
    offset: f64,
    cells: Cells,
}

/// Half the memory, and so half the cache, for all but giants.
#[derive(Clone, Debug)]
enum Cells {
    Narrow(Box<[u16]>),
    Wide(Box<[u32]>),
}

/// Cells along a side of a face for a body of so many vertices. In all 6k² cells of two bytes, so
/// 0.75, 3, 12 or 48 KB: more cells than vertices up to 24576 vertices, at a fraction of what the
/// rings take. More of them, for a few thousand vertices, would save as many climbs as they cost
/// cache.
const fn side_for(vertices: u32) -> u32 {
    match vertices {
        0..=64 => 8,
        65..=128 => 16,
        129..=4000 => 32,
        4001.. => 64,
    }
}

/// Added to a small number it leaves that as a fixed-point number of so many bits after the point,
/// the last one rounded, in its own low bits.
const TO_FIXED_POINT: f64 = 1.5 * (1u64 << (52 - FRACTION_BITS)) as f64;
/// See [`TO_FIXED_POINT`].
const FRACTION_BITS: u32 = 12;

#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl StartTable {
    /// For a body of so many vertices.
    ///
    /// Of a body with a vertex of many neighbours, which nearly every climb comes by, it takes
    /// seconds: not beyond the deadline.
    pub(super) fn build(
        bounds: &Bounds,
        vertices: u32,
        rings: &[Ring],
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let extents = bounds.high - bounds.low;
        let largest = extents.amax();
        let scale = if largest > 0.0 { extents / largest } else { Vec3::new(1.0, 1.0, 1.0) };
        let side = side_for(vertices);
        let half = f64::from(side) / 2.0;
        let mut table = Self {
            scale,
            side,
            // By more than half a unit of the fixed point in k/2, for the least k.
            half_side: half * (1.0 - tolerance::GRID_INSET),
            offset: half + TO_FIXED_POINT,
            cells: Cells::Narrow(Box::default()),
        };
        let mut cells = vec![0u32; (6 * side * side) as usize];
        let mut vertex = 0;
        for face in 0..6 {
            for row in 0..side {
                for step in 0..side {
                    effort.look_at_clock()?;
                    // Forth and back, so that each climb starts next to the last.
                    let column = if row.is_multiple_of(2) { step } else { side - 1 - step };
                    let g = table.middle(face, row, column);
                    vertex = kernel::climb(&g, rings, vertex, u32::MAX).vertex;
                    cells[((face * side + row) * side + column) as usize] = vertex;
                }
            }
        }
        let narrow: Option<Box<[u16]>> = cells.iter().map(|&v| u16::try_from(v).ok()).collect();
        table.cells = narrow.map_or(Cells::Wide(cells.into()), Cells::Narrow);
        Ok(table)
    }

    /// Memory it takes beyond itself.
    pub(super) fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Narrow(cells) => size_of_val(&**cells),
            Cells::Wide(cells) => size_of_val(&**cells),
        }
    }

    /// Where to start for `g`: always a vertex; near the supporting one for all but extreme
    /// exponents.
    #[inline(always)]
    pub(crate) fn start(&self, g: &Vec3) -> u32 {
        let cell = self.cell(g);
        match &self.cells {
            Cells::Narrow(cells) => u32::from(cells[cell]),
            Cells::Wide(cells) => cells[cell],
        }
    }

    #[inline(always)]
    fn cell(&self, g: &Vec3) -> usize {
        let d = g.component_mul(&self.scale);
        let a = d.abs();
        // The division takes longest, and does not wait for which axis it is.
        let largest = larger(larger(a.x, a.y), a.z);
        let factor = self.half_side / largest;
        let z_beats_both = (a.z > a.x) & (a.z > a.y);
        let axis = if z_beats_both { 2 } else { usize::from(a.y > a.x) };
        // Looked up and not chosen: which axis it is, is not predictable.
        let around = [d.x, d.y, d.z, d.x, d.y];
        let (major, u, v) = (around[axis], around[axis + 1], around[axis + 2]);
        let face = 2 * axis as u64 + u64::from(major.is_sign_negative());
        // The mask keeps any outcome, of a NaN too, inside the face: every cell is a legal start.
        let mask = u64::from(self.side - 1);
        let index = |w: f64| ((w * factor + self.offset).to_bits() >> FRACTION_BITS) & mask;
        let bits = self.side.trailing_zeros();
        (((face << bits) | index(u)) << bits | index(v)) as usize
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polytope::Polytope;
    use crate::samples::{ball, ellipsoid};
    use crate::until::Until;

    fn table(body: &Polytope) -> StartTable {
        let no_limit = Effort::unlimited();
        let rings = Ring::around_all(body.vertices(), &body.neighbours, &no_limit).unwrap();
        StartTable::build(body.bounds(), body.vertex_count(), &rings, &no_limit).unwrap()
    }

    #[test]
    fn a_table_and_its_rings_end_at_the_deadline() {
        let body = ball(300, 1);
        let over = Until::expired();
        let late = Effort::until(u64::MAX, &over);
        let rings = Ring::around_all(body.vertices(), &body.neighbours, &late);
        assert_eq!(rings.map(|_| ()), Err(Stopped::Deadline));
        let rings =
            Ring::around_all(body.vertices(), &body.neighbours, &Effort::unlimited()).unwrap();
        let table = StartTable::build(body.bounds(), body.vertex_count(), &rings, &late);
        assert_eq!(table.map(|_| ()), Err(Stopped::Deadline));
    }

    #[test]
    fn the_middle_of_a_cell_is_in_that_cell_and_so_is_its_neighbourhood() {
        for body in [ball(30, 1), ball(300, 1), ellipsoid(600, [9.0, 1.0, 0.2], 2)] {
            let table = table(&body);
            let side = table.side;
            for face in 0..6 {
                for row in 0..side {
                    for column in 0..side {
                        let number = ((face * side + row) * side + column) as usize;
                        let middle = table.middle(face, row, column);
                        assert_eq!(table.cell(&middle), number);
                        // Still inside: 0.9 of the way to the cell's corner.
                        let step = 0.9 / f64::from(side);
                        let axis = (face / 2) as usize;
                        let mut near = middle.component_mul(&table.scale);
                        near[(axis + 1) % 3] += step;
                        near[(axis + 2) % 3] -= step;
                        assert_eq!(table.cell(&near.component_div(&table.scale)), number);
                    }
                }
            }
        }
    }

    #[test]
    fn every_direction_has_a_cell() {
        let table = table(&ball(300, 1));
        let count = 6 * (table.side * table.side) as usize;
        let values = [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, 1e-320, 1e308, 1.0 + 1e-16];
        for x in values {
            for y in values {
                for z in values {
                    assert!(table.cell(&Vec3::new(x, y, z)) < count);
                }
            }
        }
    }
}
