//! Margins below 0 wherever one can be said: each is obeyed, or refused with its field.

use std::collections::{BTreeMap, BTreeSet};

use api::verify_certificate_request::Claim;
use clearance_proto as api;
use prost::Message;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tonic::Code;

use crate::robots::{check as configurations, robots, slider as cell_of_slider};
use crate::server::{Server, body, check, vector};
use crate::session_robots::{frame, open, placed, register, slider, to};
use crate::sessions::{cube_at, pose, put, started, step};

/// Where a margin below 0 can be said, and whether it is obeyed.
const SAID: [(&str, bool); 14] = [
    ("Body.margin", true),
    ("BodyChange.margin", true),
    ("CellMargin.margin", true),
    ("CheckCollisionRequest.margin", true),
    ("CheckEdgesRequest.margin", true),
    ("CheckPathRequest.margin", true),
    ("FindFirstContactRequest.margin", true),
    ("LinkPadding.padding", true),
    ("MeasureDistanceRequest.margin", true),
    ("PairMargin.margin", true),
    ("RobotObstacle.padding", true),
    ("SessionState.begin_margin", false),
    ("SessionState.release_margin", false),
    ("ShapeCast.margin", true),
];

/// Numbers that say within which distance a pair counts, of this message and those in it.
fn margins_of(message: &DescriptorProto, found: &mut BTreeSet<String>) {
    for field in &message.field {
        let name = field.name();
        let is_one = name.ends_with("margin") || name == "padding";
        if is_one && field.r#type() == Type::Double {
            found.insert(format!("{}.{name}", message.name()));
        }
    }
    message.nested_type.iter().for_each(|nested| margins_of(nested, found));
}

#[test]
fn these_are_all_fields_that_a_margin_can_be_said_in() {
    let set = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
    let mut found = BTreeSet::new();
    for file in set.file.iter().filter(|file| file.package() == "clearance.v1") {
        file.message_type.iter().for_each(|message| margins_of(message, &mut found));
    }
    let known: BTreeMap<&str, bool> = SAID.into_iter().collect();
    let told: BTreeSet<String> = known.keys().map(|field| (*field).to_owned()).collect();
    assert_eq!(found, told, "what is new here is asked in a test below");
}

/// Cubes of 1 whose low corners are at 0 and at `x`.
fn two(x: f64) -> [Option<api::PlacedBody>; 2] {
    [Some(body("cube", 0.0)), Some(body("cube", x))]
}

fn along_x(by: f64) -> Option<api::Motion> {
    let linear = api::LinearMotion { velocity: vector(by, 0.0, 0.0) };
    Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) })
}

/// A bracket of a time in 1e-6 of it or of 1.
#[track_caller]
fn met(free: f64, contact: f64, time: f64) {
    assert!(free <= time && time <= contact && contact - free <= 1e-6, "{free} {contact} {time}");
}

#[tokio::test]
async fn questions_about_two_bodies_obey_margins_below_zero() {
    let server = started().await;
    for (x, within) in [(0.75, true), (0.750_000_1, false), (1.0, false), (2.0, false)] {
        let [p, q] = two(x);
        let asked = api::CheckCollisionRequest {
            p: p.clone(),
            q: q.clone(),
            margin: Some(-0.25),
            ..Default::default()
        };
        let answer = server.queries().check_collision(asked).await.unwrap().into_inner();
        assert_eq!(answer.within_margin, Some(within), "{x}");
        let asked = api::MeasureDistanceRequest { p, q, margin: Some(-0.25), ..Default::default() };
        let answer = server.queries().measure_distance(asked).await.unwrap().into_inner();
        assert_eq!(answer.within_margin, Some(within), "{x}");
    }
    let [p, q] = two(3.0);
    let asked = api::FindFirstContactRequest {
        p,
        q,
        q_motion: along_x(-4.0),
        margin: -0.25,
        ..Default::default()
    };
    let answer = server.queries().find_first_contact(asked).await.unwrap().into_inner();
    met(answer.t_free, answer.t_contact.unwrap(), 2.25 / 4.0);
}

