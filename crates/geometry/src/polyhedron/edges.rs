//! What is beyond each edge of a mesh: its triangles' neighbours, of a mesh that is closed and
//! oriented.
//!
//! Directed edges are kept by their first vertex, each list by the second one, so that the twin of
//! an edge is found among the few that begin where it ends.

use super::refused::PolyhedronError;

/// A directed edge that begins at a known vertex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeTo {
    to: u32,
    triangle: u32,
}

/// For each triangle of a closed mesh, the triangle beyond the edge from each of its corners to the
/// next. Errors name the first edge, by its vertices, that is wrong. Corners are below
/// `vertex_count`.
pub(super) fn beyond_edges(
    vertex_count: usize,
    triangles: &[[u32; 3]],
) -> Result<Vec<[u32; 3]>, PolyhedronError> {
    let (starts, edges) = edges_by_vertex(vertex_count, triangles);
    let from = |vertex: u32| {
        let [first, end] = [vertex, vertex + 1].map(|at| starts[at as usize] as usize);
        &edges[first..end]
    };
    let all = || (0..).take(vertex_count).map(|vertex: u32| (vertex, from(vertex)));
    for (vertex, list) in all() {
        if let Some(twice) = list.windows(2).find(|pair| pair[0].to == pair[1].to) {
            return Err(PolyhedronError::EdgeTwice { from: vertex, to: twice[0].to });
        }
    }
    let twin = |[start, end]: [u32; 2]| {
        let list = from(end);
        list.binary_search_by_key(&start, |edge| edge.to).ok().map(|at| list[at].triangle)
    };
    let around = |&[a, b, c]: &[u32; 3]| {
        let [Some(ab), Some(bc), Some(ca)] = [[a, b], [b, c], [c, a]].map(twin) else {
            return None;
        };
        Some([ab, bc, ca])
    };
    let beyond: Option<Vec<[u32; 3]>> = triangles.iter().map(around).collect();
    beyond.ok_or_else(|| {
        let open = all().find_map(|(vertex, list)| {
            let open = list.iter().find(|edge| twin([vertex, edge.to]).is_none());
            open.map(|edge| PolyhedronError::Open { from: vertex, to: edge.to })
        });
        open.expect("an edge that has no twin")
    })
}

/// All directed edges by their first vertices, and where the list of each vertex begins.
fn edges_by_vertex(vertex_count: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<EdgeTo>) {
    let mut starts = vec![0; vertex_count + 1];
    for &corner in triangles.as_flattened() {
        starts[corner as usize + 1] += 1;
    }
    for vertex in 0..vertex_count {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut edges = vec![EdgeTo { to: 0, triangle: 0 }; 3 * triangles.len()];
    for (triangle, &[a, b, c]) in (0..).zip(triangles) {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let place = &mut next[from as usize];
            edges[*place as usize] = EdgeTo { to, triangle };
            *place += 1;
        }
    }
    for bounds in starts.windows(2) {
        edges[bounds[0] as usize..bounds[1] as usize].sort_unstable();
    }
    (starts, edges)
}

/// For each triangle its shell, and for each shell its lowest triangle.
pub(super) fn shells(beyond: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut shell_of = vec![u32::MAX; beyond.len()];
    let mut firsts: Vec<u32> = Vec::new();
    let mut open = Vec::new();
    for first in (0..).take(beyond.len()) {
        if shell_of[first as usize] != u32::MAX {
            continue;
        }
        let shell = u32::try_from(firsts.len()).expect("no more than triangles");
        firsts.push(first);
        open.push(first);
        while let Some(triangle) = open.pop() {
            if shell_of[triangle as usize] != u32::MAX {
                continue;
            }
            shell_of[triangle as usize] = shell;
            open.extend(beyond[triangle as usize]);
        }
    }
    (shell_of, firsts)
}

/// Beyond the edge from each corner of a triangle to the next: the third corner of the triangle
/// there.
pub(super) fn third_corners(triangles: &[[u32; 3]], beyond: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let third = |triangle: u32, ends: [u32; 2]| {
        let corners = triangles[triangle as usize];
        corners.into_iter().find(|corner| !ends.contains(corner)).expect("a third corner")
    };
    let around = |(&[a, b, c], &[ab, bc, ca]): (&[u32; 3], &[u32; 3])| {
        [third(ab, [a, b]), third(bc, [b, c]), third(ca, [c, a])]
    };
    triangles.iter().zip(beyond).map(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ball;

    fn triangles() -> (usize, Vec<[u32; 3]>) {
        let ball = ball(60, 4);
        let fan = |row: &[u32]| -> Vec<[u32; 3]> {
            row.windows(2).skip(1).map(|pair| [row[0], pair[0], pair[1]]).collect()
        };
        (ball.vertices().len(), ball.facets().rows().flat_map(fan).collect())
    }

    #[test]
    fn what_is_beyond_an_edge_has_it_backwards() {
        let (count, triangles) = triangles();
        let beyond = beyond_edges(count, &triangles).unwrap();
        let edges = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]];
        for (corners, others) in triangles.iter().zip(&beyond) {
            for ([from, to], other) in edges(*corners).into_iter().zip(*others) {
                assert!(edges(triangles[other as usize]).contains(&[to, from]));
            }
        }
        assert_eq!(shells(&beyond), (vec![0; triangles.len()], vec![0]));
    }

    #[test]
    fn the_first_edge_that_is_wrong_is_named() {
        let (count, mut triangles) = triangles();
        let edges = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]];
        let last = triangles.pop().unwrap();
        let [from, to] = edges(last).into_iter().map(|[a, b]| [b, a]).min().unwrap();
        let open = beyond_edges(count, &triangles);
        assert_eq!(open, Err(PolyhedronError::Open { from, to }));
        triangles.extend([last, last]);
        let [from, to] = edges(last).into_iter().min().unwrap();
        let twice = beyond_edges(count, &triangles);
        assert_eq!(twice, Err(PolyhedronError::EdgeTwice { from, to }));
    }
}
