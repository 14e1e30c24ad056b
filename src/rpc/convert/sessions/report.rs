//! Reports for the wire.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::plan::Plan;
use crate::geometry::claim::Verdict;
use crate::geometry::effort::Stopped;
use crate::geometry::penetration::Range;
use crate::rpc::api;
use crate::rpc::convert::certificate::{
    depth_to_wire, link_to_wire, proof_to_wire, proof_with_margin_to_wire,
};
use crate::rpc::convert::geometry::{
    direction_to_wire, matrix_rows, outcome_to_wire, pairs_to_wire, stopped_to_wire,
    vector_to_wire, verdict_to_wire,
};
use crate::rpc::convert::options::cost_to_wire;
use crate::rpc::convert::ranges::{answer_to_wire, span_to_wire};
use crate::scene::methods::AskedOf;
use crate::scene::report::{
    PairContact, PairDepth, PairDistance, PairRange, PartChain, PartGap, PartPair, PartProof,
    PartReach, PartRow, PlacedNumbers, Tally,
};
use crate::scene::{Event, EventKind, PairReport, RankedPair, Report, Waiting};

/// `parts` tells how many parts a body has. If the caller leaves meanwhile, there is less in it.
pub fn to_wire(
    report: &Report,
    plan: &Plan,
    parts: &dyn Fn(u32) -> usize,
    elapsed: Duration,
    waiting: Waiting<'_>,
) -> api::FrameReport {
    let mut wire = api::FrameReport {
        frame_id: report.frame,
        previous_frame_id: report.previous,
        skipped_frames: report.frames_skipped,
        omitted_pairs: report.pairs_omitted,
        counts: Some(counts(&report.tally)),
        cost: Some(cost(report, elapsed)),
        ..Default::default()
    };
    if waiting.is_over() {
        return wire;
    }
    if plan.packed {
        wire.packed_pairs = Some(pack(&report.pairs));
        wire.packed_ranking = (!report.ranking.is_empty()).then(|| pack_ranking(&report.ranking));
    } else {
        wire.pairs = waiting.each(&report.pairs).map(|one| pair(one, plan, parts)).collect();
        wire.ranked_pairs = waiting.each(&report.ranking).map(ranked).collect();
    }
    if plan.events {
        wire.events = waiting.each(&report.events).map(event).collect();
    }
    wire.placed_parts = waiting.each(&report.moved).map(placed).collect();
    if report.tally.stopped > 0 || report.pairs.iter().any(|pair| pair.stopped.is_some()) {
        let past_deadline = waiting.stop.load(Ordering::Relaxed);
        let stopped = if past_deadline { Stopped::Deadline } else { Stopped::Steps };
        wire.set_stopped(stopped_to_wire(Some(stopped)));
    }
    wire
}

