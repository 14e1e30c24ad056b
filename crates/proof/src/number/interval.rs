//! Intervals of real numbers with f64 ends, every operation rounded outward.
//!
//! An operation on intervals encloses the operation on every choice of real numbers from them. The
//! hardware rounds to nearest, so the exact result lies within one neighbour of the rounded one;
//! each end therefore moves to the next f64 outward. Overflow stays right: a low end that rounded
//! to +inf moves down to the largest f64, and whatever involves an infinite end of a factor becomes
//! the whole line.

use std::ops::{Add, Mul, Neg, Sub};

use super::Sign;
use super::rounding::{UNDERFLOW, UNIT};
use crate::Vec3;

/// The reals from `low` to `high`. An infinite end means "unbounded"; an end is never NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    low: f64,
    high: f64,
}

/// Three coordinates, each somewhere in its interval.
pub type IntervalVec = [Interval; 3];

impl Interval {
    /// All real numbers.
    pub const ENTIRE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// Only 0.
    pub const ZERO: Self = Self { low: 0.0, high: 0.0 };
    /// Only 1.
    pub const ONE: Self = Self { low: 1.0, high: 1.0 };
    /// From -1 to 1, where every sine is.
    pub const UNIT_BALL: Self = Self { low: -1.0, high: 1.0 };
    /// From 0 to 2, where every versine is.
    pub const ZERO_TO_TWO: Self = Self { low: 0.0, high: 2.0 };

    /// From `low` to `high`; the whole line when they are not in order (or not numbers).
    #[inline]
    pub fn new(low: f64, high: f64) -> Self {
        if low <= high { Self { low, high } } else { Self::ENTIRE }
    }

    /// Only `x`, which is finite (else the whole line).
    #[inline]
    pub fn point(x: f64) -> Self {
        if x.is_finite() { Self { low: x, high: x } } else { Self::ENTIRE }
    }

    /// The numbers within `radius` of `centre`.
    #[inline]
    pub fn around(centre: f64, radius: f64) -> Self {
        Self::new((centre - radius).next_down(), (centre + radius).next_up())
    }

    /// The exact difference of two f64 numbers, enclosed; a point when it is an f64.
    #[inline]
    pub fn difference(a: f64, b: f64) -> Self {
        let d = a - b;
        let b_virtual = a - d;
        let a_virtual = d + b_virtual;
        // Knuth's two-sum: the error of `d`, exactly, unless something overflows.
        let error = (a - a_virtual) + (b_virtual - b);
        if error.abs() <= 0.0 { Self::point(d) } else { Self::new(d.next_down(), d.next_up()) }
    }

    /// The low end.
    #[inline]
    pub fn low(self) -> f64 {
        self.low
    }

    /// The high end.
    #[inline]
    pub fn high(self) -> f64 {
        self.high
    }

    /// A number in the middle, rounded; 0 for the whole line.
    #[inline]
    pub fn middle(self) -> f64 {
        let middle = 0.5 * self.low + 0.5 * self.high;
        if middle.is_nan() { 0.0 } else { middle }
    }

    /// At least the distance from [`Self::middle`] to every number of the interval.
    #[inline]
    pub fn radius(self) -> f64 {
        let middle = self.middle();
        (self.high - middle).max(middle - self.low).next_up()
    }

    /// The largest absolute value.
    #[inline]
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The sign of every number of the interval, if they have the same one.
    #[inline]
    pub fn sign(self) -> Option<Sign> {
        if self.low > 0.0 {
            Some(Sign::Positive)
        } else if self.high < 0.0 {
            Some(Sign::Negative)
        } else if self.low >= 0.0 && self.high <= 0.0 {
            Some(Sign::Zero)
        } else {
            None
        }
    }

