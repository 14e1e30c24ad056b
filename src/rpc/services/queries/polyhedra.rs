//! Questions about pairs of which one body at least is a polyhedron.

use std::time::Duration;

use super::question::Run;
use crate::rpc::convert::body::{AskedBody, ReadySolid, Unready};
use crate::rpc::convert::certificate::{motion_to_wire, proof_to_wire};
use crate::rpc::convert::geometry::{
    outcome_to_wire, stopped_to_wire, vector_to_wire, verdict_to_wire,
};
use crate::rpc::convert::motions::Motions;
use crate::rpc::convert::options::AnswerOptions;
use crate::rpc::convert::solids::{self, unproven_to_wire};
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use crate::runtime::metrics::QuestionKind;
use clearance_geometry::claim;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::contact_time::Travel;
use clearance_geometry::contact_time::polyhedra::proof::{Unproven, prove_motion, prove_verdict};
use clearance_geometry::contact_time::polyhedra::{
    Faces, FirstContact, PosedPolyhedron, first_contact, verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::pair::Pair;
use clearance_geometry::separation::decide;
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, contact_time, separation};
use clearance_proto as api;

/// Placing a body and looking at its faces takes less than this for each vertex.
pub(super) const TIME_PER_VERTEX: Duration = Duration::from_micros(2);

/// Where the bodies were named: for what only their preparation can find wrong.
#[derive(Clone, Debug)]
pub(super) struct Places([String; 2]);

impl Places {
    /// None for two polytopes.
    pub(super) fn of_polyhedra(path: &Path<'_>, p: &AskedBody, q: &AskedBody) -> Option<Self> {
        let is_theirs = p.is_polyhedron() || q.is_polyhedron();
        is_theirs.then(|| Self(["p", "q"].map(|name| path.field(name).to_string())))
    }

    fn prepare(
        &self,
        [p, q]: [AskedBody; 2],
        effort: &mut Effort<'_>,
    ) -> Result<[ReadySolid; 2], Unready> {
        Ok([p.prepare_solid(&self.0[0], effort)?, q.prepare_solid(&self.0[1], effort)?])
    }
}

fn hulls([p, q]: &[ReadySolid; 2]) -> Pair<'_> {
    Pair { p: p.placed_hull(), q: q.placed_hull() }
}

/// Separated, touching or overlapping; with a certificate about the hulls if those are separated.
pub(super) fn collision(
    run: &Run,
    bodies: [AskedBody; 2],
    places: &Places,
    options: &AnswerOptions,
) -> Result<api::CheckCollisionResponse, Failure> {
    let prepare = |effort: &mut Effort<'_>| places.prepare(bodies, effort);
    let (found, cost) =
        run.measure_prepared(QuestionKind::Collision, prepare, options, |solids, effort| {
            let method = &separation::METHODS[0];
            let of_hulls = decide(&hulls(solids), method, &mut Witness::default(), effort)?;
            let mut answer = api::CheckCollisionResponse::default();
            if of_hulls.verdict() == Verdict::Separated {
                answer.set_verdict(verdict_to_wire(Verdict::Separated));
                answer.certificate =
                    (!options.omit_certificate).then(|| proof_to_wire(&of_hulls.proof));
                return Ok(answer);
            }
            let [p, q] = solids;
            let [of_p, of_q] =
                [p, q].map(|side| PosedPolyhedron { body: &side.polyhedron, pose: side.pose });
            let (found, faces) = verdict(of_p, of_q, effort)?;
            answer.set_verdict(verdict_to_wire(found));
            answer.face_contact =
                faces.as_ref().map(|faces| meeting(solids.each_ref(), faces, None));
            if !options.omit_certificate {
                match prove_static(run, solids, found, faces.as_ref(), effort) {
                    Ok(proof) => answer.certificate = Some(proof),
                    Err(why) => {
                        answer.uncertified = true;
                        answer.set_uncertified_reason(unproven_to_wire(why));
                    }
                }
            }
            Ok(answer)
        })?;
    let mut answer = found.unwrap_or_else(|stopped| {
        let mut answer = api::CheckCollisionResponse::default();
        answer.set_stopped(stopped_to_wire(Some(stopped)));
        answer
    });
    answer.cost = Some(cost);
    Ok(answer)
}

/// Two bodies on their ways, which turn nothing.
pub(super) struct Movers {
    pub(super) bodies: [AskedBody; 2],
    /// Where the bodies were named.
    pub(super) places: Places,
    pub(super) motions: Motions,
    /// How far these motions take the bodies.
    pub(super) travels: [Travel; 2],
}

