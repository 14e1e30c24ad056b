//! Bodies of cells: what stands still, and what robots carry.

use std::sync::Arc;

use super::clouds::{AskedCloud, cloud_of};
use super::digested::Digested;
use crate::convert::body::body_of_curved;
use crate::convert::catalogue::Catalogue;
use crate::convert::curved::{self, CurvedShape};
use crate::convert::geometry::{points, pose, signed_length, vector};
use crate::convert::rounded::RoundedPoints;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_bodies::table::place::{Place, cloud_of_body};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::HullError;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_proto::robot_obstacle::Shape as Wire;
use clearance_proto::rounded_shape::Core;
use clearance_robot::body::PartBody;
use clearance_runtime::settings::{Limit, Limits};
use clearance_runtime::store::Stored;

/// A body as it was asked for.
#[derive(Debug)]
pub(super) struct AskedBody {
    pub(super) shape: ObstacleShape,
    pub(super) pose: Pose,
    /// Its share in the margins of its pairs, metres.
    pub(super) padding: f64,
}

/// What a body is; hulls are still to be built.
#[derive(Debug)]
pub(super) enum ObstacleShape {
    Registered(Arc<Stored>),
    Points(Vec<Vec3>),
    Rounded(RoundedPoints),
    Curved(CurvedShape),
    /// By its half sizes.
    Box(Vec3),
    Cloud(AskedCloud),
    RegisteredCloud(Arc<Stored>),
}

/// Bytes of a box that are digested: a tag, its sizes and its pose.
pub(super) const OBSTACLE_BYTES: usize = 1 + 16 * 8;

/// What the bodies of a cell may still have.
#[derive(Debug)]
pub(super) struct PointsLeft {
    inline: Limit,
    cloud: Limit,
}

impl PointsLeft {
    /// All that the limits allow.
    pub(super) fn all(limits: &Limits) -> Self {
        Self { inline: limits.inline_points_max(), cloud: limits.cloud_points_max() }
    }
}

impl AskedBody {
    /// Checks everything that can be wrong with a body in this place.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: &api::RobotObstacle,
        place: Place,
        catalogue: &Catalogue<'_>,
        left: &mut PointsLeft,
    ) -> Result<Self, Failure> {
        let rounded = path.field("rounded");
        let inline = match &wire.shape {
            Some(Wire::Vertices(given)) => Some((path.field("vertices"), given)),
            Some(Wire::Rounded(api::RoundedShape {
                core: Some(Core::Vertices(given)), ..
            })) => Some((rounded.field("vertices"), given)),
            _ => None,
        };
        if let Some((path, given)) = inline {
            let count = given.xyz.len() / 3;
            path.within(left.inline, count)?;
            left.inline.value -= count as u64;
        }
        let shape = match &wire.shape {
            Some(Wire::Cloud(_)) if place == Place::RobotPart => {
                let what = "clouds that a robot carries";
                return Err(path.field("cloud").not_implemented(what).into());
            }
            Some(Wire::Cloud(given)) => {
                ObstacleShape::Cloud(cloud_of(&path.field("cloud"), given, &mut left.cloud)?)
            }
            _ => obstacle_shape(path, wire, place, catalogue, &mut left.cloud)?,
        };
        let pose = pose(&path.field("pose"), wire.pose.as_ref())?;
        let padding = signed_length(&path.field("padding"), wire.padding)?;
        Ok(Self { shape, pose, padding })
    }

    /// Adds every number and name that decides what is built.
    pub(super) fn digest_into(&self, digested: &mut Digested) {
        match &self.shape {
            ObstacleShape::Registered(stored) | ObstacleShape::RegisteredCloud(stored) => {
                digested.tag(0);
                digested.content(&stored.id);
            }
            ObstacleShape::Points(points) => {
                digested.tag(1);
                digested.size(points.len());
                points.iter().for_each(|point| digested.vector(point));
            }
            ObstacleShape::Box(half) => {
                digested.tag(2);
                digested.vector(half);
            }
            ObstacleShape::Rounded(RoundedPoints { points, radius }) => {
                digested.tag(4);
                digested.number(*radius);
                digested.size(points.len());
                points.iter().for_each(|point| digested.vector(point));
            }
            ObstacleShape::Curved(curved) => {
                digested.tag(5);
                let (form, numbers) = curved.numbers();
                digested.tag(form);
                numbers.into_iter().for_each(|number| digested.number(number));
            }
            ObstacleShape::Cloud(cloud) => {
                digested.tag(3);
                digested.number(cloud.radius);
                digested.size(cloud.points.len());
                cloud.points.iter().for_each(|point| digested.vector(point));
            }
        }
        digested.pose(&self.pose);
        digested.number(self.padding);
    }
}

