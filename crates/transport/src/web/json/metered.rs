//! A text that is written within the account of memory.

use std::io;

use clearance_runtime::memory::{MemoryKind, MemoryQuota, OutOfMemory, Reservation};
use clearance_wire::status::Failure;

/// The room of a text at first, and texts up to this are not counted: they are part of the call.
const SMALL_BYTES: usize = 8 << 10;

/// A text as it grows.
#[derive(Debug)]
pub(in super::super) struct Metered {
    text: Vec<u8>,
    quota: MemoryQuota,
    memory: Option<Reservation>,
}

impl Metered {
    /// Nothing yet, of a call that pays with this quota.
    pub(in super::super) fn new(quota: MemoryQuota) -> Self {
        Self { text: Vec::new(), quota, memory: None }
    }

    /// What was written, with what it takes.
    pub(in super::super) fn finish(self) -> (Vec<u8>, Option<Reservation>) {
        (self.text, self.memory)
    }

    /// Makes room for so many bytes more.
    fn make_room(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let needed = self.text.len() + more;
        if needed <= self.text.capacity() {
            return Ok(());
        }
        let room = needed.max(2 * self.text.capacity()).max(SMALL_BYTES);
        if room > SMALL_BYTES {
            // While it grows the old one is there, too.
            let both = (room + self.text.capacity()) as u64;
            match &mut self.memory {
                Some(memory) => memory.grow_to(both)?,
                none => *none = Some(self.quota.reserve(MemoryKind::Replies, both)?),
            }
        }
        self.text.reserve_exact(room - self.text.len());
        if let Some(memory) = &mut self.memory {
            memory.set(room as u64);
        }
        Ok(())
    }
}

impl io::Write for Metered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.make_room(bytes.len()).map_err(io::Error::other)?;
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a text could not be written: there was no memory, or the bytes are no message.
pub(super) fn unwritten(error: io::Error) -> Failure {
    match error.downcast::<OutOfMemory>() {
        Ok(full) => full.into(),
        Err(error) => Failure::Bug(format!("a reply cannot be written as JSON: {error}")),
    }
}
