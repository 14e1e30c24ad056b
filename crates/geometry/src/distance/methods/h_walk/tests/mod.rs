//! H-Walk and its predecessors: right on every kind of body from any start, and as quick as said.

mod findings;
mod polygons;
mod truth;

use super::*;
use crate::polytope::Polytope;
use crate::pose::Pose;

/// What a walk from this start finds.
fn walked(
    pair: &Pair<'_>,
    start: StartLayer,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> FoundSimplex {
    search(&BoundedView::new(pair), pair, start, witness, effort)
}

/// Q in a pose beside P at the origin.
fn beside<'a>(p: &'a Polytope, q: &'a Polytope, pose: Pose) -> Pair<'a> {
    Pair::new(p, Pose::identity(), q, pose)
}
