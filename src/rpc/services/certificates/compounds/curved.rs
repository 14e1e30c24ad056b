//! Entries of certificates about compounds that are of two parts of which one is curved: each is a
//! claim about these two, as of any two bodies, by what its sides say.

use super::super::pair::PairClaim;
use super::super::questions::{AboutTwo, moving_pair};
use super::entries::{is_single, one_of_each};
use clearance_certificates::hulls::Moves;
use clearance_certificates::told::Told;
use clearance_geometry::claim::{KnownParts, Measured, Outcome, Parts, Verdict};
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_proto::curved_side::Certificate;
use clearance_proto::static_certificate::Proof;
use clearance_wire::convert::body::AskedBody;
use clearance_wire::convert::compound::AskedParts;
use clearance_wire::convert::geometry::{outcome, outcome_to_wire, verdict};
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// What is claimed of two parts of which one is curved.
#[derive(Clone, Debug)]
pub(super) struct CurvedEntry {
    /// Its place among the entries.
    pub(super) at: usize,
    /// What is said of the margin, if its proof says something.
    pub(super) is_within: Option<bool>,
    parts: Parts,
    verdict: Verdict,
    measured: Measured,
    /// Until it is judged.
    claim: Option<Box<PairClaim>>,
}

/// An entry of a certificate as it came.
pub(super) struct WireEntry {
    /// Its place among the entries.
    at: usize,
    entry: api::PartProof,
}

/// An entry about how two parts move.
pub(super) struct MovingEntry<'a> {
    /// Where it is.
    pub(super) path: &'a Path<'a>,
    /// Its place among the entries.
    pub(super) at: usize,
    /// The parts that it is about.
    pub(super) parts: Parts,
    /// What is said of them.
    pub(super) certificate: &'a api::MotionCertificate,
}

/// What a compound is asked about its way, and how each of its parts goes.
pub(super) struct PartMoves<'a> {
    /// Where the question is.
    pub(super) asked: &'a Path<'a>,
    /// The question.
    pub(super) question: &'a api::FindFirstContactRequest,
    /// How two parts move, by their places.
    pub(super) moves: &'a dyn Fn(u32, u32) -> Moves,
}

/// The entries about curved parts, and the certificate without them.
pub(super) fn split(
    certificate: Option<&api::StaticCertificate>,
) -> (Vec<WireEntry>, Option<api::StaticCertificate>) {
    let is_curved = |wire: &api::StaticCertificate| matches!(wire.proof, Some(Proof::Curved(_)));
    let of_whole = |wire: &api::StaticCertificate| {
        let Parts { p: p_parts, q: q_parts } = one_of_each();
        let entry = api::PartProof { p_parts, q_parts, certificate: Some(wire.clone()) };
        WireEntry { at: 0, entry }
    };
    match certificate.map(|wire| (wire, &wire.proof)) {
        None => (Vec::new(), None),
        Some((wire, Some(Proof::Curved(_)))) => (vec![of_whole(wire)], None),
        Some((_, Some(Proof::Compound(compound)))) => {
            let all = compound.entries.iter().cloned().enumerate();
            let (curved, others): (Vec<_>, Vec<_>) =
                all.partition(|(_, entry)| entry.certificate.as_ref().is_some_and(is_curved));
            let curved = curved.into_iter().map(|(at, entry)| WireEntry { at, entry }).collect();
            let entries = others.into_iter().map(|(_, entry)| entry).collect();
            let proof = Some(Proof::Compound(api::CompoundProof { entries }));
            (curved, Some(api::StaticCertificate { proof }))
        }
        Some((wire, _)) => (Vec::new(), Some(wire.clone())),
    }
}

/// The places of the other entries among all of a certificate.
pub(super) fn places_beside(
    curved: &[WireEntry],
    certificate: Option<&api::StaticCertificate>,
) -> Vec<usize> {
    let Some(Proof::Compound(compound)) = certificate.and_then(|wire| wire.proof.as_ref()) else {
        return Vec::new();
    };
    // They are in order.
    let is_other = |at: &usize| curved.binary_search_by_key(at, |one| one.at).is_err();
    (0..compound.entries.len()).filter(is_other).collect()
}

