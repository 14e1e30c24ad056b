//! Pairs in flat arrays and back: the same as nested messages tell, in less room.
//!
//! An array that would tell nothing of any pair is empty. Of a pair of which a number is not known
//! the bounds enclose all that there may be, from 0 to infinity; bytes and vectors are 0. No number
//! is a NaN: reports stay equal to themselves.

use super::pair::{self, Bodies};
use super::plan::Plan;
use crate::convert::geometry::{outcome_to_wire, stopped_to_wire};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Stopped;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_scene::PairReport;
use clearance_scene::{PairContact, PairRange, PartPair};

/// The numbers of `within_margin`: it is not known, it is so, it is not.
const UNKNOWN: u8 = 0;
const WITHIN: u8 = 1;
const BEYOND: u8 = 2;

/// Encloses what is not known.
const UNBOUNDED: [f64; 2] = [0.0, f64::INFINITY];

/// When bodies meet that never do.
const NEVER: [f64; 2] = [f64::INFINITY; 2];

/// Packs the pairs. If the caller leaves meanwhile, proofs are missing.
pub fn pack(
    pairs: &[PairReport],
    plan: &Plan,
    bodies: Bodies<'_>,
    until: &Until,
) -> api::PackedPairs {
    let mut packed = api::PackedPairs {
        a: pairs.iter().map(|pair| pair.p.0).collect(),
        b: pairs.iter().map(|pair| pair.q.0).collect(),
        verdicts: pairs.iter().map(|pair| pair::verdict(pair.verdict) as u8).collect(),
        a_parts: column(pairs, |pair| p_part(pair::deciding(pair))),
        b_parts: column(pairs, |pair| q_part(pair::deciding(pair))),
        within_margin: column(pairs, |pair| match pair::within_margin(pair) {
            None => UNKNOWN,
            Some(true) => WITHIN,
            Some(false) => BEYOND,
        }),
        stopped: column(pairs, |pair| stopped(pair.stopped)),
        normals: vectors(pairs, |pair| pair.normal),
        first_contacts: first_contacts(pairs),
        along: along(pairs),
        rest: rest(pairs, plan, bodies, until),
        ..Default::default()
    };
    if pairs.iter().any(|pair| pair.distance.is_some()) {
        let distance = |pair: &PairReport| {
            pair.distance.as_ref().map_or(UNBOUNDED, |found| [found.lower, found.upper])
        };
        [packed.distance_lower, packed.distance_upper] = bounds(pairs, distance);
        if plan.closest_points {
            packed.closest_a = vectors(pairs, |pair| Some(pair.distance.as_ref()?.closest_p));
            packed.closest_b = vectors(pairs, |pair| Some(pair.distance.as_ref()?.closest_q));
        }
    }
    if pairs.iter().any(|pair| pair.depth.is_some()) {
        [packed.depth_lower, packed.depth_upper] = bounds(pairs, depth);
        packed.depth_directions = vectors(pairs, |pair| Some(pair.depth.as_ref()?.depth.direction));
    }
    packed
}

/// Leaves so many of the pairs, the first ones.
pub fn truncate(packed: &mut api::PackedPairs, count: usize) {
    // Named one by one, so that a new array cannot be forgotten.
    let api::PackedPairs {
        a,
        b,
        verdicts,
        distance_lower,
        distance_upper,
        a_parts,
        b_parts,
        within_margin,
        stopped,
        closest_a,
        closest_b,
        depth_lower,
        depth_upper,
        depth_directions,
        normals,
        first_contacts,
        along,
        rest,
    } = packed;
    [a, b, a_parts, b_parts].into_iter().for_each(|ids| ids.truncate(count));
    [verdicts, within_margin, stopped].into_iter().for_each(|bytes| bytes.truncate(count));
    [distance_lower, distance_upper, depth_lower, depth_upper]
        .into_iter()
        .for_each(|numbers| numbers.truncate(count));
    [closest_a, closest_b, depth_directions, normals]
        .into_iter()
        .for_each(|vectors| vectors.truncate(3 * count));
    if let Some(found) = first_contacts {
        let api::PackedFirstContacts { outcomes, t_free, t_contact, a_parts, b_parts, stopped } =
            found;
        [outcomes, stopped].into_iter().for_each(|bytes| bytes.truncate(count));
        [t_free, t_contact].into_iter().for_each(|times| times.truncate(count));
        [a_parts, b_parts].into_iter().for_each(|parts| parts.truncate(count));
    }
    if let Some(ranges) = along {
        let api::PackedRanges {
            enter_lower,
            enter_upper,
            exit_lower,
            exit_upper,
            a_parts,
            b_parts,
        } = ranges;
        [enter_lower, enter_upper, exit_lower, exit_upper]
            .into_iter()
            .for_each(|times| times.truncate(count));
        [a_parts, b_parts].into_iter().for_each(|parts| parts.truncate(count));
    }
    rest.truncate(rest.partition_point(|one| (one.index as usize) < count));
}

