//! `RobotService`.

use std::path::Path;

use api::query_service_client::QueryServiceClient;
use api::robot_service_client::RobotServiceClient;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tokio_stream::iter;
use tonic::Code;
use tonic::transport::Channel;
use tonic_types::StatusExt;

use crate::server::{Server, cube, spec};

pub(crate) fn robots(server: &Server) -> RobotServiceClient<Channel> {
    RobotServiceClient::new(server.channel.clone()).max_decoding_message_size(64 << 20)
}

pub(crate) fn panda() -> api::RegisterRobotRequest {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/panda");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let names = ["link0", "link1", "link2", "link3", "link4", "link5", "link6", "link7", "hand"];
    let mesh = |name: &str| {
        let content = std::fs::read(folder.join(format!("collision/{name}.stl"))).unwrap();
        let source = Some(api::robot_mesh::Source::Content(content.into()));
        api::RobotMesh { name: format!("{name}.stl"), source }
    };
    api::RegisterRobotRequest {
        urdf: text("panda.urdf"),
        srdf: text("panda.srdf"),
        meshes: names.into_iter().map(mesh).collect(),
        mesh_treatment: api::MeshTreatment::Hull.into(),
        ..api::RegisterRobotRequest::default()
    }
}

pub(crate) const SLIDER: &str = r#"<robot name="slider"><link name="rail"/><link name="cart">
  <collision>  <geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;

/// A cell of the robot of this description and obstacles.
pub(crate) async fn cell_of(
    server: &Server,
    urdf: &str,
    obstacles: Vec<api::RobotObstacle>,
) -> api::RobotCell {
    let request = api::RegisterRobotRequest { urdf: urdf.to_owned(), ..Default::default() };
    let robot = robots(server).register_robot(request).await.unwrap().into_inner().robot.unwrap();
    let robots = vec![api::RobotInstance { robot_id: robot.id, base: None, ..Default::default() }];
    api::RobotCell { robots, obstacles, ..Default::default() }
}

pub(crate) async fn slider(server: &Server) -> api::RobotCell {
    let wall = api::RobotObstacle {
        shape: Some(api::robot_obstacle::Shape::Box(api::Vector3 { x: 1.0, y: 2.0, z: 2.0 })),
        pose: Some(api::Pose {
            translation: Some(api::Vector3 { x: 3.0, y: 0.0, z: 0.0 }),
            orientation: None,
        }),
        ..Default::default()
    };
    cell_of(server, SLIDER, vec![wall]).await
}

pub(crate) fn check(
    cell: &api::RobotCell,
    mode: api::CheckMode,
    values: &[f64],
) -> api::CheckConfigurationsRequest {
    api::CheckConfigurationsRequest {
        cell: Some(cell.clone()),
        mode: mode.into(),
        values: values.to_vec(),
        ..api::CheckConfigurationsRequest::default()
    }
}

pub(crate) fn verdicts(answer: &api::CheckConfigurationsResponse) -> Vec<api::Verdict> {
    answer.verdicts().collect()
}

