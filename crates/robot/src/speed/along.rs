//! How far the points of a link can get along one direction: beside a face, nothing else matters.
//!
//! Let n be the direction and `m_k = M_kᵀ n` how frame k sees it, with `M_k` the matrix from that
//! frame to the world. A joint that turns about the axis a with the speed s moves a point, which is
//! at u in its frame, along n by `s (m_k × a)·u`: no faster than `s T_k L_k`, where `T_k` is the
//! *tilt* `|m_k × a|` and `L_k` the lever. A joint that slides does it by `s m_k·a`, whose size is
//! its tilt. So a joint whose axis is the direction changes no height at all.
//!
//! Only the joints that carry k change how it sees n: `|m_k'| <= Σ_j s_j T_j`. So a tilt is at most
//! what it is in the middle of an interval and half the interval times that sum, which is found
//! from the base on. Then
//!
//! - no height changes faster than `Σ s_k T_k w_k`, with `w_k = L_k` of what turns and 1 of what
//!   slides;
//! - its speed changes by no more than `Σ s_k T_k (s_k L_k + 2 Σ_l s_l w_l)`, over k that turn and
//!   the l that k carries: the bound K of [`super`] with a tilt in each term.
//!
//! The matrices are those that are, stretched or not: only what a world's length is in a frame, and
//! where the gradient of the heights lies in the world, is off by what they are stretched by, each
//! a part of the tilt. What is computed of a tilt is off by the rounding of the frame, as
//! [`super::MotionBound::rounding`] counts it.

use super::{PathSpeeds, WorldBall};
use crate::stand::Stand;
use crate::tree::Freedom;
use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT};

/// Points that a frame carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    /// None: they stand still.
    pub(crate) frame: Option<usize>,
    /// No point is farther from the frame's origin.
    pub(crate) lever: f64,
    /// Around them.
    pub(crate) ball: WorldBall,
}

/// How heights are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heights {
    /// From which frame they are seen, where it is in the configuration at hand; none: the base.
    pub(crate) seen_from: Option<usize>,
    /// A unit vector in the world.
    pub(crate) along: Vec3,
    /// Until when from the configuration at hand, in t, before and after.
    pub(crate) half: f64,
}

/// How a joint changes heights.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tilt {
    frame: usize,
    /// `m × a` in the configuration at hand; of what slides, `m·a` in the first place.
    now: Vec3,
    /// By how much its length may be wrong.
    error: f64,
    /// Its length at any time, at most.
    most: f64,
}

impl PathSpeeds {
    /// At most how fast the points get higher or lower, in the mean from the configuration at hand
    /// to any other time. `tilts` is memory.
    pub(crate) fn speed_along(
        &self,
        stand: &Stand<'_>,
        points: &Carried,
        heights: &Heights,
        tilts: &mut Vec<Tilt>,
    ) -> f64 {
        let Some(own) = points.frame else { return 0.0 };
        self.tilt(stand, own, heights, tilts);
        let kinematics = &stand.cell.kinematics;
        let stretch = kinematics.stretch_to_world(points.frame);
        let skew = 4.0 * (stretch - 1.0) + BOUND_SLACK;
        let WorldBall { centre, radius } = points.ball;
        let (mut lever, mut most, mut growth) = (points.lever, 0.0, 0.0);
        let (mut steepest, mut off) = (0.0, 0.0);
        let (mut rise, mut gradient) = (0.0, Vec3::zeros());
        for tilt in tilts.iter().rev() {
            let (speed, frame) = (self.speeds[tilt.frame], &kinematics.tree().frames[tilt.frame]);
            let fast = speed.abs();
            let wrong = 16.0 * tilt.error + skew * tilt.now.norm();
            match frame.freedom {
                Freedom::Turn { .. } => {
                    growth += fast * tilt.most * (fast * lever + 2.0 * most);
                    steepest += fast * tilt.most * lever;
                    off += fast * wrong * lever;
                    let placed = stand.frame(tilt.frame);
                    let turning = (placed.rotation * tilt.now) * speed;
                    rise += turning.dot(&(centre - placed.translation));
                    gradient += turning;
                    most += fast * lever;
                }
                Freedom::Slide { .. } => {
                    steepest += fast * tilt.most;
                    off += fast * wrong;
                    rise += tilt.now.x * speed;
                    most += fast;
                    lever += self.farthest[tilt.frame];
                }
                Freedom::Ball { .. } => {}
            }
            let wide = kinematics.stretch(tilt.frame);
            lever = lever * wide + frame.parent_from_joint.translation.norm();
            most *= wide;
        }
        let now = rise.abs() + gradient.norm() * radius * stretch + off;
        steepest.min(now + 0.5 * heights.half * growth) * (1.0 + BOUND_SLACK)
    }

    /// The tilts of the joints between a frame and that from which heights are seen, from there on.
    fn tilt(&self, stand: &Stand<'_>, own: usize, heights: &Heights, tilts: &mut Vec<Tilt>) {
        let kinematics = &stand.cell.kinematics;
        let stretch = kinematics.stretch_to_world(Some(own));
        tilts.clear();
        let chain = kinematics.tree().chain(Some(own));
        tilts.extend(chain.map(|frame| Tilt { frame, ..Tilt::default() }));
        tilts.reverse();
        let (mut frames, mut turned, mut swing, mut unseen) = (2.0, 0.0, 0.0, 0);
        for (at, tilt) in tilts.iter_mut().enumerate() {
            let k = tilt.frame;
            let freedom = &kinematics.tree().frames[k].freedom;
            frames += 1.0;
            turned += match freedom {
                Freedom::Turn { .. } => self.farthest[k] + 4.0,
                Freedom::Ball { .. } => 4.0,
                Freedom::Slide { .. } => 0.0,
            };
            if Some(k) == heights.seen_from {
                (swing, unseen) = (0.0, at + 1);
                continue;
            }
            let seen = stand.frame(k).rotation.tr_mul(&heights.along);
            tilt.error = UNIT * (160.0 * frames + 16.0 * turned);
            tilt.now = match freedom {
                Freedom::Turn { axis, .. } => seen.cross(axis),
                Freedom::Slide { axis, .. } => Vec3::new(seen.dot(axis), 0.0, 0.0),
                Freedom::Ball { .. } => Vec3::zeros(),
            };
            let swung = heights.half * stretch * swing;
            let most = stretch * (1.0 + BOUND_SLACK);
            tilt.most = (tilt.now.norm() + tilt.error + swung).min(most);
            if let Freedom::Turn { .. } = freedom {
                swing += self.speeds[k].abs() * tilt.most;
            }
        }
        tilts.drain(..unseen);
    }
}
