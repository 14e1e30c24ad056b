//! Height fields: kept under one id, refused with the field that is wrong, and answered as the
//! surface of the same triangles.

use api::polytope_spec::Source;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::Code;

use crate::polyhedra::{keep, register};
use crate::server::{Server, verify};
use crate::sessions::{all_pairs, kinds, step};
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
    let shape = api::RoundedShape { radius, ..Default::default() };
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
        ..Default::default()
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
        ..Default::default()
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

fn patch(of: &str, [row, column, rows, columns]: [u32; 4], heights: Vec<f32>) -> api::HeightPatch {
    let base = Some(api::height_patch::Base::Alias(of.to_owned()));
    api::HeightPatch { base, row, column, rows, columns, heights }
}

fn patched(alias: &str, patch: api::HeightPatch) -> api::PolytopeSpec {
    let source = Some(Source::HeightPatch(patch));
    api::PolytopeSpec { source, alias: alias.to_owned(), ..Default::default() }
}

/// What is patched is what the same heights would be, given all at once, and what was patched stays
/// as it was.
#[tokio::test]
async fn a_patched_field_is_the_field_with_these_heights() {
    let server = Server::start().await;
    let given = ground(40, 30, 9);
    let before = register(&server, field("before", given.clone())).await.unwrap().polytope.unwrap();
    let mut last = "before".to_owned();
    let mut heights = given.heights.clone();
    for (count, at) in [[0, 0, 1, 1], [39, 29, 1, 1], [3, 5, 17, 9], [0, 0, 40, 30], [38, 0, 2, 30]]
        .into_iter()
        .enumerate()
    {
        let [row, column, rows, columns] = at;
        let news: Vec<f32> = (0..rows * columns).map(|k| (k % 7) as f32 - 3.0).collect();
        for (k, news) in news.iter().enumerate() {
            let (r, c) =
                (row as usize + k / columns as usize, column as usize + k % columns as usize);
            heights[r * 30 + c] = *news;
        }
        let name = format!("after/{count}");
        let made = register(&server, patched(&name, patch(&last, at, news))).await.unwrap();
        let whole = api::HeightField { heights: heights.clone(), ..given.clone() };
        let whole = register(&server, field("", whole)).await.unwrap();
        assert!(whole.already_registered, "{at:?}");
        assert_eq!(made.polytope.unwrap().id, whole.polytope.unwrap().id, "{at:?}");
        last = name;
    }
    // -0 is 0, and a patch of what is there already is what is there already.
    let same = patch("before", [2, 2, 1, 3], given.heights[62..65].to_vec());
    let same = register(&server, patched("same", same)).await.unwrap();
    assert!(same.already_registered);
    assert_eq!(same.polytope.unwrap().id, before.id);
}

/// Ground that is dug and heaped up while a session goes on: contacts begin and end with it, and
/// what it was before may go.
#[tokio::test]
async fn ground_changes_under_a_body_of_a_session() {
    let server = Server::start().await;
    let flat = api::HeightField {
        heights: vec![0.0; 30],
        holes: Vec::new(),
        spacing_x: 1.0,
        spacing_y: 1.0,
        ..ground(6, 5, 1)
    };
    register(&server, field("ground/0", flat)).await.unwrap();
    let part = |alias: &str| vec![api::PlacedBody { pose: None, ..at(alias, [0.0; 3]) }];
    let resting = api::PlacedBody { pose: None, ..ball([0.0; 3], 0.5) };
    let translation = Some(api::Vector3 { x: 2.25, y: 2.5, z: 0.5 });
    let pose = Some(api::Pose { translation, ..Default::default() });
    let bodies = vec![
        api::Body { id: Some(1), parts: part("ground/0"), ..Default::default() },
        api::Body { id: Some(2), parts: vec![resting], pose, ..Default::default() },
    ];
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let report = all_pairs();
    let opened =
        api::OpenSessionRequest { session_id: "s".to_owned(), state, report, ..Default::default() };
    server.sessions().open_session(opened).await.unwrap();
    let mut told = Vec::new();
    // Dug beside the ball, below it, heaped up into it, and back to touching it.
    for (frame_id, (at, height)) in (1..).zip([
        ([0, 0, 1, 5], -1.0),
        ([2, 2, 2, 2], -1.0),
        ([2, 2, 2, 2], 0.25),
        ([2, 2, 2, 2], 0.0),
    ]) {
        let before = format!("ground/{}", frame_id - 1);
        let name = format!("ground/{frame_id}");
        let news = vec![height; (at[2] * at[3]) as usize];
        register(&server, patched(&name, patch(&before, at, news))).await.unwrap();
        let changed = api::BodyChange { id: Some(1), parts: part(&name), ..Default::default() };
        let frame = api::Frame { frame_id, changed_bodies: vec![changed], ..api::Frame::default() };
        let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        assert_eq!(report.status, None);
        let verdict = report.pairs.first().map_or(api::Verdict::Separated, |pair| pair.verdict());
        told.push((verdict, kinds(&report)));
        let key = Some(api::delete_polytope_request::Key::Alias(before));
        let gone = api::DeletePolytopeRequest { key, ..Default::default() };
        server.polytopes().delete_polytope(gone).await.unwrap();
    }
    use api::ContactEventKind::{Began, Ended};
    let expected = [
        (api::Verdict::Touching, vec![]),
        (api::Verdict::Separated, vec![Ended]),
        (api::Verdict::Overlapping, vec![Began]),
        (api::Verdict::Touching, vec![]),
    ];
    assert_eq!(told[..], expected);
}

