//! All services in one set of routes, which any transport can put calls to.

use tonic::service::Routes;
use tonic_health::pb::health_server::HealthServer;

use crate::rpc::services::health::Health;
use crate::rpc::services::info::ServerInfo;
use crate::rpc::services::polytopes::Polytopes;
use crate::rpc::services::queries::Queries;
use crate::rpc::services::robots::Robots;
use crate::rpc::services::sessions::{SessionHost, Sessions};
use crate::rpc::shared::Shared;
use clearance_proto as api;

/// Puts every service into one set of routes.
pub fn services(
    shared: &Shared,
    host: &SessionHost,
) -> Result<Routes, tonic_reflection::server::Error> {
    let bytes_max = saturating_usize(shared.settings.limits.message_bytes_max);
    let polytopes =
        api::polytope_service_server::PolytopeServiceServer::new(Polytopes(shared.clone()));
    let queries = api::query_service_server::QueryServiceServer::new(Queries(shared.clone()));
    let robots = api::robot_service_server::RobotServiceServer::new(Robots(host.clone()));
    let sessions = api::session_service_server::SessionServiceServer::new(Sessions(host.clone()));
    let info = api::server_service_server::ServerServiceServer::new(ServerInfo {
        shared: shared.clone(),
        sessions: host.registry.clone(),
    });
    let health = HealthServer::new(Health::new(shared.leaving.clone(), shared.draining.clone()));
    Ok(Routes::new(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .add_service(info.max_decoding_message_size(bytes_max))
        .add_service(polytopes.max_decoding_message_size(bytes_max))
        .add_service(queries.max_decoding_message_size(bytes_max))
        .add_service(robots.max_decoding_message_size(bytes_max))
        .add_service(sessions.max_decoding_message_size(bytes_max))
        .add_service(health)
        .prepare())
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

/// A limit as a size in memory; as large as there is where it is larger.
fn saturating_usize(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
