//! What a moving polytope meets first in a scene that stands still.

use std::cmp::Ordering;

use super::Candidate;
use super::place::MeetingBox;
use super::ray;
use super::starts;
pub use super::starts::BYTES_OF_PASSAGES;
pub use super::way::{Cast, CastHit, StartContacts};
use crate::bounds::{BOX_LANES, Ball, Box3, BoxBlock, BoxWay};
use crate::brackets::unordered;
use crate::broken::{Rule, is_broken};
use crate::methods::Chosen;
use crate::near::still::Probe;
use crate::pairs::meshes::PartsProof;
use crate::pairs::two_parts::TwoParts;
use crate::placed::entry::Entry;
use crate::placed::visitor::ScenePart;
use crate::query::{HitSelection, SceneView};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    ConvexProof, Direction, Frame, Link, Outcome, StaticProof, Verdict,
};
use clearance_geometry::contact_time;
use clearance_geometry::distance::{self, METHODS, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::contact::FaceCourse;
use clearance_geometry::meeting::{Impact, unit_vector};
use clearance_geometry::motion::Motion;
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::pair::Question;
use clearance_geometry::pair::{Pair, VertexPair};
use clearance_geometry::penetration;
use clearance_geometry::rays::RayAnswer;
use clearance_geometry::separation;
use clearance_geometry::witness::Witness;

impl<'a> SceneView<'a> {
    /// What the polytope meets on its way, in order of time and then of bodies.
    pub fn cast(
        &self,
        cast: &Cast<'_>,
        hits: HitSelection,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<CastHit>, Stopped> {
        let sweep = Sweep::of(cast);
        let tells_starts = hits != HitSelection::All && cast.starts == StartContacts::All;
        if tells_starts && cast.is_straight() && cast.start.point().is_none() {
            let found = self.met_at_start(cast, hits, effort)?;
            if !found.is_empty() {
                return Ok(in_order(found));
            }
        }
        let mut found: Vec<CastHit> = Vec::new();
        let (mut first, mut is_met) = (1.0_f64, false);
        self.visit(
            first,
            &sweep,
            |held| sweep.misses(held),
            |candidate| {
                if let Some(hit) = meet(cast, &sweep, candidate, effort)? {
                    if hit.outcome == Outcome::Contact {
                        is_met = true;
                        first = first.min(hit.time[1]);
                    }
                    found.push(hit);
                }
                Ok(match hits {
                    HitSelection::Any if is_met => -1.0,
                    HitSelection::First if is_met && is_broken(Rule::EarliestHit) => -1.0,
                    HitSelection::First => first,
                    HitSelection::All | HitSelection::Any => 1.0,
                })
            },
        )?;
        if hits == HitSelection::First {
            found.retain(|hit| hit.time[0] <= first);
        }
        if hits == HitSelection::Any && is_met {
            found.retain(|hit| hit.outcome == Outcome::Contact);
        }
        Ok(in_order(found))
    }

    /// What the polytope is in contact with where it starts, which is asked for the price of a
    /// verdict: nothing else can be first then.
    fn met_at_start(
        &self,
        cast: &Cast<'_>,
        hits: HitSelection,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<CastHit>, Stopped> {
        let held = cast.start.held();
        let ball = Ball::around(&held);
        let mut found = Vec::new();
        self.visit(
            0.0,
            &MeetingBox(held),
            |other| !ball.may_meet(other),
            |candidate| {
                found.extend(meet_at_start(cast, &held, candidate, effort)?);
                let is_enough = hits == HitSelection::Any && !found.is_empty();
                Ok(if is_enough { -1.0 } else { 0.0 })
            },
        )?;
        Ok(found)
    }

    /// Around the time until which the polytope of a straight cast is in contact with a body from
    /// when it meets it: `[1, 1]` if it is so at the end.
    pub fn leave(
        &self,
        cast: &Cast<'_>,
        hit: &CastHit,
        effort: &mut Effort<'_>,
    ) -> Result<[f64; 2], Stopped> {
        let mut contacts = starts::Contacts::default();
        let entry = &self.entries[hit.index as usize];
        reached_parts(entry, &Sweep::of(cast), |_, q| contacts.add(cast, &q, effort))?;
        Ok(contacts.end_from(hit.time))
    }

    /// Where and how the polytope of a cast meets a body. If they overlap at the start, the normal
    /// is the way out of the body that is shortest.
    pub fn impact(
        &self,
        cast: &Cast<'_>,
        hit: &CastHit,
        effort: &mut Effort<'_>,
    ) -> Result<Impact, Stopped> {
        if let Some(impact) = &hit.impact {
            return Ok(**impact);
        }
        let entry = &self.entries[hit.index as usize];
        let at = hit.part as usize;
        let q = match entry.sole() {
            Some(q) => q,
            None => entry.body.parts[at].at(entry.now().parts[at].pose),
        };
        let at_start = TwoParts::beside(cast.start, q);
        if cast.is_deep() {
            let from = &cast.start.core.pose;
            let pose = cast.motion.pose_rounded(from, hit.contact.met.t_contact);
            return at_start.at([pose, q.core.pose]).impact(effort);
        }
        if q.mesh.is_some() || cast.start.is_curved() {
            return impact_on_mesh(cast, hit, &at_start, effort);
        }
        match &hit.contact.initial {
            PartsProof::Convex(ConvexProof::Polytopes(StaticProof::Overlapping { pairs })) => {
                overlap_at_start(&at_start.cores, pairs, effort)
            }
            initial @ (PartsProof::Convex(_) | PartsProof::Faces(_)) => {
                if initial.verdict() == Verdict::Overlapping {
                    return at_start.impact(effort);
                }
                arrival(cast, hit, &at_start, initial, effort)
            }
        }
    }
}

/// Times of a way, as parts of the time until which it is free, at which a body is likely to be
/// apart from what it is about to meet and yet nearest to it where they meet: at the first, unless
/// rounding moves it.
const BEFORE_CONTACT: [f64; 3] = [1.0, 1.0 - BOUND_SLACK, 1.0 - 10_000.0 * BOUND_SLACK];

/// Where the shape of a cast meets a part that is not convex; across what, if it is not in contact
/// where it starts.
fn impact_on_mesh(
    cast: &Cast<'_>,
    hit: &CastHit,
    at_start: &TwoParts<'_>,
    effort: &mut Effort<'_>,
) -> Result<Impact, Stopped> {
    let from = &cast.start.core.pose;
    let pose_at = |t: f64| cast.motion.pose_rounded(from, t);
    let of_point = cast.start.point().filter(|_| cast.margin <= 0.0);
    let point = of_point.map(|vertex| pose_at(hit.contact.met.t_contact).apply_rounded(vertex));
    if let (Some(point), Some(_)) = (point, hit.normal) {
        return Ok(Impact { point, normal: hit.normal });
    }
    if hit.contact.initial.verdict() != Verdict::Separated {
        return match point {
            Some(point) => Ok(Impact { point, normal: None }),
            None => at_start.impact(effort),
        };
    }
    let mut met: Option<Impact> = None;
    for part in BEFORE_CONTACT {
        let there = at_start.at([pose_at(part * hit.contact.met.t_free), at_start.cores.q.pose]);
        let found = there.impact(effort)?;
        let first = *met.get_or_insert(found);
        if found.normal.is_some() {
            met = Some(Impact { normal: found.normal, ..first });
            break;
        }
    }
    let met = met.ok_or(Stopped::Unresolved)?;
    Ok(Impact { point: point.unwrap_or(met.point), ..met })
}

/// By time, then by body; which is first among them may not be known.
fn in_order(mut found: Vec<CastHit>) -> Vec<CastHit> {
    if found.len() < 2 {
        return found;
    }
    found.sort_by(|a, b| a.time[1].total_cmp(&b.time[1]).then(a.body.cmp(&b.body)));
    let times: Vec<[f64; 2]> = found.iter().map(|hit| hit.time).collect();
    for (hit, is_unordered) in found.iter_mut().zip(unordered(&times)) {
        hit.is_unordered = is_unordered;
    }
    found
}

/// Where bodies overlap that do so at the start, as `pairs` prove, and the way out of Q that is
/// shortest.
fn overlap_at_start(
    pair: &Pair<'_>,
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Impact, Stopped> {
    let point = match pair.p.body.vertices() {
        [vertex] => pair.p.pose.apply_rounded(vertex),
        _ => distance::common_point(pair, pairs),
    };
    Ok(Impact { point, normal: Some(penetration::way_out(pair, pairs, effort)?) })
}

/// Where bodies meet that are not in each other at the start, and across what.
fn arrival(
    cast: &Cast<'_>,
    hit: &CastHit,
    at_start: &TwoParts<'_>,
    initial: &PartsProof,
    effort: &mut Effort<'_>,
) -> Result<Impact, Stopped> {
    let from = &cast.start.core.pose;
    let pose = cast.motion.pose_rounded(from, hit.contact.met.t_contact);
    let met = at_start.at([pose, at_start.cores.q.pose]);
    let cores = met.cores;
    let of_polytopes = cast.is_straight() && at_start.rounded().is_none();
    let entry = || match (&cast.motion, hit.contact.pairs.as_slice()) {
        (Motion::Linear { velocity }, &[a, b, c]) if of_polytopes => {
            distance::point_of_entry(&cores, velocity, &[a, b, c])
        }
        _ => None,
    };
    let point = match cast.start.point() {
        Some(vertex) if cast.margin <= 0.0 => pose.apply_rounded(vertex),
        Some(_) | None => match entry() {
            Some(point) => point,
            None => {
                let witness = &mut Witness::default();
                met.measure(&METHODS[0], Stops::default(), witness, effort)?.closest_q
            }
        },
    };
    let towards = match hit.contact.links.last() {
        // What is nearest is so when they meet.
        Some(Link { direction: direction @ Direction::Nearest { .. }, .. }) => {
            unit_vector(&cores, direction)
        }
        Some(link) => unit_vector(&at_start.cores, &link.direction).map(|s| match link.frame {
            Frame::P => pose.rotation * from.rotation.tr_mul(&s),
            Frame::World | Frame::Q => s,
        }),
        None if initial.verdict() == Verdict::Touching => {
            initial.direction().and_then(|direction| unit_vector(&at_start.cores, &direction))
        }
        // Within the margin at the start: the direction of the proof is one of many.
        None => {
            let (stops, witness) = (Stops::default(), &mut Witness::default());
            let apart = at_start.measure(&METHODS[0], stops, witness, effort)?;
            at_start.normal(&apart, None, effort)?.map(|normal| -normal)
        }
    };
    Ok(Impact { point, normal: towards.map(|s| -s) })
}

/// The parts of a body that are reached: the index and the place of each. The box of a body of one
/// part has been asked.
fn reached_parts<'e>(
    entry: &'e Entry,
    probe: &impl Probe,
    mut ask: impl FnMut(u32, ScenePart<'e>) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    if let Some(placed) = entry.sole() {
        return ask(0, placed);
    }
    for (part, placed) in (0..).zip(entry.now().parts.iter()) {
        if probe.reaches(&placed.bounds).is_some() {
            ask(part, entry.body.parts[part as usize].at(placed.pose))?;
        }
    }
    Ok(())
}

/// The contact with a body at the start: that of the first part that overlaps, else of the first
/// that touches.
fn meet_at_start(
    cast: &Cast<'_>,
    held: &Box3,
    candidate: Candidate<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<CastHit>, Stopped> {
    effort.look_at_clock()?;
    if !cast.start.is_beside(&candidate.entry.body) {
        return Ok(None);
    }
    let mut met = None;
    reached_parts(candidate.entry, &MeetingBox(*held), |part, q| {
        if met.as_ref().is_some_and(overlaps_at_start) {
            return Ok(());
        }
        let two = TwoParts::beside(cast.start, q);
        let (method, witness) = (Chosen::default_of(separation::METHODS), &mut Witness::default());
        let (initial, _) = two.decide(method, false, witness, effort)?;
        if initial.verdict() == Verdict::Overlapping
            || initial.verdict() == Verdict::Touching && met.is_none()
        {
            let contact = two.contact_at_start(initial, cast.start.proves());
            met = Some(CastHit::new(candidate, part, contact));
        }
        Ok(())
    })?;
    Ok(met)
}

/// The first contact with a body: that of the part that is met first. None: the way is free of it.
fn meet(
    cast: &Cast<'_>,
    sweep: &Sweep,
    candidate: Candidate<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<CastHit>, Stopped> {
    effort.look_at_clock()?;
    if !cast.start.is_beside(&candidate.entry.body) {
        return Ok(None);
    }
    let mut met: Option<CastHit> = None;
    reached_parts(candidate.entry, sweep, |part, q| {
        let Some(hit) = meet_part(cast, candidate, part, q, effort)? else { return Ok(()) };
        let told = if cast.starts != StartContacts::All && hit.initial() != Verdict::Separated {
            starts::beyond(cast, &q, hit, effort)?
        } else {
            Some(hit)
        };
        if let Some(hit) = told {
            met = Some(sooner(met.take(), hit));
        }
        Ok(())
    })?;
    Ok(met)
}

/// The first contact with a part.
fn meet_part(
    cast: &Cast<'_>,
    candidate: Candidate<'_>,
    part: u32,
    q: ScenePart<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<CastHit>, Stopped> {
    match ray::meet(&cast.start, &cast.motion, cast.margin, &q, effort)? {
        RayAnswer::Free => return Ok(None),
        RayAnswer::Meets(found) => return Ok(Some(CastHit::of_ray(candidate, part, &found))),
        RayAnswer::Open => {}
    }
    let two = TwoParts::beside(cast.start, q);
    let question = Question {
        reach: two.reach(cast.margin),
        time_tolerance: cast.time_tolerance,
        ..Question::new(two.cores, cast.motion, Motion::rest())
    };
    let course = FaceCourse { question: &question, margin: cast.margin };
    let (method, witness) = (&contact_time::METHODS[0], &mut Witness::default());
    let contact = two.first_contact(method, &course, witness, effort)?;
    let is_met = contact.met.outcome != Outcome::NoContact;
    Ok(is_met.then(|| CastHit::new(candidate, part, contact)))
}

/// Whether the polytope is in that part where it starts.
fn overlaps_at_start(hit: &CastHit) -> bool {
    hit.initial() == Verdict::Overlapping
}

/// What is met first of a part and those before it.
fn sooner(known: Option<CastHit>, hit: CastHit) -> CastHit {
    match known {
        None => hit,
        Some(known) => earlier(known, hit),
    }
}

/// The one of two parts of a body that is met first, with the time of the body. Contact goes before
/// what is undecided, and of parts that are met at the start one that overlaps before others.
fn earlier(known: CastHit, other: CastHit) -> CastHit {
    let free = known.time[0].min(other.time[0]);
    let met = |hit: &CastHit| hit.outcome == Outcome::Contact;
    let is_other_first = match (met(&known), met(&other)) {
        (true, true) => match other.time[1].total_cmp(&known.time[1]) {
            Ordering::Less => true,
            Ordering::Equal => overlaps_at_start(&other) && !overlaps_at_start(&known),
            Ordering::Greater => false,
        },
        (false, true) => true,
        (true, false) | (false, false) => false,
    };
    let mut first = if is_other_first { other } else { known };
    first.time[0] = free;
    first
}

/// Where a polytope is on its way, roughly: what it cannot reach it does not meet.
enum Sweep {
    /// A box and a ball that are moved along a vector.
    Along { start: BoxWay, ball: Ball, velocity: Vec3 },
    /// A box around the whole way.
    Within(Box3),
}

impl Sweep {
    fn of(cast: &Cast<'_>) -> Self {
        let start = cast.start.held();
        let by_margin = |held: Box3| {
            if cast.margin > 0.0 { held.inflated(cast.margin) } else { held }
        };
        let from = &cast.start.core.pose;
        let at_start = from.translation;
        match cast.motion {
            Motion::Linear { velocity } => {
                let start = by_margin(start);
                let ball = Ball::around(&start);
                Self::Along { start: BoxWay::new(&start, &velocity), ball, velocity }
            }
            Motion::Screw { pivot, velocity, angle, .. } => {
                // A point stays as far from the pivot as it is, which moves along.
                let turns = angle.abs() > 0.0;
                let about = if turns { start.about(&pivot.unwrap_or(at_start)) } else { start };
                Self::Within(by_margin(about.union(&about.moved(&velocity))))
            }
            Motion::ToPose { end, pivot, turn } => {
                let angle = Motion::turn_to(from, &end, &turn).angle;
                let pivot = pivot.unwrap_or(at_start);
                let to = cast.start.at(end).held();
                Self::Within(by_margin(Box3::swept(&start, &to, angle, &pivot)))
            }
        }
    }

    /// Whether nothing within the ball is reached; what the boxes say is not asked again.
    fn misses(&self, held: &Ball) -> bool {
        match self {
            Self::Along { ball, velocity, .. } => ball.misses_along(velocity, held),
            Self::Within(_) => false,
        }
    }
}

impl Probe for Sweep {
    #[inline(always)]
    fn reaches(&self, held: &Box3) -> Option<f64> {
        match self {
            Self::Along { start, .. } => start.reaches(held),
            Self::Within(way) => MeetingBox(*way).reaches(held),
        }
    }

    #[inline(always)]
    fn reaches_each(&self, held: &BoxBlock) -> [f64; BOX_LANES] {
        match self {
            Self::Along { start, .. } => start.reaches_each(held),
            Self::Within(way) => MeetingBox(*way).reaches_each(held),
        }
    }
}
