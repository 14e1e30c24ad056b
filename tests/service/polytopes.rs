//! `PolytopeService`.

use api::upload_polytope_request::Part;
use clearance_proto as api;
use tokio_stream::iter;
use tonic::Code;

use crate::server::{Server, check, cube, spec};

fn register(polytopes: Vec<api::PolytopeSpec>) -> api::RegisterPolytopesRequest {
    api::RegisterPolytopesRequest { polytopes, validate_only: false }
}

#[tokio::test]
async fn registering_twice_is_registering_once() {
    let server = Server::start().await;
    let mut client = server.polytopes();
    let mut shuffled = vec![0.5, 0.5, 0.5];
    shuffled.extend(cube().chunks(3).rev().flatten());
    let request = register(vec![spec("a", &cube()), spec("b", &shuffled)]);
    let reports = client.register_polytopes(request).await.unwrap().into_inner().reports;
    let [first, second] = reports.as_slice() else { panic!("two reports") };
    let (one, two) = (first.polytope.as_ref().unwrap(), second.polytope.as_ref().unwrap());
    assert_eq!(one.id, two.id);
    assert_eq!((first.already_registered, second.already_registered), (false, true));
    assert_eq!((one.vertex_count, one.edge_count, one.face_count, one.dimension), (8, 12, 6, 3));
    assert_eq!(one.volume, 1.0);
    assert!(first.input_was_convex && !second.input_was_convex);
    assert_eq!((second.points_given, second.points_dropped), (9, 1));
    // The middle is no vertex; the corners are those of the sorted list.
    assert_eq!(second.vertex_of_given, [-1, 7, 3, 5, 1, 6, 2, 4, 0]);
    assert_eq!(first.vertex_of_given, [0, 4, 2, 6, 1, 5, 3, 7]);

    let key = api::get_polytope_request::Key::Alias("b".into());
    let request = api::GetPolytopeRequest {
        key: Some(key),
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: u64::MAX,
        ..Default::default()
    };
    let got = client.get_polytope(request).await.unwrap().into_inner();
    assert_eq!(got.polytope.unwrap().aliases, ["a", "b"]);
    let mut sorted = cube();
    sorted.as_chunks_mut::<3>().0.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(got.vertices.unwrap().xyz, sorted);
    assert_eq!(got.facets.len(), 6);
    assert!(got.facets.iter().all(|facet| facet.vertices.len() == 4));
}

#[tokio::test]
async fn nothing_is_registered_when_one_is_wrong_or_when_only_validating() {
    let server = Server::start().await;
    let mut client = server.polytopes();
    let request = register(vec![spec("a", &cube()), spec("b", &[1.0, 2.0])]);
    let status = client.register_polytopes(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[1].vertices.xyz");

    let request =
        api::RegisterPolytopesRequest { polytopes: vec![spec("a", &cube())], validate_only: true };
    let reply = client.register_polytopes(request).await.unwrap().into_inner();
    let id = reply.reports[0].polytope.as_ref().unwrap().id.clone();

    let request = api::FindMissingPolytopesRequest { ids: vec![id.clone()] };
    let missing = client.find_missing_polytopes(request.clone()).await.unwrap().into_inner();
    assert_eq!(missing.missing_ids, [id]);
    server.register("a", &cube()).await;
    let missing = client.find_missing_polytopes(request).await.unwrap().into_inner();
    assert!(missing.missing_ids.is_empty());
}

#[tokio::test]
async fn pages_list_every_polytope_once() {
    let server = Server::start().await;
    let mut ids = Vec::new();
    for x in 0..7 {
        ids.push(server.register("", &[f64::from(x), 0.0, 0.0]).await);
    }
    ids.sort_unstable();
    let (mut listed, mut page_token) = (Vec::new(), String::new());
    for expected in [3, 3, 1] {
        let request = api::ListPolytopesRequest { page_size: 3, page_token };
        let page = server.polytopes().list_polytopes(request).await.unwrap().into_inner();
        assert_eq!((page.polytopes.len(), page.total_size), (expected, 7));
        listed.extend(page.polytopes.into_iter().map(|polytope| polytope.id));
        page_token = page.next_page_token;
    }
    assert!(page_token.is_empty());
    assert_eq!(listed, ids);
    let request = |page_size, page_token: &str| api::ListPolytopesRequest {
        page_size,
        page_token: page_token.to_owned(),
    };
    let status = server.polytopes().list_polytopes(request(-1, "")).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "page_size");
    let status = server.polytopes().list_polytopes(request(0, "junk")).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "page_token");
}

