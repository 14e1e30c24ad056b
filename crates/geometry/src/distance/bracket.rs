//! From a simplex that a search believes in to a bracket that is certain: the same formulas in f64
//! first, and in twice the precision where the bodies are much closer than they are large.
//!
//! Let v be the point nearest the origin in the hull of the simplex, exactly, and s the same point
//! as computed. |v| is an upper bound of the distance, and the least of `v · m / |v|` over M a
//! lower one, which is what the pairs alone let anyone check. For every pair of the simplex the
//! product is
//! |v| itself; so the lower bound is |v|, less the most by which either body reaches farther along
//! v than its vertex in the simplex does. |v| and |s| differ by little more than the error of a
//! difference of placed vertices, because s is nearly orthogonal to the simplex; and for all but
//! parallel features the neighbours of a vertex are so far behind that the direction of v need not
//! be known well.

use arrayvec::ArrayVec;

use super::rise::{Level, Rise};
use super::simplex::Simplex;
use crate::difference::bounded::BoundedView;
use crate::effort::Effort;
use crate::number::binary::power_of_two;
use crate::number::double::{Double, Real, Triple, cross, dot, minus, plus_times, rounded};
use crate::number::rounding::{OUTWARD, UNIT, gamma};
use crate::pair::VertexPair;
use crate::{Mat3, Vec3};

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
    /// At least how far the simplex's weighted sum, roundings of the sum apart, is from the point
    /// of M nearest the origin; infinite unless no vertex reaches farther along that sum than the
    /// simplex's own.
    pub(super) off: f64,
}

/// Lengths below this part of the size are left to the exact stage: their squares must be normal
/// numbers, and a difference of twice the precision tells nothing of them anyway.
const LENGTH_MIN: f64 = power_of_two(-90);
/// Shorter edges of a simplex, and a smaller cross product of them, are left to the exact stage; in
/// metres.
const EDGE_MIN: f64 = power_of_two(-450);

