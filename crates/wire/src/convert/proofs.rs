//! What proves answers about two bodies, to the wire; of curved ones what holds of the polytopes
//! around them and in them.

use super::certificate::{
    depth_to_wire, distance_to_wire, motion_to_wire, proof_with_margin_to_wire, range_to_wire,
    rounded_to_wire, with_margin_depth,
};
use super::geometry::{outcome_to_wire, pairs_to_wire, points_to_wire, verdict_to_wire};
use super::solids::{self, unproven_to_wire};
use api::curved_side::Certificate;
use clearance_bodies::table::along::MeasuredRange;
use clearance_bodies::table::depth::MeasuredDepth;
use clearance_bodies::table::distance::MeasuredDistance;
use clearance_bodies::table::first_contact::MotionProof;
use clearance_bodies::table::proof::{
    CurvedHulls, CurvedProof, SideAnswer, SideCourse, VerdictProof,
};
use clearance_bodies::{Body, Unproven};
use clearance_certificates::rounded::{
    rounded_depth_to_wire, rounded_distance_to_wire, rounded_motion_to_wire,
};
use clearance_geometry::claim::{Outcome, RangeProof, Verdict};
use clearance_geometry::distance::Compared;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::rounded::RoundedDepth;
use clearance_proto as api;

/// The proof of how two bodies stand, and what shows what is said of a margin.
pub fn stand_to_wire(proof: &VerdictProof, margin_pairs: &[VertexPair]) -> api::StaticCertificate {
    match proof {
        VerdictProof::OfHulls(proof) => proof_with_margin_to_wire(proof, margin_pairs),
        VerdictProof::OfRounded(proof) => rounded_to_wire(proof, margin_pairs),
        VerdictProof::OfSolids(proof) => solids::proof_to_wire(proof, margin_pairs),
        VerdictProof::OfRoundedSolids(proof) => solids::rounded_to_wire(proof, margin_pairs),
        VerdictProof::OfCurved(proof) => {
            let curved = api::static_certificate::Proof::Curved(curved_to_wire(proof));
            api::StaticCertificate { proof: Some(curved) }
        }
    }
}

/// The same with what shows how they compare with a margin, where that is asked.
pub fn stand_within_to_wire(
    proof: &VerdictProof,
    compared: Option<&Compared>,
) -> api::StaticCertificate {
    let pairs = compared.map_or(&[][..], |found| &found.pairs);
    let depth = compared.and_then(|found| found.depth.as_deref());
    with_margin_depth(stand_to_wire(proof, pairs), depth)
}

/// The proof of a distance and of how it compares with a margin, where that is asked; or why there
/// is none.
pub fn distance_certificate(
    found: &MeasuredDistance,
    compared: Option<&Compared>,
) -> Result<api::DistanceCertificate, Option<Unproven>> {
    let pairs = compared.map_or(&[][..], |found| &found.pairs);
    let depth = compared.and_then(|found| found.depth.as_deref());
    let mut wire = distance_to_wire_with(found, pairs)?;
    wire.verdict = wire.verdict.map(|verdict| with_margin_depth(verdict, depth));
    Ok(wire)
}

fn distance_to_wire_with(
    found: &MeasuredDistance,
    margin_pairs: &[VertexPair],
) -> Result<api::DistanceCertificate, Option<Unproven>> {
    match found {
        MeasuredDistance::OfHulls(found) => Ok(distance_to_wire(found, margin_pairs)),
        MeasuredDistance::OfRounded(found) => {
            Ok(rounded_distance_to_wire(&found.proof, margin_pairs))
        }
        MeasuredDistance::OfFaces(found) => {
            let proof = found.proof.as_ref().map_err(|why| *why)?;
            let verdict = Some(stand_to_wire(proof, margin_pairs));
            let pairs = pairs_to_wire(&found.pairs);
            Ok(api::DistanceCertificate { verdict, pairs, parts: Vec::new() })
        }
    }
}

/// The proof of a range along a direction, and why there is none of where it begins and ends.
pub fn along_certificate(
    found: &MeasuredRange,
) -> (api::AlongCertificate, Option<api::UncertifiedReason>) {
    let certificate = |verdict, range: Option<&RangeProof>| api::AlongCertificate {
        verdict: Some(verdict),
        range: range.map(range_to_wire),
    };
    match found {
        MeasuredRange::OfHulls(found) => {
            let verdict = proof_with_margin_to_wire(&found.decision.proof, &[]);
            (certificate(verdict, found.proof.as_ref()), None)
        }
        MeasuredRange::OfRounded(found) => {
            // Nothing says where it ends beyond all numbers.
            let why = found.ends.is_none().then_some(api::UncertifiedReason::NoClaim);
            (certificate(rounded_to_wire(&found.proof, &[]), found.ends.as_ref()), why)
        }
        MeasuredRange::OfCurved(found) => match &found.proof {
            Ok(proof) => (certificate(stand_to_wire(proof, &[]), None), None),
            Err(why) => {
                let why = why.map_or(api::UncertifiedReason::Unspecified, unproven_to_wire);
                (api::AlongCertificate::default(), Some(why))
            }
        },
    }
}

