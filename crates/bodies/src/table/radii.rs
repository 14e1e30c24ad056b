//! What is said of rounded bodies by the distance of the polytopes that are rounded, and by the
//! exact sum of the radii.

use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;

/// A margin, and whether what is found has to be proven.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedMargin {
    /// Metres; below 0 it is a depth.
    pub(super) margin: f64,
    /// Whether a certificate is wanted.
    pub(super) is_certified: bool,
}

/// Whether bodies that stand so are within a margin.
pub(super) fn within(
    pair: &RoundedPair<'_>,
    verdict: Verdict,
    asked: AskedMargin,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    let AskedMargin { margin, is_certified } = asked;
    match (verdict, margin < 0.0) {
        (Verdict::Separated, false) => rounded::compare(pair, margin, witness, effort),
        (Verdict::Touching | Verdict::Overlapping, false) => Ok(Compared::bare(true)),
        (Verdict::Separated | Verdict::Touching, true) => Ok(Compared::bare(false)),
        (Verdict::Overlapping, true) => {
            let found = rounded::compare_depth(pair, margin, is_certified, witness, effort)?;
            Ok(found.compared)
        }
    }
}