#[tokio::test]
async fn a_deleted_polytope_is_gone_with_its_aliases() {
    let server = Server::start().await;
    let id = server.register("a", &cube()).await;
    let mut client = server.polytopes();
    let delete = |allow_missing| api::DeletePolytopeRequest {
        key: Some(api::delete_polytope_request::Key::Id(id.clone())),
        allow_missing,
        ..Default::default()
    };
    client.delete_polytope(delete(false)).await.unwrap();
    let status = client.delete_polytope(delete(false)).await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_POLYTOPE", "id");
    client.delete_polytope(delete(true)).await.unwrap();
    let key = Some(api::get_polytope_request::Key::Alias("a".into()));
    let request = api::GetPolytopeRequest { key, ..Default::default() };
    let status = client.get_polytope(request).await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_POLYTOPE", "alias");
}

#[tokio::test]
async fn a_polytope_stays_while_a_session_uses_it() {
    let server = Server::start().await;
    let id = server.register("a", &cube()).await;
    let mut sessions =
        api::session_service_client::SessionServiceClient::new(server.channel.clone());
    let part = crate::server::body("a", 0.0);
    let body = api::Body { id: Some(1), parts: vec![part.clone(), part], ..Default::default() };
    let state = api::SessionState { bodies: vec![body], ..Default::default() };
    let request = api::OpenSessionRequest { state: Some(state), ..Default::default() };
    let session_id = sessions.open_session(request).await.unwrap().into_inner().session_id;

    let key = Some(api::delete_polytope_request::Key::Id(id));
    let delete = api::DeletePolytopeRequest { key, ..Default::default() };
    let status = server.polytopes().delete_polytope(delete.clone()).await.unwrap_err();
    check(&status, Code::FailedPrecondition, "POLYTOPE_IN_USE", "");
    let request = api::CloseSessionRequest { session_id, ..Default::default() };
    sessions.close_session(request).await.unwrap();
    server.polytopes().delete_polytope(delete).await.unwrap();
}

#[tokio::test]
async fn an_alias_is_not_taken_from_another_polytope_unasked() {
    let server = Server::start().await;
    server.register("it", &cube()).await;
    let mut client = server.polytopes();
    let other = spec("it", &[0.0; 3]);
    let status = client.register_polytopes(register(vec![other.clone()])).await.unwrap_err();
    check(&status, Code::AlreadyExists, "ALIAS_TAKEN", "polytopes[0].alias");
    let moved = api::PolytopeSpec { move_alias: true, ..other };
    let reply = client.register_polytopes(register(vec![moved])).await.unwrap().into_inner();
    assert_eq!(reply.reports[0].polytope.as_ref().unwrap().aliases, ["it"]);
}

#[tokio::test]
async fn an_unexpected_digest_is_refused() {
    let server = Server::start().await;
    let id = server.register("", &cube()).await;
    let mut client = server.polytopes();
    let with = |expected_id: &str, xyz: &[f64]| {
        let expected_id = expected_id.to_owned();
        register(vec![api::PolytopeSpec { expected_id, ..spec("", xyz) }])
    };
    client.register_polytopes(with(&id, &cube())).await.unwrap();
    let status = client.register_polytopes(with(&id, &[0.0; 3])).await.unwrap_err();
    check(&status, Code::InvalidArgument, "DIGEST_MISMATCH", "polytopes[0].expected_id");
    let status = client.register_polytopes(with("p1-abc", &cube())).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].expected_id");
}

/// The unit cube as an OBJ file, its top at `top` in the middle.
fn obj(top: f64) -> Vec<u8> {
    let mut text = String::new();
    for corner in cube().chunks(3) {
        text += &format!("v {} {} {}\n", corner[0], corner[1], corner[2]);
    }
    text += &format!("v 0.5 0.5 {top}\n");
    text += "f 1 3 4 2\nf 1 2 6 5\nf 2 4 8 6\nf 4 3 7 8\nf 3 1 5 7\n";
    text += "f 5 6 9\nf 6 8 9\nf 8 7 9\nf 7 5 9\n";
    text.into_bytes()
}

