//! Robots of a session in configurations of their own, among all else that it holds: the cell that
//! `RobotService` asks.
//!
//! The session is out of its place only for a look whether a cell is built, and else for a copy of
//! its bodies; the cell is built while it moves on. One call builds it, others wait for it.

use std::sync::Arc;
use std::time::Duration;

use super::host::{SessionHost, failure};
use super::session::Session;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_proto as api;
use clearance_runtime::cells::BuiltCell;
use clearance_runtime::compute::costs::{CELL_POINT, CLOUD_POINT, TOLD_PART, times};
use clearance_runtime::compute::{Compute, Counted, JobSize};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::scene_cells::{AskedRobots, NewSceneCell, SceneCellKey, SharedSceneCells};
use clearance_runtime::sessions::owner::{Credentials, KeyDigest};
use clearance_runtime::sessions::{Held, SessionError, Slot};
use clearance_runtime::settings::Limits;
use clearance_scene::RobotId;
use clearance_scene::planning::{NoPlanningCell, PlanningCopy};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

/// Who asks about a scene.
#[derive(Clone, Copy, Debug)]
pub(in crate::rpc::services) struct SceneCaller<'a> {
    /// Pays for the work.
    pub(in crate::rpc::services) quota: &'a MemoryQuota,
    /// Until when it waits.
    pub(in crate::rpc::services) deadline: &'a Deadline,
    /// The session's key, if it came in a header.
    pub(in crate::rpc::services) header_key: &'a str,
    /// Whether it waits for the pool however many do.
    pub(in crate::rpc::services) is_stream: bool,
}

/// What a look at a session has shown.
pub(super) struct SceneLook {
    pub(super) cells: SharedSceneCells,
    pub(super) key: SceneCellKey,
    pub(super) frame_id: u64,
    built: Option<BuiltCell>,
}

impl SessionHost {
    /// The cell of a scene, and the frame that left the scene so: the one that stays built, or a
    /// new one.
    pub(in crate::rpc::services) async fn scene_cell(
        &self,
        caller: SceneCaller<'_>,
        path: &Path<'_>,
        wire: &api::RobotScene,
    ) -> Result<(BuiltCell, u64), Failure> {
        let slot = self.slot_of(caller, path, wire)?;
        let held = self.taken(caller, path, &slot).await?;
        let looked = self.look(&held, path, wire)?;
        drop(held);
        let cells = looked.cells.clone();
        if let Some(built) = looked.built {
            return Ok((built, looked.frame_id));
        }
        let turn = tokio::time::timeout(caller.deadline.time(), cells.turn()).await;
        let _turn = turn.map_err(|_| Failure::Deadline)?;
        // Somebody else may have built one meanwhile, of this frame or of one that has come since.
        let since = cells.since(&looked.key.asked, looked.frame_id);
        let is_asked = |frame_id: u64| wire.frame_id.is_none_or(|asked| asked == frame_id);
        if let Some(since) = since.filter(|(_, frame_id)| is_asked(*frame_id)) {
            return Ok(since);
        }
        let held = self.taken(caller, path, &slot).await?;
        let looked = self.look(&held, path, wire)?;
        let frame_id = looked.frame_id;
        if let Some(built) = looked.built {
            return Ok((built, frame_id));
        }
        Ok((self.build(caller, path, held, looked).await?, frame_id))
    }

    /// The place of the session.
    pub(super) fn slot_of(
        &self,
        caller: SceneCaller<'_>,
        path: &Path<'_>,
        wire: &api::RobotScene,
    ) -> Result<Arc<Slot<Session>>, Failure> {
        let api::RobotScene { session_id, session_key, incarnation, robots, .. } = wire;
        let list = path.field("robots");
        list.within(self.shared.limits().robots_per_cell_max(), robots.len())?;
        if let Some(at) = (0..robots.len()).find(|at| robots[..*at].contains(&robots[*at])) {
            return Err(list.index(at).bad("is named twice").into());
        }
        if session_id.is_empty() {
            return Err(path.field("session_id").bad("is required").into());
        }
        let own = Some(session_key.as_str()).filter(|key| !key.is_empty());
        let key = own.or(Some(caller.header_key).filter(|key| !key.is_empty()));
        let brought = Credentials { key: key.map(KeyDigest::of), incarnation: *incarnation };
        self.registry.get(session_id, brought).map_err(|why| not_there(why, session_id, path))
    }

    /// The session, once it is in its place.
    pub(super) async fn taken(
        &self,
        caller: SceneCaller<'_>,
        path: &Path<'_>,
        slot: &Arc<Slot<Session>>,
    ) -> Result<Held<Session>, Failure> {
        let taken = tokio::time::timeout(caller.deadline.time(), slot.take_out()).await;
        taken.map_err(|_| Failure::Deadline)?.map_err(|why| not_there(why, &slot.id, path))
    }

