//! Contacts with a floor of triangles over a socket, and polygons of bodies that overlap a little.

use api::scene_query::Kind;
use clearance_proto as api;
use clearance_proto::{PairSelection, StartContacts, Verdict};
use tonic::Code;

use crate::polyhedra::register;
use crate::server::{Server, vector};
use crate::sessions::{cube_at, put, refused, scene, started, step};
use crate::surfaces::surface;

/// From x = 0 to 8 and y = -4 to 4, squares of two triangles with corners at whole numbers, and a
/// wall at x = 8.
fn floor() -> api::Mesh {
    let (mut xyz, mut triangles) = (Vec::new(), Vec::new());
    for column in 0..10 {
        let (x, z) = if column < 9 { (f64::from(column), 0.0) } else { (8.0, 4.0) };
        xyz.extend((-4..=4).flat_map(|y| [x, f64::from(y), z]));
    }
    for first in (0..9).flat_map(|column| (0..8).map(move |row| 9 * column + row)) {
        triangles.extend([first, first + 9, first + 10, first, first + 10, first + 1]);
    }
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

/// The floor, which is fixed, and a cube that is in it by so much.
async fn on_the_floor(server: &Server, deep: f64) -> api::OpenSessionRequest {
    register(server, surface("floor", floor())).await.unwrap();
    let source = Some(api::placed_body::Source::Alias("floor".to_owned()));
    let parts = vec![api::PlacedBody { source, pose: None }];
    let ground = api::Body { id: Some(1), parts, fixed: true, ..Default::default() };
    let translation = vector(1.25, 0.25, -deep);
    let pose = Some(api::Pose { translation, ..Default::default() });
    let mut request = scene("s");
    request.state.as_mut().unwrap().bodies = vec![ground, api::Body { pose, ..cube_at(2, 0.0) }];
    request
}

fn frame(frame_id: u64, options: api::ReportOptions) -> api::Frame {
    let mut report = options;
    report.set_pairs(PairSelection::All);
    api::Frame { frame_id, report: Some(Box::new(report)), ..Default::default() }
}

#[tokio::test]
async fn normals_of_contacts_with_a_floor_are_told_on_request_nested_and_packed() {
    let server = started().await;
    let request = on_the_floor(&server, 0.125).await;
    server.sessions().open_session(request).await.unwrap();
    let plain = api::ReportOptions { normals: true, ..Default::default() };
    let asked = api::ReportOptions { face_normals: true, ..Default::default() };
    let packed = api::ReportOptions { packed: true, ..asked };
    let frames = [plain, asked, packed].into_iter().zip(1..).map(|(one, id)| frame(id, one));
    let reports = step(&server, "s", frames.collect()).await.unwrap();
    let pair = &reports[0].pairs[0];
    assert_eq!((pair.verdict(), pair.normal, pair.face_depth), (Verdict::Overlapping, None, None));
    let pair = &reports[1].pairs[0];
    let deep = Some(api::Bracket { lower: 0.125, upper: 0.125 });
    assert_eq!((pair.normal, pair.face_depth), (vector(0.0, 0.0, -1.0), deep));
    let told = reports[2].packed_pairs.as_ref().unwrap();
    assert_eq!((&told.normals, told.rest[0].face_depth), (&vec![0.0, 0.0, -1.0], deep));
}

#[tokio::test]
async fn a_cast_that_begins_in_a_floor_meets_its_wall_without_seams() {
    let server = started().await;
    let request = on_the_floor(&server, 0.0).await;
    server.sessions().open_session(request).await.unwrap();
    let source = Some(api::placed_body::Source::Alias("cube".to_owned()));
    let translation = vector(1.25, 0.25, -1e-6);
    let pose = Some(api::Pose { translation, ..Default::default() });
    let linear = api::LinearMotion { velocity: vector(8.0, 0.0, 0.0) };
    let motion = Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) });
    let body = Some(api::PlacedBody { source, pose });
    let cast = Kind::ShapeCast(api::ShapeCast { body, motion, ..Default::default() });
    for (without_seams, exact, normal_x) in [(false, None, 0.0), (true, Some(5.75 / 8.0), -1.0)] {
        let query = api::SceneQuery { kind: Some(cast.clone()), ..Default::default() };
        let filter = api::SceneFilter { ignored_body_ids: vec![2], ..Default::default() };
        let mut request = api::QuerySceneRequest {
            session_id: "s".to_owned(),
            queries: vec![query],
            filter: Some(filter),
            without_seams,
            ..Default::default()
        };
        request.set_start_contacts(StartContacts::Skipped);
        let told = server.sessions().query_scene(request).await.unwrap().into_inner();
        let hit = &told.answers[0].hits[0];
        let time = hit.time.unwrap();
        match exact {
            // The next triangles are where the cube has gone less than a metre.
            None => assert!(time.upper < 0.125, "{hit:?}"),
            Some(exact) => {
                assert!(time.lower <= exact && exact <= time.upper, "{hit:?}");
                assert_eq!(hit.normal, vector(normal_x, 0.0, 0.0));
            }
        }
    }
}

#[tokio::test]
async fn bodies_that_overlap_by_less_than_is_asked_have_a_polygon() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let depths = [(0.0, 0), (0.25, 0), (0.25_f64.next_up(), 4), (1.0, 4)];
    let asked = |(depth, _): &(f64, usize)| api::ReportOptions {
        contact_polygons: true,
        contact_polygon_depth: *depth,
        ..Default::default()
    };
    let frames = (1..).zip(&depths).map(|(id, one)| {
        let report = frame(id, asked(one)).report;
        api::Frame { report, ..put(id, 0.75) }
    });
    let reports = step(&server, "s", frames.collect()).await.unwrap();
    for (report, (depth, corners)) in reports.iter().zip(depths) {
        let pair = &report.pairs[0];
        assert_eq!((pair.contact_polygon.len(), pair.verdict()), (corners, Verdict::Overlapping));
        // In the plane of the one with the higher id, which begins at 0.75.
        let is_there = |corner: &api::Vector3| (corner.x - 0.75).abs() < 1e-9;
        assert!(pair.contact_polygon.iter().all(is_there), "{depth} {pair:?}");
        assert!(pair.depth.is_none() && pair.normal.is_none(), "{pair:?}");
    }
    let below = api::ReportOptions { contact_polygon_depth: -1.0, ..Default::default() };
    let report = step(&server, "s", vec![frame(5, below)]).await.unwrap().remove(0);
    refused(&report, Code::InvalidArgument, "frames[0].report.contact_polygon_depth");
}
