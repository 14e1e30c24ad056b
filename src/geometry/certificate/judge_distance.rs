//! The judge of a distance: exact, from scratch, sharing nothing with the search.

use super::bodies::Bodies;
use super::judge::{
    Exact, Refusal, exact_differences, gap_along, is_zero, minus, scalar_product, vector_product,
};
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::pair::VertexPair;

/// Proves that the distance of the pair is in `[lower, upper]`, from one to three vertex pairs.
///
/// With v the point nearest the origin in the hull of their differences: |v| is at most `upper`,
/// and, unless `lower` is 0, the least of `v·y / |v|` over M is at least `lower`. Looks at every
/// vertex.
pub fn judge_distance<'a>(
    pair: impl Into<Bodies<'a>>,
    lower: f64,
    upper: f64,
    pairs: &[VertexPair],
) -> Result<(), Refusal> {
    if !(1..=3).contains(&pairs.len()) {
        return Err(Refusal::PairCount("one to three"));
    }
    if !(lower.is_finite() && upper.is_finite() && lower >= 0.0 && upper >= 0.0) {
        return Err(Refusal::BoundFails("bounds are finite and not negative"));
    }
    let pair = &pair.into();
    let nearest = nearest_point(&exact_differences(pair, pairs)?);
    if !nearest.is_within(upper) {
        return Err(Refusal::BoundFails("the pairs are farther away than the upper bound"));
    }
    if lower > 0.0 {
        if is_zero(&nearest.along) {
            return Err(Refusal::BoundFails("the pairs hold the origin"));
        }
        let gap = gap_along(pair, &nearest.along);
        if gap.sign() != Sign::Positive || &gap * &gap < nearest.times_squared(lower) {
            return Err(Refusal::BoundFails("the bodies come closer than the lower bound"));
        }
    }
    Ok(())
}

/// Whether the hull of one to three points comes within `bound` of the origin.
pub(crate) fn comes_within(points: &[Exact], bound: f64) -> bool {
    nearest_point(points).is_within(bound)
}

/// A point v, as the foot of the perpendicular from the origin on the plane `along · x = level`,
/// which is not negative. `along` is zero when v is the origin.
struct Foot {
    along: Exact,
    level: Dyadic,
}

impl Foot {
    /// On the plane through `point` with this normal.
    fn new(along: Exact, point: &Exact) -> Self {
        let level = scalar_product(&along, point);
        match level.sign() {
            Sign::Positive => Self { along, level },
            Sign::Negative => Self { along: along.map(|c| -&c), level: -&level },
            Sign::Zero => Self { along: [0.0; 3].map(Dyadic::from), level },
        }
    }

    /// `(bound |along|)²`.
    fn times_squared(&self, bound: f64) -> Dyadic {
        let bound = Dyadic::from(bound);
        &(&bound * &bound) * &scalar_product(&self.along, &self.along)
    }

    /// Whether |v| is at most `bound`.
    fn is_within(&self, bound: f64) -> bool {
        &self.level * &self.level <= self.times_squared(bound)
    }

    /// Whether |v| is less than the other's.
    fn is_nearer(&self, other: &Self) -> bool {
        let squared = |foot: &Self| scalar_product(&foot.along, &foot.along);
        let (a, b) = (&self.level * &self.level, &other.level * &other.level);
        match (is_zero(&self.along), is_zero(&other.along)) {
            (_, true) => false,
            (true, false) => true,
            (false, false) => &a * &squared(other) < &b * &squared(self),
        }
    }
}

