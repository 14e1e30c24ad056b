//! From a caller's deadline, or its going away, to the flag that a search looks at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A flag that is set when the time is over, and when this guard is dropped (because the caller
/// hung up, which drops its handler).
#[derive(Debug)]
pub struct StopGuard {
    flag: Arc<AtomicBool>,
    timer: Option<tokio::task::JoinHandle<()>>,
}

impl StopGuard {
    /// A flag that is set after `limit`; none: only by dropping.
    pub fn after(limit: Option<Duration>) -> Self {
        let flag = Arc::new(AtomicBool::new(limit.is_some_and(|limit| limit.is_zero())));
        let timer = limit.filter(|limit| !limit.is_zero()).map(|limit| {
            let flag = flag.clone();
            tokio::spawn(async move {
                tokio::time::sleep(limit).await;
                flag.store(true, Ordering::Relaxed);
            })
        });
        Self { flag, timer }
    }

    /// Sets the flag.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// For the search.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.stop();
        if let Some(timer) = &self.timer {
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
    async fn the_flag_is_set_when_the_caller_goes_away() {
        let guard = StopGuard::after(None);
        let flag = guard.flag();
        assert!(!flag.load(Ordering::Relaxed));
        drop(guard);
        assert!(flag.load(Ordering::Relaxed));
    }
}
