//! Robots of a model: where their links are and what they carry, by the words of the interface and
//! the kinematics of robots alone; and frames that move them, let them come and go, and load them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cold::{Carried, Placed};
use super::frames::{Shapes, onwards, place};
use super::model::{Model, Pair};
use crate::rpc::shared::Shared;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_robot::kinematics::Kinematics;
use clearance_robot::model::RobotLink;
use clearance_robot::path::{BaseWay, ChainPath};
use clearance_robot::tree::{Freedom, Tree};
use clearance_runtime::memory::{MemoryKind, MemoryQuota};
use clearance_runtime::robots::{DescriptionBytes, RegisteredRobot, RobotWork};
use clearance_samples::{self as samples, Random};
use clearance_scene::{
    Attached, Body, BodyId, Frame, Part, RobotChanges, RobotId, RobotMove, SceneRobot,
};
use clearance_wire::convert::geometry::pose_to_wire;
use clearance_wire::convert::sessions::robots::robot_to_wire;

/// What all robots are: two links that turn, one that slides, and a flange without a shape.
const URDF: &str = r#"<robot name="arm">
  <link name="base"><collision><geometry><box size="0.5 0.5 0.25"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0 0 0.5"/>
    <geometry><box size="0.25 0.25 0.875"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="0 0 0.25"/>
    <geometry><box size="0.125 0.25 0.5"/></geometry></collision></link>
  <link name="tool"><collision><geometry><box size="0.25 0.5 0.125"/></geometry></collision></link>
  <link name="flange"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.125"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="lower"/><child link="tool"/>
    <origin xyz="0 0 0.625"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="mount" type="fixed"><parent link="tool"/><child link="flange"/>
    <origin xyz="0 0 0.25" rpy="0 0.5 0"/></joint>
</robot>"#;

const JOINTS: [&str; 3] = ["shoulder", "elbow", "slide"];
const LINKS: [&str; 5] = ["base", "upper", "lower", "tool", "flange"];

/// Robots have these ids, and their links those that follow.
const IDS: [u32; 2] = [500, 510];

/// Whether a body is a link of that robot.
pub(super) fn is_link(arm: u32, body: u32) -> bool {
    (arm..arm + LINKS.len() as u32).contains(&body)
}

/// Whether it is one of any robot.
pub(super) fn is_any_link(body: u32) -> bool {
    IDS.iter().any(|arm| is_link(*arm, body))
}

/// The robot, which servers know from now on.
pub(super) fn registered(shared: &Shared) -> Arc<RegisteredRobot> {
    let quota = MemoryQuota::of_nobody();
    let robot = samples::robot_of(URDF).expect("a robot");
    let work = RobotWork::new(quota.hold(MemoryKind::Work, 0));
    let id = "r2-simulated".to_owned();
    let new = RegisteredRobot::new(id, robot, &work, DescriptionBytes::default());
    let known = shared.robots().register(&Arc::new(new), &[], &quota, shared.limits());
    known.expect("there is room").0
}

/// A robot of a model.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    /// As and where it is now.
    pub(super) declared: SceneRobot,
    /// Base and joint values at the last answered frame, if it was moved since.
    pub(super) start: Option<(Pose, Vec<f64>)>,
}

impl Arm {
    /// Bodies are gone that it may carry.
    pub(super) fn forget(&mut self, gone: &BTreeSet<u32>) {
        self.declared.attached.retain(|one| !gone.contains(&one.body.0));
    }

    fn tree(&self) -> &Tree {
        self.declared.robot.kinematics.tree()
    }

    /// Where the frames of its chain are.
    fn frames(&self) -> Vec<Pose> {
        let mut tree = Tree::default();
        tree.append(self.tree(), &self.declared.base);
        Kinematics::new(tree).place_one(&self.declared.values)
    }

    fn pose_of(&self, by: &Carried, frames: &[Pose]) -> Pose {
        let frame = by.frame.map_or(self.declared.base, |frame| frames[frame]);
        if by.is_link { frame } else { frame.compose(&by.frame_from_body) }
    }

