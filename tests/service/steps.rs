//! Several frames in one StepSession: within one deadline and one reply, and nothing done that is
//! not told.

use clearance_proto as api;
use clearance_proto::ContactEventKind;
use clearance_runtime::settings::Limits;
use prost::Message;
use tonic::Code;

use crate::hostile::ball;
use crate::server::{Server, soon};
use crate::sessions::{all_pairs, cube_at, pose, scene, started_with, step};

/// Tells the depth of every pair.
fn everything() -> Option<api::ReportOptions> {
    Some(api::ReportOptions { depths: true, ..all_pairs().unwrap() })
}

/// So many cubes in one heap.
async fn heap(server: &Server, cubes: u32) {
    let bodies = (1..=cubes).map(|id| cube_at(id, 0.001 * f64::from(id))).collect();
    let request = api::OpenSessionRequest {
        session_id: "s".to_owned(),
        state: Some(api::SessionState { bodies, ..Default::default() }),
        ..Default::default()
    };
    server.sessions().open_session(request).await.unwrap();
}

/// All of them moved, to one side and back.
fn shaken(frame_id: u64, cubes: u32) -> api::Frame {
    let side = if frame_id.is_multiple_of(2) { 0.3 } else { -0.3 };
    let place = |id: u32| [0.001 * f64::from(id) + side * f64::from(id % 2), 0.0, 0.0];
    let packed = api::PackedPoses {
        ids: (1..=cubes).collect(),
        translations: (1..=cubes).flat_map(place).collect(),
        ..Default::default()
    };
    let report = everything();
    api::Frame {
        frame_id,
        packed_poses: Some(packed),
        report: report.map(Box::new),
        ..Default::default()
    }
}

/// How many frames were answered; checks that all the others were refused for this reason and not
/// applied.
async fn answered(server: &Server, reports: &[api::FrameReport], code: Code) -> usize {
    let done = reports.iter().take_while(|report| report.status.is_none()).count();
    for report in &reports[done..] {
        assert_eq!(report.status.as_ref().unwrap().code, i32::from(code), "{report:?}");
    }
    let request = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let session = server.sessions().get_session(request).await.unwrap().into_inner();
    assert_eq!(session.summary.unwrap().frame_id, reports[done - 1].frame_id);
    done
}

