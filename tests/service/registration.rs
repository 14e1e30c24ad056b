//! Registering refuses or reports: nothing that was given is silently left out or replaced.

use std::collections::BTreeSet;

use api::polytope_spec::Source;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use tokio_stream::iter;
use tonic::{Code, Status};

use crate::server::{Server, check, cube, spec};

async fn register(
    server: &Server,
    spec: api::PolytopeSpec,
) -> Result<api::RegistrationReport, Status> {
    // Behind another one, so that the path has to say which.
    let polytopes = vec![crate::server::spec("", &[7.0, 7.0, 7.0]), spec];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let reply = server.polytopes().register_polytopes(request).await?;
    Ok(reply.into_inner().reports.remove(1))
}

async fn description(server: &Server, id: &str) -> api::GetPolytopeResponse {
    let key = Some(api::get_polytope_request::Key::Id(id.to_owned()));
    let request = api::GetPolytopeRequest {
        key,
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: u64::MAX,
        ..Default::default()
    };
    server.polytopes().get_polytope(request).await.unwrap().into_inner()
}

type Point = [f64; 3];

/// The three products of a plane's normal; small whole numbers, so exact.
fn normal(a: Point, b: Point, c: Point) -> Point {
    let (u, v): (Point, Point) =
        (std::array::from_fn(|k| b[k] - a[k]), std::array::from_fn(|k| c[k] - a[k]));
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        u[i] * v[j] - u[j] * v[i]
    })
}

fn dot(a: Point, b: Point) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

/// Whether `point` is a vertex of the solid that these points span: the planes through it and two
/// others that have all points on one side have it alone in common.
fn is_extreme(point: Point, distinct: &[Point]) -> bool {
    let mut normals: Vec<Point> = Vec::new();
    for (index, &a) in distinct.iter().enumerate() {
        for &b in &distinct[index + 1..] {
            let n = normal(point, a, b);
            let sides = |x: &Point| dot(n, std::array::from_fn(|k| x[k] - point[k]));
            let (below, above) =
                (distinct.iter().any(|x| sides(x) < 0.0), distinct.iter().any(|x| sides(x) > 0.0));
            if below != above {
                normals.push(n);
            }
        }
    }
    let spans = |a: &Point, b: &Point, c: &Point| dot(*a, normal([0.0; 3], *b, *c)) != 0.0;
    normals.iter().any(|a| normals.iter().any(|b| normals.iter().any(|c| spans(a, b, c))))
}

#[tokio::test]
async fn every_given_point_comes_back_as_its_vertex_or_as_none() {
    let server = Server::start().await;
    let random = &mut Random::new(31);
    let (mut duplicates, mut inside, mut convex) = (0, 0, 0);
    for round in 0..40 {
        // Few whole numbers, so that points coincide, lie on edges and faces, and inside.
        let reach = if round % 4 == 0 { 1 } else { 3 };
        let coordinate = |random: &mut Random| {
            let number = random.below(2 * reach + 1) as f64 - reach as f64;
            // Half of the zeros are below zero.
            if number == 0.0 && random.below(2) == 0 { -0.0 } else { number }
        };
        let mut given: Vec<Point> = [[-4.0, 0.0, 1.0], [1.0, -4.0, 0.0], [0.0, 1.0, -4.0]].into();
        if round % 5 > 0 {
            let more = 1 + random.below(12);
            given.extend((0..more).map(|_| std::array::from_fn(|_| coordinate(random))));
        }
        given.push([4.0, 4.0, 4.0]);
        let distinct: Vec<Point> = given
            .iter()
            .map(|point| point.map(|c| (c + 0.0).to_bits()))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|point| point.map(f64::from_bits))
            .collect();

        let report = register(&server, spec("", &given.concat())).await.unwrap();
        let polytope = report.polytope.as_ref().unwrap();
        let vertices = description(&server, &polytope.id).await.vertices.unwrap().xyz;
        let vertices = vertices.as_chunks::<3>().0;
        assert_eq!(report.vertex_of_given.len(), given.len());
        for (point, index) in given.iter().zip(&report.vertex_of_given) {
            let expected = vertices.iter().position(|vertex| vertex == point);
            assert_eq!(usize::try_from(*index).ok(), expected, "{point:?} of {given:?}");
            assert_eq!(expected.is_some(), is_extreme(*point, &distinct), "{point:?} of {given:?}");
            assert!(*index >= -1);
            inside += u32::from(expected.is_none());
        }
        assert_eq!(polytope.vertex_count as usize, vertices.len());
        assert_eq!(report.points_given as usize, given.len());
        assert_eq!(report.points_dropped as usize, given.len() - vertices.len());
        assert_eq!(report.input_was_convex, distinct.len() == vertices.len());
        duplicates += given.len() - distinct.len();
        convex += u32::from(report.input_was_convex);
    }
    assert!(duplicates > 10 && inside > 30 && (5..35).contains(&convex), "{duplicates} {inside}");
}

