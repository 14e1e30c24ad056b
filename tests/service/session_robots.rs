//! Robots in sessions, over a socket.

use std::collections::BTreeSet;

use clearance_proto as api;
use clearance_proto::{ContactEventKind, PairSelection};
use tonic::Code;
use tonic_types::StatusExt;

use crate::robots::{SLIDER, panda, robots};
use crate::server::{Server, check, soon, vector};
use crate::sessions::{cube_at, pose, refused, started, step};

const ARM: u32 = 100;

pub(crate) async fn register(server: &Server, request: api::RegisterRobotRequest) -> api::Robot {
    robots(server).register_robot(request).await.unwrap().into_inner().robot.unwrap()
}

pub(crate) fn slider() -> api::RegisterRobotRequest {
    api::RegisterRobotRequest { urdf: SLIDER.to_owned(), ..Default::default() }
}

pub(crate) fn placed(id: u32, robot: &api::Robot) -> api::SessionRobot {
    let (name, robot_id) = ("arm".to_owned(), robot.id.clone());
    api::SessionRobot { id: Some(id), name, robot_id, fixed_base: true, ..Default::default() }
}

pub(crate) fn open(
    id: &str,
    state: api::SessionState,
    first_contacts: bool,
) -> api::OpenSessionRequest {
    let mut report = api::ReportOptions { first_contacts, ..Default::default() };
    report.set_pairs(PairSelection::Near);
    api::OpenSessionRequest {
        session_id: id.to_owned(),
        state: Some(state),
        report: Some(report),
        ..Default::default()
    }
}

pub(crate) fn to(id: u32, values: &[f64]) -> api::RobotMove {
    api::RobotMove { id: Some(id), values: values.to_vec(), ..Default::default() }
}

pub(crate) fn frame(frame_id: u64, moves: Vec<api::RobotMove>) -> api::Frame {
    api::Frame { frame_id, robot_moves: moves, ..Default::default() }
}

/// Numbers that are no pattern, between 0 and 1.
pub(crate) fn shares(count: usize) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn in_contact(report: &api::FrameReport) -> BTreeSet<(u32, u32)> {
    report.pairs.iter().map(|pair| (pair.a, pair.b)).collect()
}

#[tokio::test]
async fn frames_of_joint_values_agree_with_configurations_that_are_checked_cold() {
    let server = started().await;
    let robot = register(&server, panda()).await;
    let share = shares(60 * 8 + 40);
    let place = |k: usize| {
        let at = |axis: usize| share[480 + 3 * k + axis];
        let side = if at(0) < 0.5 { -1.0 } else { 1.0 };
        let translation = vector(side * (0.4 + 0.3 * at(0)), at(1) - 0.5, at(2));
        Some(api::Pose { translation, orientation: None })
    };
    let corner = |k: i32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.1 } else { -0.1 });
    let xyz: Vec<f64> = (0..8).flat_map(corner).collect();
    let bodies = (0..10).map(|k| {
        let source = api::placed_body::Source::Vertices(api::Points { xyz: xyz.clone() });
        let part = api::PlacedBody { source: Some(source), pose: None };
        let (id, parts) = (1 + k as u32, vec![part]);
        api::Body { id: Some(id), parts, pose: place(k), fixed: true, ..Default::default() }
    });
    let state = api::SessionState {
        bodies: bodies.collect(),
        robots: vec![placed(ARM, &robot)],
        ..Default::default()
    };
    let opened = server.sessions().open_session(open("s", state, false)).await.unwrap();
    let link_pairs = opened.into_inner().checked_pairs;
    let limit = |k: usize| &robot.variables[k % 8];
    let value = |(k, share): (usize, &f64)| {
        limit(k).lower() + (limit(k).upper() - limit(k).lower()) * share
    };
    let values: Vec<f64> = share[..480].iter().enumerate().map(value).collect();
    let frames = values.chunks(8).enumerate();
    let frames = frames.map(|(k, values)| frame(1 + k as u64, vec![to(ARM, values)]));
    let reports = step(&server, "s", frames.collect()).await.unwrap();

    let shape = api::robot_obstacle::Shape::Vertices(api::Points { xyz });
    let obstacle =
        |k| api::RobotObstacle { shape: Some(shape.clone()), pose: place(k), ..Default::default() };
    let cell = api::RobotCell {
        robots: vec![api::RobotInstance {
            robot_id: robot.id.clone(),
            base: None,
            ..Default::default()
        }],
        obstacles: (0..10).map(obstacle).collect(),
        ..Default::default()
    };
    let mode = api::CheckMode::AllPairs.into();
    let asked =
        api::CheckConfigurationsRequest { cell: Some(cell), mode, values, ..Default::default() };
    let cold = robots(&server).check_configurations(asked).await.unwrap().into_inner();
    let parts = robot.parts.len() as u32;
    let body = |number: u32| match robot.parts.get(number as usize) {
        Some(part) => ARM + part.link,
        None => 1 + number - parts,
    };
    let mut expected = vec![BTreeSet::new(); 60];
    for (k, index) in cold.contact_indices.iter().enumerate() {
        let two = [body(cold.contact_firsts[k]), body(cold.contact_seconds[k])];
        expected[*index as usize].insert((two[0].min(two[1]), two[0].max(two[1])));
    }
    assert!(expected.iter().map(BTreeSet::len).sum::<usize>() > 20);
    for (k, report) in reports.iter().enumerate() {
        assert_eq!(report.refused_items, []);
        assert_eq!(in_contact(report), expected[k], "{k}");
        let name = |id: u32| id.checked_sub(ARM).map_or("", |k| &robot.links[k as usize].name);
        for pair in &report.pairs {
            assert_eq!([&pair.a_link[..], &pair.b_link], [name(pair.a), name(pair.b)]);
        }
        for event in &report.events {
            assert_eq!([&event.a_link[..], &event.b_link], [name(event.a), name(event.b)]);
        }
    }
    // Eleven links have parts: all but the first move, and meet ten boxes.
    assert!(link_pairs > 100 && link_pairs < 100 + 55, "{link_pairs}");
}

