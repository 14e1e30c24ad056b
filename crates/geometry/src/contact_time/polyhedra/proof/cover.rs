//! The search for a cover: directions that separate groups of faces, for all pairs of faces.
//!
//! Both hierarchies of boxes are walked down as in the searches. Groups whose boxes are separated
//! get a direction from that: an axis, or one across an axis and the way, which are all there are
//! for two boxes on a way. Small groups are handed to the convex methods, which know of any two
//! hulls exactly whether and when they meet; so single triangles, which do not meet, always get an
//! answer.

use super::super::sweep::Pace;
use super::Unproven;
use crate::claim::{
    Cover, CoverStep, Direction, Frame, Link, Outcome, StaticProof, VISITS_MAX, Verdict,
};
use crate::contact_time::{Travel, linear};
use crate::effort::{Effort, Stopped};
use crate::motion::Motion;
use crate::number::interval::Interval;
use crate::pair::Question;
use crate::pair::{Pair, Placed};
use crate::polyhedron::groups::{FaceGroups, named_direction};
use crate::polyhedron::placed::Stand;
use crate::polyhedron::tree::{Extent, Node};
use crate::polyhedron::{Boundary, HulledBody, Polyhedron};
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
pub(crate) struct Room {
    /// Steps and links, with the orders as [`TRIANGLES_PER_STEP`] says.
    pub(super) steps: u64,
    /// What a judge looks at, see [`VISITS_MAX`].
    pub(super) visits: u64,
}

impl Room {
    pub(crate) fn new(steps: u64) -> Self {
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
    let mut groups = shapes.map(|shape| FaceGroups::new(shape.into()));
    let mut search = Search::new(shapes, travels, *bounds);
    cover_by(&mut groups, room, effort, |groups, nodes, effort| {
        search.separate(groups, nodes, effort)
    })
}

/// A cover of all pairs of faces: groups are halved until `separate` finds links that separate what
/// is left of both.
pub(crate) fn cover_by<'a>(
    groups: &mut [FaceGroups<'a>; 2],
    room: &mut Room,
    effort: &mut Effort<'_>,
    mut separate: impl FnMut(
        &mut [FaceGroups<'a>; 2],
        [Node; 2],
        &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped>,
) -> Result<Cover, Unproven> {
    let mut steps: Vec<CoverStep> = Vec::new();
    let mut split = [false; 2];
    room.take(0, visits_inside(groups))?;
    let mut open = vec![groups.each_ref().map(FaceGroups::root)];
    while let Some(nodes) = open.pop() {
        effort.spend_step()?;
        let chain = separate(groups, nodes, effort)?;
        room.take(1, 0)?;
        if let Some(chain) = chain {
            // A group has at most three vertices for each triangle.
            let looked_at: u64 = [0, 1].map(|k| groups[k].vertex_count(nodes[k])).iter().sum();
            room.take(chain.len() as u64, looked_at * chain.len() as u64)?;
            steps.push(CoverStep::Apart(chain));
            continue;
        }
        let (side, [first, second]) = halved(groups, nodes).ok_or(Unproven::NoWay)?;
        if !std::mem::replace(&mut split[side], true) {
            let triangles = groups[side].root().count;
            room.take(u64::from(triangles / TRIANGLES_PER_STEP), 0)?;
        }
        steps.push([CoverStep::SplitP, CoverStep::SplitQ][side].clone());
        open.extend([second, first]);
    }
    let order = |k: usize| if split[k] { groups[k].order() } else { Vec::new() };
    Ok(Cover { order_p: order(0), order_q: order(1), steps })
}

/// Two groups with the larger one halved: which body's it is, and the two pairs. None of two single
/// faces.
pub(crate) fn halved(
    groups: &[FaceGroups<'_>; 2],
    [m, n]: [Node; 2],
) -> Option<(usize, [[Node; 2]; 2])> {
    match [groups[0].halves(m), groups[1].halves(n)] {
        [None, None] => None,
        [Some(halves), Some(_)] if m.count >= n.count => Some((0, halves.map(|half| [half, n]))),
        [Some(halves), None] => Some((0, halves.map(|half| [half, n]))),
        [_, Some(halves)] => Some((1, halves.map(|half| [m, half]))),
    }
}

/// What a judge looks at to see that no part of either surface is inside the other body: for each
/// part, all of that.
fn visits_inside(groups: &[FaceGroups<'_>; 2]) -> u64 {
    let one_way = |[inner, outer]: [Boundary<'_>; 2]| {
        let parts = inner.mesh.map_or(1, |mesh| mesh.shells().len());
        let all = |mesh: &Polyhedron| mesh.vertices().len() + 3 * mesh.triangles().len();
        outer.mesh.map_or(0, |mesh| (parts as u64).saturating_mul(all(mesh) as u64))
    };
    let [p, q] = groups.each_ref().map(|of| of.boundary);
    one_way([p, q]).saturating_add(one_way([q, p]))
}

/// What separates groups on a way without turns.
struct Search {
    /// Those of all nodes where the bodies are.
    boxes: [Vec<Extent>; 2],
    travels: [Travel; 2],
    pace: Pace,
    bounds: Bounds,
    /// The axes and what is across them and the way, in both senses.
    standing: Vec<Vec3>,
    recent: Vec<Vec3>,
}

impl Search {
    fn new(shapes: [&HulledBody<'_>; 2], travels: [Travel; 2], bounds: Bounds) -> Self {
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
        let boxes = shapes.map(|shape| Stand::new(shape.body, shape.pose).boxes.into_owned());
        Self { boxes, travels, pace, bounds, standing, recent: Vec::new() }
    }

    /// Links that separate two groups over the whole time, if they are found.
    fn separate(
        &mut self,
        groups: &mut [FaceGroups<'_>; 2],
        nodes: [Node; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let vectors = self.standing.iter().chain(&self.recent);
        if let Some(s) = vectors.copied().find(|s| self.boxes_are_separated(nodes, s)) {
            return Ok(Some(vec![self.link(Direction::Vector(s))]));
        }
        if !(0..2).all(|k| groups[k].has_hull(nodes[k])) {
            return Ok(None);
        }
        for (of_body, node) in groups.iter_mut().zip(nodes) {
            of_body.prepare(node);
        }
        let found = self.separate_hulls(groups, nodes, effort)?;
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
        let [p, q] = [0, 1].map(|k| &self.boxes[k][nodes[k].at as usize]);
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
        groups: &[FaceGroups<'_>; 2],
        nodes: [Node; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let [p, q] = [0, 1].map(|k| {
            let outer = groups[k].outer(nodes[k]);
            outer.map(|outer| Placed { body: outer.polytope, pose: groups[k].boundary.pose })
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
            let direction = named_direction(groups, [p.body, q.body], &link.direction)?;
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
}
