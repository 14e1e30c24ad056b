//! What f64 arithmetic proves about a line that enters M through a proposed facet: that it is one,
//! that the line passes inside its triangle, and between which two adjacent f64 numbers the exact
//! parameter lies. Whatever is not proven is left to exact arithmetic.
//!
//! A facet of M in general position is a face of P and a vertex of Q, a vertex and a face, or an
//! edge and an edge: three pairs of four vertices in all. Its normal N is then exactly square to
//! the edges between those vertices, and it supports M if no neighbour of one of them, in either
//! body, is farther: on the graph of edges, an end of every climb is the maximum. Where the face
//! has more than three corners, the others are exactly as far, and where facets beside it are in
//! its plane but for rounding, nearly; that three are of one facet is known without numbers.
//!
//! *The parameter* solves `Σ λ_i d_i = t u` with the weights λ of the point in the triangle. For
//! any vector n, t₁: `t = t₁ + Σ λ_i r_i / (n·u)` with `r_i = n·(d_i - t₁ u)`. With n near N and t₁
//! near t the r_i are small, so rounded weights suffice, while the r_i are sums of products that
//! cancel: their factors are cut into slices on a common grid, so that sums of products of slices
//! are exact in f64 (Rump, Ogita, Oishi, *Accurate floating-point summation*, SIAM J. Sci. Comput.
//! 31, 2008, §3). n has 27 bits and t₁ 26, which makes that cheap.

mod beside;
mod slices;

use self::beside::triangles_beside;
use self::slices::{Functional, along, dot, larger, power_above, short, sliced, two_sum, whole};
use crate::Vec3;
use crate::difference::largest;
use crate::difference::probe::offset;
use crate::effort::Effort;
use crate::number::binary::power_of_two;
use crate::number::rounding::{CAST_LENGTHS, ENTRY_FLOOR, UNIT, gamma};
use crate::pair::{Pair, Placed, VertexPair};
use crate::polytope::Polytope;
use crate::support::{NeighboursBut, neighbours_are_below};

/// The direction u of a line as `high + low`, up to `2^-80` of the largest component of `high`;
/// `low` is at most half a last place of a number up to `2^20` times as large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineDirection {
    pub(crate) high: Vec3,
    pub(crate) low: Vec3,
}

impl LineDirection {
    /// At least `|low|₁`.
    #[inline]
    fn rest(&self) -> f64 {
        1.01 * self.low.abs().sum()
    }
}

/// A proven entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The corners of the facet's triangle, which holds the point of entry.
    pub(crate) pairs: [VertexPair; 3],
    /// Whether `(d1 - d0) x (d2 - d0)` of the pairs points away from M.
    pub(crate) negative: bool,
    /// The inward normal, rounded.
    pub(crate) normal: Vec3,
    /// The exact parameter lies strictly between these adjacent numbers.
    pub(crate) between: [f64; 2],
}

/// Proves that the line `{t u}` enters M through the triangle of `pairs` or one beside it, at a
/// parameter near `about`.
#[inline(always)]
pub(crate) fn certify(
    pair: &Pair<'_>,
    u: &LineDirection,
    pairs: &[VertexPair; 3],
    about: f64,
    effort: &mut Effort<'_>,
) -> Option<Entry> {
    match certify_in(pair, u, pairs, about, effort) {
        Some(entry) => Some(entry),
        None => certify_beside(pair, u, pairs, about, effort),
    }
}

/// Proves an entry beside the triangle, on the same side of the parameter 0.
#[cold]
#[inline(never)]
fn certify_beside(
    pair: &Pair<'_>,
    u: &LineDirection,
    pairs: &[VertexPair; 3],
    about: f64,
    effort: &mut Effort<'_>,
) -> Option<Entry> {
    triangles_beside(pair, &u.high, pairs)
        .filter(|(_, at)| (*at > 0.0) == (about > 0.0))
        .find_map(|(pairs, about)| certify_in(pair, u, &pairs, about, effort))
}

/// Proves an entry in that triangle.
#[inline(always)]
fn certify_in(
    pair: &Pair<'_>,
    u: &LineDirection,
    pairs: &[VertexPair; 3],
    about: f64,
    effort: &mut Effort<'_>,
) -> Option<Entry> {
    let facet = EntryPlane::through(pair, pairs, u)?;
    if !facet.supports(pair, effort) {
        return None;
    }
    let weights = EntryWeights::of(pair, &facet, u, about)?;
    let between = parameter(pair, &facet, &weights, u, about)?;
    Some(Entry { pairs: *pairs, negative: facet.negative, normal: facet.normal, between })
}

