//! Where to look first: the direction in which two ellipsoids of the bodies' sizes would be
//! nearest.
//!
//! From centre to centre is right for balls. Of long or flat bodies it may be off by tens of
//! degrees, and from there a search takes twice the steps. With half extents h along the axes of
//! its frame a body reaches about as far along n as an ellipsoid, `a = √(nᵀAn)` with `A = R
//! diag(h²) Rᵀ`. The sum of two such reaches is near n that of one ellipsoid, `C = (a + b) (A/a +
//! B/b)`, and the point v nearest the origin of one with the centre c solves `v = c - C v/λ`, where
//! λ is the product of |v| and the reach along it: so `v ∝ (λI + C)⁻¹ c`. With n from the last
//! round in λ and C, a round takes one inverse up to its factor, and three or four rounds give the
//! direction to a few degrees, which is what the edges of a polytope leave of it anyway.

use super::bounded::BoundedView;
use super::roundness::Roundness;
use crate::Vec3;
use crate::pair::Placed;
use crate::symmetric::Symmetric;

/// Boxes that are more slender than that are like needles.
const SLENDER: f64 = 0.1;
/// Bodies farther apart than so many times their size are nearest from centre to centre.
const FAR: f64 = 100.0;
/// |v| is at least this part of the sum of the reaches: that of bodies in contact is zero, and the
/// ellipsoids may overlap where the bodies do not.
const GAP_MIN: f64 = 0.05;
/// Ellipsoids ten times as long as thick need three, for a few degrees. A round doubles the
/// exponents of the direction's coordinates; after four they are far from the ends of f64.
const ROUNDS: u32 = 4;
/// The rounds of bodies more slender than that are far from done, each step being nearly as long as
/// the last; but where they lead can be told. Of stouter bodies that would save less than it takes.
const NEEDLE: f64 = 0.03;
/// From a ratio of successive steps beyond that, no limit is told.
const RATIO_MAX: f64 = 0.95;

/// From P towards Q, which are so round and whose centres are so far apart; for searching, not for
/// proof.
#[inline(always)]
pub(crate) fn direction(view: &BoundedView<'_>, roundness: Roundness, centre: &Vec3) -> Vec3 {
    let [p, q] = view.bodies();
    between(p, q, roundness, centre)
}

/// The direction for bodies with this vector from centre to centre.
pub(crate) fn direction_between(p: &Placed<'_>, q: &Placed<'_>, centre: &Vec3) -> Vec3 {
    between(p, q, Roundness::of(p, q), centre)
}

#[inline(always)]
fn between(p: &Placed<'_>, q: &Placed<'_>, roundness: Roundness, centre: &Vec3) -> Vec3 {
    if roundness.are_balls || are_boxy(p, q, roundness.least) {
        return *centre;
    }
    of_long_bodies(p, q, roundness.least, centre)
}

/// Whether one of bodies that are so round is more of a box than of an ellipsoid: then the
/// ellipsoids' direction is no better than from centre to centre, and takes longer to find.
#[inline(always)]
fn are_boxy(p: &Placed<'_>, q: &Placed<'_>, roundness: f64) -> bool {
    (p.body.bounds().is_boxy | q.body.bounds().is_boxy) & (roundness > SLENDER)
}

#[inline(always)]
fn of_long_bodies(p: &Placed<'_>, q: &Placed<'_>, roundness: f64, centre: &Vec3) -> Vec3 {
    let half = |placed: &Placed<'_>| (placed.body.bounds().high - placed.body.bounds().low) * 0.5;
    let (of_p, of_q) = (half(p), half(q));
    // In units of the size, so that no power of it overflows.
    let unit = 1.0 / (of_p + of_q).amax();
    let c = centre * unit;
    let is_far = c.norm_squared() > FAR * FAR;
    if is_far {
        return *centre;
    }
    let a = Symmetric::of(&p.pose.rotation, &(of_p * unit));
    let b = Symmetric::of(&q.pose.rotation, &(of_q * unit));
    let mut last = [c; 3];
    for _ in 0..ROUNDS {
        last = [last[1], last[2], improved(&a, &b, &c, &last[2])];
    }
    let along = if roundness < NEEDLE { limit(last, &c) } else { last[2] };
    // False for NaN, which bodies without extent lead to.
    if along.dot(&c) > 0.0 { along } else { *centre }
}

/// Where more and more rounds would lead, told by the last three directions: their steps have all
/// but one ratio.
///
/// Source: A. Aitken, "On Bernoulli's numerical solution of algebraic equations", Proc. Royal
/// Society of Edinburgh 46, 1926; of vectors, with the ratio that fits the steps best.
#[inline(always)]
fn limit(last: [Vec3; 3], c: &Vec3) -> Vec3 {
    // All have one length along c, to none is orthogonal.
    let [first, second, third] = last.map(|n| n / n.dot(c));
    let (before, step) = (second - first, third - second);
    let ratio = step.dot(&before) / before.norm_squared();
    // False for NaN, of steps of length zero.
    let has_limit = ratio > 0.0 && ratio < RATIO_MAX;
    if has_limit { third + step * (ratio / (1.0 - ratio)) } else { third }
}

