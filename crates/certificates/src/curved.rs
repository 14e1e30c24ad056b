//! What an answer claims about a curved body and another one: the polytopes around and in what is
//! curved, judged to be so, and what is claimed of these bodies, judged as of any others.

use crate::geometry::{outcome, points, verdict};
use crate::hulls::{WithinMargin, span};
use crate::path::{BadField, Path};
use crate::told::{Told, required};
use clearance_proof::Vec3;
use clearance_proof::claim::{CurvedCore, Measured, Outcome, SideClaim, Verdict};
use clearance_proof::effort::Effort;
use clearance_proof::judge::{Refusal, judge_around, judge_between, judge_inside};
use clearance_proto as api;
use clearance_proto::curved_side::Certificate;

/// A question about two bodies whose answers are claimed of those in and around them as well.
pub trait OfSides: Sized {
    /// The answer to this question.
    type Told;
    /// What the certificate of the answer has the proof of the verdict in, if it is not that.
    const PROOF_IN: Option<&'static str>;

    /// The margin that the question names beside the bodies.
    fn margin(&self) -> Option<f64> {
        None
    }
    /// The proof of the verdict.
    fn proof(answer: &Self::Told) -> Option<&api::StaticCertificate>;
    /// What an answer says, without its proof.
    fn side(answer: &Self::Told) -> api::CurvedSide;
    /// The answer that says what is claimed of one side.
    fn answer(side: &api::CurvedSide) -> Self::Told;
    /// What is said beside the verdict.
    fn measured(path: &Path<'_>, side: &api::CurvedSide) -> Result<Measured, BadField>;
}

/// What is claimed of two bodies one of which at least is curved; `B` are bodies, and `C` is what
/// is claimed of two of them.
#[derive(Clone, Debug)]
pub struct CurvedStatement<B, C> {
    said: SideClaim,
    hulls: [Option<HullsOf>; 2],
    outer: Option<Side<B, C>>,
    inner: Option<Side<B, C>>,
}

/// What is claimed of the bodies in these, or around them.
#[derive(Clone, Debug)]
struct Side<B, C> {
    said: SideClaim,
    bodies: [B; 2],
    claim: C,
}

/// The polytopes in and around a curved body.
#[derive(Clone, Debug)]
struct HullsOf {
    core: CurvedCore,
    radius: f64,
    outer: Option<(Vec<Vec3>, Vec<[u32; 3]>)>,
    inner: Option<Vec<Vec3>>,
}

/// A polytope in a curved body or around it, with the radius of that.
#[derive(Clone, Copy, Debug)]
pub struct SidePolytope<'a> {
    /// Its vertices, as they are listed.
    pub vertices: &'a [Vec3],
    /// Metres.
    pub radius: f64,
}

/// How two bodies of a claim are told apart: which are curved, and what stands in their places.
#[derive(Clone, Copy, Debug)]
pub struct Sides<F> {
    /// What each is without its radius, and its radius, if it is curved.
    pub curved: [Option<(CurvedCore, f64)>; 2],
    /// What stands in the place of P or Q, by number: it itself, if it is not curved.
    pub body: F,
}

