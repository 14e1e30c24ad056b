//! Calls of every other kind, as long as they can be made, whose callers leave: the worker is free
//! soon after.

use std::time::{Duration, Instant};

use clearance_proto as api;

use crate::bodies::register_all;
use crate::deadlines::until_free;
use crate::questions::{ball, cube, of_points, register, registered};
use crate::row::row;
use crate::server::{Client, slowness};
use crate::watch::Bounds;

/// How long callers stay: they leave in different stages of the work.
const STAYS: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(150), Duration::from_millis(700)];

/// What may be under way to the server when a caller leaves.
pub(crate) const ON_THE_WAY: Duration = Duration::from_millis(10);

/// How much later the worker may be free again.
pub(crate) const LATE_MAX: Duration = Duration::from_millis(150);

/// Makes a call, gives it up, and says how much later the worker was free, at worst.
async fn lateness<T, F>(other: &Client, call: impl Fn() -> F) -> Duration
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    lateness_after(&STAYS, other, call).await
}

/// The same of callers that stay so long.
pub(crate) async fn lateness_after<T, F>(
    stays: &[Duration],
    other: &Client,
    call: impl Fn() -> F,
) -> Duration
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut worst = Duration::ZERO;
    for &stay in stays {
        let call = tokio::spawn(call());
        tokio::time::sleep(stay).await;
        call.abort();
        let start = Instant::now();
        until_free(other).await;
        tokio::time::sleep(ON_THE_WAY).await;
        until_free(other).await;
        worst = worst.max(start.elapsed().saturating_sub(ON_THE_WAY));
    }
    worst
}

/// A body of a session, by its parts.
fn of_parts(id: u32, parts: Vec<api::PlacedBody>) -> api::Body {
    api::Body { id: Some(id), parts, ..Default::default() }
}

/// A session with these bodies, of which everything is asked.
fn session(bodies: Vec<api::Body>, method: &str) -> api::OpenSessionRequest {
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        closest_points: true,
        depths: true,
        certificates: true,
        ..Default::default()
    };
    api::OpenSessionRequest {
        state: Some(api::SessionState { bodies, ..Default::default() }),
        report: Some(report),
        method: method.to_owned(),
        ..Default::default()
    }
}

/// Sessions that take long to open, with their names.
fn sessions() -> Vec<(&'static str, api::OpenSessionRequest)> {
    let parts = |count: u32| (0..count).map(|k| registered("cube", f64::from(k) / 8.0).unwrap());
    let compounds = (0..40).map(|id| of_parts(id, parts(256).collect())).collect();
    let one = |alias: &str, id: u32| {
        of_parts(id, vec![registered(alias, f64::from(id) / 1_000.0).unwrap()])
    };
    let large = (0..20).map(|id| one("3000", id)).collect();
    let pile = (0..300).map(|id| one("cube", id)).collect();
    let given = (0..40).map(|id| of_parts(id, vec![of_points(ball(1_000)).unwrap()])).collect();
    vec![
        ("40 bodies of 256 parts", session(compounds, "")),
        ("20 bodies of 3,000 vertices, exhaustive", session(large, "exhaustive")),
        ("300 cubes in one place", session(pile, "")),
        ("40 bodies by 1,000 points", session(given, "")),
    ]
}

#[test]
fn whatever_is_called_ends_soon_after_the_caller_has_left() {
    row("callers leave", Bounds::default(), async |server| {
        let (asker, other) = (server.connect().await, server.connect().await);
        register(&asker, "cube", cube(0.0)).await;
        register(&asker, "3000", ball(3_000)).await;
        register_all(&asker, 20_000 / slowness()).await;
        let mut late = Vec::new();
        let mut check = |name: &str, by: Duration| {
            println!("  {by:9.2?} {name}");
            if by > LATE_MAX * slowness() {
                late.push(format!("{by:?} {name}"));
            }
        };
        for (name, request) in sessions() {
            let call = || {
                let (mut sessions, request) = (asker.sessions(), request.clone());
                async move { sessions.open_session(request).await }
            };
            check(name, lateness(&other, call).await);
        }
        for (name, request) in registrations() {
            let call = || {
                let (mut polytopes, request) = (asker.polytopes(), request.clone());
                async move { polytopes.register_polytopes(request).await }
            };
            check(name, lateness(&other, call).await);
        }
        for (name, request) in collisions() {
            let call = || {
                let (mut queries, request) = (asker.queries(), request.clone());
                async move { queries.find_first_collision(request).await }
            };
            check(name, lateness(&other, call).await);
        }
        for (name, request) in batches() {
            let call = || {
                let (mut queries, request) = (asker.queries(), request.clone());
                async move { queries.batch_query(request).await }
            };
            check(name, lateness(&other, call).await);
        }
        for (name, claim) in claims(&asker).await {
            let call = || {
                let (mut queries, claim) = (asker.queries(), Some(claim.clone()));
                let request = api::VerifyCertificateRequest { claim };
                async move { queries.verify_certificate(request).await }
            };
            check(name, lateness(&other, call).await);
        }
        assert!(late.is_empty(), "too late:\n{}", late.join("\n"));
    });
}

