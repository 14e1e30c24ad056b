//! What is claimed of bodies that need not be convex, judged.

use arrayvec::ArrayVec;

use super::faces::NamedFaces;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::first_contact::Motions;
use clearance_certificates::hulls::WithinMargin;
use clearance_certificates::told::{Told, required, t_contact};
use clearance_geometry::claim::{
    ConvexProof, Cover, Outcome, Reach, RoundedSolidProof, RoundedSolids, SolidClaim, SolidCourse,
    SolidDistanceClaim, SolidKind, SolidMarginClaim, SolidMarginProof, SolidMotionProof,
    SolidProof, Solids, Verdict,
};
use clearance_geometry::contact_time::translation_of;
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{
    RoundedBodies, judge_convex, judge_rounded_solids, judge_solid_course, judge_solid_distance,
    judge_solid_margin, judge_solid_motion, judge_solids, judge_zero,
};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::{Pair, VertexPair};
use clearance_proto as api;
use clearance_wire::convert::certificate::{at_most, convex_proof, margin_shown};
use clearance_wire::convert::geometry::outcome;
use clearance_wire::convert::solids::{motion, proof, rounded};
use clearance_wire::path::{BadField, Path};
use clearance_wire::status::Failure;

/// A claim with its proof.
#[derive(Clone, Debug)]
pub(super) enum SolidStatement {
    /// A verdict, where the bodies are said to meet, and what is said of a margin.
    Verdict(Box<StandProof>, Option<NamedFaces>, Option<WithinMargin>),
    /// A distance.
    Distance(Box<SolidDistance>),
    /// A first contact, or that there is none.
    Motion(Box<SolidMotion>),
}

/// The proof of how the bodies themselves stand.
#[derive(Clone, Debug)]
pub(super) enum StandProof {
    /// Neither is rounded.
    Solid(SolidProof),
    /// One of the bodies is rounded.
    Rounded(RoundedSolidProof),
}

/// See [`SolidStatement`].
#[derive(Clone, Debug)]
pub(super) struct SolidDistance {
    bounds: [f64; 2],
    proof: StandProof,
    pairs: ArrayVec<VertexPair, 3>,
    within: Option<WithinMargin>,
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
    AtStart(StandProof),
    /// The bodies are separated at t = 0, which is shown there if it is not by what is shown of
    /// later.
    Later(SolidMotionProof, Option<StartProof>),
}

/// Why bodies are separated at t = 0.
#[derive(Clone, Debug)]
enum StartProof {
    /// The bodies themselves are proven to be apart.
    Bodies(StandProof),
    /// Their hulls are.
    Hulls(ConvexProof),
}

/// What a certificate of a verdict says of bodies that need not be convex, if it does.
pub(super) fn of_verdict(
    told: &Told<'_, api::CheckCollisionRequest, api::CheckCollisionResponse>,
) -> Result<Option<SolidStatement>, Failure> {
    let Told { question, asked, answer, path } = told;
    let (at, wire) = (path.field("certificate"), answer.certificate.as_ref());
    let Some(proof) = stand_proof(&at, wire)? else { return Ok(None) };
    let (faces_path, faces) = (path.field("face_contact"), answer.face_contact.as_ref());
    let faces = match &proof {
        StandProof::Solid(solid) if solid.verdict() != Verdict::Separated => {
            NamedFaces::convert(&faces_path, faces)?
        }
        StandProof::Solid(_) | StandProof::Rounded(_) => {
            NamedFaces::refuse(&faces_path, faces)?;
            None
        }
    };
    let (margin, said) = (question.margin, answer.within_margin);
    let within = WithinMargin::convert([asked, path], margin, said, margin_shown(&at, wire)?)?;
    Ok(Some(SolidStatement::Verdict(Box::new(proof), faces, within)))
}

/// What is claimed of a distance of bodies that need not be convex.
pub(super) fn of_distance(
    told: &Told<'_, api::MeasureDistanceRequest, api::MeasureDistanceResponse>,
) -> Result<SolidStatement, Failure> {
    let Told { question, asked, answer, path } = told;
    let bracket = required(path, "distance", answer.distance.as_ref())?;
    let certificate = required(path, "certificate", answer.certificate.as_ref())?;
    let certificate_path = path.field("certificate");
    let (at, wire) = (certificate_path.field("verdict"), certificate.verdict.as_ref());
    let proof = stand_proof(&at, wire)?
        .ok_or_else(|| at.bad("must be about the polyhedra themselves, not about hulls"))?;
    let (margin, said) = (question.margin, answer.within_margin);
    let within = WithinMargin::convert([asked, path], margin, said, margin_shown(&at, wire)?)?;
    let pairs = at_most(&certificate_path.field("pairs"), &certificate.pairs)?;
    let bounds = [bracket.lower, bracket.upper];
    Ok(SolidStatement::Distance(Box::new(SolidDistance { bounds, proof, pairs, within })))
}

