//! Certificates of edges in the scene of a session: those of a cell that says the same, which is
//! told with them, and judged.

use clearance_proto as api;
use clearance_proto::query_service_client::QueryServiceClient;
use clearance_runtime::settings::Limits;
use tokio_stream::iter;
use tonic::{Code, Status};

use crate::cell_rules::{SCOPES, TwoWays};
use crate::robots::robots;
use crate::server::{Server, check, soon, vector};
use crate::session_robots::{frame, open, placed, register, slider, to};
use crate::sessions::{cube_at, pose, started, started_with, step};

const ARM: u32 = 100;
const OTHER: u32 = 200;

async fn asked(
    server: &Server,
    request: api::CheckEdgesRequest,
) -> Result<api::CheckEdgesResponse, Status> {
    Ok(soon(robots(server).check_edges(request)).await?.into_inner())
}

/// The refusal of what is claimed; empty: it is valid.
async fn judged(
    server: &Server,
    question: &api::CheckEdgesRequest,
    answer: &api::CheckEdgesResponse,
) -> Result<String, Status> {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    let claim = api::EdgesClaim { question, answer };
    let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
    let mut queries = QueryServiceClient::new(server.channel.clone());
    let request = api::VerifyCertificateRequest { claim };
    Ok(queries.verify_certificate(request).await?.into_inner().refusal)
}

fn told(answer: &api::CheckEdgesResponse) -> (&api::SceneCell, &api::RobotCell) {
    let scene = answer.scene_cell.as_ref().expect("it tells the scene");
    (scene, scene.cell.as_ref().expect("it tells the cell"))
}

/// All that an answer says, but for the place and the cost.
fn without_place(answer: &api::CheckEdgesResponse) -> api::CheckEdgesResponse {
    api::CheckEdgesResponse {
        scene_cell: None,
        frame_id: 0,
        cell_not_kept: false,
        cost: None,
        ..answer.clone()
    }
}

/// The same answer as a cell gives it, whose bodies have no ids.
fn by_numbers(answer: &api::CheckEdgesResponse) -> api::CheckEdgesResponse {
    let (scene, _) = told(answer);
    api::CheckEdgesResponse {
        near_firsts: scene.near_firsts.clone(),
        near_seconds: scene.near_seconds.clone(),
        ..without_place(answer)
    }
}

/// The Panda that carries a tool, described by hand as a cell and as a session.
#[tokio::test]
async fn certificates_in_a_scene_are_those_of_a_cell_that_says_the_same() {
    let two = TwoWays::start().await;
    let near = |(a, b): (&f64, &f64)| 0.9 * a + 0.1 * b;
    let starts = two.values[..160].to_vec();
    let ends: Vec<f64> = starts.iter().zip(&two.values[160..]).map(near).collect();
    for scope in SCOPES {
        let question = api::CheckEdgesRequest {
            starts: starts.clone(),
            ends: ends.clone(),
            certificate: true,
            pair_scope: scope.into(),
            ..Default::default()
        };
        let of_cell = api::CheckEdgesRequest { cell: Some(two.cell.clone()), ..question.clone() };
        let of_scene = api::CheckEdgesRequest { scene: Some(two.scene.clone()), ..question };
        let cell = asked(&two.server, of_cell).await.unwrap();
        let scene = asked(&two.server, of_scene.clone()).await.unwrap();
        assert_eq!(by_numbers(&scene), without_place(&cell), "{scope:?}");
        assert!(scope != api::PairScope::Unspecified || !scene.near_indices.is_empty());
        assert!(scene.certificates.iter().any(|one| !one.pieces.is_empty()));
        assert!(scene.cell_not_kept, "it is built for the call");
        assert_eq!(judged(&two.server, &of_scene, &scene).await.unwrap(), "", "{scope:?}");
        // What is answered without certificates is the same.
        let plain = api::CheckEdgesRequest { certificate: false, ..of_scene.clone() };
        let plain = asked(&two.server, plain).await.unwrap();
        let bare = api::CheckEdgesResponse {
            certificates: vec![],
            coverage: None,
            ..without_place(&scene)
        };
        assert_eq!(without_place(&plain), bare);
        assert_eq!(plain.scene_cell, None);
        // The cell that is told says the same as the one that was written by hand.
        let (_, same) = told(&scene);
        let of_told = api::CheckEdgesRequest { cell: Some(same.clone()), scene: None, ..of_scene };
        let again = asked(&two.server, of_told.clone()).await.unwrap();
        assert_eq!(without_place(&again), without_place(&cell));
        assert_eq!(judged(&two.server, &of_told, &again).await.unwrap(), "");
    }
}

