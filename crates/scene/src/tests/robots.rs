//! Robots in scenes against configurations checked cold, and against samples of their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{LIMITS, at, cube, declare, events, step};
use crate::declared::error::Problem;
use crate::declared::robots::{Attached, RobotMoveError, rest_values};
use crate::pairs::report::MoveError;
use crate::{
    Between, Body, BodyId, Declaration, EventKind, Frame, FrameError, Listed, Move, Questions,
    Report, RobotChanges, RobotId, RobotMove, RuleChanges, Scene, SceneRobot, Serial,
};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Effort;
use clearance_geometry::motion::Motion;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_geometry::until::Until;
use clearance_robot::Robot;
use clearance_robot::cell::{Cell, Instance};
use clearance_robot::check::{CheckMode, CheckQuestion, Checked};
use clearance_samples::{Random, boxes, configurations, panda, robot_of};

/// A robot at rest at the origin.
pub(super) fn placed(id: u32, robot: &Arc<Robot>) -> SceneRobot {
    SceneRobot {
        id: RobotId(id),
        name: "arm".to_owned(),
        robot: robot.clone(),
        base: Pose::identity(),
        values: rest_values(robot),
        paddings: vec![0.0; robot.links.len()],
        traits: Body { fixed: true, ..Body::without_parts() },
        attached: Vec::new(),
    }
}

pub(super) fn to(robot: u32, values: &[f64]) -> RobotMove {
    RobotMove {
        robot: RobotId(robot),
        values: Some(values.to_vec()),
        joints: Vec::new(),
        base: None,
        teleported: false,
    }
}

pub(super) fn frame(id: u64, moves: Vec<RobotMove>) -> Frame {
    Frame { id, robots: RobotChanges { moves, ..Default::default() }, ..Frame::default() }
}

fn near() -> Questions {
    Questions { listed: Listed::Near, ..Questions::default() }
}

/// With first contacts.
pub(super) fn on_the_way() -> Questions {
    Questions { between: Some(Between::default()), ..near() }
}

/// The pairs in contact.
fn contacts(report: &Report) -> BTreeSet<(u32, u32)> {
    let in_contact = |verdict| verdict != Some(Verdict::Separated);
    let pairs = report.pairs.iter().filter(|pair| in_contact(pair.verdict));
    pairs.map(|pair| (pair.p.0, pair.q.0)).collect()
}

/// The same of a scene that is opened so.
fn contacts_of(declared: Declaration) -> BTreeSet<(u32, u32)> {
    let mut scene = Scene::open(declared, &METHODS[0], LIMITS).unwrap();
    contacts(&scene.answer(&near(), &Serial, Until::never()).unwrap())
}

const ROBOT: u32 = 100;

/// The Panda among boxes, which have the ids from 1 on.
fn workshop(robot: &Arc<Robot>, count: usize) -> (Declaration, Cell) {
    let around = boxes(count, &mut Random(7));
    let bodies = around.iter().enumerate().map(|(k, body)| {
        let solid = Body::solid(1 + k as u32, body.body.hull().clone());
        Body { fixed: true, ..solid.placed(body.pose) }
    });
    let robots = vec![placed(ROBOT, robot)];
    let declared = Declaration { bodies: bodies.collect(), robots, ..Declaration::default() };
    let instance = Instance { robot, world_from_base: Pose::identity() };
    (declared, Cell::new(&[instance], around))
}

