//! Bodies: one that is registered, by id or alias, or one by its points; and where it is.

use std::sync::Arc;
use std::time::Duration;

use super::geometry;
use crate::convert::catalogue::Catalogue;
use crate::convert::curved::{self, CurvedShape};
use crate::convert::rounded::RoundedPoints;
use crate::path::{NotImplemented, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::table::place::Place;
use clearance_bodies::table::{Needs, NotAnswered};
use clearance_bodies::{Body, Kind, PlacedBody, Tables};
use clearance_geometry::Vec3;
use clearance_geometry::claim::CurvedCore;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::HullError;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_runtime::compute::costs::{HULL_POINT, times};
use clearance_runtime::store::Stored;

/// A body as it was asked about; the hull of given points is still to be built.
#[derive(Clone, Debug)]
pub struct AskedBody {
    source: Source,
    pose: Pose,
}

#[derive(Clone, Debug)]
enum Source {
    Registered(Arc<Stored>),
    Points(RoundedPoints),
    Curved(CurvedShape),
}

/// Why a body did not get ready.
#[derive(Debug)]
pub enum Unready {
    /// Its hull was not built in time. A question reports this like a search that stopped.
    Stopped(Stopped),
    /// The body itself is wrong.
    Failed(Failure),
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
                Source::Points(geometry::points(&path, points)?.into())
            }
            Wire::Rounded(shape) => {
                let (path, limit) = (path.field("rounded"), catalogue.limits.inline_points_max());
                match CurvedShape::convert(&path, shape)? {
                    Some(curved) => Source::Curved(curved),
                    None => Source::Points(RoundedPoints::convert(&path, shape, limit)?),
                }
            }
            Wire::Compound(_) => {
                let missing = path.field("compound").not_implemented("compounds in questions");
                return Err(missing.into());
            }
        };
        let pose = geometry::pose(&path.field("pose"), wire.pose.as_ref())?;
        Ok(Self { source, pose })
    }

    /// The hull of points that were checked, with balls of this radius around it, metres.
    pub fn of_checked(points: Vec<Vec3>, radius: f64, pose: Pose) -> Self {
        Self { source: Source::Points(RoundedPoints { points, radius }), pose }
    }

    /// What it is without its radius, as judges see it, and its radius, if it is curved.
    pub fn curved(&self) -> Option<(CurvedCore, f64)> {
        match &self.source {
            Source::Registered(stored) => {
                stored.body.curved_core().map(|core| (core, stored.body.radius()))
            }
            Source::Curved(shape) => Some((shape.core(), shape.radius())),
            Source::Points(_) => None,
        }
    }

    /// Number of vertices, or of points that a hull is to be built of.
    pub fn size(&self) -> usize {
        match &self.source {
            Source::Registered(stored) => stored.body.vertices().len(),
            Source::Points(given) => given.points.len(),
            Source::Curved(_) => curved::POINTS,
        }
    }

    /// Whether a hull is to be built.
    pub fn is_given_by_points(&self) -> bool {
        matches!(self.source, Source::Points(_) | Source::Curved(_))
    }

    /// How long it takes to build what is not registered of it.
    pub fn time_to_build(&self) -> Duration {
        let points = if self.is_given_by_points() { self.size() } else { 0 };
        times(HULL_POINT, points)
    }

    /// Its kind, by which the table says what it can be asked about.
    pub fn kind(&self) -> Kind {
        match &self.source {
            Source::Registered(stored) => stored.body.kind(),
            Source::Points(given) => Kind::of_points(given.radius),
            Source::Curved(curved) => curved.kind(),
        }
    }

    /// What the work on it takes beside the answer, bytes: its hull if that is to be built, and
    /// what a question needs of it.
    pub fn working_bytes(&self, needs: Needs) -> u64 {
        let built = match &self.source {
            Source::Registered(stored) => stored.bytes_to_build(needs.tables),
            Source::Points(given) => Body::bytes_of_points(given.points.len(), needs.tables),
            Source::Curved(_) => hull_bytes(curved::POINTS),
        };
        built.saturating_add(needs.bytes_made(self.kind(), self.size()))
    }

    /// Where it is.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The body somewhere else.
    pub fn placed_at(self, pose: Pose) -> Self {
        Self { pose, ..self }
    }

    /// Builds the hull of given points; takes a while.
    pub fn prepare(self, effort: &mut Effort<'_>) -> Result<PlacedBody, Unready> {
        let body = match self.source {
            Source::Registered(stored) => stored.body.clone(),
            Source::Points(given) => body_of_checked(&given.points, effort)?.rounded(given.radius),
            Source::Curved(curved) => body_of_curved(&curved, effort)?,
        };
        Ok(PlacedBody { body, pose: self.pose })
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

/// The kinds of the two bodies of a question.
pub fn kinds(p: &AskedBody, q: &AskedBody) -> [Kind; 2] {
    [p.kind(), q.kind()]
}

/// A body for a place that takes some kinds only; `path` is where it was named.
pub fn body_for(
    place: Place,
    path: &Path<'_>,
    wire: Option<&api::PlacedBody>,
    catalogue: &Catalogue<'_>,
) -> Result<AskedBody, Failure> {
    let body = AskedBody::convert(path, wire, catalogue)?;
    place.takes(body.kind()).map_err(|refused| path.not_implemented(refused.what))?;
    Ok(body)
}

/// What a question asks for that is not answered about its bodies; `path` is that of the question.
pub fn not_answered(path: &Path<'_>, refused: &NotAnswered) -> NotImplemented {
    path.field(refused.field).not_implemented(refused.with_instead())
}

/// What it takes to build the hull of so many points and to find out what else is told of it, bytes
/// at most.
pub fn hull_bytes(points: usize) -> u64 {
    Body::bytes_of_points(points, Tables::Nothing)
}

/// What becomes of points that were checked at the door, with what nearly every question needs of
/// it.
pub fn body_of_checked(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Body, Unready> {
    Body::of_points(points, effort).map_err(|error| unready(&error))
}

/// What becomes of a curved body that was checked at the door.
pub fn body_of_curved(asked: &CurvedShape, effort: &mut Effort<'_>) -> Result<Body, Unready> {
    asked.build(effort).map_err(|error| unready(&error))
}

/// Why what was checked at the door did not get ready.
fn unready(error: &HullError) -> Unready {
    match error {
        HullError::Stopped(why) => Unready::Stopped(*why),
        HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
            Unready::Failed(Failure::Bug(error.to_string()))
        }
    }
}

/// For what was checked where its field was known.
impl From<NotAnswered> for Failure {
    fn from(refused: NotAnswered) -> Self {
        not_answered(&Path::ROOT, &refused).into()
    }
}

impl From<Failure> for Unready {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
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

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull::samples::sphere;

    /// The hull of points in a question was built to its end, for callers that had gone too.
    #[test]
    fn points_in_a_question_are_made_a_hull_of_no_longer_than_the_effort_lasts() {
        let points = sphere(500, 1.0);
        let asked = AskedBody { source: Source::Points(points.into()), pose: Pose::identity() };
        let mut effort = Effort::unlimited();
        let ready = asked.clone().prepare(&mut effort).expect("no limit");
        assert_eq!(ready.body.vertices().len(), 500);
        assert!(effort.cost.steps > 2, "{:?}", effort.cost);
        for steps in 0..effort.cost.steps {
            let stopped = asked.clone().prepare(&mut Effort::with_steps(steps));
            assert!(matches!(stopped, Err(Unready::Stopped(_))), "{steps}");
        }
    }
}
