//! How a body moves over one step. Time t in [0, 1] is a fraction of the step.

mod plain;
mod to_pose;
mod track;
mod units;

pub use plain::{Plain, SCANNED_MAX, UNDERFLOWN, size_of};
pub use to_pose::Turn;
pub use track::Track;
pub use units::{Boxed, METRES, Units, between, scale_of};

use super::Vec3;
use super::number::trig::RoundedTrig;
use super::pose::Pose;

/// A motion over the step, starting from a pose `x(0) = R v + t0` at t = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// `x(t) = R v + t0 + velocity t`, velocity in metres per step.
    Linear {
        /// Metres per step, world frame.
        velocity: Vec3,
    },
    /// `x(t) = c + velocity t + Rot(axis, angle t) (R v + t0 - c)` with the pivot `c` in the world,
    /// the axis normalised and Rot evaluated in real arithmetic; any number of turns.
    Screw {
        /// The point the rotation is about at t = 0; the pose's translation when absent.
        pivot: Option<Vec3>,
        /// Metres per step, world frame.
        velocity: Vec3,
        /// World frame, of any length but zero (unless `angle` is zero).
        axis: Vec3,
        /// Radians over the step.
        angle: f64,
    },
    /// From the start to this pose: with `Rot(axis, angle)` the rotation of `turn`, the screw about
    /// the pivot `c` whose velocity is `u = t1 - c - Rot(axis, angle)(t0 - c)` (so `t1 - t0` for
    /// the default pivot), plus the residue `(R1 v + t1) - screw(1)`, added linearly in t, so that
    /// both ends are exactly the given poses.
    ToPose {
        /// The pose at t = 1.
        end: Pose,
        /// The point the rotation is about at t = 0; the start's translation when absent. A part of
        /// a body names its body's pivot here, or the parts would drift apart on the way.
        pivot: Option<Vec3>,
        /// The rotation on the way; [`Turn::between`] the start's rotation and the end's when
        /// absent. A part of a body names its body's turn here: near half a turn, rounding decides
        /// which way a rotation goes, and the parts would not all go the same way.
        turn: Option<Turn>,
    },
}

impl Motion {
    /// No motion.
    pub fn rest() -> Self {
        Self::Linear { velocity: Vec3::zeros() }
    }

    /// The largest coordinate of what this motion brings in: velocities, pivots, ends.
    pub fn length_max(&self) -> f64 {
        let of = |pivot: &Option<Vec3>| pivot.as_ref().map_or(0.0, nalgebra::Vector3::amax);
        match self {
            Self::Linear { velocity } => velocity.amax(),
            Self::Screw { pivot, velocity, .. } => velocity.amax().max(of(pivot)),
            Self::ToPose { end, pivot, .. } => end.translation.amax().max(of(pivot)),
        }
    }

    /// The turn of a motion to `end` from `start`, which its own rotations tell unless it is named.
    pub fn turn_to(start: &Pose, end: &Pose, turn: &Option<Turn>) -> Turn {
        turn.unwrap_or_else(|| Turn::between(&start.rotation, &end.rotation))
    }

    /// The pose at time t of a body that starts at `start`, rounded: for searching and for show,
    /// never for a proof.
    pub fn pose_rounded(&self, start: &Pose, t: f64) -> Pose {
        if t <= 0.0 {
            return *start;
        }
        let plain = Plain::new(&Track::new(start, self, METRES));
        let trig = plain.trig(t).unwrap_or(RoundedTrig::ZERO);
        let (rotation, moved) = plain.pose_from_start(&trig, t);
        Pose { rotation, translation: start.translation + moved }
    }
}
