//! Rows that fill memory. The server has 512 MiB to give, and the process may hold a third more.

use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use clearance_proto as api;
use http_body::Frame;
use prost::bytes::Bytes;
use tonic::Status;
use tonic::body::Body;
use tonic_health::pb::HealthCheckRequest;
use tower::{Service, ServiceExt};

use crate::questions::{ball, many_moving, register};
use crate::row::row_on;
use crate::server::{Client, MEMORY_FLAG, Server, Start, Wire, resident, slowness};
use crate::watch::Bounds;

pub(crate) const MIB: u64 = 1 << 20;

/// What the server may give out.
pub(crate) const BUDGET: u64 = 512 * MIB;

pub(crate) fn small() -> Start {
    let flags = vec![MEMORY_FLAG.to_owned(), BUDGET.to_string()];
    Start { flags, ..Start::default() }
}

pub(crate) fn bounds() -> Bounds {
    Bounds { resident_max: BUDGET * 4 / 3, ..Bounds::default() }
}

/// What the server says about its memory.
pub(crate) async fn memory(server: &Server) -> api::MemoryUse {
    let request = api::GetServerMetricsRequest {};
    let metrics = server.connect().await.info().get_server_metrics(request).await.unwrap();
    metrics.into_inner().memory.unwrap()
}

/// What the server says it has given out.
pub(crate) async fn used(server: &Server) -> u64 {
    memory(server).await.used_bytes
}

/// Waits until the server has given out no more than this, and the process holds little.
pub(crate) async fn until_given_back(server: &Server, used_max: u64, resident_max: u64) {
    let given_back = async {
        while used(server).await > used_max || resident(server.id()) > resident_max {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(10), given_back).await;
    let (used, held) = (used(server).await >> 20, resident(server.id()) >> 20);
    assert!(in_time.is_ok(), "{used} MiB are given out still, {held} MiB held");
}

/// A body of a request: some bytes, and then the end or nothing more.
struct Sent {
    bytes: Option<Bytes>,
    ends: bool,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match self.bytes.take() {
            Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            None if self.ends => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

/// Calls a method with bytes as they are; tells what came of it.
pub(crate) async fn call(channel: &Wire, method: &str, bytes: Bytes, ends: bool) -> Option<Status> {
    let mut channel = channel.clone();
    let uri = format!("http://localhost/clearance.v1.{method}");
    let request = http::Request::post(uri).header("content-type", "application/grpc");
    let sent = Body::new(Sent { bytes: Some(bytes), ends });
    let request = request.header("te", "trailers").body(sent).unwrap();
    let response = channel.ready().await.unwrap().call(request).await.ok()?;
    Status::from_header_map(response.headers())
}

/// A call whose reply is taken by hand.
pub(crate) fn call_for_reply(method: &str, bytes: Bytes) -> http::Request<Body> {
    let uri = format!("http://localhost/clearance.v1.{method}");
    let request = http::Request::post(uri).header("content-type", "application/grpc");
    let sent = Body::new(Sent { bytes: Some(bytes), ends: true });
    request.header("te", "trailers").body(sent).unwrap()
}

/// A message as it goes over the wire, without its last bytes.
pub(crate) fn framed(message: &[u8], missing: usize) -> Bytes {
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(&message[..message.len() - missing]);
    bytes.into()
}

/// 200 to 1,140 MiB were taken for each of them, and then it was refused.
#[test]
fn messages_of_empty_elements_are_refused_before_they_are_objects() {
    row_on(&small(), "messages of empty elements", bounds(), async |server| {
        let lists = [
            ("QueryService/BatchQuery", 1_u8),
            ("SessionService/StepSession", 2),
            ("PolytopeService/RegisterPolytopes", 1),
            ("PolytopeService/FindMissingPolytopes", 1),
        ];
        let mut clients = tokio::task::JoinSet::new();
        for k in 0..8 {
            let Client(channel) = server.connect().await;
            clients.spawn(async move {
                for round in 0..10 {
                    let (method, field) = lists[(k + round) % lists.len()];
                    let message = framed(&[field << 3 | 2, 0].repeat(2 << 20)[..(4 << 20) - 8], 0);
                    let status = call(&channel, method, message, true).await.expect("a status");
                    assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status:?}");
                }
            });
        }
        clients.join_all().await;
        until_given_back(server, 16 * MIB, 160 * MIB).await;
    });
}

/// 1 GB a connection, for as long as its client liked.
#[test]
fn requests_whose_last_byte_never_comes_are_bounded() {
    row_on(&small(), "requests without their last byte", bounds(), async |server| {
        let message = framed(&vec![0x0a; 4 << 20], 1);
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let Client(channel) = server.connect().await;
            for _ in 0..100 {
                let (channel, message) = (channel.clone(), message.clone());
                calls.spawn(async move {
                    call(&channel, "PolytopeService/RegisterPolytopes", message, false).await
                });
            }
        }
        let mut refused = 0;
        let most_are_refused = async {
            while refused < 250 {
                let status = calls.join_next().await.unwrap().unwrap().expect("a status");
                assert_eq!(status.code(), tonic::Code::ResourceExhausted, "{status:?}");
                refused += 1;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(30), most_are_refused).await;
        assert!(in_time.is_ok(), "{refused} of 400 were refused");
        calls.shutdown().await;
        until_given_back(server, 16 * MIB, 200 * MIB).await;
    });
}

/// 2.1 GB.
#[test]
fn uploads_that_do_not_end_are_bounded() {
    row_on(&small(), "eight uploads of 255 MiB", bounds(), async |server| {
        let part = |part| api::UploadPolytopeRequest { part: Some(part) };
        let header = api::UploadHeader { content: 1, ..Default::default() };
        let header = part(api::upload_polytope_request::Part::Header(header));
        let chunk = Bytes::from(vec![0; MIB as usize]);
        let chunk = part(api::upload_polytope_request::Part::Chunk(chunk));
        let mut uploads = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let mut polytopes = server.connect().await.polytopes();
            let parts = [header.clone()].into_iter().chain(vec![chunk.clone(); 255]);
            uploads.spawn(async move {
                let stream = tokio_stream::iter(parts.collect::<Vec<_>>());
                let endless = tokio_stream::StreamExt::chain(stream, tokio_stream::pending());
                polytopes.upload_polytope(endless).await.unwrap_err()
            });
        }
        let refused = async {
            for _ in 0..5 {
                let status = uploads.join_next().await.unwrap().unwrap();
                assert_eq!(status.code(), tonic::Code::ResourceExhausted, "{status:?}");
            }
        };
        tokio::time::timeout(Duration::from_secs(60), refused).await.expect("most are refused");
        uploads.shutdown().await;
        until_given_back(server, 16 * MIB, 200 * MIB).await;
    });
}

/// 748 MB stayed.
#[test]
fn what_deleted_polytopes_took_is_given_back() {
    row_on(&small(), "large spheres, registered and deleted", bounds(), async |server| {
        let points = if slowness() == 1 { 40_000 } else { 4_000 };
        let mut polytopes = server.connect().await.polytopes();
        for round in 0..5 {
            let xyz = ball(points + round);
            let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz }));
            let polytopes_too = vec![api::PolytopeSpec { source, ..Default::default() }];
            let request =
                api::RegisterPolytopesRequest { polytopes: polytopes_too, ..Default::default() };
            let reply = polytopes.register_polytopes(request).await.unwrap().into_inner();
            let id = reply.reports[0].polytope.as_ref().unwrap().id.clone();
            assert!(used(server).await > u64::from(points) * 100);
            let key = Some(api::delete_polytope_request::Key::Id(id));
            let request = api::DeletePolytopeRequest { key, ..Default::default() };
            polytopes.delete_polytope(request).await.unwrap();
        }
        until_given_back(server, 8 * MIB, 128 * MIB).await;
    });
}

