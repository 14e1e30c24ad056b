//! Along a direction: for which t >= 0 does P, moved by `t d`, meet Q? When the polytopes are
//! within R, the sum of the radii.
//!
//! Moved by `t d`, P is to Q as it is where Q translates by `-t d`. The distance of the polytopes
//! is a convex function of t, so that the t sought are between a first and a last one. Each is
//! found between two neighbours among the f64 numbers by exact looks at what M sweeps before, and
//! after, some time ([`crate::contact_time::nearing`]). The step over which it is looked at is so
//! long that the bodies are apart at its end and after it.

use arrayvec::ArrayVec;
use dashu_int::UBig;

use super::{RoundedPair, verdict};
use crate::Vec3;
use crate::claim::{RangeEnd, RangeProof, RoundedProof, Span, Verdict};
use crate::contact_time::nearing::{Approach, Leaving, Nearing, first_within, last_within};
use crate::distance::sweep::{SweptNearest, Translating};
use crate::effort::{Effort, Stopped};
use crate::number::binary::{exponent_of, split};
use crate::number::outward::{self, power_of_two};
use crate::number::scaled::{integer_at, least_exponent};
use crate::pair::{Pair, Placed};
use crate::witness::Witness;

/// The closed set of `t >= 0` for which P moved by `t d` meets Q, each end as a bracket of adjacent
/// f64 numbers, in units of |d|.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedRange {
    /// How the bodies stand, with its proof.
    pub proof: RoundedProof,
    /// `[lower, upper]` around the least such t and around the greatest; none: never.
    pub span: Option<Span>,
    /// What proves that; none along zero, and where an end is beyond all f64 numbers.
    pub ends: Option<RangeProof>,
}

/// The range of contact along `direction`, which is finite. Along zero P stays: the range is
/// everything or nothing.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use clearance_geometry::rounded::{RoundedPair, along};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(6.0, 3.0, 0.0));
/// let balls = RoundedPair { cores, radii: [1.0, 4.0] };
/// let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
/// let found = along(&balls, &Vec3::new(2.0, 0.0, 0.0), witness, effort).unwrap();
/// let span = found.span.unwrap();
/// assert!(span.enter[0] < 1.0 && span.enter[1] == 1.0);
/// assert!(span.exit[0] == 5.0 && 5.0 < span.exit[1]);
/// assert!(found.ends.is_some());
/// ```
pub fn along(
    pair: &RoundedPair<'_>,
    direction: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<RoundedRange, Stopped> {
    effort.one_question(|effort| {
        let proof = verdict(pair, witness, effort)?;
        let in_contact = proof.verdict != Verdict::Separated;
        let (span, ends) = match direction.iter().filter_map(|x| exponent_of(*x)).max() {
            // P stays: always in contact, or never.
            None => {
                let always = Span { enter: [0.0; 2], exit: [f64::INFINITY; 2] };
                (in_contact.then_some(always), None)
            }
            Some(exponent) => {
                effort.cost.exact_stages += 1;
                range(pair, direction, power_beyond(pair, exponent), in_contact, effort)?
            }
        };
        Ok(RoundedRange { proof, span, ends })
    })
}

/// Whether P, moved by `t d`, overlaps Q for some t > 0, exactly, where it does not at t = 0:
/// whether it comes nearer than R. Along zero it does not.
pub fn overlaps_along(
    pair: &RoundedPair<'_>,
    direction: &Vec3,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    effort.one_question(|effort| {
        let Some(exponent) = direction.iter().filter_map(|x| exponent_of(*x)).max() else {
            return Ok(false);
        };
        effort.cost.exact_stages += 1;
        let way = LongWay::new(pair, direction, power_beyond(pair, exponent));
        let reach = pair.reach().exact();
        way.bodies.comes_nearer(way.end, &reach, effort)
    })
}

/// After so many times a direction, as a power of two, the bodies are apart for good.
fn power_beyond(pair: &RoundedPair<'_>, exponent: i32) -> i64 {
    i64::from(exponent_of_all(pair)) + 2 - i64::from(exponent)
}

/// The way along a direction, until the bodies are apart for good.
struct LongWay<'a> {
    bodies: Translating<'a>,
    /// Times of the step count how often the direction is gone; where the last of them is beyond
    /// all f64 numbers, in units of a power of two.
    end: f64,
    power: i64,
}

