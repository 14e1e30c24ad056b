//! From where to where a robot goes, base and joints at once: a straight path in the values of one
//! chain.
//!
//! A base that moves is the beginning of that chain: three frames that slide along the axes of the
//! world, then one that turns about the axis of the turn between its two poses, at a pivot. So is a
//! body that no robot carries. That is the screw of [`clearance_geometry::motion::Motion::ToPose`]
//! without its residue, which is rounding; what it leaves out is measured at the end.

use super::cell::Cell;
use super::edge::value_at;
use super::kinematics::Kinematics;
use super::speed::PathSpeeds;
use super::still::Still;
use super::tree::{Drive, Freedom, Tree, TreeFrame, Unit, Variable};
use clearance_geometry::motion::Turn;
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT};
use clearance_geometry::pose::{Pose, STRETCH_MAX};
use clearance_geometry::{Mat3, Vec3};

/// The frames of a base that moves, and so the values of its path.
const BASE_FRAMES: usize = 4;

/// The way of a chain, t from 0 to 1.
#[derive(Clone, Debug)]
pub struct ChainPath {
    /// The chain, with no parts.
    cell: Cell,
    ends: [Vec<f64>; 2],
    speeds: PathSpeeds,
    /// What stands on the base: where it hangs.
    base: Hanging,
    /// The first frame of the robot.
    first_frame: usize,
    /// How far the end of the base's screw is from where it is said to be: entries of the rotation,
    /// and metres.
    residue: [f64; 2],
}

/// Where something hangs on a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hanging {
    /// The frame that moves it; none: it stands still.
    pub frame: Option<usize>,
    /// Where it is in that frame, or in the world.
    pub pose: Pose,
}

/// A base, or a body, on its way.
#[derive(Clone, Copy, Debug)]
pub struct BaseWay {
    /// Where it begins and ends.
    pub ends: [Pose; 2],
    /// The point of the world about which it turns.
    pub pivot: Vec3,
    /// How it turns.
    pub turn: Turn,
}

impl BaseWay {
    /// About its own origin.
    pub fn between(ends: [Pose; 2]) -> Self {
        let turn = Turn::between(&ends[0].rotation, &ends[1].rotation);
        Self { ends, pivot: ends[0].translation, turn }
    }
}

impl ChainPath {
    /// That of a robot whose values go from one configuration to another; none if a quaternion
    /// changes on the way: such a path is no straight line.
    pub fn of_robot(robot: &Tree, base: &BaseWay, [from, to]: [&[f64]; 2]) -> Option<Self> {
        let rests = base.ends[0] == base.ends[1];
        if rests {
            let mut tree = Tree::default();
            tree.append(robot, &base.ends[0]);
            let hanging = Hanging { frame: None, pose: base.ends[0] };
            return Self::new(tree, [from.to_vec(), to.to_vec()], hanging);
        }
        let (mut tree, [mut start, mut end], hanging, residue) = screw(base);
        let [first_frame, _] = tree.append_on(hanging.frame, robot, &hanging.pose);
        start.extend_from_slice(from);
        end.extend_from_slice(to);
        let path = Self::new(tree, [start, end], hanging)?;
        Some(Self { first_frame, residue, ..path })
    }

    /// That of a body that no robot carries.
    pub fn of_body(way: &BaseWay) -> Option<Self> {
        let (tree, ends, hanging, residue) = screw(way);
        let path = Self::new(tree, ends, hanging)?;
        Some(Self { residue, ..path })
    }

    fn new(tree: Tree, ends: [Vec<f64>; 2], base: Hanging) -> Option<Self> {
        let cell = Cell {
            kinematics: Kinematics::new(tree),
            parts: Vec::new(),
            links: Vec::new(),
            placed_links: Vec::new(),
            constant: Vec::new(),
            link_pairs: Vec::new(),
            still: Still::default(),
            solids: None,
            slack: 0.0,
            pairing: None,
            left_out: Vec::new(),
        };
        let speeds = PathSpeeds::new(&cell, [&ends[0], &ends[1]])?;
        Some(Self { cell, ends, speeds, base, first_frame: 0, residue: [0.0; 2] })
    }

    /// The chain.
    pub(super) fn tree(&self) -> &Tree {
        self.cell.kinematics.tree()
    }

    /// Its values at the ends.
    pub(super) fn ends(&self) -> [&[f64]; 2] {
        [&self.ends[0], &self.ends[1]]
    }

