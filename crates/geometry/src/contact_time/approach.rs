//! When points and segments that go straight come within a reach of each other: the cores of balls
//! and capsules, whose radii are the reach.
//!
//! The distance of two convex bodies that translate is a convex function of time, and along the
//! line through their nearest points at one time the gap is linear in time and no more than the
//! distance. So Newton's steps from the left never go beyond the first contact, and the line at the
//! last of them shows all that is before it free.
//!
//! What rounding leaves open (a graze, a start within rounding of the reach) is left to the search.

use arrayvec::ArrayVec;

use super::travel::{Translation, Travel};
use crate::Vec3;
use crate::claim::{Direction, FirstContact, Frame, Link, Outcome, StaticProof};
use crate::distance::segments::{Segments, SegmentsApart};
use crate::effort::{Effort, Stopped};
use crate::number::rounding::{gamma, unit};
use crate::pair::{Question, VertexPair};

/// Newton's steps double the digits, and two or three find one of the first.
const STEPS_MAX: usize = 12;
/// How often the end of the bracket is moved on, fourfold, until the bodies are within the reach.
const LATER_MAX: usize = 10;

/// Two cores that go straight.
struct StraightApproach {
    segments: Segments,
    /// How far Q comes relative to P.
    travel: Vec3,
    /// At most how far a coordinate of that is off, at any time.
    travel_error: f64,
    /// Around the reach.
    reach: [f64; 2],
}

/// The answer, if it is certain: of two points or segments that only translate, and of which
/// nothing may deviate.
pub(super) fn find(
    question: &Question<'_>,
    translation: &Translation,
    effort: &mut Effort<'_>,
) -> Result<Option<FirstContact>, Stopped> {
    let is_stated = question.deviation_p <= 0.0 && question.deviation_q <= 0.0;
    if !is_stated || translation.frame != Frame::World {
        return Ok(None);
    }
    let Some(segments) = Segments::of(&question.pair) else { return Ok(None) };
    let [of_p, of_q] = &translation.travels;
    let size = |travel: &Travel| travel.from.amax() + travel.to.amax();
    let approach = StraightApproach {
        segments,
        travel: of_q.rounded() - of_p.rounded(),
        travel_error: gamma(16) * (size(of_p) + size(of_q)),
        reach: question.reach.bounds(),
    };
    approach.find(question.time_tolerance, effort)
}

impl StraightApproach {
    /// How far apart they are at a time.
    fn at(&self, t: f64) -> Option<SegmentsApart> {
        self.segments.moved(&(self.travel * t), 4.0 * self.travel_error).apart()
    }

    /// How far apart they are at a time, if that is certainly more than the reach, with a unit
    /// vector from P to Q along which they are, rounded.
    fn beyond(&self, t: f64) -> Option<(SegmentsApart, Vec3)> {
        let apart = self.at(t).filter(|apart| apart.bounds[0] > self.reach[1])?;
        let way = apart.closest[1] - apart.closest[0];
        Some((apart, unit(&way)?))
    }

