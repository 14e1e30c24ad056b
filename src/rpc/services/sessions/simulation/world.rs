//! Two servers in this process, a client of one session on them, and what goes wrong between them.
//! Calls go through the generated client and service, so every message is written and read; there
//! are no sockets, and the clock stands still.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Status, Streaming};

use super::super::{SessionHost, Sessions};
use super::arms;
use super::asking::{self, Heard, PAST_FRAMES};
use super::check::{Wrong, check};
use super::follower::Follower;
use super::frames::{self, Sent, Shapes};
use super::model::{Asked, Fate, Model, Pair};
use crate::rpc::shared::Shared;
use api::ErrorReason;
use api::session_service_client::SessionServiceClient;
use api::session_service_server::SessionServiceServer;
use api::stream_session_request::Start;
use clearance_bodies::table::place::Place;
use clearance_geometry::effort::Effort;
use clearance_geometry::polytope::Polytope;
use clearance_proto as api;
use clearance_runtime::clock::ManualClock;
use clearance_runtime::memory::MemoryQuota;
use clearance_runtime::sessions::Resident;
use clearance_runtime::sessions::owner::Credentials;
use clearance_runtime::settings::Settings;
use clearance_runtime::store::{NewPolytope, Stored};
use clearance_samples::Random;
use clearance_scene::Listed;
use clearance_wire::convert::sessions::state::rules_to_wire;

type Client = SessionServiceClient<SessionServiceServer<Sessions>>;

const ID: &str = "simulated";

/// What both servers of all worlds of a thread share, with the shapes of all bodies.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    shared: Shared,
    shapes: Shapes,
}

impl Ground {
    pub(super) fn new() -> Self {
        let settings = Settings { compute_threads: 1, open_sessions: true, ..Settings::default() };
        let (_, draining) = clearance_runtime::latch::Latch::new();
        let mut shared = Shared::new(settings, draining).unwrap();
        shared.clock = Arc::new(ManualClock::new());
        let register = |polytope: Polytope| {
            let stored =
                Stored::new(polytope.into(), &Effort::unlimited()).expect("without a deadline");
            let new = NewPolytope {
                stored,
                alias: None,
                move_alias: false,
                alias_key: None,
                made_key: None,
            };
            let known =
                shared.store().register(vec![new], &MemoryQuota::of_nobody(), shared.limits());
            let id = known.unwrap()[0].stored.id;
            let stored = shared.store().get(&id).unwrap();
            let shape = Place::Session.part(&stored.body).expect("a polytope was registered");
            (shape.polytope.clone(), id.to_string())
        };
        let polytopes = frames::polytopes().into_iter().map(register).collect();
        let shapes = Shapes { polytopes, arm: arms::registered(&shared) };
        Self { shared, shapes }
    }
}

struct Server {
    host: SessionHost,
    client: Client,
}

/// A stream that is attached.
struct Line {
    sender: mpsc::UnboundedSender<api::StreamSessionRequest>,
    replies: Streaming<api::StreamSessionResponse>,
    /// What waits is merged.
    merges: bool,
}

/// How frames get to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Call,
    Stream,
}

/// See the header of this file.
pub(super) struct World {
    servers: [Server; 2],
    /// Where the session is.
    at: usize,
    line: Option<Line>,
    pub(super) shapes: Shapes,
    pub(super) model: Model,
    pub(super) asked: Asked,
    /// The last answer of the server.
    last: Option<api::FrameReport>,
    /// The contacts that the client has been told of.
    client: BTreeSet<Pair>,
    opening: api::OpenSessionRequest,
    /// What was said of the scene, frame by frame.
    heard: Heard,
    follower: Option<Follower>,
    /// Questions to scenes that were answered: of those that stand, and of past ones.
    pub(super) questions: [u64; 2],
    /// Frames that a follower knew of.
    pub(super) followed: u64,
    /// Questions that were answered.
    pub(super) answers: u64,
    pub(super) events: u64,
    /// Those in which a link takes part.
    pub(super) link_events: u64,
}

const PLAIN: Asked = Asked {
    listed: Listed::Changed,
    first_contacts: false,
    distances: false,
    below: None,
    is_packed: false,
    steps: None,
};

