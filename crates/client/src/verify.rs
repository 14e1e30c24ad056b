//! Answers judged by their certificates, without a server: the judges of [`clearance_proof`] look
//! at every vertex, in exact arithmetic.
//!
//! Answers about two polytopes are judged here, and what the reports of a session say of bodies of
//! one part ([`crate::Session::verify`]). What else is proven (compounds, polyhedra, rounded
//! bodies, edges of robots), a server can judge: `VerifyCertificate`.

use clearance_certificates::geometry::pose;
use clearance_certificates::hulls::{HullClaim, Moves};
use clearance_certificates::path::{BadField, Path};
use clearance_certificates::told::Told;
use clearance_proof::Vec3;
use clearance_proof::claim::{Bodies, Points};
use clearance_proof::effort::Effort;

use crate::connection::Client;
use crate::error::NotProven;
use clearance_proto as api;

/// A question about two bodies whose answers are proven.
pub trait Provable {
    /// The answer to it.
    type Answer;
    /// Its two bodies.
    fn bodies(&self) -> [Option<&api::PlacedBody>; 2];
    /// What an answer claims.
    fn claim(&self, answer: &Self::Answer) -> Result<HullClaim, BadField>;
}

/// One implementation for each question: its messages, and which reader takes the answer.
macro_rules! provable {
    ($($question:ident, $answer:ident, $told:ident => $claim:expr;)*) => {$(
        impl Provable for api::$question {
            type Answer = api::$answer;

            fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
                [self.p.as_ref(), self.q.as_ref()]
            }

            fn claim(&self, answer: &Self::Answer) -> Result<HullClaim, BadField> {
                let $told = &Told::here(self, answer);
                $claim
            }
        }
    )*};
}
provable! {
    CheckCollisionRequest, CheckCollisionResponse, told => HullClaim::collision(told);
    MeasureDistanceRequest, MeasureDistanceResponse, told => HullClaim::distance(told);
    MeasureDistanceAlongRequest, MeasureDistanceAlongResponse, told => HullClaim::along(told);
    MeasurePenetrationRequest, MeasurePenetrationResponse, told => HullClaim::penetration(told);
    FindFirstContactRequest, FindFirstContactResponse, told => {
        HullClaim::first_contact(told, Moves::convert(&told.asked, told.question)?)
    };
}

/// Judges an answer about two bodies of these vertices, which stand in canonical order (extreme
/// points, without duplicates, by x, then y, then z), as reports of registrations give them.
pub fn verify<Q: Provable>(
    question: &Q,
    answer: &Q::Answer,
    vertices: [&[Vec3]; 2],
) -> Result<(), NotProven> {
    let asked = Path::ROOT.field("question");
    let placed = |name, k: usize| -> Result<Points<'_>, NotProven> {
        let body = question.bodies()[k];
        let path = asked.field(name);
        let pose = pose(&path.field("pose"), body.and_then(|body| body.pose.as_ref()))?;
        if body.and_then(|body| body.source.as_ref()).is_some_and(is_rounded) {
            return Err(path.bad("is rounded: what is said of it, a server can judge").into());
        }
        let points = vertices[k];
        if points.is_empty() {
            Err(NotProven::UnknownBody(name))
        } else {
            Ok(Points { points, pose })
        }
    };
    let bodies = Bodies { p: placed("p", 0)?, q: placed("q", 1)? };
    judge(&question.claim(answer)?, bodies)
}

/// Whether a body has round edges. What is proven of its polytope alone says nothing of it.
fn is_rounded(source: &api::placed_body::Source) -> bool {
    use api::placed_body::Source;
    match source {
        Source::Rounded(_) => true,
        Source::Id(id) => id.starts_with("r1-"),
        Source::Alias(_) | Source::Vertices(_) | Source::Compound(_) => false,
    }
}

pub(crate) fn judge(claim: &HullClaim, bodies: Bodies<'_>) -> Result<(), NotProven> {
    claim.judge(bodies, &mut Effort::unlimited()).map_err(NotProven::Refused)
}

