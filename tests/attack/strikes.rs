//! What attackers send when everything is sent at once: each strike is one call or stream, and what
//! the server says to it does not matter, only that it lives.

use std::time::Duration;

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use clearance_proto::upload_polytope_request::Part;
use tokio_stream::StreamExt;

use crate::questions::{about_a_hull, ball, cube, exhaustive, of_points, registered, turning};
use crate::server::Client;

/// How many kinds there are.
const KINDS: u64 = 16;

/// One attack of a kind.
pub(crate) async fn strike(client: Client, kind: u64) {
    match kind % KINDS {
        0 => drop(client.queries().check_collision(exhaustive("ball")).await),
        1 => drop(client.queries().find_first_contact(turning()).await),
        2 => drop(client.queries().check_collision(about_a_hull(20_000)).await),
        3 => {
            let items = vec![api::BatchQueryItem::default(); 1_000_000];
            drop(client.queries().batch_query(api::BatchQueryRequest { items }).await);
        }
        4 => register_and_delete(&client).await,
        5 => upload(&client).await,
        6 | 7 => drop(client.sessions().open_session(compounds()).await),
        8 => refused_items(&client).await,
        9 => never_reads(&client).await,
        10 => drop(client.queries().batch_query(depths()).await),
        11 => step_a_busy_session(&client).await,
        12 => ask_a_pile(&client).await,
        13 => check_configurations(&client).await,
        14 => flood(&client).await,
        _ => untaken(&client).await,
    }
}

/// A session that is opened for an attack, and closed soon if its client is not there to do so.
pub(crate) fn session(bodies: Vec<api::Body>) -> api::OpenSessionRequest {
    api::OpenSessionRequest {
        state: Some(api::SessionState { bodies, ..Default::default() }),
        idle_timeout: Some(prost_types::Duration { seconds: 2, nanos: 0 }),
        ..Default::default()
    }
}

/// A body of a registered polytope.
pub(crate) fn body(id: u32, alias: &str, x: f64) -> api::Body {
    let parts = vec![registered(alias, x).unwrap()];
    api::Body { id: Some(id), parts, ..Default::default() }
}

/// A frame that says where some bodies are, along x.
pub(crate) fn frame(frame_id: u64, ids: impl Iterator<Item = u32>, x: f64) -> api::Frame {
    let ids: Vec<u32> = ids.collect();
    let translations = ids.iter().flat_map(|id| [x + f64::from(*id) * 1e-3, 0.0, 0.0]).collect();
    let packed = api::PackedPoses { ids: ids.into(), translations, ..Default::default() };
    api::Frame { frame_id, packed_poses: Some(packed), ..Default::default() }
}

/// Bodies of very many parts in one place.
fn compounds() -> api::OpenSessionRequest {
    let parts: Vec<_> = (0..64).map(|k| registered("ball", f64::from(k) / 8.0).unwrap()).collect();
    let bodies = (0..10)
        .map(|id| api::Body { id: Some(id), parts: parts.clone(), ..Default::default() })
        .collect();
    let report = api::ReportOptions { certificates: true, distances: true, ..Default::default() };
    api::OpenSessionRequest { report: Some(report), ..session(bodies) }
}

/// Balls of 50,000 points, one after the other.
async fn register_and_delete(client: &Client) {
    for more in 0..10 {
        let source =
            Some(api::polytope_spec::Source::Vertices(api::Points { xyz: ball(50_000 + more) }));
        let polytopes = vec![api::PolytopeSpec { source, ..Default::default() }];
        let request = api::RegisterPolytopesRequest { polytopes, validate_only: more % 2 == 0 };
        let Ok(reply) = client.polytopes().register_polytopes(request).await else { return };
        let report = reply.into_inner().reports.remove(0);
        let id = report.polytope.map_or_else(String::new, |polytope| polytope.id);
        let key = Some(api::delete_polytope_request::Key::Id(id));
        let request = api::DeletePolytopeRequest { key, ..Default::default() };
        drop(client.polytopes().delete_polytope(request).await);
    }
}

/// An upload of 200 MiB that does not end.
async fn upload(client: &Client) {
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let parts = std::iter::once(Part::Header(header))
        .chain((0..200).map(|_| Part::Chunk(vec![0; 1 << 20].into())));
    let parts = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
    let endless = tokio_stream::iter(parts).chain(tokio_stream::pending());
    drop(client.polytopes().upload_polytope(endless).await);
}

/// Poses of bodies that are not there.
async fn refused_items(client: &Client) {
    let Ok(opened) = client.sessions().open_session(session(Vec::new())).await else { return };
    let session_id = opened.into_inner().session_id;
    let frames = vec![frame(1, 0..20_000, 0.0)];
    let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
    drop(client.sessions().step_session(request).await);
}

/// A session of 300 cubes in one place whose large reports nobody reads.
pub(crate) fn pile(count: u32) -> api::OpenSessionRequest {
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        closest_points: true,
        ..Default::default()
    };
    let bodies = (0..count).map(|id| body(id, "cube", f64::from(id) * 1e-3)).collect();
    api::OpenSessionRequest { report: Some(report), ..session(bodies) }
}

