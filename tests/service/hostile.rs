//! Clients that do not keep to the rules.

use std::marker::PhantomData;
use std::time::Duration;

use clearance_proto as api;
use clearance_runtime::settings::{Limits, Settings};
use http::uri::PathAndQuery;
use prost::Message;
use tokio_stream::StreamExt;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Request, Status};

use crate::server::{Server, body, check, cube, soon};
use crate::sessions::{scene, started_with, step};

/// Sends bytes as they are, reads `T`.
struct Raw<T>(PhantomData<T>);

impl<T: Message + Default + 'static> Codec for Raw<T> {
    type Encode = Vec<u8>;
    type Decode = T;
    type Encoder = Raw<T>;
    type Decoder = Raw<T>;

    fn encoder(&mut self) -> Raw<T> {
        Raw(PhantomData)
    }

    fn decoder(&mut self) -> Raw<T> {
        Raw(PhantomData)
    }
}

impl<T> Encoder for Raw<T> {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes_into(&item, buffer);
        Ok(())
    }
}

fn bytes_into(bytes: &[u8], buffer: &mut EncodeBuf<'_>) {
    prost::bytes::BufMut::put_slice(buffer, bytes);
}

impl<T: Message + Default> Decoder for Raw<T> {
    type Item = T;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<T>, Status> {
        T::decode(buffer).map(Some).map_err(|error| Status::internal(error.to_string()))
    }
}

async fn send(server: &Server, path: &'static str, bytes: Vec<u8>) -> Status {
    let mut client = tonic::client::Grpc::new(server.channel.clone());
    client.ready().await.unwrap();
    let codec = Raw::<api::CheckCollisionResponse>(PhantomData);
    let path = PathAndQuery::from_static(path);
    client.unary(Request::new(bytes), path, codec).await.unwrap_err()
}

#[tokio::test]
async fn bytes_that_are_no_message_are_the_clients_mistake() {
    let server = Server::start().await;
    for bytes in [vec![0xff; 7], vec![0x0a, 0x7f], b"{\"p\": {}}".to_vec()] {
        let status = send(&server, "/clearance.v1.QueryService/CheckCollision", bytes).await;
        check(&status, Code::InvalidArgument, "MALFORMED_MESSAGE", "");
    }
    let status = send(&server, "/clearance.v1.QueryService/Nonsense", Vec::new()).await;
    assert_eq!(status.code(), Code::Unimplemented);
}

#[tokio::test]
async fn bytes_that_are_no_message_end_an_upload_as_the_clients_mistake() {
    let server = Server::start().await;
    let mut client = tonic::client::Grpc::new(server.channel.clone());
    client.ready().await.unwrap();
    let codec = Raw::<api::UploadPolytopeResponse>(PhantomData);
    let path = PathAndQuery::from_static("/clearance.v1.PolytopeService/UploadPolytope");
    let stream = tokio_stream::iter([vec![0xff; 7]]);
    let status = client.client_streaming(Request::new(stream), path, codec).await.unwrap_err();
    check(&status, Code::InvalidArgument, "MALFORMED_MESSAGE", "");
}

