//! A way to find the range of contact along a direction, and the row that names it.

use crate::Vec3;
use crate::claim::{RangeProof, Span};
use crate::effort::{Effort, Stopped};
use crate::pair::Pair;
use crate::polytope::Tables;
use crate::witness::Witness;

/// One file and one row of [`super::METHODS`] each. What a method finds it proves, or it hands over
/// to exact arithmetic; so methods differ in cost, never in the answer.
#[derive(Debug)]
pub struct RangeMethod {
    /// Its name in the tables.
    pub name: &'static str,
    /// Who described it, and where.
    pub source: &'static str,
    /// What its findings amount to.
    pub proves: &'static str,
    /// What a query costs.
    pub cost: &'static str,
    /// What it has built of a body that it is first asked about.
    pub tables: Tables,
    /// The search, for a direction and whether the bodies are in contact now.
    pub(super) span: FindSpan,
}

/// Finds and proves the range of contact, or that there is none at `t >= 0`; no answer hands over.
pub(super) type FindSpan = fn(
    &Pair<'_>,
    &Vec3,
    bool,
    &mut Witness,
    &mut Effort<'_>,
) -> Result<Option<ProvenSpan>, Stopped>;

/// The range of contact, if there is one, and what proves it.
pub(super) type ProvenSpan = (Option<Span>, RangeProof);