    /// Whether `x` is in it.
    #[inline]
    pub fn holds(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The least interval that holds both.
    #[inline]
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers in both, which the caller knows to exist.
    #[inline]
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.low.max(other.low), self.high.min(other.high))
    }

    /// The larger of a number from here and a number from there.
    #[inline]
    pub fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The smaller of a number from here and a number from there.
    #[inline]
    pub fn min(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// Times an f64.
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        let (a, b) = (self.low * factor, self.high * factor);
        if !(a.is_finite() && b.is_finite()) {
            // Overflow, or an infinite end: the general rule.
            return self * Self::point(factor);
        }
        if a < b { Self::outward(a, b) } else { Self::outward(b, a) }
    }

    /// The squares.
    #[inline]
    pub fn square(self) -> Self {
        let (a, b) = (self.low.abs(), self.high.abs());
        let (small, large) = if a < b { (a, b) } else { (b, a) };
        let low = if self.holds(0.0) { 0.0 } else { (small * small).next_down().max(0.0) };
        Self { low, high: (large * large).next_up() }
    }

    /// The absolute values.
    #[inline]
    pub fn abs(self) -> Self {
        let (a, b) = (self.low.abs(), self.high.abs());
        Self { low: if self.holds(0.0) { 0.0 } else { a.min(b) }, high: a.max(b) }
    }

    /// The square roots of the numbers that have one (of none: 0).
    #[inline]
    pub fn sqrt(self) -> Self {
        // IEEE square roots are correctly rounded.
        let low = self.low.max(0.0).sqrt().next_down().max(0.0);
        Self { low, high: self.high.max(0.0).sqrt().next_up() }
    }

    /// The reciprocals of the positive numbers in it; the whole line unless all are positive.
    #[inline]
    pub fn reciprocal_of_positive(self) -> Self {
        if self.low > 0.0 {
            Self::new((1.0 / self.high).next_down().max(0.0), (1.0 / self.low).next_up())
        } else {
            Self::ENTIRE
        }
    }

    /// From rounded ends to ends that surely enclose what they were rounded from: at least to the
    /// neighbouring f64 on either side.
    ///
    /// `|x| φ + η` with φ = u (1 + 2u) and η the least subnormal reaches the neighbour without
    /// looking at bits: S. M. Rump, P. Zimmermann, S. Boldo, G. Melquiond, "Computing predecessor
    /// and successor in rounding to nearest", BIT 49, 2009, Theorem 2.2.
    #[inline]
    fn outward(low: f64, high: f64) -> Self {
        const PHI: f64 = UNIT * (1.0 + 2.0 * UNIT);
        let low_out = low - (low.abs() * PHI + UNDERFLOW);
        let high_out = high + (high.abs() * PHI + UNDERFLOW);
        if low_out.is_finite() && high_out.is_finite() {
            Self { low: low_out, high: high_out }
        } else {
            // Overflow, or an unbounded interval.
            Self { low: low.next_down(), high: high.next_up() }
        }
    }

    #[inline]
    fn is_bounded(self) -> bool {
        self.low > f64::NEG_INFINITY && self.high < f64::INFINITY
    }
}

impl Neg for Interval {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

impl Add for Interval {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        // Low ends are never +inf and high ends never -inf, so no sum here is inf - inf.
        Self::outward(self.low + other.low, self.high + other.high)
    }
}

impl Sub for Interval {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        if !(self.is_bounded() && other.is_bounded()) {
            return Self::ENTIRE;
        }
        // Finite factors: no NaN, so plain comparisons (one instruction each) will do.
        let less = |a: f64, b: f64| if a < b { a } else { b };
        let more = |a: f64, b: f64| if a > b { a } else { b };
        let (a, b) = (self.low * other.low, self.low * other.high);
        let (c, d) = (self.high * other.low, self.high * other.high);
        Self::outward(less(less(a, b), less(c, d)), more(more(a, b), more(c, d)))
    }
}

/// The vector whose coordinates are exactly these f64 numbers.
#[inline]
pub fn point(v: &Vec3) -> IntervalVec {
    [Interval::point(v.x), Interval::point(v.y), Interval::point(v.z)]
}

