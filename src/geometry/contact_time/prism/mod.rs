//! Translation as a fourth dimension: the 4-prisms of two moving convex bodies, and where they
//! meet.
//!
//! Source: Joseph, Plantinga, *Efficient Algorithms for Polyhedron Collision Detection*, 1987, §2,
//! and §3.2, Lemma 2, for the time. The hierarchy is Dobkin and Kirkpatrick's.
//!
//! A body that translates over the step sweeps a prism of space-time: the hull of its copy at the
//! start, at time 0, and its copy at the end, at time 1. The prisms share a point if and only if
//! the bodies collide. Every level of a body's hierarchy gives a prism inside the next outer one,
//! so the closest pair is found level by level from the innermost (Algorithm 1), until a pair is
//! one point, or level 0 is reached. Bodies that collide do so first where a pair of faces meets in
//! a single point (Lemma 2): the pair through whose prism the time axis enters the difference of
//! the prisms.
//!
//! Proves: nothing; it proposes a vector that separates over the whole step, or the pair of faces
//! (as three pairs of vertices) that meets first.
//! Cost: building is linear in the vertices; a query climbs the graph of each level from where the
//! level inside ended: a few steps a level.
//!
//! Where this differs from the text:
//! - One body is seen from the other, so that its prism stands still; nothing else changes.
//! - The closest pair of a level is found by Wolfe's algorithm on the difference of the prisms,
//!   from the closest pair of the level inside, in place of Dobkin and Kirkpatrick's walk.
//! - The text finds the time only for general polyhedra, by trying all pairs of faces. Here planes
//!   across closest pairs move a point along the time axis until it is on the prism.

mod closest_pair;

use self::closest_pair::{Corner, Corral, Event, Nearest};
use super::method::Method;
use crate::geometry::Vec3;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::hierarchy::Layer;
use crate::geometry::pair::{Pair, Placed, VertexPair};
use crate::geometry::polytope::Polytope;
use crate::geometry::separation::line::cast::{Cast, PLAIN};

/// The row of the table.
pub(super) const METHOD: Method = Method {
    name: "prism",
    source: "Joseph, Plantinga 1987, §2",
    proves: "that translating bodies never meet, by a vector; or the faces that meet first",
    cost: "a few closest-pair steps for each level of the hierarchies",
    first_look: None,
    cast: propose,
};

/// Planes across which the point on the time axis moves before the search gives up.
const PLANES_MAX: u32 = 64;

/// Distances in space-time, in units of the scene and the step, that are rounding.
const NOISE: f64 = 1e-12;

/// Proposes for the ray `{t u}`, t from 0 to `limit`.
fn propose(
    pair: &Pair<'_>,
    u: &Vec3,
    limit: f64,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    let reach = pair.p.body.bounds().reach.amax().max(pair.q.body.bounds().reach.amax());
    let travel = u * limit;
    let size = offset.amax().max(reach).max(travel.amax());
    if !(PLAIN.contains(&size) && PLAIN.contains(&travel.amax())) {
        return Ok(Cast::Lost);
    }
    let mut level = Level::innermost(pair, offset, travel, 1.0 / size);
    let mut corral = Corral::of(level.least(&Event::x(), true, effort));
    // Algorithm 1: the prisms of a body within the prisms of the body.
    loop {
        let least = |x: &Event, effort: &mut Effort<'_>| level.least(x, true, effort);
        match corral.nearest(&Event::zeros(), NOISE, effort, least)? {
            Nearest::Apart(x, corner) => {
                if !level.go_out() {
                    return Ok(Cast::Apart(x.xyz(), corner.pair));
                }
            }
            Nearest::Inside => break,
            Nearest::Lost => return Ok(Cast::Lost),
        }
    }
    while level.go_out() {}
    first_meeting(&mut level, limit, effort)
}

/// Where the time axis enters the prism that M sweeps: the first pair of faces that meets in a
/// single point (Lemma 2).
fn first_meeting(
    level: &mut Level<'_>,
    limit: f64,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    let axis = Event::w();
    let mut time = 0.0;
    let mut corral = Corral::of(level.least(&axis, false, effort));
    for _ in 0..PLANES_MAX {
        let target = axis * time;
        let least = |x: &Event, effort: &mut Effort<'_>| level.least(x, false, effort);
        match corral.nearest(&target, NOISE, effort, least)? {
            Nearest::Apart(x, corner) => {
                let next = x.dot(&corner.event) / x.w;
                if x.w <= 0.0 || next > 1.0 {
                    return Ok(Cast::Apart(x.xyz(), corner.pair));
                }
                if next <= time {
                    return Ok(meeting(&corral, &level.travel, time * limit));
                }
                time = next;
            }
            Nearest::Inside if time > 0.0 => {
                return Ok(meeting(&corral, &level.travel, time * limit));
            }
            Nearest::Inside | Nearest::Lost => return Ok(Cast::Lost),
        }
    }
    Ok(Cast::Lost)
}

