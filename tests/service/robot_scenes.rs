//! Robots asked in the scene of a session: as its frames would leave them, by many at once, and
//! while a stream moves it on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tokio_stream::iter;
use tonic::{Code, Status};

use crate::robots::{SLIDER, cell_of, panda, robots, slider as slider_cell};
use crate::server::{Server, check, soon, vector};
use crate::session_robots::{frame, in_contact, open, placed, register, shares, slider, to};
use crate::sessions::{cube_at, pose, put, started, started_with, step};
use crate::streams::Talk;

const ARM: u32 = 100;
const OTHER: u32 = 200;

fn scene_of(id: &str, robots: &[u32]) -> api::RobotScene {
    let (session_id, robots) = (id.to_owned(), robots.to_vec());
    api::RobotScene { session_id, robots, ..Default::default() }
}

fn ask(
    scene: api::RobotScene,
    mode: api::CheckMode,
    values: &[f64],
) -> api::CheckConfigurationsRequest {
    api::CheckConfigurationsRequest {
        scene: Some(scene),
        mode: mode.into(),
        values: values.to_vec(),
        ..Default::default()
    }
}

async fn told(
    server: &Server,
    request: api::CheckConfigurationsRequest,
) -> Result<api::CheckConfigurationsResponse, Status> {
    Ok(soon(robots(server).check_configurations(request)).await?.into_inner())
}

