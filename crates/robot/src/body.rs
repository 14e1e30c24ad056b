//! What a part of a robot is, or what stands still: a polytope, with or without balls around all of
//! its points; or triangles with what they bound, or without it; or a cylinder, a cone or an
//! ellipsoid; or of what stands still a cloud of points.
//!
//! A body of another kind is a variant here; the compiler then names each place that has to know.

use std::sync::Arc;

use super::cloud::BoxedCloud;
use clearance_bodies::Body;
use clearance_bodies::kinds::curved::{CurvedBody, CurvedCore};
use clearance_bodies::table::NotAnswered;
use clearance_bodies::table::place::{Place, WholePart};
use clearance_geometry::Vec3;
use clearance_geometry::claim::SolidKind;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::polyhedron::{BoundaryKind, TriangleBody};
use clearance_geometry::polytope::Polytope;

/// See the module; cheap to clone.
#[derive(Clone, Debug)]
pub enum PartBody {
    /// A polytope.
    Polytope(Arc<Polytope>),
    /// A polytope with a ball around each of its points.
    Rounded(RoundedPart),
    /// The closed region that a mesh bounds, or its surface.
    Mesh(HulledMesh),
    /// A cylinder, a cone or an ellipsoid, with or without balls around all its points.
    Curved(CurvedPart),
    /// Balls around points; of what stands still only.
    Cloud(BoxedCloud),
}

/// A polytope and the radius of the balls around all its points: of a point a ball, of a segment a
/// capsule. The balls are as large in the world as here, however a pose stretches the polytope.
#[derive(Clone, Debug)]
pub struct RoundedPart {
    core: Arc<Polytope>,
    /// Metres, finite and more than 0.
    radius: f64,
}

impl RoundedPart {
    /// What the balls are around.
    pub fn core(&self) -> &Arc<Polytope> {
        &self.core
    }

    /// Metres, finite and more than 0.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

/// A curved body and a polytope around it: what is apart from the polytope, with the balls of the
/// radius around its points, is apart from the body.
#[derive(Clone, Debug)]
pub struct CurvedPart {
    body: Body,
    core: CurvedCore,
    around: Arc<Polytope>,
    corners: Arc<[Vec3; 8]>,
    /// Metres, finite and not negative.
    radius: f64,
}

impl CurvedPart {
    /// The body, as the table of bodies knows it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The body without its radius.
    pub fn core(&self) -> CurvedCore {
        self.core
    }

    /// Of the balls around all its points, metres; 0: there are none.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Memory that it takes beside the polytope around it, bytes.
    pub fn beside_hull_bytes(&self) -> usize {
        let all = usize::try_from(self.body.bytes()).unwrap_or(usize::MAX);
        all.saturating_sub(self.around.heap_bytes()) + size_of_val(&*self.corners)
    }
}

/// A mesh and its hull: what is apart from the hull, with the balls around its points if there are
/// any, is apart from the body that the mesh is. It may be the points of a cloud, as triangles
/// without extent; then there may be balls around them.
#[derive(Clone, Debug)]
pub struct HulledMesh {
    /// The body.
    pub mesh: TriangleBody,
    /// The hull of its vertices.
    pub hull: Arc<Polytope>,
    /// Of the balls around the points of a cloud, metres; 0 of any other.
    radius: f64,
}

impl HulledMesh {
    /// A mesh with the hull of its vertices, without balls around them.
    pub fn new(mesh: TriangleBody, hull: Arc<Polytope>) -> Self {
        Self { mesh, hull, radius: 0.0 }
    }

    /// Of the balls around the points of a cloud, metres; 0: there are none.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

impl From<Arc<Polytope>> for PartBody {
    fn from(polytope: Arc<Polytope>) -> Self {
        Self::Polytope(polytope)
    }
}

impl PartBody {
    /// A body with this hull: the mesh, or the hull itself.
    pub fn new(hull: Arc<Polytope>, mesh: Option<TriangleBody>) -> Self {
        match mesh {
            Some(mesh) => Self::Mesh(HulledMesh::new(mesh, hull)),
            None => Self::Polytope(hull),
        }
    }

    /// A cloud that is known by its faces.
    pub(super) fn faced(cloud: &BoxedCloud, effort: &mut Effort<'_>) -> Result<Self, Stopped> {
        let (mesh, hull) = cloud.faces(effort)?;
        Ok(Self::new(hull, Some(mesh)).rounded(cloud.cloud().radius()))
    }

    /// What cells and robots know of a body that may be in this place.
    pub fn in_place(body: &Body, place: Place) -> Result<Self, NotAnswered> {
        let WholePart { hull, mesh, field: _, curved } = place.whole(body)?;
        let (around, radius) = (hull.polytope.clone(), hull.radius);
        Ok(match curved {
            Some(curved) => Self::of_curved(&curved, &around, radius),
            None => Self::new(around, mesh).rounded(radius),
        })
    }

    /// A curved body, a polytope around it without its radius, and that.
    pub fn of_curved(curved: &CurvedBody, around: &Arc<Polytope>, radius: f64) -> Self {
        let (core, around) = (*curved.core(), around.clone());
        let corner = |k: usize| Vec3::from_fn(|i, _| core.half[i] * [-1.0, 1.0][k >> i & 1]);
        let corners = Arc::new(std::array::from_fn(corner));
        let body = Body::Curved(curved.clone());
        Self::Curved(CurvedPart { body, core, around, corners, radius })
    }

