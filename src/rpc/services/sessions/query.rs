//! `QueryScene`: what a scene that stands still is asked.
//!
//! Frames wait while a session is out. So questions have the scene itself for [`HOLD_MAX`]; what is
//! not answered by then is asked of a copy of the bodies, while the session is in its place again
//! and moves on. All answers are about the same frame, and the same whichever way they are found.

mod answers;

use std::sync::Arc;
use std::time::Duration;

use tonic::metadata::MetadataMap;

use self::answers::Answers;
use super::host::{SessionHost, credentials, failure, take_out};
use super::past::PastScene;
use super::session::Session;
use crate::rpc::shared::Shared;
use clearance_geometry::effort::Effort;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_runtime::compute::costs::{QUESTIONS_HOLD_UP_MAX, RAY, RAY_BODY, TOLD_PART, times};
use clearance_runtime::compute::{Compute, Counted, JobSize};
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_runtime::sessions::Held;
use clearance_runtime::sessions::parallel::at_once;
use clearance_scene::query::past::Moment;
use clearance_scene::query::{NoView, SceneView, StillScene};
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_wire::convert::sessions::inquiry::{AskedInquiry, unknown_name};
use clearance_wire::status::Failure;

/// Questions have the session itself for so long, in line and at work. To copy the bodies takes
/// some hundred nanoseconds for each: with more of them than this pays, up to 200,000, frames wait
/// for some tens of milliseconds.
const HOLD_MAX: Duration = Duration::from_millis(5);

/// A tree of boxes around more bodies than this is built around a copy, since to build it takes
/// some milliseconds.
const TREE_BODIES_MAX: usize = 2_000;

/// Answers questions to the scene of a session, and counts them.
pub(super) async fn query(
    host: &SessionHost,
    metadata: &MetadataMap,
    request: api::QuerySceneRequest,
    intake: &Intake,
) -> Result<api::QuerySceneResponse, Failure> {
    let answered = ask(host, metadata, request, intake).await;
    host.shared.metrics.count(QuestionKind::Scene, Ending::of(&answered, has_stopped));
    answered
}

/// Whether one of the answers was cut short.
fn has_stopped(reply: &api::QuerySceneResponse) -> bool {
    let mut packed = [&reply.packed_hits, &reply.packed_cast_hits].into_iter().flatten();
    reply.answers.iter().any(|answer| answer.stopped() != api::Stopped::Unspecified)
        || packed.any(|hits| !hits.stopped_rays.is_empty())
}

async fn ask(
    host: &SessionHost,
    metadata: &MetadataMap,
    mut request: api::QuerySceneRequest,
    intake: &Intake,
) -> Result<api::QuerySceneResponse, Failure> {
    let shared = host.shared.clone();
    let compute = shared.compute.clone();
    let key = std::mem::take(&mut request.session_key);
    let brought = credentials(metadata, key, request.incarnation);
    let slot = host.find(&request.session_id, brought)?;
    // Whoever waits keeps its questions in memory.
    let _admitted = slot.admit().map_err(|error| failure(error, &slot.id))?;
    let convert = || AskedInquiry::convert(&request, &shared.catalogue());
    let asked = intake.look_through(convert)?;
    let deadline = deadline(shared.limits(), metadata, asked.time)?;
    let taken = tokio::time::timeout(deadline.time(), take_out(&slot)).await;
    let held = taken.map_err(|_| Failure::Deadline)??;
    if let Some(moment) = asked.moment.filter(|moment| !is_now(moment, &held)) {
        let past = past(&compute, held, moment).await?;
        let load = load_in_past(&past, &asked, intake.extent());
        let mut inquiry = Inquiry::new(request, asked, shared, deadline.until().clone())?;
        let looks = |at_once| past.scene.bytes_of_looks(at_once);
        inquiry.take_room(intake.quota(), looks)?;
        let finish = move || Box::new(inquiry).finish(&past.scene);
        return match load.small() {
            Some(small) => Compute::here(small, finish).await?,
            None => compute.run_when_free(JobSize::UNKNOWN, finish).await?,
        };
    }
    let load = load(&held, &asked, intake.extent());
    let inquiry = Inquiry::new(request, asked, shared, deadline.until().clone())?;
    if let Some(small) = load.small() {
        return Compute::here(small, move || inquiry.at_once(&held)).await?;
    }
    let holding = Deadline::after(HOLD_MAX.min(deadline.time()));
    let here = holding.until().clone();
    let begin = move || inquiry.begin(held, &here);
    let (inquiry, copy) = match compute.run_with_session(false, begin).await?? {
        Begun::Done(answer) => return Ok(*answer),
        Begun::Left(inquiry, copy) => (inquiry, copy),
    };
    compute.run_when_free(JobSize::UNKNOWN, move || inquiry.finish(&copy.scene)).await?
}

