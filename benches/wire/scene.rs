//! One scene on a stream, one frame in flight.

use std::time::Instant;

use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use prost::Message;
use prost::bytes::Bytes;
use tonic::transport::Channel;

use super::Figures;
use super::asked::Asked;
use super::drift::{Drifter, movers};
use super::echo;
use super::field::{hulls, side};
use super::process::{Process, Served};
use super::talk::{Talk, connect};

/// The method of sessions.
pub(crate) const STREAM: &str = "/clearance.v1.SessionService/StreamSession";

/// The ids of the twenty hulls on a server.
pub(crate) async fn register(channel: Channel) -> Vec<String> {
    let mut client = PolytopeServiceClient::new(channel);
    let spec = |polytope: &std::sync::Arc<clearance_geometry::polytope::Polytope>| {
        let xyz = polytope.vertices().iter().flat_map(|v| [v.x, v.y, v.z]).collect();
        let source = api::polytope_spec::Source::Vertices(api::Points { xyz });
        api::PolytopeSpec { source: Some(source), ..Default::default() }
    };
    let polytopes = hulls(&mut Random::new(7)).iter().map(spec).collect();
    let request = api::RegisterPolytopesRequest { polytopes, ..Default::default() };
    let reply = client.register_polytopes(request).await.expect("registered").into_inner();
    let id = |report: api::RegistrationReport| report.polytope.expect("a hull").id;
    reply.reports.into_iter().map(id).collect()
}

/// The bodies of a scene.
pub(crate) fn drifters(asked: &Asked) -> Vec<Drifter> {
    let mut random = Random::new(7);
    // The same numbers as those that the hulls are made of, so scenes are those of `scenes`.
    let _ = hulls(&mut random);
    let side = side(asked.bodies);
    (0..asked.bodies).map(|_| Drifter::anywhere(&mut random, side, asked.pace)).collect()
}

/// The scene as it is opened.
pub(crate) fn state(drifters: &[Drifter], ids: &[String]) -> api::SessionState {
    let body = |(index, drifter): (usize, &Drifter)| {
        let [x, y, z] = drifter.place.into();
        let [w, i, j, k] = drifter.turn;
        let rotation = api::Quaternion { w, x: i, y: j, z: k };
        let pose = api::Pose {
            translation: Some(api::Vector3 { x, y, z }),
            orientation: Some(api::pose::Orientation::Rotation(rotation)),
        };
        let source = Some(api::placed_body::Source::Id(ids[index % ids.len()].clone()));
        api::Body {
            id: Some(index as u32 + 1),
            parts: vec![api::PlacedBody { source, pose: None }],
            pose: Some(pose),
            ..Default::default()
        }
    };
    let bodies = drifters.iter().enumerate().map(body).collect();
    api::SessionState { bodies, ..Default::default() }
}

/// So many bodies are opened with one message.
const PIECE_BODIES: usize = 10_000;

/// Opens a session of events alone.
pub(crate) async fn open(
    channel: Channel,
    session_id: &str,
    state: api::SessionState,
    first_contacts: bool,
) {
    let report = api::ReportOptions {
        pairs: api::PairSelection::None.into(),
        first_contacts,
        ..Default::default()
    };
    let mut pieces = state
        .bodies
        .chunks(PIECE_BODIES)
        .map(|bodies| api::SessionState { bodies: bodies.to_vec(), ..Default::default() });
    let request = api::OpenSessionRequest {
        session_id: session_id.to_owned(),
        state: pieces.next(),
        report: Some(report),
        replace: true,
        ..Default::default()
    };
    let start = Some(api::stream_session_request::Start::Open(Box::new(request)));
    let first = api::StreamSessionRequest { start, ..Default::default() };
    let more = pieces.map(|piece| api::StreamSessionRequest {
        more_state: Some(Box::new(piece)),
        ..Default::default()
    });
    let mut messages: Vec<_> = std::iter::once(first).chain(more).collect();
    let before_last = messages.len() - 1;
    messages[..before_last].iter_mut().for_each(|message| message.state_continues = true);
    let mut client = SessionServiceClient::new(channel).max_decoding_message_size(1 << 30);
    let replies = client.stream_session(tokio_stream::iter(messages)).await.expect("a stream");
    let reply = replies.into_inner().message().await.expect("opened").expect("a reply");
    assert!(reply.opened.is_some(), "{reply:?}");
}

/// The first message of a stream on this session.
pub(crate) fn attach(session_id: &str) -> Bytes {
    let start = api::stream_session_request::Start::SessionId(session_id.to_owned());
    let first =
        api::StreamSessionRequest { start: Some(start), take_over: true, ..Default::default() };
    first.encode_to_vec().into()
}

