//! What a triangle and a box have in common, as f64 points around it.
//!
//! The corners of what they have in common are of three kinds: corners of the triangle in the box,
//! where an edge of the triangle crosses a side of the box, and where an edge of the box crosses
//! the triangle. Which of them there are is decided exactly. Those of the second and third kind
//! need not be f64 points: of each a box is given that holds it, an ulp or so wide.

use super::super::tree::Extent;
use crate::Vec3;
use crate::number::Sign;
use crate::number::interval::{self, Interval};
use crate::number::orientation::{Axis, Turn, turn};

/// Points around what triangles and a box have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    /// Corners that are f64 points.
    pub(super) points: Vec<Vec3>,
    /// Boxes that hold one corner each, with the axis along which it is known exactly.
    pub(super) around: Vec<(usize, Extent)>,
}

impl Common {
    /// Adds the corners of what a triangle has in common with the box.
    pub(super) fn add(&mut self, triangle: &[Vec3; 3], room: &Extent) {
        let extent = extent_of(triangle);
        if !extent.meets(room) {
            return;
        }
        let before = self.points.len();
        self.points.extend(triangle.iter().filter(|corner| holds(room, corner)));
        if self.points.len() == before + 3 {
            return;
        }
        let [a, b, c] = triangle;
        for ends in [[a, b], [b, c], [c, a]] {
            for axis in 0..3 {
                for at in [room.low[axis], room.high[axis]] {
                    let crossing = edge_crossing(ends, axis, at);
                    self.add_corner(axis, crossing, room);
                }
            }
        }
        for axis in Axis::ALL {
            let (i, j) = axis.others();
            for at in [room.low[i], room.high[i]] {
                for beside in [room.low[j], room.high[j]] {
                    let mut foot = Vec3::zeros();
                    (foot[i], foot[j]) = (at, beside);
                    self.add_corner(i, inner_crossing(triangle, axis, &foot), room);
                }
            }
        }
    }

    /// A corner, unless it is surely outside of the box.
    fn add_corner(&mut self, axis: usize, crossing: Option<Extent>, room: &Extent) {
        let Some(found) = crossing.filter(|found| found.meets(room)) else { return };
        // The corner matters only if it is in the box.
        let within = Extent { low: found.low.sup(&room.low), high: found.high.inf(&room.high) };
        if (within.high - within.low).amax() <= 0.0 {
            self.points.push(within.low);
        } else {
            self.around.push((axis, within));
        }
    }
}

/// The box around a triangle.
pub(super) fn extent_of([a, b, c]: &[Vec3; 3]) -> Extent {
    Extent { low: a.inf(b).inf(c), high: a.sup(b).sup(c) }
}

/// Whether a point is in a box.
pub(super) fn holds(room: &Extent, point: &Vec3) -> bool {
    (0..3).all(|k| room.low[k] <= point[k] && point[k] <= room.high[k])
}

/// Where a segment with its ends on different sides of `x[axis] = at` crosses it.
fn edge_crossing([p, q]: [&Vec3; 2], axis: usize, at: f64) -> Option<Extent> {
    let [p, q] = if p[axis] < q[axis] { [p, q] } else { [q, p] };
    if !(p[axis] < at && at < q[axis]) {
        return None;
    }
    let whole = Interval::difference(q[axis], p[axis]).reciprocal_of_positive();
    let share = (Interval::difference(at, p[axis]) * whole).intersect(Interval::new(0.0, 1.0));
    let along = |k: usize| {
        if k == axis {
            Interval::point(at)
        } else if (q[k] - p[k]).abs() <= 0.0 {
            Interval::point(p[k])
        } else {
            let between = Interval::new(p[k].min(q[k]), p[k].max(q[k]));
            let from = Interval::point(p[k]) + share * Interval::difference(q[k], p[k]);
            from.intersect(between)
        }
    };
    Some(extent_of_intervals([0, 1, 2].map(along)))
}

/// Where the line along `axis` through `foot` crosses the inside of a triangle.
fn inner_crossing(triangle: &[Vec3; 3], axis: Axis, foot: &Vec3) -> Option<Extent> {
    let [a, b, c] = triangle;
    let (m, (i, j)) = (axis.index(), axis.others());
    let extent = extent_of(triangle);
    let is_beside = |k: usize| foot[k] <= extent.low[k] || extent.high[k] <= foot[k];
    if is_beside(i) || is_beside(j) {
        return None;
    }
    let turned = turn(axis, a, b, foot);
    let is_inside = turned != Turn::Straight
        && turn(axis, b, c, foot) == turned
        && turn(axis, c, a, foot) == turned;
    if !is_inside {
        return None;
    }
    let along = |k: usize| {
        if k != m {
            return Interval::point(foot[k]);
        }
        let between = Interval::new(extent.low[m], extent.high[m]);
        if extent.high[m] <= extent.low[m] {
            return between;
        }
        let from = |p: &Vec3, q: &Vec3| [0, 1, 2].map(|k| Interval::difference(p[k], q[k]));
        let normal = interval::cross(&from(b, a), &from(c, a));
        let rise = normal[i] * Interval::difference(foot[i], a[i])
            + normal[j] * Interval::difference(foot[j], a[j]);
        let steep = match normal[m].sign() {
            Some(Sign::Positive) => normal[m].reciprocal_of_positive(),
            Some(Sign::Negative) => -(-normal[m]).reciprocal_of_positive(),
            Some(Sign::Zero) | None => Interval::ENTIRE,
        };
        (Interval::point(a[m]) - rise * steep).intersect(between)
    };
    Some(extent_of_intervals([0, 1, 2].map(along)))
}

fn extent_of_intervals([x, y, z]: [Interval; 3]) -> Extent {
    Extent {
        low: Vec3::new(x.low(), y.low(), z.low()),
        high: Vec3::new(x.high(), y.high(), z.high()),
    }
}
