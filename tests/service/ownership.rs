//! A session belongs to who opened it: everybody else can neither use it nor see it.
//!
//! Anyone who could reach the port listed all sessions, read their poses, stepped one to frame
//! 2^64 - 1 (its owner's frames were refused from then on), took its stream over, replaced its
//! scene and closed it.

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use clearance_runtime::settings::{Limits, Settings};
use tonic::{Code, Request, Status};

use crate::server::{Server, check, soon};

const KEY: &str = "the key of whoever opened it";

/// How a call brings a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Field,
    Header,
}

/// A caller with a key (empty: none), and the session that it means.
#[derive(Clone, Copy)]
struct Caller<'a> {
    server: &'a Server,
    key: &'a str,
    way: Way,
    incarnation: u64,
}

impl<'a> Caller<'a> {
    fn with(server: &'a Server, key: &'a str) -> Self {
        Self { server, key, way: Way::Field, incarnation: 0 }
    }

    fn field(&self) -> String {
        if self.way == Way::Field { self.key.to_owned() } else { String::new() }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if self.way == Way::Header && !self.key.is_empty() {
            request.metadata_mut().insert("clearance-session-key", self.key.parse().unwrap());
        }
        request
    }

    async fn open(&self, replace: bool) -> Result<api::OpenSessionResponse, Status> {
        let session_id = "s".to_owned();
        let session_key = self.field();
        let open =
            api::OpenSessionRequest { session_id, session_key, replace, ..Default::default() };
        Ok(self.server.sessions().open_session(self.request(open)).await?.into_inner())
    }

    async fn step(&self, frame_id: u64) -> Result<api::FrameReport, Status> {
        let step = api::StepSessionRequest {
            reply_bytes_max: 0,
            session_id: "s".to_owned(),
            frames: vec![api::Frame { frame_id, ..Default::default() }],
            take_over: true,
            session_key: self.field(),
            incarnation: self.incarnation,
        };
        let reply = self.server.sessions().step_session(self.request(step)).await?;
        Ok(reply.into_inner().reports.remove(0))
    }

    /// A stream of one frame.
    async fn stream(&self, frame_id: u64) -> Result<api::FrameReport, Status> {
        let first = api::StreamSessionRequest {
            start: Some(Start::SessionId("s".to_owned())),
            take_over: true,
            frame: Some(Box::new(api::Frame { frame_id, ..Default::default() })),
            session_key: self.field(),
            incarnation: self.incarnation,
            ..Default::default()
        };
        let requests = self.request(tokio_stream::iter([first]));
        let mut replies = self.server.sessions().stream_session(requests).await?.into_inner();
        Ok(*soon(replies.message()).await?.unwrap().report.unwrap())
    }

    async fn get(&self) -> Result<api::GetSessionResponse, Status> {
        let get = api::GetSessionRequest {
            reply_bytes_max: 0,
            session_id: "s".to_owned(),
            session_key: self.field(),
            incarnation: self.incarnation,
        };
        Ok(self.server.sessions().get_session(self.request(get)).await?.into_inner())
    }

    async fn query(&self) -> Result<api::QuerySceneResponse, Status> {
        let query = api::QuerySceneRequest {
            session_id: "s".to_owned(),
            session_key: self.field(),
            incarnation: self.incarnation,
            ..Default::default()
        };
        Ok(self.server.sessions().query_scene(self.request(query)).await?.into_inner())
    }

    async fn watch(&self) -> Result<api::WatchSessionResponse, Status> {
        let watch = api::WatchSessionRequest {
            session_id: "s".to_owned(),
            session_key: self.field(),
            incarnation: self.incarnation,
            ..Default::default()
        };
        let mut news =
            self.server.sessions().watch_session(self.request(watch)).await?.into_inner();
        Ok(soon(news.message()).await?.unwrap())
    }

    async fn list(&self) -> Result<api::ListSessionsResponse, Status> {
        let session_keys = Some(self.field()).filter(|key| !key.is_empty()).into_iter().collect();
        let list = api::ListSessionsRequest { session_keys, ..Default::default() };
        Ok(self.server.sessions().list_sessions(self.request(list)).await?.into_inner())
    }

    async fn close(&self, allow_missing: bool) -> Result<api::CloseSessionResponse, Status> {
        let close = api::CloseSessionRequest {
            session_id: "s".to_owned(),
            allow_missing,
            session_key: self.field(),
            incarnation: self.incarnation,
        };
        Ok(self.server.sessions().close_session(self.request(close)).await?.into_inner())
    }

    /// Walks every method of the service: all of them refuse, or show nothing.
    async fn is_a_stranger(&self) {
        let unknown = |status: Status| {
            check(&status, Code::NotFound, "UNKNOWN_SESSION", "session_id");
        };
        unknown(self.step(u64::MAX).await.unwrap_err());
        unknown(self.stream(u64::MAX).await.unwrap_err());
        unknown(self.get().await.unwrap_err());
        unknown(self.query().await.unwrap_err());
        unknown(self.watch().await.unwrap_err());
        unknown(self.close(false).await.unwrap_err());
        assert_eq!(self.close(true).await.unwrap().summary, None);
        let listed = self.list().await.unwrap();
        assert_eq!((listed.sessions.len(), listed.total_size), (0, 0));
        for replace in [false, true] {
            let status = self.open(replace).await.unwrap_err();
            check(&status, Code::AlreadyExists, "SESSION_EXISTS", "session_id");
        }
    }

