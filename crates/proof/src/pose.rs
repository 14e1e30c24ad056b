//! Where a body is: twelve f64 numbers, and everything said about the body is about these numbers.
//!
//! A rounded quaternion is not a rotation, and the matrix made of it is not orthogonal. So the pose
//! *is* the affine map `x -> R x + t` with the entries as stored, and all proofs are about that map
//! in exact real arithmetic.

pub mod scaled_points;

use super::{Mat3, Vec3};
use crate::number::binary::power_of_two;
use crate::number::rounding::gamma;
use crate::number::tolerance;

/// Largest absolute coordinate that is accepted anywhere.
pub const COORDINATE_MAX: f64 = power_of_two(960);
/// A quaternion's norm must lie in `[QUATERNION_NORM_MIN, QUATERNION_NORM_MAX]`.
pub const QUATERNION_NORM_MIN: f64 = tolerance::QUATERNION_NORM_LEAST;
/// See [`QUATERNION_NORM_MIN`].
pub const QUATERNION_NORM_MAX: f64 = 1e100;
/// Every entry of `RᵀR - I` of a rotation given as a matrix is at most this.
pub const ROTATION_SLACK: f64 = tolerance::ROTATION_ENTRY;

/// No rotation of a pose makes a vector longer by more than this factor: `|R x| <= STRETCH_MAX
/// |x|`. So no entry of R exceeds it either. A rotation within [`ROTATION_SLACK`] stretches by `1 +
/// 1.5e-6` at most, as `RᵀR - I` does by 3e-6; the rest is for parts in bodies, for bodies in links
/// of robots, and for motions between poses.
pub const STRETCH_MAX: f64 = 1.0 + tolerance::STRETCH_ROOM;

/// Whether a matrix is near enough to a rotation to be one of a pose.
fn is_let_in(rotation: &Mat3) -> bool {
    let slack = (rotation.transpose() * rotation - Mat3::identity()).abs().max();
    let entries_are_small = rotation.iter().all(|entry| entry.abs() <= 2.0);
    entries_are_small && slack <= ROTATION_SLACK && rotation.determinant() > 0.0
}

/// The map `x -> rotation x + translation`, from a body's frame to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Row-major in meaning: `(R x)[i] = sum over k of R[i, k] x[k]`. Nearly orthogonal: see
    /// [`STRETCH_MAX`].
    pub rotation: Mat3,
    /// In metres, in the world frame.
    pub translation: Vec3,
}

/// What is wrong with the numbers of a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoseError {
    /// The translation has a NaN, an infinity, or a coordinate beyond 2^960.
    #[error("translation must be finite and at most 2^960 in every coordinate")]
    Translation,
    /// The quaternion's norm is outside [1e-100, 1e100], or not a number.
    #[error("quaternion must be finite with a norm in [1e-100, 1e100]")]
    Quaternion,
    /// The matrix is no rotation.
    #[error("rotation matrix must have |RᵀR - I| <= 1e-6 in every entry and positive determinant")]
    Matrix,
}

impl Pose {
    /// The pose that leaves every point where it is.
    pub fn identity() -> Self {
        Self { rotation: Mat3::identity(), translation: Vec3::zeros() }
    }

    /// A pure translation.
    pub fn translation(x: f64, y: f64, z: f64) -> Self {
        Self { rotation: Mat3::identity(), translation: Vec3::new(x, y, z) }
    }

    /// From a quaternion `[w, x, y, z]`, normalised and turned into a matrix in f64, round to
    /// nearest, without fused operations, in exactly this order.
    ///
    /// ```
    /// use clearance_geometry::{Vec3, pose::Pose};
    ///
    /// let half_turn = Pose::from_quaternion(Vec3::zeros(), [0.0, 0.0, 0.0, 2.0]).unwrap();
    /// assert_eq!(half_turn.apply_rounded(&Vec3::new(1.0, 2.0, 3.0)), Vec3::new(-1.0, -2.0, 3.0));
    /// assert!(Pose::from_quaternion(Vec3::zeros(), [0.0; 4]).is_err());
    /// ```
    #[inline]
    pub fn from_quaternion(translation: Vec3, [w, x, y, z]: [f64; 4]) -> Result<Self, PoseError> {
        let norm = (((w * w + x * x) + y * y) + z * z).sqrt();
        // Written so that NaN lands in the error.
        if !(QUATERNION_NORM_MIN..=QUATERNION_NORM_MAX).contains(&norm) {
            return Err(PoseError::Quaternion);
        }
        let (w, x, y, z) = (w / norm, x / norm, y / norm, z / norm);
        let rotation = Mat3::new(
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        );
        Self { rotation, translation }.checked_translation()
    }

