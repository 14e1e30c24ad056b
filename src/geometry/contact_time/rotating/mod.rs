//! First contact when something turns (or a margin or a deviation is asked for): a certified
//! bracket.
//!
//! Directional conservative advancement. At a time t the nearest point of the difference body gives
//! a direction; along a direction that is fixed in the world, or turns with one of the bodies, the
//! gap has a bounded second derivative, which certifies a whole closed interval at once ([`step`]).
//! The intervals join to a chain that covers [0, t_free].
//!
//! 1. *Free.* Steps until the end of the motion, or until no heading certifies a further step: the
//!    gap is then at the limit of rounding, far below the clearance tolerance. Close to contact,
//!    steps aim at it ([`aim`]); just before, the search looks a little ahead for a proof of
//!    contact, which usually ends it ([`ahead`]).
//! 2. *Deeper.* From there the same steps with some depth allowed, a small part of the clearance
//!    tolerance at first: each ends where the bodies are that deep along every heading known, or
//!    apart again. At each end a proof of contact is tried. A motion that never gets that deep runs
//!    through to t = 1: undecided, a graze.
//! 3. *Closing.* What comes to lie on a face that turns in its own plane, and no deeper, is in
//!    contact at a time that is known exactly ([`closing`]).
//! 4. *Passing.* A point and a flat polygon, or two segments, are never deep in each other. If they
//!    passed through each other where the free part ended, they met ([`passing`]).
//!
//! What stays undecided is asked once more with the bodies in each other's place ([`swapped`]), and
//! bodies that turn alike ([`alike`]) are not searched at all: to each other they only translate.
//!
//! Source: B. Mirtich, *Impulse-based Dynamic Simulation of Rigid Body Systems*, PhD thesis,
//!         Berkeley 1996, §2.3 (conservative advancement); X. Zhang, M. Lee, Y. Kim,
//!         "Interactive continuous collision detection for non-convex polyhedra", 2006 (directional
//!         motion bounds). The second-order bound and headings that turn are this project's.
//! Proves: each link by outward-rounded enclosures; contact by vertex pairs.
//! Cost:   one nearest-point search for every two to five evaluations of a gap.

mod ahead;
mod aim;
mod alike;
mod along;
mod closing;
mod contact;
mod course;
mod deeper;
mod flat;
pub(super) mod inter_frame;
mod moving;
mod nearest;
mod passing;
mod posed;
mod scene;
mod start;
mod step;
mod swapped;
#[cfg(test)]
mod tests;
mod untouched;

use std::cell::OnceCell;

use arrayvec::ArrayVec;

use self::course::{Course, Look, unit};
use self::flat::Flat;
use self::moving::Moving;
use self::scene::{scale_of, scene_size};
use self::step::{Need, Step, advance, pieces, swept_end};
use crate::geometry::claim::{
    CLEARANCE_TOLERANCE_MIN, Direction, FirstContact, Frame, Link, Outcome, Question, StaticProof,
    Verdict,
};
use crate::geometry::difference::ellipsoids::direction_between;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::witness::Witness;
use crate::geometry::{Vec3, distance, separation};