/// The pairs in messages of their own.
pub fn unpack(packed: &api::PackedPairs) -> Vec<api::PairReport> {
    let mut rest = packed.rest.iter().peekable();
    let pair = |index: usize| {
        let of_rest = rest.next_if(|one| one.index as usize == index).cloned().unwrap_or_default();
        let distance = bracket(&packed.distance_lower, &packed.distance_upper, index);
        let depth = bracket(&packed.depth_lower, &packed.depth_upper, index);
        let verdict = i32::from(entry(&packed.verdicts, index));
        let meets = [api::Verdict::Touching, api::Verdict::Overlapping];
        let normal = direction(&packed.normals, index);
        let is_measured = distance.is_some() || normal.is_some();
        // Of pairs that are separated, those parts that are nearest, where that is known.
        let decides = is_measured || meets.map(i32::from).contains(&verdict);
        api::PairReport {
            a: entry(&packed.a, index),
            b: entry(&packed.b, index),
            a_part: decides.then(|| entry(&packed.a_parts, index)),
            b_part: decides.then(|| entry(&packed.b_parts, index)),
            verdict,
            within_margin: match entry(&packed.within_margin, index) {
                UNKNOWN => None,
                number => Some(number == WITHIN),
            },
            distance,
            closest_a: distance.and_then(|_| vector(&packed.closest_a, index)),
            closest_b: distance.and_then(|_| vector(&packed.closest_b, index)),
            depth: depth.filter(|depth| depth.upper > 0.0),
            depth_direction: direction(&packed.depth_directions, index),
            first_contact: first_contact(packed, index, of_rest.motion_certificate),
            certificate: of_rest.certificate,
            distance_certificate: of_rest.distance_certificate,
            depth_certificate: of_rest.depth_certificate,
            status: None,
            stopped: entry(&packed.stopped, index).into(),
            along: range(packed, index, of_rest.along_parts),
            normal,
            contact_polygon: of_rest.contact_polygon,
            a_link: of_rest.a_link,
            b_link: of_rest.b_link,
            face_depth: of_rest.face_depth,
        }
    };
    (0..packed.a.len()).map(pair).collect()
}

/// One entry a pair; none at all where every pair would have the same as an empty array tells.
fn column<T: Default + PartialEq, C: FromIterator<T>>(
    pairs: &[PairReport],
    entry: impl Fn(&PairReport) -> T,
) -> C {
    let is_told = pairs.iter().any(|pair| entry(pair) != T::default());
    pairs.iter().filter(|_| is_told).map(entry).collect()
}

/// The lower and the upper ones.
fn bounds(pairs: &[PairReport], entry: impl Fn(&PairReport) -> [f64; 2]) -> [Vec<f64>; 2] {
    pairs.iter().map(|pair| entry(pair).into()).unzip().into()
}

fn vectors(pairs: &[PairReport], entry: impl Fn(&PairReport) -> Option<Vec3>) -> Vec<f64> {
    let is_told = pairs.iter().any(|pair| entry(pair).is_some());
    let numbers = |pair| entry(pair).map_or([0.0; 3], <[f64; 3]>::from);
    pairs.iter().filter(|_| is_told).flat_map(numbers).collect()
}

/// Around the depth, which is 0 of bodies that do not overlap.
fn depth(pair: &PairReport) -> [f64; 2] {
    match (&pair.depth, pair.verdict) {
        (Some(deepest), _) => [deepest.depth.lower, deepest.depth.upper],
        (None, Some(Verdict::Separated | Verdict::Touching)) => [0.0; 2],
        (None, Some(Verdict::Overlapping) | None) => UNBOUNDED,
    }
}

fn p_part(parts: Option<PartPair>) -> u32 {
    parts.map_or(0, |parts| parts.p)
}

fn q_part(parts: Option<PartPair>) -> u32 {
    parts.map_or(0, |parts| parts.q)
}

fn stopped(why: Option<Stopped>) -> u8 {
    stopped_to_wire(why) as u8
}

fn first_contacts(pairs: &[PairReport]) -> Option<api::PackedFirstContacts> {
    fn of(pair: &PairReport) -> Option<&PairContact> {
        pair.first_contact.as_ref()
    }
    pairs.iter().find_map(of)?;
    let outcome = |found: &PairContact| outcome_to_wire(found.outcome) as u8;
    let met = |found: &PairContact| if found.has_met() { found.t_contact } else { f64::INFINITY };
    Some(api::PackedFirstContacts {
        outcomes: pairs.iter().map(|pair| of(pair).map_or(0, outcome)).collect(),
        t_free: pairs.iter().map(|pair| of(pair).map_or(0.0, |found| found.t_free)).collect(),
        t_contact: pairs.iter().map(|pair| of(pair).map_or(f64::INFINITY, met)).collect(),
        a_parts: column(pairs, |pair| p_part(of(pair).and_then(|found| found.parts))),
        b_parts: column(pairs, |pair| q_part(of(pair).and_then(|found| found.parts))),
        stopped: column(pairs, |pair| stopped(of(pair).and_then(|found| found.stopped))),
    })
}

