//! The point nearest the origin in the hull of at most four exact points.

use arrayvec::ArrayVec;
use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};

use crate::Vec3;
use crate::number::scaled::{Integers, cross, difference, dot, is_zero, rounded_direction};
use crate::pair::VertexPair;

/// The nearest point v of the hull of at most three points of M, in grid units.
#[derive(Clone, Debug)]
pub(crate) struct Nearest<N = VertexPair> {
    /// What names the points of a simplex: affinely independent, v in the relative interior of
    /// their hull.
    pub(crate) pairs: ArrayVec<N, 3>,
    /// v is the sum of `weights[k] / denominator` times the pairs' points; all positive.
    pub(crate) weights: ArrayVec<IBig, 3>,
    /// Sum of the weights.
    pub(crate) denominator: IBig,
    /// A positive multiple of v; zero when v is.
    pub(crate) direction: Integers,
    /// `direction · x` for x = v and for every point of the simplex; `|v| = level / |direction|`.
    pub(crate) level: IBig,
}

impl<N> Nearest<N> {
    /// Whether v is the origin.
    pub(crate) fn is_origin(&self) -> bool {
        is_zero(&self.direction)
    }

    /// v's direction, rounded, with its largest coordinate between a half
    /// and one.
    pub(crate) fn unit_direction(&self) -> Vec3 {
        rounded_direction(&self.direction)
    }

    /// Numerator and denominator of |v|², in squared grid units. v is not the origin.
    pub(crate) fn squared(&self) -> (UBig, UBig) {
        let level = self.level.clone().unsigned_abs();
        let length = dot(&self.direction, &self.direction).unsigned_abs();
        (&level * &level, length)
    }
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
pub(crate) fn nearest_of<N: Copy>(
    points: &[(N, Integers)],
) -> Option<(Nearest<N>, &'static [usize])> {
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
fn nearest_of_affine_hull<N: Copy>(
    points: &[(N, Integers)],
    choice: &[usize],
) -> Option<Nearest<N>> {
    let pairs: ArrayVec<N, 3> = choice.iter().map(|&index| points[index].0).collect();
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
