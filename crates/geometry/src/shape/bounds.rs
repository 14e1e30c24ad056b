//! How far a shape reaches: boxes, balls and ellipsoids around it, rounded outwards.

use crate::Vec3;

/// Rounded measures of a polytope in its own frame; every bound is outward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Corner of the bounding box (exact: coordinates of vertices).
    pub low: Vec3,
    /// The opposite corner.
    pub high: Vec3,
    /// Largest absolute coordinate, per axis.
    pub reach: Vec3,
    /// The sum of that, rounded.
    pub span: f64,
    /// A point of the polytope up to rounding: the centre of mass of bodies like ellipsoids, the
    /// mean of the vertices of others.
    pub centre: Vec3,
    /// At least the distance from `centre` to every vertex.
    pub radius: f64,
    /// The radius of a ball around the body frame's origin that holds the body, rounded up.
    pub radius_at_origin: f64,
    /// Those of an ellipsoid around `centre`, with its axes along the frame's, that holds every
    /// vertex; infinite where f64 gives out.
    pub semi_axes: Vec3,
    /// About the radius of the largest ball around `centre` in the polytope: to search by, not to
    /// prove by.
    pub inner_radius: f64,
    /// Whether the box reaches less far than the ellipsoid in the mean of directions, roughly.
    pub is_boxy: bool,
    /// Whether it fills most of the ellipsoid.
    pub is_ellipsoidal: bool,
}

impl Bounds {
    /// How far the ellipsoid reaches along `g` from the centre, rounded; times the length of `g`.
    #[inline]
    pub fn ellipsoid_along(&self, g: &Vec3) -> f64 {
        g.component_mul(&self.semi_axes).norm()
    }

    /// How far the bounding box reaches along `g` from the centre, rounded; times the length of
    /// `g`.
    #[inline]
    pub fn box_along(&self, g: &Vec3) -> f64 {
        let (up, down) = (self.high - self.centre, self.low - self.centre);
        let farther = |k: usize| {
            let (a, b) = (g[k] * up[k], g[k] * down[k]);
            if a > b { a } else { b }
        };
        (farther(0) + farther(1)) + farther(2)
    }
}
