//! Sample shapes for tests, benches and the demo, as lists of points to take the hull of.
//!
//! The points come from sums, products and square roots alone, so they are the same bits on every
//! machine. Shapes are centred on the origin unless said otherwise; lengths are in metres.

use std::f64::consts::TAU;

use crate::Vec3;
use crate::hull::convex_hull;
use crate::polytope::Polytope;

/// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, *Fast splittable pseudorandom number generators*,
/// OOPSLA 2014, Fig. 16.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A tiny seeded generator ([`split_mix`]). Not for secrets.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        split_mix(&mut self.state)
    }

    /// In [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (f64::EPSILON / 2.0)
    }

    /// In [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// One of 0 .. `count`; `count` is not 0. The bias, `count / 2^64`, is of no account here.
    pub fn below(&mut self, count: u64) -> u64 {
        self.bits() % count
    }

    /// Evenly distributed in the unit ball.
    pub fn in_ball(&mut self) -> Vec3 {
        // A point of the cube is in the ball with probability π/6.
        loop {
            let p = Vec3::from_fn(|_, _| self.between(-1.0, 1.0));
            if p.norm_squared() <= 1.0 {
                return p;
            }
        }
    }

    /// Evenly distributed on the unit sphere, to rounding.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let p = self.in_ball();
            let length = p.norm();
            if length > 0.01 {
                return p / length;
            }
        }
    }
}

/// The hull of a sample.
pub fn polytope_of(points: &[Vec3]) -> Polytope {
    convex_hull(points).expect("samples are finite and not empty").polytope
}

/// The point of the unit circle after this many turns (of 360 degrees), at most a few thousand.
/// Quarter turns are exact.
pub(crate) fn on_circle(turns: f64) -> (f64, f64) {
    let quarters = (4.0 * turns).round();
    let x = (turns - quarters / 4.0) * TAU; // at most an eighth of a turn either way
    let square = x * x;
    // Taylor's series in Horner's form; the first term left out is below 1e-20.
    let series = |first: f64| {
        (0..10).rev().fold(1.0, |rest, k| {
            let n = first + 2.0 * f64::from(k);
            1.0 - square / (n * (n + 1.0)) * rest
        })
    };
    let (cosine, sine) = (series(1.0), x * series(2.0));
    match quarters.rem_euclid(4.0) {
        1.0 => (-sine, cosine),
        2.0 => (-cosine, -sine),
        3.0 => (sine, -cosine),
        _ => (cosine, sine),
    }
}

/// A box with these edge lengths.
pub fn cuboid(x: f64, y: f64, z: f64) -> Vec<Vec3> {
    let half = Vec3::new(x, y, z) / 2.0;
    let corner = |i: u32| {
        let sign = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        half.component_mul(&Vec3::new(sign(2), sign(1), sign(0)))
    };
    (0..8).map(corner).collect()
}

/// A regular tetrahedron: four corners of a cube with this edge.
pub fn tetrahedron(cube_edge: f64) -> Vec<Vec3> {
    let h = cube_edge / 2.0;
    [[h, h, h], [h, -h, -h], [-h, h, -h], [-h, -h, h]].map(Vec3::from).to_vec()
}

/// A regular octahedron with its corners on the axes.
pub fn octahedron(radius: f64) -> Vec<Vec3> {
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    axes.iter().flat_map(|axis| [axis * radius, -axis * radius]).collect()
}

/// A flat regular polygon in the plane z = 0.
pub fn flat_polygon(sides: u32, radius: f64) -> Vec<Vec3> {
    (0..sides)
        .map(|k| {
            let (x, y) = on_circle(f64::from(k) / f64::from(sides));
            Vec3::new(x, y, 0.0) * radius
        })
        .collect()
}

/// A prism over a regular polygon, along z.
pub fn prism(sides: u32, radius: f64, height: f64) -> Vec<Vec3> {
    let shift = Vec3::z() * (height / 2.0);
    flat_polygon(sides, radius).into_iter().flat_map(|p| [p - shift, p + shift]).collect()
}

