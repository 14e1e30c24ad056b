//! Bodies: a polytope or polyhedron by id or alias, or a polytope by its points; and where it is.

use std::sync::Arc;
use std::time::Duration;

use super::geometry;
use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::path::{NotImplemented, Path, WithinLimit};
use crate::rpc::status::Failure;
use crate::runtime::store::{Stored, StoredSolid};
use clearance_geometry::contact_time::Travel;
use clearance_geometry::contact_time::polyhedra::Moving;
use clearance_geometry::contact_time::polyhedra::proof::HulledBody;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{HullError, building_bytes_max, convex_hull_with};
use clearance_geometry::pair::Placed;
use clearance_geometry::polyhedron::Polyhedron;
use clearance_geometry::polytope::{Polytope, Tables};
use clearance_geometry::pose::Pose;
use clearance_geometry::{Vec3, claim};
use clearance_proto as api;

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

/// Why a body did not get ready.
#[derive(Debug)]
pub enum Unready {
    /// Its hull was not built in time. A question reports this like a search that stopped.
    Stopped(Stopped),
    /// The body itself is wrong.
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
    /// Its hull; the hull of a polytope is the polytope itself.
    hull: Arc<Polytope>,
    /// For a polytope: the facet that each triangle of its polyhedron is a part of.
    facets: Option<Vec<u32>>,
}

impl AskedBody {
    /// Checks everything that can be wrong with it.
    pub fn convert(
        path: &Path<'_>,
        wire: Option<&api::PlacedBody>,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        use api::placed_body::Source as Wire;
        let wire = wire.ok_or_else(|| path.bad("is required"))?;
        let source = wire.source.as_ref();
        let source = match source.ok_or_else(|| path.bad("needs id, alias or vertices"))? {
            Wire::Id(id) => {
                let stored = catalogue.by_id(&path.field("id"), id)?;
                Source::Registered(stored)
            }
            Wire::Alias(alias) => {
                let stored = catalogue.by_alias(&path.field("alias"), alias)?;
                Source::Registered(stored)
            }
            Wire::Vertices(points) => {
                let path = path.field("vertices");
                path.within(catalogue.limits.inline_points_max(), points.xyz.len() / 3)?;
                Source::Points(geometry::points(&path, points)?)
            }
            Wire::Compound(_) => {
                let missing = path.field("compound").not_implemented("compounds in questions");
                return Err(missing.into());
            }
        };
        let pose = geometry::pose(&path.field("pose"), wire.pose.as_ref())?;
        Ok(Self { source, pose })
    }

    /// Number of vertices, or of points that a hull is to be built of.
    pub fn size(&self) -> usize {
        match &self.source {
            Source::Registered(stored) => stored.solid.vertex_count(),
            Source::Points(points) => points.len(),
        }
    }

    /// Whether a hull is to be built.
    pub fn is_given_by_points(&self) -> bool {
        matches!(self.source, Source::Points(_))
    }

    /// Whether it is a polyhedron, which only some questions can be asked about.
    pub fn is_polyhedron(&self) -> bool {
        self.polyhedron().is_some()
    }

    /// A polyhedron with its hull.
    fn polyhedron(&self) -> Option<(&Arc<Polyhedron>, &Arc<Polytope>)> {
        let Source::Registered(stored) = &self.source else { return None };
        match &stored.solid {
            StoredSolid::Polyhedron { polyhedron, hull } => Some((polyhedron, hull)),
            StoredSolid::Polytope(_) => None,
        }
    }

    /// What the work on it takes beside the answer, bytes: its hull if that is to be built, and
    /// tables that are not built yet.
    pub fn working_bytes(&self, tables: Tables) -> u64 {
        match &self.source {
            Source::Registered(stored) => stored.bytes_to_build(tables),
            Source::Points(points) => {
                let tables = (tables.bytes_per_vertex() as u64).saturating_mul(points.len() as u64);
                hull_bytes(points.len()).saturating_add(tables)
            }
        }
    }

    /// What is made of it where polyhedra are asked about, bytes.
    pub fn solid_bytes(&self) -> u64 {
        /// A vertex with two triangles, their boxes in the tree, and the lists they are made from.
        const PER_VERTEX: u64 = 512;
        let made = if self.is_polyhedron() { 0 } else { PER_VERTEX };
        self.working_bytes(Tables::Nothing).saturating_add(made.saturating_mul(self.size() as u64))
    }

    /// Where it is.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The body somewhere else.
    pub fn placed_at(self, pose: Pose) -> Self {
        Self { pose, ..self }
    }

