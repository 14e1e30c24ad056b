//! Pairs that no joint value changes: found where they are, and nowhere else, and in no answer
//! about others.

use super::samples::{configurations, panda, robot_of, still_box};
use crate::Robot;
use crate::below::BelowQuestion;
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

/// An arm whose end is a box before the flat face of a wrist, 0.0198 away, as on a UR5: `tip` turns
/// about the axis that both are across. `extra` is in the link of the tip.
fn wrist(tip: &str, extra: &str) -> String {
    format!(
        r#"<robot name="wrist"><link name="base"/>
  <link name="upper"><collision><origin xyz="0.2 0 0"/>
  <geometry><box size="0.4 0.1 0.1"/></geometry></collision></link>
  <link name="wrist"><collision><geometry><box size="0.08 0.1 0.1"/></geometry></collision></link>
  <link name="flange"/><link name="tip">{tip}{extra}</link>
  <joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3"/></joint>
  <joint name="b" type="revolute"><parent link="upper"/><child link="wrist"/>
  <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3"/></joint>
  <joint name="c" type="revolute"><parent link="wrist"/><child link="flange"/>
  <origin xyz="0.02 0 0"/><axis xyz="1 0 0"/><limit lower="-3" upper="3"/></joint>
  <joint name="d" type="fixed"><parent link="flange"/><child link="tip"/>
  <origin xyz="0.0448 0 0"/></joint></robot>"#
    )
}

const BOX: &str = r#"<collision><geometry><box size="0.01 0.02 0.03"/></geometry></collision>"#;

fn ask(cell: &Cell, mode: CheckMode, values: &[f64]) -> Vec<Checked> {
    let question = CheckQuestion { mode, ..CheckQuestion::default() };
    cell.check(question, values, &mut Effort::unlimited())
}

fn least(checked: &Checked) -> &SignedClearance {
    let Checked::Clearance(found) = checked else { panic!("{checked:?}") };
    found[0].as_ref().unwrap()
}

/// Three joint values each.
fn turns(count: usize) -> Vec<f64> {
    let mut random = Random(8);
    (0..3 * count).map(|_| 3.0 * random.signed()).collect()
}

/// The clearance of a pair of parts in many configurations, from least to greatest.
fn spread(robot: &Robot, pair: [u32; 2], values: &[f64]) -> [f64; 2] {
    let mut robot = robot.clone();
    robot.constant.clear();
    let cell = Cell::new(&[Instance { robot: &robot, world_from_base: Pose::identity() }], vec![]);
    let mode = CheckMode::PairsBelow(BelowQuestion { below: 10.0, count_max: 1000 });
    let mut spread = [f64::INFINITY, f64::NEG_INFINITY];
    for checked in ask(&cell, mode, values) {
        let Checked::Below(found) = checked else { panic!("{checked:?}") };
        let one = found.pairs.iter().find(|one| one.pair == pair).unwrap();
        spread = [spread[0].min(one.lower), spread[1].max(one.upper)];
    }
    spread
}

#[test]
fn a_box_that_turns_before_a_flat_face_is_told_and_hides_no_other_clearance() {
    let robot = robot_of(&wrist(BOX, "")).unwrap();
    let [one] = &robot.constant[..] else { panic!("{:?}", robot.constant) };
    assert_eq!(one.pair, [1, 2]);
    assert!((one.lower - 0.0198).abs() < 1e-6 && one.upper - one.lower <= 1e-6, "{one:?}");
    let values = turns(200);
    let found = spread(&robot, one.pair, &values);
    assert!(one.lower <= found[0] && found[1] <= one.upper, "{found:?} {one:?}");
    let told = robot.notes.iter().filter(|note| note.contains("\"tip\"")).count();
    assert_eq!(told, 1, "{:?}", robot.notes);

    // A block that is 0.1 to 0.6 from the arm is what clearances are about.
    let base = Pose::from_quaternion(Vec3::new(3.0, 1.0, -2.0), [0.4, 0.1, 0.2, 0.7]).unwrap();
    let block = StillBody {
        pose: base.compose(&Pose::translation(0.0, 0.0, 0.8)),
        ..still_box(Vec3::repeat(0.05))
    };
    let cell = Cell::new(&[Instance { robot: &robot, world_from_base: base }], vec![block]);
    assert_eq!(cell.constant_pairs().len(), 1);
    let told = cell.constant_pairs()[0];
    assert!(told.lower <= found[0] && found[1] <= told.upper, "{told:?}");
    for (values, checked) in values.chunks(3).zip(ask(&cell, CheckMode::Clearance, &values)) {
        assert_ne!(least(&checked).pair, [1, 2], "{values:?}");
    }
    // Contacts are asked as ever.
    assert!(cell.pairs().contains(&[1, 2]));
}