/// The pair of faces through which the ray along `u` enters: a vertex and a triangle, or two edges.
/// Of all triangles of the corners that the ray passes through, the first on its way.
fn meeting(corral: &Corral, u: &Vec3, time: f64) -> Cast {
    let corners = corral.corners();
    let mut first = (f64::INFINITY, Cast::Lost);
    for (k, c) in corners.iter().enumerate() {
        for (j, b) in corners[..k].iter().enumerate() {
            for a in &corners[..j] {
                let sides = [[a, b], [b, c], [c, a]].map(|[x, y]| u.dot(&x.point.cross(&y.point)));
                let around =
                    sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0);
                let normal = (b.point - a.point).cross(&(c.point - a.point));
                let at = normal.dot(&a.point) / normal.dot(u);
                if around && at < first.0 {
                    first = (at, Cast::Enters([a.pair, b.pair, c.pair], time));
                }
            }
        }
    }
    first.1
}

/// A level of both hierarchies, and its prisms' difference.
struct Level<'a> {
    pair: &'a Pair<'a>,
    depth: usize,
    /// From P's origin to Q's, at the start.
    offset: Vec3,
    /// How the origin of M moves over the step.
    travel: Vec3,
    /// One over the size of the scene.
    unit: f64,
    /// Where the climbs begin, in the layers' numbers.
    at: [u32; 2],
}

impl<'a> Level<'a> {
    /// The innermost level that both have.
    fn innermost(pair: &'a Pair<'a>, offset: Vec3, travel: Vec3, unit: f64) -> Self {
        let height = |body: &Polytope| body.hierarchy().height();
        let depth = height(pair.p.body).min(height(pair.q.body)) - 1;
        Self { pair, depth, offset, travel, unit, at: [0, 0] }
    }

    fn layers(&self) -> [&'a Layer; 2] {
        let layer = |body: &'a Polytope| &body.hierarchy().layers()[self.depth];
        [layer(self.pair.p.body), layer(self.pair.q.body)]
    }

    /// To the next outer level; no if this is level 0.
    fn go_out(&mut self) -> bool {
        let [p, q] = self.layers();
        let [i, j] = self.at;
        let (Some(i), Some(j)) = (p.vertex_outward(i), q.vertex_outward(j)) else { return false };
        self.at = [i, j];
        self.depth -= 1;
        true
    }

    /// The corner of the difference that is least along a vector of space-time: of the prism that M
    /// sweeps, less the time axis if P's prism counts too.
    fn least(&mut self, x: &Event, with_p_prism: bool, effort: &mut Effort<'_>) -> Corner {
        let s = x.xyz();
        let [p, q] = self.layers();
        self.at[0] = climb(p, &self.pair.p, &s, self.at[0], effort);
        self.at[1] = climb(q, &self.pair.q, &-s, self.at[1], effort);
        let pair = VertexPair { i: p.body_vertex(self.at[0]), j: q.body_vertex(self.at[1]) };
        let of_p = self.pair.p.pose.rotation * self.pair.p.body.vertex(pair.i);
        let of_q = self.pair.q.pose.rotation * self.pair.q.body.vertex(pair.j);
        let point = (of_q - of_p) + self.offset;
        let (mut place, mut time) = (point, 0.0);
        let q_at_end = x.w - s.dot(&self.travel) * self.unit < 0.0;
        if q_at_end {
            place -= self.travel;
            time += 1.0;
        }
        let p_at_end = with_p_prism && x.w > 0.0;
        if p_at_end {
            time -= 1.0;
        }
        let place = place * self.unit;
        let event = Event::new(place.x, place.y, place.z, time);
        Corner { pair, at_end: [q_at_end, p_at_end], point, event }
    }
}

/// The vertex of a layer farthest along a world direction, climbing from `start`.
fn climb(layer: &Layer, placed: &Placed<'_>, s: &Vec3, start: u32, effort: &mut Effort<'_>) -> u32 {
    effort.cost.supports += 1;
    let along = placed.pose.direction_to_body_rounded(s);
    let value = |vertex: u32| along.dot(placed.body.vertex(layer.body_vertex(vertex)));
    let (mut best, mut far) = (start, value(start));
    loop {
        let before = best;
        for &next in layer.neighbours(before) {
            effort.cost.visited += 1;
            let there = value(next);
            if there > far {
                (best, far) = (next, there);
            }
        }
        if best == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests;
