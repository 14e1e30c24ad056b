//! A question's scene: its size, the scale to search in, and where motions end.

use super::Question;
use crate::geometry::motion::{self, Boxed, Motion};
use crate::geometry::number::interval::Interval;
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::pair::{Pair, Placed};
use crate::geometry::pose::Pose;

/// The pose at t = 1, if it is exactly known in f64 numbers.
pub(super) fn end_of(start: &Pose, motion: &Motion) -> Option<Pose> {
    let by = match motion {
        Motion::ToPose { end, .. } => return Some(*end),
        Motion::Linear { velocity } => velocity,
        Motion::Screw { velocity, angle, .. } if angle.abs() <= 0.0 => velocity,
        Motion::Screw { .. } => return None,
    };
    let sum = |i: usize| Interval::difference(start.translation[i], -by[i]);
    let is_exact = (0..3).all(|i| sum(i).high() <= sum(i).low());
    is_exact.then(|| Pose { translation: start.translation + by, ..*start })
}

/// The larger of size and world at t = 0, rounded: of the world, the turned bounding boxes' part.
pub(super) fn scene_size(question: &Question<'_>) -> f64 {
    let pair = &question.pair;
    let one = |placed: &Placed<'_>| {
        let bounds = placed.body.bounds();
        let half = 0.5 * bounds.high - 0.5 * bounds.low;
        let Pose { rotation, translation } = &placed.pose;
        let world = rotation.abs() * half + (rotation * bounds.centre + translation).abs();
        (2.0 * half.amax()).max(world.amax())
    };
    one(&pair.p).max(one(&pair.q))
}

/// See [`motion::scale_of`].
pub(super) fn scale_of(question: &Question<'_>) -> Option<PowerOfTwo> {
    let Pair { p, q } = &question.pair;
    let (of_p, of_q) = (p.body.bounds(), q.body.bounds());
    motion::scale_of(
        &Boxed { pose: &p.pose, motion: &question.motion_p, low: of_p.low, high: of_p.high },
        &Boxed { pose: &q.pose, motion: &question.motion_q, low: of_q.low, high: of_q.high },
    )
}
