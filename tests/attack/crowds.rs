//! One client that wants everything: others get their share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::upload_polytope_request::Part;
use tokio_stream::StreamExt;
use tonic::{Code, Request};

use crate::bodies::torus;
use crate::deadlines::until_free;
use crate::memory::{MIB, bounds, call, framed, small, until_given_back};
use crate::questions::{about_a_hull, ball, cube, of_points, register, registered, turning};
use crate::row::{row, row_on};
use crate::server::{Client, Server, Wire, slowness};
use crate::watch::Bounds;

/// How long questions that wait for the pool take, asked one after the other for a while.
pub(crate) async fn pooled(client: &Client, time: Duration) -> Vec<Duration> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time || times.len() < 5 {
        let asked = Instant::now();
        let answer = client.queries().check_collision(about_a_hull(1_000)).await;
        assert_eq!(answer.expect("not refused").into_inner().verdict(), api::Verdict::Separated);
        times.push(asked.elapsed());
    }
    times.sort_unstable();
    times
}

/// Others were refused, or waited for thirty seconds.
#[test]
fn three_hundred_questions_of_one_connection_hold_up_no_other() {
    row("300 first contacts outstanding", Bounds::default(), async |server| {
        let (greedy, other) = (server.connect().await, server.connect().await);
        register(&greedy, "ball", ball(1_290)).await;
        let alone = pooled(&other, Duration::from_millis(200)).await;
        let crowd: Vec<_> = (0..300)
            .map(|_| {
                let mut queries = greedy.queries();
                tokio::spawn(async move {
                    loop {
                        // Refused or answered: the next one.
                        let _ = queries.find_first_contact(turning()).await;
                    }
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let beside = pooled(&other, Duration::from_secs(2)).await;
        crowd.iter().for_each(tokio::task::JoinHandle::abort);
        let middle = |times: &[Duration]| times[times.len() / 2];
        println!("  alone {:.2?}, beside the crowd {:.2?}", middle(&alone), middle(&beside));
        let most = middle(&alone) * 2 + Duration::from_millis(50) * slowness();
        assert!(middle(&beside) <= most, "{:?} of {most:?}", middle(&beside));
    });
}

/// Whoever asks one question at a time waits for at most one of each other client, and for its own.
#[test]
fn four_crowds_hold_up_another_client_five_times_as_long_at_most() {
    const CROWDS: u32 = 4;
    let bounds = Bounds { pooled_waits: CROWDS + 1, ..Bounds::default() };
    row("4 clients, 100 hulls outstanding each", bounds, async |server| {
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..CROWDS {
            let greedy = server.connect().await;
            for _ in 0..100 {
                let mut queries = greedy.queries();
                crowd.spawn(async move {
                    loop {
                        // Refused or answered: the next one.
                        let _ = queries.check_collision(about_a_hull(1_000)).await;
                    }
                });
            }
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        crowd.shutdown().await;
    });
}

/// Asks for so many pieces of the ring, and does not wait long.
async fn decompose(
    polytopes: &mut PolytopeServiceClient<Wire>,
    pieces_max: u32,
) -> Result<(), tonic::Status> {
    let mesh = Some(api::decompose_mesh_request::Mesh::Alias("ring".to_owned()));
    let mut request = Request::new(api::DecomposeMeshRequest { mesh, gap_max: None, pieces_max });
    request.set_timeout(Duration::from_millis(100));
    let mut replies = polytopes.decompose_mesh(request).await?.into_inner();
    while replies.message().await?.is_some() {}
    Ok(())
}

/// Each would take a thread for a second and memory for all that it cuts.
#[test]
fn ten_thousand_decompositions_at_once_are_refused_or_wait_and_end_with_their_calls() {
    row("10,000 decompositions at once", Bounds::default(), async |server| {
        let greedy = server.connect().await;
        let source = Some(api::polytope_spec::Source::Mesh(torus(80, 50)));
        let treatment = api::MeshTreatment::Surface.into();
        let alias = "ring".to_owned();
        let ring = api::PolytopeSpec { source, treatment, alias, ..Default::default() };
        let request = api::RegisterPolytopesRequest { polytopes: vec![ring], validate_only: false };
        greedy.polytopes().register_polytopes(request).await.expect("room for one");
        // As many as a connection takes at a time, on eight of them.
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let client = server.connect().await;
            for line in 0..90 {
                let mut polytopes = client.polytopes();
                crowd.spawn(async move {
                    let mut codes = Vec::new();
                    for k in 0..14 {
                        let ended = decompose(&mut polytopes, 1 + (k + 14 * line) % 64).await;
                        codes.push(ended.map_or_else(|status| status.code(), |()| Code::Ok));
                    }
                    codes
                });
            }
        }
        let mut ended = std::collections::BTreeMap::<i32, u32>::new();
        for code in crowd.join_all().await.concat() {
            *ended.entry(code.into()).or_default() += 1;
        }
        println!("  by code: {ended:?}");
        let known = [Code::Ok, Code::ResourceExhausted, Code::DeadlineExceeded, Code::Cancelled];
        assert!(ended.keys().all(|code| known.contains(&Code::from_i32(*code))), "{ended:?}");
        let patience = Duration::from_secs(3) * slowness();
        tokio::time::timeout(patience, until_free(&greedy)).await.expect("the pool is free");
    });
}

/// Three seconds after all had left, they still held every place.
#[test]
fn whoever_has_left_holds_no_place() {
    row("300 callers leave", Bounds::default(), async |server| {
        let (greedy, other) = (server.connect().await, server.connect().await);
        register(&greedy, "ball", ball(1_290)).await;
        let asked = (0..300).map(|_| {
            let mut queries = greedy.queries();
            let mut request = Request::new(turning());
            request.set_timeout(Duration::from_millis(300));
            tokio::spawn(async move { queries.find_first_contact(request).await })
        });
        for answer in asked.collect::<Vec<_>>() {
            // In time, too late or refused.
            let _ = answer.await.unwrap();
        }
        let patience = Duration::from_millis(300) * slowness();
        tokio::time::timeout(patience, until_free(&other)).await.expect("the pool is free");
    });
}

/// Sessions of a day, tiny polytopes and silent uploads from one address: all that it may have.
async fn fill(server: &Server) -> Client {
    let greedy = server.connect_from([127, 0, 0, 2]).await;
    let idle_timeout = Some(prost_types::Duration { seconds: 86_400, nanos: 0 });
    let mut opened = 0;
    for _ in 0..1_000 {
        let request = api::OpenSessionRequest { idle_timeout, ..Default::default() };
        match greedy.sessions().open_session(request).await {
            Ok(_) => opened += 1,
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}"),
        }
    }
    let mut registered = 0;
    for batch in 0..100 {
        let polytopes = (0..1_000).map(|k| {
            let xyz = vec![f64::from(batch), f64::from(k), 1.0];
            let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz }));
            api::PolytopeSpec { source, ..Default::default() }
        });
        let polytopes = polytopes.collect();
        let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
        match greedy.polytopes().register_polytopes(request).await {
            Ok(reply) => registered += reply.into_inner().reports.len(),
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}"),
        }
    }
    println!("  one address: {opened} sessions, {registered} polytopes");
    assert!(opened < 1_000 && registered < 100_000, "{opened} and {registered}");
    for _ in 0..8 {
        let header = api::UploadHeader { content: 1, ..Default::default() };
        let header = api::UploadPolytopeRequest { part: Some(Part::Header(header)) };
        let silent = tokio_stream::iter([header]).chain(tokio_stream::pending());
        let mut polytopes = greedy.polytopes();
        tokio::spawn(async move { polytopes.upload_polytope(silent).await });
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    greedy
}

