//! Bodies that outlive the process: what is written of them, and how they are read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::named::{ALIAS_BYTES, NamedByAlias};
use super::{Index, NewPolytope, PolytopeStore, RegisterError, Stored};
use crate::archive::keeper::{KeptAlias, Shelf, ShelfIndex, Unread, alias_row};
use crate::archive::records::{self, BodyRow};
use crate::archive::shared::PartKind;
use crate::archive::{Change, Key, Table};
use crate::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_bodies::content::{ContentError, building_bytes_of};
use clearance_bodies::{Body, ContentId};
use clearance_geometry::effort::Effort;
use clearance_geometry::until::Until;

/// What is known of a body without reading it.
pub(super) fn row_of(stored: &Stored) -> BodyRow {
    let content_bytes = stored.body.content_bytes();
    BodyRow { memory_bytes: stored.memory_bytes, content_bytes, deleted: None }
}

/// Memory for an alias that somebody has registered elsewhere, or long ago.
fn held(quota: &MemoryQuota, alias: &str) -> Reservation {
    quota.hold(MemoryKind::Aliases, ALIAS_BYTES + alias.len() as u64)
}

/// What is to be written, with the memory for it.
pub(super) struct PlannedWrite {
    pub(super) changes: Vec<Change>,
    _room: Reservation,
}

impl PolytopeStore {
    /// A store whose bodies outlive the process, with those that are there already.
    pub fn on(shelf: Arc<Shelf>, found: ShelfIndex) -> Self {
        let quota = shelf.keeper().quota().clone();
        let store = Self { shelf: Some(shelf), ..Self::default() };
        let mut index = store.lock();
        let bytes = found.bodies.values().map(|row| row.memory_bytes);
        index.memory_bytes = bytes.fold(0, u64::saturating_add);
        index.aliases = found.bodies.keys().map(|id| (*id, BTreeMap::new())).collect();
        index.rows = found.bodies;
        for (alias, KeptAlias { id, owner }) in found.aliases {
            let paid = held(&quota, &alias);
            index.aliases.entry(id).or_default().insert(alias.clone(), paid);
            store.by_alias.insert(alias, NamedByAlias { id, owner });
        }
        drop(index);
        store.hear();
        store
    }

    /// Learns what other servers have changed, whatever they had been answered when the call began
    /// that is answered. Where the store does not answer, what is known goes on.
    pub fn follow(&self) {
        if let Some(shelf) = &self.shelf {
            shelf.look();
            self.hear();
        }
    }

    /// Learns what other servers have changed as far as anybody here has asked.
    pub(super) fn hear(&self) {
        let Some(shelf) = &self.shelf else { return };
        let Some(sequence) = shelf.sequence() else { return };
        if self.seen.load(Ordering::Acquire) == sequence {
            return;
        }
        let mut index = self.lock();
        // While the index is locked: whoever checks something knows all that this version has.
        let Some(news) = shelf.news(PartKind::Bodies) else { return };
        index.version = news.version;
        for key in &news.keys {
            self.take_over(shelf, &mut index, key);
        }
        // What came meanwhile is asked for once more.
        self.seen.store(sequence, Ordering::Release);
    }

    /// Makes sure that what is known of these is what the store says.
    pub(super) fn confirm(
        &self,
        index: &mut Index,
        ids: impl IntoIterator<Item = ContentId>,
        aliases: Vec<String>,
    ) {
        let Some(shelf) = self.shelf.as_ref().filter(|shelf| shelf.sequence().is_some()) else {
            return;
        };
        for id in ids {
            self.take_over(shelf, index, &shelf.key(Table::Bodies, id));
        }
        for alias in aliases {
            self.take_over(shelf, index, &shelf.key(Table::Aliases, alias));
        }
    }

    /// Makes what is known of a row what a shared store says of it.
    fn take_over(&self, shelf: &Shelf, index: &mut Index, key: &Key) {
        match key.table {
            Table::Bodies => {
                // What another version has named is left as it is; what is being deleted here, to
                // whoever deletes it.
                let Ok(id) = key.name.parse() else { return };
                if !index.leaving.contains(&id) {
                    self.take_over_body(index, id, shelf.known(key));
                }
            }
            Table::Aliases => {
                let named = shelf.known_alias(key);
                let named = named.filter(|named| index.aliases.contains_key(&named.id));
                self.take_over_alias(shelf, index, &key.name, named);
            }
            Table::Contents | Table::Robots | Table::Sources | Table::Aside => {}
        }
    }

