//! Rows of streams whose replies nobody takes, beside other calls of the same connection.

use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_proto::stream_session_request::Start as Opening;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tonic_health::pb::HealthCheckRequest;

use crate::memory::{BUDGET, MIB, bounds, memory, small, until_given_back};
use crate::questions::{cube, cubes_apart, register};
use crate::row::row_on;
use crate::scenes::cut_off;
use crate::secured;
use crate::server::{Client, MEMORY_FLAG, Server, Start, endpoint, slowness};
use crate::strikes::{frame, pile};
use crate::watch::Bounds;

/// What a health check on the same connection may take, and 99 of 100.
const WORST: Duration = Duration::from_millis(250);
const USUAL: Duration = Duration::from_millis(50);

/// A client that lets a stream have 16 KiB that it has not taken, and its connection as much as
/// comes: what stalls is the stream.
async fn with_small_windows(server: &Server, away: &Runtime) -> Client {
    let is_secured = secured::is_asked_for();
    let endpoint = endpoint(server.address, is_secured).initial_stream_window_size(16 << 10);
    let endpoint = endpoint.initial_connection_window_size(256 << 20);
    let connecting = Client::over(endpoint, is_secured, None);
    away.spawn(connecting).await.unwrap().unwrap()
}

/// Opens a session by a stream whose first report is more than the client takes, and sends more
/// than a megabyte of frames behind it.
async fn stall(client: Client) {
    let open = Opening::Open(Box::new(pile(22)));
    let first = api::StreamSessionRequest { start: Some(open), ..Default::default() };
    let frames = (1..=6).map(|id| api::StreamSessionRequest {
        frame: Some(Box::new(frame(id, 0..10_000, 0.0))),
        ..Default::default()
    });
    let sent = tokio_stream::iter(std::iter::once(first).chain(frames));
    let mut sessions = SessionServiceClient::new(client.0.clone());
    let stream = sessions.stream_session(sent.chain(tokio_stream::pending())).await;
    let _untaken = stream.expect("a stream");
    std::future::pending::<()>().await;
}

/// Asks for health on a connection for a while; tells how long that took, the least time first.
async fn health(client: &Client, time: Duration) -> Vec<Duration> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time || times.len() < 20 {
        let asked = Instant::now();
        let check = client.health().check(HealthCheckRequest::default()).await;
        assert_eq!(check.expect("health answers").into_inner().status, 1);
        times.push(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    times.sort_unstable();
    times
}

fn check(times: &[Duration]) {
    let [p99, worst] = [times[(times.len() - 1) * 99 / 100], times[times.len() - 1]];
    println!("  health on the same connection: {} times, p99 {p99:.2?}, {worst:.2?}", times.len());
    assert!(p99 < USUAL * slowness(), "{p99:?}");
    assert!(worst < WORST * slowness(), "{worst:?}");
}

/// The window of a connection was that of one of its streams: one that nobody read filled it, and
/// no other call of the connection came through, health neither.
#[test]
fn a_stalled_stream_beside_fifty_users_of_its_connection_holds_up_none() {
    row_on(&small(), "a stalled stream, 50 users", bounds(), async |server| {
        let away = cut_off();
        let client = with_small_windows(server, &away).await;
        register(&client, "cube", cube(0.0)).await;
        let stalled = away.spawn(stall(client.clone()));
        let mut users = JoinSet::new();
        for _ in 0..50 {
            let mut queries = client.queries();
            users.spawn(async move {
                loop {
                    let answer = queries.check_collision(cubes_apart()).await.expect("answered");
                    assert_eq!(answer.into_inner().verdict(), api::Verdict::Separated);
                    tokio::time::sleep(Duration::from_millis(50) * slowness()).await;
                }
            });
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        check(&health(&client, Duration::from_secs(2)).await);
        assert!(users.try_join_next().is_none(), "all are answered still");
        users.shutdown().await;
        assert!(!stalled.is_finished());
        // Attackers have little of the processors: the cut is waited for.
        tokio::task::block_in_place(|| away.shutdown_timeout(Duration::from_secs(60)));
        until_given_back(server, 16 * MIB, 200 * MIB).await;
    });
}

/// Nearly as many as a connection may have, each with all that its window lets it send: 250 MiB,
/// which the account knows.
#[test]
fn very_many_stalled_streams_of_one_connection_hold_up_none_and_are_counted() {
    const STREAMS: usize = 250;
    // Beside what waits there are reports, sessions and a frame of each: 250 MiB more.
    let budget = 2 * BUDGET;
    let flags = vec![MEMORY_FLAG.to_owned(), budget.to_string()];
    let start = Start { flags, ..Start::default() };
    let bounds = Bounds { resident_max: budget * 4 / 3, ..bounds() };
    row_on(&start, "250 stalled streams of a connection", bounds, async |server| {
        let away = cut_off();
        let client = with_small_windows(server, &away).await;
        register(&client, "cube", cube(0.0)).await;
        let mut stalled = JoinSet::new();
        for _ in 0..STREAMS {
            stalled.spawn_on(stall(client.clone()), away.handle());
        }
        // Attackers give way, and there is a quarter of a gigabyte to send.
        let patience = Duration::from_secs(120) * slowness();
        let unread = async || {
            let kinds = memory(server).await.kinds;
            kinds.iter().find(|kind| kind.kind == "receiving").unwrap().bytes
        };
        // A connection's own frames wait for each other: what its streams still send would hold up
        // health on the way to the server, so it is asked only once nothing moves any more.
        let all_wait = async {
            let mut before = 0;
            loop {
                let now = unread().await;
                if now >= STREAMS as u64 * MIB * 3 / 4 && now == before {
                    break;
                }
                before = now;
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        };
        let in_time = tokio::time::timeout(patience, all_wait).await;
        assert!(in_time.is_ok(), "{} MiB wait: {:?}", unread().await >> 20, memory(server).await);
        check(&health(&client, Duration::from_secs(2)).await);
        assert!(stalled.try_join_next().is_none());
        // Attackers have little of the processors: the cut is waited for.
        tokio::task::block_in_place(|| away.shutdown_timeout(Duration::from_secs(60)));
        until_given_back(server, 16 * MIB, 300 * MIB).await;
    });
}
