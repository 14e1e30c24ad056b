//! Exact scaling of points by a power of two, to keep products clear of overflow and underflow.

use super::binary::{EXPONENT_MAX, EXPONENT_MIN, exponent_of, power_of_two, split};
use crate::Vec3;

/// `2^exponent`, possibly beyond the range of f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerOfTwo {
    exponent: i32,
}

/// Coordinates whose largest is within `2^±TAME_MAX` need no scaling: products of three differences
/// stay below 2^1023, and above 2^-1022 unless the differences are tiny beside the coordinates.
const TAME_MAX: i32 = 200;

impl PowerOfTwo {
    /// `2^exponent`.
    pub fn new(exponent: i32) -> Self {
        Self { exponent }
    }

    /// The factor that brings the largest coordinate into [1, 2); none when it is not far from
    /// there (or zero).
    pub fn that_tames(points: &[Vec3]) -> Option<Self> {
        Self::that_tames_length(points.iter().map(nalgebra::Vector3::amax).fold(0.0, f64::max))
    }

    /// The power of two that tames lengths, for a largest coordinate.
    pub fn that_tames_length(largest: f64) -> Option<Self> {
        let exponent = exponent_of(largest)?;
        (exponent.abs() > TAME_MAX).then_some(Self { exponent: -exponent })
    }

    /// The exponent.
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// `x` times this, rounded once.
    pub fn times(self, x: f64) -> f64 {
        let (mantissa, exponent) = split(x);
        // Fewer than 54 bits, so exact, as is every product below but the last.
        let mantissa = mantissa as f64;
        let exponent = exponent + self.exponent;
        let first = exponent.clamp(EXPONENT_MIN, EXPONENT_MAX);
        let rest = (exponent - first).clamp(EXPONENT_MIN, EXPONENT_MAX);
        mantissa * power_of_two(first) * power_of_two(rest)
    }

    /// All the points times this, if every coordinate is exact.
    pub fn times_all(self, points: &[Vec3]) -> Option<Vec<Vec3>> {
        let back = Self { exponent: -self.exponent };
        points
            .iter()
            .map(|p| {
                let scaled = p.map(|x| self.times(x));
                (scaled.map(|x| back.times(x)) == *p).then_some(scaled)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "exact results are the point")]
    fn scaling_rounds_once_and_only_at_the_ends_of_the_range() {
        let tiny = f64::from_bits(1);
        assert_eq!(PowerOfTwo::new(1074).times(tiny), 1.0);
        assert_eq!(PowerOfTwo::new(-1074).times(1.0), tiny);
        assert_eq!(PowerOfTwo::new(-1074).times(1.5), 2.0 * tiny);
        assert_eq!(PowerOfTwo::new(-1074).times(2.5), 2.0 * tiny);
        // Rounded first to 2^-1064 and then again this would be 1 * 2^-1074, a tie broken wrongly.
        assert_eq!(PowerOfTwo::new(-1075).times(1.0 + f64::EPSILON), tiny);
        assert_eq!(PowerOfTwo::new(-3000).times(f64::MAX), 0.0);
        assert_eq!(PowerOfTwo::new(3000).times(-tiny), f64::NEG_INFINITY);
        assert_eq!(PowerOfTwo::new(7).times(-0.3), -0.3 * 128.0);
        assert_eq!(PowerOfTwo::new(7).times(0.0), 0.0);
    }
}
