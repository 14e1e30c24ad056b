//! Why a frame is not answered, and what ends an answer that nobody waits for.
//!
//! A deadline leaves undecided what is not known by then, and the rest is told. A caller who has
//! gone is told nothing: every stage of a step ends within about a millisecond, what it announced
//! is taken back, and the frame stays applied and unanswered.

use std::cmp::Ordering;

use clearance_geometry::until::{self, Until};

/// A frame would look at more pairs than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the frame would look at more than {pairs_max} pairs of bodies")]
pub struct TooManyPairs {
    /// How many pairs a frame may look at.
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

/// Says so when nobody waits any more.
#[inline]
pub(crate) fn go_on(until: &Until) -> Result<(), Unanswered> {
    if until.is_cancelled() { Err(Unanswered::CallerLeft) } else { Ok(()) }
}

/// Sorts, as long as somebody waits; what is equal stays in order.
pub(crate) fn sort_by<T>(
    until: &Until,
    items: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<(), Unanswered> {
    until::sort_by(items, compare, || go_on(until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_on_when_nobody_waits() {
        let until = Until::expired();
        assert_eq!((go_on(&until), sort_by(&until, &mut [2, 1], i32::cmp)), (Ok(()), Ok(())));
        until.cancel();
        assert_eq!(go_on(&until), Err(Unanswered::CallerLeft));
        assert_eq!(sort_by(&until, &mut [2, 1], i32::cmp), Err(Unanswered::CallerLeft));
    }
}
