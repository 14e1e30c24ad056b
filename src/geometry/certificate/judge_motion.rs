//! The judge of a first contact: from scratch, looking at every vertex, sharing with the searches
//! only what a motion means and how intervals are rounded.
//!
//! Translations are judged in exact arithmetic; so is everything at t = 0. Turning bodies are judged
//! with outward-rounded intervals ([`super::judge_link`]).

use dashu_int::ops::BitTest;

use super::bodies::Bodies;
use super::judge::{
    Exact, Refusal, exact_differences, exact_direction, exact_direction_of_link, gap_along,
    holds_origin, judge_static, scalar_product,
};
use super::judge_distance::comes_within;
use super::judge_link::{Mover, Movers};
use super::judge_meeting::{held_at_the_end, holds_origin_in_solid, surely_held_in_a_plane};
use super::{Link, StaticProof, Verdict};
use crate::geometry::Vec3;
use crate::geometry::contact_time::{FirstContact, Outcome, Question};
use crate::geometry::effort::Effort;
use crate::geometry::motion::{self, Boxed, Motion};
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::number::interval::{self, Interval, IntervalVec, cross, dot, norm};
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::pair::VertexPair;
use crate::geometry::pose::Pose;

/// Two bodies as they move, and what counts as free and as contact.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The bodies at t = 0.
    pub bodies: Bodies<'a>,
    /// How P moves.
    pub motion_p: Motion,
    /// How Q moves.
    pub motion_q: Motion,
    /// Contact means distance at most this, metres.
    pub margin: f64,
    /// Freedom holds for every motion of P within this of the stated one, metres.
    pub deviation_p: f64,
    /// The same for Q.
    pub deviation_q: f64,
}

impl<'a> From<&Question<'a>> for Course<'a> {
    fn from(question: &Question<'a>) -> Self {
        let &Question { ref pair, motion_p, motion_q, margin, deviation_p, deviation_q, .. } =
            question;
        Self { bodies: pair.into(), motion_p, motion_q, margin, deviation_p, deviation_q }
    }
}

/// What is claimed of a course; see [`FirstContact`].
#[derive(Clone, Copy, Debug)]
pub struct MotionClaim<'a> {
    /// Contact, no contact or undecided.
    pub outcome: Outcome,
    /// Free on the closed [0, t_free]; 1 when there is no contact.
    pub t_free: f64,
    /// In contact by then; does not matter when there is none.
    pub t_contact: f64,
    /// Covers [0, t_free]. Empty for contact at t = 0; else, with `t_free` 0, it leaves to `initial` that
    /// the bodies are free as they are given, which says nothing of any deviation. Undecided, it then says
    /// nothing of the margin either.
    pub chain: &'a [Link],
    /// Prove contact.
    pub pairs: &'a [VertexPair],
    /// The verdict at t = 0, if it is claimed. Contact at t = 0 is proven by it or by `pairs`;
    /// freedom there, with an empty chain, by its direction, along which the gap is wider than the
    /// margin.
    pub initial: Option<&'a StaticProof>,
}

impl<'a> From<&'a FirstContact> for MotionClaim<'a> {
    fn from(answer: &'a FirstContact) -> Self {
        Self {
            outcome: answer.outcome,
            t_free: answer.t_free,
            t_contact: answer.t_contact,
            chain: &answer.chain,
            pairs: &answer.pairs,
            initial: Some(&answer.initial),
        }
    }
}

/// Proves what the answer claims: the verdict at t = 0, that the bodies (and every motion within
/// the deviations) are farther apart than the margin on [0, t_free], and contact by t_contact.
pub fn judge_first_contact(question: &Question<'_>, answer: &FirstContact) -> Result<(), Refusal> {
    judge_motion(&question.into(), &answer.into(), &mut Effort::unlimited())
}

/// The same of any claim. A chain may be as long as a message holds, and each of its links takes a look at
/// all vertices or many: each look is a step.
pub fn judge_motion(
    course: &Course<'_>,
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if let Some(initial) = claim.initial {
        judge_static(course.bodies, initial)?;
    }
    let contact = claim.outcome == Outcome::Contact;
    let end = if contact { claim.t_contact } else { 1.0 };
    if !(0.0..=1.0).contains(&claim.t_free) || !(claim.t_free..=1.0).contains(&end) {
        return Err(Refusal::BoundFails("0 <= t_free <= t_contact <= 1"));
    }
    if claim.outcome == Outcome::NoContact && claim.t_free < 1.0 {
        return Err(Refusal::BoundFails("no contact is free until the end"));
    }
    if contact && claim.t_contact <= 0.0 {
        return judge_contact_at_start(course, claim);
    }
    judge_cover(course, claim)?;
    let judge = MotionJudge::new(course);
    for (at, link) in claim.chain.iter().enumerate() {
        effort.spend_step()?;
        judge.judge_link(at, link, effort)?;
    }
    if contact { judge.judge_contact(claim) } else { Ok(()) }
}

