//! Sessions over a socket: opened, stepped, streamed, taken over, abandoned.

use std::time::Duration;

use clearance::rpc::pb;
use clearance::rpc::pb::session_service_client::SessionServiceClient;
use clearance::rpc::pb::{ContactEventKind, Notice, PairSelection, Verdict};
use clearance::runtime::settings::Limits;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use crate::server::{Server, check, cube, soon, vector};

fn client(server: &Server) -> SessionServiceClient<Channel> {
    SessionServiceClient::new(server.channel.clone())
        .max_encoding_message_size(64 << 20)
        .max_decoding_message_size(64 << 20)
}

fn pose(x: f64) -> Option<pb::Pose> {
    Some(pb::Pose { translation: vector(x, 0.0, 0.0), orientation: None })
}

/// A unit cube with its low corner at x on the x axis.
fn cube_at(id: u32, x: f64) -> pb::Body {
    let source = pb::placed_body::Source::Alias("cube".to_owned());
    let part = pb::PlacedBody { source: Some(source), pose: None };
    pb::Body { id, parts: vec![part], pose: pose(x), ..Default::default() }
}

/// Two cubes ten metres apart, as a session of this id.
fn scene(id: &str) -> pb::OpenSessionRequest {
    pb::OpenSessionRequest {
        session_id: id.to_owned(),
        state: Some(pb::SessionState {
            bodies: vec![cube_at(1, 0.0), cube_at(2, 10.0)],
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn put(frame_id: u64, x: f64) -> pb::Frame {
    let poses = vec![pb::BodyPose { id: 2, pose: pose(x), ..Default::default() }];
    pb::Frame { frame_id, poses, ..Default::default() }
}

fn all_pairs() -> Option<pb::ReportOptions> {
    let mut report = pb::ReportOptions { distances: true, ..Default::default() };
    report.set_pairs(PairSelection::All);
    Some(report)
}

async fn started() -> Server {
    started_with(Limits::default()).await
}

async fn started_with(limits: Limits) -> Server {
    let server = Server::with_limits(limits).await;
    server.register("cube", &cube()).await;
    server
}

async fn step(
    server: &Server,
    id: &str,
    frames: Vec<pb::Frame>,
) -> Result<Vec<pb::FrameReport>, Status> {
    let request = pb::StepSessionRequest { session_id: id.to_owned(), frames, take_over: false };
    Ok(client(server).step_session(request).await?.into_inner().reports)
}

fn kinds(report: &pb::FrameReport) -> Vec<ContactEventKind> {
    report.events.iter().map(pb::ContactEvent::kind).collect()
}

#[track_caller]
fn refused(report: &pb::FrameReport, code: Code, field: &str) {
    let status = report.status.as_ref().expect("a status");
    assert_eq!((status.code, status.field.as_str()), (i32::from(code), field), "{status:?}");
}

#[tokio::test]
async fn a_session_is_opened_stepped_twice_and_closed() {
    let server = started().await;
    let opened = client(&server).open_session(scene("s")).await.unwrap().into_inner();
    assert_eq!((opened.session_id.as_str(), opened.checked_pairs), ("s", 1));
    assert_eq!(opened.report.unwrap().counts.unwrap().separated, 1);

    let mut touching = put(1, 1.0);
    touching.report = all_pairs();
    let reports = step(&server, "s", vec![touching, put(2, 1.5)]).await.unwrap();
    assert_eq!(kinds(&reports[0]), [ContactEventKind::Began]);
    assert_eq!(reports[0].pairs[0].verdict(), Verdict::Touching);
    assert_eq!(reports[0].pairs[0].distance.unwrap(), pb::Bracket { lower: 0.0, upper: 0.0 });
    assert_eq!(kinds(&reports[1]), [ContactEventKind::Ended]);
    assert_eq!(reports[1].pairs[0].verdict(), Verdict::Separated);
    assert_eq!((reports[1].frame_id, reports[1].previous_frame_id), (2, 1));

    let id = || "s".to_owned();
    let got = client(&server).get_session(pb::GetSessionRequest { session_id: id() }).await;
    let got = got.unwrap().into_inner();
    let summary = got.summary.unwrap();
    assert_eq!((summary.frame_id, summary.bodies, summary.frames_answered), (2, 2, 3));
    assert_eq!(
        got.state.unwrap().bodies[1].pose.as_ref().unwrap().translation,
        vector(1.5, 0.0, 0.0)
    );

    let close = pb::CloseSessionRequest { session_id: id(), allow_missing: false };
    client(&server).close_session(close.clone()).await.unwrap();
    let again = client(&server).close_session(close).await.unwrap_err();
    check(&again, Code::NotFound, "UNKNOWN_SESSION", "");
}

#[tokio::test]
async fn a_wrong_scene_is_refused_with_its_path_and_nothing_is_opened() {
    let server = started().await;
    let try_open = async |change: fn(&mut pb::OpenSessionRequest)| {
        let mut request = scene("s");
        change(&mut request);
        client(&server).open_session(request).await.unwrap_err()
    };
    fn bodies(request: &mut pb::OpenSessionRequest) -> &mut Vec<pb::Body> {
        &mut request.state.as_mut().unwrap().bodies
    }
    let unknown = try_open(|request| {
        bodies(request)[1].parts[0].source =
            Some(pb::placed_body::Source::Alias("sphere".to_owned()));
    });
    let field = "state.bodies[1].parts[0].alias";
    check(&unknown.await, Code::NotFound, "UNKNOWN_POLYTOPE", field);
    let twice = try_open(|request| bodies(request)[1].id = 1).await;
    check(&twice, Code::InvalidArgument, "BAD_FIELD", "state.bodies[1].id");
    let nowhere = try_open(|request| bodies(request)[0].pose = pose(f64::NAN)).await;
    check(&nowhere, Code::InvalidArgument, "BAD_FIELD", "state.bodies[0].pose.translation.x");
    let empty = try_open(|request| bodies(request)[0].parts.clear()).await;
    check(&empty, Code::InvalidArgument, "BAD_FIELD", "state.bodies[0].parts");
    let margin = try_open(|request| request.state.as_mut().unwrap().release_margin = -1.0).await;
    check(&margin, Code::InvalidArgument, "BAD_FIELD", "state.release_margin");
    let id = try_open(|request| request.session_id = "a b".to_owned()).await;
    check(&id, Code::InvalidArgument, "BAD_FIELD", "session_id");
    let listed = client(&server).list_sessions(pb::ListSessionsRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().total_size, 0);
}

#[tokio::test]
async fn wrong_frames_and_wrong_items_have_a_status_with_a_path() {
    let server = started().await;
    client(&server).open_session(scene("s")).await.unwrap();
    let mut items = put(1, 1.0);
    items.poses.push(pb::BodyPose { id: 9, ..Default::default() });
    items.poses.push(pb::BodyPose { id: 1, pose: pose(f64::INFINITY), ..Default::default() });
    let packed = |change: fn(&mut pb::PackedPoses)| {
        let mut packed = pb::PackedPoses {
            ids: vec![2],
            translations: vec![5.0, 0.0, 0.0],
            ..Default::default()
        };
        change(&mut packed);
        pb::Frame { frame_id: 2, packed_poses: Some(packed), ..Default::default() }
    };
    let frames = vec![
        items,
        packed(|packed| packed.translations.push(1.0)),
        packed(|packed| {
            packed.rotations = vec![1.0, 0.0, 0.0, 0.0];
            packed.rotation_matrices = vec![0.0; 9];
        }),
        packed(|packed| packed.rotations = vec![1.0; 3]),
        pb::Frame { frame_id: 2, base_frame_id: Some(7), ..Default::default() },
        pb::Frame::default(),
        pb::Frame { frame_id: 2, removed_body_ids: vec![5], ..Default::default() },
        packed(|_| {}),
        pb::Frame { frame_id: 1, ..Default::default() },
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
    refused(&reports[4], Code::FailedPrecondition, "");
    assert_eq!(reports[4].status.as_ref().unwrap().reason(), pb::ErrorReason::KeyframeNeeded);
    refused(&reports[5], Code::InvalidArgument, "frames[5].frame_id");
    refused(&reports[6], Code::InvalidArgument, "frames[6].removed_body_ids[0]");
    assert_eq!(kinds(&reports[7]), [ContactEventKind::Ended]);
    refused(&reports[8], Code::FailedPrecondition, "");
}

#[tokio::test]
async fn packed_frames_and_nested_ones_get_the_same_reports() {
    let server = started().await;
    for id in ["nested", "packed"] {
        client(&server).open_session(scene(id)).await.unwrap();
    }
    let quaternions = [[1.0, 0.0, 0.0, 0.0], [0.9, 0.1, -0.3, 0.2], [2.0, 1.0, 0.5, 0.0]];
    for (frame_id, (x, q)) in (1..).zip([0.5, 1.2, 3.0].into_iter().zip(quaternions)) {
        let rotation = pb::Quaternion { w: q[0], x: q[1], y: q[2], z: q[3] };
        let mut nested = put(frame_id, x);
        nested.poses[0].pose.as_mut().unwrap().orientation =
            Some(pb::pose::Orientation::Rotation(rotation));
        nested.report = all_pairs();
        let packed = pb::PackedPoses {
            ids: vec![2],
            translations: vec![x, 0.0, 0.0],
            rotations: q.to_vec(),
            ..Default::default()
        };
        let packed = pb::Frame {
            frame_id,
            packed_poses: Some(packed),
            report: all_pairs(),
            ..Default::default()
        };
        let without_time = |mut report: pb::FrameReport| {
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
    client(&server).open_session(scene("s")).await.unwrap();
    let first = step(&server, "s", vec![put(1, 0.5)]).await.unwrap().remove(0);
    let again = step(&server, "s", vec![put(1, 9.0)]).await.unwrap().remove(0);
    assert_eq!(again.events, first.events);
    assert_eq!(again.pairs, first.pairs);
    let next = step(&server, "s", vec![pb::Frame { frame_id: 2, ..Default::default() }]).await;
    assert_eq!(next.unwrap()[0].counts.unwrap().overlapping, 1);
}

#[tokio::test]
async fn another_server_goes_on_and_no_event_is_lost_or_repeated() {
    let (one, other) = (started().await, started().await);
    client(&one).open_session(scene("s")).await.unwrap();
    let began = step(&one, "s", vec![put(1, 0.5)]).await.unwrap();
    assert_eq!(kinds(&began[0]), [ContactEventKind::Began]);
    let request = pb::GetSessionRequest { session_id: "s".to_owned() };
    let state = client(&one).get_session(request).await.unwrap().into_inner().state;
    let opening =
        pb::OpenSessionRequest { session_id: "s".to_owned(), state, ..Default::default() };
    let opened = client(&other).open_session(opening).await.unwrap().into_inner();
    assert_eq!(kinds(&opened.report.unwrap()), []);
    let reports = step(&other, "s", vec![put(2, 0.75), put(3, 5.0)]).await.unwrap();
    assert_eq!(kinds(&reports[0]), []);
    assert_eq!(kinds(&reports[1]), [ContactEventKind::Ended]);
}

#[tokio::test]
async fn what_passes_between_two_frames_is_told_with_its_time() {
    let server = started().await;
    client(&server).open_session(scene("s")).await.unwrap();
    let mut frame = put(1, -10.0);
    frame.report = Some(pb::ReportOptions { first_contacts: true, ..Default::default() });
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!(kinds(&report), [ContactEventKind::Began, ContactEventKind::Ended]);
    let time = report.events[0].time.unwrap();
    // From 10 to -10; they meet at 1.
    assert!(time.lower <= 0.45 && 0.45 <= time.upper && time.upper - time.lower < 1e-8);
}

/// A stream to a session.
struct Talk {
    requests: mpsc::Sender<pb::StreamSessionRequest>,
    replies: Streaming<pb::StreamSessionResponse>,
}

impl Talk {
    async fn begin(server: &Server, first: pb::StreamSessionRequest) -> Self {
        let (requests, receiver) = mpsc::channel(64);
        requests.send(first).await.unwrap();
        let replies = client(server).stream_session(ReceiverStream::new(receiver)).await;
        Self { requests, replies: replies.unwrap().into_inner() }
    }

    async fn attach(server: &Server, id: &str, take_over: bool) -> Self {
        let start = pb::stream_session_request::Start::SessionId(id.to_owned());
        let first =
            pb::StreamSessionRequest { start: Some(start), take_over, ..Default::default() };
        Self::begin(server, first).await
    }

    async fn send(&self, frame: pb::Frame) {
        let message = pb::StreamSessionRequest { frame: Some(frame), ..Default::default() };
        self.requests.send(message).await.unwrap();
    }

    async fn reply(&mut self) -> Result<Option<pb::StreamSessionResponse>, Status> {
        soon(self.replies.message()).await
    }

    async fn report(&mut self) -> pb::FrameReport {
        self.reply().await.unwrap().unwrap().report.unwrap()
    }
}

#[tokio::test]
async fn a_stream_opens_a_session_and_answers_frame_by_frame_through_errors() {
    let server = started().await;
    let start = Some(pb::stream_session_request::Start::Open(scene("s")));
    let first = pb::StreamSessionRequest { start, frame: Some(put(1, 0.5)), ..Default::default() };
    let mut talk = Talk::begin(&server, first).await;
    let opened = talk.reply().await.unwrap().unwrap().opened.unwrap();
    assert_eq!(opened.session_id, "s");
    assert_eq!(kinds(&talk.report().await), [ContactEventKind::Began]);

    let mut bad = put(2, 5.0);
    bad.packed_poses = Some(pb::PackedPoses { ids: vec![1], ..Default::default() });
    talk.send(bad).await;
    refused(&talk.report().await, Code::InvalidArgument, "frame.packed_poses.translations");
    talk.requests.send(pb::StreamSessionRequest::default()).await.unwrap();
    refused(&talk.report().await, Code::InvalidArgument, "frame");
    talk.send(put(2, 5.0)).await;
    assert_eq!(kinds(&talk.report().await), [ContactEventKind::Ended]);
    drop(talk.requests);
    assert!(soon(talk.replies.message()).await.unwrap().is_none(), "ends when the client does");
}

#[tokio::test]
async fn waiting_frames_are_merged_all_poses_applied_and_the_skipped_ones_counted() {
    let server = started().await;
    client(&server).open_session(scene("s")).await.unwrap();
    let start = pb::stream_session_request::Start::SessionId("s".to_owned());
    let first =
        pb::StreamSessionRequest { start: Some(start), latest_wins: true, ..Default::default() };
    let mut talk = Talk::begin(&server, first).await;
    for frame_id in 1..=40 {
        // Each frame moves one body or the other, so a lost pose would show.
        let id = 1 + u32::try_from(frame_id % 2).unwrap();
        let poses = vec![pb::BodyPose { id, pose: pose(frame_id as f64), ..Default::default() }];
        talk.send(pb::Frame { frame_id, poses, report: all_pairs(), ..Default::default() }).await;
    }
    let (mut answered, mut skipped, mut last) = (0, 0, pb::FrameReport::default());
    while last.frame_id < 40 {
        last = talk.report().await;
        answered += 1;
        skipped += last.skipped_frames;
    }
    assert_eq!(answered + skipped, 40);
    // Bodies 1 and 2 at 40 and 39.
    assert_eq!(last.pairs[0].verdict(), Verdict::Touching);
}

#[tokio::test]
async fn a_second_stream_is_refused_unless_it_takes_over() {
    let server = started().await;
    client(&server).open_session(scene("s")).await.unwrap();
    let mut first = Talk::attach(&server, "s", false).await;
    first.send(put(1, 5.0)).await;
    first.report().await;

    let mut second = Talk::attach(&server, "s", false).await;
    check(&second.reply().await.unwrap_err(), Code::Aborted, "SESSION_ATTACHED", "");
    let unary = step(&server, "s", vec![put(2, 4.0)]).await.unwrap_err();
    check(&unary, Code::Aborted, "SESSION_ATTACHED", "");

    let mut third = Talk::attach(&server, "s", true).await;
    third.send(put(2, 0.5)).await;
    assert_eq!(kinds(&third.report().await), [ContactEventKind::Began]);
    assert_eq!(first.reply().await.unwrap().unwrap().notice(), Notice::TakenOver);
    check(&first.reply().await.unwrap_err(), Code::Aborted, "TAKEN_OVER", "");
    third.send(put(3, 5.0)).await;
    assert_eq!(kinds(&third.report().await), [ContactEventKind::Ended]);
}

#[tokio::test]
async fn after_a_lost_connection_the_client_attaches_again_and_goes_on() {
    let server = started().await;
    client(&server).open_session(scene("s")).await.unwrap();
    let mut talk = Talk::attach(&server, "s", false).await;
    talk.send(put(1, 0.5)).await;
    talk.report().await;
    talk.send(put(2, 5.0)).await;
    drop(talk);
    // The server needs a moment to notice; until then the session counts as attached.
    let mut again = Talk::attach(&server, "s", true).await;
    again.send(put(2, 5.0)).await;
    // Told once more if the first report was lost, in any case told.
    assert_eq!(kinds(&again.report().await), [ContactEventKind::Ended]);
}

#[tokio::test]
async fn a_stream_without_a_session_is_refused() {
    let server = started().await;
    let mut lost = Talk::attach(&server, "nowhere", false).await;
    check(&lost.reply().await.unwrap_err(), Code::NotFound, "UNKNOWN_SESSION", "");
    let mut nameless = Talk::begin(&server, pb::StreamSessionRequest::default()).await;
    check(&nameless.reply().await.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", "start");
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
        match client(&server).open_session(request).await {
            Ok(_) => {}
            Err(status) => {
                assert_eq!(status.code(), Code::ResourceExhausted);
                full += 1;
            }
        }
    }
    assert_eq!(full, 280);
    let listed = client(&server)
        .list_sessions(pb::ListSessionsRequest { page_size: 15, ..Default::default() })
        .await
        .unwrap()
        .into_inner();
    assert_eq!((listed.sessions.len(), listed.total_size), (15, 20));
    let rest = pb::ListSessionsRequest { page_size: 15, page_token: listed.next_page_token };
    let rest = client(&server).list_sessions(rest).await.unwrap().into_inner();
    assert_eq!((rest.sessions.len(), rest.next_page_token.as_str()), (5, ""));
}

#[tokio::test]
async fn idle_sessions_make_room() {
    let limits = Limits { sessions_max: 5, session_idle_seconds_default: 0, ..Limits::default() };
    let server = started_with(limits).await;
    for k in 0..50 {
        client(&server).open_session(scene(&format!("s{k}"))).await.unwrap();
    }
    soon(async {
        loop {
            let listed = client(&server).list_sessions(pb::ListSessionsRequest::default()).await;
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
    client(&server).open_session(scene("s")).await.unwrap();
    let delete = || pb::DeletePolytopeRequest {
        key: Some(pb::delete_polytope_request::Key::Alias("cube".to_owned())),
        ..Default::default()
    };
    let refused = server.polytopes().delete_polytope(delete()).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let close = pb::CloseSessionRequest { session_id: "s".to_owned(), allow_missing: false };
    client(&server).close_session(close).await.unwrap();
    server.polytopes().delete_polytope(delete()).await.unwrap();
}
