//! The judge of a static verdict: exact, from scratch, looking at every vertex.

use super::direction::exact_direction;
use super::exact::{exact_differences, gap_along, holds_origin, holds_origin_strictly};
use super::refusal::Refusal;
use crate::claim::{Bodies, StaticProof};
use crate::effort::Effort;
use crate::number::Sign;

/// Proves the statement from scratch, in exact arithmetic, looking at every vertex.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// use clearance_geometry::claim::{Direction, StaticProof};
/// use clearance_geometry::judge::{Refusal, judge_static};
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let along = |x, y| {
///     let direction = Direction::Vector(Vec3::new(x, y, 0.0));
///     StaticProof::Separated { direction }
/// };
/// assert_eq!(judge_static(&pair, &along(1.0, 0.0)), Ok(()));
/// assert_eq!(judge_static(&pair, &along(0.0, 1.0)), Err(Refusal::NotSeparating));
/// ```
pub fn judge_static<'a>(pair: impl Into<Bodies<'a>>, proof: &StaticProof) -> Result<(), Refusal> {
    judge_static_with(pair, proof, &mut Effort::unlimited())
}

/// [`judge_static`] as long as the effort lasts: a step is a look at a thousand vertices.
pub fn judge_static_with<'a>(
    pair: impl Into<Bodies<'a>>,
    proof: &StaticProof,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let pair = &pair.into();
    match proof {
        StaticProof::Separated { direction } => {
            let s = exact_direction(pair, direction)?;
            if gap_along(pair, &s, effort)?.sign() == Sign::Positive {
                Ok(())
            } else {
                Err(Refusal::NotSeparating)
            }
        }
        StaticProof::Touching { direction, pairs } => {
            if pairs.is_empty() {
                return Err(Refusal::PairCount("one to three"));
            }
            let s = exact_direction(pair, direction)?;
            if gap_along(pair, &s, effort)?.sign() != Sign::Zero {
                return Err(Refusal::NotTouching);
            }
            let held = holds_origin(&exact_differences(pair, pairs)?);
            if held { Ok(()) } else { Err(Refusal::OriginNotHeld) }
        }
        StaticProof::Overlapping { pairs } => {
            if pairs.len() < 4 {
                return Err(Refusal::PairCount("four to six"));
            }
            let held = holds_origin_strictly(&exact_differences(pair, pairs)?);
            if held { Ok(()) } else { Err(Refusal::OriginNotHeld) }
        }
    }
}
