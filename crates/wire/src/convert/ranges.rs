//! Ranges along a direction for the wire.

use super::certificate::{proof_to_wire, range_to_wire};
use super::geometry::verdict_to_wire;
use clearance_geometry::claim::Span;
use clearance_geometry::penetration::Range;
use clearance_proto as api;

/// Where a range begins and ends; none for a range that is empty.
pub fn span_to_wire(span: Option<Span>) -> [Option<api::Bracket>; 2] {
    let bracket = |[lower, upper]: [f64; 2]| api::Bracket { lower, upper };
    [span.map(|span| bracket(span.enter)), span.map(|span| bracket(span.exit))]
}

/// A range with its proofs, if these are wanted; without the cost.
pub fn answer_to_wire(range: &Range, with_proofs: bool) -> api::MeasureDistanceAlongResponse {
    let [enter, exit] = span_to_wire(range.span);
    let mut answer = api::MeasureDistanceAlongResponse { enter, exit, ..Default::default() };
    answer.set_verdict(verdict_to_wire(range.decision.verdict()));
    if with_proofs {
        answer.certificate = Some(proof_to_wire(&range.decision.proof));
        answer.range_certificate = range.proof.as_ref().map(range_to_wire);
    }
    answer
}
