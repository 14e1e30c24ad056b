//! Roots of quadratics with exact coefficients, rounded outward to f64.

use dashu_int::ops::{BitTest, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::outward;

/// Bits of the square root behind the binary point, and at least as many significant ones: more
/// than an f64 holds.
const ROOT_BITS: usize = 80;

/// The lesser root of `a x² - 2 b x + c`, times two to the exponent, between two f64 numbers that
/// are neighbours or nearly; one number if it is that exactly. None if there is no root, or if b or
/// c are not positive, or a is negative.
pub fn lesser_root(a: &IBig, b: &IBig, c: &IBig, exponent: i64) -> Option<[f64; 2]> {
    let is_meant = *a >= IBig::ZERO && *b > IBig::ZERO && *c > IBig::ZERO;
    let discriminant = b * b - a * c;
    if !is_meant || discriminant < IBig::ZERO {
        return None;
    }
    // c / (b + root) loses no digits, as (b - root) / a would.
    let [b, c, discriminant] = [b.unsigned_abs(), c.unsigned_abs(), discriminant.unsigned_abs()];
    let (shift, [root, above]) = root_of(discriminant, &b);
    let (c, b) = (c << shift, b << shift);
    let [low, _] = outward::quotient(&c, &(&b + above), exponent);
    let [_, high] = outward::quotient(&c, &(b + root), exponent);
    Some([low, high])
}

/// The greater root of `a x² - 2 b x + c`, times two to the exponent, in the same manner. None if
/// there is no root, if it is not positive, or if a is not.
pub fn greater_root(a: &IBig, b: &IBig, c: &IBig, exponent: i64) -> Option<[f64; 2]> {
    let discriminant = b * b - a * c;
    let is_meant = *a > IBig::ZERO && (*b > IBig::ZERO || *c < IBig::ZERO);
    if !is_meant || discriminant < IBig::ZERO {
        return None;
    }
    let loses_digits = *b < IBig::ZERO;
    let [a, b, c, discriminant] = [a, b, c, &discriminant].map(|x| x.clone().unsigned_abs());
    let (shift, [root, above]) = root_of(discriminant, &b);
    let b = b << shift;
    Some(if loses_digits {
        // -c / (root - b) loses none.
        let c = c << shift;
        let [low, _] = outward::quotient(&c, &(&b + above), exponent);
        let [_, high] = outward::quotient(&c, &(b + root), exponent);
        [low, high]
    } else {
        let a = a << shift;
        let [low, _] = outward::quotient(&(&b + root), &a, exponent);
        let [_, high] = outward::quotient(&(b + above), &a, exponent);
        [low, high]
    })
}

/// The square root between two integers, which are one where it is one, in units of a negative
/// power of two; the first is the power. It has more bits than f64 holds, also beside b.
fn root_of(discriminant: UBig, b: &UBig) -> (usize, [UBig; 2]) {
    let shift = ROOT_BITS.saturating_sub(b.bit_len()) + ROOT_BITS;
    let shifted = discriminant << (2 * shift);
    let root = shifted.sqrt();
    let is_exact = &root * &root == shifted;
    let above = if is_exact { root.clone() } else { &root + UBig::ONE };
    (shift, [root, above])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(a: i64, b: i64, c: i64, exponent: i64) -> Option<[f64; 2]> {
        lesser_root(&IBig::from(a), &IBig::from(b), &IBig::from(c), exponent)
    }

    #[test]
    fn a_root_that_is_an_f64_is_its_own_bracket() {
        // (x - 3) (x - 5), and the double root of (2 x - 3)².
        assert_eq!(root(1, 4, 15, 0), Some([3.0, 3.0]));
        assert_eq!(root(4, 6, 9, -1), Some([0.75, 0.75]));
        // Without a square term.
        assert_eq!(root(0, 4, 6, 0), Some([0.75, 0.75]));
        assert_eq!(root(4, 6, 10, 0), None);
        assert_eq!(root(1, -4, 15, 0), None);
        assert_eq!(root(1, 4, -15, 0), None);
    }

    #[test]
    fn the_greater_root_is_enclosed_whatever_the_signs() {
        let greater = |a: i64, b: i64, c: i64, exponent: i64| {
            greater_root(&IBig::from(a), &IBig::from(b), &IBig::from(c), exponent)
        };
        // (x - 3) (x - 5), (x - 3) (x + 5), twice (x - 1/2) (x + 1/2) and a double root.
        assert_eq!(greater(1, 4, 15, 0), Some([5.0, 5.0]));
        assert_eq!(greater(1, -1, -15, 0), Some([3.0, 3.0]));
        assert_eq!(greater(4, 0, -1, 1), Some([1.0, 1.0]));
        assert_eq!(greater(4, 6, 9, 0), Some([1.5, 1.5]));
        // None that is positive, none at all, and no square term.
        assert_eq!(greater(1, -4, 15, 0), None);
        assert_eq!(greater(1, 3, 10, 0), None);
        assert_eq!(greater(0, 4, 6, 0), None);
        // -2^60 + sqrt(2^120 + 1), about 2^-61, and 2 + sqrt(3).
        for (a, b, c, about) in [(1, -(1 << 60), -1, 2f64.powi(-61)), (1, 2, 1, 2.0 + 3f64.sqrt())]
        {
            let [low, high] = greater(a, b, c, 0).unwrap();
            assert!(low < high && high <= low.next_up().next_up(), "{low} {high}");
            assert!((low / about - 1.0).abs() < 1e-15, "{low} {about}");
        }
    }

    #[test]
    fn every_other_root_lies_between_neighbours() {
        // 2 - sqrt(3), 1/3 twice, and one that all but cancels: about 2^-61.
        let golden = 2.0 - 3f64.sqrt();
        for (a, b, c, about) in
            [(1, 2, 1, golden), (9, 3, 1, 1.0 / 3.0), (1, 1 << 60, 1, 2f64.powi(-61))]
        {
            let [low, high] = root(a, b, c, 0).unwrap();
            assert!(low < high && high <= low.next_up().next_up(), "{low} {high}");
            assert!((low / about - 1.0).abs() < 1e-15, "{low} {about}");
        }
    }
}
