//! Open sessions: counted against limits, expired when idle, one stream attached at a time.
//!
//! A session has one owner at a time. Whoever wants to use it takes it out ([`Slot::take_out`]),
//! moves it into a job, and it comes back by itself when the [`Held`] value is dropped, wherever
//! that happens: at the end of the job, or because the caller went away before it started. A job
//! that panics loses its session: what it left behind cannot be trusted.

mod attachment;
mod bounded;
pub mod owner;
pub mod parallel;
mod resident;

use std::collections::BTreeMap;
use std::ops::{Bound, Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use self::attachment::Attachment;
pub use self::bounded::Bounded;
use self::owner::{Credentials, KeyDigest};
pub use self::parallel::Parallel;
pub use self::resident::{Resident, Summary};
use super::client::Client;
use super::clock::Clock;
use super::latch::{Latch, LatchSetter};
use super::memory::{MemoryKind, MemoryQuota, OutOfMemory, Reservation};
use super::settings::{Limit, Limits};
use super::subscriptions::SubscriptionLimit;

/// Why a session was not opened or not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// No session has this id.
    #[error("no such session")]
    Unknown,
    /// A session has this id, and may not be replaced by this caller.
    #[error("there is a session with this id")]
    Exists,
    /// The session that the caller means is gone, and another one has its id.
    #[error("the session was replaced")]
    Replaced,
    /// Another stream is attached.
    #[error("another stream is attached")]
    Attached,
    /// A limit of the server is reached.
    #[error("the limit {} is reached", .0.name)]
    Full(Limit),
}

/// The tenant that has opened a session, and its id there.
type Name = (Option<u32>, String);

/// What the caller's tenant calls by this id.
fn name(id: &str) -> Name {
    (Client::current_tenant(), id.to_owned())
}

/// More calls than this never wait for one session, whatever the limit.
const CALLS_MAX: u64 = 1 << 16;

/// Every open session.
#[derive(Debug)]
pub struct Registry<S> {
    by_name: Mutex<BTreeMap<Name, Arc<Slot<S>>>>,
    clock: Arc<dyn Clock>,
    sessions_max: Limit,
    bytes_max: Limit,
    calls_max: Limit,
    bytes: Arc<AtomicU64>,
    serial: AtomicU64,
}

/// A session that is to be put in place.
#[derive(Debug)]
pub struct NewSession<'a, S> {
    /// The id under which it is found.
    pub id: &'a str,
    /// What is kept of the session itself.
    pub session: S,
    /// The session is closed after so long without a call.
    pub idle_timeout: Duration,
    /// Who pays for it.
    pub quota: MemoryQuota,
    /// The key that it belongs to; none: it is open to everybody.
    pub owner: Option<KeyDigest>,
    /// Tells it from others that have had its id.
    pub incarnation: u64,
    /// Whether a session that has the id and belongs to the same key is closed for it.
    pub replace: bool,
}

/// Some of the sessions that a caller may see, in order of their ids.
#[derive(Debug)]
pub struct Page<S> {
    /// The places of the sessions.
    pub slots: Vec<Arc<Slot<S>>>,
    /// More of them follow after these.
    pub has_more: bool,
    /// How many there are in all.
    pub total: u64,
}

/// The place of one session.
#[derive(Debug)]
pub struct Slot<S> {
    /// The id under which the session is found.
    pub id: String,
    /// The tenant that has opened it; to others it is not there.
    tenant: Option<u32>,
    /// The key that the session belongs to; none: it is open to everybody.
    owner: Option<KeyDigest>,
    /// Who pays for the session.
    pub quota: MemoryQuota,
    /// Tells the session from others that have had its id.
    pub incarnation: u64,
    /// The session is closed after so long without a call.
    pub idle_timeout: Duration,
    /// When it was opened.
    pub open_time: SystemTime,
    /// One permit: the right to take the session out.
    turn: Arc<Semaphore>,
    /// One permit for each call that holds frames while it has or awaits its turn.
    calls: Arc<Semaphore>,
    calls_max: Limit,
    /// Those who watch the session.
    pub watchers: SubscriptionLimit,
    state: Mutex<State<S>>,
    clock: Arc<dyn Clock>,
    bytes: Arc<AtomicU64>,
    bytes_max: u64,
}

