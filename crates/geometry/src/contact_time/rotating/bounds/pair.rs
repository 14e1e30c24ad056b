//! Both bodies in motion, and headings: directions that are fixed in the world or turn with one of
//! the bodies. How wide the gap along a heading is, as an interval, and how fast it can bend.
//!
//! The gap along a heading s at time t is `min over Q of s(t)·x - max over P of s(t)·x`. With `s`
//! turned by `Rot_F`, a vertex v contributes
//!
//! `s·x_v(t) = s·t0 + s·u t + k·l + (Rᵀ(s + k))·v + t (Eᵀs)·v`,  `k = Rot(-t) s - s`,
//!
//! so two supporting vertices, in the bodies' own frames, give the gap. (For the body that the
//! heading turns with, `s + k` is the heading at t = 0.)

use std::cell::OnceCell;

use super::body::MovingBody;
use crate::Vec3;
use crate::claim::Frame;
use crate::effort::Effort;
use crate::motion::{self, Plain, Track};
use crate::number::interval::{self, Interval, IntervalVec, add, dot, sub};
use crate::number::rounding::{UNIT, length};
use crate::number::scale::PowerOfTwo;
use crate::number::trig::{RoundedTrig, Trig};
use crate::pair::Question;
use crate::pair::VertexPair;

/// A direction and the frame in which it is fixed.
#[derive(Clone, Debug)]
pub(in super::super) struct Heading {
    pub(in super::super) frame: Frame,
    /// The direction at t = 0, of length 1 up to rounding.
    pub(in super::super) direction: Vec3,
    /// An upper bound of the direction's length.
    pub(in super::super) length: f64,
    /// An upper bound of the second derivative of `s·(x_q - x_p)` over [0, 1], for any two
    /// vertices.
    pub(in super::super) bend: f64,
    /// What a gap along the heading has to exceed: the distance that the bodies have to keep times
    /// the length. A negative number allows them some depth.
    pub(in super::super) need: f64,
}

impl Heading {
    /// Slightly less than the longest step that the bend lets through if the surplus stays as it
    /// is.
    pub(in super::super) fn bend_limit(&self, surplus: f64) -> f64 {
        if self.bend > 0.0 { 1.9 * (2.0 * surplus / self.bend).sqrt() } else { f64::INFINITY }
    }
}

/// The gap along a heading at a time: how far Q's lowest vertex is above P's highest.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MovingGap {
    pub(in super::super) value: Interval,
    /// The gap's rate of change while its supporting vertices stay the same, rounded.
    pub(in super::super) rate: f64,
    /// The supporting vertices, or vertices that are as far but for rounding.
    pub(in super::super) pair: VertexPair,
}

impl MovingGap {
    /// By how much the gap surely exceeds a need. The width of the gap's enclosure is taken off
    /// once more, so that a judge with looser enclosures still agrees.
    pub(super) fn surplus_over(&self, need: f64) -> f64 {
        let width = self.value.high() - self.value.low();
        ((self.value.low() - width).next_down() - need).next_down()
    }
}

/// The heading as intervals: at t = 0, at the time that is asked about, and what it has turned by
/// in between, unless it is fixed in the world.
pub(super) struct EnclosedHeading {
    pub(super) start: IntervalVec,
    pub(super) now: IntervalVec,
    pub(super) turn: Option<IntervalVec>,
}

/// What makes a height of the vertex v: `g·v + offset`.
pub(super) struct EnclosedHeights {
    pub(super) g: IntervalVec,
    pub(super) offset: Interval,
}

