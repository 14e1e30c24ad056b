//! The answers to a call of `QueryScene`, found one after the other until a flag is set, and gone
//! on with later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clearance_bodies::table::place::{ConvexPart, Place};
use clearance_bodies::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Cost, Effort, Stopped};
use clearance_geometry::meeting::Impact;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Placed;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_runtime::sessions::parallel::by_index;
use clearance_runtime::settings::Limits;
use clearance_scene::query::cast::{Cast, CastHit};
use clearance_scene::query::{BodyFilter, SceneView, Visitor};
use clearance_wire::convert::body::Unready;
use clearance_wire::convert::geometry::stopped_to_wire;
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::sessions::casts::AskedWay;
use clearance_wire::convert::sessions::hits::{
    CastHits, HitsPacker, PackedHit, cast_to_wire, fit, near_to_wire, overlap_to_wire,
};
use clearance_wire::convert::sessions::inquiry::{AskedInquiry, AskedKind, AskedQuestion, point};
use clearance_wire::status::Failure;

/// A body where it is.
fn visitor<'a>(part: ConvexPart<'a>, pose: Pose) -> Visitor<'a> {
    Visitor { core: Placed { body: part.polytope, pose }, radius: part.radius }
}

/// Questions whose answers are in memory before those that do not fit into the reply are left out.
const QUESTIONS_AT_ONCE: usize = 32;

/// PackedAnswers rays and casts of which the same is true.
const PACKED_AT_ONCE: usize = 512;

/// What is asked, and what is answered so far.
pub(super) struct Answers {
    asked: AskedInquiry,
    /// The shape of rays and points.
    point: Body,
    /// Hits that one answer may list.
    hits_max: usize,
    start: Instant,
    reply: Reply,
    answers: Vec<api::SceneAnswer>,
    rays: PackedAnswers,
    casts: PackedAnswers,
    /// The polytopes of packed casts, once they are ready.
    bodies: Option<Vec<Body>>,
}

/// Until when questions are answered.
#[derive(Clone, Copy)]
pub(super) struct AnswerUntil<'a> {
    /// Set when no more are to be answered here.
    pub(super) stop: &'a AtomicBool,
    /// Set when none are to be answered anywhere: then what is stopped on its way remains so.
    pub(super) over: &'a AtomicBool,
}

