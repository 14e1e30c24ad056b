//! Bodies: a polytope or polyhedron by id or alias, or a polytope by its points; and where it is.

use std::sync::Arc;
use std::time::Duration;

use super::{BadField, Path, geometry};
use crate::geometry::contact_time::Travel;
use crate::geometry::contact_time::polyhedra::proof::Shape;
use crate::geometry::contact_time::polyhedra::{Moving, Polyhedron};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::hull::{HullError, convex_hull_with};
use crate::geometry::ids::PolytopeId;
use crate::geometry::motion::Motion;
use crate::geometry::pair::Placed;
use crate::geometry::polytope::Polytope;
use crate::geometry::pose::{COORDINATE_MAX, Pose};
use crate::geometry::{Vec3, claim};
use crate::rpc::api;
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

/// A body of several parts as it was claimed about; of one part as well.
#[derive(Clone, Debug)]
pub struct AskedParts {
    /// Each where it is in the world: its twelve numbers.
    parts: Vec<AskedBody>,
    /// Where they are in the body, if it is a compound.
    in_body: Option<Vec<Pose>>,
    /// Where the body is.
    pose: Pose,
}

/// Why a body did not get ready.
#[derive(Debug)]
pub enum Unready {
    /// Its hull was not built in time. A question says so as of a search that stopped.
    Stopped(Stopped),
    /// There is something wrong.
    Failed(Failure),
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
        wire: Option<&api::PlacedBody>,
        shared: &Shared,
    ) -> Result<Self, Failure> {
        use api::placed_body::Source as Wire;
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

    /// Builds what is to be built of a polytope; takes a while. Of a polyhedron it is the hull that
    /// is ready.
    pub fn prepare(self, effort: &mut Effort<'_>) -> Result<ReadyBody, Unready> {
        let polytope = match self.source {
            Source::Registered(
                Solid::Polytope(polytope) | Solid::Polyhedron { hull: polytope, .. },
            ) => polytope,
            Source::Points(points) => Arc::new(hull_of_checked(&points, effort)?),
        };
        Ok(ReadyBody { polytope, pose: self.pose })
    }

    /// The same for a judge of bodies of either kind.
    pub fn prepare_to_judge(self, effort: &mut Effort<'_>) -> Result<JudgedBody, Unready> {
        if let Source::Registered(Solid::Polyhedron { polyhedron, .. }) = self.source {
            return Ok(JudgedBody::Polyhedron { polyhedron, pose: self.pose });
        }
        self.prepare(effort).map(JudgedBody::Polytope)
    }

    /// The same for a question about polyhedra, where a polytope counts as one; takes a while.
    /// `field` is where the body was named.
    pub fn prepare_solid(
        self,
        field: &str,
        effort: &mut Effort<'_>,
    ) -> Result<ReadySolid, Unready> {
        if let Source::Registered(Solid::Polyhedron { polyhedron, hull }) = self.source {
            return Ok(ReadySolid { polyhedron, pose: self.pose, hull, facets: None });
        }
        let ReadyBody { polytope, pose } = self.prepare(effort)?;
        let what = "a polytope without volume beside a polyhedron or among several bodies";
        let made = Polyhedron::of_polytope(&polytope);
        let refused = || Failure::NotImplemented { field: field.to_owned(), what };
        let (polyhedron, facets) = made.ok_or_else(refused).map_err(Unready::Failed)?;
        let polyhedron = Arc::new(polyhedron);
        Ok(ReadySolid { polyhedron, pose, hull: polytope, facets: Some(facets) })
    }
}

impl AskedParts {
    /// Checks everything that can be wrong with it.
    pub fn convert(
        path: &Path<'_>,
        wire: Option<&api::PlacedBody>,
        shared: &Shared,
    ) -> Result<Self, Failure> {
        let source = wire.and_then(|wire| wire.source.as_ref());
        let Some(api::placed_body::Source::Compound(compound)) = source else {
            let body = AskedBody::convert(path, wire, shared)?;
            return Self::new(vec![body], None, path);
        };
        let pose = geometry::pose(&path.field("pose"), wire.and_then(|wire| wire.pose.as_ref()))?;
        let compound_path = path.field("compound");
        let list = compound_path.field("parts");
        if compound.parts.is_empty() {
            return Err(list.bad("must be one at least").into());
        }
        let limits = &shared.settings.limits;
        within_limit!(list, limits, compound.parts.len(), parts_per_body_max)?;
        let mut in_body = Vec::with_capacity(compound.parts.len());
        let mut parts = Vec::with_capacity(compound.parts.len());
        for (index, part) in compound.parts.iter().enumerate() {
            let path = list.index(index);
            let mut part = AskedBody::convert(&path, Some(part), shared)?;
            in_body.push(part.pose);
            part.pose = composed(&path, &pose, &part.pose)?;
            parts.push(part);
        }
        let made = Self::new(parts, Some(in_body), &list)?;
        Ok(Self { pose, ..made })
    }

