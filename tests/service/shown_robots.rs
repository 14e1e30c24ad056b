//! What a picture of a robot needs: where its links are, before they move, and what their parts
//! are.

use clearance_proto as api;
use clearance_proto::get_polytope_request::Key;
use tonic::Code;

use crate::robots::robots;
use crate::server::{check, soon};
use crate::session_robots::{frame, open, placed, register, slider, to};
use crate::sessions::{cube_at, started, step};

const ARM: u32 = 100;

fn places(packed: Option<api::PackedPoses>) -> Vec<(u32, f64)> {
    let packed = packed.unwrap();
    let along = packed.translations.rows::<3>().map(|at| at[0]);
    assert_eq!(packed.rotation_matrices.len(), 9 * packed.ids.len());
    packed.ids.iter().zip(along).collect()
}

#[tokio::test]
async fn a_watcher_is_told_where_links_are_that_have_not_moved() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let standing = |id: u32, value: f64| api::SessionRobot {
        values: vec![value],
        name: format!("arm {id}"),
        ..placed(id, &robot)
    };
    let state = api::SessionState {
        bodies: vec![cube_at(1, 9.0)],
        robots: vec![standing(ARM, 1.5)],
        ..Default::default()
    };
    server.sessions().open_session(open("s", state, false)).await.unwrap();
    let watching = || api::WatchSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let mut news = server.sessions().watch_session(watching()).await.unwrap().into_inner();
    let told = soon(news.message()).await.unwrap().unwrap();
    let cart = told.link_poses.clone().unwrap().ids.iter().max().unwrap();
    assert_eq!(places(told.link_poses).last(), Some(&(cart, 1.5)));

    // One that comes later has not moved either.
    let added = api::Frame { added_robots: vec![standing(2 * ARM, 2.5)], ..frame(1, vec![]) };
    step(&server, "s", vec![added]).await.unwrap();
    let told = soon(news.message()).await.unwrap().unwrap().frame.unwrap();
    let packed = told.packed_poses.clone().unwrap();
    assert_eq!(
        packed.ids.iter().collect::<Vec<_>>(),
        packed.teleported_ids.iter().collect::<Vec<_>>()
    );
    assert_eq!(places(told.packed_poses).last(), Some(&(cart + ARM, 2.5)));

    // Who comes then is told where they are by now.
    step(&server, "s", vec![frame(2, vec![to(ARM, &[3.5])])]).await.unwrap();
    let mut late = server.sessions().watch_session(watching()).await.unwrap().into_inner();
    let told = soon(late.message()).await.unwrap().unwrap();
    let places = places(told.link_poses);
    assert!(places.contains(&(cart, 3.5)) && places.contains(&(cart + ARM, 2.5)), "{places:?}");
}

#[tokio::test]
async fn a_part_of_a_robot_is_described_like_a_body_of_its_own() {
    let server = started().await;
    let robot = register(&server, slider()).await;
    let id = robot.parts[0].polytope_id.clone();
    let by = |key: Key, robot_id: &str| api::GetPolytopeRequest {
        key: Some(key),
        robot_id: robot_id.to_owned(),
        with_vertices: true,
        with_facets: true,
        ..Default::default()
    };
    let ask = async |request: api::GetPolytopeRequest| {
        server.polytopes().get_polytope(request).await.map(tonic::Response::into_inner)
    };
    let refused = ask(by(Key::Id(id.clone()), "")).await.unwrap_err();
    check(&refused, Code::NotFound, "UNKNOWN_POLYTOPE", "id");
    let part = ask(by(Key::Id(id.clone()), &robot.id)).await.unwrap();
    let described = part.polytope.clone().unwrap();
    assert_eq!((&described.id, described.vertex_count, described.face_count), (&id, 8, 6));
    assert_eq!((part.vertices.as_ref().unwrap().xyz.len(), part.facets.len()), (24, 6));

    // The same as if somebody registers just that.
    let xyz = part.vertices.clone().unwrap().xyz;
    assert_eq!(server.register("by-itself", &xyz).await, id);
    let mut alone = ask(by(Key::Id(id.clone()), "")).await.unwrap();
    let own = alone.polytope.as_mut().unwrap();
    (own.aliases, own.memory_bytes) = (Vec::new(), 0);
    assert_eq!(alone, part);

    let cube = server.polytopes().get_polytope(by(Key::Alias("cube".to_owned()), "")).await;
    let cube = cube.unwrap().into_inner().polytope.unwrap().id;
    let other = ask(by(Key::Id(cube), &robot.id)).await.unwrap_err();
    check(&other, Code::NotFound, "UNKNOWN_POLYTOPE", "id");
    let nobody = ask(by(Key::Id(id), "r2-nobody")).await.unwrap_err();
    check(&nobody, Code::NotFound, "UNKNOWN_ROBOT", "robot_id");
    let alias = ask(by(Key::Alias("by-itself".to_owned()), &robot.id)).await.unwrap_err();
    check(&alias, Code::InvalidArgument, "BAD_FIELD", "robot_id");
    assert!(robots(&server).get_robot(api::GetRobotRequest { id: robot.id }).await.is_ok());
}
