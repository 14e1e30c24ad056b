//! Points of the things that stand around in the cell.

use std::f64::consts::{PI, TAU};

use crate::geometry::Vec3;

/// The corners of a box with these edges, around its centre.
pub(super) fn cuboid(x: f64, y: f64, z: f64) -> Vec<Vec3> {
    let mut corners = Vec::with_capacity(8);
    for sx in [-0.5, 0.5] {
        for sy in [-0.5, 0.5] {
            for sz in [-0.5, 0.5] {
                corners.push(Vec3::new(sx * x, sy * y, sz * z));
            }
        }
    }
    corners
}

/// A body of revolution about z: rings of `count` points at each `(radius, height)`.
pub(super) fn turned(profile: &[(f64, f64)], count: u32) -> Vec<Vec3> {
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
pub(super) fn ball(radius: f64, count: u32) -> Vec<Vec3> {
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
pub(super) fn pebble(axes: [f64; 3], count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = SplitMix(seed);
    let mut points = Vec::with_capacity(count);
    while points.len() < count {
        let p = Vec3::from([(); 3].map(|()| 2.0 * random.next() - 1.0));
        let length = p.norm();
        if (0.2..=1.0).contains(&length) {
            let bump = 0.5 * (0.92 + 0.08 * random.next());
            points.push((p / length * bump).component_mul(&Vec3::from(axes)));
        }
    }
    points
}

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
struct SplitMix(u64);

impl SplitMix {
    /// In [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }
}
