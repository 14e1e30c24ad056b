//! Bodies: a polytope or polyhedron by id or alias, or a polytope by its points; and where it is.

use std::sync::Arc;

use super::{Path, geometry};
use crate::geometry::Vec3;
use crate::geometry::certificate;
use crate::geometry::contact_time::Travel;
use crate::geometry::contact_time::polyhedra::proof::Shape;
use crate::geometry::contact_time::polyhedra::{Moving, Polyhedron};
use crate::geometry::hull::convex_hull;
use crate::geometry::ids::PolytopeId;
use crate::geometry::pair::Placed;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::Pose;
use crate::rpc::pb;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::runtime::store::{PolytopeStore, Solid, Stored};
use crate::within_limit;

/// A body as it was asked about; the hull of given points is still to be built.
#[derive(Clone, Debug)]
pub struct AskedBody {
    source: Source,
    pose: Pose,
}

#[derive(Clone, Debug)]
enum Source {
    Registered(Solid),
    Points(Vec<Vec3>),
}

/// A body that is ready for questions about polytopes.
#[derive(Clone, Debug)]
pub struct ReadyBody {
    polytope: Arc<Polytope>,
    /// Where it is.
    pub pose: Pose,
}

/// A body of either kind, as judges see it.
#[derive(Clone, Debug)]
pub enum JudgedBody {
    /// A polytope.
    Polytope(ReadyBody),
    /// A polyhedron.
    Polyhedron {
        /// What it is.
        polyhedron: Arc<Polyhedron>,
        /// Where it is.
        pose: Pose,
    },
}

/// A body that is ready for questions about polyhedra.
#[derive(Clone, Debug)]
pub struct ReadySolid {
    /// What it is.
    pub polyhedron: Arc<Polyhedron>,
    /// Where it is.
    pub pose: Pose,
    /// Its hull; of a polytope that itself.
    hull: Arc<Polytope>,
    /// Of a polytope: the facets that the polyhedron's triangles are parts of.
    facets: Option<Vec<u32>>,
}

impl AskedBody {
    /// Checks everything that can be wrong with it.
    pub fn convert(
        path: &Path<'_>,
        wire: Option<&pb::PlacedBody>,
        shared: &Shared,
    ) -> Result<Self, Failure> {
        use pb::placed_body::Source as Wire;
        let wire = wire.ok_or_else(|| path.bad("is required"))?;
        let source = wire.source.as_ref();
        let source = match source.ok_or_else(|| path.bad("needs id, alias or vertices"))? {
            Wire::Id(id) => {
                let stored = by_id(&path.field("id"), id, &shared.store)?;
                Source::Registered(stored.solid.clone())
            }
            Wire::Alias(alias) => {
                let stored = by_alias(&path.field("alias"), alias, &shared.store)?;
                Source::Registered(stored.solid.clone())
            }
            Wire::Vertices(points) => {
                let path = path.field("vertices");
                let limits = &shared.settings.limits;
                within_limit!(path, limits, points.xyz.len() / 3, inline_points_max)?;
                Source::Points(geometry::points(&path, points)?)
            }
            Wire::Compound(_) => {
                return Err(path.field("compound").not_implemented("compounds in questions"));
            }
        };
        let pose = geometry::pose(&path.field("pose"), wire.pose.as_ref())?;
        Ok(Self { source, pose })
    }

    /// Number of vertices, or of points that a hull is to be built of.
    pub fn size(&self) -> usize {
        match &self.source {
            Source::Registered(solid) => solid.vertex_count(),
            Source::Points(points) => points.len(),
        }
    }

    /// Whether a hull is to be built.
    pub fn is_given_by_points(&self) -> bool {
        matches!(self.source, Source::Points(_))
    }

    /// Whether it is a polyhedron, which only some questions can be asked about.
    pub fn is_polyhedron(&self) -> bool {
        matches!(self.source, Source::Registered(Solid::Polyhedron { .. }))
    }

    /// Where it is.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Builds what is to be built of a polytope; takes a while. Of a polyhedron it is the hull that is ready.
    pub fn prepare(self) -> Result<ReadyBody, Failure> {
        let polytope = match self.source {
            Source::Registered(
                Solid::Polytope(polytope) | Solid::Polyhedron { hull: polytope, .. },
            ) => polytope,
            Source::Points(points) => {
                // The points were checked at the door.
                let hull = convex_hull(&points).map_err(|error| Failure::Bug(error.to_string()))?;
                Arc::new(hull.polytope)
            }
        };
        Ok(ReadyBody { polytope, pose: self.pose })
    }