impl World {
    /// Opens a session with some bodies.
    pub(super) async fn open(ground: &Ground, random: &mut Random) -> Result<Self, Wrong> {
        let server = || {
            let host = SessionHost::new(ground.shared.clone());
            let client = Client::new(SessionServiceServer::new(Sessions(host.clone())));
            Server { host, client }
        };
        let shapes = ground.shapes.clone();
        let bodies: Vec<_> = (0..3 + random.below(4)).map(|id| shapes.body(id, random)).collect();
        let release_margin = [0.0, 0.3][random.below(2) as usize];
        let mut model = Model::open(&bodies, Default::default(), release_margin);
        // Some contacts begin before there is one.
        let begin_margin: f64 = [0.0, 0.0, 0.1, 0.3][random.below(4) as usize];
        model.begin_margin = begin_margin.min(release_margin);
        if random.below(3) == 0 {
            arms::open(&mut model, &shapes, random);
        }
        model.rules = frames::rules(&model, random);
        let mut opening = api::OpenSessionRequest {
            session_id: ID.to_owned(),
            report: Some(frames::report(&PLAIN)),
            canonical: random.below(12) == 0,
            replace: true,
            history_frames: PAST_FRAMES as u32,
            ..Default::default()
        };
        if random.below(8) == 0 {
            let methods = clearance_geometry::separation::METHODS;
            opening.method = methods[random.below(methods.len() as u32) as usize].name.to_owned();
        }
        let mut world = Self {
            servers: [server(), server()],
            at: 0,
            line: None,
            shapes,
            model,
            asked: PLAIN,
            last: None,
            client: BTreeSet::new(),
            opening,
            heard: Heard::default(),
            follower: None,
            questions: [0; 2],
            followed: 0,
            answers: 0,
            events: 0,
            link_events: 0,
        };
        let state = world.state_as_known();
        world.open_with(state).await?;
        Ok(world)
    }

    /// The declared state, as the client knows it.
    fn state_as_known(&self) -> api::SessionState {
        let contact = |(pair, began): (&Pair, &u64)| api::AnnouncedContact {
            pair: Some(api::BodyPair { a: Some(pair[0]), b: Some(pair[1]) }),
            began_frame_id: *began,
        };
        let bodies = self.model.bodies.values().filter(|placed| !placed.is_link());
        let bodies = bodies.map(|placed| self.shapes.wire(&placed.body));
        api::SessionState {
            bodies: bodies.collect(),
            rules: Some(rules_to_wire(&self.model.rules)),
            frame_id: self.model.applied,
            contacts: self.model.contacts.iter().map(contact).collect(),
            release_margin: self.model.release_margin,
            begin_margin: self.model.begin_margin,
            robots: self.model.arms.values().map(|arm| self.shapes.arm_to_wire(arm)).collect(),
        }
    }

    async fn open_with(&mut self, state: api::SessionState) -> Result<(), Wrong> {
        let request = api::OpenSessionRequest { state: Some(state), ..self.opening.clone() };
        let opened = self.server().client.open_session(request).await;
        let opened = opened.map_err(|status| format!("opening: {status}"))?.into_inner();
        self.heard = Heard::from(self.model.applied);
        let pairs = self.model.pairs().len() as u64;
        if opened.checked_pairs != pairs {
            return Err(format!("{} pairs are checked, not {pairs}", opened.checked_pairs));
        }
        self.answered(&PLAIN, opened.report.unwrap_or_default())
    }

    fn server(&mut self) -> &mut Server {
        &mut self.servers[self.at]
    }

    /// Holds an answer against the model, and lets the client hear of it.
    fn answered(&mut self, asked: &Asked, report: api::FrameReport) -> Result<(), Wrong> {
        check(&mut self.model, asked, &report)?;
        self.answers += 1;
        self.events += report.events.len() as u64;
        let has_link =
            |event: &&api::ContactEvent| arms::is_any_link(event.a) || arms::is_any_link(event.b);
        self.link_events += report.events.iter().filter(has_link).count() as u64;
        for event in &report.events {
            let pair = [event.a, event.b];
            match event.kind() {
                api::ContactEventKind::Began => drop(self.client.insert(pair)),
                api::ContactEventKind::Ended => drop(self.client.remove(&pair)),
                api::ContactEventKind::Unspecified | api::ContactEventKind::Undecided => {}
            }
        }
        self.last = Some(report);
        let announced: BTreeSet<Pair> = self.model.contacts.keys().copied().collect();
        if self.client == announced {
            return Ok(());
        }
        Err(format!("the events tell of {:?}, and there are {announced:?}", self.client))
    }

