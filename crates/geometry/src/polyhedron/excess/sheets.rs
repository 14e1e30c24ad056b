//! The different triangles of a mesh, and how often each comes.
//!
//! A file may name one triangle very often: a face of 900,000 corners among four vertices is as
//! many triangles in a dozen places, which no tree of boxes tells apart. Where a mesh is, each of
//! them says once; how often it winds around a point is the sum over all.

use crate::effort::{Effort, Stopped};
use crate::until::sort_by;

/// A triangle that comes once or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::polyhedron) struct Sheet {
    /// Three vertices of the mesh; where they are different, in the order that comes more often.
    pub(in crate::polyhedron) corners: [u32; 3],
    /// How much more often than the other order; 0 without an area.
    pub(in crate::polyhedron) winds: i64,
}

/// The different triangles, by their vertices.
pub(in crate::polyhedron) fn of(
    triangles: &[[u32; 3]],
    effort: &Effort<'_>,
) -> Result<Vec<Sheet>, Stopped> {
    let mut named: Vec<([u32; 3], i64)> = Vec::with_capacity(triangles.len());
    for triangle in triangles {
        named.push(in_order(*triangle));
    }
    sort_by(&mut named, Ord::cmp, || effort.look_at_clock())?;
    let mut sheets = Vec::new();
    for same in named.chunk_by(|a, b| a.0 == b.0) {
        let ([a, b, c], winds) = (same[0].0, same.iter().map(|one| one.1).sum::<i64>());
        let corners = if winds < 0 { [a, c, b] } else { [a, b, c] };
        sheets.push(Sheet { corners, winds: winds.abs() });
    }
    Ok(sheets)
}

/// Whether every directed edge comes as often as its opposite. A triangle with two equal corners
/// has no area and closes nothing.
pub(in crate::polyhedron) fn are_closed(
    sheets: &[Sheet],
    effort: &Effort<'_>,
) -> Result<bool, Stopped> {
    let mut edges: Vec<([u32; 2], i64)> = Vec::with_capacity(3 * sheets.len());
    for &Sheet { corners: [a, b, c], winds } in sheets {
        let directed = [[a, b], [b, c], [c, a]];
        edges.extend(directed.map(|[u, v]| if u < v { ([u, v], winds) } else { ([v, u], -winds) }));
    }
    sort_by(&mut edges, Ord::cmp, || effort.look_at_clock())?;
    let sum = |same: &[([u32; 2], i64)]| same.iter().map(|edge| edge.1).sum::<i64>();
    Ok(edges.chunk_by(|a, b| a.0 == b.0).all(|same| sum(same) == 0))
}

/// The vertices in ascending order, and whether an even or an odd number of exchanges leads there:
/// 1 or -1; 0 where two are equal.
fn in_order([a, b, c]: [u32; 3]) -> ([u32; 3], i64) {
    let mut sorted = [a, b, c];
    sorted.sort_unstable();
    let is_even = [[a, b, c], [b, c, a], [c, a, b]].contains(&sorted);
    let sign = if is_even { 1 } else { -1 };
    (sorted, if a == b || b == c || c == a { 0 } else { sign })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_that_comes_often_is_one_sheet() {
        let triangles = [[2, 0, 1], [0, 1, 2], [1, 0, 2], [5, 4, 3], [7, 7, 1], [3, 5, 4]];
        let sheets = of(&triangles, &Effort::unlimited()).unwrap();
        let expected = [([0, 1, 2], 1), ([1, 7, 7], 0), ([3, 5, 4], 2)];
        let found: Vec<_> = sheets.iter().map(|sheet| (sheet.corners, sheet.winds)).collect();
        assert_eq!(found, expected);
    }
}
