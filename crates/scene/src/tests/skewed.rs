//! Bases of robots, bodies and what is attached, at matrices as far from rotations as is let in.

use std::sync::Arc;

use super::{at, cube, declare, events, step};
use crate::declared::robots::{Attached, rest_values};
use crate::{
    Between, Body, BodyId, Declaration, EventKind, Frame, Listed, Questions, RobotChanges, RobotId,
    RobotMove, SceneRobot,
};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_samples::Random;
use clearance_samples::robot_of;

/// A rail that nothing moves, with a box on it, and a cart that slides along x with a box of a
/// metre and an arm without a box.
const SLIDER: &str = r#"<robot name="slider"><link name="rail"><collision>
  <origin xyz="0 40 0"/><geometry><box size="1 1 1"/></geometry></collision></link>
  <link name="cart"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9"/></joint></robot>"#;

fn slider(robot: &Arc<Robot>, base: Pose) -> SceneRobot {
    SceneRobot {
        id: RobotId(10),
        name: "slider".to_owned(),
        robot: robot.clone(),
        base,
        values: rest_values(robot),
        paddings: vec![0.0; robot.links.len()],
        traits: Body::without_parts(),
        attached: Vec::new(),
    }
}

fn moves(values: f64, base: Option<Pose>) -> Frame {
    let robot = RobotMove {
        robot: RobotId(10),
        values: Some(vec![values]),
        joints: Vec::new(),
        base,
        teleported: false,
    };
    let robots = RobotChanges { moves: vec![robot], ..RobotChanges::default() };
    Frame { id: 1, robots, ..Frame::default() }
}

fn on_the_way() -> Questions {
    let (listed, between) = (Listed::All, Some(Between::default()));
    Questions { listed, between, ..Questions::default() }
}

fn scaled(s: f64) -> Pose {
    Pose::from_matrix(Vec3::zeros(), [s, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, s]).unwrap()
}

/// The pair was told to be free on the way, and to overlap at its end, in one report.
#[test]
fn what_slides_on_a_base_that_stretches_has_met_whatever_it_overlaps_at_the_end() {
    let robot = Arc::new(robot_of(SLIDER).unwrap());
    for (place, meets) in [(2.000_000_7, true), (2.000_000_8, false)] {
        let bodies = vec![Body::solid(1, cube(0.5)).placed(at(place, 0.0, 0.0))];
        let robots = vec![slider(&robot, scaled(1.000_000_49))];
        let mut scene = declare(Declaration { bodies, robots, ..Declaration::default() });
        let report = step(&mut scene, &moves(1.0, None), &on_the_way());
        let pair = report.pairs.iter().find(|pair| (pair.p.0, pair.q.0) == (1, 11)).unwrap();
        let way = pair.first_contact.as_ref().unwrap();
        assert_eq!(pair.verdict == Some(Verdict::Overlapping), meets);
        assert_eq!(way.outcome == Outcome::NoContact, !meets, "{way:?}");
        assert_eq!(events(&report).contains(&(EventKind::Began, 1, 11)), meets);
    }
}