fn judge_contact_at_start(course: &Course<'_>, claim: &MotionClaim<'_>) -> Result<(), Refusal> {
    if !claim.chain.is_empty() {
        return Err(Refusal::ChainGap(0));
    }
    if claim.initial.is_some_and(|initial| initial.verdict() != Verdict::Separated) {
        return Ok(());
    }
    if !(1..=6).contains(&claim.pairs.len()) {
        return Err(Refusal::PairCount("one to six"));
    }
    let differences = exact_differences(&course.bodies, claim.pairs)?;
    let held = holds_origin(&differences)
        || holds_origin_in_solid(&differences)
        || (course.margin > 0.0 && are_within(&differences, course.margin));
    if held { Ok(()) } else { Err(Refusal::OriginNotHeld) }
}

/// Whether the hull of at most six vectors has a point within `margin` of the origin.
fn are_within(vectors: &[Exact], margin: f64) -> bool {
    comes_within(vectors, &[0.0; 6][..vectors.len()], margin)
}

/// The links' closed intervals join and cover [0, t_free].
fn judge_cover(course: &Course<'_>, claim: &MotionClaim<'_>) -> Result<(), Refusal> {
    let chain = claim.chain;
    if chain.is_empty() && claim.t_free <= 0.0 {
        return judge_start(course, claim);
    }
    let mut covered = 0.0;
    for (at, link) in chain.iter().enumerate() {
        let in_order = 0.0 <= link.t0 && link.t0 <= link.t1 && link.t1 <= 1.0;
        if !in_order || link.t0 > covered {
            return Err(Refusal::ChainGap(at));
        }
        covered = link.t1.max(covered);
    }
    let reaches = !chain.is_empty() && covered >= claim.t_free;
    if reaches { Ok(()) } else { Err(Refusal::ChainGap(chain.len())) }
}

/// The start, as it is given, is farther apart than the margin. A verdict of SEPARATED alone does not
/// say so: contact within the margin would be contact at t = 0, and the bracket false. Without a bracket
/// the verdict is all that is claimed.
fn judge_start(course: &Course<'_>, claim: &MotionClaim<'_>) -> Result<(), Refusal> {
    let Some(StaticProof::Separated { direction }) = claim.initial else {
        return Err(Refusal::ChainGap(0));
    };
    if claim.outcome == Outcome::Undecided {
        return Ok(());
    }
    let s = exact_direction(&course.bodies, direction)?;
    let gap = gap_along(&course.bodies, &s);
    let margin = Dyadic::from(course.margin);
    let clear_squared = &(&margin * &margin) * &scalar_product(&s, &s);
    if gap.sign() == Sign::Positive && &gap * &gap > clear_squared {
        Ok(())
    } else {
        Err(Refusal::BoundFails("the start is farther apart than the margin"))
    }
}

struct MotionJudge<'a> {
    course: &'a Course<'a>,
    /// Of Q against P, if both only translate.
    translation: Option<Exact>,
    scale: Option<PowerOfTwo>,
    movers: Movers,
}

impl<'a> MotionJudge<'a> {
    fn new(course: &'a Course<'a>) -> Self {
        let scale = scale_of(course);
        let (p, q) = (&course.bodies.p, &course.bodies.q);
        let of_p = Mover::new(p, &course.motion_p, scale);
        let of_q = Mover::new(q, &course.motion_q, scale);
        let between = motion::between((&p.pose, &of_p.track), (&q.pose, &of_q.track));
        let movers = Movers { p: of_p, q: of_q, between };
        let velocity_p = velocity_of(&course.motion_p, &p.pose);
        let velocity_q = velocity_of(&course.motion_q, &q.pose);
        let translation = match (velocity_p, velocity_q) {
            (Some(of_p), Some(of_q)) => Some(std::array::from_fn(|k| &of_q[k] - &of_p[k])),
            _ => None,
        };
        Self { course, translation, scale, movers }
    }