/// The different ones of three numbers.
#[derive(Clone, Copy, Debug)]
struct Distinct {
    /// In order of appearance; then the first again.
    names: [u32; 3],
    count: usize,
    /// Which of them each of the three is.
    slots: [usize; 3],
}

impl Distinct {
    #[inline(always)]
    fn of([a, b, c]: [u32; 3]) -> Self {
        let second = usize::from(b != a);
        let third = usize::from(c != a) * if c == b { second } else { second + 1 };
        let next = if second == 1 { b } else { c };
        let last = if third == 2 { c } else { a };
        Self { names: [a, next, last], count: 1 + second.max(third), slots: [0, second, third] }
    }

    #[inline(always)]
    fn names(&self) -> &[u32] {
        &self.names[..self.count]
    }
}

/// The four vertices of a facet in general position.
struct Vertices {
    of_p: Distinct,
    of_q: Distinct,
    /// P's, then Q's.
    names: [u32; 4],
}

impl Vertices {
    #[inline(always)]
    fn of(pairs: &[VertexPair; 3]) -> Option<Self> {
        let [k, l, m] = pairs;
        let (of_p, of_q) = (Distinct::of([k.i, l.i, m.i]), Distinct::of([k.j, l.j, m.j]));
        let ([a, b, c], [x, y, z]) = (of_p.names, of_q.names);
        let names = match (of_p.count, of_q.count) {
            (3, 1) => [a, b, c, x],
            (2, 2) => [a, b, x, y],
            (1, 3) => [a, x, y, z],
            _ => return None,
        };
        Some(Self { of_p, of_q, names })
    }

    /// Whose vertex it is, and where; of the four by number.
    #[inline(always)]
    fn at<'a>(&self, pair: &'a Pair<'_>, number: usize) -> (&'a Placed<'a>, &'a Vec3) {
        let placed = if number < self.of_p.count { &pair.p } else { &pair.q };
        (placed, placed.body.vertex(self.names[number]))
    }

    /// Two edges of the facet in the world, each with a bound of its coordinates.
    ///
    /// An edge is `R e`, with `e = x_to - x_from` within a relative u; a row of R has entries whose
    /// sizes sum to less than 1.74; so each coordinate is off by at most `γ₄ |e|₁` and at most
    /// `1.01 |e|₁`.
    #[inline(always)]
    fn edges(&self, pair: &Pair<'_>) -> [(Vec3, f64); 2] {
        let ends = [0, 1, 2, 3].map(|number| self.at(pair, number).1);
        let (p, q) = (&pair.p, &pair.q);
        let [(of_a, a), (of_b, b)] = match self.of_p.count {
            3 => [(p, ends[1] - ends[0]), (p, ends[2] - ends[0])],
            2 => [(p, ends[1] - ends[0]), (q, ends[3] - ends[2])],
            _ => [(q, ends[2] - ends[1]), (q, ends[3] - ends[1])],
        };
        let placed = |by: &Placed<'_>, e: &Vec3| (by.pose.rotation * e, 1.01 * e.abs().sum());
        [placed(of_a, &a), placed(of_b, &b)]
    }

    /// `value of Q's - value of P's` for each corner of the triangle.
    #[inline(always)]
    fn differences<T: Copy>(&self, values: &[T; 4], less: impl Fn(T, T) -> T) -> [T; 3] {
        let of = |corner: usize| {
            let (p, q) = (self.of_p.slots[corner], self.of_p.count + self.of_q.slots[corner]);
            // Neither is more than three: said so that nobody has to ask.
            less(values[q & 3], values[p & 3])
        };
        [of(0), of(1), of(2)]
    }
}

/// The plane of a facet in general position.
struct EntryPlane {
    vertices: Vertices,
    normal: Vec3,
    negative: bool,
    /// At least `a b`, with a, b bounds of the coordinates of the two edges: no coordinate of
    /// `normal` exceeds twice that, none is off by more than `γ₂₆` of it.
    size: f64,
}

