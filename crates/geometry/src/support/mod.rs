//! Supporting vertices: the vertex of a polytope farthest along a direction.
//!
//! A direction is three f64 numbers and means exactly those. [`supporting_vertex`] returns the true
//! maximum for it in exact arithmetic, whatever the hint and the exponents. Of several vertices
//! that are equally far it returns the one of the lowest index. That is no afterthought: vertices
//! are sorted by x, y, z, so "value, then lower index" is the order along `g - εe_x - ε²e_y -
//! ε³e_z` for small ε, a linear function; a vertex that no neighbour beats in that order is *the*
//! maximum, and the answer depends on neither hint nor method.
//!
//! The search runs in floating point (from the hint, from the start table, by looking at all of a
//! few vertices, or down the hierarchy); then [`Along`] compares the vertex found with its
//! neighbours: by an error bound, and where that does not settle, exactly.

mod along;
mod layered;

use std::cmp::Ordering;

use arrayvec::ArrayVec;

pub use along::{Along, compare_along};
pub use layered::{by_hierarchy, coherently};

/// The vertex that overtakes a supporting vertex when the direction turns: see
/// [`first_challenger`].
pub use super::kernel::Challenger;
/// What a search in floating point found: see [`likely`].
pub use super::kernel::Climb;

use super::Vec3;
use super::effort::Effort;
use super::kernel::{self, Look};
use super::polytope::Polytope;
pub use super::reach::Near;
use super::reach::{self, Reach, first_look, near_in};

/// Vertices that may tie for [`is_level_top`]: those of a facet, which are mostly three.
const LEVEL_MAX: usize = 6;

/// Whether every search in the body looks at all its vertices.
#[inline(always)]
pub fn looks_at_all(body: &Polytope) -> bool {
    matches!(body.reach(), Reach::Few(_))
}

/// The supporting vertex of `body` along exactly `direction`; of several, the lowest index.
///
/// The hint may be anything. A direction that is zero or not finite is answered with vertex 0.
///
/// ```
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::support::supporting_vertex;
/// # use clearance_geometry::{Vec3, hull::convex_hull};
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let body = convex_hull(&corners).unwrap().polytope;
/// let up = Vec3::new(0.1, 0.2, 1.0);
/// let vertex = supporting_vertex(&body, &up, None, &mut Effort::unlimited());
/// assert_eq!(body.vertices()[vertex as usize], corners[3]);
/// ```
pub fn supporting_vertex(
    body: &Polytope,
    direction: &Vec3,
    hint: Option<u32>,
    effort: &mut Effort<'_>,
) -> u32 {
    effort.cost.supports += 1;
    let Some(along) = Along::new(body, direction) else { return 0 };
    let found = reach::search(body, body.reach(), along.rounded(), hint, effort);
    // The climb has just looked at all neighbours.
    if along.surely_beats(found.value, found.runner_up) {
        return found.vertex;
    }
    along.climb(found.vertex, effort)
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
    likely(body, direction, hint, effort).vertex
}

/// The likely supporting vertex with its rounded value and the largest of its neighbours': by
/// `surely_beats` of the two it is *the* supporting vertex.
#[inline]
pub fn likely(
    body: &Polytope,
    direction: &Vec3,
    hint: Option<u32>,
    effort: &mut Effort<'_>,
) -> Climb {
    effort.cost.supports += 1;
    reach::search(body, body.reach(), direction, hint, effort)
}

