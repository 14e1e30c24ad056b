//! Questions without end: one message after the other, each with its answer.
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
use super::clouds::change_cell;
use super::place::{AskedPlace, both, build_cell, in_scene};
use super::replies::{Answers, ReplyList};
use super::{check, edges};
use crate::rpc::services::sessions::SessionHost;
use clearance_proto as api;
use clearance_runtime::behalf::{Behalf, KnownCall};
use clearance_runtime::cells::BuiltCell;
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::Reservation;
use clearance_runtime::spans::{Attribute, FrameSpan};
use clearance_transport::intake::Intake;
use clearance_wire::path::Path;
use clearance_wire::status::{Failure, of_transport};

/// A message of a stream.
pub(super) struct StreamedMessage<Q> {
    /// The question, and where.
    question: Option<Q>,
    /// Changes of the clouds there, which come first.
    cloud_changes: Vec<api::CloudChange>,
}

/// What is asked of a cell, or of a scene, in a call or in each message of a stream.
pub(super) trait StreamedQuestion: Sized + Send + 'static {
    /// A message of the stream.
    type Request: Into<StreamedMessage<Self>> + Send + 'static;
    /// What answers some of the questions of a message.
    type Answer: Answers;
    /// A reply of the stream.
    type Reply: Message + 'static;

    /// The method, as its URI names it.
    const METHOD: &'static str;

    /// The cell that it brings.
    fn cell(&self) -> Option<&api::RobotCell>;

    /// The scene that it names.
    fn scene(&self) -> Option<&api::RobotScene>;

    /// Whether certificates are to be about where it is asked.
    fn is_claimed(&self) -> bool;

    /// Counts it by what became of it.
    fn count(caller: Caller<'_>, answered: Result<&[Self::Answer], &Failure>);

    /// An answer in its place, which others follow or none.
    fn reply(first_index: u64, answer: Self::Answer, more: bool) -> Self::Reply;

    /// Answers it in a cell.
    fn answer(
        self,
        caller: Caller<'_>,
        path: &Path<'_>,
        place: &AskedPlace,
    ) -> impl Future<Output = Result<ReplyList<Self::Answer>, Failure>> + Send;
}

/// Both of the questions that are asked in streams, whose messages have the same fields.
macro_rules! streamed {
    (
        $request:ident, $message:ident, $answer:ident, $reply:ident, $room:ident, $method:literal,
        $is_claimed:expr
    ) => {
        impl From<api::$message> for StreamedMessage<api::$request> {
            fn from(message: api::$message) -> Self {
                let api::$message { check, cloud_changes } = message;
                Self { question: check, cloud_changes }
            }
        }

        impl StreamedQuestion for api::$request {
            type Request = api::$message;
            type Answer = api::$answer;
            type Reply = api::$reply;

            const METHOD: &'static str = $method;

            fn cell(&self) -> Option<&api::RobotCell> {
                self.cell.as_ref()
            }

            fn scene(&self) -> Option<&api::RobotScene> {
                self.scene.as_ref()
            }

            fn is_claimed(&self) -> bool {
                $is_claimed(self)
            }

            async fn answer(
                self,
                caller: Caller<'_>,
                path: &Path<'_>,
                place: &AskedPlace,
            ) -> Result<ReplyList<Self::Answer>, Failure> {
                $room::answer(caller, path, place, self).await
            }

            fn count(caller: Caller<'_>, answered: Result<&[Self::Answer], &Failure>) {
                $room::count(caller, answered);
            }

            fn reply(first_index: u64, answer: Self::Answer, more: bool) -> Self::Reply {
                api::$reply { first_index, answer: Some(answer), more }
            }
        }
    };
}

streamed!(
    CheckConfigurationsRequest,
    StreamConfigurationsRequest,
    CheckConfigurationsResponse,
    StreamConfigurationsResponse,
    check,
    "/clearance.v1.RobotService/StreamConfigurations",
    |_: &Self| false
);
streamed!(
    CheckEdgesRequest,
    StreamEdgesRequest,
    CheckEdgesResponse,
    StreamEdgesResponse,
    edges,
    "/clearance.v1.RobotService/StreamEdges",
    |asked: &Self| asked.certificate
);

/// What goes to the client.
pub(super) type ReplyStream<R> = Pin<Box<dyn Stream<Item = Result<R, Status>> + Send>>;