/// A new heading is sought when the gap has fallen below this part of what it was when the heading
/// was found. Measured on random and grazing motions: 0.02 to 0.4 cost the same within 5 %.
const STALE: f64 = 0.1;
/// A heading that still leaves more than this part of the gap when it is stale was a slow one.
const SLOW: f64 = 0.6;
/// Steps after contact was proven too late. Tens bring what is free close to it; where rounding
/// holds the steps up, no number does.
const LATE_STEPS_MAX: u32 = 256;
/// So many of them are also for a bracket that is narrower than it has to be.
const LATE_STEPS_SPARE: u32 = 8;
/// Steps after which bodies are bounded by their vertices, at the least, and how many vertices take
/// about as long to look at as a step: a search that has gone on for as long has many steps to
/// come, some of them longer for a tighter bound.
const SCANNED_AFTER: u32 = 16;
const VERTICES_A_STEP: u32 = 32;
/// Steps shorter than this, several times in a row, mean that the gap is at the limit of rounding.
const NO_PROGRESS: f64 = 4.0 * f64::EPSILON;
/// How many such steps in a row.
const NO_PROGRESS_STEPS: u32 = 3;
/// Steps within the clearance tolerance. Past a graze of corners that slide by each other,
/// directions separate for times as short as the gap, millions of them, and neither what is free
/// nor a proof of contact gets much nearer.
const CLOSE_STEPS_MAX: u32 = 1 << 13;
/// Steps that one link joins: judges prove a link by at most 2^17 pieces, several of which may go
/// to a step.
const STEPS_A_LINK_MAX: u32 = 1 << 12;
/// Steps for a motion that goes on after the last angle whose sine is to be had: it will hardly be
/// decided, and takes millions of steps to get as far as that.
const OUTLASTING_STEPS_MAX: u32 = 1 << 16;
/// Default clearance tolerance, relative to the larger of size and world.
const CLEARANCE_TOLERANCE: f64 = 1e-13;

/// First contact of any two motions, by certified steps.
pub fn first_contact(
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    if alike::may_be(question)
        && let Some(answer) = alike::first_contact(question, witness, effort)?
    {
        return Ok(answer);
    }
    let mut search = Search::new(question);
    let mut chain = Vec::new();
    let apart = search.begin(&mut chain, effort);
    let initial = match apart {
        Some(along) => StaticProof::Separated { direction: Direction::Vector(along) },
        None => {
            let method = &separation::METHODS[0];
            separation::decide(&question.pair, method, witness, effort)?.proof
        }
    };
    let mut answer = FirstContact { chain, ..super::unsearched(initial) };
    let at_start = match &answer.initial {
        StaticProof::Touching { pairs, .. } => Some(pairs.iter().copied().collect()),
        StaticProof::Overlapping { pairs } => Some(pairs.clone()),
        StaticProof::Separated { .. } => {
            debug_assert_eq!(answer.initial.verdict(), Verdict::Separated);
            let at_start = search.run(&mut answer, witness, effort)?;
            let is_open = at_start.is_none() && answer.outcome == Outcome::Undecided;
            if is_open && answer.stopped.is_none() {
                swapped::decide_swapped(question, &mut answer, effort);
            }
            at_start
        }
    };
    if let Some(pairs) = at_start {
        answer.outcome = Outcome::Contact;
        answer.t_contact = 0.0;
        answer.pairs = pairs;
    }
    Ok(answer)
}

/// How the free part of the search ended.
enum Freedom {
    ToTheEnd,
    Stuck,
    Contact(f64, ArrayVec<VertexPair, 6>),
}

struct Search<'a> {
    moving: Moving<'a>,
    /// What has to be clear for freedom: margin and deviations, in the search's units.
    clear: f64,
    margin: f64,
    tolerance: f64,
    time_tolerance: f64,
    /// Up to here everything is proven free (free part) or not deeper than allowed (deeper part).
    t: f64,
    course: Option<Course>,
    /// The surplus that the course had when it was found.
    when_found: f64,
    question: &'a Question<'a>,
    /// The plane that the bodies share; looked for when it may matter.
    flat: OnceCell<Option<Flat>>,
    /// The corners nearest the origin when a direction was last sought.
    seed: ArrayVec<VertexPair, 4>,
    /// The look that got furthest, and how often it has been taken since.
    habit: Option<(Look, u32)>,
    /// Steps that the last link joins.
    joined: u32,
    /// Steps ahead of the tilt since all looks were compared.
    tilts: u32,
    /// How fast the nearest points came nearer at the time that was last asked about.
    speed: Option<(f64, f64)>,
    /// Contact that was proven too late after what is free: the free part goes on.
    late: Option<(f64, ArrayVec<VertexPair, 6>)>,
}