#[tokio::test]
async fn an_upload_that_stands_still_is_ended_and_others_are_refused_meanwhile() {
    let limits = Limits { uploads_max: 1, call_seconds_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let part = Some(api::upload_polytope_request::Part::Header(header));
    let header = api::UploadPolytopeRequest { part };
    let stand_still = || {
        let silent = tokio_stream::iter([header.clone()]).chain(tokio_stream::pending());
        let mut client = server.polytopes();
        tokio::spawn(async move { client.upload_polytope(silent).await })
    };
    let mut first = stand_still();
    let refusal = async {
        loop {
            // One of the others may have had the place when the first one came. The next of them
            // gives it some time: who follows it at once may come before it, each time anew.
            if first.is_finished() {
                first = stand_still();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let mut client = server.polytopes();
            let upload = client.upload_polytope(tokio_stream::iter([header.clone()]));
            let status = upload.await.unwrap_err();
            if status.code() == Code::ResourceExhausted {
                break status;
            }
            tokio::task::yield_now().await;
        }
    };
    check(&soon(refusal).await, Code::ResourceExhausted, "BUSY", "");
    let status = soon(first).await.unwrap().unwrap_err();
    check(&status, Code::DeadlineExceeded, "DEADLINE", "");
}

#[tokio::test]
async fn a_deadline_that_is_too_short_is_a_deadline() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let question = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    let mut request = Request::new(question);
    request.set_timeout(Duration::ZERO);
    let status = server.queries().check_collision(request).await.unwrap_err();
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
}

/// Points on a sphere of radius 1, evenly along a spiral.
pub(crate) fn ball(count: u32) -> Vec<f64> {
    let turn = |k: u32| f64::from(k) * 2.4;
    let height = |k: u32| 2.0 * f64::from(k) / f64::from(count) - 1.0;
    let point = |k| {
        let radius = (1.0 - height(k) * height(k)).sqrt();
        [radius * turn(k).cos(), radius * turn(k).sin(), height(k)]
    };
    (0..count).flat_map(point).collect()
}

/// A hull was built to its end, however long ago the deadline was.
#[tokio::test]
async fn a_hull_is_built_no_longer_than_the_deadline_and_then_is_not_registered() {
    let server =
        Server::with_settings(Settings { compute_threads: 1, ..Settings::default() }).await;
    let ball = ball(150_000);
    let spec = |alias: &str, xyz| api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Vertices(api::Points { xyz })),
        alias: alias.to_owned(),
        ..Default::default()
    };
    let less = ball[..9_000].to_vec();
    let polytopes = vec![spec("small", cube()), spec("ball", ball)];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let mut request = Request::new(request);
    request.set_timeout(Duration::from_millis(100));
    let status = server.polytopes().register_polytopes(request).await.unwrap_err();
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
    // The only thread is free again, and nothing of it was kept.
    soon(server.register("part", &less)).await;
    let all = api::ListPolytopesRequest::default();
    let listed = server.polytopes().list_polytopes(all).await.unwrap().into_inner().polytopes;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].aliases, ["part"]);
}

/// With a deadline that no large hull is built by.
fn hurried<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(Duration::from_millis(50));
    request
}

/// What a session declares was built to its end too, for callers that had long gone: the thread was
/// busy that long, and a frame that its caller had given up was applied.
#[tokio::test]
async fn hulls_of_sessions_are_built_no_longer_than_the_deadline_and_then_nothing_is_done() {
    let server =
        Server::with_settings(Settings { compute_threads: 1, ..Settings::default() }).await;
    // As many points as a part may have, and as many parts as take several times the deadline.
    let points = api::Points { xyz: ball(20_000) };
    let source = Some(api::placed_body::Source::Vertices(points));
    let parts = vec![api::PlacedBody { source, pose: None }; 4];
    let large = api::Body { id: Some(7), parts, ..Default::default() };
    let open = |id: &str, bodies| {
        let state = Some(api::SessionState { bodies, ..Default::default() });
        api::OpenSessionRequest { session_id: id.into(), state, ..Default::default() }
    };
    let check_late = |status: tonic::Status| {
        let is_late = matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled);
        assert!(is_late, "{status:?}");
    };
    let mut client = server.sessions();
    let request = Request::new(open("kept", vec![]));
    client.open_session(request).await.unwrap();
    let added_bodies = vec![large.clone()];
    let frame = api::Frame { frame_id: 1, added_bodies, ..Default::default() };
    let step = api::StepSessionRequest {
        session_id: "kept".into(),
        frames: vec![frame],
        ..Default::default()
    };
    match client.step_session(hurried(step)).await {
        Err(status) => check_late(status),
        Ok(reply) => {
            let status = reply.into_inner().reports[0].status.clone().unwrap();
            assert_eq!(status.code, i32::from(Code::DeadlineExceeded));
        }
    }
    let mut over = open("kept", vec![large.clone()]);
    over.replace = true;
    check_late(client.open_session(hurried(over)).await.unwrap_err());
    // The only thread is free again, and the session is as it was.
    soon(server.register("cube", &cube())).await;
    let get = api::GetSessionRequest { session_id: "kept".into(), ..Default::default() };
    let kept = client.get_session(get).await.unwrap().into_inner();
    assert_eq!(kept.summary.unwrap().frame_id, 0);
    assert!(kept.state.unwrap().bodies.is_empty());
    // Without a deadline it takes the time that it takes, whatever the budget for answers is.
    let few = api::Points { xyz: ball(300) };
    let source = Some(api::placed_body::Source::Vertices(few));
    let small = api::Body { parts: vec![api::PlacedBody { source, pose: None }], ..large };
    let mut patient = open("patient", vec![small]);
    patient.budget =
        Some(api::Budget { steps: None, time: Some(prost_types::Duration::default()) });
    client.open_session(patient).await.unwrap();
}

