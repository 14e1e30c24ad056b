//! Layer by layer: choose an independent set, remove it, fill the holes.

use super::Layer;
use crate::Vec3;
use crate::csr::Csr;
use crate::effort::{Effort, Stopped};
use crate::number::orientation::{Side, side_of_plane};
use crate::shape::Shape;

/// A vertex of larger degree is never removed.
///
/// A triangulated sphere of n vertices has `Σ (degree - 3) = 3n - 12`, so fewer than n/2 - 1
/// vertices exceed 8, and at least n/2 - 2 of the others are not of the basis. Each removed vertex
/// keeps at most 8 others, so at least (n/2 - 2)/9 are removed from each layer, and at least one
/// from every layer of five or more: the height is at most log n / log(18/17) + a constant,
/// whatever the shape. (Lowest degree first, it is about 2 log2 n on balls of 100 to 10,000
/// vertices.)
pub(super) const DEGREE_MAX: usize = 8;

pub(super) fn layers(body: &Shape, effort: &Effort<'_>) -> Result<Vec<Layer>, Stopped> {
    let outermost = match body.dimension() {
        3 => outermost_of_solid(body, effort)?,
        2 => polygon_layer((0..body.vertex_count()).collect(), body.facets().row(0)),
        _ => Layer {
            vertices: (0..body.vertex_count()).collect(),
            neighbours: Csr::from_rows((0..body.vertex_count()).map(|i| body.neighbours(i))),
            faces: Csr::default(),
            inward: Vec::new(),
            outward: Vec::new(),
        },
    };
    let mut layers = vec![outermost];
    loop {
        effort.look_at_clock()?;
        let outer = layers.last_mut().expect("there is the outermost");
        let inner = match body.dimension() {
            3 => next_of_solid(body, outer, effort)?,
            2 => next_of_polygon(outer),
            _ => None,
        };
        match inner {
            Some(inner) => layers.push(inner),
            None => return Ok(layers),
        }
    }
}

fn outermost_of_solid(body: &Shape, effort: &Effort<'_>) -> Result<Layer, Stopped> {
    let mut faces = Vec::new();
    for facet in body.facets().rows() {
        faces.extend((2..facet.len()).map(|k| [facet[0], facet[k - 1], facet[k]]));
    }
    solid_layer((0..body.vertex_count()).collect(), &faces, effort)
}

/// A layer without its pointers.
fn solid_layer(
    vertices: Vec<u32>,
    faces: &[[u32; 3]],
    effort: &Effort<'_>,
) -> Result<Layer, Stopped> {
    let star = Star::new(vertices.len(), faces, effort)?;
    let mut neighbours = Csr::default();
    for vertex in 0..vertices.len() {
        effort.look_at_clock()?;
        let mut row: Vec<_> = star.of(vertex).iter().map(|link| link.0).collect();
        row.sort_unstable();
        neighbours.push(&row);
    }
    let faces = Csr::from_rows(faces);
    Ok(Layer { vertices, neighbours, faces, inward: Vec::new(), outward: Vec::new() })
}

/// For each vertex v, the edge (a, b) of each face (v, a, b).
struct Star {
    starts: Vec<usize>,
    links: Vec<(u32, u32)>,
}

