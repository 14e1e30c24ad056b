//! Questions about past frames of a session, over a socket: what shooters ask who saw the scene
//! some frames ago.

use std::collections::BTreeMap;

use clearance_proto as api;
use clearance_proto::HitSelection;
use clearance_proto::scene_query::Kind;
use clearance_runtime::settings::Limits;
use tonic::{Code, Status, Streaming};

use crate::server::{Server, body, check, soon, vector};
use crate::session_robots::{frame as robot_frame, placed, register, slider, to};
use crate::sessions::{cube_at, pose, put, scene, started, started_with, step};

/// Two cubes whose session keeps so many past frames.
fn keeping(history_frames: u32) -> api::OpenSessionRequest {
    api::OpenSessionRequest { history_frames, ..scene("s") }
}

/// What is asked in every frame, with proofs: a ray through the cubes, what is nearest, what is
/// overlapped; and packed rays.
fn questions() -> api::QuerySceneRequest {
    let [origin, displacement] =
        [[-3.0, 0.5, 0.25], [40.0, 0.0, 0.0]].map(|[x, y, z]| vector(x, y, z));
    let nearest = api::NearestQuery { body: Some(body("cube", 5.0)), count: 2, below: None };
    let kinds = [
        Kind::Ray(api::Ray { origin, displacement }),
        Kind::Nearest(nearest),
        Kind::Overlap(body("cube", 5.5)),
    ];
    let lines = |from: f64| (0..20).flat_map(move |k| [from, 0.05 * f64::from(k), 0.5]).collect();
    api::QuerySceneRequest {
        session_id: "s".to_owned(),
        queries: kinds
            .map(|kind| api::SceneQuery { kind: Some(kind), ..Default::default() })
            .into(),
        packed_rays: Some(api::PackedRays {
            origins: lines(-2.0),
            displacements: (0..20).flat_map(|_| [30.0, 0.1, 0.0]).collect(),
            ..Default::default()
        }),
        hits: HitSelection::All.into(),
        certificates: true,
        ..Default::default()
    }
}

async fn ask(
    server: &Server,
    moment: Option<(u64, f64)>,
) -> Result<api::QuerySceneResponse, Status> {
    let moment =
        moment.map(|(frame_id, fraction)| api::SceneMoment { frame_id: Some(frame_id), fraction });
    let request = api::QuerySceneRequest { moment, ..questions() };
    let answer = server.sessions().query_scene(request).await?.into_inner();
    // What is remembered of pairs and trees changes what an answer costs, and nothing else.
    Ok(api::QuerySceneResponse { cost: None, ..answer })
}

/// The second cube on its way, turned by a quaternion in every other frame.
fn moved(frame_id: u64) -> api::Frame {
    let mut frame = put(frame_id, 10.0 - 0.45 * frame_id as f64);
    if frame_id.is_multiple_of(2) {
        let turned = api::Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.1 * frame_id as f64 };
        let pose = frame.poses[0].pose.as_mut().unwrap();
        pose.orientation = Some(api::pose::Orientation::Rotation(turned));
    }
    match frame_id {
        5 => frame.added_bodies = vec![cube_at(3, 14.0)],
        9 => frame.removed_body_ids = vec![1],
        _ => {}
    }
    frame
}

async fn summary(server: &Server) -> api::SessionSummary {
    let request = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    server.sessions().get_session(request).await.unwrap().into_inner().summary.unwrap()
}

#[tokio::test]
async fn a_past_frame_is_answered_as_it_was_when_it_was_the_last_one() {
    let server = started().await;
    server.sessions().open_session(keeping(8)).await.unwrap();
    let mut when_new = vec![ask(&server, None).await.unwrap()];
    for frame_id in 1..=20 {
        let reports = step(&server, "s", vec![moved(frame_id)]).await.unwrap();
        assert_eq!(reports[0].status, None);
        when_new.push(ask(&server, None).await.unwrap());
        let kept = summary(&server).await;
        assert_eq!(kept.past_frames, frame_id.min(8));
        assert_eq!(kept.oldest_frame_id, frame_id.saturating_sub(8));
        for frame in kept.oldest_frame_id..=frame_id {
            let then = ask(&server, Some((frame, 0.0))).await.unwrap();
            assert_eq!(then, when_new[frame as usize], "{frame} at {frame_id}");
        }
    }
    assert!(when_new.windows(2).all(|pair| pair[0] != pair[1]), "the scene does not move");
    // The frames, and what was built for questions about them.
    let bytes = summary(&server).await.history_bytes;
    assert!((8 * 64..200_000).contains(&bytes), "{bytes}");
}

