//! Exact numbers `mantissa * 2^exponent`: closed under sums, differences and products, so every
//! polynomial predicate over f64 numbers has its exact sign here, whatever the exponents.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::Sign;
use super::interval::Interval;
use super::scale::PowerOfTwo;
use crate::number::binary::split;

/// `mantissa * 2^exponent`.
#[derive(Clone, Debug)]
pub struct Dyadic {
    mantissa: IBig,
    exponent: i64,
}

impl Dyadic {
    /// Zero.
    pub fn zero() -> Self {
        Self { mantissa: IBig::ZERO, exponent: 0 }
    }

    /// `mantissa * 2^exponent`.
    pub fn new(mantissa: IBig, exponent: i64) -> Self {
        Self { mantissa, exponent }
    }

    /// The mantissa.
    pub fn mantissa(&self) -> &IBig {
        &self.mantissa
    }

    /// The exponent.
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Its sign.
    pub fn sign(&self) -> Sign {
        match self.mantissa.cmp(&IBig::ZERO) {
            Ordering::Less => Sign::Negative,
            Ordering::Equal => Sign::Zero,
            Ordering::Greater => Sign::Positive,
        }
    }

    /// The f64 itself if it is one (and not subnormal), else the interval between its neighbours,
    /// or one a little wider at the ends of the range.
    pub fn enclosed(&self) -> Interval {
        let cut = self.mantissa.bit_len().saturating_sub(53);
        // Shifting rounds down, also below zero.
        let low = f64::try_from(&self.mantissa >> cut).expect("at most 53 bits and a sign");
        let high = if cut == 0 { low } else { low + 1.0 };
        let exponent =
            self.exponent.saturating_add(i64::try_from(cut).expect("a length in memory"));
        // Beyond, all is zero but for its sign, or infinite.
        let power = PowerOfTwo::new(exponent.clamp(-3000, 3000) as i32);
        let (low, high) = (power.times(low), power.times(high));
        // Powers of two are exact but at the ends of the range. The least normal number may be what
        // a smaller one was rounded to.
        let is_least = |x: f64| x.abs() <= f64::MIN_POSITIVE;
        let is_exact = |x: f64| {
            self.sign() == Sign::Zero || (x.is_normal() && (!is_least(x) || Self::from(x) == *self))
        };
        if is_exact(low) && is_exact(high) {
            Interval::new(low, high)
        } else {
            Interval::new(low.next_down(), high.next_up())
        }
    }

    /// The two mantissas at the smaller of the two exponents.
    fn aligned(&self, other: &Self) -> (IBig, IBig, i64) {
        let exponent = self.exponent.min(other.exponent);
        let at = |d: &Self| {
            d.mantissa.clone() << usize::try_from(d.exponent - exponent).expect("the smaller one")
        };
        (at(self), at(other), exponent)
    }
}

impl From<f64> for Dyadic {
    /// Exact. The number must be finite.
    fn from(x: f64) -> Self {
        let (m, e) = split(x);
        Self { mantissa: IBig::from(m), exponent: i64::from(e) }
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: Self) -> Dyadic {
        let (a, b, exponent) = self.aligned(other);
        Dyadic { mantissa: a + b, exponent }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: Self) -> Dyadic {
        let (a, b, exponent) = self.aligned(other);
        Dyadic { mantissa: a - b, exponent }
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: Self) -> Dyadic {
        Dyadic {
            mantissa: &self.mantissa * &other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic { mantissa: -&self.mantissa, exponent: self.exponent }
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Dyadic {}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_keeps_every_bit_even_of_subnormals() {
        for x in [0.0, -0.0, 1.0, -0.1, f64::from_bits(1), f64::MAX, 1e-310, 3.0 * 2f64.powi(900)] {
            let (m, e) = split(x);
            let back = Dyadic::from(x);
            assert_eq!(back, Dyadic::new(IBig::from(m), i64::from(e)));
            assert!(m == 0 || m % 2 != 0);
        }
        assert_eq!(split(6.0), (3, 1));
        assert_eq!(split(-0.75), (-3, -2));
    }

    #[test]
    fn an_enclosure_is_exact_or_a_few_neighbours_wide() {
        for x in [0.0, 1.0, -0.1, 3.0 * 2f64.powi(900), f64::MAX, -f64::MIN_POSITIVE] {
            assert_eq!(Dyadic::from(x).enclosed(), Interval::point(x));
        }
        let tiny = Dyadic::from(f64::from_bits(1));
        for x in [0.1, -0.1, 1.0, -1.0, 7e300, f64::from_bits(5)] {
            for exact in [&Dyadic::from(x) + &tiny, &Dyadic::from(x) - &tiny] {
                let around = exact.enclosed();
                assert!(
                    Dyadic::from(around.low()) <= exact && exact <= Dyadic::from(around.high())
                );
                assert!(around.low() >= x.next_down().next_down().next_down());
                assert!(around.high() <= x.next_up().next_up().next_up());
            }
        }
        let square = &Dyadic::from(f64::MAX) * &Dyadic::from(f64::MAX);
        assert_eq!(square.enclosed(), Interval::new(f64::MAX, f64::INFINITY));
        assert!((-&square).enclosed().low() <= f64::MIN);
        let nothing = (&tiny * &tiny).enclosed();
        assert!(nothing.holds(0.0) && nothing.high() <= f64::from_bits(1));
    }

    /// It was rounded up to a normal number, and taken for exact.
    #[test]
    fn what_is_just_below_the_normal_numbers_is_in_its_enclosure() {
        for mantissa in [(1_i64 << 53) - 1, 1 - (1 << 53)] {
            let exact = Dyadic::new(IBig::from(mantissa), -1075);
            let around = exact.enclosed();
            assert!(Dyadic::from(around.low()) <= exact && exact <= Dyadic::from(around.high()));
        }
    }

    #[test]
    fn a_sum_that_rounds_away_in_f64_keeps_its_sign() {
        let tiny = Dyadic::from(f64::from_bits(1));
        let one = Dyadic::from(1.0);
        let difference = &(&one + &tiny) - &one;
        assert_eq!(difference.sign(), Sign::Positive);
        assert_eq!(difference, tiny);
    }
}
