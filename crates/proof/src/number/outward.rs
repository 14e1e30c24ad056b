//! From exact numbers to f64, rounded outward: the last step of every bracket.

use dashu_int::ops::{BitTest, DivRem, SquareRootRem, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

/// Significant bits of an f64.
const PRECISION: i64 = 53;
/// Exponent of the last bit of the smallest subnormal.
const LEAST_EXPONENT: i64 = -1074;
/// Bits of a quotient before it is rounded: more than an f64 holds, so that rounding the truncated
/// quotient moves it by less than two units in the last place.
const QUOTIENT_BITS: usize = 72;

/// The largest f64 that is at most `magnitude * 2^exponent`.
pub fn floor(magnitude: &UBig, exponent: i64) -> f64 {
    truncate(magnitude, exponent).0
}

/// The smallest f64 that is at least `magnitude * 2^exponent`.
pub fn ceil(magnitude: &UBig, exponent: i64) -> f64 {
    let (below, exact) = truncate(magnitude, exponent);
    if exact { below } else { below.next_up() }
}

/// `number * 2^exponent`, rounded towards zero.
pub fn approximate(number: &IBig, exponent: i64) -> f64 {
    let value = floor(&number.clone().unsigned_abs(), exponent);
    if number.sign() == Sign::Negative { -value } else { value }
}

/// Rounded down, and whether nothing was lost.
fn truncate(magnitude: &UBig, exponent: i64) -> (f64, bool) {
    if magnitude.is_zero() {
        return (0.0, true);
    }
    let bits = i64::try_from(magnitude.bit_len()).expect("a length");
    let top = bits + exponent;
    if top > 1024 {
        return (f64::MAX, false);
    }
    let last = (top - PRECISION).max(LEAST_EXPONENT);
    let (mantissa, exact) = match usize::try_from(last - exponent) {
        Ok(drop) => (magnitude >> drop, magnitude.trailing_zeros().is_none_or(|z| z >= drop)),
        Err(_) => {
            let rise = usize::try_from(exponent - last).expect("the other sign");
            (magnitude << rise, true)
        }
    };
    let mantissa = u64::try_from(mantissa).expect("at most 53 bits");
    (scaled(mantissa, last), exact)
}

/// `mantissa * 2^exponent`, exactly: the result is representable, and so is the power.
#[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
fn scaled(mantissa: u64, exponent: i64) -> f64 {
    mantissa as f64 * power_of_two(exponent)
}

/// `2^exponent` for exponents in [-1074, 1023].
pub fn power_of_two(exponent: i64) -> f64 {
    let biased = exponent + 1023;
    if biased > 0 {
        f64::from_bits(u64::try_from(biased).expect("positive") << 52)
    } else {
        f64::from_bits(1 << (exponent - LEAST_EXPONENT))
    }
}

/// `numerator / denominator * 2^exponent`, accurate to a unit in the last place.
pub fn ratio(numerator: &IBig, denominator: &UBig, exponent: i64) -> f64 {
    let magnitude = numerator.unsigned_abs();
    let shift = (QUOTIENT_BITS + denominator.bit_len()).saturating_sub(magnitude.bit_len());
    let quotient: UBig = (magnitude << shift) / denominator;
    let value = floor(&quotient, exponent - i64::try_from(shift).expect("a length"));
    if numerator.sign() == Sign::Negative { -value } else { value }
}

/// The greatest f64 not above `numerator / denominator * 2^exponent` and the least not below; equal
/// when the quotient is an f64. Infinite beyond the largest f64.
pub fn quotient(numerator: &UBig, denominator: &UBig, exponent: i64) -> [f64; 2] {
    let shift = (QUOTIENT_BITS + denominator.bit_len()).saturating_sub(numerator.bit_len());
    let (quotient, remainder) = (numerator << shift).div_rem(denominator);
    // One more bit stands for all that was cut off: no f64 lies in between.
    let sticky = (quotient << 1usize) | UBig::from(u8::from(!remainder.is_zero()));
    let exponent = exponent - i64::try_from(shift).expect("a length") - 1;
    [floor(&sticky, exponent), ceil(&sticky, exponent)]
}

/// `[lower, upper]` around `sqrt(numerator / denominator) * 2^exponent`: adjacent f64 numbers, or
/// one when it is exact (or nearly: the upper one may be a unit too high).
pub fn square_root(numerator: &UBig, denominator: &UBig, exponent: i64) -> [f64; 2] {
    let wanted = 2 * QUOTIENT_BITS + denominator.bit_len();
    let half_shift = wanted.saturating_sub(numerator.bit_len()).div_ceil(2);
    let (quotient, remainder) = (numerator << (2 * half_shift)).div_rem(denominator);
    let (root, rest) = quotient.sqrt_rem();
    let exact = remainder.is_zero() && rest.is_zero();
    let exponent = exponent - i64::try_from(half_shift).expect("a length");
    let lower = floor(&root, exponent);
    let upper = if exact { ceil(&root, exponent) } else { ceil(&(root + UBig::ONE), exponent) };
    [lower, upper]
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "rounding is tested to the last bit")]
mod tests {
    use super::*;

    fn power(shift: usize) -> UBig {
        UBig::ONE << shift
    }

    #[test]
    fn rounding_is_outward_and_exact_when_it_can_be() {
        assert_eq!(floor(&UBig::from(3u32), -1), 1.5);
        assert_eq!(ceil(&UBig::from(3u32), -1), 1.5);
        let beyond = power(53) + UBig::ONE;
        assert_eq!(floor(&beyond, -53), 1.0);
        assert_eq!(ceil(&beyond, -53), 1.0f64.next_up());
        assert_eq!(floor(&UBig::ONE, -1075), 0.0);
        assert_eq!(ceil(&UBig::ONE, -1075), f64::from_bits(1));
        assert_eq!(floor(&power(1074), -1074), 1.0);
        assert_eq!(floor(&UBig::from(5u32), -1074), f64::from_bits(5));
        assert_eq!(floor(&UBig::ONE, 1024), f64::MAX);
        assert_eq!(ceil(&UBig::ONE, 1024), f64::INFINITY);
    }

    #[test]
    fn square_roots_are_enclosed_by_neighbours() {
        assert_eq!(square_root(&UBig::from(9u32), &UBig::from(4u32), 0), [1.5, 1.5]);
        let [lower, upper] = square_root(&UBig::from(2u32), &UBig::ONE, 0);
        assert_eq!([lower, upper], [2f64.sqrt().next_down(), std::f64::consts::SQRT_2]);
        let [lower, upper] = square_root(&(UBig::from(2u32) << 4000), &UBig::ONE, -2000);
        assert_eq!([lower, upper], [2f64.sqrt().next_down(), std::f64::consts::SQRT_2]);
        let [lower, upper] = square_root(&UBig::from(2u32), &power(2000), -60);
        assert!(lower < upper && upper == lower.next_up() && lower > 1e-320);
    }

    #[test]
    fn a_ratio_is_within_a_unit_in_the_last_place() {
        let third = ratio(&IBig::from(-1), &UBig::from(3u32), 0);
        assert!((third + 1.0 / 3.0).abs() <= f64::from_bits((-third).to_bits() & !0xf) * 2.3e-16);
        assert_eq!(ratio(&IBig::from(6), &UBig::from(3u32), -1), 1.0);
    }
}
