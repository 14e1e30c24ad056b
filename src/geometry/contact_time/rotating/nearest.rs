//! The point of the difference body nearest the origin at a time, in plain floating point: where
//! directions come from. Nothing here proves anything.
//!
//! Gilbert, Johnson and Keerthi's iteration ("A fast procedure for computing the distance between
//! complex objects in three-dimensional space", 1988). The nearest point of a triangle is computed
//! along its normal, so that the direction stays good when the distance goes to zero.

use arrayvec::ArrayVec;

use super::moving::Moving;
use crate::geometry::effort::Effort;
use crate::geometry::number::interval;
use crate::geometry::pair::VertexPair;
use crate::geometry::support::likely_vertex;
use crate::geometry::{Mat3, Vec3};

/// Iterations; a good direction needs five to ten.
const ITERATIONS_MAX: u32 = 48;
/// How well a direction has to be known where the bodies go on to meet: the iteration ends when the
/// squared distance is known to this part of itself.
pub(super) const LOOSE: f64 = 1e-6;
/// The same where they only come within a margin: the distance itself is then at stake, to as many
/// digits as there are.
pub(super) const TIGHT: f64 = 1e-15;

/// A vertex of the difference body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) at: Vec3,
    pub(super) pair: VertexPair,
}

/// What the iteration ended with.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    /// The nearest point; zero length when `held`.
    pub(super) point: Vec3,
    /// The corners whose hull has it.
    pub(super) corners: ArrayVec<Corner, 4>,
    /// The origin is in the hull of the corners.
    pub(super) held: bool,
}

/// The pair at one time, rounded, with P's translation at t = 0 as origin.
pub(super) struct Posed<'m, 'a> {
    moving: &'m Moving<'a>,
    p: (Mat3, Vec3),
    q: (Mat3, Vec3),
    hints: (u32, u32),
}

impl<'m, 'a> Posed<'m, 'a> {
    pub(super) fn new(moving: &'m Moving<'a>, t: f64) -> Self {
        let p = moving.p.track.pose_from_start_rounded(t);
        let (turn, moved) = moving.q.track.pose_from_start_rounded(t);
        let q = (turn, moved + interval::middle(&moving.between));
        Self { moving, p, q, hints: (u32::MAX, u32::MAX) }
    }

    /// The corner with the least `s·y`.
    pub(super) fn support(&mut self, s: &Vec3, effort: &mut Effort<'_>) -> Corner {
        let (p, q) = (&self.moving.p, &self.moving.q);
        let i = likely_vertex(p.body, &self.p.0.tr_mul(s), Some(self.hints.0), effort);
        let j = likely_vertex(q.body, &-self.q.0.tr_mul(s), Some(self.hints.1), effort);
        self.hints = (i, j);
        let at_p = self.p.0 * p.track.local(p.body.vertex(i)) + self.p.1;
        let at_q = self.q.0 * q.track.local(q.body.vertex(j)) + self.q.1;
        Corner { at: at_q - at_p, pair: VertexPair { i, j } }
    }

    /// The nearest point of the difference body moved by `shift`, starting along `guess`.
    pub(super) fn nearest(
        &mut self,
        shift: &Vec3,
        guess: &Vec3,
        good_enough: f64,
        effort: &mut Effort<'_>,
    ) -> Nearest {
        let moved = |corner: Corner| Corner { at: corner.at + shift, ..corner };
        let first = moved(self.support(guess, effort));
        let mut best =
            Nearest { point: first.at, corners: ArrayVec::from_iter([first]), held: false };
        for _ in 0..ITERATIONS_MAX {
            let squared = best.point.norm_squared();
            let next = moved(self.support(&best.point, effort));
            let progress = squared - best.point.dot(&next.at);
            let known = best.corners.iter().any(|c| c.pair == next.pair);
            // NaN is no progress, and ends the iteration.
            let nearer = progress > good_enough * squared;
            if known || !nearer {
                break;
            }
            let mut corners = best.corners.clone();
            corners.push(next);
            let Some(better) = nearest_of(&corners) else { break };
            if better.held {
                return better;
            }
            if better.point.norm_squared() >= squared {
                break;
            }
            best = better;
        }
        best
    }
}