/// A stream that sends frames and takes no reply.
pub(crate) async fn never_reads(client: &Client) {
    let first = api::StreamSessionRequest {
        start: Some(Start::Open(Box::new(pile(300)))),
        ..Default::default()
    };
    let frames = (1..50).map(|id| api::StreamSessionRequest {
        frame: Some(Box::new(frame(id, 0..300, 0.0))),
        ..Default::default()
    });
    let sent = tokio_stream::iter(std::iter::once(first).chain(frames));
    let sent = sent.chain(tokio_stream::pending());
    let Ok(_replies) = client.sessions().stream_session(sent).await else { return };
    std::future::pending::<()>().await;
}

/// Depths of large balls with the proof of each.
pub(crate) fn depths() -> api::BatchQueryRequest {
    let depth = api::MeasurePenetrationRequest {
        p: registered("ball", 0.0),
        q: registered("ball", 0.1),
        with_surface: true,
        ..Default::default()
    };
    let question = Some(api::batch_query_item::Question::MeasurePenetration(depth));
    api::BatchQueryRequest { items: vec![api::BatchQueryItem { question }; 1_000] }
}

/// Large frames for a session that has its hands full.
async fn step_a_busy_session(client: &Client) {
    let Ok(opened) = client.sessions().open_session(pile(300)).await else { return };
    let session_id = opened.into_inner().session_id;
    let mut calls = tokio::task::JoinSet::new();
    for k in 0..8 {
        let (mut sessions, session_id) = (client.sessions(), session_id.clone());
        calls.spawn(async move {
            let frames = (1..100).map(|id| frame(1_000 * k + id, 0..1_000, 0.0)).collect();
            let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
            drop(sessions.step_session(request).await);
        });
    }
    calls.join_all().await;
}

/// Rays, and what lies near, for a pile of bodies, without a deadline.
async fn ask_a_pile(client: &Client) {
    let Ok(opened) = client.sessions().open_session(pile(300)).await else { return };
    let session_id = opened.into_inner().session_id;
    let packed_rays = Some(rays(20_000));
    let hits = api::HitSelection::All.into();
    let request = api::QuerySceneRequest { session_id, packed_rays, hits, ..Default::default() };
    drop(client.sessions().query_scene(request).await);
}

/// Rays along x through all that is near the origin.
pub(crate) fn rays(count: u32) -> api::PackedRays {
    let origin = |k: u32| [-5.0, 0.5 + f64::from(k % 100) * 1e-3, 0.5];
    api::PackedRays {
        origins: (0..count).flat_map(origin).collect(),
        displacements: (0..count).flat_map(|_| [40.0, 1e-3, 0.0]).collect(),
        ..Default::default()
    }
}

/// A cart on a rail.
pub(crate) const SLIDER: &str = r#"<robot name="slider"><link name="rail"/><link name="cart">
  <collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;

/// As many configurations of a cart among obstacles as a message may have, with all that can be
/// asked of each.
pub(crate) async fn configurations(
    client: &Client,
    count: u32,
) -> Option<api::CheckConfigurationsRequest> {
    let request = api::RegisterRobotRequest { urdf: SLIDER.to_owned(), ..Default::default() };
    let registered = client.robots().register_robot(request).await.ok()?.into_inner();
    let size = api::Vector3 { x: 1.0, y: 2.0, z: 2.0 };
    let obstacle = |k: u32| api::RobotObstacle {
        shape: Some(api::robot_obstacle::Shape::Box(size)),
        pose: Some(api::Pose {
            translation: Some(api::Vector3 { x: f64::from(k % 20), y: f64::from(k / 20), z: 0.0 }),
            orientation: None,
        }),
        ..Default::default()
    };
    let robot_id = registered.robot?.id;
    Some(api::CheckConfigurationsRequest {
        cell: Some(api::RobotCell {
            robots: vec![api::RobotInstance { robot_id, base: None, ..Default::default() }],
            obstacles: (0..100).map(obstacle).collect(),
            ..Default::default()
        }),
        mode: api::CheckMode::LinkClearance.into(),
        values: (0..count).map(|k| f64::from(k % 1_000) / 100.0).collect(),
        with_gradient: true,
        report_limits: true,
        reply_bytes_max: u64::MAX,
        ..Default::default()
    })
}

async fn check_configurations(client: &Client) {
    let Some(request) = configurations(client, 100_000).await else { return };
    drop(client.robots().check_configurations(request).await);
}

/// Frames without end for a stream on which only the latest counts.
pub(crate) async fn flood(client: &Client) {
    let open =
        Some(Start::Open(Box::new(session((0..20).map(|id| body(id, "cube", 0.0)).collect()))));
    let first = api::StreamSessionRequest { start: open, latest_wins: true, ..Default::default() };
    let frames = (1..).map(|id| api::StreamSessionRequest {
        frame: Some(Box::new(frame(id, 0..20, (id % 7) as f64))),
        ..Default::default()
    });
    let sent = tokio_stream::iter(std::iter::once(first).chain(frames));
    let Ok(replies) = client.sessions().stream_session(sent).await else { return };
    let mut replies = replies.into_inner();
    while let Some(Ok(_)) = replies.next().await {}
}

/// Large replies that nobody takes, for a while.
async fn untaken(client: &Client) {
    let (p, q) = (of_points(ball(500)), of_points(cube(3.0)));
    let ask = api::CheckCollisionRequest { p, q, ..Default::default() };
    let question = Some(api::batch_query_item::Question::CheckCollision(ask));
    let items = vec![api::BatchQueryItem { question }; 100];
    drop(client.queries().batch_query(api::BatchQueryRequest { items }).await);
    tokio::time::sleep(Duration::from_millis(200)).await;
}
