//! An f64 as the integer times a power of two that it is.

/// Exponents of normal f64 numbers.
pub(super) const EXPONENT_MIN: i32 = -1022;
/// See [`EXPONENT_MIN`].
pub(super) const EXPONENT_MAX: i32 = 1023;

/// Splits a finite f64 into `(m, e)` with `x = m 2^e` exactly and `m` odd, or `(0, 0)`.
pub fn split(x: f64) -> (i64, i32) {
    debug_assert!(x.is_finite());
    let bits = x.to_bits();
    let biased = i32::try_from((bits >> 52) & 0x7ff).expect("eleven bits");
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    let (m, e) =
        if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
    if m == 0 {
        return (0, 0);
    }
    let shift = m.trailing_zeros();
    let m = m >> shift;
    (if x.is_sign_negative() { -m } else { m }, e + shift.cast_signed())
}

/// `2^exponent`, a normal number.
#[inline]
pub const fn power_of_two(exponent: i32) -> f64 {
    debug_assert!(EXPONENT_MIN <= exponent && exponent <= EXPONENT_MAX);
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `e` with `2^e <= |x| < 2^(e + 1)`; none for zero.
pub fn exponent_of(x: f64) -> Option<i32> {
    let (m, e) = split(x);
    (m != 0).then(|| e + 63 - m.unsigned_abs().leading_zeros().cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_the_leading_bit() {
        for (x, e) in [(1.0, 0), (-1.99, 0), (0.5, -1), (f64::from_bits(3), -1073), (6e300, 999)] {
            assert_eq!(exponent_of(x), Some(e), "{x}");
        }
        assert_eq!(exponent_of(0.0), None);
    }
}
