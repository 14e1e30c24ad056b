//! When two bodies that translate first come within a distance, and when they are within it last:
//! between two neighbours among the f64 numbers, or at one.
//!
//! The distance of convex bodies that translate is a convex function of time. Until they first come
//! within the distance it falls, and from then on the least that it has been is within it: so of
//! each time it is decided exactly whether the moment has come ([`super::super::distance::sweep`]),
//! and the search narrows two times until they are neighbours.
//!
//! Where to look next is guessed. The corners that are nearest span a point, a line or a plane that
//! translates with M; its distance from the origin, squared, is quadratic in time, with exact
//! coefficients. If they are the corners that count at the moment sought, its lesser root is that
//! moment, or its greater one of the last, and two looks prove it.

use arrayvec::ArrayVec;
use dashu_int::IBig;

use crate::distance::sweep::{SweptNearest, Translating};
use crate::effort::{Effort, Stopped};
use crate::number::dyadic::Dyadic;
use crate::number::quadratic::{greater_root, lesser_root};
use crate::number::scaled::{Integers, cross, difference, dot};
use crate::pair::VertexPair;

/// One in so many looks halves what is left, whatever is guessed: the search ends after as many
/// looks for each of the 62 bits of a time.
const HALVED_EVERY: u32 = 3;

/// What is known of the moment at which two bodies first come within a distance.
pub(crate) struct Nearing {
    /// A time before it, and the nearest that they come until then.
    pub(crate) before: (f64, SweptNearest),
    /// A time that is not before it, and the nearest that they come until then.
    pub(crate) by: (f64, SweptNearest),
}

/// Whether two bodies come within a distance.
pub(crate) enum Approach {
    /// They do not, and this is the nearest that they come.
    Never(SweptNearest),
    /// They do.
    Within(Nearing),
}

/// The last moment at which two bodies are within a distance.
pub(crate) struct Leaving {
    /// A time that is not after it, and the nearest that they come from then on.
    pub(crate) within: (f64, SweptNearest),
    /// A time after it, and the nearest that they come from then on.
    pub(crate) after: (f64, SweptNearest),
}

/// The moment until `end` at which two bodies first come within `bound`, between neighbours, if
/// they do. At the start they are farther apart.
pub(crate) fn first_within(
    bodies: &Translating<'_>,
    bound: &Dyadic,
    end: f64,
    start: SweptNearest,
    effort: &mut Effort<'_>,
) -> Result<Approach, Stopped> {
    let at_end = bodies.nearest(end, bound, &[], effort)?;
    if !at_end.is_within {
        return Ok(Approach::Never(at_end));
    }
    let mut pairs = at_end.pairs();
    let mut known = Nearing { before: (0.0, start), by: (end, at_end) };
    for look in 1u32.. {
        let [from, to] = [known.before.0, known.by.0];
        if to <= from.next_up() {
            break;
        }
        effort.spend_step()?;
        let guessed = if look % HALVED_EVERY == 0 { None } else { guess(bodies, &pairs, bound) };
        let t = match guessed {
            Some(t) => t.clamp(from.next_up(), to.next_down()),
            // Halfway between the numbers' places in the order of all.
            None => f64::from_bits(from.to_bits().midpoint(to.to_bits())),
        };
        let corners = &known.by.1.corners;
        let nearest = bodies.nearest(t, bound, corners, effort)?;
        pairs = nearest.pairs();
        if nearest.is_within {
            known.by = (t, nearest);
        } else {
            known.before = (t, nearest);
        }
    }
    Ok(Approach::Within(known))
}

/// The moment from which on two bodies are not within `bound` until `end`, between neighbours: they
/// are at the first of the times, or later. Some time until then they are within it, and not at it.
pub(crate) fn last_within(
    bodies: &Translating<'_>,
    bound: &Dyadic,
    end: f64,
    effort: &mut Effort<'_>,
) -> Result<Leaving, Stopped> {
    let at_end = bodies.nearest_between([end; 2], bound, &[], effort)?;
    let (mut pairs, mut corners) = (at_end.pairs(), at_end.corners.clone());
    let mut within: Option<(f64, SweptNearest)> = None;
    let mut after = (end, at_end);
    for look in 1u32.. {
        let [from, to] = [within.as_ref().map_or(0.0, |known| known.0), after.0];
        if to <= from.next_up() {
            break;
        }
        effort.spend_step()?;
        let guessed =
            if look % HALVED_EVERY == 0 { None } else { guess_last(bodies, &pairs, bound) };
        let t = match guessed {
            Some(t) => t.clamp(from.next_up(), to.next_down()),
            None => f64::from_bits(from.to_bits().midpoint(to.to_bits())),
        };
        let nearest = bodies.nearest_between([t, end], bound, &corners, effort)?;
        // Four corners have the origin between them and show no moment.
        if nearest.corners.len() < 4 {
            pairs = nearest.pairs();
        }
        corners.clone_from(&nearest.corners);
        if nearest.is_within {
            within = Some((t, nearest));
        } else {
            after = (t, nearest);
        }
    }
    let within = match within {
        Some(known) => known,
        None => (0.0, bodies.nearest_between([0.0, end], bound, &corners, effort)?),
    };
    Ok(Leaving { within, after })
}

/// When the point, the line or the plane that the pairs' differences span comes within the bound,
/// rounded up.
fn guess(bodies: &Translating<'_>, pairs: &ArrayVec<VertexPair, 4>, bound: &Dyadic) -> Option<f64> {
    let [a, b, c] = gap_over_time(bodies, pairs, bound)?;
    lesser_root(&a, &b, &c, 0).map(|[_, high]| high)
}

/// When it leaves the bound again, rounded down.
fn guess_last(
    bodies: &Translating<'_>,
    pairs: &ArrayVec<VertexPair, 4>,
    bound: &Dyadic,
) -> Option<f64> {
    let [a, b, c] = gap_over_time(bodies, pairs, bound)?;
    greater_root(&a, &b, &c, 0).map(|[low, _]| low)
}

/// The square of the distance of the point, the line or the plane that the pairs' differences span
/// less that of the bound, times a positive number: `a t² - 2 b t + c`.
fn gap_over_time(
    bodies: &Translating<'_>,
    pairs: &ArrayVec<VertexPair, 4>,
    bound: &Dyadic,
) -> Option<[IBig; 3]> {
    let (points, travel, exponent) = bodies.at_start(pairs, bound.exponent());
    let rise = usize::try_from(bound.exponent() - exponent).ok()?;
    let bound = bound.mantissa() << rise;
    // Its distance is |x + y t| / |z|.
    let (x, y, z) = match &points[..] {
        [point] => (point.clone(), travel, None),
        [one, other] => {
            let edge = difference(other, one);
            (cross(one, &edge), cross(&travel, &edge), Some(edge))
        }
        [one, other, third] => {
            let normal = cross(&difference(other, one), &difference(third, one));
            let height = |v: &Integers| [dot(&normal, v), 0.into(), 0.into()];
            (height(one), height(&travel), Some(normal))
        }
        _ => return None,
    };
    let size = z.map_or_else(|| 1.into(), |z| dot(&z, &z));
    let (a, b) = (dot(&y, &y), -dot(&x, &y));
    let c = dot(&x, &x) - &bound * &bound * size;
    Some([a, b, c])
}