/// The heights of a body's vertices at time t. `turns_along` says whether the heading turns with
/// this body: then the heading's turn cancels the body's without rounding.
pub(super) fn heights(
    track: &Track,
    trig: &Trig,
    t: f64,
    heading: &EnclosedHeading,
    turns_along: bool,
) -> EnclosedHeights {
    let EnclosedHeading { start, now, turn } = heading;
    let drift = dot(now, &track.velocity).scale(t);
    let (k, lead) = match turn.filter(|_| turns_along) {
        // Here k = start - now, and now + k = start.
        Some(turn) => (turn.map(|c| -c), *start),
        None if track.turns() => {
            let k = track.turned_back_less(trig, now);
            (k, add(now, &k))
        }
        None => ([Interval::ZERO; 3], *now),
    };
    let g = track.to_body(&lead);
    let offset = drift + dot(&k, &track.lever);
    if track.has_residue() {
        let bent = track.residue_to_body(now).map(|c| c.scale(t));
        return EnclosedHeights { g: add(&g, &bent), offset };
    }
    EnclosedHeights { g, offset }
}

/// The pair in motion.
#[derive(Debug)]
pub(in super::super) struct MovingPair<'a> {
    pub(in super::super) p: MovingBody<'a>,
    pub(in super::super) q: MovingBody<'a>,
    /// The vector from P's centre at t = 0 to Q's.
    pub(in super::super) between: IntervalVec,
    /// That vector, rounded.
    pub(in super::super) between_rounded: Vec3,
    /// How that vector changes per step, leaving out what turns; rounded.
    pub(in super::super) relative_velocity: Vec3,
    /// How much a plain height along a vector of length 1 that is fixed in the world, or the
    /// coordinate of a plain place, may be off by.
    pub(in super::super) error: f64,
    /// This bound for vectors that turn with P, and with Q.
    turning_error: [f64; 2],
    /// The bend, per unit of direction, of headings that turn with P and with Q, once it was asked
    /// for.
    turning_bend: OnceCell<[f64; 2]>,
}

impl<'a> MovingPair<'a> {
    #[inline]
    pub(super) fn new(question: &Question<'a>, scale: Option<PowerOfTwo>) -> Self {
        let pair = &question.pair;
        // The bodies are large: they are made where they stay, and what follows from both is filled
        // in.
        let mut moving = Self {
            p: MovingBody::new(&pair.p, &question.motion_p, scale),
            q: MovingBody::new(&pair.q, &question.motion_q, scale),
            between: [Interval::ZERO; 3],
            between_rounded: Vec3::zeros(),
            relative_velocity: Vec3::zeros(),
            error: 0.0,
            turning_error: [0.0; 2],
            turning_bend: OnceCell::new(),
        };
        let Self { p, q, .. } = &moving;
        let between = motion::between(&pair.p.pose, &p.track, &pair.q.pose, &q.track);
        let between_rounded = interval::middle(&between);
        let relative_velocity = q.plain.velocity - p.plain.velocity;
        let (error, turning_error) = errors([p, q], &between, length(&between_rounded));
        moving.between = between;
        moving.between_rounded = between_rounded;
        moving.relative_velocity = relative_velocity;
        moving.error = error;
        moving.turning_error = turning_error;
        moving
    }

    /// Bounds bodies of at most so many vertices by them instead of their balls; says whether there
    /// was such a body. The bends of earlier headings remain valid but are no longer the best
    /// known: see [`Self::bend`].
    pub(in super::super) fn bound_by_vertices(&mut self, vertices_max: u32) -> bool {
        let both = [&mut self.p, &mut self.q].map(|body| body.bound_by_vertices(vertices_max));
        let is_tighter = both.contains(&true);
        if is_tighter {
            self.turning_bend = OnceCell::new();
        }
        is_tighter
    }

    /// An upper bound of the sizes at play at t = 0: how far points are from the other body's
    /// origin.
    pub(in super::super) fn size(&self) -> f64 {
        self.p.extent.reach.max(self.q.extent.reach).max(length(&self.between_rounded))
    }

    /// The vector from P's pivot to Q's at t = 0.
    pub(in super::super) fn pivots(&self) -> Vec3 {
        self.between_rounded + (self.p.plain.lever - self.q.plain.lever)
    }

