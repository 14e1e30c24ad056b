//! Cylinders, cones and ellipsoids by name.

use api::Verdict::{Overlapping, Separated, Touching};
use api::placed_body::Source;
use api::polytope_spec::Source as Registered;
use api::rounded_shape::Core;
use clearance_proto as api;
use tonic::Code;

use crate::polyhedra::{channel, keep, register};
use crate::server::{Server, check, vector, with_cube};
use crate::sessions::{all_pairs, started, step};

pub(crate) fn cylinder(radius_xy: f64, length: f64) -> Core {
    Core::Cylinder(api::Cylinder { radius_xy, length })
}

pub(crate) fn cone(radius_xy: f64, length: f64) -> Core {
    Core::Cone(api::Cone { radius_xy, length })
}

pub(crate) fn ellipsoid(x: f64, y: f64, z: f64) -> Core {
    Core::Ellipsoid(api::Vector3 { x, y, z })
}

fn shape(core: Core, radius: f64) -> api::RoundedShape {
    api::RoundedShape { core: Some(core), radius, scale: None }
}

fn placed(source: Source, [x, y, z]: [f64; 3]) -> api::PlacedBody {
    let pose = api::Pose { translation: vector(x, y, z), orientation: None };
    api::PlacedBody { source: Some(source), pose: Some(pose) }
}

fn at(core: Core, radius: f64, place: [f64; 3]) -> api::PlacedBody {
    placed(Source::Rounded(shape(core, radius)), place)
}

fn floor() -> api::PlacedBody {
    at(Core::HalfSpace(api::HalfSpace { reach: 0.0 }), 0.0, [0.0; 3])
}

fn spec(alias: &str, shape: api::RoundedShape) -> api::PolytopeSpec {
    let source = Some(Registered::Rounded(shape));
    api::PolytopeSpec { source, alias: alias.to_owned(), ..Default::default() }
}

async fn stand(
    server: &Server,
    p: api::PlacedBody,
    q: api::PlacedBody,
) -> api::CheckCollisionResponse {
    let question = api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() };
    server.queries().check_collision(question).await.unwrap().into_inner()
}

#[tokio::test]
async fn what_is_curved_rests_on_caps_and_ends_of_axes_exactly() {
    let server = Server::start().await;
    for (core, radius, height) in [
        (cylinder(0.3, 1.5), 0.0, 0.75_f64),
        (cylinder(0.3, 1.5), 0.25, 1.0),
        (cone(0.3, 1.5), 0.0, 0.75),
        (ellipsoid(0.3, 2.0, 0.75), 0.0, 0.75),
    ] {
        for (z, expected) in
            [(height, Touching), (height.next_up(), Separated), (height.next_down(), Overlapping)]
        {
            let body = at(core.clone(), radius, [7.0, -3.0, z]);
            let answer = stand(&server, body, floor()).await;
            assert_eq!(answer.verdict(), expected, "{core:?} {z}");
            assert!(answer.certificate.is_some() && !answer.uncertified);
        }
    }
    // A ball beside a ball along no axis: the distance of the middles is the root of 3.
    let ball = || ellipsoid(1.0, 1.0, 1.0);
    for (size, expected) in [(1.0, Overlapping), (1.155, Separated)] {
        let other = at(ball(), 0.0, [size; 3]);
        assert_eq!(stand(&server, at(ball(), 0.0, [0.0; 3]), other).await.verdict(), expected);
    }
}

#[tokio::test]
async fn a_registered_cone_is_described_and_asked_about_and_a_mirrored_one_is_another() {
    let server = with_cube().await;
    let cone = || shape(cone(1.0, 3.0), 0.0);
    let report = register(&server, spec("cone", cone())).await.unwrap();
    let told = report.polytope.unwrap();
    assert!(told.id.starts_with("e1-") && report.input_was_convex);
    assert!((told.volume - std::f64::consts::PI).abs() < 1e-14, "{}", told.volume);
    assert_eq!((told.vertex_count, told.face_count, told.dimension), (0, 0, 3));
    assert_eq!(told.bounds_low, vector(-1.0, -1.0, -1.5));
    let id = async |scale: Option<api::Vector3>| {
        let report = register(&server, spec("", api::RoundedShape { scale, ..cone() })).await;
        report.unwrap().polytope.unwrap().id
    };
    assert_eq!(id(vector(-1.0, 1.0, 1.0)).await, told.id);
    assert_ne!(id(vector(1.0, 1.0, -1.0)).await, told.id);
    let wide = api::RoundedShape { scale: vector(2.0, 1.0, 1.0), ..cone() };
    let apart = [
        (Source::Alias("cone".into()), 1.0),
        (Source::Rounded(cone()), 1.0),
        (Source::Rounded(wide), 2.0),
    ];
    for (source, reach) in apart {
        let cube = placed(Source::Alias("cube".into()), [reach + 0.5, -0.5, -1.5]);
        let question = api::MeasureDistanceRequest {
            p: Some(placed(source, [0.0; 3])),
            q: Some(cube),
            margin: Some(0.5),
            ..Default::default()
        };
        let answer = server.queries().measure_distance(question).await.unwrap().into_inner();
        let told = answer.distance.unwrap();
        assert_eq!((answer.verdict(), answer.within_margin), (Separated, Some(true)));
        assert!(told.lower <= 0.5 && 0.5 <= told.upper && told.upper - told.lower < 1e-9);
        let normal = answer.normal.unwrap();
        assert!((normal.x + 1.0).abs() < 1e-9 && normal.y.abs() < 1e-9 && normal.z.abs() < 1e-9);
    }
    let get = api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Alias("cone".into())),
        with_vertices: true,
        ..Default::default()
    };
    let status = server.polytopes().get_polytope(get).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}

