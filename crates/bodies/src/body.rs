//! A body of any kind, and where it is.

use std::sync::Arc;

use crate::id::ContentId;
use crate::kind::Kind;
use crate::kinds::cloud::HulledCloud;
use crate::kinds::curved::{CurvedBody, CurvedCore};
use crate::kinds::height_field::BoxedField;
use crate::kinds::polyhedron::HulledMesh;
use crate::kinds::rounded::RoundedHull;
use crate::kinds::surface::HulledSurface;
use crate::kinds::{
    Figures, Outline, cloud, curved, height_field, polyhedron, polytope, rounded, surface,
};
use clearance_geometry::claim::SolidKind;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::HullError;
use clearance_geometry::polyhedron::{Polyhedron, TriangleBody, TriangleSurface};
use clearance_geometry::polytope::{Polytope, TableKeeper, Tables};
use clearance_geometry::pose::Pose;
use clearance_geometry::terrain::HeightField;
use clearance_geometry::{Vec3, claim, pair};

/// A body of any kind. A copy shares all that the body holds.
#[derive(Clone, Debug)]
pub enum Body {
    /// The hull of points.
    Polytope(Arc<Polytope>),
    /// The region that a closed mesh bounds.
    Polyhedron(HulledMesh),
    /// The hull of points with a ball around each of its points.
    Rounded(RoundedHull),
    /// Triangles and nothing beside them.
    Surface(HulledSurface),
    /// Points with a ball of one radius around each.
    Cloud(HulledCloud),
    /// Heights over a grid.
    HeightField(BoxedField),
    /// A cylinder, a cone or an ellipsoid.
    Curved(CurvedBody),
}

/// A body and where it is.
#[derive(Clone, Debug)]
pub struct PlacedBody {
    /// The body, in its own frame.
    pub body: Body,
    /// From its frame to the world (at t = 0).
    pub pose: Pose,
}

impl From<Polytope> for Body {
    fn from(polytope: Polytope) -> Self {
        Self::Polytope(Arc::new(polytope))
    }
}

impl From<Arc<Polytope>> for Body {
    fn from(polytope: Arc<Polytope>) -> Self {
        Self::Polytope(polytope)
    }
}

