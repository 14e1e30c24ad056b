//! What much is of each method: calls that ask for more memory than their bytes tell, several at a
//! time.

use std::future::Future;

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use clearance_proto::upload_polytope_request::Part;
use tokio_stream::StreamExt;

use crate::bodies::torus;
use crate::compounds::close_combs;
use crate::questions::{about_a_hull, ball, cube, many_moving, of_points, register, registered};
use crate::robots::{of_rods, of_states, robot_ids};
use crate::server::{Client, Server};
use crate::strikes::{configurations, depths, frame, pile, rays};

/// So many calls are made at a time.
const AT_A_TIME: u32 = 6;

/// Points of large bodies, which are built for a call.
const POINTS: u32 = 4_000;

/// Asks the method for much; says whether anybody knows what that is.
pub(crate) async fn ask(server: &Server, method: &str) -> bool {
    let client = &server.connect().await;
    let (service, name) = method.split_once('/').unwrap();
    match service {
        "PolytopeService" => ask_of_polytopes(server, client, name).await,
        "QueryService" => ask_query(server, client, name).await,
        "RobotService" => ask_of_robots(server, client, name).await,
        "SessionService" => ask_session(server, client, name).await,
        "ServerService" => ask_server(server, name).await,
        _ => false,
    }
}

/// Makes a call on connections of their own, all at a time; what the server says does not matter.
async fn at_once<F: Future<Output = ()> + Send + 'static>(
    server: &Server,
    call: impl Fn(Client, u32) -> F,
) -> bool {
    let mut calls = tokio::task::JoinSet::new();
    for k in 0..AT_A_TIME {
        calls.spawn(call(server.connect().await, k));
    }
    while calls.join_next().await.is_some() {}
    true
}

fn specs(points: u32, count: u32) -> Vec<api::PolytopeSpec> {
    let spec = |k| {
        let xyz = ball(points + k);
        let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz }));
        api::PolytopeSpec { source, alias: format!("ball-{points}-{k}"), ..Default::default() }
    };
    (0..count).map(spec).collect()
}

async fn ask_of_polytopes(server: &Server, client: &Client, name: &str) -> bool {
    match name {
        "RegisterPolytopes" | "DeletePolytope" => {
            at_once(server, |client, k| async move {
                let polytopes = specs(POINTS + 100 * k, 3);
                let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
                let Ok(reply) = client.polytopes().register_polytopes(request).await else {
                    return;
                };
                for report in reply.into_inner().reports {
                    let id = report.polytope.unwrap_or_default().id;
                    let key = Some(api::delete_polytope_request::Key::Id(id));
                    let request = api::DeletePolytopeRequest { key, ..Default::default() };
                    drop(client.polytopes().delete_polytope(request).await);
                }
            })
            .await
        }
        "UploadPolytope" => {
            at_once(server, |client, _| async move {
                let header = api::UploadHeader { content: 1, ..Default::default() };
                let chunks = (0..40).map(|_| Part::Chunk(vec![0; 1 << 20].into()));
                let parts = std::iter::once(Part::Header(header)).chain(chunks);
                let parts = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
                let sent = tokio_stream::iter(parts.collect::<Vec<_>>());
                drop(client.polytopes().upload_polytope(sent).await);
            })
            .await
        }
        "DecomposeMesh" => {
            let source = Some(api::polytope_spec::Source::Mesh(torus(60, 40)));
            let treatment = api::MeshTreatment::Surface.into();
            let alias = "ring".to_owned();
            let ring = api::PolytopeSpec { source, treatment, alias, ..Default::default() };
            let request =
                api::RegisterPolytopesRequest { polytopes: vec![ring], validate_only: false };
            drop(client.polytopes().register_polytopes(request).await);
            at_once(server, |client, k| async move {
                let mesh = Some(api::decompose_mesh_request::Mesh::Alias("ring".to_owned()));
                let request = api::DecomposeMeshRequest { mesh, gap_max: None, pieces_max: 2 + k };
                let Ok(replies) = client.polytopes().decompose_mesh(request).await else { return };
                let mut replies = replies.into_inner();
                while let Ok(Some(_)) = replies.message().await {}
            })
            .await
        }
        "GetPolytope" => {
            register(client, "large", ball(4 * POINTS)).await;
            at_once(server, |client, _| async move {
                for _ in 0..8 {
                    let key = Some(api::get_polytope_request::Key::Alias("large".to_owned()));
                    let request = api::GetPolytopeRequest {
                        key,
                        with_vertices: true,
                        with_facets: true,
                        reply_bytes_max: u64::MAX,
                        ..Default::default()
                    };
                    drop(client.polytopes().get_polytope(request).await);
                }
            })
            .await
        }
        "ListPolytopes" | "FindMissingPolytopes" => {
            for k in 0..10 {
                let polytopes = specs(8 + 20 * k, 20);
                let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
                drop(client.polytopes().register_polytopes(request).await);
            }
            let is_list = name == "ListPolytopes";
            at_once(server, move |client, _| async move {
                let list = api::ListPolytopesRequest { page_size: 1_000, ..Default::default() };
                let ids = vec![format!("p1-{:064x}", 7); 10_000];
                let missing = api::FindMissingPolytopesRequest { ids };
                for _ in 0..10 {
                    if is_list {
                        drop(client.polytopes().list_polytopes(list.clone()).await);
                    } else {
                        drop(client.polytopes().find_missing_polytopes(missing.clone()).await);
                    }
                }
            })
            .await
        }
        _ => false,
    }
}