/// `a + b`
#[inline]
pub fn add(a: &IntervalVec, b: &IntervalVec) -> IntervalVec {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`
#[inline]
pub fn sub(a: &IntervalVec, b: &IntervalVec) -> IntervalVec {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a` times a number.
#[inline]
pub fn scaled(a: &IntervalVec, factor: Interval) -> IntervalVec {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

/// `a · b`
#[inline]
pub fn dot(a: &IntervalVec, b: &IntervalVec) -> Interval {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// `a · b` for exact `b`.
#[inline]
pub fn dot_exact(a: &IntervalVec, b: &Vec3) -> Interval {
    (a[0].scale(b.x) + a[1].scale(b.y)) + a[2].scale(b.z)
}

/// `a × b`
#[inline]
pub fn cross(a: &IntervalVec, b: &IntervalVec) -> IntervalVec {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The length of a vector.
#[inline]
pub fn norm(a: &IntervalVec) -> Interval {
    let largest = a[0].magnitude().max(a[1].magnitude()).max(a[2].magnitude());
    if (1e-140..=1e140).contains(&largest) {
        return (a[0].square() + a[1].square() + a[2].square()).sqrt();
    }
    // Squares would overflow or vanish: the sum and the maximum of the sizes are cruder but right.
    let size = [a[0].abs(), a[1].abs(), a[2].abs()];
    let low = size[0].low.max(size[1].low).max(size[2].low);
    Interval::new(low, (size[0] + size[1] + size[2]).high)
}

/// The middles of the coordinates.
#[inline]
pub fn middle(a: &IntervalVec) -> Vec3 {
    Vec3::new(a[0].middle(), a[1].middle(), a[2].middle())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::dyadic::Dyadic;

    fn numbers() -> Vec<f64> {
        let mut all = vec![
            0.0,
            1.0,
            0.1,
            1.0 / 3.0,
            f64::from_bits(1),
            f64::from_bits(0x000f_ffff_ffff_ffff),
            f64::MIN_POSITIVE,
            1e-170,
            1e160,
            f64::MAX,
            7.0e11,
        ];
        let negative: Vec<f64> = all.iter().map(|x| -x).collect();
        all.extend(negative);
        all
    }

    fn encloses(interval: Interval, exact: &Dyadic) -> bool {
        let low = interval.low == f64::NEG_INFINITY || Dyadic::from(interval.low) <= *exact;
        let high = interval.high == f64::INFINITY || *exact <= Dyadic::from(interval.high);
        low && high
    }

    #[test]
    fn every_operation_encloses_the_exact_result_whatever_the_exponents() {
        for &x in &numbers() {
            for &y in &numbers() {
                let (a, b) = (Interval::point(x), Interval::point(y));
                let (ex, ey) = (Dyadic::from(x), Dyadic::from(y));
                assert!(encloses(a + b, &(&ex + &ey)), "{x} + {y}");
                assert!(encloses(a - b, &(&ex - &ey)), "{x} - {y}");
                assert!(encloses(a * b, &(&ex * &ey)), "{x} * {y}");
                assert!(encloses(a.scale(y), &(&ex * &ey)), "{x} scaled by {y}");
                assert!(encloses(Interval::difference(x, y), &(&ex - &ey)), "{x}, {y}");
                let both = Interval::new(x.min(y), x.max(y));
                assert!(encloses(both.square(), &(&ex * &ex)), "{x} in {both:?} squared");
                let root = Interval::point(x.abs()).sqrt();
                let square = root.square();
                assert!(encloses(square, &Dyadic::from(x.abs())), "root of {x}: {root:?}");
            }
        }
    }

    #[test]
    fn an_unbounded_factor_gives_the_whole_line_and_never_a_nan() {
        let half = Interval::new(1.0, f64::INFINITY);
        assert_eq!(half * Interval::ZERO, Interval::ENTIRE);
        assert_eq!(half.scale(0.0), Interval::ENTIRE);
        assert_eq!(Interval::ENTIRE + Interval::ENTIRE, Interval::ENTIRE);
        assert_eq!(Interval::new(f64::NAN, 1.0), Interval::ENTIRE);
        let big = Interval::point(f64::MAX);
        let sum = big + big;
        assert_eq!((sum.low(), sum.high()), (f64::MAX, f64::INFINITY));
        assert_eq!(big.scale(2.0), Interval::new(f64::MAX, f64::INFINITY));
    }

    #[test]
    fn rounding_outward_reaches_the_neighbours_and_hardly_more() {
        for &x in &numbers() {
            for x in [x, x.next_up(), x.next_down(), x * 0.75, x * 1.9] {
                let out = Interval::outward(x, x);
                assert!(out.low <= x.next_down() && x.next_up() <= out.high, "{x:e}: {out:?}");
                let wide = x.next_down().next_down() <= out.low;
                assert!(wide || !x.is_finite(), "{x:e}: {out:?}");
            }
        }
    }

    #[test]
    fn the_middle_and_the_radius_cover_the_interval() {
        for (low, high) in [(0.1, 0.3), (-f64::MAX, f64::MAX), (1.0, 1.0), (-1e-320, 3e-322)] {
            let interval = Interval::new(low, high);
            let (m, r) = (interval.middle(), interval.radius());
            assert!(m - r <= low && high <= m + r, "{interval:?} {m} {r}");
        }
    }
}