#[derive(Debug)]
struct State<S> {
    /// None while it is out, and after it was closed.
    session: Option<Box<S>>,
    is_closed: bool,
    attached: Option<(u64, LatchSetter)>,
    last_call: Instant,
    bytes: u64,
    /// For as many bytes.
    memory: Reservation,
    summary: Summary,
}

impl<S> State<S> {
    fn evict(&mut self, take_over: bool) -> Result<(), SessionError> {
        let Some((_, setter)) = &self.attached else { return Ok(()) };
        if !take_over {
            return Err(SessionError::Attached);
        }
        setter.set();
        self.attached = None;
        Ok(())
    }
}

/// What is shown of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What the session is.
    pub summary: Summary,
    /// When it was last called.
    pub last_call: SystemTime,
    /// Whether a stream is attached.
    pub is_attached: bool,
}

impl<S: Resident> Registry<S> {
    /// None open yet.
    pub fn new(clock: Arc<dyn Clock>, limits: &Limits) -> Self {
        Self {
            by_name: Mutex::default(),
            clock,
            sessions_max: limits.sessions_max(),
            bytes_max: limits.session_bytes_max(),
            calls_max: limits.session_calls_max(),
            bytes: Arc::default(),
            serial: AtomicU64::new(0),
        }
    }

    /// Whether a session may be opened under `id` by the owner of a key.
    pub fn check_free(
        &self,
        id: &str,
        owner: Option<KeyDigest>,
        replace: bool,
    ) -> Result<(), SessionError> {
        self.expire();
        let by_name = self.lock();
        let is_free = by_name.get(&name(id)).is_none_or(|slot| slot.yields_to(owner, replace));
        if is_free { Ok(()) } else { Err(SessionError::Exists) }
    }

    /// Puts a session in place.
    pub fn insert(&self, new: NewSession<'_, S>) -> Result<Arc<Slot<S>>, SessionError> {
        self.expire();
        let NewSession { id, session, idle_timeout, quota, owner, incarnation, replace } = new;
        let bytes = session.bytes();
        let mut by_name = self.lock();
        let name = name(id);
        let replaced = by_name.get(&name);
        if replaced.is_some_and(|slot| !slot.yields_to(owner, replace)) {
            return Err(SessionError::Exists);
        }
        let count = by_name.len() as u64 + u64::from(replaced.is_none());
        if count > self.sessions_max.value {
            return Err(SessionError::Full(self.sessions_max));
        }
        if bytes > self.room(&quota) {
            return Err(SessionError::Full(self.bytes_max));
        }
        let (kind, taken) = (MemoryKind::Sessions, count.saturating_sub(1));
        if replaced.is_none() && !quota.may_have_another(kind, taken, self.sessions_max.value) {
            return Err(SessionError::Full(self.sessions_max));
        }
        let memory = quota.reserve(kind, bytes);
        let memory = memory.map_err(|OutOfMemory(limit)| SessionError::Full(limit))?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let summary = session.summary();
        let slot = Arc::new(Slot {
            id: id.to_owned(),
            tenant: name.0,
            owner,
            quota,
            incarnation,
            idle_timeout,
            open_time: self.clock.wall(),
            turn: Arc::new(Semaphore::new(1)),
            calls: Arc::new(Semaphore::new(self.calls_max.value.clamp(1, CALLS_MAX) as usize)),
            calls_max: self.calls_max,
            watchers: SubscriptionLimit::default(),
            state: Mutex::new(State {
                session: Some(Box::new(session)),
                is_closed: false,
                attached: None,
                last_call: self.clock.now(),
                bytes,
                memory,
                summary,
            }),
            clock: self.clock.clone(),
            bytes: self.bytes.clone(),
            bytes_max: self.bytes_max.value,
        });
        if let Some(old) = by_name.insert(name, slot.clone()) {
            old.close();
        }
        Ok(slot)
    }

    /// The slot of this id, for whoever brings its key. To others it is not there.
    pub fn get(&self, id: &str, brought: Credentials) -> Result<Arc<Slot<S>>, SessionError> {
        let slot = self.lock().get(&name(id)).cloned().ok_or(SessionError::Unknown)?;
        if slot.is_expired() || slot.is_closed() {
            self.remove(&slot);
            return Err(SessionError::Unknown);
        }
        if !KeyDigest::opens(brought.key, slot.owner) {
            return Err(SessionError::Unknown);
        }
        if ![0, slot.incarnation].contains(&brought.incarnation) {
            return Err(SessionError::Replaced);
        }
        slot.touch();
        Ok(slot)
    }

