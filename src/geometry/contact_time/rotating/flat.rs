//! Contact in a plane that neither body leaves: flat polygons that turn in their common plane, or a
//! face that slides on a face. The difference body has the origin on its boundary then, however deep
//! the polygons are in each other, and pairs that hold it strictly inside *within the plane* prove
//! the contact.

use arrayvec::ArrayVec;

use super::moving::Moving;
use crate::geometry::Vec3;
use crate::geometry::contact_time::Question;
use crate::geometry::motion::{Motion, axis_and_angle};
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::number::interval::Interval;
use crate::geometry::pair::{Placed, VertexPair};

/// Vertices of P and Q that have exactly the same coordinate along an axis at every time.
#[derive(Debug)]
pub(super) struct Flat {
    axis: usize,
    p: Vec<u32>,
    q: Vec<u32>,
}

/// Corners of the edge that the ray from inside to the origin leaves by: refinements.
const REFINEMENTS_MAX: usize = 200;

impl Flat {
    /// The plane that the bodies share, if there is one.
    pub(super) fn of(question: &Question<'_>) -> Option<Self> {
        (0..3).find_map(|axis| Self::along(question, axis))
    }

    fn along(question: &Question<'_>, axis: usize) -> Option<Self> {
        let (p, q) = (&question.pair.p, &question.pair.q);
        let of_p = rate_along(p, &question.motion_p, axis)?;
        let of_q = rate_along(q, &question.motion_q, axis)?;
        if (&of_q - &of_p).sign() != Sign::Zero {
            return None;
        }
        let (low_p, high_p) = range(p, axis);
        let (low_q, high_q) = range(q, axis);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (a.abs() + b.abs() + high_p - low_p);
        let level = if near(high_p, low_q) {
            high_p
        } else if near(low_p, high_q) {
            low_p
        } else {
            return None;
        };
        let close = |placed: &Placed<'_>| -> Vec<(u32, Dyadic)> {
            (0..placed.body.vertex_count())
                .filter(|&i| near(rounded_height(placed, i, axis), level))
                .map(|i| (i, exact_height(placed, i, axis)))
                .collect()
        };
        let (p, q) = (close(p), close(q));
        let (_, level) = p.first()?;
        let exactly_there = |all: &[(u32, Dyadic)]| -> Vec<u32> {
            all.iter().filter(|(_, h)| h == level).map(|(i, _)| *i).collect()
        };
        let flat = Self { axis, p: exactly_there(&p), q: exactly_there(&q) };
        (!flat.q.is_empty()).then_some(flat)
    }

    /// Pairs that prove contact at time t. `world` is the direction along which the bodies were last
    /// apart.
    pub(super) fn prove(
        &self,
        moving: &Moving<'_>,
        t: f64,
        world: &Vec3,
    ) -> Option<ArrayVec<VertexPair, 6>> {
        let plane = self.placed(moving, t)?;
        let (x, y) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let inside = plane.farthest([world[x], world[y]]);
        // The ray from there to the origin, and the corners farthest to its sides.
        let side = [inside.1[1], -inside.1[0]];
        let (outer_left, outer_right) = (plane.farthest(side), plane.farthest(side.map(|c| -c)));
        let (mut left, mut right) = (outer_left, outer_right);
        for _ in 0..REFINEMENTS_MAX {
            let edge = [right.1[0] - left.1[0], right.1[1] - left.1[1]];
            let across = [edge[1], -edge[0]];
            let faces_away = along(across, inside.1) < along(across, left.1);
            let outward = if faces_away { across } else { across.map(|c| -c) };
            let next = plane.farthest(outward);
            let is_beyond = along(outward, next.1) > along(outward, left.1)
                && next.0 != left.0
                && next.0 != right.0;
            if !is_beyond {
                break;
            }
            *(if along(side, next.1) > 0.0 { &mut left } else { &mut right }) = next;
        }
        let mut pairs: ArrayVec<VertexPair, 6> = ArrayVec::new();
        for corner in [inside, left, right, outer_left, outer_right] {
            if !pairs.contains(&corner.0) {
                pairs.push(corner.0);
            }
            let vectors: ArrayVec<[Interval; 2], 6> = pairs
                .iter()
                .map(|&pair| moving.difference(pair, t))
                .map(|d| [d[x], d[y]])
                .collect();
            if holds_strictly(&vectors) {
                return Some(pairs);
            }
        }
        None
    }

    fn placed(&self, moving: &Moving<'_>, t: f64) -> Option<Plane> {
        let (trig_p, trig_q) = (moving.p.plain.trig(t)?, moving.q.plain.trig(t)?);
        let (x, y) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let at = |side: &super::moving::Side<'_>, trig, all: &[u32], from: Vec3| {
            let place = |&i: &u32| {
                let v = side.track.local(side.body.vertex(i));
                let at = from + side.plain.place_from_start(trig, t, &v);
                (i, [at[x], at[y]])
            };
            all.iter().map(place).collect()
        };
        Some(Plane {
            p: at(&moving.p, &trig_p, &self.p, Vec3::zeros()),
            q: at(&moving.q, &trig_q, &self.q, moving.middle),
        })
    }
}

