//! The judge of one link of a motion chain: does its direction separate on all of its interval?
//!
//! Looks at every vertex at both ends of an interval, in outward-rounded intervals. In between, the
//! gap lies above its chord less `k λ(1 - λ)`, `k = bend τ²/2`, because every vertex's height along
//! the direction has a second derivative of size at most half of `bend`, P's and Q's halves apart;
//! with gaps f0, f1 > 0 at the ends that is positive throughout if `√f0 + √f1 > √k`. An interval
//! that this does not settle is halved.

use super::exact::pay_for_vertex;
use crate::Vec3;
use crate::claim::{Frame, Link, Points};
use crate::effort::{Effort, Stopped};
use crate::motion::{Motion, Track, Units};
use crate::number::interval::{Interval, IntervalVec, add, cross, dot, dot_exact, norm, sub};
use crate::number::scale::PowerOfTwo;
use crate::number::trig::Trig;

/// Intervals that one link may be cut into before the judge gives up on it.
const PIECES_MAX: u32 = 1 << 17;

/// A moving body, vertex by vertex.
pub(super) struct Mover {
    pub(super) track: Track,
    vertices: Vec<Member>,
    /// The largest of the members'.
    radius: f64,
    reach: f64,
    residue: f64,
}

/// A vertex of a moving body at t = 0.
struct Member {
    /// In the body, up to the track's slack.
    local: Vec3,
    /// From the pivot.
    arm: IntervalVec,
    /// `a · arm`
    along: Interval,
    /// Distance from the axis.
    radius: Interval,
}

impl Mover {
    /// Every vertex made ready, as long as the effort lasts: a step is a look at a thousand of
    /// them.
    pub(super) fn new(
        placed: &Points<'_>,
        motion: &Motion,
        scale: Option<PowerOfTwo>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let (low, high) = placed.bounds();
        let track = Track::new(&placed.pose, motion, Units::of(&low, &high, scale));
        let mut vertices = Vec::with_capacity(placed.points.len());
        let [mut radius, mut reach, mut residue] = [0.0_f64; 3];
        for (number, v) in (0..).zip(placed.points) {
            pay_for_vertex(number, effort)?;
            let arm = add(&track.turned_vertex(v), &track.lever);
            let along = dot(track.axis(), &arm);
            let from_axis = norm(&cross(track.axis(), &arm));
            radius = radius.max(from_axis.high());
            reach = reach.max(norm(&arm).high());
            residue = residue.max(norm(&track.residue_of(v)).high());
            vertices.push(Member { local: track.local(v), arm, along, radius: from_axis });
        }
        Ok(Self { track, vertices, radius, reach, residue })
    }

    /// The least (of -s: the largest, negated) of `s·(x - t0)` over the vertices, from below. `own`
    /// is s at t = 0 and what it has turned by since, if s turns with this body.
    fn least(
        &self,
        s: &IntervalVec,
        trig: &Trig,
        t: f64,
        own: Option<(IntervalVec, IntervalVec)>,
    ) -> f64 {
        let track = &self.track;
        let drift = dot(s, &track.velocity).scale(t);
        // s·Rot(arm) = Rot(-t)s · arm; for the body that s turns with, Rot(-t)s is s at t = 0.
        let (lead, back) = match own {
            Some((at_start, turn)) => (at_start, turn.map(|c| -c)),
            None if track.turns() => {
                let back = track.turned_back_less(trig, s);
                (add(s, &back), back)
            }
            None => (*s, [Interval::ZERO; 3]),
        };
        // Seen from the body, so that what is rounded is of the direction's size, not the
        // vertices'.
        let mut g = track.to_body(&lead);
        if track.has_residue() {
            g = add(&g, &track.residue_to_body(s).map(|c| c.scale(t)));
        }
        let least = self
            .vertices
            .iter()
            .map(|m| dot_exact(&g, &m.local).low())
            .fold(f64::INFINITY, f64::min);
        let slack = (g[0].abs() + g[1].abs() + g[2].abs()).scale(track.slack());
        (Interval::point(least) - slack + dot(&back, &track.lever) + drift).low()
    }

    /// A lower bound of that least product when the angle may be anything: every vertex could be
    /// anywhere on its circle.
    fn least_of_circles(&self, s: &IntervalVec, t: f64) -> f64 {
        let axial = dot(s, self.track.axis());
        let across = norm(&cross(s, self.track.axis()));
        let rest = dot(s, &self.track.velocity).scale(t) - dot(s, &self.track.lever);
        let drag = (norm(s) * Interval::point(self.residue)).scale(t);
        let turns = self.track.turns();
        let least = self
            .vertices
            .iter()
            .map(|m| {
                if turns {
                    (axial * m.along - across * m.radius).low()
                } else {
                    dot(s, &m.arm).low()
                }
            })
            .fold(f64::INFINITY, f64::min);
        ((Interval::point(least) + rest) - drag).low()
    }
}

/// A pair of movers and how their gaps may bend.
pub(super) struct Movers {
    pub(super) p: Mover,
    pub(super) q: Mover,
    /// From P's centre to Q's at t = 0.
    pub(super) between: IntervalVec,
}