/// A slider whose cart is a cube of 1 around its value on the x axis, and cubes whose low corners
/// are on that.
async fn with_slider(limits: Limits, cubes: &[(u32, f64)]) -> Server {
    let server = started_with(limits).await;
    let robot = register(&server, slider()).await;
    let state = api::SessionState {
        bodies: cubes.iter().map(|(id, x)| cube_at(*id, *x)).collect(),
        robots: vec![placed(ARM, &robot)],
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    server
}

/// The contacts of every configuration, by the ids of both bodies.
fn contacts(answer: &api::CheckConfigurationsResponse) -> Vec<BTreeMap<(u32, u32), api::Verdict>> {
    let mut all = vec![BTreeMap::new(); answer.count as usize];
    let verdicts: Vec<api::Verdict> = answer.contact_verdicts().collect();
    for (k, index) in answer.contact_indices.iter().enumerate() {
        let two = [answer.contact_firsts[k], answer.contact_seconds[k]];
        let key = (two[0].min(two[1]), two[0].max(two[1]));
        all[*index as usize].insert(key, verdicts[k]);
    }
    all
}

#[tokio::test]
async fn configurations_of_a_scene_are_answered_as_frames_that_move_the_robot_there() {
    let server = started().await;
    let robot = register(&server, panda()).await;
    let share = shares(40 * 8 + 40);
    let place = |k: usize| {
        let at = |axis: usize| share[320 + 3 * k + axis];
        let side = if at(0) < 0.5 { -1.0 } else { 1.0 };
        let translation = vector(side * (0.4 + 0.3 * at(0)), at(1) - 0.5, at(2));
        Some(api::Pose { translation, orientation: None })
    };
    let corner = |k: i32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.1 } else { -0.1 });
    let xyz: Vec<f64> = (0..8).flat_map(corner).collect();
    let bodies = (0..10).map(|k| {
        let source = api::placed_body::Source::Vertices(api::Points { xyz: xyz.clone() });
        let part = api::PlacedBody { source: Some(source), pose: None };
        let (id, margin) = (1 + k as u32, if k % 2 == 0 { 0.05 } else { 0.0 });
        api::Body {
            id: Some(id),
            parts: vec![part],
            pose: place(k),
            fixed: true,
            margin,
            ..Default::default()
        }
    });
    let pose = Some(api::Pose { translation: vector(0.0, 0.0, 0.15), orientation: None });
    let touch_links = ["panda_leftfinger", "panda_rightfinger"].map(str::to_owned).to_vec();
    let link = "panda_hand".to_owned();
    let tool =
        api::AttachedBody { body_id: Some(10), link, pose, touch_links, ..Default::default() };
    let arm = api::SessionRobot { attached: vec![tool], ..placed(ARM, &robot) };
    let rules = api::PairRules {
        ignored_pairs: vec![api::BodyPair { a: Some(3), b: Some(ARM + 5) }],
        ..Default::default()
    };
    let state = api::SessionState {
        bodies: bodies.collect(),
        robots: vec![arm],
        rules: Some(rules),
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let limit = |k: usize| &robot.variables[k % 8];
    let value = |(k, share): (usize, &f64)| {
        limit(k).lower() + (limit(k).upper() - limit(k).lower()) * share
    };
    let values: Vec<f64> = share[..320].iter().enumerate().map(value).collect();
    let scene = scene_of("s", &[ARM]);
    let all = told(&server, ask(scene.clone(), api::CheckMode::AllPairs, &values)).await.unwrap();
    let first =
        told(&server, ask(scene.clone(), api::CheckMode::FirstPair, &values)).await.unwrap();
    let nearest = ask(scene.clone(), api::CheckMode::Clearance, &values);
    let nearest = told(&server, nearest).await.unwrap();
    assert_eq!((all.frame_id, all.cell_not_kept), (0, false));

    // Every frame moves the robot by a teleport, as a configuration is looked at alone.
    let moves = values.chunks(8).enumerate().map(|(k, values)| {
        let one = api::RobotMove { teleported: true, ..to(ARM, values) };
        frame(1 + k as u64, vec![one])
    });
    let moves: Vec<api::Frame> = moves.collect();
    let reports = step(&server, "s", moves).await.unwrap();
    let (all_contacts, mut seen) = (contacts(&all), [0; 3]);
    for (k, report) in reports.iter().enumerate() {
        let pairs = report.pairs.iter();
        let expected: BTreeMap<(u32, u32), api::Verdict> =
            pairs.map(|pair| ((pair.a, pair.b), pair.verdict())).collect();
        let near: BTreeSet<(u32, u32)> = all_contacts[k].keys().copied().collect();
        assert_eq!(near, in_contact(report), "{k}");
        assert_eq!(all_contacts[k], expected, "{k}");
        let is_near = !expected.is_empty();
        let worst = expected.values().copied().max().unwrap_or(api::Verdict::Separated);
        assert_eq!(all.verdicts().nth(k).unwrap(), worst);
        assert_eq!(nearest.verdicts().nth(k).unwrap(), worst);
        let is_contact = worst != api::Verdict::Separated;
        assert_eq!(first.verdicts().nth(k).unwrap() != api::Verdict::Separated, is_contact);
        for answer in [&all, &first, &nearest] {
            assert_eq!(answer.within_margin_indices.contains(&(k as u32)), is_near, "{k}");
        }
        seen[0] += usize::from(!is_near);
        seen[1] += usize::from(is_near && !is_contact);
        seen[2] += usize::from(expected.keys().any(|(a, b)| *a == 10 || *b == 10));
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    // The frames have moved the robot, and nothing else: the same is answered about the last one.
    let again = told(&server, ask(scene, api::CheckMode::AllPairs, &values)).await.unwrap();
    assert_eq!(again.frame_id, 40);
    assert_eq!(contacts(&again), all_contacts);
}

#[tokio::test]
async fn edges_and_paths_are_answered_in_the_scene_as_the_last_frame_left_it() {
    let server = with_slider(Limits::default(), &[(1, 3.0)]).await;
    let edges = |margin| api::CheckEdgesRequest {
        scene: Some(scene_of("s", &[])),
        starts: vec![0.0, 0.0],
        ends: vec![2.0, 4.0],
        margin,
        ..Default::default()
    };
    let mut client = robots(&server);
    let answer = client.check_edges(edges(0.0)).await.unwrap().into_inner();
    let outcomes: Vec<api::Outcome> = answer.outcomes().collect();
    assert_eq!(outcomes, [api::Outcome::NoContact, api::Outcome::Contact]);
    // Contact with the cube from 3 to 4 begins at 2.5 of 4.
    assert!((answer.contact_at[0] - 0.625).abs() < 1e-5, "{answer:?}");
    assert_eq!((answer.near_firsts[0], answer.near_seconds[0], answer.frame_id), (ARM + 1, 1, 0));
    let margin = client.check_edges(edges(0.5)).await.unwrap().into_inner();
    assert_eq!(margin.outcomes().next(), Some(api::Outcome::Contact));

    let poses = vec![api::BodyPose { id: Some(1), pose: pose(5.0), ..Default::default() }];
    let away = api::Frame { frame_id: 7, base_frame_id: Some(0), poses, ..Default::default() };
    step(&server, "s", vec![away]).await.unwrap();
    let path = api::CheckPathRequest {
        scene: Some(api::RobotScene { frame_id: Some(7), ..scene_of("s", &[ARM]) }),
        waypoints: vec![0.0, 4.0, 6.0],
        ..Default::default()
    };
    let answer = client.check_path(path).await.unwrap().into_inner();
    let edges = answer.edges.unwrap();
    assert_eq!((edges.frame_id, edges.count, edges.near_indices), (7, 2, vec![1]));
    assert!((answer.free_until - 1.25).abs() < 1e-5, "{}", answer.free_until);
}

#[tokio::test]
async fn what_is_wrong_with_a_scene_is_told_with_its_path() {
    let server = with_slider(Limits::default(), &[(1, 3.0)]).await;
    let cell = slider_cell(&server).await;
    let good = scene_of("s", &[ARM]);
    let first = api::CheckMode::FirstPair;
    let refusal = async |scene| told(&server, ask(scene, first, &[0.0])).await.unwrap_err();
    let both =
        api::CheckConfigurationsRequest { cell: Some(cell), ..ask(good.clone(), first, &[0.0]) };
    check(
        &told(&server, both.clone()).await.unwrap_err(),
        Code::InvalidArgument,
        "BAD_FIELD",
        "scene",
    );
    let neither = api::CheckConfigurationsRequest { cell: None, scene: None, ..both };
    check(&told(&server, neither).await.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", "cell");
    check(
        &refusal(scene_of("", &[])).await,
        Code::InvalidArgument,
        "BAD_FIELD",
        "scene.session_id",
    );
    let unknown = refusal(scene_of("t", &[])).await;
    check(&unknown, Code::NotFound, "UNKNOWN_SESSION", "scene.session_id");
    let robot = refusal(scene_of("s", &[ARM, 7])).await;
    check(&robot, Code::NotFound, "UNKNOWN_ROBOT", "scene.robots[1]");
    let twice = refusal(scene_of("s", &[ARM, ARM])).await;
    check(&twice, Code::InvalidArgument, "BAD_FIELD", "scene.robots[1]");
    let many: Vec<u32> = (0..17).collect();
    let many = refusal(scene_of("s", &many)).await;
    check(&many, Code::InvalidArgument, "LIMIT_EXCEEDED", "scene.robots");
    for frame_id in [1, 9] {
        let other = refusal(api::RobotScene { frame_id: Some(frame_id), ..good.clone() }).await;
        check(&other, Code::FailedPrecondition, "OTHER_FRAME", "scene.frame_id");
    }
    let gone = refusal(api::RobotScene { incarnation: 5, ..good.clone() }).await;
    check(&gone, Code::FailedPrecondition, "SESSION_REPLACED", "scene.incarnation");
    let count = told(&server, ask(good.clone(), first, &[])).await;
    assert_eq!(count.unwrap().count, 0);
    let two = api::CheckEdgesRequest {
        scene: Some(good),
        starts: vec![0.0],
        ends: vec![0.0, 1.0],
        ..Default::default()
    };
    let status = robots(&server).check_edges(two).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "ends");

    // A session with a key, whose robots are none.
    let mut keyed = open("k", api::SessionState::default(), false);
    keyed.session_key = "a-secret".to_owned();
    server.sessions().open_session(keyed).await.unwrap();
    let unknown = refusal(scene_of("k", &[])).await;
    check(&unknown, Code::NotFound, "UNKNOWN_SESSION", "scene.session_id");
    let session_key = "a-secret".to_owned();
    let none = refusal(api::RobotScene { session_key, ..scene_of("k", &[]) }).await;
    check(&none, Code::InvalidArgument, "BAD_FIELD", "scene.robots");
    let mut request = tonic::Request::new(ask(scene_of("k", &[]), first, &[0.0]));
    request.metadata_mut().insert("clearance-session-key", "a-secret".parse().unwrap());
    let by_header = robots(&server).check_configurations(request).await.unwrap_err();
    check(&by_header, Code::InvalidArgument, "BAD_FIELD", "scene.robots");
}

/// What the cart at a value is told of a cube whose low corner is there.
fn expected(value: f64, cube: f64) -> api::Verdict {
    let apart = (cube - (value + 0.5)).max(value - 0.5 - (cube + 1.0));
    if apart > 0.0 {
        api::Verdict::Separated
    } else if apart < 0.0 {
        api::Verdict::Overlapping
    } else {
        api::Verdict::Touching
    }
}

/// Where the cube is after a frame, a number of few bits.
fn cube_after(frame_id: u64) -> f64 {
    if frame_id == 0 { 3.0 } else { (frame_id % 24) as f64 * 0.25 - 3.0 }
}

/// Eight clients ask while a stream sends frames; each answer is about the frame that it names.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clients_ask_while_a_stream_moves_the_scene_on() {
    let server = Arc::new(with_slider(Limits::default(), &[(2, 3.0)]).await);
    let are_asking = Arc::new(AtomicBool::new(true));
    let values: Vec<f64> = (0..33).map(|k| f64::from(k) * 0.25 - 4.0).collect();
    let client = |which: usize| {
        let (server, values) = (server.clone(), values.clone());
        async move {
            let mut frames = BTreeSet::new();
            let mode = [api::CheckMode::FirstPair, api::CheckMode::Clearance][which % 2];
            for _ in 0..25 {
                let answer =
                    told(&server, ask(scene_of("s", &[ARM]), mode, &values)).await.unwrap();
                let cube = cube_after(answer.frame_id);
                let verdicts: Vec<api::Verdict> = answer.verdicts().collect();
                let expected: Vec<api::Verdict> =
                    values.iter().map(|value| expected(*value, cube)).collect();
                assert_eq!(verdicts, expected, "frame {}", answer.frame_id);
                assert!(!answer.cell_not_kept);
                frames.insert(answer.frame_id);
            }
            frames
        }
    };
    let asking: Vec<_> = (0..8).map(|which| tokio::spawn(client(which))).collect();
    let (moving, going) = (server.clone(), are_asking.clone());
    let moving = tokio::spawn(async move {
        let mut talk = Talk::attach(&moving, "s", false).await;
        let mut frame_id = 0;
        while going.load(Ordering::Relaxed) {
            frame_id += 1;
            talk.send(put(frame_id, cube_after(frame_id))).await;
            let report = talk.report().await;
            assert_eq!((report.frame_id, report.status), (frame_id, None));
        }
        frame_id
    });
    let mut seen = BTreeSet::new();
    for one in asking {
        seen.extend(soon(one).await.unwrap());
    }
    are_asking.store(false, Ordering::Relaxed);
    let last = soon(moving).await.unwrap();
    assert!(seen.len() > 3 && seen.iter().all(|id| *id <= last), "{seen:?} of {last}");
}

