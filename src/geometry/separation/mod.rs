//! Separated, touching or overlapping: always decided, exactly.
//!
//! A *method* searches in floating point and proposes; the *filter* accepts a proposal only when a
//! derived error bound proves it; the *exact stage* decides the rest in exact arithmetic. So every
//! method gives the same verdicts, and differs only in cost and in the proof it finds.

pub mod exhaustive;
mod gjk;
mod hs_jump;
mod spherical_polygon;
mod view;

use arrayvec::ArrayVec;

use super::Vec3;
use super::certificate::{StaticProof, Verdict};
use super::effort::{Effort, Stopped};
use super::pair::{Pair, VertexPair};
use super::witness::Witness;

/// What a search believes. Never a verdict: the filter or the exact stage has to agree.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// This world direction separates.
    Separating(Vec3),
    /// The differences of these pairs hold the origin in their interior.
    Holding(ArrayVec<VertexPair, 6>),
    /// Undecided, or a body that the method's paper excludes.
    HandOver,
}

/// A way to search; one file and one row of [`METHODS`] each.
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
    /// The search.
    pub propose: fn(&Pair<'_>, &mut Witness, &mut Effort<'_>) -> Result<Proposal, Stopped>,
}

/// Every method by name; the first is the default.
pub const METHODS: &[Method] = &[hs_jump::METHOD, gjk::METHOD, exhaustive::METHOD];

/// A verdict with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The proof, which says the verdict.
    pub proof: StaticProof,
}

impl Decision {
    /// Separated, touching or overlapping.
    pub fn verdict(&self) -> Verdict {
        self.proof.verdict()
    }
}

/// Decides how the pair stands, searching with `method`.
pub fn decide(
    pair: &Pair<'_>,
    method: &Method,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    let _ = (pair, method, witness, effort);
    todo!("decide")
}
