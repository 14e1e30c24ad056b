//! `QueryScene`: what a scene that stands still is asked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tonic::metadata::MetadataMap;

use super::host::{SessionHost, credentials, failure, take_out};
use super::session::Session;
use crate::geometry::Vec3;
use crate::geometry::effort::{Cost, Effort, Stopped};
use crate::geometry::meeting::Impact;
use crate::geometry::motion::Motion;
use crate::geometry::pair::Placed;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::Pose;
use crate::rpc::api;
use crate::rpc::convert::body::Unready;
use crate::rpc::convert::geometry::stopped_to_wire;
use crate::rpc::convert::options::cost_to_wire;
use crate::rpc::convert::sessions::casts::{AskedCasts, AskedWay};
use crate::rpc::convert::sessions::hits::{
    CastHits, HitsPacker, PackedHit, cast_to_wire, fit, near_to_wire, overlap_to_wire,
};
use crate::rpc::convert::sessions::inquiry::{
    AskedInquiry, AskedKind, AskedQuestion, point, unknown_name,
};
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::rpc::transport::timing::time_left;
use crate::runtime::compute::NEVER_INLINE;
use crate::runtime::deadline::StopGuard;
use crate::runtime::sessions::Held;
use crate::runtime::sessions::parallel::by_index;
use crate::scene::query::SceneView;
use crate::scene::query::cast::{Cast, CastHit};

/// How long one ray takes in a scene of some thousand bodies: a generous guess.
const RAY_TIME: Duration = Duration::from_micros(8);

/// How long a body may take of one question.
const BODY_TIME: Duration = Duration::from_micros(4);

/// Questions that might hold up the other clients of a thread for longer than this go to the pool.
const HOLD_UP_MAX: Duration = Duration::from_millis(2);

/// Answers questions to the scene of a session.
pub(super) async fn query(
    host: &SessionHost,
    metadata: &MetadataMap,
    mut request: api::QuerySceneRequest,
) -> Result<api::QuerySceneResponse, Failure> {
    let shared = host.shared.clone();
    let key = std::mem::take(&mut request.session_key);
    let brought = credentials(metadata, key, request.incarnation);
    let slot = host.find(&request.session_id, brought)?;
    // Whoever waits keeps its questions in memory.
    let _admitted = slot.admit().map_err(|error| failure(error, &slot.id))?;
    let asked = AskedInquiry::convert(&request, &shared.catalogue())?;
    let time = time_left(shared.limits(), metadata, asked.time)?;
    let guard = StopGuard::after(Some(time));
    let taken = tokio::time::timeout(time, take_out(&slot)).await;
    let held = taken.map_err(|_| Failure::Deadline)??;
    let estimate = estimate(&held, &asked);
    let (compute, stop) = (shared.compute.clone(), guard.flag());
    let job = move || answer(&held, &request, &asked, &shared, &stop);
    compute.run(estimate, job).await?
}

/// How long the answers take: a generous guess, and at least [`NEVER_INLINE`] if that might well be
/// longer than others can wait.
fn estimate(session: &Session, asked: &AskedInquiry) -> Duration {
    let count = u32::try_from(asked.count()).unwrap_or(u32::MAX);
    let parts = u32::try_from(session.parts()).unwrap_or(u32::MAX);
    let at_worst = BODY_TIME.saturating_mul(count).saturating_mul(parts);
    let guess = RAY_TIME.saturating_mul(count) + asked.hull_time();
    let is_small = asked.is_about_points() && at_worst <= HOLD_UP_MAX;
    if is_small { guess } else { guess.max(NEVER_INLINE) }
}

fn answer(
    session: &Held<Session>,
    request: &api::QuerySceneRequest,
    asked: &AskedInquiry,
    shared: &Shared,
    stop: &AtomicBool,
) -> Result<api::QuerySceneResponse, Failure> {
    let start = shared.clock.now();
    let AskedInquiry { rays, casts, filter, .. } = asked;
    let view = SceneView::new(session.scene(), filter, asked.count());
    let view = view.map_err(|unknown| unknown_name(request, unknown))?;
    let limits = shared.limits();
    let hits_max = usize::try_from(limits.scene_hits_max).unwrap_or(usize::MAX);
    let responder = Responder { view, asked, stop, point: point()?, hits_max };
    let (mut room, mut cost) = (limits.scene_reply_bytes_max, Cost::default());
    let answers = responder.answers(&mut room, &mut cost);
    let packed_hits = rays.as_ref().map(|rays| responder.rays(rays, &mut room, &mut cost));
    let packed_cast_hits = match casts {
        None => None,
        Some(casts) => Some(responder.casts(casts, &mut room, &mut cost)?),
    };
    Ok(api::QuerySceneResponse {
        frame_id: session.scene().frame(),
        answers,
        packed_hits,
        packed_cast_hits,
        cost: Some(cost_to_wire(&cost, shared.clock.now().duration_since(start))),
    })
}

/// Questions whose answers are in memory before those that do not fit into the reply are left out.
const QUESTIONS_AT_ONCE: usize = 32;

/// Packed rays and casts of which the same is true.
const PACKED_AT_ONCE: usize = 512;

/// Questions to a scene that is ready to be asked; shared by all threads.
struct Responder<'a> {
    view: SceneView<'a>,
    asked: &'a AskedInquiry,
    stop: &'a AtomicBool,
    /// The shape of rays and points.
    point: Arc<Polytope>,
    /// Hits that one answer may list.
    hits_max: usize,
}

