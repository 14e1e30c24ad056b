//! Whether a body that goes straight gets into another one, beyond touching it.
//!
//! P moved by `t d` meets Q while `t d` is in M, and overlaps it while that is inside M. Where the
//! line along d passes through the inside of M, all of its part in M but the two ends is inside: so
//! P overlaps Q at some t > 0 if the line passes through the inside and leaves M after t = 0. A
//! line that stays on the boundary, as where one body slides over another, passes through no
//! inside.

use crate::Vec3;
use crate::claim::Verdict;
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::scaled::{Integers, integer_at, is_zero, least_exponent, sign};
use crate::pair::Pair;
use crate::separation::line::crossing::{Crossing, cross_line, passes_inside};
use crate::separation::{self, decide};
use crate::witness::Witness;

/// Whether P, moved by `t d`, overlaps Q for some t > 0, exactly; none: the two are so flat that
/// they never do. Along zero P stays.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::penetration::overlaps_along;
///
/// let on_top = Pair::new(&cube, Pose::translation(0.0, 0.0, 1.0), &cube, Pose::identity());
/// let goes = |x, z| overlaps_along(&on_top, &Vec3::new(x, 0.0, z), &mut Effort::unlimited());
/// assert_eq!(goes(1.0, 0.0), Ok(Some(false)));
/// assert_eq!(goes(1.0, 5e-324), Ok(Some(false)));
/// assert_eq!(goes(1.0, -5e-324), Ok(Some(true)));
/// ```
pub fn overlaps_along(
    pair: &Pair<'_>,
    direction: &Vec3,
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    effort.one_question(|effort| {
        let scale = least_exponent(direction.iter()).unwrap_or(0);
        let d: Integers = std::array::from_fn(|k| integer_at(direction[k], scale));
        let mut m = Difference::new(pair);
        if is_zero(&d) {
            let decision = decide(pair, &separation::METHODS[0], &mut Witness::default(), effort)?;
            let is_solid = m.simplex().len() > 3;
            return Ok(is_solid.then(|| decision.verdict() == Verdict::Overlapping));
        }
        effort.cost.exact_stages += 1;
        match passes_inside(&mut m, &d, effort)? {
            Some(true) => {}
            outside @ (None | Some(false)) => return Ok(outside),
        }
        Ok(Some(match cross_line(&mut m, &d, effort)? {
            Crossing::Never(_) => false,
            Crossing::Meets(ends) => {
                let last = sign(&ends[1].numerator);
                last != Sign::Zero && last == sign(&ends[1].denominator)
            }
        }))
    })
}
