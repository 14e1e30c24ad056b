//! Edges of a cell, answered in the compute pool and on whatever else is idle.

use std::ops::Range;
use std::time::Duration;

use prost::Message;

use super::check::{is_out_of_time, room_for_faces, size_of};
use super::chunks::in_chunks;
use super::place::{AskedPlace, place_of};
use super::replies::{Answers, ReplyList, ReplyRoom};
use super::{Caller, size};
use crate::rpc::services::sessions::ToldScene;
use clearance_geometry::effort::{Cost, Effort};
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_robot::cell::Cell;
use clearance_robot::edge::EdgeAnswer;
use clearance_runtime::compute::JobSize;
use clearance_runtime::compute::costs::{EDGE, times};
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::settings::Limits;
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::robots::certificates::edge_certificate_to_wire;
use clearance_wire::convert::robots::edges::{
    AskedEdges, beyond_limits, cut_edges, first_not_free, joined_edges, push_edge, push_edge_beyond,
};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

/// Edges that a thread takes at a time: some hundred microseconds of work.
const CHUNK: usize = 32;

/// So many where they are certified: what a thread makes is counted when it is there.
const CERTIFIED_CHUNK: usize = 4;

/// Edges of a path that are looked at before it is seen whether one of them is not free.
const PATH_BATCH: usize = 8 * CHUNK;

/// Configurations of an edge that the faces of meshes are looked at in, about.
const LOOKS: usize = 64;

/// What so many edges take.
fn size_of_edges(caller: Caller<'_>, count: usize, cell: &Cell) -> JobSize {
    let faces = Duration::from_nanos(cell.nanoseconds_of_faces());
    let guess = times(EDGE, count).max(times(faces, count.saturating_mul(LOOKS)));
    size_of(caller, guess, count, cell)
}

/// A cell that edges are asked about, and the same as their certificates are about it.
#[derive(Clone, Copy)]
struct EdgeCells<'a> {
    cell: &'a Cell,
    claimed: &'a Cell,
}

/// The cell as certificates are about it, if they are wanted; none: as it is.
fn claimed_cell(cell: &Cell, asked: &AskedEdges, until: &Until) -> Result<Option<Cell>, Failure> {
    if !asked.certificate {
        return Ok(None);
    }
    let faced = cell.with_faced_clouds(&mut Effort::until(u64::MAX, until));
    faced.map_err(|_| Failure::Deadline)
}

/// Memory for the faces that are asked about, and for what certificates make of clouds.
fn rooms(caller: Caller<'_>, cell: &Cell, asked: &AskedEdges) -> Result<[Reservation; 2], Failure> {
    let of_clouds = if asked.certificate { cell.bytes_with_faced_clouds() } else { 0 };
    let of_clouds = caller.quota.reserve(MemoryKind::Work, of_clouds as u64)?;
    Ok([room_for_faces(caller, cell)?, of_clouds])
}

/// Edges that a thread takes at a time.
fn chunk_of(asked: &AskedEdges) -> usize {
    if asked.certificate { CERTIFIED_CHUNK } else { CHUNK }
}

/// So many configurations are charged for an edge.
const CONFIGURATIONS_PER_EDGE: u64 = 10;

fn charge(caller: Caller<'_>, edges: usize) -> Result<(), Failure> {
    let count = CONFIGURATIONS_PER_EDGE.saturating_mul(edges as u64);
    Ok(caller.shared.quotas.charge(QuotaKind::Configurations, count)?)
}

/// What is told of an edge at least, bytes on the wire: an outcome, and how far it is free.
const EDGE_BYTES: u64 = 9;

/// Answers about every edge, and counts the call.
pub(super) async fn once(
    caller: Caller<'_>,
    request: api::CheckEdgesRequest,
) -> Result<api::CheckEdgesResponse, Failure> {
    let answered = with_its_cell(caller, request).await;
    count(caller, answered.as_ref().map(std::slice::from_ref));
    answered
}

/// Counts a message about edges by what became of it.
pub(super) fn count(caller: Caller<'_>, answered: Result<&[api::CheckEdgesResponse], &Failure>) {
    let ending = Ending::of(&answered, |replies| replies.iter().any(has_stopped));
    caller.shared.metrics.count(QuestionKind::Edges, ending);
}

