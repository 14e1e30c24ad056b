//! The linear program's library of bodies (Akgunduz et al. 2005, §6, Fig. 7) and the oriented boxes
//! around them.
//!
//! The paper's twenty bodies have 4 to 264 vertices: those of at most 20 are I-COLLIDE's, the
//! larger ones are made by choosing line segments at random and revolving them, and the largest is
//! a sphere. Ours are made the same way, with hulls of random points in place of I-COLLIDE's.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::{Random, ellipsoid, polytope_of, sphere};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// Vertices of the small bodies.
const SMALL: [u32; 10] = [4, 5, 6, 8, 10, 12, 14, 16, 18, 20];
/// Rings of the revolved bodies, and vertices on each ring.
const REVOLVED: [[u32; 2]; 9] =
    [[3, 8], [4, 8], [5, 8], [6, 8], [6, 10], [8, 10], [10, 12], [12, 14], [12, 18]];
/// Vertices of the sphere.
const SPHERE: u32 = 264;

/// The whole library, from the fewest vertices to the most. Every body is one unit across, and the
/// mean of its vertices is its origin: the line between two origins is the linear program's u.
pub(super) fn bodies() -> Vec<Arc<Polytope>> {
    let mut random = Random::new(20);
    let mut bodies: Vec<Polytope> = Vec::new();
    for vertices in SMALL {
        let half_axes = Vec3::from_fn(|_, _| random.between(0.5, 1.0));
        bodies.push(unit_body(&ellipsoid(vertices, half_axes, u64::from(vertices))));
    }
    for [rings, around] in REVOLVED {
        bodies.push(unit_body(&revolved(rings, around, &mut random)));
    }
    bodies.push(unit_body(&sphere(SPHERE, 0.5)));
    bodies.into_iter().map(Arc::new).collect()
}

/// A random convex profile, revolved: rings on a superellipsoid of revolution.
fn revolved(rings: u32, around: u32, random: &mut Random) -> Vec<Vec3> {
    let power = random.between(0.5, 1.2);
    let height = random.between(0.5, 1.5);
    let bent = |x: f64| x.abs().powf(power).copysign(x);
    let mut points = Vec::new();
    for ring in 0..rings {
        let (radius, z) = (PI * (f64::from(ring) + 0.5) / f64::from(rings)).sin_cos();
        for k in 0..around {
            let (y, x) = (TAU * f64::from(k) / f64::from(around)).sin_cos();
            let radius = bent(radius);
            points.push(Vec3::new(radius * x, radius * y, height * bent(z)));
        }
    }
    points
}

/// The hull of these points, moved and scaled.
fn unit_body(points: &[Vec3]) -> Polytope {
    let hull = polytope_of(points);
    let vertices = hull.vertices();
    let mean = vertices.iter().fold(Vec3::zeros(), |sum, v| sum + v) / vertices.len() as f64;
    let radius = vertices.iter().map(|v| (v - mean).norm()).fold(0.0, f64::max);
    let moved: Vec<Vec3> = vertices.iter().map(|v| (v - mean) / (2.0 * radius)).collect();
    polytope_of(&moved)
}

/// A box that turns with its body: the bounding box in the body's own frame.
pub(super) struct OrientedBox {
    centre: Vec3,
    half: Vec3,
    /// From the body's frame to the world.
    pose: Pose,
}

impl OrientedBox {
    /// The box around a body at this pose.
    pub(super) fn around(body: &Polytope, pose: Pose) -> Self {
        let bounds = body.bounds();
        let centre = pose.apply_rounded(&((bounds.low + bounds.high) * 0.5));
        Self { centre, half: (bounds.high - bounds.low) * 0.5, pose }
    }

    /// Whether two boxes meet: none of the fifteen axes separates them (Gottschalk, Lin, Manocha,
    /// *OBBTree*, 1996, §5).
    pub(super) fn meets(&self, other: &Self) -> bool {
        let axis = |of: &Self, k: usize| -> Vec3 { of.pose.rotation.column(k).into_owned() };
        let reach = |of: &Self, s: &Vec3| -> f64 {
            (0..3).map(|k| (axis(of, k).dot(s) * of.half[k]).abs()).sum()
        };
        let between = other.centre - self.centre;
        let separates = |s: Vec3| between.dot(&s).abs() > reach(self, &s) + reach(other, &s);
        let faces = (0..3).any(|k| separates(axis(self, k)) || separates(axis(other, k)));
        let edges = || (0..9).any(|k| separates(axis(self, k / 3).cross(&axis(other, k % 3))));
        !faces && !edges()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_bodies_differ_and_are_one_unit_across() {
        let bodies = bodies();
        let counts: Vec<u32> = bodies.iter().map(|body| body.vertex_count()).collect();
        assert_eq!(counts.len(), 20);
        assert_eq!((counts[0], counts[19]), (4, 264));
        assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
        for body in &bodies {
            let farthest = body.vertices().iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!((farthest - 0.5).abs() < 1e-9);
        }
    }

    /// Two cubes side by side, one of them turned by 45 degrees: boxes along the world's axes meet
    /// long before these.
    #[test]
    fn boxes_turn_with_their_bodies() {
        let cube = polytope_of(&clearance_geometry::hull::samples::cuboid(1.0, 1.0, 1.0));
        let half = (PI / 8.0).sin_cos();
        let turned = |at: Vec3| {
            Pose::from_quaternion(at, [half.1, 0.0, 0.0, half.0]).expect("a unit quaternion")
        };
        let meet = |at: Vec3| {
            let still = OrientedBox::around(&cube, Pose::identity());
            still.meets(&OrientedBox::around(&cube, turned(at)))
        };
        let reach = 0.5 + 0.5 * 2.0_f64.sqrt();
        assert!(meet(Vec3::x() * (reach - 0.01)) && !meet(Vec3::x() * (reach + 0.01)));
        // Corner to edge, the turned one reaches half a unit only.
        let diagonal = Vec3::new(1.0, 1.0, 0.0).normalize();
        assert!(!meet(diagonal * (reach + 0.01)) && meet(diagonal * (reach - 0.01)));
    }
}
