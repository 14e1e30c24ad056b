//! Rays at parts that are not convex, of which nobody asks for a proof: they go down the tree of
//! the part. What is found is what the search for all shapes finds.

use crate::placed::visitor::{ScenePart, Visitor};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::motion::Motion;
use clearance_geometry::rays::{Ray, RayAnswer, meet_field, meet_triangles};

/// What a shape that moves so meets of a part within a margin, if it is such a ray; else, and where
/// the walk down the tree cannot tell, that is left open.
#[inline]
pub(super) fn meet(
    start: &Visitor<'_>,
    motion: &Motion,
    margin: f64,
    part: &ScenePart<'_>,
    effort: &mut Effort<'_>,
) -> Result<RayAnswer, Stopped> {
    let Some(mesh) = part.mesh else { return Ok(RayAnswer::Open) };
    let is_plain = margin.abs() <= 0.0 && part.radius <= 0.0 && !start.proves();
    let &Motion::Linear { velocity } = motion else { return Ok(RayAnswer::Open) };
    // The point is then where the pose says, exactly.
    let is_point = start.point().is_some_and(|point| *point == Vec3::zeros());
    if !(is_plain && is_point) {
        return Ok(RayAnswer::Open);
    }
    let core = &start.core;
    let ray = Ray { point: core.body, from: core.pose.translation, by: velocity };
    match (&mesh.field, &mesh.mesh) {
        (Some(field), _) => meet_field(&ray, &field.field, &part.core.pose, effort),
        (None, Some(triangles)) => meet_triangles(&ray, triangles, &part.core.pose, effort),
        (None, None) => Ok(RayAnswer::Open),
    }
}
