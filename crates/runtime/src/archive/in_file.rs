//! Rows in one file (`redb`), which one process holds at a time.
//!
//! Every write is one transaction that is on the disk before it is answered, and the file can be
//! opened after a process died at any point. After a failure of the disk the file is opened anew by
//! the next call, once a second at most.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition, TableError};

use super::{Archive, ArchiveError, Change, Key, Table};

/// The file in its directory.
pub const FILE_NAME: &str = "registrations.redb";

/// What the library keeps of the file in memory, bytes.
pub(super) const CACHE_BYTES: usize = 16 << 20;

/// Between two tries to open a file that has failed.
const RETRY: Duration = Duration::from_secs(1);

/// What is written there, and how; a file that says another number is of another version.
const FORMAT: u64 = 1;

const ABOUT: TableDefinition<'static, &str, u64> = TableDefinition::new("about");

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{}: another process has this store open: a store is one server's", .0.display())]
    InUse(PathBuf),
    /// It was written by another version.
    #[error("{}: has the format {found}, and this version reads {FORMAT}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format that the file says it has.
        found: u64,
    },
    /// The directory cannot be made or used.
    #[error("{}: {error}", path.display())]
    Io {
        /// The directory or the file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It cannot be read.
    #[error("{}: {problem}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// Rows in one file.
#[derive(Debug)]
pub struct RedbArchive {
    path: PathBuf,
    state: Mutex<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    /// None: it has failed, and was not opened again.
    database: Option<Arc<Database>>,
    tried: Instant,
    /// It is not opened again.
    is_closed: bool,
}

impl RedbArchive {
    /// The store in a directory, which is made if it is not there.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let of_directory = |error| OpenError::Io { path: directory.to_owned(), error };
        fs::create_dir_all(directory).map_err(of_directory)?;
        let path = directory.join(FILE_NAME);
        let database = Some(Arc::new(open(&path)?));
        Ok(Self {
            path,
            state: Mutex::new(OpenFile { database, tried: Instant::now(), is_closed: false }),
        })
    }

    /// The store in what tests have in the place of a file; it is not opened again.
    #[cfg(test)]
    pub(super) fn over(file: impl redb::StorageBackend) -> Result<Self, OpenError> {
        let path = PathBuf::from("(no file)");
        let database = Some(Arc::new(begun(builder().create_with_backend(file), &path)?));
        let state = OpenFile { database, tried: Instant::now(), is_closed: true };
        Ok(Self { path, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, OpenFile> {
        self.state.lock().expect("nothing panics while holding it")
    }

    fn database(&self) -> Result<Arc<Database>, ArchiveError> {
        let mut state = self.state();
        if let Some(database) = &state.database {
            return Ok(database.clone());
        }
        if state.is_closed {
            return Err(ArchiveError::Down("it is closed".to_owned()));
        }
        if state.tried.elapsed() < RETRY {
            return Err(ArchiveError::Down("it has failed a moment ago".to_owned()));
        }
        state.tried = Instant::now();
        let database = open(&self.path).map_err(|error| ArchiveError::Down(error.to_string()))?;
        let database = Arc::new(database);
        state.database = Some(database.clone());
        tracing::info!(file = %self.path.display(), "the store is open again");
        Ok(database)
    }

    /// Does it, and takes the file for failed where it does not work.
    fn using<R>(
        &self,
        work: impl FnOnce(&Database) -> Result<R, Failed>,
    ) -> Result<R, ArchiveError> {
        let database = self.database()?;
        let result = work(&database);
        drop(database);
        result.map_err(|failed| match failed {
            Failed::Conflict(key) => ArchiveError::Conflict(key),
            Failed::Storage(error) => {
                tracing::error!(%error, "the store has failed");
                let mut state = self.state();
                state.database = None;
                state.tried = Instant::now();
                ArchiveError::Down(error.to_string())
            }
        })
    }
}

enum Failed {
    Conflict(Key),
    Storage(Box<redb::Error>),
}

impl<E: Into<redb::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Storage(Box::new(error.into()))
    }
}

fn definition(
    table: Table,
) -> TableDefinition<'static, (&'static str, &'static str), &'static [u8]> {
    TableDefinition::new(table.name())
}

fn open(path: &Path) -> Result<Database, OpenError> {
    keep_private(path).map_err(|error| OpenError::Io { path: path.to_owned(), error })?;
    begun(builder().create(path), path)
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// What was opened, if it is of this version.
fn begun(opened: Result<Database, DatabaseError>, path: &Path) -> Result<Database, OpenError> {
    let unusable = |error: redb::Error| OpenError::Unusable {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    let database = opened.map_err(|error| {
        if matches!(error, DatabaseError::DatabaseAlreadyOpen) {
            OpenError::InUse(path.to_owned())
        } else {
            unusable(error.into())
        }
    })?;
    match format_of(&database).map_err(unusable)? {
        FORMAT => Ok(database),
        found => Err(OpenError::Format { path: path.to_owned(), found }),
    }
}

/// Names of keys stand in it, if only as digests: nobody else reads it.
#[cfg(unix)]
fn keep_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The format that it says, which is this one's where it is new.
fn format_of(database: &Database) -> Result<u64, redb::Error> {
    let transaction = database.begin_write()?;
    let said = transaction.open_table(ABOUT)?.get("format")?.map(|said| said.value());
    if let Some(said) = said {
        transaction.abort()?;
        return Ok(said);
    }
    transaction.open_table(ABOUT)?.insert("format", FORMAT)?;
    for table in Table::ALL {
        transaction.open_table(definition(table))?;
    }
    transaction.commit()?;
    Ok(FORMAT)
}

impl Archive for RedbArchive {
    fn write(&self, changes: &[Change]) -> Result<(), ArchiveError> {
        self.using(|database| {
            let mut transaction = database.begin_write()?;
            // A process that dies leaves a file that is opened at once, however large it is.
            transaction.set_quick_repair(true);
            for change in changes {
                let (Change::Expect(key, _) | Change::Put(key, _) | Change::Remove(key)) = change
                else {
                    continue;
                };
                let mut table = transaction.open_table(definition(key.table))?;
                let at = (key.tenant.as_str(), key.name.as_str());
                match change {
                    Change::Expect(key, expected) => {
                        let found = table.get(at)?;
                        let found = found.as_ref().map(|row| row.value());
                        if found != expected.as_deref() {
                            return Err(Failed::Conflict(key.clone()));
                        }
                    }
                    Change::Put(_, value) => drop(table.insert(at, value.as_slice())?),
                    Change::Remove(_) => drop(table.remove(at)?),
                    Change::Seen(..) => {}
                }
            }
            Ok(transaction.commit()?)
        })
    }

    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.database = None;
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, ArchiveError> {
        self.using(|database| {
            let transaction = database.begin_read()?;
            let table = match transaction.open_table(definition(key.table)) {
                Err(TableError::TableDoesNotExist(_)) => return Ok(None),
                opened => opened?,
            };
            let row = table.get((key.tenant.as_str(), key.name.as_str()))?;
            Ok(row.map(|row| row.value().to_vec()))
        })
    }

    fn each(&self, table: Table, take: &mut dyn FnMut(Key, &[u8])) -> Result<(), ArchiveError> {
        self.using(|database| {
            let transaction = database.begin_read()?;
            let rows = match transaction.open_table(definition(table)) {
                Err(TableError::TableDoesNotExist(_)) => return Ok(()),
                opened => opened?,
            };
            for row in rows.iter()? {
                let (key, value) = row?;
                let (tenant, name) = key.value();
                take(Key::new(table, tenant, name), value.value());
            }
            Ok(())
        })
    }
}
