//! What a moving polytope meets first in a scene that stands still.

use super::{HitSelection, SceneView, unordered};
use crate::geometry::Vec3;
use crate::geometry::claim::{
    Direction, FirstContact, Frame, Link, Outcome, Question, StaticProof,
};
use crate::geometry::contact_time;
use crate::geometry::difference::heading::unit_vector;
use crate::geometry::distance::{self, Stops};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::meeting::Impact;
use crate::geometry::motion::Motion;
use crate::geometry::pair::{Pair, Placed};
use crate::geometry::penetration;
use crate::geometry::polytope::surface::facets_with_normals;
use crate::geometry::witness::Witness;
use crate::scene::body::{BodyId, Entry};
use crate::scene::bounds::{Ball, Box3};

/// A polytope on its way.
#[derive(Clone, Copy, Debug)]
pub struct Cast<'a> {
    /// The polytope where it starts. Of a ray: a point.
    pub start: Placed<'a>,
    /// How it moves over t in [0, 1].
    pub motion: Motion,
    /// Contact means a distance of at most this, metres.
    pub margin: f64,
    /// Width of brackets in t where something turns.
    pub time_tolerance: f64,
}

/// A body that is met, or may be.
#[derive(Clone, Debug)]
pub struct CastHit {
    /// Which.
    pub body: BodyId,
    /// The part of it that is met first.
    pub part: u32,
    /// Contact, or undecided: the way comes closer to it than the clearance tolerance.
    pub outcome: Outcome,
    /// Around the time of the first contact with the body; when undecided, the time that is not
    /// proven free.
    pub time: [f64; 2],
    /// The answer about the polytope (P) and the part (Q), with its proof.
    pub contact: FirstContact,
    /// Its bracket overlaps that of another hit, so which is first is not known.
    pub is_unordered: bool,
}

