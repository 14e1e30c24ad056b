//! Who a session belongs to: whoever brings the key that it was opened with.
//!
//! A server keeps the digest of a key, never the key itself. Digests are compared in constant time,
//! so that an answer's delay tells nothing about a key.

use std::fmt;

/// The BLAKE3 digest of a session's key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyDigest(blake3::Hash);

/// What the caller of a session brings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credentials {
    /// The key, if any.
    pub key: Option<KeyDigest>,
    /// The incarnation of the session that is meant; 0: whichever has the id.
    pub incarnation: u64,
}

/// The system had no random numbers to give.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no random numbers: {0}")]
pub struct NoEntropy(getrandom::Error);

impl KeyDigest {
    /// The digest of a key.
    pub fn of(key: &str) -> Self {
        Self(blake3::hash(key.as_bytes()))
    }

    /// As it is kept.
    pub fn to_hex(self) -> String {
        self.0.to_hex().to_string()
    }

    /// As it was kept; none: the text is no digest.
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(Self)
    }

    /// Whether `self`, a key that was brought if there was one, opens what belongs to `owner`.
    pub fn opens(brought: Option<Self>, owner: Option<Self>) -> bool {
        // `blake3::Hash` compares in constant time.
        owner.is_none_or(|owner| brought == Some(owner))
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(..)")
    }
}

/// A key that nobody can guess: 128 bits.
pub fn new_key() -> Result<String, NoEntropy> {
    let [high, low] = [random()?, random()?];
    Ok(format!("k-{high:016x}{low:016x}"))
}

/// A number that tells a session from every other that has had its id, here or on another server;
/// not 0.
pub fn new_incarnation() -> Result<u64, NoEntropy> {
    // Exact also where a client knows only numbers of 53 bits, as JavaScript does: one that was
    // rounded was refused as another session's.
    Ok((random()? >> 11).max(1))
}

fn random() -> Result<u64, NoEntropy> {
    getrandom::u64().map_err(NoEntropy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_key_opens_to_that_key_alone() {
        let [mine, other] = ["mine", "other"].map(|key| Some(KeyDigest::of(key)));
        for brought in [None, mine, other] {
            assert!(KeyDigest::opens(brought, None));
            assert_eq!(KeyDigest::opens(brought, mine), brought == mine);
        }
    }

    #[test]
    fn keys_and_incarnations_are_new_each_time_and_keys_are_not_shown() {
        let [a, b] = [new_key().unwrap(), new_key().unwrap()];
        assert!(a != b && a.len() == 34, "{a} {b}");
        let [first, second] = [new_incarnation().unwrap(), new_incarnation().unwrap()];
        assert!(first != second && first.max(second) < 1 << 53 && first.min(second) > 0);
        assert_eq!(format!("{:?}", KeyDigest::of(&a)), "KeyDigest(..)");
    }
}
