//! Sessions over a socket: opened, stepped, gone on with elsewhere, abandoned.

use std::time::Duration;

use clearance_proto as api;
use clearance_proto::{ContactEventKind, PairSelection, Verdict};
use clearance_runtime::settings::Limits;
use tonic::{Code, Status};

use crate::server::{Server, body, check, cube, soon, vector};

pub(crate) fn pose(x: f64) -> Option<api::Pose> {
    Some(api::Pose { translation: vector(x, 0.0, 0.0), orientation: None })
}

/// A unit cube with its low corner at x on the x axis.
pub(crate) fn cube_at(id: u32, x: f64) -> api::Body {
    let source = api::placed_body::Source::Alias("cube".to_owned());
    let part = api::PlacedBody { source: Some(source), pose: None };
    api::Body { id: Some(id), parts: vec![part], pose: pose(x), ..Default::default() }
}

/// Two cubes ten metres apart, as a session of this id.
pub(crate) fn scene(id: &str) -> api::OpenSessionRequest {
    api::OpenSessionRequest {
        session_id: id.to_owned(),
        state: Some(api::SessionState {
            bodies: vec![cube_at(1, 0.0), cube_at(2, 10.0)],
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub(crate) fn put(frame_id: u64, x: f64) -> api::Frame {
    let poses = vec![api::BodyPose { id: Some(2), pose: pose(x), ..Default::default() }];
    api::Frame { frame_id, poses, ..Default::default() }
}

pub(crate) fn all_pairs() -> Option<api::ReportOptions> {
    let mut report = api::ReportOptions { distances: true, ..Default::default() };
    report.set_pairs(PairSelection::All);
    Some(report)
}

pub(crate) async fn started() -> Server {
    started_with(Limits::default()).await
}

pub(crate) async fn started_with(limits: Limits) -> Server {
    let server = Server::with_limits(limits).await;
    server.register("cube", &cube()).await;
    server
}

pub(crate) async fn step(
    server: &Server,
    id: &str,
    frames: Vec<api::Frame>,
) -> Result<Vec<api::FrameReport>, Status> {
    let request =
        api::StepSessionRequest { session_id: id.to_owned(), frames, ..Default::default() };
    Ok(server.sessions().step_session(request).await?.into_inner().reports)
}

pub(crate) fn kinds(report: &api::FrameReport) -> Vec<ContactEventKind> {
    report.events.iter().map(api::ContactEvent::kind).collect()
}

#[track_caller]
pub(crate) fn refused(report: &api::FrameReport, code: Code, field: &str) {
    let status = report.status.as_ref().expect("a status");
    assert_eq!((status.code, status.field.as_str()), (i32::from(code), field), "{status:?}");
}

/// The report of a scene as it is opened took any time, whatever its budget and long after the
/// caller had gone.
#[tokio::test]
async fn what_a_session_is_opened_with_is_answered_within_its_budget() {
    let server = started().await;
    let no_time = Some(prost_types::Duration { seconds: 0, nanos: 0 });
    let open = |time| {
        let bodies = (1..60).map(|id| cube_at(id, 0.01 * f64::from(id))).collect();
        let report = api::ReportOptions { depths: true, ..all_pairs().unwrap() };
        api::OpenSessionRequest {
            state: Some(api::SessionState { bodies, ..Default::default() }),
            report: Some(report),
            budget: Some(api::Budget { steps: None, time }),
            ..Default::default()
        }
    };
    let report = async |time| {
        let opened = server.sessions().open_session(open(time)).await;
        opened.unwrap().into_inner().report.unwrap()
    };
    let stopped = report(no_time).await;
    assert_eq!(stopped.stopped(), api::Stopped::Deadline);
    assert!(stopped.counts.unwrap().undecided > 0);
    let whole = report(None).await;
    assert_eq!(whole.stopped(), api::Stopped::Unspecified);
    assert_eq!(whole.counts.unwrap().overlapping, 59 * 58 / 2);
}

#[tokio::test]
async fn a_session_is_opened_stepped_twice_and_closed() {
    let server = started().await;
    let opened = server.sessions().open_session(scene("s")).await.unwrap().into_inner();
    assert_eq!((opened.session_id.as_str(), opened.checked_pairs), ("s", 1));
    assert_eq!(opened.report.unwrap().counts.unwrap().separated, 1);

    let mut touching = put(1, 1.0);
    touching.report = all_pairs().map(Box::new);
    let reports = step(&server, "s", vec![touching, put(2, 1.5)]).await.unwrap();
    assert_eq!(kinds(&reports[0]), [ContactEventKind::Began]);
    assert_eq!(reports[0].pairs[0].verdict(), Verdict::Touching);
    assert_eq!(reports[0].pairs[0].distance.unwrap(), api::Bracket { lower: 0.0, upper: 0.0 });
    assert_eq!(kinds(&reports[1]), [ContactEventKind::Ended]);
    assert_eq!(reports[1].pairs[0].verdict(), Verdict::Separated);
    assert_eq!((reports[1].frame_id, reports[1].previous_frame_id), (2, 1));

    let id = || "s".to_owned();
    let got = server
        .sessions()
        .get_session(api::GetSessionRequest { session_id: id(), ..Default::default() })
        .await;
    let got = got.unwrap().into_inner();
    let summary = got.summary.unwrap();
    assert_eq!((summary.frame_id, summary.bodies, summary.frames_answered), (2, 2, 3));
    assert_eq!(
        got.state.unwrap().bodies[1].pose.as_ref().unwrap().translation,
        vector(1.5, 0.0, 0.0)
    );

    let close = api::CloseSessionRequest { session_id: id(), ..Default::default() };
    server.sessions().close_session(close.clone()).await.unwrap();
    let again = server.sessions().close_session(close).await.unwrap_err();
    check(&again, Code::NotFound, "UNKNOWN_SESSION", "session_id");
}

#[tokio::test]
async fn a_wrong_scene_is_refused_with_its_path_and_nothing_is_opened() {
    let server = started().await;
    let try_open = async |change: fn(&mut api::OpenSessionRequest)| {
        let mut request = scene("s");
        change(&mut request);
        server.sessions().open_session(request).await.unwrap_err()
    };
    fn bodies(request: &mut api::OpenSessionRequest) -> &mut Vec<api::Body> {
        &mut request.state.as_mut().unwrap().bodies
    }
    let unknown = try_open(|request| {
        bodies(request)[1].parts[0].source =
            Some(api::placed_body::Source::Alias("sphere".to_owned()));
    });
    let field = "state.bodies[1].parts[0].alias";
    check(&unknown.await, Code::NotFound, "UNKNOWN_POLYTOPE", field);
    let twice = try_open(|request| bodies(request)[1].id = Some(1)).await;
    check(&twice, Code::InvalidArgument, "BAD_FIELD", "state.bodies[1].id");
    let nowhere = try_open(|request| bodies(request)[0].pose = pose(f64::NAN)).await;
    check(&nowhere, Code::InvalidArgument, "BAD_FIELD", "state.bodies[0].pose.translation.x");
    let empty = try_open(|request| bodies(request)[0].parts.clear()).await;
    check(&empty, Code::InvalidArgument, "BAD_FIELD", "state.bodies[0].parts");
    let margin = try_open(|request| request.state.as_mut().unwrap().release_margin = -1.0).await;
    check(&margin, Code::InvalidArgument, "BAD_FIELD", "state.release_margin");
    let margin = try_open(|request| request.state.as_mut().unwrap().begin_margin = -1.0).await;
    check(&margin, Code::InvalidArgument, "BAD_FIELD", "state.begin_margin");
    let beyond = try_open(|request| request.state.as_mut().unwrap().begin_margin = 0.5).await;
    check(&beyond, Code::InvalidArgument, "BAD_FIELD", "state.begin_margin");
    let id = try_open(|request| request.session_id = "a b".to_owned()).await;
    check(&id, Code::InvalidArgument, "BAD_FIELD", "session_id");
    let listed =
        server.sessions().list_sessions(api::ListSessionsRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().total_size, 0);
}

#[tokio::test]
async fn groups_that_tell_too_many_bodies_apart_are_refused_with_the_limit() {
    let server = started_with(Limits { classes_per_session_max: 2, ..Limits::default() }).await;
    let mut request = scene("s");
    let state = request.state.as_mut().unwrap();
    state.bodies.push(cube_at(3, 20.0));
    for (body, group) in state.bodies.iter_mut().zip(["a", "b", "c"]) {
        body.groups = vec![group.to_owned()];
    }
    let pair = |a: &str, b: &str| api::GroupPair { a: a.to_owned(), b: b.to_owned() };
    let rules = |checked_groups| api::PairRules { checked_groups, ..Default::default() };
    state.rules = Some(rules(vec![pair("a", "a")]));
    server.sessions().open_session(request.clone()).await.unwrap();
    let finer = Some(rules(vec![pair("a", "b")]));
    let frame =
        api::Frame { frame_id: 1, rules: finer.clone().map(Box::new), ..Default::default() };
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    refused(&report, Code::InvalidArgument, "frames[0].rules.checked_groups");
    let misspelt = Some(rules(vec![pair("a", "A")]));
    let frame = api::Frame { frame_id: 1, rules: misspelt.map(Box::new), ..Default::default() };
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    refused(&report, Code::InvalidArgument, "frames[0].rules.checked_groups[0].b");
    request.state.as_mut().unwrap().rules = finer;
    request.replace = true;
    let status = server.sessions().open_session(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "state.rules.checked_groups");
    assert!(status.message().contains("classes_per_session_max = 2"), "{}", status.message());
}

#[tokio::test]
async fn wrong_frames_and_wrong_items_have_a_status_with_a_path() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let mut items = put(1, 1.0);
    items.poses.push(api::BodyPose { id: Some(9), ..Default::default() });
    items.poses.push(api::BodyPose {
        id: Some(1),
        pose: pose(f64::INFINITY),
        ..Default::default()
    });
    let packed = |change: fn(&mut api::PackedPoses)| {
        let mut packed = api::PackedPoses {
            ids: vec![2].into(),
            translations: vec![5.0, 0.0, 0.0].into(),
            ..Default::default()
        };
        change(&mut packed);
        api::Frame { frame_id: 2, packed_poses: Some(packed), ..Default::default() }
    };
    let frames = vec![
        items,
        packed(|packed| packed.translations = vec![5.0, 0.0, 0.0, 1.0].into()),
        packed(|packed| {
            packed.rotations = vec![1.0, 0.0, 0.0, 0.0].into();
            packed.rotation_matrices = vec![0.0; 9].into();
        }),
        packed(|packed| packed.rotations = vec![1.0; 3].into()),
        api::Frame { frame_id: 2, base_frame_id: Some(7), ..Default::default() },
        api::Frame::default(),
        api::Frame { frame_id: 2, removed_robots: vec![5], ..Default::default() },
        packed(|_| {}),
        api::Frame { frame_id: 1, ..Default::default() },
    ];
    let reports = step(&server, "s", frames).await.unwrap();
    assert_eq!(kinds(&reports[0]), [ContactEventKind::Began], "the good item is applied");
    let items: Vec<(i32, &str)> =
        reports[0].refused_items.iter().map(|item| (item.code, item.field.as_str())).collect();
    let invalid = i32::from(Code::InvalidArgument);
    let expected = [
        (invalid, "frames[0].poses[2].pose.translation.x"),
        (i32::from(Code::NotFound), "frames[0].poses[1].id"),
    ];
    assert_eq!(items, expected);
    refused(&reports[1], Code::InvalidArgument, "frames[1].packed_poses.translations");
    refused(&reports[2], Code::InvalidArgument, "frames[2].packed_poses.rotation_matrices");
    refused(&reports[3], Code::InvalidArgument, "frames[3].packed_poses.rotations");
    refused(&reports[4], Code::FailedPrecondition, "frames[4].base_frame_id");
    assert_eq!(reports[4].status.as_ref().unwrap().reason(), api::ErrorReason::KeyframeNeeded);
    refused(&reports[5], Code::InvalidArgument, "frames[5].frame_id");
    refused(&reports[6], Code::InvalidArgument, "frames[6].removed_robots[0]");
    assert_eq!(kinds(&reports[7]), [ContactEventKind::Ended]);
    refused(&reports[8], Code::FailedPrecondition, "frames[8].frame_id");
    assert_eq!(reports[8].status.as_ref().unwrap().reason(), api::ErrorReason::StaleFrame);
}

/// What comes after it in the frame is applied, and followers are not told of it.
#[tokio::test]
async fn a_removal_of_what_is_not_there_is_refused_alone() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let request = api::WatchSessionRequest { session_id: "s".into(), ..Default::default() };
    let mut news = server.sessions().watch_session(request).await.unwrap().into_inner();
    assert!(news.message().await.unwrap().unwrap().state.is_some());
    let poses = vec![api::BodyPose { id: Some(1), pose: pose(-3.0), ..Default::default() }];
    let removed_body_ids = vec![7, 2, 8];
    let frame = api::Frame { frame_id: 1, removed_body_ids, poses, ..Default::default() };
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert!(report.status.is_none(), "{report:?}");
    let refused: Vec<&str> = report.refused_items.iter().map(|item| item.field.as_str()).collect();
    assert_eq!(refused, ["frames[0].removed_body_ids[0]", "frames[0].removed_body_ids[2]"]);
    assert!(report.refused_items.iter().all(|item| item.code == i32::from(Code::NotFound)));
    let told = news.message().await.unwrap().unwrap().frame.unwrap();
    assert_eq!(told.removed_body_ids, [2]);
    let request = api::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    let state = server.sessions().get_session(request).await.unwrap().into_inner().state.unwrap();
    let ids: Vec<u32> = state.bodies.iter().map(api::Body::id).collect();
    assert_eq!((ids, state.frame_id), (vec![1], 1));
}

#[tokio::test]
async fn packed_frames_and_nested_ones_get_the_same_reports() {
    let server = started().await;
    for id in ["nested", "packed"] {
        server.sessions().open_session(scene(id)).await.unwrap();
    }
    let quaternions = [[1.0, 0.0, 0.0, 0.0], [0.9, 0.1, -0.3, 0.2], [2.0, 1.0, 0.5, 0.0]];
    for (frame_id, (x, q)) in (1..).zip([0.5, 1.2, 3.0].into_iter().zip(quaternions)) {
        let rotation = api::Quaternion { w: q[0], x: q[1], y: q[2], z: q[3] };
        let mut nested = put(frame_id, x);
        nested.poses[0].pose.as_mut().unwrap().orientation =
            Some(api::pose::Orientation::Rotation(rotation));
        nested.report = all_pairs().map(Box::new);
        let packed = api::PackedPoses {
            ids: vec![2].into(),
            translations: vec![x, 0.0, 0.0].into(),
            rotations: q.to_vec().into(),
            ..Default::default()
        };
        let packed = api::Frame {
            frame_id,
            packed_poses: Some(packed),
            report: all_pairs().map(Box::new),
            ..Default::default()
        };
        let without_time = |mut report: api::FrameReport| {
            report.cost = None;
            report
        };
        let nested = step(&server, "nested", vec![nested]).await.unwrap().remove(0);
        let packed = step(&server, "packed", vec![packed]).await.unwrap().remove(0);
        assert_eq!(without_time(nested), without_time(packed));
    }
}

#[tokio::test]
async fn a_repeated_frame_gets_the_same_report_and_changes_nothing() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let first = step(&server, "s", vec![put(1, 0.5)]).await.unwrap().remove(0);
    let again = step(&server, "s", vec![put(1, 9.0)]).await.unwrap().remove(0);
    assert_eq!(again.events, first.events);
    assert_eq!(again.pairs, first.pairs);
    // It was told in the form that the repetition asks for, of compounds with hollow certificates.
    let report = Some(api::ReportOptions { packed: true, ..Default::default() });
    let again =
        step(&server, "s", vec![api::Frame { report: report.map(Box::new), ..put(1, 0.5) }])
            .await
            .unwrap();
    assert_eq!(again[0].pairs, first.pairs);
    let next = step(&server, "s", vec![api::Frame { frame_id: 2, ..Default::default() }]).await;
    assert_eq!(next.unwrap()[0].counts.unwrap().overlapping, 1);
}

#[tokio::test]
async fn another_server_goes_on_and_no_event_is_lost_or_repeated() {
    let (one, other) = (started().await, started().await);
    one.sessions().open_session(scene("s")).await.unwrap();
    let began = step(&one, "s", vec![put(1, 0.5)]).await.unwrap();
    assert_eq!(kinds(&began[0]), [ContactEventKind::Began]);
    let request = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let state = one.sessions().get_session(request).await.unwrap().into_inner().state;
    let opening =
        api::OpenSessionRequest { session_id: "s".to_owned(), state, ..Default::default() };
    let opened = other.sessions().open_session(opening).await.unwrap().into_inner();
    assert_eq!(kinds(&opened.report.unwrap()), []);
    let reports = step(&other, "s", vec![put(2, 0.75), put(3, 5.0)]).await.unwrap();
    assert_eq!(kinds(&reports[0]), []);
    assert_eq!(kinds(&reports[1]), [ContactEventKind::Ended]);
}

#[tokio::test]
async fn what_passes_between_two_frames_is_told_with_its_time() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let mut frame = put(1, -10.0);
    frame.report =
        Some(Box::new(api::ReportOptions { first_contacts: true, ..Default::default() }));
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!(kinds(&report), [ContactEventKind::Began, ContactEventKind::Ended]);
    let time = report.events[0].time.unwrap();
    // From 10 to -10; they meet at 1.
    assert!(time.lower <= 0.45 && 0.45 <= time.upper && time.upper - time.lower < 1e-8);
}