/// Whether a moment is that at which the session stands.
fn is_now(moment: &Moment, session: &Session) -> bool {
    moment.frame == session.scene().frame() && moment.fraction <= 0.0
}

/// The scene of a session at a past moment; the session goes back to its place.
async fn past(
    compute: &Compute,
    mut held: Held<Session>,
    moment: Moment,
) -> Result<Arc<PastScene>, Failure> {
    if let Some(known) = held.known_past(&moment) {
        return Ok(known);
    }
    let bytes = held.scene().bytes_of_past() as u64;
    let memory = held.quota().lasting().reserve(MemoryKind::Sessions, bytes)?;
    let load = JobSize::of(Counted::all_of(bytes), times(TOLD_PART, held.parts()));
    let job = move || held.make_past(&moment, memory);
    match load.small() {
        Some(small) => Compute::here(small, job).await?,
        None => compute.run_with_session(false, job).await?,
    }
}

/// As [`load`], of a scene that stands apart from its session.
fn load_in_past(past: &PastScene, asked: &AskedInquiry, extent: Counted) -> JobSize {
    if !asked.is_about_points() || past.scene.bytes_of_looks(1) > 0 {
        return JobSize::UNKNOWN;
    }
    let looked_through = if asked.filter.names_groups() {
        extent.and(Counted::all_of(past.memory.bytes()))
    } else {
        extent
    };
    load_of_points(asked, past.parts, looked_through)
}

/// Of questions about points alone.
fn load_of_points(asked: &AskedInquiry, parts: usize, looked_through: Counted) -> JobSize {
    let count = asked.count();
    let at_worst = times(RAY_BODY, count.saturating_mul(parts));
    let guess = times(RAY, count) + asked.hull_time();
    JobSize::within(looked_through, guess, at_worst, QUESTIONS_HOLD_UP_MAX)
}

/// What the answers take: nobody can bound it if they might take longer than others can wait.
fn load(session: &Session, asked: &AskedInquiry, extent: Counted) -> JobSize {
    if !asked.is_about_points() || session.scene().has_meshes() {
        return JobSize::UNKNOWN;
    }
    // Whoever names groups has all groups looked through.
    let looked_through = if asked.filter.names_groups() {
        extent.and(Counted::all_of(session.scene().bytes_of_declaration() as u64))
    } else {
        extent
    };
    load_of_points(asked, session.parts(), looked_through)
}

/// A call on its way: what is asked, and what is answered so far.
struct Inquiry {
    request: api::QuerySceneRequest,
    shared: Shared,
    answers: Answers,
    /// What looks at faces take while they last.
    looks: Option<Reservation>,
}

/// What has become of a call that had the session.
enum Begun {
    Done(Box<api::QuerySceneResponse>),
    /// The rest is asked of a copy.
    Left(Box<Inquiry>, Copied),
}

/// The bodies apart from the session, with the memory that they take.
struct Copied {
    scene: StillScene,
    _memory: Reservation,
}

impl Inquiry {
    fn new(
        request: api::QuerySceneRequest,
        asked: AskedInquiry,
        shared: Shared,
        until: Arc<Until>,
    ) -> Result<Self, Failure> {
        let answers = Answers::new(asked, shared.limits(), shared.clock.now(), until)?;
        Ok(Self { request, shared, answers, looks: None })
    }