/// Whether two bodies of one part each are given, one of which is curved.
pub(super) fn is_curved_single(bodies: &[AskedParts; 2]) -> bool {
    let is_curved = |body: &AskedParts| body.parts().iter().any(|part| part.curved().is_some());
    is_single(bodies) && bodies.iter().any(is_curved)
}

/// Refuses a proof about the polytopes of parts that are none.
pub(super) fn refuse_convex(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    parts: &Parts,
) -> Result<(), Failure> {
    let is_curved = |body: &AskedParts, named: &[u32]| {
        let part = |at: &u32| body.parts().get(*at as usize);
        named.iter().filter_map(part).any(|part| part.curved().is_some())
    };
    if is_curved(&bodies[0], &parts.p) || is_curved(&bodies[1], &parts.q) {
        return Err(path.field("curved").bad("is required: one of the parts is curved").into());
    }
    Ok(())
}

impl CurvedEntry {
    /// Reads them; checks everything that is wrong whatever the geometry.
    pub(super) fn read_all(
        certificate: &Path<'_>,
        bodies: &[AskedParts; 2],
        entries: &[WireEntry],
        margin: Option<f64>,
    ) -> Result<Vec<Self>, Failure> {
        let compound = certificate.field("compound");
        let list = compound.field("entries");
        let read = |one: &WireEntry| Self::read(&list.index(one.at), bodies, one, margin);
        entries.iter().map(read).collect()
    }

    fn read(
        path: &Path<'_>,
        bodies: &[AskedParts; 2],
        WireEntry { at, entry }: &WireEntry,
        margin: Option<f64>,
    ) -> Result<Self, Failure> {
        let parts = Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() };
        let two = two_of(path, bodies, &parts)?;
        let sides = CurvedSides::of(entry.certificate.as_ref());
        let stands = sides.verdict();
        let verdict = verdict(&path.field("verdict"), stands)?;
        let said = SaidOfTwo { path, certificate: entry.certificate.as_ref(), margin };
        let (claim, measured) = match sides.certificate() {
            Some(Certificate::Distance(_)) => said.distance(&sides, two)?,
            Some(Certificate::Penetration(_)) => said.depth(&sides, two)?,
            _ => (said.standing(&sides, two)?, Measured::Nothing),
        };
        let is_within = sides.is_within().or_else(|| within_bounds(verdict, margin, measured));
        Ok(Self { at: *at, is_within, parts, verdict, measured, claim: Some(Box::new(claim)) })
    }

    /// Reads what is said of how two parts move; none: it says nothing of a curved one.
    pub(super) fn moving(
        entry: &MovingEntry<'_>,
        bodies: &[AskedParts; 2],
        moving: &PartMoves<'_>,
    ) -> Result<Option<Self>, Failure> {
        let &MovingEntry { path, at, ref parts, certificate } = entry;
        let initial = certificate.initial.as_ref();
        if !matches!(initial.map(|initial| &initial.proof), Some(Some(Proof::Curved(_)))) {
            refuse_convex(&path.field("initial"), bodies, parts)?;
            return Ok(None);
        }
        let two = two_of(path, bodies, parts)?;
        let sides = CurvedSides::of(initial);
        let stands = sides.verdict();
        let course = sides.course(path)?;
        let answer = api::FindFirstContactResponse {
            initial_verdict: stands.into(),
            certificate: Some(certificate.clone()),
            ..course.told
        };
        let &PartMoves { asked, question, moves } = moving;
        let moves = moves(parts.p[0], parts.q[0]);
        // The path of the certificate is that of the entry.
        let told = Told { question, asked: *asked, answer: &answer, path: *path };
        let claim = moving_pair(&told, two, &moves)?;
        Ok(Some(Self {
            at,
            is_within: None,
            parts: parts.clone(),
            verdict: verdict(&path.field("verdict"), stands)?,
            measured: course.measured,
            claim: Some(Box::new(claim)),
        }))
    }

    /// The bodies in and around the curved parts.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &AskedBody> {
        self.claim.iter().flat_map(|claim| claim.bodies_of_sides())
    }

    /// What is known once it is judged.
    pub(super) fn known(&self) -> KnownParts {
        let &Self { verdict, measured, .. } = self;
        KnownParts { parts: self.parts.clone(), verdict, measured }
    }

    /// Judges it; the inner error says what does not hold.
    pub(super) fn judge(&mut self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        self.claim.take().map_or(Ok(Ok(())), |claim| claim.judge(effort))
    }
}

