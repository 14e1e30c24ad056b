//! Boxes that surely hold a placed polytope, at rest or in motion; and what two such boxes prove.
//!
//! Every bound is rounded outwards operation by operation: the result of a correctly rounded
//! operation is at most half an ulp off, so its neighbour on the far side is a true bound,
//! subnormal numbers included. Hence a gap between two boxes is a certificate with a coordinate
//! axis as its direction, as good as any other.

mod lanes;

pub(crate) use self::lanes::BOX_LANES;
pub(crate) use self::lanes::BoxBlock;
pub(crate) use self::lanes::BoxWay;

use clearance_geometry::Vec3;
use clearance_geometry::claim::Direction;
use clearance_geometry::number::rounding::{BOUND_SLACK, UNDERFLOW_FLOOR, UNIT, gamma};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::{Pose, STRETCH_MAX};

/// An axis-aligned box of the world that holds something, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Box3 {
    /// At most every coordinate held.
    pub low: [f64; 3],
    /// At least every coordinate held.
    pub high: [f64; 3],
}

/// Proof that two boxes are separated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gap {
    /// 0, 1 or 2: the coordinate in which they are apart.
    pub axis: usize,
    /// Whether Q lies on the negative side of P.
    pub negative: bool,
    /// At most the distance, metres; may be 0 when the gap is below the smallest number.
    pub lower: f64,
}

impl Gap {
    /// The axis from P towards Q: `min over Q of s·y > max over P of s·x`.
    pub(crate) fn direction(&self) -> Direction {
        let mut s = Vec3::zeros();
        s[self.axis] = if self.negative { -1.0 } else { 1.0 };
        Direction::Vector(s)
    }
}

impl Box3 {
    /// Holds `R v + t` for every point v of the polytope: the smaller, in every coordinate, of the
    /// box around the placed bounding box and of the box around the placed bounding sphere.
    ///
    /// Around the placed centre c of the bounding box with half extents h a coordinate reaches as
    /// far as `|row|·h`. What is computed is a product and a sum or two off for each of three
    /// terms; γ₁₆ of the sizes they are summed from is more than all of it and what the bound takes
    /// to compute, and so is [`UNDERFLOW_FLOOR`] for what underflows.
    pub(crate) fn of_placed(polytope: &Polytope, pose: &Pose) -> Self {
        let bounds = polytope.bounds();
        let radius = bounds.radius * STRETCH_MAX;
        let middle = bounds.low / 2.0 + bounds.high / 2.0;
        let half = bounds.high / 2.0 - bounds.low / 2.0;
        let absolute = pose.rotation.abs();
        let (box_centre, reach) = (pose.apply_rounded(&middle), absolute * half);
        let centre = pose.apply_rounded(&bounds.centre);
        let size = absolute * (bounds.reach + bounds.centre.abs()) + pose.translation.abs();
        let mut held = Self { low: [0.0; 3], high: [0.0; 3] };
        for i in 0..3 {
            let error = gamma(16) * (size[i] + radius) + UNDERFLOW_FLOOR;
            let low = (box_centre[i] - reach[i]).max(centre[i] - radius);
            let high = (box_centre[i] + reach[i]).min(centre[i] + radius);
            held.low[i] = low - error;
            held.high[i] = high + error;
        }
        held
    }

    /// Holds the ball.
    #[inline]
    pub(crate) fn around(ball: &Ball) -> Self {
        Self {
            low: ball.centre.map(|c| (c - ball.radius).next_down()),
            high: ball.centre.map(|c| (c + ball.radius).next_up()),
        }
    }

