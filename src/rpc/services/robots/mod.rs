//! `RobotService`.

mod check;
mod chunks;
mod clouds;
mod edges;
mod place;
mod register;
mod replies;
mod stream;
mod suggest;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use tonic::{Request, Response, Status, Streaming};

use crate::rpc::services::sessions::{SessionHost, brought_key};
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_runtime::compute::costs::{DESCRIBED_BYTE, times};
use clearance_runtime::compute::{Counted, JobSize, Refused};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::MemoryQuota;
use clearance_runtime::robots::{
    DeleteError, DescriptionBytes, ID_PREFIX, RegisteredRobot, RobotPage,
};
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_transport::unsent::AnswerRoom;
use clearance_wire::convert::keys::digests;
use clearance_wire::convert::paging::page_size;
use clearance_wire::convert::robots::description::describe;
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

/// Serves `RobotService`: robots by id, and questions about their configurations, in cells and in
/// the scenes of sessions.
#[derive(Clone, Debug)]
pub struct Robots(pub SessionHost);

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
    /// The sessions, whose scenes may be asked.
    host: &'a SessionHost,
    /// The key of a session, if it came in a header.
    header_key: &'a str,
    /// Pays for the cell, the work and the answer.
    quota: &'a MemoryQuota,
    /// Counts the messages that were received, and holds their memory.
    intake: &'a Intake,
    /// Until when it waits.
    deadline: &'a Deadline,
    /// Whether it waits for the pool however many do: a stream, which holds back its own client.
    is_stream: bool,
}

impl<'a> Caller<'a> {
    /// The caller of one question, who pays for it and may hang up.
    fn of_one(
        host: &'a SessionHost,
        header_key: &'a str,
        intake: &'a Intake,
        deadline: &'a Deadline,
    ) -> Self {
        let (shared, quota) = (&host.shared, intake.quota());
        Self { shared, host, header_key, quota, intake, deadline, is_stream: false }
    }

    /// Does `job` in the compute pool.
    async fn run<R, F>(&self, load: JobSize, job: F) -> Result<R, Refused>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let compute = &self.shared.compute;
        if self.is_stream {
            compute.run_when_free(load, job).await
        } else {
            compute.run(load, job).await
        }
    }
}

#[tonic::async_trait]
impl api::robot_service_server::RobotService for Robots {
    type StreamConfigurationsStream = stream::ReplyStream<api::StreamConfigurationsResponse>;
    type StreamEdgesStream = stream::ReplyStream<api::StreamEdgesResponse>;

    async fn register_robot(
        &self,
        request: Request<api::RegisterRobotRequest>,
    ) -> Result<Response<api::RegisterRobotResponse>, Status> {
        let shared = &self.0.shared;
        let deadline = deadline(shared.limits(), request.metadata(), None)?;
        let intake = Intake::of(&request);
        let extent = Some(intake.extent());
        let arrived = register::ArrivedRobot { request: request.into_inner(), extent };
        Ok(Response::new(register::register(shared, arrived, &deadline, &intake).await?))
    }

    async fn upload_robot(
        &self,
        request: Request<Streaming<api::UploadRobotRequest>>,
    ) -> Result<Response<api::UploadRobotResponse>, Status> {
        let shared = &self.0.shared;
        let deadline = deadline(shared.limits(), request.metadata(), None)?;
        let intake = Intake::of(&request);
        let registered = upload::receive(shared, request.into_inner(), &deadline, &intake).await?;
        Ok(Response::new(api::UploadRobotResponse { registered: Some(registered) }))
    }

    async fn get_robot(
        &self,
        request: Request<api::GetRobotRequest>,
    ) -> Result<Response<api::GetRobotResponse>, Status> {
        let intake = Intake::of(&request);
        let id = request.into_inner().id;
        let robot = self.0.shared.robots().find(&id).map_err(Failure::from)?;
        let robot = robot.ok_or_else(|| unknown("id", &id))?;
        let _room = room_for(&self.0.shared, &intake, std::slice::from_ref(&robot))?;
        let robot = described(&self.0.shared, vec![robot]).await?.pop();
        Ok(Response::new(api::GetRobotResponse { robot }))
    }