impl<'a> SceneView<'a> {
    /// What the polytope meets on its way, in order of time and then of bodies.
    pub fn cast(
        &self,
        cast: &Cast<'_>,
        hits: HitSelection,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<CastHit>, Stopped> {
        let sweep = Sweep::of(cast);
        let mut found: Vec<CastHit> = Vec::new();
        let (mut first, mut is_met) = (1.0_f64, false);
        self.visit(
            first,
            |held| sweep.reaches(held),
            |held| sweep.misses(held),
            |entry| {
                if let Some(hit) = meet(cast, &sweep, entry, effort)? {
                    if hit.outcome == Outcome::Contact {
                        is_met = true;
                        first = first.min(hit.time[1]);
                    }
                    found.push(hit);
                }
                Ok(match hits {
                    HitSelection::Any if is_met => -1.0,
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
        found.sort_by(|a, b| a.time[1].total_cmp(&b.time[1]).then(a.body.cmp(&b.body)));
        let times: Vec<[f64; 2]> = found.iter().map(|hit| hit.time).collect();
        for (hit, is_unordered) in found.iter_mut().zip(unordered(&times)) {
            hit.is_unordered = is_unordered;
        }
        Ok(found)
    }

    /// Where and how the polytope of a cast meets a body. If they overlap at the start, the normal
    /// is the way out of the body that is shortest.
    pub fn impact(
        &self,
        cast: &Cast<'_>,
        hit: &CastHit,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Impact>, Stopped> {
        let Some(index) = self.scene.index_of(hit.body) else { return Ok(None) };
        let entry = &self.scene.entries[index as usize];
        let part = hit.part as usize;
        let body =
            Placed { body: &entry.body.parts[part].polytope, pose: entry.now().parts[part].pose };
        let time = hit.contact.t_contact;
        let pose = cast.motion.pose_rounded(&cast.start.pose, time);
        let met = Pair { p: Placed { pose, ..cast.start }, q: body };
        let point = match cast.start.body.vertices() {
            [vertex] if cast.margin <= 0.0 => pose.apply_rounded(vertex),
            _ => {
                let mut witness = Witness::default();
                if let StaticProof::Overlapping { pairs } = &hit.contact.initial {
                    witness.pairs.clone_from(pairs);
                }
                distance::measure(&met, Stops::default(), &mut witness, effort)?.closest_q
            }
        };
        let at_start = Pair { p: cast.start, q: body };
        let towards = match (hit.contact.chain.last(), &hit.contact.initial) {
            // What is nearest is so when they meet.
            (Some(Link { direction: direction @ Direction::Nearest { .. }, .. }), _) => {
                unit_vector(&met, direction)
            }
            (Some(link), _) => unit_vector(&at_start, &link.direction).map(|s| match link.frame {
                Frame::P => pose.rotation * cast.start.pose.rotation.tr_mul(&s),
                Frame::World | Frame::Q => s,
            }),
            (
                None,
                StaticProof::Touching { direction, .. } | StaticProof::Separated { direction },
            ) => unit_vector(&at_start, direction),
            (None, StaticProof::Overlapping { .. }) if cast.start.body.vertex_count() == 1 => {
                nearest_facet(&at_start).map(|outward| -outward)
            }
            (None, StaticProof::Overlapping { pairs }) => {
                Some(-penetration::way_out(&at_start, pairs, effort)?)
            }
        };
        Ok(Some(Impact { point, normal: towards.map(|s| -s) }))
    }
}

/// The outward normal of the facet of Q that is nearest to the one vertex of P, which is inside:
/// the way out that is shortest.
fn nearest_facet(pair: &Pair<'_>) -> Option<Vec3> {
    let Placed { body, pose } = pair.q;
    let inside = pair.p.pose.apply_rounded(pair.p.body.vertex(0));
    let inside = pose.direction_to_body_rounded(&(inside - pose.translation));
    let heights = facets_with_normals(body)
        .map(|(corners, normal)| (normal.dot(&(inside - body.vertex(corners[0]))), normal));
    let (_, normal) = heights.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(pose.rotation * normal)
}

/// The first contact with a body: that of the part that is met first. None: the way is free of it.
fn meet(
    cast: &Cast<'_>,
    sweep: &Sweep,
    entry: &Entry,
    effort: &mut Effort<'_>,
) -> Result<Option<CastHit>, Stopped> {
    effort.look_at_clock()?;
    let mut met: Option<CastHit> = None;
    for (part, placed) in (0..).zip(entry.now().parts.iter()) {
        if sweep.reaches(&placed.bounds).is_none() {
            continue;
        }
        let polytope = &entry.body.parts[part as usize].polytope;
        let pair = Pair { p: cast.start, q: Placed { body: polytope, pose: placed.pose } };
        let question = Question {
            margin: cast.margin,
            time_tolerance: cast.time_tolerance,
            ..Question::new(pair, cast.motion, Motion::rest())
        };
        let witness = &mut Witness::default();
        let contact = contact_time::first_contact(&question, witness, effort)?;
        let outcome = contact.outcome;
        let time = [contact.t_free, contact.t_contact];
        let body = entry.body.id;
        let hit = CastHit { body, part, outcome, time, contact, is_unordered: false };
        met = match (met, outcome) {
            (met, Outcome::NoContact) => met,
            (None, _) => Some(hit),
            (Some(known), _) => Some(earlier(known, hit)),
        };
    }
    Ok(met)
}

/// The one of two parts of a body that is met first, with the time of the body. Contact goes before
/// what is undecided.
fn earlier(known: CastHit, other: CastHit) -> CastHit {
    let free = known.time[0].min(other.time[0]);
    let met = |hit: &CastHit| hit.outcome == Outcome::Contact;
    let is_other_first = match (met(&known), met(&other)) {
        (true, true) => other.time[1] < known.time[1],
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
    Along { start: Box3, ball: Ball, velocity: Vec3 },
    /// A box around the whole way.
    Within(Box3),
}

impl Sweep {
    fn of(cast: &Cast<'_>) -> Self {
        let start = Box3::of_placed(cast.start.body, &cast.start.pose);
        let by_margin = |held: Box3| {
            if cast.margin > 0.0 { held.inflated(cast.margin) } else { held }
        };
        let at_start = cast.start.pose.translation;
        match cast.motion {
            Motion::Linear { velocity } => {
                let start = by_margin(start);
                Self::Along { start, ball: Ball::around(&start), velocity }
            }
            Motion::Screw { pivot, velocity, angle, .. } => {
                // A point stays as far from the pivot as it is, which moves along.
                let turns = angle.abs() > 0.0;
                let about = if turns { start.about(&pivot.unwrap_or(at_start)) } else { start };
                Self::Within(by_margin(about.union(&about.moved(&velocity))))
            }
            Motion::ToPose { end, pivot, turn } => {
                let angle = Motion::turn_to(&cast.start.pose, &end, &turn).angle;
                let pivot = pivot.unwrap_or(at_start);
                let to = Box3::of_placed(cast.start.body, &end);
                Self::Within(by_margin(Box3::swept(&start, &to, angle, &pivot)))
            }
        }
    }

    /// At most the time at which something within the box is reached; none: never.
    fn reaches(&self, held: &Box3) -> Option<f64> {
        match self {
            Self::Along { start, velocity, .. } => start.reaches_along(velocity, held),
            Self::Within(way) => way.meets(held).then_some(0.0),
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
