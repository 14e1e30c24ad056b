//! A robot where it is now, and where it has been.

use std::sync::Arc;

use crate::broken::{Rule, is_broken};
use crate::declared::body::{Body, BodyId, Part};
use crate::declared::error::{DeclarationError, Problem, is_margin};
use crate::declared::robots::{Attached, RobotMove, RobotMoveError, SceneRobot};
use crate::declared::rule_book::Exempt;
use crate::placed::carrier::Carrier;
use crate::placed::robot_way::{HungBody, RobotWay, Stance};
use clearance_geometry::Vec3;
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::kinematics::Kinematics;
use clearance_robot::path::{BaseWay, ChainPath};
use clearance_robot::tree::{Freedom, Tree, Unit};

/// A robot and where it has been.
#[derive(Clone, Debug)]
pub(crate) struct Mounted {
    /// As declared; where it is and what it carries are kept up to date.
    pub(crate) declared: SceneRobot,
    /// On its base.
    kinematics: Kinematics,
    /// Where it was at the last answered frame, if it has moved since.
    pub(crate) start: Option<(Pose, Vec<f64>)>,
    /// The way to this frame, while a frame that asks for first contacts is answered.
    pub(crate) path: Option<Arc<ChainPath>>,
    /// The frame that moved it last.
    pub(crate) moved_by: u64,
    /// The bodies that it moves, by their index in the scene.
    pub(crate) carried: Vec<u32>,
    /// The same as a history keeps them, if one did since they are these.
    pub(crate) hung: Option<Arc<Vec<HungBody>>>,
    /// How often its base went to another pose.
    pub(crate) rebased: u64,
    /// How often its joint values became others.
    pub(crate) bent: u64,
}

impl Mounted {
    /// A robot that is new; `path` leads to it.
    pub(crate) fn new(declared: SceneRobot, path: &str) -> Result<Self, DeclarationError> {
        let fail =
            |field: &str, problem| Err(DeclarationError::new(format!("{path}.{field}"), problem));
        let kinematics = on_base(&declared.robot, &declared.base);
        let expected = kinematics.tree().variables.len();
        if declared.values.len() != expected {
            return fail("values", Problem::ValueCount { expected });
        }
        if let Err(error) = kinematics.check(&declared.values) {
            return fail("values", Problem::NoConfiguration(error));
        }
        if !declared.paddings.iter().all(|padding| is_margin(*padding)) {
            return fail("paddings", Problem::NotAMargin);
        }
        let last = u32::try_from(declared.robot.links.len().saturating_sub(1));
        if last.map_or(true, |last| declared.id.0.checked_add(last).is_none()) {
            return fail("id", Problem::LinksBeyondIds);
        }
        let (start, path, carried, hung) = (None, None, Vec::new(), None);
        let (moved_by, rebased, bent) = (0, 0, 0);
        Ok(Self { declared, kinematics, start, path, moved_by, carried, hung, rebased, bent })
    }

    /// Its links with parts, as bodies, each with what moves it.
    pub(crate) fn bodies(&self) -> Vec<(Body, Carrier)> {
        let SceneRobot { id, name, robot, paddings, traits, .. } = &self.declared;
        let frames = self.frames();
        let links = robot.links.iter().enumerate().filter(|(_, link)| !link.parts.is_empty());
        let body = |(index, link): (usize, &clearance_robot::model::RobotLink)| {
            let part = |part: &clearance_robot::parts::RobotPart| Part {
                polytope: part.body.hull().clone(),
                radius: part.body.radius(),
                mesh: part.body.mesh().cloned(),
                field: None,
                curved: part.body.curved_body().cloned(),
                body_from_part: part.frame_from_part,
            };
            let prefix = if name.is_empty() { "" } else { "/" };
            let body = Body {
                id: BodyId(id.0 + index as u32),
                name: format!("{name}{prefix}{}", link.name),
                parts: robot.parts[link.parts.clone()].iter().map(part).collect(),
                pose: self.placed(&frames, link.frame),
                fixed: traits.fixed && link.frame.is_none(),
                margin: paddings.get(index).copied().unwrap_or(0.0),
                pivot: Vec3::zeros(),
                deviation: 0.0,
                ..traits.clone()
            };
            let (robot, frame) = (*id, link.frame);
            (body, Carrier { robot, link: index, frame, frame_from_body: None })
        };
        links.map(body).collect()
    }