    /// Its links that have a shape.
    fn links(&self) -> Vec<Placed> {
        let SceneRobot { id, name, robot, paddings, traits, .. } = &self.declared;
        let frames = self.frames();
        let placed = |(index, link): (usize, &RobotLink)| {
            let part = |part: &clearance_robot::parts::RobotPart| Part {
                body_from_part: part.frame_from_part,
                ..Part::of(part.body.hull().clone())
            };
            let frame_from_body = Pose::identity();
            let (robot_id, frame) = (id.0, link.frame);
            let by = Carried { robot: robot_id, frame, frame_from_body, is_link: true };
            let body = Body {
                id: BodyId(robot_id + index as u32),
                name: format!("{name}/{}", link.name),
                parts: robot.parts[link.parts.clone()].iter().map(part).collect(),
                pose: self.pose_of(&by, &frames),
                fixed: traits.fixed && frame.is_none(),
                margin: paddings[index],
                ..traits.clone()
            };
            Placed { carried: Some(by), ..Placed::new(body) }
        };
        let links = robot.links.iter().enumerate().filter(|(_, link)| !link.parts.is_empty());
        links.map(placed).collect()
    }

    /// Base and joint values of a move; none: it is refused.
    fn told(&self, to: &RobotMove) -> Option<(Pose, Vec<f64>)> {
        let mut values = to.values.clone().unwrap_or_else(|| self.declared.values.clone());
        if values.len() != JOINTS.len() {
            return None;
        }
        for (name, value) in &to.joints {
            values[JOINTS.iter().position(|known| known == name)?] = *value;
        }
        Some((to.base.unwrap_or(self.declared.base), values))
    }

    /// Of every frame of its chain, whether it is moved by going there.
    fn moves(&self, (base, values): &(Pose, Vec<f64>)) -> Vec<bool> {
        let rests = *base == self.declared.base;
        let mut moves: Vec<bool> = Vec::new();
        for frame in &self.tree().frames {
            let (Freedom::Turn { by, .. } | Freedom::Slide { by, .. }) = frame.freedom else {
                panic!("it has no such joint")
            };
            let is_other =
                values[by.variable].to_bits() != self.declared.values[by.variable].to_bits();
            moves.push(is_other || frame.parent.map_or(!rests, |parent| moves[parent]));
        }
        moves
    }
}

impl Model {
    /// Whether a frame tells of every robot where it is.
    pub(super) fn are_all_arms_told(&self, frame: &Frame) -> bool {
        let robots = &frame.robots;
        let is_whole = |to: &RobotMove| to.base.is_some() && to.values.is_some();
        self.arms.keys().all(|id| {
            robots.removed.contains(&RobotId(*id))
                || robots.moves.iter().any(|to| to.robot.0 == *id && is_whole(to))
        })
    }

    /// Robots go, and the links that go with them are told; none: that is not possible.
    pub(super) fn remove_arms(&mut self, frame: &Frame) -> Option<BTreeSet<u32>> {
        let mut links = BTreeSet::new();
        for gone in &frame.robots.removed {
            self.arms.remove(&gone.0)?;
            for (id, placed) in &mut self.bodies {
                match placed.carried.as_ref().filter(|by| by.robot == gone.0) {
                    Some(by) if by.is_link => drop(links.insert(*id)),
                    Some(_) => let_go(placed),
                    None => {}
                }
            }
        }
        Some(links)
    }

    /// Robots come; false: an id is taken.
    pub(super) fn add_arms(&mut self, frame: &Frame) -> bool {
        frame.robots.added.iter().all(|declared| {
            let declared = SceneRobot { attached: Vec::new(), ..declared.clone() };
            let (id, arm) = (declared.id.0, Arm { declared, start: None });
            let links = arm.links();
            self.arms.insert(id, arm).is_none() && links.into_iter().all(|link| self.add(link))
        })
    }

