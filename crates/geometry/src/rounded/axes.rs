//! The polytopes of balls and capsules are points and segments: in most cases the rounding of how
//! far these are apart leaves nothing open.

use super::{RoundedPair, beyond, is_narrow};
use crate::claim::{RoundedProof, StaticProof, Verdict};
use crate::distance::segments::SegmentsApart;
use crate::distance::{Distance, towards};
use crate::separation::Decision;
use crate::witness::Witness;

/// How the bodies stand, where that is certain.
#[inline]
pub(super) fn verdict(
    apart: &SegmentsApart,
    pair: &RoundedPair<'_>,
    witness: &mut Witness,
) -> Option<RoundedProof> {
    let ([lower, upper], [least, most]) = (apart.bounds, pair.reach().bounds());
    let verdict = if lower > most {
        Verdict::Separated
    } else if upper < least {
        Verdict::Overlapping
    } else {
        return None;
    };
    remember(apart, witness);
    Some(RoundedProof { verdict, pairs: apart.pairs.iter().copied().collect() })
}

/// How far apart the polytopes are, where that says what is asked of the bodies: narrowly how far
/// apart or how deep they are.
#[inline]
pub(super) fn distance(
    apart: SegmentsApart,
    [least, most]: [f64; 2],
    witness: &mut Witness,
) -> Option<Distance> {
    let is_told = is_narrow(beyond(apart.bounds, [least, most]))
        || is_narrow(beyond([least, most], apart.bounds));
    if !is_told {
        return None;
    }
    remember(&apart, witness);
    let SegmentsApart { closest: [closest_p, closest_q], pairs, bounds: [lower, upper] } = apart;
    let decision = Decision { proof: StaticProof::Separated { direction: towards(&pairs) } };
    Some(Distance { decision, lower, upper, pairs, closest_p, closest_q, stopped: None })
}

/// What the next question about the two may begin with.
#[inline]
fn remember(apart: &SegmentsApart, witness: &mut Witness) {
    let [p, q] = apart.closest;
    witness.direction = Some(q - p);
    witness.pairs = apart.pairs.iter().copied().collect();
}
