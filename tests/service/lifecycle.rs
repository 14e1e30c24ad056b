//! What a server says about itself, and how it ends.

use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::server::{Server, check, cube, soon, spec};

#[tokio::test]
async fn the_server_tells_its_build_methods_and_every_limit() {
    let server = Server::with_limits(Limits { jobs_max: 17, ..Limits::default() }).await;
    server.register("", &cube()).await;
    let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let info = info.into_inner();
    assert_eq!(info.build.unwrap().version, env!("CARGO_PKG_VERSION"));
    assert!(!info.draining && info.methods.iter().any(|method| method.name == "hs_jump"));
    assert_eq!(info.limits.len(), Limits::TABLE.len());
    assert!(info.limits.is_sorted_by(|a, b| a.name < b.name));
    let jobs = info.limits.iter().find(|limit| limit.name == "jobs_max").unwrap();
    assert_eq!((jobs.value, jobs.code.as_str()), (17, "RESOURCE_EXHAUSTED"));
    assert_eq!(info.usage.unwrap().polytopes, 1);
}

#[tokio::test]
async fn both_versions_of_reflection_list_and_describe_every_service() {
    let server = Server::start().await;
    macro_rules! ask {
        ($version:ident, $question:expr) => {{
            use tonic_reflection::pb::$version as v;
            let request = v::ServerReflectionRequest {
                host: String::new(),
                message_request: Some($question),
            };
            let mut client =
                v::server_reflection_client::ServerReflectionClient::new(server.channel.clone());
            let stream = client.server_reflection_info(tokio_stream::iter([request])).await;
            let mut replies = stream.unwrap().into_inner();
            replies.next().await.unwrap().unwrap().message_response.unwrap()
        }};
    }
    macro_rules! check_version {
        ($version:ident) => {{
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest as Ask;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse as Got;
            let Got::ListServicesResponse(list) = ask!($version, Ask::ListServices(String::new()))
            else {
                panic!("no list");
            };
            let names: Vec<String> = list.service.into_iter().map(|row| row.name).collect();
            for name in [
                "clearance.v1.PolytopeService",
                "clearance.v1.QueryService",
                "clearance.v1.ServerService",
                "clearance.v1.SessionService",
                "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
            ] {
                assert!(names.iter().any(|listed| listed == name), "{name} of {names:?}");
                let symbol = Ask::FileContainingSymbol(name.to_owned());
                let Got::FileDescriptorResponse(files) = ask!($version, symbol) else {
                    panic!("no file of {name}");
                };
                assert!(!files.file_descriptor_proto.is_empty());
            }
            let symbol = Ask::FileContainingSymbol("clearance.v1.Quaternion".to_owned());
            let Got::FileDescriptorResponse(files) = ask!($version, symbol) else {
                panic!("no file of Quaternion");
            };
            // Comments survive, so that reflection shows units and meanings.
            let bytes = files.file_descriptor_proto.concat();
            let comment = b"A rotation as a quaternion";
            assert!(bytes.windows(comment.len()).any(|window| window == comment));
        }};
    }
    check_version!(v1);
    check_version!(v1alpha);
}

#[tokio::test]
async fn a_draining_server_says_so_ends_and_takes_nothing_new() {
    let server = Server::start().await;
    let mut health = HealthClient::new(server.channel.clone());
    let service = "clearance.v1.QueryService".to_owned();
    let request = HealthCheckRequest { service };
    let mut watch = health.watch(request).await.unwrap().into_inner();
    let serving = watch.next().await.unwrap().unwrap();
    assert_eq!(serving.status(), ServingStatus::Serving);

    // An upload that is under way when the server is told to stop.
    let (chunks, stream) = tokio::sync::mpsc::channel(1);
    let stream = tokio_stream::wrappers::ReceiverStream::new(stream);
    let mut client = server.polytopes();
    let upload = tokio::spawn(async move { client.upload_polytope(stream).await });
    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let header = part(api::upload_polytope_request::Part::Header(header));
    chunks.send(header).await.unwrap();
    // The server has the header when the channel has room for two more.
    let point = part(api::upload_polytope_request::Part::Chunk(vec![0; 24].into()));
    chunks.send(point.clone()).await.unwrap();
    chunks.send(point).await.unwrap();

    let (channel, ended) = server.stop();
    let told = soon(watch.next()).await.unwrap().unwrap();
    assert_eq!(told.status(), ServingStatus::NotServing);
    drop(chunks);
    // It may finish what it has begun, or say that it is draining.
    match soon(upload).await.unwrap() {
        Ok(reply) => assert!(reply.into_inner().report.is_some()),
        Err(status) => check(&status, Code::Unavailable, "DRAINING", ""),
    }
    drop(watch);
    soon(ended).await.unwrap().unwrap();
    let mut late = api::polytope_service_client::PolytopeServiceClient::new(channel);
    let request =
        api::RegisterPolytopesRequest { polytopes: vec![spec("", &cube())], validate_only: false };
    let status = late.register_polytopes(request).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
}

