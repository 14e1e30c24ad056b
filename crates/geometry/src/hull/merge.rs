//! From a triangulated surface to the faces of the polytope: coplanar neighbours become one facet,
//! and only corners at which three facets meet stay.

use crate::Vec3;
use crate::csr::Csr;
use crate::effort::{Effort, Stopped};
use crate::number::orientation::{Side, exact_side_of_plane};

use super::index_of;
use super::quickhull::Triangle;

/// The combinatorial structure of a solid, in indices of its extreme points, sorted.
pub(super) struct Faces {
    /// Which of the given points are extreme, ascending.
    pub(super) extreme: Vec<u32>,
    /// Vertex loops, counter-clockwise from outside, lowest index first; rows sorted.
    pub(super) facets: Csr,
    /// Neighbours of each vertex, counter-clockwise from outside, lowest index first.
    pub(super) neighbours: Csr,
}

const NONE: u32 = u32::MAX;

/// Vertex loops one after another; loop `k` is `items[starts[k]..starts[k + 1]]`.
struct Loops {
    starts: Vec<usize>,
    items: Vec<u32>,
}

/// Merges the surface of the hull of `points`; of millions it takes seconds: not beyond the
/// deadline.
pub(super) fn merge(
    points: &[Vec3],
    surface: &[Triangle],
    effort: &Effort<'_>,
) -> Result<Faces, Stopped> {
    let facet_of = label_coplanar(points, surface, effort)?;
    let mut loops = corner_loops(surface, &facet_of, effort)?;

    let mut number = vec![NONE; points.len()];
    for &corner in &loops.items {
        number[corner as usize] = 0;
    }
    let mut extreme = Vec::new();
    for (point, slot) in number.iter_mut().enumerate() {
        if *slot != NONE {
            *slot = index_of(extreme.len());
            extreme.push(index_of(point));
        }
    }
    for corner in &mut loops.items {
        *corner = number[*corner as usize];
    }
    let facets = sorted_loops(loops);
    let neighbours = rings(extreme.len(), &facets, effort)?;
    Ok(Faces { extreme, facets, neighbours })
}

/// The loops in canonical form: each with its lowest corner first, in lexicographic order.
fn sorted_loops(mut loops: Loops) -> Csr {
    for range in loops.starts.windows(2) {
        start_with_lowest(&mut loops.items[range[0]..range[1]]);
    }
    // An edge has one facet to its left, so the first two corners tell loops apart.
    let key = |start: usize| [loops.items[start], loops.items[start + 1]];
    let mut order: Vec<([u32; 2], [usize; 2])> =
        loops.starts.windows(2).map(|range| (key(range[0]), [range[0], range[1]])).collect();
    order.sort_unstable();
    Csr::from_rows(order.iter().map(|(_, [start, end])| &loops.items[*start..*end]))
}

/// For each triangle the number of the facet it belongs to.
///
/// Coplanarity with a neighbour is transitive along a chain of neighbours, as every link proves
/// three corners in the plane, so comparing neighbours is enough.
fn label_coplanar(
    points: &[Vec3],
    surface: &[Triangle],
    effort: &Effort<'_>,
) -> Result<Vec<u32>, Stopped> {
    let mut label = vec![NONE; surface.len()];
    let mut stack = Vec::new();
    for first in 0..index_of(surface.len()) {
        if label[first as usize] != NONE {
            continue;
        }
        label[first as usize] = first;
        stack.push(first);
        while let Some(index) = stack.pop() {
            effort.look_at_clock()?;
            let Triangle { corners, across, plane } = &surface[index as usize];
            for &neighbour in across {
                if label[neighbour as usize] != NONE {
                    continue;
                }
                let opposite = surface[neighbour as usize].corners;
                let opposite = opposite.into_iter().find(|corner| !corners.contains(corner));
                let opposite = opposite.expect("neighbours share just two corners");
                let p = &points[opposite as usize];
                let side = plane.side(p).unwrap_or_else(|| {
                    let [a, b, c] = corners.map(|corner| &points[corner as usize]);
                    exact_side_of_plane(a, b, c, p)
                });
                if side == Side::On {
                    label[neighbour as usize] = first;
                    stack.push(neighbour);
                }
            }
        }
    }
    Ok(label)
}