/// Between two frames a body stands where its way has brought it.
#[tokio::test]
async fn between_two_frames_a_ray_meets_a_body_on_its_way() {
    let server = started().await;
    server.sessions().open_session(keeping(4)).await.unwrap();
    for frame in [put(1, 8.0), put(2, 4.0)] {
        step(&server, "s", vec![frame]).await.unwrap();
    }
    for (moment, x) in [((0, 0.5), 9.0), ((1, 0.25), 7.0), ((1, 0.75), 5.0), ((2, 0.0), 4.0)] {
        let answer = ask(&server, Some(moment)).await.unwrap();
        let hit = answer.answers[0].hits.iter().find(|hit| hit.body_id == 2).unwrap();
        // The ray comes from -3 and is 40 m long; what a pose of 0.5 and 0.25 says is exact.
        let time = hit.time.unwrap();
        let (lower, upper) = (40.0 * time.lower - 3.0, 40.0 * time.upper - 3.0);
        assert!((lower - x).abs() < 1e-9 && (upper - x).abs() < 1e-9, "{moment:?}: {time:?}");
    }
}

#[tokio::test]
async fn what_is_not_kept_is_refused_with_what_is() {
    let server = started().await;
    server.sessions().open_session(keeping(3)).await.unwrap();
    for frame_id in 1..=6 {
        step(&server, "s", vec![moved(frame_id)]).await.unwrap();
    }
    for frame in [0, 2, 7, u64::MAX] {
        let refused = ask(&server, Some((frame, 0.0))).await.unwrap_err();
        check(&refused, Code::FailedPrecondition, "FRAME_NOT_KEPT", "moment.frame_id");
        let text = refused.message();
        assert!(text.contains("is 3, the last one 6"), "{text}");
    }
    for (frame, fraction) in [(6, 0.5), (4, 1.0), (4, -0.1), (4, f64::NAN), (4, f64::INFINITY)] {
        let refused = ask(&server, Some((frame, fraction))).await.unwrap_err();
        check(&refused, Code::InvalidArgument, "BAD_FIELD", "moment.fraction");
    }
    // Who says nothing keeps nothing, but the frame that is.
    let open = api::OpenSessionRequest { replace: true, ..keeping(0) };
    server.sessions().open_session(open).await.unwrap();
    step(&server, "s", vec![moved(1)]).await.unwrap();
    let now = ask(&server, Some((1, 0.0))).await.unwrap();
    assert_eq!(now, ask(&server, None).await.unwrap());
    let refused = ask(&server, Some((0, 0.0))).await.unwrap_err();
    check(&refused, Code::FailedPrecondition, "FRAME_NOT_KEPT", "moment.frame_id");
    let many = api::OpenSessionRequest { replace: true, ..keeping(1_025) };
    let refused = server.sessions().open_session(many).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "LIMIT_EXCEEDED", "history_frames");
}

/// The memory of a session's past is bounded, and it says how much of it is left.
#[tokio::test]
async fn the_past_takes_no_more_memory_than_its_limit() {
    let server = started_with(Limits { history_bytes_max: 40_000, ..Limits::default() }).await;
    let bodies = (1..=100).map(|id| cube_at(id, 3.0 * f64::from(id)));
    let state = Some(api::SessionState { bodies: bodies.collect(), ..Default::default() });
    let open = api::OpenSessionRequest { state, ..keeping(1_000) };
    server.sessions().open_session(open).await.unwrap();
    for frame_id in 1..=30 {
        let moved = |id: u32| {
            let x = 3.0 * f64::from(id) + 0.01 * frame_id as f64;
            api::BodyPose { id: Some(id), pose: pose(x), ..Default::default() }
        };
        let poses = (1..=100).map(moved).collect();
        step(&server, "s", vec![api::Frame { frame_id, poses, ..Default::default() }])
            .await
            .unwrap();
        for past in 0..3 {
            let frame = frame_id.saturating_sub(past).max(summary(&server).await.oldest_frame_id);
            ask(&server, Some((frame, 0.0))).await.unwrap();
        }
        let kept = summary(&server).await;
        // Beside the frames: what the next one is ready for, and the numbers of now.
        assert!(kept.history_bytes < 40_000 + 100 * (64 + 40) + 2_000, "{}", kept.history_bytes);
        // The first frame has matrices, since nobody has said a quaternion before.
        let least = if frame_id < 8 { 2.min(frame_id) } else { 4 };
        assert!((least..=6).contains(&kept.past_frames), "{kept:?}");
    }
}

