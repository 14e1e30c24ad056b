//! Certificates of edges, to the wire and back.

use crate::convert::certificate::{margin_pairs, proof, proof_with_margin_to_wire};
use crate::convert::geometry::pairs_to_wire;
use crate::convert::solids;
use crate::path::Path;
use crate::status::Failure;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Cover;
use clearance_proto as api;
use clearance_proto::static_certificate::Proof;
use clearance_robot::claim::{EdgeCertificate, EdgeContactProof, EdgePiece, GapProof, PairGap};

/// A certificate, to the wire.
pub fn edge_certificate_to_wire(certificate: &EdgeCertificate) -> api::EdgeCertificate {
    api::EdgeCertificate {
        pieces: certificate.pieces.iter().map(piece_to_wire).collect(),
        contact: certificate.contact.as_ref().map(contact_to_wire),
    }
}

fn contact_to_wire(contact: &EdgeContactProof) -> api::StaticCertificate {
    match contact {
        EdgeContactProof::Polytopes { verdict, margin_pairs } => {
            proof_with_margin_to_wire(verdict, margin_pairs)
        }
        EdgeContactProof::Solids(proof) => solids::proof_to_wire(proof, &[]),
        EdgeContactProof::Near(pairs) => {
            let solid = api::SolidProof { proof: None, margin_pairs: pairs_to_wire(pairs) };
            api::StaticCertificate { proof: Some(Proof::Solid(solid)) }
        }
        EdgeContactProof::Rounded(proof) => solids::rounded_to_wire(proof, &[]),
    }
}

fn contact(path: &Path<'_>, wire: &api::StaticCertificate) -> Result<EdgeContactProof, Failure> {
    let solid = match &wire.proof {
        Some(Proof::Solid(solid)) => solid,
        Some(Proof::Rounded(wire)) => {
            let path = path.field("rounded");
            let proof = solids::rounded(&path, wire)?;
            let proof = proof.ok_or_else(|| path.bad("must be about bodies in contact"))?;
            return Ok(EdgeContactProof::Rounded(proof));
        }
        None | Some(_) => {
            let verdict = proof(path, Some(wire))?;
            let margin_pairs = margin_pairs(path, Some(wire))?;
            return Ok(EdgeContactProof::Polytopes { verdict, margin_pairs });
        }
    };
    let at = path;
    let path = path.field("solid");
    Ok(match solid.proof {
        Some(_) => EdgeContactProof::Solids(solids::proof(&path, solid)?),
        None => EdgeContactProof::Near(margin_pairs(at, Some(wire))?),
    })
}

fn piece_to_wire(piece: &EdgePiece) -> api::EdgePiece {
    let gaps = || piece.gaps.iter();
    api::EdgePiece {
        end: piece.end,
        speeds: piece.speeds.clone(),
        firsts: gaps().map(|gap| gap.pair[0]).collect(),
        seconds: gaps().map(|gap| gap.pair[1]).collect(),
        directions: gaps().flat_map(|gap| direction_to_wire(&gap.shown)).collect(),
        gaps: gaps().map(|gap| gap.gap).collect(),
        closings: gaps().map(|gap| gap.closing).collect(),
        covers: gaps().filter_map(|gap| cover_of(&gap.shown)).map(solids::cover_to_wire).collect(),
    }
}

/// Zero where a cover stands for it.
fn direction_to_wire(shown: &GapProof) -> [f64; 3] {
    match shown {
        GapProof::Along(direction) => (*direction).into(),
        GapProof::Cover(_) => [0.0; 3],
    }
}

fn cover_of(shown: &GapProof) -> Option<&Cover> {
    match shown {
        GapProof::Along(_) => None,
        GapProof::Cover(cover) => Some(cover),
    }
}

/// A certificate, from the wire.
pub fn edge_certificate(
    path: &Path<'_>,
    wire: &api::EdgeCertificate,
) -> Result<EdgeCertificate, Failure> {
    let list = path.field("pieces");
    let pieces = wire.pieces.iter().enumerate();
    let pieces = pieces.map(|(index, wire)| piece(&list.index(index), wire));
    let at = path.field("contact");
    let contact = wire.contact.as_ref().map(|wire| contact(&at, wire));
    Ok(EdgeCertificate {
        pieces: pieces.collect::<Result<_, Failure>>()?,
        contact: contact.transpose()?,
    })
}

fn piece(path: &Path<'_>, wire: &api::EdgePiece) -> Result<EdgePiece, Failure> {
    let count = wire.firsts.len();
    for (name, length) in [
        ("seconds", wire.seconds.len()),
        ("gaps", wire.gaps.len()),
        ("closings", wire.closings.len()),
    ] {
        if length != count {
            return Err(path.field(name).bad("must have as many entries as firsts").into());
        }
    }
    if wire.directions.len() != 3 * count {
        return Err(path.field("directions").bad("must have three numbers for each pair").into());
    }
    let list = path.field("covers");
    let mut covers = wire.covers.iter().enumerate();
    let mut gap = |k: usize| {
        let direction = Vec3::from_column_slice(&wire.directions[3 * k..3 * k + 3]);
        let next = if direction == Vec3::zeros() { covers.next() } else { None };
        let shown = match next {
            Some((index, wire)) => GapProof::Cover(solids::cover(&list.index(index), wire)?),
            None => GapProof::Along(direction),
        };
        let pair = [wire.firsts[k], wire.seconds[k]];
        Ok(PairGap { pair, shown, gap: wire.gaps[k], closing: wire.closings[k] })
    };
    let gaps = (0..count).map(&mut gap).collect::<Result<_, Failure>>()?;
    if covers.next().is_some() {
        return Err(list.bad("has more entries than directions that are zero").into());
    }
    Ok(EdgePiece { end: wire.end, speeds: wire.speeds.clone(), gaps })
}