    /// Bodies are let go and hung on links; false: that is not possible.
    pub(super) fn attach(&mut self, frame: &Frame) -> bool {
        for id in &frame.robots.detached {
            let known = self.bodies.get_mut(&id.0).filter(|placed| !placed.is_link());
            let Some(placed) = known.filter(|placed| placed.carried.is_some()) else {
                return false;
            };
            let_go(placed);
            self.arms.values_mut().for_each(|arm| arm.forget(&[id.0].into()));
        }
        let brought = frame.robots.added.iter().flat_map(|robot| {
            robot.attached.iter().map(|one| (robot.id, one.clone())).collect::<Vec<_>>()
        });
        let all = brought.chain(frame.robots.attached.iter().cloned());
        all.into_iter().all(|(robot, one)| self.hang(robot, one))
    }

    fn hang(&mut self, robot: RobotId, one: Attached) -> bool {
        let Some(arm) = self.arms.get_mut(&robot.0) else { return false };
        let known = |name: &String| LINKS.iter().position(|link| link == name);
        let free = self.bodies.get_mut(&one.body.0).filter(|placed| placed.carried.is_none());
        let (Some(placed), Some(link)) = (free, known(&one.link)) else { return false };
        if !one.touch_links.iter().all(|name| known(name).is_some()) {
            return false;
        }
        let link = &arm.declared.robot.links[link];
        let there = one.link_from_body.expect("schedules say where");
        let frame_from_body = link.frame_from_link.compose(&there);
        let by = Carried { robot: robot.0, frame: link.frame, frame_from_body, is_link: false };
        placed.body.pose = arm.pose_of(&by, &arm.frames());
        (placed.is_put, placed.path, placed.carried) = (true, None, Some(by));
        arm.declared.attached.push(one);
        true
    }

    /// Moves robots, and says how many such moves are refused.
    pub(super) fn move_arms(&mut self, frame: &Frame) -> usize {
        let (mut refused, mut moved) = (0, BTreeSet::new());
        for to in &frame.robots.moves {
            let arm = self.arms.get_mut(&to.robot.0).filter(|_| !moved.contains(&to.robot));
            let known = arm.and_then(|arm| Some((arm.told(to)?, arm)));
            let Some(((base, values), arm)) = known else {
                refused += 1;
                continue;
            };
            moved.insert(to.robot);
            let moves = arm.moves(&(base, values.clone()));
            let has_base_moved = base != arm.declared.base;
            let old = (arm.declared.base, std::mem::replace(&mut arm.declared.values, values));
            arm.declared.base = base;
            arm.start.get_or_insert(old);
            let frames = arm.frames();
            for placed in self.bodies.values_mut() {
                let Some(by) = placed.carried.clone().filter(|by| by.robot == to.robot.0) else {
                    continue;
                };
                if by.frame.map_or(has_base_moved, |frame| moves[frame]) || to.teleported {
                    placed.start.get_or_insert(placed.body.pose);
                    placed.body.pose = arm.pose_of(&by, &frames);
                    placed.is_put |= to.teleported;
                }
            }
        }
        self.find_paths();
        refused
    }

    /// Of all that robots have moved since the last answered frame: along what.
    fn find_paths(&mut self) {
        let path = |arm: &Arm| {
            let (base, values) = arm.start.as_ref()?;
            let way = BaseWay::between([*base, arm.declared.base]);
            let ends = [&values[..], &arm.declared.values];
            Some(Arc::new(ChainPath::of_robot(arm.tree(), &way, ends).expect("short ways")))
        };
        let paths: BTreeMap<u32, Option<Arc<ChainPath>>> =
            self.arms.iter().map(|(id, arm)| (*id, path(arm))).collect();
        for placed in self.bodies.values_mut() {
            let by = placed.carried.as_ref().filter(|_| placed.start.is_some());
            placed.path = by.and_then(|by| paths[&by.robot].clone());
        }
    }

