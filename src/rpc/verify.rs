//! Certificates, judged: exactly, from scratch, by code that shares nothing with the searches.

use super::convert::Path;
use super::convert::body::AskedBody;
use super::convert::certificate::proof;
use super::convert::geometry::verdict;
use super::pb;
use super::shared::Shared;
use super::status::Failure;
use crate::geometry::certificate::judge::judge_static;
use crate::geometry::certificate::{StaticProof, Verdict};
use crate::geometry::pair::Pair;

/// What is claimed of two bodies.
#[derive(Clone, Debug)]
pub struct Claim {
    p: AskedBody,
    q: AskedBody,
    statement: Statement,
}

#[derive(Clone, Debug)]
enum Statement {
    Verdict(Verdict, StaticProof),
}

impl Claim {
    /// Checks everything that is wrong whatever the geometry.
    pub fn convert(wire: &pb::VerifyCertificateRequest, shared: &Shared) -> Result<Self, Failure> {
        use pb::verify_certificate_request::Claim as Wire;
        let root = Path::ROOT;
        match wire.claim.as_ref().ok_or_else(|| root.field("claim").bad("is required"))? {
            Wire::Collision(claim) => {
                let path = root.field("collision");
                let (question, answer) = (claim.question.as_ref(), claim.answer.as_ref());
                let question = question.ok_or_else(|| path.field("question").bad("is required"))?;
                let answer = answer.ok_or_else(|| path.field("answer").bad("is required"))?;
                let statement = collision(&path.field("answer"), answer)?;
                let path = path.field("question");
                Ok(Self {
                    p: AskedBody::convert(&path.field("p"), question.p.as_ref(), shared)?,
                    q: AskedBody::convert(&path.field("q"), question.q.as_ref(), shared)?,
                    statement,
                })
            }
            Wire::Distance(_) | Wire::Penetration(_) | Wire::FirstContact(_) => {
                Err(Failure::NotImplemented("verifying this kind of certificate"))
            }
        }
    }

    /// Judges it; takes a while.
    pub fn judge(self) -> Result<pb::VerifyCertificateResponse, Failure> {
        let (p, q) = (self.p.prepare()?, self.q.prepare()?);
        let pair = Pair { p: p.placed(), q: q.placed() };
        let refusal = match &self.statement {
            Statement::Verdict(verdict, proof) if *verdict != proof.verdict() => {
                Some("the certificate proves another verdict".to_owned())
            }
            Statement::Verdict(_, proof) => {
                judge_static(&pair, proof).err().map(|refusal| refusal.to_string())
            }
        };
        Ok(pb::VerifyCertificateResponse {
            valid: refusal.is_none(),
            refusal: refusal.unwrap_or_default(),
        })
    }
}

fn collision(path: &Path<'_>, answer: &pb::CheckCollisionResponse) -> Result<Statement, Failure> {
    let claimed = verdict(&path.field("verdict"), answer.verdict())?;
    let proof = proof(&path.field("certificate"), answer.certificate.as_ref())?;
    Ok(Statement::Verdict(claimed, proof))
}
