//! The point of the difference body M = Q - P nearest the origin at a time, in plain floating
//! point. Directions come from it. Nothing here proves anything.
//!
//! Gilbert, Johnson and Keerthi's iteration ("A fast procedure for computing the distance between
//! complex objects in three-dimensional space", 1988). The nearest point of a triangle is computed
//! along its normal, so that the direction stays good when the distance goes to zero.

use arrayvec::ArrayVec;

use crate::geometry::Vec3;
use crate::geometry::contact_time::rotating::bounds::moving::Moving;
use crate::geometry::contact_time::rotating::bounds::moving::{
    MovingCorner, PosedPair, SupportTops,
};
use crate::geometry::contact_time::rotating::bounds::pair::MovingPair;
use crate::geometry::contact_time::rotating::bounds::pair::unit;
use crate::geometry::effort::Effort;
use crate::geometry::pair::VertexPair;
use crate::geometry::processor;

/// Iterations of one search at most; a rough direction needs three to five.
const ITERATIONS_MAX: u32 = 48;
/// How well a rough direction is known: the iteration ends when a support in the direction shows
/// that the distance is known to this part of itself. A rough direction leaves nine tenths of the
/// gap, and the next one is sought when a tenth is left.
pub(in super::super) const ROUGH: f64 = 0.1;

/// The direction of a single corner says little when the bodies are close, because it may be nearly
/// orthogonal to the direction that is known. So the first support is sought between the two: along
/// the corner moved by this part of the bodies' size along the known direction. Measured: 0.2 to
/// 1.2 cost the same within 2 %.
const DAMPING: f64 = 0.8;

/// What the iteration ended with.
#[derive(Clone, Debug)]
pub(in super::super) struct NearestPoint {
    /// The nearest point; of zero length if the origin is `held`.
    pub(in super::super) point: Vec3,
    /// The corners in whose hull the point is.
    pub(in super::super) corners: ArrayVec<MovingCorner, 4>,
    /// Whether the origin is in the hull of the corners.
    pub(in super::super) held: bool,
    /// How far from the origin a support plane across `point` is.
    pub(in super::super) at_least: f64,
    /// The vertices on that plane.
    pub(in super::super) tops: Option<SupportTops>,
}

impl NearestPoint {
    /// The direction from the origin towards the point, of length 1; `None` if the corners hold the
    /// origin.
    pub(in super::super) fn direction(&self) -> Option<Vec3> {
        unit(&self.point).filter(|_| !self.held)
    }
}

/// Where a search for the nearest point begins: at the hull of these pairs' differences or, if
/// there are none, at the support along the guess.
#[derive(Clone, Copy)]
pub(in super::super) struct NearestStart<'s> {
    pub(in super::super) guess: &'s Vec3,
    pub(in super::super) seed: &'s [VertexPair],
}

/// The search at one time.
pub(in super::super) struct NearestSearch<'m, 'a> {
    pub(in super::super) pair: &'m MovingPair<'a>,
    pub(in super::super) posed: &'m PosedPair,
    /// The vector that M is moved by.
    pub(in super::super) shift: Vec3,
}

impl<'m, 'a> NearestSearch<'m, 'a> {
    pub(in super::super) fn at(moving: &'m mut Moving<'a>, t: f64) -> Self {
        let (pair, posed) = moving.posed(t);
        Self { pair, posed, shift: Vec3::zeros() }
    }

    /// The corner with the least `s·y`.
    #[inline(always)]
    pub(in super::super) fn support(
        &mut self,
        s: &Vec3,
        effort: &mut Effort<'_>,
    ) -> (MovingCorner, SupportTops) {
        let (corner, tops) = self.posed.support(self.pair, s, effort);
        (MovingCorner { at: corner.at + self.shift, ..corner }, tops)
    }

