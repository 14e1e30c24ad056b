//! What numbers beside a registration count, and what they say of a mesh.

use api::polytope_spec::Source;
use clearance_proto as api;
use tonic::Code;

use crate::robots::{cell_of, check as configurations, robots};
use crate::server::{Server, body, check, cube, vector, wedge, with_cube};
use crate::sessions::scene;

fn request(mesh: &api::Mesh, treatment: api::MeshTreatment) -> api::RegisterPolytopesRequest {
    let spec = api::PolytopeSpec {
        source: Some(Source::Mesh(mesh.clone())),
        treatment: treatment.into(),
        ..Default::default()
    };
    api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false }
}

async fn report(server: &Server, mesh: &api::Mesh) -> api::RegistrationReport {
    let request = request(mesh, api::MeshTreatment::Hull);
    server.polytopes().register_polytopes(request).await.unwrap().into_inner().reports.remove(0)
}

/// A mesh of quadrilaterals.
fn mesh(xyz: Vec<f64>, quads: &[[u32; 4]]) -> api::Mesh {
    let triangles = quads.iter().flat_map(|[a, b, c, d]| [*a, *b, *c, *a, *c, *d]).collect();
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

const SIDES: [[u32; 4]; 6] =
    [[0, 2, 3, 1], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6]];

/// Of a mesh: 10 were counted, with the corner that comes twice and the point that nobody names.
#[tokio::test]
async fn points_given_of_a_mesh_are_distinct_and_named() {
    let server = Server::start().await;
    let mut xyz = cube();
    xyz.extend([1.0, 0.0, 0.0]);
    // Inside, and named by no triangle.
    xyz.extend([0.5, 0.5, 0.5]);
    let told = report(&server, &mesh(xyz, &SIDES)).await;
    assert!(told.input_was_convex, "{told:?}");
    assert_eq!((told.points_given, told.points_dropped), (8, 0));
    assert_eq!(told.vertex_of_given, [0, 4, 2, 6, 1, 5, 3, 7, 4, -1]);
    assert_eq!(told.polytope.unwrap().vertex_count, 8);
}

/// A body that has a shape twice counted twice.
#[tokio::test]
async fn uses_count_bodies_and_not_their_parts() {
    let server = with_cube().await;
    let mut open = scene("s");
    open.state.as_mut().unwrap().bodies = vec![
        api::Body {
            id: Some(1),
            parts: vec![body("cube", 0.0), body("cube", 5.0)],
            ..Default::default()
        },
        api::Body { id: Some(2), parts: vec![body("cube", 9.0)], ..Default::default() },
    ];
    server.sessions().open_session(open).await.unwrap();
    let key = Some(api::get_polytope_request::Key::Alias("cube".to_owned()));
    let asked = api::GetPolytopeRequest { key, ..Default::default() };
    let got = server.polytopes().get_polytope(asked).await.unwrap().into_inner();
    assert_eq!(got.polytope.unwrap().use_count, 2);
}

/// A bin of sheets, each drawn from both sides, was convex, with a gap of 0: a cube in its middle
/// overlapped it, and nothing was said. Of its hull by its id no gap is known; 0 was told.
#[tokio::test]
async fn a_bin_of_double_sheets_is_not_convex_and_its_hull_by_id_has_no_gap() {
    let server = Server::start().await;
    let size = [0.6, 0.4, 0.3];
    let xyz = cube().chunks(3).flat_map(|p| [0, 1, 2].map(|k| p[k] * size[k])).collect();
    let walls = &SIDES[..5];
    let turned = walls.iter().map(|[a, b, c, d]| [*a, *d, *c, *b]);
    let quads: Vec<_> = walls.iter().copied().chain(turned).collect();
    let bin = mesh(xyz, &quads);
    let asked = request(&bin, api::MeshTreatment::Unspecified);
    let status = server.polytopes().register_polytopes(asked).await.unwrap_err();
    check(&status, Code::InvalidArgument, "NOT_CONVEX", "polytopes[0]");
    let told = report(&server, &bin).await;
    assert!(!told.input_was_convex && told.mesh_volume.unwrap().abs() < 1e-15, "{told:?}");
    // From the middle of the mouth to the nearer walls.
    assert!(told.convexity_gap_lower() <= 0.2 && 0.2 <= told.convexity_gap, "{told:?}");
    assert!(told.convexity_gap - told.convexity_gap_lower() <= 0.05 * 0.6, "{told:?}");

    let urdf = "<robot name='r'><link name='l'><collision><geometry><mesh filename='bin.stl'/>\
        </geometry></collision></link></robot>";
    let source = Some(api::robot_mesh::Source::Id(told.polytope.unwrap().id));
    let asked = api::RegisterRobotRequest {
        urdf: urdf.to_owned(),
        meshes: vec![api::RobotMesh { name: "bin.stl".to_owned(), source }],
        ..Default::default()
    };
    let robot = robots(&server).register_robot(asked).await.unwrap().into_inner().robot.unwrap();
    let part = &robot.parts[0];
    assert_eq!((part.gap, part.gap_lower, part.convex, part.closed), (None, None, None, None));
}

