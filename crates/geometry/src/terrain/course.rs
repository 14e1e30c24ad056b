//! When a convex body and a height field first meet that are apart where they start.
//!
//! Triangles beyond a box around the body's way are free. So are those that the body stays above,
//! or below, on its way: every point of it is all the time within a bound of the segment between
//! its places. What is left is asked like any two convex bodies that move.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;

use super::piece::{SeenPiece, travel_of};
use super::standing::{FieldBeside, triangle_body, triangles_of};
use crate::Vec3;
use crate::claim::{FirstContact, Outcome, Reach, Verdict};
use crate::contact_time::first_contact;
use crate::effort::{Effort, Stopped};
use crate::faces::contact::{FaceContact, FaceCourse};
use crate::number::rounding::OUTWARD;
use crate::pair::Question;
use crate::polytope::Polytope;
use crate::witness::Witness;

impl FieldBeside<'_> {
    /// Finds the first contact over the step, of two that are farther apart than the margin at
    /// t = 0; P is the field. The pairs are not named.
    pub fn first_contact(&self, course: &FaceCourse<'_>, effort: &mut Effort<'_>) -> FaceContact {
        effort.one_question(|effort| {
            let mut found = FaceContact {
                outcome: Outcome::NoContact,
                t_free: 1.0,
                t_contact: 1.0,
                pairs: ArrayVec::new(),
                stopped: None,
            };
            if let Err(stopped) = self.look_at_way(course, &mut found, effort) {
                // What was not looked at may be met at once.
                found.t_free = 0.0;
                found.stopped = Some(stopped);
                if found.outcome == Outcome::NoContact {
                    found.outcome = Outcome::Undecided;
                }
            }
            found
        })
    }

    /// Whether directions at hand show of all near triangles that the two stay farther apart than
    /// the margin on all of their way, and so are at t = 0: of most pairs that is all there is to
    /// know.
    pub fn stays_clear(
        &self,
        course: &FaceCourse<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let mut is_clear = true;
        self.each_unclear(course, effort, |_, _| {
            is_clear = false;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(is_clear)
    }

    fn look_at_way(
        &self,
        course: &FaceCourse<'_>,
        found: &mut FaceContact,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        self.each_unclear(course, effort, |corners, effort| {
            effort.spend_step()?;
            let triangle = triangle_body(corners)?;
            let question = self.about(&triangle, course);
            merge(found, &first_contact(&question, &mut Witness::default(), effort)?);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Hands over the triangles of which neither a box nor a direction at hand shows that they are
    /// farther away than the margin throughout, until that is enough.
    fn each_unclear(
        &self,
        course: &FaceCourse<'_>,
        effort: &mut Effort<'_>,
        mut take: impl FnMut(&[Vec3; 3], &mut Effort<'_>) -> Result<ControlFlow<()>, Stopped>,
    ) -> Result<(), Stopped> {
        let Question { motion_p, motion_q, deviation_p, deviation_q, .. } = course.question;
        let seen = SeenPiece::moving(&self.piece, motion_q);
        let slack = travel_of(self.field.field.held(), &self.field.pose, motion_p);
        let slack = slack + deviation_p + deviation_q;
        let clear = (slack + course.margin + self.piece.radius) * OUTWARD;
        self.field.each_near(&seen.within(clear), effort, |cell, effort| {
            for (_, corners) in triangles_of(&self.field, &cell) {
                let is_clear = self.gap(&seen, &corners, 2.0 * clear) > clear;
                if !is_clear && take(&corners, effort)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The same question about one triangle.
    fn about<'b>(&'b self, triangle: &'b Polytope, course: &FaceCourse<'_>) -> Question<'b> {
        let radii = [0.0, self.piece.radius];
        let reach = Reach::of_rounded(radii, course.margin);
        course.question.about(self.pair(triangle), reach)
    }
}

/// The field is met when the first of its triangles is, and free as long as all are.
fn merge(into: &mut FaceContact, found: &FirstContact) {
    match found.outcome {
        Outcome::NoContact => return,
        Outcome::Undecided if into.outcome == Outcome::NoContact => {
            into.outcome = Outcome::Undecided;
        }
        Outcome::Undecided => {}
        Outcome::Contact => {
            if into.outcome != Outcome::Contact || found.t_contact < into.t_contact {
                into.t_contact = found.t_contact;
            }
            into.outcome = Outcome::Contact;
        }
    }
    let is_free = found.initial.verdict() == Verdict::Separated && !found.chain.is_empty();
    into.t_free = into.t_free.min(if is_free { found.t_free } else { 0.0 });
    into.stopped = into.stopped.or(found.stopped);
}