#[tokio::test]
async fn a_slider_with_its_load_is_handed_over_watched_and_let_go() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let state = api::SessionState {
        // The cart is a cube of 1 around the origin; the others stand with their low corners there.
        bodies: vec![cube_at(1, 0.6), cube_at(2, 4.0)],
        robots: vec![placed(ARM, &robot)],
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, true)).await.unwrap();
    let watching = api::WatchSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let mut news = server.sessions().watch_session(watching).await.unwrap().into_inner();
    let told = soon(news.message()).await.unwrap().unwrap().state.unwrap();
    assert_eq!((told.bodies.len(), told.robots.len(), told.robots[0].values.len()), (2, 1, 1));
    // The robot goes from the server; the session keeps what it has.
    let delete = api::DeleteRobotRequest { id: robot.id.clone(), ..Default::default() };
    robots(&server).delete_robot(delete).await.unwrap();

    let attached =
        api::AttachedBody { body_id: Some(1), link: "cart".to_owned(), ..Default::default() };
    let grasp = api::Frame {
        attached: vec![api::RobotAttachment {
            robot: Some(ARM),
            attached: Some(attached),
            ..Default::default()
        }],
        ..frame(1, vec![])
    };
    let joints = vec![api::JointValue { name: "slide".to_owned(), value: 4.0 }];
    let push = api::RobotMove { id: Some(ARM), joints, ..Default::default() };
    let reports = step(&server, "s", vec![grasp, frame(2, vec![push])]).await.unwrap();
    let [met, ..] = &reports[1].events[..] else { panic!("{:?}", reports[1]) };
    // From 1.6 to 4 is 2.4 of 4 metres; the load goes right through.
    let time = met.time.unwrap();
    assert_eq!((met.kind(), met.a, met.b), (ContactEventKind::Began, 1, 2));
    assert!(time.lower <= 0.6 && 0.6 <= time.upper && time.upper - time.lower < 1e-8, "{time:?}");

    assert_eq!(soon(news.message()).await.unwrap().unwrap().frame.unwrap().added_robots.len(), 1);
    let second = soon(news.message()).await.unwrap().unwrap().frame.unwrap();
    assert_eq!(second.robot_moves[0].values, [4.0]);
    let poses = second.packed_poses.unwrap();
    assert_eq!(poses.ids.iter().collect::<Vec<_>>(), [1, ARM + 1]);
    assert_eq!(poses.translations.rows::<3>().next().unwrap()[0], 4.6);

    let got = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let state = server.sessions().get_session(got).await.unwrap().into_inner().state.unwrap();
    let other = started().await;
    let missing = other.sessions().open_session(open("t", state.clone(), true)).await.unwrap_err();
    check(&missing, Code::NotFound, "UNKNOWN_ROBOT", "state.robots[0].robot_id");
    register(&other, slider()).await;
    let opened = other.sessions().open_session(open("t", state.clone(), true)).await.unwrap();
    let report = opened.into_inner().report.unwrap();
    assert_eq!((report.events.len(), report.frame_id), (0, 2));
    let back = |frame_id| vec![frame(frame_id, vec![to(ARM, &[-5.0])])];
    let [here, there] = [
        step(&server, "s", back(3)).await.unwrap().remove(0),
        step(&other, "t", back(3)).await.unwrap().remove(0),
    ];
    assert_eq!((&here.events, &here.pairs), (&there.events, &there.pairs));
    assert!(here.events.iter().any(|event| event.b_link == "cart"), "{here:?}");

    // It is let go, and moves by itself again.
    let release = api::Frame { detached_body_ids: vec![1], ..frame(4, vec![]) };
    let poses = vec![api::BodyPose { id: Some(1), pose: pose(8.0), ..Default::default() }];
    let apart = api::Frame { frame_id: 5, poses, ..Default::default() };
    let gone = api::Frame { removed_robots: vec![ARM], ..frame(6, vec![]) };
    let reports = step(&server, "s", vec![release, apart, gone]).await.unwrap();
    assert!(reports.iter().all(|report| report.status.is_none()), "{reports:?}");
    let got = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let state = server.sessions().get_session(got).await.unwrap().into_inner().state.unwrap();
    assert_eq!((state.bodies.len(), state.robots.len()), (2, 0));
    assert_eq!(state.bodies[0].pose.as_ref().unwrap().translation.unwrap().x, 8.0);
}

