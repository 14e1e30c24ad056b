//! Which heading to take: the direction of the nearest points, in the frame where gaps bend least,
//! or one of a moment later where headings are slow.

use arrayvec::ArrayVec;

use super::Search;
use super::moving::{Gap, Heading, Moving};
use super::nearest::{LOOSE, Near, Nearest, ROUGH, TIGHT};
use super::step::{Need, Step, bend_limit};
use crate::geometry::Vec3;
use crate::geometry::claim::Frame;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::SQUARES;

/// A slow heading's step that is shorter than this part of what its bend lets through is cut short
/// by features that tilt into the way.
const TILTED: f64 = 0.3;
/// The part of the step at hand that a step ahead of the tilt takes at least. It leaves a direction
/// that serves the next one too; but where its corners hardly last, other headings get further.
const UNTILTED: f64 = 0.5;
/// Slow headings after which the search begins to look for better ones: most motions have met or
/// passed by then, and a search that goes on is one of hundreds of steps.
const SLOW_HEADINGS: u32 = 6;
/// How far ahead the search looks for directions when headings are slow, in units of the step that
/// the present one certifies.
const LOOKS_AHEAD: [f64; 3] = [0.0, 0.75, 2.5];
/// Steps after which all looks are compared again.
const HABIT_STEPS: u32 = 8;

/// A heading in use, with the gap at the present time.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) heading: Heading,
    pub(super) gap: Gap,
}

/// Where to look for a direction when headings are slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// In units of the step that the heading at hand certifies.
    ahead: f64,
    frame: Frame,
}

/// A direction, of length 1 in the world, and the gap along it if the search came by it.
#[derive(Clone, Copy, Debug)]
struct Sight {
    world: Vec3,
    gap: Option<Gap>,
}

