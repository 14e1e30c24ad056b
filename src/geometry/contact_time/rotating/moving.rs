//! The moving pair: the gap along a direction at a time, and how fast gaps can bend.
//!
//! A *heading* is a direction that is fixed in the world or turns with one of the bodies. The gap
//! along it at time t is `min over Q of s(t)·x - max over P of s(t)·x`, less what the question wants
//! kept clear. With `s` turned by `Rot_F`, each vertex contributes
//!
//! `s·x_v(t) = s·t0 + s·u t + k·l + (Rᵀ(s + k))·v + t (Eᵀs)·v`,  `k = Rot(-t) s - s`,
//!
//! so two supporting vertices, in the bodies' own frames, give the gap. (For the body the heading
//! turns with, `s + k` is the heading at t = 0.)

use crate::geometry::Vec3;
use crate::geometry::certificate::Frame;
use crate::geometry::effort::Effort;
use crate::geometry::kernel::along;
use crate::geometry::motion::{Extent, Motion, Track};
use crate::geometry::number::interval::{
    self, Interval, IntervalVec, add, cross, dot, dot_exact, norm, sub,
};
use crate::geometry::number::rounding::{UNDERFLOW, gamma};
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::number::trig::Trig;
use crate::geometry::pair::{Placed, VertexPair};
use crate::geometry::polytope::Polytope;
use crate::geometry::support::supporting_vertex;

/// Bodies of more vertices than this are bounded by their ball, until a search turns out to be long.
const SCANNED_MAX: u32 = 256;

/// Bodies of at most this many vertices are searched by evaluating all of them, which settles ties
/// (faces at right angles to a heading) by an error bound instead of exact arithmetic.
const VALUED_MAX: u32 = 48;

/// One body in motion.
#[derive(Debug)]
pub(super) struct Side<'a> {
    pub(super) body: &'a Polytope,
    pub(super) track: Track,
    pub(super) extent: Extent,
    is_scanned: bool,
    hint: u32,
}

impl<'a> Side<'a> {
    fn new(placed: &Placed<'a>, motion: &Motion, scale: Option<PowerOfTwo>) -> Self {
        let body = placed.body;
        let track = Track::new(&placed.pose, motion, scale);
        let is_scanned = body.vertex_count() <= SCANNED_MAX;
        let extent = if is_scanned {
            Extent::of_vertices(&track, body.vertices())
        } else {
            Extent::of_ball(&track, body.bounds())
        };
        Self { body, track, extent, is_scanned, hint: 0 }
    }

    /// Bounds the body by its vertices, if that has not been done; whether there was need to.
    fn scan(&mut self) -> bool {
        let is_due = !self.is_scanned;
        if is_due {
            self.extent = Extent::of_vertices(&self.track, self.body.vertices());
            self.is_scanned = true;
        }
        is_due
    }

    /// The largest `g·v` over the vertices, enclosed, and a vertex where it nearly is.
    fn farthest(&mut self, g: &IntervalVec, effort: &mut Effort<'_>) -> (u32, Interval) {
        let middle = interval::middle(g);
        let reach = self.track.local(&self.body.bounds().reach);
        let (vertex, at_middle) = if self.body.vertex_count() <= VALUED_MAX {
            self.farthest_by_value(&middle, &reach, effort)
        } else {
            let vertex = supporting_vertex(self.body, &middle, Some(self.hint), effort);
            let local = self.track.local(self.body.vertex(vertex));
            (vertex, dot_exact(&interval::point(&middle), &local))
        };
        self.hint = vertex;
        // For any g of the intervals the maximum differs from the one for the middle by at most
        // the sum of |g - middle| reach.
        let spread = (0..3)
            .map(|k| Interval::point(g[k].radius()).scale(reach[k]))
            .fold(Interval::point(16.0 * self.track.slack()), |sum, part| sum + part)
            .high();
        (vertex, at_middle + Interval::new(-spread, spread))
    }

