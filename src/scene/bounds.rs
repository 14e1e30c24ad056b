//! Boxes that surely hold a placed polytope, at rest or in motion; and what two such boxes prove.
//!
//! Every bound is rounded outwards operation by operation: the result of a correctly rounded
//! operation is at most half an ulp off, so its neighbour on the far side is a true bound,
//! subnormal numbers included. Hence a gap between two boxes is a certificate with a coordinate
//! axis as its direction, as good as any other.

use crate::geometry::Vec3;
use crate::geometry::claim::Direction;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::{Pose, ROTATION_SLACK};

/// An axis-aligned box of the world that holds something, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Box3 {
    /// At most every coordinate held.
    pub low: [f64; 3],
    /// At least every coordinate held.
    pub high: [f64; 3],
}

/// Proof that two boxes are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// 0, 1 or 2: the coordinate in which they are apart.
    pub axis: usize,
    /// Whether Q lies on the negative side of P.
    pub negative: bool,
    /// At most the distance, metres; may be 0 when the gap is below the smallest number.
    pub lower: f64,
}

impl Gap {
    /// The axis from P towards Q: `min over Q of s·y > max over P of s·x`.
    pub fn direction(&self) -> Direction {
        let mut s = Vec3::zeros();
        s[self.axis] = if self.negative { -1.0 } else { 1.0 };
        Direction::Vector(s)
    }
}

/// By how much a matrix that passed the door can stretch a vector. `|RᵀR - I| <= ε` in every entry
/// gives `‖R‖² <= 1 + 3ε`; composing two such doubles ε, and a margin of two covers rounding.
const STRETCH: f64 = 1.0 + 6.0 * ROTATION_SLACK;
const _: () = assert!(STRETCH * STRETCH > 1.0 + 3.0 * 2.0 * ROTATION_SLACK);

impl Box3 {
    /// Holds `R v + t` for every point v of the polytope: the smaller, in every coordinate, of the
    /// box around the placed bounding box and of the box around the placed bounding sphere.
    pub fn of_placed(polytope: &Polytope, pose: &Pose) -> Self {
        let bounds = polytope.bounds();
        let radius = (bounds.radius * STRETCH).next_up();
        let mut held = Self { low: [0.0; 3], high: [0.0; 3] };
        for i in 0..3 {
            let row = [pose.rotation[(i, 0)], pose.rotation[(i, 1)], pose.rotation[(i, 2)]];
            let t = pose.translation[i];
            let (box_low, box_high) = image(row, t, &bounds.low, &bounds.high);
            let (centre_low, centre_high) = image(row, t, &bounds.centre, &bounds.centre);
            held.low[i] = box_low.max((centre_low - radius).next_down());
            held.high[i] = box_high.min((centre_high + radius).next_up());
        }
        held
    }

    /// Holds both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|i| self.low[i].min(other.low[i])),
            high: std::array::from_fn(|i| self.high[i].max(other.high[i])),
        }
    }

    /// Larger by `by` metres on every side.
    #[must_use]
    pub fn inflated(&self, by: f64) -> Self {
        Self {
            low: self.low.map(|c| (c - by).next_down()),
            high: self.high.map(|c| (c + by).next_up()),
        }
    }

    /// Holds a part on its whole way from one place to another, turning by `angle` radians about
    /// `pivot`.
    ///
    /// The motion (`geometry::motion::Motion::ToPose`) is `c + u t + Rot(axis, θ t) y` plus a
    /// residue linear in t, with `y = R0 v + t0 - c`. All but the turning term is linear in t, and
    /// that has `|f''| <= θ² |y|`; so the path stays within `θ² |y| / 8` of the segment between its
    /// ends, which the boxes of the two poses hold.
    #[must_use]
    pub fn swept(from: &Self, to: &Self, angle: f64, pivot: &Vec3) -> Self {
        let held = from.union(to);
        if angle.abs() <= 0.0 {
            return held;
        }
        let bulge = angle * angle * from.reach_from(pivot) / 8.0;
        held.inflated(bulge * (1.0 + 1e-12))
    }

    /// At least the distance from `point` to anything held.
    fn reach_from(&self, point: &Vec3) -> f64 {
        let far: [f64; 3] = std::array::from_fn(|i| {
            (self.high[i] - point[i]).abs().max((point[i] - self.low[i]).abs()).next_up()
        });
        let largest = far[0].max(far[1]).max(far[2]);
        if largest <= 0.0 {
            return 0.0;
        }
        // Scaled, so that squares neither overflow nor vanish.
        let squares: f64 = far.iter().map(|f| (f / largest) * (f / largest)).sum();
        largest * squares.sqrt() * (1.0 + 1e-12)
    }

    /// The widest gap between the boxes, or none when they may meet.
    pub fn gap(&self, q: &Self) -> Option<Gap> {
        let mut widest: Option<Gap> = None;
        for axis in 0..3 {
            for (negative, near, far) in
                [(false, self.high[axis], q.low[axis]), (true, q.high[axis], self.low[axis])]
            {
                if near < far {
                    let lower = (far - near).next_down().max(0.0);
                    if widest.is_none_or(|gap| lower > gap.lower) {
                        widest = Some(Gap { axis, negative, lower });
                    }
                }
            }
        }
        widest
    }
}

