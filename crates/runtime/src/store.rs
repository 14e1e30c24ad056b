//! Registered bodies, in memory: named by content, shared, counted against limits. Where a store
//! keeps them beyond the process, what is not in memory is read when somebody needs it.

mod kept;
mod named;
mod page;
pub(super) mod paid;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use dashmap::DashMap;

use self::named::NamedByAlias;
pub use self::page::StoredPage;
use self::paid::PaidMemory;
use self::together::WaitingRoom;
use super::archive::keeper::{NotKept, Shelf, Unread, is_tried_again};
use super::archive::records::BodyRow;
use super::memory::{MemoryKind, MemoryQuota, OutOfMemory, Reservation};
use super::sessions::owner::KeyDigest;
use super::settings::{Limit, Limits};
use clearance_bodies::kinds::Figures;
use clearance_bodies::{Body, ContentId, Tables};
use clearance_geometry::effort::{Effort, Stopped};

/// A registered body; shared with the scenes and questions that use it.
#[derive(Debug)]
pub struct Stored {
    /// The id that its content has.
    pub id: ContentId,
    /// The body itself.
    pub body: Body,
    /// What was found out about it when it was registered.
    pub figures: Figures,
    /// Memory it takes as it is registered, estimated: without tables that methods have built of it
    /// on first use.
    pub memory_bytes: u64,
    memory: Arc<PaidMemory>,
    uses: AtomicU64,
}

impl Stored {
    /// A body that is not registered yet. For large ones the figures take seconds: they are given
    /// up beyond the deadline.
    pub fn new(mut body: Body, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let id = body.id();
        body.prepare(effort)?;
        let figures = body.figures(effort)?;
        let memory_bytes = bytes_registered(&body);
        let memory = PaidMemory::of(&mut body);
        Ok(Self { id, body, figures, memory_bytes, memory, uses: AtomicU64::new(0) })
    }

    /// Takes its memory from the memory budget, until it is dropped.
    pub fn pay(&mut self, quota: &MemoryQuota) -> Result<(), OutOfMemory> {
        let memory = quota.lasting().reserve(MemoryKind::Polytopes, self.memory_bytes)?;
        self.memory.begin(memory);
        Ok(())
    }

    /// Memory that it takes now, with the tables that are built of it.
    pub fn bytes_now(&self) -> u64 {
        self.memory_bytes + self.memory.tables()
    }

    /// Memory that these tables of it would take beyond what is built already, at most.
    pub fn bytes_to_build(&self, tables: Tables) -> u64 {
        self.body.bytes_to_build(tables, &self.figures)
    }

    /// How many bodies of sessions use it.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }
}

/// Memory of the parts of an entry that do not grow with the body.
const FIXED_BYTES: u64 = 1024;

/// Memory that a body takes as it is registered, estimated.
fn bytes_registered(body: &Body) -> u64 {
    FIXED_BYTES + body.bytes()
}

/// Memory that a body takes, estimated, once methods of every kind have been used on it: what
/// h_walk, cd_dual or prism build on first use, the hierarchy with its features and the surface, is
/// counted from the start. Given up beyond the deadline.
pub fn bytes_at_most(body: &Body, effort: &Effort<'_>) -> Result<u64, Stopped> {
    body.prepare(effort)?;
    let figures = body.figures(effort)?;
    let of = |tables| body.bytes_to_build(tables, &figures);
    let tables = of(Tables::Features) + of(Tables::Surface) + of(Tables::Faces);
    Ok(bytes_registered(body) + tables)
}

/// A polytope that cannot be deleted while this or a clone of it lives: together they are one use.
#[derive(Clone, Debug)]
pub struct Lease(Arc<Use>);

/// Counted by [`Stored::uses`] while it lives.
#[derive(Debug)]
struct Use(Arc<Stored>);

