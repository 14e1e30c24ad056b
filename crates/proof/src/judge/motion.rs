//! The judge of a first contact: from scratch, looking at every vertex, sharing with the searches
//! only what a motion means and how intervals are rounded.
//!
//! Translations are judged in exact arithmetic; so is everything at t = 0. Turning bodies are
//! judged with outward-rounded intervals ([`super::link`]).

use crate::number::tolerance;
use dashu_int::ops::BitTest;

use super::direction::{LinkSweep, exact_direction, exact_direction_of_link};
use super::exact::{
    Exact, exact_differences, gap_along, holds_origin, scalar_product, shows_farther,
};
use super::link::{Mover, Movers};
use super::meeting::{held_at_the_end, holds_origin_in_solid, surely_held_in_a_plane};
use super::nearest::comes_within;
use super::passing;
use super::refusal::Refusal;
use super::still::{travel_if_alike, travel_if_untouched, velocity_of};
use super::verdict::judge_static_with;
use crate::Vec3;
use crate::claim::{
    Bodies, Course, FirstContact, Frame, Link, MotionClaim, Outcome, Points, SolidCourse,
    StaticProof, Verdict,
};
use crate::effort::{Effort, Stopped};
use crate::motion::{self, Boxed};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::interval::{self, Interval, IntervalVec, cross, dot, norm};
use crate::number::scale::PowerOfTwo;
use crate::vertex_pair::VertexPair;

/// Proves what the answer claims: the verdict at t = 0, that the bodies (and every motion within
/// the deviations) are farther apart than the margin on [0, t_free], and contact by t_contact.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::pair::Question;
/// use clearance_geometry::contact_time::first_contact;
/// use clearance_geometry::judge::judge_first_contact;
/// use clearance_geometry::motion::Motion;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let falling = Motion::Linear { velocity: Vec3::new(-4.0, 0.0, 0.0) };
/// let question = Question::new(pair, Motion::rest(), falling);
/// let mut answer = first_contact(&question, &mut witness, &mut effort).unwrap();
/// assert!(judge_first_contact(&question, &answer).is_ok());
/// answer.t_free = 0.6;
/// assert!(judge_first_contact(&question, &answer).is_err());
/// ```
pub fn judge_first_contact<'a>(
    course: impl Into<Course<'a>>,
    answer: &FirstContact,
) -> Result<(), Refusal> {
    judge_motion(&course.into(), &answer.into(), &mut Effort::unlimited())
}

/// Judges any claim about a first contact. A chain may be as long as a message holds, and each of
/// its links takes a look at all vertices or many: each look is a step.
pub fn judge_motion(
    course: &Course<'_>,
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let contact = claim.outcome == Outcome::Contact;
    if contact && claim.t_contact <= 0.0 {
        judge_start_and_times(course, claim, effort)?;
        return judge_contact_at_start(course, claim);
    }
    let judge = judge_freedom(course, claim, effort)?;
    if contact { judge.judge_contact(claim) } else { Ok(()) }
}

/// Proves all of a claim but contact: the verdict at t = 0, and that the bodies are free until
/// `t_free`.
pub(super) fn judge_freedom<'a>(
    course: &'a Course<'a>,
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<MotionJudge<'a>, Refusal> {
    judge_start_and_times(course, claim, effort)?;
    judge_chain(course, claim, effort)?;
    let judge = MotionJudge::new(course, effort)?;
    for (at, link) in claim.chain.iter().enumerate() {
        effort.spend_step()?;
        judge.judge_link(at, link, effort)?;
    }
    Ok(judge)
}

/// The verdict at t = 0, if it is claimed, and that the times are in order.
pub(super) fn judge_start_and_times(
    course: &Course<'_>,
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if let Some(initial) = claim.initial {
        judge_static_with(course.bodies, initial, effort)?;
    }
    judge_times(claim.outcome, claim.t_free, claim.t_contact)
}

/// That the times of an outcome are in order.
pub(super) fn judge_times(outcome: Outcome, t_free: f64, t_contact: f64) -> Result<(), Refusal> {
    let end = if outcome == Outcome::Contact { t_contact } else { 1.0 };
    if !(0.0..=1.0).contains(&t_free) || !(t_free..=1.0).contains(&end) {
        return Err(Refusal::BoundFails("0 <= t_free <= t_contact <= 1"));
    }
    if outcome == Outcome::NoContact && t_free < 1.0 {
        return Err(Refusal::BoundFails("no contact is free until the end"));
    }
    Ok(())
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
        || (!course.reach.is_zero() && are_within(&differences, &course.reach.exact()));
    if held { Ok(()) } else { Err(Refusal::OriginNotHeld) }
}

