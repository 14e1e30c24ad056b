//! A convex part where it is: one of the scene, or one that the scene is asked about.

use crate::bounds::Box3;
use crate::declared::body::Part;
use clearance_geometry::Vec3;
use clearance_geometry::pair::Placed;
use clearance_geometry::pose::Pose;

/// A polytope where it is, with balls around all its points.
#[derive(Clone, Copy, Debug)]
pub struct Visitor<'a> {
    /// The polytope. Of a ray: a point.
    pub core: Placed<'a>,
    /// The radius of the balls, metres; of a polytope itself 0.
    pub radius: f64,
}

impl<'a> From<Placed<'a>> for Visitor<'a> {
    fn from(core: Placed<'a>) -> Self {
        Self { core, radius: 0.0 }
    }
}

impl<'a> Visitor<'a> {
    /// Holds it.
    pub(crate) fn held(&self) -> Box3 {
        let core = Box3::of_placed(self.core.body, &self.core.pose);
        if self.radius > 0.0 { core.inflated(self.radius) } else { core }
    }

    /// Somewhere else.
    pub(crate) fn at(self, pose: Pose) -> Self {
        Self { core: Placed { pose, ..self.core }, ..self }
    }

    /// Its only point, if it has no more.
    pub(crate) fn point(&self) -> Option<&Vec3> {
        match self.core.body.vertices() {
            [point] if self.radius <= 0.0 => Some(point),
            _ => None,
        }
    }
}

impl Part {
    /// It where it is.
    pub(crate) fn at(&self, pose: Pose) -> Visitor<'_> {
        Visitor { core: Placed { body: &self.polytope, pose }, radius: self.radius }
    }
}
