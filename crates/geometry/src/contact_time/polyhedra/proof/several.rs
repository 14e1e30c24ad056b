//! Which of several bodies meet first: the proof of these, and of all others that they do not meet
//! before, each as if it were alone. Pairs that a coordinate axis separates all the time need none.

use super::cover::{Bounds, Room, cover};
use super::{Unproven, prove_motion_in, prove_verdict};
use crate::Vec3;
use crate::claim::{CollisionProof, Cover, PairCover, SolidMotionProof, Verdict};
use crate::contact_time::Travel;
use crate::contact_time::polyhedra::Collision;
use crate::effort::{Effort, Stopped};
use crate::number::interval::Interval;
use crate::polyhedron::HulledBody;
use crate::polyhedron::placed::Stand;
use crate::polyhedron::tree::Extent;

/// One of several bodies.
#[derive(Clone, Copy, Debug)]
pub struct Several<'a> {
    /// The body at t = 0.
    pub shape: HulledBody<'a>,
    /// How far it comes.
    pub travel: Travel,
}

/// A proof of which parts may be missing.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is proven; none: nothing.
    pub proof: Option<CollisionProof>,
    /// Pairs of which nothing is proven: that of the contact, then others in order. None are named
    /// where there was no effort left to find out which need a proof.
    pub open: Vec<[u32; 2]>,
    /// Why not, of the first of them.
    pub why: Option<Unproven>,
}

/// The proof of a first contact among several bodies, or that there is none. All covers together
/// have at most `steps_max` steps and links.
pub fn prove_collision(
    bodies: &[Several<'_>],
    found: Option<&Collision>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Found {
    if let Some(Collision { pair, initial, contact, .. }) = found
        && *initial != Verdict::Separated
    {
        let shapes = pair.map(|place| &bodies[place].shape);
        return match prove_verdict(shapes, *initial, Some(&contact.faces), steps_max, effort) {
            Ok(proof) => {
                Found { proof: Some(CollisionProof::AtStart(proof)), open: Vec::new(), why: None }
            }
            Err(why) => Found { proof: None, open: vec![places(*pair)], why: Some(why) },
        };
    }
    prove_later(bodies, found, steps_max, effort)
}

/// Proves what is found about bodies that are separated at t = 0.
fn prove_later(
    bodies: &[Several<'_>],
    found: Option<&Collision>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Found {
    let until = found.map_or(1.0, |found| found.contact.t_free);
    let room = &mut Room::new(steps_max);
    let mut near = match near_pairs(bodies, until, effort) {
        Ok(near) => near,
        Err(why) => return Found { proof: None, open: Vec::new(), why: Some(why.into()) },
    };
    let (mut open, mut why) = (Vec::new(), None);
    let mut note = |pair: [u32; 2], reason: Unproven| {
        open.push(pair);
        why.get_or_insert(reason);
    };
    let contact = found.and_then(|found| match prove_met(bodies, found, room, effort) {
        Ok(proof) => Some(proof),
        Err(reason) => {
            note(places(found.pair), reason);
            None
        }
    });
    near.retain(|pair| found.is_none_or(|found| places(found.pair) != *pair));
    let (mut free, mut stopped) = (Vec::new(), None);
    for pair in near {
        if let Some(reason) = stopped {
            note(pair, reason);
            continue;
        }
        match prove_free(pair.map(|place| &bodies[place as usize]), until, room, effort) {
            Ok(cover) => free.push(PairCover { pair, cover }),
            Err(reason) => {
                // With nothing left to pay with, the next ones are not even begun.
                stopped = matches!(reason, Unproven::Stopped(_)).then_some(reason);
                note(pair, reason);
            }
        }
    }
    Found { proof: Some(CollisionProof::Later { contact, free }), open, why }
}

fn prove_met(
    bodies: &[Several<'_>],
    found: &Collision,
    room: &mut Room,
    effort: &mut Effort<'_>,
) -> Result<SolidMotionProof, Unproven> {
    let moving = found.pair.map(|place| &bodies[place]);
    let (shapes, travels) = (moving.map(|body| &body.shape), moving.map(|body| body.travel));
    prove_motion_in(shapes, travels, Some(&found.contact), room, effort)
}

fn prove_free(
    moving: [&Several<'_>; 2],
    until: f64,
    room: &mut Room,
    effort: &mut Effort<'_>,
) -> Result<Cover, Unproven> {
    // A pair takes some room in the list, whatever its cover.
    room.take(1, 0)?;
    let (shapes, travels) = (moving.map(|body| &body.shape), moving.map(|body| body.travel));
    cover(shapes, travels, &Bounds { until, may_touch_at_end: false }, room, effort)
}

fn places(pair: [usize; 2]) -> [u32; 2] {
    pair.map(|place| u32::try_from(place).unwrap_or(u32::MAX))
}

/// The pairs of bodies that no coordinate axis surely separates on all of [0, until], in order:
/// perhaps some more than those that none does.
fn near_pairs(
    bodies: &[Several<'_>],
    until: f64,
    effort: &Effort<'_>,
) -> Result<Vec<[u32; 2]>, Stopped> {
    let boxes = |body| effort.look_at_clock().map(|()| swept(body, until));
    let swept: Vec<[Extent; 2]> = bodies.iter().map(boxes).collect::<Result<_, Stopped>>()?;
    let is_below = |a: &[Extent; 2], b: &[Extent; 2], k: usize| {
        a.iter().zip(b).all(|(a, b)| a.high[k] < b.low[k])
    };
    let is_beside = |a, b| (0..3).any(|k| is_below(a, b, k) || is_below(b, a, k));
    let mut near = Vec::new();
    for (p, first) in (0..).zip(&swept) {
        effort.look_at_clock()?;
        let rest = (p + 1..).zip(&swept[p as usize + 1..]);
        near.extend(rest.filter(|(_, second)| !is_beside(first, second)).map(|(q, _)| [p, q]));
    }
    Ok(near)
}

/// Boxes that hold a body at t = 0 and at `until`. In between its ends are between theirs.
fn swept(body: &Several<'_>, until: f64) -> [Extent; 2] {
    let Several { shape, travel } = body;
    let at_start = Stand::new(shape.body, shape.pose).whole();
    let at_end = |bound: &Vec3, k: usize| {
        let way = Interval::difference(travel.to[k], travel.from[k]);
        Interval::point(bound[k]) + way * Interval::point(until)
    };
    let moved = Extent {
        low: Vec3::from_fn(|k, _| at_end(&at_start.low, k).low()),
        high: Vec3::from_fn(|k, _| at_end(&at_start.high, k).high()),
    };
    [at_start, moved]
}