    /// How much the plain gap along a heading of length 1 may be off by.
    #[inline]
    pub(super) fn error_along(&self, frame: Frame) -> f64 {
        match frame {
            Frame::World => self.error,
            Frame::P => self.turning_error[0],
            Frame::Q => self.turning_error[1],
        }
    }

    /// Whether some headings are fixed in this frame alone: a frame that does not turn is the
    /// world's.
    pub(in super::super) fn turns_with(&self, frame: Frame) -> bool {
        self.turning(frame).is_none_or(Plain::turns)
    }

    /// Whether a body turns on beyond the largest angle whose sine can be enclosed.
    pub(in super::super) fn leaves_sine_range(&self) -> bool {
        [&self.p, &self.q].iter().any(|body| body.plain.trig(1.0).is_none())
    }

    /// How the body turns that headings of this frame turn with.
    pub(super) fn turning(&self, frame: Frame) -> Option<&Plain> {
        match frame {
            Frame::World => None,
            Frame::P => Some(&self.p.plain),
            Frame::Q => Some(&self.q.plain),
        }
    }

    /// The heading's direction in the world at time t, rounded.
    pub(in super::super) fn world_of(&self, heading: &Heading, t: f64) -> Vec3 {
        let Some(plain) = self.turning(heading.frame) else { return heading.direction };
        let trig = plain.trig(t).unwrap_or(RoundedTrig::ZERO);
        heading.direction + plain.turned_less(&trig, &heading.direction)
    }

