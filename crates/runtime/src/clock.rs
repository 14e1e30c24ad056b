//! The clock, so that whatever depends on time can be tested without sleeping.

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
