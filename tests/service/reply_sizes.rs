//! Replies of sessions are as long as their clients take: what is more is counted and can be had.

use clearance_proto as api;
use clearance_runtime::settings::Limits;
use prost::Message;
use tonic::Code;

use crate::robots::{check as checked, robots, slider};
use crate::server::{Server, check, soon};
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
        *body = cube_at(body.id(), 5.0 * f64::from(body.id()));
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

/// Clearances of 5,000 configurations were worked on for seconds, and then no default client took
/// the 7.7 MB.
#[tokio::test]
async fn answers_of_robots_that_are_longer_than_the_client_takes_are_refused_and_say_so() {
    let server = small().await;
    let cell = slider(&server).await;
    // From -9 to 9, across the wall.
    let values: Vec<f64> = (0..4_000).map(|k| -9.0 + f64::from(k) * 4.5e-3).collect();
    let clearances = api::CheckConfigurationsRequest {
        with_gradient: true,
        ..checked(&cell, api::CheckMode::LinkClearance, &values)
    };
    // How many are in contact nobody knows before.
    let all_pairs = checked(&cell, api::CheckMode::AllPairs, &[3.0].repeat(8_000));
    for asked in [clearances, all_pairs] {
        let refused = robots(&server).check_configurations(asked.clone()).await.unwrap_err();
        check(&refused, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
        assert!(refused.message().contains("ask about fewer at once"), "{}", refused.message());
        let taken = api::CheckConfigurationsRequest { reply_bytes_max: 1 << 20, ..asked };
        let answer = robots(&server).check_configurations(taken.clone()).await.unwrap();
        let length = answer.into_inner().encoded_len();
        assert!(TAKEN < length && length < 1 << 20, "{length}");
        let few = taken.values[..100].to_vec();
        let few = api::CheckConfigurationsRequest { values: few, reply_bytes_max: 0, ..taken };
        let answer = robots(&server).check_configurations(few).await.unwrap();
        assert!(answer.into_inner().encoded_len() <= TAKEN);
    }
    let waypoints: Vec<f64> = (0..3_000).map(|k| -9.0 + f64::from(k) * 1e-3).collect();
    let path = api::CheckPathRequest {
        cell: Some(cell.clone()),
        waypoints: waypoints.clone(),
        ..Default::default()
    };
    let refused = robots(&server).check_path(path.clone()).await.unwrap_err();
    check(&refused, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
    let path = api::CheckPathRequest { reply_bytes_max: 1 << 20, ..path };
    assert_eq!(robots(&server).check_path(path).await.unwrap().into_inner().free_until, 2_999.0);
    let edges = api::CheckEdgesRequest {
        cell: Some(cell),
        starts: waypoints[1..].to_vec(),
        ends: waypoints[..2_999].to_vec(),
        ..Default::default()
    };
    let refused = robots(&server).check_edges(edges.clone()).await.unwrap_err();
    check(&refused, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
    let edges = api::CheckEdgesRequest { reply_bytes_max: 1 << 20, ..edges };
    assert_eq!(robots(&server).check_edges(edges).await.unwrap().into_inner().count, 2_999);
}

/// The facets of a body of 170,000 vertices were listed, and then no default client took them.
#[tokio::test]
async fn vertices_and_facets_that_are_longer_than_the_client_takes_are_refused() {
    let server = small().await;
    let xyz = (0..400).flat_map(|k| {
        let (height, turn) = (f64::from(k) / 200.0 - 0.9975, f64::from(k) * 2.4);
        let wide = (1.0 - height * height).sqrt();
        [wide * turn.cos(), wide * turn.sin(), height]
    });
    server.register("round", &xyz.collect::<Vec<_>>()).await;
    let asked = |with_vertices, with_facets, reply_bytes_max| {
        let key = Some(api::get_polytope_request::Key::Alias("round".to_owned()));
        let request = api::GetPolytopeRequest {
            key,
            with_vertices,
            with_facets,
            reply_bytes_max,
            ..Default::default()
        };
        let mut client = server.polytopes();
        async move { client.get_polytope(request).await }
    };
    let refused = asked(true, true, 0).await.unwrap_err();
    check(&refused, Code::ResourceExhausted, "LIMIT_EXCEEDED", "reply_bytes_max");
    assert!(refused.message().contains("vertices and its facets apart"), "{}", refused.message());
    // Apart they fit, and both for who takes them.
    for (vertices, facets, bytes) in [(true, false, 0), (false, true, 0), (true, true, 1 << 20)] {
        let answer = asked(vertices, facets, bytes).await.unwrap().into_inner();
        let told = answer.facets.len() > 500;
        assert_eq!((answer.vertices.is_some(), told), (vertices, facets));
        assert!(answer.encoded_len() <= TAKEN || bytes > 0, "{}", answer.encoded_len());
    }
    assert!(asked(false, false, 0).await.is_ok());
}
