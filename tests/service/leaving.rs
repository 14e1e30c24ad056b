//! How a server says that its clients should go elsewhere, before it stops and while it lives.

use std::time::Duration;

use clearance_client::{Client, ConnectOptions, Session};
use clearance_proto as api;
use clearance_proto::Notice;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_proto::stream_session_request::Start;
use clearance_runtime::settings::{Limits, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Streaming};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::server::{Server, body, check, cube, soon};
use crate::sessions::{cube_at, put, scene, started};

/// The trailer of whoever is about to stop.
const DRAINING: &str = "clearance-draining";

struct Stream {
    requests: mpsc::Sender<api::StreamSessionRequest>,
    replies: Streaming<api::StreamSessionResponse>,
}

impl Stream {
    async fn open(channel: Channel, request: api::OpenSessionRequest) -> Self {
        let (requests, receiver) = mpsc::channel(8);
        let first = api::StreamSessionRequest {
            start: Some(Start::Open(Box::new(request))),
            ..Default::default()
        };
        requests.send(first).await.unwrap();
        let mut client = SessionServiceClient::new(channel);
        let replies = client.stream_session(ReceiverStream::new(receiver)).await.unwrap();
        Self { requests, replies: replies.into_inner() }
    }

    async fn next(&mut self) -> api::StreamSessionResponse {
        soon(self.replies.message()).await.unwrap().expect("the stream goes on")
    }

    async fn step(&mut self, frame_id: u64, x: f64) -> api::FrameReport {
        let frame = Some(Box::new(put(frame_id, x)));
        self.requests
            .send(api::StreamSessionRequest { frame, ..Default::default() })
            .await
            .unwrap();
        let reply = self.next().await;
        *reply.report.unwrap_or_else(|| panic!("a report, and not {:?}", reply.notice))
    }
}

/// Two cubes, of which the second is so far along x.
fn two_cubes(id: &str, x: f64) -> api::OpenSessionRequest {
    let mut opening = scene(id);
    opening.state.as_mut().unwrap().bodies = vec![cube_at(1, 0.0), cube_at(2, x)];
    opening
}

fn with_limits(limits: Limits) -> Settings {
    Settings { limits, ..Settings::default() }
}

#[tokio::test]
async fn sessions_and_servers_say_where_they_are_if_they_are_told() {
    for address in ["", "192.0.2.7:50061", "unix:/run/clearance/socket"] {
        let settings = Settings { advertise: address.to_owned(), ..Settings::default() };
        let server = Server::with_settings(settings).await;
        server.register("cube", &cube()).await;
        let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        assert_eq!(info.into_inner().server_address, address);
        let opened = server.sessions().open_session(scene("unary")).await.unwrap().into_inner();
        assert_eq!(opened.server_address, address);
        let mut stream = Stream::open(server.channel.clone(), scene("streamed")).await;
        assert_eq!(stream.next().await.opened.unwrap().server_address, address);
    }
}

/// Balancers look once in a while only: what they send until then must not fail.
#[tokio::test]
async fn a_server_that_is_about_to_drain_says_so_and_takes_what_it_took() {
    let limits = Limits { drain_delay_seconds: 3, ..Limits::default() };
    let server = Server::with_settings(with_limits(limits)).await;
    server.register("cube", &cube()).await;
    let question = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    let told = |reply: &tonic::metadata::MetadataMap| {
        reply.get(DRAINING).map(|value| value.to_str().unwrap().to_owned())
    };
    let before = server.queries().check_collision(question.clone()).await.unwrap();
    assert_eq!(told(before.metadata()), None);
    let mut health = HealthClient::new(server.channel.clone());
    let mut watch = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(soon(watch.message()).await.unwrap().unwrap().status(), ServingStatus::Serving);
    let mut stream = Stream::open(server.channel.clone(), two_cubes("s", 3.0)).await;
    stream.next().await;
    assert_eq!(stream.step(1, 0.5).await.events.len(), 1);

    let (mut queries, mut sessions) = (server.queries(), server.sessions());
    let mut info = server.info();
    let address = server.address;
    let begun = tokio::time::Instant::now();
    let (_channel, ended) = server.stop();
    assert_eq!(soon(watch.message()).await.unwrap().unwrap().status(), ServingStatus::NotServing);
    let notice = stream.next().await;
    assert_eq!(notice.notice(), Notice::Draining);
    let state = notice.state.expect("it comes with the state");
    assert_eq!((state.frame_id, state.bodies.len(), state.contacts.len()), (1, 2, 1));
    // Everything goes on, over new connections, too.
    assert!(stream.step(2, 0.6).await.events.is_empty());
    let reply = queries.check_collision(question.clone()).await.unwrap();
    assert_eq!(told(reply.metadata()).as_deref(), Some("true"));
    let refused = queries.check_collision(api::CheckCollisionRequest::default()).await.unwrap_err();
    assert_eq!(told(refused.metadata()).as_deref(), Some("true"), "{refused:?}");
    let info = info.get_server_info(api::GetServerInfoRequest {}).await.unwrap().into_inner();
    assert!(info.draining);
    let another = Channel::from_shared(format!("http://{address}")).unwrap();
    let another = another.connect().await.unwrap();
    let mut late = SessionServiceClient::new(another);
    late.open_session(scene("late")).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "the machine is too slow for this test");
    // Then it drains as ever.
    let status = soon(async {
        loop {
            match sessions.open_session(scene("too-late")).await {
                Ok(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                Err(status) => break status,
            }
            let close =
                api::CloseSessionRequest { session_id: "too-late".into(), ..Default::default() };
            let _ = sessions.close_session(close).await;
        }
    })
    .await;
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert!(begun.elapsed() >= Duration::from_secs(3));
    drop((stream, watch));
    soon(ended).await.unwrap().unwrap();
}