/// Whoever waits for news, is silent or has finished is no reason to go on.
#[tokio::test]
async fn a_drain_does_not_wait_for_idle_watches_streams_and_connections() {
    use crate::robots::robots;
    use crate::sessions::scene;
    use tokio::io::AsyncWriteExt;
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    let server = crate::sessions::started().await;
    server.sessions().open_session(scene("watched")).await.unwrap();
    let mut silent = Vec::new();
    for said in [&b""[..], b"PR", b"GET / HT"] {
        for _ in 0..10 {
            let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
            stream.write_all(said).await.unwrap();
            silent.push(stream);
        }
    }
    let uri = format!("http://{}", server.address);
    let (mut channels, mut watches, mut news) = (Vec::new(), Vec::new(), Vec::new());
    let (mut senders, mut reflections, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    for count in 0..100 {
        let endpoint = tonic::transport::Endpoint::from_shared(uri.clone()).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let mut health = HealthClient::new(channel.clone());
        health.check(HealthCheckRequest::default()).await.unwrap();
        match count % 5 {
            0 => {
                let watch = health.watch(HealthCheckRequest::default()).await.unwrap();
                watches.push(watch.into_inner());
            }
            1 => {
                let request =
                    api::WatchSessionRequest { session_id: "watched".into(), ..Default::default() };
                let mut sessions =
                    api::session_service_client::SessionServiceClient::new(channel.clone());
                let mut watch = sessions.watch_session(request).await.unwrap().into_inner();
                watch.next().await.unwrap().unwrap();
                news.push(watch);
            }
            2 => {
                let (sender, receiver) = tokio::sync::mpsc::channel(1);
                senders.push(sender);
                let requests = tokio_stream::wrappers::ReceiverStream::new(receiver);
                let mut client = ServerReflectionClient::new(channel.clone());
                let replies = client.server_reflection_info(requests).await.unwrap();
                reflections.push(replies.into_inner());
            }
            3 => {
                let idle = tokio_stream::pending();
                let replies = robots(&server).stream_configurations(idle).await.unwrap();
                streams.push(replies.into_inner());
            }
            _ => {}
        }
        channels.push(channel);
    }
    let begun = std::time::Instant::now();
    let (_channel, ended) = server.stop();
    soon(ended).await.unwrap().unwrap();
    let took = begun.elapsed();
    assert!(took < std::time::Duration::from_secs(1), "{took:?}");
}

/// It was a reset connection, and a status of gRPC that other clients do not see.
#[tokio::test]
async fn other_protocols_are_told_what_is_spoken_here() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = crate::sessions::started().await;
    let said = async |bytes: &[u8]| {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        // A reset is an answer, too: none.
        let _ = soon(stream.read_to_end(&mut answer)).await;
        String::from_utf8_lossy(&answer).into_owned()
    };
    let long =
        ["POST /clearance.v1.QueryService/CheckCollision HTTP/1.1\r\n\r\n", &"x".repeat(99_999)];
    for request in
        ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRO", "HEAD / HTTP/1.0\r\n\r\n", &long.concat()]
    {
        let answer = said(request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 505 "), "{request:.20}: {answer}");
        let body = "This is a gRPC service: it speaks HTTP/2 without TLS";
        assert!(answer.split("\r\n\r\n").nth(1).unwrap().starts_with(body), "{answer}");
    }
    // The beginning of TLS is not answered in a language that it does not know.
    assert!(!said(b"\x16\x03\x01\x02\x00\x01\x00").await.contains("HTTP"));

    use tower::{Service, ServiceExt};
    for kind in [None, Some("application/json"), Some("application/grpc-web+proto")] {
        let uri = format!("http://{}/clearance.v1.QueryService/CheckCollision", server.address);
        let mut request = http::Request::post(uri);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let request = request.body(tonic::body::Body::empty()).unwrap();
        let mut channel = server.channel.clone();
        let reply = channel.ready().await.unwrap().call(request).await.unwrap();
        assert_eq!(reply.status(), 415, "{kind:?}");
        assert!(reply.headers().get("grpc-status").is_none(), "{kind:?}");
    }
}

#[tokio::test]
async fn metrics_count_every_question_by_kind_and_outcome_and_its_exact_stages() {
    let server = Server::start().await;
    server.register("cube", &crate::server::cube()).await;
    server.register("wedge", &crate::server::wedge()).await;
    let body = crate::server::body;
    // Touching is beyond any error bound; far apart is not.
    let collision = |x: f64| api::CheckCollisionRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("wedge", x)),
        ..Default::default()
    };
    let mut queries = server.queries();
    for x in [1.0, 3.0] {
        queries.check_collision(collision(x)).await.unwrap();
    }
    queries.check_collision(collision(f64::NAN)).await.unwrap_err();
    let item = |question| api::BatchQueryItem { question: Some(question) };
    let distance = api::MeasureDistanceRequest { p: Some(body("cube", 0.0)), ..Default::default() };
    let items = vec![
        item(api::batch_query_item::Question::CheckCollision(collision(1.0))),
        item(api::batch_query_item::Question::MeasureDistance(distance)),
    ];
    queries.batch_query(api::BatchQueryRequest { items }).await.unwrap();

    let metrics = server.info().get_server_metrics(api::GetServerMetricsRequest {}).await;
    let metrics = metrics.unwrap().into_inner();
    assert_eq!((metrics.calls, metrics.failures), (6, 1));
    let of = |name: &str| metrics.questions.iter().find(|row| row.question == name).unwrap();
    let collision = of("check_collision");
    assert_eq!((collision.answered, collision.stopped, collision.refused), (3, 0, 1));
    assert_eq!((collision.queries, collision.exact_stages), (3, 2));
    let distance = of("measure_distance");
    assert_eq!((distance.answered, distance.refused, distance.queries), (0, 1, 0));
    assert_eq!(of("session_frame").answered, 0);
}