    /// The bend of a heading, as far as it is known now.
    ///
    /// For a heading fixed in the world it is the sum of `θ² |s × a| |a × (R v + l)|` over both
    /// bodies: a turning point accelerates towards the axis, and only the part of s across the axis
    /// meets that.
    pub(in super::super) fn bend(&self, heading: &Heading) -> f64 {
        let of = |body: &MovingBody<'_>| {
            if !body.plain.turns() {
                return 0.0;
            }
            let across = body.plain.across(&heading.direction);
            across * (body.plain.angle * body.plain.angle) * body.extent.radius
        };
        let rounded_up = 1.0 + 16.0 * UNIT;
        match heading.frame {
            Frame::World => (of(&self.p) + of(&self.q)) * rounded_up,
            Frame::P => self.turning_bend()[0] * heading.length * rounded_up,
            Frame::Q => self.turning_bend()[1] * heading.length * rounded_up,
        }
    }

    /// The bends of headings of length 1 that turn with one body or the other.
    pub(in super::super) fn turning_bends(&self) -> [(Frame, f64); 2] {
        let [with_p, with_q] = self.turning_bend();
        [(Frame::P, with_p), (Frame::Q, with_q)]
    }

    fn turning_bend(&self) -> [f64; 2] {
        let bends = || [self.bend_with(&self.p, &self.q), self.bend_with(&self.q, &self.p)];
        *self.turning_bend.get_or_init(bends)
    }

    /// The second derivative of `s·x` per |s|, seen in the frame that turns with the body f, for
    /// the vertices of both bodies.
    ///
    /// Seen from f's pivot, which moves with f, a vertex of f stays where it is but for the residue
    /// r t: `(t s·r)'' <= |r| (2 |Ω| + |Ω|²)`. A vertex of the other body g is at `y + d + w t + r
    /// t` with y turning about g's axis. With `D = d/dt - Ω_f ×` (the rate as seen in f) and Δ =
    /// Ω_g - Ω_f, `D² = Δ × (Ω_g × y) - Ω_f × (Δ × y) - 2 Ω_f × w + Ω_f × (Ω_f × (d + w t))`, and
    /// the residue adds the term above. Bodies that turn together have Δ = 0.
    fn bend_with(&self, f: &MovingBody<'_>, g: &MovingBody<'_>) -> f64 {
        if !f.plain.turns() {
            return f64::INFINITY;
        }
        let (rate_f, rate_g) = (f.plain.angle.abs(), g.plain.angle.abs());
        let radius = if g.plain.turns() { g.extent.radius } else { 0.0 };
        let turning = f.plain.spin_against(&g.plain) * (rate_g * radius + rate_f * g.extent.reach);
        // The signs of d and w do not matter, so neither does which body is P.
        let (d, w) = (self.pivots(), self.relative_velocity);
        let slack = f.plain.length_slack()
            + g.plain.length_slack()
            + 16.0 * UNIT * length(&self.between_rounded);
        let coriolis = 2.0 * f.plain.whirl(&w, slack);
        let centrifugal = rate_f * f.plain.whirl(&d, slack).max(f.plain.whirl(&(d + w), slack));
        let drag = (f.extent.residue + g.extent.residue) * (2.0 * rate_f + rate_f * rate_f);
        (turning + coriolis + centrifugal + drag) * (1.0 + 32.0 * UNIT)
    }

    /// The gap along a heading at time t as an interval; `rate` is its rate of change, as far as
    /// that is known.
    pub(super) fn enclosed_gap(
        &self,
        heading: &Heading,
        t: f64,
        rate: f64,
        effort: &mut Effort<'_>,
    ) -> MovingGap {
        let trigs = (self.p.track.trig(t), self.q.track.trig(t));
        let start = interval::point(&heading.direction);
        let turn = match heading.frame {
            Frame::World => None,
            Frame::P => Some(self.p.track.turned_less(&trigs.0, &start)),
            Frame::Q => Some(self.q.track.turned_less(&trigs.1, &start)),
        };
        let now = turn.as_ref().map_or(start, |turn| add(&start, turn));
        let s = EnclosedHeading { start, now, turn };
        let between = dot(&s.now, &self.between);
        let is_with = |frame: Frame| heading.frame == frame;
        let from_p = heights(&self.p.track, &trigs.0, t, &s, is_with(Frame::P));
        let from_q = heights(&self.q.track, &trigs.1, t, &s, is_with(Frame::Q));
        let (i, top_p) = self.p.farthest(&from_p.g, effort);
        let (j, top_q) = self.q.farthest(&from_q.g.map(|c| -c), effort);
        let offsets = between + (from_q.offset - from_p.offset);
        MovingGap { value: offsets - (top_p + top_q), rate, pair: VertexPair { i, j } }
    }

    /// The difference `q_j - p_i` of two vertices at time t, as intervals.
    pub(in super::super) fn difference(&self, pair: VertexPair, t: f64) -> IntervalVec {
        let p = &self.p.track;
        let q = &self.q.track;
        let at_p = p.place_from_start(&p.trig(t), t, self.p.body.vertex(pair.i));
        let at_q = q.place_from_start(&q.trig(t), t, self.q.body.vertex(pair.j));
        add(&self.between, &sub(&at_q, &at_p))
    }
}

/// How much the plain gap may be off by along headings fixed in the world, and along headings that
/// turn with P and with Q. `length` is the rounded length of the vector between the bodies.
///
/// The bodies' own errors are those of [`Plain::error`]; the vector between them adds its rounding.
/// A heading that turns errs by the turning body's `turn_error`, which tilts everything else in the
/// gap.
fn errors(bodies: [&MovingBody<'_>; 2], between: &IntervalVec, length: f64) -> (f64, [f64; 2]) {
    let width = between.iter().map(|c| c.high() - c.low()).fold(0.0, f64::max);
    let [of_p, of_q] = bodies.map(|body| body.plain.error(body.extent.size));
    let error = of_p + of_q + 16.0 * UNIT * length + 2.0 * width;
    let [of_p, of_q] = bodies.map(|MovingBody { plain, extent, .. }| {
        extent.size + plain.lever_length + plain.velocity_length
    });
    let all = 1.25 * (length + of_p + of_q);
    (error, bodies.map(|body| error + 2.0 * body.plain.turn_error * all))
}
