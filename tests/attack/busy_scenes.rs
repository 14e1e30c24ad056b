//! Rows of scenes that are asked at length while they move.

use std::time::{Duration, Instant};

use clearance_proto as api;

use crate::memory::{MIB, bounds, small, until_given_back};
use crate::row::row_on;
use crate::scenes::{opened, with_cube};
use crate::server::{Client, Server, slowness};
use crate::strikes::{body, frame, rays, session};
use crate::watch::Bounds;

fn quick() -> Bounds {
    let (health_p99, health_worst) = (Duration::from_millis(50), Duration::from_millis(250));
    Bounds { health_p99, health_worst, ..bounds() }
}

/// A session of fixed cubes in a row, each frame of which may bring some more.
async fn row_of_cubes(client: &Client, count: u32) -> String {
    let one = |id| api::Body { fixed: true, ..body(id, "cube", f64::from(id) * 1e-2) };
    let none = api::ReportOptions { pairs: api::PairSelection::None.into(), ..Default::default() };
    let open = api::OpenSessionRequest {
        report: Some(none),
        idle_timeout: Some(prost_types::Duration { seconds: 120, nanos: 0 }),
        ..session(Vec::new())
    };
    let session_id = opened(client, open).await.unwrap();
    let all: Vec<u32> = (0..count).collect();
    for (frame_id, ids) in (1..).zip(all.chunks(20_000)) {
        let added_bodies = ids.iter().copied().map(one).collect();
        let frame = api::Frame { frame_id, added_bodies, ..Default::default() };
        step(client, &session_id, frame).await;
    }
    session_id
}

async fn step(client: &Client, session_id: &str, frame: api::Frame) -> Duration {
    let (session_id, frames) = (session_id.to_owned(), vec![frame]);
    let begun = Instant::now();
    let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
    let reply = client.sessions().step_session(request).await.unwrap().into_inner();
    let took = begun.elapsed();
    assert_eq!(reply.reports[0].status, None);
    took
}

/// What a machine that others use, too, may add to single frames.
const STALLED: Duration = Duration::from_millis(500);

/// Asks very many rays of which each meets all cubes, and moves one of these meanwhile, each time
/// with a frame. All but two frames take `most` at most, and none waits for the question.
///
/// The machine that checks changes is shared, and once stopped a frame for 129 ms that takes 3 ms
/// otherwise; a frame that waits for the question takes seconds.
async fn ask_and_move(server: &Server, cubes: u32, count: u32, most: Duration) {
    let client = with_cube(server).await;
    let session_id = row_of_cubes(&client, cubes).await;
    let first = u64::from(cubes.div_ceil(20_000)) + 1;
    let alone = step(&client, &session_id, frame(first, 0..1, -0.005)).await;
    let asked = {
        let (client, session_id) = (client.clone(), session_id.clone());
        let time = Some(prost_types::Duration { seconds: 3, nanos: 0 });
        tokio::spawn(async move {
            let mut request = tonic::Request::new(api::QuerySceneRequest {
                session_id,
                packed_rays: Some(rays(count)),
                hits: api::HitSelection::All.into(),
                budget: Some(api::Budget { time, ..Default::default() }),
                ..Default::default()
            });
            request.set_timeout(Duration::from_secs(5));
            let begun = Instant::now();
            let answer =
                client.sessions().query_scene(request).await.map(tonic::Response::into_inner);
            println!("of 3 s the question took {:.2?}", begun.elapsed());
            answer
        })
    };
    // The question has begun by then.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let mut took = Vec::new();
    for k in 1..=30 {
        let frame = frame(first + k, 0..1, -0.01 * k as f64);
        took.push(step(&client, &session_id, frame).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    took.sort_unstable();
    let [.., usual, _, longest] = took[..] else { unreachable!("there are thirty") };
    println!("28 of 30 frames took {usual:.2?}, all {longest:.2?}, one alone {alone:.2?}");
    let answer = asked.await.unwrap().unwrap();
    let packed = answer.packed_hits.unwrap();
    // A message of megabytes takes a moment to arrive, on a busy machine a while; but the answer is
    // about the bodies as they were when it began, not as they were when it ended.
    let frames = first..first + 25;
    assert!(frames.contains(&answer.frame_id), "about frame {}, not {first}", answer.frame_id);
    assert!(!packed.stopped_rays.is_empty(), "there is too much of it for its time");
    assert_eq!(packed.stopped(), api::Stopped::Deadline);
    assert!(!packed.rays.is_empty(), "what was answered is told");
    assert!(usual <= most * slowness(), "of 30 frames three took {usual:?} or longer");
    assert!(longest <= most * slowness() + STALLED, "a frame took {longest:?}");
    let close = api::CloseSessionRequest { session_id, ..Default::default() };
    client.sessions().close_session(close).await.unwrap();
    until_given_back(server, 16 * MIB, 260 * MIB).await;
}

/// A frame waited for over 20 s until 2,000 rays were through 2,000 boxes.
#[test]
fn frames_do_not_wait_for_long_questions_to_their_scene() {
    row_on(&small(), "frames beside 2,000 rays, 2,000 boxes", quick(), async |server| {
        ask_and_move(server, 2_000, 2_000, Duration::from_millis(60)).await;
    });
}

/// The same with as many bodies as a session may have, and as many rays as fit into a message.
#[test]
fn frames_do_not_wait_for_questions_to_a_scene_of_as_many_bodies_as_it_may_have() {
    row_on(&small(), "frames beside 80,000 rays, 200,000 boxes", quick(), async |server| {
        let cubes = if slowness() == 1 { 200_000 } else { 20_000 };
        ask_and_move(server, cubes, 80_000, Duration::from_millis(400)).await;
    });
}
