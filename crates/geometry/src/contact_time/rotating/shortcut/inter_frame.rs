//! The inter-frame test: the hulls of all vertices at the start and at the end of the step,
//! inflated by what turning adds, as one linear program.
//!
//! Source: Akgunduz, Banerjee, Mehrotra, *A Linear Programming Solution for Exact Collision
//! Detection*, 2005, §5.
//!
//! A body that moves is extended to the hull of its vertices in both frames. If a plane separates
//! the extended bodies, with room for how far turning takes a vertex off the line between its two
//! places, the bodies do not meet during the step, and one vector proves it.
//!
//! Proves: no contact, by one vector over the whole step. Anything else is handed over: hulls that
//! meet, a turn of more than half a circle, what rounding leaves open.
//! Cost: two supporting vertices of each body if the last step's plane or the [`extended_boxes`]
//! separate; else a few iterations of the linear program on twenty of the vertices of both frames.
//!
//! *How far off the line.* Every motion here is `x(t) = (linear in t) + Rot(a, θ t) w`, with w from
//! the pivot to the vertex at the start: translation, velocity and residue are linear, and a linear
//! part is where interpolating its ends says. So what x(t) is off `(1 - t) x(0) + t x(1)` by is
//! what the turning arm is off its own chord by. That is a vector across the axis, and only the
//! arm's part across the axis counts, which is the vertex's distance r from the axis. In the plane
//! across the axis, with r = 1, h = θ/2 in [0, π/2] and φ = θ (t - 1/2), seen from the middle of
//! the arc, the offset is
//!
//! `D(φ) = (cos φ - cos h, sin φ - k φ)`, `k = sin h / h`,
//!
//! and `|D|² / 2` has the derivative `sin φ (cos h - k) + k φ (k - cos φ)`. On [0, h] this is not
//! positive: `cos h <= k`; where `cos φ >= k` both terms are at most 0; elsewhere `k φ <= sin φ`,
//! as φ / sin φ grows up to 1/k, and `0 <= k - cos φ <= k - cos h`. So |D| is greatest in the
//! middle of the arc, and there it is `1 - cos h`: no vertex is ever farther off than `r (1 -
//! cos(θ/2))`. Along a vector s that is `|s × a| r (1 - cos(θ/2))`, and the gap along s at any t is
//! at least what interpolating its values in the two frames gives, less this of either body.
//!
//! Differs from the text:
//! - §5: the text takes two bodies for colliding when their extended hulls meet, although they may
//!   pass at different times. Here that is handed over, and only hulls that are separated prove
//!   something.
//! - §5.1, step 1: extended oriented boxes that are disjoint decide nothing by themselves. The
//!   plane between them is a vector like any other, to be proven on the bodies; `by_bounds` counts
//!   those that it answers. The plane of the last step is tried before.
//! - §4.2: the set is not chosen again by slack, for which all vertices of both frames would be
//!   looked at with every pad; it begins with the vertices that the last step ended with.
//! - §5: both bodies are seen from P's pivot as it travels, so that hulls of bodies that follow
//!   each other do not meet; a body that rests there has one frame.
//! - §5.1, end: the text leaves rotation out; here it inflates. In the program an inflated body is
//!   the sum with a prism of many sides around the disc of that radius (and around the ball of the
//!   margin).
//! - §5.1, step 2, extends only the vertices near the face of the bounding box that looks along the
//!   travel, and takes the others at one frame: that is not all the body sweeps. Here these groups
//!   are the first working set, and all vertices of both frames are checked.

mod extended_boxes;

use std::f64::consts::PI;

use arrayvec::ArrayVec;

use crate::claim::{Direction, FirstContact, Frame, Link, Outcome, StaticProof};
use crate::contact_time::method::Method;
use crate::contact_time::rotating::bounds::body::MovingBody;
use crate::contact_time::rotating::bounds::moving::need_along;
use crate::contact_time::rotating::bounds::pair::Heading;
use crate::contact_time::rotating::search::TurningSearch;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::{UNIT, unit};
use crate::number::trig::{RoundedTrig, Trig};
use crate::pair::Question;
use crate::polytope::Tables;
use crate::separation::line::cast;
use crate::separation::methods::linear_program::{
    SetAnswer, VertexSets, group, known, search, sizes,
};
use crate::support::likely;
use crate::witness::{DualVariables, Memory, SET_MAX, Witness, WorkingSet};
use crate::{Mat3, Vec3};