/// Whether one of the edges was given up, or had no time left.
fn has_stopped(edges: &api::CheckEdgesResponse) -> bool {
    is_out_of_time(&edges.refused) || edges.outcomes().any(|one| one == api::Outcome::Undecided)
}

async fn with_its_cell(
    caller: Caller<'_>,
    request: api::CheckEdgesRequest,
) -> Result<api::CheckEdgesResponse, Failure> {
    let (cell, scene) = (request.cell.as_ref(), request.scene.as_ref());
    let place = place_of(caller, &Path::ROOT, cell, scene, request.certificate).await?;
    let mut answer = answer(caller, &Path::ROOT, &place, request).await?.only();
    let AskedPlace { built, frame_id, .. } = place;
    answer.set_place(frame_id.unwrap_or_default(), !built.is_kept);
    Ok(answer)
}

/// What each reply says beside its answers of what certificates are about, bytes at most.
fn claim_bytes(asked: &AskedEdges, place: &AskedPlace, count: usize) -> u64 {
    let told = place.told.as_ref().map_or(0, |told| told.bytes_in_reply(count));
    asked.coverage_bytes(&place.built.cell).saturating_add(told)
}

/// Answers about edges in a cell.
pub(super) async fn answer(
    caller: Caller<'_>,
    path: &Path<'_>,
    place: &AskedPlace,
    request: api::CheckEdgesRequest,
) -> Result<ReplyList<api::CheckEdgesResponse>, Failure> {
    let (Caller { shared, quota, deadline, .. }, cell) = (caller, place.built.cell.clone());
    let replies = ReplyRoom::new(caller, request.reply_bytes_max, &cell);
    let asked = AskedEdges::convert(path, request, &cell, shared.limits())?;
    let count = asked.ends[0].len() / cell.variable_count();
    let told = place.told.clone();
    let replies = replies.with_coverage(claim_bytes(&asked, place, count))?;
    replies.must_fit(count, EDGE_BYTES)?;
    charge(caller, count)?;
    let (until, clock) = (deadline.until().clone(), shared.clock.clone());
    let (compute, metrics) = (shared.compute.clone(), shared.metrics.clone());
    let memory = quota.reserve(MemoryKind::Replies, 0)?;
    let load = size_of_edges(caller, count, &cell);
    let room = rooms(caller, &cell, &asked)?;
    let chunks = replies.chunks(count, chunk_of(&asked), EDGE_BYTES);
    let job = move || {
        let _room = room;
        let start = clock.now();
        let claimed = claimed_cell(&cell, &asked, &until)?;
        let cells = EdgeCells { cell: &cell, claimed: claimed.as_ref().unwrap_or(&cell) };
        let check = |range| check_some(cells, &asked, range, replies, &until);
        let (packed, cost, mut memory) = in_chunks(&compute, chunks, memory, check)?;
        let room = replies;
        let mut replies = replies.replies(packed.into_iter().flatten().collect())?;
        memory.grow_to(memory.bytes() + room.coverage_of(replies.len()))?;
        let coverage = asked.coverage(&cell);
        for reply in &mut replies {
            reply.coverage.clone_from(&coverage);
            told.iter().for_each(|told| told.tell(reply));
        }
        metrics.add(QuestionKind::Edges, &cost);
        let cost = cost_to_wire(&cost, clock.now().duration_since(start));
        if let Some(last) = replies.last_mut() {
            last.cost = Some(cost);
        }
        Ok(ReplyList { replies, memory })
    };
    caller.run(load, job).await?
}

/// Answers about the edges between waypoints, and counts the call.
pub(super) async fn path(
    caller: Caller<'_>,
    request: api::CheckPathRequest,
) -> Result<api::CheckPathResponse, Failure> {
    let answered = of_path(caller, request).await;
    let has_stopped = |path: &api::CheckPathResponse| path.edges.iter().any(has_stopped);
    caller.shared.metrics.count(QuestionKind::Path, Ending::of(&answered, has_stopped));
    answered
}

