//! What is claimed of several bodies, judged.

use super::faces::NamedFaces;
use clearance_bodies::table::first_collision::is_by_faces;
use clearance_certificates::told::{Told, required};
use clearance_geometry::claim::{CollisionClaim, CollisionProof, MovingSolid, Outcome, Verdict};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::judge_collision;
use clearance_proto as api;
use clearance_wire::convert::body::AskedBody;
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::{outcome, verdict};
use clearance_wire::convert::several::AskedSeveral;
use clearance_wire::convert::solids::collision;
use clearance_wire::path::NotImplemented;
use clearance_wire::status::Failure;

const NO_BODIES_MEET: &str = "is said where no bodies meet";

/// A first contact among several bodies, or that there is none.
#[derive(Clone, Debug)]
pub struct CollisionStatement {
    bodies: AskedSeveral,
    outcome: Outcome,
    t_free: f64,
    t_contact: f64,
    pair: Option<([u32; 2], Verdict)>,
    faces: Option<NamedFaces>,
    proof: CollisionProof,
}

impl CollisionStatement {
    /// Checks everything that is wrong whatever the geometry.
    pub(super) fn convert(
        told: &Told<'_, api::FindFirstCollisionRequest, api::FindFirstCollisionResponse>,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let Told { question, asked, answer, path } = told;
        let bodies = AskedSeveral::convert(asked, question, catalogue)?;
        if let Some(other) = bodies.bodies.iter().find(|mover| !is_by_faces(mover.body.kind())) {
            let what = "claims about several bodies that are not all polytopes and polyhedra";
            let field = other.field.clone();
            return Err(NotImplemented { field, what: what.into() }.into());
        }
        let outcome = outcome(&path.field("outcome"), answer.outcome())?;
        let (mut pair, mut t_contact, mut faces) = (None, 1.0, None);
        let (faces_path, named) = (path.field("face_contact"), answer.face_contact.as_ref());
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        if outcome == Outcome::Contact {
            let [p, q] = [("p", &answer.p), ("q", &answer.q)]
                .map(|(name, place)| required(path, name, place.as_ref()).copied());
            let initial = verdict(&path.field("initial_verdict"), answer.initial_verdict())?;
            pair = Some(([p?, q?], initial));
            t_contact = *required(path, "t_contact", answer.t_contact.as_ref())?;
            faces = NamedFaces::convert(&faces_path, named)?;
        } else {
            NamedFaces::refuse(&faces_path, named)?;
            for (name, place) in [("p", answer.p), ("q", answer.q)] {
                if place.is_some() {
                    return Err(path.field(name).bad(NO_BODIES_MEET).into());
                }
            }
            if certificate.contact.is_some() {
                return Err(certificate_path.field("contact").bad(NO_BODIES_MEET).into());
            }
        }
        let proof = collision(&certificate_path, certificate)?;
        Ok(Self { bodies, outcome, t_free: answer.t_free, t_contact, pair, faces, proof })
    }

    /// All of them.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &AskedBody> {
        self.bodies.bodies.iter().map(|mover| &mover.body)
    }

    /// Judges the claim; the inner error says what does not hold.
    pub(super) fn judge(self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        let Self { bodies, outcome, t_free, t_contact, pair, faces, proof } = self;
        let bodies = bodies.prepare(effort)?;
        let moving: Vec<MovingSolid<'_>> = bodies
            .iter()
            .map(|(body, motion)| MovingSolid { solid: body.solid(), motion: *motion })
            .collect();
        let claim = CollisionClaim { outcome, t_free, t_contact, pair, proof: &proof };
        let judged =
            judge_collision(&moving, &claim, effort).map_err(|refusal| refusal.to_string());
        Ok(judged.and_then(|()| {
            // What was accepted is of bodies that exist.
            let (Some(faces), Some((pair, _))) = (faces, pair) else { return Ok(()) };
            let two = pair.map(|place| &bodies[place as usize]);
            let motions = two.map(|(_, motion)| motion);
            faces.judge(two.map(|(body, _)| body), motions, [t_free, t_contact], effort)
        }))
    }
}
