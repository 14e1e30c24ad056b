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
use dashu_int::IBig;
use dashu_int::ops::UnsignedAbs;

use crate::Vec3;
use crate::difference::exact::Difference;
use crate::difference::nearest::{Nearest, nearest_of};
use crate::effort::{Effort, Stopped};
use crate::number::outward;
use crate::number::scaled::{Integers, dot};
use crate::pair::VertexPair;

impl Nearest {
    /// `[lower, upper]` around |v| in metres.
    pub(crate) fn length(&self, m: &Difference<'_>) -> [f64; 2] {
        if self.is_origin() {
            return [0.0, 0.0];
        }
        let (numerator, denominator) = self.squared();
        outward::square_root(&numerator, &denominator, m.exponent())
    }

    /// The points of P and Q whose difference is v, in the world, each coordinate rounded once.
    pub(crate) fn closest(&self, m: &Difference<'_>) -> [Vec3; 2] {
        let weighted = self.pairs.iter().copied().zip(&self.weights);
        weighted_mean(m, weighted, &self.denominator)
    }
}

/// The weighted means of the pairs' vertices of P and of Q, in the world, each coordinate rounded
/// once. `sum` is that of the weights, which are not negative.
pub(crate) fn weighted_mean<'w>(
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

/// A body that a search looks at: its points by name, and which of them lies farthest back.
pub(crate) trait ExactHull {
    /// What names a point.
    type Name: Copy + Default;

    /// Where it is, in the body's grid units.
    fn at(&self, name: Self::Name) -> Integers;

    /// A point that is least along `direction`. `hint` says where to start.
    fn least_from(
        &self,
        direction: &Integers,
        hint: Self::Name,
        effort: &mut Effort<'_>,
    ) -> Self::Name;
}

impl ExactHull for Difference<'_> {
    type Name = VertexPair;

    fn at(&self, pair: VertexPair) -> Integers {
        Difference::at(self, pair)
    }

    fn least_from(
        &self,
        direction: &Integers,
        hint: VertexPair,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        Difference::least_from(self, direction, hint, effort)
    }
}

/// What a search finds.
#[derive(Clone, Debug)]
pub(crate) enum NearestOrInside<N> {
    /// The nearest point of the body. If that is the origin, the simplex may be any that holds it.
    Nearest(Nearest<N>),
    /// Points of the body that have the origin strictly inside their hull.
    Inside(ArrayVec<N, 4>),
}

/// The point of M nearest the origin, starting from any vertex pairs. When the origin is in M, the
/// result may be any simplex whose hull holds it, or `None` when it was found inside a tetrahedron.
pub(crate) fn nearest(
    m: &Difference<'_>,
    start: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Option<Nearest>, Stopped> {
    Ok(match search(m, start, effort)? {
        NearestOrInside::Nearest(nearest) => Some(nearest),
        NearestOrInside::Inside(_) => None,
    })
}

/// The point of a body nearest the origin, starting from any of its points.
pub(crate) fn search<H: ExactHull>(
    body: &H,
    start: &[H::Name],
    effort: &mut Effort<'_>,
) -> Result<NearestOrInside<H::Name>, Stopped> {
    let mut points: ArrayVec<(H::Name, Integers), 4> = ArrayVec::new();
    for &name in start.iter().take(3) {
        points.push((name, body.at(name)));
    }
    if points.is_empty() {
        points.push((H::Name::default(), body.at(H::Name::default())));
    }
    let mut hint = points[0].0;
    loop {
        effort.spend_step()?;
        let Some((nearest, kept)) = nearest_of(&points) else {
            return Ok(NearestOrInside::Inside(points.into_iter().map(|(name, _)| name).collect()));
        };
        if nearest.is_origin() {
            return Ok(NearestOrInside::Nearest(nearest));
        }
        hint = body.least_from(&nearest.direction, hint, effort);
        let point = body.at(hint);
        if dot(&nearest.direction, &point) >= nearest.level {
            return Ok(NearestOrInside::Nearest(nearest));
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
pub(crate) fn nearest_of_pairs(m: &Difference<'_>, pairs: &[VertexPair]) -> Option<Nearest> {
    let points: ArrayVec<(VertexPair, Integers), 3> =
        pairs.iter().take(3).map(|&pair| (pair, m.at(pair))).collect();
    nearest_of(&points).map(|(nearest, _)| nearest)
}
