//! Separated, touching or overlapping: always decided, exactly.
//!
//! A *method* searches in floating point and proposes; the *filter* accepts a proposal only when a
//! derived error bound proves it; the *exact stage* decides the rest in exact arithmetic. So every
//! method gives the same verdicts, and differs only in cost and in the proof it finds.

pub(crate) mod difference;
pub(crate) mod exact;
pub mod exhaustive;
pub(crate) mod filter;
mod gjk;
mod hs_jump;
pub(crate) mod line;
mod linear_program;
pub(crate) mod portal;
mod spherical_polygon;
mod view;

use arrayvec::ArrayVec;

use self::difference::Difference;
use self::filter::Gap;
pub use self::linear_program::WorkingSet;
use super::Vec3;
use super::certificate::{Direction, StaticProof, Verdict};
use super::effort::{Effort, Stopped};
use super::number::scaled::rounded_direction;
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
pub const METHODS: &[Method] =
    &[hs_jump::METHOD, linear_program::METHOD, gjk::METHOD, exhaustive::METHOD];

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
///
/// A witness that still holds answers at once. Then the method proposes, and what it proposes is
/// proven by an error bound or decided in exact arithmetic.
pub fn decide(
    pair: &Pair<'_>,
    method: &Method,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    effort.cost.queries += 1;
    if let Some(proof) = recall(pair, witness, effort) {
        effort.cost.witness_hits += 1;
        return Ok(Decision { proof });
    }
    let proposal = (method.propose)(pair, witness, effort)?;
    if let Some(proof) = certify(pair, &proposal, witness, effort) {
        return Ok(Decision { proof });
    }
    effort.cost.exact_stages += 1;
    let mut m = Difference::new(pair);
    let proof = match accept_exactly(&mut m, pair, &proposal, effort) {
        Some(proof) => proof,
        None => exact::decide_exactly(&mut m, effort)?,
    };
    remember(&mut m, &proof, witness, effort);
    Ok(Decision { proof })
}

/// What the witness alone proves.
#[inline]
fn recall(pair: &Pair<'_>, witness: &mut Witness, effort: &mut Effort<'_>) -> Option<StaticProof> {
    if let Some(four) = witness.pairs.first_chunk::<4>()
        && filter::certainly_encloses(pair, four)
    {
        return Some(StaticProof::Overlapping { pairs: four.iter().copied().collect() });
    }
    let direction = witness.direction?;
    let gap = filter::certified_gap(pair, &direction, witness.pairs.first().copied(), effort)?;
    separated_by(&gap, witness)
}

fn separated_by(gap: &Gap, witness: &mut Witness) -> Option<StaticProof> {
    if gap.lower > 0.0 {
        witness.direction = Some(gap.direction);
        witness.pairs.clear();
        witness.pairs.push(gap.pair);
        return Some(StaticProof::Separated { direction: Direction::Vector(gap.direction) });
    }
    None
}

/// What the error bounds prove of a proposal.
fn certify(
    pair: &Pair<'_>,
    proposal: &Proposal,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<StaticProof> {
    match proposal {
        Proposal::Separating(direction) => {
            let hint = witness.pairs.first().copied();
            separated_by(&filter::certified_gap(pair, direction, hint, effort)?, witness)
        }
        Proposal::Holding(pairs) => {
            let four =
                subsets_of_four(pairs).find(|four| filter::certainly_encloses(pair, four))?;
            witness.pairs = four.iter().copied().collect();
            Some(StaticProof::Overlapping { pairs: four.iter().copied().collect() })
        }
        Proposal::HandOver => None,
    }
}

/// Every four of at most six pairs.
fn subsets_of_four(pairs: &[VertexPair]) -> impl Iterator<Item = [VertexPair; 4]> + '_ {
    let count = pairs.len();
    (0..count).flat_map(move |a| {
        (a + 1..count).flat_map(move |b| {
            (b + 1..count).flat_map(move |c| {
                (c + 1..count).map(move |d| [pairs[a], pairs[b], pairs[c], pairs[d]])
            })
        })
    })
}

/// What exact arithmetic proves of a proposal.
fn accept_exactly(
    m: &mut Difference<'_>,
    pair: &Pair<'_>,
    proposal: &Proposal,
    effort: &mut Effort<'_>,
) -> Option<StaticProof> {
    match proposal {
        Proposal::Separating(direction) if direction.iter().all(|c| c.is_finite()) => {
            portal::separates(m, direction, effort)
                .then_some(StaticProof::Separated { direction: Direction::Vector(*direction) })
        }
        Proposal::Holding(pairs) => {
            let named = |k: &VertexPair| {
                k.i < pair.p.body.vertex_count() && k.j < pair.q.body.vertex_count()
            };
            if !pairs.iter().all(named) {
                return None;
            }
            let corners: ArrayVec<_, 6> = pairs.iter().map(|&k| m.corner(k)).collect();
            exact::holds_origin_strictly(&corners)
                .then(|| StaticProof::Overlapping { pairs: pairs.clone() })
        }
        Proposal::Separating(_) | Proposal::HandOver => None,
    }
}

/// Leaves in the witness what the proof shows.
fn remember(
    m: &mut Difference<'_>,
    proof: &StaticProof,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) {
    match proof {
        StaticProof::Separated { direction } => {
            let exact = portal::exact_direction(m, direction);
            let (_, corner) = m.least_along(&exact, effort);
            witness.direction = Some(rounded_direction(&exact));
            witness.pairs.clear();
            witness.pairs.push(corner.pair);
        }
        StaticProof::Touching { direction, pairs } => {
            witness.direction = Some(rounded_direction(&portal::exact_direction(m, direction)));
            witness.pairs = pairs.iter().copied().collect();
        }
        StaticProof::Overlapping { pairs } => witness.pairs = pairs.clone(),
    }
}

#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod tests;