/// A long thin cylinder of slivers, whose boxes all meet.
fn slivers(count: u32) -> api::Mesh {
    let lean = |[x, y, z]: [f64; 3]| [x + 3.0 * z, y + 2.0 * z, z];
    let ring = |z: f64| {
        (0..count).map(move |k| {
            let turn = std::f64::consts::TAU * f64::from(k) / f64::from(count);
            lean([turn.cos(), turn.sin(), z])
        })
    };
    let ends = [lean([0.0, 0.0, 0.0]), lean([0.0, 0.0, 10.0])];
    let xyz = ring(0.0).chain(ring(10.0)).chain(ends).flatten().collect();
    let (low, high) = (2 * count, 2 * count + 1);
    let triangles = (0..count).flat_map(|a| {
        let b = (a + 1) % count;
        let (c, d) = (a + count, b + count);
        [a, b, d, a, d, c, low, b, a, high, c, d]
    });
    api::Mesh { vertices: Some(api::Points { xyz }), triangles: triangles.collect() }
}

/// Polytopes that take long to register.
fn registrations() -> Vec<(&'static str, api::RegisterPolytopesRequest)> {
    let of = |source, treatment: api::MeshTreatment| {
        let source = Some(source);
        let spec = api::PolytopeSpec { source, treatment: treatment.into(), ..Default::default() };
        api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false }
    };
    let points = |xyz| api::polytope_spec::Source::Vertices(api::Points { xyz });
    let mesh = |mesh| api::polytope_spec::Source::Mesh(mesh);
    let one = points(cube(0.0));
    let many = api::RegisterPolytopesRequest {
        polytopes: (0..1_000)
            .map(|_| api::PolytopeSpec { source: Some(one.clone()), ..Default::default() })
            .collect(),
        validate_only: true,
    };
    let whole: Vec<f64> =
        (0..56 * 56 * 54).flat_map(|k| [k % 56, k / 56 % 56, k / 3_136].map(f64::from)).collect();
    vec![
        ("a hull of 170,000 points", of(points(ball(170_000)), api::MeshTreatment::Unspecified)),
        ("a hull of a grid", of(points(whole), api::MeshTreatment::Unspecified)),
        ("a polyhedron of slivers", of(mesh(slivers(15_000)), api::MeshTreatment::Polyhedron)),
        ("a mesh of slivers", of(mesh(slivers(15_000)), api::MeshTreatment::Hull)),
        ("1,000 cubes", many),
    ]
}

/// Several bodies, in one place or on their ways.
fn collisions() -> Vec<(&'static str, api::FindFirstCollisionRequest)> {
    let moving = |alias: &str, k: u32| {
        let velocity = Some(api::Vector3 { x: -3.0, y: f64::from(k % 7) * 0.1, z: 0.01 });
        let linear = api::motion::Kind::Linear(api::LinearMotion { velocity });
        api::MovingBody {
            body: registered(alias, 2.9 * f64::from(k % 30)),
            motion: Some(api::Motion { kind: Some(linear) }),
        }
    };
    let of = |alias: &str, count: u32| api::FindFirstCollisionRequest {
        bodies: (0..count).map(|k| moving(alias, k)).collect(),
        ..Default::default()
    };
    vec![
        ("1,000 cubes on their ways", of("cube", 1_000)),
        ("30 rings on their ways", of("torus", 30)),
        ("60 balls on their ways", of("ball", 60)),
    ]
}

/// Many questions in one call.
fn batches() -> Vec<(&'static str, api::BatchQueryRequest)> {
    use api::batch_query_item::Question;
    let of = |question: Question| {
        let item = api::BatchQueryItem { question: Some(question) };
        api::BatchQueryRequest { items: vec![item; 1_000] }
    };
    let (p, q) = (registered("3000", 0.0), registered("3000", 0.1));
    let depth = api::MeasurePenetrationRequest {
        p: p.clone(),
        q: q.clone(),
        with_surface: true,
        ..Default::default()
    };
    let hulls = api::CheckCollisionRequest { p: of_points(ball(150)), q, ..Default::default() };
    vec![
        ("1,000 depths with surfaces", of(Question::MeasurePenetration(depth))),
        ("1,000 hulls", of(Question::CheckCollision(hulls))),
    ]
}

/// Claims whose proofs take long to judge.
async fn claims(client: &Client) -> Vec<(&'static str, api::verify_certificate_request::Claim)> {
    use api::verify_certificate_request::Claim;
    let (p, q) = (registered("3000", 0.0), registered("3000", 0.1));
    let depth = api::MeasurePenetrationRequest {
        p: p.clone(),
        q: q.clone(),
        with_surface: true,
        ..Default::default()
    };
    let mut queries = client.queries();
    let answer = queries.measure_penetration(depth.clone()).await.unwrap().into_inner();
    let depth = api::PenetrationClaim { question: Some(depth), answer: Some(answer) };
    let (p, q) = (registered("ball", 0.0), registered("ball", 2.5));
    let axis = Some(api::Vector3 { x: 0.3, y: 1.0, z: 0.2 });
    let velocity = Some(api::Vector3 { x: -0.4, y: 0.0, z: 0.0 });
    let screw = api::ScrewMotion { pivot: None, velocity, axis, angle: 20.0 };
    let turned = api::FindFirstContactRequest {
        p: p.clone(),
        q: q.clone(),
        q_motion: Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) }),
        ..Default::default()
    };
    let answer = queries.find_first_contact(turned.clone()).await.unwrap().into_inner();
    let turned = api::FirstContactClaim { question: Some(turned), answer: Some(answer) };
    let far = api::MeasureDistanceRequest { p, q, ..Default::default() };
    let answer = queries.measure_distance(far.clone()).await.unwrap().into_inner();
    let far = api::DistanceClaim { question: Some(far), answer: Some(answer) };
    vec![
        ("a depth with its surface, judged", Claim::Penetration(depth)),
        ("a way while turning, judged", Claim::FirstContact(turned)),
        ("a distance of large balls, judged", Claim::Distance(far)),
    ]
}
