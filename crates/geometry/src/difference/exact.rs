//! The Minkowski difference M = {q - p} of a placed pair in exact integers: its vertices, its
//! supporting vertices, its directions, and its affine hull.
//!
//! A coordinate of `R v + t` is a sum of products of f64 numbers, so it is an integer times a power
//! of two, and over finitely many vertices the smallest such power serves for all. A vertex is
//! converted when it is asked for. Who asks for the same ones again and again has them kept
//! ([`Difference::corner`]); who hardly does, and shares M, has not ([`Difference::at`]).

use arrayvec::ArrayVec;
use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::nearest::nearest_of;
use crate::Vec3;
use crate::claim::{Axis, Direction};
use crate::effort::Effort;
use crate::number::rounding::{UNDERFLOW, gamma};
use crate::number::scaled::{
    Integers, cross, difference, dot, exact_vector, is_zero, negated, rounded_direction, sum, unit,
};
use crate::pair::{Pair, Placed, VertexPair};
use crate::polytope::Polytope;
use crate::pose::scaled_points::{Exponents, ScaledPoints};
use crate::support::{climb_by, likely_vertex};

/// See the module.
#[derive(Debug)]
pub(crate) struct Difference<'a> {
    p: ExactBody<'a>,
    q: ExactBody<'a>,
    exponent: i64,
}

/// One body of the pair.
#[derive(Debug)]
struct ExactBody<'a> {
    body: &'a Polytope,
    points: ScaledPoints<'a>,
    /// The last supporting vertex: the next one is often near.
    last: Option<u32>,
}

/// A vertex of M: its name and where it is.
#[derive(Clone, Debug)]
pub(crate) struct ExactCorner {
    pub(crate) pair: VertexPair,
    pub(crate) point: Integers,
}

