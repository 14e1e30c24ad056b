//! The pair at one time in plain floating point: where vertices are, which of them support, and
//! what the gap along a heading is.
//!
//! A vertex v of P is at `A v + m`, with `A = R + (Rot - 1) R + t E` and `m = u t + (Rot - 1) l`
//! from P's centre at t = 0, and one of Q likewise from there; both A are formed once for a time.
//! See [`Plain::error`] for what places and heights may be off by.

use super::moving::{Gap, Heading, Last, Moving, Side};
use crate::geometry::claim::Frame;
use crate::geometry::effort::Effort;
use crate::geometry::motion::Plain;
use crate::geometry::number::interval::Interval;
use crate::geometry::number::rounding::UNIT;
use crate::geometry::number::trig::RoundedTrig;
use crate::geometry::pair::VertexPair;
use crate::geometry::support::{Climb, likely_pair};
use crate::geometry::{Mat3, Vec3, processor};

/// A vertex of the difference body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) at: Vec3,
    pub(super) pair: VertexPair,
}

/// What the search for a support found in P and in Q: of a [`Climb`], what its proof takes. Number
/// by number: a `Climb` has gaps between its fields, and copied as a block it goes through memory
/// in pieces and waits there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tops {
    vertices: [u32; 2],
    values: [f64; 2],
    runners_up: [f64; 2],
}

impl Tops {
    #[inline(always)]
    fn of([p, q]: &[Climb; 2]) -> Self {
        Self {
            vertices: [p.vertex, q.vertex],
            values: [p.value, q.value],
            runners_up: [p.runner_up, q.runner_up],
        }
    }

    /// The climb that ended there, but for what it took.
    #[inline(always)]
    fn climb(&self, side: usize) -> Climb {
        let (vertex, value) = (self.vertices[side], self.values[side]);
        Climb { vertex, value, runner_up: self.runners_up[side], visited: 0, finished: true }
    }
}

/// Where one body is.
#[derive(Clone, Copy, Debug)]
struct Place {
    trig: RoundedTrig,
    turn: Mat3,
    origin: Vec3,
}

impl Place {
    #[inline(always)]
    fn of(plain: &Plain, trig: RoundedTrig, t: f64) -> Self {
        let (turn, origin) = plain.pose_from_start(&trig, t);
        Self { trig, turn, origin }
    }

    #[inline(always)]
    fn vertex(&self, side: &Side<'_>, vertex: u32) -> Vec3 {
        self.turn * side.track.local(side.body.vertex(vertex)) + self.origin
    }

    /// The rate along s of what turns with the body while s turns by `spin`: by the vertex, and the
    /// rest. `start` is where its centre is at t = 0.
    #[inline(always)]
    fn arms(&self, plain: &Plain, start: Vec3, (t, s): (f64, &Vec3), spin: &Vec3) -> (Vec3, f64) {
        let across = (spin - plain.spin()).cross(s);
        let pivot = start - plain.lever + plain.velocity * t;
        let by_vertex = self.turn.tr_mul(&across) + plain.residue_to_body(s);
        (by_vertex, across.dot(&(self.origin - pivot)))
    }
}

/// The pair at one time, with P's centre at t = 0 as origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posed {
    t: f64,
    p: Place,
    q: Place,
    /// Whether the sines were to be had; otherwise this is for searching only.
    is_known: bool,
}

