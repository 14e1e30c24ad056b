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
use super::check::{answer, count};
use super::clouds::change_cell;
use super::place::{AskedPlace, both, build_cell, in_scene};
use crate::rpc::services::sessions::SessionHost;
use clearance_proto as api;
use clearance_runtime::cells::BuiltCell;
use clearance_runtime::client::Client;
use clearance_runtime::deadline::Deadline;
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
struct QueuedAnswer {
    answer: StreamedAnswer,
    _memory: Option<Reservation>,
}

/// While an answer of more bytes than this waits, the next message is not answered: a client that
/// does not read has one of them here, not `waiting_reports_max`.
const LARGE_ANSWER: usize = 64 << 10;

/// Serves one client until it hangs up or sends what is wrong.
pub(super) fn start(
    host: SessionHost,
    header_key: String,
    requests: Streaming<api::StreamConfigurationsRequest>,
    intake: Intake,
) -> Answers {
    let room = usize::try_from(host.shared.limits().waiting_reports_max).unwrap_or(1).max(1);
    let (answers, receiver) = mpsc::channel(room);
    tokio::spawn(Client::current().around(async move {
        // When the client goes away, the receiver is dropped: then the talk is dropped, and with it
        // the guard that stops its search.
        tokio::select! {
            ended = talk(&host, &header_key, requests, &answers, &intake) => {
                if let Err(failure) = ended {
                    let queued = QueuedAnswer { answer: Err(failure.into()), _memory: None };
                    let _ = answers.send(queued).await;
                }
            }
            () = answers.closed() => {}
        }
    }));
    Box::pin(ReceiverStream::new(receiver).map(|queued: QueuedAnswer| queued.answer))
}

async fn talk(
    host: &SessionHost,
    header_key: &str,
    mut requests: Streaming<api::StreamConfigurationsRequest>,
    answers: &mpsc::Sender<QueuedAnswer>,
    intake: &Intake,
) -> Result<(), Failure> {
    let shared = &host.shared;
    let mut place = StreamPlace::None;
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
        let deadline = Deadline::after(time);
        let caller = Caller::of_one(host, header_key, intake, &deadline);
        let caller = Caller { is_stream: true, ..caller };
        let answered = answer_next(caller, request, &mut place).await;
        count(caller, &answered, |(answer, _)| answer);
        let (answered, memory) = answered?;
        intake.settle();
        let count = u64::from(answered.count);
        let answer = api::StreamConfigurationsResponse { first_index, answer: Some(answered) };
        last_bytes = answer.encoded_len();
        let queued = QueuedAnswer { answer: Ok(answer), _memory: Some(memory) };
        if answers.send(queued).await.is_err() {
            return Ok(());
        }
        first_index += count;
        shared.refuse_while_draining()?;
    }
}

/// Where the messages of a stream are answered that do not say it themselves.
enum StreamPlace {
    /// No message has said it yet.
    None,
    /// In this cell.
    Cell(BuiltCell),
    /// In this scene, as it stands by then.
    Scene(api::RobotScene),
}

/// Answers a message in the cell that it brings or the scene that it names, or else in that of the
/// message before.
async fn answer_next(
    caller: Caller<'_>,
    request: api::StreamConfigurationsRequest,
    place: &mut StreamPlace,
) -> Result<(api::CheckConfigurationsResponse, Reservation), Failure> {
    let path = Path::ROOT.field("check");
    let api::StreamConfigurationsRequest { check, cloud_changes } = request;
    let check = check.ok_or_else(|| path.bad("is required"))?;
    match (&check.cell, &check.scene) {
        (None, None) => {}
        (Some(_), Some(_)) => return Err(both(&path)),
        (Some(wire), None) => {
            // The one before gives back its memory first.
            *place = StreamPlace::None;
            *place = StreamPlace::Cell(build_cell(caller, &path.field("cell"), wire).await?);
        }
        (None, Some(scene)) => *place = StreamPlace::Scene(scene.clone()),
    }
    if !cloud_changes.is_empty() {
        let list = Path::ROOT.field("cloud_changes");
        *place = match std::mem::replace(place, StreamPlace::None) {
            StreamPlace::None => return Err(required(&path)),
            StreamPlace::Scene(_) => {
                return Err(list.bad("the clouds of a session change by its frames").into());
            }
            StreamPlace::Cell(cell) => {
                StreamPlace::Cell(change_cell(caller, &list, cell, &cloud_changes).await?)
            }
        };
    }
    let AskedPlace { built, frame_id } = match place {
        StreamPlace::None => return Err(required(&path)),
        StreamPlace::Cell(cell) => cell.clone().into(),
        StreamPlace::Scene(scene) => in_scene(caller, &path.field("scene"), scene).await?,
    };
    let (mut answer, memory) = answer(caller, &path, &built.cell, check).await?;
    // A cell is kept for as long as the stream lasts.
    answer.cell_not_kept = frame_id.is_some() && !built.is_kept;
    answer.frame_id = frame_id.unwrap_or_default();
    Ok((answer, memory))
}

/// No message has said where.
fn required(path: &Path<'_>) -> Failure {
    path.field("cell").bad("is required at first, or scene in its place").into()
}
