//! All that a judge sees of a pair: points and where they are. No edges, no facets, no hierarchy,
//! so that nothing a judge says can rest on how a hull was built; points that are no vertices do no
//! harm.

use crate::Vec3;
use crate::pose::Pose;

/// The hull of some points, at least one, placed in the world.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// Certificates name them by their index.
    pub points: &'a [Vec3],
    /// From their frame to the world.
    pub pose: Pose,
}

impl Points<'_> {
    /// The least and the greatest coordinates, in the body.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let first = self.points[0];
        self.points.iter().fold((first, first), |(low, high), v| (low.inf(v), high.sup(v)))
    }
}

/// P and Q.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// The first body.
    pub p: Points<'a>,
    /// The second body.
    pub q: Points<'a>,
}
