//! Balls around parts and boxes around obstacles: what rules out most pairs at once. Every bound
//! here holds for the exact twelve numbers of both.

use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::{Pose, STRETCH_MAX};

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

    /// Around this one with balls of another radius around all its points.
    pub fn rounded(self, radius: f64) -> Self {
        Self { radius: self.radius + radius, ..self }
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

/// At most the length of a vector, but for rounding: where its square is infinite, or too small to
/// be rounded well, its largest coordinate.
#[inline(always)]
pub(super) fn length_at_most(v: &Vec3) -> f64 {
    let squared = v.norm_squared();
    let is_known = (f64::MIN_POSITIVE..f64::INFINITY).contains(&squared);
    if is_known { squared.sqrt() } else { v.amax() }
}

/// A box in the frame of a placed polytope, which it holds, and the radius of balls around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedBox {
    pose: Pose,
    middle: Vec3,
    half: Vec3,
    /// By how much a clearance may be wrong, relative to the distance from the origin of the
    /// frame: the transposed rotation is not quite the inverse, and lengths in the frame are not
    /// quite those in the world.
    skew: f64,
    /// The same of the places in the box itself, metres.
    own_error: f64,
    /// At least that of the balls around all points of the polytope, metres.
    radius: f64,
}

impl PlacedBox {
    /// Around a polytope with this pose, of which the skew is known ([`Pose::skew`]).
    #[inline(always)]
    pub fn new(polytope: &Polytope, pose: Pose, skew: f64) -> Self {
        let bounds = polytope.bounds();
        let half = (bounds.high - bounds.low) * 0.5;
        let middle = bounds.low + half;
        let size = middle.abs().sum() + half.sum() + pose.translation.abs().sum();
        let half = half.add_scalar(size * BOUND_SLACK);
        let own_error = 2.0 * skew * (middle.abs().sum() + half.sum());
        Self { pose, middle, half, skew: 3.0 * skew, own_error, radius: 0.0 }
    }

    /// The same with balls of this radius, metres, around all points.
    #[inline(always)]
    #[must_use]
    pub fn rounded(self, radius: f64) -> Self {
        Self { radius: radius * (1.0 + BOUND_SLACK), ..self }
    }

    /// At least the skew of the pose.
    #[inline(always)]
    pub(super) fn pose_skew(&self) -> f64 {
        self.skew
    }

    /// At most the signed clearance between the box and a ball: minus the depth where they overlap.
    ///
    /// With e the skew of the pose and w the way to the ball's centre, that is within `e |w| (1 +
    /// e)` of where the transposed rotation puts it in the frame of the box. What is d from the
    /// box there is at least `d (1 - e)` from it in the world, and d is at most `|w|` and the
    /// coordinates of the middle; what is d inside there is at most `d (1 + e)` inside in the
    /// world, and d is at most the half width. So `3 e |w|` and twice e of the box's own numbers
    /// are more than all of it. Balls around all points of the polytope take their radius away.
    #[inline(always)]
    pub fn clearance_from(&self, centre: &Vec3, radius: f64) -> f64 {
        let way = centre - self.pose.translation;
        let y = self.pose.rotation.tr_mul(&way);
        let beyond = (y - self.middle).abs() - self.half;
        let outside = Vec3::new(beyond.x.max(0.0), beyond.y.max(0.0), beyond.z.max(0.0));
        let squared = outside.norm_squared();
        let distance = if squared > 0.0 {
            length_at_most(&outside)
        } else {
            beyond.x.max(beyond.y).max(beyond.z)
        };
        distance - (radius + self.radius + self.own_error + self.skew * way.abs().sum())
    }

    /// Corners of a box along the world's axes that holds this one.
    pub fn world_bounds(&self) -> [Vec3; 2] {
        let centre = self.pose.apply_rounded(&self.middle);
        let reach = self.pose.rotation.abs() * self.half;
        let slack = (centre.abs().sum() + reach.sum() + self.radius) * BOUND_SLACK;
        let reach = reach.add_scalar(self.radius + slack);
        [centre - reach, centre + reach]
    }
}
