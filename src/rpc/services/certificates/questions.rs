//! How claims about two bodies are read, one implementation for each kind of question.

use super::compounds::PartsStatement;
use super::faces::NamedFaces;
use super::pair::{Measure, PairClaim, RangeMeasure, Statement, Within};
use super::solids;
use super::told::{Told, required, t_contact};
use crate::rpc::convert::body::AskedBody;
use crate::rpc::convert::certificate::{at_most, chain, margin_pairs, proof, range, surface};
use crate::rpc::convert::compound::AskedParts;
use crate::rpc::convert::geometry::{direction, direction_vector, outcome, verdict};
use crate::rpc::convert::motions::Motions;
use crate::rpc::status::Failure;
use clearance_geometry::claim::{FirstContact, Span};
use clearance_proto as api;

/// A question about two bodies, and how claims of an answer to it are read.
pub(super) trait AboutTwo: Sized {
    /// The answer to this question.
    type Answer;
    /// Whether it can be asked about polyhedra, too.
    const TAKES_POLYHEDRA: bool;

    /// P and Q.
    fn bodies(&self) -> [Option<&api::PlacedBody>; 2];
    /// The claim about bodies of one part each.
    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedBody; 2],
    ) -> Result<PairClaim, Failure>;
    /// The claim about bodies one of which at least is a compound.
    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure>;
}

impl AboutTwo for api::CheckCollisionRequest {
    type Answer = api::CheckCollisionResponse;
    const TAKES_POLYHEDRA: bool = true;

    fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
        [self.p.as_ref(), self.q.as_ref()]
    }

    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure> {
        PartsStatement::collision(told, bodies)
    }

    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        [p, q]: [AskedBody; 2],
    ) -> Result<PairClaim, Failure> {
        let Told { question, asked, answer, path } = told;
        let statement = match solids::of_verdict(path, answer)? {
            Some(solids) => Statement::Solids(solids),
            None => {
                NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
                let certificate = answer.certificate.as_ref();
                let proof = proof(&path.field("certificate"), certificate)?;
                Statement::Hulls(proof, Measure::Nothing)
            }
        };
        if question.margin.is_some() && (p.is_polyhedron() || q.is_polyhedron()) {
            return Err(asked.field("margin").not_implemented("margins of polyhedra").into());
        }
        let certificate = answer.certificate.as_ref();
        let pairs = margin_pairs(&path.field("certificate"), certificate)?;
        let within = Within::convert([asked, path], question.margin, answer.within_margin, pairs)?;
        let verdict = verdict(&path.field("verdict"), answer.verdict())?;
        Ok(PairClaim { p, q, verdict, within, statement })
    }
}

impl AboutTwo for api::MeasureDistanceRequest {
    type Answer = api::MeasureDistanceResponse;
    const TAKES_POLYHEDRA: bool = false;

    fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
        [self.p.as_ref(), self.q.as_ref()]
    }

    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure> {
        PartsStatement::distance(told, bodies)
    }

    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        [p, q]: [AskedBody; 2],
    ) -> Result<PairClaim, Failure> {
        let Told { question, asked, answer, path } = told;
        let bracket = required(path, "distance", answer.distance.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let pairs = at_most::<3>(&certificate_path.field("pairs"), &certificate.pairs)?;
        let proof_path = certificate_path.field("verdict");
        let of_margin = margin_pairs(&proof_path, certificate.verdict.as_ref())?;
        Ok(PairClaim {
            p,
            q,
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            within: Within::convert(
                [asked, path],
                question.margin,
                answer.within_margin,
                of_margin,
            )?,
            statement: Statement::Hulls(
                proof(&proof_path, certificate.verdict.as_ref())?,
                Measure::Distance {
                    lower: bracket.lower,
                    upper: bracket.upper,
                    pairs: pairs.to_vec(),
                },
            ),
        })
    }
}

impl AboutTwo for api::MeasureDistanceAlongRequest {
    type Answer = api::MeasureDistanceAlongResponse;
    const TAKES_POLYHEDRA: bool = false;

    fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
        [self.p.as_ref(), self.q.as_ref()]
    }

    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure> {
        let at = if bodies[0].is_compound() { "p" } else { "q" };
        Err(told
            .asked
            .field(at)
            .field("compound")
            .not_implemented("compounds in this claim")
            .into())
    }

    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        [p, q]: [AskedBody; 2],
    ) -> Result<PairClaim, Failure> {
        let Told { question, asked, answer, path } = told;
        let along = direction_vector(&asked.field("direction"), question.direction.as_ref())?;
        let bracket = |wire: &api::Bracket| [wire.lower, wire.upper];
        let span = match (&answer.enter, &answer.exit) {
            (Some(enter), Some(exit)) => Some(Span { enter: bracket(enter), exit: bracket(exit) }),
            (None, None) => None,
            (Some(_), None) => return Err(path.field("exit").bad("is required").into()),
            (None, Some(_)) => return Err(path.field("enter").bad("is required").into()),
        };
        let range_path = path.field("range_certificate");
        let proven = answer.range_certificate.as_ref().map(|wire| range(&range_path, wire));
        let certificate = proof(&path.field("certificate"), answer.certificate.as_ref())?;
        let measure = RangeMeasure { along, span, proof: proven.transpose()? };
        Ok(PairClaim {
            p,
            q,
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            within: None,
            statement: Statement::Hulls(certificate, Measure::Range(Box::new(measure))),
        })
    }
}

impl AboutTwo for api::MeasurePenetrationRequest {
    type Answer = api::MeasurePenetrationResponse;
    const TAKES_POLYHEDRA: bool = false;

    fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
        [self.p.as_ref(), self.q.as_ref()]
    }

    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure> {
        PartsStatement::penetration(told, bodies)
    }

    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        [p, q]: [AskedBody; 2],
    ) -> Result<PairClaim, Failure> {
        let Told { answer, path, .. } = told;
        let bracket = required(path, "depth", answer.depth.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let face_path = certificate_path.field("face");
        let face = certificate.face.as_ref().map(|face| direction(&face_path, Some(face)));
        let surface_path = certificate_path.field("surface");
        let surface = certificate.surface.as_ref().map(|wire| surface(&surface_path, wire));
        Ok(PairClaim {
            p,
            q,
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            within: None,
            statement: Statement::Hulls(
                proof(&certificate_path.field("verdict"), certificate.verdict.as_ref())?,
                Measure::Depth {
                    lower: bracket.lower,
                    upper: bracket.upper,
                    face: face.transpose()?,
                    surface: surface.transpose()?,
                },
            ),
        })
    }
}

impl AboutTwo for api::FindFirstContactRequest {
    type Answer = api::FindFirstContactResponse;
    const TAKES_POLYHEDRA: bool = true;

    fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
        [self.p.as_ref(), self.q.as_ref()]
    }

    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure> {
        PartsStatement::first_contact(told, bodies)
    }

    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        [p, q]: [AskedBody; 2],
    ) -> Result<PairClaim, Failure> {
        let Told { question, asked, answer: wire, path } = told;
        let motions = Motions::convert(asked, question)?;
        let at_start = || verdict(&path.field("initial_verdict"), wire.initial_verdict());
        if let Some(solids) = solids::of_motion(path, &motions, wire)? {
            let verdict = at_start()?;
            let statement = Statement::Solids(solids);
            return Ok(PairClaim { p, q, verdict, within: None, statement });
        }
        NamedFaces::refuse(&path.field("face_contact"), wire.face_contact.as_ref())?;
        let certificate = required(path, "certificate", wire.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        if !certificate.parts.is_empty() {
            let why = "is about bodies of several parts: compounds";
            return Err(certificate_path.field("parts").bad(why).into());
        }
        let initial = proof(&certificate_path.field("initial"), certificate.initial.as_ref())?;
        // Reports of sessions do not say it, and leave it to its proof.
        let is_said = wire.initial_verdict() != api::Verdict::Unspecified;
        let verdict = if is_said { at_start()? } else { initial.verdict() };
        let pairs = &certificate.contact_pairs;
        let answer = FirstContact {
            outcome: outcome(&path.field("outcome"), wire.outcome())?,
            t_free: wire.t_free,
            t_contact: t_contact(path, wire)?,
            chain: chain(&certificate_path.field("chain"), &certificate.chain)?,
            pairs: at_most(&certificate_path.field("contact_pairs"), pairs)?,
            initial: initial.clone(),
            stopped: None,
        };
        let measure = Measure::FirstContact(Box::new((motions, answer)));
        Ok(PairClaim { p, q, verdict, within: None, statement: Statement::Hulls(initial, measure) })
    }
}
