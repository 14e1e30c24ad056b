//! The point of a small hull nearest the origin: of up to four corners of the difference body M.
//!
//! The nearest point of a triangle is computed along its normal, so that the direction stays good
//! when the distance goes to zero.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::contact_time::rotating::bounds::supports::MovingCorner;

/// Keeps the corners whose bits are set.
#[inline(always)]
pub(super) fn keep(corners: &mut ArrayVec<MovingCorner, 4>, bits: u32) {
    let mut kept = 0;
    for index in 0..corners.len() {
        if bits >> index & 1 == 1 {
            corners[kept] = corners[index];
            kept += 1;
        }
    }
    corners.truncate(kept);
}

/// The bits of all four corners: they hold the origin.
pub(super) const HELD: u32 = 0b1111;

/// The nearest point of the hull of up to four corners, and the corners that it is between as bits;
/// the last corner is taken to be one of them. `None` when the corners are too degenerate to say.
#[inline(always)]
pub(super) fn nearest_of(corners: &[MovingCorner]) -> Option<(Vec3, u32)> {
    let (last, rest) = corners.split_last()?;
    let (last_bit, last) = (1u32 << rest.len(), &last.at);
    let mut best = (*last, last_bit);
    let mut least = last.norm_squared();
    let mut offer = |point: Option<Vec3>, bits: u32| {
        if let Some(point) = point {
            let squared = point.norm_squared();
            if squared < least {
                (least, best) = (squared, (point, bits | last_bit));
            }
        }
        point.is_some()
    };
    // An edge of a triangle that has the origin's foot inside is no nearer than the triangle.
    let mut covered = 0;
    for (i, a) in rest.iter().enumerate() {
        for (k, b) in rest.iter().enumerate().skip(i + 1) {
            let bits = 1 << i | 1 << k;
            if offer(of_triangle(&a.at, &b.at, last), bits) {
                covered |= bits;
            }
        }
    }
    for (i, a) in rest.iter().enumerate() {
        if covered >> i & 1 == 0 {
            offer(of_segment(&a.at, last), 1 << i);
        }
    }
    if let [a, b, c] = rest
        && holds(&[a.at, b.at, c.at, *last])
    {
        return Some((Vec3::zeros(), HELD));
    }
    least.is_finite().then_some(best)
}

/// The origin's foot on the segment, if it is inside.
#[inline(always)]
fn of_segment(a: &Vec3, b: &Vec3) -> Option<Vec3> {
    let edge = b - a;
    let squared = edge.norm_squared();
    let along = -a.dot(&edge) / squared;
    (along > 0.0 && along < 1.0).then(|| {
        // Close to the origin the rounding of the foot tilts it along the edge, which costs gap at
        // the far end of the edge. So the part along the edge is taken out once.
        let foot = a + edge * along;
        foot - edge * (foot.dot(&edge) / squared)
    })
}

/// The origin's foot on the triangle, if it is inside.
#[inline(always)]
pub(super) fn of_triangle(a: &Vec3, b: &Vec3, c: &Vec3) -> Option<Vec3> {
    let normal = (b - a).cross(&(c - a));
    let inside = normal.dot(&a.cross(b)) > 0.0
        && normal.dot(&b.cross(c)) > 0.0
        && normal.dot(&c.cross(a)) > 0.0;
    inside.then(|| normal * (normal.dot(a) / normal.norm_squared()))
}

/// Whether the origin is inside the tetrahedron.
#[inline(always)]
fn holds(d: &[Vec3; 4]) -> bool {
    let (front, back) = (d[0].cross(&d[1]), d[2].cross(&d[3]));
    let faces = [d[1].dot(&back), -d[0].dot(&back), d[3].dot(&front), -d[2].dot(&front)];
    faces.iter().all(|f| *f > 0.0) || faces.iter().all(|f| *f < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::VertexPair;

    fn corners(points: &[[f64; 3]]) -> Vec<MovingCorner> {
        let corner =
            |p: &[f64; 3]| MovingCorner { at: Vec3::from(*p), pair: VertexPair::default() };
        points.iter().map(corner).collect()
    }

    #[test]
    fn the_nearest_point_of_a_small_hull_is_on_the_right_feature() {
        let triangle = [[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 2.0, 2.0]];
        let (face, used) = nearest_of(&corners(&triangle)).expect("not degenerate");
        assert!((face - Vec3::new(0.0, 0.0, 2.0)).norm() < 1e-15 && used == 0b111);
        let (edge, used) =
            nearest_of(&corners(&[[1.0, 1.0, -3.0], [1.0, 1.0, 5.0]])).expect("fine");
        assert!((edge - Vec3::new(1.0, 1.0, 0.0)).norm() < 1e-15 && used == 0b11);
        let held = [[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 2.0, 2.0], [0.0, 0.0, -1.0]];
        assert_eq!(nearest_of(&corners(&held)).expect("fine").1, HELD);
    }

    #[test]
    fn a_triangle_a_hair_away_still_gives_its_normal() {
        let h = 1e-14;
        let tilted = [[1.0, -1.0, h], [-1.0, -1.0, h], [0.0, 2.0, h]];
        let (face, _) = nearest_of(&corners(&tilted)).expect("not degenerate");
        let direction = face.normalize();
        assert!((direction - Vec3::z()).norm() < 1e-12, "{direction:?}");
    }
}
