//! Cells whose clouds change while a stream goes on.

use std::sync::Arc;

use super::Caller;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::cells::BuiltCell;
use clearance_runtime::compute::JobSize;
use clearance_runtime::compute::costs::{CLOUD_POINT, times};
use clearance_runtime::memory::MemoryKind;
use clearance_wire::convert::robots::clouds::AskedChanges;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// The cell with these changes. Whoever else has the cell, as the list of those that stay built,
/// has it as it was: then its clouds are copied, which happens once in a stream.
pub(super) async fn change_cell(
    caller: Caller<'_>,
    path: &Path<'_>,
    built: BuiltCell,
    wire: &[api::CloudChange],
) -> Result<BuiltCell, Failure> {
    let Caller { shared, quota, deadline, .. } = caller;
    let asked = caller
        .intake
        .look_through(|| AskedChanges::convert(path, wire, &built.cell, shared.limits()))?;
    let mut memory = quota.reserve(MemoryKind::Work, asked.working_bytes())?;
    let load = JobSize::of(caller.intake.extent(), times(CLOUD_POINT, asked.changed()));
    let until = deadline.until().clone();
    let change = move || {
        let mut cell = built.cell.clone();
        // What is counted for the cell is counted until the changed one is there.
        let BuiltCell { cell: before, .. } = built;
        drop(before);
        let path = Path::ROOT.field("cloud_changes");
        asked.apply(&path, Arc::make_mut(&mut cell), &Effort::until(u64::MAX, &until))?;
        Ok::<_, Failure>(cell)
    };
    let cell = caller.run(load, change).await??;
    memory.set(cell.heap_bytes() as u64);
    Ok(BuiltCell::new(cell, memory))
}
