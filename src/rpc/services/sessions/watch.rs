//! `WatchSession`: those who follow a session without taking part in it.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::Status;

use super::check_length;
use super::host::{SessionHost, failure, take_out};
use super::news::NewsCopy;
use super::session::Session;
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_runtime::behalf::Behalf;
use clearance_runtime::client::Client;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::sessions::Slot;
use clearance_runtime::subscriptions::Subscription;
use clearance_scene::query::past::Moment;
use clearance_wire::convert::sessions::since::ToldSince;
use clearance_wire::convert::sessions::size::{news_bytes, state_bytes};
use clearance_wire::status::{Failure, TooLong};

type WatchReply = Result<api::WatchSessionResponse, Status>;

/// What goes to a watcher.
pub(super) type Replies = Pin<Box<dyn Stream<Item = WatchReply> + Send>>;

/// A watcher that loses frames gets the state anew no sooner than this after the last time: the
/// state of a large scene takes the session a while, which its owner shall not notice.
const STATE_INTERVAL: Duration = Duration::from_secs(1);

/// A server that drains tells a watcher what still happens. When nothing does for so long, the
/// watch ends, which would hold the server back otherwise.
const QUIET: Duration = Duration::from_millis(250);

/// A reply that waits to be sent, with what it takes.
struct Queued {
    reply: WatchReply,
    _memory: Option<Reservation>,
}

/// Joins a session, and tells its news until the watcher or the session is gone.
pub(super) async fn start(
    host: SessionHost,
    slot: Arc<Slot<Session>>,
    quota: &MemoryQuota,
    WatchFrom { bytes_max, moment }: WatchFrom,
) -> Result<Replies, Failure> {
    let limit = host.shared.limits().watchers_per_session_max();
    let seat = slot.watchers.take(Client::current().principal(), limit.value);
    let seat = seat.ok_or_else(|| limit.reached())?;
    let (replies, receiver) = mpsc::channel(1);
    let (copy, quota) = (replies.clone(), quota.clone());
    let mut watch = Watch { host, slot, replies: copy, quota, told: 0, bytes_max, _seat: seat };
    // What refuses a watcher is the status of its call.
    let (news, first) = match moment {
        Some(moment) => watch.join_at(&moment).await?,
        None => {
            let (news, first) = watch.join(None).await?;
            (news, FirstNews { state: first, frames: Vec::new(), _room: None })
        }
    };
    tokio::spawn(Behalf::current().around(async move {
        tokio::select! {
            ended = watch.tell(news, first) => {
                if let Err(failure) = ended {
                    // The watcher may be gone.
                    let last = Queued { reply: Err(failure.into()), _memory: None };
                    let _ = replies.send(last).await;
                }
            }
            () = replies.closed() => {}
        }
    }));
    Ok(Box::pin(ReceiverStream::new(receiver).map(|queued: Queued| queued.reply)))
}

/// What a watcher takes, and from when on it wants to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchFrom {
    /// So many bytes it takes for a message.
    pub(super) bytes_max: u64,
    /// None: from now on.
    pub(super) moment: Option<Moment>,
}

/// What a watcher is told before the news: a state, and frames since that are past.
struct FirstNews {
    state: api::WatchSessionResponse,
    frames: Vec<api::WatchedFrame>,
    /// For what these take.
    _room: Option<Reservation>,
}

struct Watch {
    host: SessionHost,
    slot: Arc<Slot<Session>>,
    replies: mpsc::Sender<Queued>,
    quota: MemoryQuota,
    /// How many frames the session had told when this watcher was last up to date.
    told: u64,
    /// So many bytes it takes for a message.
    bytes_max: u64,
    /// Its place among those who watch the session.
    _seat: Subscription,
}

impl Watch {
    /// The state of the session, and its news from there on.
    async fn join(
        &mut self,
        before: Option<Receiver<NewsCopy>>,
    ) -> Result<(Receiver<NewsCopy>, api::WatchSessionResponse), Failure> {
        let shared = self.host.shared.clone();
        let is_first = before.is_none();
        let _admitted = self.slot.admit().map_err(|error| failure(error, &self.slot.id))?;
        let held = take_out(&self.slot).await?;
        let quota = self.slot.quota.clone();
        let watch = move |session: &mut Session| session.watch(shared.limits(), quota, before);
        let ((news, told, links), state, _room) =
            self.host.declared(held, &self.quota, watch).await?;
        check_length(&state, self.bytes_max)?;
        let lost_frames = if is_first { 0 } else { told - self.told };
        self.told = told;
        let incarnation = self.slot.incarnation;
        let reply = api::WatchSessionResponse {
            state: Some(state),
            lost_frames,
            incarnation,
            link_poses: Some(links),
            ..Default::default()
        };
        Ok((news, reply))
    }

