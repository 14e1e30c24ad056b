//! The whole facet of M for a normal, parallel features included, and whether the ray passes it.
//!
//! In general a normal of a face of M is supported by a face of one body and a vertex of the other,
//! or by two edges. When an edge or a face of the other body is parallel to the face (the paper's
//! cases 2 and 3), the facet of M is the sum of both, and its neighbours are those of both.

use super::bodies::{DualBodies, DualBody, DualFacet, DualSide, FaceKind};
use super::polygon::{counter_clockwise, sum_loop};
use crate::Vec3;
use crate::hierarchy::Feature;
use crate::number::rounding::gamma;
use crate::pair::VertexPair;
use crate::polytope::surface::triangle_on_line;

/// An edge is taken to be parallel to a plane when its product with the plane's normal is at most
/// this part of their sizes. Some thirty roundings lie between the vertices and that product;
/// taking too much for parallel costs a proposal that is not accepted, never a wrong answer.
pub(super) const PARALLEL: f64 = gamma(64);

/// The features of P and of Q that support M along a normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supports {
    pub(super) p: Feature,
    pub(super) q: Feature,
}

impl DualBodies<'_> {
    /// What supports M along the normal of one of its faces.
    pub(super) fn supports(&self, facet: &DualFacet) -> Supports {
        let (known_p, known_q) = match facet.kind {
            FaceKind::Face(DualBody::P, face) => {
                (Feature::Face(face), Feature::Vertex(facet.pair.j))
            }
            FaceKind::Face(DualBody::Q, face) => {
                (Feature::Vertex(facet.pair.i), Feature::Face(face))
            }
            FaceKind::Edges(p, q) => (Feature::Edge(p), Feature::Edge(q)),
        };
        Supports {
            p: self.p.widened(known_p, &facet.normal),
            q: self.q.widened(known_q, &self.outward(DualBody::Q, &facet.normal)),
        }
    }

    /// The triangle of the facet that the ray passes, with barycentric coordinates; none when the
    /// ray passes beside the facet.
    pub(super) fn passed(
        &self,
        normal: &Vec3,
        supports: &Supports,
    ) -> Option<[(VertexPair, f64); 3]> {
        let (on_p, on_q) = (self.p.corners(supports.p), self.q.corners(supports.q));
        let pairs = match (on_p.as_slice(), on_q.as_slice()) {
            (&[i], on_q) => on_q.iter().map(|&j| VertexPair { i, j }).collect(),
            (on_p, &[j]) => on_p.iter().map(|&i| VertexPair { i, j }).collect(),
            (&[i0, i1], &[j0, j1]) => {
                [[i0, j0], [i1, j0], [i1, j1], [i0, j1]].map(|[i, j]| VertexPair { i, j }).to_vec()
            }
            (on_p, on_q) => self.merged(normal, on_p, on_q),
        };
        let corners: Vec<_> = pairs.into_iter().map(|pair| (pair, self.offset(pair))).collect();
        triangle_on_line(&self.ray, &corners)
    }

    /// The corners of the sum of two features in planes with this normal, in order.
    fn merged(&self, normal: &Vec3, on_p: &[u32], on_q: &[u32]) -> Vec<VertexPair> {
        let axis = normal.abs().imin();
        let u = normal.cross(&Vec3::ith(axis, 1.0));
        let v = normal.cross(&u);
        let flat = |pair: VertexPair| {
            let offset = self.offset(pair);
            [u.dot(&offset), v.dot(&offset)]
        };
        let (i0, j0) = (on_p[0], on_q[0]);
        let mut loop_p: Vec<_> = on_p.iter().map(|&i| (i, flat(VertexPair { i, j: j0 }))).collect();
        let mut loop_q: Vec<_> = on_q.iter().map(|&j| (j, flat(VertexPair { i: i0, j }))).collect();
        counter_clockwise(&mut loop_p);
        counter_clockwise(&mut loop_q);
        sum_loop(&loop_p, &loop_q)
    }
}

impl DualSide<'_> {
    /// The feature together with what is parallel to the plane that `outward` supports it by.
    fn widened(&self, feature: Feature, outward: &Vec3) -> Feature {
        match feature {
            Feature::Face(face) => Feature::Face(face),
            Feature::Edge(edge) => {
                let mut faces = self.incidence().faces_at(edge);
                let parallel = faces.find(|&face| self.is_face_parallel(face, outward));
                parallel.map_or(feature, Feature::Face)
            }
            Feature::Vertex(vertex) => {
                let edges = self.incidence().edges_at(vertex).iter().copied();
                let mut parallel = edges.filter(|&edge| self.is_parallel(edge, outward)).peekable();
                let first = parallel.peek().copied();
                let widest = parallel.map(|edge| self.widened(Feature::Edge(edge), outward));
                let face = widest.into_iter().find(|wider| matches!(wider, Feature::Face(_)));
                face.or(first.map(Feature::Edge)).unwrap_or(feature)
            }
        }
    }

    fn is_face_parallel(&self, face: u32, normal: &Vec3) -> bool {
        self.incidence().edges_of(face).iter().all(|&edge| self.is_parallel(edge, normal))
    }

    fn is_parallel(&self, edge: u32, normal: &Vec3) -> bool {
        let [a, b] = self.incidence().ends(edge);
        let along = self.body.vertex(b) - self.body.vertex(a);
        along.dot(normal).abs() <= PARALLEL * along.abs().sum() * normal.abs().sum()
    }

    /// The vertices of a feature, in order.
    pub(super) fn corners(&self, feature: Feature) -> Vec<u32> {
        match feature {
            Feature::Vertex(vertex) => vec![vertex],
            Feature::Edge(edge) => self.incidence().ends(edge).to_vec(),
            Feature::Face(face) => self.body.facets().row(face).to_vec(),
        }
    }

    /// The edges of a feature.
    pub(super) fn edges(&self, feature: Feature) -> Vec<u32> {
        match feature {
            Feature::Vertex(_) => Vec::new(),
            Feature::Edge(edge) => vec![edge],
            Feature::Face(face) => self.incidence().edges_of(face).to_vec(),
        }
    }
}
