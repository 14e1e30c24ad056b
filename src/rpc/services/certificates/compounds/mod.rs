//! What is claimed of bodies of several convex parts, as sessions report it, judged.

mod curved;
mod entries;
mod motion;

use arrayvec::ArrayVec;

use self::curved::CurvedEntry;
use self::entries::{is_single, located, one_of_each};
use self::motion::SaidMotion;
use super::faces::NamedFaces;
use clearance_bodies::PlacedBody;
use clearance_certificates::told::{Told, required};
use clearance_geometry::claim::{
    Compounds, DepthClaim, DepthEntries, Direction, KnownParts, PartBound, PartStatement, Parts,
    Points, Surface, Verdict,
};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{
    Refusal, judge_compounds_beside, judge_compounds_depth, judge_compounds_distance,
    judge_compounds_margin, judge_zero,
};
use clearance_proto as api;
use clearance_wire::convert::body::AskedBody;
use clearance_wire::convert::certificate::{
    MarginShown, at_most, convex_proof, margin_shown, surface,
};
use clearance_wire::convert::compound::AskedParts;
use clearance_wire::convert::geometry::{direction, margin, verdict};
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A claim with its proof.
#[derive(Clone, Debug)]
pub struct PartsStatement {
    bodies: [AskedParts; 2],
    said: Said,
}

#[derive(Clone, Debug)]
enum Said {
    /// How they stand.
    Standing(Box<SaidStanding>),
    /// A first contact, or that there is none.
    Motion(Box<SaidMotion>),
}

/// The verdict about two bodies, what is said of a margin, and their distance or depth.
#[derive(Clone, Debug)]
struct SaidStanding {
    verdict: Verdict,
    /// Where in the answer these are.
    list: &'static str,
    entries: Vec<PartStatement>,
    /// Where among all entries these are; empty: there are no others.
    places: Vec<usize>,
    /// Those of two parts of which one is curved.
    curved: Vec<CurvedEntry>,
    /// The margin, and whether they are within it.
    within: Option<(f64, bool)>,
    measure: Measure,
}

/// What is said beside the verdict.
#[derive(Clone, Debug)]
enum Measure {
    Nothing,
    Distance {
        bounds: [f64; 2],
        entries: Vec<PartBound>,
    },
    Depth {
        bounds: [f64; 2],
        face: Option<Direction>,
        surface: Option<Surface>,
        others: Vec<PartBound>,
    },
}

