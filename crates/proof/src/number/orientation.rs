//! Orientation predicates over f64 points: on which side of a plane, which way a path turns,
//! whether points are collinear. Every answer is exact, for every finite input up to 2^960.
//!
//! Three stages, each tried only when the one before cannot tell:
//!
//! 1. *filter*: f64 arithmetic with the error bound derived at [`PLANE_ERROR`];
//! 2. *fixed point*: on each axis the four coordinates become 60-bit integers over a common power
//!    of two, if they fit; then 2x2 minors fit i128 and the determinant 192 bits. Grids, quantised
//!    data and points a few ulp apart end here;
//! 3. *big integers*: the same on each axis with as many bits as it takes.
//!
//! Scaling one axis by a positive number changes no sign, so axes need no common exponent.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::Sign;
use super::binary::split;
use super::rounding::{UNDERFLOW_FLOOR, gamma};
use crate::Vec3;

/// Where a point is, seen from an oriented plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On the side away from the normal: inside, for a facet counter-clockwise from outside.
    Below,
    /// Exactly in the plane.
    On,
    /// On the side the normal points to: outside, for a facet counter-clockwise from outside.
    Above,
}

/// Which way the path `a`, `b`, `c` turns at `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Clockwise.
    Right,
    /// The three points are collinear in the projection.
    Straight,
    /// Counter-clockwise.
    Left,
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The first coordinate.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All three, in order.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// 0, 1 or 2.
    pub const fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }

    /// The two other axes `(i, j)` such that `(i, j, self)` is right-handed: looking down on this
    /// axis, `i` points right and `j` up.
    pub const fn others(self) -> (usize, usize) {
        match self {
            Self::X => (1, 2),
            Self::Y => (2, 0),
            Self::Z => (0, 1),
        }
    }
}

impl Side {
    /// The side when the determinant has this sign.
    pub const fn from_sign(sign: Sign) -> Self {
        match sign {
            Sign::Negative => Self::Below,
            Sign::Zero => Self::On,
            Sign::Positive => Self::Above,
        }
    }
}

impl Turn {
    const fn from_sign(sign: Sign) -> Self {
        match sign {
            Sign::Negative => Self::Right,
            Sign::Zero => Self::Straight,
            Sign::Positive => Self::Left,
        }
    }
}

/// Relative error of the value that [`Plane::value`] gives, against the magnitude beside it.
///
/// Each of the six terms `(b-a)_i (c-a)_j (p-a)_k` of the determinant passes at most eight
/// roundings: three differences, one product, one difference of products, one product with `p - a`,
/// two sums. So the error is at most `γ_8` times the sum of the exact `|terms|`. The computed sum
/// of magnitudes is smaller than the exact one by at most `γ_8` of it, and the bound itself takes
/// two more roundings: `γ_8 / (1 - γ_8) / (1 - 2u) < γ_9`.
///
/// Underflow adds to that: a product errs by `η = 2^-1075` at most beside its rounding, in the
/// value that is `2η |p-a|_1` through the normal and `3η` in the last products, and as much times
/// `u` through the magnitude.
pub const PLANE_ERROR: f64 = gamma(9);
/// As [`PLANE_ERROR`] for one 2x2 minor: two differences, one product, one sum.
const MINOR_ERROR: f64 = gamma(5);
/// Bits of a coordinate in the fixed-point stage. Differences then have 61 bits, minors 123, the
/// high and low halves of the determinant below 127; see [`sign_of_wide_sum`].
const FIXED_BITS: i32 = 60;

/// A plane through three points, as rounded numbers with what is needed to bound their error.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    anchor: Vec3,
    normal: Vec3,
    magnitude: Vec3,
}

impl Plane {
    /// The plane through `a`, `b`, `c`; its normal is `(b - a) x (c - a)`.
    #[inline]
    pub fn through(a: &Vec3, b: &Vec3, c: &Vec3) -> Self {
        let (e, f) = (b - a, c - a);
        let (yz, zy) = (e.y * f.z, e.z * f.y);
        let (zx, xz) = (e.z * f.x, e.x * f.z);
        let (xy, yx) = (e.x * f.y, e.y * f.x);
        Self {
            anchor: *a,
            normal: Vec3::new(yz - zy, zx - xz, xy - yx),
            magnitude: Vec3::new(yz.abs() + zy.abs(), zx.abs() + xz.abs(), xy.abs() + yx.abs()),
        }
    }

