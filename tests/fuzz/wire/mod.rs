//! Calls of every method with any bytes, against the whole service but for the sockets: layer,
//! codec, door, handlers, streams. Nothing panics, in no thread; every refusal has a reason and,
//! for a bad field, its path; and every reply can be read.

mod enums;
mod interface;
mod numbers;
mod raw;
mod robot_seeds;
mod seeds;
mod tree;

use std::time::Duration;

use api::polytope_service_server::PolytopeServiceServer;
use api::query_service_server::QueryServiceServer;
use api::robot_service_server::RobotServiceServer;
use api::server_service_server::ServerServiceServer;
use api::session_service_server::SessionServiceServer;
use clearance::rpc::services::info::ServerInfo;
use clearance::rpc::services::polytopes::Polytopes;
use clearance::rpc::services::queries::Queries;
use clearance::rpc::services::robots::Robots;
use clearance::rpc::services::sessions::{SessionHost, Sessions};
use clearance::rpc::shared::Shared;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_runtime::latch::Latch;
use clearance_runtime::settings::{Limits, Settings};
use clearance_transport::layer::Surrounded;
use prost::Message;
use raw::Raw;
use tonic::service::Routes;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;
use tower::Layer;

use crate::engine::{Behaviour, Target};

pub(crate) const TARGET: Target =
    Target { name: "wire", seeds: seeds::scripts, reshape: Some(reshape), check };

/// Calls in one script.
const CALLS_MAX: usize = 8;
/// What each call may take.
const TIME: Duration = Duration::from_millis(400);

/// How a method is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Unary,
    /// The messages of the calls that follow each other are one stream.
    Upload,
    /// The same, and so is the reply.
    Stream,
}

/// Reads a reply: its text, and the statuses of its items.
type Reader = fn(&[u8]) -> (String, Vec<api::ItemStatus>);

fn plain<M: Message + Default + std::fmt::Debug>(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    (format!("{:?}", M::decode(bytes).expect("our own reply")), Vec::new())
}

fn of_report(report: api::FrameReport) -> impl Iterator<Item = api::ItemStatus> {
    report.status.into_iter().chain(report.refused_items)
}

fn batch(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    let reply = api::BatchQueryResponse::decode(bytes).expect("our own reply");
    let text = format!("{reply:?}");
    let status = |answer: api::BatchQueryAnswer| {
        let Some(api::batch_query_answer::Answer::Status(status)) = answer.answer else {
            return None;
        };
        Some(status)
    };
    (text, reply.answers.into_iter().filter_map(status).collect())
}

fn step(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    let reply = api::StepSessionResponse::decode(bytes).expect("our own reply");
    (format!("{reply:?}"), reply.reports.into_iter().flat_map(of_report).collect())
}

fn stream(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    let reply = api::StreamSessionResponse::decode(bytes).expect("our own reply");
    (format!("{reply:?}"), reply.report.into_iter().flat_map(|report| of_report(*report)).collect())
}

fn scene(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    let reply = api::QuerySceneResponse::decode(bytes).expect("our own reply");
    (format!("{reply:?}"), reply.answers.into_iter().filter_map(|answer| answer.status).collect())
}

/// A reply about configurations or edges: `refused` are those without an answer.
fn with_refused<M: Message + Default + std::fmt::Debug>(
    bytes: &[u8],
    refused: impl Fn(M) -> Vec<api::RefusedConfiguration>,
) -> (String, Vec<api::ItemStatus>) {
    let reply = M::decode(bytes).expect("our own reply");
    let text = format!("{reply:?}");
    (text, refused(reply).into_iter().filter_map(|refused| refused.status).collect())
}

fn configurations(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    with_refused(bytes, |reply: api::CheckConfigurationsResponse| reply.refused)
}

fn streamed_configurations(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    with_refused(bytes, |reply: api::StreamConfigurationsResponse| {
        reply.answer.map_or(Vec::new(), |answer| answer.refused)
    })
}

fn edges(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    with_refused(bytes, |reply: api::CheckEdgesResponse| reply.refused)
}

fn streamed_edges(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    with_refused(bytes, |reply: api::StreamEdgesResponse| {
        reply.answer.map_or(Vec::new(), |answer| answer.refused)
    })
}

fn path(bytes: &[u8]) -> (String, Vec<api::ItemStatus>) {
    with_refused(bytes, |reply: api::CheckPathResponse| {
        reply.edges.map_or(Vec::new(), |edges| edges.refused)
    })
}

