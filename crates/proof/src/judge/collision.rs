//! The judge of the first contact among several bodies that turn nothing: exactly, from scratch.
//!
//! No proof is asked for of two bodies that a coordinate axis separates all the time: their extents
//! tell, at both ends of it, since they move linearly.

use super::cover::{CoverShows, Payer, Span, exact_points, judge_cover};
use super::exact::Exact;
use super::refusal::Refusal;
use super::solids::{judge_solid_motion_for, judge_solids, travel_of};
use super::still::velocity_of;
use crate::claim::{
    CollisionClaim, CollisionProof, MovingSolid, Outcome, PairCover, SolidClaim, Solids, Verdict,
};
use crate::effort::Effort;
use crate::number::dyadic::Dyadic;

/// Proves it from scratch. A step is a link of a cover, a look along a ray, or one at the extents
/// of a body.
///
/// ```
/// use clearance_geometry::claim::{
///     CollisionClaim, CollisionProof, MovingSolid, Outcome, Points, Solid, SolidKind,
/// };
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::judge::judge_collision;
/// use clearance_geometry::{Vec3, motion::Motion, pose::Pose};
///
/// # let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// # let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let solid = |z| Solid {
///     points: Points { points: &corners, pose: Pose::translation(0.0, 0.0, z) },
///     kind: SolidKind::Region(&faces),
/// };
/// // The boxes around the two are apart along z all the time: there is nothing more to prove.
/// let rest = |z| MovingSolid { solid: solid(z), motion: Motion::rest() };
/// let proof = CollisionProof::Later { contact: None, free: Vec::new() };
/// let (outcome, t_free, t_contact, pair) = (Outcome::NoContact, 1.0, 1.0, None);
/// let claim = CollisionClaim { outcome, t_free, t_contact, pair, proof: &proof };
/// let effort = &mut Effort::unlimited();
/// assert!(judge_collision(&[rest(0.0), rest(3.0)], &claim, effort).is_ok());
/// assert!(judge_collision(&[rest(0.0), rest(0.5)], &claim, effort).is_err());
/// ```
pub fn judge_collision(
    bodies: &[MovingSolid<'_>],
    claim: &CollisionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let &CollisionClaim { outcome, t_free, t_contact, pair, proof } = claim;
    let met = match (outcome, pair) {
        (Outcome::Contact, Some((pair, verdict))) => Some((two(bodies, pair)?, pair, verdict)),
        (Outcome::NoContact, None) => None,
        _ => {
            return Err(Refusal::BoundFails(
                "contact is that of two bodies, and no contact of none",
            ));
        }
    };
    let (contact, free) = match proof {
        CollisionProof::AtStart(proof) => {
            let Some((moving, [p, q], verdict)) = met else {
                return Err(Refusal::BoundFails("contact at t = 0"));
            };
            let is_at_start = t_free.abs() <= 0.0 && t_contact.abs() <= 0.0;
            if !is_at_start || verdict == Verdict::Separated || verdict != proof.verdict() {
                return Err(Refusal::BoundFails("contact at t = 0"));
            }
            return judge_solids(&solids(moving), proof, effort)
                .map_err(|why| of_pair([p, q], why));
        }
        CollisionProof::Later { contact, free } => (contact.as_ref(), free),
    };
    let payer = &mut Payer::new(effort);
    let end = if outcome == Outcome::Contact { t_contact } else { 1.0 };
    if !(0.0..=1.0).contains(&t_free) || !(t_free..=1.0).contains(&end) {
        return Err(Refusal::BoundFails("0 <= t_free <= t_contact <= 1"));
    }
    if let Some((moving, [p, q], verdict)) = met {
        if verdict != Verdict::Separated {
            return Err(Refusal::BoundFails("separated at t = 0"));
        }
        let proof = contact.ok_or(Refusal::PairOpen(p, q))?;
        let claim = SolidClaim { outcome, t_free, t_contact, proof };
        judge_solid_motion_for(&solids(moving), moving.map(|body| &body.motion), &claim, payer)
            .map_err(|why| of_pair([p, q], why))?;
    } else if t_free < 1.0 {
        return Err(Refusal::BoundFails("no contact is free until the end"));
    }
    judge_others(bodies, met.map(|(_, pair, _)| pair), t_free, free, payer)
}

fn two<'a, 'b>(
    bodies: &'a [MovingSolid<'b>],
    [p, q]: [u32; 2],
) -> Result<[&'a MovingSolid<'b>; 2], Refusal> {
    match (bodies.get(p as usize), bodies.get(q as usize)) {
        (Some(first), Some(second)) if p < q => Ok([first, second]),
        _ => Err(Refusal::BoundFails("P and Q are two of the bodies, in order")),
    }
}

