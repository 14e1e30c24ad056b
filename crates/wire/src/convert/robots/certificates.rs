//! Certificates of edges, to the wire and back.

use crate::convert::certificate::{margin_pairs, proof, proof_with_margin_to_wire};
use crate::convert::geometry::{pairs_to_wire, points, points_to_wire};
use crate::convert::solids;
use crate::path::Path;
use crate::status::Failure;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Cover;
use clearance_proto as api;
use clearance_proto::static_certificate::Proof;
use clearance_robot::claim::{
    EdgeCertificate, EdgeContactProof, EdgePiece, GapProof, HullAround, PairGap,
};

/// A certificate, to the wire.
pub fn edge_certificate_to_wire(certificate: &EdgeCertificate) -> api::EdgeCertificate {
    let [first_inside, second_inside] = certificate
        .inside
        .each_ref()
        .map(|points| (!points.is_empty()).then(|| points_to_wire(points)));
    api::EdgeCertificate {
        pieces: certificate.pieces.iter().map(piece_to_wire).collect(),
        contact: certificate.contact.as_ref().map(contact_to_wire),
        hulls: certificate.hulls.iter().map(hull_to_wire).collect(),
        first_inside,
        second_inside,
    }
}

fn hull_to_wire(hull: &HullAround) -> api::HullAround {
    api::HullAround {
        body: hull.body,
        outer: Some(points_to_wire(&hull.points)),
        outer_triangles: hull.triangles.as_flattened().to_vec(),
    }
}

fn hull(path: &Path<'_>, wire: &api::HullAround) -> Result<HullAround, Failure> {
    let outer = wire.outer.as_ref().ok_or_else(|| path.field("outer").bad("is required"))?;
    let points = points(&path.field("outer"), outer)?;
    let (triangles, rest) = wire.outer_triangles.as_chunks::<3>();
    if !rest.is_empty() {
        let path = path.field("outer_triangles");
        return Err(path.bad("must have three indices for each triangle").into());
    }
    Ok(HullAround { body: wire.body, points, triangles: triangles.to_vec() })
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
        first_hulls: hulls_to_wire(piece, 0),
        second_hulls: hulls_to_wire(piece, 1),
    }
}

/// What stands in the places of the first or of the second bodies of all gaps; empty where nothing
/// does in any place.
fn hulls_to_wire(piece: &EdgePiece, k: usize) -> Vec<u32> {
    if piece.gaps.iter().all(|gap| gap.hulls == [None; 2]) {
        return Vec::new();
    }
    let named = |gap: &PairGap| gap.hulls[k].map_or(0, |hull| hull.saturating_add(1));
    piece.gaps.iter().map(named).collect()
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
    let list = path.field("hulls");
    let hulls = wire.hulls.iter().enumerate();
    let hulls = hulls.map(|(index, wire)| hull(&list.index(index), wire));
    let inside = |name, wire: &Option<api::Points>| {
        let wire = wire.as_ref();
        let read = wire.map(|wire| points(&path.field(name), wire)).transpose()?;
        Ok::<_, Failure>(read.unwrap_or_default())
    };
    let first = inside("first_inside", &wire.first_inside);
    let second = inside("second_inside", &wire.second_inside);
    Ok(EdgeCertificate {
        pieces: pieces.collect::<Result<_, Failure>>()?,
        contact: contact.transpose()?,
        inside: [first?, second?],
        hulls: hulls.collect::<Result<_, Failure>>()?,
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
    for (name, named) in [("first_hulls", &wire.first_hulls), ("second_hulls", &wire.second_hulls)]
    {
        if !named.is_empty() && named.len() != count {
            return Err(path.field(name).bad("must be empty or as many as firsts").into());
        }
    }
    let hull_of = |named: &[u32], k: usize| named.get(k).and_then(|hull| hull.checked_sub(1));
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
        let hulls = [&wire.first_hulls, &wire.second_hulls].map(|named| hull_of(named, k));
        Ok(PairGap { pair, hulls, shown, gap: wire.gaps[k], closing: wire.closings[k] })
    };
    let gaps = (0..count).map(&mut gap).collect::<Result<_, Failure>>()?;
    if covers.next().is_some() {
        return Err(list.bad("has more entries than directions that are zero").into());
    }
    Ok(EdgePiece { end: wire.end, speeds: wire.speeds.clone(), gaps })
}
