//! How far the points of a link can get along a straight path in the joint values: bounds from the
//! chain of joints itself.
//!
//! Along the path every joint value is linear in t, so a point of a link moves as the product of
//! its joints does, each at a constant speed. With `L_k` the greatest distance of the link's points
//! from the origin of frame k, whatever the joints above it do, and `s_k` the speed of that frame
//! (|multiplier · difference|):
//!
//! - no point is faster than `S = Σ s_k w_k` with `w_k = L_k` of a frame that turns and 1 of one
//!   that slides;
//! - no point accelerates by more than `K = Σ s_k² L_k + 2 Σ s_j s_k w_k`, the first sum over
//!   frames that turn, the second over those j that turn and carry k: the second derivative by the
//!   values of j and k is the cross product of j's axis with the first derivative by k's.
//!
//! The origin of a frame may stretch, as the base does if it is given as a matrix that is no more
//! than nearly a rotation ([`Kinematics::stretch`](super::kinematics::Kinematics)): L, S and K are
//! sums from the link to the base, and all three are multiplied at every origin on the way. The
//! speed in a configuration at hand is that of a rigid body with the axes where they are, which is
//! off by the difference of a matrix W and that of its cofactors: with Σ the stretch of the whole
//! chain less than `3 (Σ - 1) + (Σ - 1)²` of the lever, and so `4 (Σ - 1) S` in all.
//!
//! Seen from a frame c that carries two links, both move in its coordinates, which the world
//! stretches at that moment by W: the gap in the world has to be `|W|` times as much. A distance
//! that is to be kept in the world at another moment, where W is another one, has to be more by
//! the quotient of the greatest and the least stretch: [`kept_apart`].
//!
//! What is computed differs from the true chain, in real arithmetic with the f64 matrices of
//! [`super::kinematics`], by rounding: each frame rounds its rotation by less than 40u and its
//! place by 4u of the reach, its sine by 8u, and the joint values of the sample by 4u of
//! themselves. [`MotionBound::rounding`] is more than three times the sum of that.

mod along;

pub(super) use self::along::{Carried, Heights, Tilt};

use super::cell::{Cell, CellLink};
use super::stand::Stand;
use super::tree::Freedom;
use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT};

/// How far a link's points can get.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MotionBound {
    /// No point is faster, metres for each unit of t.
    pub(super) speed: f64,
    /// No point's velocity changes faster.
    pub(super) acceleration: f64,
    /// By how much a speed in a configuration may be wrong, of points that are no faster than
    /// `speed`.
    pub(super) speed_error: f64,
    /// No point is farther from where it is computed to be, metres.
    pub(super) rounding: f64,
}

/// What drives every frame along a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PathSpeeds {
    /// Signed, by frame: radians or metres for each unit of t.
    speeds: Vec<f64>,
    /// The greatest absolute value of the joint on the way, by frame.
    farthest: Vec<f64>,
}

impl PathSpeeds {
    /// From one configuration to another; none if a quaternion changes on the way: such a path is
    /// no straight line.
    pub(super) fn new(cell: &Cell, [from, to]: [&[f64]; 2]) -> Option<Self> {
        let (mut speeds, mut farthest) = (Vec::new(), Vec::new());
        for frame in &cell.kinematics.tree().frames {
            let (speed, far) = match frame.freedom {
                Freedom::Turn { by, .. } | Freedom::Slide { by, .. } => {
                    let [a, b] = [from, to].map(|q| by.multiplier * q[by.variable] + by.offset);
                    let offset = by.offset.abs();
                    (b - a, a.abs().max(b.abs()) + offset)
                }
                Freedom::Ball { variable } => {
                    let same = |k: usize| from[k].to_bits() == to[k].to_bits();
                    if !(variable..variable + 4).all(same) {
                        return None;
                    }
                    (0.0, 1.0)
                }
            };
            speeds.push(speed);
            farthest.push(far);
        }
        Some(Self { speeds, farthest })
    }

    /// The sum of the speeds of all frames, to cut a path by.
    pub(super) fn total(&self) -> f64 {
        self.speeds.iter().map(|speed| speed.abs()).sum()
    }

    /// The bound of a link, seen from the frame `seen_from` that carries it, or from the world. The
    /// rounding is that in the world.
    pub(super) fn bound(
        &self,
        cell: &Cell,
        link: &CellLink,
        seen_from: Option<usize>,
    ) -> MotionBound {
        self.bound_of(cell, link.frame, link.ball.centre.norm() + link.ball.radius, seen_from)
    }

