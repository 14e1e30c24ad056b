//! The part of the judge that looks at plane loops.

use std::cmp::Ordering;

use super::{Defect, compare};
use crate::Vec3;
use crate::number::orientation::{Axis, Side, Turn, side_of_plane, turn};
use crate::shape::Shape;

/// The first axis along which the plane of three points does not project to a line.
fn first_axis(a: &Vec3, b: &Vec3, c: &Vec3) -> Option<Axis> {
    Axis::ALL.into_iter().find(|&axis| turn(axis, a, b, c) != Turn::Straight)
}

/// Whether the points lie in one plane and are, in this order, the corners of a strictly convex
/// polygon; if so, an axis along which it can be seen and the way it turns there.
///
/// A closed path that turns the same way at every corner is a convex polygon run through once or
/// more. Each round has one part that goes up and one that goes down, in the order by two
/// coordinates; so two changes between them mean one round.
pub(super) fn convex_loop(corners: &[&Vec3]) -> Option<(Axis, Turn)> {
    let [a, b, c, ..] = *corners else { return None };
    let axis = first_axis(a, b, c)?;
    let way = turn(axis, a, b, c);
    let count = corners.len();
    let at = |i: usize| corners[i % count];
    let turns_alike = (0..count).all(|i| turn(axis, at(i), at(i + 1), at(i + 2)) == way);
    let is_plane = corners.iter().all(|p| side_of_plane(a, b, c, p) == Side::On);
    let (i, j) = axis.others();
    let goes_up = |k: usize| {
        let (from, to) = (at(k), at(k + 1));
        from[i].total_cmp(&to[i]).then(from[j].total_cmp(&to[j])) == Ordering::Less
    };
    let changes = (0..count).filter(|&k| goes_up(k) != goes_up(k + 1)).count();
    (is_plane && turns_alike && changes == 2).then_some((axis, way))
}

/// A flat polytope: its one facet has all vertices, its ring is the edge graph, all points are in
/// it.
pub(super) fn check(polytope: &Shape, given: &[Vec3], others: &[usize]) -> Result<(), Defect> {
    if polytope.facets().len() != 1 {
        return Err(Defect::FacetOrder);
    }
    let ring = polytope.facets().row(0);
    let mut sorted = ring.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..polytope.vertex_count()) || ring[0] != 0 {
        return Err(Defect::Loop { facet: 0 });
    }
    let corners: Vec<&Vec3> = ring.iter().map(|&i| polytope.vertex(i)).collect();
    let Some((axis, Turn::Left)) = convex_loop(&corners) else {
        return Err(Defect::Loop { facet: 0 });
    };
    for (k, &vertex) in ring.iter().enumerate() {
        let (before, after) = (ring[(k + ring.len() - 1) % ring.len()], ring[(k + 1) % ring.len()]);
        if polytope.neighbours(vertex) != [before.min(after), before.max(after)] {
            return Err(Defect::Neighbours { vertex });
        }
    }
    match others.iter().find(|&&index| !is_inside(&corners, axis, &given[index])) {
        Some(&index) => Err(Defect::Outside { index }),
        None => Ok(()),
    }
}

/// Whether a point is in a convex polygon that turns left seen along `axis`.
fn is_inside(corners: &[&Vec3], axis: Axis, p: &Vec3) -> bool {
    debug_assert!(corners.windows(2).all(|edge| compare(edge[0], edge[1]).is_ne()));
    if side_of_plane(corners[0], corners[1], corners[2], p) != Side::On {
        return false;
    }
    // The diagonals from corner 0 cut the polygon into a fan: find the last one with p to its left
    // or on it, then p must be left of the edge that closes the wedge, and of the fan's two sides.
    let last = corners.len() - 1;
    let is_left = |from: usize, to: usize| turn(axis, corners[from], corners[to], p) != Turn::Right;
    let (mut low, mut high) = (1, last);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if is_left(0, middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    is_left(0, 1) && is_left(low, low + 1) && is_left(last, 0)
}