/// When the bodies first meet; with a certificate about the hulls if those do not.
pub(super) fn first_meeting(
    run: &Run,
    movers: Movers,
    options: &AnswerOptions,
) -> Result<api::FindFirstContactResponse, Failure> {
    let Movers { bodies, places, motions, travels } = movers;
    let prepare = |effort: &mut Effort<'_>| places.prepare(bodies, effort);
    let (found, cost) =
        run.measure_prepared(QuestionKind::FirstContact, prepare, options, |solids, effort| {
            let question = motions.about(hulls(solids));
            let of_hulls = contact_time::first_contact(&question, &mut Witness::default(), effort)?;
            if of_hulls.outcome == Outcome::NoContact && of_hulls.stopped.is_none() {
                return Ok(free(&of_hulls, options));
            }
            let [p, q] = [0, 1].map(|k| solids[k].moving(travels[k]));
            let found = first_contact(&p, &q, effort)?;
            let mut answer = answer(solids, &found);
            if !options.omit_certificate {
                match prove_moving(run, solids, travels, &found, effort) {
                    Ok(proof) => answer.certificate = Some(proof),
                    Err(why) => {
                        answer.uncertified = true;
                        answer.set_uncertified_reason(unproven_to_wire(why));
                    }
                }
            }
            Ok(answer)
        })?;
    let mut answer = found.unwrap_or_else(|stopped| {
        let mut answer = api::FindFirstContactResponse::default();
        answer.set_stopped(stopped_to_wire(Some(stopped)));
        answer
    });
    answer.cost = Some(cost);
    Ok(answer)
}

fn prove_static(
    run: &Run,
    [p, q]: &[ReadySolid; 2],
    found: Verdict,
    faces: Option<&Faces>,
    effort: &mut Effort<'_>,
) -> Result<api::StaticCertificate, Unproven> {
    let shapes = [&p.shape(), &q.shape()];
    prove_verdict(shapes, found, faces, run.cover_steps_max, effort)
        .map(|proof| solids::proof_to_wire(&proof))
}

/// In contact at t = 0, the verdict there is all that there is to prove.
fn prove_moving(
    run: &Run,
    bodies: &[ReadySolid; 2],
    travels: [Travel; 2],
    found: &FirstContact,
    effort: &mut Effort<'_>,
) -> Result<api::MotionCertificate, Unproven> {
    let contact = found.contact.as_ref();
    if found.initial != Verdict::Separated {
        let faces = contact.map(|contact| &contact.faces);
        let initial = Some(prove_static(run, bodies, found.initial, faces, effort)?);
        return Ok(api::MotionCertificate { initial, ..Default::default() });
    }
    let [p, q] = bodies;
    let shapes = [&p.shape(), &q.shape()];
    prove_motion(shapes, travels, contact, run.cover_steps_max, effort)
        .map(|proof| solids::motion_to_wire(&proof))
}

/// What is said of bodies whose hulls do not meet.
fn free(of_hulls: &claim::FirstContact, options: &AnswerOptions) -> api::FindFirstContactResponse {
    let mut answer = api::FindFirstContactResponse::default();
    answer.set_initial_verdict(verdict_to_wire(Verdict::Separated));
    answer.set_outcome(outcome_to_wire(Outcome::NoContact));
    answer.t_free = 1.0;
    answer.certificate = (!options.omit_certificate).then(|| motion_to_wire(of_hulls));
    answer
}

fn answer(solids: &[ReadySolid; 2], found: &FirstContact) -> api::FindFirstContactResponse {
    let mut answer = api::FindFirstContactResponse::default();
    answer.set_initial_verdict(verdict_to_wire(found.initial));
    match &found.contact {
        None => {
            answer.set_outcome(outcome_to_wire(Outcome::NoContact));
            answer.t_free = 1.0;
        }
        Some(contact) => {
            answer.set_outcome(outcome_to_wire(Outcome::Contact));
            answer.t_free = contact.t_free;
            answer.t_contact = Some(contact.t_contact);
            answer.face_contact = Some(meeting(solids.each_ref(), &contact.faces, contact.point));
        }
    }
    answer
}

/// Where the bodies meet, with the facets as clients know them.
pub(super) fn meeting(
    [p, q]: [&ReadySolid; 2],
    faces: &Faces,
    point: Option<Vec3>,
) -> api::FaceContact {
    use api::face_contact::{PFace, QFace};
    let edge = |[from, to]: [u32; 2]| api::EdgeEnds { from, to };
    let p_facet = |triangle: u32| Some(PFace::PFacet(p.facet(triangle)));
    let q_facet = |triangle: u32| Some(QFace::QFacet(q.facet(triangle)));
    let (p_face, q_face) = match *faces {
        Faces::VertexAndTriangle { vertex, triangle } => {
            (Some(PFace::PVertex(vertex)), q_facet(triangle))
        }
        Faces::TriangleAndVertex { triangle, vertex } => {
            (p_facet(triangle), Some(QFace::QVertex(vertex)))
        }
        Faces::Edges { of_p, of_q } => {
            (Some(PFace::PEdge(edge(of_p))), Some(QFace::QEdge(edge(of_q))))
        }
        Faces::Triangles { of_p, of_q } => (p_facet(of_p), q_facet(of_q)),
        Faces::PInQ { triangle } => (p_facet(triangle), None),
        Faces::QInP { triangle } => (None, q_facet(triangle)),
    };
    api::FaceContact { p_face, q_face, point: point.map(|point| vector_to_wire(&point)) }
}
