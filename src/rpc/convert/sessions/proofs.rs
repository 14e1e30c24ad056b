//! What a scene proves of two parts, for the wire.

use crate::rpc::convert::certificate::{convex_proof_to_wire, link_to_wire, surface_to_wire};
use crate::rpc::convert::geometry::{direction_to_wire, pairs_to_wire};
use clearance_geometry::claim::{ConvexProof, Link};
use clearance_geometry::pair::VertexPair;
use clearance_proto as api;
use clearance_scene::{PartsContact, PartsDepth, PartsDistance};

/// The proof of a distance.
pub fn distance_to_wire(distance: &PartsDistance) -> api::DistanceCertificate {
    let pairs = pairs_to_wire(&distance.pairs);
    let verdict = Some(convex_proof_to_wire(&distance.proof, &[]));
    api::DistanceCertificate { verdict, pairs, parts: Vec::new() }
}

/// The proof of a depth.
pub fn depth_to_wire(depth: &PartsDepth) -> api::PenetrationCertificate {
    api::PenetrationCertificate {
        verdict: Some(convex_proof_to_wire(&depth.proof, &[])),
        face: depth.face.as_ref().map(direction_to_wire),
        surface: depth.surface.as_ref().map(surface_to_wire),
        parts: Vec::new(),
    }
}

/// The proof of a first contact.
pub fn contact_to_wire(contact: &PartsContact) -> api::MotionCertificate {
    let PartsContact { initial, start, links, pairs, .. } = contact;
    motion_to_wire(Some(initial), start, links, pairs)
}

/// How two parts stand at t = 0, what shows that they are farther apart than a margin then, and
/// what is proven later.
pub fn motion_to_wire(
    initial: Option<&ConvexProof>,
    start: &[VertexPair],
    links: &[Link],
    pairs: &[VertexPair],
) -> api::MotionCertificate {
    api::MotionCertificate {
        initial: initial.map(|proof| convex_proof_to_wire(proof, start)),
        chain: links.iter().map(link_to_wire).collect(),
        contact_pairs: pairs_to_wire(pairs),
        ..Default::default()
    }
}
