//! `ServerService`.

use std::sync::atomic::{AtomicU64, Ordering};

use tonic::{Request, Response, Status};

use super::pb;
use super::shared::Shared;
use crate::geometry::contact_time::polyhedra;
use crate::geometry::{contact_time, distance, penetration, separation};
use crate::rpc::convert::options::Row;
use crate::runtime::metrics::{Asked, QuestionMetrics};
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
        Ok(Response::new(pb::GetServerInfoResponse {
            build: Some(build()),
            start_time: Some(shared.start_time.into()),
            draining: shared.is_draining(),
            methods: infos(separation::METHODS),
            distance_methods: infos(distance::METHODS),
            along_methods: infos(penetration::METHODS),
            first_contact_methods: infos(contact_time::METHODS),
            polyhedron_methods: infos(polyhedra::METHODS),
            limits: limits.iter().map(limit_to_wire).collect(),
            usage: Some(pb::Usage {
                polytopes: shared.store.count(),
                polytope_bytes: shared.store.memory_bytes(),
                sessions: shared.sessions.count(),
                jobs: shared.compute.jobs() as u64,
                session_bytes: shared.sessions.bytes(),
            }),
        }))
    }

    async fn get_server_metrics(
        &self,
        _request: Request<pb::GetServerMetricsRequest>,
    ) -> Result<Response<pb::GetServerMetricsResponse>, Status> {
        let metrics = &self.0.metrics;
        let questions = Asked::ALL.iter().zip(&metrics.by_question);
        Ok(Response::new(pb::GetServerMetricsResponse {
            calls: metrics.calls.load(Ordering::Relaxed),
            failures: metrics.failures.load(Ordering::Relaxed),
            questions: questions
                .map(|(&asked, counters)| question_to_wire(asked, counters))
                .collect(),
        }))
    }
}

fn infos<M: Row>(table: &[M]) -> Vec<pb::MethodInfo> {
    table.iter().map(Row::info).collect()
}

fn question_to_wire(asked: Asked, counters: &QuestionMetrics) -> pb::QuestionMetrics {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    pb::QuestionMetrics {
        question: asked.name().to_owned(),
        answered: read(&counters.answered),
        stopped: read(&counters.stopped),
        refused: read(&counters.refused),
        queries: read(&counters.queries),
        exact_stages: read(&counters.exact_stages),
        witness_hits: read(&counters.witness_hits),
        steps: read(&counters.steps),
        supports: read(&counters.supports),
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
