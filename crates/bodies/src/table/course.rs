//! What a question about a first contact is asked with, and answered by.

use super::proof::MotionProof;
use crate::solid::Meeting;
use clearance_geometry::claim::{Outcome, Reach, TIME_TOLERANCE, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::contact_time::{Travel, translation_of};
use clearance_geometry::effort::Stopped;
use clearance_geometry::meeting::Impact;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::{Pair, Question};
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::RoundedPair;

/// How the bodies move, and how finely to look: the question but for its bodies.
#[derive(Clone, Copy, Debug)]
pub struct Motions {
    /// How P and Q move.
    pub of_bodies: [Motion; 2],
    /// Proofs of freedom hold for every motion of P and of Q within this of the stated one, metres.
    pub deviations: [f64; 2],
    /// Contact means distance at most this, metres; below 0 that they are at least so deep.
    pub margin: f64,
    /// Width of the bracket in t, before the clearance tolerance's share.
    pub time_tolerance: f64,
    /// Closer than this, metres, a graze may stay undecided; none: the default.
    pub clearance_tolerance: Option<f64>,
}

impl Motions {
    /// These motions, without slack and with default tolerances.
    pub fn new(of_bodies: [Motion; 2]) -> Self {
        Self {
            of_bodies,
            deviations: [0.0; 2],
            margin: 0.0,
            time_tolerance: TIME_TOLERANCE,
            clearance_tolerance: None,
        }
    }

    /// The motions, if contact is meant exactly: no margin and no deviation.
    pub fn without_slack(&self) -> Option<[&Motion; 2]> {
        let [of_p, of_q] = self.deviations;
        let has_none = [self.margin, of_p, of_q].iter().all(|slack| *slack <= 0.0);
        has_none.then_some(self.of_bodies.each_ref())
    }

    /// The question about a pair.
    pub fn about<'a>(&self, pair: Pair<'a>) -> Question<'a> {
        let ([motion_p, motion_q], [deviation_p, deviation_q]) = (self.of_bodies, self.deviations);
        let &Self { margin, time_tolerance, clearance_tolerance, .. } = self;
        Question {
            pair,
            motion_p,
            motion_q,
            deviation_p,
            deviation_q,
            reach: margin.into(),
            time_tolerance,
            clearance_tolerance,
        }
    }

    /// The question about a pair that is rounded.
    pub(super) fn about_rounded<'a>(&self, pair: &RoundedPair<'a>) -> Question<'a> {
        let reach = Reach::of_rounded(pair.radii, self.margin);
        Question { reach, ..self.about(pair.cores) }
    }

    /// How far the motions take bodies in these poses; of one that turns nothing.
    pub(super) fn travels(&self, poses: [&Pose; 2]) -> [Option<Travel>; 2] {
        [0, 1].map(|k| translation_of(&self.of_bodies[k], poses[k]))
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct FirstContactAnswer {
    /// What is asserted.
    pub outcome: Outcome,
    /// The bodies share no point on the closed `[0, t_free]`.
    pub t_free: f64,
    /// They do at some time up to this one, if the outcome is contact.
    pub t_contact: f64,
    /// How they stand at t = 0.
    pub initial: Verdict,
    /// Why the search stopped before the bracket was narrow enough, if it did.
    pub stopped: Option<Stopped>,
    /// Where and along which normal hulls or rounded bodies meet, if it was asked for and they do.
    pub impact: Option<Impact>,
    /// Where boundaries meet; of hulls it is not told.
    pub meeting: Option<Meeting>,
    /// Its proof; or why there is none, if one was wanted.
    pub proof: Result<MotionProof, Option<Unproven>>,
}

/// Contact at t = 0.
pub(super) fn at_start(
    initial: Verdict,
    proof: Result<MotionProof, Option<Unproven>>,
) -> FirstContactAnswer {
    FirstContactAnswer {
        outcome: Outcome::Contact,
        t_free: 0.0,
        t_contact: 0.0,
        initial,
        stopped: None,
        impact: None,
        meeting: None,
        proof,
    }
}
