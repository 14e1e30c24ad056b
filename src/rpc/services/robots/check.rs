//! Configurations of a cell, answered in the compute pool and on whatever else is idle.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use prost::Message;
use tonic::Code;

use super::chunks::{Chunks, in_chunks};
use super::{Caller, size};
use clearance_geometry::effort::{Cost, Effort};
use clearance_proto as api;
use clearance_robot::cell::Cell;
use clearance_robot::check::{CheckMode, CheckQuestion};
use clearance_runtime::cells::{BuiltCell, Payer};
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::paging::reply_bytes;
use clearance_wire::convert::robots::answer::{Packed, joined, push, push_beyond_limit};
use clearance_wire::convert::robots::cell::{AskedCell, AskedCheck};
use clearance_wire::path::Path;
use clearance_wire::status::{Failure, TooLong};

/// Configurations that a thread takes at a time: some hundred microseconds of work.
const CHUNK: usize = 256;

/// Numbers that the answer of a thread may have before they are counted.
const ENTRIES_AT_ONCE: usize = 1 << 17;

/// What a configuration takes at most in the mean; a batch that is thought to take long goes to
/// the compute pool.
const CONFIGURATION_TIME: Duration = Duration::from_micros(30);

/// What a pair of a cell takes at most, where all of them are close.
const PAIR_TIME: Duration = Duration::from_micros(4);

/// A guess at the mean may be wrong by any factor: what might hold up others for longer than this
/// goes to the compute pool.
const HOLD_UP_MAX: Duration = Duration::from_millis(20);

/// How long so many questions take, each of which takes `each` in the mean.
pub(super) fn time_of(each: Duration, count: usize, cell: &Cell) -> Duration {
    let faces = Duration::from_nanos(cell.nanoseconds_of_faces() + cell.nanoseconds_of_clouds());
    let pairs = PAIR_TIME.saturating_mul(size(count.saturating_mul(cell.pair_count())));
    let at_worst = pairs.saturating_add(faces.saturating_mul(size(count)));
    let guess = each * size(count);
    if at_worst > HOLD_UP_MAX { guess.max(at_worst) } else { guess }
}

/// Building the tree and the hulls of a cell, for each point.
const POINT_TIME: Duration = Duration::from_micros(5);

/// Building the tree of a cloud, for each point.
pub(super) const CLOUD_POINT_TIME: Duration = Duration::from_nanos(250);

/// Builds the cell that a message brings, or takes the one that was built for an equal one.
pub(super) async fn build_cell(
    caller: Caller<'_>,
    path: &Path<'_>,
    wire: &api::RobotCell,
) -> Result<BuiltCell, Failure> {
    let Caller { shared, quota, guard, .. } = caller;
    // Converted even if the cell is kept: what it names may be gone since.
    let asked = caller.intake.look_through(|| {
        let asked = AskedCell::convert(path, wire, &shared.robots, &shared.catalogue())?;
        Ok::<_, Failure>((asked.key(), asked))
    });
    let (key, asked) = asked?;
    if let Some(kept) = shared.cells.get(&key, shared.clock.now()) {
        return Ok(kept);
    }
    let of_clouds = CLOUD_POINT_TIME * size(asked.cloud_points());
    let (estimate, stop) = (POINT_TIME * size(asked.size()) + of_clouds, guard.flag());
    let mut memory = quota.reserve(MemoryKind::Work, asked.working_bytes())?;
    let cell = Arc::new(caller.run(estimate, move || asked.build(&stop)).await??);
    memory.set(cell.heap_bytes() as u64);
    let payer = Payer { quota, now: shared.clock.now() };
    let kept = shared.cells.keep(key, &cell, payer, shared.limits());
    Ok(kept.unwrap_or_else(|| BuiltCell::new(cell, memory)))
}

/// Memory for what the threads that answer make of polyhedra; of polytopes nothing.
pub(super) fn room_for_faces(caller: Caller<'_>, cell: &Cell) -> Result<Reservation, Failure> {
    // Those of the pool, and the one that reads.
    let threads = caller.shared.compute.threads() as u64 + 1;
    let each = cell.bytes_of_question() as u64;
    Ok(caller.quota.reserve(MemoryKind::Work, each.saturating_mul(threads))?)
}

