//! The oracle: every pair of features, one by one.
//!
//! Source: the definition. The nearest points of two polytopes lie in a vertex and a facet or in
//! two
//!         edges (or in smaller features, which these contain).
//! Proves: nothing; the simplex that it ends with is proven nearest, or gone on from.
//! Cost:   |V(P)| |F(Q)| + |F(P)| |V(Q)| + |E(P)| |E(Q)| simplices; larger bodies are handed over.

use arrayvec::ArrayVec;

use super::features::{FEATURE_PAIRS_MAX, Features};
use super::{DistanceMethod, Ending, FoundSimplex, Proposer};
use crate::difference::RoundedCorner;
use crate::difference::bounded::BoundedView;
use crate::distance::Stops;
use crate::distance::simplex::Simplex;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: DistanceMethod = DistanceMethod {
    name: "exhaustive",
    source: "the definition",
    proves: "nothing; the simplex that it ends with is proven nearest, or gone on from",
    cost: "a simplex for every vertex and facet and every two edges",
    tables: Tables::Nothing,
    proposer: Proposer::By(propose),
};

/// The nearest simplex so far.
struct ExhaustiveSearch<'a> {
    view: &'a BoundedView<'a>,
    best: Simplex,
}

impl ExhaustiveSearch<'_> {
    fn look_at<const N: usize>(&mut self, pairs: [VertexPair; N]) {
        let corners: ArrayVec<RoundedCorner, 3> = pairs
            .iter()
            .map(|&pair| RoundedCorner { pair, point: self.view.difference(pair) })
            .collect();
        let Some(simplex) = Simplex::of(&corners) else { return };
        if simplex.squared < self.best.squared || self.best.corners().is_empty() {
            self.best = simplex;
        }
    }
}

fn propose(
    view: &BoundedView<'_>,
    pair: &Pair<'_>,
    _stops: Stops,
    _witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> FoundSimplex {
    let (p, q) = (pair.p.body, pair.q.body);
    let (of_p, of_q) = (Features::of(p), Features::of(q));
    if of_p.pairs_with(&of_q) > FEATURE_PAIRS_MAX {
        return FoundSimplex::hands_over();
    }
    let mut search = ExhaustiveSearch { view, best: Simplex::default() };
    let ending = match visit_all(pair, [&of_p, &of_q], &mut search, effort) {
        Ok(()) => Ending::Nearest,
        Err(why) => Ending::Stopped(why),
    };
    let latest = search.best.corners().first().map_or(VertexPair::default(), |c| c.pair);
    FoundSimplex { simplex: search.best, latest, ending }
}

/// A step for each feature of P.
fn visit_all(
    pair: &Pair<'_>,
    [of_p, of_q]: [&Features; 2],
    search: &mut ExhaustiveSearch<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Stopped> {
    let (p_count, q_count) = (pair.p.body.vertex_count(), pair.q.body.vertex_count());
    let at = |i, j| VertexPair { i, j };
    for i in 0..p_count {
        effort.spend_step()?;
        (0..q_count).for_each(|j| search.look_at([at(i, j)]));
        of_q.edges.iter().for_each(|&[a, b]| search.look_at([at(i, a), at(i, b)]));
        for &[a, b, c] in &of_q.triangles {
            search.look_at([at(i, a), at(i, b), at(i, c)]);
        }
    }
    for &[a, b] in &of_p.edges {
        effort.spend_step()?;
        (0..q_count).for_each(|j| search.look_at([at(a, j), at(b, j)]));
        for &[c, d] in &of_q.edges {
            // The parallelogram, as two triangles.
            search.look_at([at(a, c), at(b, c), at(b, d)]);
            search.look_at([at(a, c), at(a, d), at(b, d)]);
        }
    }
    for &[a, b, c] in &of_p.triangles {
        effort.spend_step()?;
        (0..q_count).for_each(|j| search.look_at([at(a, j), at(b, j), at(c, j)]));
    }
    Ok(())
}