impl Lease {
    /// The body that is held.
    pub fn stored(&self) -> &Arc<Stored> {
        &self.0.0
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.0.uses.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One polytope to be registered.
#[derive(Debug)]
pub struct NewPolytope {
    /// The body, with what was found out about it.
    pub stored: Stored,
    /// A name for people.
    pub alias: Option<String>,
    /// Whether the alias may be taken from another polytope.
    pub move_alias: bool,
    /// The key that was brought: of whoever has claimed the alias, or to claim it with.
    pub alias_key: Option<KeyDigest>,
    /// The key that an alias belongs to that nobody had and that is not claimed with one; none:
    /// such an alias is open to everybody.
    pub made_key: Option<KeyDigest>,
}

/// What became of a polytope to be registered.
#[derive(Clone, Debug)]
pub struct Registered {
    /// As it is registered now.
    pub stored: Arc<Stored>,
    /// Whether it was there before.
    pub already_registered: bool,
    /// Whether its alias is new and belongs to the key that was made for it.
    pub took_made_key: bool,
}

/// Why nothing was registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// An alias names another polytope.
    #[error("the alias {alias:?} names another polytope, {owner}")]
    AliasTaken {
        /// Index of the polytope to be registered.
        index: usize,
        /// The alias that was asked for.
        alias: String,
        /// The polytope that has it.
        owner: ContentId,
    },
    /// Whoever claimed the alias did so with another key.
    #[error("the alias {alias:?} was claimed with a key that was not brought")]
    AliasClaimed {
        /// Index of the polytope to be registered.
        index: usize,
        /// The alias that was asked for.
        alias: String,
    },
    /// A polytope would have more aliases of one principal than allowed.
    #[error("the polytope would have more than {} aliases of this client", limit.value)]
    TooManyAliases {
        /// Index of the polytope to be registered.
        index: usize,
        /// The limit that would be exceeded.
        limit: Limit,
    },
    /// The store is full.
    #[error("the store is full: {} is {}", .0.name, .0.value)]
    Full(Limit),
    /// The store does not answer.
    #[error("the store does not answer")]
    Down,
}

impl From<NotKept> for RegisterError {
    fn from(why: NotKept) -> Self {
        match why {
            NotKept::Full(limit) => Self::Full(limit),
            NotKept::Down | NotKept::Overtaken => Self::Down,
        }
    }
}

/// Why a polytope was not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteError {
    /// It is not there.
    #[error("there is no such polytope")]
    Unknown,
    /// An alias of it was claimed with a key that was not brought.
    #[error("an alias of it was claimed with a key that was not brought")]
    Claimed,
    /// Sessions use it.
    #[error("{uses} bodies of open sessions use the polytope")]
    InUse {
        /// How many bodies.
        uses: u64,
    },
    /// The store does not answer.
    #[error("the store does not answer")]
    Down,
}

/// Why a polytope was not deleted yet.
enum NotDeleted {
    For(DeleteError),
    /// Another server has changed something: to be looked at again.
    Overtaken,
}

impl From<DeleteError> for NotDeleted {
    fn from(why: DeleteError) -> Self {
        Self::For(why)
    }
}

impl From<NotKept> for NotDeleted {
    fn from(why: NotKept) -> Self {
        match why {
            NotKept::Overtaken => Self::Overtaken,
            NotKept::Down | NotKept::Full(_) => Self::For(DeleteError::Down),
        }
    }
}

/// All registered polytopes.
#[derive(Debug, Default)]
pub struct PolytopeStore {
    by_id: DashMap<ContentId, Arc<Stored>>,
    by_alias: DashMap<String, NamedByAlias>,
    /// Serialises writers; readers by id or alias do not wait for it.
    index: Mutex<Index>,
    /// Where they outlive the process; none: nowhere.
    shelf: Option<Arc<Shelf>>,
    /// As many changes of the shelf as have been looked at here.
    seen: AtomicU64,
    /// What is to be registered there.
    waiting: WaitingRoom,
}