    /// Walks every method that leaves the session open: all of them serve.
    async fn is_at_home(&self, frame_id: u64) {
        assert_eq!(self.step(frame_id).await.unwrap().status, None);
        assert_eq!(self.stream(frame_id + 1).await.unwrap().status, None);
        let summary = self.get().await.unwrap().summary.unwrap();
        assert_eq!(summary.frame_id, frame_id + 1);
        assert!(summary.incarnation > 0);
        assert_eq!(self.query().await.unwrap().frame_id, frame_id + 1);
        assert_eq!(self.watch().await.unwrap().state.unwrap().frame_id, frame_id + 1);
        let listed = self.list().await.unwrap();
        assert_eq!((listed.sessions.len(), listed.total_size), (1, 1));
        assert_eq!(listed.sessions[0].incarnation, summary.incarnation);
    }
}

/// `KEY` as it is sent: keys have no spaces.
fn key() -> String {
    KEY.replace(' ', "-")
}

#[tokio::test]
async fn a_session_serves_whoever_brings_its_key_and_nobody_else() {
    let server = Server::start().await;
    let key = key();
    let owner = Caller::with(&server, &key);
    let opened = owner.open(false).await.unwrap();
    assert_eq!(opened.session_key, "", "the client knows its own key");
    for way in [Way::Field, Way::Header] {
        for wrong in ["", "another", "the-key-of-whoever-opened-i"] {
            Caller { way, ..Caller::with(&server, wrong) }.is_a_stranger().await;
        }
    }
    owner.is_at_home(1).await;
    Caller { way: Way::Header, ..owner }.is_at_home(3).await;
    // A stream that opens a session brings its key in the header, too.
    let open = api::OpenSessionRequest { session_id: "t".to_owned(), ..Default::default() };
    let first = api::StreamSessionRequest {
        start: Some(Start::Open(Box::new(open))),
        ..Default::default()
    };
    let streamer = Caller { way: Way::Header, ..owner };
    let requests = streamer.request(tokio_stream::iter([first]));
    let replies = server.sessions().stream_session(requests).await.unwrap();
    soon(replies.into_inner().message()).await.unwrap().unwrap();
    assert_eq!(owner.list().await.unwrap().total_size, 2);
    assert_eq!(Caller::with(&server, "").list().await.unwrap().total_size, 0);
    assert!(owner.close(false).await.unwrap().summary.is_some());
    assert_eq!(owner.list().await.unwrap().total_size, 1);
}

#[tokio::test]
async fn an_old_key_and_an_old_incarnation_open_nothing() {
    let server = Server::in_public(Settings::default()).await;
    let nobody = Caller::with(&server, "");
    let old = nobody.open(false).await.unwrap();
    assert_eq!(old.session_key.len(), 34, "the server made a key of 128 bits");
    nobody.is_a_stranger().await;
    let old_owner = Caller::with(&server, &old.session_key);
    old_owner.is_at_home(1).await;
    old_owner.close(false).await.unwrap();
    let new = nobody.open(false).await.unwrap();
    assert!(new.session_key != old.session_key && new.incarnation != old.incarnation);
    old_owner.is_a_stranger().await;
    let owner = Caller::with(&server, &new.session_key);
    owner.is_at_home(1).await;
    // A twin: it shares the key, and does not know that the session was replaced meanwhile.
    let replaced = owner.open(true).await.unwrap();
    let twin = Caller { incarnation: new.incarnation, ..owner };
    for status in [
        twin.step(9).await.unwrap_err(),
        twin.stream(9).await.unwrap_err(),
        twin.get().await.unwrap_err(),
        twin.query().await.unwrap_err(),
        twin.watch().await.unwrap_err(),
        twin.close(false).await.unwrap_err(),
    ] {
        check(&status, Code::FailedPrecondition, "SESSION_REPLACED", "incarnation");
    }
    assert_eq!(twin.close(true).await.unwrap().summary, None);
    Caller { incarnation: replaced.incarnation, ..owner }.is_at_home(1).await;
}

#[tokio::test]
async fn sessions_without_a_key_are_open_on_loopback_or_when_the_server_is_told_so() {
    let told = Settings { open_sessions: true, ..Settings::default() };
    for server in [Server::start().await, Server::in_public(told).await] {
        let nobody = Caller::with(&server, "");
        let opened = nobody.open(false).await.unwrap();
        assert_eq!(opened.session_key, "");
        nobody.is_at_home(1).await;
        // A key that is not needed does no harm.
        Caller::with(&server, "any").is_at_home(3).await;
        assert_ne!(nobody.open(true).await.unwrap().incarnation, opened.incarnation);
    }
}

#[tokio::test]
async fn keys_that_fit_no_header_and_lists_of_too_many_keys_are_refused() {
    let limits = Limits { session_keys_max: 2, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    for bad in [KEY.to_owned(), "k".repeat(201), "schlüssel".to_owned(), "a\nb".to_owned()] {
        let status = Caller::with(&server, &bad).open(false).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "session_key");
    }
    Caller::with(&server, &"k".repeat(200)).open(false).await.unwrap();
    let list = async |count: usize| {
        let session_keys = vec!["k".repeat(200); count];
        let list = api::ListSessionsRequest { session_keys, ..Default::default() };
        server.sessions().list_sessions(list).await
    };
    assert_eq!(list(2).await.unwrap().into_inner().total_size, 1);
    let status = list(3).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "session_keys");
}
