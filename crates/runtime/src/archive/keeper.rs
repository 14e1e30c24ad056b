//! Registrations that outlive the process, while the server runs: what is written before a call is
//! answered, and what is read when somebody needs it.
//!
//! What there is, is known from the beginning, and read from the store then: ids, aliases, and how
//! much each takes. Bodies and robots are read when they are asked for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, UNIX_EPOCH};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::flights::{Crowded, Flights, Needed, may_wait};
use super::records::{self, AliasRow, BodyRow, RobotRow};
use super::shared::{PartKind, PartNews, SharedArchive, TenantPart, asked_at};
use super::{Archive, ArchiveError, Change, Key, Table};
use crate::clock::Clock;
use crate::deadline::{self, Deadline};
use crate::memory::{MemoryBudget, MemoryKind, MemoryQuota, OutOfMemory, Reservation};
use crate::metrics::Times;
use crate::principal::Principal;
use crate::sessions::owner::KeyDigest;
use crate::settings::{Limit, Limits};
use clearance_bodies::ContentId;
use clearance_geometry::until::Until;

/// What a row takes in memory of which nothing else is there, bytes.
const ROW_BYTES: u64 = 512;

/// So long after it was deleted a registration goes from the store.
const TOMBSTONE: Duration = Duration::from_secs(24 * 3600);

/// So long whoever registers or deletes looks again at what other servers have changed meanwhile.
const OVERTAKEN_FOR: Duration = Duration::from_secs(20);

/// Whether what another server was faster with is tried again, after a moment.
pub(crate) fn is_tried_again(begin: Instant) -> bool {
    std::thread::sleep(Duration::from_millis(1));
    begin.elapsed() < OVERTAKEN_FOR
}

/// So many are collected in one transaction.
const COLLECTED_AT_ONCE: usize = 64;

/// So many calls that write are at the disk at a time.
const WRITERS_MAX: usize = 16;

/// Why something was not registered, or not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    /// A limit is reached.
    #[error("the store is full: {} is {}", .0.name, .0.value)]
    Full(Limit),
    /// The store does not answer.
    #[error("the store does not answer")]
    Down,
    /// Another server has changed what was looked at: to be looked at again.
    #[error("another server was faster")]
    Overtaken,
}

/// Why something that is registered was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// There is no memory for it.
    #[error("{0}")]
    Memory(#[from] OutOfMemory),
    /// The store does not answer.
    #[error("the store does not answer")]
    Down,
    /// Too many are being read.
    #[error("too many registrations are being read")]
    Crowded,
    /// The time of the call was over.
    #[error("the time was over before it was read")]
    Late,
}

impl From<Crowded> for Unread {
    fn from(_: Crowded) -> Self {
        Self::Crowded
    }
}

/// What was done with the store.
#[derive(Debug, Default)]
pub struct KeeperMetrics {
    /// Times that something was written.
    pub writes: AtomicU64,
    /// The times that writing took.
    pub write_times: Times,
    /// Bodies and robots that were read.
    pub loads: AtomicU64,
    /// What these took, with building them.
    pub load_times: Times,
    /// Times that it did not answer.
    pub failures: AtomicU64,
    /// Rows that were not what was written there.
    pub set_aside: AtomicU64,
    /// Deleted registrations that are gone from it.
    pub collected: AtomicU64,
}

/// What a keeper needs.
#[derive(Debug)]
pub struct KeeperParts {
    /// Where the rows are.
    pub archive: Arc<dyn Archive>,
    /// From which everything takes its memory.
    pub memory_budget: MemoryBudget,
    /// The limits.
    pub limits: Limits,
    /// Says when something was deleted.
    pub clock: Arc<dyn Clock>,
}

/// Registrations of all tenants.
#[derive(Debug)]
pub struct Keeper {
    parts: KeeperParts,
    quota: MemoryQuota,
    flights: Flights,
    metrics: KeeperMetrics,
    writers: Arc<Semaphore>,
    runtime: Option<Handle>,
    /// Of all contents and sources.
    bytes: AtomicU64,
    is_down: AtomicBool,
    _cache: Reservation,
    /// For what a shared archive knows of all rows.
    known: Mutex<Reservation>,
}