    fn judge_link(&self, at: usize, link: &Link, effort: &mut Effort<'_>) -> Result<(), Refusal> {
        let course = self.course;
        let travel = self.translation.as_ref();
        let s = exact_direction_of_link(&course.bodies, &link.direction, travel)?;
        let separates = if let Some(apart) = &self.translation {
            // Without rotation every frame is the world's, and the gap is linear in t.
            let gap = gap_along(&course.bodies, &s);
            let rate = scalar_product(&s, apart);
            let clear = &(&Dyadic::from(course.margin) + &Dyadic::from(course.deviation_p))
                + &Dyadic::from(course.deviation_q);
            let clear_squared = &(&clear * &clear) * &scalar_product(&s, &s);
            [link.t0, link.t1].into_iter().all(|t| {
                let gap = &gap + &(&rate * &Dyadic::from(t));
                gap.sign() == Sign::Positive && &gap * &gap > clear_squared
            })
        } else {
            let up = |x: f64| self.scale.map_or(x, |scale| scale.times(x).next_up());
            let clear = Interval::point(up(course.margin))
                + Interval::point(up(course.deviation_p))
                + Interval::point(up(course.deviation_q));
            let clear = if clear.high() > 1e-320 { clear.high() } else { 0.0 };
            self.movers.separates(link.frame, &enclosed(&s), clear, (link.t0, link.t1), effort)?
        };
        if separates { Ok(()) } else { Err(Refusal::LinkFails(at)) }
    }

    fn judge_contact(&self, claim: &MotionClaim<'_>) -> Result<(), Refusal> {
        let (course, pairs) = (self.course, claim.pairs);
        let bare = course.margin <= 0.0;
        let (most, words) = match (&self.translation, bare) {
            (Some(_), true) => (4, "one to four"),
            _ => (6, "one to six"),
        };
        if !(1..=most).contains(&pairs.len()) {
            return Err(Refusal::PairCount(words));
        }
        let at_start = exact_differences(&course.bodies, pairs)?;
        if let Some(apart) = &self.translation {
            let at = |t: f64| {
                let t = Dyadic::from(t);
                at_start.iter().map(move |d| std::array::from_fn(|k| &d[k] + &(&apart[k] * &t)))
            };
            if bare {
                // For some t in the bracket the hull of the d + w t holds the origin, exactly if the
                // hull of those at both ends does: weights of both ends mix the times.
                let points: Vec<Exact> = at(claim.t_free).chain(at(claim.t_contact)).collect();
                let held = holds_origin(&points) || holds_origin_in_solid(&points);
                return if held { Ok(()) } else { Err(Refusal::OriginNotHeld) };
            }
            let points: Vec<Exact> = at(claim.t_contact).collect();
            let within = are_within(&points, course.margin);
            return if within { Ok(()) } else { Err(Refusal::OriginNotHeld) };
        }
        let t = claim.t_contact;
        let trigs = (self.movers.p.track.trig(t), self.movers.q.track.trig(t));
        let differences: Vec<IntervalVec> = pairs
            .iter()
            .map(|pair| {
                let Bodies { p, q } = &course.bodies;
                let vertices = (&p.points[pair.i as usize], &q.points[pair.j as usize]);
                self.movers.difference(vertices, (&trigs.0, &trigs.1), t)
            })
            .collect();
        let margin = self
            .scale
            .map_or(course.margin, |scale| scale.times(course.margin).next_down().max(0.0));
        let met = surely_held(&differences)
            || (!bare && surely_within(&differences, margin))
            || surely_held_in_a_plane(course, &at_start, &differences, t)
            || (t >= 1.0 && held_at_the_end(course, pairs)?);
        if met { Ok(()) } else { Err(Refusal::OriginNotHeld) }
    }
}

