//! Where the bodies are at one time in plain floating point: places of vertices, supports, and the
//! gap along a direction with the rate at which it changes.
//!
//! A vertex v of P is at `A v + m`, with `A = R + (Rot - 1) R + t E` and `m = u t + (Rot - 1) l`,
//! measured from P's centre at t = 0. A vertex of Q likewise is measured from Q's centre, to which
//! the vector between the bodies is added. Both matrices are formed once for a time. See
//! [`Plain::error`] for how much places and heights may be off by.

use super::body::MovingBody;
use super::pair::{Heading, MovingGap, MovingPair};
use super::supports::{MovingCorner, NearSupport, SupportTops, likely_tops};
use crate::claim::Frame;
use crate::effort::Effort;
use crate::motion::Plain;
use crate::number::interval::Interval;
use crate::number::rounding::UNIT;
use crate::number::trig::RoundedTrig;
use crate::pair::VertexPair;
use crate::{Mat3, Vec3};

/// Where one body is.
#[derive(Clone, Copy, Debug)]
struct PosedBody {
    trig: RoundedTrig,
    turn: Mat3,
    origin: Vec3,
}

impl PosedBody {
    #[inline(always)]
    fn of(plain: &Plain, trig: RoundedTrig, t: f64) -> Self {
        let (turn, origin) = plain.pose_from_start(&trig, t);
        Self { trig, turn, origin }
    }

    #[inline(always)]
    fn vertex(&self, body: &MovingBody<'_>, vertex: u32) -> Vec3 {
        self.turn * body.track.local(body.body.vertex(vertex)) + self.origin
    }

    /// The rate along s of what turns with the body while s turns by `spin`: the vector that a
    /// vertex is multiplied by, and the rest.
    #[inline(always)]
    fn arms(&self, plain: &Plain, pivot: &Vec3, s: &Vec3, spin: &Vec3) -> (Vec3, f64) {
        let across = (spin - plain.spin()).cross(s);
        let by_vertex = self.turn.tr_mul(&across) + plain.residue_to_body(s);
        (by_vertex, across.dot(&(self.origin - pivot)))
    }
}

/// The pair at one time, with P's centre at t = 0 as origin.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PosedPair {
    t: f64,
    p: PosedBody,
    q: PosedBody,
    /// Whether the sines of the angles are known; otherwise this is for searching only.
    is_known: bool,
}

