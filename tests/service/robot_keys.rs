//! A robot can be claimed with a key: then nobody else deletes it.
//!
//! Robots are named by their content, which everybody who has the same files knows; and anyone who
//! could reach the port deleted what others used.

use clearance_proto as api;
use clearance_runtime::settings::{Limits, Settings};
use tonic::{Code, Status};

use crate::robots::robots;
use crate::server::{Server, check};

const SLIDER: &str = r#"<robot name="slider"><link name="rail"/><link name="cart">
  <collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;

/// Registers the slider, with a key or without one.
async fn register(server: &Server, key: &str) -> Result<api::RegisterRobotResponse, Status> {
    let request = api::RegisterRobotRequest {
        urdf: SLIDER.to_owned(),
        robot_key: key.to_owned(),
        ..Default::default()
    };
    Ok(robots(server).register_robot(request).await?.into_inner())
}

async fn delete(server: &Server, id: &str, keys: &[&str]) -> Result<(), Status> {
    let robot_keys = keys.iter().map(ToString::to_string).collect();
    let request = api::DeleteRobotRequest { id: id.to_owned(), robot_keys, ..Default::default() };
    robots(server).delete_robot(request).await.map(drop)
}

async fn is_shut(server: &Server, id: &str, keys: &[&str]) {
    let refused = delete(server, id, keys).await.unwrap_err();
    check(&refused, Code::PermissionDenied, "ROBOT_CLAIMED", "robot_keys");
    let found = robots(server).get_robot(api::GetRobotRequest { id: id.to_owned() }).await;
    assert_eq!(found.unwrap().into_inner().robot.unwrap().id, id);
}

#[tokio::test]
async fn a_claimed_robot_is_deleted_by_all_of_its_keys_alone() {
    for server in [Server::start().await, Server::in_public(Settings::default()).await] {
        let first = register(&server, "mine").await.unwrap();
        assert_eq!((first.already_registered, first.robot_key.as_str()), (false, ""));
        let id = first.robot.unwrap().id;
        is_shut(&server, &id, &[]).await;
        is_shut(&server, &id, &["another"]).await;
        // To register again what is there needs no key and changes nothing.
        let again = register(&server, "").await.unwrap();
        assert_eq!((again.already_registered, again.robot_key.as_str()), (true, ""));
        is_shut(&server, &id, &[]).await;
        // Another client relies on it, too.
        register(&server, "yours").await.unwrap();
        register(&server, "yours").await.unwrap();
        is_shut(&server, &id, &["mine"]).await;
        is_shut(&server, &id, &["yours"]).await;
        delete(&server, &id, &["yours", "mine"]).await.unwrap();
        let gone = delete(&server, &id, &["yours", "mine"]).await.unwrap_err();
        check(&gone, Code::NotFound, "UNKNOWN_ROBOT", "id");
        // The claims have gone with it.
        register(&server, "a-third").await.unwrap();
        delete(&server, &id, &["a-third"]).await.unwrap();
    }
}

#[tokio::test]
async fn a_robot_without_a_key_is_open_on_loopback_and_gets_one_in_public() {
    let told = Settings { open_sessions: true, ..Settings::default() };
    for server in [Server::start().await, Server::in_public(told).await] {
        let registered = register(&server, "").await.unwrap();
        assert_eq!(registered.robot_key, "");
        delete(&server, &registered.robot.unwrap().id, &[]).await.unwrap();
    }
    let server = Server::in_public(Settings::default()).await;
    let registered = register(&server, "").await.unwrap();
    let (id, key) = (registered.robot.unwrap().id, registered.robot_key);
    assert!(key.starts_with("k-"), "{key}");
    is_shut(&server, &id, &[]).await;
    assert_eq!(register(&server, "").await.unwrap().robot_key, "", "it is there already");
    delete(&server, &id, &[&key]).await.unwrap();
}

#[tokio::test]
async fn keys_of_robots_are_checked_and_those_of_one_address_are_counted() {
    let server = Server::start().await;
    for key in ["two\nlines", &"k".repeat(201)] {
        let refused = register(&server, key).await.unwrap_err();
        check(&refused, Code::InvalidArgument, "BAD_FIELD", "robot_key");
    }
    for k in 0..16 {
        register(&server, &format!("key-{k}")).await.unwrap();
    }
    let refused = register(&server, "key-16").await.unwrap_err();
    check(&refused, Code::InvalidArgument, "LIMIT_EXCEEDED", "robot_key");
    let id = register(&server, "key-3").await.unwrap().robot.unwrap().id;
    let refused = delete(&server, &id, &["key-0", ""]).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "BAD_FIELD", "robot_keys[1]");
    let refused = delete(&server, &id, &["key-0"; 17]).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "LIMIT_EXCEEDED", "robot_keys");
}

/// A robot whose claim was refused stayed, open to everybody, though its client was told that it
/// was not registered.
#[tokio::test]
async fn a_robot_that_may_not_be_claimed_is_not_registered_either() {
    let server = Server::with_limits(Limits { keys_per_robot_max: 0, ..Limits::default() }).await;
    let refused = register(&server, "mine").await.unwrap_err();
    check(&refused, Code::InvalidArgument, "LIMIT_EXCEEDED", "robot_key");
    let all = api::ListRobotsRequest::default();
    let listed = robots(&server).list_robots(all).await.unwrap().into_inner();
    assert_eq!((listed.robots.len(), listed.total_size), (0, 0));
    // One that is there, open, stays.
    register(&server, "").await.unwrap();
    register(&server, "mine").await.unwrap_err();
    assert!(register(&server, "").await.unwrap().already_registered);
}
