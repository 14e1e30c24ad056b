//! A scene of the server's that goes on frame by frame, and outlives connections and servers.
//!
//! [`Session::step`] sends a frame and waits for its report; [`Session::send`] and
//! [`Session::receive`] have several frames under way. The session follows what its frames declare
//! (in [`Session::state`]), and keeps every frame until it is answered. So when the connection is
//! lost, or the server says that it is about to stop, it goes on by itself:
//!
//! | what has happened | what the session does |
//! |---|---|
//! | the connection was lost | attaches a new stream, and sends again what is not answered |
//! | the session is forgotten, or the server another one | opens it with the state that it knows |
//! | the server asks to connect anew | likewise, and closes what is left behind |
//! | a frame builds on one that is not there | sends it again with the pose of every body |
//! | another stream took over | [`Error::TakenOver`]; [`Session::take_back`] goes on |
//! | another session has its id | the error of the server; nothing helps |
//!
//! Where a session is opened anew, bodies and robots that the server does not have are registered
//! again, and what is not answered follows.
//!
//! What else may happen on the way is a table of situations, `tests/situations` of the repository,
//! which this client passes as those in other languages do. [`Session::watch`] follows a session
//! without taking part in it.
//!
//! No event is lost or repeated by that, but where several frames were under way and the server
//! applied more of them than it could report: of those the session takes over what the server says
//! of announced contacts.

mod link;
mod mirror;
mod proofs;
mod watch;

use std::collections::VecDeque;

use tonic::{Code, Status};

use self::link::{Link, attaching, frame_message, opening};
use self::mirror::{Followed, Mirror};
pub use self::proofs::Proven;
pub use self::watch::Watching;
use crate::connection::{Client, Current};
use crate::credentials::routed;
use crate::error::{Error, reason};
use crate::retry::{LastSaid, Remedy, is_lost};
use clearance_proto as api;
use clearance_proto::ErrorReason;

/// A session, and the stream that it is attached to.
#[derive(Debug)]
pub struct Session {
    client: Client,
    /// How it is opened, without the state; with its id and its key.
    request: api::OpenSessionRequest,
    /// Whether frames that wait are merged.
    latest_wins: bool,
    /// What the server said when it was opened last.
    opened: api::OpenSessionResponse,
    mirror: Mirror,
    link: Option<Link>,
    /// The connection of that stream.
    connection: Current,
    /// Frames that are not answered yet, in order.
    sent: VecDeque<api::Frame>,
    /// The highest id of a frame so far.
    last_id: u64,
    /// How often it was gone on with since something came from a server.
    resumed: u32,
    /// Why, as far as servers have said so meanwhile.
    said: LastSaid,
    is_draining: bool,
    /// The server has asked to connect anew.
    may_move: bool,
}

impl Session {
    /// Opens a session with its scene, and attaches a stream to it.
    pub async fn open(client: &Client, request: api::OpenSessionRequest) -> Result<Self, Error> {
        Self::begin(client, request, false).await
    }

    /// Likewise; frames that wait while one is answered are merged into one.
    pub async fn open_merging(
        client: &Client,
        request: api::OpenSessionRequest,
    ) -> Result<Self, Error> {
        Self::begin(client, request, true).await
    }

    async fn begin(
        client: &Client,
        mut request: api::OpenSessionRequest,
        latest_wins: bool,
    ) -> Result<Self, Error> {
        let state = request.state.take().unwrap_or_default();
        let mut session = Self {
            client: client.clone(),
            request,
            latest_wins,
            opened: api::OpenSessionResponse::default(),
            last_id: state.frame_id,
            mirror: Mirror::of(state),
            link: None,
            connection: client.current(),
            sent: VecDeque::new(),
            resumed: 0,
            said: LastSaid::default(),
            is_draining: false,
            may_move: false,
        };
        let mut may_be_open = false;
        let ask = async || {
            let begun = session.opened_stream().await;
            match &begun {
                Err(status) if is_lost(status) => may_be_open = true,
                // An earlier attempt has opened it, whose answer was lost: nobody else has the key.
                Err(status)
                    if may_be_open
                        && !session.request.session_key.is_empty()
                        && reason(status) == Some(ErrorReason::SessionExists) =>
                {
                    session.request.replace = true;
                    return session.opened_stream().await;
                }
                // What it is made of was registered on another server, or was forgotten since.
                Err(status)
                    if lacks_registered(status) && client.register_again().await.is_ok() =>
                {
                    return session.opened_stream().await;
                }
                _ => {}
            }
            begun
        };
        let begun = client.retried(ask).await?;
        session.begun(begun)?;
        Ok(session)
    }

