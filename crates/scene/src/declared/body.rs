//! Bodies as they are declared.

use std::sync::Arc;

use crate::declared::groups::Groups;
use clearance_bodies::kinds::curved::CurvedBody;
use clearance_bodies::kinds::height_field::BoxedField;
use clearance_bodies::table::place::Place;
use clearance_geometry::Vec3;
use clearance_geometry::polyhedron::TriangleBody;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// The client's number for a body; unique in its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// One piece of a body: convex, or made of triangles.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its shape; shared, immutable. Of triangles it is the hull, of a height field a box, of
    /// a curved body a polytope around it.
    pub polytope: Arc<Polytope>,
    /// The radius of the balls around all its points, metres; of a polytope itself 0.
    pub radius: f64,
    /// Its triangles with what they are; a convex part has none.
    pub mesh: Option<TriangleBody>,
    /// The height field that it is; then it has no list of triangles.
    pub field: Option<BoxedField>,
    /// The curved body that it is; then its shape holds the body without its radius.
    pub curved: Option<CurvedBody>,
    /// From the part's frame to the body's.
    pub body_from_part: Pose,
}

impl Part {
    /// A polytope in the body's frame.
    pub fn of(polytope: Arc<Polytope>) -> Self {
        let (mesh, field, curved) = (None, None, None);
        let body_from_part = Pose::identity();
        Self { polytope, radius: 0.0, mesh, field, curved, body_from_part }
    }

    /// Triangles in the body's frame, with the hull of their vertices.
    pub fn of_mesh(mesh: TriangleBody, hull: Arc<Polytope>) -> Self {
        Self { mesh: Some(mesh), ..Self::of(hull) }
    }

    /// A height field in the body's frame.
    pub fn of_field(field: BoxedField) -> Self {
        Self { field: Some(field.clone()), ..Self::of(field.held_by) }
    }

    /// A curved body in the body's frame; none: it is of another kind.
    pub fn of_curved(body: &clearance_bodies::Body) -> Option<Self> {
        let whole = Place::Session.whole(body).ok()?;
        let radius = whole.hull.radius;
        let curved = Some(whole.curved?);
        Some(Self { radius, curved, ..Self::of(whole.hull.polytope.clone()) })
    }

    /// Whether it is more than a polytope.
    pub fn is_rounded(&self) -> bool {
        self.radius > 0.0
    }

    /// Whether it is made of triangles, or curved, so that its hull says too little.
    pub fn is_mesh(&self) -> bool {
        self.mesh.is_some() || self.field.is_some() || self.curved.is_some()
    }

    /// Whether it is convex.
    pub fn is_convex(&self) -> bool {
        self.mesh.is_none() && self.field.is_none()
    }

    /// Whether it is the region that triangles bound.
    pub(crate) fn is_region(&self) -> bool {
        self.mesh.as_ref().is_some_and(|mesh| mesh.region().is_some())
    }

    /// How many vertices it is made of.
    pub fn vertex_count(&self) -> u32 {
        let of_hull = self.polytope.vertex_count();
        let of_mesh = |mesh: &TriangleBody| u32::try_from(mesh.surface().vertices().len());
        self.mesh.as_ref().map_or(of_hull, |mesh| of_mesh(mesh).unwrap_or(u32::MAX))
    }

    /// Whether it is a polytope without volume, of which nothing is answered beside a region.
    pub(crate) fn is_flat(&self) -> bool {
        !self.is_rounded() && !self.is_mesh() && self.polytope.dimension() < 3
    }
}

/// A rigid body: one or several parts that move together.
#[derive(Clone, Debug)]
pub struct Body {
    /// The client's number for it.
    pub id: BodyId,
    /// For people; may be empty, need not be unique.
    pub name: String,
    /// At least one.
    pub parts: Vec<Part>,
    /// From the body's frame to the world.
    pub pose: Pose,
    /// Names of the groups it belongs to.
    pub groups: Groups,
    /// Fixed bodies are not checked against each other.
    pub fixed: bool,
    /// Bits that say what it is.
    pub category: u32,
    /// Bits that say what it is checked against: two bodies are if each has in its mask one of the
    /// bits of the other's category.
    pub mask: u32,
    /// Its share of a pair's margin, metres.
    pub margin: f64,
    /// The point in the body's frame that motions between frames turn about.
    pub pivot: Vec3,
    /// Proofs that a motion is free hold for every motion within this of the stated one, metres.
    pub deviation: f64,
    /// First contacts between frames are looked for in all its pairs, whatever a frame asks.
    pub continuous: bool,
}

impl Body {
    /// The category of a body that names none.
    pub const CATEGORY: u32 = 1;
    /// The mask of a body that names none: all bits.
    pub const MASK: u32 = u32::MAX;

    /// A body of one part in its own frame, at the origin.
    pub fn solid(id: u32, polytope: Arc<Polytope>) -> Self {
        let parts = vec![Part::of(polytope)];
        Self { id: BodyId(id), parts, ..Self::without_parts() }
    }

    /// One that has no parts yet, at the origin.
    pub fn without_parts() -> Self {
        Self {
            id: BodyId(0),
            name: String::new(),
            parts: Vec::new(),
            pose: Pose::identity(),
            groups: Groups::default(),
            fixed: false,
            category: Self::CATEGORY,
            mask: Self::MASK,
            margin: 0.0,
            pivot: Vec3::zeros(),
            deviation: 0.0,
            continuous: false,
        }
    }

    /// Places the body elsewhere.
    #[must_use]
    pub fn placed(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }
}
