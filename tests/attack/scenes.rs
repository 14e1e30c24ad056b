//! Rows of sessions that are to keep much, or to work without end.

use std::time::Duration;

use clearance_proto as api;
use tokio::task::JoinSet;
use tonic::Code;

use crate::memory::{MIB, bounds, small, until_given_back};
use crate::questions::{cube, register};
use crate::row::{row, row_on};
use crate::server::{Client, Server, slowness};
use crate::strikes::{body, flood, frame, never_reads, pile, rays, session};
use crate::watch::Bounds;

pub(crate) async fn opened(
    client: &Client,
    request: api::OpenSessionRequest,
) -> Result<String, tonic::Status> {
    Ok(client.sessions().open_session(request).await?.into_inner().session_id)
}

/// A runtime of its own, so that its connections are cut when it goes.
pub(crate) fn cut_off() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

pub(crate) async fn with_cube(server: &Server) -> Client {
    let client = server.connect().await;
    register(&client, "cube", cube(0.0)).await;
    client
}

/// Refused items stayed with the session and counted nowhere: a thousand sessions were 4.0 GB that
/// were not given back.
#[test]
fn items_that_are_refused_are_counted_and_given_back() {
    row_on(&small(), "300 sessions of refused items", bounds(), async |server| {
        let client = server.connect().await;
        let mut sessions = Vec::new();
        for _ in 0..300 {
            let Ok(session_id) = opened(&client, session(Vec::new())).await else { break };
            let frames = vec![frame(1, 0..20_000, 0.0)];
            let request = api::StepSessionRequest {
                session_id: session_id.clone(),
                frames,
                ..Default::default()
            };
            match client.sessions().step_session(request).await {
                Ok(reply) => {
                    let report = &reply.get_ref().reports[0];
                    let listed = report.refused_items.len() as u64;
                    assert_eq!(listed + report.omitted_items, 20_000, "{:?}", report.status);
                    assert!(listed <= 1_000, "{listed} items are listed");
                }
                Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}"),
            }
            sessions.push(session_id);
        }
        assert!(sessions.len() > 100, "{} sessions", sessions.len());
        for session_id in sessions {
            let allow_missing = true;
            let close =
                api::CloseSessionRequest { session_id, allow_missing, ..Default::default() };
            client.sessions().close_session(close).await.unwrap();
        }
        until_given_back(server, 8 * MIB, 160 * MIB).await;
    });
}

