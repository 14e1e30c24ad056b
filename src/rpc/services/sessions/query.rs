//! `QueryScene`: what a scene that stands still is asked.
//!
//! Frames wait while a session is out. So questions have the scene itself for [`HOLD_MAX`]; what is
//! not answered by then is asked of a copy of the bodies, while the session is in its place again
//! and moves on. All answers are about the same frame, and the same whichever way they are found.

mod answers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tonic::metadata::MetadataMap;

use self::answers::{AnswerUntil, Answers};
use super::host::{SessionHost, credentials, failure, take_out};
use super::session::Session;
use crate::rpc::shared::Shared;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::compute::{Compute, Counted, JobSize};
use clearance_runtime::deadline::StopGuard;
use clearance_runtime::memory::{MemoryKind, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_runtime::sessions::Held;
use clearance_scene::query::{NoView, SceneView, StillScene};
use clearance_transport::intake::Intake;
use clearance_transport::timing::time_left;
use clearance_wire::convert::sessions::inquiry::{AskedInquiry, about_mesh, unknown_name};
use clearance_wire::status::Failure;

/// How long one ray takes in a scene of some thousand bodies: a generous guess.
const RAY_TIME: Duration = Duration::from_micros(8);

/// How long a body may take of one question.
const BODY_TIME: Duration = Duration::from_micros(4);

/// Questions that might hold up the other clients of a thread for longer than this go to the pool.
const HOLD_UP_MAX: Duration = Duration::from_millis(2);

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
    let time = time_left(shared.limits(), metadata, asked.time)?;
    let guard = StopGuard::after(Some(time));
    let taken = tokio::time::timeout(time, take_out(&slot)).await;
    let held = taken.map_err(|_| Failure::Deadline)??;
    let load = load(&held, &asked, intake.extent());
    let inquiry = Inquiry::new(request, asked, shared, guard.flag())?;
    if let Some(small) = load.small() {
        return Compute::here(small, move || inquiry.at_once(&held)).await?;
    }
    let holding = StopGuard::after(Some(HOLD_MAX.min(time)));
    let until = holding.flag();
    let begin = move || inquiry.begin(held, &until);
    let (inquiry, copy) = match compute.run_with_session(false, begin).await?? {
        Begun::Done(answer) => return Ok(*answer),
        Begun::Left(inquiry, copy) => (inquiry, copy),
    };
    compute.run_when_free(JobSize::UNKNOWN, move || inquiry.finish(&copy)).await?
}

/// What the answers take: nobody can bound it if they might take longer than others can wait.
fn load(session: &Session, asked: &AskedInquiry, extent: Counted) -> JobSize {
    let count = u32::try_from(asked.count()).unwrap_or(u32::MAX);
    let parts = u32::try_from(session.parts()).unwrap_or(u32::MAX);
    let at_worst = BODY_TIME.saturating_mul(count).saturating_mul(parts);
    if !asked.is_about_points() || at_worst > HOLD_UP_MAX {
        return JobSize::UNKNOWN;
    }
    // Whoever names groups has all groups looked through.
    let looked_through = if asked.filter.names_groups() {
        extent.and(Counted::all_of(session.scene().bytes_of_declaration() as u64))
    } else {
        extent
    };
    JobSize::of(looked_through, RAY_TIME.saturating_mul(count) + asked.hull_time())
}

/// A call on its way: what is asked, and what is answered so far.
struct Inquiry {
    request: api::QuerySceneRequest,
    shared: Shared,
    /// Set when nobody waits any more.
    stop: Arc<AtomicBool>,
    answers: Answers,
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
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let answers = Answers::new(asked, shared.limits(), shared.clock.now())?;
        Ok(Self { request, shared, stop, answers })
    }

    /// Answers all of it.
    fn at_once(mut self, session: &Held<Session>) -> Result<api::QuerySceneResponse, Failure> {
        let stop = self.stop.clone();
        self.ask(session, &stop)?;
        Ok(self.close(session.scene().frame()))
    }

    /// Answers until the session has to go back to its place.
    fn begin(mut self, session: Held<Session>, until: &AtomicBool) -> Result<Begun, Failure> {
        let scene = session.scene();
        let builds = scene.builds_boxes_for(self.answers.count());
        let is_long = builds && scene.bodies().len() > TREE_BODIES_MAX;
        if !is_long && self.ask(&session, until)? || self.stop.load(Ordering::Relaxed) {
            return Ok(Begun::Done(Box::new(self.close(scene.frame()))));
        }
        let bytes = scene.bytes_of_copy() as u64;
        let memory = session.quota().reserve(MemoryKind::Work, bytes)?;
        let copy = Copied { scene: scene.still_copy(), _memory: memory };
        drop(session);
        Ok(Begun::Left(Box::new(self), copy))
    }

    /// Answers what is left.
    fn finish(mut self: Box<Self>, copy: &Copied) -> Result<api::QuerySceneResponse, Failure> {
        let effort = &Effort::with_stop(u64::MAX, &self.stop);
        match SceneView::of_copy(&copy.scene, self.answers.filter(), effort) {
            Ok(view) => {
                let until = AnswerUntil { stop: &self.stop, over: &self.stop };
                self.answers.go_on(&view, until)?;
            }
            Err(NoView::Unknown(name)) => return Err(unknown_name(&self.request, name).into()),
            Err(NoView::OfMesh(body)) => return Err(about_mesh(body).into()),
            Err(NoView::Stopped(_)) => {}
        }
        Ok(self.close(copy.scene.frame()))
    }

    /// Answers as much as may be answered until a flag is set; says whether that is all.
    fn ask(&mut self, session: &Held<Session>, until: &AtomicBool) -> Result<bool, Failure> {
        let (scene, answers) = (session.scene(), &mut self.answers);
        let effort = &Effort::with_stop(u64::MAX, until);
        let until = AnswerUntil { stop: until, over: &self.stop };
        match SceneView::within(scene, answers.filter(), answers.count(), effort) {
            Ok(view) => answers.go_on(&view, until),
            Err(NoView::Unknown(name)) => Err(unknown_name(&self.request, name).into()),
            Err(NoView::OfMesh(body)) => Err(about_mesh(body).into()),
            Err(NoView::Stopped(_)) => Ok(false),
        }
    }

    /// The reply: what is not answered yet was stopped.
    fn close(self, frame_id: u64) -> api::QuerySceneResponse {
        self.shared.metrics.add(QuestionKind::Scene, self.answers.cost());
        self.answers.close(frame_id, self.shared.clock.now())
    }
}