impl AnswerUntil<'_> {
    fn is_over(self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// What is the same for all answers of a reply.
struct Reply {
    /// Bytes that it has left for hits.
    room: u64,
    cost: Cost,
}

/// The answers to packed rays or casts.
#[derive(Default)]
struct PackedAnswers {
    packer: HitsPacker,
    /// How many are answered.
    done: usize,
}

impl Answers {
    /// None yet.
    pub(super) fn new(
        asked: AskedInquiry,
        limits: &Limits,
        start: Instant,
    ) -> Result<Self, Failure> {
        Ok(Self {
            point: point()?,
            hits_max: usize::try_from(limits.scene_hits_max).unwrap_or(usize::MAX),
            start,
            reply: Reply { room: limits.scene_reply_bytes_max, cost: Cost::default() },
            answers: Vec::with_capacity(asked.questions.len()),
            rays: PackedAnswers::default(),
            casts: PackedAnswers::default(),
            bodies: None,
            asked,
        })
    }

    /// How many questions there are.
    pub(super) fn count(&self) -> usize {
        self.asked.count()
    }

    /// What they have cost so far.
    pub(super) fn cost(&self) -> &Cost {
        &self.reply.cost
    }

    /// Which bodies they are about.
    pub(super) fn filter(&self) -> &BodyFilter {
        &self.asked.filter
    }

    /// Answers one after the other until it is stopped; says whether that is all. What is stopped
    /// on its way is asked again from its beginning, unless all is over.
    pub(super) fn go_on(
        &mut self,
        view: &SceneView<'_>,
        until: AnswerUntil<'_>,
    ) -> Result<bool, Failure> {
        let AnswerUntil { stop, .. } = until;
        let Self { asked, point, reply, answers, rays, casts, bodies, .. } = self;
        let responder = Responder { view, asked, stop, point, hits_max: self.hits_max };
        while answers.len() < asked.questions.len() {
            let some = asked.questions[answers.len()..].iter().take(QUESTIONS_AT_ONCE);
            let some: Vec<_> = some.collect();
            let mut is_stopped = false;
            for (mut answer, spent) in by_index(some.len(), |at| responder.answer(some[at])) {
                is_stopped |= answer.stopped() == api::Stopped::Deadline;
                if is_stopped && !until.is_over() {
                    return Ok(false);
                }
                fit(&mut answer, &mut reply.room);
                answers.push(answer);
                reply.cost += spent;
            }
            if is_stopped {
                return Ok(false);
            }
        }
        let all_rays = asked.rays.as_deref().unwrap_or_default();
        let point = Place::SceneQuery.part(point)?;
        let meet = |[origin, velocity]: &[Vec3; 2]| {
            let pose = Pose::translation(origin.x, origin.y, origin.z);
            responder.meet(visitor(point, pose), *velocity)
        };
        if !rays.go_on(all_rays, meet, until, reply) {
            return Ok(false);
        }
        let Some(asked_casts) = &asked.casts else { return Ok(true) };
        if bodies.is_none() {
            match asked_casts.prepare(&mut Effort::with_stop(u64::MAX, stop)) {
                Ok(ready) => *bodies = Some(ready),
                Err(Unready::Stopped(_)) => return Ok(false),
                Err(Unready::Failed(failure)) => return Err(failure),
            }
        }
        let parts = bodies.iter().flatten().map(|body| Place::SceneQuery.part(body));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let meet = |way: &AskedWay| {
            responder.meet(visitor(parts[way.body as usize], way.start), way.velocity)
        };
        Ok(casts.go_on(&asked_casts.ways, meet, until, reply))
    }

    /// The reply: of what is not answered it says that it was stopped.
    pub(super) fn close(self, frame_id: u64, now: Instant) -> api::QuerySceneResponse {
        let Self { asked, mut answers, reply, start, rays, casts, .. } = self;
        let Reply { mut room, cost } = reply;
        let stopped = stopped_to_wire(Some(Stopped::Deadline)).into();
        let is_left = |question: &Result<AskedQuestion, api::ItemStatus>| match question {
            Ok(_) => api::SceneAnswer { stopped, ..Default::default() },
            Err(status) => api::SceneAnswer { status: Some(status.clone()), ..Default::default() },
        };
        let left = asked.questions[answers.len()..].iter().map(is_left);
        answers.extend(left);
        let rays = asked.rays.map(|all| rays.close(all.len(), &mut room));
        let casts = asked.casts.map(|all| casts.close(all.ways.len(), &mut room));
        api::QuerySceneResponse {
            frame_id,
            answers,
            packed_hits: rays,
            packed_cast_hits: casts,
            cost: Some(cost_to_wire(&cost, now.duration_since(start))),
        }
    }
}

impl PackedAnswers {
    /// What each of them meets that is not answered yet, until one is stopped; says whether none
    /// was.
    fn go_on<T: Sync>(
        &mut self,
        asked: &[T],
        meet: impl Fn(&T) -> (Result<CastHits<PackedHit>, Stopped>, Cost) + Send + Sync,
        until: AnswerUntil<'_>,
        reply: &mut Reply,
    ) -> bool {
        while self.done < asked.len() {
            let some = &asked[self.done..asked.len().min(self.done + PACKED_AT_ONCE)];
            let mut is_stopped = false;
            for (met, spent) in by_index(some.len(), |index| meet(&some[index])) {
                is_stopped |= matches!(met, Err(Stopped::Deadline));
                if is_stopped && !until.is_over() {
                    return false;
                }
                self.add(met, &mut reply.room);
                reply.cost += spent;
            }
            if is_stopped {
                return false;
            }
        }
        true
    }

    fn add(&mut self, met: Result<CastHits<PackedHit>, Stopped>, room: &mut u64) {
        let at = u32::try_from(self.done).expect("packed questions are limited");
        self.packer.add(at, met, room);
        self.done += 1;
    }

    /// All of them: of those that are left it says that they were stopped.
    fn close(mut self, count: usize, room: &mut u64) -> api::PackedHits {
        while self.done < count {
            self.add(Err(Stopped::Deadline), room);
        }
        self.packer.finish()
    }
}

/// Questions to a scene that is ready to be asked; shared by all threads.
struct Responder<'a> {
    view: &'a SceneView<'a>,
    asked: &'a AskedInquiry,
    stop: &'a AtomicBool,
    point: &'a Body,
    hits_max: usize,
}

impl Responder<'_> {
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
        let PlacedBody { body, pose } = question.shape.clone().prepare(self.point, preparing)?;
        let part = Place::SceneQuery.part(&body).map_err(Failure::from)?;
        let placed = visitor(part, pose);
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
        start: Visitor<'_>,
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
