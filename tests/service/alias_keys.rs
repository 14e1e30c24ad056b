//! An alias can be claimed with a key: then nobody else moves it or deletes what it names.
//!
//! Anyone who could reach the port moved or deleted the aliases that others use.

use clearance_proto as api;
use clearance_proto::delete_polytope_request::Key;
use clearance_runtime::settings::Settings;
use tonic::{Code, Status};

use crate::server::{Server, check, cube, spec};

const KEY: &str = "the-key-of-whoever-claimed-it";

/// Lets `it` name these points.
async fn name(server: &Server, xyz: &[f64], alias_key: &str) -> Result<Report, Status> {
    let alias_key = alias_key.to_owned();
    let spec = api::PolytopeSpec { move_alias: true, alias_key, ..spec("it", xyz) };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    let reply = server.polytopes().register_polytopes(request).await?;
    let report = reply.into_inner().reports.remove(0);
    Ok(Report { id: report.polytope.unwrap().id, alias_key: report.alias_key })
}

struct Report {
    id: String,
    alias_key: String,
}

async fn delete(server: &Server, key: Key, alias_keys: &[&str]) -> Result<(), Status> {
    let alias_keys = alias_keys.iter().map(ToString::to_string).collect();
    let request = api::DeletePolytopeRequest { key: Some(key), allow_missing: true, alias_keys };
    server.polytopes().delete_polytope(request).await.map(drop)
}

fn check_claimed(refused: &Status, field: &str) {
    check(refused, Code::PermissionDenied, "ALIAS_CLAIMED", field);
}

/// What everybody else tries, and that it changes nothing.
async fn is_shut_to_others(server: &Server, id: &str) {
    for key in ["", "another"] {
        let moved = name(server, &[0.0; 3], key).await;
        check_claimed(&moved.err().unwrap(), "polytopes[0].alias_key");
        let keys: &[&str] = if key.is_empty() { &[] } else { &[key] };
        for named in [Key::Alias("it".to_owned()), Key::Id(id.to_owned())] {
            check_claimed(&delete(server, named, keys).await.unwrap_err(), "alias_keys");
        }
    }
    let claimed_anew = name(server, &cube(), "another").await;
    check_claimed(&claimed_anew.err().unwrap(), "polytopes[0].alias_key");
    let request = api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Alias("it".to_owned())),
        ..Default::default()
    };
    let found = server.polytopes().get_polytope(request).await.unwrap().into_inner();
    assert_eq!(found.polytope.unwrap().id, id);
}

#[tokio::test]
async fn a_claimed_alias_is_moved_and_deleted_by_its_key_alone() {
    for server in [Server::start().await, Server::in_public(Settings::default()).await] {
        let report = name(&server, &cube(), KEY).await.unwrap();
        assert_eq!(report.alias_key, "");
        is_shut_to_others(&server, &report.id).await;
        // To name again what it names already changes nothing.
        assert_eq!(name(&server, &cube(), "").await.unwrap().id, report.id);
        is_shut_to_others(&server, &report.id).await;
        let moved = name(&server, &[0.0; 3], KEY).await.unwrap();
        // The cube has no alias any more.
        delete(&server, Key::Id(report.id), &[]).await.unwrap();
        delete(&server, Key::Id(moved.id), &["another", KEY]).await.unwrap();
        let again = name(&server, &cube(), "a-third").await.unwrap();
        is_shut_to_others(&server, &again.id).await;
    }
}

#[tokio::test]
async fn an_alias_without_a_key_is_open_on_loopback_and_gets_one_in_public() {
    let told = Settings { open_sessions: true, ..Settings::default() };
    for server in [Server::start().await, Server::in_public(told).await] {
        let report = name(&server, &cube(), "").await.unwrap();
        assert_eq!(report.alias_key, "");
        let moved = name(&server, &[0.0; 3], "").await.unwrap();
        assert_eq!(moved.alias_key, "");
        // Who first brings a key claims it.
        name(&server, &cube(), KEY).await.unwrap();
        is_shut_to_others(&server, &report.id).await;
    }
    let server = Server::in_public(Settings::default()).await;
    let report = name(&server, &cube(), "").await.unwrap();
    assert!(report.alias_key.starts_with("k-"), "{}", report.alias_key);
    is_shut_to_others(&server, &report.id).await;
    assert_eq!(name(&server, &cube(), "").await.unwrap().alias_key, "");
    let moved = name(&server, &[0.0; 3], &report.alias_key).await.unwrap();
    assert_eq!(moved.alias_key, "");
    delete(&server, Key::Alias("it".to_owned()), &[&report.alias_key]).await.unwrap();
}

#[tokio::test]
async fn keys_of_aliases_are_checked() {
    let server = Server::start().await;
    let register = |polytopes| api::RegisterPolytopesRequest { polytopes, validate_only: true };
    let with = |alias: &str, key: &str| {
        let alias_key = key.to_owned();
        register(vec![api::PolytopeSpec { alias_key, ..spec(alias, &cube()) }])
    };
    for request in [with("", KEY), with("it", "two\nlines"), with("it", &"k".repeat(201))] {
        let refused = server.polytopes().register_polytopes(request).await.unwrap_err();
        check(&refused, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].alias_key");
    }
    let id = Key::Alias("it".to_owned());
    let refused = delete(&server, id.clone(), &[KEY, ""]).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "BAD_FIELD", "alias_keys[1]");
    let refused = delete(&server, id, &[KEY; 17]).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "LIMIT_EXCEEDED", "alias_keys");
    // To be validated is to be refused as if it were done.
    name(&server, &cube(), KEY).await.unwrap();
    let moves = api::PolytopeSpec { move_alias: true, ..spec("it", &[0.0; 3]) };
    let refused = server.polytopes().register_polytopes(register(vec![moves])).await.unwrap_err();
    check_claimed(&refused, "polytopes[0].alias_key");
}
