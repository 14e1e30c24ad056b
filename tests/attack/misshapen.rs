//! Bodies that are hardly any: points that are one a million times, needles, triangles that all
//! cross, indices and numbers that are none.

use std::collections::BTreeMap;
use std::time::Duration;

use api::polytope_spec::Source;
use api::upload_polytope_request::Part;
use clearance_proto as api;
use prost::bytes::Bytes;
use tonic::{Code, Status};

use crate::memory::MIB;
use crate::row::row;
use crate::server::{Client, slowness};
use crate::watch::Bounds;

/// Points of a body that are all the same.
const COINCIDENT: usize = 1_000_000;

fn spec(source: Source, treatment: api::MeshTreatment) -> api::PolytopeSpec {
    let treatment = treatment.into();
    api::PolytopeSpec { source: Some(source), treatment, ..Default::default() }
}

fn mesh(xyz: &[f64], triangles: &[u32]) -> Source {
    let vertices = Some(api::Points { xyz: xyz.to_vec() });
    Source::Mesh(api::Mesh { vertices, triangles: triangles.to_vec() })
}

/// Triangles about one axis, of which each two cross in it.
fn fan(count: u32) -> Source {
    let triangle = |k: u32| {
        let (sine, cosine) = f64::from(k).sin_cos();
        [[cosine, sine, 0.0], [-cosine, -sine, -1.0], [-cosine, -sine, 1.0]].concat()
    };
    let xyz: Vec<f64> = (0..count).flat_map(triangle).collect();
    let triangles: Vec<u32> = (0..3 * count).collect();
    mesh(&xyz, &triangles)
}

/// What is sent, and what becomes of it: a body, or a refusal with its field.
fn registrations() -> Vec<(&'static str, api::PolytopeSpec, Result<(), &'static str>)> {
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let needle = [0.0, 0.0, 0.0, 1e-300, 0.0, 0.0, 1.0, 1e-300, 0.0, 1.0, 0.0, 1e-300];
    let solid = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let surface = api::MeshTreatment::Surface;
    let none = api::MeshTreatment::Unspecified;
    let heights = |height| {
        let heights = vec![0.0, 0.0, 0.0, height];
        let field = api::HeightField { rows: 2, columns: 2, heights, ..Default::default() };
        Source::HeightField(api::HeightField { spacing_x: 1.0, spacing_y: 1.0, ..field })
    };
    let ball = |radius| Source::Rounded(api::RoundedShape { radius, ..Default::default() });
    let point = |radius| {
        let xyz = vec![0.0; 3];
        Source::Cloud(api::PointCloud { xyz, radius, ..Default::default() })
    };
    vec![
        ("a needle", spec(mesh(&needle, &solid), surface), Ok(())),
        ("a solid needle", spec(mesh(&needle, &solid), api::MeshTreatment::Polyhedron), Ok(())),
        ("faces that all cross", spec(fan(3_000), surface), Ok(())),
        ("one face very often", spec(mesh(&corners, &[0, 1, 2].repeat(100_000)), surface), Ok(())),
        ("an index", spec(mesh(&corners, &[0, 1, 4]), surface), Err("polytopes[0].mesh.triangles")),
        (
            "the last index",
            spec(mesh(&corners, &[0, 1, u32::MAX]), surface),
            Err("polytopes[0].mesh.triangles"),
        ),
        (
            "a height of NaN",
            spec(heights(f32::NAN), none),
            Err("polytopes[0].height_field.heights[3]"),
        ),
        (
            "an infinite height",
            spec(heights(f32::INFINITY), none),
            Err("polytopes[0].height_field.heights[3]"),
        ),
        ("a radius of 1e300", spec(ball(1e300), none), Err("polytopes[0].rounded.radius")),
        ("a cloud of 1e300", spec(point(1e300), none), Err("polytopes[0].cloud.radius")),
    ]
}

/// The field that a refusal is about.
fn field_of(status: &Status) -> Option<String> {
    use tonic_types::StatusExt;
    let violations = status.get_error_details().bad_request()?.field_violations.clone();
    Some(violations.into_iter().next()?.field)
}

