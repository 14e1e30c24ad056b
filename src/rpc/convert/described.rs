//! The description of a registered polytope or polyhedron, for the wire.

use std::sync::Arc;

use super::geometry;
use crate::runtime::store::{PolytopeStore, Stored, StoredSolid};
use clearance_geometry::polyhedron::Polyhedron;
use clearance_geometry::polytope::Polytope;
use clearance_proto as api;

/// The description of a registered polytope.
pub fn describe(stored: &Arc<Stored>, store: &PolytopeStore) -> api::Polytope {
    describe_new(stored, store.aliases(&stored.id))
}

/// The description of a polytope with these aliases.
pub fn describe_new(stored: &Stored, aliases: Vec<String>) -> api::Polytope {
    let described = match &stored.solid {
        StoredSolid::Polytope(polytope) => describe_polytope(polytope),
        StoredSolid::Polyhedron { polyhedron, .. } => describe_polyhedron(polyhedron),
    };
    api::Polytope {
        id: stored.id.to_string(),
        aliases,
        edge_count: stored.edge_count,
        hierarchy_height: count(stored.hierarchy.height),
        hierarchy_size: stored.hierarchy.size as u64,
        memory_bytes: stored.bytes_now(),
        use_count: stored.uses(),
        ..described
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn describe_polytope(polytope: &Polytope) -> api::Polytope {
    let bounds = polytope.bounds();
    api::Polytope {
        vertex_count: polytope.vertex_count(),
        face_count: count(polytope.facets().len()),
        dimension: u32::from(polytope.dimension()),
        volume: polytope.volume(),
        bounds_low: Some(geometry::vector_to_wire(&bounds.low)),
        bounds_high: Some(geometry::vector_to_wire(&bounds.high)),
        ..Default::default()
    }
}

fn describe_polyhedron(polyhedron: &Polyhedron) -> api::Polytope {
    let [low, high] = polyhedron.bounds();
    api::Polytope {
        vertex_count: count(polyhedron.vertices().len()),
        face_count: count(polyhedron.triangles().len()),
        dimension: 3,
        volume: polyhedron.volume(),
        bounds_low: Some(geometry::vector_to_wire(&low)),
        bounds_high: Some(geometry::vector_to_wire(&high)),
        shell_count: count(polyhedron.shell_count()),
        ..Default::default()
    }
}