/// Questions to robots, scenes and judges were calls alone, in no row.
#[tokio::test]
async fn every_question_is_counted_in_a_row_of_its_own_with_what_became_of_it() {
    let server = with_cube().await;
    server.register("wedge", &wedge()).await;
    let urdf = "<robot name='r'><link name='a'/><link name='b'><collision><geometry>\
        <box size='1 1 1'/></geometry></collision></link><joint name='j' type='prismatic'>\
        <parent link='a'/><child link='b'/><axis xyz='1 0 0'/><limit lower='-9' upper='9'/></joint>\
        </robot>";
    let size = api::Vector3 { x: 1.0, y: 1.0, z: 1.0 };
    let pose = Some(api::Pose { translation: vector(3.0, 0.0, 0.0), orientation: None });
    let block = api::RobotObstacle {
        shape: Some(api::robot_obstacle::Shape::Box(size)),
        pose,
        ..Default::default()
    };
    let cell = cell_of(&server, urdf, vec![block]).await;
    let mut open = scene("s");
    open.state.as_mut().unwrap().bodies =
        vec![api::Body { id: Some(1), parts: vec![body("wedge", 0.0)], ..Default::default() }];
    server.sessions().open_session(open).await.unwrap();

    let asked = configurations(&cell, api::CheckMode::FirstPair, &[0.0, 1.0, 3.0]);
    robots(&server).check_configurations(asked.clone()).await.unwrap();
    let wrong = api::CheckConfigurationsRequest { cell: None, ..asked.clone() };
    robots(&server).check_configurations(wrong.clone()).await.unwrap_err();
    let streamed = [asked, wrong]
        .map(|check| api::StreamConfigurationsRequest { check: Some(check), ..Default::default() });
    let answers = robots(&server).stream_configurations(tokio_stream::iter(streamed)).await;
    let mut answers = answers.unwrap().into_inner();
    for _ in 0..2 {
        assert_eq!(answers.message().await.unwrap().unwrap().answer.unwrap().count, 3);
    }
    let edges = |cell: Option<api::RobotCell>| api::CheckEdgesRequest {
        cell,
        starts: vec![0.0, 0.0],
        ends: vec![1.0, 3.0],
        certificate: true,
        ..Default::default()
    };
    let asked = edges(Some(cell.clone()));
    let answer = robots(&server).check_edges(asked.clone()).await.unwrap().into_inner();
    robots(&server).check_edges(edges(None)).await.unwrap_err();
    let path = |cell: Option<api::RobotCell>| api::CheckPathRequest {
        cell,
        waypoints: vec![0.0, 1.0, 0.0],
        ..Default::default()
    };
    robots(&server).check_path(path(Some(cell))).await.unwrap();
    robots(&server).check_path(path(None)).await.unwrap_err();
    let claim = api::EdgesClaim { question: Some(asked), answer: Some(answer) };
    let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
    let asked = api::VerifyCertificateRequest { claim };
    assert!(server.queries().verify_certificate(asked).await.unwrap().into_inner().valid);
    let nothing = api::VerifyCertificateRequest::default();
    server.queries().verify_certificate(nothing).await.unwrap_err();
    let query = |id: &str, budget: Option<api::Budget>| api::QuerySceneRequest {
        session_id: id.to_owned(),
        packed_rays: Some(api::PackedRays {
            origins: vec![-5.0, 0.25, 0.25, 5.0, 0.25, 0.25].into(),
            displacements: vec![9.0, 0.0, 0.0, -9.0, 0.0, 0.0].into(),
            ..Default::default()
        }),
        budget,
        ..Default::default()
    };
    server.sessions().query_scene(query("s", None)).await.unwrap();
    server.sessions().query_scene(query("other", None)).await.unwrap_err();
    server
        .sessions()
        .query_scene(query("s", Some(api::Budget { steps: Some(1), ..Default::default() })))
        .await
        .unwrap();

    let request = api::GetServerMetricsRequest {};
    let metrics = server.info().get_server_metrics(request).await.unwrap().into_inner();
    let told: Vec<_> = metrics.questions.iter().skip(7).collect();
    let rows: Vec<_> = told
        .iter()
        .map(|row| (row.question.as_str(), [row.answered, row.stopped, row.refused, row.queries]))
        .collect();
    let wanted = [
        ("query_scene", [1, 1, 1, 4]),
        ("check_configurations", [3, 0, 1, 9]),
        ("check_edges", [1, 0, 1, 2]),
        ("check_path", [1, 0, 1, 2]),
        ("verify_certificate", [1, 0, 1, 1]),
    ];
    assert_eq!(rows, wanted);
    let kinds = metrics.questions.len();
    assert_eq!(kinds, 12, "a new kind of question needs its row here");
}

