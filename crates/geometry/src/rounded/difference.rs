//! The difference of two lengths of which one is a root, enclosed however near they are: the
//! difference of their squares, which is exact, over their sum.

use dashu_int::{IBig, UBig};

use crate::number::dyadic::Dyadic;
use crate::number::ratio::Ratio;

/// Encloses |v| less a length that is not more. `squared` are numerator and denominator of |v|², in
/// units of two to twice the exponent; `[low, high]` encloses |v|.
pub(super) fn length_less(
    squared: (UBig, UBig),
    exponent: i64,
    enclosed: [f64; 2],
    length: &Dyadic,
) -> [f64; 2] {
    let difference = difference_of_squares(squared, exponent, length);
    difference.over_sum(enclosed, length)
}

/// Encloses a length less |v|, which is not more.
pub(super) fn less_length(
    squared: (UBig, UBig),
    exponent: i64,
    enclosed: [f64; 2],
    length: &Dyadic,
) -> [f64; 2] {
    let difference = difference_of_squares(squared, exponent, length);
    Quotient { numerator: -&difference.numerator, ..difference }.over_sum(enclosed, length)
}

/// An exact quotient.
struct Quotient {
    numerator: Dyadic,
    denominator: IBig,
}

/// `|v|² - length²`, as a quotient.
fn difference_of_squares(
    (numerator, denominator): (UBig, UBig),
    exponent: i64,
    length: &Dyadic,
) -> Quotient {
    let denominator = IBig::from(denominator);
    let of_v = Dyadic::new(IBig::from(numerator), 2 * exponent);
    let of_length = &(length * length) * &Dyadic::new(denominator.clone(), 0);
    Quotient { numerator: &of_v - &of_length, denominator }
}

impl Quotient {
    /// Encloses it, which is not negative, over the sum of |v| and the length.
    fn over_sum(&self, [low, high]: [f64; 2], length: &Dyadic) -> [f64; 2] {
        let over = |end: f64| {
            let sum = length + &Dyadic::from(end);
            let exponent = self.numerator.exponent() - sum.exponent();
            let numerator = self.numerator.mantissa().clone();
            Ratio::new(numerator, &self.denominator * sum.mantissa(), exponent).bracket()
        };
        // The more it is divided by, the less it is.
        [over(high)[0], over(low)[1]]
    }
}
