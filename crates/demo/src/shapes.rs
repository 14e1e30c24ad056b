//! Points of the things that stand around in the cell.

use std::f64::consts::{PI, TAU};

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::{Random, cuboid};

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

/// `count` points along a coil that stands on z = 0, of so many turns, each a little above the one
/// before.
pub(crate) fn coil(radius: f64, turns: f64, count: u32) -> Vec<Vec3> {
    let point = |k: u32| {
        let way = f64::from(k) / f64::from(count);
        let (sine, cosine) = (TAU * turns * way).sin_cos();
        Vec3::new(radius * cosine, radius * sine, 0.012 * turns * way)
    };
    (0..count).map(point).collect()
}

/// A box without a lid that stands on z = 0, with its middle on the z axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenBox {
    /// Its full sizes along x, y and z, metres.
    pub(crate) outer: [f64; 3],
    /// How thick its floor and its walls are, metres.
    pub(crate) wall: f64,
}

impl OpenBox {
    /// The closed mesh around it: points, and triangles whose corners go counterclockwise as seen
    /// from outside of what is solid.
    pub(crate) fn mesh(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let [x, y, z] = self.outer;
        let ring = |inset: f64, z: f64| {
            let (x, y) = (0.5 * x - inset, 0.5 * y - inset);
            [(-x, -y), (x, -y), (x, y), (-x, y)].map(|(x, y)| Vec3::new(x, y, z))
        };
        // Up along the outside, over the rim and down into the hollow.
        let wall = self.wall;
        let rings = [ring(0.0, 0.0), ring(0.0, z), ring(wall, z), ring(wall, wall)];
        let mut triangles = vec![[0, 3, 2], [0, 2, 1], [12, 13, 14], [12, 14, 15]];
        for first in [0, 4, 8] {
            for k in 0..4 {
                let (a, b) = (first + k, first + (k + 1) % 4);
                triangles.extend([[a, b, b + 4], [a, b + 4, a + 4]]);
            }
        }
        (rings.concat(), triangles)
    }

    /// The points of its floor and of its four walls, which overlap where they meet.
    pub(crate) fn pieces(&self) -> Vec<Vec<Vec3>> {
        let ([x, y, z], wall) = (self.outer, self.wall);
        let (along_x, along_y) = (0.5 * (x - wall), 0.5 * (y - wall));
        let piece = |sizes: [f64; 3], at: [f64; 3]| {
            let corners = cuboid(sizes[0], sizes[1], sizes[2]);
            corners.into_iter().map(|corner| corner + Vec3::from(at)).collect()
        };
        vec![
            piece([x, y, wall], [0.0, 0.0, 0.5 * wall]),
            piece([x, wall, z], [0.0, -along_y, 0.5 * z]),
            piece([x, wall, z], [0.0, along_y, 0.5 * z]),
            piece([wall, y, z], [-along_x, 0.0, 0.5 * z]),
            piece([wall, y, z], [along_x, 0.0, 0.5 * z]),
        ]
    }
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
