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
//! Here both halves of the question go through the layers, from the innermost outwards. As long as
//! the prisms of a layer are separated, their closest pair is carried to the next outer one. At the
//! first layer whose prisms share a point the bodies are known to collide; the time axis is
//! followed to where it enters that layer's difference, by a triangle of its corners, and the
//! triangle is carried outwards: on each layer the corner that is farthest beyond its plane takes
//! the place of one of the three, until none is beyond. A layer that holds the origin when the axis
//! begins shows that the bodies meet where they start, for the bodies hold the layers: that ends
//! the search, on the innermost layer if they overlap deeply.
//!
//! Proves: nothing; it proposes a vector that separates over the whole step, or the pair of faces
//! (as three pairs of vertices) that meets first, or four pairs that hold the origin at the start.
//! Cost: building is linear in the vertices. A query climbs the graph of each layer from where the
//! layer inside ended; measured on balls of 50 to 100,000 vertices in docs/experiments/prism.md.
//!
//! Differs from the text:
//! - §2: one body is seen from the other, so that its prism stands still. Nothing else changes.
//! - §2, Lemma 1: the text removes vertices of the 4-prism, and after the first removal the rest is
//!   no prism any more. Here the hierarchy is the polyhedron's, and the prism over each of its
//!   layers is a layer of the prism's: it has the same number of layers and O(n) vertices in all.
//! - §2, `closest_pair`: the text takes it from Dobkin and Kirkpatrick (1983), in linear time for
//!   all layers and their building together, and does not describe it. Here it is found by Wolfe's
//!   algorithm on the difference of the prisms, starting at the corners of the layer inside, and
//!   supporting vertices are found by climbing. Neither has a bound below the number of vertices; a
//!   search that looks at more than 200 corners in one layer is given up, and the default takes
//!   over.
//! - §2, Algorithm 1: it ends with the distance of two points of space-time, metres mixed with
//!   seconds, of which only zero has a meaning. It is not reported.
//! - §2 tells whether, not when. §3.2 finds the time of general polyhedra by trying all pairs of
//!   faces that meet in a single point; here the axis is followed through the layers instead.
//! - §4: bodies that turn sweep no polytopes, so the text has no prisms for them, and this method
//!   does not answer them. The pairs of features that the text names for them instead are the
//!   oracle of the tests (`features`), not a method: it proposes no closed form for their times,
//!   and nothing that a checker could repeat. Margins are beyond the text. Who asks for either by
//!   this name is refused.

mod closest_pair;

use arrayvec::ArrayVec;

use self::closest_pair::{Corral, Event, NearestEvent, PrismCorner};
use super::method::Method;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::hierarchy::Layer;
use crate::number::binary::power_of_two;
use crate::number::rounding::CAST_LENGTHS;
use crate::pair::{Pair, Placed, VertexPair};
use crate::polytope::{Polytope, Tables};
use crate::separation::line::cast::Cast;

/// The row of the table of methods.
pub(super) const METHOD: Method = Method {
    name: "prism",
    source: "Joseph, Plantinga 1987, §2",
    proves: "that translating bodies never meet, by a vector; or the faces that meet first",
    cost: "a few closest-pair steps for each level of the hierarchies",
    tables: Tables::Layers,
    answers_all: false,
    first_look: None,
    cast: propose,
};

/// Planes in one layer before the search gives up. Each is beyond the one before; only rounding
/// errors lead in circles.
const PLANES_MAX: u32 = 64;

/// Distances in space-time, in sizes of the scene and in steps, that are taken for rounding errors:
/// about a thousand roundings of a coordinate. A search that stops sooner only proposes; one that
/// stops later goes round in circles.
const NOISE: f64 = power_of_two(-40);

/// Proposes for the ray `{t u}`, t from 0 to `limit`.
fn propose(
    pair: &Pair<'_>,
    u: &Vec3,
    limit: f64,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    search(pair, u, limit, effort, |_, _| {})
}

/// Vertices visited on each layer, outermost first, for Q moving by `travel` seen from P. Both
/// halves of the search are counted. Layers that the search does not reach have none.
pub fn work_by_layer(pair: &Pair<'_>, travel: &Vec3) -> Vec<u64> {
    let mut work = Vec::new();
    let mut before = 0;
    let mut effort = Effort::unlimited();
    // Without a budget nothing stops it.
    let _ = search(pair, &-travel, 1.0, &mut effort, |depth, effort| {
        work.resize(work.len().max(depth + 1), 0);
        work[depth] += effort.cost.visited - before;
        before = effort.cost.visited;
    });
    work
}

