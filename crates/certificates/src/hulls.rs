//! What an answer about two convex bodies claims, read from its message, and judged.
//!
//! Certificates speak about the hulls of the bodies' vertices, so [`HullClaim::judge`] takes
//! nothing but points and poses.

use arrayvec::ArrayVec;

use crate::certificate::{MarginShown, at_most, chain, margin_shown, proof, range, surface};
use crate::geometry::{
    direction, direction_vector, length, margin, motion, outcome, signed_length, verdict,
};
use crate::path::{BadField, Path};
use crate::told::{Told, required, t_contact};
use clearance_proof::Vec3;
use clearance_proof::claim::{
    Bodies, ConvexProof, Course, Direction, FirstContact, MarginClaim, Outcome, RangeClaim,
    RangeProof, Reach, Span, StaticProof, Surface, Verdict,
};
use clearance_proof::effort::Effort;
use clearance_proof::judge::{
    RoundedBodies, judge_convex_margin, judge_depth, judge_distance_with, judge_motion,
    judge_range, judge_static_with, judge_zero,
};
use clearance_proof::motion::Motion;
use clearance_proof::vertex_pair::VertexPair;
use clearance_proto as api;

/// A verdict, its proof, and what is claimed beside it.
#[derive(Clone, Debug)]
pub struct HullClaim {
    /// How the bodies stand; of a motion, at its start.
    pub verdict: Verdict,
    /// The proof of that.
    pub proof: StaticProof,
    /// How they compare with a margin.
    pub within: Option<WithinMargin>,
    /// What is claimed beside it.
    pub measure: Measure,
}

/// What is said of a margin, and what shows it.
#[derive(Clone, Debug)]
pub struct WithinMargin {
    margin: f64,
    is_within: bool,
    shown: MarginShown,
}

/// What is claimed beside the verdict.
#[derive(Clone, Debug)]
pub enum Measure {
    /// Nothing.
    Nothing,
    /// How far the bodies are from each other.
    Distance {
        /// At least so far, metres.
        lower: f64,
        /// At most so far.
        upper: f64,
        /// The vertices whose differences span the nearest point.
        pairs: ArrayVec<VertexPair, 3>,
    },
    /// How deep they overlap.
    Depth {
        /// At least so deep, metres.
        lower: f64,
        /// At most so deep.
        upper: f64,
        /// Along which way they get out of each other.
        face: Option<Direction>,
        /// What shows that no other way is shorter.
        surface: Option<Surface>,
    },
    /// When they are in contact along a direction.
    Range(Box<RangeMeasure>),
    /// When they first meet on their ways.
    FirstContact(Box<(Moves, FirstContact)>),
}

/// A range along a direction.
#[derive(Clone, Debug)]
pub struct RangeMeasure {
    along: Vec3,
    span: Option<Span>,
    proof: Option<RangeProof>,
}

/// How two bodies move, and what counts as contact.
#[derive(Clone, Copy, Debug)]
pub struct Moves {
    /// How the first body moves.
    pub motion_p: Motion,
    /// How the second one does.
    pub motion_q: Motion,
    /// How far the first one may stray from its motion, metres.
    pub deviation_p: f64,
    /// How far the second one may.
    pub deviation_q: f64,
    /// From which distance on it is contact, metres; below 0 from which depth on.
    pub margin: f64,
}

impl Moves {
    /// Reads them from a question of whose answers there are proofs: its margin is not below 0.
    pub fn convert(path: &Path<'_>, wire: &api::FindFirstContactRequest) -> Result<Self, BadField> {
        length(&path.field("margin"), wire.margin)?;
        Self::asked(path, wire)
    }

    /// Reads them from a question.
    pub fn asked(path: &Path<'_>, wire: &api::FindFirstContactRequest) -> Result<Self, BadField> {
        let size = |name, value| length(&path.field(name), value);
        Ok(Self {
            motion_p: motion(&path.field("p_motion"), wire.p_motion.as_ref())?,
            motion_q: motion(&path.field("q_motion"), wire.q_motion.as_ref())?,
            deviation_p: size("p_deviation", wire.p_deviation)?,
            deviation_q: size("q_deviation", wire.q_deviation)?,
            margin: signed_length(&path.field("margin"), wire.margin)?,
        })
    }

    /// Those of two bodies that start so.
    pub fn of<'a>(&self, bodies: Bodies<'a>) -> Course<'a> {
        self.within(self.margin.into(), bodies)
    }

    /// Those of two polytopes that start so and are rounded with these radii.
    pub fn of_rounded<'a>(&self, bodies: Bodies<'a>, radii: [f64; 2]) -> Course<'a> {
        self.within(Reach::of_rounded(radii, self.margin), bodies)
    }

    fn within<'a>(&self, reach: Reach, bodies: Bodies<'a>) -> Course<'a> {
        let Self { motion_p, motion_q, deviation_p, deviation_q, .. } = *self;
        Course { bodies, motion_p, motion_q, reach, deviation_p, deviation_q }
    }
}

