//! How far a body has moved, as its supporting values tell.
//!
//! A body adds up, frame by frame, an upper bound of how much its supporting value (how far it
//! reaches along a direction of length one) can have changed along any direction. Two bodies whose
//! verdict has some room (`geometry::separation::decide_with_room`) keep it until the two have used
//! that up.
//!
//! For a body `R v + t` with a point c of it, the supporting value along s is `s·(R c + t) + max
//! s·R (v - c)`. The first term changes by at most the way of the placed c, the second along a
//! rotation by θ by at most θ times the *lever* (`geometry::polytope::lever`).

use crate::bounds::Ball;
use crate::declared::body::{Body, Part};
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT, gamma, length};
use clearance_geometry::number::tolerance::QUARTER_TURN_NOISE;
use clearance_geometry::pose::{Pose, STRETCH_MAX};
use clearance_geometry::{Mat3, Vec3};

/// A verdict with so much room holds while the travels add up to less than this; they add up to
/// `travel` now.
///
/// Travels only grow, each sum of two is rounded once, and so is this one: within four roundings.
#[inline]
pub(crate) fn until(travel: f64, room: f64) -> f64 {
    (travel + room) * (1.0 - 8.0 * UNIT)
}

/// The sum of two travels, at least.
#[inline]
pub(crate) fn farther(travel: f64, by: f64) -> f64 {
    (travel + by).next_up()
}

/// What a body is like, to bound where it is and how far it has moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    /// A point of it, in its own frame.
    centre: Vec3,
    /// At least the distance from there to any point of it, metres.
    radius: f64,
    /// See the header of this file, metres; at most about the radius.
    lever: f64,
    /// At least how many times as far a turn moves a point of it, or of the core of what is
    /// rounded, as it changes a supporting value by its lever; at least 1.
    points_over_lever: f64,
    /// At least the sum of the absolute coordinates of any point of it, metres.
    span: f64,
    /// Whether a box around it tells hardly more than a ball.
    pub(crate) is_round: bool,
    /// Whether it is one part in its own frame, so that the pose of the body is the part's.
    pub(crate) is_plain: bool,
    /// Whether its first part is more than a polytope.
    pub(crate) is_rounded: bool,
    /// Whether one of its parts is a polyhedron.
    pub(crate) has_mesh: bool,
}

/// A box of less than this share of its ball's volume tells much more than the ball. A cube fills
/// 0.37 of its ball, a rod or a plate of 1:4 less than 0.2.
const ROUND_SHARE: f64 = 0.25;

impl Form {
    /// That of a body as declared.
    pub(crate) fn of(body: &Body) -> Self {
        let identity = Pose::identity();
        if let [part] = &body.parts[..]
            && part.body_from_part == identity
        {
            let bounds = part.polytope.bounds();
            let extent = bounds.high - bounds.low + Vec3::repeat(2.0 * part.radius);
            let radius = (bounds.radius + part.radius) * (1.0 + BOUND_SLACK);
            let ball = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
            let lever = part.polytope.lever();
            return Self {
                centre: bounds.centre,
                radius: if part.is_rounded() { radius } else { bounds.radius },
                // Balls look the same from everywhere.
                lever,
                points_over_lever: at_least_one(bounds.radius / lever),
                span: (bounds.span + 3.0 * part.radius) * (1.0 + BOUND_SLACK),
                is_round: extent.x * extent.y * extent.z >= ROUND_SHARE * ball,
                is_plain: true,
                is_rounded: part.is_rounded(),
                has_mesh: part.is_mesh(),
            };
        }
        let placed = body.parts.iter().map(|part| {
            let bounds = part.polytope.bounds();
            (part.body_from_part.apply_rounded(&bounds.centre), bounds.radius, part.radius)
        });
        let centre = placed.clone().map(|(c, ..)| c).sum::<Vec3>() / body.parts.len() as f64;
        let sizes = body.parts.iter().map(|part| {
            let bounds = part.polytope.bounds();
            let core =
                part.body_from_part.translation.abs().sum() + STRETCH_MAX * 2.0 * bounds.span;
            core + 3.0 * part.radius
        });
        let span = 2.0 * sizes.fold(0.0, f64::max);
        let reach_of = |(c, core, _): (Vec3, f64, f64)| (c - centre).norm() + STRETCH_MAX * core;
        let at_least = |reach: f64| reach * (1.0 + BOUND_SLACK) + gamma(64) * span;
        // Balls look the same from everywhere.
        let lever = at_least(placed.clone().map(reach_of).fold(0.0, f64::max));
        let reached = placed.map(|one| reach_of(one) + one.2);
        let radius = at_least(reached.fold(0.0, f64::max));
        let is_rounded = body.parts.first().is_some_and(Part::is_rounded);
        let has_mesh = body.parts.iter().any(Part::is_mesh);
        let (is_round, is_plain) = (false, false);
        // The lever is how far points are from the centre.
        let points_over_lever = 1.0;
        Self {
            centre,
            radius,
            lever,
            points_over_lever,
            span,
            is_round,
            is_plain,
            is_rounded,
            has_mesh,
        }
    }

