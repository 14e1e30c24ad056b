//! Robots whose files come in chunks.

use api::robot_mesh::Source;
use api::upload_robot_request::Part;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tokio_stream::{StreamExt, iter, pending};
use tonic::{Code, Status};

use crate::memory::until_none;
use crate::robots::{check as configurations, panda, robots, slider};
use crate::server::{Server, check, soon};
use crate::tables::used;

async fn upload(server: &Server, parts: Vec<Part>) -> Result<api::RegisterRobotResponse, Status> {
    let messages = parts.into_iter().map(|part| api::UploadRobotRequest { part: Some(part) });
    let messages = iter(messages.collect::<Vec<_>>());
    let reply = soon(robots(server).upload_robot(messages)).await?.into_inner();
    Ok(reply.registered.expect("what became of it"))
}

/// The robot without its files, then these in chunks of so many bytes.
fn in_chunks(request: api::RegisterRobotRequest, size: usize) -> Vec<Part> {
    let meshes = request.meshes.clone();
    let mut parts = vec![Part::Robot(api::RegisterRobotRequest { meshes: Vec::new(), ..request })];
    for mesh in meshes {
        let Some(Source::Content(content)) = mesh.source else { panic!("no file") };
        parts.push(Part::File(mesh.name));
        parts.extend(content.chunks(size).map(|chunk| Part::Chunk(chunk.to_vec().into())));
    }
    parts
}

