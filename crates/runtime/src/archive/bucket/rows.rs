//! What a bucket says, as far as it was read: all rows, but of contents and sources only where
//! they are; and which of them somebody has still to look at.

use std::collections::{BTreeMap, BTreeSet};

use super::super::shared::{PartNews, TenantPart};
use super::super::{Key, Table};

/// What a row takes in memory beside its name and what it says, bytes: its places in two trees.
const ROW_BYTES: u64 = 160;

/// A part of an object: the bytes of a content, a source, or of what was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlobPlace {
    /// The number that is the name of the object.
    pub(super) object: u128,
    /// Where it begins there, bytes.
    pub(super) at: u64,
    /// How long it is, bytes.
    pub(super) length: u64,
}

/// What stands under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The bytes of the row are in the head or in a segment.
    Here(Vec<u8>),
    /// The bytes of the row are in an object of their own, at this place.
    Blob(BlobPlace),
}

impl Row {
    fn memory_bytes(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.len() as u64,
            Self::Blob(_) => size_of::<BlobPlace>() as u64,
        }
    }
}

/// A row from now on; none: it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowChange {
    pub(super) key: Key,
    pub(super) row: Option<Row>,
}

/// Whether rows of a table are kept as objects of their own, and only their places among the rows.
pub(super) fn is_blob(table: Table) -> bool {
    matches!(table, Table::Contents | Table::Sources | Table::Aside)
}

type Drawer = BTreeMap<String, Row>;

/// All rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    drawers: BTreeMap<(Table, String), Drawer>,
    memory_bytes: u64,
    kept_bytes: u64,
}

impl Rows {
    /// What stands under a key.
    pub(super) fn get(&self, key: &Key) -> Option<&Row> {
        // A tenant's name is short; most are empty.
        self.drawers.get(&(key.table, key.tenant.clone()))?.get(&key.name)
    }

    pub(super) fn apply(&mut self, change: &RowChange) {
        let RowChange { key, row } = change;
        let place = (key.table, key.tenant.clone());
        let before = match row {
            Some(row) => {
                self.count(key, row, 1);
                self.drawers.entry(place).or_default().insert(key.name.clone(), row.clone())
            }
            None => self.drawers.get_mut(&place).and_then(|drawer| drawer.remove(&key.name)),
        };
        if let Some(before) = before {
            self.count(key, &before, -1);
        }
    }

    fn count(&mut self, key: &Key, row: &Row, sign: i64) {
        let memory = ROW_BYTES + key.name.len() as u64 + row.memory_bytes();
        self.memory_bytes = self.memory_bytes.saturating_add_signed(sign * memory.cast_signed());
        if let (Row::Blob(place), Table::Contents | Table::Sources) = (row, key.table) {
            let length = place.length.cast_signed();
            self.kept_bytes = self.kept_bytes.saturating_add_signed(sign * length);
        }
    }

    /// All rows of a table, in the order of their keys.
    pub(super) fn of_table(&self, table: Table) -> impl Iterator<Item = (Key, &Row)> {
        let from = (table, String::new());
        let drawers = self.drawers.range(from..).take_while(move |((of, _), _)| *of == table);
        drawers.flat_map(move |((_, tenant), drawer)| {
            drawer.iter().map(move |(name, row)| (Key::new(table, tenant, name), row))
        })
    }

    /// All rows.
    pub(super) fn all(&self) -> impl Iterator<Item = (Key, &Row)> {
        Table::ALL.into_iter().flat_map(move |table| self.of_table(table))
    }

    /// Names of the objects that rows are in.
    pub(super) fn objects(&self) -> BTreeSet<u128> {
        let rows = self.drawers.values().flat_map(BTreeMap::values);
        let of = |row: &Row| match row {
            Row::Here(_) => None,
            Row::Blob(place) => Some(place.object),
        };
        rows.filter_map(of).collect()
    }

    /// What `later` has otherwise.
    pub(super) fn differing(&self, later: &Self) -> BTreeSet<Key> {
        let gone = self.all().filter(|(key, _)| later.get(key).is_none());
        let other = later.all().filter(|(key, row)| self.get(key) != Some(*row));
        gone.chain(other).map(|(key, _)| key).collect()
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Bytes of contents and sources.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }
}

/// What has changed of parts that somebody looks at. Its keys are no more than there are rows.
#[derive(Debug, Default)]
pub(super) struct NewsBoard {
    versions: BTreeMap<TenantPart, u64>,
    /// By part and reader.
    unread: BTreeMap<TenantPart, BTreeMap<u64, BTreeSet<Key>>>,
}

impl NewsBoard {
    /// These have changed at once.
    pub(super) fn note<'a>(&mut self, keys: impl IntoIterator<Item = &'a Key>) {
        let mut parts = BTreeSet::new();
        for key in keys {
            let Some(part) = key.part() else { continue };
            if !is_blob(key.table) {
                for unread in self.unread.get_mut(&part).into_iter().flat_map(BTreeMap::values_mut)
                {
                    unread.insert(key.clone());
                }
            }
            parts.insert(part);
        }
        for part in parts {
            *self.versions.entry(part).or_default() += 1;
        }
    }

    /// The version of a part.
    pub(super) fn version(&self, part: &TenantPart) -> u64 {
        self.versions.get(part).copied().unwrap_or(0)
    }

    /// What a reader has not looked at yet; all rows of the part the first time.
    pub(super) fn read(&mut self, part: &TenantPart, reader: u64, rows: &Rows) -> PartNews {
        let version = self.version(part);
        let readers = self.unread.entry(part.clone()).or_default();
        let keys = match readers.get_mut(&reader) {
            Some(unread) => std::mem::take(unread),
            None => {
                readers.insert(reader, BTreeSet::new());
                let own = |(table, tenant): &(Table, String)| {
                    let is_of_part = Key::new(*table, tenant, "").part().as_ref() == Some(part);
                    is_of_part && !is_blob(*table)
                };
                let drawers = rows.drawers.iter().filter(|(place, _)| own(place));
                let keys = drawers.flat_map(|((table, tenant), drawer)| {
                    drawer.keys().map(move |name| Key::new(*table, tenant, name))
                });
                keys.collect()
            }
        };
        PartNews { version, keys }
    }
}
