//! The ways to search: one file or folder each, and one row each of [`METHODS`].

pub(crate) mod cd_dual;
pub mod exhaustive;
mod gjk;
pub(super) mod hs_jump;
pub(crate) mod linear_program;

use arrayvec::ArrayVec;

use super::filter::Evidence;
use crate::Vec3;
use crate::claim::Verdict;
use crate::difference::layout::Layout;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::witness::Witness;

/// What a search believes. Never a verdict: the filter or the exact stage has to agree.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// This world direction separates.
    Separating(Vec3),
    /// The differences of these pairs hold the origin in their interior.
    Holding(ArrayVec<VertexPair, 6>),
    /// Already proven by the filter, of this pair, from what the search had at hand. Evidence of
    /// another pair proves nothing, and the exact stage decides.
    Proven(Evidence),
    /// Undecided, or a body that the method's paper excludes.
    HandOver,
}

impl Proposal {
    /// The verdict that it amounts to; none when it is handed over.
    pub fn claim(&self) -> Option<Verdict> {
        match self {
            Self::Separating(_) => Some(Verdict::Separated),
            Self::Holding(_) => Some(Verdict::Overlapping),
            Self::Proven(evidence) => Some(evidence.verdict()),
            Self::HandOver => None,
        }
    }
}

/// How a method is called: for a pair, and how its bodies lie to each other, which everybody needs
/// and [`super::decide`] has.
pub(super) type Propose =
    fn(&Pair<'_>, &Layout, &mut Witness, &mut Effort<'_>) -> Result<Proposal, Stopped>;

/// A way to search; one file and one row of [`METHODS`] each.
#[derive(Debug)]
pub struct CollisionMethod {
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
    /// Whether it begins with the direction that the last frame left, even when that does not
    /// separate any more.
    pub(super) continues: bool,
    /// The search.
    pub(super) propose: Propose,
}

impl CollisionMethod {
    /// Whether its directions are counted as the text of HS-jump counts them.
    pub(super) fn counts_candidates(&self) -> bool {
        self.name == hs_jump::PLAIN.name
    }

    /// The search alone, for measurements: nothing is proven or decided.
    pub fn propose(
        &self,
        pair: &Pair<'_>,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Proposal, Stopped> {
        (self.propose)(pair, &Layout::of(pair), witness, effort)
    }
}

/// Every method by name; the first is the default.
pub const METHODS: &[CollisionMethod] = &[
    hs_jump::METHOD,
    hs_jump::PLAIN,
    linear_program::METHOD,
    gjk::METHOD,
    cd_dual::METHOD,
    exhaustive::METHOD,
];