/// A hull in a question was built to its end, however little time the caller gave it; then, for a
/// while, the whole question was refused. It is like any search that stops: nothing is known yet,
/// and the answer says so.
#[tokio::test]
async fn a_budget_that_ends_before_the_hull_of_a_questions_points_stops_the_question() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let points = api::Points { xyz: ball(20_000) };
    let source = Some(api::placed_body::Source::Vertices(points));
    let time = Some(prost_types::Duration { seconds: 0, nanos: 1_000 });
    let (p, q) = (Some(api::PlacedBody { source, pose: None }), Some(body("cube", 3.0)));
    let options = |time| {
        let budget = Some(api::Budget { steps: None, time });
        Some(api::QueryOptions { budget, ..Default::default() })
    };
    let collision = |time| api::CheckCollisionRequest {
        p: p.clone(),
        q: q.clone(),
        options: options(time),
        ..Default::default()
    };
    let mut client = server.queries();
    let answer = client.check_collision(collision(time)).await.unwrap().into_inner();
    assert_eq!(answer.stopped(), api::Stopped::Deadline);
    assert_eq!(answer.verdict(), api::Verdict::Unspecified);
    assert!(answer.certificate.is_none());
    let distance = api::MeasureDistanceRequest {
        p: p.clone(),
        q: q.clone(),
        options: options(time),
        ..Default::default()
    };
    let answer = client.measure_distance(distance).await.unwrap().into_inner();
    assert_eq!(answer.stopped(), api::Stopped::Deadline);
    assert!(answer.distance.is_none());
    let contact = api::FindFirstContactRequest {
        p: p.clone(),
        q: q.clone(),
        options: options(time),
        ..Default::default()
    };
    let answer = client.find_first_contact(contact).await.unwrap().into_inner();
    assert_eq!(answer.stopped(), api::Stopped::Deadline);
    assert_eq!(answer.outcome(), api::Outcome::Unspecified);
    let answer = client.check_collision(collision(None)).await.unwrap().into_inner();
    assert_eq!(answer.verdict(), api::Verdict::Separated);
}