/// How many have read what other servers change.
static READERS: AtomicU64 = AtomicU64::new(0);

/// What one tenant has in the store.
#[derive(Debug, Default)]
pub struct ShelfIndex {
    /// Its bodies.
    pub bodies: BTreeMap<ContentId, BodyRow>,
    /// Its aliases, each of a body that is there.
    pub aliases: BTreeMap<String, KeptAlias>,
    /// Its robots.
    pub robots: BTreeMap<String, RobotRow>,
}

/// What an alias names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptAlias {
    /// The body.
    pub id: ContentId,
    /// The key that it belongs to.
    pub owner: Option<KeyDigest>,
}

/// The part of one tenant.
#[derive(Debug)]
pub struct Shelf {
    keeper: Arc<Keeper>,
    tenant: String,
    /// Among all that read what other servers have changed.
    reader: u64,
    /// Whoever changes something has it from the look at what there is until it is written.
    turn: Mutex<()>,
    _index: Reservation,
}

impl Keeper {
    /// What is in the archive, by tenant. Rows that are not what was written there are set aside.
    pub fn open(
        parts: KeeperParts,
    ) -> Result<(Arc<Self>, BTreeMap<String, ShelfIndex>), ArchiveError> {
        let quota = parts.memory_budget.connection(Principal::NOBODY).lasting();
        let cache = quota.hold(MemoryKind::Work, super::in_file::CACHE_BYTES as u64);
        let known = Mutex::new(quota.hold(MemoryKind::Polytopes, 0));
        let keeper = Self {
            quota,
            flights: Flights::default(),
            metrics: KeeperMetrics::default(),
            writers: Arc::new(Semaphore::new(WRITERS_MAX)),
            runtime: Handle::try_current().ok(),
            bytes: AtomicU64::new(0),
            is_down: AtomicBool::new(false),
            _cache: cache,
            known,
            parts,
        };
        let mut index = keeper.read_index()?;
        if keeper.shared().is_some() {
            keeper.account();
            // By the time that a tenant calls others may have changed it: it is read then.
            index.clear();
        }
        Ok((Arc::new(keeper), index))
    }

