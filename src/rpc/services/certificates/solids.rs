//! What is claimed of bodies that need not be convex, judged.

use super::faces::NamedFaces;
use crate::rpc::convert::geometry::outcome;
use crate::rpc::convert::solids::{motion, proof};
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::first_contact::Motions;
use clearance_certificates::told::t_contact;
use clearance_geometry::claim::{
    Outcome, SolidClaim, SolidMotionProof, SolidProof, Solids, Verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{judge_solid_motion, judge_solids};
use clearance_geometry::motion::Motion;
use clearance_proto as api;

/// A claim with its proof.
#[derive(Clone, Debug)]
pub(super) enum SolidStatement {
    /// A verdict, and where the bodies are said to meet.
    Verdict(SolidProof, Option<NamedFaces>),
    /// A first contact, or that there is none.
    Motion(Box<SolidMotion>),
}

/// See [`SolidStatement`].
#[derive(Clone, Debug)]
pub(super) struct SolidMotion {
    motions: Motions,
    outcome: Outcome,
    t_free: f64,
    t_contact: f64,
    faces: Option<NamedFaces>,
    proof: MotionProof,
}

#[derive(Clone, Debug)]
enum MotionProof {
    /// The bodies are in contact at t = 0.
    AtStart(SolidProof),
    /// The bodies are separated at t = 0.
    Later(SolidMotionProof),
}

/// What a certificate of a verdict says of bodies that need not be convex, if it does.
pub(super) fn of_verdict(
    path: &Path<'_>,
    answer: &api::CheckCollisionResponse,
) -> Result<Option<SolidStatement>, Failure> {
    let proof = solid_proof(&path.field("certificate"), answer.certificate.as_ref())?;
    let (path, wire) = (path.field("face_contact"), answer.face_contact.as_ref());
    Ok(match proof {
        Some(proof @ SolidProof::Separated(_)) => {
            NamedFaces::refuse(&path, wire)?;
            Some(SolidStatement::Verdict(proof, None))
        }
        Some(proof) => Some(SolidStatement::Verdict(proof, NamedFaces::convert(&path, wire)?)),
        None => None,
    })
}

/// What a certificate of a first contact says of bodies that need not be convex, if it does.
pub(super) fn of_motion(
    path: &Path<'_>,
    motions: &Motions,
    answer: &api::FindFirstContactResponse,
) -> Result<Option<SolidStatement>, Failure> {
    let Some(certificate) = &answer.certificate else { return Ok(None) };
    let certificate_path = path.field("certificate");
    let proof = match &certificate.solid {
        Some(wire) => MotionProof::Later(motion(&certificate_path.field("solid"), wire)?),
        None => {
            let initial = certificate.initial.as_ref();
            match solid_proof(&certificate_path.field("initial"), initial)? {
                Some(proof) => MotionProof::AtStart(proof),
                None => return Ok(None),
            }
        }
    };
    let outcome = outcome(&path.field("outcome"), answer.outcome())?;
    let (at, faces) = (path.field("face_contact"), answer.face_contact.as_ref());
    let faces = if outcome == Outcome::Contact {
        NamedFaces::convert(&at, faces)?
    } else {
        NamedFaces::refuse(&at, faces)?;
        None
    };
    Ok(Some(SolidStatement::Motion(Box::new(SolidMotion {
        motions: *motions,
        outcome,
        faces,
        t_free: answer.t_free,
        t_contact: t_contact(path, answer)?,
        proof,
    }))))
}

fn solid_proof(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<Option<SolidProof>, Failure> {
    match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(api::static_certificate::Proof::Solid(wire)) => {
            Ok(Some(proof(&path.field("solid"), wire)?))
        }
        _ => Ok(None),
    }
}

impl SolidStatement {
    /// Judges it, and the verdict that comes with it.
    pub(super) fn judge(
        &self,
        bodies: [&PlacedBody; 2],
        verdict: Verdict,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let solids = &Solids { p: bodies[0].solid(), q: bodies[1].solid() };
        let (faces, motions, times) = match self {
            Self::Verdict(proof, faces) => {
                judge_verdict(solids, verdict, proof, effort)?;
                (faces, [&Motion::rest(), &Motion::rest()], [0.0, 0.0])
            }
            Self::Motion(claim) => {
                claim.judge(solids, verdict, effort)?;
                (&claim.faces, claim.motions()?, [claim.t_free, claim.t_contact])
            }
        };
        faces.map_or(Ok(()), |faces| faces.judge(bodies, motions, times, effort))
    }
}

impl SolidMotion {
    fn motions(&self) -> Result<[&Motion; 2], String> {
        let motions = self.motions.without_slack();
        motions.ok_or_else(|| "a proof about polyhedra knows of no margin or deviation".to_owned())
    }

    fn judge(
        &self,
        solids: &Solids<'_>,
        verdict: Verdict,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let motions = self.motions()?;
        let &Self { outcome, t_free, t_contact, .. } = self;
        match &self.proof {
            MotionProof::AtStart(proof) => {
                if verdict == Verdict::Separated {
                    return Err(
                        "that the bodies are separated at t = 0 says nothing of later".into()
                    );
                }
                if outcome != Outcome::Contact || t_free.abs() > 0.0 || t_contact.abs() > 0.0 {
                    return Err("the bodies are in contact at t = 0".to_owned());
                }
                judge_verdict(solids, verdict, proof, effort)
            }
            MotionProof::Later(proof) => {
                if verdict != Verdict::Separated {
                    return Err("the certificate is for another verdict".to_owned());
                }
                let claim = SolidClaim { outcome, t_free, t_contact, proof };
                judge_solid_motion(solids, motions, &claim, effort)
                    .map_err(|refusal| refusal.to_string())
            }
        }
    }
}

fn judge_verdict(
    solids: &Solids<'_>,
    verdict: Verdict,
    proof: &SolidProof,
    effort: &mut Effort<'_>,
) -> Result<(), String> {
    if verdict != proof.verdict() {
        return Err("the certificate is for another verdict".to_owned());
    }
    judge_solids(solids, proof, effort).map_err(|refusal| refusal.to_string())
}
