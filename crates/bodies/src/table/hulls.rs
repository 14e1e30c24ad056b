//! Two bodies that are ready for methods about convex bodies.

use crate::body::PlacedBody;
use clearance_geometry::pair::Pair;

/// P and Q, each its own hull.
#[derive(Clone, Debug)]
pub struct ReadyHulls([PlacedBody; 2]);

impl ReadyHulls {
    /// Nothing is built: hulls are ready as they are kept.
    pub(crate) fn new(bodies: [PlacedBody; 2]) -> Self {
        Self(bodies)
    }

    /// As every method takes them.
    pub(crate) fn pair(&self) -> Pair<'_> {
        let [p, q] = &self.0;
        Pair { p: p.hull(), q: q.hull() }
    }
}
