//! The scene of a session as certificates of edges are about it: a cell of its own, which is built
//! for the call, and told with the answer.

use std::sync::Arc;

use prost::Message;

use super::host::SessionHost;
use super::planning::{SceneCaller, no_cell};
use super::session::Session;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_robot::cell::LEFT_OUT_BYTES;
use clearance_runtime::cells::BuiltCell;
use clearance_runtime::compute::JobSize;
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::scene_cells::AskedRobots;
use clearance_runtime::sessions::Held;
use clearance_runtime::settings::Limits;
use clearance_scene::planning::claimed::PlanningOutline;
use clearance_scene::planning::{NoPlanningCell, PlanningCopy};
use clearance_wire::convert::sessions::claimed::{IGNORED_BYTES, ignore};
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// What a message takes in memory for each of its bytes on the wire, at most.
const IN_MEMORY: u64 = 8;

/// A scene as certificates are about it.
#[derive(Clone, Debug)]
pub(in crate::rpc::services) struct ClaimedScene {
    /// Its bodies are called by their numbers.
    pub(in crate::rpc::services) built: BuiltCell,
    /// The frame that left the scene so.
    pub(in crate::rpc::services) frame_id: u64,
    /// A cell that says the same.
    pub(in crate::rpc::services) told: Arc<ToldScene>,
}

/// What is told of such a scene, and the memory that it takes.
#[derive(Debug)]
pub(in crate::rpc::services) struct ToldScene {
    cell: api::SceneCell,
    bytes: u64,
    _memory: Reservation,
}

impl ToldScene {
    /// What it takes of a reply about so many edges, bytes at most.
    pub(in crate::rpc::services) fn bytes_in_reply(&self, edges: usize) -> u64 {
        /// The tags and lengths of what is added.
        const BESIDE: u64 = 32;
        /// The numbers of the two bodies of a contact, beside their ids.
        const EACH: u64 = 4 * 5;
        self.bytes + BESIDE + EACH * edges as u64
    }

    /// Tells it with an answer, whose contacts are called by the ids of the session from then on.
    pub(in crate::rpc::services) fn tell(&self, answer: &mut api::CheckEdgesResponse) {
        let ids = &self.cell.body_ids;
        let named = |numbers: &mut Vec<u32>| {
            let of = numbers.iter().map(|number| ids.get(*number as usize).copied());
            let named = of.map(Option::unwrap_or_default).collect();
            std::mem::replace(numbers, named)
        };
        let near_firsts = named(&mut answer.near_firsts);
        let near_seconds = named(&mut answer.near_seconds);
        answer.scene_cell = Some(api::SceneCell { near_firsts, near_seconds, ..self.cell.clone() });
    }
}

/// What a look at a session has shown, of which a cell is built while it moves on.
struct Outlined {
    outline: PlanningOutline,
    copy: PlanningCopy,
    told: api::SceneCell,
    copied: Reservation,
}

impl SessionHost {
    /// The scene as certificates are about it, as its last frame left it.
    pub(in crate::rpc::services) async fn claimed_scene(
        &self,
        caller: SceneCaller<'_>,
        path: &Path<'_>,
        wire: &api::RobotScene,
    ) -> Result<ClaimedScene, Failure> {
        let SceneCaller { quota, deadline, is_stream, .. } = caller;
        let slot = self.slot_of(caller, path, wire)?;
        let held = self.taken(caller, path, &slot).await?;
        let looked = self.look(&held, path, wire)?;
        let (asked, frame_id, cells) = (looked.key.asked, looked.frame_id, looked.cells);
        let outlined = self.outlined(caller, held, &asked).await?;
        let Outlined { outline, copy, mut told, copied } = outlined;
        let limits = self.shared.limits();
        let most = usize::try_from(limits.rules_per_cell_max).unwrap_or(usize::MAX);
        let of_pairs = 2 * (LEFT_OUT_BYTES + IGNORED_BYTES) * copy.left_out_at_most(most);
        let bytes = copy.working_bytes().saturating_add(of_pairs) as u64;
        let mut memory = quota.reserve(MemoryKind::Work, bytes)?;
        let (until, before) = (deadline.until().clone(), cells.before(&asked));
        let job = move || {
            let _copied = copied;
            let effort = Effort::until(u64::MAX, &until);
            let claimed = copy.claimed(&outline, most, &effort)?;
            ignore(&mut told, &outline, claimed.ignored());
            Ok::<_, NoPlanningCell>((claimed.build(before.as_ref(), &effort)?, told))
        };
        let (compute, load) = (&self.shared.compute, JobSize::UNKNOWN);
        let built = if is_stream {
            compute.run_when_free(load, job).await?
        } else {
            compute.run(load, job).await?
        };
        let (planned, told) = built.map_err(|why| no_cell(why, path, limits))?;
        if planned.cell.flat_beside_polyhedron().is_some() {
            let what = "certificates of edges of a polytope without volume beside a polyhedron";
            return Err(path.not_implemented(what).into());
        }
        let bytes = told.encoded_len() as u64;
        let mut of_told = quota.reserve(MemoryKind::Work, 0)?;
        memory.set(planned.cell.heap_bytes() as u64);
        of_told.grow_to(IN_MEMORY.saturating_mul(bytes))?;
        let built = BuiltCell::new(planned.cell, memory);
        let told = Arc::new(ToldScene { cell: told, bytes, _memory: of_told });
        Ok(ClaimedScene { built, frame_id, told })
    }

    /// A copy of the bodies and what they are in the session, which goes back.
    async fn outlined(
        &self,
        caller: SceneCaller<'_>,
        held: Held<Session>,
        asked: &AskedRobots,
    ) -> Result<Outlined, Failure> {
        let scene = held.scene();
        let copied = scene.bytes_of_planning_copy() + scene.bytes_of_outline();
        // The shapes are told as they were declared, and links by their points.
        let bytes = (copied as u64).saturating_add(IN_MEMORY.saturating_mul(held.state_bytes()));
        let copied = caller.quota.reserve(MemoryKind::Work, bytes)?;
        let (asked, limits) = (asked.clone(), self.shared.limits().clone());
        let is_stream = caller.is_stream;
        let job = move || outline(&held, &asked, is_stream, &limits);
        let outlined = self.shared.compute.run_with_session(caller.is_stream, job).await?;
        let (outline, copy, told) = outlined?;
        Ok(Outlined { outline, copy, told, copied })
    }
}

fn outline(
    session: &Session,
    asked: &AskedRobots,
    is_stream: bool,
    limits: &Limits,
) -> Result<(PlanningOutline, PlanningCopy, api::SceneCell), Failure> {
    // A job does not have the path of its caller.
    let check = Path::ROOT.field("check");
    let path = if is_stream { check.field("scene") } else { Path::ROOT.field("scene") };
    let (scene, gone) = (session.scene(), "robots left a session while it was out");
    let copy = scene.planning_copy(&asked.ids);
    let copy = copy.ok_or_else(|| Failure::Bug(gone.to_owned()))?;
    let copy = if asked.adjacent_links { copy.and_adjacent_links() } else { copy };
    let outlined = scene.outline(&asked.ids, copy);
    let (outline, copy) = outlined.map_err(|why| no_cell(why, &path, limits))?;
    let told = session.scene_cell(&path, &outline, limits)?;
    Ok((outline, copy, told))
}
