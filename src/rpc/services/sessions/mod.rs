//! `SessionService`: scenes that are kept between calls.

mod declare;
mod frame;
mod packed;
mod plan;
mod report;
mod session;
mod state;
mod step;
mod stream;

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming};

pub use session::Session;
use session::Until;

use crate::rpc::api;
use crate::rpc::convert::Path;
use crate::rpc::convert::options::{cost_to_wire, duration, duration_to_wire};
use crate::rpc::services::polytopes::page_size;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::rpc::transport::timing::time_left;
use crate::runtime::deadline::StopGuard;
use crate::runtime::sessions::{Held, SessionError, Slot};
use crate::runtime::settings::Breach;

/// The service.
#[derive(Clone, Debug)]
pub struct Sessions(pub Shared);

/// Between two looks for idle sessions. Their timeouts are in seconds, so an expired one may stay
/// this much longer.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Closes idle sessions, for as long as it runs.
pub async fn sweep(shared: Shared) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let expired = shared.sessions.expire();
        if expired > 0 {
            tracing::info!(expired, "closed idle sessions");
        }
    }
}

#[tonic::async_trait]
impl api::session_service_server::SessionService for Sessions {
    async fn open_session(
        &self,
        request: Request<api::OpenSessionRequest>,
    ) -> Result<Response<api::OpenSessionResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let (_, opened) = open(&self.0, &metadata, request, "").await?;
        Ok(Response::new(opened))
    }

    type StreamSessionStream = ReceiverStream<Result<api::StreamSessionResponse, Status>>;

    async fn stream_session(
        &self,
        request: Request<Streaming<api::StreamSessionRequest>>,
    ) -> Result<Response<Self::StreamSessionStream>, Status> {
        Ok(Response::new(stream::start(self.0.clone(), request.into_inner())))
    }

    async fn step_session(
        &self,
        request: Request<api::StepSessionRequest>,
    ) -> Result<Response<api::StepSessionResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let reports = step::step(&self.0, &metadata, request).await?;
        Ok(Response::new(api::StepSessionResponse { reports }))
    }

    async fn get_session(
        &self,
        request: Request<api::GetSessionRequest>,
    ) -> Result<Response<api::GetSessionResponse>, Status> {
        let id = request.into_inner().session_id;
        let slot = find(&self.0, &id)?;
        let held = take_out(&slot).await?;
        let state = held.state();
        drop(held);
        Ok(Response::new(api::GetSessionResponse {
            summary: Some(summary(&slot)),
            state: Some(state),
        }))
    }

    async fn list_sessions(
        &self,
        request: Request<api::ListSessionsRequest>,
    ) -> Result<Response<api::ListSessionsResponse>, Status> {
        let request = request.into_inner();
        let size = page_size(&self.0, request.page_size)?;
        if !request.page_token.is_empty() {
            check_id(&Path::ROOT.field("page_token"), &request.page_token)?;
        }
        self.0.sessions.expire();
        let (page, more) = self.0.sessions.page(&request.page_token, size);
        let last = page.last().filter(|_| more);
        Ok(Response::new(api::ListSessionsResponse {
            next_page_token: last.map_or_else(String::new, |slot| slot.id.clone()),
            sessions: page.iter().map(summary).collect(),
            total_size: self.0.sessions.count(),
        }))
    }

    async fn close_session(
        &self,
        request: Request<api::CloseSessionRequest>,
    ) -> Result<Response<api::CloseSessionResponse>, Status> {
        let request = request.into_inner();
        let slot = match find(&self.0, &request.session_id) {
            Ok(slot) => slot,
            Err(Failure::UnknownSession(_)) if request.allow_missing => {
                return Ok(Response::new(api::CloseSessionResponse { summary: None }));
            }
            Err(failure) => return Err(failure.into()),
        };
        let last = summary(&slot);
        self.0.sessions.remove(&slot);
        Ok(Response::new(api::CloseSessionResponse { summary: Some(last) }))
    }
}

