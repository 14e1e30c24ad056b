//! The stream of a session.
//!
//! Back-pressure needs no queue: the transport asks for the next report when it has taken the last
//! one, frames are read and answered in between, by the same task, and so HTTP/2 flow control holds
//! back a client that does not read. What has arrived meanwhile is merged, where the client allows
//! it, when the stream gets to reading again. A client that hangs up drops all of it.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use prost::Message;
use tokio_stream::{Stream, StreamExt};
use tonic::metadata::MetadataMap;
use tonic::{Status, Streaming};

use super::check_length;
use super::host::{Allowance, SessionHost, failure, take_out};
use super::news::REPORT_FACTOR;
use super::opening;
use super::session::Session;
use super::step::left;
use super::work::Frames;
use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use clearance_runtime::behalf::KnownCall;
use clearance_runtime::client::Client;
use clearance_runtime::clock::until_of_age;
use clearance_runtime::compute::INLINE_MAX;
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::sessions::owner::{Credentials, KeyDigest};
use clearance_runtime::sessions::{Attachment, SessionError, Slot};
use clearance_runtime::spans::{Attribute, FrameSpan};
use clearance_transport::intake::Intake;
use clearance_wire::convert::sessions::cut::is_short;
use clearance_wire::convert::sessions::report::bytes_of_message;
use clearance_wire::path::Path;
use clearance_wire::status::{Failure, of_transport};

/// The method, as its URI names it.
const METHOD: &str = "/clearance.v1.SessionService/StreamSession";

/// For reports that are more bytes in memory than this it is taken.
const LARGE_REPORT: u64 = 256 << 10;

/// All that is said on a stream, until it is over.
type Conversation = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

/// What goes to the client. The talk goes on whenever the transport asks for the next reply.
pub struct Replies {
    /// None: it is over.
    talk: Option<Conversation>,
    outbox: Outbox,
}

/// The reply that the talk has ready.
#[derive(Clone, Default)]
struct Outbox(Arc<Mutex<Option<api::StreamSessionResponse>>>);

impl Outbox {
    /// Ready when the reply is taken.
    async fn send(&self, reply: api::StreamSessionResponse) {
        self.put(Some(reply));
        let mut is_taken = false;
        // The talk is polled again after that and not before, so nobody needs to be woken.
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut is_taken, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn put(&self, reply: Option<api::StreamSessionResponse>) -> Option<api::StreamSessionResponse> {
        let mut place = self.0.lock().expect("nothing panics while holding it");
        std::mem::replace(&mut *place, reply)
    }
}

impl Stream for Replies {
    type Item = Result<api::StreamSessionResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(talk) = &mut self.talk else { return Poll::Ready(None) };
        if let Poll::Ready(ended) = talk.as_mut().poll(context) {
            self.talk = None;
            return Poll::Ready(ended.err().map(|failure| Err(failure.into())));
        }
        match self.outbox.put(None) {
            Some(reply) => Poll::Ready(Some(Ok(reply))),
            None => Poll::Pending,
        }
    }
}

/// Serves one client until it hangs up, fails, or another one takes over.
pub(super) fn start(
    host: SessionHost,
    header_key: String,
    requests: Streaming<api::StreamSessionRequest>,
    intake: Intake,
) -> Replies {
    let outbox = Outbox::default();
    let talk = Talk {
        host,
        requests,
        outbox: outbox.clone(),
        intake,
        is_over: false,
        last_bytes: 0,
        busy: Duration::ZERO,
    };
    let talk = Client::current().around(talk.run(header_key));
    Replies { talk: Some(Box::pin(talk)), outbox }
}

struct Talk {
    host: SessionHost,
    requests: Streaming<api::StreamSessionRequest>,
    outbox: Outbox,
    intake: Intake,
    /// The client has sent its last message.
    is_over: bool,
    /// What the last report took in memory: the best guess for the next one. Short ones are not
    /// counted.
    last_bytes: u64,
    /// How long its frames have taken, at a guess, since others of this thread had their turn.
    busy: Duration,
}