impl Body {
    /// What becomes of points that are given without triangles, with what nearly every question
    /// needs of it; takes a while.
    pub fn of_points(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Self, HullError> {
        polytope::of_points(points, effort).map(Self::Polytope)
    }

    /// What becomes of points with balls of this radius, metres, around all points of their hull:
    /// without a radius, the polytope itself. The radius is finite and not negative.
    pub fn of_rounded_points(
        points: &[Vec3],
        radius: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Self, HullError> {
        Ok(Self::of_points(points, effort)?.rounded(radius))
    }

    /// A polytope with balls of this radius, metres, around all its points. The radius of what is
    /// rounded already stays, that of a cloud, too, and what is made of triangles is not rounded.
    #[must_use]
    pub fn rounded(self, radius: f64) -> Self {
        match self {
            Self::Polytope(core) if radius > 0.0 => Self::Rounded(RoundedHull::new(core, radius)),
            Self::Polytope(_)
            | Self::Polyhedron(_)
            | Self::Rounded(_)
            | Self::Surface(_)
            | Self::Cloud(_)
            | Self::HeightField(_)
            | Self::Curved(_) => self,
        }
    }

    /// The radius of the balls around all points of its hull, or of a cloud around these, metres; 0
    /// of what is not rounded.
    pub fn radius(&self) -> f64 {
        match self {
            Self::Polytope(_) | Self::Polyhedron(_) | Self::Surface(_) | Self::HeightField(_) => {
                0.0
            }
            Self::Rounded(body) => body.radius,
            Self::Cloud(body) => body.radius,
            Self::Curved(body) => body.radius,
        }
    }

    /// What [`Self::of_points`] takes for so many points, with these tables of the body, bytes at
    /// most.
    pub fn bytes_of_points(points: usize, tables: Tables) -> u64 {
        polytope::bytes_of_points(points, tables)
    }

    /// A polyhedron, whose vertices have this hull.
    pub fn of_polyhedron(polyhedron: Polyhedron, hull: Polytope) -> Self {
        let (polyhedron, hull) = (Arc::new(polyhedron), Arc::new(hull));
        Self::Polyhedron(HulledMesh { polyhedron, hull })
    }

    /// A surface, whose vertices have this hull.
    pub fn of_surface(surface: TriangleSurface, hull: Polytope) -> Self {
        let (surface, hull) = (Arc::new(surface), Arc::new(hull));
        Self::Surface(HulledSurface { surface, hull })
    }

    /// A polytope without volume as the surface that it is, with the same vertices: a point, a
    /// segment, or the triangles of a polygon. None of one that has a volume.
    pub fn surface_of_flat(flat: &Polytope) -> Option<TriangleBody> {
        let triangles = polytope::triangles_of_flat(flat)?;
        let surface = TriangleSurface::new(flat.vertices(), &triangles).ok()?;
        Some(TriangleBody::Surface(Arc::new(surface)))
    }

    /// A cloud of points that have this hull, with balls of this radius, metres, around them. The
    /// radius is finite and not negative.
    pub fn of_cloud(points: TriangleSurface, hull: Polytope, radius: f64) -> Self {
        let (points, hull) = (Arc::new(points), Arc::new(hull));
        // Of one id are those of -0 and of +0, and what is told of them is the same.
        Self::Cloud(HulledCloud { points, hull, radius: radius + 0.0 })
    }

    /// A height field.
    pub fn of_height_field(field: Arc<HeightField>) -> Result<Self, HullError> {
        BoxedField::new(field).map(Self::HeightField)
    }

    /// A curved body with balls of this radius, metres, around all its points; takes a while. The
    /// half sizes are in [`crate::kinds::curved::HALF_SIZES`], and the radius is finite and not
    /// negative.
    pub fn of_curved(
        core: CurvedCore,
        radius: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Self, HullError> {
        CurvedBody::new(core, radius, effort).map(Self::Curved)
    }

    /// What it is without its radius, as judges see it, if it is curved.
    pub fn curved_core(&self) -> Option<claim::CurvedCore> {
        self.curved().map(|body| body.core.claimed())
    }

    /// The curved body that it is, if it is one.
    pub(crate) fn curved(&self) -> Option<&CurvedBody> {
        match self {
            Self::Curved(body) => Some(body),
            Self::Polytope(_)
            | Self::Polyhedron(_)
            | Self::Rounded(_)
            | Self::Surface(_)
            | Self::Cloud(_)
            | Self::HeightField(_) => None,
        }
    }

    /// The field that it is, if it is one.
    pub fn height_field(&self) -> Option<&Arc<HeightField>> {
        self.boxed_field().map(|body| &body.field)
    }

    /// The same with its box.
    pub(crate) fn boxed_field(&self) -> Option<&BoxedField> {
        match self {
            Self::HeightField(body) => Some(body),
            Self::Polytope(_)
            | Self::Polyhedron(_)
            | Self::Rounded(_)
            | Self::Surface(_)
            | Self::Cloud(_)
            | Self::Curved(_) => None,
        }
    }

    /// The same body as a list of triangles, if it is a height field of few enough; any other body
    /// that has vertices as it is. None: it has too many, or is curved.
    pub fn spelled(&self) -> Option<Self> {
        match self {
            Self::HeightField(body) => body.spelled().cloned().map(Self::Surface),
            Self::Curved(_) => None,
            Self::Polytope(_)
            | Self::Polyhedron(_)
            | Self::Rounded(_)
            | Self::Surface(_)
            | Self::Cloud(_) => Some(self.clone()),
        }
    }

    /// The hull of the vertices of a height field of few triangles.
    pub(crate) fn spelled_hull(&self) -> Option<&Arc<Polytope>> {
        self.boxed_field()?.spelled().map(|surface| &surface.hull)
    }

    /// What triangles with this hull are, or the polytope that is the hull, with balls of this
    /// radius around all points of a polytope, or around those of a cloud.
    pub fn of_whole(hull: &Arc<Polytope>, mesh: Option<&TriangleBody>, radius: f64) -> Self {
        let hull = hull.clone();
        match mesh.cloned() {
            Some(TriangleBody::Region(polyhedron)) => {
                Self::Polyhedron(HulledMesh { polyhedron, hull })
            }
            Some(TriangleBody::Surface(points)) if radius > 0.0 && points.are_points() => {
                Self::Cloud(HulledCloud { points, hull, radius })
            }
            Some(TriangleBody::Surface(surface)) => Self::Surface(HulledSurface { surface, hull }),
            None => Self::Polytope(hull).rounded(radius),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Polytope(_) => Kind::Polytope,
            Self::Polyhedron(_) => Kind::Polyhedron,
            Self::Rounded(_) => Kind::Rounded,
            Self::Surface(_) => Kind::Surface,
            Self::Cloud(_) => Kind::Cloud,
            Self::HeightField(_) => Kind::HeightField,
            Self::Curved(_) => Kind::Curved,
        }
    }

    /// The id that follows from its content; digests all of it.
    pub fn id(&self) -> ContentId {
        match self {
            Self::Polytope(polytope) => ContentId::of_polytope(polytope),
            Self::Polyhedron(mesh) => ContentId::of_polyhedron(&mesh.polyhedron),
            Self::Rounded(body) => ContentId::of_rounded(body),
            Self::Surface(body) => ContentId::of_surface(&body.surface),
            Self::Cloud(body) => ContentId::of_cloud(body),
            Self::HeightField(body) => ContentId::of_height_field(&body.field),
            Self::Curved(body) => ContentId::of_curved(body),
        }
    }

    /// The hull of its vertices; of a height field, a box that holds it, and of a curved body the
    /// coarse polytope that does. Only the table hands it to
    /// questions: what holds of the hull need not hold of the body.
    pub(crate) fn hull(&self) -> &Arc<Polytope> {
        match self {
            Self::Polytope(polytope) => polytope,
            Self::Polyhedron(mesh) => &mesh.hull,
            Self::Rounded(body) => &body.core,
            Self::Surface(body) => &body.hull,
            Self::Cloud(body) => &body.hull,
            Self::HeightField(body) => &body.held_by,
            Self::Curved(body) => &body.outer,
        }
    }

    /// Its triangles with what they are, if it is made of these, or of points.
    pub(crate) fn mesh(&self) -> Option<TriangleBody> {
        match self {
            Self::Polytope(_) | Self::Rounded(_) | Self::HeightField(_) | Self::Curved(_) => None,
            Self::Polyhedron(mesh) => Some(TriangleBody::Region(mesh.polyhedron.clone())),
            Self::Surface(body) => Some(TriangleBody::Surface(body.surface.clone())),
            Self::Cloud(body) => Some(TriangleBody::Surface(body.points.clone())),
        }
    }

    /// Its vertices and triangles, if it is a mesh as it is: what convex pieces can be made of.
    pub fn as_mesh(&self) -> Option<(&[Vec3], &[[u32; 3]])> {
        match self {
            Self::Polytope(_)
            | Self::Rounded(_)
            | Self::HeightField(_)
            | Self::Cloud(_)
            | Self::Curved(_) => None,
            Self::Polyhedron(mesh) => {
                Some((mesh.polyhedron.vertices(), mesh.polyhedron.triangles()))
            }
            Self::Surface(body) => Some((body.surface.vertices(), body.surface.triangles())),
        }
    }

    fn hull_mut(&mut self) -> &mut Polytope {
        match self {
            Self::Polytope(polytope) => Arc::make_mut(polytope),
            Self::Polyhedron(mesh) => Arc::make_mut(&mut mesh.hull),
            Self::Rounded(body) => Arc::make_mut(&mut body.core),
            Self::Surface(body) => Arc::make_mut(&mut body.hull),
            Self::Cloud(body) => Arc::make_mut(&mut body.hull),
            Self::HeightField(body) => Arc::make_mut(&mut body.held_by),
            Self::Curved(body) => Arc::make_mut(&mut body.outer),
        }
    }

    /// Builds what nearly every question needs; takes a while for large bodies.
    pub fn prepare(&self, effort: &Effort<'_>) -> Result<(), Stopped> {
        self.hull().prepare_reach(effort)
    }

    /// What is told of it.
    pub fn outline(&self) -> Outline {
        match self {
            Self::Polytope(polytope) => polytope::outline(polytope),
            Self::Polyhedron(mesh) => polyhedron::outline(&mesh.polyhedron),
            Self::Rounded(body) => rounded::outline(body),
            Self::Surface(body) => surface::outline(body),
            Self::Cloud(body) => cloud::outline(body),
            Self::HeightField(body) => height_field::outline(body),
            Self::Curved(body) => curved::outline(body),
        }
    }

    /// What is found out about it once; takes seconds for large bodies.
    pub fn figures(&self, effort: &Effort<'_>) -> Result<Figures, Stopped> {
        match self {
            Self::Polytope(polytope) => polytope::figures(polytope, effort),
            Self::Polyhedron(mesh) => Ok(polyhedron::figures(&mesh.polyhedron)),
            Self::Rounded(body) => rounded::figures(body, effort),
            Self::Surface(body) => Ok(surface::figures(&body.surface)),
            Self::Cloud(_) => Ok(cloud::figures()),
            Self::HeightField(body) => Ok(height_field::figures(&body.field)),
            Self::Curved(_) => Ok(curved::figures()),
        }
    }

    /// Memory that it takes, bytes, without tables that methods build of it on first use.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Polytope(polytope) => polytope.heap_bytes() as u64,
            Self::Polyhedron(mesh) => polyhedron::bytes(mesh),
            Self::Rounded(body) => body.core.heap_bytes() as u64,
            Self::Surface(body) => surface::bytes(body),
            Self::Cloud(body) => cloud::bytes(body),
            Self::HeightField(body) => height_field::bytes(body),
            Self::Curved(body) => curved::bytes(body),
        }
    }

    /// Memory that these tables of it would take beyond what is built already, bytes at most. Of a
    /// polyhedron, a surface or a cloud no method builds any.
    pub fn bytes_to_build(&self, tables: Tables, figures: &Figures) -> u64 {
        match self {
            Self::Polytope(polytope) => polytope.bytes_to_build(tables, &figures.hierarchy) as u64,
            Self::Polyhedron(_)
            | Self::Surface(_)
            | Self::Cloud(_)
            | Self::HeightField(_)
            | Self::Curved(_) => 0,
            Self::Rounded(body) => body.core.bytes_to_build(tables, &figures.hierarchy) as u64,
        }
    }

    /// Lets `keeper` know of the tables that are built of it from now on. Only of a body that is
    /// not shared yet: of one that is, this makes a copy first.
    pub fn tell(&mut self, keeper: Arc<dyn TableKeeper>) {
        self.hull_mut().tell(keeper);
    }

    /// Its vertices, as clients number them; of a rounded polytope those of the polytope, and of a
    /// body that is not [`Self::spelled`] none.
    pub fn vertices(&self) -> &[Vec3] {
        match self {
            Self::Polytope(polytope) => polytope.vertices(),
            Self::Polyhedron(mesh) => mesh.polyhedron.vertices(),
            Self::Rounded(body) => body.core.vertices(),
            Self::Surface(body) => body.surface.vertices(),
            Self::Cloud(body) => body.points.vertices(),
            Self::HeightField(body) => body.spelled().map_or(&[], |it| it.surface.vertices()),
            Self::Curved(_) => &[],
        }
    }

    /// The vertices of each of its facets, in order around it; of a rounded polytope those of the
    /// polytope.
    pub fn facets(&self) -> impl Iterator<Item = &[u32]> {
        let (loops, triangles) = match self {
            Self::Polytope(polytope) => (Some(polytope.facets().rows()), None),
            Self::Polyhedron(mesh) => (None, Some(mesh.polyhedron.triangles())),
            Self::Rounded(body) => (Some(body.core.facets().rows()), None),
            Self::Surface(body) => (None, Some(body.surface.triangles())),
            Self::Cloud(_) | Self::Curved(_) => (None, None),
            Self::HeightField(body) => (None, body.spelled().map(|it| it.surface.triangles())),
        };
        let triangles = triangles.into_iter().flatten().map(|corners| &corners[..]);
        loops.into_iter().flatten().chain(triangles)
    }

    /// The vertices of a facet in order around it, if there is one by that index.
    pub fn facet(&self, facet: u32) -> Option<&[u32]> {
        match self {
            Self::Polytope(polytope) => polytope.facets().rows().nth(facet as usize),
            Self::Polyhedron(mesh) => {
                mesh.polyhedron.triangles().get(facet as usize).map(|corners| &corners[..])
            }
            Self::Rounded(body) => body.core.facets().rows().nth(facet as usize),
            Self::Surface(body) => {
                body.surface.triangles().get(facet as usize).map(|corners| &corners[..])
            }
            Self::Cloud(_) | Self::Curved(_) => None,
            Self::HeightField(body) => {
                let triangles = body.spelled()?.surface.triangles();
                triangles.get(facet as usize).map(|corners| &corners[..])
            }
        }
    }

    /// The triangles that bound it; of facets with more corners those that they are made of. Those
    /// of a rounded polytope bound the polytope.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        match self {
            Self::Polytope(polytope) => polytope::boundary(polytope),
            Self::Polyhedron(mesh) => mesh.polyhedron.triangles().to_vec(),
            Self::Rounded(body) => polytope::boundary(&body.core),
            Self::Surface(body) => body.surface.triangles().to_vec(),
            Self::Cloud(_) | Self::Curved(_) => Vec::new(),
            Self::HeightField(body) => {
                body.spelled().map_or(Vec::new(), |it| it.surface.triangles().to_vec())
            }
        }
    }
}

