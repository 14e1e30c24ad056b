//! The sessions of a server: how they are opened, found and asked.

use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tonic::metadata::MetadataMap;

use super::demand::Demand;
use super::session::Session;
use super::work::{FrameWork, Frames, Reports, Steps};
use crate::rpc::shared::Shared;
use clearance_geometry::separation::METHODS;
use clearance_proto as api;
use clearance_runtime::compute::{Compute, Counted, JobSize, Refused, Small, costs};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::sessions::owner::{Credentials, KeyDigest, new_incarnation, new_key};
use clearance_runtime::sessions::{
    Bounded, Held, NewSession, Parallel, Registry, SessionError, Slot,
};
use clearance_runtime::settings::Limits;
use clearance_scene::Serial;
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::keys::check_key;
use clearance_wire::convert::options::{duration, duration_to_wire, is_default};
use clearance_wire::convert::sessions::declare;
use clearance_wire::convert::sessions::methods::methods;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// What every call to the sessions needs; cheap to clone.
#[derive(Clone, Debug)]
pub struct SessionHost {
    /// What every service shares.
    pub shared: Shared,
    /// The open sessions.
    pub registry: Arc<Registry<Session>>,
}

/// What the answer to some frames may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance<'a> {
    /// Until when somebody waits for the call.
    pub(super) call: &'a Deadline,
    /// What the frames may take at most, whatever they say.
    pub(super) budget: Duration,
    /// So many bytes their reports may have, whatever the frames say.
    pub(super) reply_bytes: u64,
    /// All that the frames hold.
    pub(super) extent: Counted,
}

/// A budget of more time than this is not looked at where a frame is answered at once: a timer
/// costs as much as a small frame, which is over long before most times would be.
const SHORT: Duration = Duration::from_millis(100);

/// Who a session is going to belong to.
struct Ownership {
    /// The digest of its key; none: it is open to everybody.
    owner: Option<KeyDigest>,
    /// The key, if the server made it.
    made_key: String,
}

impl SessionHost {
    /// No session is open yet.
    pub fn new(shared: Shared) -> Self {
        let registry = Arc::new(Registry::new(shared.clock.clone(), shared.limits()));
        Self { shared, registry }
    }

    /// Opens a session; `prefix` leads to the request.
    pub(super) async fn open(
        &self,
        metadata: &MetadataMap,
        request: api::OpenSessionRequest,
        prefix: &'static str,
        intake: &Intake,
    ) -> Result<(Arc<Slot<Session>>, api::OpenSessionResponse), Failure> {
        let Self { shared, registry, .. } = self;
        shared.refuse_while_draining()?;
        let root = Path::ROOT.field(prefix);
        let path = if prefix.is_empty() { Path::ROOT } else { root };
        let id_path = path.field("session_id");
        let id = if request.session_id.is_empty() {
            self.new_id()
        } else {
            check_id(&id_path, &request.session_id)?;
            request.session_id.clone()
        };
        let limits = shared.limits();
        let Ownership { owner, made_key } = self.ownership(&path, &request.session_key)?;
        let exists = |_| Failure::SessionExists { field: id_path.to_string(), id: id.clone() };
        registry.check_free(&id, owner, request.replace).map_err(exists)?;
        self.may_open_another(request.replace)?;
        let idle = idle_timeout(&path, request.idle_timeout.as_ref(), limits)?;
        let load = size_of_opening(&request, intake, &shared.catalogue());
        // A negative one is refused when the request is read.
        let own = request.budget.as_ref().and_then(|budget| budget.time);
        let own = own.and_then(|time| Duration::try_from(time).ok());
        let within = |own| deadline(shared.limits(), metadata, own);
        let (for_call, for_answer) = (within(None)?, within(own)?);
        let (call, answer) = (for_call.until().clone(), for_answer.until().clone());
        let (opening, replace) = (shared.clone(), request.replace);
        let bytes = self.bytes_to_open(&path, &request)?;
        let quota = intake.quota();
        let memory = Mutex::new(quota.reserve(MemoryKind::Work, bytes)?);
        let opened = shared.compute.run(load, move || {
            let root = Path::ROOT.field(prefix);
            let path = if prefix.is_empty() { Path::ROOT } else { root };
            let (shared, runner) = (&opening, &Bounded::new(Parallel, &memory));
            let (call, answer, is_inline) = (&call, &answer, false);
            let reply_bytes = u64::MAX;
            let work = FrameWork { shared, call, answer, runner, is_inline, reply_bytes };
            Session::open(&path, &request, &work)
        });
        let (session, report) = opened.await??;
        let (checked_pairs, incarnation) = (session.pairs_enabled(), new_incarnation()?);
        let (id, idle_timeout, quota) = (id.as_str(), idle, quota.lasting());
        let new = NewSession { id, session, idle_timeout, quota, owner, incarnation, replace };
        let slot = registry.insert(new).map_err(|error| failure(error, id))?;
        let opened = api::OpenSessionResponse {
            session_id: id.to_owned(),
            report: Some(*report),
            checked_pairs,
            idle_timeout: Some(duration_to_wire(idle)),
            session_key: made_key,
            incarnation,
            server_address: shared.settings.advertise.clone(),
        };
        Ok((slot, opened))
    }