/// Whether the hull of at most twelve vectors has a point within `reach` of the origin.
fn are_within(vectors: &[Exact], reach: &Dyadic) -> bool {
    comes_within(vectors, &[0.0; 12][..vectors.len()], reach)
}

/// The links' closed intervals join and cover [0, t_free].
fn judge_chain(
    course: &Course<'_>,
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    if claim.chain.is_empty() && claim.t_free <= 0.0 {
        return judge_start(course, claim, effort);
    }
    judge_links_join(claim.chain, claim.t_free)
}

/// The links' closed intervals join and cover [0, until].
fn judge_links_join(chain: &[Link], until: f64) -> Result<(), Refusal> {
    let mut covered = 0.0;
    for (at, link) in chain.iter().enumerate() {
        let in_order = 0.0 <= link.t0 && link.t0 <= link.t1 && link.t1 <= 1.0;
        if !in_order || link.t0 > covered {
            return Err(Refusal::ChainGap(at));
        }
        covered = link.t1.max(covered);
    }
    let reaches = !chain.is_empty() && covered >= until;
    if reaches { Ok(()) } else { Err(Refusal::ChainGap(chain.len())) }
}

/// Whether joined links keep the hulls of some vertices of two bodies free from t = 0 to this.
/// Directions name no other vertices.
pub(super) fn is_free_on_course(
    course: &SolidCourse<'_>,
    groups: &[Vec<u32>; 2],
    until: f64,
    chain: &[Link],
    effort: &mut Effort<'_>,
) -> Result<bool, Refusal> {
    if judge_links_join(chain, until).is_err() {
        return Ok(false);
    }
    let few = FewVertices::of(course, groups)?;
    let course = few.course(course);
    let judge = MotionJudge::new(&course, effort)?;
    for (at, link) in chain.iter().enumerate() {
        effort.spend_step()?;
        let Some(direction) = link.direction.renamed(|pair| few.named(pair)) else {
            return Ok(false);
        };
        match judge.judge_link(at, &Link { direction, ..*link }, effort) {
            Ok(()) => {}
            Err(Refusal::LinkFails(_)) => return Ok(false),
            Err(other) => return Err(other),
        }
    }
    Ok(true)
}

/// Whether pairs of a face of each of two bodies meet as is claimed of these.
pub(super) fn judge_contact_of_faces(
    course: &SolidCourse<'_>,
    faces: &[Vec<u32>; 2],
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let few = FewVertices::of(course, faces)?;
    let named =
        |(at, pair): (usize, &VertexPair)| few.named(*pair).ok_or(Refusal::NoSuchVertex(at));
    let pairs: Vec<VertexPair> =
        claim.pairs.iter().enumerate().map(named).collect::<Result<_, _>>()?;
    let (course, claim) = (few.course(course), MotionClaim { pairs: &pairs, ..*claim });
    if claim.t_contact <= 0.0 {
        return judge_contact_at_start(&course, &claim);
    }
    MotionJudge::new(&course, effort)?.judge_contact(&claim)
}

/// Some vertices of two bodies.
struct FewVertices<'a> {
    /// Ascending.
    names: &'a [Vec<u32>; 2],
    points: [Vec<Vec3>; 2],
}

impl<'a> FewVertices<'a> {
    fn of(course: &SolidCourse<'_>, names: &'a [Vec<u32>; 2]) -> Result<Self, Refusal> {
        let solids = [&course.solids.p, &course.solids.q];
        let point = |k: usize, at: u32| {
            solids[k].points.points.get(at as usize).copied().ok_or(Refusal::NotAFace("a body"))
        };
        let points = |k: usize| -> Result<Vec<Vec3>, Refusal> {
            names[k].iter().map(|&at| point(k, at)).collect()
        };
        Ok(Self { names, points: [points(0)?, points(1)?] })
    }

