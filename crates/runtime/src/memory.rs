//! One memory budget for the process: whoever keeps something takes its bytes from here first,
//! and they are given back when the [`Reservation`] is dropped.
//!
//! Bytes are counted by kind, for each connection and for each principal. A principal may hold at
//! most [`SHARE`] times what it leaves free, so that there is always something left for the next
//! (A. K. Choudhury and E. L. Hahne, *Dynamic queue length thresholds for shared-memory packet
//! switches*, IEEE/ACM Transactions on Networking 6, 1998): one that takes all it can get holds
//! three quarters, two hold three sevenths each, and so on. Small needs are met from a part that is
//! kept for them: nobody waits for a stranger with a small question.

mod arrival;
mod machine;
mod tidy;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

pub use self::arrival::Arrival;
use self::arrival::Unfinished;
pub use self::machine::{address_space_max, default_bytes_max, fit, resident_bytes};
pub use self::tidy::tidy;
use super::principal::Principal;
use super::settings::Limit;
use super::share::{self, SHARE};

/// What memory is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Connections and calls as such, with messages and replies up to [`CALL_BYTES`].
    Calls,
    /// Messages of which some bytes have come.
    Receiving,
    /// Decoded messages, until they are answered.
    Decoded,
    /// Replies that are not taken yet.
    Replies,
    /// Uploads that are not registered yet.
    Uploads,
    /// Registered polytopes and polyhedra with what is cached about them.
    Polytopes,
    /// Sessions with everything they keep.
    Sessions,
    /// Questions and registrations in work.
    Work,
    /// Registered robots with their parts.
    Robots,
    /// Cells of robots that stay built between calls.
    Cells,
    /// Names of polytopes.
    Aliases,
}

impl MemoryKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Calls,
        Self::Receiving,
        Self::Decoded,
        Self::Replies,
        Self::Uploads,
        Self::Polytopes,
        Self::Sessions,
        Self::Work,
        Self::Robots,
        Self::Cells,
        Self::Aliases,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Receiving => "receiving",
            Self::Decoded => "decoded",
            Self::Replies => "replies",
            Self::Uploads => "uploads",
            Self::Polytopes => "polytopes",
            Self::Sessions => "sessions",
            Self::Work => "work",
            Self::Robots => "robots",
            Self::Cells => "cells",
            Self::Aliases => "aliases",
        }
    }
}

/// What an open call takes beside messages larger than this: the state of its HTTP/2 stream, its
/// handler, and small messages, which are not counted one by one.
pub const CALL_BYTES: u64 = 16 << 10;

/// What a connection takes: buffers of the socket's and of HTTP/2's bytes, and the streams that it
/// remembers for some seconds after their end.
pub const CONNECTION_BYTES: u64 = 64 << 10;

/// A connection that holds no more than this is not asked what its principal holds.
const RATION_BYTES: u64 = 1 << 20;

/// So much has a connection even when more is held than there is: itself, and four small calls.
const SPARE_BYTES: u64 = CONNECTION_BYTES + 4 * CALL_BYTES;

/// The part of all memory that is kept for rations of connections: one in so many. As much again is
/// kept for what outlives connections.
const RATIONS_PART: u64 = 16;

/// For so many principals there is a ration of that: whoever has no more gets it, whatever the
/// others hold.
const LASTING_RATIONS: u64 = 256;

/// Every part of memory that is in use.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<BudgetState>);

#[derive(Debug)]
struct BudgetState {
    limit: Limit,
    total: AtomicU64,
    kinds: [AtomicU64; MemoryKind::ALL.len()],
    refusals: AtomicU64,
    principals: Mutex<HashMap<Principal, Weak<Holder>>>,
    /// Messages that have not come whole.
    unfinished: Mutex<Vec<Arc<Unfinished>>>,
}

/// Who holds memory: a principal, or one of its connections; cheap to clone.
#[derive(Clone, Debug)]
pub struct MemoryQuota(Arc<Owner>);

#[derive(Debug)]
struct Owner {
    books: Arc<BudgetState>,
    principal: Principal,
    /// What the principal holds.
    held: Arc<Holder>,
    /// None: what is held here outlives connections.
    connection: Option<Arc<Holder>>,
}