/// A client that keeps nothing but what the notice says loses no event, and gets none twice.
#[tokio::test]
async fn the_state_of_the_notice_goes_on_on_another_server() {
    let (first, second) = (Server::start().await, Server::start().await);
    for server in [&first, &second] {
        server.register("cube", &cube()).await;
    }
    let mut stream = Stream::open(first.channel.clone(), two_cubes("s", 3.0)).await;
    stream.next().await;
    stream.step(1, 0.5).await;
    let (_channel, ended) = first.stop();
    let state = stream.next().await.state.expect("it comes with the state");
    drop(stream);
    let request = api::OpenSessionRequest { state: Some(*state), ..scene("s") };
    let mut stream = Stream::open(second.channel.clone(), request).await;
    let opened = stream.next().await.opened.unwrap();
    assert!(opened.report.unwrap().events.is_empty(), "the contact lasts");
    assert!(stream.step(2, 0.6).await.events.is_empty());
    let report = stream.step(3, 4.0).await;
    assert_eq!(report.events.len(), 1, "{report:?}");
    assert_eq!(report.previous_frame_id, 2);
    soon(ended).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_state_that_clients_may_not_take_is_left_out_of_the_notice() {
    let limits = Limits { reply_bytes_default: 60, ..Limits::default() };
    let server = Server::with_settings(with_limits(limits)).await;
    server.register("cube", &cube()).await;
    let mut stream = Stream::open(server.channel.clone(), two_cubes("s", 3.0)).await;
    stream.next().await;
    let (_channel, _ended) = server.stop();
    let reply = stream.next().await;
    assert_eq!((reply.notice(), reply.state), (Notice::Draining, None));
}

#[tokio::test]
async fn an_old_stream_is_asked_to_connect_anew_and_goes_on() {
    let limits = Limits { reconnect_seconds: 1, ..Limits::default() };
    let server = Server::with_settings(with_limits(limits)).await;
    server.register("cube", &cube()).await;
    let begun = tokio::time::Instant::now();
    let mut stream = Stream::open(server.channel.clone(), two_cubes("s", 3.0)).await;
    stream.next().await;
    stream.step(1, 0.5).await;
    let notice = stream.next().await;
    let age = begun.elapsed();
    assert_eq!(notice.notice(), Notice::Reconnect);
    assert_eq!(notice.state.unwrap().contacts.len(), 1);
    assert!(age >= Duration::from_millis(900), "{age:?}");
    // It is asked once, and nothing ends.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert!(stream.step(2, 0.6).await.status.is_none());
}

/// The client library of HTTP/2 would hide it.
#[tokio::test]
async fn an_old_connection_is_told_to_leave() {
    let limits = Limits { reconnect_seconds: 1, ..Limits::default() };
    let server = Server::with_settings(with_limits(limits)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    // Settings of the client, and that it takes those of the server.
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
    stream.write_all(&[0, 0, 0, 4, 1, 0, 0, 0, 0]).await.unwrap();
    let begun = tokio::time::Instant::now();
    const GO_AWAY: u8 = 7;
    let kind = async {
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).await.unwrap();
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut rest = vec![0; length as usize];
            stream.read_exact(&mut rest).await.unwrap();
            if head[3] == GO_AWAY {
                break;
            }
        }
    };
    soon(kind).await;
    assert!(begun.elapsed() >= Duration::from_millis(800), "{:?}", begun.elapsed());
}