    fn take_over_body(&self, index: &mut Index, id: ContentId, row: Option<BodyRow>) {
        let is_known = index.aliases.contains_key(&id);
        match row.filter(|row| row.deleted.is_none()) {
            Some(row) if !is_known => {
                index.memory_bytes = index.memory_bytes.saturating_add(row.memory_bytes);
                index.aliases.insert(id, BTreeMap::new());
                index.rows.insert(id, row);
            }
            None if is_known => {
                // Sessions that have it keep it.
                let removed = self.by_id.remove(&id);
                self.forget(index, &id, removed.map(|(_, stored)| stored.memory_bytes));
            }
            Some(_) | None => {}
        }
    }

    fn take_over_alias(
        &self,
        shelf: &Shelf,
        index: &mut Index,
        alias: &str,
        named: Option<KeptAlias>,
    ) {
        let named = named.map(|KeptAlias { id, owner }| NamedByAlias { id, owner });
        let before = self.named(alias);
        if before.map(|before| (before.id, before.owner)) == named.map(|now| (now.id, now.owner)) {
            return;
        }
        let of_before = before.and_then(|before| index.aliases.get_mut(&before.id));
        let paid = of_before.and_then(|aliases| aliases.remove(alias));
        let Some(named) = named else { return drop(self.by_alias.remove(alias)) };
        let paid = paid.unwrap_or_else(|| held(shelf.keeper().quota(), alias));
        index.aliases.entry(named.id).or_default().insert(alias.to_owned(), paid);
        self.by_alias.insert(alias.to_owned(), named);
    }

    /// The body that is registered under an id; what is not in memory is read.
    pub fn find(&self, id: &ContentId) -> Result<Option<Arc<Stored>>, Unread> {
        self.hear();
        if let Some(found) = self.loaded(id) {
            return Ok(Some(found));
        }
        match &self.shelf {
            Some(shelf) if self.knows_at_last(id) => self.load(shelf, id),
            Some(_) | None => Ok(None),
        }
    }

    /// Whether a body is registered, after a look at what others have registered if it has to be.
    fn knows_at_last(&self, id: &ContentId) -> bool {
        self.knows(id) || {
            self.follow();
            self.knows(id)
        }
    }

    fn load(&self, shelf: &Shelf, id: &ContentId) -> Result<Option<Arc<Stored>>, Unread> {
        let key = shelf.key(Table::Contents, id);
        shelf.load(&key, || self.loaded(id).map(Some), |until| self.read(shelf, id, until))
    }

    fn read(
        &self,
        shelf: &Shelf,
        id: &ContentId,
        until: &Until,
    ) -> Result<Option<Arc<Stored>>, Unread> {
        let Some(row) = self.lock().rows.get(id).cloned() else { return Ok(None) };
        let quota = shelf.keeper().quota();
        let working = building_bytes_of(row.content_bytes).saturating_add(row.content_bytes);
        let _work = quota.reserve(MemoryKind::Work, working.saturating_add(row.memory_bytes))?;
        let key = shelf.key(Table::Contents, id);
        let content = shelf.read(&key)?.unwrap_or_default();
        let effort = &mut Effort::until(u64::MAX, until);
        let built = Body::of_content(id, &content, effort);
        drop(content);
        let built = built.and_then(|body| Stored::new(body, effort).map_err(ContentError::Stopped));
        let mut stored = match built {
            Ok(stored) => stored,
            Err(ContentError::Stopped(_)) => return Err(Unread::Late),
            Err(ContentError::Digest | ContentError::Malformed(_)) => {
                self.set_aside(shelf, id)?;
                return Ok(None);
            }
        };
        stored.pay(quota)?;
        let index = self.lock();
        // Somebody may have deleted it meanwhile, or registered it again.
        if !index.has(id) {
            return Ok(None);
        }
        let entry = self.by_id.entry(*id).or_insert_with(|| Arc::new(stored));
        Ok(Some(entry.value().clone()))
    }