    /// What it is without its radius, as judges see it, if it is curved.
    pub fn claimed_curved(&self) -> Option<clearance_geometry::claim::CurvedCore> {
        let CurvedCore { form, half } = self.curved()?.core;
        Some(clearance_geometry::claim::CurvedCore { form, half })
    }

    /// The curved body that it is, if it is one.
    pub fn curved_body(&self) -> Option<&CurvedBody> {
        match self.curved()?.body() {
            Body::Curved(curved) => Some(curved),
            Body::Polytope(_)
            | Body::Polyhedron(_)
            | Body::Rounded(_)
            | Body::Surface(_)
            | Body::Cloud(_)
            | Body::HeightField(_) => None,
        }
    }

    /// The body as the table of bodies knows it; of a cloud the box around it.
    pub fn whole(&self) -> Body {
        match self {
            Self::Curved(part) => part.body.clone(),
            Self::Polytope(_) | Self::Rounded(_) | Self::Mesh(_) | Self::Cloud(_) => {
                Body::of_whole(self.hull(), self.mesh(), self.radius())
            }
        }
    }

    /// The same with balls of this radius, metres, finite and not negative, around all points of a
    /// polytope, or around those of a cloud that is known by its faces; none are where it is 0. No
    /// other body is rounded.
    #[must_use]
    pub fn rounded(self, radius: f64) -> Self {
        match self {
            Self::Polytope(core) if radius > 0.0 => Self::Rounded(RoundedPart { core, radius }),
            Self::Mesh(HulledMesh { mesh, hull, .. }) if mesh.surface().are_points() => {
                Self::Mesh(HulledMesh { mesh, hull, radius })
            }
            Self::Polytope(_)
            | Self::Rounded(_)
            | Self::Mesh(_)
            | Self::Curved(_)
            | Self::Cloud(_) => self,
        }
    }

    /// The radius of the balls around all points of a polytope, of a curved body or of a cloud that
    /// is known by its faces, metres; 0 of what has none. Those of other clouds are in the hull.
    pub fn radius(&self) -> f64 {
        match self {
            Self::Rounded(part) => part.radius,
            Self::Curved(part) => part.radius,
            Self::Mesh(body) => body.radius,
            Self::Polytope(_) | Self::Cloud(_) => 0.0,
        }
    }

    /// The body, if it is a polytope without balls.
    pub fn polytope(&self) -> Option<&Arc<Polytope>> {
        match self {
            Self::Polytope(polytope) => Some(polytope),
            Self::Rounded(_) | Self::Mesh(_) | Self::Curved(_) | Self::Cloud(_) => None,
        }
    }

    /// The body, if it is curved.
    pub fn curved(&self) -> Option<&CurvedPart> {
        match self {
            Self::Curved(part) => Some(part),
            Self::Polytope(_) | Self::Rounded(_) | Self::Mesh(_) | Self::Cloud(_) => None,
        }
    }

    /// The body, if it is made of triangles.
    pub fn mesh(&self) -> Option<&TriangleBody> {
        match self {
            Self::Polytope(_) | Self::Rounded(_) | Self::Curved(_) | Self::Cloud(_) => None,
            Self::Mesh(body) => Some(&body.mesh),
        }
    }

    /// The body, if it is a cloud.
    pub fn cloud(&self) -> Option<&BoxedCloud> {
        match self {
            Self::Polytope(_) | Self::Rounded(_) | Self::Mesh(_) | Self::Curved(_) => None,
            Self::Cloud(cloud) => Some(cloud),
        }
    }

    /// Whether it is the region that a mesh bounds.
    pub fn is_region(&self) -> bool {
        self.mesh().is_some_and(|mesh| mesh.region().is_some())
    }

    /// A polytope that holds the body, but for the balls of [`PartBody::radius`] around its points:
    /// itself, its hull, one around what is curved, or a box around a cloud. What meets it need not
    /// meet the body.
    pub fn hull(&self) -> &Arc<Polytope> {
        match self {
            Self::Polytope(polytope) => polytope,
            Self::Rounded(part) => &part.core,
            Self::Mesh(body) => &body.hull,
            Self::Curved(part) => &part.around,
            Self::Cloud(cloud) => cloud.around(),
        }
    }

    /// Its vertices, as clients number them; of a rounded polytope those of the polytope, and of a
    /// curved body the corners of the box of its half sizes, which certificates of edges are about.
    pub fn vertices(&self) -> &[Vec3] {
        match self {
            Self::Polytope(polytope) => polytope.vertices(),
            Self::Rounded(part) => part.core.vertices(),
            Self::Mesh(body) => body.mesh.surface().vertices(),
            Self::Curved(part) => part.corners.as_slice(),
            Self::Cloud(cloud) => cloud.cloud().points(),
        }
    }

    /// As searches see it, without balls; a cloud's faces nobody asks about.
    pub fn boundary_kind(&self) -> BoundaryKind<'_> {
        match self {
            Self::Polytope(_) | Self::Rounded(_) | Self::Curved(_) | Self::Cloud(_) => {
                BoundaryKind::Hull
            }
            Self::Mesh(body) => body.mesh.boundary_kind(),
        }
    }

    /// As a judge sees it, without balls; no certificate is about a cloud.
    pub fn solid_kind(&self) -> SolidKind<'_> {
        match self {
            Self::Polytope(_) | Self::Rounded(_) | Self::Curved(_) | Self::Cloud(_) => {
                SolidKind::Hull
            }
            Self::Mesh(body) => body.mesh.solid_kind(),
        }
    }
}
