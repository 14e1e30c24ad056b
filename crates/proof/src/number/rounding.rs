//! The error bounds of f64 arithmetic, as formulas. Every tolerance in the crate comes from here or
//! from the caller.

use std::ops::RangeInclusive;

use super::binary::power_of_two;
use crate::Vec3;

/// Unit round-off of f64, round to nearest: `|fl(a op b) - (a op b)| <= UNIT |a op b|` unless the
/// result is subnormal.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// Room for the roundings of a few dozen operations in f64: a bound that they form, multiplied by
/// this, is a bound in spite of them.
pub const OUTWARD: f64 = 1.0 + 64.0 * f64::EPSILON;

/// Relative error bound of `terms` roundings in a row: `γ_n = n u / (1 - n u)`.
/// Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., §3.1.
pub const fn gamma(terms: u32) -> f64 {
    let nu = terms as f64 * UNIT;
    nu / (1.0 - nu)
}

/// `|v|` within `gamma(8)`, relatively, of any finite vector whose length is neither subnormal nor
/// too large for an f64: its square may be either.
#[inline]
pub fn length(v: &Vec3) -> f64 {
    let squared = v.norm_squared();
    if SQUARES.contains(&squared) {
        return squared.sqrt();
    }
    let largest = v.amax();
    if largest > 0.0 { (v / largest).norm() * largest } else { largest }
}

/// The vector of length 1 along v, unless v is zero or not finite.
pub fn unit(v: &Vec3) -> Option<Vec3> {
    let squared = v.norm_squared();
    // Nearly every vector is of this kind, and takes half as many divisions.
    if SQUARES.contains(&squared) {
        return Some(v / squared.sqrt());
    }
    let largest = v.amax();
    let direction = (v / largest).normalize();
    (largest > 0.0 && direction.iter().all(|c| c.is_finite())).then_some(direction)
}

/// Squared lengths to take roots of: from 2^-900, where the square of a component that underflows
/// is below the rounding of the sum, to 2^1000, where no component's square overflowed.
pub const SQUARES: RangeInclusive<f64> = power_of_two(-900)..=power_of_two(1000);

/// Twice what underflow can add to one product, half the smallest subnormal, which is no f64
/// itself.
pub const UNDERFLOW: f64 = f64::from_bits(1);

/// More than underflow can add to a sum of some dozens of products: 2^54 of the smallest
/// subnormals. A normal number, because arithmetic on subnormal ones takes a hundred times as long;
/// too large a floor only sends more to the exact stage.
pub const UNDERFLOW_FLOOR: f64 = power_of_two(-1020);

/// The part by which a bound on where a moving body can be is made larger than what was computed.
/// It covers thousands of roundings where there are a dozen, and is far too little for boxes to
/// meet that otherwise would not.
pub const BOUND_SLACK: f64 = 1e-12;

/// A facet whose normal, the product of two edges, is shorter than this share of the product of
/// their lengths is too narrow for its normal to be used. The direction of any other normal is
/// known to 1e-9, after roundings of 1e-15 of the edges: far less than [`LEVER_SLACK`].
pub const FACET_NARROW: f64 = 1e-6;

/// The part of a body's radius by which the lever of its turns is made larger than computed.
pub const LEVER_SLACK: f64 = 1e-6;

/// Sizes in metres, and their squares, whose products of three neither overflow nor underflow. The
/// filters prove nothing of others, and the exact stage decides.
pub const PLAIN_SIZES: RangeInclusive<f64> = 1e-90..=1e90;

/// Lengths in metres with which products of four neither overflow nor underflow. A cast gives up on
/// others.
pub const CAST_LENGTHS: RangeInclusive<f64> = 1e-60..=1e60;

/// What underflow can add to a value that certifies the entry of a line. With [`CAST_LENGTHS`] an
/// underflow is multiplied by at most 1e122 before it is in a value that is compared; this covers
/// more of them than there are operations.
pub const ENTRY_FLOOR: f64 = 1e-190;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_accurate_where_squares_underflow_and_overflow() {
        for exponent in [-1000, -600, -540, -512, -450, -300, 0, 300, 499, 512, 600, 1000] {
            let unit = 2f64.powi(exponent);
            for (v, expected) in [
                (Vec3::new(3.0, -4.0, 12.0), 13.0),
                (Vec3::new(0.0, 0.0, -5.0), 5.0),
                (Vec3::new(1.0, 2f64.powi(-40), 2f64.powi(-80)), 1.0),
            ] {
                let off = (length(&(v * unit)) / unit - expected).abs() / expected;
                assert!(off <= gamma(8), "{v} by 2^{exponent}: {off:e}");
            }
        }
        assert_eq!(length(&Vec3::zeros()).to_bits(), 0);
    }
}
