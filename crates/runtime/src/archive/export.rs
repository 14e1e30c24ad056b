//! A store as one file that does not depend on what keeps it: for backups, and to take
//! registrations elsewhere.
//!
//! It begins with [`HEAD`]; then come rows, each with its table (one byte), and the lengths (u64,
//! little-endian) and the bytes of its tenant, its name and what it says; then the byte 255, the
//! number of rows, and the BLAKE3 digest of all that came before.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};

use super::records::{self, AliasRow, BodyRow, RobotRow};
use super::{Archive, ArchiveError, Change, Key, Table};

/// How the file begins.
const HEAD: &[u8] = b"clearance store 1\n";

const END: u8 = u8::MAX;

/// So much is written at once.
const BATCH_BYTES: usize = 8 << 20;

/// A row has so many bytes at most.
const ROW_BYTES_MAX: u64 = 2 << 30;

/// Why a store was not exported or imported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The store does not answer.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It is not what was exported.
    #[error("the file is no whole export: {0}")]
    Damaged(&'static str),
}

/// What was in a file, and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows.
    pub rows: u64,
    /// Those of them that were there already, and stay as they were.
    pub known: u64,
}

/// Writes all that is registered.
pub fn export(archive: &dyn Archive, to: impl Write) -> Result<Counts, ExportError> {
    let mut to = Digesting { inner: to, hasher: blake3::Hasher::new() };
    to.put(HEAD)?;
    let live = live(archive)?;
    let (mut counts, mut failed) = (Counts::default(), None);
    // What is told of comes before what tells of it: an import that was ended leaves nothing half.
    let order = [Table::Contents, Table::Sources, Table::Bodies, Table::Robots, Table::Aliases];
    for table in order {
        archive.each(table, &mut |key, row| {
            if failed.is_none() && is_told_of(&key, &live) {
                counts.rows += 1;
                failed = to.row(&key, row).err();
            }
        })?;
        if let Some(error) = failed.take() {
            return Err(error.into());
        }
    }
    to.put(&[END])?;
    to.put(&counts.rows.to_le_bytes())?;
    let digest = to.hasher.finalize();
    to.inner.write_all(digest.as_bytes())?;
    to.inner.flush()?;
    Ok(counts)
}

/// The rows of what is registered.
fn live(archive: &dyn Archive) -> Result<BTreeSet<Key>, ArchiveError> {
    let mut live = BTreeSet::new();
    for table in [Table::Bodies, Table::Robots] {
        archive.each(table, &mut |key, row| {
            if !is_deleted(&key, row) {
                live.insert(key);
            }
        })?;
    }
    Ok(live)
}

/// Whether a row is of what is registered. An alias goes with its body.
fn is_told_of(key: &Key, live: &BTreeSet<Key>) -> bool {
    let table = match key.table {
        Table::Bodies | Table::Contents => Table::Bodies,
        Table::Robots | Table::Sources => Table::Robots,
        Table::Aliases | Table::Aside => return key.table == Table::Aliases,
    };
    live.contains(&Key { table, ..key.clone() })
}

/// Whether a row only says that something was registered once.
fn is_deleted(key: &Key, row: &[u8]) -> bool {
    match key.table {
        Table::Bodies => {
            records::read::<BodyRow>(key, row).is_some_and(|row| row.deleted.is_some())
        }
        Table::Robots => {
            records::read::<RobotRow>(key, row).is_some_and(|row| row.deleted.is_some())
        }
        Table::Contents | Table::Aliases | Table::Sources | Table::Aside => false,
    }
}

/// Reads what was exported. The whole file is looked through first: one that is damaged changes
/// nothing. What is there already stays as it is, an alias, too, that names something else.
pub fn import(
    archive: &dyn Archive,
    mut open: impl FnMut() -> io::Result<Box<dyn Read>>,
) -> Result<Counts, ExportError> {
    each_row(open()?, &mut |_, _| Ok(()))?;
    let (mut counts, mut batch, mut bytes) = (Counts::default(), Vec::new(), 0);
    each_row(open()?, &mut |key, row| {
        counts.rows += 1;
        if is_known(archive, &key)? {
            counts.known += 1;
            return Ok(());
        }
        bytes += row.len();
        batch.push(Change::Put(key, row));
        if bytes >= BATCH_BYTES {
            archive.write(&std::mem::take(&mut batch))?;
            bytes = 0;
        }
        Ok(())
    })?;
    archive.write(&batch)?;
    Ok(counts)
}

