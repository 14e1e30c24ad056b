//! From a simplex that a search believes in to a bracket that is certain: the same formulas in f64
//! first, and in twice the precision where the bodies are much closer than they are large.
//!
//! Let v be the point nearest the origin in the hull of the simplex, exactly, and s the same point
//! as computed. |v| is an upper bound of the distance, and the least of `v · m / |v|` over M a lower
//! one, which is what the pairs alone let anyone check. For every pair of the simplex the product is
//! |v| itself; so the lower bound is |v|, less the most by which either body reaches farther along v
//! than its vertex in the simplex does. |v| and |s| differ by little more than the error of a
//! difference of placed vertices, because s is nearly orthogonal to the simplex; and for all but
//! parallel features the neighbours of a vertex are so far behind that the direction of v need not
//! be known well.

use arrayvec::ArrayVec;

use super::rise::Rise;
use super::simplex::Simplex;
use super::view::View;
use crate::geometry::effort::Effort;
use crate::geometry::number::double::{
    Double, Real, Triple, cross, dot, minus, plus_times, rounded,
};
use crate::geometry::number::rounding::{self, UNIT, gamma};
use crate::geometry::pair::VertexPair;
use crate::geometry::{Mat3, Vec3};

/// What is certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    /// About the direction of v.
    pub(super) direction: Vec3,
    /// Whether exactly this direction separates.
    pub(super) separates: bool,
    /// A lower bound of the distance that follows from the pairs; 0 when none does.
    pub(super) lower: f64,
    /// An upper bound of the distance.
    pub(super) upper: f64,
}

/// Room for the roundings of forming a bound out of a few dozen operations in f64.
pub(super) const OUTWARD: f64 = 1.0 + 64.0 * f64::EPSILON;

/// Lengths below this part of the size are left to the exact stage: their squares must be normal
/// numbers, and a difference of twice the precision tells nothing of them anyway.
const LENGTH_MIN: f64 = power_of_two(-90);
/// The same for the edges of a simplex and their cross product, in metres.
const EDGE_MIN: f64 = power_of_two(-450);

const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

