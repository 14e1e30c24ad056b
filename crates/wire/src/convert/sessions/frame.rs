//! A frame from the wire.

use super::changes::{self, DeclaredChange};
use super::declare::{self, Declared, PartSource};
use super::packed::WireMoves;
use super::plan::Plan;
use super::robots::{self, DeclaredRobot};
use crate::convert::catalogue::Catalogue;
use crate::convert::options::budget;
use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::memory::OutOfMemory;
use clearance_runtime::settings::{Limit, Limits};
use clearance_scene::MoveError;
use clearance_scene::{
    Body, BodyChange, BodyId, Frame, FrameError, RuleChanges, Rules, Unanswered,
};

/// A frame, checked.
pub struct AskedFrame<'a> {
    /// What the scene applies, but for the moves.
    pub frame: Frame,
    /// The moves.
    pub moves: WireMoves<'a>,
    /// What its report contains.
    pub plan: Plan,
    /// The bodies of `frame.added` with their shapes.
    pub added: Vec<Declared>,
    /// The changes of `frame.changed` with their shapes.
    pub changed: Vec<DeclaredChange>,
    /// The robots of `frame.robots.added` as they are registered.
    pub added_robots: Vec<DeclaredRobot>,
    /// As it came.
    wire: &'a api::Frame,
}

/// What the session says about frames that do not say it themselves.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// What reports contain.
    pub plan: Plan,
    /// Answer from cold in a fixed order.
    pub canonical: bool,
    /// Steps that an answer may take.
    pub steps_max: u64,
}

