//! Answers judged by their certificates, without a server: the judges of [`clearance_proof`] look
//! at every vertex, in exact arithmetic.
//!
//! Answers about two convex bodies are judged here, polytopes, rounded ones and cylinders, cones
//! and ellipsoids, and what the reports of a session say of such bodies of one part
//! ([`crate::Session::verify`]). What else is proven (compounds, polyhedra, surfaces, clouds, edges
//! of robots), a server can judge: `VerifyCertificate`.

use std::cmp::Ordering;
use std::sync::Arc;

use clearance_certificates::curved::{self, OfSides, SidePolytope, Sides};
use clearance_certificates::geometry::pose;
use clearance_certificates::hulls::{HullClaim, Moves};
use clearance_certificates::path::{BadField, Path};
use clearance_certificates::rounded::RoundedClaim;
use clearance_certificates::told::Told;
use clearance_proof::Vec3;
use clearance_proof::claim::{Bodies, Points};
use clearance_proof::effort::Effort;
use clearance_proof::pose::Pose;

pub use crate::body::ConvexBody;
use crate::connection::Client;
use crate::error::NotProven;
use clearance_proto as api;

/// A question about two bodies whose answers are proven.
pub trait Provable: OfSides<Told = Self::Answer> {
    /// The answer to it.
    type Answer;
    /// Its two bodies.
    fn bodies(&self) -> [Option<&api::PlacedBody>; 2];
    /// What an answer claims of two polytopes.
    fn of_hulls(told: &Told<'_, Self, Self::Answer>) -> Result<HullClaim, BadField>;
    /// What an answer claims of two bodies one of which at least is rounded.
    fn of_rounded(told: &Told<'_, Self, Self::Answer>) -> Result<RoundedClaim, BadField>;
}

/// One implementation for each question: its messages, and which readers take the answer.
macro_rules! provable {
    ($($question:ident, $answer:ident, $told:ident => $hulls:expr, $rounded:expr;)*) => {$(
        impl Provable for api::$question {
            type Answer = api::$answer;

            fn bodies(&self) -> [Option<&api::PlacedBody>; 2] {
                [self.p.as_ref(), self.q.as_ref()]
            }

            fn of_hulls($told: &Told<'_, Self, Self::Answer>) -> Result<HullClaim, BadField> {
                $hulls
            }

            fn of_rounded($told: &Told<'_, Self, Self::Answer>) -> Result<RoundedClaim, BadField> {
                $rounded
            }
        }
    )*};
}
provable! {
    CheckCollisionRequest, CheckCollisionResponse, told => {
        HullClaim::collision(told)
    }, {
        RoundedClaim::collision(told)
    };
    MeasureDistanceRequest, MeasureDistanceResponse, told => {
        HullClaim::distance(told)
    }, {
        RoundedClaim::distance(told)
    };
    MeasureDistanceAlongRequest, MeasureDistanceAlongResponse, told => {
        HullClaim::along(told)
    }, {
        RoundedClaim::along(told)
    };
    MeasurePenetrationRequest, MeasurePenetrationResponse, told => {
        HullClaim::penetration(told)
    }, {
        RoundedClaim::penetration(told)
    };
    FindFirstContactRequest, FindFirstContactResponse, told => {
        HullClaim::first_contact(told, Moves::convert(&told.asked, told.question)?)
    }, {
        RoundedClaim::first_contact(told, Moves::convert(&told.asked, told.question)?)
    };
}

/// A polytope with its radius where it is.
#[derive(Clone, Debug)]
struct PlacedPoints {
    points: Arc<[Vec3]>,
    radius: f64,
    pose: Pose,
}

/// What is claimed of two of these.
#[derive(Clone, Debug)]
enum ConvexClaim {
    Hulls(HullClaim),
    Rounded(RoundedClaim),
}

impl ConvexClaim {
    fn read<Q: Provable>(
        told: &Told<'_, Q, Q::Answer>,
        bodies: &[PlacedPoints; 2],
    ) -> Result<Self, BadField> {
        if bodies.iter().any(|body| body.radius > 0.0) {
            Ok(Self::Rounded(Q::of_rounded(told)?))
        } else {
            Ok(Self::Hulls(Q::of_hulls(told)?))
        }
    }

    fn judge(&self, bodies: [&PlacedPoints; 2], effort: &mut Effort<'_>) -> Result<(), String> {
        let [p, q] = bodies.map(|body| Points { points: &body.points, pose: body.pose });
        let of_both = Bodies { p, q };
        match self {
            Self::Hulls(claim) => claim.judge(of_both, effort),
            Self::Rounded(claim) => claim.judge(of_both, bodies.map(|body| body.radius), effort),
        }
    }
}

/// Judges an answer about two bodies of these vertices, which stand in canonical order (extreme
/// points, without duplicates, by x, then y, then z), as reports of registrations give them. Of a
/// body that the question names by its sizes none are needed.
pub fn verify<Q: Provable>(
    question: &Q,
    answer: &Q::Answer,
    vertices: [&[Vec3]; 2],
) -> Result<(), NotProven> {
    let of = |k: usize, name| {
        let source = question.bodies()[k].and_then(|body| body.source.as_ref());
        let path = Path::ROOT.field("question");
        let path = path.field(name);
        match source {
            Some(api::placed_body::Source::Rounded(shape)) => {
                Ok(ConvexBody::named(&path.field("rounded"), shape)?)
            }
            Some(api::placed_body::Source::Id(id)) if !id.starts_with("p1-") => {
                Err(path.bad("is no polytope: verify it by what it is").into())
            }
            _ if vertices[k].is_empty() => Ok(None),
            _ => Ok(Some(ConvexBody::Points(vertices[k].into(), 0.0))),
        }
    };
    let [p, q]: [Result<Option<ConvexBody>, NotProven>; 2] = [of(0, "p"), of(1, "q")];
    let unknown = |name| move || NotProven::UnknownBody(name);
    verify_bodies(question, answer, &[p?.ok_or_else(unknown("p"))?, q?.ok_or_else(unknown("q"))?])
}

/// Judges an answer about two convex bodies.
pub fn verify_bodies<Q: Provable>(
    question: &Q,
    answer: &Q::Answer,
    bodies: &[ConvexBody; 2],
) -> Result<(), NotProven> {
    let asked = Path::ROOT.field("question");
    let pose_of = |k: usize, name| {
        let body = question.bodies()[k];
        pose(&asked.field(name).field("pose"), body.and_then(|body| body.pose.as_ref()))
    };
    let poses = [pose_of(0, "p")?, pose_of(1, "q")?];
    let told = Told::here(question, answer);
    let itself = |k: usize| match &bodies[k] {
        ConvexBody::Points(points, radius) => {
            PlacedPoints { points: points.clone(), radius: *radius, pose: poses[k] }
        }
        // A side has a polytope in its place.
        ConvexBody::Curved(_, radius) => {
            PlacedPoints { points: [].into(), radius: *radius, pose: poses[k] }
        }
    };
    let effort = &mut Effort::unlimited();
    let known = bodies.each_ref().map(ConvexBody::curved);
    if known.iter().all(Option::is_none) {
        let bodies = [itself(0), itself(1)];
        let claim = ConvexClaim::read(&told, &bodies)?;
        return claim.judge(bodies.each_ref(), effort).map_err(NotProven::Refused);
    }
    let body = |k: usize, polytope: Option<SidePolytope<'_>>| match polytope {
        None => itself(k),
        Some(SidePolytope { vertices, radius }) => {
            PlacedPoints { points: vertices.into(), radius, pose: poses[k] }
        }
    };
    let sides = Sides { curved: known, body };
    let statement = curved::read(&told, &sides, ConvexClaim::read)?;
    let judged = statement.judge(effort, |claim, [p, q], effort| {
        let is_listed =
            |of: Option<&[Vec3]>| of.is_none_or(|list| !list.is_empty() && in_order(list));
        if !is_listed(p.1) || !is_listed(q.1) {
            return Ok(Err("vertices are missing, or not in order".to_owned()));
        }
        Ok::<_, NotProven>(claim.judge([p.0, q.0], effort))
    })?;
    judged.map_err(NotProven::Refused)
}

/// Whether vertices stand in canonical order.
fn in_order(vertices: &[Vec3]) -> bool {
    let is_before = |a: &Vec3, b: &Vec3| a.iter().partial_cmp(b.iter()) == Some(Ordering::Less);
    vertices.windows(2).all(|two| is_before(&two[0], &two[1]))
}

impl Client {
    /// Judges an answer about two convex bodies that were registered through this client, or that
    /// the question names by their sizes.
    pub fn verify<Q: Provable>(&self, question: &Q, answer: &Q::Answer) -> Result<(), NotProven> {
        let known = |name, k: usize| {
            let source = question.bodies()[k].and_then(|body| body.source.as_ref());
            let body = source.and_then(|source| self.known().body(source));
            body.ok_or(NotProven::UnknownBody(name))
        };
        verify_bodies(question, answer, &[known("p", 0)?, known("q", 1)?])
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
    fn proofs_about_polytopes_are_not_taken_for_ones_about_rounded_or_curved_bodies() {
        use api::placed_body::Source;
        use api::rounded_shape::Core;
        let (cube, (mut question, answer)) = (cube(), asked());
        let ball = api::RoundedShape { radius: 0.5, ..Default::default() };
        let round = Core::Ellipsoid(api::Vector3 { x: 0.5, y: 0.5, z: 0.5 });
        let round = api::RoundedShape { core: Some(round), ..Default::default() };
        let id = |kind: &str| Source::Id(format!("{kind}-{}", "0".repeat(64)));
        for source in [Source::Rounded(ball), Source::Rounded(round), id("r1"), id("e1"), id("m1")]
        {
            question.q.as_mut().unwrap().source = Some(source);
            assert!(verify(&question, &answer, [&cube, &cube]).is_err(), "{question:?}");
        }
    }

    #[test]
    fn nothing_is_said_of_bodies_that_are_not_known() {
        let (cube, (question, answer)) = (cube(), asked());
        let unknown = verify(&question, &answer, [&cube, &[]]);
        assert_eq!(unknown, Err(NotProven::UnknownBody("q")));
    }
}
