//! The judge of the pairs that prove contact of turning bodies, where their enclosures leave doubt
//! that the exact numbers do not: in a plane that neither body leaves, and at the end of the step.

use super::bodies::{Bodies, Points};
use super::judge::{
    Exact, Refusal, exact_differences, holds_origin, scalar_product, vector_product,
};
use super::judge_motion::{Course, velocity_of};
use crate::geometry::motion::{Motion, axis_and_angle};
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::number::interval::{Interval, IntervalVec};
use crate::geometry::pair::VertexPair;
use crate::geometry::pose::Pose;

/// Whether the pairs' differences have exactly 0 along one coordinate axis at time t and, for every
/// choice of the other two coordinates from the enclosures, the origin strictly inside their hull
/// in that plane.
///
/// `at_start` are the exact differences at t = 0, `enclosed` the enclosures at t. A coordinate that
/// rotations leave alone changes at a constant rate.
pub(super) fn surely_held_in_a_plane(
    course: &Course<'_>,
    at_start: &[Exact],
    enclosed: &[IntervalVec],
    t: f64,
) -> bool {
    (0..3).any(|k| {
        let rate = |points: &Points<'_>, motion| rate_along(&points.pose, motion, k);
        let of_p = rate(&course.bodies.p, &course.motion_p);
        let of_q = rate(&course.bodies.q, &course.motion_q);
        let (Some(of_p), Some(of_q)) = (of_p, of_q) else { return false };
        let moved = &(&of_q - &of_p) * &Dyadic::from(t);
        let is_flat = at_start.iter().all(|d| (&d[k] + &moved).sign() == Sign::Zero);
        let others = [(k + 1) % 3, (k + 2) % 3];
        let flat: Vec<_> = enclosed.iter().map(|d| others.map(|i| d[i])).collect();
        is_flat && surely_held_flat(&flat)
    })
}

/// How fast coordinate k of every point of the body changes, if no rotation touches it: exactly.
fn rate_along(start: &Pose, motion: &Motion, k: usize) -> Option<Dyadic> {
    let is_about_k = |axis: &crate::geometry::Vec3| (0..3).all(|i| i == k || axis[i].abs() <= 0.0);
    match motion {
        Motion::Linear { velocity } => Some(Dyadic::from(velocity[k])),
        Motion::Screw { velocity, axis, angle, .. } => {
            (angle.abs() <= 0.0 || is_about_k(axis)).then(|| Dyadic::from(velocity[k]))
        }
        Motion::ToPose { end, .. } => {
            let (axis, angle) = axis_and_angle(&start.rotation, &end.rotation);
            let keeps = start.rotation.row(k) == end.rotation.row(k);
            let is_alone = keeps && (angle.abs() <= 0.0 || is_about_k(&axis));
            is_alone
                .then(|| &Dyadic::from(end.translation[k]) - &Dyadic::from(start.translation[k]))
        }
    }
}

/// Whether vectors from the enclosures surely lie in no closed half plane: for every one of them,
/// others lie surely on both sides of the line through it. (A half plane that held all could be
/// turned until one of them is on its border.)
fn surely_held_flat(vectors: &[[Interval; 2]]) -> bool {
    let splits = |a: &[Interval; 2]| {
        let meets =
            |side: Sign| vectors.iter().any(|b| (a[0] * b[1] - a[1] * b[0]).sign() == Some(side));
        meets(Sign::Positive) && meets(Sign::Negative)
    };
    vectors.len() >= 3 && vectors.iter().all(splits)
}

/// Whether the pairs' differences at t = 1 have the origin in their hull, if both bodies end exactly
/// at given poses: motions to a pose, and translations.
pub(super) fn held_at_the_end(course: &Course<'_>, pairs: &[VertexPair]) -> Result<bool, Refusal> {
    let zero = || std::array::from_fn(|_| Dyadic::from(0.0));
    let end = |points: &Points<'_>, motion: &Motion| -> Option<(Pose, Exact)> {
        match motion {
            Motion::ToPose { end, .. } => Some((*end, zero())),
            Motion::Linear { .. } | Motion::Screw { .. } => {
                velocity_of(motion, &points.pose).map(|velocity| (points.pose, velocity))
            }
        }
    };
    let Bodies { p, q } = course.bodies;
    let (Some((pose_p, by_p)), Some((pose_q, by_q))) =
        (end(&p, &course.motion_p), end(&q, &course.motion_q))
    else {
        return Ok(false);
    };
    let at_end = Bodies { p: Points { pose: pose_p, ..p }, q: Points { pose: pose_q, ..q } };
    let mut differences = exact_differences(&at_end, pairs)?;
    for d in &mut differences {
        *d = std::array::from_fn(|k| &d[k] + &(&by_q[k] - &by_p[k]));
    }
    Ok(holds_origin(&differences) || holds_origin_in_solid(&differences))
}

/// The origin in a tetrahedron of four of the points, boundary included.
pub(super) fn holds_origin_in_solid(points: &[Exact]) -> bool {
    let n = points.len();
    let determinant =
        |a: &Exact, b: &Exact, c: &Exact| scalar_product(a, &vector_product(b, c)).sign();
    (0..n).any(|d| {
        (0..d).any(|c| {
            (0..c).any(|b| {
                (0..b).any(|a| {
                    let [a, b, c, d] = [a, b, c, d].map(|k| &points[k]);
                    let signs = [
                        determinant(b, c, d),
                        -determinant(a, c, d),
                        determinant(a, b, d),
                        -determinant(a, b, c),
                    ];
                    let has = |sign: Sign| signs.contains(&sign);
                    has(Sign::Positive) != has(Sign::Negative)
                })
            })
        })
    })
}