impl PartsStatement {
    /// The parts of both, and the bodies in and around those that are curved.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &AskedBody> {
        let curved = match &self.said {
            Said::Standing(said) => &said.curved[..],
            Said::Motion(said) => said.curved(),
        };
        let of_curved = curved.iter().flat_map(CurvedEntry::bodies);
        self.bodies.iter().flat_map(AskedParts::parts).chain(of_curved)
    }

    /// What is claimed of compounds; checks everything that is wrong whatever the geometry.
    pub(super) fn collision(
        told: &Told<'_, api::CheckCollisionRequest, api::CheckCollisionResponse>,
        bodies: [AskedParts; 2],
    ) -> Result<Self, Failure> {
        let Told { question, asked, answer, path } = told;
        let asked = margin(asked, question.margin)?;
        NamedFaces::refuse(&path.field("face_contact"), answer.face_contact.as_ref())?;
        let (at, certificate) = (path.field("certificate"), answer.certificate.as_ref());
        let (curved, others) = curved::split(certificate);
        let places = curved::places_beside(&curved, certificate);
        let standing = SaidStanding {
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            list: "certificate.compound.entries",
            entries: statements(&at, &bodies, others.as_ref())?,
            places,
            curved: CurvedEntry::read_all(&at, &bodies, &curved, question.margin)?,
            within: within(path, asked, answer.within_margin)?,
            measure: Measure::Nothing,
        };
        Ok(Self { bodies, said: Said::Standing(Box::new(standing)) })
    }

    /// What is claimed of compounds; checks everything that is wrong whatever the geometry.
    pub(super) fn distance(
        told: &Told<'_, api::MeasureDistanceRequest, api::MeasureDistanceResponse>,
        bodies: [AskedParts; 2],
    ) -> Result<Self, Failure> {
        let Told { question, asked, answer, path } = told;
        let asked = margin(asked, question.margin)?;
        let bracket = required(path, "distance", answer.distance.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let (curved, others) = curved::split(certificate.verdict.as_ref());
        let at = certificate_path.field("verdict");
        let standing = SaidStanding {
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            list: "certificate.verdict.compound.entries",
            entries: statements(&at, &bodies, others.as_ref())?,
            places: curved::places_beside(&curved, certificate.verdict.as_ref()),
            curved: CurvedEntry::read_all(&at, &bodies, &curved, question.margin)?,
            within: within(path, asked, answer.within_margin)?,
            measure: Measure::Distance {
                bounds: [bracket.lower, bracket.upper],
                entries: gaps(&certificate_path, &bodies, certificate)?,
            },
        };
        Ok(Self { bodies, said: Said::Standing(Box::new(standing)) })
    }

    /// What is claimed of compounds; checks everything that is wrong whatever the geometry.
    pub(super) fn penetration(
        told: &Told<'_, api::MeasurePenetrationRequest, api::MeasurePenetrationResponse>,
        bodies: [AskedParts; 2],
    ) -> Result<Self, Failure> {
        let Told { answer, path, .. } = told;
        let bracket = required(path, "depth", answer.depth.as_ref())?;
        let certificate = required(path, "certificate", answer.certificate.as_ref())?;
        let certificate_path = path.field("certificate");
        let (curved, others) = curved::split(certificate.verdict.as_ref());
        let at = certificate_path.field("verdict");
        let face_path = certificate_path.field("face");
        let face = certificate.face.as_ref().map(|face| direction(&face_path, Some(face)));
        let surface_path = certificate_path.field("surface");
        let surface = certificate.surface.as_ref().map(|wire| surface(&surface_path, wire));
        let standing = SaidStanding {
            verdict: verdict(&path.field("verdict"), answer.verdict())?,
            list: "certificate.verdict.compound.entries",
            entries: statements(&at, &bodies, others.as_ref())?,
            places: curved::places_beside(&curved, certificate.verdict.as_ref()),
            curved: CurvedEntry::read_all(&at, &bodies, &curved, None)?,
            within: None,
            measure: Measure::Depth {
                bounds: [bracket.lower, bracket.upper],
                face: face.transpose()?,
                surface: surface.transpose()?,
                others: reaches(&certificate_path.field("parts"), &bodies, &certificate.parts)?,
            },
        };
        Ok(Self { bodies, said: Said::Standing(Box::new(standing)) })
    }

    /// What is claimed of the motion of compounds; checks everything that is wrong whatever the
    /// geometry.
    pub(super) fn first_contact(
        told: &Told<'_, api::FindFirstContactRequest, api::FindFirstContactResponse>,
        bodies: [AskedParts; 2],
    ) -> Result<Self, Failure> {
        let said = SaidMotion::convert(told, &bodies)?;
        Ok(Self { bodies, said: Said::Motion(Box::new(said)) })
    }

    /// Judges the claim; the inner error says what does not hold.
    pub(super) fn judge(self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        let Self { bodies: [p, q], mut said } = self;
        let (list, curved) = match &mut said {
            Said::Standing(said) => (said.list, &mut said.curved[..]),
            Said::Motion(said) => ("certificate.parts", said.curved_mut()),
        };
        for entry in curved {
            if let Err(why) = entry.judge(effort)? {
                return Ok(Err(format!("{list}[{}]: {why}", entry.at)));
            }
        }
        let (p, q) = (p.prepare(effort)?, q.prepare(effort)?);
        let (of_p, of_q) = (points(&p), points(&q));
        let radii = [&p, &q].map(|parts| radii(parts));
        let radii = [&radii[0][..], &radii[1][..]];
        let compounds = Compounds { p: &of_p, q: &of_q, radii };
        Ok(match said {
            Said::Standing(said) => said.judge(&compounds, effort),
            Said::Motion(said) => said.judge(&compounds, [&p, &q], effort),
        })
    }
}

