//! Certificates of edges, to the wire and back.

use crate::rpc::convert::certificate::{margin_pairs, proof, proof_with_margin_to_wire};
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use clearance_geometry::Vec3;
use clearance_proto as api;
use clearance_robot::claim::{EdgeCertificate, EdgeContactProof, EdgePiece, PairGap};

/// A certificate, to the wire.
pub fn edge_certificate_to_wire(certificate: &EdgeCertificate) -> api::EdgeCertificate {
    let contact = certificate.contact.as_ref();
    api::EdgeCertificate {
        pieces: certificate.pieces.iter().map(piece_to_wire).collect(),
        contact: contact.map(|at| proof_with_margin_to_wire(&at.verdict, &at.margin_pairs)),
    }
}

fn piece_to_wire(piece: &EdgePiece) -> api::EdgePiece {
    let gaps = || piece.gaps.iter();
    api::EdgePiece {
        end: piece.end,
        speeds: piece.speeds.clone(),
        firsts: gaps().map(|gap| gap.pair[0]).collect(),
        seconds: gaps().map(|gap| gap.pair[1]).collect(),
        directions: gaps().flat_map(|gap| <[f64; 3]>::from(gap.direction)).collect(),
        gaps: gaps().map(|gap| gap.gap).collect(),
        closings: gaps().map(|gap| gap.closing).collect(),
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
    let contact = wire.contact.as_ref().map(|_| {
        let verdict = proof(&at, wire.contact.as_ref())?;
        let margin_pairs = margin_pairs(&at, wire.contact.as_ref())?;
        Ok::<_, Failure>(EdgeContactProof { verdict, margin_pairs })
    });
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
    let gap = |k: usize| PairGap {
        pair: [wire.firsts[k], wire.seconds[k]],
        direction: Vec3::from_column_slice(&wire.directions[3 * k..3 * k + 3]),
        gap: wire.gaps[k],
        closing: wire.closings[k],
    };
    let gaps = (0..count).map(gap).collect();
    Ok(EdgePiece { end: wire.end, speeds: wire.speeds.clone(), gaps })
}
