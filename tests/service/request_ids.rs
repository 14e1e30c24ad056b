//! Which call a reply, an error and a line of the log are about.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use clearance_proto as api;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_runtime::settings::Settings;
use serde_json::Value;
use tokio_stream::StreamExt;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use crate::http::{ask, call, request};
use crate::server::{Server, body, soon};
use crate::web::with_door;

fn with_id<T>(message: T, id: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-request-id", id.parse().unwrap());
    request
}

/// The id in the details of an error.
fn id_of(status: &Status) -> String {
    status.get_error_details().request_info().expect("a RequestInfo").request_id.clone()
}

#[tokio::test]
async fn a_reply_has_the_id_of_its_call_or_one_of_the_servers() {
    let server = Server::start().await;
    let told = async |request| {
        let reply = server.info().get_server_info(request).await.unwrap();
        reply.metadata().get("x-request-id").unwrap().to_str().unwrap().to_owned()
    };
    let asked = api::GetServerInfoRequest {};
    assert_eq!(told(with_id(asked, "mine-7")).await, "mine-7");
    let (one, other) = (told(Request::new(asked)).await, told(Request::new(asked)).await);
    assert!(one.len() == 16 && one != other, "{one} {other}");
    for unfit in ["two words", &"x".repeat(65)] {
        assert_eq!(told(with_id(asked, unfit)).await.len(), 16, "{unfit}");
    }
}

#[tokio::test]
async fn an_error_has_the_id_in_its_details_and_beside_them() {
    let server = Server::start().await;
    let asked = api::CheckCollisionRequest {
        p: Some(body("nobody", 0.0)),
        q: Some(body("nobody", 0.0)),
        ..Default::default()
    };
    let status = server.queries().check_collision(with_id(asked, "mine-8")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    assert_eq!(id_of(&status), "mine-8");
    assert_eq!(status.metadata().get("x-request-id").unwrap(), "mine-8");
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "UNKNOWN_POLYTOPE");
    // A stream that fails once it has begun.
    let first = api::StreamSessionRequest::default();
    let requests = with_id(tokio_stream::iter([first]), "mine-9");
    let reply = server.sessions().stream_session(requests).await.unwrap();
    assert_eq!(reply.metadata().get("x-request-id").unwrap(), "mine-9");
    let status = soon(reply.into_inner().next()).await.unwrap().unwrap_err();
    assert_eq!((status.code(), id_of(&status).as_str()), (Code::InvalidArgument, "mine-9"));
}

#[tokio::test]
async fn callers_over_http_are_told_the_id_too() {
    let (_server, door) = with_door(Settings::default()).await;
    let path = "/clearance.v1.ServerService/GetServerInfo";
    let headers = ["content-type: application/json", "x-request-id: Mine-7"];
    let answer = ask(door, &request("POST", path, &headers, b"{}")).await;
    // The client of these tests reads heads in small letters.
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("mine-7")));
    // One that reaches a service, one that does not, and one without a method.
    let mut ids = Vec::new();
    for (method, body) in [("RobotService/GetRobot", "{}"), ("ServerService/GetServerInfo", "{")] {
        let answer = call(door, method, body).await;
        let (id, told) = (answer.header("x-request-id").unwrap(), answer.json());
        let details = told["details"].as_array().unwrap();
        let is_info = |detail: &&Value| detail["type"] == "google.rpc.RequestInfo";
        let info = details.iter().find(is_info).unwrap_or_else(|| panic!("{told}"));
        assert_eq!(info["debug"]["requestId"], id, "{told}");
        ids.push(id.to_owned());
    }
    let answer = call(door, "ServerService/NoSuchMethod", "{}").await;
    ids.push(answer.header("x-request-id").unwrap().to_owned());
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

/// What a server writes to its log while `asks` calls it, line by line.
async fn logged(flags: &[&str], asks: impl AsyncFnOnce(String)) -> Vec<Value> {
    let mut server = Command::new(env!("CARGO_BIN_EXE_clearance"))
        .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
        .args(flags)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let address = first.split(' ').nth(4).unwrap_or_else(|| panic!("{first}")).to_owned();
    asks(format!("http://{address}")).await;
    server.kill().unwrap();
    let lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let lines = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    server.wait().unwrap();
    lines
}

#[tokio::test]
async fn the_log_says_who_called_what_and_of_many_calls_how_many_there_were() {
    let lines = logged(&["--logged-failures-per-second", "1000"], async |address| {
        let mut infos = ServerServiceClient::connect(address.clone()).await.unwrap();
        for _ in 0..200 {
            infos.get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        infos.get_server_info(with_id(api::GetServerInfoRequest {}, "last")).await.unwrap();
        let mut sessions = SessionServiceClient::connect(address).await.unwrap();
        for k in 0..7 {
            let unknown = api::GetSessionRequest { session_id: "x".into(), ..Default::default() };
            sessions.get_session(with_id(unknown, &format!("failed-{k}"))).await.unwrap_err();
        }
        let first = tokio_stream::iter([api::StreamSessionRequest::default()]);
        let reply = sessions.stream_session(with_id(first, "stream")).await.unwrap();
        let status = soon(reply.into_inner().next()).await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    })
    .await;
    let calls: Vec<_> = lines.iter().filter(|line| line["target"] == "clearance::calls").collect();
    assert!(calls.iter().all(|line| line["request_id"].is_string() && line["peer"] == "127.0.0.1"));
    let of = |method: &str| {
        let is_of = |line: &&&Value| line["method"] == format!("clearance.v1.{method}");
        calls.iter().filter(is_of).collect::<Vec<_>>()
    };
    let infos = of("ServerService/GetServerInfo");
    let left_out: u64 = infos.iter().filter_map(|line| line["left_out"].as_u64()).sum();
    assert!((2..20).contains(&infos.len()), "{infos:#?}");
    assert_eq!(infos.len() as u64 + left_out, 201, "{infos:#?}");
    assert_eq!(infos.last().unwrap()["request_id"], "last");
    assert_eq!(infos.last().unwrap()["code"], "OK");
    let failed: Vec<_> =
        of("SessionService/GetSession").iter().map(|line| line["request_id"].clone()).collect();
    assert_eq!(failed, (0..7).map(|k| format!("failed-{k}")).collect::<Vec<_>>());
    let stream = of("SessionService/StreamSession");
    let told: Vec<_> = stream.iter().map(|line| (&line["message"], &line["code"])).collect();
    let told: Vec<_> = told.iter().map(|(a, b)| [a.as_str(), b.as_str()]).collect();
    assert_eq!(
        told,
        [[Some("stream began"), Some("OK")], [Some("stream ended"), Some("INVALID_ARGUMENT")]]
    );
}
