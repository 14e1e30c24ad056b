//! The two bodies as the search sees them: all vectors in P's frame, normals as functionals on it,
//! and the objective function.
//!
//! Whether a line meets a body does not change under an affine map; so the world is mapped back by
//! the inverse of P's matrix, whatever that matrix is.

use crate::difference::probe::tame;
use crate::difference::rounded::View;
use crate::effort::Effort;
use crate::hierarchy::LayerFeatures;
use crate::pair::{Pair, VertexPair};
use crate::polytope::Polytope;
use crate::polytope::surface::Surface;
use crate::support;
use crate::{Mat3, Vec3};

/// One body.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualSide<'a> {
    pub(super) body: &'a Polytope,
    pub(super) surface: &'a Surface,
    /// Its part of c, in its own frame.
    inside: Vec3,
}

/// Names one of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DualBody {
    P,
    Q,
}

/// What a face of M = P + (-Q) is made of: a face of one body and a vertex of the other (the
/// paper's types FV and VF), or an edge of P and one of Q (EE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaceKind {
    Face(DualBody, u32),
    Edges(u32, u32),
}

/// A face of M.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualFacet {
    pub(super) kind: FaceKind,
    /// Its outward normal: a functional on P's frame.
    pub(super) normal: Vec3,
    /// One of its vertices.
    pub(super) pair: VertexPair,
    /// The objective: larger when the ray leaves the half-space of its plane earlier; above one
    /// when the ray from c does so before the origin.
    pub(super) value: f64,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualBodies<'a> {
    pub(super) p: DualSide<'a>,
    pub(super) q: DualSide<'a>,
    /// Vectors of Q's frame in P's. Its transpose takes functionals from P's frame to Q's.
    vector_from_q: Mat3,
    /// The inverse.
    vector_to_q: Mat3,
    functional_to_world: Mat3,
    /// The power of two by which lengths are multiplied; about one over the size of the scene.
    unit: f64,
    /// Where the search looks from c: in a question of contact, from c to the origin.
    pub(super) ray: Vec3,
}

impl<'a> DualBodies<'a> {
    /// The bodies with the line from `c = inside_p - inside_q` (each in its body's frame) to the
    /// origin. None for a body that is not solid.
    pub(super) fn new(pair: &Pair<'a>, inside_p: Vec3, inside_q: Vec3) -> Option<Self> {
        let side =
            |body: &'a Polytope, inside| Some(DualSide { body, surface: body.surface()?, inside });
        let p = side(pair.p.body, inside_p)?;
        let q = side(pair.q.body, inside_q)?;
        let (turn_p, turn_q) = (&pair.p.pose.rotation, &pair.q.pose.rotation);
        let (back_p, back_q) = (turn_p.try_inverse()?, turn_q.try_inverse()?);
        let offset = pair.q.pose.translation - pair.p.pose.translation;
        let unit = View::new(pair).unit();
        let between = (turn_q * inside_q - turn_p * inside_p) + offset;
        Some(Self {
            p,
            q,
            vector_from_q: back_p * turn_q,
            vector_to_q: back_q * turn_p,
            functional_to_world: back_p.transpose(),
            unit,
            ray: back_p * (between * unit),
        })
    }

    /// These bodies with another line: from c along a direction of the world.
    pub(super) fn looking(&self, pair: &Pair<'a>, direction: &Vec3) -> Option<Self> {
        let back = pair.p.pose.rotation.try_inverse()?;
        Some(Self { ray: back * tame(direction)?, ..*self })
    }

    /// The vertex `p_i - q_j` of M, seen from c.
    #[inline]
    pub(super) fn offset(&self, pair: VertexPair) -> Vec3 {
        let on_p = (self.p.body.vertex(pair.i) - self.p.inside) * self.unit;
        let on_q = (self.q.body.vertex(pair.j) - self.q.inside) * self.unit;
        on_p - self.vector_from_q * on_q
    }

    /// The outward functional on one body's own frame for a normal of M.
    #[inline]
    pub(super) fn outward(&self, body: DualBody, normal: &Vec3) -> Vec3 {
        match body {
            DualBody::P => *normal,
            DualBody::Q => -self.vector_from_q.tr_mul(normal),
        }
    }

    pub(super) fn in_world(&self, normal: &Vec3) -> Vec3 {
        self.functional_to_world * normal
    }

    /// A functional on P's frame as a direction of Q's.
    #[inline]
    pub(super) fn functional_to_q(&self, functional: &Vec3) -> Vec3 {
        self.vector_from_q.tr_mul(functional)
    }