    /// A ball that holds the body at this pose.
    ///
    /// The centre is rounded within γ₄ of the sizes that it is summed from.
    #[inline]
    pub(crate) fn ball_at(&self, pose: &Pose) -> Ball {
        let centre = pose.apply_rounded(&self.centre);
        let radius = (self.radius * STRETCH_MAX + self.error_at(pose)) * (1.0 + BOUND_SLACK);
        Ball { centre: [centre.x, centre.y, centre.z], radius }
    }

    /// More than what rounding does to a placed point, parts composed with their body included.
    #[inline]
    fn error_at(&self, pose: &Pose) -> f64 {
        gamma(64) * (pose.translation.abs().sum() + self.span)
    }

    /// At least the change of a supporting value from one pose to the other.
    ///
    /// For rotations by θ from each other, `|R' - R|` as a sum of squares is `8 sin²(θ/2)`. The
    /// matrices are rotations but for their *skew*, which adds to that, and to the change itself as
    /// a part of the radius. The arc sine of x is at most `x (1 + x²/5)` up to a half.
    #[inline]
    pub(crate) fn travel(&self, [from, to]: [&Pose; 2], [before, after]: [&Ball; 2]) -> f64 {
        let way = Vec3::from(after.centre) - Vec3::from(before.centre);
        let moved = way.norm() + self.error_at(from) + self.error_at(to);
        let turned = if from.rotation == to.rotation {
            0.0
        } else {
            let skew = skew(&from.rotation) + skew(&to.rotation);
            let angle = angle_within(&from.rotation, &to.rotation, skew);
            angle * self.lever + 2.0 * skew * self.radius
        };
        (moved + turned) * (1.0 + BOUND_SLACK)
    }

    /// While two bodies travel less than this together, no two points of them that are this far
    /// apart, metres, can meet: points are moved farther than supporting values change, where a
    /// body turns.
    pub(crate) fn room_of_points(forms: [&Self; 2], gap: f64) -> f64 {
        let [p, q] = forms.map(|form| form.points_over_lever);
        gap / p.max(q) * (1.0 - BOUND_SLACK)
    }

    /// At least how far any point of the body strays from the chord of its way from one pose to the
    /// other, turning about `pivot`, which is a point in the frame of the body, by the angle that
    /// is said, radians, or the shortest way.
    ///
    /// On that way (`geometry::motion::Motion::ToPose`) all moves evenly but for a turn by θ, whose
    /// second derivative is at most `θ² r` for a point that is r from the pivot where it *starts*.
    /// So it stays within `4 t (1 - t) θ² r / 8` of the chord, and at no time reaches farther along
    /// any direction than the chord by as much: travel and bow together bound how much farther the
    /// body has reached on its way than where it ends.
    pub(crate) fn bow(&self, [from, to]: [&Pose; 2], said: Option<f64>, pivot: &Vec3) -> f64 {
        let angle = match said {
            Some(angle) => angle,
            None if from.rotation == to.rotation => 0.0,
            None => angle_of_turn(&from.rotation, &to.rotation),
        };
        if angle <= 0.0 {
            return 0.0;
        }
        // The pivot is placed with a rounding, as points of the body are.
        let error = self.error_at(from) + gamma(64) * pivot.abs().sum();
        let reach = (length(&(self.centre - pivot)) + self.radius) * STRETCH_MAX + error;
        angle * angle * reach * (1.0 + BOUND_SLACK) / 8.0
    }
}