/// Two sliders, of which one is asked about: its cart is a cube of 1 around its value. It may come
/// as near as a quarter to body 1, which has two parts from 3 on, a tenth to body 3 from 8 on, and
/// goes through body 2. The other one stands at -6.
async fn with_everything(limits: Limits) -> Server {
    let server = started_with(limits).await;
    let robot = register(&server, slider()).await;
    let part = |x: f64| api::PlacedBody { pose: pose(x), ..cube_at(1, 0.0).parts.remove(0) };
    let pair = |a: u32, b: u32| Some(api::BodyPair { a: Some(a), b: Some(b) });
    let rules = api::PairRules {
        margins: vec![api::PairMargin { pair: pair(1, ARM + 1), margin: 0.25 }],
        ..Default::default()
    };
    let translation = vector(0.0, 0.25, 0.0);
    let other = api::SessionRobot {
        name: "other".to_owned(),
        values: vec![-6.0],
        base: Some(api::Pose { translation, orientation: None }),
        ..placed(OTHER, &robot)
    };
    let state = api::SessionState {
        bodies: vec![
            api::Body { parts: vec![part(0.0), part(2.0)], ..cube_at(1, 3.0) },
            api::Body { mask: Some(2), ..cube_at(2, 1.5) },
            api::Body { margin: 0.1, fixed: true, ..cube_at(3, 8.0) },
        ],
        robots: vec![placed(ARM, &robot), other],
        rules: Some(rules),
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    server
}

fn edges(ends: &[f64]) -> api::CheckEdgesRequest {
    let scene =
        api::RobotScene { session_id: "s".to_owned(), robots: vec![ARM], ..Default::default() };
    api::CheckEdgesRequest {
        scene: Some(scene),
        starts: vec![0.0; ends.len()],
        ends: ends.to_vec(),
        certificate: true,
        ..Default::default()
    }
}

#[tokio::test]
async fn a_scene_is_told_as_a_cell_with_the_ids_margins_and_pairs_of_the_session() {
    let server = with_everything(Limits::default()).await;
    let question = edges(&[2.2, 2.4, -8.0]);
    let answer = asked(&server, question.clone()).await.unwrap();
    let contact = api::Outcome::Contact;
    let outcomes: Vec<_> = answer.outcomes().collect();
    assert_eq!(outcomes, [api::Outcome::NoContact, contact, contact]);
    assert!((answer.contact_at[0] - 2.25 / 2.4).abs() < 1e-5, "{answer:?}");
    assert!((answer.contact_at[1] - 5.0 / 8.0).abs() < 1e-5, "{answer:?}");
    let named = (&answer.near_firsts[..], &answer.near_seconds[..]);
    assert_eq!(named, (&[ARM + 1, ARM + 1][..], &[1, OTHER + 1][..]));
    let (scene, cell) = told(&answer);
    assert_eq!(scene.body_ids, [ARM + 1, 1, 1, 2, 3, OTHER + 1]);
    assert_eq!((&scene.near_firsts[..], &scene.near_seconds[..]), (&[0, 0][..], &[1, 5][..]));
    assert_eq!((cell.robots.len(), cell.obstacles.len()), (1, 5));
    let margins: Vec<f64> = cell.pair_margins.iter().map(|one| one.margin).collect();
    assert_eq!((margins, cell.obstacles[3].padding), (vec![0.25; 2], 0.1));
    let coverage = answer.coverage.as_ref().unwrap();
    assert_eq!((coverage.covered, &coverage.firsts[..]), (4, &[0][..]));
    assert_eq!(coverage.seconds, [3]);
    assert_eq!(coverage.rules().next(), Some(api::LeftOutRule::Ignored));
    assert_eq!(judged(&server, &question, &answer).await.unwrap(), "");
    let of_cell =
        api::CheckEdgesRequest { cell: Some(cell.clone()), scene: None, ..question.clone() };
    let same = asked(&server, of_cell).await.unwrap();
    assert_eq!(by_numbers(&answer), without_place(&same));

    // A frame moves body 1 out of the way, and the answer is about that.
    let away = api::BodyPose { id: Some(1), pose: pose(20.0), ..Default::default() };
    let moved = api::Frame { poses: vec![away], ..frame(1, vec![to(OTHER, &[-7.5])]) };
    step(&server, "s", vec![moved]).await.unwrap();
    let mut later = question;
    later.scene.as_mut().unwrap().frame_id = Some(1);
    let answer = asked(&server, later.clone()).await.unwrap();
    let outcomes: Vec<_> = answer.outcomes().collect();
    assert_eq!(outcomes, [api::Outcome::NoContact, api::Outcome::NoContact, contact]);
    assert!((answer.contact_at[0] - 6.5 / 8.0).abs() < 1e-5, "{answer:?}");
    assert_eq!(answer.frame_id, 1);
    assert_eq!(judged(&server, &later, &answer).await.unwrap(), "");
}

#[tokio::test]
async fn what_is_told_of_a_scene_is_judged_as_it_is_told() {
    let server = with_everything(Limits::default()).await;
    let question = edges(&[2.2, -8.0]);
    let answer = asked(&server, question.clone()).await.unwrap();
    let changed = async |change: &dyn Fn(&mut api::CheckEdgesResponse)| {
        let mut changed = answer.clone();
        change(&mut changed);
        judged(&server, &question, &changed).await
    };
    fn scene(answer: &mut api::CheckEdgesResponse) -> &mut api::SceneCell {
        answer.scene_cell.as_mut().unwrap()
    }
    fn cell(answer: &mut api::CheckEdgesResponse) -> &mut api::RobotCell {
        scene(answer).cell.as_mut().unwrap()
    }
    let path = |field: &str| format!("edges.answer.{field}");
    for (change, field) in [
        (
            &(|it: &mut api::CheckEdgesResponse| it.scene_cell = None) as &dyn Fn(&mut _),
            "scene_cell",
        ),
        (&|it| scene(it).cell = None, "scene_cell.cell"),
        (&|it| scene(it).body_ids.push(7), "scene_cell.body_ids"),
        (&|it| it.near_seconds[0] = 3, "scene_cell.near_seconds[0]"),
        (&|it| scene(it).near_firsts.clear(), "scene_cell.near_firsts"),
        (&|it| scene(it).near_seconds[0] = 99, "scene_cell.near_seconds[0]"),
        (&|it| cell(it).adjacent_links = true, "scene_cell.cell.adjacent_links"),
        (&|it| cell(it).robots.clear(), "scene_cell.cell.robots"),
        (&|it| it.coverage = None, "coverage"),
    ] {
        let status = changed(change).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", &path(field));
    }
    let mut of_frame = question.clone();
    of_frame.scene.as_mut().unwrap().frame_id = Some(3);
    let status = judged(&server, &of_frame, &answer).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", &path("frame_id"));
    let both = api::CheckEdgesRequest { cell: Some(Default::default()), ..question.clone() };
    let status = judged(&server, &both, &answer).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "edges.question.scene");
    // Another scene than that of the certificates is none that they show anything of.
    for change in [
        &(|it: &mut api::CheckEdgesResponse| cell(it).pair_margins[0].margin = 0.5)
            as &dyn Fn(&mut _),
        &|it| cell(it).ignored_pairs.clear(),
        &|it| cell(it).obstacles[3].padding = 6.0,
        &|it| cell(it).obstacles[0].pose = pose(2.0),
        &|it| cell(it).obstacles[4].pose = pose(0.0),
        &|it| {
            cell(it).robots[0]
                .paddings
                .push(api::LinkPadding { link: "cart".to_owned(), padding: 5.9 })
        },
    ] {
        assert_ne!(changed(change).await.unwrap(), "");
    }
}