    /// Closes and forgets the session of this slot.
    pub fn remove(&self, slot: &Arc<Slot<S>>) {
        let mut by_name = self.lock();
        let name = (slot.tenant, slot.id.clone());
        if by_name.get(&name).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            by_name.remove(&name);
        }
        drop(by_name);
        slot.close();
    }

    /// Closes the sessions that were idle for too long; tells how many.
    pub fn expire(&self) -> usize {
        let mut expired = Vec::new();
        self.lock().retain(|_, slot| {
            let stays = !slot.is_expired() && !slot.is_closed();
            if !stays {
                expired.push(slot.clone());
            }
            stays
        });
        // Outside the lock: dropping a large scene takes a while.
        expired.iter().for_each(|slot| slot.close());
        expired.len()
    }

    /// At most `size` slots after the id `after`, of those that are open to everybody or belong to
    /// one of these keys.
    pub fn page(&self, after: &str, size: usize, keys: &[KeyDigest]) -> Page<S> {
        let by_name = self.lock();
        let tenant = Client::current_tenant();
        let is_shown = |slot: &&Arc<Slot<S>>| {
            slot.tenant == tenant && slot.owner.is_none_or(|owner| keys.contains(&owner))
        };
        // No session has an empty id.
        let start = Bound::Excluded(name(after));
        let rest = by_name.range((start, Bound::Unbounded)).map(|(_, slot)| slot);
        let mut rest = rest.filter(is_shown);
        let slots = rest.by_ref().take(size).cloned().collect();
        let has_more = rest.next().is_some();
        Page { slots, has_more, total: by_name.values().filter(is_shown).count() as u64 }
    }

    /// How many sessions of the caller's tenant are open, and what they take, estimated.
    pub fn of_caller(&self) -> (u64, u64) {
        let tenant = Client::current_tenant();
        let by_name = self.lock();
        let own = by_name.values().filter(|slot| slot.tenant == tenant);
        own.fold((0, 0), |(count, bytes), slot| (count + 1, bytes + slot.lock().bytes))
    }

    /// Number of open sessions.
    pub fn count(&self) -> u64 {
        self.lock().len() as u64
    }

    /// How large all of them are together.
    pub fn sizes(&self) -> Summary {
        let slots: Vec<Arc<Slot<S>>> = self.lock().values().cloned().collect();
        let summaries = slots.iter().map(|slot| slot.lock().summary);
        summaries.fold(Summary::default(), |sum, one| sum.with_sizes_of(&one))
    }

    /// Memory of all sessions, estimated.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How much larger those of one principal may become, bytes.
    pub fn room(&self, quota: &MemoryQuota) -> u64 {
        quota.room_for(MemoryKind::Sessions, self.bytes(), self.bytes_max.value)
    }

    /// A number that no other call gets.
    pub fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Attaches a stream; `take_over` ends the one that is attached.
    pub fn attach(
        &self,
        slot: &Arc<Slot<S>>,
        take_over: bool,
    ) -> Result<Attachment<S>, SessionError> {
        let serial = self.next_serial();
        let (setter, taken_over) = Latch::new();
        let mut state = slot.lock();
        if state.is_closed {
            return Err(SessionError::Unknown);
        }
        state.evict(take_over)?;
        state.attached = Some((serial, setter));
        drop(state);
        Ok(Attachment { slot: slot.clone(), serial, taken_over })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Name, Arc<Slot<S>>>> {
        self.by_name.lock().expect("nothing panics while holding it")
    }
}

impl<S: Resident> Slot<S> {
    /// Takes the session out, as soon as it is in.
    pub async fn take_out(self: &Arc<Self>) -> Result<Held<S>, SessionError> {
        let turn = self.turn.clone().acquire_owned().await.map_err(|_| SessionError::Unknown)?;
        let session = self.lock().session.take();
        session
            .map(|session| Held { slot: self.clone(), session: Some(session), _turn: turn })
            .ok_or(SessionError::Unknown)
    }