/// The body that a robot carries was removed, or another came under its id, and watchers were not
/// told that the robot carries nothing any more.
#[tokio::test]
async fn watchers_are_told_what_a_robot_does_not_carry_any_more() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let load =
        api::AttachedBody { body_id: Some(1), link: "cart".to_owned(), ..Default::default() };
    let loaded = || api::SessionRobot { attached: vec![load.clone()], ..placed(ARM, &robot) };
    for removed in [
        api::Frame { removed_body_ids: vec![1], ..frame(1, vec![]) },
        api::Frame {
            removed_body_ids: vec![1],
            added_bodies: vec![cube_at(1, 9.0)],
            ..frame(1, vec![])
        },
    ] {
        let state = api::SessionState {
            bodies: vec![cube_at(1, 0.6), cube_at(2, 4.0)],
            robots: vec![loaded(), placed(2 * ARM, &robot)],
            ..Default::default()
        };
        let opened = server.sessions().open_session(open("", state, true)).await.unwrap();
        let session_id = opened.into_inner().session_id;
        let watching =
            api::WatchSessionRequest { session_id: session_id.clone(), ..Default::default() };
        let mut news = server.sessions().watch_session(watching).await.unwrap().into_inner();
        soon(news.message()).await.unwrap().unwrap().state.unwrap();
        step(&server, &session_id, vec![removed]).await.unwrap();
        let told = soon(news.message()).await.unwrap().unwrap().frame.unwrap();
        let got = api::GetSessionRequest { session_id, ..Default::default() };
        let state = server.sessions().get_session(got).await.unwrap().into_inner().state.unwrap();
        assert_eq!(state.robots[0].attached, []);
        assert_eq!(told.added_robots, state.robots[..1], "the other one is as it was");
    }
}