/// The cart of the slider is a cube of 1 around its value, the wall begins at 2.5.
#[tokio::test]
async fn edges_and_configurations_of_cells_obey_margins_below_zero() {
    let server = started().await;
    let plain = cell_of_slider(&server).await;
    let padding = |padding| vec![api::LinkPadding { link: "cart".to_owned(), padding }];
    let mut of_link = plain.clone();
    of_link.robots[0].paddings = padding(-0.25);
    let mut of_wall = plain.clone();
    of_wall.obstacles[0].padding = -0.25;
    let mut of_both = plain.clone();
    of_both.robots[0].paddings = padding(0.25);
    of_both.obstacles[0].padding = -0.5;
    // Of the pair itself, in place of the sum of its paddings.
    let mut of_pair = of_both.clone();
    of_pair.obstacles[0].padding = 1.0;
    let named = |body| Some(api::CellBody { robot: 0, body: Some(body) });
    let first = named(api::cell_body::Body::Link("cart".to_owned()));
    let second = named(api::cell_body::Body::ObstacleIndex(0));
    let pair = Some(api::CellPair { first, second });
    of_pair.pair_margins = vec![api::CellMargin { pair, margin: -0.25 }];
    let edge = |cell: &api::RobotCell, margin, certificate| api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: vec![0.0],
        ends: vec![4.0],
        margin,
        certificate,
        ..Default::default()
    };
    let asked = [
        (&plain, -0.25, 2.25),
        (&of_link, 0.0, 2.25),
        (&of_wall, 0.0, 2.25),
        (&of_both, 0.0, 2.25),
        (&of_pair, 0.0, 2.25),
        (&of_link, -0.125, 2.125),
        (&of_link, 0.125, 1.875),
        (&plain, 0.0, 2.0),
    ];
    for (cell, margin, at) in asked {
        let answer = robots(&server).check_edges(edge(cell, margin, false)).await.unwrap();
        let answer = answer.into_inner();
        assert_eq!(answer.outcomes, [i32::from(api::Outcome::Contact)], "{margin} {at}");
        met(answer.free_until[0], answer.contact_at[0], at / 4.0);
        let path = api::CheckPathRequest {
            cell: Some(cell.clone()),
            waypoints: vec![0.0, 4.0],
            margin,
            ..Default::default()
        };
        let answer = robots(&server).check_path(path).await.unwrap().into_inner();
        let edges = answer.edges.unwrap();
        met(answer.free_until, edges.contact_at[0], at / 4.0);
    }
    // A certificate shows how far apart bodies are, and not how little deep.
    for (cell, margin) in [(&plain, -0.25), (&of_wall, 0.0)] {
        let refused = robots(&server).check_edges(edge(cell, margin, true)).await.unwrap_err();
        check(&refused, Code::Unimplemented, "NOT_IMPLEMENTED", "certificate");
        let answer = robots(&server).check_edges(edge(cell, margin, false)).await.unwrap();
        let mut answer = answer.into_inner();
        answer.certificates = vec![api::EdgeCertificate::default()];
        answer.coverage = Some(api::PairCoverage::default());
        let claim =
            api::EdgesClaim { question: Some(edge(cell, margin, false)), answer: Some(answer) };
        let request = api::VerifyCertificateRequest { claim: Some(Claim::Edges(claim)) };
        let refused = server.queries().verify_certificate(request).await.unwrap_err();
        check(&refused, Code::Unimplemented, "NOT_IMPLEMENTED", "edges.question.margin");
    }
    let answer = robots(&server).check_edges(edge(&of_link, 0.125, true)).await.unwrap();
    assert_eq!(answer.into_inner().certificates.len(), 1);

    // Touching, as deep, an ulp less and deeper.
    let values = [2.0, 2.25, 2.25 - 4.0 * f64::EPSILON, 2.5, 0.0];
    for (cell, within) in [
        (&of_link, &[1, 3][..]),
        (&of_wall, &[1, 3]),
        (&of_both, &[1, 3]),
        (&of_pair, &[1, 3]),
        (&plain, &[]),
    ] {
        for mode in [
            api::CheckMode::FirstPair,
            api::CheckMode::AllPairs,
            api::CheckMode::Clearance,
            api::CheckMode::LinkClearance,
        ] {
            let asked = configurations(cell, mode, &values);
            let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
            assert_eq!(answer.within_margin_indices, within, "{mode:?}");
        }
    }
}

