//! Configurations of a cell, answered on all threads of the compute pool.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::chunks::in_chunks;
use super::size;
use crate::geometry::effort::{Cost, Effort};
use crate::robot::cell::Cell;
use crate::robot::check::{CheckMode, CheckQuestion};
use crate::rpc::api;
use crate::rpc::convert::options::cost_to_wire;
use crate::rpc::convert::robots::answer::{Packed, joined, push, push_beyond_limit};
use crate::rpc::convert::robots::cell::{AskedCell, AskedCheck};
use crate::rpc::path::Path;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::runtime::deadline::StopGuard;

/// Configurations that a thread takes at a time: some hundred microseconds of work.
const CHUNK: usize = 256;

/// What a configuration takes at most in the mean; a batch that is thought to take long goes to
/// the compute pool.
const CONFIGURATION_TIME: Duration = Duration::from_micros(30);

/// Building the tree and the hulls of a cell, for each point.
const POINT_TIME: Duration = Duration::from_micros(5);

/// Builds the cell that a message brings.
pub(super) async fn build_cell(
    shared: &Shared,
    path: &Path<'_>,
    wire: &api::RobotCell,
    guard: &StopGuard,
) -> Result<Arc<Cell>, Failure> {
    let asked = AskedCell::convert(path, wire, &shared.robots, &shared.catalogue())?;
    let (estimate, stop) = (POINT_TIME * size(asked.size()), guard.flag());
    let built = shared.compute.run_when_free(estimate, move || asked.build(&stop)).await??;
    Ok(Arc::new(built))
}

/// Answers a call that stands alone.
pub(super) async fn once(
    shared: &Shared,
    request: api::CheckConfigurationsRequest,
    guard: &StopGuard,
) -> Result<api::CheckConfigurationsResponse, Failure> {
    let path = Path::ROOT.field("cell");
    let wire = request.cell.as_ref().ok_or_else(|| path.bad("is required"))?;
    let cell = build_cell(shared, &path, wire, guard).await?;
    answer(shared, &Path::ROOT, (cell, request), guard).await
}

/// Answers about configurations in a cell.
pub(super) async fn answer(
    shared: &Shared,
    path: &Path<'_>,
    (cell, request): (Arc<Cell>, api::CheckConfigurationsRequest),
    guard: &StopGuard,
) -> Result<api::CheckConfigurationsResponse, Failure> {
    let asked = AskedCheck::convert(path, request, &cell, shared.limits())?;
    let count = asked.values.len() / cell.variable_count();
    let (stop, clock) = (guard.flag(), shared.clock.clone());
    let job = move || {
        let start = clock.now();
        let (packed, cost) =
            in_chunks(count, CHUNK, |range| check_some(&cell, &asked, range, &stop));
        let mut answer = joined(packed);
        answer.clearances_per_configuration = per_configuration(&cell, asked.question);
        answer.cost = Some(cost_to_wire(&cost, clock.now().duration_since(start)));
        answer
    };
    Ok(shared.compute.run_when_free(CONFIGURATION_TIME * size(count), job).await?)
}

fn per_configuration(cell: &Cell, question: CheckQuestion) -> u32 {
    match question.mode {
        CheckMode::FirstPair | CheckMode::AllPairs => 0,
        CheckMode::Clearance => 1,
        CheckMode::LinkClearance => size(cell.moving_link_count()),
    }
}

/// Answers about a range of configurations.
fn check_some(
    cell: &Cell,
    asked: &AskedCheck,
    range: Range<usize>,
    stop: &AtomicBool,
) -> (Packed, Cost) {
    let width = cell.variable_count();
    let AskedCheck { question, values, report_limits } = asked;
    let values = &values[range.start * width..range.end * width];
    let mut effort = Effort::with_stop(u64::MAX, stop);
    let with_gradient = question.with_gradient;
    let mut packed = Packed {
        clearances_per_configuration: per_configuration(cell, *question),
        ..Packed::default()
    };
    let variables = &cell.kinematics().tree().variables;
    let answers = cell.check(*question, values, &mut effort);
    for (values, checked) in values.chunks_exact(width).zip(&answers) {
        let beyond = |k: &usize| {
            let inside = variables[*k].lower <= values[*k] && values[*k] <= variables[*k].upper;
            values[*k].is_finite() && !inside
        };
        let mut violated = (0..width).filter(beyond);
        if *report_limits {
            for variable in violated {
                packed.limit_indices.push(packed.count);
                packed.limit_variables.push(size(variable));
            }
            push(&mut packed, cell, with_gradient, checked);
        } else if let Some(variable) = violated.next() {
            push_beyond_limit(&mut packed, cell, with_gradient, variable);
        } else {
            push(&mut packed, cell, with_gradient, checked);
        }
    }
    (packed, effort.cost)
}
