//! What a polytope overlaps where it is put, and what is nearest to it.

use super::Candidate;
use crate::bounds::{BOX_LANES, Ball, Box3, BoxBlock};
use crate::brackets::unordered;
use crate::declared::body::BodyId;
use crate::methods::Chosen;
use crate::near::still::Probe;
use crate::pairs::meshes::{DepthBracket, PartsProof};
use crate::pairs::two_parts::{PartsDistance, TwoParts};
use crate::placed::entry::Entry;
use crate::query::{HitSelection, SceneView, Visitor};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::separation;
use clearance_geometry::witness::Witness;

/// A body in contact with a polytope.
#[derive(Clone, Debug)]
pub struct OverlapHit {
    /// The body that is found.
    pub body: BodyId,
    /// The first part of it that overlaps, else that touches.
    pub part: u32,
    /// The proof that the polytope (P) and that part (Q) touch or overlap.
    pub proof: PartsProof,
}

/// How far a body is from a polytope.
#[derive(Clone, Debug)]
pub struct NearHit {
    /// The body that is found.
    pub body: BodyId,
    /// The part of it that is nearest, or deepest.
    pub part: u32,
    /// The distance of the polytope (P) and that part (Q), with its proof. Its lower bound holds
    /// for all parts.
    pub distance: PartsDistance,
    /// How deep the two overlap, if they do. Its upper bound holds for all parts.
    pub depth: Option<DepthBracket>,
    /// Unit vector out of the body towards the polytope, rounded; when they overlap, the way out
    /// that is shortest, or the deepest piece's. None where a part that is not convex is touched,
    /// and where no piece of it overlaps.
    pub normal: Option<Vec3>,
    /// Its bracket overlaps that of a neighbour in order of distance.
    pub is_unordered: bool,
}

impl NearHit {
    /// Around the signed distance, metres: how far, or minus how deep.
    pub fn signed_distance(&self) -> [f64; 2] {
        match &self.depth {
            Some(depth) => [-depth.upper, -depth.lower],
            None => [self.distance.lower, self.distance.upper],
        }
    }
}

/// Which of the bodies near a polytope are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nearness {
    /// At most so many, the nearest first.
    pub count: Option<usize>,
    /// Only those at most so far away, exactly, metres.
    pub below: Option<f64>,
}

impl<'a> SceneView<'a> {
    /// The bodies that the polytope touches or overlaps, by id; of [`HitSelection::Any`] at most
    /// one.
    pub fn overlaps(
        &self,
        placed: &Visitor<'_>,
        hits: HitSelection,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<OverlapHit>, Stopped> {
        let held = placed.held();
        let ball = Ball::around(&held);
        let mut found = Vec::new();
        self.visit(
            0.0,
            &MeetingBox(held),
            |other| !ball.may_meet(other),
            |Candidate { entry, .. }| {
                found.extend(overlap(placed, &held, entry, effort)?);
                let is_enough = hits == HitSelection::Any && !found.is_empty();
                Ok(if is_enough { -1.0 } else { 0.0 })
            },
        )?;
        found.sort_by_key(|hit| hit.body);
        Ok(found)
    }

    /// The bodies nearest to the polytope, the deepest first, then by distance and id.
    pub fn nearest(
        &self,
        placed: &Visitor<'_>,
        wanted: Nearness,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<NearHit>, Stopped> {
        let held = placed.held();
        let below = wanted.below.unwrap_or(f64::INFINITY);
        let count = wanted.count.unwrap_or(usize::MAX);
        let mut found: Vec<NearHit> = Vec::new();
        let mut limit = below;
        self.visit(
            limit,
            &Nearing(held),
            |_| false,
            |Candidate { entry, .. }| {
                if let Some(hit) = near(placed, &held, entry, (limit, below), effort)? {
                    let end = hit.signed_distance()[1];
                    let at = found.partition_point(|known| known.signed_distance()[1] <= end);
                    found.insert(at, hit);
                }
                if let Some(last) = count.checked_sub(1).and_then(|last| found.get(last)) {
                    limit = limit.min(last.signed_distance()[1].max(0.0));
                }
                Ok(limit)
            },
        )?;
        let key = |hit: &NearHit| hit.signed_distance()[1];
        found.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.body.cmp(&b.body)));
        let distances: Vec<[f64; 2]> = found.iter().map(NearHit::signed_distance).collect();
        for (hit, is_unordered) in found.iter_mut().zip(unordered(&distances)) {
            hit.is_unordered = is_unordered;
        }
        found.truncate(count);
        Ok(found)
    }
}

/// What meets a box where it is.
pub(crate) struct MeetingBox(pub(crate) Box3);