impl Posed {
    #[inline(always)]
    pub(super) fn new(moving: &Moving<'_>, t: f64) -> Self {
        let trigs = (moving.p.plain.trig(t), moving.q.plain.trig(t));
        let place = |side: &Side<'_>, trig: Option<RoundedTrig>| {
            Place::of(&side.plain, trig.unwrap_or(RoundedTrig::ZERO), t)
        };
        let p = place(&moving.p, trigs.0);
        let mut q = place(&moving.q, trigs.1);
        q.origin += moving.middle;
        Self { t, p, q, is_known: trigs.0.is_some() && trigs.1.is_some() }
    }

    /// Whether places and gaps are within the error bounds.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    /// The time.
    #[inline]
    pub(super) fn t(&self) -> f64 {
        self.t
    }

    /// The corner with the least `s·y`, very likely.
    #[inline(always)]
    pub(super) fn support(
        &self,
        moving: &Moving<'_>,
        s: &Vec3,
        effort: &mut Effort<'_>,
    ) -> (Corner, Tops) {
        let g = self.in_bodies(s);
        let tops = likely_tops(moving, &g, effort);
        let (i, j) = (tops[0].vertex, tops[1].vertex);
        (self.corner(moving, VertexPair { i, j }), Tops::of(&tops))
    }

    /// What the vertices' heights along s differ by, in the bodies' frames: upwards for P,
    /// downwards for Q.
    #[inline(always)]
    pub(super) fn in_bodies(&self, s: &Vec3) -> [Vec3; 2] {
        [self.p.turn.tr_mul(s), -self.q.turn.tr_mul(s)]
    }

    /// The gap along s, of any length, fixed in the world and taken to length 1, from where the
    /// search for its support ended; `None` when a sine is not to be had, or something overflows.
    /// It closes as the `corners` near the support do of which it does so first: s is at right
    /// angles to their feature, so one of them is about to take over.
    ///
    /// [`Plain::error`] has room for the length, which errs by 3u, and for 4u with which a unit
    /// vector is along s.
    pub(super) fn gap_of(
        &self,
        moving: &Moving<'_>,
        s: &Vec3,
        tops: &Tops,
        corners: &[Corner],
        effort: &mut Effort<'_>,
    ) -> Option<Gap> {
        processor::dispatch(
            #[inline(always)]
            || self.gap_of_inlined(moving, s, tops, corners, effort),
        )
    }

    #[inline(always)]
    fn gap_of_inlined(
        &self,
        moving: &Moving<'_>,
        s: &Vec3,
        tops: &Tops,
        corners: &[Corner],
        effort: &mut Effort<'_>,
    ) -> Option<Gap> {
        if !self.is_known {
            return None;
        }
        let g = self.in_bodies(s);
        let (i, top_p) = moving.p.farthest_from(&g[0], &tops.climb(0), effort);
        let (j, top_q) = moving.q.farthest_from(&g[1], &tops.climb(1), effort);
        let between = s.dot(&(self.q.origin - self.p.origin));
        let length = s.norm();
        let value = (between - (top_p + top_q)) / length;
        let world = s / length;
        let rates = self.rates(moving, Frame::World, &world);
        let pair = VertexPair { i, j };
        let mut rate = rates.of(moving, pair);
        for corner in corners {
            rate = rate.min(rates.of(moving, corner.pair));
        }
        let value = Interval::around(value, moving.error * (1.0 + 16.0 * UNIT));
        (value.low() > f64::NEG_INFINITY).then_some(Gap { value, rate, pair })
    }

    /// Where the difference `q_j - p_i` is.
    #[inline(always)]
    pub(super) fn corner(&self, moving: &Moving<'_>, pair: VertexPair) -> Corner {
        let at = self.q.vertex(&moving.q, pair.j) - self.p.vertex(&moving.p, pair.i);
        Corner { at, pair }
    }

    /// The heading as a world direction.
    #[inline(always)]
    pub(super) fn world_of(&self, moving: &Moving<'_>, heading: &Heading) -> Vec3 {
        let s = &heading.direction;
        match heading.frame {
            Frame::World => *s,
            Frame::P => s + moving.p.plain.turned_less(&self.p.trig, s),
            Frame::Q => s + moving.q.plain.turned_less(&self.q.trig, s),
        }
    }

    /// The gap along a heading, within the error bounds of `moving`; `None` when a sine is not to
    /// be had, or something overflows.
    #[inline(always)]
    pub(super) fn gap(
        &self,
        moving: &Moving<'_>,
        heading: &Heading,
        effort: &mut Effort<'_>,
    ) -> Option<Gap> {
        if !self.is_known {
            return None;
        }
        let s = self.world_of(moving, heading);
        let g = self.in_bodies(&s);
        let tops = likely_tops(moving, &g, effort);
        let (i, top_p) = moving.p.farthest_from(&g[0], &tops[0], effort);
        let (j, top_q) = moving.q.farthest_from(&g[1], &tops[1], effort);
        let between = s.dot(&(self.q.origin - self.p.origin));
        let value = between - (top_p + top_q);
        let pair = VertexPair { i, j };
        let rate = self.rates(moving, heading.frame, &s).of(moving, pair);
        let error = moving.error_along(heading.frame);
        let value = Interval::around(value, error * heading.length);
        (value.low() > f64::NEG_INFINITY).then_some(Gap { value, rate, pair })
    }

    /// The rates of change of `s·(x_q - x_p)` for vertices of the two bodies, rounded. With s' =
    /// Ω_F × s, and the places `c + arm`, where only the arms turn: `s·(u_q - u_p) + s'·(c_q -
    /// c_p)`, and for the arm of G, which moves by Ω_G × arm, `((Ω_F - Ω_G) × s)·arm`.
    #[inline(always)]
    pub(super) fn rates(&self, moving: &Moving<'_>, frame: Frame, s: &Vec3) -> Rates {
        let (p, q) = (&moving.p.plain, &moving.q.plain);
        let spin = match frame {
            Frame::World => Vec3::zeros(),
            Frame::P => p.spin(),
            Frame::Q => q.spin(),
        };
        let (of_p, arm_p) = self.p.arms(p, Vec3::zeros(), (self.t, s), &spin);
        let (of_q, arm_q) = self.q.arms(q, moving.middle, (self.t, s), &spin);
        let carried = match frame {
            Frame::World => 0.0,
            Frame::P | Frame::Q => spin.cross(s).dot(&(moving.pivots() + moving.apart * self.t)),
        };
        Rates { of_p, of_q, of_both: s.dot(&moving.apart) + carried + (arm_q - arm_p) }
    }
}

/// The rate of change of a gap by the vertices that support: linear in these.
pub(super) struct Rates {
    of_p: Vec3,
    of_q: Vec3,
    of_both: f64,
}

impl Rates {
    #[inline(always)]
    pub(super) fn of(&self, moving: &Moving<'_>, VertexPair { i, j }: VertexPair) -> f64 {
        let (p, q) = (&moving.p, &moving.q);
        let of_p = self.of_p.dot(&p.track.local(p.body.vertex(i)));
        self.of_both + self.of_q.dot(&q.track.local(q.body.vertex(j))) - of_p
    }
}

/// The vertices that are very likely farthest along these, in P and in Q.
#[inline(always)]
fn likely_tops(moving: &Moving<'_>, g: &[Vec3; 2], effort: &mut Effort<'_>) -> [Climb; 2] {
    let (p, q) = (&moving.p, &moving.q);
    let hints = [p.last.get().hint(&g[0]), q.last.get().hint(&g[1])];
    let tops = likely_pair([p.body, q.body], [&g[0], &g[1]], hints, effort);
    p.last.set(Last::found(tops[0].vertex, &g[0]));
    q.last.set(Last::found(tops[1].vertex, &g[1]));
    tops
}
