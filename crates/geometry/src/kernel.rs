//! The hot loops, as free functions over plain data: how far a point lies along a direction, the
//! farthest of a few, the climb on a graph.
//!
//! Every comparison is between values of *positions* computed by one fixed expression ([`along`]).
//! So a climb is strictly increasing in a function of the vertex alone and cannot cycle; climbing
//! by rounded edge differences can, when several neighbours tie.

mod challenger;
#[cfg(target_arch = "x86_64")]
mod fours;

pub use challenger::{Challenger, first_challenger, first_challenger_of_few};

use super::Vec3;
use super::csr::Csr;
use super::effort::{Effort, Stopped};

/// `g·x`, rounded, always in this order.
#[inline]
pub fn along(g: &Vec3, x: &Vec3) -> f64 {
    (g.x * x.x + g.y * x.y) + g.z * x.z
}

/// Points that one [`Ring`] holds. A vertex of a triangulated surface has six neighbours in the
/// mean; of random hulls 4 % have more than eight.
pub const LANES: usize = 8;

/// A vertex with its first neighbours beside it: 256 bytes, four cache lines that a climb reads in
/// one go, where an adjacency list would send it to six or seven other places. All lanes are
/// evaluated without a branch, because which of them is the farthest is not predictable.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Ring {
    x: [f64; LANES],
    y: [f64; LANES],
    z: [f64; LANES],
    /// The points' numbers.
    names: [u32; LANES],
    /// The vertex itself.
    here: Vec3,
    /// Points that count; the lanes behind them repeat the last one.
    count: u32,
    /// The ring with the next neighbours; 0 for none, since no ring continues in that of vertex 0.
    next: u32,
}

const _: () = assert!(size_of::<Ring>() == 256);

/// The farthest point of a ring.
#[derive(Clone, Copy, Debug)]
struct Top {
    value: f64,
    name: u32,
}

impl Ring {
    /// A ring of at most [`LANES`] points; a vertex without neighbours is its own.
    fn new(points: &[Vec3], vertex: u32, names: &[u32]) -> Self {
        let name_at = |lane: usize| names.get(lane).or(names.last()).copied().unwrap_or(vertex);
        let names_padded: [u32; LANES] = std::array::from_fn(name_at);
        let coordinate = |k: usize| names_padded.map(|name| points[name as usize][k]);
        Self {
            x: coordinate(0),
            y: coordinate(1),
            z: coordinate(2),
            here: points[vertex as usize],
            names: names_padded,
            count: u32::try_from(names.len()).expect("at most LANES"),
            next: 0,
        }
    }

    /// All points of a body that has at most [`LANES`] of them.
    pub fn of_few(points: &[Vec3]) -> Self {
        assert!(points.len() <= LANES, "a ring holds {LANES} points");
        let names: arrayvec::ArrayVec<u32, LANES> =
            (0..).zip(points).map(|(name, _)| name).collect();
        Self::new(points, 0, &names)
    }

    /// The ring of each vertex of a graph, in order, and then the rings that continue them; a large
    /// body's may take half a second: not beyond the deadline.
    pub fn around_all(
        points: &[Vec3],
        graph: &Csr,
        effort: &Effort<'_>,
    ) -> Result<Vec<Self>, Stopped> {
        let mut rings = Vec::with_capacity(points.len());
        let mut long = Vec::new();
        for (vertex, row) in (0u32..).zip(graph.rows()) {
            effort.look_at_clock()?;
            let (first, rest) = row.split_at(row.len().min(LANES));
            rings.push(Self::new(points, vertex, first));
            if !rest.is_empty() {
                long.push((vertex, rest));
            }
        }
        for (vertex, rest) in long {
            let mut last = vertex as usize;
            for names in rest.chunks(LANES) {
                effort.look_at_clock()?;
                rings[last].next = u32::try_from(rings.len()).expect("fewer than 2^32 rings");
                last = rings.len();
                rings.push(Self::new(points, vertex, names));
            }
        }
        Ok(rings)
    }

    /// `g·x` of the vertex itself.
    #[inline]
    pub fn value(&self, g: &Vec3) -> f64 {
        along(g, &self.here)
    }

    #[inline(always)]
    fn values(&self, g: &Vec3) -> [f64; LANES] {
        let mut values = [0.0; LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = (g.x * self.x[lane] + g.y * self.y[lane]) + g.z * self.z[lane];
        }
        values
    }

