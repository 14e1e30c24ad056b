//! Rows of robots: few bytes that ask for very many answers.

use std::fmt::Write;
use std::time::{Duration, Instant};

use clearance_proto as api;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_types::StatusExt;

use crate::held::Since;
use crate::memory::{MIB, bounds, small, until_given_back};
use crate::row::row_on;
use crate::scenes::cut_off;
use crate::server::{Client, MEMORY_FLAG, Server, Start, slowness};
use crate::strikes::configurations;
use crate::watch::Bounds;

/// Nobody had tried: a million configurations over each of four streams whose clients take no
/// answer. Answers, cells and the work itself were free, and messages stayed counted until the
/// stream ended.
#[test]
fn configurations_without_end_whose_answers_are_not_taken_are_bounded() {
    row_on(&small(), "4 streams of a million configurations", bounds(), async |server| {
        let check = configurations(&server.connect().await, 50_000).await.expect("registered");
        let away = cut_off();
        for _ in 0..4 {
            let (address, check) = (server.address, check.clone());
            away.spawn(async move {
                let client = Client::to(address).await;
                let request =
                    api::StreamConfigurationsRequest { check: Some(check), ..Default::default() };
                let sent = tokio_stream::iter(std::iter::repeat_n(request, 20));
                let endless = sent.chain(tokio_stream::pending());
                let _answers = client.robots().stream_configurations(endless).await.unwrap();
                std::future::pending::<()>().await;
            });
        }
        tokio::time::sleep(Duration::from_secs(4)).await;
        away.shutdown_background();
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}

/// A robot of one joint with this axis, and a box of this size on its link.
fn of_axis_and_size(axis: &str, size: &str) -> String {
    format!(
        "<robot name='r'><link name='a'/><link name='b'><collision><geometry><box size='{size}'/>\
         </geometry></collision></link><joint name='j' type='continuous'><parent link='a'/>\
         <child link='b'/><axis xyz='{axis}'/></joint></robot>"
    )
}

/// Links one after the other, or all beside the first.
fn of_links(count: u32, is_chain: bool) -> String {
    let mut urdf = String::from("<robot name='r'><link name='l0'/>");
    for k in 1..count {
        let parent = if is_chain { k - 1 } else { 0 };
        write!(
            urdf,
            "<link name='l{k}'/><joint name='j{k}' type='fixed'><parent link='l{parent}'/>\
             <child link='l{k}'/></joint>"
        )
        .unwrap();
    }
    urdf + "</robot>"
}

/// Ten entities, each of which is ten of the one before.
fn of_entities() -> String {
    let mut entities = String::from("<!ENTITY e0 'aaaaaaaaaa'>");
    for k in 1..10 {
        let ten = format!("&e{};", k - 1).repeat(10);
        write!(entities, "<!ENTITY e{k} '{ten}'>").unwrap();
    }
    format!("<!DOCTYPE robot [{entities}]><robot name='&e9;'><link name='a'/></robot>")
}

/// Descriptions that are none, or far too large, and the field that is wrong.
fn hostile() -> Vec<(&'static str, api::RegisterRobotRequest, &'static str)> {
    let good = of_axis_and_size("0 0 1", "1 1 1");
    let of_mesh = good.replace("<box size='1 1 1'/>", "<mesh filename='arm.stl'/>");
    let deep = "<a>".repeat(300_000) + &"</a>".repeat(300_000);
    let deep = format!("<robot name='r'><link name='a'>{deep}</link></robot>");
    let links: String = (0..100_000).map(|k| format!("<link name='l{k}'/>")).collect();
    let groups = "<group name='g'/>".repeat(200_000);
    let urdf = |urdf: String| api::RegisterRobotRequest { urdf, ..Default::default() };
    let mesh = |name: &str, bytes: &[u8]| api::RobotMesh {
        name: name.to_owned(),
        source: Some(api::robot_mesh::Source::Content(bytes.to_vec().into())),
    };
    let with = |meshes: Vec<api::RobotMesh>| api::RegisterRobotRequest {
        urdf: of_mesh.clone(),
        meshes,
        ..Default::default()
    };
    // The header says that a thousand million triangles follow.
    let endless = [&[0; 80][..], &1_000_000_000_u32.to_le_bytes(), &[0; 50]].concat();
    vec![
        ("entities of entities", urdf(of_entities()), "urdf"),
        ("an entity in itself", urdf(of_entities().replace("&e0;", "&e9;")), "urdf"),
        ("100,000 links", urdf(format!("<robot name='r'>{links}</robot>")), "urdf"),
        ("20,000 links on one", urdf(of_links(20_000, false)), "urdf"),
        ("20,000 links in a chain", urdf(of_links(20_000, true)), "urdf"),
        ("900 links in a chain", urdf(of_links(900, true)), "urdf"),
        ("elements 300,000 deep", urdf(deep), "urdf"),
        ("an axis that is no number", urdf(of_axis_and_size("NaN 0 1", "1 1 1")), "urdf"),
        ("an axis without a direction", urdf(of_axis_and_size("0 0 0", "1 1 1")), "urdf"),
        ("an axis without an end", urdf(of_axis_and_size("0 inf 1", "1 1 1")), "urdf"),
        ("a box without an end", urdf(of_axis_and_size("0 0 1", "1 1 1e999")), "urdf"),
        ("a box inside out", urdf(of_axis_and_size("0 0 1", "1 -1 1")), "urdf"),
        ("no mesh", with(vec![]), "meshes"),
        ("the mesh of another robot", with(vec![mesh("leg.stl", b"")]), "meshes"),
        ("a mesh of zeros", with(vec![mesh("arm.stl", &[0; 1 << 20])]), "meshes[0].content"),
        ("a mesh without an end", with(vec![mesh("arm.stl", &endless)]), "meshes[0].content"),
        (
            "200,000 groups",
            api::RegisterRobotRequest {
                urdf: good,
                srdf: format!("<robot name='r'>{groups}</robot>"),
                ..Default::default()
            },
            "srdf",
        ),
    ]
}

/// Sends each, and sees it refused with its field. Beside others a description may be refused for
/// the memory that they have.
async fn register_hostile(client: &Client, is_alone: bool) {
    for (what, request, field) in hostile() {
        let status = client.robots().register_robot(request).await.unwrap_err();
        if !is_alone && status.code() == Code::ResourceExhausted {
            continue;
        }
        assert_eq!(status.code(), Code::InvalidArgument, "{what}: {status:?}");
        let details = status.get_error_details();
        let named = &details.bad_request().expect(what).field_violations[0].field;
        assert!(named.starts_with(field), "{what}: {named}");
    }
}

/// What is no robot is refused with its field, again and again, by four clients, and health is
/// answered within 50 ms meanwhile.
#[test]
fn hostile_descriptions_of_robots_are_refused_and_nobody_waits() {
    let bounds = Bounds { health_p99: Duration::from_millis(50), ..bounds() };
    row_on(&small(), "4 clients register what is no robot", bounds, async |server| {
        register_hostile(&server.connect().await, true).await;
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let client = server.connect().await;
            clients.spawn(async move {
                let start = Instant::now();
                while start.elapsed() < Duration::from_secs(3) {
                    register_hostile(&client, false).await;
                }
            });
        }
        clients.join_all().await;
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}

/// Configurations of another robot, and of none, in every message of a stream.
#[test]
fn configurations_of_a_wrong_length_are_refused_and_cost_nothing() {
    row_on(&small(), "configurations of a wrong length", bounds(), async |server| {
        let client = server.connect().await;
        // Its one joint takes any number of values; two of these robots take an even one.
        let mut check = configurations(&client, 99_999).await.expect("registered");
        let cell = check.cell.as_mut().unwrap();
        cell.robots.push(cell.robots[0].clone());
        for _ in 0..20 {
            let status = client.robots().check_configurations(check.clone()).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
            let details = status.get_error_details();
            assert_eq!(details.bad_request().unwrap().field_violations[0].field, "values");
        }
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}

/// A robot of so many rods, each of another size, whose polytopes may stand out by so little.
pub(crate) fn of_rods(count: u32, gap_max: f64) -> api::RegisterRobotRequest {
    let mut urdf = String::from("<robot name='r'><link name='a'>");
    for k in 0..count {
        let radius = 0.1 + 1e-5 * f64::from(k);
        let rod = format!("<cylinder radius='{radius:.5}' length='1'/>");
        write!(urdf, "<collision><geometry>{rod}</geometry></collision>").unwrap();
    }
    urdf.push_str("</link></robot>");
    api::RegisterRobotRequest { urdf, gap_max: Some(gap_max), ..Default::default() }
}

/// A robot without any part, and a state of it that names so many joints.
pub(crate) fn of_states(number: u32, joints: usize) -> api::RegisterRobotRequest {
    let urdf = format!("<robot name='r{number}'><link name='a'/></robot>");
    let state = "<joint name='a' value='1'/>".repeat(joints);
    let group = "<group_state name='s' group='g'>";
    let srdf = format!("<robot name='r'>{group}{state}</group_state></robot>");
    api::RegisterRobotRequest { urdf, srdf, ..Default::default() }
}

/// The ids of all robots, page by page.
pub(crate) async fn robot_ids(client: &Client) -> Vec<String> {
    let (mut ids, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = api::ListRobotsRequest { page_size: 1_000, page_token };
        let page = client.robots().list_robots(request).await.unwrap().into_inner();
        assert!(!page.robots.is_empty() || page.next_page_token.is_empty());
        ids.extend(page.robots.into_iter().map(|robot| robot.id));
        if page.next_page_token.is_empty() {
            return ids;
        }
        page_token = page.next_page_token;
    }
}

/// What others may notice of these rows.
fn strict(resident_max: u64) -> Bounds {
    Bounds {
        health_p99: Duration::from_millis(50),
        health_worst: Duration::from_millis(250),
        resident_max,
        ..Bounds::default()
    }
}

/// So many rods: as many as a robot may have.
const RODS: u32 = 2_000;

/// Registers two robots of very many rods at a time, for nothing but to be looked at.
async fn look_at_rods(server: &Server) {
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let client = server.connect().await;
        let rods = api::RegisterRobotRequest { validate_only: true, ..of_rods(RODS, 1e-12) };
        calls.spawn(async move {
            // There may be memory for one of them.
            if let Err(refused) = client.robots().register_robot(rods).await {
                assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
            }
        });
    }
    calls.join_all().await;
    let few = server.connect().await.robots().register_robot(of_rods(20, 1e-3)).await;
    assert_eq!(few.unwrap().into_inner().robot.unwrap().parts.len(), 20);
}

/// 133 KB ended the process after 11 s.
#[test]
fn robots_of_very_many_rods_end_no_process_of_a_gibibyte() {
    let start = Start { address_space_max: Some(1 << 30), ..Start::default() };
    row_on(&start, "2 robots of 2,000 rods, 1 GiB", strict(700 * MIB), look_at_rods);
}

/// A server that was told to give out 4 GiB of an address space of 1 GiB was ended by them.
#[test]
fn a_budget_beyond_the_address_space_ends_no_process() {
    let flags = vec![MEMORY_FLAG.to_owned(), (4096 * MIB).to_string()];
    let start = Start { flags, address_space_max: Some(1 << 30), ..Start::default() };
    let name = "2 robots of 2,000 rods, 4 GiB of 1";
    row_on(&start, name, strict(700 * MIB), look_at_rods);
}

/// Two of them held 3,340 MiB where 14 were said.
#[test]
fn robots_of_very_many_rods_stay_within_the_memory_there_is() {
    row_on(&small(), "2 robots of 2,000 rods", strict(bounds().resident_max), async |server| {
        look_at_rods(server).await;
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}

/// 205 robots held 2.5 GB where 0.8 MiB were said, and twenty lists of them, which take three bytes
/// to ask for, 5.2 GB; health waited for 17.9 s.
#[test]
fn what_robots_say_is_counted_and_told_page_by_page() {
    row_on(
        &small(),
        "robots of 3.2 MB, and 20 lists",
        strict(bounds().resident_max),
        async |server| {
            let client = server.connect().await;
            let since = Since::now(server).await;
            let (robots, joints) = if slowness() == 1 { (205, 120_000) } else { (12, 20_000) };
            let mut registered = 0;
            for number in 0..robots {
                match client.robots().register_robot(of_states(number, joints)).await {
                    Ok(_) => registered += 1,
                    Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}"),
                }
            }
            assert!(registered > 8, "{registered} of {robots}");
            since.agrees(server, "with robots").await;
            assert_eq!(robot_ids(&client).await.len(), registered);
            let mut lists = tokio::task::JoinSet::new();
            for _ in 0..20 {
                let client = server.connect().await;
                lists.spawn(async move {
                    let request = api::ListRobotsRequest { page_size: 1_000, ..Default::default() };
                    match client.robots().list_robots(request).await {
                        Ok(page) => page.into_inner().robots.len(),
                        Err(status) => {
                            assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
                            0
                        }
                    }
                });
            }
            let told = lists.join_all().await;
            assert!(told.iter().any(|robots| *robots > 0), "{told:?}");
            for id in robot_ids(&client).await {
                let request = api::DeleteRobotRequest { id, ..Default::default() };
                client.robots().delete_robot(request).await.unwrap();
            }
            until_given_back(server, 8 * MIB, 160 * MIB).await;
        },
    );
}