/// Which bodies of the scene are in contact in a configuration, by the cell alone.
fn cold(cell: &Cell, robot: &Robot, values: &[f64]) -> BTreeSet<(u32, u32)> {
    let question = CheckQuestion {
        mode: CheckMode::AllPairs,
        with_gradient: false,
        ..CheckQuestion::default()
    };
    let answers = cell.check(question, values, &mut Effort::unlimited());
    let id = |body: u32| match robot.parts.get(body as usize) {
        Some(part) => ROBOT + part.link as u32,
        None => 1 + body - robot.parts.len() as u32,
    };
    match &answers[..] {
        [Checked::Free] => BTreeSet::new(),
        [Checked::Contact(found)] => {
            let pair = |[a, b]: [u32; 2]| (id(a).min(id(b)), id(a).max(id(b)));
            found.iter().map(|(bodies, _)| pair(*bodies)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn links_stand_as_configurations_that_are_checked_cold() {
    let robot = Arc::new(panda());
    let (declared, cell) = workshop(&robot, 12);
    let mut scene = declare(declared);
    assert_eq!(scene.link_of(BodyId(ROBOT + 4)), Some((RobotId(ROBOT), 4)));
    assert_eq!(scene.body(BodyId(ROBOT + 4)).unwrap().name, "arm/panda_link4");
    let all = configurations(60, &mut Random(5));
    let mut seen = 0;
    for (k, values) in all.chunks_exact(8).enumerate() {
        let report = step(&mut scene, &frame(1 + k as u64, vec![to(ROBOT, values)]), &near());
        let expected = cold(&cell, &robot, values);
        assert_eq!(contacts(&report), expected, "{k}");
        seen += expected.len();
    }
    assert!(seen > 20, "{seen}");
    // A single joint, by its name.
    let mut values = all[..8].to_vec();
    step(&mut scene, &frame(61, vec![to(ROBOT, &values)]), &near());
    let joints = vec![("panda_joint2".to_owned(), 1.3)];
    let one = RobotMove { values: None, joints, ..to(ROBOT, &values) };
    values[1] = 1.3;
    let report = step(&mut scene, &frame(62, vec![one]), &near());
    assert_eq!(contacts(&report), cold(&cell, &robot, &values));
}

fn lerp(from: &[f64], to: &[f64], t: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(a, b)| if t >= 1.0 { *b } else { a + t * (b - a) }).collect()
}

/// What moves from one declaration to another, at a time of the way, by samples.
fn midway(from: &Declaration, to: &Declaration, t: f64) -> Declaration {
    let pose = |a: &Pose, b: &Pose| {
        let motion = Motion::ToPose { end: *b, pivot: None, turn: None };
        if t >= 1.0 { *b } else { motion.pose_rounded(a, t) }
    };
    let mut declared = from.clone();
    for (body, end) in declared.bodies.iter_mut().zip(&to.bodies) {
        body.pose = pose(&body.pose, &end.pose);
    }
    for (robot, end) in declared.robots.iter_mut().zip(&to.robots) {
        robot.base = pose(&robot.base, &end.base);
        robot.values = lerp(&robot.values, &end.values, t);
    }
    declared.contacts.clear();
    declared
}

/// Compares what a report says of the way with samples of it; returns how many began on it.
fn check_way(from: &Declaration, to: &Declaration, report: &Report, samples: u32) -> usize {
    let mut told: BTreeMap<(u32, u32), [f64; 2]> = BTreeMap::new();
    for event in &report.events {
        let key = (event.p.0, event.q.0);
        match event.kind {
            EventKind::Began => assert!(told.insert(key, event.bracket).is_none(), "{key:?}"),
            EventKind::Ended => {}
            EventKind::Undecided => panic!("{event:?}"),
        }
    }
    let before: BTreeSet<(u32, u32)> = contacts_of(midway(from, to, 0.0));
    for (key, [t_free, t_contact]) in &told {
        assert!(!before.contains(key));
        assert!(t_contact - t_free <= 1e-5, "{key:?} {t_free} {t_contact}");
        if *t_contact < 1.0 {
            assert!(contacts_of(midway(from, to, *t_contact)).contains(key), "{key:?}");
        }
    }
    for k in 0..=samples {
        let t = f64::from(k) / f64::from(samples);
        for key in contacts_of(midway(from, to, t)) {
            let known = before.contains(&key) || told.get(&key).is_some_and(|free| free[0] < t);
            assert!(known, "{key:?} in contact at {t} and not told: {told:?}");
        }
    }
    told.len()
}

#[test]
fn first_contacts_lie_on_the_true_path_of_the_joints() {
    let robot = Arc::new(panda());
    let (mut declared, _) = workshop(&robot, 8);
    let mut random = Random(21);
    let all = configurations(20, &mut random);
    let (mut began, mut seen) = (0, 0);
    for ends in all.chunks_exact(16) {
        let (from, end) = ends.split_at(8);
        declared.robots[0].values = from.to_vec();
        let mut scene = declare(declared.clone());
        let report = step(&mut scene, &frame(1, vec![to(ROBOT, end)]), &on_the_way());
        let after = scene.declaration();
        assert_eq!(after.robots[0].values, end);
        began += check_way(&declared, &after, &report, 60);
        // What is only looked at in the end.
        let mut sampled = declare(declared.clone());
        let report = step(&mut sampled, &frame(1, vec![to(ROBOT, end)]), &near());
        seen += events(&report).iter().filter(|event| event.0 == EventKind::Began).count();
    }
    assert!(began > seen + 5, "{began} {seen}");
}

#[test]
fn bases_bodies_and_other_robots_move_at_once() {
    let robot = Arc::new(panda());
    let mut random = Random(4);
    let all = configurations(8, &mut random);
    let mut began = 0;
    for ends in all.chunks_exact(32) {
        let (mut declared, _) = workshop(&robot, 3);
        declared.bodies.iter_mut().for_each(|body| body.fixed = false);
        declared.robots.push(SceneRobot {
            base: Pose { translation: Vec3::new(0.9, 0.2, 0.0), ..random.pose(Vec3::zeros()) },
            ..placed(200, &robot)
        });
        for (robot, values) in declared.robots.iter_mut().zip(ends.chunks_exact(8)) {
            robot.values = values.to_vec();
        }
        let mut scene = declare(declared.clone());
        let mut moves = vec![to(ROBOT, &ends[16..24]), to(200, &ends[24..32])];
        moves[1].base = Some(random.pose(Vec3::new(0.7, 0.3, 0.1)));
        let body = |id: u32, random: &mut Random| {
            Move::new(BodyId(id), random.pose(Vec3::new(0.1, -0.1, 0.6)))
        };
        let moved = vec![body(1, &mut random), body(2, &mut random)];
        let one = Frame { moves: moved, ..frame(1, moves) };
        let report = step(&mut scene, &one, &on_the_way());
        began += check_way(&declared, &scene.declaration(), &report, 40);
    }
    assert!(began > 8, "{began}");
}

/// A turntable: one joint about z, a rod that reaches out by 2 m.
const TURNTABLE: &str = r#"<robot name="table"><link name="foot"/><link name="rod"><collision>
  <origin xyz="1 0 0"/><geometry><box size="2 0.1 0.1"/></geometry></collision></link>
  <joint name="turn" type="continuous"><parent link="foot"/><child link="rod"/>
  <axis xyz="0 0 1"/></joint></robot>"#;

/// A ball beside the rod's way: they meet when its middle is as far from the rod's side as its
/// radius and the margin.
#[test]
fn a_rod_that_turns_meets_a_ball_when_its_closed_form_says() {
    let robot = Arc::new(robot_of(TURNTABLE).unwrap());
    for (radius, margin) in [(0.2, 0.0), (0.15, 0.1), (0.7, 0.0)] {
        let point = Arc::new(clearance_samples::hull(&[Vec3::zeros()]));
        let mut ball = Body { margin, ..Body::solid(1, point) }.placed(at(0.0, 1.0, 0.0));
        ball.parts[0].radius = radius;
        let robots = vec![placed(10, &robot)];
        let mut scene = declare(Declaration { bodies: vec![ball], robots, ..Default::default() });
        let report = step(&mut scene, &frame(1, vec![to(10, &[2.0])]), &on_the_way());
        let [pair] = &report.pairs[..] else { panic!("{report:?}") };
        let found = pair.first_contact.as_ref().unwrap();
        let reached = (0.05 + radius + margin).acos() / 2.0;
        assert!(found.t_free <= reached && reached <= found.t_contact, "{reached} {found:?}");
        assert!(found.t_contact - found.t_free < 1e-6, "{found:?}");
        // It meets the ball on the way, and leaves it behind where the ball is small.
        let (met, half) = ((0.05 + radius).acos(), std::f64::consts::FRAC_PI_2);
        let left = 2.0 * half - met;
        let kinds = [(EventKind::Began, met), (EventKind::Ended, left)];
        let expected = kinds.iter().filter(|(_, angle)| *angle < 2.0);
        assert_eq!(report.events.len(), expected.clone().count(), "{report:?}");
        for (event, (kind, angle)) in report.events.iter().zip(expected) {
            assert_eq!(event.kind, *kind);
            let [lower, upper] = event.bracket.map(|t| 2.0 * t);
            assert!(lower <= *angle && *angle <= upper, "{angle} {event:?}");
        }
    }
}

#[test]
fn a_whole_turn_sweeps_what_a_screw_between_its_ends_would_not() {
    let robot = Arc::new(robot_of(TURNTABLE).unwrap());
    let small = |id: u32, place: Pose| Body::solid(id, cube(0.05)).placed(place);
    let bodies = vec![small(1, at(-1.5, 0.0, 0.0)), small(2, at(0.0, -1.9, 0.3))];
    let robots = vec![placed(10, &robot)];
    let mut scene = declare(Declaration { bodies, robots, ..Declaration::default() });
    let turn = std::f64::consts::TAU;
    let report = step(&mut scene, &frame(1, vec![to(10, &[turn])]), &on_the_way());
    let told: Vec<(EventKind, u32, u32)> = events(&report);
    assert_eq!(told, [(EventKind::Began, 1, 11), (EventKind::Ended, 1, 11)]);
    let [free, contact] = report.events[0].bracket;
    // The side of the rod meets the nearest corner of the box.
    let corner = Vec3::new(-1.45, 0.05, 0.0);
    let met = (corner.y.atan2(corner.x) - (0.05 / corner.norm()).asin()) / turn;
    assert!(free <= met && met <= contact && contact - free < 1e-6, "{free} {met} {contact}");
    // Back, the other way round, and without first contacts nothing happens.
    assert_eq!(events(&step(&mut scene, &frame(2, vec![to(10, &[0.0])]), &near())), []);
}

#[test]
fn what_is_attached_goes_with_its_link_and_stays_when_it_is_let_go() {
    let robot = Arc::new(robot_of(TURNTABLE).unwrap());
    let part = Body::solid(1, cube(0.1)).placed(at(2.05, 0.0, 0.0));
    let post = Body { fixed: true, ..Body::solid(2, cube(0.1)).placed(at(0.0, 2.12, 0.0)) };
    let mut far = placed(20, &robot);
    far.base = at(9.0, 0.0, 0.0);
    let robots = vec![placed(10, &robot), far];
    let mut scene =
        declare(Declaration { bodies: vec![part, post], robots, ..Declaration::default() });
    let rod = || "rod".to_owned();
    let held = Attached { body: BodyId(1), link: rod(), link_from_body: None, touch_links: vec![] };
    let changes = RobotChanges { attached: vec![(RobotId(10), held)], ..Default::default() };
    let grasp = Frame { robots: changes, ..frame(1, Vec::new()) };
    let report = step(&mut scene, &grasp, &on_the_way());
    // It touches the rod, which is allowed from now on: that contact ends.
    assert_eq!(events(&report), [(EventKind::Ended, 1, 11)]);
    let quarter = std::f64::consts::FRAC_PI_2;
    let report = step(&mut scene, &frame(2, vec![to(10, &[quarter])]), &on_the_way());
    assert_eq!(events(&report), [(EventKind::Began, 1, 2)]);
    let [free, contact] = report.events[0].bracket;
    assert!(free > 0.85 && contact < 0.99 && contact - free < 1e-6, "{free} {contact}");
    let pose = scene.body(BodyId(1)).unwrap().pose;
    assert!((pose.translation - Vec3::new(0.0, 2.05, 0.0)).norm() < 1e-12);

    // Another server goes on from there, to the bit.
    let declared = scene.declaration();
    assert_eq!(declared.bodies.len(), 2);
    let mut other = Scene::open(declared, &METHODS[0], LIMITS).unwrap();
    assert_eq!(other.body(BodyId(1)).unwrap().pose, pose);
    let opened = other.answer(&near(), &Serial, Until::never()).unwrap();
    assert_eq!((events(&opened), contacts(&opened)), (vec![], BTreeSet::from([(1, 2)])));
    for scene in [&mut scene, &mut other] {
        let changes = RobotChanges {
            detached: vec![BodyId(1)],
            moves: vec![to(10, &[0.0])],
            ..Default::default()
        };
        let release = Frame { robots: changes, ..frame(3, Vec::new()) };
        let report = step(scene, &release, &on_the_way());
        assert_eq!(scene.body(BodyId(1)).unwrap().pose, pose);
        // The rod, which may not touch it any more, began the motion in contact with it.
        assert_eq!(events(&report), [(EventKind::Began, 1, 11), (EventKind::Ended, 1, 11)]);
    }
    // A robot that goes lets go of what it holds.
    let held = Attached {
        body: BodyId(1),
        link: rod(),
        link_from_body: Some(at(2.5, 0.0, 0.0)),
        touch_links: vec![],
    };
    let changes = RobotChanges { attached: vec![(RobotId(20), held)], ..Default::default() };
    step(&mut scene, &Frame { robots: changes, ..frame(4, Vec::new()) }, &near());
    assert_eq!(scene.body(BodyId(1)).unwrap().pose, at(11.5, 0.0, 0.0));
    let changes = RobotChanges { removed: vec![RobotId(20)], ..Default::default() };
    step(&mut scene, &Frame { robots: changes, ..frame(5, Vec::new()) }, &near());
    assert_eq!(scene.bodies().map(|body| body.id.0).collect::<Vec<_>>(), [1, 2, 11]);
    let moves = vec![super::moved(1, at(0.0, 0.0, 5.0))];
    step(&mut scene, &super::frame(6, moves), &near());
    assert_eq!(scene.robots().len(), 1);
}

#[test]
fn what_is_wrong_with_robots_is_said_and_changes_nothing() {
    let robot = Arc::new(robot_of(TURNTABLE).unwrap());
    let good = || Declaration {
        bodies: vec![Body::solid(1, cube(0.1)).placed(at(5.0, 0.0, 0.0))],
        robots: vec![placed(10, &robot)],
        ..Declaration::default()
    };
    let problem = |change: &dyn Fn(&mut SceneRobot)| {
        let mut declared = good();
        declared.robots.push(placed(20, &robot));
        change(&mut declared.robots[1]);
        let error = Scene::open(declared, &METHODS[0], LIMITS).unwrap_err();
        (error.path, error.problem)
    };
    let said = |path: &str, problem| (path.to_owned(), problem);
    assert_eq!(
        problem(&|robot| robot.values = vec![0.0; 2]),
        said("robots[1].values", Problem::ValueCount { expected: 1 })
    );
    assert!(matches!(
        problem(&|robot| robot.values = vec![f64::NAN]).1,
        Problem::NoConfiguration(_)
    ));
    assert_eq!(
        problem(&|robot| robot.id = RobotId(10)),
        said("robots[1].id", Problem::RobotIdTaken)
    );
    assert_eq!(problem(&|robot| robot.id = RobotId(0)), said("robots[1].id", Problem::IdTaken));
    assert_eq!(
        problem(&|robot| robot.id = RobotId(u32::MAX)),
        said("robots[1].id", Problem::LinksBeyondIds)
    );
    let on = |body| Attached {
        body: BodyId(body),
        link: "rod".to_owned(),
        link_from_body: None,
        touch_links: Vec::new(),
    };
    assert_eq!(
        problem(&|robot| robot.attached = vec![on(1), on(1)]),
        said("robots[1].attached[1].body_id", Problem::AlreadyCarried)
    );
    assert_eq!(
        problem(&|robot| robot.attached = vec![on(11)]),
        said("robots[1].attached[0].body_id", Problem::IsLink)
    );

    let elbow = || "elbow".to_owned();
    assert_eq!(
        problem(&|robot| robot.attached = vec![Attached { link: elbow(), ..on(1) }]),
        said("robots[1].attached[0].link", Problem::UnknownLink)
    );
    assert_eq!(
        problem(&|robot| robot.attached = vec![Attached { touch_links: vec![elbow()], ..on(1) }]),
        said("robots[1].attached[0].touch_links[0]", Problem::UnknownLink)
    );

    let mut scene = declare(good());
    let refused = |scene: &mut Scene, one: RobotMove| {
        let stepped = scene.step(&frame(scene.frame() + 1, vec![one]), &near(), &Serial).unwrap();
        stepped.refused
    };
    assert_eq!(
        refused(&mut scene, to(11, &[0.0])),
        [(0, MoveError::Robot(RobotMoveError::UnknownRobot))]
    );
    assert_eq!(
        refused(&mut scene, to(10, &[])),
        [(0, MoveError::Robot(RobotMoveError::Length { expected: 1 }))]
    );
    let joints = vec![("elbow".to_owned(), 1.0)];
    assert_eq!(
        refused(&mut scene, RobotMove { values: None, joints, ..to(10, &[]) }),
        [(0, MoveError::Robot(RobotMoveError::UnknownJoint { index: 0 }))]
    );
    let moves = vec![super::moved(11, at(0.0, 0.0, 0.0))];
    let stepped = scene.step(&super::frame(4, moves), &near(), &Serial).unwrap();
    assert_eq!(stepped.refused, [(0, MoveError::Carried)]);
    let wrong = |scene: &mut Scene, frame: Frame| {
        let error = scene.apply(&frame).unwrap_err();
        let FrameError::Declaration(error) = error else { panic!("{error}") };
        (error.path, error.problem)
    };
    let removal = Frame { removed: vec![BodyId(11)], ..super::frame(5, vec![]) };
    assert_eq!(wrong(&mut scene, removal), said("removed_body_ids", Problem::IsLink));
    let keyframe = Frame { keyframe: true, ..frame(5, vec![to(10, &[0.0])]) };
    let keyframe = Frame { moves: vec![super::moved(1, at(5.0, 0.0, 0.0))], ..keyframe };
    let known = wrong(&mut scene, keyframe.clone());
    assert_eq!(known, said("robot_moves", Problem::KeyframeWithoutRobot));
    let mut whole = keyframe;
    whole.robots.moves[0].base = Some(at(0.0, 0.0, 1.0));
    step(&mut scene, &whole, &near());
    assert_eq!(scene.body(BodyId(11)).unwrap().pose, at(0.0, 0.0, 1.0));
}

/// Pairs that move as one were listed, 200 million for 20,000 bodies on one link. They are not;
/// they are left out of the pairs that are checked, and of their number.
#[test]
fn what_hangs_on_one_link_is_not_checked_against_itself_and_is_counted_so() {
    let robot = Arc::new(panda());
    let body = |id: u32| {
        let place = at(10.0 * f64::from(id), 0.0, 0.0);
        Body { fixed: ![3, 5].contains(&id), ..Body::solid(id, cube(1.0)).placed(place) }
    };
    let robots = vec![placed(50_000, &robot)];
    let bodies = (0..40).map(body).collect();
    let mut scene = declare(Declaration { bodies, robots, ..Declaration::default() });
    let before = scene.pairs_enabled();
    let on_hand = |id: u32| {
        let (body, link) = (BodyId(id), "panda_hand".to_owned());
        let touch_links = vec!["panda_leftfinger".to_owned()];
        (RobotId(50_000), Attached { body, link, link_from_body: None, touch_links })
    };
    let attached = (0..40).map(on_hand).collect();
    let robots = RobotChanges { attached, ..RobotChanges::default() };
    let ignored = vec![[BodyId(3), BodyId(5)], [BodyId(3), BodyId(7)]];
    let changes = RuleChanges { added_ignored_pairs: ignored, ..RuleChanges::default() };
    scene.apply(&Frame { id: 1, robots, rule_changes: Some(changes), ..Frame::default() }).unwrap();
    let pairs = scene.book.enabled_pairs();
    assert_eq!(pairs.len() as u64, scene.pairs_enabled());
    let names: Vec<[u32; 2]> =
        pairs.iter().map(|pair| [pair.p, pair.q].map(|index| scene.id_of(index).0)).collect();
    assert!(names.iter().all(|[_, q]| *q >= 50_000), "all bodies hang on the hand");
    assert!(names.iter().any(|[p, _]| *p < 50_000), "other links are checked against them");
    // Two that are not fixed were checked against 38 others and each other, and all 40 against the
    // hand and the finger that they may touch.
    assert!(scene.pairs_enabled() <= before - (2 * 38 + 1), "{before}");
}
