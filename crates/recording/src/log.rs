//! What calls say of sessions, and the file of each session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clearance_proto as api;
use http::HeaderMap;
use prost::Message;
use tonic::transport::Channel;

use crate::file::{Recorder, now};

/// Bytes of registrations that are kept for sessions that are opened later.
const REGISTERED_BYTES_MAX: usize = 256 << 20;

/// Headers that a call about a session has to bring again.
const BROUGHT: [&str; 4] =
    ["authorization", "x-api-key", "clearance-session-key", "clearance-session"];

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// Whoever calls.
    Client,
    /// Whoever answers.
    Server,
}

/// A session that is to be watched.
pub(crate) struct Watched {
    /// Its id.
    pub(crate) session: String,
    /// Which of those that had this id.
    pub(crate) incarnation: u64,
    /// Its key, if it has one.
    pub(crate) key: String,
    /// What whoever opened it brought.
    pub(crate) headers: HeaderMap,
}

/// Everything that is recorded.
pub(crate) struct Log {
    folder: PathBuf,
    /// Watches a session that is opened.
    watch: fn(Arc<Self>, Watched),
    /// The way to the server.
    pub(crate) channel: Channel,
    kept: Mutex<Recordings>,
}

#[derive(Default)]
struct Recordings {
    registered: Vec<Registration>,
    registered_bytes: usize,
    sessions: HashMap<String, SessionFile>,
    /// What was written, a line for each file that is ended.
    written: Vec<String>,
}

#[derive(Clone)]
enum Registration {
    Bodies(api::RegisterPolytopesRequest),
    Robot(api::RegisterRobotRequest),
}

struct SessionFile {
    recorder: Recorder,
    path: PathBuf,
    frames: u64,
    /// Something could not be written, or read.
    flaw: Option<String>,
}

impl Log {
    /// Files go to this folder, and `watch` is told of every session that is opened.
    pub(crate) fn new(folder: PathBuf, channel: Channel, watch: fn(Arc<Self>, Watched)) -> Self {
        Self { folder, watch, channel, kept: Mutex::default() }
    }

    /// Writes a message to the file of a session, if it has one; `at` in nanoseconds since 1970.
    pub(crate) fn write<M: Message + prost::Name>(
        &self,
        session: &str,
        topic: &'static str,
        message: &M,
        at: u64,
    ) {
        let mut kept = self.kept();
        if let Some(file) = kept.sessions.get_mut(session) {
            file.write(topic, message, at);
        }
    }

    /// Ends all files, and says what is in them.
    pub(crate) fn end(&self) -> Vec<String> {
        let mut kept = self.kept();
        let open: Vec<String> = kept.sessions.keys().cloned().collect();
        for session in open {
            kept.close(&session);
        }
        std::mem::take(&mut kept.written)
    }

    /// Whether a session is recorded.
    pub(crate) fn has(&self, session: &str) -> bool {
        self.kept().sessions.contains_key(session)
    }

    fn register(&self, registration: Registration) {
        let bytes = match &registration {
            Registration::Bodies(request) => request.encoded_len(),
            Registration::Robot(request) => request.encoded_len(),
        };
        let mut kept = self.kept();
        if kept.registered_bytes + bytes > REGISTERED_BYTES_MAX {
            tracing::warn!(bytes, "too much is registered to be recorded with later sessions");
            return;
        }
        kept.registered_bytes += bytes;
        kept.registered.push(registration);
    }

    fn begin(
        &self,
        session: &str,
        open: &api::OpenSessionRequest,
        told: &api::OpenSessionResponse,
    ) {
        let mut kept = self.kept();
        kept.close(session);
        let path = self.free_name(session);
        let recorder = match Recorder::create(&path) {
            Ok(recorder) => recorder,
            Err(error) => {
                tracing::warn!(%error, session, "is not recorded");
                return;
            }
        };
        let mut file = SessionFile { recorder, path, frames: 0, flaw: None };
        let at = now();
        for registration in &kept.registered {
            match registration {
                Registration::Bodies(request) => file.write("/clearance/registration", request, at),
                Registration::Robot(request) => {
                    file.write("/clearance/robot_registration", request, at);
                }
            }
        }
        let open = api::OpenSessionRequest { session_key: String::new(), ..open.clone() };
        file.write("/clearance/open", &open, at);
        if let Some(report) = &told.report {
            file.write("/clearance/report", report, at);
        }
        kept.sessions.insert(session.to_owned(), file);
    }

