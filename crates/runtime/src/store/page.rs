//! Pages of registered polytopes, cut by what their descriptions take.

use std::ops::Bound;
use std::sync::Arc;

use super::{PolytopeStore, Stored};
use crate::archive::keeper::Unread;
use clearance_bodies::ContentId;

/// What the description of a polytope takes, bytes at most, without its aliases; and what each of
/// these does beside its letters.
const SHOWN_BYTES: u64 = 512;
const SHOWN_ALIAS_BYTES: u64 = 8;

/// Some polytopes one after the other.
#[derive(Debug)]
pub struct StoredPage {
    /// By ascending id.
    pub stored: Vec<Arc<Stored>>,
    /// What their descriptions take on the wire, bytes at most.
    pub bytes: u64,
    /// After this one more of them follow; none: these are the last.
    pub last: Option<ContentId>,
}

impl PolytopeStore {
    /// At most `size` polytopes after `after`, by ascending id, whose descriptions take no more
    /// than so many bytes, or one.
    pub fn page(
        &self,
        after: Option<ContentId>,
        size: usize,
        bytes_max: u64,
    ) -> Result<StoredPage, Unread> {
        self.follow();
        let index = self.lock();
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = index.aliases.range((start, Bound::Unbounded)).peekable();
        let (mut ids, mut bytes) = (Vec::new(), 0_u64);
        while let Some((id, aliases)) = rest.peek() {
            let aliases = aliases.keys().map(|alias| SHOWN_ALIAS_BYTES + alias.len() as u64);
            let more = SHOWN_BYTES + aliases.sum::<u64>();
            if ids.len() == size || bytes + more > bytes_max && !ids.is_empty() {
                break;
            }
            bytes += more;
            ids.push(**id);
            rest.next();
        }
        let (last, has_more) = (ids.last().copied(), rest.peek().is_some());
        drop(rest);
        // Whoever reads from the store does not keep others from what is in memory.
        drop(index);
        let read = ids.iter().map(|id| self.find(id)).collect::<Result<Vec<_>, _>>()?;
        // What was deleted meanwhile, or is damaged, is left out.
        let stored = read.into_iter().flatten().collect();
        Ok(StoredPage { stored, bytes, last: last.filter(|_| has_more) })
    }
}
