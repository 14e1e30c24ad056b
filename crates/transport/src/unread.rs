//! What of a connection's bytes nobody has read yet: it waits in the buffers of HTTP/2, and is
//! taken from the memory budget all the same.
//!
//! A stream that is not read holds as much as its window lets the client send. The connection's own
//! window has room for that of every stream, so one that stalls keeps no other waiting; what waits
//! is counted here, frame by frame. Where there is no memory for it the stream with most of it is
//! given up, for whoever stalls and not for its neighbours.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use super::frames::{Arrived, FrameReader};
use clearance_runtime::memory::{Arrival, CONNECTION_BYTES, MemoryQuota, OutOfMemory};

/// What a frame takes beside its bytes while it waits: an entry in a list of events.
const FRAME_BYTES: u64 = 256;

/// Memory is taken by so much at a time. Less than this is part of the connection itself.
const STEP_BYTES: u64 = CONNECTION_BYTES;

/// Of one connection; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Unread(Arc<Mutex<Ledger>>);

#[derive(Debug)]
struct Ledger {
    quota: MemoryQuota,
    frames: FrameReader,
    /// By the number of the stream: those that were begun, until nobody can read them any more.
    streams: BTreeMap<u32, UnreadBytes>,
    newest: u32,
    bytes: u64,
    /// For as many bytes, where they are many.
    memory: Option<Arrival>,
    /// Nothing is left to give up.
    is_beyond: bool,
}

/// What one stream has waiting.
#[derive(Debug, Default)]
struct UnreadBytes {
    bytes: u64,
    /// Ends its call; none: nobody has taken it on, or it was told already.
    giving_up: Option<oneshot::Sender<OutOfMemory>>,
    is_taken_on: bool,
}

/// The part of one stream, which is given back when it is dropped.
#[derive(Debug)]
pub(super) struct UnreadStream {
    unread: Unread,
    number: u32,
}

impl Unread {
    /// Nothing yet, of a connection that pays with this quota.
    pub(super) fn new(quota: MemoryQuota) -> Self {
        Self(Arc::new(Mutex::new(Ledger {
            quota,
            frames: FrameReader::default(),
            streams: BTreeMap::new(),
            newest: 0,
            bytes: 0,
            memory: None,
            is_beyond: false,
        })))
    }

    /// These bytes have come.
    pub(super) fn came(&self, bytes: &[u8]) {
        let ledger = &mut *self.lock();
        let mut frames = std::mem::take(&mut ledger.frames);
        frames.advance(bytes, |frame| ledger.note(frame));
        ledger.frames = frames;
        ledger.settle();
    }

    /// A call takes on the stream of this number; it is told if it has to give way.
    pub(super) fn take_on(&self, number: u32) -> (UnreadStream, oneshot::Receiver<OutOfMemory>) {
        let (giving_up, told) = oneshot::channel();
        let mut ledger = self.lock();
        // Streams are handed over in the order of their numbers: older ones that nobody has taken
        // on were refused.
        let refused = ledger.streams.range(..number).filter(|(_, stream)| !stream.is_taken_on);
        for number in refused.map(|(number, _)| *number).collect::<Vec<_>>() {
            ledger.remove(number);
        }
        let stream = ledger.streams.entry(number).or_default();
        (stream.is_taken_on, stream.giving_up) = (true, Some(giving_up));
        ledger.settle();
        drop(ledger);
        (UnreadStream { unread: self.clone(), number }, told)
    }

    /// Ready when the connection has to end: there is no memory for what waits, and no call left to
    /// give up. Streams give way here when others need their memory.
    pub(super) fn poll_beyond(&self, context: &mut Context<'_>) -> Poll<()> {
        let ledger = &mut *self.lock();
        while let Some(held) = &ledger.memory
            && let Poll::Ready(full) = held.poll_given_up(context)
        {
            ledger.give_up(1, full);
            // It is told once, and what is left is counted anew.
            ledger.memory = None;
            ledger.settle();
        }
        if ledger.is_beyond { Poll::Ready(()) } else { Poll::Pending }
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().expect("nothing panics while holding it")
    }
}

impl UnreadStream {
    /// A frame with so many bytes was read.
    pub(super) fn read(&self, bytes: usize) {
        let ledger = &mut *self.unread.lock();
        let Some(stream) = ledger.streams.get_mut(&self.number) else { return };
        let read = frame_bytes(bytes as u64).min(stream.bytes);
        stream.bytes -= read;
        ledger.bytes -= read;
        ledger.settle();
    }
}

impl Drop for UnreadStream {
    fn drop(&mut self) {
        let mut ledger = self.unread.lock();
        ledger.remove(self.number);
        ledger.settle();
    }
}

fn frame_bytes(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { FRAME_BYTES + bytes }
}

impl Ledger {
    fn note(&mut self, frame: Arrived) {
        match frame {
            Arrived::Headers { stream } if stream > self.newest => {
                self.newest = stream;
                self.streams.insert(stream, UnreadBytes::default());
            }
            Arrived::Data { stream, bytes } => {
                // Of one that is over nothing is kept.
                if let Some(waiting) = self.streams.get_mut(&stream) {
                    waiting.bytes += frame_bytes(bytes);
                    self.bytes += frame_bytes(bytes);
                }
            }
            Arrived::Headers { .. } => {}
        }
    }

    fn remove(&mut self, number: u32) {
        if let Some(stream) = self.streams.remove(&number) {
            self.bytes -= stream.bytes;
        }
    }

    /// Takes memory for what waits, or gives up whoever has most of it.
    fn settle(&mut self) {
        if self.bytes <= STEP_BYTES {
            self.memory = None;
            return;
        }
        let wanted = self.bytes.next_multiple_of(STEP_BYTES);
        let taken = match &mut self.memory {
            // By more than a step, so that a stream that is read soon takes and gives nothing.
            Some(held) if held.bytes() > wanted + STEP_BYTES => {
                held.shrink_to(wanted);
                Ok(())
            }
            Some(held) => held.grow_to(wanted),
            none => self.quota.arrival(wanted).map(|held| *none = Some(held)),
        };
        if let Err(full) = taken {
            let has = self.memory.as_ref().map_or(0, Arrival::bytes);
            self.give_up(self.bytes.saturating_sub(has), full);
        }
    }

    /// Ends calls, those with most bytes first, until so many are on their way back.
    fn give_up(&mut self, bytes: u64, full: OutOfMemory) {
        let told = |stream: &&UnreadBytes| stream.is_taken_on && stream.giving_up.is_none();
        let mut coming: u64 = self.streams.values().filter(told).map(|stream| stream.bytes).sum();
        while coming < bytes {
            let ready = self.streams.values_mut().filter(|one| one.giving_up.is_some());
            let most = ready.max_by_key(|stream| stream.bytes).filter(|stream| stream.bytes > 0);
            let Some(most) = most else {
                self.is_beyond = true;
                return;
            };
            coming += most.bytes;
            if let Some(giving_up) = most.giving_up.take() {
                // It may have ended by itself.
                let _ = giving_up.send(full);
            }
        }
    }
}

#[cfg(test)]
mod tests;
