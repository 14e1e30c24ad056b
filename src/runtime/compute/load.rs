//! What a job is known to take before it is done, and so whether it may run where others wait.
//!
//! A thread that speaks to clients may only do what is surely small. A guess at the time is not
//! enough for that: a guess looks at some lists of a message and overlooks others, and a ray of 56
//! KB, most of it names in its filter, ran there for seven seconds. So a job that is to run there
//! brings a count of *everything* that it might look through, an [`Extent`]; where there is none,
//! or it is large, the job goes to the pool whatever the guess is.

use std::time::Duration;

use super::INLINE_MAX;

/// A count of everything that a job might look through, bytes in memory: its message with all of
/// its lists, and what is kept for it. Made only where all of it is counted: by the intake, of
/// messages, and by what is kept, of itself (`tests/architecture/extents.rs` says where that is).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent(u64);

/// What is looked through where others wait has at most this extent. An entry of a list takes some
/// thirty bytes or more, and at most about 300 ns where it is looked up among others: together some
/// milliseconds.
pub const EXTENT_MAX: Extent = Extent(128 << 10);

impl Extent {
    /// That of something all of which takes so many bytes.
    pub const fn counted(bytes: u64) -> Self {
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
pub struct Load {
    /// None: nobody can bound it.
    time: Option<Duration>,
}

impl Load {
    /// Nobody can bound it beforehand: it never runs where others wait.
    pub const UNKNOWN: Self = Self { time: None };

    /// That of a job that looks through so much, and may take so long: a generous guess.
    pub fn of(extent: Extent, time: Duration) -> Self {
        Self { time: (extent <= EXTENT_MAX).then_some(time) }
    }

    /// Leave to run where others wait, if it may.
    pub fn small(self) -> Option<Small> {
        self.time.is_some_and(|time| time <= INLINE_MAX).then_some(Small(()))
    }

    /// Whether it may run where others wait.
    pub fn is_small(self) -> bool {
        self.small().is_some()
    }
}

/// Leave to run where others wait, which nothing but a [`Load`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_counted_or_counts_much_is_not_small_whatever_the_guess_is() {
        let Extent(most) = EXTENT_MAX;
        let of = |bytes, time| Load::of(Extent::counted(bytes), time).is_small();
        assert!(of(most, INLINE_MAX) && !of(most + 1, Duration::ZERO));
        assert!(!of(0, INLINE_MAX + Duration::from_nanos(1)));
        assert!(!Load::UNKNOWN.is_small());
        let both = Extent::counted(most).and(Extent::counted(1));
        assert!(!Load::of(both, Duration::ZERO).is_small());
        assert_eq!(Extent::counted(u64::MAX).and(both), Extent::counted(u64::MAX));
    }
}
