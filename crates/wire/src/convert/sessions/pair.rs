//! What a report tells of a pair of bodies, with its proofs.

use super::plan::Plan;
use super::proofs::{depth_to_wire, motion_to_wire, proof_to_wire};
use crate::convert::certificate::with_margin_depth;
use crate::convert::geometry::{
    direction_to_wire, outcome_to_wire, pairs_to_wire, stopped_to_wire, vector_to_wire,
    verdict_to_wire,
};
use crate::convert::ranges::{answer_to_wire, span_to_wire};
use clearance_bodies::table::along::MeasuredRange;
use clearance_bodies::table::verdict::VerdictProof;
use clearance_geometry::claim::{DepthSide, Outcome, Surface, Verdict};
use clearance_proto as api;
use clearance_scene::{BodyId, PairReport};
use clearance_scene::{
    PairContact, PairDepth, PairDistance, PairRange, PartChain, PartGap, PartPair, PartProof,
    PartReach, PartRow, PartsProof,
};

/// What a report says of bodies beside what the scene found out.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// How many parts a body has.
    pub parts: &'a dyn Fn(BodyId) -> usize,
    /// The name of the link that a body is; empty: it is none.
    pub link: &'a dyn Fn(BodyId) -> String,
    /// Some may be links.
    pub has_links: bool,
}

/// The number of a verdict; 0: it is not known.
pub fn verdict(verdict: Option<Verdict>) -> i32 {
    verdict.map_or(api::Verdict::Unspecified, verdict_to_wire).into()
}

/// A bracket of times or lengths.
pub fn bracket([lower, upper]: [f64; 2]) -> api::Bracket {
    api::Bracket { lower, upper }
}

/// The parts that decide how a pair stands.
pub fn deciding(known: &PairReport) -> Option<PartPair> {
    let deepest = known.depth.as_ref().map(|deepest| deepest.parts);
    let nearest = known.distance.as_ref().map(|distance| distance.parts);
    deepest.or(known.deciding).or(nearest)
}

/// Whether a pair is within its margin; none: it has none, or that is not known.
pub fn within_margin(known: &PairReport) -> Option<bool> {
    known.within_margin.filter(|_| known.margin != 0.0)
}

/// All that is told of a pair.
pub fn pair(known: &PairReport, plan: &Plan, bodies: Bodies<'_>) -> api::PairReport {
    let counts = [known.p, known.q].map(bodies.parts);
    let [a_link, b_link] = [known.p, known.q].map(bodies.link);
    let distance = known.distance.as_ref();
    let deciding = deciding(known);
    let points = distance.filter(|_| plan.closest_points);
    let with_proofs = plan.questions.certificates && !known.is_beyond_proof;
    let certificate = with_proofs.then(|| certificate(known, counts)).flatten();
    let depth = known.depth.as_ref().map(|deepest| &deepest.depth);
    api::PairReport {
        a: known.p.0,
        b: known.q.0,
        a_part: deciding.map(|parts| parts.p),
        b_part: deciding.map(|parts| parts.q),
        verdict: verdict(known.verdict),
        within_margin: within_margin(known),
        distance: distance.map(|distance| bracket([distance.lower, distance.upper])),
        closest_a: points.map(|distance| vector_to_wire(&distance.closest_p)),
        closest_b: points.map(|distance| vector_to_wire(&distance.closest_q)),
        depth: depth.map(|depth| bracket([depth.lower, depth.upper])),
        depth_direction: depth.map(|depth| vector_to_wire(&depth.direction)),
        first_contact: (known.first_contact.as_ref())
            .map(|found| contact(known, found, with_proofs, counts)),
        distance_certificate: distance.filter(|_| with_proofs).and_then(|distance| {
            match known.has_curved_parts {
                true => curved_distance(known, distance, counts),
                false => distance_certificate(distance, certificate.clone(), counts),
            }
        }),
        depth_certificate: (known.depth.as_ref())
            .filter(|_| with_proofs)
            .and_then(|deepest| depth_certificate(deepest, counts)),
        certificate,
        status: None,
        stopped: stopped_to_wire(known.stopped).into(),
        along: known.along.as_ref().map(|found| range(found, plan)),
        normal: known.normal.as_ref().map(vector_to_wire),
        contact_polygon: known.polygon.iter().map(vector_to_wire).collect(),
        a_link,
        b_link,
        face_depth: known.face_depth.map(bracket),
    }
}