    fn find(
        &self,
        time_tolerance: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<FirstContact>, Stopped> {
        let Some((mut apart, mut along)) = self.beyond(0.0) else { return Ok(None) };
        let initial = StaticProof::Separated { direction: Direction::Vector(along) };
        let mut found = FirstContact {
            outcome: Outcome::NoContact,
            t_free: 1.0,
            t_contact: 1.0,
            chain: Vec::new(),
            pairs: ArrayVec::new(),
            initial,
            stopped: None,
        };
        // What an evaluation may be off, and the change of a gap within the step.
        let off = 8.0 * (self.segments.error + 4.0 * self.travel_error);
        let mut t = 0.0;
        let mut before: Option<Link> = None;
        for _ in 0..STEPS_MAX {
            effort.spend_step()?;
            let room = apart.bounds[0] - self.reach[1] - off;
            if room <= 0.0 {
                break;
            }
            let closing = -along.dot(&self.travel);
            if closing * (1.0 - t) < room {
                // The gap along it is more than the reach from here to the end, and before, too,
                // unless it widens.
                let t0 = if closing > off { 0.0 } else { t };
                let last = Link { t0, t1: 1.0, ..link(along) };
                found.chain = before.filter(|_| t0 > 0.0).into_iter().chain([last]).collect();
                return Ok(Some(found));
            }
            let next = t + room / closing * (1.0 - gamma(16));
            if next <= t {
                break;
            }
            let Some((farther, onward)) = self.beyond(next) else { break };
            before = Some(Link { t1: next, ..link(along) });
            (t, apart, along) = (next, farther, onward);
        }
        Ok(self.contact_after(t, &apart, &along, time_tolerance).map(|(t_contact, pairs)| {
            let chain = vec![Link { t1: t, ..link(along) }];
            FirstContact { outcome: Outcome::Contact, t_free: t, t_contact, chain, pairs, ..found }
        }))
    }

    /// When they are certainly within the reach soon after a time, and pairs that show it. None
    /// where that takes longer than the bracket may be wide, or the direction does not show what is
    /// before.
    fn contact_after(
        &self,
        t: f64,
        apart: &SegmentsApart,
        along: &Vec3,
        time_tolerance: f64,
    ) -> Option<(f64, ArrayVec<VertexPair, 6>)> {
        let closing = -along.dot(&self.travel);
        let is_nearing = closing > 8.0 * self.travel_error;
        let mut by = (apart.bounds[1] - self.reach[0] + self.segments.error) / closing;
        if !is_nearing {
            return None;
        }
        for _ in 0..LATER_MAX {
            let later = (t + by).max(t.next_up());
            if later > 1.0 || later - t > time_tolerance {
                return None;
            }
            let near = self.at(later)?;
            if near.bounds[1] < self.reach[0] {
                return Some((later, near.pairs.into_iter().collect()));
            }
            by *= 4.0;
        }
        None
    }
}

/// From the start on.
fn link(along: Vec3) -> Link {
    Link { t0: 0.0, t1: 0.0, frame: Frame::World, direction: Direction::Vector(along) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Reach;
    use crate::contact_time::rotating;
    use crate::judge::judge_first_contact;
    use crate::motion::Motion;
    use crate::pair::Pair;
    use crate::pose::Pose;
    use crate::samples::{Random, hull};
    use crate::witness::Witness;

    /// Lengths whose squares are beyond what can be written had no direction: balls of 2^610 m were
    /// told to be free, by a direction of zeros, that meet.
    #[test]
    fn what_is_huge_or_tiny_is_told_as_the_search_tells_it_or_left_to_it() {
        let random = &mut Random(53);
        let mut told = 0;
        for round in 0..600_usize {
            let exponents = [610, 511, 300, -300, -500, -520, -1_040];
            let size = 2_f64.powi(exponents[round % 7]);
            let core = |ends: usize, random: &mut Random| {
                let points: Vec<Vec3> = (0..ends).map(|_| random.vector() * size).collect();
                hull(&points)
            };
            let (p, q) = (core(1 + round / 7 % 2, random), core(1 + round / 14 % 2, random));
            let place = random.unit_vector() * (8.0 * size);
            let at = |translation| Pose { translation, ..Pose::identity() };
            let pair = Pair::new(&p, at(Vec3::zeros()), &q, at(place));
            let velocity = random.vector() * size - place * f64::from(random.below(3));
            let question = Question {
                reach: Reach::of_rounded([2.0 * size, size], 0.0),
                ..Question::new(pair, Motion::rest(), Motion::Linear { velocity })
            };
            let effort = &mut Effort::unlimited();
            let translation = Translation::of(&question).unwrap();
            if let Some(found) = find(&question, &translation, effort).unwrap() {
                assert_eq!(judge_first_contact(&question, &found), Ok(()), "{round} {found:?}");
                told += 1;
            }
        }
        assert!(told > 100, "{told}");
    }

    /// Of points and segments of any lengths, that meet, pass each other and go apart.
    #[test]
    fn a_straight_way_is_told_as_the_search_tells_it_and_passes_the_judge() {
        let random = &mut Random(52);
        let (mut met, mut free, mut open) = (0, 0, 0);
        for round in 0..3_000_usize {
            let core = |ends: usize, random: &mut Random| {
                let points: Vec<Vec3> = (0..ends).map(|_| random.vector()).collect();
                hull(&points)
            };
            let (p, q) = (core(1 + round % 2, random), core(1 + round / 2 % 2, random));
            let place = random.unit_vector() * 3.0;
            let pair = Pair::new(&p, random.pose(Vec3::zeros()), &q, random.pose(place));
            let by = random.vector() * 2.0 - place * f64::from(random.below(3)) * 0.5;
            let linear = Motion::Linear { velocity: by };
            let radii = [random.signed().abs(), 0.3];
            let question = Question {
                reach: Reach::of_rounded(radii, 0.0),
                ..Question::new(pair, Motion::rest(), linear)
            };
            let effort = &mut Effort::unlimited();
            let translation = Translation::of(&question).unwrap();
            let Some(found) = find(&question, &translation, effort).unwrap() else {
                open += 1;
                continue;
            };
            assert_eq!(judge_first_contact(&question, &found), Ok(()), "{question:?} {found:?}");
            let searched =
                rotating::first_contact(&question, &mut Witness::default(), effort).unwrap();
            assert_eq!(found.outcome, searched.outcome, "{question:?}");
            let [from, to] = [found.t_free, found.t_contact];
            assert!(from <= searched.t_contact && searched.t_free <= to, "{question:?} {found:?}");
            if found.outcome == Outcome::Contact {
                met += 1;
                assert!(to - from <= question.time_tolerance, "{found:?}");
            } else {
                free += 1;
            }
        }
        // Those in contact at the start are among what is left open.
        assert!(met > 300 && free > 1_000 && open < 100, "{met} {free} {open}");
    }
}
