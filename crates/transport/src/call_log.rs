//! What the log says of calls: who called what, with which code, and which request it was.
//!
//! Faults of the server are always written, at level `error`. Of other calls that fail, and of
//! those that succeed, so many lines a second are written for each method as the settings say, at
//! level `info`, and each says how many were left out since the last one; those are written at
//! level `debug`. Of who changes something every line is written where keys are asked for, as the
//! audit.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clearance_runtime::access::{METHODS, Role, RpcMethod};
use clearance_runtime::behalf::KnownCall;
use clearance_runtime::settings::Limits;
use clearance_runtime::spans::Attribute;
use tonic::Code;

/// Calls that move bodies of a session: the session was opened by a call of its own, and there are
/// as many of these as frames.
const STEPS: &str = "clearance.v1.SessionService/StepSession";

/// What is said of lines: target and level are fixed where a line is written.
macro_rules! line {
    ($target:literal, $level:ident, $said:expr, $left_out:expr) => {{
        let CallLine { event, call, code, micros } = $said;
        let grant = call.who.grant.as_ref();
        tracing::$level!(
            target: $target,
            request_id = call.known.id.as_str(),
            method = call.method(),
            code = code_name(code),
            micros,
            key = grant.map(|(key, _)| &**key),
            tenant = grant.map(|(_, tenant)| &**tenant),
            peer = call.who.address.map(tracing::field::display),
            left_out = $left_out,
            "{event}"
        );
    }};
}

/// Which call it is.
#[derive(Clone, Debug)]
pub(super) struct Called {
    /// Its id and its span.
    pub(super) known: KnownCall,
    /// The beginning of a path that is no method's.
    stranger: Box<str>,
    /// The row of the method, and its place; none: there is no such method.
    pub(super) row: Option<(usize, &'static RpcMethod)>,
    pub(super) who: Who,
}

/// Who calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Who {
    /// The names of key and tenant.
    pub(super) grant: Option<(Arc<str>, Arc<str>)>,
    /// The address that the call came from.
    pub(super) address: Option<IpAddr>,
}

/// So much of a path that is no method's is written.
const STRANGER_CHARACTERS: usize = 100;

impl Called {
    /// A call to this path, which is in this row, if it is a method's.
    pub(super) fn new(
        known: KnownCall,
        path: &str,
        row: Option<(usize, &'static RpcMethod)>,
    ) -> Self {
        let stranger: String = match row {
            Some(_) => String::new(),
            None => path.trim_start_matches('/').chars().take(STRANGER_CHARACTERS).collect(),
        };
        Self { known, stranger: stranger.into(), row, who: Who::default() }
    }

    /// The name of the method.
    pub(super) fn method(&self) -> &str {
        self.row.map_or(&*self.stranger, |(_, row)| row.name)
    }

    /// Whether there are several requests or replies.
    pub(super) fn streams(&self) -> bool {
        self.row.is_some_and(|(_, row)| row.streams)
    }

    /// Tells that it is over, to whoever collects spans.
    pub(super) fn end_span(&self, code: Code, elapsed: Duration) {
        let Some(span) = &self.known.span else { return };
        // Names that clients make up are no names of spans.
        let name = self.row.map_or("other", |(_, row)| row.name);
        let mut attributes = vec![
            ("rpc.system.name", Attribute::Name("grpc")),
            ("rpc.method", Attribute::Name(name)),
            ("rpc.response.status_code", Attribute::Name(code_name(code))),
            ("clearance.request_id", Attribute::Text(self.known.id.shared())),
        ];
        if let Some((_, tenant)) = &self.who.grant {
            attributes.push(("clearance.tenant", Attribute::Text(tenant.clone())));
        }
        span.end(name, elapsed, is_fault(code), attributes);
    }

    fn is_audited(&self) -> bool {
        let needs = self.row.map_or(Some(Role::Admin), |(_, row)| row.needs);
        self.who.grant.is_some() && needs > Some(Role::Query) && self.method() != STEPS
    }
}

/// What is said of a call.
#[derive(Clone, Copy)]
pub(super) struct CallLine<'a> {
    /// What has happened: `call`, `stream began` or `stream ended`.
    pub(super) event: &'static str,
    pub(super) call: &'a Called,
    pub(super) code: Code,
    /// Since its headers came.
    pub(super) micros: u64,
}