/// The next frame, encoded.
pub(crate) fn frame(drifters: &mut [Drifter], share: f64, frame_id: u64) -> Bytes {
    let mut packed = api::PackedPoses::default();
    let (mut ids, mut translations, mut rotations) = (Vec::new(), Vec::new(), Vec::new());
    for index in movers(drifters.len(), share, frame_id - 1) {
        let drifter = &mut drifters[index];
        drifter.go_on();
        ids.push(index as u32 + 1);
        translations.extend(drifter.place.iter());
        rotations.extend(drifter.turn);
    }
    packed.ids = ids.into();
    packed.translations = translations.into();
    packed.rotations = rotations.into();
    let packed_poses = (!packed.ids.is_empty()).then_some(packed);
    let frame = api::Frame { frame_id, packed_poses, ..Default::default() };
    let request = api::StreamSessionRequest { frame: Some(Box::new(frame)), ..Default::default() };
    request.encode_to_vec().into()
}

/// The report in a reply.
fn report(reply: &[u8]) -> api::FrameReport {
    let reply = api::StreamSessionResponse::decode(reply).expect("a reply");
    let report = reply.report.expect("a report");
    assert!(report.status.is_none(), "{:?}", report.status);
    *report
}

/// What frames have cost, one after the other.
struct Cost {
    /// Processor time of the server a frame, microseconds.
    spent: f64,
    /// Milliseconds, sorted.
    latencies: Vec<f64>,
}

impl Cost {
    fn at(&self, share: f64) -> f64 {
        self.latencies[((self.latencies.len() - 1) as f64 * share) as usize]
    }
}

/// Sends the frames, and gives each reply to `look`; a tenth of them are not counted.
async fn exchange(
    process: &Process,
    talk: &mut Talk,
    frames: &[Bytes],
    mut look: impl FnMut(&[u8]),
) -> Cost {
    let warm = frames.len() / 10;
    let (mut spent, mut latencies) = (0.0, Vec::with_capacity(frames.len()));
    for (index, frame) in frames.iter().enumerate() {
        if index == warm {
            spent = process.spent();
        }
        let start = Instant::now();
        talk.send(frame.clone()).await;
        let reply = talk.receive().await;
        latencies.push(start.elapsed().as_secs_f64() * 1e3);
        look(&reply);
    }
    let spent = (process.spent() - spent) / (frames.len() - warm) as f64 * 1e6;
    let mut latencies = latencies.split_off(warm);
    latencies.sort_unstable_by(f64::total_cmp);
    Cost { spent, latencies }
}

/// One round of a scene.
pub(crate) async fn measure(asked: &Asked, served: &Served) -> Figures {
    let mut drifters = drifters(asked);
    let channel = connect(served.ours.port).await;
    let ids = register(channel.clone()).await;
    let (before, start) = (served.ours.resident(), Instant::now());
    let mut declared = state(&drifters, &ids);
    for (index, body) in declared.bodies.iter_mut().enumerate() {
        body.continuous = asked.is_chosen(index);
    }
    open(channel.clone(), "scene", declared, asked.first_contacts).await;
    let opened = start.elapsed().as_secs_f64() * 1e3;
    let grown = (served.ours.resident() - before) / f64::from(asked.bodies);

    let count = (600_000 / u64::from(asked.bodies).max(1)).clamp(20, 400);
    let count = if asked.moving < 1.0 { count.max(200) } else { count };
    let frames: Vec<Bytes> = (1..=count).map(|id| frame(&mut drifters, asked.moving, id)).collect();
    let mut talk = Talk::begin(channel, STREAM, attach("scene")).await;
    let mut looked_at = 0;
    let ours = exchange(&served.ours, &mut talk, &frames, |reply| {
        let cost = report(reply).cost.expect("a cost");
        looked_at += cost.pairs_looked_at;
    });
    let ours = ours.await;
    drop(talk);

    let channel = connect(served.echo.port).await;
    let mut talk = Talk::begin(channel, echo::METHOD, frames[0].clone()).await;
    let _ = talk.receive().await;
    let echo = exchange(&served.echo, &mut talk, &frames, |_| {}).await;
    let named = |name: &str, value: f64| (name.to_owned(), value);
    vec![
        named("server, us a frame", ours.spent),
        named("echo of the same bytes, us a frame", echo.spent),
        named("server, latency p50, us", ours.at(0.5) * 1e3),
        named("server, latency p99, us", ours.at(0.99) * 1e3),
        named("echo, latency p50, us", echo.at(0.5) * 1e3),
        named("pairs looked at a frame", looked_at as f64 / frames.len() as f64),
        named("opened in, ms", opened),
        named("memory grown at opening, bytes a body", grown),
    ]
}
