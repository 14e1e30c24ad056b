//! What comes in: counted as it arrives, and looked at before it is decoded.

mod arriving;
mod scan;
mod structures;

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};

use clearance_proto::codec::{Admission, admitted_by};
use tonic::Status;

pub(super) use self::arriving::Arriving;
use self::scan::{Refusal, scan};
use self::structures::Structures;
use super::caller::Caller;
use super::limiter::ActiveCall;
use clearance_runtime::compute::Counted;
use clearance_runtime::memory::{
    Arrival, CALL_BYTES, MemoryKind, MemoryQuota, OutOfMemory, Reservation,
};
use clearance_runtime::settings::{Limits, Settings};
use clearance_wire::status::Failure;

/// Messages from which on reading them may keep other clients of the thread waiting.
const LARGE_BYTES: u64 = 128 << 10;

/// What one call is held to, and the memory that it holds; cheap to clone. The last clone gives
/// the memory back.
#[derive(Clone, Debug)]
pub struct Intake(Arc<Call>);

#[derive(Debug)]
struct Call {
    settings: Arc<Settings>,
    quota: MemoryQuota,
    /// For the call as such.
    _own: Reservation,
    /// For the messages that are decoded and not done with.
    decoded: Mutex<Decoded>,
    /// Its connection is not idle.
    _busy: Option<ActiveCall>,
}

/// The memory of messages.
#[derive(Debug, Default)]
struct Decoded {
    reserved: Vec<Reservation>,
    /// Of small ones, which count as part of the call itself until they are many.
    small: u64,
}

impl Intake {
    /// For a new call of this caller, if there is memory for it.
    pub(super) fn new(settings: Arc<Settings>, caller: Caller) -> Result<Self, OutOfMemory> {
        let Caller { quota, busy, .. } = caller;
        let own = quota.reserve(MemoryKind::Calls, CALL_BYTES)?;
        let decoded = Mutex::default();
        Ok(Self(Arc::new(Call { settings, quota, _own: own, decoded, _busy: busy })))
    }

    /// Lets the decoders that `call` makes find this.
    pub fn around<F: Future>(self, call: F) -> impl Future<Output = F::Output> {
        admitted_by(self.0, call)
    }

    /// The account of who pays for the call.
    pub fn quota(&self) -> &MemoryQuota {
        &self.0.quota
    }

    /// That of a call, as the transport has put it there.
    pub fn of<T>(request: &tonic::Request<T>) -> Self {
        let known = request.extensions().get::<Self>().cloned();
        known.unwrap_or_else(|| {
            // Nothing but a test calls a service without its surroundings.
            let settings = Arc::<Settings>::default();
            Self::new(settings, Caller::nobody()).expect("without bounds")
        })
    }

    /// Memory for the work on this call, if it is much.
    pub fn work(&self, bytes: u64) -> Result<Option<Reservation>, Failure> {
        self.0.reserve(MemoryKind::Work, bytes)
    }

    /// Everything that the messages hold that were decoded and are not done with.
    pub fn extent(&self) -> Counted {
        let decoded = self.decoded();
        let reserved: u64 = decoded.reserved.iter().map(Reservation::bytes).sum();
        Counted::all_of(decoded.small + reserved)
    }

    /// Everything that a part of a message holds: an entry of a list takes two bytes or more on the
    /// wire, which count as thirty-two.
    pub fn extent_of(part: &impl prost::Message) -> Counted {
        Counted::all_of(16 * part.encoded_len() as u64)
    }

    /// The messages that were decoded so far are done with.
    pub fn settle(&self) {
        *self.decoded() = Decoded::default();
    }

    /// Does what looks at all of the messages that were decoded and are not done with.
    pub fn look_through<T>(&self, look: impl FnOnce() -> T) -> T {
        let bytes = self.decoded().reserved.iter().map(Reservation::bytes).sum();
        aside_if_large(bytes, look)
    }

    /// Memory for a message of which so many bytes have come, unless they are few.
    fn arrival(&self, bytes: u64) -> Result<Option<Arrival>, Failure> {
        if bytes <= CALL_BYTES / 2 {
            return Ok(None);
        }
        Ok(Some(self.0.quota.arrival(bytes)?))
    }

    fn limits(&self) -> &Limits {
        &self.0.settings.limits
    }

    fn decoded(&self) -> MutexGuard<'_, Decoded> {
        self.0.decoded()
    }
}

impl Call {
    fn decoded(&self) -> MutexGuard<'_, Decoded> {
        self.decoded.lock().expect("nothing panics while holding it")
    }

    /// Memory of this kind, unless it is so little that it counts as part of the call itself.
    fn reserve(&self, kind: MemoryKind, bytes: u64) -> Result<Option<Reservation>, Failure> {
        if bytes <= CALL_BYTES / 2 {
            return Ok(None);
        }
        Ok(Some(self.quota.reserve(kind, bytes)?))
    }

    /// Takes the memory of a message that is within the limits.
    fn take_memory(&self, structure: usize, bytes: &[u8]) -> Result<(), Failure> {
        let memory = scan(structure, bytes, &self.settings.limits).map_err(refused)?;
        // Lists of numbers are a share of the bytes, of which all stay then.
        let memory = memory.max(bytes.len() as u64);
        let mut decoded = self.decoded();
        decoded.small += memory;
        if let Some(reservation) = self.reserve(MemoryKind::Decoded, decoded.small)? {
            decoded.reserved.push(reservation);
            decoded.small = 0;
        }
        Ok(())
    }
}

impl Admission for Call {
    fn kind_of(&self, name: &str) -> Option<usize> {
        Structures::of_api().index_of(name)
    }

    /// Decodes a message unless it is too large in memory, or has too many elements.
    fn admit(
        &self,
        kind: Option<usize>,
        bytes: &[u8],
        decode: &mut dyn FnMut() -> Result<(), Status>,
    ) -> Result<(), Status> {
        aside_if_large(bytes.len() as u64, || {
            if let Some(structure) = kind {
                self.take_memory(structure, bytes)?;
            }
            decode()
        })
    }
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Limit(exceeded) => exceeded.into(),
        Refusal::Malformed(why) => Failure::Malformed(why.to_owned()),
    }
}

/// Does what takes a while for so many bytes; of large ones the other tasks of this thread go on
/// elsewhere meanwhile.
pub(crate) fn aside_if_large<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
    if bytes >= LARGE_BYTES && may_block() { tokio::task::block_in_place(work) } else { work() }
}

/// Whether there are other threads for the tasks of this one.
fn may_block() -> bool {
    let runtime = tokio::runtime::Handle::try_current();
    runtime.is_ok_and(|it| it.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread)
}