/// A batch of this question, so often.
fn batch(question: api::batch_query_item::Question, count: usize) -> api::BatchQueryRequest {
    let item = api::BatchQueryItem { question: Some(question) };
    api::BatchQueryRequest { items: vec![item; count] }
}

async fn ask_query(server: &Server, client: &Client, name: &str) -> bool {
    register(client, "ball", ball(POINTS)).await;
    let (p, q) = (of_points(ball(POINTS)), of_points(ball(POINTS - 1)));
    let name = name.to_owned();
    let known = [
        "CheckCollision",
        "MeasureDistance",
        "MeasureDistanceAlong",
        "MeasurePenetration",
        "FindFirstContact",
        "FindFirstCollision",
        "BatchQuery",
        "VerifyCertificate",
    ];
    if !known.contains(&name.as_str()) {
        return false;
    }
    at_once(server, move |client, _| {
        let (p, q, name) = (p.clone(), q.clone(), name.clone());
        let mut queries = client.queries();
        let along = Some(api::Vector3 { x: 1.0, y: 0.5, z: 0.0 });
        async move {
            match name.as_str() {
                "CheckCollision" => drop(queries.check_collision(about_a_hull(4 * POINTS)).await),
                "MeasureDistance" => {
                    let asked = api::MeasureDistanceRequest { p, q, ..Default::default() };
                    drop(queries.measure_distance(asked).await);
                }
                "MeasureDistanceAlong" => {
                    let direction = along;
                    let asked =
                        api::MeasureDistanceAlongRequest { p, q, direction, ..Default::default() };
                    drop(queries.measure_distance_along(asked).await);
                }
                "MeasurePenetration" => {
                    let (p, q) = (registered("ball", 0.0), registered("ball", 0.1));
                    let with_surface = true;
                    let asked =
                        api::MeasurePenetrationRequest { p, q, with_surface, ..Default::default() };
                    drop(queries.measure_penetration(asked).await);
                }
                "FindFirstContact" => {
                    let kind = api::motion::Kind::Linear(api::LinearMotion { velocity: along });
                    let p_motion = Some(api::Motion { kind: Some(kind) });
                    let asked =
                        api::FindFirstContactRequest { p, q, p_motion, ..Default::default() };
                    drop(queries.find_first_contact(asked).await);
                }
                "FindFirstCollision" => {
                    drop(queries.find_first_collision(many_moving("ball", 20)).await);
                }
                "BatchQuery" => drop(queries.batch_query(depths()).await),
                _ => {
                    let asked = api::CheckCollisionRequest { p, q, ..Default::default() };
                    let request =
                        api::CollisionClaim { question: Some(asked), ..Default::default() };
                    let claim = Some(api::verify_certificate_request::Claim::Collision(request));
                    let asked = api::VerifyCertificateRequest { claim };
                    drop(queries.verify_certificate(asked).await);
                }
            }
        }
    })
    .await
        && batch_is_small(client).await
}

/// What is asked in small is answered still.
async fn batch_is_small(client: &Client) -> bool {
    let (p, q) = (of_points(cube(0.0)), of_points(cube(3.0)));
    let asked = api::CheckCollisionRequest { p, q, ..Default::default() };
    let asked = batch(api::batch_query_item::Question::CheckCollision(asked), 2);
    client.queries().batch_query(asked).await.is_ok()
}