impl PosedPair {
    #[inline(always)]
    pub(in super::super) fn new(pair: &MovingPair<'_>, t: f64) -> Self {
        let trigs = (pair.p.plain.trig(t), pair.q.plain.trig(t));
        let place = |body: &MovingBody<'_>, trig: Option<RoundedTrig>| {
            PosedBody::of(&body.plain, trig.unwrap_or(RoundedTrig::ZERO), t)
        };
        let p = place(&pair.p, trigs.0);
        let mut q = place(&pair.q, trigs.1);
        q.origin += pair.between_rounded;
        Self { t, p, q, is_known: trigs.0.is_some() && trigs.1.is_some() }
    }

    /// Whether places and gaps are within the error bounds.
    #[inline]
    pub(in super::super) fn is_known(&self) -> bool {
        self.is_known
    }

    #[inline]
    pub(super) fn t(&self) -> f64 {
        self.t
    }

    /// The corner that very likely has the least `s·y`.
    #[inline(always)]
    pub(in super::super) fn support(
        &self,
        pair: &MovingPair<'_>,
        s: &Vec3,
        effort: &mut Effort<'_>,
    ) -> (MovingCorner, SupportTops) {
        let g = self.in_bodies(s);
        let tops = likely_tops(pair, &g, effort);
        let (i, j) = (tops[0].vertex, tops[1].vertex);
        (self.corner(pair, VertexPair { i, j }), SupportTops::of(&tops))
    }

    /// The direction s in the bodies' own frames: upwards for P, downwards for Q. Vertices of a
    /// body differ in height along s by their products with it.
    #[inline(always)]
    pub(in super::super) fn in_bodies(&self, s: &Vec3) -> [Vec3; 2] {
        [self.p.turn.tr_mul(s), -self.q.turn.tr_mul(s)]
    }

    /// The gap along the direction of a support, taken to length 1; `None` when a sine is not
    /// known, or when something overflows. Its rate is that of the corner near the support along
    /// which the gap closes fastest, because one of those is about to take over.
    ///
    /// [`Plain::error`] has room for the length, which errs by 3u, and for the 4u by which a unit
    /// vector differs from s in direction.
    #[inline(always)]
    pub(super) fn gap_at(
        &self,
        pair: &MovingPair<'_>,
        support: &NearSupport<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<MovingGap> {
        if !self.is_known {
            return None;
        }
        let NearSupport { direction: s, tops, corners } = support;
        let g = self.in_bodies(s);
        let (i, top_p) = pair.p.farthest_from(&g[0], &tops.climb(0), effort);
        let (j, top_q) = pair.q.farthest_from(&g[1], &tops.climb(1), effort);
        let between = s.dot(&(self.q.origin - self.p.origin));
        let length = s.norm();
        let value = (between - (top_p + top_q)) / length;
        let world = *s / length;
        let rates = self.rates(pair, Frame::World, &world);
        let supporting = VertexPair { i, j };
        let near = corners.iter().map(|corner| rates.of(pair, corner.pair));
        let rate = near.fold(rates.of(pair, supporting), f64::min);
        let value = Interval::around(value, pair.error * (1.0 + 16.0 * UNIT));
        let is_finite = value.low() > f64::NEG_INFINITY;
        is_finite.then_some(MovingGap { value, rate, pair: supporting })
    }

    /// Where the difference `q_j - p_i` of two vertices is.
    #[inline(always)]
    pub(in super::super) fn corner(&self, pair: &MovingPair<'_>, of: VertexPair) -> MovingCorner {
        let at = self.q.vertex(&pair.q, of.j) - self.p.vertex(&pair.p, of.i);
        MovingCorner { at, pair: of }
    }

    /// The heading's direction in the world.
    #[inline(always)]
    fn world_of(&self, pair: &MovingPair<'_>, heading: &Heading) -> Vec3 {
        let s = &heading.direction;
        match heading.frame {
            Frame::World => *s,
            Frame::P => s + pair.p.plain.turned_less(&self.p.trig, s),
            Frame::Q => s + pair.q.plain.turned_less(&self.q.trig, s),
        }
    }

    /// The gap along a heading, within the error bounds of the pair; `None` when a sine is not
    /// known, or when something overflows.
    #[inline(always)]
    pub(in super::super) fn gap(
        &self,
        pair: &MovingPair<'_>,
        heading: &Heading,
        effort: &mut Effort<'_>,
    ) -> Option<MovingGap> {
        if !self.is_known {
            return None;
        }
        let s = self.world_of(pair, heading);
        let g = self.in_bodies(&s);
        let tops = likely_tops(pair, &g, effort);
        let (i, top_p) = pair.p.farthest_from(&g[0], &tops[0], effort);
        let (j, top_q) = pair.q.farthest_from(&g[1], &tops[1], effort);
        let between = s.dot(&(self.q.origin - self.p.origin));
        let value = between - (top_p + top_q);
        let supporting = VertexPair { i, j };
        let rate = self.rates(pair, heading.frame, &s).of(pair, supporting);
        let error = pair.error_along(heading.frame);
        let value = Interval::around(value, error * heading.length);
        let is_finite = value.low() > f64::NEG_INFINITY;
        is_finite.then_some(MovingGap { value, rate, pair: supporting })
    }

    /// The rates of change of `s·(x_q - x_p)` for vertices of the two bodies, rounded. With s' =
    /// Ω_F × s, and places `c + arm` of which only the arms turn, a rate is `s·(u_q - u_p) +
    /// s'·(c_q - c_p)` and, for the arm of a body G, which moves by Ω_G × arm, `((Ω_F - Ω_G) ×
    /// s)·arm`.
    #[inline(always)]
    pub(in super::super) fn rates(&self, pair: &MovingPair<'_>, frame: Frame, s: &Vec3) -> Rates {
        let (p, q) = (&pair.p.plain, &pair.q.plain);
        let spin = match frame {
            Frame::World => Vec3::zeros(),
            Frame::P => p.spin(),
            Frame::Q => q.spin(),
        };
        // Where a body's pivot is whose centre begins at `start`.
        let pivot = |plain: &Plain, start: Vec3| start - plain.lever + plain.velocity * self.t;
        let (of_p, arm_p) = self.p.arms(p, &pivot(p, Vec3::zeros()), s, &spin);
        let (of_q, arm_q) = self.q.arms(q, &pivot(q, pair.between_rounded), s, &spin);
        let carried = match frame {
            Frame::World => 0.0,
            Frame::P | Frame::Q => {
                spin.cross(s).dot(&(pair.pivots() + pair.relative_velocity * self.t))
            }
        };
        let of_both = s.dot(&pair.relative_velocity) + carried + (arm_q - arm_p);
        Rates { of_p, of_q, of_both }
    }
}

/// The rate of change of a gap, which is linear in the places of its supporting vertices.
pub(in super::super) struct Rates {
    of_p: Vec3,
    of_q: Vec3,
    of_both: f64,
}

impl Rates {
    #[inline(always)]
    pub(in super::super) fn of(&self, pair: &MovingPair<'_>, of: VertexPair) -> f64 {
        let (p, q) = (&pair.p, &pair.q);
        let of_p = self.of_p.dot(&p.track.local(p.body.vertex(of.i)));
        self.of_both + self.of_q.dot(&q.track.local(q.body.vertex(of.j))) - of_p
    }
}
