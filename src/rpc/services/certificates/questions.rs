//! How claims about two bodies are read, one implementation for each kind of question.

use super::compounds::PartsStatement;
use super::curved;
use super::faces::NamedFaces;
use super::pair::{PairClaim, Statement};
use super::solids;
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::table::{Topic, Way, proof_way_of};
use clearance_certificates::curved::OfSides;
use clearance_certificates::hulls::{HullClaim, Moves};
use clearance_certificates::rounded::RoundedClaim;
use clearance_certificates::told::Told;
use clearance_proto as api;
use clearance_wire::convert::body::{AskedBody, kinds, not_answered};
use clearance_wire::convert::certificate::proof;
use clearance_wire::convert::compound::AskedParts;
use clearance_wire::convert::geometry::verdict;
use clearance_wire::convert::motions::motions;
use clearance_wire::status::Failure;

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

/// The claim about two bodies one of which at least is curved.
fn of_curved<Q>(
    told: &Told<'_, Q, <Q as AboutTwo>::Answer>,
    [p, q]: [AskedBody; 2],
) -> Result<PairClaim, Failure>
where
    Q: AboutTwo + OfSides<Told = <Q as AboutTwo>::Answer>,
{
    let statement = curved::read(told, [&p, &q], |told, bodies| Q::of_pair(told, bodies))?;
    Ok(PairClaim { p, q, statement: Statement::Curved(Box::new(statement)) })
}

/// The claim about the way of two convex bodies one of which at least is curved, which move so.
pub(super) fn moving_pair(
    told: &Told<'_, api::FindFirstContactRequest, api::FindFirstContactResponse>,
    [p, q]: [AskedBody; 2],
    moves: &Moves,
) -> Result<PairClaim, Failure> {
    let statement = curved::read(told, [&p, &q], |told, [p, q]| {
        let way = proof_way_of(kinds(&p, &q)).map_err(|why| not_answered(&told.asked, &why))?;
        let statement = match way {
            Way::Radii => Statement::Rounded(RoundedClaim::first_contact(told, *moves)?),
            Way::Hulls
            | Way::Faces
            | Way::RoundedFaces
            | Way::Pieces
            | Way::Cells
            | Way::Between => Statement::Hulls(HullClaim::first_contact(told, *moves)?),
        };
        Ok(PairClaim { p, q, statement })
    })?;
    Ok(PairClaim { p, q, statement: Statement::Curved(Box::new(statement)) })
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
        let certificate = answer.certificate.as_ref();
        let row = VerdictQuestion::of(kinds(&p, &q), question.margin);
        row.map_err(|refused| not_answered(asked, &refused))?;
        let way = proof_way_of(kinds(&p, &q)).map_err(|refused| not_answered(asked, &refused))?;
        let of_bodies = match way {
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells => solids::of_verdict(told)?,
            Way::Hulls | Way::Radii => None,
            Way::Between => return of_curved(told, [p, q]),
        };
        let statement = if let Some(solids) = of_bodies {
            Statement::Solids(solids, verdict(&path.field("verdict"), answer.verdict())?)
        } else {
            NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
            match way {
                Way::Radii | Way::RoundedFaces => {
                    Statement::Rounded(RoundedClaim::collision(told)?)
                }
                Way::Hulls | Way::Faces | Way::Pieces | Way::Cells | Way::Between => {
                    proof(&path.field("certificate"), certificate)?;
                    Statement::Hulls(HullClaim::collision(told)?)
                }
            }
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
        let Told { asked, answer, path, .. } = told;
        let statement =
            match proof_way_of(kinds(&p, &q)).map_err(|why| not_answered(asked, &why))? {
                Way::Hulls => Statement::Hulls(HullClaim::distance(told)?),
                Way::Radii => Statement::Rounded(RoundedClaim::distance(told)?),
                Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells => {
                    let stands = verdict(&path.field("verdict"), answer.verdict())?;
                    Statement::Solids(solids::of_distance(told)?, stands)
                }
                Way::Between => return of_curved(told, [p, q]),
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
        let way = proof_way_of(kinds(&p, &q)).map_err(|why| not_answered(&told.asked, &why))?;
        let statement = match way {
            Way::Hulls => Statement::Hulls(HullClaim::along(told)?),
            Way::Radii => Statement::Rounded(RoundedClaim::along(told)?),
            Way::Between => return of_curved(told, [p, q]),
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells => {
                let what = "ranges in claims about such bodies";
                return Err(told.asked.not_implemented(what).into());
            }
        };
        Ok(PairClaim { p, q, statement })
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
        let way = proof_way_of(kinds(&p, &q)).map_err(|why| not_answered(&told.asked, &why))?;
        let statement = match way {
            Way::Radii => Statement::Rounded(RoundedClaim::penetration(told)?),
            Way::Hulls => Statement::Hulls(HullClaim::penetration(told)?),
            Way::RoundedFaces | Way::Faces | Way::Pieces | Way::Cells => {
                let at = if kinds(&p, &q)[0].is_convex() { "q" } else { "p" };
                let what = "depths in claims about bodies that are not convex";
                return Err(told.asked.field(at).not_implemented(what).into());
            }
            Way::Between => return of_curved(told, [p, q]),
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
        let moves = Moves::convert(asked, question)?;
        let way = proof_way_of(kinds(&p, &q)).map_err(|why| not_answered(asked, &why))?;
        let of_bodies = match way {
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells => {
                solids::of_motion(path, &motions(asked, question)?, answer)?
            }
            Way::Hulls | Way::Radii => None,
            Way::Between => return of_curved(told, [p, q]),
        };
        let statement = if let Some(solids) = of_bodies {
            let at = path.field("initial_verdict");
            Statement::Solids(solids, verdict(&at, answer.initial_verdict())?)
        } else {
            NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
            match way {
                Way::Radii | Way::RoundedFaces => {
                    Statement::Rounded(RoundedClaim::first_contact(told, moves)?)
                }
                Way::Hulls | Way::Faces | Way::Pieces | Way::Cells | Way::Between => {
                    Statement::Hulls(HullClaim::first_contact(told, moves)?)
                }
            }
        };
        Ok(PairClaim { p, q, statement })
    }
}
