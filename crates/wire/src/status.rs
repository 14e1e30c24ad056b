//! Everything that can go wrong in a call, and the one table that says what the client gets: a
//! code, a reason for programs, words for people, and `google.rpc` details.

mod request_info;
mod ways_out;

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

pub use self::request_info::with_request_id;
use super::path::{BadField, NotImplemented};
use clearance_proto as api;
use clearance_proto::ErrorReason as Reason;
use clearance_runtime::archive::keeper::{NotKept, Unread};
use clearance_runtime::compute::Refused;
use clearance_runtime::memory::OutOfMemory;
use clearance_runtime::quotas::QuotaExceeded;
use clearance_runtime::sessions::owner::NoEntropy;
use clearance_runtime::settings::{Breach, Exceeded, Limits};

/// The domain of every `ErrorInfo`.
pub const DOMAIN: &str = "clearance.v1";
/// When a client that found the server full may try again.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Why a call, or one item of it, failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// A field has a value that is not allowed.
    #[error("{0}")]
    BadField(#[from] BadField),
    /// The bytes are no message of the expected type.
    #[error("the message cannot be decoded: {0}")]
    Malformed(String),
    /// The id is not the one that the client expected.
    #[error("{field}: the id of these points is {actual}")]
    DigestMismatch {
        /// The field with the id that was expected.
        field: String,
        /// The id that the points have.
        actual: String,
    },
    /// A mesh is not convex, and the request does not say what to make of it.
    #[error(
        "{field}: the mesh is not convex ({why}); say treatment: MESH_TREATMENT_HULL to take its \
         hull or MESH_TREATMENT_POLYHEDRON to keep it as it is, or with convexity_tolerance how \
         far the hull may stand out"
    )]
    NotConvex {
        /// The path of the specification.
        field: String,
        /// Why not, in words.
        why: String,
    },
    /// Convex pieces of a mesh stand out of it by more than was allowed.
    #[error("{field}: {count} convex pieces stand out of the mesh by up to {gap} m")]
    GapUnreached {
        /// What was allowed.
        field: String,
        /// How many pieces there would be.
        count: usize,
        /// How far they stand out, metres.
        gap: f64,
    },
    /// A mesh bounds no polyhedron.
    #[error("{field}: the mesh bounds no polyhedron: {why}")]
    NotAPolyhedron {
        /// The path of the specification.
        field: String,
        /// Why not, in words.
        why: String,
    },
    /// A limit is exceeded.
    #[error("{0}; {way}", way = ways_out::way_out_of(.0.limit.name))]
    Limit(#[from] Exceeded),
    /// A message has more bytes than are taken; and what to do about it.
    #[error("{0}; {1}")]
    MessageTooLong(Exceeded, &'static str),
    /// No polytope has this id or alias.
    #[error("{field}: no polytope {key:?} is registered here")]
    UnknownPolytope {
        /// Where it is named.
        field: String,
        /// Id or alias.
        key: String,
    },
    /// No robot has this id.
    #[error("{field}: no robot {id:?} is registered here")]
    UnknownRobot {
        /// Where it is named.
        field: String,
        /// The id that was named.
        id: String,
    },
    /// No session has this id, or none that the caller's key opens.
    #[error("{field}: no session {id:?} is open here, or its session_key was not brought")]
    UnknownSession {
        /// Where it is named.
        field: String,
        /// The id that was named.
        id: String,
    },
    /// The session that the caller means is gone, and another one has its id.
    #[error("{field}: the session {id:?} that is open here is another one")]
    SessionReplaced {
        /// Where its incarnation is named.
        field: String,
        /// The id of the session.
        id: String,
    },
    /// The session has no such body.
    #[error("{field}: the session has no body {id}")]
    UnknownBody {
        /// Where it is named.
        field: String,
        /// The id of the body.
        id: u32,
    },
    /// The server asks for a key, and the call brings none, or several.
    #[error(
        "this server asks for a key: bring one as authorization: Bearer KEY, or as x-api-key: KEY"
    )]
    NoKey,
    /// The key is not, or no more, one of this server's.
    #[error("the key is not one of this server's, or is so no more")]
    WrongKey,
    /// The token may be good once the list of its provider's keys has come.
    #[error("the provider of the token is asked for the key that it names; try again soon")]
    KeyAskedFor,
    /// The key is for less than the method does.
    #[error("{method}: the key does not allow it; one with the role {needed} does")]
    RoleTooLow {
        /// The method.
        method: String,
        /// The least role that may call it.
        needed: &'static str,
    },
    /// The alias names another polytope.
    #[error("{field}: the alias names another polytope, {owner}; say move_alias to move it")]
    AliasTaken {
        /// The path of the alias.
        field: String,
        /// The polytope that has it.
        owner: String,
    },
    /// The alias was claimed with a key that was not brought.
    #[error("{field}: the alias was claimed with a key that was not brought")]
    AliasClaimed {
        /// Where the key belongs.
        field: String,
    },
    /// The robot was claimed with a key that was not brought.
    #[error("{field}: the robot was claimed with a key that was not brought")]
    RobotClaimed {
        /// Where the key belongs.
        field: String,
    },
    /// A session with this id is open.
    #[error("{field}: a session {id:?} is open; say replace, with its session_key, to replace it")]
    SessionExists {
        /// Where it is named.
        field: String,
        /// The id that was named.
        id: String,
    },
    /// Sessions use the polytope.
    #[error("{uses} bodies of open sessions use the polytope {id}")]
    PolytopeInUse {
        /// The id of the polytope.
        id: String,
        /// How many bodies use it.
        uses: u64,
    },
    /// The frame builds on one that is not there.
    #[error("{field}: the last frame applied is {applied}, not {base}: send a keyframe")]
    KeyframeNeeded {
        /// Where it is named.
        field: String,
        /// The frame that was named.
        base: u64,
        /// The frame that the session is at.
        applied: u64,
    },
    /// The frame comes too late.
    #[error("{field}: frame {frame_id} comes after frame {applied} was applied")]
    StaleFrame {
        /// Where its id is.
        field: String,
        /// The id of the frame that came too late.
        frame_id: u64,
        /// The frame that the session is at.
        applied: u64,
    },
    /// The session is not at the frame that a call is to be about.
    #[error(
        "{field}: the last frame applied is {applied}, not {frame_id}: what a session was before \
         is not kept, and a frame to come may be asked about once it is applied"
    )]
    OtherFrame {
        /// Where it is named.
        field: String,
        /// The frame that was named.
        frame_id: u64,
        /// The frame that the session is at.
        applied: u64,
    },
    /// A past frame that is asked about is not there.
    #[error(
        "{field}: frame {frame_id} was never applied, or is kept no more: the oldest that can be \
         asked about is {oldest}, the last one {applied}; a session keeps its past where it is \
         opened with history_frames"
    )]
    FrameNotKept {
        /// Where it is named.
        field: String,
        /// The frame that was named.
        frame_id: u64,
        /// The oldest frame that is kept.
        oldest: u64,
        /// The frame that the session is at.
        applied: u64,
    },
    /// The session has no such robot.
    #[error("{field}: the session has no robot {id}")]
    UnknownSessionRobot {
        /// Where it is named.
        field: String,
        /// The id of the robot in the session.
        id: u32,
    },
    /// Another stream is attached.
    #[error("another stream is attached to the session; say take_over to replace it")]
    SessionAttached,
    /// Another stream took over.
    #[error("another stream took this session over")]
    TakenOver,
    /// The compute pool is full.
    #[error("every place of the compute pool is taken; try again soon")]
    Busy,
    /// The server is about to stop.
    #[error("the server is draining; use another one")]
    Draining,
    /// The caller's tenant would have more than it may.
    #[error("{0}; ask whoever runs the server for more")]
    Quota(Box<QuotaExceeded>),
    /// What keeps registrations does not answer.
    #[error("the store of registrations does not answer; what is in memory can be asked about")]
    StoreDown,
    /// The deadline passed.
    #[error("the deadline passed before there was anything to report")]
    Deadline,
    /// Well-formed, and more than this build can do.
    #[error("{0}")]
    NotImplemented(#[from] NotImplemented),
    /// What was asked for is longer than the caller takes.
    #[error("{0}")]
    TooLong(#[from] TooLong),
    /// The server did what it must not do: a bug, whoever asked.
    #[error("a bug of the server: {0}")]
    Bug(String),
    /// From the transport, or already a status.
    #[error("{}", .0.message())]
    Transport(Box<Status>),
}

/// Replies that are longer than the caller takes.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TooLong {
    /// No room is left for more reports.
    #[error(
        "no room is left in the reply of {bytes_max} bytes; send this frame again, or say a \
         greater reply_bytes_max and let your client receive as much"
    )]
    Reports {
        /// What the caller takes.
        bytes_max: u64,
    },
    /// Answers about configurations or edges.
    #[error(
        "the answers take more than {bytes_max} bytes; ask about fewer at once, or say a greater \
         reply_bytes_max and let your client receive as much"
    )]
    Answers {
        /// What the caller takes.
        bytes_max: u64,
    },
    /// The vertices and facets of a body.
    #[error(
        "what is asked of the body takes up to {bytes} bytes, more than {bytes_max}; ask for its \
         vertices and its facets apart, or say a greater reply_bytes_max and let your client \
         receive as much"
    )]
    Body {
        /// What it takes at most.
        bytes: u64,
        /// What the caller takes.
        bytes_max: u64,
    },
    /// The state of a session.
    #[error(
        "the state takes {bytes} bytes, more than {bytes_max}; say reply_bytes_max and let your \
         client receive as much"
    )]
    State {
        /// What it takes.
        bytes: u64,
        /// What the caller takes.
        bytes_max: u64,
    },
}

