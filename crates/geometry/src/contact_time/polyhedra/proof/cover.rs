//! The search for a cover: directions that separate groups of faces, for all pairs of faces.
//!
//! Both hierarchies of boxes are walked down as in the searches. Groups whose boxes are separated
//! get a direction from that: an axis, or one across an axis and the way, which are all there are
//! for two boxes on a way. Small groups are handed to the convex methods, which know of any two
//! hulls exactly whether and when they meet; so single triangles, which do not meet, always get an
//! answer.

use std::collections::BTreeMap;

use super::super::sweep::Pace;
use super::{HulledBody, Unproven};
use crate::claim::{
    Cover, CoverStep, Direction, Frame, Link, Outcome, StaticProof, VISITS_MAX, Verdict,
};
use crate::contact_time::{Travel, linear};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::motion::Motion;
use crate::number::interval::Interval;
use crate::pair::Question;
use crate::pair::{Pair, Placed, VertexPair};
use crate::polyhedron::placed::Stand;
use crate::polyhedron::tree::{Extent, Node};
use crate::polytope::Polytope;
use crate::separation::{self, decide};
use crate::witness::Witness;
use crate::{Vec3, contact_time};

/// What a cover is to show, and how long it may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The bodies are free from t = 0 to this.
    pub(super) until: f64,
    /// At the end, which is t = 1, they may touch.
    pub(super) may_touch_at_end: bool,
}

/// How long covers may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Steps and links, with the orders as [`TRIANGLES_PER_STEP`] says.
    pub(super) steps: u64,
    /// What a judge looks at, see [`VISITS_MAX`].
    pub(super) visits: u64,
}

impl Room {
    pub(super) fn new(steps: u64) -> Self {
        Self { steps, visits: VISITS_MAX }
    }

    /// Takes a part of it, or what there is.
    pub(super) fn take(&mut self, steps: u64, visits: u64) -> Result<(), Unproven> {
        let is_enough = steps <= self.steps && visits <= self.visits;
        self.steps = self.steps.saturating_sub(steps);
        self.visits = self.visits.saturating_sub(visits);
        if is_enough { Ok(()) } else { Err(Unproven::TooLong) }
    }
}

/// A triangle in an order is that much shorter than a step, written down.
const TRIANGLES_PER_STEP: u32 = 16;

/// Triangles of a group that is handed to the convex methods: with few, a hull is soon built, and
/// with more than one there are fewer pairs to list.
const GROUP_MAX: u32 = 8;

/// Vectors that separated groups and are tried for the next ones: neighbours come one after
/// another.
const RECENT_MAX: usize = 4;

/// A cover of all pairs of faces for bodies that do not meet so long. What is found too long takes
/// all of the room.
pub(super) fn cover(
    shapes: [&HulledBody<'_>; 2],
    travels: [Travel; 2],
    bounds: &Bounds,
    room: &mut Room,
    effort: &mut Effort<'_>,
) -> Result<Cover, Unproven> {
    let mut search = Search::new(shapes, travels, *bounds);
    let mut steps: Vec<CoverStep> = Vec::new();
    let mut split = [false; 2];
    room.take(0, search.visits_inside())?;
    let mut open = vec![[0, 1].map(|k| search.sides[k].root())];
    while let Some(nodes) = open.pop() {
        effort.spend_step()?;
        let chain = search.separate(nodes, effort)?;
        room.take(1, 0)?;
        if let Some(chain) = chain {
            // A group has at most three vertices for each triangle.
            let looked_at: u64 =
                [0, 1].map(|k| search.sides[k].vertex_count(nodes[k])).iter().sum();
            room.take(chain.len() as u64, looked_at * chain.len() as u64)?;
            steps.push(CoverStep::Apart(chain));
        } else {
            let halves = [0, 1].map(|k| search.sides[k].halves(nodes[k]));
            let (step, pairs) = match halves {
                [Some([first, second]), None] => {
                    (CoverStep::SplitP, [[second, nodes[1]], [first, nodes[1]]])
                }
                [Some([first, second]), Some(_)] if nodes[0].count >= nodes[1].count => {
                    (CoverStep::SplitP, [[second, nodes[1]], [first, nodes[1]]])
                }
                [_, Some([first, second])] => {
                    (CoverStep::SplitQ, [[nodes[0], second], [nodes[0], first]])
                }
                [None, None] => return Err(Unproven::NoWay),
            };
            let side = usize::from(step == CoverStep::SplitQ);
            if !std::mem::replace(&mut split[side], true) {
                let triangles = search.sides[side].root().count;
                room.take(u64::from(triangles / TRIANGLES_PER_STEP), 0)?;
            }
            steps.push(step);
            open.extend(pairs);
        }
    }
    let order = |k: usize| if split[k] { search.sides[k].order() } else { Vec::new() };
    Ok(Cover { order_p: order(0), order_q: order(1), steps })
}

/// A body and its groups.
struct Side<'a> {
    shape: &'a HulledBody<'a>,
    boxes: Vec<Extent>,
    /// Hulls of small groups, by the places of their nodes.
    hulls: BTreeMap<u32, Polytope>,
}

