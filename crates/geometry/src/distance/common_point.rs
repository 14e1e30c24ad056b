//! A point that two bodies in contact share, for use, not for proof: the mean of the certificate's
//! vertices with the weights that put the mean of their differences at the origin.

use arrayvec::ArrayVec;
use dashu_int::IBig;

use super::wolfe::{nearest_of_pairs, weighted_mean};
use crate::Vec3;
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::number::scaled::{cross, dot};
use crate::number::tolerance::COMMON_POINT_ERROR;
use crate::pair::{Pair, VertexPair};

/// A point of P and a point of Q, equal up to rounding. `pairs` are one to three whose hull holds
/// the origin, or four to six with it strictly inside.
pub(super) fn of(pair: &Pair<'_>, view: &BoundedView<'_>, pairs: &[VertexPair]) -> [Vec3; 2] {
    if pairs.len() > 3
        && let Some(weighted) = rounded_weights(view, pairs)
    {
        return view.mean(weighted.into_iter());
    }
    let m = Difference::new(pair);
    let exact = if pairs.len() > 3 {
        fours(pairs).find_map(|four| of_tetrahedron(&m, &four))
    } else {
        nearest_of_pairs(&m, pairs).map(|nearest| nearest.closest(&m))
    };
    exact.expect("the certificate's pairs hold the origin")
}

/// Every choice of four.
fn fours(pairs: &[VertexPair]) -> impl Iterator<Item = [VertexPair; 4]> + '_ {
    let masks = (0_u32..1 << pairs.len()).filter(|mask| mask.count_ones() == 4);
    masks.map(|mask| {
        let mut chosen = (0..pairs.len()).filter(|index| mask >> index & 1 == 1);
        [(); 4].map(|()| pairs[chosen.next().expect("four bits are set")])
    })
}

/// A point of P and a point of Q, equal up to rounding, of bodies that meet where a line along
/// `way` enters M through the triangle of `corners`. None where rounding says otherwise.
pub(super) fn of_entry(
    view: &BoundedView<'_>,
    way: &Vec3,
    corners: &[VertexPair; 3],
) -> Option<[Vec3; 2]> {
    let points = corners.map(|pair| view.difference(pair));
    let [a, b, c] = points;
    let sides = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|side| side.dot(way));
    let sum = sides[0] + sides[1] + sides[2];
    let weights = sides.map(|side| side / sum);
    let mean: Vec3 = points.iter().zip(weights).map(|(point, weight)| point * weight).sum();
    let holds = weights.iter().all(|weight| *weight >= 0.0);
    let is_accurate = mean.norm() <= COMMON_POINT_ERROR * view.size();
    (holds && is_accurate).then(|| view.mean(corners.iter().copied().zip(weights)))
}

/// Among the fours of pairs whose tetrahedron holds the origin those with the largest least
/// weight, if their mean is the origin up to [`COMMON_POINT_ERROR`].
pub(crate) fn rounded_weights(
    view: &BoundedView<'_>,
    pairs: &[VertexPair],
) -> Option<ArrayVec<(VertexPair, f64), 4>> {
    let mut best: Option<(f64, ArrayVec<(VertexPair, f64), 4>)> = None;
    for four in fours(pairs) {
        let points = four.map(|pair| view.difference(pair));
        let [a, b, c, d] = points;
        let det = |x: Vec3, y: Vec3, z: Vec3| x.dot(&y.cross(&z));
        let volumes = [det(b, c, d), -det(a, c, d), det(a, b, d), -det(a, b, c)];
        let sum: f64 = volumes.iter().sum();
        let weights = volumes.map(|volume| volume / sum);
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let mean: Vec3 = points.iter().zip(weights).map(|(point, weight)| point * weight).sum();
        let is_accurate = mean.norm() <= COMMON_POINT_ERROR * view.size();
        if is_accurate && least > best.as_ref().map_or(0.0, |(least, _)| *least) {
            best = Some((least, four.into_iter().zip(weights).collect()));
        }
    }
    best.map(|(_, weighted)| weighted)
}

/// The common point in integers, if the tetrahedron holds the origin.
fn of_tetrahedron(m: &Difference<'_>, four: &[VertexPair; 4]) -> Option<[Vec3; 2]> {
    let [a, b, c, d] = four.map(|pair| m.at(pair));
    let det = |x, y, z| dot(x, &cross(y, z));
    let volumes = [det(&b, &c, &d), -det(&a, &c, &d), det(&a, &b, &d), -det(&a, &b, &c)];
    let sum: IBig = volumes.iter().sum();
    let weights = if sum < IBig::ZERO { volumes.map(|volume| -volume) } else { volumes };
    let holds = sum != IBig::ZERO && weights.iter().all(|weight| *weight >= IBig::ZERO);
    let weighted = four.iter().copied().zip(&weights);
    holds.then(|| weighted_mean(m, weighted, &sum))
}
