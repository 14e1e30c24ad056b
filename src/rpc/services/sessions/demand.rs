//! How long frames will take, at a guess, and whether that may be where others wait.

use std::time::Duration;

use super::session::Session;
use super::work::FrameWork;
use clearance_proto as api;
use clearance_runtime::compute::{Counted, JobSize};
use clearance_scene::RobotId;
use clearance_wire::convert::sessions::declare;
use clearance_wire::convert::sessions::plan::{Plan, is_dear};

/// A guess by the last frame may be wrong by any factor: a hostile client moves nothing first and
/// then everything. A frame that might hold up the other clients of its thread for longer than this
/// goes to the pool whatever the guess is.
const HOLD_UP_MAX: Duration = Duration::from_millis(20);

/// How long it takes to put a body where a frame says, at most.
const MOVE_TIME: Duration = Duration::from_nanos(250);

/// How long it takes to find out whether a body that moved is near another one, at most.
const FIND_TIME: Duration = Duration::from_nanos(20);

/// How long a body takes when the tree of boxes is built anew, in a scene of a hundred thousand.
const BUILD_TIME: Duration = Duration::from_micros(1);

/// How long a change of what is declared takes for each byte of it, at most: a name of a few bytes
/// is looked up in some hundred nanoseconds.
const DECLARED_BYTE_TIME: Duration = Duration::from_nanos(5);

/// How long the verdict and the distance of a pair of parts that have moved take.
const PAIR_TIME: Duration = Duration::from_micros(4);

/// How long the depth of two parts, or their first contact, takes for each vertex of one; or all
/// that may be asked of a polyhedron.
const DEAR_PAIR_TIME: Duration = Duration::from_micros(10);

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
        let is_bounded = at_worst <= HOLD_UP_MAX && self.are_default_methods;
        let size = if is_bounded { JobSize::of(extent, estimate) } else { JobSize::UNKNOWN };
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
        let carried: usize = robots.map(|to| self.scene.moved_with(RobotId(to.id)).count()).sum();
        let moved = frame.poses.len() + packed + carried;
        MOVE_TIME.saturating_mul(u32::try_from(moved).unwrap_or(u32::MAX))
    }

    /// How long it takes to go through all that is declared, as every change of it does.
    fn time_to_rebuild(&self) -> Duration {
        let bytes = u32::try_from(self.scene.bytes_of_declaration()).unwrap_or(u32::MAX);
        DECLARED_BYTE_TIME.saturating_mul(bytes)
    }

    /// How long it may take to find out which pairs an answer concerns: of the bodies that moved
    /// most are still within what is kept for them, and are not looked for.
    fn time_to_find(&mut self, plan: &Plan) -> Duration {
        let times = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let bodies = self.scene.bodies().len();
        match self.scene.bodies_to_find(&plan.questions) {
            0 => Duration::ZERO,
            found => {
                let looked_at = times(found.saturating_mul(bodies));
                FIND_TIME.saturating_mul(looked_at) + BUILD_TIME.saturating_mul(times(bodies))
            }
        }
    }

    /// How long the answers about so many pairs of bodies might take: a generous guess.
    fn time_of_pairs(&self, pairs: u64, is_dear: bool) -> Duration {
        let of_parts = pairs.saturating_mul((self.parts_max * self.parts_max) as u64);
        let is_dear = is_dear || self.scene.has_continuous_bodies() || self.scene.has_meshes();
        let each = if is_dear { DEAR_PAIR_TIME * self.vertices_max } else { PAIR_TIME };
        each.saturating_mul(u32::try_from(of_parts).unwrap_or(u32::MAX))
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
