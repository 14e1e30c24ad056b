//! First contact of boxes that stand along the axes and translate, rays at boxes among them.
//!
//! M is a box, and the origin comes to it on a ray. On each axis it is between M's two planes from
//! one time to another, each a quotient of two integers, and in M from the last time of entry to
//! the first time of leaving. Rays through centres, edges and corners are compared like all others.

use std::cmp::Ordering;

use arrayvec::ArrayVec;

use super::linear::{free, link};
use super::travel::Travel;
use crate::aligned::{CommonUnit, DifferenceBox, Wide, along, half_face, others};
use crate::claim::{Direction, FirstContact, Link, Outcome, StaticProof};
use crate::number::binary::split;
use crate::pair::{Pair, VertexPair};
use crate::witness::Witness;

/// Times that are estimated by a quotient; others are too near zero.
const LEAST_TIME: f64 = f64::MIN_POSITIVE * (1_u64 << 52) as f64;

/// The first contact; none: they are no such boxes, or not seen to be, or the numbers are too long
/// for these integers, or the two are in contact where they start.
#[inline(never)]
pub(super) fn first_contact(
    pair: &Pair<'_>,
    travels: [&Travel; 2],
    witness: &mut Witness,
) -> Option<FirstContact> {
    let m = DifferenceBox::of(pair)?;
    let passage = BoxPassage::new(&m, travels)?;
    let is_apart = (0..3).any(|axis| m.low[axis] > 0 || m.high[axis] < 0);
    if !is_apart {
        return None;
    }
    if let Some(axis) = passage.misses_across() {
        return Some(passage.stays_apart(axis, m.high[axis] < 0, witness));
    }
    let (enter, leave) = (passage.last_entry()?, passage.first_exit()?);
    if leave.time.numerator < 0 {
        return Some(passage.stays_apart(leave.axis, leave.is_far, witness));
    }
    if enter.time.compare(1.0)? == Ordering::Greater {
        return Some(passage.stays_apart(enter.axis, enter.is_far, witness));
    }
    if enter.time.compared(&leave.time) == Ordering::Greater {
        return passage.passes_by(&enter, &leave, witness);
    }
    let low = enter.time.at_most()?;
    let is_number = enter.time.compare(low)? == Ordering::Equal;
    let (t_free, t_contact) = if is_number { (low.next_down(), low) } else { (low, low.next_up()) };
    let direction = Direction::Vector(along(enter.axis, enter.is_far));
    remember(&m, &enter, witness);
    Some(FirstContact {
        outcome: Outcome::Contact,
        t_free,
        t_contact,
        chain: vec![link(0.0, t_free, direction)],
        pairs: passage.pairs(&enter),
        initial: StaticProof::Separated { direction },
        stopped: None,
    })
}

/// Leaves a direction that separates at the start, and where M is nearest along it.
fn remember(m: &DifferenceBox<'_>, end: &BoxPlane, witness: &mut Witness) {
    let mut far = [false; 3];
    far[end.axis] = end.is_far;
    witness.direction = Some(along(end.axis, end.is_far));
    witness.pairs.clear();
    witness.pairs.push(m.corner(far));
}

/// A time: `numerator / denominator * 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct PassingTime {
    numerator: i128,
    /// Positive.
    denominator: i128,
    exponent: i32,
}

impl PassingTime {
    /// How it compares with another one of the same exponent.
    #[inline]
    fn compared(&self, other: &Self) -> Ordering {
        Wide::product(self.numerator, other.denominator)
            .cmp(&Wide::product(other.numerator, self.denominator))
    }

    /// How it compares with a finite number; none where the numbers are too long.
    #[inline]
    fn compare(&self, time: f64) -> Option<Ordering> {
        let (mantissa, exponent) = split(time);
        let right = Wide::product(i128::from(mantissa), self.denominator);
        let left = Wide::from(self.numerator);
        let shift = self.exponent - exponent;
        Some(if mantissa == 0 {
            left.cmp(&right)
        } else if shift >= 0 {
            left.shifted(shift.unsigned_abs())?.cmp(&right)
        } else {
            left.cmp(&right.shifted(shift.unsigned_abs())?)
        })
    }