/// What is told of the way of a robot whose base, links and load stretch, against what stands at
/// matrices, too: no pair is free that is in contact at the end.
#[test]
fn no_way_of_a_robot_is_free_into_contact_whatever_matrices_it_and_its_load_have() {
    let robot = Arc::new(robot_of(SLIDER).unwrap());
    let (mut met, mut free) = (0, 0);
    for seed in 0..200 {
        let mut random = Random(seed);
        let place = random.vector();
        let base = random.skewed_pose(place);
        let hung = random.vector() + Vec3::new(0.0, 0.0, 3.0);
        let load = random.skewed_pose(hung);
        let attached = Attached {
            body: BodyId(2),
            link: "cart".to_owned(),
            link_from_body: Some(load),
            touch_links: Vec::new(),
        };
        let mut robots = vec![slider(&robot, base)];
        robots[0].attached.push(attached);
        let moved_to = place + random.vector();
        let moved_base = match seed % 3 {
            0 => None,
            1 => Some(Pose { translation: moved_to, ..base }),
            _ => Some(random.skewed_pose(moved_to)),
        };
        let end = random.signed() * 2.0;
        // Where everything ends, without anything in its way.
        let carried = Body::solid(2, cube(0.4)).placed(at(9.0, 9.0, 9.0));
        let declaration = Declaration { bodies: vec![carried], robots, ..Declaration::default() };
        let mut scene = declare(declaration.clone());
        let starts: Vec<Pose> = [2, 10, 11].map(|id| scene.body(BodyId(id)).unwrap().pose).into();
        step(&mut scene, &moves(end, moved_base), &Questions::default());
        let mut declaration = declaration;
        for (k, id) in [2, 10, 11].into_iter().enumerate() {
            let body = scene.body(BodyId(id)).unwrap();
            let part = &body.parts[0];
            let points = |pose: &Pose| -> Vec<Vec3> {
                let pose = pose.compose(&part.body_from_part);
                part.polytope.vertices().iter().map(|v| pose.apply_rounded(v)).collect()
            };
            let (from, to) = (points(&starts[k]), points(&body.pose));
            let way = (to[0] - from[0]).try_normalize(1e-9).unwrap_or_else(Vec3::x);
            let top = |points: &[Vec3], s: &Vec3| {
                *points.iter().max_by(|a, b| a.dot(s).total_cmp(&b.dot(s))).unwrap()
            };
            let mut stands = Body::solid(3 + k as u32, cube(0.3));
            stands.pose = random.skewed_pose(Vec3::zeros());
            let own: Vec<Vec3> = stands.parts[0].polytope.vertices().to_vec();
            let own: Vec<Vec3> = own.iter().map(|v| stands.pose.apply_rounded(v)).collect();
            let sliver = random.signed() * 10f64.powf(-8.5 + 3.0 * random.signed().abs());
            stands.pose.translation = top(&to, &way) + way * sliver - top(&own, &-way);
            declaration.bodies.push(stands);
        }
        let mut scene = declare(declaration);
        let report = step(&mut scene, &moves(end, moved_base), &on_the_way());
        for pair in &report.pairs {
            let Some(way) = &pair.first_contact else { continue };
            let meets = pair.verdict.is_some_and(|verdict| verdict != Verdict::Separated);
            met += usize::from(meets);
            free += usize::from(way.outcome == Outcome::NoContact);
            assert!(!meets || way.outcome != Outcome::NoContact, "seed {seed}: {pair:?}");
        }
    }
    assert!(met > 100 && free > 100, "{met} {free}");
}

/// Attached again and again to a base that stretches, a body would get longer each time: what is
/// computed is not where it was, but as much longer as the base is. Where it is when it is attached
/// is a place that could be said.
#[test]
fn what_is_attached_again_and_again_keeps_its_length() {
    let robot = Arc::new(robot_of(SLIDER).unwrap());
    let bodies = vec![Body::solid(1, cube(0.4)).placed(at(0.0, 0.0, 5.0))];
    let robots = vec![slider(&robot, scaled(1.000_000_49))];
    let mut scene = declare(Declaration { bodies, robots, ..Declaration::default() });
    let mut id = 0;
    let mut next = |robots: RobotChanges| {
        id += 1;
        step(&mut scene, &Frame { id, robots, ..Frame::default() }, &Questions::default());
        scene.body(BodyId(1)).unwrap().pose
    };
    for _ in 0..40 {
        let (link, touch_links) = ("cart".to_owned(), Vec::new());
        let one = Attached { body: BodyId(1), link, link_from_body: None, touch_links };
        next(RobotChanges { attached: vec![(RobotId(10), one)], ..RobotChanges::default() });
        let pose = next(RobotChanges { detached: vec![BodyId(1)], ..RobotChanges::default() });
        assert!(pose.skew() < 4e-6, "{}", pose.skew());
    }
}
