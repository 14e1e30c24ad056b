//! The first contact among several bodies that turn nothing, convex or not.

use std::time::Duration;

use prost::Message;
use tonic::Request;

use super::question::Run;
use crate::rpc::shared::Shared;
use clearance_bodies::table::NotAnswered;
use clearance_bodies::table::first_collision::{
    self, Collision, FirstCollisionAnswer, Found, NEEDS, ReadyMover, nanoseconds, ready,
};
use clearance_geometry::claim::Outcome;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::compute::JobSize;
use clearance_runtime::deadline::StopGuard;
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_transport::intake::Intake;
use clearance_transport::timing::time_left;
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
    let time = time_left(shared.limits(), request.metadata(), several.options.time)?;
    let guard = StopGuard::after(Some(time));
    let run = Run::new(shared, &guard);
    // Until the job is done, whether somebody waits for it or not.
    let work = intake.work(working_bytes(&several))?;
    let unsent = shared.unsent.clone();
    let answer = shared.compute.run(JobSize::of(intake.extent(), estimate(&several)), move || {
        let answer = find(several, &run);
        drop(work);
        let answer = answer?;
        let room = unsent.room_for_answer(answer.encoded_len(), &intake)?;
        Ok::<_, Failure>((answer, room))
    });
    let (answer, _room) = answer.await??;
    Ok(answer)
}

/// Each body is prepared for the question alone, however often it is named.
fn working_bytes(several: &AskedSeveral) -> u64 {
    let bytes = several.bodies.iter().map(|mover| mover.body.working_bytes(NEEDS));
    bytes.fold(0, u64::saturating_add)
}

/// How long the answer takes: a generous guess.
fn estimate(several: &AskedSeveral) -> Duration {
    let vertices: usize = several.bodies.iter().map(|mover| mover.body.size()).sum();
    Duration::from_nanos(nanoseconds(several.bodies.len(), vertices))
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
            ready(mover.body.prepare(effort)?, mover.travel).map_err(refused)
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
    match &found.collision {
        None => {
            answer.set_outcome(outcome_to_wire(Outcome::NoContact));
            answer.t_free = 1.0;
        }
        Some(Collision { pair, initial, contact, tied }) => {
            let [p, q] = places(pair);
            let others = tied.iter().take(LISTED_PAIRS_MAX).map(places);
            answer.tied_pairs = others.map(|[p, q]| api::PlacePair { p, q }).collect();
            answer.set_outcome(outcome_to_wire(Outcome::Contact));
            answer.t_free = contact.t_free;
            answer.t_contact = Some(contact.t_contact);
            (answer.p, answer.q) = (Some(p), Some(q));
            answer.set_initial_verdict(verdict_to_wire(*initial));
        }
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
