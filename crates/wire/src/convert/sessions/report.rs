//! Reports for the wire.

use std::time::Duration;

use prost::Message;

use super::packed_pairs::pack;
use super::pair::{Bodies, bracket, bytes_of_proofs, pair, verdict};
use super::plan::Plan;
use crate::convert::geometry::{matrix_rows, stopped_to_wire, vector_to_wire};
use crate::convert::options::cost_to_wire;
use clearance_geometry::effort::Stopped;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_scene::methods::AskedOf;
use clearance_scene::{BodyId, Event, EventKind, PairReport, RankedPair, Report};
use clearance_scene::{PlacedNumbers, Tally};

/// Memory that a report takes beside its session while it is put into messages, bytes, estimated:
/// each pair is a message, or numbers in arrays, and so is every entry of its proofs.
pub fn bytes_of_messages(pairs: &[PairReport], plan: &Plan, bodies: Bodies<'_>) -> usize {
    let each = if plan.packed { PACKED_BYTES } else { size_of::<api::PairReport>() };
    let proofs = |pair: &PairReport| {
        if plan.questions.certificates { bytes_of_proofs(pair, bodies) } else { 0 }
    };
    let of_pair = |pair: &PairReport| each + proofs(pair) + pair.polygon.len() * CORNER_BYTES;
    pairs.iter().map(of_pair).sum()
}

/// The first pairs of a report, as far as their proofs may fit into so many bytes.
pub fn fitting<'r>(
    report: &'r Report,
    plan: &Plan,
    bodies: Bodies<'_>,
    bytes_max: u64,
) -> &'r [PairReport] {
    if !plan.questions.certificates {
        return &report.pairs;
    }
    let mut bytes = 0;
    let fits = |pair: &&PairReport| {
        bytes += pair.proof_bytes_min([pair.p, pair.q].map(bodies.parts)) as u64;
        bytes <= bytes_max
    };
    &report.pairs[..report.pairs.iter().take_while(fits).count()]
}

/// What a pair takes in packed arrays, of which each may have room for twice as many.
const PACKED_BYTES: usize = 512;

/// A corner of a contact polygon.
const CORNER_BYTES: usize = size_of::<api::Vector3>();

/// Memory of a report as it is sent, bytes, estimated: on the wire a verdict is two bytes, and the
/// message about its pair some hundred here.
pub fn bytes_of_message(wire: &api::FrameReport) -> u64 {
    let pairs = wire.pairs.len() * size_of::<api::PairReport>();
    let placed = wire.placed_parts.len() * size_of::<api::PlacedPart>();
    let ranked = wire.ranked_pairs.len() * size_of::<api::RankedPair>();
    let events = wire.events.len() * size_of::<api::ContactEvent>();
    let lists = pairs + placed + ranked + events;
    (lists + REPORT_FACTOR * wire.encoded_len()) as u64
}

/// What a report takes in memory for each byte that it takes on the wire, beside the messages of
/// its lists: a vector is a message with a byte or two for each of its numbers that is zero.
const REPORT_FACTOR: usize = 4;

/// All but its pairs. If the caller leaves meanwhile, there is less in it.
pub fn to_wire(
    report: &Report,
    plan: &Plan,
    link: &dyn Fn(BodyId) -> String,
    elapsed: Duration,
    until: &Until,
) -> Box<api::FrameReport> {
    let mut wire = Box::new(api::FrameReport {
        frame_id: report.frame,
        previous_frame_id: report.previous,
        skipped_frames: report.frames_skipped,
        omitted_pairs: report.pairs_omitted,
        counts: Some(counts(&report.tally)),
        cost: Some(cost(report, elapsed)),
        aliased_bodies: report.aliased.count,
        aliased_body_ids: report.aliased.first.iter().map(|id| id.0).collect(),
        ..Default::default()
    });
    if until.is_cancelled() {
        return wire;
    }
    if plan.events {
        wire.events = until.each(&report.events).map(|one| event(one, link)).collect();
    }
    wire.placed_parts = until.each(&report.moved).map(placed).collect();
    if report.tally.stopped > 0 || report.pairs.iter().any(|pair| pair.stopped.is_some()) {
        let past_deadline = until.is_over();
        let stopped = if past_deadline { Stopped::Deadline } else { Stopped::Steps };
        wire.set_stopped(stopped_to_wire(Some(stopped)));
    }
    wire
}

