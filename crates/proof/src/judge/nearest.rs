//! The point nearest the origin in the hull of a few points, exactly.

use std::cmp::Ordering;

use super::exact::{Exact, is_zero, minus, scalar_product, vector_product};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

/// Whether the hull of points, each off by at most its error, surely comes within `bound` of the
/// origin: of the hull of the points as they are the nearest mean does, less the mean of the
/// errors.
///
/// Exact, because no iteration finds the weights of hulls a million times as long as wide.
pub(super) fn comes_within(points: &[Exact], errors: &[f64], bound: &Dyadic) -> bool {
    let Foot { along, level, weights } = &nearest_point(points);
    let total = weights.iter().fold(Dyadic::zero(), |sum, w| &sum + w);
    let left = weights
        .iter()
        .zip(errors)
        .fold(&total * bound, |left, (w, e)| &left - &(w * &Dyadic::from(*e)));
    // |v| = level / |along| is at most left / total.
    let (level, left_squared) = (level * &total, &left * &left);
    left.sign() != Sign::Negative && &level * &level <= &left_squared * &squared(along)
}

/// A point v, as the foot of the perpendicular from the origin on the plane `along · x = level`,
/// which is not negative. `along` is zero when v is the origin. With the weights, not negative and
/// not all zero, v is the mean of the points.
pub(super) struct Foot {
    /// A positive multiple of v.
    pub(super) along: Exact,
    level: Dyadic,
    weights: Vec<Dyadic>,
}

impl Foot {
    /// On the plane through `point` with this normal.
    fn new(along: Exact, point: &Exact, weights: Vec<Dyadic>) -> Self {
        let level = scalar_product(&along, point);
        match level.sign() {
            Sign::Positive => Self { along, level, weights },
            Sign::Negative => Self { along: along.map(|c| -&c), level: -&level, weights },
            Sign::Zero => Self::origin(weights),
        }
    }

    fn origin(weights: Vec<Dyadic>) -> Self {
        Self { along: [0.0; 3].map(Dyadic::from), level: Dyadic::zero(), weights }
    }

    /// `(bound |along|)²`.
    pub(super) fn times_squared(&self, bound: f64) -> Dyadic {
        let bound = Dyadic::from(bound);
        &(&bound * &bound) * &squared(&self.along)
    }

    /// Whether |v| is at most `bound`.
    pub(super) fn is_within(&self, bound: f64) -> bool {
        &self.level * &self.level <= self.times_squared(bound)
    }

    /// How |v| compares with a length, which is not negative.
    pub(super) fn length_compared(&self, length: &Dyadic) -> Ordering {
        if is_zero(&self.along) {
            return Dyadic::zero().cmp(length);
        }
        (&self.level * &self.level).cmp(&(&(length * length) * &squared(&self.along)))
    }

    /// Whether |v| is less than the other's.
    fn is_nearer(&self, other: &Self) -> bool {
        let (a, b) = (&self.level * &self.level, &other.level * &other.level);
        match (is_zero(&self.along), is_zero(&other.along)) {
            (_, true) => false,
            (true, false) => true,
            (false, false) => &a * &squared(&other.along) < &b * &squared(&self.along),
        }
    }
}

/// `|a|²`
fn squared(a: &Exact) -> Dyadic {
    scalar_product(a, a)
}

/// The nearest of: every point, the foot on every segment and every triangle that has it inside,
/// and the origin where a tetrahedron has it inside.
pub(super) fn nearest_point(points: &[Exact]) -> Foot {
    let weighted = |of: &[(usize, &Dyadic)]| {
        let mut weights = vec![Dyadic::zero(); points.len()];
        for &(k, w) in of {
            weights[k] = w.clone();
        }
        weights
    };
    let one = Dyadic::from(1.0);
    let mut nearest = Foot::new(points[0].clone(), &points[0], weighted(&[(0, &one)]));
    let mut offer = |foot: Foot| {
        if foot.is_nearer(&nearest) {
            nearest = foot;
        }
    };
    for (k, a) in points.iter().enumerate() {
        offer(Foot::new(a.clone(), a, weighted(&[(k, &one)])));
        for (l, b) in points[..k].iter().enumerate() {
            let edge = minus(b, a);
            let (of_a, of_b) = (scalar_product(b, &edge), -&scalar_product(a, &edge));
            if of_a.sign() == Sign::Positive && of_b.sign() == Sign::Positive {
                // v times |e|².
                let along = std::array::from_fn(|i| &(&a[i] * &of_a) + &(&b[i] * &of_b));
                offer(Foot::new(along, a, weighted(&[(k, &of_a), (l, &of_b)])));
            }
            for (m, c) in points[..l].iter().enumerate() {
                let normal = vector_product(&minus(b, a), &minus(c, a));
                // The foot is inside when the origin is on the inner side of the three planes that
                // stand on the sides.
                let beyond = |from, to| scalar_product(&normal, &vector_product(from, to));
                let of = [beyond(b, c), beyond(c, a), beyond(a, b)];
                if !is_zero(&normal) && of.iter().all(|w| w.sign() != Sign::Negative) {
                    let weights = weighted(&[(k, &of[0]), (l, &of[1]), (m, &of[2])]);
                    offer(Foot::new(normal, a, weights));
                }
                for (n, d) in points[..m].iter().enumerate() {
                    if let Some(of) = weights_of_origin([a, b, c, d]) {
                        let [k, l, m, n] = [(k, &of[0]), (l, &of[1]), (m, &of[2]), (n, &of[3])];
                        offer(Foot::origin(weighted(&[k, l, m, n])));
                    }
                }
            }
        }
    }
    nearest
}

/// The weights that make the origin the mean of four points, if it is strictly inside.
fn weights_of_origin([a, b, c, d]: [&Exact; 4]) -> Option<[Dyadic; 4]> {
    let volume = |a, b, c| scalar_product(a, &vector_product(b, c));
    let of = [volume(b, c, d), -&volume(a, c, d), volume(a, b, d), -&volume(a, b, c)];
    if of.iter().all(|w| w.sign() == Sign::Negative) {
        return Some(of.map(|w| -&w));
    }
    of.iter().all(|w| w.sign() == Sign::Positive).then_some(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A descent that judged such means once gave up on triangles like these.
    #[test]
    fn the_nearest_mean_is_exact_however_long_and_thin_the_hull() {
        let exact = |all: &[[f64; 3]]| all.iter().map(|p| p.map(Dyadic::from)).collect::<Vec<_>>();
        let long = 2f64.powi(40);
        let needle = exact(&[[3.0, 80.0, -long], [3.0, -90.0, long], [3.0, 80.0, long]]);
        assert!(comes_within(&needle, &[0.0; 3], &Dyadic::from(3.0)));
        assert!(!comes_within(&needle, &[0.0; 3], &Dyadic::from(3.0f64.next_down())));
        // Half of a mean's weight is on the first corner, the rest on the other two.
        assert!(comes_within(&needle, &[0.5, 0.25, 0.25], &Dyadic::from(3.375)));
        assert!(!comes_within(&needle, &[0.5, 0.25, 0.25], &Dyadic::from(3.375f64.next_down())));
        let solid = [[3.0, 80.0, -long], [3.0, -90.0, long], [3.0, 80.0, long], [-3.0, 0.0, 0.0]];
        assert!(comes_within(&exact(&solid), &[0.0; 4], &Dyadic::from(0.0)));
        assert!(!comes_within(&exact(&solid), &[1.0; 4], &Dyadic::from(1.0f64.next_down())));
        assert!(comes_within(&exact(&solid), &[1.0; 4], &Dyadic::from(1.0)));
    }
}