    /// Adds what needs no check: pairs of links, what is carried with the links that it may touch,
    /// and with all that moves as it does.
    pub(crate) fn exempt_into(&self, exempt: &mut Exempt) {
        let SceneRobot { id, robot, attached, .. } = &self.declared;
        let body = |link: usize| BodyId(id.0 + link as u32);
        let has_parts = |link: &usize| !robot.links[*link].parts.is_empty();
        let own = robot.allowed.iter().filter(|pair| pair.links.iter().all(has_parts));
        exempt.pairs.extend(own.map(|pair| pair.links.map(body)));
        if attached.is_empty() || is_broken(Rule::LoadPairs) {
            return;
        }
        let links = (0..robot.links.len()).filter(has_parts);
        let frame = |link: usize| (*id, robot.links[link].frame);
        exempt.rigid.extend(links.map(|link| (body(link), frame(link), false)));
        for one in attached {
            let touched = one.touch_links.iter().filter_map(|name| robot.link(name));
            exempt.pairs.extend(touched.filter(has_parts).map(|link| [body(link), one.body]));
            let carrier = robot.link(&one.link);
            exempt.rigid.extend(carrier.map(|link| (one.body, frame(link), true)));
        }
    }

    /// Whether a body is one of its links.
    pub(crate) fn has_link(&self, body: BodyId) -> bool {
        let SceneRobot { id, robot, .. } = &self.declared;
        let link = body.0.checked_sub(id.0).and_then(|link| robot.links.get(link as usize));
        link.is_some_and(|link| !link.parts.is_empty())
    }

    /// Where a body is of which a frame of the chain tells it; none: the base does.
    fn placed(&self, frames: &[Pose], frame: Option<usize>) -> Pose {
        frame.map_or(self.declared.base, |frame| frames[frame])
    }

    /// Where the frames of its chain are.
    pub(crate) fn frames(&self) -> Vec<Pose> {
        self.kinematics.place_one(&self.declared.values)
    }

    /// Where a body is that it carries; `frames` are its own.
    pub(crate) fn pose_of(&self, carrier: &Carrier, frames: &[Pose]) -> Pose {
        pose_in(&self.placed(frames, carrier.frame), carrier)
    }

    /// What carries a body that is to hang on a link; it is at `pose` now. None: there is no such
    /// link.
    pub(crate) fn carrier_of(
        &self,
        attached: &mut Attached,
        pose: &Pose,
        frames: &[Pose],
    ) -> Option<Carrier> {
        let index = self.declared.robot.link(&attached.link)?;
        let link = &self.declared.robot.links[index];
        let carrier_pose = self.placed(frames, link.frame);
        let world_from_link = carrier_pose.compose(&link.frame_from_link);
        let link_from_body = *attached.link_from_body.get_or_insert_with(|| {
            let back = world_from_link.rotation.transpose();
            let place = Pose {
                rotation: back * pose.rotation,
                translation: back * (pose.translation - world_from_link.translation),
            };
            place.straightened()
        });
        let frame_from_body = Some(link.frame_from_link.compose(&link_from_body));
        let robot = self.declared.id;
        Some(Carrier { robot, link: index, frame: link.frame, frame_from_body })
    }

    /// The joint values and the base of a move, which is good; or what is wrong with it.
    pub(crate) fn moved(&self, to: &RobotMove) -> Result<MovedRobot, RobotMoveError> {
        let SceneRobot { robot, base, values, .. } = &self.declared;
        let variables = &robot.kinematics.tree().variables;
        let mut values = to.values.clone().unwrap_or_else(|| values.clone());
        if values.len() != variables.len() {
            return Err(RobotMoveError::Length { expected: variables.len() });
        }
        for (index, (name, value)) in to.joints.iter().enumerate() {
            let known = robot.variable(name);
            values[known.ok_or(RobotMoveError::UnknownJoint { index })?] = *value;
        }
        robot.kinematics.check(&values)?;
        let base = to.base.unwrap_or(*base);
        let kinematics = (base != self.declared.base).then(|| on_base(robot, &base));
        let frames = kinematics.as_ref().unwrap_or(&self.kinematics).place_one(&values);
        Ok(MovedRobot { base, values, kinematics, frames })
    }

    /// Whether the quaternion of a floating joint is another one.
    pub(crate) fn turns(&self, to: &MovedRobot) -> bool {
        let variables = self.declared.robot.kinematics.tree().variables.iter();
        let values = self.declared.values.iter().zip(&to.values).zip(variables);
        values.into_iter().any(|((old, new), variable)| {
            variable.unit == Unit::Quaternion && old.to_bits() != new.to_bits()
        })
    }

