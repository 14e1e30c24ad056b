//! Bodies with a common rotation: both turn by the same angle about one axis, as two parts on a
//! carrier do, and one of them may also travel along it. Seen from either body, the other one only
//! translates. So their first contact is that of a translation, which is exact however many turns
//! there are and however close the bodies come.

use crate::geometry::Vec3;
use crate::geometry::claim::{FirstContact, Frame, Link, Question};
use crate::geometry::contact_time::rotating::bounds::unturned::is_parallel;
use crate::geometry::contact_time::{METHODS, Travel, linear};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::motion::Motion;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::witness::Witness;

/// Whether both bodies turn by the same angle, as those with a common rotation do. Mostly they do
/// not.
#[inline]
pub(in super::super) fn may_be(question: &Question<'_>) -> bool {
    let angle_of = |motion: &Motion| match motion {
        Motion::Screw { angle, .. } => Some(angle.abs().to_bits()),
        Motion::Linear { .. } | Motion::ToPose { .. } => None,
    };
    let (p, q) = (angle_of(&question.motion_p), angle_of(&question.motion_q));
    p.is_some() && p == q && question.is_without_slack()
}

/// The first contact, if the bodies have a common rotation.
#[cold]
#[inline(never)]
pub(in super::super) fn first_contact(
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Option<FirstContact>, Stopped> {
    let Some(travels) = travels(question) else { return Ok(None) };
    let [of_p, of_q] = &travels;
    let mut answer = linear::first_contact(&METHODS[0], question, [of_p, of_q], witness, effort)?;
    for link in &mut answer.chain {
        *link = Link { frame: Frame::P, ..*link };
    }
    Ok(Some(answer))
}

/// How far each body travels, without the rotation that they have in common.
///
/// With `c`, `u` and `y` the pivots, the velocities and what turns, a difference is `c_q - c_p + t
/// (u_q - u_p) + Rot(t) (y_q - y_p)`. The parts of the first two terms along the axis may as well
/// turn.
fn travels(question: &Question<'_>) -> Option<[Travel; 2]> {
    let Motion::Screw { pivot, velocity, axis, angle } = question.motion_p else { return None };
    let Motion::Screw { pivot: pivot_q, velocity: velocity_q, axis: axis_q, angle: angle_q } =
        question.motion_q
    else {
        return None;
    };
    let [start, start_q] =
        [&question.pair.p, &question.pair.q].map(|placed| placed.pose.translation);
    let (from, to) = (pivot.unwrap_or(start), pivot_q.unwrap_or(start_q));
    // Turning about the opposite of an axis is turning back.
    let k = axis.iamax();
    let is_same_way = (axis[k] > 0.0) == (axis_q[k] > 0.0);
    let turns_alike =
        is_same_way == ((angle > 0.0) == (angle_q > 0.0)) && is_parallel(&axis, &axis_q);
    let is_common = turns_alike
        && is_between_along(&from, &to, &axis)
        && is_between_along(&velocity, &velocity_q, &axis);
    is_common.then(|| [Travel::by(&velocity), Travel::by(&velocity_q)])
}

/// Whether `(to - from) x axis` is zero, exactly.
fn is_between_along(from: &Vec3, to: &Vec3, axis: &Vec3) -> bool {
    let exact = |x: f64| Dyadic::from(x);
    let between = [0, 1, 2].map(|k| &exact(to[k]) - &exact(from[k]));
    let product = |k: usize, l: usize| &between[k] * &exact(axis[l]);
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(k, l)| product(k, l) == product(l, k))
}