#[tokio::test]
async fn a_robot_is_registered_described_listed_and_forgotten() {
    let server = Server::start().await;
    let mut client = robots(&server);
    let only_reading = api::RegisterRobotRequest { validate_only: true, ..panda() };
    let read = client.register_robot(only_reading).await.unwrap().into_inner().robot.unwrap();
    let get = |id: &str| api::GetRobotRequest { id: id.to_owned() };
    assert_eq!(client.get_robot(get(&read.id)).await.unwrap_err().code(), Code::NotFound);
    let first = client.register_robot(panda()).await.unwrap().into_inner();
    // Another order of the files makes no difference.
    let mut other = panda();
    other.meshes.reverse();
    let second = client.register_robot(other).await.unwrap().into_inner();
    assert_eq!((first.already_registered, second.already_registered), (false, true));
    let robot = first.robot.unwrap();
    assert!(robot.id.starts_with("r2-") && robot == read && Some(&robot) == second.robot.as_ref());
    assert_eq!((robot.parts.len(), robot.variables.len(), robot.links.len()), (17, 8, 13));
    assert_eq!(robot.variables[3].name, "panda_joint4");
    assert_eq!(
        (robot.variables[3].lower, robot.variables[3].upper),
        (Some(-3.0718), Some(-0.0698))
    );
    let mimic = robot.joints.iter().find_map(|joint| joint.mimic.as_ref()).unwrap();
    assert_eq!((mimic.joint.as_str(), mimic.multiplier), ("panda_finger_joint1", 1.0));
    assert!(robot.allowed_pairs.iter().any(|pair| pair.text == "Never"));
    assert!(robot.parts[0].closed() && robot.parts[0].gap() < 0.08);
    assert_eq!(robot.states[0].joints.len(), 8);

    let got = client.get_robot(get(&robot.id)).await.unwrap().into_inner().robot.unwrap();
    assert_eq!(got, robot);
    let cell = slider(&server).await;
    let page = |token: &str| api::ListRobotsRequest { page_size: 1, page_token: token.to_owned() };
    let one = client.list_robots(page("")).await.unwrap().into_inner();
    let two = client.list_robots(page(&one.next_page_token)).await.unwrap().into_inner();
    assert_eq!((one.total_size, two.next_page_token.as_str()), (2, ""));
    let ids = [&one.robots[0].id, &two.robots[0].id];
    assert!(ids.contains(&&robot.id) && ids.contains(&&cell.robots[0].robot_id));
    let delete = || api::DeleteRobotRequest { id: robot.id.clone(), ..Default::default() };
    client.delete_robot(delete()).await.unwrap();
    let again = client.delete_robot(delete()).await.unwrap_err();
    assert_eq!(again.get_error_details().error_info().unwrap().reason, "UNKNOWN_ROBOT");
}

