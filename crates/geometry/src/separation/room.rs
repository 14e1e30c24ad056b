//! How much room a verdict has: how far the bodies may still move before it could be another one.
//!
//! A pair that is separated by a gap along a direction stays so while the supporting values of the
//! two bodies along it change by less than the gap. A pair that overlaps stays so while no
//! supporting value of `M = Q - P` falls by as much as the radius of a ball around the origin that
//! is inside. So whoever knows a bound of how far bodies have moved need not ask again before it
//! has reached the room. The verdicts are those of [`super::decide`].

use super::filter::{cores_overlap_along, room_along_hulls, room_of_ball};
use super::{CollisionMethod, Decision, aligned, decide, search};
use crate::Vec3;
use crate::claim::{Direction, StaticProof, Verdict};
use crate::difference::layout::centre_to_centre;
use crate::difference::probe::{CertifiedGap, Ends, certified_gap, tame};
use crate::effort::{Effort, Stopped};
use crate::pair::Pair;
use crate::witness::Witness;

/// A verdict, and how far it is from another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roomy {
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict is the same wherever the supporting values of the two bodies have changed by
    /// less than this, in all, along every direction of length one; metres. 0 if nothing is known.
    pub room: f64,
    /// The bodies are that far apart along the direction that the witness holds.
    pub is_of_witness: bool,
}

impl Roomy {
    /// A verdict with this room.
    pub fn new(verdict: Verdict, room: f64) -> Self {
        // NaN and infinity are no lengths.
        let room = if room.is_finite() && room > 0.0 { room } else { 0.0 };
        Self { verdict, room, is_of_witness: false }
    }
}

/// Decides as [`decide`] does, and says how much room the verdict has. For bodies of which it is
/// known already that balls around them meet.
pub fn decide_with_room(
    pair: &Pair<'_>,
    method: &CollisionMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Roomy, Stopped> {
    if method.continues {
        let decision = decide(pair, method, witness, effort)?;
        return Ok(with_room(pair, &decision, witness));
    }
    effort.cost.queries += 1;
    let between_centres = centre_to_centre(pair);
    if let Some(known) = recall(pair, &between_centres, witness, effort) {
        effort.cost.witness_hits += 1;
        return Ok(known);
    }
    if !cores_overlap_along(pair, &between_centres, &between_centres) {
        let room = room_along_hulls(pair, &between_centres, &between_centres);
        if room > 0.0 {
            return Ok(Roomy::new(Verdict::Separated, room));
        }
    }
    let decision = search(pair, between_centres, method, witness, effort)?;
    Ok(with_room(pair, &decision, witness))
}

/// What the witness alone proves; a direction that does not any more is forgotten.
fn recall(
    pair: &Pair<'_>,
    between_centres: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<Roomy> {
    if let Some(four) = witness.pairs.first_chunk::<4>() {
        let room = room_of_ball(pair, four)?;
        return Some(Roomy::new(Verdict::Overlapping, room));
    }
    let s = tame(&witness.direction?);
    let hint = witness.pairs.first().copied();
    let known = s.and_then(|s| {
        if cores_overlap_along(pair, &s, between_centres) {
            return None;
        }
        let ends = Ends::new(pair, &s, hint);
        if ends.value() <= 0.0 {
            return None;
        }
        let probe = ends.climbed(pair, effort);
        let lower = probe.certain_gap(pair).filter(|lower| *lower > 0.0)?;
        witness.direction = Some(s);
        witness.pairs.clear();
        witness.pairs.push(probe.pair());
        let gap = CertifiedGap { direction: s, lower, pair: probe.pair() };
        Some(Roomy { is_of_witness: true, ..Roomy::new(Verdict::Separated, gap.per_length()) })
    });
    if known.is_none() {
        witness.direction = None;
    }
    known
}

fn with_room(pair: &Pair<'_>, decision: &Decision, witness: &Witness) -> Roomy {
    Roomy::new(decision.verdict(), room_of(pair, decision, witness))
}

/// The room of a verdict that was decided, with what the witness remembers of it; metres.
pub fn room_of(pair: &Pair<'_>, decision: &Decision, witness: &Witness) -> f64 {
    let room = match &decision.proof {
        StaticProof::Separated { direction: Direction::Vector(s) } => {
            let hint = witness.pairs.first().copied();
            // What it costs is no part of the question.
            let gap = certified_gap(pair, s, hint, &mut Effort::unlimited());
            gap.map_or(0.0, |gap| gap.per_length())
        }
        StaticProof::Overlapping { pairs } => {
            let four = pairs.first_chunk::<4>();
            let ball = four.and_then(|four| room_of_ball(pair, four));
            ball.or_else(|| aligned::room(pair)).unwrap_or(0.0)
        }
        StaticProof::Separated { .. } | StaticProof::Touching { .. } => 0.0,
    };
    Roomy::new(decision.verdict(), room).room
}
