//! What an answer about two bodies claims one of which at least is rounded, read from its message,
//! and judged. Its certificate speaks about the polytopes that are rounded, and about the radii.

use arrayvec::ArrayVec;

use crate::certificate::{at_most, chain, motion_to_wire, surface, surface_to_wire};
use crate::geometry::{
    direction, direction_to_wire, margin, outcome, pairs_to_wire, verdict, verdict_to_wire,
};
use crate::hulls::Moves;
use crate::path::{BadField, Path};
use crate::told::{Told, required, t_contact};
use clearance_proof::claim::{
    Bodies, Direction, FirstContact, Link, MotionClaim, Outcome, RoundedDepthClaim, RoundedMargin,
    RoundedMotionClaim, RoundedProof, Surface, Verdict,
};
use clearance_proof::effort::Effort;
use clearance_proof::judge::{
    Refusal, RoundedBodies, judge_rounded, judge_rounded_depth, judge_rounded_distance,
    judge_rounded_margin, judge_rounded_motion, judge_zero,
};
use clearance_proof::vertex_pair::VertexPair;
use clearance_proto as api;

/// A verdict on rounded bodies, its proof, what is said of a margin, and what is measured.
#[derive(Clone, Debug)]
pub struct RoundedClaim {
    proof: RoundedProof,
    within: Option<RoundedMargin>,
    measure: RoundedMeasure,
}

/// What is claimed beside the verdict.
#[derive(Clone, Debug)]
enum RoundedMeasure {
    Nothing,
    /// A bracket of the distance, and what shows it.
    Distance([f64; 2], ArrayVec<VertexPair, 3>),
    /// A bracket of the depth, and what shows it.
    Depth {
        bounds: [f64; 2],
        face: Option<Direction>,
        surface: Option<Surface>,
    },
    FirstContact(Box<ClaimedContact>),
}

/// When the bodies first meet.
#[derive(Clone, Debug)]
struct ClaimedContact {
    moves: Moves,
    outcome: Outcome,
    t_free: f64,
    t_contact: f64,
    chain: Vec<Link>,
    pairs: ArrayVec<VertexPair, 6>,
    /// What shows that the bodies are farther apart than the margin at t = 0.
    start: ArrayVec<VertexPair, 3>,
}

/// The proof of a verdict on rounded bodies, and the pairs that show what is said of a margin.
pub fn rounded_to_wire(
    proof: &RoundedProof,
    margin_pairs: &[VertexPair],
) -> api::StaticCertificate {
    let rounded = api::RoundedProof {
        verdict: verdict_to_wire(proof.verdict).into(),
        pairs: pairs_to_wire(&proof.pairs),
        margin_pairs: pairs_to_wire(margin_pairs),
    };
    api::StaticCertificate { proof: Some(api::static_certificate::Proof::Rounded(rounded)) }
}

/// The proof of a distance of rounded bodies.
pub fn rounded_distance_to_wire(
    proof: &RoundedProof,
    margin_pairs: &[VertexPair],
) -> api::DistanceCertificate {
    // The pairs of the verdict show the bracket, too.
    let is_apart = proof.verdict == Verdict::Separated;
    let pairs = if is_apart { pairs_to_wire(&proof.pairs) } else { Vec::new() };
    let verdict = Some(rounded_to_wire(proof, margin_pairs));
    api::DistanceCertificate { verdict, pairs, parts: Vec::new() }
}

/// The proof of a depth of rounded bodies.
pub fn rounded_depth_to_wire(
    proof: &RoundedProof,
    face: Option<&Direction>,
    surface: Option<&Surface>,
) -> api::PenetrationCertificate {
    api::PenetrationCertificate {
        verdict: Some(rounded_to_wire(proof, &[])),
        face: face.map(direction_to_wire),
        surface: surface.map(surface_to_wire),
        parts: Vec::new(),
    }
}

