//! Rows of names that are looked up among names: a filter's among those of bodies, those that a
//! body leaves among those that it is in.
//!
//! A look without a map takes as long as both lists multiplied, and an estimate that overlooked one
//! of them let it run where everybody waits.

use std::time::Duration;

use clearance_proto as api;
use tonic::Code;

use crate::memory::{MIB, bounds, small, until_given_back};
use crate::row::row_on;
use crate::scenes::{cut_off, opened, with_cube};
use crate::server::{Client, Server, slowness};
use crate::strikes::{body, rays, session};
use crate::watch::Bounds;

/// What nobody waits for.
fn quick() -> Bounds {
    let (health_p99, health_worst) = (Duration::from_millis(50), Duration::from_millis(250));
    Bounds { health_p99, health_worst, ..bounds() }
}

fn names(first: char, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("{first}{k}")).collect()
}

/// Bodies far from each other in 100,000 groups each, and one in as many others.
async fn in_many_groups(client: &Client, bodies: u32, groups: usize) -> String {
    let one = |id| api::Body {
        groups: names(if id == 0 { 'h' } else { 'g' }, groups),
        fixed: true,
        ..body(id, "cube", 10.0 * f64::from(id))
    };
    let request = session((0..=bodies).map(one).collect());
    let idle_timeout = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    opened(client, api::OpenSessionRequest { idle_timeout, ..request }).await.unwrap()
}

fn filtered(session_id: &str, ignored_groups: Vec<String>) -> api::QuerySceneRequest {
    api::QuerySceneRequest {
        session_id: session_id.to_owned(),
        packed_rays: Some(rays(1)),
        filter: Some(api::SceneFilter { ignored_groups, ..Default::default() }),
        ..Default::default()
    }
}

/// As many as fit into the message are asked by callers that hang up; then once more by one that
/// waits.
async fn ask_and_hang_up(server: &Server, groups: usize, names_of_filter: usize) {
    let client = with_cube(server).await;
    let session_id = in_many_groups(&client, 4, groups).await;
    let away = cut_off();
    for _ in 0..3 {
        let request = filtered(&session_id, names('h', names_of_filter));
        let address = server.address;
        away.spawn(async move {
            let client = Client::to(address).await;
            drop(client.sessions().query_scene(request).await);
        });
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    away.shutdown_background();
    let asked = std::time::Instant::now();
    let request = filtered(&session_id, names('h', names_of_filter));
    let answer = client.sessions().query_scene(request).await.unwrap().into_inner();
    assert_eq!(*answer.packed_hits.unwrap().body_ids, [1], "the one before it is ignored");
    let took = asked.elapsed();
    assert!(took <= Duration::from_secs(1) * slowness(), "the answer took {took:?}");
    let close = api::CloseSessionRequest { session_id, ..Default::default() };
    client.sessions().close_session(close).await.unwrap();
    until_given_back(server, 16 * MIB, 260 * MIB).await;
}

/// A ray of 57 bytes took 26 ms, one of 56 KB 7.3 s, on a thread that speaks to clients: after
/// three of them, whose callers had hung up, health was not answered for 42 s.
#[test]
fn a_rays_filter_of_many_names_holds_nobody_up() {
    row_on(&small(), "3 rays with 7,000 names", quick(), async |server| {
        ask_and_hang_up(server, 100_000, 7_000).await;
    });
}

/// The same with both lists as long as they may be.
#[test]
fn a_rays_filter_of_as_many_names_as_it_may_have_holds_nobody_up() {
    row_on(&small(), "3 rays with 100,000 names", quick(), async |server| {
        ask_and_hang_up(server, 100_000, 100_000).await;
    });
}

/// Three frames of 58 KB let health wait for 6.8 s, and one of 900 KB ran for 32 s after its
/// deadline.
#[test]
fn bodies_that_leave_very_many_groups_hold_nobody_up() {
    row_on(&small(), "frames that leave 100,000 groups", quick(), async |server| {
        let client = with_cube(server).await;
        let session_id = in_many_groups(&client, 3, 100_000).await;
        let leave = |id: u32, from: usize, count: usize| api::BodyChange {
            id: Some(id),
            left_groups: names('g', from + count).split_off(from),
            ..Default::default()
        };
        let frame = |frame_id: u64, changes: Vec<api::BodyChange>| api::StepSessionRequest {
            session_id: session_id.clone(),
            frames: vec![api::Frame { frame_id, changed_bodies: changes, ..Default::default() }],
            ..Default::default()
        };
        for id in 1..=3 {
            let request = frame(u64::from(id), vec![leave(id, 90_000, 7_000)]);
            let reply = client.sessions().step_session(request).await.unwrap();
            assert_eq!(reply.get_ref().reports[0].status, None);
        }
        // A body changed very often, each time by a name.
        let often = (0..5_000).map(|k| leave(1, k, 1)).collect();
        let reply = client.sessions().step_session(frame(4, often)).await.unwrap();
        assert_eq!(reply.get_ref().reports[0].status, None);
        let mut late = tonic::Request::new(frame(5, vec![leave(2, 0, 90_000)]));
        late.set_timeout(Duration::from_millis(50));
        let begun = std::time::Instant::now();
        let ended = client.sessions().step_session(late).await;
        assert!(ended.is_ok_and(|_| true) || begun.elapsed() >= Duration::from_millis(50));
        // Nothing of it is at work any more.
        let request = api::GetSessionRequest {
            session_id: session_id.clone(),
            reply_bytes_max: 64 << 20,
            ..Default::default()
        };
        let known = client.sessions().get_session(request).await;
        assert!(known.is_ok() || known.is_err_and(|why| why.code() != Code::Internal));
        let took = begun.elapsed();
        assert!(took <= Duration::from_secs(1) * slowness(), "after its end it ran for {took:?}");
        let close = api::CloseSessionRequest { session_id, ..Default::default() };
        client.sessions().close_session(close).await.unwrap();
        until_given_back(server, 16 * MIB, 260 * MIB).await;
    });
}
