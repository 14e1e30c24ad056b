//! What the questions about two bodies have in common.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use prost::Message;

use crate::rpc::shared::Shared;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::{Needs, NotAnswered, Wanted};
use clearance_geometry::effort::{Cost, Effort, Stopped};
use clearance_proto as api;
use clearance_runtime::clock::Clock;
use clearance_runtime::deadline::StopGuard;
use clearance_runtime::metrics::{Ending, Metrics, QuestionKind};
use clearance_wire::convert::body::{AskedBody, Unready, hull_time};
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
    /// The two bodies.
    fn bodies(&self) -> (&AskedBody, &AskedBody);
    /// What is built of the bodies before the answer.
    fn needs(&self) -> Needs;
    /// How to answer.
    fn options(&self) -> &AnswerOptions;
    /// How long the answer takes for bodies that are ready and have so many vertices together,
    /// nanoseconds: a generous guess.
    fn nanoseconds(&self, vertices: u32) -> u64;
    /// Whether the answer was cut short.
    fn has_stopped(answer: &Self::Answer) -> bool;
    /// The answer; takes a while.
    fn answer(self, run: &Run) -> Result<Self::Answer, Failure>;
}

/// What a running question needs.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Set when the search is to stop.
    pub(super) stop: Arc<AtomicBool>,
    /// For the cost.
    pub(super) clock: Arc<dyn Clock>,
    /// Where the cost is counted.
    pub(super) metrics: Arc<Metrics>,
    /// How long the proof that boundaries do not meet may be.
    cover_steps_max: u64,
}

impl Run {
    /// For a question that goes on until `guard` says to stop.
    pub(super) fn new(shared: &Shared, guard: &StopGuard) -> Self {
        Self {
            stop: guard.flag(),
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
        let mut effort = options.effort(&self.stop);
        let found = match prepare(&mut Effort::with_stop(u64::MAX, &self.stop)) {
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

/// How long a question takes with the hulls that are to be built for it: a generous guess. None:
/// nobody can say.
pub(super) fn estimate<Q: Question>(question: &Q) -> Option<Duration> {
    let (p, q) = question.bodies();
    let count = |body: &AskedBody| u32::try_from(body.size()).unwrap_or(u32::MAX);
    let building = |body: &AskedBody| {
        if body.is_given_by_points() { hull_time(body.size()) } else { Duration::ZERO }
    };
    let answering = question.nanoseconds(count(p).saturating_add(count(q)));
    let time = Duration::from_nanos(answering) + building(p) + building(q);
    // The exhaustive methods take minutes for what the default ones do in a millisecond.
    question.options().is_default_method.then_some(time)
}

/// What it takes to build what a question needs, bytes: hulls, tables of bodies, which stay, and
/// what is made of bodies for the question alone.
pub(super) fn working_bytes<Q: Question>(question: &Q) -> u64 {
    let (p, q) = question.bodies();
    p.working_bytes(question.needs()).saturating_add(q.working_bytes(question.needs()))
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

    /// Something was.
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
            let is_small = estimate(&question).is_some_and(|time| time <= INLINE_MAX);
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
            working_bytes(&CollisionQuestion::convert(&Path::ROOT, &wire, catalogue).unwrap())
        };
        assert_eq!(bytes("ball", "ball"), 0);
        assert!(bytes("tetrahedron", "tetrahedron") >= 2 * 4 * 1024);
        assert!(bytes("ball", "tetrahedron") >= 300 * 512 + 4 * 1024);
        assert_eq!(bytes("tetrahedron", "ball"), bytes("ball", "tetrahedron"));
    }
}
