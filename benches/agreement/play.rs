//! Plays a scene to servers in one of several ways.

use std::collections::BTreeMap;

use clearance_proto as api;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::script::Script;
use super::server::Server;
use super::told::{Pair, Sameness, Told};

/// How frames come to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Every frame by a session that was opened for it, where the frame before has left the bodies:
    /// nothing is remembered.
    Cold,
    /// On one stream, one frame in flight.
    Stream,
    /// Events alone, eight frames a call.
    Steps,
    /// On one stream for the first half; then another server opens what the first one answers to
    /// GetSession, and goes on.
    HandOver,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Cold, Self::Stream, Self::Steps, Self::HandOver];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Stream => "one stream",
            Self::Steps => "eight frames a call",
            Self::HandOver => "handed over",
        }
    }
}

/// Frames in one call.
const FRAMES_A_CALL: usize = 8;
const SESSION: &str = "agreement";

/// A scene on one server.
struct Stage<'a> {
    script: &'a Script,
    server: &'a Server,
    /// Of the shapes.
    ids: &'a [String],
    canonical: bool,
    lists_pairs: bool,
}

/// What is told of the scene as it is opened, then of each frame. `ids` are those of the shapes,
/// and `next` is the server that takes over, if one does.
pub(crate) async fn play(
    script: &Script,
    ids: &[String],
    way: Way,
    [server, next]: [&Server; 2],
    canonical: bool,
) -> Result<Vec<Told>, String> {
    let lists_pairs = way != Way::Steps;
    let stage = Stage { script, server, ids, canonical, lists_pairs };
    match way {
        Way::Cold => stage.cold().await,
        Way::Stream => {
            let mut run = vec![stage.open(stage.state(&script.start())).await?];
            stage.stream(1..=script.last(), &mut run).await?;
            Ok(run)
        }
        Way::Steps => {
            let mut run = vec![stage.open(stage.state(&script.start())).await?];
            let frames: Vec<u64> = (1..=script.last()).collect();
            for frames in frames.chunks(FRAMES_A_CALL) {
                run.extend(stage.step(frames).await?);
            }
            Ok(run)
        }
        Way::HandOver => {
            let half = script.last() / 2;
            let mut run = vec![stage.open(stage.state(&script.start())).await?];
            stage.stream(1..=half, &mut run).await?;
            let state = stage.declared().await?;
            if state.frame_id != half || state.contacts.len() != contacts(&run).len() {
                return Err(format!("frame {half}: the state does not say what was announced"));
            }
            let stage = Stage { server: next, ..stage };
            let opened = stage.open(state).await?;
            is_told_again(&opened, &run[half as usize])?;
            stage.stream(half + 1..=script.last(), &mut run).await?;
            Ok(run)
        }
    }
}

