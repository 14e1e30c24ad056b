//! The moving pair at the last few times in plain floating point: where vertices are, which of them
//! support, and what the gap along a heading is. Where plain numbers do not settle the matter, the
//! gap is enclosed by intervals.
//!
//! A vertex v of P is at `A v + m`, with `A = R + (Rot - 1) R + t E` and `m = u t + (Rot - 1) l`,
//! measured from P's centre at t = 0. A vertex of Q likewise is measured from Q's centre, to which
//! the vector between the bodies is added. Both matrices are formed once for a time. See
//! [`Plain::error`] for how much places and heights may be off by.

use super::body::{LastSupport, MovingBody};
use super::pair::{Heading, MeasuredHeading, MovingGap, MovingPair, Need};
use crate::geometry::claim::{Frame, Question};
use crate::geometry::effort::Effort;
use crate::geometry::motion::Plain;
use crate::geometry::number::interval::Interval;
use crate::geometry::number::rounding::UNIT;
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::number::trig::RoundedTrig;
use crate::geometry::pair::VertexPair;
use crate::geometry::support::{Climb, likely_pair};
use crate::geometry::{Mat3, Vec3, processor};

/// A vertex of the difference body M = Q - P at a time.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MovingCorner {
    pub(in super::super) at: Vec3,
    pub(in super::super) pair: VertexPair,
}

/// The vertices of P and Q at which a search for a support ended, with the values that a proof of
/// it takes from a [`Climb`]. They are kept number by number: a `Climb` has gaps between its
/// fields, and copied as a block it goes through memory in pieces and waits there.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct SupportTops {
    vertices: [u32; 2],
    values: [f64; 2],
    runners_up: [f64; 2],
}

impl SupportTops {
    #[inline(always)]
    fn of([p, q]: &[Climb; 2]) -> Self {
        Self {
            vertices: [p.vertex, q.vertex],
            values: [p.value, q.value],
            runners_up: [p.runner_up, q.runner_up],
        }
    }

    /// The climb that ended there, without what it took.
    #[inline(always)]
    fn climb(&self, side: usize) -> Climb {
        let (vertex, value) = (self.vertices[side], self.values[side]);
        Climb { vertex, value, runner_up: self.runners_up[side], visited: 0, finished: true }
    }
}

/// A support that a search for the nearest point ended at.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct NearSupport<'n> {
    /// The direction that it supports, fixed in the world and of any length.
    pub(in super::super) direction: &'n Vec3,
    pub(in super::super) tops: &'n SupportTops,
    /// The corners near the support: the direction is at right angles to their feature.
    pub(in super::super) corners: &'n [MovingCorner],
}

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
    pub(in super::super) fn gap_at(
        &self,
        pair: &MovingPair<'_>,
        support: &NearSupport<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<MovingGap> {
        processor::dispatch(
            #[inline(always)]
            || self.gap_at_inlined(pair, support, effort),
        )
    }

    #[inline(always)]
    fn gap_at_inlined(
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
        let mut rate = rates.of(pair, supporting);
        for corner in *corners {
            rate = rate.min(rates.of(pair, corner.pair));
        }
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

/// The vertices that are very likely farthest along these directions, in P and in Q.
#[inline(always)]
fn likely_tops(pair: &MovingPair<'_>, g: &[Vec3; 2], effort: &mut Effort<'_>) -> [Climb; 2] {
    let (p, q) = (&pair.p, &pair.q);
    let hints = [p.last.get().hint(&g[0]), q.last.get().hint(&g[1])];
    let tops = likely_pair([p.body, q.body], [&g[0], &g[1]], hints, effort);
    p.last.set(LastSupport::found(tops[0].vertex, &g[0]));
    q.last.set(LastSupport::found(tops[1].vertex, &g[1]));
    tops
}

/// A plain gap whose surplus is this many times the width of its bound is taken as it is. Below
/// that the gap is enclosed by intervals, which are several times tighter.
const SETTLED: f64 = 8.0;

/// How many times' places are kept. A step is aimed from one time by way of another to a third.
const TIMES_KEPT: usize = 3;

/// The pair in motion, and where it is at the times that were asked about last.
#[derive(Debug)]
pub(in super::super) struct Moving<'a> {
    pub(in super::super) pair: MovingPair<'a>,
    /// The places, in turn.
    posed: [Option<PosedPair>; TIMES_KEPT],
    /// The index of the places that were asked for last.
    latest: usize,
}

/// A gap that is asked for: along a heading, at a time, and what it has to exceed.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct GapSought<'h> {
    pub(in super::super) heading: &'h Heading,
    pub(in super::super) need: Need,
    pub(in super::super) t: f64,
}

impl<'a> Moving<'a> {
    #[inline]
    pub(in super::super) fn new(question: &Question<'a>, scale: Option<PowerOfTwo>) -> Self {
        Self { pair: MovingPair::new(question, scale), posed: [None; TIMES_KEPT], latest: 0 }
    }

    /// The pair, and where it is at time t.
    #[inline(always)]
    pub(in super::super) fn posed(&mut self, t: f64) -> (&MovingPair<'a>, &PosedPair) {
        let is_at_t = |posed: &PosedPair| posed.t().to_bits() == t.to_bits();
        let known = |place: &usize| self.posed[*place].as_ref().is_some_and(is_at_t);
        let before = (self.latest + TIMES_KEPT - 1) % TIMES_KEPT;
        let after = (self.latest + 1) % TIMES_KEPT;
        match [self.latest, before, after].into_iter().find(known) {
            Some(place) => self.latest = place,
            None => {
                self.latest = after;
                self.posed[self.latest] = Some(PosedPair::new(&self.pair, t));
            }
        }
        let posed = self.posed[self.latest].as_ref();
        (&self.pair, posed.expect("just made, if it was not there"))
    }

    /// The heading with the gap along it at time t; `clear` is how far from each other the
    /// bodies have to stay, metres.
    pub(in super::super) fn measured(
        &mut self,
        heading: Heading,
        clear: f64,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MeasuredHeading {
        let gap = self.gap(&heading, Need::along(&heading, clear), t, effort);
        MeasuredHeading { heading, gap }
    }

    /// The gap along `heading` at time t: in plain floating point where that settles whether `need`
    /// is met, and otherwise enclosed as tightly as f64 numbers can.
    pub(in super::super) fn gap(
        &mut self,
        heading: &Heading,
        need: Need,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MovingGap {
        let plain = processor::dispatch(
            #[inline(always)]
            || {
                let (pair, posed) = self.posed(t);
                posed.gap(pair, heading, effort)
            },
        );
        let Some(plain) = plain else {
            return self.pair.enclosed_gap(heading, t, 0.0, effort);
        };
        self.settled(&GapSought { heading, need, t }, plain, effort)
    }

    /// The plain gap where it settles whether the need is met, otherwise the gap enclosed.
    #[inline]
    pub(in super::super) fn settled(
        &self,
        sought: &GapSought<'_>,
        plain: MovingGap,
        effort: &mut Effort<'_>,
    ) -> MovingGap {
        let GapSought { heading, need, t } = *sought;
        let width = plain.value.high() - plain.value.low();
        let is_settled =
            need.surplus(&plain) > SETTLED * width || plain.value.high() < need.clear - width;
        if is_settled {
            return plain;
        }
        self.pair.enclosed_gap(heading, t, plain.rate, effort)
    }
}
