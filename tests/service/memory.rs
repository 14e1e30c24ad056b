//! The account of memory: what is counted, when it is given back, and who is refused.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use clearance_proto as api;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_runtime::settings::Limits;
use http_body::Frame;
use prost::Message;
use prost::bytes::Bytes;
use tokio_stream::StreamExt;
use tonic::body::Body;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use tower::{Service, ServiceExt};

use crate::server::{Server, body, check, cube, soon, spec};

const MIB: u64 = 1 << 20;

async fn memory(server: &Server) -> api::MemoryUse {
    let metrics = server.info().get_server_metrics(api::GetServerMetricsRequest {}).await.unwrap();
    metrics.into_inner().memory.unwrap()
}

fn of_kind(memory: &api::MemoryUse, name: &str) -> u64 {
    memory.kinds.iter().find(|kind| kind.kind == name).unwrap().bytes
}

/// Waits until nothing of a kind is in use.
pub(crate) async fn until_none(server: &Server, name: &str) {
    soon(async {
        while of_kind(&memory(server).await, name) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn polytopes_and_sessions_take_memory_until_they_are_gone() {
    let server = Server::start().await;
    let empty = memory(&server).await;
    assert!(empty.limit_bytes > 64 * MIB && empty.resident_bytes > MIB, "{empty:?}");
    assert_eq!(empty.kinds.iter().map(|kind| kind.bytes).sum::<u64>(), empty.used_bytes);
    let id = server.register("cube", &cube()).await;
    let state = api::SessionState {
        bodies: (0..50)
            .map(|id| api::Body {
                id: Some(id),
                parts: vec![body("cube", 0.0)],
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let request = api::OpenSessionRequest { state: Some(state), ..Default::default() };
    let opened = server.sessions().open_session(request).await.unwrap().into_inner();
    let full = memory(&server).await;
    let usage = server.usage().await;
    // The account also knows the alias, which is paid for beside the shapes.
    assert_eq!(of_kind(&full, "polytopes"), usage.polytope_bytes);
    let aliases = of_kind(&full, "aliases");
    assert!((1..1_024).contains(&aliases), "{aliases}");
    assert_eq!(of_kind(&full, "sessions"), usage.session_bytes);
    assert!(usage.polytope_bytes > 1_000 && usage.session_bytes > 50_000, "{usage:?}");
    let session_id = opened.session_id;
    let request = api::CloseSessionRequest { session_id, ..Default::default() };
    server.sessions().close_session(request).await.unwrap();
    let key = Some(api::delete_polytope_request::Key::Id(id));
    let request = api::DeletePolytopeRequest { key, ..Default::default() };
    server.polytopes().delete_polytope(request).await.unwrap();
    for name in ["polytopes", "sessions", "decoded", "work"] {
        until_none(&server, name).await;
    }
    assert_eq!(memory(&server).await.refusals, 0);
}

/// Eight uploads of 255 MiB that did not end took 2.1 GB.
#[tokio::test]
async fn an_upload_takes_memory_as_its_bytes_come_and_gives_it_back() {
    let limits = Limits { memory_bytes_max: 64 * MIB, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let header = part(api::upload_polytope_request::Part::Header(header));
    let chunk = part(api::upload_polytope_request::Part::Chunk(vec![0; MIB as usize].into()));
    let endless = tokio_stream::iter([header].into_iter().chain(vec![chunk; 100]));
    let status = server.polytopes().upload_polytope(endless).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().metadata["limit"], "memory_bytes_max");
    assert!(details.retry_info().is_some(), "later there may be room");
    until_none(&server, "uploads").await;
    assert!(memory(&server).await.refusals > 0);
    // Whoever needs little was never refused.
    server.register("cube", &cube()).await;
}

/// A scene that comes in messages which are small one by one was kept and counted nowhere, for as
/// long as more of it came.
#[tokio::test]
async fn many_small_pieces_of_a_scene_are_counted_together() {
    let limits = Limits { memory_bytes_max: 16 * MIB, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let start = api::stream_session_request::Start::Open(Box::default());
    let first = api::StreamSessionRequest {
        start: Some(start),
        state_continues: true,
        ..Default::default()
    };
    let contacts = vec![api::AnnouncedContact::default(); 50];
    let piece = api::StreamSessionRequest {
        more_state: Some(Box::new(api::SessionState { contacts, ..Default::default() })),
        state_continues: true,
        ..Default::default()
    };
    let endless = tokio_stream::iter(std::iter::once(first).chain(vec![piece; 20_000]));
    let mut replies = server.sessions().stream_session(endless).await.unwrap().into_inner();
    let status = soon(replies.next()).await.unwrap().unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().metadata["limit"], "memory_bytes_max");
    until_none(&server, "decoded").await;
}

/// 256 requests on each connection whose last byte never came held 1 GB, for as long as they liked.
#[tokio::test]
async fn a_message_that_has_begun_has_to_arrive_in_time() {
    let limits = Limits { message_seconds_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let polytopes = vec![spec("cloud", &vec![1.5; 300_000])];
    let request = api::RegisterPolytopesRequest { polytopes, ..Default::default() };
    let mut bytes = request.encode_to_vec();
    let mut message = vec![0];
    message.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
    message.append(&mut bytes);
    message.pop();
    let length = message.len() as u64;
    let mut channel = server.channel.clone();
    let uri = format!("http://{}/clearance.v1.PolytopeService/RegisterPolytopes", server.address);
    let request = http::Request::post(uri).header("content-type", "application/grpc");
    let request = request.header("te", "trailers");
    let request = request.body(Body::new(Unfinished(Some(message.into())))).unwrap();
    channel.ready().await.unwrap();
    let calling = tokio::spawn(channel.call(request));
    soon(async {
        while of_kind(&memory(&server).await, "receiving") < length - MIB / 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let response = soon(calling).await.unwrap().unwrap();
    let status = Status::from_header_map(response.headers()).unwrap();
    check(&status, Code::DeadlineExceeded, "LIMIT_EXCEEDED", "message");
    assert!(status.message().contains("message_seconds_max = 1"), "{}", status.message());
    drop(response);
    until_none(&server, "receiving").await;
}

/// A message that is there but for its end.
struct Unfinished(Option<Bytes>);

impl http_body::Body for Unfinished {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))))
    }
}

/// A batch was answered as a whole, and refused for the size of its reply then.
#[tokio::test]
async fn a_batch_whose_answers_are_too_large_is_answered_as_far_as_they_fit() {
    let limits = Limits { batch_reply_bytes_max: 2_000, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    server.register("cube", &cube()).await;
    let question = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    let question = Some(api::batch_query_item::Question::CheckCollision(question));
    let request = api::BatchQueryRequest { items: vec![api::BatchQueryItem { question }; 200] };
    let answers = server.queries().batch_query(request).await.unwrap().into_inner().answers;
    assert_eq!(answers.len(), 200);
    let (mut refused, mut bytes) = (0, 0);
    for answer in &answers {
        match answer.answer.as_ref().unwrap() {
            api::batch_query_answer::Answer::Status(status) => {
                assert_eq!(Code::from(status.code), Code::ResourceExhausted, "{status:?}");
                refused += 1;
            }
            _ => bytes += answer.encoded_len(),
        }
    }
    assert!((1..200).contains(&refused) && bytes <= 2_000, "{refused} refused, {bytes} bytes");
}

/// The hulls that a batch needs were built with memory that nobody had counted.
#[tokio::test]
async fn a_batch_whose_hulls_need_more_memory_than_there_is_is_refused_before_the_work() {
    let limits = Limits { memory_bytes_max: 16 * MIB, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let batch = |points: u32| {
        let along = |k: u32| [f64::from(k), f64::from(k) * f64::from(k), 0.0];
        let xyz = (0..points).flat_map(along).collect();
        let source = Some(api::placed_body::Source::Vertices(api::Points { xyz }));
        let cloud = Some(api::PlacedBody { source, pose: None });
        let question =
            api::CheckCollisionRequest { p: cloud.clone(), q: cloud, ..Default::default() };
        let question = Some(api::batch_query_item::Question::CheckCollision(question));
        api::BatchQueryRequest { items: vec![api::BatchQueryItem { question }; 4] }
    };
    // However few threads there are, and so hulls at a time.
    let status = server.queries().batch_query(batch(10_000)).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(status.message().contains("memory_bytes_max"), "{}", status.message());
    let answers = server.queries().batch_query(batch(400)).await.unwrap().into_inner().answers;
    assert_eq!(answers.len(), 4);
    until_none(&server, "work").await;
}

/// Two bodies of 256 parts have 65,536 pairs of parts, and forty such bodies took 5.1 GB.
#[tokio::test]
async fn what_is_remembered_of_parts_stays_within_the_memory_there_is() {
    let limits = Limits { memory_bytes_max: 48 * MIB, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    server.register("cube", &cube()).await;
    let comb = |id: u32| api::Body {
        id: Some(id),
        parts: (0..100).map(|k| body("cube", f64::from(k) * 1.25 + f64::from(id) * 0.01)).collect(),
        ..Default::default()
    };
    let state = api::SessionState { bodies: (0..6).map(comb).collect(), ..Default::default() };
    let request = api::OpenSessionRequest { state: Some(state), ..Default::default() };
    let opened = soon(server.sessions().open_session(request)).await.unwrap().into_inner();
    assert_eq!(opened.report.unwrap().counts.unwrap().overlapping, 15);
    let held = memory(&server).await;
    assert!(held.used_bytes < 48 * MIB, "{held:?}");
}

/// 1,024 idle connections that answered pings kept every new client out.
#[tokio::test]
async fn idle_connections_give_way_to_new_ones_and_those_with_calls_stay() {
    let limits = Limits { connections_max: 8, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let open = api::OpenSessionRequest::default();
    let start = Some(api::stream_session_request::Start::Open(Box::new(open)));
    let first = api::StreamSessionRequest { start, ..Default::default() };
    let requests = tokio_stream::iter([first]).chain(tokio_stream::pending());
    let mut replies = server.sessions().stream_session(requests).await.unwrap().into_inner();
    assert!(soon(replies.next()).await.unwrap().unwrap().opened.is_some());
    let mut idle = Vec::new();
    for _ in 0..40 {
        let address = format!("http://{}", server.address);
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        let mut info = ServerServiceClient::new(channel);
        let asked = info.get_server_info(api::GetServerInfoRequest {});
        assert!(soon(asked).await.is_ok(), "a new client is served");
        idle.push(info);
    }
    // The first connection has its stream, and was not the one to go.
    let mut sessions = server.sessions();
    let asked = sessions.list_sessions(api::ListSessionsRequest::default());
    assert_eq!(soon(asked).await.unwrap().into_inner().total_size, 1);
    let is_attached =
        tokio::time::timeout(Duration::from_millis(50), replies.next()).await.is_err();
    assert!(is_attached, "nothing ended the stream");
}
