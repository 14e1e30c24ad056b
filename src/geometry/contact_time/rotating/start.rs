//! Where the search begins: what the bodies' places and sizes tell without a search for nearest
//! points.

use super::Search;
use super::course::Course;
use super::step::{self, Need, Step, swept_end};
use crate::geometry::Vec3;
use crate::geometry::claim::{Frame, Link};
use crate::geometry::effort::Effort;

impl Search<'_> {
    /// What the bodies' places and sizes tell at once: the first link, where balls around them are
    /// apart, and else a course. The world direction along which they are apart at t = 0, if that
    /// shows one.
    pub(super) fn begin(&mut self, chain: &mut Vec<Link>, effort: &mut Effort<'_>) -> Option<Vec3> {
        self.when_found = self.start_with_spheres(chain, effort);
        if self.course.is_none() {
            self.when_found = self.start_between_centres(effort);
        }
        // Fixed in a body, a direction is given as it is at t = 0, too.
        self.course.as_ref().map(|course| course.heading.direction)
    }

    /// Covers what the balls around the pivots keep apart: one link along the line between them
    /// when they meet, or when they are closest. Returns the surplus that the course is left with.
    fn start_with_spheres(&mut self, chain: &mut Vec<Link>, effort: &mut Effort<'_>) -> f64 {
        let clear = self.clear;
        let Some(world) = step::between_spheres(&self.moving, clear) else { return f64::INFINITY };
        let heading = self.moving.heading(Frame::World, &world, 0.0);
        let need = Need::along(&heading, clear);
        let Some(end) = swept_end(&mut self.moving, &heading, need, 0.0, effort) else {
            return f64::INFINITY;
        };
        let gap = self.moving.gap(&heading, need, end, effort);
        let surplus = need.surplus(&gap);
        let course = Course { heading, gap };
        self.take(&course, &Step { end, gap, surplus }, chain);
        if surplus > 0.0 { surplus } else { f64::INFINITY }
    }

    /// The course that the bodies' places and sizes suggest, if the bodies are apart along it: of
    /// bodies that are not yet close it is a good one, and known without a search. Returns the
    /// surplus.
    fn start_between_centres(&mut self, effort: &mut Effort<'_>) -> f64 {
        let world = self.world_direction(self.t);
        let heading = self.moving.heading(Frame::World, &world, self.t);
        let mut course = self.moving.course(heading, self.clear, self.t, effort);
        let is_apart = course.surplus(self.clear) > 0.0;
        if !is_apart {
            // The search for another begins where this one led.
            self.seed.push(course.gap.pair);
            return f64::INFINITY;
        }
        self.choose_frame(&mut course, self.clear, effort);
        let surplus = course.surplus(self.clear);
        self.course = Some(course);
        surplus
    }
}