impl<'a> Search<'a> {
    fn new(question: &'a Question<'a>) -> Self {
        let scale = scale_of(question);
        let scaled = |x: f64| match scale {
            None => x,
            Some(scale) => scale.times(x).next_up(),
        };
        // Scaling rounds; towards "farther apart" for freedom, "closer" for contact.
        let kept = scaled(question.margin) + scaled(question.deviation_p);
        let clear = (kept + scaled(question.deviation_q)).next_up().next_up();
        let margin = match scale {
            None => question.margin,
            Some(scale) => scale.times(question.margin).next_down().max(0.0),
        };
        let clear = if clear > 1e-320 { clear } else { 0.0 };
        let size = scaled(scene_size(question));
        let asked = question.clearance_tolerance.map_or(CLEARANCE_TOLERANCE * size, scaled);
        let tolerance = asked.max(CLEARANCE_TOLERANCE_MIN * size);
        let pair = &question.pair;
        let (p, q) = ((&pair.p, &question.motion_p), (&pair.q, &question.motion_q));
        Self {
            // Here and not before, so that it is not moved.
            moving: Moving::new(p, q, scale),
            clear,
            margin,
            tolerance,
            time_tolerance: question.time_tolerance,
            t: 0.0,
            course: None,
            when_found: f64::INFINITY,
            question,
            flat: OnceCell::new(),
            seed: ArrayVec::new(),
            habit: None,
            joined: 0,
            tilts: 0,
            speed: None,
            late: None,
        }
    }