async fn of_path(
    caller: Caller<'_>,
    request: api::CheckPathRequest,
) -> Result<api::CheckPathResponse, Failure> {
    let (cell, scene) = (request.cell.as_ref(), request.scene.as_ref());
    let place = place_of(caller, &Path::ROOT, cell, scene, request.certificate).await?;
    let (Caller { shared, quota, deadline, .. }, cell) = (caller, place.built.cell.clone());
    let all_edges = request.all_edges;
    let replies = ReplyRoom::new(caller, request.reply_bytes_max, &cell);
    let asked = asked_path(&request, &cell, shared.limits())?;
    let count = asked.ends[0].len() / cell.variable_count();
    let replies = replies.with_coverage(claim_bytes(&asked, &place, count))?;
    // A path that is not looked at as a whole may be told in a few words.
    replies.must_fit(if all_edges { count } else { 0 }, EDGE_BYTES)?;
    charge(caller, count)?;
    let (until, clock) = (deadline.until().clone(), shared.clock.clone());
    let (compute, metrics) = (shared.compute.clone(), shared.metrics.clone());
    let mut memory = quota.reserve(MemoryKind::Replies, 0)?;
    let load = size_of_edges(caller, count, &cell);
    let room = rooms(caller, &cell, &asked)?;
    let job = move || {
        let _room = room;
        let start = clock.now();
        let claimed = claimed_cell(&cell, &asked, &until)?;
        let cells = EdgeCells { cell: &cell, claimed: claimed.as_ref().unwrap_or(&cell) };
        let (mut packed, mut cost) = (Vec::new(), Cost::default());
        let (mut first, batch) = (0, if all_edges { count } else { PATH_BATCH });
        while first < count {
            let some = batch.min(count - first);
            let check = |range: Range<usize>| {
                let range = first + range.start..first + range.end;
                check_some(cells, &asked, range, replies, &until)
            };
            let chunks = replies.chunks(some, chunk_of(&asked), EDGE_BYTES);
            let (found, spent, kept) = in_chunks(&compute, chunks, memory, check)?;
            let found: Vec<_> = found.into_iter().flatten().collect();
            cost += spent;
            memory = kept;
            let is_free = found.iter().all(|part| first_not_free(part).is_none());
            packed.extend(found);
            if !is_free && !all_edges {
                break;
            }
            first += some;
        }
        memory.grow_to(memory.bytes() + replies.coverage_of(1))?;
        let mut edges = joined_edges(packed);
        edges.coverage = asked.coverage(&cell);
        edges.set_place(place.frame_id.unwrap_or_default(), !place.built.is_kept);
        metrics.add(QuestionKind::Path, &cost);
        edges.cost = Some(cost_to_wire(&cost, clock.now().duration_since(start)));
        Ok(path_answer(edges, all_edges, place.told.as_deref()))
    };
    caller.run(load, job).await?
}

/// What is said of a path whose edges were looked at.
fn path_answer(
    mut edges: api::CheckEdgesResponse,
    all_edges: bool,
    told: Option<&ToldScene>,
) -> api::CheckPathResponse {
    let end = first_not_free(&edges);
    if let (Some(at), false) = (end, all_edges) {
        cut_edges(&mut edges, at + 1);
    }
    told.iter().for_each(|told| told.tell(&mut edges));
    let (outcome, free_until) = match end {
        None => (api::Outcome::NoContact.into(), f64::from(edges.count)),
        Some(at) => (edges.outcomes[at], at as f64 + edges.free_until[at]),
    };
    api::CheckPathResponse { outcome, free_until, edges: Some(edges) }
}

/// The edges of a path.
fn asked_path(
    request: &api::CheckPathRequest,
    cell: &Cell,
    limits: &Limits,
) -> Result<AskedEdges, Failure> {
    let (width, list) = (cell.variable_count().max(1), Path::ROOT.field("waypoints"));
    let values = request.waypoints.len();
    if !values.is_multiple_of(width) || values < 2 * width {
        let problem = format!("must have {width} numbers for each of two waypoints or more");
        return Err(list.bad(problem).into());
    }
    let count = values / width - 1;
    list.within(limits.edges_max(), count)?;
    if request.certificate {
        list.within(limits.certified_edges_max(), count)?;
    }
    let edges = api::CheckEdgesRequest {
        cell: None,
        scene: request.scene.clone(),
        starts: request.waypoints[..values - width].to_vec(),
        ends: request.waypoints[width..].to_vec(),
        margin: request.margin,
        tolerance: request.tolerance,
        steps_per_edge: request.steps_per_edge,
        certificate: request.certificate,
        report_limits: request.report_limits,
        reply_bytes_max: request.reply_bytes_max,
        pair_scope: request.pair_scope,
        any_contact: request.any_contact,
    };
    let asked = AskedEdges::convert(&Path::ROOT, edges, cell, limits)?;
    Ok(AskedEdges { fields: ["waypoints"; 2], ..asked })
}

