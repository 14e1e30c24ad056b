//! Configurations without end: one message after the other, each with its answer.
//!
//! While a message is answered, and while an answer waits for a slow client, nothing is read, and
//! HTTP/2 flow control holds the client back. A client that goes away stops what runs for it.

use std::pin::{Pin, pin};
use std::time::Duration;

use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Status, Streaming};

use super::Caller;
use super::check::{answer, build_cell, count};
use super::clouds::change_cell;
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_runtime::cells::BuiltCell;
use clearance_runtime::client::Client;
use clearance_runtime::deadline::StopGuard;
use clearance_runtime::memory::Reservation;
use clearance_transport::intake::Intake;
use clearance_wire::path::Path;
use clearance_wire::status::{Failure, of_transport};

/// The method, as its URI names it.
const METHOD: &str = "/clearance.v1.RobotService/StreamConfigurations";

type StreamedAnswer = Result<api::StreamConfigurationsResponse, Status>;

/// What goes to the client.
pub(super) type Answers = Pin<Box<dyn Stream<Item = StreamedAnswer> + Send>>;

/// An answer that waits to be sent, with what it takes.
struct Waiting {
    answer: StreamedAnswer,
    _memory: Option<Reservation>,
}

/// While an answer of more bytes than this waits, the next message is not answered: a client that
/// does not read has one of them here, not `waiting_reports_max`.
const LARGE_ANSWER: usize = 64 << 10;

/// Serves one client until it hangs up or sends what is wrong.
pub(super) fn start(
    shared: Shared,
    requests: Streaming<api::StreamConfigurationsRequest>,
    intake: Intake,
) -> Answers {
    let room = usize::try_from(shared.limits().waiting_reports_max).unwrap_or(1).max(1);
    let (answers, receiver) = mpsc::channel(room);
    tokio::spawn(Client::current().around(async move {
        // When the client goes away, the receiver is dropped: then the talk is dropped, and with it
        // the guard that stops its search.
        tokio::select! {
            ended = talk(&shared, requests, &answers, &intake) => {
                if let Err(failure) = ended {
                    let waiting = Waiting { answer: Err(failure.into()), _memory: None };
                    let _ = answers.send(waiting).await;
                }
            }
            () = answers.closed() => {}
        }
    }));
    Box::pin(ReceiverStream::new(receiver).map(|waiting: Waiting| waiting.answer))
}

async fn talk(
    shared: &Shared,
    mut requests: Streaming<api::StreamConfigurationsRequest>,
    answers: &mpsc::Sender<Waiting>,
    intake: &Intake,
) -> Result<(), Failure> {
    let mut cell: Option<BuiltCell> = None;
    let (mut first_index, mut last_bytes) = (0, 0);
    let mut drains = pin!(shared.draining.clone().until_set());
    loop {
        let next = tokio::select! {
            biased;
            next = requests.next() => next,
            // Whoever asks nothing is not waited for.
            () = &mut drains => return Err(Failure::Draining),
        };
        let Some(request) = next else { return Ok(()) };
        let request = request.map_err(|status| of_transport(status, shared.limits(), METHOD))?;
        if last_bytes > LARGE_ANSWER {
            // Closed: the client has gone, which the next sending finds out.
            let _ = answers.reserve_many(answers.max_capacity()).await;
        }
        let time = Duration::from_secs(shared.limits().call_seconds_max);
        let guard = StopGuard::after(Some(time));
        let caller = Caller { is_stream: true, ..Caller::of_one(shared, intake, &guard) };
        let answered = answer_next(caller, request, &mut cell).await;
        count(caller, &answered, |(answer, _)| answer);
        let (answered, memory) = answered?;
        intake.settle();
        let count = u64::from(answered.count);
        let answer = api::StreamConfigurationsResponse { first_index, answer: Some(answered) };
        last_bytes = answer.encoded_len();
        let waiting = Waiting { answer: Ok(answer), _memory: Some(memory) };
        if answers.send(waiting).await.is_err() {
            return Ok(());
        }
        first_index += count;
        shared.refuse_while_draining()?;
    }
}

/// Answers a message in the cell that it brings, or else in that of the message before.
async fn answer_next(
    caller: Caller<'_>,
    request: api::StreamConfigurationsRequest,
    cell: &mut Option<BuiltCell>,
) -> Result<(api::CheckConfigurationsResponse, Reservation), Failure> {
    let path = Path::ROOT.field("check");
    let api::StreamConfigurationsRequest { check, cloud_changes } = request;
    let check = check.ok_or_else(|| path.bad("is required"))?;
    if let Some(wire) = &check.cell {
        // The one before gives back its memory first.
        drop(cell.take());
        *cell = Some(build_cell(caller, &path.field("cell"), wire).await?);
    }
    if !cloud_changes.is_empty() {
        let here = cell.take().ok_or_else(|| path.field("cell").bad("is required at first"))?;
        let path = Path::ROOT.field("cloud_changes");
        *cell = Some(change_cell(caller, &path, here, &cloud_changes).await?);
    }
    let here = cell.as_ref().ok_or_else(|| path.field("cell").bad("is required at first"))?;
    answer(caller, &path, &here.cell, check).await
}
