//! What replies say beside a verdict: a table of every number, flag, count, name and note, with
//! what its comment promises and the test that holds it to that; and the tests of those that no
//! other test looks at.

use std::collections::BTreeSet;

use clearance_proto as api;
use clearance_proto::{PairSelection, Verdict};
use prost::Message;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};

use crate::robots::{SLIDER, cell_of, check, panda, robots, slider};
use crate::server::{Server, cube, vector, with_cube};
use crate::sessions::{cube_at, put, scene, step};

/// A row for each field of each message that a reply may hold, but for those that are messages:
/// message, field, what it promises, the file of the test, the test.
const TABLE: &str = include_str!("said.tsv");

/// All messages of the interface by their names.
fn messages() -> Vec<(String, DescriptorProto)> {
    let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
    let of_interface = files.file.into_iter().filter(|file| file.package() == "clearance.v1");
    of_interface
        .flat_map(|file| file.message_type)
        .map(|message| (format!(".clearance.v1.{}", message.name()), message))
        .collect()
}

/// The names of what replies hold.
fn replies() -> BTreeSet<String> {
    let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
    let services = files.file.iter().filter(|file| file.package() == "clearance.v1");
    let methods = services.flat_map(|file| &file.service).flat_map(|service| &service.method);
    let mut todo: Vec<String> = methods.map(|method| method.output_type().to_owned()).collect();
    let (messages, mut seen) = (messages(), BTreeSet::new());
    while let Some(name) = todo.pop() {
        let Some((_, message)) = messages.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        if seen.insert(name) {
            let inner = message.field.iter().filter(|field| field.r#type() == Type::Message);
            todo.extend(inner.map(|field| field.type_name().to_owned()));
        }
    }
    seen
}

#[test]
fn every_number_flag_count_name_and_note_of_a_reply_has_a_promise_and_a_test_that_is_there() {
    let replies = replies();
    let mut fields = BTreeSet::new();
    for (name, message) in messages().iter().filter(|(name, _)| replies.contains(name)) {
        let short = name.trim_start_matches(".clearance.v1.");
        let plain = message.field.iter().filter(|field| field.r#type() != Type::Message);
        fields.extend(plain.map(|field| (short.to_owned(), field.name().to_owned())));
    }
    assert!(fields.len() > 400, "{}", fields.len());
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeSet::new();
    for line in TABLE.lines() {
        let [message, field, promise, file, test] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not five columns: {line}");
        };
        assert!(!promise.is_empty(), "{message}.{field} promises nothing");
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("{line}"));
        assert!(text.contains(&format!("fn {test}(")), "{file} has no test {test}");
        assert!(rows.insert((message.to_owned(), field.to_owned())), "twice: {line}");
    }
    let without: Vec<_> = fields.difference(&rows).collect();
    assert!(without.is_empty(), "fields without a row: {without:?}");
    let gone: Vec<_> = rows.difference(&fields).collect();
    assert!(gone.is_empty(), "rows without a field: {gone:?}");
}

/// A slider of half a metre to both sides, before a wall from 2.5 to 3.5.
#[tokio::test]
async fn who_meets_whom_is_told_alike_in_every_mode_of_configurations_and_edges() {
    let server = Server::start().await;
    let cell = slider(&server).await;
    let ask = async |mode, values: &[f64]| {
        let asked = check(&cell, mode, values);
        robots(&server).check_configurations(asked).await.unwrap().into_inner()
    };
    let pairs = ask(api::CheckMode::AllPairs, &[0.0, 2.0, 3.0]).await;
    assert_eq!(pairs.contact_indices, [1, 2]);
    let stand: Vec<Verdict> = pairs.contact_verdicts().collect();
    assert_eq!(stand, [Verdict::Touching, Verdict::Overlapping]);
    let [first, second] = [pairs.contact_firsts[0], pairs.contact_seconds[0]];
    assert_eq!(
        (&pairs.contact_firsts[..], &pairs.contact_seconds[..]),
        (&[first; 2][..], &[second; 2][..])
    );
    assert!(first < second);
    for mode in [api::CheckMode::Clearance, api::CheckMode::LinkClearance] {
        let nearest = ask(mode, &[0.0, 3.0]).await;
        assert_eq!(nearest.clearance_firsts, [first; 2]);
        assert_eq!(nearest.clearance_seconds, [second; 2]);
    }
    let edges = api::CheckEdgesRequest {
        cell: Some(cell.clone()),
        starts: vec![0.0],
        ends: vec![4.0],
        ..Default::default()
    };
    let edges = robots(&server).check_edges(edges).await.unwrap().into_inner();
    assert_eq!((edges.near_firsts, edges.near_seconds), (vec![first], vec![second]));
}

