//! `SessionService`: scenes that are kept between calls.

mod claimed;
mod demand;
mod host;
mod news;
mod opening;
mod past;
mod planning;
mod query;
mod refused;
mod session;
#[cfg(test)]
mod simulation;
mod step;
mod stream;
mod watch;
mod work;

use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tonic::{Request, Response, Status, Streaming};

pub(super) use self::claimed::{ClaimedScene, ToldScene};
pub use self::host::SessionHost;
pub(super) use self::host::brought_key;
use self::host::{check_id, credentials, failure, take_out};
pub(super) use self::planning::SceneCaller;
pub use self::session::Session;
use self::watch::WatchFrom;
use clearance_proto as api;
use clearance_runtime::sessions::owner::KeyDigest;
use clearance_runtime::sessions::{Registry, Slot};
use clearance_transport::intake::Intake;
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::paging::page_size;
use clearance_wire::convert::paging::reply_bytes;
use clearance_wire::convert::sessions::inquiry::moment;
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::{Failure, TooLong};

/// Serves `SessionService`: scenes that are kept from frame to frame.
#[derive(Clone, Debug)]
pub struct Sessions(pub SessionHost);

/// Between two looks for idle sessions. Their timeouts are in seconds, so an expired one may stay
/// this much longer.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Closes idle sessions, for as long as it runs.
pub async fn sweep(registry: Arc<Registry<Session>>) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let expired = registry.expire();
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
        let intake = Intake::of(&request);
        let (metadata, _, mut request) = request.into_parts();
        request.session_key = brought_key(&metadata, request.session_key);
        let (_, opened) = self.0.open(&metadata, request, "", &intake).await?;
        Ok(Response::new(opened))
    }

    type StreamSessionStream = stream::Replies;

    async fn stream_session(
        &self,
        request: Request<Streaming<api::StreamSessionRequest>>,
    ) -> Result<Response<Self::StreamSessionStream>, Status> {
        let intake = Intake::of(&request);
        let (metadata, _, requests) = request.into_parts();
        let header_key = brought_key(&metadata, String::new());
        Ok(Response::new(stream::start(self.0.clone(), header_key, requests, intake)))
    }

    async fn step_session(
        &self,
        request: Request<api::StepSessionRequest>,
    ) -> Result<Response<api::StepSessionResponse>, Status> {
        let intake = Intake::of(&request);
        let (metadata, _, request) = request.into_parts();
        let reports = step::step(&self.0, &metadata, request, &intake).await?;
        Ok(Response::new(api::StepSessionResponse { reports }))
    }

    async fn get_session(
        &self,
        request: Request<api::GetSessionRequest>,
    ) -> Result<Response<api::GetSessionResponse>, Status> {
        let intake = Intake::of(&request);
        let (metadata, _, request) = request.into_parts();
        let brought = credentials(&metadata, request.session_key, request.incarnation);
        let slot = self.0.find(&request.session_id, brought)?;
        let _admitted = slot.admit().map_err(|error| failure(error, &slot.id))?;
        let held = take_out(&slot).await?;
        let ((), state, _room) = self.0.declared(held, intake.quota(), |_| Ok(())).await?;
        check_length(&state, reply_bytes(request.reply_bytes_max, self.0.shared.limits()))?;
        Ok(Response::new(api::GetSessionResponse {
            summary: Some(summary(&slot)),
            state: Some(state),
        }))
    }

    type WatchSessionStream = watch::Replies;

    async fn watch_session(
        &self,
        request: Request<api::WatchSessionRequest>,
    ) -> Result<Response<Self::WatchSessionStream>, Status> {
        let intake = Intake::of(&request);
        let (metadata, _, request) = request.into_parts();
        let brought = credentials(&metadata, request.session_key, request.incarnation);
        let slot = self.0.find(&request.session_id, brought)?;
        let bytes_max = reply_bytes(request.reply_bytes_max, self.0.shared.limits());
        let at = Path::ROOT.field("moment");
        let moment = moment(&at, request.moment.as_ref()).map_err(Failure::from)?;
        let from = WatchFrom { bytes_max, moment };
        let replies = watch::start(self.0.clone(), slot, intake.quota(), from).await?;
        Ok(Response::new(replies))
    }

    async fn query_scene(
        &self,
        request: Request<api::QuerySceneRequest>,
    ) -> Result<Response<api::QuerySceneResponse>, Status> {
        let intake = Intake::of(&request);
        let (metadata, _, request) = request.into_parts();
        Ok(Response::new(query::query(&self.0, &metadata, request, &intake).await?))
    }

    async fn list_sessions(
        &self,
        request: Request<api::ListSessionsRequest>,
    ) -> Result<Response<api::ListSessionsResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let limits = self.0.shared.limits();
        let size = page_size(limits, request.page_size)?;
        let list = Path::ROOT.field("session_keys");
        list.within(limits.session_keys_max(), request.session_keys.len())
            .map_err(Failure::from)?;
        let header_key = brought_key(&metadata, String::new());
        let keys = request.session_keys.iter().chain([&header_key]).filter(|key| !key.is_empty());
        let keys: Vec<KeyDigest> = keys.map(|key| KeyDigest::of(key)).collect();
        if !request.page_token.is_empty() {
            check_id(&Path::ROOT.field("page_token"), &request.page_token)?;
        }
        self.0.registry.expire();
        let page = self.0.registry.page(&request.page_token, size, &keys);
        let last = page.slots.last().filter(|_| page.has_more);
        Ok(Response::new(api::ListSessionsResponse {
            next_page_token: last.map_or_else(String::new, |slot| slot.id.clone()),
            sessions: page.slots.iter().map(summary).collect(),
            total_size: page.total,
        }))
    }

    async fn close_session(
        &self,
        request: Request<api::CloseSessionRequest>,
    ) -> Result<Response<api::CloseSessionResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let brought = credentials(&metadata, request.session_key, request.incarnation);
        let slot = match self.0.find(&request.session_id, brought) {
            Ok(slot) => slot,
            Err(Failure::UnknownSession { .. } | Failure::SessionReplaced { .. })
                if request.allow_missing =>
            {
                return Ok(Response::new(api::CloseSessionResponse { summary: None }));
            }
            Err(failure) => return Err(failure.into()),
        };
        let last = summary(&slot);
        self.0.registry.remove(&slot);
        Ok(Response::new(api::CloseSessionResponse { summary: Some(last) }))
    }
}

/// Whether a caller that takes so many bytes takes this state.
fn check_length(state: &api::SessionState, bytes_max: u64) -> Result<(), Failure> {
    let bytes = state.encoded_len() as u64;
    if bytes > bytes_max { Err(TooLong::State { bytes, bytes_max }.into()) } else { Ok(()) }
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
        incarnation: slot.incarnation,
        known_pairs: known.pairs_known,
        asleep_pairs: known.pairs_asleep,
        expired_pairs: known.pairs_expired,
        body_bytes: known.body_bytes,
        pair_bytes: known.pair_bytes,
        past_frames: known.past_frames,
        oldest_frame_id: known.oldest_frame,
        history_bytes: known.history_bytes,
    }
}
