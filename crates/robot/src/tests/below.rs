//! All pairs below a distance against every pair by itself.

use super::check::{clearance_of, pairs, panda_cell, with_stand};
use super::samples::configurations;
use crate::below::BelowQuestion;
use crate::cell::{BodyPair, Cell};
use crate::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use crate::pairing::PairScope;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::until::Until;
use clearance_samples::Random;

fn ask(cell: &Cell, below: f64, count_max: usize, values: &[f64]) -> Vec<Checked> {
    let mode = CheckMode::PairsBelow(BelowQuestion { below, count_max });
    let question = CheckQuestion { mode, ..CheckQuestion::default() };
    cell.check(question, values, &mut Effort::unlimited())
}

fn listed(checked: &Checked) -> (&[SignedClearance], bool) {
    let Checked::Below(found) = checked else { panic!("{checked:?}") };
    (&found.pairs, found.is_cut)
}

#[test]
fn pairs_below_a_distance_are_those_of_all_pairs_measured_one_by_one() {
    let cell = panda_cell(12);
    let all = pairs(&cell);
    let values = configurations(12, &mut Random(4));
    for (below, count_max) in [(0.0, 1000), (0.05, 1000), (0.3, 1000), (5.0, 1000), (0.3, 7)] {
        let answers = ask(&cell, below, count_max, &values);
        let mut cuts = 0;
        for (values, answer) in values.chunks_exact(8).zip(&answers) {
            let each: Vec<(BodyPair, [f64; 2])> = with_stand(&cell, values, |stand| {
                all.iter().map(|pair| (*pair, clearance_of(stand, *pair))).collect()
            });
            let mut wanted: Vec<(BodyPair, [f64; 2])> =
                each.into_iter().filter(|(_, [lower, _])| *lower <= below).collect();
            let (found, is_cut) = listed(answer);
            assert_eq!(is_cut, wanted.len() > count_max);
            cuts += usize::from(is_cut);
            assert_eq!(found.len(), wanted.len().min(count_max));
            assert!(found.is_sorted_by_key(|one| (one.upper, one.pair)));
            wanted.sort_by(|a, b| a.1[1].total_cmp(&b.1[1]));
            let last = wanted.get(found.len().saturating_sub(1)).map_or(0.0, |last| last.1[1]);
            for one in found {
                let (_, bracket) = wanted.iter().find(|(pair, _)| *pair == one.pair).unwrap();
                assert!(one.lower <= bracket[1] && bracket[0] <= one.upper, "{one:?} {bracket:?}");
                let size = if one.upper > 0.0 { one.upper } else { 0.2 };
                assert!(one.upper - one.lower <= 1e-12 * size, "{one:?}");
                assert!(one.lower <= last + 1e-12, "{one:?} is not among the nearest");
                assert_eq!(one.verdict == Some(Verdict::Separated), one.upper > 0.0);
            }
        }
        assert_eq!(cuts > 0, count_max == 7);
    }
}

#[test]
fn the_gradient_of_each_pair_is_that_of_its_own_clearance() {
    let cell = panda_cell(8);
    let values = configurations(6, &mut Random(9));
    let mode = CheckMode::PairsBelow(BelowQuestion { below: 0.4, count_max: 1000 });
    let question = CheckQuestion { mode, with_gradient: true, ..CheckQuestion::default() };
    let mut seen = 0;
    for (at, answer) in cell.check(question, &values, &mut Effort::unlimited()).iter().enumerate() {
        let here = &values[8 * at..8 * at + 8];
        for one in listed(answer).0 {
            let geometry = one.geometry.as_ref().unwrap();
            for k in 0..8 {
                let step = 1e-6;
                let moved = |by: f64| {
                    let mut moved = here.to_vec();
                    moved[k] += by;
                    with_stand(&cell, &moved, |stand| clearance_of(stand, one.pair)[1])
                };
                let (before, after) = (moved(-step), moved(step));
                let slopes = [one.upper - before, after - one.upper].map(|d| d / step);
                if (slopes[0] - slopes[1]).abs() > 1e-4 {
                    continue;
                }
                let slope = 0.5 * (slopes[0] + slopes[1]);
                assert!((slope - geometry.gradient[k]).abs() < 1e-6, "{one:?} {k} {slope}");
                seen += 1;
            }
        }
    }
    assert!(seen > 400, "{seen}");
}

#[test]
fn each_scope_has_its_own_pairs_in_every_mode_and_a_deadline_ends_all() {
    let cell = panda_cell(12);
    let values = configurations(12, &mut Random(6));
    let parts = cell.part_count();
    let below = CheckMode::PairsBelow(BelowQuestion { below: 0.2, count_max: 1000 });
    for mode in [CheckMode::FirstPair, CheckMode::AllPairs, CheckMode::Clearance, below] {
        let mut counts = [0; 2];
        for (at, scope) in [PairScope::World, PairScope::Links].into_iter().enumerate() {
            let question = CheckQuestion { mode, with_gradient: false, scope };
            for answer in cell.check(question, &values, &mut Effort::unlimited()) {
                let found: Vec<BodyPair> = match answer {
                    Checked::Contact(found) => found.into_iter().map(|(pair, _)| pair).collect(),
                    Checked::Clearance(found) => {
                        found.into_iter().flatten().map(|o| o.pair).collect()
                    }
                    Checked::Below(found) => found.pairs.into_iter().map(|one| one.pair).collect(),
                    Checked::Free
                    | Checked::Open { .. }
                    | Checked::Bad(_)
                    | Checked::Stopped(_) => Vec::new(),
                };
                counts[at] += found.len();
                let is_world = |pair: &BodyPair| pair[1] as usize >= parts;
                assert!(found.iter().all(|pair| is_world(pair) == (at == 0)), "{found:?}");
            }
        }
        assert!(counts.iter().all(|count| *count > 0), "{mode:?} {counts:?}");
    }
    let stop = Until::expired();
    let question = CheckQuestion { mode: below, ..CheckQuestion::default() };
    let answers = cell.check(question, &values, &mut Effort::until(u64::MAX, &stop));
    assert_eq!(answers, vec![Checked::Stopped(Stopped::Deadline); 12]);
}