#[tokio::test]
async fn a_robot_that_is_missing_is_told_of_and_one_that_is_there_is_not() {
    let server = Server::start().await;
    let mut client = robots(&server);
    let there = slider(&server).await.robots[0].robot_id.clone();
    let missing = format!("{}{}", &there[..3], "0".repeat(64));
    let mut find = async |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let reply = client.find_missing_robots(api::FindMissingRobotsRequest { ids }).await;
        reply.map(|reply| reply.into_inner().missing_ids)
    };
    let asked = [&*missing, &*there, &*missing];
    assert_eq!(find(&asked).await.unwrap(), [&*missing, &*missing]);
    assert!(find(&[]).await.unwrap().is_empty());
    for wrong in ["", "r2-", "p1-0", &there[..66], &there.to_uppercase()] {
        let refused = find(&[&there, wrong]).await.unwrap_err();
        let details = refused.get_error_details();
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, "ids[1]");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_robot_is_said_with_its_field_and_line() {
    let server = Server::start().await;
    let mut client = robots(&server);
    let mut without = panda();
    without.meshes.remove(3);
    let mut not_a_mesh = panda();
    not_a_mesh.meshes[2].source =
        Some(api::robot_mesh::Source::Content(b"nothing".as_slice().into()));
    let mut collada = panda();
    let content =
        b"<?xml version=\"1.0\"?>\n<COLLADA version=\"1.4.1\">\n<scene><instance_visual_scene/>\
        </scene></COLLADA>";
    let content = content.as_slice().into();
    collada.meshes[3].source = Some(api::robot_mesh::Source::Content(content));
    let mut twice = panda();
    twice.meshes[1].name = "link0.stl".to_owned();
    let broken = api::RegisterRobotRequest {
        urdf: "<robot>\n<link name='a'/>\n<link name='b'/></robot>".to_owned(),
        ..Default::default()
    };
    let bad_srdf =
        api::RegisterRobotRequest { srdf: "<robot>\n<group/></robot>".to_owned(), ..panda() };
    let gap = api::RegisterRobotRequest { gap_max: Some(f64::NAN), ..panda() };
    for (request, field, problem) in [
        (without, "meshes", "link3.stl"),
        (not_a_mesh, "meshes[2].content", "neither STL nor OBJ"),
        (
            collada,
            "meshes[3].content",
            "\"link3.stl\": COLLADA line 3: COLLADA/scene/instance_visual_scene: needs",
        ),
        (twice, "meshes[1].name", "another mesh"),
        (broken, "urdf", "\"a\" and \"b\""),
        (bad_srdf, "srdf", "line 2: robot/group: needs the attribute name"),
        (gap, "gap_max", "positive"),
    ] {
        let status = client.register_robot(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        let details = status.get_error_details();
        let violation = &details.bad_request().unwrap().field_violations[0];
        assert_eq!(violation.field, field);
        assert!(violation.description.contains(problem), "{}", violation.description);
    }
}

#[tokio::test]
async fn configurations_are_answered_in_order_and_bad_ones_in_their_place() {
    let server = Server::start().await;
    let (mut client, cell) = (robots(&server), slider(&server).await);
    let values = [0.0, 2.0, 2.5, f64::NAN, 9.5, -1.0];
    let asked = check(&cell, api::CheckMode::FirstPair, &values);
    let answer = client.check_configurations(asked).await.unwrap().into_inner();
    use api::Verdict::{Overlapping, Separated, Touching, Unspecified};
    let wanted = [Separated, Touching, Overlapping, Unspecified, Unspecified, Separated];
    assert_eq!(verdicts(&answer), wanted);
    assert_eq!(answer.contact_indices, [1, 2]);
    assert_eq!((answer.contact_firsts, answer.contact_seconds), (vec![0, 0], vec![1, 1]));
    let reasons: Vec<_> = answer
        .refused
        .iter()
        .map(|refused| (refused.index, refused.count, refused.status.clone().unwrap().message))
        .collect();
    assert_eq!((reasons.len(), reasons[0].0, reasons[0].1, reasons[1].0), (2, 3, 1, 4));
    assert!(reasons[0].2.contains("not finite") && reasons[1].2.contains("slide is beyond"));

    let mut asked = check(&cell, api::CheckMode::Clearance, &values);
    asked.report_limits = true;
    asked.with_gradient = true;
    let answer = client.check_configurations(asked).await.unwrap().into_inner();
    assert_eq!(verdicts(&answer)[4], Separated);
    assert_eq!((answer.limit_indices, answer.limit_variables), (vec![4], vec![0]));
    assert_eq!(answer.clearances_per_configuration, 1);
    for (at, exact) in [(0, 2.0), (1, 0.0), (2, -0.5), (4, 5.5), (5, 3.0)] {
        assert!(answer.clearance_lowers[at] <= exact && exact <= answer.clearance_uppers[at]);
    }
    assert!(answer.clearance_lowers[3].is_nan() && answer.gradients[3].is_nan());
    assert_eq!([0, 2, 4].map(|at| answer.gradients[at].round()), [-1.0, -1.0, 1.0]);
    assert_eq!(answer.normals[..3].len(), 3);
}

#[tokio::test]
async fn a_stream_keeps_its_cell_and_counts_its_configurations() {
    let server = Server::start().await;
    let (mut client, cell) = (robots(&server), slider(&server).await);
    let without_cell = |values: &[f64]| api::CheckConfigurationsRequest {
        cell: None,
        ..check(&cell, api::CheckMode::FirstPair, values)
    };
    let many: Vec<f64> = (0..2_000).map(|k| f64::from(k % 40) * 0.1).collect();
    let message =
        |check| api::StreamConfigurationsRequest { check: Some(check), ..Default::default() };
    let messages = vec![
        message(check(&cell, api::CheckMode::FirstPair, &[0.0, 3.0])),
        message(without_cell(&many)),
        message(without_cell(&[])),
        message(without_cell(&[1.0])),
    ];
    let mut stream = client.stream_configurations(iter(messages)).await.unwrap().into_inner();
    let mut answers = Vec::new();
    while let Some(answer) = stream.message().await.unwrap() {
        answers.push((answer.first_index, answer.answer.unwrap()));
    }
    let starts: Vec<u64> = answers.iter().map(|(first, _)| *first).collect();
    assert_eq!(starts, [0, 2, 2002, 2002]);
    let in_contact = |k: usize| many[k] >= 2.0;
    let contacts: Vec<u32> = (0..2000).filter(|k| in_contact(*k)).map(|k| k as u32).collect();
    assert_eq!(answers[1].1.contact_indices, contacts);
    assert_eq!((answers[1].1.count, answers[2].1.count), (2000, 0));

    let first = iter(vec![message(without_cell(&[1.0]))]);
    let status = client.stream_configurations(first).await.unwrap().into_inner().message().await;
    assert!(status.unwrap_err().message().starts_with("check.cell: is required"));
}

#[tokio::test]
async fn cells_and_values_beyond_what_is_allowed_are_refused_with_their_field() {
    let limits = Limits { configurations_max: 3, obstacles_per_cell_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let (mut client, cell) = (robots(&server), slider(&server).await);
    let first = api::CheckMode::FirstPair;
    let mut crowded = cell.clone();
    crowded.obstacles.push(crowded.obstacles[0].clone());
    let mut flat = cell.clone();
    flat.obstacles[0].shape =
        Some(api::robot_obstacle::Shape::Box(api::Vector3 { x: 1.0, y: 0.0, z: 1.0 }));
    let mut stranger = cell.clone();
    stranger.robots[0].robot_id = "r2-0".to_owned();
    let two = api::RobotCell {
        robots: vec![cell.robots[0].clone(), cell.robots[0].clone()],
        ..cell.clone()
    };
    for (request, field) in [
        (check(&cell, first, &[0.0; 4]), "values"),
        (check(&two, first, &[0.0; 3]), "values"),
        (check(&crowded, first, &[0.0]), "cell.obstacles"),
        (check(&flat, first, &[0.0]), "cell.obstacles[0].box"),
        (check(&stranger, first, &[0.0]), "cell.robots[0].robot_id"),
        (check(&api::RobotCell::default(), first, &[0.0]), "cell.robots"),
    ] {
        let status = client.check_configurations(request).await.unwrap_err();
        let details = status.get_error_details();
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, field);
    }
}

#[tokio::test]
async fn a_part_may_be_a_polytope_that_is_registered_already() {
    let server = Server::start().await;
    let register = api::RegisterPolytopesRequest {
        polytopes: vec![spec("unit", &cube())],
        validate_only: false,
    };
    let reports = server.polytopes().register_polytopes(register).await.unwrap().into_inner();
    let id = reports.reports[0].polytope.clone().unwrap().id;
    let urdf = r#"<robot name="r"><link name="a"/><link name="b"><collision><geometry>
        <mesh filename="package://cube.stl"/></geometry></collision></link>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"#;
    let mesh = api::RobotMesh {
        name: "cube.stl".to_owned(),
        source: Some(api::robot_mesh::Source::Id(id.clone())),
    };
    let request = api::RegisterRobotRequest {
        urdf: urdf.to_owned(),
        meshes: vec![mesh],
        ..Default::default()
    };
    let robot = robots(&server).register_robot(request).await.unwrap().into_inner().robot.unwrap();
    assert_eq!(robot.parts[0].polytope_id, id);
}

#[tokio::test]
async fn edges_are_proven_free_or_end_where_the_contact_is() {
    let server = Server::start().await;
    let (mut client, cell) = (robots(&server), slider(&server).await);
    let request = |starts: &[f64], ends: &[f64]| api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: starts.to_vec(),
        ends: ends.to_vec(),
        ..api::CheckEdgesRequest::default()
    };
    let asked = request(&[0.0, 0.0, f64::NAN, 8.0], &[1.5, 4.0, 0.0, 1.0]);
    let answer = client.check_edges(asked).await.unwrap().into_inner();
    use api::Outcome::{Contact, NoContact, Unspecified};
    assert_eq!(answer.outcomes().collect::<Vec<_>>(), [NoContact, Contact, Unspecified, Contact]);
    assert_eq!((answer.near_indices, answer.free_until[0]), (vec![1, 3], 1.0));
    for (at, near, exact) in [(1, 0, 0.5), (3, 1, 4.0 / 7.0)] {
        assert!(answer.free_until[at] <= exact && exact <= answer.contact_at[near]);
        assert!(answer.contact_at[near] - answer.free_until[at] <= 1e-6);
    }
    assert_eq!((answer.refused.len(), answer.refused[0].index), (1, 2));
    let many: Vec<f64> = (0..1000).map(|k| f64::from(k % 50) * 0.1 - 3.0).collect();
    let answer = client.check_edges(request(&vec![-4.0; 1000], &many)).await.unwrap().into_inner();
    let ends_in_contact = (0..1000).filter(|k| many[*k] >= 2.0).map(|k| k as u32);
    assert_eq!(answer.near_indices, ends_in_contact.collect::<Vec<_>>());
    let status = client.check_edges(request(&[0.0], &[])).await.unwrap_err();
    assert!(status.message().starts_with("ends: must have as many"));
}