    /// Six times the signed volume of the tetrahedron over `p`, and a bound of its error. When a
    /// number overflows one of the two is infinite or NaN, and the bound is not met.
    #[inline]
    pub fn value(&self, p: &Vec3) -> (f64, f64) {
        let d = p - self.anchor;
        let value = (self.normal.x * d.x + self.normal.y * d.y) + self.normal.z * d.z;
        let (x, y, z) = (d.x.abs(), d.y.abs(), d.z.abs());
        let magnitude = (self.magnitude.x * x + self.magnitude.y * y) + self.magnitude.z * z;
        (value, PLANE_ERROR * magnitude + UNDERFLOW_FLOOR * (((x + y) + z) + 2.0))
    }

    /// The side of `p`, when f64 arithmetic can tell.
    #[inline]
    pub fn side(&self, p: &Vec3) -> Option<Side> {
        let (value, error) = self.value(p);
        if value > error {
            Some(Side::Above)
        } else if value < -error {
            Some(Side::Below)
        } else {
            None // too close to zero, or a NaN
        }
    }
}

/// The side of `p` from the plane through `a`, `b`, `c`, whose normal is `(b - a) x (c - a)`.
/// `On` also when the three points are collinear.
pub fn side_of_plane(a: &Vec3, b: &Vec3, c: &Vec3, p: &Vec3) -> Side {
    Plane::through(a, b, c).side(p).unwrap_or_else(|| exact_side_of_plane(a, b, c, p))
}

/// [`side_of_plane`] without its filter.
#[cold]
pub fn exact_side_of_plane(a: &Vec3, b: &Vec3, c: &Vec3, p: &Vec3) -> Side {
    let axis = |k: usize| [a[k], b[k], c[k], p[k]];
    let axes = [axis(0), axis(1), axis(2)];
    Side::from_sign(match axes.map(fixed_differences) {
        [Some(x), Some(y), Some(z)] => fixed_determinant(&[x, y, z]),
        _ => big_determinant(&axes.map(big_differences)),
    })
}

/// Which way `a`, `b`, `c` turns seen from the positive end of `axis`: the exact sign of that
/// component of `(b - a) x (c - a)`.
pub fn turn(axis: Axis, a: &Vec3, b: &Vec3, c: &Vec3) -> Turn {
    let (i, j) = axis.others();
    let plus = (b[i] - a[i]) * (c[j] - a[j]);
    let minus = (b[j] - a[j]) * (c[i] - a[i]);
    let error = MINOR_ERROR * (plus.abs() + minus.abs()) + UNDERFLOW_FLOOR;
    let value = plus - minus;
    if value > error {
        Turn::Left
    } else if value < -error {
        Turn::Right
    } else {
        exact_turn([a[i], b[i], c[i]], [a[j], b[j], c[j]])
    }
}

#[cold]
fn exact_turn(i: [f64; 3], j: [f64; 3]) -> Turn {
    Turn::from_sign(match (fixed_differences(i), fixed_differences(j)) {
        (Some([ei, fi]), Some([ej, fj])) => {
            sign_of(&(i128::from(ei) * i128::from(fj) - i128::from(ej) * i128::from(fi)), &0)
        }
        _ => {
            let ([ei, fi], [ej, fj]) = (big_differences(i), big_differences(j));
            sign_of(&(ei * fj), &(ej * fi))
        }
    })
}

/// An axis along which the plane through the three points is not projected to a line, largest
/// rounded component of the normal first; none when the points are collinear (or equal).
pub fn projection_axis(a: &Vec3, b: &Vec3, c: &Vec3) -> Option<Axis> {
    let normal = Plane::through(a, b, c).normal;
    let mut axes = Axis::ALL;
    // NaN compares as equal and keeps the order; the exact test below decides in any case.
    axes.sort_by(|l, r| {
        let (l, r) = (normal[l.index()].abs(), normal[r.index()].abs());
        r.partial_cmp(&l).unwrap_or(Ordering::Equal)
    });
    axes.into_iter().find(|&axis| turn(axis, a, b, c) != Turn::Straight)
}