    /// The least box that holds both.
    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|i| self.low[i].min(other.low[i])),
            high: std::array::from_fn(|i| self.high[i].max(other.high[i])),
        }
    }

    /// Larger by `by` metres on every side.
    #[must_use]
    pub(crate) fn inflated(&self, by: f64) -> Self {
        Self {
            low: self.low.map(|c| (c - by).next_down()),
            high: self.high.map(|c| (c + by).next_up()),
        }
    }

    /// Holds a part on its whole way from one place to another, turning by `angle` radians about
    /// `pivot`.
    ///
    /// The motion (`geometry::motion::Motion::ToPose`) is `c + u t + Rot(axis, θ t) y` plus a
    /// residue linear in t, with `y = R0 v + t0 - c`. All but the turning term is linear in t, and
    /// that has `|f''| <= θ² |y|`; so the path stays within `θ² |y| / 8` of the segment between its
    /// ends, which the boxes of the two poses hold. Nor can it be farther from there than twice
    /// `|y|`, however often it turns.
    #[must_use]
    pub(crate) fn swept(from: &Self, to: &Self, angle: f64, pivot: &Vec3) -> Self {
        let held = from.union(to);
        if angle.abs() <= 0.0 {
            return held;
        }
        let bulge = (angle * angle / 8.0).min(2.0) * from.reach_from(pivot);
        held.inflated(bulge * (1.0 + BOUND_SLACK))
    }

    /// Holds whatever is no farther from a point than something held.
    #[must_use]
    pub(crate) fn about(&self, point: &Vec3) -> Self {
        Self { low: (*point).into(), high: (*point).into() }.inflated(self.reach_from(point))
    }

    /// Holds what is held, moved.
    #[must_use]
    pub(crate) fn moved(&self, by: &Vec3) -> Self {
        Self {
            low: std::array::from_fn(|i| (self.low[i] + by[i]).next_down()),
            high: std::array::from_fn(|i| (self.high[i] + by[i]).next_up()),
        }
    }

    /// At most the distance between something held and something that the other box holds, metres.
    pub(crate) fn distance_below(&self, other: &Self) -> f64 {
        let gaps: [f64; 3] = std::array::from_fn(|i| {
            let gap = (other.low[i] - self.high[i]).max(self.low[i] - other.high[i]);
            gap.max(0.0)
        });
        let largest = gaps[0].max(gaps[1]).max(gaps[2]);
        if largest <= 0.0 {
            return 0.0;
        }
        // Scaled, so that squares neither overflow nor vanish.
        let squares: f64 = gaps.iter().map(|gap| (gap / largest) * (gap / largest)).sum();
        largest * squares.sqrt() * (1.0 - BALL_ROUNDING)
    }

    /// At least the distance from `point` to anything held.
    fn reach_from(&self, point: &Vec3) -> f64 {
        let far: [f64; 3] = std::array::from_fn(|i| {
            (self.high[i] - point[i]).abs().max((point[i] - self.low[i]).abs()).next_up()
        });
        let largest = far[0].max(far[1]).max(far[2]);
        if largest <= 0.0 {
            return 0.0;
        }
        // Scaled, so that squares neither overflow nor vanish.
        let squares: f64 = far.iter().map(|f| (f / largest) * (f / largest)).sum();
        largest * squares.sqrt() * (1.0 + BOUND_SLACK)
    }

    /// The middle along an axis, rounded.
    pub(crate) fn centre(&self, axis: usize) -> f64 {
        self.low[axis] / 2.0 + self.high[axis] / 2.0
    }

    /// The axis along which the centres of some boxes lie farthest apart.
    pub(crate) fn widest_axis_of_centres<'a>(boxes: impl Iterator<Item = &'a Self>) -> usize {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for held in boxes {
            for axis in 0..3 {
                let centre = held.centre(axis);
                (low[axis], high[axis]) = (low[axis].min(centre), high[axis].max(centre));
            }
        }
        let spread = |axis: usize| high[axis] - low[axis];
        (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
    }

    /// Whether the boxes have a point in common.
    #[inline]
    pub(crate) fn meets(&self, q: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= q.high[axis] && q.low[axis] <= self.high[axis])
    }

    /// Whether all of the other box lies within this one.
    #[inline]
    pub(crate) fn holds(&self, inner: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= inner.low[axis] && inner.high[axis] <= self.high[axis])
    }

    /// The widest gap between the boxes, or none when they may meet.
    pub(crate) fn gap(&self, q: &Self) -> Option<Gap> {
        let mut widest: Option<Gap> = None;
        for axis in 0..3 {
            for (negative, near, far) in
                [(false, self.high[axis], q.low[axis]), (true, q.high[axis], self.low[axis])]
            {
                if near < far {
                    let lower = (far - near).next_down().max(0.0);
                    if widest.is_none_or(|gap| lower > gap.lower) {
                        widest = Some(Gap { axis, negative, lower });
                    }
                }
            }
        }
        widest
    }
}