#[tokio::test]
async fn how_deep_and_when_is_told_as_brackets_and_what_is_open_says_so() {
    let server = Server::start().await;
    let body = at(ellipsoid(1.0, 2.0, 0.5), 0.25, [0.0, 0.0, 0.5]);
    let question = api::MeasurePenetrationRequest {
        p: Some(body.clone()),
        q: Some(floor()),
        ..Default::default()
    };
    let answer = server.queries().measure_penetration(question).await.unwrap().into_inner();
    let depth = answer.depth.unwrap();
    assert_eq!((answer.verdict(), answer.direction), (Overlapping, vector(0.0, 0.0, 1.0)));
    assert!(depth.lower <= 0.25 && 0.25 <= depth.upper && depth.upper - depth.lower < 1e-9);
    assert!(answer.certificate.is_some() && !answer.uncertified);
    let spin = api::ScrewMotion {
        velocity: vector(0.0, 0.0, -2.0),
        axis: vector(0.0, 0.0, 1.0),
        angle: 3.0,
        pivot: None,
    };
    let up = |z| placed(body.source.clone().unwrap(), [0.0, 0.0, z]);
    let question = api::FindFirstContactRequest {
        p: Some(up(1.75)),
        q: Some(floor()),
        p_motion: Some(api::Motion { kind: Some(api::motion::Kind::Screw(spin)) }),
        ..Default::default()
    };
    let answer = server.queries().find_first_contact(question).await.unwrap().into_inner();
    let [free, met] = [answer.t_free, answer.t_contact.unwrap()];
    assert!(free <= 0.5 && 0.5 <= met && met - free < 1e-8, "{free} {met}");
    assert_eq!(answer.initial_verdict(), Separated);
    // Nearer than rounding tells: by a rotation that is not exact.
    let half = std::f64::consts::FRAC_PI_8;
    let rotation = api::Quaternion { w: half.cos(), x: half.sin(), y: 0.0, z: 0.0 };
    let orientation = Some(api::pose::Orientation::Rotation(rotation));
    let translation = vector(0.0, 0.0, 1.0);
    let pose = Some(api::Pose { translation, orientation });
    let ball = api::PlacedBody { pose, ..at(ellipsoid(1.0, 1.0, 1.0), 0.0, [0.0; 3]) };
    let question = api::MeasureDistanceRequest {
        p: Some(ball.clone()),
        q: Some(floor()),
        ..Default::default()
    };
    let answer = server.queries().measure_distance(question).await.unwrap().into_inner();
    let told = answer.distance.unwrap();
    assert!(told.lower <= 1e-15 && told.upper < 1e-12, "{told:?}");
    let answer = stand(&server, ball, floor()).await;
    if answer.verdict() == api::Verdict::Unspecified {
        assert_eq!(answer.stopped(), api::Stopped::Unresolved);
    }
}

#[tokio::test]
async fn a_curved_body_stands_beside_a_mesh_as_its_hollow_says() {
    let server = Server::start().await;
    register(&server, keep("channel", channel())).await.unwrap();
    let report = register(&server, keep("", channel())).await.unwrap().polytope.unwrap();
    let [low, high] = [report.bounds_low.unwrap(), report.bounds_high.unwrap()];
    let channel = placed(Source::Alias("channel".into()), [0.0; 3]);
    let across = (high.x - low.x) / 2.0;
    let over = [low.x + across, high.y + 0.5, 0.5];
    let ball = |gap: f64| at(ellipsoid(0.25, 0.5 - gap, 0.25), 0.0, over);
    assert_eq!(stand(&server, ball(1e-3), channel.clone()).await.verdict(), Separated);
    let thin = at(ellipsoid(0.01, 0.01, 0.01), 0.0, [0.5, 0.5, 0.5]);
    assert_ne!(stand(&server, thin, channel).await.verdict(), api::Verdict::Unspecified);
}

