//! How long something took, counted by powers of ten.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Times are counted by these bounds, and those that are longer.
pub const FRAME_TIMES: [Duration; 6] = [
    Duration::from_micros(10),
    Duration::from_micros(100),
    Duration::from_millis(1),
    Duration::from_millis(10),
    Duration::from_millis(100),
    Duration::from_secs(1),
];

/// How often something took how long.
#[derive(Debug, Default)]
pub struct Times {
    by_time: [AtomicU64; FRAME_TIMES.len() + 1],
    nanoseconds: AtomicU64,
}

impl Times {
    /// Adds one that took so long.
    pub fn add(&self, elapsed: Duration) {
        let at = FRAME_TIMES.partition_point(|time| *time < elapsed);
        self.by_time[at].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// How often at most as long as each bound and longer than the one before, and longer than all.
    pub fn by_time(&self) -> [u64; FRAME_TIMES.len() + 1] {
        self.by_time.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// All of them together, nanoseconds.
    pub fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_with_those_that_are_no_longer_than_its_bound() {
        let times = Times::default();
        for micros in [0, 10, 11, 1_000, 2_000_000] {
            times.add(Duration::from_micros(micros));
        }
        assert_eq!(times.by_time(), [2, 1, 1, 0, 0, 0, 1]);
        assert_eq!(times.nanoseconds(), 2_001_021_000);
    }
}
