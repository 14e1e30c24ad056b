//! Robots of a scene. Every link with parts is a body, and so is whatever a link carries: where
//! they are follows from where the base stands and from the joint values, by the formula of
//! [`clearance_robot::kinematics`], and between two frames they go along the true path of the
//! joints.

use std::sync::Arc;

use crate::declared::body::{Body, BodyId};
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::kinematics::ConfigurationError;
use clearance_robot::tree::Freedom;

/// The client's number for a robot; unique among the robots of its scene. Link k is the body with
/// this number plus k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RobotId(pub u32);

/// A robot of a scene, as declared.
#[derive(Clone, Debug)]
pub struct SceneRobot {
    /// The client's number for it.
    pub id: RobotId,
    /// For people; its links are named after it.
    pub name: String,
    /// What it is.
    pub robot: Arc<Robot>,
    /// Where its base stands.
    pub base: Pose,
    /// Its joint values.
    pub values: Vec<f64>,
    /// By link: its share of a pair's margin, metres.
    pub paddings: Vec<f64>,
    /// What its links have in common as bodies: groups, category, mask, whether first contacts are
    /// looked for, whatever a frame asks. Links that no joint moves are fixed if this is.
    pub traits: Body,
    /// What its links carry.
    pub attached: Vec<Attached>,
}

/// A body that a link carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Attached {
    /// The body that is carried.
    pub body: BodyId,
    /// The name of the link.
    pub link: String,
    /// Where the body is in the link; none: where it is when it is attached.
    pub link_from_body: Option<Pose>,
    /// Links that it may touch, beside that one.
    pub touch_links: Vec<String>,
}

/// New joint values of a robot, or a new place of its base.
#[derive(Clone, Debug)]
pub struct RobotMove {
    /// The robot that moves.
    pub robot: RobotId,
    /// All joint values; none: they stay, but for those that follow.
    pub values: Option<Vec<f64>>,
    /// Single joint values, by name.
    pub joints: Vec<(String, f64)>,
    /// Where the base stands; none: where it stood.
    pub base: Option<Pose>,
    /// It did not travel here: no motion is assumed.
    pub teleported: bool,
}

/// What a frame says of robots. Reading order: what is gone, what is new, what is let go, what is
/// attached; moves come after those of bodies.
#[derive(Clone, Debug, Default)]
pub struct RobotChanges {
    /// Robots that are gone, with their links; what they carried stays where it is.
    pub removed: Vec<RobotId>,
    /// Robots that are new.
    pub added: Vec<SceneRobot>,
    /// Bodies that are carried no more, and stay where they are.
    pub detached: Vec<BodyId>,
    /// Bodies that are carried from now on.
    pub attached: Vec<(RobotId, Attached)>,
    /// Robots that move.
    pub moves: Vec<RobotMove>,
}

impl RobotChanges {
    /// Whether they change more than where robots are.
    pub(crate) fn is_structural(&self) -> bool {
        !self.removed.is_empty()
            || !self.added.is_empty()
            || !self.detached.is_empty()
            || !self.attached.is_empty()
    }
}

/// Why a robot was not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RobotMoveError {
    /// The scene has no such robot.
    #[error("no robot has this id")]
    UnknownRobot,
    /// An earlier move of the frame names the same robot.
    #[error("the robot is already moved by this frame")]
    Repeated,
    /// There are more or fewer values than the robot has.
    #[error("the robot has {expected} joint values")]
    Length {
        /// How many joint values the robot has.
        expected: usize,
    },
    /// The robot has no joint value of this name.
    #[error("the robot has no joint value of this name")]
    UnknownJoint {
        /// The index in the move.
        index: usize,
    },
    /// The values place nothing.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The quaternion of a floating joint changes.
    #[error(
        "a floating joint turns, and its motion from one quaternion to another is not known: say \
         that the robot is teleported, or move its base"
    )]
    Turns,
    /// A part would lie beyond the largest coordinate.
    #[error("a part of the robot would lie beyond 2^960")]
    TooFar,
}

/// Joint values of a robot of which nothing is said: 0, and no turn.
pub fn rest_values(robot: &Robot) -> Vec<f64> {
    let tree = robot.kinematics.tree();
    let mut values = vec![0.0; tree.variables.len()];
    for frame in &tree.frames {
        if let Freedom::Ball { variable } = frame.freedom {
            values[variable + 3] = 1.0;
        }
    }
    values
}
