//! Calls over HTTP/1.1: Connect and gRPC-Web say what gRPC says, and what is wrong is told in the
//! words of each.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_runtime::settings::{Limits, Settings};
use prost::Message;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http::{ask, call, messages, prefixed, request};
use crate::server::{Server, base64, body, cube, soon};

/// A server with a side port that was free just now.
pub(crate) async fn with_door(settings: Settings) -> (Server, SocketAddr) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let settings = Settings { http: address.to_string(), ..settings };
    (Server::with_settings(settings).await, address)
}

const QUESTION: &str = r#"{
    "p": {"vertices": {"xyz": [0,0,0, 1,0,0, 0,1,0, 0,0,1]}},
    "q": {"vertices": {"xyz": [2,0,0, 3,0,0]}}
}"#;

#[tokio::test]
async fn one_line_of_curl_is_answered_as_over_grpc() {
    let (server, door) = with_door(Settings::default()).await;
    let answer = call(door, "QueryService/MeasureDistance", QUESTION).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let told = answer.json();
    let asked = api::MeasureDistanceRequest {
        p: Some(placed(&[0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.])),
        q: Some(placed(&[2., 0., 0., 3., 0., 0.])),
        ..Default::default()
    };
    let expected = server.queries().measure_distance(asked.clone()).await.unwrap().into_inner();
    let bracket = expected.distance.unwrap();
    assert_eq!(told["distance"]["lower"].as_f64().unwrap_or(0.0), bracket.lower, "{told}");
    assert_eq!(told["distance"]["upper"].as_f64(), Some(bracket.upper), "{told}");
    // The same in bytes.
    let path = "/clearance.v1.QueryService/MeasureDistance";
    let proto = ["content-type: application/proto"];
    let answer = ask(door, &request("POST", path, &proto, &asked.encode_to_vec())).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/proto")));
    let told = api::MeasureDistanceResponse::decode(&answer.body[..]).unwrap();
    assert_eq!(told.distance, expected.distance);
    assert_eq!(told.certificate, expected.certificate);
}

fn placed(xyz: &[f64]) -> api::PlacedBody {
    let points = api::Points { xyz: xyz.to_vec() };
    api::PlacedBody { source: Some(api::placed_body::Source::Vertices(points)), pose: None }
}

#[tokio::test]
async fn what_is_wrong_names_the_field_and_the_reason() {
    let (_server, door) = with_door(Settings::default()).await;
    let check = async |method: &str, body: &str, status: u16, code: &str, field: &str| {
        let answer = call(door, method, body).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let told = answer.json();
        assert_eq!(told["code"], code, "{told}");
        let details = told["details"].as_array().unwrap();
        let of = |name: &str| {
            details.iter().find(|one| one["type"] == name).map(|one| one["debug"].clone())
        };
        let violations = of("google.rpc.BadRequest").unwrap_or(Value::Null);
        let found = violations["fieldViolations"][0]["field"].as_str().unwrap_or_default();
        assert_eq!(found, field, "{told}");
        of("google.rpc.ErrorInfo").unwrap()["reason"].as_str().unwrap().to_owned()
    };
    let distance = "QueryService/MeasureDistance";
    let bad = QUESTION.replace("[2,0,0, 3,0,0]", "[2,0,0, 3,0]");
    let reason = check(distance, &bad, 400, "invalid_argument", "q.vertices.xyz").await;
    assert_eq!(reason, "BAD_FIELD");
    // What JSON cannot say is told as what the message cannot.
    let bad = QUESTION.replace("3,0,0", "3,0,\"x\"");
    let reason = check(distance, &bad, 400, "invalid_argument", "q.vertices.xyz[5]").await;
    assert_eq!(reason, "BAD_FIELD");
    let bad = QUESTION.replace("vertices", "vertice");
    check(distance, &bad, 400, "invalid_argument", "p.vertice").await;
    let reason = check(distance, "{", 400, "invalid_argument", "").await;
    assert_eq!(reason, "MALFORMED_MESSAGE");
    let unknown = r#"{"p":{"alias":"none"},"q":{"alias":"none"}}"#;
    let reason = check(distance, unknown, 404, "not_found", "p.alias").await;
    assert_eq!(reason, "UNKNOWN_POLYTOPE");
}

