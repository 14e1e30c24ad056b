//! Balls and capsules as links and among what stands still: by closed form, and what is wrong with
//! them.

use api::robot_obstacle::Shape;
use api::rounded_shape::Core;
use clearance_proto as api;
use tonic::Code;
use tonic_types::StatusExt;

use crate::robots::{cell_of, check, robots, verdicts};
use crate::server::Server;

use api::Verdict::{Overlapping, Separated, Touching};

/// A ball of radius 0.5 whose middle is at the value of its joint.
const ROLLER: &str = r#"<robot name="roller"><link name="rail"/><link name="ball">
  <collision><geometry><sphere radius="0.5"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="ball"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;

fn at(x: f64, y: f64) -> Option<api::Pose> {
    let translation = Some(api::Vector3 { x, y, z: 0.0 });
    Some(api::Pose { translation, orientation: None })
}

fn rounded(core: Option<Core>, radius: f64, pose: Option<api::Pose>) -> api::RobotObstacle {
    let shape = Shape::Rounded(api::RoundedShape { core, radius, scale: None });
    api::RobotObstacle { shape: Some(shape), pose, ..Default::default() }
}

/// 3, 4 and 5: at 3 the middles are 5 from each other.
#[tokio::test]
async fn balls_and_capsules_of_cells_touch_where_their_radii_say_however_they_are_given() {
    let server = Server::start().await;
    let ball = rounded(None, 4.5, at(6.0, 4.0));
    let pill = rounded(Some(Core::Length(2.0)), 4.5, at(6.0, 4.0));
    let spec = api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Rounded(api::RoundedShape {
            core: None,
            radius: 4.5,
            scale: None,
        })),
        ..Default::default()
    };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], ..Default::default() };
    let made = server.polytopes().register_polytopes(request).await.unwrap().into_inner();
    let id = made.reports[0].polytope.as_ref().unwrap().id.clone();
    let by_id =
        api::RobotObstacle { shape: Some(Shape::Id(id)), pose: at(6.0, 4.0), ..Default::default() };
    let values = [3.0f64.next_down(), 3.0, 3.0f64.next_up(), 0.0];
    let mut client = robots(&server);
    for obstacle in [ball, pill, by_id] {
        let cell = cell_of(&server, ROLLER, vec![obstacle]).await;
        for mode in [api::CheckMode::FirstPair, api::CheckMode::AllPairs] {
            let answer = client.check_configurations(check(&cell, mode, &values)).await.unwrap();
            let expected = [Separated, Touching, Overlapping, Separated];
            assert_eq!(verdicts(&answer.into_inner()), expected);
        }
        let mut question = check(&cell, api::CheckMode::Clearance, &[3.0, 6.0]);
        question.with_gradient = true;
        let answer = client.check_configurations(question).await.unwrap().into_inner();
        let [lower, upper] = [&answer.clearance_lowers, &answer.clearance_uppers];
        assert_eq!([lower[0], upper[0]], [0.0; 2]);
        assert!(lower[1] <= -1.0 && -1.0 <= upper[1] && upper[1] - lower[1] < 1e-11);
        assert!((answer.normals[0] - 0.6).abs() < 1e-12 && answer.normals[4] > 0.99);
    }
    let described = client.list_robots(api::ListRobotsRequest::default()).await.unwrap();
    let part = &described.into_inner().robots[0].parts[0];
    assert_eq!((part.gap, part.gap_lower), (Some(0.0), Some(0.0)));
    assert!(part.polytope_id.starts_with("r1-"));
}

#[tokio::test]
async fn paths_of_balls_are_certified_and_what_is_proven_of_them_is_not_of_thicker_ones() {
    let server = Server::start().await;
    let cell = cell_of(&server, ROLLER, vec![rounded(None, 1.0, at(4.0, 0.0))]).await;
    let question = api::CheckEdgesRequest {
        cell: Some(cell),
        starts: vec![0.0, 0.0],
        ends: vec![5.0, 2.0],
        certificate: true,
        ..Default::default()
    };
    let answer = robots(&server).check_edges(question.clone()).await.unwrap().into_inner();
    assert_eq!(
        answer.outcomes().collect::<Vec<_>>(),
        [api::Outcome::Contact, api::Outcome::NoContact]
    );
    assert!(answer.free_until[0] <= 0.5 && 0.5 <= answer.contact_at[0]);
    let judged = async |question: api::CheckEdgesRequest| {
        let claim = api::EdgesClaim { question: Some(question), answer: Some(answer.clone()) };
        let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
        let request = api::VerifyCertificateRequest { claim };
        server.queries().verify_certificate(request).await.unwrap().into_inner().valid
    };
    assert!(judged(question.clone()).await);
    let mut thicker = question;
    thicker.cell.as_mut().unwrap().obstacles[0] = rounded(None, 2.0, at(4.0, 0.0));
    assert!(!judged(thicker).await);
}

#[tokio::test]
async fn what_is_no_radius_is_refused_with_its_field() {
    let server = Server::start().await;
    let mut client = robots(&server);
    let largest = 2f64.powi(960);
    for (radius, is_good) in [
        (f64::NAN, false),
        (f64::INFINITY, false),
        (-f64::MIN_POSITIVE, false),
        (largest.next_up(), false),
        (1e300, false),
        (5e-324, true),
        (0.0, true),
        (largest, true),
    ] {
        let cell = cell_of(&server, ROLLER, vec![rounded(None, radius, at(4.0, 0.0))]).await;
        let question = check(&cell, api::CheckMode::Clearance, &[0.0]);
        let answer = client.check_configurations(question).await;
        if is_good {
            answer.unwrap();
            continue;
        }
        let refused = answer.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{radius}");
        let details = refused.get_error_details();
        let field = &details.bad_request().unwrap().field_violations[0].field;
        assert_eq!(field, "cell.obstacles[0].rounded.radius");
    }
}