impl Star {
    fn new(vertices: usize, faces: &[[u32; 3]], effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut starts = vec![0; vertices + 1];
        for corner in faces.iter().flatten() {
            starts[*corner as usize + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut ends = starts.clone();
        let mut links = vec![(0, 0); 3 * faces.len()];
        for &[a, b, c] in faces {
            effort.look_at_clock()?;
            for (corner, link) in [(a, (b, c)), (b, (c, a)), (c, (a, b))] {
                let end = &mut ends[corner as usize];
                links[*end] = link;
                *end += 1;
            }
        }
        Ok(Self { starts, links })
    }

    fn of(&self, vertex: usize) -> &[(u32, u32)] {
        &self.links[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The neighbours in counter-clockwise order, seen from outside.
    fn rim(&self, vertex: u32) -> Vec<u32> {
        let links = self.of(vertex as usize);
        let mut rim = vec![links[0].0];
        while rim.len() < links.len() {
            let last = rim[rim.len() - 1];
            let link = links.iter().find(|link| link.0 == last).expect("the surface is closed");
            rim.push(link.1);
        }
        rim
    }
}

/// The next layer, and the pointers between the two; none when only the basis is left.
fn next_of_solid(
    body: &Shape,
    outer: &mut Layer,
    effort: &Effort<'_>,
) -> Result<Option<Layer>, Stopped> {
    let Some(removed) = independent_set(body, outer) else { return Ok(None) };
    let faces: Vec<[u32; 3]> = outer.faces.rows().map(|f| [f[0], f[1], f[2]]).collect();
    let star = Star::new(outer.vertices.len(), &faces, effort)?;
    let mut inner_faces: Vec<[u32; 3]> = faces
        .into_iter()
        .filter(|face| face.iter().all(|&corner| !removed[corner as usize]))
        .collect();
    let mut rims = vec![0; outer.vertices.len()];
    for vertex in (0u32..).zip(&removed).filter_map(|(v, &gone)| gone.then_some(v)) {
        effort.look_at_clock()?;
        let rim = star.rim(vertex);
        rims[vertex as usize] = rim[0];
        fill(&rim, |local| body.vertex(outer.vertices[local as usize]), &mut inner_faces);
    }
    let numbers = link_pointers(outer, &removed, &rims);
    for corner in inner_faces.iter_mut().flatten() {
        *corner = numbers.inner[*corner as usize];
    }
    let mut inner = solid_layer(numbers.vertices, &inner_faces, effort)?;
    inner.outward = numbers.outward;
    Ok(Some(inner))
}

/// What a removal does to the numbers.
struct Numbers {
    /// For each vertex of the outer layer its number in the inner one (0 for removed ones).
    inner: Vec<u32>,
    /// The body's numbers of the inner layer.
    vertices: Vec<u32>,
    /// For each vertex of the inner layer its number in the outer one.
    outward: Vec<u32>,
}

/// Numbers the vertices that stay, in order, and sets the outer layer's pointers; that of a removed
/// vertex leads to `rims[vertex]`.
fn link_pointers(outer: &mut Layer, removed: &[bool], rims: &[u32]) -> Numbers {
    let mut numbers = Numbers { inner: vec![0; removed.len()], vertices: vec![], outward: vec![] };
    for (vertex, &gone) in (0u32..).zip(removed) {
        if !gone {
            numbers.inner[vertex as usize] =
                u32::try_from(numbers.outward.len()).expect("fewer than 2^32 vertices");
            numbers.outward.push(vertex);
            numbers.vertices.push(outer.vertices[vertex as usize]);
        }
    }
    outer.inward = (0u32..)
        .zip(removed)
        .map(|(vertex, &gone)| {
            let stays = if gone { rims[vertex as usize] } else { vertex };
            numbers.inner[stays as usize]
        })
        .collect();
    numbers
}

/// Which vertices to remove: none of the basis, no two neighbours, lowest degree first, then lowest
/// number. None when there is none to remove.
fn independent_set(body: &Shape, layer: &Layer) -> Option<Vec<bool>> {
    let count = layer.vertices.len();
    let mut kept = vec![false; count];
    for &vertex in body.affine_basis() {
        kept[layer.find(vertex).expect("the basis is in every layer") as usize] = true;
    }
    let mut by_degree: [Vec<u32>; DEGREE_MAX + 1] = Default::default();
    for (vertex, row) in (0u32..).zip(layer.neighbours.rows()) {
        if let Some(bucket) = by_degree.get_mut(row.len()) {
            bucket.push(vertex);
        }
    }
    let mut removed = vec![false; count];
    let mut any = false;
    for vertex in by_degree.into_iter().flatten() {
        if kept[vertex as usize] {
            continue;
        }
        removed[vertex as usize] = true;
        any = true;
        for &neighbour in layer.neighbours(vertex) {
            kept[neighbour as usize] = true;
        }
    }
    any.then_some(removed)
}

/// Triangulates the hole of a removed vertex by the facets of the hull of its rim that face it.
///
/// Seen from the removed vertex the rim is a convex polygon, and so every edge of the filling cuts
/// it in two: the triangle on an edge `(rim[i], rim[j])` is the one with no rim vertex above it,
/// which is found by turning a plane about that edge, and its two other edges are treated alike.
/// Rim vertices in one plane tie, and any of them is right: no three vertices are collinear.
fn fill<'a>(rim: &[u32], point: impl Fn(u32) -> &'a Vec3, faces: &mut Vec<[u32; 3]>) {
    let mut open = vec![(0, rim.len() - 1)];
    while let Some((i, j)) = open.pop() {
        if j - i < 2 {
            continue;
        }
        let mut apex = i + 1;
        for k in i + 2..j {
            let corners = [i, apex, j, k].map(|at| point(rim[at]));
            if side_of_plane(corners[0], corners[1], corners[2], corners[3]) == Side::Above {
                apex = k;
            }
        }
        faces.push([rim[i], rim[apex], rim[j]]);
        open.extend([(i, apex), (apex, j)]);
    }
}

fn polygon_layer(vertices: Vec<u32>, cycle: &[u32]) -> Layer {
    let n = cycle.len();
    let mut rows = vec![[0; 2]; n];
    for (k, &vertex) in cycle.iter().enumerate() {
        let (before, after) = (cycle[(k + n - 1) % n], cycle[(k + 1) % n]);
        rows[vertex as usize] = [before.min(after), before.max(after)];
    }
    Layer {
        vertices,
        neighbours: Csr::from_rows(rows),
        faces: Csr::from_rows([cycle]),
        inward: Vec::new(),
        outward: Vec::new(),
    }
}

/// Removes every other vertex, but leaves a triangle.
fn next_of_polygon(outer: &mut Layer) -> Option<Layer> {
    let cycle = outer.faces.row(0).to_vec();
    let surplus = cycle.len() - 3;
    if surplus == 0 {
        return None;
    }
    let mut removed = vec![false; cycle.len()];
    let mut rims = vec![0; cycle.len()];
    for two in cycle.chunks_exact(2).take(surplus) {
        removed[two[1] as usize] = true;
        rims[two[1] as usize] = two[0];
    }
    let numbers = link_pointers(outer, &removed, &rims);
    let left: Vec<u32> = cycle
        .iter()
        .filter(|&&vertex| !removed[vertex as usize])
        .map(|&vertex| numbers.inner[vertex as usize])
        .collect();
    let mut inner = polygon_layer(numbers.vertices, &left);
    inner.outward = numbers.outward;
    Some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{ball, polygon};
    use crate::until::Until;

    #[test]
    fn every_layer_ends_at_the_deadline() {
        let over = Until::expired();
        let late = Effort::until(u64::MAX, &over);
        let body = ball(40, 1);
        let star = Star::new(4, &[[0, 1, 2], [0, 2, 3]], &late);
        assert_eq!(star.map(|_| ()), Err(Stopped::Deadline));
        // Neither a face nor a vertex without one is free.
        let bare = solid_layer(vec![0, 1], &[], &late);
        assert_eq!(bare.map(|_| ()), Err(Stopped::Deadline));
        let mut outermost = outermost_of_solid(&body, &Effort::unlimited()).unwrap();
        let inner = next_of_solid(&body, &mut outermost, &late);
        assert_eq!(inner.map(|_| ()), Err(Stopped::Deadline));
        assert_eq!(layers(&polygon(40), &late).map(|_| ()), Err(Stopped::Deadline));
    }
}