fn solids<'a>([p, q]: [&MovingSolid<'a>; 2]) -> Solids<'a> {
    Solids { p: p.solid, q: q.solid }
}

/// That there was no effort left is no fault of the pair.
fn of_pair([p, q]: [u32; 2], why: Refusal) -> Refusal {
    if matches!(why, Refusal::Stopped(_)) { why } else { Refusal::PairFails(p, q, Box::new(why)) }
}

/// All pairs but that of the contact: each has a cover, or is separated along an axis.
fn judge_others(
    bodies: &[MovingSolid<'_>],
    met: Option<[u32; 2]>,
    until: f64,
    free: &[PairCover],
    payer: &mut Payer<'_, '_>,
) -> Result<(), Refusal> {
    let in_order = free.is_sorted_by(|a, b| a.pair < b.pair);
    let out_of_order =
        |at: usize| two(bodies, free[at].pair).is_err() || Some(free[at].pair) == met;
    if let Some(at) = (0..free.len()).find(|&at| out_of_order(at)) {
        return Err(Refusal::PairOrder(at));
    }
    if !in_order {
        return Err(Refusal::PairOrder(free.len()));
    }
    for PairCover { pair, cover } in free {
        let moving = two(bodies, *pair)?;
        let solids = solids(moving);
        let travel = travel_of(&solids, moving.map(|body| &body.motion))?;
        let span = Span { travel, until, may_touch_at_end: false };
        judge_cover(&solids, &CoverShows::OnTheWay(span), cover, payer)
            .map_err(|why| of_pair(*pair, why))?;
    }
    let is_listed = |pair: [u32; 2]| free.binary_search_by(|listed| listed.pair.cmp(&pair)).is_ok();
    let unlisted = near_pairs(bodies, until, payer.effort)?
        .into_iter()
        .find(|pair| Some(*pair) != met && !is_listed(*pair));
    unlisted.map_or(Ok(()), |[p, q]| Err(Refusal::PairOpen(p, q)))
}

/// The pairs of bodies that no coordinate axis separates on all of [0, until].
fn near_pairs(
    bodies: &[MovingSolid<'_>],
    until: f64,
    effort: &mut Effort<'_>,
) -> Result<Vec<[u32; 2]>, Refusal> {
    let mut swept = Vec::with_capacity(bodies.len());
    for body in bodies {
        effort.spend_step()?;
        swept.push(Swept::new(body, until, effort)?);
    }
    let mut near = Vec::new();
    for (q, second) in (0..).zip(&swept) {
        effort.spend_step()?;
        let others = (0..q).zip(&swept);
        near.extend(others.filter(|(_, first)| !first.is_beside(second)).map(|(p, _)| [p, q]));
    }
    Ok(near)
}

/// The least and greatest coordinates of a body at both ends of a time.
struct Swept {
    ends: [[Exact; 2]; 2],
}

impl Swept {
    fn new(body: &MovingSolid<'_>, until: f64, effort: &mut Effort<'_>) -> Result<Self, Refusal> {
        let velocity = velocity_of(&body.motion, &body.solid.points.pose)
            .ok_or(Refusal::BoundFails("nothing turns"))?;
        let points = exact_points(&body.solid, effort)?;
        let extreme = |k: usize, is_low: bool| -> Dyadic {
            let along = points.iter().map(|point| &point[k]);
            let found = if is_low { along.min() } else { along.max() };
            found.cloned().unwrap_or_else(Dyadic::zero)
        };
        let at_start: [Exact; 2] =
            [true, false].map(|is_low| std::array::from_fn(|k| extreme(k, is_low)));
        let until = Dyadic::from(until);
        let at_end = at_start.each_ref().map(|bound| -> Exact {
            std::array::from_fn(|k| &bound[k] + &(&velocity[k] * &until))
        });
        Ok(Self { ends: [at_start, at_end] })
    }

    /// Along one axis, and on the same side at both ends.
    fn is_beside(&self, other: &Self) -> bool {
        let is_below = |a: &Self, b: &Self, k: usize| {
            a.ends.iter().zip(&b.ends).all(|([_, high], [low, _])| high[k] < low[k])
        };
        (0..3).any(|k| is_below(self, other, k) || is_below(other, self, k))
    }
}
