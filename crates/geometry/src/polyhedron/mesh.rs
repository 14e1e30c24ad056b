//! A polyhedron, convex or not: the closed region that a mesh of triangles bounds.
//!
//! The mesh is closed and oriented (every directed edge has exactly one triangle, and its twin has
//! one), no two triangles share more than the vertex or edge that they have in common, and every
//! shell (a part of the mesh that is connected over edges) has its outside on the side that its
//! triangles are counter-clockwise from: an outermost shell bounds a volume, a shell inside it
//! bounds a hollow, a shell in a hollow a volume again. All of it is checked exactly.
//!
//! Vertices and triangles are in canonical order, whatever the order they were given in.

use super::canonical::{self, Ordered};
use super::closed::ClosedMesh;
use super::edges::{beyond_edges, shells, third_corners};
use super::refused::PolyhedronError;
use super::surface::TriangleSurface;
use super::tree::Tree;
use crate::Vec3;
use crate::effort::Effort;
use crate::number::orientation::are_collinear;
use crate::polytope::Polytope;
use crate::pose::COORDINATE_MAX;

/// See the module.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    /// The triangles that bound it.
    surface: TriangleSurface,
    /// For each triangle, beyond the edge from each of its corners to the next: the third corner of
    /// the triangle there.
    across: Vec<[u32; 3]>,
    /// The lowest triangle of each shell, ascending.
    shells: Vec<u32>,
    owned: Vec<Owned>,
    /// Cubic metres, rounded.
    volume: f64,
}

/// What a triangle tests on behalf of its neighbours, so that no vertex or edge is tested twice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owned {
    /// Which of its vertices it tests.
    pub(crate) vertices: [bool; 3],
    /// Which of its edges it tests; edge k leads from vertex k to the next.
    pub(crate) edges: [bool; 3],
}

impl Polyhedron {
    /// Makes a polyhedron of triangles that are counter-clockwise seen from outside. Vertices that
    /// no triangle names are no part of it. A step is a pair of boxes that the check for
    /// intersections looks at, or a box that the check of shells does.
    ///
    /// Errors name vertices and triangles by their places in what is given.
    pub fn new(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        effort: &mut Effort<'_>,
    ) -> Result<Self, PolyhedronError> {
        check_numbers(vertices, triangles)?;
        let Ordered { vertices: in_order, triangles: ordered, given } =
            canonical::in_order(vertices, triangles);
        let Ok(beyond) = beyond_edges(in_order.len(), &ordered) else {
            // Named as they are given.
            let refused = beyond_edges(vertices.len(), triangles);
            return Err(refused.expect_err("an edge is as wrong by any name"));
        };
        let surface = TriangleSurface::assemble(in_order, ordered);
        let closed = ClosedMesh { surface: &surface, beyond: &beyond, given: &given };
        closed.check_intersections(effort)?;
        let volume = closed.check_shells(effort)?;
        Ok(Self::bounded_by(surface, &beyond, volume))
    }

    /// A polytope as a polyhedron, and for each triangle the facet that it is a part of; none for a
    /// polytope without volume.
    pub fn of_polytope(polytope: &Polytope) -> Option<(Self, Vec<u32>)> {
        if polytope.dimension() < 3 {
            return None;
        }
        // Loops begin with their lowest vertex, and the vertices are in order.
        let mut parts: Vec<([u32; 3], u32)> = (0..)
            .zip(polytope.facets().rows())
            .flat_map(|(facet, row)| {
                row[1..].windows(2).map(move |pair| ([row[0], pair[0], pair[1]], facet))
            })
            .collect();
        parts.sort_unstable();
        let (triangles, facets): (Vec<[u32; 3]>, _) = parts.into_iter().unzip();
        let vertices = polytope.vertices().to_vec();
        let beyond = beyond_edges(vertices.len(), &triangles).expect("a hull is closed");
        let surface = TriangleSurface::assemble(vertices, triangles);
        Some((Self::bounded_by(surface, &beyond, polytope.volume()), facets))
    }

    /// Of triangles of which `beyond` says what is beyond their edges.
    fn bounded_by(surface: TriangleSurface, beyond: &[[u32; 3]], volume: f64) -> Self {
        let (_, shells) = shells(beyond);
        let across = third_corners(surface.triangles(), beyond);
        let owned = owned(surface.vertices().len(), surface.triangles());
        Self { surface, across, shells, owned, volume }
    }

    /// The triangles that bound it.
    pub fn surface(&self) -> &TriangleSurface {
        &self.surface
    }

    /// See [`TriangleSurface::vertices`].
    pub fn vertices(&self) -> &[Vec3] {
        self.surface.vertices()
    }

    /// See [`TriangleSurface::triangles`].
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.surface.triangles()
    }

    /// Which vertex a point is.
    pub fn index_of(&self, point: &Vec3) -> Option<u32> {
        self.surface.index_of(point)
    }

    /// The lowest and the highest corner of the box around it.
    pub fn bounds(&self) -> [Vec3; 2] {
        self.surface.bounds()
    }

    /// Cubic metres, rounded.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.triangles().len() * 3 / 2
    }

    /// Memory that its lists take, and what may be kept of its groups, bytes.
    pub fn bytes(&self) -> usize {
        let for_triangle = size_of::<[u32; 3]>() + size_of::<Owned>();
        self.surface.bytes() + self.triangles().len() * for_triangle + size_of_val(&*self.shells)
    }

    /// How many parts of the surface are connected over edges.
    pub fn shell_count(&self) -> usize {
        self.shells.len()
    }

    /// The lowest triangle of each shell, ascending.
    pub(crate) fn shells(&self) -> &[u32] {
        &self.shells
    }

    pub(crate) fn triangle(&self, i: u32) -> [u32; 3] {
        self.surface.triangle(i)
    }

    /// Beyond the edge from each corner of a triangle to the next: the third corner of the triangle
    /// there.
    pub(crate) fn across(&self, triangle: u32) -> [u32; 3] {
        self.across[triangle as usize]
    }

    pub(crate) fn owned(&self, triangle: u32) -> &Owned {
        &self.owned[triangle as usize]
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.surface.tree()
    }
}

fn check_numbers(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), PolyhedronError> {
    if triangles.len() < 4 || triangles.len() >= 1 << 31 {
        return Err(PolyhedronError::Count { found: triangles.len() });
    }
    for (vertex, v) in (0..).zip(vertices) {
        if !v.iter().all(|x| x.abs() <= COORDINATE_MAX) {
            return Err(PolyhedronError::Coordinate { vertex });
        }
    }
    for (triangle, corners) in (0..).zip(triangles) {
        if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= vertices.len()) {
            return Err(PolyhedronError::NoVertex { triangle, vertex });
        }
        let [a, b, c] = corners.map(|i| &vertices[i as usize]);
        if are_collinear(a, b, c) {
            return Err(PolyhedronError::Degenerate { triangle });
        }
    }
    Ok(())
}

/// The lowest triangle owns a vertex; the triangle that has an edge ascending owns it.
fn owned(vertex_count: usize, triangles: &[[u32; 3]]) -> Vec<Owned> {
    let mut taken = vec![false; vertex_count];
    let own = |corners: &[u32; 3]| {
        let mut owned = Owned::default();
        for k in 0..3 {
            owned.vertices[k] = !std::mem::replace(&mut taken[corners[k] as usize], true);
            owned.edges[k] = corners[k] < corners[(k + 1) % 3];
        }
        owned
    };
    triangles.iter().map(own).collect()
}
