//! The judge of a first contact: from scratch, looking at every vertex, sharing with the searches
//! only what a motion means and how intervals are rounded.
//!
//! Translations are judged in exact arithmetic; so is everything at t = 0. Turning bodies are judged
//! with outward-rounded intervals ([`super::judge_link`]).

use dashu_int::ops::BitTest;

use super::judge::{
    Exact, Refusal, exact_differences, exact_direction, gap_along, holds_origin, judge_static,
    scalar_product, vector_product,
};
use super::judge_distance::judge_distance;
use super::judge_link::{Mover, Movers};
use super::{Link, Verdict};
use crate::geometry::Vec3;
use crate::geometry::contact_time::{FirstContact, Outcome, Question};
use crate::geometry::motion::Motion;
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::number::interval::{
    self, Interval, IntervalVec, add, cross, dot, norm, scaled,
};
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::pose::Pose;

/// Proves what the answer claims: the verdict at t = 0, that the bodies (and every motion within
/// the deviations) are farther apart than the margin on [0, t_free], and contact by t_contact.
pub fn judge_first_contact(question: &Question<'_>, answer: &FirstContact) -> Result<(), Refusal> {
    judge_static(&question.pair, &answer.initial)?;
    if !(0.0..=1.0).contains(&answer.t_free) || !(answer.t_free..=1.0).contains(&answer.t_contact) {
        return Err(Refusal::BoundFails("0 <= t_free <= t_contact <= 1"));
    }
    let contact = answer.outcome == Outcome::Contact;
    if contact && answer.t_contact <= 0.0 {
        return judge_contact_at_start(question, answer);
    }
    let free_until = if answer.outcome == Outcome::NoContact { 1.0 } else { answer.t_free };
    // An empty chain claims nothing: t_free is 0, and what holds there says `initial`.
    if !(answer.chain.is_empty() && free_until <= 0.0) {
        judge_cover(&answer.chain, free_until)?;
    }
    let judge = MotionJudge::new(question);
    for (at, link) in answer.chain.iter().enumerate() {
        judge.judge_link(at, link)?;
    }
    if contact { judge.judge_contact(answer) } else { Ok(()) }
}

fn judge_contact_at_start(question: &Question<'_>, answer: &FirstContact) -> Result<(), Refusal> {
    if answer.initial.verdict() != Verdict::Separated {
        return Ok(());
    }
    if question.margin > 0.0 {
        return judge_distance(&question.pair, 0.0, question.margin, &answer.pairs);
    }
    Err(Refusal::OriginNotHeld)
}

/// The links' closed intervals join and cover [0, end].
fn judge_cover(chain: &[Link], end: f64) -> Result<(), Refusal> {
    let mut covered = 0.0;
    for (at, link) in chain.iter().enumerate() {
        let in_order = 0.0 <= link.t0 && link.t0 <= link.t1 && link.t1 <= 1.0;
        if !in_order || link.t0 > covered {
            return Err(Refusal::ChainGap(at));
        }
        covered = link.t1.max(covered);
    }
    if chain.is_empty() || covered < end { Err(Refusal::ChainGap(chain.len())) } else { Ok(()) }
}

struct MotionJudge<'a> {
    question: &'a Question<'a>,
    /// Of Q against P, if both only translate.
    translation: Option<Exact>,
    scale: Option<PowerOfTwo>,
    movers: Movers,
}

impl<'a> MotionJudge<'a> {
    fn new(question: &'a Question<'a>) -> Self {
        let scale = scale_of(question);
        let (p, q) = (&question.pair.p, &question.pair.q);
        let movers = Movers {
            p: Mover::new(p, &question.motion_p, scale),
            q: Mover::new(q, &question.motion_q, scale),
            between: [0, 1, 2].map(|k| match scale {
                None => Interval::difference(q.pose.translation[k], p.pose.translation[k]),
                Some(scale) => {
                    let at = |x: f64| {
                        let x = scale.times(x);
                        Interval::new(x.next_down(), x.next_up())
                    };
                    at(q.pose.translation[k]) - at(p.pose.translation[k])
                }
            }),
        };
        let velocity_p = velocity_of(&question.motion_p, &p.pose);
        let velocity_q = velocity_of(&question.motion_q, &q.pose);
        let translation = match (velocity_p, velocity_q) {
            (Some(of_p), Some(of_q)) => Some(std::array::from_fn(|k| &of_q[k] - &of_p[k])),
            _ => None,
        };
        Self { question, translation, scale, movers }
    }

