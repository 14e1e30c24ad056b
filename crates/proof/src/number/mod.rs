//! Arithmetic that can be trusted: error-bound formulas, exact numbers, predicates as enums.

pub mod binary;
pub mod double;
pub mod dyadic;
pub mod interval;
pub mod orientation;
pub mod outward;
pub mod quadratic;
pub mod ratio;
pub mod rounding;
pub mod scale;
pub mod scaled;
pub mod tolerance;
pub mod trig;
pub mod trig_lanes;

/// The sign of an exact number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Less than zero.
    Negative,
    /// Exactly zero.
    Zero,
    /// Greater than zero.
    Positive,
}

impl std::ops::Neg for Sign {
    type Output = Self;
    fn neg(self) -> Self {
        match self {
            Self::Negative => Self::Positive,
            Self::Zero => Self::Zero,
            Self::Positive => Self::Negative,
        }
    }
}