    /// The greatest f64 number that is not greater, of a time in (0, 1]; none where it is too near
    /// zero to tell.
    #[inline]
    fn at_most(&self) -> Option<f64> {
        let quotient = self.numerator as f64 / self.denominator as f64;
        // In two factors, each of which is a number.
        let half = self.exponent / 2;
        let mut time = quotient * 2f64.powi(half) * 2f64.powi(self.exponent - half);
        if !(LEAST_TIME..2.0).contains(&time) {
            return None;
        }
        // Off by two or three places at most.
        while self.compare(time)? == Ordering::Less {
            time = time.next_down();
        }
        while self.compare(time.next_up())? != Ordering::Less {
            time = time.next_up();
        }
        Some(time)
    }
}

/// Where the origin passes a plane of M.
#[derive(Clone, Copy, Debug)]
struct BoxPlane {
    axis: usize,
    /// Of the two planes across that axis, the far one.
    is_far: bool,
    time: PassingTime,
}

/// M, and how it moves.
struct BoxPassage<'a> {
    m: &'a DifferenceBox<'a>,
    /// The travel of Q relative to P.
    velocity: [i128; 3],
    exponent: i32,
}

impl<'a> BoxPassage<'a> {
    #[inline]
    fn new(m: &'a DifferenceBox<'a>, [of_p, of_q]: [&Travel; 2]) -> Option<Self> {
        let numbers = [&of_p.from, &of_p.to, &of_q.from, &of_q.to];
        let scale = CommonUnit::of(numbers.iter().flat_map(|vector| vector.iter()));
        let mut velocity = [0; 3];
        for (axis, velocity) in velocity.iter_mut().enumerate() {
            let [p, p_to, q, q_to] = numbers.map(|vector| scale.integer(vector[axis]));
            *velocity = (q_to? - q?) - (p_to? - p?);
        }
        Some(Self { m, velocity, exponent: m.exponent - scale.exponent() })
    }

    /// An axis across which nothing moves and the origin is outside of M.
    #[inline]
    fn misses_across(&self) -> Option<usize> {
        let m = self.m;
        (0..3).find(|k| self.velocity[*k] == 0 && (m.low[*k] > 0 || m.high[*k] < 0))
    }

    /// The two planes across an axis along which something moves: the one that is passed first.
    #[inline]
    fn ends(&self, axis: usize) -> Option<[BoxPlane; 2]> {
        let velocity = self.velocity[axis];
        if velocity == 0 {
            return None;
        }
        let end = |is_far: bool| {
            let place = if is_far { self.m.high[axis] } else { self.m.low[axis] };
            // `place + t velocity = 0`
            let numerator = if velocity < 0 { place } else { -place };
            let denominator = velocity.abs();
            BoxPlane {
                axis,
                is_far,
                time: PassingTime { numerator, denominator, exponent: self.exponent },
            }
        };
        let first_is_far = velocity > 0;
        Some([end(first_is_far), end(!first_is_far)])
    }

    /// The last plane behind which the origin comes to be in M; of two at the same time that which
    /// is passed faster.
    #[inline]
    fn last_entry(&self) -> Option<BoxPlane> {
        let entries = (0..3).filter_map(|axis| self.ends(axis)).map(|[first, _]| first);
        entries.reduce(|one, two| {
            let is_later = two
                .time
                .compared(&one.time)
                .then_with(|| two.time.denominator.cmp(&one.time.denominator));
            if is_later == Ordering::Greater { two } else { one }
        })
    }

    /// The first plane behind which it is outside again.
    #[inline]
    fn first_exit(&self) -> Option<BoxPlane> {
        let exits = (0..3).filter_map(|axis| self.ends(axis)).map(|[_, last]| last);
        exits.reduce(
            |one, two| if two.time.compared(&one.time) == Ordering::Less { two } else { one },
        )
    }

    /// Free all the way along one axis. `is_against`: M is on its negative side.
    fn stays_apart(&self, axis: usize, is_against: bool, witness: &mut Witness) -> FirstContact {
        let time = PassingTime { numerator: 0, denominator: 1, exponent: 0 };
        remember(self.m, &BoxPlane { axis, is_far: is_against, time }, witness);
        let direction = Direction::Vector(along(axis, is_against));
        free(vec![link(0.0, 1.0, direction)], StaticProof::Separated { direction })
    }

