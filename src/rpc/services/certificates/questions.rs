//! How claims about two bodies are read, one implementation for each kind of question.

use super::compounds::PartsStatement;
use super::faces::NamedFaces;
use super::pair::{PairClaim, Statement};
use super::solids;
use crate::rpc::convert::body::{AskedBody, kinds, not_answered};
use crate::rpc::convert::certificate::{margin_pairs, proof};
use crate::rpc::convert::compound::AskedParts;
use crate::rpc::convert::geometry::verdict;
use crate::rpc::convert::motions::motions;
use crate::rpc::status::Failure;
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::table::{Topic, is_by_radii};
use clearance_certificates::hulls::{HullClaim, Moves, WithinMargin};
use clearance_certificates::rounded::RoundedClaim;
use clearance_certificates::told::Told;
use clearance_proto as api;

/// A question about two bodies, and how claims of an answer to it are read.
pub(super) trait AboutTwo: Sized {
    /// The answer to this question.
    type Answer;
    /// What it is in the table of bodies.
    const TOPIC: Topic;

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
    const TOPIC: Topic = Topic::Verdict;

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
        let (certificate, proof_path) = (answer.certificate.as_ref(), path.field("certificate"));
        let refused = |refused| not_answered(asked, &refused);
        let row = VerdictQuestion::of(kinds(&p, &q), question.margin);
        if is_by_radii(kinds(&p, &q)) {
            row.map_err(refused)?;
            NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
            let statement = Statement::Rounded(RoundedClaim::collision(told)?);
            return Ok(PairClaim { p, q, statement });
        }
        let solids = solids::of_verdict(path, answer)?;
        if solids.is_none() {
            NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
            proof(&proof_path, certificate)?;
        }
        row.map_err(refused)?;
        let statement = if let Some(solids) = solids {
            let pairs = margin_pairs(&proof_path, certificate)?;
            let told_within = answer.within_margin;
            WithinMargin::convert([asked, path], question.margin, told_within, pairs)?;
            Statement::Solids(solids, verdict(&path.field("verdict"), answer.verdict())?)
        } else {
            Statement::Hulls(HullClaim::collision(told)?)
        };
        Ok(PairClaim { p, q, statement })
    }
}

impl AboutTwo for api::MeasureDistanceRequest {
    type Answer = api::MeasureDistanceResponse;
    const TOPIC: Topic = Topic::Distance;

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
        let statement = match is_by_radii(kinds(&p, &q)) {
            true => Statement::Rounded(RoundedClaim::distance(told)?),
            false => Statement::Hulls(HullClaim::distance(told)?),
        };
        Ok(PairClaim { p, q, statement })
    }
}

impl AboutTwo for api::MeasureDistanceAlongRequest {
    type Answer = api::MeasureDistanceAlongResponse;
    const TOPIC: Topic = Topic::DistanceAlong;

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
        Ok(PairClaim { p, q, statement: Statement::Hulls(HullClaim::along(told)?) })
    }
}

impl AboutTwo for api::MeasurePenetrationRequest {
    type Answer = api::MeasurePenetrationResponse;
    const TOPIC: Topic = Topic::Depth;

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
        let statement = match is_by_radii(kinds(&p, &q)) {
            true => Statement::Rounded(RoundedClaim::penetration(told)?),
            false => Statement::Hulls(HullClaim::penetration(told)?),
        };
        Ok(PairClaim { p, q, statement })
    }
}

impl AboutTwo for api::FindFirstContactRequest {
    type Answer = api::FindFirstContactResponse;
    const TOPIC: Topic = Topic::FirstContact;

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
        let Told { question, asked, answer, path } = told;
        if is_by_radii(kinds(&p, &q)) {
            NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
            let moves = Moves::convert(asked, question)?;
            let statement = Statement::Rounded(RoundedClaim::first_contact(told, moves)?);
            return Ok(PairClaim { p, q, statement });
        }
        let statement =
            if let Some(solids) = solids::of_motion(path, &motions(asked, question)?, answer)? {
                let verdict = verdict(&path.field("initial_verdict"), answer.initial_verdict())?;
                Statement::Solids(solids, verdict)
            } else {
                NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
                Statement::Hulls(HullClaim::first_contact(told, Moves::convert(asked, question)?)?)
            };
        Ok(PairClaim { p, q, statement })
    }
}