/// What the client gets.
struct StatusRow<'a> {
    code: Code,
    reason: Reason,
    field: &'a str,
    retry: Option<Duration>,
    metadata: Vec<(&'static str, String)>,
}

impl<'a> StatusRow<'a> {
    fn new(code: Code, reason: Reason) -> Self {
        Self { code, reason, field: "", retry: None, metadata: Vec::new() }
    }

    fn at(self, field: &'a str) -> Self {
        Self { field, ..self }
    }

    fn retry(self) -> Self {
        Self { retry: Some(RETRY_AFTER), ..self }
    }

    fn with(mut self, key: &'static str, value: &(impl ToString + ?Sized)) -> Self {
        self.metadata.push((key, value.to_string()));
        self
    }
}

impl<'a> StatusRow<'a> {
    /// The code is the one that the table of limits names.
    fn of_limit(exceeded: &'a Exceeded) -> Self {
        let Exceeded { field, limit } = exceeded;
        let code = match limit.breach {
            Breach::InvalidArgument | Breach::Cut => Code::InvalidArgument,
            Breach::ResourceExhausted => Code::ResourceExhausted,
            Breach::DeadlineExceeded => Code::DeadlineExceeded,
            Breach::Unavailable => Code::Unavailable,
        };
        let row = Self::new(code, Reason::LimitExceeded).at(field);
        let row = row.with("limit", &limit.name).with("value", &limit.value);
        // A field that is too large stays too large; a full server may have room later.
        if code == Code::ResourceExhausted && field.is_empty() { row.retry() } else { row }
    }

