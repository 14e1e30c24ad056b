//! Configurations of a cell, answered in the compute pool and on whatever else is idle.

use std::ops::Range;
use std::time::Duration;

use prost::Message;
use tonic::Code;

use super::chunks::in_chunks;
use super::place::{AskedPlace, place_of};
use super::replies::{Answers, ReplyList, ReplyRoom};
use super::{Caller, size};
use clearance_geometry::effort::{Cost, Effort};
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_robot::cell::Cell;
use clearance_robot::check::{CheckMode, CheckQuestion, Checked};
use clearance_robot::pairing::PairScope;
use clearance_runtime::compute::JobSize;
use clearance_runtime::compute::costs::{CONFIGURATION, HOLD_UP_MAX, PAIR, times};
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_runtime::quotas::QuotaKind;
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::robots::answer::{
    Packed, push, push_beyond_limit, push_constant, push_links,
};
use clearance_wire::convert::robots::check::AskedCheck;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// Configurations that a thread takes at a time: some hundred microseconds of work.
const CHUNK: usize = 256;

/// Numbers that the answer of a thread may have before they are counted.
const ENTRIES_AT_ONCE: usize = 1 << 17;

/// What so many questions about configurations of a cell take, by a guess and at worst.
pub(super) fn size_of(caller: Caller<'_>, guess: Duration, count: usize, cell: &Cell) -> JobSize {
    let faces = Duration::from_nanos(cell.nanoseconds_of_faces() + cell.nanoseconds_of_clouds());
    let pairs = times(PAIR, count.saturating_mul(cell.pair_count()));
    let at_worst = pairs.saturating_add(times(faces, count));
    JobSize::within(caller.intake.extent(), guess, at_worst, HOLD_UP_MAX)
}

/// Memory for what the threads that answer make of polyhedra; of polytopes nothing.
pub(super) fn room_for_faces(caller: Caller<'_>, cell: &Cell) -> Result<Reservation, Failure> {
    room_of_threads(caller, cell.bytes_of_question())
}

/// So much memory for every thread that answers.
fn room_of_threads(caller: Caller<'_>, bytes: usize) -> Result<Reservation, Failure> {
    // Those of the pool, and the one that reads.
    let threads = caller.shared.compute.threads() as u64 + 1;
    let each = bytes as u64;
    Ok(caller.quota.reserve(MemoryKind::Work, each.saturating_mul(threads))?)
}

/// Answers a call that stands alone, and counts it.
pub(super) async fn once(
    caller: Caller<'_>,
    request: api::CheckConfigurationsRequest,
) -> Result<api::CheckConfigurationsResponse, Failure> {
    let answered = with_its_cell(caller, request).await;
    count(caller, answered.as_ref().map(std::slice::from_ref));
    answered
}

/// Counts a message about configurations by what became of it.
pub(super) fn count(
    caller: Caller<'_>,
    answered: Result<&[api::CheckConfigurationsResponse], &Failure>,
) {
    let has_stopped = |replies: &&[_]| {
        replies.iter().any(|one: &api::CheckConfigurationsResponse| is_out_of_time(&one.refused))
    };
    let ending = Ending::of(&answered, has_stopped);
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
    let (cell, scene) = (request.cell.as_ref(), request.scene.as_ref());
    let place = place_of(caller, &Path::ROOT, cell, scene, false).await?;
    let mut answer = answer(caller, &Path::ROOT, &place, request).await?.only();
    let AskedPlace { built, frame_id, .. } = place;
    answer.set_place(frame_id.unwrap_or_default(), !built.is_kept);
    Ok(answer)
}