/// The parts that an entry names, one of each body.
fn two_of(
    path: &Path<'_>,
    bodies: &[AskedParts; 2],
    parts: &Parts,
) -> Result<[AskedBody; 2], Failure> {
    let part = |name, body: &AskedParts, named: &[u32]| {
        let [at] = named else {
            return Err(path.field(name).bad("must be one part, where one is curved"));
        };
        let part = body.parts().get(*at as usize).cloned();
        part.ok_or_else(|| path.field(name).bad("names a part that does not exist"))
    };
    Ok([part("p_parts", &bodies[0], &parts.p)?, part("q_parts", &bodies[1], &parts.q)?])
}

/// What a bracket of the distance of parts that are apart says of a margin that is not below 0.
fn within_bounds(verdict: Verdict, margin: Option<f64>, measured: Measured) -> Option<bool> {
    let margin = margin.filter(|margin| *margin >= 0.0)?;
    if verdict != Verdict::Separated {
        return Some(true);
    }
    let Measured::Distance([lower, upper]) = measured else { return None };
    if lower > margin { Some(false) } else { (upper <= margin).then_some(true) }
}

/// What is said of two parts by a proof about polytopes in and around those that are curved.
#[derive(Clone, Copy)]
struct SaidOfTwo<'a> {
    path: &'a Path<'a>,
    certificate: Option<&'a api::StaticCertificate>,
    margin: Option<f64>,
}

impl SaidOfTwo<'_> {
    /// How they stand.
    fn standing(&self, sides: &CurvedSides<'_>, two: [AskedBody; 2]) -> Result<PairClaim, Failure> {
        let &Self { path, certificate, margin } = self;
        let question = api::CheckCollisionRequest { margin, ..Default::default() };
        let answer = api::CheckCollisionResponse {
            verdict: sides.verdict().into(),
            within_margin: sides.is_within(),
            certificate: certificate.cloned(),
            ..Default::default()
        };
        let told = Told { question: &question, asked: *path, answer: &answer, path: *path };
        api::CheckCollisionRequest::of_pair(&told, two)
    }

    /// How far they are from each other.
    fn distance(
        &self,
        sides: &CurvedSides<'_>,
        two: [AskedBody; 2],
    ) -> Result<(PairClaim, Measured), Failure> {
        let &Self { path, certificate, margin } = self;
        let is_apart = sides.verdict() == api::Verdict::Separated;
        let bounds =
            if is_apart { [bracket(sides.outer)[0], bracket(sides.inner)[1]] } else { [0.0; 2] };
        let question = api::MeasureDistanceRequest { margin, ..Default::default() };
        let verdict = certificate.cloned();
        let answer = api::MeasureDistanceResponse {
            verdict: sides.verdict().into(),
            within_margin: sides.is_within(),
            distance: Some(api::Bracket { lower: bounds[0], upper: bounds[1] }),
            certificate: Some(api::DistanceCertificate { verdict, ..Default::default() }),
            ..Default::default()
        };
        let told = Told { question: &question, asked: *path, answer: &answer, path: *path };
        let claim = api::MeasureDistanceRequest::of_pair(&told, two)?;
        Ok((claim, Measured::Distance(bounds)))
    }

    /// How deep they overlap.
    fn depth(
        &self,
        sides: &CurvedSides<'_>,
        two: [AskedBody; 2],
    ) -> Result<(PairClaim, Measured), Failure> {
        let &Self { path, certificate, .. } = self;
        let is_deep = sides.verdict() == api::Verdict::Overlapping;
        let bounds =
            if is_deep { [bracket(sides.inner)[0], bracket(sides.outer)[1]] } else { [0.0; 2] };
        let question = api::MeasurePenetrationRequest::default();
        let verdict = certificate.cloned();
        let answer = api::MeasurePenetrationResponse {
            verdict: sides.verdict().into(),
            depth: Some(api::Bracket { lower: bounds[0], upper: bounds[1] }),
            certificate: Some(api::PenetrationCertificate { verdict, ..Default::default() }),
            ..Default::default()
        };
        let told = Told { question: &question, asked: *path, answer: &answer, path: *path };
        let claim = api::MeasurePenetrationRequest::of_pair(&told, two)?;
        Ok((claim, Measured::Depth(bounds)))
    }
}

