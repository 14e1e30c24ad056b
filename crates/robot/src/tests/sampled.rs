//! Pairs of links in sampled configurations against cells of the robot as planners ask them.

use super::samples::{panda, robot_of};
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked};
use crate::sampled::{PairCount, SampledRobot, configuration};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;

const SEED: u64 = 11;

#[test]
fn counts_are_those_of_each_sample_asked_by_itself_and_of_any_ranges() {
    let robot = panda();
    let sampled = SampledRobot::new(&robot, &Effort::unlimited()).unwrap();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let cell = Cell::new(&[instance], Vec::new());
    let question = CheckQuestion { mode: CheckMode::AllPairs, ..CheckQuestion::default() };
    let variables = &robot.kinematics.tree().variables;
    let mut wanted = vec![PairCount::default(); sampled.pairs().len()];
    for number in 0..150 {
        let values = configuration(variables, SEED, number);
        assert!(variables.iter().zip(&values).all(|(one, value)| one.holds(*value)));
        let answers = cell.check(question, &values, &mut Effort::unlimited());
        let [Checked::Contact(contacts)] = &answers[..] else {
            assert_eq!(answers, [Checked::Free]);
            continue;
        };
        let mut pairs: Vec<[usize; 2]> = contacts
            .iter()
            .map(|(pair, _)| {
                let [a, b] = pair.map(|part| robot.parts[part as usize].link);
                [a.min(b), a.max(b)]
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        for links in pairs {
            let at = sampled.pairs().iter().position(|pair| pair.links == links).unwrap();
            wanted[at].in_contact += 1;
        }
    }
    let count = |range| sampled.count(SEED, range, &mut Effort::unlimited()).unwrap();
    let mut split = count(0..7);
    for other in [count(7..100), count(100..150)] {
        split.iter_mut().zip(other).for_each(|(sum, one)| sum.in_contact += one.in_contact);
    }
    assert_eq!(split, count(0..150));
    assert!(wanted.iter().any(|one| one.in_contact > 0), "no sample is in contact");
    // The cell leaves out what the robot allows; the samples do not.
    for ((pair, found), wanted) in sampled.pairs().iter().zip(&split).zip(&wanted) {
        if pair.allowed.is_none() {
            assert_eq!(found, wanted, "{pair:?}");
        }
    }
    assert!(sampled.pairs().is_sorted_by_key(|pair| pair.links));
}

#[test]
fn samples_without_limits_are_a_turn_or_two_metres_and_none_is_beyond_a_limit() {
    let urdf = r#"<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
        <joint name="t" type="continuous"><parent link="a"/><child link="b"/></joint>
        <joint name="s" type="prismatic"><parent link="b"/><child link="c"/>
        <limit lower="-1e250" upper="1e250" velocity="1"/></joint>
        <joint name="p" type="planar"><parent link="c"/><child link="d"/></joint></robot>"#;
    let robot = robot_of(urdf).unwrap();
    let variables = &robot.kinematics.tree().variables;
    let mut reach = vec![0.0_f64; variables.len()];
    for number in 0..1000 {
        for (far, value) in reach.iter_mut().zip(configuration(variables, SEED, number)) {
            assert!(value.is_finite());
            *far = far.max(value.abs());
        }
    }
    let [turn, slide, x, y, theta] = reach[..] else { panic!("{reach:?}") };
    assert!([turn, theta].iter().all(|one| (3.0..=std::f64::consts::PI).contains(one)));
    assert!([x, y].iter().all(|one| (0.9..=1.0).contains(one)), "{reach:?}");
    assert!(slide > 1e249, "{reach:?}");
}

#[test]
fn samples_end_when_the_time_does() {
    let robot = panda();
    let until = Until::expired();
    let over = Effort::until(u64::MAX, &until);
    assert_eq!(SampledRobot::new(&robot, &over).err(), Some(Stopped::Deadline));
    let sampled = SampledRobot::new(&robot, &Effort::unlimited()).unwrap();
    let counted = sampled.count(SEED, 0..10, &mut Effort::until(u64::MAX, &until));
    assert_eq!(counted, Err(Stopped::Deadline));
}
