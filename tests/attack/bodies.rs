//! Bodies on which questions take long.

use std::f64::consts::TAU;

use clearance_proto as api;

use crate::questions::ball;
use crate::server::Client;

/// Points on a circle, at a height.
fn ring(count: u32, z: f64) -> impl Iterator<Item = [f64; 3]> {
    (0..count).map(move |k| {
        let turn = TAU * f64::from(k) / f64::from(count);
        [turn.cos(), turn.sin(), z]
    })
}

/// A flat disc.
fn coin(count: u32) -> Vec<f64> {
    ring(count, 0.0).flatten().collect()
}

/// A cylinder: two facets with very many corners.
fn drum(count: u32) -> Vec<f64> {
    ring(count, -0.5).chain(ring(count, 0.5)).flatten().collect()
}

/// A vertex with very many edges.
fn cone(count: u32) -> Vec<f64> {
    ring(count, 0.0).chain([[0.0, 0.0, 1.0]]).flatten().collect()
}

/// A bowl over a grid: corners with whole numbers, so that much is exactly degenerate.
fn bowl(side: i32) -> Vec<f64> {
    let columns = (-side..=side).flat_map(|x| (-side..=side).map(move |y| [x, y]));
    columns.flat_map(|[x, y]| [x, y, x * x + y * y].map(f64::from)).collect()
}

/// The mesh of a ring with a hole.
pub(crate) fn torus(around: u32, across: u32) -> api::Mesh {
    let point = |k: u32| {
        let u = TAU * f64::from(k / across) / f64::from(around);
        let v = TAU * f64::from(k % across) / f64::from(across);
        let radius = 1.0 + 0.4 * v.cos();
        [radius * u.cos(), radius * u.sin(), 0.4 * v.sin()]
    };
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    let quad = |i: u32, j: u32| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [a, b, c, a, c, d]
    };
    let xyz = (0..around * across).flat_map(point).collect();
    let quads = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let triangles = quads.flat_map(|(i, j)| quad(i, j)).collect();
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

/// Names of the polytopes that [`register_all`] registers.
pub(crate) const POLYTOPES: &[&str] = &["ball", "coin", "drum", "cone", "bowl"];

/// The polyhedron beside them.
pub(crate) const POLYHEDRON: &str = "torus";

/// Registers them, one by one: together they are more than a message holds.
pub(crate) async fn register_all(client: &Client, size: u32) {
    let side = i32::try_from(size.isqrt() / 2).unwrap();
    let polytopes = [ball(size), coin(size), drum(size), cone(size), bowl(side)];
    let points = |xyz| api::polytope_spec::Source::Vertices(api::Points { xyz });
    let mut specs: Vec<api::PolytopeSpec> = POLYTOPES
        .iter()
        .zip(polytopes)
        .map(|(alias, xyz)| api::PolytopeSpec {
            source: Some(points(xyz)),
            alias: (*alias).to_owned(),
            move_alias: true,
            ..Default::default()
        })
        .collect();
    let torus = torus(size.isqrt(), size.isqrt());
    specs.push(api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Mesh(torus)),
        alias: POLYHEDRON.to_owned(),
        move_alias: true,
        treatment: api::MeshTreatment::Polyhedron.into(),
        ..Default::default()
    });
    for spec in specs {
        let polytopes = vec![spec];
        let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
        client.polytopes().register_polytopes(request).await.expect("registered");
    }
}