/// What is left behind would be another session of the same id, which nobody moves.
#[tokio::test(flavor = "multi_thread")]
async fn the_client_goes_where_it_is_asked_to_and_closes_what_it_leaves() {
    let limits = Limits { reconnect_seconds: 1, ..Limits::default() };
    let first = Server::with_settings(with_limits(limits)).await;
    let second = Server::start().await;
    let addresses = [first.address, second.address].map(|address| format!("http://{address}"));
    let addresses = addresses.each_ref().map(String::as_str);
    let client = Client::connect_with(&addresses, ConnectOptions::default()).await.unwrap();
    let corners: Vec<_> = (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect();
    let cube = client.register_points(&corners).await.unwrap();
    let at = |x: f64| api::Pose {
        translation: Some(api::Vector3 { x, y: 0.0, z: 0.0 }),
        orientation: None,
    };
    let bodies = vec![cube.body(1, at(0.0)), cube.body(2, at(3.0))];
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let request = api::OpenSessionRequest { state, ..Default::default() };
    let mut session = Session::open(&client, request).await.unwrap();
    let moved = |x: f64| {
        let pose = api::BodyPose { id: 2, pose: Some(at(x)), ..Default::default() };
        api::Frame { poses: vec![pose], ..Default::default() }
    };
    assert_eq!(soon(session.step(moved(0.5))).await.unwrap().events.len(), 1);
    tokio::time::sleep(Duration::from_millis(1_300)).await;
    // The notice is read with this one's report.
    let mut events = soon(session.step(moved(0.6))).await.unwrap().events;
    events.extend(soon(session.step(moved(0.7))).await.unwrap().events);
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(second.usage().await.sessions, 1);
    soon(async {
        while first.usage().await.sessions > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(soon(session.step(moved(3.0))).await.unwrap().events.len(), 1);
}

/// They failed where the server that is to take them came later than the notice of the one that
/// goes.
#[tokio::test(flavor = "multi_thread")]
async fn frames_go_on_where_they_are_until_somebody_answers_elsewhere() {
    let limits = Limits { drain_delay_seconds: 8, ..Limits::default() };
    let (first, second) = (Server::with_settings(with_limits(limits)).await, Server::start().await);
    // Nobody listens there yet.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let addresses = [first.address, free].map(|address| format!("http://{address}"));
    let addresses = addresses.each_ref().map(String::as_str);
    let client = Client::connect_with(&addresses, ConnectOptions::default()).await.unwrap();
    let corners: Vec<_> = (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect();
    let cube = client.register_points(&corners).await.unwrap();
    let at = |x: f64| api::Pose {
        translation: Some(api::Vector3 { x, y: 0.0, z: 0.0 }),
        orientation: None,
    };
    let bodies = vec![cube.body(1, at(0.0)), cube.body(2, at(3.0))];
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let request = api::OpenSessionRequest { state, ..Default::default() };
    let mut session = Session::open(&client, request).await.unwrap();
    let mut sessions_here = first.sessions();
    let (_channel, ended) = first.stop();
    let begun = tokio::time::Instant::now();
    let mut frames = 0;
    let mut step = async |session: &mut Session| {
        frames += 1;
        let x = if frames % 2 == 0 { 3.0 } else { 0.5 };
        let pose = api::BodyPose { id: 2, pose: Some(at(x)), ..Default::default() };
        let frame = api::Frame { poses: vec![pose], ..Default::default() };
        let report = soon(session.step(frame)).await.unwrap();
        assert_eq!(report.events.len(), 1, "frame {frames}: {report:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    while begun.elapsed() < Duration::from_secs(1) {
        step(&mut session).await;
    }
    assert!(session.is_draining());
    let request = api::GetSessionRequest {
        session_id: session.opened().session_id.clone(),
        session_key: session.opened().session_key.clone(),
        ..Default::default()
    };
    sessions_here.get_session(request).await.expect("it is here still");
    let gate = TcpListener::bind(free).await.unwrap();
    let there = second.address;
    tokio::spawn(async move {
        while let Ok((mut from, _)) = gate.accept().await {
            tokio::spawn(async move {
                let mut to = TcpStream::connect(there).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
            });
        }
    });
    while second.usage().await.sessions == 0 {
        assert!(begun.elapsed() < Duration::from_secs(7), "it does not go");
        step(&mut session).await;
    }
    for _ in 0..4 {
        step(&mut session).await;
    }
    assert!(!session.is_draining());
    soon(ended).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_watch_ends_when_the_server_drains_and_nothing_happens_any_more() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let watch = api::WatchSessionRequest { session_id: "s".into(), ..Default::default() };
    let mut news = server.sessions().watch_session(watch).await.unwrap().into_inner();
    news.message().await.unwrap();
    let (_channel, _ended) = server.stop();
    assert_eq!(soon(news.message()).await.unwrap().unwrap().notice(), Notice::Draining);
    match soon(news.message()).await {
        Err(status) => check(&status, Code::Unavailable, "DRAINING", ""),
        Ok(more) => panic!("nothing happens any more, and still: {more:?}"),
    }
}
