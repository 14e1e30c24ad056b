//! The first contact among several bodies that turn nothing, convex or not.

use std::time::Duration;

use tonic::Request;

use super::{Queries, Run, polyhedra};
use crate::geometry::claim::Outcome;
use crate::geometry::contact_time::polyhedra::proof::{Found, Several, prove_collision};
use crate::geometry::contact_time::polyhedra::{Collision, Moving, first_collision};
use crate::geometry::contact_time::{Travel, translation_of};
use crate::geometry::effort::Effort;
use crate::geometry::motion::Motion;
use crate::rpc::api;
use crate::rpc::convert::Path;
use crate::rpc::convert::body::{AskedBody, JudgedBody, ReadySolid, Unready};
use crate::rpc::convert::geometry::{motion, outcome_to_wire, stopped_to_wire, verdict_to_wire};
use crate::rpc::convert::options::Options;
use crate::rpc::convert::solids::{collision_to_wire, unproven_to_wire};
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::rpc::transport::timing::time_left;
use crate::runtime::deadline::StopGuard;
use crate::runtime::metrics::{Asked, Ending};
use crate::within_limit;

/// A body and how far it comes.
#[derive(Clone, Debug)]
struct Asking {
    body: AskedBody,
    motion: Motion,
    travel: Travel,
    /// Where the body was named.
    field: String,
}

/// The bodies, checked.
#[derive(Clone, Debug)]
pub struct Many {
    bodies: Vec<Asking>,
    options: Options,
}

/// Which of the bodies meet first, and what is counted of the question.
pub(super) async fn answer(
    queries: &Queries,
    request: Request<api::FindFirstCollisionRequest>,
) -> Result<api::FindFirstCollisionResponse, Failure> {
    let found = search(queries, &request).await;
    let ending = match &found {
        Err(_) => Ending::Refused,
        Ok(answer) if answer.stopped() != api::Stopped::Unspecified => Ending::Stopped,
        Ok(_) => Ending::Answered,
    };
    queries.0.metrics.count(Asked::FirstCollision, ending);
    found
}

async fn search(
    queries: &Queries,
    request: &Request<api::FindFirstCollisionRequest>,
) -> Result<api::FindFirstCollisionResponse, Failure> {
    let shared = &queries.0;
    let many = Many::convert(&Path::ROOT, request.get_ref(), shared)?;
    let time = time_left(shared, request.metadata(), many.options.time)?;
    let guard = StopGuard::after(Some(time));
    let run = queries.run(&guard);
    shared.compute.run(many.estimate(), move || many.answer(&run)).await?
}

impl Asking {
    fn convert(path: &Path<'_>, wire: &api::MovingBody, shared: &Shared) -> Result<Self, Failure> {
        let at = path.field("body");
        let body = AskedBody::convert(&at, wire.body.as_ref(), shared)?;
        let path = path.field("motion");
        let motion = motion(&path, wire.motion.as_ref())?;
        let turns = || polyhedra::refuse(&path, "several bodies that turn");
        let travel = translation_of(&motion, body.pose()).ok_or_else(turns)?;
        Ok(Self { body, motion, travel, field: at.to_string() })
    }
}

impl Many {
    /// Checks everything that can be wrong with them.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::FindFirstCollisionRequest,
        shared: &Shared,
    ) -> Result<Self, Failure> {
        let limits = &shared.settings.limits;
        let list = path.field("bodies");
        within_limit!(list, limits, wire.bodies.len(), collision_bodies_max)?;
        if wire.bodies.len() < 2 {
            return Err(list.bad("must be two at least").into());
        }
        let asking = |(place, body)| Asking::convert(&list.index(place), body, shared);
        let bodies: Vec<Asking> =
            wire.bodies.iter().enumerate().map(asking).collect::<Result<_, _>>()?;
        // Each is placed for itself, also if they are all of one kind.
        let vertices = bodies.iter().map(|asking| asking.body.size()).sum();
        within_limit!(list, limits, vertices, collision_vertices_max)?;
        let options = polyhedra::options(path, wire.options.as_ref())?;
        Ok(Self { bodies, options })
    }

    /// As judges see them.
    pub fn prepare_to_judge(
        self,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<(JudgedBody, Motion)>, Failure> {
        let prepare = |asking: Asking| Ok((asking.body.prepare_to_judge(effort)?, asking.motion));
        self.bodies.into_iter().map(prepare).collect()
    }

    /// Generously.
    fn estimate(&self) -> Duration {
        let vertices: usize = self.bodies.iter().map(|asking| asking.body.size()).sum();
        let each = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let pairs = self.bodies.len() * self.bodies.len() / 2;
        Duration::from_micros(100)
            + polyhedra::TIME_PER_VERTEX.saturating_mul(each(vertices))
            + Duration::from_nanos(200).saturating_mul(each(pairs))
    }

    fn answer(self, run: &Run) -> Result<api::FindFirstCollisionResponse, Failure> {
        let Self { bodies, options } = self;
        let travels: Vec<Travel> = bodies.iter().map(|asking| asking.travel).collect();
        let prepare = |effort: &mut Effort<'_>| -> Result<Vec<ReadySolid>, Unready> {
            let one = |asking: Asking| asking.body.prepare_solid(&asking.field, effort);
            bodies.into_iter().map(one).collect()
        };
        let (found, cost) =
            run.measure_prepared(Asked::FirstCollision, prepare, &options, |solids, effort| {
                let moving: Vec<Moving<'_>> = solids
                    .iter()
                    .zip(&travels)
                    .map(|(solid, travel)| solid.moving(*travel))
                    .collect();
                let found = first_collision(&moving, effort)?;
                let mut answer = said(solids, found.as_ref());
                if !options.omit_certificate {
                    let bodies: Vec<Several<'_>> = solids
                        .iter()
                        .zip(&travels)
                        .map(|(solid, travel)| Several { shape: solid.shape(), travel: *travel })
                        .collect();
                    let steps_max = run.cover_steps_max;
                    let proof = prove_collision(&bodies, found.as_ref(), steps_max, effort);
                    certify(&mut answer, &proof);
                }
                Ok(answer)
            })?;
        let mut answer = found.unwrap_or_else(|stopped| {
            let mut answer = api::FindFirstCollisionResponse::default();
            answer.set_stopped(stopped_to_wire(Some(stopped)));
            answer
        });
        answer.cost = Some(cost);
        Ok(answer)
    }
}

fn said(solids: &[ReadySolid], found: Option<&Collision>) -> api::FindFirstCollisionResponse {
    let mut answer = api::FindFirstCollisionResponse::default();
    let Some(Collision { pair, initial, contact, tied }) = found else {
        answer.set_outcome(outcome_to_wire(Outcome::NoContact));
        answer.t_free = 1.0;
        return answer;
    };
    let places = |pair: &[usize; 2]| pair.map(|place| u32::try_from(place).unwrap_or(u32::MAX));
    let [p, q] = places(pair);
    let others = tied.iter().take(LISTED_PAIRS_MAX).map(places);
    answer.tied_pairs = others.map(|[p, q]| api::PlacePair { p, q }).collect();
    answer.set_outcome(outcome_to_wire(Outcome::Contact));
    answer.t_free = contact.t_free;
    answer.t_contact = Some(contact.t_contact);
    (answer.p, answer.q) = (Some(p), Some(q));
    answer.set_initial_verdict(verdict_to_wire(*initial));
    let two = pair.map(|place| &solids[place]);
    answer.face_contact = Some(polyhedra::meeting(two, &contact.faces, contact.point));
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