/// How far a mesh is from convex was measured to the end: in a facet of many corners every triangle
/// is a look at all of these, so that a drum of a million points took hours of a thread.
#[tokio::test]
async fn a_mesh_is_compared_with_its_hull_no_longer_than_the_deadline() {
    const SIDES: u32 = 20_000;
    let server =
        Server::with_settings(Settings { compute_threads: 1, ..Settings::default() }).await;
    let turn = |k: u32| f64::from(k) * std::f64::consts::TAU / f64::from(SIDES);
    let rim = |z: f64| (0..SIDES).flat_map(move |k| [turn(k).cos(), turn(k).sin(), z]);
    let xyz: Vec<f64> = rim(0.0).chain(rim(1.0)).collect();
    let part = xyz[..9_000].to_vec();
    let caps = (2..SIDES).flat_map(|k| [0, k, k - 1, SIDES, SIDES + k - 1, SIDES + k]);
    let wall = (0..SIDES).flat_map(|k| {
        let next = (k + 1) % SIDES;
        [k, next, SIDES + next, k, SIDES + next, SIDES + k]
    });
    let vertices = Some(api::Points { xyz });
    let mesh = api::Mesh { vertices, triangles: caps.chain(wall).collect() };
    let source = Some(api::polytope_spec::Source::Mesh(mesh));
    let polytopes = vec![api::PolytopeSpec { source, ..Default::default() }];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let mut request = Request::new(request);
    // All of it takes most of a second now.
    request.set_timeout(Duration::from_millis(100));
    let status = server.polytopes().register_polytopes(request).await.unwrap_err();
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
    // The only thread is free again, long before all of it would have been measured.
    let registered = server.register("part", &part);
    tokio::time::timeout(Duration::from_secs(15), registered).await.expect("free again");
}

/// A chain may name one link many times over, and each takes a look at every vertex: one such claim
/// kept a thread at work for days, long after its deadline.
#[tokio::test]
async fn a_certificate_is_judged_no_longer_than_the_deadline() {
    let server =
        Server::with_settings(Settings { compute_threads: 1, ..Settings::default() }).await;
    let ball = ball(1000);
    server.register("ball", &ball).await;
    let question = api::FindFirstContactRequest {
        p: Some(body("ball", 0.0)),
        q: Some(body("ball", 3.0)),
        ..Default::default()
    };
    let mut client = server.queries();
    let mut answer = client.find_first_contact(question.clone()).await.unwrap().into_inner();
    let claim = |answer: &api::FindFirstContactResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        let claim = api::FirstContactClaim { question, answer };
        let claim = api::verify_certificate_request::Claim::FirstContact(claim);
        Request::new(api::VerifyCertificateRequest { claim: Some(claim) })
    };
    let short = answer.clone();
    let chain = &mut answer.certificate.as_mut().unwrap().chain;
    *chain = vec![chain[0].clone(); 50_000];
    let mut long = claim(&answer);
    long.set_timeout(Duration::from_millis(500));
    let status = client.verify_certificate(long).await.unwrap_err();
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
    // The only thread is free again.
    assert!(soon(client.verify_certificate(claim(&short))).await.unwrap().into_inner().valid);
}

/// Frames for 20,000 unknown bodies left their refused items with 1,000 sessions: 4 GB that counted
/// nowhere.
#[tokio::test]
async fn refused_items_are_listed_up_to_a_limit_counted_and_given_back() {
    let limits = Limits { refused_items_max: 100, ..Limits::default() };
    let server = started_with(limits).await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let before = server.usage().await.session_bytes;
    let unknown = |id| api::BodyPose { id: Some(id), ..Default::default() };
    let poses = (1_000..1_250).map(unknown).collect();
    let frame = api::Frame { frame_id: 1, poses, ..Default::default() };
    let report = step(&server, "s", vec![frame.clone()]).await.unwrap().remove(0);
    assert_eq!((report.refused_items.len(), report.omitted_items), (100, 150));
    let again = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!((&again.refused_items, again.omitted_items), (&report.refused_items, 150));
    let texts = |item: &api::ItemStatus| item.message.len() + item.field.len();
    let listed: usize = report.refused_items.iter().map(texts).sum();
    let with_items = server.usage().await.session_bytes;
    assert!(with_items >= before + listed as u64, "{before} {with_items} {listed}");
    // The next frame has none, and the session gives back what it kept.
    step(&server, "s", vec![api::Frame { frame_id: 2, ..Default::default() }]).await.unwrap();
    assert!(server.usage().await.session_bytes < before + listed as u64);
}