impl EntryPlane {
    /// With edges A, B off by `γ₄ a`, `γ₄ b`: a product of coordinates is off by `(2 γ₄ + γ₄² + u)
    /// a b`, a difference of two of them by twice that and a rounding: `γ₂₂ a b`. `N·high` is off
    /// by at most `(γ₂₂ + 2 γ₃) a b |high|₁`, and `N·low` is at most `2 a b |low|₁`.
    #[inline(always)]
    fn through(pair: &Pair<'_>, pairs: &[VertexPair; 3], u: &LineDirection) -> Option<Self> {
        let vertices = Vertices::of(pairs)?;
        let [(a, size_a), (b, size_b)] = vertices.edges(pair);
        // For an edge of either body: d_k - d_0 = β_k B - α_k A with α, β in {0, 1}; so
        // (d1 - d0) x (d2 - d0) = (α₂ β₁ - α₁ β₂) A x B. Of a face it is A x B.
        let is =
            |corner: usize| (vertices.of_p.slots[corner] == 1, vertices.of_q.slots[corner] == 1);
        let ((alpha1, beta1), (alpha2, beta2)) = (is(1), is(2));
        let forwards = alpha2 & beta1 & !(alpha1 & beta2);
        let opposite = (vertices.of_p.count == 2) & !forwards;
        let size = size_a * size_b;
        let product = a.cross(&b);
        let rate = dot(&product, &u.high);
        let certain =
            rate.abs() > size * (gamma(36) * u.high.abs().sum() + 2.1 * u.rest()) + ENTRY_FLOOR;
        // Inward is along u.
        let turned = rate < 0.0;
        let normal = product * if turned { -1.0 } else { 1.0 };
        let negative = turned != opposite;
        certain.then_some(Self { vertices, normal, negative, size })
    }

    #[inline(always)]
    fn supports(&self, pair: &Pair<'_>, effort: &mut Effort<'_>) -> bool {
        self.is_highest(&pair.p, &self.normal, &self.vertices.of_p, effort)
            && self.is_highest(&pair.q, &-self.normal, &self.vertices.of_q, effort)
    }

    /// Whether no vertex of the body is farther along n than the given ones, which are in a plane
    /// square to it. All neighbours of the first but the others are surely below, or the plane is a
    /// facet's.
    ///
    /// `g = Rᵀn` is off by at most `1.74 (γ₂₂ + 2 γ₃) ab <= γ₄₉ ab` and at most `3.5 ab`. Along an
    /// edge f of the body, off by a relative u, the value is off by `(γ₄₉ + 3.5 γ₄) ab |f|₁`. As
    /// the difference of two vertices' values, with s the sum of the body's reaches, it is off by
    /// `γ₄₉ ab 2s`, twice `3.5 γ₃ ab s`, and the limit's rounding: `γ₁₃₀ ab s` in all.
    #[inline(always)]
    fn is_highest(
        &self,
        placed: &Placed<'_>,
        n: &Vec3,
        vertices: &Distinct,
        effort: &mut Effort<'_>,
    ) -> bool {
        let body = placed.body;
        let g = placed.pose.direction_to_body_rounded(n);
        let first = vertices.names[0];
        let span = body.bounds().span;
        let error = gamma(150) * self.size * span + ENTRY_FLOOR * (1.0 + span);
        let limit = dot(&g, body.vertex(first)) - error;
        let around = NeighboursBut { vertex: first, but: &vertices.names };
        neighbours_are_below(body, &g, limit, around, effort)
            || self.is_highest_of_neighbours(body, &g, vertices, effort)
    }

    /// Whether the vertices are the farthest, decided by one edge after the other.
    #[inline(never)]
    fn is_highest_of_neighbours(
        &self,
        body: &Polytope,
        g: &Vec3,
        vertices: &Distinct,
        effort: &mut Effort<'_>,
    ) -> bool {
        let vertices = vertices.names();
        let base = body.vertex(vertices[0]);
        let neighbours = body.neighbours(vertices[0]);
        effort.cost.visited += neighbours.len() as u64;
        let is_below = |next: &u32| {
            let f = body.vertex(*next) - base;
            let bound = gamma(80) * self.size * f.abs().sum() + ENTRY_FLOOR;
            // NaN is not smaller.
            g.dot(&f) < -bound
        };
        neighbours.iter().all(|next| is_below(next) || vertices.contains(next))
            || are_of_one_facet(body, vertices, is_below)
    }
}