    fn judge_link(&self, at: usize, link: &Link) -> Result<(), Refusal> {
        let question = self.question;
        let s = exact_direction(&question.pair, &link.direction)?;
        let separates = if let Some(apart) = &self.translation {
            // Without rotation every frame is the world's, and the gap is linear in t.
            let gap = gap_along(&question.pair, &s);
            let rate = scalar_product(&s, apart);
            let clear = &(&Dyadic::from(question.margin) + &Dyadic::from(question.deviation_p))
                + &Dyadic::from(question.deviation_q);
            let clear_squared = &(&clear * &clear) * &scalar_product(&s, &s);
            [link.t0, link.t1].into_iter().all(|t| {
                let gap = &gap + &(&rate * &Dyadic::from(t));
                gap.sign() == Sign::Positive && &gap * &gap > clear_squared
            })
        } else {
            let up = |x: f64| self.scale.map_or(x, |scale| scale.times(x).next_up());
            let clear = Interval::point(up(question.margin))
                + Interval::point(up(question.deviation_p))
                + Interval::point(up(question.deviation_q));
            let clear = if clear.high() > 1e-320 { clear.high() } else { 0.0 };
            self.movers.separates(link.frame, &enclosed(&s), clear, (link.t0, link.t1))
        };
        if separates { Ok(()) } else { Err(Refusal::LinkFails(at)) }
    }

    fn judge_contact(&self, answer: &FirstContact) -> Result<(), Refusal> {
        let (question, pairs) = (self.question, &answer.pairs);
        if pairs.is_empty() {
            return Err(Refusal::PairCount("one to six"));
        }
        let at_start = exact_differences(&question.pair, pairs)?;
        let bare = question.margin <= 0.0;
        if let (Some(apart), true) = (&self.translation, bare) {
            // For some t in the bracket the hull of the d + w t holds the origin, exactly if the
            // hull of those at both ends does: weights of both ends mix the times.
            let at = |t: f64| {
                let t = Dyadic::from(t);
                at_start.iter().map(move |d| std::array::from_fn(|k| &d[k] + &(&apart[k] * &t)))
            };
            let points: Vec<Exact> = at(answer.t_free).chain(at(answer.t_contact)).collect();
            let held = holds_origin(&points) || holds_origin_in_solid(&points);
            return if held { Ok(()) } else { Err(Refusal::OriginNotHeld) };
        }
        let t = answer.t_contact;
        let trigs = (self.movers.p.track.trig(t), self.movers.q.track.trig(t));
        let differences: Vec<IntervalVec> = pairs
            .iter()
            .map(|pair| {
                let vertices =
                    (question.pair.p.body.vertex(pair.i), question.pair.q.body.vertex(pair.j));
                self.movers.difference(vertices, (&trigs.0, &trigs.1), t)
            })
            .collect();
        let margin = self
            .scale
            .map_or(question.margin, |scale| scale.times(question.margin).next_down().max(0.0));
        let met = surely_held(&differences) || (!bare && surely_within(&differences, margin));
        if met { Ok(()) } else { Err(Refusal::OriginNotHeld) }
    }
}

/// Of a motion that turns nothing, exactly. The recipe for the angle between two equal rotations
/// gives 0, since `R Rᵀ` comes out symmetric.
fn velocity_of(motion: &Motion, start: &Pose) -> Option<Exact> {
    let exact = |v: &Vec3| std::array::from_fn(|k| Dyadic::from(v[k]));
    match motion {
        Motion::Linear { velocity } => Some(exact(velocity)),
        Motion::Screw { velocity, angle, .. } if angle.abs() <= 0.0 => Some(exact(velocity)),
        Motion::ToPose { end, .. } if end.rotation == start.rotation => {
            let (from, to): (Exact, Exact) = (exact(&start.translation), exact(&end.translation));
            Some(std::array::from_fn(|k| &to[k] - &from[k]))
        }
        Motion::Screw { .. } | Motion::ToPose { .. } => None,
    }
}

/// The factor that brings the lengths of the question into a range where products do not overflow.
fn scale_of(question: &Question<'_>) -> Option<PowerOfTwo> {
    let pair = &question.pair;
    let mut lengths: Vec<Vec3> = Vec::new();
    for placed in [&pair.p, &pair.q] {
        lengths.push(placed.pose.translation);
        lengths.push(placed.body.bounds().reach);
    }
    lengths.extend(question.motion_p.lengths());
    lengths.extend(question.motion_q.lengths());
    PowerOfTwo::that_tames(&lengths)
}