impl<'a> Difference<'a> {
    /// Chooses the exponent, for which it looks at every vertex once; converts none yet.
    pub(crate) fn new(pair: &Pair<'a>) -> Self {
        let of = |placed: &Placed<'_>| Exponents::of(placed.body.vertices(), &placed.pose);
        let (of_p, of_q) = (of(&pair.p), of(&pair.q));
        let exponent = of_p.placed.min(of_q.placed);
        let side = |placed: &Placed<'a>, exponents| ExactBody {
            body: placed.body,
            points: ScaledPoints::new(placed.body.vertices(), &placed.pose, exponents, exponent),
            last: None,
        };
        Self { p: side(&pair.p, of_p), q: side(&pair.q, of_q), exponent }
    }

    /// The points of M are integers times two to this.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Vertex `i` of P, in the world.
    pub(crate) fn vertex_of_p(&self, i: u32) -> Integers {
        self.p.points.place(i)
    }

    /// Vertex `j` of Q, in the world.
    pub(crate) fn vertex_of_q(&self, j: u32) -> Integers {
        self.q.points.place(j)
    }

    /// A direction of the world as a functional of the frame of Q, up to a positive factor.
    pub(crate) fn direction_in_q(&self, n: &Integers) -> Integers {
        self.q.points.direction_in_body(n)
    }

    /// The point of M that a vertex pair names.
    pub(crate) fn at(&self, pair: VertexPair) -> Integers {
        difference(&self.vertex_of_q(pair.j), &self.vertex_of_p(pair.i))
    }

    /// A vertex pair whose point is least along `direction` among all of M, exactly: a vertex of P
    /// farthest along it and a vertex of Q farthest against it. `hint` says where to start.
    pub(crate) fn least_from(
        &self,
        direction: &Integers,
        hint: VertexPair,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        VertexPair {
            i: self.p.farthest_from(direction, hint.i, effort),
            j: self.q.farthest_from(&negated(direction), hint.j, effort),
        }
    }

    /// The point of M that a vertex pair names, with its name; kept.
    pub(crate) fn corner(&mut self, pair: VertexPair) -> ExactCorner {
        let q = self.q.points.point(pair.j);
        ExactCorner { pair, point: difference(q, self.p.points.point(pair.i)) }
    }

    /// A vertex of M farthest along `n`, which is not zero: exact.
    pub(crate) fn farthest(&mut self, n: &Integers, effort: &mut Effort<'_>) -> ExactCorner {
        let opposite = negated(n);
        let j = self.q.farthest(n, effort);
        let i = self.p.farthest(&opposite, effort);
        self.corner(VertexPair { i, j })
    }

    /// The least of `n·m` over M, with the vertex where it is.
    pub(crate) fn least_along(
        &mut self,
        n: &Integers,
        effort: &mut Effort<'_>,
    ) -> (IBig, ExactCorner) {
        let corner = self.farthest(&negated(n), effort);
        (dot(n, &corner.point), corner)
    }

    /// An f64 vector along which M is strictly on the positive side of the origin, near `along`, if
    /// rounding `along` gives one; proven exactly.
    pub(crate) fn separating_vector(
        &mut self,
        along: &Integers,
        effort: &mut Effort<'_>,
    ) -> Option<Vec3> {
        let vector = rounded_direction(along);
        self.is_separated_along(&vector, effort).then_some(vector)
    }

    /// Whether a finite vector separates, exactly.
    pub(crate) fn is_separated_along(&mut self, vector: &Vec3, effort: &mut Effort<'_>) -> bool {
        let exact = exact_vector(vector);
        !is_zero(&exact) && self.least_along(&exact, effort).0 > IBig::ZERO
    }

    /// A direction of M, in any of the static forms, as integers, up to a positive factor;
    /// zero for one that needs a motion.
    pub(crate) fn direction(&mut self, direction: &Direction) -> Integers {
        let mut edge = |from: VertexPair, to: VertexPair| {
            difference(&self.corner(to).point, &self.corner(from).point)
        };
        let (normal, negative) = match direction {
            Direction::Vector(vector) => (exact_vector(vector), false),
            Direction::Normal { pairs: [a, b, c], negative } => {
                (cross(&edge(*a, *b), &edge(*a, *c)), *negative)
            }
            Direction::EdgeNormal { pairs: [a, b], axis, negative } => {
                (cross(&edge(*a, *b), &unit(axis_number(*axis))), *negative)
            }
            Direction::Nearest { pairs, negative } => {
                let corners = pairs.map(|pair| (pair, self.corner(pair).point));
                let nearest = nearest_of(&corners).map(|(nearest, _)| nearest.direction);
                (nearest.expect("of three points some have the nearest"), *negative)
            }
            Direction::SweptNormal { .. } | Direction::SweptAxis { .. } => {
                (exact_vector(&Vec3::zeros()), false)
            }
        };
        if negative { negated(&normal) } else { normal }
    }

    /// As many affinely independent vertices of M as there are: its dimension and one.
    pub(crate) fn simplex(&mut self) -> ArrayVec<ExactCorner, 4> {
        let p = self.p.body.affine_basis();
        let q = self.q.body.affine_basis();
        let base = self.corner(VertexPair { i: p[0], j: q[0] });
        let along_p = p[1..].iter().map(|&i| VertexPair { i, j: q[0] });
        let along_q = q[1..].iter().map(|&j| VertexPair { i: p[0], j });
        let mut edges: ArrayVec<Integers, 3> = ArrayVec::new();
        let mut corners: ArrayVec<ExactCorner, 4> = ArrayVec::new();
        corners.push(base);
        for pair in along_p.chain(along_q) {
            if corners.is_full() {
                break;
            }
            let corner = self.corner(pair);
            let edge = difference(&corner.point, &corners[0].point);
            let independent = match edges.as_slice() {
                [] => !is_zero(&edge),
                [a] => !is_zero(&cross(a, &edge)),
                [a, b] => !dot(&cross(a, b), &edge).is_zero(),
                _ => false,
            };
            if independent {
                edges.push(edge);
                corners.push(corner);
            }
        }
        corners
    }
}

impl ExactBody<'_> {
    /// A vertex farthest along `n`, climbing along edges from `start`.
    ///
    /// Every step is strictly upward in exact arithmetic, so it ends, and where no edge leads up
    /// the convex body has no farther vertex.
    fn farthest_from(&self, n: &Integers, start: u32, effort: &mut Effort<'_>) -> u32 {
        let in_body = self.points.direction_in_body(n);
        let g = rounded_direction(&in_body);
        effort.cost.supports += 1;
        let mut at = start.min(self.body.vertex_count() - 1);
        'climb: loop {
            for &next in self.body.neighbours(at) {
                effort.cost.visited += 1;
                let edge = self.body.vertex(next) - self.body.vertex(at);
                let is_up = surely(&g, &edge).unwrap_or_else(|| {
                    let edge = difference(&self.points.local(next), &self.points.local(at));
                    dot(&in_body, &edge) > IBig::ZERO
                });
                if is_up {
                    at = next;
                    continue 'climb;
                }
            }
            return at;
        }
    }

    /// The vertex farthest along `n`: found in floating point, then climbed on in exact order.
    fn farthest(&mut self, n: &Integers, effort: &mut Effort<'_>) -> u32 {
        let body = self.body;
        let g = rounded_direction(&self.points.direction_in_body(n));
        let start = likely_vertex(body, &g, self.last, effort);
        let points = &mut self.points;
        let vertex = climb_by(body, start, effort, |a, b| {
            let edge = body.vertex(a) - body.vertex(b);
            match surely(&g, &edge) {
                Some(beats) => beats,
                None => {
                    let from = dot(n, points.point(b));
                    dot(n, points.point(a)) > from
                }
            }
        });
        self.last = Some(vertex);
        vertex
    }
}

