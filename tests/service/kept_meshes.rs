//! Meshes kept as the solids that they bound: under one id whatever their order, or refused.

use api::Verdict;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::Code;

use crate::polyhedra::{channel, keep, placed, register, with_channel};
use crate::server::{Server, check, cube, spec, vector};

#[tokio::test]
async fn a_mesh_is_kept_under_one_id_whatever_its_order_and_is_described_listed_and_deleted() {
    let (server, id) = with_channel().await;
    assert!(id.starts_with("m1-") && id.len() == 67, "{id}");
    let given = channel();
    // Backwards, each point once for every triangle, and one point that nothing names.
    let xyz = given.vertices.as_ref().unwrap().xyz.clone();
    let corners = xyz.as_chunks::<3>().0;
    let backwards = given.triangles.chunks(3).rev().flat_map(|t| [t[1], t[2], t[0]]);
    let mut soup: Vec<f64> = backwards.flat_map(|i| corners[i as usize]).collect();
    let count = u32::try_from(soup.len() / 3).unwrap();
    soup.extend([1.5, 0.5, 0.5]);
    let soup =
        api::Mesh { vertices: Some(api::Points { xyz: soup }), triangles: (0..count).collect() };
    let report = register(&server, keep("soup", soup.clone())).await.unwrap();
    let described = report.polytope.unwrap();
    assert!(report.already_registered && !report.input_was_convex && described.id == id);
    assert_eq!(described.aliases, ["channel", "soup"]);
    assert_eq!((report.points_given, report.points_dropped), (16, 0));
    let counts = [described.vertex_count, described.edge_count, described.face_count];
    assert_eq!((counts, described.dimension, described.shell_count), ([16, 42, 28], 3, 1));
    assert_eq!((described.volume, described.hierarchy_size), (7.0, 0));
    assert_eq!(
        (described.bounds_low, described.bounds_high),
        (vector(0., 0., 0.), vector(3., 3., 1.))
    );

    let key = Some(api::get_polytope_request::Key::Id(id.clone()));
    let request = api::GetPolytopeRequest {
        key,
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: u64::MAX,
        ..Default::default()
    };
    let shown = server.polytopes().get_polytope(request).await.unwrap().into_inner();
    let vertices = shown.vertices.unwrap().xyz;
    let vertices = vertices.as_chunks::<3>().0;
    assert!(vertices.is_sorted_by(|a, b| a < b) && shown.facets.len() == 28);
    assert!(shown.facets.is_sorted_by(|a, b| a.vertices < b.vertices));
    let given = soup.vertices.unwrap().xyz;
    for (point, index) in given.as_chunks::<3>().0.iter().zip(&report.vertex_of_given) {
        let expected = vertices.iter().position(|vertex| vertex == point);
        assert_eq!(usize::try_from(*index).ok(), expected, "{point:?}");
    }
    assert_eq!(report.vertex_of_given.last(), Some(&-1));

    // Every page, by ascending id: polyhedra before polytopes.
    let mut client = server.polytopes();
    let page = |token: String| api::ListPolytopesRequest { page_size: 1, page_token: token };
    let first = client.list_polytopes(page(String::new())).await.unwrap().into_inner();
    assert_eq!((first.polytopes[0].id.as_str(), first.total_size), (id.as_str(), 2));
    let second = client.list_polytopes(page(first.next_page_token)).await.unwrap().into_inner();
    assert!(second.polytopes[0].id.starts_with("p1-") && second.next_page_token.is_empty());
    let missing = format!("m1-{}", "0".repeat(64));
    let ids = vec![id.clone(), missing.clone()];
    let request = api::FindMissingPolytopesRequest { ids };
    let reply = client.find_missing_polytopes(request).await.unwrap().into_inner();
    assert_eq!(reply.missing_ids, [missing]);

    let before = server.usage().await;
    let key = Some(api::delete_polytope_request::Key::Id(id));
    let request = api::DeletePolytopeRequest { key, ..Default::default() };
    client.delete_polytope(request.clone()).await.unwrap();
    let status = client.delete_polytope(request).await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_POLYTOPE", "id");
    let after = server.usage().await;
    assert_eq!(before.polytopes - after.polytopes, 1);
    assert_eq!(before.polytope_bytes - after.polytope_bytes, described.memory_bytes);
}

