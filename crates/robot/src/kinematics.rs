//! Where joint values put the frames of a tree: one formula in f64, the same on every machine and
//! for any number of configurations at a time.
//!
//! Every operation is rounded to nearest, none is fused, sums go from left to right. Of every frame
//! three matrices are made once: `A`, the rotation of its origin; `B = A K` and `C = B K`, where K
//! is the matrix of the cross product with the unit axis. Then, for a joint value q, with
//! `x = multiplier * q + offset`:
//!
//! - a frame that turns: `M = A + (s B + v C)` with the sine s and the versine v = 1 - cos x of
//!   [`clearance_geometry::number::trig_lanes`], and `m = t`, the translation of its origin;
//! - a frame that slides: `M = A`, `m = t + (A axis) x`;
//! - a ball: `M = A Q` with Q the matrix of the quaternion as [`Pose::from_quaternion`] makes it;
//! - in the world `R = R_parent M` and `T = R_parent m + T_parent`, each product of a row and a
//!   column as `(a b + c d) + e f`. On the base, `R = M` and `T = m`: where the base stands is
//!   composed ([`Pose::compose`]) into the origin first.
//!
//! Where a part is: the pose of its frame composed with that of the part in the frame.

use super::tree::{Freedom, Tree};
use clearance_geometry::number::rounding::UNIT;
use clearance_geometry::number::trig_lanes::{ANGLE_MAX, sine_and_versine};
use clearance_geometry::pose::{Pose, QUATERNION_NORM_MAX, QUATERNION_NORM_MIN};
use clearance_geometry::{Mat3, Vec3};

/// Six times more units of rounding than a frame adds to the entries of a rotation, each of which
/// counts six times in `RᵀR` as an operator.
const PLACED_ROUNDING: f64 = 1440.0;
/// Lengths beyond this, metres, are no joint values.
pub const SLIDE_MAX: f64 = 1e6;

/// Twelve numbers of N configurations: nine of the rotation by rows, then the translation.
pub type PoseLanes<const N: usize> = [[f64; N]; 12];

/// What is computed once of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FrameMatrices {
    /// A.
    origin: [f64; 9],
    /// B, or zero.
    sine: [f64; 9],
    /// C, or zero.
    versine: [f64; 9],
    /// t.
    translation: [f64; 3],
    /// A axis of a frame that slides, or zero.
    slide: [f64; 3],
}

/// A tree, ready to be placed.
#[derive(Clone, Debug, PartialEq)]
pub struct Kinematics {
    tree: Tree,
    matrices: Vec<FrameMatrices>,
    stretches: Vec<FrameStretch>,
}

/// How much longer a vector gets, at most, on its way out of a frame. A base that is given as a
/// matrix is no more than nearly a rotation; whatever stands on it is as long as that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FrameStretch {
    /// Into the frame of its parent.
    own: f64,
    /// Into the world.
    chain: f64,
}

/// Why a configuration places nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// NaN, infinite or out of the range in which angles and lengths are understood.
    #[error(
        "value {index} is not finite, or an angle beyond 10^6 radians or a length beyond 10^6 m"
    )]
    Value {
        /// Which one.
        index: usize,
    },
    /// A quaternion whose norm says nothing.
    #[error("values {index} to {index} + 3 are no quaternion with a norm in [1e-100, 1e100]")]
    Quaternion {
        /// The first of its four.
        index: usize,
    },
}

