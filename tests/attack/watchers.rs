//! Rows of those who watch sessions and do not look.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clearance_proto as api;
use tonic::Code;

use crate::memory::{MIB, bounds, small, until_given_back, used};
use crate::questions::{cube, register};
use crate::row::row_on;
use crate::scenes::cut_off;
use crate::server::{Client, resident, slowness};
use crate::strikes::{body, frame, session};

/// Sessions, as many who want to watch each as may, and bodies of each.
const SESSIONS: usize = 4;
const WATCHERS: usize = 64;
/// So many of these get a seat at a time: their one address has no more.
const SEATS: usize = 36;
const BODIES: u32 = 2_000;

/// By how much the account may say more than the process holds: what the sessions have room for.
const OVERSTATED_MAX: u64 = 16 * MIB;

/// A session of bodies far from each other, of which nothing is told.
async fn opened(client: &Client) -> String {
    let none = api::ReportOptions { pairs: api::PairSelection::None.into(), ..Default::default() };
    let bodies = (0..BODIES).map(|id| body(id, "cube", 3.0 * f64::from(id))).collect();
    let idle_timeout = Some(prost_types::Duration { seconds: 600, nanos: 0 });
    let open = api::OpenSessionRequest { report: Some(none), idle_timeout, ..session(bodies) };
    client.sessions().open_session(open).await.unwrap().into_inner().session_id
}

/// Watches and takes nothing, again and again: whoever watches anew is sent the whole state.
async fn watch_without_looking(client: Client, session_id: String, watched: Arc<AtomicUsize>) {
    loop {
        let request =
            api::WatchSessionRequest { session_id: session_id.clone(), ..Default::default() };
        match client.sessions().watch_session(request).await {
            Ok(_news) => {
                watched.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Err(status) => {
                assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Nobody had tried: hundreds who watch, do not look, and come again, while the owner moves all
/// that is there.
#[test]
fn hundreds_of_watchers_that_do_not_look_are_bounded_and_hold_no_owner_up() {
    row_on(&small(), "256 watchers that do not look", bounds(), async |server| {
        let owner = server.connect().await;
        register(&owner, "cube", cube(0.0)).await;
        let idle = resident(server.id());
        let away = cut_off();
        let (mut sessions, watches) = (Vec::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..SESSIONS {
            let session_id = opened(&owner).await;
            let (address, watched, count) = (server.address, session_id.clone(), watches.clone());
            away.spawn(async move {
                let client = Client::to(address).await;
                for _ in 0..WATCHERS {
                    let (client, watched) = (client.clone(), watched.clone());
                    tokio::spawn(watch_without_looking(client, watched, count.clone()));
                }
                std::future::pending::<()>().await;
            });
            sessions.push(session_id);
        }
        let (start, mut times, mut frame_id) = (Instant::now(), Vec::new(), 0);
        while start.elapsed() < Duration::from_secs(4) {
            frame_id += 1;
            for session_id in &sessions {
                let frames = vec![frame(frame_id, 0..BODIES, 1e-3 * frame_id as f64)];
                let session_id = session_id.clone();
                let step = api::StepSessionRequest { session_id, frames, ..Default::default() };
                let asked = Instant::now();
                match owner.sessions().step_session(step).await {
                    Ok(_) => times.push(asked.elapsed()),
                    Err(status) => {
                        assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
                    }
                }
            }
        }
        times.sort_unstable();
        let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("  {} frames of {BODIES} bodies, {middle:.2?}, worst {worst:.2?}", times.len());
        assert!(worst < Duration::from_secs(2) * slowness(), "{worst:?}");
        let watches = watches.load(Ordering::Relaxed);
        assert!(watches >= SESSIONS * SEATS, "{watches} watched");
        // 124 MiB were said where 70 were held: others were refused what was there.
        let (said, held) = (used(server).await, resident(server.id()).saturating_sub(idle));
        println!("  {} MiB said, {} held", said >> 20, held >> 20);
        assert!(said <= held + OVERSTATED_MAX, "{said} bytes are said, {held} held");
        away.shutdown_background();
        for session_id in sessions {
            let close = api::CloseSessionRequest { session_id, ..Default::default() };
            owner.sessions().close_session(close).await.unwrap();
        }
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}
