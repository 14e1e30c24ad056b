//! `grpc.health.v1.Health`: serving until the server drains, or is about to.

use std::pin::Pin;

use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_server};

use clearance_runtime::latch::Latch;
use clearance_wire::status::Failure;

/// The services whose health is told, and the whole ("").
const SERVICES: &[&str] = &[
    "",
    "clearance.v1.PolytopeService",
    "clearance.v1.QueryService",
    "clearance.v1.RobotService",
    "clearance.v1.ServerService",
    "clearance.v1.SessionService",
];

/// The service `grpc.health.v1.Health`.
#[derive(Clone, Debug)]
pub struct Health {
    leaving: Latch,
    draining: Latch,
}

type HealthReply = Result<HealthCheckResponse, Status>;

impl Health {
    /// Serving until the server is `leaving`; watches end when it drains.
    pub fn new(leaving: Latch, draining: Latch) -> Self {
        Self { leaving, draining }
    }

    /// How this service is; none: there is none of this name.
    fn status(&self, service: &str) -> Option<ServingStatus> {
        let is_known = SERVICES.contains(&service);
        let leaves = self.leaving.is_set();
        let status = if leaves { ServingStatus::NotServing } else { ServingStatus::Serving };
        is_known.then_some(status)
    }
}

fn reply(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl health_server::Health for Health {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let status = self.status(&request.into_inner().service);
        let unknown = || Status::not_found("service not registered");
        Ok(Response::new(reply(status.ok_or_else(unknown)?)))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = HealthReply> + Send>>;

    /// A name that is not known is told as such, and may become known: of this server none does,
    /// and the stream waits (health/v1/health.proto of gRPC). A server that is about to drain says
    /// so, and ends the stream when it does, which would hold it back otherwise.
    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let (health, service) = (self.clone(), request.into_inner().service);
        let status = move || health.status(&service).unwrap_or(ServingStatus::ServiceUnknown);
        let (leaving, draining) = (self.leaving.clone(), self.draining.clone());
        let (replies, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let told = status();
            // A watcher that is gone is noticed below.
            let _ = replies.send(Ok(reply(told))).await;
            tokio::select! {
                () = leaving.until_set() => {}
                () = replies.closed() => return,
            }
            if status() != told {
                let _ = replies.send(Ok(reply(status()))).await;
            }
            tokio::select! {
                () = draining.until_set() => {}
                () = replies.closed() => return,
            }
            let _ = replies.send(Err(Failure::Draining.into())).await;
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}
