//! Sessions of many bodies in one place, stepped by callers who leave: whatever stage the answer is
//! in, the worker is free soon after.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clearance_proto as api;

use crate::deadlines::until_free;
use crate::departed::{LATE_MAX, ON_THE_WAY};
use crate::questions::{cube, register};
use crate::row::row;
use crate::server::{Client, slowness};
use crate::strikes::{body, session};
use crate::watch::Bounds;

/// How long callers stay: they leave in different stages of the answer.
const STAYS: [u64; 9] = [5, 50, 200, 500, 800, 1_200, 1_600, 2_000, 2_500];

/// What may be asked of every pair of a pile, with its name.
fn asked() -> [(&'static str, api::ReportOptions); 4] {
    let none =
        || api::ReportOptions { pairs: api::PairSelection::None.into(), ..Default::default() };
    let all = || api::ReportOptions { pairs: api::PairSelection::All.into(), ..Default::default() };
    [
        ("events", api::ReportOptions { impacts: true, ..none() }),
        ("all verdicts", all()),
        ("ranking", api::ReportOptions { pairs_below: Some(0.0), normals: true, ..none() }),
        ("all of it", api::ReportOptions { depths: true, normals: true, impacts: true, ..all() }),
    ]
}

/// A session with these bodies, of which nothing is told.
async fn opened(client: &Client, bodies: Vec<api::Body>) -> String {
    let none = api::ReportOptions { pairs: api::PairSelection::None.into(), ..Default::default() };
    let idle_timeout = Some(prost_types::Duration { seconds: 600, nanos: 0 });
    let open = api::OpenSessionRequest { report: Some(none), idle_timeout, ..session(bodies) };
    client.sessions().open_session(open).await.unwrap().into_inner().session_id
}

/// A frame in which so many bodies are in one place, and no face in the plane of another one.
fn all_in_one_place(frame_id: u64, count: u32) -> api::Frame {
    let beside = |id: u32, k: u32| f64::from(id * k % 911) * 1e-4;
    let place = |id: u32| [beside(id, 1) + 1e-3 * frame_id as f64, beside(id, 57), beside(id, 211)];
    let (ids, translations) = ((0..count).collect::<Vec<_>>(), (0..count).flat_map(place));
    let packed = api::PackedPoses {
        ids: ids.into(),
        translations: translations.collect(),
        ..Default::default()
    };
    api::Frame { frame_id, keyframe: true, packed_poses: Some(packed), ..Default::default() }
}

/// A cube that is nowhere near another one.
fn far_away(id: u32) -> api::Body {
    let translation = Some(api::Vector3 { x: 1e3 * f64::from(id), y: 0.0, z: 0.0 });
    let pose = Some(api::Pose { translation, orientation: None });
    api::Body { pose, ..body(id, "cube", 0.0) }
}

/// The stages of an answer went through all pairs, whoever waited for it: 1.9 s.
#[test]
fn a_pile_is_put_down_soon_after_the_caller_has_left() {
    row("callers leave piles", Bounds::default(), async |server| {
        let (asker, other) = (server.connect().await, server.connect().await);
        register(&asker, "cube", cube(0.0)).await;
        // Of 900 what is put down takes up to a quarter of a second on a slow machine.
        let count = if slowness() == 1 { 600 } else { 300 };
        let frame_id = AtomicU64::new(0);
        let mut late = Vec::new();
        for (name, report) in asked() {
            let bodies = (0..count).map(far_away).collect();
            let session_id = opened(&asker, bodies).await;
            let (mut worst, mut unfinished) = ((Duration::ZERO, 0), 0);
            for stay in STAYS {
                let id = frame_id.fetch_add(1, Ordering::Relaxed) + 1;
                let report = Some(report);
                let frame =
                    api::Frame { report: report.map(Box::new), ..all_in_one_place(id, count) };
                let request = api::StepSessionRequest {
                    session_id: session_id.clone(),
                    frames: vec![frame],
                    ..Default::default()
                };
                let mut sessions = asker.sessions();
                let call = tokio::spawn(async move { sessions.step_session(request).await });
                tokio::time::sleep(Duration::from_millis(stay)).await;
                unfinished += u32::from(!call.is_finished());
                call.abort();
                let start = Instant::now();
                until_free(&other).await;
                tokio::time::sleep(ON_THE_WAY).await;
                until_free(&other).await;
                worst = worst.max((start.elapsed().saturating_sub(ON_THE_WAY), stay));
            }
            let (by, stay) = worst;
            println!("  {by:9.2?} {name}, after {stay} ms; {unfinished} unfinished");
            assert!(unfinished > 1, "{unfinished} of {name} unfinished");
            if by > LATE_MAX * slowness() {
                late.push(format!("{by:?} {name}, after {stay} ms"));
            }
        }
        assert!(late.is_empty(), "too late:\n{}", late.join("\n"));
    });
}
