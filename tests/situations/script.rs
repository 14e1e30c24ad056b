//! What a faulty server does when: rules, and what has arrived so far.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use prost::Message;
use tonic::Status;

use crate::mistakes::Mistake;

/// A moment of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// A call of a method has arrived; nothing of it is passed on yet.
    Call(&'static str),
    /// A message that opens a session has arrived, on a stream or by a call.
    Opening,
    /// A message with the frame of this number has arrived.
    Frame(u64),
    /// The server's answer to an opening is there.
    Opened,
    /// The report on the frame of this number is there.
    Report(u64),
    /// The news for a watcher about the frame of this number are there.
    News(u64),
    /// A message of the server's on a call of this method is there.
    Reply(&'static str),
    /// Any message of a client.
    AnyRequest,
    /// Any message of the server.
    AnyReply,
}

/// Changes the bytes of a message of a method.
pub(crate) type Rewrite = Arc<dyn Fn(&str, &mut Vec<u8>) + Send + Sync>;

/// What a faulty server does then.
#[derive(Clone)]
pub(crate) enum Act {
    /// Ends all connections; the message goes no further.
    Cut,
    /// Sends the first half of the message, and ends all connections.
    CutInside,
    /// Ends all connections and starts the server anew, with nothing in memory.
    Restart,
    /// Waits for so long.
    Hold(Duration),
    /// Answers with a status in the server's place.
    Refuse(Status),
    /// Answers with headers that are no answer of gRPC's, as a proxy between would.
    Page(u16),
    /// Answers with this value of `grpc-status-details-bin` beside a status.
    Details(i32, &'static str),
    /// Sends the message twice, on calls with many messages.
    Twice,
    /// Sends another message before this one, on calls with many messages.
    Before(Vec<u8>),
    /// The message goes no further.
    Drop,
    /// Passes something else on.
    Rewrite(Rewrite),
}

/// One line of a script.
#[derive(Clone)]
struct Rule {
    at: At,
    act: Act,
    /// How often it still holds.
    left: usize,
}

/// A call, or a message of one, that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct ArrivedCall {
    /// The last part of the method's path.
    pub(crate) method: String,
    /// When.
    pub(crate) when: Instant,
    /// Numbers of the frames in the message.
    pub(crate) frames: Vec<u64>,
    /// Whether the message opens a session.
    pub(crate) opens: bool,
    /// Whether this is the call itself, and no message.
    pub(crate) is_call: bool,
}

/// What a proxy does, and what it has seen.
#[derive(Clone, Default)]
pub(crate) struct Orders {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    rules: VecDeque<Rule>,
    arrivals: Vec<ArrivedCall>,
    mistake: Option<&'static Mistake>,
}

impl Orders {
    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while holding it")
    }

    /// From now on, once.
    pub(crate) fn once(&self, at: At, act: Act) {
        self.times(1, at, act);
    }

    /// From now on, so often.
    pub(crate) fn times(&self, left: usize, at: At, act: Act) {
        self.locked().rules.push_back(Rule { at, act, left });
    }

    /// From now on, for ever.
    pub(crate) fn always(&self, at: At, act: Act) {
        self.times(usize::MAX, at, act);
    }

    /// Whether everything has happened that was to happen.
    pub(crate) fn is_played(&self) -> bool {
        self.locked().rules.iter().all(|rule| rule.left == 0 || rule.left > usize::MAX / 2)
    }

    /// Takes what arrives as if the client made this mistake.
    pub(crate) fn mistake(&self, mistake: &'static Mistake) {
        self.locked().mistake = Some(mistake);
    }

    /// What a client that makes the mistake would have sent instead.
    pub(crate) fn mistaken(&self, method: &str, message: &mut Vec<u8>) {
        if let Some(ask) = self.locked().mistake.and_then(|mistake| mistake.asks) {
            ask(method, message);
        }
    }

    /// What a client that makes the mistake would have read instead.
    pub(crate) fn misread(&self, status: Status) -> Status {
        match self.locked().mistake.and_then(|mistake| mistake.reads) {
            Some(read) => read(status),
            None => status,
        }
    }

    /// What is to be done at any of these moments, the first rule first.
    pub(crate) fn at(&self, moments: &[At]) -> Option<Act> {
        let mut inner = self.locked();
        let rule =
            inner.rules.iter_mut().find(|rule| rule.left > 0 && moments.contains(&rule.at))?;
        rule.left -= 1;
        Some(rule.act.clone())
    }

    /// Notes a call.
    pub(crate) fn called(&self, method: &str) {
        self.note(method, Glance::default(), true);
    }

    /// Notes a message.
    pub(crate) fn heard(&self, method: &str, seen: Glance) {
        self.note(method, seen, false);
    }

    fn note(&self, method: &str, seen: Glance, is_call: bool) {
        let method = method.to_owned();
        let Glance { frames, opens } = seen;
        self.locked().arrivals.push(ArrivedCall {
            method,
            when: Instant::now(),
            frames,
            opens,
            is_call,
        });
    }

    /// All that has arrived.
    pub(crate) fn arrivals(&self) -> Vec<ArrivedCall> {
        self.locked().arrivals.clone()
    }

    /// How many calls of a method have arrived.
    pub(crate) fn calls(&self, method: &str) -> usize {
        let is_it = |arrival: &&ArrivedCall| arrival.is_call && arrival.method == method;
        self.locked().arrivals.iter().filter(is_it).count()
    }

    /// How many openings have arrived, on streams or by calls.
    pub(crate) fn openings(&self) -> usize {
        self.locked().arrivals.iter().filter(|arrival| arrival.opens).count()
    }

    /// How often a frame of this number has arrived.
    pub(crate) fn frames(&self, id: u64) -> usize {
        self.locked().arrivals.iter().filter(|arrival| arrival.frames.contains(&id)).count()
    }
}

