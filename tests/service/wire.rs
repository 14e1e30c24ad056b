//! Bytes below the messages: prefixes that lie, connections that say nothing, headers without end.
//! Each story is one that `tests/attack/malformed/attack.py` found in a running server.

use std::time::Duration;

use clearance_proto as api;
use clearance_runtime::settings::Limits;
use http::{Request, Response};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::{Service, ServiceExt};

use crate::hostile::ball;
use crate::server::{Server, body, check, cube, soon};

const QUESTION: &str = "/clearance.v1.QueryService/CheckCollision";

/// The status that the server gives to a request with this body, whatever it is.
async fn answer(server: &Server, path: &str, bytes: &str, headers: &[(&str, &str)]) -> Status {
    let mut request = Request::post(format!("http://localhost{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut channel = server.channel.clone();
    let ready = channel.ready().await.unwrap();
    let request = request.body(Body::new(bytes.to_owned())).unwrap();
    let response: Response<Body> = soon(ready.call(request)).await.unwrap();
    Status::from_header_map(response.headers()).expect("a status in the headers")
}

/// Their decoder called these INTERNAL, and every such request wrote an error into our log.
#[tokio::test]
async fn messages_cut_off_or_wrapped_wrongly_are_the_clients_mistake() {
    let server = Server::start().await;
    let cut_off = "\0\0\0\0\x09abc";
    let compressed_unsaid = "\x01\0\0\0\x01a";
    let compressed_unknown = "\x09\0\0\0\0";
    for bytes in [cut_off, compressed_unsaid, compressed_unknown, "\0\0", ""] {
        for path in [QUESTION, "/clearance.v1.ServerService/GetServerInfo"] {
            let status = answer(&server, path, bytes, &[]).await;
            check(&status, Code::InvalidArgument, "MALFORMED_MESSAGE", "");
        }
        if !bytes.is_empty() {
            let path = "/clearance.v1.PolytopeService/UploadPolytope";
            let status = answer(&server, path, bytes, &[]).await;
            check(&status, Code::InvalidArgument, "MALFORMED_MESSAGE", "");
        }
    }
    // The health service has a codec of its own.
    let path = "/grpc.health.v1.Health/Check";
    let status = answer(&server, path, "\0\0\0\0\x02\x0a\x7f", &[]).await;
    check(&status, Code::InvalidArgument, "MALFORMED_MESSAGE", "");
}

/// HTTP/2 answered 431, which gRPC clients show as UNKNOWN without a word.
#[tokio::test]
async fn headers_beyond_the_limit_are_refused_with_the_limit() {
    let server = Server::start().await;
    let long = "x".repeat(20 << 10);
    let status = answer(&server, QUESTION, "\0\0\0\0\0", &[("x-long", &long)]).await;
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "headers");
    assert!(status.message().contains("header_bytes_max = 16384"), "{}", status.message());
}

/// As many silent connections as there are places kept every client out, for ever.
#[tokio::test]
async fn a_connection_that_says_nothing_gives_its_place_to_another() {
    // One place for the server's own client of this test, two that are taken.
    let limits = Limits { connections_max: 3, handshake_seconds_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let address = server.address;
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"PRI * HTTP/2").await.unwrap();
    let other = tonic::transport::Channel::from_shared(format!("http://{address}")).unwrap();
    let other = soon(other.connect()).await.unwrap();
    soon(HealthClient::new(other).check(HealthCheckRequest::default())).await.unwrap();
    for connection in [&mut silent, &mut half] {
        // Closed: what is left to read ends, or is a reset.
        let rest = soon(connection.read_to_end(&mut Vec::new())).await;
        assert!(rest.is_ok() || rest.is_err_and(|error| error.raw_os_error().is_some()));
    }
}

/// Giving up a hundred calls at once, as a cancelled batch does, closed the whole connection: with
/// it went every stream of that client.
#[tokio::test]
async fn a_client_that_gives_up_many_calls_at_once_keeps_its_connection() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let question = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    let mut health = HealthClient::new(server.channel.clone());
    let watch = health.watch(HealthCheckRequest::default()).await.unwrap();
    let mut watch = watch.into_inner();
    assert!(watch.message().await.unwrap().is_some());
    for patience in 0..10 {
        let calls: Vec<_> = (0..100)
            .map(|_| {
                let (mut client, question) = (server.queries(), question.clone());
                tokio::spawn(async move { client.check_collision(question).await.map(drop) })
            })
            .collect();
        for _ in 0..patience {
            tokio::task::yield_now().await;
        }
        for call in calls {
            call.abort();
        }
    }
    server.queries().check_collision(question).await.unwrap();
    let still = tokio::time::timeout(Duration::from_millis(100), watch.message()).await;
    assert!(still.is_err(), "the stream beside them goes on: {still:?}");
}