/// What sleeps, what expires and what it takes is told for all sessions together and for each.
#[tokio::test]
async fn pairs_that_sleep_and_verdicts_that_expire_are_counted() {
    use crate::sessions::{cube_at, put, scene, started, step};
    let server = started().await;
    let mut opening = scene("counted");
    opening.state.as_mut().unwrap().bodies = vec![cube_at(1, 0.0), cube_at(2, 1.2)];
    server.sessions().open_session(opening).await.unwrap();
    let metrics = async || {
        let reply = server.info().get_server_metrics(api::GetServerMetricsRequest {}).await;
        reply.unwrap().into_inner().frames.unwrap()
    };
    let sums = |told: &api::FrameMetrics| {
        [
            told.frames,
            told.bodies_moved,
            told.pairs_looked_at,
            told.pairs_asleep,
            told.pairs_expired,
        ]
    };
    assert_eq!(sums(&metrics().await), [1, 0, 0, 0, 0]);
    step(&server, "counted", vec![put(1, 1.201)]).await.unwrap();
    let asleep = metrics().await;
    assert_eq!(sums(&asleep), [2, 1, 0, 1, 0]);
    assert_eq!((asleep.open_bodies, asleep.open_pairs, asleep.open_pairs_asleep), (2, 1, 1));
    step(&server, "counted", vec![put(2, 0.9)]).await.unwrap();
    let told = metrics().await;
    assert_eq!(sums(&told), [3, 2, 1, 1, 1]);
    assert_eq!(told.open_pairs_asleep, 0);
    assert_eq!(told.times.iter().map(|row| row.frames).sum::<u64>(), 3);
    assert!(told.times[..6].iter().all(|row| row.at_most.is_some()));
    assert!(told.times[6].at_most.is_none());
    assert!(told.elapsed.is_some());
    let bytes = told.open_body_bytes + told.open_pair_bytes;
    assert!(told.open_body_bytes > 0 && told.open_pair_bytes > 0);
    assert!(bytes <= server.usage().await.session_bytes);
    let list = server.sessions().list_sessions(api::ListSessionsRequest::default()).await;
    let summary = list.unwrap().into_inner().sessions.remove(0);
    assert_eq!((summary.known_pairs, summary.asleep_pairs, summary.expired_pairs), (1, 0, 1));
    assert_eq!(summary.body_bytes + summary.pair_bytes, bytes);
    let close = api::CloseSessionRequest { session_id: "counted".into(), ..Default::default() };
    server.sessions().close_session(close).await.unwrap();
    let told = metrics().await;
    assert_eq!((told.open_bodies, told.open_pairs, told.open_body_bytes), (0, 0, 0));
    assert_eq!(told.frames, 3, "what was counted stays");
}
