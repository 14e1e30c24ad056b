//! When: the first contact of two moving polytopes over one step.

#[cfg(test)]
mod features;
mod linear;
mod method;
pub mod polyhedra;
pub mod prism;
pub mod rotating;

use arrayvec::ArrayVec;

use crate::geometry::claim::{FirstContact, Outcome, Question};

pub use linear::Travel;
pub use method::{METHODS, Method};

use super::effort::{Effort, Stopped};
use super::motion::Motion;
use super::pose::Pose;
use super::witness::Witness;
use crate::geometry::claim::StaticProof;

/// Finds the first contact over the step.
///
/// ```
/// # use clearance::geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance::geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance::geometry::contact_time::first_contact;
/// use clearance::geometry::claim::{Outcome, Question};
/// use clearance::geometry::motion::Motion;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let (velocity, axis) = (Vec3::new(-2.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
/// let turning = Motion::Screw { pivot: None, velocity, axis, angle: 1.5 };
/// let question = Question::new(pair, Motion::rest(), turning);
/// let answer = first_contact(&question, &mut witness, &mut effort).unwrap();
/// assert_eq!(answer.outcome, Outcome::Contact);
/// assert!(answer.t_contact - answer.t_free < 1e-9);
/// ```
pub fn first_contact(
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    first_contact_by(&METHODS[0], question, witness, effort)
}

/// Finds the first contact over the step, searching with `method`: translations by its rays, and
/// whatever it answers at first look. The default does the rest.
pub fn first_contact_by(
    method: &Method,
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let of_p = translation_of(&question.motion_p, &question.pair.p.pose);
    let of_q = translation_of(&question.motion_q, &question.pair.q.pose);
    effort.one_question(|effort| {
        if let Some(look) = method.first_look
            && let Some(answer) = look(question, witness, effort)?
        {
            return Ok(answer);
        }
        match (of_p, of_q) {
            (Some(of_p), Some(of_q)) if question.is_without_slack() => {
                linear::first_contact(method, question, [&of_p, &of_q], witness, effort)
            }
            (Some(of_p), Some(of_q)) if question.margin <= 0.0 => {
                // Contact of translations is exact; deviations only shorten what is free before.
                let exact =
                    linear::first_contact(method, question, [&of_p, &of_q], witness, effort)?;
                if exact.t_contact <= 0.0 {
                    return Ok(exact);
                }
                let mut answer =
                    rotating::first_contact(question, witness, effort).unwrap_or_else(|stopped| {
                        FirstContact { stopped: Some(stopped), ..unsearched(exact.initial.clone()) }
                    });
                if exact.outcome == Outcome::Contact {
                    (answer.outcome, answer.t_contact) = (exact.outcome, exact.t_contact);
                    answer.pairs = exact.pairs;
                    answer.stopped = answer.stopped.filter(|why| *why != Stopped::Unresolved);
                }
                Ok(answer)
            }
            _ => rotating::first_contact(question, witness, effort),
        }
    })
}

/// Nothing but the start is known.
fn unsearched(initial: StaticProof) -> FirstContact {
    FirstContact {
        outcome: Outcome::Undecided,
        t_free: 0.0,
        t_contact: 1.0,
        chain: Vec::new(),
        pairs: ArrayVec::new(),
        initial,
        stopped: None,
    }
}

/// The travel of a motion that turns nothing; none of one that turns. The recipe for the angle
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
