//! The server, put together: listener and shutdown are passed in, so that tests bind port 0.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::transport::server::Router;
use tonic_health::ServingStatus;
use tower::layer::util::{Identity, Stack};

use crate::rpc::api;
use crate::rpc::services::info::ServerInfo;
use crate::rpc::services::polytopes::Polytopes;
use crate::rpc::services::queries::Queries;
use crate::rpc::services::robots::{self, Robots};
use crate::rpc::services::sessions::{SessionHost, Sessions, sweep};
use crate::rpc::shared::Shared;
use crate::rpc::transport::connection::{Admission, Connection, accept};
use crate::rpc::transport::layer::Surround;
use crate::runtime::memory::tidy;
use crate::runtime::settings::Settings;

/// Why the server ended, or could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The compute pool could not be made.
    #[error("cannot start the compute pool: {0}")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// The descriptors cannot be served.
    #[error("cannot serve the descriptors: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// The transport failed.
    #[error("the transport failed: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// What surrounds every call, as a type.
type Surroundings = Stack<Surround, Identity>;

/// Accepted connections.
type Incoming = ReceiverStream<io::Result<Connection>>;

/// Serves until `shutdown` completes and then until what is running has ended, or the time for
/// draining is over.
pub async fn serve(
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
    settings: Settings,
) -> Result<(), ServeError> {
    let (drain, draining) = watch::channel(false);
    // Whoever reaches the loopback interface is on this machine already.
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let mut shared = Shared::new(settings, draining.clone())?;
    shared.leaves_open |= is_local;
    let limits = shared.settings.limits.clone();
    let (health, health_service) = tonic_health::server::health_reporter();
    set_health(&health, ServingStatus::Serving).await;
    let sessions = SessionHost::new(shared.clone());
    let router = services(&shared, &sessions)?.add_service(health_service);
    let sweeping = [
        tokio::spawn(sweep(sessions.registry)),
        tokio::spawn(robots::sweep(shared.clone())),
        tokio::spawn(tidy(shared.account.clone())),
    ];
    let (accepting, incoming) = accepting(listener, &shared);
    let signal = turned_true(draining);
    let serving = router.serve_with_incoming_shutdown(incoming, signal);
    tokio::pin!(serving);
    tokio::select! {
        result = &mut serving => return Ok(result?),
        () = shutdown => {}
    }
    // First the balancers learn of it, then the streams and new calls, then the listener closes.
    tracing::info!("draining");
    set_health(&health, ServingStatus::NotServing).await;
    drain.send_replace(true);
    accepting.abort();
    sweeping.iter().for_each(JoinHandle::abort);
    let time = Duration::from_secs(limits.drain_seconds_max);
    match tokio::time::timeout(time, serving).await {
        Ok(result) => {
            tracing::info!("drained");
            Ok(result?)
        }
        Err(_) => {
            tracing::warn!("the time for draining is over; what still runs is cut off");
            Ok(())
        }
    }
}

/// Connections as they come, and what accepts them.
fn accepting(listener: TcpListener, shared: &Shared) -> (JoinHandle<()>, Incoming) {
    let (taker, incoming) = mpsc::channel(1);
    let limits = shared.limits();
    let admission = Admission {
        connections_max: limits.connections_max,
        handshake: Duration::from_secs(limits.handshake_seconds_max),
        account: shared.account.clone(),
    };
    let accepting = tokio::spawn(accept(listener, admission, taker));
    (accepting, ReceiverStream::new(incoming))
}

/// Every service but health, in its surroundings.
fn services(shared: &Shared, host: &SessionHost) -> Result<Router<Surroundings>, ServeError> {
    let bytes_max = room(shared.settings.limits.message_bytes_max);
    let polytopes =
        api::polytope_service_server::PolytopeServiceServer::new(Polytopes(shared.clone()));
    let queries = api::query_service_server::QueryServiceServer::new(Queries(shared.clone()));
    let robots = api::robot_service_server::RobotServiceServer::new(Robots(shared.clone()));
    let sessions = api::session_service_server::SessionServiceServer::new(Sessions(host.clone()));
    let info = api::server_service_server::ServerServiceServer::new(ServerInfo {
        shared: shared.clone(),
        sessions: host.registry.clone(),
    });
    Ok(server(shared)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .add_service(info.max_decoding_message_size(bytes_max))
        .add_service(polytopes.max_decoding_message_size(bytes_max))
        .add_service(queries.max_decoding_message_size(bytes_max))
        .add_service(robots.max_decoding_message_size(bytes_max))
        .add_service(sessions.max_decoding_message_size(bytes_max)))
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(api::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        // Both versions list both.
        .include_reflection_service(false)
        .register_encoded_file_descriptor_set(tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET)
}

fn server(shared: &Shared) -> Server<Surroundings> {
    let limits = &shared.settings.limits;
    let small = |limit: u64| u32::try_from(limit).unwrap_or(u32::MAX);
    let keepalive = Duration::from_secs(limits.keepalive_seconds);
    Server::builder()
        .max_concurrent_streams(small(limits.streams_per_connection_max))
        // HTTP/2 itself would answer 431, which says nothing to gRPC: up to this the layer refuses.
        .http2_max_header_list_size(small(limits.header_bytes_max.saturating_mul(4)))
        // A client that gives up all its calls at once is no attacker and keeps its connection.
        .http2_max_pending_accept_reset_streams(Some(room(limits.streams_per_connection_max)))
        .http2_keepalive_interval(Some(keepalive).filter(|interval| !interval.is_zero()))
        .http2_keepalive_timeout(Some(Duration::from_secs(limits.keepalive_timeout_seconds)))
        .layer(shared.surround())
}

/// A limit as a size in memory.
fn room(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

async fn turned_true(mut flag: watch::Receiver<bool>) {
    // When the sender is gone, so is the server.
    let _ = flag.wait_for(|is_true| *is_true).await;
}

/// The services whose health is told, and the whole ("").
const SERVICES: &[&str] = &[
    "",
    "clearance.v1.PolytopeService",
    "clearance.v1.QueryService",
    "clearance.v1.RobotService",
    "clearance.v1.ServerService",
    "clearance.v1.SessionService",
];

async fn set_health(health: &tonic_health::server::HealthReporter, status: ServingStatus) {
    for service in SERVICES {
        health.set_service_status(service, status).await;
    }
}