impl<'a> LongWay<'a> {
    fn new(pair: &RoundedPair<'a>, direction: &Vec3, power: i64) -> Self {
        let scale = least_exponent(direction.iter()).unwrap_or(0);
        let travel = std::array::from_fn(|k| -integer_at(direction[k], scale));
        let end = power_of_two(power.clamp(-1022, 1023));
        let power = (power - 1023).max(0);
        Self { bodies: Translating::new(&pair.cores, travel, scale + power), end, power }
    }
}

fn range(
    pair: &RoundedPair<'_>,
    direction: &Vec3,
    power: i64,
    in_contact: bool,
    effort: &mut Effort<'_>,
) -> Result<(Option<Span>, Option<RangeProof>), Stopped> {
    let LongWay { bodies, end, power } = LongWay::new(pair, direction, power);
    let reach = pair.reach().exact();
    let (enter, begins) = if in_contact {
        ([0.0; 2], None)
    } else {
        let start = bodies.nearest(0.0, &reach, &[], effort)?;
        match first_within(&bodies, &reach, end, start, effort)? {
            Approach::Within(Nearing { before: (before, apart), by: (by, near) }) => {
                (in_units([before, by], power), Some(end_of(&apart, &near)))
            }
            Approach::Never(nearest) => {
                let direction = nearest.direction();
                return Ok((None, Some(RangeProof::Never { direction })));
            }
        }
    };
    let Leaving { within: (from, near), after: (to, apart) } =
        last_within(&bodies, &reach, end, effort)?;
    let exit = in_units([from, to], power);
    let ends = RangeProof::Meets { enter: begins, exit: end_of(&apart, &near) };
    // An end that is infinite was rounded: what is nearest at it is not known.
    let is_exact = exit[1] < f64::INFINITY && enter[1] < f64::INFINITY;
    Ok((Some(Span { enter, exit }), is_exact.then_some(ends)))
}

/// What shows that the bodies are apart until a time, or from it on, and near in between. A corner
/// of what is swept before the one time, or after the other, is nearest at that time itself, since
/// the bodies come nearer until then, or go away.
fn end_of(apart: &SweptNearest, near: &SweptNearest) -> RangeEnd {
    let pairs: ArrayVec<_, 4> = near.pairs();
    RangeEnd { direction: apart.direction(), pairs }
}

/// Times of the step, which are not negative, times two to the power, rounded down and up.
fn in_units([low, high]: [f64; 2], power: i64) -> [f64; 2] {
    let exact = |time: f64| {
        let (mantissa, exponent) = split(time);
        (UBig::from(mantissa.unsigned_abs()), i64::from(exponent) + power)
    };
    let ((low, of_low), (high, of_high)) = (exact(low), exact(high));
    [outward::floor(&low, of_low), outward::ceil(&high, of_high)]
}

/// An exponent of two: bodies whose one is farther than that from where it is, along some axis, are
/// apart.
fn exponent_of_all(pair: &RoundedPair<'_>) -> i32 {
    let Pair { p, q } = &pair.cores;
    let [of_p, of_q] = pair.radii;
    // The rounding of these few sums is less than what they are doubled for. Coordinates and radii
    // are at most 2^960, so nothing overflows.
    let size = 2.0 * (extent(p) + extent(q) + of_p + of_q) + f64::MIN_POSITIVE;
    exponent_of(size).map_or(0, |exponent| exponent + 1)
}

/// The sum of what each coordinate of a placed body is at most, by its amount.
fn extent(placed: &Placed<'_>) -> f64 {
    let bounds = placed.body.bounds();
    let most = bounds.low.abs().sup(&bounds.high.abs());
    let turned = placed.pose.rotation.abs() * most;
    turned.sum() + placed.pose.translation.abs().sum()
}
