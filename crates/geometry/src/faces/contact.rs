//! When two moving bodies first meet whose surfaces share no point at t = 0: whatever the motions,
//! within a margin and for all motions within deviations. What shows that they are free before is a
//! cover ([`super::prove_clear`]).

use arrayvec::ArrayVec;

use super::bound::{FEW, LookAlong, gap_along};
use super::frontier::Frontier;
use super::{OuterPair, Surfaces, names, opened, opened_wide};
use crate::Vec3;
use crate::claim::{FirstContact, Outcome, Reach, Verdict};
use crate::contact_time::first_contact;
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::effort::{Effort, Stopped};
use crate::motion::Motion;
use crate::number::rounding::gamma;
use crate::number::tolerance::BOX_HAZE;
use crate::pair::{Question, VertexPair};
use crate::polyhedron::groups::FaceGroups;
use crate::polyhedron::tree::Node;
use crate::witness::Witness;

/// When two bodies first meet.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceContact {
    /// Contact, no contact or undecided.
    pub outcome: Outcome,
    /// Proven free on the closed [0, t_free].
    pub t_free: f64,
    /// Proven in contact by then; 1 when not in contact.
    pub t_contact: f64,
    /// Prove the contact, as those of a [`FirstContact`] do. Those of P are of one face of it, and
    /// so are those of Q.
    pub pairs: ArrayVec<VertexPair, 6>,
    /// Why less is proven than could be.
    pub stopped: Option<Stopped>,
}

/// How two bodies move, and how finely to look: the question about their hulls, of which the margin
/// is told apart from the radii.
#[derive(Clone, Copy, Debug)]
pub struct FaceCourse<'q> {
    /// About the hulls of the bodies.
    pub question: &'q Question<'q>,
    /// Contact means a distance of at most this, metres.
    pub margin: f64,
}

impl FaceCourse<'_> {
    /// What rounding may take from the gap along a direction, metres.
    pub(super) fn haze(&self, surfaces: &Surfaces<'_>) -> f64 {
        let Question { motion_p, motion_q, .. } = self.question;
        BOX_HAZE * (surfaces.magnitude() + motion_p.length_max() + motion_q.length_max())
    }

    /// The question about what holds two groups. Boxes are asked for a hair more than what they
    /// hold, so that directions that separate them do so when they are rounded, too.
    pub(super) fn about<'b>(
        &self,
        radii: [f64; 2],
        haze: f64,
        outer: &OuterPair<'b>,
    ) -> Question<'b> {
        let margin = if outer.are_hulls { self.margin } else { self.margin + haze };
        self.question.about(outer.pair, Reach::of_rounded(radii, margin))
    }
}

/// Finds the first contact over the step, of bodies that are farther apart than the margin at
/// t = 0. A step is a pair of groups, and each step of the searches for two.
pub fn find(
    surfaces: &Surfaces<'_>,
    course: &FaceCourse<'_>,
    effort: &mut Effort<'_>,
) -> FaceContact {
    effort.one_question(|effort| {
        let (groups, open) = (surfaces.groups(), Frontier::new(surfaces.triangle_count()));
        let found = FaceContact {
            outcome: Outcome::NoContact,
            t_free: 1.0,
            t_contact: 1.0,
            pairs: ArrayVec::new(),
            stopped: None,
        };
        let (radii, haze) = (surfaces.radii, course.haze(surfaces));
        // Two meshes have so many pairs of groups that their hulls, which are kept, tell sooner.
        let has_piece = groups.iter().any(|of| of.boundary.mesh().is_none());
        let straight = StraightWay::of(course.question).filter(|_| has_piece);
        EarliestSearch { radii, haze, course, straight, groups, open, found }.run(effort)
    })
}

/// The way of two bodies that go straight.
#[derive(Clone, Copy, Debug)]
struct StraightWay {
    /// How far Q comes relative to P, rounded, metres.
    travel: Vec3,
    /// What has to be kept clear beside the margin.
    deviations: f64,
}

/// Newton's steps double the digits of a time: these are as many as it takes to be within what
/// hulls are later asked exactly.
const NEWTON_STEPS: usize = 4;

impl StraightWay {
    fn of(question: &Question<'_>) -> Option<Self> {
        let (Motion::Linear { velocity: of_p }, Motion::Linear { velocity: of_q }) =
            (&question.motion_p, &question.motion_q)
        else {
            return None;
        };
        let deviations = question.deviation_p + question.deviation_q;
        Some(Self { travel: of_q - of_p, deviations })
    }
}