/// This method's row of the table.
pub(in crate::contact_time) const METHOD: Method = Method {
    name: "linear_program",
    source: "Akgunduz, Banerjee, Mehrotra 2005, §5",
    proves: "no contact, by one vector over the whole step; \
             what it hands over, the default decides",
    cost: "a few iterations on a set of twenty vertices of both frames, \
           before the default's cost",
    tables: Tables::Nothing,
    answers_all: true,
    first_look: Some(first_look),
    cast: cast::cast,
};

/// A gap of more than this many times the rounding bound of a plain gap is never lost in rounding
/// by the default search. The direction of its nearest points is off by as much as their rounding
/// is of the distance, and the surplus of a gap takes three such bounds.
const LOST: f64 = 64.0;

/// How many sides the prism has that stands for a disc. It reaches half a percent beyond the disc.
const SIDES: usize = 32;

/// The answer if the inflated hulls of both frames are disjoint; `None` hands the question over.
fn first_look(
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Option<FirstContact>, Stopped> {
    let mut look = TurningSearch::new(question);
    let pair = &look.moving.pair;
    if [&pair.p, &pair.q].iter().any(|body| body.plain.angle.abs() > PI) {
        return Ok(None);
    }
    // The plane of the last step is tried before any iteration (§4.1).
    let room = undecided_within(&look);
    if let Some(s) = witness.direction.and_then(|direction| unit(&direction))
        && let Some(free) = free_along(&mut look, &s, room, effort)
    {
        effort.cost.witness_hits += 1;
        return Ok(Some(free));
    }
    if let Some(s) = extended_boxes::separating(&look)
        && let Some(free) = free_along(&mut look, &s, room, effort)
    {
        effort.cost.by_bounds += 1;
        remember(witness, s);
        return Ok(Some(free));
    }
    let last = if let Memory::WorkingSet(set) = std::mem::take(&mut witness.memory) {
        set
    } else {
        Box::default()
    };
    let s = match search_hulls(&look, *last, effort)? {
        SetAnswer::Separated(s, _, set) => {
            witness.memory = Memory::WorkingSet(set);
            s
        }
        SetAnswer::Meeting(set) => {
            witness.memory = Memory::WorkingSet(set);
            return Ok(None);
        }
        SetAnswer::HandOver => return Ok(None),
    };
    let free = unit(&s).and_then(|s| free_along(&mut look, &s, room, effort));
    if free.is_some() {
        remember(witness, s);
    }
    Ok(free)
}

/// Keeps the vector for the next step.
fn remember(witness: &mut Witness, s: Vec3) {
    witness.direction = Some(s);
    witness.pairs.clear();
}

/// Solves the program of the hulls, beginning with the vertices, weights and planes of the last
/// step (§4.1, §4.2); what is left of it is in metres.
fn search_hulls(
    look: &TurningSearch<'_>,
    mut last: WorkingSet,
    effort: &mut Effort<'_>,
) -> Result<SetAnswer, Stopped> {
    let mut hulls = Hulls::new(look);
    let unit = hulls.p.unit;
    last.dual = last.dual.map(|dual| DualVariables { normal: dual.normal / unit, ..dual });
    hulls.remembered = known(&last, hulls.counts());
    let mut found = search(&hulls, None, &last, effort)?;
    if let SetAnswer::Separated(_, _, set) | SetAnswer::Meeting(set) = &mut found {
        set.dual = set.dual.map(|dual| DualVariables { normal: dual.normal * unit, ..dual });
    }
    Ok(found)
}

/// The distance below which the default search may say undecided. It knows no plane beforehand, so
/// it does that for motions that come closer than the clearance tolerance, or so close that its
/// directions and steps are lost in rounding. A plane that leaves less room, remembered or found
/// from what is remembered, might know better, and the answer would then depend on that.
fn undecided_within(search: &TurningSearch<'_>) -> f64 {
    search.told.tolerance + LOST * search.moving.pair.error
}

/// The answer if the gap along s in both frames has room for what turning takes away between them,
/// and for `room` besides.
fn free_along(
    search: &mut TurningSearch<'_>,
    s: &Vec3,
    room: f64,
    effort: &mut Effort<'_>,
) -> Option<FirstContact> {
    let mut heading = search.moving.heading(Frame::World, s, 0.0);
    let kept = need_along(&heading, search.told.clear + room) + bow(search, &heading);
    heading.need = kept.next_up();
    for t in [0.0, 1.0] {
        let gap = search.moving.gap(&heading, t, effort);
        let is_clear = gap.surplus > 0.0;
        if !is_clear {
            return None;
        }
    }
    let direction = Direction::Vector(heading.direction);
    Some(FirstContact {
        outcome: Outcome::NoContact,
        t_free: 1.0,
        t_contact: 1.0,
        chain: vec![Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction }],
        pairs: ArrayVec::new(),
        initial: StaticProof::Separated { direction },
        stopped: None,
    })
}