/// Whether the three vertices are of one facet, and the body is on the side of its plane on which a
/// neighbour of the first is that is surely below.
///
/// The plane of the three is then exactly the facet's, however many other vertices are in it or
/// near it, and the neighbour below tells on which side the body is. A polygon has no other side.
#[inline(never)]
fn are_of_one_facet(body: &Polytope, vertices: &[u32], is_below: impl Fn(&u32) -> bool) -> bool {
    let &[first, second, third] = vertices else { return false };
    let ring = body.neighbours(first);
    let has_one_side = ring.len() == 2 || ring.iter().any(is_below);
    let shares_facet = |start: &u32| {
        let of_facet = body.along_facet(first, *start);
        of_facet.filter(|vertex| [second, third].contains(vertex)).count() == 2
    };
    has_one_side && ring.iter().any(shares_facet)
}

/// The weights of the point of entry in the triangle.
struct EntryWeights {
    /// Positive, with sum 1 but for rounding.
    of: [f64; 3],
    /// Each is off by at most this.
    error: f64,
}

impl EntryWeights {
    /// They are as `det(u, d_b, d_c)` and so on, which stays the same when a multiple of u is taken
    /// from the corners: so those are taken relative to the point at t = `about`.
    ///
    /// With the largest coordinates of each, a coordinate of a corner is off by at most `γ₆ 1.74
    /// (reach_P + reach_Q)` (a row's products and sums, three more sums), `γ₃ |t_Q - t_P|`, `γ₃ |t
    /// high|` and `|t low|`: η in all. With m the largest coordinate, a determinant with `high` is
    /// off by at most `|high|₁ (4 m η + 2 η² + γ₇ 2 m²)`, and that with `low` is at most `2 m²
    /// |low|₁`.
    #[inline(always)]
    fn of(pair: &Pair<'_>, plane: &EntryPlane, u: &LineDirection, about: f64) -> Option<Self> {
        let offset = offset(pair);
        let point = u.high * about;
        let mut placed = [Vec3::zeros(); 4];
        for (number, placed) in placed.iter_mut().enumerate() {
            let (body, vertex) = plane.vertices.at(pair, number);
            *placed = body.pose.rotation * vertex;
        }
        let corner = |of_q: Vec3, of_p: Vec3| ((of_q - of_p) + offset) - point;
        let corners = plane.vertices.differences(&placed, corner);
        let reach = largest(&pair.p.body.bounds().reach) + largest(&pair.q.body.bounds().reach);
        let moved = largest(&offset) + largest(&point);
        let eta = gamma(11) * reach + gamma(4) * moved + about.abs() * u.rest() + ENTRY_FLOOR;
        let [a, b, c] = &corners;
        let m = larger(larger(largest(a), largest(b)), largest(c)) + eta;
        let bound = u.high.abs().sum() * (4.0 * m * eta + 2.0 * eta * eta + gamma(20) * m * m)
            + 2.1 * m * m * u.rest()
            + ENTRY_FLOOR;
        let sign = if plane.negative { -1.0 } else { 1.0 };
        let turn = |a: &Vec3, b: &Vec3| sign * dot(&u.high, &a.cross(b));
        let sides = [turn(b, c), turn(c, a), turn(a, b)];
        let sum = sides[0] + sides[1] + sides[2];
        let [x, y, z] = sides.map(|side| side > bound);
        let inside = x & y & z & (sum > 64.0 * bound);
        // A quotient of s ± b and S ± 3b is off by at most 4b / (S - 3b).
        inside.then(|| Self { of: sides.map(|s| s / sum), error: 5.0 * bound / sum + 4.0 * UNIT })
    }
}

