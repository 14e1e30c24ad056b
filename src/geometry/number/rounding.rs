//! The error bounds of f64 arithmetic, as formulas. Every tolerance in the crate comes from here or
//! from the caller.

/// Unit round-off of f64, round to nearest: `|fl(a op b) - (a op b)| <= UNIT |a op b|` unless the
/// result is subnormal.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// Relative error bound of `terms` roundings in a row: `γ_n = n u / (1 - n u)`.
/// Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., §3.1.
pub const fn gamma(terms: u32) -> f64 {
    let nu = terms as f64 * UNIT;
    nu / (1.0 - nu)
}

/// The absolute error of one product that may underflow: half the smallest subnormal.
pub const UNDERFLOW: f64 = f64::from_bits(1);