impl PlacedBody {
    /// Its hull in its place, where it is not convex; of a height field a box that holds it.
    pub(crate) fn with_its_hull(&self) -> Self {
        let body = if self.body.kind().is_convex() {
            self.body.clone()
        } else {
            Body::from(self.body.hull().clone()).rounded(self.body.radius())
        };
        Self { body, pose: self.pose }
    }

    /// The hull of its vertices and where that is.
    pub fn hull(&self) -> pair::Placed<'_> {
        pair::Placed { body: self.body.hull(), pose: self.pose }
    }

    /// Its vertices and triangles, as judges see them; of a rounded polytope the polytope.
    /// A curved body has neither.
    pub fn solid(&self) -> claim::Solid<'_> {
        let kind = match &self.body {
            Body::Polytope(_) | Body::Rounded(_) | Body::Curved(_) => SolidKind::Hull,
            Body::Polyhedron(mesh) => SolidKind::Region(mesh.polyhedron.triangles()),
            Body::Surface(body) => SolidKind::Surface(body.surface.triangles()),
            Body::Cloud(body) => SolidKind::Surface(body.points.triangles()),
            Body::HeightField(body) => {
                SolidKind::Surface(body.spelled().map_or(&[], |it| it.surface.triangles()))
            }
        };
        let points = claim::Points { points: self.body.vertices(), pose: self.pose };
        claim::Solid { points, kind }
    }
}
