//! A method of measuring: how it searches, what it found, and the row that names it.

use super::Stops;
use super::simplex::Simplex;
use super::view::View;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::witness::Witness;

/// A way to search; one file or folder and one row of [`super::METHODS`] each.
///
/// A method proposes the simplex of M that it believes nearest the origin. Error bounds or exact
/// arithmetic prove it, or go on from it; so methods differ in cost, never in the verdict.
#[derive(Debug)]
pub struct Method {
    /// Its name on the wire and in the tables.
    pub name: &'static str,
    /// Who described it, and where.
    pub source: &'static str,
    /// What its proposals amount to.
    pub proves: &'static str,
    /// What a query costs.
    pub cost: &'static str,
    /// Who searches.
    pub(super) proposer: Proposer,
}

/// Who proposes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proposer {
    /// [`super::gjk`], which is compiled into the query.
    Default,
    /// Another, which is called.
    By(Propose),
}

/// Searches the pair; the stops may end it early.
pub(super) type Propose = fn(&View<'_>, &Pair<'_>, Stops, &mut Witness, &mut Effort<'_>) -> Found;

/// Where a search ended.
#[derive(Debug)]
pub(super) struct Found {
    /// The simplex; nearest point included.
    pub(super) simplex: Simplex,
    /// A pair that supports along the nearest point, or is close to one that does.
    pub(super) latest: VertexPair,
    /// Why it ended.
    pub(super) ending: Ending,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
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

impl Found {
    /// Why the budget ended the search, if it did.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        match self.ending {
            Ending::Stopped(why) => Some(why),
            Ending::Nearest | Ending::HoldsOrigin | Ending::Enough | Ending::HandsOver => None,
        }
    }

    /// Nothing found: the default method has to search.
    pub(super) fn hands_over() -> Self {
        let simplex = Simplex::default();
        Self { simplex, latest: VertexPair::default(), ending: Ending::HandsOver }
    }
}