/// The unit cube as triangles, with its top dented down to `top` in the middle.
fn dented(top: f64) -> api::Mesh {
    let mut xyz = cube();
    xyz.extend([0.5, 0.5, top]);
    let sides: [[u32; 4]; 5] =
        [[0, 2, 3, 1], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6]];
    let mut triangles: Vec<u32> =
        sides.iter().flat_map(|[a, b, c, d]| [*a, *b, *c, *a, *c, *d]).collect();
    triangles.extend([4, 5, 8, 5, 7, 8, 7, 6, 8, 6, 4, 8]);
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

fn mesh_spec(mesh: api::Mesh) -> api::PolytopeSpec {
    api::PolytopeSpec { source: Some(Source::Mesh(mesh)), ..Default::default() }
}

#[tokio::test]
async fn a_mesh_that_is_not_convex_is_refused_with_its_gap_and_the_choices() {
    let server = Server::start().await;
    let convex = register(&server, mesh_spec(dented(1.0))).await.unwrap();
    assert!(convex.input_was_convex && convex.convexity_gap == 0.0);
    // The middle of the top is no vertex, and the report says so.
    assert_eq!(convex.vertex_of_given, [0, 4, 2, 6, 1, 5, 3, 7, -1]);
    assert_eq!((convex.points_given, convex.points_dropped), (9, 1));
    let before = server.usage().await.polytopes;

    let mut open = dented(1.0);
    open.triangles.truncate(33);
    let mut outside = dented(1.0);
    outside.vertices.as_mut().unwrap().xyz.extend([5.0, 5.0, 5.0]);
    for (mesh, why) in
        [(dented(0.5), "stands out by"), (open, "closed"), (outside, "stands out by")]
    {
        let status = register(&server, mesh_spec(mesh.clone())).await.unwrap_err();
        check(&status, Code::InvalidArgument, "NOT_CONVEX", "polytopes[1]");
        let message = status.message();
        for choice in
            [why, "MESH_TREATMENT_HULL", "MESH_TREATMENT_POLYHEDRON", "convexity_tolerance"]
        {
            assert!(message.contains(choice), "{choice} in {message}");
        }
        assert_eq!(server.usage().await.polytopes, before, "nothing is registered");
        // Asked for, it is the hull, and the report says that it is not the mesh.
        let treatment = api::MeshTreatment::Hull.into();
        let hull = api::PolytopeSpec { treatment, ..mesh_spec(mesh) };
        let request = api::RegisterPolytopesRequest { polytopes: vec![hull], validate_only: true };
        let reply = server.polytopes().register_polytopes(request).await.unwrap().into_inner();
        assert!(!reply.reports[0].input_was_convex);
    }

    // As shallow as the caller allows, which the report says in metres.
    let shallow = |tolerance| api::PolytopeSpec {
        convexity_tolerance: Some(tolerance),
        ..mesh_spec(dented(0.99))
    };
    let status = register(&server, shallow(0.005)).await.unwrap_err();
    check(&status, Code::InvalidArgument, "NOT_CONVEX", "polytopes[1]");
    let allowed = register(&server, shallow(0.05)).await.unwrap();
    assert!(allowed.input_was_convex && (0.009..0.02).contains(&allowed.convexity_gap));
}

