//! Two bodies seen along their relative velocity, in rounded numbers with the bounds of their
//! errors.
//!
//! With w the velocity of Q relative to P and k its largest component, the point x becomes `(x_i -
//! x_k w_i / w_k, x_j - x_k w_j / w_k; x_k / w_k)`: where it is seen, and a depth. A point of Q
//! reaches a point of P if both are seen in one place, at the time `depth of p - depth of q`.

use crate::Vec3;
use crate::number::rounding::{UNDERFLOW, UNDERFLOW_FLOOR, gamma};
use crate::polyhedron::placed::{Corner, Stand, Whose};

/// See the module.
#[derive(Debug)]
pub(super) struct Shear<'b, 'a> {
    p: &'b Stand<'a>,
    q: &'b Stand<'a>,
    /// The largest component of the velocity, and the two after it.
    axes: [usize; 3],
    /// That component, and the two others as parts of it.
    pace: [f64; 3],
    /// Twice what a difference of two coordinates `x` or `y` errs by.
    blur: f64,
    /// What a depth errs by.
    depth_blur: f64,
}

/// A point seen along the velocity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    x: f64,
    y: f64,
    depth: f64,
}

/// A rounded number and a bound of its error; not finite where it overflowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turning {
    value: f64,
    error: f64,
}

impl Turning {
    /// 1 or -1 where the sign is certain.
    fn sign(self) -> i32 {
        i32::from(self.value > self.error) - i32::from(self.value < -self.error)
    }
}

/// What is known of a meeting of two faces.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sighting {
    /// Their points are never seen in one place.
    Never,
    /// If they meet then between these times.
    Perhaps([f64; 2]),
}

impl<'b, 'a> Shear<'b, 'a> {
    /// `w` is the relative velocity, each component within a unit in the last place; not zero.
    ///
    /// The quotient `w_i / w_k`, of magnitude at most 1, errs by five roundings, so `x_i - x_k w_i
    /// / w_k` by `γ₇` of the sum of magnitudes, the errors of both coordinates, and underflow of
    /// the quotient and the product. A depth errs by three roundings and that of `x_k`.
    pub(super) fn new(p: &'b Stand<'a>, q: &'b Stand<'a>, w: &Vec3) -> Self {
        let k = w.iamax();
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let reach = p.reach.max(q.reach);
        let slack = p.slack.max(q.slack);
        let point_blur = 3.0 * slack + gamma(8) * 2.0 * reach + 4.0 * UNDERFLOW * (1.0 + reach);
        // Two points, and one rounding of a difference of at most four times the reach.
        let blur = 2.0 * (2.0 * point_blur + gamma(8) * reach);
        let depth_blur = (2.0 * slack + gamma(5) * reach) / w[k].abs() + 2.0 * UNDERFLOW;
        let pace = [w[k], w[i] / w[k], w[j] / w[k]];
        Self { p, q, axes: [k, i, j], pace, blur, depth_blur }
    }

    /// Of a large body few points are looked at.
    fn seen(&self, (body, vertex): Corner) -> Seen {
        let v = match body {
            Whose::P => self.p.point(vertex),
            Whose::Q => self.q.point(vertex),
        };
        let ([k, i, j], [speed, along_i, along_j]) = (self.axes, self.pace);
        Seen { x: v[i] - v[k] * along_i, y: v[j] - v[k] * along_j, depth: v[k] / speed }
    }

    /// The turn of `a`, `b`, `c` as they are seen. With `blur / 2` the error of a difference, the
    /// two products err by that times the sum of the factors, and its square; the other half of
    /// `blur` covers that the bound is rounded.
    fn turning(&self, a: Seen, b: Seen, c: Seen) -> Turning {
        let (dx, dy, ex, ey) = (b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y);
        let (plus, minus) = (dx * ey, dy * ex);
        let sizes = (dx.abs() + dy.abs()) + (ex.abs() + ey.abs());
        let error = self.blur * (sizes + self.blur)
            + gamma(5) * (plus.abs() + minus.abs())
            + UNDERFLOW_FLOOR;
        Turning { value: plus - minus, error }
    }