#[tokio::test]
async fn a_point_that_no_triangle_names_is_no_part_of_the_body_nor_of_its_hull() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let mut mesh = channel();
    mesh.vertices.as_mut().unwrap().xyz.extend([50., 0., 0.]);
    let report = register(&server, keep("channel", mesh)).await.unwrap();
    assert_eq!((report.points_given, report.points_dropped), (16, 0));
    assert_eq!(report.vertex_of_given[16], -1);
    let question = api::CheckCollisionRequest {
        p: Some(placed("channel", 0., 0.)),
        q: Some(placed("cube", 20., -0.5)),
        ..Default::default()
    };
    let answer = server.queries().check_collision(question).await.unwrap().into_inner();
    assert_eq!((answer.verdict(), answer.uncertified), (Verdict::Separated, false));
}

#[tokio::test]
async fn a_mesh_that_bounds_nothing_is_refused_with_its_reason_and_registers_nothing() {
    let server = Server::start().await;
    let refuse = async |mesh: api::Mesh, why: &str| {
        let status = register(&server, keep("", mesh)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "NOT_A_POLYHEDRON", "polytopes[0]");
        assert!(status.message().contains(why), "{why} in {}", status.message());
    };
    let mut open = channel();
    open.triangles.truncate(81);
    refuse(open, "open at the edge").await;
    let inside_out = channel().triangles.chunks(3).flat_map(|t| [t[0], t[2], t[1]]).collect();
    refuse(api::Mesh { triangles: inside_out, ..channel() }, "inside out").await;
    let mut crossing = channel();
    // The bottom of the slot, pulled down through the floor.
    let xyz = &mut crossing.vertices.as_mut().unwrap().xyz;
    xyz[4 * 3 + 1] = -1.0;
    refuse(crossing, "intersect").await;
    let mut twice = channel();
    twice.triangles.extend_from_within(..3);
    refuse(twice, "more than one triangle").await;
    let mut line = channel();
    line.triangles[..3].copy_from_slice(&[0, 1, 1]);
    refuse(line, "on one line").await;
    let few = api::Mesh { triangles: vec![0, 1, 2, 0, 2, 1], ..channel() };
    refuse(few, "at least four triangles").await;
    // A channel whose wall another one touches from outside, in one mesh.
    let mut leaning = channel();
    let beside = channel().vertices.unwrap().xyz;
    let beside = beside.chunks(3).flat_map(|c| [c[0] + 3.0, c[1] + 0.5, c[2]]);
    leaning.vertices.as_mut().unwrap().xyz.extend(beside);
    leaning.triangles.extend(channel().triangles.iter().map(|i| i + 16));
    refuse(leaning, "intersect").await;
    // What is wrong is said with the indices that were given, though the first two points are one.
    let mut again = channel();
    let xyz = &mut again.vertices.as_mut().unwrap().xyz;
    xyz.splice(..0, [5.0, 5.0, 5.0]);
    xyz.splice(..0, [5.0, 5.0, 5.0]);
    again.triangles.truncate(81);
    again.triangles.iter_mut().for_each(|i| *i += 2);
    refuse(again, "open at the edge from 9 to 17").await;

    for (wrong, field) in [
        (f64::NAN, "polytopes[0].mesh.vertices.xyz[5]"),
        (f64::INFINITY, "polytopes[0].mesh.vertices.xyz[5]"),
        (1e300, "polytopes[0].mesh.vertices.xyz[5]"),
    ] {
        let mut mesh = channel();
        mesh.vertices.as_mut().unwrap().xyz[5] = wrong;
        let status = register(&server, keep("", mesh)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
    for (triangles, field) in [
        (vec![], "polytopes[0].mesh.triangles"),
        (vec![0, 1, 2, 3], "polytopes[0].mesh.triangles"),
        (vec![0, 1, 2, 0, 2, 16], "polytopes[0].mesh.triangles[5]"),
    ] {
        let mesh = api::Mesh { triangles, ..channel() };
        let status = register(&server, keep("", mesh)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }

    let points =
        api::PolytopeSpec { treatment: api::MeshTreatment::Polyhedron.into(), ..spec("", &cube()) };
    let status = register(&server, points).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].treatment");
    let wrong =
        api::PolytopeSpec { expected_id: format!("m1-{}", "0".repeat(64)), ..keep("", channel()) };
    let status = register(&server, wrong).await.unwrap_err();
    check(&status, Code::InvalidArgument, "DIGEST_MISMATCH", "polytopes[0].expected_id");
    assert_eq!(server.usage().await.polytopes, 0);

    let limits =
        Limits { polyhedron_steps_max: 50, polyhedron_steps_per_triangle: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let status = register(&server, keep("", channel())).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "polytopes[0]");
    let limits = Limits { triangles_max: 27, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let status = register(&server, keep("", channel())).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "polytopes[0].mesh.triangles");
    let limits = Limits { polytope_bytes_max: 2_000, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let status = register(&server, keep("", channel())).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
}
