//! What is claimed of the motion of bodies of several convex parts, judged.

use arrayvec::ArrayVec;

use super::entries::{is_single, located, one_of_each};
use crate::rpc::services::certificates::faces::NamedFaces;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::first_contact::Motions;
use clearance_certificates::told::{Told, required, t_contact};
use clearance_geometry::claim::{
    Compounds, ConvexProof, Course, Link, MotionClaim, Outcome, PartMotion, PartStatement, Parts,
    Reach, StaticProof, Verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{Refusal, judge_compounds, judge_compounds_motion};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Question;
use clearance_geometry::pair::{Pair, VertexPair};
use clearance_proto as api;
use clearance_wire::convert::certificate::{at_most, chain, convex_proof, margin_pairs};
use clearance_wire::convert::compound::AskedParts;
use clearance_wire::convert::geometry::{outcome, verdict};
use clearance_wire::convert::motions::motions;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

#[derive(Clone, Debug)]
pub(super) struct SaidMotion {
    /// How the bodies move.
    motions: Motions,
    /// How each of their parts moves.
    of_parts: [Vec<Motion>; 2],
    outcome: Outcome,
    t_free: f64,
    t_contact: f64,
    /// The search was stopped before it proved the start of all parts free.
    is_start_open: bool,
    /// At t = 0, if it is said.
    initial: Option<Verdict>,
    entries: Vec<MotionEntry>,
}

#[derive(Clone, Debug)]
struct MotionEntry {
    parts: Parts,
    initial: Option<ConvexProof>,
    /// What shows that rounded parts are farther apart than the margin at t = 0.
    start: ArrayVec<VertexPair, 3>,
    chain: Vec<Link>,
    pairs: ArrayVec<VertexPair, 6>,
}

impl SaidMotion {
    /// Checks everything that is wrong whatever the geometry.
    pub(super) fn convert(
        told: &Told<'_, api::FindFirstContactRequest, api::FindFirstContactResponse>,
        bodies: &[AskedParts; 2],
    ) -> Result<Self, Failure> {
        let Told { question, asked, answer, path } = told;
        let motions = motions(asked, question)?;
        let [of_p, of_q] = &motions.of_bodies;
        let of_parts = [
            bodies[0].motions(&asked.field("p_motion"), of_p)?,
            bodies[1].motions(&asked.field("q_motion"), of_q)?,
        ];
        NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
        let said = answer.initial_verdict();
        let is_said = said != api::Verdict::Unspecified;
        let initial = is_said.then(|| verdict(&path.field("initial_verdict"), said)).transpose()?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let outcome = outcome(&path.field("outcome"), answer.outcome())?;
        let has_stopped = answer.stopped() != api::Stopped::Unspecified;
        Ok(Self {
            motions,
            of_parts,
            outcome,
            t_free: answer.t_free,
            is_start_open: has_stopped && answer.t_free <= 0.0 && outcome != Outcome::NoContact,
            t_contact: t_contact(path, answer)?,
            initial,
            entries: movements(&path.field("certificate"), bodies, certificate)?,
        })
    }

    pub(super) fn judge(
        &self,
        compounds: &Compounds<'_>,
        [p, q]: [&[PlacedBody]; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let located = |refusal: Refusal| located("certificate.parts", &refusal);
        let course = |i: u32, j: u32| -> Course<'_> {
            let (i, j) = (i as usize, j as usize);
            let pair = Pair { p: p[i].hull(), q: q[j].hull() };
            let (motion_p, motion_q) = (self.of_parts[0][i], self.of_parts[1][j]);
            let question = self.motions.about(pair);
            let radii = [p[i].body.radius(), q[j].body.radius()];
            let reach = Reach::of_rounded(radii, self.motions.margin);
            (&Question { motion_p, motion_q, reach, ..question }).into()
        };
        let &Self { outcome, t_free, t_contact, .. } = self;
        let entries: Vec<PartMotion<'_>> = self
            .entries
            .iter()
            .map(|MotionEntry { parts, initial, start, chain, pairs }| {
                let claim = MotionClaim { outcome, t_free, t_contact, chain, pairs, initial: None };
                PartMotion { parts, initial: initial.as_ref(), start, claim }
            })
            .collect();
        judge_compounds_motion(compounds, course, &entries, self.is_start_open, effort)
            .map_err(located)?;
        let Some(verdict) = self.initial else { return Ok(()) };
        let at_start: Vec<PartStatement> = self.entries.iter().filter_map(at_start).collect();
        judge_compounds(compounds, verdict, &at_start, effort)
            .map_err(|refusal| format!("initial_verdict: {refusal}"))
    }
}

/// What a certificate says of how the parts move.
fn movements(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: &api::MotionCertificate,
) -> Result<Vec<MotionEntry>, Failure> {
    let list = path.field("parts");
    if wire.parts.is_empty() {
        if !is_single(bodies) {
            return Err(list.bad("is required of bodies of several parts").into());
        }
        return Ok(vec![movement(path, one_of_each(), wire)?]);
    }
    let entry = |(at, entry): (usize, &api::PartMotionProof)| {
        let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
        let path = list.index(at);
        let certificate = required(&path, "certificate", entry.certificate.as_ref())?;
        movement(&path.field("certificate"), parts, certificate)
    };
    wire.parts.iter().enumerate().map(entry).collect()
}

fn movement(
    path: &Path<'_>,
    parts: Parts,
    wire: &api::MotionCertificate,
) -> Result<MotionEntry, Failure> {
    let initial_path = path.field("initial");
    let initial = wire.initial.as_ref().map(|initial| convex_proof(&initial_path, Some(initial)));
    Ok(MotionEntry {
        parts,
        initial: initial.transpose()?,
        start: margin_pairs(&initial_path, wire.initial.as_ref())?,
        chain: chain(&path.field("chain"), &wire.chain)?,
        pairs: at_most(&path.field("contact_pairs"), &wire.contact_pairs)?,
    })
}

/// What an entry says of the start: where no verdict is given, its first link begins there.
fn at_start(entry: &MotionEntry) -> Option<PartStatement> {
    let first = || entry.chain.first().filter(|link| link.t0 <= 0.0);
    let by_link =
        || first().map(|link| StaticProof::Separated { direction: link.direction }.into());
    let proof = entry.initial.clone().or_else(by_link)?;
    Some(PartStatement {
        parts: entry.parts.clone(),
        proof,
        margin_pairs: ArrayVec::new(),
        margin_depth: None,
    })
}
