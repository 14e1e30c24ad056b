//! Bodies that touch: every reply about them has numbers that are numbers.

use api::query_service_client::QueryServiceClient;
use clearance_proto as api;

use crate::robots::{cell_of, check, robots};
use crate::server::{Server, vector};

/// A cube of edge 2 that goes everywhere.
const FLYER: &str = "<robot name='r'><link name='a'/><link name='b'><collision><geometry>\
    <box size='2 2 2'/></geometry></collision></link><joint name='fly' type='floating'>\
    <parent link='a'/><child link='b'/></joint></robot>";

/// Where the cube touches that of edge 2 around the origin: at a face, a part of one, along an edge
/// and a part of one, and at a corner.
const PLACES: [[f64; 3]; 6] = [
    [2.0, 0.0, 0.0],
    [0.0, -2.0, 0.5],
    [2.0, 2.0, 0.0],
    [-2.0, 0.5, 2.0],
    [2.0, 2.0, 2.0],
    [-2.0, 2.0, -2.0],
];

fn still() -> api::RobotObstacle {
    let size = api::Vector3 { x: 2.0, y: 2.0, z: 2.0 };
    api::RobotObstacle {
        shape: Some(api::robot_obstacle::Shape::Box(size)),
        pose: None,
        ..Default::default()
    }
}

/// What a reply says, which must be numbers. One without a contact says NaN for its time; that is
/// not asked here.
#[track_caller]
fn is_told(reply: &impl std::fmt::Debug, place: [f64; 3]) {
    let text = format!("{reply:?}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{place:?}: {text}");
}

/// The gradient, the normal and the points were NaN where two cubes touched face to face, with a
/// slope of 1 on both sides of it.
#[tokio::test]
async fn what_robots_are_told_of_a_touch_are_numbers_and_the_slopes_of_its_sides() {
    let server = Server::start().await;
    let cell = cell_of(&server, FLYER, vec![still()]).await;
    for place in PLACES {
        let configuration = |at: [f64; 3]| [at.as_slice(), &[0.0, 0.0, 0.0, 1.0]].concat();
        let values = configuration(place);
        let mut gradient = Vec::new();
        for mode in [
            api::CheckMode::FirstPair,
            api::CheckMode::AllPairs,
            api::CheckMode::Clearance,
            api::CheckMode::LinkClearance,
        ] {
            let asked = check(&cell, mode, &values);
            let asked = api::CheckConfigurationsRequest { with_gradient: true, ..asked };
            let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
            assert_eq!(answer.verdicts().next(), Some(api::Verdict::Touching));
            is_told(&answer, place);
            if mode == api::CheckMode::Clearance {
                let normal: f64 = answer.normals.iter().map(|x| x * x).sum();
                assert!((normal - 1.0).abs() < 1e-15, "{answer:?}");
                assert_eq!(answer.points_first, answer.points_second);
                gradient = answer.gradients;
            }
        }
        // Along the way out the clearance grows as the gradient says, and along the way in it
        // shrinks so where they touch at a face.
        let way = place.map(|x| if x.abs() == 2.0 { x.signum() } else { 0.0 });
        let is_face = way.iter().filter(|x| **x != 0.0).count() == 1;
        let slope: f64 = (0..3).map(|k| gradient[k] * way[k]).sum();
        let step = 2f64.powi(-10);
        for side in [1.0, -1.0] {
            let at = [0, 1, 2].map(|k| place[k] + side * step * way[k]);
            let asked = check(&cell, api::CheckMode::Clearance, &configuration(at));
            let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
            let found = answer.clearance_lowers[0] / (side * step);
            if is_face {
                assert!((found - slope).abs() < 1e-8, "{place:?}: {found} {slope}");
            } else {
                // One of several normals: no side is steeper than the way out, along all of them.
                assert!(slope > 0.0 && slope <= 3.0_f64.sqrt() + 1e-9, "{place:?}: {slope}");
            }
        }
        let away = configuration([0, 1, 2].map(|k| place[k] + way[k]));
        for (starts, ends) in [(values.clone(), away.clone()), (away, values.clone())] {
            let cell = Some(cell.clone());
            let certificate = true;
            let asked =
                api::CheckEdgesRequest { cell, starts, ends, certificate, ..Default::default() };
            let answer = robots(&server).check_edges(asked).await.unwrap().into_inner();
            assert_eq!(answer.outcomes().next(), Some(api::Outcome::Contact), "{place:?}");
            is_told(&answer, place);
        }
    }
}

#[tokio::test]
async fn what_questions_about_two_bodies_are_told_of_a_touch_are_numbers() {
    let server = Server::start().await;
    let mut client = QueryServiceClient::new(server.channel.clone());
    let corners = |at: f64| if at == 0.0 { -1.0 } else { 1.0 };
    let xyz: Vec<f64> = crate::server::cube().into_iter().map(corners).collect();
    let at = |place: [f64; 3]| api::PlacedBody {
        source: Some(api::placed_body::Source::Vertices(api::Points { xyz: xyz.clone() })),
        pose: Some(api::Pose {
            translation: vector(place[0], place[1], place[2]),
            orientation: None,
        }),
    };
    for place in PLACES {
        let (p, q) = (Some(at([0.0; 3])), Some(at(place)));
        let both = (p.clone(), q.clone());
        let asked = api::CheckCollisionRequest { p, q, ..Default::default() };
        is_told(&client.check_collision(asked).await.unwrap().into_inner(), place);
        let (p, q) = both.clone();
        let asked = api::MeasureDistanceRequest { p, q, ..Default::default() };
        let answer = client.measure_distance(asked).await.unwrap().into_inner();
        assert!(answer.normal.is_some() && answer.verdict() == api::Verdict::Touching);
        is_told(&answer, place);
        let (p, q) = both.clone();
        let asked = api::MeasurePenetrationRequest { p, q, ..Default::default() };
        is_told(&client.measure_penetration(asked).await.unwrap().into_inner(), place);
        let (p, q) = both.clone();
        let direction = vector(place[0], place[1], place[2]);
        let asked = api::MeasureDistanceAlongRequest { p, q, direction, ..Default::default() };
        is_told(&client.measure_distance_along(asked).await.unwrap().into_inner(), place);
        let (p, q) = both;
        let velocity = direction;
        let kind = api::motion::Kind::Linear(api::LinearMotion { velocity });
        let q_motion = Some(api::Motion { kind: Some(kind) });
        let asked =
            api::FindFirstContactRequest { p, q, q_motion, impact: true, ..Default::default() };
        is_told(&client.find_first_contact(asked).await.unwrap().into_inner(), place);
    }
}
