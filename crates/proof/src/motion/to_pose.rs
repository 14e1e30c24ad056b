//! The rotation from one pose to another as an axis and an angle, by one documented recipe.
//!
//! Any axis and angle near the true ones will do, because the residue makes up for the rounding;
//! but a verifier must find the *same* axis and angle. So the recipe below is part of the contract:
//! IEEE f64, round to nearest, no fused operations, in exactly this order. It needs `+ - * /`, the
//! square root, and [`quarter_angle`], which is written out there with the same tools.
//!
//! 0. If `R1 = R0`, entry by entry, there is no rotation.
//! 1. `M = R1 R0ᵀ`: `M[i][k] = (R1[i][0] R0[k][0] + R1[i][1] R0[k][1]) + R1[i][2] R0[k][2]`.
//! 2. Four times the squares of a quaternion's components (Shepperd, "Quaternion from rotation
//!    matrix", 1978):
//!    `ww = 1 + ((M00 + M11) + M22)`, `xx = 1 + ((M00 - M11) - M22)`,
//!    `yy = 1 + ((M11 - M00) - M22)`, `zz = 1 + ((M22 - M00) - M11)`;
//!    of the largest (the first of equals) take the quaternion `(w, x, y, z)` up to a factor:
//!    - ww: `(ww, M21 - M12, M02 - M20, M10 - M01)`
//!    - xx: `(M21 - M12, xx, M10 + M01, M02 + M20)`
//!    - yy: `(M02 - M20, M10 + M01, yy, M21 + M12)`
//!    - zz: `(M10 - M01, M02 + M20, M21 + M12, zz)`
//! 3. If `w < 0`, or `w = 0` and the first of x, y, z that is not zero is negative, negate all
//!    four.
//! 4. `n = sqrt((x x + y y) + z z)`; the angle is `2 quarter_angle(n, w)`, in [0, π]; the axis is
//!    `(x, y, z)`, normalised in real arithmetic. With `n = 0` there is no rotation.

use crate::number::trig::quarter_angle;
use crate::{Mat3, Vec3};

/// The rotation of a motion from one pose to another: at time t it is `Rot(axis, angle t)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// World frame, of any length; zero if there is no rotation.
    pub axis: Vec3,
    /// Radians over the step.
    pub angle: f64,
}

impl Turn {
    /// The turn in [0, π] that takes the rotation `from` to `to`, up to rounding: see the module
    /// for the exact recipe.
    pub fn between(from: &Mat3, to: &Mat3) -> Self {
        let (axis, angle) = axis_and_angle(from, to);
        Self { axis, angle }
    }

    /// Whether nothing turns.
    pub fn is_none(&self) -> bool {
        self.angle.abs() <= 0.0
    }
}

fn axis_and_angle(from: &Mat3, to: &Mat3) -> (Vec3, f64) {
    if from == to {
        return (Vec3::zeros(), 0.0);
    }
    let m = Mat3::from_fn(|i, k| {
        (to[(i, 0)] * from[(k, 0)] + to[(i, 1)] * from[(k, 1)]) + to[(i, 2)] * from[(k, 2)]
    });
    let ww = 1.0 + ((m[(0, 0)] + m[(1, 1)]) + m[(2, 2)]);
    let xx = 1.0 + ((m[(0, 0)] - m[(1, 1)]) - m[(2, 2)]);
    let yy = 1.0 + ((m[(1, 1)] - m[(0, 0)]) - m[(2, 2)]);
    let zz = 1.0 + ((m[(2, 2)] - m[(0, 0)]) - m[(1, 1)]);
    let odd = [m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)]];
    let even = [m[(2, 1)] + m[(1, 2)], m[(0, 2)] + m[(2, 0)], m[(1, 0)] + m[(0, 1)]];
    let (w, axis) = if ww >= xx && ww >= yy && ww >= zz {
        (ww, Vec3::new(odd[0], odd[1], odd[2]))
    } else if xx >= yy && xx >= zz {
        (odd[0], Vec3::new(xx, even[2], even[1]))
    } else if yy >= zz {
        (odd[1], Vec3::new(even[2], yy, even[0]))
    } else {
        (odd[2], Vec3::new(even[1], even[0], zz))
    };
    let first = axis.iter().copied().find(|c| c.abs() > 0.0).unwrap_or(0.0);
    let flip = w < 0.0 || (w.abs() <= 0.0 && first < 0.0);
    let (w, axis) = if flip { (-w, -axis) } else { (w, axis) };
    let n = ((axis.x * axis.x + axis.y * axis.y) + axis.z * axis.z).sqrt();
    if n > 0.0 { (axis, 2.0 * quarter_angle(n, w)) } else { (Vec3::zeros(), 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Pose;
    use std::f64::consts::PI;

    fn matrix(axis: [f64; 3], angle: f64) -> Mat3 {
        let n = (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]).sqrt();
        let s = (angle / 2.0).sin() / n;
        let q = [(angle / 2.0).cos(), axis[0] * s, axis[1] * s, axis[2] * s];
        Pose::from_quaternion(Vec3::zeros(), q).expect("a unit quaternion").rotation
    }

    #[test]
    fn the_axis_and_angle_of_a_known_turn_come_back() {
        let base = matrix([3.0, -1.0, 0.5], 2.2);
        for axis in [[1.0, 2.0, 3.0], [-5.0, 0.1, 0.2], [0.1, -4.0, 1.0], [0.0, 0.3, -1.0]] {
            for angle in [1e-9, 1e-3, 0.5, 1.7, 2.9, 3.1, PI - 1e-6] {
                let (got, by) = axis_and_angle(&base, &(matrix(axis, angle) * base));
                assert!((by - angle).abs() < 1e-14, "{axis:?} {angle}: {by}");
                let wanted = Vec3::from(axis).normalize();
                let slack = 1e-15 / angle.min(1.0) + 1e-15;
                assert!((got.normalize() - wanted).norm() < 4.0 * slack, "{axis:?} {angle}");
            }
        }
    }

    #[test]
    fn half_turns_take_the_axis_whose_first_component_is_positive() {
        for (rows, wanted) in [
            ([1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0]),
            ([-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0]),
            ([-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
            ([0.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0], [1.0, -1.0, 0.0]),
        ] {
            let (axis, angle) = axis_and_angle(&Mat3::identity(), &Mat3::from_row_slice(&rows));
            assert_eq!(angle.to_bits(), PI.to_bits());
            assert!((axis.normalize() - Vec3::from(wanted).normalize()).norm() < 1e-15);
        }
    }

    #[test]
    fn equal_poses_do_not_turn() {
        let rounded = matrix([0.3, -2.0, 1.0], 1.3);
        for rotation in [Mat3::identity(), rounded] {
            assert_eq!(axis_and_angle(&rotation, &rotation), (Vec3::zeros(), 0.0));
        }
    }
}