    /// Of every frame, whether anything on the way to it has another value.
    pub(crate) fn changes(&self, to: &MovedRobot) -> Vec<bool> {
        let has_base_moved = to.kinematics.is_some();
        let mut changes: Vec<bool> = Vec::new();
        let differs = |k: usize| self.declared.values[k].to_bits() != to.values[k].to_bits();
        for frame in &self.kinematics.tree().frames {
            let own = match frame.freedom {
                Freedom::Turn { by, .. } | Freedom::Slide { by, .. } => differs(by.variable),
                Freedom::Ball { variable } => (variable..variable + 4).any(differs),
            };
            changes.push(own || frame.parent.map_or(has_base_moved, |parent| changes[parent]));
        }
        changes
    }

    /// The way to where it is, from there.
    pub(crate) fn way_from(
        &mut self,
        from: Stance,
        hung: impl FnOnce(&[u32]) -> Vec<HungBody>,
    ) -> RobotWay {
        let Self { declared, carried, .. } = self;
        let hung = self.hung.get_or_insert_with(|| Arc::new(hung(carried))).clone();
        let to = (declared.base, declared.values.clone());
        RobotWay { id: declared.id, robot: declared.robot.clone(), ends: [from, to], hung }
    }

    /// Takes its new place.
    pub(crate) fn put(&mut self, to: MovedRobot) {
        let MovedRobot { base, values, kinematics, .. } = to;
        let old_base = std::mem::replace(&mut self.declared.base, base);
        let old_values = std::mem::replace(&mut self.declared.values, values);
        self.rebased += u64::from(old_base != self.declared.base);
        self.bent += u64::from(old_values != self.declared.values);
        self.kinematics = kinematics.unwrap_or_else(|| self.kinematics.clone());
        self.start.get_or_insert((old_base, old_values));
        self.path = None;
    }

    /// The way from where it was at the last answered frame, if it has moved since.
    pub(crate) fn way(&self) -> Option<ChainPath> {
        let (base, values) = self.start.as_ref()?;
        let SceneRobot { robot, base: end, values: to, .. } = &self.declared;
        ChainPath::of_robot(robot.kinematics.tree(), &BaseWay::between([*base, *end]), [values, to])
    }

    /// The next motion starts here.
    pub(crate) fn settle(&mut self) {
        self.path = None;
        if !is_broken(Rule::RobotWays) {
            self.start = None;
        }
    }

    /// Memory that it takes beyond its bodies, bytes, estimated.
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(&self.declared)
    }
}

/// Where a robot goes.
pub(crate) struct MovedRobot {
    base: Pose,
    values: Vec<f64>,
    /// On the new base; none: it stays.
    kinematics: Option<Kinematics>,
    frames: Vec<Pose>,
}

impl MovedRobot {
    /// Where a body is that the robot moves.
    pub(crate) fn pose_of(&self, carrier: &Carrier) -> Pose {
        pose_in(&carrier.frame.map_or(self.base, |frame| self.frames[frame]), carrier)
    }

    /// Whether something moves that hangs on a frame, of which `changes` tells.
    pub(crate) fn moves(&self, carrier: &Carrier, changes: &[bool]) -> bool {
        carrier.frame.map_or(self.kinematics.is_some(), |frame| changes[frame])
    }
}

fn pose_in(frame: &Pose, carrier: &Carrier) -> Pose {
    carrier.frame_from_body.as_ref().map_or(*frame, |body| frame.compose(body))
}

/// The chain of a robot that stands there.
fn on_base(robot: &Robot, base: &Pose) -> Kinematics {
    let mut tree = Tree::default();
    tree.append(robot.kinematics.tree(), base);
    Kinematics::new(tree)
}

impl SceneRobot {
    /// Memory that it takes in a scene beyond the shapes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        let links = self.robot.links.iter().filter(|link| !link.parts.is_empty());
        let link = |link: &clearance_robot::model::RobotLink| {
            let named = self.name.len() + link.name.len();
            self.traits.bytes() + named + Body::bytes_of_parts(link.parts.len())
        };
        links.map(link).sum::<usize>() + bytes_of(self)
    }
}

/// Memory that a robot takes beyond its bodies, bytes, estimated.
fn bytes_of(declared: &SceneRobot) -> usize {
    /// What a frame of the chain takes in the chain, in the path and in what is made of both.
    const FRAME: usize = 4 << 10;
    /// What a joint value takes: its name and limits in both, and itself.
    const VALUE: usize = 512;
    let SceneRobot { robot, values, attached, .. } = declared;
    let touched: usize = attached.iter().map(|one| one.touch_links.len()).sum();
    size_of::<Mounted>()
        + robot.kinematics.tree().frames.len() * FRAME
        + values.len() * VALUE
        + attached.len() * size_of::<Attached>()
        + touched * 64
}