#[tokio::test]
async fn what_is_wrong_with_robots_in_sessions_is_said_with_its_field() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let opening = async |robot: api::SessionRobot| {
        let robots = vec![robot];
        let state =
            api::SessionState { bodies: vec![cube_at(1, 5.0)], robots, ..Default::default() };
        server.sessions().open_session(open("", state, true)).await
    };
    let padding = api::LinkPadding { link: "elbow".to_owned(), padding: 0.1 };
    let thin = api::LinkPadding { link: "cart".to_owned(), padding: f64::NEG_INFINITY };
    let load =
        api::AttachedBody { body_id: Some(7), link: "cart".to_owned(), ..Default::default() };
    let here = || placed(ARM, &robot);
    for (wrong, field) in [
        (api::SessionRobot { values: vec![0.0; 3], ..here() }, "values"),
        (api::SessionRobot { values: vec![f64::INFINITY], ..here() }, "values"),
        (api::SessionRobot { paddings: vec![padding], ..here() }, "paddings[0].link"),
        (api::SessionRobot { paddings: vec![thin], ..here() }, "paddings[0].padding"),
        (api::SessionRobot { attached: vec![load], ..here() }, "attached[0].body_id"),
        (api::SessionRobot { id: Some(0), ..here() }, "id"),
    ] {
        let status = opening(wrong).await.unwrap_err();
        let violations = status.get_error_details().bad_request().unwrap().field_violations.clone();
        assert_eq!(violations[0].field, format!("state.robots[0].{field}"), "{status:?}");
    }
    let state = api::SessionState {
        bodies: vec![cube_at(1, 5.0)],
        robots: vec![here()],
        ..Default::default()
    };
    let named = api::OpenSessionRequest {
        methods: Some(api::SessionMethods {
            first_contact: "rotating".to_owned(),
            ..Default::default()
        }),
        ..open("", state.clone(), true)
    };
    let status = server.sessions().open_session(named).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    server.sessions().open_session(open("s", state, true)).await.unwrap();
    let elbow = vec![api::JointValue { name: "elbow".to_owned(), value: 0.0 }];
    let moves = vec![
        to(3, &[0.0]),
        to(ARM, &[0.0, 1.0]),
        api::RobotMove { id: Some(ARM), joints: elbow, ..Default::default() },
        to(ARM, &[f64::NAN]),
        to(ARM, &[1.0]),
        to(ARM, &[2.0]),
    ];
    let by_itself = api::BodyPose { id: Some(ARM + 1), pose: pose(0.0), ..Default::default() };
    let wrong = api::Frame { poses: vec![by_itself], ..frame(1, moves) };
    let reports = step(&server, "s", vec![wrong]).await.unwrap();
    let fields: Vec<&str> =
        reports[0].refused_items.iter().map(|item| item.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "frames[0].poses[0].id",
            "frames[0].robot_moves[0].id",
            "frames[0].robot_moves[1].values",
            "frames[0].robot_moves[2].joints[0].name",
            "frames[0].robot_moves[3].values",
            "frames[0].robot_moves[5].id",
        ]
    );
    for (wrong, field) in [
        (api::Frame { removed_body_ids: vec![ARM + 1], ..frame(2, vec![]) }, "removed_body_ids"),
        (api::Frame { removed_robots: vec![5], ..frame(2, vec![]) }, "removed_robots[0]"),
        (api::Frame { detached_body_ids: vec![1], ..frame(2, vec![]) }, "detached_body_ids[0]"),
        (api::Frame { added_robots: vec![here()], ..frame(2, vec![]) }, "added_robots[0].id"),
    ] {
        let reports = step(&server, "s", vec![wrong]).await.unwrap();
        refused(&reports[0], Code::InvalidArgument, &format!("frames[0].{field}"));
    }
}

fn named(id: u32, name: &str, x: f64) -> api::Body {
    api::Body { name: name.to_owned(), ..cube_at(id, x) }
}

/// What a session would answer to the same questions another time.
fn told(report: &api::FrameReport) -> api::FrameReport {
    api::FrameReport { cost: None, ..report.clone() }
}