impl Probe for MeetingBox {
    #[inline(always)]
    fn reaches(&self, held: &Box3) -> Option<f64> {
        self.0.meets(held).then_some(0.0)
    }

    #[inline(always)]
    fn reaches_each(&self, held: &BoxBlock) -> [f64; BOX_LANES] {
        held.meeting(&self.0).map(|meets| if meets { 0.0 } else { f64::INFINITY })
    }
}

/// What is near a box, by distance.
struct Nearing(Box3);

impl Probe for Nearing {
    #[inline(always)]
    fn reaches(&self, held: &Box3) -> Option<f64> {
        Some(self.0.distance_below(held))
    }
}

/// How the polytope and a body stand, if they are in contact.
fn overlap(
    placed: &Visitor<'_>,
    held: &Box3,
    entry: &Entry,
    effort: &mut Effort<'_>,
) -> Result<Option<OverlapHit>, Stopped> {
    effort.look_at_clock()?;
    if !placed.is_beside(&entry.body) {
        return Ok(None);
    }
    let mut touching = None;
    for (part, bounds, two) in parts(placed, entry) {
        if !held.meets(&bounds) {
            continue;
        }
        let (method, witness) = (Chosen::default_of(separation::METHODS), &mut Witness::default());
        let (proof, _) = two.decide(method, false, witness, effort)?;
        let hit = OverlapHit { body: entry.body.id, part, proof };
        match hit.proof.verdict() {
            Verdict::Overlapping => return Ok(Some(hit)),
            Verdict::Touching => touching = touching.or(Some(hit)),
            Verdict::Separated => {}
        }
    }
    Ok(touching)
}

/// How near a body is, if that is within the limit: a search may end beyond it. Bodies farther than
/// `below` are none, exactly.
fn near(
    placed: &Visitor<'_>,
    held: &Box3,
    entry: &Entry,
    (limit, below): (f64, f64),
    effort: &mut Effort<'_>,
) -> Result<Option<NearHit>, Stopped> {
    effort.look_at_clock()?;
    if !placed.is_beside(&entry.body) {
        return Ok(None);
    }
    let mut nearest: Option<NearHit> = None;
    let mut limit = limit;
    for (part, bounds, two) in parts(placed, entry) {
        if held.distance_below(&bounds) > limit {
            continue;
        }
        let witness = &mut Witness::default();
        let stops = Stops { above: limit.is_finite().then_some(limit), below: None };
        let distance = two.measure(&distance::METHODS[0], stops, witness, effort)?;
        let is_beyond = distance.lower > limit
            || below.is_finite() && !two.compare(below, witness, effort)?.is_within;
        if is_beyond {
            continue;
        }
        let overlaps = distance.proof.verdict() == Verdict::Overlapping;
        let depth = if overlaps { Some(two.bracket_depth(effort)?) } else { None };
        let normal = match &depth {
            Some(depth) => depth.direction,
            None => two.normal(&distance, None, effort)?,
        };
        let body = entry.body.id;
        let hit = NearHit { body, part, distance, depth, normal, is_unordered: false };
        limit = limit.min(hit.signed_distance()[1].max(0.0));
        nearest = Some(match nearest {
            None => hit,
            Some(known) => nearer(known, hit),
        });
    }
    Ok(nearest)
}

/// The nearer of two parts, with a lower bound that holds for both.
fn nearer(known: NearHit, other: NearHit) -> NearHit {
    let least = known.signed_distance()[0].min(other.signed_distance()[0]);
    let is_other = other.signed_distance()[1] < known.signed_distance()[1];
    let mut nearer = if is_other { other } else { known };
    match &mut nearer.depth {
        Some(depth) => depth.upper = depth.upper.max(-least),
        None => nearer.distance.lower = nearer.distance.lower.min(least.max(0.0)),
    }
    nearer
}

/// The parts of a body: the index of each, what holds it, and the pair that it makes with the
/// polytope.
fn parts<'p>(
    placed: &'p Visitor<'p>,
    entry: &'p Entry,
) -> impl Iterator<Item = (u32, Box3, TwoParts<'p>)> {
    let sole = entry.sole().map(|q| (0, entry.bounds(), TwoParts::beside(*placed, q)));
    let several = sole.is_none().then(|| entry.now());
    let several = several.into_iter().flat_map(move |now| {
        let parts = (0..).zip(&entry.body.parts);
        parts.map(move |(at, part)| {
            let place = &now.parts[at as usize];
            (at, place.bounds, TwoParts::beside(*placed, part.at(place.pose)))
        })
    });
    sole.into_iter().chain(several)
}
