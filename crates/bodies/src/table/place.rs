//! What is done with single bodies: where a body of which kind may be.

use std::sync::Arc;

use super::row::NotAnswered;
use crate::body::Body;
use crate::kind::Kind;
use crate::kinds::curved::CurvedBody;
use crate::kinds::height_field::BoxedField;
use clearance_geometry::Vec3;
use clearance_geometry::polyhedron::TriangleBody;
use clearance_geometry::polytope::Polytope;

/// A polytope, with balls around all its points.
#[derive(Clone, Copy, Debug)]
pub struct ConvexPart<'a> {
    /// What the balls are around.
    pub polytope: &'a Arc<Polytope>,
    /// Of the balls, metres; 0: there are none.
    pub radius: f64,
}

/// A body that need not be convex.
#[derive(Clone, Debug)]
pub struct WholePart<'a> {
    /// The polytope that it is, with its radius, or the hull of its triangles, or that of the
    /// points of a cloud, with the radius of their balls.
    pub hull: ConvexPart<'a>,
    /// The triangles or points that it is made of; none: it is what `hull` says.
    pub mesh: Option<TriangleBody>,
    /// The height field that it is; then there is no list of triangles, and `hull` is a box that
    /// holds it.
    pub field: Option<BoxedField>,
    /// The curved body that it is; then `hull` is a polytope that holds its core.
    pub curved: Option<CurvedBody>,
}

/// The points of a cloud, and the radius of the balls around them, metres: what cells make their
/// own trees of. None of another body.
pub fn cloud_of_body(body: &Body) -> Option<(&[Vec3], f64)> {
    match body {
        Body::Cloud(cloud) => Some((cloud.points.vertices(), cloud.radius)),
        Body::Polytope(_)
        | Body::Polyhedron(_)
        | Body::Rounded(_)
        | Body::Surface(_)
        | Body::HeightField(_)
        | Body::Curved(_) => None,
    }
}

/// Where a body may be beside in a question about two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A part of a session's body.
    Session,
    /// A body that a question to a scene finds: cast, overlap, what is nearest.
    SceneQuery,
    /// The shape of such a question.
    QueryShape,
    /// An obstacle of a cell.
    Obstacle,
    /// A part of a robot.
    RobotPart,
    /// A part of a compound, or a body beside one.
    Compound,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 6] = [
        Self::Session,
        Self::SceneQuery,
        Self::QueryShape,
        Self::Obstacle,
        Self::RobotPart,
        Self::Compound,
    ];

    /// What it is called in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "part in a session",
            Self::SceneQuery => "question to a scene",
            Self::QueryShape => "shape of a question to a scene",
            Self::Obstacle => "obstacle of a cell",
            Self::RobotPart => "part of a robot",
            Self::Compound => "part of a compound",
        }
    }

    /// The entries: nothing, or what is not answered, in words.
    const fn entry(self, kind: Kind) -> Result<(), &'static str> {
        match (self, kind) {
            (
                Self::Session
                | Self::SceneQuery
                | Self::QueryShape
                | Self::Obstacle
                | Self::RobotPart
                | Self::Compound,
                Kind::Polytope | Kind::Rounded,
            )
            | (
                Self::Session | Self::SceneQuery | Self::Obstacle,
                Kind::Polyhedron | Kind::Surface | Kind::Cloud | Kind::HeightField,
            )
            | (Self::RobotPart, Kind::Polyhedron | Kind::Surface)
            | (
                Self::Session
                | Self::SceneQuery
                | Self::QueryShape
                | Self::Obstacle
                | Self::RobotPart
                | Self::Compound,
                Kind::Curved,
            ) => Ok(()),
            (Self::QueryShape, Kind::Cloud) => Err("clouds as shapes of questions to a scene"),
            (Self::RobotPart, Kind::Cloud) => Err("clouds as parts of robots"),
            (Self::Compound, Kind::Cloud) => Err("clouds beside or in compounds"),
            (Self::QueryShape, Kind::HeightField) => {
                Err("height fields as shapes of questions to a scene")
            }
            (Self::RobotPart, Kind::HeightField) => Err("height fields as parts of robots"),
            (Self::Compound, Kind::HeightField) => Err("height fields beside or in compounds"),
            (Self::QueryShape, Kind::Polyhedron) => {
                Err("polyhedra as shapes of questions to a scene")
            }
            (Self::Compound, Kind::Polyhedron) => Err("polyhedra beside or in compounds"),
            (Self::QueryShape, Kind::Surface) => Err("surfaces as shapes of questions to a scene"),
            (Self::Compound, Kind::Surface) => Err("surfaces beside or in compounds"),
        }
    }

    /// Whether a body of this kind may be there; if not, why.
    pub const fn takes(self, kind: Kind) -> Result<(), NotAnswered> {
        match self.entry(kind) {
            Ok(()) => Ok(()),
            Err(what) => Err(NotAnswered { field: "", what, kinds: [kind; 2] }),
        }
    }

    /// What questions to scenes know of a body that may be there: a convex part. There is none of
    /// triangles.
    pub fn part(self, body: &Body) -> Result<ConvexPart<'_>, NotAnswered> {
        let WholePart { hull, mesh, field, curved } = self.whole(body)?;
        let what = "polyhedra, surfaces, clouds, height fields and curved bodies as convex parts";
        let kinds = [body.kind(); 2];
        let is_convex = mesh.is_none() && field.is_none() && curved.is_none();
        if is_convex { Ok(hull) } else { Err(NotAnswered { field: "", what, kinds }) }
    }

    /// What sessions, cells and robots know of a body that may be there.
    pub fn whole(self, body: &Body) -> Result<WholePart<'_>, NotAnswered> {
        self.takes(body.kind())?;
        let hull = ConvexPart { polytope: body.hull(), radius: body.radius() };
        let (mesh, field) = (body.mesh(), body.boxed_field().cloned());
        let curved = body.curved().cloned();
        if self == Self::Obstacle && field.is_some() {
            let (what, kinds) =
                ("height fields of so many triangles as obstacles", [body.kind(); 2]);
            let spelled = body.spelled().ok_or(NotAnswered { field: "", what, kinds })?;
            let (mesh, hull) = (spelled.mesh(), body.spelled_hull());
            let polytope = hull.ok_or(NotAnswered { field: "", what, kinds })?;
            let hull = ConvexPart { polytope, radius: 0.0 };
            return Ok(WholePart { hull, mesh, field: None, curved });
        }
        Ok(WholePart { hull, mesh, field, curved })
    }
}