/// An upper bound of how far the gap along the heading may be below its chord between the frames
/// (see the module), and as much again as a plain gap may be off by at any time, so that a judge
/// who looks in between, with looser enclosures than there are in the frames, still agrees.
///
/// The factors are upper bounds; their products, the sum and the bound's own product round by u
/// each, which the last factor makes up for.
fn bow(search: &TurningSearch<'_>, heading: &Heading) -> f64 {
    let of = |body: &MovingBody<'_>| {
        let across = if body.plain.turns() { body.plain.across(&heading.direction) } else { 0.0 };
        across * off_chord(body)
    };
    let pair = &search.moving.pair;
    (of(&pair.p) + of(&pair.q) + 2.0 * pair.error * heading.length) * (1.0 + 16.0 * UNIT)
}

/// An upper bound of `r (1 - cos(θ/2))`, up to two roundings.
fn off_chord(body: &MovingBody<'_>) -> f64 {
    body.extent.radius * Trig::of_product(body.plain.angle, 0.5).versine.high()
}

/// Rotation and place at the start and, unless the body rests, at the end.
type Frames = ArrayVec<(Mat3, Vec3), 2>;

/// Those of a body that starts at `start`, with `drift` added over the step.
fn frames(side: &MovingBody<'_>, start: Vec3, drift: Vec3) -> Frames {
    let [first, last] = [0.0, 1.0].map(|t| {
        let trig = side.plain.trig(t).unwrap_or(RoundedTrig::ZERO);
        let (rotation, moved) = side.plain.pose_from_start(&trig, t);
        (rotation, start + (moved + drift * t))
    });
    let mut frames = Frames::from_iter([first]);
    frames.extend((last != first).then_some(last));
    frames
}

/// The inflated hulls of both frames, seen from P's pivot.
struct Hulls<'m, 'a> {
    p: Extended<'m, 'a>,
    q: Extended<'m, 'a>,
    /// The vertices of P and of Q that the last step ended with, if it left any.
    remembered: Option<[ArrayVec<u32, SET_MAX>; 2]>,
}

/// A body in both frames, in units of the scene. A corner is named by its vertex, its frame and its
/// pad: `(pad * frames + frame) * vertices + vertex`.
struct Extended<'m, 'a> {
    side: &'m MovingBody<'a>,
    frames: Frames,
    /// What is added to the vertices: corners of a prism, or nothing.
    pads: ArrayVec<Vec3, { 2 * SIDES }>,
    unit: f64,
}

impl<'m, 'a> Hulls<'m, 'a> {
    fn new(look: &'m TurningSearch<'a>) -> Self {
        let pair = &look.moving.pair;
        let (p, q) = (&pair.p, &pair.q);
        // The margin and the deviations may be added to either body.
        let clear = look.told.clear.max(0.0);
        let drift = -p.plain.velocity;
        let p = Extended::new(p, Vec3::zeros(), drift, 0.0);
        let q = Extended::new(q, pair.between_rounded, drift, clear);
        let mut hulls = Self { p, q, remembered: None };
        let unit = 1.0 / hulls.p.size().max(hulls.q.size());
        hulls.p.unit = unit;
        hulls.q.unit = unit;
        hulls
    }
}

impl<'m, 'a> Extended<'m, 'a> {
    /// With the body's start at `start`, and `drift` added over the step.
    fn new(side: &'m MovingBody<'a>, start: Vec3, drift: Vec3, clear: f64) -> Self {
        let frames = frames(side, start, drift);
        let radius = if side.plain.turns() { off_chord(side) } else { 0.0 };
        Self { side, frames, pads: pads(&side.plain.axis, radius + clear, clear), unit: 1.0 }
    }

    fn vertex_count(&self) -> u32 {
        self.side.body.vertex_count()
    }

    /// At least the largest coordinate, rounded.
    fn size(&self) -> f64 {
        let reach = self.side.reach().norm();
        let largest =
            |vectors: &mut dyn Iterator<Item = &Vec3>| vectors.map(Vec3::amax).fold(0.0, f64::max);
        let places = largest(&mut self.frames.iter().map(|(_, place)| place));
        2.0 * reach + places + largest(&mut self.pads.iter())
    }

    fn corner(&self, name: u32) -> Vec3 {
        let (rest, vertex) = (name / self.vertex_count(), name % self.vertex_count());
        let frames = self.frames.len();
        let (rotation, place) = &self.frames[rest as usize % frames];
        let local = self.side.track.local(self.side.body.vertex(vertex));
        (rotation * local + place + self.pads[rest as usize / frames]) * self.unit
    }

