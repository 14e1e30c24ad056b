//! Certificates of the geometry's answers about distances and depths, for the wire. All others, and
//! the way back, are in `clearance_certificates`.

pub use clearance_certificates::certificate::*;

use super::geometry::{direction_to_wire, pairs_to_wire};
use clearance_geometry::distance::Distance;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::penetration::Depth;
use clearance_proto as api;

/// The proof of a distance, and what shows how it compares with a margin.
pub fn distance_to_wire(
    distance: &Distance,
    margin_pairs: &[VertexPair],
) -> api::DistanceCertificate {
    api::DistanceCertificate {
        verdict: Some(proof_with_margin_to_wire(&distance.decision.proof, margin_pairs)),
        pairs: pairs_to_wire(&distance.pairs),
        parts: Vec::new(),
    }
}

/// The proof of a depth.
pub fn depth_to_wire(depth: &Depth) -> api::PenetrationCertificate {
    api::PenetrationCertificate {
        verdict: Some(proof_to_wire(&depth.decision.proof)),
        face: depth.face.as_ref().map(direction_to_wire),
        surface: depth.surface.as_ref().map(surface_to_wire),
        parts: Vec::new(),
    }
}
