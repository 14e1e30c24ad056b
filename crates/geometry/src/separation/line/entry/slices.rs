//! f64 arithmetic whose parts are exact: numbers cut on grids, and what a sum lost.

use crate::number::binary::power_of_two;
use crate::{Mat3, Vec3};

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

/// `Rᵀ n` in slices, for n of integers up to `2^27`: `first + second + third`.
///
/// R is cut at `2^-22` and at `2^-46`, so n times the first part is a multiple of `2^-22` below
/// `2^28`, n times the second one of `2^-46` below `2^6`: exact. The rest is below `2^-47`, so n
/// times that is below `2^-18`. Cut again, `first` is on the grid of `2^4` and `second`, below
/// `2^6`, on that of `2^-18`; `third` is below `2^-17` and off by less than `2^-68`.
pub(super) struct Functional {
    first: Vec3,
    second: Vec3,
    third: Vec3,
}

impl Functional {
    #[inline(always)]
    pub(super) fn new(rotation: &Mat3, n: &Vec3) -> Self {
        let cut = |m: &Mat3, bits: i32| {
            let shift = Mat3::repeat(1.5 * power_of_two(52 - bits));
            (m + shift) - shift
        };
        let high = cut(rotation, 22);
        let rest = rotation - high;
        let middle = cut(&rest, 46);
        let low = rest - middle;
        let (first, rest) = sliced(&high.tr_mul(n), power_of_two(28), 24);
        let (second, last) = sliced(&(rest + middle.tr_mul(n)), power_of_two(6), 24);
        Self { first, second, third: last + low.tr_mul(n) }
    }

    /// The value at a vertex, in units of `top`, a power of two that no coordinate exceeds: a part
    /// on the grid of `2^-20` below `2^29`, one on that of `2^-44` below 184, and a rest below
    /// `2^-15`, off by less than `2^-64`.
    #[inline(always)]
    pub(super) fn at(&self, v: &Vec3, top: f64) -> [f64; 3] {
        let (v1, rest) = sliced(v, top, 24);
        let (v2, v3) = sliced(&rest, top, 48);
        [
            dot(&self.first, &v1),
            dot(&self.first, &v2) + dot(&self.second, &v1),
            dot(&self.first, &v3) + (dot(&self.second, &rest) + dot(&self.third, v)),
        ]
    }
}

/// `n·t` for a translation, in units of `top`, a power of two that no coordinate exceeds; see
/// [`super::parameter`].
#[inline(always)]
pub(super) fn along(n: &Vec3, t: &Vec3, top: f64) -> [f64; 3] {
    let (t1, rest) = sliced(t, top, 22);
    let (t2, t3) = sliced(&rest, top, 44);
    [dot(n, &t1), dot(n, &t2), dot(n, &t3)]
}