#[tokio::test]
async fn paths_and_streams_have_certificates_in_a_scene_too() {
    let server = with_everything(Limits::default()).await;
    let waypoints = vec![0.0, 2.0, -1.0, -8.0, 0.0];
    let asked_path = api::CheckPathRequest {
        scene: edges(&[]).scene,
        waypoints: waypoints.clone(),
        certificate: true,
        ..Default::default()
    };
    let path = robots(&server).check_path(asked_path).await.unwrap().into_inner();
    assert_eq!((path.outcome(), path.free_until.floor()), (api::Outcome::Contact, 2.0));
    let told = path.edges.unwrap();
    let question = api::CheckEdgesRequest {
        starts: waypoints[..3].to_vec(),
        ends: waypoints[1..4].to_vec(),
        ..edges(&[])
    };
    assert_eq!(told.count, 3, "it ends where it is not free");
    assert_eq!(judged(&server, &question, &told).await.unwrap(), "");
    let alone = asked(&server, question).await.unwrap();
    assert_eq!(without_place(&told), without_place(&alone));
    assert_eq!(told.scene_cell, alone.scene_cell);

    // In a stream each reply can be judged by itself; one in the same scene without certificates
    // tells no cell.
    let ends: Vec<f64> = (0..40).map(|k| 2.4 - 0.2 * f64::from(k)).collect();
    let whole = edges(&ends);
    let bytes = {
        let all = asked(&server, whole.clone()).await.unwrap();
        prost::Message::encoded_len(&all) as u64
    };
    let first = api::CheckEdgesRequest { reply_bytes_max: bytes * 2 / 3, ..whole.clone() };
    let second = api::CheckEdgesRequest { scene: None, certificate: false, ..whole };
    let messages = [first, second]
        .map(|one| api::StreamEdgesRequest { check: Some(one), cloud_changes: vec![] });
    let mut replies = robots(&server).stream_edges(iter(messages)).await.unwrap().into_inner();
    let (mut count, mut pieces) = (0, 0);
    while let Some(reply) = soon(replies.message()).await.unwrap() {
        let answer = reply.answer.unwrap();
        let (first, some) = (reply.first_index as usize, answer.count as usize);
        count += some;
        if first >= ends.len() {
            assert_eq!(answer.scene_cell, None);
            continue;
        }
        pieces += 1;
        let question = edges(&ends[first..first + some]);
        assert_eq!(judged(&server, &question, &answer).await.unwrap(), "", "{first}");
    }
    assert_eq!(count, 2 * ends.len());
    assert!(pieces > 1, "it was to be cut");
}

