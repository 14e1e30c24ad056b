//! What the questions about two bodies have in common.

use std::sync::Arc;
use std::time::Duration;

use prost::Message;

use crate::rpc::shared::Shared;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::{Needs, NotAnswered, Wanted};
use clearance_geometry::effort::{Cost, Effort, Stopped};
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_runtime::clock::Clock;
use clearance_runtime::compute::JobSize;
use clearance_runtime::deadline::Deadline;
use clearance_runtime::metrics::{Ending, Metrics, QuestionKind};
use clearance_transport::intake::Intake;
use clearance_wire::convert::body::{AskedBody, Unready};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::options::{AnswerOptions, cost_to_wire};
use clearance_wire::path::{NotImplemented, Path};
use clearance_wire::status::Failure;

/// A question of one kind, checked.
pub(super) trait Question: Sized + Send + 'static {
    /// What is sent.
    type Wire: Send + Sync;
    /// What is answered.
    type Answer: Message + Send + 'static;
    /// As what it is counted.
    const KIND: QuestionKind;

    /// Checks everything that can be wrong with it.
    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure>;
    /// What every question about two bodies has.
    fn common(&self) -> &AskedOfTwo;
    /// Whether the answer was cut short.
    fn has_stopped(answer: &Self::Answer) -> bool;
    /// The answer; takes a while.
    fn answer(self, run: &Run) -> Result<Self::Answer, Failure>;
}

/// What every question about two bodies has.
#[derive(Clone, Debug)]
pub(super) struct AskedOfTwo {
    /// P and Q.
    pub(super) bodies: [AskedBody; 2],
    /// How to answer.
    pub(super) options: AnswerOptions,
    /// What is built of the bodies before the answer.
    needs: Needs,
    /// How long the answer takes once the bodies are ready: a generous guess.
    time: Duration,
}

impl AskedOfTwo {
    /// `nanoseconds` says how long the answer takes for so many vertices of both bodies.
    pub(super) fn new(
        bodies: [AskedBody; 2],
        options: AnswerOptions,
        needs: Needs,
        nanoseconds: impl FnOnce(u32) -> u64,
    ) -> Self {
        let [p, q] = bodies.each_ref().map(|body| u32::try_from(body.size()).unwrap_or(u32::MAX));
        let time = Duration::from_nanos(nanoseconds(p.saturating_add(q)));
        Self { bodies, options, needs, time }
    }

    /// How long the question takes with the hulls that are to be built for it: a generous guess.
    /// None: nobody can say.
    pub(super) fn estimate(&self) -> Option<Duration> {
        let building: Duration = self.bodies.iter().map(AskedBody::time_to_build).sum();
        // The exhaustive methods take minutes for what the default ones do in a millisecond.
        self.options.is_default_method.then_some(self.time + building)
    }

    /// What it takes to build what the question needs, bytes: hulls, tables of bodies, which stay,
    /// and what is made of bodies for the question alone.
    pub(super) fn working_bytes(&self) -> u64 {
        self.bodies.iter().fold(0, |sum, body| sum.saturating_add(body.working_bytes(self.needs)))
    }
}

/// What a running question needs.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Until when the answer is waited for.
    pub(super) until: Arc<Until>,
    /// For the cost.
    pub(super) clock: Arc<dyn Clock>,
    /// Where the cost is counted.
    pub(super) metrics: Arc<Metrics>,
    /// How long the proof that boundaries do not meet may be.
    cover_steps_max: u64,
}

impl Run {
    /// For a question whose answer is waited for until then.
    pub(super) fn new(shared: &Shared, deadline: &Deadline) -> Self {
        Self {
            until: deadline.until().clone(),
            clock: shared.clock.clone(),
            metrics: shared.metrics.clone(),
            cover_steps_max: shared.limits().cover_steps_max,
        }
    }

    /// What an answer is to bring with it.
    pub(super) fn wanted(&self, options: &AnswerOptions) -> Wanted {
        let certificate = !options.omit_certificate;
        Wanted { certificate, cover_steps_max: self.cover_steps_max }
    }

    /// Prepares bodies, lets `search` look at them, and counts what it cost. Preparing costs no
    /// steps of the budget, but time.
    pub(super) fn measure<B, T>(
        &self,
        asked: QuestionKind,
        prepare: impl FnOnce(&mut Effort<'_>) -> Result<B, Unready>,
        options: &AnswerOptions,
        search: impl FnOnce(&B, &mut Effort<'_>) -> Result<T, Stopped>,
    ) -> Result<(Result<T, Stopped>, api::Cost), Failure> {
        let start = self.clock.now();
        let mut effort = options.effort(&self.until);
        let found = match prepare(&mut Effort::until(u64::MAX, &self.until)) {
            Ok(bodies) => search(&bodies, &mut effort),
            Err(Unready::Stopped(why)) => Err(why),
            Err(Unready::Failed(failure)) => return Err(failure),
        };
        // One question, whatever it asked of the layers below.
        let cost = Cost { queries: 1, ..effort.cost };
        self.metrics.add(asked, &cost);
        Ok((found, cost_to_wire(&cost, self.clock.now().duration_since(start))))
    }
}

/// Counts a question by what became of it.
pub(super) fn count<Q: Question>(metrics: &Metrics, answer: &Result<Q::Answer, Failure>) {
    metrics.count(Q::KIND, Ending::of(answer, Q::has_stopped));
}

/// Has a question answered that takes so much and so many bytes meanwhile; there is room for the
/// answer before it is sent.
pub(super) async fn answered<A: Message + Send + 'static>(
    shared: &Shared,
    intake: Intake,
    load: JobSize,
    bytes: u64,
    answer: impl FnOnce() -> Result<A, Failure> + Send + 'static,
) -> Result<A, Failure> {
    // Until the job is done, whether somebody waits for it or not.
    let work = intake.work(bytes)?;
    let unsent = shared.unsent.clone();
    let answer = shared.compute.run(load, move || {
        let answer = answer();
        drop(work);
        let answer = answer?;
        // It may have a proof of any length, and waits for the thread that sends it.
        let room = unsent.room_for_answer(answer.encoded_len(), &intake)?;
        Ok::<_, Failure>((answer, room))
    });
    let (answer, _room) = answer.await??;
    Ok(answer)
}

/// Both bodies, with the hulls of given points.
pub(super) fn prepare(
    [p, q]: [AskedBody; 2],
    effort: &mut Effort<'_>,
) -> Result<[PlacedBody; 2], Unready> {
    Ok([p.prepare(effort)?, q.prepare(effort)?])
}

/// Where a question was asked, for what only the preparation of its bodies can find wrong.
#[derive(Clone, Debug)]
pub(super) struct AskedAt(Option<String>);

impl AskedAt {
    /// Remembers the path of a question if the preparation can find anything wrong.
    pub(super) fn of(path: &Path<'_>, needs: Needs) -> Self {
        Self(needs.makes_solids().then(|| path.to_string()))
    }

