//! Answers are the same in both compilations of [`super::processor`], to the last bit.

use crate::Vec3;
use crate::claim::Outcome;
use crate::contact_time::first_contact;
use crate::distance::{METHODS, Stops, measure_by};
use crate::effort::Effort;
use crate::motion::Motion;
use crate::pair::Pair;
use crate::pair::Question;
use crate::pose::Pose;
use crate::processor::plain::plainly;
use crate::samples::{Random, zoo};
use crate::separation::{METHODS as SEARCHES, decide};
use crate::witness::Witness;

/// All of the answer, the witness and the cost. As text, which tells every bit of a number but
/// those of a NaN.
fn measured(pair: &Pair<'_>, stops: Stops, witness: &mut Witness) -> String {
    let mut effort = Effort::unlimited();
    let found = measure_by(&METHODS[0], pair, stops, witness, &mut effort);
    format!("{found:?} {witness:?} {:?}", effort.cost)
}

#[test]
fn distances_are_the_same_to_the_last_bit_in_the_instructions_of_any_processor() {
    let mut random = Random(31);
    let bodies = zoo();
    for (name_p, p) in &bodies {
        for (name_q, q) in &bodies {
            let reach = p.bounds().radius + q.bounds().radius;
            let (mut wide, mut plain) = (Witness::default(), Witness::default());
            let (at, turn) = (random.unit_vector(), random.pose(Vec3::zeros()));
            for part in [1.3, 1.1, 0.2] {
                let pose = random.pose(at * (part * reach));
                let pair = Pair::new(p, turn, q, pose);
                for stops in [Stops::default(), Stops { above: Some(0.1 * reach), below: None }] {
                    let of_wide = measured(&pair, stops, &mut wide);
                    let of_plain = plainly(|| measured(&pair, stops, &mut plain));
                    assert_eq!(of_wide, of_plain, "{name_p} and {name_q}, {part}");
                }
            }
        }
    }
}

#[test]
fn collisions_are_the_same_to_the_last_bit_in_the_instructions_of_any_processor() {
    let mut random = Random(33);
    let bodies = zoo();
    let mut searches = 0;
    for (name_p, p) in &bodies {
        for (name_q, q) in &bodies {
            let reach = p.bounds().radius + q.bounds().radius;
            let (mut wide, mut plain) = (Witness::default(), Witness::default());
            let (at, turn) = (random.unit_vector(), random.pose(Vec3::zeros()));
            for part in [0.8, 0.7, 0.1] {
                let pair = Pair::new(p, turn, q, random.pose(at * (part * reach)));
                let decided = |witness: &mut Witness| {
                    let mut effort = Effort::unlimited();
                    let found = decide(&pair, &SEARCHES[0], witness, &mut effort);
                    (format!("{found:?} {witness:?} {:?}", effort.cost), effort.cost.steps)
                };
                let (of_wide, steps) = decided(&mut wide);
                let (of_plain, _) = plainly(|| decided(&mut plain));
                assert_eq!(of_wide, of_plain, "{name_p} and {name_q}, {part}");
                searches += u32::from(steps > 1);
            }
        }
    }
    assert!(searches > 200, "{searches}");
}

#[test]
fn first_contacts_are_the_same_to_the_last_bit_in_the_instructions_of_any_processor() {
    let mut random = Random(32);
    let bodies = zoo();
    let contact = |question: &Question<'_>| {
        let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
        let found = first_contact(question, &mut witness, &mut effort);
        format!("{found:?} {witness:?} {:?}", effort.cost)
    };
    for (name_p, p) in &bodies {
        for (name_q, q) in &bodies {
            let reach = p.bounds().radius + q.bounds().radius;
            let (turn, from) = (random.pose(Vec3::zeros()), random.unit_vector() * (2.0 * reach));
            let pair = Pair::new(p, turn, q, random.pose(from));
            let velocity = random.vector() * (0.3 * reach) - from;
            let question = Question::new(pair, Motion::rest(), Motion::Linear { velocity });
            let of_plain = plainly(|| contact(&question));
            assert_eq!(contact(&question), of_plain, "{name_p} and {name_q}");
        }
    }
}

#[test]
fn first_contacts_of_turning_bodies_are_the_same_to_the_last_bit_too() {
    let mut random = Random(32);
    let bodies = zoo();
    let mut contacts = 0;
    for (name_p, p) in bodies.iter().step_by(2) {
        for (name_q, q) in bodies.iter().step_by(3) {
            let reach = p.bounds().radius + q.bounds().radius;
            let way = random.unit_vector() * (1.5 * reach);
            let pose = random.pose(way);
            let pair = Pair::new(p, Pose::identity(), q, pose);
            let mut screw = |velocity| {
                let axis = random.unit_vector();
                Motion::Screw { pivot: None, velocity, axis, angle: 2.0 }
            };
            let question = Question::new(pair, screw(way * 0.8), screw(way * -0.1));
            let asked = || {
                let mut effort = Effort::unlimited();
                let found = first_contact(&question, &mut Witness::default(), &mut effort);
                (format!("{found:?} {:?}", effort.cost), found.map(|found| found.outcome))
            };
            let (of_wide, outcome) = asked();
            assert_eq!(of_wide, plainly(asked).0, "{name_p} and {name_q}");
            contacts += u32::from(outcome == Ok(Outcome::Contact));
        }
    }
    assert!(contacts > 5, "{contacts}");
}