/// Answers a call that stands alone, and counts it.
pub(super) async fn once(
    caller: Caller<'_>,
    request: api::CheckConfigurationsRequest,
) -> Result<api::CheckConfigurationsResponse, Failure> {
    let answered = with_its_cell(caller, request).await;
    count(caller, &answered, |answer| answer);
    answered
}

/// Counts a message about configurations by what became of it.
pub(super) fn count<T>(
    caller: Caller<'_>,
    answered: &Result<T, Failure>,
    answer: impl Fn(&T) -> &api::CheckConfigurationsResponse,
) {
    let ending = Ending::of(answered, |answered| is_out_of_time(&answer(answered).refused));
    caller.shared.metrics.count(QuestionKind::Configurations, ending);
}

/// Whether one of these has no answer because the time was over.
pub(super) fn is_out_of_time(refused: &[api::RefusedConfiguration]) -> bool {
    let mut codes = refused.iter().filter_map(|one| Some(one.status.as_ref()?.code));
    codes.any(|code| code == Code::DeadlineExceeded as i32)
}

async fn with_its_cell(
    caller: Caller<'_>,
    request: api::CheckConfigurationsRequest,
) -> Result<api::CheckConfigurationsResponse, Failure> {
    let path = Path::ROOT.field("cell");
    let wire = request.cell.as_ref().ok_or_else(|| path.bad("is required"))?;
    let built = build_cell(caller, &path, wire).await?;
    let (answer, _memory) = answer(caller, &Path::ROOT, &built.cell, request).await?;
    Ok(api::CheckConfigurationsResponse { cell_not_kept: !built.is_kept, ..answer })
}

/// Answers about configurations in a cell; the memory is for the answer.
pub(super) async fn answer(
    caller: Caller<'_>,
    path: &Path<'_>,
    cell: &Arc<Cell>,
    request: api::CheckConfigurationsRequest,
) -> Result<(api::CheckConfigurationsResponse, Reservation), Failure> {
    let Caller { shared, quota, guard, .. } = caller;
    let intake = caller.intake;
    let bytes_max = reply_bytes(request.reply_bytes_max, shared.limits());
    let asked =
        intake.look_through(|| AskedCheck::convert(path, request, cell, shared.limits()))?;
    let count = asked.values.len() / cell.variable_count();
    let estimate = time_of(CONFIGURATION_TIME, count, cell);
    let size_max = ENTRIES_AT_ONCE / asked.entries_of_one.max(1);
    let chunks = Chunks { count, size: CHUNK.min(size_max).max(1), bytes_max };
    if asked.bytes_at_least > bytes_max {
        return Err(TooLong::Answers { bytes_max }.into());
    }
    let (stop, clock, cell) = (guard.flag(), shared.clock.clone(), cell.clone());
    let (compute, metrics) = (shared.compute.clone(), shared.metrics.clone());
    let memory = quota.reserve(MemoryKind::Replies, 0)?;
    let room = room_for_faces(caller, &cell)?;
    let job = move || {
        let _room = room;
        let start = clock.now();
        let check = |range| {
            let (packed, cost) = check_some(&cell, &asked, range, &stop);
            let bytes = packed.encoded_len() as u64;
            (packed, bytes, cost)
        };
        let (packed, cost, memory) = in_chunks(&compute, chunks, memory, check)?;
        let mut answer = joined(packed);
        answer.clearances_per_configuration = per_configuration(&cell, asked.question);
        metrics.add(QuestionKind::Configurations, &cost);
        answer.cost = Some(cost_to_wire(&cost, clock.now().duration_since(start)));
        Ok((answer, memory))
    };
    caller.run(estimate, job).await?
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
    let AskedCheck { question, values, report_limits, .. } = asked;
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
        let beyond = |k: &usize| values[*k].is_finite() && !variables[*k].holds(values[*k]);
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