    /// Holds what came back for these frames against the model.
    fn compare(
        &mut self,
        sent: &[Sent],
        reports: Vec<api::FrameReport>,
        merges: bool,
    ) -> Result<(), Wrong> {
        let mut reports = reports.into_iter();
        let mut unanswered: Option<Asked> = None;
        for one in sent {
            let fate = self.model.apply(&one.frame);
            if let Fate::Applied(refused) = fate {
                self.heard.applied(one.frame.id);
                unanswered = Some(one.asked);
                if merges && refused == 0 {
                    continue;
                }
                self.next_answer(&mut unanswered, &mut reports, refused)?;
                continue;
            }
            self.next_answer(&mut unanswered, &mut reports, 0)?;
            let report = reports.next().ok_or("a report is missing")?;
            let reason = match fate {
                Fate::Repeated => {
                    self.repeated(&one.asked, report)?;
                    continue;
                }
                Fate::Stale => ErrorReason::StaleFrame,
                Fate::KeyframeNeeded => ErrorReason::KeyframeNeeded,
                Fate::Invalid | Fate::Applied(_) => ErrorReason::BadField,
            };
            let told = report.status.as_ref().map(|status| status.reason());
            if told != Some(reason) {
                return Err(format!("frame {}: {told:?} in place of {reason:?}", one.frame.id));
            }
        }
        self.next_answer(&mut unanswered, &mut reports, 0)?;
        reports.next().map_or(Ok(()), |report| Err(format!("one report too many: {report:?}")))
    }

    fn next_answer(
        &mut self,
        unanswered: &mut Option<Asked>,
        reports: &mut impl Iterator<Item = api::FrameReport>,
        refused: usize,
    ) -> Result<(), Wrong> {
        let Some(asked) = unanswered.take() else { return Ok(()) };
        let report = reports.next().ok_or("a report is missing")?;
        if report.refused_items.len() != refused {
            return Err(format!("{refused} items are wrong: {:?}", report.refused_items));
        }
        self.answered(&asked, report)
    }

    /// What was told is told again, word for word; what was not is answered now.
    fn repeated(&mut self, asked: &Asked, report: api::FrameReport) -> Result<(), Wrong> {
        match &self.last {
            Some(last) if last.frame_id == self.model.applied => {
                if *last == report {
                    return Ok(());
                }
                Err(format!("repeated {:?} as {report:?}", self.last))
            }
            _ => self.answered(asked, report),
        }
    }

    /// Sends frames, and compares what comes back.
    pub(super) async fn send(&mut self, sent: &[Sent], by: By, merges: bool) -> Result<(), Wrong> {
        match by {
            By::Call => {
                let reports = self.call(sent, self.line.is_some()).await;
                let reports = reports.map_err(|status| format!("StepSession: {status}"))?;
                self.line_ends().await?;
                self.compare(sent, reports, false)
            }
            By::Stream => {
                let wire: Vec<_> = sent.iter().map(|one| one.wire.clone()).collect();
                if self.line.is_none() {
                    self.line = Some(self.attach(wire, false, merges).await?);
                } else if let Some(line) = &self.line {
                    for frame in wire {
                        let frame = Some(frame);
                        let message = api::StreamSessionRequest {
                            frame: frame.map(Box::new),
                            ..Default::default()
                        };
                        line.sender.send(message).map_err(|_| "the stream has ended")?;
                    }
                }
                self.receive(sent).await
            }
        }
    }

    /// How many reports there have to be on these frames.
    fn count(&self, sent: &[Sent], merges: bool) -> usize {
        let mut model = self.model.clone();
        let (mut count, mut is_due) = (0, false);
        for one in sent {
            match model.apply(&one.frame) {
                Fate::Applied(0) if merges => is_due = true,
                Fate::Applied(_) => (count, is_due) = (count + 1, false),
                Fate::Repeated | Fate::Stale | Fate::KeyframeNeeded | Fate::Invalid => {
                    (count, is_due) = (count + 1 + usize::from(is_due), false);
                }
            }
        }
        count + usize::from(is_due)
    }

