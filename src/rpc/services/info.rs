//! `ServerService`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tonic::{Request, Response, Status};

use super::sessions::Session;
use crate::rpc::shared::Shared;
use clearance_bodies::FACE_METHODS;
use clearance_geometry::{contact_time, distance, penetration, separation};
use clearance_proto as api;
use clearance_runtime::memory::{MemoryKind, resident_bytes};
use clearance_runtime::metrics::{FRAME_TIMES, FrameMetrics, QuestionKind, QuestionMetrics};
use clearance_runtime::sessions::{Registry, Summary};
use clearance_runtime::settings::Limit;
use clearance_wire::convert::options::{MethodRow, duration_to_wire};

/// Serves `ServerService`: what the server is, may take and has counted.
#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// What it tells about.
    pub shared: Shared,
    /// The open sessions.
    pub sessions: Arc<Registry<Session>>,
}

#[tonic::async_trait]
impl api::server_service_server::ServerService for ServerInfo {
    async fn get_server_info(
        &self,
        _request: Request<api::GetServerInfoRequest>,
    ) -> Result<Response<api::GetServerInfoResponse>, Status> {
        let Self { shared, sessions } = self;
        let mut limits = shared.limits().rows();
        limits.sort_unstable_by_key(|limit| limit.name);
        let (open_sessions, session_bytes) = sessions.of_caller();
        Ok(Response::new(api::GetServerInfoResponse {
            build: Some(build()),
            start_time: Some(shared.start_time.into()),
            draining: shared.is_leaving(),
            server_address: shared.settings.advertise.clone(),
            methods: infos(separation::METHODS),
            distance_methods: infos(distance::METHODS),
            along_methods: infos(penetration::METHODS),
            first_contact_methods: infos(contact_time::METHODS),
            polyhedron_methods: infos(FACE_METHODS),
            limits: limits.iter().map(limit_to_wire).collect(),
            usage: Some(api::Usage {
                polytopes: shared.store().count(),
                polytope_bytes: shared.store().memory_bytes(),
                sessions: open_sessions,
                jobs: shared.compute.jobs_of_caller() as u64,
                session_bytes,
            }),
        }))
    }

    async fn get_server_metrics(
        &self,
        _request: Request<api::GetServerMetricsRequest>,
    ) -> Result<Response<api::GetServerMetricsResponse>, Status> {
        let metrics = &self.shared.metrics;
        let questions = QuestionKind::ALL.iter().zip(&metrics.by_question);
        Ok(Response::new(api::GetServerMetricsResponse {
            calls: metrics.calls.load(Ordering::Relaxed),
            failures: metrics.failures.load(Ordering::Relaxed),
            questions: questions
                .map(|(&asked, counters)| question_to_wire(asked, counters))
                .collect(),
            memory: Some(memory_to_wire(&self.shared)),
            frames: Some(frames_to_wire(&metrics.frames, &self.sessions.sizes())),
        }))
    }
}

fn memory_to_wire(shared: &Shared) -> api::MemoryUse {
    let memory_budget = &shared.memory_budget;
    let kind = |&kind: &MemoryKind| api::MemoryKind {
        kind: kind.name().to_owned(),
        bytes: memory_budget.used(kind),
    };
    api::MemoryUse {
        limit_bytes: shared.limits().memory_bytes_max,
        used_bytes: memory_budget.total(),
        resident_bytes: resident_bytes().unwrap_or(0),
        refusals: memory_budget.refusals(),
        kinds: MemoryKind::ALL.iter().map(kind).collect(),
    }
}

fn frames_to_wire(counters: &FrameMetrics, open: &Summary) -> api::FrameMetrics {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let bounds = FRAME_TIMES.iter().map(|time| Some(duration_to_wire(*time))).chain([None]);
    let bucket =
        |(at_most, count): (_, &AtomicU64)| api::FrameTimes { at_most, frames: read(count) };
    api::FrameMetrics {
        frames: read(&counters.frames),
        bodies_moved: read(&counters.bodies_moved),
        pairs_looked_at: read(&counters.pairs_looked_at),
        pairs_asleep: read(&counters.pairs_asleep),
        pairs_expired: read(&counters.pairs_expired),
        elapsed: Some(duration_to_wire(Duration::from_nanos(read(&counters.nanoseconds)))),
        times: bounds.zip(&counters.by_time).map(bucket).collect(),
        open_bodies: open.bodies,
        open_pairs: open.pairs_known,
        open_pairs_asleep: open.pairs_asleep,
        open_body_bytes: open.body_bytes,
        open_pair_bytes: open.pair_bytes,
    }
}

fn infos<M: MethodRow>(table: &[M]) -> Vec<api::MethodInfo> {
    table.iter().map(MethodRow::info).collect()
}

fn question_to_wire(asked: QuestionKind, counters: &QuestionMetrics) -> api::QuestionMetrics {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    api::QuestionMetrics {
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
pub fn build() -> api::Build {
    api::Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("CLEARANCE_COMMIT").unwrap_or_default().to_owned(),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        target: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

fn limit_to_wire(limit: &Limit) -> api::Limit {
    api::Limit {
        name: limit.name.to_owned(),
        value: limit.value,
        unit: limit.unit.to_owned(),
        code: limit.breach.name().to_owned(),
        description: limit.description.trim().to_owned(),
    }
}