/// What is said of the polytopes around curved parts, and of those in them.
struct CurvedSides<'a> {
    outer: Option<&'a api::CurvedSide>,
    inner: Option<&'a api::CurvedSide>,
}

/// When parts first meet, as the sides of a proof say.
struct SaidCourse {
    told: api::FindFirstContactResponse,
    measured: Measured,
}

impl<'a> CurvedSides<'a> {
    fn of(certificate: Option<&'a api::StaticCertificate>) -> Self {
        match certificate.and_then(|wire| wire.proof.as_ref()) {
            Some(Proof::Curved(proof)) => {
                Self { outer: proof.outer.first(), inner: proof.inner.first() }
            }
            _ => Self { outer: None, inner: None },
        }
    }

    /// How the parts stand.
    fn verdict(&self) -> api::Verdict {
        let is = |side: Option<&api::CurvedSide>, verdict| {
            side.is_some_and(|side| side.verdict() == verdict)
        };
        if is(self.outer, api::Verdict::Separated) {
            api::Verdict::Separated
        } else if is(self.inner, api::Verdict::Overlapping) {
            api::Verdict::Overlapping
        } else {
            api::Verdict::Touching
        }
    }

    /// What they say of the margin.
    fn is_within(&self) -> Option<bool> {
        let within = |side: Option<&api::CurvedSide>| side.and_then(|side| side.within_margin);
        match (within(self.outer), within(self.inner)) {
            (Some(false), _) => Some(false),
            (_, Some(true)) => Some(true),
            _ => None,
        }
    }

    /// What shows it, by the question.
    fn certificate(&self) -> Option<&'a Certificate> {
        let of = |side: Option<&'a api::CurvedSide>| side.and_then(|it| it.certificate.as_ref());
        of(self.outer).or_else(|| of(self.inner))
    }

    fn course(&self, path: &Path<'_>) -> Result<SaidCourse, Failure> {
        let of = |side: Option<&api::CurvedSide>| {
            side.map(|side| outcome(&path.field("outcome"), side.outcome())).transpose()
        };
        let (outer, inner) = (of(self.outer)?, of(self.inner)?);
        let stands = self.verdict();
        let t_contact = self.inner.and_then(|side| side.t_contact).unwrap_or(1.0);
        let t_free = match outer {
            Some(Outcome::NoContact) => 1.0,
            Some(_) => self.outer.map_or(0.0, |side| side.t_free),
            None => 0.0,
        };
        let (said, t_free, t_contact) = match (outer, inner) {
            _ if stands != api::Verdict::Separated => (Outcome::Contact, 0.0, 0.0),
            (Some(Outcome::NoContact), _) => (Outcome::NoContact, 1.0, 1.0),
            (_, Some(Outcome::Contact)) => (Outcome::Contact, t_free, t_contact),
            _ => (Outcome::Undecided, t_free, 1.0),
        };
        let told = api::FindFirstContactResponse {
            outcome: outcome_to_wire(said).into(),
            t_free,
            t_contact: (said == Outcome::Contact).then_some(t_contact),
            ..Default::default()
        };
        Ok(SaidCourse { told, measured: Measured::Course { outcome: said, t_free, t_contact } })
    }
}

/// A bracket that is not there is one that nothing shows.
fn bracket(side: Option<&api::CurvedSide>) -> [f64; 2] {
    let bracket = side.and_then(|side| side.bracket.as_ref());
    bracket.map_or([f64::NAN; 2], |bracket| [bracket.lower, bracket.upper])
}
