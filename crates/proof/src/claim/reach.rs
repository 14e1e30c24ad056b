//! How near is contact: the exact sum of a margin and of the radii of bodies that are rounded.

use crate::number::dyadic::Dyadic;

/// Bodies are in contact when the polytopes that they are made of are no farther apart than this:
/// the sum of up to three lengths, metres, which need not be an f64 number. Zero means that the
/// polytopes themselves meet.
///
/// ```
/// use clearance_proof::claim::Reach;
///
/// let reach = Reach::of_rounded([1.0, 1e-20], 0.0);
/// assert!(reach.lower() <= 1.0 && 1.0 < reach.upper());
/// assert_eq!(Reach::from(0.25).bounds(), [0.25; 2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// Finite and not negative, but for a margin below 0, which is less than the others together.
    lengths: [f64; 3],
}

/// Of polytopes that are not rounded.
impl From<f64> for Reach {
    fn from(margin: f64) -> Self {
        Self { lengths: [margin, 0.0, 0.0] }
    }
}

impl Reach {
    /// Contact of the polytopes themselves.
    pub const ZERO: Self = Self { lengths: [0.0; 3] };

    /// Within a margin of polytopes that are rounded with these radii. It may be below 0 where a
    /// distance is compared with the sum, which then has to be more than 0.
    pub const fn of_rounded([of_p, of_q]: [f64; 2], margin: f64) -> Self {
        Self { lengths: [of_p, of_q, margin] }
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.lengths.iter().all(|length| *length <= 0.0)
    }

    /// Whether all lengths are finite and none is negative.
    pub fn is_valid(self) -> bool {
        self.lengths.iter().all(|length| (0.0..f64::INFINITY).contains(length))
    }

    /// It and another length.
    ///
    /// Of a fourth length there is no place; a margin of 0 has left one.
    #[must_use]
    pub fn with_margin(self, margin: f64) -> Self {
        let [of_p, of_q, _] = self.lengths;
        Self::of_rounded([of_p, of_q], margin)
    }

    /// The sum, exactly.
    pub fn exact(self) -> Dyadic {
        self.lengths.iter().fold(Dyadic::zero(), |sum, length| &sum + &Dyadic::from(*length))
    }

    /// F64 numbers, or infinity, no more and no less than the sum; the sum itself where it is the
    /// only length.
    pub fn bounds(self) -> [f64; 2] {
        let mut bounds = [0.0; 2];
        for length in self.lengths.into_iter().filter(|length| *length != 0.0) {
            // Rounding moves a sum to a neighbour at most.
            let [lower, upper] = bounds;
            bounds = if upper <= 0.0 {
                [length; 2]
            } else {
                [(lower + length).next_down().max(0.0), (upper + length).next_up()]
            };
        }
        bounds
    }

    /// See [`Reach::bounds`].
    pub fn lower(self) -> f64 {
        self.bounds()[0]
    }

    /// See [`Reach::bounds`].
    pub fn upper(self) -> f64 {
        self.bounds()[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_enclosed_also_where_it_is_no_f64_number() {
        let (mut state, mut rounded) = (5_u64, 0);
        let mut length = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from_bits((state >> 12) | (1023 << 52)) - 1.0
        };
        for _ in 0..2_000 {
            let (a, b, c) = (length(), length() * 1e-8, length());
            let reach = Reach::of_rounded([a, b], c);
            let ([lower, upper], exact) = (reach.bounds(), reach.exact());
            assert!(Dyadic::from(lower) <= exact && exact <= Dyadic::from(upper));
            rounded += u32::from(Dyadic::from(a + b + c) != exact);
        }
        assert!(rounded > 1_000, "{rounded}");
        let single = Reach::of_rounded([0.0, 0.75], 0.0);
        assert!(single.bounds().iter().all(|bound| bound.to_bits() == 0.75f64.to_bits()));
        let less = Reach::of_rounded([1.0, 1.0], -2.0_f64.next_down());
        let (sum, exact) = (2.0 - 2.0_f64.next_down(), less.exact());
        assert!(exact == Dyadic::from(sum) && less.lower() <= sum && sum <= less.upper());
        assert!(less.lower() >= 0.0 && less.upper() < 1e-15 && !less.is_valid());
        // A sum of the largest lengths is no f64 number, and is enclosed by infinity.
        let largest = Reach::of_rounded([f64::MAX, f64::MAX], f64::MAX);
        assert!(largest.lower() <= f64::MAX && largest.upper().is_infinite());
    }
}
