//! An exact quotient `numerator / denominator * 2^exponent` and its outward rounding to f64.

use std::cmp::Ordering;

use dashu_int::{IBig, UBig};

use super::binary::split;
use super::scaled::sign;
use super::{Sign, outward};

/// See the module.
#[derive(Clone, Debug)]
pub struct Ratio {
    numerator: IBig,
    /// Positive.
    denominator: UBig,
    exponent: i64,
}

impl Ratio {
    /// `numerator / denominator * 2^exponent`; the denominator is not zero.
    pub fn new(numerator: IBig, denominator: IBig, exponent: i64) -> Self {
        let (divisor_sign, denominator) = denominator.into_parts();
        assert!(!denominator.is_zero(), "the caller divides by a nonzero number");
        Self { numerator: numerator * divisor_sign, denominator, exponent }
    }

    /// Its sign.
    pub fn sign(&self) -> Sign {
        sign(&self.numerator)
    }

    /// Compares with a finite f64, exactly.
    pub fn compare(&self, x: f64) -> Ordering {
        let (mantissa, e) = split(x);
        let right = IBig::from(mantissa) * IBig::from(self.denominator.clone());
        let shift = self.exponent - i64::from(e);
        let by = usize::try_from(shift.unsigned_abs()).expect("exponents are small");
        if shift >= 0 {
            (&self.numerator << by).cmp(&right)
        } else {
            self.numerator.cmp(&(right << by))
        }
    }

    /// Compares with another quotient, exactly.
    pub fn compare_with(&self, other: &Self) -> Ordering {
        let left = &self.numerator * IBig::from(other.denominator.clone());
        let right = &other.numerator * IBig::from(self.denominator.clone());
        let shift = self.exponent - other.exponent;
        let by = usize::try_from(shift.unsigned_abs()).expect("exponents are small");
        if shift >= 0 { (left << by).cmp(&right) } else { left.cmp(&(right << by)) }
    }

    /// The greatest f64 not above and the least not below; equal when the quotient is an f64.
    /// Infinite beyond the largest f64.
    pub fn bracket(&self) -> [f64; 2] {
        let (negative, magnitude) = self.numerator.clone().into_parts();
        let [low, high] = outward::quotient(&magnitude, &self.denominator, self.exponent);
        if negative == dashu_int::Sign::Negative { [-high, -low] } else { [low, high] }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests {
    use super::*;

    fn ratio(n: i64, d: i64, e: i64) -> Ratio {
        Ratio::new(IBig::from(n), IBig::from(d), e)
    }

    #[test]
    fn a_quotient_that_is_an_f64_is_its_own_bracket() {
        for x in [1.0, -0.75, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::from_bits(0xfff)]
        {
            let (m, e) = split(x);
            let r = Ratio::new(IBig::from(m) * 7, IBig::from(7), i64::from(e));
            assert_eq!(r.bracket(), [x, x]);
            assert_eq!(r.compare(x), Ordering::Equal);
            assert_eq!(r.compare(x.next_down()), Ordering::Greater);
        }
        assert_eq!(ratio(0, -3, 5).bracket(), [0.0, 0.0]);
    }

    #[test]
    fn quotients_are_ordered_exactly() {
        let third = ratio(1, 3, 0);
        assert_eq!(third.compare_with(&ratio(-4, -3, -2)), Ordering::Equal);
        assert_eq!(third.compare_with(&ratio(0x1555_5555_5555_5555, 1, -62)), Ordering::Greater);
        assert_eq!(ratio(-1, 3, 40).compare_with(&third), Ordering::Less);
    }

    #[test]
    fn every_other_quotient_lies_strictly_between_two_adjacent_f64() {
        let mut seen_subnormal = false;
        for n in [1i64, -1, 5, 0x1fff_ffff_ffff_ffff, -12_347] {
            for d in [3i64, -7, 0x7fff_ffff_ffff_fff1] {
                for e in [-1200, -1090, -1074, -60, 0, 60, 1000, 1100] {
                    let r = ratio(n, d, e);
                    let [low, high] = r.bracket();
                    if low.is_finite() {
                        assert_eq!(r.compare(low), Ordering::Greater, "{n}/{d} 2^{e}");
                        assert_eq!(low.next_up(), high);
                        seen_subnormal |= low.abs() < f64::MIN_POSITIVE;
                    }
                    if high.is_finite() {
                        assert_eq!(r.compare(high), Ordering::Less, "{n}/{d} 2^{e}");
                    }
                }
            }
        }
        assert!(seen_subnormal);
        assert_eq!(ratio(1, 3, 1100).bracket(), [f64::MAX, f64::INFINITY]);
        assert_eq!(ratio(-1, 3, 1100).bracket(), [f64::NEG_INFINITY, f64::MIN]);
        assert_eq!(ratio(1, 3, -1090).bracket(), [0.0, f64::from_bits(1)]);
    }
}