    /// Whether the caller's tenant may have another session, unless it takes the place of one.
    fn may_open_another(&self, replaces: bool) -> Result<(), Failure> {
        let count = self.registry.of_caller().0 + u64::from(!replaces);
        Ok(self.shared.quotas.hold(QuotaKind::Sessions, count)?)
    }

    /// What opening a session takes while it is done.
    fn bytes_to_open(
        &self,
        path: &Path<'_>,
        request: &api::OpenSessionRequest,
    ) -> Result<u64, Failure> {
        let tables = methods(path, request)?.tables();
        Ok(declare::bytes(request, &tables, &self.shared.catalogue()))
    }

    /// Who a session is going to belong to, by the key that its opening brings.
    fn ownership(&self, path: &Path<'_>, brought: &str) -> Result<Ownership, Failure> {
        if brought.is_empty() && self.shared.leaves_open {
            return Ok(Ownership { owner: None, made_key: String::new() });
        }
        if brought.is_empty() {
            let made_key = new_key()?;
            return Ok(Ownership { owner: Some(KeyDigest::of(&made_key)), made_key });
        }
        check_key(&path.field("session_key"), brought)?;
        Ok(Ownership { owner: Some(KeyDigest::of(brought)), made_key: String::new() })
    }

    /// Applies and answers frames in one job; the session goes back when that is done. Frames that
    /// are given together are merged into one answer as far as that is possible. `index` is the
    /// place of the frame in a list of frames, if there is a list. Says, too, how long they were
    /// going to take, at a guess.
    pub(super) async fn answer(
        &self,
        held: Held<Session>,
        frames: Frames,
        index: Option<usize>,
        allowed: Allowance<'_>,
    ) -> Result<(Reports, Duration), Failure> {
        let Demand { time: own, estimate, size } = held.demand(&frames, allowed.extent);
        let budget = own.map_or(allowed.budget, |own| own.min(allowed.budget));
        let budget = Deadline::planned(budget);
        budget.start_within(SHORT);
        let mut steps = Steps::new(frames, index, self.registry.room(held.quota()));
        let Allowance { call, reply_bytes, .. } = allowed;
        let mut held = match size.small() {
            None => held,
            Some(small) => {
                let (shared, call, answer) = (&self.shared, call.until(), budget.until());
                // Rayon's workers are those of the pool; what runs elsewhere must not wake them.
                let (runner, is_inline) = (&Serial, true);
                let work = FrameWork { shared, call, answer, runner, is_inline, reply_bytes };
                let at_once = at_once(small, held, &mut steps, work).await?;
                let Some(held) = at_once else { return Ok((steps.into_reports(), estimate)) };
                held
            }
        };
        call.start();
        budget.start();
        let (call, answer) = (call.until().clone(), budget.until().clone());
        let memory = Mutex::new(held.quota().reserve(MemoryKind::Work, 0)?);
        let shared = self.shared.clone();
        let job = move || {
            let (shared, runner) = (&shared, &Bounded::new(Parallel, &memory));
            let (call, answer, is_inline) = (&call, &answer, false);
            let work = FrameWork { shared, call, answer, runner, is_inline, reply_bytes };
            held.step(&mut steps, &work);
            steps.into_reports()
        };
        // A stream holds back its own client while it waits; a single call is told to come again.
        let reports = self.shared.compute.run_with_session(index.is_none(), job).await?;
        Ok((reports, estimate))
    }

