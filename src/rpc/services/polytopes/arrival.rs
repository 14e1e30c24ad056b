//! Bytes that arrive in chunks: each is paid for before it is kept, and they stay in pieces until
//! all have come.

use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tonic::Streaming;

use crate::rpc::shared::Shared;
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_transport::intake::Intake;
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::{Failure, of_transport};

/// The largest piece that the bytes of an upload are kept in: so much is copied at a time while
/// others wait.
const PIECE_BYTES: usize = 1 << 20;

/// One upload: a place among those that come at a time, and the memory of what has come.
pub(in crate::rpc::services) struct Arrival {
    _place: OwnedSemaphorePermit,
    memory: Reservation,
    /// Bytes that have come.
    length: usize,
}

impl Arrival {
    /// Takes a place, if there is one.
    pub(in crate::rpc::services) fn begin(
        shared: &Shared,
        intake: &Intake,
    ) -> Result<Self, Failure> {
        shared.refuse_while_draining()?;
        let (quota, limit) = (intake.quota(), shared.limits().uploads_max);
        let taken = limit.saturating_sub(shared.uploads.available_permits() as u64);
        if !quota.may_have_another(MemoryKind::Uploads, taken, limit) {
            return Err(Failure::Busy);
        }
        let place = shared.uploads.clone().try_acquire_owned().map_err(|_| Failure::Busy)?;
        let memory = quota.reserve(MemoryKind::Uploads, 0)?;
        Ok(Self { _place: place, memory, length: 0 })
    }

    /// The next message of a method.
    pub(in crate::rpc::services) async fn next<M>(
        shared: &Shared,
        messages: &mut Streaming<M>,
        method: &'static str,
    ) -> Result<Option<M>, Failure> {
        // Whoever sends nothing keeps a place from others.
        let limit = shared.limits().message_seconds_max();
        let time = Duration::from_secs(limit.value);
        let message = tokio::time::timeout(time, messages.message()).await;
        let message = message.map_err(|_| limit.exceeded_at("chunk"))?;
        Ok(message.map_err(|status| of_transport(status, shared.limits(), method))?)
    }

    /// Bytes that have come.
    pub(in crate::rpc::services) fn length(&self) -> usize {
        self.length
    }

    /// Counts so many bytes of a field that are kept beside the pieces.
    pub(in crate::rpc::services) fn count(
        &mut self,
        shared: &Shared,
        field: &'static str,
        bytes: usize,
    ) -> Result<(), Failure> {
        let path = Path::ROOT.field(field);
        path.within(shared.limits().upload_bytes_max(), self.length.saturating_add(bytes))?;
        self.memory.grow_to(self.memory.bytes() + bytes as u64)?;
        self.length += bytes;
        Ok(())
    }

    /// Adds a chunk to the pieces of what it belongs to. Memory grows with what has come, never
    /// with what is announced.
    pub(in crate::rpc::services) async fn take(
        &mut self,
        shared: &Shared,
        pieces: &mut Vec<Vec<u8>>,
        chunk: &[u8],
    ) -> Result<(), Failure> {
        let path = Path::ROOT.field("chunk");
        path.within(shared.limits().upload_bytes_max(), self.length + chunk.len())?;
        let has_room = |last: &Vec<u8>| last.capacity() - last.len() >= chunk.len();
        if !pieces.last().is_some_and(has_room) {
            // As much as there is already, so that small chunks make few pieces.
            let there_is = pieces.iter().map(Vec::len).sum::<usize>();
            let room = there_is.min(PIECE_BYTES).max(chunk.len());
            self.memory.grow_to(self.memory.bytes() + room as u64)?;
            pieces.push(Vec::with_capacity(room));
            // Others get their turn, even if the next chunk is there already: an upload that comes
            // as fast as it is taken would keep this thread to itself.
            tokio::task::yield_now().await;
        }
        if let Some(last) = pieces.last_mut() {
            last.extend_from_slice(chunk);
        }
        self.length += chunk.len();
        Ok(())
    }

    /// Takes memory for all that has come beside the pieces, until they are copied.
    pub(in crate::rpc::services) fn begin_to_copy(&mut self) -> Result<(), Failure> {
        Ok(self.memory.grow_to(self.memory.bytes() + self.length as u64)?)
    }

    /// Gives back the memory of the pieces, which are copied.
    pub(in crate::rpc::services) fn end_copying(&mut self) {
        self.memory.set(self.length as u64);
    }
}

/// The pieces as one, each of which is given back as soon as it is copied.
pub(in crate::rpc::services) fn joined(pieces: Vec<Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
    pieces.into_iter().for_each(|piece| bytes.extend_from_slice(&piece));
    bytes
}
