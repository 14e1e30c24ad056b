//! A tree of joints: what moves what, along which axis, by which of the joint values.
//!
//! Only joints that move are frames of the tree: where a fixed joint puts its child is composed
//! into the poses of what hangs on it. Planar and floating joints are several frames in a row.

use clearance_geometry::Vec3;
use clearance_geometry::number::tolerance::LIMIT_SLACK;
use clearance_geometry::pose::Pose;

/// How a frame moves in that of its parent, at its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// About a unit axis by an angle.
    Turn {
        /// The axis, in the frame.
        axis: Vec3,
        /// Which joint value, and how it becomes the angle, radians.
        by: Drive,
    },
    /// Along a unit axis by a length.
    Slide {
        /// The axis, in the frame.
        axis: Vec3,
        /// Which joint value, and how it becomes the length, metres.
        by: Drive,
    },
    /// By a quaternion: four joint values x, y, z, w from this one on.
    Ball {
        /// The first of the four.
        variable: usize,
    },
}

/// From a joint value to an angle or a length: `multiplier * value + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Index of the joint value.
    pub variable: usize,
    /// 1 unless the joint mimics another one.
    pub multiplier: f64,
    /// 0 unless the joint mimics another one.
    pub offset: f64,
}

impl Drive {
    /// The value itself.
    pub fn direct(variable: usize) -> Self {
        Self { variable, multiplier: 1.0, offset: 0.0 }
    }
}

/// A frame that one joint moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeFrame {
    /// The frame that carries it, which has a lower index; none: the base.
    pub parent: Option<usize>,
    /// Where the joint is in the parent's frame.
    pub parent_from_joint: Pose,
    /// How it moves.
    pub freedom: Freedom,
}

/// What a joint value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The value is an angle in radians.
    Radians,
    /// The value is a length in metres.
    Metres,
    /// A component of a quaternion, which need not be normalised.
    Quaternion,
}

/// One of the numbers of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// That of the joint; for joints of several values, with a slash and the coordinate.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// Least value; minus infinity: none.
    pub lower: f64,
    /// Greatest value; infinity: none.
    pub upper: f64,
    /// Greatest speed, a second; 0: not said.
    pub velocity: f64,
}

impl Variable {
    /// Whether a value is within its limits. One that is beyond by no more than rounding makes of a
    /// place between them, such as `a + 1.0 * (b - a)`, is; it is then taken as it is.
    pub fn holds(&self, value: f64) -> bool {
        let Self { lower, upper, .. } = self;
        let width = upper - lower;
        let size = if width.is_finite() { width.max(lower.abs()).max(upper.abs()) } else { 0.0 };
        let slack = LIMIT_SLACK * size;
        lower - slack <= value && value <= upper + slack
    }
}

/// The moving frames of a robot, parents first, and its joint values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The frames, each after the one that carries it.
    pub frames: Vec<TreeFrame>,
    /// In the order that a configuration has them.
    pub variables: Vec<Variable>,
}

impl Tree {
    /// The frame and those that carry it, from it to the base.
    pub fn chain(&self, frame: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(frame, |at| self.frames[*at].parent)
    }

    /// Adds the frames and joint values of another tree, whose base stands at `world_from_base`.
    /// Returns the index of its first frame and of its first joint value.
    pub fn append(&mut self, other: &Self, world_from_base: &Pose) -> [usize; 2] {
        self.append_on(None, other, world_from_base)
    }

    /// The same, with its base on a frame of this tree; none: in the world.
    pub fn append_on(
        &mut self,
        carrier: Option<usize>,
        other: &Self,
        carrier_from_base: &Pose,
    ) -> [usize; 2] {
        let [frames, variables] = [self.frames.len(), self.variables.len()];
        for frame in &other.frames {
            let moved = |by: Drive| Drive { variable: by.variable + variables, ..by };
            let freedom = match frame.freedom {
                Freedom::Turn { axis, by } => Freedom::Turn { axis, by: moved(by) },
                Freedom::Slide { axis, by } => Freedom::Slide { axis, by: moved(by) },
                Freedom::Ball { variable } => Freedom::Ball { variable: variable + variables },
            };
            let parent_from_joint = match frame.parent {
                Some(_) => frame.parent_from_joint,
                None => carrier_from_base.compose(&frame.parent_from_joint),
            };
            let parent = frame.parent.map(|parent| parent + frames).or(carrier);
            self.frames.push(TreeFrame { parent, parent_from_joint, freedom });
        }
        self.variables.extend(other.variables.iter().cloned());
        [frames, variables]
    }
}