/// Which lines are written; one for a server.
#[derive(Debug)]
pub struct CallLog {
    start: Instant,
    successes_max: u64,
    failures_max: u64,
    /// Of each method in the order of [`METHODS`], and of all others: lines about successes, and
    /// about failures.
    lines: Vec<[Rate; 2]>,
}

impl CallLog {
    /// As the settings have it.
    pub fn new(limits: &Limits, start: Instant) -> Self {
        Self {
            start,
            successes_max: limits.logged_calls_per_second,
            failures_max: limits.logged_failures_per_second,
            lines: std::iter::repeat_with(Default::default).take(METHODS.len() + 1).collect(),
        }
    }

    /// Writes what is to be written of a call.
    pub(super) fn say(&self, said: CallLine<'_>, now: Instant) {
        if is_fault(said.code) {
            return line!("clearance::calls", error, said, None::<u64>);
        }
        if said.call.is_audited() {
            return line!("clearance::audit", info, said, None::<u64>);
        }
        let place = said.call.row.map_or(METHODS.len(), |(place, _)| place);
        let [successes, failures] = &self.lines[place];
        let second = now.saturating_duration_since(self.start).as_secs();
        let left_out = if said.code == Code::Ok {
            successes.take(second, self.successes_max)
        } else {
            failures.take(second, self.failures_max)
        };
        match left_out {
            Some(left_out) => {
                let left_out = Some(left_out).filter(|count| *count > 0);
                line!("clearance::calls", info, said, left_out);
            }
            None => line!("clearance::calls", debug, said, None::<u64>),
        }
    }
}

/// How many lines there were in a second.
#[derive(Debug, Default)]
struct Rate {
    /// The second in the upper half, how many lines it has in the lower.
    state: AtomicU64,
    left_out: AtomicU64,
}

impl Rate {
    /// How many were left out before this one, if it is to be written.
    fn take(&self, second: u64, most: u64) -> Option<u64> {
        let second = second << 32;
        let next = |state: u64| {
            let count = if state >> 32 == second >> 32 { state & u64::from(u32::MAX) } else { 0 };
            (count < most.min(u64::from(u32::MAX))).then_some(second | (count + 1))
        };
        match self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(_) => Some(self.left_out.swap(0, Ordering::Relaxed)),
            Err(_) => {
                self.left_out.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }
}

/// Whether the server is to blame for a code.
fn is_fault(code: Code) -> bool {
    matches!(code, Code::Internal | Code::DataLoss)
}

/// The name of a code in gRPC.
pub(super) fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// A time as lines have it.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_lines_are_written_in_a_second_and_the_next_tells_of_the_others() {
        let rate = Rate::default();
        let take = |second, count| -> Vec<u64> {
            (0..count).filter_map(|_| rate.take(second, 2)).collect()
        };
        assert_eq!(take(0, 5), [0, 0], "three are left out");
        assert_eq!(take(0, 4), [0; 0], "and four more");
        assert_eq!(take(1, 1), [7]);
        assert_eq!(take(1, 9), [0], "eight are left out");
        assert_eq!(take(9, 1), [8]);
        assert_eq!(Rate::default().take(3, 0), None, "none at all");
    }

    #[test]
    fn what_changes_something_by_a_key_is_audited_and_steps_are_not() {
        let called = |path: &str, key: Option<&str>| {
            let id = clearance_runtime::request::RequestId::brought_or_new(None);
            let mut call = Called::new(
                KnownCall { id, span: None },
                path,
                clearance_runtime::access::row_of(path),
            );
            call.who.grant = key.map(|key| (key.into(), "acme".into()));
            call.is_audited()
        };
        assert!(called("/clearance.v1.SessionService/OpenSession", Some("k")));
        assert!(called("/no.such/Method", Some("k")));
        assert!(!called("/clearance.v1.SessionService/OpenSession", None));
        assert!(!called("/clearance.v1.SessionService/StepSession", Some("k")));
        assert!(!called("/clearance.v1.QueryService/CheckCollision", Some("k")));
    }
}