    /// Whether a robot says that a pair needs no check.
    pub(super) fn is_exempt(&self, pair: Pair) -> bool {
        let [p, q] = pair.map(|id| self.bodies[&id].carried.as_ref());
        if let (Some(p), Some(q)) = (p, q)
            && (p.robot, p.frame) == (q.robot, q.frame)
            && !(p.is_link && q.is_link)
        {
            return true;
        }
        let is_this = |a: u32, b: u32| [a.min(b), a.max(b)] == pair;
        self.arms.iter().any(|(id, arm)| {
            let SceneRobot { robot, attached, .. } = &arm.declared;
            let body = |link: usize| id + link as u32;
            let may_touch = |one: &Attached| {
                let touched = one.touch_links.iter().filter_map(|name| robot.link(name));
                touched.into_iter().any(|link| is_this(one.body.0, body(link)))
            };
            robot.allowed.iter().any(|one| is_this(body(one.links[0]), body(one.links[1])))
                || attached.iter().any(may_touch)
        })
    }
}

/// A body is carried no more. The way so far was that of the robot.
fn let_go(placed: &mut Placed) {
    placed.is_put |= placed.start.is_some();
    (placed.carried, placed.path) = (None, None);
}

impl Shapes {
    /// The message that declares a robot.
    pub(super) fn arm_to_wire(&self, arm: &Arm) -> api::SessionRobot {
        self.robot_to_wire(&arm.declared)
    }

    fn robot_to_wire(&self, robot: &SceneRobot) -> api::SessionRobot {
        robot_to_wire(robot, &[(robot.id.0, self.arm.clone())].into())
    }

    /// What a frame says of robots, in its message.
    pub(super) fn arms_into(&self, robots: &RobotChanges, wire: &mut api::Frame) {
        let ids = |ids: &[BodyId]| ids.iter().map(|id| id.0).collect();
        wire.removed_robots = robots.removed.iter().map(|id| id.0).collect();
        wire.added_robots = robots.added.iter().map(|robot| self.robot_to_wire(robot)).collect();
        wire.detached_body_ids = ids(&robots.detached);
        let attached = robots.attached.iter().map(|(robot, one)| api::RobotAttachment {
            robot: Some(robot.0),
            attached: Some(api::AttachedBody {
                body_id: Some(one.body.0),
                link: one.link.clone(),
                pose: one.link_from_body.as_ref().map(pose_to_wire),
                touch_links: one.touch_links.clone(),
                body_name: String::new(),
            }),
            robot_name: String::new(),
        });
        wire.attached = attached.collect();
        let joint =
            |(name, value): &(String, f64)| api::JointValue { name: name.clone(), value: *value };
        let moves = robots.moves.iter().map(|to| api::RobotMove {
            id: Some(to.robot.0),
            values: to.values.clone().unwrap_or_default(),
            joints: to.joints.iter().map(joint).collect(),
            base: to.base.as_ref().map(pose_to_wire),
            teleported: to.teleported,
            name: String::new(),
        });
        wire.robot_moves = moves.collect();
    }

    /// A robot somewhere.
    fn robot(&self, id: u32, random: &mut Random) -> SceneRobot {
        let padding = |random: &mut Random| [0.0, 0.0, 0.0, 0.1][random.below(4) as usize];
        let groups: &[&str] = [&[][..], &["arm"], &["cell"]][random.below(3) as usize];
        SceneRobot {
            id: RobotId(id),
            name: "robot".to_owned(),
            robot: self.arm.robot.clone(),
            base: place(random),
            values: JOINTS.iter().map(|_| random.signed()).collect(),
            paddings: LINKS.iter().map(|_| padding(random)).collect(),
            traits: Body {
                groups: groups.iter().map(|&name| name.to_owned()).collect::<Vec<_>>().into(),
                fixed: random.below(2) == 0,
                continuous: random.below(4) == 0,
                ..Body::without_parts()
            },
            attached: Vec::new(),
        }
    }
}