    /// The declared state of a session, with room for it until it is sent, and what `also` takes
    /// from the session at the same moment.
    pub(super) async fn declared<T: Send + 'static>(
        &self,
        mut held: Held<Session>,
        quota: &MemoryQuota,
        also: impl FnOnce(&mut Session) -> Result<T, Failure> + Send + 'static,
    ) -> Result<(T, api::SessionState, Reservation), Failure> {
        let room = quota.reserve(MemoryKind::Replies, held.state_bytes())?;
        let extent = Counted::all_of(held.state_bytes());
        let load = JobSize::of(extent, costs::times(costs::TOLD_PART, held.parts()));
        let job = move || Ok((also(&mut held)?, held.state(), room));
        match load.small() {
            Some(small) => Compute::here(small, job).await?,
            None => self.shared.compute.run_with_session(false, job).await?,
        }
    }

    /// The place of an open session, for whoever brings its key.
    pub(super) fn find(
        &self,
        id: &str,
        brought: Credentials,
    ) -> Result<Arc<Slot<Session>>, Failure> {
        if id.is_empty() {
            return Err(Path::ROOT.field("session_id").bad("is required").into());
        }
        self.registry.get(id, brought).map_err(|error| failure(error, id))
    }

    /// An id that no session of this server has and that nobody can guess from others.
    fn new_id(&self) -> String {
        let serial = self.registry.next_serial();
        let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.write_u64(serial);
        format!("s-{:016x}{serial:x}", hasher.finish())
    }
}

/// Goes as far as may be gone on this thread, where others wait; the session comes back if there is
/// more to do.
async fn at_once(
    small: Small,
    held: Held<Session>,
    steps: &mut Steps,
    work: FrameWork<'_>,
) -> Result<Option<Held<Session>>, Refused> {
    // The session goes with the work: if that panics, it is closed.
    let job = move || {
        let mut held = held;
        let is_done = held.step(steps, &work);
        (!is_done).then_some(held)
    };
    Compute::here(small, job).await
}

/// What opening a session takes: of methods that were asked for by name, and of the faces of
/// meshes, nobody can say.
fn size_of_opening(
    request: &api::OpenSessionRequest,
    intake: &Intake,
    catalogue: &Catalogue<'_>,
) -> JobSize {
    if !is_default(&request.method, METHODS) {
        return JobSize::UNKNOWN;
    }
    let load = JobSize::of(intake.extent(), declare::estimate(request));
    // Of many bodies it does not matter what they are.
    let is_small = load.small().is_some();
    if is_small && declare::has_meshes(request, catalogue) { JobSize::UNKNOWN } else { load }
}

/// After how long without a call a session is to be closed.
fn idle_timeout(
    path: &Path<'_>,
    asked: Option<&prost_types::Duration>,
    limits: &Limits,
) -> Result<Duration, Failure> {
    let max = Duration::from_secs(limits.session_idle_seconds_max);
    let default = Duration::from_secs(limits.session_idle_seconds_default);
    let asked = asked.map(|wire| duration(&path.field("idle_timeout"), wire)).transpose()?;
    Ok(asked.unwrap_or(default).min(max))
}

/// Takes a session out of its place, as soon as it is in.
pub(super) async fn take_out(slot: &Arc<Slot<Session>>) -> Result<Held<Session>, Failure> {
    slot.take_out().await.map_err(|error| failure(error, &slot.id))
}

/// Why a session was not opened, not found or not attached.
pub(super) fn failure(error: SessionError, id: &str) -> Failure {
    match error {
        SessionError::Unknown => Failure::UnknownSession {
            field: "session_id".to_owned(),
            id: id.chars().take(200).collect(),
        },
        SessionError::Replaced => {
            Failure::SessionReplaced { field: "incarnation".to_owned(), id: id.to_owned() }
        }
        SessionError::Exists => {
            Failure::SessionExists { field: "session_id".to_owned(), id: id.to_owned() }
        }
        SessionError::Attached => Failure::SessionAttached,
        // No field is to blame, so the client is told when to try again.
        SessionError::Full(limit) => limit.reached().into(),
    }
}

/// The header in which a call may bring the key of its session.
const KEY_HEADER: &str = "clearance-session-key";

/// The key that a call brings: in its own field, or else in the header.
pub(in crate::rpc::services) fn brought_key(metadata: &MetadataMap, field: String) -> String {
    if !field.is_empty() {
        return field;
    }
    let header = metadata.get(KEY_HEADER).and_then(|value| value.to_str().ok());
    header.unwrap_or_default().to_owned()
}

/// What a call brings that is about one session.
pub(super) fn credentials(
    metadata: &MetadataMap,
    session_key: String,
    incarnation: u64,
) -> Credentials {
    let key = brought_key(metadata, session_key);
    let key = (!key.is_empty()).then(|| KeyDigest::of(&key));
    Credentials { key, incarnation }
}

const ID_LENGTH_MAX: usize = 100;

pub(super) fn check_id(path: &Path<'_>, id: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.len() <= ID_LENGTH_MAX && id.chars().all(is_allowed) {
        return Ok(());
    }
    Err(path.bad("must be 1 to 100 characters from [A-Za-z0-9._-]").into())
}