/// What a certificate of a first contact says of bodies that need not be convex, if it does.
pub(super) fn of_motion(
    path: &Path<'_>,
    motions: &Motions,
    answer: &api::FindFirstContactResponse,
) -> Result<Option<SolidStatement>, Failure> {
    let Some(certificate) = &answer.certificate else { return Ok(None) };
    let certificate_path = path.field("certificate");
    let initial_path = certificate_path.field("initial");
    let initial = certificate.initial.as_ref();
    let proof = match &certificate.solid {
        Some(wire) => {
            let start = initial.map(|_| start_proof(&initial_path, initial)).transpose()?;
            MotionProof::Later(motion(&certificate_path.field("solid"), wire)?, start)
        }
        None => match stand_proof(&initial_path, initial)? {
            Some(proof) => MotionProof::AtStart(proof),
            None => return Ok(None),
        },
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

/// The proof of how the bodies themselves stand; none: it is about their hulls.
fn stand_proof(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<Option<StandProof>, BadField> {
    use api::static_certificate::Proof;
    match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(Proof::Solid(wire)) => Ok(Some(StandProof::Solid(proof(&path.field("solid"), wire)?))),
        Some(Proof::Rounded(wire)) => {
            Ok(rounded(&path.field("rounded"), wire)?.map(StandProof::Rounded))
        }
        _ => Ok(None),
    }
}

fn start_proof(
    path: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<StartProof, BadField> {
    match stand_proof(path, wire)? {
        Some(proof) => Ok(StartProof::Bodies(proof)),
        None => convex_proof(path, wire).map(StartProof::Hulls),
    }
}

/// Two bodies as a judge sees them.
struct Judged<'a> {
    bodies: [&'a PlacedBody; 2],
    solids: RoundedSolids<'a>,
}

impl<'a> Judged<'a> {
    fn new(bodies: [&'a PlacedBody; 2]) -> Self {
        let cores = Solids { p: bodies[0].solid(), q: bodies[1].solid() };
        let radii = bodies.map(|placed| placed.body.radius());
        Self { bodies, solids: RoundedSolids { cores, radii } }
    }

    fn has_surface(&self) -> bool {
        let Solids { p, q } = &self.solids.cores;
        [p, q].iter().any(|solid| matches!(solid.kind, SolidKind::Surface(_)))
    }

    fn is_rounded(&self) -> bool {
        self.solids.radii.iter().any(|radius| *radius > 0.0)
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
        let judged = &Judged::new(bodies);
        match self {
            Self::Verdict(proof, faces, within) => {
                proof.judge(judged, verdict, effort)?;
                let (rest, at_once) = (&Motion::rest(), [0.0, 0.0]);
                faces.map_or(Ok(()), |faces| faces.judge(bodies, [rest; 2], at_once, effort))?;
                judge_within(judged, proof, within.as_ref(), effort)
            }
            Self::Distance(claim) => claim.judge(judged, verdict, effort),
            Self::Motion(claim) => claim.judge(judged, verdict, effort),
        }
    }
}

impl StandProof {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Solid(proof) => proof.verdict(),
            Self::Rounded(proof) => proof.verdict(),
        }
    }

    /// The cover of bodies that are apart.
    fn cover(&self) -> Option<&Cover> {
        match self {
            Self::Solid(SolidProof::Separated(cover))
            | Self::Rounded(RoundedSolidProof::Apart(cover)) => Some(cover),
            Self::Solid(_) | Self::Rounded(_) => None,
        }
    }

    fn judge(
        &self,
        judged: &Judged<'_>,
        verdict: Verdict,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        if verdict != self.verdict() {
            return Err("the certificate is for another verdict".to_owned());
        }
        let of_bodies = match self {
            Self::Solid(_) if judged.is_rounded() => {
                return Err("nothing but a rounded proof is about rounded bodies".to_owned());
            }
            Self::Solid(proof) => judge_solids(&judged.solids.cores, proof, effort),
            Self::Rounded(proof) => judge_rounded_solids(&judged.solids, proof, effort),
        };
        of_bodies.map_err(|refusal| refusal.to_string())
    }
}

/// What is said of a margin of bodies whose verdict is proven.
fn judge_within(
    judged: &Judged<'_>,
    proof: &StandProof,
    within: Option<&WithinMargin>,
    effort: &mut Effort<'_>,
) -> Result<(), String> {
    let Some(within) = within else { return Ok(()) };
    let claim = within.claim();
    if claim.margin < 0.0 {
        // That bodies do not overlap says that they are beyond it.
        let is_shown = proof.verdict() != Verdict::Overlapping && !claim.is_within;
        let why = "within_margin: no claim is about depths of bodies that are not convex";
        return if is_shown { Ok(()) } else { Err(why.to_owned()) };
    }
    let shown = match proof.cover() {
        None if claim.is_within => return Ok(()),
        None => return Err("within_margin: the bodies are in contact".to_owned()),
        Some(_) if claim.is_within => SolidMarginProof::Within(claim.pairs),
        Some(cover) => SolidMarginProof::Beyond(cover),
    };
    let claim = SolidMarginClaim { margin: claim.margin, shown };
    judge_solid_margin(&judged.solids, &claim, effort)
        .map_err(|refusal| format!("within_margin: {refusal}"))
}

impl SolidDistance {
    fn judge(
        &self,
        judged: &Judged<'_>,
        verdict: Verdict,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let Self { bounds, proof, pairs, within } = self;
        match proof.cover() {
            // The cover proves the verdict, too.
            Some(cover) if verdict == Verdict::Separated => {
                let claim = SolidDistanceClaim { bounds: *bounds, cover, pairs };
                judge_solid_distance(&judged.solids, &claim, effort)
                    .map_err(|refusal| refusal.to_string())?;
            }
            Some(_) | None => {
                proof.judge(judged, verdict, effort)?;
                judge_zero(*bounds).map_err(|refusal| refusal.to_string())?;
            }
        }
        judge_within(judged, proof, within.as_ref(), effort)
    }
}

impl StartProof {
    fn judge(&self, judged: &Judged<'_>, effort: &mut Effort<'_>) -> Result<(), String> {
        let proof = match self {
            Self::Bodies(proof) => return proof.judge(judged, Verdict::Separated, effort),
            Self::Hulls(proof) => proof,
        };
        if proof.verdict() != Verdict::Separated {
            return Err("the certificate is for another verdict".to_owned());
        }
        let [p, q] = judged.bodies;
        let cores = (&Pair { p: p.hull(), q: q.hull() }).into();
        let bodies = RoundedBodies { cores, radii: judged.solids.radii };
        judge_convex(bodies, proof, effort).map_err(|refusal| refusal.to_string())
    }
}

impl SolidMotion {
    fn judge(
        &self,
        judged: &Judged<'_>,
        verdict: Verdict,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
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
                proof.judge(judged, verdict, effort)?;
                // Where they meet at t = 0, whatever they do later.
                let (rest, at_once) = (&Motion::rest(), [0.0, 0.0]);
                return self.faces.map_or(Ok(()), |faces| {
                    faces.judge(judged.bodies, [rest; 2], at_once, effort)
                });
            }
            MotionProof::Later(proof, start) => {
                if verdict != Verdict::Separated {
                    return Err("the certificate is for another verdict".to_owned());
                }
                self.judge_later(judged, proof, start.as_ref(), effort)?;
            }
        }
        let Some(faces) = &self.faces else { return Ok(()) };
        let motions = self.exact_translations(judged).ok_or_else(|| {
            "face_contact: is said of polyhedra that turn nothing, without radii, margin and \
             deviations"
                .to_owned()
        })?;
        faces.judge(judged.bodies, motions, [t_free, t_contact], effort)
    }

    fn judge_later(
        &self,
        judged: &Judged<'_>,
        proof: &SolidMotionProof,
        start: Option<&StartProof>,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let &Self { outcome, t_free, t_contact, .. } = self;
        let claim = SolidClaim { outcome, t_free, t_contact, proof };
        let solids = judged.solids.cores;
        if let Some(motions) = self.exact_translations(judged) {
            return judge_solid_motion(&solids, motions, &claim, effort)
                .map_err(|refusal| refusal.to_string());
        }
        // What is shown of later shows that they are separated at t = 0, but where there is
        // nothing.
        let is_shown = match outcome {
            Outcome::Contact => t_contact > 0.0,
            Outcome::Undecided => t_free > 0.0,
            Outcome::NoContact => true,
        };
        match start {
            Some(start) => start.judge(judged, effort)?,
            None if is_shown => {}
            None => return Err("nothing shows that the bodies are separated at t = 0".to_owned()),
        }
        let Motions { of_bodies: motions, deviations, margin, .. } = self.motions;
        let reach = Reach::of_rounded(judged.solids.radii, margin);
        let course = SolidCourse { solids, motions, reach, deviations };
        judge_solid_course(&course, &claim, effort).map_err(|refusal| refusal.to_string())
    }

    /// The motions, if nothing turns and contact is meant exactly of bodies that are told apart by
    /// their faces alone.
    fn exact_translations(&self, judged: &Judged<'_>) -> Option<[&Motion; 2]> {
        let is_by_pieces = judged.is_rounded() || judged.has_surface();
        let motions = self.motions.without_slack().filter(|_| !is_by_pieces)?;
        let turns = |k: usize| translation_of(motions[k], &judged.bodies[k].pose).is_none();
        (!turns(0) && !turns(1)).then_some(motions)
    }
}
