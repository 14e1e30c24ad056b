//! Both bodies placed exactly on one integer grid: every placed vertex is three integers times one
//! common power of two.
//!
//! A coordinate of `R v + t` is a sum of products of f64 numbers, so it is an integer times a power
//! of two, and over finitely many vertices the smallest such power serves for all. Vertices are
//! placed when they are asked for.

use crate::geometry::Vec3;
use crate::geometry::effort::Effort;
use crate::geometry::number::Sign;
use crate::geometry::number::rounding::{UNDERFLOW, gamma};
use crate::geometry::number::scaled::{
    Integers, difference, dot, integer_at, least_exponent, rounded_direction, sign,
};
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::polytope::Polytope;

/// See the module.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    p: Side<'a>,
    q: Side<'a>,
    exponent: i64,
}

/// One body on the grid.
#[derive(Debug)]
struct Side<'a> {
    body: &'a Polytope,
    /// Entries of R as integers times one power of two.
    rotation: [Integers; 3],
    /// On the grid.
    translation: Integers,
    /// The body's own coordinates are integers times two to this.
    body_exponent: i64,
    /// From `R v` in integers to the grid.
    shift: usize,
}

impl<'a> Grid<'a> {
    /// Finds the grid. Looks at every vertex once.
    pub(crate) fn new(pair: &Pair<'a>) -> Self {
        let (p, q) = (Scales::of(&pair.p), Scales::of(&pair.q));
        let exponent = p.finest().min(q.finest());
        Self { p: Side::new(&pair.p, p, exponent), q: Side::new(&pair.q, q, exponent), exponent }
    }

    /// A grid step is two to this.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Vertex `i` of P.
    pub(crate) fn p(&self, i: u32) -> Integers {
        self.p.place(i)
    }

    /// Vertex `j` of Q.
    pub(crate) fn q(&self, j: u32) -> Integers {
        self.q.place(j)
    }

    /// The vertex pair's point of M.
    pub(crate) fn difference(&self, pair: VertexPair) -> Integers {
        difference(&self.q.place(pair.j), &self.p.place(pair.i))
    }

    /// A vertex pair whose point is least along `direction` among all of M, exactly: a vertex of P
    /// farthest along it and a vertex of Q farthest against it. `hint` says where to start.
    pub(crate) fn least_along(
        &self,
        direction: &Integers,
        hint: VertexPair,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        let against = [-&direction[0], -&direction[1], -&direction[2]];
        VertexPair {
            i: self.p.farthest(direction, hint.i, effort),
            j: self.q.farthest(&against, hint.j, effort),
        }
    }
}

/// Powers of two that divide everything about a body.
#[derive(Clone, Copy)]
struct Scales {
    body: i64,
    rotation: i64,
    translation: Option<i64>,
}

impl Scales {
    fn of(placed: &Placed<'_>) -> Self {
        Self {
            body: least_exponent(placed.body.vertices().iter().flat_map(Vec3::iter)).unwrap_or(0),
            rotation: least_exponent(placed.pose.rotation.iter()).unwrap_or(0),
            translation: least_exponent(placed.pose.translation.iter()),
        }
    }

    fn finest(self) -> i64 {
        let products = self.body + self.rotation;
        self.translation.map_or(products, |translation| translation.min(products))
    }
}

impl<'a> Side<'a> {
    fn new(placed: &Placed<'a>, scales: Scales, exponent: i64) -> Self {
        let rotation = placed.pose.rotation;
        let entry = |i: usize, k: usize| integer_at(rotation[(i, k)], scales.rotation);
        let translation = placed.pose.translation;
        Self {
            body: placed.body,
            rotation: std::array::from_fn(|i| std::array::from_fn(|k| entry(i, k))),
            translation: std::array::from_fn(|i| integer_at(translation[i], exponent)),
            body_exponent: scales.body,
            shift: usize::try_from(scales.body + scales.rotation - exponent)
                .expect("the finest one"),
        }
    }

    fn local(&self, i: u32) -> Integers {
        let v = self.body.vertex(i);
        std::array::from_fn(|k| integer_at(v[k], self.body_exponent))
    }

    fn place(&self, i: u32) -> Integers {
        let local = self.local(i);
        std::array::from_fn(|k| {
            (dot(&self.rotation[k], &local) << self.shift) + &self.translation[k]
        })
    }

    /// A vertex farthest along the world `direction`, climbing along edges from `start`.
    ///
    /// Every step is strictly upward in exact arithmetic, so it ends, and where no edge leads up
    /// the convex body has no farther vertex.
    fn farthest(&self, direction: &Integers, start: u32, effort: &mut Effort<'_>) -> u32 {
        let in_body: Integers = std::array::from_fn(|k| {
            &self.rotation[0][k] * &direction[0]
                + &self.rotation[1][k] * &direction[1]
                + &self.rotation[2][k] * &direction[2]
        });
        let rounded = rounded_direction(&in_body);
        effort.cost.supports += 1;
        let mut at = start.min(self.body.vertex_count() - 1);
        'climb: loop {
            for &next in self.body.neighbours(at) {
                effort.cost.visited += 1;
                if self.rise(&in_body, &rounded, at, next) == Sign::Positive {
                    at = next;
                    continue 'climb;
                }
            }
            return at;
        }
    }

    /// The sign of `direction · (next - at)`; `rounded` is the direction scaled to at most 1 and
    /// off by at most two units.
    fn rise(&self, direction: &Integers, rounded: &Vec3, at: u32, next: u32) -> Sign {
        let edge = self.body.vertex(next) - self.body.vertex(at);
        let terms = [rounded.x * edge.x, rounded.y * edge.y, rounded.z * edge.z];
        let value = (terms[0] + terms[1]) + terms[2];
        let magnitude = (terms[0].abs() + terms[1].abs()) + terms[2].abs();
        // The direction costs two units, edge, product and sum four more; the rest covers forming
        // the bound. What underflows: the direction's last bit times the edge, and the products.
        let error = gamma(10) * magnitude + 16.0 * UNDERFLOW * (1.0 + edge.amax());
        if value > error {
            Sign::Positive
        } else if value < -error {
            Sign::Negative
        } else {
            sign(&dot(direction, &difference(&self.local(next), &self.local(at))))
        }
    }
}
