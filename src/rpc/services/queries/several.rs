//! The first contact among several bodies that turn nothing, convex or not.

use std::time::Duration;

use tonic::Request;

use super::question::{Run, answered};
use crate::rpc::shared::Shared;
use clearance_bodies::table::NotAnswered;
use clearance_bodies::table::first_collision::{
    self, FirstCollisionAnswer, FirstPair, Found, ReadyMover, is_by_faces, nanoseconds, needs,
    ready,
};
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::compute::JobSize;
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_transport::intake::Intake;
use clearance_transport::timing::deadline;
use clearance_wire::convert::body::Unready;
use clearance_wire::convert::geometry::{outcome_to_wire, stopped_to_wire, verdict_to_wire};
use clearance_wire::convert::several::{AskedMover, AskedSeveral};
use clearance_wire::convert::solids::{collision_to_wire, meeting_to_wire, unproven_to_wire};
use clearance_wire::path::{NotImplemented, Path};
use clearance_wire::status::Failure;

/// Which of the bodies meet first, and what is counted of the question.
pub(super) async fn answer(
    shared: &Shared,
    request: Request<api::FindFirstCollisionRequest>,
) -> Result<api::FindFirstCollisionResponse, Failure> {
    let found = search(shared, &request).await;
    let has_stopped =
        |answer: &api::FindFirstCollisionResponse| answer.stopped() != api::Stopped::Unspecified;
    shared.metrics.count(QuestionKind::FirstCollision, Ending::of(&found, has_stopped));
    found
}

async fn search(
    shared: &Shared,
    request: &Request<api::FindFirstCollisionRequest>,
) -> Result<api::FindFirstCollisionResponse, Failure> {
    let intake = Intake::of(request);
    let convert = || AskedSeveral::convert(&Path::ROOT, request.get_ref(), &shared.catalogue());
    let several = intake.look_through(convert)?;
    let deadline = deadline(shared.limits(), request.metadata(), several.options.time)?;
    let run = Run::new(shared, &deadline);
    let load = JobSize::of(intake.extent(), estimate(&several));
    let bytes = working_bytes(&several);
    answered(shared, intake, load, bytes, move || find(several, &run)).await
}

/// How many of the bodies are neither polytopes nor polyhedra.
fn others(several: &AskedSeveral) -> usize {
    several.bodies.iter().filter(|mover| !is_by_faces(mover.body.kind())).count()
}

/// Each body is prepared for the question alone, however often it is named; with others than
/// polytopes and polyhedra two of them once more at a time.
fn working_bytes(several: &AskedSeveral) -> u64 {
    let are_solids = others(several) == 0;
    let bytes = several.bodies.iter().map(|mover| mover.body.working_bytes(needs(are_solids)));
    let all = bytes.fold(0, u64::saturating_add);
    if are_solids { all } else { all.saturating_mul(2) }
}

/// How long the answer takes: a generous guess.
fn estimate(several: &AskedSeveral) -> Duration {
    let vertices: usize = several.bodies.iter().map(|mover| mover.body.size()).sum();
    Duration::from_nanos(nanoseconds(several.bodies.len(), vertices, others(several)))
}

fn find(several: AskedSeveral, run: &Run) -> Result<api::FindFirstCollisionResponse, Failure> {
    let AskedSeveral { bodies, options } = several;
    let prepare = |effort: &mut Effort<'_>| -> Result<Vec<ReadyMover>, Unready> {
        let one = |mover: AskedMover| {
            effort.look_at_clock().map_err(Unready::Stopped)?;
            let refused = |refused: NotAnswered| {
                let missing =
                    NotImplemented { field: mover.field, what: refused.with_instead().into() };
                Unready::Failed(missing.into())
            };
            ready(mover.body.prepare(effort)?, mover.motion, mover.travel).map_err(refused)
        };
        bodies.into_iter().map(one).collect()
    };
    let wanted = run.wanted(&options);
    let (found, cost) =
        run.measure(QuestionKind::FirstCollision, prepare, &options, |movers, effort| {
            first_collision::answer(movers, wanted, effort)
        })?;
    let mut answer = match found {
        Ok(found) => said(&found),
        Err(stopped) => api::FindFirstCollisionResponse {
            stopped: stopped_to_wire(Some(stopped)).into(),
            ..Default::default()
        },
    };
    answer.cost = Some(cost);
    Ok(answer)
}

fn said(found: &FirstCollisionAnswer) -> api::FindFirstCollisionResponse {
    let mut answer = api::FindFirstCollisionResponse::default();
    let places = |pair: &[usize; 2]| pair.map(|place| u32::try_from(place).unwrap_or(u32::MAX));
    answer.set_outcome(outcome_to_wire(found.outcome));
    answer.t_free = found.t_free;
    answer.set_stopped(stopped_to_wire(found.stopped));
    let tied = found.tied.iter().take(LISTED_PAIRS_MAX).map(places);
    answer.tied_pairs = tied.map(|[p, q]| api::PlacePair { p, q }).collect();
    if let Some(FirstPair { pair, t_contact, initial }) = &found.first {
        let [p, q] = places(pair);
        (answer.p, answer.q) = (Some(p), Some(q));
        answer.t_contact = Some(*t_contact);
        answer.set_initial_verdict(verdict_to_wire(*initial));
    }
    answer.face_contact = found.meeting.as_ref().map(meeting_to_wire);
    if let Some(proof) = &found.proof {
        certify(&mut answer, proof);
    }
    answer
}

/// Pairs in one list of an answer: with all bodies in one place it might be half a million.
const LISTED_PAIRS_MAX: usize = 1_000;

fn certify(answer: &mut api::FindFirstCollisionResponse, proof: &Found) {
    answer.certificate = proof.proof.as_ref().map(collision_to_wire);
    if let Some(why) = proof.why {
        answer.uncertified = true;
        answer.set_uncertified_reason(unproven_to_wire(why));
    }
    let open = proof.open.iter().take(LISTED_PAIRS_MAX);
    answer.uncertified_pairs = open.map(|&[p, q]| api::PlacePair { p, q }).collect();
}