/// Memory that the proofs of a pair take as messages, bytes, estimated.
pub fn bytes_of_proofs(known: &PairReport, bodies: Bodies<'_>) -> usize {
    /// A piece of a heap, with what is before it.
    const PIECE: usize = 48;
    /// A direction is three numbers, or at most three pairs of vertices.
    const DIRECTION: usize = size_of::<api::Direction>() + PIECE;
    /// A proof of a verdict is a direction and pairs.
    const PROOF: usize = size_of::<api::StaticCertificate>() + DIRECTION + PIECE;
    let [count_p, count_q] = [known.p, known.q].map(bodies.parts);
    let names = |p: usize, q: usize| 2 * PIECE + size_of::<u32>() * (p + q);
    let of_pair = |parts: Option<PartPair>| match parts {
        Some(_) => names(1, 1),
        None => names(count_p, count_q),
    };
    let of_row = |row: PartRow| names(1, if row.q.is_some() { 1 } else { count_q });
    let of_surface = |surface: &Surface| {
        surface.corners.len() * size_of::<api::VertexPair>() + 12 * surface.triangles.len()
    };
    let of_depth = |depth: &DepthSide| match depth {
        DepthSide::Less(_) => DIRECTION,
        DepthSide::AtLeast(surface) => of_surface(surface) + 2 * PIECE,
    };
    let entry = |one: &PartProof| {
        let depth = one.margin_depth.as_deref().map_or(0, of_depth);
        let own = depth + bytes_of_curved(&one.proof);
        size_of::<api::PartProof>() + PROOF + of_pair(one.parts) + own
    };
    let verdict: usize = known.proofs.iter().map(entry).sum();
    // It is in the proof of the distance, too.
    let distance = known.distance.as_ref().map_or(0, |distance| {
        let gap = |gap: &PartGap| {
            size_of::<api::PartDistanceProof>() + DIRECTION + PIECE + of_row(gap.parts)
        };
        let own = distance.by_faces.as_ref().map_or(0, bytes_of_curved);
        let curved: usize = distance.curved.iter().map(entry).sum();
        verdict + own + curved + distance.gaps.iter().map(gap).sum::<usize>()
    });
    let depth = known.depth.as_ref().map_or(0, |deepest| {
        let reach =
            |one: &PartReach| size_of::<api::PartDepthProof>() + DIRECTION + of_row(one.parts);
        let surface = deepest.depth.surface.as_ref().map_or(0, of_surface);
        let own = bytes_of_curved(&deepest.depth.proof);
        let curved: usize = deepest.curved.iter().map(entry).sum();
        PROOF + own + curved + surface + deepest.others.iter().map(reach).sum::<usize>()
    });
    let along = known.along.as_ref().map_or(0, |along| {
        let each = size_of::<api::PartRange>() + PROOF + 2 * (DIRECTION + PIECE);
        let curved = along.of_parts.iter().filter_map(|(_, range)| range.curved());
        along.of_parts.len() * each + curved.map(message_bytes).sum::<usize>()
    });
    let way = known.first_contact.as_ref().map_or(0, |way| {
        let link = size_of::<api::ChainLink>() + DIRECTION;
        let chain = |one: &PartChain| {
            let initial = one.initial.as_ref().map_or(0, bytes_of_curved);
            let own = size_of::<api::PartMotionProof>() + PROOF + initial + of_pair(one.parts);
            own + link * one.links.len()
        };
        way.chains.iter().map(chain).sum()
    });
    verdict + distance + depth + along + way
}

