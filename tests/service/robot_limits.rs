//! Limits of joints: of configurations, edges and paths alike, and never for rounding.

use clearance_proto as api;

use crate::robots::{cell_of, check, robots, verdicts};
use crate::server::{Server, vector};

/// A cube of 1 m that slides along x between `lower` and `upper`.
fn slider(lower: f64, upper: f64) -> String {
    format!(
        "<robot name='r'><link name='a'/><link name='b'><collision><geometry><box size='1 1 1'/>\
         </geometry></collision></link><joint name='slide' type='prismatic'><parent link='a'/>\
         <child link='b'/><axis xyz='1 0 0'/><limit lower='{lower}' upper='{upper}'/></joint>\
         </robot>"
    )
}

fn block() -> api::RobotObstacle {
    let box_ = api::Vector3 { x: 1.0, y: 1.0, z: 1.0 };
    let pose = Some(api::Pose { translation: vector(3.0, 0.0, 0.0), orientation: None });
    api::RobotObstacle {
        shape: Some(api::robot_obstacle::Shape::Box(box_)),
        pose,
        ..Default::default()
    }
}

/// `a + t * (b - a)` for t = 1 may be a rounding beyond b: it was refused.
#[tokio::test]
async fn a_value_that_rounding_took_beyond_a_limit_is_taken_as_it_is() {
    let server = Server::start().await;
    let mut rounded = 0;
    for (a, b) in [(-2.8973, 2.8973), (0.1, 0.7), (-0.3, 0.1), (1000.0, 1000.1), (0.2, 0.2)] {
        let cell = cell_of(&server, &slider(a, b), vec![block()]).await;
        let end = a + 1.0 * (b - a);
        rounded += u32::from(end > b);
        for (value, is_taken) in [
            (end, true),
            (b.next_up(), true),
            (a.next_down(), true),
            (b + 1e-8, false),
            (a - 1e-8, false),
        ] {
            let asked = check(&cell, api::CheckMode::FirstPair, &[value]);
            let answer = robots(&server).check_configurations(asked.clone()).await.unwrap();
            assert_eq!(answer.into_inner().refused.is_empty(), is_taken, "{a} {b} {value}");
            let asked = api::CheckConfigurationsRequest { report_limits: true, ..asked };
            let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
            assert_eq!(answer.limit_indices.is_empty(), is_taken, "{a} {b} {value}");
            let (starts, ends) = (vec![0.5 * (a + b)], vec![value]);
            let cell = Some(cell.clone());
            let asked = api::CheckEdgesRequest { cell, starts, ends, ..Default::default() };
            let answer = robots(&server).check_edges(asked).await.unwrap().into_inner();
            assert_eq!(answer.refused.is_empty(), is_taken, "{a} {b} {value}");
        }
    }
    assert!(rounded > 0);
}

/// A quaternion need not be normalised; twice the identity was beyond limits of -1 and 1.
#[tokio::test]
async fn quaternions_of_floating_joints_have_no_limits() {
    let server = Server::start().await;
    let urdf = slider(0.0, 1.0).replace("prismatic", "floating");
    let cell = cell_of(&server, &urdf, vec![block()]).await;
    let ways = [[0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0_f64.next_up()], [-7.0, 0.0, 0.0, 0.0]];
    for turn in ways {
        let values = [[1.0, 0.0, 0.0].as_slice(), turn.as_slice()].concat();
        let asked = check(&cell, api::CheckMode::FirstPair, &values);
        let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
        assert!(answer.refused.is_empty(), "{answer:?}");
        assert_eq!(verdicts(&answer), [api::Verdict::Separated]);
    }
    let id = cell.robots[0].robot_id.clone();
    let robot = robots(&server).get_robot(api::GetRobotRequest { id }).await.unwrap().into_inner();
    for variable in robot.robot.unwrap().variables {
        assert_eq!((variable.lower, variable.upper), (None, None), "{}", variable.name);
    }
}

/// An edge from .05 to 1.5 of a joint that ends at .1 was free, and nothing was said.
#[tokio::test]
async fn edges_and_paths_beyond_a_limit_are_refused_in_their_place_or_listed() {
    let server = Server::start().await;
    let cell = cell_of(&server, &slider(0.0, 0.1), vec![block()]).await;
    let edges = api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: vec![0.0, 0.05, -1.0, 0.05, 0.1],
        ends: vec![0.1, 1.5, 0.0, 2.5, 0.05],
        certificate: true,
        ..Default::default()
    };
    let answer = robots(&server).check_edges(edges.clone()).await.unwrap().into_inner();
    use api::Outcome::{Contact, NoContact, Unspecified};
    let wanted = [NoContact, Unspecified, Unspecified, Unspecified, NoContact];
    assert_eq!(answer.outcomes().collect::<Vec<_>>(), wanted);
    assert_eq!(answer.certificates.len(), 5);
    let told: Vec<_> = answer.refused.iter().map(|refused| refused.index).collect();
    assert_eq!(told, [1, 2, 3]);
    for (refused, field) in answer.refused.iter().zip(["ends", "starts", "ends"]) {
        let message = &refused.status.as_ref().unwrap().message;
        let wanted = format!("{field}: the value of slide is beyond its limits");
        assert!(message.contains(&wanted), "{message}");
    }

    let asked = api::CheckEdgesRequest { report_limits: true, ..edges };
    let answer = robots(&server).check_edges(asked).await.unwrap().into_inner();
    let wanted = [NoContact, NoContact, NoContact, Contact, NoContact];
    assert_eq!(answer.outcomes().collect::<Vec<_>>(), wanted);
    assert!(answer.refused.is_empty());
    assert_eq!((answer.limit_indices, answer.limit_variables), (vec![1, 2, 3], vec![0; 3]));

    let path = api::CheckPathRequest {
        cell: Some(cell),
        waypoints: vec![0.0, 0.1, 1.5, 0.1],
        ..Default::default()
    };
    let answer = robots(&server).check_path(path.clone()).await.unwrap().into_inner();
    assert_eq!((answer.outcome(), answer.free_until), (Unspecified, 1.0));
    assert_eq!(answer.edges.unwrap().refused[0].index, 1);
    let asked = api::CheckPathRequest { report_limits: true, ..path };
    let answer = robots(&server).check_path(asked).await.unwrap().into_inner();
    assert_eq!((answer.outcome(), answer.free_until), (NoContact, 3.0));
    assert_eq!(answer.edges.unwrap().limit_indices, [1, 2]);
}