    /// The same for a judge of bodies of either kind.
    pub fn prepare_to_judge(self) -> Result<JudgedBody, Failure> {
        if let Source::Registered(Solid::Polyhedron { polyhedron, .. }) = self.source {
            return Ok(JudgedBody::Polyhedron { polyhedron, pose: self.pose });
        }
        self.prepare().map(JudgedBody::Polytope)
    }

    /// The same for a question about polyhedra, where a polytope counts as one; takes a while. `field` is
    /// where the body was named.
    pub fn prepare_solid(self, field: &str) -> Result<ReadySolid, Failure> {
        if let Source::Registered(Solid::Polyhedron { polyhedron, hull }) = self.source {
            return Ok(ReadySolid { polyhedron, pose: self.pose, hull, facets: None });
        }
        let ReadyBody { polytope, pose } = self.prepare()?;
        let what = "a polytope without volume beside a polyhedron";
        let made = Polyhedron::of_polytope(&polytope);
        let (polyhedron, facets) =
            made.ok_or_else(|| Failure::NotImplemented { field: field.to_owned(), what })?;
        let polyhedron = Arc::new(polyhedron);
        Ok(ReadySolid { polyhedron, pose, hull: polytope, facets: Some(facets) })
    }
}

impl JudgedBody {
    /// The vertices of a facet in order around it, if there is one by that index.
    pub fn facet(&self, facet: u32) -> Option<&[u32]> {
        match self {
            Self::Polytope(body) => body.polytope().facets().rows().nth(facet as usize),
            Self::Polyhedron { polyhedron, .. } => {
                polyhedron.triangles().get(facet as usize).map(|corners| &corners[..])
            }
        }
    }

    /// Its vertices and triangles, and where they are.
    pub fn solid(&self) -> certificate::solids::Solid<'_> {
        let (points, pose, triangles) = match self {
            Self::Polytope(body) => (body.polytope().vertices(), body.pose, None),
            Self::Polyhedron { polyhedron, pose } => {
                (polyhedron.vertices(), *pose, Some(polyhedron.triangles()))
            }
        };
        let points = certificate::bodies::Points { points, pose };
        certificate::solids::Solid { points, triangles }
    }
}

impl ReadyBody {
    /// The polytope.
    pub fn polytope(&self) -> &Polytope {
        &self.polytope
    }

    /// The polytope and where it is.
    pub fn placed(&self) -> Placed<'_> {
        Placed { body: self.polytope(), pose: self.pose }
    }
}

impl ReadySolid {
    /// It, where it is and on its way.
    pub fn moving(&self, travel: Travel) -> Moving<'_> {
        Moving { body: &self.polyhedron, pose: self.pose, travel }
    }

    /// As proofs see it.
    pub fn shape(&self) -> Shape<'_> {
        let Self { polyhedron, pose, hull, facets } = self;
        Shape { body: polyhedron, pose: *pose, hull, is_hull: facets.is_some() }
    }

    /// Its hull and where that is.
    pub fn placed_hull(&self) -> Placed<'_> {
        Placed { body: &self.hull, pose: self.pose }
    }

    /// The facet that a triangle of the polyhedron is or is a part of.
    pub fn facet(&self, triangle: u32) -> u32 {
        self.facets.as_ref().map_or(triangle, |facets| facets[triangle as usize])
    }
}

/// An id, checked; a kind that is to come is told from nonsense.
pub fn id(path: &Path<'_>, text: &str) -> Result<PolytopeId, Failure> {
    if text.starts_with("c1-") {
        return Err(path.not_implemented("compounds (c1-)"));
    }
    text.parse().map_err(|error| path.bad(format!("{error}")).into())
}

/// A registered polytope by id.
pub fn by_id(path: &Path<'_>, text: &str, store: &PolytopeStore) -> Result<Arc<Stored>, Failure> {
    store.get(&id(path, text)?).ok_or_else(|| unknown(path, text))
}

/// A registered polytope by alias.
pub fn by_alias(
    path: &Path<'_>,
    alias: &str,
    store: &PolytopeStore,
) -> Result<Arc<Stored>, Failure> {
    let id = store.resolve(alias).ok_or_else(|| unknown(path, alias))?;
    store.get(&id).ok_or_else(|| unknown(path, alias))
}

/// No polytope has this id or alias.
pub fn unknown(path: &Path<'_>, key: &str) -> Failure {
    // Cut, so that a hostile key cannot blow up the status.
    let key = key.chars().take(200).collect();
    Failure::UnknownPolytope { field: path.to_string(), key }
}