#[tokio::test]
async fn certificates_of_edges_are_given_and_verified_and_changed_ones_refused() {
    let server = Server::start().await;
    let mut client = robots(&server);
    let cell = slider(&server).await;
    let request = |margin: f64| api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: vec![-8.0, 0.0, f64::NAN, 3.0],
        ends: vec![1.25, 4.0, 0.0, 1.0],
        margin,
        certificate: true,
        ..api::CheckEdgesRequest::default()
    };
    let verify = async |question: &api::CheckEdgesRequest, answer: &api::CheckEdgesResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        let claim = api::EdgesClaim { question, answer };
        let claim = Some(api::verify_certificate_request::Claim::Edges(claim));
        let request = api::VerifyCertificateRequest { claim };
        let mut queries = QueryServiceClient::new(server.channel.clone());
        queries.verify_certificate(request).await.map(tonic::Response::into_inner)
    };
    for margin in [0.0, 0.5] {
        let question = request(margin);
        let answer = client.check_edges(question.clone()).await.unwrap().into_inner();
        assert_eq!(answer.certificates.len(), 4);
        let judged = verify(&question, &answer).await.unwrap();
        assert_eq!((judged.valid, judged.refusal.as_str()), (true, ""));
        let refusal = async |change: &dyn Fn(&mut api::CheckEdgesResponse)| {
            let mut changed = answer.clone();
            change(&mut changed);
            let judged = verify(&question, &changed).await.unwrap();
            assert!(!judged.valid);
            judged.refusal
        };
        let slower = refusal(&|answer| answer.certificates[1].pieces[0].speeds[0] *= 0.999).await;
        assert!(slower.starts_with("edge 1: piece 0: part 0 may be faster"), "{slower}");
        let dropped = refusal(&|answer| drop(answer.certificates[0].pieces.pop())).await;
        assert!(dropped.starts_with("edge 0: the pieces do not join"), "{dropped}");
        let longer = refusal(&|answer| answer.free_until[1] += 1e-3).await;
        assert!(longer.starts_with("edge 1: the pieces do not join"), "{longer}");
        let without = refusal(&|answer| answer.certificates[3].contact = None).await;
        let bare = "edge 3: it is uncertified: its certificate is empty; the rest is shown";
        assert_eq!(without, bare);
        // An empty certificate is allowed: it is named, and what is wrong elsewhere comes first.
        let emptied =
            refusal(&|answer| answer.certificates[0] = api::EdgeCertificate::default()).await;
        assert_eq!(emptied, bare.replace('3', "0"));
        let both = refusal(&|answer| {
            answer.certificates[0] = api::EdgeCertificate::default();
            answer.certificates[1].pieces[0].speeds[0] *= 0.999;
        });
        assert!(both.await.starts_with("edge 1: piece 0: part 0 may be faster"));
        let all = refusal(&|answer| {
            answer.certificates.iter_mut().for_each(|one| *one = Default::default());
        });
        assert!(all.await.contains("is empty, and of 2 more; the rest is shown"));
        // Where nothing is claimed there is nothing to show.
        let mut modest = answer.clone();
        modest.outcomes[0] = api::Outcome::Undecided.into();
        (modest.free_until[0], modest.certificates[0]) = (0.0, api::EdgeCertificate::default());
        assert!(verify(&question, &modest).await.unwrap().valid);
    }
    let question = request(0.0);
    let answer = client.check_edges(question.clone()).await.unwrap().into_inner();
    let fewer = api::CheckEdgesResponse { near_firsts: Vec::new(), ..answer.clone() };
    let status = verify(&question, &fewer).await.unwrap_err();
    assert!(status.message().starts_with("edges.answer.near_indices: must be as many"), "{status}");
    let shorter = api::CheckEdgesRequest { starts: vec![0.0], ends: vec![1.0], ..question };
    let status = verify(&shorter, &answer).await.unwrap_err();
    assert!(
        status.message().starts_with("edges.answer.outcomes: must be one for each"),
        "{status}"
    );
    let many = api::CheckEdgesRequest { starts: vec![0.0; 1001], ends: vec![1.0; 1001], ..shorter };
    let status = client.check_edges(many).await.unwrap_err();
    assert!(status.message().contains("certified_edges_max"), "{status}");
}

