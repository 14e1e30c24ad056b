//! Rows in memory, for tests: it can be told to fail.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::{Archive, ArchiveError, Change, Key, Table};

/// Rows that live as long as the process.
#[derive(Debug, Default)]
pub struct MemoryArchive {
    rows: Mutex<BTreeMap<Key, Vec<u8>>>,
    is_down: AtomicBool,
}

impl MemoryArchive {
    /// From now on it fails, or not.
    pub fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Changes a row in its place, as a disk does that goes bad.
    pub fn damage(&self, key: &Key, damage: impl FnOnce(&mut Vec<u8>)) {
        if let Some(row) = self.rows().get_mut(key) {
            damage(row);
        }
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.rows.lock().expect("nothing panics while holding it")
    }

    fn look(&self) -> Result<(), ArchiveError> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(ArchiveError::Down("it was told to fail".to_owned()));
        }
        Ok(())
    }
}

impl Archive for MemoryArchive {
    fn write(&self, changes: &[Change]) -> Result<(), ArchiveError> {
        self.look()?;
        let mut rows = self.rows();
        for change in changes {
            if let Change::Expect(key, expected) = change
                && rows.get(key) != expected.as_ref()
            {
                return Err(ArchiveError::Conflict(key.clone()));
            }
        }
        for change in changes {
            match change {
                Change::Expect(..) | Change::Seen(..) => {}
                Change::Put(key, value) => drop(rows.insert(key.clone(), value.clone())),
                Change::Remove(key) => drop(rows.remove(key)),
            }
        }
        Ok(())
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, ArchiveError> {
        self.look()?;
        Ok(self.rows().get(key).cloned())
    }

    fn each(&self, table: Table, take: &mut dyn FnMut(Key, &[u8])) -> Result<(), ArchiveError> {
        self.look()?;
        let rows = self.rows().clone();
        rows.iter().filter(|(key, _)| key.table == table).for_each(|(key, row)| {
            take(key.clone(), row);
        });
        Ok(())
    }
}
