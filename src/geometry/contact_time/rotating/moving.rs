//! The moving pair: the gap along a direction at a time, and how fast gaps can bend.
//!
//! A *heading* is a direction that is fixed in the world or turns with one of the bodies. The gap
//! along it at time t is `min over Q of s(t)·x - max over P of s(t)·x`, less what the question
//! wants kept clear. With `s` turned by `Rot_F`, each vertex contributes
//!
//! `s·x_v(t) = s·t0 + s·u t + k·l + (Rᵀ(s + k))·v + t (Eᵀs)·v`,  `k = Rot(-t) s - s`,
//!
//! so two supporting vertices, in the bodies' own frames, give the gap. (For the body the heading
//! turns with, `s + k` is the heading at t = 0.)

use std::cell::{Cell, OnceCell};

use super::along::body_enclosed;
use super::posed::Posed;
use super::step::Need;
use crate::geometry::claim::Frame;
use crate::geometry::effort::Effort;
use crate::geometry::kernel::along;
use crate::geometry::motion::{self, Extent, Motion, Plain, Track, Units};
use crate::geometry::number::interval::{self, Interval, IntervalVec, add, dot, dot_exact, sub};
use crate::geometry::number::rounding::{UNDERFLOW, UNIT, gamma, length};
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::number::trig::RoundedTrig;
use crate::geometry::pair::{Placed, VertexPair};
use crate::geometry::polytope::Polytope;
use crate::geometry::support::{Along, Climb, is_level_top, supporting_vertex};
use crate::geometry::{Vec3, processor};

/// Bodies of at most this many vertices are searched by evaluating all of them, which settles ties
/// (faces at right angles to a heading) by an error bound instead of exact arithmetic.
const VALUED_MAX: u32 = 48;
/// The squared cosine of 1.3 degrees. A direction that has turned by less mostly keeps its vertex,
/// which costs less than to look a new start up; one that has turned by four, as often not.
const CLOSE: f64 = 0.9995;
/// A surplus this many times the width of the plain gap's bound is taken as it is; below that an
/// enclosure is computed, which is several times tighter.
const SETTLED: f64 = 8.0;

/// Times whose poses are kept: a step is aimed from one time by way of another to a third.
const POSES: usize = 3;

/// Where a body was last supported, and along what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    vertex: u32,
    along: Vec3,
}

impl Last {
    const NONE: Self = Self { vertex: 0, along: Vec3::new(0.0, 0.0, 0.0) };

    /// That vertex, if the direction is still close enough for it to be the better start.
    #[inline(always)]
    pub(super) fn hint(&self, g: &Vec3) -> Option<u32> {
        let cosine = g.dot(&self.along);
        let lengths = g.norm_squared() * self.along.norm_squared();
        (cosine > 0.0 && cosine * cosine > CLOSE * lengths).then_some(self.vertex)
    }

    #[inline(always)]
    pub(super) fn found(vertex: u32, g: &Vec3) -> Self {
        Self { vertex, along: *g }
    }
}

/// One body in motion.
#[derive(Debug)]
pub(super) struct Side<'a> {
    pub(super) body: &'a Polytope,
    pub(super) track: Track,
    pub(super) plain: Plain,
    pub(super) extent: Extent,
    pub(super) last: Cell<Last>,
}

impl<'a> Side<'a> {
    fn new(placed: &Placed<'a>, motion: &Motion, scale: Option<PowerOfTwo>) -> Self {
        let body = placed.body;
        let bounds = body.bounds();
        let track = Track::new(&placed.pose, motion, Units::of(&bounds.low, &bounds.high, scale));
        let plain = Plain::new(&track);
        let extent = Extent::new(&track, &plain, body);
        Self { body, track, plain, extent, last: Cell::new(Last::NONE) }
    }

    /// See [`Track::reach`].
    pub(super) fn reach(&self) -> Vec3 {
        self.track.reach(&self.body.bounds().low, &self.body.bounds().high)
    }

    /// Bounds a body of at most so many vertices by them; whether that had not been done before.
    fn scan(&mut self, vertices_max: u32) -> bool {
        let is_due = !self.extent.is_scanned && self.body.vertex_count() <= vertices_max;
        if is_due {
            self.extent = Extent::of_vertices(&self.track, &self.plain, self.body);
        }
        is_due
    }

