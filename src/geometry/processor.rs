//! Whole queries in the instructions of the processor at hand.
//!
//! The program is built for any x86-64, with vector registers of two numbers. Most processors have
//! those of four (AVX2) and write the result of an instruction where it is wanted; a hot loop gains
//! by both. [`dispatch`] compiles what it is given twice and asks, once in the life of the program,
//! which of the two to run.
//!
//! Answers are the same to the last bit. Additions, products, quotients and square roots are those
//! of IEEE 754 one by one in either, in the order that the source states; the compiler does not
//! fuse a product and a sum into one rounding unless the source says `mul_add`, also where the
//! processor could; and comparisons have no freedom.
//!
//! To belong to the second compilation a function must be inlined into the closure:
//! `#[inline(always)]` on it and on all between. Others may be called, in the first compilation:
//! rare stages, and what is long beside the call. On other processors than x86-64 there is one
//! compilation only.

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Avx2, Level, Simd as _};

/// Runs the query, which is an `#[inline(always)]` closure.
#[inline(always)]
pub(super) fn dispatch<R>(query: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2() {
        return avx2.vectorize(query);
    }
    query()
}

/// A proof that there is AVX2, found out once.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn avx2() -> Option<Avx2> {
    #[cfg(test)]
    if tests::is_plain() {
        return None;
    }
    Level::new().as_avx2()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::cell::Cell;

    use crate::geometry::Vec3;
    use crate::geometry::claim::{Outcome, Question};
    use crate::geometry::contact_time::first_contact;
    use crate::geometry::distance::{METHODS, Stops, measure_by};
    use crate::geometry::effort::Effort;
    use crate::geometry::motion::Motion;
    use crate::geometry::pair::Pair;
    use crate::geometry::pose::Pose;
    use crate::geometry::samples::{Random, zoo};
    use crate::geometry::separation::{METHODS as SEARCHES, decide};
    use crate::geometry::witness::Witness;

    thread_local! {
        static IS_PLAIN: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether this thread asks for the first compilation.
    pub(super) fn is_plain() -> bool {
        IS_PLAIN.get()
    }

    /// Runs it in the first compilation.
    fn plainly<R>(query: impl FnOnce() -> R) -> R {
        IS_PLAIN.set(true);
        let answer = query();
        IS_PLAIN.set(false);
        answer
    }

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
                    for stops in [Stops::default(), Stops { above: Some(0.1 * reach), below: None }]
                    {
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
                let (turn, from) =
                    (random.pose(Vec3::zeros()), random.unit_vector() * (2.0 * reach));
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
}
