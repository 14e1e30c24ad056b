//! Travels: how far bodies come that do not turn, and what two bodies travel that only translate
//! to each other, because neither turns or because they turn together.

use dashu_int::IBig;

use crate::Vec3;
use crate::claim::Frame;
use crate::motion::Motion;
use crate::number::dyadic::Dyadic;
use crate::number::scaled::{Integers, integer_at, least_exponent};
use crate::pair::Question;
use crate::pose::Pose;

/// How far a body comes in the step, as an exact difference: often no vector of f64 numbers.
#[derive(Clone, Copy, Debug)]
pub struct Travel {
    /// Where a point of the body begins, metres, world frame.
    pub from: Vec3,
    /// Where it ends.
    pub to: Vec3,
}

impl Travel {
    /// The travel of a body with this velocity, metres per step.
    pub fn by(velocity: &Vec3) -> Self {
        Self { from: Vec3::zeros(), to: *velocity }
    }

    /// The travel as a vector, with one rounding of each coordinate.
    pub(super) fn rounded(&self) -> Vec3 {
        self.to - self.from
    }

    fn numbers(&self) -> impl Iterator<Item = &f64> {
        self.from.iter().chain(self.to.iter())
    }

    /// Coordinate k times two to minus the scale, which is at most the least exponent of the
    /// numbers.
    fn exact(&self, k: usize, scale: i64) -> IBig {
        integer_at(self.to[k], scale) - integer_at(self.from[k], scale)
    }
}

/// The travel of Q relative to P, exactly: integers, and the exponent of two that is their unit.
pub(super) fn relative([of_p, of_q]: [&Travel; 2]) -> (Integers, i64) {
    let scale = least_exponent(of_p.numbers().chain(of_q.numbers())).unwrap_or(0);
    (std::array::from_fn(|k| of_q.exact(k, scale) - of_p.exact(k, scale)), scale)
}

/// The travel of a motion that turns nothing; `None` for one that turns. The recipe for the angle
/// between two equal rotations gives 0, since `R Rᵀ` comes out symmetric.
pub fn translation_of(motion: &Motion, start: &Pose) -> Option<Travel> {
    match motion {
        Motion::Linear { velocity } => Some(Travel::by(velocity)),
        Motion::Screw { velocity, angle, .. } if angle.abs() <= 0.0 => Some(Travel::by(velocity)),
        Motion::ToPose { end, turn, .. }
            if end.rotation == start.rotation && turn.is_none_or(|turn| turn.is_none()) =>
        {
            Some(Travel { from: start.translation, to: end.translation })
        }
        Motion::Screw { .. } | Motion::ToPose { .. } => None,
    }
}

/// The motions of two bodies that only translate to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Translation {
    /// The travels of P and of Q, in the frame.
    pub(super) travels: [Travel; 2],
    /// The frame in which neither body turns: the world or, where they turn together, P's.
    pub(super) frame: Frame,
}

impl Translation {
    /// How the bodies translate to each other, if they do no more than that. Bodies that turn
    /// together count if contact is meant exactly: deviations and margins are of the world.
    #[inline(always)]
    pub(super) fn of(question: &Question<'_>) -> Option<Self> {
        let of_p = translation_of(&question.motion_p, &question.pair.p.pose);
        let of_q = translation_of(&question.motion_q, &question.pair.q.pose);
        if let (Some(of_p), Some(of_q)) = (of_p, of_q) {
            return Some(Self { travels: [of_p, of_q], frame: Frame::World });
        }
        if !may_turn_together(question) {
            return None;
        }
        let travels = travels_besides_common_rotation(question)?;
        Some(Self { travels, frame: Frame::P })
    }
}

/// Whether both bodies turn by the same angle, as those with a common rotation do. Mostly they do
/// not.
#[inline]
fn may_turn_together(question: &Question<'_>) -> bool {
    let angle_of = |motion: &Motion| match motion {
        Motion::Screw { angle, .. } => Some(angle.abs().to_bits()),
        Motion::Linear { .. } | Motion::ToPose { .. } => None,
    };
    let (p, q) = (angle_of(&question.motion_p), angle_of(&question.motion_q));
    p.is_some() && p == q && question.is_without_slack()
}

/// How far each body travels besides the rotation that they have in common, if they have one: both
/// turn by the same angle about one axis, as two parts on a carrier do, and one of them may also
/// travel along it. Seen from either body, the other one then only translates, so that their first
/// contact is that of a translation: exact however many turns there are and however close the
/// bodies come.
///
/// With `c`, `u` and `y` the pivots, the velocities and what turns, a difference is `c_q - c_p + t
/// (u_q - u_p) + Rot(t) (y_q - y_p)`. The parts of the first two terms along the axis may as well
/// turn.
#[cold]
#[inline(never)]
fn travels_besides_common_rotation(question: &Question<'_>) -> Option<[Travel; 2]> {
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

/// Whether `a x b` is zero, exactly.
pub(super) fn is_parallel(a: &Vec3, b: &Vec3) -> bool {
    let product = |x: f64, y: f64| &Dyadic::from(x) * &Dyadic::from(y);
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(k, l)| product(a[k], b[l]) == product(a[l], b[k]))
}

/// Whether `(to - from) x axis` is zero, exactly.
fn is_between_along(from: &Vec3, to: &Vec3, axis: &Vec3) -> bool {
    let exact = |x: f64| Dyadic::from(x);
    let between = [0, 1, 2].map(|k| &exact(to[k]) - &exact(from[k]));
    let product = |k: usize, l: usize| &between[k] * &exact(axis[l]);
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(k, l)| product(k, l) == product(l, k))
}