impl<'a> Side<'a> {
    fn new(shape: &'a HulledBody<'a>) -> Self {
        let boxes = Stand::new(shape.body, shape.pose).boxes;
        Self { shape, boxes, hulls: BTreeMap::new() }
    }

    fn root(&self) -> Node {
        self.shape.body.tree().root()
    }

    fn is_whole(&self, node: Node) -> bool {
        node.count == self.root().count
    }

    /// A hull is one piece.
    fn halves(&self, node: Node) -> Option<[Node; 2]> {
        if self.shape.is_hull { None } else { node.children() }
    }

    fn vertex_count(&self, node: Node) -> u64 {
        let all = self.shape.body.vertices().len() as u64;
        all.min(3 * u64::from(node.count))
    }

    fn order(&self) -> Vec<u32> {
        self.shape.body.tree().order().to_vec()
    }

    /// Whether its hull is at hand, or is to be built.
    fn has_hull(&self, node: Node) -> bool {
        self.is_whole(node) || node.count <= GROUP_MAX
    }

    /// Builds the hull of a small group when it is first asked for. The vertices of a body are
    /// points that a hull can be built of.
    fn prepare(&mut self, node: Node) {
        if self.is_whole(node) || self.hulls.contains_key(&node.at) {
            return;
        }
        let body = self.shape.body;
        let points: Vec<Vec3> = body
            .tree()
            .triangles(node)
            .iter()
            .flat_map(|&triangle| body.triangle(triangle))
            .map(|vertex| body.vertices()[vertex as usize])
            .collect();
        if let Ok(hull) = convex_hull(&points) {
            self.hulls.insert(node.at, hull.polytope);
        }
    }

    fn hull(&self, node: Node) -> Option<&Polytope> {
        if self.is_whole(node) { Some(self.shape.hull) } else { self.hulls.get(&node.at) }
    }

    /// The body's vertex that a vertex of a hull is.
    fn vertex(&self, hull: &Polytope, vertex: u32) -> Option<u32> {
        if self.shape.is_hull {
            return Some(vertex);
        }
        self.shape.body.index_of(&hull.vertices()[vertex as usize])
    }
}

struct Search<'a> {
    sides: [Side<'a>; 2],
    travels: [Travel; 2],
    pace: Pace,
    bounds: Bounds,
    /// The axes and what is across them and the way, in both senses.
    standing: Vec<Vec3>,
    recent: Vec<Vec3>,
}

impl<'a> Search<'a> {
    fn new([p, q]: [&'a HulledBody<'a>; 2], travels: [Travel; 2], bounds: Bounds) -> Self {
        let pace = Pace::new(&travels[0], &travels[1]);
        let way = pace.rounded();
        let way = if way.amax() > 0.0 { way / way.amax() } else { way };
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
        let across = axes.map(|axis| way.cross(&axis));
        let standing = axes
            .into_iter()
            .chain(across)
            .filter(|s| s.amax() > 0.0)
            .flat_map(|s| [s, -s])
            .collect();
        let sides = [Side::new(p), Side::new(q)];
        Self { sides, travels, pace, bounds, standing, recent: Vec::new() }
    }

    /// What a judge looks at to see that no part of either surface is inside the other body: for
    /// each part, all of that.
    fn visits_inside(&self) -> u64 {
        let one_way = |[inner, outer]: [&Side<'_>; 2]| {
            let all = outer.shape.body.vertices().len() + 3 * outer.shape.body.triangles().len();
            let parts = if inner.shape.is_hull { 1 } else { inner.shape.body.shells().len() };
            if outer.shape.is_hull { 0 } else { (parts as u64).saturating_mul(all as u64) }
        };
        let [p, q] = self.sides.each_ref();
        one_way([p, q]).saturating_add(one_way([q, p]))
    }