impl Bracket {
    /// What `simplex` shows in f64. `latest` is a pair that is least along its nearest point, or
    /// nearly so.
    pub(super) fn of(
        view: &View<'_>,
        simplex: &Simplex,
        latest: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Self {
        let points = simplex.corners().iter().map(|corner| corner.point.into());
        match Foot::<f64>::new(points, simplex.weights()) {
            Some(foot) => foot.bracket(view, simplex, latest, effort),
            None => {
                Self { direction: Vec3::zeros(), separates: false, lower: 0.0, upper: f64::MAX }
            }
        }
    }

    /// The same in twice the precision.
    #[cold]
    pub(super) fn sharp(
        view: &View<'_>,
        simplex: &Simplex,
        latest: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Option<Self> {
        let points = simplex.corners().iter().map(|corner| view.difference_in(corner.pair));
        let mut foot = Foot::<Double>::new(points, simplex.weights())?;
        foot.improve();
        Some(foot.bracket(view, simplex, latest, effort))
    }

    /// Whether the width is at most `relative` of the lower bound.
    pub(super) fn is_narrow(&self, relative: f64) -> bool {
        self.lower > 0.0 && self.upper - self.lower <= relative * self.lower
    }
}

/// The nearest point of a simplex's affine hull, and where it comes from.
struct Foot<N> {
    base: Triple<N>,
    /// From the base to the other corners.
    edges: ArrayVec<Triple<N>, 2>,
    /// Weights of the other corners; the base's is one less their sum.
    weights: ArrayVec<N, 2>,
    /// The base plus the weighted edges.
    s: Triple<N>,
}

/// How far off a [`Foot`] may be.
struct Errors {
    /// |v' - s|, where v' is a point of the simplex's hull.
    of_sum: f64,
    /// |v - v'|.
    of_foot: f64,
    /// Whether v is the nearest point of the affine hull, so orthogonal to all of it.
    is_inside: bool,
}

/// A direction near v's.
struct Aim<N> {
    along: Triple<N>,
    /// Its length, rounded.
    length: f64,
    /// At least the distance between it and v when both have length one.
    error: f64,
}

impl<N: Real> Foot<N> {
    /// `None` when there is no corner.
    #[inline]
    fn new(mut points: impl Iterator<Item = Triple<N>>, weights: &[f64]) -> Option<Self> {
        let base = points.next()?;
        let edges: ArrayVec<Triple<N>, 2> = points.map(|point| minus(&point, &base)).collect();
        let weights: ArrayVec<N, 2> = weights[1..].iter().map(|&weight| N::of(weight)).collect();
        let mut foot = Self { base, edges, weights, s: base };
        foot.sum();
        Some(foot)
    }

    #[inline]
    fn sum(&mut self) {
        let terms = self.edges.iter().zip(&self.weights);
        self.s = terms.fold(self.base, |sum, (edge, weight)| plus_times(&sum, edge, *weight));
    }

    /// A Newton step towards weights for which s is orthogonal to the edges.
    fn improve(&mut self) {
        let residual = |k: usize| dot(&self.edges[k], &self.s).rounded();
        let change = match self.edges.as_slice() {
            [] => return,
            [e] => [residual(0) / rounded(e).norm_squared(), 0.0],
            [e1, e2, ..] => {
                let (r1, r2) = (residual(0), residual(1));
                let (e1, e2) = (rounded(e1), rounded(e2));
                let (g11, g12, g22) = (e1.norm_squared(), e1.dot(&e2), e2.norm_squared());
                let determinant = e1.cross(&e2).norm_squared();
                [(r1 * g22 - r2 * g12) / determinant, (r2 * g11 - r1 * g12) / determinant]
            }
        };
        // Not for a simplex without extent.
        if change.iter().all(|c| c.is_finite()) {
            for (weight, change) in self.weights.iter_mut().zip(change) {
                *weight = *weight - N::of(change);
            }
            self.sum();
        }
    }

    #[inline]
    fn bracket(
        &self,
        view: &View<'_>,
        simplex: &Simplex,
        latest: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Bracket {
        let unit = view.difference_error::<N>();
        let direction = rounded(&self.s);
        let length = direction.norm();
        let lengths: ArrayVec<f64, 2> =
            self.edges.iter().map(|edge| rounded(edge).norm()).collect();
        let errors = self.errors(unit, length, &lengths);
        let upper = (length + errors.of_sum) * OUTWARD;
        let deviation = errors.of_sum + errors.of_foot;
        let open = Bracket { direction, separates: false, lower: 0.0, upper };
        // False for NaN too.
        let is_apart = length > LENGTH_MIN * view.size() && deviation < 0.25 * length;
        if !is_apart {
            return open;
        }
        let aim = self.aim(unit, length, deviation * OUTWARD, &lengths, errors.is_inside);
        let base = if simplex.has(latest) {
            // |v|² >= |v'|² - 2 |v' - v|², with equality but for the factor where v is inside.
            let least = length - errors.of_sum;
            least - 2.0 * errors.of_foot * (errors.of_foot / least) * OUTWARD
        } else {
            let point = view.difference_in::<N>(latest);
            let size = rounded(&point).norm() * OUTWARD;
            let along = dot(&aim.along, &point).rounded() / aim.length;
            along - (unit + (aim.error + 4.0 * N::UNIT) * size) * OUTWARD
        };
        let ties = Ties::of(simplex, latest, errors.is_inside);
        let [rise_p, rise_q] = self.rises(view, &aim, &ties, effort);
        let gap = base - (rise_p + rise_q) * OUTWARD;
        let lower = gap - (OUTWARD - 1.0) * length;
        // The direction of the bracket is that of the aim, rounded.
        let turn = (aim.error + 2.0 * UNIT) * view.size() * OUTWARD;
        Bracket {
            direction: rounded(&aim.along),
            separates: lower - turn > 0.0,
            lower: lower.max(0.0),
            upper,
        }
    }

    /// How far s is from v. `unit` is the error of a difference, `length` is |s|, `lengths` are the
    /// edges'.
    ///
    /// With E the matrix of exact edges and v' the point with exactly the weights of s: v' - v =
    /// E (EᵀE)⁻¹ Eᵀv', so |v' - v| ≤ |Eᵀv'| / σ_min(E), and the weights are off by at most
    /// |Eᵀv'| / σ_min². Where that leaves open whether v is inside: v' · (v' - d) ≤ 2 max |Eᵀv'| for
    /// every point d of the simplex, and |v' - v|² is at most the largest of these.
    #[inline]
    fn errors(&self, unit: f64, length: f64, lengths: &[f64]) -> Errors {
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        // The roundings of edges, products and sums: two of at most the longest edge and two of
        // partial sums.
        let rounding = unit + 6.0 * N::UNIT * (length + longest);
        if self.edges.is_empty() {
            return Errors { of_sum: rounding * OUTWARD, of_foot: 0.0, is_inside: true };
        }
        let residual = |(edge, long): (&Triple<N>, &f64)| {
            let residual = dot(edge, &self.s).rounded().abs();
            let edge_error = 2.0 * unit + N::UNIT * long;
            let long = long + edge_error;
            residual
                + long * rounding
                + edge_error * (length + rounding)
                + 4.0 * N::UNIT * long * length
        };
        let residuals: ArrayVec<f64, 2> =
            self.edges.iter().zip(lengths).map(residual).map(|r| r * OUTWARD).collect();
        let weights = self.weights.iter().map(|weight| weight.rounded());
        let base = 1.0 - weights.clone().sum::<f64>();
        let narrowest = self.narrowest(unit, lengths);
        let residual = residuals.iter().fold(0.0, |sum, r| sum + r * r).sqrt() * OUTWARD;
        let weight_error = residual / (narrowest * narrowest) * OUTWARD + gamma(4);
        let is_inside = narrowest > EDGE_MIN
            && weights.clone().chain([base]).all(|weight| weight > weight_error);
        if is_inside {
            let of_foot = residual / narrowest * OUTWARD;
            return Errors { of_sum: rounding * OUTWARD, of_foot, is_inside };
        }
        // The hull's nearest point to the weighted sum: without what is negative of the weights.
        let negative = weights.chain([base]).fold(gamma(4), |sum, w| sum - w.min(0.0));
        let of_sum = (rounding + 4.0 * negative * longest) * OUTWARD;
        let added = (of_sum - rounding) * longest;
        let largest = residuals.iter().copied().fold(0.0, f64::max) + added * OUTWARD;
        Errors { of_sum, of_foot: (2.0 * largest).sqrt() * OUTWARD, is_inside }
    }

    /// At most the least singular value of the exact edges.
    #[inline]
    fn narrowest(&self, unit: f64, lengths: &[f64]) -> f64 {
        let narrowest = match (self.edges.as_slice(), lengths) {
            ([e1, e2], [long1, long2]) => {
                let area = rounding::length(&rounded(e1).cross(&rounded(e2)));
                let area = area - self.area_error(unit, lengths) - gamma(12) * long1 * long2;
                let diagonal = (long1 * long1 + long2 * long2).sqrt();
                if area > EDGE_MIN { area / diagonal } else { 0.0 }
            }
            (_, [long]) => long - 2.0 * unit - 4.0 * UNIT * long,
            _ => f64::INFINITY,
        };
        narrowest / OUTWARD
    }

    /// At least the error of the cross product of the edges.
    #[inline]
    fn area_error(&self, unit: f64, lengths: &[f64]) -> f64 {
        let [long1, long2] = [0, 1].map(|k| lengths[k]);
        let product = long1 * long2;
        (4.0 * unit * (long1 + long2 + unit) + 12.0 * N::UNIT * product) * OUTWARD
    }

    /// The direction to look along: of a triangle its normal, else s.
    #[inline]
    fn aim(
        &self,
        unit: f64,
        length: f64,
        deviation: f64,
        lengths: &[f64],
        is_inside: bool,
    ) -> Aim<N> {
        // Dunkl and Williams, "A simple norm inequality", Amer. Math. Monthly 71(1), 1964.
        let of_s = deviation / (length - deviation) * OUTWARD;
        if let [e1, e2] = self.edges.as_slice()
            && is_inside
        {
            let normal = cross(e1, e2);
            let area = rounding::length(&rounded(&normal));
            let area_error = self.area_error(unit, lengths);
            let of_normal = area_error / (area - area_error) * OUTWARD;
            let level = rounded(&normal).dot(&rounded(&self.s));
            // Nearly parallel to s, one way or the other.
            if of_normal < of_s && area_error < 0.25 * area && level.abs() > 0.5 * area * length {
                let along = if level > 0.0 { normal } else { normal.map(|c| -c) };
                return Aim { along, length: area, error: of_normal };
            }
        }
        Aim { along: self.s, length, error: of_s }
    }

    /// By how much P reaches farther along v than the ties' vertices, and Q against it; for v of
    /// length one.
    #[inline]
    fn rises(
        &self,
        view: &View<'_>,
        aim: &Aim<N>,
        ties: &Ties,
        effort: &mut Effort<'_>,
    ) -> [f64; 2] {
        let [p, q] = view.bodies();
        let [radius_p, radius_q] = view.radii();
        let in_body = |rotation: &Mat3, along: &Triple<N>| -> Triple<N> {
            std::array::from_fn(|k| {
                let term = |i: usize| N::of(rotation[(i, k)]) * along[i];
                (term(0) + term(1)) + term(2)
            })
        };
        let length = aim.length * OUTWARD;
        let against = aim.along.map(|c| -c);
        let of_p = Rise::new(p.body, in_body(&p.pose.rotation, &aim.along), length, aim.error);
        let of_q = Rise::new(q.body, in_body(&q.pose.rotation, &against), length, aim.error);
        [
            of_p.above(&ties.p, radius_p, effort) / aim.length,
            of_q.above(&ties.q, radius_q, effort) / aim.length,
        ]
    }
}

/// The vertices that are exactly as far along v as those of the pair that the lower bound starts
/// from, the first of each.
struct Ties {
    p: ArrayVec<u32, 3>,
    q: ArrayVec<u32, 3>,
}

impl Ties {
    /// Along v, when it is inside, all pairs of the simplex are level; so are two vertices that have
    /// a partner in common.
    #[inline]
    fn of(simplex: &Simplex, latest: VertexPair, is_inside: bool) -> Self {
        let mut ties =
            Self { p: ArrayVec::from_iter([latest.i]), q: ArrayVec::from_iter([latest.j]) };
        if !is_inside || !simplex.has(latest) {
            return ties;
        }
        // Twice, because the second pair may be tied by the third.
        for _ in 0..2 {
            for corner in simplex.corners() {
                let VertexPair { i, j } = corner.pair;
                match (ties.p.contains(&i), ties.q.contains(&j)) {
                    (true, false) => ties.q.push(j),
                    (false, true) => ties.p.push(i),
                    (true, true) | (false, false) => {}
                }
            }
        }
        ties
    }
}