impl Talk {
    async fn run(mut self, header_key: String) -> Result<(), Failure> {
        let Some(first) = self.next().await? else { return Ok(()) };
        opening::check_first(&first)?;
        let api::StreamSessionRequest { start, take_over, mut frame, latest_wins, .. } = first;
        let or_header = |key: String| if key.is_empty() { header_key } else { key };
        let slot = match start {
            Some(Start::SessionId(id)) => {
                let key = or_header(first.session_key);
                let key = (!key.is_empty()).then(|| KeyDigest::of(&key));
                self.host.find(&id, Credentials { key, incarnation: first.incarnation })?
            }
            Some(Start::Open(mut request)) => {
                if first.state_continues {
                    frame = self.rest_of_state(&mut request).await?;
                }
                request.session_key = or_header(request.session_key);
                let (no_deadline, intake) = (MetadataMap::new(), self.intake.clone());
                let (slot, opened) =
                    self.host.open(&no_deadline, *request, "open", &intake).await?;
                self.intake.settle();
                let opened = Some(Box::new(opened));
                self.send(api::StreamSessionResponse { opened, ..Default::default() }).await;
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

    /// Reads the messages that continue the state, into the request; returns the frame that came
    /// with the last of them.
    async fn rest_of_state(
        &mut self,
        request: &mut api::OpenSessionRequest,
    ) -> Result<Option<Box<api::Frame>>, Failure> {
        let time = Duration::from_secs(self.host.shared.limits().call_seconds_max);
        let read = async {
            loop {
                let Some(mut message) = self.next().await? else {
                    let why = "the state continues, and the stream has ended";
                    return Err(Path::ROOT.field("more_state").bad(why).into());
                };
                opening::add(request, &mut message, self.host.shared.limits())?;
                if !message.state_continues {
                    return Ok(message.frame);
                }
            }
        };
        tokio::time::timeout(time, read).await.unwrap_or(Err(Failure::Deadline))
    }

    async fn converse(
        &mut self,
        attachment: Attachment<Session>,
        first: Option<Box<api::Frame>>,
        latest_wins: bool,
    ) -> Result<(), Failure> {
        let slot = attachment.slot().clone();
        let leaving = self.host.shared.leaving.clone();
        let (mut told_leaving, mut may_leave, mut is_old) = (false, true, false);
        // They wait beside all frames: to begin to wait anew costs more than to go on with it.
        let mut taken_over = pin!(attachment.taken_over.clone().until_set());
        let mut leaves = pin!(leaving.clone().until_set());
        let mut old = pin!(until_of_age(self.host.shared.limits().age_max()));
        let mut pending = first;
        loop {
            if !told_leaving && leaving.is_set() {
                told_leaving = true;
                self.tell_to_go(&slot, api::Notice::Draining).await;
            }
            if pending.is_none() && !self.is_over {
                tokio::select! {
                    biased;
                    // First what costs least to find out. The others are looked at with each frame.
                    next = self.next() => pending = self.frame_of(next?).await,
                    () = &mut taken_over => {}
                    () = &mut leaves, if may_leave => {
                        may_leave = false;
                        continue;
                    }
                    () = &mut old, if !is_old => {
                        is_old = true;
                        self.tell_to_go(&slot, api::Notice::Reconnect).await;
                        continue;
                    }
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
            self.answer_all(&slot, &attachment, frames).await?;
            self.intake.settle();
            if self.busy > INLINE_MAX {
                // What is ready is sent, too.
                self.busy = Duration::ZERO;
                tokio::task::yield_now().await;
            }
        }
    }

    /// Answers these frames.
    async fn answer_all(
        &mut self,
        slot: &Arc<Slot<Session>>,
        attachment: &Attachment<Session>,
        frames: Frames,
    ) -> Result<(), Failure> {
        let charged = self.host.shared.quotas.charge(QuotaKind::Frames, frames.len() as u64);
        let room = charged.map_err(Failure::from).and_then(|()| self.room_for_report());
        let kept = match room {
            Ok(kept) => kept,
            Err(failure) => {
                self.refuse(&frames, &failure).await;
                return Ok(());
            }
        };
        let held = take_out(slot).await?;
        if !attachment.is_valid() {
            return Err(self.end(attachment).await);
        }
        // A stream may last for days; what it asks for at a time may not.
        let own = Duration::from_secs(self.host.shared.limits().call_seconds_max);
        let (call, extent) = (&Deadline::planned(own), self.intake.extent());
        let allowed = Allowance { call, budget: own, reply_bytes: u64::MAX, extent };
        let (frame_id, count) = (frames.last().map_or(0, |last| last.frame_id), frames.len());
        let span = FrameSpan::begin(KnownCall::current().and_then(|call| call.span));
        let (reports, estimate) = self.host.answer(held, frames, None, allowed).await?;
        span.end(|| {
            vec![
                ("clearance.frame_id", Attribute::Number(frame_id)),
                ("clearance.frames", Attribute::Number(count as u64)),
            ]
        });
        self.busy += estimate;
        // From here on each is counted for itself.
        drop(kept);
        for report in reports {
            let report = Some(report);
            self.send(api::StreamSessionResponse { report, ..Default::default() }).await;
        }
        Ok(())
    }

    /// Memory for the report to come, as much as the last one took, if that was much. The client
    /// has taken that one.
    fn room_for_report(&self) -> Result<Option<Reservation>, Failure> {
        if self.last_bytes <= LARGE_REPORT {
            return Ok(None);
        }
        Ok(Some(self.intake.quota().reserve(MemoryKind::Replies, self.last_bytes)?))
    }

    /// Says of each frame why it was not applied.
    async fn refuse(&mut self, frames: &[Box<api::Frame>], failure: &Failure) {
        let last_bytes = self.last_bytes;
        for frame in frames {
            let report = Box::new(left(frame.frame_id, failure));
            let reply = api::StreamSessionResponse { report: Some(report), ..Default::default() };
            self.send(reply).await;
        }
        self.last_bytes = last_bytes;
    }

    /// Adds the frames that have arrived already, up to the limit.
    async fn merge(&mut self, frames: &mut Frames) -> Result<(), Failure> {
        let limit = self.host.shared.limits().merged_frames_max.max(1);
        while !self.is_over && (frames.len() as u64) < limit {
            let arrived = {
                let next = self.requests.next();
                tokio::pin!(next);
                std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await
            };
            let Poll::Ready(arrived) = arrived else { break };
            let message = self.received(arrived)?;
            frames.extend(self.frame_of(message).await);
        }
        Ok(())
    }

    /// The frame of a message; a message that is wrong gets a report that says so.
    async fn frame_of(
        &mut self,
        message: Option<api::StreamSessionRequest>,
    ) -> Option<Box<api::Frame>> {
        let message = message?;
        let missing = message.frame.is_none().then_some(("frame", "is required"));
        let misplaced = opening::misplaced(&message).or(missing);
        let Some((field, problem)) = misplaced else { return message.frame };
        let failure = Failure::from(Path::ROOT.field(field).bad(problem));
        let report = api::FrameReport {
            frame_id: message.frame.map_or(0, |frame| frame.frame_id),
            status: Some(failure.to_item()),
            ..Default::default()
        };
        let report = Some(Box::new(report));
        self.send(api::StreamSessionResponse { report, ..Default::default() }).await;
        None
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
        Ok(Some(next.map_err(|status| of_transport(status, self.host.shared.limits(), METHOD))?))
    }

    /// Why the stream has to end, after the client was told.
    async fn end(&mut self, attachment: &Attachment<Session>) -> Failure {
        if attachment.is_closed() {
            return failure(SessionError::Unknown, &attachment.slot().id);
        }
        self.notify(api::Notice::TakenOver).await;
        Failure::TakenOver
    }

    /// Says that the session is to be opened elsewhere, with the state that does it.
    async fn tell_to_go(&mut self, slot: &Arc<Slot<Session>>, notice: api::Notice) {
        let (state, _room) = self.state_to_go(slot).await.ok().unzip();
        // It tells nothing of how long the next report will be.
        let last_bytes = self.last_bytes;
        let reply = api::StreamSessionResponse {
            notice: notice.into(),
            state: state.map(Box::new),
            ..Default::default()
        };
        self.send(reply).await;
        self.last_bytes = last_bytes;
    }

    /// The declared state, if it is no longer than clients take and there is room for it.
    async fn state_to_go(
        &mut self,
        slot: &Arc<Slot<Session>>,
    ) -> Result<(api::SessionState, Reservation), Failure> {
        let held = take_out(slot).await?;
        let ((), state, room) = self.host.declared(held, self.intake.quota(), |_| Ok(())).await?;
        check_length(&state, self.host.shared.limits().reply_bytes_default)?;
        Ok((state, room))
    }

    async fn notify(&mut self, notice: api::Notice) {
        self.send(api::StreamSessionResponse { notice: notice.into(), ..Default::default() }).await;
    }

    async fn send(&mut self, reply: api::StreamSessionResponse) {
        let bytes = match &reply.report {
            Some(report) if is_short(report) => 0,
            Some(report) => bytes_of_message(report),
            None => (REPORT_FACTOR * reply.encoded_len()) as u64,
        };
        self.last_bytes = bytes;
        let hold = || self.intake.quota().hold(MemoryKind::Replies, bytes);
        let _memory = (bytes > LARGE_REPORT).then(hold);
        self.outbox.send(reply).await;
    }
}