/// Layers shrink by a part of their vertices each, so their number grows with the logarithm.
#[tokio::test]
async fn a_hierarchy_has_more_layers_the_more_vertices_there_are() {
    let server = Server::start().await;
    let mut heights = Vec::new();
    for count in [1, 60, 600, 6_000] {
        let xyz = (0..count).flat_map(|k| {
            let (height, turn) =
                (2.0 * (f64::from(k) + 0.5) / f64::from(count) - 1.0, f64::from(k));
            let wide = (1.0 - height * height).sqrt();
            [wide * turn.cos(), wide * turn.sin(), height]
        });
        let id = server.register(&format!("ball-{count}"), &xyz.collect::<Vec<_>>()).await;
        let key = Some(api::get_polytope_request::Key::Id(id));
        let request = api::GetPolytopeRequest { key, ..Default::default() };
        let told = server.polytopes().get_polytope(request).await.unwrap().into_inner();
        heights.push(told.polytope.unwrap().hierarchy_height);
    }
    assert_eq!(heights[0], 1, "a point is its own surface");
    assert!(heights.windows(2).all(|pair| pair[0] < pair[1]), "{heights:?}");
    // Ten times as many vertices take as many layers more each time, or nearly.
    assert!((heights[3] - heights[2]).abs_diff(heights[2] - heights[1]) <= 4, "{heights:?}");
}

#[tokio::test]
async fn the_build_is_the_one_that_runs() {
    let server = Server::start().await;
    let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let info = info.into_inner();
    let build = info.build.unwrap();
    assert_eq!(build.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(build.profile, if cfg!(debug_assertions) { "debug" } else { "release" });
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    assert_eq!(build.target, format!("{system}-{processor}"));
    assert!(build.commit.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c.is_alphabetic()));
    assert!(!info.methods.is_empty());
    assert!(
        info.methods.iter().all(|method| !method.proves.is_empty() && !method.source.is_empty())
    );
}

/// Two half turns in one frame look like none, and three quarters like one the other way.
#[tokio::test]
async fn bodies_that_turn_too_far_to_be_sure_of_are_named_in_the_report() {
    let server = with_cube().await;
    let mut request = scene("s");
    request.state.as_mut().unwrap().bodies = (1..=20).map(|id| cube_at(id, 0.0)).collect();
    server.sessions().open_session(request).await.unwrap();
    let turned = |degrees: f64| {
        let half = degrees.to_radians() / 2.0;
        let rotation = api::Quaternion { w: half.cos(), x: 0.0, y: 0.0, z: half.sin() };
        api::Pose {
            translation: vector(0.0, 0.0, 0.0),
            orientation: Some(api::pose::Orientation::Rotation(rotation)),
        }
    };
    for (frame_id, degrees, first_contacts, count) in
        [(1, 120.0, true, 20), (2, 200.0, true, 0), (3, 20.0, false, 0)]
    {
        let pose =
            |id| api::BodyPose { id: Some(id), pose: Some(turned(degrees)), ..Default::default() };
        let mut report = api::ReportOptions { first_contacts, ..Default::default() };
        report.set_pairs(PairSelection::None);
        let frame = api::Frame {
            frame_id,
            poses: (1..=20).map(pose).collect(),
            report: Some(Box::new(report)),
            ..Default::default()
        };
        let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        assert_eq!(report.aliased_bodies, count, "{degrees}");
        let named: Vec<u32> = (1..=count.min(16) as u32).collect();
        assert_eq!(report.aliased_body_ids, named);
    }
}

