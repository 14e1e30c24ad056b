//! Four vertices of M around the origin, from where the ray leaves M.
//!
//! The origin lies between c and the point where the ray leaves; c is a mean of vertices of M, and
//! that point is one of the three corners it passes between. Of these at most ten vertices four are
//! enough (Carathéodory): while there are more, an affine dependency of five is subtracted until
//! one weight is zero.

use arrayvec::ArrayVec;

use super::bodies::DualBodies;
use crate::Vec3;
use crate::pair::VertexPair;
use crate::polytope::surface::Inner;

/// A pivot this small beside the distance of the points is taken to be rounding alone.
const FLAT: f64 = 1.0 / (1u64 << 40) as f64;

/// Weights above this have the origin certainly inside, as far as rounding is concerned.
const INSIDE: f64 = 1.0 / (1u64 << 20) as f64;

#[derive(Clone, Copy)]
struct WeightedPoint {
    pair: VertexPair,
    /// Seen from the origin.
    point: Vec3,
    weight: f64,
}

/// Seven of c, three of the face.
type WeightedPoints = ArrayVec<WeightedPoint, 10>;

/// The pairs, if rounding lets them be found. `inner` are the points whose difference is c; the ray
/// leaves M in the triangle, whose objective is `value`.
pub(super) fn holding(
    bodies: &DualBodies<'_>,
    inner: [&Inner; 2],
    triangle: &[(VertexPair, f64); 3],
    value: f64,
) -> Option<ArrayVec<VertexPair, 6>> {
    let mut all = WeightedPoints::new();
    let mut add = |pair: VertexPair, weight: f64| {
        if weight > 0.0 {
            all.push(WeightedPoint { pair, point: bodies.offset(pair) - bodies.ray, weight });
        }
    };
    for &(pair, weight) in triangle {
        add(pair, weight * value);
    }
    for (pair, weight) in pairs_of_c(inner) {
        add(pair, weight * (1.0 - value));
    }
    // On symmetric bodies the four may have the origin on a face; then four of another order do.
    let mut best: Option<(f64, WeightedPoints)> = None;
    for _ in 0..all.len() {
        let mut four = all.clone();
        if reduce(&mut four).is_some() {
            let least = four.iter().map(|weighted| weighted.weight).fold(f64::INFINITY, f64::min);
            let least = if four.len() < 4 { 0.0 } else { least };
            if best.as_ref().is_none_or(|(known, _)| least > *known) {
                best = Some((least, four));
            }
            if least > INSIDE {
                break;
            }
        }
        all.rotate_left(1);
    }
    let (_, four) = best?;
    Some(four.iter().map(|weighted| weighted.pair).collect())
}

/// c as a mean of at most seven vertices of M: the weights of both bodies, cut to common pieces.
fn pairs_of_c([p, q]: [&Inner; 2]) -> ArrayVec<(VertexPair, f64), 7> {
    let mut pieces = ArrayVec::new();
    let (mut i, mut j) = (0, 0);
    let (mut left_p, mut left_q) = (p.weights[0].1, q.weights[0].1);
    loop {
        let pair = VertexPair { i: p.weights[i].0, j: q.weights[j].0 };
        let piece = left_p.min(left_q);
        pieces.push((pair, piece));
        (left_p, left_q) = (left_p - piece, left_q - piece);
        // One of the two is used up exactly; at the end of a list the other's rest is rounding.
        let next_of_p = left_p <= left_q;
        if next_of_p && i < 3 {
            i += 1;
            left_p = p.weights[i].1;
        } else if !next_of_p && j < 3 {
            j += 1;
            left_q = q.weights[j].1;
        } else {
            return pieces;
        }
    }
}

/// Down to four; none when rounding gets in the way.
fn reduce(all: &mut WeightedPoints) -> Option<()> {
    while all.len() > 4 {
        let dependency = dependency(&std::array::from_fn(|k| all[k].point))?;
        let ratios = dependency.iter().zip(all.iter()).enumerate();
        let (used_up, share) = ratios
            .filter(|(_, (part, _))| **part > 0.0)
            .map(|(k, (part, weighted))| (k, weighted.weight / part))
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        for (part, weighted) in dependency.iter().zip(all.iter_mut()) {
            weighted.weight -= share * part;
        }
        all.remove(used_up);
    }
    Some(())
}

/// Numbers, not all zero, with sum zero and `Σ z_k x_k = 0`; none when the points are not finite.
///
/// By elimination with complete pivoting in the system of four equations: the first column without
/// a pivot is a combination of those that have one.
fn dependency(points: &[Vec3; 5]) -> Option<[f64; 5]> {
    let size = points[1..].iter().map(|x| (x - points[0]).amax()).fold(0.0, f64::max);
    let seen = points.map(|x| (x - points[0]) / size);
    // One row an equation; the columns are the points.
    let mut rows = [[1.0; 5]; 4];
    for k in 0..3 {
        rows[k] = seen.map(|x| x[k]);
    }
    // columns[r] is the column of row r's pivot.
    let mut columns = [0, 1, 2, 3, 4];
    let mut rank = 0;
    while rank < 4 {
        let places = (rank..4).flat_map(|r| (rank..5).map(move |c| (r, c)));
        let length = |&(r, c): &(usize, usize)| f64::abs(rows[r][columns[c]]);
        let (r, c) = places.max_by(|a, b| length(a).total_cmp(&length(b)))?;
        let is_pivot = length(&(r, c)) > FLAT;
        if !is_pivot {
            break;
        }
        rows.swap(rank, r);
        columns.swap(rank, c);
        let pivot_row = rows[rank];
        let pivot = columns[rank];
        for (_, row) in rows.iter_mut().enumerate().filter(|(number, _)| *number != rank) {
            let factor = row[pivot] / pivot_row[pivot];
            for (entry, other) in row.iter_mut().zip(pivot_row) {
                *entry -= factor * other;
            }
        }
        rank += 1;
    }
    let free = columns[rank];
    let mut dependency = [0.0; 5];
    dependency[free] = 1.0;
    for (row, &pivot) in rows.iter().zip(&columns[..rank]) {
        dependency[pivot] = -row[free] / row[pivot];
    }
    dependency.iter().all(|part| part.is_finite()).then_some(dependency)
}