/// What a watcher knows of where bodies are, from nothing but what it was told.
fn places(state: api::SessionState) -> BTreeMap<u32, Vec<f64>> {
    let place = |body: api::Body| (body.id(), numbers(body.pose.as_ref()));
    state.bodies.into_iter().map(place).collect()
}

/// The twelve numbers of a pose that servers tell.
fn numbers(pose: Option<&api::Pose>) -> Vec<f64> {
    let pose = pose.expect("it is told");
    let at = pose.translation.unwrap_or_default();
    let Some(api::pose::Orientation::RotationMatrix(matrix)) = &pose.orientation else {
        panic!("servers tell matrices: {pose:?}");
    };
    [&matrix.rows[..], &[at.x, at.y, at.z]].concat()
}

/// Takes in what a frame has changed; says how many bodies came, went and changed.
fn follow(known: &mut BTreeMap<u32, Vec<f64>>, told: api::WatchedFrame) -> [usize; 3] {
    let counts = [told.added_bodies.len(), told.removed_body_ids.len(), told.changed_bodies.len()];
    for id in &told.removed_body_ids {
        assert!(known.remove(id).is_some(), "{id} was not there");
    }
    for body in told.added_bodies.into_iter().chain(told.changed_bodies) {
        assert!(!body.parts.is_empty(), "it has its shapes");
        known.insert(body.id(), numbers(body.pose.as_ref()));
    }
    let poses = told.packed_poses.unwrap();
    let rows = poses.rotation_matrices.rows::<9>().zip(poses.translations.rows::<3>());
    for (id, (rows, at)) in poses.ids.iter().zip(rows) {
        let place = known.get_mut(&id).expect("it moves what is there");
        *place = [&rows[..], &at].concat();
    }
    counts
}

async fn watch_from(
    server: &Server,
    frame_id: Option<u64>,
    fraction: f64,
) -> Result<Streaming<api::WatchSessionResponse>, Status> {
    let moment = Some(api::SceneMoment { frame_id, fraction });
    let session_id = "s".to_owned();
    let request = api::WatchSessionRequest { session_id, moment, ..Default::default() };
    Ok(server.sessions().watch_session(request).await?.into_inner())
}

async fn next(news: &mut Streaming<api::WatchSessionResponse>) -> api::WatchSessionResponse {
    soon(news.message()).await.unwrap().expect("more news")
}

/// Whoever watches from a past frame on is told the scene as it was after every frame since, and
/// goes on with those to come.
#[tokio::test]
async fn a_watcher_of_the_past_is_told_every_frame_since_and_then_what_comes() {
    let server = started().await;
    server.sessions().open_session(keeping(8)).await.unwrap();
    let state = async || {
        let request = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
        let told = server.sessions().get_session(request).await.unwrap().into_inner();
        places(told.state.unwrap())
    };
    let mut when_new = vec![state().await];
    for frame_id in 1..=12 {
        let mut frame = moved(frame_id);
        if frame_id == 7 {
            // Another shape, in place of that of frames before.
            let parts = [cube_at(3, 0.0).parts, cube_at(3, 0.0).parts].concat();
            let changed = api::BodyChange { id: Some(3), parts, ..Default::default() };
            frame.changed_bodies = vec![changed];
        }
        let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        assert_eq!(report.status, None);
        when_new.push(state().await);
    }
    for from in 4..=12_u64 {
        let mut news = watch_from(&server, Some(from), 0.0).await.unwrap();
        let first = next(&mut news).await;
        let told = first.state.unwrap();
        assert_eq!((told.frame_id, first.lost_frames), (from, 0));
        let parts = told.bodies.iter().find(|body| body.id == Some(3)).map(|body| body.parts.len());
        let expected = if from < 5 { None } else { Some(1 + usize::from(from >= 7)) };
        assert_eq!(parts, expected, "{from}");
        let mut known = places(told);
        assert_eq!(known, when_new[from as usize], "{from}");
        let mut seen = [0; 3];
        for frame_id in from + 1..=12 {
            let told = next(&mut news).await.frame.unwrap();
            assert_eq!((told.frame_id, told.previous_frame_id), (frame_id, frame_id - 1));
            assert!(told.counts.is_none() && told.events.is_empty(), "they are not kept");
            let counts = follow(&mut known, told);
            (0..3).for_each(|k| seen[k] += counts[k]);
            assert_eq!(known, when_new[frame_id as usize], "{frame_id} from {from}");
        }
        assert_eq!(seen, [5, 9, 7].map(|at: u64| usize::from(from < at)), "{from}");
    }
    // Then it goes on with what comes.
    let mut news = watch_from(&server, Some(11), 0.0).await.unwrap();
    let mut known = places(next(&mut news).await.state.unwrap());
    step(&server, "s", vec![moved(13)]).await.unwrap();
    for frame_id in [12, 13] {
        let told = next(&mut news).await.frame.unwrap();
        assert_eq!((told.frame_id, told.counts.is_some()), (frame_id, frame_id == 13));
        follow(&mut known, told);
    }
    assert_eq!(known, state().await);
}