impl Bracket {
    /// What `simplex` shows in f64. `latest` is a pair that is least along its nearest point, or
    /// nearly so.
    #[inline(always)]
    pub(super) fn of(
        view: &BoundedView<'_>,
        simplex: &Simplex,
        latest: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Self {
        let points = simplex.points().map(Triple::<f64>::from);
        match *simplex.weights() {
            [] => Self::open(Vec3::zeros(), f64::MAX),
            [_] => Foot::new(points, []).bracket(view, simplex, latest, effort),
            [_, b] => Foot::new(points, [b]).bracket(view, simplex, latest, effort),
            [_, b, c, ..] => Foot::new(points, [b, c]).bracket(view, simplex, latest, effort),
        }
    }

    /// Nothing is known from below.
    #[inline(always)]
    fn open(direction: Vec3, upper: f64) -> Self {
        Self { direction, separates: false, lower: 0.0, upper, off: f64::INFINITY }
    }

    /// What `simplex` shows in twice the precision.
    #[cold]
    pub(super) fn sharp(
        view: &BoundedView<'_>,
        simplex: &Simplex,
        latest: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Option<Self> {
        let mut points = [[Double::default(); 3]; 3];
        for (point, corner) in points.iter_mut().zip(simplex.corners()) {
            *point = view.difference_in(corner.pair);
        }
        Some(match simplex.weights().iter().map(|&w| Double::of(w)).collect::<ArrayVec<_, 3>>()[..]
        {
            [] => return None,
            [_] => Foot::new(points, []).improved().bracket(view, simplex, latest, effort),
            [_, b] => Foot::new(points, [b]).improved().bracket(view, simplex, latest, effort),
            [_, b, c, ..] => {
                Foot::new(points, [b, c]).improved().bracket(view, simplex, latest, effort)
            }
        })
    }

    /// Whether the width is at most `relative` of the lower bound.
    #[inline(always)]
    pub(super) fn is_narrow(&self, relative: f64) -> bool {
        self.lower > 0.0 && self.upper - self.lower <= relative * self.lower
    }
}

/// The nearest point of a simplex's affine hull, and where it comes from: a simplex with so many
/// edges from its first corner, none, one or two.
struct Foot<N, const EDGES: usize> {
    /// From the first corner to the others.
    edges: [Triple<N>; EDGES],
    /// Weights of the others; the first one's is one less their sum.
    weights: [N; EDGES],
    /// The first corner.
    base: Triple<N>,
    /// It plus the weighted edges.
    s: Triple<N>,
}

/// How long the edges are and how independent.
struct SimplexShape {
    /// At least the length of every edge, up to rounding; zero without edges.
    longest: f64,
    /// Length of the cross product of two edges, rounded.
    area: f64,
    /// At least the error of that cross product.
    area_error: f64,
    /// One over a lower bound of the area, or of the length of the only edge; infinite when there
    /// is no such bound.
    inverse: f64,
    /// At least one over the least singular value of the exact edges; infinite when they may be
    /// dependent.
    slack: f64,
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

impl Errors {
    /// At least |v - s|.
    #[inline(always)]
    fn deviation(&self) -> f64 {
        (self.of_sum + self.of_foot) * OUTWARD
    }

    /// At least |v - v'|, or v' may be no point of the simplex.
    #[inline(always)]
    fn of_point(&self) -> f64 {
        if self.is_inside { self.of_foot } else { self.deviation() }
    }
}

/// A direction near v's.
struct Aim<N> {
    along: Triple<N>,
    /// Its length, rounded.
    length: f64,
    /// At least the distance between it and v when both have length one.
    error: f64,
}

impl<N: Real, const EDGES: usize> Foot<N, EDGES> {
    /// The foot in the hull of the first of the points.
    #[inline(always)]
    fn new(points: [Triple<N>; 3], weights: [N; EDGES]) -> Self {
        let base = points[0];
        let edges = std::array::from_fn(|k| minus(&points[k + 1], &base));
        Self { edges, weights, base, s: base }.summed()
    }

    #[inline(always)]
    fn summed(mut self) -> Self {
        let terms = self.edges.iter().zip(self.weights);
        self.s = terms.fold(self.base, |sum, (edge, weight)| plus_times(&sum, edge, weight));
        self
    }

    /// A Newton step towards weights for which s is orthogonal to the edges.
    fn improved(mut self) -> Self {
        let residual = |k: usize| dot(&self.edges[k], &self.s).rounded();
        let change = match self.edges.as_slice() {
            [] => return self,
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
            return self.summed();
        }
        self
    }

    #[inline(always)]
    fn bracket(
        &self,
        view: &BoundedView<'_>,
        simplex: &Simplex,
        latest: VertexPair,
        effort: &mut Effort<'_>,
    ) -> Bracket {
        let unit = view.difference_error::<N>();
        let direction = rounded(&self.s);
        let length = direction.norm();
        let normal = self.normal();
        let shape = self.shape(unit, &normal);
        let errors = self.errors(unit, length, &shape);
        let upper = (length + errors.of_sum) * OUTWARD;
        let deviation = errors.deviation();
        // False for NaN too.
        let is_apart = length > LENGTH_MIN * view.size() && deviation < 0.25 * length;
        if !is_apart {
            return Bracket::open(direction, upper);
        }
        let aim = self.aim(normal, length, &shape, &errors);
        let corners = self.pairs(simplex);
        let [of_p, of_q] = [corners.map(|pair| pair.i), corners.map(|pair| pair.j)];
        let is_own = of_p.contains(&latest.i) & of_q.contains(&latest.j);
        let (base, ties) = if is_own {
            // No vertex is farther than the simplex's own, as far as the search has seen: any
            // corner does.
            // |v|² >= |v'|² - 2 |v' - v|², with equality but for the factor where v is inside; and
            // |v'| is more than three quarters of |s|.
            let off = errors.of_foot * (errors.of_foot / length) * (3.0 * OUTWARD);
            (length - errors.of_sum - off, Ties::of(&corners, errors.is_inside))
        } else {
            let point = view.difference_in::<N>(latest);
            let size = rounded(&point).norm() * OUTWARD;
            let along = dot(&aim.along, &point).rounded() / aim.length;
            let off = (unit + (aim.error + 4.0 * N::UNIT) * size) * OUTWARD;
            (along - off, Ties::of(&[latest; 3], false))
        };
        let rise = self.rise(view, &aim, &ties, effort);
        let lower = base - rise * OUTWARD - (OUTWARD - 1.0) * length;
        // The direction of the bracket is that of the aim, rounded.
        let turn = (aim.error + 2.0 * UNIT) * view.size() * OUTWARD;
        Bracket {
            direction: rounded(&aim.along),
            separates: lower - turn > 0.0,
            lower: lower.max(0.0),
            upper,
            off: if is_own & (rise <= 0.0) { errors.of_point() } else { f64::INFINITY },
        }
    }

    /// The corners' pairs, the first again where there are fewer than three.
    #[inline(always)]
    fn pairs(&self, simplex: &Simplex) -> [VertexPair; 3] {
        let corners = simplex.corners();
        std::array::from_fn(|k| corners[if k <= EDGES { k } else { 0 }].pair)
    }

    /// The cross product of a triangle's edges; s otherwise.
    #[inline(always)]
    fn normal(&self) -> Triple<N> {
        match self.edges.as_slice() {
            [e1, e2] => cross(e1, e2),
            _ => self.s,
        }
    }

    /// `unit` is the error of a difference.
    #[inline(always)]
    fn shape(&self, unit: f64, normal: &Triple<N>) -> SimplexShape {
        let squared = self.edges.iter().map(|edge| rounded(edge).norm_squared());
        let longest = squared.fold(0.0, f64::max).sqrt();
        match EDGES {
            0 => SimplexShape { longest, area: 0.0, area_error: 0.0, inverse: 0.0, slack: 0.0 },
            1 => {
                let least = longest - 2.0 * unit - 4.0 * UNIT * longest;
                let inverse = if least > EDGE_MIN { 1.0 / least } else { f64::INFINITY };
                let slack = inverse * OUTWARD;
                SimplexShape { longest, area: 0.0, area_error: 0.0, inverse, slack }
            }
            _ => {
                let area = rounded(normal).norm();
                let product = longest * longest;
                let area_error =
                    (4.0 * unit * (2.0 * longest + unit) + 12.0 * N::UNIT * product) * OUTWARD;
                let least = area - area_error - gamma(12) * product;
                // The squares of smaller ones are no normal numbers.
                let inverse = if least > EDGE_MIN { 1.0 / least } else { f64::INFINITY };
                // The singular values' product is the area, the sum of their squares that of the
                // exact edges'.
                let exact = longest + 2.0 * unit + N::UNIT * longest;
                let slack = std::f64::consts::SQRT_2 * exact * inverse * OUTWARD;
                SimplexShape { longest, area, area_error, inverse, slack }
            }
        }
    }

    /// How far s is from v. `unit` is the error of a difference, `length` is |s|.
    ///
    /// With E the matrix of exact edges and v' the point with exactly the weights of s: v' - v = E
    /// (EᵀE)⁻¹ Eᵀv', so |v' - v| ≤ |Eᵀv'| / σ_min(E). Each weight, the first corner's too, is off
    /// by at most twice the longest edge squared over the area squared, times the sum of the
    /// magnitudes in Eᵀv'. Where that leaves open whether v is inside: v' · (v' - d) ≤ 2 max |Eᵀv'|
    /// for every point d of the simplex, and |v' - v|² is at most the largest of these.
    #[inline(always)]
    fn errors(&self, unit: f64, length: f64, shape: &SimplexShape) -> Errors {
        let SimplexShape { longest, slack, .. } = *shape;
        // The roundings of edges, products and sums: two of at most the longest edge and two of
        // partial sums.
        let rounding = unit + 6.0 * N::UNIT * (length + longest);
        if EDGES == 0 {
            return Errors { of_sum: rounding * OUTWARD, of_foot: 0.0, is_inside: true };
        }
        let edge_error = 2.0 * unit + N::UNIT * longest;
        let long = longest + edge_error;
        let residual_error =
            long * rounding + edge_error * (length + rounding) + 4.0 * N::UNIT * long * length;
        // Each of the products with an edge; the sum of their magnitudes is at least the length of
        // all of them as a vector.
        let products = self.edges.iter().map(|edge| dot(edge, &self.s).rounded().abs());
        let residual = products.fold(0.0, |sum, r| sum + (r + residual_error) * OUTWARD) * OUTWARD;
        let weight_error = residual * slack * slack * OUTWARD + gamma(4);
        let weights = self.weights.map(N::rounded);
        let base = 1.0 - weights.iter().sum::<f64>();
        let least = weights.iter().fold(base, |least, w| least.min(*w));
        // False where the slack is infinite.
        if least > weight_error {
            let of_foot = residual * slack * OUTWARD;
            return Errors { of_sum: rounding * OUTWARD, of_foot, is_inside: true };
        }
        // The hull's nearest point to the weighted sum: without what is negative of the weights.
        let negative = weights.iter().chain([&base]).fold(gamma(4), |sum, w| sum - w.min(0.0));
        let of_sum = (rounding + 4.0 * negative * longest) * OUTWARD;
        let largest = residual + (of_sum - rounding) * longest * OUTWARD;
        let of_foot = (2.0 * largest).sqrt() * OUTWARD;
        Errors { of_sum, of_foot, is_inside: false }
    }

    /// The direction to look along: of a triangle its normal, else s. The errors' deviation is less
    /// than a quarter of `length`, which is |s|.
    #[inline(always)]
    fn aim(&self, normal: Triple<N>, length: f64, shape: &SimplexShape, errors: &Errors) -> Aim<N> {
        let deviation = errors.deviation();
        // Dunkl and Williams, "A simple norm inequality", Amer. Math. Monthly 71(1), 1964.
        let of_s = deviation / (length - deviation) * OUTWARD;
        if EDGES == 2 && errors.is_inside {
            let of_normal = shape.area_error * shape.inverse * OUTWARD;
            let level = rounded(&normal).dot(&rounded(&self.s));
            // Nearly parallel to s, one way or the other.
            let is_parallel = level.abs() > 0.5 * shape.area * length;
            if of_normal < of_s && of_normal < 0.25 && is_parallel {
                let along = if level > 0.0 { normal } else { normal.map(|c| -c) };
                return Aim { along, length: shape.area, error: of_normal };
            }
        }
        Aim { along: self.s, length, error: of_s }
    }

    /// By how much P reaches farther along v than the ties' vertices, and Q against it, in sum; for
    /// v of length one.
    #[inline(always)]
    fn rise(
        &self,
        view: &BoundedView<'_>,
        aim: &Aim<N>,
        ties: &Ties,
        effort: &mut Effort<'_>,
    ) -> f64 {
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
        let [has_p, has_q] =
            [!of_p.is_none(&ties.p, radius_p, effort), !of_q.is_none(&ties.q, radius_q, effort)];
        // Neither is as good as sure.
        if !(has_p | has_q) {
            return 0.0;
        }
        let above_p = if has_p { of_p.above(&ties.p, radius_p, effort) } else { 0.0 };
        let above_q = if has_q { of_q.above(&ties.q, radius_q, effort) } else { 0.0 };
        (above_p + above_q) / aim.length
    }
}

/// The vertices that are exactly as far along v as those of the pair that the lower bound starts
/// from, the first of each.
struct Ties {
    p: Level,
    q: Level,
}

impl Ties {
    /// With the first pair's. Along v, when it is inside, all pairs of the simplex are level; so
    /// are two vertices that have a partner in common. Without a branch: who shares what is not
    /// predictable.
    #[inline(always)]
    fn of(&[a, b, c]: &[VertexPair; 3], all_are_level: bool) -> Self {
        let share = |x: VertexPair, y: VertexPair| (x.i == y.i) | (x.j == y.j);
        let (ab, bc, ca) = (share(a, b), share(b, c), share(c, a));
        // At once, or by the third pair.
        let b_is_level = all_are_level & (ab | (ca & bc));
        let c_is_level = all_are_level & (ca | (ab & bc));
        let b = if b_is_level { b } else { a };
        let c = if c_is_level { c } else { a };
        Self { p: [a.i, b.i, c.i], q: [a.j, b.j, c.j] }
    }
}