    #[inline]
    pub(super) fn vector_to_q(&self, vector: &Vec3) -> Vec3 {
        self.vector_to_q * vector
    }

    pub(super) fn side(&self, body: DualBody) -> &DualSide<'a> {
        match body {
            DualBody::P => &self.p,
            DualBody::Q => &self.q,
        }
    }

    /// The objective for a normal and a vertex of M that supports it: the inverse of the part of
    /// the ray that is inside the half-space.
    ///
    /// With c in M's interior the divisor, the support of M - c, is positive. Where c is on the
    /// boundary the ray leaves at once.
    #[inline]
    fn objective(&self, normal: &Vec3, pair: VertexPair) -> f64 {
        let rate = normal.dot(&self.ray);
        let support = normal.dot(&self.offset(pair));
        if support > 0.0 {
            rate / support
        } else if rate > 0.0 {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }
    }

    /// The face of M that a face of one body makes with the other body's supporting vertex; `hint`
    /// is a vertex that may be near it.
    #[inline]
    pub(super) fn of_face(
        &self,
        body: DualBody,
        face: u32,
        hint: Option<u32>,
        effort: &mut Effort<'_>,
    ) -> DualFacet {
        let side = self.side(body);
        let corner = side.body.facets().row(face)[0];
        let own = side.surface.normal(face);
        let (normal, pair) = match body {
            DualBody::P => {
                let against = self.outward(DualBody::Q, own);
                let j = support::likely_vertex(self.q.body, &against, hint, effort);
                (*own, VertexPair { i: corner, j })
            }
            DualBody::Q => {
                let normal = -self.vector_to_q.tr_mul(own);
                let i = support::likely_vertex(self.p.body, &normal, hint, effort);
                (normal, VertexPair { i, j: corner })
            }
        };
        let value = self.objective(&normal, pair);
        DualFacet { kind: FaceKind::Face(body, face), normal, pair, value }
    }

    /// The face of M made of two edges whose arcs cross, with the given sign of the normal; none
    /// unless it is better than `known`.
    pub(super) fn of_edges(
        &self,
        [edge_p, edge_q]: [u32; 2],
        positive: bool,
        known: f64,
        effort: &mut Effort<'_>,
    ) -> Option<DualFacet> {
        let ends = |side: &DualSide<'_>, edge: u32| side.surface.incidence().ends(edge);
        let ([p0, p1], [q0, q1]) = (ends(&self.p, edge_p), ends(&self.q, edge_q));
        let along_p = (self.p.body.vertex(p1) - self.p.body.vertex(p0)) * self.unit;
        let along_q = (self.q.body.vertex(q1) - self.q.body.vertex(q0)) * self.unit;
        let across = tame(&along_p.cross(&(self.vector_from_q * along_q)))?;
        let normal = if positive { across } else { -across };
        let pair = VertexPair { i: p0, j: q0 };
        let better = |value: f64| value > known;
        if !better(self.objective(&normal, pair)) {
            return None;
        }
        // Rounding may have let arcs cross that do not: what counts is the support of M.
        let against = self.outward(DualBody::Q, &normal);
        let i = support::likely_vertex(self.p.body, &normal, Some(p0), effort);
        let j = support::likely_vertex(self.q.body, &against, Some(q0), effort);
        let value = self.objective(&normal, VertexPair { i, j });
        let kind = FaceKind::Edges(edge_p, edge_q);
        better(value).then_some(DualFacet { kind, normal, pair, value })
    }
}

impl DualSide<'_> {
    pub(super) fn incidence(&self) -> &LayerFeatures {
        self.surface.incidence()
    }

    /// The face at a vertex whose normal is nearest to a direction.
    pub(super) fn face_at(&self, vertex: u32, direction: &Vec3) -> u32 {
        let edges = self.incidence().edges_at(vertex).iter();
        let faces = edges.flat_map(|&edge| self.incidence().faces_at(edge));
        self.nearest(faces, direction).unwrap_or(0)
    }

    /// The first of the faces whose normal has the largest product with a direction.
    pub(super) fn nearest(
        &self,
        faces: impl Iterator<Item = u32>,
        direction: &Vec3,
    ) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for face in faces {
            let value = self.surface.normal(face).dot(direction);
            if best.is_none_or(|(largest, _)| value > largest) {
                best = Some((value, face));
            }
        }
        best.map(|(_, face)| face)
    }
}