    /// Points it holds.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether one of the ring's points reaches `limit` along `g`, or has no value, but for those
    /// named.
    #[inline(always)]
    fn reaches(&self, g: &Vec3, limit: f64, but: &[u32; 3]) -> bool {
        let values = self.values(g);
        let [a, b, c] = *but;
        let mut reaches = false;
        for (value, name) in values.iter().zip(self.names) {
            let is_below = *value < limit;
            reaches |= !is_below & (name != a) & (name != b) & (name != c);
        }
        reaches
    }

    /// The ring that continues it, if one does.
    #[inline]
    pub fn more<'a>(&self, rings: &'a [Self]) -> Option<&'a Self> {
        (self.next != 0).then(|| &rings[self.next as usize])
    }

    /// The points that reach `limit` along `g`, with their values; some of them more than once.
    #[inline(always)]
    pub fn reaching(&self, g: &Vec3, limit: f64) -> impl Iterator<Item = (f64, u32)> {
        let values = self.values(g);
        let named = std::array::from_fn::<_, LANES, _>(|lane| (values[lane], self.names[lane]));
        // A NaN is below nothing, so it is named.
        let is_below = move |value: f64| value < limit;
        named.into_iter().filter(move |(value, _)| !is_below(*value))
    }

    /// The farthest point, of equal ones the first. With a NaN among the values, any of them.
    #[inline(always)]
    fn top(&self, g: &Vec3) -> Top {
        let values = self.values(g);
        let value = largest(&values);
        Top { value, name: self.names[first_of(&values, value)] }
    }
}

/// The larger, in one instruction; of a NaN and anything, the second.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Two lanes, which is what a vector register of any processor holds.
type Two = [f64; 2];

#[inline(always)]
fn larger_of_each(a: Two, b: Two) -> Two {
    [larger(a[0], b[0]), larger(a[1], b[1])]
}

/// Lane by lane as long as possible, and across a register only at the end.
#[inline(always)]
fn largest(v: &[f64; LANES]) -> f64 {
    let [a, b, c, d] = [[v[0], v[1]], [v[2], v[3]], [v[4], v[5]], [v[6], v[7]]];
    let ([a, b], [c, d]) = (larger_of_each(a, c), larger_of_each(b, d));
    largest_of_four([a, b, c, d])
}

#[inline(always)]
fn largest_of_four([a, b, c, d]: [f64; 4]) -> f64 {
    let [even, odd] = larger_of_each([a, b], [c, d]);
    larger(even, odd)
}

/// The first lane with the largest value; any lane when that is NaN.
#[inline]
fn first_of(values: &[f64; LANES], largest: f64) -> usize {
    // Eight bytes a lane, as the values have, and no lane different from the others: so that all of
    // it stays in the vector registers. With the tags 1, 2, 4, ... the first lane's is the outcome
    // of its comparison itself, for which compilers compare all lanes one by one: 47 instructions,
    // and not 27.
    let mut tags = [0u64; LANES];
    for (lane, tag) in tags.iter_mut().enumerate() {
        *tag = if values[lane] >= largest { 2 << lane } else { 0 };
    }
    let lanes = tags.iter().fold(0, |lanes, tag| lanes | tag);
    (lanes.trailing_zeros() as usize).wrapping_sub(1) % LANES
}

/// Where a climb stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Climb {
    /// The vertex it reached.
    pub vertex: u32,
    /// Its rounded value.
    pub value: f64,
    /// The largest rounded value of its neighbours (its own when it has none, or when only the
    /// farthest was asked for); when all points were looked at, of all others (minus infinity when
    /// there is none).
    pub runner_up: f64,
    /// How many vertices were evaluated.
    pub visited: u32,
    /// Whether no neighbour has a larger rounded value; otherwise the steps ran out.
    pub finished: bool,
}

/// A vertex beside its neighbours, without saying which of them is the farthest: at the top of a
/// climb, where most looks are, nobody asks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    vertex: u32,
    value: f64,
    top: f64,
    visited: u32,
    /// The values of the points in the first ring.
    values: [f64; LANES],
}

impl Look {
    /// At a vertex that is known to be as far as any, from having looked at so many.
    #[inline]
    pub fn at_top(vertex: u32, value: f64, visited: u32) -> Self {
        Self { vertex, value, top: value, visited, values: [value; LANES] }
    }

    /// Whether no neighbour has a larger rounded value. A NaN (overflow) is never larger.
    #[inline]
    pub fn is_settled(&self) -> bool {
        let rises = self.top > self.value;
        !rises
    }

    /// Says how many vertices were evaluated.
    #[inline]
    pub fn visited(&self) -> u32 {
        self.visited
    }