    /// Attaches to a session that is open, in the place of the stream that is attached to it.
    pub async fn attach(
        client: &Client,
        session_id: &str,
        session_key: &str,
    ) -> Result<Self, Error> {
        let request = api::OpenSessionRequest {
            session_id: session_id.to_owned(),
            session_key: session_key.to_owned(),
            ..Default::default()
        };
        let mut session = Self {
            client: client.clone(),
            request,
            latest_wins: false,
            opened: api::OpenSessionResponse::default(),
            mirror: Mirror::default(),
            link: None,
            connection: client.current(),
            sent: VecDeque::new(),
            last_id: 0,
            resumed: 0,
            said: LastSaid::default(),
            is_draining: false,
            may_move: false,
        };
        session.take_back().await?;
        Ok(session)
    }

    /// Goes on with a session that another stream took over, in its place. What that one has
    /// declared stands; frames that were not answered are forgotten.
    pub async fn take_back(&mut self) -> Result<(), Error> {
        let found = self.asked_again().await?;
        self.sent.clear();
        let summary = found.summary.unwrap_or_default();
        self.opened.session_id = summary.session_id;
        self.opened.incarnation = summary.incarnation;
        let state = found.state.unwrap_or_default();
        self.last_id = self.last_id.max(state.frame_id);
        self.mirror = Mirror::of(state);
        Ok(self.attach_stream().await?)
    }

    /// What the server said when the session was opened, with the report on its scene.
    pub fn opened(&self) -> &api::OpenSessionResponse {
        &self.opened
    }

    /// What is declared, as far as reports have confirmed it: with it, any server can go on.
    pub fn state(&self) -> api::SessionState {
        self.mirror.state()
    }

    /// Follows the session without taking part in it, from its state on, beside whoever steps it.
    pub fn watch(&self) -> Watching {
        let request = api::WatchSessionRequest {
            session_id: self.opened.session_id.clone(),
            session_key: self.key(),
            incarnation: self.opened.incarnation,
            reply_bytes_max: self.client.options().message_bytes_max as u64,
            moment: None,
        };
        Watching::new(&self.client, request)
    }

    /// Whether the server has said that it is about to stop. The next frame goes to another one.
    pub fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// Sends a frame and waits for its report. A frame without an id gets the next one. After an
    /// error nothing of the frame is sent any more; whether it was applied before is not known.
    pub async fn step(&mut self, frame: api::Frame) -> Result<api::FrameReport, Error> {
        let stepped = self.step_to(frame).await;
        if stepped.is_err() {
            // Else it would go before the next frame, and its events would be told to nobody.
            self.sent.clear();
        }
        stepped
    }

    async fn step_to(&mut self, frame: api::Frame) -> Result<api::FrameReport, Error> {
        let id = self.send(frame).await?;
        while let Some(report) = self.receive().await? {
            if report.frame_id >= id {
                return Ok(report);
            }
        }
        Err(Error::Protocol("the report was lost with the connection"))
    }

    /// Sends a frame, and says which id it has. Reports are to be received meanwhile: a server
    /// reads no further while they are not.
    pub async fn send(&mut self, mut frame: api::Frame) -> Result<u64, Error> {
        if self.is_draining && self.sent.is_empty() {
            self.resume(Status::unavailable("the server is draining")).await?;
        } else if self.may_move && self.sent.is_empty() {
            self.connect_anew().await?;
        }
        if frame.frame_id == 0 {
            frame.frame_id = self.last_id + 1;
        }
        let id = frame.frame_id;
        self.last_id = self.last_id.max(id);
        self.deliver(frame).await?;
        Ok(id)
    }

