//! What is said of rounded bodies by the distance of the polytopes that are rounded, and by the
//! exact sum of the radii.

use arrayvec::ArrayVec;

use crate::kind::Kind;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;

/// What is not answered, in words.
pub(super) const BESIDE_POLYHEDRA: &str = "rounded polytopes beside polyhedra";

/// What is not answered yet, in words.
pub(super) const ROUND: &str = "this question about rounded polytopes";

/// Whether radii decide what is said of two bodies of these kinds: its proof is then one of rounded
/// bodies.
pub fn is_by_radii(kinds: [Kind; 2]) -> bool {
    kinds.contains(&Kind::Rounded)
}

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
