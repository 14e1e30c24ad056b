//! Pages for operators: whether the server lives and is ready, and its metrics, over HTTP/1.1.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_runtime::settings::Settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{Server, body, soon, spec};

/// A server with a side port that was free just now.
async fn with_pages() -> (Server, SocketAddr) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let settings = Settings { http: address.to_string(), ..Settings::default() };
    (Server::with_settings(settings).await, address)
}

/// The head and the body of an answer.
async fn ask(address: SocketAddr, request: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let body = answer.split_off(end + 4);
    (String::from_utf8(answer).unwrap(), body)
}

async fn get(address: SocketAddr, path: &str, accept: &str) -> (String, Vec<u8>) {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n")).await
}

/// The value of a sample in a page.
fn value(page: &str, sample: &str) -> Option<f64> {
    let line = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '))?;
    line.parse().ok()
}

async fn metrics(address: SocketAddr) -> String {
    let (head, body) = get(address, "/metrics", "text/plain").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    String::from_utf8(body).unwrap()
}

#[tokio::test]
async fn pages_are_shown_and_anything_else_is_told_so() {
    let (server, address) = with_pages().await;
    for (path, status) in [
        ("/livez", 200),
        ("/readyz", 200),
        ("/metrics", 200),
        ("/metrics?x=1", 200),
        ("/", 404),
        ("/livez/", 404),
        ("/../etc/passwd", 404),
    ] {
        let (head, _) = get(address, path, "*/*").await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {head}");
    }
    let (head, _) = ask(address, "POST /livez HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 405") && head.contains("allow: GET, HEAD"), "{head}");
    let (head, _) = ask(address, &format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(1 << 20))).await;
    assert!(head.starts_with("HTTP/1.1 4"), "{head}");
    drop(server);
}

