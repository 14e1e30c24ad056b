//! `QueryService`: one file for each question; here is what they have in common.

mod along;
mod batch;
mod collision;
mod distance;
mod first_contact;
mod many;
mod penetration;
pub(super) mod polyhedra;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tonic::{Request, Response, Status};

pub use along::Along;
pub use collision::Collision;
pub use distance::DistanceQuestion;
pub use first_contact::{FirstContactQuestion, Motions};
pub use many::Many;
pub use penetration::Penetration;

use crate::geometry::effort::{Cost, Effort, Stopped};
use crate::geometry::pair::Pair;
use crate::rpc::api;
use crate::rpc::convert::body::{AskedBody, ReadyBody, Unready, hull_time};
use crate::rpc::convert::options::{Options, cost_to_wire};
use crate::rpc::convert::{BadField, Path};
use crate::rpc::services::certificates;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::rpc::transport::timing::time_left;
use crate::runtime::clock::Clock;
use crate::runtime::deadline::StopGuard;
use crate::runtime::metrics::{Asked, Ending, Metrics};

/// A question of one kind, checked.
pub trait Question: Sized + Send + 'static {
    /// What is sent.
    type Wire: Send + Sync;
    /// What is answered.
    type Answer: Send + 'static;
    /// How it is counted.
    const ASKED: Asked;

    /// Checks everything that can be wrong with it.
    fn convert(path: &Path<'_>, wire: &Self::Wire, shared: &Shared) -> Result<Self, Failure>;
    /// The two bodies.
    fn bodies(&self) -> (&AskedBody, &AskedBody);
    /// How to answer.
    fn options(&self) -> &Options;
    /// How long the answer takes, generously, for bodies of `p` and `q` vertices that are ready.
    fn estimate(&self, p: u32, q: u32) -> Duration;
    /// Whether the answer was cut short.
    fn has_stopped(answer: &Self::Answer) -> bool;
    /// The answer; takes a while.
    fn answer(self, run: &Run) -> Result<Self::Answer, Failure>;
}

/// What a running question needs.
#[derive(Clone, Debug)]
pub struct Run {
    /// Set when the search is to stop.
    pub stop: Arc<AtomicBool>,
    /// For the cost.
    pub clock: Arc<dyn Clock>,
    /// Where the cost is counted.
    pub metrics: Arc<Metrics>,
    /// How long the proof that polyhedra do not meet may be.
    pub cover_steps_max: u64,
}

impl Run {
    /// Prepares the bodies, lets `search` look at the pair, and counts what it cost.
    fn measure<T>(
        &self,
        asked: Asked,
        [p, q]: [AskedBody; 2],
        options: &Options,
        search: impl FnOnce(&Pair<'_>, &mut Effort<'_>) -> Result<T, Stopped>,
    ) -> Result<(Result<T, Stopped>, api::Cost), Failure> {
        let prepare = |effort: &mut Effort<'_>| Ok([p.prepare(effort)?, q.prepare(effort)?]);
        self.measure_prepared(asked, prepare, options, |[p, q], effort| {
            search(&Pair { p: ReadyBody::placed(p), q: ReadyBody::placed(q) }, effort)
        })
    }