/// Cubes of which the second comes from 10, with this margin, said in one of these ways.
async fn session_of(server: &Server, id: &str, margin: f64, way: usize) -> api::FrameReport {
    let mut bodies = vec![cube_at(1, 0.0), cube_at(2, 10.0)];
    let pair = Some(api::BodyPair { a: Some(1), b: Some(2) });
    let mut rules = api::PairRules::default();
    match way {
        0 => bodies[0].margin = margin,
        1 => rules.margins = vec![api::PairMargin { pair, margin }],
        _ => {}
    }
    let state = api::SessionState { bodies, rules: Some(rules), ..Default::default() };
    let mut opened = open(id, state, true);
    let options = opened.report.as_mut().unwrap();
    options.certificates = true;
    options.set_pairs(api::PairSelection::All);
    server.sessions().open_session(opened).await.unwrap();
    let first = match way {
        2 => {
            let change =
                api::BodyChange { id: Some(2), margin: Some(margin), ..Default::default() };
            api::Frame { changed_bodies: vec![change], ..put(1, 10.0) }
        }
        3 => {
            let set_margins = vec![api::PairMargin { pair, margin }];
            let rule_changes = api::RuleChanges { set_margins, ..Default::default() };
            api::Frame { rule_changes: Some(rule_changes.into()), ..put(1, 10.0) }
        }
        _ => put(1, 10.0),
    };
    step(server, id, vec![first, put(2, 0.0), put(3, 0.0)]).await.unwrap().remove(1)
}

