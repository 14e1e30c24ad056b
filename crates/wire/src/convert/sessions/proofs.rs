//! What a scene proves of two parts, for the wire.

use crate::convert::certificate::{convex_proof_to_wire, link_to_wire, surface_to_wire};
use crate::convert::geometry::{direction_to_wire, pairs_to_wire};
use crate::convert::proofs::stand_to_wire;
use crate::convert::solids;
use clearance_geometry::pair::VertexPair;
use clearance_proto as api;
use clearance_scene::{PartChain, PartsContact, PartsDepth, PartsDistance, PartsProof};

/// The proof of how two parts stand and, of separated ones, the pairs that show what is said of a
/// margin; none where polyhedra have none.
pub fn proof_to_wire(
    proof: &PartsProof,
    margin_pairs: &[VertexPair],
) -> Option<api::StaticCertificate> {
    match proof {
        PartsProof::Convex(proof) => Some(convex_proof_to_wire(proof, margin_pairs)),
        PartsProof::Faces(stand) => {
            let proof = stand.proof.as_ref();
            proof.map(|proof| stand_to_wire(proof, margin_pairs))
        }
    }
}

/// The proof of a distance.
pub fn distance_to_wire(distance: &PartsDistance) -> Option<api::DistanceCertificate> {
    let pairs = pairs_to_wire(&distance.pairs);
    let verdict = Some(proof_to_wire(&distance.proof, &[])?);
    Some(api::DistanceCertificate { verdict, pairs, parts: Vec::new() })
}

/// The proof of a depth; parts that are not both convex have none.
pub fn depth_to_wire(depth: &PartsDepth) -> Option<api::PenetrationCertificate> {
    Some(api::PenetrationCertificate {
        verdict: Some(proof_to_wire(&depth.proof, &[])?),
        face: depth.face.as_ref().map(direction_to_wire),
        surface: depth.surface.as_ref().map(surface_to_wire),
        parts: Vec::new(),
    })
}

/// The proof of a first contact.
pub fn contact_to_wire(contact: &PartsContact) -> Option<api::MotionCertificate> {
    let PartsContact { initial, faces, start, links, pairs, .. } = contact.clone();
    motion_to_wire(&PartChain { parts: None, initial: Some(initial), faces, start, links, pairs })
}

/// How two parts stand at t = 0, what shows that they are farther apart than a margin then, and
/// what is proven later; none where polyhedra have no proof.
pub fn motion_to_wire(chain: &PartChain) -> Option<api::MotionCertificate> {
    if let Some(faces) = &chain.faces {
        let start = faces.start.as_ref().map(|start| stand_to_wire(start, &[]));
        return Some(solids::motion_to_wire(&faces.proof, start));
    }
    let initial = match &chain.initial {
        Some(proof) => Some(proof_to_wire(proof, &chain.start)?),
        None => None,
    };
    Some(api::MotionCertificate {
        initial,
        chain: chain.links.iter().map(link_to_wire).collect(),
        contact_pairs: pairs_to_wire(&chain.pairs),
        ..Default::default()
    })
}