fn along(pairs: &[PairReport]) -> Option<api::PackedRanges> {
    fn of(pair: &PairReport) -> Option<&PairRange> {
        pair.along.as_ref()
    }
    pairs.iter().find_map(of)?;
    let [enter_lower, enter_upper] = bounds(pairs, |pair| match of(pair) {
        Some(range) => range.span.map_or(NEVER, |span| span.enter),
        None => UNBOUNDED,
    });
    let [exit_lower, exit_upper] = bounds(pairs, |pair| match of(pair) {
        Some(range) => range.span.map_or(NEVER, |span| span.exit),
        None => UNBOUNDED,
    });
    Some(api::PackedRanges {
        enter_lower,
        enter_upper,
        exit_lower,
        exit_upper,
        a_parts: column(pairs, |pair| p_part(of(pair).and_then(|found| found.parts))),
        b_parts: column(pairs, |pair| q_part(of(pair).and_then(|found| found.parts))),
    })
}

/// What flat arrays do not carry, of those pairs that have it.
fn rest(
    pairs: &[PairReport],
    plan: &Plan,
    bodies: Bodies<'_>,
    until: &Until,
) -> Vec<api::PackedRest> {
    let asked = &plan.questions;
    let is_any = asked.certificates || asked.polygons || asked.face_normals || bodies.has_links;
    if !is_any {
        return Vec::new();
    }
    let rest = |(index, known): (u32, &PairReport)| {
        let whole = pair::pair(known, plan, bodies);
        let rest = api::PackedRest {
            index,
            certificate: whole.certificate,
            distance_certificate: whole.distance_certificate,
            depth_certificate: whole.depth_certificate,
            motion_certificate: whole.first_contact.and_then(|found| found.certificate),
            along_parts: whole.along.map_or_else(Vec::new, |range| range.parts),
            contact_polygon: whole.contact_polygon,
            a_link: whole.a_link,
            b_link: whole.b_link,
            face_depth: whole.face_depth,
        };
        (rest != api::PackedRest { index, ..Default::default() }).then_some(rest)
    };
    until.each((0..).zip(pairs)).filter_map(rest).collect()
}

/// The entry of a pair; nothing, if the array tells nothing of any.
fn entry<T: Copy + Default>(entries: &[T], index: usize) -> T {
    entries.get(index).copied().unwrap_or_default()
}

/// A bracket that is bounded.
fn bracket(lower: &[f64], upper: &[f64], index: usize) -> Option<api::Bracket> {
    let (lower, upper) = (*lower.get(index)?, *upper.get(index)?);
    (upper < f64::INFINITY).then_some(api::Bracket { lower, upper })
}

fn vector(numbers: &[f64], index: usize) -> Option<api::Vector3> {
    let [x, y, z] = *numbers.get(3 * index..)?.first_chunk()?;
    Some(api::Vector3 { x, y, z })
}

/// A unit vector, so not zero.
fn direction(numbers: &[f64], index: usize) -> Option<api::Vector3> {
    let is_zero = |v: &api::Vector3| [v.x, v.y, v.z].iter().all(|part| *part == 0.0);
    vector(numbers, index).filter(|v| !is_zero(v))
}

fn first_contact(
    packed: &api::PackedPairs,
    index: usize,
    certificate: Option<api::MotionCertificate>,
) -> Option<api::FirstContact> {
    let found = packed.first_contacts.as_ref()?;
    let outcome = entry(&found.outcomes, index);
    let t_contact = found.t_contact.get(index).copied().filter(|t| t.is_finite());
    (outcome != 0).then(|| api::FirstContact {
        outcome: outcome.into(),
        t_free: entry(&found.t_free, index),
        t_contact,
        certificate,
        a_part: t_contact.map(|_| entry(&found.a_parts, index)),
        b_part: t_contact.map(|_| entry(&found.b_parts, index)),
        stopped: entry(&found.stopped, index).into(),
    })
}

fn range(
    packed: &api::PackedPairs,
    index: usize,
    parts: Vec<api::PartRange>,
) -> Option<api::PairRange> {
    let found = packed.along.as_ref()?;
    let is_never = *found.enter_lower.get(index)? == f64::INFINITY;
    let is_known = is_never || *found.enter_upper.get(index)? < f64::INFINITY;
    is_known.then(|| api::PairRange {
        enter: bracket(&found.enter_lower, &found.enter_upper, index),
        exit: bracket(&found.exit_lower, &found.exit_upper, index),
        a_part: (!is_never).then(|| entry(&found.a_parts, index)),
        b_part: (!is_never).then(|| entry(&found.b_parts, index)),
        parts,
    })
}