#[derive(Debug, Default)]
struct Holder {
    bytes: AtomicU64,
    /// What of these outlives connections.
    lasting: AtomicU64,
    /// What of these is held of each kind.
    kinds: [AtomicU64; MemoryKind::ALL.len()],
    /// How many reservations there are of each kind.
    counts: [AtomicU64; MemoryKind::ALL.len()],
}

/// Bytes that are in use, until it is dropped.
#[derive(Debug)]
pub struct Reservation {
    quota: MemoryQuota,
    kind: MemoryKind,
    bytes: u64,
}

/// There is not enough memory for this; the limit is `memory_bytes_max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's memory is in use")]
pub struct OutOfMemory(pub Limit);

impl MemoryBudget {
    /// With so many bytes to give.
    pub fn new(limit: Limit) -> Self {
        Self(Arc::new(BudgetState {
            limit,
            total: AtomicU64::default(),
            kinds: Default::default(),
            refusals: AtomicU64::default(),
            principals: Mutex::default(),
            unfinished: Mutex::default(),
        }))
    }

    /// The quota of a new connection.
    pub fn connection(&self, principal: impl Into<Principal>) -> MemoryQuota {
        self.quota(principal.into(), Some(Arc::default()))
    }

    fn quota(&self, principal: Principal, connection: Option<Arc<Holder>>) -> MemoryQuota {
        let books = self.0.clone();
        MemoryQuota(Arc::new(Owner { principal, held: books.holder(principal), books, connection }))
    }

    /// What is in use for this.
    pub fn used(&self, kind: MemoryKind) -> u64 {
        self.0.kinds[kind as usize].load(Ordering::Relaxed)
    }

    /// What is in use in all.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// How often there was not enough.
    pub fn refusals(&self) -> u64 {
        self.0.refusals.load(Ordering::Relaxed)
    }
}

impl BudgetState {
    /// Where what a principal holds is counted.
    fn holder(&self, principal: Principal) -> Arc<Holder> {
        let mut known = self.principals.lock().expect("nothing panics while holding it");
        if let Some(holder) = known.get(&principal).and_then(Weak::upgrade) {
            return holder;
        }
        known.retain(|_, holder| holder.strong_count() > 0);
        let new = Arc::<Holder>::default();
        known.insert(principal, Arc::downgrade(&new));
        new
    }
}

impl MemoryQuota {
    /// A quota of a memory budget of its own without bounds, for tests and for work that no client
    /// asked for.
    pub fn of_nobody() -> Self {
        let limits = super::settings::Limits { memory_bytes_max: u64::MAX, ..Default::default() };
        MemoryBudget::new(limits.memory_bytes_max()).connection(Principal::NOBODY)
    }

    /// For what outlives the connection.
    #[must_use]
    pub fn lasting(&self) -> Self {
        let Owner { books, principal, held, .. } = &*self.0;
        let (books, held) = (books.clone(), held.clone());
        Self(Arc::new(Owner { books, principal: *principal, held, connection: None }))
    }

    /// For a call that this principal makes over the connection.
    #[must_use]
    pub fn for_call_of(&self, principal: Principal) -> Self {
        let Owner { books, connection, .. } = &*self.0;
        if principal == self.0.principal {
            return self.clone();
        }
        MemoryBudget(books.clone()).quota(principal, connection.clone())
    }