    /// The same for bodies that are prepared in another way. That costs no steps of the budget, but
    /// time.
    fn measure_prepared<B, T>(
        &self,
        asked: Asked,
        prepare: impl FnOnce(&mut Effort<'_>) -> Result<B, Unready>,
        options: &Options,
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
fn count<Q: Question>(metrics: &Metrics, answer: &Result<Q::Answer, Failure>) {
    let ending = match answer {
        Err(_) => Ending::Refused,
        Ok(answer) if Q::has_stopped(answer) => Ending::Stopped,
        Ok(_) => Ending::Answered,
    };
    metrics.count(Q::ASKED, ending);
}

/// The two bodies of a question.
pub(super) fn bodies(
    path: &Path<'_>,
    p: Option<&api::PlacedBody>,
    q: Option<&api::PlacedBody>,
    shared: &Shared,
) -> Result<(AskedBody, AskedBody), Failure> {
    let convert = |name, wire| AskedBody::convert(&path.field(name), wire, shared);
    Ok((convert("p", p)?, convert("q", q)?))
}

/// The two bodies of a question that is about polytopes alone.
pub(super) fn polytopes(
    path: &Path<'_>,
    p: Option<&api::PlacedBody>,
    q: Option<&api::PlacedBody>,
    shared: &Shared,
) -> Result<(AskedBody, AskedBody), Failure> {
    let (p, q) = bodies(path, p, q, shared)?;
    for (name, body) in [("p", &p), ("q", &q)] {
        if body.is_polyhedron() {
            let what = "this question about polyhedra";
            return Err(Failure::NotImplemented { field: path.field(name).to_string(), what });
        }
    }
    Ok((p, q))
}

/// How long a question takes with everything, generously.
fn estimate<Q: Question>(question: &Q) -> Duration {
    let (p, q) = question.bodies();
    let count = |body: &AskedBody| u32::try_from(body.size()).unwrap_or(u32::MAX);
    let building = |body: &AskedBody| {
        if body.is_given_by_points() { hull_time(body.size()) } else { Duration::ZERO }
    };
    question.estimate(count(p), count(q)) + building(p) + building(q)
}

/// The service.
#[derive(Clone, Debug)]
pub struct Queries(pub Shared);

impl Queries {
    async fn ask<Q: Question>(
        &self,
        request: Request<Q::Wire>,
    ) -> Result<Response<Q::Answer>, Status> {
        let answer = self.search_for::<Q>(&request).await;
        count::<Q>(&self.0.metrics, &answer);
        Ok(Response::new(answer?))
    }

    async fn search_for<Q: Question>(
        &self,
        request: &Request<Q::Wire>,
    ) -> Result<Q::Answer, Failure> {
        let shared = &self.0;
        let question = Q::convert(&Path::ROOT, request.get_ref(), shared)?;
        let time = time_left(shared, request.metadata(), question.options().time)?;
        let guard = StopGuard::after(Some(time));
        let run = self.run(&guard);
        let answer = shared.compute.run(estimate(&question), move || question.answer(&run));
        answer.await?
    }

    fn run(&self, guard: &StopGuard) -> Run {
        let shared = &self.0;
        Run {
            stop: guard.flag(),
            clock: shared.clock.clone(),
            metrics: shared.metrics.clone(),
            cover_steps_max: shared.settings.limits.cover_steps_max,
        }
    }
}

#[tonic::async_trait]
impl api::query_service_server::QueryService for Queries {
    async fn check_collision(
        &self,
        request: Request<api::CheckCollisionRequest>,
    ) -> Result<Response<api::CheckCollisionResponse>, Status> {
        self.ask::<Collision>(request).await
    }

    async fn measure_distance(
        &self,
        request: Request<api::MeasureDistanceRequest>,
    ) -> Result<Response<api::MeasureDistanceResponse>, Status> {
        self.ask::<DistanceQuestion>(request).await
    }

    async fn measure_distance_along(
        &self,
        request: Request<api::MeasureDistanceAlongRequest>,
    ) -> Result<Response<api::MeasureDistanceAlongResponse>, Status> {
        self.ask::<Along>(request).await
    }

    async fn measure_penetration(
        &self,
        request: Request<api::MeasurePenetrationRequest>,
    ) -> Result<Response<api::MeasurePenetrationResponse>, Status> {
        self.ask::<Penetration>(request).await
    }

    async fn find_first_contact(
        &self,
        request: Request<api::FindFirstContactRequest>,
    ) -> Result<Response<api::FindFirstContactResponse>, Status> {
        self.ask::<FirstContactQuestion>(request).await
    }

    async fn find_first_collision(
        &self,
        request: Request<api::FindFirstCollisionRequest>,
    ) -> Result<Response<api::FindFirstCollisionResponse>, Status> {
        Ok(Response::new(many::answer(self, request).await?))
    }

    async fn batch_query(
        &self,
        request: Request<api::BatchQueryRequest>,
    ) -> Result<Response<api::BatchQueryResponse>, Status> {
        Ok(Response::new(batch::answer(self, request).await?))
    }

    async fn verify_certificate(
        &self,
        request: Request<api::VerifyCertificateRequest>,
    ) -> Result<Response<api::VerifyCertificateResponse>, Status> {
        let shared = &self.0;
        let claim = certificates::Claim::convert(request.get_ref(), shared)?;
        // Every vertex is looked at in exact arithmetic.
        let place = shared.compute.admit().map_err(Failure::from)?;
        let guard = StopGuard::after(Some(time_left(shared, request.metadata(), None)?));
        let stop = guard.flag();
        let judged = place.run(move || claim.judge(&stop)).await.map_err(Failure::from)??;
        Ok(Response::new(judged))
    }
}

/// A margin: at least 0.
pub(super) fn margin(path: &Path<'_>, wire: Option<f64>) -> Result<Option<f64>, BadField> {
    let path = path.field("margin");
    wire.map(|value| crate::rpc::convert::geometry::length(&path, value)).transpose()
}
