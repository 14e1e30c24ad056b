//! Clouds of points in cells: verdicts and clearances by closed form, changes in a stream, and what
//! is wrong with them.

use api::robot_obstacle::Shape;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tokio_stream::iter;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::robots::{SLIDER, cell_of, check, robots, verdicts};
use crate::server::{self, Server};

fn cloud(xyz: &[f64], radius: f64) -> api::RobotObstacle {
    let cloud = api::PointCloud { xyz: xyz.to_vec(), xyz_single: vec![], radius };
    api::RobotObstacle { shape: Some(Shape::Cloud(cloud)), pose: None, ..Default::default() }
}

fn change(obstacle: u32, first: u32, removed: u32, xyz: &[f64]) -> api::CloudChange {
    api::CloudChange { obstacle, first, removed, xyz: xyz.to_vec(), xyz_single: vec![] }
}

/// The field that is blamed.
pub(crate) fn field(status: &Status) -> String {
    let details = status.get_error_details();
    let violation = details.bad_request().and_then(|bad| bad.field_violations.first());
    violation.map_or_else(String::new, |one| one.field.clone())
}

use api::Verdict::{Overlapping, Separated, Touching};

/// The cart is a cube of side 1 whose middle is at the value of its joint.
#[tokio::test]
async fn a_cloud_in_a_cell_is_the_union_of_its_balls_and_names_the_nearest() {
    let server = Server::start().await;
    let far = cloud(&[0.0, 50.0, 0.0], 1.0);
    let near = cloud(&[-30.0, 0.0, 0.0, 3.0, 0.0, 0.0, 3.0, 0.0, 0.0, 4.0, 0.0, 0.0], 0.25);
    let mut cell = cell_of(&server, SLIDER, vec![far, near]).await;
    let values = [0.0, 2.25, f64::from_bits(2.25_f64.to_bits() + 1), 3.0];
    let mut client = robots(&server);
    for is_single in [false, true] {
        if is_single {
            let Some(Shape::Cloud(cloud)) = &mut cell.obstacles[1].shape else { panic!() };
            #[expect(clippy::cast_possible_truncation, reason = "they are small whole numbers")]
            let single = cloud.xyz.iter().map(|x| *x as f32).collect();
            (cloud.xyz, cloud.xyz_single) = (vec![], single);
        }
        for mode in [api::CheckMode::FirstPair, api::CheckMode::AllPairs] {
            let answer = client.check_configurations(check(&cell, mode, &values)).await.unwrap();
            let answer = answer.into_inner();
            let expected = [Separated, Touching, Overlapping, Overlapping];
            assert_eq!(verdicts(&answer), expected);
            assert_eq!((answer.contact_firsts, answer.contact_seconds), (vec![0; 3], vec![2; 3]));
            assert!(answer.clearance_points.is_empty());
        }
        let mut question = check(&cell, api::CheckMode::Clearance, &values);
        question.with_gradient = true;
        let answer = client.check_configurations(question).await.unwrap().into_inner();
        assert_eq!(answer.clearance_points, [1, 1, 1, 1]);
        assert_eq!(answer.clearance_seconds, [2, 2, 2, 2]);
        let [lower, upper] = [&answer.clearance_lowers, &answer.clearance_uppers];
        assert!(lower[0] <= 2.25 && 2.25 <= upper[0] && upper[0] - lower[0] < 1e-11);
        assert_eq!([lower[1], upper[1]], [0.0, 0.0]);
        // The middle of the cube is half a side deep, and the ball around it as well.
        assert!(lower[3] <= -0.75 && -0.75 <= upper[3] && upper[3] - lower[3] < 1e-11);
        assert!((answer.gradients[0] + 1.0).abs() < 1e-12, "{:?}", answer.gradients);
        // Rounded: within the width of the clearance.
        assert!((answer.points_first[0] - 0.5).abs() < 1e-11, "{:?}", answer.points_first);
        assert_eq!(answer.points_first[1..3], [0.0; 2]);
        assert_eq!(answer.points_second[..3], [2.75, 0.0, 0.0]);
        assert_eq!(answer.normals[..3], [1.0, 0.0, 0.0]);
    }
    // A point is in contact where it is in the cube, its surface included.
    let points = cloud(&[3.0, 0.5, 0.0], 0.0);
    let cell = cell_of(&server, SLIDER, vec![points]).await;
    let question = check(&cell, api::CheckMode::FirstPair, &[2.4, 2.5, 3.0]);
    let answer = client.check_configurations(question).await.unwrap().into_inner();
    assert_eq!(verdicts(&answer), [Separated, Touching, Touching]);
}