    /// By evaluating every vertex: the largest value is within the error of a scalar product of the
    /// largest rounded one, whichever vertices tie.
    fn farthest_by_value(
        &self,
        g: &Vec3,
        reach: &Vec3,
        effort: &mut Effort<'_>,
    ) -> (u32, Interval) {
        effort.cost.supports += 1;
        effort.cost.visited += u64::from(self.body.vertex_count());
        let mut best = (0, f64::NEG_INFINITY);
        for (index, v) in (0..).zip(self.body.vertices()) {
            let value = along(g, &self.track.local(v));
            if value > best.1 {
                best = (index, value);
            }
        }
        // Three products and two sums, each of which rounds by at most u of the sum of sizes.
        let size = along(&g.abs(), reach);
        let error = gamma(4) * size + 8.0 * UNDERFLOW;
        (best.0, Interval::around(best.1, error))
    }
}

/// A direction and the frame in which it is fixed.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub(super) frame: Frame,
    /// At t = 0.
    pub(super) direction: Vec3,
    point: IntervalVec,
    /// |direction|
    pub(super) length: Interval,
    /// Upper bound of the second derivative of `s·(x_q - x_p)` over [0, 1], for any two vertices.
    pub(super) bend: f64,
}

/// The gap along a heading at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) value: Interval,
    /// Its rate of change with the supporting vertices, rounded.
    pub(super) rate: f64,
}

/// The pair in motion.
#[derive(Debug)]
pub(super) struct Moving<'a> {
    pub(super) p: Side<'a>,
    pub(super) q: Side<'a>,
    /// From P's translation at t = 0 to Q's.
    pub(super) between: IntervalVec,
    /// From P's pivot at t = 0 to Q's, and how that changes per step.
    pivots: (IntervalVec, IntervalVec),
    /// Per unit of direction, the bend of headings that turn with P and with Q.
    turning_bend: [f64; 2],
}

