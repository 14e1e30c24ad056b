//! What several servers write to at once: each has to learn what others have written.
//!
//! A part of a tenant (its bodies with their aliases, or its robots) has a version, which every
//! change of it moves on. Whoever writes says which version it has looked at, and nothing is
//! written if that is not the last one any more: what was checked holds when it is written.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{ArchiveError, Key, Table};
use crate::deadline;

/// What was known so long ago is taken for new within one call that began before that: a request
/// with a thousand aliases asks the store once, and not a thousand times.
const FRESH: Duration = Duration::from_millis(100);

/// What belongs together of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// Bodies, their contents and their aliases.
    Bodies,
    /// Robots, and what they are built of.
    Robots,
}

/// A part of what is kept, which changes as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantPart {
    /// Whose it is.
    pub tenant: String,
    /// What it is of.
    pub kind: PartKind,
}

impl Key {
    /// The part that a row is of; none: nobody looks at it.
    pub fn part(&self) -> Option<TenantPart> {
        let kind = match self.table {
            Table::Bodies | Table::Contents | Table::Aliases => PartKind::Bodies,
            Table::Robots | Table::Sources => PartKind::Robots,
            Table::Aside => return None,
        };
        Some(TenantPart { tenant: self.tenant.clone(), kind })
    }
}

/// What has changed of a part since a reader asked last; all of it, the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartNews {
    /// The version of the part that these lead to.
    pub version: u64,
    /// Rows that have changed, that are new, and that are gone.
    pub keys: BTreeSet<Key>,
}

/// An archive that other servers write to, too.
pub trait SharedArchive {
    /// Brings what had been written before `since`, by whomever.
    fn look(&self, since: Instant) -> Result<(), ArchiveError>;

    /// How many changes were brought or written.
    fn sequence(&self) -> u64;

    /// What has changed of a part, as far as it was brought, since this reader asked last.
    fn news(&self, part: &TenantPart, reader: u64) -> PartNews;

    /// What a row says that is no content and no source, as far as it was brought.
    fn known_row(&self, key: &Key) -> Option<Vec<u8>>;

    /// Bytes of all contents and sources.
    fn kept_bytes(&self) -> u64;

    /// What is known of all rows takes so much memory, bytes.
    fn memory_bytes(&self) -> u64;

    /// Lets go of what nobody needs any more, if it is time to.
    fn tidy(&self) -> Result<(), ArchiveError>;
}

/// What was written before this, the call that is answered has to know: when it began, or a moment
/// ago where it goes on for long.
pub(crate) fn asked_at() -> Instant {
    let now = Instant::now();
    let moment = now.checked_sub(FRESH).unwrap_or(now);
    deadline::begin_of_call().map_or(now, |begin| begin.max(moment))
}