#[derive(Debug, Default)]
struct Index {
    /// With what they take, from whoever gave them last.
    aliases: BTreeMap<ContentId, BTreeMap<String, Reservation>>,
    memory_bytes: u64,
    /// What is known without reading it of all that the shelf has.
    rows: BTreeMap<ContentId, BodyRow>,
    /// What is being deleted: nobody finds it any more.
    leaving: BTreeSet<ContentId>,
    /// Of the shelf, that all of this is of.
    version: u64,
}

/// What becomes of one polytope that may be registered.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    already_registered: bool,
    /// Whose its alias is then.
    owner: Option<KeyDigest>,
    took_made_key: bool,
}

impl Index {
    /// Whether it is registered.
    fn has(&self, id: &ContentId) -> bool {
        self.aliases.contains_key(id) && !self.leaving.contains(id)
    }
}

impl PolytopeStore {
    /// The body that is registered under an id, if there is one and it can be read.
    pub fn get(&self, id: &ContentId) -> Option<Arc<Stored>> {
        self.find(id).ok().flatten()
    }

    /// Whether a body is registered under an id. Nothing is read for that.
    pub fn knows(&self, id: &ContentId) -> bool {
        self.hear();
        self.by_id.contains_key(id) || self.shelf.is_some() && self.lock().has(id)
    }

    /// The body if it is in memory.
    fn loaded(&self, id: &ContentId) -> Option<Arc<Stored>> {
        self.by_id.get(id).map(|entry| entry.value().clone())
    }

    /// The polytope that an alias names, whichever server has moved it last.
    pub fn resolve(&self, alias: &str) -> Option<ContentId> {
        self.follow();
        // Whoever registers holds it until everything that was written at once is known.
        let _known = self.shelf.as_ref().map(|_| self.lock());
        self.named(alias).map(|named| named.id)
    }

    fn named(&self, alias: &str) -> Option<NamedByAlias> {
        self.by_alias.get(alias).map(|entry| *entry.value())
    }

    /// By id, and kept from deletion.
    pub fn lease(&self, id: &ContentId) -> Result<Option<Lease>, Unread> {
        self.find(id).map(|found| found.and_then(|_| self.lease_loaded(id)))
    }

    fn lease_loaded(&self, id: &ContentId) -> Option<Lease> {
        // The count goes up while the entry is locked, so that deletion sees it or comes before.
        self.by_id.get(id).map(|entry| {
            entry.value().uses.fetch_add(1, Ordering::Relaxed);
            Lease(Arc::new(Use(entry.value().clone())))
        })
    }