/// The proof of a depth, or why there is none.
pub fn depth_certificate(
    found: &MeasuredDepth,
) -> Result<api::PenetrationCertificate, api::UncertifiedReason> {
    match found {
        MeasuredDepth::OfHulls(found) => Ok(depth_to_wire(found)),
        MeasuredDepth::OfRounded(found) => Ok(of_rounded_depth(found)),
        MeasuredDepth::OfCurved(found) => {
            // Depths beside bodies that are not convex have none, curved or not.
            let why_not = |why: &Unproven| match *why == Unproven::NoClaim {
                true => api::UncertifiedReason::NotConvex,
                false => unproven_to_wire(*why),
            };
            let proof = found.proof.as_ref().map_err(why_not)?;
            let verdict = Some(stand_to_wire(proof, &[]));
            Ok(api::PenetrationCertificate { verdict, ..Default::default() })
        }
        MeasuredDepth::OfPieces(_) => Err(api::UncertifiedReason::NotConvex),
    }
}

/// The proof of a first contact, or of there being none.
pub fn first_contact_certificate(proof: &MotionProof) -> api::MotionCertificate {
    let initial = match proof {
        MotionProof::OfHulls(found) => return motion_to_wire(found),
        MotionProof::OfSolids(proof, start) => {
            let start = start.as_ref().map(|start| stand_to_wire(start, &[]));
            return solids::motion_to_wire(proof, start);
        }
        MotionProof::OfRounded(found) => {
            let start = found.start_pairs();
            return rounded_motion_to_wire(&found.initial, start, found.later.as_ref());
        }
        MotionProof::AtStart(proof) => stand_to_wire(proof, &[]),
    };
    api::MotionCertificate { initial: Some(initial), ..Default::default() }
}

/// The proof of what is said of a curved body and another one.
pub fn curved_to_wire(proof: &CurvedProof) -> api::CurvedProof {
    let CurvedProof { hulls: [of_p, of_q], outer, inner, .. } = proof;
    let hulls = |of: &Option<CurvedHulls>| {
        let of = of.as_ref()?;
        let points = |body: &Body| points_to_wire(body.vertices());
        let mut wire = api::CurvedHulls::default();
        if outer.is_some() {
            wire.outer = Some(points(&of.outer));
            wire.outer_triangles = of.outer.boundary().into_flattened();
        }
        if inner.is_some() {
            wire.inner = Some(points(&of.inner));
        }
        Some(wire)
    };
    let side = |answer: &Option<SideAnswer>| answer.iter().map(side_to_wire).collect();
    api::CurvedProof { p: hulls(of_p), q: hulls(of_q), outer: side(outer), inner: side(inner) }
}

fn side_to_wire(answer: &SideAnswer) -> api::CurvedSide {
    match answer {
        SideAnswer::Verdict(proof, compared) => verdict_side(proof, compared.as_ref()),
        SideAnswer::Distance(found, compared) => {
            let within_margin = compared.as_ref().map(|found| found.is_within);
            let certificate = distance_certificate(found, compared.as_ref());
            let certificate = certificate.ok().map(Certificate::Distance);
            let verdict = found.verdict().map(verdict_to_wire).unwrap_or_default();
            let bracket = Some(bracket_to_wire(found.bounds()));
            api::CurvedSide {
                verdict: verdict.into(),
                within_margin,
                bracket,
                certificate,
                ..Default::default()
            }
        }
        SideAnswer::Depth(found) => {
            let bracket = [found.lower, found.upper];
            depth_side(found.decision.verdict(), bracket, depth_to_wire(found))
        }
        SideAnswer::RoundedDepth(found) => {
            let bracket = [found.lower, found.upper];
            depth_side(found.proof.verdict, bracket, of_rounded_depth(found))
        }
        SideAnswer::Range(found) => range_side(found),
        SideAnswer::FirstContact(found) => first_contact_side(found),
    }
}

fn range_side(found: &MeasuredRange) -> api::CurvedSide {
    let span = found.span();
    api::CurvedSide {
        verdict: found.verdict().map(verdict_to_wire).unwrap_or_default().into(),
        enter: span.map(|span| bracket_to_wire(span.enter)),
        exit: span.map(|span| bracket_to_wire(span.exit)),
        certificate: Some(Certificate::DistanceAlong(along_certificate(found).0)),
        ..Default::default()
    }
}

fn verdict_side(proof: &VerdictProof, compared: Option<&Compared>) -> api::CurvedSide {
    let within_margin = compared.map(|found| found.is_within);
    let certificate = Some(Certificate::Collision(stand_within_to_wire(proof, compared)));
    let verdict = verdict_to_wire(proof.verdict()).into();
    api::CurvedSide { verdict, within_margin, certificate, ..Default::default() }
}

fn depth_side(
    verdict: Verdict,
    bracket: [f64; 2],
    proof: api::PenetrationCertificate,
) -> api::CurvedSide {
    api::CurvedSide {
        verdict: verdict_to_wire(verdict).into(),
        bracket: Some(bracket_to_wire(bracket)),
        certificate: Some(Certificate::Penetration(proof)),
        ..Default::default()
    }
}

fn of_rounded_depth(found: &RoundedDepth) -> api::PenetrationCertificate {
    rounded_depth_to_wire(&found.proof, found.face.as_ref(), found.surface.as_ref())
}

fn first_contact_side(found: &SideCourse) -> api::CurvedSide {
    api::CurvedSide {
        verdict: verdict_to_wire(found.initial).into(),
        outcome: outcome_to_wire(found.outcome).into(),
        t_free: found.t_free,
        t_contact: (found.outcome == Outcome::Contact).then_some(found.t_contact),
        certificate: Some(Certificate::FirstContact(first_contact_certificate(&found.proof))),
        ..Default::default()
    }
}

fn bracket_to_wire([lower, upper]: [f64; 2]) -> api::Bracket {
    api::Bracket { lower, upper }
}
