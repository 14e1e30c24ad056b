//! A grid says no more than the tree: no point is nearer than it says, and cells answer alike.

use super::*;
use crate::check::{CheckMode, CheckQuestion, Checked};
use crate::tests::check::panda_cell;
use crate::tests::samples::configurations;
use clearance_geometry::effort::Effort;
use clearance_samples::Random;

#[test]
fn no_point_is_nearer_than_a_grid_says() {
    let cell = panda_cell(30);
    let still = &cell.still;
    assert!(!still.field.is_beyond(&Vec3::zeros(), 0.0, |point| still.distance_at(point)));
    still.expect(ASKED_MIN as usize);
    let field = still.field.0.field.get().unwrap().as_ref().expect("there are enough bodies");
    let (mut random, mut told) = (Random(21), 0);
    for _ in 0..20_000 {
        let place = Vec3::from_fn(|_, _| 0.5 * (random.signed() + 1.0) * SIDE as f64);
        let point = field.low + place.component_mul(&field.cube);
        let distance_at = |point: &Vec3| still.distance_at(point);
        let Some(at_least) = field.at_least(&point, distance_at) else { continue };
        let distance = still.distance_at(&point);
        assert!(at_least <= distance, "{point:?}: {at_least} {distance}");
        told += 1;
    }
    assert!(told > 10_000, "{told} of 20,000 are known");
}

#[test]
fn cells_with_a_grid_answer_as_those_without() {
    let cell = panda_cell(30);
    let values = configurations(2_000, &mut Random(22));
    let ask = |of: &crate::cell::Cell, values: &[f64], mode| {
        let question = CheckQuestion { mode, ..CheckQuestion::default() };
        of.check(question, values, &mut Effort::unlimited())
    };
    for mode in [CheckMode::FirstPair, CheckMode::AllPairs, CheckMode::Clearance] {
        // Clones share a grid, so a cell that has none is built for each few.
        let few = values.chunks(8 * 500).flat_map(|some| ask(&panda_cell(30), some, mode));
        let few: Vec<Checked> = few.collect();
        assert_eq!(ask(&cell, &values, mode), few, "{mode:?}");
    }
    assert!(cell.still.field.0.field.get().is_some());
}
