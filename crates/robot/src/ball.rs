//! Balls around parts and boxes around obstacles: what rules out most pairs at once. Every bound
//! here holds for the exact twelve numbers of both.

use crate::geometry::Vec3;
use crate::geometry::number::rounding::BOUND_SLACK;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::{Pose, ROTATION_SLACK, STRETCH_MAX};

/// A ball that holds a part, or all parts of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OuterBall {
    /// In the frame that carries it.
    pub centre: Vec3,
    /// Rounded up, metres, for a rotation that keeps lengths.
    pub radius: f64,
}

impl OuterBall {
    /// Around a polytope that is placed in the frame.
    pub fn of(polytope: &Polytope, frame_from_part: &Pose) -> Self {
        let bounds = polytope.bounds();
        let centre = frame_from_part.apply_rounded(&bounds.centre);
        let size = frame_from_part.translation.abs().sum() + bounds.centre.abs().sum();
        Self { centre, radius: bounds.radius * STRETCH_MAX + size * BOUND_SLACK }
    }

    /// Around both.
    pub fn joined(self, other: Self) -> Self {
        let way = other.centre - self.centre;
        let distance = way.norm();
        if distance + other.radius <= self.radius {
            return self;
        }
        if distance + self.radius <= other.radius {
            return other;
        }
        let radius = 0.5 * (distance + self.radius + other.radius);
        let centre = self.centre + way * ((radius - self.radius) / distance);
        let size = centre.abs().sum() + radius;
        Self { centre, radius: radius + size * BOUND_SLACK }
    }

    /// At least the radius of a ball around the rounded place of the centre, in the world, that
    /// holds what this one does: the rotation may stretch, and the place is rounded.
    #[inline(always)]
    pub fn radius_at(&self, centre: &Vec3) -> f64 {
        self.radius * STRETCH_MAX + (centre.abs().sum() + self.centre.abs().sum()) * BOUND_SLACK
    }
}

/// A box in the frame of a placed polytope, which it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedBox {
    pose: Pose,
    middle: Vec3,
    half: Vec3,
    /// By how much a coordinate in the frame may be wrong, relative to the distance from its
    /// origin: the transposed rotation is not quite the inverse.
    skew: f64,
}

impl PlacedBox {
    /// Around a polytope with this pose.
    #[inline(always)]
    pub fn new(polytope: &Polytope, pose: Pose) -> Self {
        let bounds = polytope.bounds();
        let half = (bounds.high - bounds.low) * 0.5;
        let middle = bounds.low + half;
        let size = middle.abs().sum() + half.sum() + pose.translation.abs().sum();
        let half = half.add_scalar(size * BOUND_SLACK);
        Self { pose, middle, half, skew: 4.0 * ROTATION_SLACK }
    }

    /// At most the signed clearance between the box and a ball: minus the depth where they overlap.
    ///
    /// The ball's centre is within `skew` times its distance of where the transposed rotation puts
    /// it in the frame of the box, since RᵀR is within 1e-6 of the identity in every entry.
    #[inline(always)]
    pub fn clearance_from(&self, centre: &Vec3, radius: f64) -> f64 {
        let way = centre - self.pose.translation;
        let y = self.pose.rotation.tr_mul(&way);
        let beyond = (y - self.middle).abs() - self.half;
        let outside = Vec3::new(beyond.x.max(0.0), beyond.y.max(0.0), beyond.z.max(0.0));
        let squared = outside.norm_squared();
        let distance =
            if squared > 0.0 { squared.sqrt() } else { beyond.x.max(beyond.y).max(beyond.z) };
        distance - (radius + self.skew * way.abs().sum())
    }

    /// Corners of a box along the world's axes that holds this one.
    pub fn world_bounds(&self) -> [Vec3; 2] {
        let centre = self.pose.apply_rounded(&self.middle);
        let reach = self.pose.rotation.abs() * self.half;
        let slack = (centre.abs().sum() + reach.sum()) * BOUND_SLACK;
        let reach = reach.add_scalar(slack);
        [centre - reach, centre + reach]
    }
}