/// Gives a model that is opened a robot, which may carry something.
pub(super) fn open(model: &mut Model, shapes: &Shapes, random: &mut Random) {
    let mut robot = shapes.robot(IDS[0], random);
    if random.below(2) == 0 {
        robot.attached.extend(load(model, random));
    }
    let robots = RobotChanges { added: vec![robot], ..RobotChanges::default() };
    let opening = Frame { robots, ..Frame::default() };
    assert!(model.add_arms(&opening) && model.attach(&opening), "nothing is wrong with it");
}

/// A body that nothing carries, for a link to carry.
fn load(model: &Model, random: &mut Random) -> Option<Attached> {
    let free = model.bodies.iter().filter(|(_, placed)| placed.carried.is_none());
    let free: Vec<u32> = free.map(|(id, _)| *id).collect();
    let body = *free.get(random.below(free.len().max(1) as u32) as usize)?;
    let link = LINKS[[4, 4, 3, 1, 0][random.below(5) as usize]].to_owned();
    let touched = LINKS.iter().filter(|_| random.below(4) == 0);
    let touch_links = touched.map(|&name| name.to_owned()).collect();
    let there = random.vector() * 0.5;
    let link_from_body = Some(match random.below(2) {
        0 => Pose { translation: there, ..Pose::identity() },
        _ => random.pose(there),
    });
    Some(Attached { body: BodyId(body), link, link_from_body, touch_links })
}

/// Moves of robots, of some or of all.
pub(super) fn moves(model: &Model, random: &mut Random, is_of_all: bool) -> RobotChanges {
    let mut moves = Vec::new();
    for (id, arm) in &model.arms {
        if !is_of_all && random.below(3) == 0 {
            continue;
        }
        let reach = [1.5, 0.4, 0.4, 0.01, 0.01, 0.01, 1e-6, 0.0][random.below(8) as usize];
        let declared = &arm.declared;
        let values = declared.values.iter().map(|value| value + random.signed() * reach).collect();
        let mut one = RobotMove {
            robot: RobotId(*id),
            values: Some(values),
            joints: Vec::new(),
            base: (random.below(4) == 0).then(|| onwards(random, &declared.base)),
            teleported: random.below(24) == 0,
        };
        if is_of_all {
            one.base.get_or_insert(declared.base);
        } else if random.below(3) == 0 {
            let at = random.below(3) as usize;
            let value = declared.values[at] + random.signed() * reach;
            (one.values, one.joints) = (None, vec![(JOINTS[at].to_owned(), value)]);
        } else if random.below(30) == 0 {
            // Now and then one that is refused.
            one.values = Some(vec![0.0; 2]);
        }
        moves.push(one);
    }
    RobotChanges { moves, ..RobotChanges::default() }
}

/// Lets robots go and come, take something up and let it go.
pub(super) fn change(frame: &mut Frame, model: &Model, shapes: &Shapes, random: &mut Random) {
    let robots = &mut frame.robots;
    let there: Vec<u32> = model.arms.keys().copied().collect();
    let picked = there.get(random.below(there.len().max(1) as u32) as usize).copied();
    let Some(picked) = picked else {
        let mut robot = shapes.robot(IDS[0], random);
        robot.attached.extend(load(model, random));
        robots.added.push(robot);
        return;
    };
    match random.below(8) {
        0 => robots.removed.push(RobotId(picked)),
        1 => {
            robots.removed.push(RobotId(picked));
            robots.added.push(shapes.robot(picked, random));
        }
        // Where both are there already, the frame is refused.
        2 => robots.added.push(shapes.robot(IDS[1], random)),
        3..6 => {
            let taken = load(model, random);
            robots.attached.extend(taken.map(|one| (RobotId(picked), one)));
        }
        _ => {
            let attached = model.arms.values().flat_map(|arm| &arm.declared.attached);
            robots.detached.extend(attached.map(|one| one.body).next());
            if random.below(8) == 0 {
                // Nothing carries a link, and the frame is refused.
                robots.detached.push(BodyId(picked));
            }
        }
    }
}
