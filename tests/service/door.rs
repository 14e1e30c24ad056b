//! The door inside a process tells what the socket tells.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::server::Server;
use clearance::rpc::door::Door;
use clearance_client::Client;
use clearance_proto as api;
use clearance_runtime::settings::{Limits, Settings};
use prost::Message;
use prost::bytes::Bytes;
use tokio::sync::mpsc;
use tonic::{Code, Status};
use tonic_types::StatusExt;

const COLLISION: &str = "/clearance.v1.QueryService/CheckCollision";
const CONFIGURATIONS: &str = "/clearance.v1.RobotService/StreamConfigurations";
const REGISTER: &str = "/clearance.v1.PolytopeService/RegisterPolytopes";

fn door() -> Door {
    Door::open(Settings::default()).unwrap()
}

fn question(shift: f64) -> Bytes {
    let corners = (0..8).flat_map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1)));
    let corners = api::Points { xyz: corners.collect() };
    let body = |x| api::PlacedBody {
        source: Some(api::placed_body::Source::Vertices(corners.clone())),
        pose: Some(api::Pose {
            translation: Some(api::Vector3 { x, y: 0.0, z: 0.0 }),
            ..Default::default()
        }),
    };
    let options = Some(api::QueryOptions { canonical: true, ..Default::default() });
    let (p, q) = (Some(body(0.0)), Some(body(shift)));
    api::CheckCollisionRequest { p, q, options, ..Default::default() }.encode_to_vec().into()
}

/// What a status says. The bytes of its details have the facts of a reason in any order.
fn details(status: &Status) -> (Code, &str, usize, String) {
    let facts = status.get_details_error_info().map(|info| {
        let sorted: BTreeMap<_, _> = info.metadata.into_iter().collect();
        (info.reason, info.domain, sorted)
    });
    let fields = status.get_details_bad_request();
    let told = format!("{facts:?} {fields:?}");
    (status.code(), status.message(), status.details().len(), told)
}

/// Both ways, by one request.
async fn both(request: Bytes, method: &str) -> [Result<Bytes, Status>; 2] {
    let server = Server::start().await;
    let client = Client::connect(&format!("http://{}", server.address)).await.unwrap();
    let by_socket = client.call_bytes(method, request.clone(), None).await;
    let by_socket = by_socket.map_err(|error| match error {
        clearance_client::Error::Status(status) => *status,
        other => panic!("{other}"),
    });
    [door().call(method, request, None).await, by_socket]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_the_socket() {
    for shift in [0.5, 1.0, 2.0] {
        let [inside, by_socket] = both(question(shift), COLLISION).await;
        let read = |bytes: Result<Bytes, Status>| {
            let mut read = api::CheckCollisionResponse::decode(bytes.unwrap()).unwrap();
            read.cost = None;
            read
        };
        let inside = read(inside);
        assert_eq!(inside, read(by_socket));
        assert!(inside.certificate.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_those_of_the_socket_with_all_their_details() {
    let nothing = Bytes::new();
    let garbage = Bytes::from_static(&[0xff; 9]);
    let no_number = question(f64::NAN);
    let too_long = Bytes::from(vec![0x0a; (4 << 20) + 1]);
    for (request, method, code) in [
        (nothing.clone(), COLLISION, Code::InvalidArgument),
        (garbage, COLLISION, Code::InvalidArgument),
        (no_number, COLLISION, Code::InvalidArgument),
        (too_long, COLLISION, Code::ResourceExhausted),
        (nothing.clone(), "/clearance.v1.QueryService/Nothing", Code::Unimplemented),
        (nothing, "/nothing/Nothing", Code::Unimplemented),
    ] {
        let [inside, by_socket] = both(request, method).await;
        let (inside, by_socket) = (inside.unwrap_err(), by_socket.unwrap_err());
        assert_eq!(details(&inside), details(&by_socket));
        assert_eq!(inside.code(), code, "{method}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_registered_stays_and_time_is_kept() {
    let door = door();
    let points = api::Points { xyz: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0] };
    let spec = api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Vertices(points)),
        ..Default::default()
    };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    let request = Bytes::from(request.encode_to_vec());
    let was_there = async || {
        let reply = door.call(REGISTER, request.clone(), None).await.unwrap();
        let reply = api::RegisterPolytopesResponse::decode(reply).unwrap();
        reply.reports[0].already_registered
    };
    assert!(!was_there().await && was_there().await);
    let late = door.call(COLLISION, question(0.0), Some(Duration::ZERO)).await.unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_tells_one_answer_after_the_other_and_then_how_it_ended() {
    let door = door();
    let (requests, receiver) = mpsc::channel(1);
    let mut reply = door.stream(CONFIGURATIONS, receiver, None).await.unwrap();
    let cell = Some(api::RobotCell::default());
    let check = Some(api::CheckConfigurationsRequest { cell, ..Default::default() });
    let first = api::StreamConfigurationsRequest { check, ..Default::default() };
    requests.send(first.encode_to_vec().into()).await.unwrap();
    let refused = reply.next().await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.get_error_details().bad_request().is_some());
    let (requests, receiver) = mpsc::channel(1);
    let mut reply = door.stream(CONFIGURATIONS, receiver, None).await.unwrap();
    drop(requests);
    assert!(reply.next().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_account_of_memory_is_kept() {
    let limits = Limits { memory_bytes_max: 1 << 20, ..Limits::default() };
    let door = Door::open(Settings { limits, ..Settings::default() }).unwrap();
    let points = api::Points { xyz: vec![0.0; 300_000] };
    let spec = api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Vertices(points)),
        ..Default::default()
    };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    let refused = door.call(REGISTER, request.encode_to_vec().into(), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("memory_bytes_max"), "{}", refused.message());
}