/// Messages of a stream are answered about the frame that is the last by then; what is built is not
/// built again while the robot moves alone.
#[tokio::test]
async fn a_stream_of_configurations_follows_the_frames_of_a_session() {
    let server = with_slider(Limits::default(), &[(2, 3.0)]).await;
    let (sender, receiver) = tokio::sync::mpsc::channel(8);
    let requests = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let mut client = robots(&server);
    let message = |check, cloud_changes| api::StreamConfigurationsRequest {
        check: Some(check),
        cloud_changes,
    };
    let first = ask(scene_of("s", &[]), api::CheckMode::FirstPair, &[0.0, 2.5, 3.0]);
    sender.send(message(first.clone(), vec![])).await.unwrap();
    let mut answers = client.stream_configurations(requests).await.unwrap().into_inner();
    let told = soon(answers.message()).await.unwrap().unwrap().answer.unwrap();
    let verdicts: Vec<api::Verdict> = told.verdicts().collect();
    use api::Verdict::{Overlapping, Separated, Touching};
    assert_eq!((verdicts, told.frame_id), (vec![Separated, Touching, Overlapping], 0));
    step(&server, "s", vec![frame(1, vec![to(ARM, &[-5.0])]), put(2, -0.5)]).await.unwrap();
    let next = api::CheckConfigurationsRequest { scene: None, ..first.clone() };
    sender.send(message(next.clone(), vec![])).await.unwrap();
    let told = soon(answers.message()).await.unwrap().unwrap();
    assert_eq!(told.first_index, 3);
    let told = told.answer.unwrap();
    let verdicts: Vec<api::Verdict> = told.verdicts().collect();
    assert_eq!((verdicts, told.frame_id), (vec![Overlapping, Separated, Separated], 2));
    let change = api::CloudChange::default();
    sender.send(message(next, vec![change])).await.unwrap();
    let status = soon(answers.message()).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "cloud_changes");
    let nowhere = api::CheckConfigurationsRequest { scene: None, ..first };
    let requests = iter([message(nowhere, vec![])]);
    let mut answers = client.stream_configurations(requests).await.unwrap().into_inner();
    let status = soon(answers.message()).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "check.cell");
}