    /// Fills in the answer, from where the search has begun; the pairs that come within the margin
    /// at t = 0, if any do.
    fn run(
        &mut self,
        answer: &mut FirstContact,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<ArrayVec<VertexPair, 6>>, Stopped> {
        let freedom = self.free(&mut answer.chain, effort);
        // A link proves more than the margin at its start; without one that is decided exactly.
        let margin = self.question.margin;
        if answer.chain.is_empty() && margin > 0.0 {
            let pair = &self.question.pair;
            let compared = distance::compare(pair, margin, witness, effort)?;
            if compared.is_within {
                return Ok(Some(compared.pairs.into_iter().collect()));
            }
            // Only the start may be free, which a verdict alone does not prove of a margin.
            match distance::direction_beyond(pair, margin, effort)? {
                Some(direction) => answer.initial = StaticProof::Separated { direction },
                None => return Ok(None),
            }
        }
        answer.t_free = answer.chain.last().map_or(0.0, |link| link.t1);
        let contact = match (freedom, self.late.take()) {
            (Ok(Freedom::ToTheEnd), _) => {
                answer.outcome = Outcome::NoContact;
                return Ok(None);
            }
            (Ok(Freedom::Contact(t, pairs)), _) => Ok(Some((t, pairs))),
            (freedom @ (Ok(Freedom::Stuck) | Err(_)), Some(late)) => {
                // Contact is known, in a bracket that would have become narrower.
                answer.stopped = freedom.err();
                Ok(Some(self.brought_forward(answer.t_free, late, effort)))
            }
            (Ok(Freedom::Stuck), None) => self.met_after(&mut answer.t_free, effort),
            (Err(stopped), None) => Err(stopped),
        };
        match contact {
            Ok(Some((t, pairs))) => {
                answer.outcome = Outcome::Contact;
                (answer.t_contact, answer.pairs) = (t, pairs);
            }
            Ok(None) => {}
            Err(stopped) => answer.stopped = Some(stopped),
        }
        Ok(None)
    }

    /// What follows the free part: contact at a time, or within a bracket that may begin earlier.
    fn met_after(
        &mut self,
        t_free: &mut f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(f64, ArrayVec<VertexPair, 6>)>, Stopped> {
        let unproven = match self.contact_after(effort) {
            Ok(Some(found)) => return Ok(Some(self.brought_forward(*t_free, found, effort))),
            Err(why @ (Stopped::Steps | Stopped::Deadline)) => return Err(why),
            unproven @ (Ok(None) | Err(Stopped::Unresolved)) => unproven,
        };
        if let Some(found) = self.closing(*t_free, effort) {
            return Ok(Some(found));
        }
        if let Some(found) = self.untouched(*t_free, effort)? {
            return Ok(Some(found));
        }
        let Some(passing) = self.passing(*t_free, effort)? else { return unproven };
        *t_free = passing.t_free;
        Ok(Some((passing.t_contact, passing.pairs.into_iter().collect())))
    }

    /// The free part: extends the chain as far as headings separate.
    fn free(&mut self, chain: &mut Vec<Link>, effort: &mut Effort<'_>) -> Result<Freedom, Stopped> {
        let clear = self.clear;
        if self.t >= 1.0 {
            return Ok(Freedom::ToTheEnd);
        }
        let mut looked_ahead = 0.0;
        let mut short_steps = 0;
        let mut slow = false;
        let mut slow_headings = 0;
        let mut late_steps = 0;
        let mut close_steps = 0;
        let mut steps = 0;
        loop {
            effort.spend_step()?;
            steps += 1;
            late_steps += u32::from(self.late.is_some());
            let is_hopeless = steps == OUTLASTING_STEPS_MAX && self.moving.outlasts_sines();
            if late_steps > LATE_STEPS_MAX || is_hopeless {
                return Err(Stopped::Unresolved);
            }
            if steps >= SCANNED_AFTER && self.moving.scan(steps.saturating_mul(VERTICES_A_STEP)) {
                if let Some(course) = self.course.as_mut() {
                    course.heading.bend = self.moving.bend(&course.heading);
                }
                self.when_found = f64::INFINITY;
            }
            let surplus = self.course.as_ref().map_or(f64::NEG_INFINITY, |c| c.surplus(clear));
            let fresh = surplus > STALE * self.when_found;
            let stale = !fresh;
            // Bodies that spin beside each other may be apart whatever the angles.
            let is_due = steps >= SCANNED_AFTER && steps.is_power_of_two();
            let mut aimed = None;
            if stale {
                let nearest = self.look_around(effort);
                aimed = if is_due { None } else { self.aim(&nearest, clear, effort) };
                if aimed.is_none() {
                    self.find_course(&nearest, clear, effort);
                }
                let found = match (&aimed, &self.course) {
                    (Some(_), _) => nearest.point.norm() - clear,
                    (None, course) => course.as_ref().map_or(0.0, |c| c.surplus(clear)),
                };
                // A heading that turned out to be worth little, although it was the best one at
                // its time: directions change faster than gaps.
                slow = found > SLOW * self.when_found;
                slow_headings += u32::from(slow);
                self.when_found = found;
            }
            if is_due {
                aimed = self.swept_along_course(clear, effort);
            }
            let found = match aimed {
                Some(aimed) => Some(aimed),
                None => self.along_course(clear, (stale, slow, slow_headings), effort),
            };
            let Some((course, step)) = found else {
                if stale {
                    return Ok(Freedom::Stuck);
                }
                // Not the heading's fault alone before a fresh one has been tried.
                self.when_found = f64::INFINITY;
                continue;
            };
            let progress = step.end - self.t;
            self.take(&course, &step, chain);
            if self.t >= 1.0 {
                return Ok(Freedom::ToTheEnd);
            }
            short_steps = if progress < NO_PROGRESS { short_steps + 1 } else { 0 };
            let is_close = step.surplus <= self.tolerance * course.heading.length;
            close_steps += u32::from(is_close);
            if short_steps >= NO_PROGRESS_STEPS || close_steps >= CLOSE_STEPS_MAX {
                return Ok(Freedom::Stuck);
            }
            if self.t >= looked_ahead
                && let Some(ahead) = self.near_contact(&step)
            {
                looked_ahead = ahead;
                if let Some(pairs) = self.contact_at(ahead, effort) {
                    let (t, pairs) = self.brought_forward(self.t, (ahead, pairs), effort);
                    if self.is_narrow(self.t, t, late_steps < LATE_STEPS_SPARE, effort) {
                        return Ok(Freedom::Contact(t, pairs));
                    }
                    self.late = Some((t, pairs));
                    looked_ahead = self.t;
                }
            }
        }
    }

    /// The longer of the certified step and the interval over which the swept solids stay apart.
    fn step(
        &mut self,
        course: &Course,
        clear: f64,
        fresh: bool,
        effort: &mut Effort<'_>,
    ) -> Option<Step> {
        let need = Need::along(&course.heading, clear);
        let surplus = need.surplus(&course.gap);
        let apart = surplus > 0.0;
        if !apart {
            return None;
        }
        if fresh && let Some(step) = self.swept_step(course, need, effort) {
            return Some(step);
        }
        advance(&mut self.moving, &course.heading, need, self.t, &course.gap, effort)
    }

    /// The interval over which the swept solids stay apart, if it is a long one.
    fn swept_step(&mut self, course: &Course, need: Need, effort: &mut Effort<'_>) -> Option<Step> {
        if course.heading.frame != Frame::World {
            return None;
        }
        let end = swept_end(&mut self.moving, &course.heading, need, self.t, effort)?;
        let is_long = end - self.t > 0.05 || end >= 1.0;
        is_long.then(|| {
            let gap = self.moving.gap(&course.heading, need, end, effort);
            Step { end, gap, surplus: need.surplus(&gap) }
        })
    }

    /// The same along the present course.
    fn swept_along_course(
        &mut self,
        clear: f64,
        effort: &mut Effort<'_>,
    ) -> Option<(Course, Step)> {
        let course = self.course.clone()?;
        let step = self.swept_step(&course, Need::along(&course.heading, clear), effort)?;
        Some((course, step))
    }

    /// Adds a step to the chain; steps along one heading make one link.
    ///
    /// Where bodies spin beside each other for long, the solids that they sweep may be apart all
    /// the while: a judge sees that of a link that ends with them. What else it joins it has to
    /// follow by the bend, so such a step counts as many as that takes.
    fn take(&mut self, course: &Course, step: &Step, chain: &mut Vec<Link>) {
        let Course { heading, gap } = course;
        let (frame, direction) = (heading.frame, Direction::Vector(heading.direction));
        let before = || Need::along(heading, self.clear).surplus(gap);
        let pieces = pieces(heading, self.t, step, before).min(STEPS_A_LINK_MAX);
        let joins = |link: &&mut Link| link.frame == frame && link.direction == direction;
        let has_room = self.joined + pieces <= STEPS_A_LINK_MAX;
        match chain.last_mut().filter(joins).filter(|_| has_room) {
            Some(link) => {
                link.t1 = step.end;
                self.joined += pieces;
            }
            None => {
                chain.push(Link { t0: self.t, t1: step.end, frame, direction });
                self.joined = pieces;
            }
        }
        self.t = step.end;
        self.course = Some(Course { heading: heading.clone(), gap: step.gap });
    }

    /// The present heading as a world direction at time t; without one, that of the nearest points
    /// at the start, as far as the bodies' sizes tell.
    fn world_direction(&self, t: f64) -> Vec3 {
        match &self.course {
            Some(course) => self.moving.world_of(&course.heading, t),
            None => {
                let moving = &self.moving;
                let centre = |side: &moving::Side<'_>| {
                    side.plain.arm(&side.track.local(&side.body.bounds().centre))
                };
                let towards = moving.pivots() + centre(&moving.q) - centre(&moving.p);
                let Pair { p, q } = &self.question.pair;
                let is_scaled = moving.p.track.slack() > 0.0;
                let towards = if is_scaled { towards } else { direction_between(p, q, &towards) };
                unit(&towards).unwrap_or_else(Vec3::x)
            }
        }
    }
}
