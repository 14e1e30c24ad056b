//! Meshes that are nearly the surfaces of their hulls: of files in single precision, say, in which
//! the corners of one face are not quite in one plane.
//!
//! Let every triangle have a plane of which it is on the outer side, and beyond which the hull
//! stands out by ε at most. The inner sides of all these planes have a convex region in common,
//! which no triangle reaches into; if the mesh winds around a point inside it, then around all of
//! it. It holds every point that has a ball of radius ε in the hull around it. A corner v of the
//! hull with a ball of radius r in the hull, whose middle is m, has such a point as near as
//! `ε |m - v| / r`: between v and m, because the hull is convex. The distance from a convex region
//! is greatest at a corner, so the greatest of these bounds the distance of any point of the hull.

use super::facets::{HullFacets, Inner};
use super::surface::MeshSurface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::{BOUND_SLACK, OUTWARD, unit};

/// Corners times facets up to which every corner has a ball of its own.
const LOOKS_MAX: usize = 2_000_000;

/// Steps to the direction inwards that is least along the facets of a corner.
const STEPS_INWARD: u32 = 16;

/// At least how far the hull stands out of a closed mesh that winds around the middle of `deep`;
/// infinite where this way of looking at it says nothing. All in the frame.
pub(super) fn at_most(
    facets: &HullFacets<'_>,
    deep: &Inner,
    surface: &MeshSurface,
    effort: &mut Effort<'_>,
) -> Result<f64, Stopped> {
    let mut depth: f64 = 0.0;
    for triangle in surface.triangles() {
        effort.look_at_clock()?;
        depth = depth.max(facets.depth(triangle, effort) + BOUND_SLACK);
        if depth.is_nan() || depth >= deep.radius {
            return Ok(f64::INFINITY);
        }
    }
    let has_own_balls = facets.corners.len().saturating_mul(facets.planes.len()) <= LOOKS_MAX;
    let mut factor: f64 = 0.0;
    for (vertex, corner) in (0..).zip(facets.corners) {
        effort.look_at_clock()?;
        let of_deep = (deep.middle - corner).norm() / deep.radius;
        let own = has_own_balls.then(|| factor_of(facets, deep.radius, depth, vertex));
        factor = factor.max(own.map_or(of_deep, |own| own.min(of_deep)));
    }
    Ok(depth * factor * OUTWARD + BOUND_SLACK)
}

/// The least `|m - v| / r` of some balls near a corner.
fn factor_of(facets: &HullFacets<'_>, size: f64, depth: f64, vertex: u32) -> f64 {
    let corner = &facets.corners[vertex as usize];
    let normals = || facets.of_vertex(vertex).iter().map(|facet| facets.planes[*facet as usize].0);
    let sum: Vec3 = normals().sum();
    let Some(mut inward) = unit(&-sum) else { return f64::INFINITY };
    for step in 1..STEPS_INWARD {
        let worst = normals().max_by(|a, b| a.dot(&inward).total_cmp(&b.dot(&inward)));
        let moved = inward - worst.unwrap_or(inward) / f64::from(step + 1);
        inward = unit(&moved).unwrap_or(inward);
    }
    let mut least = f64::INFINITY;
    for share in [1.0, 0.25, 0.0625] {
        let (ball, _) = facets.ball(&(corner + inward * (size * share)));
        if ball.radius > depth {
            least = least.min((ball.middle - corner).norm() / ball.radius);
        }
    }
    least
}
