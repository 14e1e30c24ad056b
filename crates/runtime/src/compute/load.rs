//! What a job is known to take before it is done, and so whether it may run where others wait.
//!
//! A thread that speaks to clients may only do what is surely small. A guess at the time is not
//! enough for that: a guess looks at some lists of a message and overlooks others, and a ray of 56
//! KB, most of it names in its filter, ran there for seven seconds. So a job that is to run there
//! brings a count of *everything* that it might look through, [`Counted`]; where there is none,
//! or it is large, the job goes to the pool whatever the guess is.

use std::time::Duration;

use super::INLINE_MAX;

/// A count of everything that a job might look through, bytes in memory: its message with all of
/// its lists, and what is kept for it. Made only where all of it is counted: by the intake, of
/// messages, and by what is kept, of itself (`tests/architecture/extents.rs` says where that is).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counted(u64);

/// What is looked through where others wait is at most this. An entry of a list takes some
/// thirty bytes or more, and at most about 300 ns where it is looked up among others: together some
/// milliseconds.
pub const COUNTED_MAX: Counted = Counted(128 << 10);

impl Counted {
    /// That of something all of which takes so many bytes.
    pub const fn all_of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Together with another one.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// What a job takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSize {
    /// None: nobody can bound it.
    time: Option<Duration>,
}

impl JobSize {
    /// Nobody can bound it beforehand: it never runs where others wait.
    pub const UNKNOWN: Self = Self { time: None };

    /// That of a job that looks through so much, and may take so long: a generous guess.
    pub fn of(extent: Counted, time: Duration) -> Self {
        Self { time: (extent <= COUNTED_MAX).then_some(time) }
    }

    /// That of a job whose guess may be wrong by any factor: nobody bounds one that might take
    /// longer than `most` at worst, whatever the guess is.
    pub fn within(extent: Counted, guess: Duration, at_worst: Duration, most: Duration) -> Self {
        if at_worst <= most { Self::of(extent, guess) } else { Self::UNKNOWN }
    }

    /// Permission to run where others wait, if it may.
    pub fn small(self) -> Option<Small> {
        self.time.is_some_and(|time| time <= INLINE_MAX).then_some(Small(()))
    }

    /// Whether it may run where others wait.
    pub fn is_small(self) -> bool {
        self.small().is_some()
    }
}

/// Permission to run where others wait, which nothing but a [`JobSize`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small(());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::costs::HOLD_UP_MAX;

    #[test]
    fn what_is_not_counted_or_counts_much_is_not_small_whatever_the_guess_is() {
        let Counted(most) = COUNTED_MAX;
        let of = |bytes, time| JobSize::of(Counted::all_of(bytes), time).is_small();
        assert!(of(most, INLINE_MAX) && !of(most + 1, Duration::ZERO));
        assert!(!of(0, INLINE_MAX + Duration::from_nanos(1)));
        assert!(!JobSize::UNKNOWN.is_small());
        let within = |at_worst| {
            let most = HOLD_UP_MAX;
            JobSize::within(Counted::all_of(0), Duration::ZERO, at_worst, most).is_small()
        };
        assert!(within(HOLD_UP_MAX) && !within(HOLD_UP_MAX + Duration::from_nanos(1)));
        let both = Counted::all_of(most).and(Counted::all_of(1));
        assert!(!JobSize::of(both, Duration::ZERO).is_small());
        assert_eq!(Counted::all_of(u64::MAX).and(both), Counted::all_of(u64::MAX));
    }
}
