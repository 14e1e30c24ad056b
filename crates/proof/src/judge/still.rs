//! What a rotation leaves as it is, exactly: the difference of two bodies that turn alike, seen
//! from either, and vertices on the axis that a body turns about. Of these, a judge needs no sine.

use super::exact::{Exact, exact_point, is_zero, minus, scalar_product, vector_product};
use crate::Vec3;
use crate::claim::{Course, Points};
use crate::motion::Motion;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::pose::Pose;
use crate::vertex_pair::VertexPair;

/// A rotation about an axis that moves at a constant velocity.
struct Screw<'a> {
    pivot: &'a Vec3,
    velocity: &'a Vec3,
    axis: &'a Vec3,
    angle: f64,
}

/// The motion from `start` as a screw, if it is one.
fn screw<'a>(motion: &'a Motion, start: &'a Pose) -> Option<Screw<'a>> {
    let Motion::Screw { pivot, velocity, axis, angle } = motion else { return None };
    Some(Screw {
        pivot: pivot.as_ref().unwrap_or(&start.translation),
        velocity,
        axis,
        angle: *angle,
    })
}

/// How far Q travels relative to P in the step as seen from either, if both turn alike: about axes
/// that are parallel, by the same angle, so that what is between the pivots and between the
/// velocities is along the axis and turns with neither. Every difference of two points is then
/// `Rot(t) (d + t travel)`.
pub(super) fn travel_if_alike(course: &Course<'_>) -> Option<Exact> {
    let p = screw(&course.motion_p, &course.bodies.p.pose)?;
    let q = screw(&course.motion_q, &course.bodies.q.pose)?;
    let axis = exact(p.axis);
    let is_along = |v: &Exact| is_zero(&vector_product(&axis, v));
    let between = |from: &Vec3, to: &Vec3| minus(&exact(to), &exact(from));
    let travel = between(p.velocity, q.velocity);
    // Turning about the opposite of an axis is turning back.
    let is_same_way = scalar_product(&axis, &exact(q.axis)).sign() == Sign::Positive;
    let angle = Dyadic::from(if is_same_way { q.angle } else { -q.angle });
    let turns_alike = Dyadic::from(p.angle) == angle && is_along(&exact(q.axis));
    let is_alike = turns_alike && is_along(&between(p.pivot, q.pivot)) && is_along(&travel);
    (is_alike && !is_zero(&axis) && !is_zero(&exact(q.axis))).then_some(travel)
}

/// The pairs' travel, if no rotation touches any of their vertices: those on the axis that a body
/// turns about.
pub(super) fn travel_if_untouched(course: &Course<'_>, pairs: &[VertexPair]) -> Option<Exact> {
    let of = |points: &Points<'_>, motion: &Motion, indices: &[u32]| {
        if let Some(velocity) = velocity_of(motion, &points.pose) {
            return Some(velocity);
        }
        let Screw { pivot, velocity, axis, .. } = screw(motion, &points.pose)?;
        let is_on_axis = |&i: &u32| {
            let arm = minus(&exact_point(points, i), &exact(pivot));
            is_zero(&vector_product(&exact(axis), &arm))
        };
        indices.iter().all(is_on_axis).then(|| exact(velocity))
    };
    let (of_p, of_q): (Vec<u32>, Vec<u32>) = pairs.iter().map(|pair| (pair.i, pair.j)).unzip();
    let of_p = of(&course.bodies.p, &course.motion_p, &of_p)?;
    let of_q = of(&course.bodies.q, &course.motion_q, &of_q)?;
    Some(minus(&of_q, &of_p))
}

fn exact(v: &Vec3) -> Exact {
    std::array::from_fn(|k| Dyadic::from(v[k]))
}

/// The exact velocity of a motion that turns nothing; none of one that turns. The recipe for the
/// angle between two equal rotations gives 0, since `R Rᵀ` comes out symmetric.
pub(super) fn velocity_of(motion: &Motion, start: &Pose) -> Option<Exact> {
    let exact = |v: &Vec3| std::array::from_fn(|k| Dyadic::from(v[k]));
    match motion {
        Motion::Linear { velocity } => Some(exact(velocity)),
        Motion::Screw { velocity, angle, .. } if angle.abs() <= 0.0 => Some(exact(velocity)),
        Motion::ToPose { end, turn, .. }
            if end.rotation == start.rotation && turn.is_none_or(|turn| turn.is_none()) =>
        {
            let (from, to): (Exact, Exact) = (exact(&start.translation), exact(&end.translation));
            Some(std::array::from_fn(|k| &to[k] - &from[k]))
        }
        Motion::Screw { .. } | Motion::ToPose { .. } => None,
    }
}
