//! Replies of sessions are as long as their clients take: what is more is counted and can be had.

use clearance::runtime::settings::Limits;
use clearance_proto as api;
use prost::Message;
use tonic::Code;

use crate::server::{Server, soon};
use crate::sessions::{all_pairs, cube_at, scene, started_with, step};

/// So many bytes the clients of these tests take unless they say more.
const TAKEN: usize = 20_000;

const CUBES: u32 = 40;

async fn small() -> Server {
    started_with(Limits { reply_bytes_default: TAKEN as u64, ..Limits::default() }).await
}

/// All that there is to tell of a heap, in this shape.
fn everything(packed: bool, certificates: bool, reply_bytes_max: u64) -> api::ReportOptions {
    let all = all_pairs().unwrap();
    api::ReportOptions { placed_parts: true, packed, certificates, reply_bytes_max, ..all }
}

/// A heap of cubes, each of which overlaps all the others.
fn heap(report: api::ReportOptions) -> api::OpenSessionRequest {
    let mut request = scene("s");
    request.state.as_mut().unwrap().bodies =
        (1..=CUBES).map(|id| cube_at(id, 0.001 * f64::from(id))).collect();
    api::OpenSessionRequest { report: Some(report), ..request }
}

/// How many pairs a report tells.
fn pairs(report: &api::FrameReport) -> usize {
    report.pairs.len() + report.packed_pairs.as_ref().map_or(0, |packed| packed.a.len())
}

/// Nothing of the whole report is missing in this one, told or counted.
fn check_cut(cut: &api::FrameReport, whole: &api::FrameReport) {
    assert!(cut.cut && !whole.cut);
    assert!(cut.encoded_len() <= TAKEN, "{} bytes", cut.encoded_len());
    assert!(cut.encoded_len() > TAKEN * 9 / 10, "{} bytes", cut.encoded_len());
    assert!(whole.encoded_len() > TAKEN, "{} bytes", whole.encoded_len());
    assert_eq!(pairs(cut) as u64 + cut.omitted_pairs, pairs(whole) as u64);
    assert_eq!(cut.pairs[..], whole.pairs[..cut.pairs.len()]);
    if let (Some(cut), Some(whole)) = (&cut.packed_pairs, &whole.packed_pairs) {
        assert_eq!(cut.a[..], whole.a[..cut.a.len()]);
        assert_eq!(cut.b[..], whole.b[..cut.b.len()]);
        assert_eq!(cut.verdicts[..], whole.verdicts[..cut.a.len()]);
    }
    let parts = cut.placed_parts.len() as u64 + cut.omitted_placed_parts;
    assert_eq!(parts, whole.placed_parts.len() as u64);
    let events = cut.events.len() as u64 + cut.omitted_events;
    assert_eq!(events, whole.events.len() as u64);
    assert_eq!((cut.counts, &cut.status), (whole.counts, &None));
}

fn moved(frame_id: u64, report: Option<api::ReportOptions>) -> api::Frame {
    let packed_poses = api::PackedPoses {
        ids: (1..=CUBES).collect(),
        translations: (1..=CUBES).flat_map(|id| [0.002 * f64::from(id), 0.0, 0.0]).collect(),
        ..Default::default()
    };
    api::Frame {
        frame_id,
        packed_poses: Some(packed_poses),
        report: report.map(Box::new),
        ..Default::default()
    }
}

/// A client that takes little never gets more, gets what fits, and the rest when it asks again.
#[tokio::test]
async fn a_report_is_cut_to_what_the_client_takes_and_whole_when_the_frame_is_sent_again() {
    for (packed, certificates) in [(false, false), (true, false), (false, true), (true, true)] {
        // Packed pairs without proofs take ever so little.
        let server = small().await;
        let asked = |bytes| api::ReportOptions {
            closest_points: true,
            depths: true,
            ..everything(packed, certificates, bytes)
        };
        let mut client = server.sessions().max_decoding_message_size(TAKEN + 1_000);
        let opened = client.open_session(heap(asked(0))).await.unwrap().into_inner();
        let first = opened.report.unwrap();
        assert!(first.encoded_len() <= TAKEN);
        // A stream that brings a whole one to a client that takes it, and goes on.
        let start = api::StreamSessionRequest {
            start: Some(api::stream_session_request::Start::SessionId("s".to_owned())),
            ..Default::default()
        };
        let send = |frame| api::StreamSessionRequest {
            frame: Some(Box::new(frame)),
            ..Default::default()
        };
        let frames =
            vec![start, send(moved(1, Some(asked(0)))), send(moved(1, Some(asked(1 << 20))))];
        let mut replies = server
            .sessions()
            .stream_session(tokio_stream::iter(frames))
            .await
            .unwrap()
            .into_inner();
        let mut told = Vec::new();
        while let Some(reply) = soon(replies.message()).await.unwrap() {
            told.extend(reply.report);
        }
        let [small, whole] = &told[..] else { panic!("{} reports", told.len()) };
        if whole.encoded_len() > TAKEN {
            check_cut(small, whole);
        } else {
            assert_eq!((packed, certificates, small.cut), (true, false, false));
        }
    }
}

