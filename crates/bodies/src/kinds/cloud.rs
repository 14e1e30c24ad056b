//! Clouds: points with a ball of one radius around each of them, whose union the body is. To the
//! methods for triangles each point is a triangle whose corners are all there.

use std::sync::Arc;

use super::rounded::sum_above;
use super::{Figures, KindNames, Outline, count};
use crate::digest::{DIGEST_BYTES, begun};
use clearance_geometry::Vec3;
use clearance_geometry::hierarchy::HierarchyReport;
use clearance_geometry::polyhedron::TriangleSurface;
use clearance_geometry::polytope::Polytope;

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "cloud", prefix: "c1-", tag: b"clearance cloud 1\n" };

/// The points of a cloud with their hull, and the radius. What the hull with such balls around its
/// points is apart from, the cloud is apart from.
#[derive(Clone, Debug)]
pub struct HulledCloud {
    /// The points, as a surface of triangles without extent.
    pub points: Arc<TriangleSurface>,
    /// The hull of the points.
    pub hull: Arc<Polytope>,
    /// Metres, finite and not negative.
    pub radius: f64,
}

/// The digest of its points in their canonical order, then of the radius as a little-endian f64.
pub(crate) fn digest(body: &HulledCloud) -> [u8; DIGEST_BYTES] {
    let mut hasher = begun(NAMES.tag, body.points.vertices());
    // -0 is +0.
    hasher.update(&(body.radius + 0.0).to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// The volume of a cloud is not told.
pub(crate) fn outline(body: &HulledCloud) -> Outline {
    let [low, high]: [Vec3; 2] = body.points.bounds();
    let radius = body.radius;
    Outline {
        vertex_count: count(body.points.vertices().len()),
        face_count: 0,
        dimension: if radius > 0.0 { 3 } else { 0 },
        volume: 0.0,
        bounds: [low.map(|x| -sum_above(-x, radius)), high.map(|x| sum_above(x, radius))],
        shell_count: 0,
    }
}

pub(crate) fn figures() -> Figures {
    Figures { edge_count: 0, hierarchy: HierarchyReport::default() }
}

/// Memory that it takes with its hull, bytes.
pub(crate) fn bytes(body: &HulledCloud) -> u64 {
    (body.points.bytes() + body.hull.heap_bytes()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Kind};
    use clearance_geometry::hull::convex_hull;

    fn cloud(points: &[[f64; 3]], radius: f64) -> Body {
        let points: Vec<Vec3> = points.iter().map(|&point| Vec3::from(point)).collect();
        let surface = TriangleSurface::of_points(&points).unwrap();
        let hull = convex_hull(surface.vertices()).unwrap().polytope;
        Body::of_cloud(surface, hull, radius)
    }

    #[test]
    fn the_id_is_that_of_the_set_of_points_and_of_the_radius() {
        let id = cloud(&[[1., 0., 0.], [0., -0., 0.], [1., 0., 0.]], 0.5).id();
        let mut bytes = b"clearance cloud 1\n".to_vec();
        bytes.extend(2_u64.to_le_bytes());
        let numbers = [0., 0., 0., 1., 0., 0., 0.5_f64];
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        assert_eq!(id.digest(), blake3::hash(&bytes).as_bytes());
        assert!(id.to_string().starts_with("c1-"));
        assert_eq!((id.to_string().parse(), id.kind()), (Ok(id), Kind::Cloud));
        let points = [[0., 0., 0.], [1., 0., 0.]];
        assert_eq!(cloud(&points, 0.5).id(), id);
        assert_ne!(cloud(&points, 0.5_f64.next_up()).id(), id);
        assert_eq!(cloud(&points, 0.0).id(), cloud(&points, -0.0).id());
    }

    #[test]
    fn the_box_holds_all_balls_and_points_have_no_faces() {
        let body = cloud(&[[1., 2., 3.], [-1., 0., 0.], [0., 0., 0.]], 0.5);
        let told = body.outline();
        assert_eq!(told.bounds, [Vec3::new(-1.5, -0.5, -0.5), Vec3::new(1.5, 2.5, 3.5)]);
        assert_eq!((told.vertex_count, told.face_count, told.dimension), (3, 0, 3));
        assert_eq!((body.facets().count(), body.facet(0), body.boundary()), (0, None, vec![]));
        assert_eq!(cloud(&[[1., 2., 3.]], 0.0).outline().dimension, 0);
        assert!(body.bytes() > 3 * 24);
    }
}
