//! How far a body that turns reaches from the axis of its motion.

use super::Shape;
use crate::Vec3;
use crate::motion::{Plain, SCANNED_MAX, Track, UNDERFLOWN, size_of};
use crate::number::rounding::{SQUARES, UNIT, length};

/// How far a body reaches, seen from its axis of rotation. Every number is an upper bound, the
/// range along the axis an outer one.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Bounds |v|, rounded.
    pub size: f64,
    /// Bounds `|a × (R v + l)|`, the distance from the axis.
    pub radius: f64,
    /// Bounds `|R v + l|`, the distance from the pivot.
    pub reach: f64,
    /// `a · (R v + l)`.
    pub along: (f64, f64),
    /// Bounds `|E v|`.
    pub residue: f64,
    /// Every vertex was looked at: this is as good as it gets.
    pub is_scanned: bool,
}

impl Extent {
    /// By the vertices of a small body, by the ball of another.
    pub fn new(track: &Track, plain: &Plain, body: &Shape) -> Self {
        if body.vertex_count() <= SCANNED_MAX {
            Self::of_vertices(track, plain, body)
        } else {
            Self::of_ball(track, plain, body)
        }
    }

    /// A bound of |v|, what the coordinates here may be off by, and E's part.
    fn pads(track: &Track, plain: &Plain, body: &Shape) -> (f64, f64, f64) {
        let size = length(&track.reach(&body.bounds().low, &body.bounds().high));
        let arm = size + plain.lever_length;
        let pad = (32.0 * UNIT + 4.0 * plain.axis_slack) * arm
            + 2.0 * plain.lever_slack
            + 16.0 * plain.scaling_slack
            + UNDERFLOWN;
        let residue = plain.residue.as_ref().map_or(0.0, |e| {
            size * (16.0 * UNIT * size_of(e) + 4.0 * plain.residue_slack) + UNDERFLOWN
        });
        (size, pad, residue)
    }

    /// By looking at every vertex.
    pub fn of_vertices(track: &Track, plain: &Plain, body: &Shape) -> Self {
        let (size, pad, residue_pad) = Self::pads(track, plain, body);
        let mut along = (f64::INFINITY, f64::NEG_INFINITY);
        // Roots are taken of the largest squares, unless those underflow or overflow.
        let mut largest = |size: fn(&Vec3) -> f64| {
            let (mut radius, mut reach, mut residue) = (0.0f64, 0.0f64, 0.0f64);
            for v in body.vertices() {
                let v = track.local(v);
                let arm = plain.arm(&v);
                radius = radius.max(size(&plain.axis.cross(&arm)));
                reach = reach.max(size(&arm));
                let height = plain.axis.dot(&arm);
                along = (along.0.min(height), along.1.max(height));
                if plain.residue.is_some() {
                    residue = residue.max(size(&plain.residue_of(&v)));
                }
            }
            [radius, reach, residue]
        };
        let squares = largest(Vec3::norm_squared);
        let used = if plain.residue.is_some() { 3 } else { 2 };
        let is_tame = squares[..used].iter().all(|s| SQUARES.contains(s));
        let [radius, reach, residue] =
            if is_tame { squares.map(f64::sqrt) } else { largest(length) };
        Self {
            size,
            radius: radius + pad,
            reach: reach + pad,
            along: (along.0 - pad, along.1 + pad),
            residue: residue + residue_pad,
            is_scanned: true,
        }
    }

