//! Points of the things that stand around in the cell.

use std::f64::consts::{PI, TAU};

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;

/// A body of revolution about z: rings of `count` points at each `(radius, height)`.
pub(crate) fn turned(profile: &[(f64, f64)], count: u32) -> Vec<Vec3> {
    let ring = |&(radius, height): &(f64, f64)| {
        let count = if radius > 0.0 { count } else { 1 };
        (0..count).map(move |k| {
            let angle = TAU * f64::from(k) / f64::from(count);
            Vec3::new(radius * angle.cos(), radius * angle.sin(), height)
        })
    };
    profile.iter().flat_map(ring).collect()
}

/// `count` points spread evenly over a sphere, on a spiral whose turns keep the golden angle
/// (Swinbank and Purser, "Fibonacci grids", QJRMS 2006).
pub(crate) fn ball(radius: f64, count: u32) -> Vec<Vec3> {
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    (0..count)
        .map(|k| {
            let z = 1.0 - f64::from(2 * k + 1) / f64::from(count);
            let ring = (1.0 - z * z).sqrt();
            let angle = f64::from(k) * golden;
            radius * Vec3::new(ring * angle.cos(), ring * angle.sin(), z)
        })
        .collect()
}

/// A pebble: `count` points near an ellipsoid of these axes, the same ones for the same seed.
pub(crate) fn pebble(axes: [f64; 3], count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    let mut points = Vec::with_capacity(count);
    while points.len() < count {
        let p = Vec3::from([(); 3].map(|()| 2.0 * random.unit() - 1.0));
        let length = p.norm();
        if (0.2..=1.0).contains(&length) {
            let bump = 0.5 * (0.92 + 0.08 * random.unit());
            points.push((p / length * bump).component_mul(&Vec3::from(axes)));
        }
    }
    points
}