/// Searches as [`propose`] does; tells the depth of each layer that it is done with.
fn search(
    pair: &Pair<'_>,
    u: &Vec3,
    limit: f64,
    effort: &mut Effort<'_>,
    mut tell: impl FnMut(usize, &Effort<'_>),
) -> Result<Cast, Stopped> {
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    let reach = pair.p.body.bounds().reach.amax().max(pair.q.body.bounds().reach.amax());
    let travel = u * limit;
    let size = offset.amax().max(reach).max(travel.amax());
    if !(CAST_LENGTHS.contains(&size) && CAST_LENGTHS.contains(&travel.amax())) {
        return Ok(Cast::Lost);
    }
    pair.p.body.prepare_hierarchy(effort)?;
    pair.q.body.prepare_hierarchy(effort)?;
    let mut level = Level::innermost(pair, offset, travel, 1.0 / size);
    let mut corral = Corral::of(level.least(&Event::x(), true, effort));
    // Algorithm 1: the prisms of a body within the prisms of the body.
    loop {
        let least = |x: &Event, effort: &mut Effort<'_>| level.least(x, true, effort);
        match corral.nearest(&Event::zeros(), NOISE, effort, least)? {
            NearestEvent::Apart(x, corner) => {
                tell(level.depth, effort);
                if !level.go_out(effort) {
                    return Ok(Cast::Apart(x.xyz(), corner.pair));
                }
            }
            NearestEvent::Inside => break,
            NearestEvent::Lost => return Ok(Cast::Lost),
        }
    }
    let mut found = along_axis(&mut level, effort)?;
    loop {
        tell(level.depth, effort);
        if let Passage::AtStart(four) = found {
            return Ok(Cast::AtStart(four));
        }
        if !level.go_out(effort) {
            return Ok(found.cast(&level.travel, limit));
        }
        // What an inner layer says is only where the search of the next one begins.
        let portal = match found {
            Passage::Enters(portal) => portal.refined(&mut level, effort)?,
            Passage::Passes(..) | Passage::AtStart(_) | Passage::Lost => None,
        };
        // Where the axis enters before it begins, its beginning may be inside.
        let portal = portal.filter(|portal| portal.part_of(&level.travel) > 0.0);
        found = match portal {
            Some(portal) => Passage::Enters(portal),
            None => along_axis(&mut level, effort)?,
        };
    }
}

/// What the time axis does to the prism that M sweeps over a layer.
enum Passage {
    /// It enters there: the first pair of faces that meets in a single point (Lemma 2).
    Enters(Portal),
    /// It passes, since this vector separates over the whole step.
    Passes(Vec3, VertexPair),
    /// The layer holds the origin where the axis begins, by the differences of these pairs.
    AtStart(Option<[VertexPair; 4]>),
    /// Rounding gave out.
    Lost,
}

impl Passage {
    /// The proposal, for a ray of this length.
    fn cast(&self, travel: &Vec3, limit: f64) -> Cast {
        match self {
            Self::Enters(portal) => {
                let pairs = portal.corners.each_ref().map(|corner| corner.pair);
                Cast::Enters(pairs, portal.part_of(travel) * limit)
            }
            Self::Passes(s, pair) => Cast::Apart(*s, *pair),
            Self::AtStart(four) => Cast::AtStart(*four),
            Self::Lost => Cast::Lost,
        }
    }
}

/// Moves a point forwards along the time axis, from plane to plane across closest pairs, to where
/// the axis enters a layer.
fn along_axis(level: &mut Level<'_>, effort: &mut Effort<'_>) -> Result<Passage, Stopped> {
    let axis = Event::w();
    let mut time = 0.0;
    let mut corral = Corral::of(level.least(&axis, false, effort));
    for _ in 0..PLANES_MAX {
        let target = axis * time;
        let least = |x: &Event, effort: &mut Effort<'_>| level.least(x, false, effort);
        match corral.nearest(&target, NOISE, effort, least)? {
            NearestEvent::Apart(x, corner) => {
                let next = x.dot(&corner.event) / x.w;
                if x.w <= 0.0 || next > 1.0 {
                    return Ok(Passage::Passes(x.xyz(), corner.pair));
                }
                if next <= time {
                    break;
                }
                time = next;
            }
            NearestEvent::Inside if time > 0.0 => break,
            NearestEvent::Inside => {
                let pairs: ArrayVec<VertexPair, 5> =
                    corral.corners().iter().map(|corner| corner.pair).collect();
                return Ok(Passage::AtStart(pairs.first_chunk().copied()));
            }
            NearestEvent::Lost => return Ok(Passage::Lost),
        }
    }
    Ok(Portal::among(corral.corners(), &level.travel).map_or(Passage::Lost, Passage::Enters))
}

/// A triangle of corners of M that the ray along the travel passes through: a vertex and a face, or
/// two edges.
#[derive(Clone, Copy)]
struct Portal {
    corners: [PrismCorner; 3],
}

impl Portal {
    /// The first triangle of corners on the way of the ray.
    fn among(corners: &[PrismCorner], travel: &Vec3) -> Option<Self> {
        let mut first: Option<(f64, Self)> = None;
        for (k, c) in corners.iter().enumerate() {
            for (j, b) in corners[..k].iter().enumerate() {
                for a in &corners[..j] {
                    let portal = Self { corners: [*a, *b, *c] };
                    let at = portal.part_of(travel);
                    let is_first = first.as_ref().is_none_or(|(earliest, _)| at < *earliest);
                    if portal.is_passed(travel) && at < f64::INFINITY && is_first {
                        first = Some((at, portal));
                    }
                }
            }
        }
        first.map(|(_, portal)| portal)
    }

    /// Whether the ray passes through the triangle, its boundary included.
    fn is_passed(&self, travel: &Vec3) -> bool {
        let [a, b, c] = &self.corners;
        let sides = [[a, b], [b, c], [c, a]].map(|[x, y]| travel.dot(&x.point.cross(&y.point)));
        sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0)
    }

    fn normal(&self) -> Vec3 {
        let [a, b, c] = self.corners.each_ref().map(|corner| corner.point);
        (b - a).cross(&(c - a))
    }

    /// The part of the travel after which the ray is in the triangle's plane.
    fn part_of(&self, travel: &Vec3) -> f64 {
        let normal = self.normal();
        normal.dot(&self.corners[0].point) / normal.dot(travel)
    }

    /// The portal of the next outer layer, whose corners may be beyond this one: as long as one is,
    /// it takes the place of a corner such that the ray still passes. None when rounding leaves no
    /// such place, or no end.
    fn refined(
        mut self,
        level: &mut Level<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Self>, Stopped> {
        for _ in 0..PLANES_MAX {
            effort.spend_step()?;
            let normal = self.normal();
            let length = normal.norm();
            // Before the plane are the places that the ray comes from.
            let sign = if normal.dot(&level.travel) > 0.0 { 1.0 } else { -1.0 };
            let outward = normal * (sign / length);
            let x = Event::new(outward.x, outward.y, outward.z, 0.0);
            let corner = level.least(&x, false, effort);
            let beyond = outward.dot(&(self.corners[0].point - corner.point)) * level.unit;
            // Written so that what is no number is no portal.
            if beyond <= NOISE {
                return Ok(Some(self));
            }
            let in_place_of = |k: usize| {
                let mut corners = self.corners;
                corners[k] = corner;
                Self { corners }
            };
            let passed = (0..3).map(in_place_of).find(|portal| portal.is_passed(&level.travel));
            match passed {
                Some(portal) if beyond > NOISE => self = portal,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// A layer of both hierarchies, and the difference of the prisms over it.
struct Level<'a> {
    pair: &'a Pair<'a>,
    depth: usize,
    /// From P's origin to Q's, at the start.
    offset: Vec3,
    /// How the origin of M moves over the step.
    travel: Vec3,
    /// One over the size of the scene, metres.
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
    fn go_out(&mut self, effort: &mut Effort<'_>) -> bool {
        let [p, q] = self.layers();
        let [i, j] = self.at;
        let (Some(i), Some(j)) = (p.vertex_outward(i), q.vertex_outward(j)) else { return false };
        self.at = [i, j];
        self.depth -= 1;
        effort.cost.layers += 1;
        true
    }

    /// The corner of the difference that is least along a vector of space-time: of the prism that M
    /// sweeps, less the time axis if P's prism counts too.
    fn least(&mut self, x: &Event, with_p_prism: bool, effort: &mut Effort<'_>) -> PrismCorner {
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
        PrismCorner { pair, at_end: [q_at_end, p_at_end], point, event }
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