    /// The largest `g·v` over the vertices, enclosed, and a vertex where it nearly is.
    fn farthest(&self, g: &IntervalVec, effort: &mut Effort<'_>) -> (u32, Interval) {
        let middle = interval::middle(g);
        let reach = self.reach();
        let (vertex, value) = self.farthest_rounded(&middle, effort);
        // Three products and two sums, each of which rounds by at most u of the sum of sizes;
        // twice, because the largest rounded value need not belong to the largest exact one.
        let at_middle = if self.body.vertex_count() <= VALUED_MAX {
            Interval::around(value, gamma(4) * along(&middle.abs(), &reach) + 8.0 * UNDERFLOW)
        } else {
            let local = self.track.local(self.body.vertex(vertex));
            dot_exact(&interval::point(&middle), &local)
        };
        // For any g of the intervals the maximum differs from the one for the middle by at most
        // the sum of |g - middle| reach.
        let spread = (0..3)
            .map(|k| Interval::point(g[k].radius()).scale(reach[k]))
            .fold(Interval::point(16.0 * self.track.slack()), |sum, part| sum + part)
            .high();
        (vertex, at_middle + Interval::new(-spread, spread))
    }

    /// The largest `g·v` over the vertices, rounded: of small bodies the largest rounded value, of
    /// others the value of the vertex that is farthest in exact arithmetic.
    #[inline]
    pub(super) fn farthest_rounded(&self, g: &Vec3, effort: &mut Effort<'_>) -> (u32, f64) {
        let found = if self.body.vertex_count() <= VALUED_MAX {
            self.farthest_by_value(g, effort)
        } else {
            let vertex = supporting_vertex(self.body, g, self.last.get().hint(g), effort);
            (vertex, along(g, &self.track.local(self.body.vertex(vertex))))
        };
        self.last.set(Last::found(found.0, g));
        found
    }

    /// [`Self::farthest_rounded`]: the top of a search just made, if that proved it or no more than
    /// a few vertices tie with it, as it nearly always does. A rounded maximum is as good: see
    /// [`Plain::error`].
    #[inline(always)]
    pub(super) fn farthest_from(
        &self,
        g: &Vec3,
        top: &Climb,
        effort: &mut Effort<'_>,
    ) -> (u32, f64) {
        // The search knew nothing of a direction that has to be scaled for the bound to hold.
        if let Some(known) = Along::plain(self.body, g)
            && (known.surely_beats(top.value, top.runner_up)
                // Elsewhere other roundings count than those of the values searched by.
                || self.track.is_in_metres() && is_level_top(self.body, &known, top, effort))
        {
            return (top.vertex, along(g, &self.track.local(self.body.vertex(top.vertex))));
        }
        self.farthest_rounded(g, effort)
    }

    fn farthest_by_value(&self, g: &Vec3, effort: &mut Effort<'_>) -> (u32, f64) {
        effort.cost.supports += 1;
        effort.cost.visited += u64::from(self.body.vertex_count());
        let mut best = (0, f64::NEG_INFINITY);
        for (index, v) in (0..).zip(self.body.vertices()) {
            let value = along(g, &self.track.local(v));
            if value > best.1 {
                best = (index, value);
            }
        }
        best
    }

    /// The largest `s·y` over the solid of revolution: `s·a` times the range along the axis plus
    /// the part of s across it times the radius. Rounded.
    fn swept_top(&self, s: &Vec3, effort: &mut Effort<'_>) -> f64 {
        let plain = &self.plain;
        if !plain.turns() {
            let offset = s.dot(&plain.lever);
            let g = plain.to_body(s);
            return self.farthest_rounded(&g, effort).1 + offset;
        }
        let along = s.dot(&plain.axis);
        let (low, high) = self.extent.along;
        (along * low).max(along * high) + plain.across(s) * self.extent.radius
    }
}

/// A direction and the frame in which it is fixed.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub(super) frame: Frame,
    /// At t = 0; of length 1 up to rounding.
    pub(super) direction: Vec3,
    /// At least |direction|.
    pub(super) length: f64,
    /// Upper bound of the second derivative of `s·(x_q - x_p)` over [0, 1], for any two vertices.
    pub(super) bend: f64,
}

/// The gap along a heading at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) value: Interval,
    /// Its rate of change with the supporting vertices, rounded.
    pub(super) rate: f64,
    /// The supporting vertices, or such as are as far but for rounding.
    pub(super) pair: VertexPair,
}