    /// The nearest point of the hull of the seed's differences, as far as adding one after the
    /// other finds it, and the corners that it is between. Without a seed it is the support along
    /// the guess.
    #[inline(always)]
    pub(in super::super) fn seeded(
        &mut self,
        NearestStart { guess, seed }: NearestStart<'_>,
        effort: &mut Effort<'_>,
    ) -> (Vec3, ArrayVec<MovingCorner, 4>) {
        let mut corners = ArrayVec::new();
        let Some((first, mut rest)) = seed.split_first() else {
            let (first, _) = self.support(guess, effort);
            corners.push(first);
            return (first.at, corners);
        };
        let corner = |pair: VertexPair| {
            let corner = self.posed.corner(self.pair, pair);
            MovingCorner { at: corner.at + self.shift, ..corner }
        };
        corners.push(corner(*first));
        let mut nearest = corners[0].at;
        // Mostly the origin's foot is still inside what it was inside before.
        if let [a, b, c, others @ ..] = seed {
            let triangle = [corner(*a), corner(*b), corner(*c)];
            if let Some(point) = of_triangle(&triangle[0].at, &triangle[1].at, &triangle[2].at) {
                (nearest, rest) = (point, others);
                corners = ArrayVec::from_iter(triangle);
            }
        }
        for &pair in rest {
            corners.push(corner(pair));
            match nearest_of(&corners) {
                Some((point, used))
                    if used != HELD && point.norm_squared() < nearest.norm_squared() =>
                {
                    nearest = point;
                    keep(&mut corners, used);
                }
                Some(_) | None => drop(corners.pop()),
            }
        }
        (nearest, corners)
    }

    /// A direction between that of the only corner and the one that is known: see [`DAMPING`].
    #[inline(always)]
    fn between(&self, corner: &Vec3, known: &Vec3) -> Vec3 {
        corner + known * (DAMPING * self.pair.size() / known.norm())
    }

    /// The nearest point of M, to the part `good_enough` of its distance.
    pub(in super::super) fn nearest(
        &mut self,
        start: NearestStart<'_>,
        good_enough: f64,
        effort: &mut Effort<'_>,
    ) -> NearestPoint {
        processor::dispatch(
            #[inline(always)]
            || self.nearest_inlined(start, good_enough, effort),
        )
    }

    #[inline(always)]
    fn nearest_inlined(
        &mut self,
        start: NearestStart<'_>,
        good_enough: f64,
        effort: &mut Effort<'_>,
    ) -> NearestPoint {
        let (mut point, mut corners) = self.seeded(start, effort);
        // The support plane: its height times the length of the vector across it, and the square of
        // that length.
        let (mut plane, mut tops) = ((f64::NEG_INFINITY, 1.0), None);
        let is_corner = corners.len() == 1;
        let mut between = is_corner.then(|| self.between(&point, start.guess));
        for _ in 0..ITERATIONS_MAX {
            let squared = point.norm_squared();
            let is_between = between.is_some();
            let (next, found) = self.support(&between.take().unwrap_or(point), effort);
            let height = point.dot(&next.at);
            if !is_between {
                (plane, tops) = ((height, squared), Some(found));
            }
            // NaN is no progress, and ends the iteration.
            let nearer = squared - height > good_enough * squared;
            if !nearer || corners.iter().any(|c| c.pair == next.pair) {
                if is_between {
                    continue;
                }
                break;
            }
            corners.push(next);
            let Some((better, used)) = nearest_of(&corners) else {
                corners.pop();
                break;
            };
            if used == HELD {
                let at_least = plane.0 / plane.1.sqrt();
                return NearestPoint { point: Vec3::zeros(), corners, held: true, at_least, tops };
            }
            if better.norm_squared() >= squared {
                corners.pop();
                break;
            }
            point = better;
            // The tops were on the plane across the last point.
            tops = None;
            keep(&mut corners, used);
        }
        let at_least = plane.0 / plane.1.sqrt();
        NearestPoint { point, corners, held: false, at_least, tops }
    }
}

/// Keeps the corners whose bits are set.
#[inline(always)]
fn keep(corners: &mut ArrayVec<MovingCorner, 4>, bits: u32) {
    let mut kept = 0;
    for index in 0..corners.len() {
        if bits >> index & 1 == 1 {
            corners[kept] = corners[index];
            kept += 1;
        }
    }
    corners.truncate(kept);
}

/// The bits of all four corners: they hold the origin.
const HELD: u32 = 0b1111;