#[tokio::test]
async fn edges_end_where_they_come_to_a_ball() {
    let server = Server::start().await;
    let cell = cell_of(&server, SLIDER, vec![cloud(&[3.0, 0.0, 0.0], 0.25)]).await;
    let edges = api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: vec![0.0, 0.0],
        ends: vec![4.5, 2.2],
        ..Default::default()
    };
    let mut client = robots(&server);
    let answer = client.check_edges(edges.clone()).await.unwrap().into_inner();
    let outcomes: Vec<api::Outcome> = answer.outcomes().collect();
    assert_eq!(outcomes, [api::Outcome::Contact, api::Outcome::NoContact]);
    let (free_until, contact_at) = (answer.free_until[0], answer.contact_at[0]);
    assert!(free_until <= 0.5 && 0.5 <= contact_at && contact_at - free_until <= 1e-6);
    assert_eq!((answer.near_firsts, answer.near_seconds), (vec![0], vec![1]));
    let within = api::CheckEdgesRequest { margin: 0.1, ..edges.clone() };
    let answer = client.check_edges(within).await.unwrap().into_inner();
    assert_eq!(answer.outcomes().collect::<Vec<_>>(), [api::Outcome::Contact; 2]);
    let certified = api::CheckEdgesRequest { certificate: true, ..edges.clone() };
    let answer = client.check_edges(certified.clone()).await.unwrap().into_inner();
    assert!(answer.certificates.iter().all(|made| !made.pieces.is_empty()));
    let judged = async |question: &api::CheckEdgesRequest| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        let claim = api::EdgesClaim { question, answer };
        let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
        let request = api::VerifyCertificateRequest { claim };
        server.queries().verify_certificate(request).await.map(|told| told.into_inner().valid)
    };
    assert!(judged(&certified).await.unwrap());
    let beside = |obstacle| {
        let mut other = certified.clone();
        other.cell.as_mut().unwrap().obstacles[0] = obstacle;
        other
    };
    // Of thicker balls it is not free as long, and thinner ones are not met.
    for radius in [0.26, 0.24] {
        assert!(!judged(&beside(cloud(&[3.0, 0.0, 0.0], radius))).await.unwrap(), "{radius}");
    }
    // Of very many points there are no certificates.
    let many: Vec<f64> = (0..65_537).flat_map(|k| [f64::from(k), 50.0, 0.0]).collect();
    let large = beside(cloud(&many, 0.25));
    let refused = client.check_edges(large.clone()).await.unwrap_err();
    server::check(&refused, Code::Unimplemented, "NOT_IMPLEMENTED", "certificate");
    let refused = judged(&large).await.unwrap_err();
    let field = "edges.question.cell.obstacles[0].cloud";
    server::check(&refused, Code::Unimplemented, "NOT_IMPLEMENTED", field);
}

