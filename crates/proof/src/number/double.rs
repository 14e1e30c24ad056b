//! Numbers of twice the precision: the unevaluated sum of two f64 numbers. And [`Real`], for
//! formulas that are evaluated in f64 first and, where that leaves too much open, in these.
//!
//! Source: T. Dekker, "A floating-point technique for extending the available precision", Numer.
//!         Math. 18, 1971; M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds
//!         for basic building blocks of double-word arithmetic", ACM TOMS 44(2), 2017, algorithms
//!         6 (sum, 3u²) and 10 (product, without fused operations, 7u² at most).
//!
//! The bounds hold unless something overflows or underflows; the caller sees to that.

use std::ops::{Add, Mul, Neg, Sub};

use super::rounding::UNIT;
use crate::Vec3;

/// Arithmetic of some precision on which an error analysis can rest.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// At least the relative error of one sum, difference or product.
    const UNIT: f64;

    /// The number itself.
    fn of(x: f64) -> Self;

    /// `a - b`, with one rounding at most.
    fn difference(a: f64, b: f64) -> Self;

    /// `a * b`, with one rounding at most.
    fn product(a: f64, b: f64) -> Self;

    /// The nearest f64, or its neighbour.
    fn rounded(self) -> f64;
}

/// Three of them.
pub type Triple<N> = [N; 3];

/// `a · b`, summed from left to right.
#[inline]
pub fn dot<N: Real>(a: &Triple<N>, b: &Triple<N>) -> N {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// `a × b`
#[inline]
pub fn cross<N: Real>(a: &Triple<N>, b: &Triple<N>) -> Triple<N> {
    let component = |j: usize, k: usize| a[j] * b[k] - a[k] * b[j];
    [component(1, 2), component(2, 0), component(0, 1)]
}

/// `a - b`
#[inline]
pub fn minus<N: Real>(a: &Triple<N>, b: &Triple<N>) -> Triple<N> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a + b w`
#[inline]
pub fn plus_times<N: Real>(a: &Triple<N>, b: &Triple<N>, w: N) -> Triple<N> {
    [a[0] + b[0] * w, a[1] + b[1] * w, a[2] + b[2] * w]
}

/// Each component rounded.
#[inline]
pub fn rounded<N: Real>(a: &Triple<N>) -> Vec3 {
    Vec3::new(a[0].rounded(), a[1].rounded(), a[2].rounded())
}

impl Real for f64 {
    const UNIT: f64 = UNIT;

    #[inline]
    fn of(x: f64) -> Self {
        x
    }

    #[inline]
    fn difference(a: f64, b: f64) -> Self {
        a - b
    }

    #[inline]
    fn product(a: f64, b: f64) -> Self {
        a * b
    }

    #[inline]
    fn rounded(self) -> f64 {
        self
    }
}

/// The sum rounded, and its error: `a + b` exactly. D. Knuth, *The Art of Computer Programming*,
/// vol. 2, §4.2.2.
#[inline]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    (sum, (a - (sum - from_b)) + (b - from_b))
}

/// The product rounded, and its error: `a * b` exactly, unless something overflows or underflows.
#[inline]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let split = |x: f64| {
        let c = SPLITTER * x;
        let high = c - (c - x);
        (high, x - high)
    };
    let product = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

/// `high + low`, with `high` the sum rounded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// The sum of two f64 numbers, exactly.
    #[inline]
    pub fn sum(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, b);
        Self { high, low }
    }

    /// For |a| >= |b|.
    #[inline]
    fn quick_sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        Self { high: sum, low: b - (sum - a) }
    }
}

impl Real for Double {
    /// The papers' bounds are half of it and less.
    const UNIT: f64 = 16.0 * UNIT * UNIT;

    #[inline]
    fn of(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    #[inline]
    fn difference(a: f64, b: f64) -> Self {
        Self::sum(a, -b)
    }

    #[inline]
    fn product(a: f64, b: f64) -> Self {
        let (high, low) = two_product(a, b);
        Self { high, low }
    }

    #[inline]
    fn rounded(self) -> f64 {
        self.high + self.low
    }
}

impl Add for Double {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.high, other.high), Self::sum(self.low, other.low));
        let first = Self::quick_sum(high.high, high.low + low.high);
        Self::quick_sum(first.high, low.low + first.low)
    }
}

impl Neg for Double {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let exact = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self::quick_sum(exact.high, exact.low + cross)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Sign;
    use crate::number::dyadic::Dyadic;
    use clearance_samples::Random;

    fn exact(x: Double) -> Dyadic {
        &Dyadic::from(x.high) + &Dyadic::from(x.low)
    }

    fn check(found: Double, expected: &Dyadic) {
        let error = &exact(found) - expected;
        let bound = expected * &Dyadic::from(Double::UNIT);
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
                b = -a + Double::of(b.high * 1e-20);
            }
            check(a + b, &(&exact(a) + &exact(b)));
            check(a * b, &(&exact(a) * &exact(b)));
            let product = Double::product(a.high, b.high);
            let difference = &exact(product) - &(&Dyadic::from(a.high) * &Dyadic::from(b.high));
            assert_eq!(difference.sign(), Sign::Zero);
        }
    }
}
