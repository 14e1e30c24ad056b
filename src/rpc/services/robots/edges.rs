//! Edges of a cell, answered on all threads of the compute pool.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::check::build_cell;
use super::size;
use crate::geometry::effort::{Cost, Effort};
use crate::robot::cell::Cell;
use crate::rpc::api;
use crate::rpc::convert::options::cost_to_wire;
use crate::rpc::convert::robots::edges::{AskedEdges, joined_edges, push_edge};
use crate::rpc::path::Path;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::runtime::deadline::StopGuard;

/// Edges that a thread takes at a time: some hundred microseconds of work.
const CHUNK: usize = 32;

/// What an edge takes in the mean, generously.
const EDGE_TIME: Duration = Duration::from_micros(60);

/// Answers about every edge.
pub(super) async fn answer(
    shared: &Shared,
    request: api::CheckEdgesRequest,
    guard: &StopGuard,
) -> Result<api::CheckEdgesResponse, Failure> {
    let path = Path::ROOT.field("cell");
    let wire = request.cell.as_ref().ok_or_else(|| path.bad("is required"))?;
    let cell = build_cell(shared, &path, wire, guard).await?;
    let asked = AskedEdges::convert(request, &cell, shared.limits())?;
    let count = asked.ends[0].len() / cell.variable_count();
    let (stop, clock) = (guard.flag(), shared.clock.clone());
    let job = move || {
        let start = clock.now();
        let chunks = (0..count.div_ceil(CHUNK)).map(|k| [k * CHUNK, count.min((k + 1) * CHUNK)]);
        let check = |range| check_some(&cell, &asked, range, &stop);
        let parts: Vec<_> = if count <= CHUNK {
            chunks.map(check).collect()
        } else {
            chunks.collect::<Vec<_>>().into_par_iter().map(check).collect()
        };
        let mut cost = Cost::default();
        let mut packed = Vec::with_capacity(parts.len());
        for (part, spent) in parts {
            cost += spent;
            packed.push(part);
        }
        cost.queries = count as u64;
        let mut answer = joined_edges(packed);
        answer.cost = Some(cost_to_wire(&cost, clock.now().duration_since(start)));
        answer
    };
    Ok(shared.compute.run_when_free(EDGE_TIME * size(count), job).await?)
}

/// Answers about a range of edges, each with a budget of its own.
fn check_some(
    cell: &Cell,
    asked: &AskedEdges,
    [first, end]: [usize; 2],
    stop: &AtomicBool,
) -> (api::CheckEdgesResponse, Cost) {
    let width = cell.variable_count();
    let (mut packed, mut cost) = (api::CheckEdgesResponse::default(), Cost::default());
    for at in first..end {
        let ends = [0, 1].map(|k: usize| &asked.ends[k][at * width..(at + 1) * width]);
        let mut effort = Effort::with_stop(asked.steps, stop);
        for answer in cell.check_edges(asked.question, ends, &mut effort) {
            push_edge(&mut packed, &answer);
        }
        cost += effort.cost;
    }
    (packed, cost)
}