/// Two robots of one session, in the order that is asked for, and lists of robots beyond those that
/// stay built, which the reply says.
#[tokio::test]
async fn robots_are_asked_in_any_order_and_no_cell_goes_in_silence() {
    let limits = Limits { kept_cells_max: 2, ..Limits::default() };
    let server = with_slider(limits, &[(1, 30.0)]).await;
    let other = cell_of(&server, SLIDER, vec![]).await.robots.remove(0).robot_id;
    let other = api::SessionRobot { id: Some(OTHER), robot_id: other, ..Default::default() };
    let added = api::Frame { added_robots: vec![other], ..frame(1, vec![to(ARM, &[-6.0])]) };
    step(&server, "s", vec![added]).await.unwrap();
    let answer = async |robots: &[u32], values: &[f64]| {
        let asked = ask(scene_of("s", robots), api::CheckMode::AllPairs, values);
        told(&server, asked).await.unwrap()
    };
    // The other one stands at 0, and is asked about in the second place here.
    let both = answer(&[ARM, OTHER], &[2.0, 3.0, 2.0, 2.5]).await;
    assert_eq!((both.contact_indices.len(), both.cell_not_kept), (2, false));
    assert_eq!(
        both.verdicts().collect::<Vec<_>>(),
        [api::Verdict::Touching, api::Verdict::Overlapping]
    );
    let alone = answer(&[ARM], &[0.5, 2.0]).await;
    assert_eq!((alone.contact_indices, alone.contact_seconds), (vec![0], vec![OTHER + 1]));
    assert!(!alone.cell_not_kept);
    // All of them, which is the first list in another way of saying it.
    assert!(!answer(&[], &[2.0, 3.0]).await.cell_not_kept);
    let third = answer(&[OTHER], &[-6.5]).await;
    assert_eq!((third.contact_seconds, third.cell_not_kept), (vec![ARM + 1], true));
    assert!(!answer(&[ARM], &[0.5]).await.cell_not_kept);
}

/// Where there is no memory for what is built of a session the call is refused.
#[tokio::test]
async fn a_scene_without_memory_for_its_cell_is_refused_and_said_so() {
    let cubes: Vec<(u32, f64)> = (1_000..4_000).map(|k| (k, 10.0 + 2.0 * f64::from(k))).collect();
    let asked = ask(scene_of("s", &[ARM]), api::CheckMode::FirstPair, &[0.0]);
    let server = with_slider(Limits::default(), &cubes).await;
    assert!(!told(&server, asked.clone()).await.unwrap().cell_not_kept);
    let limits = Limits { memory_bytes_max: 12 << 20, ..Limits::default() };
    let server = with_slider(limits, &cubes).await;
    let status = told(&server, asked).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    assert!(status.message().contains("memory_bytes_max"), "{status:?}");
}