/// A ratio of lengths, rounded up; of nothing to nothing 1.
fn at_least_one(ratio: f64) -> f64 {
    if ratio.is_nan() { 1.0 } else { ratio.max(1.0) * (1.0 + BOUND_SLACK) }
}

/// At least the angle by which a motion turns from one rotation to the other
/// ([`Turn::between`](clearance_geometry::motion::Turn::between)).
///
/// With s the skew of both, the product that its recipe reads is the rotation from the one true
/// rotation to the other within `1.2 s`, the roundings of products included. Of four times the
/// products of the quaternion's components that it computes from that, the largest of which is
/// at least about 2, the error is less than `4.6 · 1.2 s`, so the direction of the quaternion errs
/// by less than `2.9 s` and the angle by less than `5.8 s`. The true angle is within
/// `angle_within` of s. In that function 4 s in place of s add more than the `5.8 s`: the angle is
/// more than twice its half.
fn angle_of_turn(from: &Mat3, to: &Mat3) -> f64 {
    angle_within(from, to, 4.0 * (skew(from) + skew(to)))
}

/// Whether the turn from one rotation to the other is more than a quarter.
///
/// The trace of a rotation is 1 and twice the cosine of its angle.
#[inline]
pub(crate) fn is_beyond_quarter_turn(from: &Mat3, to: &Mat3) -> bool {
    from.component_mul(to).sum() < 1.0 - QUARTER_TURN_NOISE
}

/// An angle with the skew of both, as [`Form::travel`] says.
#[inline]
fn angle_within(from: &Mat3, to: &Mat3, skew: f64) -> f64 {
    let half = (to - from).norm() * 8f64.sqrt().recip() + skew;
    if half <= 0.5 { 2.0 * half * (1.0 + half * half / 5.0) } else { std::f64::consts::PI }
}

