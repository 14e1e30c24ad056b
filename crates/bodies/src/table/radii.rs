//! What is said of rounded bodies by the distance of the polytopes that are rounded, and by the
//! exact sum of the radii.

use arrayvec::ArrayVec;

use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;

/// What is not answered yet, in words.
pub(super) const ROUND: &str = "this question about rounded polytopes";

/// Whether bodies that stand so are within a margin.
pub(super) fn within(
    pair: &RoundedPair<'_>,
    verdict: Verdict,
    margin: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    if verdict != Verdict::Separated {
        return Ok(Compared { is_within: true, pairs: ArrayVec::new() });
    }
    rounded::compare(pair, margin, witness, effort)
}
