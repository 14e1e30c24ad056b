//! When two bodies that translate first come within a distance: between two neighbours among the
//! f64 numbers, or at one.
//!
//! The distance of convex bodies that translate is a convex function of time. Until they first come
//! within the distance it falls, and from then on the least that it has been is within it: so of
//! each time it is decided exactly whether the moment has come ([`super::super::distance::sweep`]),
//! and the search narrows two times until they are neighbours.
//!
//! Where to look next is guessed. The corners that are nearest span a point, a line or a plane that
//! translates with M; its distance from the origin, squared, is quadratic in time, with exact
//! coefficients. If they are the corners that count at the moment sought, its lesser root is that
//! moment, and two looks prove it.

use arrayvec::ArrayVec;

use crate::distance::sweep::{SweptNearest, Translating};
use crate::effort::{Effort, Stopped};
use crate::number::dyadic::Dyadic;
use crate::number::quadratic::lesser_root;
use crate::number::scaled::{Integers, cross, difference, dot};
use crate::pair::VertexPair;

/// One in so many looks halves what is left, whatever is guessed: the search ends after as many
/// looks for each of the 62 bits of a time.
const HALVED_EVERY: u32 = 3;

/// What is known of the moment at which two bodies first come within a distance.
pub(super) struct Nearing {
    /// A time before it, and the nearest that they come until then.
    pub(super) before: (f64, SweptNearest),
    /// A time that is not before it, and the nearest that they come until then.
    pub(super) by: (f64, SweptNearest),
}

/// The moment at which two bodies first come within `bound`, between neighbours; none if they do
/// not in the whole step. At the start they are farther apart.
pub(super) fn first_within(
    bodies: &Translating<'_>,
    bound: &Dyadic,
    start: SweptNearest,
    effort: &mut Effort<'_>,
) -> Result<Option<Nearing>, Stopped> {
    let at_end = bodies.nearest(1.0, bound, &[], effort)?;
    if !at_end.is_within {
        return Ok(None);
    }
    let mut pairs = at_end.pairs();
    let mut known = Nearing { before: (0.0, start), by: (1.0, at_end) };
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
    Ok(Some(known))
}

/// When the point, the line or the plane that the pairs' differences span comes within the bound,
/// rounded up.
fn guess(bodies: &Translating<'_>, pairs: &ArrayVec<VertexPair, 4>, bound: &Dyadic) -> Option<f64> {
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
    lesser_root(&a, &b, &c, 0).map(|[_, high]| high)
}