/// The proof of a first contact of rounded bodies: how they stand at t = 0, the pairs that show
/// that they are farther apart than the margin then, and what is proven later.
pub fn rounded_motion_to_wire(
    initial: &RoundedProof,
    start: &[VertexPair],
    later: Option<&FirstContact>,
) -> api::MotionCertificate {
    let later = later.map(motion_to_wire).unwrap_or_default();
    api::MotionCertificate { initial: Some(rounded_to_wire(initial, start)), ..later }
}

/// The verdict's proof, which has to be of the verdict that is told.
fn proven<'a>(
    at: &Path<'_>,
    wire: Option<&'a api::StaticCertificate>,
    told: Verdict,
) -> Result<(RoundedProof, &'a [api::VertexPair]), BadField> {
    let at = at.field("rounded");
    let Some(api::static_certificate::Proof::Rounded(wire)) =
        wire.and_then(|wire| wire.proof.as_ref())
    else {
        return Err(at.bad("is required of rounded bodies"));
    };
    let proven = verdict(&at.field("verdict"), wire.verdict())?;
    if proven != told {
        return Err(at.field("verdict").bad("is not that of the answer"));
    }
    let pairs = at_most(&at.field("pairs"), &wire.pairs)?;
    Ok((RoundedProof { verdict: proven, pairs }, &wire.margin_pairs))
}

/// What is said of a margin: whether, of which, and what shows it.
struct ToldMargin<'a> {
    said: Option<bool>,
    asked: Option<f64>,
    pairs: &'a [api::VertexPair],
}

impl ToldMargin<'_> {
    fn convert(
        &self,
        [asked, path, proof]: [&Path<'_>; 3],
    ) -> Result<Option<RoundedMargin>, BadField> {
        let margin = margin(asked, self.asked)?;
        let pairs = at_most(&proof.field("rounded").field("margin_pairs"), self.pairs)?;
        match (self.said, margin) {
            (None, _) => Ok(None),
            (Some(is_within), Some(margin)) => Ok(Some(RoundedMargin { margin, is_within, pairs })),
            (Some(_), None) => {
                Err(path.field("within_margin").bad("is said where no margin was given"))
            }
        }
    }
}

impl RoundedClaim {
    /// The claim of an answer about how two bodies stand.
    pub fn collision(
        told: &Told<'_, api::CheckCollisionRequest, api::CheckCollisionResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let at = path.field("certificate");
        let stands = verdict(&path.field("verdict"), answer.verdict())?;
        let (proof, pairs) = proven(&at, answer.certificate.as_ref(), stands)?;
        let margin = ToldMargin { said: answer.within_margin, asked: question.margin, pairs };
        let within = margin.convert([asked, path, &at])?;
        Ok(Self { proof, within, measure: RoundedMeasure::Nothing })
    }

    /// That of an answer about a distance.
    pub fn distance(
        told: &Told<'_, api::MeasureDistanceRequest, api::MeasureDistanceResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let bracket = required(path, "distance", answer.distance.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let at = certificate_path.field("verdict");
        let stands = verdict(&path.field("verdict"), answer.verdict())?;
        let (proof, pairs) = proven(&at, certificate.verdict.as_ref(), stands)?;
        let margin = ToldMargin { said: answer.within_margin, asked: question.margin, pairs };
        let within = margin.convert([asked, path, &at])?;
        let pairs = at_most(&certificate_path.field("pairs"), &certificate.pairs)?;
        let measure = RoundedMeasure::Distance([bracket.lower, bracket.upper], pairs);
        Ok(Self { proof, within, measure })
    }

