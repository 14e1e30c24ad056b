//! `ServerService`.

use tonic::{Request, Response, Status};

use super::pb;
use super::shared::Shared;
use crate::geometry::{distance, separation};
use crate::runtime::settings::Limit;

/// The service.
#[derive(Clone, Debug)]
pub struct ServerInfo(pub Shared);

#[tonic::async_trait]
impl pb::server_service_server::ServerService for ServerInfo {
    async fn get_server_info(
        &self,
        _request: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        let shared = &self.0;
        let mut limits = shared.settings.limits.rows();
        limits.sort_unstable_by_key(|limit| limit.name);
        let method = |name: &str| pb::MethodInfo { name: name.to_owned() };
        Ok(Response::new(pb::GetServerInfoResponse {
            build: Some(build()),
            start_time: Some(shared.start_time.into()),
            draining: shared.is_draining(),
            methods: separation::METHODS.iter().map(|row| method(row.name)).collect(),
            distance_methods: distance::METHODS.iter().map(|row| method(row.name)).collect(),
            limits: limits.iter().map(limit_to_wire).collect(),
            usage: Some(pb::Usage {
                polytopes: shared.store.count(),
                polytope_bytes: shared.store.memory_bytes(),
                sessions: shared.sessions.count(),
                jobs: shared.compute.jobs() as u64,
            }),
        }))
    }
}

/// The build of this program.
pub fn build() -> pb::Build {
    pb::Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("CLEARANCE_COMMIT").unwrap_or_default().to_owned(),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        target: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

fn limit_to_wire(limit: &Limit) -> pb::Limit {
    pb::Limit {
        name: limit.name.to_owned(),
        value: limit.value,
        unit: limit.unit.to_owned(),
        code: limit.breach.name().to_owned(),
        description: limit.description.trim().to_owned(),
    }
}
