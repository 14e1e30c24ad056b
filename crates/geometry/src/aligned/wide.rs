//! Integers of 256 bits: products of two of 128, which take no memory from the heap.

use std::cmp::Ordering;

/// `high 2^128 + low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide {
    high: i128,
    low: u128,
}

impl Wide {
    /// `a b`, exactly.
    #[inline]
    pub(crate) fn product(a: i128, b: i128) -> Self {
        let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
        let ((a1, a0), (b1, b0)) = (half(a.unsigned_abs()), half(b.unsigned_abs()));
        let (least, most) = (a0 * b0, a1 * b1);
        // None of the four products is longer than 128 bits, as no half is than 64.
        let (middle, carry) = (a0 * b1).overflowing_add(a1 * b0);
        let (low, more) = least.overflowing_add(middle << 64);
        let high = most + (middle >> 64) + (u128::from(carry) << 64) + u128::from(more);
        let size = Self { high: high.cast_signed(), low };
        if (a < 0) == (b < 0) { size } else { size.negated() }
    }

    /// `-x`; of all numbers but the least.
    #[inline]
    pub(crate) fn negated(self) -> Self {
        let (low, is_zero) = (!self.low).overflowing_add(1);
        Self { high: (!self.high).wrapping_add(i128::from(is_zero)), low }
    }

    /// `a + b`; none if it is too long.
    #[inline]
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high)?.checked_add(i128::from(carry))?;
        Some(Self { high, low })
    }

    /// `x 2^by`; none if it is too long.
    #[inline]
    pub(crate) fn shifted(self, by: u32) -> Option<Self> {
        if by == 0 || self == Self::from(0_i128) {
            return Some(self);
        }
        if by >= 255 {
            return None;
        }
        if by >= 128 {
            let high = self.short()?.checked_mul(1 << (by - 128))?;
            return Some(Self { high, low: 0 });
        }
        let high = (self.high << by) | (self.low >> (128 - by)).cast_signed();
        let is_whole = (self.high << by) >> by == self.high;
        is_whole.then_some(Self { high, low: self.low << by })
    }

    /// The same in 128 bits, if it fits.
    #[inline]
    pub(crate) fn short(self) -> Option<i128> {
        let low = self.low.cast_signed();
        (self.high == low >> 127).then_some(low)
    }
}

impl From<i128> for Wide {
    #[inline]
    fn from(x: i128) -> Self {
        Self { high: x >> 127, low: x.cast_unsigned() }
    }
}

impl PartialOrd for Wide {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wide {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.high.cmp(&other.high).then(self.low.cmp(&other.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Random;
    use dashu_int::IBig;

    fn exact(x: Wide) -> IBig {
        (IBig::from(x.high) << 128) + IBig::from(x.low)
    }

    /// Any length of either sign, with runs of ones and zeros.
    fn number(random: &mut Random) -> i128 {
        let words = [random.below(u32::MAX), random.below(u32::MAX), random.below(u32::MAX)];
        let bits = words.iter().fold(0_i128, |bits, word| (bits << 32) | i128::from(*word));
        let cut = bits >> random.below(96);
        match random.below(6) {
            0 => (1_i128 << random.below(127)) - 1,
            1 => -(1_i128 << random.below(127)),
            2 => -cut,
            3 => [0, 1, -1, i128::MAX, i128::MIN, i128::MIN + 1][random.below(6) as usize],
            _ => cut,
        }
    }

    #[test]
    fn wide_numbers_are_the_integers_that_they_are_made_of() {
        let mut random = Random(5);
        let mut refused = 0;
        for _ in 0..20_000 {
            let [a, b, c, d] = [(); 4].map(|()| number(&mut random));
            let (x, y) = (Wide::product(a, b), Wide::product(c, d));
            let (big_x, big_y) = (IBig::from(a) * IBig::from(b), IBig::from(c) * IBig::from(d));
            assert_eq!(exact(x), big_x, "{a} {b}");
            assert_eq!(x.cmp(&y), big_x.cmp(&big_y));
            assert_eq!(exact(x.negated()), -&big_x);
            assert_eq!(exact(Wide::from(a)), IBig::from(a));
            assert_eq!(x.short().map(IBig::from).is_some(), i128::try_from(&big_x).is_ok());
            if let Some(short) = x.short() {
                assert_eq!(IBig::from(short), big_x);
            }
            if let Some(sum) = x.plus(y) {
                assert_eq!(exact(sum), &big_x + &big_y);
            }
            let by = random.below(300);
            match x.shifted(by) {
                Some(shifted) => assert_eq!(exact(shifted), &big_x << by as usize, "{a} {b} {by}"),
                None => {
                    refused += 1;
                    let limit = IBig::ONE << 250;
                    let size = &big_x << by as usize;
                    assert!(size > limit || size < -limit, "{a} {b} {by}");
                }
            }
        }
        assert!(refused > 1000, "{refused}");
    }
}
