//! The point of the difference body M = Q - P nearest the origin at a time, in plain floating
//! point, and the directions towards it, along which the bodies are probably separated. Nothing
//! here proves anything.
//!
//! Gilbert, Johnson and Keerthi's iteration ("A fast procedure for computing the distance between
//! complex objects in three-dimensional space", 1988). It begins at the corners that were nearest
//! when a direction was last sought.

use arrayvec::ArrayVec;

use super::simplex::{HELD, keep, nearest_of, of_triangle};
use crate::Vec3;
use crate::contact_time::rotating::bounds::moving::{MeasuredHeading, Moving};
use crate::contact_time::rotating::bounds::pair::{MovingGap, MovingPair};
use crate::contact_time::rotating::bounds::posed::PosedPair;
use crate::contact_time::rotating::bounds::supports::{MovingCorner, NearSupport, SupportTops};
use crate::contact_time::rotating::search::{ClosingSpeed, TurningSearch};
use crate::effort::Effort;
use crate::number::rounding::unit;
use crate::number::tolerance::{DIRECTION_LOST, DRAWN_BACK, NEAREST_LOOSE, NEAREST_TIGHT};
use crate::pair::VertexPair;

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

    /// The support across that direction, if the search ended at it.
    pub(in super::super) fn support(&self) -> Option<NearSupport<'_>> {
        let tops = self.tops.as_ref()?;
        Some(NearSupport { direction: &self.point, tops, corners: &self.corners })
    }

    /// The direction towards the point, with the gap along it; `t` is the time of the search.
    pub(super) fn sight(
        &self,
        moving: &mut Moving<'_>,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Option<Sight> {
        let world = self.direction()?;
        let gap = self.support().and_then(|support| moving.gap_near(&support, t, effort));
        Some(Sight { world, gap })
    }
}

/// A direction, of length 1 in the world, and the gap along it if the search came by that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) world: Vec3,
    pub(super) gap: Option<MovingGap>,
}

/// Where a search for the nearest point begins: at the hull of these pairs' differences or, if
/// there are none, at the support along the guess.
#[derive(Clone, Copy)]
pub(in super::super) struct NearestStart<'s> {
    pub(in super::super) guess: &'s Vec3,
    pub(in super::super) seed: &'s [VertexPair],
    /// The vector that M is moved by.
    pub(in super::super) shift: Vec3,
}

impl<'s> NearestStart<'s> {
    /// For M where it is.
    pub(in super::super) fn new(guess: &'s Vec3, seed: &'s [VertexPair]) -> Self {
        Self { guess, seed, shift: Vec3::zeros() }
    }
}

/// The point of M nearest the origin at time t, to the part `good_enough` of its distance.
pub(in super::super) fn nearest_point(
    moving: &mut Moving<'_>,
    t: f64,
    start: &NearestStart<'_>,
    good_enough: f64,
    effort: &mut Effort<'_>,
) -> NearestPoint {
    moving.ask_at(
        t,
        #[inline(always)]
        |pair, posed| NearestSearch { pair, posed }.nearest(start, good_enough, effort),
    )
}

/// The search at one time.
pub(in super::super) struct NearestSearch<'m, 'a> {
    pub(in super::super) pair: &'m MovingPair<'a>,
    pub(in super::super) posed: &'m PosedPair,
}

impl<'m, 'a> NearestSearch<'m, 'a> {
    #[inline(always)]
    pub(in super::super) fn at(moving: &'m mut Moving<'a>, t: f64) -> Self {
        let (pair, posed) = moving.posed(t);
        Self { pair, posed }
    }

    /// The corner with the least `s·y`.
    #[inline(always)]
    pub(in super::super) fn support(
        &self,
        s: &Vec3,
        shift: &Vec3,
        effort: &mut Effort<'_>,
    ) -> (MovingCorner, SupportTops) {
        let (corner, tops) = self.posed.support(self.pair, s, effort);
        (MovingCorner { at: corner.at + shift, ..corner }, tops)
    }