    /// A body whose content is not what was written goes out of the way, and is registered no more:
    /// whoever has it registers it again.
    fn set_aside(&self, shelf: &Shelf, id: &ContentId) -> Result<(), Unread> {
        let _turn = shelf.turn();
        if self.loaded(id).is_some() {
            return Ok(());
        }
        let aliases = self.aliases(id);
        let of_aliases = aliases.iter().map(|alias| shelf.key(Table::Aliases, alias));
        let own = [shelf.key(Table::Contents, id), shelf.key(Table::Bodies, id)];
        let keys: Vec<Key> = own.into_iter().chain(of_aliases).collect();
        shelf.set_aside(&keys)?;
        let mut index = self.lock();
        self.forget(&mut index, id, None);
        self.confirm(&mut index, [*id], aliases);
        Ok(())
    }

    /// Those that are not registered.
    pub(super) fn unknown(&self, index: &Index, new: &[NewPolytope]) -> BTreeSet<ContentId> {
        new.iter().map(|one| one.stored.id).filter(|id| !index.has(id)).collect()
    }

    /// What registering these changes.
    pub(super) fn planned(
        &self,
        index: &Index,
        shelf: &Shelf,
        new: &[NewPolytope],
        quota: &MemoryQuota,
    ) -> Result<PlannedWrite, RegisterError> {
        let mut unknown = self.unknown(index, new);
        let sizes = new.iter().filter(|one| unknown.contains(&one.stored.id));
        let bytes: u64 = sizes.map(|one| one.stored.body.content_bytes()).sum();
        // As it is written, and in the pages of the file.
        let room = quota.reserve(MemoryKind::Work, bytes.saturating_mul(2));
        let room = room.map_err(|full| RegisterError::Full(full.0))?;
        let (mut changes, mut aliases) = (Vec::new(), BTreeMap::new());
        for one in new {
            let id = one.stored.id;
            if unknown.remove(&id) {
                let key = shelf.key(Table::Bodies, id);
                let row = records::written(&key, &row_of(&one.stored));
                changes.push(Change::Put(key, row));
                let content = shelf.key(Table::Contents, id);
                changes.push(Change::Put(content, one.stored.body.content()));
            }
            let Some(alias) = one.alias.as_deref() else { continue };
            let known = aliases.get(alias).copied().or_else(|| self.named(alias));
            aliases.insert(alias, NamedByAlias { id, owner: one.owner_after(known) });
        }
        for (alias, named) in aliases {
            let before = self.named(alias);
            let is_as_before =
                before.is_some_and(|old| old.id == named.id && old.owner == named.owner);
            if !is_as_before {
                let key = shelf.key(Table::Aliases, alias);
                let row =
                    |of: NamedByAlias| alias_row(&key, KeptAlias { id: of.id, owner: of.owner });
                changes.push(Change::Expect(key.clone(), before.map(row)));
                changes.push(Change::Put(key.clone(), row(named)));
            }
        }
        if !changes.is_empty() {
            changes.push(Change::Seen(shelf.part(PartKind::Bodies), index.version));
        }
        Ok(PlannedWrite { changes, _room: room })
    }

    /// What deleting a body changes: it leaves a row that says when.
    pub(super) fn leaving(&self, index: &Index, shelf: &Shelf, id: &ContentId) -> Vec<Change> {
        let key = shelf.key(Table::Bodies, id);
        let row = index.rows.get(id).cloned().unwrap_or_default();
        let row = BodyRow { deleted: Some(shelf.keeper().now()), ..row };
        let row = records::written(&key, &row);
        let aliases = index.aliases.get(id).into_iter().flat_map(|held| held.keys());
        let aliases = aliases.map(|alias| Change::Remove(shelf.key(Table::Aliases, alias)));
        let seen = Change::Seen(shelf.part(PartKind::Bodies), index.version);
        [seen, Change::Put(key, row)].into_iter().chain(aliases).collect()
    }
}