    /// The right of a call to hold frames until it has had its turn.
    pub fn admit(&self) -> Result<OwnedSemaphorePermit, SessionError> {
        self.calls.clone().try_acquire_owned().map_err(|_| SessionError::Full(self.calls_max))
    }

    /// Ends the stream that is attached, if it may.
    pub fn evict(&self, take_over: bool) -> Result<(), SessionError> {
        self.lock().evict(take_over)
    }

    /// What is shown of it.
    pub fn shown(&self) -> Shown {
        let state = self.lock();
        let ago = self.clock.now().duration_since(state.last_call);
        Shown {
            summary: state.summary,
            last_call: self.clock.wall().checked_sub(ago).unwrap_or(self.open_time),
            is_attached: state.attached.is_some(),
        }
    }

    /// Whether a session that belongs to `owner` may take this one's place.
    fn yields_to(&self, owner: Option<KeyDigest>, replace: bool) -> bool {
        self.is_closed() || replace && KeyDigest::opens(owner, self.owner)
    }

    fn touch(&self) {
        let mut state = self.lock();
        state.last_call = self.clock.now();
    }

    fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn is_expired(&self) -> bool {
        let state = self.lock();
        // Out, or attached, is in use.
        state.session.is_some()
            && state.attached.is_none()
            && self.clock.now().duration_since(state.last_call) > self.idle_timeout
    }

    fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let session = state.session.take();
        if let Some((_, setter)) = state.attached.take() {
            setter.set();
        }
        if session.is_some() {
            self.bytes.fetch_sub(std::mem::take(&mut state.bytes), Ordering::Relaxed);
            state.memory.set(0);
        }
        drop(state);
        drop(session);
        self.turn.close();
    }

    /// Takes the session back, and counts what it takes now.
    fn put_back(&self, mut session: Box<S>) {
        let mut state = self.lock();
        if !self.is_admitted(&mut state, session.bytes()) {
            drop(state);
            session.slim();
            state = self.lock();
        }
        let now = if state.is_closed { 0 } else { session.bytes() };
        // Most frames leave a session as large as it was.
        if [state.bytes, state.memory.bytes()] != [now; 2] {
            // What is declared stays, whether there is memory for it or not.
            state.memory.set(now);
            self.bytes.fetch_add(now, Ordering::Relaxed);
            self.bytes.fetch_sub(std::mem::replace(&mut state.bytes, now), Ordering::Relaxed);
        }
        if state.is_closed {
            return;
        }
        state.summary = session.summary();
        state.last_call = self.clock.now();
        state.session = Some(session);
    }

    /// Whether there is memory for a session that takes so many bytes now.
    fn is_admitted(&self, state: &mut State<S>, now: u64) -> bool {
        let others = self.bytes.load(Ordering::Relaxed).saturating_sub(state.bytes);
        others.saturating_add(now) <= self.bytes_max && state.memory.grow_to(now).is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().expect("nothing panics while holding it")
    }
}

impl<S: Resident> Held<S> {
    /// Who pays for the session.
    pub fn quota(&self) -> &MemoryQuota {
        &self.slot.quota
    }
}

/// A session that is out; goes back when dropped.
#[derive(Debug)]
pub struct Held<S: Resident> {
    slot: Arc<Slot<S>>,
    session: Option<Box<S>>,
    // Last, so that the session is back before the next one may take it.
    _turn: OwnedSemaphorePermit,
}

impl<S: Resident> Deref for Held<S> {
    type Target = S;
    fn deref(&self) -> &S {
        self.session.as_ref().expect("in here until dropped")
    }
}

impl<S: Resident> DerefMut for Held<S> {
    fn deref_mut(&mut self) -> &mut S {
        self.session.as_mut().expect("in here until dropped")
    }
}

impl<S: Resident> Drop for Held<S> {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        if std::thread::panicking() {
            // Half of a step may be done. Closed, so the client opens it again from what it knows.
            self.slot.close();
            let mut state = self.slot.lock();
            state.memory.set(0);
            let lost = std::mem::take(&mut state.bytes);
            self.slot.bytes.fetch_sub(lost, Ordering::Relaxed);
            return;
        }
        self.slot.put_back(session);
    }
}

#[cfg(test)]
mod tests;