/// Reads what an answer about two bodies claims; `claim_of` reads what is claimed of each side.
pub fn read<Q, B, C, E>(
    told: &Told<'_, Q, Q::Told>,
    sides: &Sides<impl Fn(usize, Option<SidePolytope<'_>>) -> B>,
    claim_of: impl Fn(&Told<'_, Q, Q::Told>, &[B; 2]) -> Result<C, E>,
) -> Result<CurvedStatement<B, C>, E>
where
    Q: OfSides,
    E: From<BadField>,
{
    use api::static_certificate::Proof;
    let certificate_path = told.path.field("certificate");
    let verdict_path = Q::PROOF_IN.map(|name| certificate_path.field(name));
    let proof_path = verdict_path.as_ref().unwrap_or(&certificate_path);
    let path = proof_path.field("curved");
    let Some(Proof::Curved(proof)) = Q::proof(told.answer).and_then(|proof| proof.proof.as_ref())
    else {
        return Err(path.bad("is required: one of the bodies is curved").into());
    };
    let mut said = said_of(told, &told.path, &Q::side(told.answer))?;
    let is_in_contact = said.verdict != Verdict::Separated;
    if is_in_contact && told.question.margin().is_none_or(|margin| margin >= 0.0) {
        // That it is within the margin follows from the verdict.
        said.is_within = said.is_within.filter(|is_within| !is_within);
    }
    let hulls = [
        hulls(&path.field("p"), proof.p.as_ref(), sides.curved[0])?,
        hulls(&path.field("q"), proof.q.as_ref(), sides.curved[1])?,
    ];
    let side = |name, wire: &[api::CurvedSide], points_of: fn(&HullsOf) -> Option<&[Vec3]>| {
        let path = path.field(name);
        let wire = match wire {
            [] => return Ok(None),
            [wire] => wire,
            _ => return Err(path.bad("must have at most one entry").into()),
        };
        let answer = Q::answer(wire);
        let told = Told { answer: &answer, path, ..*told };
        let body = |k: usize| -> Result<B, BadField> {
            let Some(hulls) = &hulls[k] else { return Ok((sides.body)(k, None)) };
            let missing = || path.bad("needs the polytopes of the bodies that are curved");
            let vertices = points_of(hulls).ok_or_else(missing)?;
            Ok((sides.body)(k, Some(SidePolytope { vertices, radius: hulls.radius })))
        };
        let bodies = [body(0)?, body(1)?];
        let claim = claim_of(&told, &bodies)?;
        Ok::<_, E>(Some(Side { said: said_of(&told, &path, wire)?, bodies, claim }))
    };
    let outer = side("outer", &proof.outer, HullsOf::around)?;
    let inner = side("inner", &proof.inner, |hulls| hulls.inner.as_deref())?;
    Ok(CurvedStatement { said, hulls, outer, inner })
}

/// What is said of two bodies.
fn said_of<Q: OfSides>(
    told: &Told<'_, Q, Q::Told>,
    path: &Path<'_>,
    side: &api::CurvedSide,
) -> Result<SideClaim, BadField> {
    let pairs = Default::default();
    let margin = told.question.margin();
    WithinMargin::convert([&told.asked, path], margin, side.within_margin, pairs)?;
    Ok(SideClaim {
        verdict: verdict(&path.field("verdict"), side.verdict())?,
        is_within: side.within_margin,
        measured: Q::measured(path, side)?,
    })
}

/// The polytopes in and around a body.
fn hulls(
    path: &Path<'_>,
    wire: Option<&api::CurvedHulls>,
    curved: Option<(CurvedCore, f64)>,
) -> Result<Option<HullsOf>, BadField> {
    let (wire, (core, radius)) = match (wire, curved) {
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(path.bad("is of a body that is not curved")),
        (None, Some(_)) => return Err(path.bad("is required")),
        (Some(wire), Some(curved)) => (wire, curved),
    };
    let (triangles, rest) = wire.outer_triangles.as_chunks::<3>();
    if !rest.is_empty() {
        let path = path.field("outer_triangles");
        return Err(path.bad("must have three indices for each triangle"));
    }
    let read = |name, wire: &Option<api::Points>| {
        wire.as_ref().map(|wire| points(&path.field(name), wire)).transpose()
    };
    let outer = read("outer", &wire.outer)?.map(|points| (points, triangles.to_vec()));
    Ok(Some(HullsOf { core, radius, outer, inner: read("inner", &wire.inner)? }))
}

/// The bodies of a side, with what is listed of those that are curved.
pub type SideBodies<'a, B> = [(&'a B, Option<&'a [Vec3]>); 2];

impl<B, C> CurvedStatement<B, C> {
    /// The bodies that claims about its sides are about.
    pub fn bodies(&self) -> impl Iterator<Item = &B> {
        [&self.outer, &self.inner].into_iter().flatten().flat_map(|side| &side.bodies)
    }

    /// Judges it, the claims of its sides by `judge`, which is told what is listed of the bodies
    /// of a side that are curved; the inner error says what does not hold.
    pub fn judge<E>(
        self,
        effort: &mut Effort<'_>,
        judge: impl Fn(C, SideBodies<'_, B>, &mut Effort<'_>) -> Result<Result<(), String>, E>,
    ) -> Result<Result<(), String>, E> {
        let Self { said, hulls, outer, inner } = self;
        for (of, name) in hulls.iter().zip(["p", "q"]) {
            if let Some(Err(why)) = of.as_ref().map(|of| of.judge(effort)) {
                return Ok(Err(format!("{name}: {why}")));
            }
        }
        let said_of = |side: &Option<Side<B, C>>| side.as_ref().map(|side| side.said);
        let (of_outer, of_inner) = (said_of(&outer), said_of(&inner));
        if let Err(why) = judge_between(&said, of_outer.as_ref(), of_inner.as_ref()) {
            return Ok(Err(why.to_string()));
        }
        for (side, name) in [(outer, "outer"), (inner, "inner")] {
            let Some(Side { claim, bodies, .. }) = side else { continue };
            let listed = |k: usize| {
                let of = hulls[k].as_ref()?;
                if name == "outer" { of.around() } else { of.inner.as_deref() }
            };
            let of_side = [0, 1].map(|k| (&bodies[k], listed(k)));
            if let Err(why) = judge(claim, of_side, effort)? {
                return Ok(Err(format!("{name}: {why}")));
            }
        }
        Ok(Ok(()))
    }
}

impl HullsOf {
    /// The vertices of the polytope around the body.
    fn around(&self) -> Option<&[Vec3]> {
        self.outer.as_ref().map(|(points, _)| points.as_slice())
    }

    fn judge(&self, effort: &mut Effort<'_>) -> Result<(), Refusal> {
        if let Some((points, triangles)) = &self.outer {
            judge_around(&self.core, points, triangles, effort)?;
        }
        self.inner.as_ref().map_or(Ok(()), |points| judge_inside(&self.core, points, effort))
    }
}

impl OfSides for api::CheckCollisionRequest {
    type Told = api::CheckCollisionResponse;
    const PROOF_IN: Option<&'static str> = None;

    fn margin(&self) -> Option<f64> {
        self.margin
    }

    fn proof(answer: &Self::Told) -> Option<&api::StaticCertificate> {
        answer.certificate.as_ref()
    }

    fn side(answer: &Self::Told) -> api::CurvedSide {
        let (verdict, within_margin) = (answer.verdict, answer.within_margin);
        api::CurvedSide { verdict, within_margin, ..Default::default() }
    }

    fn answer(side: &api::CurvedSide) -> Self::Told {
        let certificate = match &side.certificate {
            Some(Certificate::Collision(proof)) => Some(proof.clone()),
            _ => None,
        };
        let (verdict, within_margin) = (side.verdict, side.within_margin);
        Self::Told { verdict, within_margin, certificate, ..Default::default() }
    }

    fn measured(_: &Path<'_>, _: &api::CurvedSide) -> Result<Measured, BadField> {
        Ok(Measured::Nothing)
    }
}

impl OfSides for api::MeasureDistanceRequest {
    type Told = api::MeasureDistanceResponse;
    const PROOF_IN: Option<&'static str> = Some("verdict");

    fn margin(&self) -> Option<f64> {
        self.margin
    }

    fn proof(answer: &Self::Told) -> Option<&api::StaticCertificate> {
        answer.certificate.as_ref()?.verdict.as_ref()
    }

    fn side(answer: &Self::Told) -> api::CurvedSide {
        let (verdict, within_margin) = (answer.verdict, answer.within_margin);
        api::CurvedSide { verdict, within_margin, bracket: answer.distance, ..Default::default() }
    }

    fn answer(side: &api::CurvedSide) -> Self::Told {
        let certificate = match &side.certificate {
            Some(Certificate::Distance(proof)) => Some(proof.clone()),
            _ => None,
        };
        let (verdict, within_margin) = (side.verdict, side.within_margin);
        let distance = side.bracket;
        Self::Told { verdict, within_margin, distance, certificate, ..Default::default() }
    }

    fn measured(path: &Path<'_>, side: &api::CurvedSide) -> Result<Measured, BadField> {
        let bracket = required(path, "distance", side.bracket.as_ref())?;
        Ok(Measured::Distance([bracket.lower, bracket.upper]))
    }
}

impl OfSides for api::MeasurePenetrationRequest {
    type Told = api::MeasurePenetrationResponse;
    const PROOF_IN: Option<&'static str> = Some("verdict");

    fn proof(answer: &Self::Told) -> Option<&api::StaticCertificate> {
        answer.certificate.as_ref()?.verdict.as_ref()
    }

    fn side(answer: &Self::Told) -> api::CurvedSide {
        let (verdict, bracket) = (answer.verdict, answer.depth);
        api::CurvedSide { verdict, bracket, ..Default::default() }
    }

    fn answer(side: &api::CurvedSide) -> Self::Told {
        let certificate = match &side.certificate {
            Some(Certificate::Penetration(proof)) => Some(proof.clone()),
            _ => None,
        };
        let (verdict, depth) = (side.verdict, side.bracket);
        Self::Told { verdict, depth, certificate, ..Default::default() }
    }

    fn measured(path: &Path<'_>, side: &api::CurvedSide) -> Result<Measured, BadField> {
        let bracket = required(path, "depth", side.bracket.as_ref())?;
        Ok(Measured::Depth([bracket.lower, bracket.upper]))
    }
}

impl OfSides for api::MeasureDistanceAlongRequest {
    type Told = api::MeasureDistanceAlongResponse;
    const PROOF_IN: Option<&'static str> = None;

    fn proof(answer: &Self::Told) -> Option<&api::StaticCertificate> {
        answer.certificate.as_ref()
    }

    fn side(answer: &Self::Told) -> api::CurvedSide {
        let (verdict, enter, exit) = (answer.verdict, answer.enter, answer.exit);
        api::CurvedSide { verdict, enter, exit, ..Default::default() }
    }

    fn answer(side: &api::CurvedSide) -> Self::Told {
        let proof = match &side.certificate {
            Some(Certificate::DistanceAlong(proof)) => proof.clone(),
            _ => api::AlongCertificate::default(),
        };
        let (verdict, enter, exit) = (side.verdict, side.enter, side.exit);
        let (certificate, range_certificate) = (proof.verdict, proof.range);
        Self::Told { verdict, enter, exit, certificate, range_certificate, ..Default::default() }
    }

    fn measured(path: &Path<'_>, side: &api::CurvedSide) -> Result<Measured, BadField> {
        Ok(Measured::Range(span(path, side.enter.as_ref(), side.exit.as_ref())?))
    }
}

impl OfSides for api::FindFirstContactRequest {
    type Told = api::FindFirstContactResponse;
    const PROOF_IN: Option<&'static str> = Some("initial");

    fn proof(answer: &Self::Told) -> Option<&api::StaticCertificate> {
        answer.certificate.as_ref()?.initial.as_ref()
    }

    fn side(answer: &Self::Told) -> api::CurvedSide {
        api::CurvedSide {
            verdict: answer.initial_verdict,
            outcome: answer.outcome,
            t_free: answer.t_free,
            t_contact: answer.t_contact,
            ..Default::default()
        }
    }

    fn answer(side: &api::CurvedSide) -> Self::Told {
        let certificate = match &side.certificate {
            Some(Certificate::FirstContact(proof)) => Some(proof.clone()),
            _ => None,
        };
        Self::Told {
            initial_verdict: side.verdict,
            outcome: side.outcome,
            t_free: side.t_free,
            t_contact: side.t_contact,
            certificate,
            ..Default::default()
        }
    }

    fn measured(path: &Path<'_>, side: &api::CurvedSide) -> Result<Measured, BadField> {
        let outcome = outcome(&path.field("outcome"), side.outcome())?;
        let t_contact = match outcome {
            Outcome::Contact => *required(path, "t_contact", side.t_contact.as_ref())?,
            Outcome::NoContact | Outcome::Undecided => 1.0,
        };
        Ok(Measured::Course { outcome, t_free: side.t_free, t_contact })
    }
}
