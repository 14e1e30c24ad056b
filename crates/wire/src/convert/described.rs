//! The description of a registered body, for the wire.

use std::sync::Arc;

use super::geometry;
use clearance_bodies::kinds::Figures;
use clearance_bodies::{Body, ContentId};
use clearance_proto as api;
use clearance_runtime::store::{PolytopeStore, Stored};

/// The description of a registered body.
pub fn describe(stored: &Arc<Stored>, store: &PolytopeStore) -> api::Polytope {
    describe_new(stored, store.aliases(&stored.id))
}

/// The description of a body with these aliases.
pub fn describe_new(stored: &Stored, aliases: Vec<String>) -> api::Polytope {
    api::Polytope {
        aliases,
        memory_bytes: stored.bytes_now(),
        use_count: stored.uses(),
        ..describe_part(&stored.body, &stored.id, stored.figures)
    }
}

/// The description of a body that is not registered by itself.
pub fn describe_part(body: &Body, id: &ContentId, figures: Figures) -> api::Polytope {
    let outline = body.outline();
    let [low, high] = outline.bounds.map(|corner| Some(geometry::vector_to_wire(&corner)));
    let Figures { edge_count, hierarchy } = figures;
    api::Polytope {
        id: id.to_string(),
        vertex_count: outline.vertex_count,
        edge_count,
        face_count: outline.face_count,
        dimension: u32::from(outline.dimension),
        volume: outline.volume,
        bounds_low: low,
        bounds_high: high,
        hierarchy_height: u32::try_from(hierarchy.height).unwrap_or(u32::MAX),
        hierarchy_size: hierarchy.size as u64,
        shell_count: outline.shell_count,
        radius: body.radius(),
        ..api::Polytope::default()
    }
}
