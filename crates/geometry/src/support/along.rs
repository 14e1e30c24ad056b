//! Vertices of one body in order along one direction: by an error bound, else exactly.

use std::cmp::Ordering;

use crate::effort::Effort;
use crate::number::Sign;
use crate::number::binary::power_of_two;
use crate::number::double::{Double, Real as _};
use crate::number::dyadic::Dyadic;
use crate::number::rounding::{UNDERFLOW_FLOOR, gamma};
use crate::polytope::Polytope;
use crate::{Vec3, kernel};

/// A direction with what is needed to compare the vertices of one body along it.
///
/// The rounded value of a vertex x is within `γ₃ S + 3η` of `g·x`, with `S = Σ|g_k| reach_k` and η
/// half the smallest subnormal: three products and two sums, none of which can overflow when S does
/// not. Two rounded values that differ by more than `certain = γ₈ S + UNDERFLOW_FLOOR` are
/// therefore ordered as the exact ones: twice the error, the rounding of the subtraction, of S and
/// of the bound itself are within the difference between γ₆ and γ₈.
#[derive(Clone, Debug)]
pub struct Along<'a> {
    body: &'a Polytope,
    exact: Vec3,
    /// The direction, times a power of two where it would overflow or underflow otherwise.
    rounded: Vec3,
    certain: f64,
}

/// S inside this range needs no scaling: far from overflow, and far enough above the subnormals
/// for the underflow term not to matter.
const PLAIN: std::ops::RangeInclusive<f64> = power_of_two(-900)..=power_of_two(1000);

impl<'a> Along<'a> {
    /// None when the direction is zero or not finite.
    #[inline]
    pub fn new(body: &'a Polytope, direction: &Vec3) -> Option<Self> {
        match Self::plain(body, direction) {
            Some(plain) => Some(plain),
            None => Self::scaled(body, direction),
        }
    }

    /// None when the direction would have to be scaled, too.
    #[inline(always)]
    pub fn plain(body: &'a Polytope, direction: &Vec3) -> Option<Self> {
        let spread = spread(body, direction);
        let certain = gamma(8) * spread + UNDERFLOW_FLOOR;
        let is_plain = PLAIN.contains(&spread);
        is_plain.then_some(Self { body, exact: *direction, rounded: *direction, certain })
    }

    #[cold]
    fn scaled(body: &'a Polytope, direction: &Vec3) -> Option<Self> {
        let largest = direction.amax();
        if !(largest > 0.0 && largest.is_finite() && direction.iter().all(|c| c.is_finite())) {
            return None;
        }
        // Two factors, because 2^1074 is no f64. The largest component comes to [1, 4).
        let exponent = exponent_of(largest);
        let (first, second) =
            (power_of_two(-(exponent / 2)), power_of_two(-exponent + exponent / 2));
        let rounded = direction * first * second;
        // Components far below the largest may have been rounded to subnormals, each by at most
        // half a subnormal, which moves a value by that times the reach.
        let reach: f64 = body.bounds().reach.iter().sum();
        let certain = gamma(8) * spread(body, &rounded) + UNDERFLOW_FLOOR * (1.0 + reach);
        Some(Self { body, exact: *direction, rounded, certain })
    }

    /// The direction to search along in floating point.
    #[inline]
    pub fn rounded(&self) -> &Vec3 {
        &self.rounded
    }

    /// The rounded value of a vertex along [`Self::rounded`].
    #[inline]
    pub fn value(&self, vertex: u32) -> f64 {
        kernel::along(&self.rounded, self.body.vertex(vertex))
    }

    /// Whether two rounded values prove that the vertex of the first is farther.
    #[inline]
    pub fn surely_beats(&self, value: f64, other: f64) -> bool {
        // NaN and infinite bounds prove nothing.
        value - other > self.certain
    }

    /// A vertex of a rounded value below this is surely beaten by the vertex of `value`. The limit
    /// rounds by at most u S, for which the bound has room.
    #[inline]
    pub fn limit(&self, value: f64) -> f64 {
        value - self.certain
    }

    /// Climbs on from `start` in exact order until no neighbour is farther, which proves that the
    /// vertex is *the* supporting one.
    #[inline]
    pub fn climb(&self, start: u32, effort: &mut Effort<'_>) -> u32 {
        let mut vertex = start;
        // Every move is strictly upwards in an exact order of finitely many vertices.
        loop {
            let neighbours = self.body.neighbours(vertex);
            effort.cost.visited += neighbours.len() as u64;
            let value = self.value(vertex);
            let mut best = vertex;
            for &next in neighbours {
                if self.surely_beats(value, self.value(next)) {
                    continue;
                }
                if self.compare(next, best) == Ordering::Greater {
                    best = next;
                }
            }
            if best == vertex {
                return vertex;
            }
            vertex = best;
        }
    }

    /// The exact order of two vertices along the direction; of equal ones the lower index is the
    /// greater, so only a vertex itself is equal.
    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        let (value_a, value_b) = (self.value(a), self.value(b));
        if self.surely_beats(value_a, value_b) {
            return Ordering::Greater;
        }
        if self.surely_beats(value_b, value_a) {
            return Ordering::Less;
        }
        compare_along(&self.exact, self.body.vertex(a), self.body.vertex(b)).then(b.cmp(&a))
    }
}

fn spread(body: &Polytope, g: &Vec3) -> f64 {
    kernel::along(&g.abs(), &body.bounds().reach)
}

