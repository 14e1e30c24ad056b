//! Supporting vertices: the vertex of a polytope farthest along a direction.
//!
//! A direction is three f64 numbers and means exactly those. [`supporting_vertex`] returns the true
//! maximum for it in exact arithmetic, whatever the hint and the exponents. Of several vertices
//! that are equally far it returns the one of the lowest index. That is no afterthought: vertices
//! are sorted by x, y, z, so "value, then lower index" is the order along `g - εe_x - ε²e_y - ε³e_z`
//! for small ε, a linear function; a vertex that no neighbour beats in that order is *the* maximum,
//! and the answer depends on neither hint nor method.
//!
//! The search runs in floating point (from the hint, from the start table, by scanning a small
//! body, or down the hierarchy); then [`Along`] compares the vertex found with its neighbours: by an
//! error bound, and where that does not settle, exactly.

mod along;
mod layered;
mod start_table;

use std::cmp::Ordering;

pub use along::{Along, compare_along};
pub use layered::{by_hierarchy, coherently};
pub use start_table::StartTable;

use super::Vec3;
use super::effort::Effort;
use super::kernel::{self, Climb};
use super::polytope::Polytope;

/// Bodies of at most this many vertices are scanned when there is no hint: the table's lookup and
/// the climb from it cost as much as 8 to 16 evaluations.
pub const SCAN_MAX: u32 = 12;

/// Rings that a climb from a hint may look at before the start table is asked. A hint that is good
/// is one or two moves away; from a stale one the climb would cross half the body.
const HINT_STEPS: u32 = 6;

/// The supporting vertex of `body` along exactly `direction`; of several, the lowest index.
///
/// The hint may be anything. A direction that is zero or not finite is answered with vertex 0.
pub fn supporting_vertex(
    body: &Polytope,
    direction: &Vec3,
    hint: Option<u32>,
    effort: &mut Effort<'_>,
) -> u32 {
    effort.cost.supports += 1;
    let Some(along) = Along::new(body, direction) else { return 0 };
    let start = search(body, along.rounded(), hint, effort);
    prove(body, &along, start, effort)
}

/// A vertex that is very likely farthest along `direction`, without proof: for searches that only
/// propose.
#[inline]
pub fn likely_vertex(
    body: &Polytope,
    direction: &Vec3,
    hint: Option<u32>,
    effort: &mut Effort<'_>,
) -> u32 {
    effort.cost.supports += 1;
    search(body, direction, hint, effort)
}

/// Climbs from `start` (any number) to a vertex that no neighbour beats in floating point.
pub fn climb(body: &Polytope, direction: &Vec3, start: u32, effort: &mut Effort<'_>) -> u32 {
    effort.cost.supports += 1;
    let start = if start < body.vertex_count() { start } else { 0 };
    climb_on(body, direction, start, u32::MAX, effort).vertex
}

/// The supporting vertex, proven, by looking at every vertex.
pub fn by_scan(body: &Polytope, direction: &Vec3, effort: &mut Effort<'_>) -> u32 {
    effort.cost.supports += 1;
    effort.cost.visited += u64::from(body.vertex_count());
    let Some(along) = Along::new(body, direction) else { return 0 };
    let (mut best, value) = kernel::farthest(along.rounded(), body.vertices());
    for vertex in 0..body.vertex_count() {
        let rivals = vertex != best && !along.surely_beats(value, along.value(vertex));
        if rivals && along.compare(vertex, best) == Ordering::Greater {
            best = vertex;
        }
    }
    best
}

/// The supporting vertex for a direction that only the caller can evaluate: climbs from `start`,
/// where `beats(a, b)` says that vertex a is farther than vertex b.
///
/// It is the maximum if `beats` is the strict order along one linear function (perturbed or not).
pub fn climb_by(
    body: &Polytope,
    start: u32,
    effort: &mut Effort<'_>,
    mut beats: impl FnMut(u32, u32) -> bool,
) -> u32 {
    effort.cost.supports += 1;
    let mut vertex = if start < body.vertex_count() { start } else { 0 };
    loop {
        let neighbours = body.neighbours(vertex);
        effort.cost.visited += neighbours.len() as u64;
        let best = neighbours.iter().fold(vertex, |b, &n| if beats(n, b) { n } else { b });
        if best == vertex {
            return vertex;
        }
        vertex = best;
    }
}

/// The floating-point search: hint, scan or table.
#[inline]
fn search(body: &Polytope, g: &Vec3, hint: Option<u32>, effort: &mut Effort<'_>) -> u32 {
    let count = body.vertex_count();
    let Some(hint) = hint.filter(|&hint| hint < count) else {
        if count <= SCAN_MAX {
            effort.cost.visited += u64::from(count);
            return kernel::farthest(g, body.vertices()).0;
        }
        let start = body.start_table().start(g);
        return climb_on(body, g, start, u32::MAX, effort).vertex;
    };
    let warm = climb_on(body, g, hint, HINT_STEPS, effort);
    if warm.finished {
        return warm.vertex;
    }
    let start = if count <= SCAN_MAX { warm.vertex } else { body.start_table().start(g) };
    let better = kernel::along(g, body.vertex(start)) > warm.value;
    let start = if better { start } else { warm.vertex };
    climb_on(body, g, start, u32::MAX, effort).vertex
}

#[inline]
fn climb_on(body: &Polytope, g: &Vec3, start: u32, steps: u32, effort: &mut Effort<'_>) -> Climb {
    let climb = kernel::climb(g, body.vertices(), &body.neighbours, start, steps);
    effort.cost.visited += u64::from(climb.visited);
    climb
}

/// Climbs on in exact order until no neighbour beats the vertex: the proof of maximality.
#[inline]
fn prove(body: &Polytope, along: &Along<'_>, start: u32, effort: &mut Effort<'_>) -> u32 {
    let mut vertex = start;
    // Every move is strictly upwards in an exact order of finitely many vertices.
    loop {
        let neighbours = body.neighbours(vertex);
        effort.cost.visited += neighbours.len() as u64;
        let value = along.value(vertex);
        let mut best = vertex;
        for &next in neighbours {
            if along.surely_beats(value, along.value(next)) {
                continue;
            }
            if along.compare(next, best) == Ordering::Greater {
                best = next;
            }
        }
        if best == vertex {
            return vertex;
        }
        vertex = best;
    }
}

#[cfg(test)]
mod tests;