    /// A file that is not there, named after a session.
    fn free_name(&self, session: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = session.chars().map(plain).take(100).collect();
        let name = name.trim_start_matches('.');
        let mut path = self.folder.join(format!("{name}.mcap"));
        for number in 2_u32.. {
            if !path.exists() {
                break;
            }
            path = self.folder.join(format!("{name}-{number}.mcap"));
        }
        path
    }

    /// What is wrong with the file of a session is told when it ends; the first time counts.
    pub(crate) fn flaw(&self, session: &str, what: &str) {
        if let Some(file) = self.kept().sessions.get_mut(session) {
            file.flaw.get_or_insert_with(|| what.to_owned());
        }
    }

    fn kept(&self) -> MutexGuard<'_, Recordings> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recordings {
    fn close(&mut self, session: &str) {
        let Some(file) = self.sessions.remove(session) else { return };
        let SessionFile { recorder, path, frames, flaw } = file;
        let ended = recorder.end().err().map(|error| error.to_string());
        let flaw = flaw.or(ended).map_or_else(String::new, |flaw| format!("; incomplete: {flaw}"));
        self.written.push(format!("{}: {frames} frames{flaw}", path.display()));
    }
}

impl SessionFile {
    fn write<M: Message + prost::Name>(&mut self, topic: &'static str, message: &M, at: u64) {
        if topic == "/clearance/frame" {
            self.frames += 1;
        }
        if let Err(error) = self.recorder.write(topic, message, at) {
            self.flaw.get_or_insert_with(|| error.to_string());
        }
    }
}

/// A call that is passed on.
pub(crate) struct RelayedCall {
    log: Arc<Log>,
    method: String,
    brought: HeaderMap,
    known: Mutex<CallNotes>,
}

/// What a call has said until now.
#[derive(Default)]
struct CallNotes {
    session: Option<String>,
    open: Option<api::OpenSessionRequest>,
    registration: Option<Registration>,
    /// Frames that were sent before the session was there, or before they were answered.
    frames: Vec<api::Frame>,
}

impl RelayedCall {
    /// A call to the method at this path.
    pub(crate) fn new(log: Arc<Log>, path: &str, headers: &HeaderMap) -> Self {
        let method = path.rsplit('/').next().unwrap_or_default().to_owned();
        let brought = BROUGHT.iter().flat_map(|name| {
            headers.get_all(*name).iter().map(|value| (http::HeaderName::from_static(name), value))
        });
        let brought = brought.map(|(name, value)| (name, value.clone())).collect();
        Self { log, method, brought, known: Mutex::default() }
    }

