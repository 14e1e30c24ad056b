//! Shapes by name: what is rounded as points, scaled, and the radius.

use super::{curved, geometry};
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_certificates::shape::{self, Scale};
use clearance_geometry::Vec3;
use clearance_geometry::pose::COORDINATE_MAX;
use clearance_proto as api;
use clearance_proto::rounded_shape::Core;
use clearance_runtime::settings::Limit;

/// Points, of whose hull each point has a ball of one radius around it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedPoints {
    /// In the body's own frame, metres.
    pub points: Vec<Vec3>,
    /// Metres; 0 of what is not rounded.
    pub radius: f64,
}

impl RoundedPoints {
    /// Checks a shape, whose points are no more than `points_max`.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::RoundedShape,
        points_max: Limit,
    ) -> Result<Self, Failure> {
        let radius = geometry::length(&path.field("radius"), wire.radius)?;
        let scale_path = path.field("scale");
        let scale = Scale::convert(&scale_path, wire.scale.as_ref())?;
        if wire.core.is_none() && scale.is_some_and(|scale| !scale.keeps_sizes()) {
            return Err(scale_path.bad("has nothing to scale: a radius is not scaled").into());
        }
        let mut points = core_points(path, wire.core.as_ref(), points_max)?;
        if let Some(scale) = scale {
            scale.apply(&scale_path, &mut points, COORDINATE_MAX)?;
        }
        Ok(Self { points, radius })
    }
}

/// The points whose hull is the core, not scaled.
fn core_points(
    path: &Path<'_>,
    core: Option<&Core>,
    points_max: Limit,
) -> Result<Vec<Vec3>, Failure> {
    if let Some(Core::Vertices(points)) = core {
        let path = path.field("vertices");
        path.within(points_max, points.xyz.len() / 3)?;
        return Ok(geometry::points(&path, points)?);
    }
    let problem = "a curved body is no hull of points";
    shape::core_points(path, core)?.ok_or_else(|| Failure::Bug(format!("{path}: {problem}")))
}

/// How many points a shape is given by.
pub fn point_count(wire: &api::RoundedShape) -> usize {
    match &wire.core {
        None => 1,
        Some(Core::Vertices(points)) => points.xyz.len() / 3,
        Some(Core::Length(_)) => 2,
        Some(Core::Box(_) | Core::HalfSpace(_)) => 8,
        Some(Core::Cylinder(_) | Core::Cone(_) | Core::Ellipsoid(_)) => curved::POINTS,
    }
}

impl From<Vec<Vec3>> for RoundedPoints {
    fn from(points: Vec<Vec3>) -> Self {
        Self { points, radius: 0.0 }
    }
}
