//! What is claimed of bodies of several convex parts, as sessions report it, judged.

use arrayvec::ArrayVec;

use super::faces::NamedFaces;
use super::{required, t_contact};
use crate::geometry::certificate::bodies::Points;
use crate::geometry::certificate::judge::Refusal;
use crate::geometry::certificate::judge_compound::{
    Compounds, PartMotion, PartStatement, Parts, judge_compounds, judge_compounds_margin,
    judge_compounds_motion,
};
use crate::geometry::certificate::judge_motion::{Course, MotionClaim};
use crate::geometry::certificate::{Link, StaticProof, Verdict};
use crate::geometry::contact_time::{Outcome, Question};
use crate::geometry::effort::Effort;
use crate::geometry::motion::Motion;
use crate::geometry::pair::{Pair, VertexPair};
use crate::rpc::convert::Path;
use crate::rpc::convert::body::{AskedParts, ReadyBody};
use crate::rpc::convert::certificate::{at_most, chain, margin_pairs, proof};
use crate::rpc::convert::geometry::{outcome, verdict};
use crate::rpc::pb;
use crate::rpc::queries::{Motions, margin};
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;

/// A claim with its proof.
#[derive(Clone, Debug)]
pub struct PartsStatement {
    bodies: [AskedParts; 2],
    said: Said,
}

#[derive(Clone, Debug)]
enum Said {
    /// How they stand, and what is said of a margin.
    Verdict { verdict: Verdict, entries: Vec<PartStatement>, within: Option<(f64, bool)> },
    /// A first contact, or that there is none.
    Motion(Box<SaidMotion>),
}

#[derive(Clone, Debug)]
struct SaidMotion {
    /// Of the bodies; and of their parts.
    motions: Motions,
    of_parts: [Vec<Motion>; 2],
    outcome: Outcome,
    t_free: f64,
    t_contact: f64,
    /// At t = 0, if it is said.
    initial: Option<Verdict>,
    entries: Vec<MotionEntry>,
}

#[derive(Clone, Debug)]
struct MotionEntry {
    parts: Parts,
    initial: Option<StaticProof>,
    chain: Vec<Link>,
    pairs: ArrayVec<VertexPair, 6>,
}

impl PartsStatement {
    /// Checks everything that is wrong whatever the geometry; none if the claim is not about compounds.
    pub(super) fn convert(
        claim: &pb::verify_certificate_request::Claim,
        shared: &Shared,
    ) -> Result<Option<Self>, Failure> {
        use pb::verify_certificate_request::Claim as Wire;
        let root = Path::ROOT;
        match claim {
            Wire::Collision(claim) => {
                let Some(question) = &claim.question else { return Ok(None) };
                let path = root.field("collision");
                let bodies = compounds(&path, [&question.p, &question.q], shared)?;
                bodies.map(|bodies| Self::collision(&path, bodies, question, claim)).transpose()
            }
            Wire::FirstContact(claim) => {
                let Some(question) = &claim.question else { return Ok(None) };
                let path = root.field("first_contact");
                let bodies = compounds(&path, [&question.p, &question.q], shared)?;
                bodies.map(|bodies| Self::first_contact(&path, bodies, question, claim)).transpose()
            }
            Wire::Distance(_)
            | Wire::DistanceAlong(_)
            | Wire::Penetration(_)
            | Wire::FirstCollision(_) => Ok(None),
        }
    }

    fn collision(
        path: &Path<'_>,
        bodies: [AskedParts; 2],
        question: &pb::CheckCollisionRequest,
        claim: &pb::CollisionClaim,
    ) -> Result<Self, Failure> {
        let answer = required(path, "answer", claim.answer.as_ref())?;
        let asked = margin(&path.field("question"), question.margin)?;
        let path = path.field("answer");
        NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
        let entries = statements(&path.field("certificate"), &bodies, answer.certificate.as_ref())?;
        let within = match (answer.within_margin, asked) {
            (None, _) => None,
            (Some(is_within), Some(margin)) => Some((margin, is_within)),
            (Some(_), None) => {
                let why = "is said where no margin was given";
                return Err(path.field("within_margin").bad(why).into());
            }
        };
        let verdict = verdict(&path.field("verdict"), answer.verdict())?;
        Ok(Self { bodies, said: Said::Verdict { verdict, entries, within } })
    }