    /// An alias, and what has it.
    fn of_alias(field: &'a str, owner: &str) -> Self {
        Self::new(Code::AlreadyExists, Reason::AliasTaken).at(field).with("owner", owner)
    }

    /// What a tenant may have, and when to try again.
    fn of_quota(exceeded: &'a QuotaExceeded) -> Self {
        let row = Self::new(Code::ResourceExhausted, Reason::QuotaExceeded);
        let row = row.with("quota", exceeded.kind.name()).with("value", &exceeded.value);
        Self { retry: Some(exceeded.retry_after), ..row }
    }

    /// A reply that is longer than the caller takes.
    fn of_reply(reply: &TooLong) -> Self {
        let (TooLong::Reports { bytes_max }
        | TooLong::Answers { bytes_max }
        | TooLong::Body { bytes_max, .. }
        | TooLong::State { bytes_max, .. }) = reply;
        let row = Self::new(Code::ResourceExhausted, Reason::LimitExceeded).at("reply_bytes_max");
        row.with("value", bytes_max)
    }

    /// A robot that is not there, of this server or of a session.
    fn of_robot(field: &'a str, id: &(impl ToString + ?Sized)) -> Self {
        Self::new(Code::NotFound, Reason::UnknownRobot).at(field).with("robot_id", id)
    }

    /// A frame that is not the last one applied.
    fn of_other(field: &'a str, applied: &'a u64) -> Self {
        Self::of_frame(Reason::OtherFrame, field, applied)
    }

    /// A frame that is kept no more.
    fn of_past(field: &'a str, oldest: &'a u64, applied: &'a u64) -> Self {
        Self::of_frame(Reason::FrameNotKept, field, applied).with("oldest", oldest)
    }

    /// A frame that does not follow the last one applied.
    fn of_frame(reason: Reason, field: &'a str, applied: &'a u64) -> Self {
        Self::new(Code::FailedPrecondition, reason).at(field).with("applied", applied)
    }

