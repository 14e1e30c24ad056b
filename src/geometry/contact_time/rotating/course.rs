//! Which heading to take: the direction of the nearest points, in the frame where gaps bend least,
//! or one of a moment later where headings are slow.

use arrayvec::ArrayVec;

use super::Search;
use super::moving::{Gap, Heading};
use super::nearest::{LOOSE, Posed, TIGHT};
use super::step::{Need, Step};
use crate::geometry::Vec3;
use crate::geometry::certificate::Frame;
use crate::geometry::effort::Effort;

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

impl Search<'_> {
    /// Takes the heading with the largest gap per length at the present time: the present one, or
    /// one from the nearest points, in the frame in which gaps bend least.
    pub(super) fn find_course(&mut self, clear: f64, effort: &mut Effort<'_>) {
        let t = self.t;
        let mut best = self.course.take();
        for world in self.directions(t, effort) {
            let heading = self.moving.heading(Frame::World, &world, t);
            let gap = self.moving.gap(&heading, t, effort);
            let course = Course { heading, gap };
            // A tie keeps the old heading, and with it the link.
            if best.as_ref().is_none_or(|b| course.surplus(clear) > 1.01 * b.surplus(clear)) {
                best = Some(course);
            }
        }
        if let Some(course) = best.as_mut() {
            self.choose_frame(course, clear, effort);
        }
        self.course = best;
    }

    /// Fixes the course's direction in a body instead of the world when that certifies more.
    fn choose_frame(&mut self, course: &mut Course, clear: f64, effort: &mut Effort<'_>) {
        if course.heading.frame != Frame::World {
            return;
        }
        let world = course.heading.direction;
        for frame in [Frame::P, Frame::Q] {
            let heading = self.moving.heading(frame, &world, self.t);
            // A shorter bend has to make up for the change of link.
            if heading.bend < 0.5 * course.heading.bend {
                let gap = self.moving.gap(&heading, self.t, effort);
                let turned = Course { heading, gap };
                if turned.surplus(clear) > 0.9 * course.surplus(clear) {
                    *course = turned;
                }
            }
        }
    }

    /// Replaces the course and its step by those of a heading that gets further, if there is one.
    ///
    /// Where faces or edges meet while they turn, the best direction of the moment loses its worth
    /// at a rate that does not vanish with the gap: one end of the feature tilts into the way. Then
    /// the direction of a moment later lasts longer, as it is tilted the other way at first; and
    /// for a face of P or Q the direction that turns with the body does not tilt at all.
    pub(super) fn look_further(
        &mut self,
        clear: f64,
        course: &mut Course,
        step: &mut Option<Step>,
        effort: &mut Effort<'_>,
    ) {
        // The rate at the supporting vertices says little here: others are about to take over.
        let quick = step.map_or(self.time_tolerance, |s| s.end - self.t);
        // What was best last time is nearly always best again, as contact comes closer.
        if let Some((look, times)) = self.habit.filter(|(_, times)| *times < HABIT_STEPS) {
            let before = step.map_or(self.t, |s| s.end);
            self.try_look(look, quick, clear, course, step, effort);
            if step.is_some_and(|s| s.end > before) {
                self.habit = Some((look, times + 1));
                return;
            }
        }
        self.habit = None;
        for ahead in LOOKS_AHEAD {
            for frame in [Frame::World, Frame::P, Frame::Q] {
                let look = Look { ahead, frame };
                if self.try_look(look, quick, clear, course, step, effort) {
                    self.habit = Some((look, 0));
                }
            }
        }
    }

    /// Whether the directions of a while ahead (in units of `quick`), in this frame, get further.
    fn try_look(
        &mut self,
        look: Look,
        quick: f64,
        clear: f64,
        course: &mut Course,
        step: &mut Option<Step>,
        effort: &mut Effort<'_>,
    ) -> bool {
        let t = self.t;
        let turns = match look.frame {
            Frame::World => true,
            Frame::P => self.moving.p.track.turns(),
            Frame::Q => self.moving.q.track.turns(),
        };
        let later = (t + look.ahead * quick).min(1.0);
        if !turns {
            return false;
        }
        let directions = if look.ahead > 0.0 {
            self.directions(later, effort)
        } else {
            ArrayVec::from_iter([self.moving.world_of(&course.heading, t)])
        };
        let mut better = false;
        for world in directions {
            // Of a turning frame's heading the direction now is the one that turns into the later.
            let heading = self.moving.heading(look.frame, &world, later);
            let gap = self.moving.gap(&heading, t, effort);
            let other = Course { heading, gap };
            let Some(reached) = self.step(&other, clear, false, effort) else { continue };
            if step.as_ref().is_none_or(|s| reached.end - t > 1.5 * (s.end - t)) {
                *step = Some(reached);
                *course = other;
                better = true;
            }
        }
        better
    }

    /// Directions worth trying at time t: towards the nearest point, and, close to contact, where
    /// that direction is lost in rounding, towards the nearest point of the body drawn back a little.
    fn directions(&self, t: f64, effort: &mut Effort<'_>) -> ArrayVec<Vec3, 4> {
        let mut posed = Posed::new(&self.moving, t);
        let guess = self.world_direction(t);
        let good_enough = if self.clear > 0.0 { TIGHT } else { LOOSE };
        let nearest = posed.nearest(&Vec3::zeros(), &guess, good_enough, effort);
        let mut directions = ArrayVec::new();
        let size = self.moving.size();
        directions.extend(unit(&nearest.point).filter(|_| !nearest.held));
        if nearest.held || nearest.point.norm() < 1e-6 * size {
            let along = directions.first().copied().unwrap_or(guess);
            for part in [1e-2, 1e-5] {
                let back = along * (part * size);
                let drawn = posed.nearest(&back, &along, LOOSE, effort);
                directions.extend(unit(&drawn.point).filter(|_| !drawn.held));
            }
        }
        directions
    }
}

impl Course {
    /// The surplus over `clear` per unit of length.
    pub(super) fn surplus(&self, clear: f64) -> f64 {
        Need::along(&self.heading, clear).surplus(&self.gap) / self.heading.length.high()
    }
}

/// A vector of length 1 along v, if v is not zero or not finite.
pub(super) fn unit(v: &Vec3) -> Option<Vec3> {
    let largest = v.amax();
    let direction = (v / largest).normalize();
    (largest > 0.0 && direction.iter().all(|c| c.is_finite())).then_some(direction)
}