    /// Takes memory for looks at faces, of which so many at a time take `bytes_of_looks`. Rays and
    /// points need none: they look at single triangles.
    fn take_room(
        &mut self,
        quota: &MemoryQuota,
        bytes_of_looks: impl Fn(usize) -> usize,
    ) -> Result<(), Failure> {
        let looks = at_once(self.answers.count());
        let of_shapes = self.answers.bytes_of_shapes().saturating_mul(looks as u64);
        let has_faces = bytes_of_looks(1) > 0;
        let of_passages = if has_faces { self.answers.bytes_of_passages() * looks } else { 0 };
        let of_faces = bytes_of_looks(looks).saturating_add(of_passages) as u64;
        let bytes = of_faces.saturating_add(of_shapes);
        if bytes > 0 && !self.answers.are_about_points() {
            self.looks = Some(quota.reserve(MemoryKind::Work, bytes)?);
        }
        Ok(())
    }

    /// The same, for looks at the scene of a session.
    fn take_room_in(&mut self, session: &Held<Session>) -> Result<(), Failure> {
        self.take_room(session.quota(), |at_once| session.scene().bytes_of_looks(at_once))
    }

    /// Answers all of it.
    fn at_once(mut self, session: &Held<Session>) -> Result<api::QuerySceneResponse, Failure> {
        self.take_room_in(session)?;
        let until = self.answers.until().clone();
        self.ask(session, &until)?;
        Ok(self.close(session.scene().frame()))
    }

    /// Answers until the session has to go back to its place.
    fn begin(mut self, session: Held<Session>, here: &Until) -> Result<Begun, Failure> {
        self.take_room_in(&session)?;
        let scene = session.scene();
        let builds = scene.builds_boxes_for(self.answers.count());
        let is_long = builds && scene.bodies().len() > TREE_BODIES_MAX;
        if !is_long && self.ask(&session, here)? || self.answers.until().is_over() {
            return Ok(Begun::Done(Box::new(self.close(scene.frame()))));
        }
        let bytes = scene.bytes_of_copy() as u64;
        let memory = session.quota().reserve(MemoryKind::Work, bytes)?;
        let for_curved = self.answers.bytes_of_shapes() > 0;
        let copy = Copied { scene: scene.still_copy(for_curved), _memory: memory };
        drop(session);
        Ok(Begun::Left(Box::new(self), copy))
    }

    /// Answers what is left.
    fn finish(mut self: Box<Self>, copy: &StillScene) -> Result<api::QuerySceneResponse, Failure> {
        let until = self.answers.until().clone();
        let effort = &Effort::until(u64::MAX, &until);
        match SceneView::of_copy(copy, self.answers.filter(), effort) {
            Ok(view) => {
                self.answers.go_on(&view, &until)?;
            }
            Err(NoView::Unknown(name)) => return Err(unknown_name(&self.request, name).into()),
            Err(NoView::Stopped(_)) => {}
        }
        Ok(self.close(copy.frame()))
    }

    /// Answers as much as may be answered here; says whether that is all.
    fn ask(&mut self, session: &Held<Session>, here: &Until) -> Result<bool, Failure> {
        let (scene, answers) = (session.scene(), &mut self.answers);
        let effort = &Effort::until(u64::MAX, here);
        match SceneView::within(scene, answers.filter(), answers.count(), effort) {
            Ok(view) => answers.go_on(&view, here),
            Err(NoView::Unknown(name)) => Err(unknown_name(&self.request, name).into()),
            Err(NoView::Stopped(_)) => Ok(false),
        }
    }

    /// The reply: what is not answered yet was stopped.
    fn close(self, frame_id: u64) -> api::QuerySceneResponse {
        self.shared.metrics.add(QuestionKind::Scene, self.answers.cost());
        self.answers.close(frame_id, self.shared.clock.now())
    }
}