    async fn call(
        &mut self,
        sent: &[Sent],
        take_over: bool,
    ) -> Result<Vec<api::FrameReport>, Status> {
        let request = api::StepSessionRequest {
            session_id: ID.to_owned(),
            frames: sent.iter().map(|one| one.wire.clone()).collect(),
            take_over,
            ..Default::default()
        };
        Ok(self.server().client.step_session(request).await?.into_inner().reports)
    }

    /// A new stream, with frames that are underway.
    async fn attach(
        &mut self,
        frames: Vec<api::Frame>,
        take_over: bool,
        latest_wins: bool,
    ) -> Result<Line, Wrong> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut frames = frames.into_iter();
        let first = api::StreamSessionRequest {
            start: Some(Start::SessionId(ID.to_owned())),
            take_over,
            latest_wins,
            frame: frames.next().map(Box::new),
            ..Default::default()
        };
        let rest = frames.map(|frame| api::StreamSessionRequest {
            frame: Some(Box::new(frame)),
            ..Default::default()
        });
        for message in std::iter::once(first).chain(rest) {
            sender.send(message).expect("nobody reads it yet");
        }
        let messages = UnboundedReceiverStream::new(receiver);
        let replies = self.server().client.stream_session(messages).await;
        let replies = replies.map_err(|status| format!("StreamSession: {status}"))?.into_inner();
        Ok(Line { sender, replies, merges: latest_wins })
    }

    /// Reads as many reports as there have to be.
    async fn receive(&mut self, sent: &[Sent]) -> Result<(), Wrong> {
        let mut line = self.line.take().ok_or("no stream")?;
        let mut reports = Vec::new();
        for _ in 0..self.count(sent, line.merges) {
            let reply =
                line.replies.message().await.map_err(|status| format!("stream: {status}"))?;
            let reply = reply.ok_or("the stream ended")?;
            reports.push(*reply.report.ok_or("a reply without a report")?);
        }
        let merges = line.merges;
        self.line = Some(line);
        self.compare(sent, reports, merges)
    }

    /// The stream that was attached has been taken over, and says so.
    async fn line_ends(&mut self) -> Result<(), Wrong> {
        let Some(mut line) = self.line.take() else { return Ok(()) };
        let told = line.replies.message().await.map(|reply| reply.map(|reply| reply.notice()));
        let ended = line.replies.message().await.map_err(|status| status.code());
        match (told, ended) {
            (Ok(Some(api::Notice::TakenOver)), Err(Code::Aborted)) => Ok(()),
            other => Err(format!("a stream that was taken over ended with {other:?}")),
        }
    }

    /// Another stream attaches: not without saying that it takes over.
    pub(super) async fn take_over(&mut self, sent: &[Sent], merges: bool) -> Result<(), Wrong> {
        let wire: Vec<_> = sent.iter().map(|one| one.wire.clone()).collect();
        if self.line.is_some() {
            let mut refused = self.attach(wire.clone(), false, merges).await?;
            let code = refused.replies.message().await.map_err(|status| status.code());
            let refused_call = self.call(sent, false).await.map_err(|status| status.code());
            if code != Err(Code::Aborted) || refused_call != Err(Code::Aborted) {
                return Err(format!("while attached: {code:?}, {refused_call:?}"));
            }
        }
        let new = self.attach(wire, true, merges).await?;
        let old = self.line.replace(new);
        self.receive(sent).await?;
        let new = std::mem::replace(&mut self.line, old);
        self.line_ends().await?;
        self.line = new;
        Ok(())
    }

    /// The client hangs up.
    pub(super) fn detach(&mut self) {
        self.line = None;
    }

    /// The caller goes away after its call was looked at so often. What became of the frame is for
    /// the server to say; the client repeats it if it was applied.
    pub(super) async fn cancel(&mut self, sent: &Sent, polls: u32) -> Result<(), Wrong> {
        let take_over = self.line.is_some();
        {
            let call = self.call(std::slice::from_ref(sent), take_over);
            tokio::pin!(call);
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                if let Poll::Ready(answered) = call.as_mut().poll(&mut context) {
                    // The reply is lost.
                    drop(answered);
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        if polls == 0 {
            return Ok(());
        }
        self.line_ends().await?;
        let applied = self.told_state().await?.frame_id;
        if applied == sent.frame.id {
            let reports = self.call(std::slice::from_ref(sent), false).await;
            let reports = reports.map_err(|status| format!("after a cancellation: {status}"))?;
            // What was done for a caller that went away may have been stopped.
            let asked = Asked { steps: Some(0), ..sent.asked };
            return self.compare(&[Sent { asked, ..sent.clone() }], reports, false);
        }
        Ok(())
    }

    /// The declared state that the server tells.
    async fn told_state(&mut self) -> Result<api::SessionState, Wrong> {
        let request = api::GetSessionRequest { session_id: ID.to_owned(), ..Default::default() };
        let told = self.server().client.get_session(request).await;
        let told = told.map_err(|status| format!("GetSession: {status}"))?.into_inner();
        told.state.ok_or_else(|| "GetSession tells no state".to_owned())
    }

    /// What GetSession tells is what the client knows.
    pub(super) async fn look(&mut self) -> Result<api::SessionState, Wrong> {
        let told = self.told_state().await?;
        let mut known = self.state_as_known();
        if let Some(rules) = known.rules.as_mut()
            && let Some(told) = &told.rules
        {
            // Groups whose last body has gone are said to come.
            rules.groups_to_come.clone_from(&told.groups_to_come);
        }
        if told == known { Ok(told) } else { Err(format!("state: told {told:?}, not {known:?}")) }
    }

    /// The session is opened again, here or on the other server, with what the server tells or with
    /// what the client knows.
    pub(super) async fn reopen(&mut self, elsewhere: bool, as_told: bool) -> Result<(), Wrong> {
        let state = match as_told {
            true => self.look().await?,
            false => self.state_as_known(),
        };
        self.detach();
        self.follower = None;
        if elsewhere {
            self.at = 1 - self.at;
        }
        self.model = self.model.reopened();
        self.last = None;
        self.open_with(state).await
    }

    /// Memory is scarce: the session gives up all that it can find out again.
    pub(super) async fn slim(&mut self) -> Result<(), Wrong> {
        let slot = self.server().host.registry.get(ID, Credentials::default());
        let slot = slot.map_err(|error| error.to_string())?;
        slot.take_out().await.map_err(|error| error.to_string())?.slim();
        self.heard = Heard::from(self.model.applied);
        Ok(())
    }

    /// The scene is asked as it stands.
    pub(super) async fn ask(&mut self, random: &mut Random) -> Result<(), Wrong> {
        let asked = asking::questions(ID, &self.model, random);
        let told = self.server().client.query_scene(asked.clone()).await;
        let told = told.map_err(|status| format!("QueryScene: {status}"))?.into_inner();
        asking::check(&self.model, &asked, &told)?;
        self.heard.keep(asked, told);
        self.questions[0] += 1;
        Ok(())
    }

    /// What was said of a frame is said again; or it is said that the frame is kept no more.
    pub(super) async fn ask_past(&mut self, random: &mut Random) -> Result<(), Wrong> {
        let Some((frame, is_kept)) = self.heard.any(random) else { return Ok(()) };
        let asked = self.heard.again(frame).ok_or("it was asked about")?;
        let told = self.server().client.query_scene(asked).await;
        match told {
            Ok(told) if is_kept => self.heard.compare(&told.into_inner())?,
            Err(status) if !is_kept && status.code() == Code::FailedPrecondition => {}
            other => return Err(format!("frame {frame}, kept {is_kept}: {other:?}")),
        }
        self.questions[1] += u64::from(is_kept);
        Ok(())
    }

    /// Somebody follows the session, and knows after each frame what there is.
    pub(super) async fn follow(&mut self) -> Result<(), Wrong> {
        let mut follower = match self.follower.take() {
            Some(follower) => follower,
            None => {
                let request =
                    api::WatchSessionRequest { session_id: ID.to_owned(), ..Default::default() };
                let news = self.server().client.watch_session(request).await;
                let news = news.map_err(|status| format!("WatchSession: {status}"))?;
                Follower::new(news.into_inner())
            }
        };
        let state = self.told_state().await?;
        let there: std::collections::BTreeMap<u32, api::Body> =
            state.bodies.into_iter().map(|body| (body.id(), body)).collect();
        let arms: std::collections::BTreeMap<u32, api::SessionRobot> =
            state.robots.into_iter().map(|robot| (robot.id(), robot)).collect();
        let known = follower.until(state.frame_id).await?;
        if known.bodies != there || known.arms != arms {
            return Err(format!("a follower knows {known:?}, and there is {there:?}, {arms:?}"));
        }
        self.followed += 1;
        self.follower = Some(follower);
        Ok(())
    }
}