/// Answers about configurations in a cell.
pub(super) async fn answer(
    caller: Caller<'_>,
    path: &Path<'_>,
    place: &AskedPlace,
    request: api::CheckConfigurationsRequest,
) -> Result<ReplyList<api::CheckConfigurationsResponse>, Failure> {
    let cell = &place.built.cell;
    let Caller { shared, quota, deadline, .. } = caller;
    let intake = caller.intake;
    let replies = ReplyRoom::new(caller, request.reply_bytes_max, cell);
    let asked =
        intake.look_through(|| AskedCheck::convert(path, request, cell, shared.limits()))?;
    let count = asked.values.len() / cell.variable_count();
    replies.must_fit(count, asked.bytes_of_one)?;
    shared.quotas.charge(QuotaKind::Configurations, count as u64)?;
    let load = size_of(caller, times(CONFIGURATION, count), count, cell);
    let size_max = ENTRIES_AT_ONCE / asked.entries_of_one.max(1);
    let chunks = replies.chunks(count, CHUNK.min(size_max), asked.bytes_of_one);
    let (until, clock, cell) = (deadline.until().clone(), shared.clock.clone(), cell.clone());
    let (compute, metrics) = (shared.compute.clone(), shared.metrics.clone());
    let memory = quota.reserve(MemoryKind::Replies, 0)?;
    let room = rooms(caller, &cell, asked.question.mode)?;
    let job = move || {
        let _room = room;
        let start = clock.now();
        let check = |range| check_some(&cell, &asked, range, replies, &until);
        let (packed, cost, memory) = in_chunks(&compute, chunks, memory, check)?;
        let mut replies = replies.replies(packed.into_iter().flatten().collect())?;
        for answer in &mut replies {
            answer.clearances_per_configuration = per_configuration(&cell, asked.question);
            if tells_clearances(asked.question) {
                push_constant(answer, &cell);
            }
        }
        metrics.add(QuestionKind::Configurations, &cost);
        let cost = cost_to_wire(&cost, clock.now().duration_since(start));
        if let Some(last) = replies.last_mut() {
            last.cost = Some(cost);
        }
        Ok(ReplyList { replies, memory })
    };
    caller.run(load, job).await?
}

/// Memory for the faces that are asked about, and for lists of pairs.
fn rooms(caller: Caller<'_>, cell: &Cell, mode: CheckMode) -> Result<[Reservation; 2], Failure> {
    let of_pairs = match mode {
        CheckMode::PairsBelow(below) => cell.bytes_of_below(below),
        CheckMode::FirstPair
        | CheckMode::AllPairs
        | CheckMode::Clearance
        | CheckMode::LinkClearance => 0,
    };
    Ok([room_for_faces(caller, cell)?, room_of_threads(caller, of_pairs)?])
}

/// Whether lists of clearances are told, which leave out pairs that no joint value changes.
fn tells_clearances(question: CheckQuestion) -> bool {
    question.scope != PairScope::World
        && match question.mode {
            CheckMode::FirstPair | CheckMode::AllPairs => false,
            CheckMode::Clearance | CheckMode::LinkClearance | CheckMode::PairsBelow(_) => true,
        }
}

fn per_configuration(cell: &Cell, question: CheckQuestion) -> u32 {
    match question.mode {
        CheckMode::FirstPair | CheckMode::AllPairs | CheckMode::PairsBelow(_) => 0,
        CheckMode::Clearance => 1,
        CheckMode::LinkClearance => size(cell.moving_link_count()),
    }
}

/// Answers about a range of configurations, in pieces, with the bytes that they take.
fn check_some(
    cell: &Cell,
    asked: &AskedCheck,
    range: Range<usize>,
    replies: ReplyRoom,
    until: &Until,
) -> (Vec<Packed>, u64, Cost) {
    let width = cell.variable_count();
    let values = &asked.values[range.start * width..range.end * width];
    let mut effort = Effort::until(u64::MAX, until);
    let mut answers = cell.check(asked.question, values, &mut effort);
    let are_within = within_margins(cell, asked.question, values, &mut answers, &mut effort);
    let some = CheckedSome { cell, asked, values, answers: &answers, are_within: &are_within };
    let pieces = replies.pieces(range.len(), |range| some.packed(range));
    let bytes = pieces.iter().map(|piece| piece.encoded_len() as u64).sum();
    (pieces, bytes, effort.cost)
}

