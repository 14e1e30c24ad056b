//! Edges of a cell, answered on all threads of the compute pool.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::check::build_cell;
use super::chunks::in_chunks;
use super::size;
use crate::geometry::effort::{Cost, Effort};
use crate::robot::cell::Cell;
use crate::rpc::api;
use crate::rpc::convert::options::cost_to_wire;
use crate::rpc::convert::robots::certificates::edge_certificate_to_wire;
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
    let asked = AskedEdges::convert(&Path::ROOT, request, &cell, shared.limits())?;
    let count = asked.ends[0].len() / cell.variable_count();
    let (stop, clock) = (guard.flag(), shared.clock.clone());
    let job = move || {
        let start = clock.now();
        let (packed, cost) =
            in_chunks(count, CHUNK, |range| check_some(&cell, &asked, range, &stop));
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
    range: Range<usize>,
    stop: &AtomicBool,
) -> (api::CheckEdgesResponse, Cost) {
    let width = cell.variable_count();
    let (mut packed, mut cost) = (api::CheckEdgesResponse::default(), Cost::default());
    for at in range {
        let ends = [0, 1].map(|k: usize| &asked.ends[k][at * width..(at + 1) * width]);
        let mut effort = Effort::with_stop(asked.steps, stop);
        for answer in cell.check_edges(asked.question, ends, &mut effort) {
            push_edge(&mut packed, &answer);
            if asked.certificate {
                let made = cell.certify_edge(asked.question, ends, &answer, &mut effort);
                let certificate = made.ok().flatten().unwrap_or_default();
                packed.certificates.push(edge_certificate_to_wire(&certificate));
            }
        }
        cost += effort.cost;
    }
    (packed, cost)
}