    /// Links that separate two groups over the whole time, if they are found.
    fn separate(
        &mut self,
        nodes: [Node; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let vectors = self.standing.iter().chain(&self.recent);
        if let Some(s) = vectors.copied().find(|s| self.boxes_are_separated(nodes, s)) {
            return Ok(Some(vec![self.link(Direction::Vector(s))]));
        }
        if !(0..2).all(|k| self.sides[k].has_hull(nodes[k])) {
            return Ok(None);
        }
        for (side, node) in self.sides.iter_mut().zip(nodes) {
            side.prepare(node);
        }
        let found = self.separate_hulls(nodes, effort)?;
        if let Some([Link { direction: Direction::Vector(s), .. }]) = found.as_deref() {
            self.recent.insert(0, *s);
            self.recent.truncate(RECENT_MAX);
        }
        Ok(found)
    }

    fn link(&self, direction: Direction) -> Link {
        Link { t0: 0.0, t1: self.bounds.until, frame: Frame::World, direction }
    }

    /// Whether the boxes, which hold what is in them exactly, are surely separated along a vector
    /// at both ends of the time.
    fn boxes_are_separated(&self, nodes: [Node; 2], s: &Vec3) -> bool {
        let [p, q] = [0, 1].map(|k| &self.sides[k].boxes[nodes[k].at as usize]);
        let sum = |[x, y, z]: [Interval; 3]| x + y + z;
        let gap = sum([0, 1, 2].map(|k| {
            let difference = if s[k] > 0.0 {
                Interval::difference(q.low[k], p.high[k])
            } else {
                Interval::difference(q.high[k], p.low[k])
            };
            difference * Interval::point(s[k])
        }));
        let rate = sum([0, 1, 2].map(|k| self.pace.component(k) * Interval::point(s[k])));
        gap.low() > 0.0 && (gap + rate * Interval::point(self.bounds.until)).low() > 0.0
    }

    fn separate_hulls(
        &self,
        nodes: [Node; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let [p, q] = [0, 1].map(|k| {
            let side = &self.sides[k];
            side.hull(nodes[k]).map(|body| Placed { body, pose: side.shape.pose })
        });
        let (Some(p), Some(q)) = (p, q) else { return Ok(None) };
        let pair = Pair { p, q };
        let chain = if self.bounds.until > 0.0 {
            self.chain_on_the_way(&pair, effort)?
        } else {
            let proof =
                decide(&pair, &separation::METHODS[0], &mut Witness::default(), effort)?.proof;
            match proof {
                StaticProof::Separated { direction } => Some(vec![self.link(direction)]),
                StaticProof::Touching { .. } | StaticProof::Overlapping { .. } => None,
            }
        };
        let Some(chain) = chain else { return Ok(None) };
        let in_body = |link: Link| {
            let direction = self.in_body(&link.direction, [p.body, q.body])?;
            Some(Link { direction, ..link })
        };
        Ok(chain.into_iter().map(in_body).collect())
    }

    fn chain_on_the_way(
        &self,
        pair: &Pair<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let question = Question::new(*pair, Motion::rest(), Motion::rest());
        let [of_p, of_q] = &self.travels;
        let method = &contact_time::METHODS[0];
        let witness = &mut Witness::default();
        let mut found = linear::first_contact(method, &question, [of_p, of_q], witness, effort)?;
        if found.initial.verdict() != Verdict::Separated {
            return Ok(None);
        }
        let until = self.bounds.until;
        let is_at_end = found.outcome == Outcome::Contact && found.t_contact >= 1.0;
        if self.bounds.may_touch_at_end && is_at_end {
            // The direction of contact has them touch at the end, if that is just when they meet.
            if let Some(last) = found.chain.last_mut() {
                last.t1 = 1.0;
            }
        } else if found.t_free < until {
            return Ok(None);
        }
        found.chain.retain(|link| link.t0 < until);
        Ok(Some(found.chain))
    }

    /// With vertices named as in the bodies.
    fn in_body(&self, direction: &Direction, [p, q]: [&Polytope; 2]) -> Option<Direction> {
        let name = |pair: VertexPair| {
            let i = self.sides[0].vertex(p, pair.i)?;
            let j = self.sides[1].vertex(q, pair.j)?;
            Some(VertexPair { i, j })
        };
        Some(match *direction {
            Direction::Vector(_) | Direction::SweptAxis { .. } => *direction,
            Direction::Normal { pairs: [a, b, c], negative } => {
                Direction::Normal { pairs: [name(a)?, name(b)?, name(c)?], negative }
            }
            Direction::EdgeNormal { pairs: [a, b], axis, negative } => {
                Direction::EdgeNormal { pairs: [name(a)?, name(b)?], axis, negative }
            }
            Direction::Nearest { pairs: [a, b, c], negative } => {
                Direction::Nearest { pairs: [name(a)?, name(b)?, name(c)?], negative }
            }
            Direction::SweptNormal { pairs: [a, b], negative } => {
                Direction::SweptNormal { pairs: [name(a)?, name(b)?], negative }
            }
        })
    }
}
