//! `QueryService`: one file for each question.

mod along;
mod batch;
mod collision;
mod distance;
mod first_contact;
mod penetration;
mod question;
mod several;

use tonic::{Request, Response, Status};

use self::along::AskedAlong;
use self::collision::CollisionQuestion;
use self::distance::AskedDistance;
use self::first_contact::AskedFirstContact;
use self::penetration::PenetrationQuestion;
use self::question::{Question, Run, answered, count};
use super::certificates;
use crate::rpc::shared::Shared;
use clearance_geometry::effort::{Cost, Effort};
use clearance_proto as api;
use clearance_runtime::compute::JobSize;
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// Serves `QueryService`: questions about bodies that stand alone.
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
        let intake = Intake::of(request);
        let question = intake
            .look_through(|| Q::convert(&Path::ROOT, request.get_ref(), &shared.catalogue()))?;
        let common = question.common();
        let deadline = deadline(shared.limits(), request.metadata(), common.options.time)?;
        let (run, extent) = (Run::new(shared, &deadline), intake.extent());
        let load = common.estimate().map_or(JobSize::UNKNOWN, |time| JobSize::of(extent, time));
        let bytes = common.working_bytes();
        answered(shared, intake, load, bytes, move || question.answer(&run)).await
    }
}

#[tonic::async_trait]
impl api::query_service_server::QueryService for Queries {
    async fn check_collision(
        &self,
        request: Request<api::CheckCollisionRequest>,
    ) -> Result<Response<api::CheckCollisionResponse>, Status> {
        self.ask::<CollisionQuestion>(request).await
    }

    async fn measure_distance(
        &self,
        request: Request<api::MeasureDistanceRequest>,
    ) -> Result<Response<api::MeasureDistanceResponse>, Status> {
        self.ask::<AskedDistance>(request).await
    }

    async fn measure_distance_along(
        &self,
        request: Request<api::MeasureDistanceAlongRequest>,
    ) -> Result<Response<api::MeasureDistanceAlongResponse>, Status> {
        self.ask::<AskedAlong>(request).await
    }

    async fn measure_penetration(
        &self,
        request: Request<api::MeasurePenetrationRequest>,
    ) -> Result<Response<api::MeasurePenetrationResponse>, Status> {
        self.ask::<PenetrationQuestion>(request).await
    }

    async fn find_first_contact(
        &self,
        request: Request<api::FindFirstContactRequest>,
    ) -> Result<Response<api::FindFirstContactResponse>, Status> {
        self.ask::<AskedFirstContact>(request).await
    }

    async fn find_first_collision(
        &self,
        request: Request<api::FindFirstCollisionRequest>,
    ) -> Result<Response<api::FindFirstCollisionResponse>, Status> {
        Ok(Response::new(several::answer(&self.0, request).await?))
    }

    async fn batch_query(
        &self,
        request: Request<api::BatchQueryRequest>,
    ) -> Result<Response<api::BatchQueryResponse>, Status> {
        Ok(Response::new(batch::answer(&self.0, request).await?))
    }

    async fn verify_certificate(
        &self,
        request: Request<api::VerifyCertificateRequest>,
    ) -> Result<Response<api::VerifyCertificateResponse>, Status> {
        let judged = self.judge(&request).await;
        self.0.metrics.count(QuestionKind::Certificate, Ending::of(&judged, |_| false));
        Ok(Response::new(judged?))
    }
}

impl Queries {
    async fn judge(
        &self,
        request: &Request<api::VerifyCertificateRequest>,
    ) -> Result<api::VerifyCertificateResponse, Failure> {
        let shared = &self.0;
        let intake = Intake::of(request);
        let convert = || {
            certificates::Claim::convert(request.get_ref(), &shared.catalogue(), shared.robots())
        };
        let claim = intake.look_through(convert)?;
        // Every vertex is looked at in exact arithmetic.
        let deadline = deadline(shared.limits(), request.metadata(), None)?;
        let until = deadline.until().clone();
        // Until the job is done, whether somebody waits for it or not.
        let work = intake.work(claim.working_bytes())?;
        let metrics = shared.metrics.clone();
        let judged = shared.compute.run(JobSize::UNKNOWN, move || {
            let mut effort = Effort::until(u64::MAX, &until);
            let judged = claim.judge(&until, &mut effort);
            let cost = Cost { queries: 1, ..effort.cost };
            metrics.add(QuestionKind::Certificate, &cost);
            drop(work);
            judged
        });
        judged.await?
    }
}