    /// The nearest point of the hull of the seed's differences, as far as adding one after the
    /// other finds it, and the corners that it is between. Without a seed it is the support along
    /// the guess.
    #[inline(always)]
    pub(in super::super) fn seeded(
        &self,
        NearestStart { guess, seed, shift }: &NearestStart<'_>,
        effort: &mut Effort<'_>,
    ) -> (Vec3, ArrayVec<MovingCorner, 4>) {
        let mut corners = ArrayVec::new();
        let Some((first, mut rest)) = seed.split_first() else {
            let (first, _) = self.support(guess, shift, effort);
            corners.push(first);
            return (first.at, corners);
        };
        let corner = |pair: VertexPair| {
            let corner = self.posed.corner(self.pair, pair);
            MovingCorner { at: corner.at + shift, ..corner }
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

    /// The nearest point of M: see [`nearest_point`].
    #[inline(always)]
    fn nearest(
        &self,
        start: &NearestStart<'_>,
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
            let (next, found) =
                self.support(&between.take().unwrap_or(point), &start.shift, effort);
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

/// How well to search for directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchCare {
    /// Well enough for a step.
    Rough,
    /// Better, where rough directions led nowhere.
    Thorough,
}

/// The nearest points at the present time, roughly.
pub(in super::super) fn look_around(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> NearestPoint {
    let heading = search.at.heading.take();
    let nearest = nearest_at(search, search.at.t, SearchCare::Rough, heading.as_ref(), effort);
    search.at.heading = heading;
    nearest
}

/// The nearest points at time t, from what was near before. Their corners become the seed of the
/// next search.
fn nearest_at(
    search: &mut TurningSearch<'_>,
    t: f64,
    care: SearchCare,
    known: Option<&MeasuredHeading>,
    effort: &mut Effort<'_>,
) -> NearestPoint {
    let guess = guess(search, known, t);
    let good_enough = match care {
        SearchCare::Rough => ROUGH * search.resolution(known).min(1.0),
        SearchCare::Thorough => NEAREST_LOOSE.min(search.resolution(known)),
    };
    let seed = &mut search.at.seed;
    // The vertices that support along the heading at hand may have come in since.
    if let Some(known) = known
        && !seed.contains(&known.now.gap.pair)
    {
        let _is_full = seed.try_push(known.now.gap.pair);
    }
    let start = NearestStart::new(&guess, seed);
    let good_enough = good_enough.max(NEAREST_TIGHT);
    let nearest = nearest_point(&mut search.moving, t, &start, good_enough, effort);
    *seed = nearest.corners.iter().map(|c| c.pair).collect();
    nearest
}

/// Directions worth trying at time t. One is that towards the nearest point. In a thorough search
/// close to contact that direction may be lost in rounding; then M is also drawn back a little, and
/// the directions towards its nearest points there are added.
pub(super) fn directions(
    search: &mut TurningSearch<'_>,
    t: f64,
    care: SearchCare,
    known: Option<&MeasuredHeading>,
    effort: &mut Effort<'_>,
) -> ArrayVec<Sight, 4> {
    let nearest = nearest_at(search, t, care, known, effort);
    let mut directions = ArrayVec::new();
    directions.extend(nearest.sight(&mut search.moving, t, effort));
    let size = search.moving.pair.size();
    let is_lost = nearest.held || nearest.point.norm() < DIRECTION_LOST * size;
    if care == SearchCare::Thorough && is_lost {
        let along = directions.first().map_or(guess(search, known, t), |sight| sight.world);
        for part in DRAWN_BACK {
            let start = NearestStart { guess: &along, seed: &[], shift: along * (part * size) };
            let drawn = nearest_point(&mut search.moving, t, &start, NEAREST_LOOSE, effort);
            directions.extend(drawn.direction().map(|world| Sight { world, gap: None }));
        }
    }
    directions
}

/// A direction in the world along which the bodies are probably separated at time t: that of the
/// heading at hand or, without one, that from body to body.
pub(in super::super) fn guess(
    search: &TurningSearch<'_>,
    known: Option<&MeasuredHeading>,
    t: f64,
) -> Vec3 {
    known.map_or(search.at.towards, |known| search.moving.pair.world_of(&known.heading, t))
}

/// How fast the nearest points approach each other at time t; 0 where they do not, or where there
/// are none.
pub(in super::super) fn closing_speed(
    search: &mut TurningSearch<'_>,
    t: f64,
    effort: &mut Effort<'_>,
) -> f64 {
    // Bringing contact forward asks, and judging the bracket then asks again.
    if let Some(known) = search.at.speed
        && known.t.to_bits() == t.to_bits()
    {
        return known.speed;
    }
    let guess = guess(search, search.at.heading.as_ref(), t);
    let start = NearestStart::new(&guess, &search.at.seed);
    let nearest = nearest_point(&mut search.moving, t, &start, NEAREST_LOOSE, effort);
    let gap = nearest.support().and_then(|near| search.moving.gap_near(&near, t, effort));
    let speed = gap.map_or(0.0, |gap| (-gap.rate).max(0.0));
    search.at.speed = Some(ClosingSpeed { t, speed });
    speed
}
