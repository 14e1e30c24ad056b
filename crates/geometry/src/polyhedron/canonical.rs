//! The one order of a mesh's vertices and triangles: vertices by x, then y, then z, only those that
//! triangles name, `-0` as `+0`; each triangle from its lowest vertex on, triangles by their
//! vertices. So meshes that differ in the order of what they list are one.

use std::cmp::Ordering;

use crate::Vec3;

/// What is given, in order.
pub(crate) struct Ordered {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Where each of the triangles is given.
    pub(crate) given: Vec<u32>,
}

/// No two vertices that triangles name are equal.
pub(crate) fn in_order(given: &[Vec3], triangles: &[[u32; 3]]) -> Ordered {
    let named = named_in_order(given, triangles);
    let mut place = vec![0; given.len()];
    for (new, (_, old)) in (0..).zip(&named) {
        place[*old as usize] = new;
    }
    let mut placed: Vec<([u32; 3], u32)> = triangles
        .iter()
        .zip(0..)
        .map(|(corners, at)| (from_lowest(corners.map(|i| place[i as usize])), at))
        .collect();
    placed.sort_unstable();
    let (triangles, given) = placed.into_iter().unzip();
    Ordered { vertices: named.into_iter().map(|(v, _)| v).collect(), triangles, given }
}

/// The same of triangles that only are where they are: equal points are one vertex, the corners of
/// a triangle ascend, and of equal triangles there is one.
pub(crate) fn in_order_as_sets(
    given: &[Vec3],
    triangles: &[[u32; 3]],
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let named = named_in_order(given, triangles);
    let mut place = vec![0_u32; given.len()];
    let mut vertices: Vec<Vec3> = Vec::with_capacity(named.len());
    for (v, old) in named {
        if vertices.last().is_none_or(|last| compare(last, &v).is_ne()) {
            vertices.push(v);
        }
        place[old as usize] = u32::try_from(vertices.len() - 1).expect("as many as are given");
    }
    let mut triangles: Vec<[u32; 3]> = triangles
        .iter()
        .map(|corners| {
            let mut corners = corners.map(|i| place[i as usize]);
            corners.sort_unstable();
            corners
        })
        .collect();
    triangles.sort_unstable();
    triangles.dedup();
    (vertices, triangles)
}

/// The points that triangles name, sorted, each with its place in what is given.
fn named_in_order(given: &[Vec3], triangles: &[[u32; 3]]) -> Vec<(Vec3, u32)> {
    let mut is_named = vec![false; given.len()];
    for &corner in triangles.as_flattened() {
        is_named[corner as usize] = true;
    }
    // Adding zero makes -0 and +0 the same.
    let named = given.iter().zip(0..).zip(is_named).filter(|(_, is_named)| *is_named);
    let mut named: Vec<(Vec3, u32)> = named.map(|((v, at), _)| (v.map(|x| x + 0.0), at)).collect();
    named.sort_unstable_by(|(a, i), (b, j)| compare(a, b).then(i.cmp(j)));
    named
}

fn from_lowest([a, b, c]: [u32; 3]) -> [u32; 3] {
    if a < b && a < c {
        [a, b, c]
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

fn compare(a: &Vec3, b: &Vec3) -> Ordering {
    let along = |k: usize| a[k].total_cmp(&b[k]);
    along(0).then_with(|| along(1)).then_with(|| along(2))
}

/// Which of the vertices in order a point is.
pub(crate) fn index_of(vertices: &[Vec3], point: &Vec3) -> Option<u32> {
    let point = point.map(|x| x + 0.0);
    let found = vertices.binary_search_by(|v| compare(v, &point)).ok()?;
    u32::try_from(found).ok()
}
