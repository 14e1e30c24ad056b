//! Height fields: kept under one id, refused with the field that is wrong, and answered as the
//! surface of the same triangles.

use api::polytope_spec::Source;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::Code;

use crate::polyhedra::{keep, register};
use crate::server::{Server, verify};
use crate::solid_measures::of_distance;
use crate::solid_proofs::{of_collision, of_motion};

fn ground(rows: u32, columns: u32, seed: u64) -> api::HeightField {
    let random = &mut Random::new(seed);
    // Eighths, so that some bodies touch it exactly.
    let heights = (0..rows * columns).map(|_| random.below(9) as f32 / 8.0).collect();
    api::HeightField {
        rows,
        columns,
        spacing_x: 0.5,
        spacing_y: 0.25,
        heights,
        holes: vec![1, 4],
        diagonal: api::CellDiagonal::Falling.into(),
    }
}

fn field(alias: &str, of: api::HeightField) -> api::PolytopeSpec {
    let source = Some(Source::HeightField(of));
    api::PolytopeSpec { source, alias: alias.to_owned(), ..Default::default() }
}

/// The same triangles as a mesh.
fn as_mesh(of: &api::HeightField) -> api::Mesh {
    let (mut xyz, mut triangles) = (Vec::new(), Vec::new());
    for row in 0..of.rows {
        for column in 0..of.columns {
            let at = row * of.columns + column;
            let height = f64::from(of.heights[at as usize]);
            xyz.extend([f64::from(column) * of.spacing_x, f64::from(row) * of.spacing_y, height]);
            let is_cell = row + 1 < of.rows && column + 1 < of.columns;
            if !is_cell || of.holes.contains(&(row * (of.columns - 1) + column)) {
                continue;
            }
            let (a, b, d, e) = (at, at + 1, at + of.columns, at + of.columns + 1);
            match of.diagonal() {
                api::CellDiagonal::Unspecified => triangles.extend([a, b, e, a, e, d]),
                api::CellDiagonal::Falling => triangles.extend([a, b, d, b, e, d]),
            }
        }
    }
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

fn surface(alias: &str, of: &api::HeightField) -> api::PolytopeSpec {
    let treatment = api::MeshTreatment::Surface.into();
    api::PolytopeSpec { treatment, ..keep(alias, as_mesh(of)) }
}

fn at(alias: &str, [x, y, z]: [f64; 3]) -> api::PlacedBody {
    let translation = Some(api::Vector3 { x, y, z });
    let pose = Some(api::Pose { translation, ..Default::default() });
    let source = Some(api::placed_body::Source::Alias(alias.to_owned()));
    api::PlacedBody { source, pose }
}

fn ball([x, y, z]: [f64; 3], radius: f64) -> api::PlacedBody {
    let shape = api::RoundedShape { core: None, radius };
    let translation = Some(api::Vector3 { x, y, z });
    let pose = Some(api::Pose { translation, ..Default::default() });
    let source = Some(api::placed_body::Source::Rounded(shape));
    api::PlacedBody { source, pose }
}

#[tokio::test]
async fn a_height_field_is_kept_under_one_id_and_described_as_its_surface() {
    let server = Server::start().await;
    let given = ground(6, 5, 1);
    let report = register(&server, field("ground", given.clone())).await.unwrap();
    let described = report.polytope.unwrap();
    assert!(described.id.starts_with("h1-") && described.id.len() == 67, "{}", described.id);
    assert_eq!((report.points_given, described.dimension), (30, 2));
    let as_surface = register(&server, surface("surface", &given)).await.unwrap().polytope.unwrap();
    let counts = |of: &api::Polytope| [of.vertex_count, of.edge_count, of.face_count];
    assert_eq!(counts(&described), counts(&as_surface));
    assert_eq!(described.bounds_low, as_surface.bounds_low);
    assert_eq!(described.bounds_high, as_surface.bounds_high);

    // In any order, a hole twice, -0 in place of 0.
    let mut again = given.clone();
    again.holes = vec![4, 1, 4];
    again.heights.iter_mut().filter(|height| **height <= 0.0).for_each(|height| *height = -0.0);
    let again = register(&server, field("again", again)).await.unwrap();
    assert!(again.already_registered);
    let mut other = given.clone();
    other.diagonal = api::CellDiagonal::Unspecified.into();
    assert!(!register(&server, field("other", other)).await.unwrap().already_registered);

    let request = |id: &str| api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Id(id.to_owned())),
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: u64::MAX,
    };
    let mut client = server.polytopes();
    let shown = client.get_polytope(request(&described.id)).await.unwrap().into_inner();
    let expected = client.get_polytope(request(&as_surface.id)).await.unwrap().into_inner();
    assert_eq!((shown.vertices, shown.facets), (expected.vertices, expected.facets));
}