impl<'a> AskedFrame<'a> {
    /// Checks everything that can be wrong with a frame as such; builds the hulls of given points,
    /// until `effort` is stopped.
    pub fn convert(
        path: &Path<'_>,
        wire: &'a api::Frame,
        defaults: &Defaults,
        catalogue: &Catalogue<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Failure> {
        let limits = catalogue.limits;
        path.field("poses").within(limits.bodies_per_session_max(), wire.poses.len())?;
        let removed = path.field("removed_body_ids");
        removed.within(limits.bodies_per_session_max(), wire.removed_body_ids.len())?;
        if let Some(packed) = &wire.packed_poses {
            let path = path.field("packed_poses");
            let ids = path.field("ids");
            ids.within(limits.bodies_per_session_max(), packed.ids.len())?;
        }
        let (steps, _) = budget(&path.field("budget"), wire.budget.as_deref())?;
        let steps_max = if wire.budget.is_some() { steps } else { defaults.steps_max };
        let mut plan = match &wire.report {
            None => defaults.plan,
            Some(report) => {
                let path = path.field("report");
                Plan::convert(&path, Some(report), defaults.canonical, steps_max, limits)?
            }
        };
        plan.questions.steps_max = steps_max;
        let moves = WireMoves::of(path, wire)?;
        let added_path = path.field("added_bodies");
        let added = declare::bodies(&added_path, &wire.added_bodies, catalogue, effort)?;
        let changed_path = path.field("changed_bodies");
        let changed = changes::bodies(&changed_path, &wire.changed_bodies, catalogue, effort)?;
        let changes_path = path.field("rule_changes");
        let rule_changes = wire.rule_changes.as_ref();
        let rule_changes =
            rule_changes.map(|changed| changes::rules(&changes_path, changed, catalogue));
        let rules_path = path.field("rules");
        let rules = wire.rules.as_ref();
        let rules = rules.map(|rules| declare::rules(&rules_path, Some(rules), catalogue));
        let (robots, added_robots) = robots::changes(path, wire, catalogue)?;
        let frame = Frame {
            robots,
            id: wire.frame_id,
            base: wire.base_frame_id,
            keyframe: wire.keyframe,
            removed: wire.removed_body_ids.iter().copied().map(BodyId).collect(),
            added: added.iter().map(|declared| Body::clone(&declared.body)).collect(),
            changed: changed.iter().map(|declared| declared.change.clone()).collect(),
            rules: rules.transpose()?,
            rule_changes: rule_changes.transpose()?,
            moves: Vec::new(),
            teleported: wire.teleported,
        };
        Ok(Self { frame, moves, plan, added, changed, added_robots, wire })
    }

    /// Memory that a session takes more for it, bytes, estimated.
    pub fn bytes(&self) -> u64 {
        let added = self.added.iter().flat_map(|one| &one.shapes);
        let changed = self.changed.iter().flat_map(|one| &one.shapes);
        let shapes: u64 = added.chain(changed).map(PartSource::bytes).sum();
        let bodies: usize = self.added.iter().map(|one| one.body.bytes()).sum();
        let changes: usize = self.frame.changed.iter().map(BodyChange::bytes).sum();
        let rules = self.frame.rules.as_ref().map_or(0, Rules::bytes);
        let rules = rules + self.frame.rule_changes.as_ref().map_or(0, RuleChanges::bytes);
        let robots: usize = self.added_robots.iter().map(|one| one.robot.bytes()).sum();
        shapes + (bodies + changes + rules + robots) as u64
    }

    /// Calls `take` for each pose and each move of a robot that was left out before the scene saw
    /// it, once it has read them, with what puts it into words; `path` is that of the frame.
    pub fn each_left_out(&self, path: &Path<'_>, mut take: impl FnMut(&dyn Fn() -> BadField)) {
        self.moves.each_left_out(path, &mut take);
        robots::each_unnamed(path, self.wire, take);
    }

    /// The status of a move that the scene refused.
    pub fn refused_move(&self, path: &Path<'_>, index: usize, error: MoveError) -> api::ItemStatus {
        if let MoveError::Robot(error) = error {
            return robots::refused(path, robots::place_of_move(self.wire, index), error);
        }
        let field = match error {
            MoveError::NotAnswered => self.moves.path_of_pose(index, path),
            MoveError::Spin(_) => self.moves.path_of_spin(index, path),
            MoveError::NotThere => path.field("removed_body_ids").index(index).to_string(),
            MoveError::UnknownBody
            | MoveError::Repeated
            | MoveError::TooFar
            | MoveError::Carried
            | MoveError::Robot(_)
            | MoveError::Deviation => self.moves.path_of_id(index, path),
        };
        let failure = match error {
            MoveError::UnknownBody => Failure::UnknownBody { field, id: self.moves.id(index) },
            MoveError::NotThere => Failure::UnknownBody {
                field,
                id: self.frame.removed.get(index).map_or(0, |id| id.0),
            },
            MoveError::Repeated
            | MoveError::TooFar
            | MoveError::Deviation
            | MoveError::Carried
            | MoveError::Spin(_)
            | MoveError::Robot(_)
            | MoveError::NotAnswered => {
                BadField { field, problem: error.to_string().into() }.into()
            }
        };
        failure.to_item()
    }
}

/// Why a frame was refused, in the words of the wire.
pub fn failure(path: &Path<'_>, wire: &api::Frame, error: &FrameError, limits: &Limits) -> Failure {
    match error {
        FrameError::NoId => path.field("frame_id").bad(error.to_string()).into(),
        FrameError::Stale { last } => {
            let field = path.field("frame_id").to_string();
            Failure::StaleFrame { field, frame_id: wire.frame_id, applied: *last }
        }
        FrameError::KeyframeNeeded { last } => {
            let field = path.field("base_frame_id").to_string();
            let base = wire.base_frame_id.unwrap_or(wire.frame_id.saturating_sub(1));
            Failure::KeyframeNeeded { field, base, applied: *last }
        }
        FrameError::Declaration(error) => declare::failure(path, error, limits),
    }
}

/// A frame that makes the session larger than memory allows.
pub fn no_room(limits: &Limits) -> Failure {
    limits.session_bytes_max().reached().into()
}

/// A frame that is not answered. If it looks at too many pairs, the next frame may look at fewer;
/// the scene that a session is opened with, which is at `opened`, stays as it is, and trying again
/// does not help. If the caller has left, nobody reads this.
pub fn unanswered(error: Unanswered, limits: &Limits, opened: Option<&str>) -> Failure {
    let error = match error {
        Unanswered::TooManyPairs(error) => error,
        Unanswered::CallerLeft => return Failure::Deadline,
        Unanswered::NoRoom => return OutOfMemory(limits.memory_bytes_max()).into(),
    };
    let limit = Limit { value: error.pairs_max as u64, ..limits.pairs_per_frame_max() };
    match opened {
        Some(field) => limit.exceeded_at(field).into(),
        None => limit.reached().into(),
    }
}
