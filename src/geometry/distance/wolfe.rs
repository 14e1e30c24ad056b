//! The point of M nearest the origin, exactly: finite and without a tolerance.
//!
//! Keep a simplex of at most three points of M whose nearest point v lies in its relative interior.
//! Look for the point of M least along v. If it lies as far along v as the simplex, v is nearest;
//! otherwise add it, and keep the face of the grown simplex that holds its nearest point. |v| falls
//! strictly, so no simplex returns and the search ends; all tests are signs of integers.
//!
//! Source: P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976;
//!         with supports as in Gilbert, Johnson, Keerthi, IEEE J. Robotics Automation 4(2), 1988.

use arrayvec::ArrayVec;
use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};

use crate::geometry::Vec3;
use crate::geometry::difference::exact::Difference;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::outward;
use crate::geometry::number::scaled::{
    Integers, cross, difference, dot, is_zero, rounded_direction,
};
use crate::geometry::pair::VertexPair;

/// The nearest point v of the hull of at most three points of M, in grid units.
#[derive(Clone, Debug)]
pub(in crate::geometry) struct Nearest {
    /// Affinely independent, v in the relative interior of their hull.
    pub(in crate::geometry) pairs: ArrayVec<VertexPair, 3>,
    /// v is the sum of `weights[k] / denominator` times the pairs' points; all positive.
    pub(in crate::geometry) weights: ArrayVec<IBig, 3>,
    /// Sum of the weights.
    pub(in crate::geometry) denominator: IBig,
    /// A positive multiple of v; zero when v is.
    pub(in crate::geometry) direction: Integers,
    /// `direction · x` for x = v and for every point of the simplex; `|v| = level / |direction|`.
    pub(in crate::geometry) level: IBig,
}

impl Nearest {
    /// Whether v is the origin.
    pub(in crate::geometry) fn is_origin(&self) -> bool {
        is_zero(&self.direction)
    }

    /// v's direction, rounded, with its largest coordinate between a half
    /// and one.
    pub(in crate::geometry) fn unit_direction(&self) -> Vec3 {
        rounded_direction(&self.direction)
    }

    /// Numerator and denominator of |v|², in squared grid units. v is not the origin.
    pub(in crate::geometry) fn squared(&self) -> (UBig, UBig) {
        let level = self.level.clone().unsigned_abs();
        let length = dot(&self.direction, &self.direction).unsigned_abs();
        (&level * &level, length)
    }

    /// `[lower, upper]` around |v| in metres.
    pub(in crate::geometry) fn length(&self, m: &Difference<'_>) -> [f64; 2] {
        if self.is_origin() {
            return [0.0, 0.0];
        }
        let (numerator, denominator) = self.squared();
        outward::square_root(&numerator, &denominator, m.exponent())
    }

    /// The points of P and Q whose difference is v, in the world, each coordinate rounded once.
    pub(in crate::geometry) fn closest(&self, m: &Difference<'_>) -> [Vec3; 2] {
        let weighted = self.pairs.iter().copied().zip(&self.weights);
        weighted_mean(m, weighted, &self.denominator)
    }
}

/// The weighted means of the pairs' vertices of P and of Q, in the world, each coordinate rounded
/// once. `sum` is that of the weights, which are not negative.
pub(in crate::geometry) fn weighted_mean<'w>(
    m: &Difference<'_>,
    weighted: impl Iterator<Item = (VertexPair, &'w IBig)>,
    sum: &IBig,
) -> [Vec3; 2] {
    let denominator = sum.clone().unsigned_abs();
    let mut totals = [[IBig::ZERO; 3], [IBig::ZERO; 3]];
    for (pair, weight) in weighted {
        for (total, point) in totals.iter_mut().zip([m.vertex_of_p(pair.i), m.vertex_of_q(pair.j)])
        {
            for (total, coordinate) in total.iter_mut().zip(&point) {
                *total += coordinate * weight;
            }
        }
    }
    let exponent = m.exponent();
    totals.map(|total| Vec3::from_fn(|k, _| outward::ratio(&total[k], &denominator, exponent)))
}

