//! The motion of H-Walk's experiments: one body orbits the other and turns about an axis of its own
//! (Guibas, Hsu, Zhang 1999, §4.2, Procedure 1, after Mirtich 1997).

use crate::Vec3;
use crate::hull::samples::{Random, on_circle};
use crate::pose::Pose;

/// Angular steps in degrees, along the axis of the paper's figures.
pub const DEGREES: [f64; 13] =
    [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];
/// Axes in the procedure.
pub const RUNS: u32 = 10;
/// Poses about each axis.
pub const POSES: u32 = 100;

/// The poses of object 2, run by run, for an angular step in degrees; object 1 stays at the origin.
///
/// `radius` is the procedure's A: the way between the bodies' origins is A to A times √2.
pub fn poses(step: f64, radius: f64, runs: u32, seed: u64) -> Vec<Vec<Pose>> {
    let mut random = Random::new(seed);
    let mut run = || {
        let axis = random.direction();
        (1..=POSES).map(|j| pose(&axis, (f64::from(j) * step / 360.0).fract(), radius)).collect()
    };
    (0..runs).map(|_| run()).collect()
}

/// Object 2 after a part of a turn.
fn pose(axis: &Vec3, turn: f64, radius: f64) -> Pose {
    let (cos, sin) = on_circle(turn);
    let (half_cos, half_sin) = on_circle(turn / 2.0);
    let v = axis * half_sin;
    let at = Vec3::new(radius * cos, radius * sin, radius * cos);
    Pose::from_quaternion(at, [half_cos, v.x, v.y, v.z]).expect("a quaternion of length one")
}