    /// From a rotation matrix given by its rows.
    ///
    /// ```
    /// use clearance_geometry::{Vec3, pose::Pose};
    ///
    /// let quarter_turn = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    /// let pose = Pose::from_matrix(Vec3::zeros(), quarter_turn).unwrap();
    /// assert_eq!(pose.apply_rounded(&Vec3::new(1.0, 2.0, 3.0)), Vec3::new(-2.0, 1.0, 3.0));
    /// ```
    pub fn from_matrix(translation: Vec3, rows: [f64; 9]) -> Result<Self, PoseError> {
        let rotation = Mat3::from_row_slice(&rows);
        if is_let_in(&rotation) {
            Self { rotation, translation }.checked_translation()
        } else {
            Err(PoseError::Matrix)
        }
    }

    /// Itself, if a client may say that it is here; else with the rotation next to it. What is
    /// composed of several poses is farther from a rotation than each of them, and would get as far
    /// as one likes if it were composed again and again.
    #[must_use]
    pub fn straightened(self) -> Self {
        if is_let_in(&self.rotation) {
            return self;
        }
        // A step of Newton's method for the orthogonal factor: what was off by e is off by e².
        let square = self.rotation.tr_mul(&self.rotation);
        let rotation = self.rotation * ((Mat3::identity() * 3.0 - square) * 0.5);
        Self { rotation, ..self }
    }

    #[inline]
    fn checked_translation(self) -> Result<Self, PoseError> {
        let [x, y, z] = self.translation.into();
        let fits = |c: f64| c.abs() <= COORDINATE_MAX;
        if fits(x) && fits(y) && fits(z) { Ok(self) } else { Err(PoseError::Translation) }
    }

    /// The pose of a part whose pose in its body is `part`, for a body placed at `self`:
    /// `R = Rb Rp`, `t = Rb tp + tb`, every sum of products evaluated in f64 from left to right
    /// without fused operations.
    pub fn compose(&self, part: &Self) -> Self {
        let (b, p) = (&self.rotation, &part.rotation);
        let row_dot =
            |i: usize, v: [f64; 3]| (b[(i, 0)] * v[0] + b[(i, 1)] * v[1]) + b[(i, 2)] * v[2];
        let rotation = Mat3::from_fn(|i, k| row_dot(i, [p[(0, k)], p[(1, k)], p[(2, k)]]));
        let t = part.translation;
        let translation = Vec3::from_fn(|i, _| row_dot(i, [t.x, t.y, t.z]) + self.translation[i]);
        Self { rotation, translation }
    }

    /// The placed point, rounded to f64: for display and for searching, never for a proof.
    #[inline]
    pub fn apply_rounded(&self, point: &Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// At least `|RᵀR - I|` as an operator, so that `|R x|²` is within this part of `|x|²`: the
    /// rotation stretches by no more than half of it, and shrinks by hardly more.
    ///
    /// The greatest sum of absolute values in a row bounds a symmetric matrix. Each entry is a sum
    /// of three products, which add up to about 1, less 1: it rounds by less than 5u.
    pub fn skew(&self) -> f64 {
        let off = (self.rotation.tr_mul(&self.rotation) - Mat3::identity()).abs();
        let row = |i: usize| (off[(i, 0)] + off[(i, 1)]) + off[(i, 2)];
        row(0).max(row(1)).max(row(2)) + gamma(16)
    }

    /// Whether the rotation keeps to [`STRETCH_MAX`], which every one does that is made of legal
    /// input.
    pub fn stretches_little(&self) -> bool {
        self.skew() <= 2.0 * (STRETCH_MAX - 1.0)
    }

    /// `Rᵀ d`, rounded: a world direction as seen by a body. For searching; a proof accounts for
    /// the rounding.
    #[inline]
    pub fn direction_to_body_rounded(&self, direction: &Vec3) -> Vec3 {
        self.rotation.tr_mul(direction)
    }
}
