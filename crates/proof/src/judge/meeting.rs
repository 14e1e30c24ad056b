//! The judge of the pairs that prove contact of turning bodies, where their enclosures leave doubt
//! that the exact numbers do not: in a plane that neither body leaves, and at the end of the step.

use super::exact::{
    Exact, exact_differences, holds_origin, is_zero, scalar_product, vector_product,
};
use super::refusal::Refusal;
use super::still::velocity_of;
use crate::Vec3;
use crate::claim::{Bodies, Course, Points};
use crate::motion::Motion;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::interval::{Interval, IntervalVec};
use crate::pose::Pose;
use crate::vertex_pair::VertexPair;

/// Whether the pairs' differences have exactly 0 along some direction at time t and, for every
/// choice of two other coordinates from the enclosures, the origin strictly inside their hull in
/// that plane.
///
/// `at_start` are the exact differences at t = 0, `enclosed` the enclosures at t. The direction is
/// a coordinate axis or one that a body turns about, and a height that rotations leave alone
/// changes at a constant rate.
pub(super) fn surely_held_in_a_plane(
    course: &Course<'_>,
    at_start: &[Exact],
    enclosed: &[IntervalVec],
    t: f64,
) -> bool {
    let motions = [&course.motion_p, &course.motion_q];
    let turning = motions.into_iter().filter_map(|motion| match motion {
        Motion::Screw { axis, .. } => Some(exact(axis)),
        Motion::Linear { .. } | Motion::ToPose { .. } => None,
    });
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()].iter().map(exact).collect::<Vec<_>>();
    axes.into_iter().chain(turning).any(|normal| {
        // In a plane across the normal, this coordinate follows from the others.
        let Some(k) = (0..3).max_by_key(|&k| size_of(&normal[k])) else { return false };
        if is_zero(&normal) {
            return false;
        }
        let rate = |points: &Points<'_>, motion| rate_along(&points.pose, motion, &normal);
        let of_p = rate(&course.bodies.p, &course.motion_p);
        let of_q = rate(&course.bodies.q, &course.motion_q);
        let (Some(of_p), Some(of_q)) = (of_p, of_q) else { return false };
        let moved = &(&of_q - &of_p) * &Dyadic::from(t);
        let height = |d: &Exact| &scalar_product(&normal, d) + &moved;
        let is_flat = at_start.iter().all(|d| height(d).sign() == Sign::Zero);
        let others = [(k + 1) % 3, (k + 2) % 3];
        let flat: Vec<_> = enclosed.iter().map(|d| others.map(|i| d[i])).collect();
        is_flat && surely_held_flat(&flat)
    })
}

fn exact(v: &Vec3) -> Exact {
    std::array::from_fn(|k| Dyadic::from(v[k]))
}

/// `|x|`
fn size_of(x: &Dyadic) -> Dyadic {
    if x.sign() == Sign::Negative { -x } else { x.clone() }
}

/// How fast the height along `normal` of every point of the body changes, if no rotation touches
/// it: exactly.
fn rate_along(start: &Pose, motion: &Motion, normal: &Exact) -> Option<Dyadic> {
    let along = |v: &Vec3| scalar_product(normal, &exact(v));
    let is_about = |axis: &Vec3| is_zero(&vector_product(&exact(axis), normal));
    match motion {
        Motion::Linear { velocity } => Some(along(velocity)),
        Motion::Screw { velocity, axis, angle, .. } => {
            (angle.abs() <= 0.0 || is_about(axis)).then(|| along(velocity))
        }
        Motion::ToPose { end, turn, .. } => {
            let turn = Motion::turn_to(start, end, turn);
            let row = |pose: &Pose, k| along(&pose.rotation.column(k).into());
            let keeps = (0..3).all(|k| row(start, k) == row(end, k));
            let is_alone = keeps && (turn.is_none() || is_about(&turn.axis));
            is_alone.then(|| &along(&end.translation) - &along(&start.translation))
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

/// Whether the pairs' differences at t = 1 have the origin in their hull, if both bodies end
/// exactly at given poses: motions to a pose, and translations.
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
