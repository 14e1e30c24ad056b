//! Cylinders, cones and ellipsoids as links, among what stands still, on the way between frames and
//! as shapes that scenes are asked about: by closed form, and what is wrong with them.

use api::placed_body::Source;
use api::robot_obstacle::Shape;
use api::rounded_shape::Core;
use api::scene_query::Kind;
use clearance_proto as api;
use tonic::Code;
use tonic_types::StatusExt;

use crate::robots::{cell_of, check, robots, verdicts};
use crate::server::{Server, vector};
use crate::sessions::{cube_at, started, step};

use api::Verdict::{Overlapping, Separated, Touching};

/// An upright cylinder of radius 0.5 whose middle is at the value of its joint.
const ROLLER: &str = r#"<robot name="roller"><link name="rail"/><link name="tube">
  <collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="tube"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;

fn at(x: f64, y: f64) -> Option<api::Pose> {
    Some(api::Pose { translation: vector(x, y, 0.0), orientation: None })
}

fn cylinder(radius_xy: f64) -> api::RoundedShape {
    let core = Some(Core::Cylinder(api::Cylinder { radius_xy, length: 2.0 }));
    api::RoundedShape { core, ..Default::default() }
}

fn obstacle(shape: api::RoundedShape, pose: Option<api::Pose>) -> api::RobotObstacle {
    api::RobotObstacle { shape: Some(Shape::Rounded(shape)), pose, ..Default::default() }
}

async fn registered(server: &Server, shape: api::RoundedShape) -> String {
    let source = Some(api::polytope_spec::Source::Rounded(shape));
    let spec = api::PolytopeSpec { source, ..Default::default() };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], ..Default::default() };
    let made = server.polytopes().register_polytopes(request).await.unwrap().into_inner();
    made.reports[0].polytope.as_ref().unwrap().id.clone()
}

/// 3, 4 and 5: at 3 the axes are 5 from each other.
#[tokio::test]
async fn cylinders_of_cells_meet_where_their_radii_say_however_they_are_given() {
    let server = Server::start().await;
    let by_shape = obstacle(cylinder(4.5), at(6.0, 4.0));
    let scale = vector(9.0, 9.0, 1.0);
    let by_scale = obstacle(api::RoundedShape { scale, ..cylinder(0.5) }, at(6.0, 4.0));
    let id = registered(&server, cylinder(4.5)).await;
    assert!(id.starts_with("e1-"));
    let by_id =
        api::RobotObstacle { shape: Some(Shape::Id(id)), pose: at(6.0, 4.0), ..Default::default() };
    let mut client = robots(&server);
    for obstacle in [by_shape, by_scale, by_id] {
        let cell = cell_of(&server, ROLLER, vec![obstacle]).await;
        for mode in [api::CheckMode::FirstPair, api::CheckMode::AllPairs] {
            let values = [3.0 - 1e-10, 3.0 + 1e-10, 0.0, 3.0];
            let answer = client.check_configurations(check(&cell, mode, &values)).await.unwrap();
            let answer = answer.into_inner();
            let told = verdicts(&answer);
            assert_eq!(told[..3], [Separated, Overlapping, Separated]);
            assert!([Touching, api::Verdict::Unspecified].contains(&told[3]), "{:?}", told[3]);
            // What is open is listed with its pair, and is no contact.
            assert_eq!(answer.contact_indices, [1, 3]);
            assert_eq!(answer.contact_verdicts().collect::<Vec<_>>(), [Overlapping, told[3]]);
            assert!(answer.refused.is_empty());
        }
        let mut question = check(&cell, api::CheckMode::Clearance, &[3.0, 6.0, 0.0]);
        question.with_gradient = true;
        let answer = client.check_configurations(question).await.unwrap().into_inner();
        let bracket = |k: usize| [answer.clearance_lowers[k], answer.clearance_uppers[k]];
        let [lower, upper] = bracket(0);
        assert!(lower <= 0.0 && 0.0 <= upper && upper - lower < 1e-12, "{lower} {upper}");
        let far = 52.0_f64.sqrt() - 5.0;
        for (k, expected) in [(1, -1.0), (2, far)] {
            let [lower, upper] = bracket(k);
            assert!(lower - 1e-14 <= expected && expected <= upper + 1e-14, "{lower} {upper}");
            assert!(upper - lower <= 1e-9 * expected.abs());
        }
        assert!((answer.normals[7] - 4.0 / 52.0_f64.sqrt()).abs() < 1e-6);
    }
}