impl Responder<'_> {
    fn answers(&self, room: &mut u64, cost: &mut Cost) -> Vec<api::SceneAnswer> {
        let mut answers = Vec::with_capacity(self.asked.questions.len());
        for questions in self.asked.questions.chunks(QUESTIONS_AT_ONCE) {
            for (mut answer, spent) in by_index(questions.len(), |at| self.answer(&questions[at])) {
                fit(&mut answer, room);
                answers.push(answer);
                *cost += spent;
            }
        }
        answers
    }

    fn rays(&self, rays: &[[Vec3; 2]], room: &mut u64, cost: &mut Cost) -> api::PackedHits {
        let meet = |[origin, velocity]: &[Vec3; 2]| {
            let pose = Pose::translation(origin.x, origin.y, origin.z);
            self.meet(Placed { body: &self.point, pose }, *velocity)
        };
        packed(rays, meet, room, cost)
    }

    fn casts(
        &self,
        casts: &AskedCasts,
        room: &mut u64,
        cost: &mut Cost,
    ) -> Result<api::PackedHits, Failure> {
        let bodies = casts.prepare(&mut Effort::with_stop(u64::MAX, self.stop))?;
        let meet = |way: &AskedWay| {
            let body = &*bodies[way.body as usize];
            self.meet(Placed { body, pose: way.start }, way.velocity)
        };
        Ok(packed(&casts.ways, meet, room, cost))
    }

    fn answer(
        &self,
        question: &Result<AskedQuestion, api::ItemStatus>,
    ) -> (api::SceneAnswer, Cost) {
        let question = match question {
            Ok(question) => question,
            Err(status) => {
                let status = Some(status.clone());
                return (api::SceneAnswer { status, ..Default::default() }, Cost::default());
            }
        };
        let mut effort = Effort::with_stop(self.asked.steps, self.stop);
        let answer = match self.seek(question, &mut effort) {
            Ok(answer) => answer,
            Err(Unready::Stopped(stopped)) => {
                let stopped = stopped_to_wire(Some(stopped)).into();
                api::SceneAnswer { stopped, ..Default::default() }
            }
            Err(Unready::Failed(failure)) => {
                api::SceneAnswer { status: Some(failure.to_item()), ..Default::default() }
            }
        };
        (answer, Cost { queries: 1, ..effort.cost })
    }

    fn seek(
        &self,
        question: &AskedQuestion,
        effort: &mut Effort<'_>,
    ) -> Result<api::SceneAnswer, Unready> {
        let proves = self.asked.certificates;
        // A hull costs no steps of the budget, but time.
        let preparing = &mut Effort::with_stop(u64::MAX, self.stop);
        let (polytope, pose) = question.shape.clone().prepare(&self.point, preparing)?;
        let placed = Placed { body: &polytope, pose };
        let mut answer = api::SceneAnswer::default();
        match question.kind {
            AskedKind::Cast { motion, margin, time_tolerance } => {
                let cast = Cast { start: placed, motion, margin, time_tolerance, proves };
                let to_wire = |hit: &_, impact: &_| cast_to_wire(hit, impact, proves);
                let met = self.cast(&cast, to_wire, effort).map_err(Unready::Stopped)?;
                (answer.hits, answer.omitted_hits) = (met.hits, met.omitted);
            }
            AskedKind::Overlap => {
                let found = self.view.overlaps(&placed, self.asked.hits, effort);
                let found = found.map_err(Unready::Stopped)?;
                let listed = found.iter().take(self.hits_max);
                answer.omitted_hits = found.len().saturating_sub(self.hits_max) as u64;
                answer.hits = listed.map(|hit| overlap_to_wire(hit, proves)).collect();
            }
            AskedKind::Nearest(wanted) => {
                let found = self.view.nearest(&placed, wanted, effort).map_err(Unready::Stopped)?;
                let listed = found.iter().take(self.hits_max);
                answer.omitted_hits = found.len().saturating_sub(self.hits_max) as u64;
                answer.hits = listed.map(|hit| near_to_wire(hit, proves)).collect();
            }
        }
        Ok(answer)
    }

    /// What a packed ray or cast meets.
    fn meet(
        &self,
        start: Placed<'_>,
        velocity: Vec3,
    ) -> (Result<CastHits<PackedHit>, Stopped>, Cost) {
        let mut effort = Effort::with_stop(self.asked.steps, self.stop);
        let motion = Motion::Linear { velocity };
        let cast = Cast { start, motion, margin: 0.0, time_tolerance: 1.0, proves: false };
        let met = self.cast(&cast, PackedHit::new, &mut effort);
        (met, Cost { queries: 1, ..effort.cost })
    }

    fn cast<T>(
        &self,
        cast: &Cast<'_>,
        tell: impl Fn(&CastHit, &Impact) -> T,
        effort: &mut Effort<'_>,
    ) -> Result<CastHits<T>, Stopped> {
        let met = self.view.cast(cast, self.asked.hits, effort)?;
        let listed = met.iter().take(self.hits_max);
        let told = listed.map(|hit| Ok(tell(hit, &self.view.impact(cast, hit, effort)?)));
        let hits = told.collect::<Result<Vec<T>, Stopped>>()?;
        Ok(CastHits { hits, omitted: met.len().saturating_sub(self.hits_max) as u64 })
    }
}

/// What each of some packed rays or casts meets.
fn packed<T: Sync>(
    asked: &[T],
    meet: impl Fn(&T) -> (Result<CastHits<PackedHit>, Stopped>, Cost) + Send + Sync,
    room: &mut u64,
    cost: &mut Cost,
) -> api::PackedHits {
    let mut packer = HitsPacker::default();
    let mut at = 0;
    for asked in asked.chunks(PACKED_AT_ONCE) {
        for (met, spent) in by_index(asked.len(), |index| meet(&asked[index])) {
            packer.add(at, met, room);
            *cost += spent;
            at += 1;
        }
    }
    packer.finish()
}
