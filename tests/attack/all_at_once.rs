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

use clearance_proto as api;

use crate::crowds::pooled;
use crate::deadlines::until_free;
use crate::memory::{memory, used};
use crate::questions::{ball, cube, register};
use crate::row::row_on;
use crate::secured::{self, broken_handshake, wrong_keys};
use crate::server::{Client, Server, Start, endpoint, resident, slowness};
use crate::strikes::strike;
use crate::truths::Truths;
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

/// Strikes until the end, each time over a new connection, which is cut at some moment: with its
/// runtime goes whatever was under way.
fn attack(address: SocketAddr, seed: u64, end: Instant) {
    let mut state = seed;
    while Instant::now() < end {
        let stranger = next(&mut state);
        if stranger.is_multiple_of(3) {
            broken_handshake(address, stranger / 3);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let patience = Duration::from_millis(next(&mut state) % 1_500);
        let patience = patience.min(end.saturating_duration_since(Instant::now()));
        let strikes = [next(&mut state), next(&mut state), next(&mut state)];
        runtime.block_on(async {
            let Ok(client) = Client::try_to(address).await else {
                // No place for another connection of this address.
                return tokio::time::sleep(Duration::from_millis(20)).await;
            };
            for kind in strikes {
                tokio::spawn(strike(client.clone(), kind));
            }
            if secured::is_asked_for() && stranger.is_multiple_of(4) {
                let stranger = endpoint(address, true).connect().await;
                if let Ok(channel) = stranger {
                    tokio::spawn(wrong_keys(channel, 6));
                }
            }
            tokio::time::sleep(patience).await;
        });
        runtime.shutdown_background();
    }
}

/// Looks at what the process holds, once a second.
async fn held_meanwhile(process: u32, end: Instant) -> Vec<u64> {
    let mut held = Vec::new();
    while Instant::now() < end {
        held.push(resident(process));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    held
}

/// What the process holds does not grow for as long as it is attacked: in the last third not more
/// than in the one before.
fn is_flat(held: &[u64]) {
    let third = held.len() / 3;
    let most = |part: &[u64]| part.iter().max().copied().unwrap_or_default() >> 20;
    let [early, middle, late] =
        [&held[..third], &held[third..2 * third], &held[2 * third..]].map(most);
    println!("  the process held at most {early}, {middle}, {late} MiB in the thirds of its time");
    let grown = late.saturating_sub(middle.max(early));
    assert!(third < 20 || grown <= 64, "{grown} MiB more in the end");
}

/// Deletes what attackers registered whose connections were killed before they could delete it: it
/// has no alias. A large ball stayed so after ten minutes, and was taken for a leak.
async fn delete_what_has_no_name(client: &Client) {
    let request = api::ListPolytopesRequest::default();
    let listed = client.polytopes().list_polytopes(request).await.unwrap().into_inner();
    for polytope in listed.polytopes.into_iter().filter(|known| known.aliases.is_empty()) {
        let key = Some(api::delete_polytope_request::Key::Id(polytope.id));
        let request = api::DeletePolytopeRequest { key, ..Default::default() };
        client.polytopes().delete_polytope(request).await.unwrap();
    }
}

/// What a server is like at rest.
#[derive(Debug)]
struct Rest {
    pooled: Duration,
    used: u64,
}

impl Rest {
    async fn of(server: &Server, client: &Client) -> Self {
        let times = pooled(client, Duration::from_millis(300)).await;
        Self { pooled: times[times.len() / 2], used: used(server).await }
    }

    /// Waits until it is like that again: as fast, and with as little given out.
    async fn until_like(&self, server: &Server) {
        let client = server.connect().await;
        delete_what_has_no_name(&client).await;
        let (start, patience) = (Instant::now(), Duration::from_secs(10) * slowness());
        let mut last = None;
        let again = async {
            loop {
                until_free(&client).await;
                let now = last.insert(Self::of(server, &client).await);
                if now.pooled <= self.pooled * 2 && now.used <= self.used + (4 << 20) {
                    return;
                }
            }
        };
        let in_time = tokio::time::timeout(patience, again).await.is_ok();
        let memory = memory(server).await;
        println!("  {:.2?} later {last:?}, before {self:?}, {memory:?}", start.elapsed());
        assert!(in_time, "not at full speed with everything given back within {patience:?}");
    }
}

/// Strikes at a server of this kind from all sides while it is asked what it was asked before.
fn everything_at_once(name: &str, start: &Start) {
    let seconds = std::env::var(SECONDS).map_or(Ok(SECONDS_DEFAULT), |text| text.parse());
    let time = Duration::from_secs(seconds.expect("a number of seconds"));
    let bounds = Bounds { refused_max: usize::MAX, ..Bounds::default() };
    row_on(start, name, bounds, async |server| {
        let client = server.connect().await;
        register(&client, "ball", ball(1_290)).await;
        register(&client, "cube", cube(0.0)).await;
        // A robot and whatever else attackers leave behind is a part of it.
        strike(client.clone(), 13).await;
        let truths = Truths::of(&client).await;
        let rest = Rest::of(server, &client).await;
        let asking = truths.ask(server.address);
        let end = Instant::now() + time;
        let held = tokio::spawn(held_meanwhile(server.id(), end));
        let address = server.address;
        let attackers: Vec<_> = (0..ATTACKERS)
            .map(|k| std::thread::spawn(move || attack(address, 0x9e37_79b9 + 2 * k, end)))
            .collect();
        let held = held.await.unwrap();
        for attacker in attackers {
            attacker.join().unwrap();
        }
        println!("  the same as before: {:?}", asking.end());
        is_flat(&held);
        rest.until_like(server).await;
    });
}

/// In a process limited to 600 MB one call was enough to abort it.
#[test]
fn a_small_server_lives_through_everything_at_once() {
    let start = Start { address_space_max: Some(1 << 30), ..Start::default() };
    everything_at_once("everything at once, 1 GiB", &start);
}

/// Threads that spoke to clients waited for a heap of the allocator that one which computed had
/// locked, and for a processor.
#[test]
fn a_server_answers_soon_while_everything_comes_at_once() {
    everything_at_once("everything at once, defaults", &Start::default());
}
