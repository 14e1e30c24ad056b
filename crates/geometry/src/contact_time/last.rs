//! The last moment of a step at which two bodies are in contact: the first contact of the motion
//! run backwards, `t -> 1 - t`, found by the same searches.
//!
//! A translation backwards is one, exactly. A screw backwards is one, too; but the residue that
//! makes a motion end exactly at its pose is added linearly in t, and of the way back it is another
//! one, since it is turned with the body. With E the residue on the way there, `l` the lever and c
//! the pivot of the way back, the places of a vertex v on the two ways differ by
//! `(Rot(-θs) - 1) w - s (Rot(-θ) - 1) w` with `w = E v + (pivot there + its velocity - c)`: a few
//! units in the last place of the coordinates. The way back is searched with that as a deviation,
//! so what is free on it is free on the way there; and contact is proven anew on the way there.

use super::method::Method;
use super::rotating;
use super::travel::translation_of;
use super::{Question, first_contact_by};
use crate::Vec3;
use crate::claim::Outcome;
use crate::effort::{Effort, Stopped};
use crate::motion::{METRES, Motion, Track, Turn};
use crate::number::double::two_sum;
use crate::number::interval::{self, Interval, IntervalVec};
use crate::pair::{Pair, Placed};
use crate::pose::Pose;
use crate::witness::Witness;

/// How often contact is looked for a little earlier, each time four times as far, where it is not
/// proven on the way there at the time at which it is on the way back.
const EARLIER_MAX: u32 = 6;

/// When two bodies are in contact last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastContact {
    /// Encloses the last moment of the step in contact: in contact at the first of these times, or
    /// later; proven free from the second on, and so is every motion within the deviations. The
    /// first is 0 where no contact could be proven. `[0, 0]` if all of the step is free.
    pub bracket: [f64; 2],
    /// Whether contact is proven at the first time of the bracket, or later.
    pub outcome: Outcome,
    /// Why less is proven than could be.
    pub stopped: Option<Stopped>,
}

/// The question about the same motion, run backwards.
#[derive(Clone, Copy, Debug)]
pub struct Backwards<'a> {
    /// With deviations that the ways back need: see the module.
    pub question: Question<'a>,
    /// Whether the ways back are exactly those there.
    pub is_same_way: bool,
}

impl<'a> Backwards<'a> {
    /// None for a motion that ends at no pose of f64 numbers.
    pub fn of(question: &Question<'a>) -> Option<Self> {
        let Pair { p, q } = &question.pair;
        let of_p = WayBack::of(p, &question.motion_p)?;
        let of_q = WayBack::of(q, &question.motion_q)?;
        let is_same_way = of_p.off <= 0.0 && of_q.off <= 0.0;
        let question = Question {
            pair: Pair::new(p.body, of_p.from, q.body, of_q.from),
            motion_p: of_p.motion,
            motion_q: of_q.motion,
            deviation_p: widened(question.deviation_p, of_p.off),
            deviation_q: widened(question.deviation_q, of_q.off),
            ..*question
        };
        Some(Self { question, is_same_way })
    }

    /// What is told of the last contact by what is found of the first one on the way back: the
    /// outcome, until when that is free, and when it is in contact. Where the ways back are not
    /// exactly those there, contact is not proven on these.
    pub fn last_contact(
        &self,
        outcome: Outcome,
        [t_free, t_contact]: [f64; 2],
        stopped: Option<Stopped>,
    ) -> LastContact {
        let free = before_end(t_free)[1];
        let (bracket, outcome) = match outcome {
            Outcome::NoContact => ([0.0; 2], outcome),
            Outcome::Undecided => ([0.0, free], outcome),
            Outcome::Contact if self.is_same_way => ([before_end(t_contact)[0], free], outcome),
            Outcome::Contact => ([0.0, free], Outcome::Undecided),
        };
        LastContact { bracket, outcome, stopped }
    }
}

