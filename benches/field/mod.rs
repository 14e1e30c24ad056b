//! What the scenes of the benches are made of: 20 hulls of 30 to 150 vertices, as dense as that
//! each body has about two close neighbours.

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::{Random, polytope_of};
use clearance_geometry::polytope::Polytope;

/// The shapes of the bodies, which take them in turn.
pub(crate) fn hulls(random: &mut Random) -> Vec<Arc<Polytope>> {
    let hull = |_| {
        let count = 30 + random.below(121);
        let scale = Vec3::from_fn(|_, _| random.between(0.6, 1.0));
        let points: Vec<Vec3> =
            (0..count).map(|_| random.direction().component_mul(&scale)).collect();
        Arc::new(polytope_of(&points))
    };
    (0..20).map(hull).collect()
}

/// The side of the cube that so many bodies are in.
pub(crate) fn side(bodies: u32) -> f64 {
    let volume = f64::from(bodies) * (4.0 / 3.0 * std::f64::consts::PI * 1.7_f64.powi(3));
    (volume / 2.0).cbrt()
}
