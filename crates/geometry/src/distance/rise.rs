//! How much farther than some of its vertices a body reaches along a direction that is only nearly
//! known.
//!
//! The vertices beyond any height along a direction are connected by edges (it is the simplex
//! method's way up). So from a vertex, every vertex that is not certainly lower is reached over
//! such vertices alone; where the direction is not nearly orthogonal to an edge, there is none.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::difference::bounded::STRETCH;
use crate::effort::Effort;
use crate::kernel;
use crate::number::double::{Real, Triple, dot, rounded};
use crate::number::rounding::{OUTWARD, UNIT};
use crate::polytope::Polytope;
use crate::support::{self, NeighboursBut};

/// Up to so many vertices of a body, all are looked at: the walk over those that are level, as
/// round the base of a cone, would take longer.
const FEW: usize = 64;
/// Vertices that may be level before all are looked at instead.
const LEVEL_MAX: usize = 32;

/// One to three vertices that are equally far, the first again where there are fewer.
pub(super) type Level = [u32; 3];

/// See the module.
pub(super) struct Rise<'a, N> {
    body: &'a Polytope,
    /// The direction in the body's frame, as computed.
    along: Triple<N>,
    rounded: Vec3,
    /// At least the direction's length.
    length: f64,
    /// Error of a product with an edge, in units of the length times the edge's.
    tilt: f64,
}

impl<'a, N: Real> Rise<'a, N> {
    /// `along` is `Rᵀs`, computed; the true direction is off by at most `error` when both have
    /// length one, and s has at most this `length`.
    ///
    /// A product of `along` with an edge has eight roundings: three of `along`, one of the edge and
    /// four of the product. R stretches the edge by [`STRETCH`] at most.
    #[inline(always)]
    pub(super) fn new(body: &'a Polytope, along: Triple<N>, length: f64, error: f64) -> Self {
        let tilt = (8.0 * N::UNIT + error * STRETCH) * OUTWARD;
        Self { body, along, rounded: rounded(&along), length, tilt }
    }

    /// How much lower a rounded product of the rounded direction must be to be certainly lower. No
    /// vertex is farther than `radius` from the body's origin.
    ///
    /// Products of the rounded direction with both vertices (3 roundings each, of at most the
    /// radius), their difference (of at most twice that) and the direction itself (the same); and
    /// the tilt, with an edge of at most 2√3 radii in the sum of its components.
    #[inline(always)]
    fn certain(&self, radius: f64) -> f64 {
        self.length * radius * (12.0 * UNIT + 4.0 * self.tilt) * OUTWARD + f64::MIN_POSITIVE
    }

    /// Whether one look at the neighbours of one vertex shows that nothing rises above `level`: the
    /// edges from a vertex span a cone that holds the body, and along the true direction each of
    /// them falls or, to another of `level`, is level.
    #[inline(always)]
    pub(super) fn is_none(&self, level: &Level, radius: f64, effort: &mut Effort<'_>) -> bool {
        let vertex = level[0];
        let limit = kernel::along(&self.rounded, self.body.vertex(vertex)) - self.certain(radius);
        let around = NeighboursBut { vertex, but: level };
        support::neighbours_are_below(self.body, &self.rounded, limit, around, effort)
    }

    /// At least the largest product of the true direction, at the length of s, with an edge from
    /// the first of `level` to any vertex; all of `level` are exactly as far. No vertex is farther
    /// than `radius` from the body's origin.
    #[cold]
    pub(super) fn above(&self, level: &Level, radius: f64, effort: &mut Effort<'_>) -> f64 {
        let origin = self.body.vertex(level[0]);
        let value = kernel::along(&self.rounded, origin);
        let certain = self.certain(radius);
        // False for NaN.
        let is_lower = |point: &Vec3| value - kernel::along(&self.rounded, point) > certain;
        let mut found: ArrayVec<u32, LEVEL_MAX> = level.iter().copied().collect();
        let of_all = |effort: &mut Effort<'_>| {
            effort.cost.visited += u64::from(self.body.vertex_count());
            let all = (0..).zip(self.body.vertices());
            let rest = all.filter(|(name, point)| !is_lower(point) && !level.contains(name));
            rest.map(|(_, point)| self.edge(origin, point)).fold(0.0, f64::max)
        };
        if self.body.vertices().len() <= FEW {
            return of_all(effort);
        }
        let mut best = 0.0;
        let mut at = 0;
        while at < found.len() {
            let neighbours = self.body.neighbours(found[at]);
            effort.cost.visited += neighbours.len() as u64;
            for &next in neighbours {
                let point = self.body.vertex(next);
                if is_lower(point) || found.contains(&next) {
                    continue;
                }
                let rise = self.edge(origin, point);
                if rise <= 0.0 {
                    continue;
                }
                if found.try_push(next).is_err() {
                    return of_all(effort);
                }
                best = f64::max(best, rise);
            }
            at += 1;
        }
        best
    }

    /// At least the product with the edge; not positive when it is certainly lower.
    fn edge(&self, from: &Vec3, to: &Vec3) -> f64 {
        let edge: Triple<N> = std::array::from_fn(|k| N::difference(to[k], from[k]));
        let size = rounded(&edge).abs().sum();
        let error = self.tilt * self.length * size + f64::MIN_POSITIVE;
        let rise = (dot(&self.along, &edge).rounded() + error * OUTWARD) * OUTWARD;
        if rise.is_nan() { f64::INFINITY } else { rise }
    }
}
