//! The features of a body, listed for the methods that look at every two of them.

use crate::polytope::Polytope;

/// Of two bodies of about 300 vertices: a few tenths of a second.
pub(super) const FEATURE_PAIRS_MAX: usize = 1 << 20;

/// The vertices, edges and triangles of a body, by its vertices. A facet is a fan of triangles.
pub(super) struct Features {
    pub(super) vertices: u32,
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Features {
    /// Those of a body.
    pub(super) fn of(body: &Polytope) -> Self {
        let edges = (0..body.vertex_count())
            .flat_map(|a| body.neighbours(a).iter().filter(move |&&b| a < b).map(move |&b| [a, b]))
            .collect();
        let fan = |facet: &[u32]| -> Vec<[u32; 3]> {
            (2..facet.len()).map(|k| [facet[0], facet[k - 1], facet[k]]).collect()
        };
        let triangles = body.facets().rows().flat_map(fan).collect();
        Self { vertices: body.vertex_count(), edges, triangles }
    }

    /// Pairs of a vertex and a triangle, and of two edges.
    pub(super) fn pairs_with(&self, other: &Self) -> usize {
        self.vertices as usize * other.triangles.len()
            + self.triangles.len() * other.vertices as usize
            + self.edges.len() * other.edges.len()
    }
}