/// The direction, up to a positive factor, in f64 intervals.
fn enclosed(s: &Exact) -> IntervalVec {
    let top = |d: &Dyadic| d.exponent() + i64::try_from(d.mantissa().bit_len()).expect("memory");
    let highest =
        s.iter().filter(|d| d.sign() != Sign::Zero).map(top).max().expect("not the zero vector");
    [0, 1, 2].map(|k| {
        let bits = s[k].mantissa().bit_len();
        let cut = bits.saturating_sub(53);
        // Shifting rounds down, also below zero.
        let low = f64::try_from(s[k].mantissa() >> cut);
        let low = low.expect("at most 53 bits and a sign");
        let exponent = s[k].exponent() + i64::try_from(cut).expect("memory") - highest;
        // Far below the largest coordinate nothing matters but the sign.
        let power = PowerOfTwo::new(i32::try_from(exponent.max(-3000)).expect("at most 0"));
        let exact = cut == 0 && exponent > -1000;
        let high = if cut == 0 { low } else { low + 1.0 };
        let (low, high) = (power.times(low), power.times(high));
        if exact {
            Interval::new(low, high)
        } else {
            Interval::new(low.next_down(), high.next_up())
        }
    })
}

/// The origin in a tetrahedron of four of the points, boundary included.
fn holds_origin_in_solid(points: &[Exact]) -> bool {
    let n = points.len();
    let determinant =
        |a: &Exact, b: &Exact, c: &Exact| scalar_product(a, &vector_product(b, c)).sign();
    (0..n).any(|d| {
        (0..d).any(|c| {
            (0..c).any(|b| {
                (0..b).any(|a| {
                    let [a, b, c, d] = [a, b, c, d].map(|k| &points[k]);
                    let signs = [
                        determinant(b, c, d),
                        -determinant(a, c, d),
                        determinant(a, b, d),
                        -determinant(a, b, c),
                    ];
                    let has = |sign: Sign| signs.contains(&sign);
                    has(Sign::Positive) != has(Sign::Negative)
                })
            })
        })
    })
}

/// Whether vectors from the enclosures surely lie in no closed half space: for every two of them,
/// others lie surely on both sides of the plane through the two. (A half space that held all could
/// be turned until two independent ones are on its plane.)
fn surely_held(vectors: &[IntervalVec]) -> bool {
    let splits = |a: usize, b: usize| {
        let normal = cross(&vectors[a], &vectors[b]);
        let meets = |side: Sign| {
            let others = (0..vectors.len()).filter(|c| *c != a && *c != b);
            others.into_iter().any(|c| dot(&normal, &vectors[c]).sign() == Some(side))
        };
        meets(Sign::Positive) && meets(Sign::Negative)
    };
    vectors.len() >= 4 && (0..vectors.len()).all(|b| (0..b).all(|a| splits(a, b)))
}

/// Whether the hull of vectors from the enclosures surely has a point within `margin` of the
/// origin: the best of their means with weights that a descent in f64 finds.
fn surely_within(vectors: &[IntervalVec], margin: f64) -> bool {
    let middles: Vec<Vec3> = vectors.iter().map(interval::middle).collect();
    let mut weights = vec![1.0 / vectors.len() as f64; vectors.len()];
    // Frank-Wolfe with away steps on the squared distance; a handful of vectors at most.
    for _ in 0..4000 {
        let mean: Vec3 = middles.iter().zip(&weights).map(|(v, w)| v * *w).sum();
        let height = |k: usize| mean.dot(&middles[k]);
        let by_height = |a: &usize, b: &usize| height(*a).total_cmp(&height(*b));
        let low = (0..weights.len()).min_by(by_height).expect("not empty");
        let used = (0..weights.len()).filter(|k| weights[*k] > 0.0);
        let high = used.max_by(by_height).expect("weights have sum 1");
        let along = middles[low] - middles[high];
        let step = (-mean.dot(&along) / along.norm_squared()).min(weights[high]);
        let useful = step > 0.0;
        if !useful {
            break;
        }
        weights[low] += step;
        weights[high] -= step;
    }
    let mut mean = [Interval::ZERO; 3];
    let mut total = Interval::ZERO;
    for (vector, weight) in vectors.iter().zip(weights) {
        let weight = Interval::point(weight.max(0.0));
        mean = add(&mean, &scaled(vector, weight));
        total = total + weight;
    }
    norm(&mean).high() <= total.scale(margin).low()
}
