//! What an answer about two bodies claims one of which at least is rounded, read from its message,
//! and judged. Its certificate speaks about the polytopes that are rounded, and about the radii.

use arrayvec::ArrayVec;

use crate::certificate::{
    MarginShown, at_most, chain, convex_proof, margin_shown, motion_to_wire, rounded_to_wire,
    surface, surface_to_wire,
};
use crate::geometry::{direction, direction_to_wire, outcome, pairs_to_wire, verdict};
use crate::hulls::{Moves, RangeMeasure, WithinMargin};
use crate::path::{BadField, Path};
use crate::told::{Told, required, t_contact};
use clearance_proof::claim::{
    Bodies, ConvexProof, Direction, FirstContact, Link, MotionClaim, Outcome, RoundedDepthClaim,
    RoundedMotionClaim, RoundedProof, Surface, Verdict,
};
use clearance_proof::effort::Effort;
use clearance_proof::judge::{
    Refusal, RoundedBodies, judge_convex, judge_convex_margin, judge_rounded_depth,
    judge_rounded_distance, judge_rounded_motion, judge_rounded_range, judge_zero,
};
use clearance_proof::vertex_pair::VertexPair;
use clearance_proto as api;

/// A verdict on rounded bodies, its proof, what is said of a margin, and what is measured.
#[derive(Clone, Debug)]
pub struct RoundedClaim {
    /// Of a motion, at its start; none: it is left to its proof.
    verdict: Option<Verdict>,
    proof: ConvexProof,
    within: Option<WithinMargin>,
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
    /// When they are in contact along a direction.
    Range(Box<RangeMeasure>),
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

/// The proof of the verdict, and what shows what is said of a margin.
fn proven(
    at: &Path<'_>,
    wire: Option<&api::StaticCertificate>,
) -> Result<(ConvexProof, MarginShown), BadField> {
    Ok((convex_proof(at, wire)?, margin_shown(at, wire)?))
}

impl RoundedClaim {
    /// The claim of an answer about how two bodies stand.
    pub fn collision(
        told: &Told<'_, api::CheckCollisionRequest, api::CheckCollisionResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let at = path.field("certificate");
        let stands = verdict(&path.field("verdict"), answer.verdict())?;
        let (proof, shown) = proven(&at, answer.certificate.as_ref())?;
        let (margin, said) = (question.margin, answer.within_margin);
        let within = WithinMargin::convert([asked, path], margin, said, shown)?;
        Ok(Self { verdict: Some(stands), proof, within, measure: RoundedMeasure::Nothing })
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
        let (proof, shown) = proven(&at, certificate.verdict.as_ref())?;
        let (margin, said) = (question.margin, answer.within_margin);
        let within = WithinMargin::convert([asked, path], margin, said, shown)?;
        let pairs = at_most(&certificate_path.field("pairs"), &certificate.pairs)?;
        let measure = RoundedMeasure::Distance([bracket.lower, bracket.upper], pairs);
        Ok(Self { verdict: Some(stands), proof, within, measure })
    }

    /// That of an answer about a range along a direction.
    pub fn along(
        told: &Told<'_, api::MeasureDistanceAlongRequest, api::MeasureDistanceAlongResponse>,
    ) -> Result<Self, BadField> {
        let Told { answer, path, .. } = told;
        let stands = verdict(&path.field("verdict"), answer.verdict())?;
        let (proof, _) = proven(&path.field("certificate"), answer.certificate.as_ref())?;
        let measure = RoundedMeasure::Range(Box::new(RangeMeasure::convert(told)?));
        Ok(Self { verdict: Some(stands), proof, within: None, measure })
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
        let of_verdict = certificate.verdict.as_ref();
        let (proof, _) = proven(&at.field("verdict"), of_verdict)?;
        let face = certificate.face.as_ref();
        let face = face.map(|face| direction(&at.field("face"), Some(face))).transpose()?;
        let wire = certificate.surface.as_ref();
        let surface = wire.map(|wire| surface(&at.field("surface"), wire)).transpose()?;
        let bounds = [bracket.lower, bracket.upper];
        let measure = RoundedMeasure::Depth { bounds, face, surface };
        Ok(Self { verdict: Some(stands), proof, within: None, measure })
    }

