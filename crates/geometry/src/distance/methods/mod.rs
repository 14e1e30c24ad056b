//! The ways to search, one file or folder each: how a method searches, what it found, and the row
//! that names it.

mod exhaustive;
mod features;
pub(super) mod gjk;
pub mod h_walk;
mod mutual_normals;

use crate::difference::bounded::BoundedView;
use crate::distance::Stops;
use crate::distance::simplex::Simplex;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::witness::Witness;

/// A way to search; one file or folder and one row of [`METHODS`] each.
///
/// A method proposes the simplex of M that it believes nearest the origin. Error bounds or exact
/// arithmetic prove it, or go on from it; so methods differ in cost, never in the verdict.
#[derive(Debug)]
pub struct DistanceMethod {
    /// Its name on the wire and in the tables.
    pub name: &'static str,
    /// Who described it, and where.
    pub source: &'static str,
    /// What its proposals amount to.
    pub proves: &'static str,
    /// What a query costs.
    pub cost: &'static str,
    /// What it has built of a body that it is first asked about.
    pub tables: Tables,
    /// Who searches for the nearest point of M.
    pub(in crate::distance) proposer: Proposer,
}

/// Every method by name; the first is the default.
pub const METHODS: &[DistanceMethod] = &[
    gjk::METHOD,
    h_walk::METHOD,
    h_walk::FROM_LAYER_0,
    h_walk::FROM_LAYER_4,
    h_walk::FROM_LAYER_8,
    h_walk::FROM_LAYER_16,
    h_walk::FROM_INNERMOST,
    h_walk::SURFACE_WALK,
    h_walk::DOBKIN_KIRKPATRICK,
    mutual_normals::METHOD,
    exhaustive::METHOD,
];

/// Who proposes the simplex of M that is nearest to the origin.
#[derive(Clone, Copy, Debug)]
pub(in crate::distance) enum Proposer {
    /// [`gjk`], which is compiled into the query.
    Default,
    /// Another, which is called.
    By(Propose),
}

/// Searches the pair; the stops may end it early.
pub(in crate::distance) type Propose =
    fn(&BoundedView<'_>, &Pair<'_>, Stops, &mut Witness, &mut Effort<'_>) -> FoundSimplex;

/// Where a search ended.
#[derive(Debug)]
pub(in crate::distance) struct FoundSimplex {
    /// The simplex; nearest point included.
    pub(in crate::distance) simplex: Simplex,
    /// A pair that supports along the nearest point, or is close to one that does.
    pub(in crate::distance) latest: VertexPair,
    /// Why it ended.
    pub(in crate::distance) ending: Ending,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::distance) enum Ending {
    /// Nothing nearer is in sight.
    Nearest,
    /// The origin seems to be in M.
    HoldsOrigin,
    /// The stops are met.
    Enough,
    /// A body that the method's paper excludes, or a search that got lost: the default goes on.
    HandsOver,
    /// The budget ran out; the simplex may be empty.
    Stopped(Stopped),
}

impl FoundSimplex {
    /// Why the budget ended the search, if it did.
    pub(in crate::distance) fn stopped(&self) -> Option<Stopped> {
        match self.ending {
            Ending::Stopped(why) => Some(why),
            Ending::Nearest | Ending::HoldsOrigin | Ending::Enough | Ending::HandsOver => None,
        }
    }

    /// Nothing found: the default method has to search.
    pub(in crate::distance) fn hands_over() -> Self {
        let simplex = Simplex::default();
        Self { simplex, latest: VertexPair::default(), ending: Ending::HandsOver }
    }
}