/// The nearest of: every point, the foot on every segment that has it inside, and on the triangle.
fn nearest_point(points: &[Exact]) -> Foot {
    let mut nearest = Foot::new(points[0].clone(), &points[0]);
    let mut offer = |foot: Foot| {
        if foot.is_nearer(&nearest) {
            nearest = foot;
        }
    };
    for (at, a) in points.iter().enumerate() {
        offer(Foot::new(a.clone(), a));
        for b in &points[..at] {
            let edge = minus(b, a);
            let (from_a, from_b) = (scalar_product(a, &edge), scalar_product(b, &edge));
            if from_a.sign() == Sign::Negative && from_b.sign() == Sign::Positive {
                // a (b·e) - b (a·e) is v times |e|².
                let along = std::array::from_fn(|k| &(&a[k] * &from_b) - &(&b[k] * &from_a));
                offer(Foot::new(along, a));
            }
        }
    }
    if let [a, b, c] = points {
        let normal = vector_product(&minus(b, a), &minus(c, a));
        // The foot is inside when the origin is on the inner side of the three planes that stand
        // on the sides.
        let is_inside = |from: &Exact, to: &Exact| {
            scalar_product(&normal, &vector_product(from, to)).sign() != Sign::Negative
        };
        if !is_zero(&normal) && is_inside(a, b) && is_inside(b, c) && is_inside(c, a) {
            offer(Foot::new(normal, a));
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Vec3;
    use crate::geometry::pair::Pair;
    use crate::geometry::pose::Pose;
    use crate::geometry::samples::hull;

    const FIRST: VertexPair = VertexPair { i: 0, j: 0 };

    #[test]
    fn a_true_bracket_is_accepted_and_one_ulp_inside_refused() {
        let point = hull(&[Vec3::zeros()]);
        let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
        assert_eq!(judge_distance(&pair, 5.0, 5.0, &[FIRST]), Ok(()));
        assert_eq!(judge_distance(&pair, 0.0, 6.0, &[FIRST]), Ok(()));
        let fails = |lower, upper| judge_distance(&pair, lower, upper, &[FIRST]).is_err();
        assert!(fails(5.0f64.next_up(), 6.0));
        assert!(fails(5.0, 5.0f64.next_down()));
        assert!(fails(f64::NAN, 6.0) && fails(5.0, f64::INFINITY) && fails(-1.0, 6.0));
        assert!(judge_distance(&pair, 5.0, 5.0, &[]).is_err());
        assert!(judge_distance(&pair, 5.0, 5.0, &[VertexPair { i: 1, j: 0 }]).is_err());
    }

    #[test]
    fn pairs_that_are_not_nearest_prove_no_more_than_they_show() {
        let segment = hull(&[Vec3::new(-1.0, 2.0, 0.0), Vec3::new(3.0, 2.0, 0.0)]);
        let point = hull(&[Vec3::zeros()]);
        let pair = Pair::new(&point, Pose::identity(), &segment, Pose::identity());
        let both = [FIRST, VertexPair { i: 0, j: 1 }];
        assert_eq!(judge_distance(&pair, 2.0, 2.0, &both), Ok(()));
        // One end alone is farther away, and along it the other end lies behind the origin's side.
        assert!(judge_distance(&pair, 2.0, 2.0, &both[..1]).is_err());
        assert!(judge_distance(&pair, 0.0, 2.0, &both[..1]).is_err());
        assert_eq!(judge_distance(&pair, 0.0, 2.24, &both[..1]), Ok(()));
        assert_eq!(judge_distance(&pair, 2.0, 2.0, &[both[0], both[1], both[0]]), Ok(()));
    }

    #[test]
    fn a_triangle_is_judged_by_its_foot_inside_or_on_its_border() {
        let at = |z: f64| {
            hull(&[Vec3::new(-1.0, -1.0, z), Vec3::new(2.0, -1.0, z), Vec3::new(-1.0, 2.0, z)])
        };
        let point = hull(&[Vec3::zeros()]);
        let all = [FIRST, VertexPair { i: 0, j: 1 }, VertexPair { i: 0, j: 2 }];
        let above = at(0.5);
        let pair = Pair::new(&point, Pose::identity(), &above, Pose::identity());
        assert_eq!(judge_distance(&pair, 0.5, 0.5, &all), Ok(()));
        assert!(judge_distance(&pair, 0.5f64.next_up(), 1.0, &all).is_err());
        let beside = Pair::new(&point, Pose::identity(), &above, Pose::translation(5.0, 0.0, 0.0));
        assert!(judge_distance(&beside, 4.03, 4.04, &all).is_ok());
        let held = at(0.0);
        let pair = Pair::new(&point, Pose::identity(), &held, Pose::identity());
        assert_eq!(judge_distance(&pair, 0.0, 0.0, &all), Ok(()));
        assert!(judge_distance(&pair, f64::from_bits(1), 1.0, &all).is_err());
    }
}
