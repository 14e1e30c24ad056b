//! Witnesses, order and threads change no answer; any server can go on.

use super::*;
use crate::geometry::pair::VertexPair;
use crate::scene::pairs::{PairState, Runner};

/// What must be the same whatever is remembered: all but proofs, last bits and cost.
fn essence(report: &Report) -> String {
    let pairs: Vec<_> = report
        .pairs
        .iter()
        .map(|pair| (pair.p, pair.q, pair.verdict, pair.deciding, pair.within_margin))
        .collect();
    let events: Vec<_> =
        report.events.iter().map(|event| (event.kind, event.p, event.q, event.verdict)).collect();
    format!("{} {:?} {pairs:?} {events:?}", report.frame, report.tally)
}

fn hostile() -> Witness {
    let mut witness =
        Witness { direction: Some(Vec3::new(f64::NAN, -1e308, 0.0)), ..Witness::default() };
    witness.pairs.extend([
        VertexPair { i: u32::MAX, j: 3 },
        VertexPair { i: 0, j: u32::MAX },
        VertexPair::default(),
    ]);
    witness
}

#[test]
fn clearing_or_poisoning_witnesses_changes_no_answer() {
    let mut remembers = open(tumbling(12, 50));
    let mut forgets = remembers.clone();
    let mut poisoned = remembers.clone();
    let mut random = Random(51);
    for id in 1..30 {
        let next = wander(&remembers, id, &mut random);
        if random.below(3) == 0 {
            forgets.forget_witnesses();
        }
        for state in poisoned.table.states_mut() {
            state.witnesses.replace_all(&hostile());
        }
        let expected = essence(&step(&mut remembers, &next, &all()));
        assert_eq!(essence(&step(&mut forgets, &next, &all())), expected);
        assert_eq!(essence(&step(&mut poisoned, &next, &all())), expected);
    }
}

#[test]
fn a_witness_spares_work() {
    let mut warm = open(tumbling(12, 50));
    let mut cold = warm.clone();
    let mut random = Random(51);
    let mut steps = [0, 0];
    for id in 1..20 {
        let next = wander(&warm, id, &mut random);
        cold.forget_witnesses();
        steps[0] += step(&mut warm, &next, &all()).counters.cost.supports;
        steps[1] += step(&mut cold, &next, &all()).counters.cost.supports;
    }
    assert!(steps[0] * 4 < steps[1] * 3, "warm {} and cold {} supports", steps[0], steps[1]);
}

/// Runs the items in some other order.
struct Reversed;

impl Runner for Reversed {
    fn run(&self, items: &mut [PairState], work: &(dyn Fn(&mut PairState) + Sync)) {
        items.iter_mut().rev().for_each(work);
    }
}

#[test]
fn answers_are_bit_identical_in_any_order_of_the_pairs() {
    let start = open(tumbling(12, 60));
    let questions = Questions { distances: true, certificates: true, ..all() };
    let runners: [&dyn Runner; 2] = [&Serial, &Reversed];
    let mut reports: Vec<Vec<Arc<Report>>> = Vec::new();
    for runner in runners {
        let mut scene = start.clone();
        let mut random = Random(61);
        reports.push(
            (1..12)
                .map(|id| {
                    let next = wander(&scene, id, &mut random);
                    scene.step(&next, &questions, runner).unwrap().report
                })
                .collect(),
        );
    }
    for other in &reports[1..] {
        assert_eq!(&reports[0], other);
    }
}

#[test]
fn canonical_answers_are_bit_identical_after_any_history() {
    let questions = Questions { distances: true, certificates: true, canonical: true, ..all() };
    let mut scene = open(tumbling(10, 70));
    let mut random = Random(71);
    for id in 1..8 {
        let next = wander(&scene, id, &mut random);
        step(&mut scene, &next, &all());
    }
    let mut fresh = Scene::open(scene.declaration(), &METHODS[0], LIMITS).unwrap();
    fresh.answer(&Questions::default(), &Serial, &false.into()).unwrap();
    let next = wander(&scene, 8, &mut random);
    let warm = step(&mut scene, &next, &questions);
    let cold = step(&mut fresh, &next, &questions);
    assert_eq!(warm.pairs, cold.pairs);
    assert_eq!(warm.events, cold.events);
}

#[test]
fn another_scene_goes_on_and_no_event_is_lost_or_repeated() {
    let declaration =
        Declaration { bodies: tumbling(12, 80), release_margin: 0.05, ..Declaration::default() };
    let mut stays = declare(declaration);
    let mut moves_on = stays.clone();
    let mut random = Random(81);
    let mut told = 0;
    for id in 1..40 {
        let next = wander(&stays, id, &mut random);
        if random.below(4) == 0 {
            // Declared state only; the opening report must have nothing new to tell.
            let taken_over = moves_on.declaration();
            moves_on = Scene::open(taken_over, &METHODS[0], LIMITS).unwrap();
            let report = moves_on.answer(&Questions::default(), &Serial, &false.into()).unwrap();
            assert_eq!(events(&report), [], "before frame {id}");
        }
        let expected = step(&mut stays, &next, &Questions::default());
        let found = step(&mut moves_on, &next, &Questions::default());
        assert_eq!(found.events, expected.events, "frame {id}");
        assert_eq!(found.tally, expected.tally, "frame {id}");
        told += expected.events.len();
    }
    assert!(told > 20, "{told}");
}