/// What the gap may be off by along headings fixed in the world, and along those that turn with P,
/// with Q, for the vector between the bodies and its rounded length.
///
/// See [`Plain::error`]; the vector between the bodies adds its own rounding. A heading that turns
/// errs by the turning body's `turn_error`, which tilts everything else in the gap.
fn errors(sides: [&Side<'_>; 2], between: &IntervalVec, length: f64) -> (f64, [f64; 2]) {
    let width = between.iter().map(|c| c.high() - c.low()).fold(0.0, f64::max);
    let [of_p, of_q] = sides.map(|side| side.plain.error(side.extent.size));
    let error = of_p + of_q + 16.0 * UNIT * length + 2.0 * width;
    let [of_p, of_q] = sides
        .map(|Side { plain, extent, .. }| extent.size + plain.lever_length + plain.velocity_length);
    let all = 1.25 * (length + of_p + of_q);
    (error, sides.map(|side| error + 2.0 * side.plain.turn_error * all))
}

/// The pair in motion.
#[derive(Debug)]
pub(super) struct Moving<'a> {
    pub(super) p: Side<'a>,
    pub(super) q: Side<'a>,
    /// From P's centre at t = 0 to Q's.
    pub(super) between: IntervalVec,
    /// The same, rounded, and how it changes per step, but for what turns.
    pub(super) middle: Vec3,
    pub(super) apart: Vec3,
    /// What a plain height along a vector of length 1, or a place, may be off by; along headings
    /// that turn with P, with Q.
    pub(super) error: f64,
    turning_error: [f64; 2],
    /// Per unit of direction, the bend of headings that turn with P and with Q, once asked for.
    turning_bend: OnceCell<[f64; 2]>,
    /// Where the bodies are at the times that were asked about, in turn, and which was last.
    posed: [Option<Posed>; POSES],
    latest: usize,
}