#[tokio::test]
async fn a_path_ends_at_its_first_edge_that_is_not_free() {
    let server = Server::start().await;
    let (mut client, cell) = (robots(&server), slider(&server).await);
    let path = |waypoints: &[f64], all_edges: bool| api::CheckPathRequest {
        cell: Some(cell.clone()),
        waypoints: waypoints.to_vec(),
        certificate: true,
        all_edges,
        ..api::CheckPathRequest::default()
    };
    let free = client.check_path(path(&[0.0, 1.5, -8.0, 1.0], false)).await.unwrap().into_inner();
    assert_eq!((free.outcome(), free.free_until), (api::Outcome::NoContact, 3.0));
    let waypoints = [0.0, 1.0, 0.0, 4.0, 0.0, 1.0];
    for (all_edges, count) in [(false, 3), (true, 5)] {
        let answer = client.check_path(path(&waypoints, all_edges)).await.unwrap().into_inner();
        assert_eq!(answer.outcome(), api::Outcome::Contact);
        assert!((2.499..=2.5).contains(&answer.free_until), "{}", answer.free_until);
        let edges = answer.edges.unwrap();
        assert_eq!(
            (edges.count, edges.outcomes.len(), edges.certificates.len()),
            (count, count as usize, count as usize)
        );
        let near: &[u32] = if all_edges { &[2, 3] } else { &[2] };
        assert_eq!(edges.near_indices, near);
    }
    // The edges after it are not looked at: here there are too many to be in one batch.
    let mut long = vec![0.0; 2000];
    long[300] = 4.0;
    let request = api::CheckPathRequest { certificate: false, ..path(&long, false) };
    let answer = client.check_path(request).await.unwrap().into_inner();
    let edges = answer.edges.unwrap();
    assert_eq!((edges.count, edges.cost.unwrap().queries), (300, 512));
    for (waypoints, problem) in
        [(&[0.0][..], "waypoints: must have 1 numbers"), (&long[..], "certified_edges_max")]
    {
        let status = client.check_path(path(waypoints, false)).await.unwrap_err();
        assert!(status.message().contains(problem), "{status}");
    }
}

