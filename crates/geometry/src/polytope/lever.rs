//! How much a turn can change how far a body reaches along a direction.
//!
//! While a body turns by θ about its centre c, how far it reaches along a direction changes by at
//! most `θ |(v - c) x n|`, for the vertex v that is the supporting one and the direction n as the
//! body sees it, which is a normal of the body at v. Of all these normals, those of the facets
//! around v have the longest product, since `(v - c)·n`, where it is positive at all of them, is
//! least at one of them. The largest of all these lengths is the *lever*: the distance of a facet's
//! corner from the foot of the centre on the facet. It is far less than the radius for bodies that
//! are nearly round.

use crate::Vec3;
use crate::number::rounding::{FACET_NARROW, LEVER_SLACK};
use crate::shape::Shape;

/// For bodies that are not solid, whose facets are too narrow to tell, or that do not have their
/// centre inside, it is the radius.
pub(super) fn lever_of(shape: &Shape) -> f64 {
    let bounds = shape.bounds();
    let centre = bounds.centre;
    let mut lever: f64 = 0.0;
    for facet in 0..shape.facets().len() {
        let of_facet = shape.facets().row(facet as u32);
        let found = lever_of_facet(shape, of_facet, &centre);
        let Some(found) = found.filter(|_| shape.dimension() == 3) else {
            return bounds.radius;
        };
        lever = lever.max(found);
    }
    let lever = (lever + LEVER_SLACK * bounds.radius) * (1.0 + LEVER_SLACK);
    if lever > 0.0 { lever.min(bounds.radius) } else { bounds.radius }
}

/// The largest distance of its corners from the foot of the centre on the facet.
fn lever_of_facet(shape: &Shape, corners: &[u32], centre: &Vec3) -> Option<f64> {
    let [a, b, c] = *corners.first_chunk::<3>()?;
    let [a, b, c] = [a, b, c].map(|vertex| *shape.vertex(vertex));
    let (u, v) = (b - a, c - a);
    let normal = u.cross(&v);
    let size = normal.norm();
    let is_plain = size > FACET_NARROW * u.norm() * v.norm();
    let normal = normal / size;
    let mut farthest: f64 = 0.0;
    for &vertex in corners {
        let arm = shape.vertex(vertex) - centre;
        let is_outside = arm.dot(&normal) > 0.0;
        if !is_plain || !is_outside {
            return None;
        }
        farthest = farthest.max(arm.cross(&normal).norm());
    }
    Some(farthest)
}
