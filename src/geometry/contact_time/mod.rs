//! When: the first contact of two moving polytopes over one step.

#[cfg(test)]
mod features;
mod linear;
mod method;
pub mod polyhedra;
mod prism;
pub mod rotating;

use arrayvec::ArrayVec;

pub use linear::Travel;
pub use method::{METHODS, Method};

use super::certificate::{Link, StaticProof};
use super::effort::{Effort, Stopped};
use super::motion::Motion;
use super::pair::{Pair, VertexPair};
use super::pose::Pose;
use super::witness::Witness;

/// What is asked: the pair at t = 0, how each moves over t in [0, 1], and how finely to look.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The pair at t = 0.
    pub pair: Pair<'a>,
    /// P's motion.
    pub motion_p: Motion,
    /// Q's motion.
    pub motion_q: Motion,
    /// Proofs of freedom hold for every motion of P within this of the stated one, metres.
    pub deviation_p: f64,
    /// The same for Q.
    pub deviation_q: f64,
    /// Contact means distance at most this, metres.
    pub margin: f64,
    /// Width of the bracket in t, before the clearance tolerance's share.
    pub time_tolerance: f64,
    /// Closer than this, metres, a graze may stay undecided; `None` for 1e-13 x max(size, world).
    /// Where something turns, less than [`CLEARANCE_TOLERANCE_MIN`] x max(size, world) counts as
    /// that: enclosures of turned points are no tighter. Its share of the bracket is what it is
    /// worth at the speed at which the nearest points close in where the bracket begins or, with a
    /// margin, where it ends.
    pub clearance_tolerance: Option<f64>,
}

/// The least clearance tolerance that turning bodies honour, relative to the larger of size and
/// world.
pub const CLEARANCE_TOLERANCE_MIN: f64 = 1e-14;

/// Default of [`Question::time_tolerance`].
pub const TIME_TOLERANCE: f64 = 1e-9;

impl<'a> Question<'a> {
    /// With default tolerances, no margin and no deviation.
    pub fn new(pair: Pair<'a>, motion_p: Motion, motion_q: Motion) -> Self {
        Self {
            pair,
            motion_p,
            motion_q,
            deviation_p: 0.0,
            deviation_q: 0.0,
            margin: 0.0,
            time_tolerance: TIME_TOLERANCE,
            clearance_tolerance: None,
        }
    }

    /// Whether contact is meant exactly: no margin and no deviation.
    fn is_without_slack(&self) -> bool {
        [self.margin, self.deviation_p, self.deviation_q].iter().all(|slack| *slack <= 0.0)
    }
}

/// Whether the bodies meet during the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// First contact in `[t_free, t_contact]`.
    Contact,
    /// None in [0, 1].
    NoContact,
    /// The motion comes closer than the clearance tolerance and never gets deeper than it; or it
    /// makes no contact as stated, but not every motion within the deviations is free; or the
    /// search was stopped or gave up before it knew, and says so.
    Undecided,
}

/// First contact with everything proven on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstContact {
    /// Contact, no contact or undecided.
    pub outcome: Outcome,
    /// Proven free on the closed [0, t_free] (for contact at t = 0: 0, proven by `initial`).
    pub t_free: f64,
    /// Proven in contact at (rotation) or before (translation; flat bodies) this time; 1 when not
    /// in contact.
    pub t_contact: f64,
    /// Joined closed intervals that cover [0, t_free]; empty when in contact at t = 0, or when no
    /// more than the start as it is given is proven free, by `initial`.
    pub chain: Vec<Link>,
    /// At t_contact the moving differences of these hold the origin strictly inside (rotation); at
    /// some t in the bracket they hold it (translation; vertices that no rotation touches, and
    /// bodies that turn alike, translate to each other, too). Two exact forms settle what
    /// enclosures cannot: in a plane that no rotation leaves, across an axis, they hold it strictly
    /// inside within the plane; and at t_contact = 1 of motions that end at given poses they hold
    /// it there, boundary included. Of flat bodies the origin may pass through the triangle of
    /// three, or, of a point and a polygon or of two segments, through the polygon of four in order
    /// around, within the bracket. With a margin, the hull of their differences at t_contact has a
    /// point within the margin of the origin.
    pub pairs: ArrayVec<VertexPair, 6>,
    /// The verdict at t = 0 with its proof. If the chain is empty and contact comes later, the gap
    /// along its direction is wider than the margin. (Where no direction shows that, the bodies
    /// being farther apart than the margin by less than rounding, the motion is undecided.)
    pub initial: StaticProof,
    /// Why less is proven than could be.
    pub stopped: Option<Stopped>,
}

/// Finds the first contact over the step.
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
