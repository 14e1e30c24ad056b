//! Frames of a session beside questions to its scene that take long.

use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::HitSelection;

use crate::server::Server;
use crate::sessions::{cube_at, pose, started, step};

const CUBES: u32 = 300;

/// With as many hits as a reply takes.
const RAYS: u32 = 120;

/// Cubes side by side, the first of which frames put elsewhere.
async fn opened(server: &Server) {
    let bodies =
        (1..=CUBES).map(|id| api::Body { fixed: true, ..cube_at(id, 2.0 * f64::from(id)) });
    let state = Some(api::SessionState { bodies: bodies.collect(), ..Default::default() });
    let session_id = "s".to_owned();
    let open = api::OpenSessionRequest { session_id, state, ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
}

/// Puts the first cube elsewhere.
async fn put(server: &Server, frame_id: u64, x: f64) {
    let poses = vec![api::BodyPose { id: Some(1), pose: pose(x), ..Default::default() }];
    let frame = api::Frame { frame_id, poses, ..Default::default() };
    let reports = step(server, "s", vec![frame]).await.unwrap();
    assert_eq!(reports[0].status, None);
}

/// Rays through all cubes.
fn rays(count: u32) -> api::QuerySceneRequest {
    let packed = api::PackedRays {
        origins: (0..count).flat_map(|k| [-5.0, 0.5, f64::from(k % 90) / 100.0]).collect(),
        displacements: (0..count).flat_map(|_| [1_000.0, 0.0, 0.0]).collect(),
        ..Default::default()
    };
    api::QuerySceneRequest {
        session_id: "s".to_owned(),
        packed_rays: Some(packed),
        hits: HitSelection::All.into(),
        ..Default::default()
    }
}

/// A frame waited until all rays of a call were through. It is answered meanwhile, and the rays are
/// all about the frame that they were asked about: each meets the first cube where it was then.
#[tokio::test]
async fn a_frame_is_answered_beside_a_long_question_which_is_about_one_frame() {
    let server = started().await;
    opened(&server).await;
    put(&server, 1, 2.0).await;
    let asked = {
        let mut sessions = server.sessions();
        tokio::spawn(async move {
            let answer = sessions.query_scene(rays(RAYS)).await.unwrap().into_inner();
            (answer, Instant::now())
        })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    for frame in 2..=9 {
        put(&server, frame, -0.25 * frame as f64).await;
    }
    let moved = Instant::now();
    let (answer, answered) = asked.await.unwrap();
    assert!(answered > moved, "the question is too short for this test");
    assert_eq!(answer.frame_id, 1);
    let packed = answer.packed_hits.unwrap();
    assert_eq!((packed.rays.len(), packed.stopped_rays.len()), ((RAYS * CUBES) as usize, 0));
    let of_first = packed.body_ids.iter().zip(&packed.time_lower).filter(|(body, _)| **body == 1);
    let times: Vec<f64> = of_first.map(|(_, time)| *time).collect();
    assert_eq!(times.len(), RAYS as usize);
    // From -5 to 2, of 1,000.
    assert!(times.iter().all(|time| (time - 7e-3).abs() < 1e-9), "{times:?}");
    // And now it is where the last frame has put it.
    let answer = server.sessions().query_scene(rays(1)).await.unwrap().into_inner();
    assert_eq!(answer.frame_id, 9);
    assert!((answer.packed_hits.unwrap().time_lower[0] - 2.75e-3).abs() < 1e-9);
}

/// Packed questions that ended with their time took with them what others had been answered. What
/// is told of each is what it is told without a limit, or that it was stopped.
#[tokio::test]
async fn packed_answers_come_in_part_when_their_time_is_over() {
    let server = started().await;
    opened(&server).await;
    let begun = Instant::now();
    let whole = server.sessions().query_scene(rays(RAYS)).await.unwrap().into_inner();
    let time = Some(prost_types::Duration::try_from(begun.elapsed() / 3).unwrap());
    let whole = whole.packed_hits.unwrap();
    let casts = api::PackedCasts {
        translations: vec![-5.0, 0.0, 0.0].into(),
        displacements: vec![1_000.0, 0.0, 0.0].into(),
        ..Default::default()
    };
    let body = crate::server::body("cube", 0.0);
    let request = api::QuerySceneRequest {
        budget: Some(api::Budget { time, ..Default::default() }),
        cast_bodies: vec![api::PlacedBody { pose: None, ..body }],
        packed_casts: Some(casts),
        queries: vec![api::SceneQuery::default()],
        ..rays(RAYS)
    };
    let part = server.sessions().query_scene(request).await.unwrap().into_inner();
    let (rays, casts) = (part.packed_hits.unwrap(), part.packed_cast_hits.unwrap());
    assert!(!rays.stopped_rays.is_empty() && rays.stopped() == api::Stopped::Deadline);
    assert!(!rays.rays.is_empty(), "what was answered is told");
    assert_eq!(casts.stopped_rays[..], [0]);
    assert!(part.answers[0].status.is_some(), "what is wrong is said so");
    let of = |packed: &api::PackedHits, ray: u32| -> Vec<(u32, u64)> {
        let hits = packed.rays.iter().zip(&packed.body_ids).zip(&packed.time_lower);
        let own = hits.filter(|((known, _), _)| **known == ray);
        own.map(|((_, body), time)| (*body, time.to_bits())).collect()
    };
    for ray in (0..RAYS).filter(|ray| !rays.stopped_rays.contains(ray)) {
        assert_eq!(of(&rays, ray), of(&whole, ray));
    }
}