/// Finds the last contact of a motion whose ends are poses. None for one that ends at no pose of
/// f64 numbers: a velocity or a screw was given instead.
pub fn last_contact_by(
    method: &Method,
    question: &Question<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<LastContact>, Stopped> {
    let Some(back) = Backwards::of(question) else { return Ok(None) };
    let found = first_contact_by(method, &back.question, &mut Witness::default(), effort)?;
    let last = back.last_contact(found.outcome, [found.t_free, found.t_contact], found.stopped);
    if found.outcome != Outcome::Contact || back.is_same_way {
        return Ok(Some(last));
    }
    let free = last.bracket[1];
    let contact = before_end(found.t_contact)[0];
    let proven = LastContact { outcome: Outcome::Contact, ..last };
    let mut lead = (free - contact).max(question.time_tolerance);
    let mut t = contact;
    for _ in 0..EARLIER_MAX {
        if t <= 0.0 {
            break;
        }
        if rotating::is_in_contact_at(question, t, &found.pairs, effort) {
            return Ok(Some(LastContact { bracket: [t, free], ..proven }));
        }
        t = (contact - lead).max(0.0);
        lead *= 4.0;
    }
    Ok(Some(last))
}

/// `1 - t`, rounded down and up.
fn before_end(t: f64) -> [f64; 2] {
    let (rest, off) = two_sum(1.0, -t);
    let low = if off < 0.0 { rest.next_down() } else { rest };
    let high = if off > 0.0 { rest.next_up() } else { rest };
    [low.max(0.0), high.min(1.0)]
}

/// A deviation with another one on top, rounded up.
fn widened(deviation: f64, off: f64) -> f64 {
    if off > 0.0 { (deviation + off).next_up() } else { deviation }
}

/// The way of a body back to where it started.
struct WayBack {
    /// Where it ended.
    from: Pose,
    motion: Motion,
    /// At most how far any of its points is on the way back from where it was on the way there,
    /// metres.
    off: f64,
}

impl WayBack {
    fn of(placed: &Placed<'_>, motion: &Motion) -> Option<Self> {
        let start = placed.pose;
        match motion {
            Motion::Linear { velocity } if velocity.amax() <= 0.0 => {
                Some(Self { from: start, motion: *motion, off: 0.0 })
            }
            Motion::ToPose { end, .. } if translation_of(motion, &start).is_some() => {
                let back = Motion::ToPose { end: start, pivot: None, turn: None };
                Some(Self { from: *end, motion: back, off: 0.0 })
            }
            Motion::ToPose { end, pivot, turn } => {
                let turn = Motion::turn_to(&start, end, turn);
                let there = Track::new(&start, motion, METRES);
                let pivot = pivot.unwrap_or(start.translation);
                let arrived = interval::add(&interval::point(&pivot), &there.velocity);
                let pivot = interval::middle(&arrived);
                let turned_back = Turn { axis: -turn.axis, angle: turn.angle };
                let motion =
                    Motion::ToPose { end: start, pivot: Some(pivot), turn: Some(turned_back) };
                let missed = interval::sub(&arrived, &interval::point(&pivot));
                let off = between(&there, &missed, placed);
                (off.is_finite() && off > 0.0).then_some(Self { from: *end, motion, off })
            }
            Motion::Linear { .. } | Motion::Screw { .. } => None,
        }
    }
}

/// At most how far the two ways are from each other: see the module. `missed` is by how much the
/// pivot of the way back misses that of the way there.
fn between(there: &Track, missed: &IntervalVec, placed: &Placed<'_>) -> f64 {
    let bounds = placed.body.bounds();
    let [low, high]: [Vec3; 2] = [bounds.low, bounds.high];
    let residue = match there.residue() {
        None => [Interval::ZERO; 3],
        Some(rows) => {
            let within = |k: usize| Interval::new(low[k], high[k]);
            let row = |i: usize| {
                let term = |k: usize| rows[i][k] * within(k);
                (term(0) + term(1)) + term(2)
            };
            [row(0), row(1), row(2)]
        }
    };
    let w = interval::norm(&interval::add(&residue, missed)).high();
    // Both turns are by at most θ, and change a vector by at most twice its length. The factor of
    // two more is room for the rounding of this product.
    4.0 * there.angle.abs().min(2.0) * w + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests;