    async fn list_robots(
        &self,
        request: Request<api::ListRobotsRequest>,
    ) -> Result<Response<api::ListRobotsResponse>, Status> {
        let intake = Intake::of(&request);
        let request = request.into_inner();
        let size = page_size(self.0.shared.limits(), request.page_size)?;
        let token = request.page_token.as_str();
        if !token.is_empty() && !token.starts_with(ID_PREFIX) {
            let bad = Path::ROOT.field("page_token").bad("is not one that this server gave");
            return Err(Failure::from(bad).into());
        }
        let bytes_max = self.0.shared.limits().reply_bytes_default;
        let page = self.0.shared.robots().page(token, size, bytes_max);
        let RobotPage { robots: page, last } = page.map_err(Failure::from)?;
        let _room = room_for(&self.0.shared, &intake, &page)?;
        Ok(Response::new(api::ListRobotsResponse {
            next_page_token: last.unwrap_or_default(),
            robots: described(&self.0.shared, page).await?,
            total_size: i32::try_from(self.0.shared.robots().count()).unwrap_or(i32::MAX),
        }))
    }

    async fn delete_robot(
        &self,
        request: Request<api::DeleteRobotRequest>,
    ) -> Result<Response<api::DeleteRobotResponse>, Status> {
        let api::DeleteRobotRequest { id, allow_missing, robot_keys } = request.into_inner();
        let list = Path::ROOT.field("robot_keys");
        let keys = digests(&list, &robot_keys, self.0.shared.limits().keys_per_robot_max())?;
        let of_job = id.clone();
        let deleting = self.0.shared.changing(move |shared| shared.robots().delete(&of_job, &keys));
        match deleting.await? {
            Ok(()) => {}
            Err(DeleteError::Unknown) if allow_missing => {}
            Err(DeleteError::Unknown) => return Err(unknown("id", &id).into()),
            Err(DeleteError::Claimed) => {
                return Err(Failure::RobotClaimed { field: list.to_string() }.into());
            }
            Err(DeleteError::Down) => return Err(Failure::StoreDown.into()),
        }
        Ok(Response::new(api::DeleteRobotResponse {}))
    }

    async fn find_missing_robots(
        &self,
        request: Request<api::FindMissingRobotsRequest>,
    ) -> Result<Response<api::FindMissingRobotsResponse>, Status> {
        let shared = &self.0.shared;
        let ids = request.into_inner().ids;
        let list = Path::ROOT.field("ids");
        list.within(shared.limits().find_missing_ids_max(), ids.len()).map_err(Failure::from)?;
        shared.robots().follow();
        let mut missing_ids = Vec::new();
        for (index, id) in ids.into_iter().enumerate() {
            if !is_id(&id) {
                let bad = list.index(index).bad("is no id of a robot");
                return Err(Failure::from(bad).into());
            }
            if !shared.robots().knows(&id) {
                missing_ids.push(id);
            }
        }
        Ok(Response::new(api::FindMissingRobotsResponse { missing_ids }))
    }

    async fn suggest_allowed_pairs(
        &self,
        request: Request<api::SuggestAllowedPairsRequest>,
    ) -> Result<Response<api::SuggestAllowedPairsResponse>, Status> {
        let deadline = deadline(self.0.shared.limits(), request.metadata(), None)?;
        let intake = &Intake::of(&request);
        let caller = Caller::of_one(&self.0, "", intake, &deadline);
        Ok(Response::new(suggest::once(caller, request.into_inner()).await?))
    }

