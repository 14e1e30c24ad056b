//! Streams: one at a time is attached to a session.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Resident, Slot};

/// The right of one stream to a session; ends when dropped.
#[derive(Debug)]
pub struct Attachment<S: Resident> {
    pub(super) slot: Arc<Slot<S>>,
    pub(super) serial: u64,
    /// Turns true when another stream takes over or the session is closed.
    pub taken_over: watch::Receiver<bool>,
}

impl<S: Resident> Attachment<S> {
    /// The session's place.
    pub fn slot(&self) -> &Arc<Slot<S>> {
        &self.slot
    }

    /// Whether this stream still has the session.
    pub fn is_valid(&self) -> bool {
        !has_turned_true(&self.taken_over)
    }

    /// Whether the session is closed.
    pub fn is_closed(&self) -> bool {
        self.slot.is_closed()
    }
}

/// Whether a flag that begins as false is true. Frames ask this again and again: as long as nothing
/// has changed there is no lock to be taken.
pub fn has_turned_true(flag: &watch::Receiver<bool>) -> bool {
    flag.has_changed().unwrap_or(true) && *flag.borrow()
}

impl<S: Resident> Drop for Attachment<S> {
    fn drop(&mut self) {
        let mut state = self.slot.lock();
        if state.attached.as_ref().is_some_and(|(serial, _)| *serial == self.serial) {
            state.attached = None;
            state.last_call = self.slot.clock.now();
        }
    }
}