async fn ask_of_robots(server: &Server, client: &Client, name: &str) -> bool {
    match name {
        "RegisterRobot" => {
            at_once(server, |client, k| async move {
                for validate_only in [true, false] {
                    let request =
                        api::RegisterRobotRequest { validate_only, ..of_rods(100 + k, 1e-12) };
                    drop(client.robots().register_robot(request).await);
                    let request = of_states(2 * k + u32::from(validate_only), 20_000);
                    drop(client.robots().register_robot(request).await);
                }
            })
            .await
        }
        "UploadRobot" => {
            at_once(server, |client, _| async move {
                use api::upload_robot_request::Part;
                let robot = Part::Robot(of_states(1, 10));
                let chunks = (0..40).map(|_| Part::Chunk(vec![0; 1 << 20].into()));
                let parts = [robot, Part::File("a.stl".to_owned())].into_iter().chain(chunks);
                let parts = parts.map(|part| api::UploadRobotRequest { part: Some(part) });
                let sent = tokio_stream::iter(parts.collect::<Vec<_>>());
                drop(client.robots().upload_robot(sent).await);
            })
            .await
        }
        "GetRobot" | "ListRobots" | "DeleteRobot" | "FindMissingRobots" => {
            for k in 0..12 {
                drop(client.robots().register_robot(of_states(k, 10_000)).await);
            }
            let (ids, name) = (robot_ids(client).await, name.to_owned());
            at_once(server, move |client, _| {
                let (ids, name) = (ids.clone(), name.clone());
                async move {
                    let mut robots = client.robots();
                    for id in ids {
                        let allow_missing = true;
                        let list =
                            api::ListRobotsRequest { page_size: 1_000, ..Default::default() };
                        match name.as_str() {
                            "GetRobot" => {
                                drop(robots.get_robot(api::GetRobotRequest { id }).await);
                            }
                            "ListRobots" => drop(robots.list_robots(list).await),
                            "FindMissingRobots" => {
                                let request =
                                    api::FindMissingRobotsRequest { ids: vec![id; 10_000] };
                                drop(robots.find_missing_robots(request).await);
                            }
                            _ => {
                                let request = api::DeleteRobotRequest {
                                    id,
                                    allow_missing,
                                    ..Default::default()
                                };
                                drop(robots.delete_robot(request).await);
                            }
                        }
                    }
                }
            })
            .await
        }
        "CheckConfigurations"
        | "StreamConfigurations"
        | "CheckEdges"
        | "StreamEdges"
        | "SuggestAllowedPairs"
        | "CheckPath" => {
            let Some(check) = configurations(client, 20_000).await else { return true };
            let name = name.to_owned();
            at_once(server, move |client, _| ask_cell(client, name.clone(), check.clone())).await
        }
        _ => false,
    }
}

async fn ask_cell(client: Client, name: String, check: api::CheckConfigurationsRequest) {
    let (mut robots, cell) = (client.robots(), check.cell.clone());
    let values = |from: usize| check.values[from..from + 800].to_vec();
    match name.as_str() {
        "SuggestAllowedPairs" => {
            let robot = cell.and_then(|cell| cell.robots.into_iter().next());
            let robot_id = robot.map_or_else(String::new, |robot| robot.robot_id);
            let samples = 200_000;
            let request =
                api::SuggestAllowedPairsRequest { robot_id, samples, ..Default::default() };
            drop(robots.suggest_allowed_pairs(request).await);
        }
        "CheckConfigurations" => drop(robots.check_configurations(check).await),
        "StreamConfigurations" => {
            let request =
                api::StreamConfigurationsRequest { check: Some(check), ..Default::default() };
            let sent = tokio_stream::iter(vec![request; 4]);
            let Ok(answers) = robots.stream_configurations(sent).await else { return };
            let mut answers = answers.into_inner();
            while let Some(Ok(_)) = answers.next().await {}
        }
        "CheckEdges" | "StreamEdges" => {
            let (starts, ends) = (values(0), values(1));
            let request = api::CheckEdgesRequest {
                cell,
                starts,
                ends,
                certificate: true,
                ..Default::default()
            };
            if name == "CheckEdges" {
                return drop(robots.check_edges(request).await);
            }
            let request = api::StreamEdgesRequest { check: Some(request), ..Default::default() };
            let sent = tokio_stream::iter(vec![request; 4]);
            let Ok(answers) = robots.stream_edges(sent).await else { return };
            let mut answers = answers.into_inner();
            while let Some(Ok(_)) = answers.next().await {}
        }
        _ => {
            let waypoints = values(0);
            let (certificate, all_edges) = (true, true);
            let request = api::CheckPathRequest {
                cell,
                waypoints,
                certificate,
                all_edges,
                ..Default::default()
            };
            drop(robots.check_path(request).await);
        }
    }
}