    /// Takes note of a message; none: of one that cannot be read.
    pub(crate) fn said(&self, side: Speaker, message: Option<&[u8]>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bytes) = message else {
            let session = known.session.clone().unwrap_or_default();
            self.log.flaw(&session, "the client compresses its messages");
            return;
        };
        // What is no message of the interface the server refuses.
        let _ = self.note(&mut known, side, bytes);
    }

    fn note(
        &self,
        known: &mut CallNotes,
        side: Speaker,
        bytes: &[u8],
    ) -> Result<(), prost::DecodeError> {
        match (self.method.as_str(), side) {
            ("RegisterPolytopes", Speaker::Client) => {
                let mut request = api::RegisterPolytopesRequest::decode(bytes)?;
                // Keys are nobody else's, and what a key claims is free where it is played again.
                request.polytopes.iter_mut().for_each(|spec| spec.alias_key.clear());
                let registers = !request.validate_only;
                known.registration = registers.then_some(Registration::Bodies(request));
            }
            ("RegisterRobot", Speaker::Client) => {
                let request = api::RegisterRobotRequest::decode(bytes)?;
                known.registration = Some(Registration::Robot(request));
            }
            ("RegisterPolytopes" | "RegisterRobot", Speaker::Server) => {
                known.registration.take().into_iter().for_each(|one| self.log.register(one));
            }
            ("OpenSession", Speaker::Client) => {
                known.open = Some(api::OpenSessionRequest::decode(bytes)?);
            }
            ("OpenSession", Speaker::Server) => {
                self.opened(known, &api::OpenSessionResponse::decode(bytes)?);
            }
            ("StreamSession", Speaker::Client) => {
                self.streamed(known, api::StreamSessionRequest::decode(bytes)?);
            }
            ("StreamSession", Speaker::Server) => {
                let told = api::StreamSessionResponse::decode(bytes)?;
                if let Some(opened) = &told.opened {
                    self.opened(known, opened);
                }
                if let (Some(report), Some(session)) = (&told.report, &known.session) {
                    self.log.write(session, "/clearance/report", &**report, now());
                }
            }
            ("StepSession", Speaker::Client) => {
                let request = api::StepSessionRequest::decode(bytes)?;
                (known.session, known.frames) = (Some(request.session_id), request.frames);
            }
            ("StepSession", Speaker::Server) => {
                self.stepped(known, &api::StepSessionResponse::decode(bytes)?);
            }
            ("CloseSession", Speaker::Client) => {
                known.session = Some(api::CloseSessionRequest::decode(bytes)?.session_id);
            }
            ("CloseSession", Speaker::Server) => {
                known.session.take().into_iter().for_each(|id| self.log.kept().close(&id));
            }
            _ => {}
        }
        Ok(())
    }

    /// A message of a stream: a session to open, more of it, or a frame.
    fn streamed(&self, known: &mut CallNotes, request: api::StreamSessionRequest) {
        use api::stream_session_request::Start;
        match request.start {
            Some(Start::Open(open)) => known.open = Some(*open),
            Some(Start::SessionId(id)) => known.session = Some(id),
            None => {}
        }
        if let (Some(more), Some(open)) = (request.more_state, &mut known.open) {
            add_state(open.state.get_or_insert_default(), *more);
        }
        let Some(frame) = request.frame else { return };
        match &known.session {
            Some(session) if known.open.is_none() => {
                self.log.write(session, "/clearance/frame", &*frame, now());
            }
            _ => known.frames.push(*frame),
        }
    }

    /// The session is there, or was already.
    fn opened(&self, known: &mut CallNotes, told: &api::OpenSessionResponse) {
        known.session = Some(told.session_id.clone());
        if let Some(open) = known.open.take() {
            self.log.begin(&told.session_id, &open, told);
            let watched = Watched {
                session: told.session_id.clone(),
                incarnation: told.incarnation,
                key: [&told.session_key, &open.session_key]
                    .into_iter()
                    .find(|key| !key.is_empty())
                    .cloned()
                    .unwrap_or_default(),
                headers: self.brought.clone(),
            };
            (self.log.watch)(self.log.clone(), watched);
        }
        for frame in std::mem::take(&mut known.frames) {
            self.log.write(&told.session_id, "/clearance/frame", &frame, now());
        }
    }

    /// Frames, and their reports, one for each.
    fn stepped(&self, known: &mut CallNotes, told: &api::StepSessionResponse) {
        let Some(session) = &known.session else { return };
        for (frame, report) in std::mem::take(&mut known.frames).iter().zip(&told.reports) {
            self.log.write(session, "/clearance/frame", frame, now());
            self.log.write(session, "/clearance/report", report, now());
        }
    }
}

fn add_state(state: &mut api::SessionState, more: api::SessionState) {
    state.bodies.extend(more.bodies);
    state.contacts.extend(more.contacts);
    state.robots.extend(more.robots);
    if let Some(rules) = more.rules {
        let known = state.rules.get_or_insert_default();
        let mut bytes = known.encode_to_vec();
        // Entries of lists are added, and what is said once is said with the first message.
        bytes.extend(rules.encode_to_vec());
        if let Ok(merged) = api::PairRules::decode(&*bytes) {
            *known = merged;
        }
    }
}
