//! The clock, so that whatever depends on time can be tested without sleeping.

use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// Tells the time.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// For measuring: never goes back.
    fn now(&self) -> Instant;
    /// For people: may be set.
    fn wall(&self) -> SystemTime;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Ends after so long, give or take a tenth, so that what began together does not end together;
/// never, if there is no such age.
pub async fn until_of_age(age_max: Option<Duration>) {
    match age_max {
        Some(age) => tokio::time::sleep(give_or_take(age, RandomState::new().hash_one(0))).await,
        None => std::future::pending().await,
    }
}

/// From nine tenths of a time to eleven, by a number that is random.
fn give_or_take(time: Duration, random: u64) -> Duration {
    let thousandths = 900 + u32::try_from(random % 201).unwrap_or(100);
    time.saturating_mul(thousandths) / 1_000
}

/// A clock that stands still until it is told to go on.
#[derive(Debug)]
pub struct ManualClock {
    start: (Instant, SystemTime),
    passed: Mutex<Duration>,
}

impl ManualClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: (Instant::now(), SystemTime::UNIX_EPOCH), passed: Mutex::default() }
    }

    /// Lets `duration` pass.
    pub fn advance(&self, duration: Duration) {
        *self.passed.lock().expect("nothing panics while holding it") += duration;
    }

    fn passed(&self) -> Duration {
        *self.passed.lock().expect("nothing panics while holding it")
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.start.0 + self.passed()
    }

    fn wall(&self) -> SystemTime {
        self.start.1 + self.passed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand streams that began together would ask for a thousand connections at once.
    #[test]
    fn what_began_together_ends_within_a_tenth_before_and_after() {
        let hour = Duration::from_secs(3600);
        let all: Vec<_> = (0..1_000).map(|random| give_or_take(hour, random)).collect();
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert_eq!((*least, *most), (Duration::from_secs(3240), Duration::from_secs(3960)));
        assert_eq!(give_or_take(Duration::MAX, 200), Duration::MAX / 1_000);
    }
}