    /// How many pieces there would be, and how far they stand out.
    fn of_gap(field: &'a str, count: &usize, gap: &f64) -> Self {
        let row = Self::new(Code::FailedPrecondition, Reason::GapUnreached).at(field);
        row.with("pieces", count).with("gap", gap)
    }

    /// The method, and the role that may call it.
    fn of_role(method: &str, needed: &&str) -> Self {
        let row = Self::new(Code::PermissionDenied, Reason::RoleTooLow);
        row.with("method", method).with("role", needed)
    }

    /// What this build cannot do.
    fn of_missing(missing: &'a NotImplemented) -> Self {
        Self::new(Code::Unimplemented, Reason::NotImplemented).at(&missing.field)
    }

    /// What is used, and how often.
    fn of_use(id: &str, uses: &u64) -> Self {
        let row = Self::new(Code::FailedPrecondition, Reason::PolytopeInUse);
        row.with("id", id).with("uses", uses)
    }
}

impl Failure {
    /// The table.
    fn row(&self) -> StatusRow<'_> {
        let (row, frame, past) = (StatusRow::new, StatusRow::of_frame, StatusRow::of_past);
        let wrong = |reason| row(Code::InvalidArgument, reason);
        let claimed = |reason| row(Code::PermissionDenied, reason);
        let unknown = |reason| row(Code::NotFound, reason);
        let unmet = |reason| row(Code::FailedPrecondition, reason);
        match self {
            Self::BadField(bad) => wrong(Reason::BadField).at(&bad.field),
            Self::Malformed(_) => wrong(Reason::MalformedMessage),
            Self::DigestMismatch { field, actual } => {
                wrong(Reason::DigestMismatch).at(field).with("id", actual)
            }
            Self::NotConvex { field, .. } => wrong(Reason::NotConvex).at(field),
            Self::NotAPolyhedron { field, .. } => wrong(Reason::NotAPolyhedron).at(field),
            Self::GapUnreached { field, count, gap } => StatusRow::of_gap(field, count, gap),
            Self::Limit(limit) | Self::MessageTooLong(limit, _) => StatusRow::of_limit(limit),
            Self::UnknownPolytope { field, key } => {
                unknown(Reason::UnknownPolytope).at(field).with("key", key)
            }
            Self::UnknownRobot { field, id } => StatusRow::of_robot(field, id),
            Self::UnknownSessionRobot { field, id } => StatusRow::of_robot(field, id),
            Self::UnknownSession { field, id } => {
                unknown(Reason::UnknownSession).at(field).with("session_id", id)
            }
            Self::SessionReplaced { field, id } => {
                unmet(Reason::SessionReplaced).at(field).with("session_id", id)
            }
            Self::UnknownBody { field, id } => {
                unknown(Reason::UnknownBody).at(field).with("body_id", id)
            }
            Self::NoKey | Self::WrongKey => row(Code::Unauthenticated, Reason::Unauthenticated),
            Self::KeyAskedFor => row(Code::Unavailable, Reason::Unauthenticated).retry(),
            Self::RoleTooLow { method, needed } => StatusRow::of_role(method, needed),
            Self::AliasTaken { field, owner } => StatusRow::of_alias(field, owner),
            Self::AliasClaimed { field } => claimed(Reason::AliasClaimed).at(field),
            Self::RobotClaimed { field } => claimed(Reason::RobotClaimed).at(field),
            Self::SessionExists { field, id } => {
                row(Code::AlreadyExists, Reason::SessionExists).at(field).with("session_id", id)
            }
            Self::PolytopeInUse { id, uses } => StatusRow::of_use(id, uses),
            Self::KeyframeNeeded { field, applied, .. } => {
                frame(Reason::KeyframeNeeded, field, applied)
            }
            Self::StaleFrame { field, applied, .. } => frame(Reason::StaleFrame, field, applied),
            Self::OtherFrame { field, applied, .. } => StatusRow::of_other(field, applied),
            Self::FrameNotKept { field, oldest, applied, .. } => past(field, oldest, applied),
            Self::SessionAttached => row(Code::Aborted, Reason::SessionAttached),
            Self::TakenOver => row(Code::Aborted, Reason::TakenOver),
            Self::Busy => row(Code::ResourceExhausted, Reason::Busy).retry(),
            Self::Draining => row(Code::Unavailable, Reason::Draining),
            Self::Quota(exceeded) => StatusRow::of_quota(exceeded),
            Self::StoreDown => row(Code::Unavailable, Reason::StoreUnavailable).retry(),
            Self::Deadline => row(Code::DeadlineExceeded, Reason::Deadline),
            Self::NotImplemented(missing) => StatusRow::of_missing(missing),
            Self::TooLong(reply) => StatusRow::of_reply(reply),
            Self::Bug(_) => row(Code::Internal, Reason::Bug),
            Self::Transport(status) => row(status.code(), Reason::Unspecified),
        }
    }

    /// For an answer that has a status for each item.
    pub fn to_item(&self) -> api::ItemStatus {
        let row = self.row();
        api::ItemStatus {
            code: row.code.into(),
            reason: row.reason.into(),
            message: self.to_string(),
            field: row.field.to_owned(),
        }
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        if let Failure::Transport(status) = failure {
            return *status;
        }
        let whole = failure.to_string();
        let row = failure.row();
        let (message, field) = (cut(&whole, TEXT_BYTES), cut(row.field, FIELD_BYTES));
        let name = row.reason.as_str_name();
        let name = name.strip_prefix("ERROR_REASON_").unwrap_or(name);
        let metadata: HashMap<String, String> = row
            .metadata
            .into_iter()
            .map(|(key, value)| (key.to_owned(), cut(&value, VALUE_BYTES).into_owned()))
            .collect();
        let mut details = ErrorDetails::with_error_info(name, DOMAIN, metadata);
        if !row.field.is_empty() {
            // The field has a place of its own there.
            let words = whole.strip_prefix(row.field).and_then(|rest| rest.strip_prefix(": "));
            let problem = cut(words.unwrap_or(&whole), TEXT_BYTES);
            details.add_bad_request_violation(field, problem);
        }
        if row.code == Code::FailedPrecondition {
            // The message has the rest.
            details.add_precondition_failure_violation(name, DOMAIN, cut(&whole, FIELD_BYTES));
        }
        if row.retry.is_some() {
            details.set_retry_info(row.retry);
        }
        if let Failure::Quota(exceeded) = &failure {
            let subject = format!("tenant:{}", exceeded.tenant);
            details.add_quota_failure_violation(subject, exceeded.to_string());
        }
        Self::with_error_details(row.code, message, details)
    }
}

