//! Compounds: bodies of several convex parts that move as one.

use super::body::{AskedBody, Unready};
use super::catalogue::Catalogue;
use super::geometry;
use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::place::Place;
use clearance_geometry::effort::Effort;
use clearance_geometry::motion::Motion;
use clearance_geometry::pose::{COORDINATE_MAX, Pose};
use clearance_proto as api;

/// A body as it was claimed about: a compound of several parts, or a body of one part.
#[derive(Clone, Debug)]
pub struct AskedParts {
    /// Each where it is in the world: its twelve numbers.
    parts: Vec<AskedBody>,
    /// Where they are in the body, if it is a compound.
    in_body: Option<Vec<Pose>>,
    /// Where the body is.
    pose: Pose,
}

impl AskedParts {
    /// Checks everything that can be wrong with it.
    pub fn convert(
        path: &Path<'_>,
        wire: Option<&api::PlacedBody>,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let source = wire.and_then(|wire| wire.source.as_ref());
        let Some(api::placed_body::Source::Compound(compound)) = source else {
            let body = AskedBody::convert(path, wire, catalogue)?;
            return Self::new(vec![body], None, path);
        };
        let pose = geometry::pose(&path.field("pose"), wire.and_then(|wire| wire.pose.as_ref()))?;
        let compound_path = path.field("compound");
        let list = compound_path.field("parts");
        if compound.parts.is_empty() {
            return Err(list.bad("must be one at least").into());
        }
        list.within(catalogue.limits.parts_per_body_max(), compound.parts.len())?;
        let mut in_body = Vec::with_capacity(compound.parts.len());
        let mut parts = Vec::with_capacity(compound.parts.len());
        for (index, part) in compound.parts.iter().enumerate() {
            let path = list.index(index);
            let part = AskedBody::convert(&path, Some(part), catalogue)?;
            let in_body_pose = *part.pose();
            in_body.push(in_body_pose);
            parts.push(part.placed_at(composed(&path, &pose, &in_body_pose)?));
        }
        let made = Self::new(parts, Some(in_body), &list)?;
        Ok(Self { pose, ..made })
    }

    fn new(
        parts: Vec<AskedBody>,
        in_body: Option<Vec<Pose>>,
        path: &Path<'_>,
    ) -> Result<Self, Failure> {
        for part in &parts {
            Place::Compound
                .takes(part.kind())
                .map_err(|refused| path.not_implemented(refused.what))?;
        }
        let pose = parts.first().map_or_else(Pose::identity, |part| *part.pose());
        Ok(Self { parts, in_body, pose })
    }

    /// Whether it was given as a compound, of one part or of several.
    pub fn is_compound(&self) -> bool {
        self.in_body.is_some()
    }

    /// Each of them.
    pub fn parts(&self) -> &[AskedBody] {
        &self.parts
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
    pub fn prepare(self, effort: &mut Effort<'_>) -> Result<Vec<PlacedBody>, Unready> {
        self.parts.into_iter().map(|part| part.prepare(effort)).collect()
    }
}

/// Where a part is when its body is at `pose`.
fn composed(path: &Path<'_>, pose: &Pose, part: &Pose) -> Result<Pose, BadField> {
    let placed = pose.compose(part);
    let is_in_range = placed.translation.iter().all(|c| c.abs() <= COORDINATE_MAX);
    is_in_range.then_some(placed).ok_or_else(|| path.bad("lies beyond the largest coordinate"))
}