/// So many of the pairs in packed arrays, the first ones.
pub fn packed(report: &Report, count: usize) -> api::PackedPairs {
    pack(&report.pairs[..count])
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
        Some(api::Cost { elapsed: None, ..cost_to_wire(cost, Duration::ZERO) })
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

fn verdict(verdict: Option<Verdict>) -> i32 {
    verdict.map_or(api::Verdict::Unspecified, verdict_to_wire).into()
}

fn bracket([lower, upper]: [f64; 2]) -> api::Bracket {
    api::Bracket { lower, upper }
}

fn pair(known: &PairReport, plan: &Plan, parts: &dyn Fn(u32) -> usize) -> api::PairReport {
    let counts = [parts(known.p.0), parts(known.q.0)];
    let distance = known.distance.as_ref();
    let nearest = distance.map(|distance| distance.parts);
    let deepest = known.depth.as_ref().map(|deepest| deepest.parts);
    let deciding = deepest.or(known.deciding).or(nearest);
    let points = distance.filter(|_| plan.closest_points);
    let certificate =
        plan.questions.certificates.then(|| certificate(&known.proofs, counts)).flatten();
    let depth = known.depth.as_ref().map(|deepest| &deepest.depth);
    api::PairReport {
        a: known.p.0,
        b: known.q.0,
        a_part: deciding.map_or(0, |parts| parts.p),
        b_part: deciding.map_or(0, |parts| parts.q),
        verdict: verdict(known.verdict),
        within_margin: known.within_margin.filter(|_| known.margin > 0.0),
        distance: distance.map(|distance| bracket([distance.lower, distance.upper])),
        closest_a: points.map(|distance| vector_to_wire(&distance.closest_p)),
        closest_b: points.map(|distance| vector_to_wire(&distance.closest_q)),
        depth: depth.map(|depth| bracket([depth.lower, depth.upper])),
        depth_direction: depth.map(|depth| vector_to_wire(&depth.direction)),
        first_contact: known.first_contact.as_ref().map(|found| contact(found, plan, counts)),
        distance_certificate: distance
            .filter(|_| plan.questions.certificates)
            .map(|distance| distance_certificate(distance, certificate.clone(), counts)),
        depth_certificate: (known.depth.as_ref())
            .filter(|_| plan.questions.certificates)
            .map(|deepest| depth_certificate(deepest, counts)),
        certificate,
        status: None,
        stopped: stopped_to_wire(known.stopped).into(),
        along: known.along.as_ref().map(|found| range(found, plan)),
        normal: known.normal.as_ref().map(vector_to_wire),
        contact_polygon: known.polygon.iter().map(vector_to_wire).collect(),
        // Links are named afterwards, in scenes that have robots.
        a_link: String::new(),
        b_link: String::new(),
    }
}

fn range(known: &PairRange, plan: &Plan) -> api::PairRange {
    let [enter, exit] = span_to_wire(known.span);
    let of_parts = |(parts, range): &(PartPair, Range)| api::PartRange {
        a_part: parts.p,
        b_part: parts.q,
        answer: Some(answer_to_wire(range, true)),
    };
    let proven = known.of_parts.iter().filter(|_| plan.questions.certificates);
    api::PairRange {
        enter,
        exit,
        a_part: known.parts.map_or(0, |parts| parts.p),
        b_part: known.parts.map_or(0, |parts| parts.q),
        parts: proven.map(of_parts).collect(),
    }
}

fn distance_certificate(
    distance: &PairDistance,
    verdict: Option<api::StaticCertificate>,
    counts: [usize; 2],
) -> api::DistanceCertificate {
    if counts == [1, 1] {
        let pairs = pairs_to_wire(&distance.pairs);
        return api::DistanceCertificate { verdict, pairs, parts: Vec::new() };
    }
    let entry = |entry: &PartGap| {
        let [p_parts, q_parts] = row(entry.parts, counts);
        let direction = entry.direction.as_ref().map(direction_to_wire);
        api::PartDistanceProof { p_parts, q_parts, pairs: pairs_to_wire(&entry.pairs), direction }
    };
    let parts = distance.gaps.iter().map(entry).collect();
    api::DistanceCertificate { verdict, pairs: Vec::new(), parts }
}

fn depth_certificate(deepest: &PairDepth, counts: [usize; 2]) -> api::PenetrationCertificate {
    let of_parts = depth_to_wire(&deepest.depth);
    if counts == [1, 1] {
        return of_parts;
    }
    let [p_parts, q_parts] = row(deepest.parts.into(), counts);
    let entries = vec![api::PartProof { p_parts, q_parts, certificate: of_parts.verdict }];
    let entry = |entry: &PartReach| {
        let [p_parts, q_parts] = row(entry.parts, counts);
        let direction = Some(direction_to_wire(&entry.direction));
        api::PartDepthProof { p_parts, q_parts, direction }
    };
    api::PenetrationCertificate {
        verdict: Some(compound(entries)),
        parts: deepest.others.iter().map(entry).collect(),
        ..of_parts
    }
}

fn all_below(count: usize) -> Vec<u32> {
    (0..u32::try_from(count).unwrap_or(u32::MAX)).collect()
}

/// The part indices that an entry is about: one of P, and one of Q or all.
fn row(parts: PartRow, [_, count_q]: [usize; 2]) -> [Vec<u32>; 2] {
    [vec![parts.p], parts.q.map_or_else(|| all_below(count_q), |q| vec![q])]
}

/// The part indices that an entry is about: the two named, or all.
fn indices(parts: Option<PartPair>, counts: [usize; 2]) -> [Vec<u32>; 2] {
    match parts {
        Some(parts) => [vec![parts.p], vec![parts.q]],
        None => counts.map(all_below),
    }
}

fn certificate(proofs: &[PartProof], counts: [usize; 2]) -> Option<api::StaticCertificate> {
    if counts == [1, 1] {
        return proofs.first().map(part_certificate);
    }
    let entry = |entry: &PartProof| {
        let [p_parts, q_parts] = indices(entry.parts, counts);
        api::PartProof { p_parts, q_parts, certificate: Some(part_certificate(entry)) }
    };
    Some(compound(proofs.iter().map(entry).collect()))
}

fn compound(entries: Vec<api::PartProof>) -> api::StaticCertificate {
    let proof = api::static_certificate::Proof::Compound(api::CompoundProof { entries });
    api::StaticCertificate { proof: Some(proof) }
}

fn part_certificate(entry: &PartProof) -> api::StaticCertificate {
    proof_with_margin_to_wire(&entry.proof, &entry.margin_pairs)
}

fn contact(known: &PairContact, plan: &Plan, counts: [usize; 2]) -> api::FirstContact {
    api::FirstContact {
        outcome: outcome_to_wire(known.outcome).into(),
        t_free: known.t_free,
        t_contact: known.has_met().then_some(known.t_contact),
        certificate: plan.questions.certificates.then(|| motion(&known.chains, counts)),
        a_part: known.parts.map_or(0, |parts| parts.p),
        b_part: known.parts.map_or(0, |parts| parts.q),
        stopped: stopped_to_wire(known.stopped).into(),
    }
}

fn motion(chains: &[PartChain], counts: [usize; 2]) -> api::MotionCertificate {
    let certificate = |chain: &PartChain| api::MotionCertificate {
        initial: chain.initial.as_ref().map(proof_to_wire),
        chain: chain.links.iter().map(link_to_wire).collect(),
        contact_pairs: pairs_to_wire(&chain.pairs),
        ..Default::default()
    };
    if counts == [1, 1] {
        return chains.first().map(certificate).unwrap_or_default();
    }
    let entry = |chain: &PartChain| {
        let [p_parts, q_parts] = indices(chain.parts, counts);
        api::PartMotionProof { p_parts, q_parts, certificate: Some(certificate(chain)) }
    };
    api::MotionCertificate { parts: chains.iter().map(entry).collect(), ..Default::default() }
}

fn pack(pairs: &[PairReport]) -> api::PackedPairs {
    let mut packed = api::PackedPairs {
        a: pairs.iter().map(|pair| pair.p.0).collect(),
        b: pairs.iter().map(|pair| pair.q.0).collect(),
        verdicts: pairs.iter().map(|pair| verdict(pair.verdict) as u8).collect(),
        ..Default::default()
    };
    if pairs.iter().any(|pair| pair.distance.is_some()) {
        // A pair whose distance is not known is somewhere between 0 and infinity.
        let bounds = pairs.iter().map(|pair| {
            pair.distance.as_ref().map_or([0.0, f64::INFINITY], |found| [found.lower, found.upper])
        });
        (packed.distance_lower, packed.distance_upper) =
            bounds.map(|[lower, upper]| (lower, upper)).unzip();
    }
    packed
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
pub fn event(known: &Event) -> api::ContactEvent {
    let kind = match known.kind {
        EventKind::Began => api::ContactEventKind::Began,
        EventKind::Ended => api::ContactEventKind::Ended,
        EventKind::Undecided => api::ContactEventKind::Undecided,
    };
    api::ContactEvent {
        kind: kind.into(),
        a: known.p.0,
        b: known.q.0,
        a_part: known.parts.map_or(0, |parts| parts.p),
        b_part: known.parts.map_or(0, |parts| parts.q),
        time: Some(bracket(known.bracket)),
        unordered: known.unordered,
        verdict: verdict(known.verdict),
        point: known.impact.map(|impact| vector_to_wire(&impact.point)),
        normal: known.impact.and_then(|impact| impact.normal).map(|n| vector_to_wire(&n)),
        a_link: String::new(),
        b_link: String::new(),
    }
}

fn placed(known: &PlacedNumbers) -> api::PlacedPart {
    let translation = known.pose.translation;
    let numbers = matrix_rows(&known.pose.rotation).into_iter().chain(translation.iter().copied());
    api::PlacedPart { body_id: known.body.0, part: known.part, numbers: numbers.collect() }
}
