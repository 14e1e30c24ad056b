//! Who may call over HTTP/1.1: keys and roles as everywhere, pages of listed origins, TLS where
//! others could listen in; and what becomes of calls when the server drains.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clearance_proto as api;
use clearance_runtime::access::Role;
use clearance_runtime::settings::{Limits, Settings};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::access::KeyFile;
use crate::http::{Answer, ask, call, prefixed, request};
use crate::server::{Server, soon};
use crate::tls::{secured, trusting_all};
use crate::web::with_door;

const INFO: &str = "/clearance.v1.ServerService/GetServerInfo";
const JSON: &str = "content-type: application/json";

#[tokio::test]
async fn keys_and_roles_are_asked_for_as_over_grpc() {
    let mut keys = KeyFile::new("web");
    let query = keys.add("reader", "acme", Role::Query);
    let write = keys.add("writer", "acme", Role::Write);
    let api_keys = Some(keys.path.clone());
    let (_server, door) = with_door(Settings { api_keys, ..Settings::default() }).await;
    let register = "/clearance.v1.PolytopeService/RegisterPolytopes";
    let body = br#"{"polytopes":[{"alias":"a","vertices":{"xyz":[0,0,0]}}]}"#;
    let as_key = |key: &str| format!("authorization: Bearer {key}");
    let answer = ask(door, &request("POST", register, &[JSON], body)).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (401, Some("unauthenticated")));
    let answer = ask(door, &request("POST", register, &[JSON, &as_key("ck-nobody")], body)).await;
    assert_eq!(answer.status, 401, "{answer:?}");
    let answer = ask(door, &request("POST", register, &[JSON, &as_key(&query)], body)).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (403, Some("permission_denied")));
    let answer = ask(door, &request("POST", register, &[JSON, &as_key(&write)], body)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let header = format!("x-api-key: {query}");
    let get = "/clearance.v1.PolytopeService/GetPolytope";
    let answer = ask(door, &request("POST", get, &[JSON, &header], br#"{"alias":"a"}"#)).await;
    assert_eq!(answer.status, 200, "what the tenant has: {answer:?}");
    // gRPC-Web is told in its own words.
    let web = ["content-type: application/grpc-web"];
    let answer = ask(door, &request("POST", register, &web, &prefixed(b""))).await;
    let [(0x80, trailers)] = &answer.messages()[..] else { panic!("{answer:?}") };
    assert!(trailers.starts_with(b"grpc-status: 16\r\n"), "{}", trailers.escape_ascii());
}

#[tokio::test]
async fn pages_of_listed_origins_may_call_and_read_and_others_may_not() {
    let cors_origins = "https://planner.example".to_owned();
    let (_server, door) = with_door(Settings { cors_origins, ..Settings::default() }).await;
    let listed = "origin: https://planner.example";
    let preflight = [
        listed,
        "access-control-request-method: POST",
        "access-control-request-headers: content-type,connect-protocol-version",
        "access-control-request-private-network: true",
    ];
    let answer = ask(door, &request("OPTIONS", INFO, &preflight, b"")).await;
    assert_eq!(answer.status, 204, "{answer:?}");
    let allowed = |name: &str| answer.header(&format!("access-control-allow-{name}"));
    assert_eq!(allowed("origin"), Some("https://planner.example"));
    assert_eq!(allowed("methods"), Some("post"));
    assert_eq!(allowed("private-network"), Some("true"));
    for header in [
        "content-type",
        "connect-protocol-version",
        "connect-timeout-ms",
        "grpc-timeout",
        "x-grpc-web",
        "authorization",
        "x-api-key",
        "clearance-session-key",
    ] {
        assert!(allowed("headers").unwrap().contains(header), "{header}: {answer:?}");
    }
    let answer = ask(door, &request("POST", INFO, &[JSON, listed], b"{}")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://planner.example"));
    assert_eq!(answer.header("vary"), Some("origin"));
    // An error is to be read as well.
    let answer = ask(door, &request("POST", INFO, &[JSON, listed], b"{")).await;
    assert_eq!(answer.status, 400);
    assert!(answer.header("access-control-allow-origin").is_some());
    for stranger in ["origin: https://evil.example", "origin: null", "origin: http://evil:1"] {
        for (method, body) in [("OPTIONS", &b""[..]), ("POST", b"{}")] {
            let answer = ask(door, &request(method, INFO, &[JSON, stranger], body)).await;
            assert_eq!(answer.status, 403, "{method} {stranger}: {answer:?}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    // No page.
    let answer = ask(door, &request("POST", INFO, &[JSON], b"{}")).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, None));
}

#[tokio::test]
async fn a_list_that_has_no_origins_keeps_the_server_from_starting() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = Settings { cors_origins: "planner.example".to_owned(), ..Settings::default() };
    let served = clearance::rpc::serve(listener, std::future::pending(), settings);
    let error = soon(served).await.unwrap_err().to_string();
    assert!(error.starts_with("cors_origins: \"planner.example\" is no origin"), "{error}");
}

/// What is asked within TLS, and answered.
async fn ask_within(address: SocketAddr, bytes: &[u8]) -> std::io::Result<Answer> {
    let mut config = trusting_all();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    stream.write_all(bytes).await?;
    let mut answer = Vec::new();
    let _ = soon(stream.read_to_end(&mut answer)).await;
    Ok(Answer::of(&answer))
}

/// A server with a certificate and a side port at this address of all interfaces, or of loopback.
async fn with_certificate(name: &str, host: &str, settings: Settings) -> SocketAddr {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let of_tls = secured(name);
    let settings = Settings {
        http: format!("{host}:{}", address.port()),
        tls_cert: of_tls.tls_cert,
        tls_key: of_tls.tls_key,
        ..settings
    };
    Server::secured(settings).await;
    for _ in 0..500 {
        if TcpStream::connect(address).await.is_ok() {
            return address;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the side port does not listen");
}

/// A key that goes over a network in plain text is everybody's.
#[tokio::test]
async fn calls_are_within_tls_where_others_could_listen_in() {
    let door = with_certificate("web-public", "0.0.0.0", Settings::default()).await;
    let post = request("POST", INFO, &[JSON], b"{}");
    let answer = ask(door, &post).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    assert!(answer.text().contains("within TLS"), "{answer:?}");
    let page = request("GET", "/livez", &[], b"");
    assert_eq!(ask(door, &page).await.status, 200, "pages are shown as before");
    assert_eq!(ask_within(door, &post).await.unwrap().status, 200);
    assert_eq!(ask_within(door, &page).await.unwrap().status, 200);
    let near = with_certificate("web-near", "127.0.0.1", Settings::default()).await;
    assert_eq!(ask(near, &post).await.status, 200);
    assert_eq!(ask_within(near, &post).await.unwrap().status, 200);
    // Without a certificate there is nothing to speak TLS with.
    let (_server, plain) = with_door(Settings::default()).await;
    assert!(ask_within(plain, &post).await.is_err());
    assert_eq!(ask(plain, &post).await.status, 200);
}

/// A balancer that takes a server out has calls under way.
#[tokio::test]
async fn calls_under_way_are_answered_while_the_server_drains() {
    let (server, door) = with_door(Settings::default()).await;
    let opened = call(door, "SessionService/OpenSession", r#"{"sessionId":"s"}"#).await;
    assert_eq!(opened.status, 200);
    let watch = api::WatchSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let path = "/clearance.v1.SessionService/WatchSession";
    let kind = ["content-type: application/grpc-web"];
    let bytes = request("POST", path, &kind, &prefixed(&watch.encode_to_vec()));
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut first = [0; 4_096];
    let read = soon(stream.read(&mut first)).await.unwrap();
    assert!(first[..read].starts_with(b"HTTP/1.1 200"));
    let mut half = TcpStream::connect(door).await.unwrap();
    let whole = request("POST", INFO, &[JSON], b"{}");
    half.write_all(&whole[..whole.len() - 1]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (_channel, ended) = server.stop();
    tokio::time::sleep(Duration::from_millis(50)).await;
    half.write_all(&whole[whole.len() - 1..]).await.unwrap();
    let mut answer = Vec::new();
    soon(half.read_to_end(&mut answer)).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", answer.escape_ascii());
    // Whoever watches is told that the server goes, and then how the stream ended.
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.unwrap();
    let all = [&first[..read], &rest].concat();
    let told = Answer::of(&all);
    let (0x80, trailers) = told.messages().pop().unwrap() else { panic!("{told:?}") };
    assert!(trailers.starts_with(b"grpc-status: "), "{}", trailers.escape_ascii());
    soon(ended).await.unwrap().unwrap();
}

/// 64 connections that were silent kept every page from being shown.
#[tokio::test]
async fn silent_connections_give_way_to_whoever_asks() {
    let limits = Limits { http_connections_max: 16, ..Limits::default() };
    let (_server, door) = with_door(Settings { limits, ..Settings::default() }).await;
    let mut silent = Vec::new();
    for _ in 0..64 {
        silent.push(TcpStream::connect(door).await.unwrap());
    }
    let page = request("GET", "/livez", &[], b"");
    assert_eq!(ask(door, &page).await.status, 200);
    assert_eq!(ask(door, &request("POST", INFO, &[JSON], b"{}")).await.status, 200);
}
