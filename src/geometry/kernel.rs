//! The hot loops, as free functions over slices: how far a point lies along a direction, the
//! farthest of a block, the climb on a graph.
//!
//! Every comparison is between values of *positions* computed by one fixed expression ([`along`]).
//! So a climb is strictly increasing in a function of the vertex alone and cannot cycle; climbing
//! by rounded edge differences can, when several neighbours tie.

use super::Vec3;
use super::csr::Csr;

/// `g·x`, rounded, always in this order.
#[inline]
pub fn along(g: &Vec3, x: &Vec3) -> f64 {
    (g.x * x.x + g.y * x.y) + g.z * x.z
}

/// Where a climb stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Climb {
    /// The vertex it reached.
    pub vertex: u32,
    /// Its rounded value.
    pub value: f64,
    /// Vertices evaluated.
    pub visited: u32,
    /// Whether no neighbour has a larger rounded value; otherwise the steps ran out.
    pub finished: bool,
}

/// The first point with the largest rounded value along `g`; `points` is not empty.
pub fn farthest(g: &Vec3, points: &[Vec3]) -> (u32, f64) {
    let mut best = (0, along(g, &points[0]));
    for (index, point) in (1u32..).zip(&points[1..]) {
        let value = along(g, point);
        if value > best.1 {
            best = (index, value);
        }
    }
    best
}

/// Steepest climb on `graph` from `start`: evaluates the neighbours of at most `steps` vertices.
///
/// `points[graph vertex]` must exist for all; `start` is in range.
#[inline]
pub fn climb(g: &Vec3, points: &[Vec3], graph: &Csr, start: u32, steps: u32) -> Climb {
    let mut vertex = start;
    let mut value = along(g, &points[start as usize]);
    let mut visited = 1;
    for _ in 0..steps {
        let mut best = vertex;
        let row = graph.row(vertex);
        for &next in row {
            let there = along(g, &points[next as usize]);
            // A NaN (overflow) is never larger, so the climb ends there.
            if there > value {
                value = there;
                best = next;
            }
        }
        visited += u32::try_from(row.len()).expect("degrees are below 2^32");
        if best == vertex {
            return Climb { vertex, value, visited, finished: true };
        }
        vertex = best;
    }
    Climb { vertex, value, visited, finished: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(length: u32) -> (Vec<Vec3>, Csr) {
        let points = (0..length).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        let rows = (0..length).map(|i| {
            let mut row = Vec::new();
            row.extend(i.checked_sub(1));
            row.extend((i + 1 < length).then_some(i + 1));
            row
        });
        (points, Csr::from_rows(rows))
    }

    #[test]
    fn a_climb_ends_at_the_top_or_says_that_its_steps_ran_out() {
        let (points, graph) = path(10);
        let g = Vec3::new(1.0, 0.0, 0.0);
        let top = climb(&g, &points, &graph, 2, 100);
        assert_eq!((top.vertex, top.finished), (9, true));
        let cut = climb(&g, &points, &graph, 2, 3);
        assert_eq!((cut.vertex, cut.finished), (5, false));
    }

    #[test]
    fn a_climb_along_a_direction_that_overflows_ends() {
        let (points, graph) = path(5);
        let g = Vec3::new(f64::INFINITY, f64::NEG_INFINITY, 0.0);
        assert!(climb(&g, &points, &graph, 1, u32::MAX).finished);
    }

    #[test]
    fn the_first_of_equal_points_is_the_farthest() {
        let points = [1.0, 3.0, 3.0, 2.0].map(|x| Vec3::new(x, 0.0, 0.0));
        assert_eq!(farthest(&Vec3::new(1.0, 0.0, 0.0), &points).0, 1);
    }
}