    /// A vertex of one body and a triangle of the other.
    pub(super) fn vertex_and_triangle(&self, vertex: Corner, triangle: [Corner; 3]) -> Sighting {
        let v = self.seen(vertex);
        let corners = triangle.map(|corner| self.seen(corner));
        let [a, b, c] = corners;
        if self.is_beside([v, v], &corners) {
            return Sighting::Never;
        }
        // The weight of a corner is the area over the opposite side.
        let weights = [self.turning(v, b, c), self.turning(v, c, a), self.turning(v, a, b)];
        let signs = weights.map(Turning::sign);
        if signs.contains(&1) && signs.contains(&-1) {
            return Sighting::Never;
        }
        let depth = depth_between(&weights, &corners.map(|corner| corner.depth));
        self.at_depths([v.depth; 2], depth, vertex.0)
    }

    /// An edge of P and one of Q.
    pub(super) fn edges(&self, of_p: [Corner; 2], of_q: [Corner; 2]) -> Sighting {
        let ([a, b], [c, d]) = (of_p.map(|i| self.seen(i)), of_q.map(|i| self.seen(i)));
        if self.is_beside([a, b], &[c, d]) {
            return Sighting::Never;
        }
        // The weight of an end is the area over the other end.
        let of_p = [self.turning(b, c, d), self.turning(a, d, c)];
        let of_q = [self.turning(d, b, a), self.turning(c, a, b)];
        for weights in [of_p, of_q] {
            if weights[0].sign() * weights[1].sign() < 0 {
                return Sighting::Never;
            }
        }
        let depths_p = depth_between(&of_p, &[a.depth, b.depth]);
        let depths_q = depth_between(&of_q, &[c.depth, d.depth]);
        self.at_depths(depths_p, depths_q, Whose::P)
    }

    /// Whether all points are certainly seen on one side of the two along an axis.
    fn is_beside(&self, ends: [Seen; 2], points: &[Seen]) -> bool {
        let along = |of: fn(&Seen) -> f64| {
            let (low, high) = (of(&ends[0]).min(of(&ends[1])), of(&ends[0]).max(of(&ends[1])));
            points.iter().all(|point| of(point) - high > self.blur)
                || points.iter().all(|point| low - of(point) > self.blur)
        };
        along(|seen| seen.x) || along(|seen| seen.y)
    }

    /// The times between two ranges of depths, the first of a face of `body`.
    fn at_depths(&self, first: [f64; 2], second: [f64; 2], body: Whose) -> Sighting {
        let [p, q] = match body {
            Whose::P => [first, second],
            Whose::Q => [second, first],
        };
        // The last difference rounds; depths are not much larger than the time or nearly cancel.
        let largest = first.iter().chain(&second).fold(0.0, |largest: f64, d| largest.max(d.abs()));
        let error = 2.0 * self.depth_blur + gamma(4) * largest;
        Sighting::Perhaps([p[0] - q[1] - error, p[1] - q[0] + error])
    }
}

/// Around the mean of depths under weights that are areas, which should have one sign.
///
/// With e the areas, δ their errors and d the mean, the mean under `e + δ` differs from d by `Σ δ
/// (depth - d) / Σ (e + δ)`: at most the range of the depths times `Σ |δ| / (|Σ e| - Σ |δ|)`. The
/// mean itself passes fewer than eight roundings, relative to the largest depth, and the underflow
/// of three products that are divided by `Σ e`.
fn depth_between(weights: &[Turning], depths: &[f64]) -> [f64; 2] {
    let low = depths.iter().copied().fold(f64::INFINITY, f64::min);
    let high = depths.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut whole, mut error, mut sum) = (0.0, 0.0, 0.0);
    for (weight, depth) in weights.iter().zip(depths) {
        whole += weight.value;
        error += weight.error;
        sum += weight.value * (depth - low);
    }
    let is_certain = weights.iter().all(|weight| weight.sign() == weights[0].sign())
        && weights[0].sign() != 0
        && whole.abs() > 4.0 * error
        && whole.is_finite()
        && sum.is_finite();
    if !is_certain {
        return [low, high];
    }
    let range = high - low;
    let mean = low + sum / whole;
    let around = range * (2.0 * error / whole.abs())
        + gamma(16) * (range + low.abs().max(high.abs()))
        + 2.0 * UNDERFLOW
        + 4.0 * (UNDERFLOW / whole.abs());
    // NaN on overflow leaves the whole range.
    [(mean - around).max(low), (mean + around).min(high)]
}