/// What falls onto a floor, in frames: apart, at rest, and through it within a frame.
#[tokio::test]
async fn a_session_tells_of_curved_bodies_what_questions_tell() {
    let server = started().await;
    register(&server, spec("tube", shape(cylinder(0.5, 2.0), 0.0))).await.unwrap();
    let source = |core, radius| Source::Rounded(shape(core, radius));
    let sources = [
        Source::Alias("tube".into()),
        source(cone(0.5, 2.0), 0.0),
        source(ellipsoid(0.5, 0.75, 1.0), 0.0),
        source(cylinder(0.5, 1.0), 0.5),
    ];
    let pose = |k: u32, z: f64| api::Pose {
        translation: vector(4.0 * f64::from(k), 0.5, z),
        orientation: None,
    };
    let bodies = (0..4).zip(sources).map(|(k, source)| api::Body {
        id: Some(2 + k),
        parts: vec![placed(source, [0.0; 3])],
        pose: Some(pose(k, 3.0)),
        ..Default::default()
    });
    let ground = api::Body { id: Some(1), parts: vec![floor()], ..Default::default() };
    let bodies = std::iter::once(ground).chain(bodies).collect();
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let opening = api::OpenSessionRequest { session_id: "s".into(), state, ..Default::default() };
    server.sessions().open_session(opening).await.unwrap();
    let all = all_pairs().unwrap();
    let report = api::ReportOptions { first_contacts: true, certificates: true, ..all };
    let heights = [2.0, 1.0, 1.0f64.next_up(), 1.0f64.next_down(), 3.0, 0.5];
    let frames = (1..).zip(heights).map(|(frame_id, z)| {
        let moved =
            |k| api::BodyPose { id: Some(2 + k), pose: Some(pose(k, z)), ..Default::default() };
        api::Frame {
            frame_id,
            poses: (0..4).map(moved).collect(),
            report: Some(Box::new(report)),
            ..Default::default()
        }
    });
    let reports = step(&server, "s", frames.collect()).await.unwrap();
    let expected = [Separated, Touching, Separated, Overlapping, Separated, Overlapping];
    for ((report, expected), z) in reports.iter().zip(expected).zip(heights) {
        let pairs: Vec<_> = report.pairs.iter().filter(|pair| pair.a == 1).collect();
        assert_eq!(pairs.len(), 4);
        for pair in pairs {
            assert_eq!(pair.verdict(), expected, "{z} {pair:?}");
            let told = pair.distance.as_ref().unwrap();
            let gap = (z - 1.0).max(0.0);
            assert!(told.lower <= gap && gap <= told.upper, "{z} {told:?}");
            assert!(told.upper - told.lower <= 1e-9 * told.upper, "{z} {told:?}");
        }
    }
    let last = reports[5].pairs.iter().find(|pair| pair.a == 1 && pair.b == 4).unwrap();
    let met = last.first_contact.as_ref().unwrap();
    let (free, contact) = (met.t_free, met.t_contact.unwrap());
    assert!(free <= 0.8 && 0.8 <= contact && contact - free < 1e-8, "{free} {contact}");
    let events: usize = reports.iter().map(|report| report.events.len()).sum();
    assert!(events >= 12, "{events}");
}

#[tokio::test]
async fn sizes_out_of_range_are_refused_with_their_field() {
    let server = started().await;
    for (core, field) in [
        (cylinder(0.0, 1.0), "cylinder.radius_xy"),
        (cylinder(1.0, -1.0), "cylinder.length"),
        (cone(f64::NAN, 1.0), "cone.radius_xy"),
        (cone(1.0, f64::INFINITY), "cone.length"),
        (ellipsoid(1.0, 2.0, 0.0), "ellipsoid.z"),
        (ellipsoid(2f64.powi(301), 2.0, 1.0), "ellipsoid.x"),
        (ellipsoid(1.0, 2f64.powi(-300), 1.0), "ellipsoid.y"),
    ] {
        let status = register(&server, spec("", shape(core, 0.0))).await.unwrap_err();
        let field = format!("polytopes[0].rounded.{field}");
        check(&status, Code::InvalidArgument, "BAD_FIELD", &field);
    }
    for scale in [2f64.powi(301), 2f64.powi(-302)] {
        let scaled =
            api::RoundedShape { scale: vector(scale, 1.0, 1.0), ..shape(cone(1.0, 1.0), 0.0) };
        let status = register(&server, spec("", scaled)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].rounded.scale");
    }
}