    async fn check_configurations(
        &self,
        request: Request<api::CheckConfigurationsRequest>,
    ) -> Result<Response<api::CheckConfigurationsResponse>, Status> {
        let deadline = deadline(self.0.shared.limits(), request.metadata(), None)?;
        let intake = &Intake::of(&request);
        let key = brought_key(request.metadata(), String::new());
        let caller = Caller::of_one(&self.0, &key, intake, &deadline);
        Ok(Response::new(check::once(caller, request.into_inner()).await?))
    }

    async fn check_edges(
        &self,
        request: Request<api::CheckEdgesRequest>,
    ) -> Result<Response<api::CheckEdgesResponse>, Status> {
        let deadline = deadline(self.0.shared.limits(), request.metadata(), None)?;
        let intake = &Intake::of(&request);
        let key = brought_key(request.metadata(), String::new());
        let caller = Caller::of_one(&self.0, &key, intake, &deadline);
        Ok(Response::new(edges::once(caller, request.into_inner()).await?))
    }

    async fn check_path(
        &self,
        request: Request<api::CheckPathRequest>,
    ) -> Result<Response<api::CheckPathResponse>, Status> {
        let deadline = deadline(self.0.shared.limits(), request.metadata(), None)?;
        let intake = &Intake::of(&request);
        let key = brought_key(request.metadata(), String::new());
        let caller = Caller::of_one(&self.0, &key, intake, &deadline);
        Ok(Response::new(edges::path(caller, request.into_inner()).await?))
    }

    async fn stream_configurations(
        &self,
        request: Request<Streaming<api::StreamConfigurationsRequest>>,
    ) -> Result<Response<Self::StreamConfigurationsStream>, Status> {
        Ok(Response::new(self.stream::<api::CheckConfigurationsRequest>(request)?))
    }

    async fn stream_edges(
        &self,
        request: Request<Streaming<api::StreamEdgesRequest>>,
    ) -> Result<Response<Self::StreamEdgesStream>, Status> {
        Ok(Response::new(self.stream::<api::CheckEdgesRequest>(request)?))
    }
}

impl Robots {
    /// Begins a stream of questions of one kind.
    fn stream<Q: stream::StreamedQuestion>(
        &self,
        request: Request<Streaming<Q::Request>>,
    ) -> Result<stream::ReplyStream<Q::Reply>, Failure> {
        self.0.shared.refuse_while_draining()?;
        let intake = Intake::of(&request);
        let key = brought_key(request.metadata(), String::new());
        Ok(stream::start::<Q>(self.0.clone(), key, request.into_inner(), intake))
    }
}

/// Room for the descriptions of these robots, as messages and as they are sent.
fn room_for(
    shared: &Shared,
    intake: &Intake,
    robots: &[Arc<RegisteredRobot>],
) -> Result<AnswerRoom, Failure> {
    let sum = |of: fn(&DescriptionBytes) -> u64| -> u64 {
        robots.iter().map(|robot| of(&robot.description)).sum()
    };
    let wire = usize::try_from(sum(|of| of.wire)).unwrap_or(usize::MAX);
    Ok((intake.work(sum(|of| of.memory))?, shared.unsent.reserve(wire, intake)?))
}

/// The descriptions of these robots, for which there is room.
async fn described(
    shared: &Shared,
    robots: Vec<Arc<RegisteredRobot>>,
) -> Result<Vec<api::Robot>, Failure> {
    let bytes: u64 = robots.iter().map(|robot| robot.description.memory).sum();
    let estimate = times(DESCRIBED_BYTE, usize::try_from(bytes).unwrap_or(usize::MAX));
    let describing = move || robots.iter().map(|robot| describe(robot)).collect();
    let job = JobSize::of(Counted::all_of(bytes), estimate);
    Ok(shared.compute.run(job, describing).await?)
}

/// Whether a text looks like the id of a robot.
fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix(ID_PREFIX).unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn unknown(field: &str, id: &str) -> Failure {
    // A message of megabytes that is no id is not sent back.
    Failure::UnknownRobot { field: field.to_owned(), id: id.chars().take(80).collect() }
}

/// A count, for the wire.
fn size(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
