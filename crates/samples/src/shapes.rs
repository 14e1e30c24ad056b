//! Bodies, directions and poses for the tests: random ones under a seed, and the nasty ones.

use crate::hull::convex_hull;
use crate::hull::samples::split_mix;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::{Mat3, Vec3};

/// The bits of [`crate::hull::samples::Random`], as tests want them.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// In [-1, 1).
    pub fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// In 0..count.
    pub fn below(&mut self, count: u32) -> u32 {
        u32::try_from(self.bits() % u64::from(count)).expect("below a u32")
    }

    /// Each coordinate in [-1, 1).
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    /// A direction of length 1, but for rounding.
    pub fn unit_vector(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            if (0.01..1.0).contains(&v.norm_squared()) {
                return v.normalize();
            }
        }
    }

    /// A random rotation at this translation.
    pub fn pose(&mut self, translation: Vec3) -> Pose {
        loop {
            let q = [self.signed(), self.signed(), self.signed(), self.signed()];
            if q.iter().map(|x| x * x).sum::<f64>() > 0.01 {
                return Pose::from_quaternion(translation, q).expect("not zero");
            }
        }
    }
}

impl Random {
    /// A rotation, or a matrix that is one but for as much as is let in.
    pub fn any_pose(&mut self, translation: Vec3) -> Pose {
        if self.below(2) == 0 { self.pose(translation) } else { self.skewed_pose(translation) }
    }

    /// A pose whose rotation is as far from one as is let in: every entry of `RᵀR - I` is 1e-6 but
    /// for some that are zero, with signs that make it longest along a diagonal, shortest, or
    /// anything in between.
    pub fn skewed_pose(&mut self, translation: Vec3) -> Pose {
        let turn = match self.below(3) {
            0 => Mat3::identity(),
            _ => self.pose(Vec3::zeros()).rotation,
        };
        let uniform = self.below(3);
        let mut off = Mat3::zeros();
        for i in 0..3 {
            for k in 0..=i {
                let sign = match uniform {
                    0 => 1.0,
                    1 if i == k => -1.0,
                    _ => f64::from(self.below(3)) - 1.0,
                };
                // A hair less, so that the rounding of the product is let in, too.
                off[(i, k)] = sign * (1e-6 - 1e-14);
                off[(k, i)] = off[(i, k)];
            }
        }
        // The square of this is I + off, up to 1e-18.
        let rotation = turn * (Mat3::identity() + off * 0.5 - off * off * 0.125);
        let row = |i: usize, k: usize| rotation[(i, k)];
        let rows = std::array::from_fn(|at| row(at / 3, at % 3));
        Pose::from_matrix(translation, rows).expect("as far off as is let in")
    }
}

/// The hull of some points, which are known to have one.
pub fn hull(points: &[Vec3]) -> Polytope {
    convex_hull(points).expect("legal points").polytope
}

/// The hull of `count` random points of an ellipsoid.
pub fn ellipsoid(count: u32, axes: [f64; 3], seed: u64) -> Polytope {
    let mut random = Random(seed);
    let axes = Vec3::from(axes);
    let points: Vec<_> = (0..count).map(|_| random.unit_vector().component_mul(&axes)).collect();
    hull(&points)
}

/// The hull of `count` random points of the unit sphere.
pub fn ball(count: u32, seed: u64) -> Polytope {
    ellipsoid(count, [1.0; 3], seed)
}

fn circle(count: u32, z: f64) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |i| {
        let angle = f64::from(i) / f64::from(count) * std::f64::consts::TAU;
        Vec3::new(angle.cos(), angle.sin(), z)
    })
}

/// An apex of degree `count`.
pub fn cone(count: u32) -> Polytope {
    let mut points: Vec<_> = circle(count, 0.0).collect();
    points.push(Vec3::new(0.0, 0.0, 1.0));
    hull(&points)
}

/// Two facets of `count` vertices.
pub fn prism(count: u32) -> Polytope {
    hull(&circle(count, -1.0).chain(circle(count, 1.0)).collect::<Vec<_>>())
}