/// A third of the robots that were read with their meshes did not fit into one message.
#[tokio::test]
async fn a_robot_whose_files_come_in_chunks_is_the_one_that_comes_in_one_message() {
    let large = Server::start().await;
    let whole = robots(&large).register_robot(panda()).await.unwrap().into_inner();
    let limits = Limits { message_bytes_max: 48 << 10, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let refused = robots(&server).register_robot(panda()).await.unwrap_err();
    check(&refused, Code::ResourceExhausted, "LIMIT_EXCEEDED", "message");
    assert!(refused.message().contains("UploadRobot"), "{}", refused.message());
    let only_read = api::RegisterRobotRequest { validate_only: true, ..panda() };
    let read = upload(&server, in_chunks(only_read, 40_000)).await.unwrap();
    assert_eq!((&read.robot, read.already_registered), (&whole.robot, false));
    // Cut anywhere, the last file first: the order of the files makes no difference.
    for (size, is_known) in [(40_000, false), (7_777, true), (40_001, true)] {
        let mut request = panda();
        request.meshes.reverse();
        let told = upload(&server, in_chunks(request, size)).await.unwrap();
        assert_eq!((&told.robot, told.already_registered), (&whole.robot, is_known));
    }
    // Some of them beside the robot.
    let mut beside = panda();
    let there = beside.meshes.split_off(beside.meshes.len() - 1);
    let mut parts = in_chunks(beside, 30_000);
    let Some(Part::Robot(robot)) = parts.first_mut() else { panic!("the robot comes first") };
    robot.meshes = there;
    assert_eq!(upload(&server, parts).await.unwrap().robot, whole.robot);
}

#[tokio::test]
async fn what_is_wrong_with_an_upload_of_a_robot_is_said_and_leaves_its_place_to_others() {
    let limits = Limits { upload_bytes_max: 4_000, uploads_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let urdf = "<robot name='r'><link name='a'><collision><geometry><mesh filename='a.obj'/>\
                </geometry></collision></link></robot>";
    let request = || api::RegisterRobotRequest { urdf: urdf.to_owned(), ..Default::default() };
    let robot = || Part::Robot(request());
    let file = || Part::File("a.obj".to_owned());
    let chunk = |text: &str| Part::Chunk(text.as_bytes().to_vec().into());
    let good = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let long = "v 0 0 0\n".repeat(250);
    let bad = Code::InvalidArgument;
    let cases = [
        (vec![], "BAD_FIELD", "robot"),
        (vec![file()], "BAD_FIELD", "robot"),
        (vec![robot(), robot()], "BAD_FIELD", "robot"),
        (vec![robot(), chunk(good)], "BAD_FIELD", "chunk"),
        (vec![robot(), file(), chunk("v 1")], "BAD_FIELD", "meshes[0].content"),
        (vec![robot(), file(), chunk(good), file(), chunk(good)], "BAD_FIELD", "meshes[1].name"),
        (vec![robot(), file(), chunk(&long), chunk(&long)], "LIMIT_EXCEEDED", "chunk"),
        (vec![robot(), Part::File("a".repeat(4_000))], "LIMIT_EXCEEDED", "file"),
    ];
    for (parts, reason, field) in cases {
        let status = upload(&server, parts).await.unwrap_err();
        check(&status, bad, reason, field);
    }
    let nothing = iter([api::UploadRobotRequest::default()]);
    let status = robots(&server).upload_robot(nothing).await.unwrap_err();
    check(&status, bad, "BAD_FIELD", "chunk");
    let told = upload(&server, vec![robot(), file(), chunk(&good[..9]), chunk(&good[9..])]).await;
    assert_eq!(told.unwrap().robot.unwrap().parts.len(), 1);
}

/// A robot of one link without parts.
fn bare_robot() -> Part {
    let urdf = "<robot name='r'><link name='a'/></robot>".to_owned();
    Part::Robot(api::RegisterRobotRequest { urdf, ..Default::default() })
}

/// A robot that announces its file, so much of this, and then nothing.
fn unfinished(bytes: usize) -> impl tokio_stream::Stream<Item = api::UploadRobotRequest> {
    let parts = [bare_robot(), Part::File("a.stl".to_owned()), Part::Chunk(vec![7; bytes].into())];
    iter(parts.map(|part| api::UploadRobotRequest { part: Some(part) })).chain(pending())
}

#[tokio::test]
async fn whoever_hangs_up_while_a_robot_comes_leaves_memory_and_place_to_others() {
    let server = Server::with_limits(Limits { uploads_max: 1, ..Limits::default() }).await;
    let mut client = robots(&server);
    let stream = unfinished(1 << 20);
    let upload = tokio::spawn(async move { client.upload_robot(stream).await });
    let is_there = async {
        while used(&server, "uploads").await < 1 << 20 {
            tokio::task::yield_now().await;
        }
    };
    soon(is_there).await;
    let status = upload_of_panda(&server).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "BUSY", "");
    upload.abort();
    until_none(&server, "uploads").await;
    assert!(upload_of_panda(&server).await.is_ok());
}

async fn upload_of_panda(server: &Server) -> Result<api::RegisterRobotResponse, Status> {
    upload(server, in_chunks(panda(), 1 << 20)).await
}

#[tokio::test]
async fn a_robot_that_stops_coming_is_given_up_in_time() {
    let short = Limits { uploads_max: 1, ..Limits::default() };
    let silent = Limits { message_seconds_max: 1, ..short.clone() };
    let slow = Limits { call_seconds_max: 1, ..short };
    for (limits, reason) in [(silent, "LIMIT_EXCEEDED"), (slow, "")] {
        let server = Server::with_limits(limits).await;
        let status = soon(robots(&server).upload_robot(unfinished(100))).await.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        if !reason.is_empty() {
            check(&status, Code::DeadlineExceeded, reason, "chunk");
        }
        until_none(&server, "uploads").await;
        assert!(upload(&server, vec![bare_robot()]).await.is_ok(), "the place is free");
    }
}

/// Memory for what comes is taken before it is kept, and all of it is given back.
#[tokio::test]
async fn files_that_do_not_fit_into_memory_are_refused_as_they_come() {
    let limits = Limits { memory_bytes_max: 32 << 20, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let file = |k: usize| Part::File(format!("{k}.stl"));
    let chunk = || Part::Chunk(vec![0; 1 << 20].into());
    let files = (0..60).flat_map(|k| [file(k), chunk()]);
    let status =
        upload(&server, std::iter::once(bare_robot()).chain(files).collect()).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    assert!(status.message().contains("memory_bytes_max"), "{}", status.message());
    until_none(&server, "uploads").await;
    assert!(upload_of_panda(&server).await.is_ok());
}

/// The way in for a cell that is too large is a session, and whoever is refused was not told.
#[tokio::test]
async fn a_cell_that_is_too_large_is_told_to_be_opened_as_a_session() {
    let limits =
        Limits { obstacles_per_cell_max: 2, message_bytes_max: 4_096, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let cell = slider(&server).await;
    let refused = async |count: usize| {
        let obstacles = vec![cell.obstacles[0].clone(); count];
        let asked = api::RobotCell { obstacles, ..cell.clone() };
        let request = configurations(&asked, api::CheckMode::FirstPair, &[0.0]);
        robots(&server).check_configurations(request).await.unwrap_err()
    };
    let many = refused(3).await;
    check(&many, Code::InvalidArgument, "LIMIT_EXCEEDED", "cell.obstacles");
    let large = refused(500).await;
    check(&large, Code::ResourceExhausted, "LIMIT_EXCEEDED", "message");
    for status in [many, large] {
        assert!(status.message().contains("OpenSession"), "{}", status.message());
    }
}