/// A ball of the world that holds something, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ball {
    /// Its centre.
    pub centre: [f64; 3],
    /// At least the distance from the centre to every point held, metres.
    pub radius: f64,
}

/// A few roundings, relative to what is rounded: more than the eight of a squared distance or the
/// five of a distance.
const BALL_ROUNDING: f64 = 16.0 * UNIT;

impl Ball {
    /// Holds the box.
    pub(crate) fn around(held: &Box3) -> Self {
        let centre = std::array::from_fn(|i| held.low[i] / 2.0 + held.high[i] / 2.0);
        Self { centre, radius: held.reach_from(&Vec3::from(centre)) }
    }

    /// Holds a ball on its whole way from one pose to another: see [`Box3::swept`].
    #[must_use]
    pub(crate) fn swept(from: &Self, to: &Self, angle: f64, pivot: &Vec3) -> Self {
        let centre = std::array::from_fn(|i| from.centre[i] / 2.0 + to.centre[i] / 2.0);
        let halfway = Self { centre, radius: 0.0 };
        let ends = halfway.distance_above(from).max(halfway.distance_above(to));
        let radius = ends + from.radius.max(to.radius);
        let at_pivot = Self { centre: [pivot.x, pivot.y, pivot.z], radius: 0.0 };
        // The twelve numbers of the poses are rotations only up to their slack.
        let lever = at_pivot.distance_above(from) * STRETCH_MAX;
        let bulge = (angle * angle / 8.0).min(2.0) * lever;
        Self { centre, radius: (radius + bulge) * (1.0 + BALL_ROUNDING) }
    }

    /// The larger of its width and the largest coordinate of anything held, rounded.
    pub(crate) fn size(&self) -> f64 {
        let [x, y, z] = self.centre.map(f64::abs);
        (x.max(y).max(z) + self.radius).max(2.0 * self.radius)
    }

    /// Larger by `by` metres.
    #[must_use]
    pub(crate) fn inflated(&self, by: f64) -> Self {
        Self { radius: (self.radius + by).next_up(), ..*self }
    }

    /// Whether the balls may have a point in common: when this is false, the distance of what they
    /// hold is greater than zero.
    #[inline]
    pub(crate) fn may_meet(&self, q: &Self) -> bool {
        let reach = self.radius + q.radius;
        let squares = self.squared_distance(q);
        // What underflows is less than the smallest normal number.
        let least = squares * (1.0 - BALL_ROUNDING);
        let most = reach * reach * (1.0 + BALL_ROUNDING) + f64::MIN_POSITIVE;
        least <= most
    }

    /// Whether this ball, moved by `t velocity`, surely meets the other one at no t in [0, 1].
    ///
    /// With c between the centres, `|c - t velocity|` is least near the t that is computed here: a
    /// rounding of that t adds the square of its error, which is less than the rounding of the
    /// vector, and that is a few roundings of its terms.
    pub(crate) fn misses_along(&self, velocity: &Vec3, q: &Self) -> bool {
        let c = Vec3::from(q.centre) - Vec3::from(self.centre);
        let t = (c.dot(velocity) / velocity.norm_squared()).clamp(0.0, 1.0);
        // For a ball that stands still the quotient is no number.
        let t = if t.is_nan() { 0.0 } else { t };
        let nearest = (c - velocity * t).norm();
        let lost = BALL_ROUNDING * (nearest + c.norm() + velocity.norm());
        nearest - lost > (self.radius + q.radius) * (1.0 + BALL_ROUNDING) + f64::MIN_POSITIVE
    }

    /// Whether all of the other ball surely lies within this one.
    #[inline]
    pub(crate) fn holds(&self, inner: &Self) -> bool {
        let room = self.radius - inner.radius;
        let most = self.squared_distance(inner) * (1.0 + BALL_ROUNDING) + f64::MIN_POSITIVE;
        // NaN and infinity are held by nothing.
        room > 0.0 && most < room * room * (1.0 - BALL_ROUNDING)
    }

