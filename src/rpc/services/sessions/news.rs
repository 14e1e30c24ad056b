//! What those who watch a session are told: what every frame has changed, and its events.
//!
//! The session never waits for them. News wait in a ring of `watch_frames_max` frames; a watcher
//! that is further behind loses some and begins again with the whole state. While nobody watches,
//! nothing is written down.

use std::sync::Arc;

use tokio::sync::broadcast;

use clearance_proto as api;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::settings::{Limit, Limits};
use clearance_scene::{Frame, Moves, Scene};
use clearance_wire::convert::sessions::known::Known;
use clearance_wire::convert::sessions::news::{Draft, RefusedOf};
use clearance_wire::convert::sessions::size::{news_bytes, poses_bytes};

/// What a report takes in memory for each byte that it takes on the wire: a verdict is two bytes
/// there, and the message about its pair some hundred here.
pub(super) const REPORT_FACTOR: usize = 4;

/// What one frame changed.
#[derive(Debug)]
pub(super) struct News {
    pub(super) frame: api::WatchedFrame,
    /// For what it takes while it waits for the slowest watcher.
    _memory: Reservation,
}

/// What a watcher receives; none: there was no memory for the news of a frame, which are lost.
pub(super) type NewsCopy = Option<Arc<News>>;

/// Writes down what frames change, and tells it to all who watch.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    readers: Option<broadcast::Sender<NewsCopy>>,
    /// The frame that was told last, or that the first watcher has the state of.
    last_frame: u64,
    /// How many frames were told.
    told: u64,
    draft: Draft,
    /// Whether the scene has been answered about since the frame that was told last, or was then.
    is_answered: bool,
    /// What whoever has read all news knows beyond what frames name.
    pub(super) known: Known,
    /// Who pays for what waits to be read.
    quota: Option<MemoryQuota>,
}

impl Subscribers {
    /// One more reads, from the frame after the scene's last on; also says how many frames were
    /// told so far. Whoever read `before` and fell behind gives back the place that it had.
    pub(super) fn subscribe(
        &mut self,
        scene: &Scene,
        quota: MemoryQuota,
        before: Option<broadcast::Receiver<NewsCopy>>,
        limits: &Limits,
    ) -> Result<(broadcast::Receiver<NewsCopy>, u64), Limit> {
        let readers_max = limits.watchers_per_session_max();
        if !self.is_read() {
            let waiting_max =
                usize::try_from(limits.watch_frames_max).unwrap_or(1).clamp(1, WAITING_MAX);
            self.readers = Some(broadcast::Sender::new(waiting_max));
            self.draft = Draft::default();
            self.last_frame = scene.frame();
            self.is_answered = scene.is_answered();
            self.known = Known::of(scene);
            self.quota = Some(quota);
        }
        drop(before);
        match &self.readers {
            Some(readers) if (readers.receiver_count() as u64) < readers_max.value => {
                Ok((readers.subscribe(), self.told))
            }
            _ => Err(readers_max),
        }
    }

    /// Whether anybody watches.
    pub(super) fn is_read(&self) -> bool {
        self.readers.as_ref().is_some_and(|readers| readers.receiver_count() > 0)
    }

    /// Writes down what a frame has changed of which the moves at these places were refused, of
    /// bodies and of robots. There is no need for it while nobody reads.
    pub(super) fn note(
        &mut self,
        frame: &Frame,
        moves: &dyn Moves,
        refused: &RefusedOf,
        scene: &Scene,
    ) {
        // Where a frame was told and not answered, the scene knows turns from before it on alone.
        let joined = |body| scene.spin_so_far(body).filter(|_| self.is_answered);
        self.draft.note(frame, moves, refused, &joined);
    }

    /// What is to be told, if anybody is there to be told.
    pub(super) fn take_draft(&mut self) -> Option<Draft> {
        self.is_read().then(|| std::mem::take(&mut self.draft))
    }

    /// Tells what has changed up to a frame.
    pub(super) fn publish(&mut self, mut frame: api::WatchedFrame) {
        let (Some(readers), Some(quota)) = (&self.readers, &self.quota) else { return };
        frame.previous_frame_id = std::mem::replace(&mut self.last_frame, frame.frame_id);
        self.told += 1;
        self.is_answered = frame.counts.is_some();
        let bytes = news_bytes(&frame) + poses_bytes(&frame);
        let memory = quota.reserve(MemoryKind::Replies, bytes);
        let news = memory.ok().map(|memory| Arc::new(News { frame, _memory: memory }));
        // That nobody hears it any more is known at the next frame.
        let _ = readers.send(news);
    }
}

/// More frames than this never wait for a watcher, whatever the limit.
const WAITING_MAX: usize = 1 << 10;