    /// The name of a vertex in a frame with the pad that is farthest along s.
    fn named(&self, s: &Vec3, frame: usize, vertex: u32) -> u32 {
        let along = |pad: &usize| s.dot(&self.pads[*pad]);
        let pad = (0..self.pads.len()).max_by(|a, b| along(a).total_cmp(&along(b)));
        let at = pad.unwrap_or(0) * self.frames.len() + frame;
        at as u32 * self.vertex_count() + vertex
    }

    /// The corner farthest along s.
    fn farthest(&self, s: &Vec3, effort: &mut Effort<'_>) -> u32 {
        let mut best = (f64::NEG_INFINITY, 0, 0);
        for (frame, (rotation, place)) in self.frames.iter().enumerate() {
            let g = rotation.tr_mul(s);
            let found = likely(self.side.body, &g, self.side.last.get().hint(&g), effort);
            let value = g.dot(&self.side.track.local(self.side.body.vertex(found.vertex)));
            let height = value + s.dot(place);
            if height > best.0 {
                best = (height, frame, found.vertex);
            }
        }
        self.named(s, best.1, best.2)
    }

    /// About `size` corners near the bounding box's face that looks along s, from all frames alike.
    fn group(&self, s: &Vec3, size: usize) -> ArrayVec<u32, SET_MAX> {
        let each = (size / self.frames.len()).max(1);
        let of_frame = |(frame, (rotation, _)): (usize, &(Mat3, Vec3))| {
            let vertices = group(self.side.body, &rotation.tr_mul(s), each);
            vertices.into_iter().map(move |vertex| self.named(s, frame, vertex))
        };
        self.frames.iter().enumerate().flat_map(of_frame).collect()
    }

    fn count(&self) -> u32 {
        self.vertex_count() * (self.frames.len() * self.pads.len()) as u32
    }

    /// Where the middle of the box is half way.
    fn centre(&self) -> Vec3 {
        let centre = self.side.track.local(&self.side.body.bounds().centre);
        let sum: Vec3 = self.frames.iter().map(|(rotation, place)| rotation * centre + place).sum();
        sum / self.frames.len() as f64
    }
}

/// The corners of a prism around the cylinder of these half measures about the axis; about some
/// axis where a body does not turn. Rounded.
fn pads(axis: &Vec3, radius: f64, half_height: f64) -> ArrayVec<Vec3, { 2 * SIDES }> {
    if radius <= 0.0 && half_height <= 0.0 {
        return ArrayVec::from_iter([Vec3::zeros()]);
    }
    let axis = unit(axis).unwrap_or_else(Vec3::z);
    let first = axis.cross(&Vec3::ith(axis.iamin(), 1.0)).normalize();
    let second = axis.cross(&first);
    let turn = |k: usize, of: f64| {
        RoundedTrig::of_product(2.0 * PI / SIDES as f64, k as f64 * of).unwrap_or(RoundedTrig::ZERO)
    };
    let outer = radius / (1.0 - turn(1, 0.5).versine);
    let ends: &[f64] = if half_height > 0.0 { &[-1.0, 1.0] } else { &[0.0] };
    let around = (0..SIDES).flat_map(|k| ends.iter().map(move |end| (k, end)));
    around
        .map(|(k, end)| {
            let at = turn(k, 1.0);
            let side = first * (1.0 - at.versine) + second * at.sine;
            side * outer + axis * (*end * half_height)
        })
        .collect()
}

impl VertexSets for Hulls<'_, '_> {
    fn of_p(&self, name: u32) -> Vec3 {
        self.p.corner(name)
    }

    fn of_q(&self, name: u32) -> Vec3 {
        self.q.corner(name)
    }

    fn counts(&self) -> [u32; 2] {
        [self.p.count(), self.q.count()]
    }

    fn supporting(&self, s: &Vec3, effort: &mut Effort<'_>) -> [u32; 2] {
        [self.p.farthest(s, effort), self.q.farthest(&-s, effort)]
    }

    fn first(&self) -> [ArrayVec<u32, SET_MAX>; 2] {
        if let Some(remembered) = &self.remembered {
            return remembered.clone();
        }
        let towards = unit(&(self.q.centre() - self.p.centre())).unwrap_or_else(Vec3::x);
        let [of_p, of_q] = sizes(self.counts().map(|count| count as usize));
        [self.p.group(&towards, of_p), self.q.group(&-towards, of_q)]
    }
}

#[cfg(test)]
mod tests;
