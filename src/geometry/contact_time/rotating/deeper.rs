//! What follows the free part of the search: steps with some depth allowed, up to a proof of
//! contact; and the end of the step, where the exact verdict tells.

use arrayvec::ArrayVec;

use super::course::Course;
use super::scene::end_of;
use super::{NO_PROGRESS, Search};
use crate::geometry::claim::StaticProof;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::separation;
use crate::geometry::witness::Witness;

/// Part of the clearance tolerance that is allowed as depth at first; each escalation allows four
/// times more.
const FIRST_DEPTH: f64 = 1.0 / 64.0;
/// Escalations of the allowed depth: 64 · 4^-12 times the tolerance is beyond any rounding error.
const ESCALATIONS_MAX: u32 = 12;
/// Steps with some depth allowed. A graze takes tens; bodies that slide on each other within the
/// tolerance while they turn fast may take more, and then the rest stays undecided.
const GRAZING_STEPS_MAX: u32 = 20_000;
/// Steps with some depth allowed at each of which a proof of contact is tried. Later it is tried
/// less and less often, at most this part of the steps so far apart: a trial costs as much as tens
/// of steps, and what it finds is brought forward.
const TRIALS: u32 = 64;

impl<'a> Search<'a> {
    /// What follows the free part: contact that can be proven deeper inside, or that the end of the
    /// step decides.
    pub(super) fn contact_after(
        &mut self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(f64, ArrayVec<VertexPair, 6>)>, Stopped> {
        let at_end = |found: Option<ArrayVec<VertexPair, 6>>| found.map(|pairs| (1.0, pairs));
        if 1.0 - self.t <= self.time_tolerance {
            let found = at_end(self.contact_at_end(effort)?);
            return if found.is_some() { Ok(found) } else { self.deeper(effort) };
        }
        // Bodies thinner than the tolerance may have passed through each other before they are that
        // deep.
        let soon = self.t + 0.5 * self.time_tolerance;
        if let Some(pairs) = self.contact_at(soon, effort) {
            return Ok(Some((soon, pairs)));
        }
        let free = self.t;
        match self.deeper(effort) {
            passed @ (Ok(None) | Err(Stopped::Unresolved)) => {
                let at_end = at_end(self.contact_at_end(effort)?);
                let is_unresolved = passed.is_err();
                let found = match at_end {
                    None if is_unresolved => self.contact_ahead(free, effort),
                    at_end => at_end,
                };
                if found.is_some() { Ok(found) } else { passed }
            }
            known => known,
        }
    }

    /// Contact at one of some times after `free`, each of them four times as far ahead as the one
    /// before: what has come closer than can be followed may still get deep.
    fn contact_ahead(
        &mut self,
        free: f64,
        effort: &mut Effort<'_>,
    ) -> Option<(f64, ArrayVec<VertexPair, 6>)> {
        let mut ahead = self.time_tolerance.max(NO_PROGRESS);
        while free + ahead < 1.0 {
            if let Some(pairs) = self.contact_at(free + ahead, effort) {
                return Some((free + ahead, pairs));
            }
            ahead *= 4.0;
        }
        None
    }

    /// Where both bodies end exactly at given poses, the verdict there is exact.
    fn contact_at_end(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<ArrayVec<VertexPair, 6>>, Stopped> {
        let question = self.question;
        let end = |placed: &Placed<'a>, motion| {
            Some(Placed { pose: end_of(&placed.pose, motion)?, ..*placed })
        };
        let p = end(&question.pair.p, &question.motion_p);
        let q = end(&question.pair.q, &question.motion_q);
        let (Some(p), Some(q)) = (p, q) else { return Ok(None) };
        let method = &separation::METHODS[0];
        let proof =
            separation::decide(&Pair { p, q }, method, &mut Witness::default(), effort)?.proof;
        Ok(match proof {
            StaticProof::Touching { pairs, .. } => Some(pairs.iter().copied().collect()),
            StaticProof::Overlapping { pairs } => Some(pairs),
            StaticProof::Separated { .. } => None,
        })
    }

    /// The part with some depth allowed: the first time that contact can be proven, if any. None of
    /// a graze, which is never deeper than the tolerance.
    fn deeper(
        &mut self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(f64, ArrayVec<VertexPair, 6>)>, Stopped> {
        let mut depth = self.tolerance * FIRST_DEPTH;
        let mut escalations = 0;
        let mut next_trial = 1;
        for steps in 1..=GRAZING_STEPS_MAX {
            effort.spend_step()?;
            let clear = self.margin - depth;
            let nearest = self.look_around(effort);
            self.find_course(&nearest, clear, effort);
            let Some(course) = self.course.clone() else { break };
            let step = self.step(&course, clear, true, effort);
            let before = self.t;
            if let Some(step) = &step {
                self.t = step.end;
                self.course = Some(Course { gap: step.gap, ..course });
            }
            let is_at_end = self.t >= 1.0;
            let is_held_up = self.t - before < NO_PROGRESS;
            if steps >= next_trial || is_at_end || is_held_up {
                next_trial = steps + 1 + steps / TRIALS;
                if let Some(pairs) = self.contact_at(self.t, effort) {
                    return Ok(Some((self.t, pairs)));
                }
            }
            if is_at_end {
                return if depth <= self.tolerance { Ok(None) } else { Err(Stopped::Unresolved) };
            }
            if is_held_up {
                depth *= 4.0;
                escalations += 1;
                if escalations > ESCALATIONS_MAX {
                    break;
                }
            }
        }
        Err(Stopped::Unresolved)
    }
}
