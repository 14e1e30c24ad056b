//! Where robots are asked about: in the cell that a message brings, or in the scene of a session.

use std::sync::Arc;

use super::Caller;
use crate::rpc::services::sessions::{ClaimedScene, SceneCaller, ToldScene};
use clearance_proto as api;
use clearance_runtime::cells::{BuiltCell, Payer};
use clearance_runtime::compute::JobSize;
use clearance_runtime::compute::costs::{CELL_POINT, CLOUD_POINT, times};
use clearance_runtime::memory::MemoryKind;
use clearance_wire::convert::robots::cell::AskedCell;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A cell, and of a scene the frame that left it so.
#[derive(Clone, Debug)]
pub(super) struct AskedPlace {
    pub(super) built: BuiltCell,
    /// None: a message brought the cell.
    pub(super) frame_id: Option<u64>,
    /// Of a scene that certificates are about, a cell that says the same.
    pub(super) told: Option<Arc<ToldScene>>,
}

impl From<BuiltCell> for AskedPlace {
    fn from(built: BuiltCell) -> Self {
        Self { built, frame_id: None, told: None }
    }
}

/// Builds the cell, or takes the one that was built; of a message with exactly one of the two.
/// `is_claimed`: certificates are to be about it.
pub(super) async fn place_of(
    caller: Caller<'_>,
    path: &Path<'_>,
    cell: Option<&api::RobotCell>,
    scene: Option<&api::RobotScene>,
    is_claimed: bool,
) -> Result<AskedPlace, Failure> {
    match (cell, scene) {
        (Some(cell), None) => Ok(build_cell(caller, &path.field("cell"), cell).await?.into()),
        (None, Some(scene)) => in_scene(caller, &path.field("scene"), scene, is_claimed).await,
        (Some(_), Some(_)) => Err(both(path)),
        (None, None) => Err(path.field("cell").bad("is required, or scene in its place").into()),
    }
}

/// A message names two places.
pub(super) fn both(path: &Path<'_>) -> Failure {
    path.field("scene").bad("must be left out where there is a cell").into()
}

/// The scene of a session as it stands now.
pub(super) async fn in_scene(
    caller: Caller<'_>,
    path: &Path<'_>,
    scene: &api::RobotScene,
    is_claimed: bool,
) -> Result<AskedPlace, Failure> {
    let Caller { quota, deadline, header_key, is_stream, host, .. } = caller;
    let asking = SceneCaller { quota, deadline, header_key, is_stream };
    if is_claimed {
        let claimed = host.claimed_scene(asking, path, scene).await?;
        let ClaimedScene { built, frame_id, told } = claimed;
        return Ok(AskedPlace { built, frame_id: Some(frame_id), told: Some(told) });
    }
    let (built, frame_id) = host.scene_cell(asking, path, scene).await?;
    Ok(AskedPlace { built, frame_id: Some(frame_id), told: None })
}

/// Builds the cell that a message brings, or takes the one that was built for an equal one.
pub(super) async fn build_cell(
    caller: Caller<'_>,
    path: &Path<'_>,
    wire: &api::RobotCell,
) -> Result<BuiltCell, Failure> {
    let Caller { shared, quota, deadline, .. } = caller;
    // Converted even if the cell is kept: what it names may be gone since.
    let asked = caller.intake.look_through(|| {
        let asked = AskedCell::convert(path, wire, shared.robots(), &shared.catalogue())?;
        Ok::<_, Failure>((asked.key(), asked))
    });
    let (key, asked) = asked?;
    if let Some(kept) = shared.cells.get(&key, shared.clock.now()) {
        return Ok(kept);
    }
    let of_clouds = times(CLOUD_POINT, asked.cloud_points());
    let load = JobSize::of(caller.intake.extent(), times(CELL_POINT, asked.size()) + of_clouds);
    let until = deadline.until().clone();
    let mut memory = quota.reserve(MemoryKind::Work, asked.working_bytes())?;
    let cell = Arc::new(caller.run(load, move || asked.build(&until)).await??);
    memory.set(cell.heap_bytes() as u64);
    let payer = Payer { quota, now: shared.clock.now() };
    let kept = shared.cells.keep(key, &cell, payer, shared.limits());
    Ok(kept.unwrap_or_else(|| BuiltCell::new(cell, memory)))
}