/// These pairs. If the caller leaves meanwhile, there are fewer.
pub fn add_pairs(
    wire: &mut api::FrameReport,
    pairs: &[PairReport],
    plan: &Plan,
    bodies: Bodies<'_>,
    until: &Until,
) {
    if plan.packed {
        wire.packed_pairs = Some(Box::new(pack(pairs, plan, bodies, until)));
    } else {
        wire.pairs = until.each(pairs).map(|one| pair(one, plan, bodies)).collect();
    }
}

/// Its ranking, and that no more than its first `told` pairs are told.
pub fn add_ranking(wire: &mut api::FrameReport, report: &Report, plan: &Plan, told: usize) {
    if plan.packed {
        wire.packed_ranking =
            (!report.ranking.is_empty()).then(|| Box::new(pack_ranking(&report.ranking)));
    } else {
        wire.ranked_pairs = report.ranking.iter().map(ranked).collect();
    }
    let left = report.pairs.len() - told;
    wire.cut |= left > 0;
    wire.omitted_pairs += left as u64;
}

/// That its pairs are not told, since there is no memory for them.
pub fn omit_pairs(wire: &mut api::FrameReport, report: &Report) {
    wire.cut |= !report.pairs.is_empty();
    wire.omitted_pairs += report.pairs.len() as u64;
    wire.omitted_ranked_pairs += report.ranking.len() as u64;
}

/// How many pairs stand how.
pub fn counts(tally: &Tally) -> api::VerdictCounts {
    api::VerdictCounts {
        separated: tally.separated,
        touching: tally.touching,
        overlapping: tally.overlapping,
        undecided: tally.stopped,
    }
}

fn cost(report: &Report, elapsed: Duration) -> api::FrameCost {
    let counters = &report.counters;
    let unseen = counters.pairs_skipped + counters.pairs_remembered;
    let of = |asked: AskedOf| {
        let cost = counters.cost_of_each.as_ref().map(|each| &each[asked as usize])?;
        Some(Box::new(api::Cost { elapsed: None, ..cost_to_wire(cost, Duration::ZERO) }))
    };
    api::FrameCost {
        sum: Some(cost_to_wire(&counters.cost, elapsed)),
        pairs_looked_at: counters.pairs_enabled - unseen,
        pairs_skipped: unseen,
        bodies_moved: counters.bodies_moved,
        verdicts: of(AskedOf::Verdict),
        distances: of(AskedOf::Distance),
        first_contacts: of(AskedOf::FirstContact),
        others: of(AskedOf::Other),
        along: of(AskedOf::Along),
    }
}

fn ranked(known: &RankedPair) -> api::RankedPair {
    let clearance = Some(bracket(known.clearance));
    api::RankedPair { a: known.p.0, b: known.q.0, clearance, unordered: known.unordered }
}

fn pack_ranking(pairs: &[RankedPair]) -> api::PackedRanking {
    api::PackedRanking {
        a: pairs.iter().map(|pair| pair.p.0).collect(),
        b: pairs.iter().map(|pair| pair.q.0).collect(),
        clearance_lower: pairs.iter().map(|pair| pair.clearance[0]).collect(),
        clearance_upper: pairs.iter().map(|pair| pair.clearance[1]).collect(),
        unordered: pairs.iter().map(|pair| u8::from(pair.unordered)).collect(),
    }
}

/// A contact that began or ended, or may have been.
pub fn event(known: &Event, link: &dyn Fn(BodyId) -> String) -> api::ContactEvent {
    let kind = match known.kind {
        EventKind::Began => api::ContactEventKind::Began,
        EventKind::Ended => api::ContactEventKind::Ended,
        EventKind::Undecided => api::ContactEventKind::Undecided,
    };
    api::ContactEvent {
        kind: kind.into(),
        a: known.p.0,
        b: known.q.0,
        a_part: known.parts.map(|parts| parts.p),
        b_part: known.parts.map(|parts| parts.q),
        time: Some(bracket(known.bracket)),
        unordered: known.unordered,
        verdict: verdict(known.verdict),
        point: known.impact.map(|impact| vector_to_wire(&impact.point)),
        normal: known.impact.and_then(|impact| impact.normal).map(|n| vector_to_wire(&n)),
        a_link: link(known.p),
        b_link: link(known.q),
    }
}

fn placed(known: &PlacedNumbers) -> api::PlacedPart {
    let translation = known.pose.translation;
    let numbers = matrix_rows(&known.pose.rotation).into_iter().chain(translation.iter().copied());
    api::PlacedPart { body_id: known.body.0, part: known.part, numbers: numbers.collect() }
}
