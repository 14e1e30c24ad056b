//! What numbers beside a registration count, and what they say of a mesh.

use api::polytope_spec::Source;
use clearance_proto as api;
use tonic::Code;

use crate::robots::robots;
use crate::server::{Server, body, check, cube, with_cube};
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

/// Points that come twice and points that nobody names are given, too; a vertex is none of them.
#[tokio::test]
async fn points_given_are_all_that_were_given_and_dropped_are_those_that_are_no_vertices() {
    let server = Server::start().await;
    let mut xyz = cube();
    xyz.extend([1.0, 0.0, 0.0]);
    // Inside, and named by no triangle.
    xyz.extend([0.5, 0.5, 0.5]);
    let told = report(&server, &mesh(xyz, &SIDES)).await;
    assert!(told.input_was_convex, "{told:?}");
    assert_eq!((told.points_given, told.points_dropped), (10, 2));
    assert_eq!(told.vertex_of_given, [0, 4, 2, 6, 1, 5, 3, 7, 4, -1]);
    assert_eq!(told.polytope.unwrap().vertex_count, 8);
}

/// Not bodies: a body that has a shape twice counts twice.
#[tokio::test]
async fn uses_count_the_parts_of_bodies() {
    let server = with_cube().await;
    let mut open = scene("s");
    open.state.as_mut().unwrap().bodies = vec![
        api::Body {
            id: 1,
            parts: vec![body("cube", 0.0), body("cube", 5.0)],
            ..Default::default()
        },
        api::Body { id: 2, parts: vec![body("cube", 9.0)], ..Default::default() },
    ];
    server.sessions().open_session(open).await.unwrap();
    let key = Some(api::get_polytope_request::Key::Alias("cube".to_owned()));
    let asked = api::GetPolytopeRequest { key, ..Default::default() };
    let got = server.polytopes().get_polytope(asked).await.unwrap().into_inner();
    assert_eq!(got.polytope.unwrap().use_count, 3);
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
