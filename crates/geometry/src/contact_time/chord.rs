//! A step that is free as its two ends show: bodies that are separated along one direction where
//! they start and where they end, by more than their ways bend in between.
//!
//! A point that moves evenly, but for something that adds at most `8 b` of second derivative over
//! the step, stays within `4 t (1 - t) b` of the chord of its way; call b its *bow*. Of two bodies
//! with gaps f0 and f1 along a direction of length 1 at the ends, the gap along it at t is at least
//! `(1 - t) f0 + t f1 - 4 t (1 - t) (b_P + b_Q)`, whatever vertices support it meanwhile.
//!
//! It is the certified step of `rotating` over the whole motion at once, along a direction that is
//! at hand, and takes no enclosure of a turning point. It leaves no certificate, and says nothing
//! where it does not hold.

use super::rotating::is_certain;
use crate::Vec3;
use crate::claim::CLEARANCE_TOLERANCE_MIN;
use crate::difference::probe::certified_gap;
use crate::effort::Effort;
use crate::number::tolerance::CLEARANCE;
use crate::pair::{Pair, VertexPair};

/// How far two bodies stray on a step, and what they have to stay apart by, metres.
#[derive(Clone, Copy, Debug)]
pub struct Chord<'a> {
    /// The bodies where they start and where they end.
    ends: [&'a Pair<'a>; 2],
    /// At least the sum of both bodies' bows.
    bow: f64,
    need: f64,
}

impl<'a> Chord<'a> {
    /// From the first to the second of `ends`, of bodies whose bows add up to at most `bow` and
    /// whose deviations to `deviation`, in a scene where no coordinate of them and no extent is
    /// larger than `size`.
    ///
    /// Closer than the clearance tolerance a search may leave a graze undecided. So that nobody is
    /// told more than a search finds, ends that are as close prove nothing here.
    pub fn new(
        ends: [&'a Pair<'a>; 2],
        bow: f64,
        deviation: f64,
        size: f64,
        clearance_tolerance: Option<f64>,
    ) -> Self {
        let asked = clearance_tolerance.unwrap_or(CLEARANCE * size);
        let tolerance = asked.max(CLEARANCE_TOLERANCE_MIN * size);
        Self { ends, bow, need: deviation + tolerance }
    }

    /// Whether this direction, of any length, proves that the bodies are separated throughout;
    /// `last` is at most how far apart they are along it at the end, where that is known.
    pub fn is_free_along(
        &self,
        direction: &Vec3,
        last: Option<f64>,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> bool {
        let [start, end] = self.ends;
        let mut surplus = |pair: &Pair<'_>| {
            let gap = certified_gap(pair, direction, hint, effort);
            gap.map_or(f64::NEG_INFINITY, |gap| gap.per_length() - self.need)
        };
        let last = last.map_or_else(|| surplus(end), |known| known - self.need);
        // The slack of a gap per length covers the rounding of a surplus that is positive.
        last > 0.0 && is_certain(surplus(start), last, 4.0 * self.bow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Direction, Outcome, StaticProof};
    use crate::contact_time::first_contact;
    use crate::motion::{Motion, Turn};
    use crate::pair::Question;
    use crate::polytope::Polytope;
    use crate::pose::Pose;
    use crate::samples::{Random, ball, cuboid};
    use crate::separation::{METHODS, decide};
    use crate::witness::Witness;

    /// From a pose to one that is off it by so much, about a point near the body; with its bow.
    fn way(body: &Polytope, from: Pose, by: [f64; 2], random: &mut Random) -> (Motion, Pose, f64) {
        let turn = random.vector() * by[1];
        let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
        let mut end = turn.compose(&Pose { translation: Vec3::zeros(), ..from });
        end.translation = from.translation + random.vector() * by[0];
        let pivot = from.translation + random.vector();
        let arms = body.vertices().iter().map(|v| (from.apply_rounded(v) - pivot).norm());
        let angle = Turn::between(&from.rotation, &end.rotation).angle;
        let bow = angle * angle * arms.fold(0.0, f64::max) / 8.0 * (1.0 + 1e-9);
        (Motion::ToPose { end, pivot: Some(pivot), turn: None }, end, bow)
    }

    /// Against the search, on steps from a hundredth of the bodies' size to several turns of it.
    #[test]
    fn what_is_free_by_its_ends_is_free_as_the_search_tells() {
        let mut random = Random(7);
        let shapes =
            [ball(20, 1), ball(60, 2), cuboid(0.5, 0.5, 0.5), cuboid(1.5, 0.05, 0.05), ball(6, 3)];
        let steps = [[0.02, 0.02], [0.1, 0.1], [0.3, 0.6], [0.5, 2.0], [1.0, 20.0]];
        let mut counts = [[0, 0, 0]; 5];
        for round in 0..6000 {
            let [p, q] = [0, 1].map(|_| &shapes[random.below(5) as usize]);
            let kind = round % 5;
            let place = random.vector() * 1.4;
            let (from_p, from_q) = (random.pose(Vec3::zeros()), random.pose(place));
            let (motion_p, end_p, bow_p) = way(p, from_p, steps[kind], &mut random);
            let (motion_q, end_q, bow_q) = way(q, from_q, steps[kind], &mut random);
            let [start, end] = [Pair::new(p, from_p, q, from_q), Pair::new(p, end_p, q, end_q)];
            let mut effort = Effort::unlimited();
            let decided = decide(&end, &METHODS[0], &mut Witness::default(), &mut effort);
            let StaticProof::Separated { direction: Direction::Vector(s) } = decided.unwrap().proof
            else {
                continue;
            };
            let question = Question::new(start, motion_p, motion_q);
            let found = first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
            let chord = Chord::new([&start, &end], bow_p + bow_q, 0.0, 4.0, None);
            let is_free = chord.is_free_along(&s, None, None, &mut effort);
            assert!(!is_free || found.outcome == Outcome::NoContact, "round {round}: {found:?}");
            let count = &mut counts[kind];
            let is_met = found.outcome == Outcome::Contact;
            count[if is_met { 0 } else { 1 + usize::from(is_free) }] += 1;
        }
        // Of the small steps most that are free are proven to be, by this one direction.
        assert!(counts[0][2] > 8 * counts[0][1] && counts[1][2] > 3 * counts[1][1], "{counts:?}");
        assert!(counts[1..].iter().all(|[met, ..]| *met > 50) && counts[2][2] > 20, "{counts:?}");
    }

    #[test]
    fn ends_closer_than_the_clearance_tolerance_or_the_deviations_prove_nothing() {
        let cube = cuboid(0.5, 0.5, 0.5);
        let pair =
            |x: f64| Pair::new(&cube, Pose::identity(), &cube, Pose::translation(x, 0.0, 0.0));
        let (start, end) = (pair(1.5), pair(1.01));
        let mut effort = Effort::unlimited();
        let mut is_free = |deviation, tolerance| {
            let chord = Chord::new([&start, &end], 0.0, deviation, 2.0, tolerance);
            chord.is_free_along(&Vec3::x(), None, None, &mut effort)
        };
        assert!(is_free(0.0, None) && is_free(0.009, None) && is_free(0.0, Some(0.009)));
        assert!(!is_free(0.011, None) && !is_free(0.0, Some(0.011)));
    }
}