/// The supporting vertex, proven, by looking at every vertex.
pub fn by_scan(body: &Polytope, direction: &Vec3, effort: &mut Effort<'_>) -> u32 {
    effort.cost.supports += 1;
    effort.cost.visited += u64::from(body.vertex_count());
    let Some(along) = Along::new(body, direction) else { return 0 };
    let (mut best, value) = kernel::farthest(along.rounded(), body.vertices());
    for vertex in 0..body.vertex_count() {
        let challengers = vertex != best && !along.surely_beats(value, along.value(vertex));
        if challengers && along.compare(vertex, best) == Ordering::Greater {
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

/// [`likely`] in two bodies at once: `g` and `hint` of the one and of the other.
#[inline(always)]
pub fn likely_pair(
    bodies: [&Polytope; 2],
    g: [&Vec3; 2],
    hints: [Option<u32>; 2],
    effort: &mut Effort<'_>,
) -> [Climb; 2] {
    let near = [nearby(bodies[0], g[0], hints[0]), nearby(bodies[1], g[1], hints[1])];
    climb_both(bodies, g, near, effort)
}

/// In two bodies at once, from the hint or from where the table says to the farthest neighbour if
/// that is farther; and whether both have none that is, so are very likely farthest. Of a few
/// vertices, to the farthest.
#[inline(always)]
pub fn move_both(
    bodies: [&Polytope; 2],
    g: [&Vec3; 2],
    hints: [Option<u32>; 2],
    effort: &mut Effort<'_>,
) -> ([u32; 2], bool) {
    effort.cost.supports += 2;
    let reach = [bodies[0].reach(), bodies[1].reach()];
    if let [Reach::Few(a), Reach::Few(b)] = reach {
        effort.cost.visited += u64::from(a.count()) + u64::from(b.count());
        let [a, b] = [kernel::farthest_of_few(g[0], a), kernel::farthest_of_few(g[1], b)];
        return ([a.0, b.0], true);
    }
    let near = [
        near_in(bodies[0], reach[0], g[0], hints[0]),
        near_in(bodies[1], reach[1], g[1], hints[1]),
    ];
    let a = first_look(reach[0], g[0], &near[0]);
    let b = first_look(reach[1], g[1], &near[1]);
    effort.cost.visited += u64::from(a.visited()) + u64::from(b.visited());
    if a.is_settled() & b.is_settled() {
        return ([near[0].vertex, near[1].vertex], true);
    }
    ([farther(reach[0], &a), farther(reach[1], &b)], false)
}

/// Where the first look says to go; stays where there is no farther.
#[inline(always)]
fn farther(reach: &Reach, look: &Look) -> u32 {
    match reach {
        Reach::Few(_) => look.settled().vertex,
        Reach::Many(terrain) => look.farther(&terrain.rings),
    }
}

/// Climbs in two bodies at once. Neither waits for the other, and one branch asks whether both are
/// done, which they are most of the time. Of a few vertices nobody asks for the one after the
/// farthest.
#[inline(always)]
pub fn climb_both(
    bodies: [&Polytope; 2],
    g: [&Vec3; 2],
    near: [Near; 2],
    effort: &mut Effort<'_>,
) -> [Climb; 2] {
    effort.cost.supports += 2;
    let reach = [bodies[0].reach(), bodies[1].reach()];
    let a = first_look(reach[0], g[0], &near[0]);
    let b = first_look(reach[1], g[1], &near[1]);
    let mut found = [a.settled(), b.settled()];
    if !(a.is_settled() & b.is_settled()) {
        if let Reach::Many(terrain) = reach[0]
            && !a.is_settled()
        {
            found[0] = terrain.climb(g[0], near[0]);
        }
        if let Reach::Many(terrain) = reach[1]
            && !b.is_settled()
        {
            found[1] = terrain.climb(g[1], near[1]);
        }
    }
    effort.cost.visited += u64::from(found[0].visited) + u64::from(found[1].visited);
    found
}

/// The neighbours of a vertex, without some.
#[derive(Clone, Copy)]
pub struct NeighboursBut<'a> {
    /// The vertex whose neighbours are meant.
    pub vertex: u32,
    /// The neighbours that are left out.
    pub but: &'a [u32; 3],
}

/// Whether all these neighbours are certain to stay below `limit` in rounded value along `g`. In a
/// body of few vertices every vertex counts as a neighbour. `false` leaves it open.
#[inline(always)]
pub fn neighbours_are_below(
    body: &Polytope,
    g: &Vec3,
    limit: f64,
    NeighboursBut { vertex, but }: NeighboursBut<'_>,
    effort: &mut Effort<'_>,
) -> bool {
    let (ring, rings) = match body.reach() {
        Reach::Few(all) => (all, &[][..]),
        Reach::Many(terrain) => (&terrain.rings[vertex as usize], &*terrain.rings),
    };
    effort.cost.visited += u64::from(ring.count());
    !kernel::reaches(ring, rings, g, limit, but)
}

/// Whether no vertex of the body is farther than the top of a search along a direction but for
/// rounding: its rounded value is then the largest, and within the error of one rounded value of
/// the largest exact one.
///
/// `true` if all neighbours of the top and of the few vertices that tie with it are of these, or
/// surely beaten by the top. For the farthest of these in exact order has no neighbour that is
/// farther, so none of the body is. `false` leaves it open.
pub fn is_level_top(
    body: &Polytope,
    along: &Along<'_>,
    top: &Climb,
    effort: &mut Effort<'_>,
) -> bool {
    let Reach::Many(terrain) = body.reach() else { return true };
    let limit = along.limit(top.value);
    let mut level = ArrayVec::<u32, LEVEL_MAX>::new();
    level.push(top.vertex);
    let mut at = 0;
    while let Some(&vertex) = level.get(at) {
        let mut ring = Some(&terrain.rings[vertex as usize]);
        while let Some(part) = ring {
            effort.cost.visited += u64::from(part.count());
            for (value, name) in part.reaching(along.rounded(), limit) {
                if level.contains(&name) {
                    continue;
                }
                let is_no_farther = value <= top.value;
                if !is_no_farther || level.try_push(name).is_err() {
                    return false;
                }
            }
            ring = part.more(&terrain.rings);
        }
        at += 1;
    }
    true
}

/// Who of the neighbours of `vertex`, which is in range and supports `body` along the first
/// direction, first comes as far when that much of the second one is added; in a body of few
/// vertices, who of all of them. Nobody has the number of `except`. In rounded values: for searches
/// that only propose.
#[inline(always)]
pub fn first_challenger(
    body: &Polytope,
    vertex: u32,
    turning: [&Vec3; 2],
    except: u32,
    effort: &mut Effort<'_>,
) -> Challenger {
    match body.reach() {
        Reach::Few(all) => {
            effort.cost.visited += u64::from(all.count());
            kernel::first_challenger_of_few(turning, all, body.vertex(vertex), except)
        }
        Reach::Many(terrain) => {
            // Those in the first ring, which are nearly always all.
            effort.cost.visited += u64::from(terrain.rings[vertex as usize].count());
            kernel::first_challenger(turning, &terrain.rings, vertex, except)
        }
    }
}

/// Where to start: at the hint if it is a vertex, else where the table says; of a few vertices, at
/// the farthest.
#[inline(always)]
pub fn nearby(body: &Polytope, g: &Vec3, hint: Option<u32>) -> Near {
    near_in(body, body.reach(), g, hint)
}

#[cfg(test)]
mod tests;