#[tokio::test]
async fn a_stream_changes_its_clouds_and_others_keep_theirs() {
    let server = Server::start().await;
    let near = cloud(&[3.0, 0.0, 0.0, -30.0, 0.0, 0.0], 0.25);
    let cell = cell_of(&server, SLIDER, vec![cloud(&[0.0, 50.0, 0.0], 1.0), near]).await;
    let question = check(&cell, api::CheckMode::FirstPair, &[0.0, 3.0, 6.0]);
    let next = api::CheckConfigurationsRequest { cell: None, ..question.clone() };
    let ask = |check: &api::CheckConfigurationsRequest, changes: Vec<api::CloudChange>| {
        api::StreamConfigurationsRequest { check: Some(check.clone()), cloud_changes: changes }
    };
    let messages = [
        ask(&question, vec![]),
        ask(&next, vec![change(1, 0, 1, &[6.0, 0.0, 0.0])]),
        ask(&next, vec![]),
        ask(&next, vec![change(1, 2, 0, &[0.0, 0.0, 0.0]), change(1, 0, 1, &[])]),
        ask(&question, vec![change(1, 1, 1, &[]), change(0, 0, 1, &[3.0, 9.0, 0.0])]),
    ];
    let expected = [
        [Separated, Overlapping, Separated],
        [Separated, Separated, Overlapping],
        [Separated, Separated, Overlapping],
        [Overlapping, Separated, Separated],
        [Separated, Overlapping, Separated],
    ];
    let mut client = robots(&server);
    let mut stream = client.stream_configurations(iter(messages)).await.unwrap().into_inner();
    for expected in expected {
        let answer = stream.message().await.unwrap().unwrap().answer.unwrap();
        assert_eq!(verdicts(&answer), expected);
        // The cell that stays built is the one that was asked for.
        let answer = client.check_configurations(question.clone()).await.unwrap().into_inner();
        assert_eq!(verdicts(&answer), [Separated, Overlapping, Separated]);
    }
    assert!(stream.message().await.unwrap().is_none());

    let wrong = [
        (change(2, 0, 0, &[]), "obstacle"),
        (change(0, 2, 0, &[]), "first"),
        (change(1, 1, 2, &[]), "removed"),
        (change(0, 0, 1, &[]), "removed"),
        (change(1, 0, 0, &[1.0, 2.0]), "xyz"),
        (change(1, 0, 0, &[1.0, f64::NAN, 0.0]), "xyz[1]"),
    ];
    for (change, name) in wrong {
        let messages = [ask(&question, vec![]), ask(&next, vec![change])];
        let mut stream = client.stream_configurations(iter(messages)).await.unwrap().into_inner();
        stream.message().await.unwrap();
        let status = stream.message().await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(field(&status), format!("cloud_changes[0].{name}"), "{status:?}");
    }
    let first = [ask(&next, vec![change(0, 0, 0, &[])])];
    let mut stream = client.stream_configurations(iter(first)).await.unwrap().into_inner();
    assert_eq!(field(&stream.message().await.unwrap_err()), "check.cell");
}

#[tokio::test]
async fn what_is_wrong_with_a_cloud_is_said_with_its_field() {
    let limits = Limits { cloud_points_max: 3, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let good = [1.0, 2.0, 3.0];
    let robot = cell_of(&server, SLIDER, vec![]).await.robots;
    let mut client = robots(&server);
    let both = api::PointCloud { xyz: good.to_vec(), xyz_single: vec![1.0; 3], radius: 0.0 };
    let both =
        api::RobotObstacle { shape: Some(Shape::Cloud(both)), pose: None, ..Default::default() };
    let cases = [
        (vec![cloud(&[], 1.0)], "[0].cloud"),
        (vec![cloud(&[1.0, 2.0], 1.0)], "[0].cloud.xyz"),
        (vec![cloud(&[1.0, 2.0, f64::INFINITY], 1.0)], "[0].cloud.xyz[2]"),
        (vec![cloud(&[1.0, 1e300, 0.0], 1.0)], "[0].cloud.xyz[1]"),
        (vec![cloud(&good, f64::NAN)], "[0].cloud.radius"),
        (vec![cloud(&good, -1.0)], "[0].cloud.radius"),
        (vec![cloud(&good, 1e300)], "[0].cloud.radius"),
        (vec![both], "[0].cloud.xyz_single"),
        (vec![cloud(&[0.0; 6], 1.0), cloud(&[0.0; 6], 1.0)], "[1].cloud.xyz"),
    ];
    for (obstacles, name) in cases {
        let cell = api::RobotCell { robots: robot.clone(), obstacles, ..Default::default() };
        let question = check(&cell, api::CheckMode::FirstPair, &[0.0]);
        let status = client.check_configurations(question).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{name}");
        assert_eq!(field(&status), format!("cell.obstacles{name}"), "{status:?}");
    }
}
