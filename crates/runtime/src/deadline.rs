//! From a caller's deadline, or its going away, to the flag that a search looks at between steps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A flag that is set when the time is over, and when this guard is dropped (because the caller
/// hung up, which drops its handler).
#[derive(Debug)]
pub struct StopGuard {
    flag: Arc<AtomicBool>,
    left: Arc<AtomicBool>,
    limit: Option<Duration>,
    timer: OnceLock<tokio::task::JoinHandle<()>>,
}

impl StopGuard {
    /// A flag that is set after `limit`; none: only by dropping.
    pub fn after(limit: Option<Duration>) -> Self {
        let guard = Self::planned(limit);
        guard.arm();
        guard
    }

    /// A deadline whose time begins with [`Self::arm`]: a timer costs more than a small frame, and
    /// most frames are answered long before theirs would end.
    pub fn planned(limit: Option<Duration>) -> Self {
        let flag = Arc::new(AtomicBool::new(limit.is_some_and(|limit| limit.is_zero())));
        Self { flag, left: Arc::default(), limit, timer: OnceLock::new() }
    }

    /// From now on the time counts.
    pub fn arm(&self) {
        let Some(limit) = self.limit.filter(|limit| !limit.is_zero()) else { return };
        self.timer.get_or_init(|| {
            let flag = self.flag.clone();
            tokio::spawn(async move {
                tokio::time::sleep(limit).await;
                flag.store(true, Ordering::Relaxed);
            })
        });
    }

    /// Arms it unless there is more time than this.
    pub fn arm_within(&self, time: Duration) {
        if self.limit.is_some_and(|limit| limit <= time) {
            self.arm();
        }
    }

    /// Sets the flag.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// A flag that is set when this guard is dropped, and not before: whatever is found out then,
    /// nobody reads it.
    pub fn left(&self) -> Arc<AtomicBool> {
        self.left.clone()
    }

    /// For a search that is over before this guard is dropped.
    pub fn as_flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// For the search.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.left.store(true, Ordering::Relaxed);
        self.stop();
        if let Some(timer) = self.timer.get() {
            timer.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_flag_is_set_when_the_time_is_over() {
        let guard = StopGuard::after(Some(Duration::from_millis(1)));
        let flag = guard.flag();
        let is_set = async {
            while !flag.load(Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), is_set).await.expect("set by then");
        assert!(StopGuard::after(Some(Duration::ZERO)).flag().load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn planned_time_counts_from_when_it_is_armed() {
        let millis = Duration::from_millis;
        let guard = StopGuard::planned(Some(millis(2)));
        guard.arm_within(millis(1));
        tokio::time::sleep(millis(20)).await;
        assert!(!guard.flag().load(Ordering::Relaxed), "there is more time than that");
        guard.arm_within(millis(2));
        let is_set = async {
            while !guard.flag().load(Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), is_set).await.expect("set by then");
    }

    #[tokio::test]
    async fn the_flag_is_set_when_the_caller_goes_away() {
        let guard = StopGuard::after(None);
        let flag = guard.flag();
        assert!(!flag.load(Ordering::Relaxed));
        drop(guard);
        assert!(flag.load(Ordering::Relaxed));
        let guard = StopGuard::after(Some(Duration::ZERO));
        let (flag, left) = (guard.flag(), guard.left());
        assert!(flag.load(Ordering::Relaxed) && !left.load(Ordering::Relaxed), "late, but there");
        drop(guard);
        assert!(left.load(Ordering::Relaxed));
    }
}
