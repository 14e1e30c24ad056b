//! A length that depths are compared with, exactly, and enclosed for what floating point tells.

use crate::number::dyadic::Dyadic;

/// A length that a depth is compared with.
#[derive(Clone, Debug)]
pub struct DepthBound {
    exact: Dyadic,
    bounds: [f64; 2],
}

impl DepthBound {
    /// It is not negative, and need not be an f64 number.
    pub fn new(exact: Dyadic) -> Self {
        let around = exact.enclosed();
        Self { bounds: [around.low().max(0.0), around.high()], exact }
    }

    pub(super) fn exact(&self) -> &Dyadic {
        &self.exact
    }

    /// Encloses it.
    pub(super) fn bounds(&self) -> [f64; 2] {
        self.bounds
    }
}