#[tokio::test]
async fn a_continuous_body_is_met_on_its_way_also_on_another_server() {
    let (one, other) = (started().await, started().await);
    let mut request = scene("s");
    request.state.as_mut().unwrap().bodies[1].continuous = true;
    one.sessions().open_session(request).await.unwrap();
    let met = [ContactEventKind::Began, ContactEventKind::Ended];
    let report = step(&one, "s", vec![put(1, -10.0)]).await.unwrap().remove(0);
    assert_eq!(kinds(&report), met);
    let get = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let state = one.sessions().get_session(get).await.unwrap().into_inner().state;
    let opening =
        api::OpenSessionRequest { session_id: "s".to_owned(), state, ..Default::default() };
    other.sessions().open_session(opening).await.unwrap();
    let report = step(&other, "s", vec![put(2, 10.0)]).await.unwrap().remove(0);
    assert_eq!(kinds(&report), met);
    let time = report.events[0].time.unwrap();
    assert!(time.lower <= 0.45 && 0.45 <= time.upper && time.upper - time.lower < 1e-8);
}

#[tokio::test]
async fn abandoned_sessions_are_refused_beyond_the_limit_and_expire() {
    let limits = Limits { sessions_max: 20, session_idle_seconds_default: 0, ..Limits::default() };
    let server = started_with(limits).await;
    let mut full = 0;
    for k in 0..300 {
        let mut request = scene(&format!("s{k}"));
        request.idle_timeout =
            Some(prost_types::Duration { seconds: if k < 150 { 3600 } else { 0 }, nanos: 0 });
        match server.sessions().open_session(request).await {
            Ok(_) => {}
            Err(status) => {
                assert_eq!(status.code(), Code::ResourceExhausted);
                full += 1;
            }
        }
    }
    // One address has three quarters of the places that are not kept for others.
    assert_eq!(full, 288);
    let listed = server
        .sessions()
        .list_sessions(api::ListSessionsRequest { page_size: 10, ..Default::default() })
        .await
        .unwrap()
        .into_inner();
    assert_eq!((listed.sessions.len(), listed.total_size), (10, 12));
    let rest = api::ListSessionsRequest {
        page_size: 10,
        page_token: listed.next_page_token,
        ..Default::default()
    };
    let rest = server.sessions().list_sessions(rest).await.unwrap().into_inner();
    assert_eq!((rest.sessions.len(), rest.next_page_token.as_str()), (2, ""));
}

