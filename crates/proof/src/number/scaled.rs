//! Vectors of integers on an exponent that they share, and the algebra on them.
//!
//! On one common exponent every polynomial sign is a sign of integers, without the alignment that
//! [`super::dyadic`] does at each operation. The integers are as long as the exponents are far
//! apart: about 120 bits for ordinary poses, some thousands for the extremes; both are right.

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::Sign;
use super::binary::split;
use crate::Vec3;

/// A vector of exact integers, on an exponent that its owner knows.
pub type Integers = [IBig; 3];

/// The sign of an integer.
pub fn sign(x: &IBig) -> Sign {
    if x.is_zero() {
        Sign::Zero
    } else if x.sign() == dashu_int::Sign::Negative {
        Sign::Negative
    } else {
        Sign::Positive
    }
}

/// `a · b`
pub fn dot(a: &Integers, b: &Integers) -> IBig {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

/// `a x b`
pub fn cross(a: &Integers, b: &Integers) -> Integers {
    [&a[1] * &b[2] - &a[2] * &b[1], &a[2] * &b[0] - &a[0] * &b[2], &a[0] * &b[1] - &a[1] * &b[0]]
}

/// `a - b`
pub fn difference(a: &Integers, b: &Integers) -> Integers {
    [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
}

/// `a + b`
pub fn sum(a: &Integers, b: &Integers) -> Integers {
    [&a[0] + &b[0], &a[1] + &b[1], &a[2] + &b[2]]
}

/// `-a`
pub fn negated(a: &Integers) -> Integers {
    [-&a[0], -&a[1], -&a[2]]
}

/// Whether all three coordinates are zero.
pub fn is_zero(a: &Integers) -> bool {
    a.iter().all(IBig::is_zero)
}

/// The unit vector of coordinate axis `axis`.
pub fn unit(axis: usize) -> Integers {
    std::array::from_fn(|k| if k == axis { IBig::ONE } else { IBig::ZERO })
}

/// `x = mantissa 2^exponent (1 + e)` with `|e| <= 2^-52`, the mantissa in [1/2, 1] or zero.
fn leading(x: &IBig) -> (f64, i64) {
    let (negative, words) = x.as_sign_words();
    let negative = negative == dashu_int::Sign::Negative;
    let Some(&top) = words.last() else { return (0.0, 0) };
    let width = i64::from(dashu_int::Word::BITS);
    let count = i64::try_from(words.len()).expect("a length fits");
    // Two words hold at least 65 significant bits of a longer number: truncation is below 2^-64.
    let (high, low) = (top, if words.len() > 1 { words[words.len() - 2] } else { 0 });
    let zeros = high.leading_zeros();
    let shifted = if zeros == 0 { high } else { (high << zeros) | (low >> (64 - zeros)) };
    let magnitude = shifted as f64 * 2f64.powi(-64);
    (if negative { -magnitude } else { magnitude }, count * width - i64::from(zeros))
}

/// The direction of an exact vector as f64 numbers: each coordinate is `2^k` times the exact one
/// within a relative error of `2^-52`, plus half the smallest subnormal where it is so small; the
/// largest is in [1/2, 1]. Zero for the zero vector.
pub fn rounded_direction(a: &Integers) -> Vec3 {
    let parts = [leading(&a[0]), leading(&a[1]), leading(&a[2])];
    let top = parts.iter().filter(|(m, _)| *m != 0.0).map(|&(_, e)| e).max().unwrap_or(0);
    Vec3::from_fn(|k, _| {
        let (mantissa, exponent) = parts[k];
        match i32::try_from(exponent - top) {
            // A power below 2^-1073 is reached in two factors, of which only the last rounds.
            Ok(power) if power > -1100 => {
                mantissa * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
            }
            Ok(_) | Err(_) => 0.0,
        }
    })
}

/// Removes the power of two that the three coordinates share: the direction stays, its integers
/// get shorter.
pub fn without_common_twos(a: Integers) -> Integers {
    let twos = a.iter().filter_map(IBig::trailing_zeros).min().unwrap_or(0);
    if twos == 0 { a } else { a.map(|x| x >> twos) }
}

/// Length in bits of the longest coordinate.
pub fn bit_length(a: &Integers) -> usize {
    a.iter().map(BitTest::bit_len).max().unwrap_or(0)
}

/// `x 2^-exponent`, which must be an integer.
pub fn integer_at(x: f64, exponent: i64) -> IBig {
    let (mantissa, e) = split(x);
    if mantissa == 0 {
        return IBig::ZERO;
    }
    let shift = usize::try_from(i64::from(e) - exponent).expect("the exponent covers the number");
    IBig::from(mantissa) << shift
}

/// The least exponent of the numbers' odd mantissas; `None` when all are zero.
pub fn least_exponent<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Option<i64> {
    numbers
        .into_iter()
        .filter_map(|&x| {
            let (mantissa, exponent) = split(x);
            (mantissa != 0).then_some(i64::from(exponent))
        })
        .min()
}

/// A finite f64 vector as integers, up to a power of two.
pub fn exact_vector(vector: &Vec3) -> Integers {
    let exponent = least_exponent(vector.iter()).unwrap_or(0);
    std::array::from_fn(|k| integer_at(vector[k], exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_directions_are_parallel_to_53_bits_at_any_length() {
        for shift in [0usize, 7, 64, 500, 4000] {
            let a: Integers = [
                IBig::from(3) << shift,
                -(IBig::from(0x1234_5678_9abc_def1_i64) << shift),
                IBig::ONE,
            ];
            let d = rounded_direction(&a);
            let ratio = d.x / d.y;
            let want = 3.0 / -(0x1234_5678_9abc_def1_i64 as f64);
            assert!((ratio / want - 1.0).abs() < 1e-15, "{shift}");
            assert!(d.abs().max() <= 1.0 && d.abs().max() >= 0.5);
        }
        assert_eq!(rounded_direction(&[IBig::ZERO, IBig::ZERO, IBig::ZERO]), Vec3::zeros());
        let far = rounded_direction(&[IBig::ONE << 1073, IBig::ONE, IBig::ZERO]);
        assert_eq!(far, Vec3::new(0.5, f64::from_bits(1), 0.0));
    }

    #[test]
    fn crossing_and_dotting_obey_their_identities() {
        let v = |x: i64, y: i64, z: i64| [IBig::from(x), IBig::from(y), IBig::from(z)];
        let (a, b) = (v(1, -2, 3), v(7, 0, -5));
        let n = cross(&a, &b);
        assert!(dot(&n, &a).is_zero() && dot(&n, &b).is_zero() && !is_zero(&n));
        assert_eq!(sum(&difference(&a, &b), &b), a);
        assert_eq!(negated(&negated(&a)), a);
        assert_eq!(without_common_twos(v(8, -4, 0)), v(2, -1, 0));
        assert_eq!(bit_length(&v(8, -4, 0)), 4);
    }
}
