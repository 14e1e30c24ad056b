//! Exact placed coordinates as integers: `R v + t` times a power of two that all points of a
//! question share, and the vector algebra on them.
//!
//! On one common exponent every polynomial sign is a sign of integers, without the alignment that
//! [`super::dyadic`] does at each operation. The integers are as long as the exponents are far
//! apart: about 120 bits for ordinary poses, some thousands for the extremes; both are right.

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::Sign;
use super::dyadic::split;
use crate::geometry::Vec3;
use crate::geometry::pose::Pose;

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

/// The placed points `R v + t` of one body as integers on a given exponent, converted when first
/// asked for.
#[derive(Clone, Debug)]
pub struct ScaledPoints<'a> {
    points: &'a [Vec3],
    /// Exponent of the body's own coordinates.
    local_exponent: i64,
    /// Rows of R on the common exponent less the local one.
    rotation: [Integers; 3],
    translation: Integers,
    /// Where in `placed` a point is, or [`NOT_YET`]; empty until the first is kept.
    slot: Vec<u32>,
    placed: Vec<Integers>,
}

const NOT_YET: u32 = u32::MAX;

/// What the numbers of one placed body need of a common exponent.
#[derive(Clone, Copy, Debug)]
pub struct Exponents {
    /// Least exponent of the body's own coordinates.
    local: i64,
    /// Least exponent of the placed points: of products `R v` and of t.
    pub placed: i64,
}

impl Exponents {
    /// Looks at every coordinate once.
    pub fn of(points: &[Vec3], pose: &Pose) -> Self {
        let local = least_exponent(points.iter().flat_map(Vec3::iter)).unwrap_or(0);
        let rotation = least_exponent(pose.rotation.iter()).unwrap_or(0);
        let products = local + rotation;
        let placed = least_exponent(pose.translation.iter()).map_or(products, |t| t.min(products));
        Self { local, placed }
    }
}

impl<'a> ScaledPoints<'a> {
    /// `exponent` is at most `exponents.placed`.
    pub fn new(points: &'a [Vec3], pose: &Pose, exponents: Exponents, exponent: i64) -> Self {
        let rotation = std::array::from_fn(|i| {
            std::array::from_fn(|k| integer_at(pose.rotation[(i, k)], exponent - exponents.local))
        });
        let translation = std::array::from_fn(|i| integer_at(pose.translation[i], exponent));
        Self {
            points,
            local_exponent: exponents.local,
            rotation,
            translation,
            slot: Vec::new(),
            placed: Vec::new(),
        }
    }

    /// Point `i` in the body's own frame, on an exponent of its own.
    pub fn local(&self, i: u32) -> Integers {
        let v = &self.points[i as usize];
        std::array::from_fn(|k| integer_at(v[k], self.local_exponent))
    }

    /// Placed point `i`, converted anew.
    pub fn place(&self, i: u32) -> Integers {
        let v = self.local(i);
        std::array::from_fn(|k| dot(&self.rotation[k], &v) + &self.translation[k])
    }

    /// Placed point `i`, which is kept.
    pub fn point(&mut self, i: u32) -> &Integers {
        if self.slot.is_empty() {
            self.slot.resize(self.points.len(), NOT_YET);
        }
        let known = self.slot[i as usize];
        let at = if known == NOT_YET {
            let at = self.placed.len();
            self.placed.push(self.place(i));
            self.slot[i as usize] = u32::try_from(at).expect("as many as vertices");
            at
        } else {
            known as usize
        };
        &self.placed[at]
    }

    /// `Rᵀ n` up to a positive factor: the functional `n·(R v + t)` as one of v.
    pub fn direction_in_body(&self, n: &Integers) -> Integers {
        std::array::from_fn(|k| {
            &self.rotation[0][k] * &n[0]
                + &self.rotation[1][k] * &n[1]
                + &self.rotation[2][k] * &n[2]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Mat3;
    use crate::geometry::number::dyadic::Dyadic;

    fn dyadic(x: &IBig, exponent: i64) -> Dyadic {
        Dyadic::new(x.clone(), exponent)
    }

    #[test]
    fn placed_points_equal_the_same_sums_of_dyadic_numbers_at_every_scale() {
        let rotation = Mat3::new(0.36, 0.48, -0.8, -0.8, 0.6, 1e-17, 0.48, 0.64, 0.6);
        for scale in [1.0, 2f64.powi(-1060), 2f64.powi(900), 1e-30] {
            let pose = Pose { rotation, translation: Vec3::new(0.1, -3e7, 0.0) };
            let points =
                [Vec3::new(0.1, 0.2, -0.3) * scale, Vec3::new(1.0, -0.0, f64::from_bits(1))];
            let exponents = Exponents::of(&points, &pose);
            let exponent = exponents.placed - 3;
            let mut scaled = ScaledPoints::new(&points, &pose, exponents, exponent);
            for (i, v) in [(0u32, points[0]), (1, points[1]), (0, points[0])] {
                for (k, got) in scaled.point(i).clone().iter().enumerate() {
                    let mut want = Dyadic::from(pose.translation[k]);
                    for l in 0..3 {
                        let term = &Dyadic::from(pose.rotation[(k, l)]) * &Dyadic::from(v[l]);
                        want = &want + &term;
                    }
                    assert_eq!(dyadic(got, exponent), want, "scale {scale} row {k}");
                }
            }
        }
    }

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
