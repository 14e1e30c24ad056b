//! Two polygons in one plane, or a point and a polygon: chains that hold the closest features,
//! refined from where those of the last question were (Guibas, Hsu, Zhang 1999, §3.1 Theorem 3,
//! §3.2 Lemma 4 and Theorem 5).
//!
//! A search doubles its way along a polygon until it has passed the closest feature (stage one),
//! and then halves the chain that it is in (stage two); on both polygons, each in its own stage.
//! It goes one way round from the start to the corner opposite, so there are four of them, a pair
//! of ways round each, and they take turns until one finds the closest pair. That takes
//! `O(log a + log b)` steps, a and b being the features between those that it starts from and those
//! closest, the shorter way round; no hierarchy is asked, for the corners of a polygon stand in a
//! list (the text: the hierarchy "offers one possibility").
//!
//! [`chain`] has the lemma. A point is a polygon without edges, and Theorem 3 the case of two
//! searches.

mod chain;
mod ring;
#[cfg(test)]
mod tests;

use arrayvec::ArrayVec;

use self::chain::{Chain, Refined, refine};
use self::ring::{Ring, closest, rings};
use super::{Ending, FoundSimplex, simplex_of};
use crate::difference::bounded::BoundedView;
use crate::effort::{Effort, Stopped};
use crate::hierarchy::Feature;
use crate::pair::{Pair, VertexPair};
use crate::witness::{Memory, Witness};

/// Searches two polygons, or a polygon and a point; none for other pairs.
pub(super) fn search(
    view: &BoundedView<'_>,
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<FoundSimplex> {
    let rings = rings(view, pair)?;
    let start = if let Memory::OfPolygons(features) = witness.memory {
        [0, 1].map(|k| rings[k].feature(features[k]))
    } else {
        [Feature::Vertex(0); 2]
    };
    let (features, ending) = match closest_features(&rings, start, effort) {
        Ok(Some(features)) => (features, Ending::Nearest),
        Ok(None) => (start, Ending::HoldsOrigin),
        Err(why) => (start, Ending::Stopped(why)),
    };
    effort.cost.witness_hits += u64::from(ending == Ending::Nearest && features == start);
    witness.memory = Memory::OfPolygons(features);
    let names = [0, 1].map(|k| rings[k].names(features[k]));
    let simplex = simplex_of(view, &names[0], &names[1]);
    let latest = simplex.corners().first().map_or(VertexPair::default(), |corner| corner.pair);
    Some(FoundSimplex { simplex, latest, ending })
}

/// The closest pair of features; none when the polygons meet, up to rounding.
fn closest_features(
    rings: &[Ring<'_>; 2],
    start: [Feature; 2],
    effort: &mut Effort<'_>,
) -> Result<Option<[Feature; 2]>, Stopped> {
    if let Some(found) = closest(rings, start) {
        return Ok(Some(found));
    }
    let mut searches: ArrayVec<[Chain; 2], 4> = ArrayVec::new();
    for ways in [[false, false], [false, true], [true, false], [true, true]] {
        if (0..2).any(|k| ways[k] && rings[k].len() == 1) {
            continue;
        }
        let chain = |k: usize| {
            let (Feature::Vertex(place) | Feature::Edge(place) | Feature::Face(place)) = start[k];
            Chain::to_antipode(&rings[k], place as usize, ways[k])
        };
        searches.push([chain(0), chain(1)]);
    }
    while !searches.is_empty() {
        let mut k = 0;
        while k < searches.len() {
            effort.spend_step()?;
            match refine(rings, &mut searches[k]) {
                Refined::Further => k += 1,
                Refined::Nothing => drop(searches.remove(k)),
                Refined::Found(features) => {
                    if let Some(found) = closest(rings, features) {
                        return Ok(Some(found));
                    }
                    searches.remove(k);
                }
            }
        }
    }
    Ok(None)
}