#[tokio::test]
async fn a_scene_that_no_cell_can_be_told_of_is_refused_before_the_work() {
    let limits = Limits { rules_per_cell_max: 2, obstacles_per_cell_max: 8, ..Limits::default() };
    let server = with_everything(limits).await;
    let refused =
        async |question: api::CheckEdgesRequest| asked(&server, question).await.unwrap_err();
    let short = api::CheckEdgesRequest { reply_bytes_max: 500, ..edges(&[1.0]) };
    assert_eq!(refused(short).await.code(), Code::ResourceExhausted);
    // More obstacles than a cell may have, of which none would be read again.
    let frames =
        |id: u64, added: Vec<api::Body>| api::Frame { added_bodies: added, ..frame(id, vec![]) };
    let far = |id: u32| cube_at(id, 20.0 + f64::from(id));
    step(&server, "s", vec![frames(1, (10..14).map(far).collect())]).await.unwrap();
    check(&refused(edges(&[1.0])).await, Code::InvalidArgument, "LIMIT_EXCEEDED", "scene");
    // More pairs that are not checked than a cell may ignore.
    let gone = api::Frame { removed_body_ids: (10..14).collect(), ..frame(2, vec![]) };
    let unasked = |id: u32| api::Body { mask: Some(2), ..far(id) };
    step(&server, "s", vec![gone, frames(3, (10..12).map(unasked).collect())]).await.unwrap();
    let status = refused(edges(&[1.0])).await;
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "scene");
    assert!(status.message().contains("rules_per_cell_max"), "{status:?}");
    let streamed = api::StreamEdgesRequest { check: Some(edges(&[1.0])), cloud_changes: vec![] };
    let mut replies = robots(&server).stream_edges(iter([streamed])).await.unwrap().into_inner();
    let status = soon(replies.message()).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", "check.scene");
    // One pose for each part is all that a certificate has.
    let gone = api::Frame { removed_body_ids: vec![10, 11], ..frame(4, vec![]) };
    let link = "cart".to_owned();
    let attached = api::AttachedBody { body_id: Some(1), link, ..Default::default() };
    let attached = vec![api::RobotAttachment {
        robot: Some(ARM),
        attached: Some(attached),
        ..Default::default()
    }];
    let carrying = api::Frame { attached, ..frame(5, vec![]) };
    step(&server, "s", vec![gone, carrying]).await.unwrap();
    let status = refused(edges(&[1.0])).await;
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "scene");
    assert!(status.message().contains("body 1 of the session"), "{status:?}");
    let plain = api::CheckEdgesRequest { certificate: false, ..edges(&[1.0]) };
    assert!(asked(&server, plain).await.is_ok());
}