/// Configurations in a row that are answered.
#[derive(Clone, Copy)]
struct CheckedSome<'a> {
    cell: &'a Cell,
    asked: &'a AskedCheck,
    values: &'a [f64],
    answers: &'a [Checked],
    /// Whether a pair of each is within its margin.
    are_within: &'a [bool],
}

impl CheckedSome<'_> {
    /// What is told of a range of them.
    fn packed(&self, range: Range<usize>) -> Packed {
        let Self { cell, asked, values, answers, are_within } = *self;
        let AskedCheck { question, report_limits, links, .. } = asked;
        let (width, with_gradient) = (cell.variable_count(), question.with_gradient);
        let variables = &cell.kinematics().tree().variables;
        let clearances_per_configuration = per_configuration(cell, *question);
        let mut packed = Packed { clearances_per_configuration, ..Packed::default() };
        for at in range {
            let (values, checked) = (&values[at * width..(at + 1) * width], &answers[at]);
            let beyond = |k: &usize| values[*k].is_finite() && !variables[*k].holds(values[*k]);
            let mut violated = (0..width).filter(beyond);
            if *report_limits {
                for variable in violated {
                    packed.limit_indices.push(packed.count);
                    packed.limit_variables.push(size(variable));
                }
            } else if let Some(variable) = violated.next() {
                push_beyond_limit(&mut packed, cell, with_gradient, variable);
                push_links(&mut packed, cell, links, None);
                continue;
            }
            if are_within[at] {
                packed.within_margin_indices.push(packed.count);
            }
            push(&mut packed, cell, with_gradient, checked);
            let is_answered = !matches!(checked, Checked::Bad(_) | Checked::Stopped(_));
            push_links(&mut packed, cell, links, is_answered.then_some(values));
        }
        packed
    }
}

/// Which configurations have a pair that is within its margin, of a cell whose pairs have some: or
/// in contact, where no margin is below 0. Clearances do not tell that: it is asked beside them,
/// and where there is no time for it the configuration is not answered.
fn within_margins(
    cell: &Cell,
    question: CheckQuestion,
    values: &[f64],
    answers: &mut [Checked],
    effort: &mut Effort<'_>,
) -> Vec<bool> {
    if !cell.has_margins() {
        return vec![false; answers.len()];
    }
    if cell.has_deep_margins() {
        return within_deep_margins(cell, question.scope, values, answers, effort);
    }
    let names_pairs = |checked: &Checked| match checked {
        Checked::Contact(_) | Checked::Open { .. } => true,
        Checked::Free
        | Checked::Clearance(_)
        | Checked::Below(_)
        | Checked::Bad(_)
        | Checked::Stopped(_) => false,
    };
    let first =
        CheckQuestion { scope: question.scope, mode: CheckMode::FirstPair, with_gradient: false };
    let beside = match question.mode {
        CheckMode::FirstPair | CheckMode::AllPairs => {
            return answers.iter().map(names_pairs).collect();
        }
        CheckMode::Clearance | CheckMode::LinkClearance | CheckMode::PairsBelow(_) => {
            cell.check(first, values, effort)
        }
    };
    for (answer, beside) in answers.iter_mut().zip(&beside) {
        let is_told = matches!(answer, Checked::Clearance(_) | Checked::Below(_));
        if let (true, Checked::Stopped(why)) = (is_told, beside) {
            *answer = Checked::Stopped(*why);
        }
    }
    beside.iter().map(names_pairs).collect()
}

/// The same of a cell some of whose margins are below 0: who touches is not within such a one.
fn within_deep_margins(
    cell: &Cell,
    scope: PairScope,
    values: &[f64],
    answers: &mut [Checked],
    effort: &mut Effort<'_>,
) -> Vec<bool> {
    let found = cell.are_within_margins(scope, values, effort);
    let mut are_within = Vec::with_capacity(found.len());
    for (answer, found) in answers.iter_mut().zip(found) {
        are_within.push(found == Ok(true));
        if let (Err(why), false) = (found, matches!(answer, Checked::Bad(_))) {
            *answer = Checked::Stopped(why);
        }
    }
    are_within
}