    /// The places of a pair among them.
    fn named(&self, pair: VertexPair) -> Option<VertexPair> {
        let place = |k: usize, at: u32| self.names[k].binary_search(&at).ok();
        let [i, j] = [place(0, pair.i)?, place(1, pair.j)?];
        Some(VertexPair { i: u32::try_from(i).ok()?, j: u32::try_from(j).ok()? })
    }

    /// The course of their hulls.
    fn course(&self, course: &SolidCourse<'_>) -> Course<'_> {
        let &SolidCourse { solids, motions: [motion_p, motion_q], reach, deviations } = course;
        let [points_p, points_q] = &self.points;
        let bodies = Bodies {
            p: Points { points: points_p, pose: solids.p.points.pose },
            q: Points { points: points_q, pose: solids.q.points.pose },
        };
        let [deviation_p, deviation_q] = deviations;
        Course { bodies, motion_p, motion_q, reach, deviation_p, deviation_q }
    }
}

/// The start, as it is given, is farther apart than the margin. A verdict of SEPARATED alone does
/// not say so: contact within the margin would be contact at t = 0, and the bracket false. Without
/// a bracket the verdict is all that is claimed.
fn judge_start(
    course: &Course<'_>,
    claim: &MotionClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let Some(StaticProof::Separated { direction }) = claim.initial else {
        return Err(Refusal::ChainGap(0));
    };
    if claim.outcome == Outcome::Undecided {
        return Ok(());
    }
    let s = exact_direction(&course.bodies, direction)?;
    if shows_farther(&course.bodies, &s, &course.reach.exact(), effort)? {
        Ok(())
    } else {
        Err(Refusal::BoundFails("the start is farther apart than the margin"))
    }
}

/// A course, made ready for its links.
pub(super) struct MotionJudge<'a> {
    course: &'a Course<'a>,
    /// The travel of Q relative to P, if both only translate.
    translation: Option<Exact>,
    /// That travel as seen from either body, if both have a common rotation.
    alike: Option<Exact>,
    scale: Option<PowerOfTwo>,
    movers: Movers,
}

impl<'a> MotionJudge<'a> {
    fn new(course: &'a Course<'a>, effort: &mut Effort<'_>) -> Result<Self, Stopped> {
        let scale = scale_of(course);
        let (p, q) = (&course.bodies.p, &course.bodies.q);
        let of_p = Mover::new(p, &course.motion_p, scale, effort)?;
        let of_q = Mover::new(q, &course.motion_q, scale, effort)?;
        let between = motion::between(&p.pose, &of_p.track, &q.pose, &of_q.track);
        let movers = Movers { p: of_p, q: of_q, between };
        let velocity_p = velocity_of(&course.motion_p, &p.pose);
        let velocity_q = velocity_of(&course.motion_q, &q.pose);
        let translation = match (velocity_p, velocity_q) {
            (Some(of_p), Some(of_q)) => Some(std::array::from_fn(|k| &of_q[k] - &of_p[k])),
            _ => None,
        };
        Ok(Self { course, translation, alike: travel_if_alike(course), scale, movers })
    }

    fn judge_link(&self, at: usize, link: &Link, effort: &mut Effort<'_>) -> Result<(), Refusal> {
        let course = self.course;
        // Without rotation every frame is the world's.
        let turned = self.alike.as_ref().filter(|_| link.frame != Frame::World);
        let travel = self.translation.as_ref().or(turned);
        let sweep = travel.map(|travel| LinkSweep { travel, during: [link.t0, link.t1] });
        let s = exact_direction_of_link(&course.bodies, &link.direction, sweep)?;
        let is_exact = match travel {
            Some(travel) => self.stays_clear(&s, travel, link, effort)?,
            None => false,
        };
        let separates = if is_exact || self.translation.is_some() {
            is_exact
        } else {
            let up = |x: f64| self.scale.map_or(x, |scale| scale.times(x).next_up());
            let clear = Interval::point(up(course.reach.upper()))
                + Interval::point(up(course.deviation_p))
                + Interval::point(up(course.deviation_q));
            let clear = if clear.high() > tolerance::LENGTH_LEAST { clear.high() } else { 0.0 };
            self.movers.separates(link, &enclosed(&s), clear, effort)?
        };
        if separates { Ok(()) } else { Err(Refusal::LinkFails(at)) }
    }

