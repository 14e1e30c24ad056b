//! The one order of a mesh's vertices and triangles: vertices by x, then y, then z, only those that
//! triangles name, `-0` as `+0`; each triangle from its lowest vertex on, triangles by their
//! vertices. So meshes that differ in the order of what they list are one.

use std::cmp::Ordering;

use crate::Vec3;

/// No two vertices that triangles name are equal.
pub(crate) fn in_order(given: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut named: Vec<u32> = triangles.as_flattened().to_vec();
    named.sort_unstable();
    named.dedup();
    // Adding zero makes -0 and +0 the same.
    let mut vertices: Vec<(Vec3, u32)> =
        named.into_iter().map(|i| (given[i as usize].map(|x| x + 0.0), i)).collect();
    vertices.sort_unstable_by(|(a, _), (b, _)| compare(a, b));
    let mut place = vec![0; given.len()];
    for (new, (_, old)) in (0..).zip(&vertices) {
        place[*old as usize] = new;
    }
    let mut triangles: Vec<[u32; 3]> =
        triangles.iter().map(|corners| from_lowest(corners.map(|i| place[i as usize]))).collect();
    triangles.sort_unstable();
    (vertices.into_iter().map(|(v, _)| v).collect(), triangles)
}

/// The same of triangles that only are where they are: equal points are one vertex, the corners of
/// a triangle ascend, and of equal triangles there is one.
pub(crate) fn in_order_as_sets(
    given: &[Vec3],
    triangles: &[[u32; 3]],
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let named = triangles.as_flattened().iter().map(|&i| given[i as usize].map(|x| x + 0.0));
    let mut vertices: Vec<Vec3> = named.collect();
    vertices.sort_unstable_by(compare);
    vertices.dedup();
    let place = |i: u32| index_of(&vertices, &given[i as usize]).expect("a triangle names it");
    let mut triangles: Vec<[u32; 3]> = triangles
        .iter()
        .map(|corners| {
            let mut corners = corners.map(place);
            corners.sort_unstable();
            corners
        })
        .collect();
    triangles.sort_unstable();
    triangles.dedup();
    (vertices, triangles)
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
