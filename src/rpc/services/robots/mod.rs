//! `RobotService`.

mod check;
mod chunks;
mod edges;
mod stream;

use std::time::Duration;

use tonic::{Request, Response, Status, Streaming};

use crate::rpc::api;
use crate::rpc::convert::body::hull_bytes;
use crate::rpc::convert::paging::page_size;
use crate::rpc::convert::robots::description::describe;
use crate::rpc::convert::robots::registration::AskedRobot;
use crate::rpc::path::Path;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::rpc::transport::intake::Intake;
use crate::rpc::transport::timing::time_left;
use crate::runtime::compute::{JobSize, Refused};
use crate::runtime::deadline::StopGuard;
use crate::runtime::memory::{MemoryKind, Purse};

/// The service.
#[derive(Clone, Debug)]
pub struct Robots(pub Shared);

/// What building a robot takes for each byte of its files, generously.
const BYTE_TIME: Duration = Duration::from_nanos(100);

/// Bytes of a file for each point that the hulls of its parts are built of: a triangle of a binary
/// STL has three in fifty bytes.
const POINT_BYTES: usize = 16;

/// Between two looks for cells that nobody asks for any more. Their time is in seconds, so they may
/// stay this much longer.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Forgets such cells, for as long as it runs.
pub async fn sweep(shared: Shared) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        shared.cells.expire(shared.clock.now(), shared.limits());
    }
}

/// On whose behalf questions are answered.
#[derive(Clone, Copy, Debug)]
struct Caller<'a> {
    shared: &'a Shared,
    /// Pays for the cell, the work and the answer.
    purse: &'a Purse,
    /// What was received.
    intake: &'a Intake,
    /// Says when to stop.
    guard: &'a StopGuard,
    /// Whether it waits for the pool however many do: a stream, which holds back its own client.
    is_stream: bool,
}

impl Caller<'_> {
    /// Does `job` in the compute pool.
    async fn run<R, F>(&self, estimate: Duration, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let (compute, load) = (&self.shared.compute, JobSize::of(self.intake.extent(), estimate));
        if self.is_stream {
            compute.run_when_free(load, job).await
        } else {
            compute.run(load, job).await
        }
    }
}

#[tonic::async_trait]
impl api::robot_service_server::RobotService for Robots {
    type StreamConfigurationsStream = stream::Answers;

    async fn register_robot(
        &self,
        request: Request<api::RegisterRobotRequest>,
    ) -> Result<Response<api::RegisterRobotResponse>, Status> {
        let shared = &self.0;
        let guard = StopGuard::after(Some(time_left(shared.limits(), request.metadata(), None)?));
        let intake = Intake::of(&request);
        let (purse, extent) = (intake.purse().clone(), intake.extent());
        let asked = AskedRobot::convert(request.into_inner(), &shared.catalogue())?;
        let (estimate, validate_only) = (BYTE_TIME * size(asked.size()), asked.validate_only());
        let work = purse.reserve(MemoryKind::Work, hull_bytes(asked.size() / POINT_BYTES));
        let work = work.map_err(Failure::from)?;
        let (settings, stop) = (shared.settings.clone(), guard.flag());
        let building = shared.compute.run(JobSize::of(extent, estimate), move || {
            let robot = asked.build(&settings.limits, &stop);
            drop(work);
            robot
        });
        let robot = building.await.map_err(Failure::from)??;
        if validate_only {
            let already_registered = shared.robots.get(&robot.id).is_some();
            let robot = Some(describe(&robot));
            return Ok(Response::new(api::RegisterRobotResponse { robot, already_registered }));
        }
        shared.refuse_while_draining()?;
        let registered = shared.robots.register(robot, &purse, shared.limits());
        let (robot, already_registered) =
            registered.map_err(|limit| Failure::from(limit.reached()))?;
        let robot = Some(describe(&robot));
        Ok(Response::new(api::RegisterRobotResponse { robot, already_registered }))
    }

