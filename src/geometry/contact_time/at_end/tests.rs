//! Bodies that rest to each other, at their margin and beyond it by an ulp.

use super::*;
use crate::geometry::contact_time::first_contact;
use crate::geometry::hull::samples::{Random, cloud, cuboid, polytope_of, segment};
use crate::geometry::judge::judge_first_contact;
use crate::geometry::motion::Motion;

/// The largest margin that the pair is beyond, and the next number, which it is within.
fn margins_around(pair: &Pair<'_>) -> [f64; 2] {
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let stops = distance::Stops::default();
    let measured = distance::measure(pair, stops, &mut witness, &mut effort).unwrap();
    let mut beyond = measured.lower.next_down();
    loop {
        let next = beyond.next_up();
        if distance::compare(pair, next, &mut witness, &mut effort).unwrap().is_within {
            return [beyond, next];
        }
        beyond = next;
    }
}

#[test]
fn bodies_at_rest_are_free_beyond_their_margin_by_whatever_little_there_is() {
    let mut random = Random::new(5);
    for case in 0..300u64 {
        let clouds = [0, 1].map(|k| polytope_of(&cloud(12, random.in_ball() * 2.0, 2 * case + k)));
        let simple = [polytope_of(&segment(1.0)), polytope_of(&cuboid(1.0, 0.5, 0.25))];
        let [p, q] = if case % 2 == 0 { &clouds } else { &simple };
        let pose = |random: &mut Random, far: f64| {
            let axis = random.in_ball();
            let turn = [random.between(-1.0, 1.0), axis.x, axis.y, axis.z];
            Pose::from_quaternion(random.direction() * far, turn).unwrap()
        };
        let pair = Pair::new(p, pose(&mut random, 0.1), q, pose(&mut random, 4.0));
        let [beyond, within] = margins_around(&pair);
        let velocity = random.in_ball() * 3.0;
        let alike = Motion::Linear { velocity };
        for (margin, outcome) in [(beyond, Outcome::NoContact), (within, Outcome::Contact)] {
            for motion in [Motion::rest(), alike] {
                let question = Question { margin, ..Question::new(pair, motion, motion) };
                let mut effort = Effort::unlimited();
                let answer =
                    first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
                assert_eq!(judge_first_contact(&question, &answer), Ok(()), "{case} {answer:?}");
                assert_eq!(answer.outcome, outcome, "{case} {answer:?}");
            }
        }
    }
}
