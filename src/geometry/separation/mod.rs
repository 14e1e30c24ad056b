//! Separated, touching or overlapping: always decided, exactly.
//!
//! A *method* searches in floating point and proposes; the *filter* accepts a proposal only when a
//! derived error bound proves it; the *exact stage* decides the rest in exact arithmetic. So every
//! method gives the same verdicts, and differs only in cost and in the proof it finds.

mod bounding;
pub(crate) mod exact;
pub(crate) mod filter;
pub(crate) mod line;
pub(crate) mod methods;
pub(crate) mod portal;

use arrayvec::ArrayVec;

pub use self::filter::Evidence;
use self::methods::Propose;
pub use self::methods::linear_program::WorkingSet;
pub use self::methods::{METHODS, Method, Proposal, exhaustive};
use super::Vec3;
use super::difference::exact::Difference;
use super::difference::layout::Layout;
use super::difference::rounded::{Ends, View};
use super::difference::{centre_to_centre, offset};
use super::effort::{Effort, Stopped};
use super::number::scaled::rounded_direction;
use super::pair::{Pair, VertexPair};
use super::support::looks_at_all;
use super::witness::Witness;
use crate::geometry::claim::{Direction, StaticProof, Verdict};

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
/// Balls around the bodies that are separated answer at once, and so does a witness that still
/// holds. Then the method proposes, and what it proposes is proven by an error bound or decided in
/// exact arithmetic.
///
/// ```
/// # use clearance::geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance::geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance::geometry::claim::Verdict;
/// use clearance::geometry::separation::{METHODS, decide};
///
/// for (x, verdict) in [
///     (1.0_f64.next_up(), Verdict::Separated),
///     (1.0, Verdict::Touching),
///     (1.0_f64.next_down(), Verdict::Overlapping),
/// ] {
///     let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(x, 0.0, 0.0));
///     let decision = decide(&pair, &METHODS[0], &mut witness, &mut effort).unwrap();
///     assert_eq!(decision.verdict(), verdict);
/// }
/// ```
pub fn decide(
    pair: &Pair<'_>,
    method: &Method,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    decide_with::<true>(pair, method.propose, witness, effort)
}

/// The default method without its error bounds: **not a decision**, since rounding alone may have
/// made it. It exists to measure what the bounds cost, in a build that cannot hold a server.
#[cfg(feature = "unproven")]
pub fn decide_unproven(
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    decide_with::<false>(pair, hs_jump::propose::<false>, witness, effort)
}

#[cfg(all(feature = "unproven", feature = "server"))]
compile_error!("a server proves its answers: the feature `unproven` is for benchmarks alone");

#[inline(always)]
fn decide_with<const PROVEN: bool>(
    pair: &Pair<'_>,
    propose: Propose,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    effort.cost.queries += 1;
    // The witness stays as it is: whatever it says, it says it to a later question.
    // The witness stays as it is: whatever it says, it says it to a later question.
    let between_origins = offset(pair);
    if bounding::separates_balls_at_origins::<PROVEN>(pair, &between_origins) {
        return Ok(separated_by(between_origins));
    }
    let between_centres = centre_to_centre(pair);
    if bounding::separates_balls::<PROVEN>(pair, &between_centres) {
        return Ok(separated_by(between_centres));
    }
    if let Some(evidence) = recall::<PROVEN>(pair, &between_centres, witness, effort) {
        effort.cost.witness_hits += 1;
        return Ok(proven(evidence, witness));
    }
    if !bounding::cores_overlap_along(pair, &between_centres, &between_centres) {
        if looks_at_all(pair.p.body) & looks_at_all(pair.q.body) {
            // A look at a few vertices takes no longer than one at what is around them, and sees
            // more.
            let s = View::tame_between(&between_centres);
            if let Some(evidence) = look::<PROVEN>(pair, &s, None, witness, effort) {
                return Ok(proven(evidence, witness));
            }
        } else if bounding::separates_hulls::<PROVEN>(pair, &between_centres, &between_centres) {
            return Ok(separated_by(between_centres));
        }
    }
    search::<PROVEN>(pair, between_centres, propose, witness, effort)
}