/// Two sessions go the same way, one by names and the other by numbers.
#[tokio::test]
async fn bodies_and_robots_are_called_by_their_names() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let bodies = vec![named(1, "cup", 20.0), named(2, "table", 40.0), named(3, "twin", 60.0)];
    let bodies = [bodies, vec![named(4, "twin", 80.0)]].concat();
    let state =
        api::SessionState { bodies, robots: vec![placed(ARM, &robot)], ..Default::default() };
    for id in ["names", "numbers"] {
        server.sessions().open_session(open(id, state.clone(), true)).await.unwrap();
    }
    let frame = |frame_id: u64| api::Frame { frame_id, ..Default::default() };
    let cart = || api::AttachedBody { link: "cart".to_owned(), ..Default::default() };
    let cup = || "cup".to_owned();
    let arm = || "arm".to_owned();
    let pairs = [
        (
            api::Frame {
                poses: vec![api::BodyPose { name: cup(), pose: pose(0.5), ..Default::default() }],
                ..frame(1)
            },
            api::Frame {
                poses: vec![api::BodyPose { id: Some(1), pose: pose(0.5), ..Default::default() }],
                ..frame(1)
            },
        ),
        (
            api::Frame {
                attached: vec![api::RobotAttachment {
                    robot_name: arm(),
                    attached: Some(api::AttachedBody { body_name: cup(), ..cart() }),
                    ..Default::default()
                }],
                robot_moves: vec![api::RobotMove { name: arm(), id: None, ..to(0, &[0.3]) }],
                changed_bodies: vec![api::BodyChange {
                    name: cup(),
                    margin: Some(0.25),
                    ..Default::default()
                }],
                ..frame(2)
            },
            api::Frame {
                attached: vec![api::RobotAttachment {
                    robot: Some(ARM),
                    attached: Some(api::AttachedBody { body_id: Some(1), ..cart() }),
                    ..Default::default()
                }],
                robot_moves: vec![to(ARM, &[0.3])],
                changed_bodies: vec![api::BodyChange {
                    id: Some(1),
                    margin: Some(0.25),
                    ..Default::default()
                }],
                ..frame(2)
            },
        ),
        // The name of a body that goes is free for one that comes, in the same frame.
        (
            api::Frame {
                detached_body_names: vec![cup()],
                removed_body_names: vec!["table".to_owned()],
                added_bodies: vec![named(9, "table", 3.0)],
                poses: vec![api::BodyPose {
                    name: "table".to_owned(),
                    pose: pose(0.5),
                    ..Default::default()
                }],
                ..frame(3)
            },
            api::Frame {
                detached_body_ids: vec![1],
                removed_body_ids: vec![2],
                added_bodies: vec![named(9, "table", 3.0)],
                poses: vec![api::BodyPose { id: Some(9), pose: pose(0.5), ..Default::default() }],
                ..frame(3)
            },
        ),
        (
            api::Frame { removed_robot_names: vec![arm()], ..frame(4) },
            api::Frame { removed_robots: vec![ARM], ..frame(4) },
        ),
    ];
    for (by_names, by_numbers) in &pairs {
        let [names, numbers] = [("names", by_names), ("numbers", by_numbers)]
            .map(|(id, frame)| step(&server, id, vec![frame.clone()]));
        let (names, numbers) = (names.await.unwrap(), numbers.await.unwrap());
        assert!(names[0].status.is_none() && names[0].refused_items.is_empty(), "{names:?}");
        assert_eq!(told(&names[0]), told(&numbers[0]));
        assert!(by_names.frame_id != 3 || !names[0].pairs.is_empty(), "{names:?}");
    }
    // A frame that comes again gets its report again, although the names are gone.
    let [_, _, _, (last, _)] = &pairs;
    let again = step(&server, "names", vec![last.clone()]).await.unwrap();
    assert!(again[0].status.is_none(), "{again:?}");

    let pose_of = |name: &str| api::BodyPose { name: name.to_owned(), ..Default::default() };
    for (wrong, field) in [
        (api::Frame { poses: vec![pose_of("nobody")], ..frame(5) }, "poses[0].name"),
        (api::Frame { poses: vec![pose_of("twin")], ..frame(5) }, "poses[0].name"),
        (
            api::Frame { poses: vec![api::BodyPose { id: Some(1), ..pose_of("cup") }], ..frame(5) },
            "poses[0].name",
        ),
        (
            api::Frame { removed_body_names: vec![cup(), String::new()], ..frame(5) },
            "removed_body_names[1]",
        ),
        (api::Frame { removed_robot_names: vec![arm()], ..frame(5) }, "removed_robot_names[0]"),
        (
            api::Frame {
                robot_moves: vec![api::RobotMove { name: arm(), id: None, ..to(0, &[0.3]) }],
                ..frame(5)
            },
            "robot_moves[0].name",
        ),
    ] {
        let reports = step(&server, "names", vec![wrong]).await.unwrap();
        refused(&reports[0], Code::InvalidArgument, &format!("frames[0].{field}"));
    }
    // Who has lost a frame hears of that, not of a name that the frame would have brought.
    let late = api::Frame { poses: vec![pose_of("nobody")], ..frame(9) };
    let reports = step(&server, "names", vec![late]).await.unwrap();
    refused(&reports[0], Code::FailedPrecondition, "frames[0].base_frame_id");
}

/// A link that may overlap by a quarter of a metre was told without that, and whoever declared the
/// state elsewhere had contacts that were none here.
#[tokio::test]
async fn paddings_below_0_are_declared_again_as_they_are_told() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    for padding in [-0.25, 0.25] {
        let paddings = vec![api::LinkPadding { link: "cart".to_owned(), padding }];
        let arm = api::SessionRobot { paddings: paddings.clone(), ..placed(ARM, &robot) };
        let state = api::SessionState { robots: vec![arm], ..Default::default() };
        let opening = api::OpenSessionRequest { replace: true, ..open("s", state, false) };
        server.sessions().open_session(opening).await.unwrap();
        let got = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
        let state = server.sessions().get_session(got).await.unwrap().into_inner().state.unwrap();
        assert_eq!(state.robots[0].paddings, paddings);
    }
}