const METHODS: &[(&str, Shape, Reader)] = &[
    ("PolytopeService/RegisterPolytopes", Shape::Unary, plain::<api::RegisterPolytopesResponse>),
    ("PolytopeService/UploadPolytope", Shape::Upload, plain::<api::UploadPolytopeResponse>),
    ("PolytopeService/GetPolytope", Shape::Unary, plain::<api::GetPolytopeResponse>),
    ("PolytopeService/ListPolytopes", Shape::Unary, plain::<api::ListPolytopesResponse>),
    ("PolytopeService/DeletePolytope", Shape::Unary, plain::<api::DeletePolytopeResponse>),
    (
        "PolytopeService/FindMissingPolytopes",
        Shape::Unary,
        plain::<api::FindMissingPolytopesResponse>,
    ),
    ("QueryService/CheckCollision", Shape::Unary, plain::<api::CheckCollisionResponse>),
    ("QueryService/MeasureDistance", Shape::Unary, plain::<api::MeasureDistanceResponse>),
    ("QueryService/MeasureDistanceAlong", Shape::Unary, plain::<api::MeasureDistanceAlongResponse>),
    ("QueryService/MeasurePenetration", Shape::Unary, plain::<api::MeasurePenetrationResponse>),
    ("QueryService/FindFirstContact", Shape::Unary, plain::<api::FindFirstContactResponse>),
    ("QueryService/BatchQuery", Shape::Unary, batch),
    ("QueryService/VerifyCertificate", Shape::Unary, plain::<api::VerifyCertificateResponse>),
    ("ServerService/GetServerInfo", Shape::Unary, plain::<api::GetServerInfoResponse>),
    ("SessionService/OpenSession", Shape::Unary, plain::<api::OpenSessionResponse>),
    ("SessionService/StreamSession", Shape::Stream, stream),
    ("SessionService/StepSession", Shape::Unary, step),
    ("SessionService/GetSession", Shape::Unary, plain::<api::GetSessionResponse>),
    ("SessionService/ListSessions", Shape::Unary, plain::<api::ListSessionsResponse>),
    ("SessionService/CloseSession", Shape::Unary, plain::<api::CloseSessionResponse>),
    ("ServerService/GetServerMetrics", Shape::Unary, plain::<api::GetServerMetricsResponse>),
    ("QueryService/FindFirstCollision", Shape::Unary, plain::<api::FindFirstCollisionResponse>),
    ("SessionService/QueryScene", Shape::Unary, scene),
    ("RobotService/RegisterRobot", Shape::Unary, plain::<api::RegisterRobotResponse>),
    ("RobotService/GetRobot", Shape::Unary, plain::<api::GetRobotResponse>),
    ("RobotService/ListRobots", Shape::Unary, plain::<api::ListRobotsResponse>),
    ("RobotService/DeleteRobot", Shape::Unary, plain::<api::DeleteRobotResponse>),
    ("RobotService/CheckConfigurations", Shape::Unary, configurations),
    ("RobotService/StreamConfigurations", Shape::Stream, streamed_configurations),
    ("RobotService/CheckEdges", Shape::Unary, edges),
    ("RobotService/CheckPath", Shape::Unary, path),
    ("RobotService/FindMissingRobots", Shape::Unary, plain::<api::FindMissingRobotsResponse>),
    ("RobotService/StreamEdges", Shape::Stream, streamed_edges),
    ("RobotService/UploadRobot", Shape::Upload, plain::<api::UploadRobotResponse>),
    ("RobotService/SuggestAllowedPairs", Shape::Unary, plain::<api::SuggestAllowedPairsResponse>),
];

fn method(name: &str) -> u8 {
    let at = METHODS.iter().position(|(path, ..)| path.ends_with(name));
    u8::try_from(at.expect("a method of the service")).expect("few methods")
}

/// A method and a message.
type Call = (u8, Vec<u8>);

/// An input is calls: a byte for the method, two for the length, the message.
fn read(mut input: &[u8]) -> Vec<Call> {
    let mut calls = Vec::new();
    while let [name, low, high, rest @ ..] = input
        && calls.len() < CALLS_MAX
    {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (message, after) = rest.split_at(length);
        calls.push((*name % METHODS.len() as u8, message.to_vec()));
        input = after;
    }
    calls
}

fn write(calls: &[Call]) -> Vec<u8> {
    let mut input = Vec::new();
    for (name, message) in calls {
        let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
        input.push(*name);
        input.extend(length.to_le_bytes());
        input.extend(&message[..usize::from(length)]);
    }
    input
}