/// Answers about a range of edges, in pieces, with the bytes that they take.
fn check_some(
    EdgeCells { cell, claimed }: EdgeCells<'_>,
    asked: &AskedEdges,
    range: Range<usize>,
    replies: ReplyRoom,
    until: &Until,
) -> (Vec<api::CheckEdgesResponse>, u64, Cost) {
    let width = cell.variable_count();
    let some = range.start * width..range.end * width;
    let ends = asked.ends.each_ref().map(|values| &values[some.clone()]);
    let edge = |at: usize| ends.map(|values| &values[at * width..(at + 1) * width]);
    let is_refused =
        |at: &usize| !asked.report_limits && beyond_limits(cell, edge(*at)).next().is_some();
    let mut effort = Effort::until(u64::MAX, until);
    let kept: Vec<usize> = (0..range.len()).filter(|at| !is_refused(at)).collect();
    let found = if kept.len() == range.len() {
        cell.check_edges(asked.question, ends, &mut effort)
    } else {
        let kept: Vec<_> = kept.iter().map(|at| edge(*at)).collect();
        let kept = [0, 1].map(|end| kept.iter().map(|ends| ends[end]).collect::<Vec<_>>().concat());
        cell.check_edges(asked.question, [&kept[0], &kept[1]], &mut effort)
    };
    let mut answers = vec![None; range.len()];
    kept.into_iter().zip(found).for_each(|(at, answer)| answers[at] = Some(answer));
    let certificates = if asked.certificate { range.len() } else { 0 };
    let certify = |at: usize| {
        let mut steps = Effort::until(asked.proof_steps_max, until);
        let answer = answers[at].as_ref();
        let made =
            answer.map(|answer| claimed.certify_edge(asked.question, edge(at), answer, &mut steps));
        let certificate = made.and_then(|made| made.ok().flatten()).unwrap_or_default();
        effort.cost += steps.cost;
        edge_certificate_to_wire(&certificate)
    };
    let certificates: Vec<_> = (0..certificates).map(certify).collect();
    let some = CheckedEdges { cell, asked, ends, answers: &answers, certificates: &certificates };
    let pieces = replies.pieces(range.len(), |range| some.packed(range));
    let bytes = pieces.iter().map(|piece| piece.encoded_len() as u64).sum();
    (pieces, bytes, effort.cost)
}

/// Edges in a row that are answered.
#[derive(Clone, Copy)]
struct CheckedEdges<'a> {
    cell: &'a Cell,
    asked: &'a AskedEdges,
    ends: [&'a [f64]; 2],
    /// None: an end is beyond a limit.
    answers: &'a [Option<EdgeAnswer>],
    /// Empty: none are wanted.
    certificates: &'a [api::EdgeCertificate],
}

impl CheckedEdges<'_> {
    /// What is told of a range of them.
    fn packed(&self, range: Range<usize>) -> api::CheckEdgesResponse {
        let Self { cell, asked, ends, answers, certificates } = *self;
        let width = cell.variable_count();
        let mut packed = api::CheckEdgesResponse::default();
        for at in range {
            let beyond =
                beyond_limits(cell, ends.map(|values| &values[at * width..(at + 1) * width]));
            match &answers[at] {
                Some(answer) => {
                    let index = packed.count;
                    for (_, variable) in beyond {
                        packed.limit_indices.push(index);
                        packed.limit_variables.push(size(variable));
                    }
                    push_edge(&mut packed, asked.fields, answer);
                }
                None => {
                    for (end, variable) in beyond.take(1) {
                        push_edge_beyond(&mut packed, cell, asked.fields[end], variable);
                    }
                }
            }
            packed.certificates.extend(certificates.get(at).cloned());
        }
        packed
    }
}