impl Kinematics {
    /// Prepares a tree.
    pub fn new(tree: Tree) -> Self {
        let matrices = tree.frames.iter().map(|frame| {
            let a = frame.parent_from_joint.rotation;
            let none = Mat3::zeros();
            let (sine, versine, slide) = match frame.freedom {
                Freedom::Turn { axis, .. } => {
                    let cross = cross_matrix(&axis);
                    let sine = product(&a, &cross);
                    (sine, product(&sine, &cross), Vec3::zeros())
                }
                Freedom::Slide { axis, .. } => (none, none, row_products(&a, &axis)),
                Freedom::Ball { .. } => (none, none, Vec3::zeros()),
            };
            FrameMatrices {
                origin: rows(&a),
                sine: rows(&sine),
                versine: rows(&versine),
                translation: frame.parent_from_joint.translation.into(),
                slide: slide.into(),
            }
        });
        let matrices = matrices.collect();
        let mut stretches: Vec<FrameStretch> = Vec::with_capacity(tree.frames.len());
        for frame in &tree.frames {
            let own = 1.0 + 0.5 * frame.parent_from_joint.skew();
            let above = frame.parent.map_or(1.0, |parent| stretches[parent].chain);
            stretches.push(FrameStretch { own, chain: own * above });
        }
        Self { tree, matrices, stretches }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// By how much the origin of a frame stretches, at most. Here and below the rounding of a few
    /// products is left to those who use it.
    pub(super) fn stretch(&self, frame: usize) -> f64 {
        self.stretches[frame].own
    }

    /// By how much a vector in a frame gets longer on its way into the world, at most.
    pub(super) fn stretch_to_world(&self, frame: Option<usize>) -> f64 {
        frame.map_or(1.0, |frame| self.stretches[frame].chain)
    }

    /// At least the skew ([`Pose::skew`]) of what a configuration makes of a pose in a frame.
    pub(super) fn placed_skew(&self, frame: Option<usize>, in_frame: &Pose) -> f64 {
        let stretch = self.stretch_to_world(frame);
        let frames = self.tree.chain(frame).count() as f64;
        (1.0 + in_frame.skew()) * stretch * stretch - 1.0 + PLACED_ROUNDING * UNIT * (frames + 2.0)
    }

    /// Whether a configuration of the right length can be placed.
    pub fn check(&self, values: &[f64]) -> Result<(), ConfigurationError> {
        for frame in &self.tree.frames {
            let (by, most) = match frame.freedom {
                Freedom::Turn { by, .. } => (by, ANGLE_MAX),
                Freedom::Slide { by, .. } => (by, SLIDE_MAX),
                Freedom::Ball { variable } => {
                    let q = &values[variable..variable + 4];
                    let norm = (q[3] * q[3] + q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt();
                    if !(QUATERNION_NORM_MIN..=QUATERNION_NORM_MAX).contains(&norm) {
                        return Err(ConfigurationError::Quaternion { index: variable });
                    }
                    continue;
                }
            };
            let x = by.multiplier * values[by.variable] + by.offset;
            // Written so that NaN lands in the error.
            if !(x.abs() <= most && values[by.variable].abs() <= most) {
                return Err(ConfigurationError::Value { index: by.variable });
            }
        }
        Ok(())
    }

    /// Places every frame for N configurations, each of which [`Self::check`] accepts.
    #[inline(always)]
    pub fn place<const N: usize>(&self, values: &[&[f64]; N], out: &mut Vec<PoseLanes<N>>) {
        out.clear();
        for (frame, matrices) in self.tree.frames.iter().zip(&self.matrices) {
            let local = matrices.local(&frame.freedom, values);
            let placed = match frame.parent {
                None => local,
                Some(parent) => compose_lanes(&out[parent], &local),
            };
            out.push(placed);
        }
    }

    /// Places every frame for one configuration.
    pub fn place_one(&self, values: &[f64]) -> Vec<Pose> {
        let mut lanes = Vec::with_capacity(self.tree.frames.len());
        self.place(&[values], &mut lanes);
        lanes.iter().map(|frame| pose_of_lane(frame, 0)).collect()
    }
}

impl FrameMatrices {
    /// Where the frame is in its parent's.
    #[inline(always)]
    fn local<const N: usize>(&self, freedom: &Freedom, values: &[&[f64]; N]) -> PoseLanes<N> {
        let mut m: PoseLanes<N> = std::array::from_fn(|k| {
            [if k < 9 { self.origin[k] } else { self.translation[k - 9] }; N]
        });
        match freedom {
            Freedom::Turn { by, .. } => {
                let x = values.map(|q| by.multiplier * q[by.variable] + by.offset);
                let [s, v] = sine_and_versine(&x);
                for (entry, (b, c)) in m.iter_mut().zip(self.sine.iter().zip(&self.versine)) {
                    for lane in 0..N {
                        entry[lane] += s[lane] * b + v[lane] * c;
                    }
                }
            }
            Freedom::Slide { by, .. } => {
                let x = values.map(|q| by.multiplier * q[by.variable] + by.offset);
                for k in 0..3 {
                    for lane in 0..N {
                        m[9 + k][lane] += self.slide[k] * x[lane];
                    }
                }
            }
            Freedom::Ball { variable } => {
                for lane in 0..N {
                    let q = &values[lane][*variable..*variable + 4];
                    let turned = Pose::from_quaternion(Vec3::zeros(), [q[3], q[0], q[1], q[2]]);
                    let turned = turned.unwrap_or_else(|_| Pose::identity());
                    let origin = Mat3::from_row_slice(&self.origin);
                    let rotation = rows(&product(&origin, &turned.rotation));
                    for (entry, turned) in m.iter_mut().zip(rotation) {
                        entry[lane] = turned;
                    }
                }
            }
        }
        m
    }
}

/// The pose of a child in the world, from its parent's and its own in the parent.
#[inline(always)]
fn compose_lanes<const N: usize>(w: &PoseLanes<N>, m: &PoseLanes<N>) -> PoseLanes<N> {
    let mut out = [[0.0; N]; 12];
    for i in 0..3 {
        let [a, b, c] = [&w[3 * i], &w[3 * i + 1], &w[3 * i + 2]];
        for k in 0..3 {
            let [x, y, z] = [&m[k], &m[3 + k], &m[6 + k]];
            for lane in 0..N {
                out[3 * i + k][lane] = (a[lane] * x[lane] + b[lane] * y[lane]) + c[lane] * z[lane];
            }
        }
        let [x, y, z] = [&m[9], &m[10], &m[11]];
        for lane in 0..N {
            let turned = (a[lane] * x[lane] + b[lane] * y[lane]) + c[lane] * z[lane];
            out[9 + i][lane] = turned + w[9 + i][lane];
        }
    }
    out
}

/// One of the configurations.
#[inline(always)]
pub fn pose_of_lane<const N: usize>(lanes: &PoseLanes<N>, lane: usize) -> Pose {
    Pose {
        rotation: Mat3::from_fn(|i, k| lanes[3 * i + k][lane]),
        translation: Vec3::from_fn(|i, _| lanes[9 + i][lane]),
    }
}

/// Where a pose puts a point, for N poses.
#[inline(always)]
pub fn point_lanes<const N: usize>(w: &PoseLanes<N>, point: &Vec3) -> [[f64; N]; 3] {
    let mut out = [[0.0; N]; 3];
    for i in 0..3 {
        for lane in 0..N {
            let [a, b, c] = [w[3 * i][lane], w[3 * i + 1][lane], w[3 * i + 2][lane]];
            out[i][lane] = ((a * point.x + b * point.y) + c * point.z) + w[9 + i][lane];
        }
    }
    out
}

fn rows(matrix: &Mat3) -> [f64; 9] {
    std::array::from_fn(|k| matrix[(k / 3, k % 3)])
}

/// The matrix of `axis x`.
fn cross_matrix(axis: &Vec3) -> Mat3 {
    let [x, y, z] = [axis.x, axis.y, axis.z];
    Mat3::new(0.0, -z, y, z, 0.0, -x, -y, x, 0.0)
}

/// A product of matrices in the documented order.
fn product(a: &Mat3, b: &Mat3) -> Mat3 {
    Mat3::from_fn(|i, k| (a[(i, 0)] * b[(0, k)] + a[(i, 1)] * b[(1, k)]) + a[(i, 2)] * b[(2, k)])
}

fn row_products(a: &Mat3, v: &Vec3) -> Vec3 {
    Vec3::from_fn(|i, _| (a[(i, 0)] * v.x + a[(i, 1)] * v.y) + a[(i, 2)] * v.z)
}