    /// That of an answer about a depth.
    pub fn penetration(
        told: &Told<'_, api::MeasurePenetrationRequest, api::MeasurePenetrationResponse>,
    ) -> Result<Self, BadField> {
        let Told { answer, path, .. } = told;
        let bracket = required(path, "depth", answer.depth.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let at = path.field("certificate");
        let stands = verdict(&path.field("verdict"), answer.verdict())?;
        let (proof, _) = proven(&at.field("verdict"), certificate.verdict.as_ref(), stands)?;
        let face = certificate.face.as_ref();
        let face = face.map(|face| direction(&at.field("face"), Some(face))).transpose()?;
        let wire = certificate.surface.as_ref();
        let surface = wire.map(|wire| surface(&at.field("surface"), wire)).transpose()?;
        let bounds = [bracket.lower, bracket.upper];
        let measure = RoundedMeasure::Depth { bounds, face, surface };
        Ok(Self { proof, within: None, measure })
    }

    /// That of an answer about a first contact of bodies that move so.
    pub fn first_contact(
        told: &Told<'_, api::FindFirstContactRequest, api::FindFirstContactResponse>,
        moves: Moves,
    ) -> Result<Self, BadField> {
        let Told { answer, path, .. } = told;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let at = path.field("certificate");
        let stands = verdict(&path.field("initial_verdict"), answer.initial_verdict())?;
        let initial = at.field("initial");
        let (proof, start) = proven(&initial, certificate.initial.as_ref(), stands)?;
        let pairs = at_most(&at.field("contact_pairs"), &certificate.contact_pairs)?;
        let contact = ClaimedContact {
            moves,
            outcome: outcome(&path.field("outcome"), answer.outcome())?,
            t_free: answer.t_free,
            t_contact: t_contact(path, answer)?,
            chain: chain(&at.field("chain"), &certificate.chain)?,
            pairs,
            start: at_most(&initial.field("rounded").field("margin_pairs"), start)?,
        };
        let measure = RoundedMeasure::FirstContact(Box::new(contact));
        Ok(Self { proof, within: None, measure })
    }

    /// Accepts it of polytopes that are rounded with these radii, metres, or says why not.
    pub fn judge(
        &self,
        bodies: Bodies<'_>,
        radii: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let Self { proof, within, .. } = self;
        judge_rounded(bodies, radii, proof, effort).map_err(|why| why.to_string())?;
        self.judge_measure(bodies, radii, effort).map_err(|why| why.to_string())?;
        let Some(within) = within else { return Ok(()) };
        judge_rounded_margin(bodies, radii, proof, within, effort)
            .map_err(|why| format!("within_margin: {why}"))
    }

    fn judge_measure(
        &self,
        cores: Bodies<'_>,
        radii: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), Refusal> {
        let proof = &self.proof;
        match (&self.measure, proof.verdict) {
            (RoundedMeasure::Nothing, _) => Ok(()),
            (RoundedMeasure::Distance(bounds, pairs), Verdict::Separated) => {
                judge_rounded_distance(cores, radii, *bounds, pairs, effort)
            }
            (RoundedMeasure::Depth { bounds, face, surface }, Verdict::Overlapping) => {
                let face = face.as_ref().ok_or(Refusal::NoDirection)?;
                let bodies = RoundedBodies { cores, radii };
                let claim = RoundedDepthClaim { bounds: *bounds, face, surface: surface.as_ref() };
                judge_rounded_depth(bodies, proof, &claim, effort)
            }
            (RoundedMeasure::Distance(bounds, _) | RoundedMeasure::Depth { bounds, .. }, _) => {
                judge_zero(*bounds)
            }
            (RoundedMeasure::FirstContact(claimed), _) => {
                let ClaimedContact { outcome, t_free, t_contact, .. } = **claimed;
                let (chain, pairs) = (&claimed.chain, &claimed.pairs);
                let motion =
                    MotionClaim { outcome, t_free, t_contact, chain, pairs, initial: None };
                let claim = RoundedMotionClaim { initial: proof, start: &claimed.start, motion };
                let course = claimed.moves.of_rounded(cores, radii);
                judge_rounded_motion(&course, radii, &claim, effort)
            }
        }
    }
}
