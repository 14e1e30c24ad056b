//! Brackets of which nobody knows the order.

/// Which of some brackets, in order of their upper ends, overlap another one.
pub(crate) fn unordered(brackets: &[[f64; 2]]) -> Vec<bool> {
    let mut found = vec![false; brackets.len()];
    let mut least_after = f64::INFINITY;
    for at in (0..brackets.len()).rev() {
        let [lower, upper] = brackets[at];
        // The last one of those before ends latest.
        let overlaps_before = at > 0 && lower <= brackets[at - 1][1];
        found[at] = overlaps_before || least_after <= upper;
        least_after = least_after.min(lower);
    }
    found
}
