//! Pages of registered polytopes, cut by what their descriptions take.

use std::ops::Bound;
use std::sync::Arc;

use super::{PolytopeStore, Stored};
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
    /// More of them follow after these.
    pub has_more: bool,
}

impl PolytopeStore {
    /// At most `size` polytopes after `after`, by ascending id, whose descriptions take no more
    /// than so many bytes, or one.
    pub fn page(&self, after: Option<ContentId>, size: usize, bytes_max: u64) -> StoredPage {
        let index = self.lock();
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = index.aliases.range((start, Bound::Unbounded)).peekable();
        let (mut stored, mut bytes) = (Vec::new(), 0_u64);
        while let Some((id, aliases)) = rest.peek() {
            let aliases = aliases.keys().map(|alias| SHOWN_ALIAS_BYTES + alias.len() as u64);
            let more = SHOWN_BYTES + aliases.sum::<u64>();
            if stored.len() == size || bytes + more > bytes_max && !stored.is_empty() {
                break;
            }
            bytes += more;
            stored.extend(self.get(id));
            rest.next();
        }
        StoredPage { stored, bytes, has_more: rest.peek().is_some() }
    }
}