/// e with `2^e <= x < 2^(e+1)`, for subnormals with -1023.
fn exponent_of(x: f64) -> i32 {
    i32::try_from((x.to_bits() >> 52) & 0x7ff).expect("eleven bits") - 1023
}

/// The exact order of `g·a` and `g·b`. All numbers are finite.
pub fn compare_along(g: &Vec3, a: &Vec3, b: &Vec3) -> Ordering {
    // The signs of the three products are exact, which settles most ties and all axis directions.
    let difference = a - b;
    let mut positive = false;
    let mut negative = false;
    for k in 0..3 {
        if g[k] == 0.0 || difference[k] == 0.0 {
            // A difference of f64 numbers is zero only when they are equal.
            continue;
        }
        if (g[k] > 0.0) == (difference[k] > 0.0) {
            positive = true;
        } else {
            negative = true;
        }
    }
    match (positive, negative) {
        (false, false) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (true, true) => compare_mixed(g, a, b, &difference),
    }
}

/// By a bound on the differences, which is sharper than one on the values for a small body far
/// from its own origin; else by the same in twice the precision, which settles vertices that tie
/// because the direction is a rounded normal of their face; else by exact numbers.
fn compare_mixed(g: &Vec3, a: &Vec3, b: &Vec3, difference: &Vec3) -> Ordering {
    // Each term carries at most four relative errors (difference, product, two sums) and one
    // underflow; γ₈ covers these and the rounding of the bound.
    let value = kernel::along(g, difference);
    let size = kernel::along(&g.abs(), &difference.abs());
    if let Some(order) = beyond(value, gamma(8) * size + UNDERFLOW_FLOOR) {
        return order;
    }
    // The differences are exact, so three errors, rounding to f64, and as above.
    let terms = [0, 1, 2].map(|k| Double::of(g[k]) * Double::difference(a[k], b[k]));
    let value = ((terms[0] + terms[1]) + terms[2]).rounded();
    if let Some(order) = beyond(value, 8.0 * Double::UNIT * size + UNDERFLOW_FLOOR) {
        return order;
    }
    let term = |k: usize| &Dyadic::from(g[k]) * &(&Dyadic::from(a[k]) - &Dyadic::from(b[k]));
    match (&(&term(0) + &term(1)) + &term(2)).sign() {
        Sign::Negative => Ordering::Less,
        Sign::Zero => Ordering::Equal,
        Sign::Positive => Ordering::Greater,
    }
}

/// The sign of a number known to within `bound`, if that settles it; a NaN settles nothing.
#[inline]
fn beyond(value: f64, bound: f64) -> Option<Ordering> {
    if value > bound {
        Some(Ordering::Greater)
    } else if -value > bound {
        Some(Ordering::Less)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Random;

    #[test]
    fn the_order_along_a_direction_is_exact_where_rounding_ties() {
        let g = Vec3::new(1.0, -1.0, 2f64.powi(-60));
        let (a, b) = (Vec3::new(1.0, 1.0, 1.0), Vec3::new(2.0, 2.0, 0.0));
        assert_eq!(kernel::along(&g, &a).total_cmp(&0.0), Ordering::Greater);
        assert_eq!(compare_along(&g, &a, &b), Ordering::Greater);
        // g·(a - b) = -1 + 1 + 2^-60 here, and exactly 0 with the third component 0.
        let g = Vec3::new(1.0, -1.0, 0.0);
        assert_eq!(compare_along(&g, &a, &b), Ordering::Equal);
    }

    #[test]
    fn the_order_along_a_rounded_normal_is_exact_where_doubled_numbers_settle_it_and_beyond() {
        let mut random = Random(7);
        let mut settled = [0, 0];
        for round in 0..2000 {
            let mut point = || Vec3::new(random.signed(), random.signed(), random.signed());
            let (a, b, c) = (point(), point(), point());
            let mut g = (b - a).cross(&(c - a));
            if round % 4 == 0 {
                // Nothing but exact numbers sees this component.
                g = Vec3::new(g.x * 1e-40, g.y * 1e-40, 1.0);
            }
            let (a, b) = if round % 4 == 0 { (a, Vec3::new(b.x, b.y, a.z)) } else { (a, b) };
            let term =
                |k: usize| &Dyadic::from(g[k]) * &(&Dyadic::from(a[k]) - &Dyadic::from(b[k]));
            let exact = match (&(&term(0) + &term(1)) + &term(2)).sign() {
                Sign::Negative => Ordering::Less,
                Sign::Zero => Ordering::Equal,
                Sign::Positive => Ordering::Greater,
            };
            assert_eq!(compare_along(&g, &a, &b), exact, "{g} {a} {b}");
            settled[usize::from(exact == Ordering::Greater)] += 1;
        }
        assert!(settled.iter().all(|n| *n > 500), "{settled:?}");
    }

    #[test]
    fn the_order_along_a_direction_is_exact_where_products_overflow_or_underflow() {
        let huge = 2f64.powi(960);
        let g = Vec3::new(huge, -huge, 1.0);
        let a = Vec3::new(huge, huge, 1.0);
        assert_eq!(compare_along(&g, &a, &Vec3::zeros()), Ordering::Greater);
        let tiny = f64::from_bits(1);
        let g = Vec3::new(tiny, -tiny, tiny);
        let a = Vec3::new(3.0 * tiny, 2.0 * tiny, -2.0 * tiny);
        assert_eq!(compare_along(&g, &a, &Vec3::zeros()), Ordering::Less);
    }
}