/// Numbers of JavaScript have 53 bits; an incarnation has 64.
#[tokio::test]
async fn an_incarnation_is_a_text_and_is_taken_back_as_one() {
    let (_server, door) = with_door(Settings::default()).await;
    let opened = call(door, "SessionService/OpenSession", r#"{"sessionId":"s"}"#).await.json();
    let incarnation = opened["incarnation"].as_str().expect("a text").to_owned();
    assert!(incarnation.parse::<u64>().unwrap() > 0);
    let get = json!({"sessionId": "s", "incarnation": incarnation}).to_string();
    assert_eq!(call(door, "SessionService/GetSession", &get).await.status, 200);
    let other = json!({"sessionId": "s", "incarnation": "1"}).to_string();
    let answer = call(door, "SessionService/GetSession", &other).await;
    assert_eq!(answer.json()["code"], "failed_precondition", "{answer:?}");
}

/// Reads until so many messages of a chunked stream are there.
async fn read_messages(stream: &mut TcpStream, count: usize) -> Vec<(u8, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let read = soon(stream.read(&mut piece)).await.unwrap();
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let (mut body, mut rest) = (Vec::new(), &bytes[end + 4..]);
        while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = std::str::from_utf8(&rest[..at]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            let Some(chunk) = rest.get(at + 2..at + 2 + size) else { break };
            body.extend_from_slice(chunk);
            rest = rest.get(at + 4 + size..).unwrap_or_default();
        }
        let mut at = 0;
        let mut whole = 0;
        while let Some(prefix) = body.get(at..at + 5) {
            at += 5 + u32::from_be_bytes(prefix[1..].try_into().unwrap()) as usize;
            whole += usize::from(at <= body.len());
        }
        if whole >= count || read == 0 {
            body.truncate(at.min(body.len()));
            return messages(&body);
        }
    }
}

fn step(frame_id: u64, x: f64) -> String {
    let frame = if frame_id == 1 {
        json!({
            "frameId": "1", "keyframe": true,
            "addedBodies": [
                {"id": 1, "parts": [{"alias": "cube"}], "pose": {"translation": {"x": x}}},
                {"id": 2, "parts": [{"alias": "cube"}], "pose": {"translation": {"x": 0}}},
            ],
        })
    } else {
        let pose = json!({"translation": {"x": x}});
        json!({"frameId": frame_id.to_string(), "poses": [{"id": 1, "pose": pose}]})
    };
    json!({"sessionId": "s", "frames": [frame]}).to_string()
}

