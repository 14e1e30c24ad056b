//! Contact of flat bodies that pass through each other: a point through a polygon, a rod across a rod. Their
//! differences never hold the origin strictly inside, so no time is one of proven contact; but a triangle of
//! differences has the origin on its one side before and on its other side after, and over it in between.

use arrayvec::ArrayVec;

use super::Search;
use super::moving::{Moving, Side};
use super::nearest::{LOOSE, Near};
use crate::geometry::Vec3;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::Sign;
use crate::geometry::number::interval::{Interval, cross, dot, middle, sub};
use crate::geometry::number::rounding::UNIT;
use crate::geometry::pair::{Pair, VertexPair};

/// The first bracket reaches so far to both sides of what is free, and each one four times as far as the one
/// before: the 26th is wider than any step.
const FIRST_REACH: f64 = f64::EPSILON;
const BRACKETS_MAX: u32 = 26;

/// A bracket within which the origin passes through a triangle of differences.
pub(super) struct Passing {
    /// On the one side.
    pub(super) t_free: f64,
    /// On the other.
    pub(super) t_contact: f64,
    /// The triangle.
    pub(super) pairs: [VertexPair; 3],
}

impl Search<'_> {
    /// The least bracket around the end of what is free in which the bodies pass through each other, if it is
    /// as narrow as the tolerances say.
    pub(super) fn passing(
        &mut self,
        free: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Passing>, Stopped> {
        let Pair { p, q } = &self.question.pair;
        if p.body.dimension() + q.body.dimension() > 2 {
            return Ok(None);
        }
        let world = self.world_direction(free);
        let mut near = Near::at(&mut self.moving, free);
        let nearest = near.nearest((&world, &self.seed), LOOSE, effort);
        let corners: ArrayVec<VertexPair, 4> = nearest.corners.iter().map(|c| c.pair).collect();
        let &[a, b, c] = corners.as_slice() else { return Ok(None) };
        let width = self.width_allowed(free, 1.0, effort);
        let mut reach = FIRST_REACH;
        for _ in 0..BRACKETS_MAX {
            effort.spend_step()?;
            let (t_free, t_contact) = ((free - reach).max(0.0), (free + reach).min(1.0));
            if t_contact - t_free > width {
                break;
            }
            if passes(&self.moving, [a, b, c], [t_free, t_contact]) {
                return Ok(Some(Passing { t_free, t_contact, pairs: [a, b, c] }));
            }
            reach *= 4.0;
        }
        Ok(None)
    }
}

/// Whether the origin surely passes through the triangle of these differences between two times, and would if
/// all bounds were twice as wide, so that judges with looser ones agree.
///
/// A weight is a sum of 36 products of four coordinates (see the judge); with coordinates of at most 1 that
/// are off by e it is off by at most `36 ((1 + e)⁴ - 1)`, and its own rounding is below 36 · 16 u, which is
/// counted as 16 u more in e.
fn passes(moving: &Moving<'_>, pairs: [VertexPair; 3], [from, to]: [f64; 2]) -> bool {
    let side = |t: f64| {
        let [a, b, c] = pairs.map(|pair| moving.difference(pair, t));
        let value = dot(&cross(&sub(&b, &a), &sub(&c, &a)), &a);
        (value + Interval::around(0.0, value.radius())).sign()
    };
    let is_passed = match (side(from), side(to)) {
        (Some(first), Some(last)) => first != Sign::Zero && last == -first,
        _ => false,
    };
    if !is_passed {
        return false;
    }
    let at: [Vec3; 3] = pairs.map(|pair| middle(&moving.difference(pair, to)));
    let most = at.iter().map(Vec3::amax).fold(0.0, f64::max);
    let turning =
        |side: &Side<'_>| side.plain.angle.abs() * side.extent.radius + side.extent.residue;
    let speed = moving.apart.norm() + turning(&moving.p) + turning(&moving.q);
    let error = 2.0 * (speed * (to - from) + moving.error) / most + 16.0 * UNIT;
    let doubt = 36.0 * ((1.0 + error).powi(4) - 1.0);
    let [a, b, c] = at.map(|d| d / most);
    let normal = (b - a).cross(&(c - a));
    [(b, c), (c, a), (a, b)].iter().all(|(x, y)| normal.dot(&x.cross(y)) > doubt)
}