#[tokio::test]
async fn idle_sessions_make_room() {
    let limits = Limits { sessions_max: 5, session_idle_seconds_default: 0, ..Limits::default() };
    let server = started_with(limits).await;
    for k in 0..50 {
        server.sessions().open_session(scene(&format!("s{k}"))).await.unwrap();
    }
    soon(async {
        loop {
            let listed = server.sessions().list_sessions(api::ListSessionsRequest::default()).await;
            if listed.unwrap().into_inner().total_size == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_polytope_cannot_be_deleted_while_a_session_uses_it() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let delete = || api::DeletePolytopeRequest {
        key: Some(api::delete_polytope_request::Key::Alias("cube".to_owned())),
        ..Default::default()
    };
    let refused = server.polytopes().delete_polytope(delete()).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let close = api::CloseSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    server.sessions().close_session(close).await.unwrap();
    server.polytopes().delete_polytope(delete()).await.unwrap();
}

/// What a session said of a margin came without a proof.
#[tokio::test]
async fn what_a_session_says_of_a_margin_is_valid_as_an_answer_of_its_own() {
    let server = started().await;
    for margin in [0.5, -0.25] {
        is_valid_of_margin(&server, margin).await;
    }
}

async fn is_valid_of_margin(server: &Server, margin: f64) {
    use api::verify_certificate_request::Claim;
    let mut declared = scene("s");
    declared.replace = true;
    declared.state.as_mut().unwrap().bodies[1].margin = margin;
    server.sessions().open_session(declared).await.unwrap();
    let places = [0.5, 0.75, 0.75_f64.next_up(), 1.0, 1.25, 1.5, 1.5_f64.next_up(), 9.0];
    for (id, x) in (1..).zip(places) {
        let mut there = put(id, x);
        let mut wanted = all_pairs().unwrap();
        wanted.certificates = true;
        there.report = Some(Box::new(wanted));
        let report = step(server, "s", vec![there]).await.unwrap().remove(0);
        let pair = &report.pairs[0];
        let is_within = x - 1.0 <= margin;
        assert_eq!(pair.within_margin, Some(is_within), "{x}");
        let question = api::CheckCollisionRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", x)),
            margin: Some(margin),
            options: None,
        };
        for is_true in [true, false] {
            let answer = api::CheckCollisionResponse {
                verdict: pair.verdict,
                within_margin: Some(is_within == is_true),
                certificate: pair.certificate.clone(),
                ..Default::default()
            };
            let (question, answer) = (Some(question.clone()), Some(answer));
            let claim = Some(Claim::Collision(api::CollisionClaim { question, answer }));
            let request = api::VerifyCertificateRequest { claim };
            let reply = server.queries().verify_certificate(request).await.unwrap();
            assert_eq!(reply.into_inner().valid, is_true, "{x}: {pair:?}");
        }
    }
}

/// The refusal came with RetryInfo, and the same scene would have been refused for good.
#[tokio::test]
async fn a_scene_of_too_many_pairs_is_refused_without_advice_to_try_again() {
    use tonic_types::StatusExt;
    let server = started_with(Limits { pairs_per_frame_max: 1, ..Limits::default() }).await;
    let bodies = (1..4).map(|id| cube_at(id, 0.5 * f64::from(id))).collect();
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let open = api::OpenSessionRequest { state, ..scene("s") };
    let status = server.sessions().open_session(open).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "state.bodies");
    assert!(status.get_error_details().retry_info().is_none(), "{status:?}");
}