/// What stood in for a method outside sessions was not counted, and a cold distance of bodies that
/// overlap was told to come from memory.
#[tokio::test]
async fn what_answers_in_the_place_of_a_method_is_counted_outside_sessions_too() {
    let server = with_cube().await;
    let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let info = info.into_inner();
    let named = |method: &api::MethodInfo| {
        Some(api::QueryOptions { method: method.name.clone(), ..Default::default() })
    };
    for method in &info.methods {
        let asked = api::CheckCollisionRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 4.2)),
            options: named(method),
            ..Default::default()
        };
        let far = server.queries().check_collision(asked.clone()).await.unwrap().into_inner();
        let cost = far.cost.unwrap();
        let told = (cost.queries, cost.by_bounds, cost.witness_hits, cost.candidates);
        assert_eq!(told, (1, 1, 0, 0), "{}", method.name);
        let asked = api::CheckCollisionRequest { q: Some(body("cube", 0.5)), ..asked };
        let near = server.queries().check_collision(asked).await.unwrap().into_inner();
        let cost = near.cost.unwrap();
        assert_eq!((cost.queries, cost.witness_hits), (1, 0), "{}", method.name);
        assert!(cost.by_bounds == 1 || cost.steps > 0 || cost.handed_over == 1, "{cost:?}");
        assert!(cost.candidates == 0 || method.name == "hs_jump_plain", "{cost:?}");
    }
    for method in &info.distance_methods {
        for (x, verdict) in [(0.5, api::Verdict::Overlapping), (4.2, api::Verdict::Separated)] {
            let asked = api::MeasureDistanceRequest {
                p: Some(body("cube", 0.0)),
                q: Some(body("cube", x)),
                options: named(method),
                ..Default::default()
            };
            let answer = server.queries().measure_distance(asked).await.unwrap().into_inner();
            let cost = answer.cost.unwrap();
            assert_eq!((answer.verdict, cost.witness_hits), (verdict.into(), 0), "{}", method.name);
            if verdict == api::Verdict::Overlapping {
                assert!(cost.handed_over > 0, "{}: {cost:?}", method.name);
            }
        }
    }
    let spec = api::PolytopeSpec {
        source: Some(Source::Mesh(mesh(cube(), &SIDES))),
        treatment: api::MeshTreatment::Polyhedron.into(),
        alias: "solid".to_owned(),
        ..Default::default()
    };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    server.polytopes().register_polytopes(request).await.unwrap();
    for (x, by_bounds) in [(4.2, 1), (0.5, 0)] {
        let asked = api::CheckCollisionRequest {
            p: Some(body("solid", 0.0)),
            q: Some(body("solid", x)),
            ..Default::default()
        };
        let answer = server.queries().check_collision(asked).await.unwrap().into_inner();
        assert_eq!(answer.cost.unwrap().by_bounds, by_bounds);
    }
}