/// Of a motion that turns nothing, exactly. The recipe for the angle between two equal rotations
/// gives 0, since `R Rᵀ` comes out symmetric.
pub(super) fn velocity_of(motion: &Motion, start: &Pose) -> Option<Exact> {
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

/// See [`motion::scale_of`].
fn scale_of(course: &Course<'_>) -> Option<PowerOfTwo> {
    let Bodies { p, q } = &course.bodies;
    let ((low_p, high_p), (low_q, high_q)) = (p.bounds(), q.bounds());
    motion::scale_of(
        &Boxed { pose: &p.pose, motion: &course.motion_p, low: low_p, high: high_p },
        &Boxed { pose: &q.pose, motion: &course.motion_q, low: low_q, high: high_q },
    )
}

/// The direction, up to a positive factor, in f64 intervals.
fn enclosed(s: &Exact) -> IntervalVec {
    let top = |d: &Dyadic| d.exponent() + i64::try_from(d.mantissa().bit_len()).expect("memory");
    let highest =
        s.iter().filter(|d| d.sign() != Sign::Zero).map(top).max().expect("not the zero vector");
    [0, 1, 2].map(|k| Dyadic::new(s[k].mantissa().clone(), s[k].exponent() - highest).enclosed())
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

/// Whether the hull of vectors from the enclosures surely has a point within `margin` of the origin.
fn surely_within(vectors: &[IntervalVec], margin: f64) -> bool {
    let radius = |v: &IntervalVec| norm(&v.map(|c| Interval::point(c.radius()))).high();
    let errors: Vec<f64> = vectors.iter().map(radius).collect();
    let exact = |v| interval::middle(v).data.0[0].map(Dyadic::from);
    errors.iter().all(|e| e.is_finite())
        && comes_within(&vectors.iter().map(exact).collect::<Vec<_>>(), &errors, margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::certificate::{Direction, Frame};
    use crate::geometry::effort::Stopped;
    use crate::geometry::pair::Pair;
    use crate::geometry::samples::cuboid;

    const X: Direction = Direction::Vector(Vec3::new(1.0, 0.0, 0.0));

    /// A cube flies at another, whose face is 1 away, at 2 a step: contact at 0.5.
    fn judged(outcome: Outcome, tamper: impl FnOnce(&mut MotionClaim<'_>)) -> Result<(), Refusal> {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
        let fly = Motion::Linear { velocity: Vec3::new(2.0, 0.0, 0.0) };
        let question = Question::new(pair, fly, Motion::rest());
        let link = Link { t0: 0.0, t1: 0.499, frame: Frame::World, direction: X };
        let meeting = [VertexPair { i: 4, j: 0 }];
        let mut claim = MotionClaim {
            outcome,
            t_free: 0.499,
            t_contact: 0.5,
            chain: &[link],
            pairs: &meeting,
            initial: None,
        };
        tamper(&mut claim);
        judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
    }

    #[test]
    fn a_chain_proves_freedom_and_pairs_prove_contact_without_the_verdict_at_the_start() {
        assert_eq!(judged(Outcome::Contact, |_| {}), Ok(()));
        let late = judged(Outcome::Contact, |claim| claim.t_contact = 0.5f64.next_down());
        assert_eq!(late, Err(Refusal::OriginNotHeld));
        const FIVE: &[VertexPair] = &[VertexPair { i: 4, j: 0 }; 5];
        assert_eq!(judged(Outcome::Contact, |claim| claim.pairs = &FIVE[..4]), Ok(()));
        let refused = judged(Outcome::Contact, |claim| claim.pairs = FIVE);
        assert_eq!(refused, Err(Refusal::PairCount("one to four")));
    }

    /// One link a hundred thousand times is a chain that joins, and kept its judge at work on large bodies for
    /// days, after whoever sent it had gone.
    #[test]
    fn a_chain_is_judged_no_longer_than_the_effort_lasts() {
        let link = Link { t0: 0.0, t1: 0.499, frame: Frame::World, direction: X };
        let chain = vec![link; 100_000];
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
        let fly = Motion::Linear { velocity: Vec3::new(2.0, 0.0, 0.0) };
        let judged = |motion: Motion, chain: &[Link], steps: u64| {
            let question = Question::new(pair, motion, Motion::rest());
            let claim = MotionClaim {
                outcome: Outcome::Undecided,
                t_free: 0.499,
                t_contact: 1.0,
                chain,
                pairs: &[],
                initial: None,
            };
            judge_motion(&(&question).into(), &claim, &mut Effort::with_steps(steps))
        };
        assert_eq!(judged(fly, &chain, 10), Err(Refusal::Stopped(Stopped::Steps)));
        assert_eq!(judged(fly, &chain[..10], 10), Ok(()));
        // One link may be looked at many times if something turns.
        let turn = Motion::Screw {
            velocity: Vec3::new(2.0, 0.0, 0.0),
            axis: Vec3::x(),
            angle: 20.0,
            pivot: None,
        };
        let turning = [Link { frame: Frame::P, ..link }];
        assert_eq!(judged(turn, &turning, 3), Err(Refusal::Stopped(Stopped::Steps)));
        assert_eq!(judged(turn, &turning, 1_000), Ok(()));
    }

    #[test]
    fn an_empty_chain_proves_no_more_than_the_verdict_at_the_start_does() {
        let nothing = |claim: &mut MotionClaim<'_>| (claim.t_free, claim.chain) = (0.0, &[]);
        assert_eq!(judged(Outcome::Contact, nothing), Err(Refusal::ChainGap(0)));
        assert_eq!(judged(Outcome::Undecided, nothing), Err(Refusal::ChainGap(0)));
        const INITIAL: &StaticProof = &StaticProof::Separated { direction: X };
        let proven = judged(Outcome::Contact, |claim| {
            nothing(claim);
            claim.initial = Some(INITIAL);
        });
        assert_eq!(proven, Ok(()));
        let refused = judged(Outcome::NoContact, |_| {});
        assert_eq!(refused, Err(Refusal::BoundFails("no contact is free until the end")));
    }

    /// The start was once taken for free of coming within the margin because it is separated.
    #[test]
    fn with_a_margin_an_empty_chain_proves_only_a_start_that_is_farther_apart() {
        let cube = cuboid(1.0, 1.0, 1.0);
        // The faces are 1 apart, and meet at 0.5.
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
        let fly = Motion::Linear { velocity: Vec3::new(2.0, 0.0, 0.0) };
        let turn = Motion::Screw {
            pivot: None,
            velocity: Vec3::new(2.0, 0.0, 0.0),
            axis: Vec3::x(),
            angle: 1e-9,
        };
        let along = |x: f64| Direction::Vector(Vec3::new(1.0, x, 0.0));
        let judged = |motion, margin, deviation_p, outcome, direction| {
            let question =
                Question { margin, deviation_p, ..Question::new(pair, motion, Motion::rest()) };
            let initial = StaticProof::Separated { direction };
            let all: Vec<VertexPair> =
                [(4, 3), (5, 0), (6, 0), (0, 4)].map(|(i, j)| VertexPair { i, j }).into();
            let claim = MotionClaim {
                outcome,
                t_free: 0.0,
                t_contact: 0.6,
                chain: &[],
                pairs: &all,
                initial: Some(&initial),
            };
            judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
        };
        let fails = Err(Refusal::BoundFails("the start is farther apart than the margin"));
        for motion in [fly, turn] {
            let contact = |margin, deviation, direction| {
                judged(motion, margin, deviation, Outcome::Contact, direction)
            };
            // Within the margin, also by just nothing, there is contact at t = 0.
            for margin in [1.0, 1.5] {
                assert_eq!(contact(margin, 0.0, X), fails);
                // Who says neither claims no more than the verdict.
                assert_eq!(judged(motion, margin, 0.0, Outcome::Undecided, X), Ok(()));
            }
            assert_eq!(contact(1.0f64.next_down(), 0.0, X), Ok(()));
            // The direction separates, but by less than the margin.
            assert_eq!(contact(0.875, 0.0, along(0.25)), fails);
            assert_eq!(contact(0.0, 0.0, along(0.25)), Ok(()));
            // The start itself does not deviate.
            assert_eq!(contact(0.5, 2.0, X), Ok(()));
        }
    }

    #[test]
    fn contact_at_the_start_is_proven_by_pairs_that_hold_the_origin_there() {
        let at_start = |claim: &mut MotionClaim<'_>| {
            (claim.t_free, claim.t_contact, claim.chain) = (0.0, 0.0, &[]);
        };
        assert_eq!(judged(Outcome::Contact, at_start), Err(Refusal::OriginNotHeld));
        let none = judged(Outcome::Contact, |claim| {
            at_start(claim);
            claim.pairs = &[];
        });
        assert_eq!(none, Err(Refusal::PairCount("one to six")));
        let nothing_free =
            judged(Outcome::Contact, |claim| (claim.t_free, claim.t_contact) = (0.0, 0.0));
        assert_eq!(nothing_free, Err(Refusal::ChainGap(0)));
    }

    /// Pairs beyond three used to be refused where a margin is, and by the other judge accepted.
    #[test]
    fn contact_at_the_start_within_a_margin_is_proven_by_up_to_six_pairs() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
        let initial = StaticProof::Separated { direction: X };
        let face: Vec<VertexPair> = [(4, 0), (5, 1), (6, 2), (7, 3), (4, 3), (5, 2), (6, 1)]
            .map(|(i, j)| VertexPair { i, j })
            .into();
        let judged = |margin, pairs| {
            let question =
                Question { margin, ..Question::new(pair, Motion::rest(), Motion::rest()) };
            let claim = MotionClaim {
                outcome: Outcome::Contact,
                t_free: 0.0,
                t_contact: 0.0,
                chain: &[],
                pairs,
                initial: Some(&initial),
            };
            judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
        };
        for count in 1..=6 {
            assert_eq!(judged(1.0, &face[..count]), Ok(()), "{count}");
            let nearer = judged(1.0f64.next_down(), &face[..count]);
            assert_eq!(nearer, Err(Refusal::OriginNotHeld), "{count}");
        }
        assert_eq!(judged(1.0, &face), Err(Refusal::PairCount("one to six")));
    }
}