/// What is left when nothing that is at hand separates. Out of line, so that the others do not pay
/// for its registers.
#[inline(never)]
fn search<const PROVEN: bool>(
    pair: &Pair<'_>,
    between_centres: Vec3,
    propose: Propose,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    let layout = Layout::new(pair, between_centres);
    if layout.shape.is_some()
        && !bounding::cores_overlap_along(pair, &layout.towards, &between_centres)
        && bounding::separates_hulls::<PROVEN>(pair, &layout.towards, &between_centres)
    {
        // It took longer to find than it takes to try again.
        witness.direction = Some(layout.towards);
        witness.pairs.clear();
        return Ok(separated_by(layout.towards));
    }
    // Looked at where it is: see `separated_by`.
    match &propose(pair, &layout, witness, effort) {
        Ok(Proposal::Proven(evidence)) => Ok(proven(*evidence, witness)),
        Ok(proposal) => decide_proposed(pair, proposal, witness, effort),
        Err(stopped) => Err(*stopped),
    }
}

#[inline(always)]
fn separated_by(s: Vec3) -> Decision {
    // By its components: copied as a block into an enum it goes through memory in pieces that
    // overlap, and waits there for ten nanoseconds.
    let direction = Direction::Vector(Vec3::new(s.x, s.y, s.z));
    Decision { proof: StaticProof::Separated { direction } }
}

/// The decision that the filter vouches for.
#[inline(always)]
fn proven(evidence: Evidence, witness: &Witness) -> Decision {
    if evidence.verdict() == Verdict::Separated
        && let Some(direction) = witness.direction
    {
        return separated_by(direction);
    }
    // One by one, for the same reason.
    let mut pairs = ArrayVec::new();
    if let Some(&[a, b, c, d]) = witness.pairs.first_chunk::<4>() {
        pairs.push(a);
        pairs.push(b);
        pairs.push(c);
        pairs.push(d);
    }
    Decision { proof: StaticProof::Overlapping { pairs } }
}

/// What the witness alone proves. A direction that does not hold any more is forgotten, so that the
/// search does not begin by trying it again.
#[inline(always)]
fn recall<const PROVEN: bool>(
    pair: &Pair<'_>,
    between_centres: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<Evidence> {
    if let Some(four) = witness.pairs.first_chunk::<4>() {
        // With the direction, a search that has to go on begins near where it ended.
        return filter::still_holds(pair, four);
    }
    let s = View::tame(&witness.direction?);
    let evidence = s.and_then(|s| {
        if bounding::cores_overlap_along(pair, &s, between_centres) {
            return None;
        }
        look::<PROVEN>(pair, &s, witness.pairs.first().copied(), witness, effort)
    });
    if evidence.is_none() {
        witness.direction = None;
    }
    evidence
}

/// Whether s, a tame direction, separates, as its supporting vertices show.
#[inline(always)]
fn look<const PROVEN: bool>(
    pair: &Pair<'_>,
    s: &Vec3,
    hint: Option<VertexPair>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<Evidence> {
    let ends = Ends::new(pair, s, hint);
    if ends.value() <= 0.0 {
        return None;
    }
    filter::separates::<PROVEN>(pair, &ends.climbed(pair, effort), witness)
}

/// What the search could not prove itself.
#[cold]
fn decide_proposed(
    pair: &Pair<'_>,
    proposal: &Proposal,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Decision, Stopped> {
    if let Some(proof) = certify(pair, proposal, witness, effort) {
        return Ok(Decision { proof });
    }
    effort.cost.exact_stages += 1;
    let mut m = Difference::new(pair);
    let proof = match accept_exactly(&mut m, pair, proposal, effort) {
        Some(proof) => proof,
        None => exact::decide_exactly(&mut m, effort)?,
    };
    remember(&mut m, &proof, witness, effort);
    Ok(Decision { proof })
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
            let gap = filter::certified_gap(pair, direction, hint, effort)?;
            (gap.lower > 0.0).then(|| {
                witness.direction = Some(gap.direction);
                witness.pairs.clear();
                witness.pairs.push(gap.pair);
                StaticProof::Separated { direction: Direction::Vector(gap.direction) }
            })
        }
        Proposal::Holding(pairs) => {
            let four =
                subsets_of_four(pairs).find(|four| filter::certainly_encloses(pair, four))?;
            witness.pairs = four.iter().copied().collect();
            Some(StaticProof::Overlapping { pairs: four.iter().copied().collect() })
        }
        Proposal::Proven(evidence) => Some(proven(*evidence, witness).proof),
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
        Proposal::Separating(_) | Proposal::Proven(_) | Proposal::HandOver => None,
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
