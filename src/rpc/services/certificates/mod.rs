//! Certificates, judged: exactly, from scratch, by code that shares nothing with the searches.

mod compounds;
mod curved;
mod edges;
mod faces;
mod pair;
mod questions;
mod several;
mod solids;

use self::compounds::PartsStatement;
use self::edges::EdgesStatement;
use self::pair::PairClaim;
use self::questions::AboutTwo;
use self::several::CollisionStatement;
use clearance_bodies::table::Needs;
use clearance_certificates::told::Told;
use clearance_geometry::effort::Effort;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_runtime::robots::RobotStore;
use clearance_wire::convert::body::{AskedBody, bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::compound::AskedParts;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// What is claimed.
#[derive(Debug)]
pub enum Claim {
    /// A claim about two bodies of one part each.
    OfTwo(Box<PairClaim>),
    /// A claim about two bodies of which one at least is a compound.
    OfParts(Box<PartsStatement>),
    /// A claim about several bodies.
    OfSeveral(Box<CollisionStatement>),
    /// A claim about edges of robots.
    OfEdges(Box<EdgesStatement>),
}

impl Claim {
    /// Checks everything that is wrong whatever the geometry.
    pub fn convert(
        wire: &api::VerifyCertificateRequest,
        catalogue: &Catalogue<'_>,
        robots: &RobotStore,
    ) -> Result<Self, Failure> {
        use api::verify_certificate_request::Claim as Wire;
        let root = Path::ROOT;
        let claim = wire.claim.as_ref().ok_or_else(|| root.field("claim").bad("is required"))?;
        let path = root.field(match claim {
            Wire::Collision(_) => "collision",
            Wire::Distance(_) => "distance",
            Wire::DistanceAlong(_) => "distance_along",
            Wire::Penetration(_) => "penetration",
            Wire::FirstContact(_) => "first_contact",
            Wire::FirstCollision(_) => "first_collision",
            Wire::Edges(_) => "edges",
        });
        match claim {
            Wire::Collision(claim) => {
                about_two(&Told::of(&path, &claim.question, &claim.answer)?, catalogue)
            }
            Wire::Distance(claim) => {
                about_two(&Told::of(&path, &claim.question, &claim.answer)?, catalogue)
            }
            Wire::DistanceAlong(claim) => {
                about_two(&Told::of(&path, &claim.question, &claim.answer)?, catalogue)
            }
            Wire::Penetration(claim) => {
                about_two(&Told::of(&path, &claim.question, &claim.answer)?, catalogue)
            }
            Wire::FirstContact(claim) => {
                about_two(&Told::of(&path, &claim.question, &claim.answer)?, catalogue)
            }
            Wire::FirstCollision(claim) => {
                let told = Told::of(&path, &claim.question, &claim.answer)?;
                Ok(Self::OfSeveral(Box::new(CollisionStatement::convert(&told, catalogue)?)))
            }
            Wire::Edges(claim) => {
                let told = Told::of(&path, &claim.question, &claim.answer)?;
                Ok(Self::OfEdges(Box::new(EdgesStatement::convert(&told, catalogue, robots)?)))
            }
        }
    }

    /// What judging it takes beside the claim, bytes: bodies that are to be built, and their
    /// vertices as exact numbers where all of them are kept.
    pub fn working_bytes(&self) -> u64 {
        let each = |bodies: &mut dyn Iterator<Item = &AskedBody>, of_one: fn(&AskedBody) -> u64| {
            bodies.map(of_one).fold(0, u64::saturating_add)
        };
        let hull: fn(&AskedBody) -> u64 = |body| body.working_bytes(Needs::NOTHING);
        match self {
            Self::OfTwo(claim) if claim.is_of_solids() => {
                each(&mut [&claim.p, &claim.q].into_iter(), exact_bytes)
            }
            Self::OfTwo(claim) => {
                let own = each(&mut [&claim.p, &claim.q].into_iter(), hull);
                own.saturating_add(each(&mut claim.bodies_of_sides(), exact_bytes))
            }
            Self::OfParts(claim) => each(&mut claim.bodies(), hull),
            Self::OfSeveral(claim) => each(&mut claim.bodies(), exact_bytes),
            Self::OfEdges(claim) => claim.working_bytes(),
        }
    }

    /// Judges it, as long as `until` and `effort`, which looks at it, let it go on: a long proof
    /// about large bodies may take any while.
    pub fn judge(
        self,
        until: &Until,
        effort: &mut Effort<'_>,
    ) -> Result<api::VerifyCertificateResponse, Failure> {
        let judged = match self {
            Self::OfTwo(claim) => claim.judge(effort)?,
            Self::OfParts(claim) => claim.judge(effort)?,
            Self::OfSeveral(claim) => claim.judge(effort)?,
            Self::OfEdges(claim) => claim.judge(until, effort)?,
        };
        // A judge that was stopped refuses for that alone, which says nothing of the proof.
        if judged.is_err() && until.is_over() {
            return Err(Failure::Deadline);
        }
        Ok(api::VerifyCertificateResponse {
            valid: judged.is_ok(),
            refusal: judged.err().unwrap_or_default(),
        })
    }
}

/// What judging a body takes of which every vertex is kept as exact numbers, and every triangle in
/// boxes, bytes.
fn exact_bytes(body: &AskedBody) -> u64 {
    const PER_VERTEX: u64 = 512;
    body.working_bytes(Needs::NOTHING).saturating_add(PER_VERTEX * body.size() as u64)
}

/// A claim about two bodies, everything checked that is wrong whatever the geometry.
fn about_two<Q: AboutTwo>(
    told: &Told<'_, Q, Q::Answer>,
    catalogue: &Catalogue<'_>,
) -> Result<Claim, Failure> {
    let [p, q] = told.question.bodies();
    if is_compound(p) || is_compound(q) {
        let parts = |name, body| AskedParts::convert(&told.asked.field(name), body, catalogue);
        let of_parts = Q::of_parts(told, [parts("p", p)?, parts("q", q)?])?;
        return Ok(Claim::OfParts(Box::new(of_parts)));
    }
    let (p, q) = bodies(&told.asked, p, q, catalogue)?;
    let checked = Q::TOPIC.check(kinds(&p, &q));
    checked.map_err(|refused| not_answered(&told.asked, &refused))?;
    Ok(Claim::OfTwo(Box::new(Q::of_pair(told, [p, q])?)))
}

fn is_compound(body: Option<&api::PlacedBody>) -> bool {
    let source = body.and_then(|body| body.source.as_ref());
    matches!(source, Some(api::placed_body::Source::Compound(_)))
}
