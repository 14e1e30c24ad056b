//! Ranges along a direction for the wire.

use super::geometry::{stopped_to_wire, verdict_to_wire};
use super::proofs::along_certificate;
use clearance_bodies::table::along::MeasuredRange;
use clearance_geometry::claim::Span;
use clearance_proto as api;

/// Where a range begins and ends; none for a range that is empty.
pub fn span_to_wire(span: Option<Span>) -> [Option<api::Bracket>; 2] {
    let bracket = |[lower, upper]: [f64; 2]| api::Bracket { lower, upper };
    [span.map(|span| bracket(span.enter)), span.map(|span| bracket(span.exit))]
}

/// A range with its proofs, or why it has none, if these are wanted; without the cost.
pub fn answer_to_wire(
    range: &MeasuredRange,
    with_proofs: bool,
) -> api::MeasureDistanceAlongResponse {
    let [enter, exit] = span_to_wire(range.span());
    let mut answer = api::MeasureDistanceAlongResponse { enter, exit, ..Default::default() };
    answer.set_verdict(range.verdict().map(verdict_to_wire).unwrap_or_default());
    answer.set_stopped(stopped_to_wire(range.stopped()));
    if with_proofs {
        prove(&mut answer, range);
    }
    answer
}

fn prove(answer: &mut api::MeasureDistanceAlongResponse, range: &MeasuredRange) {
    let (proof, why) = along_certificate(range);
    (answer.certificate, answer.range_certificate) = (proof.verdict, proof.range);
    if let Some(why) = why {
        answer.uncertified = true;
        answer.set_uncertified_reason(why);
    }
}
