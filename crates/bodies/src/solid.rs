//! A body as its boundary, and where two such bodies meet.

use std::sync::Arc;

use crate::body::{Body, PlacedBody};
use crate::kinds::polyhedron::HulledMesh;
use clearance_geometry::Vec3;
use clearance_geometry::contact_time::Travel;
use clearance_geometry::contact_time::polyhedra::{Faces, Moving, PosedPolyhedron};
use clearance_geometry::polyhedron::{HulledBody, Polyhedron};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// A body that is ready for questions about boundaries.
#[derive(Clone, Debug)]
pub struct ReadySolid {
    polyhedron: Arc<Polyhedron>,
    pose: Pose,
    hull: Arc<Polytope>,
    /// For a polytope: the facet that each triangle of its polyhedron is a part of.
    facets: Option<Vec<u32>>,
}

/// A face of a body, with its vertices and facets as clients number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFace {
    /// A vertex by its index.
    Vertex(u32),
    /// An edge by the indices of its ends.
    Edge([u32; 2]),
    /// A facet by its index.
    Facet(u32),
}

/// Where two bodies meet: a face of each, or one facet that is inside the other body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// The face of P; none: the facet of Q is inside P.
    pub p: Option<BodyFace>,
    /// The face of Q; none: the facet of P is inside Q.
    pub q: Option<BodyFace>,
    /// A point of contact in the world, rounded; none at t = 0.
    pub point: Option<Vec3>,
}

impl ReadySolid {
    /// What is made of a polytope for each of its vertices, bytes: the vertex with two triangles,
    /// their boxes in the tree, and the lists that they are made from.
    pub(crate) const MADE_BYTES_PER_VERTEX: u64 = 512;

    /// What is made of a mesh for each of its vertices, bytes: the vertex where it is and the boxes
    /// of two triangles there, and its share of the polytopes around groups of them and of the
    /// pairs of groups that a search has open.
    pub(crate) const PLACED_BYTES_PER_VERTEX: u64 = 2048;

    /// What a question takes for each point of a cloud, bytes: exact coordinates, hulls of groups,
    /// and pairs of groups that a search has open, of which these are the most.
    pub(crate) const BYTES_PER_POINT: u64 = 192;

    /// See [`Self::BYTES_PER_POINT`]: those that are open have a limit.
    pub(crate) const OPEN_BYTES_PER_POINT: u64 = 256;

    /// See [`Self::OPEN_BYTES_PER_POINT`].
    pub(crate) const OPEN_BYTES_MAX: u64 = 8 << 20;

    /// Whether the body has a volume, without round edges.
    pub(crate) fn is_solid(body: &Body) -> bool {
        match body {
            Body::Polytope(hull) => hull.dimension() == 3,
            Body::Polyhedron(_) => true,
            Body::Rounded(_)
            | Body::Surface(_)
            | Body::Cloud(_)
            | Body::HeightField(_)
            | Body::Curved(_) => false,
        }
    }

    /// The body as a solid; none for a polytope without volume, or with round edges.
    pub(crate) fn new(placed: PlacedBody) -> Option<Self> {
        let pose = placed.pose;
        match placed.body {
            Body::Polytope(hull) => {
                let (polyhedron, facets) = Polyhedron::of_polytope(&hull)?;
                let polyhedron = Arc::new(polyhedron);
                Some(Self { polyhedron, pose, hull, facets: Some(facets) })
            }
            Body::Polyhedron(HulledMesh { polyhedron, hull }) => {
                Some(Self { polyhedron, pose, hull, facets: None })
            }
            Body::Rounded(_)
            | Body::Surface(_)
            | Body::Cloud(_)
            | Body::HeightField(_)
            | Body::Curved(_) => None,
        }
    }

    /// Puts the same body elsewhere.
    pub(crate) fn moved_to(&self, pose: Pose) -> Self {
        Self { pose, ..self.clone() }
    }

    /// The body at rest.
    pub(crate) fn posed(&self) -> PosedPolyhedron<'_> {
        PosedPolyhedron { body: &self.polyhedron, pose: self.pose }
    }

    /// The body on its way.
    pub(crate) fn moving(&self, travel: Travel) -> Moving<'_> {
        Moving { body: &self.polyhedron, pose: self.pose, travel }
    }

    /// The body as the search for proofs sees it.
    pub(crate) fn shape(&self) -> HulledBody<'_> {
        let Self { polyhedron, pose, hull, facets } = self;
        HulledBody { body: polyhedron, pose: *pose, hull, is_hull: facets.is_some() }
    }

    /// The facet that a triangle of the polyhedron is or is a part of.
    fn facet(&self, triangle: u32) -> BodyFace {
        let facet = self.facets.as_ref().map_or(triangle, |facets| facets[triangle as usize]);
        BodyFace::Facet(facet)
    }
}

impl Meeting {
    /// Faces of the boundaries as faces of the bodies.
    pub(crate) fn new([p, q]: [&ReadySolid; 2], faces: &Faces, point: Option<Vec3>) -> Self {
        let (of_p, of_q) = match *faces {
            Faces::VertexAndTriangle { vertex, triangle } => {
                (Some(BodyFace::Vertex(vertex)), Some(q.facet(triangle)))
            }
            Faces::TriangleAndVertex { triangle, vertex } => {
                (Some(p.facet(triangle)), Some(BodyFace::Vertex(vertex)))
            }
            Faces::Edges { of_p, of_q } => (Some(BodyFace::Edge(of_p)), Some(BodyFace::Edge(of_q))),
            Faces::Triangles { of_p, of_q } => (Some(p.facet(of_p)), Some(q.facet(of_q))),
            Faces::PInQ { triangle } => (Some(p.facet(triangle)), None),
            Faces::QInP { triangle } => (None, Some(q.facet(triangle))),
        };
        Self { p: of_p, q: of_q, point }
    }
}