/// 4.0 GB, of which 606 MB were accounted for.
#[test]
fn streams_that_never_read_are_bounded() {
    row_on(&small(), "ten streams that never read", bounds(), async |server| {
        with_cube(server).await;
        let away = cut_off();
        for _ in 0..10 {
            let address = server.address;
            away.spawn(async move { never_reads(&Client::to(address).await).await });
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        away.shutdown_background();
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}

/// Decoded frames waited without bound: 5.0 GB.
#[test]
fn frames_that_wait_for_a_busy_session_are_bounded() {
    row_on(&small(), "40 large steps of one busy session", bounds(), async |server| {
        let client = with_cube(server).await;
        let session_id = opened(&client, pile(300)).await.unwrap();
        let mut calls = JoinSet::new();
        for k in 0..40 {
            let (client, session_id) = (server.connect().await, session_id.clone());
            calls.spawn(async move {
                let frames = (1..140).map(|id| frame(1_000 * k + id, 0..1_000, 0.0)).collect();
                let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
                let mut request = tonic::Request::new(request);
                request.set_timeout(Duration::from_secs(6));
                client.sessions().step_session(request).await.map(drop)
            });
        }
        let full = |answer: &Result<(), tonic::Status>| {
            answer.as_ref().is_err_and(|status| status.code() == Code::ResourceExhausted)
        };
        let refused = calls.join_all().await.iter().filter(|answer| full(answer)).count();
        assert!(refused >= 20, "{refused} of 40 were refused");
        let close = api::CloseSessionRequest { session_id, ..Default::default() };
        client.sessions().close_session(close).await.unwrap();
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}

/// A cylinder of height one.
fn drum(corners: u32) -> Vec<f64> {
    let corner = |k: u32, z: f64| {
        let turn = std::f64::consts::TAU * f64::from(k) / f64::from(corners);
        [turn.cos(), turn.sin(), z]
    };
    (0..corners).flat_map(|k| [corner(k, 0.0), corner(k, 1.0)]).flatten().collect()
}

/// Nobody had tried: drums in two layers, each in contact with all of the other layer along a facet
/// of very many corners. The polygons of one call of 20 KB took 610 MiB of 512, of which 220 were
/// said, and four clients asked for them.
#[test]
fn polygons_of_very_many_contacts_are_bounded() {
    row_on(&small(), "4 clients, polygons of 12,100 contacts", bounds(), async |server| {
        let (corners, count) = if slowness() == 1 { (300, 220) } else { (60, 60) };
        register(&server.connect().await, "drum", drum(corners)).await;
        let body = |id| {
            let z = f64::from(id % 2);
            let translation = Some(api::Vector3 { x: 0.0, y: 0.0, z });
            let pose = Some(api::Pose { translation, orientation: None });
            api::Body { pose, ..body(id, "drum", 0.0) }
        };
        let report = api::ReportOptions {
            pairs: api::PairSelection::All.into(),
            contact_polygons: true,
            ..Default::default()
        };
        let open = api::OpenSessionRequest {
            report: Some(report),
            ..session((0..count).map(body).collect())
        };
        let mut calls = JoinSet::new();
        for _ in 0..4 {
            let (client, open) = (server.connect().await, open.clone());
            calls.spawn(async move { client.sessions().open_session(open).await });
        }
        let answers = calls.join_all().await;
        assert!(answers.iter().any(Result::is_ok), "all were refused");
        for answer in answers {
            match answer {
                Ok(answer) => {
                    let report = answer.into_inner().report.unwrap();
                    let touches =
                        |pair: &&api::PairReport| pair.verdict() == api::Verdict::Touching;
                    let touching: Vec<_> = report.pairs.iter().filter(touches).collect();
                    // What is listed is told whole.
                    let has_polygon =
                        |pair: &&api::PairReport| pair.contact_polygon.len() == corners as usize;
                    assert!(!touching.is_empty() && touching.iter().all(has_polygon));
                }
                Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}"),
            }
        }
    });
}

/// Nobody had tried: twenty calls of 60,000 rays each through 1,000 bodies in one place, every hit
/// to be listed, no deadline. All but a few waited for the session with their questions in memory.
#[test]
fn rays_without_end_wait_for_their_scene_in_small_numbers() {
    row_on(&small(), "20 calls of 60,000 rays", bounds(), async |server| {
        let client = with_cube(server).await;
        let bodies = (0..1_000).map(|id| body(id, "cube", f64::from(id) * 1e-3)).collect();
        let none =
            api::ReportOptions { pairs: api::PairSelection::None.into(), ..Default::default() };
        // What stands still is checked against nothing.
        let bodies = Vec::into_iter(bodies).map(|body| api::Body { fixed: true, ..body }).collect();
        let open = api::OpenSessionRequest { report: Some(none), ..session(bodies) };
        let session_id = opened(&client, open).await.unwrap();
        let away = cut_off();
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            let (address, session_id) = (server.address, session_id.clone());
            let asked = away.spawn(async move {
                let client = Client::to(address).await;
                let (packed_rays, hits) = (Some(rays(60_000)), api::HitSelection::All.into());
                let request =
                    api::QuerySceneRequest { session_id, packed_rays, hits, ..Default::default() };
                client.sessions().query_scene(request).await.map(drop)
            });
            calls.spawn(asked);
        }
        let mut refused = 0;
        let most = async {
            while refused < 16 {
                let answer = calls.join_next().await.unwrap().unwrap().unwrap();
                refused += usize::from(
                    answer.is_err_and(|status| status.code() == Code::ResourceExhausted),
                );
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(5) * slowness(), most).await;
        assert!(in_time.is_ok(), "{refused} of 20 were refused at once");
        away.shutdown_background();
        until_given_back(server, 16 * MIB, 200 * MIB).await;
    });
}

/// Nobody had tried: frames without end over twenty streams on which only the latest counts.
#[test]
fn floods_of_frames_that_are_overtaken_hold_nobody_up() {
    row("20 floods of frames", Bounds::default(), async |server| {
        with_cube(server).await;
        let away = cut_off();
        for _ in 0..20 {
            let address = server.address;
            away.spawn(async move { flood(&Client::to(address).await).await });
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        away.shutdown_background();
    });
}
