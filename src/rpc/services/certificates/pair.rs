//! What is claimed of two bodies of one part each, judged.

use arrayvec::ArrayVec;

use super::solids::SolidStatement;
use crate::rpc::convert::body::AskedBody;
use crate::rpc::convert::geometry::margin;
use crate::rpc::convert::motions::Motions;
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    Direction, FirstContact, MarginClaim, Outcome, RangeClaim, RangeProof, Span, StaticProof,
    Surface, Verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{
    judge_depth, judge_distance_with, judge_margin, judge_motion, judge_range, judge_static_with,
    judge_zero,
};
use clearance_geometry::pair::{Pair, VertexPair};

/// What is claimed of two bodies.
#[derive(Clone, Debug)]
pub struct PairClaim {
    pub(super) p: AskedBody,
    pub(super) q: AskedBody,
    pub(super) verdict: Verdict,
    pub(super) within: Option<Within>,
    pub(super) statement: Statement,
}

/// What is said of a margin, and what shows it.
#[derive(Clone, Debug)]
pub(super) struct Within {
    margin: f64,
    is_within: bool,
    pairs: ArrayVec<VertexPair, 3>,
}

/// What the certificate is about.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// The hulls of the bodies, which of polytopes are these themselves.
    Hulls(StaticProof, Measure),
    /// The bodies themselves.
    Solids(SolidStatement),
}

/// What is claimed beside the verdict.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    Nothing,
    Distance { lower: f64, upper: f64, pairs: Vec<VertexPair> },
    Depth { lower: f64, upper: f64, face: Option<Direction>, surface: Option<Surface> },
    Range(Box<RangeMeasure>),
    FirstContact(Box<(Motions, FirstContact)>),
}

/// A range along a direction.
#[derive(Clone, Debug)]
pub(super) struct RangeMeasure {
    pub(super) along: Vec3,
    pub(super) span: Option<Span>,
    pub(super) proof: Option<RangeProof>,
}

impl Measure {
    /// Whether what is claimed holds for everything within the two bodies if it holds for them.
    fn is_of_separation(&self, verdict: Verdict) -> bool {
        let is_all = match self {
            Self::Nothing => true,
            Self::Distance { .. } | Self::Depth { .. } | Self::Range(_) => false,
            Self::FirstContact(claim) => claim.1.outcome == Outcome::NoContact,
        };
        verdict == Verdict::Separated && is_all
    }
}

impl Within {
    pub(super) fn convert(
        [question, answer]: [&Path<'_>; 2],
        asked: Option<f64>,
        is_within: Option<bool>,
        pairs: ArrayVec<VertexPair, 3>,
    ) -> Result<Option<Self>, Failure> {
        let asked = margin(question, asked)?;
        let Some(is_within) = is_within else { return Ok(None) };
        let path = answer.field("within_margin");
        let margin = asked.ok_or_else(|| path.bad("is said where no margin was given"))?;
        Ok(Some(Self { margin, is_within, pairs }))
    }

    fn judge(
        &self,
        pair: &Pair<'_>,
        proof: &StaticProof,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let judged = match proof {
            // In contact every margin is kept.
            StaticProof::Touching { .. } | StaticProof::Overlapping { .. } if self.is_within => {
                Ok(())
            }
            StaticProof::Touching { .. } | StaticProof::Overlapping { .. } => {
                Err("the bodies are in contact".to_owned())
            }
            StaticProof::Separated { direction } => {
                let Self { margin, is_within, ref pairs } = *self;
                let claim = MarginClaim { margin, is_within, pairs };
                judge_margin(pair, direction, &claim, effort).map_err(|refusal| refusal.to_string())
            }
        };
        judged.map_err(|why| format!("within_margin: {why}"))
    }
}

impl PairClaim {
    /// Whether it is about the bodies themselves, not their hulls.
    pub(super) fn is_of_solids(&self) -> bool {
        matches!(self.statement, Statement::Solids(_))
    }

    /// Judges it.
    pub(super) fn judge(self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        let Self { p, q, verdict, within, statement } = self;
        match statement {
            Statement::Hulls(proof, measure) => {
                let said = DistanceSaid { measure: &measure, within: within.as_ref() };
                judge_hulls([p, q], verdict, &proof, said, effort)
            }
            Statement::Solids(statement) => {
                let (p, q) = (p.prepare_to_judge(effort)?, q.prepare_to_judge(effort)?);
                Ok(statement.judge([&p, &q], verdict, effort))
            }
        }
    }
}

/// What is claimed of a distance beside the verdict.
#[derive(Clone, Copy)]
struct DistanceSaid<'a> {
    measure: &'a Measure,
    within: Option<&'a Within>,
}

fn judge_hulls(
    [p, q]: [AskedBody; 2],
    verdict: Verdict,
    proof: &StaticProof,
    said: DistanceSaid<'_>,
    effort: &mut Effort<'_>,
) -> Result<Result<(), String>, Failure> {
    let DistanceSaid { measure, within } = said;
    let of_polyhedra = p.is_polyhedron() || q.is_polyhedron();
    let (p, q) = (p.prepare(effort)?, q.prepare(effort)?);
    let pair = Pair { p: p.placed(), q: q.placed() };
    if of_polyhedra && !measure.is_of_separation(verdict) {
        return Ok(Err("that hulls of polyhedra meet proves nothing about these".to_owned()));
    }
    let judged = judge_verdict(&pair, verdict, proof, effort)
        .and_then(|()| judge_measure(&pair, verdict, measure, effort));
    Ok(judged.and_then(|()| within.map_or(Ok(()), |within| within.judge(&pair, proof, effort))))
}

fn judge_verdict(
    pair: &Pair<'_>,
    verdict: Verdict,
    proof: &StaticProof,
    effort: &mut Effort<'_>,
) -> Result<(), String> {
    if verdict != proof.verdict() {
        return Err("the certificate is for another verdict".to_owned());
    }
    judge_static_with(pair, proof, effort).map_err(|refusal| refusal.to_string())
}

fn judge_measure(
    pair: &Pair<'_>,
    verdict: Verdict,
    measure: &Measure,
    effort: &mut Effort<'_>,
) -> Result<(), String> {
    match measure {
        Measure::Nothing => Ok(()),
        Measure::Distance { lower, upper, pairs } if verdict == Verdict::Separated => {
            judge_distance_with(pair, [*lower, *upper], pairs, effort)
                .map_err(|refusal| refusal.to_string())
        }
        Measure::Depth { lower, upper, face, surface } if verdict == Verdict::Overlapping => {
            let face = face.as_ref().ok_or("the face is missing")?;
            judge_depth(pair, [*lower, *upper], face, surface.as_ref(), effort)
                .map_err(|refusal| refusal.to_string())
        }
        Measure::Range(claim) => {
            let RangeMeasure { along, span, proof } = claim.as_ref();
            let claim = RangeClaim { along: *along, verdict, span: *span, proof: proof.as_ref() };
            judge_range(pair, &claim, effort).map_err(|refusal| refusal.to_string())
        }
        Measure::FirstContact(claim) => {
            let (motions, answer) = claim.as_ref();
            judge_motion(&(&motions.about(*pair)).into(), &answer.into(), effort)
                .map_err(|refusal| refusal.to_string())
        }
        Measure::Distance { lower, upper, .. } | Measure::Depth { lower, upper, .. } => {
            judge_zero([*lower, *upper]).map_err(|refusal| refusal.to_string())
        }
    }
}
