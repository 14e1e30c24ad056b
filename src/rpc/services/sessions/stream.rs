//! The stream of a session.
//!
//! Back-pressure needs no queue of its own: while a frame is answered, and while a report waits for
//! a slow client, nothing is read, and HTTP/2 flow control holds the client back. What has arrived
//! meanwhile is merged, where the client allows it, when the stream gets to reading again.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use prost::Message;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::metadata::MetadataMap;
use tonic::{Status, Streaming};

use super::host::{AnswerTime, SessionHost, failure, take_out};
use super::session::Session;
use super::step::{REPORT_FACTOR, left};
use crate::rpc::api;
use crate::rpc::api::stream_session_request::Start;
use crate::rpc::path::Path;
use crate::rpc::status::{Failure, of_transport};
use crate::rpc::transport::intake::Intake;
use crate::runtime::client::Client;
use crate::runtime::deadline::StopGuard;
use crate::runtime::memory::{MemoryKind, Reservation};
use crate::runtime::sessions::owner::{Credentials, KeyDigest};
use crate::runtime::sessions::{Attachment, Slot};

type Reply = Result<api::StreamSessionResponse, Status>;

/// What goes to the client.
pub(super) type Replies = Pin<Box<dyn Stream<Item = Reply> + Send>>;

/// A reply that waits to be sent, with what it takes.
struct Waiting {
    reply: Reply,
    _memory: Option<Reservation>,
}

/// While a report of more bytes than this waits, the next frame is not answered: a client that does
/// not read has one of them here, not `waiting_reports_max`.
const LARGE_REPORT: usize = 64 << 10;

/// Serves one client until it hangs up, fails, or another one takes over.
pub(super) fn start(
    host: SessionHost,
    header_key: String,
    requests: Streaming<api::StreamSessionRequest>,
    intake: Intake,
) -> Replies {
    let room = usize::try_from(host.shared.limits().waiting_reports_max).unwrap_or(1).max(1);
    let (replies, receiver) = mpsc::channel(room);
    tokio::spawn(Client::current().around(async move {
        let (replies_too, is_over, last_bytes) = (replies.clone(), false, 0);
        let talk = Talk { host, requests, replies: replies_too, intake, is_over, last_bytes };
        if let Err(failure) = talk.run(header_key).await {
            // The client may be gone.
            let _ = replies.send(Waiting { reply: Err(failure.into()), _memory: None }).await;
        }
    }));
    Box::pin(ReceiverStream::new(receiver).map(|waiting: Waiting| waiting.reply))
}

struct Talk {
    host: SessionHost,
    requests: Streaming<api::StreamSessionRequest>,
    replies: mpsc::Sender<Waiting>,
    intake: Intake,
    /// The client has sent its last message.
    is_over: bool,
    /// Bytes of the last report: the best guess for the next one.
    last_bytes: usize,
}

async fn turned_true(flag: &mut watch::Receiver<bool>) {
    // When the sender is gone, so is what it speaks of.
    let _ = flag.wait_for(|is_true| *is_true).await;
}

/// The client is gone: nobody is left to be told.
struct Gone;

impl Talk {
    async fn run(mut self, header_key: String) -> Result<(), Failure> {
        let Some(first) = self.next().await? else { return Ok(()) };
        let api::StreamSessionRequest { start, take_over, frame, latest_wins, .. } = first;
        let or_header = |key: String| if key.is_empty() { header_key } else { key };
        let slot = match start {
            Some(Start::SessionId(id)) => {
                let key = or_header(first.session_key);
                let key = (!key.is_empty()).then(|| KeyDigest::of(&key));
                self.host.find(&id, Credentials { key, incarnation: first.incarnation })?
            }
            Some(Start::Open(mut request)) => {
                request.session_key = or_header(request.session_key);
                let (no_deadline, purse) = (MetadataMap::new(), self.intake.purse().clone());
                let (slot, opened) = tokio::select! {
                    opened = self.host.open(&no_deadline, request, "open", &purse) => opened?,
                    () = self.replies.closed() => return Ok(()),
                };
                let opened =
                    api::StreamSessionResponse { opened: Some(opened), ..Default::default() };
                if self.send(opened).await.is_err() {
                    return Ok(());
                }
                slot
            }
            None => {
                let why = "the first message needs a session_id or an open";
                return Err(Path::ROOT.field("start").bad(why).into());
            }
        };
        let attachment = self.host.registry.attach(&slot, take_over);
        let attachment = attachment.map_err(|error| failure(error, &slot.id))?;
        self.converse(attachment, frame, latest_wins).await
    }

    async fn converse(
        &mut self,
        mut attachment: Attachment<Session>,
        first: Option<api::Frame>,
        latest_wins: bool,
    ) -> Result<(), Failure> {
        let slot = attachment.slot().clone();
        let mut draining = self.host.shared.draining.clone();
        let mut told_draining = false;
        let mut pending = first;
        loop {
            if pending.is_none() && !self.is_over {
                tokio::select! {
                    biased;
                    () = turned_true(&mut attachment.taken_over) => {}
                    () = turned_true(&mut draining), if !told_draining => {
                        told_draining = true;
                        if self.notify(api::Notice::Draining).await.is_err() {
                            return Ok(());
                        }
                        continue;
                    }
                    next = self.next() => pending = self.frame_of(next?).await?,
                }
            }
            if !attachment.is_valid() {
                return Err(self.end(&attachment).await);
            }
            let Some(frame) = pending.take() else {
                if self.is_over {
                    return Ok(());
                }
                // What came was no frame, and is done with.
                self.intake.settle();
                continue;
            };
            let mut frames = vec![frame];
            if latest_wins {
                self.merge(&mut frames).await?;
            }
            let answered = self.answer_all(&slot, &attachment, frames).await?;
            self.intake.settle();
            if answered.is_err() {
                return Ok(());
            }
        }
    }