    fn new(
        parts: Vec<AskedBody>,
        in_body: Option<Vec<Pose>>,
        path: &Path<'_>,
    ) -> Result<Self, Failure> {
        if parts.iter().any(AskedBody::is_polyhedron) {
            return Err(path.not_implemented("polyhedra beside or in compounds"));
        }
        let pose = parts.first().map_or_else(Pose::identity, |part| part.pose);
        Ok(Self { parts, in_body, pose })
    }

    /// Whether it was given as a compound, of one part or of several.
    pub fn is_compound(&self) -> bool {
        self.in_body.is_some()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// How each part moves when the body does. Parts turn about the body's pivot and by the body's
    /// turn, or they would drift apart.
    pub fn motions(&self, path: &Path<'_>, of_body: &Motion) -> Result<Vec<Motion>, BadField> {
        let Some(in_body) = &self.in_body else { return Ok(vec![*of_body]) };
        let origin = self.pose.translation;
        let of_part = |part: &Pose| match *of_body {
            Motion::Linear { velocity } => Ok(Motion::Linear { velocity }),
            Motion::Screw { pivot, velocity, axis, angle } => {
                Ok(Motion::Screw { pivot: pivot.or(Some(origin)), velocity, axis, angle })
            }
            Motion::ToPose { end, pivot, turn } => {
                let turn = Some(Motion::turn_to(&self.pose, &end, &turn));
                let end = composed(path, &end, part)?;
                Ok(Motion::ToPose { end, pivot: pivot.or(Some(origin)), turn })
            }
        };
        in_body.iter().map(of_part).collect()
    }

    /// Builds what is to be built; takes a while.
    pub fn prepare(self, effort: &mut Effort<'_>) -> Result<Vec<ReadyBody>, Unready> {
        self.parts.into_iter().map(|part| part.prepare(effort)).collect()
    }
}

/// How long it takes to build the hull of so many points: a generous guess.
pub fn hull_time(points: usize) -> Duration {
    const PER_POINT: Duration = Duration::from_micros(3);
    PER_POINT * u32::try_from(points).unwrap_or(u32::MAX)
}

/// The hull of points that were checked at the door, with what nearly every question needs of it.
pub fn hull_of_checked(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Polytope, Unready> {
    match convex_hull_with(points, effort) {
        Ok(hull) => {
            hull.polytope.prepare_reach(effort).map_err(Unready::Stopped)?;
            Ok(hull.polytope)
        }
        Err(HullError::Stopped(why)) => Err(Unready::Stopped(why)),
        Err(
            error @ (HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. }),
        ) => Err(Unready::Failed(Failure::Bug(error.to_string()))),
    }
}

impl From<Unready> for Failure {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Stopped(_) => Self::Deadline,
            Unready::Failed(failure) => failure,
        }
    }
}

/// Where a part is when its body is at `pose`.
fn composed(path: &Path<'_>, pose: &Pose, part: &Pose) -> Result<Pose, BadField> {
    let placed = pose.compose(part);
    let is_in_range = placed.translation.iter().all(|c| c.abs() <= COORDINATE_MAX);
    is_in_range.then_some(placed).ok_or_else(|| path.bad("lies beyond the largest coordinate"))
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
    pub fn solid(&self) -> claim::Solid<'_> {
        let (points, pose, triangles) = match self {
            Self::Polytope(body) => (body.polytope().vertices(), body.pose, None),
            Self::Polyhedron { polyhedron, pose } => {
                (polyhedron.vertices(), *pose, Some(polyhedron.triangles()))
            }
        };
        let points = claim::Points { points, pose };
        claim::Solid { points, triangles }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::polytope::samples::sphere;

    /// The hull of points in a question was built to its end, for callers that had gone too.
    #[test]
    fn points_in_a_question_are_made_a_hull_of_no_longer_than_the_effort_lasts() {
        let points = sphere(500, 1.0);
        let asked = AskedBody { source: Source::Points(points), pose: Pose::identity() };
        let mut effort = Effort::unlimited();
        let ready = asked.clone().prepare(&mut effort).expect("no limit");
        assert_eq!(ready.polytope().vertices().len(), 500);
        assert!(effort.cost.steps > 2, "{:?}", effort.cost);
        for steps in 0..effort.cost.steps {
            let stopped = asked.clone().prepare(&mut Effort::with_steps(steps));
            assert!(matches!(stopped, Err(Unready::Stopped(_))), "{steps}");
        }
    }
}