fn file(content: Vec<u8>, treatment: api::MeshTreatment) -> api::PolytopeSpec {
    let file = api::MeshFile { format: 0, content: content.into(), scale: None };
    api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::File(file)),
        treatment: treatment.into(),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_mesh_that_is_not_convex_is_never_replaced_by_its_hull_unasked() {
    use api::MeshTreatment::{Decompose, Hull, Polyhedron, Unspecified};
    let server = Server::start().await;
    let mut client = server.polytopes();
    let mut send = async |content, treatment| {
        let reply = client.register_polytopes(register(vec![file(content, treatment)])).await;
        reply.map(|reply| reply.into_inner().reports.remove(0))
    };
    let convex = send(obj(1.0), Unspecified).await.unwrap();
    assert!(convex.input_was_convex);
    assert_eq!((convex.points_given, convex.points_dropped), (9, 1));
    let status = send(obj(0.5), Unspecified).await.unwrap_err();
    check(&status, Code::InvalidArgument, "NOT_CONVEX", "polytopes[0]");
    let hull = send(obj(0.5), Hull).await.unwrap();
    // Half the edge deep: as far from the middle of the top as the planes of the dent are.
    let gap = 0.5_f64.sqrt() * 0.5;
    assert!(!hull.input_was_convex && hull.convexity_gap_lower() <= gap, "{hull:?}");
    assert!((gap..gap + 0.05).contains(&hull.convexity_gap), "{hull:?}");
    assert_eq!(hull.polytope.unwrap().id, convex.polytope.unwrap().id);
    let kept = send(obj(0.5), Polyhedron).await.unwrap().polytope.unwrap();
    assert!(kept.id.starts_with("m1-") && kept.volume < 1.0, "{kept:?}");
    let status = send(obj(0.5), Decompose).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].treatment");
}

#[tokio::test]
async fn hostile_files_are_refused_with_their_path() {
    let server = Server::start().await;
    let mut billions = vec![0; 84];
    billions[80..].copy_from_slice(&u32::MAX.to_le_bytes());
    let files = [
        billions,
        b"solid x\nfacet\nvertex 1 2 nan\nendfacet".to_vec(),
        b"v 1 2 3\nf 1 2 3".to_vec(),
        b"neither".to_vec(),
        Vec::new(),
    ];
    for content in files {
        let request = register(vec![file(content.clone(), api::MeshTreatment::Hull)]);
        let status = server.polytopes().register_polytopes(request).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].file.content");
    }
}

fn upload(
    content: api::UploadContent,
    total_bytes: Option<u64>,
    bytes: &[u8],
    cut: usize,
) -> impl tokio_stream::Stream<Item = api::UploadPolytopeRequest> + use<> {
    let header = api::UploadHeader { content: content.into(), total_bytes, ..Default::default() };
    let mut parts = vec![Part::Header(header)];
    parts.extend(bytes.chunks(cut).map(|chunk| Part::Chunk(chunk.to_vec().into())));
    let messages: Vec<_> =
        parts.into_iter().map(|part| api::UploadPolytopeRequest { part: Some(part) }).collect();
    iter(messages)
}

#[tokio::test]
async fn an_upload_may_be_cut_anywhere_and_gives_the_same_id() {
    use api::UploadContent::{MeshFile, PointsF64Le};
    let server = Server::start().await;
    let id = server.register("", &cube()).await;
    let points: Vec<u8> = cube().iter().flat_map(|number| number.to_le_bytes()).collect();
    for (content, bytes) in [(PointsF64Le, points.clone()), (MeshFile, obj(1.0))] {
        for cut in [1, 7, 1000] {
            let total = Some(bytes.len() as u64);
            let stream = upload(content, total, &bytes, cut);
            let reply = server.polytopes().upload_polytope(stream).await.unwrap().into_inner();
            assert_eq!(reply.report.unwrap().polytope.unwrap().id, id);
        }
    }
    let refused = [
        (upload(PointsF64Le, Some(5), &points, 50), "header.total_bytes"),
        (upload(PointsF64Le, None, &points[..30], 50), "chunk"),
        (upload(PointsF64Le, None, &[0xff; 24], 50), "chunk[0]"),
        (upload(api::UploadContent::Unspecified, None, &points, 50), "header.content"),
        (upload(MeshFile, None, b"junk", 50), "header.spec.file.content"),
    ];
    for (stream, field) in refused {
        let status = server.polytopes().upload_polytope(stream).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
    let chunk = api::UploadPolytopeRequest { part: Some(Part::Chunk(points.into())) };
    let status = server.polytopes().upload_polytope(iter([chunk])).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "header");
}