/// A status travels in headers, of which many clients take 8 KiB and answer RESOURCE_EXHAUSTED in
/// its place where there are more: 60 missing meshes with long names were told as that. So much of
/// the message is sent, and of what is wrong with a field.
const TEXT_BYTES: usize = 1_400;

/// So much of the path of a field.
const FIELD_BYTES: usize = 600;

/// So much of each value beside it.
const VALUE_BYTES: usize = 300;

/// The beginning of a text that takes at most so many bytes in a header, where all but printable
/// ASCII is written in three for each byte; of the rest it is said how much there is.
fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
    let mut bytes = 0;
    for (at, c) in text.char_indices() {
        let is_plain = (c.is_ascii_graphic() || c == ' ') && c != '%';
        bytes += if is_plain { 1 } else { 3 * c.len_utf8() };
        if bytes > bytes_max {
            let left = text[at..].chars().count();
            return Cow::Owned(format!("{}... ({left} characters more)", &text[..at]));
        }
    }
    Cow::Borrowed(text)
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Busy => Self::Busy,
            Refused::Quota(exceeded) => Self::Quota(exceeded),
            Refused::ShuttingDown => Self::Draining,
            Refused::Panicked => Self::Bug(refused.to_string()),
        }
    }
}

impl From<OutOfMemory> for Failure {
    fn from(OutOfMemory(limit): OutOfMemory) -> Self {
        limit.reached().into()
    }
}

impl From<Unread> for Failure {
    fn from(why: Unread) -> Self {
        match why {
            Unread::Memory(full) => full.into(),
            Unread::Down => Self::StoreDown,
            Unread::Crowded => Self::Busy,
            Unread::Late => Self::Deadline,
        }
    }
}

impl From<NotKept> for Failure {
    fn from(why: NotKept) -> Self {
        match why {
            NotKept::Full(limit) => limit.reached().into(),
            NotKept::Down | NotKept::Overtaken => Self::StoreDown,
        }
    }
}

impl From<QuotaExceeded> for Failure {
    fn from(exceeded: QuotaExceeded) -> Self {
        Self::Quota(Box::new(exceeded))
    }
}

impl From<NoEntropy> for Failure {
    fn from(error: NoEntropy) -> Self {
        Self::Bug(error.to_string())
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Transport(Box::new(status))
    }
}