/// The largest coordinate: 2^960.
const LARGEST: f64 = f64::from_bits((1023 + 960) << 52);

#[tokio::test]
async fn numbers_that_are_none_or_too_large_are_refused_with_the_path_of_the_field() {
    let server = Server::start().await;
    let refuse = async |spec: api::PolytopeSpec, field: &str| {
        let status = register(&server, spec).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    };
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, LARGEST.next_up(), -1e300] {
        for at in [0, 7, 23] {
            let mut xyz = cube();
            xyz[at] = number;
            refuse(spec("", &xyz), &format!("polytopes[1].vertices.xyz[{at}]")).await;
            let mut mesh = dented(1.0);
            mesh.vertices.as_mut().unwrap().xyz[at] = number;
            let field = format!("polytopes[1].mesh.vertices.xyz[{at}]");
            refuse(mesh_spec(mesh), &field).await;
        }
        // Of a file only the bytes can be named.
        let obj = format!("v 0 0 0\nv 1 0 0\nv 0 {number} 0\nf 1 2 3\n");
        let mut stl = vec![0; 84 + 50];
        stl[80] = 1;
        stl[96..100].copy_from_slice(&(number as f32).to_le_bytes());
        for content in [obj.into_bytes(), stl] {
            let file = api::MeshFile { content: content.into(), ..Default::default() };
            for treatment in [api::MeshTreatment::Unspecified, api::MeshTreatment::Hull] {
                let spec = api::PolytopeSpec {
                    source: Some(Source::File(file.clone())),
                    treatment: treatment.into(),
                    ..Default::default()
                };
                refuse(spec, "polytopes[1].file.content").await;
            }
        }
        let header = api::UploadHeader {
            content: api::UploadContent::PointsF64Le.into(),
            ..Default::default()
        };
        use api::upload_polytope_request::Part;
        let chunk: Vec<u8> = [1.0, 2.0, number].iter().flat_map(|x| x.to_le_bytes()).collect();
        let parts = [Part::Header(header), Part::Chunk(chunk.into())];
        let messages = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
        let status = server.polytopes().upload_polytope(iter(messages)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "chunk[2]");
    }
    // Whole numbers that a scale makes too large.
    let content = b"v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n".to_vec();
    let file = api::MeshFile { content: content.into(), scale: Some(1e300), ..Default::default() };
    let scaled = api::PolytopeSpec { source: Some(Source::File(file)), ..Default::default() };
    refuse(scaled, "polytopes[1].file.content").await;
    assert_eq!(server.usage().await.polytopes, 0, "nothing is registered");

    let edge = [LARGEST, 0.0, 0.0, -LARGEST, 0.0, 0.0, 0.0, 5e-324, 0.0];
    let report = register(&server, spec("", &edge)).await.unwrap();
    assert_eq!((report.points_dropped, report.polytope.unwrap().dimension), (0, 2));
}

#[tokio::test]
async fn triangles_that_are_none_are_refused_with_the_path_of_the_field() {
    let server = Server::start().await;
    let with =
        |triangles: &[u32]| mesh_spec(api::Mesh { triangles: triangles.to_vec(), ..dented(1.0) });
    for (triangles, field) in [
        (&[][..], "polytopes[1].mesh.triangles"),
        (&[0, 1], "polytopes[1].mesh.triangles"),
        (&[0, 1, 2, 3, 9, 4], "polytopes[1].mesh.triangles[4]"),
    ] {
        let status = register(&server, with(triangles)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
    let bare = mesh_spec(api::Mesh { vertices: None, ..dented(1.0) });
    let status = register(&server, bare).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[1].mesh.vertices");
    let status = register(&server, api::PolytopeSpec::default()).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[1]");
}
