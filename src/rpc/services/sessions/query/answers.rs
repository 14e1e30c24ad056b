//! The answers to a call of `QueryScene`, found one after the other, for a while here, and gone on
//! with elsewhere.

use std::sync::Arc;
use std::time::Instant;

use clearance_bodies::table::place::{ConvexPart, Place};
use clearance_bodies::table::{NotAnswered, Wanted};
use clearance_bodies::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Cost, Effort, Stopped};
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_runtime::sessions::parallel::by_index;
use clearance_runtime::settings::Limits;
use clearance_scene::query::cast::BYTES_OF_PASSAGES;
use clearance_scene::query::cast::{Cast, CastHit};
use clearance_scene::query::{BodyFilter, HitSelection, QueryShape, SceneView, Visitor};
use clearance_wire::convert::body::Unready;
use clearance_wire::convert::geometry::stopped_to_wire;
use clearance_wire::convert::options::cost_to_wire;
use clearance_wire::convert::sessions::casts::AskedWay;
use clearance_wire::convert::sessions::hits::{
    CastHits, CastPlace, HitsPacker, PackedHit, cast_to_wire, fit, near_to_wire, overlap_to_wire,
};
use clearance_wire::convert::sessions::inquiry::{
    AskedInquiry, AskedKind, AskedQuestion, AskedRays, point,
};
use clearance_wire::status::Failure;

/// A body as scenes are asked about it.
fn shape_of(body: &Body) -> Result<QueryShape, NotAnswered> {
    if let Some(curved) = QueryShape::of_curved(body) {
        return Ok(curved);
    }
    let ConvexPart { polytope, radius } = Place::QueryShape.part(body)?;
    Ok(QueryShape::new(polytope.clone(), radius))
}

/// Questions whose answers are in memory before those that do not fit into the reply are left out.
const QUESTIONS_AT_ONCE: usize = 32;

/// PackedAnswers rays and casts of which the same is true.
const PACKED_AT_ONCE: usize = 512;

/// The same where each is told with all that it meets, which may be very many bodies.
const PACKED_AT_ONCE_WITH_ALL: usize = 64;

/// What is asked, and what is answered so far.
pub(super) struct Answers {
    asked: AskedInquiry,
    /// The shape of rays and points.
    point: Body,
    /// What answers to questions that are not packed are to bring with them.
    wanted: Wanted,
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

/// What is the same for all answers of a reply.
struct Reply {
    /// Until when somebody waits for it: what is stopped on its way after that remains so.
    until: Arc<Until>,
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
        until: Arc<Until>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            point: point()?,
            wanted: Wanted {
                certificate: asked.certificates,
                cover_steps_max: limits.cover_steps_max,
            },
            hits_max: usize::try_from(limits.scene_hits_max).unwrap_or(usize::MAX),
            start,
            reply: Reply { until, room: limits.scene_reply_bytes_max, cost: Cost::default() },
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

    /// Whether all of them are about points, and none about what is nearest.
    pub(super) fn are_about_points(&self) -> bool {
        self.asked.is_about_points()
    }

    /// What a look at one of their shapes makes of that, bytes at most.
    pub(super) fn bytes_of_shapes(&self) -> u64 {
        self.asked.bytes_of_shapes()
    }

    /// What is kept of the faces of one body while its way is looked at, bytes at most.
    pub(super) fn bytes_of_passages(&self) -> usize {
        if self.asked.looks_at_whole_ways() { BYTES_OF_PASSAGES } else { 0 }
    }

    /// What they have cost so far.
    pub(super) fn cost(&self) -> &Cost {
        &self.reply.cost
    }

    /// Which bodies they are about.
    pub(super) fn filter(&self) -> &BodyFilter {
        &self.asked.filter
    }

    /// Until when somebody waits for the reply.
    pub(super) fn until(&self) -> &Arc<Until> {
        &self.reply.until
    }

