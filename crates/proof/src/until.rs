//! Until when an answer is waited for: what a search looks at between its steps.
//!
//! Two things end the waiting. The time is over: what is known by then is told, the rest stays
//! undecided. Or the caller has gone: nothing is told to anybody. Here is the value that says so to
//! whoever works on the answer, and no clock: who sets it, decides when.

use std::cmp;
use std::sync::atomic::{AtomicU8, Ordering};

/// Says whether an answer is waited for; others call this a cancellation token. It may be set by
/// any thread at any time, and is never set back.
#[derive(Debug, Default)]
pub struct Until(AtomicU8);

/// The time is over, and somebody waits for what is known.
const EXPIRED: u8 = 1;
/// Nobody waits.
const CANCELLED: u8 = 2;

static NEVER: Until = Until(AtomicU8::new(0));

impl Until {
    /// Never: the work goes on until it is done.
    pub fn never() -> &'static Self {
        &NEVER
    }

    /// The time is over from the beginning.
    pub const fn expired() -> Self {
        Self(AtomicU8::new(EXPIRED))
    }

    /// Says that the time is over.
    pub fn expire(&self) {
        self.0.fetch_max(EXPIRED, Ordering::Relaxed);
    }

    /// Says that nobody waits any more, so the time is over, too.
    pub fn cancel(&self) {
        self.0.fetch_max(CANCELLED, Ordering::Relaxed);
    }

    /// Whether the time is over: what is not known now stays undecided.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Whether nobody waits any more: whatever is found out now, nobody reads it.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == CANCELLED
    }

    /// These items, as long as somebody waits. Whoever needs all of them asks
    /// [`Self::is_cancelled`] after the last.
    #[inline]
    pub fn each<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> + use<'_, I> {
        items.into_iter().take_while(|_| !self.is_cancelled())
    }
}

/// So many items are sorted at once, which takes a fraction of a millisecond.
const SORTED_AT_ONCE: usize = 4096;

/// Sorts piece by piece; `go_on` is asked before each, and its error ends it. What is equal stays
/// in order.
pub fn sort_by<T, E>(
    items: &mut [T],
    compare: impl Fn(&T, &T) -> cmp::Ordering,
    go_on: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    if items.is_sorted_by(|a, b| compare(a, b) != cmp::Ordering::Greater) {
        return Ok(());
    }
    let mut width = SORTED_AT_ONCE;
    loop {
        // Of two halves that are sorted the sort makes one in a single pass.
        for part in items.chunks_mut(width) {
            go_on()?;
            part.sort_by(&compare);
        }
        if width >= items.len() {
            return Ok(());
        }
        width *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sorted_piece_by_piece_is_sorted_as_if_at_once() {
        for count in [0_usize, 1, 4_095, 4_097, 20_000, 30_000] {
            let items: Vec<(usize, usize)> =
                (0..count).map(|k: usize| (k * 7_919 % 997, k)).collect();
            let (mut pieces, mut whole) = (items.clone(), items);
            sort_by(&mut pieces, |a, b| a.0.cmp(&b.0), || Ok::<_, ()>(())).unwrap();
            whole.sort_by_key(|item| item.0);
            assert_eq!(pieces, whole);
        }
        assert_eq!(sort_by(&mut [2, 1], i32::cmp, || Err("gone")), Err("gone"));
    }

    #[test]
    fn whoever_has_gone_does_not_wait_for_what_is_late_either() {
        let until = Until::default();
        assert!(!until.is_over() && !until.is_cancelled());
        until.expire();
        assert!(until.is_over() && !until.is_cancelled(), "late, but there");
        until.cancel();
        assert!(until.is_over() && until.is_cancelled());
        until.expire();
        assert!(until.is_cancelled(), "who has gone stays away");
        assert!(!Until::never().is_over());
    }

    #[test]
    fn items_are_handed_out_as_long_as_somebody_waits() {
        let until = Until::expired();
        assert_eq!(until.each(0..9).count(), 9);
        let seen = until
            .each(0..9)
            .inspect(|k| {
                if *k == 4 {
                    until.cancel()
                }
            })
            .count();
        assert_eq!((seen, until.each(0..9).count()), (5, 0));
    }
}