/// Changes one message as a message.
fn reshape(input: &mut Vec<u8>, random: &mut Random) {
    let mut calls = read(input);
    if calls.is_empty() {
        return;
    }
    let at = random.below(calls.len() as u64) as usize;
    match random.below(16) {
        0 => drop(calls.remove(at)),
        1 => calls.insert(at, calls[at].clone()),
        _ => calls[at].1 = tree::changed(&calls[at].1, random),
    }
    *input = write(&calls);
}

type Client = tonic::client::Grpc<Surrounded<Routes>>;

fn client() -> Client {
    let limits = Limits { jobs_max: 4, ..Limits::default() };
    let settings =
        Settings { limits, compute_threads: 1, open_sessions: true, ..Settings::default() };
    let draining = Latch::new().1;
    let shared = Shared::new(settings, draining).expect("a pool of one thread");
    let host = SessionHost::new(shared.clone());
    let info = ServerInfo { shared: shared.clone(), sessions: host.registry.clone() };
    let routes = Routes::new(PolytopeServiceServer::new(Polytopes(shared.clone())))
        .add_service(QueryServiceServer::new(Queries(shared.clone())))
        .add_service(RobotServiceServer::new(Robots(host.clone())))
        .add_service(ServerServiceServer::new(info))
        .add_service(SessionServiceServer::new(Sessions(host.clone())));
    tonic::client::Grpc::new(shared.surround().layer(routes))
}

fn check(input: &[u8]) -> Behaviour {
    let calls = read(input);
    let mut behaviour = Behaviour::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut client = client();
        let together =
            |a: &Call, b: &Call| a.0 == b.0 && METHODS[usize::from(a.0)].1 != Shape::Unary;
        for run in calls.chunk_by(together) {
            let outcome = tokio::time::timeout(Duration::from_secs(20), call(&mut client, run));
            let outcome = outcome.await.expect("a reply within the deadline");
            let code = match outcome {
                Ok(items) => items,
                Err(status) => {
                    check_status(&status);
                    status.code() as u64
                }
            };
            // The last call alone: every way that leads there would be too many.
            behaviour = Behaviour::default();
            behaviour.note(run[0].0.into(), METHODS.len() as u64);
            behaviour.note(code, 20);
        }
    });
    behaviour
}

/// Makes the call; the code of the last item that was refused, if any.
async fn call(client: &mut Client, run: &[Call]) -> Result<u64, Status> {
    let (path, shape, reader) = METHODS[usize::from(run[0].0)];
    let path = format!("/clearance.v1.{path}").parse().expect("a path");
    client.ready().await.expect("always ready");
    let messages: Vec<Vec<u8>> = run.iter().map(|(_, message)| message.clone()).collect();
    let mut code = 0;
    if shape == Shape::Unary {
        let reply = client.unary(timed(messages[0].clone()), path, Raw).await?;
        code = check_reply(reader, reply.get_ref());
    } else {
        let messages = timed(tokio_stream::iter(messages));
        if shape == Shape::Upload {
            let reply = client.client_streaming(messages, path, Raw).await?;
            code = check_reply(reader, reply.get_ref());
        } else {
            let mut replies = client.streaming(messages, path, Raw).await?.into_inner();
            while let Some(reply) = replies.message().await? {
                code = code.max(check_reply(reader, &reply));
            }
        }
    }
    Ok(code)
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(TIME);
    request
}

fn check_reply(reader: Reader, reply: &[u8]) -> u64 {
    let (text, items) = reader(reply);
    assert!(!text.contains(": NaN"), "{text}");
    for item in &items {
        let code = Code::from(item.code);
        assert!(!is_ours(code), "{item:?}");
        assert!(item.reason() != api::ErrorReason::Unspecified, "{item:?}");
        assert!(item.reason() != api::ErrorReason::BadField || !item.field.is_empty(), "{item:?}");
    }
    items.iter().map(|item| u64::try_from(item.code).expect("a code")).max().unwrap_or(0)
}

fn check_status(status: &Status) {
    assert!(!is_ours(status.code()), "{status:?}");
    let details = status.get_error_details();
    let reason = details.error_info().map(|info| info.reason.as_str());
    // The client's own half of the deadline says so without details.
    let without = matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled);
    assert!(without || reason.is_some_and(|reason| !reason.is_empty()), "{status:?}");
    if reason == Some("BAD_FIELD") {
        let fields = details.bad_request().map(|bad| bad.field_violations.clone());
        let named =
            |list: Vec<_>| list.iter().any(|v: &tonic_types::FieldViolation| !v.field.is_empty());
        assert!(fields.is_some_and(named), "{status:?}");
    }
}

/// Codes that say that the server is broken.
fn is_ours(code: Code) -> bool {
    matches!(code, Code::Internal | Code::Unknown | Code::DataLoss)
}