    /// Refuses what the preparation found, with the path of its field.
    pub(super) fn refuse(&self, refused: &NotAnswered) -> Unready {
        let (field, what) = (refused.field, refused.with_instead().into());
        let field = match self.0.as_deref() {
            None | Some("") => field.to_owned(),
            Some(at) => format!("{at}.{field}"),
        };
        Unready::Failed(NotImplemented { field, what }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::services::queries::collision::CollisionQuestion;
    use clearance_bodies::Body;
    use clearance_geometry::Vec3;
    use clearance_geometry::hull::convex_hull;
    use clearance_geometry::polyhedron::Polyhedron;
    use clearance_runtime::compute::INLINE_MAX;
    use clearance_runtime::memory::MemoryQuota;
    use clearance_runtime::robots::RobotStore;
    use clearance_runtime::settings::Limits;
    use clearance_runtime::store::{NewPolytope, PolytopeStore, Stored};
    use clearance_samples::ball;

    /// Four calls of 45 bytes with the method `exhaustive` were taken for small: they ran on the
    /// runtime's own threads, and nobody else was answered for eleven seconds.
    #[test]
    fn only_the_default_method_runs_on_the_callers_thread() {
        let (store, limits) = (&PolytopeStore::default(), &Limits::default());
        let check = |method: &str, may_be_inline: bool| {
            let xyz = vec![0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.];
            let source = Some(api::placed_body::Source::Vertices(api::Points { xyz }));
            let body = Some(api::PlacedBody { source, pose: None });
            let options = api::QueryOptions { method: method.to_owned(), ..Default::default() };
            let wire = api::CheckCollisionRequest {
                p: body.clone(),
                q: body,
                options: Some(options),
                ..Default::default()
            };
            let catalogue = &Catalogue { store, robots: &RobotStore::default(), limits };
            let question = CollisionQuestion::convert(&Path::ROOT, &wire, catalogue).unwrap();
            let is_small = question.common().estimate().is_some_and(|time| time <= INLINE_MAX);
            assert_eq!(is_small, may_be_inline, "{method}");
        };
        for (method, may_be_inline) in
            [("", true), ("AUTO", true), ("hs_jump", true), ("exhaustive", false), ("gjk", false)]
        {
            check(method, may_be_inline);
        }
    }

    /// A polytope beside a polyhedron is made one for each question, and a polyhedron is placed,
    /// which nobody had counted.
    #[test]
    fn a_question_takes_memory_for_polyhedra_that_are_made_and_placed() {
        let (store, limits) = (&PolytopeStore::default(), &Limits::default());
        let effort = &mut Effort::unlimited();
        let corners = [[0., 0., 0.], [8., 0., 0.], [0., 8., 0.], [0., 0., 8.]].map(Vec3::from);
        let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
        let polyhedron = Polyhedron::new(&corners, &triangles, effort).unwrap();
        let hull = convex_hull(&corners).unwrap().polytope;
        let tetrahedron = Stored::new(Body::of_polyhedron(polyhedron, hull), effort).unwrap();
        let ball = Stored::new(ball(300, 1).into(), effort).unwrap();
        for (stored, alias) in [(tetrahedron, "tetrahedron"), (ball, "ball")] {
            let alias = Some(alias.to_owned());
            let new =
                NewPolytope { stored, alias, move_alias: false, alias_key: None, made_key: None };
            store.register(vec![new], &MemoryQuota::of_nobody(), limits).unwrap();
        }
        let bytes = |p: &str, q: &str| {
            let body = |alias: &str| {
                let source = Some(api::placed_body::Source::Alias(alias.to_owned()));
                Some(api::PlacedBody { source, pose: None })
            };
            let (p, q) = (body(p), body(q));
            let wire = api::CheckCollisionRequest { p, q, ..Default::default() };
            let catalogue = &Catalogue { store, robots: &RobotStore::default(), limits };
            let question = CollisionQuestion::convert(&Path::ROOT, &wire, catalogue).unwrap();
            question.common().working_bytes()
        };
        assert_eq!(bytes("ball", "ball"), 0);
        assert!(bytes("tetrahedron", "tetrahedron") >= 2 * 4 * 1024);
        assert!(bytes("ball", "tetrahedron") >= 300 * 512 + 4 * 1024);
        assert_eq!(bytes("tetrahedron", "ball"), bytes("ball", "tetrahedron"));
    }
}
