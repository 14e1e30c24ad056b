//! Which pairs are worth looking at: sweep and prune over boxes.
//!
//! Boxes are sorted along the axis in which they crowd least; one pass keeps the boxes still open
//! and reports those that also meet in the other two coordinates. What is left out is apart by a
//! gap between boxes, which is a proof.
//!
//! Cost: `O(n log n + k)` with `k` the number of pairs that meet along the chosen axis.

use super::bounds::Box3;
use super::pairs::PairKey;

/// More pairs than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// The pairs of boxes that may meet and that `is_enabled`, in order; at most `pairs_max`.
pub fn candidates(
    boxes: &[Box3],
    pairs_max: usize,
    is_enabled: impl Fn(PairKey) -> bool,
) -> Result<Vec<PairKey>, TooMany> {
    let axis = least_crowded_axis(boxes);
    let (second, third) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut order: Vec<u32> =
        (0..u32::try_from(boxes.len()).expect("bodies are limited")).collect();
    order.sort_unstable_by(|&a, &b| {
        boxes[a as usize].low[axis].total_cmp(&boxes[b as usize].low[axis]).then(a.cmp(&b))
    });

    let mut open: Vec<u32> = Vec::new();
    let mut found = Vec::new();
    for &entering in &order {
        let b = &boxes[entering as usize];
        // What ended before this box starts ended before every later one as well.
        open.retain(|&other| boxes[other as usize].high[axis] >= b.low[axis]);
        for &other in &open {
            let a = &boxes[other as usize];
            let may_meet = a.low[second] <= b.high[second]
                && b.low[second] <= a.high[second]
                && a.low[third] <= b.high[third]
                && b.low[third] <= a.high[third];
            let key = PairKey::new(entering, other);
            if may_meet && is_enabled(key) {
                if found.len() == pairs_max {
                    return Err(TooMany);
                }
                found.push(key);
            }
        }
        open.push(entering);
    }
    found.sort_unstable();
    Ok(found)
}

/// The axis along which the boxes' extents are smallest beside the room they share. A heuristic:
/// any axis is right.
fn least_crowded_axis(boxes: &[Box3]) -> usize {
    let crowding = |axis: usize| {
        let (mut low, mut high, mut extents) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for held in boxes {
            low = low.min(held.low[axis]);
            high = high.max(held.high[axis]);
            extents += held.high[axis] - held.low[axis];
        }
        extents / (high - low)
    };
    (0..3).min_by(|&a, &b| crowding(a).total_cmp(&crowding(b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of equally spread numbers in [0, 1), the same on every machine.
    fn spread(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((*state >> 40) as f64) / ((1_u64 << 24) as f64)
    }

    #[test]
    fn exactly_the_pairs_whose_boxes_meet_are_found() {
        let mut met = 0;
        for seed in 1..40 {
            let mut state = seed * 7919;
            let boxes: Vec<Box3> = (0..60)
                .map(|_| {
                    // A coarse grid, so that faces coincide often.
                    let low: [f64; 3] = std::array::from_fn(|_| (spread(&mut state) * 8.0).floor());
                    Box3 { low, high: low.map(|c| c + 1.0) }
                })
                .collect();
            let found = candidates(&boxes, usize::MAX, |key| key.p % 5 != 0).unwrap();
            let mut expected = Vec::new();
            for p in 0..60_u32 {
                for q in p + 1..60 {
                    if p % 5 != 0 && boxes[p as usize].gap(&boxes[q as usize]).is_none() {
                        expected.push(PairKey { p, q });
                    }
                }
            }
            met += expected.len();
            assert_eq!(found, expected, "seed {seed}");
        }
        assert!(met > 500, "the cases are too easy: {met}");
    }

    #[test]
    fn one_pair_beyond_the_limit_is_refused() {
        let boxes = [Box3 { low: [0.0; 3], high: [1.0; 3] }; 4];
        assert_eq!(candidates(&boxes, 6, |_| true).map(|found| found.len()), Ok(6));
        assert_eq!(candidates(&boxes, 5, |_| true), Err(TooMany));
    }
}
