//! Configurations in bulk against every pair by itself, and gradients against differences.

use super::samples::{boxes, configurations, panda, robot_of, still_box};
use crate::cell::{BodyPair, Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use crate::kinematics::ConfigurationError;
use crate::stand::{Block, Poses, Stand};
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration;
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;
use clearance_geometry::witness::Witness;
use clearance_samples::Random;

pub(crate) fn panda_cell(count: usize) -> Cell {
    let robot = panda();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    Cell::new(&[instance], boxes(count, &mut Random(7)))
}

/// Every pair of the cell that is checked, by its definition.
pub(super) fn pairs(cell: &Cell) -> Vec<BodyPair> {
    let moves = |body: usize| cell.link_of(body as u32).is_some_and(|link| link.frame.is_some());
    let parts = cell.part_count();
    let mut all = Vec::new();
    for a in (0..parts).filter(|part| moves(*part)) {
        all.extend((0..cell.still.bodies().len()).map(|b| [a as u32, (parts + b) as u32]));
    }
    for [a, b] in &cell.link_pairs {
        for i in cell.links[*a].parts.clone() {
            all.extend(cell.links[*b].parts.clone().map(|k| [i as u32, k as u32]));
        }
    }
    all
}

pub(super) fn with_stand<T>(
    cell: &Cell,
    values: &[f64],
    look: impl FnOnce(&mut Stand<'_>) -> T,
) -> T {
    let (mut block, mut poses) = (Block::default(), Poses::default());
    block.place(cell, &[values; 4]);
    look(&mut block.stand(cell, 2, &mut poses))
}

fn ask(cell: &Cell, mode: CheckMode, values: &[f64]) -> Vec<Checked> {
    let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
    cell.check(question, values, &mut Effort::unlimited())
}

#[test]
fn contacts_are_those_of_all_pairs_decided_one_by_one() {
    let cell = panda_cell(30);
    let all = pairs(&cell);
    assert_eq!(all.len(), cell.pair_count());
    let values = configurations(60, &mut Random(3));
    let (first, every) =
        (ask(&cell, CheckMode::FirstPair, &values), ask(&cell, CheckMode::AllPairs, &values));
    let mut free = 0;
    for (at, values) in values.chunks_exact(8).enumerate() {
        let mut wanted: Vec<(BodyPair, Verdict)> = with_stand(&cell, values, |stand| {
            let decide = |pair: &BodyPair| (*pair, stand.verdict(*pair, &mut Effort::unlimited()));
            all.iter().map(decide).map(|(pair, verdict)| (pair, verdict.unwrap())).collect()
        });
        wanted.retain(|(_, verdict)| *verdict != Verdict::Separated);
        wanted.sort_by_key(|(pair, _)| *pair);
        if wanted.is_empty() {
            free += 1;
            assert_eq!((&first[at], &every[at]), (&Checked::Free, &Checked::Free));
        } else {
            let Checked::Contact(one) = &first[at] else { panic!("{at}: {:?}", first[at]) };
            assert!(one.len() == 1 && wanted.contains(&one[0]), "{at}");
            assert_eq!(every[at], Checked::Contact(wanted), "{at}");
        }
    }
    assert!((5..55).contains(&free), "{free}");
}

/// The signed clearance of a pair, by the questions of `clearance-geometry`.
pub(super) fn clearance_of(stand: &mut Stand<'_>, pair: BodyPair) -> [f64; 2] {
    let effort = &mut Effort::unlimited();
    let distance = stand.hull_distance(pair, Stops::default(), effort).unwrap();
    if distance.decision.verdict() == Verdict::Separated {
        return [distance.lower, distance.upper];
    }
    // The search in exact arithmetic, whatever the robots' room asks.
    let depth = penetration::measure(&stand.hulls(pair), false, &mut Witness::default(), effort);
    let depth = depth.unwrap();
    [-depth.upper, -depth.lower]
}

#[test]
fn least_clearances_are_those_of_all_pairs_measured_one_by_one() {
    let cell = panda_cell(12);
    let all = pairs(&cell);
    let values = configurations(20, &mut Random(4));
    let least = ask(&cell, CheckMode::Clearance, &values);
    let by_link = ask(&cell, CheckMode::LinkClearance, &values);
    let mut deep = 0;
    for (at, values) in values.chunks_exact(8).enumerate() {
        let each: Vec<(BodyPair, [f64; 2])> = with_stand(&cell, values, |stand| {
            all.iter().map(|pair| (*pair, clearance_of(stand, *pair))).collect()
        });
        let nearest = |keep: &dyn Fn(&BodyPair) -> bool| {
            let kept = each.iter().filter(|(pair, _)| keep(pair)).map(|(_, bracket)| bracket);
            kept.fold([f64::INFINITY; 2], |a, b| [a[0].min(b[0]), a[1].min(b[1])])
        };
        let agrees = |found: &SignedClearance, wanted: [f64; 2]| {
            assert!(found.lower <= wanted[1] && wanted[0] <= found.upper, "{at}: {found:?}");
            // A depth is known to a part of the smaller body.
            let size = if found.upper > 0.0 { found.upper } else { 0.2 };
            assert!(found.upper - found.lower <= 1e-12 * size, "{at}: {found:?}");
        };
        let Checked::Clearance(one) = &least[at] else { panic!("{at}: {:?}", least[at]) };
        let one = one[0].as_ref().unwrap();
        agrees(one, nearest(&|_| true));
        deep += usize::from(one.upper < 0.0);
        let Checked::Clearance(links) = &by_link[at] else { panic!("{at}") };
        let moving = cell.links.iter().filter(|link| link.frame.is_some());
        assert_eq!(links.len(), moving.clone().count());
        for (link, found) in moving.zip(links) {
            let is_of = |pair: &BodyPair| pair.iter().any(|b| link.parts.contains(&(*b as usize)));
            agrees(found.as_ref().unwrap(), nearest(&is_of));
        }
    }
    assert!((2..19).contains(&deep), "{deep}");
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let cell = panda_cell(12);
    let values = configurations(40, &mut Random(6));
    let question = CheckQuestion {
        mode: CheckMode::Clearance,
        with_gradient: true,
        ..CheckQuestion::default()
    };
    let (mut apart, mut deep) = (0, 0);
    for (at, answer) in cell.check(question, &values, &mut Effort::unlimited()).iter().enumerate() {
        let Checked::Clearance(found) = answer else { panic!("{answer:?}") };
        let found = found[0].as_ref().unwrap();
        let geometry = found.geometry.as_ref().unwrap();
        let between = geometry.normal.dot(&(geometry.second - geometry.first));
        assert!((between - found.upper).abs() < 1e-9, "{at}: {found:?}");
        let step = 1e-6;
        for k in 0..8 {
            let moved = |by: f64| {
                let mut moved = values[8 * at..8 * at + 8].to_vec();
                moved[k] += by;
                let Checked::Clearance(found) =
                    &cell.check(question, &moved, &mut Effort::unlimited())[0]
                else {
                    panic!()
                };
                found[0].clone().unwrap()
            };
            let (before, after) = (moved(-step), moved(step));
            let slopes = [found.upper - before.upper, after.upper - found.upper].map(|d| d / step);
            // Where another pair or feature takes over there is a kink, and no gradient.
            if before.pair != found.pair
                || after.pair != found.pair
                || (slopes[0] - slopes[1]).abs() > 1e-4
            {
                continue;
            }
            let slope = 0.5 * (slopes[0] + slopes[1]);
            assert!((slope - geometry.gradient[k]).abs() < 1e-6, "{at}, {k}: {found:?} {slope}");
            *if found.upper > 0.0 { &mut apart } else { &mut deep } += 1;
        }
    }
    assert!(apart > 60 && deep > 60, "{apart} {deep}");
}

const SLIDER: &str = r#"<robot name="slider"><link name="rail"/><link name="cart"><collision>
  <geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9"/></joint></robot>"#;

#[test]
fn touching_is_exact_to_the_last_bit_and_a_bad_value_is_told_in_its_place() {
    let robot = robot_of(SLIDER).unwrap();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let wall = StillBody { pose: Pose::translation(3.0, 0.0, 0.0), ..still_box(Vec3::repeat(0.5)) };
    let cell = Cell::new(&[instance], vec![wall]);
    let values = [2.0, 2.0f64.next_down(), 2.0f64.next_up(), f64::NAN, 0.0, -4.0];
    let answers = ask(&cell, CheckMode::FirstPair, &values);
    let contact = |verdict| Checked::Contact(vec![([0, 1], verdict)]);
    assert_eq!(answers[0], contact(Verdict::Touching));
    assert_eq!(answers[1], Checked::Free);
    assert_eq!(answers[2], contact(Verdict::Overlapping));
    assert_eq!(answers[3], Checked::Bad(ConfigurationError::Value { index: 0 }));
    assert_eq!(answers[4..], [Checked::Free, Checked::Free]);
    let clearances = ask(&cell, CheckMode::Clearance, &values);
    for (at, exact) in [(0, 0.0), (4, 2.0), (5, 6.0), (2, 2.0 - 2.0f64.next_up())] {
        let Checked::Clearance(found) = &clearances[at] else { panic!("{:?}", clearances[at]) };
        let found = found[0].as_ref().unwrap();
        assert!(found.lower <= exact && exact <= found.upper, "{found:?}");
        assert!(found.upper - found.lower <= 1e-12 * exact.abs(), "{found:?}");
    }
}

#[test]
fn two_robots_meet_each_other_and_not_what_they_are_allowed_to() {
    let robot = robot_of(SLIDER).unwrap();
    let at = |x: f64| Instance { robot: &robot, world_from_base: Pose::translation(x, 0.0, 0.0) };
    let cell = Cell::new(&[at(0.0), at(5.0)], Vec::new());
    assert_eq!((cell.variable_count(), cell.pair_count()), (2, 1));
    let answers = ask(&cell, CheckMode::FirstPair, &[0.0, 0.0, 3.0, -1.0, 2.0, -2.5]);
    let contact = |verdict| Checked::Contact(vec![([0, 1], verdict)]);
    let wanted = [Checked::Free, contact(Verdict::Touching), contact(Verdict::Overlapping)];
    assert_eq!(answers, wanted);
}

#[test]
fn answers_do_not_depend_on_what_they_are_asked_with_and_end_at_the_deadline() {
    let cell = panda_cell(20);
    let values = configurations(11, &mut Random(9));
    for mode in [CheckMode::FirstPair, CheckMode::Clearance] {
        let together = ask(&cell, mode, &values);
        let alone: Vec<Checked> =
            values.chunks_exact(8).flat_map(|values| ask(&cell, mode, values)).collect();
        assert_eq!(together, alone);
    }
    let stop = Until::expired();
    let question = CheckQuestion {
        mode: CheckMode::FirstPair,
        with_gradient: false,
        ..CheckQuestion::default()
    };
    let answers = cell.check(question, &values, &mut Effort::until(u64::MAX, &stop));
    assert_eq!(answers, vec![Checked::Stopped(Stopped::Deadline); 11]);
}