/// Only witnesses and points were counted: names of four megabytes, a thousand times, were not.
#[tokio::test]
async fn everything_that_a_session_keeps_counts_towards_the_limit_of_memory() {
    let limits = Limits { session_bytes_max: 10 << 20, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let corner = api::Points { xyz: vec![0.0; 3] };
    let part = api::PlacedBody {
        source: Some(api::placed_body::Source::Vertices(corner)),
        ..Default::default()
    };
    let plain = api::Body { id: Some(1), parts: vec![part], ..Default::default() };
    let named = api::Body { name: "n".repeat(3 << 20), ..plain.clone() };
    let grouped = api::Body { groups: vec!["g".repeat(1 << 10); 3 << 10], ..plain.clone() };
    let pair = api::GroupPair { a: "a".into(), b: "b".into() };
    let rules = api::PairRules {
        checked_groups: vec![pair; 50_000],
        groups_to_come: vec!["a".into(), "b".into()],
        ..Default::default()
    };
    let state = |body: api::Body, rules| api::SessionState {
        bodies: vec![body],
        rules,
        ..Default::default()
    };
    for state in [state(named, None), state(grouped, None), state(plain, Some(rules))] {
        let mut sessions = Vec::new();
        let status = loop {
            let channel = server.channel.clone();
            let mut client = api::session_service_client::SessionServiceClient::new(channel);
            let request =
                api::OpenSessionRequest { state: Some(state.clone()), ..Default::default() };
            match client.open_session(request).await {
                Ok(reply) => sessions.push(reply.into_inner().session_id),
                Err(status) => break status,
            }
            assert!(sessions.len() < 4, "{} sessions of 3 MiB in 10 MiB", sessions.len());
        };
        check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
        assert!(status.message().contains("session_bytes_max"), "{}", status.message());
        for session_id in sessions {
            let channel = server.channel.clone();
            let mut client = api::session_service_client::SessionServiceClient::new(channel);
            let request = api::CloseSessionRequest { session_id, ..Default::default() };
            client.close_session(request).await.unwrap();
        }
    }
}

/// A header with points beside the chunks' points was accepted, and one of the two ignored.
#[tokio::test]
async fn an_upload_has_one_source() {
    let server = Server::start().await;
    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let spec = Some(crate::server::spec("", &[1.0; 3]));
    let header = api::UploadHeader { spec, content: 1, ..Default::default() };
    let messages = [
        part(api::upload_polytope_request::Part::Header(header)),
        part(api::upload_polytope_request::Part::Chunk(vec![0; 24].into())),
    ];
    let upload = server.polytopes().upload_polytope(tokio_stream::iter(messages)).await;
    check(&upload.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", "header.spec.source");
}

/// Two hundred replies that nobody read took a gigabyte, and one connection may have more of them
/// than there is memory.
#[tokio::test]
async fn large_replies_that_nobody_reads_are_limited_and_small_ones_go_on() {
    let limits = Limits { unsent_bytes_max: 256 << 10, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    server.register("cube", &cube()).await;
    server.register("ball", &ball(4_000)).await;
    let key = |alias: &str| Some(api::get_polytope_request::Key::Alias(alias.to_owned()));
    let large = || api::GetPolytopeRequest {
        key: key("ball"),
        with_vertices: true,
        with_facets: false,
        reply_bytes_max: 0,
        ..Default::default()
    };
    let mut message = large().encode_to_vec();
    message.splice(0..0, [0, 0, 0, 0, u8::try_from(message.len()).unwrap()]);
    let message = String::from_utf8(message).unwrap();
    // Hardly anything is sent to it before it reads.
    let deaf = tonic::transport::Endpoint::from_shared(format!("http://{}", server.address));
    let mut deaf = deaf.unwrap().initial_stream_window_size(64).connect().await.unwrap();
    let mut unread = Vec::new();
    let refused = loop {
        let request = Request::post("http://localhost/clearance.v1.PolytopeService/GetPolytope")
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        let request = request.body(Body::new(message.clone())).unwrap();
        let response = soon(deaf.ready().await.unwrap().call(request)).await.unwrap();
        match Status::from_header_map(response.headers()) {
            None => unread.push(response),
            Some(status) => break status,
        }
        assert!(unread.len() < 3, "{} replies of 96 KB in 256 KiB", unread.len());
    };
    check(&refused, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    assert!(refused.message().contains("unsent_bytes_max"), "{}", refused.message());
    let question = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    server.queries().check_collision(question).await.unwrap();
    drop(unread);
    let read = async {
        while server.polytopes().get_polytope(large()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    soon(read).await;
}

/// Kinds of frames (RFC 9113, section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// The headers of a call of a method, in HPACK without a table: POST, http, path and content type.
fn call_headers(path: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let content_type = [text("content-type"), text("application/grpc")].concat();
    let te = [text("te"), text("trailers")].concat();
    [vec![0x83, 0x86, 0x04], text(path), vec![0x00], content_type, vec![0x00], te].concat()
}

/// Reads frames until one of this kind has come so many times; GOAWAY is the end.
async fn read_until(stream: &mut TcpStream, kind: u8, times: usize) -> Result<(), Vec<u8>> {
    let mut seen = 0;
    while seen < times {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut content = vec![0; length as usize];
        stream.read_exact(&mut content).await.unwrap();
        if head[3] == GOAWAY {
            return Err(content);
        }
        seen += usize::from(head[3] == kind);
    }
    Ok(())
}

/// Of a message that is refused for its length a megabyte may be under way still. Beyond fifty such
/// calls in a second each of these frames counted as an error of the client, and the connection was
/// closed, with all other calls on it.
#[tokio::test]
async fn who_sends_many_messages_that_are_too_long_keeps_its_connection() {
    let server = Server::start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    sent.extend(frame(SETTINGS, 0, 0, &[]));
    let streams = (0..128).map(|number| 2 * number + 1);
    for number in streams.clone() {
        let too_long = [&[0][..], &u32::MAX.to_be_bytes()].concat();
        sent.extend(frame(HEADERS, 0x4, number, &call_headers(QUESTION)));
        sent.extend(frame(DATA, 0, number, &too_long));
    }
    stream.write_all(&sent).await.unwrap();
    soon(read_until(&mut stream, RST_STREAM, 128)).await.unwrap();
    // What was under way comes frame by frame, of all calls in turn.
    for _ in 0..14 {
        let mut under_way = Vec::new();
        for number in streams.clone() {
            under_way.extend(frame(DATA, 0, number, &[0; 1_024]));
        }
        under_way.extend(frame(PING, 0, 0, &[7; 8]));
        stream.write_all(&under_way).await.unwrap();
        if let Err(why) = soon(read_until(&mut stream, PING, 1)).await {
            panic!("the connection is closed: {}", String::from_utf8_lossy(&why));
        }
    }
}