/// A scene that moves is watched from a page.
#[tokio::test]
async fn a_stream_tells_news_as_they_come_and_ends_when_the_client_goes() {
    let (server, door) = with_door(Settings::default()).await;
    server.register("cube", &cube()).await;
    let opened = call(door, "SessionService/OpenSession", r#"{"sessionId":"s"}"#).await;
    assert_eq!(opened.status, 200);
    let mut watching = Vec::new();
    let path = "/clearance.v1.SessionService/WatchSession";
    let binary = api::WatchSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let binary = prefixed(&binary.encode_to_vec());
    for (kind, body) in [
        ("application/connect+json", prefixed(br#"{"sessionId":"s"}"#)),
        ("application/connect+proto", binary.clone()),
        ("application/grpc-web+proto", binary),
    ] {
        let mut stream = TcpStream::connect(door).await.unwrap();
        let header = format!("content-type: {kind}");
        stream.write_all(&request("POST", path, &[&header], &body)).await.unwrap();
        let first = read_messages(&mut stream, 1).await;
        assert_eq!(first[0].0, 0, "{kind}");
        watching.push((kind, stream));
    }
    let answer = call(door, "SessionService/StepSession", &step(1, 3.0)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    for (kind, stream) in &mut watching {
        let mut bytes = [0; 4_096];
        let read = soon(stream.read(&mut bytes)).await.unwrap();
        assert!(read > 0, "{kind}");
    }
    // Whoever hangs up gives back what it has, although the server has nothing to say to it.
    let watched = held(door).await;
    drop(watching);
    let start = Instant::now();
    while held(door).await + 3 * (64 << 10) > watched {
        assert!(start.elapsed() < Duration::from_secs(20), "watchers that are gone are kept");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What calls and connections hold by the account, with the connection that asks.
async fn held(door: SocketAddr) -> u64 {
    let page = ask(door, &request("GET", "/metrics", &[], b"")).await;
    let sample = "clearance_memory_bytes{kind=\"calls\"} ";
    let line = page.text().lines().find_map(|line| line.strip_prefix(sample));
    line.unwrap_or_else(|| panic!("{}", page.text())).parse().unwrap()
}

#[tokio::test]
async fn a_stream_ends_with_its_status() {
    let (_server, door) = with_door(Settings::default()).await;
    let path = "/clearance.v1.SessionService/WatchSession";
    let asked = api::WatchSessionRequest { session_id: "none".to_owned(), ..Default::default() };
    let asked = asked.encode_to_vec();
    let json = ["content-type: application/connect+json"];
    let answer =
        ask(door, &request("POST", path, &json, &prefixed(b"{\"sessionId\":\"x\"}"))).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/connect+json"))
    );
    let [(2, end)] = &answer.messages()[..] else { panic!("{answer:?}") };
    let end: Value = serde_json::from_slice(end).unwrap();
    assert_eq!(end["error"]["code"], "not_found", "{end}");
    for (kind, body) in [
        ("application/grpc-web+proto", prefixed(&asked)),
        ("application/grpc-web", prefixed(&asked)),
        ("application/grpc-web-text", base64(&prefixed(&asked)).into_bytes()),
    ] {
        let header = format!("content-type: {kind}");
        let answer = ask(door, &request("POST", path, &[&header], &body)).await;
        assert_eq!(answer.status, 200);
        let text = if kind.contains("text") {
            // The one message that there is begins with 0x80 and three bytes of its length.
            assert!(answer.text().starts_with("gAAA"), "{}", answer.text());
            continue;
        } else {
            answer.messages()
        };
        let [(0x80, trailers)] = &text[..] else { panic!("{answer:?}") };
        let trailers = String::from_utf8(trailers.clone()).unwrap();
        assert!(trailers.contains("grpc-status: 5\r\n"), "{trailers}");
        assert!(trailers.contains("grpc-status-details-bin: "), "{trailers}");
    }
}

/// gRPC-Web's text is for browsers that read no bytes.
#[tokio::test]
async fn grpc_web_answers_in_bytes_and_in_base64() {
    let (server, door) = with_door(Settings::default()).await;
    server.register("cube", &cube()).await;
    let asked = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    let message = prefixed(&asked.encode_to_vec());
    let path = "/clearance.v1.QueryService/CheckCollision";
    let kind = ["content-type: application/grpc-web+proto"];
    let answer = ask(door, &request("POST", path, &kind, &message)).await;
    let found = answer.messages();
    let [(0, reply), (0x80, trailers)] = &found[..] else { panic!("{answer:?}") };
    api::CheckCollisionResponse::decode(&reply[..]).unwrap();
    assert!(trailers.starts_with(b"grpc-status: 0\r\n"));
    let kind = ["content-type: application/grpc-web-text"];
    let text = base64(&message);
    let answer = ask(door, &request("POST", path, &kind, text.as_bytes())).await;
    assert_eq!(answer.header("content-type"), Some("application/grpc-web-text+proto"));
    assert!(
        answer
            .text()
            .contains(&base64(&[&[0x80, 0, 0, 0, 0x10], &b"grpc-status: 0\r\n"[..]].concat()))
    );
}

#[tokio::test]
async fn what_is_no_call_is_told_what_is() {
    let (_server, door) = with_door(Settings::default()).await;
    let info = "/clearance.v1.ServerService/GetServerInfo";
    let json = "content-type: application/json";
    for (method, path, headers, status, words) in [
        ("GET", info, &[json][..], 405, "by POST"),
        ("PUT", info, &[json], 405, "by POST"),
        ("POST", info, &["content-type: text/plain"], 415, "application/json"),
        ("POST", info, &[], 415, "application/json"),
        ("POST", info, &["content-type: application/grpc"], 415, "application/grpc-web"),
        ("POST", info, &["content-type: application/connect+json"], 415, "application/json"),
        ("POST", "/clearance.v1.SessionService/WatchSession", &[json], 415, "connect+json"),
        ("POST", "/clearance.v1.ServerService/Nothing", &[json], 501, "no method"),
        ("POST", "/a.b/c", &[json], 501, "no method"),
        ("POST", "/clearance.v1.SessionService/StreamSession", &[json], 501, "over gRPC"),
        ("POST", "/clearance.v1.PolytopeService/UploadPolytope", &[json], 501, "over gRPC"),
        ("POST", info, &[json, "connect-protocol-version: 2"], 400, "has to be"),
        ("POST", info, &[json, "connect-timeout-ms: soon"], 400, "milliseconds"),
        ("POST", info, &[json, "connect-timeout-ms: 12345678901"], 400, "milliseconds"),
        ("POST", info, &[json, "content-encoding: gzip"], 501, "identity"),
        ("POST", "/livez", &[json], 405, ""),
        ("DELETE", "/clearance.v1.ServerService", &[json], 405, ""),
    ] {
        let answer = ask(door, &request(method, path, headers, b"{}")).await;
        assert_eq!(answer.status, status, "{method} {path} {headers:?}: {answer:?}");
        assert!(answer.text().contains(words), "{path} {headers:?}: {}", answer.text());
    }
    let headers = [json, "connect-protocol-version: 1", "connect-timeout-ms: 1000"];
    let answer = ask(door, &request("POST", info, &headers, b"{}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Who waits no longer is told so, in time.
#[tokio::test]
async fn deadlines_are_kept_in_both_protocols() {
    let (_server, door) = with_door(Settings::default()).await;
    let path = "/clearance.v1.QueryService/MeasureDistance";
    let headers = ["content-type: application/json", "connect-timeout-ms: 0"];
    let answer = ask(door, &request("POST", path, &headers, QUESTION.as_bytes())).await;
    assert_eq!(answer.status, 504, "{answer:?}");
    assert_eq!(answer.json()["code"], "deadline_exceeded");
    let headers = ["content-type: application/grpc-web", "grpc-timeout: 0S"];
    let asked = api::MeasureDistanceRequest {
        p: Some(placed(&[0.0, 0.0, 0.0])),
        q: Some(placed(&[1.0, 0.0, 0.0])),
        ..Default::default()
    };
    let message = prefixed(&asked.encode_to_vec());
    let answer = ask(door, &request("POST", path, &headers, &message)).await;
    let found = answer.messages();
    let [(0x80, trailers)] = &found[..] else { panic!("{answer:?}") };
    assert!(trailers.starts_with(b"grpc-status: 4\r\n"));
    // A body that does not come is waited for no longer than the call may take.
    let mut stream = TcpStream::connect(door).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         connect-timeout-ms: 300\r\ncontent-length: 50\r\nconnection: close\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let start = Instant::now();
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(answer.starts_with(b"HTTP/1.1 504"), "{}", answer.escape_ascii());
}

#[tokio::test]
async fn bodies_that_are_too_long_or_are_cut_leave_nothing_behind() {
    let limits = Limits { message_bytes_max: 64 << 10, ..Limits::default() };
    let (_server, door) = with_door(Settings { limits, ..Settings::default() }).await;
    let path = "/clearance.v1.QueryService/MeasureDistance";
    let spaces = vec![b' '; 100 << 10];
    for kind in ["application/json", "application/proto"] {
        let header = format!("content-type: {kind}");
        let answer = ask(door, &request("POST", path, &[&header], &spaces)).await;
        assert_eq!(answer.status, 429, "{kind}: {answer:?}");
        assert!(answer.text().contains("message_bytes_max"), "{kind}: {}", answer.text());
    }
    // Without a length, in one chunk after another.
    let mut chunked = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    .into_bytes();
    for _ in 0..100 {
        chunked.extend_from_slice(b"400\r\n");
        chunked.extend_from_slice(&[b' '; 1_024]);
        chunked.extend_from_slice(b"\r\n");
    }
    let answer = ask(door, &chunked).await;
    assert_eq!(answer.status, 429, "{answer:?}");
    let before = held(door).await;
    for cut in [10, 40, 200, 400] {
        let whole = request("POST", path, &["content-type: application/json"], QUESTION.as_bytes());
        let mut stream = TcpStream::connect(door).await.unwrap();
        stream.write_all(&whole[..cut.min(whole.len() - 1)]).await.unwrap();
        drop(stream);
    }
    let start = Instant::now();
    while held(door).await > before {
        assert!(start.elapsed() < Duration::from_secs(20), "calls that are gone are kept");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(call(door, "QueryService/MeasureDistance", QUESTION).await.status, 200);
}

/// A connection carries one call after the other.
#[tokio::test]
async fn a_connection_is_used_again() {
    let (_server, door) = with_door(Settings::default()).await;
    let mut stream = TcpStream::connect(door).await.unwrap();
    let one = "POST /clearance.v1.PolytopeService/ListPolytopes HTTP/1.1\r\nhost: x\r\n\
               content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    for _ in 0..50 {
        stream.write_all(one.as_bytes()).await.unwrap();
        let mut bytes = vec![0; 4_096];
        let read = soon(stream.read(&mut bytes)).await.unwrap();
        assert!(bytes[..read].starts_with(b"HTTP/1.1 200"), "{}", bytes[..read].escape_ascii());
        assert!(bytes[..read].ends_with(b"{}"), "{}", bytes[..read].escape_ascii());
    }
}

#[tokio::test]
async fn whoever_speaks_http1_to_the_grpc_port_is_told_where_to_go() {
    let (server, door) = with_door(Settings::default()).await;
    let answer = ask(server.address, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(answer.status, 505);
    assert!(answer.text().contains(&format!("answered at {door}")), "{}", answer.text());
    let without = Server::start().await;
    let answer = ask(without.address, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(answer.text().contains("--http HOST:PORT"), "{}", answer.text());
}
