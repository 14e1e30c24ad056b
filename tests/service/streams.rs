//! Streams to a session: frame by frame, merged, taken over, lost.

use clearance_proto as api;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_proto::{ContactEventKind, Notice};
use clearance_runtime::settings::Limits;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use crate::hostile::ball;
use crate::server::{Server, check, soon, vector};
use crate::sessions::{
    all_pairs, cube_at, kinds, pose, put, refused, scene, started, started_with, step,
};

/// A stream to a session.
pub(crate) struct Talk {
    requests: mpsc::Sender<api::StreamSessionRequest>,
    replies: Streaming<api::StreamSessionResponse>,
}

impl Talk {
    async fn begin(server: &Server, first: api::StreamSessionRequest) -> Self {
        Self::through(server.sessions(), first).await
    }

    async fn through(
        mut client: SessionServiceClient<Channel>,
        first: api::StreamSessionRequest,
    ) -> Self {
        let (requests, receiver) = mpsc::channel(64);
        requests.send(first).await.unwrap();
        let replies = client.stream_session(ReceiverStream::new(receiver)).await;
        Self { requests, replies: replies.unwrap().into_inner() }
    }

    pub(crate) async fn attach(server: &Server, id: &str, take_over: bool) -> Self {
        let start = api::stream_session_request::Start::SessionId(id.to_owned());
        let first =
            api::StreamSessionRequest { start: Some(start), take_over, ..Default::default() };
        Self::begin(server, first).await
    }

    pub(crate) async fn send(&self, frame: api::Frame) {
        let message =
            api::StreamSessionRequest { frame: Some(Box::new(frame)), ..Default::default() };
        self.requests.send(message).await.unwrap();
    }

    async fn reply(&mut self) -> Result<Option<api::StreamSessionResponse>, Status> {
        soon(self.replies.message()).await
    }

    pub(crate) async fn report(&mut self) -> api::FrameReport {
        *self.reply().await.unwrap().unwrap().report.unwrap()
    }
}

/// What is wrong with the session that a stream opens was named as if it were the stream's own.
#[tokio::test]
async fn what_is_wrong_with_a_session_that_a_stream_opens_is_named_with_its_path() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let refusal = async |open| {
        let start = Some(api::stream_session_request::Start::Open(Box::new(open)));
        let first = api::StreamSessionRequest { start, ..Default::default() };
        Talk::begin(&server, first).await.reply().await.unwrap_err()
    };
    check(&refusal(scene("s")).await, Code::AlreadyExists, "SESSION_EXISTS", "open.session_id");
    let status = refusal(scene("no id")).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "open.session_id");
    let negative = Some(prost_types::Duration { seconds: -1, nanos: 0 });
    let status = refusal(api::OpenSessionRequest { idle_timeout: negative, ..scene("t") }).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "open.idle_timeout");
}

#[tokio::test]
async fn a_stream_opens_a_session_and_answers_frame_by_frame_through_errors() {
    let server = started().await;
    let start = Some(api::stream_session_request::Start::Open(Box::new(scene("s"))));
    let first = api::StreamSessionRequest {
        start,
        frame: Some(Box::new(put(1, 0.5))),
        ..Default::default()
    };
    let mut talk = Talk::begin(&server, first).await;
    let opened = talk.reply().await.unwrap().unwrap().opened.unwrap();
    assert_eq!(opened.session_id, "s");
    assert_eq!(kinds(&talk.report().await), [ContactEventKind::Began]);

    let mut bad = put(2, 5.0);
    bad.packed_poses = Some(api::PackedPoses { ids: vec![1].into(), ..Default::default() });
    talk.send(bad).await;
    refused(&talk.report().await, Code::InvalidArgument, "frame.packed_poses.translations");
    talk.requests.send(api::StreamSessionRequest::default()).await.unwrap();
    refused(&talk.report().await, Code::InvalidArgument, "frame");
    talk.send(put(2, 5.0)).await;
    assert_eq!(kinds(&talk.report().await), [ContactEventKind::Ended]);
    drop(talk.requests);
    assert!(soon(talk.replies.message()).await.unwrap().is_none(), "ends when the client does");
}

/// Frames of the test below; fewer than the server merges at once and than a stream here may hold.
const FRAMES: u64 = 60;

/// The frames that move the third cube: through the first one, and on.
const THROUGH: u64 = 30;
const ON: u64 = 45;

