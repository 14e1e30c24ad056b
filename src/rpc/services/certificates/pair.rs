//! What is claimed of two bodies of one part each, judged.

use super::curved::are_listed;
use super::solids::SolidStatement;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::{Way, proof_way_of};
use clearance_certificates::curved::CurvedStatement;
use clearance_certificates::hulls::HullClaim;
use clearance_certificates::rounded::RoundedClaim;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Effort;
use clearance_geometry::pair::Pair;
use clearance_wire::convert::body::AskedBody;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// What is claimed of two bodies.
#[derive(Clone, Debug)]
pub struct PairClaim {
    pub(super) p: AskedBody,
    pub(super) q: AskedBody,
    pub(super) statement: Statement,
}

/// What the certificate is about.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// The hulls of the bodies, which of polytopes are these themselves.
    Hulls(HullClaim),
    /// The polytopes that are rounded, and their radii.
    Rounded(RoundedClaim),
    /// Polytopes in and around the bodies that are curved.
    Curved(Box<CurvedStatement<AskedBody, PairClaim>>),
    /// The bodies themselves, and how they stand.
    Solids(SolidStatement, Verdict),
}

/// Why a claim about hulls says nothing of the bodies.
const NOT_OF_HULLS: &str = "that hulls of polyhedra meet proves nothing about these";

impl PairClaim {
    /// Whether it is about the bodies themselves, not their hulls.
    pub(super) fn is_of_solids(&self) -> bool {
        matches!(self.statement, Statement::Solids(..))
    }

    /// The bodies in and around those that are curved.
    pub(super) fn bodies_of_sides(&self) -> impl Iterator<Item = &AskedBody> {
        let curved = match &self.statement {
            Statement::Curved(statement) => Some(statement),
            Statement::Hulls(_) | Statement::Rounded(_) | Statement::Solids(..) => None,
        };
        curved.into_iter().flat_map(|statement| statement.bodies())
    }

    /// Judges the claim; the inner error says what does not hold.
    pub(super) fn judge(self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        let Self { p, q, statement } = self;
        match statement {
            Statement::Hulls(claim) => judge_hulls([p, q], &claim, effort),
            Statement::Rounded(claim) => {
                let way = proof_way_of([p.kind(), q.kind()]);
                if way != Ok(Way::Radii) && !claim.is_of_separation() {
                    return Ok(Err(NOT_OF_HULLS.to_owned()));
                }
                let [p, q] = listed([p, q], effort)?;
                let pair = Pair { p: p.hull(), q: q.hull() };
                let radii = [p.body.radius(), q.body.radius()];
                Ok(claim.judge((&pair).into(), radii, effort))
            }
            Statement::Curved(statement) => statement.judge(effort, |claim, bodies, effort| {
                if are_listed(bodies, effort)? {
                    claim.judge(effort)
                } else {
                    Ok(Err("vertices are missing, or not in order".to_owned()))
                }
            }),
            Statement::Solids(statement, verdict) => {
                let [p, q] = listed([p, q], effort)?;
                Ok(statement.judge([&p, &q], verdict, effort))
            }
        }
    }
}

fn judge_hulls(
    [p, q]: [AskedBody; 2],
    claim: &HullClaim,
    effort: &mut Effort<'_>,
) -> Result<Result<(), String>, Failure> {
    let are_their_hulls = p.kind().is_its_hull() && q.kind().is_its_hull();
    let [p, q] = listed([p, q], effort)?;
    let pair = Pair { p: p.hull(), q: q.hull() };
    if !are_their_hulls && !claim.is_of_separation() {
        return Ok(Err(NOT_OF_HULLS.to_owned()));
    }
    Ok(claim.judge((&pair).into(), effort))
}

/// Both bodies with lists of their vertices and triangles, which claims name.
fn listed(bodies: [AskedBody; 2], effort: &mut Effort<'_>) -> Result<[PlacedBody; 2], Failure> {
    let [p, q] = bodies;
    let (p, q) = (p.prepare(effort)?, q.prepare(effort)?);
    let list = |name, placed: PlacedBody| {
        let what = "certificates about a body without vertices, curved or a large height field";
        let body = placed.body.spelled();
        let body = body.ok_or_else(|| Path::ROOT.field(name).not_implemented(what))?;
        Ok::<_, Failure>(PlacedBody { body, ..placed })
    };
    Ok([list("p", p)?, list("q", q)?])
}