#[tokio::test]
async fn a_cylinder_of_a_urdf_stands_out_by_nothing_unless_a_polytope_is_asked_for() {
    let server = Server::start().await;
    let mut client = robots(&server);
    let mut part = async |gap_max: Option<f64>| {
        let urdf = ROLLER.to_owned();
        let request = api::RegisterRobotRequest { urdf, gap_max, ..Default::default() };
        let robot = client.register_robot(request).await.unwrap().into_inner().robot.unwrap();
        robot.parts[0].clone()
    };
    let exact = part(None).await;
    assert_eq!((exact.gap, exact.gap_lower), (Some(0.0), Some(0.0)));
    let known = registered(&server, cylinder(0.5)).await;
    assert_eq!(exact.polytope_id, known);
    let around = part(Some(1e-3)).await;
    assert!(around.gap.unwrap() > 0.0 && !around.polytope_id.starts_with("e1-"));

    // The same, registered and named as a mesh.
    let shape = r#"<cylinder radius="0.5" length="2"/>"#;
    let urdf = ROLLER.replace(shape, r#"<mesh filename="tube" scale="1 1 2"/>"#);
    let source = Some(api::robot_mesh::Source::Id(known));
    let meshes = vec![api::RobotMesh { name: "tube".to_owned(), source }];
    let request = api::RegisterRobotRequest { urdf, meshes, ..Default::default() };
    let robot = client.register_robot(request).await.unwrap().into_inner().robot.unwrap();
    assert_eq!((robot.parts[0].gap, robot.parts[0].gap_lower), (Some(0.0), Some(0.0)));
    assert!(robot.parts[0].polytope_id.starts_with("e1-"));
}

#[tokio::test]
async fn edges_of_cylinders_end_where_these_meet_and_are_certified() {
    let server = Server::start().await;
    let cell = cell_of(&server, ROLLER, vec![obstacle(cylinder(1.0), at(4.0, 0.0))]).await;
    let question = api::CheckEdgesRequest {
        cell: Some(cell),
        starts: vec![0.0, 0.0],
        ends: vec![5.0, 2.0],
        certificate: true,
        ..Default::default()
    };
    let answer = robots(&server).check_edges(question.clone()).await.unwrap().into_inner();
    let outcomes: Vec<_> = answer.outcomes().collect();
    assert_eq!(outcomes, [api::Outcome::Contact, api::Outcome::NoContact]);
    assert!(answer.free_until[0] <= 0.5 && 0.5 <= answer.contact_at[0]);
    assert!(answer.contact_at[0] - answer.free_until[0] <= 1e-6);
    let made = &answer.certificates;
    assert!(made[0].first_inside.is_some() && made[0].second_inside.is_some());
    assert!(!made[0].hulls.is_empty() && made[1].contact.is_none());
    let judged = async |question: &api::CheckEdgesRequest, answer: &api::CheckEdgesResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        let claim = api::EdgesClaim { question, answer };
        let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
        let request = api::VerifyCertificateRequest { claim };
        server.queries().verify_certificate(request).await.map(|told| told.into_inner().valid)
    };
    assert!(judged(&question, &answer).await.unwrap());
    let mut wrong = answer.clone();
    wrong.certificates[0].first_inside.as_mut().unwrap().xyz.iter_mut().for_each(|x| *x *= 1.01);
    assert!(!judged(&question, &wrong).await.unwrap());
    let mut wrong = answer.clone();
    wrong.certificates[0].first_inside = None;
    assert!(!judged(&question, &wrong).await.unwrap());
    let mut wrong = answer.clone();
    wrong.certificates[0].hulls[0].outer_triangles.pop();
    let refused = judged(&question, &wrong).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("certificates[0].hulls[0].outer_triangles"), "{refused}");
    let mut thicker = question;
    thicker.cell.as_mut().unwrap().obstacles[0] = obstacle(cylinder(2.0), at(4.0, 0.0));
    assert!(!judged(&thicker, &answer).await.unwrap());
}

#[tokio::test]
async fn what_is_no_curved_obstacle_is_refused_with_its_field() {
    let server = Server::start().await;
    for (radius, scale, field) in [
        (0.0, None, "cylinder.radius_xy"),
        (f64::NAN, None, "cylinder.radius_xy"),
        (-1.0, None, "cylinder.radius_xy"),
        (2f64.powi(301), None, "cylinder.radius_xy"),
        (1.0, vector(0.0, 1.0, 1.0), "scale.x"),
        (1.0, vector(2f64.powi(301), 1.0, 1.0), "scale"),
    ] {
        let wrong = obstacle(api::RoundedShape { scale, ..cylinder(radius) }, None);
        let cell = cell_of(&server, ROLLER, vec![wrong]).await;
        let question = check(&cell, api::CheckMode::FirstPair, &[0.0]);
        let refused = robots(&server).check_configurations(question).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{radius}");
        let details = refused.get_error_details();
        let told = &details.bad_request().unwrap().field_violations[0].field;
        assert_eq!(*told, format!("cell.obstacles[0].rounded.{field}"));
    }
}

