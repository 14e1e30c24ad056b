//! Every method, every question, on bodies that make it long, with a deadline of 20 ms: there is an
//! answer, and the worker is free again, soon after.

use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::batch_query_item::Question;
use clearance_proto::pose::Orientation;
use tonic::Request;

use crate::bodies::{POLYHEDRON, POLYTOPES, register_all};
use crate::row::row;
use crate::server::{Client, slowness};
use crate::watch::Bounds;

const DEADLINE: Duration = Duration::from_millis(20);

/// How much later the worker may be free again. A loop looks at its effort every millisecond; the
/// rest is for machines that are busy with other things, and for the tables that `h_walk`, `prism`
/// and `cd_dual` build of a body when they are first asked about it, which look at none yet.
const LATE_MAX: Duration = Duration::from_millis(200);

/// Vertices of the bodies: as many as the thorough methods do not hand over, and very many.
const SIZES: [u32; 3] = [250, 1_290, 40_000];

/// The sizes that are tried: without optimisation, bodies of the largest take minutes to register.
fn sizes() -> &'static [u32] {
    if slowness() == 1 { &SIZES } else { &SIZES[..2] }
}

/// A body by alias, a little turned.
fn body(alias: &str, x: f64, turn: f64) -> Option<api::PlacedBody> {
    let source = Some(api::placed_body::Source::Alias(alias.to_owned()));
    let turn = api::Quaternion { w: 1.0, x: turn, y: 0.3 * turn, z: 0.7 * turn };
    let pose = api::Pose {
        translation: Some(api::Vector3 { x, y: 0.1 * turn.x, z: 0.05 * turn.x }),
        orientation: Some(turn).filter(|turn| turn.x != 0.0).map(Orientation::Rotation),
    };
    Some(api::PlacedBody { source, pose: Some(pose) })
}

/// The motions that first contacts are looked for along.
fn motions() -> [api::motion::Kind; 2] {
    let velocity = Some(api::Vector3 { x: -4.0, y: 0.1, z: 0.02 });
    let axis = Some(api::Vector3 { x: 0.3, y: 1.0, z: 0.2 });
    let screw = api::ScrewMotion { pivot: None, velocity, axis, angle: 20.0 };
    [api::motion::Kind::Linear(api::LinearMotion { velocity }), api::motion::Kind::Screw(screw)]
}

/// Names of the methods for each kind of question, and the question about two bodies.
struct Kinds(api::GetServerInfoResponse);

impl Kinds {
    /// Every question about `alias` and itself at a distance, with its name.
    fn about(&self, alias: &str, x: f64, turn: f64) -> Vec<(String, Question)> {
        let Self(info) = self;
        let (p, q) = (body(alias, 0.0, 0.0), body(alias, x, turn));
        let mut all = Vec::new();
        let mut add = |kind: &str, method: &str, question| {
            all.push((format!("{kind} {method} of {alias} at {x}, {turn}"), question));
        };
        let options = |method: &api::MethodInfo| {
            Some(api::QueryOptions { method: method.name.clone(), ..Default::default() })
        };
        for method in &info.methods {
            let (p, q, options) = (p.clone(), q.clone(), options(method));
            let ask = api::CheckCollisionRequest { p, q, margin: Some(0.25), options };
            add("collision", &method.name, Question::CheckCollision(ask));
        }
        for method in &info.distance_methods {
            let (p, q, options) = (p.clone(), q.clone(), options(method));
            let ask = api::MeasureDistanceRequest { p, q, options, ..Default::default() };
            add("distance", &method.name, Question::MeasureDistance(ask));
        }
        for method in &info.along_methods {
            let (p, q, options) = (p.clone(), q.clone(), options(method));
            let direction = Some(api::Vector3 { x: 1.0, y: 0.01, z: 0.02 });
            let ask = api::MeasureDistanceAlongRequest { p, q, direction, options };
            add("along", &method.name, Question::MeasureDistanceAlong(ask));
        }
        let (with_surface, options_of) = (true, options);
        let ask = api::MeasurePenetrationRequest {
            p: p.clone(),
            q: q.clone(),
            with_surface,
            ..Default::default()
        };
        add("penetration", "", Question::MeasurePenetration(ask));
        for (motion, name) in motions().into_iter().zip(["moved", "turned"]) {
            for method in &info.first_contact_methods {
                let ask = api::FindFirstContactRequest {
                    p: p.clone(),
                    q: q.clone(),
                    q_motion: Some(api::Motion { kind: Some(motion.clone()) }),
                    options: options_of(method),
                    ..Default::default()
                };
                add(name, &method.name, Question::FindFirstContact(ask));
            }
        }
        all
    }
}

/// Asks, gives up at the deadline, and says how much later the worker was free.
async fn lateness(asker: &Client, other: &Client, question: Question) -> Duration {
    let items = vec![api::BatchQueryItem { question: Some(question) }];
    let mut request = Request::new(api::BatchQueryRequest { items });
    request.set_timeout(DEADLINE);
    let start = Instant::now();
    // It may be answered in time, or not.
    let _ = asker.queries().batch_query(request).await;
    until_free(other).await;
    start.elapsed().saturating_sub(DEADLINE)
}

/// Returns as soon as nothing is in the pool.
pub(crate) async fn until_free(client: &Client) {
    let mut info = client.info();
    loop {
        let reply = info.get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        if reply.into_inner().usage.unwrap().jobs == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn every_method_stops_soon_after_its_deadline_on_every_body() {
    row("deadlines of 20 ms", Bounds::default(), async |server| {
        let (asker, other) = (server.connect().await, server.connect().await);
        let info = asker.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        let kinds = Kinds(info.into_inner());
        let (mut late, mut count) = (Vec::new(), 0);
        for &size in sizes() {
            register_all(&asker, size).await;
            for alias in POLYTOPES.iter().chain([&POLYHEDRON]) {
                for (x, turn) in [(0.01, 1e-3), (1.999, 1e-3), (2.5, 1e-3), (0.5, 0.0), (2.0, 0.0)]
                {
                    for (name, question) in kinds.about(alias, x, turn) {
                        count += 1;
                        let by = lateness(&asker, &other, question).await;
                        if by > LATE_MAX * slowness() {
                            late.push(format!("{by:?} {name} of {size}"));
                        }
                    }
                }
            }
        }
        assert!(late.is_empty(), "{} of {count} questions:\n{}", late.len(), late.join("\n"));
    });
}