/// A cone over a regular polygon: the base at z = 0, the tip at z = `height`.
pub fn cone(sides: u32, radius: f64, height: f64) -> Vec<Vec3> {
    let mut points = flat_polygon(sides, radius);
    points.push(Vec3::z() * height);
    points
}

/// Points on a sphere along a spiral, evenly spread (Á. González, *Measurement of areas on a sphere
/// using Fibonacci and latitude-longitude lattices*, Mathematical Geosciences 42 (2010), 49-64).
pub fn sphere(count: u32, radius: f64) -> Vec<Vec3> {
    // The golden ratio's conjugate, as a fraction of a turn.
    let golden_turn = (5.0_f64.sqrt() - 1.0) / 2.0;
    (0..count)
        .map(|k| {
            let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
            let (x, y) = on_circle((f64::from(k) * golden_turn).fract());
            let ring = (1.0 - z * z).sqrt();
            Vec3::new(ring * x, ring * y, z) * radius
        })
        .collect()
}

/// Random points on an ellipsoid with these half axes.
pub fn ellipsoid(count: u32, half_axes: Vec3, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.direction().component_mul(&half_axes)).collect()
}

/// Random points in a box with these edge lengths.
pub fn cloud(count: u32, size: Vec3, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    let mut coordinate = |k: usize| random.between(-0.5, 0.5) * size[k];
    (0..count).map(|_| Vec3::new(coordinate(0), coordinate(1), coordinate(2))).collect()
}

/// A thin spindle along x: rings of four points and two tips.
pub fn needle(rings: u32, length: f64, radius: f64) -> Vec<Vec3> {
    let mut points = vec![Vec3::x() * (-length / 2.0), Vec3::x() * (length / 2.0)];
    for k in 1..=rings {
        let at = 2.0 * f64::from(k) / f64::from(rings + 1) - 1.0;
        let r = radius * (1.0 - at * at).sqrt();
        for (y, z) in [(r, 0.0), (0.0, r), (-r, 0.0), (0.0, -r)] {
            points.push(Vec3::new(at * length / 2.0, y, z));
        }
    }
    points
}

/// Two points on the x axis.
pub fn segment(length: f64) -> Vec<Vec3> {
    vec![Vec3::x() * (-length / 2.0), Vec3::x() * (length / 2.0)]
}

/// The origin alone: the smallest polytope there is.
pub fn point() -> Vec<Vec3> {
    vec![Vec3::zeros()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circle_agrees_with_sine_and_cosine() {
        for k in -400..400 {
            let turns = f64::from(k) / 97.0;
            let (x, y) = on_circle(turns);
            assert!((x - (turns * TAU).cos()).abs() < 1e-13, "{turns}");
            assert!((y - (turns * TAU).sin()).abs() < 1e-13, "{turns}");
        }
        assert_eq!(on_circle(0.75), (0.0, -1.0));
    }

    #[test]
    fn every_sample_is_what_it_is_called_and_valid() {
        let tall = Vec3::new(1.0, 2.0, 5.0);
        // points, dimension, vertices, facets
        let samples = [
            (cuboid(1.0, 2.0, 3.0), 3, 8, 6),
            (tetrahedron(2.0), 3, 4, 4),
            (octahedron(1.5), 3, 6, 8),
            (flat_polygon(7, 1.0), 2, 7, 1),
            (cone(4, 1.0, 2.0), 3, 5, 5),
            (prism(4, 1.0, 2.0), 3, 8, 6),
            (sphere(100, 1.0), 3, 100, 196),
            (ellipsoid(50, tall, 1), 3, 50, 96),
            (segment(2.0), 1, 2, 0),
            (point(), 0, 1, 0),
        ];
        for (points, dimension, vertices, facets) in samples {
            let polytope = polytope_of(&points);
            assert_eq!(polytope.validate(&points), Ok(()));
            let found = (polytope.dimension(), polytope.vertex_count(), polytope.facets().len());
            assert_eq!(found, (dimension, vertices, facets));
        }
        for points in [needle(9, 10.0, 0.01), cloud(200, tall, 3)] {
            let polytope = polytope_of(&points);
            assert_eq!((polytope.validate(&points), polytope.dimension()), (Ok(()), 3));
        }
    }
}
