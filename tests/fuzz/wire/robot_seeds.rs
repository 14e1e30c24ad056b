//! Scripts that use every method about robots.

use api::upload_robot_request::Part;
use clearance_proto as api;

use super::Call;
use super::seeds::{call, points, pose, vector};

/// A cart on a rail, and a boom that turns on it.
const URDF: &str = r#"<robot name="cart"><link name="rail"/>
<link name="cart"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="boom"><collision><origin xyz="1.5 0 0"/>
<geometry><mesh filename="boom.obj"/></geometry></collision></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="2"/></joint>
<joint name="turn" type="revolute"><parent link="cart"/><child link="boom"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="1"/></joint></robot>"#;

const SRDF: &str = r#"<robot name="cart">
<disable_collisions link1="cart" link2="boom" reason="Adjacent"/></robot>"#;

const BOOM: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

/// What the server calls this robot: a digest of what it is, so it is the same everywhere.
const ROBOT_ID: &str = "r2-40b25ef213fe1d8ecc6fafcd5f7526243ed1ec62fd62b5f04593d802ea139151";

fn register() -> api::RegisterRobotRequest {
    let boom = api::RobotMesh {
        name: "boom.obj".to_owned(),
        source: Some(api::robot_mesh::Source::Content(BOOM.as_bytes().to_vec().into())),
    };
    api::RegisterRobotRequest {
        urdf: URDF.to_owned(),
        srdf: SRDF.to_owned(),
        meshes: vec![boom],
        gap_max: Some(0.5),
        ..Default::default()
    }
}

fn cell() -> Option<api::RobotCell> {
    use api::robot_obstacle::Shape;
    let robot = api::RobotInstance {
        robot_id: ROBOT_ID.to_owned(),
        base: pose(0.25),
        ..Default::default()
    };
    let obstacle =
        |shape, x| api::RobotObstacle { shape: Some(shape), pose: pose(x), ..Default::default() };
    Some(api::RobotCell {
        robots: vec![robot],
        obstacles: vec![
            obstacle(Shape::Box(vector(1.0, 2.0, 3.0).expect("a vector")), 4.0),
            obstacle(Shape::Vertices(points()), -5.0),
        ],
        ..Default::default()
    })
}

/// The same with everything that a cell says of pairs.
fn ruled_cell() -> Option<api::RobotCell> {
    use api::cell_body::Body;
    let mut cell = cell()?;
    let tool = api::RobotObstacle {
        shape: Some(api::robot_obstacle::Shape::Box(vector(0.5, 0.5, 0.5).expect("a vector"))),
        pose: pose(1.0),
        name: "tool".to_owned(),
        padding: 0.125,
    };
    let carried = api::CarriedBody {
        link: "boom".to_owned(),
        body: Some(tool),
        touch_links: vec!["cart".to_owned()],
    };
    cell.robots[0].attached = vec![carried];
    cell.robots[0].paddings = vec![api::LinkPadding { link: "cart".to_owned(), padding: 0.25 }];
    cell.obstacles[0].name = "wall".to_owned();
    let body = |body| Some(api::CellBody { robot: 0, body: Some(body) });
    let pair = |first, second| api::CellPair { first: body(first), second: body(second) };
    cell.ignored_pairs = vec![
        pair(Body::Link("cart".to_owned()), Body::Obstacle("wall".to_owned())),
        pair(Body::Attached("tool".to_owned()), Body::ObstacleIndex(1)),
        pair(Body::LinkIndex(2), Body::AttachedIndex(0)),
    ];
    Some(cell)
}

/// One script for each method.
pub(super) fn scripts() -> Vec<Vec<Call>> {
    let check = api::CheckConfigurationsRequest {
        cell: cell(),
        mode: api::CheckMode::LinkClearance.into(),
        values: vec![0.5, -0.25, 3.0, 1.0],
        with_gradient: true,
        ..Default::default()
    };
    let near = api::CheckConfigurationsRequest {
        cell: ruled_cell(),
        mode: api::CheckMode::PairsBelow.into(),
        below: 2.5,
        pairs_max: 3,
        with_link_poses: true,
        jacobian_links: vec![2, 1],
        pair_scope: api::PairScope::World.into(),
        ..check.clone()
    };
    let streamed = |values: Vec<f64>, is_first: bool| {
        let cell = cell().filter(|_| is_first);
        let mode = api::CheckMode::AllPairs.into();
        let check = api::CheckConfigurationsRequest { cell, mode, values, ..Default::default() };
        api::StreamConfigurationsRequest { check: Some(check), ..Default::default() }
    };
    let edges = api::CheckEdgesRequest {
        cell: cell(),
        starts: vec![0.5, -0.25],
        ends: vec![0.75, 0.5],
        margin: 0.125,
        tolerance: Some(1e-3),
        certificate: true,
        ..Default::default()
    };
    let streamed_edges = |ends: Vec<f64>, is_first: bool| {
        let cell = cell().filter(|_| is_first);
        let starts = vec![0.5, -0.25];
        let check = api::CheckEdgesRequest { cell, starts, ends, ..Default::default() };
        api::StreamEdgesRequest { check: Some(check), ..Default::default() }
    };
    let path = api::CheckPathRequest {
        cell: cell(),
        waypoints: vec![0.5, -0.25, 0.75, 0.5, 1.0, 1.5],
        margin: 0.125,
        tolerance: Some(1e-3),
        all_edges: true,
        ..Default::default()
    };
    let suggest = api::SuggestAllowedPairsRequest {
        robot_id: ROBOT_ID.to_owned(),
        samples: 70,
        seed: 3,
        with_never: true,
        ..Default::default()
    };
    let get = api::GetRobotRequest { id: ROBOT_ID.to_owned() };
    let delete = api::DeleteRobotRequest { id: ROBOT_ID.to_owned(), ..Default::default() };
    let alone = api::RegisterRobotRequest { meshes: Vec::new(), ..register() };
    let part = |part| api::UploadRobotRequest { part: Some(part) };
    let register = || call("RegisterRobot", &register());
    vec![
        vec![
            register(),
            call("GetRobot", &get),
            call("ListRobots", &api::ListRobotsRequest { page_size: 1, ..Default::default() }),
            call("DeleteRobot", &delete),
            call("FindMissingRobots", &api::FindMissingRobotsRequest::default()),
        ],
        vec![
            call("UploadRobot", &part(Part::Robot(alone))),
            call("UploadRobot", &part(Part::File("boom.obj".to_owned()))),
            call("UploadRobot", &part(Part::Chunk(BOOM.as_bytes()[..30].to_vec().into()))),
            call("UploadRobot", &part(Part::Chunk(BOOM.as_bytes()[30..].to_vec().into()))),
        ],
        vec![register(), call("CheckConfigurations", &check)],
        vec![register(), call("CheckConfigurations", &near)],
        vec![register(), call("SuggestAllowedPairs", &suggest)],
        vec![
            register(),
            call("StreamConfigurations", &streamed(vec![0.5, -0.25], true)),
            call("StreamConfigurations", &streamed(vec![3.0, 1.0], false)),
        ],
        vec![register(), call("CheckEdges", &edges)],
        vec![
            register(),
            call("StreamEdges", &streamed_edges(vec![0.75, 0.5], true)),
            call("StreamEdges", &streamed_edges(vec![3.0, 1.0], false)),
        ],
        vec![register(), call("CheckPath", &path)],
    ]
}