/// A status that the transport made, in the words of the table; others unchanged. The transport
/// says OUT_OF_RANGE when a message is longer than the limit, and INTERNAL (without details, which
/// our own statuses always have) when the bytes are no message: the wrong length, an unknown
/// compression, or none at all. `method` is the path of its URI.
pub fn of_transport(status: Status, limits: &Limits, method: &str) -> Status {
    if status.code() == Code::OutOfRange && status.message().contains("message length too large") {
        let exceeded = limits.message_bytes_max().exceeded_at("message");
        return Failure::MessageTooLong(exceeded, ways_out::way_out(method)).into();
    }
    if status.code() == Code::Internal && status.details().is_empty() {
        return Failure::Malformed(status.message().to_owned()).into();
    }
    status
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn a_bad_field_is_named_in_the_details_and_in_the_words() {
        let bad = BadField { field: "p.pose.rotation".into(), problem: "must not be zero".into() };
        let status = Status::from(Failure::from(bad));
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(status.message(), "p.pose.rotation: must not be zero");
        let details = status.get_error_details();
        assert_eq!(details.error_info().unwrap().reason, "BAD_FIELD");
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, "p.pose.rotation");
    }

    /// What was found wrong was told with the path once more, but for a bad field.
    #[test]
    fn what_is_wrong_with_a_field_is_told_without_its_path() {
        let (field, key) = ("q.alias".to_owned(), "nope".to_owned());
        let status = Status::from(Failure::UnknownPolytope { field, key });
        let details = status.get_error_details();
        let violation = &details.bad_request().unwrap().field_violations[0];
        assert_eq!(violation.field, "q.alias");
        assert_eq!(violation.description, "no polytope \"nope\" is registered here");
        assert_eq!(status.message(), "q.alias: no polytope \"nope\" is registered here");
    }

    /// Clients said RESOURCE_EXHAUSTED, since the headers were too long, where a field was wrong.
    #[test]
    fn no_status_is_too_long_for_headers() {
        for text in ["x".repeat(100_000), "\u{e9}%\n".repeat(30_000)] {
            let bad = BadField { field: text.clone(), problem: text.clone().into() };
            for failure in [
                Failure::from(bad),
                Failure::Malformed(text.clone()),
                Failure::Bug(text.clone()),
                Failure::UnknownSession { field: text.clone(), id: text.clone() },
                Failure::SessionReplaced { field: text.clone(), id: text.clone() },
                Failure::OtherFrame { field: text.clone(), frame_id: 1, applied: 2 },
                Failure::FrameNotKept { field: text.clone(), frame_id: 1, oldest: 2, applied: 3 },
                Failure::UnknownSessionRobot { field: text.clone(), id: 7 },
                Failure::UnknownPolytope { field: text.clone(), key: text.clone() },
                Failure::UnknownRobot { field: text.clone(), id: text.clone() },
                Failure::SessionExists { field: text.clone(), id: text.clone() },
                Failure::AliasClaimed { field: text.clone() },
                Failure::KeyframeNeeded { field: text.clone(), base: 3, applied: 7 },
            ] {
                let code = failure.row().code;
                let mut headers = HeaderMap::new();
                let status = with_request_id(&failure.into(), &"x".repeat(64));
                status.add_header(&mut headers).unwrap();
                let sent = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
                    name.as_str().len() + value.len() + 32
                };
                let bytes: usize = headers.iter().map(sent).sum();
                assert!(bytes < 8 << 10, "{code:?}: {bytes}");
            }
        }
        assert_eq!(cut("short", 9), "short");
        assert_eq!(cut("long enough", 4), "long... (7 characters more)");
    }

    #[test]
    fn a_full_server_says_when_to_come_back() {
        let status = Status::from(Failure::Busy);
        assert_eq!(status.code(), Code::ResourceExhausted);
        let details = status.get_error_details();
        assert_eq!(details.retry_info().unwrap().retry_delay, Some(RETRY_AFTER));
    }

    #[test]
    fn a_failed_precondition_says_which() {
        let field = "frame.base_frame_id".to_owned();
        let status = Status::from(Failure::KeyframeNeeded { field, base: 3, applied: 7 });
        let details = status.get_error_details();
        assert_eq!(details.precondition_failure().unwrap().violations[0].r#type, "KEYFRAME_NEEDED");
        assert_eq!(details.error_info().unwrap().metadata["applied"], "7");
    }
}