/// Every figure is that of what was done.
#[tokio::test]
async fn metrics_count_what_was_asked() {
    let (server, address) = with_pages().await;
    server.register("cube", &crate::server::cube()).await;
    let before = metrics(address).await;
    let question = api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        ..Default::default()
    };
    for _ in 0..5 {
        server.queries().check_collision(question.clone()).await.unwrap();
    }
    let missing = api::CheckCollisionRequest { q: Some(body("none", 0.0)), ..question };
    server.queries().check_collision(missing).await.unwrap_err();
    let open = api::OpenSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
    let bad =
        api::RegisterPolytopesRequest { polytopes: vec![spec("", &[0.0])], ..Default::default() };
    server.polytopes().register_polytopes(bad).await.unwrap_err();

    let page = metrics(address).await;
    let method = r#"method="clearance.v1.QueryService/CheckCollision""#;
    let calls = |code: &str| format!(r#"clearance_calls_total{{{method},code="{code}"}}"#);
    assert_eq!(value(&page, &calls("OK")), Some(5.0), "{page}");
    assert_eq!(value(&page, &calls("NOT_FOUND")), Some(1.0));
    let count = format!("clearance_call_seconds_count{{{method}}}");
    assert_eq!(value(&page, &count), Some(6.0), "{page}");
    let sum = value(&page, &format!("clearance_call_seconds_sum{{{method}}}")).unwrap();
    assert!(sum > 0.0 && sum < 60.0, "{sum}");
    let asked = |name: &str| format!(r#"clearance_{name}{{question="check_collision"}}"#);
    assert_eq!(value(&page, &asked("questions_answered_total")), Some(5.0), "{page}");
    assert_eq!(value(&page, &asked("questions_refused_total")), Some(1.0));
    assert_eq!(value(&page, "clearance_sessions"), Some(1.0));
    assert_eq!(value(&before, "clearance_sessions"), Some(0.0));
    assert_eq!(value(&page, "clearance_connections"), Some(1.0));
    assert_eq!(value(&page, "clearance_draining"), Some(0.0));
    let resident = value(&page, "clearance_memory_resident_bytes").unwrap();
    assert!(resident > 1e6 && resident < 1e11, "{resident}");
    let kinds: f64 = page
        .lines()
        .filter(|line| line.starts_with("clearance_memory_bytes{"))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
        .sum();
    let limit = value(&page, "clearance_memory_limit_bytes").unwrap();
    assert!(kinds > 0.0 && kinds < limit, "{kinds} of {limit}");
    // Whatever names clients make up, they become no samples.
    assert!(!page.contains("session=") && !page.contains(r#""s""#));
}

/// What waits for a thread is seen before anybody is refused.
#[tokio::test]
async fn what_the_pool_does_is_counted_with_how_long_it_was_waited_for() {
    let (server, address) = with_pages().await;
    let page = metrics(address).await;
    assert_eq!(value(&page, "clearance_pool_wait_seconds_count"), Some(0.0), "{page}");
    let points = api::Points { xyz: crate::hostile::ball(3_000) };
    let source = Some(api::placed_body::Source::Vertices(points));
    let question = api::CheckCollisionRequest {
        p: Some(api::PlacedBody { source, pose: None }),
        q: Some(crate::server::body("cube", 3.0)),
        ..Default::default()
    };
    server.register("cube", &crate::server::cube()).await;
    let before = value(&metrics(address).await, "clearance_pool_wait_seconds_count").unwrap();
    for _ in 0..3 {
        server.queries().check_collision(question.clone()).await.unwrap();
    }
    let page = metrics(address).await;
    let count = value(&page, "clearance_pool_wait_seconds_count").unwrap();
    assert!(count >= before + 3.0, "{before}, then {count}: {page}");
    let sum = value(&page, "clearance_pool_wait_seconds_sum").unwrap();
    assert!(sum > 0.0 && sum < 60.0, "{sum}");
    assert_eq!(value(&page, r#"clearance_pool_wait_seconds_bucket{le="+Inf"}"#), Some(count));
    assert_eq!(value(&page, "clearance_jobs_limit"), Some(256.0));
}

/// Three formats tell the same.
#[tokio::test]
async fn every_format_is_told_apart_and_ends() {
    let (server, address) = with_pages().await;
    server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let (head, open) = get(address, "/metrics", "application/openmetrics-text;version=1.0.0").await;
    let open = String::from_utf8(open).unwrap();
    assert!(head.contains("application/openmetrics-text") && open.ends_with("# EOF\n"), "{open}");
    let plain = metrics(address).await;
    assert!(!plain.contains("# EOF"));
    let sample =
        r#"clearance_calls_total{method="clearance.v1.ServerService/GetServerInfo",code="OK"}"#;
    assert_eq!((value(&open, sample), value(&plain, sample)), (Some(1.0), Some(1.0)), "{plain}");
    let accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily";
    let (head, bytes) = get(address, "/metrics", accept).await;
    assert!(head.contains("encoding=delimited"), "{head}");
    let (mut rest, mut families) = (&bytes[..], 0);
    while !rest.is_empty() {
        let length = prost::decode_length_delimiter(&mut rest).unwrap();
        // The name is the first field of a MetricFamily.
        assert!(length > 0 && rest[0] == 0x0a);
        rest = &rest[length..];
        families += 1;
    }
    let listed = plain.lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(families, listed);
}

/// Balancers look at both: the server lives on while it drains, and wants no new work.
#[tokio::test]
async fn a_server_that_drains_lives_and_is_not_ready() {
    let (server, address) = with_pages().await;
    let open = api::OpenSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
    let watch = api::WatchSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    // Keeps the drain waiting.
    let _watched = server.sessions().watch_session(watch).await.unwrap();
    let (_channel, ended) = server.stop();
    let start = Instant::now();
    let mut is_ready = true;
    while is_ready && start.elapsed() < Duration::from_secs(5) && !ended.is_finished() {
        let Ok(answer) = tokio::time::timeout(Duration::from_secs(1), async {
            get(address, "/readyz", "*/*").await
        })
        .await
        else {
            break;
        };
        is_ready = answer.0.starts_with("HTTP/1.1 200");
        if !is_ready {
            assert!(answer.0.starts_with("HTTP/1.1 503"), "{}", answer.0);
            let (head, _) = get(address, "/livez", "*/*").await;
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        }
    }
    assert!(!is_ready);
}