/// Nobody had tried: shares are by address, and whoever has a machine has all of 127.0.0.0/8. From
/// each of 250 addresses comes a message of 4 MiB without its last byte.
#[test]
fn very_many_addresses_leave_something_for_the_next_one() {
    row_on(&small(), "250 addresses, 4 MiB each", bounds(), async |server| {
        let message = framed(&vec![0x0a; 4 << 20], 1);
        let (mut calls, refused) = (tokio::task::JoinSet::new(), Arc::new(AtomicU64::new(0)));
        for k in 0..250 {
            let client = server.connect_from([127, 0, 1, k]).await;
            let (message, refused) = (message.clone(), refused.clone());
            calls.spawn(async move {
                loop {
                    let method = "PolytopeService/RegisterPolytopes";
                    let status = call(&client.0, method, message.clone(), false).await;
                    let status = status.expect("a status");
                    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
                    refused.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            });
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        let refused = refused.load(Ordering::Relaxed);
        assert!(refused >= 120, "{refused} were refused");
        let next = server.connect_from([127, 0, 2, 1]).await;
        register(&next, "mine", cube(0.25)).await;
        next.sessions().open_session(api::OpenSessionRequest::default()).await.expect("a session");
        // Of all memory a sixteenth is kept for those who hold no more than 1 MiB.
        for _ in 0..10 {
            let answer = next.queries().check_collision(about_a_hull(500)).await;
            assert_eq!(answer.expect("room").into_inner().verdict(), api::Verdict::Separated);
        }
        // They go on for ever, unless they are answered as nobody is.
        assert!(calls.try_join_next().is_none());
        calls.shutdown().await;
        until_given_back(server, 16 * MIB, 200 * MIB).await;
    });
}

/// Nobody else could open, register or upload, for as long as the one who had filled it liked.
#[test]
fn one_address_does_not_fill_what_all_share() {
    let bounds = Bounds { health_worst: Duration::from_secs(1), ..Bounds::default() };
    row("one address fills all tables", bounds, async |server| {
        let _greedy = fill(server).await;
        let other = server.connect().await;
        for _ in 0..100 {
            let request = api::OpenSessionRequest::default();
            other.sessions().open_session(request).await.expect("room for a session");
        }
        register(&other, "mine", cube(0.25)).await;
        let header = api::UploadHeader { content: 1, ..Default::default() };
        let chunk = cube(0.5).into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
        let parts = [Part::Header(header), Part::Chunk(chunk.into())];
        let upload = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
        let uploaded = other.polytopes().upload_polytope(tokio_stream::iter(upload)).await;
        uploaded.expect("room for an upload");
        let (p, q) = (registered("mine", 0.0), of_points(cube(3.0)));
        let ask = api::CheckCollisionRequest { p, q, ..Default::default() };
        let answer = other.queries().check_collision(ask).await.unwrap().into_inner();
        assert_eq!(answer.verdict(), api::Verdict::Separated);
    });
}

/// Sixteen names were all that the unit cube could have, and whoever came first had them for good.
#[test]
fn one_address_does_not_take_all_names_of_a_polytope() {
    row("16 aliases of the unit cube", Bounds::default(), async |server| {
        let greedy = server.connect_from([127, 0, 0, 2]).await;
        let name = async |client: &Client, alias: String| {
            let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz: cube(0.0) }));
            let alias_key = format!("the-key-of-{alias}");
            let spec = api::PolytopeSpec { source, alias, alias_key, ..Default::default() };
            let polytopes = vec![spec];
            let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
            client.polytopes().register_polytopes(request).await.map(drop)
        };
        for k in 0..16 {
            name(&greedy, format!("greedy-{k}")).await.expect("as many as one may give");
        }
        let refused = name(&greedy, "greedy-16".to_owned()).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        name(&server.connect().await, "mine".to_owned()).await.expect("a name for another client");
    });
}