/// The nearest point of the hull of up to four corners; the last one takes part in it. `None` when
/// the corners are too degenerate to say.
fn nearest_of(corners: &[Corner]) -> Option<Nearest> {
    let (last, rest) = corners.split_last()?;
    let mut best: Option<Nearest> = None;
    for mask in 0..1u32 << rest.len() {
        let mut chosen: ArrayVec<Corner, 4> = (0u32..)
            .zip(rest)
            .filter(|(bit, _)| mask >> bit & 1 == 1)
            .map(|(_, corner)| *corner)
            .collect();
        chosen.push(*last);
        let point = match chosen.as_slice() {
            [a] => Some(a.at),
            [a, b] => of_segment(&a.at, &b.at),
            [a, b, c] => of_triangle(&a.at, &b.at, &c.at),
            [a, b, c, d] => {
                if holds(&[a.at, b.at, c.at, d.at]) {
                    return Some(Nearest { point: Vec3::zeros(), corners: chosen, held: true });
                }
                None
            }
            _ => None,
        };
        let Some(point) = point else { continue };
        if best.as_ref().is_none_or(|b| point.norm_squared() < b.point.norm_squared()) {
            best = Some(Nearest { point, corners: chosen, held: false });
        }
    }
    best
}

/// The origin's foot on the segment, if it is inside.
fn of_segment(a: &Vec3, b: &Vec3) -> Option<Vec3> {
    let edge = b - a;
    let along = -a.dot(&edge) / edge.norm_squared();
    (along > 0.0 && along < 1.0).then(|| a + edge * along)
}

/// The origin's foot on the triangle, if it is inside.
fn of_triangle(a: &Vec3, b: &Vec3, c: &Vec3) -> Option<Vec3> {
    let normal = (b - a).cross(&(c - a));
    let inside = normal.dot(&a.cross(b)) > 0.0
        && normal.dot(&b.cross(c)) > 0.0
        && normal.dot(&c.cross(a)) > 0.0;
    inside.then(|| normal * (normal.dot(a) / normal.norm_squared()))
}

/// Whether the origin is inside the tetrahedron.
fn holds(d: &[Vec3; 4]) -> bool {
    let faces = [
        d[1].dot(&d[2].cross(&d[3])),
        -d[0].dot(&d[2].cross(&d[3])),
        d[0].dot(&d[1].cross(&d[3])),
        -d[0].dot(&d[1].cross(&d[2])),
    ];
    faces.iter().all(|f| *f > 0.0) || faces.iter().all(|f| *f < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(points: &[[f64; 3]]) -> Vec<Corner> {
        points.iter().map(|p| Corner { at: Vec3::from(*p), pair: VertexPair::default() }).collect()
    }

    #[test]
    fn the_nearest_point_of_a_small_hull_is_on_the_right_feature() {
        let triangle = [[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 2.0, 2.0]];
        let face = nearest_of(&corners(&triangle)).expect("not degenerate");
        assert!((face.point - Vec3::new(0.0, 0.0, 2.0)).norm() < 1e-15 && face.corners.len() == 3);
        let edge = nearest_of(&corners(&[[1.0, 1.0, -3.0], [1.0, 1.0, 5.0]])).expect("fine");
        assert!((edge.point - Vec3::new(1.0, 1.0, 0.0)).norm() < 1e-15 && edge.corners.len() == 2);
        let held = [[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 2.0, 2.0], [0.0, 0.0, -1.0]];
        assert!(nearest_of(&corners(&held)).expect("fine").held);
    }

    #[test]
    fn a_triangle_a_hair_away_still_gives_its_normal() {
        let h = 1e-14;
        let tilted = [[1.0, -1.0, h], [-1.0, -1.0, h], [0.0, 2.0, h]];
        let face = nearest_of(&corners(&tilted)).expect("not degenerate");
        let direction = face.point.normalize();
        assert!((direction - Vec3::z()).norm() < 1e-12, "{direction:?}");
    }
}