    /// The farthest of the neighbours in the first ring, where it is farther; the vertex itself
    /// where not.
    #[inline(always)]
    pub fn farther(&self, rings: &[Ring]) -> u32 {
        let top = largest(&self.values);
        let name = rings[self.vertex as usize].names[first_of(&self.values, top)];
        if top > self.value { name } else { self.vertex }
    }

    /// The climb that ends here.
    #[inline]
    pub fn settled(&self) -> Climb {
        let Self { vertex, value, top, visited, .. } = *self;
        Climb { vertex, value, runner_up: top, visited, finished: true }
    }
}

/// Looks at one vertex, which is in range and has that rounded value, and its neighbours.
#[inline(always)]
pub fn look(g: &Vec3, rings: &[Ring], vertex: u32, value: f64) -> Look {
    let ring = &rings[vertex as usize];
    let mut visited = 1 + ring.count;
    let values = ring.values(g);
    let mut top = largest(&values);
    if ring.next != 0 {
        let first = Top { value: top, name: vertex };
        top = top_of_more(g, rings, ring.next, first, &mut visited).value;
    }
    Look { vertex, value, top, visited, values }
}

/// The first point with the largest rounded value along `g`; `points` is not empty.
pub fn farthest(g: &Vec3, points: &[Vec3]) -> (u32, f64) {
    let mut best = (0, along(g, &points[0]));
    for (index, point) in (1u32..).zip(&points[1..]) {
        let value = along(g, point);
        if value > best.1 {
            best = (index, value);
        }
    }
    best
}

/// The farthest of all points of a ring, which is a body of few vertices: of equal ones the first,
/// with its rounded value.
#[inline(always)]
pub fn farthest_of_few(g: &Vec3, all: &Ring) -> (u32, f64) {
    // The lanes behind the last point repeat it.
    let Top { value, name } = all.top(g);
    (name, value)
}

/// [`farthest_of_few`] with the distance to the next, as a look that is settled.
#[inline(never)]
pub fn look_at_few(g: &Vec3, all: &Ring) -> Look {
    let mut values = all.values(g);
    let count = all.count as usize;
    for (lane, value) in values.iter_mut().enumerate() {
        *value = if lane < count { *value } else { f64::NEG_INFINITY };
    }
    let value = largest(&values);
    let lane = first_of(&values, value);
    for (other, value) in values.iter_mut().enumerate() {
        *value = if other == lane { f64::NEG_INFINITY } else { *value };
    }
    Look { vertex: all.names[lane], value, top: largest(&values), visited: all.count, values }
}

/// Whether any vertex of the ring, except those in `but`, has `g . v >= limit`; NaN counts as
/// reaching. A ring may be continued in `rings`.
#[inline(always)]
pub fn reaches(ring: &Ring, rings: &[Ring], g: &Vec3, limit: f64, but: &[u32; 3]) -> bool {
    ring.reaches(g, limit, but) || (ring.next != 0 && more_reaches(ring.next, rings, g, limit, but))
}

#[inline(never)]
fn more_reaches(next: u32, rings: &[Ring], g: &Vec3, limit: f64, but: &[u32; 3]) -> bool {
    let mut next = next;
    while next != 0 {
        let ring = &rings[next as usize];
        if ring.reaches(g, limit, but) {
            return true;
        }
        next = ring.next;
    }
    false
}

/// Steepest climb on the graph of `rings` from `start`, which is in range: looks at the neighbours
/// of at most `steps` vertices.
#[inline(always)]
pub fn climb(g: &Vec3, rings: &[Ring], start: u32, steps: u32) -> Climb {
    let (mut vertex, mut visited) = (start, 1);
    let mut value = rings[start as usize].value(g);
    for _ in 0..steps {
        let ring = &rings[vertex as usize];
        let mut top = ring.top(g);
        visited += ring.count;
        if ring.next != 0 {
            top = top_of_more(g, rings, ring.next, top, &mut visited);
        }
        let rises = top.value > value;
        if !rises {
            return Climb { vertex, value, runner_up: top.value, visited, finished: true };
        }
        (vertex, value) = (top.name, top.value);
    }
    Climb { vertex, value, runner_up: f64::INFINITY, visited, finished: false }
}

#[cold]
#[inline(never)]
fn top_of_more(g: &Vec3, rings: &[Ring], next: u32, first: Top, visited: &mut u32) -> Top {
    let mut best = first;
    let mut next = next;
    while next != 0 {
        let ring = &rings[next as usize];
        let top = ring.top(g);
        *visited += ring.count;
        if top.value > best.value {
            best = top;
        }
        next = ring.next;
    }
    best
}

#[cfg(test)]
mod tests;
