//! Where registrations outlive the process: rows by table, tenant and name, written all at once or
//! not at all, and on the disk when that is said.
//!
//! Without one everything is in memory alone. [`MemoryArchive`] is for tests, and [`RedbArchive`]
//! is one file. What is written there, [`records`] says; how it is read and written while the
//! server runs, [`keeper`].

pub mod export;
pub mod flights;
mod in_file;
mod in_memory;
pub mod keeper;
pub mod records;

use std::fmt;

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

    /// Hands over the rows of a table, one after the other in the order of their keys.
    fn each(&self, table: Table, take: &mut dyn FnMut(Key, &[u8])) -> Result<(), ArchiveError>;
}

#[cfg(test)]
mod tests;
