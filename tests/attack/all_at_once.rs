//! Everything at once, with connections that are given up at random, against a server that is
//! limited to 1 GiB of address space. A few seconds with the other tests; by command as long as one
//! likes:
//!
//! ```sh
//! CLEARANCE_ATTACK_SECONDS=600 CLEARANCE_SERVER=target/release/clearance \
//!     cargo test --test attack small_server -- --nocapture
//! ```

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clearance::rpc::api;
use clearance::rpc::api::upload_polytope_request::Part;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;

use crate::questions::{about_a_hull, ball, exhaustive, register, registered, turning};
use crate::row::row_on;
use crate::server::{Client, Start};
use crate::watch::Bounds;

const SECONDS: &str = "CLEARANCE_ATTACK_SECONDS";

/// Without a word about it.
const SECONDS_DEFAULT: u64 = 5;

/// Clients that attack at a time.
const ATTACKERS: u64 = 24;

/// The next of a sequence that looks random (G. Marsaglia, *Xorshift RNGs*, 2003).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// One attack of a kind; what the server says to it does not matter, only that it lives.
async fn strike(client: Client, kind: u64) {
    match kind % 8 {
        0 => drop(client.queries().check_collision(exhaustive("ball")).await),
        1 => drop(client.queries().find_first_contact(turning()).await),
        2 => drop(client.queries().check_collision(about_a_hull(20_000)).await),
        3 => {
            let items = vec![api::BatchQueryItem::default(); 1_000_000];
            drop(client.queries().batch_query(api::BatchQueryRequest { items }).await);
        }
        4 => {
            let xyz = ball(50_000);
            let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz }));
            let polytopes = vec![api::PolytopeSpec { source, ..Default::default() }];
            let request = api::RegisterPolytopesRequest { polytopes, validate_only: true };
            drop(client.polytopes().register_polytopes(request).await);
        }
        5 => {
            let header = api::UploadHeader { content: 1, ..Default::default() };
            let parts = std::iter::once(Part::Header(header))
                .chain((0..200).map(|_| Part::Chunk(vec![0; 1 << 20].into())));
            let parts = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
            let endless = tokio_stream::iter(parts).chain(tokio_stream::pending());
            drop(client.polytopes().upload_polytope(endless).await);
        }
        _ => drop(client.sessions().open_session(compounds()).await),
    }
}

/// Bodies of very many parts in one place.
fn compounds() -> api::OpenSessionRequest {
    let parts: Vec<_> = (0..64).map(|k| registered("ball", f64::from(k) / 8.0).unwrap()).collect();
    let bodies =
        (0..10).map(|id| api::Body { id, parts: parts.clone(), ..Default::default() }).collect();
    let report = api::ReportOptions { certificates: true, distances: true, ..Default::default() };
    let state = Some(api::SessionState { bodies, ..Default::default() });
    api::OpenSessionRequest { state, report: Some(report), ..Default::default() }
}

/// Strikes until the end, each time over a new connection, which is given up at some moment.
async fn attack(address: SocketAddr, seed: u64, end: Instant) {
    let mut state = seed;
    while Instant::now() < end {
        let Ok(client) = Client::try_to(address).await else {
            // No place for another connection of this address.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let patience = Duration::from_millis(next(&mut state) % 1_500);
        let strikes = [next(&mut state), next(&mut state), next(&mut state)];
        let struck = strikes.map(|kind| tokio::spawn(strike(client.clone(), kind)));
        tokio::time::sleep(patience.min(end.saturating_duration_since(Instant::now()))).await;
        struck.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// In a process limited to 600 MB one call was enough to abort it.
#[test]
fn a_small_server_lives_through_everything_at_once() {
    let seconds = std::env::var(SECONDS).map_or(Ok(SECONDS_DEFAULT), |text| text.parse());
    let time = Duration::from_secs(seconds.expect("a number of seconds"));
    // Two cores for the attackers and the server together.
    let bounds = Bounds {
        health_p99: Duration::from_millis(500),
        health_worst: Duration::from_secs(5),
        small_p99: Duration::from_millis(500),
        small_refused_max: usize::MAX,
        resident_max: 1 << 30,
    };
    let start = Start { address_space_max: Some(1 << 30), ..Start::default() };
    row_on(&start, "everything at once, 1 GiB", bounds, async |server| {
        register(&server.connect().await, "ball", ball(1_290)).await;
        let end = Instant::now() + time;
        let mut attackers = JoinSet::new();
        for k in 0..ATTACKERS {
            attackers.spawn(attack(server.address, 0x9e37_79b9 + 2 * k, end));
        }
        attackers.join_all().await;
    });
}
