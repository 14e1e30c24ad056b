//! Bodies: a polytope by id, by alias or by its points, and where it is.

use std::sync::Arc;

use super::{Path, geometry};
use crate::geometry::Vec3;
use crate::geometry::hull::convex_hull;
use crate::geometry::ids::PolytopeId;
use crate::geometry::pair::Placed;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::Pose;
use crate::rpc::pb;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::runtime::store::{PolytopeStore, Stored};
use crate::within_limit;

/// A body as it was asked about; the hull of given points is still to be built.
#[derive(Clone, Debug)]
pub struct AskedBody {
    source: Source,
    pose: Pose,
}

#[derive(Clone, Debug)]
enum Source {
    Registered(Arc<Stored>),
    Points(Vec<Vec3>),
}

/// A body that is ready for questions.
#[derive(Clone, Debug)]
pub struct ReadyBody {
    shape: Shape,
    /// Where it is.
    pub pose: Pose,
}

#[derive(Clone, Debug)]
enum Shape {
    Registered(Arc<Stored>),
    Built(Arc<Polytope>),
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
            Wire::Id(id) => Source::Registered(by_id(&path.field("id"), id, &shared.store)?),
            Wire::Alias(alias) => {
                Source::Registered(by_alias(&path.field("alias"), alias, &shared.store)?)
            }
            Wire::Vertices(points) => {
                let path = path.field("vertices");
                let limits = &shared.settings.limits;
                within_limit!(path, limits, points.xyz.len() / 3, inline_points_max)?;
                Source::Points(geometry::points(&path, points)?)
            }
            Wire::Compound(_) => return Err(Failure::NotImplemented("compounds in questions")),
        };
        let pose = geometry::pose(&path.field("pose"), wire.pose.as_ref())?;
        Ok(Self { source, pose })
    }

    /// Number of vertices, or of points that a hull is to be built of.
    pub fn size(&self) -> usize {
        match &self.source {
            Source::Registered(stored) => stored.polytope.vertices().len(),
            Source::Points(points) => points.len(),
        }
    }

    /// Whether a hull is to be built.
    pub fn is_given_by_points(&self) -> bool {
        matches!(self.source, Source::Points(_))
    }

    /// Builds what is to be built; takes a while.
    pub fn prepare(self) -> Result<ReadyBody, Failure> {
        let shape = match self.source {
            Source::Registered(stored) => Shape::Registered(stored),
            Source::Points(points) => {
                // The points were checked at the door.
                let hull = convex_hull(&points).map_err(|error| Failure::Bug(error.to_string()))?;
                Shape::Built(Arc::new(hull.polytope))
            }
        };
        Ok(ReadyBody { shape, pose: self.pose })
    }
}

impl ReadyBody {
    /// The polytope.
    pub fn polytope(&self) -> &Polytope {
        match &self.shape {
            Shape::Registered(stored) => &stored.polytope,
            Shape::Built(polytope) => polytope,
        }
    }

    /// The polytope and where it is.
    pub fn placed(&self) -> Placed<'_> {
        Placed { body: self.polytope(), pose: self.pose }
    }
}

/// An id, checked; kinds that are to come are told from nonsense.
pub fn id(path: &Path<'_>, text: &str) -> Result<PolytopeId, Failure> {
    if text.starts_with("m1-") || text.starts_with("c1-") {
        return Err(Failure::NotImplemented("polyhedra (m1-) and compounds (c1-)"));
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
