//! A point that two bodies in contact share, for use, not for proof: the mean of the certificate's
//! vertices with the weights that put the mean of their differences at the origin.

use arrayvec::ArrayVec;

use super::grid::Grid;
use super::view::View;
use super::wolfe::nearest_of_pairs;
use crate::geometry::Vec3;
use crate::geometry::pair::{Pair, VertexPair};

/// A point of P and a point of Q, equal up to rounding. `pairs` are one to three whose hull holds
/// the origin, or four to six with it strictly inside.
pub(super) fn of(pair: &Pair<'_>, view: &View<'_>, pairs: &[VertexPair]) -> [Vec3; 2] {
    if pairs.len() > 3
        && let Some(weighted) = tetrahedron(view, pairs)
    {
        return view.mean(&weighted);
    }
    let grid = Grid::new(pair);
    if pairs.len() <= 3 {
        return match nearest_of_pairs(&grid, pairs) {
            Some(nearest) => nearest.closest(&grid),
            None => [pair.p.pose.translation; 2],
        };
    }
    // Too thin for f64: the tetrahedra's faces come close enough to the origin.
    let best = triples(pairs)
        .filter_map(|triple| nearest_of_pairs(&grid, &triple))
        .min_by(|a, b| a.length(&grid)[1].total_cmp(&b.length(&grid)[1]));
    best.map_or([pair.p.pose.translation; 2], |nearest| nearest.closest(&grid))
}

fn triples(pairs: &[VertexPair]) -> impl Iterator<Item = [VertexPair; 3]> + '_ {
    (0..pairs.len()).flat_map(move |a| {
        (a + 1..pairs.len())
            .flat_map(move |b| (b + 1..pairs.len()).map(move |c| [pairs[a], pairs[b], pairs[c]]))
    })
}

/// Of all four of the pairs whose tetrahedron holds the origin, those with the largest least
/// weight.
fn tetrahedron(view: &View<'_>, pairs: &[VertexPair]) -> Option<ArrayVec<(VertexPair, f64), 4>> {
    let mut best: Option<(f64, ArrayVec<(VertexPair, f64), 4>)> = None;
    for mask in 0_u32..1 << pairs.len() {
        if mask.count_ones() != 4 {
            continue;
        }
        let chosen: ArrayVec<VertexPair, 4> = pairs
            .iter()
            .enumerate()
            .filter(|(index, _)| mask >> index & 1 == 1)
            .map(|(_, pair)| *pair)
            .collect();
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| view.difference(chosen[k]));
        let det = |x: Vec3, y: Vec3, z: Vec3| x.dot(&y.cross(&z));
        let volumes = [det(b, c, d), -det(a, c, d), det(a, b, d), -det(a, b, c)];
        let sum: f64 = volumes.iter().sum();
        let least = volumes.iter().map(|v| v / sum).fold(f64::INFINITY, f64::min);
        if least > best.as_ref().map_or(0.0, |(least, _)| *least) {
            let weights = volumes.map(|v| v / sum);
            best = Some((least, chosen.into_iter().zip(weights).collect()));
        }
    }
    best.map(|(_, weighted)| weighted)
}