/// The point of M nearest the origin, starting from any vertex pairs. When the origin is in M, the
/// result may be any simplex whose hull holds it, or `None` when it was found inside a tetrahedron.
pub(in crate::geometry) fn nearest(
    m: &Difference<'_>,
    start: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Option<Nearest>, Stopped> {
    let mut points: ArrayVec<(VertexPair, Integers), 4> = ArrayVec::new();
    for &pair in start.iter().take(3) {
        points.push((pair, m.at(pair)));
    }
    if points.is_empty() {
        points.push((VertexPair::default(), m.at(VertexPair::default())));
    }
    let mut hint = points[0].0;
    loop {
        effort.spend_step()?;
        let Some((nearest, kept)) = nearest_of(&points) else {
            return Ok(None);
        };
        if nearest.is_origin() {
            return Ok(Some(nearest));
        }
        hint = m.least_from(&nearest.direction, hint, effort);
        let point = m.at(hint);
        if dot(&nearest.direction, &point) >= nearest.level {
            return Ok(Some(nearest));
        }
        let mut index = 0;
        points.retain(|_| {
            index += 1;
            kept.contains(&(index - 1))
        });
        points.push((hint, point));
    }
}

/// The nearest point of the hull of at most three pairs' points.
pub(in crate::geometry) fn nearest_of_pairs(
    m: &Difference<'_>,
    pairs: &[VertexPair],
) -> Option<Nearest> {
    let points: ArrayVec<(VertexPair, Integers), 3> =
        pairs.iter().take(3).map(|&pair| (pair, m.at(pair))).collect();
    nearest_of(&points).map(|(nearest, _)| nearest)
}

/// Every choice of one, two or three out of four, the smaller first.
const CHOICES: [&[usize]; 14] = [
    &[0],
    &[1],
    &[2],
    &[3],
    &[0, 1],
    &[0, 2],
    &[0, 3],
    &[1, 2],
    &[1, 3],
    &[2, 3],
    &[0, 1, 2],
    &[0, 1, 3],
    &[0, 2, 3],
    &[1, 2, 3],
];

/// The nearest point of the hull of at most four points, with the indices of the simplex that holds
/// it; `None` when only a tetrahedron does: then the origin is strictly inside it.
pub(in crate::geometry) fn nearest_of(
    points: &[(VertexPair, Integers)],
) -> Option<(Nearest, &'static [usize])> {
    CHOICES.iter().filter(|choice| choice.iter().all(|&index| index < points.len())).find_map(
        |&choice| {
            let nearest = nearest_of_affine_hull(points, choice)?;
            let none_is_nearer = points
                .iter()
                .enumerate()
                .filter(|(index, _)| !choice.contains(index))
                .all(|(_, (_, point))| dot(&nearest.direction, point) >= nearest.level);
            none_is_nearer.then_some((nearest, choice))
        },
    )
}

/// The nearest point of the affine hull of the chosen points, if they are affinely independent and
/// it lies in the relative interior of their hull.
fn nearest_of_affine_hull(points: &[(VertexPair, Integers)], choice: &[usize]) -> Option<Nearest> {
    let pairs: ArrayVec<VertexPair, 3> = choice.iter().map(|&index| points[index].0).collect();
    let base = &points[choice[0]].1;
    let mut weights = ArrayVec::new();
    let (denominator, direction) = match *choice {
        [_] => {
            weights.push(IBig::ONE);
            (IBig::ONE, base.clone())
        }
        [_, second] => {
            let edge = difference(&points[second].1, base);
            let denominator = dot(&edge, &edge);
            let along = -dot(base, &edge);
            weights.push(&denominator - &along);
            weights.push(along.clone());
            let direction = std::array::from_fn(|k| &base[k] * &denominator + &edge[k] * &along);
            (denominator, direction)
        }
        [_, second, third] => {
            let (e1, e2) =
                (difference(&points[second].1, base), difference(&points[third].1, base));
            let normal = cross(&e1, &e2);
            let denominator = dot(&normal, &normal);
            let (g11, g12, g22) = (dot(&e1, &e1), dot(&e1, &e2), dot(&e2, &e2));
            let (r1, r2) = (-dot(base, &e1), -dot(base, &e2));
            let (l1, l2) = (&r1 * &g22 - &r2 * &g12, &r2 * &g11 - &r1 * &g12);
            weights.push(&denominator - &l1 - &l2);
            weights.push(l1);
            weights.push(l2);
            let height = dot(&normal, base);
            let direction = match height.cmp(&IBig::ZERO) {
                std::cmp::Ordering::Less => normal.map(|c| -c),
                std::cmp::Ordering::Equal => [IBig::ZERO; 3],
                std::cmp::Ordering::Greater => normal,
            };
            (denominator, direction)
        }
        _ => return None,
    };
    // Dependent points have a zero denominator, and then weights that are not all positive.
    if weights.iter().any(|weight| *weight <= IBig::ZERO) {
        return None;
    }
    let level = dot(&direction, base);
    Some(Nearest { pairs, weights, denominator, direction, level })
}