    /// At most the distance of what the balls hold, metres; 0 or less if they may meet.
    #[inline]
    pub(crate) fn gap(&self, q: &Self) -> f64 {
        if self.may_meet(q) {
            return 0.0;
        }
        let between = self.squared_distance(q).sqrt() * (1.0 - BALL_ROUNDING);
        between - (self.radius + q.radius) * (1.0 + BALL_ROUNDING)
    }

    #[inline]
    fn squared_distance(&self, q: &Self) -> f64 {
        (0..3).map(|i| (self.centre[i] - q.centre[i]) * (self.centre[i] - q.centre[i])).sum()
    }

    /// At least the distance of the centres, metres.
    fn distance_above(&self, q: &Self) -> f64 {
        let at = |ball: &Self| Vec3::from(ball.centre);
        Box3 { low: self.centre, high: self.centre }.reach_from(&at(q))
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;
    use std::sync::Arc;

    use super::*;
    use crate::declared::body::Body;
    use crate::placed::travel::Form;
    use clearance_geometry::hull::samples::{Random, polytope_of};

    fn unit_at(x: f64) -> Box3 {
        Box3 { low: [x, 0.0, 0.0], high: [x + 1.0, 1.0, 1.0] }
    }

    /// Against the distance at many times: what is said to miss never comes as near, and of what
    /// is not, nearly all does.
    #[test]
    fn balls_and_boxes_that_are_said_to_miss_on_their_way_never_meet() {
        let mut random = Random::new(9);
        let (mut missed, mut met_by_ball, mut met) = (0, 0, 0);
        for _ in 0..4000 {
            let ball = |random: &mut Random| Ball {
                centre: (random.in_ball() * 3.0).into(),
                radius: random.unit(),
            };
            let (p, q) = (ball(&mut random), ball(&mut random));
            let velocity = random.in_ball() * 6.0;
            let distance =
                |t: f64| (Vec3::from(p.centre) + velocity * t - Vec3::from(q.centre)).norm();
            let times = (0..=2000).map(|k| f64::from(k) / 2000.0);
            let least = times.map(distance).fold(f64::MAX, f64::min);
            let held = |ball: &Ball| Box3 {
                low: ball.centre.map(|c| c - ball.radius),
                high: ball.centre.map(|c| c + ball.radius),
            };
            let reached = BoxWay::new(&held(&p), &velocity).reaches(&held(&q));
            if p.misses_along(&velocity, &q) {
                missed += 1;
                assert!(least > p.radius + q.radius);
            } else {
                met_by_ball += 1;
            }
            if least <= p.radius + q.radius {
                met += 1;
                let first = (0..=2000).map(|k| f64::from(k) / 2000.0);
                let first = first.into_iter().find(|&t| distance(t) <= p.radius + q.radius);
                assert!(reached.is_some_and(|t| t <= first.unwrap()), "{reached:?} {first:?}");
            }
        }
        assert!(missed > 1000 && met > 150 && met_by_ball < met + met / 20, "{missed} {met}");
    }

    #[test]
    fn boxes_that_touch_prove_nothing() {
        assert_eq!(unit_at(0.0).gap(&unit_at(1.0)), None);
    }

    #[test]
    fn a_gap_of_one_ulp_is_a_proof_with_its_side() {
        let q = unit_at(1.0_f64.next_up());
        let gap = unit_at(0.0).gap(&q).unwrap();
        assert_eq!((gap.axis, gap.negative), (0, false));
        assert!(gap.lower > 0.0 && gap.lower <= f64::EPSILON);
        assert!(q.gap(&unit_at(0.0)).unwrap().negative);
    }

    #[test]
    fn a_gap_of_one_subnormal_is_still_a_proof() {
        let tiny = f64::from_bits(1);
        let p = Box3 { low: [0.0; 3], high: [0.0; 3] };
        let q = Box3 { low: [0.0, tiny, 0.0], high: [0.0, tiny, 0.0] };
        let gap = p.gap(&q).unwrap();
        assert_eq!((gap.axis, gap.lower), (1, 0.0));
    }

    #[test]
    fn balls_that_touch_may_meet_and_balls_a_little_farther_apart_do_not() {
        let at = |x: f64| Ball { centre: [x, 0.0, 0.0], radius: 1.0 };
        assert!(at(0.0).may_meet(&at(2.0)));
        assert!(!at(0.0).may_meet(&at(2.0 + 1e-12)));
        // Squares of these underflow, and those of these overflow.
        let of = |x: f64, radius: f64| Ball { centre: [x, x, x], radius };
        assert!(of(0.0, 0.0).may_meet(&of(1e-200, 1.5e-200)));
        assert!(of(0.0, 1e280).may_meet(&of(1e280, 1e280)));
        assert!(!of(0.0, 1.0).may_meet(&of(1e280, 1.0)));
    }

    #[test]
    fn a_swept_ball_holds_the_ball_on_the_arc_between_its_ends() {
        let (tip, pivot) = (Vec3::new(2.0, 0.0, 0.0), Vec3::new(10.0, 0.0, 0.0));
        for step in 1..=32 {
            let angle = PI * f64::from(step) / 32.0;
            let pose = |angle: f64| {
                let half = angle / 2.0;
                Pose::from_quaternion(pivot, [half.cos(), 0.0, 0.0, half.sin()]).unwrap()
            };
            let held = |p: &Pose| Ball { centre: p.apply_rounded(&tip).into(), radius: 0.25 };
            let (from, to) = (pose(0.0), pose(angle));
            let swept = Ball::swept(&held(&from), &held(&to), angle, &pivot);
            for sample in 0..=20 {
                let on_the_way = held(&pose(angle * f64::from(sample) / 20.0));
                let reached = swept.distance_above(&on_the_way) + on_the_way.radius;
                assert!(reached <= swept.radius + 1e-12, "{angle} {sample}");
            }
        }
    }

    #[test]
    fn a_ball_holds_every_placed_vertex() {
        let mut random = Random::new(31);
        for _ in 0..200 {
            let count = 4 + random.below(60);
            let points: Vec<Vec3> = (0..count).map(|_| random.direction() * 3.0).collect();
            let polytope = polytope_of(&points);
            let turn: [f64; 4] = std::array::from_fn(|_| random.between(-1.0, 1.0));
            let pose = Pose::from_quaternion(random.direction() * 1e6, turn).unwrap();
            let body = Body::solid(1, Arc::new(polytope.clone()));
            let ball = Form::of(&body).ball_at(&pose);
            for vertex in polytope.vertices() {
                let x = pose.apply_rounded(vertex);
                let reached = (x - Vec3::from(ball.centre)).norm();
                // The vertex and its distance are rounded at a million metres.
                assert!(reached <= ball.radius + 1e-9, "{reached} {}", ball.radius);
            }
        }
    }

    #[test]
    fn a_swept_box_holds_the_arc_between_its_ends() {
        // A rod tip at radius 2 turns by `angle` about the pivot (10, 0, 0).
        let tip = Vec3::new(2.0, 0.0, 0.0);
        let pivot = Vec3::new(10.0, 0.0, 0.0);
        for step in 1..=32 {
            let angle = PI * f64::from(step) / 32.0;
            let pose = |angle: f64| {
                let half = angle / 2.0;
                Pose::from_quaternion(pivot, [half.cos(), 0.0, 0.0, half.sin()]).unwrap()
            };
            let held = |p: &Pose| {
                let x = p.apply_rounded(&tip);
                Box3 { low: [x.x, x.y, x.z], high: [x.x, x.y, x.z] }.inflated(1e-12)
            };
            let (from, to) = (pose(0.0), pose(angle));
            let swept = Box3::swept(&held(&from), &held(&to), angle, &pivot);
            for sample in 0..=20 {
                let x = pose(angle * f64::from(sample) / 20.0).apply_rounded(&tip);
                for i in 0..3 {
                    assert!(swept.low[i] <= x[i] && x[i] <= swept.high[i], "{angle} {sample}");
                }
            }
        }
    }
}
