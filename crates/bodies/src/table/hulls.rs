//! Two bodies that are ready for methods about convex bodies.

use crate::body::PlacedBody;
use clearance_geometry::pair::Pair;
use clearance_geometry::rounded::RoundedPair;

/// P and Q, each its own hull, or the hull that is rounded.
#[derive(Clone, Debug)]
pub struct ReadyHulls([PlacedBody; 2]);

impl ReadyHulls {
    /// Nothing is built: hulls are ready as they are kept.
    pub(crate) fn new(bodies: [PlacedBody; 2]) -> Self {
        Self(bodies)
    }

    /// The bodies themselves.
    pub(crate) fn bodies(&self) -> &[PlacedBody; 2] {
        &self.0
    }

    /// As every method takes them.
    pub(crate) fn pair(&self) -> Pair<'_> {
        let [p, q] = &self.0;
        Pair { p: p.hull(), q: q.hull() }
    }

    /// With the radii by which they are rounded.
    pub(crate) fn rounded(&self) -> RoundedPair<'_> {
        let radii = self.0.each_ref().map(|placed| placed.body.radius());
        RoundedPair { cores: self.pair(), radii }
    }
}
