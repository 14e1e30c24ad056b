//! Where registrations outlive the process: rows by table, tenant and name, written all at once or
//! not at all, and on the disk when that is said.
//!
//! Without one everything is in memory alone. [`MemoryArchive`] is for tests, [`RedbArchive`] is
//! one file, and a bucket (the feature `s3`) is several servers'. What is written there,
//! [`records`] says; how it is read and written while the server runs, [`keeper`].

#[cfg(feature = "s3")]
mod bucket;
pub mod export;
pub mod flights;
mod in_file;
mod in_memory;
pub mod keeper;
pub mod records;
pub mod shared;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use self::shared::{SharedArchive, TenantPart};

#[cfg(feature = "s3")]
pub use self::bucket::BucketArchive;
pub use self::in_file::{FILE_NAME, OpenError, RedbArchive};
pub use self::in_memory::MemoryArchive;

/// What rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// A registered body: what is known of it without reading its content.
    Bodies,
    /// Its content, the bytes that its id is the digest of.
    Contents,
    /// An alias, with what it names.
    Aliases,
    /// A registered robot: what is known of it without building it.
    Robots,
    /// What it is built of.
    Sources,
    /// Rows that could not be used any more, as they were found.
    Aside,
}

impl Table {
    /// Every table, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Bodies, Self::Contents, Self::Aliases, Self::Robots, Self::Sources, Self::Aside];

    /// What it is called in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bodies => "bodies",
            Self::Contents => "contents",
            Self::Aliases => "aliases",
            Self::Robots => "robots",
            Self::Sources => "sources",
            Self::Aside => "aside",
        }
    }
}

/// Where a row is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What it is of.
    pub table: Table,
    /// Whose it is; empty: everybody's, where nobody is asked for a key.
    pub tenant: String,
    /// The id, or the alias.
    pub name: String,
}

impl Key {
    /// The row of this table and name, of this tenant.
    pub fn new(table: Table, tenant: &str, name: impl fmt::Display) -> Self {
        Self { table, tenant: tenant.to_owned(), name: name.to_string() }
    }
}

/// A part of what is written at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing at all is written unless this row says just this, or is not there.
    Expect(Key, Option<Vec<u8>>),
    /// The row says this from now on.
    Put(Key, Vec<u8>),
    /// The row is not there any more.
    Remove(Key),
    /// Nothing at all is written if this part has another version. Of an archive that is one
    /// server's that is never so.
    Seen(TenantPart, u64),
}

/// Why nothing was written, or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The disk, or what stands for it, does not do it now.
    #[error("the store does not answer: {0}")]
    Down(String),
    /// A row is not what was expected.
    #[error("somebody else has changed {0:?}")]
    Conflict(Key),
    /// A part is not what was looked at.
    #[error("another server has changed {0:?}")]
    Overtaken(TenantPart),
}

/// Rows that outlive the process. Each call may wait for the disk.
pub trait Archive: fmt::Debug + Send + Sync {
    /// Writes all of it, or nothing; when this returns it outlives a loss of power.
    fn write(&self, changes: &[Change]) -> Result<(), ArchiveError>;

    /// What a row says.
    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, ArchiveError>;

    /// Lets go of what it holds, so that another process may have it. Nothing can be read or
    /// written any more.
    fn close(&self) {}

    /// What there is to know where other servers write to it, too; none: it is one server's.
    fn shared(&self) -> Option<&dyn SharedArchive> {
        None
    }

    /// Hands over the rows of a table, one after the other in the order of their keys.
    fn each(&self, table: Table, take: &mut dyn FnMut(Key, &[u8])) -> Result<(), ArchiveError>;
}

/// How the address of a bucket begins.
const BUCKET_SCHEME: &str = "s3://";

/// Whether this names a bucket, and no directory.
pub fn is_bucket(store: &Path) -> bool {
    store.to_str().is_some_and(|name| name.starts_with(BUCKET_SCHEME))
}

/// The archive of this name: a directory, which is made, or a bucket with a prefix.
pub fn open(store: &Path) -> Result<Arc<dyn Archive>, OpenError> {
    if is_bucket(store) {
        return open_bucket(store);
    }
    Ok(Arc::new(RedbArchive::open(store)?))
}

#[cfg(feature = "s3")]
fn open_bucket(store: &Path) -> Result<Arc<dyn Archive>, OpenError> {
    Ok(Arc::new(BucketArchive::open(store.to_str().unwrap_or_default())?))
}

#[cfg(not(feature = "s3"))]
fn open_bucket(store: &Path) -> Result<Arc<dyn Archive>, OpenError> {
    let problem = "this binary was built without the feature s3".to_owned();
    Err(OpenError::Unusable { path: store.to_owned(), problem })
}

/// Whether there is anything where a store of this name would be. A bucket says when it is opened.
pub fn may_be_there(store: &Path) -> bool {
    is_bucket(store) || store.join(FILE_NAME).exists()
}

#[cfg(test)]
mod tests;
