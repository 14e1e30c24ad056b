//! Entries of certificates about compounds: which parts they are about, and where they stand.

use clearance_geometry::claim::Parts;
use clearance_geometry::judge::Refusal;
use clearance_wire::convert::compound::AskedParts;

/// Whether each body has one part.
pub(super) fn is_single([p, q]: &[AskedParts; 2]) -> bool {
    p.count() == 1 && q.count() == 1
}

/// The parts of two bodies of one part each.
pub(super) fn one_of_each() -> Parts {
    Parts { p: vec![0], q: vec![0] }
}

/// Where in the answer something is refused, and why.
pub(super) fn located(list: &str, refusal: &Refusal) -> String {
    let Refusal::EntryFails(at, why) = refusal else { return refusal.to_string() };
    format!("{list}[{at}]: {why}")
}