/// A ball with meridians and parallels: quadrangles that are plane but for rounding.
pub fn globe(meridians: u32, parallels: u32) -> Polytope {
    let parallel = |k: u32| {
        let latitude = f64::from(k) / f64::from(parallels + 1) * std::f64::consts::PI;
        let points = circle(meridians, 0.0).map(move |v| v * latitude.sin());
        points.map(move |v| Vec3::new(v.x, v.y, latitude.cos()))
    };
    let poles = [Vec3::z(), -Vec3::z()];
    hull(&(1..=parallels).flat_map(parallel).chain(poles).collect::<Vec<_>>())
}

/// The hull of the integer points in a ball: large merged facets, every coordinate ties.
pub fn grid_ball(radius: i32) -> Polytope {
    let mut points = Vec::new();
    for x in -radius..=radius {
        for y in -radius..=radius {
            for z in -radius..=radius {
                if x * x + y * y + z * z <= radius * radius {
                    points.push(Vec3::new(f64::from(x), f64::from(y), f64::from(z)));
                }
            }
        }
    }
    hull(&points)
}

/// The box `[-x, x] x [-y, y] x [-z, z]`.
pub fn cuboid(x: f64, y: f64, z: f64) -> Polytope {
    let sign = |bit: u32, size: f64| if bit == 0 { -size } else { size };
    let corners = (0..8u32).map(|c| Vec3::new(sign(c & 1, x), sign(c & 2, y), sign(c & 4, z)));
    hull(&corners.collect::<Vec<_>>())
}

/// A regular polygon in the plane z = 0.
pub fn polygon(count: u32) -> Polytope {
    hull(&circle(count, 0.0).collect::<Vec<_>>())
}

/// A random hull of small integer points, of any dimension.
pub fn lattice(random: &mut Random) -> Polytope {
    let count = 1 + random.below(12);
    let flat = random.below(4);
    let coordinate = |random: &mut Random| f64::from(random.below(4)) - 1.5;
    let points: Vec<_> = (0..count)
        .map(|_| {
            let mut v = Vec3::new(coordinate(random), coordinate(random), coordinate(random));
            if flat == 0 {
                v.z = v.x + v.y;
            }
            v
        })
        .collect();
    hull(&points)
}

/// One of each kind, with a name.
pub fn zoo() -> Vec<(&'static str, Polytope)> {
    let offset = Vec3::new(1e6, -3e5, 7e3);
    let far: Vec<_> = ball(300, 5).vertices().iter().map(|v| v + offset).collect();
    let scaled = |exponent: i32| {
        let factor = 2f64.powi(exponent);
        hull(&ball(100, 6).vertices().iter().map(|v| v * factor).collect::<Vec<_>>())
    };
    let least: Vec<_> = grid_ball(7).vertices().iter().map(|v| v * f64::from_bits(1)).collect();
    vec![
        ("a few of the least number", hull(&least)),
        ("point", hull(&[Vec3::new(1.0, 2.0, 3.0)])),
        ("segment", hull(&[Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 2.5, 0.0)])),
        ("triangle", polygon(3)),
        ("polygon of 100", polygon(100)),
        ("tetrahedron", ball(4, 1)),
        ("box", cuboid(1.0, 2.0, 3.0)),
        ("thin box", cuboid(1000.0, 1000.0, 0.25)),
        ("ball of 13", ball(13, 2)),
        ("ball of 500", ball(500, 3)),
        ("ball of 5000", ball(5000, 4)),
        ("needle", ellipsoid(800, [100.0, 0.1, 0.1], 7)),
        ("disc", ellipsoid(800, [1.0, 1.0, 1e-3], 8)),
        ("cone", cone(300)),
        ("prism", prism(300)),
        ("grid ball", grid_ball(7)),
        ("far from its origin", hull(&far)),
        ("huge", scaled(950)),
        ("tiny", scaled(-900)),
        ("subnormal", scaled(-1060)),
    ]
}
