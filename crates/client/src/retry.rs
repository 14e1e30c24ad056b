//! When a call that failed is tried again.
//!
//! | status | tried again |
//! |---|---|
//! | RESOURCE_EXHAUSTED with `RetryInfo`: the server is full | after as long as it says |
//! | UNAVAILABLE, or a connection that broke | on the next server, or a new connection |
//! | everything else: sending it again will not help | never |
//!
//! Every call of the API may be repeated: polytopes and robots are named by what they are, and
//! frames by their numbers.

use std::error::Error as _;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// How often, and how long after one another, a call is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all; with 1, nothing is tried again.
    pub attempts_max: u32,
    /// The pause after the first attempt, where the server does not ask for a longer one. Each
    /// following pause is twice as long.
    pub pause_first: Duration,
    /// The longest pause, unless the server asks for a longer one.
    pub pause_max: Duration,
}

impl Default for RetryPolicy {
    /// Six attempts within about three seconds.
    fn default() -> Self {
        Self {
            attempts_max: 6,
            pause_first: Duration::from_millis(100),
            pause_max: Duration::from_secs(5),
        }
    }
}

/// What helps after a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The same again, after at least so long.
    Wait(Duration),
    /// The same on another connection.
    Reconnect,
}

impl Remedy {
    /// The remedy, unless there is none.
    pub fn of(status: &Status) -> Option<Self> {
        if is_lost(status) {
            return Some(Self::Reconnect);
        }
        let told = status.get_error_details().retry_info().and_then(|info| info.retry_delay);
        told.filter(|_| status.code() == Code::ResourceExhausted).map(Self::Wait)
    }
}

/// Whether there is no connection, or none that is of use for long. A status that comes from the
/// transport, not from the server, has its cause as a source.
pub fn is_lost(status: &Status) -> bool {
    status.code() == Code::Unavailable || status.source().is_some()
}

/// What a server said last with a reason, among attempts at one thing. Where the last attempt ends
/// with its connection, nobody has said why; the reason that was given before is worth more.
#[derive(Debug, Default)]
pub(crate) struct LastSaid(Option<Status>);

impl LastSaid {
    /// Takes in how an attempt ended.
    pub(crate) fn hear(&mut self, status: &Status) {
        if has_reason(status) {
            self.0 = Some(status.clone());
        }
    }

    /// What is told where nothing helps any more, and this was the last status.
    pub(crate) fn told(&mut self, last: Status) -> Status {
        let said = self.0.take().filter(|_| is_lost(&last) && !has_reason(&last));
        said.unwrap_or(last)
    }
}

/// Whether a status has a reason, if one that is not known here.
fn has_reason(status: &Status) -> bool {
    status.get_error_details().error_info().is_some()
}

impl RetryPolicy {
    /// One attempt, and no other.
    pub const NEVER: Self =
        Self { attempts_max: 1, pause_first: Duration::ZERO, pause_max: Duration::ZERO };

    /// What is to be done after the attempt of this number, counted from 1, and how long to pause
    /// before; none if that was the last one, or if nothing helps.
    pub fn after(&self, attempt: u32, status: &Status) -> Option<(Remedy, Duration)> {
        let remedy = Remedy::of(status).filter(|_| attempt < self.attempts_max)?;
        let doubled = self.pause_first.saturating_mul(1 << (attempt - 1).min(16));
        let pause = doubled.min(self.pause_max);
        Some(match remedy {
            Remedy::Wait(told) => (remedy, pause.max(told)),
            // The first change of servers costs no time.
            Remedy::Reconnect if attempt == 1 => (remedy, Duration::ZERO),
            Remedy::Reconnect => (remedy, pause),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic_types::ErrorDetails;

    fn full(wait: Option<Duration>) -> Status {
        let mut details = ErrorDetails::new();
        if let Some(wait) = wait {
            details.set_retry_info(Some(wait));
        }
        Status::with_error_details(Code::ResourceExhausted, "full", details)
    }

    #[test]
    fn a_full_server_is_asked_again_after_as_long_as_it_says_and_no_longer_than_it_helps() {
        let policy = RetryPolicy::default();
        let second = Duration::from_secs(1);
        let status = full(Some(second));
        assert_eq!(policy.after(1, &status), Some((Remedy::Wait(second), second)));
        let later = policy.after(5, &status).unwrap().1;
        assert_eq!(later, Duration::from_millis(1600));
        assert_eq!(policy.after(6, &status), None);
        assert_eq!(RetryPolicy::NEVER.after(1, &status), None);
    }

    #[test]
    fn a_connection_that_ends_takes_no_reason_with_it() {
        let because = |reason: &str| {
            let details = ErrorDetails::with_error_info(reason, "clearance.v1", []);
            Status::with_error_details(Code::Unavailable, "no", details)
        };
        let told = |heard: &[&str], last: &Status| {
            let mut said = LastSaid::default();
            heard.iter().for_each(|reason| said.hear(&because(reason)));
            said.hear(last);
            let told = said.told(last.clone());
            told.get_error_details().error_info().map(|info| info.reason.clone())
        };
        let lost = Status::unavailable("the stream has ended");
        assert_eq!(told(&["BUSY", "DRAINING"], &lost).as_deref(), Some("DRAINING"));
        assert_eq!(told(&["BUSY"], &because("NEWER")).as_deref(), Some("NEWER"));
        assert_eq!(told(&[], &lost), None);
        // A server's own word that helps no further is the last one.
        assert_eq!(told(&["BUSY"], &Status::internal("a fault")), None);
    }

    #[test]
    fn what_will_not_help_is_not_tried() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.after(1, &full(None)), None);
        let codes = [
            Code::Cancelled,
            Code::Unknown,
            Code::InvalidArgument,
            Code::DeadlineExceeded,
            Code::NotFound,
            Code::AlreadyExists,
            Code::PermissionDenied,
            Code::FailedPrecondition,
            Code::Aborted,
            Code::OutOfRange,
            Code::Unimplemented,
            Code::Internal,
            Code::DataLoss,
            Code::Unauthenticated,
        ];
        for code in codes {
            let details = ErrorDetails::with_retry_info(Some(Duration::from_secs(1)));
            let status = Status::with_error_details(code, "no", details);
            assert_eq!(policy.after(1, &status), None, "{code:?}");
        }
    }

    #[test]
    fn a_server_that_stops_is_left_at_once_and_looked_for_more_patiently() {
        let policy = RetryPolicy::default();
        let status = Status::unavailable("draining");
        assert_eq!(policy.after(1, &status), Some((Remedy::Reconnect, Duration::ZERO)));
        assert_eq!(policy.after(2, &status).unwrap().1, Duration::from_millis(200));
    }
}