    /// How the scene stands, and whether there is a cell of it.
    pub(super) fn look(
        &self,
        session: &Session,
        path: &Path<'_>,
        wire: &api::RobotScene,
    ) -> Result<SceneLook, Failure> {
        let scene = session.scene();
        let applied = scene.frame();
        if let Some(frame_id) = wire.frame_id.filter(|asked| *asked != applied) {
            let field = path.field("frame_id").to_string();
            return Err(Failure::OtherFrame { field, frame_id, applied });
        }
        let list = path.field("robots");
        let robots: Vec<RobotId> = if wire.robots.is_empty() {
            scene.robots().map(|robot| robot.id).collect()
        } else {
            wire.robots.iter().map(|id| RobotId(*id)).collect()
        };
        if robots.is_empty() {
            return Err(list.bad("the session has no robot").into());
        }
        // All robots of a session may be more than a cell takes.
        list.within(self.shared.limits().robots_per_cell_max(), robots.len())?;
        let unknown = |at: usize| Failure::UnknownSessionRobot {
            field: list.index(at).to_string(),
            id: robots[at].0,
        };
        let Some(version) = scene.planning_version(&robots) else {
            let at = robots.iter().position(|id| scene.robot(*id).is_none());
            return Err(unknown(at.unwrap_or_default()));
        };
        let cells = session.cells().clone();
        let asked = AskedRobots { ids: robots, adjacent_links: wire.adjacent_links };
        let key = SceneCellKey { asked, version };
        let built = cells.get(&key, self.shared.clock.now());
        Ok(SceneLook { cells, key, frame_id: applied, built })
    }

    /// Builds the cell of a session, which is in its place again meanwhile.
    async fn build(
        &self,
        caller: SceneCaller<'_>,
        path: &Path<'_>,
        held: Held<Session>,
        looked: SceneLook,
    ) -> Result<BuiltCell, Failure> {
        let SceneLook { cells, key, frame_id, .. } = looked;
        let SceneCaller { quota, deadline, is_stream, .. } = caller;
        let compute = &self.shared.compute;
        let lasting = held.quota().lasting();
        let (copy, copied) = self.copy(caller, held, &key).await?;
        let mut work = quota.reserve(MemoryKind::Work, copy.working_bytes() as u64)?;
        let of_clouds = times(CLOUD_POINT, copy.cloud_points());
        let load = JobSize::of(
            Counted::all_of(copied.bytes()),
            times(CELL_POINT, copy.size()) + of_clouds,
        );
        let (until, before) = (deadline.until().clone(), cells.before(&key.asked));
        let job = move || {
            let _copied = copied;
            copy.build(before.as_ref(), &Effort::until(u64::MAX, &until))
        };
        let built = if is_stream {
            compute.run_when_free(load, job).await?
        } else {
            compute.run(load, job).await?
        };
        let planned = built.map_err(|why| no_cell(why, path, self.shared.limits()))?;
        let bytes = planned.cell.heap_bytes() as u64;
        work.set(0);
        let memory = lasting.reserve(MemoryKind::Sessions, bytes)?;
        let new = NewSceneCell { key, frame_id, planned, memory };
        Ok(cells.keep(new, self.shared.clock.now(), self.shared.limits()))
    }

    /// A copy of the bodies, with the memory that it takes; the session goes back.
    async fn copy(
        &self,
        caller: SceneCaller<'_>,
        held: Held<Session>,
        key: &SceneCellKey,
    ) -> Result<(PlanningCopy, Reservation), Failure> {
        let bytes = held.scene().bytes_of_planning_copy() as u64;
        let memory = caller.quota.reserve(MemoryKind::Work, bytes)?;
        let time: Duration = times(TOLD_PART, held.parts());
        let load = JobSize::of(Counted::all_of(bytes), time);
        let AskedRobots { ids, adjacent_links } = key.asked.clone();
        let job = move || {
            let copy = held.scene().planning_copy(&ids)?;
            Some(if adjacent_links { copy.and_adjacent_links() } else { copy })
        };
        let copy = match load.small() {
            Some(small) => Compute::here(small, job).await?,
            None => self.shared.compute.run_with_session(caller.is_stream, job).await?,
        };
        let gone = || Failure::Bug("robots left a session while it was out".to_owned());
        Ok((copy.ok_or_else(gone)?, memory))
    }
}

/// Why a session that a scene names is not there.
fn not_there(error: SessionError, id: &str, path: &Path<'_>) -> Failure {
    let at = |field: &'static str| path.field(field).to_string();
    match error {
        SessionError::Unknown => {
            let id = id.chars().take(200).collect();
            Failure::UnknownSession { field: at("session_id"), id }
        }
        SessionError::Replaced => {
            Failure::SessionReplaced { field: at("incarnation"), id: id.to_owned() }
        }
        SessionError::Exists | SessionError::Attached | SessionError::Full(_) => failure(error, id),
    }
}

/// Why there is no cell of a scene.
pub(super) fn no_cell(why: NoPlanningCell, path: &Path<'_>, limits: &Limits) -> Failure {
    match why {
        NoPlanningCell::Stopped(Stopped::Deadline | Stopped::Steps | Stopped::Unresolved) => {
            Failure::Deadline
        }
        NoPlanningCell::TooManyIgnored => limits.rules_per_cell_max().exceeded_at(path).into(),
        NoPlanningCell::NotAnswered { body, what } => {
            path.not_implemented(format!("{what}, as body {} of the session is", body.0)).into()
        }
    }
}