#[tokio::test]
async fn ranked_pairs_that_are_cut_off_are_counted() {
    let server = with_cube().await;
    let mut request = scene("s");
    request.state.as_mut().unwrap().bodies =
        (1..=60).map(|id| cube_at(id, 3.0 * f64::from(id))).collect();
    server.sessions().open_session(request).await.unwrap();
    let report = |reply_bytes_max| {
        let mut report =
            api::ReportOptions { nearest_pairs: 1_500, reply_bytes_max, ..Default::default() };
        report.set_pairs(PairSelection::None);
        Some(Box::new(report))
    };
    let frame = |bytes| api::Frame { report: report(bytes), ..put(1, 6.0) };
    let cut = step(&server, "s", vec![frame(10_000)]).await.unwrap().remove(0);
    let whole = step(&server, "s", vec![frame(1 << 20)]).await.unwrap().remove(0);
    assert!(cut.cut && cut.omitted_ranked_pairs > 0 && !whole.cut, "{}", cut.encoded_len());
    let told = cut.ranked_pairs.len() as u64;
    assert_eq!(told + cut.omitted_ranked_pairs, whole.ranked_pairs.len() as u64);
    assert_eq!(whole.ranked_pairs.len(), 1_500);
    assert_eq!(cut.ranked_pairs[..], whole.ranked_pairs[..cut.ranked_pairs.len()]);
}

/// A frame after which a contact was announced is named in the state as long as it lasts.
#[tokio::test]
async fn an_announced_contact_says_in_which_frame_it_began() {
    let server = with_cube().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    step(&server, "s", vec![put(1, 5.0), put(2, 0.5), put(3, 0.75)]).await.unwrap();
    let request = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let told = server.sessions().get_session(request).await.unwrap().into_inner();
    let contacts = told.state.unwrap().contacts;
    let pair = api::BodyPair { a: Some(1), b: Some(2) };
    assert_eq!(contacts, [api::AnnouncedContact { pair: Some(pair), began_frame_id: 2 }]);
}

/// A robot's lists refer to each other by numbers: each part, value and link is in one range.
#[tokio::test]
async fn a_robots_lists_point_to_each_other() {
    let server = Server::start().await;
    let told = robots(&server).register_robot(panda()).await.unwrap().into_inner();
    let robot = told.robot.unwrap();
    let ranges = robot.links.iter().map(|link| link.first_part..link.first_part + link.part_count);
    let parts: Vec<u32> = ranges.flatten().collect();
    assert_eq!(parts, (0..robot.parts.len() as u32).collect::<Vec<_>>());
    for (index, link) in robot.links.iter().enumerate() {
        for part in link.first_part..link.first_part + link.part_count {
            assert_eq!(robot.parts[part as usize].link, index as u32);
        }
    }
    let mut variables: Vec<u32> = Vec::new();
    for joint in &robot.joints {
        let own = joint.first_variable..joint.first_variable + joint.variable_count;
        for variable in own.clone() {
            let named = &robot.variables[variable as usize].name;
            assert!(named.starts_with(&joint.name), "{named} of {}", joint.name);
            let is_finger = joint.name.contains("finger");
            let unit = if is_finger { api::JointUnit::Metres } else { api::JointUnit::Radians };
            assert_eq!(robot.variables[variable as usize].unit(), unit);
        }
        variables.extend(own);
        assert!(joint.mimic.as_ref().is_none_or(|mimic| mimic.offset == 0.0));
        assert!((joint.parent as usize) < robot.links.len() && joint.parent != joint.child);
    }
    variables.sort_unstable();
    assert_eq!(variables, (0..robot.variables.len() as u32).collect::<Vec<_>>());
    let offset = SLIDER.replace(
        "</robot>",
        r#"<link name="twin"/><joint name="twin" type="prismatic"><parent link="rail"/>
        <child link="twin"/><limit lower="-99" upper="99"/>
        <mimic joint="slide" multiplier="2" offset="0.5"/></joint></robot>"#,
    );
    let cell = cell_of(&server, &offset, Vec::new()).await;
    let id = cell.robots[0].robot_id.clone();
    let got = robots(&server).get_robot(api::GetRobotRequest { id }).await;
    let joints = got.unwrap().into_inner().robot.unwrap().joints;
    let mimic = joints[1].mimic.as_ref().unwrap();
    assert_eq!((mimic.joint.as_str(), mimic.multiplier, mimic.offset), ("slide", 2.0, 0.5));
    assert_eq!((joints[1].variable_count, cube().len()), (0, 24));
}