/// All pairs of a pile, as messages.
fn listed(count: u32) -> api::OpenSessionRequest {
    let idle_timeout = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    api::OpenSessionRequest { idle_timeout, ..pile(count) }
}

async fn ask_session(server: &Server, client: &Client, name: &str) -> bool {
    register(client, "cube", cube(0.0)).await;
    match name {
        "OpenSession" | "StreamSession" => {
            let is_stream = name == "StreamSession";
            at_once(server, move |client, k| async move {
                let request = if k % 3 == 2 { listed(150) } else { close_combs(4 + k, 100) };
                let mut sessions = client.sessions();
                if !is_stream {
                    drop(sessions.open_session(request).await);
                    return;
                }
                let start = Some(Start::Open(Box::new(request)));
                let first = api::StreamSessionRequest { start, ..Default::default() };
                let frames = (1..4).map(|id| api::StreamSessionRequest {
                    frame: Some(Box::new(frame(id, 0..4, 0.0))),
                    ..Default::default()
                });
                let sent =
                    tokio_stream::iter(std::iter::once(first).chain(frames).collect::<Vec<_>>());
                let Ok(replies) = sessions.stream_session(sent).await else { return };
                let mut replies = replies.into_inner();
                while let Some(Ok(_)) = replies.next().await {}
            })
            .await
        }
        "StepSession" | "GetSession" | "WatchSession" | "QueryScene" | "ListSessions"
        | "CloseSession" => {
            let name = name.to_owned();
            at_once(server, move |client, _| ask_opened(client, name.clone())).await
        }
        _ => false,
    }
}

async fn ask_opened(client: Client, name: String) {
    let mut sessions = client.sessions();
    let Ok(opened) = sessions.open_session(listed(150)).await else { return };
    let session_id = opened.into_inner().session_id;
    match name.as_str() {
        "StepSession" => {
            let frames = (1..9).map(|id| frame(id, 0..150, 1e-4 * id as f64)).collect();
            let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
            drop(sessions.step_session(request).await);
        }
        "GetSession" => {
            for _ in 0..20 {
                let session_id = session_id.clone();
                let request = api::GetSessionRequest { session_id, ..Default::default() };
                drop(sessions.get_session(request).await);
            }
        }
        "WatchSession" => {
            let watch =
                api::WatchSessionRequest { session_id: session_id.clone(), ..Default::default() };
            let watching = sessions.watch_session(watch).await;
            let frames = (1..9).map(|id| frame(id, 0..150, 1e-4 * id as f64)).collect();
            let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
            drop(sessions.step_session(request).await);
            drop(watching);
        }
        "QueryScene" => {
            let (packed_rays, hits) = (Some(rays(20_000)), api::HitSelection::All.into());
            let request =
                api::QuerySceneRequest { session_id, packed_rays, hits, ..Default::default() };
            drop(sessions.query_scene(request).await);
        }
        "ListSessions" => {
            for _ in 0..20 {
                let request = api::ListSessionsRequest { page_size: 1_000, ..Default::default() };
                drop(sessions.list_sessions(request).await);
            }
        }
        _ => {
            let request = api::CloseSessionRequest { session_id, ..Default::default() };
            drop(sessions.close_session(request).await);
        }
    }
}

async fn ask_server(server: &Server, name: &str) -> bool {
    let is_info = name == "GetServerInfo";
    if !is_info && name != "GetServerMetrics" {
        return false;
    }
    at_once(server, move |client, _| async move {
        for _ in 0..100 {
            if is_info {
                drop(client.info().get_server_info(api::GetServerInfoRequest {}).await);
            } else {
                drop(client.info().get_server_metrics(api::GetServerMetricsRequest {}).await);
            }
        }
    })
    .await
}
