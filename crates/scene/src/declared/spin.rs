//! Turns by any number of turns, as a frame may say them: *spins*.
//!
//! Two poses tell a turn only up to whole turns, and of those that lead from one to the other the
//! shortest is assumed. A spin says which one it was: a rotation vector, whose direction is the
//! axis in the world and whose length is the angle. The way is then that of [`Motion::ToPose`] with
//! that turn; what little the spin and the poses differ by is its residue, so that both ends are
//! the poses.

use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pose::{Pose, ROTATION_SLACK};
use clearance_geometry::{Mat3, Vec3};

/// No body turns more often than this between two frames.
pub(crate) const TURNS_MAX: f64 = 64.0;

/// Why a spin is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpinError {
    /// It is longer than 64 turns, or not a number.
    #[error("must be at most 64 turns long, in radians")]
    TooLong,
    /// It leads elsewhere than the pose says.
    #[error(
        "does not turn the body from the pose that it had to its new one, within 1e-6 of each \
         entry of the rotation"
    )]
    Elsewhere,
    /// The body was put where it is.
    #[error("of a body that is teleported no motion is assumed")]
    Teleported,
}

/// The turn that a spin says: its axis is the spin, and its angle `sqrt((x x + y y) + z z)`.
pub(crate) fn turn_of(spin: &Vec3) -> Turn {
    let angle = ((spin.x * spin.x + spin.y * spin.y) + spin.z * spin.z).sqrt();
    Turn { axis: *spin, angle }
}

/// That a spin is one, and leads from the one rotation to the other.
pub(crate) fn check(spin: &Vec3, [from, to]: [&Mat3; 2]) -> Result<(), SpinError> {
    let Turn { axis, angle } = turn_of(spin);
    let is_short = angle <= TURNS_MAX * std::f64::consts::TAU;
    if !is_short {
        return Err(SpinError::TooLong);
    }
    let (pivot, velocity) = (None, Vec3::zeros());
    let start = Pose { rotation: *from, translation: Vec3::zeros() };
    let turned = Motion::Screw { pivot, velocity, axis, angle }.pose_rounded(&start, 1.0);
    let leads_there = (turned.rotation - to).amax() <= ROTATION_SLACK;
    if leads_there { Ok(()) } else { Err(SpinError::Elsewhere) }
}