impl<'a> Moving<'a> {
    pub(super) fn new(
        p: (&Placed<'a>, &Motion),
        q: (&Placed<'a>, &Motion),
        scale: Option<PowerOfTwo>,
    ) -> Self {
        let (side_p, side_q) = (Side::new(p.0, p.1, scale), Side::new(q.0, q.1, scale));
        let between: IntervalVec = match scale {
            None => std::array::from_fn(|i| {
                Interval::difference(q.0.pose.translation[i], p.0.pose.translation[i])
            }),
            Some(_) => sub(&side_q.track.start, &side_p.track.start),
        };
        let levers = sub(&side_p.track.lever, &side_q.track.lever);
        let apart = sub(&side_q.track.velocity, &side_p.track.velocity);
        let pivots = (add(&between, &levers), apart);
        let turning_bend =
            [turning_bend(&side_p, &side_q, &pivots), turning_bend(&side_q, &side_p, &pivots)];
        Self { p: side_p, q: side_q, between, pivots, turning_bend }
    }

    /// Bounds large bodies by their vertices instead of their balls; whether there was one. Bends
    /// of headings made before remain valid, but are no longer the best known: see [`Self::bend`].
    pub(super) fn scan(&mut self) -> bool {
        let scanned = [self.p.scan(), self.q.scan()].contains(&true);
        if scanned {
            self.turning_bend = [
                turning_bend(&self.p, &self.q, &self.pivots),
                turning_bend(&self.q, &self.p, &self.pivots),
            ];
        }
        scanned
    }

    /// A length that bounds the sizes at play: how far the bodies' points are from each other's
    /// origins, at t = 0.
    pub(super) fn size(&self) -> f64 {
        self.p.extent.reach.max(self.q.extent.reach).max(norm(&self.between).high())
    }

    /// The direction `world` at time t as a heading fixed in `frame`.
    pub(super) fn heading(&self, frame: Frame, world: &Vec3, t: f64) -> Heading {
        let turning = match frame {
            Frame::World => None,
            Frame::P => Some(&self.p.track),
            Frame::Q => Some(&self.q.track),
        };
        let direction = match turning {
            None => *world,
            Some(track) => {
                let s = interval::point(world);
                world + interval::middle(&track.turned_back_less(&track.trig(t), &s))
            }
        };
        let point = interval::point(&direction);
        let length = norm(&point);
        let mut heading = Heading { frame, direction, point, length, bend: f64::INFINITY };
        heading.bend = self.bend(&heading);
        heading
    }

    /// The bend of a heading, as far as is known now.
    pub(super) fn bend(&self, heading: &Heading) -> f64 {
        let Heading { point, length, .. } = heading;
        match heading.frame {
            Frame::World => (world_bend(&self.p, point) + world_bend(&self.q, point)).high(),
            Frame::P => Interval::point(self.turning_bend[0]).scale(length.high()).high(),
            Frame::Q => Interval::point(self.turning_bend[1]).scale(length.high()).high(),
        }
    }

    /// The heading at time t as a world direction, rounded.
    pub(super) fn world_of(&self, heading: &Heading, t: f64) -> Vec3 {
        let turn =
            |track: &Track| interval::middle(&track.turned_less(&track.trig(t), &heading.point));
        match heading.frame {
            Frame::World => heading.direction,
            Frame::P => heading.direction + turn(&self.p.track),
            Frame::Q => heading.direction + turn(&self.q.track),
        }
    }

    /// The gap along `heading` at time t.
    pub(super) fn gap(&mut self, heading: &Heading, t: f64, effort: &mut Effort<'_>) -> Gap {
        let trigs = (self.p.track.trig(t), self.q.track.trig(t));
        let s0 = &heading.point;
        let turn = match heading.frame {
            Frame::World => None,
            Frame::P => Some(self.p.track.turned_less(&trigs.0, s0)),
            Frame::Q => Some(self.q.track.turned_less(&trigs.1, s0)),
        };
        let s = turn.as_ref().map_or(*s0, |turn| add(s0, turn));
        // For the body that the heading turns with, k = s0 - s and s + k = s0 without rounding.
        let own = |frame: Frame| turn.filter(|_| heading.frame == frame);
        let from_p = body_along(&self.p.track, &trigs.0, t, &s, s0, own(Frame::P));
        let from_q = body_along(&self.q.track, &trigs.1, t, &s, s0, own(Frame::Q));
        let (i, top_p) = self.p.farthest(&from_p.g, effort);
        let (j, top_q) = self.q.farthest(&from_q.g.map(|c| -c), effort);
        let offsets = dot(&s, &self.between) + (from_q.offset - from_p.offset);
        let value = offsets - (top_p + top_q);
        let pair = VertexPair { i, j };
        let rate = self.rate(heading, &interval::middle(&s), &trigs, t, pair);
        Gap { value, rate }
    }

    /// The rate of change of `s·(x_q - x_p)`, rounded.
    fn rate(
        &self,
        heading: &Heading,
        s: &Vec3,
        trigs: &(Trig, Trig),
        t: f64,
        pair: VertexPair,
    ) -> f64 {
        let (p, q) = (&self.p, &self.q);
        let (at_p, of_p) = p.track.state_rounded(&trigs.0, t, p.body.vertex(pair.i));
        let (at_q, of_q) = q.track.state_rounded(&trigs.1, t, q.body.vertex(pair.j));
        let spin = match heading.frame {
            Frame::World => Vec3::zeros(),
            Frame::P => interval::middle(&self.p.track.spin()),
            Frame::Q => interval::middle(&self.q.track.spin()),
        };
        let apart = (at_q - at_p) + interval::middle(&self.between);
        s.dot(&(of_q - of_p)) + spin.cross(s).dot(&apart)
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
    pub(super) fn swept_gap(
        &mut self,
        heading: &Heading,
        effort: &mut Effort<'_>,
    ) -> (Interval, Interval) {
        let s = &heading.point;
        let top_p = swept_top(&mut self.p, s, effort);
        let top_q = swept_top(&mut self.q, &s.map(|c| -c), effort);
        let drag = heading.length
            * (Interval::point(self.p.extent.residue) + Interval::point(self.q.extent.residue));
        let start = dot(s, &self.pivots.0) - (top_p + top_q);
        (start, dot(s, &self.pivots.1) - drag)
    }
}

/// What a body's vertices have in common along s: the rest is `g·v`.
struct AlongBody {
    g: IntervalVec,
    offset: Interval,
}

fn body_along(
    track: &Track,
    trig: &Trig,
    t: f64,
    s: &IntervalVec,
    s0: &IntervalVec,
    own_turn: Option<IntervalVec>,
) -> AlongBody {
    let drift = dot(s, &track.velocity).scale(t);
    let (k, lead) = match own_turn {
        Some(turn) => (turn.map(|c| -c), *s0),
        None if track.turns() => {
            let k = track.turned_back_less(trig, s);
            (k, add(s, &k))
        }
        None => ([Interval::ZERO; 3], *s),
    };
    let g = track.to_body(&lead);
    let offset = drift + dot(&k, &track.lever);
    if track.has_residue() {
        let bent = track.residue_to_body(s).map(|c| c.scale(t));
        return AlongBody { g: add(&g, &bent), offset };
    }
    AlongBody { g, offset }
}

/// Second derivative of `s·x_v` for s fixed in the world: `θ² |s × a| |a × (R v + l)|` at most, as
/// only the part of s across the axis meets an acceleration, which points at the axis.
fn world_bend(side: &Side<'_>, s: &IntervalVec) -> Interval {
    let track = &side.track;
    if !track.turns() {
        return Interval::ZERO;
    }
    let across = norm(&cross(s, track.axis()));
    across * Interval::point(track.angle).square() * Interval::point(side.extent.radius)
}

/// Second derivative of `s·x` per |s| in the frame that turns with body F, for the vertices of both.
///
/// Seen from F's pivot, which moves with F, a vertex of F stays where it is but for the residue r t:
/// `(t s·r)'' <= |r| (2 |Ω| + |Ω|²)`. A vertex of the other body G is at `y + d + w t + r t` with y
/// turning about G's axis. With `D = d/dt - Ω_F ×` (the rate as seen in F) and Δ = Ω_G - Ω_F,
/// `D² = Δ × (Ω_G × y) - Ω_F × (Δ × y) - 2 Ω_F × w + Ω_F × (Ω_F × (d + w t))` and the same term for
/// the residue. Bodies that turn together have Δ = 0.
fn turning_bend(f: &Side<'_>, g: &Side<'_>, pivots: &(IntervalVec, IntervalVec)) -> f64 {
    if !f.track.turns() {
        return f64::INFINITY;
    }
    let (spin_f, spin_g) = (f.track.spin(), g.track.spin());
    let (rate_f, rate_g) = (norm(&spin_f), norm(&spin_g));
    let apart = norm(&sub(&spin_g, &spin_f));
    let radius = if g.track.turns() { g.extent.radius } else { 0.0 };
    let turning =
        apart * (rate_g * Interval::point(radius) + rate_f * Interval::point(g.extent.reach));
    // The sign of d and w does not matter, so neither does which body is F.
    let coriolis = norm(&cross(&spin_f, &pivots.1)).scale(2.0);
    let at_start = norm(&cross(&spin_f, &pivots.0));
    let at_end = norm(&cross(&spin_f, &add(&pivots.0, &pivots.1)));
    let centrifugal = rate_f * at_start.max(at_end);
    let residues = Interval::point(f.extent.residue) + Interval::point(g.extent.residue);
    let drag = residues * (rate_f.scale(2.0) + rate_f.square());
    (turning + coriolis + centrifugal + drag).high()
}

/// The largest `s·y` over the solid of revolution: `s·a` times the range along the axis plus the
/// part of s across it times the radius.
fn swept_top(side: &mut Side<'_>, s: &IntervalVec, effort: &mut Effort<'_>) -> Interval {
    if !side.track.turns() {
        let g = side.track.to_body(s);
        return side.farthest(&g, effort).1 + dot(s, &side.track.lever);
    }
    let (track, extent) = (&side.track, &side.extent);
    let along = dot(s, track.axis());
    let ends = along * Interval::point(extent.along.low());
    let ends = ends.max(along * Interval::point(extent.along.high()));
    ends + norm(&cross(s, track.axis())) * Interval::point(extent.radius)
}
