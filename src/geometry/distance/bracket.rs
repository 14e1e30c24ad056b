//! From a simplex that a search believes in to a bracket that is certain.
//!
//! Let s be the simplex's nearest point as computed and v the exact one. Then |v| is an upper bound
//! of the distance, and |v| is at most |s| plus the error of computing s with its own weights. The
//! least of `s · m` over M, over |s|, is a lower bound; so is the least of `v · m` over |v|, which
//! is what the pairs alone let anyone check. It differs by at most |v - s| times the size of M, and
//! |v - s| follows from how far s is from being orthogonal to the simplex.

use arrayvec::ArrayVec;

use super::simplex::Simplex;
use super::view::View;
use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::rounding::gamma;
use crate::geometry::pair::VertexPair;

/// What is certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    /// The direction s.
    pub(super) direction: Vec3,
    /// Whether s separates.
    pub(super) separates: bool,
    /// A lower bound of the distance that follows from the pairs; 0 when none does.
    pub(super) lower: f64,
    /// An upper bound of the distance.
    pub(super) upper: f64,
}

/// Errors of s as the sum of a base corner and weighted edges, in units of the error e of one
/// difference (8 u size): the base corner (e), edges of weight at most one in sum (3 e), and the
/// roundings of sum and products, `gamma(4) * 3 size`, less than 2 e.
const NEAREST_ERROR: f64 = 6.0;
/// Error of one edge in the same unit: two differences and a rounding of at most `2 u size`.
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
        let unit = view.difference_error();
        let (base, edges) = base_and_edges(simplex);
        let s: Vec3 = edges.iter().fold(base, |sum, (edge, weight)| sum + edge * *weight);
        let length = s.norm();
        let gap = view.gap(&s, hint, effort);
        let upper = (length + NEAREST_ERROR * unit) * OUTWARD;
        let lower = match deviation(&edges, &s, length, unit) {
            Some(deviation) => {
                (gap - deviation * view.size() * OUTWARD)
                    / ((length + deviation) * OUTWARD)
                    / OUTWARD
            }
            None => 0.0,
        };
        // `max` also turns NaN into 0.
        Self { direction: s, separates: gap > 0.0, lower: lower.max(0.0), upper }
    }

    /// Whether the width is at most `relative` of the lower bound.
    pub(super) fn is_narrow(&self, relative: f64) -> bool {
        self.lower > 0.0 && self.upper - self.lower <= relative * self.lower
    }
}

/// An edge from the first corner to another, and that corner's weight.
type Edges = ArrayVec<(Vec3, f64), 2>;

/// The first corner's point and the edges from there. The weights of the other corners are exactly
/// these; the first one's is one less their sum.
fn base_and_edges(simplex: &Simplex) -> (Vec3, Edges) {
    let Some(((base, _), others)) = simplex.corners.split_first() else {
        return (Vec3::zeros(), Edges::new());
    };
    let edges = others.iter().map(|(corner, weight)| (corner.point - base.point, *weight));
    (base.point, edges.collect())
}

/// At least |v - s|; `None` when v may lie on the simplex's border, or the simplex is too thin to
/// tell. `unit` is the error of one difference.
///
/// With E the matrix of exact edges and v' the point with exactly the weights of s: v' - v =
/// E (EᵀE)⁻¹ Eᵀv', so |v' - v| ≤ |Eᵀv'| / σ_min(E), and the weights are off by at most
/// |Eᵀv'| / σ_min².
fn deviation(edges: &Edges, s: &Vec3, length: f64, unit: f64) -> Option<f64> {
    let edge_error = EDGE_ERROR * unit;
    let residual = |edge: &Vec3| {
        let long = edge.norm() + edge_error;
        edge.dot(s).abs()
            + long * NEAREST_ERROR * unit
            + edge_error * (length + NEAREST_ERROR * unit)
            + gamma(4) * long * length
    };
    let (residual, narrowest) = match edges.as_slice() {
        [] => return Some(NEAREST_ERROR * unit),
        [(edge, _)] => (residual(edge), edge.norm() - edge_error),
        [(e1, _), (e2, _), ..] => {
            let (long1, long2) = (e1.norm() + edge_error, e2.norm() + edge_error);
            let area_error = 2.0 * edge_error * (long1 + long2) + gamma(8) * long1 * long2;
            let area = e1.cross(e2).norm() - area_error;
            (residual(e1).hypot(residual(e2)), area / long1.hypot(long2))
        }
    };
    let (residual, narrowest) = (residual * OUTWARD, narrowest / OUTWARD);
    // False for NaN too.
    let is_wide = narrowest > 0.0;
    if !is_wide {
        return None;
    }
    let weight_error = residual / (narrowest * narrowest) * OUTWARD;
    let weights = edges.iter().map(|(_, weight)| *weight);
    let base = 1.0 - weights.clone().sum::<f64>();
    let inside = weights.chain([base]).all(|weight| weight > weight_error + gamma(4));
    inside.then_some((NEAREST_ERROR * unit + residual / narrowest) * OUTWARD)
}