/// The call ended with DEADLINE_EXCEEDED: the session was some frames further on, and their events
/// were lost.
#[tokio::test]
async fn frames_that_there_is_no_time_for_are_refused_in_their_places_and_the_others_are_told() {
    const BALLS: u32 = 12;
    let limits = Limits { call_seconds_max: 2, step_reply_bytes_max: 1 << 30, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    // Their depths take long enough that a thousand frames are never done in time.
    server.register("cube", &ball(100)).await;
    heap(&server, BALLS).await;
    let frames: Vec<api::Frame> = (1..=1000).map(|id| shaken(id, BALLS)).collect();
    let reports = soon(step(&server, "s", frames)).await.unwrap();
    let ids: Vec<u64> = reports.iter().map(|report| report.frame_id).collect();
    assert_eq!(ids, (1..=1000).collect::<Vec<_>>());
    let done = answered(&server, &reports, Code::DeadlineExceeded).await;
    assert!((1..1000).contains(&done), "{done}");
    // The next one is taken as if nothing had been.
    let next = step(&server, "s", vec![shaken(done as u64 + 1, 1)]).await.unwrap();
    assert!(next[0].status.is_none(), "{next:?}");
}

/// A kilobyte of frames that move nothing had reports of many gigabytes: the process died of one
/// call.
#[tokio::test]
async fn a_reply_holds_no_more_reports_than_its_limit_and_the_other_frames_can_be_sent_again() {
    const MAX: usize = 20_000;
    let limits = Limits { step_reply_bytes_max: MAX as u64, ..Limits::default() };
    let server = started_with(limits).await;
    heap(&server, 12).await;
    let mut frames: Vec<api::Frame> = (1..=40)
        .map(|frame_id| api::Frame {
            frame_id,
            report: everything().map(Box::new),
            ..Default::default()
        })
        .collect();
    let mut calls = 0;
    while !frames.is_empty() {
        let reports = step(&server, "s", frames.clone()).await.unwrap();
        let done = answered(&server, &reports, Code::ResourceExhausted).await;
        let sizes: Vec<usize> = reports[..done].iter().map(Message::encoded_len).collect();
        assert!(sizes[..done - 1].iter().sum::<usize>() <= MAX, "{sizes:?}");
        frames.drain(..done);
        calls += 1;
    }
    assert!(calls > 2, "{calls}");
}

/// What a session is opened with was counted against the limit of memory, and what came by frames
/// was not.
#[tokio::test]
async fn frames_that_make_sessions_larger_than_memory_allows_are_refused() {
    let limits = Limits { session_bytes_max: 1 << 20, ..Limits::default() };
    let server = started_with(limits).await;
    heap(&server, 2).await;
    let named = |frame_id: u64| {
        let id = 10 + u32::try_from(frame_id).unwrap();
        let added_bodies = vec![api::Body { name: "n".repeat(100_000), ..cube_at(id, 0.0) }];
        api::Frame { frame_id, added_bodies, ..Default::default() }
    };
    let reports = step(&server, "s", (1..=20).map(named).collect()).await.unwrap();
    let done = answered(&server, &reports, Code::ResourceExhausted).await;
    assert!((5..=10).contains(&done), "{done}");
    let usage = server.usage().await;
    assert!(usage.session_bytes <= 1 << 20, "{usage:?}");
    // What adds nothing goes on, and so does what makes room.
    let frame_id = done as u64 + 1;
    let poses = vec![api::BodyPose { id: Some(1), pose: pose(0.5), ..Default::default() }];
    let moved = api::Frame { frame_id, poses, removed_body_ids: vec![11], ..Default::default() };
    let reports = step(&server, "s", vec![moved, named(frame_id + 1)]).await.unwrap();
    assert!(reports.iter().all(|report| report.status.is_none()), "{reports:?}");
}

/// Rules and bodies change entry by entry; the state that is told afterwards opens the same scene
/// elsewhere, and what is too much or wrong is refused with its path.
#[tokio::test]
async fn bodies_and_rules_change_entry_by_entry() {
    let server = started_with(Limits { rules_per_session_max: 2, ..Limits::default() }).await;
    let mut opening = scene("s");
    opening.state.as_mut().unwrap().bodies =
        vec![cube_at(1, 0.0), cube_at(2, 0.5), cube_at(3, 3.0)];
    server.sessions().open_session(opening).await.unwrap();
    let frame = |frame_id| api::Frame { frame_id, ..Default::default() };
    let ignoring = |frame_id, pairs: &[[u32; 2]]| {
        let pairs = pairs.iter().map(|&[a, b]| api::BodyPair { a: Some(a), b: Some(b) }).collect();
        let changes = api::RuleChanges { added_ignored_pairs: pairs, ..Default::default() };
        api::Frame { rule_changes: Some(Box::new(changes)), ..frame(frame_id) }
    };
    let large = api::BodyChange {
        id: Some(3),
        parts: vec![api::PlacedBody {
            source: Some(api::placed_body::Source::Vertices(api::Points {
                xyz: vec![-3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            })),
            pose: None,
        }],
        category: Some(2),
        ..Default::default()
    };
    let reports = step(
        &server,
        "s",
        vec![
            ignoring(1, &[[2, 1]]),
            api::Frame { changed_bodies: vec![large], ..frame(2) },
            // One more than there may be, with what is there; then a group that it is not in.
            ignoring(3, &[[1, 3], [2, 3]]),
            api::Frame {
                changed_bodies: vec![api::BodyChange {
                    id: Some(1),
                    left_groups: vec!["arm".to_owned()],
                    ..Default::default()
                }],
                ..frame(3)
            },
            // What was applied before gets its report again, however full the rules are.
            ignoring(2, &[[1, 3], [2, 3]]),
        ],
    )
    .await
    .unwrap();
    let told = |report: &api::FrameReport| -> Vec<(ContactEventKind, u32, u32)> {
        report.events.iter().map(|event| (event.kind(), event.a, event.b)).collect()
    };
    assert_eq!(told(&reports[0]), [(ContactEventKind::Ended, 1, 2)]);
    use ContactEventKind::Began;
    assert_eq!(told(&reports[1]), [(Began, 1, 3), (Began, 2, 3)]);
    let status = |at: usize| reports[at].status.as_ref().unwrap();
    assert_eq!(status(2).field, "frames[2].rule_changes.added_ignored_pairs");
    assert_eq!(status(2).reason(), api::ErrorReason::LimitExceeded);
    assert_eq!(status(3).field, "frames[3].changed_bodies[0].left_groups[0]");
    assert_eq!((&reports[4].status, &reports[4].events), (&None, &reports[1].events));

    let get = api::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    let state = server.sessions().get_session(get).await.unwrap().into_inner().state.unwrap();
    assert_eq!(state.bodies[2].category, Some(2));
    assert_eq!(state.rules.as_ref().unwrap().ignored_pairs.len(), 1);
    let elsewhere = api::OpenSessionRequest {
        session_id: "elsewhere".into(),
        state: Some(state),
        report: Some(api::ReportOptions { pairs: 4, ..Default::default() }),
        ..Default::default()
    };
    let opened = server.sessions().open_session(elsewhere).await.unwrap().into_inner();
    let report = opened.report.unwrap();
    assert_eq!((report.pairs.len(), report.events.len()), (2, 0));
}