struct EarliestSearch<'a, 'b> {
    radii: [f64; 2],
    haze: f64,
    course: &'b FaceCourse<'b>,
    /// Where neither body turns.
    straight: Option<StraightWay>,
    groups: [FaceGroups<'a>; 2],
    open: Frontier,
    found: FaceContact,
}

impl EarliestSearch<'_, '_> {
    fn run(mut self, effort: &mut Effort<'_>) -> FaceContact {
        self.open.push(0.0, self.groups.each_ref().map(FaceGroups::root));
        if let Err(stopped) = self.descend(effort) {
            self.found.stopped = Some(stopped);
            if self.found.outcome == Outcome::NoContact {
                self.found.outcome = Outcome::Undecided;
            }
        }
        // What was not looked into is free as long as what holds it.
        let left = self.open.least().filter(|left| *left < self.found.t_free);
        if let Some(left) = left {
            self.found.t_free = left;
        }
        self.found
    }

    /// Looks into the groups that may meet before the first contact so far.
    fn descend(&mut self, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        while let Some(next) = self.open.pop_below(self.earliest()) {
            let straight = self.straight.filter(|_| halved(&self.groups, next.nodes).is_some());
            let pairs: ArrayVec<[Node; 2], FEW> = match straight {
                Some(_) => opened_wide(&self.groups, next.nodes),
                None => opened(&self.groups, next.nodes).into_iter().collect(),
            };
            for (at, nodes) in pairs.iter().enumerate() {
                let looked = match &straight {
                    None => self.look(*nodes, effort),
                    Some(way) => self.free_straight(*nodes, way, effort).map(|free| {
                        free.into_iter().for_each(|until| self.open.push(until, *nodes));
                    }),
                };
                if let Err(stopped) = looked {
                    // What was not looked at may meet as soon as what it is a part of.
                    pairs[at..].iter().for_each(|left| self.open.push(next.bound, *left));
                    return Err(stopped);
                }
            }
        }
        Ok(())
    }

    /// Whatever meets later does not matter.
    fn earliest(&self) -> f64 {
        if self.found.outcome == Outcome::Contact { self.found.t_contact } else { f64::INFINITY }
    }

    /// Finds out how long two groups are free; of two triangles, when they meet.
    fn look(&mut self, nodes: [Node; 2], effort: &mut Effort<'_>) -> Result<(), Stopped> {
        effort.spend_step()?;
        OuterPair::prepare(&mut self.groups, nodes);
        let outer = OuterPair::of(&self.groups, nodes).ok_or(Stopped::Unresolved)?;
        let question = self.course.about(self.radii, self.haze, &outer);
        let found = first_contact(&question, &mut Witness::default(), effort)?;
        if halved(&self.groups, nodes).is_none() {
            let pairs = names(&self.groups, &outer.pair, &found.pairs);
            self.merge(&found, pairs);
        } else if found.outcome != Outcome::NoContact || found.stopped.is_some() {
            self.open.push(free_until(&found), nodes);
        }
        Ok(())
    }

    /// At least until when two groups that go straight are free; none: all of the step, or longer
    /// than others.
    ///
    /// Along one direction their gap is linear in time, and no more than their distance: so each
    /// direction says until when they are free for sure, and the one at that time says more.
    fn free_straight(
        &self,
        nodes: [Node; 2],
        way: &StraightWay,
        effort: &mut Effort<'_>,
    ) -> Result<Option<f64>, Stopped> {
        effort.spend_step()?;
        let clear = self.course.margin + way.deviations + 4.0 * self.haze;
        let end = self.earliest().min(1.0);
        let (mut t, mut from) = (0.0, None);
        for _ in 0..NEWTON_STEPS {
            let moved = way.travel * t;
            let look = LookAlong { from, above: None, moved, by_corners: true };
            let found = gap_along(&self.groups, nodes, self.radii, look, effort)?;
            let Some(unit) = found.along.filter(|_| found.gap > clear) else { break };
            let (room, closing) = (found.gap - clear, -unit.dot(&way.travel));
            if room > closing * (end - t) + self.haze {
                // Before t other directions have shown it.
                return Ok(None);
            }
            let next = t + room / closing * (1.0 - gamma(16));
            if next <= t {
                break;
            }
            (t, from) = (next, Some(unit));
        }
        Ok(Some(t))
    }

    /// The bodies meet when the first of their triangles do, and are free as long as all are.
    fn merge(&mut self, found: &FirstContact, pairs: ArrayVec<VertexPair, 6>) {
        let FaceContact { outcome, t_free, t_contact, pairs: known, stopped } = &mut self.found;
        match found.outcome {
            Outcome::NoContact => return,
            Outcome::Undecided if *outcome == Outcome::NoContact => *outcome = Outcome::Undecided,
            Outcome::Undecided => {}
            Outcome::Contact => {
                if *outcome != Outcome::Contact || found.t_contact < *t_contact {
                    *t_contact = found.t_contact;
                    *known = pairs;
                }
                *outcome = Outcome::Contact;
            }
        }
        *t_free = t_free.min(free_until(found));
        *stopped = stopped.or(found.stopped);
    }
}

/// Until when two convex bodies are proven free; 0 if they are not at t = 0.
fn free_until(found: &FirstContact) -> f64 {
    let is_free = found.initial.verdict() == Verdict::Separated && !found.chain.is_empty();
    if is_free { found.t_free } else { 0.0 }
}
