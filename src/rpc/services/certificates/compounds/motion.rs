//! What is claimed of the motion of bodies of several convex parts, judged.

use arrayvec::ArrayVec;

use super::curved::{CurvedEntry, MovingEntry, PartMoves};
use super::entries::{is_single, located, one_of_each};
use crate::rpc::services::certificates::faces::NamedFaces;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::first_contact::Motions;
use clearance_certificates::hulls::Moves;
use clearance_certificates::told::{Told, required, t_contact};
use clearance_geometry::claim::{
    Compounds, ConvexProof, Course, KnownParts, Link, MotionClaim, MotionEntries, Outcome,
    PartMotion, PartStatement, Parts, Reach, StaticProof, Verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{Refusal, judge_compounds_beside, judge_compounds_motion};
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
    /// Where among all entries these are.
    places: Vec<usize>,
    /// Those of two parts of which one is curved.
    curved: Vec<CurvedEntry>,
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
        Moves::convert(asked, question)?;
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
        let moves = |i: u32, j: u32| Moves {
            motion_p: of_parts[0][i as usize],
            motion_q: of_parts[1][j as usize],
            deviation_p: motions.deviations[0],
            deviation_q: motions.deviations[1],
            margin: motions.margin,
        };
        let moving = PartMoves { asked, question, moves: &moves };
        let Movements { entries, places, curved } = movements(path, bodies, certificate, &moving)?;
        Ok(Self {
            motions,
            of_parts,
            entries,
            places,
            curved,
            outcome,
            t_free: answer.t_free,
            is_start_open: has_stopped && answer.t_free <= 0.0 && outcome != Outcome::NoContact,
            t_contact: t_contact(path, answer)?,
            initial,
        })
    }

    /// The entries about curved parts.
    pub(super) fn curved(&self) -> &[CurvedEntry] {
        &self.curved
    }

    /// The same, to be judged.
    pub(super) fn curved_mut(&mut self) -> &mut [CurvedEntry] {
        &mut self.curved
    }

    /// Where in the answer something is refused, and why.
    fn located(&self, refusal: Refusal) -> String {
        if let Refusal::EntryFails(at, why) = refusal {
            let place = self.places.get(at).copied().unwrap_or(at);
            return located("certificate.parts", &Refusal::EntryFails(place, why));
        }
        located("certificate.parts", &refusal)
    }

    pub(super) fn judge(
        &self,
        compounds: &Compounds<'_>,
        [p, q]: [&[PlacedBody]; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
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
        let known: Vec<KnownParts> = self.curved.iter().map(CurvedEntry::known).collect();
        let (is_start_open, entries, known) = (self.is_start_open, &entries[..], &known[..]);
        let claimed = MotionEntries { outcome, t_free, t_contact, is_start_open, entries, known };
        judge_compounds_motion(compounds, course, &claimed, effort)
            .map_err(|refusal| self.located(refusal))?;
        let Some(verdict) = self.initial else { return Ok(()) };
        let at_start: Vec<PartStatement> = self.entries.iter().filter_map(at_start).collect();
        judge_compounds_beside(compounds, verdict, &at_start, known, effort)
            .map_err(|refusal| format!("initial_verdict: {refusal}"))
    }
}

/// The entries of a certificate about how parts move.
#[derive(Default)]
struct Movements {
    entries: Vec<MotionEntry>,
    places: Vec<usize>,
    curved: Vec<CurvedEntry>,
}

impl Movements {
    fn add(
        &mut self,
        entry: MovingEntry<'_>,
        bodies: &[AskedParts; 2],
        moving: &PartMoves<'_>,
    ) -> Result<(), Failure> {
        match CurvedEntry::moving(&entry, bodies, moving)? {
            Some(curved) => self.curved.push(curved),
            None => {
                let MovingEntry { path, at, parts, certificate } = entry;
                self.entries.push(movement(&path.field("certificate"), parts, certificate)?);
                self.places.push(at);
            }
        }
        Ok(())
    }
}

/// What a certificate says of how the parts move.
fn movements(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: &api::MotionCertificate,
    moving: &PartMoves<'_>,
) -> Result<Movements, Failure> {
    let mut all = Movements::default();
    let certificate_path = path.field("certificate");
    let list = certificate_path.field("parts");
    if wire.parts.is_empty() {
        if !is_single(bodies) {
            return Err(list.bad("is required of bodies of several parts").into());
        }
        let parts = one_of_each();
        let entry = MovingEntry { path, at: 0, parts, certificate: wire };
        all.add(entry, bodies, moving)?;
        return Ok(all);
    }
    for (at, entry) in wire.parts.iter().enumerate() {
        let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
        let path = list.index(at);
        let certificate = required(&path, "certificate", entry.certificate.as_ref())?;
        all.add(MovingEntry { path: &path, at, parts, certificate }, bodies, moving)?;
    }
    Ok(all)
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