impl Search<'_> {
    /// The nearest points at the present time, roughly.
    pub(super) fn look_around(&mut self, effort: &mut Effort<'_>) -> Nearest {
        let course = self.course.take();
        let nearest = self.nearest(self.t, How::Rough, course.as_ref(), effort);
        self.course = course;
        nearest
    }

    /// Takes the heading with the largest gap per length at the present time: the present one, or
    /// one from the nearest points, as far as they are known, in the frame in which gaps bend
    /// least.
    pub(super) fn find_course(&mut self, roughly: &Nearest, clear: f64, effort: &mut Effort<'_>) {
        let mut best = self.course.take();
        let known = best.as_ref().map_or(0.0, |b| b.surplus(clear));
        if let Some(world) = roughly.direction() {
            let gap = self.gap_across(roughly, self.t, effort);
            self.prefer(Sight { world, gap }, &mut best, clear, effort);
        }
        // A rough direction is good enough where it leaves a gap, more than was known before.
        let found = best.as_ref().map_or(0.0, |b| b.surplus(clear));
        let is_good_enough = found > 0.0 && found >= known;
        if !is_good_enough {
            for sight in self.directions(self.t, How::Thorough, best.as_ref(), effort) {
                self.prefer(sight, &mut best, clear, effort);
            }
        }
        if let Some(course) = best.as_mut() {
            self.choose_frame(course, clear, effort);
        }
        self.course = best;
    }

    /// Takes a direction of the present time for the best if it is one.
    fn prefer(
        &mut self,
        sight: Sight,
        best: &mut Option<Course>,
        clear: f64,
        effort: &mut Effort<'_>,
    ) {
        let heading = self.moving.heading(Frame::World, &sight.world, self.t);
        let course = match sight.gap {
            Some(gap) => self.moving.settled(heading, clear, (self.t, gap), effort),
            None => self.moving.course(heading, clear, self.t, effort),
        };
        // A tie keeps the old heading, and with it the link.
        if best.as_ref().is_none_or(|b| course.surplus(clear) > 1.01 * b.surplus(clear)) {
            *best = Some(course);
        }
    }

    /// Fixes the course's direction in a body instead of the world when that certifies more.
    pub(super) fn choose_frame(
        &mut self,
        course: &mut Course,
        clear: f64,
        effort: &mut Effort<'_>,
    ) {
        if course.heading.frame != Frame::World {
            return;
        }
        if self.travels_straight(course, clear) {
            return;
        }
        let world = course.heading.direction;
        for (frame, bend) in self.moving.turning_bends() {
            // A shorter bend has to make up for the change of link.
            if bend < 0.5 * course.heading.bend {
                let heading = self.moving.heading(frame, &world, self.t);
                let turned = self.moving.course(heading, clear, self.t, effort);
                if turned.surplus(clear) > 0.9 * course.surplus(clear) {
                    *course = turned;
                }
            }
        }
    }

    /// Whether the gap along a heading fixed in the world closes, or the motion ends, well before
    /// the gap bends, and it is the way of the pivots more than any turning that closes it. Then no
    /// heading that turns is much better, and none has to be looked at.
    fn travels_straight(&self, course: &Course, clear: f64) -> bool {
        let Course { heading, gap } = course;
        let surplus = Need::along(heading, clear).surplus(gap);
        let is_closing = gap.rate < 0.0;
        let closed = if is_closing { surplus / -gap.rate } else { f64::INFINITY };
        let by_travel = heading.direction.dot(&self.moving.apart);
        let by_turning = (gap.rate - by_travel).abs();
        bend_limit(heading, surplus) > 2.0 * closed.min(1.0 - self.t)
            && (!is_closing || by_turning < 0.5 * -gap.rate)
    }

    /// A step along the course, or, if it is a stale one that is held up, along another.
    pub(super) fn along_course(
        &mut self,
        clear: f64,
        (stale, slow, slow_headings): (bool, bool, u32),
        effort: &mut Effort<'_>,
    ) -> Option<(Course, Step)> {
        let mut course = self.course.clone()?;
        let mut step = self.step(&course, clear, stale, effort);
        // A step that ends where the bend says does not suffer from tilting.
        let is_tilted = |s: Step| {
            let surplus = Need::along(&course.heading, clear).surplus(&course.gap);
            s.end - self.t < TILTED * bend_limit(&course.heading, surplus)
        };
        let is_held_up = slow && slow_headings >= SLOW_HEADINGS && step.is_none_or(is_tilted);
        if stale && is_held_up && self.tilts < HABIT_STEPS {
            let quick = step.map_or(0.0, |s| s.end - self.t);
            let ahead = self.ahead_of_tilt(clear, effort);
            if let Some(better) = ahead.filter(|(_, s)| s.end - self.t > UNTILTED * quick) {
                self.tilts += 1;
                return Some(better);
            }
        }
        if stale && (is_held_up || step.is_none()) {
            self.look_further(clear, &mut course, &mut step, effort);
        }
        Some((course, step?))
    }

    /// Replaces the course and its step by those of a heading that gets further, if there is one.
    ///
    /// Where faces or edges meet while they turn, the best direction of the moment loses its worth
    /// at a rate that does not vanish with the gap: one end of the feature tilts into the way. Then
    /// the direction of a moment later lasts longer, as it is tilted the other way at first; and
    /// for a face of P or Q the direction that turns with the body does not tilt at all.
    fn look_further(
        &mut self,
        clear: f64,
        course: &mut Course,
        step: &mut Option<Step>,
        effort: &mut Effort<'_>,
    ) {
        // The rate at the supporting vertices says little here: others are about to take over.
        let quick = step.map_or(self.time_tolerance, |s| s.end - self.t);
        let how = if step.is_some() { How::Rough } else { How::Thorough };
        // What was best last time is nearly always best again, as contact comes closer.
        if let Some((look, times)) = self.habit.filter(|(_, times)| *times < HABIT_STEPS) {
            let before = step.map_or(self.t, |s| s.end);
            let later = self.later(look.ahead, quick);
            let directions = self.directions_ahead(look.ahead, later, how, course, effort);
            self.try_look(look.frame, later, &directions, clear, (course, step), effort);
            if step.is_some_and(|s| s.end > before) && !self.bends_less_unturned(course) {
                self.habit = Some((look, times + 1));
                return;
            }
        }
        (self.habit, self.tilts) = (None, 0);
        for ahead in LOOKS_AHEAD {
            let later = self.later(ahead, quick);
            let directions = self.directions_ahead(ahead, later, how, course, effort);
            for frame in [Frame::World, Frame::P, Frame::Q] {
                if self.try_look(frame, later, &directions, clear, (course, step), effort) {
                    self.habit = Some((Look { ahead, frame }, 0));
                }
            }
        }
    }

    /// Whether the course's direction, which turns with a body, would bend less in the world: that
    /// of a body's own axis does not bend there at all, and might be kept for good.
    fn bends_less_unturned(&self, course: &Course) -> bool {
        let heading = &course.heading;
        let turns = heading.frame != Frame::World;
        turns && {
            let direction = self.moving.world_of(heading, self.t);
            let bend =
                self.moving.bend(&Heading { frame: Frame::World, direction, ..heading.clone() });
            bend < 0.5 * heading.bend
        }
    }

    fn later(&self, ahead: f64, quick: f64) -> f64 {
        (self.t + ahead * quick).min(1.0)
    }

    fn directions_ahead(
        &mut self,
        ahead: f64,
        later: f64,
        how: How,
        course: &Course,
        effort: &mut Effort<'_>,
    ) -> ArrayVec<Vec3, 4> {
        if ahead > 0.0 {
            let sights = self.directions(later, how, Some(course), effort);
            sights.iter().map(|sight| sight.world).collect()
        } else {
            ArrayVec::from_iter([self.moving.world_of(&course.heading, self.t)])
        }
    }

    /// Whether the directions of a moment later, in this frame, get further.
    fn try_look(
        &mut self,
        frame: Frame,
        later: f64,
        directions: &[Vec3],
        clear: f64,
        (course, step): (&mut Course, &mut Option<Step>),
        effort: &mut Effort<'_>,
    ) -> bool {
        let t = self.t;
        let is_at_hand = later <= t && frame == course.heading.frame;
        if !self.moving.turns_with(frame) || is_at_hand {
            return false;
        }
        let mut better = false;
        for world in directions {
            // Of a turning frame's heading the direction now is the one that turns into the later.
            let heading = self.moving.heading(frame, world, later);
            // No direction has a much larger gap, so a bend may say that this one leads nowhere.
            let surplus = 1.5 * course.surplus(clear).max(0.0);
            if step.as_ref().is_some_and(|s| bend_limit(&heading, surplus) < 1.5 * (s.end - t)) {
                continue;
            }
            let other = self.moving.course(heading, clear, t, effort);
            let Some(reached) = self.step(&other, clear, false, effort) else { continue };
            if step.as_ref().is_none_or(|s| reached.end - t > 1.5 * (s.end - t)) {
                *step = Some(reached);
                *course = other;
                better = true;
            }
        }
        better
    }

    /// The nearest points at time t, from what was near before.
    fn nearest(
        &mut self,
        t: f64,
        how: How,
        known: Option<&Course>,
        effort: &mut Effort<'_>,
    ) -> Nearest {
        let guess = self.guess(known, t);
        let good_enough = match how {
            How::Rough => ROUGH * self.resolution(known).min(1.0),
            How::Thorough => LOOSE.min(self.resolution(known)),
        };
        // Who supports along the heading at hand may have come in since.
        if let Some(known) = known
            && !self.seed.contains(&known.gap.pair)
        {
            let _is_full = self.seed.try_push(known.gap.pair);
        }
        let mut near = Near::at(&mut self.moving, t);
        let nearest = near.nearest((&guess, &self.seed), good_enough.max(TIGHT), effort);
        self.seed = nearest.corners.iter().map(|c| c.pair).collect();
        nearest
    }

    /// The gap along the direction of the nearest point at time t, if the search for it came by
    /// that.
    pub(super) fn gap_across(
        &mut self,
        nearest: &Nearest,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Option<Gap> {
        let (moving, posed) = self.moving.posed(t);
        posed.gap_of(moving, &nearest.point, nearest.tops.as_ref()?, &nearest.corners, effort)
    }

    /// Directions worth trying at time t: towards the nearest point, and, in a thorough search
    /// close to contact, where that direction is lost in rounding, towards the nearest point of the
    /// body drawn back a little.
    fn directions(
        &mut self,
        t: f64,
        how: How,
        known: Option<&Course>,
        effort: &mut Effort<'_>,
    ) -> ArrayVec<Sight, 4> {
        let nearest = self.nearest(t, how, known, effort);
        let mut directions = ArrayVec::new();
        if let Some(world) = nearest.direction() {
            let gap = self.gap_across(&nearest, t, effort);
            directions.push(Sight { world, gap });
        }
        let size = self.moving.size();
        let is_lost = nearest.held || nearest.point.norm() < 1e-6 * size;
        if how == How::Thorough && is_lost {
            let along = directions.first().map_or(self.guess(known, t), |sight| sight.world);
            let mut near = Near::at(&mut self.moving, t);
            for part in [1e-2, 1e-5] {
                near.shift = along * (part * size);
                let drawn = near.nearest((&along, &[]), LOOSE, effort);
                directions.extend(drawn.direction().map(|world| Sight { world, gap: None }));
            }
        }
        directions
    }

    /// To which part of itself a distance has to be known: of the surplus over a margin, as far as
    /// the surplus matters.
    pub(super) fn resolution(&self, known: Option<&Course>) -> f64 {
        if self.clear <= 0.0 {
            return 1.0;
        }
        let surplus = known.map_or(0.0, |course| course.surplus(self.clear)).max(self.tolerance);
        surplus / (surplus + self.clear)
    }

    /// Where the bodies are probably apart at time t: along the course, or from centre to centre.
    fn guess(&self, known: Option<&Course>, t: f64) -> Vec3 {
        match known {
            Some(course) => self.moving.world_of(&course.heading, t),
            None => self.world_direction(t),
        }
    }
}