/// Events are what a client cannot ask for otherwise: they go last, and sending again brings them.
#[tokio::test]
async fn events_are_left_out_last_and_told_when_the_frame_is_sent_again() {
    let server = small().await;
    let mut apart = heap(everything(true, false, 0));
    for body in &mut apart.state.as_mut().unwrap().bodies {
        *body = cube_at(body.id, 5.0 * f64::from(body.id));
    }
    server.sessions().open_session(apart).await.unwrap();
    let whole = api::ReportOptions { reply_bytes_max: 1 << 20, ..everything(true, false, 0) };
    let few = api::ReportOptions { reply_bytes_max: 7_000, ..everything(true, false, 0) };
    let few = step(&server, "s", vec![moved(1, Some(few))]).await.unwrap().remove(0);
    assert!(few.encoded_len() <= 7_000 && few.cut, "{}", few.encoded_len());
    assert_eq!((pairs(&few), few.omitted_pairs), (0, 780));
    assert_eq!((few.placed_parts.len(), few.omitted_placed_parts), (0, 40));
    assert!(few.omitted_events > 0 && !few.events.is_empty(), "{}", few.events.len());
    let request = api::StepSessionRequest {
        session_id: "s".to_owned(),
        frames: vec![moved(1, Some(whole))],
        reply_bytes_max: 1 << 20,
        ..Default::default()
    };
    let again = server.sessions().step_session(request).await.unwrap().into_inner();
    let whole = &again.reports[0];
    assert_eq!((whole.events.len(), pairs(whole), whole.cut), (780, 780, false));
    assert_eq!(few.events[..], whole.events[..few.events.len()]);
}

/// A reply of many reports is no longer than its client takes. What has no room is not applied; a
/// report that was cut to the room is the last one that is, so that it can be had again.
#[tokio::test]
async fn a_reply_of_many_reports_is_as_long_as_its_client_takes_and_nothing_is_lost() {
    let server = small().await;
    server.sessions().open_session(heap(everything(true, false, 0))).await.unwrap();
    let frame = |frame_id, bytes| api::Frame {
        report: Some(Box::new(everything(true, false, bytes))),
        ..api::Frame { frame_id, ..Default::default() }
    };
    // About 20 kB each, and the reply takes less than one beside the words about the others.
    let mut client = server.sessions().max_decoding_message_size(TAKEN + 100);
    let request = |frames, reply_bytes_max| api::StepSessionRequest {
        session_id: "s".to_owned(),
        frames,
        reply_bytes_max,
        ..Default::default()
    };
    let frames = vec![frame(1, 1 << 20), frame(2, 1 << 20), frame(3, 1 << 20)];
    let reply = client.step_session(request(frames, 0)).await.unwrap().into_inner();
    let [first, rest @ ..] = &reply.reports[..] else { panic!("no report") };
    assert!(first.cut && first.status.is_none() && first.omitted_pairs > 0);
    for left in rest {
        let status = left.status.as_ref().unwrap();
        assert_eq!(status.code, i32::from(Code::ResourceExhausted), "{status:?}");
        assert!(status.message.contains("reply_bytes_max"), "{status:?}");
    }
    let frames = vec![frame(1, 1 << 20), frame(2, 1 << 20), frame(3, 1 << 20)];
    let reply = server.sessions().step_session(request(frames, 1 << 20)).await.unwrap();
    for (report, frame_id) in reply.into_inner().reports.iter().zip(1..) {
        assert_eq!((report.frame_id, &report.status, report.cut), (frame_id, &None, false));
        assert_eq!((pairs(report), report.omitted_pairs), (780, 0));
    }
    // Reports that their own frames cut do not hold up the others.
    let frames = vec![frame(4, 2_000), frame(5, 2_000), frame(6, 2_000)];
    let reply = client.step_session(request(frames, 0)).await.unwrap().into_inner();
    assert!(reply.reports.iter().all(|report| report.cut && report.status.is_none()));
}

/// The state of a session is told whole or not at all.
#[tokio::test]
async fn a_state_that_is_longer_than_its_client_takes_is_refused_with_what_to_say() {
    let server = small().await;
    let mut long = heap(everything(true, false, 0));
    for body in &mut long.state.as_mut().unwrap().bodies {
        body.name = "n".repeat(1_000);
    }
    server.sessions().open_session(long).await.unwrap();
    let get = |reply_bytes_max| api::GetSessionRequest {
        session_id: "s".to_owned(),
        reply_bytes_max,
        ..Default::default()
    };
    let watch = |reply_bytes_max| api::WatchSessionRequest {
        session_id: "s".to_owned(),
        reply_bytes_max,
        ..Default::default()
    };
    let got = server.sessions().get_session(get(0)).await.unwrap_err();
    let watched = server.sessions().watch_session(watch(0)).await.unwrap_err();
    for status in [got, watched] {
        assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
        assert!(status.message().contains("reply_bytes_max"), "{status:?}");
    }
    let state = server.sessions().get_session(get(1 << 20)).await.unwrap().into_inner().state;
    assert_eq!(state.unwrap().bodies.len(), CUBES as usize);
    let mut news = server.sessions().watch_session(watch(1 << 20)).await.unwrap().into_inner();
    let told = soon(news.message()).await.unwrap().unwrap();
    assert_eq!(told.state.unwrap().bodies.len(), CUBES as usize);
}
