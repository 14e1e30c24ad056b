//! Polytopes around cylinders, never smaller than them, and how far they stand out.

use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::UNIT;
use clearance_geometry::number::trig::RoundedTrig;

/// By how much more than computed a polytope is blown up, relative to its size: covers the rounding
/// of its vertices, which is a dozen units in the last place.
const BLOWN_UP: f64 = 64.0 * UNIT;
/// How fine a circle can be.
const SIDES_MAX: u32 = 256;
/// How fine a circle is when nobody asks: it stands out by half a percent of the radius.
const SIDES_DEFAULT: u32 = 32;
/// The fewest sides that are taken.
const SIDES_MIN: u32 = 8;

/// A polytope around a shape.
#[derive(Clone, Debug)]
pub struct Around {
    /// The corners of the polytope.
    pub points: Vec<Vec3>,
    /// No point of the polytope is farther from the shape than this, metres.
    pub gap: f64,
}

/// Around a cylinder along z at the origin.
pub fn cylinder(radius: f64, length: f64, gap_max: Option<f64>) -> Around {
    let (circle, gap) = circle(radius, gap_max);
    let half = 0.5 * length;
    let ends = [-half, half];
    let corner = |z: f64| circle.iter().map(move |[x, y]| Vec3::new(*x, *y, z));
    Around { points: ends.into_iter().flat_map(corner).collect(), gap }
}

/// A polygon around a circle, and how far its corners stand out.
fn circle(radius: f64, gap_max: Option<f64>) -> (Vec<[f64; 2]>, f64) {
    let mut sides = if gap_max.is_some() { SIDES_MIN } else { SIDES_DEFAULT };
    loop {
        let angle = std::f64::consts::TAU / f64::from(sides);
        let half = trig(0.5 * angle);
        let outer = radius / half[0] * (1.0 + BLOWN_UP);
        let gap = outer * (1.0 + BLOWN_UP) - radius;
        if sides == SIDES_MAX || gap_max.is_none_or(|most| gap <= most) {
            let corner = |k: u32| trig(angle * f64::from(k)).map(|c| c * outer);
            return ((0..sides).map(corner).collect(), gap);
        }
        sides *= 2;
    }
}

/// Cosine and sine of a small angle.
fn trig(angle: f64) -> [f64; 2] {
    let trig = RoundedTrig::of_product(angle, 1.0).expect("of a full turn at most");
    [1.0 - trig.versine, trig.sine]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull;
    use clearance_geometry::polytope::Polytope;

    fn hull_of(points: &[Vec3]) -> Polytope {
        hull::convex_hull(points).expect("finite points").polytope
    }

    /// The radius of a ball around a point that lies in a solid polytope, rounded down: the least
    /// distance from the point to the plane of a facet; 0 if the point may be outside or the
    /// polytope is flat.
    ///
    /// A normal is the cross product n of two rounded edges and errs by `8u |e| |f|` at most, which
    /// moves the distance by that part of the way to the plane's corner; the product and the
    /// quotient round by a few u more.
    fn inner_radius(polytope: &Polytope, point: &Vec3) -> f64 {
        if polytope.dimension() < 3 {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for facet in polytope.facets().rows() {
            let start = polytope.vertex(facet[0]);
            let (mut normal, mut sizes) = (Vec3::zeros(), 0.0);
            for two in facet[1..].windows(2) {
                let [e, f] = [two[0], two[1]].map(|index| polytope.vertex(index) - start);
                let cross = e.cross(&f);
                if cross.norm_squared() > normal.norm_squared() {
                    (normal, sizes) = (cross, e.norm() * f.norm());
                }
            }
            let way = start - point;
            let length = normal.norm();
            // A facet of subnormal size has no normal: nothing is known, and NaN fails the test.
            let doubt = (8.0 * sizes / length + 16.0) * UNIT * way.norm();
            let distance = normal.dot(&way) / length - 2.0 * doubt;
            least = if distance > 0.0 { least.min(distance) } else { 0.0 };
        }
        least
    }

    #[test]
    fn cylinders_lie_in_their_polytopes_which_stand_out_by_no_more_than_the_gap() {
        for gap_max in [None, Some(0.02), Some(1e-3)] {
            let tube = cylinder(0.2, 1.0, gap_max);
            let hull = hull_of(&tube.points);
            let inner = inner_radius(&hull, &Vec3::zeros());
            assert!(inner >= 0.2 * (1.0 - 1e-12), "{inner}");
            assert!(tube.gap <= gap_max.unwrap_or(0.001), "{}", tube.gap);
            assert!(tube.points.iter().all(|p| p.xy().norm() <= 0.2 + tube.gap));
        }
    }

    #[test]
    fn the_inner_ball_of_a_box_touches_its_nearest_side_and_a_point_outside_has_none() {
        let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
        let cube = hull_of(&(0..8).map(corner).collect::<Vec<_>>());
        let radius = inner_radius(&cube, &Vec3::new(0.25, 0.5, 0.5));
        assert!(radius <= 0.25 && radius > 0.25 - 1e-14, "{radius}");
        assert_eq!(inner_radius(&cube, &Vec3::new(-0.25, 0.5, 0.5)).to_bits(), 0);
    }
}