    /// The next report; none if every frame is answered.
    pub async fn receive(&mut self) -> Result<Option<api::FrameReport>, Error> {
        while !self.sent.is_empty() {
            let Some(link) = &mut self.link else {
                self.resume(lost()).await?;
                continue;
            };
            let message = match link.next().await {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.resume(lost()).await?;
                    continue;
                }
                Err(status) => {
                    self.recover(status).await?;
                    continue;
                }
            };
            (self.resumed, self.said) = (0, LastSaid::default());
            match message.notice() {
                api::Notice::Draining => self.is_draining = true,
                api::Notice::Reconnect => self.may_move = true,
                api::Notice::TakenOver => {
                    self.link = None;
                    return Err(Error::TakenOver);
                }
                api::Notice::Closed | api::Notice::Unspecified => {}
            }
            if let Some(report) = message.report
                && let Some(report) = self.accept(*report).await?
            {
                return Ok(Some(report));
            }
        }
        Ok(None)
    }

    /// Ends the stream and closes the session.
    pub async fn close(mut self) -> Result<(), Error> {
        if let Some(link) = self.link.take() {
            link.end().await?;
        }
        let request = api::CloseSessionRequest {
            session_id: self.opened.session_id.clone(),
            session_key: self.key(),
            incarnation: self.opened.incarnation,
            // A server that stops closes its sessions.
            allow_missing: true,
        };
        let id = self.opened.session_id.clone();
        let close =
            async || self.client.sessions().close_session(routed(&id, request.clone())).await;
        self.client.retried(close).await?;
        Ok(())
    }

    /// Goes on over a new connection. Where that leads to another server, the session is closed on
    /// the one that had it.
    async fn connect_anew(&mut self) -> Result<(), Error> {
        let (before, connection) = (self.opened.incarnation, self.connection.clone());
        self.resume(Status::unavailable("the server asks to connect anew")).await?;
        if self.opened.incarnation == before {
            return Ok(());
        }
        let request = api::CloseSessionRequest {
            session_id: self.opened.session_id.clone(),
            session_key: self.key(),
            incarnation: before,
            allow_missing: true,
        };
        let mut sessions = self.client.sessions_over(&connection);
        // Where this fails, the server closes it when it has been idle for long.
        let _ = sessions.close_session(routed(&self.opened.session_id, request)).await;
        Ok(())
    }

    /// What the server has declared of the session.
    async fn asked_again(&self) -> Result<api::GetSessionResponse, Error> {
        let ask = async || self.get().await;
        self.client.retried(ask).await
    }

    /// Likewise, asked once.
    async fn get(&self) -> Result<api::GetSessionResponse, Status> {
        let asked = self.asked_for();
        let id = asked.session_id.clone();
        let found = self.client.sessions().get_session(routed(&id, asked)).await;
        Ok(found?.into_inner())
    }

    /// Takes in a report; none is left if the frame was sent again as a keyframe.
    async fn accept(
        &mut self,
        report: api::FrameReport,
    ) -> Result<Option<api::FrameReport>, Error> {
        let mut answered = None;
        while self.sent.front().is_some_and(|frame| frame.frame_id <= report.frame_id) {
            let Some(frame) = self.sent.pop_front() else { break };
            if frame.frame_id == report.frame_id {
                answered = Some(frame);
            } else {
                // Merged with those that follow.
                self.mirror.apply(&frame);
            }
        }
        let Some(frame) = answered else { return Ok(Some(report)) };
        if let Some(status) = &report.status {
            use ErrorReason::{KeyframeNeeded, StaleFrame};
            if matches!(status.reason(), KeyframeNeeded | StaleFrame) && !frame.keyframe {
                self.send_whole(frame).await?;
                return Ok(None);
            }
            return Ok(Some(report));
        }
        let followed = self.mirror.apply(&frame);
        self.mirror.announce(&report);
        let omitted = report.omitted_items + report.omitted_events;
        if followed == Followed::InPart || !report.refused_items.is_empty() || omitted > 0 {
            self.refresh().await?;
        }
        Ok(Some(report))
    }

    /// Sends a frame again that built on what the server does not have: as a keyframe, after
    /// whatever the server has applied.
    async fn send_whole(&mut self, frame: api::Frame) -> Result<(), Error> {
        let found = self.asked_again().await?;
        let applied = found.state.map_or(0, |state| state.frame_id);
        self.last_id = self.last_id.max(applied) + 1;
        let frame = api::Frame { frame_id: self.last_id, ..self.mirror.whole(frame) };
        self.deliver(frame).await
    }

    async fn deliver(&mut self, frame: api::Frame) -> Result<(), Error> {
        if let Some(link) = &self.link {
            link.send(&frame).await;
            self.sent.push_back(frame);
            return Ok(());
        }
        self.sent.push_back(frame);
        self.resume(lost()).await
    }

    /// Asks the server what is declared; where it is gone meanwhile, what is known has to do.
    async fn refresh(&mut self) -> Result<(), Error> {
        match self.get().await {
            Ok(found) => {
                self.mirror = Mirror::of(found.state.unwrap_or_default());
                Ok(())
            }
            Err(status) if is_gone(&status) || Remedy::of(&status).is_some() => Ok(()),
            Err(status) => Err(status.into()),
        }
    }

    /// Goes on after the stream ended with a status, if something helps.
    async fn recover(&mut self, status: Status) -> Result<(), Error> {
        self.link = None;
        match reason(&status) {
            Some(ErrorReason::TakenOver) => Err(Error::TakenOver),
            _ if is_gone(&status) => self.resume(lost()).await,
            _ if Remedy::of(&status).is_some() => self.resume(status).await,
            _ => Err(status.into()),
        }
    }

    /// Goes on with a new stream, here or on another server, and sends what is not answered.
    async fn resume(&mut self, mut why: Status) -> Result<(), Error> {
        self.link = None;
        let policy = self.client.options().retry;
        for attempt in self.resumed + 1.. {
            self.said.hear(&why);
            let Some((remedy, pause)) = policy.after(attempt, &why) else { break };
            tokio::time::sleep(pause).await;
            if remedy == Remedy::Reconnect {
                self.client.move_on(&self.connection);
            }
            self.connection = self.client.current();
            match self.rejoin().await {
                Ok(()) => {
                    // A stream that is attached may be refused still.
                    self.resumed = attempt;
                    return Ok(());
                }
                // It went while a stream was attached to it.
                Err(Error::Status(status)) if is_gone(&status) => why = lost(),
                Err(Error::Status(status)) => why = *status,
                Err(other) => return Err(other),
            }
        }
        Err(self.said.told(why).into())
    }

    /// Attaches a stream to the session if it is there, else opens it anew.
    async fn rejoin(&mut self) -> Result<(), Error> {
        match self.get().await {
            Ok(found) => {
                let state = found.state.unwrap_or_default();
                let applied = state.frame_id;
                self.last_id = self.last_id.max(applied);
                let is_next = self.sent.front().is_some_and(|frame| frame.frame_id == applied);
                if self.mirror.frame_id() < applied && !is_next {
                    // The reports up to there are lost.
                    self.mirror = Mirror::of(state);
                    self.sent.retain(|frame| frame.frame_id >= applied);
                }
                self.attach_stream().await?;
            }
            Err(status) if status.code() == Code::NotFound => self.restate().await?,
            Err(status) => return Err(status.into()),
        }
        (self.is_draining, self.may_move) = (false, false);
        Ok(())
    }

    /// Opens the session anew, with all that is known to be declared.
    async fn restate(&mut self) -> Result<(), Error> {
        self.request.session_id.clone_from(&self.opened.session_id);
        self.request.session_key = self.key();
        self.request.replace = true;
        let begun = match self.opened_stream().await {
            Err(status) if status.code() == Code::NotFound => {
                // Its bodies are not there either.
                self.client.register_again().await?;
                self.opened_stream().await?
            }
            begun => begun?,
        };
        self.begun(begun)
    }

    /// Opens the session on a new stream, on which all that is not answered follows.
    async fn opened_stream(&self) -> Result<Attached, Status> {
        let mut messages = opening(&self.request, self.mirror.state(), self.latest_wins);
        messages.extend(self.sent.iter().map(frame_message));
        let connection = self.client.current();
        let mut link = Link::begin(&self.client, &self.request.session_id, messages).await?;
        let first = link.next().await?;
        Ok(Attached { link, connection, opened: first.and_then(|message| message.opened) })
    }

    fn begun(&mut self, begun: Attached) -> Result<(), Error> {
        let Attached { link, connection, opened } = begun;
        let opened = *opened.ok_or(Error::Protocol("the session was not opened"))?;
        if let Some(report) = &opened.report {
            self.mirror.announce(report);
        }
        // A key that the server made before stays the key, since it was brought again.
        let session_key = self.key();
        self.opened = opened;
        if self.opened.session_key.is_empty() {
            self.opened.session_key = session_key;
        }
        (self.link, self.connection) = (Some(link), connection);
        Ok(())
    }

    /// Attaches a new stream, which begins with all that is not answered.
    async fn attach_stream(&mut self) -> Result<(), Status> {
        let api::OpenSessionResponse { session_id, incarnation, .. } = &self.opened;
        let first = attaching(session_id.clone(), self.key(), *incarnation, self.latest_wins);
        self.connection = self.client.current();
        let frames = self.sent.iter().map(frame_message);
        let messages = std::iter::once(first).chain(frames).collect();
        self.link = Some(Link::begin(&self.client, &self.opened.session_id, messages).await?);
        Ok(())
    }

    /// A question for what is declared.
    fn asked_for(&self) -> api::GetSessionRequest {
        let named = [&self.opened.session_id, &self.request.session_id];
        let session_id = named.into_iter().find(|id| !id.is_empty()).cloned().unwrap_or_default();
        api::GetSessionRequest {
            session_id,
            session_key: self.key(),
            incarnation: self.opened.incarnation,
            reply_bytes_max: self.client.options().message_bytes_max as u64,
        }
    }

    fn key(&self) -> String {
        let keys = [&self.opened.session_key, &self.request.session_key];
        keys.into_iter().find(|key| !key.is_empty()).cloned().unwrap_or_default()
    }
}

/// A stream on which a session was opened, if the server's first message says so.
struct Attached {
    link: Link,
    connection: Current,
    opened: Option<Box<api::OpenSessionResponse>>,
}

/// Whether the server knows no such session.
fn is_gone(status: &Status) -> bool {
    reason(status) == Some(ErrorReason::UnknownSession)
}

/// Whether the server lacks a body or a robot that was registered.
fn lacks_registered(status: &Status) -> bool {
    use ErrorReason::{UnknownPolytope, UnknownRobot};
    matches!(reason(status), Some(UnknownPolytope | UnknownRobot))
}

/// What a stream that ended, or could not be begun, counts as.
fn lost() -> Status {
    Status::unavailable("the stream has ended")
}
