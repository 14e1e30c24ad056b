//! Bodies that say how they turned, by the words of the interface.

use super::cold::Placed;
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pose::Pose;
use clearance_geometry::{Mat3, Vec3};
use clearance_samples::Random;
use clearance_scene::Move;

/// How a body turned since the last answered frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spin {
    Unsaid,
    Said(Vec3),
    /// About several axes, in frames that are answered as one.
    Lost,
}

/// How the body says that it turned, if it does.
pub(super) fn said(one: &Move) -> Spin {
    one.spin.map_or(Spin::Unsaid, Spin::Said)
}

/// Whether a spin turns a body so.
pub(super) fn leads([from, to]: [&Mat3; 2], spin: &Vec3) -> bool {
    (screwed(from, spin) - to).amax() <= 1e-6
}

fn screwed(from: &Mat3, spin: &Vec3) -> Mat3 {
    let (pivot, velocity, angle) = (None, Vec3::zeros(), spin.norm());
    let start = Pose { rotation: *from, translation: Vec3::zeros() };
    Motion::Screw { pivot, velocity, axis: *spin, angle }.pose_rounded(&start, 1.0).rotation
}

fn shortest(from: &Mat3, to: &Mat3) -> Vec3 {
    let Turn { axis, angle } = Turn::between(from, to);
    if angle > 0.0 { axis.normalize() * angle } else { Vec3::zeros() }
}

/// The turn of a body that was on its way before it goes on so.
pub(super) fn joined(placed: &Placed, one: &Move) -> Spin {
    let (Some(start), now) = (&placed.start, &placed.body.pose.rotation) else {
        return Spin::Unsaid;
    };
    let so_far = match (placed.spin, one.spin) {
        (Spin::Lost, _) | (Spin::Unsaid, None) => return placed.spin,
        (Spin::Said(spin), _) => spin,
        (Spin::Unsaid, Some(_)) => shortest(&start.rotation, now),
    };
    let spin = so_far + one.spin.unwrap_or_else(|| shortest(now, &one.pose.rotation));
    let is_one = leads([&start.rotation, &one.pose.rotation], &spin);
    if is_one { Spin::Said(spin) } else { Spin::Lost }
}

/// A move with another turn, which it says.
pub(super) fn spun(random: &mut Random, from: &Pose, one: Move) -> Move {
    let axis = match random.below(2) {
        0 => Vec3::z(),
        _ => random.unit_vector(),
    };
    let spin = axis * (random.signed() * [0.1, 4.0, 12.0][random.below(3) as usize]);
    let rotation = screwed(&from.rotation, &spin);
    Move { pose: Pose { rotation, ..one.pose }, spin: Some(spin), ..one }
}