impl ObstacleShape {
    /// How many hulls there are to build, about.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Registered(_) => 1,
            Self::Points(points) => points.len(),
            Self::Rounded(rounded) => rounded.points.len(),
            Self::Curved(_) => curved::POINTS,
            Self::Box(_) => 8,
            Self::Cloud(_) | Self::RegisteredCloud(_) => 1,
        }
    }

    /// How many points of a cloud it has.
    pub(super) fn cloud_points(&self) -> usize {
        match self {
            Self::Cloud(cloud) => cloud.points.len(),
            Self::RegisteredCloud(stored) => stored.body.vertices().len(),
            Self::Registered(_)
            | Self::Points(_)
            | Self::Rounded(_)
            | Self::Curved(_)
            | Self::Box(_) => 0,
        }
    }

    /// The registered body, if it is one and no cloud.
    pub(super) fn registered(&self) -> Option<&Arc<Stored>> {
        match self {
            Self::Registered(stored) => Some(stored),
            Self::Points(_)
            | Self::Rounded(_)
            | Self::Curved(_)
            | Self::Box(_)
            | Self::Cloud(_)
            | Self::RegisteredCloud(_) => None,
        }
    }

    /// Builds it; takes a while.
    pub(super) fn build(
        self,
        path: &Path<'_>,
        place: Place,
        effort: &mut Effort<'_>,
    ) -> Result<PartBody, Failure> {
        let of_points = |points: &[Vec3], effort: &mut Effort<'_>| {
            Body::of_points(points, effort).map_err(|error| match error {
                HullError::Stopped(_) => Failure::Deadline,
                HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
                    path.bad(error.to_string()).into()
                }
            })
        };
        let body = match self {
            Self::Cloud(cloud) => return cloud.build(&path.field("cloud"), effort),
            Self::RegisteredCloud(stored) => {
                return AskedCloud::of_registered(&stored.body).build(path, effort);
            }
            Self::Registered(stored) => {
                stored.body.prepare(effort).map_err(|_| Failure::Deadline)?;
                stored.body.clone()
            }
            Self::Points(points) => of_points(&points, effort)?,
            Self::Box(half) => of_points(&corners(&half), effort)?,
            Self::Rounded(RoundedPoints { points, radius }) => {
                of_points(&points, effort)?.rounded(radius)
            }
            Self::Curved(curved) => body_of_curved(&curved, effort).map_err(Failure::from)?,
        };
        let body = PartBody::in_place(&body, place);
        body.map_err(|refused| path.not_implemented(refused.what).into())
    }
}

/// The corners of a box around the origin.
fn corners(half: &Vec3) -> Vec<Vec3> {
    let corner = |i: u32| Vec3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
    (0..8).map(corner).collect()
}

fn obstacle_shape(
    path: &Path<'_>,
    obstacle: &api::RobotObstacle,
    place: Place,
    catalogue: &Catalogue<'_>,
    cloud_points_left: &mut Limit,
) -> Result<ObstacleShape, Failure> {
    let shape = obstacle.shape.as_ref();
    let stored =
        match shape.ok_or_else(|| path.bad("needs id, alias, vertices, box, rounded or cloud"))? {
            Wire::Vertices(given) => {
                return Ok(ObstacleShape::Points(points(&path.field("vertices"), given)?));
            }
            Wire::Box(size) => {
                let path = path.field("box");
                let size = vector(&path, Some(size))?;
                if !size.iter().all(|length| *length > 0.0) {
                    return Err(path.bad("needs three positive sizes").into());
                }
                return Ok(ObstacleShape::Box(size * 0.5));
            }
            Wire::Rounded(shape) => {
                let most = catalogue.limits.inline_points_max();
                let path = path.field("rounded");
                if let Some(curved) = CurvedShape::convert(&path, shape)? {
                    return Ok(ObstacleShape::Curved(curved));
                }
                let rounded = RoundedPoints::convert(&path, shape, most)?;
                return Ok(ObstacleShape::Rounded(rounded));
            }
            Wire::Cloud(_) => return Err(path.field("cloud").bad("is read on its own").into()),
            Wire::Id(id) => catalogue.by_id(&path.field("id"), id)?,
            Wire::Alias(alias) => catalogue.by_alias(&path.field("alias"), alias)?,
        };
    let taken = place.takes(stored.body.kind());
    taken.map_err(|refused| path.not_implemented(refused.what))?;
    let Some((points, _)) = cloud_of_body(&stored.body) else {
        return Ok(ObstacleShape::Registered(stored));
    };
    path.within(*cloud_points_left, points.len())?;
    cloud_points_left.value -= points.len() as u64;
    Ok(ObstacleShape::RegisteredCloud(stored))
}
