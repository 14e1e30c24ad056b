//! Convex polytopes: the hulls of points, in every dimension.

use std::sync::Arc;

use super::{Figures, KindNames, Outline, count};
use crate::digest::{DIGEST_BYTES, begun};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{HullError, building_bytes_max, convex_hull_with};
use clearance_geometry::polytope::{Polytope, Tables};
use clearance_geometry::shape::Shape;

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "polytope", prefix: "p1-", tag: b"clearance polytope 1\n" };

/// The digest of its vertices in their canonical order. They are the exact extreme points without
/// duplicates, sorted, `-0` as `+0`; so two sets of points have the same digest just when they have
/// the same hull (short of a collision of BLAKE3).
pub(crate) fn digest(shape: &Shape) -> [u8; DIGEST_BYTES] {
    *begun(NAMES.tag, shape.vertices()).finalize().as_bytes()
}

pub(crate) fn outline(polytope: &Polytope) -> Outline {
    let bounds = polytope.bounds();
    Outline {
        vertex_count: polytope.vertex_count(),
        face_count: count(polytope.facets().len()),
        dimension: polytope.dimension(),
        volume: polytope.volume(),
        bounds: [bounds.low, bounds.high],
        shell_count: 0,
    }
}

pub(crate) fn figures(polytope: &Polytope, effort: &Effort<'_>) -> Result<Figures, Stopped> {
    let degrees: usize =
        (0..polytope.vertex_count()).map(|vertex| polytope.neighbours(vertex).len()).sum();
    let hierarchy = polytope.hierarchy_report(effort)?;
    Ok(Figures { edge_count: count(degrees / 2), hierarchy })
}

/// The hull of points, with what nearly every question needs of it.
pub(crate) fn of_points(
    points: &[Vec3],
    effort: &mut Effort<'_>,
) -> Result<Arc<Polytope>, HullError> {
    let polytope = convex_hull_with(points, effort)?.polytope;
    polytope.prepare_reach(effort)?;
    Ok(Arc::new(polytope))
}

/// What it takes to build the hull of so many points, to find out what else is told of it, and to
/// build these tables of it, bytes at most.
pub(crate) fn bytes_of_points(points: usize, tables: Tables) -> u64 {
    let tables = (tables.bytes_per_vertex() as u64).saturating_mul(points as u64);
    building_bytes_max(points).saturating_add(tables)
}

/// The triangles that a polytope without volume is the union of; those of a point and of a segment
/// name vertices twice. None of one that has a volume.
pub(crate) fn triangles_of_flat(polytope: &Polytope) -> Option<Vec<[u32; 3]>> {
    match polytope.dimension() {
        0 => Some(vec![[0; 3]]),
        1 => Some(vec![[0, 0, 1]]),
        2 => {
            let ring = polytope.facets().rows().next()?;
            let [first, rest @ ..] = ring else { return None };
            Some(rest.array_windows().map(|[b, c]| [*first, *b, *c]).collect())
        }
        _ => None,
    }
}

/// The triangles that its facets are made of.
pub(crate) fn boundary(polytope: &Polytope) -> Vec<[u32; 3]> {
    let fan = |corners: &[u32]| -> Vec<[u32; 3]> {
        let [first, rest @ ..] = corners else { return Vec::new() };
        rest.array_windows().map(|[b, c]| [*first, *b, *c]).collect()
    };
    polytope.facets().rows().flat_map(fan).collect()
}