    /// Builds what is to be built of a polytope; takes a while. A polyhedron is represented by its
    /// hull, which was built when it was registered.
    pub fn prepare(self, effort: &mut Effort<'_>) -> Result<ReadyBody, Unready> {
        let polytope = match self.source {
            Source::Registered(stored) => stored.solid.hull().clone(),
            Source::Points(points) => Arc::new(hull_of_checked(&points, effort)?),
        };
        Ok(ReadyBody { polytope, pose: self.pose })
    }

    /// Builds what a judge of bodies of either kind needs; takes a while.
    pub fn prepare_to_judge(self, effort: &mut Effort<'_>) -> Result<JudgedBody, Unready> {
        if let Some((polyhedron, _)) = self.polyhedron() {
            return Ok(JudgedBody::Polyhedron { polyhedron: polyhedron.clone(), pose: self.pose });
        }
        self.prepare(effort).map(JudgedBody::Polytope)
    }

    /// Builds what a question about polyhedra needs, for which a polytope counts as one; takes a
    /// while. `field` is where the body was named.
    pub fn prepare_solid(
        self,
        field: &str,
        effort: &mut Effort<'_>,
    ) -> Result<ReadySolid, Unready> {
        if let Some((polyhedron, hull)) = self.polyhedron() {
            let (polyhedron, hull) = (polyhedron.clone(), hull.clone());
            return Ok(ReadySolid { polyhedron, pose: self.pose, hull, facets: None });
        }
        let ReadyBody { polytope, pose } = self.prepare(effort)?;
        let what = "a polytope without volume beside a polyhedron or among several bodies";
        let made = Polyhedron::of_polytope(&polytope);
        let refused = || NotImplemented { field: field.to_owned(), what }.into();
        let (polyhedron, facets) = made.ok_or_else(refused).map_err(Unready::Failed)?;
        let polyhedron = Arc::new(polyhedron);
        Ok(ReadySolid { polyhedron, pose, hull: polytope, facets: Some(facets) })
    }
}

/// The two bodies of a question.
pub fn bodies(
    path: &Path<'_>,
    p: Option<&api::PlacedBody>,
    q: Option<&api::PlacedBody>,
    catalogue: &Catalogue<'_>,
) -> Result<(AskedBody, AskedBody), Failure> {
    let convert = |name, wire| AskedBody::convert(&path.field(name), wire, catalogue);
    Ok((convert("p", p)?, convert("q", q)?))
}

/// The two bodies of a question that is about polytopes alone.
pub fn polytopes(
    path: &Path<'_>,
    p: Option<&api::PlacedBody>,
    q: Option<&api::PlacedBody>,
    catalogue: &Catalogue<'_>,
) -> Result<(AskedBody, AskedBody), Failure> {
    let (p, q) = bodies(path, p, q, catalogue)?;
    for (name, body) in [("p", &p), ("q", &q)] {
        if body.is_polyhedron() {
            let what = "this question about polyhedra";
            return Err(path.field(name).not_implemented(what).into());
        }
    }
    Ok((p, q))
}

/// How long it takes to build the hull of so many points: a generous guess.
pub fn hull_time(points: usize) -> Duration {
    const PER_POINT: Duration = Duration::from_micros(3);
    PER_POINT * u32::try_from(points).unwrap_or(u32::MAX)
}

/// What it takes to build the hull of so many points and to find out what else is told of it, bytes
/// at most.
pub fn hull_bytes(points: usize) -> u64 {
    building_bytes_max(points)
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

    /// The triangles that bound it; of a polytope those that its facets are made of.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        match self {
            Self::Polytope(body) => {
                let fan = |corners: &[u32]| -> Vec<[u32; 3]> {
                    let [first, rest @ ..] = corners else { return Vec::new() };
                    rest.array_windows().map(|[b, c]| [*first, *b, *c]).collect()
                };
                body.polytope().facets().rows().flat_map(fan).collect()
            }
            Self::Polyhedron { polyhedron, .. } => polyhedron.triangles().to_vec(),
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

    /// The polytope and where it is, to be kept.
    pub fn into_parts(self) -> (Arc<Polytope>, Pose) {
        (self.polytope, self.pose)
    }

    /// The polytope and where it is.
    pub fn placed(&self) -> Placed<'_> {
        Placed { body: self.polytope(), pose: self.pose }
    }
}

impl ReadySolid {
    /// The body on its way.
    pub fn moving(&self, travel: Travel) -> Moving<'_> {
        Moving { body: &self.polyhedron, pose: self.pose, travel }
    }

    /// The body as the search for proofs sees it.
    pub fn shape(&self) -> HulledBody<'_> {
        let Self { polyhedron, pose, hull, facets } = self;
        HulledBody { body: polyhedron, pose: *pose, hull, is_hull: facets.is_some() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull::samples::sphere;

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