impl Movers {
    /// Whether the gap along `s`, given at t = 0 in the link's frame, exceeds `clear` times its
    /// length throughout the link. A step is a look at all vertices.
    pub(super) fn separates(
        &self,
        link: &Link,
        s: &IntervalVec,
        clear: f64,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let Link { t0, t1, frame, .. } = *link;
        let need = (norm(s) * Interval::point(clear)).high();
        if frame == Frame::World {
            let apart = |t: f64| {
                let of_q = self.q.least_of_circles(s, t);
                let of_p = self.p.least_of_circles(&s.map(|c| -c), t);
                self.surplus(s, of_p, of_q, need) > 0.0
            };
            // With the circles fixed, the gap is linear in t (the residues' drag too).
            if apart(t0) && apart(t1) {
                return Ok(true);
            }
        }
        let half_root = (self.bend(frame, s) * 0.5).sqrt().next_up();
        let mut pieces = 0;
        let mut open = vec![(t0, self.gap(frame, s, t0, need), t1, self.gap(frame, s, t1, need))];
        while let Some((a, gap_a, b, gap_b)) = open.pop() {
            let positive = gap_a > 0.0 && gap_b > 0.0;
            pieces += 1;
            if !positive || pieces > PIECES_MAX {
                return Ok(false);
            }
            effort.spend_step()?;
            let roots = gap_a.sqrt().next_down() + gap_b.sqrt().next_down();
            let root_of_k = ((b - a).next_up() * half_root).next_up();
            let settled = a >= b || roots.next_down() > root_of_k;
            if settled {
                continue;
            }
            let middle = 0.5 * (a + b);
            if middle <= a || middle >= b {
                return Ok(false);
            }
            let gap = self.gap(frame, s, middle, need);
            open.push((middle, gap, b, gap_b));
            open.push((a, gap_a, middle, gap));
        }
        Ok(true)
    }

    /// A lower bound of the gap at t less `need`.
    fn gap(&self, frame: Frame, s0: &IntervalVec, t: f64, need: f64) -> f64 {
        let (trig_p, trig_q) = (self.p.track.trig(t), self.q.track.trig(t));
        let turn = match frame {
            Frame::World => None,
            Frame::P => Some(self.p.track.turned_less(&trig_p, s0)),
            Frame::Q => Some(self.q.track.turned_less(&trig_q, s0)),
        };
        let s = turn.map_or(*s0, |turn| add(s0, &turn));
        let own = |body: Frame| turn.filter(|_| frame == body).map(|turn| (*s0, turn));
        let negative = |v: &IntervalVec| v.map(|c| -c);
        let of_q = self.q.least(&s, &trig_q, t, own(Frame::Q));
        let own_p = own(Frame::P).map(|(at_start, turn)| (negative(&at_start), negative(&turn)));
        let of_p = self.p.least(&negative(&s), &trig_p, t, own_p);
        self.surplus(&s, of_p, of_q, need)
    }

    fn surplus(&self, s: &IntervalVec, of_p: f64, of_q: f64, need: f64) -> f64 {
        let bodies = Interval::point(of_p) + Interval::point(of_q);
        (dot(s, &self.between) + bodies - Interval::point(need)).low()
    }

    /// An upper bound, over [0, 1], of the second derivative of the height of a vertex of Q along s
    /// plus that of one of P, seen in `frame`.
    fn bend(&self, frame: Frame, s: &IntervalVec) -> f64 {
        let (f, g) = match frame {
            Frame::World => {
                // A point on a circle has the acceleration θ² r towards the axis.
                let of = |m: &Mover| {
                    let rate = Interval::point(m.track.angle).square();
                    norm(&cross(s, m.track.axis())) * rate * Interval::point(m.radius)
                };
                return (of(&self.p) + of(&self.q)).high();
            }
            Frame::P => (&self.p, &self.q),
            Frame::Q => (&self.q, &self.p),
        };
        // In the frame that turns with f about its moving pivot: f's vertices stand still; g's are
        // at z = Rot_g(arm) + d + w t, and D = d/dt - Ω_f × applied twice to that is
        // (Ω_g - Ω_f) × (Ω_g × arm) - Ω_f × ((Ω_g - Ω_f) × arm)
        //   - 2 Ω_f × w + Ω_f × (Ω_f × (d + w t)).
        // A residue r t adds at most |r| (2 |Ω_f| + |Ω_f|²) for either body.
        let (spin_f, spin_g) = (f.track.spin(), g.track.spin());
        let (rate_f, rate_g) = (norm(&spin_f), norm(&spin_g));
        let against = norm(&sub(&spin_g, &spin_f));
        let from_f = if frame == Frame::P { self.between } else { self.between.map(|c| -c) };
        let d = sub(&add(&from_f, &f.track.lever), &g.track.lever);
        let w = sub(&g.track.velocity, &f.track.velocity);
        let own_turn = against * rate_g * Interval::point(g.radius);
        let seen_turn = against * rate_f * Interval::point(g.reach);
        let coriolis = norm(&cross(&spin_f, &w)).scale(2.0);
        let far = norm(&cross(&spin_f, &d)).max(norm(&cross(&spin_f, &add(&d, &w))));
        let residues = Interval::point(f.residue) + Interval::point(g.residue);
        let drag = residues * (rate_f.scale(2.0) + rate_f.square());
        let per_length = own_turn + seen_turn + coriolis + rate_f * far + drag;
        (norm(s) * per_length).high()
    }

    /// At least how fast the difference of any two vertices changes, per step.
    pub(super) fn speed(&self) -> f64 {
        let turning = |m: &Mover| {
            let rate = Interval::point(m.track.angle).abs();
            rate * Interval::point(m.radius) + Interval::point(m.residue)
        };
        let apart = norm(&sub(&self.q.track.velocity, &self.p.track.velocity));
        (apart + turning(&self.p) + turning(&self.q)).high()
    }

    /// The difference of two vertices at time t.
    pub(super) fn difference(
        &self,
        (v, w): (&Vec3, &Vec3),
        (trig_p, trig_q): (&Trig, &Trig),
        t: f64,
    ) -> IntervalVec {
        let of_p = self.p.track.place_from_start(trig_p, t, v);
        let of_q = self.q.track.place_from_start(trig_q, t, w);
        add(&self.between, &sub(&of_q, &of_p))
    }
}