#[tokio::test]
async fn a_cell_that_stays_built_follows_what_it_names() {
    let server = Server::start().await;
    let (mut client, mut cell) = (robots(&server), slider(&server).await);
    let name = async |size: f64| {
        let xyz: Vec<f64> = cube().iter().map(|x| (x - 0.5) * size).collect();
        let spec = api::PolytopeSpec { move_alias: true, ..spec("block", &xyz) };
        let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
        server.polytopes().register_polytopes(request).await.unwrap();
    };
    name(1.0).await;
    let kept = async || {
        let request = api::GetServerMetricsRequest {};
        let metrics = server.info().get_server_metrics(request).await.unwrap().into_inner();
        let kinds = metrics.memory.unwrap().kinds;
        kinds.iter().find(|kind| kind.kind == "cells").map(|kind| kind.bytes)
    };
    assert_eq!(kept().await, Some(0));
    // The cart is half a metre long to each side, the wall too; the block is that, and then two.
    let first = api::CheckMode::FirstPair;
    for _ in 0..2 {
        let walled = client.check_configurations(check(&cell, first, &[1.5, 2.0])).await.unwrap();
        let wanted = [api::Verdict::Separated, api::Verdict::Touching];
        assert_eq!(verdicts(&walled.into_inner()), wanted);
    }
    let one = kept().await;
    assert!(one.is_some_and(|bytes| bytes > 1_000), "{one:?}");
    cell.obstacles[0].shape = Some(api::robot_obstacle::Shape::Alias("block".to_owned()));
    let small = client.check_configurations(check(&cell, first, &[1.0])).await.unwrap();
    assert_eq!(verdicts(&small.into_inner()), [api::Verdict::Separated]);
    name(4.0).await;
    let large = client.check_configurations(check(&cell, first, &[1.0])).await.unwrap();
    assert_eq!(verdicts(&large.into_inner()), [api::Verdict::Overlapping]);
    assert!(kept().await > one);
    // The cell of the beginning is kept, and its robot has gone.
    cell.obstacles[0].shape =
        Some(api::robot_obstacle::Shape::Box(api::Vector3 { x: 1.0, y: 2.0, z: 2.0 }));
    let id = cell.robots[0].robot_id.clone();
    let delete = api::DeleteRobotRequest { id, ..Default::default() };
    client.delete_robot(delete).await.unwrap();
    let gone = client.check_configurations(check(&cell, first, &[1.5])).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
}