/// What is of interest in a message of a client's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Glance {
    frames: Vec<u64>,
    opens: bool,
}

/// What a client says with a message, and at which moments that is.
pub(crate) fn asked(method: &str, message: &[u8]) -> (Glance, Vec<At>) {
    let mut seen = Glance::default();
    match method {
        "OpenSession" => seen.opens = true,
        "StepSession" => {
            let request = api::StepSessionRequest::decode(message).unwrap_or_default();
            seen.frames = request.frames.iter().map(|frame| frame.frame_id).collect();
        }
        "StreamSession" => {
            let request = api::StreamSessionRequest::decode(message).unwrap_or_default();
            seen.opens = matches!(request.start, Some(Start::Open(_)));
            seen.frames = request.frame.iter().map(|frame| frame.frame_id).collect();
        }
        _ => {}
    }
    let frames = seen.frames.iter().map(|id| At::Frame(*id));
    let mut moments: Vec<At> = frames.collect();
    moments.extend(seen.opens.then_some(At::Opening));
    moments.push(At::AnyRequest);
    (seen, moments)
}

/// At which moments a message of the server's is.
pub(crate) fn told(method: &'static str, message: &[u8]) -> Vec<At> {
    let mut moments = Vec::new();
    match method {
        "OpenSession" => moments.push(At::Opened),
        "StepSession" => {
            let reply = api::StepSessionResponse::decode(message).unwrap_or_default();
            moments.extend(reply.reports.iter().map(|report| At::Report(report.frame_id)));
        }
        "StreamSession" => {
            let reply = api::StreamSessionResponse::decode(message).unwrap_or_default();
            moments.extend(reply.opened.is_some().then_some(At::Opened));
            moments.extend(reply.report.iter().map(|report| At::Report(report.frame_id)));
        }
        "WatchSession" => {
            let reply = api::WatchSessionResponse::decode(message).unwrap_or_default();
            moments.extend(reply.frame.iter().map(|frame| At::News(frame.frame_id)));
        }
        _ => {}
    }
    moments.push(At::Reply(method));
    moments.push(At::AnyReply);
    moments
}

/// A method by the last part of its path, so that it can be compared with a script's.
pub(crate) fn method_of(path: &str) -> &'static str {
    const METHODS: [&str; 12] = [
        "OpenSession",
        "StreamSession",
        "StepSession",
        "GetSession",
        "WatchSession",
        "QueryScene",
        "ListSessions",
        "CloseSession",
        "RegisterPolytopes",
        "CheckCollision",
        "MeasureDistance",
        "GetServerInfo",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    METHODS.into_iter().find(|method| *method == name).unwrap_or("another")
}