    /// Registers all of them, or none; `quota` pays for the aliases.
    pub fn register(
        &self,
        new: Vec<NewPolytope>,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<Vec<Registered>, RegisterError> {
        if let Some(shelf) = &self.shelf {
            return self.register_kept(shelf, new, quota, limits);
        }
        let mut index = self.lock();
        self.check(&index, &new, quota, limits)?;
        let lasting = quota.lasting();
        let paid: Result<Vec<_>, OutOfMemory> =
            new.iter().map(|new| named::paid(new, &lasting)).collect();
        let paid = paid.map_err(|full| RegisterError::Full(full.0))?;
        let outcomes = self.outcomes(&index, &new);
        Ok(self.insert_all(&mut index, new, paid, outcomes))
    }

    fn insert_all(
        &self,
        index: &mut Index,
        new: Vec<NewPolytope>,
        paid: Vec<Option<Reservation>>,
        outcomes: Vec<Outcome>,
    ) -> Vec<Registered> {
        let aliases: Vec<String> = new.iter().filter_map(|new| new.alias.clone()).collect();
        let all = new.into_iter().zip(paid).zip(outcomes);
        let insert = |((new, paid), outcome)| self.insert(index, new, paid, outcome);
        let registered: Vec<_> = all.map(insert).collect();
        // Another server may have changed them again before this one knew that they were written.
        let ids = registered.iter().map(|one| one.stored.id);
        self.confirm(index, ids, aliases);
        registered
    }

    /// What `register` would refuse.
    pub fn validate(
        &self,
        new: &[NewPolytope],
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<(), RegisterError> {
        self.follow();
        self.check(&self.lock(), new, quota, limits)
    }

    /// What becomes of each once all are registered, one after the other.
    fn outcomes(&self, index: &Index, new: &[NewPolytope]) -> Vec<Outcome> {
        let (mut added, mut aliases) = (BTreeSet::new(), BTreeMap::<&str, NamedByAlias>::new());
        let mut outcomes = Vec::with_capacity(new.len());
        for one in new {
            let id = one.stored.id;
            let already_registered = index.has(&id) || !added.insert(id);
            let alias = one.alias.as_deref();
            let known = alias.and_then(|it| aliases.get(it).copied().or_else(|| self.named(it)));
            let owner = one.owner_after(known);
            if let Some(alias) = alias {
                aliases.insert(alias, NamedByAlias { id, owner });
            }
            let took_made_key = alias.is_some() && known.is_none() && one.alias_key.is_none();
            outcomes.push(Outcome { already_registered, owner, took_made_key });
        }
        outcomes
    }

    fn check(
        &self,
        index: &Index,
        new: &[NewPolytope],
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<(), RegisterError> {
        let mut count = index.aliases.len() as u64;
        let mut memory_bytes = index.memory_bytes;
        let mut added = BTreeSet::new();
        let mut aliases: BTreeMap<&str, NamedByAlias> = BTreeMap::new();
        for (i, item) in new.iter().enumerate() {
            let id = item.stored.id;
            if !index.has(&id) && added.insert(id) {
                count += 1;
                memory_bytes += item.stored.memory_bytes;
            }
            let Some(alias) = item.alias.as_deref() else { continue };
            let known = aliases.get(alias).copied().or_else(|| self.named(alias));
            if let Some(known) = known {
                known.may_be_named(i, item, alias)?;
            }
            aliases.insert(alias, NamedByAlias { id, owner: item.owner_after(known) });
            let limit = limits.aliases_per_polytope_max();
            // Those of others do not count: sixteen would be soon taken, and for good.
            let held = index.aliases.get(&id).into_iter().flatten();
            let held = held.filter(|(_, paid)| paid.is_of(quota)).map(|(alias, _)| alias.as_str());
            let asked = aliases.iter().filter(|(_, named)| named.id == id).map(|(alias, _)| *alias);
            if held.chain(asked).collect::<BTreeSet<_>>().len() as u64 > limit.value {
                return Err(RegisterError::TooManyAliases { index: i, limit });
            }
        }
        let held = |alias: &str| {
            let named = self.named(alias)?;
            index.aliases.get(&named.id)?.get(alias)
        };
        let is_another = |alias: &&&str| !held(alias).is_some_and(|paid| paid.is_of(quota));
        let others = aliases.keys().filter(is_another).count() as u64;
        let (kind, limit) = (MemoryKind::Aliases, limits.aliases_max());
        if others > 0 && others > quota.places_for(kind, self.by_alias.len() as u64, limit.value) {
            return Err(RegisterError::Full(limit));
        }
        if count > limits.polytopes_max {
            return Err(RegisterError::Full(limits.polytopes_max()));
        }
        if memory_bytes > limits.polytope_bytes_max {
            return Err(RegisterError::Full(limits.polytope_bytes_max()));
        }
        Ok(())
    }

    fn insert(
        &self,
        index: &mut Index,
        new: NewPolytope,
        paid: Option<Reservation>,
        outcome: Outcome,
    ) -> Registered {
        let id = new.stored.id;
        let Outcome { already_registered, owner, took_made_key } = outcome;
        let is_known = index.has(&id);
        let stored = self.loaded(&id).unwrap_or_else(|| {
            let stored = Arc::new(new.stored);
            if !is_known {
                index.memory_bytes += stored.memory_bytes;
                index.aliases.insert(id, BTreeMap::new());
                if self.shelf.is_some() {
                    index.rows.insert(id, kept::row_of(&stored));
                }
            }
            self.by_id.insert(id, stored.clone());
            stored
        });
        if let Some((alias, paid)) = new.alias.zip(paid) {
            if let Some(before) = self.by_alias.insert(alias.clone(), NamedByAlias { id, owner })
                && let Some(aliases) = index.aliases.get_mut(&before.id)
            {
                aliases.remove(&alias);
            }
            index.aliases.entry(id).or_default().insert(alias, paid);
        }
        Registered { stored, already_registered, took_made_key }
    }

    /// Forgets a polytope and its aliases, each of which is open or was claimed with one of the
    /// keys. Whoever computes with it meanwhile keeps it alive.
    pub fn delete(&self, id: &ContentId, keys: &[KeyDigest]) -> Result<(), DeleteError> {
        let _turn = self.shelf.as_ref().map(|shelf| shelf.turn());
        self.follow();
        let begin = Instant::now();
        loop {
            match self.try_delete(id, keys) {
                Err(NotDeleted::Overtaken) if is_tried_again(begin) => self.hear(),
                Err(NotDeleted::Overtaken) => return Err(DeleteError::Down),
                Err(NotDeleted::For(why)) => return Err(why),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn try_delete(&self, id: &ContentId, keys: &[KeyDigest]) -> Result<(), NotDeleted> {
        let mut index = self.lock();
        let aliases = index.aliases.get(id).into_iter().flatten();
        if !aliases.filter_map(|(alias, _)| self.named(alias)).all(|named| named.opens_to(keys)) {
            return Err(DeleteError::Claimed.into());
        }
        // The entry is locked while its count is looked at; see `lease`.
        let removed = self.by_id.remove_if(id, |_, stored| stored.uses() == 0);
        let removed = removed.map(|(_, stored)| stored);
        if removed.is_none() {
            match self.loaded(id) {
                Some(stored) => return Err(DeleteError::InUse { uses: stored.uses() }.into()),
                None if index.has(id) => {}
                None => return Err(DeleteError::Unknown.into()),
            }
        }
        if let Some(shelf) = &self.shelf {
            index.leaving.insert(*id);
            let changes = self.leaving(&index, shelf, id);
            drop(index);
            let written = shelf.write(&changes);
            index = self.lock();
            index.leaving.remove(id);
            if let Err(why) = written {
                // It is there as before.
                removed.map(|stored| self.by_id.insert(*id, stored));
                return Err(why.into());
            }
        }
        let aliases = index.aliases.get(id).into_iter().flat_map(|held| held.keys()).cloned();
        let aliases: Vec<String> = aliases.collect();
        self.forget(&mut index, id, removed.map(|stored| stored.memory_bytes));
        self.confirm(&mut index, [*id], aliases);
        Ok(())
    }

    /// What is known of a body and its aliases is forgotten.
    fn forget(&self, index: &mut Index, id: &ContentId, memory_bytes: Option<u64>) {
        let row = index.rows.remove(id);
        let bytes = memory_bytes.or_else(|| row.map(|row| row.memory_bytes)).unwrap_or(0);
        index.memory_bytes = index.memory_bytes.saturating_sub(bytes);
        for (alias, _) in index.aliases.remove(id).into_iter().flatten() {
            self.by_alias.remove(&alias);
        }
    }

    /// The aliases of a polytope, sorted.
    pub fn aliases(&self, id: &ContentId) -> Vec<String> {
        self.lock().aliases.get(id).into_iter().flat_map(|held| held.keys()).cloned().collect()
    }

    /// Number of polytopes.
    pub fn count(&self) -> u64 {
        self.lock().aliases.len() as u64
    }

    /// Memory of all polytopes, estimated.
    pub fn memory_bytes(&self) -> u64 {
        self.lock().memory_bytes
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().expect("nothing panics while holding it")
    }
}

#[cfg(test)]
mod tests;
