//! Questions, small and large.

use clearance_proto as api;

/// The corners of the unit cube, moved along x.
pub(crate) fn cube(x: f64) -> Vec<f64> {
    let corners = (0..8).map(|k| [x + f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)]);
    corners.flatten().collect()
}

/// A body by its points.
pub(crate) fn of_points(xyz: Vec<f64>) -> Option<api::PlacedBody> {
    let source = Some(api::placed_body::Source::Vertices(api::Points { xyz }));
    Some(api::PlacedBody { source, pose: None })
}

/// A registered body, moved along x.
pub(crate) fn registered(alias: &str, x: f64) -> Option<api::PlacedBody> {
    let translation = Some(api::Vector3 { x, y: 0.0, z: 0.0 });
    Some(api::PlacedBody {
        source: Some(api::placed_body::Source::Alias(alias.to_owned())),
        pose: Some(api::Pose { translation, orientation: None }),
    })
}

/// Two unit cubes, two apart: as small as questions are.
pub(crate) fn cubes_apart() -> api::CheckCollisionRequest {
    let (p, q) = (of_points(cube(0.0)), of_points(cube(3.0)));
    api::CheckCollisionRequest { p, q, ..Default::default() }
}

/// Points on the unit sphere, evenly along a spiral.
pub(crate) fn ball(count: u32) -> Vec<f64> {
    let point = |k: u32| {
        let z = (2.0 * f64::from(k) + 1.0) / f64::from(count) - 1.0;
        let (radius, turn) = ((1.0 - z * z).sqrt(), f64::from(k) * 2.4);
        [radius * turn.cos(), radius * turn.sin(), z]
    };
    (0..count).flat_map(point).collect()
}

/// Registers points under an alias.
pub(crate) async fn register(client: &crate::server::Client, alias: &str, xyz: Vec<f64>) {
    let source = Some(api::polytope_spec::Source::Vertices(api::Points { xyz }));
    let spec = api::PolytopeSpec { source, alias: alias.to_owned(), ..Default::default() };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    client.polytopes().register_polytopes(request).await.expect("registered");
}

/// A question that needs the method `exhaustive`.
pub(crate) fn exhaustive(alias: &str) -> api::CheckCollisionRequest {
    let method = "exhaustive".to_owned();
    api::CheckCollisionRequest {
        p: registered(alias, 0.0),
        q: registered(alias, 0.5),
        options: Some(api::QueryOptions { method, ..Default::default() }),
        ..Default::default()
    }
}

/// A question that waits for the pool: the hull of so many points is built for it.
pub(crate) fn about_a_hull(count: u32) -> api::CheckCollisionRequest {
    let (p, q) = (of_points(ball(count)), of_points(cube(3.0)));
    api::CheckCollisionRequest { p, q, ..Default::default() }
}

/// A question about the motion of two balls that turn: some milliseconds of work.
pub(crate) fn turning() -> api::FindFirstContactRequest {
    let axis = Some(api::Vector3 { x: 0.3, y: 1.0, z: 0.2 });
    let velocity = Some(api::Vector3 { x: -0.45, y: 0.0, z: 0.0 });
    let screw = api::ScrewMotion { pivot: None, velocity, axis, angle: 60.0 };
    api::FindFirstContactRequest {
        p: registered("ball", 0.0),
        q: registered("ball", 2.5),
        q_motion: Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) }),
        ..Default::default()
    }
}

/// The same registered body very often, each a little farther away, all on their ways.
pub(crate) fn many_moving(alias: &str, count: u32) -> api::FindFirstCollisionRequest {
    let velocity = Some(api::Vector3 { x: -3.0, y: 0.1, z: 0.01 });
    let linear = api::motion::Kind::Linear(api::LinearMotion { velocity });
    let moving = |k: u32| api::MovingBody {
        body: registered(alias, 2.5 * f64::from(k)),
        motion: Some(api::Motion { kind: Some(linear.clone()) }),
    };
    let bodies = (0..count).map(moving).collect();
    api::FindFirstCollisionRequest { bodies, ..Default::default() }
}