/// The vertex loop of every facet, without the points inside its edges.
fn corner_loops(
    surface: &[Triangle],
    facet_of: &[u32],
    effort: &Effort<'_>,
) -> Result<Loops, Stopped> {
    // Edge k of triangle t runs from corner k to the next and borders another facet or does not.
    let border = |t: u32, k: usize| {
        let other = facet_of[surface[t as usize].across[k] as usize];
        (other != facet_of[t as usize]).then_some(other)
    };
    let mut visited = vec![[false; 3]; surface.len()];
    let mut loops = Loops { starts: vec![0], items: Vec::with_capacity(3 * surface.len()) };
    for t in 0..index_of(surface.len()) {
        effort.look_at_clock()?;
        for k in 0..3 {
            if visited[t as usize][k] || border(t, k).is_none() {
                continue;
            }
            let (mut t, mut k) = (t, k);
            while !visited[t as usize][k] {
                visited[t as usize][k] = true;
                let end = (k + 1) % 3;
                let (next_t, next_k) = turn_within_facet(surface, facet_of, t, end);
                // Two edges of the loop that border the same facet lie on one line.
                if border(t, k) != border(next_t, next_k) {
                    loops.items.push(surface[t as usize].corners[end]);
                }
                (t, k) = (next_t, next_k);
            }
            loops.starts.push(loops.items.len());
        }
    }
    Ok(loops)
}

/// The border edge of the facet that starts at corner `k` of triangle `t`.
fn turn_within_facet(
    surface: &[Triangle],
    facet_of: &[u32],
    mut t: u32,
    mut k: usize,
) -> (u32, usize) {
    let facet = facet_of[t as usize];
    let corner = surface[t as usize].corners[k];
    loop {
        let across = surface[t as usize].across[k];
        if facet_of[across as usize] != facet {
            return (t, k);
        }
        // The neighbour has the edge reversed: the one after it starts at the corner.
        t = across;
        let at = surface[t as usize].corners.iter().position(|&c| c == corner);
        k = at.expect("triangles around a corner share it");
    }
}

/// The neighbours of each vertex, from the facets' loops.
fn rings(vertex_count: usize, facets: &Csr, effort: &Effort<'_>) -> Result<Csr, Stopped> {
    // At a vertex, a facet makes its loop's predecessor follow its successor.
    let mut starts = vec![0_usize; vertex_count + 1];
    for &corner in facets.rows().flatten() {
        starts[corner as usize + 1] += 1;
    }
    for i in 0..vertex_count {
        starts[i + 1] += starts[i];
    }
    let mut filled = starts.clone();
    let mut follows = vec![(0_u32, 0_u32); starts[vertex_count]];
    for corners in facets.rows() {
        effort.look_at_clock()?;
        let mut before = corners[corners.len() - 1];
        for (i, &corner) in corners.iter().enumerate() {
            let after = *corners.get(i + 1).unwrap_or(&corners[0]);
            let slot = &mut filled[corner as usize];
            follows[*slot] = (after, before);
            *slot += 1;
            before = corner;
        }
    }
    let mut neighbours = Csr::default();
    let mut ring = Vec::new();
    for range in starts.windows(2) {
        effort.look_at_clock()?;
        let pairs = &mut follows[range[0]..range[1]];
        pairs.sort_unstable();
        ring.clear();
        let mut at = 0;
        for _ in 0..pairs.len() {
            ring.push(pairs[at].0);
            let following = pairs[at].1;
            at = pairs.partition_point(|pair| pair.0 < following);
        }
        neighbours.push(&ring);
    }
    Ok(neighbours)
}

/// Rotates a loop so that its lowest index comes first.
pub(super) fn start_with_lowest(corners: &mut [u32]) {
    let lowest = corners.iter().enumerate().min_by_key(|(_, corner)| **corner);
    let shift = lowest.map_or(0, |(i, _)| i);
    corners.rotate_left(shift);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hull::{basis, quickhull};
    use crate::samples::ball;
    use crate::until::Until;

    #[test]
    fn every_stage_ends_at_the_deadline() {
        let body = ball(40, 1);
        let points = body.vertices();
        let no_limit = &mut Effort::unlimited();
        let first = basis::affine_basis(points).as_slice().try_into().expect("a solid");
        let surface = quickhull::surface(points, first, no_limit).unwrap();
        let labels = label_coplanar(points, &surface, no_limit).unwrap();
        let over = Until::expired();
        let late = Effort::until(u64::MAX, &over);
        assert_eq!(label_coplanar(points, &surface, &late), Err(Stopped::Deadline));
        let loops = corner_loops(&surface, &labels, &late);
        assert_eq!(loops.map(|_| ()), Err(Stopped::Deadline));
        let facets = body.facets();
        assert_eq!(rings(points.len(), facets, &late).map(|_| ()), Err(Stopped::Deadline));
    }
}