/// Nobody had tried: a call of 60 KB names one ball a thousand times, and each time a polyhedron
/// was made of it that nobody had counted.
#[test]
fn one_body_that_is_named_very_often_is_counted_each_time() {
    row_on(&small(), "4 collisions of 1,000 large balls", bounds(), async |server| {
        register(&server.connect().await, "large", ball(2_000)).await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let client = server.connect().await;
            calls.spawn(async move {
                let mut request = tonic::Request::new(many_moving("large", 1_000));
                request.set_timeout(Duration::from_secs(8));
                client.queries().find_first_collision(request).await.unwrap_err()
            });
        }
        for status in calls.join_all().await {
            assert_eq!(status.code(), tonic::Code::ResourceExhausted, "{status:?}");
        }
        let few = many_moving("large", 4);
        server.connect().await.queries().find_first_collision(few).await.expect("answered");
        until_given_back(server, 8 * MIB, 160 * MIB).await;
    });
}

/// 1,024 of them kept every new client out, for as long as they answered pings.
#[test]
fn idle_connections_keep_nobody_out() {
    row_on(&small(), "idle connections", bounds(), async |server| {
        let mut idle = Vec::new();
        for _ in 0..1_500 {
            let mut stream = std::net::TcpStream::connect(server.address).unwrap();
            // The preface of HTTP/2 and no settings.
            let hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
            // The server may have closed it already.
            let _ = stream.write_all(hello);
            idle.push(stream);
        }
        for _ in 0..5 {
            let mut health = server.connect().await.health();
            let asked = health.check(HealthCheckRequest::default());
            let answered = tokio::time::timeout(Duration::from_secs(2), asked).await;
            assert!(answered.is_ok_and(|reply| reply.is_ok()), "a new client is served");
        }
        drop(idle);
    });
}
