//! Entries of certificates about compounds that are of two parts of which one is curved: each is a
//! claim about these two, as of any two bodies.

use super::super::pair::PairClaim;
use super::super::questions::AboutTwo;
use super::entries::{is_single, one_of_each};
use clearance_certificates::told::Told;
use clearance_geometry::claim::{KnownParts, Parts, Verdict};
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_proto::static_certificate::Proof;
use clearance_wire::convert::body::AskedBody;
use clearance_wire::convert::compound::AskedParts;
use clearance_wire::convert::geometry::verdict;
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
    /// Until it is judged.
    claim: Option<Box<PairClaim>>,
}

/// An entry of a certificate as it came.
pub(super) struct WireEntry {
    /// Its place among the entries.
    at: usize,
    entry: api::PartProof,
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
        let part = |name, body: &AskedParts, named: &[u32]| {
            let [at] = named else {
                return Err(path.field(name).bad("must be one part, where one is curved"));
            };
            let part = body.parts().get(*at as usize).cloned();
            part.ok_or_else(|| path.field(name).bad("names a part that does not exist"))
        };
        let two = [
            part("p_parts", &bodies[0], &entry.p_parts)?,
            part("q_parts", &bodies[1], &entry.q_parts)?,
        ];
        let certificate = entry.certificate.clone();
        let (stands, within_margin) = told_of(certificate.as_ref());
        let question = api::CheckCollisionRequest { margin, ..Default::default() };
        let answer = api::CheckCollisionResponse {
            verdict: stands.into(),
            within_margin,
            certificate,
            ..Default::default()
        };
        let told = Told { question: &question, asked: *path, answer: &answer, path: *path };
        let claim = api::CheckCollisionRequest::of_pair(&told, two)?;
        Ok(Self {
            at: *at,
            is_within: within_margin,
            parts: Parts { p: entry.p_parts.clone(), q: entry.q_parts.clone() },
            verdict: verdict(&path.field("verdict"), stands)?,
            claim: Some(Box::new(claim)),
        })
    }

    /// The bodies in and around the curved parts.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &AskedBody> {
        self.claim.iter().flat_map(|claim| claim.bodies_of_sides())
    }

    /// What is known once it is judged.
    pub(super) fn known(&self) -> KnownParts {
        KnownParts { parts: self.parts.clone(), verdict: self.verdict }
    }

    /// Judges it; the inner error says what does not hold.
    pub(super) fn judge(&mut self, effort: &mut Effort<'_>) -> Result<Result<(), String>, Failure> {
        self.claim.take().map_or(Ok(Ok(())), |claim| claim.judge(effort))
    }
}

/// What the sides of a proof about curved parts say of these: how they stand, and of the margin.
fn told_of(certificate: Option<&api::StaticCertificate>) -> (api::Verdict, Option<bool>) {
    let Some(Proof::Curved(proof)) = certificate.and_then(|wire| wire.proof.as_ref()) else {
        return (api::Verdict::Unspecified, None);
    };
    let (outer, inner) = (proof.outer.first(), proof.inner.first());
    let is = |side: Option<&api::CurvedSide>, verdict| {
        side.is_some_and(|side| side.verdict() == verdict)
    };
    let stands = if is(outer, api::Verdict::Separated) {
        api::Verdict::Separated
    } else if is(inner, api::Verdict::Overlapping) {
        api::Verdict::Overlapping
    } else {
        api::Verdict::Touching
    };
    let within = |side: Option<&api::CurvedSide>| side.and_then(|side| side.within_margin);
    let is_within = match (within(outer), within(inner)) {
        (Some(false), _) => Some(false),
        (_, Some(true)) => Some(true),
        _ => None,
    };
    (stands, is_within)
}