/// What a message has no room for comes in chunks, and is the same body.
#[tokio::test]
async fn heights_may_come_in_chunks() {
    use api::upload_polytope_request::Part;
    let server = Server::start().await;
    let given = ground(300, 200, 2);
    let whole = register(&server, field("whole", given.clone())).await.unwrap().polytope.unwrap();
    let header = |heights: Vec<f32>| api::UploadHeader {
        spec: Some(field("chunks", api::HeightField { heights, ..given.clone() })),
        content: api::UploadContent::HeightsF32Le.into(),
        ..Default::default()
    };
    let bytes: Vec<u8> = given.heights.iter().flat_map(|height| height.to_le_bytes()).collect();
    let upload = async |header: api::UploadHeader, bytes: &[u8]| {
        let part = |part| api::UploadPolytopeRequest { part: Some(part) };
        let chunks = bytes.chunks(50_001).map(|chunk| part(Part::Chunk(chunk.to_vec().into())));
        let parts: Vec<_> = [part(Part::Header(header))].into_iter().chain(chunks).collect();
        server.polytopes().upload_polytope(tokio_stream::iter(parts)).await
    };
    let report = upload(header(Vec::new()), &bytes).await.unwrap().into_inner().report.unwrap();
    assert!(report.already_registered);
    assert_eq!(report.polytope.unwrap().id, whole.id);
    for (header, bytes) in [
        (header(vec![0.0]), &bytes[..]),
        (header(Vec::new()), &bytes[4..]),
        (header(Vec::new()), &bytes[1..]),
        (api::UploadHeader { spec: None, ..header(Vec::new()) }, &bytes[..]),
    ] {
        let refused = upload(header, bytes).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
    }
    // Nobody lists so many triangles, and nobody proves anything about them.
    let request = api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Id(whole.id)),
        with_vertices: true,
        with_facets: false,
        reply_bytes_max: u64::MAX,
    };
    let refused = server.polytopes().get_polytope(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
    let question = api::CheckCollisionRequest {
        p: Some(at("whole", [0.0; 3])),
        q: Some(ball([30.0, 30.0, 3.0], 1.0)),
        ..Default::default()
    };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    assert_eq!(answer.verdict(), api::Verdict::Separated);
    assert!(answer.uncertified && answer.certificate.is_none());
    assert_eq!(answer.uncertified_reason(), api::UncertifiedReason::TooLong);
    let mut claim = answer.clone();
    let form = Some(api::direction::Form::Vector(api::Vector3 { x: 0.0, y: 0.0, z: 1.0 }));
    let separated =
        api::SeparatedProof { direction: Some(api::Direction { form }), margin_pairs: vec![] };
    let proof = Some(api::static_certificate::Proof::Separated(separated));
    claim.certificate = Some(api::StaticCertificate { proof });
    let claim = Some(of_collision(&question, &claim));
    let request = api::VerifyCertificateRequest { claim };
    let refused = server.queries().verify_certificate(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented, "{refused:?}");
}

