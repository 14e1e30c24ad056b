//! Contact of flat bodies that pass through each other: a point through a polygon, a rod across a
//! rod, a plate through a plate beside which it stays. Their differences never hold the origin
//! strictly inside, so contact is not proven at any one time. But a polygon of differences has the
//! origin on its one side before and on its other side after, and over it in between.

use arrayvec::ArrayVec;

use super::at_time::width_allowed;
use crate::Vec3;
use crate::contact_time::rotating::advance::nearest::{
    NearestSearch, NearestStart, guess, nearest_point,
};
use crate::contact_time::rotating::bounds::body::MovingBody;
use crate::contact_time::rotating::bounds::pair::MovingPair;
use crate::contact_time::rotating::bounds::supports::MovingCorner;
use crate::contact_time::rotating::search::TurningSearch;
use crate::contact_time::travel::translation_of;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::interval::{Interval, IntervalVec, cross, dot, middle, sub};
use crate::number::rounding::UNIT;
use crate::number::tolerance::NEAREST_LOOSE;
use crate::pair::Question;
use crate::pair::{Pair, Placed, VertexPair};
use crate::support::supporting_vertex;

/// How far the first bracket reaches to both sides of the end of the free part, in t; each next one
/// reaches four times as far, and the 26th is wider than any step.
const FIRST_REACH: f64 = f64::EPSILON;
const BRACKETS_MAX: u32 = 26;

/// The corners of a triangle or a quadrangle in order around. Quadrangles are needed where the
/// origin goes through the middle of a square, or a rod across the middle of a rod: no triangle of
/// corners has it strictly inside then.
pub(in super::super) type CornerRing = ArrayVec<VertexPair, 4>;

/// A bracket within which the origin passes through a polygon of differences.
pub(in super::super) struct Passing {
    /// A time at which the origin is on the one side.
    pub(in super::super) t_free: f64,
    /// A time at which it is on the other.
    pub(in super::super) t_contact: f64,
    /// The polygon.
    pub(in super::super) pairs: CornerRing,
}

/// The least bracket around the end of the free part in which the bodies pass through each other,
/// if it is as narrow as the tolerances say.
pub(in super::super) fn passing(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<Passing>, Stopped> {
    let Question { pair: Pair { p, q }, motion_p, motion_q, .. } = search.told.question;
    // Judges ask for a time of contact where both bodies translate; with a margin, translations
    // come here, too.
    let turns = |motion, placed: &Placed<'_>| translation_of(motion, &placed.pose).is_none();
    let is_judged = turns(motion_p, p) || turns(motion_q, q);
    let dimensions = [p.body.dimension(), q.body.dimension()];
    if !is_judged || dimensions.contains(&3) {
        return Ok(None);
    }
    let mut rings = rings(search, free, effort);
    // Four differences stay in a plane for sure only if they are of a point and a polygon, or of
    // two segments.
    rings.retain(|ring| ring.len() == 3 || dimensions.iter().sum::<u8>() <= 2);
    let width = width_allowed(search, free, 1.0, effort);
    for pairs in rings {
        let mut reach = FIRST_REACH;
        for _ in 0..BRACKETS_MAX {
            effort.spend_step()?;
            let (t_free, t_contact) = ((free - reach).max(0.0), (free + reach).min(1.0));
            if t_contact - t_free > width {
                break;
            }
            if passes(&search.moving.pair, &pairs, [t_free, t_contact]) {
                return Ok(Some(Passing { t_free, t_contact, pairs }));
            }
            reach *= 4.0;
        }
    }
    Ok(None)
}

/// The triangle nearest the origin, and the quadrangle around its edge that is nearest the origin's
/// foot. Where the foot is on a diagonal there is no triangle, and the quadrangle is the one around
/// that diagonal.
fn rings(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> ArrayVec<CornerRing, 2> {
    let world = guess(search, search.at.heading.as_ref(), free);
    let start = NearestStart::new(&world, &search.at.seed);
    let nearest = nearest_point(&mut search.moving, free, &start, NEAREST_LOOSE, effort);
    let near = NearestSearch::at(&mut search.moving, free);
    let mut rings = ArrayVec::new();
    let edge = match nearest.corners.as_slice() {
        [a, b, c] => {
            rings.push([a, b, c].iter().map(|corner| corner.pair).collect());
            // The side opposite to a corner is the nearer to the foot the smaller that corner's
            // weight is.
            let weight = |[x, y]: &[&MovingCorner; 2]| nearest.point.dot(&x.at.cross(&y.at)).abs();
            let edges = [[a, b], [b, c], [c, a]];
            edges.into_iter().min_by(|x, y| weight(x).total_cmp(&weight(y)))
        }
        [a, b] => Some([a, b]),
        _ => None,
    };
    if let Some([a, b]) = edge {
        let left = nearest.point.cross(&(b.at - a.at));
        // Supports are not found here as the search for nearest points does it: that code is
        // inlined, and is to stay in one place.
        let [outer, other] = [left, -left].map(|s| {
            let [along_p, along_q] = near.posed.in_bodies(&s);
            let i = supporting_vertex(near.pair.p.body, &along_p, None, effort);
            VertexPair { i, j: supporting_vertex(near.pair.q.body, &along_q, None, effort) }
        });
        rings.push([a.pair, outer, b.pair, other].into());
    }
    rings
}

/// Whether the origin surely passes through the polygon of these differences between two times, and
/// would if all bounds were twice as wide, so that judges with looser ones agree.
///
/// The number that has to be positive (see the judge) is a sum of 12 products of four coordinates
/// for each corner. With coordinates of at most 1 that are off by e, each product is off by at most
/// `(1 + e)⁴ - 1`, and the rounding of all is below 16 u for each, which is counted as 16 u more in
/// e.
fn passes(pair: &MovingPair<'_>, ring: &CornerRing, [from, to]: [f64; 2]) -> bool {
    let count = ring.len();
    let side = |t: f64| {
        let d: ArrayVec<IntervalVec, 4> = ring.iter().map(|of| pair.difference(*of, t)).collect();
        let value = dot(&cross(&sub(&d[2], &d[0]), &sub(&d[3 % count], &d[1])), &d[0]);
        (value + Interval::around(0.0, value.radius())).sign()
    };
    let is_passed = match (side(from), side(to)) {
        (Some(first), Some(last)) => first != Sign::Zero && last == -first,
        _ => false,
    };
    if !is_passed {
        return false;
    }
    let at: ArrayVec<Vec3, 4> = ring.iter().map(|of| middle(&pair.difference(*of, to))).collect();
    let most = at.iter().map(Vec3::amax).fold(0.0, f64::max);
    let turning =
        |body: &MovingBody<'_>| body.plain.angle.abs() * body.extent.radius + body.extent.residue;
    let speed = pair.relative_velocity.norm() + turning(&pair.p) + turning(&pair.q);
    let error = 2.0 * (speed * (to - from) + pair.error) / most + 16.0 * UNIT;
    let doubt = 12.0 * count as f64 * ((1.0 + error).powi(4) - 1.0);
    let d: ArrayVec<Vec3, 4> = at.iter().map(|d| d / most).collect();
    let normal = (d[2] - d[0]).cross(&(d[3 % count] - d[1]));
    (0..count).all(|k| normal.dot(&d[k].cross(&d[(k + 1) % count])) > doubt)
}