/// Between two frames bodies are told on their way, and what cannot be told is refused.
#[tokio::test]
async fn a_watcher_between_two_frames_sees_bodies_on_their_way() {
    let server = started().await;
    server.sessions().open_session(keeping(2)).await.unwrap();
    for frame in [put(1, 8.0), put(2, 4.0), put(3, 3.0)] {
        step(&server, "s", vec![frame]).await.unwrap();
    }
    let mut news = watch_from(&server, Some(1), 0.25).await.unwrap();
    let mut known = places(next(&mut news).await.state.unwrap());
    assert_eq!(known[&2][9], 7.0);
    for x in [4.0, 3.0] {
        follow(&mut known, next(&mut news).await.frame.unwrap());
        assert_eq!(known[&2][9], x);
    }
    let refused =
        async |frame_id, fraction| watch_from(&server, frame_id, fraction).await.unwrap_err();
    let status = refused(Some(0), 0.0).await;
    check(&status, Code::FailedPrecondition, "FRAME_NOT_KEPT", "moment.frame_id");
    assert!(status.message().contains("is 1, the last one 3"), "{status:?}");
    for frame_id in [4, u64::MAX] {
        let status = refused(Some(frame_id), 0.0).await;
        check(&status, Code::FailedPrecondition, "FRAME_NOT_KEPT", "moment.frame_id");
    }
    for (frame_id, fraction) in [(3, 0.5), (2, 1.0), (2, f64::NAN)] {
        let status = refused(Some(frame_id), fraction).await;
        check(&status, Code::InvalidArgument, "BAD_FIELD", "moment.fraction");
    }
    let status = refused(None, 0.0).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "moment.frame_id");
}

/// Robots are told where they stood, and their links where they were; before they came nothing is.
#[tokio::test]
async fn robots_of_the_past_are_told_where_they_stood() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    server.sessions().open_session(keeping(8)).await.unwrap();
    let arm = || vec![placed(100, &robot)];
    let frames = vec![
        put(1, 9.0),
        api::Frame { added_robots: arm(), ..put(2, 9.5) },
        robot_frame(3, vec![to(100, &[2.0])]),
        robot_frame(4, vec![to(100, &[3.0])]),
        put(5, 8.0),
    ];
    for report in step(&server, "s", frames).await.unwrap() {
        assert_eq!(report.status, None);
    }
    for (from, value) in [(2, 0.0), (3, 2.0), (4, 3.0), (5, 3.0)] {
        let mut news = watch_from(&server, Some(from), 0.0).await.unwrap();
        let first = next(&mut news).await;
        let state = first.state.unwrap();
        assert_eq!((state.bodies.len(), &state.robots[0].values[..]), (2, &[value][..]));
        let links = first.link_poses.unwrap();
        let at: Vec<f64> = links.translations.iter().collect();
        assert_eq!((links.ids.iter().collect::<Vec<u32>>(), at[0]), (vec![101], value), "{from}");
    }
    let mut news = watch_from(&server, Some(2), 0.0).await.unwrap();
    next(&mut news).await;
    let told = next(&mut news).await.frame.unwrap();
    assert_eq!((told.robot_moves[0].id, &told.robot_moves[0].values[..]), (Some(100), &[2.0][..]));
    assert_eq!(told.packed_poses.unwrap().ids.iter().collect::<Vec<u32>>(), [101]);
    let status = watch_from(&server, Some(1), 0.0).await.unwrap_err();
    check(&status, Code::FailedPrecondition, "FRAME_NOT_KEPT", "moment.frame_id");
    assert!(status.message().contains("is 2, the last one 5"), "{status:?}");
}
