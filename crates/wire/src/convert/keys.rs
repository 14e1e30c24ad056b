//! Keys that clients bring: of sessions, of aliases and of robots.

use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_runtime::sessions::owner::KeyDigest;
use clearance_runtime::settings::Limit;

const KEY_LENGTH_MAX: usize = 200;

/// Checks a key. Visible ASCII alone fits into a header.
pub fn check_key(path: &Path<'_>, key: &str) -> Result<(), Failure> {
    let is_visible = key.bytes().all(|byte| byte.is_ascii_graphic());
    if (1..=KEY_LENGTH_MAX).contains(&key.len()) && is_visible {
        return Ok(());
    }
    Err(path.bad("must be 1 to 200 visible ASCII characters").into())
}

/// The digest of a key that is checked; an empty one is none.
pub fn digest(path: &Path<'_>, key: &str) -> Result<Option<KeyDigest>, Failure> {
    if key.is_empty() {
        return Ok(None);
    }
    check_key(path, key)?;
    Ok(Some(KeyDigest::of(key)))
}

/// The digests of the keys that a deletion brings.
pub fn digests(
    list: &Path<'_>,
    brought: &[String],
    limit: Limit,
) -> Result<Vec<KeyDigest>, Failure> {
    list.within(limit, brought.len())?;
    let digest = |(index, key): (usize, &String)| {
        check_key(&list.index(index), key)?;
        Ok(KeyDigest::of(key))
    };
    brought.iter().enumerate().map(digest).collect()
}