#[tokio::test]
async fn sessions_obey_margins_below_zero_on_the_way() {
    let server = started().await;
    for way in 0..4 {
        for (margin, at) in [(-0.25, 9.25), (-0.75, 9.75), (0.0, 9.0), (0.5, 8.5)] {
            let id = format!("{way}{margin}");
            let report = session_of(&server, &id, margin, way).await;
            let [pair] = &report.pairs[..] else { panic!("{report:?}") };
            let found = pair.first_contact.as_ref().unwrap();
            assert_eq!(found.outcome(), api::Outcome::Contact, "{way} {margin} {pair:?}");
            met(found.t_free, found.t_contact.unwrap(), at / 10.0);
            assert_eq!(found.certificate.is_some(), margin >= 0.0, "{way} {margin}");
            // Events are about contact itself.
            let [event] = &report.events[..] else { panic!("{report:?}") };
            let bracket = event.time.unwrap();
            met(bracket.lower, bracket.upper, 0.9);
        }
        // They are never so deep: at the end they lie in each other.
        let report = session_of(&server, &format!("{way}deep"), -1.5, way).await;
        let [pair] = &report.pairs[..] else { panic!("{report:?}") };
        let outcome = pair.first_contact.as_ref().unwrap().outcome();
        assert_eq!((outcome, pair.within_margin), (api::Outcome::NoContact, Some(false)), "{way}");
    }
    // What is no depth in the interface is refused.
    for field in ["begin_margin", "release_margin"] {
        let mut state = api::SessionState { bodies: vec![cube_at(1, 0.0)], ..Default::default() };
        match field {
            "begin_margin" => state.begin_margin = -0.25,
            _ => state.release_margin = -0.25,
        }
        let opened = server.sessions().open_session(open("refused", state, false)).await;
        check(&opened.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", &format!("state.{field}"));
    }
}

/// A cart that goes through a cube, by a robot that says its padding, and what it carries.
#[tokio::test]
async fn robots_of_sessions_obey_paddings_below_zero() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let padding = |padding| vec![api::LinkPadding { link: "cart".to_owned(), padding }];
    for (own, carried, at) in [(-0.25, None, 2.25), (0.0, Some(-0.5), 1.5), (0.25, None, 1.75)] {
        // The cube begins at 2.5; what is carried is a cube that reaches to 1.5 before the value.
        let mut robot = placed(100, &robot);
        robot.paddings = padding(own);
        let mut bodies = vec![cube_at(1, 2.5)];
        if let Some(margin) = carried {
            let pose = Some(api::Pose { translation: vector(0.5, 0.0, 0.0), orientation: None });
            let link = "cart".to_owned();
            let tool = api::AttachedBody { body_id: Some(7), link, pose, ..Default::default() };
            robot.attached = vec![tool];
            bodies.push(api::Body { margin, ..cube_at(7, 0.5) });
        }
        let state = api::SessionState { bodies, robots: vec![robot], ..Default::default() };
        let id = format!("{own} {carried:?}").replace(['(', ')', ' '], "");
        server.sessions().open_session(open(&id, state, true)).await.unwrap();
        let scene = api::RobotScene { session_id: id.clone(), ..Default::default() };
        let asked = api::CheckEdgesRequest {
            scene: Some(scene.clone()),
            starts: vec![0.0],
            ends: vec![2.4],
            ..Default::default()
        };
        let answer = robots(&server).check_edges(asked).await.unwrap().into_inner();
        met(answer.free_until[0], answer.contact_at[0], at / 2.4);
        let asked = api::CheckConfigurationsRequest {
            scene: Some(scene),
            values: vec![at - 0.001, at, at + 0.001],
            ..Default::default()
        };
        let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
        assert_eq!(answer.within_margin_indices, [1, 2], "{own} {carried:?}");
        let moves = vec![frame(1, vec![to(100, &[2.4])])];
        let report = step(&server, &id, moves).await.unwrap().remove(0);
        let is_it = |pair: &&api::PairReport| {
            pair.a.min(pair.b) == 1 && carried.is_some() == (pair.a.max(pair.b) == 7)
        };
        let pair = report.pairs.iter().find(is_it).unwrap_or_else(|| panic!("{report:?}"));
        let found = pair.first_contact.as_ref().unwrap();
        met(found.t_free, found.t_contact.unwrap(), at / 2.4);
    }
}

/// A cube that is cast through one of a session.
#[tokio::test]
async fn casts_obey_margins_below_zero() {
    let server = started().await;
    let state = api::SessionState { bodies: vec![cube_at(1, 0.0)], ..Default::default() };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let cast = api::ShapeCast {
        body: Some(api::PlacedBody { pose: pose(3.0), ..body("cube", 0.0) }),
        motion: along_x(-4.0),
        margin: -0.25,
        ..Default::default()
    };
    let kind = Some(api::scene_query::Kind::ShapeCast(cast));
    let queries = vec![api::SceneQuery { kind, ..Default::default() }];
    let asked =
        api::QuerySceneRequest { session_id: "s".to_owned(), queries, ..Default::default() };
    let mut answers = server.sessions().query_scene(asked.clone()).await.unwrap().into_inner();
    let time = answers.answers.remove(0).hits.remove(0).time.unwrap();
    met(time.lower, time.upper, 2.25 / 4.0);
    // Which contacts at the start are told, and exits, are asked of ways without a margin.
    for (field, asked) in [
        ("exits", api::QuerySceneRequest { exits: true, ..asked.clone() }),
        ("start_contacts", {
            let start_contacts = api::StartContacts::Deepening.into();
            api::QuerySceneRequest { start_contacts, ..asked }
        }),
    ] {
        let answer = server.sessions().query_scene(asked).await.unwrap().into_inner();
        let status = answer.answers[0].status.clone().unwrap_or_else(|| panic!("{field}"));
        assert_ne!(status.code, 0, "{field}");
    }
}