    /// From the bounding ball alone. `|R w| <= 1.000002 |w|` for the matrices that are let in.
    pub fn of_ball(track: &Track, plain: &Plain, body: &Shape) -> Self {
        let (size, pad, residue_pad) = Self::pads(track, plain, body);
        let bounds = body.bounds();
        let centre = track.local(&bounds.centre);
        let arm = plain.arm(&centre);
        let ball = track.length(bounds.radius) * 1.000_01 + 2.0 * pad;
        let height = plain.axis.dot(&arm);
        let residue = plain.residue.as_ref().map_or(0.0, |e| {
            length(&plain.residue_of(&centre)) + 2.0 * size_of(e) * ball + residue_pad
        });
        Self {
            size,
            radius: length(&plain.axis.cross(&arm)) + ball,
            reach: length(&arm) + ball,
            along: (height - ball, height + ball),
            residue,
            is_scanned: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hull::samples::{Random, polytope_of};
    use crate::motion::{METRES, Motion};
    use crate::number::interval::{self, middle, norm, sub};
    use crate::pose::Pose;

    fn random_motion(random: &mut Random, round: u64) -> (Pose, Motion) {
        let q = [(); 4].map(|()| random.between(-1.0, 1.0));
        let far = [1.0, 1e3, 1e6][(round % 3) as usize];
        let pose = Pose::from_quaternion(random.in_ball() * far, q).expect("not zero");
        let pivot = round.is_multiple_of(2).then(|| random.in_ball() * far);
        if round.is_multiple_of(5) {
            let q = [(); 4].map(|()| random.between(-1.0, 1.0));
            let end = Pose::from_quaternion(random.in_ball() * far, q).expect("not zero");
            return (pose, Motion::ToPose { end, pivot, turn: None });
        }
        let angle = random.between(-9.0, 9.0) * [1.0, 100.0, 1e-6][(round % 7 % 3) as usize];
        let (velocity, axis) = (random.in_ball() * far, random.direction());
        (pose, Motion::Screw { pivot, velocity, axis, angle })
    }

    #[test]
    fn extents_bound_the_speed_and_the_acceleration_that_samples_show() {
        let mut random = Random::new(5);
        for _ in 0..50 {
            let q = [(); 4].map(|()| random.between(-1.0, 1.0));
            let start = Pose::from_quaternion(random.in_ball() * 10.0, q).expect("not zero");
            let motion = Motion::Screw {
                pivot: Some(random.in_ball() * 3.0),
                velocity: Vec3::zeros(),
                axis: random.direction(),
                angle: random.between(-9.0, 9.0),
            };
            let track = Track::new(&start, &motion, METRES);
            let v = random.in_ball();
            let extent = Extent::new(&track, &Plain::new(&track), &polytope_of(&[v]));
            let at = |t: f64| middle(&track.place_from_start(&track.trig(t), t, &v));
            let h = 1e-3;
            for i in 1..20 {
                let t = f64::from(i) / 20.0;
                let speed = (at(t + h) - at(t - h)).norm() / (2.0 * h);
                let bend = (at(t + h) - at(t) * 2.0 + at(t - h)).norm() / (h * h);
                let rate = track.angle.abs();
                assert!(speed <= rate * extent.radius * (1.0 + 1e-9) + 1e-9);
                assert!(bend <= rate * rate * extent.radius * (1.0 + 1e-6) + 1e-6);
                assert!(speed >= 0.9 * rate * extent.radius, "a bound, and not a loose one");
            }
        }
    }

    #[test]
    fn the_ball_bounds_what_the_vertices_do() {
        let mut random = Random::new(6);
        for round in 0..60 {
            let (pose, motion) = random_motion(&mut random, round);
            let track = Track::new(&pose, &motion, METRES);
            let plain = Plain::new(&track);
            let points: Vec<Vec3> = (0..12).map(|_| random.in_ball()).collect();
            let body = polytope_of(&points);
            let (scan, ball) = (
                Extent::of_vertices(&track, &plain, &body),
                Extent::of_ball(&track, &plain, &body),
            );
            assert!(scan.radius <= ball.radius && scan.reach <= ball.reach, "{scan:?} {ball:?}");
            assert!(scan.along.0 >= ball.along.0 && scan.along.1 <= ball.along.1);
            assert!(scan.residue <= ball.residue + 1e-18);
        }
    }

    #[test]
    fn a_place_is_within_its_error_of_the_enclosure() {
        let mut random = Random::new(17);
        let mut largest = 0.0f64;
        for round in 0..3000 {
            let (pose, motion) = random_motion(&mut random, round);
            let track = Track::new(&pose, &motion, METRES);
            let plain = Plain::new(&track);
            let (v, t) = (random.in_ball() * 5.0, random.between(0.0, 1.0));
            let place = plain.place_from_start(&plain.trig(t).expect("few turns"), t, &v);
            let enclosed = track.place_from_start(&track.trig(t), t, &v);
            // The exact place is in the enclosure, so it is no farther than this less its width.
            let off = norm(&sub(&interval::point(&place), &enclosed)).low();
            let lengths = v.norm() + plain.lever.norm() + plain.velocity.norm();
            let error = plain.error(v.norm());
            assert!(off <= error, "{round}: {off} {error}");
            assert!(error < 1.2e-13 * lengths, "{round}: {error} for {lengths}");
            largest = largest.max((place - middle(&enclosed)).norm() / error);
        }
        assert!(largest > 0.01, "a bound, and not a loose one: {largest}");
    }
}