impl<'a> Moving<'a> {
    pub(super) fn new(
        p: (&Placed<'a>, &Motion),
        q: (&Placed<'a>, &Motion),
        scale: Option<PowerOfTwo>,
    ) -> Self {
        let poses = (&p.0.pose, &q.0.pose);
        let (p, q) = (Side::new(p.0, p.1, scale), Side::new(q.0, q.1, scale));
        let between = motion::between((poses.0, &p.track), (poses.1, &q.track));
        let middle = interval::middle(&between);
        let apart = q.plain.velocity - p.plain.velocity;
        let (error, turning_error) = errors([&p, &q], &between, length(&middle));
        Self {
            p,
            q,
            between,
            middle,
            apart,
            error,
            turning_error,
            turning_bend: OnceCell::new(),
            posed: [None; POSES],
            latest: 0,
        }
    }

    /// Bounds bodies of at most so many vertices by them instead of their balls; whether there was
    /// one. Bends of headings made before remain valid, but are no longer the best known: see
    /// [`Self::bend`].
    pub(super) fn scan(&mut self, vertices_max: u32) -> bool {
        let scanned = [self.p.scan(vertices_max), self.q.scan(vertices_max)].contains(&true);
        if scanned {
            self.turning_bend = OnceCell::new();
        }
        scanned
    }

    /// Bounds the sizes at play at t = 0: how far points are from the other body's origin.
    pub(super) fn size(&self) -> f64 {
        self.p.extent.reach.max(self.q.extent.reach).max(length(&self.middle))
    }

    /// From P's pivot to Q's at t = 0.
    pub(super) fn pivots(&self) -> Vec3 {
        self.middle + (self.p.plain.lever - self.q.plain.lever)
    }

    /// The pair, and where it is at time t.
    #[inline(always)]
    pub(super) fn posed(&mut self, t: f64) -> (&Self, &Posed) {
        let is_at_t = |posed: &Posed| posed.t().to_bits() == t.to_bits();
        let known = |place: &usize| self.posed[*place].as_ref().is_some_and(is_at_t);
        let places = [self.latest, (self.latest + POSES - 1) % POSES, (self.latest + 1) % POSES];
        match places.into_iter().find(known) {
            Some(place) => self.latest = place,
            None => {
                self.latest = (self.latest + 1) % POSES;
                self.posed[self.latest] = Some(Posed::new(self, t));
            }
        }
        (self, self.posed[self.latest].as_ref().expect("just made, if it was not there"))
    }

    /// What the plain gap along a heading of length 1 may be off by.
    #[inline]
    pub(super) fn error_along(&self, frame: Frame) -> f64 {
        match frame {
            Frame::World => self.error,
            Frame::P => self.turning_error[0],
            Frame::Q => self.turning_error[1],
        }
    }

    /// Whether there are headings that are fixed in this frame alone.
    pub(super) fn turns_with(&self, frame: Frame) -> bool {
        self.turning(frame).is_none_or(Plain::turns)
    }

    /// Whether a body turns on after the last angle whose sine is to be had.
    pub(super) fn outlasts_sines(&self) -> bool {
        [&self.p, &self.q].iter().any(|side| side.plain.trig(1.0).is_none())
    }

    fn turning(&self, frame: Frame) -> Option<&Plain> {
        match frame {
            Frame::World => None,
            Frame::P => Some(&self.p.plain),
            Frame::Q => Some(&self.q.plain),
        }
    }

    /// The direction `world`, of length 1, at time t as a heading fixed in `frame`.
    pub(super) fn heading(&self, frame: Frame, world: &Vec3, t: f64) -> Heading {
        let direction = match self.turning(frame) {
            None => *world,
            Some(plain) => {
                let trig = plain.trig(t).unwrap_or(RoundedTrig::ZERO);
                world + plain.turned_back_less(&trig, world)
            }
        };
        let length = direction.norm() * (1.0 + 8.0 * UNIT);
        let mut heading = Heading { frame, direction, length, bend: f64::INFINITY };
        heading.bend = self.bend(&heading);
        heading
    }

    /// The bend of a heading, as far as is known now.
    ///
    /// Fixed in the world: `θ² |s × a| |a × (R v + l)|` for either body, as only the part of s
    /// across the axis meets an acceleration, which points at the axis.
    pub(super) fn bend(&self, heading: &Heading) -> f64 {
        let of = |side: &Side<'_>| {
            if !side.plain.turns() {
                return 0.0;
            }
            let across = side.plain.across(&heading.direction);
            across * (side.plain.angle * side.plain.angle) * side.extent.radius
        };
        let rounded_up = 1.0 + 16.0 * UNIT;
        match heading.frame {
            Frame::World => (of(&self.p) + of(&self.q)) * rounded_up,
            Frame::P => self.turning_bend()[0] * heading.length * rounded_up,
            Frame::Q => self.turning_bend()[1] * heading.length * rounded_up,
        }
    }

    /// The bend of headings of length 1 that turn with one body or the other.
    pub(super) fn turning_bends(&self) -> [(Frame, f64); 2] {
        let [with_p, with_q] = self.turning_bend();
        [(Frame::P, with_p), (Frame::Q, with_q)]
    }

    fn turning_bend(&self) -> [f64; 2] {
        let bends = || [self.bend_with(&self.p, &self.q), self.bend_with(&self.q, &self.p)];
        *self.turning_bend.get_or_init(bends)
    }

    /// Second derivative of `s·x` per |s| in the frame that turns with body F, for the vertices of
    /// both.
    ///
    /// Seen from F's pivot, which moves with F, a vertex of F stays where it is but for the residue
    /// r t: `(t s·r)'' <= |r| (2 |Ω| + |Ω|²)`. A vertex of the other body G is at `y + d + w t + r
    /// t` with y turning about G's axis. With `D = d/dt - Ω_F ×` (the rate as seen in F) and Δ =
    /// Ω_G - Ω_F, `D² = Δ × (Ω_G × y) - Ω_F × (Δ × y) - 2 Ω_F × w + Ω_F × (Ω_F × (d + w t))` and
    /// the same term for the residue. Bodies that turn together have Δ = 0.
    fn bend_with(&self, f: &Side<'_>, g: &Side<'_>) -> f64 {
        if !f.plain.turns() {
            return f64::INFINITY;
        }
        let (rate_f, rate_g) = (f.plain.angle.abs(), g.plain.angle.abs());
        let radius = if g.plain.turns() { g.extent.radius } else { 0.0 };
        let turning = f.plain.spin_against(&g.plain) * (rate_g * radius + rate_f * g.extent.reach);
        // The sign of d and w does not matter, so neither does which body is F.
        let (d, w) = (self.pivots(), self.apart);
        let slack =
            f.plain.length_slack() + g.plain.length_slack() + 16.0 * UNIT * length(&self.middle);
        let coriolis = 2.0 * f.plain.whirl(&w, slack);
        let centrifugal = rate_f * f.plain.whirl(&d, slack).max(f.plain.whirl(&(d + w), slack));
        let drag = (f.extent.residue + g.extent.residue) * (2.0 * rate_f + rate_f * rate_f);
        (turning + coriolis + centrifugal + drag) * (1.0 + 32.0 * UNIT)
    }

    /// The heading at time t, rounded, as a world direction.
    pub(super) fn world_of(&self, heading: &Heading, t: f64) -> Vec3 {
        let Some(plain) = self.turning(heading.frame) else { return heading.direction };
        let trig = plain.trig(t).unwrap_or(RoundedTrig::ZERO);
        heading.direction + plain.turned_less(&trig, &heading.direction)
    }

    /// The gap along `heading` at time t: in plain floating point where that settles whether `need`
    /// is met, and enclosed as tightly as f64 numbers can where it does not.
    pub(super) fn gap(
        &mut self,
        heading: &Heading,
        need: Need,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Gap {
        let plain = processor::dispatch(
            #[inline(always)]
            || {
                let (moving, posed) = self.posed(t);
                posed.gap(moving, heading, effort)
            },
        );
        let Some(plain) = plain else {
            return self.enclosed_gap(heading, t, 0.0, effort);
        };
        self.settle(heading, need, t, plain, effort)
    }

    /// The plain gap where that settles it, otherwise enclosed.
    #[inline]
    pub(super) fn settle(
        &self,
        heading: &Heading,
        need: Need,
        t: f64,
        plain: Gap,
        effort: &mut Effort<'_>,
    ) -> Gap {
        let width = plain.value.high() - plain.value.low();
        let is_settled =
            need.surplus(&plain) > SETTLED * width || plain.value.high() < need.clear - width;
        if is_settled {
            return plain;
        }
        self.enclosed_gap(heading, t, plain.rate, effort)
    }

    /// The gap, enclosed, which changes at this rate.
    fn enclosed_gap(&self, heading: &Heading, t: f64, rate: f64, effort: &mut Effort<'_>) -> Gap {
        let trigs = (self.p.track.trig(t), self.q.track.trig(t));
        let s0 = &interval::point(&heading.direction);
        let turn = match heading.frame {
            Frame::World => None,
            Frame::P => Some(self.p.track.turned_less(&trigs.0, s0)),
            Frame::Q => Some(self.q.track.turned_less(&trigs.1, s0)),
        };
        let s = turn.as_ref().map_or(*s0, |turn| add(s0, turn));
        // For the body that the heading turns with, k = s0 - s and s + k = s0 without rounding.
        let own = |frame: Frame| turn.filter(|_| heading.frame == frame);
        let from_p = body_enclosed(&self.p.track, &trigs.0, t, &s, s0, own(Frame::P));
        let from_q = body_enclosed(&self.q.track, &trigs.1, t, &s, s0, own(Frame::Q));
        let (i, top_p) = self.p.farthest(&from_p.g, effort);
        let (j, top_q) = self.q.farthest(&from_q.g.map(|c| -c), effort);
        let offsets = dot(&s, &self.between) + (from_q.offset - from_p.offset);
        Gap { value: offsets - (top_p + top_q), rate, pair: VertexPair { i, j } }
    }

    /// The exact difference `q_j - p_i` at time t, enclosed.
    pub(super) fn difference(&self, pair: VertexPair, t: f64) -> IntervalVec {
        let p = &self.p.track;
        let q = &self.q.track;
        let at_p = p.place_from_start(&p.trig(t), t, self.p.body.vertex(pair.i));
        let at_q = q.place_from_start(&q.trig(t), t, self.q.body.vertex(pair.j));
        add(&self.between, &sub(&at_q, &at_p))
    }

    /// Lower bounds `(a, b)` of the gap along a direction fixed in the world, whatever the angles:
    /// `a + b t` for t in [0, 1]. Every body is replaced by the solid of revolution about its axis.
    pub(super) fn swept_gap(&self, heading: &Heading, effort: &mut Effort<'_>) -> (f64, f64) {
        let s = &heading.direction;
        let top_p = self.p.swept_top(s, effort);
        let top_q = self.q.swept_top(&-s, effort);
        let lengths = |side: &Side<'_>| {
            side.extent.reach + side.plain.lever_length + side.plain.length_slack() / UNIT
        };
        // Each height errs by a few roundings of the lengths that enter, besides the bodies' own
        // errors; the slack of an axis is at most a few units in the last place.
        let error = 2.0 * self.error + 64.0 * UNIT * (lengths(&self.p) + lengths(&self.q));
        let drag = heading.length * (self.p.extent.residue + self.q.extent.residue);
        let start = s.dot(&self.pivots()) - (top_p + top_q);
        (start - error, s.dot(&self.apart) - drag * (1.0 + 8.0 * UNIT) - error)
    }
}