#[tokio::test]
async fn what_is_no_patch_is_refused_with_its_field() {
    let server = Server::start().await;
    register(&server, field("ground", ground(5, 4, 3))).await.unwrap();
    register(&server, surface("surface", &ground(5, 4, 3))).await.unwrap();
    let of = |at, count| patch("ground", at, vec![0.5; count]);
    let mut nan = of([0, 0, 2, 2], 4);
    nan.heights[3] = f32::NAN;
    for (wrong, code, of) in [
        (api::HeightPatch { base: None, ..of([0, 0, 1, 1], 1) }, Code::InvalidArgument, "id"),
        (patch("nobody", [0, 0, 1, 1], vec![0.0]), Code::NotFound, "alias"),
        (patch("surface", [0, 0, 1, 1], vec![0.0]), Code::InvalidArgument, "alias"),
        (of([0, 0, 0, 1], 0), Code::InvalidArgument, "rows"),
        (of([0, 0, 1, 0], 0), Code::InvalidArgument, "columns"),
        (of([4, 0, 2, 1], 2), Code::InvalidArgument, "rows"),
        (of([0, 4, 1, 1], 1), Code::InvalidArgument, "columns"),
        (of([u32::MAX, 0, u32::MAX, 1], 1), Code::InvalidArgument, "rows"),
        (of([0, 0, 2, 2], 3), Code::InvalidArgument, "heights"),
        (nan, Code::InvalidArgument, "heights[3]"),
    ] {
        let refused = register(&server, patched("wrong", wrong)).await.unwrap_err();
        assert_eq!(refused.code(), code, "{of}: {refused:?}");
        let path = format!("polytopes[0].height_patch.{of}");
        assert!(refused.message().contains(&path), "{path}: {}", refused.message());
    }
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

/// That the hulls of a ball's middle and of a field are apart says nothing of the ball: it was
/// taken for a proof that the two are.
#[tokio::test]
async fn a_direction_shows_a_ball_apart_from_a_field_by_more_than_its_radius_or_not_at_all() {
    let server = Server::start().await;
    let given = ground(4, 4, 1);
    let highest = given.heights.iter().fold(0.0_f32, |most, height| most.max(*height));
    register(&server, field("ground", given)).await.unwrap();
    let up = api::Vector3 { x: 0.0, y: 0.0, z: 1.0 };
    let direction = Some(api::Direction { form: Some(api::direction::Form::Vector(up)) });
    let separated = api::SeparatedProof { direction, margin_pairs: vec![] };
    let proof = Some(api::static_certificate::Proof::Separated(separated));
    let answer = api::CheckCollisionResponse {
        verdict: api::Verdict::Separated.into(),
        certificate: Some(api::StaticCertificate { proof }),
        ..Default::default()
    };
    for (radius, is_apart) in [(0.25, true), (1.0, false)] {
        let question = api::CheckCollisionRequest {
            p: Some(at("ground", [0.0; 3])),
            q: Some(ball([0.5, 0.25, f64::from(highest) + 0.5], radius)),
            ..Default::default()
        };
        let claim = of_collision(&question, &answer);
        assert_eq!(verify(&server, claim).await.is_ok(), is_apart, "{radius}");
    }
}