async fn register(client: &Client, spec: api::PolytopeSpec) -> Result<String, Status> {
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    let reply = client.polytopes().register_polytopes(request).await?.into_inner();
    Ok(reply.reports[0].polytope.clone().unwrap().id)
}

/// A body of points that are all the same.
async fn upload(client: &Client, spec: api::PolytopeSpec) -> Result<String, Status> {
    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let content = api::UploadContent::PointsF64Le.into();
    let header = api::UploadHeader { spec: Some(spec), content, ..Default::default() };
    let point: Vec<u8> = [3.0_f64, 0.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let bytes = Bytes::from(point.repeat(COINCIDENT));
    let mut parts = vec![part(Part::Header(header))];
    for first in (0..bytes.len()).step_by(MIB as usize) {
        let end = bytes.len().min(first + MIB as usize);
        parts.push(part(Part::Chunk(bytes.slice(first..end))));
    }
    let mut polytopes = client.polytopes();
    let reply = polytopes.upload_polytope(tokio_stream::iter(parts)).await?.into_inner();
    let polytope = reply.report.unwrap().polytope.unwrap();
    assert_eq!(polytope.vertex_count, 1);
    Ok(polytope.id)
}

/// Asks about all pairs of these: each is answered, or its time is over, or a body without volume
/// stands beside a solid, and the refusal names it.
async fn ask_all(client: &Client, ids: &[String]) {
    let body = |id: &String| {
        let source = Some(api::placed_body::Source::Id(id.clone()));
        Some(api::PlacedBody { source, ..Default::default() })
    };
    for p in ids {
        for q in ids {
            let asked =
                api::MeasureDistanceRequest { p: body(p), q: body(q), ..Default::default() };
            let mut asked = tonic::Request::new(asked);
            asked.set_timeout(Duration::from_secs(2) * slowness());
            match client.queries().measure_distance(asked).await {
                Ok(_) => {}
                // By the server's clock, or by the client's own.
                Err(status) if status.code() == Code::DeadlineExceeded => {}
                Err(status) if status.message() == "Timeout expired" => {}
                Err(status) if status.code() == Code::Unimplemented => {
                    let found = field_of(&status).unwrap_or_default();
                    assert!(["p", "q"].contains(&found.as_str()), "{found} {status:?}");
                }
                Err(status) => panic!("{p} {q} {status:?}"),
            }
        }
    }
}

async fn attack(client: Client, rounds: usize) {
    for _ in 0..rounds {
        let mut ids = BTreeMap::new();
        for (name, spec, expected) in registrations() {
            match (register(&client, spec).await, expected) {
                (Ok(id), Ok(())) => _ = ids.insert(name, id),
                (Err(status), Err(field)) => {
                    assert_eq!(status.code(), Code::InvalidArgument, "{name} {status:?}");
                    let found = field_of(&status).unwrap_or_default();
                    assert!(found.starts_with(field), "{name} {found}");
                }
                // A needle whose volume rounds to nothing is no solid.
                (Err(status), Ok(())) if status.code() == Code::InvalidArgument => {
                    assert_eq!(name, "a solid needle", "{status:?}");
                }
                (found, _) => panic!("{name} {found:?}"),
            }
        }
        let cloud = Source::Cloud(api::PointCloud { radius: 0.25, ..Default::default() });
        ids.insert("a cloud", upload(&client, spec(cloud, Default::default())).await.unwrap());
        ids.insert("a hull", upload(&client, api::PolytopeSpec::default()).await.unwrap());
        let ids: Vec<String> = ids.into_values().collect();
        ask_all(&client, &ids).await;
    }
}

#[test]
fn bodies_that_are_hardly_any_are_refused_or_answered_and_hold_up_nobody() {
    let bounds = Bounds { health_p99: Duration::from_millis(50), ..Bounds::default() };
    row("bodies that are hardly any", bounds, async |server| {
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..4 {
            clients.spawn(attack(server.connect().await, 2));
        }
        clients.join_all().await;
    });
}