/// Whether the exact functional that `g` rounds grows along the exact edge that `edge` rounds; none
/// when rounding leaves it open.
///
/// Each `g_k` is off by `2u` relative and half of `UNDERFLOW`; each `edge_k` by `u` relative (a
/// difference cannot underflow); a product adds `u` and half of `UNDERFLOW`, the two sums `2u`: at
/// most `γ₆` in all, and γ₈ covers the rounding of the bound itself. All of it is far from
/// overflow, since `|g_k| <= 1` and `|edge_k| <= 2^961`.
fn surely(g: &Vec3, edge: &Vec3) -> Option<bool> {
    let terms = g.component_mul(edge);
    let value = terms.x + terms.y + terms.z;
    let sizes = terms.abs();
    let reach = edge.abs();
    let bound = gamma(8) * (sizes.x + sizes.y + sizes.z)
        + UNDERFLOW * (4.0 + (reach.x + reach.y + reach.z));
    // NaN is not larger than anything.
    (value.abs() > bound).then_some(value > 0.0)
}

fn axis_number(axis: Axis) -> usize {
    match axis {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    }
}

/// The axes by number.
pub(crate) const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

/// A direction along which nothing is distinguished.
#[derive(Clone, Debug)]
pub(crate) enum Lineality {
    /// A coordinate axis: its normals can be named in a certificate.
    Axis(usize),
    /// Any vector.
    Along(Integers),
}

impl Lineality {
    pub(crate) fn vector(&self) -> Integers {
        match self {
            Self::Axis(axis) => unit(*axis),
            Self::Along(vector) => vector.clone(),
        }
    }
}

/// Where the affine hull of M is.
pub(crate) enum Hull {
    /// It holds the origin; M is solid modulo these axes.
    ThroughOrigin(ArrayVec<Lineality, 2>),
    /// It does not: the exact direction has one positive value on all of M.
    Off(Integers, Direction),
}

/// Where the affine hull of M, which the simplex spans, is.
pub(crate) fn affine_hull(simplex: &[ExactCorner]) -> Hull {
    let edge = |k: usize| difference(&simplex[k].point, &simplex[0].point);
    let base = &simplex[0].point;
    match simplex.len() {
        1 => {
            if is_zero(base) {
                return Hull::ThroughOrigin(axes_but(0, 1));
            }
            let axis = longest_axis(base);
            let one = if base[axis] < IBig::ZERO { -1.0 } else { 1.0 };
            let named = Direction::Vector(Vec3::ith(axis, one));
            // The point itself is the nicer direction.
            Hull::Off(base.clone(), named)
        }
        2 => {
            let moment = cross(base, &simplex[1].point);
            if is_zero(&moment) {
                let along = longest_axis(&edge(1));
                return Hull::ThroughOrigin(axes_but((along + 1) % 3, (along + 2) % 3));
            }
            // (u x e_k)·d0 is the moment's k-th coordinate.
            let axis = longest_axis(&moment);
            let negative = moment[axis] < IBig::ZERO;
            let across = cross(&edge(1), &cross(base, &edge(1)));
            Hull::Off(across, edge_normal(simplex, axis, negative))
        }
        3 => {
            let normal = cross(&edge(1), &edge(2));
            let height = dot(&normal, base);
            if height.is_zero() {
                let axis = longest_axis(&normal);
                return Hull::ThroughOrigin(ArrayVec::from_iter([Lineality::Axis(axis)]));
            }
            let negative = height < IBig::ZERO;
            let pairs = [simplex[0].pair, simplex[1].pair, simplex[2].pair];
            let along = if negative { negated(&normal) } else { normal };
            Hull::Off(along, Direction::Normal { pairs, negative })
        }
        _ => Hull::ThroughOrigin(ArrayVec::new()),
    }
}

fn axes_but(a: usize, b: usize) -> ArrayVec<Lineality, 2> {
    ArrayVec::from([Lineality::Axis(a), Lineality::Axis(b)])
}

/// `±(d1 - d0) x e_axis` of the simplex's first two corners.
pub(crate) fn edge_normal(simplex: &[ExactCorner], axis: usize, negative: bool) -> Direction {
    Direction::EdgeNormal { pairs: [simplex[0].pair, simplex[1].pair], axis: AXES[axis], negative }
}

/// The axis on which the vector is longest.
pub(crate) fn longest_axis(vector: &Integers) -> usize {
    (0..3).max_by_key(|&k| vector[k].bit_len()).expect("three axes")
}

/// The sum of the corners: a multiple of their centre.
pub(crate) fn sum_of(corners: &[ExactCorner]) -> Integers {
    let mut total = corners[0].point.clone();
    for corner in &corners[1..] {
        total = sum(&total, &corner.point);
    }
    total
}