/// How far a matrix is from the nearest rotation, at most: no singular value of R is farther from 1
/// than `RᵀR` is from the identity, whose length is at most three times its largest entry.
#[inline]
fn skew(rotation: &Mat3) -> f64 {
    3.0 * (rotation.tr_mul(rotation) - Mat3::identity()).amax() + gamma(32)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use clearance_geometry::motion::{Motion, Turn};
    use clearance_geometry::polytope::Polytope;
    use clearance_samples::{Random, ball};

    /// At the origin, turned by about so much from where it is.
    fn turned(random: &mut Random, from: &Pose, size: f64) -> Pose {
        let turn = random.vector() * size;
        let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
        turn.compose(&Pose { translation: Vec3::zeros(), ..*from })
    }

    fn reach(polytope: &Polytope, pose: &Pose, s: &Vec3) -> f64 {
        let values = polytope.vertices().iter().map(|v| s.dot(&pose.apply_rounded(v)));
        values.fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn no_supporting_value_changes_by_more_than_the_travel() {
        let (mut random, mut tightest) = (Random(91), 0.0_f64);
        for seed in 0..40 {
            let shape = Arc::new(ball(6 + (seed as u32) * 3, seed));
            let body = Body::solid(1, shape.clone());
            let form = Form::of(&body);
            assert!(form.lever <= form.radius);
            for size in [1e-3, 0.03, 0.3, 2.0] {
                let place = random.vector() * 3.0;
                let from = random.pose(place);
                let mut to = turned(&mut random, &from, size);
                to.translation = from.translation + random.vector() * 0.001;
                let balls = [form.ball_at(&from), form.ball_at(&to)];
                let travel = form.travel([&from, &to], [&balls[0], &balls[1]]);
                for _ in 0..200 {
                    let s = random.vector().normalize();
                    let change = (reach(&shape, &to, &s) - reach(&shape, &from, &s)).abs();
                    assert!(change <= travel, "{change} {travel}");
                    tightest = tightest.max(change / travel);
                }
            }
        }
        assert!(tightest > 0.6, "the bound is far too large: {tightest}");
    }

    /// Balls, whose levers are shorter than their radii, and two of them in one body.
    #[test]
    fn no_point_moves_farther_than_its_share_of_the_travel() {
        let (mut random, mut tightest) = (Random(95), 0.0_f64);
        for seed in 0..60 {
            let round = Arc::new(ball(6 + (seed as u32) * 5, seed));
            let mut body = Body::solid(1, round.clone());
            if seed % 3 == 0 {
                let aside = random.pose(Vec3::new(1.0, 0.5, 0.0));
                body.parts.push(Part { body_from_part: aside, ..Part::of(round) });
            }
            let form = Form::of(&body);
            for size in [1e-6, 1e-3, 0.03, 0.3, 2.0] {
                let place = random.vector() * 3.0;
                let from = random.pose(place);
                let mut to = turned(&mut random, &from, size);
                to.translation = from.translation + random.vector() * 0.1 * size;
                let balls = [form.ball_at(&from), form.ball_at(&to)];
                let travel = form.travel([&from, &to], [&balls[0], &balls[1]]);
                for part in &body.parts {
                    let [a, b] = [&from, &to].map(|pose| pose.compose(&part.body_from_part));
                    for v in part.polytope.vertices() {
                        let moved = (b.apply_rounded(v) - a.apply_rounded(v)).norm();
                        let room = Form::room_of_points([&form, &form], moved);
                        assert!(room <= travel, "{moved} {room} {travel}");
                        tightest = tightest.max(room / travel);
                    }
                }
            }
        }
        assert!(tightest > 0.6, "the bound is far too large: {tightest}");
    }

    /// Against the motion itself at many times, with pivots in the body and far beside it.
    #[test]
    fn no_point_strays_farther_from_its_chord_than_the_bow() {
        let (mut random, mut tightest) = (Random(92), 0.0_f64);
        for seed in 0..30 {
            let shape = Arc::new(ball(8 + (seed as u32) * 2, seed));
            let form = Form::of(&Body::solid(1, shape.clone()));
            for size in [1e-4, 0.03, 0.4, 3.0, 40.0] {
                let place = random.vector() * 3.0;
                let from = random.pose(place);
                let mut to = turned(&mut random, &from, size);
                to.translation = from.translation + random.vector();
                let pivot = random.vector() * [0.0, 1.0, 20.0][seed as usize % 3];
                let bow = form.bow([&from, &to], None, &pivot);
                let in_world = Some(from.apply_rounded(&pivot));
                let motion = Motion::ToPose { end: to, pivot: in_world, turn: None };
                for t in [0.1, 0.5, 0.8] {
                    let between = motion.pose_rounded(&from, t);
                    for v in shape.vertices() {
                        let [a, b] = [&from, &to].map(|pose| pose.apply_rounded(v));
                        let off = (between.apply_rounded(v) - (a * (1.0 - t) + b * t)).norm();
                        let most = 4.0 * t * (1.0 - t) * bow;
                        assert!(off <= most + 1e-13, "{off} {most}, by {size}");
                        tightest = tightest.max(off / most);
                    }
                }
            }
        }
        assert!(tightest > 0.6, "the bound is far too large: {tightest}");
    }

    /// Rotations as exact as they come, in single precision, and up to half turns.
    #[test]
    fn no_motion_turns_by_more_than_is_said() {
        let mut random = Random(93);
        for k in 0..20_000 {
            let from = random.pose(Vec3::zeros()).rotation;
            let size = 10f64.powf(random.vector().x * 12.0 - 6.0);
            let turn = random.vector() * size;
            let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
            let to = turn.rotation * from;
            let single = |m: &Mat3| m.map(|x| f64::from(x as f32));
            let (from, to) = if k % 2 == 0 { (from, to) } else { (single(&from), single(&to)) };
            let angle = Turn::between(&from, &to).angle;
            let most = angle_of_turn(&from, &to);
            assert!(angle <= most, "{angle} {most}");
            assert!(most > 2.0 || most <= 1.1 * angle + 1e-4, "{angle} {most}");
        }
    }
}