impl Client {
    /// Judges an answer about two bodies that were registered through this client, by their points.
    pub fn verify<Q: Provable>(&self, question: &Q, answer: &Q::Answer) -> Result<(), NotProven> {
        let known = |name, k: usize| {
            let source = question.bodies()[k].and_then(|body| body.source.as_ref());
            let vertices = source.and_then(|source| self.known().vertices(source));
            vertices.ok_or(NotProven::UnknownBody(name))
        };
        verify(question, answer, [&known("p", 0)?, &known("q", 1)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Vec<Vec3> {
        let corner = |i: u8| Vec3::from([2, 1, 0].map(|axis| f64::from(i >> axis & 1)));
        (0..8).map(corner).collect()
    }

    /// Two unit cubes, the second a quarter away along x, and what a server says of them.
    fn asked() -> (api::MeasureDistanceRequest, api::MeasureDistanceResponse) {
        let at = |x| api::Pose {
            translation: Some(api::Vector3 { x, y: 0.0, z: 0.0 }),
            orientation: None,
        };
        let body = |x| Some(api::PlacedBody { source: None, pose: Some(at(x)) });
        let question =
            api::MeasureDistanceRequest { p: body(0.0), q: body(1.25), ..Default::default() };
        let vector = api::Vector3 { x: 1.0, y: 0.0, z: 0.0 };
        let direction = api::Direction { form: Some(api::direction::Form::Vector(vector)) };
        let proof = api::SeparatedProof { direction: Some(direction), margin_pairs: Vec::new() };
        let proof = Some(api::static_certificate::Proof::Separated(proof));
        let answer = api::MeasureDistanceResponse {
            verdict: api::Verdict::Separated.into(),
            distance: Some(api::Bracket { lower: 0.25, upper: 0.25 }),
            certificate: Some(api::DistanceCertificate {
                verdict: Some(api::StaticCertificate { proof }),
                pairs: vec![api::VertexPair { i: 4, j: 0 }],
                parts: Vec::new(),
            }),
            ..Default::default()
        };
        (question, answer)
    }

    #[test]
    fn a_true_answer_is_accepted_and_a_tampered_one_refused_with_the_reason() {
        let (cube, (question, answer)) = (cube(), asked());
        assert_eq!(verify(&question, &answer, [&cube, &cube]), Ok(()));
        let refused = |change: &dyn Fn(&mut api::MeasureDistanceResponse)| {
            let mut answer = answer.clone();
            change(&mut answer);
            verify(&question, &answer, [&cube, &cube]).unwrap_err().to_string()
        };
        let said = refused(&|answer| answer.set_verdict(api::Verdict::Touching));
        assert!(said.contains("another verdict"), "{said}");
        let said =
            refused(&|answer| answer.distance = Some(api::Bracket { lower: 0.3, upper: 0.3 }));
        assert!(said.contains("bound"), "{said}");
        let said = refused(&|answer| answer.certificate = None);
        assert_eq!(said, "answer.certificate: is required");
    }

    /// That polytopes are apart says nothing of bodies that reach farther.
    #[test]
    fn proofs_about_polytopes_are_not_taken_for_ones_about_rounded_bodies() {
        use api::placed_body::Source;
        let (cube, (mut question, answer)) = (cube(), asked());
        let shape = api::RoundedShape { radius: 0.5, ..Default::default() };
        for source in [Source::Rounded(shape), Source::Id(format!("r1-{}", "0".repeat(64)))] {
            question.q.as_mut().unwrap().source = Some(source);
            let refused = verify(&question, &answer, [&cube, &cube]).unwrap_err().to_string();
            assert!(refused.starts_with("question.q: is rounded"), "{refused}");
        }
    }

    #[test]
    fn nothing_is_said_of_bodies_that_are_not_known() {
        let (cube, (question, answer)) = (cube(), asked());
        let unknown = verify(&question, &answer, [&cube, &[]]);
        assert_eq!(unknown, Err(NotProven::UnknownBody("q")));
    }
}