    /// That of an answer about a first contact of bodies that move so.
    pub fn first_contact(
        told: &Told<'_, api::FindFirstContactRequest, api::FindFirstContactResponse>,
        moves: Moves,
    ) -> Result<Self, BadField> {
        let Told { answer, path, .. } = told;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let at = path.field("certificate");
        // Reports of sessions do not say it, and leave it to its proof.
        let said = answer.initial_verdict();
        let stands = (said != api::Verdict::Unspecified)
            .then(|| verdict(&path.field("initial_verdict"), said))
            .transpose()?;
        let initial = at.field("initial");
        let (proof, start) = proven(&initial, certificate.initial.as_ref())?;
        let pairs = at_most(&at.field("contact_pairs"), &certificate.contact_pairs)?;
        let contact = ClaimedContact {
            moves,
            outcome: outcome(&path.field("outcome"), answer.outcome())?,
            t_free: answer.t_free,
            t_contact: t_contact(path, answer)?,
            chain: chain(&at.field("chain"), &certificate.chain)?,
            pairs,
            start: start.pairs,
        };
        let measure = RoundedMeasure::FirstContact(Box::new(contact));
        Ok(Self { verdict: stands, proof, within: None, measure })
    }

    /// Whether what is claimed holds for everything within the two bodies if it holds for them.
    pub fn is_of_separation(&self) -> bool {
        let is_all = match &self.measure {
            RoundedMeasure::Nothing => true,
            RoundedMeasure::Distance(..)
            | RoundedMeasure::Depth { .. }
            | RoundedMeasure::Range(_) => false,
            RoundedMeasure::FirstContact(claim) => claim.outcome == Outcome::NoContact,
        };
        let is_beyond = self.within.as_ref().is_none_or(|within| !within.is_within());
        self.proof.verdict() == Verdict::Separated && is_all && is_beyond
    }

    /// Accepts it of polytopes that are rounded with these radii, metres, or says why not.
    pub fn judge(
        &self,
        bodies: Bodies<'_>,
        radii: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let Self { verdict, proof, within, .. } = self;
        if verdict.is_some_and(|verdict| verdict != proof.verdict()) {
            return Err("the certificate is for another verdict".to_owned());
        }
        let bodies = RoundedBodies { cores: bodies, radii };
        judge_convex(bodies, proof, effort).map_err(|why| why.to_string())?;
        self.judge_measure(bodies, effort).map_err(|why| why.to_string())?;
        let Some(within) = within else { return Ok(()) };
        judge_convex_margin(bodies, proof, &within.claim(), effort)
            .map_err(|why| format!("within_margin: {why}"))
    }

    fn judge_measure(
        &self,
        bodies: RoundedBodies<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Refusal> {
        let RoundedBodies { cores, radii } = bodies;
        match (&self.measure, self.proof.verdict()) {
            (RoundedMeasure::Nothing, _) => Ok(()),
            (RoundedMeasure::Distance(bounds, pairs), Verdict::Separated) => {
                judge_rounded_distance(cores, radii, *bounds, pairs, effort)
            }
            (RoundedMeasure::Depth { bounds, face, surface }, Verdict::Overlapping) => {
                let face = face.as_ref().ok_or(Refusal::NoDirection)?;
                let claim = RoundedDepthClaim { bounds: *bounds, face, surface: surface.as_ref() };
                match &self.proof {
                    ConvexProof::Rounded(proof) => {
                        judge_rounded_depth(bodies, proof, &claim, effort)
                    }
                    // Nothing of polytopes shows that rounded bodies overlap.
                    ConvexProof::Polytopes(_) => Err(Refusal::OriginNotHeld),
                }
            }
            (RoundedMeasure::Range(claim), verdict) => {
                judge_rounded_range(bodies, &claim.of(verdict), effort)
            }
            (RoundedMeasure::Distance(bounds, _) | RoundedMeasure::Depth { bounds, .. }, _) => {
                judge_zero(*bounds)
            }
            (RoundedMeasure::FirstContact(claimed), _) => {
                let ClaimedContact { outcome, t_free, t_contact, .. } = **claimed;
                let (chain, pairs) = (&claimed.chain, &claimed.pairs);
                let motion =
                    MotionClaim { outcome, t_free, t_contact, chain, pairs, initial: None };
                let (initial, start) = (&self.proof, &claimed.start[..]);
                let claim = RoundedMotionClaim { initial, start, motion };
                let course = claimed.moves.of_rounded(cores, radii);
                judge_rounded_motion(&course, radii, &claim, effort)
            }
        }
    }
}