    /// Where something hangs that is placed in a frame of the robot; none: on its base.
    pub fn hanging(&self, frame: Option<usize>, pose: &Pose) -> Hanging {
        match frame {
            Some(frame) => Hanging { frame: Some(self.first_frame + frame), pose: *pose },
            None => Hanging { frame: self.base.frame, pose: self.base.pose.compose(pose) },
        }
    }

    /// Where something that hangs on the chain is at a time, rounded: for show, not for proof.
    pub fn pose_rounded(&self, hanging: &Hanging, t: f64) -> Pose {
        let [from, to] = self.ends();
        let values: Vec<f64> = from.iter().zip(to).map(|(a, b)| value_at(*a, *b, t)).collect();
        let Some(frame) = hanging.frame else { return hanging.pose };
        self.cell.kinematics.place_one(&values)[frame].compose(&hanging.pose)
    }

    /// How far points are at most from where they end, at any time of the way, metres: points that
    /// are no farther than `reach` from the origin of what they hang on.
    pub fn stray(&self, hanging: &Hanging, reach: f64) -> f64 {
        let bound = self.speeds.bound_of(&self.cell, hanging.frame, reach, None);
        let speed = if hanging.frame.is_some() { bound.speed } else { 0.0 };
        (speed + 2.0 * bound.rounding + self.slack(hanging, reach)) * (1.0 + BOUND_SLACK)
    }

    /// How far those points may be from where the chain puts them: by what the screw of the base
    /// leaves out, and by composing poses in another order than where they are told.
    pub(super) fn slack(&self, hanging: &Hanging, reach: f64) -> f64 {
        let tree = self.tree();
        let mut farthest = reach;
        for k in tree.chain(hanging.frame) {
            farthest *= self.cell.kinematics.stretch(k);
            farthest += tree.frames[k].parent_from_joint.translation.norm();
            if let Freedom::Slide { by, .. } = tree.frames[k].freedom {
                let value = |end: &Vec<f64>| (by.multiplier * end[by.variable] + by.offset).abs();
                farthest += value(&self.ends[0]).max(value(&self.ends[1]));
            }
        }
        let [rotation, translation] = self.residue;
        // On the base its points may be as much farther from its origin than in the world.
        let farthest = farthest * STRETCH_MAX;
        rotation * farthest + translation + ORDER_ROUNDING * UNIT * farthest
    }
}

/// More roundings than two orders of composing three poses differ by.
const ORDER_ROUNDING: f64 = 64.0;

/// The chain of a screw, its values, what it carries, and what it leaves out.
fn screw(way: &BaseWay) -> (Tree, [Vec<f64>; 2], Hanging, [f64; 2]) {
    let [start, end] = &way.ends;
    let axis = if way.turn.is_none() { Vec3::z() } else { way.turn.axis.normalize() };
    let mut tree = Tree::default();
    for k in 0..BASE_FRAMES {
        let by = Drive::direct(k);
        let freedom = match k {
            3 => Freedom::Turn { axis, by },
            _ => Freedom::Slide { axis: Vec3::from_fn(|i, _| f64::from(u8::from(i == k))), by },
        };
        let translation = if k == 0 { way.pivot } else { Vec3::zeros() };
        let parent_from_joint = Pose { rotation: Mat3::identity(), translation };
        tree.frames.push(TreeFrame { parent: k.checked_sub(1), parent_from_joint, freedom });
        let unit = if k == 3 { Unit::Radians } else { Unit::Metres };
        let [lower, upper] = [f64::NEG_INFINITY, f64::INFINITY];
        let name = String::new();
        tree.variables.push(Variable { name, unit, lower, upper, velocity: 0.0 });
    }
    let pose = Pose { rotation: start.rotation, translation: start.translation - way.pivot };
    let hanging = Hanging { frame: Some(BASE_FRAMES - 1), pose };
    let chain = Kinematics::new(tree.clone());
    let placed = |values: &[f64]| chain.place_one(values)[BASE_FRAMES - 1].compose(&pose);
    let turned = placed(&[0.0, 0.0, 0.0, way.turn.angle]);
    let u = end.translation - turned.translation;
    let values = vec![u.x, u.y, u.z, way.turn.angle];
    let reached = placed(&values);
    let size = way.pivot.abs().sum() + end.translation.abs().sum() + u.abs().sum();
    let residue = [
        (reached.rotation - end.rotation).norm() + ORDER_ROUNDING * UNIT,
        (reached.translation - end.translation).norm() + ORDER_ROUNDING * UNIT * size,
    ];
    (tree, [vec![0.0; BASE_FRAMES], values], hanging, residue)
}