fn points(parts: &[PlacedBody]) -> Vec<Points<'_>> {
    parts.iter().map(|part| (&part.hull()).into()).collect()
}

fn radii(parts: &[PlacedBody]) -> Vec<f64> {
    parts.iter().map(|part| part.body.radius()).collect()
}

/// The margin asked about, and what is said of it.
fn within(
    path: &Path<'_>,
    asked: Option<f64>,
    said: Option<bool>,
) -> Result<Option<(f64, bool)>, Failure> {
    let Some(is_within) = said else { return Ok(None) };
    let nothing_asked = || path.field("within_margin").bad("is said where no margin was given");
    Ok(Some((asked.ok_or_else(nothing_asked)?, is_within)))
}

/// The proofs that a certificate holds for the verdict about the parts. Two bodies of one part each
/// may also come with the certificate of two polytopes.
fn statements(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: Option<&api::StaticCertificate>,
) -> Result<Vec<PartStatement>, Failure> {
    let statement = |path: &Path<'_>, parts, wire: Option<&api::StaticCertificate>| {
        let MarginShown { pairs: margin_pairs, depth: margin_depth } = margin_shown(path, wire)?;
        let proof = convex_proof(path, wire)?;
        curved::refuse_convex(path, bodies, &parts)?;
        Ok::<_, Failure>(PartStatement { parts, proof, margin_pairs, margin_depth })
    };
    match wire.and_then(|wire| wire.proof.as_ref()) {
        Some(api::static_certificate::Proof::Compound(compound)) => {
            let compound_path = path.field("compound");
            let list = compound_path.field("entries");
            let entry = |(at, entry): (usize, &api::PartProof)| {
                let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
                let path = list.index(at);
                statement(&path.field("certificate"), parts, entry.certificate.as_ref())
            };
            compound.entries.iter().enumerate().map(entry).collect()
        }
        Some(_) if !is_single(bodies) => {
            Err(path.field("compound").bad("is required of bodies of several parts").into())
        }
        None if curved::is_curved_single(bodies) => Ok(Vec::new()),
        _ => Ok(vec![statement(path, one_of_each(), wire)?]),
    }
}

/// The bounds that a certificate holds for the distances of the parts. Two bodies of one part each
/// may also come with the certificate of two polytopes.
fn gaps(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: &api::DistanceCertificate,
) -> Result<Vec<PartBound>, Failure> {
    let pairs_path = path.field("pairs");
    let pairs = at_most(&pairs_path, &wire.pairs)?;
    if curved::is_curved_single(bodies) && wire.parts.is_empty() {
        return Ok(Vec::new());
    }
    if is_single(bodies) && wire.parts.is_empty() {
        return Ok(vec![PartBound { parts: one_of_each(), pairs, direction: None }]);
    }
    if !pairs.is_empty() {
        return Err(pairs_path.bad("say nothing about bodies of several parts").into());
    }
    let list = path.field("parts");
    let entry = |(at, entry): (usize, &api::PartDistanceProof)| {
        let path = list.index(at);
        let along = |wire| direction(&path.field("direction"), Some(wire));
        let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
        curved::refuse_convex(&path, bodies, &parts)?;
        Ok(PartBound {
            parts,
            pairs: at_most(&path.field("pairs"), &entry.pairs)?,
            direction: entry.direction.as_ref().map(along).transpose()?,
        })
    };
    wire.parts.iter().enumerate().map(entry).collect()
}

/// The bounds that a certificate holds for the depths of all parts but the deepest.
fn reaches(
    list: &Path<'_>,
    bodies: &[AskedParts; 2],
    wire: &[api::PartDepthProof],
) -> Result<Vec<PartBound>, Failure> {
    let entry = |(at, entry): (usize, &api::PartDepthProof)| {
        let path = list.index(at);
        let along = direction(&path.field("direction"), entry.direction.as_ref())?;
        let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
        curved::refuse_convex(&path, bodies, &parts)?;
        Ok(PartBound { parts, pairs: ArrayVec::new(), direction: Some(along) })
    };
    wire.iter().enumerate().map(entry).collect()
}