/// What is carried, what hangs where nothing moves, and a robot that stands on something as it is:
/// two robots are asked about, and the one with the higher id is the first.
#[tokio::test]
async fn what_two_robots_carry_is_told_robot_by_robot() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let hung = |body_id: u32, link: &str, x: f64| api::AttachedBody {
        body_id: Some(body_id),
        link: link.to_owned(),
        pose: pose(x),
        ..Default::default()
    };
    let arm = |id: u32, y: f64, attached: Vec<api::AttachedBody>| api::SessionRobot {
        name: format!("arm {id}"),
        base: Some(api::Pose { translation: vector(0.0, y, 0.0), orientation: None }),
        attached,
        ..placed(id, &robot)
    };
    let state = api::SessionState {
        bodies: (1..6).map(|id| cube_at(id, 30.0)).collect(),
        robots: vec![
            arm(ARM, 0.0, vec![hung(5, "cart", 0.5), hung(2, "rail", -4.0)]),
            arm(OTHER, 3.0, vec![hung(1, "cart", 0.5), hung(4, "cart", -1.5)]),
        ],
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let mut question = edges(&[]);
    question.scene.as_mut().unwrap().robots = vec![OTHER, ARM];
    (question.starts, question.ends) = (vec![0.0; 4], vec![1.0, 1.0, 1.0, -3.0]);
    let answer = asked(&server, question.clone()).await.unwrap();
    let (scene, cell) = told(&answer);
    assert_eq!(scene.body_ids, [OTHER + 1, ARM + 1, 1, 4, 5, 2, 3]);
    let counts = cell.robots.iter().map(|robot| robot.attached.len()).collect::<Vec<_>>();
    assert_eq!((counts, cell.obstacles.len()), (vec![2, 1], 2));
    let outcomes: Vec<_> = answer.outcomes().collect();
    assert_eq!(outcomes, [api::Outcome::NoContact, api::Outcome::Contact], "{answer:?}");
    assert_eq!((answer.near_firsts[0], answer.near_seconds[0]), (ARM + 1, 2));
    assert_eq!(judged(&server, &question, &answer).await.unwrap(), "");
}
