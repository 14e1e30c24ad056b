//! Convex polygons in a plane, their corners named: hull, orientation and Minkowski sum.

use crate::pair::VertexPair;

/// A corner: the vertex it is, and where.
pub(super) type PolygonCorner = (u32, [f64; 2]);

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// Twice the signed area that two vectors span.
pub(super) fn turn(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// Turns a loop that is clockwise.
pub(super) fn counter_clockwise(corners: &mut [PolygonCorner]) {
    let Some(&(_, base)) = corners.first() else { return };
    let area: f64 =
        corners.windows(2).map(|side| turn(minus(side[0].1, base), minus(side[1].1, base))).sum();
    if area < 0.0 {
        corners.reverse();
    }
}

/// The convex hull, counter-clockwise from the leftmost; collinear points are dropped.
///
/// Andrew, *Another Efficient Algorithm for Convex Hulls in Two Dimensions*, 1979.
pub(super) fn hull(mut points: Vec<PolygonCorner>) -> Vec<PolygonCorner> {
    let order = |a: &PolygonCorner, b: &PolygonCorner| {
        a.1[0].total_cmp(&b.1[0]).then(a.1[1].total_cmp(&b.1[1])).then(a.0.cmp(&b.0))
    };
    points.sort_unstable_by(order);
    points.dedup_by_key(|corner| corner.1.map(f64::to_bits));
    if points.len() < 3 {
        return points;
    }
    let mut lower = half_hull(points.iter());
    let mut upper = half_hull(points.iter().rev());
    lower.pop();
    upper.pop();
    lower.extend(upper);
    lower
}

fn half_hull<'a>(points: impl Iterator<Item = &'a PolygonCorner>) -> Vec<PolygonCorner> {
    let mut chain: Vec<PolygonCorner> = Vec::new();
    for &point in points {
        while let [.., a, b] = chain.as_slice() {
            if turn(minus(b.1, a.1), minus(point.1, b.1)) > 0.0 {
                break;
            }
            chain.pop();
        }
        chain.push(point);
    }
    chain
}

/// The corners of the sum of two convex loops, both counter-clockwise (of one, two or more
/// corners), in order: their sides merged by direction.
pub(super) fn sum_loop(p: &[PolygonCorner], q: &[PolygonCorner]) -> Vec<VertexPair> {
    let lowest = |corners: &[PolygonCorner]| {
        let order = |a: &[f64; 2], b: &[f64; 2]| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0]));
        let least = corners.iter().enumerate().min_by(|a, b| order(&a.1.1, &b.1.1));
        least.map_or(0, |(index, _)| index)
    };
    let (start_p, start_q) = (lowest(p), lowest(q));
    let sides = |corners: &[PolygonCorner]| if corners.len() > 1 { corners.len() } else { 0 };
    let at = |corners: &[PolygonCorner], index: usize| corners[index % corners.len()];
    let side = |corners: &[PolygonCorner], index: usize| {
        minus(at(corners, index + 1).1, at(corners, index).1)
    };
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::with_capacity(p.len() + q.len());
    while i < sides(p) || j < sides(q) {
        found.push(VertexPair { i: at(p, start_p + i).0, j: at(q, start_q + j).0 });
        let order = turn(side(p, start_p + i), side(q, start_q + j));
        let (p_is_done, q_is_done) = (i == sides(p), j == sides(q));
        if p_is_done || (order < 0.0 && !q_is_done) {
            j += 1;
        } else if q_is_done || order > 0.0 {
            i += 1;
        } else {
            // Parallel sides are passed together; NaN too.
            i += 1;
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Random;

    fn cloud(random: &mut Random) -> Vec<PolygonCorner> {
        let coordinate = |random: &mut Random| f64::from(random.below(9)) - 4.0;
        let count = 1 + random.below(8);
        (0..count).map(|k| (k, [coordinate(random), coordinate(random)])).collect()
    }

    /// The farthest along a direction.
    fn reach<'a>(points: impl Iterator<Item = &'a [f64; 2]>, direction: [f64; 2]) -> f64 {
        let value = |p: &[f64; 2]| p[0] * direction[0] + p[1] * direction[1];
        points.map(value).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "small integers are exact")]
    fn hulls_and_sums_reach_as_far_as_their_points_in_every_direction_and_turn_left() {
        let mut random = Random(61);
        for round in 0..2000 {
            let (p, q) = (cloud(&mut random), cloud(&mut random));
            let (hull_p, hull_q) = (hull(p.clone()), hull(q.clone()));
            let sum: Vec<[f64; 2]> = if hull_p.len() + hull_q.len() == 2 {
                vec![]
            } else {
                let at = |all: &[PolygonCorner], k: u32| all.iter().find(|c| c.0 == k).unwrap().1;
                let pairs = sum_loop(&hull_p, &hull_q);
                let point = |k: &VertexPair| {
                    let (a, b) = (at(&p, k.i), at(&q, k.j));
                    [a[0] + b[0], a[1] + b[1]]
                };
                pairs.iter().map(point).collect()
            };
            for x in -3..=3 {
                for y in -3..=3 {
                    let direction = [f64::from(x), f64::from(y)];
                    let (of_p, of_q) = (
                        reach(p.iter().map(|c| &c.1), direction),
                        reach(q.iter().map(|c| &c.1), direction),
                    );
                    assert_eq!(reach(hull_p.iter().map(|c| &c.1), direction), of_p, "{round}");
                    if !sum.is_empty() {
                        assert_eq!(reach(sum.iter(), direction), of_p + of_q, "{round}");
                    }
                }
            }
            for at in 0..sum.len() {
                let [a, b, c] = [0, 1, 2].map(|k| sum[(at + k) % sum.len()]);
                assert!(turn(minus(b, a), minus(c, b)) >= 0.0, "{round}: {sum:?}");
            }
        }
    }
}
