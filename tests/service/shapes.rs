//! Shapes by name: half spaces on which bodies rest, and scales.

use api::Verdict::{Overlapping, Separated, Touching};
use api::placed_body::Source;
use api::polytope_spec::Source as Registered;
use api::robot_obstacle::Shape;
use api::rounded_shape::Core;
use clearance_proto as api;
use tonic::Code;

use crate::polyhedra::{channel, keep, register};
use crate::robots::{cell_of, robots, verdicts};
use crate::server::{Server, body, check, spec, vector, verify, with_cube};
use crate::sessions::{all_pairs, started, step};

/// The distance of the plane from the origin of the world, and an ulp to either side of it.
const PLANE: f64 = 0.3;

fn half_space(reach: f64) -> api::RoundedShape {
    let core = Some(Core::HalfSpace(api::HalfSpace { reach }));
    api::RoundedShape { core, ..Default::default() }
}

fn at(shape: api::RoundedShape, z: f64) -> api::PlacedBody {
    let pose = api::Pose { translation: vector(0.0, 0.0, z), orientation: None };
    api::PlacedBody { source: Some(Source::Rounded(shape)), pose: Some(pose) }
}

fn cube_at(z: f64) -> api::PlacedBody {
    let pose = api::Pose { translation: vector(5.0, -7.0, z), orientation: None };
    api::PlacedBody { pose: Some(pose), ..body("cube", 0.0) }
}

async fn verdict(server: &Server, p: api::PlacedBody, q: api::PlacedBody) -> api::Verdict {
    let question = api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    let found = answer.verdict();
    let claim = api::CollisionClaim { question: Some(question), answer: Some(answer) };
    let claim = api::verify_certificate_request::Claim::Collision(claim);
    verify(server, claim).await.unwrap();
    found
}

#[tokio::test]
async fn what_rests_on_a_half_space_touches_and_an_ulp_decides_whatever_its_reach() {
    let server = with_cube().await;
    for reach in [0.0, 100.0, 2f64.powi(959)] {
        for (z, expected) in
            [(PLANE, Touching), (PLANE.next_up(), Separated), (PLANE.next_down(), Overlapping)]
        {
            let floor = at(half_space(reach), PLANE);
            assert_eq!(verdict(&server, floor.clone(), cube_at(z)).await, expected);
            assert_eq!(verdict(&server, cube_at(z), floor.clone()).await, expected);
            let ball = api::RoundedShape { radius: PLANE, ..Default::default() };
            let ground = at(half_space(reach), 0.0);
            assert_eq!(verdict(&server, at(ball, z), ground).await, expected);
        }
        let padded = api::RoundedShape { radius: 0.5, ..half_space(reach) };
        assert_eq!(verdict(&server, at(padded.clone(), 0.0), cube_at(0.5)).await, Touching);
        let above = cube_at(0.5f64.next_up());
        assert_eq!(verdict(&server, at(padded, 0.0), above).await, Separated);
        // Turned over by its scale it is what is above the plane.
        let ceiling = api::RoundedShape { scale: vector(1.0, 1.0, -1.0), ..half_space(reach) };
        assert_eq!(verdict(&server, at(ceiling.clone(), 1.0), cube_at(0.0)).await, Touching);
        let below = cube_at((-1f64).next_down());
        assert_eq!(verdict(&server, at(ceiling, 0.0), below).await, Separated);
    }
    let refused = at(half_space(2f64.powi(959).next_up()), 0.0);
    let question = api::CheckCollisionRequest {
        p: Some(refused),
        q: Some(cube_at(0.0)),
        ..Default::default()
    };
    let status = server.queries().check_collision(question).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "p.rounded.half_space.reach");
}

#[tokio::test]
async fn depth_and_first_contact_of_a_half_space_are_those_of_its_plane() {
    let server = with_cube().await;
    let floor = at(half_space(0.0), 0.0);
    let question = api::MeasurePenetrationRequest {
        p: Some(floor.clone()),
        q: Some(cube_at(-0.25)),
        ..Default::default()
    };
    let found = server.queries().measure_penetration(question).await.unwrap().into_inner();
    let depth = found.depth.unwrap();
    assert!(depth.lower <= 0.25 && 0.25 <= depth.upper && depth.upper - depth.lower < 1e-9);
    let falls = api::LinearMotion { velocity: vector(3.0, 1.0, -8.0) };
    let falls = api::Motion { kind: Some(api::motion::Kind::Linear(falls)) };
    let question = api::FindFirstContactRequest {
        p: Some(floor),
        q: Some(cube_at(4.0)),
        q_motion: Some(falls),
        ..Default::default()
    };
    let found = server.queries().find_first_contact(question).await.unwrap().into_inner();
    let [before, after] = [found.t_free, found.t_contact.unwrap()];
    assert_eq!(found.outcome(), api::Outcome::Contact);
    assert!(before <= 0.5 && 0.5 <= after && after - before < 1e-15, "{before} {after}");
}