/// Where the second cube is at a frame, on the x axis: at every frame on the other side of the
/// first cube, and never twice in one place.
fn second_at(frame_id: u64) -> f64 {
    let away = 5.0 + frame_id as f64;
    if frame_id.is_multiple_of(2) { away } else { -away }
}

/// Where the third cube is at a frame, on the y axis: it meets the first cube on the way to one
/// frame only, and not on the way to the last at which it moves.
fn third_at(frame_id: u64) -> f64 {
    match frame_id {
        ..THROUGH => 5.0,
        THROUGH..ON => -5.0,
        ON.. => -6.0,
    }
}

fn on_y(y: f64) -> Option<api::Pose> {
    Some(api::Pose { translation: vector(0.0, y, 0.0), orientation: None })
}

/// A frame of the test below.
fn crossing(frame_id: u64) -> api::Frame {
    let mut frame = put(frame_id, second_at(frame_id));
    if [THROUGH, ON].contains(&frame_id) {
        let third =
            api::BodyPose { id: Some(3), pose: on_y(third_at(frame_id)), ..Default::default() };
        frame.poses.push(third);
    }
    let report = all_pairs().unwrap();
    frame.report = Some(Box::new(api::ReportOptions { first_contacts: true, ..report }));
    frame
}

/// Checks that a report answers `frame_id` with the poses of all frames up to it, and motion from
/// the frame `previous`.
#[track_caller]
fn answers(report: &api::FrameReport, previous: u64) {
    let now = report.frame_id;
    assert_eq!(report.previous_frame_id, previous);
    assert_eq!(u64::from(report.skipped_frames), now - previous - 1, "{previous} to {now}");
    for (pair, at) in report.pairs.iter().zip([second_at, third_at]) {
        // Unit cubes on both sides of that from 0 to 1.
        let gap = at(now).max(-at(now)) - 1.0;
        let distance = pair.distance.unwrap();
        assert!(distance.lower <= gap && gap <= distance.upper, "frame {now}: {distance:?}");
        let crosses = (at(previous) > 0.0) != (at(now) > 0.0);
        let found = pair.first_contact.as_ref().unwrap().outcome();
        let expected = if crosses { api::Outcome::Contact } else { api::Outcome::NoContact };
        assert_eq!(found, expected, "bodies {} and {}, {previous} to {now}", pair.a, pair.b);
    }
    assert_eq!(report.pairs.len(), 2);
}

#[tokio::test]
async fn frames_that_wait_are_merged_their_poses_applied_and_motion_starts_at_the_last_answer() {
    // A few bytes are let into the client until it reads: so nearly all frames have to wait,
    // however fast the server is.
    let server = started().await;
    let mut request = scene("s");
    let state = request.state.as_mut().unwrap();
    state.bodies[1].pose = pose(second_at(0));
    state.bodies.push(api::Body { pose: on_y(third_at(0)), ..cube_at(3, 0.0) });
    let ignored_pairs = vec![api::BodyPair { a: Some(2), b: Some(3) }];
    state.rules = Some(api::PairRules { ignored_pairs, ..Default::default() });
    server.sessions().open_session(request).await.unwrap();
    let narrow = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    let narrow = narrow.initial_stream_window_size(64).connect().await.unwrap();
    let start = api::stream_session_request::Start::SessionId("s".to_owned());
    let first =
        api::StreamSessionRequest { start: Some(start), latest_wins: true, ..Default::default() };
    let mut client = SessionServiceClient::new(narrow);
    let mut talk = Talk::through(client.clone(), first).await;

    talk.send(crossing(1)).await;
    answers(&talk.report().await, 0);
    for frame_id in 2..=FRAMES {
        talk.send(crossing(frame_id)).await;
    }
    // Until the server has answered as many as it can without being read: their number has not
    // changed during many calls over the same connection.
    let mut seen = std::collections::BTreeMap::new();
    let backlog = async {
        while seen.values().all(|calls| *calls < 50) {
            let listed = client.list_sessions(api::ListSessionsRequest::default()).await;
            let answered = listed.unwrap().into_inner().sessions[0].frames_answered;
            // The opening and the first frame, which was waited for, do not count.
            if answered > 2 {
                *seen.entry(answered).or_insert(0) += 1;
            }
        }
    };
    soon(backlog).await;
    let (mut answered, mut last) = (1, 1);
    while last < FRAMES {
        let report = talk.report().await;
        answers(&report, last);
        last = report.frame_id;
        answered += 1;
    }
    // One in the client, one on its way, one being sent, and what is left in one.
    assert!(answered <= 6, "{answered} of {FRAMES} frames were answered, so few were merged");
    drop(talk.requests);
    assert!(soon(talk.replies.message()).await.unwrap().is_none());
}