/// The nearest point of the hull of up to four corners, and the corners that it is between as bits;
/// the last corner is taken to be one of them. `None` when the corners are too degenerate to say.
#[inline(always)]
fn nearest_of(corners: &[MovingCorner]) -> Option<(Vec3, u32)> {
    let (last, rest) = corners.split_last()?;
    let (last_bit, last) = (1u32 << rest.len(), &last.at);
    let mut best = (*last, last_bit);
    let mut least = last.norm_squared();
    let mut offer = |point: Option<Vec3>, bits: u32| {
        if let Some(point) = point {
            let squared = point.norm_squared();
            if squared < least {
                (least, best) = (squared, (point, bits | last_bit));
            }
        }
        point.is_some()
    };
    // An edge of a triangle that has the origin's foot inside is no nearer than the triangle.
    let mut covered = 0;
    for (i, a) in rest.iter().enumerate() {
        for (k, b) in rest.iter().enumerate().skip(i + 1) {
            let bits = 1 << i | 1 << k;
            if offer(of_triangle(&a.at, &b.at, last), bits) {
                covered |= bits;
            }
        }
    }
    for (i, a) in rest.iter().enumerate() {
        if covered >> i & 1 == 0 {
            offer(of_segment(&a.at, last), 1 << i);
        }
    }
    if let [a, b, c] = rest
        && holds(&[a.at, b.at, c.at, *last])
    {
        return Some((Vec3::zeros(), HELD));
    }
    least.is_finite().then_some(best)
}

/// The origin's foot on the segment, if it is inside.
#[inline(always)]
fn of_segment(a: &Vec3, b: &Vec3) -> Option<Vec3> {
    let edge = b - a;
    let squared = edge.norm_squared();
    let along = -a.dot(&edge) / squared;
    (along > 0.0 && along < 1.0).then(|| {
        // Close to the origin the rounding of the foot tilts it along the edge, which costs gap at
        // the far end of the edge. So the part along the edge is taken out once.
        let foot = a + edge * along;
        foot - edge * (foot.dot(&edge) / squared)
    })
}

/// The origin's foot on the triangle, if it is inside.
#[inline(always)]
fn of_triangle(a: &Vec3, b: &Vec3, c: &Vec3) -> Option<Vec3> {
    let normal = (b - a).cross(&(c - a));
    let inside = normal.dot(&a.cross(b)) > 0.0
        && normal.dot(&b.cross(c)) > 0.0
        && normal.dot(&c.cross(a)) > 0.0;
    inside.then(|| normal * (normal.dot(a) / normal.norm_squared()))
}

/// Whether the origin is inside the tetrahedron.
#[inline(always)]
fn holds(d: &[Vec3; 4]) -> bool {
    let (front, back) = (d[0].cross(&d[1]), d[2].cross(&d[3]));
    let faces = [d[1].dot(&back), -d[0].dot(&back), d[3].dot(&front), -d[2].dot(&front)];
    faces.iter().all(|f| *f > 0.0) || faces.iter().all(|f| *f < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(points: &[[f64; 3]]) -> Vec<MovingCorner> {
        let corner =
            |p: &[f64; 3]| MovingCorner { at: Vec3::from(*p), pair: VertexPair::default() };
        points.iter().map(corner).collect()
    }

    #[test]
    fn the_nearest_point_of_a_small_hull_is_on_the_right_feature() {
        let triangle = [[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 2.0, 2.0]];
        let (face, used) = nearest_of(&corners(&triangle)).expect("not degenerate");
        assert!((face - Vec3::new(0.0, 0.0, 2.0)).norm() < 1e-15 && used == 0b111);
        let (edge, used) =
            nearest_of(&corners(&[[1.0, 1.0, -3.0], [1.0, 1.0, 5.0]])).expect("fine");
        assert!((edge - Vec3::new(1.0, 1.0, 0.0)).norm() < 1e-15 && used == 0b11);
        let held = [[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 2.0, 2.0], [0.0, 0.0, -1.0]];
        assert_eq!(nearest_of(&corners(&held)).expect("fine").1, HELD);
    }

    #[test]
    fn a_triangle_a_hair_away_still_gives_its_normal() {
        let h = 1e-14;
        let tilted = [[1.0, -1.0, h], [-1.0, -1.0, h], [0.0, 2.0, h]];
        let (face, _) = nearest_of(&corners(&tilted)).expect("not degenerate");
        let direction = face.normalize();
        assert!((direction - Vec3::z()).norm() < 1e-12, "{direction:?}");
    }
}
