//! How long frames will take, at a guess, and whether that may be where others wait.

use std::time::Duration;

use super::session::Session;
use super::work::FrameWork;
use clearance_proto as api;
use clearance_runtime::compute::costs::{
    DEAR_PAIR_VERTEX, DECLARED_BYTE, FOUND_BODY, HOLD_UP_MAX, MOVED_BODY, PAIR, TREE_BODY, times,
};
use clearance_runtime::compute::{Counted, JobSize};
use clearance_scene::RobotId;
use clearance_wire::convert::sessions::declare;
use clearance_wire::convert::sessions::plan::{Plan, is_dear};

/// What some frames take before they are answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// What the last of them may take at most, by its own words or the session's; none: these say
    /// nothing.
    pub(super) time: Option<Duration>,
    /// How long they will take, judging by the last answer.
    pub(super) estimate: Duration,
    /// Whether that may be where others wait.
    pub(super) size: JobSize,
}

impl Session {
    /// What these frames take, all of which hold so much: nobody can bound it if they might well
    /// take longer than others can wait, or are answered by a method whose time the guesses do not
    /// bound.
    pub(super) fn demand(&self, frames: &[Box<api::Frame>], extent: Counted) -> Demand {
        let each = frames.iter().map(|frame| declare::frame_estimate(frame));
        let estimate = each.fold(self.last_elapsed, Duration::saturating_add);
        let at_worst = frames.iter().map(|frame| self.at_worst(frame));
        let at_worst = at_worst.fold(Duration::ZERO, Duration::saturating_add);
        let size = match self.are_default_methods {
            true => JobSize::within(extent, estimate, at_worst, HOLD_UP_MAX),
            false => JobSize::UNKNOWN,
        };
        Demand { time: frames.last().and_then(|frame| self.time(frame)), estimate, size }
    }

    /// What a frame may take, by its own words or the session's.
    fn time(&self, frame: &api::Frame) -> Option<Duration> {
        let own = frame.budget.as_ref().and_then(|budget| budget.time);
        // A negative one is refused when the frame is read.
        own.map_or(self.time, |time| Duration::try_from(time).ok())
    }

    /// How long a frame might take until it is known how many bodies have to be looked for, which
    /// is looked at then; or in all, if that is not how it is answered.
    fn at_worst(&self, frame: &api::Frame) -> Duration {
        let is_restructured = !frame.added_bodies.is_empty()
            || !frame.changed_bodies.is_empty()
            || frame.rules.is_some()
            || frame.rule_changes.is_some()
            || !frame.added_robots.is_empty()
            || !frame.removed_robots.is_empty()
            || !frame.attached.is_empty()
            || !frame.detached_body_ids.is_empty();
        let questions = &self.defaults.plan.questions;
        let asks_anew = frame.report.is_some() || questions.canonical;
        if asks_anew || is_restructured || frame.teleported {
            let report = frame.report.as_ref();
            let is_dear = report.map_or(self.defaults.plan.is_dear(), |report| is_dear(report));
            let pairs = self.time_of_pairs(self.scene.pairs_enabled(), is_dear);
            return if is_restructured { pairs + self.time_to_rebuild() } else { pairs };
        }
        let packed = frame.packed_poses.as_ref().map_or(0, |packed| packed.ids.len());
        let robots = frame.robot_moves.iter();
        let carried: usize = robots
            .filter_map(|to| to.id)
            .map(|id| self.scene.moved_with(RobotId(id)).count())
            .sum();
        let moved = frame.poses.len() + packed + carried;
        times(MOVED_BODY, moved)
    }

    /// How long it takes to go through all that is declared, as every change of it does.
    fn time_to_rebuild(&self) -> Duration {
        times(DECLARED_BYTE, self.scene.bytes_of_declaration())
    }

    /// How long it may take to find out which pairs an answer concerns: of the bodies that moved
    /// most are still within what is kept for them, and are not looked for.
    fn time_to_find(&mut self, plan: &Plan) -> Duration {
        let bodies = self.scene.bodies().len();
        match self.scene.bodies_to_find(&plan.questions) {
            0 => Duration::ZERO,
            found => times(FOUND_BODY, found.saturating_mul(bodies)) + times(TREE_BODY, bodies),
        }
    }

    /// How long the answers about so many pairs of bodies might take: a generous guess.
    fn time_of_pairs(&self, pairs: u64, is_dear: bool) -> Duration {
        let of_parts = pairs.saturating_mul((self.parts_max * self.parts_max) as u64);
        let is_dear = is_dear || self.scene.has_continuous_bodies() || self.scene.has_meshes();
        let each = if is_dear { DEAR_PAIR_VERTEX * self.vertices_max } else { PAIR };
        times(each, usize::try_from(of_parts).unwrap_or(usize::MAX))
    }

    /// Whether an answer might hold up others where it would be given.
    pub(super) fn holds_up(&mut self, plan: &Plan, work: &FrameWork<'_>) -> bool {
        if !work.is_inline {
            return false;
        }
        if self.time_to_find(plan) > HOLD_UP_MAX {
            return true;
        }
        let Ok(pairs) = self.scene.pairs_within_reach(&plan.questions) else { return true };
        self.time_of_pairs(pairs, plan.is_dear()) > HOLD_UP_MAX
    }
}