    /// The bound of points of a frame that are no farther from its origin than the lever.
    pub(super) fn bound_of(
        &self,
        cell: &Cell,
        frame: Option<usize>,
        lever: f64,
        seen_from: Option<usize>,
    ) -> MotionBound {
        let tree = cell.kinematics.tree();
        let mut lever = lever;
        let (mut speed, mut acceleration, mut turned, mut depth) = (0.0f64, 0.0f64, 0.0, 2.0);
        let mut is_seen = true;
        for k in tree.chain(frame) {
            is_seen &= Some(k) != seen_from;
            let s = self.speeds[k].abs();
            depth += 1.0;
            match tree.frames[k].freedom {
                Freedom::Turn { .. } => {
                    if is_seen {
                        acceleration += s * (s * lever + 2.0 * speed);
                        speed += s * lever;
                    }
                    turned += (self.farthest[k] + 4.0) * lever;
                }
                Freedom::Slide { .. } => {
                    if is_seen {
                        speed += s;
                    }
                    turned += self.farthest[k];
                    lever += self.farthest[k];
                }
                Freedom::Ball { .. } => turned += 4.0 * lever,
            }
            let stretch = cell.kinematics.stretch(k);
            lever = lever * stretch + tree.frames[k].parent_from_joint.translation.norm();
            speed *= stretch;
            acceleration *= stretch;
        }
        let rounding = UNIT * (160.0 * depth * lever + 16.0 * turned);
        let up = 1.0 + BOUND_SLACK;
        let (speed, acceleration) = (speed * up, acceleration * up);
        let skew = 4.0 * (cell.kinematics.stretch_to_world(frame) - 1.0);
        let speed_error = speed * (skew + BOUND_SLACK);
        MotionBound { speed, acceleration, speed_error, rounding }
    }

    /// How every frame moves in the configuration at hand.
    pub(super) fn velocities(&self, stand: &Stand<'_>, out: &mut Vec<FrameVelocity>) {
        out.clear();
        for (k, frame) in stand.cell.kinematics.tree().frames.iter().enumerate() {
            let placed = stand.frame(k);
            let origin = placed.translation;
            let [mut velocity, mut spin] = match frame.parent {
                Some(parent) => out[parent].at(&origin),
                None => [Vec3::zeros(); 2],
            };
            match frame.freedom {
                Freedom::Turn { axis, .. } => spin += (placed.rotation * axis) * self.speeds[k],
                Freedom::Slide { axis, .. } => {
                    velocity += (placed.rotation * axis) * self.speeds[k];
                }
                Freedom::Ball { .. } => {}
            }
            out.push(FrameVelocity { origin, velocity, spin });
        }
    }

    /// At least the speed of the points of a ball in a frame, in the configuration at hand, seen
    /// from a frame.
    pub(super) fn speed_of(
        &self,
        stand: &Stand<'_>,
        frame: Option<usize>,
        ball: WorldBall,
        seen: SeenMotion<'_>,
    ) -> f64 {
        let (WorldBall { centre, radius }, SeenMotion { seen_from, bound }) = (ball, seen);
        let tree = stand.cell.kinematics.tree();
        let (mut velocity, mut spin) = (Vec3::zeros(), Vec3::zeros());
        for k in tree.chain(frame) {
            if Some(k) == seen_from {
                break;
            }
            match tree.frames[k].freedom {
                Freedom::Turn { axis, .. } => {
                    let placed = stand.frame(k);
                    let turning = (placed.rotation * axis) * self.speeds[k];
                    velocity += turning.cross(&(centre - placed.translation));
                    spin += turning;
                }
                Freedom::Slide { axis, .. } => {
                    velocity += (stand.frame(k).rotation * axis) * self.speeds[k];
                }
                Freedom::Ball { .. } => {}
            }
        }
        velocity.norm() + spin.norm() * radius + bound.speed_error
    }
}

/// A ball around points of a link, in the world, metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorldBall {
    pub(super) centre: Vec3,
    pub(super) radius: f64,
}

/// How a link may move, as seen from a frame; none: from the base.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenMotion<'a> {
    pub(super) seen_from: Option<usize>,
    pub(super) bound: &'a MotionBound,
}

/// How a frame moves, rounded: the speed of a point c is that of its origin and `spin x (c -
/// origin)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameVelocity {
    origin: Vec3,
    velocity: Vec3,
    spin: Vec3,
}

impl FrameVelocity {
    /// The velocity of a point that the frame carries, and how it turns.
    #[inline(always)]
    pub(super) fn at(&self, point: &Vec3) -> [Vec3; 2] {
        [self.velocity + self.spin.cross(&(point - self.origin)), self.spin]
    }
}

/// How far apart two bodies have to be in their frame's coordinates of a moment, to be farther than
/// `distance` from each other in the world at any other: see the header of this file.
pub(super) fn kept_apart(cell: &Cell, common: Option<usize>, distance: f64) -> f64 {
    distance + stretched_by(cell, common, distance)
}

/// By how much more than a distance that is.
pub(super) fn stretched_by(cell: &Cell, common: Option<usize>, distance: f64) -> f64 {
    distance * (4.0 * (cell.kinematics.stretch_to_world(common) - 1.0))
}

/// The frame nearest to both links that carries both; none: only the base does.
pub(super) fn common_frame(cell: &Cell, [a, b]: [&CellLink; 2]) -> Option<usize> {
    let tree = cell.kinematics.tree();
    let (mut a, mut b) = (a.frame, b.frame);
    while a != b {
        // Parents have lower indices.
        if a > b {
            a = a.and_then(|frame| tree.frames[frame].parent);
        } else {
            b = b.and_then(|frame| tree.frames[frame].parent);
        }
    }
    a
}
