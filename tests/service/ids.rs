//! Ids, and what is kept under them: what is told and answered is what a fresh server tells and
//! answers, whatever was registered, asked and deleted before.

use api::robot_mesh::Source as MeshSource;
use clearance_proto as api;

use crate::polyhedra::{channel, keep};
use crate::robots::robots;
use crate::server::{Server, body, cube, spec, vector};

/// A box of edge 2 around the origin, whose top is drawn in to this height in the middle.
fn box_with_top(top: f64) -> String {
    let corner = |k: u32| [0, 1, 2].map(|bit| if k >> bit & 1 == 0 { -1 } else { 1 });
    let corners = (0..8).map(corner).map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = "f 1 3 4 2\nf 1 2 6 5\nf 2 4 8 6\nf 4 3 7 8\nf 3 1 5 7\n\
                 f 5 6 9\nf 6 8 9\nf 8 7 9\nf 7 5 9\n";
    corners.collect::<String>() + &format!("v 0 0 {top}\n") + faces
}

/// A robot of two meshes on one link: `near.stl` where the link is and `far.stl` five metres off.
fn of_two_meshes(meshes: &[(&str, MeshSource)]) -> api::RegisterRobotRequest {
    let collision = |name: &str, x: u32| {
        format!(
            "<collision><origin xyz='{x} 0 0'/><geometry><mesh filename='{name}'/></geometry>\
             </collision>"
        )
    };
    let (near, far) = (collision("near.stl", 0), collision("far.stl", 5));
    let urdf = format!(
        "<robot name='r'><link name='a'/><link name='b'>{near}{far}</link><joint name='j' \
         type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    );
    let mesh = |(name, source): &(&str, MeshSource)| api::RobotMesh {
        name: (*name).to_owned(),
        source: Some(source.clone()),
    };
    api::RegisterRobotRequest {
        urdf,
        meshes: meshes.iter().map(mesh).collect(),
        leave_out_missing: true,
        mesh_treatment: api::MeshTreatment::Hull.into(),
        ..Default::default()
    }
}

/// Robots that differ in what was given with one URDF: another part of two, none, another file of
/// the same hull, a polytope in place of a file, that file as it is.
fn robots_of_one_description(cube: &str) -> Vec<api::RegisterRobotRequest> {
    let file = |top: f64| MeshSource::Content(box_with_top(top).into_bytes().into());
    let registered = || MeshSource::Id(cube.to_owned());
    vec![
        of_two_meshes(&[("near.stl", file(1.0))]),
        of_two_meshes(&[("far.stl", file(1.0))]),
        of_two_meshes(&[("far.stl", file(1.0)), ("near.stl", file(1.0))]),
        of_two_meshes(&[]),
        of_two_meshes(&[("near.stl", file(0.5))]),
        of_two_meshes(&[("near.stl", registered())]),
        api::RegisterRobotRequest {
            mesh_treatment: api::MeshTreatment::Unspecified.into(),
            ..of_two_meshes(&[("near.stl", file(0.5))])
        },
    ]
}

/// The corners of the box.
fn corners() -> Vec<f64> {
    cube().iter().map(|x| 2.0 * x - 1.0).collect()
}

fn obstacle(shape: api::robot_obstacle::Shape, x: f64) -> api::RobotObstacle {
    let pose = api::Pose { translation: vector(x, 0.0, 0.0), orientation: None };
    api::RobotObstacle { shape: Some(shape), pose: Some(pose), ..Default::default() }
}

fn unit_box() -> api::robot_obstacle::Shape {
    api::robot_obstacle::Shape::Box(api::Vector3 { x: 1.0, y: 1.0, z: 1.0 })
}

/// What configurations of a cell are answered, but for what it cost.
async fn answered(server: &Server, cell: &api::RobotCell) -> Vec<api::CheckConfigurationsResponse> {
    let mut answers = Vec::new();
    for mode in [api::CheckMode::AllPairs, api::CheckMode::LinkClearance] {
        let request = api::CheckConfigurationsRequest {
            cell: Some(cell.clone()),
            mode: mode.into(),
            values: vec![0.0, 1.0],
            ..Default::default()
        };
        let answer = robots(server).check_configurations(request).await.unwrap().into_inner();
        answers.push(api::CheckConfigurationsResponse { cost: None, ..answer });
    }
    answers
}

/// What is told of a robot when it is registered and when it is asked for, and what is answered
/// about it beside a box of 1 m five metres off; and whether it was registered already.
async fn robot_told(
    server: &Server,
    request: &api::RegisterRobotRequest,
) -> ((api::Robot, Vec<api::CheckConfigurationsResponse>), bool) {
    let reply = robots(server).register_robot(request.clone()).await.unwrap().into_inner();
    let robot = reply.robot.unwrap();
    let get = api::GetRobotRequest { id: robot.id.clone() };
    let got = robots(server).get_robot(get).await.unwrap().into_inner().robot;
    assert_eq!(got.as_ref(), Some(&robot));
    let cell = api::RobotCell {
        robots: vec![api::RobotInstance {
            robot_id: robot.id.clone(),
            base: None,
            ..Default::default()
        }],
        obstacles: vec![obstacle(unit_box(), 5.0)],
        ..Default::default()
    };
    ((robot, answered(server, &cell).await), reply.already_registered)
}

/// The digest of a robot left out where its parts are, which file each came from, what was left out
/// and how far a mesh is from convex: with the near box registered, the far one had the same id and
/// was free of the box that it overlaps; after DeleteRobot, too, for the cell was kept under the
/// id. A box with a dent, registered after one without, was told to be convex.
#[tokio::test]
async fn robots_are_told_and_answered_as_on_a_fresh_server_whatever_was_registered_before() {
    let server = Server::start().await;
    let id = server.register("box", &corners()).await;
    let requests = robots_of_one_description(&id);
    let mut alone = Vec::new();
    for request in &requests {
        let fresh = Server::start().await;
        fresh.register("box", &corners()).await;
        alone.push(robot_told(&fresh, request).await.0);
    }
    let verdicts = |k: usize| alone[k].1[0].verdicts().next().unwrap();
    assert_eq!(
        [verdicts(0), verdicts(1)],
        [api::Verdict::Separated, api::Verdict::Overlapping],
        "what tells them apart"
    );
    let gaps = [0, 4, 5]
        .map(|k| (alone[k].0.parts[0].gap.map(|gap| gap > 0.1), alone[k].0.parts[0].convex));
    assert_eq!(gaps, [(Some(false), Some(true)), (Some(true), Some(false)), (None, None)]);
    let delete = async |robot: &api::Robot| {
        let (id, allow_missing) = (robot.id.clone(), true);
        let request = api::DeleteRobotRequest { id, allow_missing, ..Default::default() };
        robots(&server).delete_robot(request).await.unwrap();
    };
    for is_deleted in [false, true] {
        for (first, wanted) in requests.iter().zip(&alone) {
            for (second, wanted_then) in requests.iter().zip(&alone) {
                for (request, wanted) in [(first, wanted), (second, wanted_then)] {
                    let (told, _) = robot_told(&server, request).await;
                    assert_eq!(&told, wanted);
                    let (again, was_there) = robot_told(&server, request).await;
                    assert!(was_there && &again == wanted);
                    if is_deleted {
                        delete(&wanted.0).await;
                    }
                }
            }
        }
        for (robot, _) in &alone {
            delete(robot).await;
        }
    }
}

/// What is told of a body when it is registered, and where it stands against another one.
async fn body_told(
    server: &Server,
    spec: &api::PolytopeSpec,
) -> (api::RegistrationReport, api::CheckCollisionResponse) {
    let polytopes = vec![spec.clone()];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let reply = server.polytopes().register_polytopes(request).await.unwrap().into_inner();
    let mut report = reply.reports.into_iter().next().unwrap();
    report.already_registered = false;
    let id = report.polytope.as_ref().unwrap().id.clone();
    let peg = cube().chunks(3).flat_map(|c| [0.5 * c[0], c[1], c[2]]).collect();
    let given = api::Points { xyz: peg };
    let question = api::CheckCollisionRequest {
        p: Some(api::PlacedBody { source: Some(api::placed_body::Source::Id(id)), pose: None }),
        q: Some(api::PlacedBody {
            source: Some(api::placed_body::Source::Vertices(given)),
            pose: Some(api::Pose { translation: vector(1.25, 1.5, 0.0), orientation: None }),
        }),
        ..Default::default()
    };
    let mut answer = server.queries().check_collision(question).await.unwrap().into_inner();
    answer.cost = None;
    (report, answer)
}

/// Bodies of few ids, given in many ways.
fn bodies() -> Vec<api::PolytopeSpec> {
    let file = |top: f64, treatment: api::MeshTreatment| {
        let content = box_with_top(top).into_bytes().into();
        let file = api::MeshFile { content, ..Default::default() };
        let source = Some(api::polytope_spec::Source::File(file));
        api::PolytopeSpec { source, treatment: treatment.into(), ..Default::default() }
    };
    let mut backwards: Vec<f64> = corners().chunks(3).rev().flatten().copied().collect();
    backwards.extend([0.0, -0.0, 0.5, 1.0, 1.0, 1.0]);
    let mut turned = channel();
    turned.triangles =
        channel().triangles.chunks(3).rev().flat_map(|t| [t[1], t[2], t[0]]).collect();
    turned.vertices.as_mut().unwrap().xyz.extend([1.5, 0.5, 0.5]);
    let hull_of_mesh =
        api::PolytopeSpec { treatment: api::MeshTreatment::Hull.into(), ..keep("", channel()) };
    vec![
        spec("", &corners()),
        spec("", &backwards),
        file(1.0, api::MeshTreatment::Unspecified),
        file(0.5, api::MeshTreatment::Hull),
        file(0.5, api::MeshTreatment::Polyhedron),
        keep("", channel()),
        keep("", turned),
        hull_of_mesh,
    ]
}

/// Nothing was wrong here: what a reply says of the input is said of that input, and the rest
/// follows from what the id is made of.
#[tokio::test]
async fn bodies_are_told_and_answered_as_on_a_fresh_server_whatever_was_registered_before() {
    let (server, bodies) = (Server::start().await, bodies());
    let mut alone = Vec::new();
    for spec in &bodies {
        alone.push(body_told(&Server::start().await, spec).await);
    }
    assert_eq!(alone[0].0.polytope, alone[1].0.polytope);
    assert_ne!(alone[0].0.points_dropped, alone[1].0.points_dropped);
    assert_eq!(alone[5].0.polytope, alone[6].0.polytope);
    assert_ne!(alone[5].1.verdict, alone[7].1.verdict, "the slot is no part of the one");
    for is_deleted in [false, true] {
        for (first, wanted) in bodies.iter().zip(&alone) {
            for (second, wanted_then) in bodies.iter().zip(&alone) {
                for (spec, wanted) in [(first, wanted), (second, wanted_then)] {
                    assert_eq!(&body_told(&server, spec).await, wanted);
                    if is_deleted {
                        let id = wanted.0.polytope.as_ref().unwrap().id.clone();
                        let key = Some(api::delete_polytope_request::Key::Id(id));
                        let request = api::DeletePolytopeRequest {
                            key,
                            allow_missing: true,
                            ..Default::default()
                        };
                        server.polytopes().delete_polytope(request).await.unwrap();
                    }
                }
            }
        }
    }
}

/// A cell is kept under what it is made of, and an alias is not: the polytope that it names is.
#[tokio::test]
async fn cells_that_are_kept_answer_as_on_a_fresh_server_whatever_was_asked_before() {
    use api::robot_obstacle::Shape;
    let large: Vec<f64> = corners().iter().map(|x| 3.0 * x).collect();
    let request = &robots_of_one_description("")[0];
    let start = async || {
        let server = Server::start().await;
        server.register("thing", &corners()).await;
        let robot = robot_told(&server, request).await.0.0;
        (server, robot.id)
    };
    let cell = |robot: &str, base: f64, obstacles: Vec<api::RobotObstacle>| {
        let base = Some(api::Pose { translation: vector(base, 0.0, 0.0), orientation: None });
        api::RobotCell {
            robots: vec![api::RobotInstance {
                robot_id: robot.to_owned(),
                base,
                ..Default::default()
            }],
            obstacles,
            ..Default::default()
        }
    };
    let points = |xyz: Vec<f64>| Shape::Vertices(api::Points { xyz });
    let cells = |robot: &str| {
        vec![
            cell(robot, 0.0, vec![obstacle(unit_box(), 3.0)]),
            cell(robot, 0.0, vec![obstacle(unit_box(), 1.0)]),
            cell(robot, 2.0, vec![obstacle(unit_box(), 3.0)]),
            cell(robot, 0.0, vec![obstacle(points(corners()), 3.0)]),
            cell(robot, 0.0, vec![obstacle(points(large.clone()), 3.0)]),
            cell(robot, 0.0, vec![obstacle(Shape::Alias("thing".to_owned()), 3.0)]),
            cell(robot, 0.0, vec![obstacle(unit_box(), 3.0), obstacle(unit_box(), 1.0)]),
            cell(robot, 0.0, vec![obstacle(unit_box(), 1.0), obstacle(unit_box(), 3.0)]),
            cell(robot, 0.0, vec![obstacle(unit_box(), -3.0)]),
        ]
    };
    let (server, robot) = start().await;
    let cells = cells(&robot);
    let mut alone = Vec::new();
    for cell in &cells {
        alone.push(answered(&start().await.0, cell).await);
    }
    assert!(alone.iter().enumerate().all(|(k, one)| k == 0 || *one != alone[0]));
    for (first, wanted) in cells.iter().zip(&alone) {
        for (second, wanted_then) in cells.iter().zip(&alone) {
            assert_eq!(&answered(&server, first).await, wanted);
            assert_eq!(&answered(&server, second).await, wanted_then);
        }
    }
    let moved = api::PolytopeSpec { move_alias: true, ..spec("thing", &large) };
    let request = api::RegisterPolytopesRequest { polytopes: vec![moved], validate_only: false };
    server.polytopes().register_polytopes(request).await.unwrap();
    let answer = answered(&server, &cells[5]).await;
    assert!(answer != alone[5] && answer[0].verdicts == alone[4][0].verdicts);
}

/// The parts of a session are what their aliases named when they were declared, and so they are
/// told to whoever opens the session elsewhere.
#[tokio::test]
async fn parts_of_a_session_stay_what_their_alias_named_when_it_names_another_body() {
    let server = Server::start().await;
    let small = server.register("thing", &cube()).await;
    let part = |id: u32, x: f64| api::Body {
        id: Some(id),
        parts: vec![body("thing", x)],
        ..Default::default()
    };
    let bodies = vec![part(1, 0.0), part(2, 1.5)];
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let open = api::OpenSessionRequest { state, ..Default::default() };
    let opened = server.sessions().open_session(open).await.unwrap().into_inner();
    let twice: Vec<f64> = cube().iter().map(|x| 2.0 * x).collect();
    let moved = api::PolytopeSpec { move_alias: true, ..spec("thing", &twice) };
    let request = api::RegisterPolytopesRequest { polytopes: vec![moved], validate_only: false };
    server.polytopes().register_polytopes(request).await.unwrap();
    let (session_id, session_key) = (opened.session_id, opened.session_key);
    let frame = api::Frame { frame_id: 1, added_bodies: vec![part(3, -1.5)], ..Default::default() };
    let step = api::StepSessionRequest {
        session_id: session_id.clone(),
        session_key: session_key.clone(),
        frames: vec![frame],
        ..Default::default()
    };
    let reports = server.sessions().step_session(step).await.unwrap().into_inner().reports;
    let met = |event: &&api::ContactEvent| [event.a, event.b].contains(&3);
    let met: Vec<_> = reports[0].events.iter().filter(met).map(|one| (one.a, one.b)).collect();
    assert_eq!(met, [(1, 3)], "the new one is two metres long");
    let get = api::GetSessionRequest { session_id, session_key, ..Default::default() };
    let state = server.sessions().get_session(get).await.unwrap().into_inner().state.unwrap();
    let named = |body: &api::Body| match body.parts[0].source.clone() {
        Some(api::placed_body::Source::Id(id)) => id == small,
        other => panic!("{other:?}"),
    };
    let old: Vec<bool> = state.bodies.iter().map(named).collect();
    assert_eq!(old, [true, true, false]);
}
