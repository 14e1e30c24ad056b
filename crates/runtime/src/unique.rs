//! Numbers that this process has not made before, and hardly any other.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the next number is made of: random at first, so that no two servers make the same.
static NEXT: LazyLock<AtomicU64> =
    LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(std::process::id())));

/// They follow each other in steps of this odd number, the golden ratio of 2^64: so all 2^64 occur
/// before one occurs again.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number that this process has not made before.
pub(crate) fn next_number() -> u64 {
    // Multiplied and shifted it is another number for each (the finalizer of SplitMix64), and two
    // that follow each other look nothing alike.
    let mut x = NEXT.fetch_add(STEP, Ordering::Relaxed);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_numbers_are_the_same() {
        let made: std::collections::BTreeSet<_> = (0..10_000).map(|_| next_number()).collect();
        assert_eq!(made.len(), 10_000);
    }
}