    /// Free, since the origin leaves one pair of planes before it comes between another one: until
    /// some time between along the one axis, and from then on along the other. None: there is no
    /// number between the two times.
    fn passes_by(
        &self,
        enter: &BoxPlane,
        leave: &BoxPlane,
        witness: &mut Witness,
    ) -> Option<FirstContact> {
        let change = leave.time.at_most().unwrap_or(0.0).next_up();
        let is_between = leave.time.compare(change)? == Ordering::Less
            && enter.time.compare(change)? == Ordering::Greater;
        if !is_between {
            return None;
        }
        remember(self.m, enter, witness);
        let before = Direction::Vector(along(enter.axis, enter.is_far));
        // It has left M on the other side of the plane that it passed last.
        let after = Direction::Vector(along(leave.axis, leave.is_far));
        let chain: Vec<Link> = vec![link(0.0, change, before), link(change, 1.0, after)];
        Some(free(chain, StaticProof::Separated { direction: before }))
    }

    /// Pairs whose differences hold the origin when it comes to M: three corners of the face, or
    /// all four where the integers are too long to choose among these.
    fn pairs(&self, enter: &BoxPlane) -> ArrayVec<VertexPair, 6> {
        let [a, b] = others(enter.axis);
        // How far the origin is from the near plane, times the denominator of the time.
        let far = |axis: usize| {
            let PassingTime { numerator, denominator, .. } = enter.time;
            let low = Wide::product(self.m.low[axis], denominator);
            let moved = Wide::product(self.velocity[axis], numerator);
            low.plus(moved)?.negated().short()
        };
        let Some((far_a, far_b)) = far(a).zip(far(b)) else {
            let faces = [false, true].map(|half| half_face(enter.axis, enter.is_far, half));
            return self.m.corners(&faces.concat());
        };
        let (part_a, part_b) =
            (Wide::product(far_a, self.m.length(b)), Wide::product(far_b, self.m.length(a)));
        self.m.corners(&half_face(enter.axis, enter.is_far, part_a >= part_b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::claim::{Bodies, Course, MotionClaim, Points, Reach};
    use crate::effort::Effort;
    use crate::hull::samples::polytope_of;
    use crate::judge::judge_motion;
    use crate::motion::Motion;
    use crate::pair::Question;
    use crate::polytope::Polytope;
    use crate::pose::Pose;
    use crate::samples::{Random, cuboid};

    /// Numbers of few bits, decimals, or any.
    fn number(random: &mut Random, family: u64) -> f64 {
        match family % 4 {
            0 => 0.25 * f64::from(random.below(33)) - 4.0,
            1 => 0.1 * f64::from(random.below(81)) - 4.0,
            2 => 4.0 * random.signed(),
            _ => [-4.0, -1.0, -0.5, 0.0, 0.5, 1.0, 4.0][random.below(7) as usize],
        }
    }

    fn body(random: &mut Random) -> Polytope {
        let mut half = || [0.25, 0.5, 0.1, 1.0][random.below(4) as usize];
        let [x, y, z] = [half(), half(), half()];
        match random.below(4) {
            0 => polytope_of(&[Vec3::zeros()]),
            1 => polytope_of(&[Vec3::new(x, y, z)]),
            _ => cuboid(x, y, z),
        }
    }

    fn judged(question: &Question<'_>, found: &FirstContact, story: &str) {
        let Pair { p, q } = question.pair;
        let [p, q] =
            [p, q].map(|placed| Points { points: placed.body.vertices(), pose: placed.pose });
        let course = Course {
            bodies: Bodies { p, q },
            motion_p: question.motion_p,
            motion_q: question.motion_q,
            reach: Reach::of_rounded([0.0; 2], 0.0),
            deviation_p: 0.0,
            deviation_q: 0.0,
        };
        let claim = MotionClaim::from(found);
        judge_motion(&course, &claim, &mut Effort::unlimited())
            .unwrap_or_else(|why| panic!("{story}: {why}: {found:?}"));
    }

    /// What is told at once is what the search and the exact stage tell, to the last bit, and it is
    /// proven.
    #[test]
    fn boxes_along_the_axes_meet_when_the_exact_stage_says() {
        let mut counts = [0; 4];
        for seed in 0..6_000 {
            let mut random = Random(seed);
            let (p, q) = (body(&mut random), body(&mut random));
            let mut vector = |family: u64| Vec3::from_fn(|_, _| number(&mut random, family));
            let (from, to) = (vector(seed), vector(seed));
            let mut by = vector(seed + seed / 4 % 2 * 3);
            if seed % 5 == 0 {
                // To a corner, an edge or the middle of a face, from where it is.
                by = (to - from) * 2.0;
            }
            let pose = |v: Vec3| Pose::translation(v.x, v.y, v.z);
            let pair = Pair::new(&p, pose(from), &q, pose(to));
            let motions = [Motion::Linear { velocity: by }, Motion::rest()];
            let question = Question::new(pair, motions[0], motions[1]);
            let (travels, still) = (Travel::by(&by), Travel::by(&Vec3::zeros()));
            let effort = &mut Effort::unlimited();
            let old = super::super::linear::first_contact(
                &super::super::FACET_WALK,
                &question,
                [&travels, &still],
                &mut Witness::default(),
                effort,
            )
            .unwrap();
            let story = format!("seed {seed}");
            let found = first_contact(&pair, [&travels, &still], &mut Witness::default());
            let Some(new) = found else {
                let is_start = old.t_contact <= 0.0;
                counts[if is_start { 0 } else { 1 }] += 1;
                continue;
            };
            assert_eq!(new.outcome, old.outcome, "{story}: {new:?} {old:?}");
            let bits = |found: &FirstContact| [found.t_free.to_bits(), found.t_contact.to_bits()];
            assert_eq!(bits(&new), bits(&old), "{story}: {new:?} {old:?}");
            assert_eq!(new.initial.verdict(), old.initial.verdict(), "{story}");
            judged(&question, &new, &story);
            counts[if new.outcome == Outcome::Contact { 2 } else { 3 }] += 1;
        }
        let [at_start, left, contacts, free] = counts;
        assert!(at_start > 25 && contacts > 500 && free > 500, "{counts:?}");
        assert!(left < 40, "{counts:?}");
    }

    #[test]
    fn a_ray_through_a_corner_meets_it_and_one_that_passes_by_an_ulp_does_not() {
        let cube = cuboid(0.5, 0.5, 0.5);
        let point = polytope_of(&[Vec3::zeros()]);
        let ask = |from: Vec3, by: Vec3| {
            let pair = Pair::new(
                &point,
                Pose::translation(from.x, from.y, from.z),
                &cube,
                Pose::identity(),
            );
            let travels = [Travel::by(&by), Travel::by(&Vec3::zeros())];
            let [of_p, of_q] = [&travels[0], &travels[1]];
            let found = first_contact(&pair, [of_p, of_q], &mut Witness::default()).unwrap();
            let question = Question::new(pair, Motion::Linear { velocity: by }, Motion::rest());
            judged(&question, &found, &format!("{from:?} {by:?}"));
            (found.outcome, found.t_contact)
        };
        let down = Vec3::new(0.0, -10.0, 0.0);
        assert_eq!(ask(Vec3::new(0.5, 5.5, 0.5), down), (Outcome::Contact, 0.5));
        let beside = Vec3::new(0.5_f64.next_up(), 5.5, 0.5);
        assert_eq!(ask(beside, down).0, Outcome::NoContact);
        let aslant = Vec3::new(-1.0, -9.0, -1.0);
        assert_eq!(ask(Vec3::new(1.0, 5.0, 1.0), aslant), (Outcome::Contact, 0.5));
        assert_eq!(ask(Vec3::new(1.0_f64.next_up(), 5.0, 1.0), aslant).0, Outcome::Contact);
        // It leaves one slab before it comes into the other one.
        let across = Vec3::new(-1.0, -9.0, 0.0);
        assert_eq!(ask(Vec3::new(-0.25, 8.0, 0.0), across).0, Outcome::NoContact);
    }
}
