//! What ends the waiting for an answer: its time, or that whoever waits for it goes away.
//!
//! A handler makes one from the caller's deadline, the server's limit and the budget
//! (`timing::deadline` of the transport) and keeps it as long as it waits. Whatever works on the
//! answer looks at its [`Until`], on any thread.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use clearance_geometry::until::Until;

tokio::task_local! {
    static CALL_TIMES: CallTimes;
}

/// Of the call that is being answered.
#[derive(Clone, Copy, Debug)]
struct CallTimes {
    begin: Instant,
    end: Instant,
}

/// Lets `call` be answered that nobody waits for any more after this time.
pub fn around_call<F: Future>(time: Duration, call: F) -> impl Future<Output = F::Output> {
    let begin = Instant::now();
    CALL_TIMES.scope(CallTimes { begin, end: begin + time }, call)
}

/// How much time there is for the call that is being answered on this thread; none: nobody knows.
pub fn time_of_call() -> Option<Duration> {
    CALL_TIMES.try_with(|times| times.end.saturating_duration_since(Instant::now())).ok()
}

/// When the call began that is being answered on this thread; none: nobody knows.
pub fn begin_of_call() -> Option<Instant> {
    CALL_TIMES.try_with(|times| times.begin).ok()
}

/// Ends an [`Until`] when its time is over, and when it is dropped: a caller who hangs up drops its
/// handler.
#[derive(Debug)]
pub struct Deadline {
    until: Arc<Until>,
    time: Duration,
    timer: OnceLock<tokio::task::JoinHandle<()>>,
}

impl Deadline {
    /// So long from now on.
    pub fn after(time: Duration) -> Self {
        let deadline = Self::planned(time);
        deadline.start();
        deadline
    }

    /// So long from when it is started: a timer costs more than a small frame, and most frames are
    /// answered long before their time would be over.
    pub fn planned(time: Duration) -> Self {
        let until = if time.is_zero() { Until::expired() } else { Until::default() };
        Self { until: Arc::new(until), time, timer: OnceLock::new() }
    }

    /// From now on the time counts, unless it did before.
    pub fn start(&self) {
        if self.time.is_zero() {
            return;
        }
        self.timer.get_or_init(|| {
            let (until, time) = (self.until.clone(), self.time);
            tokio::spawn(async move {
                tokio::time::sleep(time).await;
                until.expire();
            })
        });
    }

    /// Starts it unless there is more time than this.
    pub fn start_within(&self, time: Duration) {
        if self.time <= time {
            self.start();
        }
    }

    /// How much time there is from when it is started.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// What everything that works on the answer looks at.
    pub fn until(&self) -> &Arc<Until> {
        &self.until
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.until.cancel();
        if let Some(timer) = self.timer.get() {
            timer.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_over_soon(deadline: &Deadline) {
        let is_over = async {
            while !deadline.until().is_over() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), is_over).await.expect("over by then");
    }

    #[tokio::test]
    async fn the_waiting_ends_when_the_time_is_over() {
        is_over_soon(&Deadline::after(Duration::from_millis(1))).await;
        assert!(Deadline::planned(Duration::ZERO).until().is_over(), "without a timer");
    }

    #[tokio::test]
    async fn planned_time_counts_from_when_it_is_started() {
        let millis = Duration::from_millis;
        let deadline = Deadline::planned(millis(2));
        deadline.start_within(millis(1));
        tokio::time::sleep(millis(20)).await;
        assert!(!deadline.until().is_over(), "there is more time than that");
        deadline.start_within(millis(2));
        is_over_soon(&deadline).await;
    }

    #[tokio::test]
    async fn the_waiting_ends_when_the_caller_goes_away() {
        for (time, is_late) in [(Duration::from_secs(3600), false), (Duration::ZERO, true)] {
            let deadline = Deadline::after(time);
            let until = deadline.until().clone();
            assert_eq!((until.is_over(), until.is_cancelled()), (is_late, false));
            drop(deadline);
            assert!(until.is_over() && until.is_cancelled());
        }
    }
}