impl Stage<'_> {
    fn state(&self, poses: &[api::Pose]) -> api::SessionState {
        self.script.state(poses, self.ids)
    }

    async fn open(&self, state: api::SessionState) -> Result<Told, String> {
        let pairs =
            if self.lists_pairs { api::PairSelection::Near } else { api::PairSelection::None };
        let report = api::ReportOptions {
            pairs: pairs.into(),
            packed: self.lists_pairs,
            first_contacts: self.script.first_contacts,
            reply_bytes_max: 64 << 20,
            ..Default::default()
        };
        let request = api::OpenSessionRequest {
            session_id: SESSION.to_owned(),
            state: Some(state),
            report: Some(report),
            canonical: self.canonical,
            replace: true,
            ..Default::default()
        };
        let reply = self.server.sessions().open_session(request).await;
        let reply = reply.map_err(|status| format!("not opened: {status}"))?.into_inner();
        Told::read(&reply.report.unwrap_or_default())
    }

    async fn step(&self, frames: &[u64]) -> Result<Vec<Told>, String> {
        let request = api::StepSessionRequest {
            session_id: SESSION.to_owned(),
            frames: frames.iter().map(|frame| self.script.frame(*frame)).collect(),
            reply_bytes_max: 64 << 20,
            ..Default::default()
        };
        let reply = self.server.sessions().step_session(request).await;
        let reply = reply.map_err(|status| format!("not stepped: {status}"))?.into_inner();
        reply.reports.iter().map(Told::read).collect()
    }

    /// These frames on a stream of their own.
    async fn stream(
        &self,
        frames: std::ops::RangeInclusive<u64>,
        run: &mut Vec<Told>,
    ) -> Result<(), String> {
        let (requests, receiver) = mpsc::channel(1);
        let start = Some(api::stream_session_request::Start::SessionId(SESSION.to_owned()));
        let first = api::StreamSessionRequest { start, ..Default::default() };
        let gone = |_| "the stream has ended".to_owned();
        requests.send(first).await.map_err(gone)?;
        let replies = self.server.sessions().stream_session(ReceiverStream::new(receiver)).await;
        let mut replies = replies.map_err(|status| format!("no stream: {status}"))?.into_inner();
        for frame in frames {
            let frame = Some(self.script.frame(frame));
            let request =
                api::StreamSessionRequest { frame: frame.map(Box::new), ..Default::default() };
            requests.send(request).await.map_err(gone)?;
            run.push(next(&mut replies).await?);
        }
        // The server has seen its end, and nobody is attached any more.
        drop(requests);
        while replies.message().await.map_err(|status| status.to_string())?.is_some() {}
        Ok(())
    }

    /// Every frame in a session of its own.
    async fn cold(&self) -> Result<Vec<Told>, String> {
        let mut poses = self.script.start();
        let mut run = vec![self.open(self.state(&poses)).await?];
        for frame in 1..=self.script.last() {
            if frame > 1 {
                self.script.go_on(&mut poses, frame - 1);
                let contacts = contacts(&run).into_iter().map(announced).collect();
                let state =
                    api::SessionState { frame_id: frame - 1, contacts, ..self.state(&poses) };
                is_told_again(&self.open(state).await?, &run[frame as usize - 1])?;
            }
            run.extend(self.step(&[frame]).await?);
        }
        Ok(run)
    }

    /// What the server says the session is.
    async fn declared(&self) -> Result<api::SessionState, String> {
        let request = api::GetSessionRequest {
            session_id: SESSION.to_owned(),
            reply_bytes_max: 64 << 20,
            ..Default::default()
        };
        let reply = self.server.sessions().get_session(request).await;
        let reply = reply.map_err(|status| format!("no state: {status}"))?.into_inner();
        Ok(reply.state.unwrap_or_default())
    }
}

/// The next report on a stream.
async fn next(replies: &mut Streaming<api::StreamSessionResponse>) -> Result<Told, String> {
    loop {
        let reply = replies.message().await.map_err(|status| format!("no reply: {status}"))?;
        let reply = reply.ok_or("the stream has ended")?;
        if let Some(report) = &reply.report {
            return Told::read(report);
        }
    }
}

/// The contacts that were announced and have not ended, with the frames that announced them.
fn contacts(run: &[Told]) -> BTreeMap<Pair, u64> {
    let mut contacts = BTreeMap::new();
    for told in run {
        for event in &told.events {
            match event.kind {
                api::ContactEventKind::Began => drop(contacts.insert(event.pair, told.frame)),
                api::ContactEventKind::Ended => drop(contacts.remove(&event.pair)),
                api::ContactEventKind::Unspecified | api::ContactEventKind::Undecided => {}
            }
        }
    }
    contacts
}

fn announced(((a, b), began_frame_id): (Pair, u64)) -> api::AnnouncedContact {
    api::AnnouncedContact { pair: Some(api::BodyPair { a: Some(a), b: Some(b) }), began_frame_id }
}

/// A session that is opened where another one stands tells the same verdicts, and no event again.
fn is_told_again(opened: &Told, before: &Told) -> Result<(), String> {
    let wanted = Told { frame: opened.frame, events: Vec::new(), ..before.clone() };
    match opened.difference(&wanted, Sameness::Bits) {
        Some(what) => Err(format!("opened where frame {} has left it: {what}", before.frame)),
        None => Ok(()),
    }
}
