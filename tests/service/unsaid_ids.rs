//! An id that is left out is nobody's: 0 is an id like any other, and has to be said.

use std::collections::BTreeSet;

use clearance_proto as api;
use prost::Message;
use prost_types::FileDescriptorSet;
use prost_types::field_descriptor_proto::{Label, Type};
use tonic::{Code, Status};

use crate::server::{Server, check};
use crate::session_robots::{placed, register, slider, to};
use crate::sessions::{cube_at, pose, started, step};

const ARM: u32 = 100;

/// Single numbers that name something and may be left out all the same: each says why that is no
/// silent 0.
const MAY_BE_SILENT: [(&str, &str, &str); 7] = [
    ("AnnouncedContact", "began_frame_id", "0 says that the scene was opened with it"),
    ("CellBody", "robot", "an index; a cell has a first robot"),
    ("CheckEdgesResponse", "frame_id", "told by servers; 0 is the scene as it was opened"),
    ("CloudChange", "obstacle", "an index; a list has a first entry"),
    ("Frame", "frame_id", "0 is refused"),
    ("HullAround", "body", "a number in a certificate, which is judged"),
    ("SessionState", "frame_id", "0 says that there was none yet"),
];

/// Every field of every message that a client sends and that names one thing by a number can tell
/// 0 from silence.
#[test]
fn every_id_that_a_client_says_can_be_left_out_and_seen_to_be() {
    let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
    let files = files.file.iter().filter(|file| file.package() == "clearance.v1");
    let files: Vec<_> = files.collect();
    let messages: Vec<_> = files.iter().flat_map(|file| &file.message_type).collect();
    let methods = files.iter().flat_map(|file| &file.service).flat_map(|one| &one.method);
    let mut todo: Vec<String> = methods.map(|method| method.input_type().to_owned()).collect();
    let (mut seen, mut silent, mut told) = (BTreeSet::new(), Vec::new(), 0);
    while let Some(name) = todo.pop() {
        let short = name.trim_start_matches(".clearance.v1.");
        let Some(message) = messages.iter().find(|one| one.name() == short) else { continue };
        if !seen.insert(name.clone()) {
            continue;
        }
        for field in &message.field {
            todo.extend((field.r#type() == Type::Message).then(|| field.type_name().to_owned()));
            let is_number = matches!(field.r#type(), Type::Uint32 | Type::Uint64 | Type::Fixed32);
            let is_one = field.label() != Label::Repeated && field.oneof_index.is_none();
            let of = field.name();
            let names =
                ["id", "a", "b", "robot", "body", "obstacle"].contains(&of) || of.ends_with("_id");
            if is_number && names {
                told += 1;
                silent.extend(is_one.then(|| (short.to_owned(), of.to_owned())));
            }
        }
    }
    assert!(told > 10, "{told}");
    silent.sort();
    let may = MAY_BE_SILENT.map(|(message, field, _)| (message.to_owned(), field.to_owned()));
    assert_eq!(silent, may, "these say 0 where nothing is said");
}

/// A robot of the session, a body with the id 0, which is said, and another one.
async fn opened() -> Server {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let state = api::SessionState {
        bodies: vec![cube_at(0, 3.0), cube_at(7, 6.0)],
        robots: vec![placed(ARM, &robot)],
        ..Default::default()
    };
    open(&server, state).await.unwrap();
    server
}

async fn open(server: &Server, state: api::SessionState) -> Result<(), Status> {
    let request = api::OpenSessionRequest {
        session_id: "s".to_owned(),
        state: Some(state),
        replace: true,
        ..Default::default()
    };
    server.sessions().open_session(request).await.map(|_| ())
}

fn unsaid(pair: [Option<u32>; 2]) -> api::BodyPair {
    let [a, b] = pair;
    api::BodyPair { a, b }
}

/// What refuses one item: nothing else of the frame is lost, and body 0 stays where it is.
#[tokio::test]
async fn a_pose_or_a_move_without_an_id_is_refused_alone() {
    let server = opened().await;
    let there = api::BodyPose { id: None, pose: pose(50.0), ..Default::default() };
    let frame = api::Frame {
        frame_id: 1,
        poses: vec![
            there,
            api::BodyPose { id: Some(7), pose: pose(9.0), ..Default::default() },
            api::BodyPose { name: "nobody".to_owned(), ..Default::default() },
        ],
        robot_moves: vec![
            api::RobotMove { values: vec![8.0], ..Default::default() },
            api::RobotMove { values: vec![8.0, 9.0], ..to(ARM, &[]) },
            to(ARM, &[1.0]),
            api::RobotMove { id: Some(55), values: vec![1.0], ..Default::default() },
        ],
        ..Default::default()
    };
    let mut watched = {
        let request = api::WatchSessionRequest { session_id: "s".into(), ..Default::default() };
        server.sessions().watch_session(request).await.unwrap().into_inner()
    };
    assert!(watched.message().await.unwrap().unwrap().state.is_some());
    let named = api::Frame { frame_id: 1, ..frame.clone() };
    let report = step(&server, "s", vec![named]).await.unwrap().remove(0);
    // A name that nobody has refuses the frame, as it did.
    let status = report.status.expect("a name that none has");
    assert_eq!(status.field, "frames[0].poses[2].name");
    let mut frame = frame;
    frame.poses.pop();
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!(report.status, None);
    let mut items: Vec<(i32, &str)> =
        report.refused_items.iter().map(|item| (item.code, item.field.as_str())).collect();
    items.sort_unstable();
    let invalid = i32::from(Code::InvalidArgument);
    let mut expected = vec![
        (invalid, "frames[0].poses[0].id"),
        (invalid, "frames[0].robot_moves[0].id"),
        (invalid, "frames[0].robot_moves[1].values"),
        (invalid, "frames[0].robot_moves[3].id"),
    ];
    expected.sort_unstable();
    assert_eq!(items, expected);
    assert!(report.refused_items[0].message.contains("has to be said"), "{report:?}");
    // What followers hear is what was applied.
    let told = watched.message().await.unwrap().unwrap().frame.unwrap();
    let moved: Vec<u32> = told.packed_poses.unwrap().ids.iter().collect();
    assert_eq!(moved, [7, ARM + 1]);
    assert_eq!(told.robot_moves.len(), 1);
    let request = api::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    let state = server.sessions().get_session(request).await.unwrap().into_inner().state.unwrap();
    let places: Vec<_> =
        state.bodies.iter().map(|one| (one.id, one.pose.clone().unwrap())).collect();
    let at = |x: f64| pose(x).unwrap().translation;
    assert_eq!((places[0].0, &places[0].1.translation), (Some(0), &at(3.0)));
    assert_eq!((places[1].0, &places[1].1.translation), (Some(7), &at(9.0)));
    assert_eq!(state.robots[0].values, [1.0]);
    // Said, 0 is a body like any other.
    let moved = api::BodyPose { id: Some(0), pose: pose(4.0), ..Default::default() };
    let frame = api::Frame { frame_id: 2, poses: vec![moved], ..Default::default() };
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!((report.status, report.refused_items), (None, vec![]));
}

/// What is declared or changed without an id refuses what would have declared it, with its path.
#[tokio::test]
async fn what_is_declared_without_an_id_is_refused_with_its_path() {
    let server = opened().await;
    let body = || api::Body { id: None, ..cube_at(0, 20.0) };
    let robot = register(&server, slider()).await;
    let arm = || api::SessionRobot { id: None, ..placed(0, &robot) };
    let load =
        |body_id| api::AttachedBody { body_id, link: "cart".to_owned(), ..Default::default() };
    let attached = |robot, body_id| {
        let attached = Some(load(body_id));
        vec![api::RobotAttachment { robot, attached, ..Default::default() }]
    };
    let half = || vec![unsaid([Some(7), None])];
    let margins = || vec![api::PairMargin { pair: half().pop(), margin: 0.5 }];
    let changes = |made: api::RuleChanges| Some(Box::new(made));
    let rules = |made: api::PairRules| Some(Box::new(made));
    let next = || api::Frame { frame_id: 1, ..Default::default() };
    let frames = [
        (
            api::Frame { added_bodies: vec![cube_at(1, 9.0), body()], ..next() },
            "added_bodies[1].id",
        ),
        (
            api::Frame {
                changed_bodies: vec![api::BodyChange { fixed: Some(true), ..Default::default() }],
                ..next()
            },
            "changed_bodies[0].id",
        ),
        (api::Frame { added_robots: vec![arm()], ..next() }, "added_robots[0].id"),
        (
            api::Frame {
                added_robots: vec![api::SessionRobot {
                    attached: vec![load(None)],
                    ..placed(300, &robot)
                }],
                ..next()
            },
            "added_robots[0].attached[0].body_id",
        ),
        (api::Frame { attached: attached(None, Some(7)), ..next() }, "attached[0].robot"),
        (
            api::Frame { attached: attached(Some(ARM), None), ..next() },
            "attached[0].attached.body_id",
        ),
        (
            api::Frame {
                rules: rules(api::PairRules { checked_pairs: half(), ..Default::default() }),
                ..next()
            },
            "rules.checked_pairs[0].b",
        ),
        (
            api::Frame {
                rules: rules(api::PairRules {
                    ignored_pairs: vec![unsaid([None, Some(7)])],
                    ..Default::default()
                }),
                ..next()
            },
            "rules.ignored_pairs[0].a",
        ),
        (
            api::Frame {
                rules: rules(api::PairRules { margins: margins(), ..Default::default() }),
                ..next()
            },
            "rules.margins[0].pair.b",
        ),
        (
            api::Frame {
                rule_changes: changes(api::RuleChanges {
                    added_ignored_pairs: half(),
                    ..Default::default()
                }),
                ..next()
            },
            "rule_changes.added_ignored_pairs[0].b",
        ),
        (
            api::Frame {
                rule_changes: changes(api::RuleChanges {
                    removed_ignored_pairs: half(),
                    ..Default::default()
                }),
                ..next()
            },
            "rule_changes.removed_ignored_pairs[0].b",
        ),
        (
            api::Frame {
                rule_changes: changes(api::RuleChanges {
                    added_checked_pairs: half(),
                    ..Default::default()
                }),
                ..next()
            },
            "rule_changes.added_checked_pairs[0].b",
        ),
        (
            api::Frame {
                rule_changes: changes(api::RuleChanges {
                    removed_checked_pairs: half(),
                    ..Default::default()
                }),
                ..next()
            },
            "rule_changes.removed_checked_pairs[0].b",
        ),
        (
            api::Frame {
                rule_changes: changes(api::RuleChanges {
                    removed_margins: half(),
                    ..Default::default()
                }),
                ..next()
            },
            "rule_changes.removed_margins[0].b",
        ),
        (
            api::Frame {
                rule_changes: changes(api::RuleChanges {
                    set_margins: margins(),
                    ..Default::default()
                }),
                ..next()
            },
            "rule_changes.set_margins[0].pair.b",
        ),
    ];
    for (frame, field) in frames {
        let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        let status = report.status.unwrap_or_else(|| panic!("{field} was not refused"));
        assert_eq!(
            (status.code, status.field),
            (i32::from(Code::InvalidArgument), format!("frames[0].{field}"))
        );
    }
    // The same of the state that a session is opened with, and of a moment.
    let contact = api::AnnouncedContact { pair: half().pop(), began_frame_id: 0 };
    let state = api::SessionState::default;
    for (state, field) in [
        (api::SessionState { bodies: vec![body()], ..state() }, "bodies[0].id"),
        (api::SessionState { robots: vec![arm()], ..state() }, "robots[0].id"),
        (api::SessionState { contacts: vec![contact], ..state() }, "contacts[0].pair.b"),
    ] {
        let status = open(&server, state).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", &format!("state.{field}"));
    }
    let moment = Some(api::SceneMoment { frame_id: None, fraction: 0.0 });
    let asked = api::QuerySceneRequest { session_id: "s".into(), moment, ..Default::default() };
    let status = server.sessions().query_scene(asked).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "moment.frame_id");
    // Nothing of all that was done.
    let report = step(&server, "s", vec![next()]).await.unwrap().remove(0);
    assert_eq!((report.status, report.refused_items), (None, vec![]));
}