    /// Whether the gap along s, which is linear in t, exceeds what has to be kept clear throughout
    /// the link.
    fn stays_clear(
        &self,
        s: &Exact,
        travel: &Exact,
        link: &Link,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let course = self.course;
        let gap = gap_along(&course.bodies, s, effort)?;
        let rate = scalar_product(s, travel);
        let clear = &(&course.reach.exact() + &Dyadic::from(course.deviation_p))
            + &Dyadic::from(course.deviation_q);
        let clear_squared = &(&clear * &clear) * &scalar_product(s, s);
        Ok([link.t0, link.t1].into_iter().all(|t| {
            let gap = &gap + &(&rate * &Dyadic::from(t));
            gap.sign() == Sign::Positive && &gap * &gap > clear_squared
        }))
    }

    fn judge_contact(&self, claim: &MotionClaim<'_>) -> Result<(), Refusal> {
        let (course, pairs) = (self.course, claim.pairs);
        let bare = course.reach.is_zero();
        let (most, words) = match (&self.translation, bare) {
            (Some(_), true) => (4, "one to four"),
            _ => (6, "one to six"),
        };
        if !(1..=most).contains(&pairs.len()) {
            return Err(Refusal::PairCount(words));
        }
        let at_start = exact_differences(&course.bodies, pairs)?;
        let met_on_the_way = |travel: &Exact| self.is_met_on_the_way(&at_start, travel, claim);
        if let Some(travel) = &self.translation {
            return if met_on_the_way(travel) { Ok(()) } else { Err(Refusal::OriginNotHeld) };
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
        let reach = course.reach.lower();
        let reach = self.scale.map_or(reach, |scale| scale.times(reach).next_down().max(0.0));
        let met = surely_held(&differences)
            || (!bare && surely_within(&differences, reach))
            || surely_held_in_a_plane(course, &at_start, &differences, t)
            || (t >= 1.0 && held_at_the_end(course, pairs)?)
            || self.surely_passes(pairs, [claim.t_free, t])
            || self.alike.as_ref().is_some_and(met_on_the_way)
            || travel_if_untouched(course, pairs).as_ref().is_some_and(met_on_the_way);
        if met { Ok(()) } else { Err(Refusal::OriginNotHeld) }
    }

    /// Whether differences that all travel alike hold the origin at some time in the bracket or,
    /// with a margin, come within it.
    fn is_met_on_the_way(
        &self,
        at_start: &[Exact],
        travel: &Exact,
        claim: &MotionClaim<'_>,
    ) -> bool {
        let at = |t: f64| {
            let t = Dyadic::from(t);
            at_start.iter().map(move |d| std::array::from_fn(|k| &d[k] + &(&travel[k] * &t)))
        };
        // For some t in the bracket the hull of the d + w t holds the origin, or comes within the
        // margin of it, exactly if the hull of those at both ends does: weights of both ends mix
        // the times.
        let points: Vec<Exact> = at(claim.t_free).chain(at(claim.t_contact)).collect();
        if !self.course.reach.is_zero() {
            return are_within(&points, &self.course.reach.exact());
        }
        holds_origin(&points) || holds_origin_in_solid(&points)
    }

    /// See [`passing`]. The pairs exist.
    fn surely_passes(&self, pairs: &[VertexPair], bracket: [f64; 2]) -> bool {
        if !passing::stays_flat(&self.course.bodies, pairs.len()) {
            return false;
        }
        let Bodies { p, q } = &self.course.bodies;
        let vertices: Vec<[&Vec3; 2]> =
            pairs.iter().map(|k| [&p.points[k.i as usize], &q.points[k.j as usize]]).collect();
        passing::surely_passes(&self.movers, &vertices, bracket)
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
    let top = |d: &Dyadic| {
        d.exponent() + i64::try_from(d.mantissa().bit_len()).expect("a length in memory")
    };
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

/// Whether the hull of vectors from the enclosures surely has a point within `reach` of the
/// origin.
fn surely_within(vectors: &[IntervalVec], reach: f64) -> bool {
    let radius = |v: &IntervalVec| norm(&v.map(|c| Interval::point(c.radius()))).high();
    let errors: Vec<f64> = vectors.iter().map(radius).collect();
    let exact = |v| interval::middle(v).data.0[0].map(Dyadic::from);
    errors.iter().all(|e| e.is_finite())
        && comes_within(
            &vectors.iter().map(exact).collect::<Vec<_>>(),
            &errors,
            &Dyadic::from(reach),
        )
}
