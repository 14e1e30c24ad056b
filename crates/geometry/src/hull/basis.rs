//! The affine dimension of a point set, by an affinely independent subset.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::number::orientation::{Plane, Side, are_collinear, side_of_plane};

/// Indices of `dimension + 1` affinely independent points, the first of them 0. The points are
/// distinct and there is at least one.
///
/// Far-apart points are preferred, which makes what is built on them well-conditioned, but only the
/// exact predicates decide.
pub(super) fn affine_basis(points: &[Vec3]) -> ArrayVec<u32, 4> {
    let mut basis = ArrayVec::new();
    basis.push(0);
    let a = &points[0];
    let Some(second) = best(points, |p| (p - a).amax(), |p| p != a) else { return basis };
    basis.push(second);
    let b = &points[second as usize];
    let along = b - a;
    let from_line = |p: &Vec3| along.cross(&(p - a)).amax();
    let Some(third) = best(points, from_line, |p| !are_collinear(a, b, p)) else { return basis };
    basis.push(third);
    let c = &points[third as usize];
    let plane = Plane::through(a, b, c);
    let off_plane = |p: &Vec3| plane.value(p).0.abs();
    let is_off = |p: &Vec3| side_of_plane(a, b, c, p) != Side::On;
    basis.extend(best(points, off_plane, is_off));
    basis
}

/// The point with the largest (rounded) value if it qualifies, else the first that qualifies.
fn best(
    points: &[Vec3],
    value: impl Fn(&Vec3) -> f64,
    qualifies: impl Fn(&Vec3) -> bool,
) -> Option<u32> {
    let mut largest = (0, f64::NEG_INFINITY);
    for (index, point) in points.iter().enumerate() {
        let value = value(point);
        if value > largest.1 {
            largest = (index, value);
        }
    }
    let index = if qualifies(&points[largest.0]) {
        largest.0
    } else {
        points.iter().position(qualifies)?
    };
    Some(u32::try_from(index).expect("limited at the door"))
}