/// A better direction than n; of any length, as n is.
#[inline(always)]
fn improved(a: &Symmetric, b: &Symmetric, c: &Vec3, n: &Vec3) -> Vec3 {
    let (reach_a, reach_b) = (a.product(n).sqrt(), b.product(n).sqrt());
    let reach = reach_a + reach_b;
    // λI + C times the product of the reaches, over their sum.
    let gap = (n.dot(c) - reach).max(GAP_MIN * reach);
    let lambda = gap * (reach_a * reach_b) / n.norm_squared();
    a.scaled(reach_b).plus(&b.scaled(reach_a)).plus_diagonal(lambda).cofactors().times(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::{Stops, measure};
    use crate::effort::Effort;
    use crate::pair::Pair;
    use crate::pose::Pose;
    use crate::samples::{Random, ball, ellipsoid};
    use crate::witness::Witness;

    #[test]
    fn of_long_and_flat_bodies_the_first_direction_is_near_the_last_where_the_centres_mislead() {
        let mut random = Random(7);
        for axes in [[1.0, 0.1, 0.1], [1.0, 1.0, 0.1], [1.0, 0.4, 0.15]] {
            let body = ellipsoid(800, axes, 3);
            let (mut off, mut centres_off) = (0.0, 0.0);
            for _ in 0..20 {
                let place = random.unit_vector() * 1.7;
                let pair = Pair::new(&body, random.pose(Vec3::zeros()), &body, random.pose(place));
                let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
                let found = measure(&pair, Stops::default(), &mut witness, &mut effort).unwrap();
                if found.lower > 0.0 {
                    let view = BoundedView::new(&pair);
                    let nearest = found.closest_q - found.closest_p;
                    off += direction(&view, view.roundness(), &view.centre_difference())
                        .angle(&nearest);
                    centres_off += view.centre_difference().angle(&nearest);
                }
            }
            assert!(off < 0.4 * centres_off, "{axes:?}: {off} and {centres_off} radians in sum");
        }
    }

    /// After four rounds the direction of a needle is so far off that the search took eleven steps,
    /// not nine.
    #[test]
    fn of_needles_the_limit_of_many_rounds_is_told_by_a_few() {
        let mut random = Random(17);
        let ball = Symmetric::of(&random.pose(Vec3::zeros()).rotation, &Vec3::repeat(1.0));
        let (mut off, mut without_limit) = (0.0, 0.0);
        for _ in 0..40 {
            let turned = random.pose(Vec3::zeros()).rotation;
            let needle = Symmetric::of(&turned, &Vec3::new(1.0, 0.02, 0.02));
            let c = random.unit_vector() * 1.7;
            let round = |n: &Vec3| improved(&needle, &ball, &c, n).normalize();
            let mut last = [c; 3];
            for _ in 0..ROUNDS {
                last = [last[1], last[2], round(&last[2])];
            }
            let many = (0..500).fold(last[2], |n, _| round(&n));
            off += limit(last, &c).angle(&many);
            without_limit += last[2].angle(&many);
        }
        assert!(off < 0.6 * without_limit, "{off} and {without_limit} radians in sum");
    }

    #[test]
    fn between_balls_beside_pebbles_and_far_apart_it_is_from_centre_to_centre() {
        let (round, long) = (ball(200, 1), ellipsoid(200, [1.0, 0.1, 0.1], 2));
        let pebble = ellipsoid(100, [0.1, 0.06, 0.05], 3);
        let pairs = [
            (&round, &round, 2.1),
            (&round, &pebble, 1.1),
            (&long, &round, 1e3),
            (&long, &long, 1e200),
        ];
        for (p, q, reach) in pairs {
            let pose = Pose::translation(0.3 * reach, -0.4 * reach, reach);
            let pair = Pair::new(p, Pose::identity(), q, pose);
            let view = BoundedView::new(&pair);
            assert_eq!(
                direction(&view, view.roundness(), &view.centre_difference()),
                view.centre_difference()
            );
        }
    }

    #[test]
    fn bodies_without_extent_and_in_one_place_have_a_finite_direction() {
        let point = ellipsoid(1, [1.0; 3], 1);
        let (segment, disc) = (ellipsoid(2, [1.0; 3], 1), ellipsoid(50, [1.0, 1.0, 0.0], 1));
        for p in [&point, &segment, &disc] {
            for q in [&point, &segment, &disc] {
                for reach in [0.0, 1e-200, 1e-20, 1.0, 99.0] {
                    let pose = Pose::translation(reach, 0.0, -reach);
                    let pair = Pair::new(p, Pose::identity(), q, pose);
                    let view = BoundedView::new(&pair);
                    let found = direction(&view, view.roundness(), &view.centre_difference());
                    assert!(found.iter().all(|c| c.is_finite()), "{found}");
                }
            }
        }
    }
}