    async fn get_robot(
        &self,
        request: Request<api::GetRobotRequest>,
    ) -> Result<Response<api::GetRobotResponse>, Status> {
        let id = request.into_inner().id;
        let robot = self.0.robots.get(&id).ok_or_else(|| unknown("id", &id))?;
        Ok(Response::new(api::GetRobotResponse { robot: Some(describe(&robot)) }))
    }

    async fn list_robots(
        &self,
        request: Request<api::ListRobotsRequest>,
    ) -> Result<Response<api::ListRobotsResponse>, Status> {
        let request = request.into_inner();
        let size = page_size(self.0.limits(), request.page_size)?;
        let token = request.page_token.as_str();
        if !token.is_empty() && !token.starts_with("r1-") {
            let bad = Path::ROOT.field("page_token").bad("is not one that this server gave");
            return Err(bad.into());
        }
        let (page, more) = self.0.robots.page(token, size);
        let last = page.last().filter(|_| more);
        Ok(Response::new(api::ListRobotsResponse {
            next_page_token: last.map_or_else(String::new, |robot| robot.id.clone()),
            robots: page.iter().map(|robot| describe(robot)).collect(),
            total_size: i32::try_from(self.0.robots.count()).unwrap_or(i32::MAX),
        }))
    }

    async fn delete_robot(
        &self,
        request: Request<api::DeleteRobotRequest>,
    ) -> Result<Response<api::DeleteRobotResponse>, Status> {
        let api::DeleteRobotRequest { id, allow_missing } = request.into_inner();
        if !self.0.robots.delete(&id) && !allow_missing {
            return Err(unknown("id", &id).into());
        }
        Ok(Response::new(api::DeleteRobotResponse {}))
    }

    async fn check_configurations(
        &self,
        request: Request<api::CheckConfigurationsRequest>,
    ) -> Result<Response<api::CheckConfigurationsResponse>, Status> {
        let guard = StopGuard::after(Some(time_left(self.0.limits(), request.metadata(), None)?));
        let intake = &Intake::of(&request);
        let caller = Caller {
            shared: &self.0,
            purse: intake.purse(),
            intake,
            guard: &guard,
            is_stream: false,
        };
        Ok(Response::new(check::once(caller, request.into_inner()).await?))
    }

    async fn check_edges(
        &self,
        request: Request<api::CheckEdgesRequest>,
    ) -> Result<Response<api::CheckEdgesResponse>, Status> {
        let guard = StopGuard::after(Some(time_left(self.0.limits(), request.metadata(), None)?));
        let intake = &Intake::of(&request);
        let caller = Caller {
            shared: &self.0,
            purse: intake.purse(),
            intake,
            guard: &guard,
            is_stream: false,
        };
        Ok(Response::new(edges::answer(caller, request.into_inner()).await?))
    }

    async fn check_path(
        &self,
        request: Request<api::CheckPathRequest>,
    ) -> Result<Response<api::CheckPathResponse>, Status> {
        let guard = StopGuard::after(Some(time_left(self.0.limits(), request.metadata(), None)?));
        let intake = &Intake::of(&request);
        let caller = Caller {
            shared: &self.0,
            purse: intake.purse(),
            intake,
            guard: &guard,
            is_stream: false,
        };
        Ok(Response::new(edges::path(caller, request.into_inner()).await?))
    }

    async fn stream_configurations(
        &self,
        request: Request<Streaming<api::StreamConfigurationsRequest>>,
    ) -> Result<Response<Self::StreamConfigurationsStream>, Status> {
        self.0.refuse_while_draining()?;
        let intake = Intake::of(&request);
        Ok(Response::new(stream::start(self.0.clone(), request.into_inner(), intake)))
    }
}

fn unknown(field: &str, id: &str) -> Failure {
    // A message of megabytes that is no id is not sent back.
    Failure::UnknownRobot { field: field.to_owned(), id: id.chars().take(80).collect() }
}

/// For products with a duration.
fn size(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