/// Adjacent f64 numbers strictly between which t lies; see the module. None when they cannot be
/// told.
///
/// Errors of an r, in units of K, the power of two above all coordinates of vertices and
/// translations, and of U, that above those of u:
/// - the rests of two functionals: `2^-63 K`;
/// - of the translations, cut at `2^-22 K` and `2^-44 K`, n times the rest is below `2^-15 K`, with
///   eleven roundings: `2^-64 K`;
/// - of u, cut at `2^-24 U`, n times the rest is below `2^4 U`, with eight roundings, the products
///   with t₁ and their sums among them: `2^-46 U t₁`;
/// - adding up: the first parts are on the grid of `2^-22 K` below `2^31 K`, the second on that of
///   `2^-44 K` below `2^9 K`, so exact; the three sums after that are [`two_sum`]s; the sum of
///   rests and of what those lost is below `2^-13 K`, with six roundings: `2^-63 K`. In all `2^-61
///   K`.
#[inline(always)]
fn parameter(
    pair: &Pair<'_>,
    plane: &EntryPlane,
    weights: &EntryWeights,
    u: &LineDirection,
    about: f64,
) -> Option<[f64; 2]> {
    let (p, q) = (&pair.p, &pair.q);
    let extent = |placed: &Placed<'_>| {
        larger(largest(&placed.body.bounds().reach), largest(&placed.pose.translation))
    };
    let (size, speed) = (larger(extent(p), extent(q)), largest(&u.high));
    if !(CAST_LENGTHS.contains(&size)
        && CAST_LENGTHS.contains(&speed)
        && CAST_LENGTHS.contains(&about.abs()))
    {
        return None;
    }
    let (top, top_u) = (power_above(size), power_above(speed));
    let length = power_above(largest(&plane.normal));
    let n = (plane.normal * (power_of_two(27) / length)).map(whole);
    let t1 = short(about);
    let (on_p, on_q) =
        (Functional::new(&p.pose.rotation, &n), Functional::new(&q.pose.rotation, &n));
    let (from, to) = (along(&n, &p.pose.translation, top), along(&n, &q.pose.translation, top));
    let offset = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    let (u1, u2) = sliced(&u.high, top_u, 24);
    // n·u: exact, and the rest.
    let rate = [dot(&n, &u1), dot(&n, &u2) + dot(&n, &u.low)];
    let upper = short(rate[0]);
    // The first two products are exact: of 26 bits each, and of 27 and 26.
    let moved = [upper * t1, (rate[0] - upper) * t1, rate[1] * t1];
    let mut values = [[0.0; 3]; 4];
    for (number, value) in values.iter_mut().enumerate() {
        let functional = if number < plane.vertices.of_p.count { &on_p } else { &on_q };
        *value = functional.at(plane.vertices.at(pair, number).1, top);
    }
    let less = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let differences = plane.vertices.differences(&values, less);
    let mut r = [0.0; 3];
    for (r, difference) in r.iter_mut().zip(&differences) {
        let (sum, e1) = two_sum(difference[0] + offset[0], -moved[0]);
        let (sum, e2) = two_sum(sum, difference[1] + offset[1]);
        let (sum, e3) = two_sum(sum, -moved[1]);
        *r = sum + (((difference[2] + offset[2]) - moved[2]) + (e1 + (e2 + e3)));
    }
    let noise = top * power_of_two(-61) + top_u * t1.abs() * power_of_two(-46);
    // Where it is steep, the rate, too, is right to 2^-49.
    let (rate, is_steep) = (rate[0] + rate[1], (rate[0] + rate[1]).abs() > top_u * 8.0);
    if is_steep { Remainders { r, noise, rate }.neighbours_of(t1, weights) } else { None }
}

/// `r_k = n·d_k - t₁ n·u` for the triangle's corners d: how far each is from the plane's height at
/// `t₁`.
struct Remainders {
    r: [f64; 3],
    /// At least the error of each r.
    noise: f64,
    /// `n·u`
    rate: f64,
}

impl Remainders {
    /// The adjacent f64 numbers strictly between which t lies, `t₁` plus the mean remainder over
    /// the rate; none where that is too near a number, or too far from `t₁`.
    #[inline(always)]
    fn neighbours_of(&self, t1: f64, weights: &EntryWeights) -> Option<[f64; 2]> {
        let Self { r, noise, rate } = *self;
        let (r1, r2) = (r[1] - r[0], r[2] - r[0]);
        let mean = r[0] + (weights.of[1] * r1 + weights.of[2] * r2);
        let spread = r1.abs() + r2.abs();
        let step = mean / rate;
        let error =
            (noise + weights.error * spread + gamma(8) * (r[0].abs() + spread)) / rate.abs() * 1.01
                + step.abs() * gamma(32);
        let nearest = t1 + step;
        // Exact: the step is the smaller one.
        let rest = step - (nearest - t1);
        let (below, above) = (nearest.next_down(), nearest.next_up());
        let is_small = error < 0.25 * (above - nearest).min(nearest - below);
        let is_ordered = step.abs() < 0.5 * t1.abs();
        if !(is_small && is_ordered) {
            return None;
        }
        if rest > error {
            Some([nearest, above])
        } else if rest < -error {
            Some([below, nearest])
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests;
