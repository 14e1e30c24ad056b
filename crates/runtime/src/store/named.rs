//! Aliases: what each names, whose it is, and what is paid for it.

use super::{NewPolytope, RegisterError};
use crate::memory::{MemoryKind, MemoryQuota, OutOfMemory, Reservation};
use crate::sessions::owner::KeyDigest;
use clearance_bodies::ContentId;

/// What an alias takes beside its letters.
pub(super) const ALIAS_BYTES: u64 = 256;

/// What an alias names, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedByAlias {
    pub(super) id: ContentId,
    /// The key that moves the alias and deletes what it names; none: everybody may.
    pub(super) owner: Option<KeyDigest>,
}

impl NamedByAlias {
    /// Whether one of the keys opens it. All are compared, so that the time tells nothing.
    pub(super) fn opens_to(&self, keys: &[KeyDigest]) -> bool {
        let open = KeyDigest::opens(None, self.owner);
        keys.iter().fold(open, |open, key| open | KeyDigest::opens(Some(*key), self.owner))
    }

    /// Says why the alias may not name `new`. An alias moves only with `move_alias`. A claimed one
    /// needs its key, too; without it a registration may only repeat it.
    pub(super) fn may_be_named(
        &self,
        index: usize,
        new: &NewPolytope,
        alias: &str,
    ) -> Result<(), RegisterError> {
        let (alias, moves) = (alias.to_owned(), self.id != new.stored.id);
        if moves && !new.move_alias {
            return Err(RegisterError::AliasTaken { index, alias, owner: self.id });
        }
        let claims = moves || new.alias_key.is_some();
        if claims && !KeyDigest::opens(new.alias_key, self.owner) {
            return Err(RegisterError::AliasClaimed { index, alias });
        }
        Ok(())
    }
}

impl NewPolytope {
    /// Whose the alias is once this is registered, which may be.
    pub(super) fn owner_after(&self, before: Option<NamedByAlias>) -> Option<KeyDigest> {
        match before {
            Some(before) => before.owner.or(self.alias_key),
            None => self.alias_key.or(self.made_key),
        }
    }
}

/// Memory for the alias of a polytope that is to be registered, if it has one.
pub(super) fn paid(
    new: &NewPolytope,
    quota: &MemoryQuota,
) -> Result<Option<Reservation>, OutOfMemory> {
    let Some(alias) = &new.alias else { return Ok(None) };
    quota.reserve(MemoryKind::Aliases, ALIAS_BYTES + alias.len() as u64).map(Some)
}
