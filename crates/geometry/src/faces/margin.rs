//! Whether two bodies whose surfaces share no point are within a margin, exactly.

use super::bound::least_gap;
use super::{OuterPair, Surfaces, names};
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::distance::{self, Compared};
use crate::effort::{Effort, Stopped};
use crate::pair::Pair;
use crate::polyhedron::groups::FaceGroups;
use crate::rounded::{self, RoundedPair};
use crate::witness::Witness;

/// Compares the distance with a margin: radii and margin are summed exactly. The pairs show that
/// the bodies are within it, if they are; those of P are of one face of it, and so are those of Q.
/// That they are beyond it, a cover shows ([`super::prove_clear`]). A step is a pair of groups.
pub fn compare(
    surfaces: &Surfaces<'_>,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    effort.one_question(|effort| {
        let mut groups = surfaces.groups();
        let mut open = vec![groups.each_ref().map(FaceGroups::root)];
        while let Some(nodes) = open.pop() {
            effort.spend_step()?;
            if least_gap(&groups, nodes, surfaces.radii, Some(margin), effort)?.gap > margin {
                continue;
            }
            if let Some((_, [first, second])) = halved(&groups, nodes) {
                open.extend([second, first]);
                continue;
            }
            OuterPair::prepare(&mut groups, nodes);
            let outer = OuterPair::of(&groups, nodes).ok_or(Stopped::Unresolved)?;
            let found = compare_hulls(&outer.pair, surfaces.radii, margin, effort)?;
            if found.is_within {
                let pairs = names(&groups, &outer.pair, &found.pairs);
                return Ok(Compared { pairs, ..found });
            }
        }
        Ok(Compared::bare(false))
    })
}

/// Of two convex bodies.
pub(super) fn compare_hulls(
    pair: &Pair<'_>,
    radii: [f64; 2],
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    let witness = &mut Witness::default();
    if radii.iter().all(|radius| *radius <= 0.0) {
        return distance::compare(pair, margin, witness, effort);
    }
    rounded::compare(&RoundedPair { cores: *pair, radii }, margin, witness, effort)
}