/// Whether the three points lie on a line (or coincide).
pub fn are_collinear(a: &Vec3, b: &Vec3, c: &Vec3) -> bool {
    projection_axis(a, b, c).is_none()
}

/// Whether the four points lie in a plane.
pub fn are_coplanar(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> bool {
    side_of_plane(a, b, c, d) == Side::On
}

/// The smallest exponent of a set bit of the numbers, and one more than the largest.
fn bit_range(parts: &[(i64, i32)]) -> (i32, i32) {
    parts.iter().filter(|part| part.0 != 0).fold((i32::MAX, i32::MIN), |(low, high), &(m, e)| {
        let length = (64 - m.unsigned_abs().leading_zeros()).cast_signed();
        (low.min(e), high.max(e + length))
    })
}

/// `values[1..] - values[0]` as integers over a common power of two, when they fit. `N` is `M + 1`.
fn fixed_differences<const N: usize, const M: usize>(values: [f64; N]) -> Option<[i64; M]> {
    let parts = values.map(split);
    let (low, high) = bit_range(&parts);
    if high == i32::MIN {
        return Some([0; M]); // all zero
    }
    if high - low > FIXED_BITS {
        return None;
    }
    let integers = parts.map(|(m, e)| if m == 0 { 0 } else { m << (e - low) });
    Some(std::array::from_fn(|k| integers[k + 1] - integers[0]))
}

/// [`fixed_differences`] with as many bits as it takes.
fn big_differences<const N: usize, const M: usize>(values: [f64; N]) -> [IBig; M] {
    let parts = values.map(split);
    let (low, _) = bit_range(&parts);
    let integers = parts.map(|(m, e)| {
        let shift = if m == 0 { 0 } else { e - low };
        IBig::from(m) << usize::try_from(shift).expect("low is the smallest exponent")
    });
    std::array::from_fn(|k| &integers[k + 1] - &integers[0])
}

fn fixed_determinant(axes: &[[i64; 3]; 3]) -> Sign {
    let minor = |i: usize, j: usize| {
        i128::from(axes[i][0]) * i128::from(axes[j][1])
            - i128::from(axes[j][0]) * i128::from(axes[i][1])
    };
    let terms = [minor(1, 2), minor(2, 0), minor(0, 1)];
    sign_of_wide_sum(&terms, &axes.map(|axis| axis[2]))
}

/// The sign of `sum over k of minors[k] * factors[k]`, for `|minors| < 2^123`, `|factors| < 2^61`.
///
/// With `minor = high 2^64 + low`, `0 <= low < 2^64`: the products `high * factor` are below 2^120
/// and `low * factor` below 2^125, so neither sum of three can overflow an i128.
fn sign_of_wide_sum(minors: &[i128; 3], factors: &[i64; 3]) -> Sign {
    const _: () = assert!(2 * (FIXED_BITS + 1) < 123 && 64 + FIXED_BITS + 3 <= 127);
    const LOW: i128 = (1 << 64) - 1;
    let (mut high, mut low) = (0_i128, 0_i128);
    for (minor, &factor) in minors.iter().zip(factors) {
        high += (minor >> 64) * i128::from(factor);
        low += (minor & LOW) * i128::from(factor);
    }
    high += low >> 64;
    if high == 0 { sign_of(&(low & LOW), &0) } else { sign_of(&high, &0) }
}

fn big_determinant(axes: &[[IBig; 3]; 3]) -> Sign {
    let minor = |i: usize, j: usize| &axes[i][0] * &axes[j][1] - &axes[j][0] * &axes[i][1];
    let sum = minor(1, 2) * &axes[0][2] + minor(2, 0) * &axes[1][2] + minor(0, 1) * &axes[2][2];
    sign_of(&sum, &IBig::ZERO)
}

fn sign_of<T: Ord>(value: &T, zero: &T) -> Sign {
    match value.cmp(zero) {
        Ordering::Less => Sign::Negative,
        Ordering::Equal => Sign::Zero,
        Ordering::Greater => Sign::Positive,
    }
}

#[cfg(test)]
mod tests;