#[test]
fn balls_on_the_axes_of_their_joints_stay_where_they_are() {
    let ball = r#"<collision><origin xyz="-0.0448 0 0"/>
        <geometry><sphere radius="0.004"/></geometry></collision>"#;
    let robot = robot_of(&wrist(ball, "")).unwrap();
    // It is in the wrist, which it overlaps for ever; that hides nothing, for it is told.
    assert_eq!(robot.constant, []);
    let ball = ball.replace("-0.0448", "0.0002");
    let robot = robot_of(&wrist(&ball, "")).unwrap();
    let [one] = &robot.constant[..] else { panic!("{:?}", robot.constant) };
    let found = spread(&robot, one.pair, &turns(100));
    assert!(one.lower <= found[0] && found[1] <= one.upper, "{found:?} {one:?}");
    // Off the axis by a millimetre it goes round a circle before the same face.
    let off = ball.replace(r#"xyz="0.0002 0 0""#, r#"xyz="0.0002 0.001 0""#);
    let robot = robot_of(&wrist(&off, "")).unwrap();
    let [one] = &robot.constant[..] else { panic!("{:?}", robot.constant) };
    let found = spread(&robot, one.pair, &turns(100));
    assert!(one.lower <= found[0] && found[1] <= one.upper, "{found:?} {one:?}");
}

#[test]
fn what_changes_is_not_taken_for_constant() {
    let moved = |by: &str| BOX.replace("<geometry>", &format!("<origin {by}/><geometry>"));
    let values = turns(100);
    for (by, is_constant) in [
        // Beside the axis, and tilted: a corner goes round before the face.
        (r#"xyz="0 0.03 0""#, true),
        (r#"rpy="0 0.001 0""#, true),
        // Beyond the face, the nearer corners of which come by.
        (r#"xyz="0 0.08 0""#, false),
        (r#"xyz="0 0.2 0""#, false),
    ] {
        let robot = robot_of(&wrist(&moved(by), "")).unwrap();
        let [least, most] = spread(&robot, [1, 2], &values);
        assert_eq!(most - least <= 1e-6, is_constant, "{by}");
        assert_eq!(robot.constant.len(), usize::from(is_constant), "{by}");
    }
    // Another part of the link is a pair of its own.
    let robot = robot_of(&wrist(BOX, &moved(r#"xyz="0.1 0.2 0""#))).unwrap();
    let pairs: Vec<[u32; 2]> = robot.constant.iter().map(|one| one.pair).collect();
    assert_eq!(pairs, [[1, 2]]);
    assert_eq!(panda().constant, []);
}

/// Whatever is told of the Panda's links is as it was: it has no such pair.
#[test]
fn a_robot_without_such_pairs_has_no_note() {
    let robot = panda();
    assert!(!robot.notes.iter().any(|note| note.contains("apart")), "{:?}", robot.notes);
    let cell = Cell::new(&[Instance { robot: &robot, world_from_base: Pose::identity() }], vec![]);
    assert_eq!(cell.constant_pairs(), []);
    assert_eq!(ask(&cell, CheckMode::Clearance, &configurations(1, &mut Random(1))).len(), 1);
}
