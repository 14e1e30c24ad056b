//! Edges of a cell, answered on all threads of the compute pool.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use prost::Message;

use super::check::{ANSWER_FACTOR, build_cell};
use super::chunks::in_chunks;
use super::{Caller, size};
use crate::geometry::effort::{Cost, Effort};
use crate::robot::cell::Cell;
use crate::rpc::api;
use crate::rpc::convert::options::cost_to_wire;
use crate::rpc::convert::robots::certificates::edge_certificate_to_wire;
use crate::rpc::convert::robots::edges::{AskedEdges, joined_edges, push_edge};
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use crate::runtime::memory::MemoryKind;

/// Edges that a thread takes at a time: some hundred microseconds of work.
const CHUNK: usize = 32;

/// What an edge takes in the mean, generously.
const EDGE_TIME: Duration = Duration::from_micros(60);

/// Answers about every edge.
pub(super) async fn answer(
    caller: Caller<'_>,
    request: api::CheckEdgesRequest,
) -> Result<api::CheckEdgesResponse, Failure> {
    let path = Path::ROOT.field("cell");
    let wire = request.cell.as_ref().ok_or_else(|| path.bad("is required"))?;
    let built = build_cell(caller, &path, wire).await?;
    let (Caller { shared, purse, guard, .. }, cell) = (caller, built.cell.clone());
    let asked = AskedEdges::convert(&Path::ROOT, request, &cell, shared.limits())?;
    let count = asked.ends[0].len() / cell.variable_count();
    let (stop, clock) = (guard.flag(), shared.clock.clone());
    let memory = purse.reserve(MemoryKind::Replies, 0)?;
    let job = move || {
        let start = clock.now();
        let check = |range| {
            let (packed, cost) = check_some(&cell, &asked, range, &stop);
            let bytes = ANSWER_FACTOR * packed.encoded_len() as u64;
            (packed, bytes, cost)
        };
        let (packed, cost, _memory) = in_chunks(count, CHUNK, memory, check)?;
        let mut answer = joined_edges(packed);
        answer.cost = Some(cost_to_wire(&cost, clock.now().duration_since(start)));
        Ok(answer)
    };
    caller.run(EDGE_TIME * size(count), job).await?
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