    fn read_index(&self) -> Result<BTreeMap<String, ShelfIndex>, ArchiveError> {
        let (mut index, mut damaged, mut bytes) =
            (BTreeMap::<String, ShelfIndex>::new(), Vec::new(), 0_u64);
        let archive = &self.parts.archive;
        archive.each(Table::Bodies, &mut |key, row| {
            let Some(row) = records::read::<BodyRow>(&key, row) else { return damaged.push(key) };
            bytes = bytes.saturating_add(row.content_bytes);
            // What another version has named is left as it is.
            if let (None, Ok(id)) = (row.deleted, key.name.parse()) {
                index.entry(key.tenant).or_default().bodies.insert(id, row);
            }
        })?;
        archive.each(Table::Robots, &mut |key, row| {
            let Some(row) = records::read::<RobotRow>(&key, row) else { return damaged.push(key) };
            bytes = bytes.saturating_add(row.source_bytes);
            if row.deleted.is_none() {
                index.entry(key.tenant).or_default().robots.insert(key.name, row);
            }
        })?;
        archive.each(Table::Aliases, &mut |key, row| {
            let Some(alias) = read_alias(&key, row) else { return damaged.push(key) };
            let of = index.entry(key.tenant.clone()).or_default();
            // What names nothing would take the alias from whoever registers again.
            if !of.bodies.contains_key(&alias.id) {
                return damaged.push(key);
            }
            of.aliases.insert(key.name, alias);
        })?;
        self.bytes.store(bytes, Ordering::Relaxed);
        for key in damaged {
            match self.set_aside(&[key]) {
                // Another server has written it anew meanwhile.
                Ok(()) | Err(ArchiveError::Conflict(_) | ArchiveError::Overtaken(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(index)
    }

    /// Moves rows out of the way, as they are. Somebody should look at them.
    fn set_aside(&self, keys: &[Key]) -> Result<(), ArchiveError> {
        let mut changes = Vec::new();
        for key in keys {
            if let Some(row) = self.parts.archive.read(key)? {
                // What somebody else has written anew meanwhile stays.
                changes.push(Change::Expect(key.clone(), Some(row.clone())));
                let name = format!("{}/{}", key.table.name(), key.name);
                changes.push(Change::Put(Key::new(Table::Aside, &key.tenant, name), row));
                changes.push(Change::Remove(key.clone()));
            }
        }
        self.parts.archive.write(&changes)?;
        self.metrics.set_aside.fetch_add(1, Ordering::Relaxed);
        if let Some(key) = keys.first() {
            let (table, name) = (key.table.name(), key.name.as_str());
            tracing::error!(table, name, "a registration in the store is damaged, and set aside");
        }
        Ok(())
    }

    /// Writes it, if there is room.
    fn write(&self, changes: &[Change]) -> Result<(), NotKept> {
        let more = changes.iter().map(|change| match change {
            Change::Put(key, row) if matches!(key.table, Table::Contents | Table::Sources) => {
                row.len() as u64
            }
            Change::Put(..) | Change::Expect(..) | Change::Remove(_) | Change::Seen(..) => 0,
        });
        let (more, limit) = (more.sum::<u64>(), self.parts.limits.store_bytes_max());
        let bytes = self.bytes().saturating_add(more);
        if more > 0 && bytes > limit.value {
            return Err(NotKept::Full(limit));
        }
        let begin = Instant::now();
        let written = may_wait(|| self.parts.archive.write(changes));
        self.answered(written).map_err(|error| match error {
            ArchiveError::Down(_) => NotKept::Down,
            // Of what nobody else writes to, this is what another version has left.
            ArchiveError::Conflict(_) | ArchiveError::Overtaken(_) if !self.is_shared() => {
                NotKept::Down
            }
            ArchiveError::Conflict(_) | ArchiveError::Overtaken(_) => NotKept::Overtaken,
        })?;
        self.bytes.fetch_add(more, Ordering::Relaxed);
        self.metrics.writes.fetch_add(1, Ordering::Relaxed);
        self.metrics.write_times.add(begin.elapsed());
        self.account();
        Ok(())
    }

    /// The archive if other servers write to it, too.
    fn shared(&self) -> Option<&dyn SharedArchive> {
        self.parts.archive.shared()
    }

    /// Brings what others have written, if the archive is shared: whatever was there when the call
    /// began that is answered. Where the store does not answer, what is known goes on.
    pub fn look(&self) {
        self.look_since(asked_at());
    }

    /// Brings what others had written by then.
    fn look_since(&self, since: Instant) {
        let Some(shared) = self.shared() else { return };
        // Whoever looks sees for the others, whose failures are no more than this one's.
        let _ = self.answered(may_wait(|| shared.look(since)));
        self.account();
    }

    /// Whether other servers write there, too.
    pub fn is_shared(&self) -> bool {
        self.shared().is_some()
    }

    /// Takes memory for what is known of rows, or gives it back.
    fn account(&self) {
        if let Some(shared) = self.shared() {
            let mut known = self.known.lock().expect("nothing panics while holding it");
            // Once in the archive, and once in what is made of it here.
            known.set(2 * shared.memory_bytes());
        }
    }

    /// Notes whether the store answers.
    fn answered<T>(&self, answer: Result<T, ArchiveError>) -> Result<T, ArchiveError> {
        let is_down = matches!(answer, Err(ArchiveError::Down(_)));
        let was_down = self.is_down.swap(is_down, Ordering::Relaxed);
        if let Err(error @ ArchiveError::Down(_)) = &answer {
            self.metrics.failures.fetch_add(1, Ordering::Relaxed);
            // Told once: while it is down every call asks.
            if !was_down {
                tracing::warn!(%error, "the store");
            }
        }
        answer
    }

    /// Forgets what was deleted a day ago; says how many.
    pub fn collect(&self) -> Result<usize, ArchiveError> {
        self.look();
        let now = self.now();
        let (mut found, mut bytes) = (Vec::new(), 0_u64);
        let mut look = |key: Key, row: &[u8], [deleted, size]: [Option<u64>; 2]| {
            bytes = bytes.saturating_add(size.unwrap_or(0));
            let is_old = |deleted: u64| now.saturating_sub(deleted) >= TOMBSTONE.as_secs();
            if deleted.is_some_and(is_old) {
                found.push([Change::Expect(key.clone(), Some(row.to_vec())), Change::Remove(key)]);
            }
        };
        self.parts.archive.each(Table::Bodies, &mut |key, row| {
            if let Some(read) = records::read::<BodyRow>(&key, row) {
                look(key, row, [read.deleted, Some(read.content_bytes)]);
            }
        })?;
        self.parts.archive.each(Table::Robots, &mut |key, row| {
            if let Some(read) = records::read::<RobotRow>(&key, row) {
                look(key, row, [read.deleted, Some(read.source_bytes)]);
            }
        })?;
        // What is written meanwhile is counted the next time.
        self.bytes.store(bytes, Ordering::Relaxed);
        let mut collected = 0;
        for some in found.chunks(COLLECTED_AT_ONCE) {
            collected += self.forget(some)?;
        }
        self.metrics.collected.fetch_add(collected as u64, Ordering::Relaxed);
        if let Some(shared) = self.shared() {
            shared.tidy()?;
        }
        Ok(collected)
    }

    fn forget(&self, found: &[[Change; 2]]) -> Result<usize, ArchiveError> {
        let with_content = |[expected, remove]: &[Change; 2]| {
            let Change::Remove(key) = remove else { return Vec::new() };
            let of = if key.table == Table::Bodies { Table::Contents } else { Table::Sources };
            let content = Change::Remove(Key { table: of, ..key.clone() });
            vec![expected.clone(), remove.clone(), content]
        };
        let changes: Vec<Change> = found.iter().flat_map(with_content).collect();
        match self.parts.archive.write(&changes) {
            Ok(()) => Ok(found.len()),
            // Somebody has registered one of them again meanwhile: the others go one by one.
            Err(ArchiveError::Conflict(_) | ArchiveError::Overtaken(_)) if found.len() > 1 => {
                found.iter().map(|one| self.forget(std::slice::from_ref(one))).sum()
            }
            Err(ArchiveError::Conflict(_) | ArchiveError::Overtaken(_)) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Lets go of the store: the server has ended.
    pub fn close(&self) {
        self.parts.archive.close();
    }

    /// What was done with it.
    pub fn metrics(&self) -> &KeeperMetrics {
        &self.metrics
    }

    /// Bytes of all that is registered, and of what was deleted within a day.
    pub fn bytes(&self) -> u64 {
        let own = || self.bytes.load(Ordering::Relaxed);
        self.shared().map_or_else(own, SharedArchive::kept_bytes)
    }

    /// How many there may be.
    pub fn bytes_max(&self) -> u64 {
        self.parts.limits.store_bytes_max
    }

    /// Whether it did not answer when it was asked last.
    pub fn is_down(&self) -> bool {
        self.is_down.load(Ordering::Relaxed)
    }

    /// Places for calls that write.
    pub fn writers(&self) -> Arc<Semaphore> {
        self.writers.clone()
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.parts.limits
    }

    /// From which what is read takes its memory.
    pub(crate) fn quota(&self) -> &MemoryQuota {
        &self.quota
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        let wall = self.parts.clock.wall().duration_since(UNIX_EPOCH);
        wall.map_or(0, |since| since.as_secs())
    }
}

impl Shelf {
    /// The part of this tenant, of whom so much is there.
    pub fn new(keeper: Arc<Keeper>, tenant: &str, index: &ShelfIndex) -> Self {
        let rows = index.bodies.len() + index.aliases.len() + index.robots.len();
        let memory = keeper.quota.hold(MemoryKind::Polytopes, ROW_BYTES * rows as u64);
        let reader = READERS.fetch_add(1, Ordering::Relaxed);
        let tenant = tenant.to_owned();
        Self { keeper, tenant, reader, turn: Mutex::default(), _index: memory }
    }

    /// The keeper that all tenants share.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// The turn to change something.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The row of this name.
    pub(crate) fn key(&self, table: Table, name: impl std::fmt::Display) -> Key {
        Key::new(table, &self.tenant, name)
    }

    /// Writes it before anybody is told.
    pub(crate) fn write(&self, changes: &[Change]) -> Result<(), NotKept> {
        if changes.is_empty() { Ok(()) } else { self.keeper.write(changes) }
    }

    /// What a row says.
    pub(crate) fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, Unread> {
        let keeper = &self.keeper;
        keeper.answered(keeper.parts.archive.read(key)).map_err(|_| Unread::Down)
    }

    /// Moves rows out of the way.
    pub(crate) fn set_aside(&self, keys: &[Key]) -> Result<(), Unread> {
        self.keeper.answered(self.keeper.set_aside(keys)).map_err(|error| match error {
            ArchiveError::Down(_) => Unread::Down,
            // Somebody has written it anew: whoever comes again finds that.
            ArchiveError::Conflict(_) | ArchiveError::Overtaken(_) => Unread::Crowded,
        })
    }

    /// Brings what others have written, if the store is shared.
    pub(crate) fn look(&self) {
        self.keeper.look();
    }

    /// Brings what others had written by then, or when the call began that is answered.
    pub(crate) fn look_since(&self, since: Option<Instant>) {
        self.keeper.look_since(since.unwrap_or_else(asked_at));
    }

    /// What has changed of a part since this was asked last, as far as it was brought; none: nobody
    /// else changes anything. Whoever asks has what it changes locked until it has.
    pub(crate) fn news(&self, kind: PartKind) -> Option<PartNews> {
        Some(self.keeper.shared()?.news(&self.part(kind), self.reader))
    }

    /// How many changes there have been, as far as they were brought; none: nobody else makes any.
    pub(crate) fn sequence(&self) -> Option<u64> {
        self.keeper.shared().map(SharedArchive::sequence)
    }

    /// What belongs together, of this tenant.
    pub(crate) fn part(&self, kind: PartKind) -> TenantPart {
        TenantPart { tenant: self.tenant.clone(), kind }
    }

    /// What a row of a shared store says that is no content; none: it is not there, or it is not
    /// what was written.
    pub(crate) fn known<R: serde::de::DeserializeOwned>(&self, key: &Key) -> Option<R> {
        records::read(key, &self.keeper.shared()?.known_row(key)?)
    }

    /// What an alias of a shared store names.
    pub(crate) fn known_alias(&self, key: &Key) -> Option<KeptAlias> {
        read_alias(key, &self.keeper.shared()?.known_row(key)?)
    }

    /// What `known` finds, or else what `load` makes of the store, within the time that the call
    /// still has.
    pub(crate) fn load<T>(
        &self,
        key: &Key,
        known: impl Fn() -> Option<T>,
        load: impl FnOnce(&Until) -> Result<T, Unread>,
    ) -> Result<T, Unread> {
        let keeper = &self.keeper;
        let most = Duration::from_secs(keeper.limits().call_seconds_max);
        let time = deadline::time_of_call().map_or(most, |left| left.min(most));
        if time.is_zero() {
            return Err(Unread::Late);
        }
        let needed = Needed { key, until: Instant::now() + time };
        may_wait(|| {
            keeper.flights.one(needed, known, || {
                let begin = Instant::now();
                // Timers are the runtime's; threads that compute ask it from outside.
                let _runtime = keeper.runtime.as_ref().map(Handle::enter);
                let deadline = keeper.runtime.as_ref().map(|_| Deadline::after(time));
                let until = deadline.as_ref().map(|deadline| deadline.until().clone());
                let loaded = load(until.as_deref().unwrap_or(Until::never()));
                keeper.metrics.loads.fetch_add(1, Ordering::Relaxed);
                keeper.metrics.load_times.add(begin.elapsed());
                loaded
            })
        })
    }
}

/// The row of an alias.
pub(crate) fn alias_row(key: &Key, alias: KeptAlias) -> Vec<u8> {
    let owner = alias.owner.map(|owner| owner.to_hex());
    records::written(key, &AliasRow { id: alias.id.to_string(), owner })
}

fn read_alias(key: &Key, row: &[u8]) -> Option<KeptAlias> {
    let AliasRow { id, owner } = records::read(key, row)?;
    let owner = match owner {
        Some(hex) => Some(KeyDigest::from_hex(&hex)?),
        None => None,
    };
    Some(KeptAlias { id: id.parse().ok()?, owner })
}
