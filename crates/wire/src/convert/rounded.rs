//! Rounded shapes: what is rounded as points, and the radius.

use super::geometry;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_geometry::Vec3;
use clearance_proto as api;
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
        use api::rounded_shape::Core;
        let radius = geometry::length(&path.field("radius"), wire.radius)?;
        let points = match &wire.core {
            None => vec![Vec3::zeros()],
            Some(Core::Vertices(points)) => {
                let path = path.field("vertices");
                path.within(points_max, points.xyz.len() / 3)?;
                geometry::points(&path, points)?
            }
            Some(Core::Length(length)) => {
                let half = geometry::length(&path.field("length"), *length)? / 2.0;
                vec![Vec3::new(0.0, 0.0, -half), Vec3::new(0.0, 0.0, half)]
            }
            Some(Core::Box(sizes)) => {
                let path = path.field("box");
                let half =
                    |name, size| geometry::length(&path.field(name), size).map(|size| size / 2.0);
                corners(half("x", sizes.x)?, half("y", sizes.y)?, half("z", sizes.z)?)
            }
        };
        Ok(Self { points, radius })
    }
}

/// How many points a shape is given by.
pub fn point_count(wire: &api::RoundedShape) -> usize {
    use api::rounded_shape::Core;
    match &wire.core {
        None => 1,
        Some(Core::Vertices(points)) => points.xyz.len() / 3,
        Some(Core::Length(_)) => 2,
        Some(Core::Box(_)) => 8,
    }
}

impl From<Vec<Vec3>> for RoundedPoints {
    fn from(points: Vec<Vec3>) -> Self {
        Self { points, radius: 0.0 }
    }
}

fn corners(x: f64, y: f64, z: f64) -> Vec<Vec3> {
    let ends = |half: f64| [-half, half];
    let along_z = |x: f64, y: f64| ends(z).map(|z| Vec3::new(x, y, z));
    ends(x).iter().flat_map(|x| ends(y).map(|y| along_z(*x, y))).flatten().collect()
}
