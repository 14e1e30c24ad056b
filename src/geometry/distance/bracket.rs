//! From a simplex that a search believes in to a bracket that is certain.
//!
//! Let s be the simplex's nearest point as computed and v the exact one. Then |v| is an upper bound
//! of the distance, and |v| is at most |s| plus the error of computing s with its own weights. The
//! least of `s · m` over M, over |s|, is a lower bound; so is the least of `v · m` over |v|, which
//! is what the pairs alone let anyone check. It differs by at most |v - s| times the size of M, and
//! |v - s| follows from how far s is from being orthogonal to the simplex.

use arrayvec::ArrayVec;

use super::simplex::{Corner, Simplex};
use super::view::View;
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::{UNIT, gamma};
use crate::geometry::pair::VertexPair;

/// What is certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    /// The direction s.
    pub(super) direction: Vec3,
    /// The supporting pair along s.
    pub(super) support: VertexPair,
    /// Whether s separates.
    pub(super) separates: bool,
    /// A lower bound of the distance that follows from the pairs; 0 when none does.
    pub(super) lower: f64,
    /// An upper bound of the distance.
    pub(super) upper: f64,
}

/// Errors of s as the sum of a base corner and weighted edges, in units of the error of one
/// difference (8 roundings of the size): the base corner (1), edges of weight at most one in sum
/// (3), and the roundings of sum and products, 4 of three sizes, less than 2.
pub(super) const NEAREST_ERROR: f64 = 6.0;
/// Error of one edge in the same unit: two differences and a rounding of at most two sizes.
const EDGE_ERROR: f64 = 3.0;
/// Room for the roundings of forming a bound out of a few dozen operations.
const OUTWARD: f64 = 1.0 + 64.0 * f64::EPSILON;

impl Bracket {
    /// Certifies what `simplex` shows. `hint` is a pair close to the supporting one.
    pub(super) fn of(
        view: &View<'_>,
        simplex: &Simplex,
        hint: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Self {
        let precision = Precision { rounding: UNIT, unit: view.difference_error() };
        let (direction, edges) = nearest_and_edges(simplex);
        let length = direction.norm();
        let (support, gap) = view.gap(&direction, hint, effort);
        let lower = match precision.deviation(&edges, length) {
            Some(deviation) => Self::lower(gap, deviation, length, view.size()),
            None => 0.0,
        };
        let upper = Self::upper(length, NEAREST_ERROR * precision.unit);
        Self { direction, support, separates: gap > 0.0, lower, upper }
    }

    /// From the least of `s · m` over M, |v - s|, |s| and the size of M: the least of `v · m / |v|`,
    /// or 0.
    pub(super) fn lower(gap: f64, deviation: f64, length: f64, size: f64) -> f64 {
        let above = gap - deviation * size * OUTWARD;
        let lower = above / ((length + deviation) * OUTWARD) / OUTWARD;
        // Also turns NaN into 0.
        lower.max(0.0)
    }

    /// From |s| and its error.
    pub(super) fn upper(length: f64, error: f64) -> f64 {
        (length + error) * OUTWARD
    }

    /// Whether the width is at most `relative` of the lower bound.
    pub(super) fn is_narrow(&self, relative: f64) -> bool {
        self.lower > 0.0 && self.upper - self.lower <= relative * self.lower
    }
}

/// An edge of the simplex from its first corner to another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Rounded.
    pub(super) vector: Vec3,
    /// The other corner's weight; the first one's is one less their sum.
    pub(super) weight: f64,
    /// The edge's product with s, which would be zero for s = v.
    pub(super) residual: f64,
}

/// s and the edges of the simplex.
fn nearest_and_edges(simplex: &Simplex) -> (Vec3, ArrayVec<Edge, 2>) {
    let Some(((base, _), others)) = simplex.corners.split_first() else {
        return (Vec3::zeros(), ArrayVec::new());
    };
    let edge = |corner: &Corner| corner.point - base.point;
    let s: Vec3 =
        others.iter().fold(base.point, |sum, (corner, weight)| sum + edge(corner) * *weight);
    let edges = others.iter().map(|(corner, weight)| {
        let vector = edge(corner);
        Edge { vector, weight: *weight, residual: vector.dot(&s) }
    });
    (s, edges.collect())
}

/// The precision in which s and the residuals were computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// Relative error of one operation.
    pub(super) rounding: f64,
    /// Error of one difference of placed vertices.
    pub(super) unit: f64,
}

impl Precision {
    /// At least |v - s|; `None` when v may lie on the simplex's border, or the simplex is too thin
    /// to tell. `length` is |s|.
    ///
    /// With E the matrix of exact edges and v' the point with exactly the weights of s: v' - v =
    /// E (EᵀE)⁻¹ Eᵀv', so |v' - v| ≤ |Eᵀv'| / σ_min(E), and the weights are off by at most
    /// |Eᵀv'| / σ_min².
    pub(super) fn deviation(&self, edges: &[Edge], length: f64) -> Option<f64> {
        let edge_error = EDGE_ERROR * self.unit;
        let nearest_error = NEAREST_ERROR * self.unit;
        let residual = |edge: &Edge| {
            let long = edge.vector.norm() + edge_error;
            edge.residual.abs()
                + long * nearest_error
                + edge_error * (length + nearest_error)
                + 4.0 * self.rounding * long * length
        };
        let (residual, narrowest) = match edges {
            [] => return Some(nearest_error),
            [edge] => (residual(edge), edge.vector.norm() - edge_error),
            [e1, e2, ..] => {
                let [long1, long2] = [e1, e2].map(|edge| edge.vector.norm() + edge_error);
                let area_error = 2.0 * edge_error * (long1 + long2) + gamma(12) * long1 * long2;
                let area = e1.vector.cross(&e2.vector).norm() - area_error;
                (residual(e1).hypot(residual(e2)), area / long1.hypot(long2))
            }
        };
        let (residual, narrowest) = (residual * OUTWARD, narrowest / OUTWARD);
        // False for NaN too.
        let is_wide = narrowest > 0.0;
        if !is_wide {
            return None;
        }
        let weight_error = residual / (narrowest * narrowest) * OUTWARD + gamma(4);
        let weights = edges.iter().map(|edge| edge.weight);
        let base = 1.0 - weights.clone().sum::<f64>();
        let is_inside = weights.chain([base]).all(|weight| weight > weight_error);
        is_inside.then_some((nearest_error + residual / narrowest) * OUTWARD)
    }
}