#[tokio::test]
async fn without_leave_to_merge_every_frame_is_answered_even_if_it_waits() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let mut talk = Talk::attach(&server, "s", false).await;
    for frame_id in 1..=FRAMES {
        talk.send(put(frame_id, frame_id as f64)).await;
    }
    for frame_id in 1..=FRAMES {
        let report = talk.report().await;
        assert_eq!((report.frame_id, report.skipped_frames), (frame_id, 0));
    }
}

#[tokio::test]
async fn a_second_stream_is_refused_unless_it_takes_over() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
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
    server.sessions().open_session(scene("s")).await.unwrap();
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
    check(&lost.reply().await.unwrap_err(), Code::NotFound, "UNKNOWN_SESSION", "session_id");
    let mut nameless = Talk::begin(&server, api::StreamSessionRequest::default()).await;
    check(&nameless.reply().await.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", "start");
}

#[tokio::test]
async fn two_thousand_abandoned_sessions_leave_nothing_behind() {
    const AT_ONCE: u64 = 100;
    let limits = Limits { session_idle_seconds_default: 0, ..Limits::default() };
    let server = started_with(limits).await;
    let uses = async || {
        let key = api::get_polytope_request::Key::Alias("cube".to_owned());
        let request = api::GetPolytopeRequest { key: Some(key), ..Default::default() };
        let got = server.polytopes().get_polytope(request).await.unwrap().into_inner();
        got.polytope.unwrap().use_count
    };
    for round in 0..20 {
        let mut talks = Vec::new();
        for k in 0..AT_ONCE {
            let start = scene(&format!("s{round}-{k}"));
            let start = Some(api::stream_session_request::Start::Open(Box::new(start)));
            let frame = Some(put(1, 0.5));
            let first = api::StreamSessionRequest {
                start,
                frame: frame.map(Box::new),
                ..Default::default()
            };
            let mut talk = Talk::begin(&server, first).await;
            assert!(talk.reply().await.unwrap().unwrap().opened.is_some());
            talks.push(talk);
        }
        // A session with a stream is in use, however long it is silent.
        let usage = server.usage().await;
        assert_eq!((usage.sessions, uses().await), (AT_ONCE, 2 * AT_ONCE));
        assert!(usage.session_bytes > AT_ONCE * 500, "{usage:?}");
        // All clients vanish, some with a frame on its way, some with a report.
        for talk in talks.iter().step_by(3) {
            talk.send(put(2, 7.0)).await;
        }
        drop(talks);
        soon(async {
            loop {
                // Which closes what is idle.
                let request = api::ListSessionsRequest::default();
                let listed = server.sessions().list_sessions(request).await.unwrap();
                if listed.into_inner().total_size == 0 {
                    break;
                }
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    let usage = server.usage().await;
    assert_eq!((usage.sessions, usage.session_bytes, uses().await), (0, 0, 0), "{usage:?}");
}

/// Frames of streams had no time limit but their own budget. And one that comes after a quick one
/// was taken for quick: it ran on the thread that serves connections, where nothing else was served
/// meanwhile, not even the end of its time.
#[tokio::test]
async fn a_frame_of_a_stream_is_answered_within_the_servers_time() {
    const BALLS: u32 = 100;
    let limits = Limits { call_seconds_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    server.register("cube", &ball(200)).await;
    let mut open = scene("s");
    open.state.as_mut().unwrap().bodies =
        (1..=BALLS).map(|id| cube_at(id, 10.0 * f64::from(id))).collect();
    let start = Some(api::stream_session_request::Start::Open(Box::new(open)));
    let first = api::StreamSessionRequest { start, ..Default::default() };
    let mut talk = Talk::begin(&server, first).await;
    assert!(talk.reply().await.unwrap().unwrap().opened.is_some());
    // All in one heap, whose depths take longer than that.
    let heaped = |id: u32| api::BodyPose {
        id: Some(id),
        pose: pose(0.01 * f64::from(id)),
        ..Default::default()
    };
    let report = Some(api::ReportOptions { depths: true, ..all_pairs().unwrap() });
    let poses = (1..=BALLS).map(heaped).collect();
    talk.send(api::Frame {
        frame_id: 1,
        poses,
        report: report.map(Box::new),
        ..Default::default()
    })
    .await;
    let report = talk.report().await;
    assert_eq!(report.stopped(), api::Stopped::Deadline);
    assert_eq!(report.frame_id, 1);
}
