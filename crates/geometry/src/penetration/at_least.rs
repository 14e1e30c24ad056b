//! Whether polytopes overlap at least so deep, exactly.
//!
//! The shell grows where it is nearest, as for the depth itself, but a face that is far enough is
//! left alone, and a face of M that is not decides. So what is near is grown as far as it takes: a
//! shell of faces that are all far enough has the ball in it, and a face of M that is nearer does
//! not hold it.

use arrayvec::ArrayVec;

use super::depth_bound::DepthBound;
use super::nearest_face::{FaceSearch, surface};
use super::shell::Shell;
use crate::Vec3;
use crate::claim::{DepthSide, Direction, StaticProof};
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::distance::Compared;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::pair::{Pair, VertexPair};
use crate::separation::{self, decide};
use crate::witness::Witness;

/// How two bodies compare with a margin below 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedDepth {
    /// Whether they overlap at least so deep, and what shows it of bodies that overlap.
    pub compared: Compared,
    /// As long as the supporting values of the bodies change by less than this in all, that stays.
    pub room: f64,
}

/// Compares how deep the pair overlaps with a margin below 0, exactly: whether the depth is at
/// least minus that. What shows it is named where that is wanted.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::penetration::compare;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.75, 0.5, 0.5));
/// let mut is_within = |margin: f64| {
///     compare(&pair, margin, true, &mut witness, &mut effort).unwrap().compared.is_within
/// };
/// assert!(is_within(-0.25));
/// assert!(!is_within(-0.25_f64.next_up()));
/// ```
pub fn compare(
    pair: &Pair<'_>,
    margin: f64,
    wants_proof: bool,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<ComparedDepth, Stopped> {
    let proof = decide(pair, &separation::METHODS[0], witness, effort)?.proof;
    let bound = DepthBound::new(-&Dyadic::from(margin));
    compare_decided(pair, &proof, &bound, wants_proof, effort)
}

/// The same of polytopes that stand so, with a length that is not negative; those that touch are
/// deep by 0.
pub fn compare_decided(
    pair: &Pair<'_>,
    proof: &StaticProof,
    bound: &DepthBound,
    wants_proof: bool,
    effort: &mut Effort<'_>,
) -> Result<ComparedDepth, Stopped> {
    match proof {
        StaticProof::Touching { pairs, .. } if bound.exact().sign() == Sign::Zero => {
            let (pairs, depth) = (pairs.iter().copied().collect(), None);
            let compared = Compared { is_within: true, pairs, depth };
            Ok(ComparedDepth { compared, room: 0.0 })
        }
        StaticProof::Separated { direction } | StaticProof::Touching { direction, .. } => {
            Ok(less(direction.reversed(), bound.bounds()[0]))
        }
        StaticProof::Overlapping { pairs } => of_overlap(pair, pairs, bound, wants_proof, effort),
    }
}

/// The depth is less, by at least `room`.
fn less(direction: Direction, room: f64) -> ComparedDepth {
    let depth = Some(Box::new(DepthSide::Less(direction)));
    let compared = Compared { is_within: false, pairs: ArrayVec::new(), depth };
    ComparedDepth { compared, room: room.max(0.0) }
}

/// The origin is strictly inside the hull of the differences of `pairs`.
fn of_overlap(
    pair: &Pair<'_>,
    pairs: &[VertexPair],
    bound: &DepthBound,
    wants_proof: bool,
    effort: &mut Effort<'_>,
) -> Result<ComparedDepth, Stopped> {
    let (m, view) = (Difference::new(pair), BoundedView::new(pair));
    let [least, most] = bound.bounds();
    if least > view.size() {
        // Nothing of M is so far from the origin.
        return Ok(less(Direction::Vector(Vec3::x()), (least - view.size()).next_down()));
    }
    let mut shell = Shell::around(&m, &view, pairs).expect("the pairs enclose the origin");
    let mut search = FaceSearch::new(&mut shell, &m, &view);
    let mut room = 0.0;
    while let Some((face, known)) = search.next() {
        if known >= most {
            // All others are no nearer, but for those that were left alone before.
            room = if search.has_left { 0.0 } else { (known - most).next_down().max(0.0) };
            break;
        }
        effort.spend_step()?;
        if search.is_at_least(face, bound) {
            search.has_left = true;
        } else if !search.grow(face, effort) {
            let [_, upper] = search.shell.exact_height(face);
            let pairs = search.shell.pairs(face);
            let direction = Direction::Normal { pairs, negative: false };
            return Ok(less(direction, (least - upper).next_down()));
        }
    }
    let depth = wants_proof.then(|| Box::new(DepthSide::AtLeast(surface(&shell))));
    let compared = Compared { is_within: true, pairs: ArrayVec::new(), depth };
    Ok(ComparedDepth { compared, room })
}

#[cfg(test)]
mod tests;