/// Opens a session; `prefix` leads to the request.
async fn open(
    shared: &Shared,
    metadata: &MetadataMap,
    request: api::OpenSessionRequest,
    prefix: &'static str,
) -> Result<(Arc<Slot<Session>>, api::OpenSessionResponse), Failure> {
    shared.refuse_while_draining()?;
    let root = Path::ROOT.field(prefix);
    let path = if prefix.is_empty() { Path::ROOT } else { root };
    let id_path = path.field("session_id");
    let id = if request.session_id.is_empty() {
        new_id(shared)
    } else {
        check_id(&id_path, &request.session_id)?;
        request.session_id.clone()
    };
    let limits = &shared.settings.limits;
    if !request.replace && shared.sessions.get(&id).is_ok() {
        return Err(Failure::SessionExists { field: id_path.to_string(), id });
    }
    let idle_max = Duration::from_secs(limits.session_idle_seconds_max);
    let idle_default = Duration::from_secs(limits.session_idle_seconds_default);
    let idle = match &request.idle_timeout {
        None => idle_default.min(idle_max),
        Some(wire) => duration(&path.field("idle_timeout"), wire)?.min(idle_max),
    };
    let replace = request.replace;
    let estimate = declare::estimate(&request);
    // A negative one is refused when the request is read.
    let own = request.budget.as_ref().and_then(|budget| budget.time);
    let own = own.and_then(|time| Duration::try_from(time).ok());
    let until = |own| Ok::<_, Failure>(StopGuard::after(Some(time_left(shared, metadata, own)?)));
    let (going, spending) = (until(None)?, until(own)?);
    let (gone, spent) = (going.flag(), spending.flag());
    let opening = shared.clone();
    let opened = shared.compute.run(estimate, move || {
        let root = Path::ROOT.field(prefix);
        let path = if prefix.is_empty() { Path::ROOT } else { root };
        Session::open(&path, &request, &opening, Until { gone: &gone, spent: &spent })
    });
    let (session, report) = opened.await??;
    let checked_pairs = session.pairs_enabled();
    let slot = shared.sessions.insert(&id, session, idle, replace);
    let slot = slot.map_err(|error| failure(error, &id))?;
    let opened = api::OpenSessionResponse {
        session_id: id,
        report: Some(report),
        checked_pairs,
        idle_timeout: Some(duration_to_wire(idle)),
    };
    Ok((slot, opened))
}

/// Applies and answers frames in one job; the session goes back when that is done. Frames that are
/// given together are merged into one answer as far as that is possible. `going` tells when the
/// caller has gone.
async fn answer(
    shared: &Shared,
    mut held: Held<Session>,
    frames: Vec<api::Frame>,
    index: Option<usize>,
    (going, time): (&StopGuard, Option<Duration>),
) -> Result<Vec<api::FrameReport>, Failure> {
    let spending = StopGuard::after(time);
    let (gone, spent) = (going.flag(), spending.flag());
    let estimate = held.estimate(&frames);
    let is_inline = estimate <= crate::runtime::compute::INLINE_MAX;
    let working = shared.clone();
    let job = move || {
        let list = Path::ROOT.field("frames");
        let path = index.map_or(Path::ROOT.field("frame"), |index| list.index(index));
        let until = Until { gone: &gone, spent: &spent };
        held.step(&frames, &path, &working, until, is_inline)
    };
    // A stream holds back its own client while it waits; a single call is told to come again.
    let reports = match index {
        Some(_) => shared.compute.run(estimate, job).await?,
        None => shared.compute.run_when_free(estimate, job).await?,
    };
    Ok(reports)
}

fn find(shared: &Shared, id: &str) -> Result<Arc<Slot<Session>>, Failure> {
    if id.is_empty() {
        return Err(Path::ROOT.field("session_id").bad("is required").into());
    }
    shared.sessions.get(id).map_err(|error| failure(error, id))
}

async fn take_out(slot: &Arc<Slot<Session>>) -> Result<Held<Session>, Failure> {
    slot.take_out().await.map_err(|error| failure(error, &slot.id))
}

fn failure(error: SessionError, id: &str) -> Failure {
    match error {
        SessionError::Unknown => Failure::UnknownSession(id.chars().take(200).collect()),
        SessionError::Exists => {
            Failure::SessionExists { field: "session_id".to_owned(), id: id.to_owned() }
        }
        SessionError::Attached => Failure::SessionAttached,
        SessionError::Full { name, max } => {
            // No field is to blame, so the client is told when to try again.
            let breach = Breach::ResourceExhausted;
            Failure::Limit { field: String::new(), name, max, breach }
        }
    }
}

const ID_LENGTH_MAX: usize = 100;

fn check_id(path: &Path<'_>, id: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.len() <= ID_LENGTH_MAX && id.chars().all(is_allowed) {
        return Ok(());
    }
    Err(path.bad("must be 1 to 100 characters from [A-Za-z0-9._-]").into())
}

/// An id that no session of this server has and that nobody can guess from others.
fn new_id(shared: &Shared) -> String {
    let serial = shared.sessions.next_serial();
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(serial);
    format!("s-{:016x}{serial:x}", hasher.finish())
}

fn summary(slot: &Arc<Slot<Session>>) -> api::SessionSummary {
    let shown = slot.shown();
    let known = shown.summary;
    api::SessionSummary {
        session_id: slot.id.clone(),
        open_time: Some(slot.open_time.into()),
        last_call_time: Some(shown.last_call.into()),
        frame_id: known.frame,
        bodies: known.bodies,
        checked_pairs: known.checked_pairs,
        contacts: known.contacts,
        attached: shown.is_attached,
        frames_answered: known.frames_answered,
        cost: Some(cost_to_wire(&known.cost, known.elapsed)),
    }
}