    /// The state of the session at a moment, what has changed since, and its news from here on.
    async fn join_at(
        &mut self,
        moment: &Moment,
    ) -> Result<(Receiver<NewsCopy>, FirstNews), Failure> {
        let shared = self.host.shared.clone();
        let _admitted = self.slot.admit().map_err(|error| failure(error, &self.slot.id))?;
        let mut held = take_out(&self.slot).await?;
        let bytes = held.scene().bytes_of_since() as u64;
        let bytes = bytes.saturating_add(held.state_bytes());
        let room = self.quota.reserve(MemoryKind::Replies, bytes)?;
        let (quota, moment) = (self.slot.quota.clone(), *moment);
        let limits = shared.clone();
        let job = move || {
            let since = held.since(&moment)?;
            let (news, told, _) = held.watch(limits.limits(), quota, None)?;
            Ok::<_, Failure>((since, news, told))
        };
        let joined = shared.compute.run_with_session(false, job).await?;
        let (ToldSince { state, links, frames }, news, told) = joined?;
        check_length(&state, self.bytes_max)?;
        let longest = frames.iter().map(|frame| frame.encoded_len() as u64).max().unwrap_or(0);
        if longest > self.bytes_max {
            let bytes_max = self.bytes_max;
            return Err(TooLong::State { bytes: longest, bytes_max }.into());
        }
        self.told = told;
        let state = api::WatchSessionResponse {
            state: Some(state),
            incarnation: self.slot.incarnation,
            link_poses: Some(links),
            ..Default::default()
        };
        Ok((news, FirstNews { state, frames, _room: Some(room) }))
    }

    async fn tell(
        &mut self,
        mut news: Receiver<NewsCopy>,
        first: FirstNews,
    ) -> Result<(), Failure> {
        let FirstNews { state, frames, _room: room } = first;
        self.send(state).await?;
        for frame in frames {
            let frame = Some(frame);
            self.send(api::WatchSessionResponse { frame, ..Default::default() }).await?;
        }
        drop(room);
        let mut joined = Instant::now();
        let Shared { leaving, draining, .. } = &self.host.shared;
        let mut leaves = pin!(leaving.clone().until_set());
        let draining = draining.clone();
        let mut told_leaving = false;
        loop {
            let quiet = async {
                draining.clone().until_set().await;
                tokio::time::sleep(QUIET).await;
            };
            let received = tokio::select! {
                biased;
                () = &mut leaves, if !told_leaving => {
                    told_leaving = true;
                    self.notify(api::Notice::Draining).await?;
                    continue;
                }
                received = news.recv() => received,
                () = quiet, if told_leaving => return Err(Failure::Draining),
            };
            match received {
                Ok(Some(told)) if told.frame.encoded_len() as u64 <= self.bytes_max => {
                    self.told += 1;
                    let frame = Some(told.frame.clone());
                    self.send(api::WatchSessionResponse { frame, ..Default::default() }).await?;
                    continue;
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return self.notify(api::Notice::Closed).await,
            }
            tokio::time::sleep_until(joined + STATE_INTERVAL).await;
            let (from_here, state) = match self.join(Some(news)).await {
                Err(Failure::UnknownSession { .. }) => {
                    return self.notify(api::Notice::Closed).await;
                }
                joined => joined?,
            };
            news = from_here;
            joined = Instant::now();
            self.send(state).await?;
        }
    }

    async fn notify(&self, notice: api::Notice) -> Result<(), Failure> {
        self.send(api::WatchSessionResponse { notice: notice.into(), ..Default::default() }).await
    }

    /// Waits until the watcher has taken what came before; that it is gone ends the task elsewhere.
    async fn send(&self, reply: api::WatchSessionResponse) -> Result<(), Failure> {
        // The numbers of packed poses are those of the news, which are counted once for all.
        let news = reply.frame.as_ref().map_or(0, news_bytes);
        let bytes = news + reply.state.as_ref().map_or(0, state_bytes);
        let memory = self.quota.reserve(MemoryKind::Replies, bytes)?;
        let queued = Queued { reply: Ok(reply), _memory: Some(memory) };
        let _ = self.replies.send(queued).await;
        Ok(())
    }
}