#[tokio::test]
async fn bodies_rest_on_a_half_space_in_sessions_and_in_cells() {
    let server = started().await;
    let heights = [0.0, 0.0f64.next_up(), -0.0f64.next_up(), 0.25, -0.25];
    let boxes = (2..).zip(heights).map(|(id, z)| api::Body {
        id: Some(id),
        parts: vec![body("cube", 0.0)],
        pose: Some(api::Pose {
            translation: vector(f64::from(id) * 9.0, 0.0, z),
            orientation: None,
        }),
        ..Default::default()
    });
    let floor =
        api::Body { id: Some(1), parts: vec![at(half_space(0.0), 0.0)], ..Default::default() };
    let bodies = std::iter::once(floor).chain(boxes).collect();
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let opening = api::OpenSessionRequest { session_id: "s".into(), state, ..Default::default() };
    server.sessions().open_session(opening).await.unwrap();
    let frame = api::Frame { frame_id: 1, report: all_pairs().map(Box::new), ..Default::default() };
    let reports = step(&server, "s", vec![frame]).await.unwrap();
    let on_floor = reports[0].pairs.iter().filter(|pair| pair.a == 1);
    let found: Vec<_> = on_floor.map(api::PairReport::verdict).collect();
    assert_eq!(found, [Touching, Separated, Overlapping, Separated, Overlapping]);

    let lift = r#"<robot name="lift"><link name="rail"/><link name="box"><collision><geometry>
      <box size="1 1 1"/></geometry></collision></link>
      <joint name="slide" type="prismatic"><parent link="rail"/><child link="box"/>
      <axis xyz="0 0 1"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;
    let shape = Some(Shape::Rounded(half_space(0.0)));
    let cell = cell_of(
        &server,
        lift,
        vec![api::RobotObstacle { shape, pose: None, ..Default::default() }],
    )
    .await;
    let values = [0.5, 0.5f64.next_up(), 0.5f64.next_down(), 3.0];
    let question = crate::robots::check(&cell, api::CheckMode::FirstPair, &values);
    let answer = robots(&server).check_configurations(question).await.unwrap().into_inner();
    assert_eq!(verdicts(&answer), [Touching, Separated, Overlapping, Separated]);
}

fn scaled(core: Core, [x, y, z]: [f64; 3], radius: f64) -> api::RoundedShape {
    api::RoundedShape { core: Some(core), radius, scale: vector(x, y, z) }
}

fn shape_spec(shape: api::RoundedShape) -> api::PolytopeSpec {
    api::PolytopeSpec { source: Some(Registered::Rounded(shape)), ..Default::default() }
}

#[tokio::test]
async fn a_scaled_shape_is_the_one_of_its_products_and_its_radius_stays() {
    let server = Server::start().await;
    let sizes = |x, y, z| Core::Box(api::Vector3 { x, y, z });
    let id = async |shape| {
        let report = register(&server, shape_spec(shape)).await.unwrap();
        report.polytope.unwrap().id
    };
    let plain = id(scaled(sizes(2.0, 1.0, 3.0), [1.0; 3], 0.25)).await;
    assert_eq!(id(scaled(sizes(1.0, 1.0, 1.0), [2.0, -1.0, 3.0], 0.25)).await, plain);
    let points = |xyz: &[f64]| api::Points { xyz: xyz.to_vec() };
    let given = [0., 0., 0., 1., 0., 0., 0., 0.1, 0., 0., 0., 1.];
    let mirrored = scaled(Core::Vertices(points(&given)), [-3.0, 3.0, 1.0], 0.0);
    let product = 0.1 * 3.0;
    let expected = [0., 0., 0., -3., 0., 0., 0., product, 0., 0., 0., 1.];
    assert_eq!(id(mirrored).await, server.register("made", &expected).await);
    let by_spec = api::PolytopeSpec { scale: vector(-3.0, 3.0, 1.0), ..spec("", &given) };
    let report = register(&server, by_spec).await.unwrap();
    assert_eq!(report.polytope.unwrap().id, server.register("made", &expected).await);
}

