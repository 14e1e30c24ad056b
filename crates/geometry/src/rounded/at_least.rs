//! Whether rounded polytopes overlap at least so deep, exactly.
//!
//! With R the exact sum of the radii, they do so by m if the polytopes come within `R - m` of each
//! other, or, where that is not positive, if these overlap by `m - R`.

use std::cmp::Ordering;

use super::RoundedPair;
use crate::claim::Reach;
use crate::distance::{Compared, compare_with_reach};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::penetration::{ComparedDepth, DepthBound, compare_decided};
use crate::separation::{self, decide};
use crate::witness::Witness;

/// Compares how deep bodies that overlap do so with a margin below 0, exactly: whether the depth is
/// at least minus that. What shows it is named where that is wanted.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use clearance_geometry::rounded::{RoundedPair, compare_depth};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let balls = RoundedPair { cores, radii: [4.0, 1.5] };
/// let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
/// let mut is_within = |margin: f64| {
///     compare_depth(&balls, margin, true, witness, effort).unwrap().compared.is_within
/// };
/// assert!(is_within(-0.5));
/// assert!(!is_within(-0.5_f64.next_up()));
/// ```
pub fn compare_depth(
    pair: &RoundedPair<'_>,
    margin: f64,
    wants_proof: bool,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<ComparedDepth, Stopped> {
    let left = Reach::of_rounded(pair.radii, margin);
    let exact = left.exact();
    if exact.sign() == Sign::Positive {
        let found = compare_with_reach(&pair.cores, left, witness, effort)?;
        let is_within = found.order != Ordering::Greater;
        if !wants_proof || found.pairs.len() <= 3 {
            let pairs = found.pairs.iter().copied().take(3).collect();
            let compared = Compared { is_within, pairs, depth: None };
            return Ok(ComparedDepth { compared, room: 0.0 });
        }
        // More pairs hold the origin: what shows that the polytopes meet is enough.
    }
    let length = if exact.sign() == Sign::Negative { -&exact } else { Dyadic::zero() };
    let proof = decide(&pair.cores, &separation::METHODS[0], witness, effort)?.proof;
    compare_decided(&pair.cores, &proof, &DepthBound::new(length), wants_proof, effort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{ConvexProof, MarginClaim, Verdict};
    use crate::judge::{RoundedBodies, judge_convex_margin};
    use crate::pair::Pair;
    use crate::pose::Pose;
    use crate::rounded::verdict;
    use crate::samples::{Random, cuboid};

    /// What is said of a margin from cold and from this witness, proven, and not proven of the
    /// opposite.
    fn is_within(pair: &RoundedPair<'_>, margin: f64, warm: &mut Witness) -> bool {
        let effort = &mut Effort::unlimited();
        let stands = ConvexProof::from(verdict(pair, &mut Witness::default(), effort).unwrap());
        let found = compare_depth(pair, margin, true, &mut Witness::default(), effort).unwrap();
        let again = compare_depth(pair, margin, false, warm, effort).unwrap();
        let Compared { is_within, ref pairs, ref depth } = found.compared;
        assert_eq!(again.compared.is_within, is_within, "{margin}");
        let bodies = RoundedBodies { cores: (&pair.cores).into(), radii: pair.radii };
        for said in [is_within, !is_within] {
            let claim = MarginClaim { margin, is_within: said, pairs, depth: depth.as_deref() };
            let judged = judge_convex_margin(bodies, &stands, &claim, effort);
            assert_eq!(judged.is_ok(), said == is_within, "{margin} {found:?} {judged:?}");
        }
        is_within
    }

    #[test]
    fn rounded_boxes_are_as_deep_as_their_sizes_say_in_whole_numbers() {
        let (mut random, mut warm) = (Random(43), Witness::default());
        let (mut counts, mut exactly, mut cores) = ([0; 2], 0, [0; 2]);
        for _ in 0..1_500 {
            let mut size = |count: u32| [0; 3].map(|_| i128::from(random.below(count)));
            let (p, q, away, mut radii) = (size(3), size(3), size(6), size(4));
            if radii[0] + radii[1] == 0 {
                radii[0] = 1;
            }
            let deep = i128::from(random.below(40)) + 1;
            // In eighths from here on.
            let overlaps: [i128; 3] = std::array::from_fn(|k| 8 * (p[k] + q[k] - away[k]));
            let left = 8 * (radii[0] + radii[1]) - deep;
            let least = *overlaps.iter().min().unwrap();
            let squared: i128 = overlaps.iter().map(|o| (-o).max(0).pow(2)).sum();
            let expected =
                if least >= 0 { least >= -left } else { left >= 0 && squared <= left * left };
            exactly += u32::from(least == -left || squared > 0 && squared == left * left);
            let solid = |[x, y, z]: [i128; 3]| cuboid(x as f64, y as f64, z as f64);
            let (p, q) = (solid(p), solid(q));
            let [x, y, z] = away.map(|c| c as f64);
            let at = Pose::translation(x, -y, z);
            let cores_of = Pair::new(&p, Pose::identity(), &q, at);
            let radii = [radii[0] as f64, radii[1] as f64];
            let pair = RoundedPair { cores: cores_of, radii };
            let margin = -(deep as f64) / 8.0;
            assert_eq!(is_within(&pair, margin, &mut warm), expected, "{overlaps:?} {margin}");
            counts[usize::from(expected)] += 1;
            cores[usize::from(least >= 0)] += 1;
        }
        assert!(counts.iter().chain(&cores).all(|count| *count > 100), "{counts:?} {cores:?}");
        assert!(exactly > 15, "{exactly}");
    }

    #[test]
    fn balls_that_overlap_by_the_margin_are_within_it_to_the_last_bit() {
        let (point, warm) = (cuboid(0.0, 0.0, 0.0), &mut Witness::default());
        let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
        for (radii, deep) in [([4.0, 1.5], 0.5), ([5.0, 1e-20], 1e-20), ([1e6, 1e6], 2e6 - 5.0)] {
            let pair = RoundedPair { cores, radii };
            assert!(is_within(&pair, -deep, warm), "{radii:?}");
            assert!(!is_within(&pair, -deep.next_up(), warm), "{radii:?}");
        }
        let same = Pair::new(&point, Pose::identity(), &point, Pose::identity());
        let pair = RoundedPair { cores: same, radii: [1.0, 2.0] };
        assert!(is_within(&pair, -3.0, warm) && !is_within(&pair, -3.0_f64.next_up(), warm));
        assert!(!is_within(&pair, -1e280, warm) && is_within(&pair, -f64::from_bits(1), warm));
        assert_eq!(
            verdict(&pair, warm, &mut Effort::unlimited()).unwrap().verdict,
            Verdict::Overlapping
        );
    }
}
