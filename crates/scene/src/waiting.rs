//! Who waits for the answer to a frame, and until when; and why there may be none.
//!
//! A deadline leaves undecided what is not known by then, and the rest is told. A caller who has
//! left is told nothing: every stage of a step ends within about a millisecond, what it announced
//! is taken back, and the frame stays applied and unanswered.

use std::cmp::Ordering as Order;
use std::sync::atomic::{AtomicBool, Ordering};

/// For how long a frame is worked on.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// May be set at any time by a deadline: what is not known by then stays undecided.
    pub stop: &'a AtomicBool,
    /// May be set at any time when the caller leaves: there is no answer then.
    pub left: &'a AtomicBool,
}

/// A frame would look at more pairs than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the frame would look at more than {pairs_max} pairs of bodies")]
pub struct TooManyPairs {
    /// The limit.
    pub pairs_max: usize,
}

/// Why a frame whose poses are applied is not answered. No event is lost: the next answered frame
/// starts where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// It would look at too many pairs.
    #[error(transparent)]
    TooManyPairs(#[from] TooManyPairs),
    /// Nobody waits for the answer any more.
    #[error("the caller has left")]
    CallerLeft,
    /// The runner has no memory for what is to be told.
    #[error("there is no memory for the answer")]
    NoRoom,
}

/// Never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// So many items are sorted at once, a fraction of a millisecond: between, it is looked whether
/// somebody waits.
const SORTED_AT_ONCE: usize = 4096;

impl<'a> Waiting<'a> {
    /// However long it takes.
    pub fn for_ever() -> Waiting<'static> {
        Waiting { stop: &NEVER, left: &NEVER }
    }

    /// Until this is set; then for what is known.
    pub fn until(stop: &'a AtomicBool) -> Self {
        Self { stop, left: &NEVER }
    }

    /// Whether nobody waits any more.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// Says so when nobody waits any more.
    #[inline]
    pub fn go_on(&self) -> Result<(), Unanswered> {
        if self.is_over() { Err(Unanswered::CallerLeft) } else { Ok(()) }
    }

    /// These items, as long as somebody waits. Whoever needs all of them asks [`Self::go_on`] after
    /// the last.
    #[inline]
    pub fn each<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> + use<'a, I> {
        let left = self.left;
        items.into_iter().take_while(move |_| !left.load(Ordering::Relaxed))
    }

    /// Sorts, as long as somebody waits; what is equal stays in order.
    pub(super) fn sort_by<T>(
        &self,
        items: &mut [T],
        compare: impl Fn(&T, &T) -> Order,
    ) -> Result<(), Unanswered> {
        if items.is_sorted_by(|a, b| compare(a, b) != Order::Greater) {
            return Ok(());
        }
        let mut width = SORTED_AT_ONCE;
        loop {
            // Of two halves that are sorted the sort makes one in a single pass.
            for part in items.chunks_mut(width) {
                self.go_on()?;
                part.sort_by(&compare);
            }
            if width >= items.len() {
                return Ok(());
            }
            width *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sorted_piece_by_piece_is_sorted_as_if_at_once() {
        for count in [0_usize, 1, 4_095, 4_097, 20_000] {
            let items: Vec<(usize, usize)> =
                (0..count).map(|k: usize| (k * 7_919 % 997, k)).collect();
            let (mut pieces, mut whole) = (items.clone(), items);
            Waiting::for_ever().sort_by(&mut pieces, |a, b| a.0.cmp(&b.0)).unwrap();
            whole.sort_by_key(|item| item.0);
            assert_eq!(pieces, whole);
        }
    }

    #[test]
    fn nothing_goes_on_when_nobody_waits() {
        let (stop, left) = (AtomicBool::new(false), AtomicBool::new(false));
        let waiting = Waiting { stop: &stop, left: &left };
        assert_eq!(waiting.each(0..9).count(), 9);
        let seen = waiting.each(0..9).inspect(|k| left.store(*k == 4, Ordering::Relaxed)).count();
        assert_eq!((seen, waiting.go_on()), (5, Err(Unanswered::CallerLeft)));
        assert_eq!(waiting.sort_by(&mut [2, 1], i32::cmp), Err(Unanswered::CallerLeft));
    }
}