#[tokio::test]
async fn what_is_no_height_field_is_refused_with_its_field() {
    let limits = Limits { heights_max: 40, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let good = || ground(5, 4, 3);
    let with = |change: fn(&mut api::HeightField)| {
        let mut field = good();
        change(&mut field);
        field
    };
    for (wrong, of) in [
        (with(|it| it.rows = 1), "rows"),
        (with(|it| it.rows = 6), "heights"),
        (with(|it| it.rows = 0), "rows"),
        (with(|it| it.columns = 1), "columns"),
        (with(|it| (it.rows, it.columns) = (u32::MAX, u32::MAX)), "rows"),
        (with(|it| it.rows = 11), "rows"),
        (with(|it| it.spacing_x = 0.0), "spacing_x"),
        (with(|it| it.spacing_y = f64::NAN), "spacing_y"),
        (with(|it| it.spacing_x = 1e300), "spacing_x"),
        (with(|it| it.heights[7] = f32::NAN), "heights[7]"),
        (with(|it| it.heights[19] = f32::INFINITY), "heights[19]"),
        (with(|it| it.heights.truncate(19)), "heights"),
        (with(|it| it.holes = vec![0, 12]), "holes[1]"),
        (with(|it| it.holes = (0..12).collect()), "holes"),
        (with(|it| it.holes = vec![0; 41]), "holes"),
        (with(|it| it.diagonal = 7), "diagonal"),
    ] {
        let refused = register(&server, field("wrong", wrong)).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{of}: {refused:?}");
        let path = format!("polytopes[0].height_field.{of}");
        assert!(refused.message().contains(&path), "{path}: {}", refused.message());
    }
    let hull = api::MeshTreatment::Hull.into();
    let treated = api::PolytopeSpec { treatment: hull, ..field("wrong", good()) };
    let refused = register(&server, treated).await.unwrap_err();
    assert!(refused.message().contains("polytopes[0].treatment"), "{}", refused.message());
    register(&server, field("good", good())).await.unwrap();
}

#[tokio::test]
async fn a_height_field_is_answered_as_its_surface() {
    let server = Server::start().await;
    let given = ground(6, 5, 4);
    register(&server, field("ground", given.clone())).await.unwrap();
    register(&server, surface("surface", &given)).await.unwrap();
    let random = &mut Random::new(9);
    let mut stood = [0; 4];
    for round in 0..40 {
        let mut eighths = |count: u64| random.below(count) as f64 / 8.0;
        let place = [eighths(16), eighths(10), eighths(14)];
        let other = if round % 2 == 0 { ball(place, 0.25) } else { at("surface", place) };
        let about = |name: &str| api::MeasureDistanceRequest {
            p: Some(at(name, [0.0; 3])),
            q: Some(other.clone()),
            margin: Some(0.25),
            ..Default::default()
        };
        let (question, expected) = (about("ground"), about("surface"));
        let mut client = server.queries();
        let found = client.measure_distance(question.clone()).await.unwrap().into_inner();
        let wanted = client.measure_distance(expected).await.unwrap().into_inner();
        stood[found.verdict() as usize] += 1;
        assert_eq!(found.verdict(), wanted.verdict(), "{question:?}");
        assert_eq!(found.within_margin, wanted.within_margin, "{question:?}");
        verify(&server, of_distance(&question, &found)).await.unwrap();
        let options = api::QueryOptions { omit_certificate: true, ..Default::default() };
        let plain = api::MeasureDistanceRequest { options: Some(options), ..question.clone() };
        let plain = client.measure_distance(plain).await.unwrap().into_inner();
        assert_eq!(
            (plain.verdict(), plain.within_margin),
            (wanted.verdict(), wanted.within_margin)
        );
        if wanted.verdict() == api::Verdict::Separated {
            let [a, b, c] = [&found, &wanted, &plain].map(|answer| answer.distance.unwrap());
            assert!(a.lower <= b.upper && b.lower <= a.upper, "{a:?} {b:?}");
            assert!(c.lower <= b.upper && b.lower <= c.upper, "{c:?} {b:?}");
        }
        let velocity = Some(api::Vector3 { x: 0.1, y: -0.2, z: -3.0 });
        let kind = Some(api::motion::Kind::Linear(api::LinearMotion { velocity }));
        let q_motion = Some(api::Motion { kind });
        let falls = |name: &str| api::FindFirstContactRequest {
            p: Some(at(name, [0.0; 3])),
            q: Some(other.clone()),
            q_motion: q_motion.clone(),
            ..Default::default()
        };
        let question = falls("ground");
        let found = client.find_first_contact(question.clone()).await.unwrap().into_inner();
        let wanted = client.find_first_contact(falls("surface")).await.unwrap().into_inner();
        assert_eq!(found.outcome(), wanted.outcome(), "{question:?}");
        let [a, b] = [&found, &wanted].map(|it| [it.t_free, it.t_contact.unwrap_or(1.0)]);
        assert!(a[0] <= b[1] && b[0] <= a[1], "{question:?}: {a:?} {b:?}");
        verify(&server, of_motion(&question, &found)).await.unwrap();
    }
    assert!(stood[1..].iter().all(|count| *count > 0), "{stood:?}");
}
