//! Rows of files of robots in which one list is very long.

use std::time::{Duration, Instant};

use clearance_proto as api;

use crate::departed::{LATE_MAX, lateness_after};
use crate::row::row;
use crate::server::slowness;
use crate::watch::Bounds;

/// How long callers stay: while the message is on its way, while the file is read, and nearly to
/// the end of it.
const STAYS: [Duration; 4] = [
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
];

/// How long the longest of these files takes.
const READING_MAX: Duration = Duration::from_secs(1);

/// So many pieces one after the other.
fn joined(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

/// A robot of one link, beside what else the file says.
fn with(more: &str) -> api::RegisterRobotRequest {
    let urdf = format!("<robot name='r'><link name='l'/>{more}</robot>");
    api::RegisterRobotRequest { urdf, validate_only: true, ..Default::default() }
}

/// A robot of one link, with this SRDF.
fn with_srdf(more: &str) -> api::RegisterRobotRequest {
    api::RegisterRobotRequest { srdf: format!("<robot>{more}</robot>"), ..with("") }
}

/// A robot of one link with these collisions and meshes.
fn of_meshes(collisions: &str, meshes: Vec<api::RobotMesh>) -> api::RegisterRobotRequest {
    let urdf = format!("<robot name='r'><link name='l'>{collisions}</link></robot>");
    api::RegisterRobotRequest { urdf, meshes, leave_out_missing: true, ..with("") }
}

fn mesh(name: String, content: &str) -> api::RobotMesh {
    let source = api::robot_mesh::Source::Content(content.as_bytes().to_vec().into());
    api::RobotMesh { name, source: Some(source) }
}

fn collision(name: &str) -> String {
    format!("<collision><geometry><mesh filename='{name}'/></geometry></collision>\n")
}

/// Files of two to four megabytes, each with one long list.
fn files() -> Vec<(&'static str, api::RegisterRobotRequest)> {
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    let corners = "1 3 2 ".repeat(300_000);
    let name = |place: &str, k: usize| format!("{place}/{}/{k:04}.obj", "n".repeat(800));
    let nested = joined(60_000, |k| format!("<a xmlns:a{k}='u'>")) + &"</a>".repeat(60_000);
    let groups = joined(80_000, |k| format!("<group name='g{k}'/>"));
    let again = joined(65_000, |k| format!("<group name='g{}'/>", 79_999 - k));
    let far = " ".repeat(1_000_000);
    vec![
        ("180,000 attributes", with(&format!("<a {}/>", joined(180_000, |k| format!("a{k}='' "))))),
        (
            "150,000 namespaces",
            with(&format!("<a {}/>", joined(150_000, |k| format!("xmlns:a{k}='u' ")))),
        ),
        ("60,000 namespaces in each other", with(&nested)),
        (
            "180,000 attributes of an SRDF",
            with_srdf(&format!("<a {}/>", joined(180_000, |k| format!("a{k}='' ")))),
        ),
        (
            "80,000 groups, 65,000 of them again",
            with_srdf(&format!("{groups}<group name='h'>{again}</group>")),
        ),
        (
            "2,000 parts after a megabyte",
            of_meshes(&(far + &joined(2_000, |k| collision(&format!("{k}")))), vec![]),
        ),
        (
            "2,000 meshes of long names",
            of_meshes(
                &joined(2_000, |k| collision(&name("x", k))),
                (0..2_000).map(|k| mesh(name("y", k), tetrahedron)).collect(),
            ),
        ),
        (
            "a face of 900,000 corners",
            of_meshes(
                &collision("m.obj"),
                vec![mesh("m.obj".to_owned(), &format!("{tetrahedron}f {corners}\n"))],
            ),
        ),
    ]
}

/// They took 47, 18 and 24 s of a thread, whether their callers were still there or not.
#[test]
fn long_lists_in_files_of_robots_are_read_soon_and_not_for_callers_that_have_left() {
    let bounds = Bounds {
        health_p99: Duration::from_millis(50),
        health_worst: Duration::from_millis(250),
        ..Bounds::default()
    };
    row("long lists in files of robots", bounds, async |server| {
        let (asker, other) = (server.connect().await, server.connect().await);
        let mut late = Vec::new();
        for (name, request) in files() {
            let start = Instant::now();
            asker.robots().register_robot(request.clone()).await.expect(name);
            let taken = start.elapsed();
            let call = || {
                let (mut robots, request) = (asker.robots(), request.clone());
                async move { robots.register_robot(request).await }
            };
            let stays = STAYS.map(|stay| stay * slowness());
            let by = lateness_after(&stays, &other, call).await;
            println!("  {taken:9.2?}, and after its caller {by:9.2?}: {name}");
            if taken > READING_MAX * slowness() || by > LATE_MAX * slowness() {
                late.push(format!("{name}: {taken:?}, and after its caller {by:?}"));
            }
        }
        assert!(late.is_empty(), "too late:\n{}", late.join("\n"));
    });
}
