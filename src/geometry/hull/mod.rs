//! Convex hulls of finite point sets in every dimension 0 to 3, on exact predicates.

use super::Vec3;
use super::polytope::Polytope;

/// A hull and what became of each point that was given.
#[derive(Clone, Debug)]
pub struct Hull {
    /// The hull.
    pub polytope: Polytope,
    /// For each given point, the vertex it is (a duplicate names the same vertex), or none when it
    /// is not extreme.
    pub vertex_of_given: Vec<Option<u32>>,
}

/// Why a set of points has no hull here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HullError {
    /// There is no point.
    #[error("at least one point is needed")]
    Empty,
    /// A coordinate is NaN, infinite or beyond 2^960.
    #[error("point {index} must be finite and at most 2^960 in every coordinate")]
    BadPoint {
        /// Index of the first such point.
        index: usize,
    },
}

/// The convex hull of `points`: exact extreme points, exact merged facets.
pub fn convex_hull(points: &[Vec3]) -> Result<Hull, HullError> {
    let _ = points;
    todo!("hull")
}