/// The brackets of a range in an answer.
pub fn span(
    path: &Path<'_>,
    enter: Option<&api::Bracket>,
    exit: Option<&api::Bracket>,
) -> Result<Option<Span>, BadField> {
    let bracket = |wire: &api::Bracket| [wire.lower, wire.upper];
    match (enter, exit) {
        (Some(enter), Some(exit)) => Ok(Some(Span { enter: bracket(enter), exit: bracket(exit) })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(path.field("exit").bad("is required")),
        (None, Some(_)) => Err(path.field("enter").bad("is required")),
    }
}

impl RangeMeasure {
    /// What an answer says of a range, and what proves it.
    pub fn convert(
        told: &Told<'_, api::MeasureDistanceAlongRequest, api::MeasureDistanceAlongResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let along = direction_vector(&asked.field("direction"), question.direction.as_ref())?;
        let span = span(path, answer.enter.as_ref(), answer.exit.as_ref())?;
        let range_path = path.field("range_certificate");
        let proof = answer.range_certificate.as_ref().map(|wire| range(&range_path, wire));
        Ok(Self { along, span, proof: proof.transpose()? })
    }

    /// It of bodies that stand so, as a judge takes it.
    pub fn of(&self, verdict: Verdict) -> RangeClaim<'_> {
        let Self { along, span, ref proof } = *self;
        RangeClaim { along, verdict, span, proof: proof.as_ref() }
    }
}

impl WithinMargin {
    /// What an answer says of the margin that its question has, with the paths of both.
    pub fn convert(
        [question, answer]: [&Path<'_>; 2],
        asked: Option<f64>,
        is_within: Option<bool>,
        shown: MarginShown,
    ) -> Result<Option<Self>, BadField> {
        let asked = margin(question, asked)?;
        let Some(is_within) = is_within else { return Ok(None) };
        let path = answer.field("within_margin");
        let margin = asked.ok_or_else(|| path.bad("is said where no margin was given"))?;
        Ok(Some(Self { margin, is_within, shown }))
    }

    /// Whether the bodies are said to be within it.
    pub fn is_within(&self) -> bool {
        self.is_within
    }

    /// This is how a judge takes it.
    pub fn claim(&self) -> MarginClaim<'_> {
        let Self { margin, is_within, ref shown } = *self;
        MarginClaim { margin, is_within, pairs: &shown.pairs, depth: shown.depth.as_ref() }
    }

    fn judge(
        &self,
        bodies: Bodies<'_>,
        proof: &StaticProof,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let bodies = RoundedBodies { cores: bodies, radii: [0.0; 2] };
        let proof = ConvexProof::Polytopes(proof.clone());
        judge_convex_margin(bodies, &proof, &self.claim(), effort)
            .map_err(|why| format!("within_margin: {why}"))
    }
}

impl HullClaim {
    /// The claim of an answer about how two bodies stand.
    pub fn collision(
        told: &Told<'_, api::CheckCollisionRequest, api::CheckCollisionResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let certificate = answer.certificate.as_ref();
        let proof_path = path.field("certificate");
        let proof = proof(&proof_path, certificate)?;
        let shown = margin_shown(&proof_path, certificate)?;
        Ok(Self {
            proof,
            within: WithinMargin::convert(
                [asked, path],
                question.margin,
                answer.within_margin,
                shown,
            )?,
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            measure: Measure::Nothing,
        })
    }