/// A reply that waits to be sent, with what it takes.
struct QueuedReply<R> {
    reply: Result<R, Status>,
    _memory: Option<Reservation>,
}

/// While an answer of more bytes than this waits, the next message is not answered: a client that
/// does not read has one of them here, not `waiting_reports_max`.
const LARGE_ANSWER: usize = 64 << 10;

/// Serves one client until it hangs up or sends what is wrong.
pub(super) fn start<Q: StreamedQuestion>(
    host: SessionHost,
    header_key: String,
    requests: Streaming<Q::Request>,
    intake: Intake,
) -> ReplyStream<Q::Reply> {
    let room = usize::try_from(host.shared.limits().waiting_reports_max).unwrap_or(1).max(1);
    let (replies, receiver) = mpsc::channel(room);
    tokio::spawn(Behalf::current().around(async move {
        // When the client goes away, the receiver is dropped: then the talk is dropped, and with it
        // the guard that stops its search.
        tokio::select! {
            ended = talk::<Q>(&host, &header_key, requests, &replies, &intake) => {
                if let Err(failure) = ended {
                    let queued = QueuedReply { reply: Err(failure.into()), _memory: None };
                    let _ = replies.send(queued).await;
                }
            }
            () = replies.closed() => {}
        }
    }));
    Box::pin(ReceiverStream::new(receiver).map(|queued: QueuedReply<_>| queued.reply))
}

async fn talk<Q: StreamedQuestion>(
    host: &SessionHost,
    header_key: &str,
    mut requests: Streaming<Q::Request>,
    replies: &mpsc::Sender<QueuedReply<Q::Reply>>,
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
        let request = request.map_err(|status| of_transport(status, shared.limits(), Q::METHOD))?;
        if last_bytes > LARGE_ANSWER {
            // Closed: the client has gone, which the next sending finds out.
            let _ = replies.reserve_many(replies.max_capacity()).await;
        }
        let time = Duration::from_secs(shared.limits().call_seconds_max);
        let deadline = Deadline::after(time);
        let caller = Caller::of_one(host, header_key, intake, &deadline);
        let caller = Caller { is_stream: true, ..caller };
        let span = FrameSpan::begin(KnownCall::current().and_then(|call| call.span));
        let answered = answer_next::<Q>(caller, request.into(), &mut place).await;
        span.end(|| vec![("clearance.first_index", Attribute::Number(first_index))]);
        Q::count(caller, answered.as_ref().map(|answered| &answered.replies[..]));
        let ReplyList { replies: answers, memory } = answered?;
        intake.settle();
        let (mut memory, mut left) = (Some(memory), answers.len());
        for answer in answers {
            left -= 1;
            let count = answer.questions();
            let reply = Q::reply(first_index, answer, left > 0);
            last_bytes = reply.encoded_len();
            // The last one to leave gives the memory back.
            let _memory = if left == 0 { memory.take() } else { None };
            if replies.send(QueuedReply { reply: Ok(reply), _memory }).await.is_err() {
                return Ok(());
            }
            first_index += u64::from(count);
        }
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
async fn answer_next<Q: StreamedQuestion>(
    caller: Caller<'_>,
    message: StreamedMessage<Q>,
    place: &mut StreamPlace,
) -> Result<ReplyList<Q::Answer>, Failure> {
    let path = Path::ROOT.field("check");
    let StreamedMessage { question, cloud_changes } = message;
    let question = question.ok_or_else(|| path.bad("is required"))?;
    match (question.cell(), question.scene()) {
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
    let place = match place {
        StreamPlace::None => return Err(required(&path)),
        StreamPlace::Cell(cell) => cell.clone().into(),
        StreamPlace::Scene(scene) => {
            in_scene(caller, &path.field("scene"), scene, question.is_claimed()).await?
        }
    };
    let mut answered = question.answer(caller, &path, &place).await?;
    // A cell is kept for as long as the stream lasts.
    let AskedPlace { built, frame_id, .. } = place;
    let cell_not_kept = frame_id.is_some() && !built.is_kept;
    for answer in &mut answered.replies {
        answer.set_place(frame_id.unwrap_or_default(), cell_not_kept);
    }
    Ok(answered)
}

/// No message has said where.
fn required(path: &Path<'_>) -> Failure {
    path.field("cell").bad("is required at first, or scene in its place").into()
}