    /// Answers these frames.
    async fn answer_all(
        &mut self,
        slot: &Arc<Slot<Session>>,
        attachment: &Attachment<Session>,
        frames: Vec<api::Frame>,
    ) -> Result<Result<(), Gone>, Failure> {
        let kept = match self.room_for_report().await {
            Ok(kept) => kept,
            Err(failure) => return Ok(self.refuse(&frames, &failure).await),
        };
        let held = take_out(slot).await?;
        if !attachment.is_valid() {
            return Err(self.end(attachment).await);
        }
        // A stream may last for days; what it asks for at a time may not.
        let own = Duration::from_secs(self.host.shared.limits().call_seconds_max);
        let time =
            frames.last().and_then(|frame| held.time(frame)).map_or(own, |time| time.min(own));
        let going = StopGuard::after(Some(own));
        let time = AnswerTime { going: &going, budget: Some(time) };
        let gone = async {
            self.replies.closed().await;
            going.stop();
            std::future::pending().await
        };
        let reports = tokio::select! {
            reports = self.host.answer(held, frames, None, time) => reports?,
            never = gone => never,
        };
        // From here on each is counted for itself.
        drop(kept);
        for report in reports {
            let reply = api::StreamSessionResponse { report: Some(report), ..Default::default() };
            if self.send(reply).await.is_err() {
                return Ok(Err(Gone));
            }
        }
        Ok(Ok(()))
    }

    /// Memory for the report to come, as much as the last one took. If that is much, first waits
    /// until the client has taken the last one.
    async fn room_for_report(&self) -> Result<Option<Reservation>, Failure> {
        if self.last_bytes <= LARGE_REPORT {
            return Ok(None);
        }
        // Closed: the client has gone, which the next sending finds out.
        let _ = self.replies.reserve_many(self.replies.max_capacity()).await;
        let bytes = (REPORT_FACTOR * self.last_bytes) as u64;
        Ok(Some(self.intake.purse().reserve(MemoryKind::Replies, bytes)?))
    }

    /// Says of each frame why it was not applied.
    async fn refuse(&mut self, frames: &[api::Frame], failure: &Failure) -> Result<(), Gone> {
        let last_bytes = self.last_bytes;
        for frame in frames {
            let report = left(frame.frame_id, failure);
            let reply = api::StreamSessionResponse { report: Some(report), ..Default::default() };
            self.send(reply).await?;
        }
        self.last_bytes = last_bytes;
        Ok(())
    }

    /// Adds the frames that have arrived already, up to the limit.
    async fn merge(&mut self, frames: &mut Vec<api::Frame>) -> Result<(), Failure> {
        let limit = self.host.shared.limits().merged_frames_max.max(1);
        while !self.is_over && (frames.len() as u64) < limit {
            let arrived = {
                let next = self.requests.next();
                tokio::pin!(next);
                std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await
            };
            let Poll::Ready(arrived) = arrived else { break };
            let message = self.received(arrived)?;
            frames.extend(self.frame_of(message).await?);
        }
        Ok(())
    }

    /// The frame of a message; a message that is wrong gets a report that says so.
    async fn frame_of(
        &mut self,
        message: Option<api::StreamSessionRequest>,
    ) -> Result<Option<api::Frame>, Failure> {
        let Some(message) = message else { return Ok(None) };
        let misplaced = if message.start.is_some() {
            Some(("start", "may only be in the first message of the stream"))
        } else if message.frame.is_none() {
            Some(("frame", "is required"))
        } else {
            None
        };
        let Some((field, problem)) = misplaced else { return Ok(message.frame) };
        let failure = Failure::from(Path::ROOT.field(field).bad(problem));
        let report = api::FrameReport {
            frame_id: message.frame.map_or(0, |frame| frame.frame_id),
            status: Some(failure.to_item()),
            ..Default::default()
        };
        let reply = api::StreamSessionResponse { report: Some(report), ..Default::default() };
        if self.send(reply).await.is_err() {
            self.is_over = true;
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<api::StreamSessionRequest>, Failure> {
        let next = self.requests.next().await;
        self.received(next)
    }

    fn received(
        &mut self,
        next: Option<Result<api::StreamSessionRequest, Status>>,
    ) -> Result<Option<api::StreamSessionRequest>, Failure> {
        let Some(next) = next else {
            self.is_over = true;
            return Ok(None);
        };
        Ok(Some(next.map_err(|status| of_transport(status, self.host.shared.limits()))?))
    }

    /// Why the stream has to end, after the client was told.
    async fn end(&mut self, attachment: &Attachment<Session>) -> Failure {
        if attachment.is_closed() {
            return Failure::UnknownSession(attachment.slot().id.clone());
        }
        // If nobody hears it, nobody has to.
        let _ = self.notify(api::Notice::TakenOver).await;
        Failure::TakenOver
    }

    async fn notify(&mut self, notice: api::Notice) -> Result<(), Gone> {
        self.send(api::StreamSessionResponse { notice: notice.into(), ..Default::default() }).await
    }

    async fn send(&mut self, reply: api::StreamSessionResponse) -> Result<(), Gone> {
        let bytes = reply.encoded_len();
        self.last_bytes = bytes;
        let memory = || {
            let purse = self.intake.purse();
            purse.hold(MemoryKind::Replies, (REPORT_FACTOR * bytes) as u64)
        };
        let memory = (bytes > LARGE_REPORT).then(memory);
        let waiting = Waiting { reply: Ok(reply), _memory: memory };
        self.replies.send(waiting).await.map_err(|_| Gone)
    }
}