/// What the polytopes in the proof of a curved body take in a message, bytes: each index there is
/// four bytes, and at least one where it is counted.
fn bytes_of_curved(proof: &PartsProof) -> usize {
    let PartsProof::Faces(stand) = proof else { return 0 };
    stand.proof.as_ref().map_or(0, message_bytes)
}

fn message_bytes(proof: &VerdictProof) -> usize {
    proof.curved().map_or(0, |curved| 4 * curved.message_bytes_min())
}

fn range(known: &PairRange, plan: &Plan) -> api::PairRange {
    let [enter, exit] = span_to_wire(known.span);
    let first = known.parts.filter(|_| known.span.is_some());
    let of_parts = |(parts, range): &(PartPair, MeasuredRange)| api::PartRange {
        a_part: parts.p,
        b_part: parts.q,
        answer: Some(answer_to_wire(range, true)),
    };
    let proven = known.of_parts.iter().filter(|_| plan.questions.certificates);
    api::PairRange {
        enter,
        exit,
        a_part: first.map(|parts| parts.p),
        b_part: first.map(|parts| parts.q),
        parts: proven.map(of_parts).collect(),
    }
}

fn distance_certificate(
    distance: &PairDistance,
    verdict: Option<api::StaticCertificate>,
    counts: [usize; 2],
) -> Option<api::DistanceCertificate> {
    if counts == [1, 1] {
        let verdict = match &distance.by_faces {
            Some(proof) => Some(proof_to_wire(proof, &[])?),
            None => verdict,
        };
        let pairs = pairs_to_wire(&distance.pairs);
        return Some(api::DistanceCertificate { verdict, pairs, parts: Vec::new() });
    }
    let entry = |entry: &PartGap| {
        let [p_parts, q_parts] = row(entry.parts, counts);
        let direction = entry.direction.as_ref().map(direction_to_wire);
        api::PartDistanceProof { p_parts, q_parts, pairs: pairs_to_wire(&entry.pairs), direction }
    };
    let parts = distance.gaps.iter().map(entry).collect();
    Some(api::DistanceCertificate { verdict, pairs: Vec::new(), parts })
}

/// The proof of the distance of bodies of several parts of which some are curved, if all of these
/// have one.
fn curved_distance(
    known: &PairReport,
    distance: &PairDistance,
    counts: [usize; 2],
) -> Option<api::DistanceCertificate> {
    if known.verdict != Some(Verdict::Separated) {
        return distance_certificate(distance, Some(certificate(known, counts)?), counts);
    }
    let is_other = |one: &&PartProof| distance.curved.iter().all(|its| its.parts != one.parts);
    let others = known.proofs.iter().filter(is_other);
    let all: Vec<&PartProof> = others.chain(&distance.curved).collect();
    let is_whole = all.len() == counts[0] * counts[1] && all.iter().all(|one| one.is_proven());
    let verdict = compound(all.into_iter().map(|one| part_proof(one, counts)).collect());
    is_whole.then(|| distance_certificate(distance, Some(verdict), counts)).flatten()
}