    fn first_contact(
        path: &Path<'_>,
        bodies: [AskedParts; 2],
        question: &pb::FindFirstContactRequest,
        claim: &pb::FirstContactClaim,
    ) -> Result<Self, Failure> {
        let answer = required(path, "answer", claim.answer.as_ref())?;
        let asked = path.field("question");
        let motions = Motions::convert(&asked, question)?;
        let [of_p, of_q] = motions.of_bodies();
        let of_parts = [
            bodies[0].motions(&asked.field("p_motion"), of_p)?,
            bodies[1].motions(&asked.field("q_motion"), of_q)?,
        ];
        let path = path.field("answer");
        NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
        let said = answer.initial_verdict();
        let is_said = said != pb::Verdict::Unspecified;
        let initial = is_said.then(|| verdict(&path.field("initial_verdict"), said)).transpose()?;
        let certificate = required(&path, "certificate", answer.certificate.as_ref())?;
        let said = SaidMotion {
            motions,
            of_parts,
            outcome: outcome(&path.field("outcome"), answer.outcome())?,
            t_free: answer.t_free,
            t_contact: t_contact(&path, answer)?,
            initial,
            entries: movements(&path.field("certificate"), &bodies, certificate)?,
        };
        Ok(Self { bodies, said: Said::Motion(Box::new(said)) })
    }

    /// Judges it.
    pub(super) fn judge(self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        let Self { bodies: [p, q], said } = self;
        let (p, q) = (p.prepare(effort)?, q.prepare(effort)?);
        let (of_p, of_q) = (points(&p), points(&q));
        let compounds = Compounds { p: &of_p, q: &of_q };
        Ok(match said {
            Said::Verdict { verdict, entries, within } => {
                judge_verdict(&compounds, verdict, (&entries, within), effort)
            }
            Said::Motion(said) => said.judge(&compounds, [&p, &q], effort),
        })
    }
}

fn points(parts: &[ReadyBody]) -> Vec<Points<'_>> {
    parts.iter().map(|part| (&part.placed()).into()).collect()
}

/// The bodies, if one at least is a compound.
fn compounds(
    path: &Path<'_>,
    bodies: [&Option<pb::PlacedBody>; 2],
    shared: &Shared,
) -> Result<Option<[AskedParts; 2]>, Failure> {
    let is_compound = |body: &&Option<pb::PlacedBody>| {
        let source = body.as_ref().and_then(|body| body.source.as_ref());
        matches!(source, Some(pb::placed_body::Source::Compound(_)))
    };
    if !bodies.iter().any(is_compound) {
        return Ok(None);
    }
    let path = path.field("question");
    let convert = |name, body: &Option<pb::PlacedBody>| {
        AskedParts::convert(&path.field(name), body.as_ref(), shared)
    };
    Ok(Some([convert("p", bodies[0])?, convert("q", bodies[1])?]))
}

fn is_single([p, q]: &[AskedParts; 2]) -> bool {
    p.count() == 1 && q.count() == 1
}

fn one_of_each() -> Parts {
    Parts { p: vec![0], q: vec![0] }
}

/// What a certificate says of how the parts stand. Of two bodies of one part each it may be that of any two.
fn statements(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: Option<&pb::StaticCertificate>,
) -> Result<Vec<PartStatement>, Failure> {
    let statement = |path: &Path<'_>, parts, wire: Option<&pb::StaticCertificate>| {
        let margin_pairs = margin_pairs(path, wire)?;
        Ok::<_, Failure>(PartStatement { parts, proof: proof(path, wire)?, margin_pairs })
    };
    match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(pb::static_certificate::Proof::Compound(compound)) => {
            let compound_path = path.field("compound");
            let list = compound_path.field("entries");
            let entry = |(at, entry): (usize, &pb::PartProof)| {
                let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
                let path = list.index(at);
                statement(&path.field("certificate"), parts, entry.certificate.as_ref())
            };
            compound.entries.iter().enumerate().map(entry).collect()
        }
        Some(_) if !is_single(bodies) => {
            Err(path.field("compound").bad("is required of bodies of several parts").into())
        }
        _ => Ok(vec![statement(path, one_of_each(), wire)?]),
    }
}