#[tokio::test]
async fn a_mirrored_mesh_keeps_its_outside_outside() {
    let server = Server::start().await;
    let whole = register(&server, keep("", channel())).await.unwrap();
    for scale in [[-1.0, 1.0, 1.0], [1.0, -2.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, -1.0, 3.0]] {
        let [x, y, z] = scale;
        let spec = api::PolytopeSpec { scale: vector(x, y, z), ..keep("", channel()) };
        let report = register(&server, spec).await.unwrap();
        let factor = (x * y * z).abs();
        let volumes = (report.polytope.unwrap().volume, whole.polytope.as_ref().unwrap().volume);
        assert!((volumes.0 - factor * volumes.1).abs() < 1e-9, "{volumes:?}");
    }
    // What becomes too small to be told apart is one point, and no polyhedron any more.
    let mut small = channel();
    small.vertices.as_mut().unwrap().xyz.iter_mut().for_each(|x| *x *= 0.1);
    let spec = api::PolytopeSpec { scale: vector(5e-324, 1.0, 1.0), ..keep("", small) };
    let status = register(&server, spec).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_scale_that_is_none_or_has_nothing_to_scale_is_refused_with_its_field() {
    let server = Server::start().await;
    let refuse = async |spec: api::PolytopeSpec, field: &str| {
        let status = register(&server, spec).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    };
    for (scale, field) in [
        ([0.0, 1.0, 1.0], "scale.x"),
        ([1.0, 1.0, -0.0], "scale.z"),
        ([1.0, f64::NAN, 1.0], "scale.y"),
        ([1.0, 1.0, f64::INFINITY], "scale.z"),
        ([1.0, 1.0, 2f64.powi(960)], "scale"),
    ] {
        let shape = scaled(Core::Length(4.0), scale, 0.5);
        refuse(shape_spec(shape), &format!("polytopes[0].rounded.{field}")).await;
        let [x, y, z] = scale;
        let points = spec("", &[0., 0., 0., 1., 0., 4.]);
        let points = api::PolytopeSpec { scale: vector(x, y, z), ..points };
        refuse(points, &format!("polytopes[0].{field}")).await;
    }
    let ball = api::RoundedShape { radius: 1.0, scale: vector(2.0, 2.0, 2.0), core: None };
    refuse(shape_spec(ball), "polytopes[0].rounded.scale").await;
    let twice = shape_spec(half_space(1.0));
    let twice = api::PolytopeSpec { scale: vector(1.0, 1.0, 1.0), ..twice };
    refuse(twice, "polytopes[0].scale").await;
    let field = api::HeightField {
        rows: 2,
        columns: 2,
        spacing_x: 1.0,
        spacing_y: 1.0,
        heights: vec![0.0; 4],
        ..Default::default()
    };
    let source = Some(Registered::HeightField(field));
    let field = api::PolytopeSpec { source, scale: vector(1.0, 1.0, 2.0), ..Default::default() };
    refuse(field, "polytopes[0].scale").await;
}

/// What rests on a floor is looked at, and what is above it is not, however far the floor reaches.
#[tokio::test]
async fn a_session_looks_at_no_more_pairs_above_a_half_space_than_above_a_floor_of_a_box() {
    const BODIES: u32 = 300;
    let server = started().await;
    let sizes = Core::Box(api::Vector3 { x: 200.0, y: 200.0, z: 10.0 });
    let plate = api::RoundedShape { core: Some(sizes), ..Default::default() };
    let mut looked_at = Vec::new();
    for (name, floor) in [
        ("box", at(plate, -5.0)),
        ("near", at(half_space(100.0), 0.0)),
        ("far", at(half_space(0.0), 0.0)),
        ("farther", at(half_space(2f64.powi(40)), 0.0)),
    ] {
        let pose = |id: u32, frame: u32| {
            let (row, column) = (f64::from(id / 20), f64::from(id % 20));
            let height = if id.is_multiple_of(3) { 0.0 } else { 0.125 };
            let translation = vector(3.0 * row + 0.01 * f64::from(frame), 3.0 * column, height);
            Some(api::Pose { translation, orientation: None })
        };
        let boxes = (2..BODIES).map(|id| api::Body {
            id: Some(id),
            parts: vec![body("cube", 0.0)],
            pose: pose(id, 0),
            ..Default::default()
        });
        let floor = api::Body { id: Some(1), parts: vec![floor], ..Default::default() };
        let bodies = std::iter::once(floor).chain(boxes).collect();
        let state = Some(api::SessionState { bodies, ..Default::default() });
        let session_id = name.to_owned();
        let opening = api::OpenSessionRequest { session_id, state, ..Default::default() };
        server.sessions().open_session(opening).await.unwrap();
        let frames = (1..4).map(|frame| {
            let moved =
                |id| api::BodyPose { id: Some(id), pose: pose(id, frame), ..Default::default() };
            let poses = (2..BODIES).map(moved).collect();
            api::Frame { frame_id: frame.into(), poses, ..Default::default() }
        });
        let reports = step(&server, name, frames.collect()).await.unwrap();
        looked_at.push(reports[2].cost.as_ref().unwrap().pairs_looked_at);
    }
    assert!(looked_at[0] >= u64::from(BODIES / 3) - 1, "{looked_at:?}");
    assert!(looked_at.iter().all(|count| *count <= looked_at[0]), "{looked_at:?}");
}