    /// Whether both are of the same principal.
    pub fn is_of_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.held, &other.0.held)
    }

    /// Takes so many bytes, or says that there are not enough.
    pub fn reserve(&self, kind: MemoryKind, bytes: u64) -> Result<Reservation, OutOfMemory> {
        let mut reservation = self.nothing(kind);
        reservation.grow_to(bytes)?;
        Ok(reservation)
    }

    /// Takes so many bytes whether there are enough or not: for what is there already.
    pub fn hold(&self, kind: MemoryKind, bytes: u64) -> Reservation {
        let mut reservation = self.nothing(kind);
        reservation.set(bytes);
        reservation
    }

    fn nothing(&self, kind: MemoryKind) -> Reservation {
        self.0.held.counts[kind as usize].fetch_add(1, Ordering::Relaxed);
        Reservation { quota: self.clone(), kind, bytes: 0 }
    }

    /// Whether the principal may hold one more thing of a kind, of which there are `taken` on the
    /// whole server and may be `limit`.
    pub fn may_have_another(&self, kind: MemoryKind, taken: u64, limit: u64) -> bool {
        self.places_for(kind, taken, limit) > 0
    }

    /// How many more things of a kind the principal may hold.
    pub fn places_for(&self, kind: MemoryKind, taken: u64, limit: u64) -> u64 {
        let own = self.0.held.counts[kind as usize].load(Ordering::Relaxed);
        share::places(own, taken, limit)
    }

    /// How many bytes more the principal may hold of a kind that has a `limit` of its own, of which
    /// `taken` are held on the whole server: it leaves room for others there, too.
    pub fn room_for(&self, kind: MemoryKind, taken: u64, limit: u64) -> u64 {
        let own = self.0.held.kinds[kind as usize].load(Ordering::Relaxed);
        share::bytes(own, taken, limit)
    }

    /// Whether what was just added is within the bounds.
    fn is_within(&self, kind: MemoryKind) -> bool {
        let Owner { books, held: all, connection, .. } = &*self.0;
        let (max, total) = (books.limit.value, books.total.load(Ordering::Relaxed));
        let held = |holder: &Holder| holder.bytes.load(Ordering::Relaxed);
        let own = connection.as_deref().map_or(u64::MAX, held);
        let kept = max / RATIONS_PART;
        let lasting = all.lasting.load(Ordering::Relaxed);
        let calls = books.kinds[MemoryKind::Calls as usize].load(Ordering::Relaxed);
        let Some(free) = max.checked_sub(total) else {
            // More is held than there is, see `hold`; that keeps nobody from a small call.
            return own <= SPARE_BYTES && calls <= kept;
        };
        let is_small = own <= RATION_BYTES;
        let is_shared = free >= 2 * kept && held(all) <= free.saturating_mul(SHARE);
        let lasts_little = connection.is_none() && lasting <= kept / LASTING_RATIONS;
        // Streams that stall have all that their principal may, and health is asked beside them.
        let is_call = kind == MemoryKind::Calls && calls <= kept / 2;
        is_small || is_shared || (lasts_little || is_call) && free >= kept
    }

    /// Where what is kept for rations is being used up, unfinished messages of others give way.
    fn make_room(&self) {
        let Owner { books, held, .. } = &*self.0;
        let (max, total) = (books.limit.value, books.total.load(Ordering::Relaxed));
        let missing = (max / RATIONS_PART).saturating_sub(max.saturating_sub(total));
        if missing > 0 {
            books.make_room(held.bytes.load(Ordering::Relaxed), missing);
        }
    }

    fn add(&self, kind: MemoryKind, bytes: u64) {
        for counter in self.counters(kind) {
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn subtract(&self, kind: MemoryKind, bytes: u64) {
        for counter in self.counters(kind) {
            counter.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn counters(&self, kind: MemoryKind) -> impl Iterator<Item = &AtomicU64> {
        let Owner { books, held, connection, .. } = &*self.0;
        let of_kind = &held.kinds[kind as usize];
        let all = [&books.total, &books.kinds[kind as usize], &held.bytes, of_kind];
        let own = connection.as_ref().map_or(&held.lasting, |own| &own.bytes);
        all.into_iter().chain([own])
    }
}

impl Reservation {
    /// Bytes that are in use.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is of the same principal as this quota.
    pub fn is_of(&self, quota: &MemoryQuota) -> bool {
        Arc::ptr_eq(&self.quota.0.held, &quota.0.held)
    }

    /// Makes it so many bytes if it is fewer, or says that there are not enough and changes
    /// nothing.
    pub fn grow_to(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let books = &self.quota.0.books;
        if more > books.limit.value {
            books.refusals.fetch_add(1, Ordering::Relaxed);
            return Err(OutOfMemory(books.limit));
        }
        self.quota.add(self.kind, more);
        if self.quota.is_within(self.kind) {
            self.bytes = bytes;
            self.quota.make_room();
            return Ok(());
        }
        self.quota.subtract(self.kind, more);
        if more <= RATION_BYTES {
            self.quota.make_room();
        }
        books.refusals.fetch_add(1, Ordering::Relaxed);
        Err(OutOfMemory(books.limit))
    }

    /// Makes it so many bytes whether there are enough or not: for what is there already. Until
    /// some are given back, others get nothing.
    pub fn set(&mut self, bytes: u64) {
        if bytes > self.bytes {
            self.quota.add(self.kind, bytes - self.bytes);
        } else {
            self.quota.subtract(self.kind, self.bytes - bytes);
        }
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.set(0);
        let held = &self.quota.0.held;
        held.counts[self.kind as usize].fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