/// A cell of 10,000 points was built once, one of 15,000 for each call: ten times as long, unsaid.
#[tokio::test]
async fn a_cell_that_does_not_stay_built_is_said_to_be_none_that_does() {
    for (kept_cell_bytes_max, is_kept) in [(64 << 20, true), (1_000, false)] {
        let limits = Limits { kept_cell_bytes_max, ..Limits::default() };
        let server = Server::with_limits(limits).await;
        let cell = slider(&server).await;
        let asked = check(&cell, api::CheckMode::FirstPair, &[0.0]);
        let edges = api::CheckEdgesRequest {
            cell: Some(cell.clone()),
            starts: vec![0.0],
            ends: vec![1.0],
            ..Default::default()
        };
        let path = api::CheckPathRequest {
            cell: Some(cell),
            waypoints: vec![0.0, 1.0],
            ..Default::default()
        };
        for _ in 0..2 {
            let mut client = robots(&server);
            let answer = client.check_configurations(asked.clone()).await.unwrap().into_inner();
            assert_eq!(answer.cell_not_kept, !is_kept);
            let answer = client.check_edges(edges.clone()).await.unwrap().into_inner();
            assert_eq!(answer.cell_not_kept, !is_kept);
            let answer = client.check_path(path.clone()).await.unwrap().into_inner();
            assert_eq!(answer.edges.unwrap().cell_not_kept, !is_kept);
        }
    }
}

/// The names were in the message and again in the details: a client of default settings saw
/// RESOURCE_EXHAUSTED, for headers that were too long, in place of what was wrong.
#[tokio::test]
async fn two_hundred_missing_meshes_with_long_names_are_told_as_what_they_are() {
    let server = Server::start().await;
    let collision = |k: usize| {
        let name = format!("package://robot/meshes/{}/{k}.stl", "long_name_".repeat(8));
        format!("<collision><geometry><mesh filename=\"{name}\"/></geometry></collision>")
    };
    let links = (0..200).map(collision).collect::<String>();
    let urdf = format!("<robot name=\"r\"><link name=\"l\">{links}</link></robot>");
    let request = api::RegisterRobotRequest { urdf, ..Default::default() };
    let status = robots(&server).register_robot(request).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    assert!(status.message().contains("long_name_"), "{}", status.message());
    let mut headers = http::HeaderMap::new();
    status.add_header(&mut headers).unwrap();
    let length = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        name.as_str().len() + value.len() + 32
    };
    let bytes: usize = headers.iter().map(length).sum();
    assert!(bytes < 8 << 10, "{bytes}");
}