    /// That of an answer about a distance.
    pub fn distance(
        told: &Told<'_, api::MeasureDistanceRequest, api::MeasureDistanceResponse>,
    ) -> Result<Self, BadField> {
        let Told { question, asked, answer, path } = told;
        let bracket = required(path, "distance", answer.distance.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let pairs = at_most(&certificate_path.field("pairs"), &certificate.pairs)?;
        let proof_path = certificate_path.field("verdict");
        let of_margin = margin_shown(&proof_path, certificate.verdict.as_ref())?;
        Ok(Self {
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            within: WithinMargin::convert(
                [asked, path],
                question.margin,
                answer.within_margin,
                of_margin,
            )?,
            proof: proof(&proof_path, certificate.verdict.as_ref())?,
            measure: Measure::Distance { lower: bracket.lower, upper: bracket.upper, pairs },
        })
    }

    /// That of an answer about a range along a direction.
    pub fn along(
        told: &Told<'_, api::MeasureDistanceAlongRequest, api::MeasureDistanceAlongResponse>,
    ) -> Result<Self, BadField> {
        let Told { answer, path, .. } = told;
        let proof = proof(&path.field("certificate"), answer.certificate.as_ref())?;
        Ok(Self {
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            proof,
            within: None,
            measure: Measure::Range(Box::new(RangeMeasure::convert(told)?)),
        })
    }

    /// That of an answer about a depth.
    pub fn penetration(
        told: &Told<'_, api::MeasurePenetrationRequest, api::MeasurePenetrationResponse>,
    ) -> Result<Self, BadField> {
        let Told { answer, path, .. } = told;
        let bracket = required(path, "depth", answer.depth.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let face_path = certificate_path.field("face");
        let face = certificate.face.as_ref().map(|face| direction(&face_path, Some(face)));
        let surface_path = certificate_path.field("surface");
        let surface = certificate.surface.as_ref().map(|wire| surface(&surface_path, wire));
        Ok(Self {
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            within: None,
            proof: proof(&certificate_path.field("verdict"), certificate.verdict.as_ref())?,
            measure: Measure::Depth {
                lower: bracket.lower,
                upper: bracket.upper,
                face: face.transpose()?,
                surface: surface.transpose()?,
            },
        })
    }

    /// That of an answer about a first contact of bodies that move so.
    pub fn first_contact(
        told: &Told<'_, api::FindFirstContactRequest, api::FindFirstContactResponse>,
        moves: Moves,
    ) -> Result<Self, BadField> {
        let Told { answer: wire, path, .. } = told;
        let certificate = required(path, "certificate", wire.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        if !certificate.parts.is_empty() {
            let why = "is about bodies of several parts: compounds";
            return Err(certificate_path.field("parts").bad(why));
        }
        let initial = proof(&certificate_path.field("initial"), certificate.initial.as_ref())?;
        // Reports of sessions do not say it, and leave it to its proof.
        let is_said = wire.initial_verdict() != api::Verdict::Unspecified;
        let at_start = || verdict(&path.field("initial_verdict"), wire.initial_verdict());
        let verdict = if is_said { at_start()? } else { initial.verdict() };
        let pairs = &certificate.contact_pairs;
        let answer = FirstContact {
            outcome: outcome(&path.field("outcome"), wire.outcome())?,
            t_free: wire.t_free,
            t_contact: t_contact(path, wire)?,
            chain: chain(&certificate_path.field("chain"), &certificate.chain)?,
            pairs: at_most(&certificate_path.field("contact_pairs"), pairs)?,
            initial: initial.clone(),
            stopped: None,
        };
        let measure = Measure::FirstContact(Box::new((moves, answer)));
        Ok(Self { verdict, proof: initial, within: None, measure })
    }

    /// Whether what is claimed holds for everything within the two bodies if it holds for them.
    pub fn is_of_separation(&self) -> bool {
        let is_all = match &self.measure {
            Measure::Nothing => true,
            Measure::Distance { .. } | Measure::Depth { .. } | Measure::Range(_) => false,
            Measure::FirstContact(claim) => claim.1.outcome == Outcome::NoContact,
        };
        let is_beyond = self.within.as_ref().is_none_or(|within| !within.is_within);
        self.verdict == Verdict::Separated && is_all && is_beyond
    }

    /// Accepts it, or says why not.
    pub fn judge(&self, bodies: Bodies<'_>, effort: &mut Effort<'_>) -> Result<(), String> {
        if self.verdict != self.proof.verdict() {
            return Err("the certificate is for another verdict".to_owned());
        }
        judge_static_with(bodies, &self.proof, effort).map_err(words)?;
        self.judge_measure(bodies, effort).map_err(words)?;
        self.within.as_ref().map_or(Ok(()), |within| within.judge(bodies, &self.proof, effort))
    }

    fn judge_measure(&self, bodies: Bodies<'_>, effort: &mut Effort<'_>) -> Result<(), String> {
        let verdict = self.verdict;
        let judged = match &self.measure {
            Measure::Nothing => Ok(()),
            Measure::Distance { lower, upper, pairs } if verdict == Verdict::Separated => {
                judge_distance_with(bodies, [*lower, *upper], pairs, effort)
            }
            Measure::Depth { lower, upper, face, surface } if verdict == Verdict::Overlapping => {
                let face = face.as_ref().ok_or("the face is missing")?;
                judge_depth(bodies, [*lower, *upper], face, surface.as_ref(), effort)
            }
            Measure::Range(claim) => judge_range(bodies, &claim.of(verdict), effort),
            Measure::FirstContact(claim) => {
                let (moves, answer) = claim.as_ref();
                judge_motion(&moves.of(bodies), &answer.into(), effort)
            }
            Measure::Distance { lower, upper, .. } | Measure::Depth { lower, upper, .. } => {
                judge_zero([*lower, *upper])
            }
        };
        judged.map_err(words)
    }
}

fn words(refusal: impl std::fmt::Display) -> String {
    refusal.to_string()
}