    /// Answers one after the other as long as it may `here`; says whether that is all. What is
    /// stopped on its way is asked again from its beginning, unless nobody waits for the reply.
    pub(super) fn go_on(&mut self, view: &SceneView<'_>, here: &Until) -> Result<bool, Failure> {
        let Self { asked, point, reply, answers, rays, casts, bodies, .. } = self;
        let wanted = self.wanted;
        let responder = Responder { view, asked, here, point, wanted, hits_max: self.hits_max };
        while answers.len() < asked.questions.len() {
            let some = asked.questions[answers.len()..].iter().take(QUESTIONS_AT_ONCE);
            let some: Vec<_> = some.collect();
            let mut is_stopped = false;
            for (mut answer, spent) in by_index(some.len(), |at| responder.answer(some[at])) {
                is_stopped |= answer.stopped() == api::Stopped::Deadline;
                if is_stopped && !reply.until.is_over() {
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
        let at_once = match asked.hits {
            HitSelection::All => PACKED_AT_ONCE_WITH_ALL,
            HitSelection::First | HitSelection::Any => PACKED_AT_ONCE,
        };
        let point = shape_of(point)?;
        if let Some(AskedRays { ways, own }) = &asked.rays {
            own.check(|body| view.has(body)).map_err(Failure::from)?;
            let meet = |at: usize, [origin, velocity]: &[Vec3; 2]| {
                let pose = Pose::translation(origin.x, origin.y, origin.z);
                responder.meet(point.at(pose).leaving_out(own.filter(at)), *velocity)
            };
            if !rays.go_on(ways, at_once, meet, reply) {
                return Ok(false);
            }
        }
        let Some(asked_casts) = &asked.casts else { return Ok(true) };
        let own = &asked_casts.own;
        own.check(|body| view.has(body)).map_err(Failure::from)?;
        if bodies.is_none() {
            match asked_casts.prepare(&mut Effort::until(u64::MAX, here)) {
                Ok(ready) => *bodies = Some(ready),
                Err(Unready::Stopped(_)) => return Ok(false),
                Err(Unready::Failed(failure)) => return Err(failure),
            }
        }
        let shapes = bodies.iter().flatten().map(shape_of).collect::<Result<Vec<_>, _>>()?;
        let meet = |at: usize, way: &AskedWay| {
            let start = shapes[way.body as usize].at(way.start);
            responder.meet(start.leaving_out(own.filter(at)), way.velocity)
        };
        Ok(casts.go_on(&asked_casts.ways, at_once, meet, reply))
    }

    /// The reply: of what is not answered it says that it was stopped.
    pub(super) fn close(self, frame_id: u64, now: Instant) -> api::QuerySceneResponse {
        let Self { asked, mut answers, reply, start, rays, casts, .. } = self;
        let Reply { mut room, cost, .. } = reply;
        let stopped = stopped_to_wire(Some(Stopped::Deadline)).into();
        let is_left = |question: &Result<AskedQuestion, api::ItemStatus>| match question {
            Ok(_) => api::SceneAnswer { stopped, ..Default::default() },
            Err(status) => api::SceneAnswer { status: Some(status.clone()), ..Default::default() },
        };
        let left = asked.questions[answers.len()..].iter().map(is_left);
        answers.extend(left);
        let rays = asked.rays.map(|all| rays.close(all.ways.len(), &mut room));
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
        at_once: usize,
        meet: impl Fn(usize, &T) -> (Result<CastHits<PackedHit>, Stopped>, Cost) + Send + Sync,
        reply: &mut Reply,
    ) -> bool {
        while self.done < asked.len() {
            let begun = self.done;
            let some = &asked[begun..asked.len().min(begun + at_once)];
            let mut is_stopped = false;
            for (met, spent) in by_index(some.len(), |at| meet(begun + at, &some[at])) {
                is_stopped |= matches!(met, Err(Stopped::Deadline));
                if is_stopped && !reply.until.is_over() {
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
    here: &'a Until,
    point: &'a Body,
    /// Of questions that are not packed.
    wanted: Wanted,
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
        let mut effort = Effort::until(self.asked.steps, self.here);
        let found = self.seek(question, &mut effort);
        let answer = match found.and_then(|answer| self.in_time(answer).map_err(Unready::Stopped)) {
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

    /// What was found when the time was over may lack what there was none left for: a proof, or a
    /// search that ended undecided.
    fn in_time<T>(&self, found: T) -> Result<T, Stopped> {
        if self.here.is_over() { Err(Stopped::Deadline) } else { Ok(found) }
    }

    fn seek(
        &self,
        question: &AskedQuestion,
        effort: &mut Effort<'_>,
    ) -> Result<api::SceneAnswer, Unready> {
        let proves = self.wanted.certificate;
        // A hull costs no steps of the budget, but time.
        let preparing = &mut Effort::until(u64::MAX, self.here);
        let PlacedBody { body, pose } = question.shape.clone().prepare(self.point, preparing)?;
        let shape = shape_of(&body).map_err(Failure::from)?;
        question.own.check(|body| self.view.has(body)).map_err(Failure::from)?;
        let placed = shape.at(pose).wanting(self.wanted).leaving_out(question.own.filter());
        let mut answer = api::SceneAnswer::default();
        match question.kind {
            AskedKind::Cast { motion, margin, time_tolerance } => {
                let starts = self.asked.starts;
                let without_seams = self.asked.without_seams;
                let cast =
                    Cast { start: placed, motion, margin, time_tolerance, starts, without_seams };
                let to_wire = |hit: &_, place: &_| cast_to_wire(hit, place, proves);
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
        let mut effort = Effort::until(self.asked.steps, self.here);
        let &AskedInquiry { starts, without_seams, .. } = self.asked;
        let cast = Cast { starts, without_seams, ..Cast::along(start, velocity) };
        let met = self.cast(&cast, PackedHit::new, &mut effort);
        let met = met.and_then(|met| self.in_time(met));
        (met, Cost { queries: 1, ..effort.cost })
    }

    fn cast<T>(
        &self,
        cast: &Cast<'_>,
        tell: impl Fn(&CastHit, &CastPlace) -> T,
        effort: &mut Effort<'_>,
    ) -> Result<CastHits<T>, Stopped> {
        let met = self.view.cast(cast, self.asked.hits, effort)?;
        let listed = met.iter().take(self.hits_max);
        let told = listed.map(|hit| {
            let impact = self.view.impact(cast, hit, effort)?;
            let leave = match self.asked.exits {
                true => Some(self.view.leave(cast, hit, effort)?),
                false => None,
            };
            Ok(tell(hit, &CastPlace { impact, leave }))
        });
        let hits = told.collect::<Result<Vec<T>, Stopped>>()?;
        Ok(CastHits { hits, omitted: met.len().saturating_sub(self.hits_max) as u64 })
    }
}