impl SaidStanding {
    /// Where in the answer something of the verdict is refused, and why.
    fn located(&self, refusal: Refusal) -> String {
        if let Refusal::EntryFails(at, why) = refusal {
            let place = self.places.get(at).copied().unwrap_or(at);
            return located(self.list, &Refusal::EntryFails(place, why));
        }
        located(self.list, &refusal)
    }

    fn judge(&self, compounds: &Compounds<'_>, effort: &mut Effort<'_>) -> Result<(), String> {
        let Self { verdict, entries, curved, .. } = self;
        let known: Vec<KnownParts> = curved.iter().map(CurvedEntry::known).collect();
        judge_compounds_beside(compounds, *verdict, entries, &known, effort)
            .map_err(|refusal| self.located(refusal))?;
        self.judge_within(compounds, effort).map_err(|why| format!("within_margin: {why}"))?;
        self.judge_measure(compounds, &known, effort)
    }

    fn judge_within(
        &self,
        compounds: &Compounds<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        match (self.verdict, self.within) {
            (_, None) => Ok(()),
            (_, Some((margin, _))) if margin < 0.0 && !self.curved.is_empty() => {
                Err("no claim is about depths of curved parts".to_owned())
            }
            (_, Some((margin, is_within))) if margin < 0.0 => {
                judge_compounds_margin(compounds, margin, is_within, &self.entries, effort)
                    .map_err(|refusal| self.located(refusal))
            }
            // In contact every margin is kept.
            (Verdict::Touching | Verdict::Overlapping, Some((_, true))) => Ok(()),
            (Verdict::Touching | Verdict::Overlapping, Some((_, false))) => {
                Err("the bodies are in contact".to_owned())
            }
            (Verdict::Separated, Some((_, true)))
                if self.curved.iter().any(|entry| entry.is_within == Some(true)) =>
            {
                Ok(())
            }
            (Verdict::Separated, Some((_, false)))
                if self.curved.iter().any(|entry| entry.is_within != Some(false)) =>
            {
                Err("an entry does not show that curved parts are beyond the margin".to_owned())
            }
            (Verdict::Separated, Some((_, false))) if self.entries.is_empty() => Ok(()),
            (Verdict::Separated, Some((margin, is_within))) => {
                judge_compounds_margin(compounds, margin, is_within, &self.entries, effort)
                    .map_err(|refusal| self.located(refusal))
            }
        }
    }

    fn judge_measure(
        &self,
        compounds: &Compounds<'_>,
        known: &[KnownParts],
        effort: &mut Effort<'_>,
    ) -> Result<(), String> {
        let located = |refusal: Refusal| located("certificate.parts", &refusal);
        match &self.measure {
            Measure::Nothing => Ok(()),
            Measure::Distance { bounds, entries } if self.verdict == Verdict::Separated => {
                judge_compounds_distance(compounds, *bounds, entries, known, effort)
                    .map_err(located)
            }
            Measure::Depth { bounds, face, surface, others }
                if self.verdict == Verdict::Overlapping =>
            {
                let deepest = match &self.entries[..] {
                    [] if !known.is_empty() => None,
                    [PartStatement { parts, proof, .. }] => {
                        let face = face.as_ref().ok_or("the face is missing")?;
                        Some(DepthClaim { parts, proof, face, surface: surface.as_ref() })
                    }
                    _ => return Err(format!("{}: one has to name the deepest parts", self.list)),
                };
                let shown = DepthEntries { deepest, others, known };
                judge_compounds_depth(compounds, *bounds, &shown, effort).map_err(located)
            }
            Measure::Distance { bounds, .. } | Measure::Depth { bounds, .. } => {
                judge_zero(*bounds).map_err(located)
            }
        }
    }
}