/// The polygons' vertices at one time, rounded, in the plane.
struct Plane {
    p: Vec<(u32, [f64; 2])>,
    q: Vec<(u32, [f64; 2])>,
}

fn along(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

impl Plane {
    /// The difference farthest along s.
    fn farthest(&self, s: [f64; 2]) -> (VertexPair, [f64; 2]) {
        let best = |all: &[(u32, [f64; 2])], s: [f64; 2]| {
            let by_height = |a: &&(u32, [f64; 2]), b: &&(u32, [f64; 2])| {
                along(s, a.1).total_cmp(&along(s, b.1))
            };
            *all.iter().max_by(by_height).expect("neither is empty")
        };
        let (p, q) = (best(&self.p, s.map(|c| -c)), best(&self.q, s));
        (VertexPair { i: p.0, j: q.0 }, [q.1[0] - p.1[0], q.1[1] - p.1[1]])
    }
}

/// Whether every choice of vectors has the origin strictly inside its hull: for every one of them,
/// others lie surely on both sides of the line through it.
fn holds_strictly(vectors: &[[Interval; 2]]) -> bool {
    vectors.len() >= 3
        && vectors.iter().all(|a| {
            let on = |side: Sign| {
                vectors.iter().any(|b| (a[0] * b[1] - a[1] * b[0]).sign() == Some(side))
            };
            on(Sign::Positive) && on(Sign::Negative)
        })
}

/// How fast the coordinate of every point changes, if no rotation touches it; exactly.
fn rate_along(placed: &Placed<'_>, motion: &Motion, k: usize) -> Option<Dyadic> {
    let is_about = |axis: &Vec3| (0..3).all(|i| i == k || axis[i].abs() <= 0.0);
    match motion {
        Motion::Linear { velocity } => Some(Dyadic::from(velocity[k])),
        Motion::Screw { velocity, axis, angle, .. } => {
            (angle.abs() <= 0.0 || is_about(axis)).then(|| Dyadic::from(velocity[k]))
        }
        Motion::ToPose { end, .. } => {
            let start = &placed.pose;
            let (axis, _) = axis_and_angle(&start.rotation, &end.rotation);
            let keeps = start.rotation.row(k) == end.rotation.row(k) && is_about(&axis);
            keeps.then(|| &Dyadic::from(end.translation[k]) - &Dyadic::from(start.translation[k]))
        }
    }
}

fn rounded_height(placed: &Placed<'_>, i: u32, axis: usize) -> f64 {
    let v = placed.body.vertex(i);
    placed.pose.rotation.row(axis).tr_dot(v) + placed.pose.translation[axis]
}

fn exact_height(placed: &Placed<'_>, i: u32, axis: usize) -> Dyadic {
    let v = placed.body.vertex(i);
    (0..3).fold(Dyadic::from(placed.pose.translation[axis]), |sum, k| {
        &sum + &(&Dyadic::from(placed.pose.rotation[(axis, k)]) * &Dyadic::from(v[k]))
    })
}

fn range(placed: &Placed<'_>, axis: usize) -> (f64, f64) {
    (0..placed.body.vertex_count())
        .map(|i| rounded_height(placed, i, axis))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)))
}