/// What a certificate says of how the parts move.
fn movements(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: &pb::MotionCertificate,
) -> Result<Vec<MotionEntry>, Failure> {
    let list = path.field("parts");
    if wire.parts.is_empty() {
        if !is_single(bodies) {
            return Err(list.bad("is required of bodies of several parts").into());
        }
        return Ok(vec![movement(path, one_of_each(), wire)?]);
    }
    let entry = |(at, entry): (usize, &pb::PartMotionProof)| {
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
    wire: &pb::MotionCertificate,
) -> Result<MotionEntry, Failure> {
    let initial_path = path.field("initial");
    let initial = wire.initial.as_ref().map(|initial| proof(&initial_path, Some(initial)));
    Ok(MotionEntry {
        parts,
        initial: initial.transpose()?,
        chain: chain(&path.field("chain"), &wire.chain)?,
        pairs: at_most(&path.field("contact_pairs"), &wire.contact_pairs)?,
    })
}

/// Where in the answer something is refused, and why.
fn located(list: &str, refusal: &Refusal) -> String {
    let Refusal::EntryFails(at, why) = refusal else { return refusal.to_string() };
    format!("{list}[{at}]: {why}")
}

fn judge_verdict(
    compounds: &Compounds<'_>,
    verdict: Verdict,
    (entries, within): (&[PartStatement], Option<(f64, bool)>),
    effort: &mut Effort<'_>,
) -> Result<(), String> {
    let located = |refusal: Refusal| located("certificate.compound.entries", &refusal);
    judge_compounds(compounds, verdict, entries, effort).map_err(located)?;
    let of_margin = |why: String| format!("within_margin: {why}");
    match (verdict, within) {
        (_, None) => Ok(()),
        // In contact every margin is kept.
        (Verdict::Touching | Verdict::Overlapping, Some((_, true))) => Ok(()),
        (Verdict::Touching | Verdict::Overlapping, Some((_, false))) => {
            Err(of_margin("the bodies are in contact".to_owned()))
        }
        (Verdict::Separated, Some(said)) => {
            let judged = judge_compounds_margin(compounds, said, entries, effort);
            judged.map_err(|refusal| of_margin(located(refusal)))
        }
    }
}

impl SaidMotion {
    fn judge(
        &self,
        compounds: &Compounds<'_>,
        [p, q]: [&[ReadyBody]; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let located = |refusal: Refusal| located("certificate.parts", &refusal);
        let course = |i: u32, j: u32| -> Course<'_> {
            let (i, j) = (i as usize, j as usize);
            let pair = Pair { p: p[i].placed(), q: q[j].placed() };
            let (motion_p, motion_q) = (self.of_parts[0][i], self.of_parts[1][j]);
            (&Question { motion_p, motion_q, ..self.motions.about(pair) }).into()
        };
        let &Self { outcome, t_free, t_contact, .. } = self;
        let entries: Vec<PartMotion<'_>> = self
            .entries
            .iter()
            .map(|MotionEntry { parts, initial, chain, pairs }| {
                let initial = initial.as_ref();
                let claim = MotionClaim { outcome, t_free, t_contact, chain, pairs, initial };
                PartMotion { parts, claim }
            })
            .collect();
        judge_compounds_motion(compounds, course, &entries, effort).map_err(located)?;
        let Some(verdict) = self.initial else { return Ok(()) };
        let at_start: Vec<PartStatement> = self.entries.iter().filter_map(at_start).collect();
        judge_compounds(compounds, verdict, &at_start, effort)
            .map_err(|refusal| format!("initial_verdict: {refusal}"))
    }
}

/// What an entry says of the start: where no verdict is given, its first link begins there.
fn at_start(entry: &MotionEntry) -> Option<PartStatement> {
    let first = || entry.chain.first().filter(|link| link.t0 <= 0.0);
    let by_link = || first().map(|link| StaticProof::Separated { direction: link.direction });
    let proof = entry.initial.clone().or_else(by_link)?;
    Some(PartStatement { parts: entry.parts.clone(), proof, margin_pairs: ArrayVec::new() })
}