/// Whether there is such a row, of what is not deleted.
fn is_known(archive: &dyn Archive, key: &Key) -> Result<bool, ArchiveError> {
    let known = archive.read(key)?;
    Ok(known.is_some_and(|row| !is_deleted(key, &row)))
}

/// Hands over each row of a file.
fn each_row(
    from: Box<dyn Read>,
    take: &mut dyn FnMut(Key, Vec<u8>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut from = Digesting { inner: io::BufReader::new(from), hasher: blake3::Hasher::new() };
    if from.get(HEAD.len() as u64)? != HEAD {
        return Err(ExportError::Damaged("it does not begin as one"));
    }
    let mut rows = 0_u64;
    loop {
        let [table] = from.get(1)?[..] else { return Err(TOO_SHORT) };
        if table == END {
            break;
        }
        let table = Table::ALL.get(usize::from(table));
        let table = table.ok_or(ExportError::Damaged("a table is unknown"))?;
        let [tenant, name, row] = [from.part()?, from.part()?, from.part()?];
        let text = |bytes| String::from_utf8(bytes).map_err(|_| ExportError::Damaged("a name"));
        let key = Key { table: *table, tenant: text(tenant)?, name: text(name)? };
        rows += 1;
        take(key, row)?;
    }
    if from.number()? != rows {
        return Err(ExportError::Damaged("rows are missing"));
    }
    let digest = from.hasher.finalize();
    if from.get(32)? != digest.as_bytes() {
        return Err(ExportError::Damaged("its digest is another"));
    }
    if from.inner.read(&mut [0])? > 0 {
        return Err(ExportError::Damaged("it goes on after its end"));
    }
    Ok(())
}

const TOO_SHORT: ExportError = ExportError::Damaged("it ends too soon");

/// What is written or read, digested on its way.
struct Digesting<T> {
    inner: T,
    hasher: blake3::Hasher,
}

impl<T: Write> Digesting<T> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes)
    }

    fn row(&mut self, key: &Key, row: &[u8]) -> io::Result<()> {
        self.put(&[key.table as u8])?;
        for part in [key.tenant.as_bytes(), key.name.as_bytes(), row] {
            self.put(&(part.len() as u64).to_le_bytes())?;
            self.put(part)?;
        }
        Ok(())
    }
}

impl<T: Read> Digesting<T> {
    /// So many bytes; memory grows with what comes, not with what is announced.
    fn get(&mut self, length: u64) -> Result<Vec<u8>, ExportError> {
        let mut bytes = Vec::new();
        let read = (&mut self.inner).take(length).read_to_end(&mut bytes)?;
        if read as u64 != length {
            return Err(TOO_SHORT);
        }
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u64, ExportError> {
        let bytes = self.get(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| TOO_SHORT)?))
    }

    fn part(&mut self) -> Result<Vec<u8>, ExportError> {
        let length = self.number()?;
        if length > ROW_BYTES_MAX {
            return Err(ExportError::Damaged("a row is too long"));
        }
        self.get(length)
    }
}

/// What a store has of each tenant: bodies, aliases and robots.
pub fn contents(archive: &dyn Archive) -> Result<Vec<(String, [u64; 3])>, ArchiveError> {
    let mut found = BTreeMap::<String, [u64; 3]>::new();
    for (place, table) in [Table::Bodies, Table::Aliases, Table::Robots].into_iter().enumerate() {
        archive.each(table, &mut |key, row| {
            let is_whole =
                table != Table::Aliases || records::read::<AliasRow>(&key, row).is_some();
            if is_whole && !is_deleted(&key, row) {
                found.entry(key.tenant).or_default()[place] += 1;
            }
        })?;
    }
    Ok(found.into_iter().collect())
}