#[tokio::test]
async fn a_robot_of_cylinders_meets_curved_bodies_between_frames_of_a_session() {
    let server = started().await;
    let request = api::RegisterRobotRequest { urdf: ROLLER.to_owned(), ..Default::default() };
    let robot = robots(&server).register_robot(request).await.unwrap().into_inner().robot.unwrap();
    let post = api::PlacedBody {
        source: Some(Source::Rounded(cylinder(1.0))),
        pose: Some(api::Pose::default()),
    };
    let post =
        api::Body { id: Some(1), parts: vec![post], pose: at(4.0, 0.0), ..Default::default() };
    let arm = api::SessionRobot { id: Some(100), robot_id: robot.id, ..Default::default() };
    let state = api::SessionState { bodies: vec![post], robots: vec![arm], ..Default::default() };
    let report = api::ReportOptions { first_contacts: true, ..Default::default() };
    let opening = api::OpenSessionRequest {
        session_id: "s".into(),
        state: Some(state),
        report: Some(report),
        ..Default::default()
    };
    server.sessions().open_session(opening).await.unwrap();
    let moved = api::RobotMove { id: Some(100), values: vec![5.0], ..Default::default() };
    let frame = api::Frame { frame_id: 1, robot_moves: vec![moved], ..Default::default() };
    let reports = step(&server, "s", vec![frame]).await.unwrap();
    let event = &reports[0].events[0];
    let time = event.time.as_ref().unwrap();
    assert!(time.lower <= 0.5 && 0.5 <= time.upper && time.upper - time.lower < 1e-5, "{time:?}");
}

#[tokio::test]
async fn scenes_are_asked_about_curved_shapes() {
    let server = started().await;
    let state = api::SessionState { bodies: vec![cube_at(1, 3.0)], ..Default::default() };
    let opening = api::OpenSessionRequest {
        session_id: "s".into(),
        state: Some(state),
        ..Default::default()
    };
    server.sessions().open_session(opening).await.unwrap();
    let shape = |x: f64, y: f64| {
        let pose = Some(api::Pose { translation: vector(x, y, 0.5), orientation: None });
        Some(api::PlacedBody { source: Some(Source::Rounded(cylinder(0.5))), pose })
    };
    let velocity = vector(10.0, 0.0, 0.0);
    let motion = api::motion::Kind::Linear(api::LinearMotion { velocity });
    let cast = |y: f64| api::ShapeCast {
        body: shape(0.0, y),
        motion: Some(api::Motion { kind: Some(motion.clone()) }),
        ..Default::default()
    };
    let nearest = |x| api::NearestQuery { body: shape(x, 0.5), count: 1, ..Default::default() };
    let kinds = [
        Kind::ShapeCast(cast(0.5)),
        Kind::ShapeCast(cast(1.625)),
        Kind::Overlap(shape(2.75, 0.5).unwrap()),
        Kind::Overlap(shape(2.25, 0.5).unwrap()),
        Kind::Nearest(nearest(1.0)),
        Kind::Nearest(nearest(2.75)),
    ];
    let queries = kinds
        .into_iter()
        .map(|kind| api::SceneQuery { kind: Some(kind), ..Default::default() })
        .collect();
    let request =
        api::QuerySceneRequest { session_id: "s".to_owned(), queries, ..Default::default() };
    let told = server.sessions().query_scene(request).await.unwrap().into_inner().answers;
    let met = |k: usize| {
        let time = told[k].hits[0].time.as_ref().unwrap();
        [time.lower, time.upper]
    };
    let [free, contact] = met(0);
    assert!(free <= 0.25 && 0.25 <= contact && contact - free < 1e-8, "{free} {contact}");
    assert!(told[1].hits.is_empty(), "{:?}", told[1]);
    assert_eq!((told[2].hits.len(), told[3].hits.len()), (1, 0));
    let distance = told[4].hits[0].distance.as_ref().unwrap();
    assert!(distance.lower <= 1.5 && 1.5 <= distance.upper, "{distance:?}");
    assert!(distance.upper - distance.lower < 1e-8, "{distance:?}");
    assert_eq!(told[5].hits.len(), 1);
}
