//! f64 arithmetic whose parts are exact: numbers cut on grids, and what a sum lost.

use crate::geometry::Vec3;
use crate::geometry::number::binary::power_of_two;

/// `x` on the grid of `2^-bits` times `top`, a power of two that no coordinate exceeds, and the
/// rest: both exact. The constant makes a place of the sum the grid's unit.
#[inline(always)]
pub(super) fn sliced(x: &Vec3, top: f64, bits: u32) -> (Vec3, Vec3) {
    let shift = 1.5 * top * power_of_two(52 - bits.cast_signed());
    let high = x.map(|c| (c + shift) - shift);
    (high, x - high)
}

/// The power of two above x, which is plain.
#[inline]
pub(super) fn power_above(x: f64) -> f64 {
    f64::from_bits(((x.to_bits() >> 52) + 1) << 52)
}

/// The nearest number below with 26 significant bits or fewer.
#[inline]
pub(super) fn short(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 27) - 1))
}

/// The larger; of a NaN and anything, the second.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The nearest number without a fraction, of one that is below `2^51`.
#[inline(always)]
pub(super) fn whole(x: f64) -> f64 {
    const SHIFT: f64 = 1.5 * power_of_two(52);
    (x + SHIFT) - SHIFT
}

/// `a + b` and what its rounding lost (Knuth).
#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

#[inline(always)]
pub(super) fn dot(a: &Vec3, b: &Vec3) -> f64 {
    (a.x * b.x + a.y * b.y) + a.z * b.z
}