/// How well to search for directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Enough for a step.
    Rough,
    /// Where rough ones led nowhere.
    Thorough,
}

impl Moving<'_> {
    /// The heading as a course, with its gap at time t known up to rounding.
    fn settled(
        &self,
        heading: Heading,
        clear: f64,
        (t, known): (f64, Gap),
        effort: &mut Effort<'_>,
    ) -> Course {
        let gap = self.settle(&heading, Need::along(&heading, clear), t, known, effort);
        Course { heading, gap }
    }

    /// The heading as a course: with its gap at time t.
    pub(super) fn course(
        &mut self,
        heading: Heading,
        clear: f64,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Course {
        let gap = self.gap(&heading, Need::along(&heading, clear), t, effort);
        Course { heading, gap }
    }
}

impl Course {
    /// The surplus over `clear` per unit of length.
    pub(super) fn surplus(&self, clear: f64) -> f64 {
        Need::along(&self.heading, clear).surplus(&self.gap) / self.heading.length
    }
}

/// A vector of length 1 along v, if v is not zero or not finite.
pub(super) fn unit(v: &Vec3) -> Option<Vec3> {
    let squared = v.norm_squared();
    // Nearly always: with half of the quotients.
    if SQUARES.contains(&squared) {
        return Some(v / squared.sqrt());
    }
    let largest = v.amax();
    let direction = (v / largest).normalize();
    (largest > 0.0 && direction.iter().all(|c| c.is_finite())).then_some(direction)
}
