//! Contact in a plane that neither body leaves: flat polygons that turn in their common plane, or a
//! face that slides on a face. The difference body has the origin on its boundary then, however
//! deep the polygons are in each other, and pairs that hold it strictly inside *within the plane*
//! prove the contact.

use arrayvec::ArrayVec;

use super::moving::Moving;
use crate::geometry::Vec3;
use crate::geometry::claim::Question;
use crate::geometry::motion::Motion;
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::number::interval::Interval;
use crate::geometry::pair::{Placed, VertexPair};
use crate::geometry::pose::Pose;

/// Vertices of P and Q that have exactly the same height along a direction at every time.
#[derive(Debug)]
pub(super) struct Flat {
    /// The coordinates that tell the plane's points from each other.
    shown: [usize; 2],
    /// How the third one falls with each of them, rounded.
    slopes: [f64; 2],
    p: Vec<u32>,
    q: Vec<u32>,
}

/// Corners of the edge that the ray from inside to the origin leaves by: refinements.
const REFINEMENTS_MAX: usize = 200;

impl Flat {
    /// The plane that the bodies share, if there is one: across a coordinate axis, or across the
    /// axis that a body turns about.
    pub(super) fn of(question: &Question<'_>) -> Option<Self> {
        normals(question).find_map(|n| Self::across(question, &n))
    }

    /// The plane across `normal` that these vertices of P and Q share at some time.
    pub(super) fn shared(normal: &Vec3, p: Vec<u32>, q: Vec<u32>) -> Self {
        let hidden = normal.iamax();
        let shown = [(hidden + 1) % 3, (hidden + 2) % 3];
        let slopes = shown.map(|k| normal[k] / normal[hidden]);
        Self { shown, slopes, p, q }
    }

    fn across(question: &Question<'_>, normal: &Vec3) -> Option<Self> {
        let (p, q) = (&question.pair.p, &question.pair.q);
        let of_p = rate_along(p, &question.motion_p, normal)?;
        let of_q = rate_along(q, &question.motion_q, normal)?;
        if (&of_q - &of_p).sign() != Sign::Zero {
            return None;
        }
        let hidden = normal.iamax();
        let upright = normal / normal[hidden];
        let (low_p, high_p) = range(p, &upright);
        let (low_q, high_q) = range(q, &upright);
        let reach = reach_along(p, &upright) + reach_along(q, &upright);
        // Roughly; which vertices are in the plane is decided exactly.
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * reach;
        let level = if near(high_p, low_q) {
            high_p
        } else if near(low_p, high_q) {
            low_p
        } else {
            return None;
        };
        let close = |placed: &Placed<'_>| -> Vec<(u32, Dyadic)> {
            (0..placed.body.vertex_count())
                .filter(|&i| near(rounded_height(placed, i, &upright), level))
                .map(|i| (i, exact_height(placed, i, normal)))
                .collect()
        };
        let (p, q) = (close(p), close(q));
        let (_, level) = p.first()?;
        let exactly_there = |all: &[(u32, Dyadic)]| -> Vec<u32> {
            all.iter().filter(|(_, h)| h == level).map(|(i, _)| *i).collect()
        };
        let flat = Self::shared(normal, exactly_there(&p), exactly_there(&q));
        (!flat.q.is_empty()).then_some(flat)
    }

    /// Pairs that prove contact at time t. `world` is the direction along which the bodies were
    /// last apart.
    pub(super) fn prove(
        &self,
        moving: &Moving<'_>,
        t: f64,
        world: &Vec3,
    ) -> Option<ArrayVec<VertexPair, 6>> {
        let plane = self.placed(moving, t)?;
        let [x, y] = self.shown;
        // Of a difference in the plane, the hidden coordinate follows from the others.
        let hidden = world[3 - x - y];
        let [slope_x, slope_y] = self.slopes;
        let inside = plane.farthest([world[x] - slope_x * hidden, world[y] - slope_y * hidden]);
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
        let [x, y] = self.shown;
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

/// Directions along which a rotation may leave heights alone: the coordinate axes, and those that a
/// body turns about.
pub(super) fn normals(question: &Question<'_>) -> impl Iterator<Item = Vec3> {
    let of_screw = |motion: &Motion| match motion {
        Motion::Screw { axis, angle, .. } if angle.abs() > 0.0 => Some(*axis),
        Motion::Linear { .. } | Motion::Screw { .. } | Motion::ToPose { .. } => None,
    };
    let turning = [of_screw(&question.motion_p), of_screw(&question.motion_q)];
    [Vec3::x(), Vec3::y(), Vec3::z()].into_iter().chain(turning.into_iter().flatten())
}

/// How fast the height along `normal` of every point changes, if no rotation touches it; exactly.
pub(super) fn rate_along(placed: &Placed<'_>, motion: &Motion, normal: &Vec3) -> Option<Dyadic> {
    match motion {
        Motion::Linear { velocity } => Some(along_exactly(normal, velocity)),
        Motion::Screw { velocity, axis, angle, .. } => (angle.abs() <= 0.0
            || is_parallel(axis, normal))
        .then(|| along_exactly(normal, velocity)),
        Motion::ToPose { end, turn, .. } => {
            let start = &placed.pose;
            let axis = Motion::turn_to(start, end, turn).axis;
            let row = |pose: &Pose, k| along_exactly(normal, &pose.rotation.column(k).into());
            let keeps = (0..3).all(|k| row(start, k) == row(end, k)) && is_parallel(&axis, normal);
            let height = |pose: &Pose| along_exactly(normal, &pose.translation);
            keeps.then(|| &height(end) - &height(start))
        }
    }
}

/// `a · b`, exactly.
fn along_exactly(a: &Vec3, b: &Vec3) -> Dyadic {
    (0..3)
        .filter(|&k| a[k].abs() > 0.0)
        .fold(Dyadic::zero(), |sum, k| &sum + &(&Dyadic::from(a[k]) * &Dyadic::from(b[k])))
}

/// Whether `a x b` is zero, exactly.
pub(super) fn is_parallel(a: &Vec3, b: &Vec3) -> bool {
    let product = |x: f64, y: f64| &Dyadic::from(x) * &Dyadic::from(y);
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(k, l)| product(a[k], b[l]) == product(a[l], b[k]))
}

pub(super) fn rounded_height(placed: &Placed<'_>, i: u32, normal: &Vec3) -> f64 {
    normal.dot(&(placed.pose.rotation * placed.body.vertex(i) + placed.pose.translation))
}

/// At least the sizes of what the rounded heights are sums of.
pub(super) fn reach_along(placed: &Placed<'_>, normal: &Vec3) -> f64 {
    let Pose { rotation, translation } = &placed.pose;
    normal.abs().dot(&(rotation.abs() * placed.body.bounds().reach + translation.abs()))
}

pub(super) fn exact_height(placed: &Placed<'_>, i: u32, normal: &Vec3) -> Dyadic {
    let Pose { rotation, translation } = &placed.pose;
    let v = placed.body.vertex(i);
    (0..3).fold(along_exactly(normal, translation), |sum, k| {
        &sum + &(&along_exactly(normal, &rotation.column(k).into()) * &Dyadic::from(v[k]))
    })
}

fn range(placed: &Placed<'_>, normal: &Vec3) -> (f64, f64) {
    (0..placed.body.vertex_count())
        .map(|i| rounded_height(placed, i, normal))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)))
}