fn depth_certificate(
    deepest: &PairDepth,
    counts: [usize; 2],
) -> Option<api::PenetrationCertificate> {
    let of_parts = depth_to_wire(&deepest.depth)?;
    if counts == [1, 1] {
        return Some(of_parts);
    }
    let [p_parts, q_parts] = row(deepest.parts.into(), counts);
    let mut entries = vec![api::PartProof { p_parts, q_parts, certificate: of_parts.verdict }];
    if !deepest.curved.iter().all(PartProof::is_proven) {
        return None;
    }
    entries.extend(deepest.curved.iter().map(|one| part_proof(one, counts)));
    let entry = |entry: &PartReach| {
        let [p_parts, q_parts] = row(entry.parts, counts);
        let direction = Some(direction_to_wire(&entry.direction));
        api::PartDepthProof { p_parts, q_parts, direction }
    };
    Some(api::PenetrationCertificate {
        verdict: Some(compound(entries)),
        parts: deepest.others.iter().map(entry).collect(),
        ..of_parts
    })
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

/// Whether proofs of which some are of curved parts show all that is said: of bodies that do not
/// overlap there is one for each pair of parts. None is about depths.
fn are_whole(known: &PairReport, counts: [usize; 2]) -> bool {
    let proofs = &known.proofs;
    let is_one_enough = known.verdict == Some(Verdict::Overlapping);
    let needed = if is_one_enough { 1 } else { counts[0] * counts[1] };
    known.margin >= 0.0 && proofs.len() == needed && proofs.iter().all(PartProof::is_proven)
}

fn certificate(known: &PairReport, counts: [usize; 2]) -> Option<api::StaticCertificate> {
    let proofs = &known.proofs;
    if known.has_curved_parts && !are_whole(known, counts) {
        return None;
    }
    if counts == [1, 1] {
        return proofs.first().and_then(part_certificate);
    }
    Some(compound(proofs.iter().map(|one| part_proof(one, counts)).collect()))
}

fn part_proof(entry: &PartProof, counts: [usize; 2]) -> api::PartProof {
    let [p_parts, q_parts] = indices(entry.parts, counts);
    api::PartProof { p_parts, q_parts, certificate: part_certificate(entry) }
}

fn compound(entries: Vec<api::PartProof>) -> api::StaticCertificate {
    let proof = api::static_certificate::Proof::Compound(api::CompoundProof { entries });
    api::StaticCertificate { proof: Some(proof) }
}

fn part_certificate(entry: &PartProof) -> Option<api::StaticCertificate> {
    let proof = proof_to_wire(&entry.proof, &entry.margin_pairs);
    proof.map(|proof| with_margin_depth(proof, entry.margin_depth.as_deref()))
}

fn contact(
    pair: &PairReport,
    known: &PairContact,
    with_proofs: bool,
    counts: [usize; 2],
) -> api::FirstContact {
    let first = known.parts.filter(|_| known.has_met());
    // No claim speaks of how deep bodies get on their way.
    let with_proofs = with_proofs && pair.margin >= 0.0;
    api::FirstContact {
        outcome: outcome_to_wire(known.outcome).into(),
        t_free: known.t_free,
        t_contact: known.has_met().then_some(known.t_contact),
        certificate: with_proofs.then(|| motion(pair, known, counts)).flatten(),
        a_part: first.map(|parts| parts.p),
        b_part: first.map(|parts| parts.q),
        stopped: stopped_to_wire(known.stopped).into(),
    }
}

fn motion(
    pair: &PairReport,
    known: &PairContact,
    counts: [usize; 2],
) -> Option<api::MotionCertificate> {
    let chains = &known.chains;
    if counts == [1, 1] {
        // Where less is known than that they are free, there may be nothing to prove.
        let is_free = known.outcome == Outcome::NoContact;
        let nothing = || (!is_free).then(Default::default);
        return chains.first().map_or_else(nothing, motion_to_wire);
    }
    let entry = |chain: &PartChain| {
        let [p_parts, q_parts] = indices(chain.parts, counts);
        api::PartMotionProof { p_parts, q_parts, certificate: motion_to_wire(chain) }
    };
    let parts: Vec<api::PartMotionProof> = chains.iter().map(entry).collect();
    // What curved parts have no proof of leaves the whole without one.
    let is_open = known.t_free <= 0.0 && known.stopped.is_some();
    let is_at_start = known.outcome == Outcome::Contact && known.t_contact <= 0.0;
    let is_enough = parts.len() == counts[0] * counts[1] || is_open || is_at_start;
    let is_whole = is_enough && parts.iter().all(|part| part.certificate.is_some());
    let is_known = !pair.has_curved_parts || is_whole && !parts.is_empty();
    is_known.then(|| api::MotionCertificate { parts, ..Default::default() })
}