/// Bounds of `row · v + t` for v in the box.
fn image(row: [f64; 3], t: f64, low: &Vec3, high: &Vec3) -> (f64, f64) {
    let (mut least, mut most) = (t, t);
    for k in 0..3 {
        let (a, b) = (row[k] * low[k], row[k] * high[k]);
        least = (least + a.min(b).next_down()).next_down();
        most = (most + a.max(b).next_up()).next_up();
    }
    (least, most)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn unit_at(x: f64) -> Box3 {
        Box3 { low: [x, 0.0, 0.0], high: [x + 1.0, 1.0, 1.0] }
    }

    #[test]
    fn boxes_that_touch_prove_nothing() {
        assert_eq!(unit_at(0.0).gap(&unit_at(1.0)), None);
    }

    #[test]
    fn a_gap_of_one_ulp_is_a_proof_with_its_side() {
        let q = unit_at(1.0_f64.next_up());
        let gap = unit_at(0.0).gap(&q).unwrap();
        assert_eq!((gap.axis, gap.negative), (0, false));
        assert!(gap.lower > 0.0 && gap.lower <= f64::EPSILON);
        assert!(q.gap(&unit_at(0.0)).unwrap().negative);
    }

    #[test]
    fn a_gap_of_one_subnormal_is_still_a_proof() {
        let tiny = f64::from_bits(1);
        let p = Box3 { low: [0.0; 3], high: [0.0; 3] };
        let q = Box3 { low: [0.0, tiny, 0.0], high: [0.0, tiny, 0.0] };
        let gap = p.gap(&q).unwrap();
        assert_eq!((gap.axis, gap.lower), (1, 0.0));
    }

    #[test]
    fn a_swept_box_holds_the_arc_between_its_ends() {
        // A rod tip at radius 2 turns by `angle` about the pivot (10, 0, 0).
        let tip = Vec3::new(2.0, 0.0, 0.0);
        let pivot = Vec3::new(10.0, 0.0, 0.0);
        for step in 1..=32 {
            let angle = PI * f64::from(step) / 32.0;
            let pose = |angle: f64| {
                let half = angle / 2.0;
                Pose::from_quaternion(pivot, [half.cos(), 0.0, 0.0, half.sin()]).unwrap()
            };
            let held = |p: &Pose| {
                let x = p.apply_rounded(&tip);
                Box3 { low: [x.x, x.y, x.z], high: [x.x, x.y, x.z] }.inflated(1e-12)
            };
            let (from, to) = (pose(0.0), pose(angle));
            let swept = Box3::swept(&held(&from), &held(&to), angle, &pivot);
            for sample in 0..=20 {
                let x = pose(angle * f64::from(sample) / 20.0).apply_rounded(&tip);
                for i in 0..3 {
                    assert!(swept.low[i] <= x[i] && x[i] <= swept.high[i], "{angle} {sample}");
                }
            }
        }
    }
}
