//! Numbers of twice the precision: the unevaluated sum of two f64 numbers.
//!
//! Source: T. Dekker, "A floating-point technique for extending the available precision", Numer.
//!         Math. 18, 1971; M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for
//!         basic building blocks of double-word arithmetic", ACM TOMS 44(2), 2017, algorithms 6
//!         (sum, 3u²) and 10 (product, without fused operations, 7u² at most).
//!
//! The bounds hold unless something overflows or underflows; [`super::view`] sees to that.

use std::ops::{Add, Mul, Neg, Sub};

use crate::geometry::Vec3;
use crate::geometry::number::rounding::UNIT;

/// Relative error of one sum, difference or product is at most this; the papers' bounds are half
/// of it and less.
pub(super) const DOUBLE_UNIT: f64 = 16.0 * UNIT * UNIT;

/// `high + low`, with `high` the sum rounded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Double {
    high: f64,
    low: f64,
}

/// Three of them.
pub(super) type Double3 = [Double; 3];

impl Double {
    /// The product of two f64 numbers, exactly.
    pub(super) fn product(a: f64, b: f64) -> Self {
        const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
        let split = |x: f64| {
            let c = SPLITTER * x;
            let high = c - (c - x);
            (high, x - high)
        };
        let product = a * b;
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        Self { high: product, low: ((ah * bh - product) + ah * bl + al * bh) + al * bl }
    }

    /// The sum of two f64 numbers, exactly.
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let from_b = sum - a;
        Self { high: sum, low: (a - (sum - from_b)) + (b - from_b) }
    }

    /// The nearest f64, or its neighbour.
    pub(super) fn rounded(self) -> f64 {
        self.high + self.low
    }

    /// For |a| >= |b|.
    fn quick_sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        Self { high: sum, low: b - (sum - a) }
    }
}

impl From<f64> for Double {
    fn from(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.high, other.high), Self::sum(self.low, other.low));
        let first = Self::quick_sum(high.high, high.low + low.high);
        Self::quick_sum(first.high, low.low + first.low)
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let exact = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self::quick_sum(exact.high, exact.low + cross)
    }
}

/// `a · b`
pub(super) fn dot(a: &Double3, b: &Double3) -> Double {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a - b`
pub(super) fn minus(a: &Double3, b: &Double3) -> Double3 {
    std::array::from_fn(|k| a[k] - b[k])
}

/// Each coordinate rounded.
pub(super) fn rounded(a: &Double3) -> Vec3 {
    Vec3::from_fn(|k, _| a[k].rounded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::number::Sign;
    use crate::geometry::number::dyadic::Dyadic;
    use crate::geometry::samples::Random;

    fn exact(x: Double) -> Dyadic {
        &Dyadic::from(x.high) + &Dyadic::from(x.low)
    }

    fn check(found: Double, expected: &Dyadic) {
        let error = &exact(found) - expected;
        let bound = expected * &Dyadic::from(DOUBLE_UNIT);
        let (error, bound) = (&error * &error, &bound * &bound);
        assert!(error <= bound, "{found:?}");
    }

    #[test]
    fn sums_and_products_keep_their_error_bound_even_when_they_cancel() {
        let mut random = Random(31);
        for round in 0..2000 {
            let mut number = || Double::sum(random.signed(), random.signed() * 1e-16);
            let (a, mut b) = (number(), number());
            if round % 2 == 0 {
                // Nearly the opposite.
                b = -a + Double::from(b.high * 1e-20);
            }
            check(a + b, &(&exact(a) + &exact(b)));
            check(a * b, &(&exact(a) * &exact(b)));
            let product = Double::product(a.high, b.high);
            let difference = &exact(product) - &(&Dyadic::from(a.high) * &Dyadic::from(b.high));
            assert_eq!(difference.sign(), Sign::Zero);
        }
    }
}
